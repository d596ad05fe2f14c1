"""Takes the version of the rules for its seat."""

import sys

from board import Board

board = Board()
seat = ""
for line in sys.stdin:
    word, *rest = line.split()
    if word == "hello":
        print("hello 1", flush=True)
    elif word == "option":
        board.option(*rest)
    elif word == "prepare":
        print("ready", flush=True)
    elif word == "news":
        if rest[1] != seat or rest[0] == "captured":
            board.news(*rest)
    elif word == "ask":
        move = board.move()
        board.empty.remove(move[2:])
        print(f"move {rest[0]} {move}", flush=True)
    elif word == "game":
        seat = rest[1]
    elif word == "quit":
        break
