"""Which machine of a cluster plays what, and what becomes of it when machines are lost: a scripted client."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice
from pathlib import Path

import pytest

from referee.check.wires import HouseWire
from referee.cluster import cluster_backend
from referee.cluster.bot_files import BotFiles, SentFiles
from referee.cluster.cluster_backend import FAILURES, ClusterBackend
from referee.cluster.dask_client import (
    ClusterEvent,
    DaskClient,
    Disconnected,
    Member,
    Members,
    OrderAnswered,
    OrderFailed,
)
from referee.cluster.orders import (
    EndIdleBots,
    FilePart,
    Greet,
    Greeting,
    MachineAnswer,
    MachineOrder,
    MachineReady,
    MachineUnfit,
    Play,
    PlayedTask,
    Prepare,
    Requirement,
    StopMachine,
    code_digest,
    replayed,
)
from referee.core.errors import EnvironmentLacksError, RecordError, UsageError
from referee.core.units import TimeControl
from referee.gameplay.loop import play, seeded_dice
from referee.games import GAMES
from referee.processes.program import Program
from referee.records.amendments import LeftOut
from referee.records.journal import body_of
from referee.records.record import (
    Summary,
    bot_totals,
    summary_of,
    timed_moves,
    to_json,
)
from referee.tournament.file.file_list import File
from referee.tournament.plan import Entrant, Plan
from referee.tournament.schedule import encounter
from referee.tournament.workers.task import Began, Finished, Notice, Report, Task, TaskLost, Void, WorkerDied
from tests.recorded import record_of

GAME = GAMES["blooms"]
BOTS = [Program(name, ("true",), Path("/")) for name in "abc"]
PLAN = Plan(
    GAME, GAME.settle({"size": "3"}), tuple(Entrant(bot, TimeControl.parse("1s")) for bot in BOTS), "s"
)
FILES = tuple(BotFiles(bot, True, (), (), (), "", (), ()) for bot in BOTS)


def task(number: int, one: str, other: str) -> Task:
    games = tuple((pairing, 1) for pairing in encounter(number, (one, other)).games)
    return Task(PLAN.among((one, other)), games, "nothing")


def finished(game: str) -> Finished:
    bots = tuple(game.split(":")[1:])
    summary = Summary(game, 1, "blooms", bots, (2, 1), (0, 1), "rules", "", True, ("", ""))
    return Finished(summary, b"", None, None, "")  # type: ignore[arg-type]


def whole(one: Task) -> PlayedTask:
    reports: list[Report] = []
    for pairing, _ in one.games:
        reports += [Began(pairing.id), finished(pairing.id)]
    return PlayedTask(tuple(reports))


class Script(DaskClient):
    """A client whose events are given by the test; it keeps all orders."""

    def __init__(self) -> None:
        self.coming: list[ClusterEvent] = []
        self.asked: list[tuple[str, str, MachineOrder]] = []
        self.told: list[tuple[list[str], MachineOrder]] = []
        self.forgotten: list[str] = []
        self.closed: list[str] = []
        self.later: Iterator[ClusterEvent] = iter(())
        """What comes when nothing else does."""

    def events(self, seconds: float) -> list[ClusterEvent]:
        coming, self.coming = self.coming, []
        return coming or [*islice(self.later, 1)]

    def ask(self, key: str, address: str, order: MachineOrder) -> None:
        self.asked.append((key, address, order))

    def forget(self, key: str) -> None:
        self.forgotten.append(key)

    def tell(self, addresses: list[str], order: MachineOrder) -> None:
        self.told.append((addresses, order))

    def close(self, addresses: list[str]) -> None:
        self.closed += addresses


class Cluster:
    """Workers of a scripted client, with machines that answer at once what a test does not answer itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, has_begun: bool = True) -> None:
        self.now_s = 0.0
        monkeypatch.setattr("referee.cluster.cluster_backend.time.monotonic", lambda: self.now_s)
        # The games here have no records; what is made of records has tests of its own below.
        monkeypatch.setattr("referee.cluster.cluster_backend.replayed", lambda task, reports: reports)
        self.client = Script()
        self.reports: list[Report] = []
        required = Requirement(FILES, 2, pin=False, cpu_clocks=False)
        self.workers = ClusterBackend(self.client, required, SentFiles(FILES, {}), self.take)
        if has_begun:
            self.workers.begin(self.take)
        self.beat = 0.0
        self.machines: dict[str, tuple[str, int]] = {}
        self.ready: dict[str, MachineAnswer] = {}
        """What a machine answers when it is to get ready, where that is not `MachineReady`."""
        self.greetings: dict[str, Greeting] = {}

    def take(self, reports: Sequence[Report]) -> None:
        self.reports += reports

    def look(self, *events: ClusterEvent) -> None:
        self.client.coming += events
        self.workers.take_reports(0)

    def see(self, **machines: int) -> None:
        """The scheduler has these machines, each with so many slots and a worker."""
        self.beat += 1
        self.look(Members({name: Member(name, name, slots, self.beat) for name, slots in machines.items()}))

    def prepare(self) -> None:
        """Answers whatever the machines were asked before they play."""
        for _ in range(3):
            asked, self.client.asked = self.client.asked, []
            for key, address, order in asked:
                answer: MachineAnswer
                match order:
                    case Greet():
                        greeting = Greeting(f"host-{address}", "CPU", "1", code_digest(), ())
                        answer = self.greetings.get(address, greeting)
                    case Prepare():
                        answer = self.ready.get(address, MachineReady({}, {bot.name: {} for bot in BOTS}, ()))
                    case _:
                        self.client.asked.append((key, address, order))
                        continue
                self.look(OrderAnswered(key, answer))

    def with_machines(self, **machines: int) -> Cluster:
        self.see(**machines)
        self.prepare()
        return self

    def given(self) -> list[tuple[str, str, Task]]:
        """The tasks that were given out and not answered yet: their keys, their machines."""
        return [
            (key, address, order.task) for key, address, order in self.client.asked if isinstance(order, Play)
        ]

    def play(self, one: Task) -> str:
        """Has the backend play a task that a machine has room for; the key of its order."""
        self.workers.play(one)
        return self.given()[-1][0]

    def answer(self, key: str, *reports: Report) -> None:
        self.look(OrderAnswered(key, PlayedTask(reports)))

    def lost(self) -> list[list[str]]:
        return [
            [pairing.id for pairing, _ in one.task.games] for one in self.reports if isinstance(one, TaskLost)
        ]

    def remarks(self) -> str:
        return "\n".join(one.line for one in self.reports if isinstance(one, Notice))


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    return Cluster(monkeypatch)


