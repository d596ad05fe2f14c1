"""The closed list of attacks that a bot can try from inside a game, and how their success is judged.

The programs are in `tests/bots/attacks/`; `attacks.py` plays the games. Success is judged by what is seen
outside: a secret that the attacker could name, a victim that lost or was changed, a token that arrived where
it should not. Only where an attack has no effect but for the right to do something, its own word is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from operator import attrgetter


class Outcome(StrEnum):
    """What came of an attack."""

    STOPPED = "stopped"
    NOTICED = "noticed"
    """It did harm, and the run ended with an error that says so."""
    SUCCEEDS = "succeeds"
    HANGS = "hangs"
    """The run did not end."""
    NOT_TRIED = "not tried"
    UNCLEAR = "unclear"
    """The attacker did not come so far as to try: a fault of the test."""


class Area(StrEnum):
    """What an attack is directed at."""

    OPPONENT = "opponent"
    REFEREE = "referee"
    RESULTS = "results"
    HIDDEN = "hidden information"
    NETWORK = "network"
    CHANNEL = "channel to others"
    USER = "user's files"
    TERMINAL = "terminal"
    MACHINE = "machine"
    RESOURCES = "resources"


@dataclass(slots=True)
class Seen:
    """What was seen of a run with an attack."""

    code: int | None = None
    """How the referee exited; None where it did not and was killed."""
    output: str = ""
    report: str | None = None
    """What the attacker reported; None where it did not come so far."""
    secrets: dict[str, str] = field(default_factory=dict)
    """The secrets that the attacker has no right to know, by where they are kept."""
    received: set[str] = field(default_factory=set)
    """Where the attacker's token arrived."""
    survivors: int = 0
    """Processes of the attacker that outlived the referee."""
    intact: bool = False
    """Whether the records verify and the victim has won both games in them."""
    losses: str = ""
    """The faults by which the victim lost, and what was done to it."""


Judge = Callable[[Seen], Outcome]


def outcome(succeeds: bool) -> Outcome:
    return Outcome.SUCCEEDS if succeeds else Outcome.STOPPED


def reads(secret: str) -> Judge:
    """The attacker reported the secret that is kept there."""
    return lambda seen: outcome(
        bool(seen.secrets.get(secret)) and seen.secrets[secret] in (seen.report or "")
    )


def arrives(where: str) -> Judge:
    """The token arrived."""
    return lambda seen: outcome(where in seen.received)


def harms_victim(seen: Seen) -> Outcome:
    """The victim lost, or something about its process was changed."""
    if seen.code is None:
        return Outcome.HANGS
    return Outcome.NOTICED if seen.code and not seen.losses else outcome(bool(seen.losses))


def harms_run(seen: Seen) -> Outcome:
    """The run hangs, fails, or has other results than it should."""
    if seen.code is None:
        return Outcome.HANGS
    if seen.code != 0:
        return Outcome.NOTICED
    return outcome(not seen.intact or bool(seen.losses))


def outlives(seen: Seen) -> Outcome:
    """A process of the attacker is there when the referee is gone."""
    return outcome(seen.survivors > 0)


def by_its_word(seen: Seen) -> Outcome:
    """The attacker says that it was allowed to."""
    return outcome("ATTACK did" in (seen.report or ""))


def explodes(seen: Seen) -> Outcome:
    """The victim was harmed, or nothing stopped the attacker before the bound that it sets itself."""
    if seen.code is None:
        return Outcome.HANGS
    return outcome(bool(seen.losses) or not seen.intact or "ATTACK did" in (seen.report or ""))


