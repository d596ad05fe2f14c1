"""Answers every question with the number of the first one."""

import sys

from board import Board

board = Board()
number = ""
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
        number = number or rest[0]
        print(f"move {number} {board.move()}", flush=True)
    elif word == "quit":
        break
