"""Reports as files: one page with everything, or a folder of pages for many games."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import StorageError, UsageError
from referee.core.files import read_start, umask
from referee.core.text import counted, shown
from referee.core.units import about_size
from referee.core.work import Stage, untold_stage
from referee.pages.report.front import ListedGame
from referee.pages.report.games import NO_RUNS, AnalysesOfRuns, read_games
from referee.pages.report.gathering import Gathering
from referee.pages.report.pages import games_page, report_page
from referee.tournament.run.reading import Runs

MAX_BYTES = 18 << 20  # the replays in one page take at most this many bytes, so that browsers open it at once

MOST_GAMES = 500_000  # the list of a report has at most this many games: a browser holds all of it in memory

TELLING = 100
"""After so many games it is known how small a replay can be. Where replays of all games would be too large
even if each were as small, no more games are read.
"""

ON_A_PAGE = 200  # how many games a page of a folder has

MARKER = "report.txt"  # the file by which a folder is known to be a report

MARK = "This folder is a report of the referee, which another report may replace.\n"  # what is in it

INDEX = "index.html"
GAMES = "games"  # the folder of the pages of games


def page_of(
    runs: Runs,
    workers: int,
    with_replays: bool,
    stage: Stage = untold_stage,
    analyses: AnalysesOfRuns = NO_RUNS,
) -> str:
    """The report of some runs as one page of HTML, with these analyses of their games. Raises `UsageError`
    where it would be too large.
    """
    _check_games(runs)
    gathering = Gathering(runs)
    replays: list[tuple[str, str]] = []
    symbols: dict[str, str] = {}
    size, smallest = 0, MAX_BYTES
    with closing(read_games(runs, workers, with_replays, stage, analyses)) as games:
        for read in games:
            gathering.add(read)
            if replay := read.played.replay:
                replays.append((read.game.id, replay.data))
                symbols.update(replay.symbols)
                size += len(replay.data)
                smallest = min(smallest, len(replay.data))
                least = smallest * len(runs.games) if len(replays) >= TELLING else size
                if max(size, least) > MAX_BYTES:
                    raise UsageError(
                        f"the replays of {counted(len(runs.games), 'game')} would take more than "
                        f"{about_size(MAX_BYTES)}, expected `--folder` or `--no-replays`"
                    )
    return report_page(gathering.report(workers, stage), replays, symbols, {game: "" for game, _ in replays})


def folder_of(
    runs: Runs,
    workers: int,
    folder: Path,
    stage: Stage = untold_stage,
    analyses: AnalysesOfRuns = NO_RUNS,
) -> int:
    """Writes the report of some runs as a folder of pages, and returns their number. The folder appears, or
    takes the place of an older report, when it is complete.

    Raises `UsageError` where something else has its place, or there are too many games, `StorageError` where
    it cannot be written.
    """
    check_place(folder)
    _check_games(runs)
    try:
        new = Path(tempfile.mkdtemp(".new", f".{folder.name[:100]}-", folder.absolute().parent))
    except OSError as error:
        raise UsageError(f"cannot write `{shown(str(folder))}`: {error.strerror}") from None
    try:
        pages = _write_pages(runs, workers, new, stage, analyses)
        new.chmod(0o777 & ~umask())
        put_in_place(new, folder)
    except OSError as error:
        raise StorageError(f"cannot write `{shown(str(folder))}`: {error.strerror}") from None
    finally:
        with contextlib.suppress(OSError):
            shutil.rmtree(new)
    return pages


def _check_games(runs: Runs) -> None:
    """Raises `UsageError` where there are too many games for the list of a report."""
    if (count := len(runs.games)) > MOST_GAMES:
        raise UsageError(
            f"a report lists at most {MOST_GAMES:,} games, but there are {count:,}; expected fewer, or "
            "`referee table`, which has no limit"
        )


class _Page(NamedTuple):
    """A page of games that is being gathered."""

    number: int  # counted from 1
    first: int  # the number of its first game in the report, counted from 0
    games: list[ListedGame]
    replays: list[tuple[str, str]]

    @property
    def name(self) -> str:
        return page_name(self.number)


def _write_pages(runs: Runs, workers: int, folder: Path, stage: Stage, analyses: AnalysesOfRuns) -> int:
    """Writes all pages and returns their number. No more than a page of replays is kept at a time."""
    gathering = Gathering(runs)
    symbols: dict[str, str] = {}
    pages: dict[str, str] = {}
    before = ""
    (folder / MARKER).write_text(MARK)
    (folder / GAMES).mkdir()
    page = _Page(1, 0, [], [])
    with closing(read_games(runs, workers, True, stage, analyses)) as games:
        for read in games:
            gathering.add(read)
            if len(page.games) == ON_A_PAGE:
                _write_page(folder, page, symbols, before, read.game.id)
                before = page.games[-1].game.id
                page = _Page(page.number + 1, page.first + ON_A_PAGE, [], [])
            page.games.append(gathering.games[-1])
            if replay := read.played.replay:
                symbols.update(replay.symbols)
                page.replays.append((read.game.id, replay.data))
                pages[read.game.id] = f"{GAMES}/{page.name}"
    if page.games:
        _write_page(folder, page, symbols, before, "")
    (folder / INDEX).write_text(
        report_page(gathering.report(workers, stage), [], symbols, pages, ON_A_PAGE), "utf-8"
    )
    return page.number + 1 if page.games else 1


def _write_page(folder: Path, page: _Page, symbols: Mapping[str, str], before: str, after: str) -> None:
    """Writes a page of games; `before` and `after` are the ids of the games on the pages beside it."""
    beside = (
        (before, page_name(page.number - 1)) if before else None,
        (after, page_name(page.number + 1)) if after else None,
    )
    html = games_page(page.games, page.first, page.replays, symbols, beside)
    (folder / GAMES / page.name).write_text(html, "utf-8")


def page_name(number: int) -> str:
    """The name of a page of games; the script knows it too."""
    return f"{number:05}.html"


def check_place(folder: Path) -> None:
    """Raises `UsageError` where something lies that is no report."""
    try:
        if not os.path.lexists(folder) or (folder.is_dir() and not any(folder.iterdir())):
            return
        if not folder.is_symlink() and read_start(folder / MARKER, len(MARK)) == MARK.encode():
            return
    except OSError:
        pass
    problem = f"`{shown(str(folder))}` already exists and is not a report, expected a new name"
    raise UsageError(problem)  # guard: report-place


def put_in_place(new: Path, folder: Path) -> None:
    """Renames a complete folder, after what it takes the place of was moved out of the way."""
    if not folder.is_dir():
        new.rename(folder)
        return
    old = Path(tempfile.mkdtemp(".old", f".{folder.name[:100]}-", folder.absolute().parent))
    folder.rename(old / folder.name)
    try:
        new.rename(folder)
    except OSError:
        (old / folder.name).rename(folder)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)
