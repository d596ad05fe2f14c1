"""What happens more often than chance explains: than to its opponents, or than in others of its games. Pure.

Games of an encounter depend on each other, so their cases stay together in the tests. Nothing here says why
something happened, only that it happened more often.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from statistics import median
from typing import Any, NamedTuple

from referee.analysis.kinds import Blunder, BlunderKind
from referee.analysis.played import DiagnosedGame, SeatPlay
from referee.analysis.significance import FEWEST_CASES, TWICE, Cluster, Count, added, exceeds
from referee.core.pairing import Pairing
from referee.core.text import listed
from referee.core.units import about
from referee.gameplay.events import Ending
from referee.games.api import Seat
from referee.records.record import Summary

EXAMPLES = 2  # so many games are named with what is found

MOST_KINDS = 5  # so many kinds of blunders are told: the least likely ones

JUMP = 3.0  # how many times as long moves take after a jump, in the median

_BEFORE = 0.9  # the quantile of the times before a jump which most of those after it exceed

_AFTER = 0.8  # what share of them does


class Example(NamedTuple):
    """A game in which something that was found can be seen."""

    game: str  # its id
    step: int | None = None  # the position, as `replay --move` and `match --from` count it


class Finding(NamedTuple):
    """Something that happened more often than chance explains."""

    about: str  # a word for programs: `fault`, `time`, `seat`, `win` or `blunder`
    sentence: str  # for people, without a full stop
    chance: float  # how likely so large a difference is by chance: the larger one of two tests
    own: Count
    others: Count  # the same of its opponents, or of the rest of its own games, as the sentence says
    examples: Sequence[Example]

    @property
    def claim(self) -> str:
        """The sentence with how likely so much is by chance."""
        text = f"p = {self.chance:.2g}" if self.chance >= 0.0001 else "p < 0.0001"
        return f"{self.sentence[0].upper()}{self.sentence[1:]} ({text})"

    @property
    def text(self) -> str:
        """The claim with its examples."""
        seen = (game if step is None else f"{game}@{step}" for game, step in self.examples)
        return f"{self.claim}, as in {listed(seen)}."

    @property
    def data(self) -> dict[str, Any]:
        """The finding as JSON has it."""
        parts = {"own": self.own._asdict(), "others": self.others._asdict()}
        examples = [example._asdict() for example in self.examples]
        return {
            "about": self.about,
            "sentence": self.sentence,
            "p": self.chance,
            **parts,
            "examples": examples,
        }


def moves_text(moves: Sequence[int]) -> str:
    """At which of its moves, in ascending order, something happened to a bot."""
    low, high = moves[len(moves) // 10], moves[-1 - len(moves) // 10]
    share = "" if (low, high) == (moves[0], moves[-1]) else " in at least 80 % of the cases"
    if high == 0:
        return f"before its first move{share}"
    return f"at its move {low}{share}" if low == high else f"at its moves {low} to {high}{share}"


def findings(games: Sequence[DiagnosedGame], rest: Collection[Summary]) -> Iterator[Finding]:
    """All that is found in a bot's games, none of which repeats another one; `rest` are games without it."""
    faults = {each.own.left for each in games if each.own.left and Ending.of(each.own.left).is_fault}
    for word in sorted(faults):
        yield from _fault(games, word, len(faults))
    yield from _jump(games)
    for seat in range(max(len(each.plays) for each in games)):
        yield from _seat(games, seat, rest)
    where = [None, *sorted({each.seat for each in games})]
    wins = [one for seat in where for one in _given_away(games, seat, len(where))]
    yield from sorted(wins, key=lambda one: one.chance)[:1]
    yield from _blunders(games)


CountsOf = Callable[[DiagnosedGame], Mapping[Hashable, Count]]
"""The counts of a game by whom they belong to: those who could have changed places."""

_OWN: Hashable = ("own",)  # equals no name of a bot and no seat, of which 1 is also True


