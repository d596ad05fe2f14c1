"""Nothing that a bot writes reaches a terminal, a table or a file as anything but text."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.command import HERE, PLAIN, RANDOM, ROOT, in_python, referee
from tests.tools.hostile_run import write

FORGING = in_python(ROOT / "tests" / "bots" / "forging_bot.py", "-S")


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(
    "place",
    [
        "",
        "malformed",
        *(pytest.param(place, marks=pytest.mark.slow) for place in ("turn", "flood", "partial")),
    ],
)
def test_no_control_character_of_a_bot_s_is_ever_shown(place: str, tmp_path: Path) -> None:
    """`referee` in `tests.command` fails where there is one in what a command prints."""
    folder = tmp_path / "run"
    words = [f"x={FORGING} {place}", f"y={RANDOM}", "-n", "1", "--watch", "--dialogue", "--seed", "s", *HERE]
    done = referee("match", "blooms", *words, "-o", str(folder))
    assert done.code == 0
    assert "\\x1b[2J" in done.err and "\\u202eevil" in done.err, "shown, and as what they are"
    for shown in (
        referee("replay", str(folder)),
        referee("replay", str(folder), "1"),
        referee("replay", str(folder), "1", "--seat", "1"),
        referee("replay", str(folder), "1", "--image", "-"),
        referee("replay", str(folder), "1", "--step", "1", "--image", "-"),
        referee("verify", str(folder)),
        referee("find", str(folder), "--dialogue"),
    ):
        assert shown.code == 0
    raw = (folder / "games.jsonl").read_bytes()
    assert raw.isascii() and all(byte >= 0x20 or byte == 0x0A for byte in raw) and b"\x7f" not in raw


@pytest.mark.slow
def test_a_tournament_of_forgers(tmp_path: Path) -> None:
    bots = {"-1": "", "+x": "malformed", "c": "partial", "good": None}
    file = tmp_path / "t.toml"
    file.write_text(
        '[tournament]\ngame = "blooms"\nkeep = "all"\nworkers = 1\n'
        + "".join(
            f'[[bot]]\nname = "{name}"\ncmd = "{RANDOM if place is None else f"{FORGING} {place}"}"\n'
            for name, place in bots.items()
        )
    )
    assert referee("run", str(file)).code == 0
    folder = str(tmp_path / "t-results")
    for form in ("simple", "github", "html", "json"):
        assert referee("table", folder, "--format", form).code == 0
    json.loads(referee("table", folder, "--format", "json").out)
    rows = list(csv.reader(io.StringIO(referee("table", folder, "--format", "csv").out)))
    assert all(cell[:1] not in ("=", "@", "+", "\t") for row in rows for cell in row)
    assert {row[rows[0].index("bot")] for row in rows[1:]} == {"'-1", "'+x", "c", "good"}
    assert "\\x1b[2J" in referee("find", folder, "--dialogue").out


def test_dialogues_are_printed_in_the_form_that_is_asked_for(tmp_path: Path) -> None:
    """As HTML a bot's markup is text, as JSON and CSV the whole output is such."""
    folder = str(tmp_path / "run")
    markup = "<script>alert(1)</script>"
    bot = f"x=sh -c \"read line; echo '{markup}'; echo hello x; cat\""
    assert referee("match", "blooms", bot, PLAIN, "-n", "1", "--start", "1h", "-o", folder, *HERE).code == 0

    def printed(form: str) -> str:
        done = referee("find", folder, "--dialogue", "--format", form)
        assert done.code == 0, done.err
        return done.out

    assert markup in printed("simple")
    page = printed("html")
    assert page.startswith("<table>") and "&lt;script&gt;" in page and "<script" not in page
    (game,) = json.loads(printed("json"))
    assert any(markup in line for line in game["dialogue"])
    (row,) = csv.DictReader(io.StringIO(printed("csv")))
    assert markup in row["dialogue"]
    for form in ("unsafehtml", "latex_raw"):
        assert referee("find", folder, "--dialogue", "--format", form).code == 2


@pytest.mark.slow
def test_every_command_reads_what_a_stranger_wrote(tmp_path: Path) -> None:
    """Records in which all is hostile are shown or refused, each with its exit code and one line."""
    for folder in map(str, write(tmp_path / "runs")):
        for words in (["table"], ["status"], ["find"], ["find", "--dialogue"], ["export"], ["replay"]):
            assert referee(words[0], folder, *words[1:]).code == 0
        assert referee("verify", folder).code in (0, 6)
        for number in map(str, range(1, 25, 7)):
            for how in ([], ["--seat", "1"], ["--json"], ["--html", "-"], ["--image", "-"]):
                done = referee("replay", folder, number, *how)
                assert done.code in (0, 6)
                assert done.code == 0 or len(done.err.splitlines()) == 1
        assert referee("report", folder).code == 0
