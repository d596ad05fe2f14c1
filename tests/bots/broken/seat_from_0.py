"""Counts seats from 0, and so takes the other seat's moves for its own."""

import sys

from board import Board

board = Board()
seat = 0
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "news":
        if rest[1] != str(seat):
            board.news(*rest)
    elif word == "ask":
        print(f"move {rest[0]} {board.move()}", flush=True)
    elif word == "game":
        seat = int(rest[2]) - 1
    elif word == "quit":
        break
