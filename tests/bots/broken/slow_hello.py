"""Needs 2.6 seconds to answer `hello`."""

import sys
import time

from board import Board

board = Board()
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        time.sleep(2.6)
        print("hello 1", flush=True)
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "news":
        board.news(*rest)
    elif word == "ask":
        print(f"move {rest[0]} {board.move()}", flush=True)
    elif word == "quit":
        break
