"""The page that replays a game: whole, without secrets of others, and written where it is asked for."""

from __future__ import annotations

import base64
import json
import re
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.core.units import TimeControl
from referee.games import GAMES
from referee.pages.environment import PAGE_START, static
from referee.pages.game_data import game_data
from referee.pages.replay_page import replay_page
from referee.records.journal import FIRST, chained
from referee.records.record import GameRecord, json_of, to_json
from referee.viewing.steps import Steps, steps_of
from tests.command import ROOT, referee
from tests.programs import path_of
from tests.rules.random_play import random_game
from tests.unit.pages.test_game_data import game

MARKUP = "</script><script>owned=1</script><!--"


def data_of(html: str) -> Any:
    """The data of the game in a page."""
    (block,) = re.findall(r'<script type="application/json" id="game">(.*?)</script>', html, re.DOTALL)
    return json.loads(zlib.decompress(base64.b64decode(json.loads(block))))


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("slug", GAMES)
def test_a_page_holds_the_game_and_its_final_position_without_the_script(slug: str) -> None:
    steps = game(slug)
    html = replay_page(steps)
    assert html.startswith(PAGE_START)
    made = game_data(steps, with_texts=True)
    assert data_of(html) == json.loads(json.dumps(made.value))
    assert made.drawn() in html
    for symbol in made.symbols.values():
        assert html.count(symbol) == 1
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names))
    used = set(re.findall(r'href="#([^"]+)"', made.drawn()))
    assert used <= set(names)
    aim = steps.terms.game.aim(steps.terms.options)
    assert re.search(rf'<p class="verdict">.* \([^)]+\): {aim}</span></p>', html)


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("slug", GAMES)
def test_a_page_loads_nothing(slug: str) -> None:
    html = replay_page(game(slug))
    assert not re.search(r"url\(|@import", html)
    tags = re.findall(r"<[a-z][^>]*>", re.sub(r"<script>.*</script>", "", html, flags=re.DOTALL))
    for tag in tags:
        assert not re.search(r"""\s(on\w+|style|src)=|\shref=["'](?!#|data:)""", tag)


def test_markup_in_a_record_is_text() -> None:
    steps = game("blooms")
    terms = replace(steps.terms, id=f"1:a:b {MARKUP}")
    sentence = steps.record.verdict.outcome._replace(sentence=MARKUP)
    verdict = steps.record.verdict._replace(outcome=sentence)
    html = replay_page(steps_of(replace(steps.record, terms=terms, verdict=verdict)))
    assert "<script>owned" not in html and "<!--" not in html
    assert html.count("&lt;script&gt;owned=1&lt;/script&gt;&lt;!--") >= 3  # the id, the result, the damage


STATIC = ROOT / "referee/pages/static"

INSERTED = r"innerHTML\s*\+?=\s*(.*)"


def test_scripts_are_short_and_insert_only_what_was_escaped() -> None:
    scripts = {path.name: static(path.name) for path in STATIC.glob("*.js")}
    unsafe = r"\beval\b|Function\(|insertAdjacentHTML|outerHTML\s*\+?=[^=]|document\.write|\.on\w+ ="
    assert not [name for name, script in scripts.items() if re.search(unsafe, script)]
    assert max(len(script.splitlines()) for script in scripts.values()) < 400
    inserted = [(name, what) for name, script in scripts.items() for what in re.findall(INSERTED, script)]
    assert sorted(inserted) == [
        ("clicks.js", "svg; // drawn by the server, which escapes whatever comes from a game"),
        (
            "games.js",
            "view.ground + whole.at(link.dataset.step ?? -1).draw"
            '.map((index) => game.elements[index]).join("");',
        ),
        ("live_board.js", "svg; // drawn by the server, which escapes whatever comes from a game"),
        ("person.js", "defs; // drawn by the server, which escapes whatever comes from a game"),
        ("person.js", 'ground + draw.map((index) => elements[index]).join("");'),
        ("replay_board.js", 'indexes.map((index) => game.elements[index]).join("");'),
        ("replay_board.js", "view.ground;"),
    ]


def test_scripts_can_be_parsed() -> None:
    parse = "for (const file of process.argv.slice(1)) new vm.Script(fs.readFileSync(file, 'utf8'))"
    subprocess.run([path_of("node"), "-e", parse, *STATIC.glob("*.js")], check=True)


def stored(folder: Path, *records: GameRecord) -> Path:
    """A folder with a file of these games."""
    prev, lines = FIRST, []
    for record in records:
        line, prev = chained(json_of(to_json(record)), prev)
        lines.append(line)
    (folder / "games.jsonl").write_bytes(b"".join(lines))
    return folder


