"""What happens more often than chance explains: than to its opponents, or than in others of its games. Pure.

Games of an encounter depend on each other, so their cases stay together in the tests. Nothing here says why
something happened, only that it happened more often.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

from referee.analysis.kinds import Blunder, BlunderKind
from referee.analysis.played import DiagnosedGame
from referee.analysis.significance import (
    FEWEST_CASES,
    LIKELY,
    TWICE,
    Cluster,
    Count,
    added,
    by_clusters,
    exceeds,
    fisher,
)
from referee.core.pairing import Pairing
from referee.core.text import listed
from referee.core.units import about
from referee.gameplay.events import Ending
from referee.ratings.tally import result
from referee.records.record import Summary

EXAMPLES = 2  # so many games are named with what is found

MOST_KINDS = 3  # so many kinds of blunders are told: the least likely ones

JUMP = 3.0  # how many times as long moves take after a jump, in the median

_BEFORE = 0.9  # the quantile of the times before a jump which most of those after it exceed

_AFTER = 0.8  # what share of them does

_RULES = Ending.RULES.word

LOST, WON = 0, 2  # results, as `result` gives them


class Example(NamedTuple):
    """A game in which something that was found can be seen."""

    game: str  # its id
    step: int | None = None  # the position, as `replay --move` and `match --from` count it


class Finding(NamedTuple):
    """Something that happened more often than chance explains."""

    about: str  # a word for programs: `fault`, `time`, `seat`, `length`, `win` or `blunder`
    sentence: str  # for people, without a full stop
    chance: float  # how likely so large a difference is by chance: the larger one of two tests
    own: Count
    others: Count  # the same of its opponents, or of the rest of its own games, as the sentence says
    examples: Sequence[Example]

    @property
    def claim(self) -> str:
        """The sentence with how likely so much is by chance."""
        text = f"p = {self.chance:.1g}" if self.chance >= 0.0001 else "p < 0.0001"
        return f"{self.sentence[0].upper()}{self.sentence[1:]} ({text})"

    @property
    def text(self) -> str:
        """The claim with its examples."""
        seen = (game if step is None else f"{game}@{step}" for game, step in self.examples)
        return f"{self.claim}, as in {listed(seen)}."

    @property
    def data(self) -> dict[str, Any]:
        """The finding as JSON has it."""
        return {
            "about": self.about,
            "sentence": self.sentence,
            "p": self.chance,
            "own": self.own._asdict(),
            "others": self.others._asdict(),
            "examples": [example._asdict() for example in self.examples],
        }


def moves_text(moves: Sequence[int]) -> str:
    """At which of its moves, in ascending order, something happened to a bot."""
    low, high = moves[len(moves) // 10], moves[-1 - len(moves) // 10]
    share = "" if (low, high) == (moves[0], moves[-1]) else " in at least 80 % of the cases"
    if high == 0:
        return f"before its first move{share}"
    return f"at its move {low}{share}" if low == high else f"at its moves {low} to {high}{share}"


CountsOf = Callable[[DiagnosedGame], Mapping[Hashable, Count]]
"""The counts of a game by whom they belong to: those who could have changed places."""


class PlayersCompared(NamedTuple):
    """Counts of one player and of others, in all and by encounter."""

    own: Count
    others: Count
    clusters: Sequence[Cluster]


def compared(games: Iterable[DiagnosedGame], members: CountsOf, own: Hashable) -> PlayersCompared:
    """Compares one of the members with the others."""
    by_encounter: dict[Hashable, dict[Hashable, list[Count]]] = defaultdict(lambda: defaultdict(list))
    for each in games:
        for key, count in members(each).items():
            by_encounter[Pairing.parse(each.game.id).encounter][key].append(count)
    own_counts, other_counts, clusters = list[Count](), list[Count](), list[Cluster]()
    for by_member in by_encounter.values():
        others = [added(counts) for key, counts in by_member.items() if key != own]
        other_counts += others
        if own in by_member:
            own_counts.append(added(by_member[own]))
            clusters.append([own_counts[-1], *others])
    return PlayersCompared(added(own_counts), added(other_counts), clusters)


def findings(bot: str, games: Sequence[DiagnosedGame], rest: Collection[Summary]) -> Iterator[Finding]:
    """All that is found in a bot's games, none of which repeats another one; `rest` are games without it."""
    yield from _faults(bot, games)
    yield from _jump(bot, games)
    yield from _seats(bot, games, rest)
    yield from _lengths(bot, games)
    yield from _given_away(bot, games)
    yield from _blunders(bot, games)


