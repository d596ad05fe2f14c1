"""Paths without symbolic links, and the links that were followed."""

from __future__ import annotations

import errno
import os
import stat
from typing import NamedTuple

_MAX_LINKS = 40  # maximum number of links in one path; the kernel follows no more


class FollowedPath(NamedTuple):
    """The target of a path, with the links on the way."""

    path: str  # the same place without symbolic links
    links: tuple[tuple[str, str], ...]
    """The links on the way: where each lies, itself without links, and its text."""


def follow(path: str) -> FollowedPath:
    """Follows an absolute path to its end. Raises `OSError` or `ValueError` where nothing exists there."""
    real = ""
    links: list[tuple[str, str]] = []
    pending = path.split("/")[::-1]
    while pending:
        part = pending.pop()
        if part == "..":
            real = real.rpartition("/")[0]
        elif part not in ("", "."):
            place = f"{real}/{part}"
            if not stat.S_ISLNK(os.lstat(place).st_mode):
                real = place
                continue
            if len(links) == _MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
            text = os.readlink(place)  # noqa: PTH115 - pathlib changes the text
            links.append((place, text))
            if text.startswith("/"):
                real = ""
            pending += text.split("/")[::-1]
    return FollowedPath(real or "/", tuple(links))
