"""What persons are shown, in words: the game, the turn, the clock, lists of moves. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from referee.core.text import WIDTH, counted, shown
from referee.gameplay.api import Question
from referee.gameplay.events import Ending, Event, Moved, Preset, Retired
from referee.gameplay.terms import Terms
from referee.person.choices import FoundMoves
from referee.person.commands import COMMANDS


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