def test_tasks_are_given_to_the_machine_with_the_most_room(cluster: Cluster) -> None:
    cluster.with_machines(m=2, n=1)
    for number in (1, 2, 3):
        assert cluster.workers.has_room
        cluster.workers.play(task(number, "a", "b"))
    assert sorted(address for _, address, _ in cluster.given()) == ["m", "m", "n"]
    assert not cluster.workers.has_room and cluster.workers.busy


def test_what_a_machine_reports_is_taken_once(cluster: Cluster) -> None:
    cluster.with_machines(m=1)
    one = task(1, "a", "b")
    key = cluster.play(one)
    cluster.look(OrderAnswered(key, whole(one)))
    cluster.look(OrderAnswered(key, whole(one)))
    told = [r for r in cluster.reports if not isinstance(r, Notice)]
    assert told == [Began("1:a:b"), finished("1:a:b"), Began("1:b:a"), finished("1:b:a")]
    assert not cluster.workers.busy and cluster.workers.has_room


def test_a_task_waits_where_no_machine_is_there_yet(cluster: Cluster) -> None:
    assert cluster.workers.has_room
    cluster.workers.play(task(1, "a", "b"))
    assert cluster.workers.busy and not cluster.workers.has_room and not cluster.given()
    cluster.with_machines(m=1)
    assert len(cluster.given()) == 1


