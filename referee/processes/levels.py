"""Which levels of isolation work here, found by trying them, and which one `auto` means.

A trial starts a small program at the level, which attempts what the level has to prevent, and says what it
could do.
"""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path

from referee.core.errors import EnvironmentLacksError
from referee.core.settings import AUTO, LEVELS
from referee.core.text import shown
from referee.processes import owned
from referee.processes.isolation import lacking, user_of
from referee.processes.process import BotProcess, end_processes, output_of
from referee.processes.program import Program, this_python

TRIAL_S = 10.0  # seconds that a trial may take

_ATTEMPTS = """
import os, socket, sys
secret, port, referee = os.environ["SECRET"], int(sys.argv[1]), int(sys.argv[2])

def connect():
    socket.create_connection(("127.0.0.1", port), 1).close()

for name, attempt in {
    "read a file that belongs to the user": lambda: open(secret).close(),
    "write outside its scratch folder": lambda: open(secret + "-written", "w").close(),
    "send a signal to the referee": lambda: os.kill(referee, 0),
    "read the memory of the referee": lambda: open(f"/proc/{referee}/mem", "rb").close(),
    "use the network": connect,
}.items():
    try:
        attempt()
    except OSError:
        continue
    print("could", name)
with open(os.environ["TMPDIR"] + "/written", "w"):
    print("ended")
"""

_ATTEMPTED_AT = {
    "none": (),
    "basic": (),
    "landlock": (
        "read a file that belongs to the user",
        "write outside its scratch folder",
        "use the network",
    ),
}
"""What a level has to prevent, where that is not everything. Landlock prevents signals in newer kernels only.
"""


def settled(bots: Iterable[Program]) -> list[Program]:
    """The bots with the level that each of them gets: `AUTO` becomes the strongest that works.

    Raises `EnvironmentLacksError` where a level that was named does not work on this machine, with the reason
    and the remedy.
    """
    return [replace(bot, isolation=_level(bot)) for bot in bots]


def reason(level: str, user: str = "") -> str:
    """Why a level does not work here for bots of a user, with the remedy; empty where it works."""
    return lacking(level) or _trial(level, user)


def _level(bot: Program) -> str:
    user_of(bot)
    if bot.isolation != AUTO:
        if why := reason(bot.isolation, bot.user):  # guard: named-level
            raise EnvironmentLacksError(
                f"bot `{bot.name}`: isolation `{bot.isolation}` does not work on this machine: {why}"
            )
        return bot.isolation
    return next(level for level in reversed(LEVELS) if level == "basic" or not reason(level, bot.user))


@cache
def _trial(level: str, user: str) -> str:
    """Tries a level. Returns why it does not work, or an empty text."""
    if level in ("none", "basic") and not user:
        return ""
    with tempfile.TemporaryDirectory(prefix=owned.prefix("trial")) as folder, socket.socket() as listening:
        secret = Path(folder) / "secret"
        secret.touch()
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        arguments = (_interpreter(user), "-I", "-S", "-c", _ATTEMPTS)
        command = (*arguments, str(listening.getsockname()[1]), str(os.getpid()))
        # By its environment, since a bot may read the files that its command names.
        bot = Program("trial", command, Path("/"), (("SECRET", str(secret)),), isolation=level, user=user)
        try:
            said, complaints = _run(bot)
        except OSError as error:
            return f"a program could not be started ({error.strerror}: `{shown(error.filename or '', 200)}`)"
    done = said.split("\n")
    if "ended" not in done:
        why = shown(complaints.strip().split("\n")[-1], 200) or "it ended too early"
        return f"a trial failed ({why}){_remedy(level, complaints)}"
    could = {line.removeprefix("could ") for line in done if line.startswith("could ")}
    failed = sorted(could.intersection(_ATTEMPTED_AT.get(level, could)))
    return f"a program could {' and '.join(failed)}" if failed else ""


def _interpreter(user: str) -> str:
    """A Python interpreter that the user can execute."""
    found = shutil.which("python3", path="/usr/bin:/usr/local/bin:/bin") if user else None
    return found or this_python()


def _run(bot: Program) -> tuple[str, str]:
    """Runs a program, and returns what it writes to stdout and stderr. Raises `OSError`."""
    process = BotProcess(bot)
    try:
        said, _ = output_of(process, TRIAL_S)
    finally:
        end_processes([process], grace_s=0)
    return said.decode(errors="replace"), process.complaints.text()


def _remedy(level: str, complaints: str) -> str:
    """Suggests what to do about a failure, as the end of a sentence."""
    if level != "bwrap" or ("namespace" not in complaints and "uid map" not in complaints):
        return ""
    for setting, value in (
        ("kernel/apparmor_restrict_unprivileged_userns", "0"),
        ("kernel/unprivileged_userns_clone", "1"),
        ("user/max_user_namespaces", "10000"),
    ):
        try:
            present = (Path("/proc/sys") / setting).read_text().strip()
        except OSError:
            continue
        if present != value and (value != "10000" or present == "0"):
            return f"; root can allow it: sysctl {setting.replace('/', '.')}={value}"
    return "; this system, or the container that it runs in, does not allow user namespaces"
