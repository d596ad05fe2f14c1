"""What is peculiar to a bot in its games: counts that differ from those of its opponents, or of its other
games, by more than chance explains. Pure.

Of games that repeat another one move by move only the first counts, and those of an encounter depend on each
other. Nothing here says why something happened, only that it happened more often.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import Any, NamedTuple

from referee.analysis.significance import (
    FEWEST_CASES,
    LIKELY,
    Cluster,
    Count,
    added,
    by_clusters,
    exceeds,
    fisher,
)
from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.core.text import counted, listed
from referee.core.units import about
from referee.gameplay.events import Ending
from referee.ratings.tally import result
from referee.records.record import Summary

EXAMPLES = 2  # so many games are named with what is found

JUMP = 3.0  # how many times as long moves take after a jump, in the median

_BEFORE = 0.9  # the quantile of the times before a jump which most of those after it exceed

_AFTER = 0.8  # what share of them does

_RULES = Ending.RULES.word

_ENDINGS = [ending.word for ending in Ending]

_BEFORE_MOVES = (Ending.START.word, Ending.VOID.word, Ending.OUT.word)
"""How a seat leaves that was asked for no move."""

LOST, WON = 0, 2  # results, as `result` gives them


class SeatPlay(NamedTuple):
    """What a seat did in a game. Moves of the opening are not its own."""

    times_us: tuple[int, ...]  # of each of its moves, also of the one for which its time was up
    left: str  # the word of the ending with which it left the game; empty where it stayed
    move: int  # the number of the move at which it left, from 1; 0 where it was asked for none


class DiagnosedGame(NamedTuple):
    """A game as it is looked at."""

    game: Summary
    moves: int  # of all seats, those of the opening included
    seats: tuple[SeatPlay, ...]


def diagnosed_game(game: Summary, value: Mapping[str, Any]) -> DiagnosedGame:
    """A game from the object on its line of the records. Raises `RecordError`."""
    times: list[list[int]] = [[] for _ in game.bots]
    left, moves = [("", 0)] * len(game.bots), 0
    fields = Fields(value, "", RecordError)
    events, timings = [*fields.objects("events")], [*fields.object("measured").objects("events")]
    if len(events) != len(timings):
        raise RecordError(f"there are {len(events)} `events`, but {len(timings)} `measured.events`")
    for event, timing in zip(events, timings, strict=True):
        is_asked = event.has("move") or event.has("default")
        moves += is_asked or event.has("opening")
        if not (is_asked or event.has("left")):
            continue
        seat = event.number("seat", 1, len(game.bots)) - 1
        word = event.one_of("left", _ENDINGS) if event.has("left") else ""
        if word:
            left[seat] = word, 0 if word in _BEFORE_MOVES else len(times[seat]) + 1
        if is_asked or word == Ending.TIME.word:
            times[seat].append(max(1, timing.number("used_us")))
    seats = (SeatPlay(tuple(of_seat), *how) for of_seat, how in zip(times, left, strict=True))
    return DiagnosedGame(game, moves, tuple(seats))


class Example(NamedTuple):
    """A game in which something that was found can be seen."""

    game: str  # its id
    step: int | None = None  # the position, as `replay --move` and `match --from` count it


class Finding(NamedTuple):
    """Something that happened more often than chance explains."""

    about: str  # a word for programs: `seat`, `fault`, `time` or `length`
    sentence: str  # for people, without a full stop
    chance: float  # how likely so large a difference is by chance: the larger one of two tests
    own: Count
    others: Count  # the same of its opponents, or of the rest of its own games, as the sentence says
    examples: Sequence[Example]

    @property
    def text(self) -> str:
        """The sentence with what supports it."""
        seen = " and ".join(f"{game}@{step}" if step else game for game, step in self.examples)
        return f"{self.sentence} ({chance_text(self.chance)}; see {seen})"

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


def chance_text(chance: float) -> str:
    """A probability for people."""
    return f"p = {chance:.1g}" if chance >= 0.0001 else "p < 0.0001"


class SeatResults(NamedTuple):
    """The results of a bot in one seat."""

    lost: int
    drawn: int
    won: int


@dataclass(frozen=True)
class Diagnosis:
    """What was counted of a bot in games of one kind, and what was found."""

    bot: str
    games: int
    repeats: int  # how many of them repeat another one
    results: Mapping[int, SeatResults]  # by seat, counted from 0
    losses: Mapping[str, int]  # by the ending with which it left, or `rules`
    moves: Mapping[str, Sequence[int]]  # by the ending with which it left, at which of its moves, ascending
    median_us: int | None  # of the times of its moves; None without moves
    looked_at: Sequence[str]  # what was compared; nothing where there are too few games
    findings: Sequence[Finding]

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
            return [f"Nothing found that differs from chance in {listed(self.looked_at)}."]
        return [f"{finding.text[0].upper()}{finding.text[1:]}." for finding in self.findings]

    def _counts(self) -> Iterator[str]:
        repeats = f", {self.repeats:,} of which repeat another one" if self.repeats else ""
        yield f"{self.bot}: {counted(self.games, 'game')}{repeats}"
        for seat, (lost, drawn, won) in sorted(self.results.items()):
            yield f"as seat {seat + 1}: won {won:,}, drew {drawn:,}, lost {lost:,}"
        if self.losses:
            endings = (
                f"{count:,} by {'the rules' if word == _RULES else f'`{word}`{self._at(word)}'}"
                for word, count in sorted(self.losses.items(), key=lambda item: -item[1])
            )
            yield f"lost: {'; '.join(endings)}"
        if self.median_us is not None:
            yield f"time of a move: {about(self.median_us)} in the median"

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
            "looked_at": list(self.looked_at),
            "findings": [finding.data for finding in self.findings],
        }


def moves_text(moves: Sequence[int]) -> str:
    """At which of its moves, in ascending order, something happened to a bot."""
    low, high = moves[len(moves) // 10], moves[-1 - len(moves) // 10]
    if high == 0:
        return "before its first move"
    if low == high:
        return f"at its move {low}"
    share = " in 80 % of the cases" if len(moves) >= FEWEST_CASES else ""
    return f"at its moves {low} to {high}{share}"


def diagnosis(bot: str, games: Iterable[DiagnosedGame], rest: Collection[Summary] = ()) -> Diagnosis:
    """The diagnosis of a bot from its games, all of one game with the same options; `rest` are the games of
    the run without it. Games that were not played, or count for nothing, are left out.
    """
    all_games = [each for each in games if each.game.is_evidence and bot in each.game.bots]
    seen = {(each.game.bots, each.game.digest or each.game.id): each for each in reversed(all_games)}
    different = [each for each in all_games if seen[each.game.bots, each.game.digest or each.game.id] is each]
    results: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    losses, moves, times = Counter[str](), defaultdict[str, list[int]](list), list[int]()
    for each in all_games:
        seat = each.game.bots.index(bot)
        play, outcome = each.seats[seat], result(seat, each.game.ranks)
        results[seat][outcome] += 1
        losses[play.left or _RULES] += outcome == 0
        times += play.times_us
        if play.left:
            moves[play.left].append(play.move)
    found: list[Finding] = []
    looked_at: list[str] = []
    if len(different) >= FEWEST_CASES:
        looked_at += [
            "its faults",
            "the times of its moves",
            "its results by seat",
            "the length of its losses",
        ]
        found += [*_faults(bot, different), *_jump(bot, different)]
        found += [*_seats(bot, different, rest), *_lengths(bot, different)]
    return Diagnosis(
        bot,
        len(all_games),
        len(all_games) - len(different),
        {seat: SeatResults(*counts) for seat, counts in results.items()},
        +losses,
        {word: sorted(numbers) for word, numbers in moves.items()},
        round(median(times)) if times else None,
        looked_at,
        found,
    )


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
    split = min(splits, key=lambda at: _deviation(own, at))
    before, after = _before(own, split), _after(own, split)
    limit = sorted(before)[int(_BEFORE * (len(before) - 1))]

    def exceeding(times: Collection[int]) -> Count:
        return Count(sum(us > limit for us in times), len(times))

    def members(each: DiagnosedGame) -> Mapping[Hashable, Count]:
        times = each.seats[each.game.bots.index(bot)].times_us
        return {"after": exceeding(times[split:]), "before": exceeding(times[:split])}

    if median(after) <= JUMP * median(before) or exceeding(after).share <= _AFTER:
        return
    counts = compared(games, members, "after")
    chance = len(splits) * by_clusters(counts.clusters)  # the split was chosen among these
    if chance >= LIKELY:
        return
    others = [
        play.times_us
        for each in games
        for name, play in zip(each.game.bots, each.seats, strict=True)
        if name != bot
    ]
    theirs = [about(round(median(part))) for part in (_before(others, split), _after(others, split)) if part]
    beside = f"; its opponents: before {theirs[0]}, then {theirs[1]}" if len(theirs) == 2 else ""
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


def _before(games: Iterable[Sequence[int]], split: int) -> list[int]:
    return [us for times in games for us in times[:split]]


def _after(games: Iterable[Sequence[int]], split: int) -> list[int]:
    return [us for times in games for us in times[split:]]


def _deviation(games: Sequence[Sequence[int]], split: int) -> float:
    """The sum of the absolute deviations of the logarithms of all times from the median of their part."""
    import numpy as np  # loading it takes longer than most commands

    parts = (np.log(part(games, split)) for part in (_before, _after))
    return sum(float(np.abs(logs - np.median(logs)).sum()) for logs in parts)


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
        chance = tests * max(fisher(own, others), by_clusters(clusters))
        if chance < LIKELY:
            where = f"as seat {2 - seat}" if len(seats) == 2 else "in its other seats"
            without = Count(sum(result(seat, game.ranks) == WON for game in rest), len(rest))
            beside = f"; without it, seat {seat + 1} won {without} games" if without.of else ""
            lost = [
                each.game.id
                for each in games
                if each.game.bots.index(bot) == seat and result(seat, each.game.ranks) == 0
            ]
            yield Finding(
                "seat",
                f"as seat {seat + 1} it won {own} games, {where} {others}{beside}",
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
                f"of the games that it lost by the rules, {counts.own} had {words} than {middle} moves, "
                f"of those that it won {counts.others}",
                chance,
                counts.own,
                counts.others,
                [Example(each.game.id) for each in lost[:EXAMPLES]],
            )
