"""Hashes of the files that a bot's command names, so that a changed program is noticed."""

from __future__ import annotations

import hashlib
import os
import shutil

from referee.processes.bot import Bot


def hashes(bot: Bot) -> dict[str, str]:
    """The SHA-256 of every file that a bot's command names, its program first."""
    found = {}
    program, *rest = bot.argv
    path = shutil.which(program, path=bot.environment().get("PATH", os.defpath))
    candidates = [(bot.command[0], bot.cwd / (path or program))] if bot.command[0] != "{python}" else []
    for word in rest:
        candidates.append((word, bot.cwd / word))
    for word, file in candidates:
        try:
            if file.is_file():
                with file.open("rb") as opened:
                    found[word] = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError:
            continue  # it cannot be read; whether it can be started is not judged here
    return found
