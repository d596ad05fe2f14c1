"""The header of a run: the first line of its records, with the later lines that change it. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, NamedTuple

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import BOT_NAME, SECTION_NAME, Pairing
from referee.core.seeds import seed_hash
from referee.core.settings import (
    CLOSED,
    ORDER,
    ORDERS,
    PLAYED_US,
    START_US,
    TIME_KEYS,
    PointScale,
    TimeLimit,
    check_closed,
)
from referee.core.text import shown, value_text
from referee.gameplay.openings import Openings
from referee.games import game_named, origin_of
from referee.games.api import Game
from referee.records.amendments import (
    LEFT_OUT,
    MEMBERS,
    Amendments,
    LeftOut,
    check_amendments,
    check_left_out,
)
from referee.records.record import FORMAT

GROWING = ("rounds", "budget", "test_budget")  # the numbers of formats that may grow after a run began

REPEATS = ("cluster", "count")
"""How games count that are move by move the same as others between the same bots: together, so that they
narrow no interval, or each by itself. The first is the default.
"""

ALL_FILES = "files"
"""Among the hashes of a bot's files, that of all of them together, where they are listed or were sent to
other machines.
"""

_SHA256 = re.compile("[0-9a-f]{64}")


class SectionGame(NamedTuple):
    """The game of a section, as a header says it."""

    game: str  # its slug
    rules: int
    options: Mapping[str, int | str]
    settings: Mapping[str, str]  # the options as texts, as `Game.settle` takes them
    origin: Mapping[str, str]  # the file or the package that it comes from; empty of a game of the referee
    openings: Openings
    stated_seats: int  # 0 where the header leaves them to the rules

    @classmethod
    def read(cls, fields: Fields) -> SectionGame:
        """The game of a header, of one of its sections, or of a game's record. Raises `RecordError`."""
        settings, options = fields.scalars("options"), fields.value("options")
        assert isinstance(options, dict)
        return cls(
            fields.text("game"),
            fields.number("rules"),
            options,
            settings,
            fields.scalars("origin") if fields.has("origin") else {},
            Openings.of_header(fields),
            fields.number("seats", 1) if fields.has("seats") else 0,
        )

    def available(self, given: Game[Any] | None = None) -> Game[Any]:
        """The game itself; `given` is the one that the user named.

        A file that the header names is not loaded. Raises `UsageError` where the game is not available.
        """
        if given is not None and given.slug != self.game:
            raise UsageError(
                f"the game is `{given.slug}`, expected `{shown(self.game, 80)}`, the game of these records"
            )
        try:
            return game_named(self.game)
        except UsageError:
            if "file" in self.origin:
                raise UsageError(
                    f"the game `{shown(self.game, 80)}` of these records comes from a file, "
                    f"`{shown(self.origin['file'])}`, which is only run if you name it: "
                    "expected `--game module.py:NAME`"
                ) from None
            if "distribution" in self.origin:
                package = f"{self.origin['distribution']} {self.origin.get('version', '')}"
                raise UsageError(
                    f"the game `{shown(self.game, 80)}` of these records is not installed, expected "
                    f"the package `{shown(package)}`"
                ) from None
            raise

    def other_origin(self, game: Game[Any]) -> str:
        """Describes how the file or package of this game differs from that of another; empty where it does
        not. The path of a file may differ: its hash counts.
        """
        was, now = self.origin, origin_of(game)
        for name in sorted({*was, *now} - {"file"}):
            if was.get(name) != now.get(name):
                return (
                    f"the {name} of the game `{game.slug}` is "
                    f"{shown(value_text(now.get(name, 'missing')), 80)}, "
                    f"but in the record it is {shown(value_text(was.get(name, 'missing')), 80)}"
                )
        return ""

    def seats(self) -> int:
        """How many bots play a game. Raises `RecordError`."""
        if self.stated_seats:
            return self.stated_seats
        try:
            game = game_named(self.game)
            return game.seats(game.settle(self.settings))
        except UsageError as error:
            raise RecordError(str(error)) from None