@dataclass(frozen=True, slots=True)
class Attack:
    """An attack that a program of `tests/bots/attacks/` knows by its name."""

    name: str
    language: str
    area: Area
    what: str
    judge: Judge
    game: int = 1
    """In which game of the encounter it is tried."""
    clock: str = "4s"
    keep: str = "nothing"
    """Which dialogues the referee keeps."""
    processes: str = "encounter"
    """How long the bots' processes are kept."""
    limits: Mapping[str, str] = field(default_factory=dict)
    """Limits of both bots that are not the default."""
    terminal: bool = False
    """The referee runs on a terminal."""
    only: str = ""
    """The kind of user that it is only tried as."""

    @property
    def shares(self) -> bool:
        """Whether others can be tried in the same game, since it should harm nobody."""
        alone = (harms_victim, harms_run, outlives, explodes)
        return self.judge not in alone and not self.terminal

    @property
    def company(self) -> tuple[object, ...]:
        """Attacks of which this is equal can share a game."""
        if not self.shares:
            return (self.name,)
        return (self.language, self.game, self.clock, self.keep, self.processes, self.only)


def groups(
    attacks: Iterable[Attack], company: Callable[[Attack], object] = attrgetter("company")
) -> list[tuple[Attack, ...]]:
    """The attacks, those together that are tried in the same game: of which the company is equal."""
    found: dict[object, list[Attack]] = {}
    for attack in attacks:
        found.setdefault(company(attack), []).append(attack)
    return [tuple(group) for group in found.values()]


def _all(language: str, area: Area, *rows: tuple[str, str, Judge], **others: object) -> tuple[Attack, ...]:
    return tuple(Attack(name, language, area, what, judge, **others) for name, what, judge in rows)  # type: ignore[arg-type]


SHORT = "500ms"
"""A clock for attacks after which the referee has to wait for as long as a game may take."""

