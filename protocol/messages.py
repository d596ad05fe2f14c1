"""The messages of protocol 1: a frozen dataclass for each, `parse(line, speaker)` and `str(message)`.

Pure code: text in, messages out. A line is one message. Its first word names the message, the other
words are separated by one or more blanks, and a *text* is the rest of the line. `PROTOCOL.md` has a
row for each message; the order here is the order there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from enum import Enum
from operator import attrgetter
from typing import Any, ClassVar, NamedTuple

VERSION = 1

LINE_CAP = 4096
"""The longest line in bytes, newline included, in either direction. Terminals cut lines at the same
length, so the limit is the same on a terminal and on a pipe."""


class Speaker(Enum):
    """The side that sends a message."""

    REFEREE = "REF"
    BOT = "BOT"


class NotAMessage(ValueError):
    """The first word is not a message of the speaker; such a line from a bot is noise."""


class Malformed(ValueError):
    """The line begins as a message and is not well formed; the text says what was expected."""


class _Shape(NamedTuple):
    """How one field is written: its name for people, a function that reads its text, one that writes it."""

    name: str
    read: Callable[[str], Any]
    write: Callable[[Any], str]


_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")


def _quoted(text: str) -> str:
    """A part of a line for an error message, cut to 40 characters."""
    return f"`{text}`" if len(text) <= 40 else f"`{text[:40]}…`"


def _number(text: str) -> int:
    # Not int(): it takes signs, underscores and the digits of every script.
    if not text:
        raise ValueError("a number is missing")
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{_quoted(text)} is not a plain number")
    return int(text)


def _word(text: str) -> str:
    if not text:
        raise ValueError("a word is missing")
    return text


def _text(text: str) -> str:
    if not text:
        raise ValueError("the text is missing")
    return text


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(_number(part) for part in text.split(","))


def _write_ranks(value: Any) -> str:
    return ",".join(map(str, value))


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _write_words(value: Any) -> str:
    return " ".join(value)


def _total(text: str) -> int | None:
    return None if text == "unknown" else _number(text)


NUMBER = _Shape("NUMBER", _number, str)
WORD = _Shape("WORD", _word, str)
TEXT = _Shape("TEXT", _text, str)
FREE = _Shape("[TEXT]", str, str)
RANKS = _Shape("RANK,RANK", _ranks, _write_ranks)
WORDS = _Shape("[WORD ...]", _words, _write_words)
TOTAL = _Shape("NUMBER|unknown", _total, lambda value: "unknown" if value is None else str(value))
OPTIONAL_NUMBER = _Shape(
    "[NUMBER]", lambda text: _number(text) if text else None, lambda v: "" if v is None else str(v)
)

_REST = (TEXT, FREE, WORDS)
"""Shapes that take the rest of the line; only a message's last field can have one."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message; `str()` is its line without the newline."""

    word: ClassVar[str]
    shape: ClassVar[tuple[_Shape, ...]] = ()

    def __str__(self) -> str:
        template, values = _TEMPLATES[type(self)]
        line: str = template % values(self)
        return line

    @classmethod
    def form(cls) -> str:
        """The form of the line for people, such as `ask NUMBER NUMBER NUMBER`."""
        return " ".join([cls.word, *(shape.name for shape in cls.shape)])


@dataclass(frozen=True, slots=True)
class HelloLine(Message):
    """The first message of both sides: the protocol version, and what the sender offers or wants."""

    word: ClassVar[str] = "hello"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, WORDS)
    version: int
    capabilities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GameLine(Message):
    """A new game: which one, the version of its rules, the bot's seat (from 1) and the number of seats."""

    word: ClassVar[str] = "game"
    shape: ClassVar[tuple[_Shape, ...]] = (WORD, NUMBER, NUMBER, NUMBER)
    slug: str
    rules: int
    seat: int
    seats: int


@dataclass(frozen=True, slots=True)
class OptionLine(Message):
    """One option of the game; the value may hold blanks."""

    word: ClassVar[str] = "option"
    shape: ClassVar[tuple[_Shape, ...]] = (WORD, FREE)
    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ClockLine(Message):
    """The seat's time control, milliseconds rounded down; 0 where there is none."""

    word: ClassVar[str] = "clock"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, NUMBER, NUMBER, NUMBER)
    move_ms: int
    reserve_ms: int
    step_ms: int
    increment_ms: int


@dataclass(frozen=True, slots=True)
class SeedLine(Message):
    """The bot's seed for this game, below 2**53 so that every language can hold it exactly."""

    word: ClassVar[str] = "seed"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER,)
    value: int


@dataclass(frozen=True, slots=True)
class PrepareLine(Message):
    """The game is described: get ready and say so."""

    word: ClassVar[str] = "prepare"


