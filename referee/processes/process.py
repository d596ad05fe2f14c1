"""One bot's process: its streams, its exit, its limits, its end. Knows nothing of the protocol."""

from __future__ import annotations

import codecs
import contextlib
import os
import select
import signal
import time
from collections.abc import Callable, Iterable
from typing import NamedTuple

from referee.core.units import about_size
from referee.processes import cpu, launcher, messages, seccomp, tree
from referee.processes.isolation import isolated
from referee.processes.limits import Limits
from referee.processes.messages import Request
from referee.processes.program import Program
from referee.processes.scratch import REMOVE_S
from referee.processes.streams import READ_SIZE, Pipes, Terminal
from referee.processes.tree import UNKILLABLE_S


class ExitReport(NamedTuple):
    """The report on a bot when all its processes have ended."""

    status: str  # how its own process ended
    orphans: tuple[str, ...] = ()  # processes that it had started and that outlived it; ten at most
    escaped: tuple[str, ...] = ()  # processes that had left its process group; ten at most
    unkillable: tuple[str, ...] = ()  # processes that hang in the kernel and could not be ended; ten at most
    refused: tuple[tuple[str, int], ...] = ()
    """The system calls that it was refused, where that is counted, and how often; the last one comes last."""
    cpu_us: int = 0  # the processor time of all its processes
    memory_bytes: int = 0
    """The peak of its largest process; at least some 10 MB, the size of the warden that it is forked from."""
    ignored_quit: bool = False  # whether it was not at fault, and still had to be ended after `quit`


def status_text(code: int) -> str:
    """Describes how a process ended; the code is that of `subprocess`."""
    if code >= 0:
        return f"exited with status {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def excess(limit: str, count: int, most: int) -> str:
    """The sentence for a limit of the whole process tree that a bot exceeded."""
    match limit:
        case messages.PROCESSES:
            return f"{count} processes and threads, expected at most {most}"
        case messages.MEMORY:
            return f"{about_size(count)} of memory, expected at most {about_size(most)}"
        case messages.SCRATCH_BYTES:
            return f"{about_size(count)} in its scratch folder, expected at most {about_size(most)}"
        case messages.SCRATCH_FILES:
            return f"more than {most} files and folders in its scratch folder"
        case messages.SCRATCH_DEPTH:
            return f"folders nested more than {most} deep in its scratch folder"
        case messages.OUT_OF_MEMORY:
            return "so much memory that the machine had none left, and the system killed it"
        case _:
            raise ValueError(limit)


def exceeded(code: int, limits: Limits, own_cpu_ns: int, all_cpu_ns: int) -> str:
    """Names the limit for which the kernel ended a process; empty if for none.

    `own_cpu_ns`: the processor time of the process as limits count it; `all_cpu_ns`: of its whole tree.
    """
    if limits.cpu is not None:
        most_ns = limits.cpu * 1_000_000_000
        ignored = code == -signal.SIGKILL and own_cpu_ns >= most_ns  # SIGXCPU comes first
        # A shell tells so that its program was ended. Of that only an exact time is known, and the kernel
        # counts in ticks.
        told_by_shell = code == 128 + signal.SIGXCPU and all_cpu_ns >= most_ns // 2
        if code == -signal.SIGXCPU or ignored or told_by_shell:
            return "more processor time than it may use"
    if code == -signal.SIGXFSZ and limits.file_size is not None:
        return "a file of more bytes than it may have"
    return ""


STDERR_READ_SIZE = 65_536  # bytes of stderr that are read at a time: the usual capacity of a pipe

STARVED_NS = 100_000_000  # the processor time in which a bot whose input was closed would have exited

STATUS_S = 1.0  # seconds to wait for the exit after the end of a pipe, which is often seen first

_KEPT = 4096


