"""The first screen: who won and how sure that is, and the games to see, each by a stated rule, of the whole
and of each pair of bots. Pure.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from referee.core.pairing import Pairing, section_of
from referee.core.settings import STANDARD_POINTS
from referee.core.text import counted, listed, true_minus
from referee.gameplay.events import Ending
from referee.ratings.columns import NONE, estimate_text, number_text, rating_text
from referee.ratings.format_tables import DECIDED_BY_SEED, LAST_SERIES
from referee.ratings.sprt import SprtResult, llr
from referee.ratings.standings import NextInRank, Standings, StandingsRow
from referee.records.record import Summary
from referee.viewing.claims import WrongClaim

LIKELIHOODS = ((0.975, "almost certainly"), (0.9, "very likely"), (0.75, "probably"))
"""How likely it must be at least that the first bot is stronger than the second, and the words for it."""

MOST = 0.99  # sentences do not say how much more likely something is

PLACES = 3  # so many bots stand on the podium

EVEN = 0.5
"""A winner that gave itself less has turned the game, and a bot that is stronger with less is not ahead."""


@dataclass(frozen=True, eq=False)
class ListedGame:
    """A game in the list of games."""

    game: Summary
    moves: int
    lowest: tuple[float | None, ...] = ()
    """By seat, the least chance to win that the bot gave itself; None where it said none."""
    last_words: str = ""  # the last line that a bot at fault wrote to stderr
    deciding: int | None = None
    """The step of the replay with the move after which the winner stayed ahead; None where nobody knows."""
    opening: tuple[str, ...] = ()  # the first moves
    claims: tuple[tuple[WrongClaim, int], ...] = ()
    """The first of what each seat said that was wrong, of each kind, with how often it did."""

    @cached_property
    def winner(self) -> int | None:
        """The seat that won alone, against others; else None."""
        ranks = self.game.ranks
        return ranks.index(1) if len(ranks) > 1 and ranks.count(1) == 1 else None

    @cached_property
    def is_clean(self) -> bool:
        """Whether no bot committed a fault."""
        return not any(self.game.faults)


class Headline(NamedTuple):
    """The answer of a tournament."""

    kicker: str  # what it answers
    answer: str  # in large type
    tone: str  # `good`, `bad` or empty: the colour of the answer
    sentence: str


class Place(NamedTuple):
    """A bot on the podium."""

    number: int
    bot: str
    points: str
    game: ListedGame | None  # its best win; None where it has none
    against: str  # whom it beat there


class GameToSee(NamedTuple):
    """A game that is worth looking at."""

    name: str
    number: str  # the figure by which it was chosen
    sentence: str
    game: Summary
    deciding: int | None = None
    """The step with its deciding move, whose position is shown beside the sentence; None where nobody knows,
    or where the sentence says how the game ended, which its last position shows.
    """


class Front(NamedTuple):
    """The first screen."""

    headline: Headline | None  # none where nothing was rated
    podium: Sequence[Place]
    to_see: Sequence[GameToSee]
    evidence: Sequence[float]  # of the only sequential test, the LLR after each pair
    test: SprtResult | None  # the only sequential test


def front(table: Standings, games: Sequence[ListedGame], tests: Sequence[SprtResult], is_over: bool) -> Front:
    """The first screen of a tournament with these standings; `is_over` says that nothing more is played."""
    test = tests[0] if len(tests) == 1 else None
    elo = {bot: rating.elo for bot, rating in table.pool.ratings.items()}
    headline = _of_test(test, table) if test else _of_standings(table, is_over)
    if headline and len(tests) > 1:
        headline = headline._replace(sentence=f"{headline.sentence} {_of_tests(tests)}")
    return Front(
        headline,
        [] if test else podium(table, games, elo),
        games_to_see(games, elo),
        evidence(test, [each.game for each in games]) if test else [],
        test,
    )


def _of_standings(table: Standings, is_over: bool) -> Headline | None:
    """The bot in the first place: in a format with an order of its own by that, else by rating."""
    playing = [row for row in table.rows if row.rank is not None and row.tally.games]
    best = [row for row in playing if row.rank == 1]
    if not best:
        return None
    groups = [group for group in table.pool.groups if any(row.bot in group for row in playing)]
    if len(groups) > 1 and not table.own_order:
        leaders = [next(row.bot for row in playing if row.bot in group) for group in groups]
        text = "No games connect these bots, or those that they met, so their ratings cannot be compared."
        return Headline("The best of each group that met", _listed(leaders), "", text)
    if len(best) > 1:
        text = f"Only their names tell these {len(best)} bots apart."
        return Headline("Level in the first place", _listed([row.bot for row in best]), "", text)
    kicker = "Winner" if is_over else "In the lead"
    return Headline(kicker, best[0].bot, "", _won(best[0], table))


def _listed(bots: Sequence[str]) -> str:
    """Names for a headline, as many as it has room for."""
    return listed(bots) if len(bots) <= PLACES else f"{bots[0]}, {bots[1]} and {len(bots) - 2} others"


def _won(first: StandingsRow, table: Standings) -> str:
    wins, games = first.tally.counts[2], counted(first.tally.games, "game")
    text = f"{counted(wins, 'win')} in {games}"
    score, by_seed, _ = str(first.columns.get(LAST_SERIES, "")).partition(DECIDED_BY_SEED)
    if by_seed:
        return f"{text}. The last series ended {score}, and the higher seed won it."
    if score:
        text += f", the last series {score}"
    if len(table.rows) < 2:
        return f"{text}."
    second = table.rows[1]
    ahead = _ahead(first, second) if table.own_order else ""
    return f"{text}. {ahead}{lead_text(second.bot, first.next, not table.own_order)}".rstrip()


def _ahead(first: StandingsRow, second: StandingsRow) -> str:
    """By which of its columns a format with an order of its own has the first bot before the second, where
    that is a larger number; else nothing.
    """
    for number, (heading, value) in enumerate(first.columns.items()):
        other = second.columns.get(heading)
        if value != other:
            if isinstance(value, str) or isinstance(other, str) or other is None or value < other:
                return ""
            numbers = f"{number_text(value)} to {number_text(other)}"
            if number:
                level = next(iter(first.columns))
                return f"Level on {level} with {second.bot}, it is ahead by {heading}, {numbers}. "
            return f"It is ahead of {second.bot} by {heading}, {numbers}. "
    return ""


def lead_text(second: str, compared: NextInRank | None, is_by_rating: bool) -> str:
    """How sure it is that the bot in the first place is stronger than the second; `is_by_rating` says that
    the ratings put it there. Empty where nobody knows.
    """
    if compared is None or compared.superiority is None:
        return ""
    superiority = compared.superiority
    if is_by_rating:
        is_ahead = round(compared.difference.elo) > 0
        lead = f"a lead of {rating_text(compared.difference)} Elo" if is_ahead else "the same rating"
        return f"It is {likely(superiority)} stronger than {second} ({in_percent(superiority)}), with {lead}."
    if superiority < EVEN:
        likelihood = f"{likely(1 - superiority)} stronger ({in_percent(1 - superiority)})"
        return f"By the ratings, {second} is {likelihood}."
    likelihood = f"{likely(superiority)} stronger than {second} ({in_percent(superiority)})"
    return f"By the ratings, it is {likelihood}."


def likely(superiority: float) -> str:
    """How likely it is that a bot is stronger than the next one, in words."""
    words = (words for least, words in LIKELIHOODS if superiority >= least)
    return next(words, "perhaps")


def in_percent(likelihood: float) -> str:
    """A likelihood from one half on for a sentence, which needs no more than whole percent."""
    return f"{100 * likelihood:.0f} %" if likelihood < MOST else f"more than {100 * MOST:.0f} %"


def _of_test(test: SprtResult, table: Standings) -> Headline:
    """The answer of a sequential test, which asks for a gain, or where `elo0` is below 0, for no loss."""
    asked = "stronger" if test.elo0 >= 0 else "no weaker"
    answers = {
        "H1": (f"Yes, {test.bot} is {asked}", "good"),
        "H0": (f"No, {test.bot} is not stronger" if test.elo0 >= 0 else f"No, {test.bot} is weaker", "bad"),
        "": ("Not decided yet", ""),
    }
    answer, tone = answers[test.accepted]
    low, high = test.bounds
    pairs = sum(test.counts)
    points = sum(half * count for half, count in enumerate(test.counts)) / 2
    text = (
        f"{test.bot} scored {number_text(points)} of {2 * pairs:,} points against {test.against}. "
        f"The evidence for {elo_text(test.elo1)} against {elo_text(test.elo0)} Elo is "
        f"{true_minus(f'{test.llr:+.2f}')} after {counted(pairs, 'pair')}; the test ends at "
        f"{true_minus(f'{low:.2f}')} or {high:+.2f}."
    )
    first = table.rows[0] if table.rows else None
    if (corrected := estimate_text(test)) != NONE:
        text += f" Corrected for when the test ended, the difference is {corrected} Elo."
    elif first and first.next and len(table.rows) == 2:
        text += f" In the ratings, {first.bot} is ahead by {rating_text(first.next.difference)} Elo."
    return Headline(f"Is {test.bot} {asked} than {test.against}?", answer, tone, text)


def _of_tests(tests: Sequence[SprtResult]) -> str:
    """What several sequential tests decided."""
    results = Counter(test.accepted for test in tests)
    words = (("H1", "accepted H1"), ("H0", "accepted H0"), ("", "not decided yet"))
    parts = listed(f"{results[accepted]:,} {word}" for accepted, word in words if results[accepted])
    return f"Sequential tests: {parts}."


def elo_text(elo: float) -> str:
    """A difference that a test compares, with its sign, for people."""
    return true_minus(f"{elo:+g}") if elo else "0"


def evidence(test: SprtResult, games: Iterable[Summary]) -> list[float]:
    """The LLR of a test after each pair of games, in the order of their rounds."""
    pairs: dict[tuple[int, int], list[float]] = defaultdict(list)
    for game in games:
        pairing = Pairing.parse(game.id)
        if pairing.section == test.section and {*game.bots} == {test.bot, test.against}:
            own, other = (game.ranks[game.bots.index(bot)] for bot in (test.bot, test.against))
            pairs[pairing.number, pairing.part].append(1 if own < other else 0.5 if own == other else 0)
    counts = [0] * len(test.counts)
    found = []
    whole = [points for _, points in sorted(pairs.items()) if len(points) == 2]
    for points in whole[: sum(test.counts)]:
        counts[round(2 * sum(points))] += 1
        found.append(llr(counts, test.elo0, test.elo1, test.model))
    return found


def podium(table: Standings, games: Sequence[ListedGame], elo: Mapping[str, float]) -> list[Place]:
    """The best three bots, each with its best win; `elo` has the bots' ratings."""
    best = [row for row in table.rows if row.rank is not None and row.tally.games][:PLACES]
    return [_place(row, games, elo) for row in best] if len(best) > 1 else []


