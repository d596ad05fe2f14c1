"""`referee replay --image`: the right position, in a whole file."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from referee.games import GAMES
from referee.records import journal
from referee.records.record import to_json
from tests.command import referee
from tests.rules.random_play import random_game

SVG = "{http://www.w3.org/2000/svg}"


def recorded(folder: Path, *games: tuple[str, dict[str, str]]) -> str:
    """A folder with records of random games."""
    written = journal.Journal.create(folder)
    for number, (slug, options) in enumerate(games):
        record = random_game(GAMES[slug], b"%d" % number, options)
        written.append(to_json(replace(record, terms=replace(record.terms, id=f"{number + 1}:a:b"))))
    written.close()
    return str(folder)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with two games of Blooms."""
    small = {"size": "3", "target": "2"}
    return recorded(tmp_path_factory.mktemp("picture"), ("blooms", small), ("blooms", small))


def drawn(*words: str) -> ElementTree.Element:
    done = referee("replay", *words, "--image", "-")
    assert done.code == 0 and not done.err, done.err
    return ElementTree.fromstring(done.out)


def told(root: ElementTree.Element) -> tuple[str, str]:
    """The title and the description of a file."""
    return root.findtext(f"{SVG}title") or "", root.findtext(f"{SVG}desc") or ""


def test_a_step_is_drawn_by_default_the_last(run: str) -> None:
    title, words = told(drawn(run, "1"))
    last = int(title.rpartition(" of ")[2])
    assert title.endswith(f", step {last} of {last}") and ": blooms " in title
    assert "seat" in words and "won: " in words
    assert told(drawn(run, "1", "--step", str(last))) == (title, words)
    assert told(drawn(run, "1", "--step", "0"))[0].endswith(f"step 0 of {last}")
    stones = [
        len(re.findall("#s-(?:light|dark)-stone", str(ElementTree.tostring(drawn(run, "1", "--step", move)))))
        for move in ("0", "1")
    ]
    assert stones[0] < stones[1]


def test_all_pictures_of_a_game_have_the_same_size(run: str) -> None:
    first, last = drawn(run, "1", "--step", "0"), drawn(run, "1")
    assert [first.get(name) for name in ("width", "height")] == [
        last.get(name) for name in ("width", "height")
    ]


def test_a_file_takes_the_place_of_an_older_picture_only(run: str, tmp_path: Path) -> None:
    out = tmp_path / "x.svg"
    assert referee("replay", run, "1", "--step", "0", "--image", str(out)).code == 0
    before = out.read_text()
    assert referee("replay", run, "1", "--image", str(out)).code == 0
    assert out.read_text() not in ("", before) and list(tmp_path.iterdir()) == [out]
    out.write_text("notes")
    done = referee("replay", run, "1", "--image", str(out))
    assert (done.code, out.read_text()) == (2, "notes")
    assert "already exists and is not an SVG file" in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "has 2 games, expected the ID of one of them with --image"),
        (("3",), 2, "no game `3` in "),
        (("1", "--step", "999"), 2, "the game has no step 999, expected 0 to "),
        (("1", "--seat", "3"), 2, "the game has 2 seats, expected --seat 1 to 2"),
        (("1", "--html", "x.html"), 2, "`--html` and `--image` are given, expected only one of them"),
        (("1", "--image", "x.png"), 2, "`x.png` is not a valid name for a picture, expected NAME.svg"),
        (("1", "--image", "/no/x.svg"), 2, "cannot write `/no/x.svg`: No such file or directory"),
        (("1", "--game", "no.py:G"), 2, "no.py"),
    ],
)
def test_bad_input_is_one_line(words: tuple[str, ...], code: int, message: str, run: str) -> None:
    done = referee("replay", run, "--image", "-", *words)
    assert (done.code, done.out) == (code, "")
    assert message in done.err and done.err.startswith("referee: ") and done.err.count("\n") == 1


def test_a_damaged_game_is_drawn_as_far_as_it_goes(run: str, tmp_path: Path) -> None:
    text = (Path(run) / "games.jsonl").read_text()
    at = text.index('"move"')
    end = text.index('"', text.index('"', at + 6) + 1)
    (tmp_path / "games.jsonl").write_text(text[:at] + '"move":"nonsense' + text[end:])
    done = referee("replay", str(tmp_path), "1", "--step", "0", "--image", "-")
    assert done.code == 0 and done.out.startswith("<svg") and "warning: game " in done.err
    done = referee("replay", str(tmp_path), "1", "--image", "-")
    assert (done.code, done.out) == (6, "")


@pytest.mark.slow
def test_a_seat_s_picture_tells_nothing_of_what_the_other_did(tmp_path: Path) -> None:
    folder = recorded(tmp_path, ("floral", {"max_turns": "12"}))
    title, _ = told(drawn(folder))
    moves = [str(number) for number in range(int(title.rpartition(" of ")[2]) + 1)]
    whole, seen = (
        [told(drawn(folder, "--step", move, *of))[1] for move in moves] for of in ((), ("--seat", "1"))
    )
    assert any("seat 2 b: " in text for text in whole)
    assert any("seat 1 a: " in text for text in seen)
    assert not any("seat 2 b: " in text for text in seen)