class StreamEnds:
    """The first and last bytes of a stream, how many there were, and in which numbered parts they came."""

    def __init__(self) -> None:
        self.total = 0
        self._head = b""
        self._tail = b""
        self._begins: dict[int, int] = {}  # how many bytes there were before each part

    def add(self, data: bytes, part: int = 0) -> None:
        """Adds the next bytes of the stream; the numbers of its parts only grow."""
        if data:
            self._begins.setdefault(part, self.total)
        self.total += len(data)
        room = _KEPT - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-_KEPT:]

    def text(self) -> str:
        """Returns the bytes that were kept as text, with a line that says how many are missing."""
        return "".join(text for _, text in self.parts())

    def parts(self) -> list[tuple[int, str]]:
        """Returns this text in the parts in which it came, with their numbers; none of them is empty."""
        missing = self.total - len(self._head) - len(self._tail)
        middle = f"\n[… {missing} bytes …]\n".encode() if missing else b""
        kept = self._head + middle + self._tail

        def place(before: int) -> int:
            """Where in what was kept the byte is that had so many before it, or else the next one."""
            if before <= len(self._head):
                return before
            return max(before, len(self._head) + missing) - missing + len(middle)

        decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        ends = [*map(place, [*self._begins.values()][1:]), len(kept)]
        found, at = [], 0
        for part, end in zip(self._begins, ends, strict=False):
            found.append((part, decoder.decode(kept[at:end], final=end == len(kept))))
            at = end
        return [(part, text) for part, text in found if text]


class BotStart:
    """The requested start of a bot. Several bots start at the same time if all are requested before the
    first one is waited for.

    Raises `OSError` where its streams cannot be made, `EnvironmentLacksError` where no bot can be started.
    """

    def __init__(self, bot: Program) -> None:
        self.bot = bot
        self.streams = Terminal() if bot.pty else Pipes()
        try:
            self.stderr, self._bot_stderr = os.pipe()
        except BaseException:
            self.streams.close_bot_ends()
            self.streams.close()
            raise
        bot_ends = {
            "stdin": self.streams.bot_stdin,
            "stdout": self.streams.bot_stdout,
            "stderr": self._bot_stderr,
        }
        try:
            self._pending = launcher.PendingStart(_request(bot, self.streams.is_terminal), bot_ends)
        except BaseException:
            self._close()
            raise

    def wait(self) -> launcher.StartedBot:
        """Waits until the bot was started. Raises `OSError`, `EnvironmentLacksError`."""
        try:
            started = self._pending.wait()
        except BaseException:
            self._close()
            raise
        self._close_bot_ends()
        return started

    def cancel(self) -> None:
        """Ends the bot, whether it was started already or not."""
        self._pending.cancel()
        self._close()

    def _close_bot_ends(self) -> None:
        self.streams.close_bot_ends()
        os.close(self._bot_stderr)

    def _close(self) -> None:
        self._close_bot_ends()
        os.close(self.stderr)
        self.streams.close()