def _place(row: StandingsRow, games: Iterable[ListedGame], elo: Mapping[str, float]) -> Place:
    """A bot with its best win."""
    game, against = best_win(row.bot, games, elo) or (None, "")
    return Place(row.rank or 0, row.bot, points_text(row, " points"), game, against)


def points_text(row: StandingsRow, unit: str = "") -> str:
    """The points of a bot as its place follows from them: in some formats those of a bye count too. `unit`
    stands behind the number.
    """
    tally = row.tally
    whole = row.columns.get("points")
    whole = tally.points if whole is None or isinstance(whole, str) else whole
    own, in_all = number_text(tally.points), number_text(whole)
    if in_all == own and tally.scale == STANDARD_POINTS:
        return f"{own} of {tally.games:,}{unit}"
    games = counted(tally.games, "game")
    if in_all == own:
        return f"{own}{unit} in {games}"
    return f"{in_all}{unit}: {own} in {games}, {number_text(whole - tally.points)} without a game"


def best_win(
    bot: str, games: Iterable[ListedGame], elo: Mapping[str, float]
) -> tuple[ListedGame, str] | None:
    """A bot's win against the best-rated other, without a fault, and whom it beat; of several the shortest.
    None where it has none.
    """

    def beaten(each: ListedGame) -> str:
        return max((other for other in each.game.bots if other != bot), key=lambda other: elo.get(other, 0.0))

    won = [
        each
        for each in games
        if each.is_clean and each.winner is not None and each.game.bots[each.winner] == bot
    ]
    game = max(won, key=lambda each: (elo.get(beaten(each), 0.0), -each.moves), default=None)
    return (game, beaten(game)) if game else None


