"""A bot for Blooms that makes one mistake: `broken_bot.py MISTAKE`, where each mistake is a class."""

# ruff: noqa: N801  # a class has the name of its mistake

import random
import subprocess
import sys
import time
from collections.abc import Iterable


class Bot:
    """Without a mistake: it fills the first empty cell."""

    hello = "hello 1"
    ready = "ready"
    end = "\n"
    """Of a line."""

    def __init__(self) -> None:
        self.empty: list[str] = []

    def run(self) -> None:
        for line in self.lines():
            word, *rest = line.split()
            act = getattr(self, f"on_{word}", None)
            if act:
                act(*rest)
            else:
                self.on(word)
            if word == "quit":
                break

    def lines(self) -> Iterable[str]:
        return sys.stdin

    def say(self, line: str) -> None:
        print(line, end=self.end, flush=True)

    def on(self, word: str) -> None:
        """What is done on a message that has no method."""

    def on_hello(self, *_: str) -> None:
        self.say(self.hello)

    def on_option(self, name: str, value: str) -> None:
        if name == "size":
            side = int(value)
            rows = 2 * side - 1
            self.empty = [
                f"{chr(65 + row)}{place + 1}"
                for row in range(rows)
                for place in range(rows - abs(side - 1 - row))
            ]

    def on_prepare(self) -> None:
        self.say(self.ready)

    def on_news(self, kind: str, seat: str, *cells: str) -> None:
        if kind == "captured":
            self.empty += cells
        else:
            self.empty = [
                cell for cell in self.empty if f"L:{cell}" not in cells and f"D:{cell}" not in cells
            ]

    def on_ask(self, number: str, *_: str) -> None:
        self.say(self.answer(number))

    def answer(self, number: str) -> str:
        return f"move {number} {self.move()}"

    def move(self) -> str:
        return f"L:{self.empty[0]}"


# --- Starting --------------------------------------------------------------------------------------------


class missing_module(Bot):
    """Imports a module that is not installed."""

    def run(self) -> None:
        __import__("no_such_module")


class slow_start(Bot):
    """Needs a second to start."""

    def run(self) -> None:
        time.sleep(1)
        super().run()


class very_slow_start(Bot):
    """Needs 2.6 seconds to start."""

    def run(self) -> None:
        time.sleep(2.6)
        super().run()


class slow_hello(Bot):
    """Needs 2.6 seconds to answer `hello`."""

    def on_hello(self, *_: str) -> None:
        time.sleep(2.6)
        super().on_hello()


class no_version(Bot):
    """Says hello without a version."""

    hello = "hello"


class wrong_version(Bot):
    """Says which version of its own it is."""

    hello = "hello 2"


class ready_early(Bot):
    """Says ready at once, without waiting for `prepare`."""

    hello = "hello 1\nready"

    def on_prepare(self) -> None:
        pass


class ready_forgotten(Bot):
    """Does nothing on `prepare`."""

    def on_prepare(self) -> None:
        pass


class ready_slow(Bot):
    """Needs 2.6 seconds to get ready."""

    def on_prepare(self) -> None:
        time.sleep(2.6)
        super().on_prepare()


# --- Reading and writing ---------------------------------------------------------------------------------


class reads_to_the_end(Bot):
    """Reads its whole input before it answers."""

    def lines(self) -> Iterable[str]:
        return sys.stdin.read().splitlines()


class prompt(Bot):
    """Reads its lines with `input` and a prompt."""

    def lines(self) -> Iterable[str]:
        while True:
            yield input("> ")


class prompt_for_moves(Bot):
    """Prints a prompt without a newline before each answer."""

    def move(self) -> str:
        print("Enter move: ", end="")
        return super().move()


class banner(Bot):
    """Prints a banner when it starts."""

    def run(self) -> None:
        print("BotMaster 3000 by A. Nonymous")
        super().run()


class debug_on_stdout(Bot):
    """Prints debug output to stdout."""

    def move(self) -> str:
        print(f"{len(self.empty)} cells are empty")
        return super().move()


