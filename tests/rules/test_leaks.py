"""Hidden information: what reaches a bot, byte by byte, holds nothing that its seat may not know.

What a seat may know is written down here a second time, in another way than in the games: as what each
line of news says, and about whom.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from referee.check.rules import random_game
from referee.core.seeds import Stream
from referee.core.units import TimeControl
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import Seat, State
from referee.games.floral.sides import FLOWERS, SYMBOLS, WEATHERS
from referee.games.floral.state import FloralState
from referee.games.picture import Letters, Picture, Row
from referee.games.thetree.state import TreeState
from referee.games.thetree.tree import TILES, tiles_of
from referee.viewing.characters import picture_text
from tests.rules.random_play import CASES, NAMES
from tests.unit.scripted import Answering, Events, Said, ScriptedWire

HIDDEN = [(slug, given) for slug, given in CASES if not GAMES[slug].is_open and given.get("players") != "1"]
IDS = [name for name, case in zip(NAMES, CASES, strict=True) if case in HIDDEN]

POT = r"(-|[ACHWX]\d+)"
NUMBER = r"\d+"
MOVE = r"[0-7]-[0-7]@-?\d+,\d+"
TILE = r"[0-7]-[0-7]"

LINES = {
    "floral": {
        "spell": r"(water|fertilize|weather) (set|sum|seq) [-0-9{},<>= ]+",
        "runes": r"OWN( [A-HS-Z][0-7]){8}",
        "plant": r"OWN [123]",
        "planted": r"OWN [123] [-ACHWX]",
        "turn": NUMBER,
        "cast": r"(OWN MINE [0-7]|SEAT MINE [0-7]|SEAT GUESSED [0-7]|SEAT SECRET)",
        "effect": r"OWN (water 1( 2)?( 3)?|(fertilize|weather|sabotage) [123]|guessing)",
        "bloomed": r"OWN [123] [ACHWX]",
        "pots": rf"OWN {POT} {POT} {POT}",
        "guess": r"SEAT [A-HS-Z] (right|wrong)",
        "points": r"\d \d",
        "stock": r"OWN \d [01] [1-6]",
        "stages": r"OTHER (-|\d+) (-|\d+) (-|\d+)",
    },
    "thetree": {
        "deal": rf"{NUMBER} {NUMBER}",
        "hand": rf"OWN( {TILE}){{9}}",
        "opened": rf"SEAT {MOVE}",
        "move": rf"SEAT {MOVE}",
        "drew": rf"(OWN {TILE}|OTHER)",
        "passed": "SEAT",
        "finished": "SEAT",
        "out": "SEAT( SEAT)*",
        "blocked": "",
    },
}
"""All that may stand behind a word, for a seat that is told it."""


def leaks(slug: str, seat: Seat, lines: Iterable[str]) -> list[str]:
    """The lines of news that this seat should not have got."""
    known = ""
    found = []
    lines = list(lines)
    own = str(seat + 1)
    for number, line in enumerate(lines):
        # A guess that is right is told with its turn's casts, a few lines above it.
        turn = itertools.takewhile(lambda other: not other.startswith("turn "), lines[number:])
        for other in turn:
            if match := re.fullmatch(f"guess {own} (.) right", other):
                known += match[1]
        mine = SYMBOLS[seat % 2]
        secret = "".join(symbol for symbol in SYMBOLS[1 - seat % 2] if symbol not in known)
        word, _, rest = line.partition(" ")
        pattern = LINES[slug].get(word, "nothing")
        for name, meaning in (
            ("OWN", own),
            ("OTHER", f"[1-4](?<!{own})"),
            ("SEAT", "[1-4]"),
            ("MINE", f"[{mine}]"),
            ("GUESSED", f"[{known}]" if known else "nothing"),
            ("SECRET", f"[{secret}]" if secret else "nothing"),
        ):
            pattern = pattern.replace(name, meaning)
        if not re.fullmatch(pattern, rest):
            found.append(line)
    return found


@pytest.mark.parametrize(
    ("slug", "lines"),
    [
        ("floral", ["cast 1 A 3", "cast 2 S 3", "points 0 0", "turn 2", "cast 1 S", "guess 1 S right"]),
        ("floral", ["points 1 1 sunny"]),
        ("floral", ["turn 3 rainy"]),
        ("floral", ["guess 2 A wrong 3"]),
        ("floral", ["stages 2 A3 - -"]),
        ("floral", ["stages 1 3 - -"]),
        ("thetree", ["move 2 0-1@1,1 5-5"]),
        ("thetree", ["drew 2 5-5"]),
    ],
)
def test_lines_that_say_too_much_are_found(slug: str, lines: list[str]) -> None:
    assert leaks(slug, 0, lines)


class Player(Answering):
    """Plays at random what is legal; keeps all that it was written."""

    def __init__(self, seat: Seat, events: Events, start: State[Any], seed: str, rough: bool) -> None:
        self.seat, self.events, self.start = seat, events, start
        self.rng = Stream(f"{seed} {seat}".encode())
        self.manners = Stream(f"manners {seat}".encode())
        self.rough = rough
        self.heard: list[str] = []
        self.rejected = False
        self.move = ""

    def __call__(self, lines: list[str]) -> Iterator[Said]:
        self.heard += lines
        self.rejected = any(line.startswith("rejected") for line in lines)
        yield from super().__call__(lines)

    def answer(self, number: str) -> Iterator[Said]:
        state = self.events.states[-1] if self.events.states else self.start
        if not self.rejected:
            self.move = state.write(state.sample(self.seat, self.rng))
        default = state.default(self.seat)
        if self.rough and default is not None and state.write(default) == self.move:
            return  # its time runs out, and the same is submitted for it
        if self.rough and not self.rejected and not self.manners.below(8):
            yield self.manners.below(300_000), f"move {number} nonsense\n".encode()
        else:
            used_us = 300_000 + self.manners.below(600_000) if self.rough else 10
            yield used_us, f"move {number} {self.move}\n".encode()


def played(slug: str, given: dict[str, str], seed: str, rough: set[Seat]) -> list[Player]:
    """A game through the real match; the rough seats are rejected, late and slow, and play the same moves."""
    game = GAMES[slug]
    options = game.settle(given)
    seats = game.seats(options)
    names = tuple("abcd"[:seats])
    control = TimeControl.parse("1s" if slug == "floral" else "1s+1h")
    terms = Terms(
        ":".join(("1", *names)), game, options, names, (control,) * seats, seed.encode(), b"", 0, 1000
    )
    events = Events()
    bots = [Player(seat, events, game.start(options), seed, seat in rough) for seat in range(seats)]
    play(terms, ScriptedWire(*bots), seeded_dice(terms), events)
    return bots


def news(bot: Player) -> list[str]:
    return [line.removeprefix("news ") for line in bot.heard if line.startswith("news ")]


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize(("slug", "given"), HIDDEN, ids=IDS)
def test_no_news_reach_the_wrong_seat(slug: str, given: dict[str, str]) -> None:
    for number in range(5):
        for bot in played(slug, given, f"news {number}", set()):
            assert news(bot) and not leaks(slug, bot.seat, news(bot))


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("slug", "given"), HIDDEN, ids=IDS)
def test_how_a_seat_came_to_its_move_is_not_told_to_the_others(slug: str, given: dict[str, str]) -> None:
    for number in range(3):
        smooth = played(slug, given, f"rough {number}", set())
        for rough in range(len(smooth)):
            for bot in played(slug, given, f"rough {number}", {rough}):
                if bot.seat != rough:
                    assert bot.heard == smooth[bot.seat].heard
                elif slug == "floral":
                    assert bot.heard != smooth[bot.seat].heard


PRIVATE = {
    "floral": ["runes", "plant", "planted", "cast", "weather", "effect", "bloomed", "pots", "stock"],
    "thetree": ["hand", "drew"],
}


@pytest.mark.parametrize(
    ("slug", "word"), [(slug, word) for slug, words in PRIVATE.items() for word in words]
)
def test_any_private_line_sent_to_the_wrong_seat_is_found(
    slug: str, word: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Breaks the games on purpose, one kind of line at a time: what is for all to see reaches seat 1."""
    state_type = FloralState if slug == "floral" else TreeState
    honest = state_type.seen

    def careless(self: Any, seat: Seat | None) -> tuple[str, ...]:
        lines = honest(self, seat)
        if seat != 0:
            return lines
        mine = set(lines)
        extra = [line for line in honest(self, None) if line.split()[0] == word and line not in mine]
        return lines + tuple(extra[:1])

    monkeypatch.setattr(state_type, "seen", careless)
    given = next(given for name, given in HIDDEN if name == slug)
    told = [news(bot) for number in range(4) for bot in played(slug, given, f"broken {number}", set())[:1]]
    assert any(leaks(slug, 0, lines) for lines in told), f"nobody noticed `{word}`"


