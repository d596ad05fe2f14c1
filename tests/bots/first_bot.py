"""Plays the first legal move: two of these play the same game whenever they meet."""

import sys

number = "0"
"""The question whose first legal move has not been played yet; empty once it has been."""

for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "ask":
        number = rest[0]
        print("list", number, flush=True)
    elif word == "choice" and number:
        print("move", number, *rest, flush=True)
        number = ""
