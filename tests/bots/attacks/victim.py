"""The opponent of the attackers: `victim.py ARGUMENT_SECRET`.

It has secrets on its command line, in its environment, in its source and in its memory. On stderr it reports
what it sent, what happened to it, and by its own clock how long it waited and computed.
"""

import contextlib
import ctypes
import hashlib
import json
import os
import resource
import select
import signal
import sys
import threading
import time

MEMORY = ("-".join(["MEMORY", "SECRET", ""]) + hashlib.sha256(sys.argv[1].encode()).hexdigest()[:16]).encode()
"""Stands nowhere but in memory."""

TICK_S = 0.01
signals: list[int] = []
sent: list[str] = []
longest_pause_ms = 0.0
longest_answer_ms = 0.0


def feel_pauses() -> None:
    """Notes the longest time in which this process did not run."""
    global longest_pause_ms
    before = time.monotonic()
    while True:
        time.sleep(TICK_S)
        now = time.monotonic()
        longest_pause_ms = max(longest_pause_ms, (now - before - TICK_S) * 1000)
        before = now


def can_fork() -> bool:
    try:
        child = os.fork()
    except OSError:
        return False
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def limits() -> dict[str, object]:
    names = ("NOFILE", "CPU", "AS", "DATA", "NPROC", "FSIZE", "STACK", "MEMLOCK")
    return {name: resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names}


def condition() -> dict[str, object]:
    """What others may change about this process."""
    linux = sys.platform == "linux"
    libc = ctypes.CDLL(None, use_errno=True)
    return {
        "nice": os.getpriority(os.PRIO_PROCESS, 0),
        "cores": sorted(os.sched_getaffinity(0)) if linux else [],
        "policy": os.sched_getscheduler(0) if linux else 0,
        "io": libc.syscall(252, 1, 0) if linux and os.uname().machine == "x86_64" else 0,
        "limits": limits(),
        "oom": oom_score(),
        "tracer": traced_by(),
    }


def oom_score() -> int:
    try:
        with open("/proc/self/oom_score_adj") as file:
            return int(file.read())
    except OSError:
        return 0


def traced_by() -> int:
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("TracerPid"))
    except (OSError, StopIteration):
        return 0


def tell(**what: object) -> None:
    os.write(2, b"VICTIM " + json.dumps(what).encode() + b"\n")


def say(line: str) -> None:
    sent.append(line)
    os.write(1, line.encode() + b"\n")


for which in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1, signal.SIGCONT, signal.SIGALRM):
    signal.signal(which, lambda number, frame: signals.append(number))
scratch = f"{os.environ.get('TMPDIR') or '/tmp'}/victim-{MEMORY[-16:].decode()}"
with contextlib.suppress(OSError), open(scratch, "x") as file:
    file.write(f"SCRATCH-SECRET-{MEMORY[-16:].decode()}\n")
first = condition()
threading.Thread(target=feel_pauses, daemon=True).start()

asked_s = 0.0
pending = b""
ended = False
while not ended:
    select.select([0], [], [])
    data = os.read(0, 65_536)
    if not data:
        break
    *lines, pending = (pending + data).split(b"\n")
    for line in lines:
        word, *rest = line.decode(errors="replace").split() or [""]
        if word == "hello":
            say("hello 1")
        elif word == "prepare":
            say("ready")
        elif word == "ask":
            asked_s = time.monotonic()
            number = rest[0]
            say(f"list {number} 1")
        elif word == "choice":
            sum(range(200_000))  # it thinks a little
            longest_answer_ms = max(longest_answer_ms, (time.monotonic() - asked_s) * 1000)
            say(f"move {number} {' '.join(rest)}")
        elif word in ("end", "quit"):
            now = condition()
            tell(
                changed={key: [first[key], now[key]] for key in now if now[key] != first[key]},
                signals=signals,
                can_fork=can_fork(),
                pause_ms=round(longest_pause_ms),
                answer_ms=round(longest_answer_ms),
                sent=sent[-20:],
            )
            ended = word == "quit"