def _by_player(count: Callable[[SeatPlay], Count | None]) -> CountsOf:
    """Counts of the bot and of each of its opponents."""

    def counts_of(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        counts = enumerate(map(count, each.plays))
        names = each.game.bots
        return {_OWN if seat == each.seat else names[seat]: one for seat, one in counts if one}

    return counts_of


def _more_often(
    games: Iterable[DiagnosedGame],
    word: str,
    counts_of: CountsOf,
    sentence: Callable[[Count, Count], str],
    examples: Iterable[Example],
    tests: int = 1,
    ratio: float = TWICE,
) -> Iterator[Finding]:
    """The finding if there are more cases of `_OWN` than of the others together, beyond chance."""
    by_encounter: dict[Hashable, dict[Hashable, list[Count]]] = defaultdict(lambda: defaultdict(list))
    for each in games:
        for key, count in counts_of(each).items():
            by_encounter[Pairing.parse(each.game.id).encounter][key].append(count)
    owns, others, clusters = list[Count](), list[Count](), list[Cluster]()
    for by_key in by_encounter.values():
        of_others = [added(counts) for key, counts in by_key.items() if key != _OWN]
        others += of_others
        if _OWN in by_key:
            owns.append(added(by_key[_OWN]))
            clusters.append([owns[-1], *of_others])
    own, other = added(owns), added(others)
    chance = exceeds(own, other, clusters, tests, ratio)
    if chance is not None:
        yield Finding(word, sentence(own, other), chance, own, other, [*examples][:EXAMPLES])


def _fault(games: Sequence[DiagnosedGame], word: str, faults: int) -> Iterator[Finding]:
    """A fault, one of so many, that it commits more often than its opponents."""
    cases = [each for each in games if each.own.left == word]
    at = moves_text(sorted(each.own.move for each in cases))
    yield from _more_often(
        games,
        "fault",
        _by_player(lambda play: Count(play.left == word, 1)),
        lambda own, others: (
            f"it committed the fault `{word}` in {own} games, more often than its opponents ({others}): {at}"
        ),
        (Example(each.game.id) for each in cases),
        tests=faults,
    )


def _jump(games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """The move from which on its moves take longer, while those of its opponents do not."""
    own = [each.own.times_us for each in games]
    longest = max(map(len, own))
    splits = [n for n in range(1, longest) if sum(len(times) > n for times in own) >= FEWEST_CASES]
    if not splits:
        return
    split = _best_split(own, splits)
    before, after = _parts(own, split)
    others = [play.times_us for each in games for seat, play in enumerate(each.plays) if seat != each.seat]
    theirs = [median(part) for part in _parts(others, split) if part]
    limit = sorted(before)[int(_BEFORE * (len(before) - 1))]
    longer = median(after) / median(before)
    if longer <= JUMP or sum(us > limit for us in after) <= _AFTER * len(after):
        return
    beside = ""
    if len(theirs) == 2:
        if longer < TWICE * theirs[1] / theirs[0]:
            return  # later moves take everybody longer
        beside = f"; its opponents: before {about(round(theirs[0]))}, then {about(round(theirs[1]))}"

    def counts_of(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        exceeding = [us > limit for us in each.own.times_us]
        return {
            _OWN: Count(sum(exceeding[split:]), len(exceeding[split:])),
            "before": Count(sum(exceeding[:split]), len(exceeding[:split])),
        }

    yield from _more_often(
        games,
        "time",
        counts_of,
        lambda own, others: (
            f"from its move {split + 1} on it took {about(round(median(after)))} for a move in the median, "
            f"before {about(round(median(before)))}{beside}"
        ),
        (Example(each.game.id) for each in games if len(each.own.times_us) > split),
        tests=len(splits),  # the split was chosen among these
    )


def _parts(games: Sequence[Sequence[int]], split: int) -> tuple[list[int], list[int]]:
    """The times of the first moves of all games, and those of all others."""
    before = [us for times in games for us in times[:split]]
    return before, [us for times in games for us in times[split:]]


def _best_split(games: Sequence[Sequence[int]], splits: Sequence[int]) -> int:
    """After how many moves the logarithms of all times fall into two parts with the least sum of absolute
    deviations from their medians.
    """
    import numpy as np  # loading it takes longer than most commands

    numbers = np.concatenate([np.arange(len(times)) for times in games])
    logs = np.log(np.concatenate(games))[np.argsort(numbers, kind="stable")]

    def deviation(split: int) -> float:
        at = np.count_nonzero(numbers < split)
        return sum(float(np.abs(part - np.median(part)).sum()) for part in (logs[:at], logs[at:]))

    return min(splits, key=deviation)


def _seat(games: Sequence[DiagnosedGame], seat: Seat, rest: Collection[Summary]) -> Iterator[Finding]:
    """Whether it wins less often in a seat than in its others."""
    seats = len(games[0].plays)

    def counts_of(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        return {_OWN if each.seat == seat else each.seat: Count(not _won(each.game, each.seat), 1)}

    def sentence(own: Count, others: Count) -> str:
        where = f"as seat {2 - seat}" if seats == 2 else "in its other seats"
        text = f"as seat {seat + 1} it won {_others_of(own)} games, {where} {_others_of(others)}"
        if rest:
            wins = Count(sum(_won(game, seat) for game in rest), len(rest))
            text += f"; in games without it, seat {seat + 1} won {wins}"
        return text

    not_won = (each for each in games if each.seat == seat and not _won(each.game, seat))
    examples = (Example(each.game.id) for each in not_won)
    yield from _more_often(games, "seat", counts_of, sentence, examples, tests=seats, ratio=1)


def _won(game: Summary, seat: Seat) -> bool:
    return game.ranks[seat] == 1 and game.ranks.count(1) == 1


def _others_of(count: Count) -> Count:
    return Count(count.of - count.cases, count.of)


def _given_away(games: Sequence[DiagnosedGame], seat: Seat | None, tests: int) -> Iterator[Finding]:
    """Whether it gives away proved wins more often than others, in all seats or in one: one of so many."""

    def counts_of(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        counts = dict[Hashable, Count]()
        for at, (name, play) in enumerate(zip(each.game.bots, each.plays, strict=True)):
            if play.judged:
                is_own = at == each.seat and seat in (None, at)
                counts[_OWN if is_own else (name, seat is not None and at)] = play.judged.wins
        return counts

    where = "" if seat is None else f"as seat {seat + 1} "
    whose = "its opponents" if seat is None else "its opponents and itself in other seats together"
    own = (each for each in games if seat in (None, each.seat))
    yield from _more_often(
        games,
        "win",
        counts_of,
        lambda own, others: f"{where}it gave away {own} proved wins, {whose} {others}",
        _examples(own, lambda blunder: blunder.was_won),
        tests,
    )


def _blunders(games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """The least likely kinds of blunders that it commits more often than its opponents."""
    cases: dict[BlunderKind, list[int]] = defaultdict(list)
    blunders = (one for each in games for play in each.plays if play.judged for one in play.judged.blunders)
    for number, blunder in enumerate(blunders):
        for kind in blunder.kinds:
            cases[kind].append(number)
    # Kinds with the same cases are one: what was missed stands for what was done in its place.
    kinds = {
        tuple(cases[kind]): kind
        for kind in sorted(cases, key=lambda kind: (kind.is_missed, -len(kind.news), kind.news))
        if len(cases[kind]) >= FEWEST_CASES
    }
    found = [one for kind in kinds.values() for one in _of_kind(games, kind, len(kinds))]
    yield from sorted(found, key=lambda one: one.chance)[:MOST_KINDS]


def _of_kind(games: Sequence[DiagnosedGame], kind: BlunderKind, kinds: int) -> Iterator[Finding]:
    """Whether it commits blunders of a kind, one of so many, more often than its opponents."""

    def is_case(blunder: Blunder) -> bool:
        return kind in blunder.kinds

    where = f"its move brought the news {kind.news}, and the one that the analysis names would not have"
    if kind.is_missed:
        where = (
            f"the move that the analysis names would have brought the news {kind.news}, and its own did not"
        )
    yield from _more_often(
        games,
        "blunder",
        _by_player(
            lambda play: play.judged and Count(sum(map(is_case, play.judged.blunders)), play.judged.judged)
        ),
        lambda own, others: (
            f"of {own.of:,} moves that can be judged, it gave something away, as is proved or estimated, in "
            f"{own.cases:,} where {where}; its opponents in {others.cases:,} of {others.of:,}"
        ),
        _examples(games, is_case),
        tests=kinds,
    )


def _examples(games: Iterable[DiagnosedGame], is_case: Callable[[Blunder], bool]) -> Iterator[Example]:
    """The first such blunder of the bot in each of some games."""
    for each in games:
        cases = filter(is_case, each.own.judged.blunders if each.own.judged else ())
        yield from (Example(each.game.id, blunder.step) for blunder in islice(cases, 1))
