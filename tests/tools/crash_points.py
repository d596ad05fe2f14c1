"""Kills the referee wherever it writes to a run's folder, and at random moments, and continues the run.

    python -m tests.tools.crash_points [--runs swiss,league,...] [--every N] [MOMENTS]

There is a short run of each format, and of what else decides which games are played. A run is killed at a
point, before a write, in the middle of it, before a sync, or before a file is made, renamed, cut or removed;
killed again at the same point of its continuation; and continued to its end by the same command. Then it has
to have ended with the same exit code and to have the same games, event by event, the same batches of a
league, the same bots that are out and the same files as a run that nothing disturbed, and it has to verify.

A larger run with two workers is killed again and again, at as many random moments as are asked for, until it
ends; then another one is. It stops by a sequential test: the games up to its decision have to be the same as
with no workers, and besides these there may be only what was being played when it was decided. Prints how
many times each run was killed and how many runs were wrong, and on stderr what was wrong.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from tabulate import tabulate

import referee.cli.match
import referee.cli.run
import referee.cli.verify
import referee.tournament.formats.league_choice
from referee.cli import main as referee_main
from referee.records import run_files
from referee.tournament.workers import encounter
from tests.command import BAD, PLAIN, RANDOM, ROOT
from tests.processes.runs import games, lines_of, voids

# Imported once here, not in each child.
assert (
    referee.cli.match and referee.cli.run and referee.cli.verify and referee.tournament.formats.league_choice
)

TOUCHES = ("os.mkdir", "os.remove", "os.rename")
"""What Python itself tells an audit, beside `open`. Writing, syncing and cutting are watched in
`run_files`.
"""

Text = Callable[[str], str]


class Scenario(NamedTuple):
    """A short run that is killed at each of its points."""

    tournament: str = ""
    """The keys of `[tournament]` that differ from the others'."""
    bots: str = "ab"
    more: str = "[options]\nsize = 3"
    """What follows the table `[tournament]`."""
    faulty: str = ""
    """The bot that ends itself when it is asked for a move."""
    voids: str = ""
    """The game that becomes void once."""
    match: tuple[str, ...] = ()
    """The words of a `match`, in the place of a tournament file, without its bots."""
    seed: str = "s"
    """Empty where the referee draws one."""
    game: str = "blooms"
    bot: str = ""
    """The command of the bots, where it is not that of the quick one, which plays Blooms."""

    def prepare(self, folder: Path, bot: str, workers: int = 0) -> list[str]:
        """Writes the tournament file; the words of the command."""
        words = ["-o", "run", "--workers", str(workers)]
        if self.match:
            return ["match", *self.match, *(f"{name}={bot}" for name in self.bots), *words]
        lines = ["[tournament]", 'clock = "20s"', self.tournament]
        lines += [f'game = "{self.game}"'] if "[[game]]" not in self.more else []
        lines += [f'seed = "{self.seed}"'] if self.seed else []
        lines += [self.more]
        for name in self.bots:
            cmd = f"{BAD} exits" if name == self.faulty else self.bot or bot
            lines += ["[[bot]]", f'name = "{name}"', f"cmd = {json.dumps(cmd)}"]
        (folder / "t.toml").write_text("\n".join(lines) + "\n")
        return ["run", "t.toml", *words]


SECTIONS = """
[[game]]
name = "small"
game = "blooms"
options = { size = 3 }
[[game]]
name = "large"
game = "blooms"
options = { size = 4 }
"""

