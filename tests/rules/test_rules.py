"""`check_game` finds what a game does wrong: Connect Four, spoilt in one way at a time."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from referee.check.rules import (
    INVARIANTS,
    InvariantViolation,
    check_game,
    clicks_lead_to_legal_moves,
    positions_that_differ_in_what_is_hidden_look_alike,
)
from referee.core.seeds import Random
from referee.games.api import Chosen, Illegal, NotAMove, Options, Outcome, Refusal, Seat, State
from referee.games.picture import Mark, Panel, Picture, Plane, Row, Span, Symbol
from referee.games.thetree import TheTree
from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import Laying
from tests.outside.connect_four import GAME, ConnectFour, ConnectFourState, disc

SMALL = {"columns": "4", "rows": "4"}


def spoilt(**members: Any) -> ConnectFour:
    """Connect Four with other members of its positions."""

    class Spoilt(ConnectFourState):
        __slots__ = ()

    class Game(ConnectFour):
        def start(self, options: Options) -> ConnectFourState:
            return Spoilt(((),) * int(options["columns"]), int(options["rows"]))

    for name, member in members.items():
        setattr(Spoilt, name, member)
    return Game()


def any_column(state: ConnectFourState, seat: Seat, text: str) -> int:
    """Takes a column that is full."""
    try:
        return ConnectFourState.read(state, seat, text)
    except Illegal:
        return 0


def raw(state: ConnectFourState, seat: Seat, text: str) -> int:
    try:
        return ConnectFourState.read(state, seat, text)
    except NotAMove:
        raise NotAMove(f"a column, not {text}") from None


def capitals(state: ConnectFourState, move: int) -> str:
    return "ABCD"[move]


def of_capitals(state: ConnectFourState, seat: Seat, text: str) -> int:
    if len(text.strip(" ")) != 1 or text.strip(" ") not in "ABCD":
        raise NotAMove("a column")
    return ConnectFourState.read(state, seat, str("ABCD".index(text.strip(" ")) + 1))


def twice(state: ConnectFourState, seat: Seat) -> Iterator[int]:
    yield from (*ConnectFourState.legal(state, seat), *ConnectFourState.legal(state, seat))


def by_itself(state: ConnectFourState, seat: Seat, rng: Random) -> int:
    """Draws from what is not the match's."""
    return random.choice(list(state.legal(seat)))


def last_news(state: ConnectFourState, seat: Seat | None) -> tuple[str, ...]:
    return ConnectFourState.seen(state, seat)[-1:]


def control(state: ConnectFourState, seat: Seat | None) -> tuple[str, ...]:
    return tuple(f"{line}\n" for line in ConnectFourState.seen(state, seat))


def in_place(state: ConnectFourState, moves: Mapping[Seat, int]) -> ConnectFourState:
    after = ConnectFourState.play(state, moves)
    object.__setattr__(state, "moves", (*state.moves, *moves.values()))
    return after


def stays(state: ConnectFourState, seats: Iterable[Seat]) -> ConnectFourState:
    return state


def all_lose(state: ConnectFourState) -> Outcome | None:
    outcome = ConnectFourState.outcome(state)
    return outcome and outcome._replace(ranks=(2, 2))


def leavers_win(state: ConnectFourState) -> Outcome | None:
    outcome = ConnectFourState.outcome(state)
    return outcome and outcome._replace(ranks=outcome.ranks[::-1] if state.left else outcome.ranks)


def pictured(**members: Any) -> ConnectFour:
    """Connect Four with another disc in the corner of its pictures."""

    def picture(state: ConnectFourState, seat: Seat | None) -> Picture:
        (plane,) = ConnectFourState.picture(state, seat)
        assert isinstance(plane, Plane)
        marks = (*plane.marks, disc(0, 0, 0), disc(0, 0, 0)._replace(**members))
        return (plane._replace(marks=marks),)

    return spoilt(picture=picture)


def new_ground(state: ConnectFourState, seat: Seat | None) -> Picture:
    (plane,) = ConnectFourState.picture(state, seat)
    assert isinstance(plane, Plane)
    return (plane._replace(ground=(*plane.ground,)),)


def takes_anything(state: ConnectFourState, text: str) -> State[int]:
    return state


class Endless(ConnectFour):
    def longest(self, options: Options) -> int:
        return 3


class Aimless(ConnectFour):
    def aim(self, options: Options) -> str:
        return "\x1b[2J"


class Wordless(ConnectFour):
    def told(self, line: str) -> str:
        return f"{line}\n"


class Hidden(ConnectFour):
    is_open = False