class BotProcess:
    """A bot that was started, in a session and process group of its own.

    Raises `OSError` where it cannot be started, `EnvironmentLacksError` where nothing can be.
    """

    def __init__(
        self,
        bot: Program,
        start: BotStart | None = None,
        overhear: Callable[[bytes], int] = lambda data: 0,
    ) -> None:
        """`start`: the start of the bot, where it was requested before. `overhear` is called with what it
        writes to stderr, as that is read, and returns the number of the part to which that belongs.
        """
        self._overhear = overhear
        start = start or BotStart(bot)
        self._limits = bot.limits
        self._started = start.wait()
        self._streams = start.streams
        self.stderr = start.stderr
        os.set_blocking(self.stderr, False)
        self._control = self._started.control
        self._control.setblocking(False)
        self.control_open = True  # whether its warden may send more notices
        self.pid = self._started.pid
        self.clock = cpu.TreeClock(self._started.warden, self.pid) if cpu.AVAILABLE else None
        self.starvation = cpu.StarvationClock(self.clock) if self.clock and cpu.COUNTS_WAITING else None
        self.forgives_waiting = bot.forgive_waiting
        self.stamped = self._streams.stamped  # whether the kernel records when the bot wrote
        self.stdout = self._streams.stdout
        self.read = self._streams.read
        """The available bytes of stdout: None if there are none yet, empty at its end."""
        self.write = self._streams.write
        """Writes what fits now, and returns how many bytes that were. Raises `BrokenPipeError`."""
        self.stderr_open = True
        self.complaints = StreamEnds()  # its output on stderr since the last `take_stderr`
        self.excess = ""  # which of its limits it exceeded; it was ended for that
        self.final_output = b""  # the beginning of what it wrote after its input was closed
        self.terminated = False  # whether it was sent SIGTERM while it ran
        self.ignored_end = False
        """Whether it was sent SIGTERM though it had got the processor time to exit by itself."""
        self._closed_cpu_ns = 0  # its processor time when its input was closed
        self.exit_report: ExitReport | None = None
        """The report on all its processes; None until all have ended."""
        self.lost_warden = False
        """Whether something killed its warden, perhaps the bot, or the program that confines it."""
        self.exit_code: int | None = None
        """As `subprocess` counts it; None while it runs, and where it is unknown."""
        self._status: str | None = None
        self._notices = b""  # the incomplete last line from its warden
        self._found: dict[str, list[str]] = {
            messages.ORPHAN: [],
            messages.ESCAPED: [],
            messages.UNKILLABLE: [],
        }
        """The processes that its warden has reported as left behind so far, by kind."""
        self._denied: dict[tuple[int, int], int] = {}
        """How often it was refused a system call, by number and architecture."""
        self._kill_sent = False
        self._pauses = bot.pause
        self._paused = False
        # The program that confines a bot stays stopped: see `first_process`.
        self._above = self.pid if bot.isolation == "bwrap" else self._started.warden

    @property
    def stdin(self) -> int:
        """The descriptor that writes to its stdin; -1 when that is closed."""
        return self._streams.stdin

    @property
    def control(self) -> int:
        """The descriptor on which its warden reports its exit."""
        return self._control.fileno()

    @property
    def stdout_open(self) -> bool:
        """Whether more output may come."""
        return self._streams.stdout_open

    def drain_stderr(self) -> None:
        """Reads one chunk of stderr, if there is one."""
        if not self.stderr_open:  # guard: drain-of-stderr
            return
        try:
            data = os.read(self.stderr, STDERR_READ_SIZE)
        except BlockingIOError:
            return
        self.complaints.add(data, self._overhear(data))
        self.stderr_open = bool(data)

    def take_stderr(self) -> StreamEnds:
        """Returns what it wrote to stderr since the last call, and starts anew."""
        self.drain_stderr()
        kept, self.complaints = self.complaints, StreamEnds()
        return kept

    def exit_status(self) -> str | None:
        """Describes how the process ended; None while it runs."""
        if self._status is None:
            self.listen()
        return self._status

    def how_it_ended(self) -> str | None:
        """`exit_status`, after a short wait: the end of a pipe is often seen before the exit."""
        deadline = time.monotonic() + STATUS_S
        while (status := self.exit_status()) is None and (rest := deadline - time.monotonic()) > 0:
            launcher.readable_within(self._control, rest)
        return status

    def listen(self) -> None:
        """Reads the notices that its warden has sent."""
        if not self.control_open:
            return
        try:
            while data := self._control.recv(4096):
                self._notices += data
            self.control_open = False
        except BlockingIOError:
            pass
        except OSError:
            self.control_open = False
        *lines, self._notices = self._notices.split(b"\n")
        for line in lines:
            try:
                self._take(line.decode("unicode_escape"))
            except (ValueError, KeyError):
                self.control_open = False  # something else wrote to the warden's socket
                break
        if not self.control_open and self.exit_report is None:
            self.lost_warden = True
            self._status = self._status or messages.LOST_WARDEN
            self.exit_report = ExitReport(self._status)

    def _take(self, notice: str) -> None:
        """Handles one notice. Raises `ValueError` or `KeyError` where it is malformed."""
        word, _, rest = notice.partition(" ")
        if word == messages.EXITED:
            self.exit_code = int(rest)
            self._status = status_text(self.exit_code)
            clock = self.clock if self._limits.cpu is not None else None
            own_ns, all_ns = (clock.own_ns(), clock.all_ns()) if clock else (0, 0)
            self.excess = self.excess or exceeded(self.exit_code, self._limits, own_ns, all_ns)
        elif word == messages.EXCEEDED:
            limit, count, most = rest.split()
            self.excess = self.excess or excess(limit, int(count), int(most))
        elif word == messages.WRAPPER_KILLED:
            self.lost_warden = not self.excess  # guard: wrapper-killed
        elif word == messages.DENIED:
            number, architecture, times = map(int, rest.split())
            self._denied.pop((number, architecture), None)
            self._denied[number, architecture] = times
        elif word == messages.ENDED:
            cpu_us, memory_bytes = map(int, rest.split())
            self._status = self._status or status_text(-signal.SIGKILL)
            orphans, escaped, unkillable = map(tuple, self._found.values())
            self.exit_report = ExitReport(
                self._status, orphans, escaped, unkillable, self.refused(), cpu_us, memory_bytes
            )
        else:
            self._found[word].append(rest)

    def refused(self) -> tuple[tuple[str, int], ...]:
        """The system calls that it was refused by now, as in an `ExitReport`; of more than
        `refusals.TOLD`, the others are known once it has exited.
        """
        counts: dict[str, int] = {}
        for kind, count in self._denied.items():
            name = seccomp.name_of(*kind)
            counts[name] = counts.pop(name, 0) + count
        return tuple(counts.items())

    def drain_final_output(self) -> None:
        """Reads what it still writes, so that no full pipe blocks it; keeps the beginning."""
        if self.stdout_open:
            self.final_output = (self.final_output + (self.read() or b""))[:READ_SIZE]
        self.drain_stderr()

    def terminate(self) -> None:
        """Sends SIGTERM to the bot and all that it started, unless it left the bot's group."""
        self.terminated = self.exit_status() is None
        self.ignored_end = self.terminated and not self._is_starved()
        with contextlib.suppress(OSError):
            self._control.send(messages.TERMINATE)

    def _is_starved(self) -> bool:
        """Whether it is ready to run and has got little processor time since its input was closed: it may be
        about to exit.
        """
        return (
            self.clock is not None
            and self.clock.near_ns() - self._closed_cpu_ns < STARVED_NS
            and any(map(cpu.is_ready, self.clock.processes()))
        )

    def pause(self) -> None:
        """Stops its processes, where its bot is to be paused."""
        if self._pauses and not self._paused:
            self._paused = True
            tree.stop(self._above)

    def resume(self) -> None:
        """Continues its processes, if they were stopped."""
        if self._paused:
            self._paused = False
            tree.resume(self._above)  # guard: resume

    def close_input(self) -> None:
        """Ends the bot's stdin."""
        self._closed_cpu_ns = self.clock.near_ns() if self.clock else 0
        self._streams.close_input()

    def kill(self) -> None:
        """Requests that all its processes be killed, and does not wait for that."""
        if not self._kill_sent:
            self._kill_sent = True
            with contextlib.suppress(OSError):
                self._control.send(messages.KILL)
        if self.exit_report is None:
            launcher.wake(self._started.warden)

    def reap(self) -> ExitReport:
        """Waits until all its processes were killed, and releases its resources."""
        self.kill()
        deadline = time.monotonic() + UNKILLABLE_S + REMOVE_S + 1
        while self.exit_report is None and time.monotonic() < deadline:
            launcher.readable_within(self._control, 0.05)
            self.listen()
            if self.exit_report is None:
                launcher.wake(self._started.warden)  # its bot may keep stopping it
        if self.exit_report is None:
            # Its socket is still open, so the process id is still its own; its bot ends with it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(self._started.warden, signal.SIGKILL)
            self.exit_report = ExitReport("cannot be ended", unkillable=(f"pid {self.pid}",))
        self._release(self.exit_report)
        return self.exit_report

    def _release(self, report: ExitReport) -> None:
        """Closes its streams; its warden may start another bot if no process of this one is left."""
        self._control.setblocking(True)
        self._started.launcher.release(self._started, self.control_open and not report.unkillable)
        self.control_open = False
        self._streams.close()
        os.close(self.stderr)


