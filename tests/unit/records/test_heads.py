"""Heads of records: read in parts or whole, they say the same; the digest stands for the events."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import RecordError
from referee.records import journal
from referee.records.heads import Head, Heads
from referee.records.record import (
    digest_of_line,
    from_json,
    head_of,
    json_of,
    parse_json,
    summary,
    summary_of,
    to_json,
)
from tests.unit.records.test_records import ENDINGS, WON, changed, record


def line_of(value: dict[str, Any]) -> bytes:
    return journal.chained(json_of(value), journal.FIRST)[0].removesuffix(b"\n")


LINES = [line_of(to_json(made)) for made in ENDINGS.values()]


def warm() -> Heads:
    """Has read all of these lines."""
    heads = Heads()
    for line in LINES:
        heads.read(line)
    return heads


def read_whole(line: bytes) -> Head | dict[str, Any]:
    """What is read by somebody who remembers nothing."""
    return Heads().read(line)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_line_is_read_back_as_the_summary_that_its_worker_gave(ending: str) -> None:
    made = ENDINGS[ending]
    line = line_of(to_json(made))
    for heads in (Heads(), warm()):
        found = heads.read(line)
        assert isinstance(found, Head)
        assert found == (summary_of(made), made.terms.shared_seed)
    assert summary_of(from_json(parse_json(line))).digest == summary_of(made).digest != ""


def test_a_part_that_recurs_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    heads = warm()
    monkeypatch.setattr("referee.records.heads.head_of", None)
    line = line_of({**to_json(WON), "id": "7:a:b", "seed": "0" * 64})
    found = heads.read(line)
    assert isinstance(found, Head) and found.game == summary_of(WON)._replace(id="7:a:b")


def test_levels_of_isolation_are_part_of_what_recurs(monkeypatch: pytest.MonkeyPatch) -> None:
    made = replace(WON, isolation=("basic", "none"))
    heads = warm()
    heads.read(line_of(to_json(made)))
    monkeypatch.setattr("referee.records.heads.head_of", None)
    assert heads.read(line_of(to_json(made))) == (summary_of(made), made.terms.shared_seed)
    assert heads.read(LINES[0]) == (summary_of(WON), WON.terms.shared_seed)


def same(line: bytes) -> None:
    """Lines were read before or not: what is said of this one is the same, the error included."""
    said = []
    for read in (read_whole, warm().read):
        try:
            said.append(read(line))
        except RecordError as error:
            said.append(str(error))  # type: ignore[arg-type]
    assert said[0] == said[1]


VALUES = (
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from(["", "a", "b", "rules", '"', "\\", "é"])
)
ANY = (
    VALUES | st.lists(VALUES, max_size=3) | st.dictionaries(st.sampled_from(["size", "events", "a"]), VALUES)
)


@given(st.sampled_from([*to_json(WON), "more", "options.events"]), ANY)
def test_what_is_remembered_changes_nothing_whatever_a_member_is(name: str, new: object) -> None:
    same(line_of(changed(to_json(WON), name, new)))


HEAD_SIZE = LINES[0].index(b',"events":') + len(b',"events":')


@given(
    st.integers(0, HEAD_SIZE),
    st.integers(0, 20),
    st.sampled_from(
        [b"", b'"', b",", b"\\", b"]", b"}", b":", b"0", b"\xff", b'"bots":["a"],', b',"id":"x"']
    ),
)
def test_what_is_remembered_changes_nothing_whatever_bytes_are_replaced(
    at: int, size: int, by: bytes
) -> None:
    same(LINES[0][:at] + by + LINES[0][at + size :])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"attempt":1,', b'"attempt":1,"attempt":1,'),
        (b'"attempt":1,', b'"attempt":01,'),
        (b'"target":1}', b'"target":1,"target":1}'),
        (b'"rejections":10', b'"rejections":010'),
        (b'"bots":["a","b"]', b'"bots":["a","b","a"]'),
        (b'"bots":["a","b"]', b'"bots":["a","../b"]'),
        (b'"bots":["a","b"]', b'"bots":["a\\",\\"b"]'),
        (b'"clocks":[', b'"clocks":[,'),
        (b'"margin_us":', b'"margin_us":1,"margin_us":'),
        (b'"ranks":[', b'"ranks":[[],'),
        (b'"rated":true', b'"rated":yes'),
        (b'"sentence":"', b'"sentence":"\xff'),
        (
            b'"options":{',
            b'"options":{"bots":["a","b"],"clocks":[],"margin_us":1,"rejections":1,"x":{"y":1},',
        ),
    ],
)
def test_a_part_that_is_no_json_or_no_result_is_refused_however_often_it_comes(
    old: bytes, new: bytes
) -> None:
    line = LINES[0]
    assert line.count(old) == 1
    same(line.replace(old, new))
    heads = warm()
    said = set()
    for _ in range(3):
        try:
            said.add(str(heads.read(line.replace(old, new))))
        except RecordError as error:
            said.add(str(error))
    assert len(said) == 1


def test_a_line_that_is_no_game_is_its_object() -> None:
    assert warm().read(b'{"kind":"change","rounds":2}') == {"kind": "change", "rounds": 2}


# --- The digest ----------------------------------------------------------------------------------------


def test_games_with_the_same_events_have_the_same_digest_and_others_another() -> None:
    again = record("L:A1", "L:C3", others=("L:A2 D:B1", "L:B2"), number=3)
    slower = record((1_500_000, "L:A1"), "L:C3", others=("L:A2 D:B1", "L:B2"), number=3)
    other = record("L:A1", "L:C2", others=("L:A2 D:B1", "L:B2"))
    assert summary_of(again).digest == summary_of(WON).digest == summary_of(slower).digest
    assert summary_of(other).digest != summary_of(WON).digest
    assert len({summary_of(made).digest for made in ENDINGS.values()}) > len(ENDINGS) // 2


def test_what_a_bot_writes_does_not_move_the_end_of_its_events() -> None:
    text = 'x,"measured":{"events":[]},"events":[],\\"measured":\\'
    made = record(text, "L:A1", "resign {n}", others=("L:A1", "L:A2"))
    value = to_json(made)
    line = line_of(value)
    assert value["events"][0]["rejected"].startswith('x,"measured":')
    begin = line.index(b',"events":') + len(b',"events":')
    decoded, end = json.JSONDecoder().raw_decode(line.decode()[begin:])
    assert decoded == value["events"]
    assert line[begin + end :].startswith(b',"measured":')
    assert digest_of_line(line) == summary_of(made).digest
    assert summary(head_of(line), digest_of_line(line)) == summary_of(made)


def test_a_line_without_events_has_a_digest_of_what_is_there() -> None:
    assert digest_of_line(b'{"kind":"game"}') == digest_of_line(b"") != ""
