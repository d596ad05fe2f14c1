"""What bots can do to others: `python -m tests.tools.attacks [NAME ...] [--level L] [--user U] [--area A]`.

Plays each attack of the catalogue in a tournament of two games against the victim, at each level of
isolation, as root and as an ordinary user, and compares what succeeds with the table in the documentation,
which `--write` replaces. Nothing is attacked but the processes and files of these tournaments.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import json
import os
import pty
import pwd
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import tty
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import product
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from tabulate import tabulate

from referee.processes import tree
from tests.catalogue import ROWS, ways
from tests.catalogue.judging import Area, Outcome, Seen, explodes, harms_run
from tests.catalogue.row import Attack
from tests.command import ROOT
from tests.waiting import TOO_LONG_S

ATTACKS = ways(Attack)
BY_NAME = {attack.name: attack for attack in ATTACKS}

LEVELS = ("basic", "landlock", "bwrap")
"""Those with a column in the table; at `none`, all is as without a referee."""

PAGE = ROOT / "referee" / "processes" / "ISOLATION.md"
"""The documentation that has the table."""

ROOT_USER, ORDINARY, SEPARATE = "root", "ordinary", "separate"
USERS = (ROOT_USER, ORDINARY, SEPARATE)
"""Root; an ordinary user; root, with each bot as another ordinary user."""

THROW_AWAY = 64_998
"""Nobody's: a bot of this user may kill all that it can."""

SYSTEM_PATH = "/usr/local/bin:/usr/bin:/bin"

SEPARATE_USERS = ("games", "nobody")
"""The users of the victim and of the attacker, where root runs them as others."""

HANGS_S = 45.0
"""A run that takes longer hangs, or longer than `LONG_S` where bombs go off."""
LONG_S = 120.0

MAX_SEGMENTS = 17
"""How many segments of shared memory of System V an attacker makes at most, with consecutive keys."""

UNHARMED_MS = 1000
"""The longest that the victim may be kept from running, and may take for an answer, by its own clock."""

SOURCES = ROOT / "tests" / "bots" / "attacks"
PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable
"""The bots' interpreter: one that every user can read, where there is one."""

COMMANDS: dict[str, tuple[str, ...]] = {
    "Python": (PYTHON, "-I", "-S", "attacker.py"),
    "C": ("./attacker",),
}

BEGIN, END = "<!-- attacks: begin -->", "<!-- attacks: end -->"
"""What the tables stand between in the documentation."""

Cells = dict[tuple[str, str, str], Outcome]
"""What came of an attack, by its name, level and user."""


class Users(NamedTuple):
    """Whose processes the referee and its bots are; None is who runs this, and whoever runs the referee."""

    referee: int | None
    victim: str | None = None
    attacker: str | None = None


def users_here() -> dict[str, Users]:
    """The kinds of users that this process can play."""
    if os.geteuid():
        return {ORDINARY: Users(None)}
    found = {ROOT_USER: Users(None), ORDINARY: Users(THROW_AWAY)}
    if _knows_users():
        found[SEPARATE] = Users(None, *SEPARATE_USERS)
    return found


@cache
def _help() -> str:
    command = [sys.executable, "-m", "referee", "run", "--help"]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout


def _knows_users() -> bool:
    from referee.tournament.file import keys

    return "user" in keys.BOT


def levels_here() -> tuple[str, ...]:
    """The levels that the referee knows; without the option there is only one."""
    return LEVELS if "--isolation" in _help() else ("basic",)


def missing(language: str) -> str:
    """The program that a language lacks on this machine; empty if none."""
    return "cc" if language == "C" and shutil.which("cc") is None else ""


# --- A place to play in ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Lab:
    """A folder that all users can read, with a copy of the checkout and the programs of the bots."""

    folder: Path
    built: set[str] = field(default_factory=set)
    compiled: set[str] = field(default_factory=set)
    """The interpreters that the checkout is compiled for."""
    number: int = 0

    @property
    def checkout(self) -> Path:
        return self.folder / "checkout"

    def compile(self, interpreter: str) -> None:
        """Compiles the checkout, where users who cannot write may run it: else each run would do that."""
        if interpreter not in self.compiled:
            self.compiled.add(interpreter)
            subprocess.run([interpreter, "-m", "compileall", "-q", self.checkout], check=True)

    def programs(self, language: str) -> Path:
        """The folder with the attackers, built if need be."""
        folder = self.folder / "programs"
        if language not in self.built:
            self.built.add(language)
            if language == "C":
                program = folder / "attacker"
                subprocess.run(["cc", "-O1", "-o", program, folder / "attacker.c", "-lrt"], check=True)
                shutil.copy(program, folder / "set_user")
                if os.geteuid() == 0:
                    (folder / "set_user").chmod(0o4755)
        return folder