def _faults(bot: str, games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """Faults that it commits more often than its opponents."""
    own = [(each.game.id, each.seats[each.game.bots.index(bot)]) for each in games]
    words = {play.left for _, play in own if play.left and Ending.of(play.left).is_fault}
    for word in sorted(words):

        def members(each: DiagnosedGame, word: str = word) -> Mapping[Hashable, Count]:
            plays = zip(each.game.bots, each.seats, strict=True)
            return {name: Count(play.left == word, 1) for name, play in plays}

        counts = compared(games, members, bot)
        chance = exceeds(*counts, tests=len(words))
        if chance is not None:
            at = moves_text(sorted(play.move for _, play in own if play.left == word))
            yield Finding(
                "fault",
                f"it committed the fault `{word}` in {counts.own} games, more often than its opponents "
                f"({counts.others}): {at}",
                chance,
                counts.own,
                counts.others,
                [Example(game) for game, play in own if play.left == word][:EXAMPLES],
            )


def _jump(bot: str, games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """The move from which on its moves take longer."""
    own = [each.seats[each.game.bots.index(bot)].times_us for each in games]
    splits = [
        split
        for split in range(1, max(map(len, own)))
        if sum(len(times) > split for times in own) >= FEWEST_CASES
    ]
    if not splits:
        return
    split = _best_split(own, splits)
    before, after = _parts(own, split)
    limit = sorted(before)[int(_BEFORE * (len(before) - 1))]

    def exceeding(times: Collection[int]) -> Count:
        return Count(sum(us > limit for us in times), len(times))

    def counts_of(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        times = each.seats[each.game.bots.index(bot)].times_us
        return {"after": exceeding(times[split:]), "before": exceeding(times[:split])}

    others = [
        play.times_us
        for each in games
        for name, play in zip(each.game.bots, each.seats, strict=True)
        if name != bot
    ]
    theirs = [median(part) for part in _parts(others, split) if part]
    longer = median(after) / median(before)
    if longer <= JUMP or exceeding(after).share <= _AFTER:
        return
    if len(theirs) == 2 and longer < TWICE * theirs[1] / theirs[0]:
        return  # later moves take everybody longer
    counts = compared(games, counts_of, "after")
    chance = len(splits) * by_clusters(counts.clusters).as_large  # the split was chosen among these
    if chance >= LIKELY:
        return
    beside = ""
    if len(theirs) == 2:
        beside = f"; its opponents: before {about(round(theirs[0]))}, then {about(round(theirs[1]))}"
    reaching = [each.game.id for each, times in zip(games, own, strict=True) if len(times) > split]
    yield Finding(
        "time",
        f"from its move {split + 1} on it took {about(round(median(after)))} for a move in the median, "
        f"before {about(round(median(before)))}{beside}",
        chance,
        counts.own,
        counts.others,
        [Example(game) for game in reaching[:EXAMPLES]],
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


def _seats(bot: str, games: Sequence[DiagnosedGame], rest: Collection[Summary]) -> Iterator[Finding]:
    """The seat in which it won less often than in others."""
    seats = range(max(len(each.game.bots) for each in games))
    for seat in seats:

        def members(each: DiagnosedGame) -> Mapping[Hashable, Count]:
            at = each.game.bots.index(bot)
            won = result(at, each.game.ranks) == WON
            return {one: Count(won, 1) if one == at else Count(0, 0) for one in seats}

        counts = compared(games, members, seat)
        own, others, clusters = counts
        if min(own.of, others.of) < FEWEST_CASES or own.share >= others.share:
            continue
        # Of two seats, one is worse where the other is better: that is one test.
        tests = len(seats) if len(seats) > 2 else 1
        chance = tests * max(fisher(own, others).two_sided, by_clusters(clusters).two_sided)
        if chance < LIKELY:
            where = f"as seat {2 - seat}" if len(seats) == 2 else "in its other seats"
            compared_with = rest or [each.game for each in games if each.game.bots.index(bot) != seat]
            wins = sum(result(seat, game.ranks) == WON for game in compared_with)
            whose = "in games without it, seat" if rest else "its opponents as seat"
            lost = [
                each.game.id
                for each in games
                if each.game.bots.index(bot) == seat and result(seat, each.game.ranks) == 0
            ]
            yield Finding(
                "seat",
                f"as seat {seat + 1} it won {own} games, {where} {others}; {whose} {seat + 1} won "
                f"{Count(wins, len(compared_with))}",
                chance,
                own,
                others,
                [Example(game) for game in lost[:EXAMPLES]],
            )


def _lengths(bot: str, games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """Whether the games that it lost by the rules are shorter, or longer, than those that it won by them."""
    ended = [each for each in games if each.game.ending == _RULES]
    outcomes = {each.game.id: result(each.game.bots.index(bot), each.game.ranks) for each in ended}
    if not ended:
        return
    did_not_win = "lost" if len(ended[0].game.bots) == 2 else "did not win"
    middle = round(median(each.moves for each in ended))
    for words, sign in (("fewer", -1), ("more", 1)):

        def members(each: DiagnosedGame, sign: int = sign) -> Mapping[Hashable, Count]:
            beyond = Count(sign * (each.moves - middle) > 0, 1)
            outcome = outcomes[each.game.id]
            return {one: beyond if one == outcome else Count(0, 0) for one in (LOST, WON)}

        counts = compared(ended, members, LOST)
        chance = exceeds(*counts, tests=2)
        if chance is not None:
            lost = [each for each in ended if outcomes[each.game.id] == LOST]
            lost.sort(key=lambda each: -sign * each.moves)
            yield Finding(
                "length",
                f"of the games that it {did_not_win} by the rules, {counts.own} had {words} than {middle} "
                f"moves, of those that it won by them {counts.others}",
                chance,
                counts.own,
                counts.others,
                [Example(each.game.id) for each in lost[:EXAMPLES]],
            )


def _given_away(bot: str, games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """Proved wins that it gave away more often than others, in all seats or in one: the least likely."""
    found = []
    seats = sorted({each.game.bots.index(bot) for each in games})
    for seat in (None, *seats):

        def counts_of(each: DiagnosedGame, is_by_seat: bool = seat is not None) -> Mapping[Hashable, Count]:
            plays = enumerate(zip(each.game.bots, each.seats, strict=True))
            return {(name, at * is_by_seat): play.judged.wins for at, (name, play) in plays if play.judged}

        counts = compared(games, counts_of, (bot, seat or 0))
        chance = exceeds(*counts)
        if chance is not None:
            where = "" if seat is None else f"as seat {seat + 1} "
            others = "its opponents" if seat is None else "its opponents and itself in other seats together"
            own = (each for each in games if seat in (None, each.game.bots.index(bot)))
            found.append(
                Finding(
                    "win",
                    f"{where}it gave away {counts.own} proved wins, {others} {counts.others}",
                    chance,
                    counts.own,
                    counts.others,
                    _examples(bot, own, lambda blunder: blunder.was_won),
                )
            )
    yield from sorted(found, key=lambda one: one.chance)[:1]


def _blunders(bot: str, games: Sequence[DiagnosedGame]) -> Iterator[Finding]:
    """Kinds of blunders that it commits more often than its opponents, those that are proved and those that
    are estimated each by themselves.
    """
    for is_proved in (True, False):
        cases: dict[BlunderKind, list[tuple[str, int]]] = defaultdict(list)
        for each in games:
            for play in each.seats:
                for blunder in play.judged.blunders if play.judged else ():
                    for kind in blunder.kinds if blunder.is_proved == is_proved else ():
                        cases[kind].append((each.game.id, blunder.step))
        # Kinds with the same cases are one: what was missed stands for what was done in its place.
        kinds = {
            tuple(cases[kind]): kind
            for kind in sorted(cases, key=lambda kind: (kind.is_missed, -len(kind.news), kind.news))
            if len(cases[kind]) >= FEWEST_CASES
        }
        found = [_of_kind(bot, games, kind, is_proved, len(kinds)) for kind in kinds.values()]
        yield from sorted(filter(None, found), key=lambda one: one.chance)[:MOST_KINDS]


def _of_kind(
    bot: str, games: Sequence[DiagnosedGame], kind: BlunderKind, is_proved: bool, kinds: int
) -> Finding | None:
    """Whether it commits blunders of a kind, one of so many, more often than its opponents."""

    def is_case(blunder: Blunder) -> bool:
        return blunder.is_proved == is_proved and kind in blunder.kinds

    def counts_of(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        return {
            name: Count(
                sum(map(is_case, play.judged.blunders)),
                play.judged.proved if is_proved else play.judged.estimated,
            )
            for name, play in zip(each.game.bots, each.seats, strict=True)
            if play.judged
        }

    counts = compared(games, counts_of, bot)
    chance = exceeds(*counts, tests=kinds)
    if chance is None:
        return None
    sentence = _blunder_text(kind, is_proved, counts)
    return Finding("blunder", sentence, chance, counts.own, counts.others, _examples(bot, games, is_case))


def _blunder_text(kind: BlunderKind, is_proved: bool, counts: PlayersCompared) -> str:
    other = "a move that keeps it" if is_proved else "the adviser's move"
    what = (
        "gave away a proved result"
        if is_proved
        else "lost 20 points of its chance or more, as the adviser estimates,"
    )
    news = f"{other} would have brought the news {kind.news}, and its own did not"
    if not kind.is_missed:
        news = f"its own move brought the news {kind.news}, and {other} would not have"
    return (
        f"of {counts.own.of:,} moves that can be judged, it {what} in {counts.own.cases:,} where {news}; "
        f"its opponents in {counts.others.cases:,} of {counts.others.of:,}"
    )


def _examples(bot: str, games: Iterable[DiagnosedGame], is_case: Callable[[Blunder], bool]) -> list[Example]:
    """The first such blunder of a bot in each of some games."""
    found = []
    for each in games:
        judged = each.seats[each.game.bots.index(bot)].judged
        cases = [blunder for blunder in (judged.blunders if judged else ()) if is_case(blunder)]
        found += [Example(each.game.id, blunder.step) for blunder in cases[:1]]
    return found[:EXAMPLES]
