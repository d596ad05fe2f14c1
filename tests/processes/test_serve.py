"""`referee serve` beside a run: it shows what happens, disturbs nothing, and answers whatever it is asked."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.command import GREEDY, RANDOM, ROOT, referee, referee_process
from tests.processes.runs import games, resigning, toml, until
from tests.processes.serving import Server, serving
from tests.unit.growing import Growing
from tests.waiting import TOO_LONG_S


@pytest.fixture
def growing(tmp_path: Path) -> Growing:
    folder = tmp_path / "run"
    folder.mkdir()
    run = Growing(folder)
    run.begin()
    run.play("1:a:b", "1:b:a", "2:a:b")
    return run


@pytest.fixture
def folder(growing: Growing) -> Path:
    return growing.path.parent


def state_of(folder: Path) -> dict[str, tuple[bytes, int, int]]:
    return {
        path.name: (path.read_bytes(), path.stat().st_mtime_ns, path.stat().st_ino)
        for path in (folder, *folder.iterdir())
        if path.is_file()
    }


@pytest.mark.slow
def test_it_prints_its_address_answers_and_ends_at_a_signal(folder: Path) -> None:
    before = state_of(folder)
    with serving(folder) as server:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", server.url)
        status, page = server.get()
        assert status == 200 and "/standings" in page
        server.until(count=3, planned=6)
        assert server.get("/game/1")[0] == 200 and server.get("/x")[0] == 404
        lower = min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)
        assert os.getpriority(os.PRIO_PROCESS, server.process.pid) == lower, "others go first"
        assert server.end() == (3, "referee: stopped by SIGTERM\n")
    assert state_of(folder) == before, "nothing is written"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
def test_it_ends_at_once_also_while_browsers_follow_the_run(folder: Path, number: signal.Signals) -> None:
    with serving(folder) as server:
        events = server.events()
        next(events)
        assert server.end(number) == (3, f"referee: stopped by {number.name}\n")
        assert "over" not in [name for name, _ in events], "the stream has ended"


@pytest.mark.slow
def test_it_waits_for_a_run_that_has_not_begun(tmp_path: Path) -> None:
    file = tmp_path / "t.toml"
    file.touch()
    with serving(file) as server:
        assert "No run has started" in server.get("/standings")[1]
        (tmp_path / "t-results").mkdir()
        growing = Growing(tmp_path / "t-results")
        growing.begin()
        server.until(count=0, planned=6)
        growing.play("1:a:b")
        server.until(count=1)
        told = f"waiting for a run to start in `{tmp_path / 't-results'}`\n"
        assert server.end() == (3, f"{told}referee: stopped by SIGTERM\n")


def test_what_it_refuses_to_serve(folder: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = referee("serve", str(folder), "--port", str(port))
    assert done.code == 2 and not done.out
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use, expected" in done.err
    for words in ((str(tmp_path / "none"),), (str(folder), "--host", "no.such.host.invalid")):
        done = referee("serve", *words)
        assert done.code == 2 and not done.out and len(done.err.splitlines()) == 1, done
    assert "not the name of a host" in referee("serve", str(folder), "--host", "x" * 300).err


@pytest.mark.slow
def test_a_server_for_everybody_says_so(folder: Path) -> None:
    with serving(folder, "--host", "0.0.0.0", "--log") as server:
        assert server.get()[0] == 200
        code, told = server.end()
    warning, request, end = told.splitlines()
    assert code == 3 and end == "referee: stopped by SIGTERM"
    assert warning.startswith("warning: anyone who can reach http://0.0.0.0:")
    assert request == "127.0.0.1 GET / 200"


@pytest.mark.slow
def test_clients_that_hang_keep_nobody_waiting_and_are_sent_away(folder: Path) -> None:
    patch = "import referee.serving.server as s; s.REQUEST_S = s.WRITE_S = 1.0"
    with serving(folder, patch=patch) as server:
        silent = [server.connection() for _ in range(20)]
        for one in silent[10:]:
            one.sendall(b"GET / HTTP/1.1\r\nHost: loc")
        deaf = server.connection()
        deaf.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 4000)
        assert server.get()[0] == 200
        for one in silent:
            assert not one.recv(100), "the server has closed it"
            one.close()
        with deaf, pytest.raises(ConnectionError):  # it reads nothing, until it is sent away
            deaf.settimeout(TOO_LONG_S)
            while True:
                deaf.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)
        assert server.get()[0] == 200
        assert server.end()[1] == "referee: stopped by SIGTERM\n", "nothing was printed meanwhile"


@pytest.mark.slow
def test_connections_are_bounded(folder: Path) -> None:
    with serving(folder, patch="import referee.serving.server as s; s.MAX_CONNECTIONS = 5") as server:
        held = [server.connection() for _ in range(5)]
        with server.connection() as one_more, pytest.raises((ConnectionError, AssertionError)):
            one_more.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert one_more.recv(100)
        for one in held:
            one.close()
        server.until(count=3)


@pytest.mark.slow
def test_streams_that_were_left_make_room_for_others(folder: Path) -> None:
    with serving(folder, patch="import referee.serving.app as a; a.MAX_STREAMS = 3") as server:
        streams = [server.events() for _ in range(3)]
        for stream in streams:
            assert next(stream)
        assert server.get("/arena/events")[0] == 503
        for stream in streams:
            stream.close()
        while not any(server.events()):
            pass  # until the server has noticed that they have left


@pytest.mark.slow
def test_500_browsers_follow_and_one_more_is_told_why_not(growing: Growing, folder: Path) -> None:
    with serving(folder) as server, ExitStack() as stack:
        streams = [stack.enter_context(server.connection()) for _ in range(500)]
        for stream in streams:
            stream.sendall(b"GET /arena/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        files = [stack.enter_context(stream.makefile("rb")) for stream in streams]
        for file in files:
            assert any(line == b"event: whole\n" for line in file)
        status, why = server.get("/arena/events")
        assert (status, why) == (503, "500 browsers are already following the run\n")
        growing.play("2:b:a")
        for file in files:
            assert any(b'"count":4' in line for line in file)
        assert server.get("/standings")[0] == 200


LARGE_EVENTS = """
import referee.serving.arena as a, referee.serving.server as s
s.WRITE_S = 1.0
made = a.Arena._event
a.Arena._event = lambda *given: (e := made(*given))._replace(data=e.data + b": %b\\n\\n" % (b"x" * 9_000_000))
"""
"""Events that no buffer of a connection holds."""


@pytest.mark.slow
def test_a_browser_that_reads_nothing_keeps_no_other_waiting_and_is_sent_away(
    growing: Growing, folder: Path
) -> None:
    with serving(folder, patch=LARGE_EVENTS) as server, server.connection() as deaf:
        deaf.sendall(b"GET /arena/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        told = server.told()
        for number, game in enumerate(("2:b:a", "3:a:b", "3:b:a"), 4):
            growing.play(game)
            assert any(known["count"] == number for known in told), "the other one is told"
        with pytest.raises(ConnectionError):
            deaf.settimeout(TOO_LONG_S)
            while True:
                deaf.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 100)


@pytest.mark.slow
def test_what_is_no_request_gets_a_plain_error_and_200_at_once_are_answered(folder: Path) -> None:
    with serving(folder) as server:
        for sent in (
            b"\x16\x03\x01 hello\r\n\r\n",
            b"GET\r\n\r\n",
            b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        ):
            with server.connection() as connection:
                connection.sendall(sent)
                answer = connection.makefile("rb").read().decode()
            assert answer.startswith("HTTP/1.1 400 Bad Request\r\n") and "x-frame-options: DENY" in answer
            assert answer.endswith("this is no HTTP request that the server understands\n")
        with server.connection() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 40_000)
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 400 ")
        with server.connection() as connection:
            connection.sendall(
                b"GET /arena/events HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"
            )
            assert connection.makefile("rb").read().startswith(b"HTTP/1.1 400 ")
        answers_200_requests_at_once(server)
        assert server.end() == (3, "referee: stopped by SIGTERM\n")


def answers_200_requests_at_once(server: Server) -> None:
    paths = ["/", "/game/1", "/standings", "/x", "/arena/events"]
    with ThreadPoolExecutor(200) as threads:
        connections = [server.connection() for _ in range(200)]
        for number, connection in enumerate(connections):
            path = paths[number % len(paths)].encode()
            connection.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n\r\n")
        firsts = [*threads.map(lambda one: one.recv(12), connections)]
        for one in connections:
            one.close()
    assert firsts.count(b"HTTP/1.1 200") == 160 and firsts.count(b"HTTP/1.1 404") == 40


@pytest.mark.slow
def test_beside_a_run_it_follows_and_changes_nothing(tmp_path: Path) -> None:
    """The bots draw their moves from their seeds, so that the games follow from the seed of the run.

    One of them waits in its games until the page has shown a run that has begun and is not over.
    """
    shown = tmp_path / "shown"
    bots = {"random": RANDOM, "greedy": GREEDY, "waits": resigning(until(shown))}
    shown.touch()
    for name in ("alone", "watched"):
        (tmp_path / name).mkdir()
    alone = toml(tmp_path / "alone" / "t.toml", bots, rounds=4, clock="300s")
    assert referee_process("run", str(alone)).code == 0
    shown.unlink()
    watched = toml(tmp_path / "watched" / "t.toml", bots, rounds=4, clock="300s")
    with serving(watched) as server, serving(watched) as killed:
        run = subprocess.Popen(
            [sys.executable, "-m", "referee", "run", str(watched)],
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        counts = []
        for known in server.told():
            if known["planned"] == 24:
                counts.append(known["count"])
                if killed.process.poll() is None:
                    killed.process.kill()
                    shown.touch()
            if known["state"] == "The tournament is over.":
                break
        _, told = run.communicate(timeout=TOO_LONG_S)
        assert run.returncode == 0, told
        assert counts == sorted(counts) and counts[-1] == 24 and len(set(counts)) > 1
        assert server.get("/game/24")[0] == 200
    assert games(tmp_path / "watched" / "t-results") == games(tmp_path / "alone" / "t-results")
    assert referee_process("verify", str(watched)).code == 0


@pytest.mark.slow
def test_a_run_is_served_until_it_ends(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    file = toml(
        tmp_path / "t.toml", {"random": RANDOM, "waits": resigning(until(seen))}, rounds=1, clock="300s"
    )
    run = subprocess.Popen(
        [sys.executable, "-m", "referee", "run", str(file), "--serve"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr
    server = Server(run, re.findall("http://[^ ]+", run.stderr.readline())[0])
    told = server.told()
    boards = next(known["boards"] for known in told if known["boards"])
    assert all({*board["bots"]} == {"random", "waits"} for board in boards.values())
    seen.touch()
    *_, last = told
    assert last["state"] == "The tournament is over." and last["count"] == 2, "who looks is told the end"
    _, rest = run.communicate(timeout=TOO_LONG_S)
    assert run.returncode == 0, rest
    with pytest.raises(ConnectionError):
        server.get()


@pytest.mark.slow
def test_the_server_of_a_run_ends_also_where_the_run_is_killed(tmp_path: Path) -> None:
    never = resigning(until(tmp_path / "never"))
    file = toml(tmp_path / "t.toml", {"random": RANDOM, "waits": never}, rounds=1, clock="300s")
    run = subprocess.Popen(
        [sys.executable, "-m", "referee", "run", str(file), "--serve"],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert run.stderr
    server = Server(run, re.findall("http://[^ ]+", run.stderr.readline())[0])
    told = server.told()
    next(told)
    run.kill()
    assert [*told][-1]["running"] is False, "until the stream ends"
    run.communicate(timeout=TOO_LONG_S)


@pytest.mark.slow
def test_who_looks_is_told_the_order_at_the_end_although_none_was_due(tmp_path: Path) -> None:
    growing = Growing(tmp_path, rounds=12)
    growing.begin()
    never = "from threading import Event; from referee.serving.arena import Arena"
    script = f"{never}; Arena.keep_order = lambda self: Event().wait()"
    script += f"; from referee.serving.beside import main; main({str(tmp_path)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    told = Server(process, process.stdout.readline().strip()).told()
    assert next(told)["count"] == 0
    growing.play(*(f"{number}:{bots}" for number in range(1, 13) for bots in ("a:b", "b:a")))
    process.stdin.close()
    *_, last = told
    assert last["count"] == 24
    assert all(one["elo"] is not None for one in last["standings"]), "only an order has ratings"
    assert process.wait(TOO_LONG_S) == 0
    process.stdout.close()


@pytest.mark.slow
def test_who_looks_is_told_the_end_although_the_server_would_look_later(
    growing: Growing, folder: Path
) -> None:
    rests = "from referee.serving import live; live.LOOK_S = 1000.0"
    script = f"{rests}; from referee.serving.beside import main; main({str(folder)!r})"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin and process.stdout
    told = Server(process, process.stdout.readline().strip()).told()
    assert next(told)["count"] == 3
    growing.play("2:b:a")
    process.stdin.close()
    *_, last = told
    assert last["count"] == 4
    assert process.wait(TOO_LONG_S) == 0
    process.stdout.close()
