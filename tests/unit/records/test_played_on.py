"""Where a game was played: written to its record, read back, and shown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.core import this_machine as module
from referee.core.errors import RecordError
from referee.core.fields import Fields
from referee.core.this_machine import ThisMachine, model_in, this_machine
from referee.pages.report.gathering import machines
from referee.records.record import (
    LABEL_CAP,
    GameRecord,
    PlayedOn,
    from_json,
    json_of,
    played_on,
    played_on_of_line,
    to_json,
)
from referee.viewing.words import place_text
from tests.command import referee
from tests.processes.runs import forged
from tests.recorded import HERE
from tests.unit.records.test_records import WON, record
from tests.unit.tournament.test_exports import found, written

FAST = PlayedOn("fast", "EPYC 9754", "0")
SLOW = PlayedOn("=slow", "Xeon", "tcp://10.0.0.2:40001 2")

FOURTH = record("resign {n}", number=4)


def played_by(place: PlayedOn, made: GameRecord) -> GameRecord:
    return replace(made, measured={**made.measured, "machine": place._asdict()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three machines."""
    games = (
        played_by(FAST, WON),
        record("resign {n}", number=2),
        played_by(SLOW, record(None, number=3)),
        played_by(SLOW, FOURTH),
    )
    return written(tmp_path_factory.mktemp("places") / "run", *games)


# --- This machine ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "model"),
    [
        ("processor\t: 0\nmodel\t\t: 1\nmodel name\t: AMD EPYC\n\nmodel name: other\n", "AMD EPYC"),
        ("processor\t: 0\n\nHardware\t: BCM2835\nModel\t\t: Raspberry Pi 4\n", "Raspberry Pi 4"),
        ("CPU implementer\t: 0x41\nCPU part\t: 0xd0c\n", "ARM implementer 0x41 part 0xd0c"),
        ("processor : 0\ncpu : POWER9\nmodel : 9006-22P\n", "POWER9"),
        ("model name:\n:\nx", ""),
        ("", ""),
    ],
)
def test_the_model_of_a_processor_is_what_the_system_calls_it(text: str, model: str) -> None:
    assert model_in(text) == model


@pytest.mark.parametrize(
    ("name", "model", "expected"),
    [
        ("host", "Intel(R)   Xeon(R)\t6", ("host", "Intel(R) Xeon(R) 6")),
        ("", "", ("unknown", "unknown")),
        ("\x1b[2J", "n" * 5000, ("\\x1b[2J", "n" * 100)),
        ("\x1b" * 500, "\ufffd\u202e", ("\\x1b" * 25, "\ufffd\\u202e")),
    ],
)
def test_what_a_machine_is_called_is_bounded_and_escaped(
    name: str, model: str, expected: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: name)
    monkeypatch.setattr(module, "_model", lambda: model)
    machine = this_machine.__wrapped__()
    assert machine == expected
    place = PlayedOn(*machine, "0")
    assert played_on(Fields({"machine": place._asdict()}, "measured", RecordError)) == place


def test_a_processor_without_a_description_is_called_by_its_architecture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    monkeypatch.setattr(module, "CPU_INFO", tmp_path / "cpuinfo")
    assert this_machine.__wrapped__().cpu == "riscv64"
    (tmp_path / "cpuinfo").write_bytes(b"uarch\t: \xff,u74\n" + b"x" * 10**6)
    assert this_machine.__wrapped__().cpu == "\ufffd,u74"


def test_this_machine_has_a_name_and_a_processor_that_are_read_once() -> None:
    assert all(this_machine()) and this_machine() is this_machine()


# --- Records ---------------------------------------------------------------------------------------------


def test_a_record_says_where_its_game_was_played() -> None:
    made = played_by(SLOW, WON)
    value = json.loads(json.dumps(to_json(made)))
    assert value["measured"]["machine"] == {
        "name": "=slow",
        "cpu": "Xeon",
        "worker": "tcp://10.0.0.2:40001 2",
    }
    assert from_json(value) == made


def changed(value: Any) -> Iterator[dict[str, Any]]:
    yield {"machine": value}
    if not isinstance(value, dict):
        for name in PlayedOn._fields:
            yield {"machine": {**FAST._asdict(), name: value}}


@pytest.mark.parametrize("value", [None, 5, True, [], {}, {"name": "n"}, "", "x" * (LABEL_CAP + 1), "\ud800"])
def test_what_is_no_machine_is_refused_with_a_line(value: object) -> None:
    for measured in changed(value):
        whole = to_json(WON)
        whole["measured"].update(measured)
        for read in (lambda: from_json(whole), lambda: played_on_of_line(json_of(whole))):  # noqa: B023
            with pytest.raises(RecordError) as caught:
                read()
            said = str(caught.value)
            assert said.startswith("`measured.machine") and ", expected " in said
            assert "\n" not in said and len(said) < 200


