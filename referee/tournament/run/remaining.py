"""Decides what is played next: the encounters that remain, until a stopping rule decides. Pure."""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from referee.core.pairing import Pairing
from referee.core.settings import CLOSED
from referee.ratings.sprt import SprtResult
from referee.tournament.formats import Amount, SectionState, StoreBatch
from referee.tournament.run.run_state import RunState
from referee.tournament.schedule import Encounter, Schedule, Wait, encounter
from referee.tournament.stopping import KEYS, NEVER, Stopping
from referee.tournament.tournament import Matchmaking


class Remaining:
    """What remains of a run, while its games are played."""

    def __init__(
        self,
        matchmaking: Matchmaking,
        run: RunState,
        is_open: Callable[[str], bool] | None = None,
        store: StoreBatch = lambda batch: None,
        at_once: int = 1,
    ) -> None:
        """`is_open` says of an id whether the game is still to be played; by default the run does. `store`
        keeps what a league chooses: without it, `next` gives only an example of what may follow. `at_once` is
        how many encounters are played at the same time.
        """
        self._matchmaking = matchmaking
        self._names = frozenset(matchmaking.names)
        self._run = run
        self._is_to_be_played = is_open or run.is_open
        self._amendments = run.amendments
        self._stoppings = self._new_stoppings()
        self._told: list[Encounter] = []
        """The encounters that the stopping rules were given, where that may have to be repeated."""
        self._closed_line: Any = None  # the member of the header with which these two were computed last
        self._closed = ""
        self._begun: frozenset[str] = frozenset()
        self._agenda = _Agenda(
            self._schedules(store, at_once), lambda game: not self._is_open(game), self._skips
        )

    def _schedules(self, store: StoreBatch, at_once: int) -> list[Schedule]:
        run, matchmaking = self._run, self._matchmaking
        # Annulled games led to the encounters that followed them.
        played = ChainMap(run.games, run.annulled)
        states = (
            SectionState(
                played,
                matchmaking.names,
                seats,
                section,
                points=matchmaking.points,
                repeats=matchmaking.repeats,
                out=lambda: run.amendments.out,
                out_after=run.out_after,
                batches=run.batches,
                store=store,
                at_once=at_once,
                never_counts=run.never_counts,
            )
            for section, seats in matchmaking.seats.items()
        )
        return [matchmaking.format.schedule(state) for state in states]

    def _new_stoppings(self) -> dict[str, Stopping]:
        out = self._run.amendments.out
        return {section: self._matchmaking.new_stopping(out) for section in self._matchmaking.seats}

    def next(self) -> Encounter | None:
        """Returns the next encounter with open games; None if there is none, or none until more games are
        over.
        """
        self._update()
        while self._stopped is None and (found := self._agenda.next()):
            if any(self._is_open(game.id) for game in found.games):
                return found
            self._update()
        return None

    @property
    def decision(self) -> str | None:
        """Why nothing more is played than what has begun: the stopping rule of every section has decided, or
        the time is over; else None.
        """
        return self._stopped or self.closed or None

    @property
    def closed(self) -> str:
        """Why nothing more begins, where the time of the run is over; else empty."""
        line = self._run.header.closed
        if line is not self._closed_line:
            self._closed_line, limit = line, self._matchmaking.limit
            # With another limit more games begin; that is stored before the first of them.
            is_closed = line and limit == self._run.header.limit
            self._closed = limit.text(line["by"]) if line and is_closed else ""
            self._begun = frozenset(line.get("games", ()) if line else ())
        return self._closed

    def begun(self) -> dict[str, Any]:
        """What is played although nothing more begins, as a closed run has it: the rounds that have begun,
        where the next ones follow from their results; the games of encounters that have, where they do not,
        or are played in no order.
        """
        given = [one.games for one in self._agenda.given()]
        played = map(Pairing.parse, (*self._run.games, *self._run.annulled))
        given += [self._seatings(one) for one in played]
        rounds: dict[str, int] = {}
        for first, *_ in given:
            rounds[first.section] = max(first.number, rounds.get(first.section, 0))
        given = [games for games in given if not self._is_in_order(games[0])]
        games = sorted({one.id for games in given for one in games if self._is_open(one.id)})
        if not self._matchmaking.format.pairs_by_round:
            return {"games": games}
        return {"rounds": rounds, **({"games": games} if games else {})}

    def _is_in_order(self, one: Pairing) -> bool:
        """Whether the number of a game's round says after which others it is played."""
        form = self._matchmaking.format
        return form.pairs_by_round and len(form.played_with(one.number)) == 1

    def _seatings(self, one: Pairing) -> tuple[Pairing, ...]:
        """The games of the encounter that a game belongs to."""
        return encounter(one.number, one.bots, one.part, one.section).games

    def _is_closed(self, one: Encounter) -> bool:
        """Whether an encounter does not begin, since the time is over."""
        line, first = self._run.header.closed, one.games[0]
        if not self.closed or line is None:
            return False
        rounds = line.get("rounds")
        if rounds is not None and first.number > int(rounds.get(first.section, 0)):
            return True
        return not self._is_in_order(first) and not any(game.id in self._begun for game in one.games)

    @property
    def _stopped(self) -> str | None:
        """Why nothing more is played, where the stopping rule of every section has decided; else None."""
        decisions = [stopping.decision for stopping in self._stoppings.values()]
        if None in decisions:
            return None
        return "; ".join(filter(None, decisions))

    @property
    def progress(self) -> str:
        """How far the stopping rules have come, in a line; empty where there are none."""
        lines = ((section, stopping.progress()) for section, stopping in self._stoppings.items())
        return "; ".join(f"{section}: {line}" if section else line for section, line in lines if line)

    @property
    def tests(self) -> list[SprtResult]:
        """The sequential tests as far as they have come, with the names of the bots as tables show them."""
        shown = self._run.amendments.shown
        return [
            test.result(section, shown)
            for section, stopping in self._stoppings.items()
            for test in stopping.tests.values()
        ]

    def _skips(self, encounter: Encounter) -> bool:
        """Whether an encounter with open games is not played, since the question that it belongs to is
        decided.
        """
        stopping = self._stopping(encounter.games[0])
        if stopping.decision is None and not stopping.skips(encounter) and not self._is_closed(encounter):
            return False
        return any(self._is_open(game.id) for game in encounter.games)

    def _is_open(self, game: str) -> bool:
        """Whether a game can be played now: it waits where a league has chosen a bot that is now left out."""
        return self._is_to_be_played(game) and self._names.issuperset(Pairing.parse(game).bots)

    def _update(self) -> None:
        """Tells the stopping rules what has been added to the finished beginnings of the schedules: all of it
        anew where a bot was taken out, as they are told when the run is continued.
        """
        if self._amendments is not self._run.amendments:  # guard: stopping-after-strikes
            self._amendments = self._run.amendments
            self._stoppings = self._new_stoppings()
            for encounter in self._told:
                self._tell(encounter)
        for encounter in self._agenda.finished():
            self._tell(encounter)
            if self._matchmaking.stopping != NEVER:
                self._told.append(encounter)

    def _tell(self, encounter: Encounter) -> None:
        games = [self._run.games[game.id] for game in encounter.games if game.id in self._run.games]
        self._stopping(encounter.games[0]).add(encounter, games)

    def _stopping(self, game: Pairing) -> Stopping:
        return self._stoppings[game.section]


