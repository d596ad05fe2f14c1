"""`referee report`: pages of runs of every format, as one file and as a folder, and what it refuses."""

from __future__ import annotations

import base64
import json
import re
import shlex
import subprocess
import sys
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pexpect
import pytest

from referee.pages.report import files as report_files
from referee.pages.report import gathering, rating_history
from referee.pages.report.charts import SERIES
from referee.pages.report.games import ReadGame
from referee.records import journal
from referee.tournament.run.lock import locked
from tests.command import BAD, PLAIN, RANDOM, ROOT, referee
from tests.tools.synthetic import write
from tests.waiting import TOO_LONG_S

QUICK = ("--option", "size=3", "--option", "target=2", "--isolation", "none", "--workers", "0")

GAME = re.compile(r'data-game="([^"]+)">"([^"]+)"</script>')


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of 144 games: of 9 bots, more than a chart has lines."""
    folder = tmp_path_factory.mktemp("large")
    assert write(folder, SERIES + 1, 144) == 144
    return folder / "pool-results"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of a good and a bad bot."""
    folder = tmp_path_factory.mktemp("small") / "run"
    bots = f"good={PLAIN}", f"bad={BAD} 'illegal for ever'"
    done = referee("match", "blooms", *bots, "-n", "4", *QUICK, "-o", str(folder))
    assert done.code == 0, done.err
    return folder


