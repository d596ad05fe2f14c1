"""What bots do to others on purpose: the attacks of `tests/bots/attacks`, in the order of the table in
ISOLATION.md.
"""

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
        opponent("command-line", "sh", "reads the opponent's command line", reads("argument")),
        opponent(
            "tournament-read",
            "sh",
            "reads the opponent's settings in the tournament file",
            reads("environment"),
        ),
    ),
    (93, "reads its opponent's environment"): (
        opponent("environment", "Java", "reads the opponent's environment", reads("environment")),
    ),
    (94, "reads its opponent's memory"): (
        opponent("memory-file", "Python", "reads the opponent's memory by `/proc/PID/mem`", reads("memory")),
        opponent("memory-call", "C", "reads the opponent's memory by `process_vm_readv`", reads("memory")),
    ),
    (95, "traces or watches another process"): (
        opponent("ptrace", "C", "traces the opponent and reads its memory", reads("memory")),
        opponent("performance", "C", "watches the opponent by `perf_event_open`", by_its_word),
        referee("ptrace-worker", "C", "traces the worker", by_its_word),
    ),
    (96, "reads its opponent's questions"): (
        opponent(
            "questions-read", "sh", "reads the opponent's questions from `/proc/PID/fd/0`", harms_victim
        ),
    ),
    (97, "speaks for its opponent or the referee"): (
        opponent("move-forged", "sh", "answers for the opponent through `/proc/PID/fd/1`", harms_victim),
        opponent("move-taken", "C", "answers for the opponent by `pidfd_getfd`", harms_victim),
        opponent("quit-forged", "sh", "tells the opponent to quit through `/proc/PID/fd/0`", harms_victim),
        opponent(
            "warden-exited",
            "C",
            "tells the referee that the opponent exited, on its warden's socket",
            harms_victim,
        ),
        opponent("warden-exceeded", "C", "tells the referee that the opponent broke a limit", harms_victim),
    ),
    (98, "kills or stops others"): (
        opponent("kill", "sh", "kills the opponent", harms_victim),
        opponent("kill-group", "sh", "kills the opponent's process group", harms_victim),
        opponent("kill-handle", "Java", "kills the opponent by a process handle", harms_victim),
        opponent("kill-descriptor", "Python", "kills the opponent by a process descriptor", harms_victim),
        opponent("kill-thread", "Python", "kills the opponent by `tgkill`", harms_victim),
        opponent(
            "kill-by-pipe", "C", "has the kernel kill the opponent when a pipe can be read", harms_victim
        ),
        opponent(
            "oom-score", "sh", "makes the opponent the first to be killed when memory runs out", harms_victim
        ),
        opponent("stop", "Perl", "stops the opponent", harms_victim),
        opponent("signal-owner", "C", "has signals sent to the opponent (`F_SETOWN`)", by_its_word),
        referee("kill-worker", "sh", "kills the referee's worker", harms_run, clock=SHORT),
        referee("kill-launcher", "sh", "kills the launcher", harms_run, clock=SHORT),
        referee("kill-warden", "sh", "kills the opponent's warden", harms_run, clock=SHORT),
        referee("kill-own-warden", "sh", "kills its own warden", harms_run, clock=SHORT),
        referee("kill-all", "sh", "kills all that its user runs", harms_run, clock=SHORT, only="ordinary"),
        referee("kill-referee", "Python", "kills the referee", harms_run, clock=SHORT),
        referee("stop-launcher", "sh", "stops the launcher", harms_run, clock=SHORT),
        referee("stop-worker", "Perl", "stops the referee's worker", harms_run, clock=SHORT),
        referee("stop-referee", "Perl", "stops the referee", harms_run, clock=SHORT),
        referee("stop-warden", "Perl", "stops the opponent's warden", harms_run, clock=SHORT),
        referee("interrupt-referee", "Perl", "interrupts the referee as Ctrl-C does", harms_run, clock=SHORT),
    ),
    (99, "slows or limits others"): (
        opponent("renice", "JavaScript", "lowers the opponent's priority", harms_victim),
        opponent("affinity", "Python", "keeps the opponent to one processor core", harms_victim),
        opponent("policy", "Python", "gives the opponent only idle time", harms_victim),
        opponent("limits", "Python", "takes the opponent's descriptors away by `prlimit`", harms_victim),
        opponent("starve", "Python", "leaves no process for others of the same user", harms_victim),
        opponent("io-priority", "C", "lowers the opponent's priority for input and output", harms_victim),
        referee(
            "limits-of-worker",
            "Python",
            "takes the worker's descriptors away by `prlimit`",
            harms_run,
            clock=SHORT,
        ),
        referee(
            "limits-of-referee",
            "Python",
            "forbids the referee to write files by `prlimit`",
            harms_run,
            clock=SHORT,
        ),
        referee("pipes-filled", "Python", "fills the pipes of the worker", harms_run, clock=SHORT),
        referee(
            "pipes-of-referee-filled", "Python", "fills the pipes of the referee", harms_run, clock=SHORT
        ),
    ),
    (100, "reads what is hidden"): (
        hidden("results-read", "JavaScript", "reads the seed in the results", reads("seed"), game=2),
        results("results-listed", "Python", "lists the folder of the results", by_its_word),
        channel(
            "results-measured",
            "Python",
            "sees how long the results are (`stat`), by the full path",
            by_its_word,
            game=2,
        ),
        channel("results-watched", "C", "sees when the results change (`inotify`)", by_its_word),
        hidden(
            "referee-memory",
            "Python",
            "reads the referee's memory by `/proc/PID/mem`",
            reads("operator"),
            clock="20s",
        ),
        hidden("worker-memory", "Python", "reads the worker's memory", reads("operator"), clock="20s"),
        hidden(
            "warden-memory",
            "Python",
            "reads the memory of the opponent's warden",
            reads("operator"),
            clock="20s",
        ),
    ),
    (101, "changes the results"): (
        results("results-append", "sh", "appends a line to the results", harms_run),
        results("results-empty", "sh", "empties the results", harms_run),
        results("results-replace", "sh", "puts a copy in place of the results", harms_run),
        results("results-remove", "sh", "removes the results", harms_run),
        results("results-lock", "sh", "removes the results' lock", harms_run),
        results("results-fifo", "sh", "puts a FIFO in place of the dialogues", harms_run, keep="all"),
        results(
            "results-rewrite", "Python", "reverses the first result and recomputes the hashes", harms_run
        ),
        results("results-rename", "Python", "renames the folder of the results", harms_run),
        results("results-truncate", "Python", "cuts the results off", harms_run),
        results(
            "results-closed", "Python", "forbids all access to the results' folder by `chmod`", harms_run
        ),
        channel(
            "results-times",
            "C",
            "sets the times of the results, which it cannot read (`utimensat`)",
            by_its_word,
        ),
    ),
    (102, "reads or changes its opponent's files"): (
        opponent("source", "JavaScript", "reads the opponent's program", reads("source")),
        opponent(
            "source-handle", "C", "reads the opponent's program by `open_by_handle_at`", reads("source")
        ),
        opponent("scratch-read", "Python", "reads the opponent's scratch folder", reads("scratch")),
        opponent("program-written", "Python", "writes into the opponent's program", arrives("program")),
        opponent(
            "program-renamed",
            "Python",
            "renames the opponent's program, before its next start",
            harms_victim,
            processes="game",
        ),
        opponent(
            "program-closed",
            "Python",
            "forbids all access to the opponent's program by `chmod`",
            harms_victim,
            processes="game",
        ),
        machine(
            "escape-root", "C", "reaches the opponent's program by changing its root folder", by_its_word
        ),
    ),
    (103, "has a channel by files"): (
        channel("tmp-file", "sh", "writes a file in `/tmp`", arrives("tmp")),
        channel("shared-memory-file", "sh", "writes a file in `/dev/shm`", arrives("shm")),
        channel("own-folder", "sh", "writes into its own folder", arrives("folder")),
        channel("folder-news", "C", "is told when its folder changes (`F_NOTIFY`)", by_its_word),
        channel("lease", "C", "has a lease on its program, for which others have to wait", by_its_word),
        channel(
            "file-flags", "C", "sets flags of a file that it can only read (`FS_IOC_SETFLAGS`)", by_its_word
        ),
    ),
    (104, "has a channel by sockets"): (
        channel("abstract-socket", "Perl", "connects to an abstract socket", arrives("abstract")),
        channel("path-socket", "Python", "connects to a socket in a folder", arrives("path")),
        channel("datagram-pair", "C", "sends to a socket in a folder from a pair of sockets", by_its_word),
    ),
    (105, "has a channel by the kernel"): (
        channel("sysv-memory", "Perl", "has shared memory of System V", arrives("sysv-memory")),
        channel("sysv-messages", "Perl", "has a message queue of System V", arrives("sysv-messages")),
        channel("segments-counted", "C", "sees the shared memory of System V of others", by_its_word),
        channel("flock", "Perl", "locks a file that others can read", arrives("flock")),
        channel("message-queue", "C", "has a message queue of POSIX", arrives("queue")),
        channel("key-ring", "C", "writes into its user's key ring", arrives("key")),
        network("exotic-socket", "C", "has a socket of a rare family (AF_ALG)", by_its_word),
        network("machine-socket", "C", "has a socket to the host of a virtual machine (vsock)", by_its_word),
        network("rings", "C", "does input and output by `io_uring`", by_its_word),
    ),
    (106, "uses the network"): (
        network("tcp", "JavaScript", "connects to a server by TCP", arrives("tcp")),
        network("tcp-listen", "Java", "is a server for TCP", arrives("listen")),
        network("udp", "Perl", "sends a datagram by UDP", arrives("udp")),
        network("raw-socket", "C", "has a raw socket", by_its_word),
        network("packet-socket", "C", "has a packet socket", by_its_word),
        network("interfaces", "C", "lists the machine's network interfaces", by_its_word),
        network("connections", "Python", "lists the machine's connections", by_its_word),
    ),
    (107, "inherits descriptors"): (
        referee("inherited", "C", "has descriptors of the referee", by_its_word),
    ),
    (108, "has secrets of the environment"): (
        referee("own-environment", "sh", "has secrets of the referee's environment", reads("operator")),
        referee("referee-environment", "Python", "reads the referee's environment", reads("operator")),
    ),
    (109, "computes what is random from what it knows"): (
        Elsewhere("test_rng.py::test_streams_and_seeds_differ"),
    ),
    (110, "plays by who its opponent is"): (
        Why("the protocol names no opponent: a bot is told its seat, and the moves"),
    ),
    (111, "returns an object that lies when it is compared"): (
        Why("bots answer in text: no object of theirs is in a process of the referee"),
    ),
    (112, "reaches the user's terminal"): (
        terminal("terminal-escapes", "sh", "sends escape codes in all that it says", arrives("terminal")),
        terminal("terminal-own", "sh", "writes to `/dev/tty`", arrives("terminal")),
        terminal("terminal-own-c", "C", "opens `/dev/tty`", arrives("terminal")),
        terminal("terminal-path", "sh", "writes to the referee's terminal by its path", arrives("terminal")),
        terminal("terminal-input", "Python", "types into the referee's terminal (TIOCSTI)", arrives("typed")),
    ),
    (150, "reads or changes the user's files"): (
        user("home-read", "sh", "reads a secret key in the user's home", reads("home")),
        user("home-write", "sh", "writes into the user's `.profile`", arrives("home")),
        user("home-times", "Python", "sets the times of the user's `.profile`", by_its_word),
        user("home-attribute", "Python", "gives the user's `.profile` an attribute", by_its_word),
    ),
    (148, "changes the referee's files"): (
        referee(
            "program-fifo", "sh", "puts a FIFO in place of its program, and exits", harms_run, clock=SHORT
        ),
        referee("referee-code", "Python", "writes into the referee's program", arrives("code"), clock=SHORT),
        referee(
            "tournament-file", "Python", "writes into the tournament file", arrives("tournament"), clock=SHORT
        ),
    ),
    (149, "outlives the referee"): (
        referee("outlive", "Python", "leaves a process behind in a session of its own", outlives),
        referee("outlive-warden", "Python", "does so and kills its warden", outlives),
        referee("outlive-all", "Python", "does so and kills launcher and warden", outlives),
        referee(
            "outlive-referee", "Python", "does so and kills the referee and all of its processes", outlives
        ),
    ),
    (151, "has rights over the machine"): (
        machine("core-pattern", "Python", "opens `core_pattern` for writing", by_its_word),
        machine("system-settings", "Python", "opens a setting in `/proc/sys` for writing", by_its_word),
        machine("system-request", "Python", "opens `/proc/sysrq-trigger` for writing", by_its_word),
        machine("block-device", "Python", "opens a block device", by_its_word),
        machine("kernel-log", "Python", "opens the kernel's log", by_its_word),
        machine("control-groups", "Python", "may move processes between control groups", by_its_word),
        machine("high-priority", "Python", "gives itself the highest priority", by_its_word),
        machine("real-time", "Python", "gives itself real-time priority", by_its_word),
        machine("root-folder", "Python", "makes a file in `/`", by_its_word),
        machine("device-folder", "Python", "makes a file in `/dev`", by_its_word),
        machine("device-mode", "Python", "sets the mode of a device of the machine", by_its_word),
        machine("device-times", "Python", "sets the times of a device of the machine", by_its_word),
        machine(
            "own-oom-score", "Python", "makes itself the last to be killed when memory runs out", by_its_word
        ),
        machine("set-user", "C", "runs a program with the rights of its owner, root", by_its_word),
        machine("mount", "C", "may mount file systems", by_its_word),
        machine("namespaces", "C", "makes namespaces of its own", by_its_word),
        machine("join-namespace", "C", "joins the opponent's network namespace", by_its_word),
        machine("join-by-descriptor", "C", "joins the referee's network namespace", by_its_word),
        machine("change-root", "C", "may change its root folder", by_its_word),
        machine("kernel-program", "C", "may start another kernel", by_its_word),
        machine("restart", "C", "may restart the machine", by_its_word),
        machine("module", "C", "may unload modules of the kernel", by_its_word),
        machine("swap", "C", "may turn swap space on", by_its_word),
        machine("accounting", "C", "may turn the accounting of processes on", by_its_word),
        machine("host-name", "C", "may set the machine's name", by_its_word),
        machine("clock", "C", "may set the machine's clock", by_its_word),
        machine("kernel-code", "C", "loads programs into the kernel (`bpf`)", by_its_word),
        machine("page-faults", "C", "handles page faults (`userfaultfd`)", by_its_word),
        machine(
            "secret-memory",
            "C",
            "has memory that the kernel itself cannot read (`memfd_secret`)",
            by_its_word,
        ),
        machine("personality", "C", "has all of its memory executed (`personality`)", by_its_word),
        machine("asynchronous", "C", "has asynchronous input and output (`io_setup`)", by_its_word),
        machine("disk-flush", "C", "has all disks of the machine written (`sync`)", by_its_word),
        machine("calls-of-32-bits", "C", "uses the system calls of 32-bit programs", by_its_word),
    ),
    (152, "takes more of the machine than is allowed"): (
        bomb("fork-bomb", "Python", "starts 2,000 processes where 200 are allowed", explodes),
        bomb("memory-bomb", "Python", "takes 4 GiB of memory where 512 MiB are allowed", explodes),
        bomb("memory-bomb-file", "Python", "takes 4 GiB in a file in memory (`memfd`)", explodes),
        bomb(
            "memory-bomb-hidden",
            "Python",
            "takes 1 GiB in such a file, and hides from its user's processes",
            explodes,
        ),
        bomb("memory-bomb-shared", "Python", "takes 4 GiB in `/dev/shm`", explodes),
        bomb("memory-bomb-kept", "Python", "takes 1 GiB in shared memory of System V", explodes),
        bomb(
            "disk-filler", "Python", "writes 2 GiB into its scratch folder where 64 MiB are allowed", explodes
        ),
        bomb(
            "inode-filler",
            "Python",
            "makes 200,000 files in its scratch folder where 10,000 are allowed",
            explodes,
        ),
        bomb(
            "deep-folders", "Python", "makes 30,000 folders in one another where 10,000 are allowed", explodes
        ),
        bomb("busy-children", "Python", "has 60 children that compute", harms_victim),
    ),
    (154, "leaves a trace for the next bot of the same warden"): (
        Elsewhere("test_prepared.py::test_a_bot_finds_no_trace_of_the_one_before_it"),
    ),
}