def stopped(run: RunState, is_open: Callable[[str], bool]) -> Remaining | None:
    """What remains of a run that has a stopping rule, or is closed, by its records, with what was decided;
    None for other runs. Raises `RecordError`.
    """
    if run.format is None or not any(key in run.header.members for key in (*KEYS, CLOSED)):
        return None
    remaining = Remaining(Matchmaking.of_header(run.header, run.format, run.seats), run, is_open)
    remaining.next()
    return remaining


def nothing_remains(run: RunState) -> bool:
    """Whether nothing of a run is left to play, by its records; False where its format is not known. Raises
    `RecordError`.
    """
    form, in_all = run.format, run.games_in_all
    if form is None or in_all is None:
        return False
    if form.is_open and not form.follows_results and run.played_games == in_all.games:
        return True  # all that can meet have met: the games of a run are different ones of its schedule
    return Remaining(Matchmaking.of_header(run.header, form, run.seats), run).next() is None


def games_in_all(run: RunState) -> Amount | None:
    """How many games a run has, where that says more than how many were played: not how many it might have
    had, when nothing of it remains. Raises `RecordError`.
    """
    in_all = run.games_in_all
    if in_all is None or run.format is None:
        return in_all
    is_amended = run.amendments.out or run.amendments.annulled
    may_be_fewer = not in_all.is_exact or run.format.pairs_by_round or is_amended
    return None if may_be_fewer and nothing_remains(run) else in_all


class _Agenda:
    """The encounters of several schedules, one of each in turn; those that wait are passed over."""

    def __init__(
        self,
        schedules: Iterable[Schedule],
        is_over: Callable[[str], bool],
        skips: Callable[[Encounter], bool],
    ) -> None:
        """`is_over` says of an id whether the game has a result, or will never have one; `skips` of an
        encounter whether it is left out.
        """
        self._sections = deque(_Section(schedule, is_over, skips) for schedule in schedules)

    def next(self) -> Encounter | None:
        """The next encounter; None if there is none, or none until more games are over."""
        for _ in range(len(self._sections)):
            self._sections.rotate(-1)
            if found := self._sections[-1].next():
                return found
        return None

    def given(self) -> Iterator[Encounter]:
        """The encounters that were given out and do not belong to a finished beginning yet."""
        for section in self._sections:
            yield from section.given

    def finished(self) -> Iterator[Encounter]:
        """The encounters that have been added, since the last call, to the longest finished beginning of each
        schedule: they do not depend on the order in which games end.
        """
        for section in self._sections:
            yield from section.finished()


class _Section:
    """One schedule, as far as it has been read."""

    def __init__(
        self, schedule: Schedule, is_over: Callable[[str], bool], skips: Callable[[Encounter], bool]
    ) -> None:
        self._schedule = schedule
        self._skips = skips
        self._is_over = is_over
        self._awaited: list[str] = []
        """The games that the schedule waits for and that were not over at the last look."""
        self.given: deque[Encounter] = deque()
        """The encounters that were given out and do not belong to the finished beginning yet."""

    def next(self) -> Encounter | None:
        while not self._waits():
            step = next(self._schedule, None)
            if step is None:
                return None
            if isinstance(step, Wait):
                self._awaited = list(step.games)
            elif not self._skips(step):
                self.given.append(step)
                return step
        return None

    def _waits(self) -> bool:
        while self._awaited and self._is_over(self._awaited[-1]):
            self._awaited.pop()
        return bool(self._awaited)

    def finished(self) -> Iterator[Encounter]:
        while self.given and all(self._is_over(game.id) for game in self.given[0].games):
            yield self.given.popleft()
