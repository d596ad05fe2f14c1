"""Counts the questions itself, and goes on counting in the next game."""

import sys

from board import Board

board = Board()
questions = 0
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
        questions += 1
        print(f"move {questions} {board.move()}", flush=True)
    elif word == "quit":
        break