def test_the_games_of_an_encounter_are_played_on_one_machine(cluster: Cluster) -> None:
    cluster.with_machines(m=1, n=1)
    one = task(1, "a", "b")
    first, second = (Task(one.plan, (game,), "nothing") for game in one.games)
    cluster.workers.play(first)
    ((key, address, _),) = cluster.given()
    cluster.workers.play(second)
    assert len(cluster.given()) == 1  # the other machine is free, and the task waits
    cluster.look(OrderAnswered(key, whole(first)))
    assert cluster.given()[-1][1] == address


def test_what_a_lost_machine_played_is_lost_and_its_late_answer_changes_nothing(cluster: Cluster) -> None:
    cluster.with_machines(m=1)
    one = task(1, "a", "b")
    key = cluster.play(one)
    cluster.see(n=1)
    assert cluster.lost() == [["1:a:b", "1:b:a"]] and key in cluster.client.forgotten
    before = len(cluster.reports)
    cluster.look(OrderAnswered(key, whole(one)))
    assert len(cluster.reports) == before and not cluster.workers.busy


def test_when_the_scheduler_is_lost_all_games_are_and_the_run_goes_on_with_the_next_one(
    cluster: Cluster,
) -> None:
    cluster.with_machines(m=1, n=1)
    cluster.workers.play(task(1, "a", "b"))
    cluster.workers.play(task(1, "a", "c"))
    cluster.look(Disconnected("refused"))
    cluster.look(Disconnected("refused"))
    assert len(cluster.lost()) == 2 and cluster.remarks().count("is lost (refused)") == 1
    assert not any(one.by_bot for one in cluster.reports if isinstance(one, TaskLost))
    cluster.client.asked.clear()
    cluster.workers.play(task(1, "a", "b"))
    cluster.with_machines(m=1)
    assert len(cluster.given()) == 1 and "again" in cluster.remarks()


def test_a_machine_with_other_code_is_refused_by_name(cluster: Cluster) -> None:
    cluster.greetings["m"] = Greeting("old", "CPU", "0.1", "other", ())
    cluster.with_machines(m=1)
    assert "old (m) is not used: its referee 0.1 has different code" in cluster.remarks()


def test_a_machine_that_lacks_something_is_refused_and_all_refused_end_the_run(cluster: Cluster) -> None:
    cluster.ready["m"] = MachineUnfit("bot `a` needs `cc`, which does not exist on this machine")
    cluster.workers.play(task(1, "a", "b"))
    cluster.with_machines(m=1)
    assert "host-m (m) is not used: bot `a` needs `cc`" in cluster.remarks()
    with pytest.raises(EnvironmentLacksError, match="needs `cc`"):
        pass_time(cluster, 60, m=1)


def test_the_end_is_told_to_machines_that_are_not_used_too(cluster: Cluster) -> None:
    cluster.ready["m"] = MachineUnfit("it has no compiler")
    cluster.with_machines(m=1, n=1)
    cluster.workers.close()
    assert sorted(cluster.client.closed) == ["m", "n"]


def pass_time(cluster: Cluster, seconds: int, beats: bool = True, **machines: int) -> None:
    """Time passes, in which the scheduler hears of the machines, or does not."""
    for _ in range(seconds):
        cluster.now_s += 1
        cluster.beat += beats
        found = {name: Member(name, name, slots, cluster.beat) for name, slots in machines.items()}
        cluster.look(Members(found))


def test_a_worker_that_ends_before_it_says_anything_is_told_once_for_each_machine(cluster: Cluster) -> None:
    for _ in range(3):
        cluster.see(m=1)
        cluster.see()
    assert cluster.remarks().count("at m exited on the first request") == 1
    cluster.with_machines(n=1).see()
    assert "at n ended" not in cluster.remarks()


