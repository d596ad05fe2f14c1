"""Advice to a bot's author: what a failure most likely means, what to change in the bot, and remarks on what
is no failure. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from referee.core.text import counted, shown
from referee.core.units import show_period
from referee.gameplay.events import Ending
from referee.gameplay.hints import UNEXPECTED

FLUSH = (
    "flush after every line: in Python `print(line, flush=True)`, in C `setvbuf(stdout, NULL, _IOLBF, 0)` "
    "once at the start, in Java `System.out.println`; `referee docs protocol` has a table for other "
    "languages; and read line by line, not until the end of the input"
)
NOT_STARTED = (
    "run the command by hand in the same folder: it must start, keep running, and "
    "wait for lines on standard input"
)
UNREAD = (
    "the bot does not read its input: read standard input line by line from the start; if it just needs "
    "longer to get ready, `--start` gives it more time"
)
SAY_HELLO = (
    "answer the line `hello 1 ...` with `hello 1`, and flush: `referee docs protocol` shows how in your "
    "language; if the bot just needs longer, `--start` gives it more time"
)
SAY_READY = (
    "answer `prepare` with the line `ready`, and flush: the first `ask` comes only after that. `prepare` "
    "arrives together with other lines, so split what you read into lines. If the bot just needs longer to "
    "prepare, `--start` gives it more time"
)
NOT_THIS_GAME = "does not play"
"""What a bot says on stderr, before it exits, that is sent a game for which it is not made."""
OTHER_GAMES = (
    "check it in a game that it plays: `referee games` lists the games, `referee docs ladders` the sample "
    "bots of each"
)
ANSWER = (
    "answer `ask N ...` with the line `move N TEXT`, and flush; if the bot just needs longer, "
    "`--time` gives it more time per move"
)
ON_STDERR = "the bot wrote it to stderr: write it to standard output"
WARM_UP = (
    "do what only the first move needs (loading, compiling, large tables) before "
    "`ready`, where it costs no move time"
)
LATE = (
    "each `ask` says how much of the allowance and of the reserve remains, in milliseconds: think less when "
    "little time is left, or use `--time` to check the bot with the clocks that it is made for"
)
FREE_MEMORY = (
    "free the memory of a game when it has ended; a garbage collector without a "
    "limit (`java -Xmx`) looks the same"
)
OTHER_SEAT = (
    "seat 1 had no problem: the third value of `game SLUG RULES SEAT SEATS` is the bot's seat, counted from "
    "1, as in `news`; in other seats, `news` comes before the first question"
)
"""Advice where only another seat than the first fails."""

_S_US = 1_000_000

_CONTROL = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")

_PROSE = re.compile(rb"[a-z]{2,}:?( |$)")
"""How the rest of a line begins that is a sentence: with a word that is no number and no move."""

CRASHED = (Ending.START, Ending.GONE)  # the endings of a bot that exited


def more_start(used_us: int | None, start_us: int) -> str:
    """Advice where a bot needs more time to start or to get ready; `used_us` is None if that is not known."""
    text = show_period(_rounded_us(2 * max(used_us or 0, start_us)))
    return (
        f'`--start {text}` gives the bot more time; in a tournament that is `start = "{text}"`. Or load less '
        "before `hello` and `ready`"
    )


def more_time(used_us: int) -> str:
    """Advice where the answer to the first question came too late, after this time."""
    return (
        "the first `ask` says how long the bot may think; "
        f"`--time {show_period(_rounded_us(2 * used_us))}` gives it more; {WARM_UP}"
    )


def _rounded_us(us: int) -> int:
    """A period for an option, rounded up to what people would choose."""
    unit_s = 10 if us > 10 * _S_US else 5 if us > 5 * _S_US else 1
    return -(-us // (unit_s * _S_US)) * unit_s * _S_US


def of_breach(line: bytes, asked: int | None) -> str:
    """Advice on a line that broke the protocol; empty if none fits. `asked`: the number of the last question
    of the game, 0 where none has been asked; None where that is not known.
    """
    word, _, rest = line.strip().partition(b" ")
    number = asked or "N"
    text = shown(rest, 40)
    if _CONTROL.search(line.strip()):
        return "write messages as plain text: without colours and without other control characters"
    if word != b"hello" and _PROSE.match(rest):
        return (
            f"if this is debug output, write it to stderr: a line that begins with `{shown(word, 40)}` is a "
            f"message to the referee; if it is an answer, its form is `move {number} TEXT`"
        )
    match word:
        case b"hello" | b"ready":
            return UNEXPECTED[word.decode()]
        case b"move" | b"resign" | b"list":
            name = word.decode()
            if asked == 0:
                return f"send `{name}` only in answer to `ask`, which has not come yet"
            if not re.match(rb"[0-9]+( |$)", rest):
                what = f"`{name} {number} {text}`".replace(" `", "`")
                return f"put the number of the question, from the last `ask`, before the move: {what}"
            if rest.isdigit() and name == "move":
                return f"put the move after the number of the question: `move {number} TEXT`"
            return (
                "take the number of the question from the last `ask` instead of counting: "
                f"`{name} {number}{' ...' if name == 'move' else ''}`"
            )
    return ""


NOISE_HINT = (
    "stdout is only for the protocol: write debug output to stderr (in Python `print(..., "
    "file=sys.stderr)`), or as lines `log TEXT`, which the record keeps; a line that begins with one of the "
    "protocol's words would lose the game"
)
STALE_HINT = "send exactly one line `move N TEXT` for each `ask`"
STATUS_HINT = (
    "exit with status 0 on `quit` and at the end of the input; the bot's stderr may say what went wrong"
)
SEED_HINT = (
    "this is not required; to make its games repeatable, derive all randomness from `seed` "
    "and do not depend on the time"
)


class Remark(NamedTuple):
    """One remark: what happened, a hint, and the lines that show it."""

    cause: str  # what identifies it: each cause is told once in a check
    what: str
    hint: str
    lines: tuple[str, ...] = ()


class Remarks:
    """The remarks of a check that were not reported yet; each cause is reported once."""

    def __init__(self) -> None:
        self._causes: set[str] = set()
        self._new: list[Remark] = []

    def add(self, remark: Remark) -> None:
        """Adds a remark, unless there was one of the same cause."""
        if remark.cause not in self._causes:
            self._causes.add(remark.cause)
            self._new.append(remark)

    def take(self) -> tuple[Remark, ...]:
        """The remarks since the last call."""
        new, self._new = self._new, []
        return tuple(new)


def of_noise(lines: Sequence[bytes], count: int) -> Remark:
    """A remark on lines that are no messages: the first of them, and how many there were."""
    texts = [shown(line, 100) for line in lines]
    if count > len(lines):
        texts.append(f"… and {count - len(lines)} more")
    what = "a line that is not a message" if count == 1 else "lines that are not messages"
    return Remark("noise", f"the bot wrote {what} to stdout", NOISE_HINT, tuple(texts))


def of_stale_answers(count: int) -> Remark:
    """A remark on answers to questions that were closed already."""
    was = "was dropped: its question was" if count == 1 else "were dropped: their questions were"
    return Remark("stale", f"{counted(count, 'answer')} {was} already closed", STALE_HINT)
