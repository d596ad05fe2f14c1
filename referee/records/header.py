"""The first line of a run's records, and the later lines that change it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import BOT_NAME, SECTION_NAME, Pairing
from referee.core.point_scale import PointScale
from referee.core.seeds import seed_hash
from referee.core.text import shown, value_text
from referee.core.time_limit import CLOSED, PLAYED_US, TimeLimit, check_closed
from referee.core.time_limit import KEYS as TIME_KEYS
from referee.gameplay.openings import Openings
from referee.games import game_named, origin_of
from referee.games.api import Game
from referee.records.amendments import LEFT_OUT, MEMBERS, check_amendments, check_left_out
from referee.records.record import FORMAT

GROWING = ("rounds", "budget")  # the numbers of a format that may grow after a run began

REPEATS = ("cluster", "count")
"""How games count that are move by move the same as others between the same bots: together, so that they
narrow no interval, or each by itself. The first is the default.
"""

_SHA256 = re.compile("[0-9a-f]{64}")

CHANGED = "changed"
"""The member of a header, as it was read, that has the bots whose programs changed during the run, with the
time of the last change. It stands in no file.
"""


ALL_FILES = "files"
"""Among the hashes of a bot's files, that of all of them together, where they are listed or were sent to
other machines.
"""


def read_header(value: dict[str, Any]) -> dict[str, Any]:
    """The checked first line of a run's records, without its chain. Raises `RecordError`."""
    fields = Fields(value, "", RecordError)
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
    PointScale.read(fields)
    _check_additions(fields)
    if fields.has("games"):
        games = fields.object("games")
        for section in games.names():
            if not SECTION_NAME.fullmatch(section):
                raise fields.wrong("games", "names of sections")
            game = games.object(section)
            game.text("game")
            game.scalars("options")
            game.number("seats", 1)
            _check_origin(game)
    _check_origin(fields)
    # A run writes these in later lines only.
    check_amendments(value, value["bots"])
    if fields.has("encounters"):
        raise fields.wrong("encounters", "it in `change` lines only")
    return {name: what for name, what in value.items() if name not in ("prev", "hash", CHANGED)}


def _check_origin(fields: Fields) -> None:
    if fields.has("origin"):
        fields.scalars("origin")
    Openings.of_header(fields)