def test_a_run_says_once_that_it_waits_for_machines(cluster: Cluster) -> None:
    cluster.see()
    cluster.see()
    assert cluster.remarks().count("has no Dask workers") == 1
    cluster.with_machines(m=1).see()
    assert cluster.remarks().count("has no Dask workers") == 2


def test_a_run_without_machines_waits_and_then_ends(cluster: Cluster) -> None:
    cluster.workers.play(task(1, "a", "b"))
    pass_time(cluster, int(cluster_backend.WAIT_S))
    with pytest.raises(EnvironmentLacksError, match="no workers"):
        pass_time(cluster, 2)


def test_a_machine_that_is_not_heard_of_is_lost_until_it_is_heard_of_again(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_backend, "longest_s", lambda one: 10_000.0)
    cluster.with_machines(m=1)
    cluster.workers.play(task(1, "a", "b"))
    pass_time(cluster, int(cluster_backend.SILENT_S) + 1, beats=False, m=1)
    assert cluster.lost() == [["1:a:b", "1:b:a"]]
    cluster.client.asked.clear()
    pass_time(cluster, 5, beats=False, m=1)
    assert not cluster.client.asked
    cluster.workers.play(task(1, "a", "b"))
    cluster.with_machines(m=1)
    assert len(cluster.given()) == 1


def test_time_in_which_the_referee_was_stopped_itself_does_not_count(cluster: Cluster) -> None:
    cluster.with_machines(m=1)
    cluster.workers.play(task(1, "a", "b"))
    cluster.now_s += 10_000
    cluster.look()
    assert not cluster.lost()


def test_a_machine_on_which_a_game_takes_longer_than_its_clocks_allow_is_not_used_any_more(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_backend, "longest_s", lambda one: 10.0)
    cluster.with_machines(m=1)
    cluster.workers.play(task(1, "a", "b"))
    pass_time(cluster, 10 + int(cluster_backend.SPARE_S) + 1, m=1)
    assert cluster.lost() == [["1:a:b", "1:b:a"]] and "longer than its clocks allow" in cluster.remarks()


def test_time_in_which_a_machine_also_plays_for_others_of_the_cluster_does_not_count(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_backend, "longest_s", lambda one: 10.0)
    cluster.with_machines(m=1)
    cluster.workers.play(task(1, "a", "b"))
    for _ in range(1000):
        cluster.now_s += 1
        cluster.beat += 1
        cluster.look(Members({"m": Member("m", "m", 1, cluster.beat, has_others=True)}))
    assert not cluster.lost()
    pass_time(cluster, 10 + int(cluster_backend.SPARE_S) + 2, m=1)
    assert cluster.lost() == [["1:a:b", "1:b:a"]]


def test_a_machine_that_fails_again_and_again_is_not_used_any_more(cluster: Cluster) -> None:
    cluster.with_machines(m=1)
    for number in range(FAILURES):
        assert "is not used" not in cluster.remarks()
        cluster.look(OrderFailed(cluster.play(task(number + 1, "a", "b")), "HostEnded: it died"))
        cluster.prepare()
    assert len(cluster.lost()) == FAILURES
    assert f"it failed {FAILURES} times in a row: HostEnded" in cluster.remarks()


def test_what_fails_together_is_one_failure(cluster: Cluster) -> None:
    cluster.with_machines(m=FAILURES)
    for number in range(FAILURES):
        cluster.workers.play(task(number + 1, "a", "b"))
    for key, _, _ in cluster.given():
        cluster.look(OrderFailed(key, "HostEnded: it died"))
    assert len(cluster.lost()) == FAILURES and "is not used" not in cluster.remarks()
    cluster.client.asked = [one for one in cluster.client.asked if isinstance(one[2], Greet)]
    cluster.prepare()
    cluster.workers.play(task(1, "a", "b"))
    assert len(cluster.given()) == 1


