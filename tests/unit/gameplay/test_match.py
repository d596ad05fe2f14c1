"""The match's verdicts, on a scripted wire: no process, no sleeping."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from referee.core.settings import MARGIN_US
from referee.core.units import TimeControl
from referee.gameplay.api import Failure, Question
from referee.gameplay.events import Drawn, Ending, Moved, Rejected, Retired, Unplayed
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms, Verdict
from referee.games import GAMES
from referee.games.api import Game, Outcome
from referee.games.blooms import BloomsState
from tests.unit.scripted import Bot, Events, Said, ScriptedWire, listening, puppet, saying
from tests.unit.toys import Bid

CLOCK = TimeControl.parse("2s+6s/2s")
BUDGET_US = 8_000_000


def terms(game: Game[Any] | None = None, clock: TimeControl = CLOCK, **changes: Any) -> Terms:
    game = game or GAMES["blooms"]
    options = game.settle(changes.pop("options", {}))
    seats = game.seats(options)
    bots = tuple("abcd"[:seats])
    return Terms("1:a:b", game, options, bots, (clock,) * seats, b"seed", **changes)


def run(wire: ScriptedWire, what: Terms | None = None) -> tuple[Verdict, Events]:
    what = what or terms()
    events = Events()
    return play(what, wire, seeded_dice(what), events), events


# --- The table: what the bot answers, by when the answer is complete --------------------------------

TIMES = {
    "in its allowance": 1_000_000,
    "all its allowance": 2_000_000,
    "on the reserve": 2_000_001,
    "to the last µs": BUDGET_US,
    "within the margin": BUDGET_US + MARGIN_US,
    "1 µs beyond": BUDGET_US + MARGIN_US + 1,
}

LATE = "1 µs beyond"

TAKEN_US = {
    "in its allowance": 0,
    "all its allowance": 0,
    "on the reserve": 2_000_000,
    "to the last µs": 6_000_000,
    "within the margin": 6_000_000,
}

ANSWERS = {
    # answer: (bytes, the verdict in time)
    "legal": (b"move 1 L:D4\n", "moved"),
    "other case": (b"move 1  l:d4 \r\n", "moved"),
    "illegal": (b"move 1 L:D9\n", "rejected"),
    "not a move": (b"move 1 hello\n", "rejected"),
    "resign": (b"resign 1\n", "resigned"),
    "malformed": (b"move one\n", "protocol"),
    "not UTF-8": (b"move 1 \xff\n", "protocol"),
    "control": (b"move 1 L:D4\0\n", "protocol"),
    "mark": (b"\xef\xbb\xbfmove 1 L:D4\n", "protocol"),
    "never asked": (b"move 2 L:D4\n", "turn"),
    "ready again": (b"ready\n", "turn"),
    "hello again": (b"hello 1\n", "turn"),
    "long line": (b"x" * 4096 + b"\n", "flood"),
    "too much": ((b"x" * 999 + b"\n") * 1050, "flood"),
    "too many lines": (b"noise\n" * 10_001, "flood"),
    "too many lists": (b"list 1 1\n" * 17, "flood"),
    "gone": (b"", "gone"),
    "noise": (b"L:D4\n", "time"),
    "empty line": (b"\n", "time"),
    "no newline": (b"move 1 L:D4", "time"),
    "nothing": (None, "time"),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_verdicts_while_asked(answer: str) -> None:
    for when in TIMES:
        expect_verdict(answer, when)


def expect_verdict(answer: str, when: str) -> None:
    data, in_time = ANSWERS[answer]
    expected = "time" if when == LATE else in_time

    bot = puppet() if data is None else saying({"ask 1 ": (TIMES[when], data)})
    verdict, events = run(ScriptedWire(bot, puppet("{n}")))
    first = events.all[0]
    match expected:
        case "moved":
            assert isinstance(first, Moved) and first.text == "L:D4"
            assert first.charge.used_us == TIMES[when]
            assert first.charge.taken_us == TAKEN_US[when]
        case "rejected":
            assert isinstance(first, Rejected) and first.used_us == TIMES[when]
            assert verdict.ending is Ending.TIME, "it was asked again and said nothing"
        case word:
            assert verdict.ending.word == word
            assert isinstance(first, Retired) and first.seat == 0
            assert verdict.outcome.ranks == (2, 1)
            assert verdict.outcome.sentence == f"seat 1 {verdict.ending.sentence}"


# What is said before it is asked, judged when it is asked: the answer that follows is a good one.
OFF_TURN = {
    "the next answer": (b"move 2 L:A1\n", "turn"),
    "a number far ahead": (b"move 9 L:A1\n", "turn"),
    "the last answer again": (b"move 1 L:A1\n", "plays"),
    "resigning a closed question": (b"resign 1\n", "plays"),
    "listing a closed question": (b"list 1\n", "plays"),
    "malformed": (b"move\n", "protocol"),
    "noise": (b"still thinking\n", "plays"),
    "log": (b"log pondering\ninfo +3\n", "plays"),
    "flood": (b"# hm\n" * 10_001, "flood"),
    "long line": (b"x" * 5000, "flood"),
    "gone": (b"", "gone"),
}


@pytest.mark.parametrize("said", OFF_TURN)
def test_verdicts_before_it_is_asked(said: str) -> None:
    data, expected = OFF_TURN[said]
    wire: ScriptedWire

    def opponent(lines: list[str]) -> Iterable[Said]:
        for line in lines:
            if line.startswith("ask 1 "):
                wire.say_off_turn(0, data)
                yield 0, b"move 1 L:A1 D:A2\n"
            elif line.startswith("ask 2 "):
                yield 0, b"resign 2\n"
            else:
                yield from puppet()([line])

    wire = ScriptedWire(puppet("L:D4", "L:D5"), opponent)
    verdict, events = run(wire)
    moves = [event.text for event in events.all if isinstance(event, Moved)]
    if expected == "plays":
        assert moves == ["L:D4", "L:A1 D:A2", "L:D5"] and verdict.ending is Ending.RESIGNED
    else:
        assert verdict.ending.word == expected and verdict.outcome.ranks == (2, 1)
        assert moves == ["L:D4", "L:A1 D:A2"], "what the opponent did before still counts"
        assert events.all[-1] == Retired(0, verdict.ending, events.all[-1].detail, 0)  # type: ignore[union-attr]


def test_a_winning_move_counts_though_the_loser_is_gone() -> None:
    wire: ScriptedWire

    def winner(lines: list[str]) -> Iterable[Said]:
        answers = {"1": b"move 1 L:A2 D:B1\n", "2": b"move 2 L:B2\n"}
        for line in lines:
            if line.startswith("ask"):
                number = line.split()[1]
                if number == "2":
                    wire.say_off_turn(0, b"")
                yield 0, answers[number]
            else:
                yield from puppet()([line])

    wire = ScriptedWire(puppet("L:A1", "L:C3"), winner)
    verdict, _ = run(wire, terms(options={"size": "3", "target": "1"}))
    assert verdict.ending is Ending.RULES and verdict.outcome.ranks == (2, 1)


def test_every_bot_is_told_of_the_end() -> None:
    heard: list[list[str]] = [[], []]
    bots = (puppet("L:A1", "L:C3"), puppet("L:A2 D:B1", "L:B2"))
    wire = ScriptedWire(*map(listening, heard, bots))
    verdict, _ = run(wire, terms(options={"size": "3", "target": "1"}))
    assert verdict.outcome.ranks == (2, 1)
    assert [lines[-1].split()[0] for lines in heard] == ["end", "end"]


# At the start: everything but `hello` and `ready` in time did not start.
STARTS: dict[str, list[bytes]] = {
    "nothing": [],
    "no ready": [b"hello 1\n"],
    "gone": [b""],
    "gone after hello": [b"hello 1\n", b""],
    "another version": [b"hello 2\n"],
    "malformed hello": [b"hello\n"],
    "an answer": [b"move 1 L:D4\n"],
    "an answer for ready": [b"hello 1\n", b"move 1 L:D4\n"],  # dropped, and nothing else comes
    "hello twice": [b"hello 1\n", b"hello 1\n"],
    "a flood": [b"x" * 5000],
    "a banner and nothing": [b"Engine v1\n"],
}


def starting(answers: list[bytes]) -> Bot:
    left = list(answers)

    def bot(lines: list[str]) -> Iterable[Said]:
        if left and any(line.startswith(("hello", "prepare")) for line in lines):
            yield 0, left.pop(0)

    return bot


@pytest.mark.parametrize("start", STARTS)
def test_verdicts_at_the_start(start: str) -> None:
    verdict, events = run(ScriptedWire(puppet(), starting(STARTS[start])))
    assert verdict.ending is Ending.START and verdict.outcome.ranks == (1, 2) and verdict.rated
    assert [type(event) for event in events.all] == [Retired]


def test_nobody_starts() -> None:
    verdict, events = run(ScriptedWire(starting([]), starting([b"x"])))
    assert verdict.outcome.ranks == (1, 1) and not verdict.rated
    assert verdict.ending is Ending.START and len(events.all) == 2
    assert verdict.outcome.sentence == "seat 1 did not start, seat 2 did not start"


def test_a_banner_before_hello_does_no_harm() -> None:
    wire = ScriptedWire(starting([b"Engine v1\n\nhello 1\n", b"loading\nready\n"]), puppet("L:D4"))
    verdict, _ = run(wire)
    assert verdict.ending is Ending.TIME
    # What was said before there was a game counts in the first one.
    assert wire.sessions[0].extra_output.noise == ["Engine v1", "", "loading"]


# --- Each ending, and which of two applies -----------------------------------------------------------

LONG_LINE = b"x" * 5000 + b"\n"

BOTH = {
    # two things in one output, where either alone is an ending: (bytes, the verdict)
    "malformed, flood": (b"move one\n" + LONG_LINE, "protocol"),
    "flood, malformed": (LONG_LINE + b"move one\n", "flood"),
    "malformed, never asked": (b"move one\nmove 2 L:D4\n", "protocol"),
    "never asked, malformed": (b"move 2 L:D4\nmove one\n", "turn"),
    "resign, malformed": (b"resign 1\nmove one\n", "resigned"),
    "malformed, resign": (b"move one\nresign 1\n", "protocol"),
    "rejected too often, malformed": (b"move 1 L:D9\nmove one\n", "illegal"),
    "malformed, rejected too often": (b"move one\nmove 1 L:D9\n", "protocol"),
    "rejected too often, resign": (b"move 1 L:D9\nresign 1\n", "illegal"),
}


@pytest.mark.parametrize("said", BOTH)
def test_of_two_endings_the_first_that_was_said_applies_unless_time_was_up(said: str) -> None:
    data, in_time = BOTH[said]
    for late in (False, True):
        bot = saying({"ask 1 ": (BUDGET_US + MARGIN_US + late, data)})
        verdict, events = run(ScriptedWire(bot, puppet()), terms(rejections=1))
        assert verdict.ending.word == ("time" if late else in_time)
        assert [event.seat for event in events.all if isinstance(event, Retired)] == [0]


SHOWN = (Ending.LIMIT, Ending.VOID, Ending.OUT)
"""What lines never show: only processes and the encounter do."""


@pytest.mark.parametrize("ending", [ending for ending in Ending if ending.is_fault])
def test_a_failure_is_its_ending_but_at_the_start_only_if_it_is_a_forfeit(ending: Ending) -> None:
    failure = Failure(ending, "why")
    wire = ScriptedWire(puppet(), puppet())
    wire.fail(0, failure)
    verdict, events = run(wire)
    assert verdict.ending is (ending if ending in (Ending.VOID, Ending.OUT) else Ending.START)
    assert isinstance(events.all[0], Retired) and events.all[0].detail == "why"

    def opponent(lines: list[str]) -> Iterable[Said]:
        if any(line.startswith("ask 1 ") for line in lines):
            wire.fail(0, failure)
        return puppet("L:A1 D:A2")(lines)

    wire = ScriptedWire(puppet("L:D4"), opponent)
    verdict, events = run(wire)
    assert verdict.ending is ending and len(events.all) == 3


def test_every_ending_is_decided_in_this_file() -> None:
    tables = (*ANSWERS.values(), *OFF_TURN.values(), *BOTH.values())
    decided = {word for _, word in tables} | {ending.word for ending in SHOWN} | {"start", "rules"}
    missing = {ending.word for ending in Ending} - decided
    assert missing == set(), "`ANSWERS` in this file, or `SHOWN` if only a process can show it"


# --- Rejections --------------------------------------------------------------------------------------


def test_a_rejected_bot_is_told_why_and_its_clock_runs_on() -> None:
    said: list[str] = []
    bot = listening(said, puppet((500_000, "x"), (2_500_000, "L:D9"), (3_200_000, "L:D4")))
    _, events = run(ScriptedWire(bot, puppet("{n}")))
    assert [type(event) for event in events.all[:3]] == [Rejected, Rejected, Moved]
    assert "rejected 2 no-such-cell there is no cell D9 on a board of side 4" in said
    assert [line for line in said if line.startswith("ask")] == [
        "ask 1 2000 6000",
        "ask 2 1500 6000",
        "ask 3 0 5500",
    ]
    moved = events.all[2]
    assert isinstance(moved, Moved)
    assert moved.charge == (3_200_000, 1_200_000, 2_000_000, 4_000_000)


def test_the_limit_of_rejections_is_a_game_s_and_a_setting() -> None:
    def stubborn(lines: list[str]) -> Iterable[Said]:
        for line in lines:
            yield from puppet("L:Z9")([line])

    for limit in (1, 3, 10):
        verdict, events = run(ScriptedWire(stubborn, puppet()), terms(rejections=limit))
        assert verdict.ending is Ending.ILLEGAL and verdict.outcome.ranks == (2, 1)
        assert sum(isinstance(event, Rejected) for event in events.all) == limit
        assert "there is no cell Z9" in events.all[-1].detail  # type: ignore[union-attr]


def test_rejections_of_all_moves_of_a_game_count() -> None:
    mine = ["x", "L:D4", "x", "x", "L:D5"]
    verdict, events = run(ScriptedWire(puppet(*mine), puppet("L:A1", "L:A2")), terms(rejections=3))
    assert verdict.ending is Ending.ILLEGAL
    assert [event.text for event in events.all if isinstance(event, Moved)] == ["L:D4", "L:A1"]


def test_the_time_for_another_answer_is_what_the_first_left() -> None:
    verdict, events = run(ScriptedWire(puppet((7_000_000, "x"), (8_010_001, "L:D4")), puppet()))
    assert verdict.ending is Ending.TIME
    assert [type(event) for event in events.all] == [Rejected, Retired]


# --- Clocks over a game --------------------------------------------------------------------------------


def test_a_reserve_is_used_up_step_by_step_and_then_loses() -> None:
    mine = [(2_500_000, "L:A1"), (5_900_000, "L:A2"), (2_000_000, "L:A3"), (2_010_001, "L:A4")]
    verdict, events = run(ScriptedWire(puppet(*mine), puppet("L:D1", "L:D2", "L:D3", "L:D4")))
    charges = [event.charge for event in events.all if isinstance(event, Moved) and event.seat == 0]
    assert [(charge.taken_us, charge.reserve_us) for charge in charges] == [
        (2_000_000, 4_000_000),
        (4_000_000, 0),
        (0, 0),
    ]
    hint = "it answers, but too late: `ask` says how long it may take"
    assert verdict.ending is Ending.TIME and events.all[-1] == Retired(
        0, Ending.TIME, "its answer came too late: L:A4", 2_010_001, hint=hint
    )


def test_what_a_move_cost_is_told_with_the_next_question() -> None:
    said: list[str] = []
    run(ScriptedWire(listening(said, puppet((3_000_000, "L:A1"), "L:A2")), puppet("L:D1")))
    assert said[said.index("charged 1 3000000 2000000") :][:4] == [
        "charged 1 3000000 2000000",
        "news move 1 L:A1",
        "news move 2 L:D1",
        "ask 2 2000 4000",
    ]


def test_clocks_may_differ() -> None:
    slow, fast = TimeControl.parse("5s"), TimeControl.parse("1s")
    what = terms()
    odds = Terms("x", what.game, what.options, what.bots, (slow, fast), b"", b"", 0)
    answers = [(4_000_000, "L:A1"), (4_000_000, "L:A2")]
    verdict, _ = run(ScriptedWire(puppet(*answers), puppet((1_000_001, "L:D1"))), odds)
    assert verdict.ending is Ending.TIME and verdict.outcome.ranks == (1, 2)


# --- Lists of legal moves ----------------------------------------------------------------------------


def test_legal_moves_are_listed_capped_and_sampled() -> None:
    said: list[str] = []
    replies = {
        "ask 1 ": (0, b"list 1\n"),
        "legal 1 ": (5, b"move 1 L:D4\n"),
        "ask 2 ": (0, b"list 2 5\n"),
        "legal 2 ": (5, b"resign 2\n"),
    }
    run(ScriptedWire(listening(said, saying(replies)), puppet("L:A1 D:A2")))
    heads = [line for line in said if line.startswith("legal")]
    assert heads == ["legal 1 all 74 74", "legal 2 sample 5 1190"]
    assert sum(line.startswith("choice") for line in said) == 79


def test_a_bot_that_does_not_wait_for_its_list_just_plays() -> None:
    bot = saying({"ask 1 ": (0, b"list 1\nmove 1 L:D4\n")})
    _, events = run(ScriptedWire(bot, puppet("{n}")))
    assert isinstance(events.all[0], Moved)


# --- Both at once, chance, defaults, more than two seats -------------------------------------------


def bid(*bots: Bot, **changes: Any) -> tuple[Verdict, Events]:
    changes.setdefault("options", {"players": str(len(bots))})
    return run(ScriptedWire(*bots), terms(Bid(), TimeControl.parse("1s"), margin_us=0, **changes))


def of_kinds(lines: list[str], *words: str) -> list[str]:
    return [line for line in lines if line.startswith(words)]


def test_both_at_once_nobody_learns_the_other_s_move_first() -> None:
    heard: list[list[str]] = [[], []]
    # Seat 2 answers first, and is rejected once while seat 1 is still thinking.
    verdict, events = bid(
        listening(heard[0], puppet((900_000, "5"), (900_000, "4"))),
        listening(heard[1], puppet((10_000, "9"), (20_000, "3"), (10_000, "5"))),
    )
    assert verdict.ending is Ending.RULES
    assert [type(event) for event in events.all] == [Drawn, Moved, Rejected, Moved, Drawn, Moved, Moved]
    first, second = (event.text for event in events.all if isinstance(event, Drawn))
    one, other = (of_kinds(lines, "news", "rejected", "ask") for lines in heard)
    assert one == [f"news {first}", "ask 1 1000 0", "news bids 5 3", f"news {second}", "ask 2 1000 0"]
    assert other == [
        f"news {first}",
        "ask 1 1000 0",
        "rejected 1 not-a-move not a move, expected a number from 1 to 5",
        "ask 2 990 0",
        "news bids 5 3",
        f"news {second}",
        "ask 3 1000 0",
    ]


def test_a_default_is_submitted_and_the_seat_alone_is_told() -> None:
    heard: list[list[str]] = [[], []]
    verdict, events = bid(listening(heard[0], puppet(None, "4")), listening(heard[1], puppet("2", "3")))
    assert verdict.ending is Ending.RULES and verdict.outcome.ranks[0] in (1, 2)
    defaulted = [event for event in events.all if isinstance(event, Moved) and event.defaulted]
    assert [(event.seat, event.text) for event in defaulted] == [(0, "1")]
    assert "defaulted 1 1" in heard[0] and "charged 1 1000 0" in heard[1]
    assert not any("defaulted" in line for line in heard[1])


def test_faults_of_one_turn_are_held_and_leave_together() -> None:
    verdict, events = bid(puppet((900_000, "resign {n}")), puppet("list {n} x"), puppet("3"))
    assert [event.seat for event in events.all if isinstance(event, Retired)] == [0, 1]
    assert verdict.outcome.ranks == (2, 2, 1), "tied seats share the worst places"
    assert [event.text for event in events.all if isinstance(event, Unplayed)] == ["3"]


def test_both_fault_on_one_turn() -> None:
    verdict, _ = bid(puppet("list {n} x"), puppet("resign {n}"))
    assert verdict.outcome.ranks == (1, 1) and verdict.rated


@pytest.mark.parametrize(
    ("first", "second", "ending"),
    [("list {n} x", "resign {n}", Ending.RESIGNED), ("resign {n}", "list {n} x", Ending.PROTOCOL)],
)
@pytest.mark.parametrize("slower", [0, 1])
def test_of_two_that_leave_on_one_turn_the_later_seat_names_the_ending(
    first: str, second: str, ending: Ending, slower: int
) -> None:
    used_us = [900_000 if seat == slower else 1000 for seat in range(2)]
    verdict, _ = bid(puppet((used_us[0], first)), puppet((used_us[1], second)))
    assert verdict.ending is ending


def test_each_seat_is_told_a_seed_of_its_own() -> None:
    heard: list[str] = []
    bid(*(listening(heard, puppet("resign {n}")) for _ in range(2)))
    assert len(set(of_kinds(heard, "seed "))) == 2


def test_the_others_play_on() -> None:
    verdict, events = bid(puppet("3", "1", "4"), puppet("ready {n}"), puppet("2", "2", "3"))
    left = [event for event in events.all if isinstance(event, Retired)]
    assert [event.seat for event in left] == [1]
    assert verdict.ending is Ending.RULES and verdict.outcome.ranks[1] == 3
    assert [event.text for event in events.all if isinstance(event, Moved)] == ["1", "2", "4", "3"]


def test_chance_comes_from_the_seed_alone() -> None:
    def prizes(seed: bytes) -> list[str]:
        what = terms(Bid(), TimeControl.parse("1s"))
        what = Terms("x", what.game, what.options, what.bots, what.controls, seed)
        _, events = run(ScriptedWire(puppet("1", "2"), puppet("1", "2")), what)
        return [event.text for event in events.all if isinstance(event, Drawn)]

    assert prizes(b"one") == prizes(b"one")
    assert len({tuple(prizes(bytes([i]))) for i in range(10)}) > 5


def told_of_clocks(said: list[str], *answers: str) -> Bot:
    """A bot that asks for the other seats' clocks; what it is told is kept."""
    return listening(said, saying({"hello": (0, b"hello 1 clocks\n")}, puppet(*answers)))


