"""The connection to one bot: its process, and the session with it."""

from __future__ import annotations

import errno
import select
from collections.abc import Sequence

from referee.core.errors import EnvironmentLacksError
from referee.core.files import read_start
from referee.core.text import counted, shown
from referee.gameplay import hints
from referee.gameplay.api import Failure, ReplyContent
from referee.gameplay.events import Ending
from referee.processes import stamped
from referee.processes.launcher import LostWarden
from referee.processes.process import GRACE_S, PATIENT_S, BotProcess, BotStart, end_processes
from referee.processes.program import Program
from referee.protocol.session import Phase
from referee.wire.dialogue import FROM_BOT, STDERR, TO_BOT, Tap
from referee.wire.referee_session import RefereeSession

_OUR_LACK = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Errors at a start that are the machine's and not the bot's."""


class BotConnection:
    """The connection to one bot, for the games of an encounter.

    A bot that cannot be started has a connection too: the failure is reported when its seat is opened.
    """

    def __init__(
        self,
        bot: Program,
        tap: Tap | None = None,
        failure: Failure | None = None,
        start: BotStart | None = None,
    ) -> None:
        """If a `failure` is given, the bot is not started; `start` is a start that was requested before."""
        self.bot = bot
        self.session = RefereeSession()
        self.greeted = False
        self.faulted = False
        """Set by the player of the games: after a fault a bot gets a fresh process for its next game."""
        self.served = 0
        """The number of games that this process has played; counted by the player of the games."""
        self.unsent = b""
        self._tap = tap
        stdout_poll = select.poll()
        self.poll_stdout = stdout_poll.poll
        """Tells by a list that is not empty that something can be read, after so many milliseconds at most:
        polling is cheaper than an exception from a read.
        """
        self.process: BotProcess | None = None
        self.failure = failure
        self._lost_warden = False
        """Whether its warden was killed before the bot was started."""
        if failure:
            return
        try:
            self.process = BotProcess(bot, start, self._show_stderr)
            stdout_poll.register(self.process.stdout, select.POLLIN)
        except OSError as error:
            self._lost_warden = isinstance(error, LostWarden)
            # Only an error of the bot's own start names a file; then its own limits may be the cause.
            own = error.filename and hints.prevented_by(error.errno or 0, bot.limits.names)
            if error.errno in _OUR_LACK and not own:
                raise EnvironmentLacksError(f"cannot start bot `{bot.name}`: {error.strerror}") from None
            detail = f"{error.strerror}: `{shown(str(error.filename or bot.argv[0]))}`"
            hint = hints.not_started(error.errno or 0, _first_line(bot), bot.limits.names, bot.isolation)
            self.failure = Failure(Ending.START, detail, hint)

    @property
    def fit(self) -> bool:
        """Whether the process can play another game. Whatever it did since the last one is judged when the
        next one is opened, so that verdicts do not depend on when the referee looked.
        """
        return self.process is not None and not self.faulted

    @property
    def lost_warden(self) -> bool:
        """Whether something killed the warden of its process, perhaps the bot."""
        return self._lost_warden or (self.process is not None and self.process.lost_warden)

    @property
    def stdout_open(self) -> bool:
        """Whether more output may come."""
        return self.process is not None and self.process.stdout_open

    @property
    def has_read(self) -> bool:
        """Whether the bot has read everything that was written, as far as that can be known."""
        assert self.process
        return not self.process.stamped or stamped.is_empty(self.process.stdin)

    def send(self, data: bytes) -> Failure | None:
        """Writes what fits into the pipe and keeps the rest; a failure where the bot closed its input."""
        process, failure = self.process, None
        assert process
        if unsent := self.unsent + data:
            try:
                self.unsent = unsent[process.write(unsent) :]
            except BrokenPipeError:
                self.unsent = b""
                failure = self._gone("closed its input")
        if self._tap and data:
            self._tap(self.bot.name, TO_BOT, data)
        return failure

    def receive(self, data: bytes) -> list[ReplyContent]:
        """Decodes the replies in a chunk of output; an empty chunk means that the bot is gone."""
        if self._tap and data:
            self._tap(self.bot.name, FROM_BOT, data)
        return self.session.receive(data) if data else [self._gone("closed its output")]

    def catch_up(self) -> list[ReplyContent]:
        """Reads everything that the bot has written by now."""
        replies: list[ReplyContent] = []
        process = self.process
        while process and process.stdout_open and not self.session.failure and self.poll_stdout(0):
            if (data := process.read()) is None:
                break
            replies += self.receive(data)
        return replies

    def drain_stderr(self) -> None:
        """Reads what there is on the bot's stderr."""
        assert self.process
        self.process.drain_stderr()

    def _show_stderr(self, data: bytes) -> int:
        """Passes on what the bot wrote to stderr, and returns the number of the last question before it."""
        if self._tap and data:
            self._tap(self.bot.name, STDERR, data)
        return self.session.asked

    def final_replies(self) -> list[ReplyContent]:
        """Returns the replies of a bot whose process may have exited: what it still wrote, then that it is
        gone.

        Its stdout may still be open, held by a process that the bot started.
        """
        assert self.process
        return (self.catch_up() or self.receive(b"")) if self.process.exit_status() else []

    def what_came(self, start_us: int, computing: bool) -> tuple[str, str]:
        """Describes what came instead of an answer from a bot whose time is up, with a hint at what that
        often means. `start_us` is the time that it has to get ready; `computing`: it did not just wait.
        """
        turn, partial = self.session.turn, self.session.partial
        if self.unsent:
            detail = f"{len(self.unsent)} bytes that it was sent were not read"
        elif turn.stale_count:
            detail = f"{counted(turn.stale_count, 'answer')} to closed questions arrived"
        elif partial and not hints.prompted(turn.noise):
            detail = f"a line without a newline came: {shown(partial, 80)}"
        elif turn.noise_count:
            detail = f"a line that is not a message came: `{turn.noise}`"
            if turn.noise_count > 1:
                detail = f"{turn.noise_count} lines that are not messages came, such as `{turn.noise}`"
        else:
            detail = "nothing came"
        never = not self.session.received_bytes
        loading = self.session.phase is Phase.LOADING
        return detail, (
            hints.came_instead(len(self.unsent), partial, turn.noise, turn.stale_count)
            or hints.nothing_came(never, loading, start_us, computing)
        )

    @property
    def held_back(self) -> bool:
        """Whether the answer that had been waited for in vain came only when the bot's input was closed."""
        if self.session.failure:
            return False  # what it did wrong came before
        lines = self.process.final_output.split(b"\n")[:-1] if self.process else []
        return any(map(self.session.is_awaited, lines))

    def _gone(self, what: str) -> Failure:
        assert self.process
        process = self.process
        status = process.how_it_ended()
        partial = self.session.partial
        behind = f"; its last line has no newline: {shown(partial, 80)}" if partial else ""
        if excess := process.excess:
            failure = Failure(Ending.LIMIT, excess)
        else:
            process.drain_stderr()
            stderr = process.complaints.text()
            first_line = _first_line(self.bot)
            never_ran = process.exit_code and not self.session.received_bytes
            hint = hints.wrong_interpreter(self.bot.argv, first_line) if never_ran else ""
            hint = hint or hints.of_shell_script(self.bot.argv, _first_line(self.bot, 1))
            hint = hint or hints.gone(
                status is None,
                process.exit_code,
                stderr,
                self.bot.limits.names,
                self.bot.isolation,
                first_line,
            )
            hint = hints.after_refusals(hint, [name for name, _ in process.refused()], self.bot.isolation)
            exception = hints.raised(stderr) if process.exit_code == 1 else ""
            failure = Failure(Ending.GONE, shown(exception or status or what, 200) + behind, hint)
        self.session.failure = failure
        return failure


LOST_GRACE_S = 0.2
"""Seconds that a bot at fault has to exit after its input was closed; output that it held back comes then."""


def _first_line(bot: Program, word: int = 0) -> bytes | None:
    """The first line of the bot's program, or another word of its command, where that is a file that can be
    read.
    """
    try:
        return read_start(bot.cwd / bot.argv[word], 200).partition(b"\n")[0]
    except (IndexError, OSError):
        return None


def end_connections(connections: Sequence[BotConnection], patient: bool = False) -> None:
    """Sends `quit` to bots and ends their processes; bots at fault are given less time to exit. `patient`:
    all of them have as long as they take.
    """
    fit: list[BotProcess] = []
    unfit: list[BotProcess] = []
    for connection in connections:
        if connection.process is None:
            continue
        connection.process.resume()
        (fit if connection.fit else unfit).append(connection.process)
        connection.send(connection.session.quit())
    end_processes(unfit, PATIENT_S if patient else LOST_GRACE_S)
    end_processes(fit, PATIENT_S if patient else GRACE_S)