def test_verify_tells_each_wrong_machine_in_a_line(folder: Path, tmp_path: Path) -> None:
    third = played_by(FAST, record(None, number=3))
    run = written(tmp_path / "run", WON, record("resign {n}", number=2), third, FOURTH)
    assert referee("verify", str(folder)).code == 0

    def forge(lines: list[dict[str, Any]]) -> None:
        lines[1]["measured"]["machine"] = {"name": "n", "cpu": "x" * 10**6, "worker": "0"}
        lines[2]["measured"]["machine"] = "\x1b[2J" * 10**5
        lines[3]["measured"]["machine"]["worker"] = 1

    forged(run, forge)
    done = referee("verify", str(run))
    assert done.code == 6 and not done.out
    *problems, _ = done.err.splitlines()
    assert [problem.split("is `")[0] for problem in problems] == [
        "line 2 (game 1:a:b): `measured.machine.cpu` ",
        "line 3 (game 2:a:b): `measured.machine` ",
        "line 4 (game 3:a:b): `measured.machine.worker` ",
    ]
    assert all(len(problem) < 250 and problem.isprintable() for problem in problems)


def test_a_place_is_cut_out_of_a_line_as_it_is_read_from_its_object() -> None:
    """Whatever bots wrote, and also where an option of the game has the same name."""
    line = json_of(to_json(played_by(SLOW, WON)))
    assert played_on_of_line(line) == SLOW
    value = to_json(WON)
    value["options"] = {"size": "3", "machine": "7"}
    value["measured"]["seats"] = [{"log": {"lines": [',"machine":{"name":"x"}', ',"measured":']}}]
    assert played_on_of_line(json_of(value)) == HERE
    del value["measured"]["machine"]
    with pytest.raises(RecordError, match=r"`measured.machine` is missing"):
        played_on_of_line(json_of(value))
    with pytest.raises(RecordError, match=r"measured.machine"):
        played_on_of_line(line[: line.index(b"Xeon")])


# --- Where people see it ---------------------------------------------------------------------------------


def test_games_are_found_by_their_machine(folder: Path) -> None:
    assert found(str(folder), "--machine", "=slow") == ["3:a:b", "4:a:b"]
    assert found(str(folder), "--machine", "fast", "--ending", "rules") == ["1:a:b"]
    assert found(str(folder), "--machine", "fast", "--ending", "time") == []
    done = referee("find", str(folder), "--machine", "slow")
    assert done.code == 2 and not done.out
    assert "no game was played on `slow`, expected `=slow`" in done.err


def test_what_is_exported_says_where_games_were_played(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(referee("export", str(folder), "--format", "csv").out)))
    assert [tuple(row[name] for name in ("machine", "cpu", "worker")) for row in rows] == [
        ("fast", "EPYC 9754", "0"),
        ("here", "none", "0"),
        ("'=slow", "Xeon", SLOW.worker),  # no formula
        ("'=slow", "Xeon", SLOW.worker),
    ]
    listed = referee("export", str(folder), "--format", "jsonl").out.splitlines()
    games = [json.loads(line) for line in listed]
    assert [game["machine"] for game in games[:3]] == [FAST._asdict(), HERE._asdict(), SLOW._asdict()]


def test_what_is_exported_is_refused_where_its_machine_is_wrong(folder: Path, tmp_path: Path) -> None:
    run = written(tmp_path / "run", played_by(FAST._replace(cpu=""), WON))
    for words in (("export", "--format", "csv"), ("find", "--machine", "fast")):
        done = referee(words[0], str(run), *words[1:])
        assert done.code == 6 and "1:a:b" in done.err and "`measured.machine.cpu`" in done.err
    assert referee("export", str(run)).code == 0, "PGN has no machines"
    assert referee("table", str(run)).code == 0


def test_a_replay_says_where_its_game_was_played(folder: Path) -> None:
    first = referee("replay", str(folder), "4:a:b").out.splitlines()[:2]
    assert first[1] == "played on =slow (Xeon), worker tcp://10.0.0.2:40001 2"
    assert place_text({"machine": FAST._asdict()}) == "played on fast (EPYC 9754)"


def test_what_a_record_calls_its_machine_is_escaped_where_it_is_shown(tmp_path: Path) -> None:
    odd = PlayedOn("\x1b[2J", "<b>\u202e", "=\x00")
    run = str(written(tmp_path / "run", played_by(odd, WON)))
    assert referee("replay", run).out.splitlines()[1] == r"played on \x1b[2J (<b>\u202e), worker =\x00"
    (row,) = csv.DictReader(io.StringIO(referee("export", run, "--format", "csv").out))
    assert (row["machine"], row["cpu"], row["worker"]) == (r"\x1b[2J", r"<b>\u202e", r"'=\x00")
    assert r"expected `\x1b[2J`" in referee("find", run, "--machine", "[2J").err
    assert found(run, "--machine", odd.name) == ["1:a:b"]


def test_a_report_says_where_games_were_played_if_several_machines_played() -> None:
    one, other = ThisMachine("a", "Xeon"), ThisMachine("b", "EPYC")
    assert list(machines({one: 7})) == list(machines({})) == []
    assert list(machines({one: 1, other: 40})) == [
        ("played on", "2 machines: b (EPYC) 40 games; a (Xeon) 1 game")
    ]
    ((_, text),) = machines({ThisMachine(f"m{number}", "c"): 20 - number for number in range(11)})
    assert text.startswith("11 machines: m0 (c) 20 games; ")
    assert text.endswith("; m7 (c) 13 games; 33 games elsewhere")
