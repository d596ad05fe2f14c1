"""Hashes of the files that a bot's command names, so that a changed program is noticed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path

from referee.core.errors import UsageError
from referee.core.files import FileHashes
from referee.core.work import DutyCycle
from referee.processes.bot import Bot
from referee.records.header import ALL_FILES
from referee.tournament.file.bot_table import BotOrigin
from referee.tournament.file.file_list import digest_of, file_list, manifest

HashesByBot = dict[str, dict[str, str]]
"""For each bot, the SHA-256 of each file that its command names, its program first; and of all its files
together, as `ALL_FILES`, where these are listed or sent.
"""

_SHARE = 0.02  # maximum share of the time that is spent on the files that bots list


class Programs:
    """The programs of bots: which of them are different from the last time."""

    def __init__(self, hashes_of: Callable[[Bot], Mapping[str, str] | None] | None = None) -> None:
        """`hashes_of` gives what is known of a bot's files, or None where nothing is; the default are the
        files of its command.
        """
        hashes = FileHashes()
        self._hashes_of = hashes_of or (lambda bot: hashes_of_words(bot, hashes))
        self._last: HashesByBot = {}

    def changes(self, bots: Iterable[Bot]) -> HashesByBot:
        """The bots whose files are different from the last time that they were asked for, or were not asked
        for yet, each with all its files.
        """
        found = {bot.name: self._hashes_of(bot) for bot in bots if not bot.is_person}
        now = {name: dict(files) for name, files in found.items() if files is not None}
        changed = {name: files for name, files in now.items() if self._last.get(name) != files}
        self._last |= changed
        return changed


class ListedFiles:
    """The hashes of bots whose tables may list files: for `Programs`, where bots play on this machine."""

    def __init__(self, origins: Mapping[str, BotOrigin], left_out: Collection[Path]) -> None:
        """`left_out`: what belongs to no bot, such as the folder of the run."""
        self._origins = origins
        self._left_out = left_out
        self._hashes = FileHashes()
        self._digests: dict[str, str] = {}
        self._rations: dict[str, DutyCycle] = {}

    def of(self, bot: Bot) -> dict[str, str]:
        """The hashes of the files that the bot's command names, and of those that its table lists."""
        found = hashes_of_words(bot, self._hashes)
        origin = self._origins.get(bot.name, BotOrigin())
        if origin.files is not None:
            duty_cycle = self._rations.setdefault(bot.name, DutyCycle(time.monotonic, _SHARE))
            if duty_cycle.is_due:
                with duty_cycle.spent():
                    self._digests[bot.name] = self._digest(bot, origin)
            found[ALL_FILES] = self._digests[bot.name]
        return found

    def _digest(self, bot: Bot, origin: BotOrigin) -> str:
        """The hash of all files that the bot's table lists; empty where some cannot be read."""
        try:
            files = file_list(bot, origin, self._left_out)
            return digest_of(manifest(bot, files, self._hashes), files.cwd, origin.build)
        except UsageError:
            return ""


def hashes_of_words(bot: Bot, hashes: FileHashes) -> dict[str, str]:
    """The hashes of the files that the words of a bot's command name, by word."""
    files = ((word, hashes.of(path)) for word, path in named(bot))
    return {word: found.sha256 for word, found in files if found}


def named(bot: Bot) -> Iterator[tuple[str, Path]]:
    """The words of a bot's command that may be files, and where these are."""
    program, *rest = bot.argv
    if bot.command[0] != "{python}":
        path = shutil.which(program, path=bot.search_path)
        yield bot.command[0], bot.cwd / (path or program)
    for word in rest:
        yield word, bot.cwd / word
