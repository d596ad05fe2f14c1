"""A bot that plays Blooms on the first empty cell, at once: it repeats its games."""

from __future__ import annotations

import sys


def main() -> None:
    """Plays until the referee sends `quit`."""
    empty: list[str] = []
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "hello":
            print("hello 1", flush=True)
        elif word == "option" and rest[0] == "size":
            side = int(rest[1])
            rows = 2 * side - 1
            empty = [f"{chr(65 + r)}{c + 1}" for r in range(rows) for c in range(rows - abs(side - 1 - r))]
        elif word == "prepare":
            print("ready", flush=True)
        elif word == "news" and rest[0] == "move":
            for part in rest[2:]:
                empty.remove(part[2:])
        elif word == "news" and rest[0] == "captured":
            empty += rest[2:]
        elif word == "ask":
            print(f"move {rest[0]} L:{empty[0]}", flush=True)
        elif word == "quit":
            return


if __name__ == "__main__":
    main()