ATTACKS: tuple[Attack, ...] = (
    *_all(
        "sh",
        Area.OPPONENT,
        ("command-line", "reads the opponent's command line", reads("argument")),
        ("tournament-read", "reads the opponent's settings in the tournament file", reads("environment")),
        ("questions-read", "reads the opponent's questions from `/proc/PID/fd/0`", harms_victim),
        ("move-forged", "answers for the opponent through `/proc/PID/fd/1`", harms_victim),
        ("quit-forged", "tells the opponent to quit through `/proc/PID/fd/0`", harms_victim),
        ("kill", "kills the opponent", harms_victim),
        ("kill-group", "kills the opponent's process group", harms_victim),
        ("oom-score", "makes the opponent the first to be killed when memory runs out", harms_victim),
    ),
    *_all(
        "Java",
        Area.OPPONENT,
        ("environment", "reads the opponent's environment", reads("environment")),
        ("kill-handle", "kills the opponent by a process handle", harms_victim),
    ),
    *_all(
        "JavaScript",
        Area.OPPONENT,
        ("source", "reads the opponent's program", reads("source")),
        ("renice", "lowers the opponent's priority", harms_victim),
    ),
    *_all("Perl", Area.OPPONENT, ("stop", "stops the opponent", harms_victim)),
    *_all(
        "Python",
        Area.OPPONENT,
        ("memory-file", "reads the opponent's memory by `/proc/PID/mem`", reads("memory")),
        ("kill-descriptor", "kills the opponent by a process descriptor", harms_victim),
        ("kill-thread", "kills the opponent by `tgkill`", harms_victim),
        ("affinity", "keeps the opponent to one processor core", harms_victim),
        ("policy", "gives the opponent only idle time", harms_victim),
        ("limits", "takes the opponent's descriptors away by `prlimit`", harms_victim),
        ("program-written", "writes into the opponent's program", arrives("program")),
        ("scratch-read", "reads the opponent's scratch folder", reads("scratch")),
        ("starve", "leaves no process for others of the same user", harms_victim),
    ),
    *_all(
        "Python",
        Area.OPPONENT,
        ("program-renamed", "renames the opponent's program, before its next start", harms_victim),
        ("program-closed", "forbids all access to the opponent's program by `chmod`", harms_victim),
        processes="game",
    ),
    *_all(
        "C",
        Area.OPPONENT,
        ("kill-by-pipe", "has the kernel kill the opponent when a pipe can be read", harms_victim),
        ("memory-call", "reads the opponent's memory by `process_vm_readv`", reads("memory")),
        ("ptrace", "traces the opponent and reads its memory", reads("memory")),
        ("source-handle", "reads the opponent's program by `open_by_handle_at`", reads("source")),
        ("move-taken", "answers for the opponent by `pidfd_getfd`", harms_victim),
        ("warden-exited", "tells the referee that the opponent exited, on its warden's socket", harms_victim),
        ("warden-exceeded", "tells the referee that the opponent broke a limit", harms_victim),
        ("io-priority", "lowers the opponent's priority for input and output", harms_victim),
        ("performance", "watches the opponent by `perf_event_open`", by_its_word),
        ("signal-owner", "has signals sent to the opponent (`F_SETOWN`)", by_its_word),
    ),
    *_all(
        "sh",
        Area.REFEREE,
        ("kill-worker", "kills the referee's worker", harms_run),
        ("kill-launcher", "kills the launcher", harms_run),
        ("kill-warden", "kills the opponent's warden", harms_run),
        ("kill-own-warden", "kills its own warden", harms_run),
        ("stop-launcher", "stops the launcher", harms_run),
        ("program-fifo", "puts a FIFO in place of its program, and exits", harms_run),
        clock=SHORT,
    ),
    *_all(
        "sh",
        Area.REFEREE,
        ("kill-all", "kills all that its user runs", harms_run),
        clock=SHORT,
        only="ordinary",
    ),
    *_all(
        "Perl",
        Area.REFEREE,
        ("stop-worker", "stops the referee's worker", harms_run),
        ("stop-referee", "stops the referee", harms_run),
        ("stop-warden", "stops the opponent's warden", harms_run),
        ("interrupt-referee", "interrupts the referee as Ctrl-C does", harms_run),
        clock=SHORT,
    ),
    *_all(
        "Python",
        Area.REFEREE,
        ("kill-referee", "kills the referee", harms_run),
        ("pipes-filled", "fills the pipes of the worker", harms_run),
        ("pipes-of-referee-filled", "fills the pipes of the referee", harms_run),
        ("limits-of-worker", "takes the worker's descriptors away by `prlimit`", harms_run),
        ("limits-of-referee", "forbids the referee to write files by `prlimit`", harms_run),
        ("referee-code", "writes into the referee's program", arrives("code")),
        ("tournament-file", "writes into the tournament file", arrives("tournament")),
        clock=SHORT,
    ),
    *_all(
        "Python",
        Area.REFEREE,
        ("outlive", "leaves a process behind in a session of its own", outlives),
        ("outlive-warden", "does so and kills its warden", outlives),
        ("outlive-all", "does so and kills launcher and warden", outlives),
        ("outlive-referee", "does so and kills the referee and all of its processes", outlives),
        ("referee-environment", "reads the referee's environment", reads("operator")),
    ),
    *_all(
        "C",
        Area.REFEREE,
        ("inherited", "has descriptors of the referee", by_its_word),
        ("ptrace-worker", "traces the worker", by_its_word),
    ),
    *_all(
        "sh", Area.REFEREE, ("own-environment", "has secrets of the referee's environment", reads("operator"))
    ),
    *_all(
        "Python",
        Area.HIDDEN,
        ("referee-memory", "reads the referee's memory by `/proc/PID/mem`", reads("operator")),
        ("worker-memory", "reads the worker's memory", reads("operator")),
        ("warden-memory", "reads the memory of the opponent's warden", reads("operator")),
        clock="20s",
    ),
    *_all(
        "JavaScript",
        Area.HIDDEN,
        ("results-read", "reads the seed in the results", reads("seed")),
        game=2,
    ),
    *_all(
        "sh",
        Area.RESULTS,
        ("results-append", "appends a line to the results", harms_run),
        ("results-empty", "empties the results", harms_run),
        ("results-replace", "puts a copy in place of the results", harms_run),
        ("results-remove", "removes the results", harms_run),
        ("results-lock", "removes the results' lock", harms_run),
        game=2,
    ),
    *_all(
        "sh",
        Area.RESULTS,
        ("results-fifo", "puts a FIFO in place of the dialogues", harms_run),
        game=2,
        keep="all",
    ),
    *_all(
        "Python",
        Area.RESULTS,
        ("results-rewrite", "turns the first result round and makes the chain anew", harms_run),
        ("results-rename", "renames the folder of the results", harms_run),
        ("results-truncate", "cuts the results off", harms_run),
        ("results-closed", "forbids all access to the results' folder by `chmod`", harms_run),
        ("results-listed", "lists the folder of the results", by_its_word),
        game=2,
    ),
    *_all(
        "Python",
        Area.CHANNEL,
        ("results-measured", "sees how long the results are (`stat`), by the full path", by_its_word),
        game=2,
    ),
    *_all("Python", Area.NETWORK, ("connections", "lists the machine's connections", by_its_word)),
    *_all("JavaScript", Area.NETWORK, ("tcp", "connects to a server by TCP", arrives("tcp"))),
    *_all("Java", Area.NETWORK, ("tcp-listen", "is a server for TCP", arrives("listen"))),
    *_all("Perl", Area.NETWORK, ("udp", "sends a datagram by UDP", arrives("udp"))),
    *_all(
        "C",
        Area.NETWORK,
        ("raw-socket", "has a raw socket", by_its_word),
        ("packet-socket", "has a packet socket", by_its_word),
        ("interfaces", "lists the machine's network interfaces", by_its_word),
        ("exotic-socket", "has a socket of a rare family (AF_ALG)", by_its_word),
        ("machine-socket", "has a socket to the host of a virtual machine (vsock)", by_its_word),
        ("rings", "does input and output by `io_uring`", by_its_word),
    ),
    *_all("Perl", Area.CHANNEL, ("abstract-socket", "connects to an abstract socket", arrives("abstract"))),
    *_all("Python", Area.CHANNEL, ("path-socket", "connects to a socket in a folder", arrives("path"))),
    *_all(
        "sh",
        Area.CHANNEL,
        ("tmp-file", "writes a file in `/tmp`", arrives("tmp")),
        ("shared-memory-file", "writes a file in `/dev/shm`", arrives("shm")),
        ("own-folder", "writes into its own folder", arrives("folder")),
    ),
    *_all(
        "Perl",
        Area.CHANNEL,
        ("sysv-memory", "has shared memory of System V", arrives("sysv-memory")),
        ("sysv-messages", "has a message queue of System V", arrives("sysv-messages")),
        ("flock", "locks a file that others can read", arrives("flock")),
    ),
    *_all(
        "C",
        Area.CHANNEL,
        ("results-watched", "sees when the results change (`inotify`)", by_its_word),
        ("results-times", "sets the times of the results, which it cannot read (`utimensat`)", by_its_word),
        ("folder-news", "is told when its folder changes (`F_NOTIFY`)", by_its_word),
        ("lease", "has a lease on its program, for which others have to wait", by_its_word),
        ("datagram-pair", "sends to a socket in a folder from a pair of sockets", by_its_word),
        ("segments-counted", "sees the shared memory of System V of others", by_its_word),
        ("file-flags", "sets flags of a file that it can only read (`FS_IOC_SETFLAGS`)", by_its_word),
        ("message-queue", "has a message queue of POSIX", arrives("queue")),
        ("key-ring", "writes into its user's key ring", arrives("key")),
    ),
    *_all(
        "sh",
        Area.USER,
        ("home-read", "reads a secret key in the user's home", reads("home")),
        ("home-write", "writes into the user's `.profile`", arrives("home")),
    ),
    *_all(
        "sh",
        Area.TERMINAL,
        ("terminal-escapes", "sends escape codes in all that it says", arrives("terminal")),
        ("terminal-own", "writes to `/dev/tty`", arrives("terminal")),
        ("terminal-path", "writes to the referee's terminal by its path", arrives("terminal")),
        terminal=True,
    ),
    *_all(
        "Python",
        Area.USER,
        ("home-times", "sets the times of the user's `.profile`", by_its_word),
        ("home-attribute", "gives the user's `.profile` an attribute", by_its_word),
    ),
    *_all("C", Area.TERMINAL, ("terminal-own-c", "opens `/dev/tty`", arrives("terminal")), terminal=True),
    *_all(
        "Python",
        Area.TERMINAL,
        ("terminal-input", "types into the referee's terminal (TIOCSTI)", arrives("typed")),
        terminal=True,
    ),
    *_all(
        "Python",
        Area.MACHINE,
        ("core-pattern", "opens `core_pattern` for writing", by_its_word),
        ("system-settings", "opens a setting in `/proc/sys` for writing", by_its_word),
        ("system-request", "opens `/proc/sysrq-trigger` for writing", by_its_word),
        ("block-device", "opens a block device", by_its_word),
        ("kernel-log", "opens the kernel's log", by_its_word),
        ("control-groups", "may move processes between control groups", by_its_word),
        ("high-priority", "gives itself the highest priority", by_its_word),
        ("real-time", "gives itself real-time priority", by_its_word),
        ("root-folder", "makes a file in `/`", by_its_word),
        ("device-folder", "makes a file in `/dev`", by_its_word),
        ("device-mode", "sets the mode of a device of the machine", by_its_word),
        ("device-times", "sets the times of a device of the machine", by_its_word),
        ("own-oom-score", "makes itself the last to be killed when memory runs out", by_its_word),
    ),
    *_all(
        "C",
        Area.MACHINE,
        ("set-user", "runs a program with the rights of its owner, root", by_its_word),
        ("mount", "may mount file systems", by_its_word),
        ("namespaces", "makes namespaces of its own", by_its_word),
        ("join-namespace", "joins the opponent's network namespace", by_its_word),
        ("join-by-descriptor", "joins the referee's network namespace", by_its_word),
        ("change-root", "may change its root folder", by_its_word),
        ("escape-root", "reaches the opponent's program by changing its root folder", by_its_word),
        ("kernel-program", "may start another kernel", by_its_word),
        ("restart", "may restart the machine", by_its_word),
        ("module", "may unload modules of the kernel", by_its_word),
        ("swap", "may turn swap space on", by_its_word),
        ("accounting", "may turn the accounting of processes on", by_its_word),
        ("host-name", "may set the machine's name", by_its_word),
        ("clock", "may set the machine's clock", by_its_word),
        ("kernel-code", "loads programs into the kernel (`bpf`)", by_its_word),
        ("page-faults", "handles page faults (`userfaultfd`)", by_its_word),
        ("secret-memory", "has memory that the kernel itself cannot read (`memfd_secret`)", by_its_word),
        ("personality", "has all of its memory executed (`personality`)", by_its_word),
        ("asynchronous", "has asynchronous input and output (`io_setup`)", by_its_word),
        ("disk-flush", "has all disks of the machine written (`sync`)", by_its_word),
        ("calls-of-32-bits", "uses the system calls of 32-bit programs", by_its_word),
    ),
    *_all(
        "Python",
        Area.RESOURCES,
        ("fork-bomb", "starts 2,000 processes where 200 are allowed", explodes),
        ("memory-bomb", "takes 4 GiB of memory where 512 MiB are allowed", explodes),
        ("memory-bomb-file", "takes 4 GiB in a file in memory (`memfd`)", explodes),
        ("memory-bomb-hidden", "takes 1 GiB in such a file, and hides from its user's processes", explodes),
        ("memory-bomb-shared", "takes 4 GiB in `/dev/shm`", explodes),
        ("memory-bomb-kept", "takes 1 GiB in shared memory of System V", explodes),
        ("disk-filler", "writes 2 GiB into its scratch folder where 64 MiB are allowed", explodes),
        ("inode-filler", "makes 200,000 files in its scratch folder where 10,000 are allowed", explodes),
        ("deep-folders", "makes 30,000 folders in one another where 10,000 are allowed", explodes),
        ("busy-children", "has 60 children that compute", harms_victim),
        clock="20s",
        limits={"memory": "512MB", "processes": "200", "scratch": "64MB", "scratch_files": "10000"},
    ),
)