@contextlib.contextmanager
def lab() -> Iterator[Lab]:
    """A lab that is removed at the end."""
    folder = Path(tempfile.mkdtemp(prefix="referee-attacks-"))
    folder.chmod(0o755)
    made = Lab(folder)
    try:
        ignored = shutil.ignore_patterns("__pycache__", ".git", ".venv", ".*_cache", "golden_games")
        shutil.copytree(ROOT / "referee", made.checkout / "referee", ignore=ignored)
        shutil.copytree(SOURCES, folder / "programs", ignore=ignored)
        yield made
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@cache
def _interpreter(user: int | None) -> tuple[str, str]:
    """An interpreter for the referee that this user may run, and the folder of the packages that it needs.

    Raises `LookupError` if there is none.
    """
    import click

    packages = str(Path(click.__file__).parent.parent)
    test = "import click, numpy, rich, tabulate"
    for program in (sys.executable, PYTHON):
        command = [program, "-B", "-c", test]
        env = {"PATH": os.environ["PATH"], "PYTHONPATH": packages}
        with contextlib.suppress(OSError):
            done = subprocess.run(command, user=user, group=user, env=env, capture_output=True, cwd="/")
            if done.returncode == 0:
                return program, packages
    raise LookupError(f"user {user} cannot run the referee: no interpreter with its packages is readable")


# --- What listens for the attackers ------------------------------------------------------------------------