def test_the_last_machine_that_could_play_is_used_on_though_its_games_fail(cluster: Cluster) -> None:
    """A bot may be the cause, which is suspected at last."""
    cluster.with_machines(m=1)
    cluster.look(OrderAnswered(cluster.play(task(1, "a", "b")), whole(task(1, "a", "b"))))
    for number in range(2 * FAILURES):
        cluster.look(OrderFailed(cluster.play(task(number + 2, "a", "b")), "HostEnded: it died"))
        cluster.prepare()
    assert len(cluster.lost()) == 2 * FAILURES and "is not used" not in cluster.remarks()


def test_a_lost_encounter_is_played_on_another_machine_if_there_is_one(cluster: Cluster) -> None:
    cluster.with_machines(m=3)
    cluster.workers.play(task(1, "a", "b"))
    cluster.with_machines(m=3, n=1)
    cluster.look(OrderFailed(cluster.given()[-1][0], "HostEnded: it died"))
    cluster.prepare()
    cluster.workers.play(task(1, "a", "b"))
    assert cluster.given()[-1][1] == "n"


def test_a_machine_that_comes_back_gets_cores_that_no_other_one_has(cluster: Cluster) -> None:
    def first_cores() -> list[int]:
        found = [order.first_core for _, _, order in cluster.client.asked if isinstance(order, Prepare)]
        cluster.prepare()
        return found

    def see(**machines: int) -> None:
        cluster.beat += 1
        found = {name: Member(name, "host", slots, cluster.beat) for name, slots in machines.items()}
        cluster.look(Members(found))
        for key, address, order in [*cluster.client.asked]:
            if isinstance(order, Greet):
                cluster.client.asked.remove((key, address, order))
                cluster.look(OrderAnswered(key, Greeting("host", "CPU", "1", code_digest(), ())))

    see(b=2, c=1)
    assert first_cores() == [0, 2]
    see(c=1)
    see(c=1, d=2)
    assert first_cores() == [0]
    see(c=1, d=2, e=1)
    assert first_cores() == [3]


def test_a_shared_bot_that_is_another_version_on_a_machine_is_refused_by_name(cluster: Cluster) -> None:
    cluster.ready["n"] = MachineReady({}, {bot.name: {"x": "other"} for bot in BOTS}, ())
    cluster.with_machines(m=1)
    cluster.with_machines(m=1, n=1)
    assert "host-n (n) is not used: bot `a` differs there" in cluster.remarks()


def ready_but_for(*unfit: LeftOut) -> MachineReady:
    """The answer of a machine that could not prepare some bots."""
    out = {one.bot for one in unfit}
    return MachineReady({}, {bot.name: {} for bot in BOTS if bot.name not in out}, (), unfit)


def not_built(*bots: str) -> MachineReady:
    return ready_but_for(*(LeftOut(bot, "it cannot be built", ("first", "no such thing")) for bot in bots))