class Header:
    """The conditions of a run after some of its lines. A value: `after` a change there is another one."""

    def __init__(
        self,
        members: dict[str, Any],
        sections: Mapping[str, SectionGame],
        changed_programs: Mapping[str, str],
    ) -> None:
        """Takes over members that have been checked, without their chain."""
        self.members = members  # as they stand in the records; never changed
        self.sections = sections  # by name, which is empty where the run has only one
        self.changed_programs = changed_programs
        """The bots whose programs changed during the run, with the time of the last change."""

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Header:
        """The header from the first line of a run's records. Raises `RecordError`."""
        members = {name: what for name, what in value.items() if name not in ("prev", "hash")}
        fields = Fields(members, "", RecordError)
        if fields.text("kind") != "tournament":
            raise fields.wrong("kind", "`tournament` in the first line")
        if fields.number("record") != FORMAT:
            raise fields.wrong("record", f"{FORMAT}, the only version that this referee reads")
        if not fields.has("seed_sha256"):
            fields.text("seed")
        elif fields.has("seed"):
            raise fields.wrong("seed", "either `seed` or `seed_sha256`")
        fields.object("bots")
        fields.number("rounds", 1)
        fields.one_of("repeats", REPEATS, REPEATS[0])
        fields.number("start_us", default=START_US)
        PointScale.read(fields)
        _check_additions(fields)
        # A run writes these in later lines only.
        check_amendments(members, members["bots"])
        if fields.has("encounters"):
            raise fields.wrong("encounters", "it in `change` lines only")
        return cls(members, _sections(fields), {})

    def after(self, change: Mapping[str, Any]) -> Header:
        """The header after a line of kind `change`. Raises `RecordError`."""
        members = dict(self.members)  # of which no value is changed, only replaced
        fields = Fields(dict(change), "", RecordError)
        _check_additions(fields)
        check_amendments(change, {**self.bots, **change.get("bots", {})})
        changed = self.changed_programs
        if now := self.changed_files(change.get("files", {})):  # guard: changed-programs
            changed = {**changed, **dict.fromkeys(now, shown(fields.text("when", ""), 40))}
        for name in ("bots", "files", *MEMBERS):
            if fields.has(name):
                members[name] = {**members.get(name, {}), **change[name]}
        names = [members.get("renamed", {}).get(name, name).lower() for name in members["bots"]]
        if "renamed" in members and len(set(names)) < len(names):  # guard: renamed-bots
            raise fields.wrong("renamed", "different names")
        for name in GROWING:
            if fields.has(name):
                members[name] = fields.number(name, 1)
        if limits := [name for name in TIME_KEYS if fields.has(name)]:
            members.pop(CLOSED, None)  # with another limit, more games begin
            members |= {name: change[name] for name in limits}
            members = {name: what for name, what in members.items() if what is not None}
        # Of the bots that are left out, all are there and not only new ones.
        members |= {name: change[name] for name in (CLOSED, PLAYED_US, LEFT_OUT) if fields.has(name)}
        if fields.has("encounters"):
            members["encounters"] = [*self.batches, list(fields.texts("encounters"))]
        _change_seed(members, fields)
        return Header(members, self.sections, changed)

    def changed_files(self, now: Mapping[str, Mapping[str, str]]) -> list[str]:
        """Which of these bots have other files now than those that are known."""
        return [bot for bot, files in now.items() if have_changed(self.files.get(bot), files)]

    @cached_property
    def fields(self) -> Fields:
        """The members, for those who read what formats and stopping rules have there."""
        return Fields(self.members, "", RecordError)

    @property
    def bots(self) -> Mapping[str, Mapping[str, Any]]:
        """The bots with their settings, by name, those included that are out."""
        bots: Mapping[str, Mapping[str, Any]] = self.members["bots"]
        return bots

    @property
    def files(self) -> Mapping[str, Mapping[str, str]]:
        """The hashes of the files of each bot, by name."""
        files: Mapping[str, Mapping[str, str]] = self.members.get("files", {})
        return files

    @property
    def amendments(self) -> Amendments:
        """What was changed in the run after the fact."""
        return Amendments(*(self.members.get(member, {}) for member in MEMBERS))

    @property
    def left_out(self) -> list[LeftOut]:
        """The bots that the run was last played without."""
        return [
            LeftOut(bot, what["reason"], tuple(what.get("output", ())))
            for bot, what in self.members.get(LEFT_OUT, {}).items()
        ]

    @property
    def seed(self) -> str | None:
        """The seed; None as long as it is not revealed."""
        return self.members.get("seed")

    @property
    def seed_sha256(self) -> str | None:
        """The hash of a seed that is, or was, hidden; None where it never was."""
        return self.members.get("seed_sha256")

    @property
    def start_us(self) -> int:
        """The time that a bot has to start."""
        return self.fields.number("start_us", default=START_US)

    @property
    def repeats(self) -> str:
        """How games count that are the same as others; one of `REPEATS`."""
        repeats: str = self.members.get("repeats", REPEATS[0])
        return repeats

    @cached_property
    def points(self) -> PointScale:
        """How many points a game gives."""
        return PointScale.read(self.fields)

    @property
    def by_points(self) -> bool:
        """Whether bots are ordered by points, not by ratings."""
        return self.members.get(ORDER) == ORDERS[1]

    @cached_property
    def limit(self) -> TimeLimit:
        """Until when games begin."""
        return TimeLimit.read(self.fields)

    @property
    def closed(self) -> Mapping[str, Any] | None:
        """What is played although the time is over, as `core.settings.CLOSED`; None while it is not."""
        return self.members.get(CLOSED)

    @property
    def played_us(self) -> int:
        """How long was played so far, where the time of play is limited."""
        played_us: int = self.members.get(PLAYED_US, 0)
        return played_us

    @property
    def format_name(self) -> str:
        """The name of a format that is not known here."""
        return str(self.members["format"])

    @property
    def batches(self) -> list[list[str]]:
        """The encounters of a league that were chosen so far: see `tournament.formats.league`."""
        batches: list[list[str]] = self.members.get("encounters", [])
        return batches

    def section_of(self, game_id: str) -> SectionGame:
        """The game of the section of a game. Raises `RecordError` where there is no such section."""
        try:
            return self.sections[Pairing.parse(game_id).section]
        except KeyError:
            raise RecordError(f"the section of game `{shown(game_id)}` is not in this run") from None

    def check_game(self, game: Mapping[str, Any]) -> None:
        """Raises `RecordError` where a game of the schedule was not played under these conditions."""
        fields = Fields(dict(game), "", RecordError)
        game_id, bots = fields.text("id"), fields.texts("bots")
        section = self.section_of(game_id)
        conditions = {
            "game": section.game,
            "rules": section.rules,
            "options": section.options,
            "margin_us": self.members.get("margin_us"),
            "rejections": self.members.get("rejections"),
        }
        for name, of_run in conditions.items():
            if game.get(name) != of_run:
                raise RecordError(
                    f"`{name}` is `{shown(str(game.get(name)), 60)}`, but `{shown(str(of_run), 60)}` in the "
                    "first line"
                )
        for name, clock in zip(bots, fields.texts("clocks"), strict=False):
            if self._clock_of(name, Pairing.parse(game_id).section) != clock:  # guard: other-clocks
                raise RecordError(
                    f"bot `{shown(name, 80)}` does not have the clock `{shown(clock, 40)}` in this run"
                )

    def _clock_of(self, bot: str, section: str) -> str | None:
        """The clock of a bot in a section; None where it does not play there."""
        entrant = self.bots.get(bot, {})
        clock: str | None = entrant.get("clocks", {}).get(section) if section else entrant.get("clock")
        return clock


