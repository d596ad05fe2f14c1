"""What everybody knows of a game: what all seats know, and nothing of a bot but its moves."""

from __future__ import annotations

from typing import Any

import pytest

from referee.check.rules import InvariantViolation, everybody_sees_the_same, random_game, random_match
from referee.core.seeds import Stream
from referee.gameplay.events import Ending, Moved, Rejected, Retired
from referee.games import GAMES
from referee.games.api import Game, Seat
from referee.games.picture import Mark, Picture, Plane, Row, Span, row_of
from referee.pages.replay_page import replay_page
from referee.viewing.characters import picture_text
from referee.viewing.drawn_board import seat_rows
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge, common_picture, view_data, view_text
from referee.viewing.states import game_states
from referee.viewing.steps import steps_of
from tests.outside.high_card import GAME, HighCard, HighCardState


class _Pictures:
    """Stands for a position: the picture of each seat."""

    def __init__(self, *pictures: Picture) -> None:
        self._pictures = pictures

    def picture(self, seat: Seat) -> Picture:
        return self._pictures[seat]


def common(*pictures: Picture, seen_by_others: bool = False) -> Picture:
    state: Any = _Pictures(*pictures)
    return common_picture(state, len(pictures), seen_by_others)


def test_a_piece_is_common_that_stands_in_all_pictures_in_the_same_panel() -> None:
    a, b, c = Mark(0, 0, "a"), Mark(1, 0, "b"), Mark(2, 0, "c")
    first = (Plane((a, b, b), (c,)), row_of("x", "y", "x"), row_of("hand 7", seat=0))
    second = (Plane((b, a, c, b), (c,)), row_of("x", "z", "x", "x"), row_of("hand ?", seat=0))
    third = (Plane((c, b, a), (c,)), row_of("y", "x"), row_of("hand ?", seat=0), row_of("more"))
    found = common(first, second, third)
    assert found == (Plane((a, b), (c,)), row_of("x"), Row((), 0), Row(()))
    assert isinstance(found[0], Plane) and found[0].ground is first[0].ground
    assert common(first, second, third, seen_by_others=True)[2] == row_of("hand ?", seat=0)
    assert common((row_of("own", seat=0),), seen_by_others=True) == (row_of("own", seat=0),)


def test_nothing_is_common_to_panels_that_differ_in_more_than_their_pieces() -> None:
    mark = Mark(0, 0, "a")
    assert common((Plane((mark,)),), (Plane((mark,), columns=5),)) == (Row(()),)
    assert common((Plane((mark,)),), (Row((Span("a"),)),)) == (Row(()),)
    assert common((row_of("a", seat=0),), (row_of("a", seat=1),), seen_by_others=True) == (Row(()),)
    assert common((Plane((), (mark,)),), (Plane((), ()),)) == (Plane(()),)


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("slug", ["thetree", "floral"])
def test_everybody_sees_what_no_seat_hides(slug: str) -> None:
    game = GAMES[slug]
    options = game.settle({})
    known = ViewKnowledge.of(EVERYBODY, game, options)
    for state in list(random_game(game, options, "1"))[1::9]:
        text, hidden = picture_text(known.picture(state)), [picture_text(state.picture(s)) for s in (0, 1)]
        assert text.strip() and text not in hidden
        assert set(known.news(state)) == set(state.seen(0)) & set(state.seen(1))
        assert known.to_move(state) == tuple(seat for seat in state.to_act() if seat >= 0)
        assert known.reserves([5, 7]) == (None, None) and known.seats(2) == () == known.acting(state)
        assert known.outcomes(["heads"]) is None
        score = "tiles" if slug == "thetree" else "of 4 guessed"
        assert [score in text for text in seat_rows(known.picture(state), 2).values()] == [True, True]


def test_of_an_open_game_everybody_knows_the_position_but_nothing_of_the_bots() -> None:
    record = random_match(GAMES["blooms"], GAMES["blooms"].settle({"size": "4"}), "open")
    moved = next(event for event in record.events if isinstance(event, Moved))
    rejected = next(event for event in record.events if isinstance(event, Rejected))
    retired = Retired(1, Ending.TIME, "its answer came too late: secret", 5, hint="secret")
    known = ViewKnowledge.of(EVERYBODY, record.terms.game, record.terms.options)
    told = known.events([moved._replace(info="secret"), rejected, retired])
    assert told == (moved, retired._replace(detail="", hint=""))
    state = record.terms.game.start(record.terms.options)
    assert known.picture(state) == state.picture(None) and known.reserves([5, 7]) == (5, 7)
    after = state.play({0: state.sample(0, Stream(b"x"))})
    assert known.news(after, state) == after.seen(None)[len(state.seen(None)) :]


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("game", [GAMES["blooms"], GAMES["floral"], GAME], ids=lambda game: game.slug)
def test_a_recorded_game_can_be_shown_as_everybody_knew_it(game: Game[Any]) -> None:
    steps = steps_of(random_match(game, game.settle({}), "shown"))
    assert "as everybody knew it" in replay_page(steps, EVERYBODY)
    data = game_states(steps, EVERYBODY)
    assert data["view"] == "everybody" and len(data["steps"]) == len(steps.steps)
    assert game.is_open or not any(step["events"] for step in data["steps"])
    assert [*map(view_data, (None, 0))] == [None, 1] and [*map(view_text, (None, 0))] == ["", "seat 1"]


class LeakingState(HighCardState):
    """Each seat sees something of its own hand alone, but not that it is its own."""

    def picture(self, seat: Seat | None) -> Picture:
        """As before, and whether one's own hand has an even highest card."""
        own = (
            "even" if seat is not None and self.hands and max(self.hands[seat], default=1) % 2 == 0 else "odd"
        )
        return (*super().picture(seat), row_of(own))


class Leaking(HighCard):
    """A game in which no seat sees anything of another, but what all see tells that all have it."""

    def start(self, options: Any) -> LeakingState:
        return LeakingState((0,) * self.seats(options))


def test_a_secret_that_only_what_is_common_tells_is_found() -> None:
    everybody_sees_the_same(GAME, GAME.settle({}), "1")
    with pytest.raises(InvariantViolation, match=r"^picture for everybody: not the same .* seat [123], but "):
        for seed in range(20):
            everybody_sees_the_same(Leaking(), GAME.settle({}), f"{seed}")
