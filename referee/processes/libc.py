"""Kernel calls that Python lacks, by way of the C library."""

from __future__ import annotations

import os
import signal
import struct
import sys
from collections.abc import Callable, Iterable
from functools import cache, partial

SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER
PARENT_DEATH = 1  # PR_SET_PDEATHSIG
_DUMPABLE = 4  # PR_SET_DUMPABLE

# clone3(2)
_CLONE, _INTO_GROUP = 435, 1 << 33
_CLONE_ARGUMENTS = struct.Struct("=11Q")

TRACEABLE = "REFEREE_TRACEABLE"
"""With this variable in the environment, debuggers and profilers of the same user can be used."""


def hide(hidden: bool = True) -> None:
    """Whether `/proc/PID` of this process, its memory and descriptors too, is closed to others of its user.

    A program that it executes begins open again. While it is closed, its files in `/proc` belong to root.
    """
    if not hidden or TRACEABLE not in os.environ:
        prctl(_DUMPABLE, int(not hidden))  # guard: hidden


try:
    import ctypes
except ImportError:  # some small builds of Python lack it
    ctypes = None  # type: ignore[assignment]


def prctl(option: int, *values: int | bytes) -> bool:
    """Calls prctl(2) where there is one, with up to four values; the others are 0."""
    library = _library()
    if library is None:
        return False
    padded = [_argument(value) for value in (*values, 0, 0, 0, 0)[:4]]
    return bool(library.prctl(option, *padded) == 0)


def syscall(number: int, *values: int | bytes | None) -> int:
    """Calls the kernel directly. Raises `OSError`."""
    library = _library()
    if library is None:
        raise OSError(38, os.strerror(38))  # ENOSYS
    result: int = library.syscall(ctypes.c_long(number), *map(_argument, values))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result


@cache
def caller(number: int, *kinds: type[int | bytes]) -> Callable[..., int]:
    """A function that calls the kernel with values of these types, quicker than `syscall`. Returns a negative
    number where that fails, or cannot be done.
    """
    if (library := _library()) is None:
        return lambda *_: -1
    function = library["syscall"]  # another object than the attribute
    function.restype = ctypes.c_long
    function.argtypes = [
        ctypes.c_long,
        *(ctypes.c_long if kind is int else ctypes.c_char_p for kind in kinds),
    ]
    return partial(function, number)


def fork_into(group: int) -> int:
    """Forks this process, which has one thread, as `os.fork` does, but the new process begins in a control
    group, given by the descriptor of its folder. It is to execute a program soon: the interpreter and the C
    library are told nothing of the fork. Raises `OSError`, also where the kernel cannot do so.
    """
    library = _library_with_lock()
    if library is None:
        raise OSError(38, os.strerror(38))  # ENOSYS
    arguments = _CLONE_ARGUMENTS.pack(_INTO_GROUP, 0, 0, 0, signal.SIGCHLD, 0, 0, 0, 0, 0, group)
    pid: int = library.syscall(ctypes.c_long(_CLONE), arguments, ctypes.c_long(len(arguments)))
    if pid < 0:
        raise OSError(error := ctypes.get_errno(), os.strerror(error))
    return pid


def drop_each(option: int, values: Iterable[int]) -> None:
    """Calls prctl(2) with one value after the other, until it fails."""
    if library := _library():
        for value in values:
            if library.prctl(option, ctypes.c_long(value), 0, 0, 0) != 0:
                break


def function(path: str, name: str) -> Callable[[int], int]:
    """A function of another library, which takes an address; the interpreter keeps its lock meanwhile. Raises
    `OSError`.
    """
    if ctypes is None:
        raise OSError(38, os.strerror(38))  # ENOSYS
    found = ctypes.PyDLL(path)[name]
    found.restype = ctypes.c_long
    found.argtypes = [ctypes.c_void_p]
    return found


def address_of(data: bytearray) -> int:
    """The address of bytes that may change; valid as long as they exist, and keep their number."""
    return ctypes.addressof(ctypes.c_char.from_buffer(data))


def address(data: bytes) -> int:
    """Returns the address of bytes in memory, valid as long as they exist: for structures that point to
    others.
    """
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _argument(value: int | bytes | None) -> object:
    return ctypes.c_long(value) if isinstance(value, int) else ctypes.c_char_p(value)


@cache
def _library() -> ctypes.CDLL | None:
    """The C library on Linux; loaded once, before any fork."""
    if sys.platform != "linux" or ctypes is None:
        return None
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


@cache
def _library_with_lock() -> ctypes.PyDLL | None:
    """The same for calls during which the interpreter keeps its lock, so that a fork finds it as it was."""
    if _library() is None:
        return None
    library = ctypes.PyDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library