def games_to_see(games: Sequence[ListedGame], elo: Mapping[str, float]) -> list[GameToSee]:
    """At most one game for each rule, none of them twice; of equal ones the first that was finished."""
    found: list[GameToSee] = []
    for rule in (_upset, _swing, _longest, _quickest, _strangest):
        left = [each for each in games if all(each.game is not seen.game for seen in found)]
        if chosen := rule(left, elo):
            found.append(chosen)
    return found


def most(
    games: Iterable[ListedGame], by: Callable[[ListedGame], float | None]
) -> tuple[ListedGame, float] | None:
    """The first game with the largest value, and the value; games without one do not count."""
    valued = [(each, value) for each in games if (value := by(each)) is not None]
    return max(valued, key=lambda pair: pair[1], default=None)


def _names(each: ListedGame) -> tuple[str, str]:
    """The winner, and the others."""
    assert each.winner is not None
    others = [bot for seat, bot in enumerate(each.game.bots) if seat != each.winner]
    return each.game.bots[each.winner], " and ".join(others)


def _told(each: ListedGame) -> str:
    """How a game ended, with who beat whom."""
    if each.winner is None:
        return each.game.told
    winner, others = _names(each)
    return f"{winner} beats {others}: {each.game.told}"


def _upset(games: Collection[ListedGame], elo: Mapping[str, float]) -> GameToSee | None:
    """The win, without a fault, by the bot that is rated lowest compared with the best that it beat."""

    def by(each: ListedGame) -> float | None:
        bots = each.game.bots
        if each.winner is None or not each.is_clean or not each.game.rated or not elo.keys() >= {*bots}:
            return None
        lead = max(elo[bot] for seat, bot in enumerate(bots) if seat != each.winner) - elo[bots[each.winner]]
        return lead if round(lead) > 0 else None

    if (chosen := most(games, by)) is None:
        return None
    winner, others = _names(chosen[0])
    lead = f"{chosen[1]:,.0f} Elo"
    return GameToSee(
        "Upset",
        lead,
        f"{winner} beats {others}, although rated {lead} lower",
        chosen[0].game,
        chosen[0].deciding,
    )