def test_the_other_seat_s_clock_is_told_to_who_asked_for_it() -> None:
    said: list[str] = []
    run(ScriptedWire(told_of_clocks(said, "L:D4"), puppet((4_000_000, "L:A1"))))
    assert [line for line in said if line.startswith("reserve")] == ["reserve 2 6000", "reserve 2 4000"]


def test_reserves_are_no_news_in_games_of_hidden_information(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(Bid, "is_open", False)
    bid(told_of_clocks(said, "3", "2"), puppet("1", "2"))
    assert "ask 1 1000 0" in said and not any(line.startswith("reserve") for line in said)


def test_a_charge_and_a_default_are_told_once() -> None:
    said: list[str] = []
    bid(listening(said, puppet("3", "9", "x", "2")), puppet("1", "2", "3"), puppet("1", "2", "3"))
    assert len(of_kinds(said, "charged")) == 1
    said.clear()
    bid(listening(said, puppet(None, "9", "x", "2")), puppet("2", "3"), puppet("3", "2"))
    assert len(of_kinds(said, "defaulted")) == 1


def test_a_late_default_earns_no_increment() -> None:
    control = TimeControl.parse("200ms+100ms^1s")
    what = terms(Bid(), control)
    _, events = run(ScriptedWire(puppet(None, "3"), puppet("2", "3")), what)
    first, second = [event for event in events.all if isinstance(event, Moved)][:2]
    assert first.defaulted and first.charge.reserve_us == 0
    assert second.charge.reserve_us == 1_100_000


def test_a_turn_that_did_not_count_is_asked_anew_after_a_time_out_in_it() -> None:
    verdict, events = bid(puppet(None, "2", "3"), puppet("resign {n}"), puppet("4", "5", "4"))
    assert verdict.ending is Ending.RULES and verdict.outcome.ranks[1] == 3
    moves = [event.text for event in events.all if isinstance(event, Moved)]
    assert moves == ["2", "5", "3", "4"]


def test_a_turn_that_is_asked_anew_does_not_tell_of_the_charge_or_the_default_before_it_again() -> None:
    heard: list[list[str]] = [[], []]
    bots = (puppet(None, "2", "3"), puppet("3", "4", "5"))
    bid(*map(listening, heard, bots), puppet("4", "resign {n}"))
    first, second, third = (f"ask {number} 1000 0" for number in (1, 2, 3))
    one, other = (of_kinds(lines, "charged", "defaulted", "ask") for lines in heard)
    assert one == [first, "defaulted 1 1", second, third]
    assert other == [first, "charged 1 1000 0", second, third]


@pytest.mark.parametrize("late", ["move 18 4", "resign 18", "list 18", "move 18 nonsense"])
def test_an_answer_that_comes_after_the_default_and_before_the_next_question_is_dropped(late: str) -> None:
    """Before turn 16 seat 1 can plant and seat 2 cannot: between its default and its next question there is
    a question to the other seat alone.
    """
    never = "seq 5 < < < <"
    options = {"spells": f"{never}; {never}; {never}", "max_turns": "17"}
    said: list[str] = []

    def answers(plants: str, last: str | None) -> Iterator[str | None]:
        for plant in plants:
            yield from (plant, "1", "2", "3", "4", last if plant == "X" else "5")
        yield from ("-", "6", "7") if last else ("6", "7")

    class Late(ScriptedWire):
        def post(self, seat: int, question: Question) -> None:
            if question.defaulted:
                self.say_off_turn(seat, late.encode() + b"\n")
            super().post(seat, question)

    wire = Late(puppet(*answers("---", "5")), listening(said, puppet(*answers("CWX", None))))
    _, events = run(wire, terms(GAMES["floral"], TimeControl.parse("1s"), options=options))
    moved = [event for event in events.all if isinstance(event, Moved) and event.seat == 1]
    assert [number for number, event in enumerate(moved, 1) if event.defaulted] == [18]
    assert not any(isinstance(event, Rejected | Retired) for event in events.all)
    assert wire.sessions[1].extra_output.stale_count == 1
    assert not any(line.startswith(("rejected", "legal")) for line in said)
    assert sum(line.startswith("defaulted 18 ") for line in said) == 1


def test_a_list_is_never_longer_than_may_be_sent() -> None:
    said: list[str] = []
    bot = saying({"ask": (0, b"list 1 999999\n"), "legal": (5, b"resign 1\n")})
    run(ScriptedWire(puppet("L:A1"), listening(said, bot)), terms(options={"size": "8"}))
    kind, count, total = of_kinds(said, "legal")[0].split()[2:]
    assert kind == "sample" and int(count) <= 2000 and int(total) == 168 * 169


def test_info_is_of_one_answer_and_a_broken_conversation_is_over() -> None:
    bot = saying({"ask 1 ": (0, b"info first\nmove 1 L:A1\n"), "ask 2 ": (0, b"move 2 L:A2\n")})
    _, events = run(ScriptedWire(bot, puppet("L:D1")))
    assert [event.info for event in events.all if isinstance(event, Moved) and event.seat == 0] == [
        "first",
        "",
    ]


@pytest.mark.parametrize("ranks", [(0, 1), (2, 3), (1,), ()])
def test_ranks_that_no_table_could_count_are_a_failure_of_the_game(
    ranks: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(BloomsState, "outcome", lambda self: Outcome(ranks, (0, 0), "over"))
    with pytest.raises(ValueError, match="ranks of 2 seats"):
        run(ScriptedWire(puppet(), puppet()))
