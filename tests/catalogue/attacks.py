"""What bots do to others on purpose: the attacks of `tests/bots/attacks`, which ISOLATION.md lists."""

from __future__ import annotations

from functools import partial

from tests.catalogue.judging import (
    Area,
    arrives,
    by_its_word,
    explodes,
    harms_run,
    harms_victim,
    outlives,
    reads,
)
from tests.catalogue.row import Attack, Elsewhere, Rows, Why

SHORT = "500ms"
"""A clock for attacks after which the referee has to wait for as long as a game may take."""

opponent = partial(Attack, Area.OPPONENT)
referee = partial(Attack, Area.REFEREE)
results = partial(Attack, Area.RESULTS, game=2)
hidden = partial(Attack, Area.HIDDEN)
network = partial(Attack, Area.NETWORK)
channel = partial(Attack, Area.CHANNEL)
user = partial(Attack, Area.USER)
terminal = partial(Attack, Area.TERMINAL, terminal=True)
machine = partial(Attack, Area.MACHINE)
bomb = partial(
    Attack,
    Area.RESOURCES,
    clock="20s",
    limits={"memory": "512MB", "processes": "200", "scratch": "64MB", "scratch_files": "10000"},
)

ON_PURPOSE: Rows = {
    (92, "reads its opponent's command line"): (
        opponent("command-line", "Python", "reads the opponent's command line", reads("argument")),
        opponent(
            "tournament-read",
            "Python",
            "reads the opponent's settings in the tournament file",
            reads("environment"),
        ),
    ),
    (93, "reads its opponent's environment"): (opponent("environment", "Python", "", reads("environment")),),
    (94, "reads its opponent's memory"): (
        opponent("memory-file", "Python", "by `/proc/PID/mem`", reads("memory")),
        opponent("memory-call", "C", "by `process_vm_readv`", reads("memory")),
    ),
    (95, "traces or watches another process"): (
        opponent("ptrace", "C", "the opponent, to read its memory", reads("memory")),
        opponent("performance", "C", "by `perf_event_open`", by_its_word),
        referee("ptrace-worker", "C", "", by_its_word),
    ),
    (96, "reads its opponent's questions"): (
        opponent("questions-read", "Python", "from `/proc/PID/fd/0`", harms_victim),
    ),
    (97, "speaks for its opponent or the referee"): (
        opponent("move-forged", "Python", "through `/proc/PID/fd/1`", harms_victim),
        opponent("move-taken", "C", "by `pidfd_getfd`", harms_victim),
        opponent("quit-forged", "Python", "through `/proc/PID/fd/0`", harms_victim),
        opponent(
            "warden-exited",
            "C",
            "tells the referee that the opponent exited, on its warden's socket",
            harms_victim,
        ),
        opponent("warden-exceeded", "C", "tells it that the opponent broke a limit", harms_victim),
    ),
    (98, "kills or stops others"): (
        opponent("kill", "Python", "the opponent", harms_victim),
        opponent("kill-group", "Python", "the opponent's process group", harms_victim),
        opponent("kill-descriptor", "Python", "by a process descriptor", harms_victim),
        opponent("kill-thread", "Python", "by `tgkill`", harms_victim),
        opponent("kill-by-pipe", "C", "by the kernel, when a pipe can be read", harms_victim),
        opponent(
            "oom-score",
            "Python",
            "makes the opponent the first to be killed when memory runs out",
            harms_victim,
        ),
        opponent("stop", "Python", "the opponent", harms_victim),
        opponent("signal-owner", "C", "has signals sent to the opponent (`F_SETOWN`)", by_its_word),
        referee("kill-worker", "Python", "", harms_run, clock=SHORT),
        referee("kill-launcher", "Python", "", harms_run, clock=SHORT),
        referee("kill-warden", "Python", "of the opponent", harms_run, clock=SHORT),
        referee("kill-own-warden", "Python", "", harms_run, clock=SHORT),
        referee(
            "kill-all", "Python", "all processes of an ordinary user", harms_run, clock=SHORT, only="ordinary"
        ),
        referee("kill-referee", "Python", "", harms_run, clock=SHORT),
        referee("stop-launcher", "Python", "", harms_run, clock=SHORT),
        referee("stop-worker", "Python", "", harms_run, clock=SHORT),
        referee("stop-referee", "Python", "", harms_run, clock=SHORT),
        referee("stop-warden", "Python", "of the opponent", harms_run, clock=SHORT),
        referee("interrupt-referee", "Python", "as Ctrl-C does", harms_run, clock=SHORT),
    ),
    (99, "slows or limits others"): (
        opponent("renice", "Python", "lowers the opponent's priority", harms_victim),
        opponent("affinity", "Python", "leaves it one core", harms_victim),
        opponent("policy", "Python", "leaves it idle time only", harms_victim),
        opponent("limits", "Python", "takes its descriptors by `prlimit`", harms_victim),
        opponent("starve", "Python", "leaves its user no processes", harms_victim),
        opponent("io-priority", "C", "lowers the opponent's", harms_victim),
        opponent("limits-of-32-bits", "C", "by the system calls of 32-bit programs", harms_victim),
        referee(
            "limits-of-worker",
            "Python",
            "takes its descriptors",
            harms_run,
            clock=SHORT,
        ),
        referee(
            "limits-of-referee",
            "Python",
            "no files may be written",
            harms_run,
            clock=SHORT,
        ),
        referee("pipes-filled", "Python", "the worker's", harms_run, clock=SHORT),
        referee("pipes-of-referee-filled", "Python", "", harms_run, clock=SHORT),
    ),
    (100, "reads what is hidden"): (
        hidden("results-read", "Python", "the seed in them", reads("seed"), game=2),
        results("results-listed", "Python", "their folder", by_its_word),
        channel(
            "results-measured",
            "Python",
            "their size (`stat`), by the full path",
            by_its_word,
            game=2,
        ),
        channel("results-watched", "C", "when they change (`inotify`)", by_its_word),
        hidden(
            "referee-memory",
            "Python",
            "by `/proc/PID/mem`",
            reads("operator"),
            clock="20s",
        ),
        hidden("worker-memory", "Python", "", reads("operator"), clock="20s"),
        hidden(
            "warden-memory",
            "Python",
            "of the opponent's warden",
            reads("operator"),
            clock="20s",
        ),
    ),
    (101, "changes the results"): (
        results("results-append", "Python", "a line", harms_run),
        results("results-empty", "Python", "", harms_run),
        results("results-replace", "Python", "by a copy", harms_run),
        results("results-remove", "Python", "", harms_run),
        results("results-lock", "Python", "removes their lock", harms_run),
        results("results-fifo", "Python", "in place of the dialogues", harms_run, keep="all"),
        results("results-rewrite", "Python", "reverses the first and recomputes the hashes", harms_run),
        results("results-rename", "Python", "their folder", harms_run),
        results("results-truncate", "Python", "", harms_run),
        results("results-closed", "Python", "their folder, by `chmod`", harms_run),
        channel(
            "results-times",
            "C",
            "sets them without reading the file (`utimensat`)",
            by_its_word,
        ),
    ),
    (102, "reads or changes its opponent's files"): (
        opponent("source", "Python", "reads the opponent's program", reads("source")),
        opponent("source-handle", "C", "by `open_by_handle_at`", reads("source")),
        opponent("scratch-read", "Python", "the opponent's folder", reads("scratch")),
        opponent("program-written", "Python", "the opponent's program", arrives("program")),
        opponent(
            "program-renamed",
            "Python",
            "the opponent's, before its next start",
            harms_victim,
            processes="game",
        ),
        opponent(
            "program-closed",
            "Python",
            "the opponent's, by `chmod`",
            harms_victim,
            processes="game",
        ),
        machine("escape-root", "C", "changes its root folder to reach the opponent's program", by_its_word),
    ),
    (103, "has a channel by files"): (
        channel("tmp-file", "Python", "in `/tmp`", arrives("tmp")),
        channel("shared-memory-file", "Python", "in `/dev/shm`", arrives("shm")),
        channel("own-folder", "Python", "writes into it", arrives("folder")),
        channel("folder-news", "C", "is told of changes in its folder (`F_NOTIFY`)", by_its_word),
        channel("lease", "C", "on its program, which others wait for", by_its_word),
        channel("file-flags", "C", "of a file that it can only read (`FS_IOC_SETFLAGS`)", by_its_word),
    ),
    (104, "has a channel by sockets"): (
        channel("abstract-socket", "Python", "", arrives("abstract")),
        channel("path-socket", "Python", "in a folder", arrives("path")),
        channel("datagram-pair", "C", "from a pair of sockets to one in a folder", by_its_word),
    ),
    (105, "has a channel by the kernel"): (
        channel("sysv-memory", "Python", "shared memory of System V", arrives("sysv-memory")),
        channel("sysv-messages", "Python", "a queue of System V", arrives("sysv-messages")),
        channel("segments-counted", "C", "shared memory of others (System V)", by_its_word),
        channel("flock", "Python", "on a file that others can read", arrives("flock")),
        channel("message-queue", "C", "of POSIX", arrives("queue")),
        channel("key-ring", "C", "of its user", arrives("key")),
        network("exotic-socket", "C", "of a rare family (AF_ALG)", by_its_word),
        network("machine-socket", "C", "to the host of a virtual machine (vsock)", by_its_word),
        network("rings", "C", "of `io_uring`", by_its_word),
    ),
    (106, "uses the network"): (
        network("tcp", "Python", "to a server", arrives("tcp")),
        network("tcp-listen", "Python", "a server", arrives("listen")),
        network("udp", "Python", "", arrives("udp")),
        network("raw-socket", "C", "", by_its_word),
        network("packet-socket", "C", "", by_its_word),
        network("interfaces", "C", "lists the machine's", by_its_word),
        network("connections", "Python", "lists the machine's", by_its_word),
    ),
    (107, "inherits descriptors"): (referee("inherited", "C", "from the referee", by_its_word),),
    (108, "has secrets of the environment"): (
        referee("own-environment", "Python", "has the referee's secrets", reads("operator")),
        referee("referee-environment", "Python", "reads it", reads("operator")),
    ),
    (109, "computes what is random from what it knows"): (
        Elsewhere("test_seeds.py::test_streams_and_seeds_differ"),
    ),
    (110, "plays by who its opponent is"): (
        Why("the protocol names no opponent: a bot is told its seat, and the moves"),
    ),
    (111, "returns an object that lies when it is compared"): (
        Why("bots answer in text: no object of theirs is in a process of the referee"),
    ),
    (112, "reaches the user's terminal"): (
        terminal("terminal-own", "Python", "writes to `/dev/tty`", arrives("terminal")),
        terminal(
            "terminal-path", "Python", "writes to the referee's terminal by its path", arrives("terminal")
        ),
        terminal("terminal-input", "Python", "types into it (TIOCSTI)", arrives("typed")),
        # Last of those that share a game: it breaks the protocol, which ends the game and the attacker.
        terminal("terminal-escapes", "Python", "in all that it says", arrives("terminal")),
    ),
    (150, "reads or changes the user's files"): (
        user("home-read", "Python", "a secret key", reads("home")),
        user("home-write", "Python", "`.profile`", arrives("home")),
        user("home-times", "Python", "of `.profile`", by_its_word),
        user("home-attribute", "Python", "of `.profile`", by_its_word),
    ),
    (148, "changes the referee's files"): (
        referee(
            "program-fifo", "Python", "in place of its own program, before it exits", harms_run, clock=SHORT
        ),
        referee("referee-code", "Python", "writes into it", arrives("code"), clock=SHORT),
        referee("tournament-file", "Python", "writes into it", arrives("tournament"), clock=SHORT),
    ),
    (149, "outlives the referee"): (
        referee("outlive", "Python", "in a session of its own", outlives),
        referee("outlive-warden", "Python", "and kills its warden", outlives),
        referee("outlive-all", "Python", "and kills launcher and warden", outlives),
        referee("outlive-referee", "Python", "and kills the referee and all of its processes", outlives),
    ),
    (151, "has rights over the machine"): (
        machine("core-pattern", "Python", "opens it for writing", by_its_word),
        machine("system-settings", "Python", "opens one in `/proc/sys` for writing", by_its_word),
        machine("system-request", "Python", "opens `/proc/sysrq-trigger` for writing", by_its_word),
        machine("block-device", "Python", "opens one", by_its_word),
        machine("kernel-log", "Python", "opens it", by_its_word),
        machine("control-groups", "Python", "moves processes between them", by_its_word),
        machine("high-priority", "Python", "", by_its_word),
        machine("real-time", "Python", "priority", by_its_word),
        machine("root-folder", "Python", "makes a file in `/`", by_its_word),
        machine("device-folder", "Python", "makes a file in `/dev`", by_its_word),
        machine("device-mode", "Python", "changes it", by_its_word),
        machine("device-times", "Python", "changes them", by_its_word),
        machine("terminals", "Python", "takes one of the machine's pseudo-terminals", by_its_word),
        machine(
            "own-oom-score", "Python", "makes itself the last to be killed when memory runs out", by_its_word
        ),
        machine("set-user", "C", "runs a program with the rights of its owner, root", by_its_word),
        machine("mount", "C", "file systems", by_its_word),
        machine("namespaces", "C", "makes new ones", by_its_word),
        machine("join-namespace", "C", "of the opponent's network", by_its_word),
        machine("join-by-descriptor", "C", "the referee's network namespace", by_its_word),
        machine("change-root", "C", "", by_its_word),
        machine("kernel-program", "C", "starts another kernel", by_its_word),
        machine("restart", "C", "the machine", by_its_word),
        machine("module", "C", "unloads one", by_its_word),
        machine("swap", "C", "turns it on", by_its_word),
        machine("accounting", "C", "turns it on", by_its_word),
        machine("host-name", "C", "sets it", by_its_word),
        machine("clock", "C", "sets it", by_its_word),
        machine("kernel-code", "C", "loads it (`bpf`)", by_its_word),
        machine("page-faults", "C", "handles them (`userfaultfd`)", by_its_word),
        machine(
            "secret-memory",
            "C",
            "that the kernel cannot read (`memfd_secret`)",
            by_its_word,
        ),
        machine("personality", "C", "makes all readable memory executable", by_its_word),
        machine("asynchronous", "C", "input and output (`io_setup`)", by_its_word),
        machine("disk-flush", "C", "writes all disks of the machine (`sync`)", by_its_word),
        machine("calls-of-32-bits", "C", "the system calls of 32-bit programs", by_its_word),
    ),
    (152, "takes more of the machine than is allowed"): (
        bomb("fork-bomb", "Python", "2,000 processes where 200 are allowed", explodes),
        bomb("memory-bomb", "Python", "4 GiB where 512 MiB are allowed", explodes),
        bomb("memory-bomb-file", "Python", "4 GiB in a `memfd`", explodes),
        bomb(
            "memory-bomb-hidden",
            "Python",
            "1 GiB in a `memfd`, hidden from its user's processes",
            explodes,
        ),
        bomb(
            "memory-bomb-sent",
            "Python",
            "1 GiB in `memfd`s whose descriptors are on their way through a socket",
            explodes,
        ),
        bomb("memory-bomb-shared", "Python", "4 GiB in `/dev/shm`", explodes),
        bomb("memory-bomb-kept", "Python", "1 GiB in shared memory of System V", explodes),
        bomb("disk-filler", "Python", "2 GiB of scratch files where 64 MiB are allowed", explodes),
        bomb(
            "inode-filler",
            "Python",
            "200,000 scratch files where 10,000 are allowed",
            explodes,
        ),
        bomb("deep-folders", "Python", "30,000 nested where 10,000 are allowed", explodes),
        bomb("busy-children", "Python", "60 that compute", harms_victim),
    ),
    (154, "leaves a trace for the next bot of the same warden"): (
        Elsewhere("test_prepared.py::test_a_bot_finds_no_trace_of_the_one_before_it"),
    ),
}
