"""Plays Blooms at random with nothing but the standard library: without `referee.protocol.bot`."""

import random
import sys
from collections.abc import Iterator


def say(line: str) -> None:
    print(line, flush=True)  # without the flush the line would stay in this process


def lines() -> Iterator[list[str]]:
    for line in sys.stdin:
        yield line.split()


def cells(side: int) -> list[str]:
    rows = 2 * side - 1
    return [f"{chr(65 + r)}{i + 1}" for r in range(rows) for i in range(rows - abs(side - 1 - r))]


def main() -> None:
    empty: set[str] = set()
    first = True
    rng = random.Random()
    for word, *rest in lines():
        if word == "hello":
            say("hello 1")
        elif word == "game":
            first = True
        elif word == "option" and rest[0] == "size":
            empty = set(cells(int(rest[1])))
        elif word == "seed":
            rng = random.Random(int(rest[0]))
        elif word == "prepare":
            say("ready")
        elif word == "news" and rest[0] == "move":
            first = False
            empty -= {part[2:] for part in rest[2:]}
        elif word == "news" and rest[0] == "captured":
            empty |= set(rest[2:])
        elif word == "ask":
            stones = 1 if first or len(empty) == 1 else 2
            chosen = rng.sample(sorted(empty), stones)
            parts = [f"{colour}:{cell}" for colour, cell in zip("LD", chosen, strict=False)]
            say(f"move {rest[0]} {' '.join(parts)}")
        elif word == "quit":
            break


main()
