"""When a tournament stops before its schedule ends."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import pytest

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.seeds import Stream
from referee.records.record import Summary
from referee.tournament.formats.fixed import Gauntlet, RoundRobin
from referee.tournament.schedule import Encounter, encounter
from referee.tournament.stopping import (
    MIN_GAMES,
    Sprt,
    Stopping,
    StoppingRule,
    stopping_rule_from_header,
    stopping_rule_of,
)

WIN, DRAW, LOSS = (1, 2), (1, 1), (2, 1)


def game(game_id: str, ranks: tuple[int, ...], digest: str = "", rated: bool = True) -> Summary:
    bots = tuple(game_id.split(":")[1:])
    faults = ("",) * len(bots)
    return Summary(game_id, 1, "toy", bots, ranks, ranks, "rules", "", rated, faults, digest=digest)


def played(one: Encounter, *ranks: tuple[int, ...]) -> list[Summary]:
    return [
        game(pairing.id, found, digest=pairing.id) for pairing, found in zip(one.games, ranks, strict=True)
    ]


def rule(text: str) -> StoppingRule:
    return stopping_rule_of(Fields(tomllib.loads(text), "tournament", UsageError))


# --- Settings --------------------------------------------------------------------------------------------


def test_settings_from_text_and_table_and_back_from_a_header() -> None:
    assert Sprt.parse("0,10") == Sprt(0, 10, 0.05, 0.05, "logistic")
    assert Sprt.parse("-1.5, 2.5, 0.01, 0.1, normalized") == Sprt(-1.5, 2.5, 0.01, 0.1, "normalized")
    assert Sprt.parse("0,10,normalized") == Sprt(0, 10, model="normalized")
    assert rule('sprt = "0,10"') == rule("sprt = { elo0 = 0, elo1 = 10.0 }") == StoppingRule(Sprt(0, 10))
    both = rule('sprt = { elo0 = 0, elo1 = 5, beta = 0.1, model = "normalized" }\nstop = { interval = 20 }')
    assert both == StoppingRule(Sprt(0, 5, 0.05, 0.1, "normalized"), 20)
    for given in (both, StoppingRule(), rule("stop = { interval = 2.5 }")):
        assert stopping_rule_from_header(json.loads(json.dumps(given.header()))) == given
    assert StoppingRule().header() == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('sprt = "0;10"', "`tournament.sprt`: `0;10` is not a sequential test, expected `ELO0,ELO1"),
        ('sprt = "0,10,0.05"', "is not a sequential test"),
        ('sprt = "0,nan"', "is not a sequential test"),
        ('sprt = "0,1e3"', "is not a sequential test"),
        ('sprt = ""', "is not a sequential test"),
        ('sprt = "10,0"', "`tournament.sprt`: `elo1` is 0, expected more than `elo0`, which is 10"),
        ('sprt = "0,0"', "expected more than"),
        ('sprt = "0,10,0.5,0.05"', "`alpha` is 0.5, expected more than 0 and less than 0.5"),
        ('sprt = "0,10,0.05,0"', "`beta` is 0, expected more than 0 and less than 0.5"),
        ('sprt = "0,1001"', "`elo1` is 1001, expected -1000 to 1000 with the model `logistic`"),
        ('sprt = "0,101,normalized"', "`elo1` is 101, expected -100 to 100 with the model `normalized`"),
        ("sprt = 5", "`tournament.sprt` is `5`, expected a string or a table"),
        ("sprt = { elo0 = 0 }", "`tournament.sprt.elo1` is missing, expected a number"),
        ("sprt = { elo0 = nan, elo1 = 5 }", "`tournament.sprt.elo0` is `nan`, expected a number"),
        ("sprt = { elo0 = 0, elo1 = inf }", "`tournament.sprt.elo1` is `inf`, expected a number"),
        ("sprt = { elo0 = 0, elo1 = true }", "`tournament.sprt.elo1` is `true`, expected a number"),
        ("sprt = { elo = 0 }", "unknown key `tournament.sprt.elo`, expected `elo"),
        (
            'sprt = { elo0 = 0, elo1 = 5, model = "logistics" }',
            "`tournament.sprt.model` is `logistics`, expected one of logistic, normalized",
        ),
        ("stop = 20", "`tournament.stop` is `20`, expected an object"),
        ("stop = { interval = 0 }", "`tournament.stop.interval` is `0`, expected a number from 1 to 1000"),
        ("stop = { width = 20 }", "unknown key `tournament.stop.width`"),
    ],
)
def test_settings_that_are_refused(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        rule(text)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_header_that_does_not_hold_a_rule_is_damage() -> None:
    with pytest.raises(RecordError, match="elo1"):
        stopping_rule_from_header({"sprt": {"elo0": 5, "elo1": 0}})


def test_rules_that_do_not_fit_the_tournament() -> None:
    test, width = StoppingRule(Sprt(0, 10)), StoppingRule(interval=20)
    test.check(2, 2, RoundRobin().tested("ab"))
    test.check(4, 2, Gauntlet(against=("a",)).tested("abcd"))
    width.check(3, 3)
    for given, names, seats, message in (
        (test, "abc", 2, "compares two bots"),
        (test, "ab", 3, "needs a game with 2 seats"),
        (width, "ab", 1, "do not give"),
    ):
        with pytest.raises(UsageError, match=message):
            given.check(len(names), seats, RoundRobin().tested(names))


# --- Tests -----------------------------------------------------------------------------------------------


def rounds(count: int, *pairs: str, seed: str = "rounds") -> Iterator[tuple[Encounter, list[Summary]]]:
    """Encounters of pairs of bots with their results: the first bot wins half the games, and draws some."""
    rng = Stream(seed.encode())
    for number in range(1, count + 1):
        for pair in pairs:
            found = encounter(number, tuple(pair))
            ranks = [(WIN, WIN, DRAW, LOSS)[rng.below(4)] for _ in range(2)]
            yield found, played(found, ranks[0], ranks[1][::-1])


def stopping(text: str, names: str, against: str = "", repeats: str = "cluster") -> Stopping:
    form = Gauntlet(against=tuple(against)) if against else RoundRobin()
    return Stopping(rule(text), list(names), form.tested(names), repeats)


def test_a_match_is_decided_once_and_for_all() -> None:
    state = stopping('sprt = "0,100"', "ab")
    assert state.progress() == "LLR +0.00 [−2.94, 2.94]" and state.decision is None
    decided_at, decision = 0, ""
    for number, (one, games) in enumerate(rounds(300, "ab"), 1):
        state.add(one, games)
        if state.decision and not decided_at:
            decided_at, decision = number, state.decision
    assert 10 < decided_at < 200
    assert state.decision == decision, "what came after it changes nothing"
    assert decision.startswith("H1 accepted: +100 Elo fits `a` − `b` better than +0, LLR +")
    assert decision.endswith(f"after {decided_at} pairs")
    assert state.progress().endswith(", H1 accepted")


def test_the_first_bot_that_was_named_is_compared_with_the_second() -> None:
    for names, accepted in (("ab", "H1"), ("ba", "H0")):
        state = stopping('sprt = "0,100"', names)
        for one, games in rounds(300, "ab"):
            state.add(one, games)
        assert state.decision is not None and state.decision.startswith(accepted)


def test_a_pair_of_which_a_game_is_not_rated_or_was_annulled_does_not_count() -> None:
    state = stopping('sprt = "0,100"', "ab")
    first, second, third = (encounter(number, ("a", "b")) for number in (1, 2, 3))
    games = played(first, WIN, LOSS)
    state.add(first, [games[0], games[1]._replace(rated=False)])
    state.add(second, played(second, WIN, LOSS)[:1])
    assert state.tests[frozenset("ab")].counts == [0, 0, 0, 0, 0]
    state.add(third, played(third, WIN, DRAW))
    assert state.tests[frozenset("ab")].counts == [0, 0, 0, 1, 0]


def test_a_pair_that_repeats_earlier_games_does_not_count_unless_repeats_do() -> None:
    for repeats, counted in (("cluster", 2), ("count", 4)):
        state = stopping('sprt = "0,100"', "ab", repeats=repeats)
        for number, digests in enumerate(("xy", "xy", "xz", "xy"), 1):
            one = encounter(number, ("a", "b"))
            games = zip(one.games, (WIN, LOSS), digests, strict=True)
            state.add(one, [game(pairing.id, ranks, digest) for pairing, ranks, digest in games])
        assert sum(state.tests[frozenset("ab")].counts) == counted


def test_the_same_events_in_another_section_are_no_repeat() -> None:
    state = stopping('sprt = "0,100"', "ab")
    for section in ("small", "large"):
        one = encounter(1, ("a", "b"), section=section)
        state.add(one, [game(pairing.id, DRAW, "same") for pairing in one.games])
    assert sum(state.tests[frozenset("ab")].counts) == 2


def test_each_challenger_of_a_gauntlet_is_tested_against_each_opponent() -> None:
    state = stopping('sprt = "0,150"', "xaby", against="xy")
    assert {(test.one, test.other) for test in state.tests.values()} == {
        ("a", "x"),
        ("a", "y"),
        ("b", "x"),
        ("b", "y"),
    }
    first, second = encounter(1, ("a", "x")), encounter(2, ("a", "y"))
    for one, games in rounds(300, "ax", "bx"):
        if not state.skips(one):
            state.add(one, games)
    assert state.skips(first) and not state.skips(second)
    assert state.decision is None
    assert state.progress() == "2 of 4 tests decided; closest a–y: LLR +0.00 [−2.94, 2.94]"
    for one, games in rounds(300, "ay", "by"):
        state.add(one, games)
    assert state.decision == "4 of 4 tests are decided"


def test_games_in_progress_at_the_decision_do_not_matter() -> None:
    """A worker may still play when a test is decided. The run that continues has those games and decides the
    same: it skips their encounter, and if it did not, the decided test would not change.
    """
    through, skipping = (stopping('sprt = "0,150"', "ab") for _ in range(2))
    for one, games in rounds(300, "ab"):
        through.add(one, games)
        if not skipping.skips(one):
            skipping.add(one, games)
    assert through.decision == skipping.decision is not None


def carried_out(
    found: Sequence[tuple[Encounter, list[Summary]]], fresh: Callable[[], Stopping], rng: Stream
) -> tuple[Stopping, int]:
    """The end of a run with three workers, in which encounters end in any order, and which is stopped and
    continued now and then; and how often that was.
    """
    results = dict(found)
    finished: set[Encounter] = set()
    for stops in range(1000):
        state, place, playing = fresh(), 0, list[Encounter]()
        while stops == 0 or rng.below(20):
            while place < len(found) and not state.decision:
                one = found[place][0]
                if state.skips(one):
                    place += 1
                elif one in finished:
                    state.add(one, results[one])
                    place += 1
                else:
                    break
            left = (one for one, _ in found[place:] if not (one in finished or one in playing))
            playing += islice((one for one in left if not state.skips(one)), 3 - len(playing))
            if state.decision or not playing:
                return state, stops
            finished.add(playing.pop(rng.below(len(playing))))
            if not stops and len(finished) > 20:
                break
    raise AssertionError("it was never decided")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "names", "against", "pairs"),
    [
        ('sprt = "0,100"', "ab", "", ["ab"]),
        ('sprt = "0,150"', "xaby", "xy", ["ax", "ay", "bx", "by"]),
        ("stop = { interval = 60 }", "abc", "", ["ab", "ac", "bc"]),
    ],
)
def test_the_order_in_which_games_end_and_stops_change_no_decision(
    text: str, names: str, against: str, pairs: list[str]
) -> None:
    for number in range(3):
        found = list(rounds(150, *pairs, seed=f"history {number}"))
        plain = stopping(text, names, against)
        for one, games in found:
            if not plain.decision and not plain.skips(one):
                plain.add(one, games)
        state, stops = carried_out(
            found, lambda: stopping(text, names, against), Stream(f"order {number}".encode())
        )
        assert state.decision == plain.decision is not None
        decisions = [[test.result() for test in end.tests.values()] for end in (state, plain)]
        assert decisions[0] == decisions[1]
        assert stops > 0


# --- Intervals -------------------------------------------------------------------------------------------


def decided_after(found: Sequence[tuple[Encounter, list[Summary]]], text: str, names: str) -> int:
    state = stopping(text, names)
    for number, (one, games) in enumerate(found):
        if state.decision:
            return number
        state.add(one, games)
    return len(found)


@pytest.mark.slow
def test_it_stops_when_all_intervals_are_narrow_at_the_end_of_a_round() -> None:
    found = list(rounds(200, "ab", "ac", "bc"))
    wide, narrow = (decided_after(found, f"stop = {{ interval = {elo} }}", "abc") for elo in (60, 40))
    assert 0 < wide < narrow < len(found)
    assert wide % 3 == narrow % 3 == 1, "after the first encounter of a round: the round before it is over"
    state = stopping("stop = { interval = 40 }", "abc")
    for one, games in found[:narrow]:
        state.add(one, games)
    assert state.decision == "every interval is ± 40 Elo or less"
    assert state.widest is not None and 30 < state.widest <= 40
    assert state.progress() == f"widest interval ± {state.widest:.0f}, stops at ± 40"


def test_few_games_do_not_stop_it_however_alike_they_are() -> None:
    def drawn() -> Iterator[tuple[Encounter, list[Summary]]]:
        for number in range(1, 100):
            one = encounter(number, ("a", "b"))
            yield one, played(one, DRAW, DRAW)

    assert decided_after(list(drawn()), "stop = { interval = 200 }", "ab") == MIN_GAMES // 2 + 1


@pytest.mark.slow
def test_a_bot_that_won_all_has_no_interval_to_be_narrow() -> None:
    state = stopping("stop = { interval = 1000 }", "ab")
    for number in range(1, 50):
        one = encounter(number, ("a", "b"))
        state.add(one, played(one, WIN, LOSS))
    assert state.decision is None
    assert state.progress() == "stops at ± 1000"


@pytest.mark.slow
def test_games_that_repeat_do_not_make_intervals_narrow() -> None:
    for repeats, narrow in (("cluster", False), ("count", True)):
        state = stopping("stop = { interval = 100 }", "ab", repeats=repeats)
        for number in range(1, 200):
            one = encounter(number, ("a", "b"))
            ranks, digest = ((WIN, DRAW), "x") if number % 2 else ((LOSS, WIN), "y")
            state.add(one, [game(g.id, r, digest) for g, r in zip(one.games, ranks, strict=True)])
        assert (state.decision is not None) == narrow


@pytest.mark.slow
def test_the_intervals_of_bots_that_are_out_do_not_matter() -> None:
    found = [*rounds(1, "ac"), *rounds(400, "ab")]
    given = rule("stop = { interval = 60 }")
    for out, decision in (((), None), (("c",), "every interval is ± 60 Elo or less")):
        state = Stopping(given, list("abc"), out=out)
        for one, games in found:
            state.add(one, games)
        assert state.decision == decision
