"""Giving out tasks: what is on, what is played again, and who is not tried any more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from referee.core.units import TimeControl
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.record import Summary
from referee.tournament.plan import Entrant, Plan
from referee.tournament.run.voids import Suspicion
from referee.tournament.schedule import encounter
from referee.tournament.workers.dispatcher import LOSSES, Dispatcher
from referee.tournament.workers.task import Task, TaskLost, Void

GAME = GAMES["blooms"]
NAMES = ("a", "b", "c")
PLAN = Plan(
    GAME,
    GAME.settle({}),
    tuple(Entrant(Program(name, ("true",), Path("/")), TimeControl.parse("1s")) for name in NAMES),
    "s",
)


def task(number: int, one: str, other: str) -> Task:
    games = tuple((pairing, 1) for pairing in encounter(number, (one, other)).games)
    return Task(PLAN.among((one, other)), games, "nothing")


def played(game: str, fault: str = "") -> Summary:
    bots = tuple(game.split(":")[1:])
    return Summary(game, 1, "blooms", bots, (2, 1), (0, 1), "rules", "", True, (fault, ""))


def ids(given: Task | None) -> list[tuple[str, int]]:
    return [(pairing.id, attempt) for pairing, attempt in given.games] if given else []


def test_a_task_has_its_own_bots_alone() -> None:
    plan = PLAN.among(("a", "c"))
    assert plan.names == ("a", "c") and plan.seed == PLAN.seed
    pairing = encounter(1, ("a", "c")).games[1]
    assert plan.terms(pairing) == PLAN.terms(pairing)


def test_what_a_worker_that_died_had_begun_is_void_and_the_rest_is_played_last() -> None:
    todo = [task(1, "a", "b"), task(1, "a", "c"), task(1, "b", "c")]
    dispatcher = Dispatcher(iter(todo), Suspicion())
    first, second = dispatcher.next(), dispatcher.next()
    assert first and second
    dispatcher.began("1:a:b")
    dispatcher.finished(played("1:a:b"))
    dispatcher.began("1:b:a")
    dispatcher.began("1:a:c")
    assert dispatcher.take_back(second, "") == [], "its worker was ended with the run"
    lost = dispatcher.take_back(first, "died", frozenset("a"))
    assert lost == [Void("1:b:a", 1, "the worker that played it died", frozenset("a"))]
    dispatcher.went_void("1:b:a", again=True)
    assert ids(dispatcher.next()) == [("1:b:a", 2)]
    assert ids(dispatcher.next()) == [("1:b:c", 1), ("1:c:b", 1)]
    assert ids(dispatcher.next()) == [("1:a:c", 1), ("1:c:a", 1)]
    dispatcher.went_void("1:b:a", again=False)
    assert dispatcher.next() is None


def test_another_attempt_is_not_taken_back_with_the_worker_of_the_one_before() -> None:
    for has_begun in (False, True):
        dispatcher = Dispatcher(iter([task(1, "a", "b")]), Suspicion())
        first = dispatcher.next()
        assert first
        dispatcher.began("1:a:b")
        dispatcher.went_void("1:a:b", again=True)
        assert ids(dispatcher.next()) == [("1:a:b", 2)]
        if has_begun:
            dispatcher.began("1:a:b")
        assert [void.id for void in dispatcher.lost(TaskLost(first, "how", by_bot=True))] == ["1:b:a"]
        assert dispatcher.take_back(first, "died") == []
        assert ids(dispatcher.next()) == [("1:b:a", 1)]
        assert dispatcher.next() is None


def test_other_games_go_on_while_one_waits_to_be_played_again() -> None:
    now = [0.0]
    todo = [task(1, "a", "b"), task(1, "a", "c")]
    dispatcher = Dispatcher(iter(todo), Suspicion(), lambda: now[0])
    dispatcher.next()
    dispatcher.finished(played("1:b:a"))
    dispatcher.went_void("1:a:b", again=True, pause_s=2.0)
    assert ids(dispatcher.next()) == [("1:a:c", 1), ("1:c:a", 1)]
    now[0] = 1.9
    assert dispatcher.next() is None and dispatcher.pauses
    now[0] = 2.0
    assert ids(dispatcher.next()) == [("1:a:b", 2)] and not dispatcher.pauses


def test_a_bot_that_does_not_start_is_not_tried_any_more_until_it_does() -> None:
    dispatcher = Dispatcher((task(number, "a", "b") for number in range(1, 9)), Suspicion())
    for number in (1, 2, 3):
        given = dispatcher.next()
        assert given and not given.given_up
        dispatcher.finished(played(f"{number}:a:b", "start"))
    given = dispatcher.next()
    assert given and given.given_up == {"a"}
    dispatcher.finished(played("4:a:b"))
    given = dispatcher.next()
    assert given and not given.given_up


def test_a_bot_that_is_tuned_is_tried_again_since_its_values_change() -> None:
    tuned = [
        replace(given, plan=given.plan.with_values({"a": (("n", str(number)),)}))
        for number, given in ((number, task(number, "a", "b")) for number in range(1, 9))
    ]
    dispatcher = Dispatcher(iter(tuned), Suspicion())
    for number in range(1, 9):
        given = dispatcher.next()
        assert given and not given.given_up
        dispatcher.finished(played(f"{number}:a:b", "start"))


def test_the_games_that_were_lost_with_a_machine_are_played_again_together_and_held_against_nobody() -> None:
    dispatcher = Dispatcher(iter([task(1, "a", "b"), task(1, "a", "c")]), Suspicion())
    first, _ = dispatcher.next(), dispatcher.next()
    assert first
    dispatcher.began("1:a:b")
    voids = dispatcher.lost(TaskLost(first, "machine m was lost", by_bot=True))
    assert [(void.id, void.attempt, void.lost, void.suspects) for void in voids] == [
        ("1:a:b", 1, True, frozenset()),
        ("1:b:a", 1, True, frozenset()),
    ]
    dispatcher.play_again(first, [void.id for void in voids])
    assert ids(dispatcher.next()) == [("1:a:b", 2), ("1:b:a", 2)]


def test_of_a_lost_task_only_the_games_that_are_not_over_are_played_again() -> None:
    dispatcher = Dispatcher(iter([task(1, "a", "b")]), Suspicion())
    first = dispatcher.next()
    assert first
    dispatcher.finished(played("1:a:b"))
    assert [void.id for void in dispatcher.lost(TaskLost(first, "how", by_bot=True))] == ["1:b:a"]


def test_bots_whose_machine_is_lost_again_and_again_are_suspected() -> None:
    assert lost_again_and_again(by_bot=True) == [{(True,)}] * LOSSES + [{(False, "a", "b")}]


def test_bots_are_not_suspected_where_all_machines_are_lost_again_and_again() -> None:
    assert lost_again_and_again(by_bot=False) == [{(True,)}] * (LOSSES + 1)


def lost_again_and_again(by_bot: bool) -> list[set[tuple[object, ...]]]:
    """Whether the games of a task count as lost, and the suspects, each time that its machine is lost."""
    dispatcher = Dispatcher(iter([task(1, "a", "b")]), Suspicion())
    suspected: list[set[tuple[object, ...]]] = []
    for _ in range(LOSSES + 1):
        given = dispatcher.next()
        assert given
        voids = dispatcher.lost(TaskLost(given, "how", by_bot))
        suspected.append({(void.lost, *sorted(void.suspects)) for void in voids})
        dispatcher.play_again(given, [void.id for void in voids])
    return suspected
