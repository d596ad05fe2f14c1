"""The first line of a run's records, and the later lines that change it."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.pairing import BOT_NAME, Pairing
from referee.core.seeds import seed_hash
from referee.core.text import shown
from referee.games import game_named, origin_of
from referee.games.api import Game
from referee.records.record import FORMAT, Summary

_SHA256 = re.compile("[0-9a-f]{64}")

CHANGED = "changed"
"""The member of a header, as it was read, that has the bots whose programs changed during the run, with the
time of the last change. It stands in no file.
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
    if fields.has("origin"):
        fields.scalars("origin")
    _check_additions(fields)
    return {name: what for name, what in value.items() if name not in ("prev", "hash", CHANGED)}


def game_of(header: dict[str, Any], given: Game[Any] | None = None) -> Game[Any]:
    """The game of the run that a header describes; `given` is the game that the user named.

    A file that the header names is not loaded. Raises `UsageError` where the game is not available.
    """
    fields = Fields(header, "", RecordError)
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
                f"the game `{shown(slug, 80)}` of these records is from a file, `{shown(origin['file'])}`, "
                f"which is run only if you name it: expected `--game module.py:NAME`"
            ) from None
        if "distribution" in origin:
            package = f"{origin['distribution']} {origin.get('version', '')}"
            raise UsageError(
                f"the game `{shown(slug, 80)}` of these records is not installed, expected it from "
                f"`{shown(package)}`"
            ) from None
        raise


def other_origin(header: dict[str, Any], game: Game[Any]) -> str:
    """How the file or package of a run's game differs from that of this game; empty where it does not.

    The path of a file may differ: its hash counts.
    """
    was, now = header.get("origin", {}), origin_of(game)
    for name in sorted({*was, *now} - {"file"}):
        if was.get(name) != now.get(name):
            return (
                f"the {name} of the game `{game.slug}` is {shown(str(now.get(name)), 80)}, "
                f"and in the record {shown(str(was.get(name)), 80)}"
            )
    return ""


def seats_of(header: dict[str, Any], games: Collection[Summary]) -> int:
    """How many seats the games of a run have: taken from a game of the run if there is one, so that the rules
    need not be available, else from the header. Raises `RecordError`.
    """
    for played in games:
        return len(played.bots)
    fields = Fields(header, "", RecordError)
    try:
        game = game_named(fields.text("game"))
        return game.seats(game.settle(fields.scalars("options")))
    except UsageError as error:
        raise RecordError(str(error)) from None


def apply_change(header: dict[str, Any], change: dict[str, Any]) -> None:
    """Applies a line of kind `change` to the header. Raises `RecordError`."""
    fields = Fields(change, "", RecordError)
    _check_additions(fields)
    files = header.get("files", {})
    changed = [bot for bot, now in change.get("files", {}).items() if files.get(bot, now) != now]
    if changed:  # guard: changed-programs
        when = shown(fields.text("when", ""), 40)
        header[CHANGED] = {**header.get(CHANGED, {}), **dict.fromkeys(changed, when)}
    for name in ("bots", "files"):
        if fields.has(name):
            header[name] = {**header.get(name, {}), **change[name]}
    if fields.has("rounds"):
        header["rounds"] = fields.number("rounds", 1)
    if fields.has("seed_sha256"):
        header["seed_sha256"] = fields.text("seed_sha256")
        header.pop("seed", None)
    if fields.has("seed"):
        seed = fields.text("seed")
        if seed_hash(seed) != header.get("seed_sha256"):  # guard: seed-hash
            raise fields.wrong("seed", "the seed whose hash is `seed_sha256`")
        header["seed"] = seed


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
            bots.object(name).text("clock")
    if fields.has("files"):
        for name in fields.object("files").names():
            fields.object("files").object(name)
    if fields.has("rounds"):
        fields.number("rounds", 1)
    if fields.has("seed_sha256") and not _SHA256.fullmatch(fields.text("seed_sha256")):
        raise fields.wrong("seed_sha256", "64 hexadecimal digits")


def check_against(header: dict[str, Any], game: dict[str, Any]) -> None:
    """Raises `RecordError` where a game does not belong to the run that the header describes."""
    for name in ("game", "rules", "options", "margin_us", "rejections"):
        if game.get(name) != header.get(name):
            raise RecordError(
                f"{name} is {shown(str(game.get(name)), 60)}, "
                f"and in the first line {shown(str(header.get(name)), 60)}"
            )
    fields = Fields(game, "", RecordError)
    game_id, bots = fields.text("id"), fields.texts("bots")
    for name, clock in zip(bots, fields.texts("clocks"), strict=False):
        entrant = header["bots"].get(name)
        if entrant is None or entrant.get("clock") != clock:
            raise RecordError(f"bot {shown(name, 80)} with the clock {shown(clock, 40)} is not in this run")
    if Pairing.parse(game_id).bots != bots:
        raise RecordError("its id and bots do not match")
    check_scheduled(header, game_id)


def check_scheduled(header: dict[str, Any], game_id: str) -> None:
    """Raises `RecordError` where an id is not that of a game of the run, whatever its number of seats."""
    pairing = Pairing.parse(game_id)
    number = pairing.number
    if not 1 <= number <= header.get("rounds", number):
        raise RecordError(f"the round of game `{shown(game_id)}` is not in this run")
    if not header["bots"].keys() >= set(pairing.bots):
        raise RecordError(f"a bot of game `{shown(game_id)}` is not in this run")
    # The seats are filled in the order of the names in a tournament, and as they were given in a match.
    order = sorted(pairing.bots) if "rounds" in header else list(header["bots"])
    bots = list(pairing.bots)
    if bots != order and bots not in (order[first:] + order[:first] for first in range(1, len(order))):
        raise RecordError(f"the seats of game `{shown(game_id)}` are not those of a game of this run")
    if len(set(order)) != len(order):
        raise RecordError(f"a bot has several seats in game `{shown(game_id)}`")
