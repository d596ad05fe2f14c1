"""Counts the faults of bots, and takes those out of a run that committed as many as the tournament allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from referee.core.text import counted
from referee.records.amendments import THEN, Strikes, at_fault
from referee.records.record import Summary
from referee.tournament.run.open_run import OpenRun


class FaultCount:
    """How many faults each bot has committed in a run; nothing is counted where the tournament allows all."""

    def __init__(self, strikes: Strikes | None, run: OpenRun) -> None:
        """Counts the faults in the games that were played."""
        self._strikes = strikes
        self._run = run
        self._faults: Counter[str] = Counter()
        if strikes:
            for game in (*run.state.games.values(), *run.state.annulled.values()):
                self.add(game)

    def add(self, game: Summary) -> None:
        """Counts the faults in a game that was just stored."""
        if self._strikes:
            self._faults.update(at_fault(game))

    def take_out(self) -> list[str]:
        """Takes out the bots that have too many faults now, also where a run was killed before that was
        stored; a line for the user for each. Raises `StorageError`.
        """
        lines = []
        strikes = self._strikes
        for bot, faults in self._faults.items():
            if strikes and faults >= strikes.faults and bot not in self._run.state.amendments.out:
                reason = counted(faults, "fault")
                self._run.take_out(bot, strikes.games, reason)
                lines.append(f"bot `{bot}` is out of the tournament after {reason}: {THEN[strikes.games]}")
        return lines

    def may_take_out(self, bots: Collection[str], games: int) -> bool:
        """Returns whether one of these bots may be out before the last of this many games."""
        return self._strikes is not None and any(
            self._faults[bot] + games > self._strikes.faults
            for bot in bots
            if bot not in self._run.state.amendments.out
        )
