"""Pictures as JSON: what is read back draws the same, and whatever else it is is no picture."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from referee.core.errors import RecordError
from referee.games import GAMES
from referee.games.picture import Picture
from referee.live.pictures import picture_json, picture_of
from referee.viewing.characters import picture_text
from referee.viewing.steps import steps_of
from referee.viewing.svg import draw
from tests.rules.random_play import random_game


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("slug", GAMES)
def test_a_picture_that_was_read_back_is_drawn_like_the_one_that_was_written(slug: str) -> None:
    for step in steps_of(random_game(GAMES[slug], bytes(32))).steps[:10]:
        picture = step.state.picture(None)
        again = picture_of(json.loads(json.dumps(picture_json(picture))))
        (layout, parts), (layout_again, parts_again) = draw([picture]), draw([again])
        assert layout_again.svg(again, "", "") == layout.svg(picture, "", "") and parts_again == parts
        assert [text.strip() for text in text_lines(again)] == [text.strip() for text in text_lines(picture)]


def text_lines(picture: Picture) -> list[str]:
    """In characters, where margins of planes are left out."""
    return picture_text(picture).split("\n")


def mutations(value: Any) -> Any:
    """Each value in a JSON value, with a function that puts something else in its place."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, one in inner:
        yield value, key
        yield from mutations(one)


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [[], {}, None, 1e300, "x", -1, [[[]]], True])
def test_whatever_is_not_a_picture_is_refused_or_can_be_drawn(wrong: object) -> None:
    picture = steps_of(random_game(GAMES["vinetree"], bytes(32))).steps[4].state.picture(None)
    value = json.loads(json.dumps(picture_json(picture)))
    refused = 0
    for number in range(0, sum(1 for _ in mutations(value)), 17):
        changed = copy.deepcopy(value)
        place, key = [*mutations(changed)][number]
        place[key] = wrong
        try:
            draw([picture_of(changed)])
        except RecordError:
            refused += 1
    assert refused > 4
    with pytest.raises(RecordError):
        picture_of(wrong)
