"""Reads its whole input before it answers."""

import sys

from board import Board

board = Board()
for line in sys.stdin.read().split("\n"):
    word, *rest = line.split() or [""]
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
