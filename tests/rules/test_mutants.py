"""`check_game` notices what is broken in hidden games: 18 mutants, each a method that is replaced."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import pytest

from referee.check.rules import INVARIANTS, InvariantViolation, check_game, hash_seeds_make_no_difference
from referee.core.errors import GameOptionError
from referee.core.seeds import Random, Stream
from referee.games import GAMES, game_given
from referee.games.api import CHANCE, SHARED_CHANCE, BadChance, Game, Illegal, Options, Seat
from referee.games.floral.state import FloralState
from referee.games.thetree.imagining import _HiddenDeal
from referee.games.thetree.state import TreeState
from referee.kit import Quick
from tests.command import ROOT, referee
from tests.outside.high_card import CARDS, DIE, GAME, HAND, HighCard, HighCardState

FLORAL, TREE = GAMES["floral"], GAMES["thetree"]


class Mutant(NamedTuple):
    """A method of a game that is replaced."""

    game: Game[Any]
    owner: type
    name: str
    method: Any


def rank_0_for_who_left(state: HighCardState) -> Any:
    outcome = HIGH.outcome(state)
    ranks = tuple(0 if seat in state.left else 1 for seat in range(3))
    return outcome._replace(ranks=ranks) if outcome and state.left else outcome


def scores_of_one(state: HighCardState) -> Any:
    outcome = HIGH.outcome(state)
    return outcome and outcome._replace(scores=outcome.scores[:1])


def ranks_1_and_3(state: HighCardState) -> Any:
    outcome = HIGH.outcome(state)
    return outcome and outcome._replace(ranks=tuple(rank + (rank > 1) for rank in outcome.ranks))


def any_card(state: HighCardState, seat: Seat) -> int:
    return 1


def thirty_numbers(state: HighCardState, text: str) -> Any:
    deck = text.split(" ")
    if len(deck) != len(CARDS) or not {*deck} <= {*CARDS}:
        return HIGH.chance(state, text)
    return HIGH.chance(state, text if len({*deck}) == len(deck) else " ".join(CARDS))


def cards_in_order(game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> Any:
    return HighCard_imagine(game, options, seat, seen, Unshuffled())


def high_cards_for_the_other(
    game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random
) -> Any:
    """The best of six deals."""
    deals = [HighCard_imagine(game, options, seat, seen, rng) for _ in range(6)]
    return max(deals, key=lambda state: sum(state.hands[seat - 1]) if state.hands else 0)


def own_cards_too(game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> Any:
    """Forgets one's own hand where the other's is dealt."""
    state = HighCard_imagine(game, options, seat, seen, rng)
    if not state.hands:
        return state
    hands = [frozenset(int(rng.choice(CARDS)) for _ in hand) for hand in state.hands]
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
        if int(text.strip(" ")) in state.hands[seat - 1]:
            raise Illegal("not-in-hand", f"seat {seat or 3} has it") from None
        raise illegal


def lower_card_wins(state: HighCardState, moves: Mapping[Seat, int]) -> Any:
    """A wrong rule, but the rule of a game all the same: no check of all games can know."""
    prize = HIGH.play(state, {seat: -card for seat, card in moves.items()}).points
    return replace(HIGH.play(state, moves), points=prize)


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


def supply_in_order(deal: Any, rng: Random) -> Any:
    """Deals in the order of tiles wherever nothing was seen."""
    return ORDER(deal, Unshuffled())


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
    play: Any = HighCardState.play
    draw: Any = HighCardState.draw
    to_act: Any = HighCardState.to_act


HIGH = Originals()
HighCard_imagine = HighCard.imagine
FLORAL_DEFAULT, FLORAL_CHANCE = FloralState.default, FloralState.chance
TREE_OUTCOME, ORDER = TreeState.outcome, _HiddenDeal.order

MUTANTS: dict[str, Mutant] = {
    "rank 0 for a seat that left": Mutant(GAME, HighCardState, "outcome", rank_0_for_who_left),
    "one score for two seats": Mutant(GAME, HighCardState, "outcome", scores_of_one),
    "ranks with a gap": Mutant(GAME, HighCardState, "outcome", ranks_1_and_3),
    "default is not in the hand": Mutant(GAME, HighCardState, "default", any_card),
    "chance takes a deck with a card twice": Mutant(GAME, HighCardState, "chance", thirty_numbers),
    "imagined hands are not shuffled": Mutant(GAME, HighCard, "imagine", cards_in_order),
    "imagined hands are too good": Mutant(GAME, HighCard, "imagine", high_cards_for_the_other),
    "imagined hands have own cards": Mutant(GAME, HighCard, "imagine", own_cards_too),
    "the same news, the same imagined hands": Mutant(GAME, HighCard, "imagine", same_cards_for_the_same_news),
    "always samples the lowest card": Mutant(GAME, HighCardState, "sample", lowest_card),
    "news of the other's hand": Mutant(GAME, HighCardState, "seen", hands_of_all),
    "picture of the other's hand": Mutant(GAME, HighCardState, "picture", picture_of_all),
    "a refusal tells where a card is": Mutant(GAME, HighCardState, "read", says_where_a_card_is),
    "the lower card wins": Mutant(GAME, HighCardState, "play", lower_card_wins),
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
    assert len(MUTANTS) == 18 and len(UNKNOWABLE) <= 3


# --- What an author is told -------------------------------------------------------------------------------


def rolls_at_any_time(state: HighCardState, text: str) -> Any:
    if state.to_act() in ((CHANCE,), (SHARED_CHANCE,)) or text not in DIE:
        return HIGH.chance(state, text)
    return replace(state, prize=int(text))


def draws_at_any_time(state: HighCardState, rng: Random) -> Any:
    return HIGH.draw(state, rng) if state.to_act() in ((CHANCE,), (SHARED_CHANCE,)) else rng.choice(DIE)


def reads_any_number(state: HighCardState, text: str) -> Any:
    return HIGH.chance(state, str(int(text)) if state.hands else text)


def deals_openly(state: HighCardState, text: str) -> Any:
    after = HIGH.chance(state, text)
    return replace(after, news=tuple((None, line) for _, line in after.news))


def one_of_the_others(state: HighCardState) -> Any:
    acting = HIGH.to_act(state)
    return acting[1:] if state.left and len(acting) > 1 else acting


def as_a_list(state: HighCardState) -> Any:
    return [*HIGH.to_act(state)]


def other_numbers(game: HighCard, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> Any:
    return HighCard_imagine(game, options, seat, seen, Quick(random.randrange(1 << 30)))


def ahead_in_hands(state: HighCardState, seat: Seat) -> int:
    sums = [*map(sum, state.hands)] or [0, 0, 0]
    return sums.pop(seat) - max(sums)


def always_ahead(state: HighCardState, seat: Seat) -> int:
    return 1


TOLD: dict[str, tuple[Mutant, str]] = {
    "chance where none acts": (
        Mutant(GAME, HighCardState, "chance", rolls_at_any_time),
        r"`chance` returns a result for `\d` where chance does not act, expected `BadChance`",
    ),
    "draws where none acts": (
        Mutant(GAME, HighCardState, "draw", draws_at_any_time),
        "`draw` returns a result where chance does not act, expected `BadChance`",
    ),
    "another error": (
        Mutant(GAME, HighCardState, "chance", reads_any_number),
        "`chance` raises ValueError: .* for ``, expected `BadChance`",
    ),
    "a hand in a public line": (
        Mutant(GAME, HighCardState, "chance", deals_openly),
        "`imagine` refuses news of seat 1 that occurred, up to the line `hand 3 [0-9 ]+`: BadChance: ",
    ),
    "a hand in a picture": (
        Mutant(GAME, HighCardState, "picture", picture_of_all),
        r"picture of seat 1: not the same in a position that `imagine` made from its news, "
        r"but `seat 2: .*` instead of `seat 2: .*`: it shows what is hidden, or `imagine` is wrong",
    ),
    "a refusal": (
        Mutant(GAME, HighCardState, "read", says_where_a_card_is),
        "answers to moves of seat 1: not the same .*, but `(seat 3 has it|.* not in your hand)` instead of ",
    ),
    "a submission lost": (
        Mutant(GAME, HighCardState, "to_act", one_of_the_others),
        "seat 1 retired in a turn of seats 1, 2 and 3, and then seat 3 acts, expected 2 and 3: that turn ",
    ),
    "not a tuple": (
        Mutant(GAME, HighCardState, "to_act", as_a_list),
        r"`to_act` gives `\[-2\]`, expected a tuple of seats from 0 to 2 in order, or of chance alone",
    ),
    "other random numbers": (
        Mutant(GAME, HighCard, "imagine", other_numbers),
        "`imagine` gives different results for the same random numbers, expected one that depends on ",
    ),
    "a lead in what is hidden": (
        Mutant(GAME, HighCardState, "lead", ahead_in_hands),
        "`lead` says what seat 1 does not know: a lead has to follow from the news of each seat",
    ),
    "all are ahead": (
        Mutant(GAME, HighCardState, "lead", always_ahead),
        "`lead` gives 1, 1, 1 for the seats, but only one can be ahead of all others",
    ),
    "a lead in nothing": (
        Mutant(GAME, HighCard, "counted", ""),
        "`lead` gives 0, 0, 0 for the seats, but `counted` does not say of what",
    ),
    "a place of another name": (
        Mutant(GAME, HighCard, "zone", lambda game, options, cell: "middle" if cell == "BIDS" else ""),
        "`zone` gives `middle` for `BIDS`, expected `corner`, `edge` or an empty text",
    ),
    "no cell is expected": (
        Mutant(GAME, HighCard, "zone", lambda game, options, cell: None if cell == "Z99" else ""),
        "`zone` gives `None` for `Z99`, expected `corner`, `edge` or an empty text",
    ),
    "seats": (Mutant(GAME, HighCard, "seats_text", "2"), "`seats_text` is `2`, but 3 seats play"),
}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", TOLD)
def test_an_author_is_told_in_a_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant, told = TOLD[name]
    monkeypatch.setattr(mutant.owner, mutant.name, mutant.method)
    assert re.match(told, noticed(GAME)), noticed(GAME)


@pytest.mark.slow
def test_the_games_themselves_pass() -> None:
    check_game(GAME)
    check_game(game_given(f"{ROOT / 'tests' / 'outside' / 'high_card.py'}:GAME", ROOT), {"players": "2"})


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
        return OfSetState((0,) * self.seats(options))


@pytest.mark.slow
def test_an_order_that_depends_on_the_hashes_of_texts_is_noticed() -> None:
    with pytest.raises(InvariantViolation, match="with another PYTHONHASHSEED"):
        hash_seeds_make_no_difference(OfSet(), OfSet().settle({}))


# --- A deck whose order is the only secret ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DeckState(HighCardState):
    """Hands are open, and a card is turned up from the deck in each round."""

    deck: tuple[str, ...] = ()

    def chance(self, text: str) -> DeckState:
        """Deals, and keeps the rest."""
        after: DeckState = HIGH.chance(self, text)
        deck = text.split(" ")[len(self.points) * HAND :]
        return replace(after, deck=tuple(deck)) if after.hands and not self.hands else after

    def play(self, moves: Mapping[Seat, int]) -> DeckState:
        """Turns up a card."""
        after: DeckState = HIGH.play(self, moves)
        line = f"turned {self.deck[0]}"
        return replace(after, deck=self.deck[1:], news=(*after.news, (None, line)))

    def seen(self, seat: Seat | None) -> tuple[str, ...]:
        """Everything but the order of the deck, for spectators too."""
        return super(DeckState, self).seen(None)

    def picture(self, seat: Seat | None) -> Any:
        """All hands."""
        return HIGH.picture(self, None)


class Deck(HighCard):
    """The game with this deck."""

    shuffles = True

    def start(self, options: Options) -> DeckState:
        """Before the deal."""
        return DeckState((0,) * self.seats(options))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> DeckState:
        """Shuffles what was not turned up."""
        news = [line.split(" ") for line in seen]
        known = [
            card for word, *cards in news if word in ("hand", "turned") for card in cards[word == "hand" :]
        ]
        rest = [card for card in CARDS if card not in known]
        if self.shuffles:
            rng.shuffle(rest)
        state: Any = self.start(options)
        for word, *words in news:
            if word == "die" or (word == "hand" and not state.hands):
                state = state.chance(words[0] if word == "die" else " ".join(known + rest))
            elif word == "bids":
                state = state.play({other: int(card) for other, card in enumerate(words) if card != "-"})
            elif word == "left":
                state = state.drop(int(number) - 1 for number in words)
        assert isinstance(state, DeckState)
        return state


class SortedDeck(Deck):
    """Whoever imagines this deck knows that it is sorted."""

    shuffles = False


@pytest.mark.slow
def test_a_game_whose_only_secret_is_the_order_of_a_deck_passes() -> None:
    """Not even a spectator sees it before it is turned up."""
    check_game(Deck())


@pytest.mark.slow
def test_a_deck_that_is_imagined_in_order_is_noticed() -> None:
    with pytest.raises(InvariantViolation, match="of as many true ones"):
        check_game(SortedDeck())


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
        .replace('return int(options["players"])', "return 6")
    )
    for words in (("games", f"{file}:GAME"), ("moves", f"{file}:GAME"), ("match", f"{file}:GAME", "x", "y")):
        done = referee(*words)
        assert done.code == 2 and done.err.count("\n") == 1 and "6 seats" in done.err