class Listeners:
    """Servers and places at which a token may arrive."""

    def __init__(self, token: str, folder: Path, received: set[str]) -> None:
        self._token = token.encode()
        self._received = received
        self._open = True
        self._tcp = socket.create_server(("127.0.0.1", 0))
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        self._path = socket.socket(socket.AF_UNIX)
        self.socket = folder / "socket"
        self._path.bind(str(self.socket))
        self.socket.chmod(0o777)
        self._path.listen()
        self._abstract = socket.socket(socket.AF_UNIX)
        if sys.platform == "linux":
            self._abstract.bind(b"\0" + self._token)
            self._abstract.listen()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.free_port = free.getsockname()[1]
        for server in (self._tcp, self._udp, self._path, self._abstract):
            server.setblocking(False)
        self.key = int.from_bytes(self._token[-4:], "big") & 0x7FFF_FFFF

    def look(self) -> None:
        """Notes what has arrived."""
        for name, server in (("tcp", self._tcp), ("path", self._path), ("abstract", self._abstract)):
            with contextlib.suppress(OSError):
                connection = server.accept()[0]
                self._hear(name, connection)
        with contextlib.suppress(OSError):
            if self._token in self._udp.recv(1000):
                self._received.add("udp")
        with contextlib.suppress(OSError):
            self._hear("listen", socket.create_connection(("127.0.0.1", self.free_port), 0.2))

    def _hear(self, name: str, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(1)
            with contextlib.suppress(OSError):
                if self._token in connection.recv(1000):
                    self._received.add(name)

    def close(self) -> None:
        for server in (self._tcp, self._udp, self._path, self._abstract):
            server.close()


def _look_at_places(token: str, key: int, places: dict[str, Path], received: set[str]) -> None:
    """Notes in which of these files and channels of the system the token is."""
    for name, path in places.items():
        with contextlib.suppress(OSError):
            if path.name == token or token in path.read_text(errors="replace"):
                path.stat()
                received.add(name)
    for name, kind in (("sysv-memory", "shm"), ("sysv-messages", "msg")):
        with contextlib.suppress(OSError):
            rows = Path(f"/proc/sysvipc/{kind}").read_text().splitlines()[1:]
            if any(int(row.split()[0]) == key for row in rows):
                received.add(name)
    with contextlib.suppress(OSError), open("/usr/bin/env", "rb") as file:  # noqa: PTH123
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            received.add("flock")


KEY_SEARCH = """
import ctypes, sys
libc = ctypes.CDLL(None)
found = libc.syscall(250, 10, -4, b"user", sys.argv[1].encode(), 0)
queue = ctypes.CDLL(None).mq_open(("/" + sys.argv[1]).encode(), 0)
if found >= 0:
    print("key")
    libc.syscall(250, 9, found, -4)
if queue >= 0:
    print("queue")
    ctypes.CDLL(None).mq_unlink(("/" + sys.argv[1]).encode())
"""


def _ask_kernel(token: str, user: int | None) -> set[str]:
    """Which of the key ring and the message queues of this user have the token; they are removed."""
    command = [PYTHON, "-I", "-S", "-c", KEY_SEARCH, token]
    done = subprocess.run(command, user=user, group=user, capture_output=True, text=True, cwd="/")
    return set(done.stdout.split())


def _remove_channels(key: int) -> None:
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    if (queue := libc.msgget(key, 0)) >= 0:
        libc.msgctl(queue, 0, None)
    for number in range(MAX_SEGMENTS):
        if (segment := libc.shmget(key + number, 0, 0)) >= 0:
            libc.shmctl(segment, 0, None)


# --- Processes ---------------------------------------------------------------------------------------------


def _words(pid: int) -> list[str]:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    return []


def _variable(pid: int, name: str) -> str:
    """A variable of the process's environment; empty if it is not set."""
    with contextlib.suppress(OSError):
        for text in Path(f"/proc/{pid}/environ").read_bytes().decode(errors="replace").split("\0"):
            if text.startswith(f"{name}="):
                return text.removeprefix(f"{name}=")
    return ""


def _parent(pid: int) -> int:
    with contextlib.suppress(OSError, IndexError):
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _with_word(word: str) -> dict[int, list[str]]:
    """The processes that have this argument, with all of their arguments."""
    pids = {int(path.name) for path in Path("/proc").glob("[0-9]*")} - {os.getpid()}
    return {pid: words for pid in pids if word in (words := _words(pid))}


def _above(pid: int, last: int) -> list[int]:
    """The process's parents, up to the last; programs that only enclose it are left out. Empty if it does
    not descend from the last.
    """
    found = []
    while pid > 1:
        pid = _parent(pid)
        if not (words := _words(pid)) or Path(words[0]).name != "bwrap":
            found.append(pid)
        if pid == last:
            return found
    return []


def _address(pid: int, secret: bytes) -> int:
    """Where in a process's memory the secret stands; 0 if nowhere yet."""
    with (
        contextlib.suppress(OSError),
        open(f"/proc/{pid}/maps") as maps,  # noqa: PTH123
        open(f"/proc/{pid}/mem", "rb", 0) as memory,  # noqa: PTH123
    ):
        for line in maps:
            if " rw-p " in line:
                first, last = (int(part, 16) for part in line.split()[0].split("-"))
                memory.seek(first)
                with contextlib.suppress(OSError):
                    at = memory.read(min(last - first, 64 << 20)).find(secret)
                    if at >= 0:
                        return first + at
    return 0


def _handle(path: Path) -> tuple[int, str]:
    """The kernel's handle of a file, which opens it without its path where that is allowed."""

    class Handle(ctypes.Structure):
        _fields_ = (("size", ctypes.c_uint), ("type", ctypes.c_int), ("bytes", ctypes.c_ubyte * 128))

    handle, mount = Handle(128), ctypes.c_int()
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "name_to_handle_at"):
        return 0, ""
    if libc.name_to_handle_at(-100, os.fsencode(path), ctypes.byref(handle), ctypes.byref(mount), 0):
        return 0, ""
    return handle.type, bytes(handle.bytes[: handle.size]).hex()


# --- One run -----------------------------------------------------------------------------------------------