class moves_on_stderr(Bot):
    """Prints its moves to stderr."""

    def on_ask(self, number: str, *_: str) -> None:
        print(self.answer(number), file=sys.stderr)


class no_flush(Bot):
    """Never flushes what it prints to a pipe."""

    def say(self, line: str) -> None:
        print(line)


class no_flush_of_moves(Bot):
    """Flushes everything but its moves."""

    def on_ask(self, number: str, *_: str) -> None:
        print(self.answer(number))


class no_newline(Bot):
    """Writes its moves without a newline."""

    def on_ask(self, number: str, *_: str) -> None:
        print(self.answer(number), end="", flush=True)


class carriage_return(Bot):
    """Ends its lines with only a carriage return."""

    end = "\r"


class crlf(Bot):
    """Ends its lines with CR LF, which is forgiven."""

    end = "\r\n"


class upper_case(Bot):
    """Writes the protocol's words in upper case."""

    hello = "HELLO 1"
    ready = "READY"


class fixed_line_count(Bot):
    """Reads a fixed number of lines in each place."""

    def read(self) -> list[str]:
        return sys.stdin.readline().split()

    def run(self) -> None:
        self.read()
        self.on_hello()
        game, size, _target, _clock, _seed, _prepare = (self.read() for _ in range(6))
        self.on_prepare()
        self.on_option(*size[1:])
        if game[3] == "2":
            self.on_news(*self.read()[1:])
        while (line := self.read())[0] == "ask":
            self.on_ask(*line[1:])
            _charged, own, other = (self.read() for _ in range(3))
            self.on_news(*own[1:])
            self.on_news(*other[1:])


class dies_of_unknown_messages(Bot):
    """Does not expect unknown messages."""

    def on(self, word: str) -> None:
        assert word in ("game", "clock", "seed", "charged", "rejected", "end", "quit")


# --- Answering -------------------------------------------------------------------------------------------


class no_number(Bot):
    """Leaves out the number of the question."""

    def answer(self, number: str) -> str:
        return f"move {self.move()}"


class move_alone(Bot):
    """Prints the move and nothing before it."""

    def answer(self, number: str) -> str:
        return self.move()


class answers_twice(Bot):
    """Sends every answer twice."""

    def answer(self, number: str) -> str:
        return "\n".join([super().answer(number)] * 2)


class answers_first_number(Bot):
    """Answers every question with the number of the first one."""

    first = ""

    def answer(self, number: str) -> str:
        self.first = self.first or number
        return super().answer(self.first)


class counts_from_0(Bot):
    """Counts the questions itself, from 0."""

    questions = -1

    def answer(self, number: str) -> str:
        self.questions += 1
        return super().answer(str(self.questions))


class counts_all_games(Bot):
    """Counts the questions itself, and goes on counting in the next game."""

    questions = 0

    def answer(self, number: str) -> str:
        self.questions += 1
        return super().answer(str(self.questions))


class resigns_at_once(Bot):
    """Resigns every game at its first question."""

    def answer(self, number: str) -> str:
        return f"resign {number}"


class dies_of_rejected(Bot):
    """Does not expect `rejected`."""

    def on_rejected(self, *why: str) -> None:
        raise AssertionError(why)


class waits_after_rejected(Bot):
    """Does not wait for the next `ask` after `rejected`."""

    rejected = False

    def on_rejected(self, *_: str) -> None:
        self.rejected = True

    def on_ask(self, number: str, *_: str) -> None:
        if not self.rejected:
            super().on_ask(number)
        self.rejected = False


# --- Moves -----------------------------------------------------------------------------------------------


class repeats_an_illegal_move(Bot):
    """Ignores `rejected`, and repeats the same illegal move."""

    def move(self) -> str:
        return "L:D4"


class wrong_notation(Bot):
    """Writes a cell without its colour."""

    def move(self) -> str:
        return self.empty[0]


