"""Starts a bot's process: forks, sets up streams, limits and confinement, and executes its program.

Where `starter.c` was compiled, its library does that: its new process copies no memory, and runs no Python.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import resource
import signal
import socket
import struct
import termios
from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from referee.processes import libc
from referee.processes.cgroups import Group
from referee.processes.confinement import (
    ON_FILES,
    Confinement,
    confine,
    keep_from_proc,
    make_rules,
    make_ruleset,
    protect_devices,
)
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


_LISTENER = b"L"  # A byte that is sent together with the listener, since a descriptor cannot be sent alone


def start_bot(
    request: Request,
    streams: list[int],
    scratch: str,
    group: Group | None,
    namespaces: Sequence[int],
    starter: Starter | None,
) -> tuple[int, int]:
    """Starts the bot, in its control group if it has one, and in namespaces that were prepared, if any.
    Returns its process, and the descriptor of the listener to its filter of system calls, -1 if nobody
    listens. The `starter` is used unless mounts are made in the new process.

    Raises `OSError` where its program cannot be executed.
    """
    writable = (scratch, *(f"/proc/self/fd/{stream}" for stream in streams))
    confinement = Confinement(*request.confinement)
    if confinement.user:
        own: tuple[int | str, ...] = (*streams, scratch)
        for each in own:
            os.chown(each, *confinement.user[:2])
    if request.program_filter and os.path.isdir(request.cwd):
        _check(request)
    ruleset, rules = make_ruleset(confinement), make_rules(confinement, writable)
    try:
        prepared = Preparation(request, streams, _limits(request.limits), ruleset, rules, namespaces)
        parent, child = socket.socketpair()
        with parent:
            with child:
                bot = -1
                if starter and (namespaces or not request.program_filter or os.geteuid() != 0):
                    bot = _start_compiled(starter, prepared, group, child)
                if bot < 0:
                    bot = group.fork() if group else os.fork()  # guard: own-group
                if bot == 0:
                    _execute_or_report(prepared, child)
            listener, error = _outcome(parent)
    finally:
        if ruleset >= 0:
            os.close(ruleset)
    if error:
        if listener >= 0:
            os.close(listener)
        os.waitpid(bot, 0)
        number, _, name = error.decode("utf-8", "replace").partition(" ")
        raise OSError(int(number), os.strerror(int(number)), name)
    return bot, listener


def _start_compiled(
    starter: Starter, prepared: Preparation, group: Group | None, report: socket.socket
) -> int:
    """Starts the bot without Python. Returns its process; a negative number where that cannot be done."""
    places = _places(prepared.request.argv[0], prepared.request.env)
    with contextlib.suppress(OSError), group.folder() if group else contextlib.nullcontext(-1) as folder:
        return starter.start(prepared, folder, report, places)
    return -1


def _outcome(parent: socket.socket) -> tuple[int, bytes]:
    """The listener to the bot's filter or -1, and why its program was not executed; empty if it was."""
    data, descriptors, _, _ = socket.recv_fds(parent, 65_536, 1)
    if not descriptors:
        return -1, data
    os.set_inheritable(descriptors[0], False)
    return descriptors[0], data.removeprefix(_LISTENER) + parent.recv(65_536)


def _execute_or_report(prepared: Preparation, parent: socket.socket) -> None:
    """Runs in the new process: executes the bot's program, or reports why that fails."""
    try:
        _execute(prepared, parent)
    except OSError as error:
        parent.sendall(f"{error.errno or errno.EINVAL} {error.filename or ''}".encode())
    except (ValueError, MemoryError) as error:
        parent.sendall(f"{errno.EINVAL} {error}".encode())  # its limits cannot be set
    finally:
        os._exit(127)


