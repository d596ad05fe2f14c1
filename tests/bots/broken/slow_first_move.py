"""Warms up during its first move instead of before `ready`."""

import sys
import time

from board import Board

board = Board()
warm = False
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
        if not warm:
            time.sleep(2)
            warm = True
        print(f"move {rest[0]} {board.move()}", flush=True)
    elif word == "quit":
        break
