"""Never flushes what it prints to a pipe."""

import sys

from board import Board

board = Board()
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1")
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        print("ready")
    elif word == "news":
        board.news(*rest)
    elif word == "ask":
        print(f"move {rest[0]} {board.move()}")
    elif word == "quit":
        break
