"""A position of Floral Extract as a person sees it: both gardens, as far as a seat knows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from referee.games.api import Seat
from referee.games.floral.flowers import BLOOMS_AT, FLOWERS, NONE, POTS, WEATHERS
from referee.games.floral.sides import SYMBOLS, Side
from referee.games.floral.spells import Condition
from referee.games.floral.symbols import PLANTS, POT, SKIES, UNKNOWN, rune
from referee.games.picture import Mark, Paint, Picture, Plane, Row, Span, row_of
from referee.games.trail import Audience

_PAINTS: tuple[Paint, Paint] = ("seat1", "seat2")

_APART = 2
"""How far pots are apart on the plane; in characters, they are 22 apart and 20 wide."""

_ABOVE = 0.4
"""How far the soil of a pot is above its middle."""


def picture(
    sides: tuple[Side, Side], goal: int, turn: int, weather: int, news: Sequence[str], audience: Audience
) -> Picture:
    """Each garden with its runes, points and charge, what its seat did last, and the conditions of the
    spells. The news are those of the one who looks.
    """
    done = _done(news)
    return (
        _heading(turn, weather if audience is None else None),
        *_bed(sides, 0, goal, news, done, audience),
        *_bed(sides, 1, goal, news, done, audience),
        *(_condition(line) for line in news[:3] if line.startswith("spell ")),
    )


@cache
def _heading(turn: int, weather: int | None) -> Row:
    if weather is None:
        return row_of(Span(f"turn {turn}", "faint"))
    sky = Span("", "", SKIES[weather])
    return row_of(Span(f"turn {turn}, ", "faint"), sky, Span(WEATHERS[weather], "faint"))


def _bed(
    sides: tuple[Side, Side],
    seat: Seat,
    goal: int,
    news: Sequence[str],
    done: Sequence[str],
    audience: Audience,
) -> Iterator[Row | Plane]:
    """The panels of one seat."""
    side = sides[seat]
    points = f"{side.points} of {goal} guessed"
    if audience in (None, seat):
        pots = [
            mark for pot, flower in enumerate(side.pots) for mark in _pot(seat, pot, flower and flower[:2])
        ]
        charge = "a charge to guess" if side.charge else f"needs {side.needed} different runes"
        points += f", {side.picked} picked, {charge}"
        known = side.symbols
    else:
        told = next((line.split()[2:] for line in reversed(news) if line.startswith("stages ")), ["?"] * POTS)
        pots = [mark for pot, stage in enumerate(told) for mark in _other_pot(seat, pot, stage)]
        known = sides[1 - seat].guessed
    yield row_of(Span(f"seat {seat + 1}: ", _PAINTS[seat]), points)
    yield Plane(tuple(pots), _GROUND, 22 / _APART, margin=2)
    runes = zip(side.symbols, side.runes, strict=False)
    yield Row(
        (
            _RUNES,
            *[_rune(seat, symbol, str(identity) if symbol in known else "?") for symbol, identity in runes],
        )
    )
    if words := [span for line in done for span in _words(line, seat)]:
        yield row_of("  last  ", *words[1:])


_RUNES = Span("  runes")


@cache
def _rune(seat: Seat, symbol: str, identity: str) -> Span:
    known = "unknown" if identity == "?" else identity
    text = symbol + identity
    return Span(f" {text}", _PAINTS[seat], rune(text), f"rune {symbol}: {known}")


# --- Pots ------------------------------------------------------------------------------------------------


def _place(pot: int) -> float:
    """Where a pot is; in characters, eight are to the left of the first."""
    return 15.5 / 11 + _APART * pot


_GROUND = (
    Mark(0.14, 0, "pots"),
    *(Mark(_place(pot) - 0.75, 0.2, caption=str(pot + 1), paint="faint") for pot in range(POTS)),
)


def _marks(seat: Seat, pot: int, text: str, caption: str, title: str) -> Mark:
    """A pot, which hides the foot of its plant."""
    title = f"pot {pot + 1} of seat {seat + 1}: {title}"
    return Mark(_place(pot), 0, f"[{text:^18}]", POT, caption, _PAINTS[seat], title)


@cache
def _pot(seat: Seat, pot: int, flower: tuple[str, int] | None) -> tuple[Mark, ...]:
    """A pot and what grows in it, given its kind and stage."""
    if flower is None:
        return (_marks(seat, pot, NONE, "", "empty"),)
    letter, stage = flower
    kind, last = FLOWERS[letter], BLOOMS_AT[letter]
    size = round(0.5 + 0.5 * stage / last, 3)
    return (
        Mark(_place(pot), -_ABOVE, symbol=PLANTS[letter], title=kind, size=size),
        _marks(seat, pot, f"{kind} {stage}/{last}", f"{stage}/{last}", f"{kind}, stage {stage} of {last}"),
        Mark(_place(pot), 0.75, caption=kind, paint="faint", size=0.8),
    )


@cache
def _other_pot(seat: Seat, pot: int, stage: str) -> tuple[Mark, ...]:
    """A pot of which a seat knows only the last stage that it was told, `-` for an empty pot."""
    if stage == NONE:
        return (_marks(seat, pot, NONE, "", "empty when last told"),)
    if stage == "?":
        return (_marks(seat, pot, "?", "?", "not known"),)
    return (
        Mark(_place(pot), -_ABOVE, symbol=UNKNOWN, title="a flower", size=0.75),
        _marks(seat, pot, stage, stage, f"stage {stage} when last told"),
    )


# --- What was done last ------------------------------------------------------------------------------------

_TOLD = ("planted", "cast", "guess", "effect", "bloomed")
"""The news that are shown in words, in this order."""


def _done(news: Sequence[str]) -> list[str]:
    """The news of the last event that are shown in words."""
    done: list[str] = []
    for line in reversed(news):
        word = line.split(" ", 1)[0]
        if word in _TOLD:
            done.append(line)
        elif done and word in ("turn", "plant", "runes"):
            break  # this is what was asked before the event
    done.reverse()
    return sorted(done, key=lambda line: _TOLD.index(line.split(" ", 1)[0]))


def _words(line: str, seat: Seat) -> tuple[Span, ...]:
    """A line of news of a seat in words, after a comma."""
    return _in_words(line, seat) if line.split(" ", 2)[1] == str(seat + 1) else ()


@cache
def _in_words(line: str, seat: Seat) -> tuple[Span, ...]:
    match line.split(" "):
        case ["planted", _, pot, kind]:
            words = "plants nothing" if kind == NONE else f"plants {FLOWERS[kind]} in pot {pot}"
        case ["cast", _, symbol, *identity]:
            owner = seat if symbol in SYMBOLS[seat] else 1 - seat
            verb = "casts" if owner == seat else "guesses"
            return Span(", "), Span(verb), _rune(owner, symbol, "".join(identity) or "?")
        case ["guess", _, _, result]:
            words = result
        case ["effect", _, "water", *pots]:
            words = "waters pot 1" if pots == ["1"] else f"waters pots {' '.join(pots)}"
        case ["effect", _, "fertilize", pot]:
            words = f"fertilizes pot {pot}"
        case ["effect", _, "weather", number]:
            words = f"makes it {WEATHERS[int(number)]}"
        case ["effect", _, "sabotage", pot]:
            words = f"sabotages pot {pot} of seat {2 - seat}"
        case ["effect", _, "guessing"]:
            words = "casts the guessing spell"
        case ["bloomed", _, pot, kind]:
            words = f"{FLOWERS[kind]} blooms in pot {pot}"
        case _:
            raise ValueError(line)
    return Span(", "), Span(words)


# --- The spells --------------------------------------------------------------------------------------------


@cache
def _condition(line: str) -> Row:
    """A condition of a spell in words, from its line of news."""
    _, name, text = line.split(" ", 2)
    condition = Condition.parse(text)
    numbers = condition.numbers
    match condition.form:
        case "set":
            words = f"are all of {', '.join(map(str, numbers))}"
        case "sum":
            words = f"add up to {numbers[0]} to {numbers[1]}"
        case _:
            words = f"follow as {' '.join(condition.relations)}"
    return row_of(Span(f"{name}: the last {condition.length} runes {words}", "faint"))
