"""A run that is followed while it grows: each line is read once, and what cannot be continued is told."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from referee.core.errors import RecordError
from referee.records import journal
from referee.records.record import to_json
from referee.serving import follower as module
from referee.serving.follower import RunFollower
from tests.unit.growing import Growing


def ids(follower: RunFollower) -> list[str]:
    return [one.game.id for one in follower.played]


def test_a_run_is_read_as_it_grows(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    assert not follower.read() and follower.run is None and not follower.trouble, "no file yet"
    growing.begin()
    assert follower.read() and follower.run and not follower.run.games
    growing.play("1:a:b")
    growing.play("1:b:a", "2:a:b")
    assert follower.read() and ids(follower) == ["1:a:b", "1:b:a", "2:a:b"]
    assert not follower.read(), "nothing is new"
    assert [one.id for one in follower.last()] == ids(follower)
    run = follower.run
    growing.play("2:b:a")
    follower.read()
    assert run and len(run.games) == 3, "what was given out does not change"


def test_a_line_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    line = growing.line(to_json(growing.record("1:a:b")))
    for byte in (line[:1], line[1:-1]):
        growing.append(byte)
        follower.read()
        assert follower.played == [] and not follower.trouble and not follower.unread
    growing.append(line[-1:])
    assert follower.read() and ids(follower) == ["1:a:b"]


def test_a_first_line_that_is_being_written(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.append(b'{"kind":')
    follower.read()
    assert follower.run is None and not follower.trouble


def test_each_line_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b", "1:b:a")
    follower.read()
    numbers: list[int] = []
    linked = journal.lines_from

    def watched(*given: Any) -> Any:
        for line in linked(*given):
            numbers.append(line.number)
            yield line

    monkeypatch.setattr(journal, "lines_from", watched)
    growing.play("2:a:b")
    follower.read()
    follower.read()
    assert numbers == [4]


def test_much_is_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    growing, follower = Growing(tmp_path, rounds=10), RunFollower(tmp_path)
    growing.begin()
    games = [f"{number}:{bots}" for number in range(1, 11) for bots in ("a:b", "b:a")]
    growing.play(*games)
    monkeypatch.setattr(module, "BATCH", 5000)
    times = 0
    while follower.read() and follower.unread:
        times += 1
    assert times > 2 and ids(follower) == games and len(follower.last()) == len(games)


def test_the_line_of_a_game_can_be_read_again(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b", "1:b:a")
    follower.read()
    one = follower.played[1]
    line = journal.line_at(tmp_path, one.at, one.size, one.digest)
    assert json.loads(line)["id"] == "1:b:a"
    data = bytearray(growing.path.read_bytes())
    data[one.at + 40] ^= 1
    growing.path.write_bytes(data)
    with pytest.raises(RecordError, match="modified after it was read"):
        journal.line_at(tmp_path, one.at, one.size, one.digest)


def test_a_file_that_is_replaced_is_read_anew(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    follower.read()
    (tmp_path / "other").mkdir()
    other = Growing(tmp_path / "other", bots="cd")
    other.begin()
    other.play("1:c:d", "1:d:c")
    other.path.replace(growing.path)
    assert follower.read() and ids(follower) == ["1:c:d", "1:d:c"]
    assert "replaced" in follower.notice and not follower.trouble


def test_a_file_that_is_cut_is_read_anew(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    length = growing.path.stat().st_size
    growing.play("1:b:a")
    follower.read()
    with growing.path.open("r+b") as file:
        file.truncate(length)
    assert follower.read() and ids(follower) == ["1:a:b"] and "became shorter" in follower.notice


def test_a_file_that_is_gone_is_told_and_what_was_read_stays(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    follower.read()
    data = growing.path.read_bytes()
    growing.path.unlink()
    assert follower.read() and "is gone" in follower.trouble and ids(follower) == ["1:a:b"]
    growing.path.write_bytes(data)
    assert follower.read() and not follower.trouble and "replaced" in follower.notice
    assert ids(follower) == ["1:a:b"]


def test_a_line_that_does_not_continue_the_chain_is_told(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    follower.read()
    growing.append(b'{"kind":"game"}\n')
    assert follower.read() and "line 3 of" in follower.trouble and ids(follower) == ["1:a:b"]
    growing.play("1:b:a")
    assert not follower.read(), "nothing after it is believed"


def test_a_link_in_the_place_of_the_records_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl").symlink_to("/etc/passwd")
    follower = RunFollower(tmp_path)
    assert follower.read() and "symbolic link" in follower.trouble


def test_a_game_that_became_void_and_is_played_again(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    follower.read()
    growing.void("1:b:a", 1)
    assert follower.read() and follower.run and follower.run.next_attempt("1:b:a") == 2
    growing.append(growing.line({**to_json(growing.record("1:b:a")), "attempt": 2}))
    assert follower.read() and not follower.trouble and ids(follower) == ["1:a:b", "1:b:a"]
    assert follower.run and len(follower.run.voids) == 1


def test_a_change_of_the_run_is_followed(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b", "1:b:a")
    follower.read()
    growing.append(growing.line({"kind": "change", "annulled": {"1:a:b": "why not"}, "renamed": {"a": "A"}}))
    assert follower.read() and follower.run
    assert [*follower.run.games] == ["1:b:a"] and follower.run.names == ["A", "b"]
    assert ids(follower) == ["1:a:b", "1:b:a"], "the numbers of games stay"


def test_nothing_is_written_in_the_folder(tmp_path: Path) -> None:
    growing, follower = Growing(tmp_path), RunFollower(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    follower.read()
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before
