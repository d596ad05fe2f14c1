"""Keeps 40 MB of each game."""

import sys

from board import Board

board = Board()
kept = []
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        kept.append(b"x" * (40 << 20))
        print("ready", flush=True)
    elif word == "news":
        board.news(*rest)
    elif word == "ask":
        print(f"move {rest[0]} {board.move()}", flush=True)
    elif word == "quit":
        break
