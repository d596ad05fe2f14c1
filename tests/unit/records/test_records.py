"""Records: what is written reads back, plays again to itself, and shows every change."""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import RecordError, StorageError, UsageError
from referee.core.pairing import Pairing
from referee.core.units import TimeControl
from referee.gameplay.clock import Charge
from referee.gameplay.events import Drawn, Ending, Event, Moved, Preset, Rejected, Retired, Timing, Unplayed
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.processes.program import Program
from referee.records import journal
from referee.records.record import (
    GameRecord,
    event_data,
    event_json,
    from_json,
    json_of,
    parse_json,
    summary,
    to_json,
)
from referee.records.replay import verify
from referee.tournament.formats.fixed import RoundRobin
from referee.tournament.plan import Entrant, Plan
from referee.tournament.tournament import Tournament
from tests.command import ROOT, referee
from tests.page_tables import listed, require_same, rows, words
from tests.programs import needs
from tests.recorded import record_of
from tests.unit.characters import ENCODABLE
from tests.unit.scripted import Events, ScriptedWire, puppet
from tests.unit.toys import Bid

BLOOMS = GAMES["blooms"]
CLOCK = TimeControl.parse("2s+6s/2s")
PLAN = Plan(
    BLOOMS,
    BLOOMS.settle({"size": "3", "target": "1"}),
    tuple(Entrant(Program(name, ("true",), Path("/")), CLOCK) for name in "ab"),
    "seed",
)


def record(*answers: Any, others: tuple[Any, ...] = (), number: int = 1, plan: Plan = PLAN) -> GameRecord:
    terms = plan.terms(Pairing(f"{number}:a:b", ("a", "b")))
    events = Events()
    wire = ScriptedWire(puppet(*answers), puppet(*others))
    verdict = play(terms, wire, seeded_dice(terms), events)
    return record_of(terms, events.all, verdict, host="here")


def unstarted(*seats: int) -> GameRecord:
    terms = PLAN.terms(Pairing("1:a:b", ("a", "b")))
    events = Events()
    wire = ScriptedWire(*((lambda lines: []) if seat in seats else puppet() for seat in (0, 1)))
    verdict = play(terms, wire, seeded_dice(terms), events)
    return record_of(terms, events.all, verdict)