SPOILT: dict[str, tuple[ConnectFour, str]] = {
    "reads what is not legal": (spoilt(read=any_column), "is read as a move, but is not legal"),
    "shows what was sent": (spoilt(read=raw), "the sentence contains unescaped text from the bot"),
    "small letters": (
        spoilt(write=capitals, read=of_capitals),
        "`  a ` is a legal move, but is refused: not a move",
    ),
    "writes what it does not read": (
        spoilt(write=lambda state, move: f"{move + 2}"),
        "was written for one move, but is read as another",
    ),
    "twice": (spoilt(legal=twice), "`legal` gives a move twice"),
    "count": (spoilt(count=lambda state, seat: 9), "`count` says 9, but `legal` gives"),
    "another's dice": (spoilt(sample=by_itself), "the same seed gives a different game"),
    "sample": (
        spoilt(sample=lambda state, seat, rng: next(state.legal(seat))),
        "`sample` always gives the same move, though several are legal",
    ),
    "forgets news": (spoilt(seen=last_news), "earlier news has changed"),
    "control characters": (spoilt(seen=control), "a line of news cannot be sent: `move 1"),
    "in place": (spoilt(play=in_place), "a position changed when play continued from it"),
    "nobody wins": (spoilt(outcome=all_lose), "nobody has rank 1"),
    "who left wins": (spoilt(outcome=leavers_win), "none of the others is first"),
    "does not end": (spoilt(drop=stays), "a retired seat is still to act"),
    "chance": (
        spoilt(chance=takes_anything),
        "`chance` returns a result for `heads` where chance does not act, expected `BadChance`",
    ),
    "mark far away": (pictured(x=1e9), "a mark is too far away or too large, expected numbers up to 1000"),
    "mark nowhere": (
        pictured(y=float("nan")),
        "a mark is too far away or too large, expected numbers up to 1000",
    ),
    "endless mark": (
        pictured(size=float("inf")),
        "a mark is too far away or too large, expected numbers up to 1000",
    ),
    "colour": (pictured(paint="#ff0000"), "`#ff0000` is not a value of `Paint`"),
    "part": (pictured(part="\x1b[2J"), "a text in the picture cannot be shown: `\\x1b[2J`"),
    "chosen, illegal": (
        spoilt(chosen=lambda state, seat, parts: Chosen((), [98], 1)),
        "`99` is a legal move, but is refused",
    ),
    "chosen, a dead end": (
        spoilt(chosen=lambda state, seat, parts: Chosen((), (), 0) if parts else Chosen(("1",), (), 1)),
        "`chosen` gives nothing after 1 to go on with",
    ),
    "chosen, no part": (
        spoilt(chosen=lambda state, seat, parts: Chosen(("Z",), (), 1)),
        "`chosen` gives parts that no other mark has",
    ),
    "title": (pictured(title="\x1b[2J"), "a text in the picture cannot be shown: `\\x1b[2J`"),
    "caption": (pictured(caption="x" * 301), "a text in the picture cannot be shown: `xxx"),
    "symbol": (pictured(symbol=Symbol("stone", ())), "two symbols have the name `stone`"),
    "ground": (spoilt(picture=new_ground), "the ground of a plane is not always the same object"),
    "longest": (Endless(), "a game has more moves than `longest` says"),
    "aim": (Aimless(), "`aim` is not a short text that can be shown"),
    "told": (Wordless(), "`told` gives no text that can be shown for `move 1"),
    "open": (Hidden(), "`is_open` is False, but imagined positions do not differ from the true ones"),
}


@pytest.mark.slow
def test_a_sound_game_passes() -> None:
    check_game(GAME)
    check_game(GAME, SMALL)


@pytest.mark.quick_cases(10)
@pytest.mark.parametrize(("game", "told"), SPOILT.values(), ids=SPOILT)
def test_what_is_wrong_is_told(game: ConnectFour, told: str) -> None:
    found = []
    for invariant in INVARIANTS:
        try:
            invariant(game, game.settle(SMALL))
        except InvariantViolation as broken:
            found.append(str(broken))
        except (ValueError, IndexError, Refusal):
            continue  # it fails otherwise too
    assert any(told in line for line in found), found


def test_an_imagined_position_that_looks_another_way_is_told() -> None:
    class Forgetful(ConnectFour):
        def imagine(self, options: Options, seat: Seat, seen: Any, rng: Random) -> State[int]:
            return self.start(options)

    with pytest.raises(InvariantViolation, match="news of seat 1: not the same"):
        check_game(Forgetful(), SMALL)


@pytest.mark.parametrize("where", ["title of a mark", "symbol of a mark", "title of a span"])
def test_what_a_picture_tells_without_its_text_is_found(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A picture whose text is as it should be, and which has the other's hand where no text is."""
    picture = TreeState.picture

    def telling(state: TreeState, seat: Seat | None) -> Picture:
        secret = str(state.table.hands[1])
        told: dict[str, Panel] = {
            "title of a mark": Plane((Mark(0, 0, title=secret),)),
            "symbol of a mark": Plane((Mark(0, 0, symbol=Symbol(secret, ())),)),
            "title of a span": Row((Span("supply", title=secret),)),
        }
        return (*picture(state, seat), told[where])

    monkeypatch.setattr(TreeState, "picture", telling)
    game = TheTree()
    with pytest.raises(InvariantViolation, match="picture of seat 1: not the same"):
        positions_that_differ_in_what_is_hidden_look_alike(game, game.settle({}))


def test_what_can_be_clicked_must_not_tell_what_is_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = TreeState.chosen

    def telling(state: TreeState, seat: Seat, parts: Sequence[str]) -> Chosen[Laying]:
        return chosen(state, seat, parts)._replace(left=state.table.hands[1 - seat])

    monkeypatch.setattr(TreeState, "chosen", telling)
    game = TheTree()
    with pytest.raises(InvariantViolation, match="`chosen` is not the same in a position that `imagine`"):
        clicks_lead_to_legal_moves(game, game.settle({}))
