"""The encounters of a tournament that are still to be played, until a stopping rule decides."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable

from referee.core.pairing import Pairing
from referee.tournament.agenda import Agenda
from referee.tournament.formats import SectionState, StoreBatch
from referee.tournament.run.run_state import RunState
from referee.tournament.schedule import Encounter, Schedule
from referee.tournament.stopping import NEVER, Stopping
from referee.tournament.tournament import Tournament


class Remaining:
    """What remains of a run, while its games are played."""

    def __init__(
        self,
        tournament: Tournament,
        run: RunState,
        is_open: Callable[[str], bool] | None = None,
        store: StoreBatch = lambda batch: None,
        at_once: int = 1,
    ) -> None:
        """`is_open` says of an id whether the game is still to be played; by default the run does. `store`
        keeps what a league chooses: without it, `next` gives only an example of what may follow. `at_once` is
        how many encounters are played at the same time.
        """
        self._tournament = tournament
        self._names = frozenset(tournament.names)
        self._run = run
        self._is_to_be_played = is_open or run.is_open
        self._amendments = run.amendments
        self._stoppings = self._new_stoppings()
        self._told: list[Encounter] = []
        """The encounters that the stopping rules were given, where that may have to be repeated."""
        self._agenda = Agenda(
            self._schedules(tournament, store, at_once), lambda game: not self._is_open(game), self._skips
        )

    def _schedules(self, tournament: Tournament, store: StoreBatch, at_once: int) -> list[Schedule]:
        run = self._run
        # Annulled games led to the encounters that followed them.
        played = ChainMap(run.games, run.annulled)
        states = (
            SectionState(
                plan.names,
                plan.seats,
                plan.section,
                played,
                lambda: run.amendments.out,
                run.batches,
                store,
                at_once,
            )
            for plan in tournament.plans
        )
        return [tournament.format.schedule(state) for state in states]

    def _new_stoppings(self) -> dict[str, Stopping]:
        plans, out = self._tournament.plans, self._run.amendments.out
        return {plan.section: self._tournament.stopping_of(plan, out) for plan in plans}

    def next(self) -> Encounter | None:
        """Returns the next encounter with open games; None if there is none, or none until more games are
        over.
        """
        self._update()
        while self.decision is None and (found := self._agenda.next()):
            if any(self._is_open(game.id) for game in found.games):
                return found
            self._update()
        return None

    @property
    def decision(self) -> str | None:
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

    def _skips(self, encounter: Encounter) -> bool:
        """Whether an encounter with open games is not played, since the question that it belongs to is
        decided.
        """
        stopping = self._stopping(encounter.games[0])
        if stopping.decision is None and not stopping.skips(encounter):
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
            if self._tournament.strikes and self._tournament.stopping != NEVER:
                self._told.append(encounter)

    def _tell(self, encounter: Encounter) -> None:
        games = [self._run.games[game.id] for game in encounter.games if game.id in self._run.games]
        self._stopping(encounter.games[0]).add(encounter, games)

    def _stopping(self, game: Pairing) -> Stopping:
        return self._stoppings[game.section]