class Trial:
    """One tournament of two games with an attack in it."""

    def __init__(self, place: Lab, attacks: tuple[Attack, ...], level: str, users: Users) -> None:
        place.number += 1
        self._lab = place
        self._attack = attacks[0]
        """In all that matters to the run, the others are like the first."""
        self._names = ",".join(attack.name for attack in attacks)
        self._verified = any(attack.judge in (harms_run, explodes) for attack in attacks)
        self._level = level
        self._users = users
        self.folder = place.folder / f"trial-{place.number}"
        self._token = f"token{secrets.token_hex(8)}"
        self._seen = Seen()
        self._secrets = {
            kind: f"{kind.upper()}-SECRET-{secrets.token_hex(8)}"
            for kind in ("argument", "environment", "source", "operator", "home")
        }
        hashed = hashlib.sha256(self._secrets["argument"].encode()).hexdigest()[:16]
        self._secrets["memory"] = f"MEMORY-SECRET-{hashed}"
        self._secrets["scratch"] = f"SCRATCH-SECRET-{hashed}"
        self._scratch: set[Path] = set()
        self._attacker, self._victim, self._home, self._run = (
            self.folder / name for name in ("attacker", "victim", "home", "run")
        )
        self._results = self._run / "results"
        self._screen = b""

    def play(self) -> Seen:
        """Plays it, and removes all that it left behind."""
        self._prepare()
        listeners = Listeners(self._token, self.folder, self._seen.received)
        master = slave = None
        if self._attack.terminal:
            master, slave = pty.openpty()
            tty.setraw(slave)
            os.set_blocking(master, False)
            if self._users.referee is not None:
                os.fchown(slave, self._users.referee, -1)
        process = self._start(slave)
        try:
            self._watch(process, listeners, master, os.ttyname(slave) if slave is not None else "")
            self._look_at_survivors(process)
            self._judge_results()
        finally:
            self._end(process, listeners)
            for end in (master, slave):
                if end is not None:
                    if end == slave:
                        self._read_typed(slave)
                    os.close(end)
            for path in (Path("/dev/shm") / self._token, Path("/tmp") / self._token, *self._scratch):
                path.unlink(missing_ok=True)
            _remove_channels(listeners.key)
            shutil.rmtree(self.folder, ignore_errors=True)
        return self._seen

    def _prepare(self) -> None:
        shutil.copytree(self._lab.programs(self._attack.language), self._attacker)
        if (self._attacker / "set_user").exists():
            (self._attacker / "set_user").chmod(0o4755)
        for folder in (self._victim, self._home / ".ssh", self._run):
            folder.mkdir(parents=True)
        source = (SOURCES / "victim.py").read_text() + f"# {self._secrets['source']}\n"
        (self._victim / "victim.py").write_text(source)
        (self._home / ".ssh" / "id_test").write_text(self._secrets["home"] + "\n")
        (self._home / ".ssh" / "id_test").chmod(0o600)
        (self._home / ".profile").write_text("\n")
        code = self._lab.checkout / "referee" / "__main__.py"
        victim: dict[str, Any] = {
            "name": "victim",
            "cmd": [PYTHON, "victim.py", self._secrets["argument"]],
            "cwd": str(self._victim),
            "env": {"SECRET": self._secrets["environment"]},
        }
        program = COMMANDS[self._attack.language]
        attacker: dict[str, Any] = {
            "name": "attacker",
            "cmd": [*program, self._names, str(self._attack.game)],
            "cwd": str(self._attacker),
        }
        main = {
            "game": "blooms",
            "clock": self._attack.clock,
            "start": "30s",
            "workers": 1,
            "keep": self._attack.keep,
            "processes": self._attack.processes,
        }
        if self._users.victim is not None and self._users.attacker is not None:
            victim["user"], attacker["user"] = self._users.victim, self._users.attacker
        lines = ["[tournament]", *(f"{key} = {json.dumps(value)}" for key, value in main.items())]
        lines += ["[options]", "size = 4", "[limits]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in self._attack.limits.items()]
        for bot in (victim, attacker):
            env = bot.pop("env", None)
            lines += ["[[bot]]", *(f"{key} = {json.dumps(value)}" for key, value in bot.items())]
            if env:
                lines += ["env = {" + ", ".join(f"{k} = {json.dumps(v)}" for k, v in env.items()) + "}"]
        (self._run / "t.toml").write_text("\n".join(lines) + "\n")
        owner = self._users.referee
        if owner is not None:
            for path in [self.folder, *self.folder.rglob("*")]:
                if path.name != "set_user":
                    os.chown(path, owner, owner)
            os.chown(code, owner, owner)
        elif os.geteuid() == 0:
            os.chown(code, 0, 0)

    def _start(self, terminal: int | None) -> subprocess.Popen[bytes]:
        program, packages = _interpreter(self._users.referee)
        self._lab.compile(program)
        command = [program, "-B", "-m", "referee", "run", str(self._run / "t.toml"), "-o", str(self._results)]
        if "--isolation" in _help():
            command += ["--isolation", self._level]
        env = {
            "PATH": os.environ["PATH"] if self._users.referee is None else SYSTEM_PATH,
            "HOME": str(self._home),
            "LANG": "C.UTF-8",
            "TERM": "xterm",
            "PYTHONPATH": f"{self._lab.checkout}:{packages}",
            "OPERATOR": self._secrets["operator"],
        }
        user = self._users.referee
        out = self.folder / "out"
        with out.open("wb") as file:

            def on_terminal() -> None:
                if terminal is not None:
                    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

            return subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL if terminal is None else terminal,
                stdout=file if terminal is None else terminal,
                stderr=file if terminal is None else terminal,
                cwd=self._lab.checkout,
                env=env,
                user=user,
                group=user,
                extra_groups=None if user is None else [],
                start_new_session=True,
                preexec_fn=on_terminal,
            )

    def _watch(
        self, process: subprocess.Popen[bytes], listeners: Listeners, master: int | None, terminal: str
    ) -> None:
        """Tells the attacker what it needs to know, and waits for the end of the run."""
        told = 0
        patience_s = LONG_S if self._attack.area in (Area.RESOURCES, Area.HIDDEN) else HANGS_S
        hangs_s = time.monotonic() + patience_s
        places = {
            "tmp": Path("/tmp") / self._token,
            "shm": Path("/dev/shm") / self._token,
            "folder": self._attacker / self._token,
            "home": self._home / ".profile",
            "code": self._lab.checkout / "referee" / "__main__.py",
            "tournament": self._run / "t.toml",
            "program": self._victim / "victim.py",
        }
        while process.poll() is None and time.monotonic() < hangs_s:
            listeners.look()
            _look_at_places(self._token, listeners.key, places, self._seen.received)
            self._read_screen(master)
            if tree.is_dead(told) and (targets := self._targets(process.pid, listeners, terminal)):
                told = int(targets["VICTIM"])
                text = "".join(f"{key}={value}\n" for key, value in targets.items())
                draft = self._attacker / "draft"
                draft.write_text(text + "END=1\n")
                draft.chmod(0o644)
                draft.rename(self._attacker / "targets")
            time.sleep(0.03)
        self._seen.code = process.poll()
        _look_at_places(self._token, listeners.key, places, self._seen.received)
        self._read_screen(master)
        attacker = self._users.attacker
        uid = pwd.getpwnam(attacker).pw_uid if attacker else self._users.referee
        self._seen.received |= _ask_kernel(self._token, uid)
        self._seen.output = (self.folder / "out").read_text(errors="replace")

    def _targets(self, referee: int, listeners: Listeners, terminal: str) -> dict[str, str]:
        """All that an attacker could find out or guess; empty as long as the victim is not there."""
        wanted = [PYTHON, "victim.py", self._secrets["argument"]]
        for pid, words in _with_word(self._secrets["argument"]).items():
            if words != wanted or not (above := _above(pid, referee)):
                continue
            if not (address := _address(pid, self._secrets["memory"].encode())):
                continue
            wanted = [*COMMANDS[self._attack.language], self._names, str(self._attack.game)]
            attackers = [one for one, its in _with_word(self._names).items() if its[1:] == wanted[1:]]
            own = next((chain for one in attackers if (chain := _above(one, referee))), above)
            scratch = _variable(pid, "TMPDIR") or "/tmp"
            scratch += f"/victim-{self._secrets['memory'][-16:]}"
            self._scratch.add(Path(scratch))
            kind, handle = _handle(self._victim / "victim.py")
            groups = [Path("/sys/fs/cgroup/unified/cgroup.procs"), Path("/sys/fs/cgroup/cgroup.procs")]
            return {
                "VICTIM": str(pid),
                "VICTIM_WARDEN": str(above[0]),
                "WARDEN": str(own[0]),
                "LAUNCHER": str(above[1] if len(above) > 2 else above[-1]),
                "WORKER": str(above[2] if len(above) > 2 else above[-1]),
                "REFEREE": str(referee),
                "SECRET_ADDRESS": f"{address:x}",
                "VICTIM_SOURCE": str(self._victim / "victim.py"),
                "VICTIM_SCRATCH": scratch,
                "SOURCE_HANDLE": handle,
                "SOURCE_HANDLE_TYPE": str(kind),
                "RESULTS": str(self._results),
                "TOURNAMENT": str(self._run / "t.toml"),
                "REFEREE_CODE": str(self._lab.checkout / "referee" / "__main__.py"),
                "ATTACKER_FOLDER": str(self._attacker),
                "HOME_OF_USER": str(self._home),
                "TOKEN": self._token,
                "PORT": str(listeners.port),
                "FREE_PORT": str(listeners.free_port),
                "SOCKET": str(listeners.socket),
                "KEY": str(listeners.key),
                "TERMINAL": terminal,
                "THROW_AWAY": str(THROW_AWAY),
                "CONTROL_GROUP": str(next((group for group in groups if group.exists()), groups[-1])),
            }
        return {}

    def _read_screen(self, master: int | None) -> None:
        if master is None:
            return
        with contextlib.suppress(OSError):
            while data := os.read(master, 65_536):
                self._screen += data
        if re.search(rb"\x1b[^\x1b\n]*" + self._token.encode(), self._screen):
            self._seen.received.add("terminal")

    def _read_typed(self, slave: int) -> None:
        """What was typed into the terminal as if by its user."""
        os.set_blocking(slave, False)
        with contextlib.suppress(OSError):
            if self._token.encode() in os.read(slave, 65_536):
                self._seen.received.add("typed")

    def _look_at_survivors(self, process: subprocess.Popen[bytes]) -> None:
        """Those that are there a little after the referee's end."""
        if process.poll() is None:
            return
        deadline = time.monotonic() + 3
        while (left := self._left()) and time.monotonic() < deadline:
            time.sleep(0.05)
        self._seen.survivors = len(left)

    def _left(self) -> set[int]:
        """What is left of the bots: by their words, and of those that were once seen."""
        words = {*_with_word(self._token), *_with_word(self._secrets["argument"])}
        return {pid for pid in words if not tree.is_dead(pid)}

    def _judge_results(self) -> None:
        """Reads the records, if they are still there."""
        seen = self._seen
        seen.secrets = dict(self._secrets)
        rows: list[dict[str, Any]] = []
        with contextlib.suppress(OSError, ValueError):
            path = self._results / "games.jsonl"
            if path.is_file():
                rows = [json.loads(line) for line in path.read_text().splitlines()]
        for row in rows:
            if len(str(row.get("seed", ""))) > 8 and row.get("kind") != "game":
                seen.secrets["seed"] = str(row["seed"])
        games = [row for row in rows if row.get("kind") == "game" and "bots" in row]
        losses: list[str] = []
        for game in games:
            try:
                self._judge_game(game, losses)
            except (KeyError, ValueError, TypeError, IndexError) as error:
                losses.append(f"damaged record: {error!r}")
        seen.losses = "; ".join(dict.fromkeys(losses))
        won = [game["ranks"][game["bots"].index("victim")] == 1 for game in games if "ranks" in game]
        seen.intact = len(won) == 2 and all(won) and (seen.code != 0 or self._verifies())

    def _judge_game(self, game: dict[str, Any], losses: list[str]) -> None:
        victim = game["bots"].index("victim")
        if game["faults"][victim]:
            losses.append(f"lost by {game['faults'][victim]}")
        texts = []
        for seat in (victim, 1 - victim):
            own = game["measured"]["seats"][seat]
            texts.append("\n".join(json.dumps(own[key]) for key in ("stderr", "log", "noise") if key in own))
        self._seen.report = (self._seen.report or "") + texts[1].replace("\\n", "\n").replace("\\\\", "\\")
        for found in re.finditer(r"VICTIM (\{.*?\})(?=\\n|\"|$)", texts[0].replace('\\"', '"')):
            told = json.loads(found[1])
            if told["changed"]:
                losses.append(f"changed: {json.dumps(told['changed'])}")
            if told["signals"]:
                losses.append(f"signals: {told['signals']}")
            if not told["can_fork"]:
                losses.append("cannot start processes")
            if max(told["pause_ms"], told["answer_ms"]) > UNHARMED_MS:
                losses.append(f"paused {told['pause_ms']} ms, answered in {told['answer_ms']} ms")

    def _verifies(self) -> bool:
        if not self._verified:
            return True  # nobody asks
        program, packages = _interpreter(None)
        done = subprocess.run(
            [program, "-B", "-m", "referee", "verify", str(self._results)],
            cwd=self._lab.checkout,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{self._lab.checkout}:{packages}"},
            capture_output=True,
            timeout=TOO_LONG_S,
        )
        return done.returncode == 0

    def _end(self, process: subprocess.Popen[bytes], listeners: Listeners) -> None:
        """Ends all that is left, each by its id."""
        below = tree.descendants(process.pid) if process.poll() is None else []
        for pid in {*below, *self._left(), *({process.pid} if process.poll() is None else ())}:
            for number in (signal.SIGKILL, signal.SIGCONT):
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
        process.wait()
        listeners.close()
        code = self._lab.checkout / "referee" / "__main__.py"
        shutil.copy(ROOT / "referee" / "__main__.py", code)


