"""Ignores `rejected`, and repeats the same illegal move."""

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
        print(f"move {rest[0]} L:D4", flush=True)
    elif word == "quit":
        break
