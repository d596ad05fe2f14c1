"""Compares a tournament with the header of a run: what may differ when it is continued. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referee.core.settings import ORDER, TIME_KEYS
from referee.core.text import value_text
from referee.records.header import Header, have_changed
from referee.tournament import stopping
from referee.tournament.formats import known_format
from referee.tournament.run.hashes import HashesByBot
from referee.tournament.tournament import Tournament


def differences(
    header: Header, tournament: Tournament, left_out: Mapping[str, str] | None = None
) -> list[str]:
    """Forbidden changes, as messages: only bots and rounds may be added, as far as the format allows it, and
    bots may be `left_out`, each for a reason.
    """
    reasons = left_out or {}
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
