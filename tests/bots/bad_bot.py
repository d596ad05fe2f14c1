"""A bot that misbehaves as it is told: `bad_bot.py VICE [ARGUMENT ...]`. Otherwise it plays Blooms."""

import os
import signal
import subprocess
import sys
import threading
import time

vice, *arguments = [*sys.argv[1:], "none"]
cells: list[str] = []
asked = 0


def say(line: str) -> None:
    os.write(1, line.encode() + b"\n")


def forever(data: bytes, pause: float = 0.0, to: int = 1) -> None:
    while True:
        os.write(to, data)
        time.sleep(pause)


def wait_for(path: str) -> None:
    while not os.access(path, os.F_OK):
        time.sleep(0.001)


def mark(path: str) -> None:
    """Leaves a file that says when that was."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    os.write(file, str(time.monotonic_ns()).encode())
    os.close(file)


def stop(pid: int) -> None:
    """Returns when the process is stopped."""
    os.kill(pid, signal.SIGSTOP)
    while True:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        state = os.read(file, 1000).rpartition(b")")[2].split()[0]
        os.close(file)
        if state == b"T":
            return
        time.sleep(0.001)


def misbehave(question: str) -> bool:
    """Does its worst on being asked; whether it then answers all the same."""
    match vice:
        case "stderr marks":
            if asked == 1:
                os.write(2, b"first of a game\n")
        case "sleep":
            if len(arguments) > asked:
                time.sleep(float(arguments[asked - 1]))
        case "resigns":
            if asked == int(arguments[0]):
                say(f"resign {question}")
                return False
        case "answers while the referee is stopped":
            pid, before, behind = int(arguments[0]), float(arguments[1]), float(arguments[2])
            if asked == 1:
                if "log" in arguments:
                    threading.Thread(target=forever, args=(b"log still here\n", 0.001), daemon=True).start()
                    time.sleep(0.05)
                stop(pid)
                time.sleep(before)
                say(f"move {question} L:{cells[0]}" + "\nlog that was it" * ("log" in arguments))
                os.write(2, f"{time.monotonic_ns()}\n".encode())
                time.sleep(behind)
                os.kill(pid, signal.SIGCONT)
                return False
        case "logs, and answers after the referee was stopped":
            pid, stopped, behind = int(arguments[0]), float(arguments[1]), float(arguments[2])
            if asked == 1:
                threading.Thread(target=forever, args=(b"log still here\n", 0.001), daemon=True).start()
                time.sleep(0.05)
                stop(pid)
                time.sleep(stopped)
                os.kill(pid, signal.SIGCONT)
                time.sleep(behind)
                # Before the answer, with which the game may end.
                os.write(2, f"{time.monotonic_ns()}\n".encode())
                say(f"move {question} L:{cells[0]}\nlog that was it")
                return False
        case "plays twice":
            say(f"move {question} L:{cells[0]}\nmove {question} L:{cells[1]}")
            return False
        case "plays ahead":
            say(f"move {question} L:{cells[0]}\nmove {int(question) + 1} L:{cells[1]}")
            return False
        case "marks its answers":
            say(f"move {question} L:{cells[0]}")
            mark(arguments[0])
            return False
        case "lets the other one speak":
            if asked == 1:
                mark(f"{arguments[0]}/asked")
                wait_for(f"{arguments[0]}/said")
            return True
        case "silent":
            time.sleep(600)
        case "endless line":
            forever(b"x" * 1000)
        case "endless lines":
            forever(b"# hm\n" * 200)
        case "endless long lines":
            forever(b"#" * 1000 + b"\n")
        case "slow lines":
            forever(b"log still here\n", 0.003)
        case "drip":
            forever(b"x", 0.01)
        case "stderr for ever":
            forever(b"complaint\n" * 100, to=2)
        case "stderr, then plays":
            os.write(2, b"\xff\x1b[2J first\n" + b"complaint\n" * 300_000 + b"last\n")
        case "no newline":
            os.write(1, f"move {question} L:D4".encode())
            time.sleep(600)
        case "lists and never reads":
            for _ in range(10):
                say(f"list {question}")
            time.sleep(600)
        case "exits":
            sys.exit(3)
        case "kills itself":
            os.kill(os.getpid(), signal.SIGKILL)
        case "stops itself":
            os.kill(os.getpid(), signal.SIGSTOP)
        case "closes output":
            os.close(1)
            time.sleep(600)
        case "leaves a helper":
            subprocess.Popen(["sleep", "600"])
            sys.exit(0)
        case "helper":
            subprocess.Popen(["sleep", arguments[0]])
        case "daemon":
            subprocess.Popen(["sleep", arguments[0]], start_new_session=True)
        case "ignores TERM":
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            forever(b"", 1)
        case "illegal for ever":
            say(f"move {question} L:Z9")
            return False
        case "illegal, then silent":
            if asked == 1:
                say(f"move {question} L:Z9")
            return False
        case "illegal once":
            if asked == 1:
                say(f"move {question} L:Z9")
                return False
        case "forged":
            say(f"move {question} \x1b[2J\x1b]0;owned\x07")
            return False
        case "forged, properly":
            say(f"move {question} \u202eevil\u2028")
            return False
    return True


def clean_up(*_: object) -> None:
    os.close(os.open(arguments[0], os.O_WRONLY | os.O_CREAT))
    os._exit(0)


def read_line() -> str:
    """A line, byte by byte: nothing that comes behind it is read."""
    line = b""
    while not line.endswith(b"\n"):
        byte = os.read(0, 1)
        if not byte:
            sys.exit(0)
        line += byte
    return line.decode().strip()


if vice == "cleans up":
    signal.signal(signal.SIGTERM, clean_up)
if vice == "slow start":
    time.sleep(float(arguments[0]))
if vice == "never starts":
    time.sleep(600)
if vice == "crashes at the start":
    sys.exit("boom: no such opening book")
if vice == "closes input":
    read_line()  # so that all that was sent has come
    os.close(0)
    os.write(2, b"closed\n")
    time.sleep(600)

while True:
    word, _, rest = read_line().partition(" ")
    if word == "hello":
        say("hello 1")
    elif word == "option" and rest.startswith("size"):
        side = int(rest.split()[1])
        rows = 2 * side - 1
        cells = [f"{chr(65 + r)}{i + 1}" for r in range(rows) for i in range(rows - abs(side - 1 - r))]
    elif word == "prepare":
        if vice == "stderr marks":
            os.write(2, b"getting ready\n")
        say("ready")
        asked = 0
        if vice == "never reads":
            time.sleep(600)
        if vice == "empty lines when it may":
            wait_for(arguments[0])
            os.write(1, b"\n" * 9000)
        if vice == "exits after ready":
            sys.exit(0)
    elif word == "news" and rest.startswith("move"):
        for part in rest.split()[2:]:
            cells.remove(part[2:])
    elif word == "news":
        cells += rest.split()[2:]
    elif word == "ask":
        asked += 1
        if misbehave(rest.split()[0]):
            say(f"move {rest.split()[0]} L:{cells[0]}")
        if vice == "plays and exits":
            sys.exit(0)
        if vice == "plays ahead when the other one is asked" and asked == 1:
            wait_for(f"{arguments[0]}/asked")
            say(f"move {int(rest.split()[0]) + 1} L:{cells[1]}")
            mark(f"{arguments[0]}/said")
    elif word == "end" and vice == "outlives the end":
        time.sleep(600)
    elif word == "end" and vice == "exits at the end":
        sys.exit(0)
    elif word == "end" and vice == "says goodbye":
        say("move 999 L:A1")
    elif word == "end" and vice == "cleans up":
        time.sleep(600)
    elif word == "quit" and vice == "chatters at the end":
        # More than a pipe holds, in few lines.
        os.write(1, (b"log " + b"goodbye " * 100 + b"\n") * 300)
        os.write(2, (b"goodbye " * 100 + b"\n") * 300)
        clean_up()
    elif word == "quit":
        sys.exit(0)
