"""A bot that keeps its own time: `stamping_bot.py FOLDER MARGIN_US`. It plays Blooms at random.

For each question it writes down when it was read and when it was answered, in a file of the folder that has
its seed for a name. It thinks for a time drawn from that seed: mostly a short one, and now and then one near
to the last moment at which the referee still takes an answer.
"""

import os
import random
import select
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120

from tests.tools.stamps import AFTER, BEFORE, READ, TALKED, Stamps

QUICK_US = 15_000
CLOSE = 0.05
"""So often it is close to the last moment, at most so far on either side:"""
CLOSE_US = 40_000

TALKS = 0.25
"""So often it says something more behind its answer: in the same write, in another, or on and on."""
TALKS_ON_S = 1
"""The longest time for which it talks on, unless it is asked again before."""

MORE = b"log that was it\n"

folder, margin_us = sys.argv[1], int(sys.argv[2])
cells: list[str] = []
rng = random.Random()
stamps: Stamps


def answer(number: int, left_us: int, read_ns: int) -> None:
    close = rng.random() < CLOSE
    think_us = left_us + margin_us + rng.randint(-CLOSE_US, CLOSE_US) if close else rng.randrange(QUICK_US)
    line = f"move {number} L:{rng.choice(cells)}\n".encode()
    stamps.put(number, READ, read_ns)
    time.sleep(max(0, read_ns + think_us * 1000 - time.monotonic_ns()) / 1e9)
    way = rng.choice(["at once", "then", "on and on"]) if rng.random() < TALKS else ""
    if way:  # before it talks: it may be ended at any moment
        stamps.put(number, TALKED, time.monotonic_ns())
    stamps.put(number, BEFORE, time.monotonic_ns())
    os.write(1, line + MORE if way == "at once" else line)
    stamps.put(number, AFTER, time.monotonic_ns())
    if way == "then":
        os.write(1, MORE)
    until_ns = time.monotonic_ns() + TALKS_ON_S * 10**9
    while way == "on and on" and time.monotonic_ns() < until_ns and not select.select([0], [], [], 0.002)[0]:
        os.write(1, MORE)


for line in os.fdopen(0):
    read_ns = time.monotonic_ns()
    word, *rest = line.split()
    if word == "hello":
        os.write(1, b"hello 1\n")
    elif word == "option" and rest[0] == "size":
        side = int(rest[1])
        rows = 2 * side - 1
        cells = [f"{chr(65 + r)}{i + 1}" for r in range(rows) for i in range(rows - abs(side - 1 - r))]
    elif word == "seed":
        rng = random.Random(int(rest[0]))
        stamps = Stamps(f"{folder}/{rest[0]}")
    elif word == "prepare":
        os.write(1, b"ready\n")
    elif word == "news" and rest[0] == "move":
        cells = [cell for cell in cells if cell not in [part[2:] for part in rest[2:]]]
    elif word == "news":
        cells += rest[2:]
    elif word == "ask":
        answer(int(rest[0]), (int(rest[1]) + int(rest[2])) * 1000, read_ns)
    elif word == "quit":
        break