class lower_case(Bot):
    """Writes its moves in lower case, which Blooms allows."""

    def move(self) -> str:
        return super().move().lower()


class cells_from_0(Bot):
    """Counts the cells of a row from 0."""

    def move(self) -> str:
        cell = self.empty[0]
        return f"L:{cell[0]}{int(cell[1:]) - 1}"


class row_too_far(Bot):
    """Is one row too far down."""

    def move(self) -> str:
        cell = self.empty[0]
        return f"L:{chr(ord(cell[0]) + 1)}{cell[1:]}"


class random_by_the_time(Bot):
    """Chooses at random without using `seed`."""

    def move(self) -> str:
        return f"L:{random.choice(self.empty)}"


class crash_late(Bot):
    """Crashes when the board is nearly full."""

    def move(self) -> str:
        assert len(self.empty) > 20
        return super().move()


class dies_of_much_news(Bot):
    """Expects at most one turn of the other seat between two questions."""

    news = 0

    def on_news(self, kind: str, seat: str, *cells: str) -> None:
        self.news += 1
        assert self.news <= 4, "too much happened"
        super().on_news(kind, seat, *cells)

    def move(self) -> str:
        self.news = 0
        return super().move()


class seat_from_0(Bot):
    """Counts seats from 0, and so takes the other seat's moves for its own."""

    seat = 0

    def on_game(self, slug: str, rules: str, seat: str, seats: str) -> None:
        self.seat = int(seat) - 1

    def on_news(self, kind: str, seat: str, *cells: str) -> None:
        if seat != str(self.seat):
            super().on_news(kind, seat, *cells)


class seat_misread(Bot):
    """Takes the version of the rules for its seat."""

    seat = ""

    def on_game(self, slug: str, rules: str, *_: str) -> None:
        self.seat = rules

    def on_news(self, kind: str, seat: str, *cells: str) -> None:
        if seat != self.seat or kind == "captured":
            super().on_news(kind, seat, *cells)

    def move(self) -> str:
        return f"L:{self.empty.pop(0)}"


# --- Time ------------------------------------------------------------------------------------------------


class thinks_too_long(Bot):
    """Thinks for 4 seconds about each move, more than the whole allowance."""

    def move(self) -> str:
        time.sleep(4)
        return super().move()


class ignores_the_clock(Bot):
    """Thinks for 2 seconds about each move, whatever the clock is."""

    def move(self) -> str:
        time.sleep(2)
        return super().move()


class slow_first_move(Bot):
    """Warms up during its first move instead of before `ready`."""

    warm = False

    def move(self) -> str:
        if not self.warm:
            time.sleep(2)
        self.warm = True
        return super().move()


# --- Ends of games, and between them ---------------------------------------------------------------------


class one_game_only(Bot):
    """Exits after its first game."""

    def on_end(self, *_: str) -> None:
        sys.exit()


class crash_at_the_end(Bot):
    """Crashes on `end`."""

    def on_end(self, won: str, *_: str) -> None:
        assert won in ("1", "2")


class remembers_the_last_game(Bot):
    """Forgets nothing when a new game begins."""

    def on_option(self, name: str, value: str) -> None:
        if not self.empty:
            super().on_option(name, value)


class leaks(Bot):
    """Keeps 40 MB of each game."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[bytes] = []

    def on_prepare(self) -> None:
        self.kept.append(b"x" * (40 << 20))
        super().on_prepare()


class leaves_a_process(Bot):
    """Starts a process for each game and never ends it."""

    def on_game(self, *_: str) -> None:
        subprocess.Popen(["sleep", "60"])


class crash_at_quit(Bot):
    """Crashes on `quit`."""

    def on_quit(self) -> None:
        raise AssertionError("not open")


class ignores_quit(Bot):
    """Ignores `quit` and the end of its input."""

    def run(self) -> None:
        super().run()
        while True:
            time.sleep(1)


MISTAKES = {kind.__name__: kind for kind in Bot.__subclasses__()}

if __name__ == "__main__":
    MISTAKES[sys.argv[1]]().run()
