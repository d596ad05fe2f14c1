"""Is one row too far down."""

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
        cell = board.move()[2:]
        print(f"move {rest[0]} L:{chr(ord(cell[0]) + 1)}{cell[1:]}", flush=True)
    elif word == "quit":
        break
