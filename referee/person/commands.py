"""What a person means by a typed line: a move, or one of the commands. Pure."""

from __future__ import annotations

from typing import NamedTuple

from referee.core.text import meant, shown

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
