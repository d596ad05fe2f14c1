"""The events of a game of Floral Extract, and the news lines that report them to a seat. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from referee.games.api import Seat
from referee.games.floral.flowers import NONE, Bloom
from referee.games.floral.sides import Effects, Side
from referee.games.floral.spells import Spells
from referee.games.trail import Audience, TrailLines

TURNS = 5  # turns of a casting phase


class Dealt(NamedTuple):
    """A chance outcome."""

    spells: Spells | None  # the conditions, when the runes are dealt; None before


class Planted(NamedTuple):
    """A planting phase."""

    moves: Mapping[Seat, str]
    before: tuple[Side, Side]


class FloralTurn(NamedTuple):
    """A turn, with all that is reported of it."""

    number: int
    casts: tuple[str, str]
    effects: tuple[Effects, Effects]
    weather: int
    bloomed: tuple[tuple[Bloom, ...], tuple[Bloom, ...]]  # the flowers that bloomed, by seat
    before: tuple[Side, Side]
    after: tuple[Side, Side]


FloralEvent = Dealt | Planted | FloralTurn


class Asked(NamedTuple):
    """What is asked next."""

    acting: tuple[Seat, ...]
    planting: bool
    turn: int  # turns played


def lines(event: FloralEvent, asked: Asked, sides: tuple[Side, Side], audience: Audience) -> TrailLines:
    """The news of an event for an audience, with what is asked next."""
    shows = (0, 1) if audience is None else (audience,)
    match event:
        case FloralTurn():
            told = list(_turn_lines(event, shows, audience))
        case Planted(moves, before):
            told = [
                f"planted {seat + 1} {before[seat].pots.index(None) + 1} {moves[seat]}"
                for seat in shows
                if seat in moves
            ]
        case Dealt(spells):
            told = list(_spell_lines(spells, sides, shows)) if spells else []
    if asked.planting:
        planting = (seat for seat in shows if seat in asked.acting)
        told += [f"plant {seat + 1} {sides[seat].pots.index(None) + 1}" for seat in planting]
    elif asked.acting == (0, 1):
        told.append(f"turn {asked.turn + 1}")
    return tuple(told)


def _spell_lines(spells: Spells, sides: tuple[Side, Side], shows: tuple[Seat, ...]) -> Iterator[str]:
    """The spells of a game, and the runes of seats."""
    for name, spell in zip(spells._fields, spells, strict=True):
        yield f"spell {name} {spell}"
    for seat in shows:
        pairs = zip(sides[seat].symbols, sides[seat].runes, strict=True)
        yield f"runes {seat + 1} {' '.join(f'{symbol}{rune}' for symbol, rune in pairs)}"


def _turn_lines(turn: FloralTurn, shows: tuple[Seat, ...], audience: Audience) -> Iterator[str]:
    sides = turn.after
    yield from _cast_lines(turn, shows, audience)
    if audience is None:
        yield f"weather {turn.weather}"
    for seat in shows:
        yield from _garden_lines(turn, seat)
    for seat, symbol in enumerate(turn.casts):
        if symbol not in sides[seat].symbols:
            right = sides[seat].points > turn.before[seat].points
            yield f"guess {seat + 1} {symbol} {'right' if right else 'wrong'}"
    yield f"points {sides[0].points} {sides[1].points}"
    for seat in shows:
        side = sides[seat]
        yield f"stock {seat + 1} {side.picked} {int(side.charge)} {side.needed}"
    if audience is not None and turn.number % TURNS == 0:
        pots = (NONE if flower is None else str(flower.stage) for flower in sides[1 - audience].pots)
        yield f"stages {2 - audience} {' '.join(pots)}"


def _cast_lines(turn: FloralTurn, shows: tuple[Seat, ...], audience: Audience) -> Iterator[str]:
    """The spells that were cast, with their runes where these are known."""
    sides = turn.after
    for seat, symbol in enumerate(turn.casts):
        declared = symbol not in sides[seat].symbols
        owner = 1 - seat if declared else seat
        known = owner in shows or (audience is not None and symbol in sides[audience].guessed)
        yield f"cast {seat + 1} {symbol}{f' {sides[owner].identity(symbol)}' if known else ''}"


def _garden_lines(turn: FloralTurn, seat: Seat) -> Iterator[str]:
    """What a turn did to the garden of a seat."""
    effects = turn.effects[seat]
    if effects.water:
        yield f"effect {seat + 1} water {' '.join(map(str, range(1, effects.water + 1)))}"
    for name, number in zip(("fertilize", "weather", "sabotage"), effects[1:4], strict=True):
        if number:
            yield f"effect {seat + 1} {name} {number}"
    if effects.guessing:
        yield f"effect {seat + 1} guessing"
    for pot, kind in turn.bloomed[seat]:
        yield f"bloomed {seat + 1} {pot} {kind}"
    yield f"pots {seat + 1} {' '.join(str(flower or NONE) for flower in turn.after[seat].pots)}"
