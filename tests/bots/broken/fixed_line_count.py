"""Reads a fixed number of lines in each place."""

import sys

from board import Board


def read() -> list[str]:
    return sys.stdin.readline().split()


read()
print("hello 1", flush=True)
game, size, target, clock, seed, prepare = (read() for _ in range(6))
print("ready", flush=True)
board = Board()
board.option(*size[1:])
if game[3] == "2":
    board.news(*read()[1:])
while (line := read())[0] == "ask":
    print(f"move {line[1]} {board.move()}", flush=True)
    charged, own, other = (read() for _ in range(3))
    board.news(*own[1:])
    board.news(*other[1:])
