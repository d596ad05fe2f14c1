"""The file `bot.toml` in a bot's folder: a tournament file of this one bot, which says how it is tested."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.files import is_regular
from referee.core.named_code import names_file
from referee.core.settings import MAX_SPRT_GAMES
from referee.core.text import counted, shown
from referee.games import option_names
from referee.tournament.file import keys
from referee.tournament.file.config import parse, read_text, tournament_of
from referee.tournament.file.match import match_tables
from referee.tournament.tournament import Tournament, TournamentFile
from referee.versions.snapshot import BotSnapshot, snapshot_of

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

_HERE = ("workers", "isolation", "budget")  # what does not make a test another one


class BotFile(NamedTuple):
    """A bot as its file describes it."""

    folder: Path
    file: TournamentFile
    name: str
    table: Mapping[str, Any]  # that of the bot, without its name
    main: Mapping[str, Any]  # the table `[tournament]`
    options: Mapping[str, str]

    @classmethod
    def load(cls, path: Path) -> BotFile:
        """The bot in a folder, or of a file. Raises `UsageError`, naming the file and the key."""
        path = path / BOT_TOML if path.is_dir() else path
        if not is_regular(path):
            raise UsageError(
                f"there is no file `{shown(str(path))}`, expected the folder of a bot with a `{BOT_TOML}`, "
                "as `referee new-bot` makes it (`referee docs better`)"
            )
        file = TournamentFile(path, read_text(path), f"`{shown(str(path))}`: ")
        with file.named():
            return cls._read(path.parent, file)

    @classmethod
    def _read(cls, folder: Path, file: TournamentFile) -> BotFile:
        tables = parse(file.text)
        fields = Fields(tables, "", UsageError, examples=keys.EXAMPLES)
        fields.only("tournament", "options", "bot", instead=lambda: keys.in_file(option_names()))
        main = fields.object("tournament", "a table, `[tournament]`")
        main.only(*MAIN_KEYS)
        try:
            json.dumps(tables)
        except TypeError:
            raise UsageError("it has a date or a time of day, which no key of this file has") from None
        if not main.has("sprt"):
            raise main.wrong_form("sprt", "a sequential test")
        bots = [*fields.objects("bot")]
        if len(bots) != 1:
            raise UsageError(f"it has {counted(len(bots), 'bot')}, expected one, which is tested")
        bots[0].only(*BOT_KEYS)
        (table,) = tables["bot"]
        return cls(
            folder,
            file,
            bots[0].text("name"),
            {name: value for name, value in table.items() if name != "name"},
            {**tables["tournament"], "game": main.text("game")},
            fields.scalars("options") if fields.has("options") else {},
        )

    @property
    def versions(self) -> Path:
        """The folder of its versions and tests."""
        return self.folder / VERSIONS

    def snapshot(self) -> BotSnapshot:
        """Its files as they are now. Raises `UsageError`."""
        with self.file.named():
            left_out = {self.versions.resolve(), self.file.path.resolve()}
            return snapshot_of(self.name, self.table, self.folder, left_out)

    def test(self, new: BotSnapshot, old: BotSnapshot) -> Tournament:
        """The test of a new version against an old one, as a tournament that is stored beside the versions,
        where their files lie. Raises `UsageError`.
        """
        folder = self.versions / "tests"
        settings = {name: value for name, value in self.main.items() if name not in ("game", "budget")}
        if isinstance(openings := settings.get("openings"), dict):
            paths = {name: self._from_tests(openings[name]) for name in ("file", "from") if name in openings}
            settings["openings"] = {**openings, **paths}
        game = self._from_tests(self.main["game"]) if names_file(self.main["game"]) else self.main["game"]
        bots = [
            {"name": name, **one.table, "cwd": f"../built/{one.key}"}
            for name, one in ((self.name, new), (old_name(self.name), old))
        ]
        with self.file.named():
            budget = Fields(dict(self.main), "tournament", UsageError).number(
                "budget", 2, default=MAX_SPRT_GAMES
            )
            tables = match_tables(game, bots, self.options, budget, settings, folder)
            test = tournament_of(folder / BOT_TOML, tables, folder)
        terms = {name: value for name, value in self.main.items() if name not in _HERE}
        terms |= {"name": self.name, "of game": test.plans[0].game_json()}
        key = hashlib.sha256(json.dumps(terms, sort_keys=True).encode()).hexdigest()[:8]
        return replace(test, file=TournamentFile(folder / f"{new.key}-{old.key}-{key}.toml", test.file.text))

    def _from_tests(self, path: Any) -> Any:
        """A path that is relative to the bot's folder, as it is relative to that of the tests."""
        return f"../../{path}" if isinstance(path, str) and not Path(path).is_absolute() else path


def old_name(name: str) -> str:
    """The name that the old version has in a test of a bot with this name."""
    return f"{name[:60]}-old"
