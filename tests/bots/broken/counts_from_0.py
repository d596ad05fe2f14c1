"""Counts the questions itself, from 0."""

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
        print(f"move {questions} {board.move()}", flush=True)
        questions += 1
    elif word == "quit":
        break