@pytest.fixture
def preparing(monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """A cluster before the run begins."""
    return Cluster(monkeypatch, has_begun=False)


def begun(cluster: Cluster, *bots: str) -> list[str]:
    """Begins the run, and plays with these bots; the machines that play, in their order."""
    cluster.workers.begin(cluster.take)
    cluster.look()
    number = count(1)
    while cluster.workers.has_room:
        cluster.workers.play(task(next(number), *bots))
    return sorted({address for _, address, _ in cluster.given()})


def test_a_bot_that_no_machine_can_prepare_is_left_out_with_a_machine_named(preparing: Cluster) -> None:
    preparing.ready |= {"m": not_built("c"), "n": not_built("c")}
    preparing.with_machines(m=1, n=1)
    expected = LeftOut("c", "it cannot be built (on host-m)", ("first", "no such thing"))
    assert preparing.workers.unfit_bots() == [expected]
    assert begun(preparing, "a", "b") == ["m", "n"] and "not used" not in preparing.remarks()
    preparing.see(m=1, n=1, o=1)
    (greet,) = [order for _, _, order in preparing.client.asked if isinstance(order, Greet)]
    assert [files.bot.name for files in greet.bots] == ["a", "b"]


def test_a_machine_that_lacks_a_bot_that_another_one_has_is_not_used(preparing: Cluster) -> None:
    preparing.ready["m"] = not_built("c")
    preparing.with_machines(m=1, n=1)
    assert preparing.workers.unfit_bots() == []
    assert begun(preparing, "a", "c") == ["n"]
    assert "host-m (m) is not used: bot `c`: it cannot be built (on host-m): no such thing" in (
        preparing.remarks()
    )


def test_the_machine_with_the_most_bots_decides_which_are_left_out(preparing: Cluster) -> None:
    preparing.ready |= {"m": not_built("a", "b"), "n": not_built("c"), "o": not_built("b")}
    preparing.with_machines(m=1, n=1, o=1)
    assert [one.bot for one in preparing.workers.unfit_bots()] == ["c"]
    assert begun(preparing, "a", "b") == ["n"]


def test_before_a_bot_is_left_out_all_machines_have_answered(preparing: Cluster) -> None:
    preparing.ready["m"] = not_built("c")
    preparing.see(m=1, n=1)
    (greeting_m, greeting_n) = preparing.client.asked
    preparing.client.asked = [greeting_m]
    preparing.prepare()
    key, _, _ = greeting_n
    greeting = Greeting("host-n", "CPU", "1", code_digest(), ())

    def later() -> Iterator[ClusterEvent]:
        yield OrderAnswered(key, greeting)
        ((prepare, _, _),) = preparing.client.asked
        yield OrderAnswered(prepare, ready_but_for())

    preparing.client.later = later()
    assert preparing.workers.unfit_bots() == []
    assert begun(preparing, "a", "c") == ["n"]


def test_a_machine_with_all_bots_need_not_wait_for_others(preparing: Cluster) -> None:
    preparing.see(m=1, n=1)
    preparing.client.asked = preparing.client.asked[:1]
    preparing.prepare()
    assert preparing.workers.unfit_bots() == [] and begun(preparing, "a", "b") == ["m"]


def test_a_bot_whose_file_cannot_be_sent_is_left_out(
    preparing: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = tuple(replace(files, files=(File(files.bot.name, files.bot.name, 1, False),)) for files in FILES)
    required = Requirement(sent, 2, pin=False, cpu_clocks=False)
    preparing.workers = ClusterBackend(preparing.client, required, SentFiles(sent, {}), preparing.take)

    digests = [files.digest for files in sent]

    def parts(self: SentFiles, digest: str) -> Iterator[tuple[int, bytes]]:
        yield 0, b""
        if digest == digests[1]:
            raise UsageError("`b` has changed")

    monkeypatch.setattr(SentFiles, "parts", parts)
    preparing.greetings["m"] = Greeting("host", "CPU", "1", code_digest(), tuple(digests))
    preparing.see(m=1)
    preparing.prepare()
    for digest in digests:
        ((key, _, order),) = preparing.client.asked
        preparing.client.asked.clear()
        assert isinstance(order, FilePart) and order.digest == digest
        preparing.look(OrderAnswered(key, None))
    ((_, _, prepare),) = preparing.client.asked
    assert isinstance(prepare, Prepare)
    assert [files.bot.name for files in prepare.requirement.bots] == ["a", "c"]
    preparing.prepare()
    assert preparing.workers.unfit_bots() == [LeftOut("b", "`b` has changed")]
    assert begun(preparing, "a", "c") == ["m"]


def test_with_no_machine_that_can_play_nothing_is_left_out(preparing: Cluster) -> None:
    preparing.ready["m"] = MachineUnfit("`pin` is set, which needs Linux")
    preparing.with_machines(m=1)

    def later() -> Iterator[ClusterEvent]:
        while True:
            preparing.now_s += 1
            yield Members({"m": Member("m", "m", 1, preparing.now_s)})

    preparing.client.later = later()
    with pytest.raises(
        EnvironmentLacksError, match="none of the machines in the Dask cluster can play: `pin`"
    ):
        preparing.workers.unfit_bots()


def test_a_worker_process_that_died_is_reported_with_the_task_as_it_was_given(cluster: Cluster) -> None:
    cluster.with_machines(m=1)
    one = task(1, "a", "b")
    cluster.workers.play(one)
    ((key, _, sent),) = cluster.given()
    cluster.look(OrderAnswered(key, PlayedTask((Began("1:a:b"), WorkerDied(sent, "died")))))
    (died,) = (report for report in cluster.reports if isinstance(report, WorkerDied))
    assert died.task is one


def test_to_stop_leaves_out_what_waits_and_tells_the_machines(cluster: Cluster) -> None:
    cluster.with_machines(m=1)
    one = task(1, "a", "b")
    key = cluster.play(one)
    cluster.workers.play(task(2, "a", "b"))
    cluster.workers.stop()
    assert cluster.client.told == [(["m"], StopMachine())]
    cluster.answer(key, Began("1:a:b"), finished("1:a:b"))
    assert not cluster.workers.busy and not cluster.lost()


def test_files_that_a_machine_lacks_are_sent_before_it_plays(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch)

    def parts(self: SentFiles, digest: str) -> Iterator[tuple[int, bytes]]:
        yield from ((0, b"one"), (3, b"two"))

    monkeypatch.setattr(SentFiles, "parts", parts)
    cluster.greetings["m"] = Greeting("host", "CPU", "1", code_digest(), ("h",))
    cluster.see(m=1)
    cluster.prepare()
    for data in (b"one", b"two"):
        ((key, _, order),) = cluster.client.asked
        cluster.client.asked.clear()
        assert isinstance(order, FilePart) and order.data == data
        cluster.look(OrderAnswered(key, None))
    assert [type(order) for _, _, order in cluster.client.asked] == [Prepare]


def test_idle_bots_are_ended_on_every_machine(cluster: Cluster) -> None:
    cluster.with_machines(m=1, n=1)
    answered = cluster.client.events

    def events(seconds: float) -> list[ClusterEvent]:
        resting = [key for key, _, order in cluster.client.asked if isinstance(order, EndIdleBots)]
        cluster.client.asked.clear()
        return [*answered(seconds), *(OrderAnswered(key, PlayedTask(())) for key in resting)]

    cluster.client.events = events  # type: ignore[method-assign]
    cluster.workers.end_idle_bots()
    assert not cluster.workers.busy


ALL = whole(task(1, "a", "b")).reports
OTHER = finished("1:a:b").game


@pytest.mark.parametrize(
    "reports",
    [
        (*ALL, finished("1:a:b")),
        (*ALL, finished("2:a:b")),
        (*ALL, finished("1:a:b")._replace(game=OTHER._replace(attempt=2))),
        (*ALL, finished("1:a:b")._replace(game=OTHER._replace(bots=("b", "a")))),
        (*ALL, Void("1:a:b", 1, "error", frozenset())),
        ALL[:2],
        (WorkerDied(None, "died"),),
    ],
    ids=["twice", "other", "attempt", "bots", "void-too", "incomplete", "died-before-it-began"],
)
@pytest.mark.parametrize("is_stopping", [False, True], ids=["", "stopping"])
def test_a_machine_that_does_not_report_the_games_it_was_given_is_not_believed(
    cluster: Cluster, reports: tuple[Report, ...], is_stopping: bool
) -> None:
    key = cluster.with_machines(m=1).play(task(1, "a", "b"))
    if is_stopping:
        cluster.workers.stop()
    cluster.answer(key, *reports)
    if is_stopping and len(reports) < len(ALL):
        assert not cluster.lost()  # then some may be missing
    else:
        assert cluster.lost() == [["1:a:b", "1:b:a"]]
        assert not any(isinstance(report, Finished | Void | WorkerDied) for report in cluster.reports)


def test_where_encounters_are_played_is_not_kept_for_ever(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_backend, "HOMES", 2)
    cluster.with_machines(m=9)
    for number in range(9):
        one = task(number + 1, "a", "b")
        cluster.look(OrderAnswered(cluster.play(one), whole(one)))
    kept = [value for value in vars(cluster.workers).values() if isinstance(value, dict)]
    assert max(map(len, kept)) <= len(BOTS)


@pytest.mark.parametrize(
    ("clock", "margin_us", "least_s"),
    [("1s", 1_000_000_000, 9_000), ("cpu:1s+100s", 0, 9 * 304)],
)
def test_a_game_may_take_as_long_as_bots_may_wait(clock: str, margin_us: int, least_s: float) -> None:
    entrants = tuple(Entrant(bot, TimeControl.parse(clock)) for bot in BOTS)
    plan = replace(PLAN, entrants=entrants, margin_us=margin_us)
    assert cluster_backend.longest_s(replace(task(1, "a", "b"), plan=plan.among(("a", "b")))) > least_s


# --- Records that come back -------------------------------------------------------------------------------


def recorded(one: Task) -> Finished:
    """The first game of a task as a machine reports it, played at random."""
    pairing, attempt = one.games[0]
    terms = one.plan.terms(pairing)
    wire = HouseWire(terms)
    verdict = play(terms, wire, seeded_dice(terms), wire.watch)
    record = record_of(terms, wire.events, verdict, attempt=attempt, seats=[{}, {}])
    value = to_json(record)
    return Finished(summary_of(record), body_of(value), timed_moves(value), bot_totals(value), "dialogue")


def with_member(report: Finished, name: str, member: object) -> Finished:
    return report._replace(body=body_of({**report.record(), name: member}))


def test_a_record_that_comes_is_replayed_and_all_that_counts_is_made_from_it() -> None:
    given = task(1, "a", "b")
    report = recorded(given)
    assert replayed(given, [Began(report.game.id), report]) == (Began(report.game.id), report)
    lying = report._replace(game=report.game._replace(ranks=report.game.ranks[::-1]), timed=Counter(all=9))
    assert replayed(given, [lying]) == (report,)


def test_a_record_of_another_game_or_of_no_game_is_refused() -> None:
    given = task(1, "a", "b")
    report = recorded(given)
    other = recorded(task(2, "a", "b"))
    forged = {
        "it was not assigned to this machine": other,
        "its `clocks` differs from what was assigned": with_member(report, "clocks", ["1h", "1s"]),
        "its `seed` differs from what was assigned": with_member(report, "seed", "00" * 32),
        "its `bots` differs from what was assigned": with_member(report, "bots", ["b", "a"]),
        "ranks": with_member(report, "ranks", list(report.game.ranks[::-1])),
        "event": with_member(report, "events", report.record()["events"][:-2]),
        "JSON": report._replace(body=b"no JSON"),
        "its measurements are malformed": with_member(
            report, "measured", {**report.record()["measured"], "seats": 7}
        ),
    }
    for why, forgery in forged.items():
        with pytest.raises(RecordError, match=why):
            replayed(given, [forgery])


def test_a_machine_that_sends_a_forged_record_is_not_used_and_its_games_are_played_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cluster = Cluster(monkeypatch)
    monkeypatch.setattr("referee.cluster.cluster_backend.replayed", replayed)
    key = cluster.with_machines(A=1).play(task(1, "a", "b"))
    cluster.answer(key, recorded(task(2, "a", "b")))
    assert not any(isinstance(report, Finished) for report in cluster.reports)
    assert cluster.lost() == [["1:a:b", "1:b:a"]]
    assert "it sent a record that was not accepted" in cluster.remarks()