@dataclass(frozen=True, slots=True)
class ReadyLine(Message):
    """The bot is ready for the game that was described."""

    word: ClassVar[str] = "ready"


@dataclass(frozen=True, slots=True)
class ChargedLine(Message):
    """What the answer to a question cost: time used and reserve taken, microseconds."""

    word: ClassVar[str] = "charged"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, NUMBER, NUMBER)
    question: int
    used_us: int
    taken_us: int


@dataclass(frozen=True, slots=True)
class DefaultedLine(Message):
    """Time was up for a question, and the game's default move was submitted for the seat."""

    word: ClassVar[str] = "defaulted"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, TEXT)
    question: int
    move: str


@dataclass(frozen=True, slots=True)
class NewsLine(Message):
    """One line of what this seat may know of the game; the game's page defines its form."""

    word: ClassVar[str] = "news"
    shape: ClassVar[tuple[_Shape, ...]] = (TEXT,)
    text: str


@dataclass(frozen=True, slots=True)
class ReserveLine(Message):
    """Another seat's reserve, milliseconds; only in open games, for bots that asked for `clocks`."""

    word: ClassVar[str] = "reserve"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, NUMBER)
    seat: int
    reserve_ms: int


@dataclass(frozen=True, slots=True)
class AskLine(Message):
    """A question: its number, and what remains of this move's allowance and of the reserve, milliseconds."""

    word: ClassVar[str] = "ask"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, NUMBER, NUMBER)
    question: int
    allowance_ms: int
    reserve_ms: int


@dataclass(frozen=True, slots=True)
class MoveLine(Message):
    """The answer to a question."""

    word: ClassVar[str] = "move"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, TEXT)
    question: int
    text: str


@dataclass(frozen=True, slots=True)
class ResignLine(Message):
    """The answer to a question: the seat resigns."""

    word: ClassVar[str] = "resign"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER,)
    question: int


@dataclass(frozen=True, slots=True)
class RejectedLine(Message):
    """The answer was no legal move: the reason as a word and as a sentence. A new question follows."""

    word: ClassVar[str] = "rejected"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, WORD, TEXT)
    question: int
    reason: str
    sentence: str


@dataclass(frozen=True, slots=True)
class ListLine(Message):
    """A request for the legal moves of the open question, at most `most` of them."""

    word: ClassVar[str] = "list"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, OPTIONAL_NUMBER)
    question: int
    most: int | None = None


@dataclass(frozen=True, slots=True)
class LegalLine(Message):
    """The first line of the answer to `list`: `all` or `sample`, the number of `choice` lines, the total."""

    word: ClassVar[str] = "legal"
    shape: ClassVar[tuple[_Shape, ...]] = (NUMBER, WORD, NUMBER, TOTAL)
    question: int
    kind: str
    count: int
    total: int | None


@dataclass(frozen=True, slots=True)
class ChoiceLine(Message):
    """One legal move."""

    word: ClassVar[str] = "choice"
    shape: ClassVar[tuple[_Shape, ...]] = (TEXT,)
    move: str


@dataclass(frozen=True, slots=True)
class EndLine(Message):
    """The game is over: each seat's rank (1 is best, ties share a rank), the ending's word, a sentence."""

    word: ClassVar[str] = "end"
    shape: ClassVar[tuple[_Shape, ...]] = (RANKS, WORD, TEXT)
    ranks: tuple[int, ...]
    ending: str
    sentence: str


@dataclass(frozen=True, slots=True)
class QuitLine(Message):
    """Exit now."""

    word: ClassVar[str] = "quit"


@dataclass(frozen=True, slots=True)
class InfoLine(Message):
    """A text that the record keeps with the bot's next answer: a score, a depth, a line of play."""

    word: ClassVar[str] = "info"
    shape: ClassVar[tuple[_Shape, ...]] = (FREE,)
    text: str


@dataclass(frozen=True, slots=True)
class LogLine(Message):
    """A log line of the bot, kept in the record of the game."""

    word: ClassVar[str] = "log"
    shape: ClassVar[tuple[_Shape, ...]] = (FREE,)
    text: str


def _by_word(kinds: Iterable[type[Message]]) -> dict[str, type[Message]]:
    return {kind.word: kind for kind in kinds}


WORDS_OF: dict[Speaker, dict[str, type[Message]]] = {
    Speaker.REFEREE: _by_word(
        (
            HelloLine,
            GameLine,
            OptionLine,
            ClockLine,
            SeedLine,
            PrepareLine,
            ChargedLine,
            DefaultedLine,
            NewsLine,
            ReserveLine,
        )
        + (AskLine, RejectedLine, LegalLine, ChoiceLine, EndLine, QuitLine)
    ),
    Speaker.BOT: _by_word((HelloLine, ReadyLine, MoveLine, ResignLine, ListLine, InfoLine, LogLine)),
}
"""The messages that each side may send, by their first word."""


