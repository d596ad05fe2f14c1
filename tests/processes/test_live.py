"""Games that are looked at while they are played are the same games."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from referee.games import game_named
from referee.live import slots
from referee.live.boards import BoardsInPlay
from referee.live.slots import FOLDER, say_watched
from referee.processes import tree
from tests.command import GREEDY, PLAIN, RANDOM, referee
from tests.processes.runs import games, toml, voids
from tests.waiting import POLL_S


class Looking:
    """Looks at the games of a run again and again, as a server does."""

    def __init__(self, run: Path) -> None:
        self.folder = run / FOLDER
        self.boards = BoardsInPlay(run, game_named)
        self.seen: set[tuple[str, int]] = set()
        """Each game with how many moves it had."""
        self.slots: set[str] = set()

    def look(self) -> None:
        with suppress(OSError):
            say_watched(self.folder)
        self.boards.look()
        self.slots |= self.boards.whole().keys()
        self.seen |= {(board["id"], board["moves"]) for board in self.boards.whole().values()}


@contextmanager
def again_and_again(act: Callable[[], object]) -> Iterator[None]:
    done = threading.Event()

    def repeat() -> None:
        while not done.wait(POLL_S):
            act()

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "options", "workers"),
    [("blooms", "size = 4", 0), ("blooms", "size = 5", 2), ("thetree", "players = 3", 2)],
)
def test_games_that_are_looked_at_are_the_same_games(
    game: str, options: str, workers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_LOOK_US", 0)  # in this process, games begin at once, and take half a second
    bots = {"a": PLAIN, "b": PLAIN} if workers == 0 else {"a": GREEDY, "b": RANDOM, "c": RANDOM}
    rounds = 4 if workers == 0 else 1
    unseen, seen = (
        toml(tmp_path / f"{name}.toml", bots, options, game=game, workers=workers, rounds=rounds, clock="20s")
        for name in ("unseen", "seen")
    )
    assert referee("run", str(unseen)).code == 0
    looking = Looking(tmp_path / "seen-results")
    with again_and_again(looking.look):
        assert referee("run", str(seen)).code == 0
    assert games(tmp_path / "seen-results") == games(tmp_path / "unseen-results")
    assert looking.seen
    assert not looking.folder.exists()


def is_worker(pid: int) -> bool:
    return b"referee.tournament.workers.worker" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.slow
def test_files_that_are_cut_removed_and_replaced_and_workers_that_are_killed_lose_no_game(
    tmp_path: Path,
) -> None:
    bots = {"a": GREEDY, "b": RANDOM}
    file = toml(tmp_path / "t.toml", bots, "size = 5", workers=2, rounds=8, clock="20s")
    results = tmp_path / "t-results"
    looking = Looking(results)
    turn, killed, junk = 0, 0, tmp_path / "junk"

    def may_kill() -> bool:
        """Not a game's worker for the second time, since its bots would forfeit it."""
        over = games(results).keys()
        return killed < 4 and len(over) > 3 * killed and {line["id"] for line in voids(results)} <= over

    def attack() -> None:
        nonlocal turn, killed
        looking.look()
        if not looking.seen:
            return
        turn += 1
        slot, folder = looking.folder / f"w{1 + turn % 2}", looking.folder
        with suppress(OSError, StopIteration, ValueError):  # of a line that is not yet whole
            if turn % 40 == 0 and may_kill():
                worker = next(filter(is_worker, tree.children(os.getpid())))
                os.kill(worker, signal.SIGKILL)
                killed += 1
            elif turn % 7 == 0:
                os.truncate(slot, turn % 90)
            elif turn % 11 == 0:
                junk.write_bytes(b"junk" * 1000)
                junk.replace(slot)
            elif turn % 13 == 0:
                slot.unlink()
                os.mkfifo(slot)
            elif turn % 17 == 0:
                (folder / "watched").unlink()
                (folder / "watched").symlink_to("/dev/zero")
            elif turn % 18 == 0:
                (folder / "watched").unlink()

    with again_and_again(attack):
        done = referee("run", str(file))
    assert done.code == 0, done.err
    assert len(games(results)) == 16 and looking.seen
    assert referee("verify", str(results)).code == 0
    assert 0 < len(voids(results)) <= killed
    assert not looking.folder.exists()
