"""A bot's process with the conversation that is held with it."""

from __future__ import annotations

import errno
import select
from collections.abc import Callable, Sequence

from referee.core.errors import EnvironmentLacksError
from referee.core.text import shown
from referee.gameplay import hints
from referee.gameplay.api import Failure, What
from referee.gameplay.events import Ending
from referee.processes.bot import Bot
from referee.processes.ending import end_processes
from referee.processes.process import BotProcess, Start
from referee.wire.channel import Channel

_OUR_LACK = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM)
"""Why a process cannot be started that is not its program's fault."""

_WAITED_FOR = (b"hello", b"ready", b"move", b"resign")

Tap = Callable[[str, str, bytes], None]
"""Told of every byte that passes: the bot's name, `<` (to it) or `>` (from it), the bytes."""


class Link:
    """One bot's process with its conversation; it serves the games of an encounter.

    A bot that cannot even be started is a link too: its seat learns of it when it is opened.
    """

    def __init__(
        self, bot: Bot, tap: Tap | None = None, failure: Failure | None = None, start: Start | None = None
    ) -> None:
        """A `failure` that is known already spares trying; `start` is the bot's start, where that was asked
        for before.
        """
        self.bot = bot
        self.channel = Channel()
        self.greeted = False
        self.faulted = False
        """Set by whoever runs the games: a bot that lost by a fault is not asked to play on."""
        self.served = 0
        """How many games it has served; counted by whoever runs the games."""
        self.unsent = b""
        self._tap = tap
        self._said = select.poll()
        """Whether there is something on its stdout."""
        self.process: BotProcess | None = None
        self.failure = failure
        if failure:
            return
        try:
            self.process = BotProcess(bot, start)
            self._said.register(self.process.stdout, select.POLLIN)
        except OSError as error:
            if error.errno in _OUR_LACK:
                raise EnvironmentLacksError(f"cannot start bot `{bot.name}`: {error.strerror}") from None
            detail = f"{error.strerror}: `{shown(str(error.filename or bot.argv[0]))}`"
            hint = hints.not_started(error.errno or 0, _first_line(bot))
            self.failure = Failure(Ending.START, detail, hint)

    @property
    def fit(self) -> bool:
        """Whether it may serve another game. What else it did meanwhile is judged when that is opened, not
        by what happens to be known of it now.
        """
        return self.process is not None and not self.faulted

    @property
    def stdout_open(self) -> bool:
        """Whether something may still come."""
        return self.process is not None and self.process.stdout_open

    def send(self, data: bytes) -> Failure | None:
        """Sends what can be sent now and keeps the rest; a bot that closed its input is gone."""
        self.unsent += data
        assert self.process
        try:
            while self.unsent and (count := self.process.write(self.unsent)):
                self.unsent = self.unsent[count:]
        except BrokenPipeError:
            self.unsent = b""
            return self._gone("closed its input")
        finally:
            if self._tap and data:
                self._tap(self.bot.name, "<", data)
        return None

    def read(self) -> bytes | None:
        """A chunk of its output: None if there is none, empty at the end."""
        assert self.process
        return self.process.read()

    def hear(self, data: bytes) -> list[What]:
        """What a chunk says; an empty chunk says that the bot is gone."""
        if self._tap and data:
            self._tap(self.bot.name, ">", data)
        return self.channel.hear(data) if data else [self._gone("closed its output")]

    def catch_up(self) -> list[What]:
        """What lies there, said before it was asked."""
        heard: list[What] = []
        # Nearly always nothing does, and asking that first spares an error that would have to be caught.
        while self.stdout_open and not self.channel.failure and self._said.poll(0):
            if (data := self.read()) is None:
                break
            heard += self.hear(data)
        return heard

    def drain_stderr(self) -> None:
        """Takes what there is on its stderr."""
        assert self.process
        self.process.drain_stderr()

    def last_words(self) -> list[What]:
        """What there is to hear of a bot whose process may have ended: what it said, then that it is gone.

        Its output may still be open then: somebody that it started holds it.
        """
        assert self.process
        return (self.catch_up() or self.hear(b"")) if self.process.exit_status() else []

    def what_came(self) -> tuple[str, str]:
        """Of a bot whose time is up: what did come, and what that often means."""
        aside, partial = self.channel.aside, self.channel.partial
        noise = aside.noise[-1] if aside.noise else ""
        if self.unsent:
            detail = f"{len(self.unsent)} bytes of what it was sent were not read"
        elif partial:
            detail = f"a line without a newline came: {shown(partial, 80)}"
        elif noise:
            detail = f"{aside.noise_count} × a line that is no message came, such as `{noise}`"
        else:
            detail = "nothing came"
        never = not self.channel.heard_bytes
        return detail, hints.silent(len(self.unsent), partial, noise, aside.stale_count, never)

    @property
    def held_back(self) -> bool:
        """Whether something came when its input was closed that had been waited for before."""
        lines = self.process.final_output.split(b"\n")[:-1] if self.process else []
        return any(line.partition(b" ")[0] in _WAITED_FOR for line in lines)

    def _gone(self, what: str) -> Failure:
        assert self.process
        process = self.process
        status = process.how_it_ended()
        partial = self.channel.partial
        behind = f", its last words without a newline: {shown(partial, 80)}" if partial else ""
        if excess := process.excess:
            failure = Failure(Ending.LIMIT, excess)
        else:
            process.drain_stderr()
            hint = hints.gone(status is None, process.exit_code, process.complaints.text())
            failure = Failure(Ending.GONE, (status or what) + behind, hint)
        self.channel.failure = failure
        return failure


LOST_GRACE_S = 0.2
"""A bot that broke something has so long after its input was closed: what it had held back comes then."""


def _first_line(bot: Bot) -> bytes | None:
    """What the bot's program begins with, if it is a file that can be read."""
    try:
        with (bot.cwd / bot.argv[0]).open("rb") as file:
            return file.readline(200).removesuffix(b"\n")
    except OSError:
        return None


def end_links(links: Sequence[Link]) -> None:
    """Says quit to bots and ends their processes; those that broke something are given little grace."""
    fit: list[BotProcess] = []
    unfit: list[BotProcess] = []
    for link in links:
        if link.process is None:
            continue
        (fit if link.fit else unfit).append(link.process)
        link.send(link.channel.quit())
    end_processes(unfit, LOST_GRACE_S)
    end_processes(fit)