def _request(bot: Program, is_terminal: bool) -> Request:
    """The request to a warden to start a bot."""
    limits = bot.limits
    hard: dict[str, tuple[int, int]] = {"RLIMIT_CORE": (0, 0)}
    for name, value in (
        ("RLIMIT_DATA", limits.memory_of_each),
        ("RLIMIT_FSIZE", limits.file_size),
        ("RLIMIT_NOFILE", limits.open_files),
    ):
        if value is not None:
            hard[name] = (value, value)
    if limits.cpu is not None:
        hard["RLIMIT_CPU"] = (limits.cpu, limits.cpu + 1)  # SIGXCPU comes first, which tells the reason
    how = isolated(bot)
    return Request(
        program=bot.argv[0],
        argv=how.argv,
        cwd=str(bot.cwd),
        env={**bot.environment(), **how.environment},
        is_terminal=is_terminal,
        limits=hard,
        memory_bytes=limits.memory_of_all,
        processes=limits.processes,
        scratch_bytes=limits.scratch,
        scratch_files=limits.scratch_files,
        confinement=tuple(how.confinement),
        program_filter=how.program_filter,
        deferring_filter=how.deferring_filter,
        root=tuple(how.root) if how.root else None,
    )


GRACE_S = 0.5  # seconds that a bot has to exit by itself after `quit` and the end of its input

