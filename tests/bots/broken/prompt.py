"""Reads its lines with `input` and a prompt."""

from board import Board

board = Board()
while True:
    word, *rest = input("> ").split()
    if word == "hello":
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
