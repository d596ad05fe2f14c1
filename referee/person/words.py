"""What persons type, and what they are shown in words: moves, commands, the turn, the clock. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple

from referee.core.seeds import Random
from referee.core.text import WIDTH, counted, meant, shown
from referee.gameplay.api import Question
from referee.gameplay.events import Ending, Event, Moved, Preset, Retired
from referee.gameplay.terms import Terms
from referee.games.api import LOOKED_AT, Refusal, Seat, State


def seat_name(terms: Terms, seat: int) -> str:
    """A seat with the name of its player."""
    return f"seat {seat + 1} {terms.bots[seat]}"


def introduction(terms: Terms, persons: Sequence[int]) -> list[str]:
    """The game, its seats and options, in a few lines."""
    options = " ".join(f"{name}={value}" for name, value in terms.options.items() if value != "")
    lines = [f"{terms.game.name}, {shown(options, 200)}" if options else terms.game.name]
    for seat in range(len(terms.bots)):
        kind = "a person" if seat in persons else "a bot"
        control = terms.controls[seat]
        clock = f", clock {control}" if control.timed else ", no clock"
        lines.append(f"  {seat_name(terms, seat)}: {kind}{clock}")
    return lines


def help_lines(terms: Terms, width: int = WIDTH) -> list[str]:
    """The rules in short, how a move is typed, and the commands."""
    paragraphs = [terms.game.summary, f"How to type a move: {terms.game.notation}"]
    lines = [line for text in paragraphs for line in (*textwrap.wrap(" ".join(text.split()), width), "")]
    lines.append("Commands, in place of a move:")
    for command in COMMANDS:
        name = f"{command.word} {command.argument}".strip()
        lines += textwrap.wrap(
            command.meaning, width, initial_indent=f"  {name:18}", subsequent_indent=" " * 20
        )
    return lines


def moves_lines(found: FoundMoves, beginning: str, width: int = WIDTH) -> list[str]:
    """A list of moves in columns, with how many more there are."""
    if not found.moves:
        after = f" that begins with {shown(beginning, 40)}" if beginning else ""
        return [f"no legal move{after}{'' if found.more == 0 else ' was found in a partial search'}"]
    lines = in_columns(found.moves, width)
    if found.more is None:
        lines.append("and many more; `legal BEGINNING` lists those that begin with it")
    elif found.more:
        lines.append(f"and {found.more:,} more; `legal BEGINNING` lists those that begin with it")
    return lines


def wrapped(text: str, width: int = WIDTH) -> list[str]:
    """A text as lines that are broken at blanks only: a move may have a hyphen."""
    return textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False)


def in_columns(texts: Sequence[str], width: int = WIDTH) -> list[str]:
    """Short texts side by side, as lines."""
    widest = max(map(len, texts)) + 2
    across = max(1, width // widest)
    rows = [texts[at : at + across] for at in range(0, len(texts), across)]
    return ["".join(f"{text:{widest}}" for text in row).rstrip() for row in rows]


def move_text(terms: Terms, event: Event) -> str:
    """Describes an event that is the act of a seat in a line; empty for other events."""
    match event:
        case Moved(seat, text, defaulted=True):
            return f"{seat_name(terms, seat)}: time was up, default {shown(text)}"
        case Moved(seat, text):
            return f"{seat_name(terms, seat)}: {shown(text)}"
        case Preset(seat, text):
            return f"{seat_name(terms, seat)}: {shown(text)}, an opening move made by the referee"
        case Retired(seat, ending, detail):
            why = f": {shown(detail, 200)}" if detail and ending is not Ending.RESIGNED else ""
            return f"{seat_name(terms, seat)} {ending.sentence}{why}"
    return ""


def clock_text(question: Question, used_us: int) -> str:
    """The time that is left for a move, after so much of it: of the allowance, and of the reserve."""
    over = max(0, used_us - question.allowance_us)
    allowance = max(0, question.allowance_us - used_us)
    reserve = max(0, question.reserve_us - over)
    if question.allowance_us and question.reserve_us:
        return f"{minutes(allowance)} left and {minutes(reserve)} in reserve"
    return f"{minutes(allowance + reserve)} left"


def minutes(us: int) -> str:
    """A period in minutes and seconds, rounded up: 0:00 is over."""
    seconds = -(-us // 1_000_000)
    return f"{seconds // 60}:{seconds % 60:02}"


def cannot_go_back(possible: int) -> str:
    """Why this many moves cannot be taken back."""
    return (
        f"only {counted(possible, 'move')} can be taken back"
        if possible
        else "there is no move to take back yet"
    )


MAX_LINE = 500  # how many characters of a typed line are looked at; a line with more is no move of any game

MAX_BACK = 1000  # how many moves can be taken back at once


class Command(NamedTuple):
    """A command that can be typed in place of a move."""

    word: str
    argument: str  # what may follow it; empty if nothing may
    meaning: str


COMMANDS = (
    Command("help", "", "a summary of the game, how to type a move, and these commands"),
    Command("board", "", "the board again"),
    Command("legal", "[BEGINNING]", "legal moves, or only those that begin with this"),
    Command("hint", "", "what the hint bot would play here, knowing no more than you"),
    Command("news", "", "everything that your seat has been told so far"),
    Command("clock", "", "the remaining time"),
    Command("undo", "[N]", "take back the last move that a person made, or the last N of them"),
    Command("resign", "", "give up"),
    Command("quit", "", "leave the game unfinished; it is not recorded"),
    Command("move", "TEXT", "a move that looks like one of these words"),
)
"""All commands; any other line is a move."""

_ALIASES = {"?": "help", "back": "undo", "moves": "legal", "exit": "quit"}
_BY_WORD = {command.word: command for command in COMMANDS}


class TypedLine(NamedTuple):
    """The meaning of a typed line."""

    word: str
    """One of `COMMANDS`; `move` for a move; empty for a line of blanks; `wrong` for a command that is not
    well formed.
    """
    text: str = ""  # what follows the word: the move, the beginning, the reason why it is wrong
    number: int = 1  # how many moves to take back


def meaning(line: str) -> TypedLine:
    """Interprets a typed line. Only whole words are commands, so that moves of few letters stay moves."""
    if len(line) > MAX_LINE:
        return TypedLine("wrong", f"the line has more than {MAX_LINE} characters")
    first, _, rest = line.strip().partition(" ")
    word = _ALIASES.get(first.lower(), first.lower())
    rest = rest.strip()
    command = _BY_WORD.get(word)
    if command is None:
        return TypedLine("move", line.strip()) if first else TypedLine("")
    if rest and not command.argument:
        return TypedLine("wrong", f"`{word}` takes no argument, expected nothing after it")
    if word == "move" and not rest:
        return TypedLine("wrong", "`move` needs a move after it")
    if word == "undo":
        return _undo(rest)
    return TypedLine(word, rest)


def _undo(rest: str) -> TypedLine:
    if not rest:
        return TypedLine("undo")
    if rest.isascii() and rest.isdecimal() and len(rest) <= 4 and 1 <= int(rest) <= MAX_BACK:
        return TypedLine("undo", number=int(rest))
    return TypedLine(
        "wrong", f"`undo {shown(rest, 40)}` has a wrong number of moves, expected 1 to {MAX_BACK}"
    )


def meant_by(line: str) -> str:
    """The command that may be meant by a line that is no move, as a message; empty where none is like it."""
    first = line.strip().partition(" ")[0].lower()
    found = meant(first, _BY_WORD) if len(first) > 2 else ""
    return found if found.startswith("`") else ""


SAMPLED = 300  # how many random moves are looked at besides, where there are more legal ones


class FoundMoves(NamedTuple):
    """Moves with a beginning."""

    moves: list[str]
    more: int | None
    """How many more there are; None if that is unknown, since not all legal moves were looked at."""


class Choices:
    """The choices of one seat in one position. They are made from what the rules tell this seat of its own
    moves, so they say nothing of what is hidden from it.
    """

    def __init__(self, state: State[Any], seat: Seat, rng: Random) -> None:
        """Moves are looked for when they are first asked for; `rng` is used where not all can be."""
        self._state = state
        self._seat = seat
        self._rng = rng
        self._moves: list[tuple[str, str]] | None = None  # each as it is compared, and as it is written
        self._is_whole = True

    def why_not(self, text: str) -> str:
        """Why a text is not a legal move, as a sentence; empty for a legal move."""
        if len(text) > MAX_LINE:
            return f"a move has at most {MAX_LINE:,} characters"
        try:
            self._state.read(self._seat, text)
        except Refusal as refusal:
            return shown(refusal.sentence, 300)
        return ""

    def starting(self, beginning: str, most: int) -> FoundMoves:
        """At most this many legal moves that have this beginning, whatever the case of its letters."""
        wanted = _plain(beginning)
        moves = self._all()
        fitting = [move for plain, move in moves if plain.startswith(wanted)]
        return FoundMoves(fitting[:most], max(0, len(fitting) - most) if self._is_whole else None)

    def _all(self) -> list[tuple[str, str]]:
        if self._moves is None:
            self._moves = [(_plain(move), move) for move in dict.fromkeys(self._looked_for())]
        return self._moves

    def _looked_for(self) -> Iterator[str]:
        state, seat = self._state, self._seat
        moves = list(islice(state.legal(seat), LOOKED_AT + 1))
        self._is_whole = len(moves) <= LOOKED_AT
        yield from map(state.write, moves[:LOOKED_AT])
        if not self._is_whole:
            yield from (state.write(state.sample(seat, self._rng)) for _ in range(SAMPLED))


def _plain(text: str) -> str:
    """A text as it is compared: in small letters, with single blanks, and none before it."""
    plain = " ".join(text.lower().split())
    return f"{plain} " if plain and text.endswith(" ") else plain
