"""All that a bot in Python needs, in one file without dependencies: import it, or copy it beside your bot.

    from bot import play

    def choose(game):
        return game.random.choice(game.legal())

    play(choose)

`choose` is called for every question and returns the move as text, or `None` to resign. When the
referee rejects a move, `choose` is called again with `game.rejected` saying why. While the bot runs,
`print()` goes to stderr, where it cannot disturb the protocol.
"""

from __future__ import annotations

import random
import sys

TYPE_CHECKING = False  # type checkers treat it as true; importing `typing` takes longer than this file
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import BinaryIO

VERSION = 1


LONGEST = 4000
"""The longest line that is sent, in bytes; the protocol's limit is 4096, newline included."""


class Closed(Exception):
    """The question was closed while the bot waited for its legal moves; `play` goes on with what came."""


class Game:
    """The game as this bot knows it, kept up to date by `play`."""

    def __init__(self, slug: str, rules: int, seat: int, seats: int, connection: Connection) -> None:
        self.slug = slug
        self.rules = rules
        """The version of the game's rules."""
        self.seat = seat
        """This bot's seat, counted from 1."""
        self.seats = seats
        self.options: dict[str, str] = {}
        self.clock_ms = (0, 0, 0, 0)
        """Allowance per move, reserve, step and increment, milliseconds."""
        self.random = random.Random(0)
        """Seeded by the referee: a bot that takes all its randomness from it can play the same game again."""
        self.news: list[str] = []
        """All news of this game, oldest first."""
        self.fresh: list[str] = []
        """The news that came with this question."""
        self.question = 0
        self.allowance_ms = 0
        """What remains of this move's allowance."""
        self.reserve_ms = 0
        self.used_us = 0
        """The time that the last move took, as the referee measured it."""
        self.rejected: str | None = None
        """Why the last answer was rejected, if this question follows a rejection."""
        self.result: tuple[int, ...] | None = None
        """Each seat's rank once the game is over."""
        self._connection = connection

    def legal(self, most: int | None = None) -> list[str]:
        """Asks the referee for the legal moves while the clock runs: all, or a sample of too many."""
        self._connection.send(f"list {self.question}" + ("" if most is None else f" {most}"))
        while True:
            word, rest = self._connection.receive()
            if word == "legal":
                count = int(rest.split()[2])
                return [self._connection.receive()[1] for _ in range(count)]
            if word in ("end", "defaulted", "rejected", "game", "quit"):
                self._connection.put_back(word, rest)
                raise Closed

    def info(self, text: object) -> None:
        """Has the record keep a text with the next answer, such as `value 0.62 depth 4`."""
        self._connection.send(f"info {text}")

    def log(self, text: object) -> None:
        """Has the record of the game keep a text."""
        self._connection.send(f"log {text}")


class Connection:
    """Reads lines, and writes lines, each of them flushed."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._put_back: list[tuple[str, str]] = []

    def receive(self) -> tuple[str, str]:
        """The first word and the rest of the next line; ("quit", "") at the end of the stream."""
        if self._put_back:
            return self._put_back.pop()
        line = self._source.readline()
        if not line:
            return "quit", ""
        word, _, rest = line.decode().strip().partition(" ")
        return word, rest.strip()

    def send(self, line: str) -> None:
        """Sends one line: control characters become blanks, and a line that is too long is cut."""
        line = "".join(" " if ord(c) < 0x20 or ord(c) == 0x7F else c for c in line)
        self._sink.write(line.encode("utf-8", "replace")[:LONGEST].decode("utf-8", "ignore").encode() + b"\n")
        self._sink.flush()

    def put_back(self, word: str, rest: str) -> None:
        """Puts a line back: `receive` gives it next."""
        self._put_back.append((word, rest))


def _ignore(game: Game) -> None:
    pass


def play(  # noqa: C901 - one case for each word
    choose: Callable[[Game], str | None],
    start: Callable[[Game], None] = _ignore,
    over: Callable[[Game], None] = _ignore,
    source: BinaryIO | None = None,
    sink: BinaryIO | None = None,
    only: str = "",
) -> None:
    """Plays games until the referee says quit.

    `start` is called when a game has been described and before its clock runs, `over` when it has ended. A
    bot that knows `only` one game exits with a message when it is given another.
    """
    connection = Connection(source or sys.stdin.buffer, sink or sys.stdout.buffer)
    if sink is None:
        sys.stdout = sys.stderr
    game = Game("", 0, 0, 0, connection)
    while True:
        word, rest = connection.receive()
        words = rest.split()
        if word == "hello":
            connection.send(f"hello {VERSION}")
        elif word == "game":
            if only not in ("", words[0]):
                sys.exit(f"this bot plays `{only}`, not `{words[0]}`")
            game = Game(words[0], int(words[1]), int(words[2]), int(words[3]), connection)
        elif word == "option":
            name, _, value = rest.partition(" ")
            game.options[name] = value.strip()
        elif word == "clock":
            game.clock_ms = (int(words[0]), int(words[1]), int(words[2]), int(words[3]))
        elif word == "seed":
            game.random = random.Random(int(words[0]))
        elif word == "prepare":
            start(game)
            connection.send("ready")
        elif word == "news":
            game.news.append(rest)
            game.fresh.append(rest)
        elif word == "charged":
            game.used_us = int(words[1])
        elif word == "rejected":
            game.rejected = rest.partition(" ")[2]
        elif word == "ask":
            game.question, game.allowance_ms, game.reserve_ms = map(int, words)
            try:
                move = choose(game)
            except Closed:
                continue
            answer = f"resign {game.question}" if move is None else f"move {game.question} {move}"
            game.fresh, game.rejected = [], None
            connection.send(answer)
        elif word == "end":
            game.result = tuple(map(int, words[0].split(",")))
            over(game)
        elif word == "quit":
            return
