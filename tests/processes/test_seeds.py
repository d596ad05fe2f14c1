"""The seed of a run: bots cannot read it while the run is on, and it is verified afterwards."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.core.seeds import game_seed, shared_seed
from referee.core.stop import Interrupted
from referee.records import journal
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.run import read_run
from tests.command import PLAIN, THIS_PYTHON, referee
from tests.processes.runs import games, lines_of, toml

FAST = ["--option", "size=3", "--option", "target=2"]

Lines = list[dict[str, Any]]


@pytest.fixture
def played(tmp_path: Path) -> tuple[Path, Path]:
    """A tournament without a seed that was played, and its folder."""
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), seed=None)
    assert referee("run", str(file)).code == 0
    return file, tmp_path / "t-results"


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def write(folder: Path, lines: Lines) -> None:
    """Writes the lines of a file of records anew, with a right chain."""
    path = folder / journal.NAME
    path.unlink()
    written = journal.Journal.create(folder)
    for line in lines:
        written.append({name: what for name, what in line.items() if name not in ("prev", "hash")})
    written.close()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["run", "match"])
def test_no_bot_can_read_the_seed_while_the_run_is_on(command: str, tmp_path: Path) -> None:
    """The bot copies all that it finds: the folder of the run, command lines, environments."""
    spy = tmp_path / "spy.sh"
    spy.write_text(
        f"cd {tmp_path}\n"
        "cat t.toml t-results/* /proc/[0-9]*/cmdline /proc/[0-9]*/environ >> seen 2>/dev/null\n"
        f"exec {PLAIN.replace('{python}', THIS_PYTHON)}\n"
    )
    file = toml(
        tmp_path / "t.toml", {"spy": f"sh {spy}", "plain": PLAIN}, seed=None, processes="game", workers=1
    )
    folder = tmp_path / "t-results"
    if command == "run":
        assert referee("run", str(file)).code == 0
    else:
        bots = [f"spy=sh {spy}", f"plain={PLAIN}"]
        assert referee("match", "blooms", *bots, "-n", "4", "-o", str(folder), *FAST).code == 0
    first, *rest, last = lines_of(folder)
    assert "seed" not in first and len(last["seed"]) == 32 and last["kind"] == "change"
    assert first["seed_sha256"] == sha256(last["seed"])
    seen = (tmp_path / "seen").read_text(errors="replace")
    assert first["seed_sha256"] in seen and last["seed"] not in seen, "it read the records"
    assert all(game["seed"] == game_seed(last["seed"], game["id"]).hex() for game in rest)
    assert referee("verify", str(folder)).err == ""


def test_a_seed_that_is_given_is_in_the_first_line(tmp_path: Path) -> None:
    file = toml(tmp_path / "t.toml", dict.fromkeys("ab", PLAIN), rounds=1)
    assert referee("run", str(file)).code == 0
    first, *rest = lines_of(tmp_path / "t-results")
    assert first["seed"] == "s" and [line["kind"] for line in rest] == ["game", "game"]


def test_with_hidden_information_a_seed_in_the_file_is_warned_of(tmp_path: Path) -> None:
    bots = dict.fromkeys("ab", PLAIN)
    for game, seed, warned in (("floral", "s", True), ("floral", None, False), ("blooms", "s", False)):
        file = toml(tmp_path / "t.toml", bots, options="", game=game, seed=seed)
        done = referee("run", str(file), "-o", str(tmp_path / "none" / "run"), "--dry-run")
        assert done.code == 0 and ("warning: bots that read or guess the `seed`" in done.err) == warned


def test_a_complete_run_reveals_its_seed_once(played: tuple[Path, Path]) -> None:
    file, folder = played
    before = (folder / "games.jsonl").read_bytes()
    assert referee("run", str(file)).code == 0
    assert (folder / "games.jsonl").read_bytes() == before


@pytest.mark.slow
def test_more_rounds_are_played_under_another_seed(played: tuple[Path, Path]) -> None:
    file, folder = played
    first = lines_of(folder)
    toml(file, dict.fromkeys("abc", PLAIN), seed=None, rounds=3)
    assert referee("run", str(file)).code == 0
    change, *rest, last = lines_of(folder)[len(first) :]
    assert change["rounds"] == 3 and change["seed_sha256"] == sha256(last["seed"])
    assert last["seed"] != first[-1]["seed"] and len(rest) == 14
    assert all(game["seed"] == game_seed(last["seed"], game["id"]).hex() for game in rest)
    assert referee("verify", str(folder)).err == ""


@pytest.mark.slow
def test_after_a_kill_a_run_goes_on_under_another_seed(played: tuple[Path, Path]) -> None:
    """The games of an encounter, or the bots that play alone in a round, still share their chance."""
    file, folder = played
    before = lines_of(folder)
    kept = before[:4]  # one of the two games of round 2, and no seed
    write(folder, kept)
    done = referee("verify", str(folder))
    assert done.code == 0 and "the seeds of 3 games are not verified" in done.err
    assert referee("run", str(file)).code == 0
    change, game, last = lines_of(folder)[4:]
    assert change["seed_sha256"] == sha256(last["seed"]) != before[0]["seed_sha256"]
    assert game["id"] == before[4]["id"] and game["seed"] == game_seed(last["seed"], game["id"]).hex()
    assert game["shared_seed"] == kept[3]["shared_seed"] != shared_seed(last["seed"], game["id"]).hex()
    done = referee("verify", str(folder))
    assert done.code == 0 and "the seeds of 3 games are not verified" in done.err
    assert "4 games verified" in done.out


@pytest.mark.slow
def test_a_run_whose_seed_was_never_hidden_is_continued_under_one_that_is(tmp_path: Path) -> None:
    """The tournament file had a seed when the run began, and has none now."""
    bots = dict.fromkeys("ab", PLAIN)
    file = toml(tmp_path / "t.toml", bots, rounds=1)
    folder = tmp_path / "t-results"
    assert referee("run", str(file)).code == 0
    old = lines_of(folder)
    assert referee("run", str(toml(file, bots, rounds=1, seed=None))).code == 0
    assert lines_of(folder) == old, "nothing is left to play"
    assert referee("run", str(toml(file, bots, rounds=2, seed=None))).code == 0
    change, *rest, last = lines_of(folder)[len(old) :]
    assert change["seed_sha256"] == sha256(last["seed"]) and last["seed"] != "s"
    assert all(game["seed"] == game_seed(last["seed"], game["id"]).hex() for game in rest)
    assert len(games(folder)) == 4 and referee("verify", str(folder)).err == ""


@pytest.mark.slow
def test_a_seed_that_the_run_did_not_begin_with(played: tuple[Path, Path]) -> None:
    file, folder = played
    seed = lines_of(folder)[-1]["seed"]
    bots = dict.fromkeys("ab", PLAIN)
    done = referee("run", str(toml(file, bots, seed="other", rounds=3)))
    assert done.code == 2 and f"`seed` is other, but was {seed}" in done.err
    assert referee("run", str(toml(file, bots, seed=seed, rounds=3))).code == 0, "as it was revealed"
    assert referee("verify", str(folder)).err == ""
    write(folder, lines_of(folder)[:4])
    done = referee("run", str(toml(file, bots, seed=seed)))
    assert done.code == 2 and f"`seed` is {seed}, but was not given" in done.err


def _another_seed(lines: Lines) -> None:
    lines[-1]["seed"] = "0" * 32


def _another_hash(lines: Lines) -> None:
    lines[0]["seed_sha256"] = sha256("0" * 32)


def _another_seed_and_hash(lines: Lines) -> None:
    _another_seed(lines)
    _another_hash(lines)


def _another_shared_seed(lines: Lines) -> None:
    lines[2]["shared_seed"] = "0" * 64


def _no_seed_at_all(lines: Lines) -> None:
    del lines[0]["seed_sha256"]


def _both(lines: Lines) -> None:
    lines[0]["seed"] = lines[-1]["seed"]


def _short_hash(lines: Lines) -> None:
    lines[0]["seed_sha256"] = "0"


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (
            _another_seed,
            "line 6: `seed` is `00000000000000000000000000000000`, expected the seed whose hash is",
        ),
        (_another_hash, "expected the seed whose hash is `seed_sha256`"),
        (
            _another_seed_and_hash,
            "line 6: the seeds of 4 games are not derived from this seed: 1:a:b, 1:b:a, ",
        ),
        (
            _another_shared_seed,
            "line 3 (game 1:b:a): its shared seed differs from that of the earlier games",
        ),
        (_no_seed_at_all, "line 1: `seed` is missing, expected a string"),
        (_both, "expected either `seed` or `seed_sha256`"),
        (_short_hash, "`seed_sha256` is `0`, expected 64 hexadecimal digits"),
    ],
)
@pytest.mark.slow
def test_seeds_that_do_not_fit_are_found(
    forge: Callable[[Lines], None], message: str, played: tuple[Path, Path]
) -> None:
    _, folder = played
    lines = lines_of(folder)
    forge(lines)
    write(folder, lines)
    done = referee("verify", str(folder))
    assert done.code == 6 and message in done.err


@pytest.mark.slow
def test_nothing_follows_a_line_that_was_interrupted(
    played: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second Ctrl-C may come while a line is written: a line behind it would damage the file."""
    folder = played[1]
    write(folder, lines_of(folder)[:3])
    body = json.dumps(lines_of(folder)[1]).encode()

    def interrupted(file: int) -> None:
        raise Interrupted("stopped at once by SIGINT")

    with (
        monkeypatch.context() as patched,
        OpenRun.resume(read_run(folder), {}, b"", "seed") as opened,
    ):
        patched.setattr("os.fsync", interrupted)
        with pytest.raises(Interrupted):
            opened.add_games([body])
        patched.undo()
        opened.reveal_seed()
    assert len(lines_of(folder)) == 4 and not any(line.error for line in journal.read(folder))
