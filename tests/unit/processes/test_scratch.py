"""Scratch folders are measured and removed whatever a bot made of them."""

from __future__ import annotations

import os
from pathlib import Path

from referee.processes import scratch
from tests.waiting import TOO_LONG_S


def deep(folder: Path, levels: int, name: str = "d" * 100) -> None:
    """A chain of folders, far deeper than a path may be long, with a file in the last."""
    here = os.open(folder, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir(name, dir_fd=here)
        below = os.open(name, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)


def test_everything_is_removed_and_no_link_is_followed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    folder = Path(scratch.make(f"{tmp_path}/scratch-"))
    assert folder.stat().st_mode & 0o777 == 0o700
    deep(folder, 300)
    for number in range(30):
        (folder / f"{number}" / "below").mkdir(parents=True)
        (folder / f"{number}" / "below" / "file").touch()
        (folder / f"{number}" / "link").symlink_to(elsewhere)
        (folder / f"{number}" / "below").chmod(0)
        (folder / f"{number}").chmod(0)
    folder.chmod(0)
    assert scratch.remove(str(folder), TOO_LONG_S)
    assert not folder.exists() and (elsewhere / "kept").exists()
    assert scratch.remove(str(folder), TOO_LONG_S), "nothing is left of what never was"


def test_what_is_put_in_the_place_of_the_folder_is_removed(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").touch()
    folder = tmp_path / "scratch"
    folder.symlink_to(elsewhere)
    assert scratch.remove(str(folder), TOO_LONG_S)
    assert not folder.is_symlink() and (elsewhere / "kept").exists()


def test_removal_ends_in_time(tmp_path: Path) -> None:
    folder = Path(scratch.make(f"{tmp_path}/scratch-"))
    (folder / "file").touch()
    assert not scratch.remove(str(folder), seconds=-1)
    scratch.remove_all(f"{tmp_path}/scratch-", TOO_LONG_S)
    assert not folder.exists()


def test_the_usage_counts_each_file_once(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_bytes(bytes(1 << 20))
    os.link(tmp_path / "a" / "file", tmp_path / "again")
    (tmp_path / "link").symlink_to("/usr")
    size, files, is_too_deep = scratch.usage(str(tmp_path), 100)
    assert 1 << 20 <= size < 1.1 * (1 << 20) and files == 3 and not is_too_deep


def test_the_usage_stops_counting_beyond_the_limit(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number}").touch()
    assert scratch.usage(str(tmp_path), 10).files == 11


def test_folders_are_counted_to_a_depth(tmp_path: Path) -> None:
    deep(tmp_path, scratch.MAX_DEPTH)
    assert scratch.usage(str(tmp_path), 1000)[1:] == (scratch.MAX_DEPTH + 1, False)
    above = tmp_path / "above"
    above.mkdir()
    next(path for path in tmp_path.iterdir() if path != above).rename(above / "d")
    assert scratch.usage(str(tmp_path), 1000).is_too_deep
    for folder in tmp_path.iterdir():
        assert scratch.remove(str(folder), TOO_LONG_S)