def _template(kind: type[Message]) -> tuple[str, Callable[[Any], Any]]:
    """The template of a message's line, and the function that gives the values for it."""
    names = [field.name for field in fields(kind)]
    if not names:
        return kind.word, lambda message: ()
    plain = all(shape.write is str and shape is not FREE for shape in kind.shape)
    if plain:  # nearly all messages, and all that are sent at every move
        return f"{kind.word}{' %s' * len(names)}", attrgetter(*names)

    def written(message: Message) -> str:
        parts = (shape.write(getattr(message, name)) for name, shape in zip(names, kind.shape, strict=True))
        return " ".join(part for part in (kind.word, *parts) if part)

    return "%s", written


_TEMPLATES = {kind: _template(kind) for words in WORDS_OF.values() for kind in words.values()}


# Control characters mean nothing within a message and can do harm in a terminal or a file. Tabs have been
# replaced by blanks before.
_CONTROL = re.compile("[\0-\x1f\x7f]")
_BOM = "\ufeff".encode()


def parse(line: bytes, speaker: Speaker) -> Message:
    """The message in one line, which is given without its newline.

    Raises `NotAMessage` where the first word is not a message of the speaker, and `Malformed` where the rest
    is not well formed.
    """
    line = line.removesuffix(b"\r").replace(b"\t", b" ").strip(b" ")
    first, _, rest = line.partition(b" ")
    if first.startswith(_BOM):
        raise Malformed("the line begins with a byte order mark, expected plain UTF-8")
    kind = WORDS_OF[speaker].get(first.decode("ascii", "replace"))
    if kind is None:
        raise NotAMessage("the first word is not a message of this side")
    try:
        text = rest.decode()
    except UnicodeDecodeError:
        raise Malformed(f"the line is not UTF-8, expected `{kind.form()}`") from None
    if _CONTROL.search(text):
        raise Malformed(f"there is a control character in the line, expected `{kind.form()}`")
    values = []
    try:
        for shape in kind.shape:
            text = text.lstrip(" ")
            if shape in _REST:
                part, text = text, ""
            else:
                part, _, text = text.partition(" ")
            values.append(shape.read(part))
        if text.strip(" "):
            raise ValueError(f"there is extra text {_quoted(text.strip(' '))}")
    except ValueError as error:
        raise Malformed(f"{error}, expected `{kind.form()}`") from None
    return kind(*values)


def encode(*messages: Message) -> bytes:
    """The bytes of messages, one line each. Raises `ValueError` for a message that no line can hold."""
    return encode_lines([str(message) for message in messages])


def encode_lines(lines: list[str]) -> bytes:
    """The bytes of messages that are given as lines. Raises `ValueError` as `encode` does."""
    data = ("\n".join(lines) + "\n").encode()
    if len(data) > LINE_CAP and max(len(line.encode()) for line in lines) >= LINE_CAP:
        raise ValueError("a message is too long for a line")
    # Printable lines, as nearly all are, have no control characters; other lines have to be searched.
    if not "".join(lines).isprintable() and any(map(_CONTROL.search, lines)):
        raise ValueError("a message has a control character")
    return data


class Overlong(NamedTuple):
    """Stands for a line that exceeded the cap; nothing after it in the stream can be trusted."""

    start: bytes
    """The first bytes of the line."""


class LineSplitter:
    """Splits a stream of bytes, given in chunks, into lines, and never holds more than `cap` bytes."""

    def __init__(self, cap: int = LINE_CAP) -> None:
        self._cap = cap
        self.partial = b""
        """The beginning of a line that is not complete yet."""
        self._overlong = False

    def feed(self, data: bytes) -> list[bytes | Overlong]:
        """The lines that are complete with this chunk, without newlines.

        An `Overlong` is the last item of a stream; all data after it is dropped.
        """
        if self._overlong:
            return []
        lines: list[bytes | Overlong] = []
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            line = self.partial + data[start:end] if self.partial else data[start:end]
            self.partial = b""
            start = end + 1
            if len(line) >= self._cap:
                return self._cut(lines, line)
            lines.append(line)
        if len(self.partial) + len(data) - start >= self._cap:  # guard: bytes-of-a-line
            return self._cut(lines, self.partial + data[start : start + self._cap])
        self.partial += data[start:]
        return lines

    def _cut(self, lines: list[bytes | Overlong], line: bytes) -> list[bytes | Overlong]:
        self._overlong = True
        self.partial = b""
        lines.append(Overlong(line[: min(200, self._cap)]))
        return lines
