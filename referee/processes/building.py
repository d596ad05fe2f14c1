"""Builds a bot: runs its build command at the bot's level of isolation, with limits, and keeps the end of its
output.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from referee.core.errors import UsageError
from referee.core.files import open_without_links
from referee.core.settings import CONFINED
from referee.core.text import shown
from referee.core.this_machine import usable_memory
from referee.processes import needs
from referee.processes.limits import Limits, share_of
from referee.processes.process import BotProcess, output_of
from referee.processes.program import Program

LONGEST_S = 1800  # maximum number of seconds that a build may take

_SHELL = ("/bin/sh", "-c")

_JOINED = 'exec "$@" 2>&1'  # gives the command one stream for all that it writes

_AT_HOME = f'HOME="$TMPDIR"; export HOME; {_JOINED}'
"""Gives it a scratch folder as its home too: compilers keep caches there."""


class BuildFailure(NamedTuple):
    """How a build failed."""

    reason: str
    output: tuple[str, ...]  # the last lines of its output, safe to be shown


def build(
    bot: Program,
    command: tuple[str, ...],
    network: bool = False,
    private: Iterable[Path] = (),
    longest_s: float = LONGEST_S,
) -> BuildFailure | None:
    """Runs the build command of a bot in the bot's folder, which it may write to, at the bot's own level of
    isolation, and returns how it failed; None where it did not. In the command `{python}` stands for the
    interpreter that runs the referee. It has a `network` only if that is given; what is `private` to the
    referee is hidden from it as from the bot.
    """
    builder = replace(
        bot,
        command=command,
        limits=Limits(share=share_of(usable_memory(), bots=1)),
        pty=False,
        pause=False,
        user="",
        hidden=tuple(private),
        writes=(bot.cwd,),
        network=network,
    )
    program = shown(builder.argv[0])
    is_confined = bot.isolation in CONFINED
    try:
        builder.check()
    except UsageError as error:
        return BuildFailure(str(error).removeprefix(f"bot `{bot.name}`: "), ())
    if is_confined and bot.cwd not in needs.files(builder.argv, bot.cwd, builder.environment()).own:
        folder = shown(str(bot.cwd))
        return BuildFailure(
            f"its folder `{folder}` contains much more than the bot, and the build could write there", ()
        )
    script = _JOINED
    if is_confined:
        script, builder = _AT_HOME, _with_toolchain(builder)
    try:
        process = BotProcess(replace(builder, command=(*_SHELL, script, "sh", *command)))
    except OSError as error:
        return BuildFailure(f"{error.strerror}: `{program}`", ())
    try:
        process.close_input()
        output, in_time = output_of(process, longest_s)
    finally:
        process.reap()
    lines = tuple(shown(line) for line in output.splitlines()[-10:])
    if process.excess:
        return BuildFailure(f"`{program}` {process.excess}", lines)
    if not in_time:
        return BuildFailure(f"`{program}` did not end within {longest_s:.0f} s", lines)
    if process.exit_code:
        return BuildFailure(f"`{program}` {process.exit_status()}", lines)
    if is_confined:
        _make_executable(bot)
    return None


def _with_toolchain(builder: Program) -> Program:
    """The bot with what its build command needs to read, which is found from its first word: it is no longer
    the first where a shell runs it. The toolchains of rustup lie in the home folder, which is another one.
    """
    environment = builder.environment()
    rustup = Path(environment.get("RUSTUP_HOME") or Path(environment.get("HOME", "/"), ".rustup"))
    toolchains = (rustup,) if rustup.is_dir() else ()
    needed = needs.find(builder.argv, builder.cwd, environment, (*builder.read, *toolchains))
    env = (*(("RUSTUP_HOME", str(path)) for path in toolchains), *builder.env)
    return replace(builder, read=tuple(needed.readable), env=env)


def _make_executable(bot: Program) -> None:
    """Makes the program executable that a build made, if it is a file in the bot's own folder: linkers change
    the mode of what they write, which is not allowed at `landlock`.
    """
    program = bot.argv[0]
    path = bot.cwd / program
    if "/" not in program or not path.parent.resolve().is_relative_to(bot.cwd.resolve()):
        return
    with contextlib.suppress(OSError):
        file = open_without_links(path)
        try:
            mode = os.fstat(file).st_mode & 0o777
            os.fchmod(file, mode | (mode & 0o444) >> 2)
        finally:
            os.close(file)