NO_HEADER = Header({"bots": {}}, {}, {})
"""That of a run whose first line was not read yet."""


def _sections(fields: Fields) -> dict[str, SectionGame]:
    """The games of a header, by section. Raises `RecordError`."""
    if not fields.has("games"):
        return {"": SectionGame.read(fields)}
    games = fields.object("games")
    for section in games.names():
        if not SECTION_NAME.fullmatch(section):
            raise fields.wrong("games", "names of sections")
        games.object(section).number("seats", 1)
    return {section: SectionGame.read(games.object(section)) for section in games.names()}


def _change_seed(members: dict[str, Any], change: Fields) -> None:
    """Replaces the hash of a seed, or reveals a seed that has this hash. Raises `RecordError`."""
    if change.has("seed_sha256"):
        members["seed_sha256"] = change.text("seed_sha256")
        members.pop("seed", None)
    if change.has("seed"):
        members["seed"] = change.text("seed")
        if seed_hash(members["seed"]) != members.get("seed_sha256"):  # guard: seed-hash
            raise change.wrong("seed", "the seed whose hash is `seed_sha256`")


def _check_additions(fields: Fields) -> None:
    """Checks the members that a header and a `change` line have in common."""
    if fields.has("bots"):
        bots = fields.object("bots")
        for name in bots.names():
            if not BOT_NAME.fullmatch(name):
                raise fields.wrong("bots", "bot names")
            if bots.object(name).has("clocks"):
                bots.object(name).scalars("clocks")
            else:
                bots.object(name).text("clock")
    if fields.has("files"):
        for name in fields.object("files").names():
            fields.object("files").object(name)
    check_left_out(fields)
    times = fields.without_nulls(*TIME_KEYS)
    TimeLimit.read(times)
    check_closed(times)
    for name in GROWING:
        if fields.has(name):
            fields.number(name, 1)
    if fields.has("seed_sha256") and not _SHA256.fullmatch(fields.text("seed_sha256")):
        raise fields.wrong("seed_sha256", "64 hexadecimal digits")


def have_changed(known: Mapping[str, str] | None, now: Mapping[str, str]) -> bool:
    """Whether a bot's files are other ones than those that are `known`, by their hashes. Where only one of
    both has the hash of all files, the bot was sent to other machines in one of them: they differ if a file
    does that both have.
    """
    if known is None:
        return False
    if ALL_FILES not in known and ALL_FILES not in now:
        return dict(known) != dict(now)
    return any(known[word] != now[word] for word in known.keys() & now.keys())


def change_line(members: dict[str, Any]) -> dict[str, Any]:
    """The line that changes the header by these members, as of now."""
    return {"kind": "change", "when": datetime.now(UTC).isoformat(timespec="seconds"), **members}
