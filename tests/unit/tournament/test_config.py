"""Tournament files that will not do are refused in one clear line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from referee.core.errors import UsageError
from referee.tournament.file.config import load
from referee.tournament.plan import BotOrigin
from tests.command import referee
from tests.processes.runs import toml

GOOD = '[tournament]\ngame = "blooms"\n[[bot]]\nname = "a"\ncmd = "true"\n[[bot]]\nname = "b"\ncmd = "true"\n'


POOL_AND_CUP = '[[stage]]\nname = "pool"\nadvance = 2\n[[stage]]\nname = "cup"\n'
TREE = GOOD.replace("blooms", "thetree") + '[[bot]]\nname = "c"\ncmd = "true"\n[options]\nplayers = 3\n'


def set_in(text: str, settings: str) -> str:
    """A file with these settings of the tournament."""
    return text.replace("[tournament]\n", f"[tournament]\n{settings}\n")


FOUND_LATE = [
    (
        set_in(TREE, 'format = "swiss"\nrounds = 2'),
        "`format` is `swiss`, but the game has 3 seats, expected 2",
    ),
    (set_in(TREE, 'format = "knockout"'), "`format` is `knockout`, but the game has 3 seats, expected 2"),
    (set_in(TREE, "sprt = { elo0 = 0, elo1 = 10 }"), "`sprt` needs a game with 2 seats"),
    (TREE + POOL_AND_CUP, "the stage `cup`: there are 2 bots, expected at least 3"),
    (GOOD + POOL_AND_CUP.replace("2", "3"), "the stage `pool` has 2 bots, expected at least 3"),
    (set_in(GOOD, 'cluster = "foo"'), "cluster `foo`: expected `tcp://HOST:PORT`"),
    (set_in(GOOD, 'format = "gauntlet"\nagainst = ["a", "b"]'), "`against` leaves 0 other bots, expected"),
    (set_in(TREE, 'format = "pairings"\npairings = [["a", "b"]]'), "`pairings` has `a`, `b` in an encounter"),
    (
        set_in(GOOD, 'format = "swiss"\nrounds = 2\nstrikes = { faults = 1, games = "keep" }'),
        "`strikes.games` is `keep`, expected `forfeit` with the format `swiss`",
    ),
    (
        set_in(GOOD, 'format = "swiss"\nrounds = 2\norder = "points"'),
        "`order` is `points`, but the format `swiss` has an order of its own, expected no `order`",
    ),
]
"""What shows only when the bots, the seats and the format are put together."""

TUNED = (
    '[tournament]\ngame = "blooms"\nbudget = 200\n[[bot]]\nname = "a"\ncmd = "true {n}"\n'
    '[[parameter]]\nname = "n"\nstart = 3\nmin = 0\nmax = 20\n'
)


def parameter(**keys: object) -> str:
    """A file that tunes a bot, with other keys of its parameter."""
    text = TUNED
    for key, value in keys.items():
        text = re.sub(rf"^{key} = (\d+|\"n\")$", f"{key} = {value}", text, flags=re.MULTILINE)
    return text


BAD_FILES: list[tuple[str, str]] = [
    *FOUND_LATE,
    (
        TUNED.replace("{n}", "{m}"),
        "bot `a` does not use the parameter `n`, expected `{n}` in its `cmd` or `env`",
    ),
    (parameter(start=21), "`parameter.1.start` is `21`, expected a number from 0 to 20"),
    (parameter(min=20), "`parameter.1.max` is `20`, expected more than `min`, which is 20"),
    (parameter(start="nan"), "`parameter.1.start` is `nan`, expected a number, such as `start = 20`"),
    (parameter(start=2.5) + "integer = true\n", "`parameter.1.start` is `2.5`, expected a whole number"),
    (parameter(name='"a b"'), "`parameter.1.name` is `a b`, expected 1 to 40 letters, digits and _"),
    (parameter(name='"python"'), "`parameter.1.name` is `python`, expected"),
    (TUNED + "step = 1\n", "unknown key `parameter.1.step`, expected one of name, start, min, max, integer"),
    (
        TUNED + TUNED.partition("[[parameter]]")[2].join(["[[parameter]]", ""]),
        "`parameter.2.name` is `n`, expected a different name for each parameter",
    ),
    (parameter(budget=10), "`tournament.budget` is `10`, expected a number from 100 to"),
    (TUNED.replace("budget = 200\n", ""), "`tournament.budget` is missing, expected a number from 100 to"),
    (
        GOOD + TUNED.partition("cmd")[2].partition("\n")[2],
        "there are 2 `[[bot]]` tables with `[[parameter]]`",
    ),
    (
        TUNED.replace("{n}", "{n} --bonus={bonus}"),
        "bot `a` has `{bonus}` in its `cmd` or `env`, expected a `[[parameter]]` table with this name",
    ),
    (set_in(TUNED, "strikes = 3"), "`tournament.strikes` is given with `[[parameter]]` tables, expected one"),
    (set_in(TUNED, 'format = "swiss"'), "`tournament.format` is `swiss`, expected `tuning`, or none, with"),
    (set_in(GOOD, 'format = "tuning"\nbudget = 100'), "`parameter` is missing, expected at least 1 `[[param"),
    (TUNED.replace('"a"', f'"{"a" * 60}"'), "is not a bot name, expected 1 to 64 characters"),
    ("", "`tournament` is missing, expected a table, `[tournament]`"),
    ("x", "the file is not valid TOML"),
    ("[tournament]\n", "`tournament.game` is missing, expected a string"),
    ('tournament = 1\n[[bot]]\nname="a"\n', "`tournament` is `1`, expected a table"),
    (GOOD.replace("blooms", "chess"), "unknown game `chess`, expected one of blooms"),
    (GOOD.replace("game =", "gaem ="), "unknown key `tournament.gaem`, expected `game`"),
    (GOOD.replace('"true"', "1", 1), ".toml`: `bot.1.cmd` is `1`, expected a string"),
    (GOOD.replace('cmd = "true"\n[[', "[[", 1), "`bot.1.cmd` is missing, expected a string"),
    (GOOD.replace('cmd = "true"\n[[', "cmd = []\n[[", 1), "`bot.1.cmd` is `[]`, expected a command"),
    (GOOD.replace('"true"', '"\'x"', 1), "`bot.1.cmd`: command `'x` cannot be split"),
    (GOOD.replace('"b"', '"A"'), "two bots are named `A`"),
    (GOOD.replace('"b"', '"../b"'), "`../b` is not a bot name"),
    (GOOD.replace('"b"', '"b\\u001b[2J"'), "is not a bot name"),
    (GOOD.replace('"b"', "7"), "`bot.2.name` is `7`, expected a string"),
    (GOOD + "nmae = 1\n", "unknown key `bot.2.nmae`, expected `name`"),
    (GOOD + 'clock = "5"\n', "`bot.2.clock`: `5` is not a time control"),
    (GOOD + 'env = { "A B" = "1" }\n', "`bot.2.env` is"),
    (GOOD + "env = { A = 1.5 }\n", "expected a table of strings and numbers, such as"),
    (GOOD + "pass_env = [1]\n", "`bot.2.pass_env` is `[1]`, expected a list of strings"),
    (GOOD + "pause = 1\n", "`bot.2.pause` is `1`, expected true or false"),
    (GOOD + "[options]\nsize = 99\n", "option `size` is `99`, expected a number from 3 to 8"),
    (GOOD + "[options]\nsiez = 4\n", "`blooms` has no option `siez`, expected `size`"),
    (GOOD + "[options]\nkomi = 4\n", "`blooms` has no option `komi`, expected one of size, target"),
    (GOOD + "[limits]\nwatts = 4\n", "`limits`: unknown limit `watts`, expected one of memory,"),
    (GOOD.replace("blooms", "bloms"), "unknown game `bloms`, expected `blooms`"),
    ("games = 4\n" + GOOD, "unknown key `games`, expected `rounds` in `[tournament]`"),
    ("workers = 4\n" + GOOD, "unknown key `workers`, expected it in `[tournament]`"),
    ("size = 4\n" + GOOD, "unknown key `size`, expected it in `[options]`"),
    (GOOD + "[[engine]]\nname = 'c'\n", "unknown key `engine`, expected `[[bot]]`"),
    (GOOD.replace('"blooms"', '"blooms"\ngames = 4'), "`tournament.games`, expected `rounds`"),
    (
        GOOD.replace('"blooms"', '"blooms"\ntime = "90s+10m"'),
        "`tournament.time` is `90s+10m`, expected a time of at least `1m` for the whole tournament;",
    ),
    (
        GOOD.replace('"blooms"', '"blooms"\ntime = "1s"'),
        "`tournament.time` is `1s`, expected a time of at least `1m` for the whole tournament;",
    ),
    (
        GOOD.replace('"blooms"', '"blooms"\nuntil = "tomorrow"'),
        '`tournament.until` is `"tomorrow"`, expected a date and a time, such as `until = "2026-12-',
    ),
    (GOOD.replace('"blooms"', '"blooms"\nconcurrency = 4'), "`tournament.concurrency`, expected `workers`"),
    (GOOD.replace('"blooms"', '"blooms"\nTime-Margin = 4'), "`tournament.Time-Margin`, expected `margin`"),
    (GOOD.replace('"blooms"', '"blooms"\nsize = 4'), "`tournament.size`, expected it in `[options]`"),
    (GOOD.replace('"blooms"', '"blooms"\nmemory = 4'), "`tournament.memory`, expected it in `[limits]`"),
    (GOOD + "rounds = 4\n", "unknown key `bot.2.rounds`, expected it in `[tournament]`"),
    (GOOD + "command = 'true'\n", "unknown key `bot.2.command`, expected `cmd`"),
    (GOOD + "deadline = 1\n", "unknown key `bot.2.deadline`, expected `clock`"),
    (GOOD + "options = {}\n", "unknown key `bot.2.options`, expected a table of its own, `[options]`"),
    (
        GOOD + "limits = '1GB'\n",
        '.toml`: `bot.2.limits` is `"1GB"`, expected a table of strings and numbers, such',
    ),
    (GOOD + "memory = '1GB'\n", "unknown key `bot.2.memory`, expected `limits.memory`"),
    (GOOD + "pause = { a = [true, 'x'] }\n", '`bot.2.pause` is `{"a": [true, "x"]}`, expected true or false'),
    (
        GOOD + '[limits]\nmemroy = "1GB"\n',
        "`limits`: unknown limit `memroy`, expected `memory`",
    ),
    (GOOD + '[limits]\nmemory = "1KB"\n', "limit `memory` is `1KB`, expected at least `1MB`, or `none`"),
    (GOOD + '[limits]\nmemory = "1G"\n', "limit `memory` is `1G`, expected a size such as `512MB`"),
    (GOOD + "[limits]\nprocesses = 0\n", "limit `processes` is `0`, expected a number from 1, or `none`"),
    (
        GOOD + 'limits = { cpu = "1500ms" }\n',
        "`bot.2.limits`: limit `cpu` is `1500ms`, expected a whole number of seconds",
    ),
    (GOOD + "pty = 1\n", "`bot.2.pty` is `1`, expected true or false"),
    (GOOD.replace('"blooms"', '"blooms"\nclock = "cpu:none"'), "`cpu:none` is not a time control"),
    (GOOD + "[option]\nsize = 4\n", "unknown key `option`, expected `[options]`"),
    (
        GOOD.replace('"blooms"', '"blooms"\npoints = 3'),
        "`tournament.points` is `3`, expected a table, such as",
    ),
    (GOOD.replace('"blooms"', '"blooms"\npoints = { win = 3 }'), "`tournament.points.draw` is missing"),
    (
        GOOD.replace('"blooms"', '"blooms"\npoints = { win = 1, draw = 0.3 }'),
        "`tournament.points.draw` is `0.3`, expected a whole number or a half from 0 to 1000",
    ),
    (
        GOOD.replace('"blooms"', '"blooms"\npoints = { win = 1, draw = 2 }'),
        "`tournament.points.draw` is `2`, expected a number from 0 to 1, as a loss and a win give",
    ),
    (
        GOOD.replace('"blooms"', '"blooms"\npoints = { win = 1, draw = 1, loss = 1 }'),
        "`tournament.points.win` is `1`, expected more than a loss gives, which is 1",
    ),
    (
        GOOD.replace('"blooms"', '"blooms"\nformat = "swiss"\nrounds = 2\ntiebreaks = ["luck"]'),
        '`tournament.tiebreaks` is `["luck"]`, expected a list of different words from buchholz,',
    ),
    (
        GOOD.replace('"blooms"', '"blooms"\nrounds = 0'),
        "`tournament.rounds` is `0`, expected a number from 1 to",
    ),
    (GOOD.replace('"blooms"', '"blooms"\nrounds = true'), "`tournament.rounds` is `true`, expected a number"),
    (GOOD.replace('"blooms"', '"blooms"\nrounds = 1.0'), "`tournament.rounds` is `1.0`, expected a number"),
    (GOOD.replace('"blooms"', '"blooms"\nclock = "nan"'), "`tournament.clock`: `nan` is not a time control"),
    (GOOD.replace('"blooms"', '"blooms"\nmargin = "1"'), "`tournament.margin`: `1` is not a time"),
    (
        GOOD.replace('"blooms"', '"blooms"\nkeep = "some"'),
        "`tournament.keep` is `some`, expected one of faults",
    ),
    (GOOD.replace('"blooms"', '"blooms"\nseed = ""'), "the seed is empty"),
    (
        GOOD.replace('"blooms"', '"blooms"\nworkers = -1'),
        "`tournament.workers` is `-1`, expected a number from 0 to",
    ),
    (
        GOOD.split('[[bot]]\nname = "b"')[0],
        "there is 1 bot, expected at least 2, one for each seat of `blooms`",
    ),
    (GOOD + 'cwd = "no-such-folder"\n', "bot `b`: the folder to run it in, `"),
    (GOOD + 'cwd = "/dev/null"\n', "the folder to run it in, `/dev/null`, is not a folder"),
    (GOOD + 'cwd = "a\\u0000b"\n', "`bot.2.cwd` is `a\\x00b`, expected a folder"),
    (GOOD.replace('"true"', '"./no-such-bot"', 1), "bot `a`: no program at `./no-such-bot`"),
    (
        GOOD.replace('cmd = "true"', 'cmd = "true"\nbuild = "false"', 1),
        "bot `a`: it cannot be built: `false` exited with status 1; without it, there is 1 bot, expected",
    ),
    (
        GOOD.replace('cmd = "true"', 'cmd = "true"\nbuild = "no-such"', 1),
        "bot `a`: it cannot be built: the program `no-such` is not on the path",
    ),
    ("a" + ".a" * 20_000 + " = 1", "line 1 has more than 4,096 bytes"),
    ("a = " + "[" * 1000, "levels of nested brackets"),
    ("a = [\n" + "[\n" * 100_000, "levels of nested brackets"),
    ("a = " + "9" * 4000 + "\n", "unknown key `a`"),
    ("[" * 1_000_000, "line 1 has more than 4,096 bytes"),
    ("#" * 100 + "\n" + ("x" * 4000 + "\n") * 300, "the file has more than 1,048,576 bytes"),
    ("\x00", "the file is not valid TOML"),
]


BAD_KEYS = [
    # a key of `[tournament]`, and what is said of it
    ('rounds = "10"', 'rounds` is `"10"`, expected a number from 1 to 1000000, such as `rounds = 10`'),
    ("rounds = 0", "rounds` is `0`, expected a number from 1 to 1000000"),
    ("stop = 20", "stop` is `20`, expected a table, such as `stop = { interval = 20 }`"),
    ("clock = 5", 'clock` is `5`, expected a time control, such as `clock = "2s+6s/2s"`'),
    ("margin = 10", 'margin` is `10`, expected a time, such as `margin = "10ms"`'),
    ("keep = true", 'keep` is `true`, expected one of faults, all, nothing, such as `keep = "all"`'),
    ("pin = 1", "pin` is `1`, expected true or false, such as `pin = true`"),
    ("openings = 4", "openings` is `4`, expected a table, such as `openings = { plies = 4 }`"),
    ('strikes = "3"', 'strikes` is `"3"`, expected a number or a table, such as `strikes = 3`'),
    ("sprt = 5", 'sprt` is `5`, expected a string or a table, such as `sprt = "0,10"`'),
    (
        'format = "pairings"\npairings = ["a"]',
        'expected a list of lists of bots, such as `pairings = [["mine"',
    ),
    ("options = { size = 4 }", "options`, expected a table of its own, `[options]`"),
    ('limits = { cpu = "1m" }', "limits`, expected a table of its own, `[limits]`"),
    ('deadline = "1s"', "deadline`, expected `clock`"),
    ("time-limit = 5", "time-limit`, expected `clock`"),
    ("max_move_time = 5", "max_move_time`, expected `clock`"),
    ("bot_timeout = 5", "bot_timeout`, expected `clock`"),
    ('type = "swiss"', "type`, expected `format`"),
    ("stop_after = 9", "stop_after`, expected `stop`"),
    ("bot = []", "bot`, expected `[[bot]]`"),
    ('margin = "10"', "`10` is not a time, expected a number and a unit (us, ms, s, m, h), such as `10ms`"),
]


@pytest.mark.parametrize(("line", "message"), BAD_KEYS)
def test_a_bad_key_is_told_with_the_form_that_is_expected(line: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failed:
        load(written(tmp_path, GOOD.replace('"blooms"', f'"blooms"\n{line}')))
    assert message in str(failed.value)


@pytest.mark.parametrize(("text", "message"), BAD_FILES, ids=lambda value: repr(value)[:50])
def test_a_bad_file_is_one_clear_line(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(text)
    done = referee("run", str(file))
    assert done.code == 2 and message in done.err, done.err
    last = done.err.splitlines()[-1]
    assert last.startswith(f"referee: `{file}`") and len(last) < 500
    assert done.out == "" and [path.name for path in tmp_path.iterdir()] == ["bad.toml"]
    if "build =" not in text:
        assert referee("run", str(file), "--dry-run") == done


BAD_BOTS = (
    *('files = ["nope"]', 'cwd = "nowhere"', 'cmd = "{python} nope.py"', 'cmd = "no-such-program"'),
    *('cmd = "./nope"', 'cmd = "."', 'isolation = "bwrapped"', 'read = ["nope"]', 'user = "x y"'),
    *('needs = ["no-such-program"]', 'files = ["/dev/null"]', 'files = ["*.none"]'),
    *("person = true\n#", "build_network = true", 'shared = true\nfiles = ["t.toml"]'),
)
"""What is wrong with the only other bot, so that too few are left."""


@pytest.mark.parametrize("wrong", BAD_BOTS)
def test_a_dry_run_refuses_a_bad_bot_as_the_run_does(wrong: str, tmp_path: Path) -> None:
    cmd = "" if "cmd" in wrong or "person" in wrong else 'cmd = "true"\n'
    text = GOOD.rpartition("cmd")[0]
    (tmp_path / "t.toml").write_text(f"{text}{cmd}{wrong}\n")
    done, dry = (referee("run", str(tmp_path / "t.toml"), *words) for words in ((), ("--dry-run",)))
    assert done.code != 0 and dry == done
    assert f"referee: `{tmp_path / 't.toml'}`: " in done.err


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("place", ["a file", "below a file", "another run", "damaged", "a copy alone"])
def test_a_dry_run_refuses_a_bad_folder_as_the_run_does(place: str, tmp_path: Path) -> None:
    file, folder = toml(tmp_path / "t.toml"), tmp_path / "t-results"
    words = ["-o", str(folder / "below" if place == "below a file" else folder)]
    if "file" in place:
        folder.touch()
    elif place == "a copy alone":
        folder.mkdir()
        (folder / "tournament.toml").touch()
    else:
        other = toml(tmp_path / "other.toml", options="size = 4", rounds=1)
        assert referee("run", str(other), *words).code == 0
    if place == "damaged":
        (folder / "games.jsonl").write_text("damaged\n" * 2)
    done, dry = (referee("run", str(file), *words, *more) for more in ([], ["--dry-run"]))
    assert done.code == dry.code != 0 and done.err == dry.err, (done.err, dry.err)


def test_files_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    for path in ("/no/such.toml", "/dev/zero", str(tmp_path), str(tmp_path / "latin")):
        done = referee("run", path)
        assert done.code == 2 and len(done.err.splitlines()) == 1


def written(tmp_path: Path, text: str) -> Path:
    (tmp_path / "t.toml").write_text(text)
    return tmp_path / "t.toml"


OF_ORIGINS = [
    ("shared = 1", "`bot.2.shared` is `1`, expected true or false"),
    ('files = "x"', '`bot.2.files` is `"x"`, expected a list of strings'),
    ('files = ["x", ""]', '`bot.2.files` is `["x", ""]`, expected files, folders and patterns'),
    ('files = ["a\\u0000"]', "expected files, folders and patterns"),
    (
        'shared = true\nbuild = "make"',
        "`bot.2.build` is given with `shared`, but only applies to a bot that is sent",
    ),
    ("shared = true\nfiles = []", "`bot.2.files` is given with `shared`"),
]


@pytest.mark.parametrize(("keys", "message"), OF_ORIGINS)
def test_bad_keys_of_the_files_of_a_bot(keys: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as failed:
        load(written(tmp_path, f"{GOOD}{keys}\n"))
    assert message in str(failed.value)


def test_a_shared_bot_is_found_on_every_machine(tmp_path: Path) -> None:
    relative = GOOD.replace('"true"', '"./true"\nshared = true', 1)
    with pytest.raises(UsageError, match=r"`bot\.1\.cmd` has the relative program `\./true` with `shared`"):
        load(written(tmp_path, relative))
    for program in ("/opt/true", "true"):
        config = load(written(tmp_path, GOOD.replace('"true"', f'"{program}"\nshared = true', 1)))
        assert config.origins["a"].shared and not config.origins["b"].shared


def test_where_bots_play_elsewhere_this_machine_may_lack_what_they_need(tmp_path: Path) -> None:
    text = GOOD + 'needs = ["no-such-program"]\nshared = true\nread = ["/no/such/book"]\n'
    with pytest.raises(UsageError, match=r"`bot\.2\.read` is"):
        load(written(tmp_path, text))
    text = text.replace('read = ["/no/such/book"]', "") + '[[bot]]\nname = "c"\ncmd = "true"\n'
    config = load(written(tmp_path, text))
    assert len(config.entrants) == 2 and "left out" in config.left_out[0].text and not config.cluster
    on_cluster = text.replace('"blooms"', '"blooms"\ncluster = "local:2"')
    for config in (load(written(tmp_path, text), elsewhere=True), load(written(tmp_path, on_cluster))):
        assert len(config.entrants) == 3 and config.left_out == ()
        assert config.origins["b"] == BotOrigin(shared=True, needs=("no-such-program",))
    assert config.cluster == "local:2"


def test_workers_that_are_given_play_here_though_the_file_names_a_cluster(tmp_path: Path) -> None:
    toml = written(tmp_path, GOOD.replace('"blooms"', '"blooms"\ncluster = "tcp://127.0.0.1:1"'))
    done = referee("run", str(toml), "--workers", "3", "--dry-run")
    assert done.code == 0 and "3 workers" in done.out


def test_keys_of_clusters(tmp_path: Path) -> None:
    for wrong, message in (("cluster = 1", "a string"), ('cluster = ""', "the address of a Dask scheduler")):
        with pytest.raises(UsageError, match=message):
            load(written(tmp_path, GOOD.replace('"blooms"', f'"blooms"\n{wrong}')))


def test_workers_are_not_ignored_on_a_cluster(tmp_path: Path) -> None:
    done = referee("run", str(toml(tmp_path / "t.toml")), "--cluster", "local:1", "--workers", "2")
    assert done.code == 2 and "`--workers` is 2, expected none" in done.err