@pytest.fixture(autouse=True)
def few_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each fit of the course of ratings takes long."""
    monkeypatch.setattr(rating_history, "MAX_FITS", 3)


def unpacked(text: str) -> Any:
    return json.loads(zlib.decompress(base64.b64decode(text)))


def listed(html: str) -> dict[str, Any]:
    """The list of games of a page."""
    found = re.search(r'id="games-data">"([^"]+)"</script>', html)
    assert found
    value = unpacked(found[1])
    assert isinstance(value, dict)
    return value


def replayed(html: str) -> list[str]:
    """The ids of the games that a page replays, as their data say."""
    games = GAME.findall(html)
    assert all(unpacked(data)["id"] == game for game, data in games)
    return [game for game, _ in games]


@pytest.mark.slow
def test_a_minus_is_stdout(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = referee("report", str(small), "-o", "-", "--no-replays", "--workers", "0")
    assert done.code == 0 and done.out.startswith("<!doctype html>") and done.out.endswith("</html>\n")
    done = referee("report", str(small), "-o", "-", "--folder")
    assert done.code == 2 and "such as `-o report`" in done.err
    assert not [*tmp_path.iterdir()]


def test_a_page_has_everything_of_a_run(small: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    done = referee("report", str(small), "-o", str(page), "--workers", "0")
    assert (done.code, done.out) == (0, "") and re.search(r"^4 games, .* KB: ", done.err), done.err
    html = page.read_text()
    for heading in ("Standings", "Crosstable", "Likelihood of superiority", "Seats", "Length of the games"):
        assert f">{heading}</h" in html, heading
    for heading in ("Time of the moves", "Ratings over time", "Slowest moves", "Faults", "Games"):
        assert f">{heading}</h" in html, heading
    assert "too few to show how ratings developed" in html
    assert html.count('<details class="fault">') == 4 - html.count("more game")
    assert "hint: " in html and "dialogue" in html
    assert re.search(r"<dt>game</dt><dd>Blooms · [^<]* · the first to capture \d+ stones wins</dd>", html)
    ids = [game[0] for game in listed(html)["games"]]
    assert len(ids) == 4 and replayed(html) == ids
    printed = referee("report", str(small), "--workers", "0")
    assert (printed.code, printed.err) == (0, "") and printed.out.rstrip("\n") == html.rstrip("\n")


def test_games_to_see_are_those_that_find_names(small: Path) -> None:
    html = referee("report", str(small), "--workers", "0", "--no-replays").out.replace("<wbr>", "")
    cards = html[html.index('<ul class="to-see">') :]
    shown = re.findall(r"<h3>(.*?) <span.*?</h3>\n<p>.*?</p>\n<p class=\"small\">(.*?)</p>", cards)
    found = json.loads(referee("find", str(small), "--to-see", "--format", "json").out)
    assert [(one["to_see"], one["id"]) for one in found] == shown and len(shown) == 2
    assert referee("find", str(small), "--to-see").out.count("\n") == 2 + len(shown)
    assert referee("find", str(small), "--to-see", "--won-by", "bad").err == "no games match\n"
    assert referee("find", str(small), "--to-see", "--dialogue").code == 2


def test_of_very_many_bots_ratings_are_fitted_once(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gathering, "MAX_BOTS", 1)
    page = tmp_path / "report.html"
    assert referee("report", str(small), "-o", str(page), "--no-replays", "--workers", "0").code == 0
    assert "With more than 1 bots, repeated fits would take too long." in page.read_text()


@pytest.mark.slow
def test_a_page_is_the_same_whatever_the_number_of_workers(large: Path) -> None:
    one = referee("report", str(large), "--workers", "0")
    assert one.code == 0, one.err
    assert referee("report", str(large), "--workers", "3").out == one.out
    assert one.out.count('class="chart"') == 2
    assert len(replayed(one.out)) == 144
    assert one.out.count('<line x1="0"') == SERIES, "the legend of the course"
    assert all(about["course"] for about in listed(one.out)["about"].values())


@pytest.mark.slow
def test_other_files_are_not_overwritten(small: Path, tmp_path: Path) -> None:
    records = tmp_path / journal.NAME
    records.write_bytes((small / journal.NAME).read_bytes())
    before = records.read_bytes()
    for words in (("-o", str(records)), ("-o", str(tmp_path), "--folder")):
        done = referee("report", str(small), *words, "--workers", "0")
        assert done.code == 2 and "already exists and is not a" in done.err
    assert records.read_bytes() == before and [*tmp_path.iterdir()] == [records]


@pytest.mark.slow
def test_a_folder_has_all_games_on_pages(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_files, "ON_A_PAGE", 60)
    folder = tmp_path / "report"
    for _ in range(2):  # the second takes the place of the first
        done = referee("report", str(large), "--folder", "-o", str(folder), "--workers", "2")
        assert done.code == 0 and done.err == f"144 games in 4 pages: {folder}/index.html\n"
        assert [*tmp_path.iterdir()] == [folder]
    index = (folder / "index.html").read_text()
    value = listed(index)
    ids = [game[0] for game in value["games"]]
    assert len(ids) == 144 and replayed(index) == [] and value["on_a_page"] == 60
    pages = sorted((folder / "games").iterdir())
    assert [page.name for page in pages] == ["00001.html", "00002.html", "00003.html"]
    found = [replayed(page.read_text()) for page in pages]
    assert [*map(len, found)] == [60, 60, 24] and [*chain.from_iterable(found)] == ids
    lists = [listed(page.read_text()) for page in pages]
    assert [each["first"] for each in lists] == [0, 60, 120]
    assert [each["beside"] for each in lists] == [
        [None, [ids[60], "00002.html"]],
        [[ids[59], "00001.html"], [ids[120], "00003.html"]],
        [[ids[119], "00002.html"], None],
    ]
    number = ids.index(re.findall(r'href="games/00002.html#([^"@]+)', index)[0])
    assert 60 <= number < 120


@pytest.mark.slow
def test_one_page_has_a_largest_size(large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_files, "MAX_BYTES", 30_000)
    monkeypatch.setattr(report_files, "TELLING", 10)
    read_games = vars(report_files)["read_games"]
    read: list[ReadGame] = []

    def counted_games(*args: Any) -> Iterator[ReadGame]:
        for one in read_games(*args):
            read.append(one)
            yield one

    monkeypatch.setattr(report_files, "read_games", counted_games)
    page = tmp_path / "report.html"
    done = referee("report", str(large), "-o", str(page))
    assert done.code == 2 and not page.exists()
    assert (
        "the replays of 144 games would take more than 29 KB, expected `--folder` or `--no-replays`"
        in done.err
    )
    assert len(read) == 10, "no more than tell that all are too large"
    done = referee("report", str(large), "-o", str(page), "--no-replays")
    html = page.read_text()
    assert done.code == 0 and replayed(html) == [] and len(listed(html)["games"]) == 144
    assert not re.search(r'href="#\d', html), "no game leads anywhere"


@pytest.mark.slow
@pytest.mark.parametrize("how", [["--no-replays"], ["--folder"]])
def test_too_many_games_are_refused_before_they_are_read(
    how: list[str], large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_files, "MOST_GAMES", 143)
    monkeypatch.setattr(report_files, "read_games", None)
    done = referee("report", str(large), "-o", str(tmp_path / "report"), *how)
    assert done.code == 2 and not [*tmp_path.iterdir()]
    assert "a report lists at most 143 games, but there are 144; expected fewer" in done.err


@pytest.mark.slow
def test_a_folder_that_cannot_be_finished_leaves_nothing(
    large: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(report_files, "put_in_place", full)
    done = referee("report", str(large), "-o", str(tmp_path / "report"), "--folder")
    assert done.code == 4 and "No space left on device" in done.err
    assert not [*tmp_path.iterdir()]


@pytest.mark.slow
def test_damage_is_told_with_its_line(large: Path, tmp_path: Path) -> None:
    lines = (large / journal.NAME).read_bytes().splitlines(keepends=True)
    lines[100] = lines[100].replace(b'"used_us":', b'"uxed_us":', 1)
    (tmp_path / journal.NAME).write_bytes(b"".join(lines))
    done = referee("report", str(tmp_path), "-o", str(tmp_path / "report.html"))
    assert done.code == 6 and "line 101 of `" in done.err and not (tmp_path / "report.html").exists()


def test_what_pages_need_is_imported_only_when_one_is_made() -> None:
    code = "import sys, referee.cli.report; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=TOO_LONG_S)
    loaded = {name.partition(".")[0] for name in done.stdout.split()}
    assert "referee" in loaded and not loaded & {"jinja2", "numpy"}


@pytest.mark.slow
def test_a_run_without_games_has_a_report_too(small: Path, tmp_path: Path) -> None:
    (tmp_path / journal.NAME).write_bytes((small / journal.NAME).read_bytes().splitlines(keepends=True)[0])
    html = referee("report", str(tmp_path)).out
    assert "<title>no games yet: 2 bots, 0 games</title>" in html and "Blooms · size 3" in html
    assert ">Crosstable</h3>" not in html and ">Standings</h2>" in html
    assert listed(html)["games"] == [] and "too few to show how ratings developed" in html
    done = referee("report", str(tmp_path), "--folder", "-o", str(tmp_path / "report"))
    assert done.err.startswith("0 games in 1 page: ") and not [*(tmp_path / "report" / "games").iterdir()]


def test_wrong_use_is_answered(small: Path) -> None:
    for words, answer in {
        ("--folder",): "`--folder` is given without `-o`, expected the folder to write",
        ("--folder", "-o", "-"): "`--folder` is given without `-o`, expected the folder to write",
        ("--folder", "--no-replays", "-o", "x"): "expected only one of them",
        ("--workers", "-1"): "--workers",
        ("-o", "/nowhere/at/all.html"): "cannot write `/nowhere/at/all.html`",
    }.items():
        done = referee("report", str(small), *words)
        assert done.code == 2 and answer in done.err and not done.out
    assert referee("report", str(ROOT)).code == 2


def test_a_run_that_is_on_is_reported_so_far(small: Path) -> None:
    assert "A referee is still running" not in referee("report", str(small), "--no-replays").out
    with locked(small):
        html = referee("report", str(small), "--no-replays").out
    assert "A referee is still running" in html and "; a referee is running" in html


TOML = """
[tournament]
game = "{game}"
format = "{format}"
clock = "20s"
seed = "report"
isolation = "none"
workers = 0
{more}
"""

FORMATS = {
    "swiss": ("rounds = 2", 4),
    "knockout": ("best_of = 3", 4),
    "stages": ("", 4),
    "gauntlet": ('rounds = 1\nagainst = ["bot1"]', 3),
    "league": ("budget = 12", 3),
    "round-robin": ("rounds = 1", 2),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_a_report(form: str, tmp_path: Path) -> None:
    more, bots = FORMATS[form]
    text = TOML.format(game="blooms", format=form, more=more) + "[options]\nsize = 3\ntarget = 2\n"
    text += "".join(
        f"[[bot]]\nname = 'bot{number}'\ncmd = {json.dumps(PLAIN)}\n" for number in range(1, bots + 1)
    )
    if form == "stages":
        text += "[[stage]]\nname = 'pools'\ngroups = 2\nadvance = 1\n[[stage]]\nformat = 'knockout'\n"
    html = report_of(text, tmp_path)
    assert ("pools (2 groups" if form == "stages" else form.replace("-", " ")) in html
    titles = {"round-robin": "", "stages": ", Round robin then knockout"}
    title = f"Blooms{titles.get(form, f', {form.capitalize()}')}"
    of_stages = "<h3>Stage 1, pools: round robin of 4 bots in 2 groups; Stage 2: knockout of 2 bots</h3>"
    assert (of_stages in html) == (form == "stages")
    assert f"<title>{title}: {bots} bots, " in html
    kicker = re.search(r'<p class="kicker">(.*?)</p>', html)
    assert kicker and kicker[1] in ("Winner", "Level in the first place"), "it is over, though it may grow"
    assert ("most bots play only a few games" in html) == (form == "knockout")
    assert ("reached" in html) == (form == "knockout") and ("advances" in html) == (form == "stages")
    assert ("Buchholz" in html) == (form == "swiss")


@pytest.mark.slow
@pytest.mark.parametrize("players", [1, 3])
def test_games_of_other_numbers_of_seats_have_a_report(players: int, tmp_path: Path) -> None:
    more = f"rounds = 1\n[options]\nplayers = {players}\ndeals = 1\n"
    text = TOML.format(game="thetree", format="round-robin", more=more)
    text += "".join(
        f"[[bot]]\nname = 'bot{number}'\ncmd = {json.dumps(RANDOM)}\n" for number in range(1, players + 2)
    )
    html = report_of(text, tmp_path)
    assert (">Crosstable</h3>" in html) == (players > 1)
    assert ("Games for one bot do not give ratings." in html) == (players == 1)
    assert (f">seat {players}<" in html) == (players > 1)


@pytest.mark.slow
def test_sections_are_reported_together_and_each(tmp_path: Path) -> None:
    text = "[tournament]\nrounds = 1\nclock = '20s'\nseed = 's'\nisolation = 'none'\nworkers = 0\n"
    text += "[[game]]\nname = 'list'\ngame = 'blooms'\noptions = { size = 3, target = 2 }\n"
    text += "[[game]]\nname = 'games'\ngame = 'evengroups'\noptions = { size = 3 }\n"
    text += "".join(f"[[bot]]\nname = 'bot{number}'\ncmd = {json.dumps(RANDOM)}\n" for number in range(1, 3))
    html = report_of(text, tmp_path)
    for heading in ("all together: blooms and evengroups", "list: blooms", "games: evengroups"):
        assert html.count(f"{heading}</h2>") == 1
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids)), "no section takes the id of something else"
    assert html.count(">Length of the games</h3>") == 2, "of each game, not of both together"
    assert set(re.findall(r"#pair\?\w+&amp;\w+&amp;(\w+)\"", html)) == {"list", "games"}


def report_of(toml: str, folder: Path) -> str:
    (folder / "t.toml").write_text(toml)
    done = referee("run", str(folder / "t.toml"))
    assert done.code == 0, done.err
    done = referee("report", str(folder / "t.toml"), "--workers", "0")
    assert done.code == 0, done.err
    count = len((folder / "t-results" / journal.NAME).read_bytes().split(b'"kind":"game"')) - 1
    assert len(replayed(done.out)) == len(listed(done.out)["games"]) == count
    return done.out


@pytest.mark.slow
def test_several_runs_are_one_report(small: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    bots = f"good={PLAIN}", f"new={PLAIN}"
    assert referee("match", "blooms", *bots, "-n", "4", *QUICK, "-o", str(other)).code == 0
    html = referee("report", str(small), str(other), "--workers", "0").out
    assert len(set(replayed_ids := [game[0] for game in listed(html)["games"]])) == len(replayed_ids) == 8
    assert listed(html)["bots"] == ["good", "bad", "new"] and "format in other" in html


@pytest.mark.slow
def test_a_game_from_a_file_is_replayed_where_it_is_named(tmp_path: Path) -> None:
    game = f"{ROOT / 'tests' / 'outside' / 'connect_four.py'}:GAME"

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        """In a process of its own, which alone knows the game."""
        return subprocess.run(
            [sys.executable, "-m", "referee", *words],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=TOO_LONG_S,
        )

    folder = str(tmp_path / "run")
    done = run("match", game, f"a={RANDOM}", f"b={RANDOM}", "-n", "2", "--isolation", "none", "-o", folder)
    assert done.returncode == 0, done.stderr
    named = run("report", folder, "--game", game, "--workers", "0")
    assert named.returncode == 0 and len(replayed(named.stdout)) == 2
    unknown = run("report", folder)
    assert unknown.returncode == 2 and "which is only run if you name it" in unknown.stderr
    assert unknown.stderr.endswith(", or `--no-replays`\n")
    without = run("report", folder, "--no-replays")
    assert without.returncode == 0 and len(listed(without.stdout)["games"]) == 2


@pytest.mark.slow
def test_bots_are_called_as_they_were_renamed(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    for file in small.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    assert referee("amend", str(folder), "--rename", "bad=worse").code == 0
    html = referee("report", str(folder), "--workers", "0").out
    assert listed(html)["bots"] == ["good", "worse"]
    assert all(set(unpacked(data)["bots"]) == {"good", "worse"} for _, data in GAME.findall(html))
    assert "<strong>worse</strong>" in html and "<strong>bad</strong>" not in html


@pytest.mark.slow
def test_a_terminal_is_spared_the_page(small: Path) -> None:
    out = pexpect.run(shlex.join([sys.executable, "-m", "referee", "report", str(small)]), cwd=str(ROOT))
    assert (
        isinstance(out, bytes)
        and out.decode().strip() == "referee: a web page cannot be shown in a terminal, expected `-o FILE`"
    )
