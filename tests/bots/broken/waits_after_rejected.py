"""Does not wait for the next `ask` after `rejected`."""

import sys

from board import Board

board = Board()
rejected = False
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
        if not rejected:
            print(f"move {rest[0]} {board.move()}", flush=True)
        rejected = False
    elif word == "rejected":
        rejected = True
    elif word == "quit":
        break