WON = record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2"))
ENDINGS = {
    "rules": WON,
    "rules, on the reserve": record((2_500_000, "L:A1"), "L:B3", others=("L:A2 D:B1", "L:B2")),
    "time": record("L:A1", others=(None,)),
    "time, late": record((8_010_001, "L:A1")),
    "illegal": record(*["x"] * 10),
    "resigned, after a rejection": record("x", "L:A1", "resign {n}", others=("L:A1", "L:A2")),
    "resigned": record("resign {n}"),
    "protocol": record("L:A1", "list {n} x", others=("L:B1",)),
    "turn": record("move 1{n} L:A1"),
    "start": unstarted(1),
    "start, both": unstarted(0, 1),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_record_reads_back_and_plays_again_to_itself(ending: str) -> None:
    made = ENDINGS[ending]
    assert made.verdict.ending.word == ending.partition(",")[0]
    value = json.loads(json.dumps(to_json(made)))
    again = from_json(value)
    assert again == made
    assert to_json(again) == value
    verify(value)


def test_chance_and_both_at_once_play_again(monkeypatch: pytest.MonkeyPatch) -> None:
    game = Bid()
    monkeypatch.setitem(GAMES, "bid", game)
    for bots in (
        (puppet("3", "2"), puppet("9", (500_000, "1"), "4"), puppet(None, "2")),
        (puppet("3", "2"), puppet("list {n} x"), puppet("resign {n}")),
        (puppet("3", "2", "1"), puppet("list {n} x"), puppet("4", "3", "2")),
    ):
        terms = Terms("1", game, game.settle({"players": "3"}), ("a", "b", "c"), (game.clock,) * 3, b"s")
        events = Events()
        verdict = play(terms, ScriptedWire(*bots), seeded_dice(terms), events)
        made = record_of(terms, events.all, verdict)
        verify(json.loads(json.dumps(to_json(made))))


RECORD = "referee/RECORD.md"


def test_the_page_has_every_member_of_a_game() -> None:
    started = replace(WON.terms, start=(Drawn("x"),))
    value = to_json(replace(WON, terms=started, isolation=("none", "none")))
    names = [name for first, _ in rows(RECORD, "member | ") for name in words(first)]
    assert names == [*value, "prev", "hash"], "they are in this order"


def test_the_page_has_every_ending() -> None:
    (what,) = (what for first, what in rows(RECORD, "member | ") if first == "`ending`")
    require_same(f"{RECORD}, row `ending`", words(what), (ending.word for ending in Ending))


def test_the_page_has_every_event_with_what_is_measured_of_it() -> None:
    charge = Charge(1, 1, 1, 1)
    timing = Timing(1, 1, 1, 1, 1, 1)
    events: list[Event] = [
        Drawn("x"),
        Preset(0, "x"),
        Moved(0, "x", charge, info="x", timing=timing),
        Moved(0, "x", charge, defaulted=True, info="x", timing=timing),
        Rejected(0, "x", "x", "x", 1, timing),
        Retired(0, Ending.TIME, "x", 1, timing, "x"),
        Unplayed(0, "x", 1, timing),
    ]
    described = [re.findall(r'"([a-z]+)":', first) for first, _ in rows(RECORD, "event | ")]
    assert sorted(described) == sorted([*event_json(event)] for event in events)
    measured: dict[str, set[str]] = {}
    *each, (_, all_but_these) = rows(RECORD, "for | members")
    for first, what in each:
        measured.update({kind: set(words(what)) for kind in words(first)})
    for event in events:
        (kind,) = measured.keys() & event_json(event).keys()
        timed = set(words(all_but_these)) if measured[kind] else set()
        assert measured[kind] | timed == event_data(event).keys() - event_json(event).keys(), kind
    described_once = listed(RECORD, "in microseconds, except for three texts | ")
    assert described_once == set().union(*measured.values(), words(all_but_these))


def test_the_example_of_the_page_verifies(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```json\n(.*?)^```", (ROOT / RECORD).read_text(), re.MULTILINE | re.DOTALL)
    lines = [json_of(json.loads(value)) + b"\n" for value in re.split(r"\n\n", example)]
    file = tmp_path / "games.jsonl"
    file.write_bytes(b"".join(lines))
    assert [line.error for line in journal.read(file)] == [""] * 3
    done = referee("verify", str(file), "--workers", "0")
    assert done.code == 0 and "1 game" in done.out + done.err, done.err
    game = json.loads(lines[1])
    file.write_bytes(lines[0] + lines[1].replace(game["seed"].encode(), b"0" * 64) + lines[2])
    assert referee("verify", str(file), "--workers", "0").code == 6


@needs("sh", "sha256sum", "openssl")
def test_the_commands_of_the_page_print_the_seeds_of_its_example() -> None:
    page = (ROOT / RECORD).read_text()
    (commands,) = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    done = subprocess.run(["sh", "-euc", commands], capture_output=True, text=True, check=True)
    (of_run,), (of_game,) = (
        re.findall(rf'"{name}":"([0-9a-f]{{64}})"', page) for name in ("seed_sha256", "seed")
    )
    assert re.findall("[0-9a-f]{64}", done.stdout) == [of_run, of_game]


def changed(value: dict[str, Any], path: str, new: object) -> dict[str, Any]:
    copy = json.loads(json.dumps(value))
    at = copy
    *way, last = path.split(".")
    for step in way:
        at = at[int(step)] if step.isdigit() else at[step]
    at[int(last) if last.isdigit() else last] = new
    return copy  # type: ignore[no-any-return]


def test_clocks_are_compared_with_those_of_the_run() -> None:
    header = Tournament((PLAN,), RoundRobin(3)).header
    header.check_game(to_json(WON))
    with pytest.raises(RecordError, match=r"bot `a` does not have the clock `3s\+9s/3s` in this run"):
        header.check_game({**to_json(WON), "clocks": ["3s+9s/3s"] * 2})


FORGERIES = [
    ("rules", "faults", ["time", ""], 'faults is `["time", ""]`'),
    ("rules", "bonus", 1, "unknown key `bonus`"),
    ("rules", "bonus", None, "unknown key `bonus`"),
    ("rules", "ranks", [1, 2], "ranks is"),
    ("rules", "scores", [1, 1], "scores is"),
    ("rules", "ending", "time", "ending is"),
    ("rules", "sentence", "seat 1 was robbed", "sentence is"),
    ("rules", "rated", False, "rated is"),
    ("rules", "rules", 2, "played with version 2 of the rules"),
    ("rules", "options.target", 2, "the record ends after event 4"),
    ("rules", "events.3.move", "L:B3", "the record ends after event 4"),
    ("rules", "events.0.move", "x", "event 1 is rejected when the game is played again: not a move"),
    ("rules", "events.1.move", "L:A1", "event 2 is rejected when the game is played again: A1 is occupied"),
    ("rules", "events.1.move", "D:B1 L:A2", "event 2: text is"),
    ("rules", "events.1.seat", 1, "event 2 belongs to a seat that was not to move"),
    ("rules", "measured.events.0.used_us", 2_500_000, "event 1: over_us is `0` in the record, but `500000`"),
    ("rules", "measured.events.0.used_us", 9_000_000, "event 1 is `moved L:A1` in the record, but `retired"),
    (
        "rules, on the reserve",
        "measured.events.0.taken_us",
        500_000,
        "taken_us is `500000` in the record, but `2000000`",
    ),
    (
        "rules, on the reserve",
        "clocks",
        ["2s+6s", "2s+6s"],
        "taken_us is `2000000` in the record, but `500000`",
    ),
    ("time", "measured.events.1.used_us", 8_010_000, "out of time after 8010000 µs, but had 8010000 µs"),
    ("time", "events.1.left", "rules", "event 2 is not possible here"),
    ("illegal", "rejections", 9, "event 10"),
    ("illegal", "events.0.reason", "occupied", "event 1: reason is"),
    ("start, both", "rated", True, "rated is"),
    ("resigned", "ranks", [1, 2], "ranks is"),
]


@pytest.mark.parametrize(("ending", "path", "new", "message"), FORGERIES)
def test_a_forgery_is_named(ending: str, path: str, new: object, message: str) -> None:
    with pytest.raises(RecordError) as caught:
        verify(changed(to_json(ENDINGS[ending]), path, new))
    assert message in str(caught.value)


MALFORMED = [
    ("kind", 1, None),
    ("id", 5, "`id` is `5`, expected a string"),
    ("id", "1:\ud800:b", "expected a string that UTF-8 can encode"),
    ("game", "chess", "expected one of blooms"),
    ("game", ["blooms"], "`game` is"),
    ("options", {"size": 99}, "expected a number from 3 to 8"),
    ("options", {"size": [1]}, "expected an object of strings and numbers"),
    ("options", [], "expected an object"),
    ("bots", ["a"], "expected 2 each"),
    ("bots", ["a", "../b"], "an invalid name"),
    ("bots", ["a", 7], "expected a list of strings"),
    ("clocks", ["1s", "x"], "is not a time control"),
    ("seed", "zz", "hexadecimal"),
    ("margin_us", -1, "expected a number from 0 to"),
    ("margin_us", True, "expected a number"),
    ("margin_us", 1e9, "expected a number"),
    ("margin_us", 10**400, "expected a number from 0 to"),
    ("rejections", 0, "expected a number from 1 to"),
    ("ranks", [1], "expected 2 each"),
    ("ranks", [1, "2"], "expected a list of numbers"),
    ("ending", "boredom", "is not an ending"),
    ("events", {}, "expected a list"),
    ("events.0", 1, "expected an object"),
    ("events.0.seat", 3, "expected a number from 1 to 2"),
    ("events.0.seat", 0, "expected a number from 1 to 2"),
    ("events", [], "`events`, but 4 `measured.events`"),
    ("measured", None, "expected an object"),
    ("measured.events.0.used_us", "1", "expected a number"),
]


@pytest.mark.parametrize(("path", "new", "message"), MALFORMED)
def test_a_malformed_record_is_refused_with_a_line(path: str, new: object, message: str | None) -> None:
    value = changed(to_json(WON), path, new)
    if message is None:
        from_json(value)
        return
    with pytest.raises(RecordError) as caught:
        from_json(value)
    assert message in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(ENCODABLE, max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(ENCODABLE, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)
PATHS = ["id", "options", "bots", "clocks", "seed", "ranks", "scores", "ending", "events", "measured"]
PATHS += [
    "events.0",
    "events.0.seat",
    "events.0.move",
    "measured.events",
    "measured.events.0.used_us",
    "attempt",
]


@given(st.sampled_from(PATHS), JSON)
def test_whatever_stands_in_a_record_it_is_refused_or_plays(path: str, new: object) -> None:
    with contextlib.suppress(RecordError):
        verify(changed(to_json(WON), path, new))


@pytest.mark.parametrize(
    "line", [b"", b"x", b"[" * 200_000, b"NaN", b"[]", b'{"a":NaN}', b"9" * 10_000, b'"\xff"']
)
def test_what_is_no_object_is_refused(line: bytes) -> None:
    with pytest.raises(RecordError):
        parse_json(line)


# --- The file ------------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written = journal.Journal.create(tmp_path / "run")
    written.append(Tournament((PLAN,), RoundRobin(3)).header.members)
    for made in (
        record("L:A1", others=(None,)),
        record(*["x"] * 10, number=2),
        record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2"), number=3),
    ):
        written.append(to_json(made))
    written.close()
    return tmp_path / "run"


def run(*words: str) -> tuple[int, str]:
    """A command's exit code and what it prints."""
    done = referee(*words)
    return done.code, done.out + done.err


def flaws(path: Path) -> list[tuple[int, str]]:
    return [(line.number, line.error) for line in journal.read(path) if line.error]


def test_a_file_as_it_was_written_has_no_flaw(folder: Path) -> None:
    assert flaws(folder) == []
    code, out = run("verify", str(folder))
    assert (code, out[:22]) == (0, "3 of 6 games verified,")


def test_every_byte_counts(folder: Path) -> None:
    path = folder / journal.NAME
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert flaws(path), f"byte {at}"
    line = good.count(b"\n", 0, len(good) - 1) + 1
    for at in (len(good) - 1, len(good) - 2, len(good) - 40, len(good) - 200):
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        assert [number for number, _ in flaws(path)] == [line], "the last record included"


def test_verify_names_the_record_and_what_differs(folder: Path) -> None:
    path = folder / journal.NAME
    good = path.read_bytes()
    path.write_bytes(good.replace(b'"move":"L:B2"', b'"move":"L:B3"'))
    code, out = run("verify", str(path))
    assert code == 6
    assert "line 4 (game 3:a:b): hash mismatch; " in out
    assert "the record ends after event 4" in out


def test_a_forgery_with_right_hashes_is_named(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(Tournament((PLAN,), RoundRobin(3)).header.members)
    written.append(changed(to_json(WON), "ranks", [1, 2]))
    written.close()
    code, out = run("verify", str(tmp_path / "run"))
    assert (
        code == 6
        and "line 2 (game 1:a:b): ranks is `[1, 2]` in the record, but `[2, 1]` when the game is played again"
        in out
    )


@pytest.mark.parametrize(
    ("line", "path", "new", "message"),
    [
        (0, "record", 99, "`record` is `99`, expected 1"),
        (0, "kind", "game", "`kind` is `game`, expected `tournament`"),
        (0, "seed", "other", "its id and its seeds do not match"),
        (0, "margin_us", 0, "`margin_us` is `10000`, but `0` in the first line"),
        (0, "bots.a.clock", "9s", "bot `a` does not have the clock `2s+6s/2s` in this run"),
        (1, "rejections", 11, "`rejections` is `11`, but `10` in the first line"),
        (1, "id", "3:a:b", "its id and its seeds do not match"),
        (1, "bots", ["b", "a"], "the bots of game `1:a:b` do not match its id"),
        (1, "kind", "gamf", "`kind` is `gamf`, expected `change`, `game` or `void`"),
        (2, "id", "1:a:b", "duplicate game"),
        (1, "options.\x1b]0;owned\x07", 1, "has no option `\\x1b]0;owned"),
    ],
)
def test_a_file_written_anew_has_to_agree_with_itself(
    line: int, path: str, new: object, message: str, folder: Path, tmp_path: Path
) -> None:
    values = [json.loads(text) for text in (folder / journal.NAME).read_text().splitlines()]
    values[line] = changed(values[line], path, new)
    forged = journal.Journal.create(tmp_path / "forged")
    for value in values:
        forged.append({name: what for name, what in value.items() if name not in ("prev", "hash")})
    forged.close()
    code, out = run("verify", str(tmp_path / "forged"))
    assert code == 6 and message in out and "\x1b" not in out


def test_a_name_that_stands_twice_is_no_record() -> None:
    with pytest.raises(RecordError, match="duplicate key"):
        parse_json(b'{"ranks":[1,2],"ranks":[2,1]}')


@pytest.mark.parametrize(
    ("added", "message"),
    [
        (
            {"format": "ladder", "format_origin": {"file": "ladder.py:Ladder"}, "format_settings": {}},
            "the format `ladder` comes from a file, which is only run if you name it",
        ),
        ({}, ""),
    ],
)
def test_verify_says_if_it_does_not_check_the_schedule(
    added: dict[str, object], message: str, tmp_path: Path
) -> None:
    header = Tournament((PLAN,), RoundRobin(3)).header.members | added
    written = journal.Journal.create(tmp_path / "run")
    written.append(header)
    written.append(to_json(WON))
    written.close()
    code, out = run("verify", str(tmp_path / "run"), "--workers", "0")
    assert code == 0, out
    assert (f"the schedule is not checked: {message}" in out) == bool(message)


@pytest.mark.parametrize("lines", [[0, 2, 3], [0, 1, 3], [1, 0, 2, 3], [0, 1, 1, 2, 3], [1, 2, 3]])
def test_lines_that_are_missing_moved_or_doubled(folder: Path, lines: list[int]) -> None:
    path = folder / journal.NAME
    all_lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(all_lines[number] for number in lines))
    assert "its `prev` is not the hash of the line before it" in {flaw for _, flaw in flaws(path)}


def test_a_torn_line(folder: Path) -> None:
    path = folder / journal.NAME
    path.write_bytes(path.read_bytes()[:-5])
    assert flaws(path) == [(4, "incomplete line: no newline at its end")]
    assert run("verify", str(path))[0] == 6


def test_a_journal_overwrites_nothing(folder: Path, tmp_path: Path) -> None:
    before = (folder / journal.NAME).read_bytes()
    with pytest.raises(UsageError, match="already exists"):
        journal.Journal.create(folder)
    assert (folder / journal.NAME).read_bytes() == before
    (tmp_path / "file").write_text("mine")
    with pytest.raises(UsageError, match="not a folder"):
        journal.Journal.create(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_journal_is_its_owner_s_alone(folder: Path) -> None:
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / journal.NAME).stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_stored_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = journal.Journal.create(folder / "another")
    monkeypatch.setattr(
        "os.fsync", lambda file: (_ for _ in ()).throw(OSError(28, "No space left on device"))
    )
    with pytest.raises(StorageError, match="No space left on device"):
        written.append({})
    written.close()


def test_the_head_of_a_line_comes_before_its_events() -> None:
    line, _ = journal.chained(journal.body_of(to_json(WON)), journal.FIRST)
    head = parse_json(line.partition(b',"events":')[0] + b"}")
    assert summary(head).ranks == WON.verdict.outcome.ranks
    assert list(json.loads(line))[-4:] == ["events", "measured", "prev", "hash"]


def test_only_times_differ_between_two_runs_of_the_same_game() -> None:
    slower = record((7, "L:A1"), "L:C3", others=((9, "L:A2 D:B1"), "L:B2"))
    one, other = to_json(WON), to_json(slower)
    assert one.pop("measured") != other.pop("measured")
    assert one == other


# --- Replay ----------------------------------------------------------------------------------------------


def test_replay_draws_the_game_and_its_clocks(folder: Path) -> None:
    code, out = run("replay", str(folder), "3")
    assert code == 0
    assert "3:a:b: blooms size=3 target=1, seat 1 a (2s+6s/2s), seat 2 b (2s+6s/2s)" in out
    assert "4. seat 2 b: L:B2\n  1.0 ms used, 6.0 s of reserve remaining\nA     (· )[2L] ·" not in out
    assert "A     (· ) 2L  ·   A3\nB    2D [2L] ·   ·   B4" in out
    assert out.endswith("b won: b has captured 1 of 1\n")


def test_replay_shows_the_arithmetic(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(Tournament((PLAN,), RoundRobin(3)).header.members)
    written.append(to_json(ENDINGS["rules, on the reserve"]))
    written.close()
    assert (
        "2.5 s used, 500 ms beyond the allowance of 2.0 s: "
        "2.0 s of reserve taken in steps of 2.0 s, 4.0 s of reserve remaining"
        in run("replay", str(tmp_path / "run"))[1]
    )


def test_replay_lists_the_games_of_a_file(folder: Path) -> None:
    code, out = run("replay", str(folder))
    assert code == 0 and out.count(":a:b") == 3 and "a made too many illegal moves" in out


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["9"], 2, "no game `9`"),
        (["\x1b[2J"], 2, "no game `\\x1b[2J`"),
    ],
)
def test_replay_of_what_is_not_there(folder: Path, words: list[str], code: int, message: str) -> None:
    got, out = run("replay", str(folder), *words)
    assert got == code and message in out and "\x1b" not in out


@pytest.mark.parametrize("command", ["replay", "verify"])
def test_what_is_no_file_of_records(command: str, tmp_path: Path) -> None:
    assert run(command, str(tmp_path / "none"))[0] == 2
    assert run(command, str(tmp_path))[0] == 2
    assert run(command, "/dev/zero")[0] == 2
    (tmp_path / "empty").write_bytes(b"")
    assert run(command, str(tmp_path / "empty"))[0] == 2
    (tmp_path / journal.NAME).write_bytes(b"")
    assert run(command, str(tmp_path))[0] == run(command, str(tmp_path / journal.NAME))[0] == 6
    for text in (b"[" * 100_000 + b"\n", b"\0" * 1_000_000, b"# Read me\n"):
        (tmp_path / "other").write_bytes(text)
        assert run(command, str(tmp_path / "other"))[0] == 2
        (tmp_path / journal.NAME).write_bytes(text)
        assert run(command, str(tmp_path))[0] == 6, "it has the name of one, so it is damaged"


def test_a_record_that_goes_wrong_is_shown_as_far_as_it_goes(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(Tournament((PLAN,), RoundRobin(3)).header.members)
    written.append(changed(to_json(WON), "events.3.move", "L:A1"))
    written.close()
    code, out = run("replay", str(tmp_path / "run"))
    assert code == 6 and "3. seat 1 a: L:C3" in out and "event 4" in out


def test_a_record_under_older_rules_shows_and_does_not_verify(tmp_path: Path) -> None:
    written = journal.Journal.create(tmp_path / "run")
    written.append(Tournament((PLAN,), RoundRobin(3)).header.members)
    written.append(changed(to_json(WON), "rules", 0))
    written.close()
    assert run("replay", str(tmp_path / "run"))[0] == 0
    code, out = run("verify", str(tmp_path / "run"))
    assert code == 6 and "version 0 of the rules of `blooms`, but this referee has version 1" in out


@pytest.mark.parametrize(
    ("name", "value"),
    [("id", "\x1b[2J:a:b"), ("ending", "=cmd()"), ("faults", ["=cmd()", ""]), ("faults", ["rules", ""])],
)
def test_the_head_of_a_record_is_words_that_can_be_shown(name: str, value: object) -> None:
    with pytest.raises(RecordError, match=name):
        summary({**to_json(WON), name: value})
