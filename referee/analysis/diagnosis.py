"""The diagnosis of a bot: what was counted in its games, and what is peculiar to it. Pure.

Of games that repeat another one move by move, only the first is compared.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

from referee.analysis.findings import Finding, findings, moves_text
from referee.analysis.played import DiagnosedGame
from referee.analysis.significance import FEWEST_CASES, Count, added
from referee.core.text import counted, listed
from referee.core.units import about
from referee.gameplay.events import Ending
from referee.ratings.tally import result
from referee.records.record import Summary

_RULES = Ending.RULES.word

_LOOKED_AT = ("its faults", "the times of its moves", "its wins by seat")


class SeatResults(NamedTuple):
    """The results of a bot in one seat."""

    lost: int
    drawn: int
    won: int


@dataclass(frozen=True)
class Diagnosis:
    """What was counted of a bot in games of one kind, and what was found."""

    bot: str
    seats: int  # how many a game has
    games: int
    repeats: int  # how many of them repeat another one
    results: Mapping[int, SeatResults]  # by seat, counted from 0
    losses: Mapping[str, int]  # by the ending with which it left, or `rules`
    moves: Mapping[str, Sequence[int]]  # by the ending with which it left, at which of its moves, ascending
    median_us: int | None  # of the times of its moves; None without moves
    analysed: int  # how many games have an analysis
    wins: Mapping[int, Count]  # by seat, the proved wins that it had, and gave away
    looked_at: Sequence[str]  # what was compared; nothing where there are too few games
    findings: Sequence[Finding]
    given_away: Sequence[Mapping[str, Any]]
    """The positions in which it gave something away, as tables of a suite."""

    @property
    def text(self) -> str:
        """The lines for people."""
        return "\n".join([*self._counts(), "", *self.found])

    def __str__(self) -> str:
        return self.text

    @cached_property
    def found(self) -> list[str]:
        """What was found, line by line."""
        if not self.looked_at:
            return [f"Fewer than {FEWEST_CASES} different games: too few to tell anything from chance."]
        if not self.findings:
            return [f"Nothing found that chance does not explain in {listed(self.looked_at)}."]
        return [finding.text for finding in self.findings]

    def _counts(self) -> Iterator[str]:
        repeats = f", {self.repeats:,} of which repeat another one" if self.repeats else ""
        yield f"{self.bot}: {counted(self.games, 'game')}{repeats}"
        for seat, (lost, drawn, won) in sorted(self.results.items()):
            counts = f"won {won:,}, drew {drawn:,}, lost {lost:,}"
            if self.seats > 2:
                counts = f"first in {won:,}, tied for first in {drawn:,}, not first in {lost:,}"
            yield f"as seat {seat + 1}: {counts}"
        if self.losses:
            endings = (
                f"{count:,} by {'the rules' if word == _RULES else f'`{word}`{self._at(word)}'}"
                for word, count in sorted(self.losses.items(), key=lambda item: -item[1])
            )
            yield f"{'not first' if self.seats > 2 else 'lost'}: {'; '.join(endings)}"
        if self.median_us is not None:
            yield f"time of a move: {about(self.median_us)} in the median"

        if self.analysed:
            part = "" if self.analysed == self.games else f" (in {self.analysed:,} games with an analysis)"
            wins = [f"{count} as seat {seat + 1}" for seat, count in sorted(self.wins.items()) if count.of]
            if wins:
                yield f"proved wins given away: {', '.join(wins)}{part}"
            if self.given_away:
                yield (
                    "different positions in which it gave something away, as is proved or estimated: "
                    f"{len(self.given_away):,}"
                )
            if not wins and not self.given_away:
                yield f"no proved win of it is known, and nothing that it gave away{part}"
        else:
            yield (
                "no analysis: `referee analyse` may add proved wins given away and kinds of blunders; it "
                "mostly takes less than a second of processor time for a game"
            )

    def _at(self, word: str) -> str:
        return f" {moves_text(self.moves[word])}" if self.moves.get(word) else ""

    @property
    def data(self) -> dict[str, Any]:
        """The diagnosis as JSON has it."""
        return {
            "bot": self.bot,
            "games": self.games,
            "repeats": self.repeats,
            "seats": [
                {"seat": seat + 1, **results._asdict()} for seat, results in sorted(self.results.items())
            ],
            "losses": dict(self.losses),
            "left_at_moves": {word: list(moves) for word, moves in self.moves.items()},
            "median_us": self.median_us,
            "analysed": self.analysed,
            "proved_wins": [
                {"seat": seat + 1, "held": count.of, "given_away": count.cases}
                for seat, count in sorted(self.wins.items())
            ],
            "looked_at": list(self.looked_at),
            "findings": [finding.data for finding in self.findings],
        }


def diagnosis(
    bot: str,
    games: Iterable[DiagnosedGame],
    rest: Collection[Summary] = (),
    given_away: Sequence[Mapping[str, Any]] = (),
) -> Diagnosis:
    """The diagnosis of a bot from its games, all of one game with the same options; `rest` are the games of
    the run without it. Games that were not played, or count for nothing, are left out.
    """
    counted_games = [each for each in games if each.game.is_evidence]
    different: dict[tuple[tuple[str, ...], str], DiagnosedGame] = {}
    for each in counted_games:
        different.setdefault((each.game.bots, each.game.digest or each.game.id), each)
    firsts = [*different.values()]
    results: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    wins: dict[int, list[Count]] = defaultdict(list)
    losses, moves, times = Counter[str](), defaultdict[str, list[int]](list), list[int]()
    for each in counted_games:
        play, outcome = each.own, result(each.seat, each.game.ranks)
        results[each.seat][outcome] += 1
        losses[play.left or _RULES] += outcome == 0
        times += play.times_us
        if play.left:
            moves[play.left].append(play.move)
        if play.judged:
            wins[each.seat].append(play.judged.wins)
    looked_at = [*_LOOKED_AT]
    of_all = [play.judged for each in firsts for play in each.plays if play.judged]
    if any(one.wins.of for one in of_all):
        looked_at.append("the proved wins that it gave away")
    if any(one.judged for one in of_all):
        looked_at.append("its blunders")
    is_enough = len(firsts) >= FEWEST_CASES
    return Diagnosis(
        bot,
        max((len(each.plays) for each in counted_games), default=2),
        len(counted_games),
        len(counted_games) - len(firsts),
        {seat: SeatResults(*counts) for seat, counts in results.items()},
        +losses,
        {word: sorted(numbers) for word, numbers in moves.items()},
        round(median(times)) if times else None,
        sum(map(len, wins.values())),
        {seat: added(counts) for seat, counts in wins.items()},
        looked_at if is_enough else (),
        [*findings(firsts, rest)] if is_enough else (),
        given_away,
    )