def secrets(state: State[Any], seat: Seat) -> set[str]:
    """Words for what a seat may not know, as pictures use them."""
    if isinstance(state, TreeState):
        hidden = [
            *state.table.supply,
            *(tile for other in others(state, seat) for tile in tiles_of(state.table.hands[other])),
        ]
        return {f"tile {one}-{other}" for tile in hidden for one, other in (TILES[tile], TILES[tile][::-1])}
    assert isinstance(state, FloralState)
    own, other = state.sides[seat], state.sides[1 - seat]
    unknown = [symbol for symbol in other.symbols if symbol not in own.guessed] if other.runes else []
    kinds = {FLOWERS[flower.kind] for flower in other.pots if flower} - {
        FLOWERS[kind] for kind in own.planted
    }
    runes = {f"{symbol}{other.identity(symbol)}" for symbol in unknown}
    return {*kinds, *runes, *(f"rune {rune[0]}: {rune[1]}" for rune in runes), f", {WEATHERS[state.weather]}"}


def others(state: TreeState, seat: Seat) -> list[Seat]:
    return [other for other in range(state.table.rules.players) if other != seat]


def words(picture: Picture) -> str:
    """All words in a picture: texts, captions, titles, names of symbols, letters drawn in them."""
    pieces: list[Any] = []
    for panel in picture:
        pieces += panel.spans if isinstance(panel, Row) else panel.ground + panel.marks
    symbols = [piece.symbol for piece in pieces if getattr(piece, "symbol", None)]
    found = [getattr(piece, name, "") or "" for piece in pieces for name in ("text", "caption", "title")]
    found += [symbol.name for symbol in symbols]
    found += [shape.text for symbol in symbols for shape in symbol.shapes if isinstance(shape, Letters)]
    return "\n".join([*found, picture_text(picture)])


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize(("slug", "given"), HIDDEN, ids=IDS)
def test_no_picture_shows_a_seat_what_it_may_not_know(slug: str, given: dict[str, str]) -> None:
    game = GAMES[slug]
    options = game.settle(given)
    hidden = 0
    for number in range(2):
        for state in list(random_game(game, options, f"pictures {number}"))[:60]:
            everything = words(state.picture(None))
            for seat in range(game.seats(options)):
                shown = words(state.picture(seat))
                assert not [secret for secret in secrets(state, seat) if secret in shown]
                hidden += sum(secret in everything for secret in secrets(state, seat))
    assert hidden > 100, "a spectator sees what the seats may not know, in these words"


@pytest.mark.parametrize("slug", LINES)
def test_all_kinds_of_lines_come_up(slug: str) -> None:
    """Else the tests above would hold of nothing."""
    game = GAMES[slug]
    words = set()
    for name, given in HIDDEN:
        for number in range(6 if name == slug else 0):
            *_, last = random_game(game, game.settle(given), f"kinds {number}")
            words |= {line.split()[0] for seat in (0, 1) for line in last.seen(seat)}
    assert words | {"out"} == {*LINES[slug], "out"}, "`out` is for seats that leave, which none does here"
