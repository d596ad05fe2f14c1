"""A bot with `[[parameter]]` tables: it enters once for each role of tuning."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from referee.core.errors import UsageError
from referee.core.fields import Fields
from referee.core.text import counted
from referee.processes.program import Program
from referee.tournament.file.bot_table import BotTable
from referee.tournament.formats.tuning import ROLES
from referee.tuning.parameters import NAME, read_parameters, value_text


def tuned_bot(fields: Fields, main: Fields, tables: Sequence[BotTable]) -> list[BotTable]:
    """The bot in each of its roles, with the values of the start; `main` is the table `[tournament]`, and
    `tables` are those of all bots. Raises `UsageError`.
    """
    # A bot goes on whatever it loses by, and no rating tells anything while its values change.
    for where, key in ((main, "strikes"), (main, "stop"), (fields, "game")):
        if where.has(key):
            raise UsageError(f"`{where.at(key)}` is given with `[[parameter]]` tables, expected one of both")
    if len(tables) != 1:
        raise UsageError(
            f"there are {counted(len(tables), '`[[bot]]` table')} with `[[parameter]]` tables, expected one"
        )
    parameters, table = read_parameters(fields.objects("parameter")), tables[0]
    names = [one.name for one in parameters]
    texts = (*table.bot.command, *dict(table.bot.env).values())
    for name in names:
        if not any(f"{{{name}}}" in text for text in texts):
            raise UsageError(
                f"bot `{table.bot.name}` does not use the parameter `{name}`, expected `{{{name}}}` in its "
                "`cmd` or `env`"
            )
    for text in texts:
        # Within other text, it may belong to another language.
        found = re.fullmatch(rf"(?:.*=)?{{(?!python}})({NAME})}}", text)
        if found and found[1] not in names:
            raise UsageError(
                f"bot `{table.bot.name}` has `{{{found[1]}}}` in its `cmd` or `env`, expected a "
                "`[[parameter]]` table with this name"
            )
    start = tuple((one.name, value_text(one.start)) for one in parameters)
    entrants = (Program.of(f"{table.bot.name}-{role}", (), table.bot.cwd) for role in ROLES)
    return [table._replace(bot=replace(table.bot, name=one.name, parameters=start)) for one in entrants]
