"""Makes a new bot's folder: its program, opponents, files for a test and a tournament, a README."""

from __future__ import annotations

import contextlib
import shlex
import shutil
from pathlib import Path
from typing import Any, NamedTuple

from referee.core.errors import StorageError, UsageError
from referee.core.named_code import names_file
from referee.core.text import listed
from referee.gameplay.openings import check_takes_openings
from referee.games import GAMES
from referee.games.api import Game
from referee.processes.program import SAMPLE_BOTS, Program, distinct
from referee.records.run_files import TOML
from referee.templates import BY_GAME, HERE, LANGUAGES, RANDOM, Language, file_of
from referee.tournament.file.config import written
from referee.versions.bot_folder import BOT_TOML

OPPONENTS = "opponents"
"""The folder for the sample bots that a new bot meets."""

ROUNDS = 5

CLOCK = "5s+30s"

SPRT = "0,50"
"""The sequential test of a new version against the last one."""

TEST_CLOCK = "500ms+5s"  # quicker, since a test takes hundreds of games

_TESTING = (
    f"Is the bot better after a change? `referee test .` plays it against its last version that passed, as "
    f"`{BOT_TOML}` says (`referee docs better`).\n\n"
)


class NewBot(NamedTuple):
    """A bot that is to be made, with everything that its folder says of it."""

    name: str
    game: Game[Any]
    game_text: str
    """The game as it is named in the bot's folder."""
    key: str
    """The bot's language, as a key of `LANGUAGES`."""

    @classmethod
    def of(cls, name: str, game: Game[Any], given: str, key: str) -> NewBot:
        """A bot with a checked name; `given` is the game as the user named it in the folder in which that of
        the bot is made. Raises `UsageError`.
        """
        Program.of(name, (), Path())
        if name.startswith("-"):
            raise UsageError(f"`{name}` would be read as an option on a command line, expected another name")
        outside = names_file(given) and not Path(given).is_absolute()
        return cls(name, game, f"../{given}" if outside else given, key)

    @property
    def language(self) -> Language:
        """The bot's language."""
        return LANGUAGES[self.key]

    @property
    def missing(self) -> list[str]:
        """The programs that it needs and that this machine does not have."""
        return [program for program in self.language.needs if shutil.which(program) is None]

    @property
    def commands(self) -> list[str]:
        """The lines of shell that build, check and play it, in its folder."""
        check = shlex.join(["referee", "check", self.game_text, f"{self.name}={self.language.command}"])
        match = shlex.join(["referee", "match", self.game_text, *self._match])
        return [*filter(None, [self.language.build]), check, match, f"referee run {TOML}"]

    @property
    def _match(self) -> list[str]:
        """The bots of a match: this one and as many of its opponents as the game has seats for."""
        others = [f"{name}={{python}} {OPPONENTS}/{sample}" for name, sample in self._opponents()]
        return [f"{self.name}={self.language.command}", *others[: self._seats - 1]]

    def files(self) -> dict[str, bytes]:
        """The files of its folder, by their paths there. Raises `UsageError` where the game cannot be played
        with its default options.
        """
        language = self.language
        samples = {sample for _, sample in self._opponents()}
        return {
            language.program: self._filled(f"{self.key}/{language.program}"),
            **({language.library.name: language.library.read_bytes()} if language.library else {}),
            **{f"{OPPONENTS}/{sample}": (SAMPLE_BOTS / sample).read_bytes() for sample in sorted(samples)},
            TOML: self._tournament().encode(),
            **({BOT_TOML: self._test().encode()} if self._is_tested else {}),
            "README.md": self._filled("README.md"),
        }

    @property
    def _seats(self) -> int:
        return self.game.seats(self.game.settle({}))

    def _opponents(self) -> list[tuple[str, str]]:
        """The names of its opponents, and the files of their programs."""
        expert = BY_GAME.get(self.game.slug)
        samples = [*filter(None, [expert]), *[RANDOM] * max(1, self._seats - 1 - bool(expert))]
        bots = [Program(name, (), Path()) for name in (self.name, *samples)]
        named = distinct(bots, [bot is bots[0] for bot in bots])[1:]
        return [(bot.name, file_of(sample)) for bot, sample in zip(named, samples, strict=True)]

    @property
    def _is_tested(self) -> bool:
        """Whether a sequential test can compare two of its versions."""
        return self._seats == 2

    @property
    def _own(self) -> dict[str, Any]:
        build = {"build": self.language.build} if self.language.build else {}
        return {"name": self.name, "cmd": self.language.command, **build}

    def _test(self) -> str:
        main: dict[str, Any] = {"game": self.game_text, "sprt": SPRT, "clock": TEST_CLOCK}
        with contextlib.suppress(UsageError):
            check_takes_openings(self.game, self.game.settle({}))
            main["openings"] = {"plies": 2}
        files = [f"*{Path(self.language.program).suffix}"]
        about = f"# How `referee test` compares `{self.name}` with its last version (referee docs better)\n\n"
        return about + written({"tournament": main, "bot": [{**self._own, "files": files}]}).replace(
            "\n[", "\n\n["
        )

    def _tournament(self) -> str:
        others = [
            {"name": name, "cmd": f"{{python}} {OPPONENTS}/{sample}"} for name, sample in self._opponents()
        ]
        tables = {
            "tournament": {"game": self.game_text, "rounds": ROUNDS, "clock": CLOCK},
            "bot": [self._own, *others],
        }
        about = f"# `{self.name}` against sample bots: referee run {TOML}\n\n"
        return about + written(tables).replace("\n[", "\n\n[")

    def _filled(self, path: str) -> bytes:
        """A template with the words for this bot."""
        words = {
            "NAME": self.name,
            "GAME": self.game.name,
            "LANGUAGE": self.language.name,
            "PROGRAM": self.language.program,
            "DOCS": f"`referee docs {self.game.slug}`" if self.game.slug in GAMES else "its author",
            "OPPONENTS": listed(f"`{name}`" for name, _ in self._opponents()),
            "FOLDER": OPPONENTS,
            "STEPS": "build the bot, check it" if self.language.build else "check the bot",
            "COMMANDS": "\n".join(self.commands),
            "TOML": TOML,
            "TEST": _TESTING if self._is_tested else "",
            "MATCH": shlex.join(["referee", "match", self.game_text, "-n", "1", "--dialogue", *self._match]),
        }
        text = (HERE / path).read_text("utf-8")
        for word, meaning in words.items():
            text = text.replace(f"@{word}@", meaning)
        return text.encode()


def make(bot: NewBot, parent: Path) -> None:
    """Makes the folder of a bot. Raises `UsageError` where something of its name is there, which is left
    alone, and `StorageError` where the folder cannot be written.
    """
    files = bot.files()
    folder = parent / bot.name
    try:
        folder.mkdir()
    except FileExistsError:
        raise UsageError(f"`{bot.name}` already exists, expected another name") from None
    except OSError as error:
        raise UsageError(f"cannot create the folder `{bot.name}`: {error.strerror}") from None
    try:
        for path, content in files.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_bytes(content)
    except OSError as error:
        shutil.rmtree(folder, ignore_errors=True)  # nobody else knows of it yet
        raise StorageError(f"cannot write the folder `{bot.name}`: {error.strerror}") from None