def groups(
    attacks: Iterable[Attack], company: Callable[[Attack], object] = attrgetter("company")
) -> list[tuple[Attack, ...]]:
    """The attacks, those together that are tried in the same game: of which the company is equal."""
    found: dict[object, list[Attack]] = {}
    for attack in attacks:
        found.setdefault(company(attack), []).append(attack)
    return [tuple(group) for group in found.values()]


def play(place: Lab, attacks: tuple[Attack, ...], level: str, user: str) -> dict[str, tuple[Outcome, Seen]]:
    """Plays attacks that share a game at a level as a user, and judges each."""
    users, first = users_here().get(user), attacks[0]
    if users is None or missing(first.language) or (first.only and first.only != user):
        return {attack.name: (Outcome.NOT_TRIED, Seen()) for attack in attacks}
    seen = Trial(place, attacks, level, users).play()
    if seen.code == 5 and "isolation" in seen.output:
        return {attack.name: (Outcome.NOT_TRIED, seen) for attack in attacks}
    parts = re.split(r"ATTACK tries (\S+)\n", seen.report or "")
    reports = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {
        attack.name: _judged(attack, replace(seen, report=reports.get(attack.name))) for attack in attacks
    }


def _judged(attack: Attack, seen: Seen) -> tuple[Outcome, Seen]:
    judged = attack.judge(seen)
    if seen.report is None and (judged is Outcome.STOPPED or "lost by start" in seen.losses):
        return Outcome.UNCLEAR, seen
    return judged, seen


