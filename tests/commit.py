"""What git knows of the checkout: the commit, and the files that it changed."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.command import ROOT
from tests.waiting import TOO_LONG_S


def name_of(root: Path = ROOT) -> str:
    """The hash of the commit; empty where there is no git or no repository."""
    return _git(root, "rev-parse", "HEAD").strip()


def changed_files(root: Path = ROOT) -> set[Path]:
    """The files that differ from where the branch left the main one, or on that one from the commit before,
    with those that are not committed yet. Only the latter in a clone of a single commit; empty without git or
    a repository.
    """
    base = _git(root, "merge-base", "HEAD", "origin/HEAD").strip()
    if not base or base == name_of(root):
        base = "HEAD^"
    listed = _git(root, "diff", "-z", "--name-only", base) or _git(root, "diff", "-z", "--name-only", "HEAD")
    new = _git(root, "ls-files", "-z", "--others", "--exclude-standard")
    return {(root / name).resolve() for name in (listed + new).split("\0") if name}


def _git(root: Path, *words: str) -> str:
    """What git prints; nothing where it cannot."""
    try:
        done = subprocess.run(["git", "-C", root, *words], capture_output=True, timeout=TOO_LONG_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="surrogateescape") if done.returncode == 0 else ""
