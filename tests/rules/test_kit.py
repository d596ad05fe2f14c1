"""The engines for bots in Python: what a bot was told becomes a position, and positions are played out."""

from __future__ import annotations

import random
from itertools import islice
from types import SimpleNamespace

import pytest

from referee.check.rules import random_game
from referee.games import GAMES
from referee.kit import Follower, Quick, playout, step
from tests.rules.random_play import CASES, NAMES


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_a_bot_follows_its_game(slug: str, given: dict[str, str]) -> None:
    game = GAMES[slug]
    options = game.settle(given)
    told = SimpleNamespace(slug=slug, seat=1, news=[], options={k: str(v) for k, v in options.items()})
    follower = Follower(told, Quick(random.Random(1)))
    for state in islice(random_game(game, options, "kit"), 1, 20, 3):
        told.news = list(state.seen(0))
        followed = follower.state()
        assert followed.seen(0) == state.seen(0)
        if game.is_open:
            assert followed.outcome() == state.outcome() and followed.to_act() == state.to_act()


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_a_playout_ends_and_a_seed_repeats_it(slug: str, given: dict[str, str]) -> None:
    game = GAMES[slug]
    start = game.start(game.settle(given))
    outcomes = [playout(start, Quick(random.Random(seed))) for seed in (1, 1, 2)]
    assert outcomes[0] == outcomes[1] and len(outcomes[2].ranks) == game.seats(game.settle(given))


def test_a_step_takes_the_moves_it_is_given() -> None:
    game = GAMES["blooms"]
    state = game.start(game.settle({}))
    after = step(state, Quick(random.Random(1)), {0: state.read(0, "L:D4")})
    assert after.seen(None) == ("move 1 L:D4",)


def test_quick_numbers_are_in_their_bounds() -> None:
    rng = Quick(random.Random(1))
    assert {rng.below(3) for _ in range(100)} == {0, 1, 2}
    assert {rng.choice("ab") for _ in range(100)} == {"a", "b"}
    with pytest.raises(ValueError):
        rng.below(0)
