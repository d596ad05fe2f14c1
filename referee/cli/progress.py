"""Progress of matches and tournaments: plain lines on stderr, and events in JSON on stdout."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from referee.cli.output import say, say_now, show_data
from referee.core.pairing import Pairing
from referee.core.text import counted, shown
from referee.core.units import about, about_seconds
from referee.ratings.notes import stopped_text
from referee.records.record import OFF_TURN, REJECTED, STRAY, Summary, from_json
from referee.running import Display, RunInfo
from referee.tournament.formats import Amount
from referee.tournament.playing import FirstRejected
from referee.tournament.run.durations import Pace
from referee.tournament.workers.task import Finished, Void, Waiting
from referee.viewing.words import fault_report, placings


def report_stoppages(timed: Counter[str]) -> None:
    """Prints in how many moves the referee itself was not running, or a bot got no processor, if any;
    `timed_moves` counts them.
    """
    if timed["stopped"]:
        say(stopped_text(timed["stopped"], timed["all"]))
    if timed["waited"]:
        say(
            f"machine busy: in {timed['waited']:,} of {timed['all']:,} moves a bot waited for a processor "
            "and took longer than its allowance"
        )


HEADLINE_S = 60.0  # how often plain lines tell how many games are played and how long the others will take

LINES = 20
"""Runs of at most this many games have a plain line for each; longer ones for every tenth, and for faults."""

EVERY = 10

NONE_ENDED = "no game has ended yet; `referee check` shows sooner whether a bot answers"

OFF_TURN_PERCENT = 10
OFF_TURN_US = 100_000
"""What a bot computes while it is not asked is told if it is this share of that time, and this much."""


def report_bots(totals: Counter[tuple[str, str]], first_rejected: Mapping[str, FirstRejected]) -> None:
    """Prints which bots computed while they were not asked, had answers rejected, or wrote lines that were
    ignored; `bot_totals` counts that.
    """
    for bot in dict.fromkeys(bot for bot, _ in totals):
        noise, stale = (totals[bot, name] for name in STRAY)
        if noise:
            say(
                f"ignored {counted(noise, 'line')} on the stdout of bot `{bot}` that the protocol does not "
                "know: debug output belongs on stderr"
            )
        if stale:
            say(
                f"bot `{bot}` sent {counted(stale, 'answer')} to closed questions, which were ignored: send "
                "exactly one `move` for each `ask`"
            )
        if bot in first_rejected:
            game, answer, most = first_rejected[bot]
            rejected = (
                f"{counted(totals[bot, REJECTED], 'answer')} rejected ({most} rejections in one game lose it)"
            )
            first = f"`{shown(answer.text, 80)}`: {shown(answer.sentence)}"
            say(f"bot `{bot}` had {rejected}; the first, in game {shown(game)}, was {first}")
        idle_us, cpu_us = (totals[bot, name] for name in OFF_TURN)
        if cpu_us >= OFF_TURN_US and 100 * cpu_us >= OFF_TURN_PERCENT * idle_us:
            say(
                f"bot `{bot}` computed for {about(cpu_us)} of the {about(idle_us)} outside its own turns; "
                "to suspend its processes then, set `pause`"
            )


class Narrator(Display):
    """Describes the events of a run, in the same words on a terminal and in a pipe, and tracks progress."""

    def __init__(self, info: RunInfo, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._in_all = info.in_all
        self._played = len(info.games)
        self._ended = False  # whether a game has ended since the run was begun or continued
        self._clock = clock
        self._pace = Pace(info.workers, info.history_us)
        self._rule = ""
        self._explained: set[tuple[str, str]] = set()

    @property
    def tells_each_game(self) -> bool:
        """Whether the result of every game is printed, and not only those with faults that are new."""
        return True

    def began(self, game: str) -> None:
        """Notes that a game is in progress."""
        self._pace.began(game, self._now_us())

    def finished(self, finished: Finished) -> None:
        """Prints the result of a game, if it is to be told, and a report of each fault that is new for its
        bot.
        """
        game = finished.game
        self._ended = True
        self._played += 1
        self._pace.finished(game.id, self._now_us())
        faults = {(name, fault) for name, fault in zip(game.bots, game.faults, strict=True) if fault}
        is_new = not faults <= self._explained  # once for each bot and fault: `find` has the others
        if is_new or self.tells_each_game:
            places = placings(game.bots, game.ranks)
            done, part = self._part
            self.note(f"{done:,} of {part.games:,}: {game.id}: {places}: {shown(game.told)}")
        if is_new:
            self._explained |= faults
            for line in fault_report(from_json(finished.record())):
                self.note(f"  {line}")

    def void(self, void: Void, then: str) -> None:
        """Prints why a game became void, and what becomes of it."""
        self._pace.void(void.id)
        reason = void_reason(void)
        is_known = reason == shown(void.error)  # else it is the end of a traceback
        self.note(f"{void.id}: {reason if is_known else f'the referee itself failed ({reason})'}, {then}")

    def rule(self, line: str) -> None:
        """Keeps how a stopping rule stands, for the next headline."""
        self._rule = line

    @property
    def rule_text(self) -> str:
        """How a stopping rule stands; empty before the closing test that it belongs to."""
        _, part = self._part
        return "" if self._in_all.test and part.is_exact else self._rule

    def headline(self) -> str:
        """Says how many games are played, and how long the others will take."""
        done, part = self._part
        left = part.games - done
        left_us = self._pace.remaining_us(left, self._now_us())
        most = "at most " if self.rule_text else ""  # the stopping rule may decide sooner
        remaining = "" if left_us is None or not left else f", {most}about {about_seconds(left_us)} remaining"
        if self._in_all.test:
            return self._in_all.progress_text(self._played, more=remaining)
        return f"{done:,} of {part.games:,} games{remaining}"

    @property
    def _part(self) -> tuple[int, Amount]:
        """The games that are being played, as `Amount.part` has them."""
        return self._in_all.part(self._played)

    def _now_us(self) -> int:
        return int(self._clock() * 1_000_000)


class ProgressLines(Narrator):
    """Reports the progress of a run in plain lines: few, since they may be the log of thousands of games."""

    def __init__(self, info: RunInfo, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        super().__init__(info, clock)
        self._headline_s = clock()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    @property
    def tells_each_game(self) -> bool:
        """Whether the run has so few games that each can be a line."""
        return self._in_all.games <= LINES

    def note(self, line: str) -> None:
        """Prints a line."""
        say(line)

    def finished(self, finished: Finished) -> None:
        """Prints what is to be told of a game, and after every tenth a headline."""
        super().finished(finished)
        if not self.tells_each_game and self._played % EVERY == 0:
            self._say_headline()

    def tick(self) -> None:
        """Prints a headline if none was printed for a while."""
        if self._clock() - self._headline_s >= HEADLINE_S:
            self._say_headline()

    def _say_headline(self) -> None:
        self._headline_s = self._clock()
        none = "" if self._ended else NONE_ENDED
        say("; ".join(filter(None, (self.headline(), self.rule_text, none))))

    def interrupt(self, line: str) -> None:
        """Prints a line from a signal handler."""
        say_now(line)


def void_reason(void: Void) -> str:
    """Why a game became void: the last line of the error."""
    return shown(void.error.strip().splitlines()[-1])


def event_line(event: str, **members: Any) -> str:
    """An event as a line of JSON."""
    return json.dumps({"event": event, **members}, separators=(",", ":"))


class JsonLines(Display):
    """Prints each event on stdout, and has another display show it to people on stderr."""

    def __init__(self, info: RunInfo, people: Display) -> None:
        """`people` is opened and closed with this one."""
        self._info = info
        self._people = people
        self._played = len(info.games)
        self._rule = ""

    def __enter__(self) -> JsonLines:
        info = self._info
        _print(
            "run",
            bots=list(info.names),
            seats=info.seats,
            games=info.in_all.games,
            played=self._played,
            workers=info.workers,
        )
        self._people.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._people.__exit__(kind, error, trace)

    def began(self, game: str) -> None:
        """Prints `began`."""
        _print("began", id=game, bots=list(Pairing.parse(game).bots))
        self._people.began(game)

    def waiting(self, waiting: Waiting) -> None:
        """Is for people only."""
        self._people.waiting(waiting)

    def finished(self, finished: Finished) -> None:
        """Prints `finished`, with a report of the game's faults if it has any."""
        game = finished.game
        self._played += 1
        report = list(fault_report(from_json(finished.record()))) if any(game.faults) else []
        _print(
            "finished",
            **_members(game),
            played=self._played,
            games=self._info.in_all.games,
            **({"report": report} if report else {}),
        )
        self._people.finished(finished)

    def void(self, void: Void, then: str) -> None:
        """Prints `void`."""
        suspects = sorted(void.suspects)
        _print("void", id=void.id, attempt=void.attempt, error=void.error, suspects=suspects, then=then)
        self._people.void(void, then)

    def note(self, line: str) -> None:
        """Prints `note`."""
        _print("note", text=line)
        self._people.note(line)

    def rule(self, line: str) -> None:
        """Prints `rule`, where it is new."""
        if line != self._rule:
            self._rule = line
            _print("rule", text=line)
        self._people.rule(line)

    def tick(self) -> None:
        """Prints nothing."""
        self._people.tick()

    def interrupt(self, line: str) -> None:
        """Prints nothing on stdout, since the signal may have come while a line was printed there."""
        self._people.interrupt(line)


def end_lines(played: int, total: int, head: str, table: str) -> str:
    """The last lines: `table`, from the table as JSON where games were played, and `end`."""
    end = event_line("end", played=played, games=total, head=head)
    return f"{event_line('table', **json.loads(table))}\n{end}" if table else end


def _members(game: Summary) -> dict[str, Any]:
    value = game._asdict()
    return {name: value[name] for name in MEMBERS}


MEMBERS = ("id", "attempt", "game", "bots", "ranks", "scores", "ending", "sentence", "rated", "faults")
"""What an event has of a game's summary."""


def _print(event: str, **members: Any) -> None:
    show_data(event_line(event, **members))