PATIENT_S = 3_600_000.0
"""Seconds that a bot has to exit where there are no time limits: longer than anybody waits."""

TERM_S = 0.2  # seconds between SIGTERM and SIGKILL


_LONGEST_WAIT_S = 3600.0  # seconds of one wait at most: the system call takes no more than some weeks


def end_processes(processes: Iterable[BotProcess], grace_s: float = GRACE_S) -> None:
    """Ends bots together: closes their input, waits, sends SIGTERM, waits, kills all their processes."""
    to_end = list(processes)
    try:
        for process in to_end:
            process.close_input()
        if not _exited_within(to_end, grace_s):
            for process in to_end:
                process.terminate()
            _exited_within(to_end, TERM_S)
    finally:
        for process in to_end:
            process.kill()
        for process in to_end:
            process.reap()


def _exited_within(processes: list[BotProcess], seconds: float) -> bool:
    """Waits until all have exited, reading their output meanwhile. Returns whether they exited in time."""
    deadline = time.monotonic() + seconds
    while True:
        living = [process for process in processes if process.exit_status() is None]
        for process in processes:  # one that has just exited may have written something before
            process.drain_final_output()
        if not living:
            return True
        rest = deadline - time.monotonic()
        if rest <= 0:
            return False
        poll = select.poll()
        for process in living:
            poll.register(process.control, select.POLLIN)
            if process.stdout_open:
                poll.register(process.stdout, select.POLLIN)
            if process.stderr_open:
                poll.register(process.stderr, select.POLLIN)
        poll.poll(min(rest, _LONGEST_WAIT_S) * 1000)


_MAX_OUTPUT = 1 << 16  # the bytes of output that are kept: the last ones

_LOOK_S = 0.2  # the seconds after which one that has ended is noticed though others hold its output open


def output_of(process: BotProcess, seconds: float) -> tuple[bytes, bool]:
    """The end of what a process writes to stdout until it ends, and whether it did in time."""
    deadline = time.monotonic() + seconds
    kept, is_read = b"", True
    poll = select.poll()
    for descriptor in (process.stdout, process.control):
        poll.register(descriptor, select.POLLIN)
    while (left := deadline - time.monotonic()) > 0:
        poll.poll(min(left, _LOOK_S) * 1000)
        ended = process.exit_status() is not None
        while process.stdout_open and (data := process.read()):
            kept = (kept + data)[-_MAX_OUTPUT:]
            if time.monotonic() > deadline:
                break
        process.drain_stderr()
        if ended:
            return kept, True
        if not process.stdout_open and is_read:
            poll.unregister(process.stdout)
            is_read = False
    return kept, False
