"""`match` as tables of a tournament file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.cli.options import (
    START,
    key_values,
    only_one,
    place_in_game,
)
from referee.core.errors import UsageError
from referee.core.text import meant, shown
from referee.core.units import LONGEST_US, show_period
from referee.games import game_given
from referee.games.api import Game
from referee.processes.program import Program, distinct, is_interpreter
from referee.tournament.file.match import match_tables, recorded_start

_UNLIMITED = show_period(LONGEST_US)  # the start allowance and the margin where there are no time limits


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Those options that say what is played, and the bots."""

    game: str
    bots: tuple[str, ...]
    count: int | None
    sprt: str | None
    control: str | None
    options: tuple[str, ...]
    seed: str | None
    no_clock: bool
    start: str
    openings: tuple[str, ...]
    begin: tuple[Path, str] | None
    ptys: tuple[str, ...]

    @property
    def given_by(self) -> Mapping[str, str]:
        """The options by the paths of what they set."""
        return {
            "tournament.clock": "--time",
            "tournament.sprt": "--sprt",
            "tournament.start": "--start",
            "tournament.openings": "--from" if self.begin else "--openings",
        }

    def tables(self) -> dict[str, Any]:
        """The tables of a tournament file for this match; their values are checked only as far as others
        follow from them. Raises `UsageError`.
        """
        game = game_given(self.game, Path.cwd())
        openings, options = self._start(game)
        seats = game.seats(game.settle(options))
        _check_quotes(self.game, self.bots, seats)
        bots = _bots(self.bots, self.ptys)
        settings = {
            "clock": (self.control or "none") if self.no_clock else self.control,
            "seed": self.seed,
            "sprt": self.sprt,
            **self._allowances(),
            "openings": openings or None,
        }
        return match_tables(self.game, bots, options, self.count, settings, Path.cwd())

    def _start(self, game: Game[Any]) -> tuple[dict[str, Any], dict[str, str]]:
        openings, options = _openings(self.openings), key_values("option", self.options)
        if not self.begin:
            return openings, options
        only_one({"--openings": openings, "--from": self.begin})
        path, at = self.begin
        return recorded_start(path, *place_in_game(at), game, options)

    def _allowances(self) -> dict[str, str]:
        only_one({"--start": self.start != START, "--no-clock": self.no_clock})
        if not self.no_clock:
            return {"start": self.start}
        return {"margin": _UNLIMITED, "start": _UNLIMITED}


def _openings(texts: tuple[str, ...]) -> dict[str, Any]:
    """The table `openings` as `--openings` gives it; empty without the option."""
    given: dict[str, Any] = {**key_values("openings", texts)}
    plies = given.get("plies", "")
    if plies.isascii() and plies.isdecimal() and len(plies) < 10:
        given["plies"] = int(plies)
    if given.get("file"):
        given["file"] = str(Path.cwd() / given["file"])
    return given


def _check_quotes(game: str, texts: Sequence[str], seats: int) -> None:
    """Raises `UsageError` where words that together would be this many bots are arguments of their own."""
    joined: list[str] = []
    for text in texts:
        before = joined[-1] if joined else ""
        if "=" in (before[-1:], text[:1]):
            joined[-1:] = [before + text]
        elif is_interpreter(before.partition("=")[2] or before):
            joined[-1:] = [f"{before} {text}"]
        else:
            joined.append(text)
    if len(joined) == seats != len(texts):
        command = shlex.join(["referee", "match", game, *joined])
        raise UsageError(f"each bot is one argument in quotes, expected `{shown(command, 400)}`")


def _bots(texts: tuple[str, ...], ptys: tuple[str, ...]) -> list[dict[str, Any]]:
    parsed = [Program.parse(text, Path.cwd()) for text in texts]
    given = [text.startswith(f"{bot.name}=") for text, bot in zip(texts, parsed, strict=True)]
    bots = distinct(parsed, given)
    names = [bot.name for bot in bots]
    for name in ptys:
        if name not in names:
            raise UsageError(f"`--pty` names `{shown(name, 80)}`, expected {meant(name, names)}")
    return [
        {"name": bot.name, "cmd": list(bot.command), **({"pty": True} if bot.name in ptys else {})}
        for bot in bots
    ]
