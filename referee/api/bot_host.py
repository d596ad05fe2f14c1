"""Has a bot asked in a host, which has its process and measures its time; the caller judges its replies."""

from __future__ import annotations

import gc
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from referee.api.hosting import Channel
from referee.asking.asked_bot import AskedBot
from referee.core.errors import UsageError
from referee.core.this_machine import usable_memory
from referee.processes import building, levels
from referee.processes.limits import share_of
from referee.processes.program import Program
from referee.tournament.plan import BotOrigin

ANSWERED = ("next_reply", "end_at_fault")
"""The calls whose result is sent back."""


def serve(
    bot: Program,
    origin: BotOrigin,
    files: Mapping[str, bytes],
    folder: Path | None,
    start_us: int,
    channel: Channel,
) -> None:
    """Makes the calls of an `AskedBot` that are received, until this is interrupted. `files` are what the bot
    reads; if there are any, they are written into the `folder` that it runs in.

    Raises `UsageError` where the bot cannot be built, `EnvironmentLacksError` where it cannot be started here
    for a reason that is not its own.
    """
    with ExitStack() as stack:
        if folder:
            for name, content in files.items():
                path = folder / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(content)
            bot = replace(bot, cwd=folder)
        bot = replace(bot, limits=replace(bot.limits, share=share_of(usable_memory(), bots=1)))
        (bot,) = levels.settled([bot])
        if origin.build and (failure := building.build(bot, origin.build, origin.build_network)):
            said = "".join(f": {line}" for line in failure.output[-1:])
            raise UsageError(f"bot `{bot.name}` cannot be built: {failure.reason}{said}")
        bot.check()
        asked = AskedBot(bot, start_us)
        stack.callback(asked.end)
        gc.freeze()  # what is measured is not to wait for the collector
        while True:
            name, *arguments = channel.receive()
            result = getattr(asked, name)(*arguments)
            if name in ANSWERED:
                channel.send(result)
