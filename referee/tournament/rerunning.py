"""Plays a recorded game again, with the same seeds and the bots as they are now."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.text import shown
from referee.core.units import LONGEST_US
from referee.gameplay.events import Event
from referee.gameplay.terms import Terms
from referee.games.api import State
from referee.processes.program import Program
from referee.records.record import GameRecord
from referee.records.run_files import TOML
from referee.tournament.file.bot_table import bot_tables
from referee.tournament.file.config import parse, read_text
from referee.tournament.run.readiness import isolated
from referee.tournament.run.run import StoredRun
from referee.tournament.workers.encounter import ProcessUse, ShowEvent, play_encounter
from referee.tuning.parameters import Values
from referee.wire.dialogue import Tap

_OF_PROGRAMS = ("cwd", "env", "pass_env", "limits", "pty", "pause", "forgive_waiting")
"""The keys of a bot that the header of a run has in the form of a tournament file."""


def commands_base(path: Path, folder: Path) -> Path:
    """The folder that the bots' own folders are relative to, for a run that was named by this path: that of
    its tournament file, if it is known, else the current one.
    """
    if path.suffix == ".toml":
        return path.absolute().parent
    stem = folder.absolute().name.removesuffix("-results")
    toml = folder.absolute().with_name(f"{stem}.toml")
    return toml.parent if stem != folder.absolute().name and toml.is_file() else Path.cwd()


@dataclass(frozen=True)
class Rerun:
    """A recorded game that is to be played again."""

    run: StoredRun
    recorded: GameRecord
    bots: tuple[Program, ...]
    """By name in the order of seats, each once; as in the game, they have the names with which the run began.
    """
    patient: bool = False
    """Whether nobody loses on time; the bots are told of the clocks of the game all the same."""

    def play(self, show: ShowEvent | None, taps: Sequence[Tap]) -> GameRecord:
        """The game as it was played now.

        Raises `EnvironmentLacksError` where a bot did not start for a reason that is not its own.
        """
        shown_name = self.run.amendments.shown

        def tap(name: str, direction: str, data: bytes) -> None:
            for each in taps:
                each(shown_name(name), direction, data)

        def show_event(terms: Terms, event: Event, state: State[Any]) -> None:
            assert show
            show(terms.with_names(shown_name), event, state)

        terms = self.recorded.terms
        start_us = self.run.header.start_us
        if self.patient:
            # The bots are told of the same clocks, since they may play by them.
            terms, start_us = replace(terms, margin_us=LONGEST_US), LONGEST_US
        use = ProcessUse(patient=self.patient)
        (record,) = play_encounter(self.bots, [terms], show and show_event, tap, start_us, use)
        return record


def rerun_of(
    run: StoredRun,
    recorded: GameRecord,
    base: Path,
    instead: Mapping[str, Program],
    isolation: str | None = None,
    patient: bool = False,
) -> Rerun:
    """The rerun of a game of a run, whose bots' folders are relative to `base`; the bots in `instead` have
    other commands than in the run, by the names that tables show, and keep their settings. `isolation` stands
    in place of the level that each bot had.

    Raises `UsageError` where a bot cannot be started, `EnvironmentLacksError` where its isolation does not
    work on this machine.
    """
    names = {run.amendments.shown(name): name for name in recorded.terms.bots}
    for name in instead:
        if name not in names:
            raise UsageError(
                f"there is no bot `{shown(name, 80)}` in this game, expected {' or '.join(names)}"
            )
    replaced = {names[name]: bot for name, bot in instead.items()}
    entrants = run.header.bots
    levels = {
        name: level
        for name, level in zip(recorded.terms.bots, recorded.isolation, strict=False)
        if entrants.get(name, {}).get("command")  # that of a person means nothing
    }
    more = _settings_of_file(run.folder)
    given_name = run.format.given_name if run.format else str
    tables = [
        {
            "name": name,
            **more.get(given_name(name), {}),
            **_program_of(entrants.get(name, {}), shown_name, replaced.get(name)),
            **({"isolation": isolation or levels[name]} if isolation or name in levels else {}),
        }
        for shown_name, name in names.items()
    ]
    # What comes from the records was checked when it was read, but for the settings of programs.
    fields = Fields({"bot": tables}, "", UsageError)
    main = Fields(more.get("", {}), "", UsageError)
    values = _values_of(recorded)
    bots = [
        replace(table.bot, parameters=values.get(table.bot.name, ()))
        for table in bot_tables(base, fields, main, dict)
    ]
    for bot in bots:
        bot.check()
    settled = isolated(bots, (run.folder,))
    return Rerun(run, recorded, tuple(settled), patient)


def _values_of(recorded: GameRecord) -> dict[str, Values]:
    """The values of the parameters that bots had in a game, by name."""
    measured = Fields(recorded.measured, "measured", UsageError)
    seats = measured.objects("seats") if measured.has("seats") else ()
    return {
        name: tuple(seat.scalars("parameters").items())
        for name, seat in zip(recorded.terms.bots, seats, strict=False)
        if seat.has("parameters")
    }


def _program_of(entrant: Mapping[str, Any], name: str, instead: Program | None) -> dict[str, Any]:
    """The settings of a bot in the header of a run, as the table of a tournament file has them."""
    found = {key: entrant[key] for key in _OF_PROGRAMS if key in entrant}
    if instead:
        return {**found, "cmd": list(instead.command), "cwd": str(instead.cwd)}
    if not entrant.get("command"):
        raise UsageError(
            f"`{name}` is a person, who cannot play the game again, expected a bot instead: `{name}=COMMAND`"
        )
    return {**found, "cmd": entrant["command"]}


def _settings_of_file(folder: Path) -> dict[str, dict[str, Any]]:
    """Reads from the copy of the tournament file in a run's folder what the header lacks about bots: what
    they may read, and their user, by name; by the empty name what it sets for all of them.
    """
    try:
        fields = Fields(parse(read_text(folder / TOML)), "", UsageError)
        main = fields.object("tournament")
        found: dict[str, dict[str, Any]] = {"": {"user": main.text("user")} if main.has("user") else {}}
        for bot in fields.objects("bot"):
            found[bot.text("name")] = {key: bot.value(key) for key in ("read", "user") if bot.has(key)}
        return found
    except UsageError:  # it was removed, or is none any more
        return {}
