"""The pages of `referee serve`, asked for without a network: what they show, and what they refuse."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
import zlib
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack
from dataclasses import replace
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from referee.core.text import shown
from referee.gameplay.openings import Openings
from referee.games import GAMES
from referee.live.slots import FOLDER, WATCHED, make_folder
from referee.ratings.pool import Result, fit
from referee.ratings.tally import Tallies
from referee.records import journal
from referee.records.record import to_json
from referee.serving import app as app_module
from referee.serving import arena, event_streams, follower, live
from referee.serving.app import HEADERS, Hosts, application
from referee.serving.arena import Arena
from referee.serving.event_streams import EventData, EventStreams
from referee.serving.lists import first_text, standings_page
from referee.serving.live import LiveRun
from referee.serving.reports import FRESH_S, MAX_WAITING, BusyError, PageMaker, PageMakers, Reports
from referee.tournament.file.opening_table import start_of
from referee.tournament.run.lock import locked
from referee.tournament.run.progress import BotOrder
from referee.tournament.run.run_state import RunState
from referee.tournament.run.status import status_of
from referee.viewing.steps import steps_of
from tests.rules.random_play import random_game
from tests.tools.synthetic import write
from tests.unit.growing import Growing, with_info
from tests.unit.simulated_runs import TUNING, tournament
from tests.waiting import TOO_LONG_S

LOCAL = Hosts({"localhost", "127.0.0.1"}, any_address=False)
MARKUP = "<img src=x onerror=alert(1)>\x1b[31m"


class Got(NamedTuple):
    status: int
    headers: dict[str, str]
    body: str


def quiet_maker() -> PageMaker:
    return PageMaker(lambda: False)


class Asked:
    """A server without a network, for a run in a folder."""

    def __init__(self, folder: Path) -> None:
        self.live, self.maker = LiveRun(folder), quiet_maker()
        self.arena = Arena(self.live, folder)
        self.streams = EventStreams(self.arena.whole, self.arena.watch)
        self.now_s = 0.0
        self.replays = quiet_maker()
        makers = PageMakers(self.maker, self.replays, self.maker)
        reports = Reports(self.maker, lambda: self.now_s)
        self.log: list[str] = []
        self.errors: list[str] = []
        self.app = application(
            self.live, self.streams, makers, reports, LOCAL, self.log.append, self.errors.append
        )

    def told(self) -> dict[str, Any]:
        """What the page of the run is told, after the server has looked at the files of the run."""
        self.live.look()
        self.arena.tick()
        return members(self.arena.whole())

    def get(
        self, path: str, method: str = "GET", host: str | None = "localhost:8000", query: str = ""
    ) -> Got:
        return asyncio.run(self._get(path, method, host, query))

    async def _get(self, path: str, method: str, host: str | None, query: str) -> Got:
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        task = asyncio.create_task(self.app(scope(path, method, host, query), _receive, send))
        while not task.done():
            for maker in (self.maker, self.replays):
                if maker.waiting and (path.startswith("/game/") or maker is not self.replays):
                    await asyncio.to_thread(maker.make_next)
            await asyncio.sleep(0)
        try:
            await task
        except Exception as error:  # what the server's log would say
            assert self.errors, error
        start, *bodies = sent
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        return Got(start["status"], headers, b"".join(one["body"] for one in bodies).decode())


def members(event: EventData | None, name: str = "whole") -> dict[str, Any]:
    """The members of an event of this name."""
    assert event
    kind, data, _, _ = event.data.decode().split("\n")
    assert kind == f"event: {name}"
    found: dict[str, Any] = json.loads(data.removeprefix("data: "))
    return found


def scope(path: str, method: str = "GET", host: str | None = "localhost", query: str = "") -> dict[str, Any]:
    headers = [] if host is None else [(b"host", host.encode())]
    return {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 5),
    }


async def _receive() -> Any:
    await asyncio.Event().wait()


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    run = Growing(tmp_path)
    run.begin()
    run.play("1:a:b", "1:b:a", "2:a:b")
    return run


@pytest.fixture
def asked(growing: Growing, monkeypatch: pytest.MonkeyPatch) -> Asked:
    monkeypatch.setattr(app_module, "REPORT_WAIT_S", TOO_LONG_S)  # a busy machine takes long
    return Asked(growing.path.parent)


# --- What is shown ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_it_says_how_sure_the_first_place_is(tmp_path: Path) -> None:
    write(tmp_path, 2, 40)
    run = LiveRun(tmp_path / "pool-results")
    first = (
        r"<strong>bot[12]</strong> is in first place\. It is [a-z ]+ than bot[12] \([a-z ]*\d+&nbsp;%\), with"
    )
    assert re.search(first, standings_page(run, run.snapshot()))


def test_nobody_is_first_where_two_bots_are_level() -> None:
    results = [Result(("a", "b"), (1, 2) if number % 2 else (2, 1), number) for number in range(20)]
    level = BotOrder(Tallies("ab", []), fit(results, "ab"), [(1, "a", {}), (1, "b", {})])
    assert first_text(level) == ""
    assert first_text(replace(level, places=[(1, "a", {}), (2, "b", {})])).startswith("It is ")


def test_results_are_counted_with_each_game_and_only_elo_may_be_older(growing: Growing) -> None:
    now_s, used_s = 0.0, count()
    with locked(growing.path.parent):
        run = LiveRun(growing.path.parent, clock=lambda: now_s, used=lambda: float(next(used_s)))
        assert "Elo and ranks are" not in standings_page(run, run.snapshot())
        growing.play("2:b:a")
        run.look()
        standings = standings_page(run, run.snapshot())
        assert "Elo and ranks are those after 3 games." in standings
        assert standings.count('<td class="number">4</td>') == 2, "each bot played all four games"
        now_s += 10_000
        assert "Elo and ranks are" not in standings_page(run, run.snapshot())


def test_the_page_of_the_run_is_there(asked: Asked) -> None:
    got = asked.get("/")
    assert got.status == 200 and got.headers["content-type"] == "text/html; charset=utf-8"
    assert 'href="/standings"' in got.body and 'href="/games/1"' in got.body, "for those without scripts"


def test_every_page_that_is_linked_to_is_there(asked: Asked) -> None:
    for path in ("/", "/standings", "/games/1", "/faults/1", "/game/1", "/game/3", "/report"):
        got = asked.get(path)
        assert got.status == 200 and "Content-Security-Policy" in got.body, path
        assert asked.get(path, method="HEAD").status == 200


def test_a_run_that_has_not_begun(tmp_path: Path) -> None:
    asked = Asked(tmp_path)
    told = asked.told()
    assert told["state"].startswith("No run has started in this folder yet") and not told["standings"]
    assert told["state"] in asked.get("/standings").body
    assert asked.get("/game/1").status == 404
    growing = Growing(tmp_path)
    growing.begin()
    told = asked.told()
    assert (told["count"], told["planned"]) == (0, 6) and [one["bot"] for one in told["standings"]] == [
        "a",
        "b",
    ]


def test_the_games_of_a_closing_test_are_counted_apart(tmp_path: Path) -> None:
    header = tournament("a", {**TUNING, "test_budget": 40}).header.members
    line, _ = journal.chained(journal.body_of(header), journal.FIRST)
    (tmp_path / journal.NAME).write_bytes(line)
    told = Asked(tmp_path).told()
    assert (told["planned"], told["later"]) == (100, 40)
    assert ": 0 of 100 games, then at most 40 of the closing test; no referee" in str(status_of(tmp_path))


def test_whether_a_referee_is_playing_is_seen(growing: Growing, asked: Asked) -> None:
    with locked(growing.path.parent):
        assert asked.told()["state"] == "A referee is playing." and asked.told()["running"]
    assert "can be continued" in asked.told()["state"]
    growing.play("2:b:a", "3:a:b", "3:b:a")
    assert asked.told()["state"] == "The tournament is over." and not asked.told()["running"]


def test_damage_is_told_and_what_was_read_stays(growing: Growing, asked: Asked) -> None:
    growing.append(b"{}\n")
    told = asked.told()
    assert "cannot be read any further: line 5 of" in told["trouble"] and told["count"] == 3
    assert "cannot be read any further: line 5 of" in asked.get("/standings").body


def test_annulled_games_and_new_names(growing: Growing, asked: Asked) -> None:
    growing.append(growing.line({"kind": "change", "annulled": {"1:a:b": "x"}, "renamed": {"a": "Renamed"}}))
    told = asked.told()
    assert told["count"] == 2 and {one["bot"] for one in told["standings"]} == {"Renamed", "b"}
    assert all(one["w"] + one["d"] + one["l"] == 2 for one in told["standings"])
    body = asked.get("/games/1").body
    assert "(does not count)" in body and "Renamed" in body


@pytest.mark.quick_cases(6)
@pytest.mark.parametrize("began", ["9999-12-31T23:59:59+00:00", "0001-01-01T00:00:00+00:00", "x", None])
@pytest.mark.parametrize("took_us", [0, 9 * 10**15, 1 << 62, "long"])
def test_whatever_times_a_record_has_it_is_shown(tmp_path: Path, began: object, took_us: object) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    value = to_json(growing.record("1:a:b"))
    value["measured"]["began"] = began
    value["measured"]["events"][0]["wall_us"] = took_us
    growing.append(growing.line(value))
    growing.play("1:b:a")
    asked = Asked(tmp_path)
    assert asked.told()["count"] == 2
    with locked(tmp_path):
        assert asked.told()["running"] and asked.get("/games/1").status == 200


def test_long_lists_are_on_several_pages(
    growing: Growing, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "LISTED", 2)
    first, second = asked.get("/games/1"), asked.get("/games/2")
    assert re.findall(r'href="(/game[^"]*)"', first.body) == ["/game/1", "/game/2", "/games/2"]
    assert re.findall(r'href="(/game[^"]*)"', second.body) == ["/game/3", "/games/1"]
    assert [asked.get(f"/games/{at}").status for at in (0, 3)] == [404, 404]


def test_the_report_leads_to_the_replays(asked: Asked) -> None:
    assert 'href="/report"' in asked.get("/standings").body
    body = asked.get("/report").body
    assert "Crosstable" in body and re.findall(r'href="(/game/\d+)#', body), "the slowest moves"
    assert games_data(body)["pages"] == ["/game/1", "/game/2", "/game/3"]


def games_data(report: str) -> dict[str, Any]:
    found = re.search(r'id="games-data">"([^"]+)"<', report)
    assert found
    data: dict[str, Any] = json.loads(zlib.decompress(base64.b64decode(found[1])))
    return data


def test_a_report_is_good_for_a_while(growing: Growing, asked: Asked) -> None:
    def games() -> int:
        return len(games_data(asked.get("/report").body)["games"])

    assert games() == 3
    growing.play("2:b:a")
    asked.live.look()
    assert games() == 3, "it is not made again at once, as it would be whenever a game ends"
    asked.now_s += FRESH_S
    assert games() == 4


def test_a_page_that_loads_again_is_shown_while_the_report_is_made(
    asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "REPORT_WAIT_S", 0)
    got = asked.get("/report")
    assert got.status == 200 and got.headers["refresh"] == "3" and "reloads" in got.body
    monkeypatch.setattr(app_module, "REPORT_WAIT_S", TOO_LONG_S)
    assert "Crosstable" in asked.get("/report").body


def test_a_run_with_very_many_games_has_no_report(growing: Growing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("referee.serving.live.REPORTED", 2)
    asked = Asked(growing.path.parent)
    assert "/report" not in asked.get("/standings").body and asked.get("/report").status == 404


# --- What is hidden ---------------------------------------------------------------------------------------


def links(body: str) -> list[str]:
    return sorted(re.findall(r'href="/game/(\d+)"', body))


def shown_games(asked: Asked) -> list[str]:
    """The games that may be looked at, as the page of the run and the list of games have them."""
    told = sorted(str(one["n"]) for one in asked.told()["ended"] if one["show"])
    assert links(asked.get("/games/1").body) == told
    return told


@pytest.mark.slow
def test_a_game_that_tells_what_is_hidden_in_another_is_kept_back(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "floral", {}, rounds=2, hidden_seed=True)
    growing.begin()
    growing.play("1:a:b")
    asked = Asked(tmp_path)
    assert shown_games(asked) == [] and "kept back until" in asked.get("/games/1").body
    assert links(asked.get("/games/1").body) == []
    assert asked.get("/report").body == "games cannot be viewed yet\n"
    got = asked.get("/game/1")
    assert (
        got.status == 403 and "kept back" in got.body and got.headers["content-type"].startswith("text/plain")
    )
    growing.play("1:b:a", "2:b:a")
    asked.live.look()
    assert shown_games(asked) == ["1", "2"]
    assert [asked.get(f"/game/{number}").status for number in (1, 2, 3)] == [200, 200, 403]
    assert games_data(asked.get("/report").body)["pages"] == ["/game/1", "/game/2"]


def test_where_all_games_have_the_same_start_they_are_kept_back_until_the_run_is_over(tmp_path: Path) -> None:
    start = start_of(steps_of(random_game(GAMES["floral"], b"earlier", {"max_turns": "6"})), 2)
    growing = Growing(
        tmp_path, "floral", {"max_turns": "6"}, rounds=2, hidden_seed=True, openings=Openings(start=start)
    )
    growing.begin()
    growing.play("1:a:b", "1:b:a")
    asked = Asked(tmp_path)
    assert shown_games(asked) == []
    growing.play("2:a:b", "2:b:a")
    growing.append(growing.line({"kind": "change", "seed": growing.plan.seed}))
    asked.live.look()
    assert shown_games(asked) == ["1", "2", "3", "4"]


def test_games_without_hidden_information_are_shown_at_once(asked: Asked) -> None:
    assert shown_games(asked) == ["1", "2", "3"], "the third is the first of its encounter"


def test_a_deal_for_bots_that_play_alone_is_kept_back_until_all_have_played_it(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "thetree", {"players": "1"}, bots="abc", hidden_seed=True)
    growing.begin()
    growing.play("1:a", "1:b", "2:a")
    asked = Asked(tmp_path)
    assert shown_games(asked) == []
    growing.play("1:c")
    asked.live.look()
    assert shown_games(asked) == ["1", "2", "4"]


def test_games_that_are_not_to_be_played_any_more_keep_nothing_back(tmp_path: Path) -> None:
    growing = Growing(tmp_path, "floral", {}, rounds=2, hidden_seed=True)
    growing.begin()
    growing.play("1:a:b", "2:a:b")
    growing.append(growing.line({"kind": "change", "annulled": {"1:b:a": "it was enough"}}))
    assert shown_games(Asked(tmp_path)) == ["1"]
    growing.append(growing.line({"kind": "change", "seed": growing.plan.seed}))
    assert shown_games(Asked(tmp_path)) == ["1", "2"], "the run is over"


def test_the_seeds_are_never_shown(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    record = growing.record("1:a:b")
    growing.append(growing.line(to_json(record)))
    asked = Asked(tmp_path)
    bodies = [asked.get(path).body for path in ("/", "/standings", "/games/1", "/game/1", "/report")]
    for body in (json.dumps(asked.told()), *bodies):
        for secret in (growing.plan.seed, record.terms.seed.hex(), record.terms.shared_seed.hex()):
            assert secret not in body


def test_what_bots_wrote_is_text(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    value = to_json(with_info(growing.record("1:a:b"), MARKUP))
    growing.append(growing.line({**value, "sentence": MARKUP}))
    asked = Asked(tmp_path)
    for path in ("/", "/games/1", "/game/1", "/report"):
        body = asked.get(path).body
        assert "<img" not in body and "\x1b" not in body, path
    assert shown(MARKUP).replace("<", "&lt;").replace(">", "&gt;") in asked.get("/games/1").body
    assert asked.told()["ended"][0]["why"] == shown(MARKUP), "which the page shows as text"


# --- What is refused --------------------------------------------------------------------------------------


@pytest.mark.quick_cases(5)
@pytest.mark.parametrize(
    "path",
    [
        "/x",
        "//",
        "/index.html",
        "/games.jsonl",
        "/game/1/../../games.jsonl",
        "/../../../etc/passwd",
        "/game/-1",
        "/game/0",
        "/game/4",
        "/game/" + "9" * 1900,
        "/game/1/",
        "/standings/",
        "/game/1\x00",
        "/game/١",
        "http://localhost/",
        "*",
        "",
    ],
)
def test_no_other_page_is_there(asked: Asked, path: str) -> None:
    got = asked.get(path)
    assert got.status == 404 and got.headers["content-type"] == "text/plain; charset=utf-8"
    assert got.body.count("\n") == 1 and len(got.body) < 200
    assert not asked.errors


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PATCH", "X"])
def test_other_methods_are_refused(asked: Asked, method: str) -> None:
    got = asked.get("/", method=method)
    assert got.status == 405 and got.headers["allow"] == "GET, HEAD" and got.body.endswith("GET or HEAD\n")


def test_a_long_address_is_refused(asked: Asked) -> None:
    assert asked.get("/" + "a" * 2000).status == 414
    assert asked.get("/", query="a" * 2000).status == 414
    assert asked.get("/", query="a=1").status == 200


@pytest.mark.quick_cases(4)
def test_another_host_is_refused(asked: Asked) -> None:
    for host in (
        *(None, "", "evil.example", "evil.example:8000", "localhost.evil.example", "192.168.1.5", "[::2]"),
        *("127.0.0.1.evil.example", "localhost:", "[localhost]", "0x7f000001", "2130706433", "a:b:c"),
    ):
        got = asked.get("/", host=host)
        assert got.status == 400, host
        assert got.body == "this server does not answer requests for another host\n", host


def test_its_own_hosts_are_answered(asked: Asked) -> None:
    own = "localhost LocalHost:1 localhost. 127.0.0.1 127.0.0.1:8000 [::1]:8000 127.8.9.1"
    for host in own.split():
        assert asked.get("/", host=host).status == 200, host


def test_a_server_for_a_network_is_asked_by_address_or_by_its_own_name() -> None:
    hosts = Hosts({"localhost", "tower"}, any_address=True)
    for host, answered in {"192.168.1.5:8000": True, "[2001:db8::1]": True, "tower:8000": True}.items():
        assert hosts.has(host) is answered
    assert not hosts.has("evil.example:8000")


def test_every_answer_has_the_headers(asked: Asked) -> None:
    for path, method, host, ends in (
        ("/", "GET", "localhost", False),
        ("/game/1", "HEAD", "localhost", False),
        ("/x", "GET", "localhost", True),
        ("/", "POST", "localhost", True),
        ("/", "GET", "evil.example", True),
        ("/" + "a" * 3000, "GET", "localhost", True),
    ):
        headers = asked.get(path, method, host).headers
        assert (headers.get("connection") == "close") == ends
        for name, value in HEADERS:
            assert headers[name.decode()] == value.decode(), path


def test_a_record_that_was_changed_is_an_error_in_plain_text(growing: Growing, asked: Asked) -> None:
    growing.path.write_bytes(growing.path.read_bytes().replace(b'"used_us":1', b'"used_us":2'))
    got = asked.get("/game/1")
    assert got.status == 500 and "modified after it was read" in got.body and not asked.errors


def test_an_error_of_the_referee_is_told(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> str:
        raise ZeroDivisionError("why")

    monkeypatch.setattr(app_module, "replay_page", broken)
    got = asked.get("/game/1")
    assert got.status == 500 and got.body == "an error of the referee itself\n"
    assert asked.errors == ["error: ZeroDivisionError: why"]


def test_requests_are_logged(asked: Asked) -> None:
    asked.get("/x")
    assert asked.log == ["127.0.0.1 GET /x 404"]


# --- Events -----------------------------------------------------------------------------------------------


def streamed(asked: Asked, script: Callable[[AsyncIterator[bytes]], Any]) -> None:
    async def run() -> None:
        stream = asked.streams.events()
        assert (await anext(stream)).startswith(b"retry: ")
        await script(stream)
        await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(run())


async def sent(stream: AsyncIterator[bytes], name: str = "frame") -> dict[str, Any]:
    """The members of the next event of a stream."""
    return members(EventData(0, await anext(stream)), name)


def next_frame(asked: Asked) -> None:
    """Sends what the server finds when it looks now."""
    asked.live.look()
    event = asked.arena.tick()
    assert event
    asked.streams.put(event)


def test_a_stream_has_everything_first_and_then_what_changes(growing: Growing, asked: Asked) -> None:
    async def script(stream: AsyncIterator[bytes]) -> None:
        whole = await sent(stream, "whole")
        assert whole["count"] == 3 and [one["n"] for one in whole["ended"]] == [3, 2, 1]
        growing.append(growing.line({"kind": "change", "rounds": 5}))
        next_frame(asked)
        frame = await sent(stream)
        assert frame.keys() == {"seq", "now", "planned"} and frame["seq"] == whole["seq"] + 1
        growing.play("2:b:a")
        next_frame(asked)
        assert (await sent(stream)).keys() == {"seq", "now", "count", "standings", "ended"}

    streamed(asked, script)
    assert asked.streams.count == 0


def test_a_stream_whose_reader_is_slow_gets_what_it_missed_or_everything(
    growing: Growing, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_streams, "HEARTBEAT_S", 0.01)

    async def script(stream: AsyncIterator[bytes]) -> None:
        await anext(stream)
        for game in ("2:b:a", "3:a:b"):
            growing.play(game)
            next_frame(asked)
        assert [(await sent(stream))["count"] for _ in range(2)] == [4, 5]
        assert await anext(stream) == event_streams.BEAT, "nothing else waits"
        for rounds in range(4, 5 + event_streams.KEPT):
            growing.append(growing.line({"kind": "change", "rounds": rounds}))
            next_frame(asked)
        assert (await sent(stream, "whole"))["planned"] == 2 * (4 + event_streams.KEPT)
        assert await anext(stream) == event_streams.BEAT

    streamed(asked, script)


def test_the_streams_are_bounded(asked: Asked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app_module, "MAX_STREAMS", 0)
    got = asked.get("/arena/events")
    assert (
        got.status == 503
        and "retry-after" in got.headers
        and got.body.endswith("are already following the run\n")
    )


# --- What it costs ----------------------------------------------------------------------------------------


class Made:
    """Counts what is made for viewers."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.counts: Counter[str] = Counter()
        for module, name in (
            (live, "order_of"),
            (live, "progress_of"),
            (follower, "timed"),
            (RunState, "copy"),
        ):
            monkeypatch.setattr(module, name, self.counted(name, getattr(module, name)))

    def counted(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*given: Any, **named: Any) -> Any:
            self.counts[name] += 1
            return work(*given, **named)

        return watched


