"""The engines for bots in Python: what a bot was told becomes a position, and positions are played out."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from types import SimpleNamespace
from typing import Any

import pytest

from referee import kit
from referee.check.rules import random_game
from referee.core.errors import GameOptionError, UsageError
from referee.core.seeds import Random, Stream
from referee.games import GAMES
from referee.games.api import State
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


@pytest.mark.parametrize("numbers", [Quick, lambda seed: Stream(str(seed).encode())], ids=["quick", "stream"])
@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_a_playout_goes_as_move_by_move_and_changes_no_position(
    slug: str, given: dict[str, str], numbers: Callable[[int], Random]
) -> None:
    """Playouts work in place; a policy makes one play by `sample` and `play`, which the slow games check."""

    def by_sample(state: State[Any], seat: int, rng: Random) -> Any:
        return state.sample(seat, rng)

    game = GAMES[slug]
    options = game.settle(given)
    states = [game.start(options), *islice(random_game(game, options, "playouts"), 1, 40, 6)]
    states.append(states[-1].drop([0]))
    for number, state in enumerate(states):
        news = [state.seen(seat) for seat in (None, *range(game.seats(options)))]
        legal = {seat: list(islice(state.legal(seat), 50)) for seat in state.to_act() if seat >= 0}
        picture = state.picture(None)
        quick, slow = numbers(number), numbers(number)
        assert playout(state, quick) == playout(state, slow, by_sample)
        assert quick.below(1 << 30) == slow.below(1 << 30), "the same numbers were drawn"
        assert news == [state.seen(seat) for seat in (None, *range(game.seats(options)))]
        assert legal == {seat: list(islice(state.legal(seat), 50)) for seat in state.to_act() if seat >= 0}
        assert state.picture(None) == picture


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


def played(slug: str, given: dict[str, str], seed: int = 1) -> Iterator[kit.Position]:
    """The positions of a random game."""
    rng = Quick(seed)
    position = kit.new(slug, given, seed=seed)
    yield position
    while not position.is_over:
        position = position.play({seat: position.sample(rng, seat) for seat in position.to_act()})
        yield position


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_a_game_is_played_to_its_end_by_texts_and_by_moves(slug: str, given: dict[str, str]) -> None:
    by_move, by_text = kit.new(slug, given, seed=1), kit.new(slug, given, seed=1)
    rng = Quick(2)
    while not by_move.is_over:
        moves = {seat: by_move.sample(rng, seat) for seat in by_move.to_act()}
        texts = {seat: by_move.write(move) for seat, move in moves.items()}
        by_move, by_text = by_move.play(moves), by_text.play(texts)
        assert by_move.news(None) == by_text.news(None)
    outcome = by_move.outcome()
    assert outcome and by_move.rewards() == kit.rewards(outcome)
    assert len(outcome.ranks) == by_move.seats


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_chance_is_drawn_from_the_seed_or_left_to_the_caller(slug: str) -> None:
    one, same, other = (kit.new(slug, seed=seed) for seed in (1, 1, 2))
    assert one.news(None) == same.news(None) != other.news(None)
    assert kit.new(slug).news(None) != kit.new(slug).news(None)
    explicit = kit.new(slug, explicit_chance=True)
    assert explicit.is_chance and not explicit.news(None)
    with pytest.raises(ValueError, match="to act"):
        explicit.turn  # noqa: B018
    with pytest.raises(kit.BadChance):
        explicit.chance("nonsense")
    while explicit.is_chance:
        explicit = explicit.chance(explicit.draw(Quick(1)))
    assert explicit.to_act() == one.to_act()


@pytest.mark.parametrize("slug", ["floral", "thetree"])
def test_what_is_imagined_agrees_with_the_news_and_with_nothing_else(slug: str) -> None:
    for position in islice(played(slug, {}), 0, 20, 9):
        rng = Quick(1)
        imagined = [position.imagine(0, rng) for _ in range(4)]
        assert {other.news(0) for other in imagined} == {position.news(0)}
        assert len({other.news(1) for other in imagined}) > 1
        again = kit.imagine(slug, 0, position.news(0), Quick(1))
        assert again.news(None) == imagined[0].news(None)
        assert again.playout(rng).ranks


def test_moves_are_listed_counted_and_drawn() -> None:
    position = kit.new("blooms", size=3).play("L:A1")
    moves = list(position.legal())
    assert len(moves) == position.count() == 18 * 19
    assert list(position.legal_texts())[:2] == ["L:A2", "D:A2"]
    assert position.read("d:b2 l:a2") in moves and position.sample(Quick(1)) in moves
    some = position.some_legal(10, Quick(1))
    assert some.sampled and some.total == 342 and len({*some.moves}) == 10
    assert kit.new("vinetree").count() is None


@pytest.mark.parametrize("text", ["L:D4 L:D5", "nonsense", "L:Z9"])
def test_a_text_is_checked_before_it_is_played(text: str) -> None:
    with pytest.raises(kit.Refusal):
        kit.new("blooms").play(text)


def test_only_the_seats_that_act_play() -> None:
    position = kit.new("blooms")
    for wrong in ({1: "L:D4"}, {0: "L:D4", 1: "L:D5"}, {}):
        with pytest.raises(ValueError, match="to act"):
            position.play(wrong)
    with pytest.raises(ValueError, match="to act"):
        position.legal(1)
    with pytest.raises(ValueError, match="to act"):
        kit.new("blooms").drop([0]).turn  # noqa: B018


def test_a_position_is_never_changed() -> None:
    position = kit.new("thetree", seed=1)
    before = position.news(None)
    for _ in range(3):
        position.play(position.sample(Quick(1))).playout(Quick(2))
        position.drop([0])
    assert position.news(None) == before and not position.is_over


def test_a_picture_is_that_of_a_seat() -> None:
    position = kit.new("thetree", seed=1)
    assert str(position) == position.picture() != position.picture(0)
    assert position.picture(0) == position.imagine(0, Quick(1)).picture(0)


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [((1, 2), (1, -1)), ((1, 1), (0, 0)), ((1,), (1,)), ((2,), (-1,)), ((2, 1, 4, 2), (0, 1, -1, 0))],
)
def test_rewards_are_made_from_ranks(ranks: tuple[int, ...], expected: tuple[float, ...]) -> None:
    assert kit.rewards(kit.Outcome(ranks, (0,) * len(ranks), "")) == expected


def test_a_playout_follows_its_policy() -> None:
    def first(state: kit.State[Any], seat: int, rng: kit.Random) -> Any:
        return next(state.legal(seat))

    ends = {kit.new("evengroups", size=3).playout(Quick(seed), first) for seed in range(5)}
    assert len(ends) == 1


def test_a_bot_gets_positions_too() -> None:
    state = kit.new("thetree", seed=1)
    told = SimpleNamespace(slug="thetree", seat=1, news=list(state.news(0)), options={})
    follower = Follower(told, Quick(1))
    assert follower.seat == 0
    position = follower.position()
    assert position.news(0) == state.news(0) and position.playout(Quick(1)).ranks


def test_options_and_games_are_checked() -> None:
    with pytest.raises(UsageError):
        kit.new("chess")
    with pytest.raises(GameOptionError):
        kit.new("blooms", size=99)


@pytest.mark.slow
def test_the_kit_is_imported_without_what_only_the_referee_needs() -> None:
    heavy = ("click", "rich", "numpy", "asyncio")
    code = f"import sys, referee.kit; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n", done.stderr