# --- The table ---------------------------------------------------------------------------------------------


ALL = "all"
"""In a cell: as each kind of user."""


def kinds(attack: Attack) -> tuple[str, ...]:
    """The kinds of users that an attack is tried as."""
    return (attack.only,) if attack.only else USERS


def cell(outcomes: dict[str, Outcome]) -> str:
    """What came of an attack at one level, by user: those as whom it succeeds, behind a colon those of whom
    something else is true; empty where it is stopped.
    """
    parts = []
    for what in dict.fromkeys(outcomes.values()):
        users = [user for user, own in outcomes.items() if own is what]
        named = ALL if len(users) == len(outcomes) else ", ".join(users)
        if what is not Outcome.STOPPED:
            parts.append(named if what is Outcome.SUCCEEDS else f"{what}: {named}")
    return "; ".join(parts)


def outcomes_in(text: str, users: Iterable[str]) -> dict[str, Outcome]:
    """What a cell of the table says of these users."""
    found = dict.fromkeys(users, Outcome.STOPPED)
    for part in filter(None, text.split("; ")):
        word, _, named = part.rpartition(": ")
        for user in found if named == ALL else named.split(", "):
            found[user] = Outcome(word or Outcome.SUCCEEDS)
    return found


def markdown(cells: Cells) -> str:
    """What the documentation says: a table of attacks with an effect, those together that are directed at the
    same and have the same effect, those explained that succeed in confinement, and a list of what no attack
    achieves.
    """
    effective: dict[Area, dict[str, list[str]]] = {area: {} for area in Area}
    succeeding = set[str]()
    for row in ROWS:
        for attack in (way for way in row.ways if isinstance(way, Attack)):
            found = [
                cell(
                    {user: cells.get((attack.name, level, user), Outcome.NOT_TRIED) for user in kinds(attack)}
                )
                for level in LEVELS
            ]
            if any(found):
                explained = attack.what and any(found[1:])
                named = f"`{attack.name}`: {attack.what}" if explained else f"`{attack.name}`"
                effective[attack.area].setdefault(" | ".join(found), []).append(named)
                succeeding.add(row.name)
    lines = [f"| attack | {' | '.join(LEVELS)} |", "|---|" + "---|" * len(LEVELS)]
    for area, rows in effective.items():
        for effect, names in rows.items():
            lines.append(re.sub(" +", " ", f"| **{area}**: {'; '.join(names)} | {effect} |"))
    lines += ["", "Every level stops all other attacks, such as those in which a bot", ""]
    attempts = (row.name for row in ROWS if any(isinstance(way, Attack) for way in row.ways))
    lines += [f"- {name}," for name in attempts if name not in succeeding]
    return "\n".join(lines).removesuffix(",") + "."