@pytest.fixture
def record() -> GameRecord:
    return random_game(GAMES["floral"], b"5", {"max_turns": "12"})


def test_html_writes_a_page(tmp_path: Path, record: GameRecord) -> None:
    run, path = stored(tmp_path, record), tmp_path / "page.html"
    done = referee("replay", str(run), "--html", str(path))
    assert (done.code, done.out, done.err) == (0, "", "")
    value = data_of(path.read_text("utf-8"))
    assert [view["seat"] for view in value["views"]] == [None, 1, 2]
    assert referee("replay", str(run), "1", "--html", str(path), "--seat", "2").code == 0
    assert [view["seat"] for view in data_of(path.read_text("utf-8"))["views"]] == [2]
    assert referee("replay", str(run), "--html", "-", "--seat", "2").out == path.read_text("utf-8")


def test_a_page_shows_two_games_beside_each_other(tmp_path: Path, record: GameRecord) -> None:
    other = random_game(GAMES["floral"], b"6", {"max_turns": "12"})
    other = replace(other, terms=replace(other.terms, id="2:a:b"))
    done = referee(
        "replay", str(stored(tmp_path, record, other)), "1", "--beside", "2:a:b", "--html", "-", "--seat", "2"
    )
    assert (done.code, done.err) == (0, "")
    blocks = re.findall(r'<script type="application/json" id="game2?">(.*?)</script>', done.out, re.DOTALL)
    values = [json.loads(zlib.decompress(base64.b64decode(json.loads(block)))) for block in blocks]
    for value, each in zip(values, (record, other), strict=True):
        assert value["id"] == each.terms.id and [view["seat"] for view in value["views"]] == [2]
        assert value == json.loads(json.dumps(game_data(steps_of(each), (1,), with_texts=True).value))
    names = re.findall(r'\bid="([^"]+)"', done.out)
    assert len(names) == len(set(names))


def test_html_refuses_what_it_cannot_do(tmp_path: Path, record: GameRecord) -> None:
    other = replace(record, terms=replace(record.terms, id="2:a:b"))
    third = random_game(GAMES["blooms"], b"5", {"size": "3"})
    third = replace(third, terms=replace(third.terms, id="3:a:b"))
    run = str(stored(tmp_path, record, other, third))
    before = (tmp_path / "games.jsonl").read_bytes()
    for words, message in [
        (("--html", "x.html"), "has 3 games, expected the ID of one of them with --html"),
        (("1", "--html", "x.html", "--json"), "`--json` and `--html` are given, expected only one of them"),
        (("1", "--html", "x.html", "--all"), "`--all` and `--html` are given, expected only one of them"),
        (("1", "--html", "x.html", "--seat", "3"), "the game has 2 seats"),
        (("1", "--html", "x.html", "--step", "2"), "`--step` and `--html` are given"),
        (("1", "--beside", "2"), "--beside is given without --html, expected both"),
        (
            ("1", "--html", "x.html", "--beside", "3"),
            "--beside 3 is a game of Blooms, expected one of Floral",
        ),
        (("1", "--html", "x.html", "--beside", "9"), "there is no game `9`"),
        (("1", "--json", "--step", "2"), "`--step` and `--json` are given"),
        (("1", "--html", f"{run}/games.jsonl"), "already exists and is not a page"),
        (("1", "--html", run), "cannot write `"),
    ]:
        done = referee("replay", run, *words)
        assert done.code == 2 and message in done.err and not done.out
    assert [path.name for path in tmp_path.iterdir()] == ["games.jsonl"]
    assert (tmp_path / "games.jsonl").read_bytes() == before


def test_a_damaged_game_is_shown_as_far_as_it_goes(tmp_path: Path, record: GameRecord) -> None:
    broken = replace(record, events=record.events[:-3])
    path = tmp_path / "page.html"
    done = referee("replay", str(stored(tmp_path, broken)), "--html", str(path))
    assert done.code == 6
    html = path.read_text("utf-8")
    assert "The record is damaged" in html and data_of(html)["damage"] in done.err


def test_clocks_of_any_length_are_shown() -> None:
    steps = game("blooms")
    controls = (TimeControl.parse("none"), TimeControl.parse("1000h+1000h/1h^1us"))
    record = replace(steps.record, terms=replace(steps.terms, controls=controls))
    value = data_of(replay_page(Steps(record, steps.steps, steps.written, steps.verdict, None)))
    assert [clock and clock["text"] for clock in value["clocks"]] == [None, "1000h+1000h/1h^1us"]


def test_templates_are_loaded_for_pages_alone() -> None:
    code = "import sys; from referee.cli.replay import replay; print('jinja2' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