def _swing(games: Collection[ListedGame], elo: Mapping[str, float]) -> GameToSee | None:
    """The win in which the winner gave itself the least chance at some move, if that was below one half."""

    def by(each: ListedGame) -> float | None:
        lowest = each.lowest[each.winner] if each.winner is not None and each.lowest else None
        return -lowest if lowest is not None and lowest < EVEN and each.is_clean else None

    if (chosen := most(games, by)) is None:
        return None
    winner, others = _names(chosen[0])
    least = f"{-100 * chosen[1]:.0f} %"
    chance = f"a chance of only {least}" if round(-100 * chosen[1]) else "no chance"
    return GameToSee(
        "Biggest swing",
        least,
        f"{winner} beats {others} after giving itself {chance}",
        chosen[0].game,
        chosen[0].deciding,
    )


def _longest(games: Collection[ListedGame], elo: Mapping[str, float]) -> GameToSee | None:
    """The game with the most moves."""
    if (chosen := most(games, lambda each: each.moves or None)) is None:
        return None
    return GameToSee("Longest", counted(chosen[0].moves, "move"), _told(chosen[0]), chosen[0].game)


def _quickest(games: Collection[ListedGame], elo: Mapping[str, float]) -> GameToSee | None:
    """The win by the rules with the fewest moves."""
    chosen = most(
        games,
        lambda each: (
            -each.moves
            if each.winner is not None and each.is_clean and each.game.ending == Ending.RULES.word
            else None
        ),
    )
    if chosen is None:
        return None
    return GameToSee("Quickest win", counted(chosen[0].moves, "move"), _told(chosen[0]), chosen[0].game)


def _strangest(games: Collection[ListedGame], elo: Mapping[str, float]) -> GameToSee | None:
    """A game with the fault that the fewest games have, if possible one in which the bot said something."""
    counts = Counter(word for each in games for word in {*each.game.faults} - {""})

    def by(each: ListedGame) -> float | None:
        words = {*each.game.faults} - {""}
        return -min(counts[word] for word in words) + (0.5 if each.last_words else 0) if words else None

    if (chosen := most(games, by)) is None:
        return None
    each = chosen[0]
    word, bot = min(
        ((word, bot) for word, bot in zip(each.game.faults, each.game.bots, strict=True) if word),
        key=lambda pair: counts[pair[0]],
    )
    said = f", saying: {each.last_words}" if each.last_words else ""
    number = f"{word}: {counted(counts[word], 'game')}"
    return GameToSee(
        "Strangest fault", number, f"{bot} {Ending.of(word).sentence}{said}", each.game, each.deciding
    )


class PairOfBots(NamedTuple):
    """Two bots that met."""

    bots: tuple[str, str]  # in alphabetical order
    section: str | None  # where; None for all sections together


def pairs_to_see(
    games: Sequence[ListedGame], elo: Mapping[str, float], bots: Collection[str]
) -> dict[PairOfBots, Sequence[GameToSee]]:
    """The games to see of each pair of these bots that met, and where there are several sections also of its
    games in each; `elo` has the bots' ratings.
    """
    sections = [section_of(each.game.id) for each in games]
    several = len({*sections}) > 1
    own: dict[PairOfBots, list[ListedGame]] = defaultdict(list)
    for each, section in zip(games, sections, strict=True):
        for pair in combinations(sorted(bot for bot in each.game.bots if bot in bots), 2):
            for within in (None, section) if several else (None,):
                own[PairOfBots(pair, within)].append(each)
    return {met: games_to_see(found, elo) for met, found in own.items()}
