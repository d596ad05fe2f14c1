"""A format from outside the package: the ladder of challenges, from its schedule to the table of a run."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.pairing import Pairing
from referee.tournament.formats import FORMATS, SectionState, Settings, format_given
from tests.command import HERE, RANDOM, ROOT, Done, referee_process
from tests.outside.commands import referee_in
from tests.outside.ladder import Ladder
from tests.unit.simulated import drawn, favourites, play, play_disturbed, schedule_of

SOURCE = ROOT / "tests" / "outside" / "ladder.py"
NAMED = ("--tournament-format", "ladder.py:Ladder")

TOML = """[tournament]
game = "blooms"
format = "ladder.py:Ladder"
rounds = 3
ranking = ["c", "b"]
seed = "x"
clock = "10s"
workers = 1

[options]
size = 4
""" + "".join(f'\n[[bot]]\nname = "{name}"\ncmd = "{RANDOM}"\n' for name in "abc")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shutil.copy(SOURCE, tmp_path)
    (tmp_path / "t.toml").write_text(TOML)
    return tmp_path


def run(folder: Path, rounds: int = 3) -> Done:
    (folder / "t.toml").write_text(TOML.replace("rounds = 3", f"rounds = {rounds}"))
    return referee_in(folder, "run", "t.toml", "-o", "run", *HERE)


def table(folder: Path, *words: str) -> list[dict[str, object]]:
    done = referee_in(folder, "table", "run", "--format", "json", *words)
    assert done.code == 0, done.err
    rows: list[dict[str, object]] = json.loads(done.out)["standings"]
    return rows


@given(st.permutations("abcdefg"), st.integers(1, 7))
def test_after_as_many_rounds_as_bots_the_ladder_is_in_the_order_of_strength(
    order: list[str], count: int
) -> None:
    bots = tuple(order[:count])
    one = Ladder(count, bots)
    games = play(schedule_of(one, bots), favourites("abcdefg"))
    assert len(games) == one.games_in_all(count, 2).games
    standings = one.standings(SectionState({game: what for game, what in games.items() if what}))
    assert [row.bot for row in standings] == sorted(bots)


@given(st.integers(2, 7), st.integers(1, 5), st.integers(), st.randoms(use_true_random=False))
def test_a_ladder_that_is_stopped_and_continued_has_the_same_games(
    count: int, rounds: int, seed: int, random: Random
) -> None:
    one = Ladder(rounds, tuple("abcdefg"[:count]))
    result = drawn(seed, without_result=0.05)
    assert play_disturbed(schedule_of(one, one.ranking), result, random) == play(
        schedule_of(one, one.ranking), result
    )


@pytest.mark.slow
def test_a_tournament_in_it_is_played_continued_and_shown(folder: Path) -> None:
    done = referee_process("run", "t.toml", "-o", "run", cwd=folder)
    assert done.code == 0 and "began" in done.out, done.err
    (header, *games) = map(json.loads, (folder / "run" / "games.jsonl").read_text().splitlines())
    assert header["format"] == "ladder" and header["format_settings"] == {"ranking": ["c", "b", "a"]}
    assert header["format_origin"]["file"] == "ladder.py:Ladder"
    assert [game["id"] for game in games][:2] == ["1:c:b", "1:b:c"]
    assert run(folder, rounds=4).code == 0
    records = [json.loads(line) for line in (folder / "run" / "games.jsonl").read_text().splitlines()]
    ids = [record["id"] for record in records if record["kind"] == "game"]
    assert len(ids) == 8 and {Pairing.parse(game).number for game in ids} == {1, 2, 3, 4}
    shown = table(folder, *NAMED)
    assert sorted(str(row["began"]) for row in shown) == ["1", "2", "3"]
    assert all("began" not in row for row in table(folder))
    for words in (("verify", "run"), ("status", "run"), ("table", "run")):
        without, named = (referee_in(folder, *words, *more) for more in ((), NAMED))
        assert without.code == named.code == 0
        why = "the format `ladder` comes from a file"
        told = without.err if words[0] == "verify" else without.out
        consequence = "the schedule is not checked" if words[0] == "verify" else "ordered by rating"
        assert f"{consequence}: {why}" in told and consequence not in named.out + named.err
    assert "8 of 8 games" in referee_in(folder, "status", "run", *NAMED).out
    done = run(folder, rounds=3)
    assert done.code == 2 and "`rounds` is 3, but was 4, expected at least 4" in done.err


@pytest.mark.slow
def test_no_file_is_run_because_a_header_names_it(folder: Path) -> None:
    assert run(folder).code == 0
    (folder / "ladder.py").write_text("open('was-run', 'w')\n" + SOURCE.read_text())
    for words in (("table", "run"), ("verify", "run"), ("status", "run"), ("report", "run", "-o", "r.html")):
        done = referee_in(folder, *words)
        assert done.code == 0, done.err
    done = referee_in(folder, "amend", "run", "--withdraw", "a", "--reason", "x")
    assert done.code == 2 and "the format `ladder` of these records comes from a file" in done.err
    assert not (folder / "was-run").exists()


@pytest.mark.slow
def test_a_run_is_not_continued_with_another_file(folder: Path) -> None:
    assert run(folder).code == 0
    before = (folder / "run" / "games.jsonl").read_bytes()
    (folder / "ladder.py").write_text(SOURCE.read_text() + "\n")
    done = run(folder, rounds=4)
    assert (
        done.code == 2
        and "the file of the format `ladder` differs from the one that was used for these records" in done.err
    )
    (folder / "t.toml").write_text(TOML.replace('format = "ladder.py:Ladder"\n', "").replace("ranking", "#"))
    done = referee_in(folder, "run", "t.toml", "-o", "run")
    assert done.code == 2 and "`format` is round-robin, but was ladder" in done.err
    assert (folder / "run" / "games.jsonl").read_bytes() == before


LADDER = SOURCE.read_text()

BAD: dict[str, tuple[str, str]] = {
    "raises": ("\n1 / 0\n", "cannot load the format's file `*.py`: line 2: ZeroDivisionError: division by"),
    "no name": ("x = 1\n", "`*.py` has no `Ladder`, expected the name of a format in that file"),
    "no class": ("Ladder = 1\n", "`bad.py:Ladder` is not a class derived from `Format`, expected one"),
    "abstract": (
        LADDER.replace("def schedule", "def no").replace("def read(", "def not_read("),
        "the format `bad.py:Ladder` lacks `read` and `schedule`, expected all members of `Format`",
    ),
    "name": (LADDER.replace('"ladder"', '"The Ladder"'), "has an invalid `name`, expected [a-z]"),
    "built in": (LADDER.replace('"ladder"', '"swiss"'), "the name `swiss` belongs to a built-in format"),
    "no default": (
        LADDER.replace("    rounds:", "    best: int\n    rounds:"),
        "the setting `best` of the format `ladder` has no default, expected one",
    ),
    "large": ("#" * 1_048_577, "has more than 1,048,576 bytes, expected a format's file"),
}


@pytest.mark.parametrize(("source", "told"), BAD.values(), ids=BAD)
def test_a_file_that_is_no_format_is_told_in_one_line(source: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(source)
    with pytest.raises(UsageError) as error:
        format_given("bad.py:Ladder", tmp_path)
    assert told.replace("*.py", str(path)) in str(error.value)
    assert str(error.value).isprintable()


def test_a_format_that_is_not_known_is_told_with_those_that_are() -> None:
    with pytest.raises(
        UsageError, match=r"unknown format `cup`, expected one of round-robin, .* or a file's"
    ):
        format_given("cup", Path())
    assert format_given("swiss", Path()) is FORMATS["swiss"]


@pytest.mark.slow
def test_settings_that_tournaments_have_in_any_format_are_refused(folder: Path) -> None:
    (folder / "ladder.py").write_text(LADDER.replace("ranking", "clock"))
    done = referee_in(folder, "run", "t.toml", "--dry-run")
    assert done.code == 2 and "expected a format with no setting named `clock`" in done.err


# --- Formats that fail -----------------------------------------------------------------------------------

WAIT = "yield wait_for(challenges)\n"
AFTER_ROUND_1 = LADDER.replace(WAIT, WAIT + " " * 12 + "1 / (number - 1)\n")

CHALLENGE = "section.encounter(number, (order[i], order[i + 1]))"

FAILING = {
    "standings": ("        order = [*self.ranking]\n", "        raise SystemExit\n", "SystemExit"),
    "games_in_all": ("divmod(self.rounds, 2)", "divmod(self.rounds, 0)", "ZeroDivisionError: "),
    "check": ("if seats != 2", "if seats != bots[2]", "TypeError: 'int' object is not subscriptable"),
    "read": ("return cls(", "return cls(settings.nothing, ", "AttributeError: "),
}

WRONG = {
    "step": (
        "schedule",
        "yield from challenges",
        "yield challenges",
        "] is neither an encounter nor something to wait",
    ),
    "no schedule": (
        "schedule",
        "return self._played([",
        "return None and ([",
        "'NoneType' object is not iter",
    ),
    "no bot": (
        "schedule",
        CHALLENGE,
        "section.encounter(number, ('a', 'x'))",
        "a bot of game `1:a:x` is not in this",
    ),
    "same bot": (
        "schedule",
        CHALLENGE,
        "section.encounter(number, ('a', 'a'))",
        "a bot has more than one seat in game `",
    ),
    "seats": (
        "schedule",
        CHALLENGE,
        "section.encounter(number, tuple('abc'))",
        "`1:a:b:c` has 3 bots, expected 2",
    ),
    "round": (
        "schedule",
        CHALLENGE,
        "section.encounter(3, ('a', 'b'))",
        "the round of game `3:a:b` is not in this",
    ),
    "read": ("read", "return cls(", "return tuple, (", "it returned (<class 'tuple'>, "),
    "rounds": ("rounds", "cls(settings.rounds(), ", "cls('two', ", "it is 'two', expected a number"),
    "games": ("games_in_all", "return Amount(", "return (", "it returned (4, True), expected an `Amount`"),
    "rows": (
        "standings",
        "[Standing(place, bot, ",
        "[(place, bot, ",
        "expected a list of `Standing`, or None",
    ),
    "table": ("standings", "return [Standing(", "return 'all' or [Standing(", "it returned 'all', expected "),
}
"""What methods return that they should not: the method, how the ladder is changed, and what is told."""


def failure(old: str, new: str, folder: Path) -> str:
    """What is told where a ladder with this change fails."""
    source = LADDER.replace(old, new)
    assert source != LADDER
    (folder / "failing.py").write_text(source)
    fields = Fields({"rounds": 2}, "", UsageError)
    with pytest.raises(UsageError) as error:
        one = format_given("failing.py:Ladder", folder).read(Settings(fields, "abc", (), UsageError))
        one.check(3, 2)
        one.games_in_all(3, 2)
        one.standings(SectionState({}))
        list(one.schedule(SectionState({}, "abc")))
    text = str(error.value)
    assert text.isprintable()
    return text


@pytest.mark.parametrize("method", FAILING)
def test_what_a_method_of_a_format_raises_is_told_with_its_line(method: str, tmp_path: Path) -> None:
    old, new, told = FAILING[method]
    text = failure(old, new, tmp_path)
    assert text.startswith(f"the format `ladder` failed in `{method}`: `{tmp_path / 'failing.py'}`, line ")
    assert told in text


@pytest.mark.parametrize(("method", "old", "new", "told"), WRONG.values(), ids=WRONG)
def test_what_a_method_of_a_format_returns_is_checked(
    method: str, old: str, new: str, told: str, tmp_path: Path
) -> None:
    text = failure(old, new, tmp_path)
    assert text.startswith(f"the format `ladder` failed in `{method}`: `{tmp_path / 'failing.py'}`, ")
    assert told in text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("bot", "told"), [("'x'", "`x`, which is not a bot of this run"), ("'a'", "`a` twice")]
)
def test_standings_of_bots_that_are_not_there_are_refused(bot: str, told: str, folder: Path) -> None:
    (folder / "ladder.py").write_text(LADDER.replace("Standing(place, bot,", f"Standing(place, {bot},"))
    done = run(folder, rounds=1)
    assert done.code == 2 and "Traceback" not in done.err
    expected = f"referee: the standings of the format `ladder` contain {told}, expected each bot once"
    assert done.err.splitlines()[-1] == expected


@pytest.mark.slow
def test_a_file_without_the_name_of_a_format_is_told(folder: Path) -> None:
    (folder / "t.toml").write_text(TOML.replace(":Ladder", ""))
    done = referee_in(folder, "run", "t.toml", "--dry-run")
    expected = "is `ladder.py`, expected `module.py:NAME`, with the name of the format in that file"
    assert done.code == 2 and f"`tournament.format` {expected}" in done.err


@pytest.mark.slow
def test_an_error_in_the_schedule_ends_the_run_and_loses_no_game(folder: Path) -> None:
    (folder / "ladder.py").write_text(AFTER_ROUND_1)
    for _ in range(2):
        done = run(folder)
        *_, last = done.err.splitlines()
        assert done.code == 2 and "Traceback" not in done.err
        assert re.fullmatch(
            r"referee: the format `ladder` failed in `(schedule|standings)`: `.*/ladder.py`, line \d+: "
            "ZeroDivisionError: division by zero",
            last,
        )
        lines = [json.loads(line) for line in (folder / "run" / "games.jsonl").read_text().splitlines()]
        assert [line["id"] for line in lines if line["kind"] == "game"] == ["1:c:b", "1:b:c"]
    assert referee_in(folder, "verify", "run").code == 0


@pytest.mark.slow
def test_an_error_in_the_standings_leaves_a_whole_run(folder: Path) -> None:
    (folder / "ladder.py").write_text(LADDER.replace(*FAILING["standings"][:2]))
    for words in (
        ("run", "t.toml", "-o", "run", *HERE),
        ("table", "run", *NAMED),
        ("report", "run", "-o", "report.html", *NAMED),
    ):
        done = referee_in(folder, *words)
        assert done.code == 2 and "Traceback" not in done.err
        assert "the format `ladder` failed in `standings`: " in done.err.splitlines()[-1]
    done = referee_in(folder, "verify", "run")
    assert done.code == 0 and done.out.startswith("6 games verified")
    assert len(table(folder)) == 3, "by rating"
