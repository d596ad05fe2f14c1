"""Expects at most one turn of the other seat between two questions."""

import sys

from board import Board

board = Board()
lines = 0
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "news":
        lines += 1
        assert lines <= 4, "too much happened"
        board.news(*rest)
    elif word == "ask":
        lines = 0
        print(f"move {rest[0]} {board.move()}", flush=True)
    elif word == "quit":
        break