def test_nothing_is_made_when_nobody_looks(growing: Growing, monkeypatch: pytest.MonkeyPatch) -> None:
    with locked(growing.path.parent):
        asked, made = Asked(growing.path.parent), Made(monkeypatch)
        Scripted(0.0, 0.0, 0.0).follow(asked.live, playing(growing, "2:b:a", "3:a:b"))
        assert not made.counts
        assert 'href="/game/5"' in asked.get("/games/1").body and made.counts["copy"] == 1
        seen = dict(made.counts)
        Scripted(0.0, 0.0).follow(asked.live, playing(growing, "3:b:a"))
        assert made.counts == seen, "whoever looked once does not look any more"


def test_all_who_follow_share_what_is_made(
    growing: Growing, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def watch() -> None:
        made = Made(monkeypatch)
        streams = [asked.streams.events() for _ in range(100)]
        await asyncio.gather(*map(anext, streams))  # when a browser tries again
        for games in (0, 1):
            if games:
                growing.play("2:b:a")
                next_frame(asked)
            events = await asyncio.gather(*map(anext, streams))
            assert len({*map(id, events)}) == 1 and made.counts["progress_of"] == 1 + games
        for stream in streams:
            await stream.aclose()  # type: ignore[attr-defined]

    asyncio.run(watch())


def playing(growing: Growing, *games: str) -> Callable[[], None]:
    """Plays one of the games whenever it is called, as long as there are any."""
    left = iter(games)
    return lambda: growing.play(*islice(left, 1))


class Scripted:
    """A clock that only sleeping moves on, and looks at a run that take given amounts of processor time."""

    def __init__(self, *used_s: float) -> None:
        """`used_s` are the seconds that the looks take; after the last of them the server is stopped."""
        self.now_s = self.used_s = 0.0
        self.looks: list[float] = []
        self._left = [*used_s]

    def follow(
        self,
        run: LiveRun,
        while_resting: Callable[[], None] = lambda: None,
    ) -> None:
        look = run.look

        def watched() -> bool:
            if not self._left:
                raise EOFError
            self.looks.append(self.now_s)
            self.used_s += self._left.pop(0)
            return look()

        def sleep(rest_s: float) -> None:
            while_resting()
            self.now_s += rest_s

        with pytest.MonkeyPatch.context() as patched, pytest.raises(EOFError):
            patched.setattr(run, "look", watched)
            used = lambda: self.used_s  # noqa: E731
            live.follow(run, used, lambda: self.now_s, sleep)


@pytest.fixture
def four_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """The server may take 50 ms a second: 20 ms for reading, 15 ms or what is left for the games in play."""
    monkeypatch.setattr(live, "usable_cores", lambda: range(4))
    monkeypatch.setattr(live, "LIMIT", 0.0125)


@pytest.mark.usefixtures("four_cores")
def test_reading_is_put_off_by_the_time_that_it_took_and_no_game_is_skipped(growing: Growing) -> None:
    with locked(growing.path.parent):
        run = LiveRun(growing.path.parent)
        clock = Scripted(0.001, 0.05, 0.08, 10.0, 0.0)
        clock.follow(run, playing(growing, "2:b:a", "3:a:b", "3:b:a"))
        assert clock.looks == pytest.approx([0, 1, 3.5, 7.5, 67.5]), "the last pause is the longest"
        assert run.snapshot().count == 6
    clock = Scripted(0.0, 0.05, 0.08, 0.0)
    clock.follow(LiveRun(growing.path.parent))
    assert clock.looks == [0, 1, 2, 3], "no referee is running"


@pytest.mark.usefixtures("four_cores")
def test_what_waking_takes_does_not_make_a_rest_longer_and_longer(growing: Growing) -> None:
    def wake() -> None:
        clock.used_s += 0.0002

    with locked(growing.path.parent):
        clock = Scripted(0.04, 0.0)
        clock.follow(LiveRun(growing.path.parent), wake)
    assert clock.looks == pytest.approx([0, 2.05])


def test_the_end_of_a_run_is_noticed_while_the_server_rests(growing: Growing) -> None:
    with ExitStack() as referee:
        referee.enter_context(locked(growing.path.parent))
        clock, run = Scripted(10.0, 0.0), LiveRun(growing.path.parent)
        clock.follow(run, referee.close)
    assert clock.looks == [0, 1] and not run.is_running


def test_workers_are_told_that_somebody_looks_while_the_server_rests(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = growing.path.parent / FOLDER
    make_folder(folder)

    def rest(look: object, pause_s: object, used: object, sleep: Callable[[float], None]) -> None:
        sleep(0.0)
        assert not (folder / WATCHED).exists(), "nobody looks yet"
        looked.watch(True)
        sleep(0.0)

    monkeypatch.setattr(arena, "repeat", rest)
    with locked(growing.path.parent):
        looked = Arena(LiveRun(growing.path.parent), growing.path.parent)
        looked.follow(lambda event: None)
    assert (folder / WATCHED).exists()


@pytest.mark.usefixtures("four_cores")
def test_boards_are_put_off_by_all_that_the_server_took_but_for_what_has_a_limit_of_its_own(
    growing: Growing, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []

    def repeat(look: object, pause_s: Callable[[float], float], used: object, sleep: object) -> None:
        pauses.extend(map(pause_s, (0.0, 0.06, 9.0)))

    monkeypatch.setattr(arena, "repeat", repeat)
    monkeypatch.setattr(time, "process_time", lambda: 10.0)
    with locked(growing.path.parent):
        used_s = count()
        run = LiveRun(growing.path.parent, used=lambda: float(next(used_s)))  # looks once, which takes 1 s
        assert run.showing_s() == 9
        run.put_in_order(run.snapshot())
        assert run.showing_s() < 9
        Arena(run, growing.path.parent).follow(lambda event: None)
        assert pauses == pytest.approx([arena.TICK_S, 4, 10]), "reading took all that it could"
        monkeypatch.setattr(run, "_used", lambda: 0.0)
        run.look()
        Arena(run, growing.path.parent).follow(lambda event: None)
        assert pauses[3:] == pytest.approx([arena.TICK_S, 0.06 / 0.045, 10]), "reading takes nothing"


def test_what_was_there_before_is_read_sooner(growing: Growing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follower, "BATCH", 1)
    with locked(growing.path.parent):
        clock, run = Scripted(0.1, 0.1, 0.1), LiveRun(growing.path.parent)
        clock.follow(run)
        assert clock.looks == pytest.approx([0, 0.4, 0.8]) and run.snapshot().count == 3


# --- Making pages -----------------------------------------------------------------------------------------


def test_other_pages_do_not_wait_for_replays(asked: Asked) -> None:
    asked.replays.page("a replay that takes long", lambda: "")
    assert [asked.get(path).status for path in ("/", "/games/1", "/standings", "/report")] == [200] * 4
    assert asked.replays.waiting == 1


def test_a_page_is_made_once() -> None:
    maker, made = quiet_maker(), []

    def make() -> str:
        made.append(1)
        return "page"

    first, second = maker.page("key", make), maker.page("key", make)
    maker.make_next()
    assert first.result() == second.result() == maker.page("key", make).result() == b"page" and made == [1]


def test_what_a_page_raises_comes_to_those_who_want_it_and_is_not_kept() -> None:
    maker = quiet_maker()
    future = maker.page("key", lambda: str(1 // 0))
    maker.make_next()
    with pytest.raises(ZeroDivisionError):
        future.result()
    again = maker.page("key", lambda: "page")
    maker.make_next()
    assert again.result() == b"page"


def test_the_pages_that_wait_and_those_that_are_kept_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    maker = quiet_maker()
    for number in range(MAX_WAITING):
        maker.page(number, lambda: "x" * 1000)
    with pytest.raises(BusyError):
        maker.page("one more", lambda: "")
    monkeypatch.setattr("referee.serving.reports.MAX_BYTES", 5000)
    for _ in range(MAX_WAITING):
        maker.make_next()
    for number in range(MAX_WAITING - 5, MAX_WAITING):
        assert maker.page(number, lambda: "").done(), "it is kept"
    assert not maker.page(0, lambda: "").done()
