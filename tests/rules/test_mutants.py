"""`check_game` notices what is broken in hidden games: 19 mutants, each a method that is replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

from referee.check.rules import INVARIANTS, InvariantViolation, check_game, hash_seeds_make_no_difference
from referee.core.errors import GameOptionError
from referee.core.seeds import Random, Stream
from referee.games import GAMES, game_given
from referee.games.api import BadChance, Game, Illegal, Options, Seat
from referee.games.floral.state import FloralState
from referee.games.thetree.imagining import _HiddenDeal
from referee.games.thetree.state import TreeState
from tests.command import ROOT, referee
from tests.outside.high_card import CARDS, GAME, HighCard, HighCardState

FLORAL, TREE = GAMES["floral"], GAMES["thetree"]


class Mutant(NamedTuple):
    """A method of a game that is replaced."""

    game: Game[Any]
    owner: type
    name: str
    method: Callable[..., Any]


def rank_0_for_who_left(state: HighCardState) -> Any:
    outcome = HIGH.outcome(state)
    ranks = tuple(0 if seat in state.left else 1 for seat in (0, 1))
    return outcome._replace(ranks=ranks) if outcome and state.left else outcome


def scores_of_one(state: HighCardState) -> Any:
    outcome = HIGH.outcome(state)
    return outcome and outcome._replace(scores=outcome.scores[:1])


def ranks_1_and_3(state: HighCardState) -> Any:
    outcome = HIGH.outcome(state)
    return outcome and outcome._replace(ranks=tuple(3 if rank == 2 else 1 for rank in outcome.ranks))


def any_card(state: HighCardState, seat: Seat) -> int:
    return 1


def twenty_numbers(state: HighCardState, text: str) -> Any:
    deck = text.split(" ")
    if state.hands or len(deck) != len(CARDS) or not {*deck} <= {*map(str, CARDS)}:
        raise BadChance("expected the cards of a deck")
    return HIGH.chance(state, text if len({*deck}) == len(deck) else " ".join(map(str, CARDS)))


def at_any_time(state: HighCardState, text: str) -> Any:
    if state.hands:
        return state
    return HIGH.chance(state, text)


def cards_in_order(game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> Any:
    return HighCard_imagine(game, options, seat, seen, Unshuffled())


def high_cards_for_the_other(
    game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random
) -> Any:
    """The best of six deals."""
    deals = [HighCard_imagine(game, options, seat, seen, rng) for _ in range(6)]
    return max(deals, key=lambda state: sum(state.hands[1 - seat]) if state.hands else 0)


def own_cards_too(game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> Any:
    """Forgets one's own hand where the other's is dealt."""
    state = HighCard_imagine(game, options, seat, seen, rng)
    if not state.hands:
        return state
    hands = [frozenset(rng.choice(CARDS) for _ in hand) for hand in state.hands]
    hands[seat] = state.hands[seat]
    return replace(state, hands=tuple(hands))


def same_cards_for_the_same_news(
    game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random
) -> Any:
    """Over many deals as random as it should be, but one position for each news."""
    return HighCard_imagine(game, options, seat, seen, Stream("\n".join(seen).encode()))


def lowest_card(state: HighCardState, seat: Seat, rng: Random) -> int:
    return min(state.hands[seat])


def hands_of_all(state: HighCardState, seat: Seat | None) -> Any:
    return HIGH.seen(state, None)


def picture_of_all(state: HighCardState, seat: Seat | None) -> Any:
    return HIGH.picture(state, None)


def says_where_a_card_is(state: HighCardState, seat: Seat, text: str) -> Any:
    try:
        return HIGH.read(state, seat, text)
    except Illegal as illegal:
        if int(text.strip(" ")) in state.hands[1 - seat]:
            raise Illegal("not-in-hand", "the other seat has it") from None
        raise illegal


def lower_card_wins(state: HighCardState) -> tuple[int, int]:
    """A wrong rule, but the rule of a game all the same: no check of all games can know."""
    return sum(a < b for a, b in state.played), sum(b < a for a, b in state.played)


def rune_0_always(state: FloralState, seat: Seat) -> str:
    side = state.sides[seat]
    return FLORAL_DEFAULT(state, seat) if state.planting else side.symbols[side.runes.index(0)]


def any_runes(state: FloralState, text: str) -> Any:
    one, space, other = text.partition(" ")
    eight = all(len(runes) == 8 and set(runes) <= set("01234567") for runes in (one, other))
    try:
        return FLORAL_CHANCE(state, text)
    except BadChance:
        if state.rules.spells is None or not (space and eight):
            raise
        return FLORAL_CHANCE(state, "01234567 01234567")


def supply_in_order(deal: Any, rng: Random) -> str:
    """Deals in the order of tiles wherever nothing was seen."""
    return str(ORDER(deal, Unshuffled()))


def out_is_first(state: TreeState) -> Any:
    outcome = TREE_OUTCOME(state)
    return outcome and outcome._replace(ranks=outcome.ranks[::-1] if state.table.out else outcome.ranks)


class Unshuffled(Stream):
    """Random numbers that leave everything where it is."""

    def __init__(self) -> None:
        super().__init__(b"")

    def shuffle(self, items: object) -> None:
        """Leaves them as they are."""


class Originals(NamedTuple):
    """Methods of High Card as they are."""

    outcome: Any = HighCardState.outcome
    chance: Any = HighCardState.chance
    seen: Any = HighCardState.seen
    picture: Any = HighCardState.picture
    read: Any = HighCardState.read


HIGH = Originals()
HighCard_imagine = HighCard.imagine
FLORAL_DEFAULT, FLORAL_CHANCE = FloralState.default, FloralState.chance
TREE_OUTCOME, ORDER = TreeState.outcome, _HiddenDeal.order

MUTANTS: dict[str, Mutant] = {
    "rank 0 for a seat that left": Mutant(GAME, HighCardState, "outcome", rank_0_for_who_left),
    "one score for two seats": Mutant(GAME, HighCardState, "outcome", scores_of_one),
    "ranks with a gap": Mutant(GAME, HighCardState, "outcome", ranks_1_and_3),
    "default is not in the hand": Mutant(GAME, HighCardState, "default", any_card),
    "chance takes a deck with a card twice": Mutant(GAME, HighCardState, "chance", twenty_numbers),
    "chance acts at any time": Mutant(GAME, HighCardState, "chance", at_any_time),
    "imagined hands are not shuffled": Mutant(GAME, HighCard, "imagine", cards_in_order),
    "imagined hands are too good": Mutant(GAME, HighCard, "imagine", high_cards_for_the_other),
    "imagined hands have own cards": Mutant(GAME, HighCard, "imagine", own_cards_too),
    "the same news, the same imagined hands": Mutant(GAME, HighCard, "imagine", same_cards_for_the_same_news),
    "always samples the lowest card": Mutant(GAME, HighCardState, "sample", lowest_card),
    "news of the other's hand": Mutant(GAME, HighCardState, "seen", hands_of_all),
    "picture of the other's hand": Mutant(GAME, HighCardState, "picture", picture_of_all),
    "a refusal tells where a card is": Mutant(GAME, HighCardState, "read", says_where_a_card_is),
    "the lower card wins": Mutant(GAME, HighCardState, "points", property(lower_card_wins)),  # type: ignore[arg-type]
    "floral: default is rune 0 twice": Mutant(FLORAL, FloralState, "default", rune_0_always),
    "floral: runes twice": Mutant(FLORAL, FloralState, "chance", any_runes),
    "thetree: imagined deals are not shuffled": Mutant(TREE, _HiddenDeal, "order", supply_in_order),
    "thetree: who is out is first": Mutant(TREE, TreeState, "outcome", out_is_first),
}

UNKNOWABLE = {"the lower card wins"}


def noticed(game: Game[Any]) -> str:
    """What the invariants say of a game, or nothing. Those that take longest come last."""
    for invariant in sorted(INVARIANTS, key=lambda one: one.__name__.startswith("imagined")):
        try:
            invariant(game, game.settle({}))
        except InvariantViolation as broken:
            return str(broken)
    return ""


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_of_hidden_games_are_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    monkeypatch.setattr(mutant.owner, mutant.name, mutant.method)
    assert bool(noticed(mutant.game)) == (name not in UNKNOWABLE)


def test_nearly_all_mutants_have_to_be_noticed() -> None:
    assert len(MUTANTS) == 19 and len(UNKNOWABLE) <= 3


@pytest.mark.slow
def test_the_games_themselves_pass() -> None:
    check_game(GAME)
    check_game(game_given(f"{ROOT / 'tests' / 'outside' / 'high_card.py'}:GAME", ROOT), {"size": "2"})


# --- The order of sets ------------------------------------------------------------------------------------


class OfSetState(HighCardState):
    """A hand in the order of a set of texts, which is another one in each process."""

    __slots__ = ()

    def legal(self, seat: Seat) -> Iterator[int]:
        """The hand, in no order."""
        return map(int, {str(card) for card in self.hands[seat]})


class OfSet(HighCard):
    """A game that plays with such hands."""

    def start(self, options: Options) -> HighCardState:
        """Before the deal."""
        return OfSetState(int(options["size"]))


@pytest.mark.slow
def test_an_order_that_depends_on_the_hashes_of_texts_is_noticed() -> None:
    with pytest.raises(InvariantViolation, match="with another PYTHONHASHSEED"):
        hash_seeds_make_no_difference(OfSet(), OfSet().settle({}))


# --- A deck whose order is the only secret ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeckState(HighCardState):
    """Hands are open, and a prize is turned up from the deck in each round."""

    deck: tuple[int, ...] = ()

    def chance(self, text: str) -> DeckState:
        """Deals, and keeps the rest."""
        dealt = HIGH.chance(self, text)
        deck = [int(word) for word in text.split(" ")][2 * self.size :]
        return replace(self, hands=dealt.hands, deck=tuple(deck))

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """Everything but the order of the deck, for spectators too."""
        rounds = zip(self.played, self.deck, strict=False)
        prizes = [f"played {one} {two} for {prize}" for (one, two), prize in rounds]
        return (*HIGH.seen(replace(self, played=self.played), None)[: len(self.hands)], *prizes)

    def picture(self, seat: Seat | None) -> Any:
        """All hands."""
        return HIGH.picture(self, None)


class Deck(HighCard):
    """The game with this deck."""

    shuffles = True

    def start(self, options: Options) -> DeckState:
        """Before the deal."""
        return DeckState(int(options["size"]))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> DeckState:
        """Shuffles what was not turned up."""
        state = self.start(options)
        if not seen:
            return state
        rounds = [tuple(map(int, (words[1], words[2], words[4]))) for words in map(str.split, seen[2:])]
        dealt = [frozenset(map(int, line.split()[2:])) for line in seen[:2]]
        turned = [prize for _, _, prize in rounds]
        rest = sorted(set(CARDS) - dealt[0] - dealt[1] - set(turned))
        if self.shuffles:
            rng.shuffle(rest)
        hands = tuple(hand - {played[owner] for played in rounds} for owner, hand in enumerate(dealt))
        played = tuple((one, two) for one, two, _ in rounds)
        return replace(state, hands=hands, played=played, deck=(*turned, *rest))


class SortedDeck(Deck):
    """Whoever imagines this deck knows that it is sorted."""

    shuffles = False


@pytest.mark.slow
def test_a_game_whose_only_secret_is_the_order_of_a_deck_passes() -> None:
    """Not even a spectator sees it before it is turned up."""
    check_game(Deck(), {"size": "5"})


@pytest.mark.slow
def test_a_deck_that_is_imagined_in_order_is_noticed() -> None:
    with pytest.raises(InvariantViolation, match="of as many true ones"):
        check_game(SortedDeck(), {"size": "5"})


# --- Seats ------------------------------------------------------------------------------------------------


class SixSeats(HighCard):
    """More seats than the referee has."""

    def seats(self, options: Options) -> int:
        """Six."""
        return 6


def test_a_game_of_six_seats_is_refused_in_one_line(tmp_path: Any) -> None:
    with pytest.raises(GameOptionError, match="`highcard` has 6 seats with these options, expected 1 to 4"):
        check_game(SixSeats())
    file = tmp_path / "six.py"
    file.write_text(
        (ROOT / "tests" / "outside" / "high_card.py")
        .read_text()
        .replace("return 2\n\n    def longest", "return 6\n\n    def longest")
    )
    for words in (("games", f"{file}:GAME"), ("moves", f"{file}:GAME"), ("match", f"{file}:GAME", "x", "y")):
        done = referee(*words)
        assert done.code == 2 and done.err.count("\n") == 1 and "6 seats" in done.err
