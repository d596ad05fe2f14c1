"""Starts the programs of bots by the library that `starter.c` was compiled to, where there is one.

Its new process copies no memory, and runs no Python.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import struct
from collections import namedtuple
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from referee.processes import libc
from referee.processes.confinement import ON_FILES, Confinement
from referee.processes.messages import FILTER_DESCRIPTOR, STDIN_INSIDE, STDOUT_INSIDE, Request

_SCORE = "/proc/self/oom_score_adj"
_KILLED_FIRST = b"1000"
_SCORE_BYTES = 20

_NAMESPACES = 2  # the most that a bot enters

_ABOVE = 10  # descriptors from here on are none of those that a program gets

_RESULT = struct.Struct("=2q")  # error number and place, at the end of the structure


class Preparation(namedtuple("Preparation", "request streams limits ruleset rules namespaces")):
    """What the new process needs, as far as it can be prepared before the fork: each page of memory that the
    new process writes to has to be copied.

    `request`: the `Request`; `streams`: the descriptors of its streams; `limits`: pairs of the number of a
    limit and its values; `ruleset`: a descriptor for its rules of Landlock, or -1; `rules`: what `make_rules`
    returned; `namespaces`: descriptors of those that it enters.
    """


class Starter:
    """The library, as one warden uses it. Raises `OSError` where it cannot be loaded."""

    def __init__(self, path: str) -> None:
        self._start = libc.function(path, "start")
        libc.hide(False)  # else the file would be root's
        try:
            self._score = os.open(_SCORE, os.O_RDWR | os.O_CLOEXEC)
        finally:
            libc.hide()
        self._score_before = os.read(self._score, _SCORE_BYTES)

    def start(self, prepared: Preparation, group: int, report: socket.socket, places: list[str]) -> int:
        """Starts a bot in the control group of this descriptor, or in that of this process if it is -1.
        Returns its process; a negative number where the kernel cannot start it in this way.

        `report`: the socket for its listener, or the reason why its program cannot be executed; `places`:
        where the program may be.
        """
        request, streams, limits, ruleset, rules, namespaces = prepared
        confinement = Confinement(*request.confinement)
        user, user_group, groups = confinement.user or (-1, -1, ())
        memory = _Memory()
        with _inside(request) as inside, self._killed_first():
            numbers = [
                *(group, *streams, request.is_terminal, len(limits)),
                memory.place(b"".join(struct.pack("=3q", number, *values) for number, values in limits)),
                memory.text(request.cwd),
                *(user, user_group, len(groups), memory.place(struct.pack(f"={len(groups)}I", *groups))),
                *(*namespaces, -1, -1)[:_NAMESPACES],
                *(confinement.drops_capabilities, ruleset, len(rules)),
                memory.rules(rules),
                ON_FILES,
                *(memory.filter(program) for program in (confinement.seccomp, confinement.asking)),
                report.fileno(),
                *inside,
                memory.texts(places),
                memory.texts(request.argv),
                memory.texts(
                    b"%b=%b" % (os.fsencode(name), os.fsencode(value)) for name, value in request.env.items()
                ),
            ]
            structure = bytearray(struct.pack(f"={len(numbers)}q", *numbers) + bytes(_RESULT.size))
            pid = self._start(libc.address_of(structure))
        error, place = _RESULT.unpack(structure[-_RESULT.size :])
        if error:
            names = ("", request.cwd, request.argv[0], "seccomp")
            report.sendall(f"{error} {names[place]}".encode())
        return pid

    @contextlib.contextmanager
    def _killed_first(self) -> Iterator[None]:
        """While this lasts, new processes are the first that are killed if memory runs out."""
        with contextlib.suppress(OSError):
            os.write(self._score, _KILLED_FIRST)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                os.write(self._score, self._score_before)


def _inherited(data: bytes | None) -> int:
    """A descriptor, beyond those of programs, of a file in memory with this content; of nothing if None."""
    if data is None:
        file = os.open(os.devnull, os.O_RDWR)
    else:
        file = os.memfd_create("filter")
        os.write(file, data)
        os.lseek(file, 0, os.SEEK_SET)
    try:
        return fcntl.fcntl(file, fcntl.F_DUPFD_CLOEXEC, _ABOVE)
    finally:
        os.close(file)


@contextlib.contextmanager
def _inside(request: Request) -> Iterator[list[int]]:
    """What a program that confines the bot gets: the descriptors for the bot's streams, one of nothing to
    take the place of these, the descriptor for a filter, and two filters, of which it gets the one that fits.
    """
    if not request.program_filter:
        yield [-1] * 6
        return
    opened: list[int] = []
    try:
        for data in (None, request.program_filter, request.deferring_filter):
            opened.append(_inherited(data))
        nothing, *filters = opened
        yield [STDIN_INSIDE, STDOUT_INSIDE, nothing, FILTER_DESCRIPTOR, *filters]
    finally:
        for each in opened:
            os.close(each)


class _Memory:
    """What a structure points to, which stays where it is as long as this exists."""

    def __init__(self) -> None:
        self._kept: list[bytes] = []

    def place(self, data: bytes) -> int:
        """The address of bytes; 0 if there are none."""
        self._kept.append(data)
        return libc.address(data) if data else 0

    def text(self, text: str | bytes) -> int:
        """The address of a text that ends with a zero."""
        return self.place(os.fsencode(text) + b"\0")

    def texts(self, texts: Iterable[str | bytes]) -> int:
        """The address of a list of addresses of texts, which ends with a zero."""
        addresses = [*self._each(texts), 0]
        return self.place(struct.pack(f"={len(addresses)}q", *addresses))

    def rules(self, rules: Sequence[tuple[str, int]]) -> int:
        """The address of a list of pairs: the address of a path, and its rights."""
        addresses = self._each(path for path, _ in rules)
        pairs = zip(addresses, (rights for _, rights in rules), strict=True)
        return self.place(struct.pack(f"={2 * len(rules)}Q", *chain.from_iterable(pairs)))

    def _each(self, texts: Iterable[str | bytes]) -> Iterator[int]:
        """The addresses of texts, which lie one behind the other."""
        ended = [os.fsencode(text) + b"\0" for text in texts]
        address = self.place(b"".join(ended))
        for text in ended:
            yield address
            address += len(text)

    def filter(self, program: bytes) -> int:
        """The address of the structure that points to a filter of system calls."""
        return self.place(struct.pack("@HP", len(program) // 8, self.place(program)) if program else b"")