SCENARIOS = {
    "round robin": Scenario("rounds = 1\nkeep = 'all'", "abc"),
    "hidden seed": Scenario("rounds = 1", "abc", seed=""),
    "sprt": Scenario("rounds = 100\nsprt = '-100,100,0.2,0.2'"),
    "gauntlet with sprt": Scenario(
        "format = 'gauntlet'\nagainst = ['a']\nrounds = 100\nsprt = '-300,300,0.4,0.4'", "abc"
    ),
    "swiss": Scenario("format = 'swiss'\nrounds = 3", "abcd"),
    "swiss with strikes": Scenario("format = 'swiss'\nrounds = 3\nstrikes = 2", "abcde", faulty="b"),
    "knockout": Scenario("format = 'knockout'\nbest_of = 3\nthird_place = true", "abcd"),
    "stages": Scenario(
        bots="abcde",
        more="[options]\nsize = 3\n[[stage]]\nname = 'groups'\ngroups = 2\nadvance = 1\n"
        "[[stage]]\nname = 'final'\nformat = 'knockout'",
    ),
    "league as a stage": Scenario(
        bots="abcd",
        more="[options]\nsize = 3\n"
        "[[stage]]\nname = 'qualification'\nformat = 'league'\nbudget = 24\nadvance = 3\n"
        "[[stage]]\nname = 'final'\nformat = 'league'\nbudget = 12",
    ),
    "stages of three seats": Scenario(
        bots="abcd",
        more="[options]\nplayers = 3\n"
        "[[stage]]\nname = 'qualification'\nformat = 'league'\nbudget = 15\nadvance = 3\n"
        "[[stage]]\nname = 'final'\nformat = 'league'\nbudget = 6",
        game="thetree",
        bot=RANDOM,
    ),
    "league": Scenario("format = 'league'\nbudget = 32", "abcde"),
    "league of two games": Scenario("format = 'league'\nbudget = 12", "abc", SECTIONS),
    "league with strikes": Scenario("format = 'league'\nbudget = 40\nstrikes = 3", "abcde", faulty="c"),
    "pairings": Scenario(match=("blooms", "-n", "5", "--option", "size=3", "--seed", "s", "--time", "20s")),
    "several games": Scenario("rounds = 1", "abc", SECTIONS),
    "openings": Scenario("rounds = 2", "abc", "openings = { plies = 2 }\n[options]\nsize = 3"),
    "tuning": Scenario(
        "budget = 100\nsprt = '-300,300,0.4,0.4'",
        "a",
        "[options]\nsize = 3\n[[parameter]]\nname = 'n'\nstart = 1\nmin = 0\nmax = 9",
        bot=f"{PLAIN} {{n}}",
    ),
    "interval": Scenario("rounds = 100\nstop = { interval = 400 }"),
    "strikes": Scenario("rounds = 3\nstrikes = 3", "abc", faulty="b"),
    "strikes kept": Scenario("rounds = 3\nstrikes = { faults = 3, games = 'keep' }", "abc", faulty="b"),
    "strikes annulled": Scenario(
        "rounds = 12\nstop = { interval = 400 }\nstrikes = { faults = 3, games = 'annul' }", "abc", faulty="b"
    ),
    "strikes in the last game": Scenario("rounds = 1\nstrikes = { faults = 2, games = 'annul' }", faulty="b"),
    "void game": Scenario("rounds = 2", voids="1:b:a"),
}


LARGER = Scenario("rounds = 1000\nsprt = '-30,30,0.05,0.05'", more="[options]\nsize = 4", seed="t")

WORKERS = 2

LONGEST_S = 3.0
"""The latest random moment, counted from the start of a process."""


class Point(NamedTuple):
    """Where a process is killed: the number of the point, 0 for nowhere, and what is told to at its end."""

    number: int
    counted: int
    """A descriptor to which the number of points is written."""


