"""A bot's folder: its file `bot.toml`, a tournament file of this one bot that says how it is tested, and the
files that make a version of it.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from referee.core.errors import EnvironmentLacksError, StorageError, UsageError
from referee.core.fields import Fields
from referee.core.files import FileHashes, is_regular, open_regular
from referee.core.settings import MAX_SPRT_GAMES
from referee.core.text import counted, shown
from referee.games import option_names
from referee.records.header import GROWING
from referee.tournament.file import keys
from referee.tournament.file.bot_table import BotTable, bot_tables
from referee.tournament.file.config import lacking, parse, read_file, tournament_of
from referee.tournament.file.file_list import File, file_list, manifest, paths_in
from referee.tournament.formats.format import MAX_ROUNDS
from referee.tournament.tournament import Tournament, TournamentFile

BOT_TOML = "bot.toml"

VERSIONS = "versions"
"""The folder in a bot's folder in which its versions and tests are."""

MAIN_KEYS = (
    *("game", "sprt", "clock", "openings", "budget", "seed", "start", "margin", "rejections"),
    *("processes", "repeats", "isolation", "workers"),
)
"""The keys of `[tournament]` that say how a bot is tested."""

BOT_KEYS = ("name", "cmd", "build", "build_network", "needs", "files", "env", "pass_env", "limits", "pty")
"""The keys of the bot: a version is all of it that lies in its folder."""


@dataclass(frozen=True)
class BotFolder:
    """A bot that lies in a folder: where its author works, where a version is kept, or where it plays."""

    folder: Path
    file: TournamentFile
    tables: Mapping[str, Any]  # those of the file
    table: BotTable
    name: str

    @classmethod
    def load(cls, folder: Path) -> BotFolder:
        """The bot in a folder. Raises `UsageError`, naming the file and the key."""
        path = folder / BOT_TOML
        if not is_regular(path):
            raise UsageError(
                f"there is no file `{shown(str(path))}`, expected the folder of a bot with a `{BOT_TOML}`, "
                "as `referee new-bot` makes it (`referee docs better`)"
            )
        file = read_file(path)
        with file.named():
            tables = parse(file.text)
            fields = Fields(tables, "", UsageError, examples=keys.EXAMPLES)
            fields.only("tournament", "options", "bot", instead=lambda: keys.in_file(option_names()))
            main = fields.object("tournament", "a table, `[tournament]`")
            main.only(*MAIN_KEYS)
            if not main.has("sprt"):
                raise main.wrong_form("sprt", "a sequential test")
            bots = [*fields.objects("bot")]
            if len(bots) != 1:
                raise UsageError(f"it has {counted(len(bots), 'bot')}, expected one, which is tested")
            bots[0].only(*BOT_KEYS)
            (table,) = bot_tables(folder, fields, main, dict)
            return cls(folder, file, tables, table, table.bot.name)

    @cached_property
    def files(self) -> tuple[File, ...]:
        """Its files, besides `bot.toml`, as they are when they are asked for first.

        Raises `UsageError` where files are missing, lie elsewhere, or are too large, `EnvironmentLacksError`
        where this machine has no program that the bot needs.
        """
        bot, origin = self.table.bot, self.table.origin
        with self.file.named():
            if self.table.missing:
                raise EnvironmentLacksError(lacking(bot, self.table.missing).error)
            found = file_list(bot, origin, {bot.cwd / VERSIONS, bot.cwd / BOT_TOML})
            words = (*bot.command, *origin.build, *(value for _, value in bot.env))
            absolute = (Path(part) for word in words for part in paths_in(word) if part.startswith("/"))
            wrong = [path for path in absolute if path.resolve().is_relative_to(bot.cwd)]
            listed = map(found.root.joinpath, found.files)
            wrong += [path for path in listed if not path.is_relative_to(bot.cwd)]
            if wrong:
                raise UsageError(
                    f"bot `{bot.name}` names `{shown(str(wrong[0]))}`, expected files in its folder by "
                    "relative paths: each version is a copy of them"
                )
            return manifest(bot, found, FileHashes())

    @cached_property
    def sha256(self) -> str:
        """The hash of the files and the table of the bot, but for its name, together."""
        table = {name: value for name, value in self.tables["bot"][0].items() if name != "name"}
        return hashlib.sha256(json.dumps([table, sorted(self.files)], sort_keys=True).encode()).hexdigest()

    def copy(self, folder: Path) -> BotFolder:
        """A copy in a folder, in which nothing else is left. Raises `StorageError` where it cannot be
        written, `UsageError` where files are no longer those of the hash.
        """
        shutil.rmtree(folder, ignore_errors=True)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / BOT_TOML).write_bytes(self.file.text)
            for file in self.files:
                target = folder / file.path
                target.parent.mkdir(parents=True, exist_ok=True)
                with open_regular(self.folder / file.path) as source, target.open("xb") as copied:
                    shutil.copyfileobj(source, copied)
                target.chmod(0o755 if file.executable else 0o644)
        except OSError as error:
            raise StorageError(
                f"cannot copy `{shown(str(self.folder))}` to `{shown(str(folder))}`: {error.strerror}"
            ) from None
        copy = BotFolder.load(folder)
        if changed := sorted({*self.files} ^ {*copy.files}):
            raise UsageError(
                f"`{shown(str(self.folder / changed[0].path))}` was changed while it was read or tested, "
                "expected files of the bot that stay as they are; list those that it consists of as `files` "
                "in its table"
            )
        return copy

    def test(self, new: BotFolder, old: BotFolder) -> Tournament:
        """The test of one copy against another under the terms of this file. The name of its run has the
        hashes of both and of all that may not change in a run. Raises `UsageError`.
        """
        bots = [
            {**one.tables["bot"][0], "name": name, "cwd": str(one.table.bot.cwd)}
            for name, one in ((self.name, new), (f"{self.name[:60]}-old", old))
        ]
        main = {
            "budget": MAX_SPRT_GAMES,
            **self.tables["tournament"],
            "format": "pairings",
            "pairings": [[bot["name"] for bot in bots]],
            "rounds": MAX_ROUNDS,
        }
        folder = self.folder / VERSIONS / "tests"
        with self.file.named():
            tables = {**self.tables, "tournament": main, "bot": bots}
            test = tournament_of(folder / BOT_TOML, tables, self.folder)
            test.check()
        members = test.header.members.items()
        terms = {name: value for name, value in members if name not in (*GROWING, "seed_sha256")}
        digest = hashlib.sha256(json.dumps(terms, sort_keys=True).encode()).hexdigest()
        path = folder / f"{new.sha256[:16]}-{old.sha256[:16]}-{digest[:8]}.toml"
        return replace(test, file=TournamentFile(path, test.file.text, self.file.where))