def _execute(prepared: Preparation, parent: socket.socket) -> None:
    """Sets up session, streams, limits and folder, then executes the bot's program."""
    request, streams, limits, ruleset, rules, namespaces = prepared
    os.setsid()
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    if request.is_terminal:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    _die_with_warden()
    libc.hide(False)  # else the file would be root's
    with contextlib.suppress(OSError):
        score = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
        os.write(score, b"1000")  # if memory runs out, bots are killed first
        os.close(score)
    libc.hide()
    for number, values in limits:
        resource.setrlimit(number, values)  # guard: limits-of-the-kernel
    os.chdir(request.cwd)
    confinement = Confinement(*request.confinement)
    if request.program_filter:
        if not namespaces:  # in which it was done
            protect_devices()
        keep_from_proc()
    if (listener := confine(confinement, ruleset, rules, namespaces)) >= 0:
        # Until the program is executed, nobody listens: nothing here makes a call that is refused.
        socket.send_fds(parent, [_LISTENER], [listener])
    if request.program_filter:
        _hand_over(request.program_filter if listener < 0 else request.deferring_filter)
    _die_with_warden()  # a change of user has reset it
    _run(request.argv, request.env)


def _die_with_warden() -> None:
    """Has the kernel end this process when its warden ends."""
    libc.prctl(libc.PARENT_DEATH, signal.SIGKILL)  # guard: killed-warden


def _limits(named: Mapping[str, tuple[int, int]]) -> list[tuple[int, tuple[int, int]]]:
    """Limits of the kernel by their numbers, from their names in `resource`, as far as those of this process
    allow them.
    """
    found = []
    for name, (soft, hard) in named.items():
        number = getattr(resource, name)
        ceiling = resource.getrlimit(number)[1]
        if ceiling != resource.RLIM_INFINITY:
            soft, hard = min(soft, ceiling), min(hard, ceiling)
        found.append((number, (soft, hard)))
    return found


def _run(argv: tuple[str, ...], env: dict[str, str]) -> None:
    """Executes a program, which is searched for along the path as a shell does. Raises `OSError`.

    Not with `os.execvpe`, which imports a module at this moment: in a sandbox it cannot be read.
    """
    error = errno.ENOENT
    for path in _places(argv[0], env):
        try:
            os.execve(path, argv, env)
        except OSError as failed:
            # A file that exists but cannot be executed says more than one that does not exist.
            if failed.errno not in (errno.ENOENT, errno.ENOTDIR):
                error = error if error != errno.ENOENT else failed.errno or errno.EINVAL
    raise OSError(error, os.strerror(error), argv[0])


def _check(request: Request) -> None:
    """Raises the `OSError` that executing a program would raise: another program, which confines the bot,
    executes it later and would only exit.
    """
    error = errno.ENOENT
    for place in _places(request.program, request.env):
        path = os.path.join(request.cwd, place)
        try:
            if not os.path.isfile(path):
                os.stat(path)
                error = errno.EACCES
            elif not os.access(path, os.X_OK):
                error = errno.EACCES
            elif not (reason := _unfit(path)):
                return
            else:
                error = reason
        except OSError:
            continue
    raise OSError(error, os.strerror(error), request.program)


def _unfit(path: str) -> int:
    """The number of the error with which the kernel would refuse a regular file as a program; 0 if none."""
    start, own = _start_of(path), _start_of("/proc/self/exe")
    if start.startswith(b"#!"):
        line = start[2:].partition(b"\n")[0].strip(b" \t")
        interpreter = line.replace(b"\t", b" ").partition(b" ")[0]  # with a carriage return, if there is one
        return 0 if interpreter and os.access(interpreter, os.X_OK) else errno.ENOENT
    is_program = start.startswith(b"\x7fELF") and start[4:6] == own[4:6] and start[18:20] == own[18:20]
    return 0 if is_program or not own else errno.ENOEXEC


def _start_of(path: str) -> bytes:
    """The first bytes of a file; empty where it cannot be read."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return os.read(file, 256)
    except OSError:
        return b""
    finally:
        os.close(file)


def _places(program: str, env: dict[str, str]) -> list[str]:
    """Returns the paths where a shell would search for a program."""
    if "/" in program:
        return [program]
    return [f"{folder or '.'}/{program}" for folder in env.get("PATH", os.defpath).split(os.pathsep)]


def _hand_over(program_filter: bytes) -> None:
    """Puts the filter of system calls and the streams on their descriptors, for the program that confines the
    bot.
    """
    os.dup2(0, STDIN_INSIDE)
    os.dup2(1, STDOUT_INSIDE)
    nothing = os.open("/dev/null", os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    file = os.memfd_create("filter")
    os.write(file, program_filter)
    os.lseek(file, 0, os.SEEK_SET)
    os.dup2(file, FILTER_DESCRIPTOR)
