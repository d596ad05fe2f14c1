"""The games as environments of PettingZoo: that library's own tests, and what is beyond them."""

from __future__ import annotations

import warnings
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from referee import kit
from referee.core.errors import GameOptionError, UsageError
from referee.games import GAMES
from tests.rules.random_play import CASES
from tests.unit.toys import Bid

DICTIONARIES = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box or gymnasium.spaces.discrete",
)
"""What `api_test` says of every environment with an action mask that is not one of the library's own."""

QUICK = [next(case for case in CASES if case[0] == slug) for slug in GAMES]
OTHERS = [case for case in CASES if case not in QUICK]
LARGE: list[tuple[str, dict[str, str]]] = [
    ("blooms", {"size": "8"}),
    ("vinetree", {}),
    ("vinetree", {"size": "13"}),
    ("evengroups", {"size": "8"}),
    ("floral", {}),
]
"""The sizes that are not among those of all tests, and the largest ones."""


def library(module: str) -> Any:
    """A module of the library, or ours for it: only the worker that needs it imports it, which takes long."""
    pytest.importorskip("pettingzoo")
    return import_module(module)


def env(slug: str, **given: Any) -> Any:
    return library("referee.pettingzoo").env(slug, **given)


def raw_env(slug: str, **given: Any) -> Any:
    return library("referee.pettingzoo").raw_env(slug, **given)


@pytest.mark.parametrize(
    ("slug", "given"),
    [*QUICK, *(pytest.param(*case, marks=pytest.mark.slow) for case in (*OTHERS, *LARGE))],
)
def test_the_library_s_own_tests_pass(slug: str, given: dict[str, Any]) -> None:
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", ImportWarning)  # of what else is imported for the first time
        library("pettingzoo.test").api_test(env(slug, **given), num_cycles=30)
        library("pettingzoo.test").seed_test(partial(env, slug, **given), num_cycles=15)
    assert {str(warning.message) for warning in warned} <= {*DICTIONARIES}


def random_action(environment: Any) -> int:
    observation, *_ = environment.last()
    return int(environment.action_space(environment.agent_selection).sample(observation["action_mask"]))


@pytest.mark.parametrize(("slug", "given"), QUICK)
def test_the_rewards_are_those_of_the_result(slug: str, given: dict[str, Any]) -> None:
    game = env(slug, **given)
    game.reset(seed=3)
    for agent in game.agents:
        game.action_space(agent).seed(3)
    rewards = {}
    for agent in game.agent_iter():
        observation, reward, termination, truncation, info = game.last()
        assert not truncation
        if termination:
            rewards[agent] = reward
            assert info["sentence"] and not observation["action_mask"].any()
        game.step(None if termination else random_action(game))
    outcome = game.unwrapped.position.outcome()
    assert tuple(rewards.values()) == kit.rewards(outcome)
    assert list(rewards) == [f"seat_{number + 1}" for number in range(len(outcome.ranks))]


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_after_a_seed_the_same_games_follow(slug: str) -> None:
    games = []
    for seed in (1, 1, 2):
        game = raw_env(slug)
        game.reset(seed=seed)
        first = game.position.news(None)
        game.reset()
        games.append((first, game.position.news(None)))
    assert games[0] == games[1] != games[2] and games[0][0] != games[0][1]


def test_an_illegal_action_loses() -> None:
    game = env("blooms", size=3)
    game.reset(seed=1)
    game.step(0)
    assert game.agent_selection == "seat_2"
    game.step(0)
    assert game.rewards == {"seat_1": 0, "seat_2": -1} and all(game.terminations.values())
    raw = raw_env("blooms", size=3)
    raw.reset()
    raw.step(0)
    for action in (0, 99, -1, None):
        with pytest.raises(ValueError, match=f"action {action} of `seat_2` is not legal here"):
            raw.step(action)


def test_a_turn_can_be_several_actions_of_one_agent() -> None:
    game = raw_env("blooms", size=3)
    game.reset()
    asked: list[str] = []
    for text in ("L:A1", "L:A2 D:A3", "L:B1"):
        position = game.position
        for action in game.encoding.spelled(position.state, position.turn, position.read(text)):
            asked.append(game.agent_selection)
            game.step(action)
    assert asked == ["seat_1", "seat_2", "seat_2", "seat_1", "seat_1"]
    assert game.position.news(None) == ("move 1 L:A1", "move 2 L:A2 D:A3", "move 1 L:B1")


def test_a_move_that_was_begun_is_not_seen_by_others() -> None:
    game = raw_env("blooms", size=3)
    game.reset()
    game.step(0)
    before = [game.observe(agent)["observation"].tobytes() for agent in game.agents]
    game.step(2)
    after = [game.observe(agent)["observation"].tobytes() for agent in game.agents]
    assert game.agent_selection == "seat_2"
    assert before[0] == after[0] and before[1] != after[1]


def test_a_seat_does_not_see_what_the_other_has_submitted_at_the_same_time() -> None:
    seen = []
    for choice in (0, 1):
        game = raw_env("floral")
        game.reset(seed=5)
        actions = np.flatnonzero(game.observe("seat_1")["action_mask"])
        game.step(actions[choice])
        assert game.agent_selection == "seat_2" and not game.observe("seat_1")["action_mask"].any()
        seen.append([part.tobytes() for part in game.observe("seat_2").values()])
    assert seen[0] == seen[1]


def test_the_picture_is_that_of_a_view(capsys: pytest.CaptureFixture[str]) -> None:
    for view in (None, 0, 1):
        game = env("thetree", render_mode="ansi", view=view)
        game.reset(seed=1)
        assert game.render() == game.unwrapped.position.picture(view)
    game = env("blooms", render_mode="human", size=3)
    game.reset()
    game.step(0)
    assert capsys.readouterr().out.startswith(str(game.unwrapped.position))


def test_what_cannot_be_an_environment_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(GAMES, "bid", Bid())
    with pytest.raises(UsageError, match="`bid` has no encoding"):
        env("bid")
    with pytest.raises(UsageError, match="unknown game `chess`"):
        env("chess")
    with pytest.raises(GameOptionError, match="`size` is `99`"):
        env("blooms", size=99)
    with pytest.raises(UsageError, match="render mode `video`"):
        env("blooms", render_mode="video")
