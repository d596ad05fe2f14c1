"""Does not expect unknown messages."""

import sys

from board import Board

board = Board()
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "news":
        board.news(*rest)
    elif word == "ask":
        print(f"move {rest[0]} {board.move()}", flush=True)
    elif word not in ("game", "clock", "seed", "charged", "rejected", "end", "quit"):
        raise ValueError(line)
    elif word == "quit":
        break