def sections_of(header: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Returns what a header says about the game of each section: the header itself, by the empty name, where
    the run has only one.
    """
    games: dict[str, dict[str, Any]] | None = header.get("games")
    return {"": header} if games is None else games


def section_of(header: dict[str, Any], game_id: str) -> dict[str, Any]:
    """Returns what a header says about the section of a game. Raises `RecordError` where there is no such
    section.
    """
    try:
        return sections_of(header)[Pairing.parse(game_id).section]
    except KeyError:
        raise RecordError(f"the section of game `{shown(game_id)}` is not in this run") from None


def game_of(section: dict[str, Any], given: Game[Any] | None = None) -> Game[Any]:
    """The game of a section of a header; `given` is the game that the user named.

    A file that the header names is not loaded. Raises `UsageError` where the game is not available.
    """
    fields = Fields(section, "", RecordError)
    slug = fields.text("game")
    if given is not None and given.slug != slug:
        raise UsageError(
            f"`--game` is `{given.slug}`, expected `{shown(slug, 80)}`, the game of these records"
        )
    try:
        return game_named(slug)
    except UsageError:
        origin = fields.scalars("origin") if fields.has("origin") else {}
        if "file" in origin:
            raise UsageError(
                f"the game `{shown(slug, 80)}` of these records comes from a file, "
                f"`{shown(origin['file'])}`, which is only run if you name it: "
                "expected `--game module.py:NAME`"
            ) from None
        if "distribution" in origin:
            package = f"{origin['distribution']} {origin.get('version', '')}"
            raise UsageError(
                f"the game `{shown(slug, 80)}` of these records is not installed, expected "
                f"the package `{shown(package)}`"
            ) from None
        raise


def other_origin(section: dict[str, Any], game: Game[Any]) -> str:
    """Describes how the file or package of a section's game differs from that of this game; empty where it
    does not.

    The path of a file may differ: its hash counts.
    """
    was, now = section.get("origin", {}), origin_of(game)
    for name in sorted({*was, *now} - {"file"}):
        if was.get(name) != now.get(name):
            return (
                f"the {name} of the game `{game.slug}` is {shown(value_text(now.get(name, 'missing')), 80)}, "
                f"but in the record it is {shown(value_text(was.get(name, 'missing')), 80)}"
            )
    return ""


def seats_of(header: dict[str, Any], known: Mapping[str, int]) -> dict[str, int]:
    """Returns the number of seats of the games of each section: as `known` from its games, so that the rules
    need not be available, else from the header. Raises `RecordError`.
    """
    return {name: known.get(name) or _seats(section) for name, section in sections_of(header).items()}


def _seats(section: dict[str, Any]) -> int:
    fields = Fields(section, "", RecordError)
    if fields.has("seats"):
        return fields.number("seats", 1)
    try:
        game = game_named(fields.text("game"))
        return game.seats(game.settle(fields.scalars("options")))
    except UsageError as error:
        raise RecordError(str(error)) from None


def apply_change(header: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """The header after a line of kind `change`. Raises `RecordError`."""
    header = dict(header)  # of which no value is changed, only replaced
    fields = Fields(change, "", RecordError)
    _check_additions(fields)
    check_amendments(change, {**header["bots"], **change.get("bots", {})})
    files = header.get("files", {})
    changed = [bot for bot, now in change.get("files", {}).items() if have_changed(files.get(bot), now)]
    if changed:  # guard: changed-programs
        when = shown(fields.text("when", ""), 40)
        header[CHANGED] = {**header.get(CHANGED, {}), **dict.fromkeys(changed, when)}
    for name in ("bots", "files", *MEMBERS):
        if fields.has(name):
            header[name] = {**header.get(name, {}), **change[name]}
    names = [header.get("renamed", {}).get(name, name).lower() for name in header["bots"]]
    if "renamed" in header and len(set(names)) < len(names):  # guard: renamed-bots
        raise fields.wrong("renamed", "different names")
    for name in GROWING:
        if fields.has(name):
            header[name] = fields.number(name, 1)
    _apply_times(header, change)
    if fields.has(LEFT_OUT):
        header[LEFT_OUT] = change[LEFT_OUT]  # all of them, not only new ones
    if fields.has("encounters"):
        header["encounters"] = [*header.get("encounters", []), list(fields.texts("encounters"))]
    if fields.has("seed_sha256"):
        header["seed_sha256"] = fields.text("seed_sha256")
        header.pop("seed", None)
    if fields.has("seed"):
        seed = fields.text("seed")
        if seed_hash(seed) != header.get("seed_sha256"):  # guard: seed-hash
            raise fields.wrong("seed", "the seed whose hash is `seed_sha256`")
        header["seed"] = seed
    return header


def _apply_times(header: dict[str, Any], change: dict[str, Any]) -> None:
    """Applies what a change says of the time of the run: with another limit, more games begin."""
    for name in TIME_KEYS:
        if name in change:
            header.pop(CLOSED, None)
            header.pop(name, None)
            if change[name] is not None:
                header[name] = change[name]
    for name in (CLOSED, PLAYED_US):
        if name in change:
            header[name] = change[name]


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


def check_against(header: dict[str, Any], game: dict[str, Any]) -> None:
    """Raises `RecordError` where a game of the schedule was not played as the header of its run says."""
    fields = Fields(game, "", RecordError)
    game_id, bots = fields.text("id"), fields.texts("bots")
    section = section_of(header, game_id)
    for name in ("game", "rules", "options", "margin_us", "rejections"):
        of_run = (section if name in ("game", "rules", "options") else header).get(name)
        if game.get(name) != of_run:
            raise RecordError(
                f"`{name}` is `{shown(str(game.get(name)), 60)}`, but `{shown(str(of_run), 60)}` in the "
                "first line"
            )
    for name, clock in zip(bots, fields.texts("clocks"), strict=False):
        own = clock_of(header, name, Pairing.parse(game_id).section)
        if own != clock:  # guard: other-clocks
            raise RecordError(
                f"bot `{shown(name, 80)}` does not have the clock `{shown(clock, 40)}` in this run"
            )


def clock_of(header: dict[str, Any], bot: str, section: str) -> str | None:
    """The clock of a bot in a section; None where it does not play there."""
    entrant = header["bots"].get(bot, {})
    clock: str | None = entrant.get("clocks", {}).get(section) if section else entrant.get("clock")
    return clock
