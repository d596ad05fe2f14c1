"""Begins or continues a run in a folder: which differences from its header the tournament may have."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from pathlib import Path
from typing import Any

from referee.core.errors import UsageError
from referee.core.seeds import seed_hash
from referee.core.settings import ORDER, TIME_KEYS
from referee.core.text import shown, value_text
from referee.records.amendments import LEFT_OUT, LeftOut, left_out_json
from referee.records.header import Header, have_changed
from referee.records.run_files import RECORDS
from referee.tournament import stopping
from referee.tournament.file.file_list import HashesByBot, Programs
from referee.tournament.formats import known_format
from referee.tournament.run.lock import locked
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import Remaining
from referee.tournament.run.run import StoredRun
from referee.tournament.tournament import Tournament


def continuing(tournament: Tournament, run: StoredRun) -> Tournament:
    """The tournament as it may be played in the folder of a run, which may be still to begin: without the
    bots that come too late.

    Raises `UsageError` where it is wrong, or the folder has the results of another one.
    """
    with tournament.file.named():
        if run.lines and (late := _too_late(tournament, run)):
            tournament = tournament.without(late)
        tournament.check()
    if run.lines and (wrong := differences(run.header, tournament)):
        raise UsageError(
            f"`{shown(str(run.folder))}` has the results of another tournament: "
            f"{shown('; '.join(wrong), 600)}; expected the same tournament, perhaps with "
            f"{tournament.format.growth}, or another folder"
        )
    return tournament


def leaving_out(
    tournament: Tournament, run: StoredRun, unfit: Iterable[LeftOut], may: bool, say: Callable[[str], None]
) -> Tournament:
    """The tournament without the bots that are `unfit` and are to play. `say` is called with lines for the
    user.

    Raises `UsageError` where too few bots are left, or a bot is unfit although none `may` be left out.
    """
    left_out = []
    for one in unfit:
        if one.bot in run.amendments.out:
            continue
        if not may:
            raise UsageError(one._replace(bot=tournament.format.given_name(one.bot)).error)
        left_out.append(one)
    if not left_out:
        return tournament
    where = tournament.file.where
    try:
        found = continuing(tournament.without(left_out), run)
    except UsageError as error:
        for one in left_out[1:]:
            say(one.text)
        which = "it" if len(left_out) == 1 else "these bots"
        why = str(error).removeprefix(where)
        raise UsageError(f"{where}{left_out[0].error}; without {which}, {why}") from None
    for one in left_out:
        say(one.text)
    return found


def has_games_left(tournament: Tournament, run: StoredRun) -> bool:
    """Whether games are to be played; where they are arranged one by one, always another one."""
    if tournament.format.is_arranged:
        return True
    if not run.lines:
        run = StoredRun.new(run.folder, tournament.header)
    return Remaining(tournament.matchmaking, run).next() is not None


def _too_late(tournament: Tournament, run: StoredRun) -> list[LeftOut]:
    """The bots that the run began without, if its format takes in no bots later."""
    if tournament.format.is_open:
        return []
    began_without = {one.bot for one in run.header.left_out} - run.header.bots.keys()
    return [
        LeftOut(
            name,
            f"this run started without it, and bots cannot be added to {tournament.format.kind} later; it "
            "can play in a new run, in another folder",
            is_fault=False,
        )
        for name in tournament.names
        if name in began_without
    ]


def open_run(
    tournament: Tournament, run: StoredRun, programs: Programs, has_games: bool, note: Callable[[str], None]
) -> OpenRun:
    """Opens the folder of a run for more games, if it `has_games`, once the bots' `programs` are built:
    begins the run, or stores what is new in it.

    `note` is called with lines for the user. Raises `StorageError`.
    """
    text = tournament.file.text
    seed = tournament.plans[0].seed if tournament.plans[0].seed_is_hidden else None
    files = programs.changes(entrant.bot for entrant in tournament.entrants)
    left_out = left_out_json(tournament.left_out)
    if not run.lines:
        header = {**tournament.header.members, "files": files, **({LEFT_OUT: left_out} if left_out else {})}
        return OpenRun.begin(run.folder, header, text, seed)
    change = additions(run.header, tournament, files)
    if left_out != run.header.members.get(LEFT_OUT, {}):
        change[LEFT_OUT] = left_out
    if changed := run.header.changed_files(change.get("files", {})):
        note(f"bots whose program has changed since the run began: {', '.join(changed)}")
    if run.torn:
        note(f"the last record is incomplete after a crash ({run.torn} bytes); its game is played again")
        change["torn"] = run.torn
    if seed is None or not has_games:
        return OpenRun.resume(run, change, text)
    # The earlier seed was revealed, or is lost: only the process that drew it knew it.
    return OpenRun.resume(run, {**change, "seed_sha256": seed_hash(seed)}, text, seed)


def set_aside(folder: Path) -> Path | None:
    """Renames the folder of a run, so that another one can begin there, and returns its new path: with the
    first number after its name that is free. None where no run is there. Raises `UsageError`.
    """
    if not os.path.lexists(folder / RECORDS):
        return None
    if Path.cwd().is_relative_to(folder.resolve()):
        raise UsageError(f"`{shown(str(folder))}` is the working directory or above it, expected another one")
    with locked(folder):
        paths = (folder.with_name(f"{folder.name}-{number}") for number in count(1))
        aside = next(path for path in paths if not os.path.lexists(path))
        try:
            folder.rename(aside)
        except OSError as error:
            raise UsageError(f"cannot rename `{shown(str(folder))}`: {error.strerror}") from None
    return aside


def differences(header: Header, tournament: Tournament) -> list[str]:
    """Forbidden changes, as messages: only bots and rounds may be added, as far as the format allows it, and
    bots may be left out.
    """
    reasons = {one.bot: one.reason for one in tournament.left_out}
    was, now = header.members, tournament.header.members
    wrong = [
        *_games(header, tournament),
        *_values(
            was, now, ("margin_us", "rejections", "start_us", "strikes", "points", ORDER, *stopping.KEYS)
        ),
    ]
    if tournament.repeats != header.repeats:
        wrong.append(f"`repeats` is {tournament.repeats}, but was {header.repeats}")
    if "seed" in now and now["seed"] != header.seed:
        wrong.append(f"`seed` is {now['seed']}, but was {_given(header.seed)}")
    out = header.amendments.out
    for name, bot in header.bots.items():
        if name in now["bots"]:
            keys = dict.fromkeys((*now["bots"][name], *bot))
            wrong += _values(bot, now["bots"][name], keys, f" of bot `{name}`")
        elif not tournament.format.is_arranged and out.get(name, {}).get("games", "forfeit") == "forfeit":
            if name not in reasons:
                wrong.append(f"bot `{name}` is missing")
            elif not tournament.format.is_open:
                wrong.append(
                    f"bot `{name}` plays in this run, and {tournament.format.kind} cannot continue without "
                    f"it: {reasons[name]}; repair it, or withdraw it (`referee amend`)"
                )
    added = [name for name in now["bots"] if name not in header.bots]
    given = {new.lower(): old for old, new in header.amendments.renamed.items()}
    wrong += [
        f"bot `{name}` has the name to which `{given[name.lower()]}` was renamed"
        for name in added
        if name.lower() in given
    ]
    before = known_format(was)
    if before is None:  # of a file that the tournament does not name
        return [*wrong, f"`format` is {tournament.format.name}, but was {header.format_name}"]
    return wrong + tournament.format.may_grow(before, added)


def _games(header: Header, tournament: Tournament) -> list[str]:
    """Lists the differences in the games and their options."""
    if list(header.sections) != [plan.section for plan in tournament.plans]:
        return ["the games are not those of the run"]
    wrong = []
    for plan in tournament.plans:
        was, where = header.sections[plan.section], f" of `{plan.section}`" if plan.section else ""
        wrong += _values(was._asdict(), plan.game_json(), ("game", "rules", "options"), where)
        if plan.openings != was.openings:
            wrong.append(f"`openings`{where} is {plan.openings.text()}, but was {was.openings.text()}")
        if difference := was.other_origin(plan.game):
            wrong.append(difference)
    return wrong


def _values(was: Mapping[str, Any], now: Mapping[str, Any], keys: Any, where: str = "") -> list[str]:
    return [
        f"`{key}`{where} is {_given(now.get(key))}, but was {_given(was.get(key))}"
        for key in keys
        if now.get(key) != was.get(key)
    ]


def _given(value: object) -> str:
    """A value as shown in a message; default values are not in a header."""
    return "not given" if value is None else value_text(value)


def additions(header: Header, tournament: Tournament, files: HashesByBot) -> dict[str, Any]:
    """Additions to a run and allowed changes, as members of a `change` line; empty if there are none."""
    change: dict[str, Any] = {}
    if added := {name: what for name, what in tournament.header.bots.items() if name not in header.bots}:
        change["bots"] = added
    of_format = tournament.format.header().items()
    change |= {name: what for name, what in of_format if header.members.get(name) != what}
    now_limit, before = tournament.limit.header(), header.limit.header()
    change |= {key: now_limit.get(key) for key in TIME_KEYS if now_limit.get(key) != before.get(key)}
    known = header.files
    of_bots = {name: _files(known.get(name), found) for name, found in files.items()}
    if changed := {name: what for name, what in of_bots.items() if known.get(name) != what}:
        change["files"] = changed
    return change


def _files(known: Mapping[str, str] | None, now: dict[str, str]) -> dict[str, str]:
    """Returns what is known about a bot's files from now on."""
    if known is None or have_changed(known, now):
        return now
    return {**known, **now}