def table(page: str) -> Cells:
    """What a page of the documentation says of each attack: one that its table lacks is stopped."""
    text = page.partition(BEGIN)[2].partition(END)[0]
    named = {name: [""] * len(LEVELS) for name in BY_NAME}
    for names, row in re.findall(r"^\| (\*\*[^|]*)\|(.*)\|$", text, re.MULTILINE):
        effect = [part.strip() for part in row.split("|")]
        named |= dict.fromkeys(re.findall(r"[:;] `([\w-]+)`", names), effect)
    return {
        (name, level, user): what
        for name, row in named.items()
        for level, text in zip(LEVELS, row, strict=True)
        for user, what in outcomes_in(text, kinds(BY_NAME[name]) if name in BY_NAME else USERS).items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--level", action="append", choices=LEVELS)
    parser.add_argument("--user", action="append", choices=USERS)
    parser.add_argument("--area", action="append", choices=list(Area))
    parser.add_argument("--write", action="store_true", help="into the documentation")
    parser.add_argument("--reports", action="store_true", help="what was seen of each")
    given = parser.parse_args()
    if unknown := set(given.names) - {attack.name for attack in ATTACKS}:
        parser.error(f"no such attack: {', '.join(unknown)}")
    levels = tuple(given.level or levels_here())
    users = tuple(given.user or users_here())
    cells: Cells = {}
    chosen = [
        attack
        for attack in ATTACKS
        if (not given.names or attack.name in given.names) and (not given.area or attack.area in given.area)
    ]
    with lab() as place:
        for group, level, user in product(groups(chosen), levels, users):
            for name, (what, seen) in play(place, group, level, user).items():
                cells[name, level, user] = what
                print(f"{name:24} {level:9} {user:9} {what}", file=sys.stderr)
                if given.reports or what is Outcome.UNCLEAR:
                    print(f"  exit {seen.code}; intact {seen.intact}; {seen.losses}", file=sys.stderr)
                    print(f"  {(seen.report or '')[:1500]}\n  {seen.output[-1500:]}", file=sys.stderr)
    page = PAGE.read_text()
    before = table(page)
    tried = {key: what for key, what in cells.items() if what is not Outcome.NOT_TRIED}
    rows = [[*key, what, before.get(key, "")] for key, what in tried.items() if before.get(key) != what]
    if given.write:
        head, _, rest = page.partition(BEGIN)
        new = f"{head}{BEGIN}\n{markdown({**before, **cells})}\n{END}{rest.partition(END)[2]}"
        PAGE.write_text(new)
    print(tabulate(rows, headers=["attack", "level", "user", "now", "in the table"]))
    sys.exit(1 if rows and not given.write else 0)


if __name__ == "__main__":
    main()
