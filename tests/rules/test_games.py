"""What holds for every game, whatever its rules are."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import pytest

from referee.cli.show import painted
from referee.core.rng import Stream
from referee.core.text import shown
from referee.core.timecontrol import TimeControl
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import BadChance, Game, NotAMove, Options, Refusal, Seat, State
from referee.kit import step
from referee.records.record import GameRecord, from_json, to_json
from referee.records.replay import verify
from tests.rules.random_play import CASES, NAMES, is_chance, quick_first, random_game
from tests.tools.golden import GOLDEN, file_of, golden
from tests.unit.scripted import Answering, Events, Said, ScriptedWire

LISTED = 400
"""Legal moves of a state that are looked at."""


@pytest.fixture(params=CASES, ids=NAMES)
def case(request: pytest.FixtureRequest) -> tuple[Game[Any], Options]:
    slug, given = request.param
    return GAMES[slug], GAMES[slug].settle(given)


def mutants(text: str, rng: Stream) -> Iterable[str]:
    """Texts that are nearly a move."""
    alphabet = "ABCDEFGHILORSUWXZ0123456789:-@, {}abdul\té"
    for _ in range(6):
        at = rng.below(len(text) + 1)
        letter = alphabet[rng.below(len(alphabet))]
        yield text[:at] + letter + text[at + rng.below(2) :]
    yield text + " " + text
    yield text[:-1]
    yield text[::-1]
    yield ""


def test_random_games_end_and_moves_round_trip(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    for number in range(4):
        moves = 0
        rng = Stream(f"texts {number}".encode())
        for state in random_game(game, options, f"{number}"):
            if is_chance(state):
                continue
            for seat in state.to_act():
                moves += 1
                legal = list(islice(state.legal(seat), LISTED))
                assert legal and state.any_legal(seat)
                assert len(set(legal)) == len(legal)
                count = state.count(seat)
                assert count is None or len(legal) == min(count, LISTED)
                complete = len(legal) < LISTED
                for move in legal[:: max(1, len(legal) // 20)]:
                    assert state.read(seat, state.write(move)) == move
                    assert state.read(seat, f"  {state.write(move).lower()} ") == move
                sampled = state.sample(seat, rng)
                assert not complete or sampled in legal
                assert state.read(seat, state.write(sampled)) == sampled
                for text in mutants(state.write(sampled), rng):
                    try:
                        read = state.read(seat, text)
                    except Refusal as refusal:
                        assert refusal.reason and " " not in refusal.reason
                        assert isinstance(refusal, NotAMove) == (refusal.reason == "not-a-move")
                        assert shown(refusal.sentence) == refusal.sentence and len(refusal.sentence) < 300
                    else:
                        assert not complete or read in legal, f"{text} is not legal"
        assert moves <= game.longest(options)
        outcome = state.outcome()
        assert outcome and state.to_act() == ()
        assert len(outcome.ranks) == len(outcome.scores) == game.seats(options)
        assert all(rank >= 1 for rank in outcome.ranks) and outcome.sentence
        assert min(outcome.ranks) == 1 or game.seats(options) == 1


def test_hostile_texts_are_refused(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    texts = ["", " ", "\t", "x" * 5000, "9" * 5000, "0-0@" + "9" * 5000 + ",0", "L:A" + "9" * 5000]
    texts += ["A1 " * 1300, "\x1b[2J", "ß", "Ａ１", "-0", "@", "move"]
    for state in islice(random_game(game, options, "hostile"), 30):
        for seat in () if is_chance(state) else state.to_act():
            for text in texts:
                with pytest.raises(Refusal) as refusal:
                    state.read(seat, text)
                assert len(str(refusal.value)) < 400 and shown(str(refusal.value)) == str(refusal.value)


def test_what_is_seen_only_grows(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    audiences: list[Seat | None] = [None, *range(game.seats(options))]
    before: dict[Seat | None, tuple[str, ...]] = dict.fromkeys(audiences, ())
    for state in random_game(game, options, "seen"):
        for audience in audiences:
            lines = state.seen(audience)
            assert lines[: len(before[audience])] == before[audience]
            assert all(shown(line) == line and len(line) < 1000 for line in lines)
            before[audience] = lines
    assert all(before.values())


def looks(state: State[Any], seat: Seat) -> tuple[object, ...]:
    """All that a seat can learn from a state: news, picture, what is legal and why other things are not."""
    acts = seat in state.to_act()
    legal = [state.write(move) for move in islice(state.legal(seat), LISTED)] if acts else []
    answers = []
    for text in ("A", "S", "5-1@0,2", "0", "-", "A1", "L:A1", "O:A1 W:A2") if acts else ():
        try:
            answers.append(state.write(state.read(seat, text)))
        except Refusal as refusal:
            answers.append(refusal.sentence)
    default = state.default(seat) if acts else None
    return state.seen(seat), painted(state.picture(seat), False), acts, legal, answers, default


@pytest.mark.parametrize("number", quick_first([0, 1], 1))
def test_states_that_differ_in_what_a_seat_cannot_see_look_alike_to_it(
    case: tuple[Game[Any], Options], number: int
) -> None:
    game, options = case
    rng = Stream(b"imagined")
    differ = 0
    for state in list(random_game(game, options, f"alike {number}"))[1:25:2]:
        for seat in range(game.seats(options)):
            imagined = game.imagine(options, seat, state.seen(seat), rng)
            assert looks(imagined, seat) == looks(state, seat)
            differ += imagined.seen(None) != state.seen(None)
    assert (differ == 0) == game.is_open or game.seats(options) == 1


def test_an_imagined_game_plays_on_to_its_end(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    rng = Stream(b"on")
    for state in list(random_game(game, options, "on"))[1:20:4]:
        seat = max(0, min(state.to_act(), default=0))
        imagined = game.imagine(options, seat, state.seen(seat), rng)
        while imagined.outcome() is None:
            imagined = step(imagined, rng)


def test_seats_that_leave_one_by_one_always_lead_to_an_outcome(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    seats = game.seats(options)
    for number in range(12):
        rng = Stream(f"leave {number}".encode())
        state = game.start(options)
        for _ in range(rng.below(12)):
            if state.outcome() is None:
                state = step(state, rng)
        here = set(range(seats))
        over = state.outcome()
        while state.outcome() is None:
            leaving = {seat for seat in here if rng.below(2)} or {min(here)}
            state = state.drop(leaving)
            here -= leaving
            for _ in range(rng.below(6)):
                if state.outcome() is None:
                    state = step(state, rng)
                    assert not set(state.to_act()) - here - {-1, -2}, "who has left is not asked"
        outcome = state.outcome()
        assert outcome and (over or len(here) < seats)
        if not over and 0 < len(here) < seats:
            assert min(outcome.ranks[seat] for seat in here) == 1


def fingerprint(state: State[Any], seats: int) -> tuple[object, ...]:
    views: list[object] = [looks(state, seat) for seat in range(seats)] if not is_chance(state) else []
    return state.seen(None), painted(state.picture(None), True), state.to_act(), state.outcome(), views


def test_states_are_immutable(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    seats = game.seats(options)
    rng = Stream(b"immutable")
    for state in list(random_game(game, options, "immutable"))[:20]:
        before = fingerprint(state, seats)
        if state.outcome() is None:
            state.drop([0])
            for _ in range(3):
                after = step(state, rng)
                after.seen(None)
                if after.outcome() is None:
                    step(after, rng)
        assert fingerprint(state, seats) == before


def test_chance_takes_only_what_it_gives(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    state = game.start(options)
    rng = Stream(b"chance")
    while is_chance(state):
        text = state.draw(rng)
        for bad in ("", text[:-1], text + " ", text.upper() + "x", text + ";", "0" * 5000, f" {text}"):
            with pytest.raises(BadChance):
                state.chance(bad)
        state = state.chance(text)
    with pytest.raises(BadChance):
        state.chance("heads")
    with pytest.raises(BadChance):
        state.draw(rng)


class Sampler(Answering):
    """A bot that plays what the state of the match says is legal, at random, and sometimes something else."""

    def __init__(self, seat: Seat, events: Events, seed: str) -> None:
        self.seat = seat
        self.events = events
        self.rng = Stream(f"{seed} {seat}".encode())
        self.state: State[Any] | None = None

    def answer(self, number: str) -> Iterator[Said]:
        state = self.events.states[-1] if self.events.states else self.state
        assert state
        move = state.write(state.sample(self.seat, self.rng)) if self.rng.below(20) else "nonsense"
        yield self.rng.below(1000), f"move {number} {move}\n".encode()


def matched(game: Game[Any], options: Options, seed: str) -> GameRecord:
    """A random game through the real match."""
    seats = game.seats(options)
    control = TimeControl.parse("1s")
    names = tuple("abcd"[:seats])
    terms = Terms("1:" + ":".join(names), game, options, names, (control,) * seats, seed.encode(), b"shared")
    events = Events()
    bots = [Sampler(seat, events, seed) for seat in range(seats)]
    for bot in bots:
        bot.state = game.start(options)
    verdict = play(terms, ScriptedWire(*bots), seeded_dice(terms), events)
    return GameRecord(terms, tuple(events.all), verdict, {}, game.rules)


def test_the_same_seed_is_the_same_game_and_its_record_plays_again(case: tuple[Game[Any], Options]) -> None:
    game, options = case
    made = matched(game, options, "seed")
    assert matched(game, options, "seed") == made
    assert matched(game, options, "other") != made
    value = json.loads(json.dumps(to_json(made)))
    assert from_json(value) == made
    verify(value)


@pytest.mark.parametrize(("slug", "given"), CASES, ids=NAMES)
def test_the_golden_games_are_played_as_they_were(slug: str, given: dict[str, str]) -> None:
    """`python -m tests.tools.golden` writes them anew."""
    assert file_of(slug, given).read_text() == golden(slug, given)


def test_every_golden_game_is_one_of_these() -> None:
    assert set(GOLDEN.iterdir()) == {file_of(*case) for case in CASES}