def _watch(point: Point, folder: Path) -> None:
    """Has this process die at the point. At its end, it tells how many points it had."""
    points = count(1)
    passed = 0

    def pass_point(die: Callable[[], object] = lambda: None) -> None:
        nonlocal passed
        passed = next(points)
        if passed == point.number:
            die()
            os.kill(os.getpid(), signal.SIGKILL)

    def write(file: int, data: bytes) -> int:
        if os.fstat(file).st_nlink:  # not the copy that dies with its process
            pass_point()
            pass_point(lambda: os.write(file, data[: len(data) // 2]))
        return os.write(file, data)

    def fsync(file: int) -> None:
        pass_point()
        os.fsync(file)

    def ftruncate(file: int, length: int) -> None:
        pass_point()
        os.ftruncate(file, length)

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        writes = event in TOUCHES or (event == "open" and arguments[2] & (os.O_CREAT | os.O_RDWR))
        if writes and str(folder) in os.path.abspath(str(arguments[0])):  # noqa: PTH100
            pass_point()

    watched = {"write": write, "fsync": fsync, "ftruncate": ftruncate}
    vars(run_files)["os"] = SimpleNamespace(**{**vars(os), **watched})
    sys.addaudithook(audit)
    end = os._exit

    def tell(code: int) -> None:
        os.write(point.counted, str(passed).encode())
        end(code)

    vars(os)["_exit"] = tell


def _make_void(game: str, folder: Path) -> None:
    """Has the first attempt at a game fail."""
    play = encounter._play

    def fail(terms: Any, *rest: Any) -> Any:
        if terms.id == game and not voids(folder):
            raise RuntimeError("once")
        return play(terms, *rest)

    vars(encounter)["_play"] = fail


class Ending(NamedTuple):
    """How a process ended."""

    code: int
    """Its exit code; less than 0 where it was killed."""
    err: str
    points: int = 0
    """How many points it had, where it was not killed."""


def in_child(
    words: list[str], folder: Path, scenario: Scenario, point: int = 0, after_s: float = 0
) -> Ending:
    """Runs a command of the referee in a folder, forked from here so that Python starts only once. It is
    killed at a point, or by an alarm after so many seconds.
    """
    receive, tell = os.pipe()
    with tempfile.TemporaryFile() as err:
        child = os.fork()
        if not child:
            code = 70
            try:
                os.chdir(folder)
                with open(os.devnull, "r+b") as nothing:  # noqa: PTH123
                    os.dup2(nothing.fileno(), 0)
                    os.dup2(nothing.fileno(), 1)
                os.dup2(err.fileno(), 2)
                sys.argv = ["referee", *words]
                signal.signal(signal.SIGALRM, signal.SIG_DFL)
                signal.setitimer(signal.ITIMER_REAL, after_s)
                _watch(Point(point, tell), folder / "run")
                if scenario.voids:
                    _make_void(scenario.voids, folder / "run")
                referee_main()
            except SystemExit as ended:
                code = ended.code if isinstance(ended.code, int) else 1
            finally:
                sys.stderr.flush()
                os._exit(code)
        os.close(tell)
        with os.fdopen(receive) as counted:
            passed = int(counted.read() or 0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        err.seek(0)
        return Ending(code, err.read().decode(), passed)


class Result(NamedTuple):
    """What became of a run."""

    code: int
    games: dict[str, dict[str, Any]]
    batches: list[Any]
    """Those of a league, of all sections: which section is the next to choose depends on what is over."""
    out: list[Any]
    files: dict[str, bytes]
    """By name; the contents only of the copy of the tournament file."""


def result_of(ending: Ending, folder: Path) -> Result:
    """What became of a run, from its folder."""
    lines = lines_of(folder)
    return Result(
        ending.code,
        games(folder),
        sorted(line["encounters"] for line in lines if "encounters" in line),
        [line["out"] for line in lines if "out" in line],
        {path.name: path.read_bytes() if path.suffix == ".toml" else b"" for path in folder.iterdir()},
    )


def difference(found: Result, whole: Result, same_events: bool = True) -> str:
    """What differs from the undisturbed run; empty if nothing does."""
    for what, one, other in zip(Result._fields, found, whole, strict=True):
        if what == "games" and found.games.keys() != whole.games.keys():
            more, less = found.games.keys() - whole.games.keys(), whole.games.keys() - found.games.keys()
            return f"games more {sorted(more)}, less {sorted(less)}"
        if what == "games" and same_events:
            for name in whole.games:
                if found.games[name] != whole.games[name]:
                    return f"game {name} is another one"
        elif what not in ("games",) and one != other:
            return f"{what} {one}, expected {other}"
    return ""


class Killer(NamedTuple):
    """Runs a scenario, killed or not; sent to the processes that share the points."""

    name: str
    bot: str

    def ended(self, folder: Path, words: list[str], point: int = 0) -> Ending:
        return in_child(words, folder, SCENARIOS[self.name], point)

    def undisturbed(self, folder: Path) -> tuple[Result, int]:
        """What comes of the run where nothing disturbs it, and how many points it has."""
        folder.mkdir()
        ending = self.ended(folder, SCENARIOS[self.name].prepare(folder, self.bot))
        if ending.code:
            raise AssertionError(f"{self.name}: {ending}")
        return result_of(ending, folder / "run"), ending.points

    def wrong_at(self, top: Path, whole: Result, point: int) -> str:
        """What is wrong after the run was killed at a point and continued; empty if nothing is."""
        scenario = SCENARIOS[self.name]
        folder = top / str(point)
        folder.mkdir()
        words = scenario.prepare(folder, self.bot)
        told = f"{self.name}, point {point}: "
        if (first := self.ended(folder, words, point)).code != -signal.SIGKILL:
            return f"{told}not killed, {first}"
        if (second := self.ended(folder, words, point)).code not in (0, -signal.SIGKILL):
            return f"{told}killed at once again, {second}"
        last = self.ended(folder, words)
        if last.code != whole.code:
            return f"{told}continued with {last}"
        found = difference(result_of(last, folder / "run"), whole, bool(scenario.seed))
        verified = in_child(["verify", "run"], folder, scenario)
        if found or verified.code:
            return f"{told}{found or verified}"
        shutil.rmtree(folder)
        return ""


def quick_bot(folder: Path) -> str:
    """The command of a bot that plays Blooms at random from its seed: in C where there is a compiler."""
    compiler = shutil.which("cc")
    if not compiler:
        return PLAIN
    command = [compiler, "-O2", "-o", str(folder / "c_bot"), str(ROOT / "sample_bots" / "c_bot.c")]
    subprocess.run(command, check=True)
    return str(folder / "c_bot")


def killed_at_points(
    name: str, top: Path, bot: str, every: int, at_a_time: int
) -> tuple[int, int, list[str]]:
    """Kills the run at every n-th point: how many games it has, how many points were tried, and what was
    wrong.
    """
    killer = Killer(name, bot)
    top.mkdir()
    whole, points = killer.undisturbed(top / "whole")
    tried = range(1, points + 1, every)
    with ProcessPoolExecutor(at_a_time, multiprocessing.get_context("fork")) as together:
        found = list(together.map(partial(killer.wrong_at, top, whole), tried))
    return len(whole.games), len(tried), [wrong for wrong in found if wrong]


def wrong_at_moments(top: Path, bot: str, whole: Result, seed: int, moments: int) -> list[str]:
    """Kills the larger run at so many random moments: what is wrong with those that ended."""
    rng = random.Random(seed)
    wrong = []
    for number in count(1):
        folder = top / f"{seed}-{number}"
        folder.mkdir()
        words = LARGER.prepare(folder, bot, WORKERS)
        code = -signal.SIGALRM
        kills = 0
        while code == -signal.SIGALRM and kills < moments:
            code = in_child(words, folder, LARGER, after_s=rng.uniform(0.001, LONGEST_S)).code
            kills += code == -signal.SIGALRM
        moments -= kills
        last = in_child(words, folder, LARGER)
        verified = in_child(["verify", "run"], folder, LARGER)
        told = f"larger run {seed}-{number}: "
        if code not in (0, -signal.SIGALRM) or last.code or verified.code:
            wrong.append(f"{told}{code}, {last}, {verified}")
            continue
        found = result_of(last, folder / "run")
        beyond = found.games.keys() - whole.games.keys()
        up_to_decision = {name: game for name, game in found.games.items() if name not in beyond}
        # Each kill may leave an encounter behind that decides, while the other workers play on.
        if difference(found._replace(games=up_to_decision), whole) or len(beyond) > 2 * WORKERS * (1 + kills):
            wrong.append(f"{told}{difference(found, whole)}, {len(beyond)} games beyond the decision")
        shutil.rmtree(folder)
        if not moments:
            break
    return wrong


def killed_at_moments(moments: int, top: Path, bot: str, at_a_time: int) -> tuple[int, list[str]]:
    """Kills larger runs at so many moments: how many games one has, and what was wrong."""
    top.mkdir()
    undisturbed = top / "whole"
    undisturbed.mkdir()
    ending = in_child(LARGER.prepare(undisturbed, bot), undisturbed, LARGER)
    whole = result_of(ending, undisturbed / "run")
    shares = [moments // at_a_time + (number < moments % at_a_time) for number in range(at_a_time)]
    with ProcessPoolExecutor(at_a_time, multiprocessing.get_context("fork")) as together:
        found = together.map(partial(wrong_at_moments, top, bot, whole), range(at_a_time), shares)
        return len(whole.games), [line for lines in found for line in lines]


def main() -> None:
    """Kills all runs and prints a table; exits with 1 if one was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("moments", type=int, nargs="?", default=200)
    parser.add_argument("--runs", default=",".join(SCENARIOS))
    parser.add_argument("--every", type=int, default=1, help="3 would hit each game at the same place")
    parser.add_argument("--at-a-time", type=int, default=2)
    words = parser.parse_args()
    os.environ["REFEREE_ISOLATION"] = "basic"
    rows, all_wrong = [], []
    with tempfile.TemporaryDirectory() as temporary:
        top = Path(temporary)
        bot = quick_bot(top)
        for name in filter(None, words.runs.split(",")):
            played, points, wrong = killed_at_points(name, top / name, bot, words.every, words.at_a_time)
            rows.append((name, played, points, len(wrong)))
            all_wrong += wrong
            print(rows[-1], *wrong, sep="\n", file=sys.stderr, flush=True)
        if words.moments:
            played, wrong = killed_at_moments(words.moments, top / "larger", bot, words.at_a_time)
            rows.append(("larger, at random moments", played, words.moments, len(wrong)))
            all_wrong += wrong
            print(rows[-1], *wrong, sep="\n", file=sys.stderr, flush=True)
    print(tabulate(rows, ("run", "games", "killed", "wrong")))
    sys.exit(bool(all_wrong))


if __name__ == "__main__":
    main()
