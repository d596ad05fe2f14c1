"""A bot with `[[parameter]]` tables: it enters once for each role of tuning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.text import counted
from referee.processes.program import Program
from referee.tournament.file.bot_table import BotTable
from referee.tournament.formats.tuning import ROLES, entrant_name
from referee.tuning.parameters import read_parameters, values_at

_WITHOUT = ("strikes", "stop")
"""Keys of `[tournament]` that tuning cannot have: a bot goes on whatever it loses by, and no rating tells
anything while its values change.
"""


def is_tuned(fields: Fields) -> bool:
    """Whether a tournament file tunes a bot."""
    return fields.has("parameter")


def tuned_bot(fields: Fields, main: Fields, tables: Sequence[BotTable]) -> list[BotTable]:
    """The bot in each of its roles, with the values of the start; `main` is the table `[tournament]`, and
    `tables` are those of all bots. Raises `UsageError`.
    """
    for key in _WITHOUT:
        if main.has(key):
            raise UsageError(f"`{main.at(key)}` is given with `[[parameter]]` tables, expected one of both")
    if fields.has("game"):
        raise UsageError("`[[game]]` tables are given with `[[parameter]]` tables, expected one game")
    if len(tables) != 1:
        raise UsageError(
            f"there are {counted(len(tables), '`[[bot]]` table')} with `[[parameter]]` tables, expected one"
        )
    parameters = read_parameters(fields.objects("parameter"))
    table = tables[0]
    texts = (*table.bot.command, *dict(table.bot.env).values())
    for one in parameters:
        if not any(f"{{{one.name}}}" in text for text in texts):
            raise UsageError(
                f"bot `{table.bot.name}` does not use the parameter `{one.name}`, expected `{{{one.name}}}` "
                "in its `cmd` or `env`"
            )
    start = values_at(parameters, [one.start_share for one in parameters])
    entrants = []
    for role in ROLES:
        name = Program.of(entrant_name(table.bot.name, role), (), table.bot.cwd).name
        entrants.append(table._replace(bot=replace(table.bot, name=name, parameters=start)))
    return entrants
