"""A bot's files at some moment: which they are, their hash, and copies of them."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from referee.core.errors import EnvironmentLacksError, StorageError, UsageError
from referee.core.fields import Fields
from referee.core.files import FileHashes, open_regular
from referee.core.text import shown
from referee.tournament.file import keys
from referee.tournament.file.bot_table import bot_tables
from referee.tournament.file.config import lacking
from referee.tournament.file.file_list import File, file_list, manifest, paths_in


@dataclass(frozen=True)
class BotSnapshot:
    """The files of a bot with its table, which says how it is built and started."""

    table: Mapping[str, Any]  # that of the bot in its file, without its name
    files: tuple[File, ...]
    folder: Path  # where the files lie

    @cached_property
    def sha256(self) -> str:
        """The hash of the table and the files together."""
        files = [[file.path, file.sha256, file.executable] for file in sorted(self.files)]
        return hashlib.sha256(json.dumps([self.table, files], sort_keys=True).encode()).hexdigest()

    @property
    def key(self) -> str:
        """The beginning of the hash, in names of files."""
        return self.sha256[:16]

    def copy(self, folder: Path) -> BotSnapshot:
        """Copies the files to a folder, those of which are left alone that are the same already; the snapshot
        there.

        Raises `StorageError` where it cannot be written, `UsageError` where a file here has changed.
        """
        hashes = FileHashes()
        for file in self.files:
            source, target = self.folder / file.path, folder / file.path
            expected = (file.sha256, file.size, file.executable)
            try:
                if hashes.of(target) == expected:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                target.unlink(missing_ok=True)
                with open_regular(source) as opened, target.open("xb") as copied:
                    shutil.copyfileobj(opened, copied)
                target.chmod(0o755 if file.executable else 0o644)
            except OSError as error:
                raise StorageError(f"cannot copy `{shown(str(source))}`: {error.strerror}") from None
            if hashes.of(target) != expected:
                raise UsageError(
                    f"`{shown(str(source))}` was changed while it was read or tested, expected files of the "
                    "bot that stay as they are; list those that it consists of as `files` in its table"
                )
        return BotSnapshot(self.table, self.files, folder)


def snapshot_of(name: str, table: Mapping[str, Any], folder: Path, left_out: Collection[Path]) -> BotSnapshot:
    """The files of a bot that lies in a folder, without those that are `left_out`, and its table, which is
    checked.

    Raises `UsageError` where the table is wrong, or files are missing, lie elsewhere, or are too large,
    `EnvironmentLacksError` where this machine has no program that the bot needs.
    """
    fields = Fields({"bot": [{"name": name, **table}]}, "", UsageError, examples=keys.EXAMPLES)
    (found,) = bot_tables(folder, fields, Fields({}, "", UsageError), lambda: keys.in_bot(()))
    if found.missing:
        raise EnvironmentLacksError(lacking(found.bot, found.missing).error)
    bot, top = found.bot, folder.resolve()
    words = (*bot.command, *found.origin.build, *(value for _, value in bot.env))
    for part in (part for word in words for part in paths_in(word) if part.startswith("/")):
        if "\0" not in part and Path(part).resolve().is_relative_to(top):
            raise UsageError(
                f"bot `{name}` names its own file by the path `{shown(part, 200)}`, expected one relative to "
                "its folder: each version lies in a folder of its own"
            )
    listed = file_list(bot, found.origin, left_out)
    if listed.root != top:
        far = next(path for path in listed.files.values() if not path.is_relative_to(top))
        raise UsageError(
            f"bot `{name}` has the file `{shown(str(far))}` outside its folder, expected all of its files "
            "inside: a version consists of copies of them"
        )
    return BotSnapshot(table, manifest(bot, listed, FileHashes()), top)
