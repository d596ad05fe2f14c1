"""A bot with one defect that `referee check` finds: `check_bots.py DEFECT`. Otherwise it plays Blooms;
in Floral Extract it thinks in a thread, which it does not stop when the game ends.

Each defect stands in the code that it affects; no module imports this file.
"""

import os
import signal
import subprocess
import sys
import threading
import time

defect = sys.argv[1] if len(sys.argv) > 1 else "none"
held_back: list[str] = []
"""Lines that are buffered."""
leak: list[bytes] = []


def say(line: str, end: str = "\n") -> None:
    os.write(1, f"{line}{end}".encode())


def hang() -> None:
    time.sleep(60)


def die(why: str) -> None:
    sys.exit(f"Traceback: {why}")


def on_start() -> None:
    match defect:
        case "crashes at the start":
            die("no such opening book")
        case "never reads":
            hang()


def on_hello() -> None:
    match defect:
        case "says hello without a newline":
            say("hello 1", end="")
        case "holds its hello back":
            held_back.append("hello 1")
        case "exits behind its hello":
            say("hello 1")
            sys.exit(3)
        case "greets in its own words":
            say("Welcome to BotMaster 3000!")
        case _:
            say("hello 1")


def on_prepare() -> None:
    match defect:
        case "is never ready":
            hang()
        case "leaks":
            leak.append(b"x" * (8 << 20))
        case "is large":
            leak.append(b"x" * (100 << 20))
    say("ready")


def main() -> None:
    empty: list[str] = []
    seat, games, questions, rejected, remarks = 1, 0, 0, False, 0
    slug = phase = ""
    on_start()
    for line in sys.stdin:
        word, *rest = line.split()
        if defect == "knows words by their beginning":
            word = next((known for known in ("ask", "news") if word.startswith(known)), word)
        if word == "hello":
            on_hello()
        elif word == "game":
            slug, seat, questions, rejected = rest[0], int(rest[2]), 0, False
            games += 1
        elif word == "option":
            if rest[0] == "size":
                side = int(rest[1])
                rows = 2 * side - 1
                empty = [
                    f"{chr(65 + row)}{place + 1}"
                    for row in range(rows)
                    for place in range(rows - abs(side - 1 - row))
                ]
        elif word == "prepare":
            on_prepare()
        elif word == "news" and slug == "floral":
            phase = rest[0]
        elif word == "ask" and slug == "floral" and defect != "says nothing":
            threading.Timer(0.25, say, (f"move {rest[0]} {'-' if phase == 'plant' else '1'}",)).start()
        elif word == "news":
            if defect == "knows only of one turn at a time":
                remarks += 1
            taken = [part[2:] for part in rest[2:]]
            if rest[0] == "captured":
                empty += rest[2:]
            else:
                empty = [cell for cell in empty if cell not in taken]
        elif word == "rejected":
            rejected = True
        elif word == "ask":
            questions += 1
            answer(rest[0], seat, empty, games, rejected, int(rest[1]), remarks)
            remarks = 0
        elif word == "end":
            on_end(rest[1], questions)
        elif word == "quit":
            break
    on_quit()


def answer(
    number: str,
    seat: int,
    empty: list[str],
    games: int,
    rejected: bool,
    allowance_ms: int,
    remarks: int,
) -> None:
    cell = empty[0] if empty else "A1"
    match defect:
        case "prints what it thinks and nothing else":
            say(f"[debug] best cell {cell}")
            return
        case "computes for ever":
            while True:
                pass
        case "says nothing":
            return
        case "exits when it is asked":
            sys.exit(3)
        case "kills itself when it is asked":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "plays on a stone late in the game" if len(empty) < 20:
            cell = "A1"
        case "cannot play in seat 2" if seat == 2:
            cell = "Z9"
        case "answers the old question once more" if rejected:
            number = str(int(number) - 1)
        case "says nothing to a rejection" if rejected:
            return
        case "resigns when it is rejected" if rejected:
            say(f"resign {number}")
            return
        case "takes its time where there is little" if allowance_ms < 600:
            hang()
        case "counts the questions of all games" if games > 1:
            number = str(int(number) + 1)
        case "knows only of one turn at a time" if remarks > 5:
            die("too much news")
        case "plays its own dice":
            cell = empty[int.from_bytes(os.urandom(2), "big") % len(empty)]
    say(f"move {number} L:{cell}")


def on_end(ending: str, questions: int) -> None:
    match defect:
        case "exits at the end of a game":
            sys.exit(0)
        case "takes every end for a victory" if ending not in ("rules", "resigned"):
            die(f"unknown ending `{ending}`")
        case "does not take faults of others" if ending == "gone":
            die("nobody told me what to do")
        case "wants to be asked before the end" if questions == 0:
            die("division by zero")


def on_quit() -> None:
    for line in held_back:
        say(line)
    match defect:
        case "does not quit":
            hang()
        case "quits with a complaint":
            die("the input ended")
        case "leaves a helper":
            subprocess.Popen(["sleep", "61.5"])
        case "lets a helper escape":
            subprocess.Popen(["sleep", "61.5"], start_new_session=True)


main()
