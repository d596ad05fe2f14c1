"""Floral Extract, against its rules and against a second, slow implementation."""

from __future__ import annotations

from collections import Counter

import pytest

from referee.core.errors import GameOptionError
from referee.core.seeds import Stream
from referee.core.units import TimeControl
from referee.gameplay.events import Ending, Moved
from referee.gameplay.loop import play as play_match
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import CHANCE, SHARED_CHANCE, BadChance, Illegal, Options
from referee.games.floral import FloralExtract
from referee.games.floral.imagining import consistent
from referee.games.floral.mappings import every_mapping
from referee.games.floral.news import read
from referee.games.floral.sides import FLOWERS, Flower
from referee.games.floral.spells import Condition
from referee.games.floral.state import FloralState
from referee.games.picture import Mark, Picture, Plane, Row, panels_of_seat
from referee.viewing.characters import picture_text
from tests.rules.positions import reason_of
from tests.rules.random_play import quick_first
from tests.unit.scripted import Bot, Events, ScriptedWire, listening, puppet

GAME = FloralExtract()

# --- The rules again -----------------------------------------------------------------------------------

SYMBOLS = {1: "ABCDEFGH", 2: "STUVWXYZ"}
BLOOMS_AT = {"A": 8, "C": 30, "H": 15, "W": 7, "X": 6}
NAMES = ("water", "fertilize", "weather")
SUNNY, CHILLY, RAINY = 1, 2, 3
RELATIONS = {
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    "=": lambda a, b: a == b,
    ">=": lambda a, b: a >= b,
    ">": lambda a, b: a > b,
}

Day = tuple[int, bool, bool]
"""The weather, and whether the flower was watered and fertilized."""


def holds(condition: str, chain: list[int]) -> bool:
    form, length, rest = condition.split(" ", 2)
    n = int(length)
    last = chain[-n:]
    if len(chain) < n:
        return False
    if form == "set":
        return all(rune in [int(member) for member in rest.strip("{}").split(",")] for rune in last)
    if form == "sum":
        low, high = rest.split("-")
        return int(low) <= sum(last) <= int(high)
    return all(RELATIONS[sign](last[i], last[i + 1]) for i, sign in enumerate(rest.split()))


def stages(letter: str, days: list[Day]) -> list[int]:
    """The stage of a flower after each of its days."""
    stage = 0
    found: list[int] = []
    grew: list[bool] = []
    for i, (weather, watered, fertilized) in enumerate(days):
        change = 0
        if letter == "A":
            grows = weather != CHILLY and not (watered and i > 0 and days[i - 1][1])
            if grows:
                change = 1
            elif i > 0 and not grew[i - 1]:
                change = -1
            grew.append(grows)
        elif letter == "C":
            change = 1 + (2 if watered else 0) + (3 if fertilized else 0)
        elif letter == "H":
            change = {SUNNY: 2, CHILLY: -1, RAINY: 0}[weather]
        elif letter == "W":
            thirsty = stage in (2, 4, 6)
            hungry = stage in (3, 6)
            if weather != CHILLY and (watered or not thirsty) and (fertilized or not hungry):
                change = 1
        elif letter == "X" and days[i] not in days[:i]:
            change = 1
        stage = max(0, stage + change)
        found.append(stage)
    return found


class Plant:
    """A flower with its past."""

    def __init__(self, letter: str) -> None:
        self.letter = letter
        self.days: list[Day] = []

    @property
    def stage(self) -> int:
        return stages(self.letter, self.days)[-1] if self.days else 0


class Slow:
    """The rules again: the history is kept, and everything is worked out from it. Seats count from 1."""

    def __init__(self, spells: list[str], runes: dict[int, str], goal: int, max_turns: int) -> None:
        self.spells, self.goal, self.max_turns = spells, goal, max_turns
        self.identity = {s: {SYMBOLS[s][i]: int(runes[s][i]) for i in range(8)} for s in (1, 2)}
        self.casts: dict[int, list[str]] = {1: [], 2: []}
        self.planted: dict[int, list[str]] = {1: [], 2: []}
        self.pots: dict[int, list[Plant | None]] = {1: [None] * 3, 2: [None] * 3}
        self.picked: dict[int, int] = {1: 0, 2: 0}
        self.weathers = [SUNNY]
        self.right: dict[int, list[tuple[int, str]]] = {1: [], 2: []}
        self.wrong: dict[int, list[int]] = {1: [], 2: []}
        self.charged: dict[int, list[int]] = {1: [], 2: []}
        self.phases = 0
        self.lines: dict[int, list[str]] = {
            s: [f"spell {name} {spell}" for name, spell in zip(NAMES, spells, strict=True)]
            + [f"runes {s} " + " ".join(f"{a}{b}" for a, b in self.identity[s].items())]
            for s in (1, 2)
        }
        self._announce()

    # What follows from the history.

    @property
    def turns(self) -> int:
        return len(self.casts[1])

    def own(self, seat: int) -> list[int | None]:
        """The identities of the casts, None for a declaration."""
        return [self.identity[seat].get(symbol) for symbol in self.casts[seat]]

    def chain(self, seat: int) -> list[int]:
        chain: list[int] = []
        for rune in self.own(seat):
            if rune is None:
                chain = []
            elif rune != 0:
                chain.append(rune)
        return chain

    def points(self, seat: int, after: int = 10**6) -> int:
        return sum(turn <= after for turn, _ in self.right[seat])

    def k(self, seat: int) -> int:
        since = max([turn for turn, _ in self.right[seat]], default=0)
        return max(1, 6 - self.points(seat) - sum(turn > since for turn in self.wrong[seat]))

    def charge(self, seat: int) -> int:
        used = max([turn for turn, _ in self.right[seat]] + self.wrong[seat], default=0)
        return int(any(turn > used for turn in self.charged[seat]))

    def can_plant(self, seat: int) -> bool:
        return None in self.pots[seat] and len(self.planted[seat]) < 5

    def asked(self) -> dict[int, str]:
        """Whom the game waits for, and for what."""
        if self.ranks():
            return {}
        if self.turns % 5 == 0 and self.phases <= self.turns // 5:
            planting = {s: "plant" for s in (1, 2) if self.can_plant(s)}
            if planting:
                return planting
        return {1: "cast", 2: "cast"}

    def reason(self, seat: int, text: str) -> str | None:
        if len(text) != 1:
            return "not-a-move"
        if self.asked()[seat] == "plant":
            if text not in "ACHWXachwx-":
                return "not-a-move"
            return "planted-before" if text.upper() in self.planted[seat] else None
        if text == "-":
            return "not-a-move"
        if text not in "ABCDEFGHSTUVWXYZabcdefghstuvwxyz01234567":
            return "no-such-rune"
        text = text.upper()
        if text in SYMBOLS[3 - seat]:
            return None if self.charge(seat) else "no-charge"
        if text == "0" or self.identity[seat].get(text) == 0:
            return "stall-twice" if self.own(seat)[-1:] == [0] else None
        return None

    def canonical(self, seat: int, text: str) -> str:
        if text.isdigit():
            return next(a for a, b in self.identity[seat].items() if b == int(text))
        return text.upper()

    def legal(self, seat: int) -> set[str]:
        texts = "ACHWX-" if self.asked()[seat] == "plant" else SYMBOLS[1] + SYMBOLS[2]
        return {text for text in texts if self.reason(seat, text) is None}

    def ranks(self) -> tuple[int, int] | None:
        one, two = self.points(1), self.points(2)
        if max(one, two) < self.goal and self.turns < self.max_turns:
            return None
        if one >= self.goal and two >= self.goal:
            for turn in range(self.turns, -1, -1):
                if self.points(1, turn) != self.points(2, turn):
                    return (1, 2) if self.points(1, turn) > self.points(2, turn) else (2, 1)
            return 1, 2
        return (1, 1) if one == two else (1, 2) if one > two else (2, 1)

    # What happens.

    def submit(self, texts: dict[int, str]) -> None:
        asked = self.asked()
        assert set(texts) == set(asked)
        if "plant" in asked.values():
            for seat, letter in texts.items():
                pot = self.pots[seat].index(None)
                self.lines[seat].append(f"planted {seat} {pot + 1} {letter}")
                if letter != "-":
                    self.planted[seat].append(letter)
                    self.pots[seat][pot] = Plant(letter)
            self.phases = self.turns // 5 + 1
        else:
            self._turn(texts)
        self._announce()

    def _announce(self) -> None:
        for seat, what in self.asked().items():
            if what == "plant":
                self.lines[seat].append(f"plant {seat} {self.pots[seat].index(None) + 1}")
            else:
                self.lines[seat].append(f"turn {self.turns + 1}")

    def _turn(self, casts: dict[int, str]) -> None:  # noqa: C901 - a turn in the order of the rules
        had_charge = {s: self.charge(s) for s in (1, 2)}
        for seat in (1, 2):
            self.casts[seat].append(casts[seat])
        x = self.turns % 3 or 3
        spells: dict[int, list[str]] = {1: [], 2: []}
        struck: dict[int, int] = {}
        for seat in (1, 2):
            if self.own(seat)[-1]:
                chain = self.chain(seat)
                for name, spell in zip(NAMES, self.spells, strict=True):
                    if holds(spell, chain):
                        spells[seat].append(name)
                if len(chain) >= 2 and chain[-1] + chain[-2] in (8, 10, 12):
                    struck[3 - seat] = {8: 1, 10: 2, 12: 3}[chain[-1] + chain[-2]]
        weather = x if "weather" in spells[1] + spells[2] else self.weathers[-1]
        self.weathers.append(weather)
        bloomed: dict[int, list[str]] = {1: [], 2: []}
        for seat in (1, 2):
            for pot in (1, 2, 3):
                plant = self.pots[seat][pot - 1]
                if plant is None:
                    continue
                watered = weather == RAINY or ("water" in spells[seat] and pot <= x)
                fertilized = "fertilize" in spells[seat] and pot == x
                if struck.get(seat) == pot:
                    watered = fertilized = False
                plant.days.append((weather, watered, fertilized))
                if plant.stage >= BLOOMS_AT[plant.letter]:
                    self.picked[seat] += 1
                    self.pots[seat][pot - 1] = None
                    bloomed[seat].append(f"bloomed {seat} {pot} {plant.letter}")
        guesses: list[str] = []
        guessing: dict[int, bool] = {1: False, 2: False}
        before = {s: (self.points(s), self.k(s)) for s in (1, 2)}
        for seat in (1, 2):
            symbol = casts[seat]
            if symbol in SYMBOLS[3 - seat]:
                assert had_charge[seat]
                rune = self.own(seat)[-2]
                old = [guess for _, guess in self.right[seat]]
                if self.identity[3 - seat][symbol] == rune and symbol not in old:
                    self.right[seat].append((self.turns, symbol))
                    guesses.append(f"guess {seat} {symbol} right")
                else:
                    self.wrong[seat].append(self.turns)
                    guesses.append(f"guess {seat} {symbol} wrong")
            else:
                points, k = before[seat]
                last = self.own(seat)[-k:]
                if self.picked[seat] > points and len(last) == k and None not in last and len(set(last)) == k:
                    guessing[seat] = True
                    self.charged[seat].append(self.turns)
        for seat in (1, 2):
            other = 3 - seat
            known = {**self.identity[seat]}
            known.update({symbol: self.identity[other][symbol] for _, symbol in self.right[seat]})
            for caster in (1, 2):
                symbol = casts[caster]
                self.lines[seat].append(f"cast {caster} {symbol} {known.get(symbol, '')}".strip())
            told = []
            for name in spells[seat]:
                if name == "water":
                    told.append("water " + " ".join(map(str, range(1, x + 1))))
                else:
                    told.append(f"{name} {x}")
            told += [f"sabotage {struck[other]}"] if other in struck else []
            told += ["guessing"] if guessing[seat] else []
            self.lines[seat] += [f"effect {seat} {text}" for text in told]
            self.lines[seat] += bloomed[seat]
            pots = [f"{p.letter}{p.stage}" if p else "-" for p in self.pots[seat]]
            self.lines[seat].append(f"pots {seat} {' '.join(pots)}")
            self.lines[seat] += guesses
            self.lines[seat].append(f"points {self.points(1)} {self.points(2)}")
            self.lines[seat].append(f"stock {seat} {self.picked[seat]} {self.charge(seat)} {self.k(seat)}")
            if self.turns % 5 == 0:
                theirs = [str(p.stage) if p else "-" for p in self.pots[other]]
                self.lines[seat].append(f"stages {other} {' '.join(theirs)}")


# --- Against it ----------------------------------------------------------------------------------------

TEXTS = (*"ABHISXZacsxz0123456789-?ß８ſ²\t", "", "AA", "A A", "-0", "0" * 4096)


def agree(state: FloralState, slow: Slow) -> None:
    asked = slow.asked()
    assert [seat + 1 for seat in state.to_act()] == sorted(asked)
    for seat in (1, 2):
        assert state.seen(seat - 1) == tuple(slow.lines[seat])
        side = state.sides[seat - 1]
        assert (side.picked, side.points, side.charge, side.needed) == (
            *(slow.picked[seat], slow.points(seat)),
            *(bool(slow.charge(seat)), slow.k(seat)),
        )
    assert state.weather == slow.weathers[-1]
    for seat in asked:
        assert {state.write(move) for move in state.legal(seat - 1)} == slow.legal(seat)
    outcome, ranks = state.outcome(), slow.ranks()
    assert (outcome.ranks if outcome else None) == ranks
    if outcome:
        assert outcome.scores == (slow.points(1), slow.points(2))


def right_guess(slow: Slow, seat: int) -> str:
    return next(a for a, b in slow.identity[3 - seat].items() if b == slow.own(seat)[-1])


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("block", quick_first(range(5), 1))
def test_random_games_go_as_in_the_slow_implementation(block: int) -> None:
    rng = Stream(b"floral" + bytes([block]))
    met: set[str] = set()
    for number in range(11):
        given = {"goal": str(1 + rng.below(4)), "max_turns": str(1 + rng.below(80))} if number % 3 else {}
        cheats = rng.below(4)
        state = GAME.start(GAME.settle(given))
        assert state.to_act() == (SHARED_CHANCE,)
        spells = state.draw(rng)
        state = state.chance(spells)
        assert state.to_act() == (CHANCE,)
        runes = state.draw(rng)
        state = state.chance(runes)
        slow = Slow(
            spells.split("; "), dict(enumerate(runes.split(), 1)), state.rules.goal, state.rules.max_turns
        )
        agree(state, slow)
        while asked := slow.asked():
            moves = {}
            for seat in asked:
                text = rng.choice(TEXTS)
                assert reason_of(state, seat - 1, text) == slow.reason(seat, text)
                if slow.reason(seat, text) is None:
                    assert state.read(seat - 1, text) == slow.canonical(seat, text)
                # Random guesses are mostly wrong, and all games would end by their turns.
                if asked[seat] == "cast" and slow.charge(seat) and rng.below(4) < cheats:
                    moves[seat] = right_guess(slow, seat)
                else:
                    moves[seat] = rng.choice(sorted(slow.legal(seat)))
                if asked[seat] == "cast" and len(slow.planted[seat]) == 5 and None in slow.pots[seat]:
                    met.add("types exhausted")
            if len(asked) == 1:
                met.add("one plants")
            slow.submit(moves)
            state = state.play({seat - 1: state.read(seat - 1, move) for seat, move in moves.items()})
            agree(state, slow)
        met.add("goal" if max(slow.points(1), slow.points(2)) == slow.goal else "turns")
        if slow.points(1) == slow.points(2):
            met.add("equal")
    assert {"types exhausted", "one plants", "goal", "turns", "equal"} <= met


# --- Positions by hand ---------------------------------------------------------------------------------

NEVER = "sum 5 35-35"
UP_DOWN_SAME = "seq 3 < <; seq 3 > >; seq 3 = ="
"""Water when runes rise, Fertilize when they fall, Weather when they stay; neighbours' sums are odd."""
ALWAYS = f"sum 3 3-21; sum 3 3-21; {NEVER}"
NEUTRAL = "12" * 30
"""Casts that bring nothing about where spells are as in `UP_DOWN_SAME`, and no sabotage."""
CYCLE = "123456" * 20
"""Any six of them in a row are different, and no two in a row sabotage."""


def start(
    spells: str = UP_DOWN_SAME, goal: int = 4, max_turns: int = 200, runes: str = "01234567 01234567"
) -> FloralState:
    """With these runes seat 1's symbols A to H, and seat 2's S to Z, are 0 to 7 in order."""
    options = {"spells": spells, "goal": str(goal), "max_turns": str(max_turns)}
    state = GAME.start(GAME.settle(options))
    assert state.to_act() == (CHANCE,)
    return state.chance(runes)


def submit(state: FloralState, *texts: str) -> FloralState:
    """What those who are asked submit."""
    asked = state.to_act()
    return state.play({seat: state.read(seat, text) for seat, text in zip(asked, texts, strict=True)})


def play(state: FloralState, one: str, two: str = "", plants: tuple[str, str] = ("", "")) -> FloralState:
    """Both seats' casts; in each planting phase each seat plants the next of its letters, then nothing."""
    left = [list(plants[0]), list(plants[1])]
    for casts in zip(one, two or NEUTRAL, strict=False):
        if state.planting:
            state = submit(state, *(left[seat].pop(0) if left[seat] else "-" for seat in state.to_act()))
        state = submit(state, *casts)
    return state


def told(state: FloralState, seat: int, word: str) -> list[str]:
    """What a seat's news of one kind say, behind the word; seats count from 1."""
    lines = [line.partition(" ") for line in state.seen(seat - 1)]
    return [rest for first, _, rest in lines if first == word]


def pot(state: FloralState, seat: int, number: int) -> list[str]:
    """A pot of the seat's after each turn."""
    return [line.split()[number] for line in told(state, seat, "pots")]


def stock(state: FloralState, seat: int) -> tuple[int, ...]:
    """Picked, charge, k."""
    return tuple(map(int, told(state, seat, "stock")[-1].split()[1:]))


def turns_with(state: FloralState, seat: int, line: str) -> list[int]:
    """The turns on which a seat was told a line that begins so."""
    turn, found = 0, []
    for said in state.seen(seat - 1):
        if said.startswith("turn "):
            turn = int(said[5:])
        elif said.startswith(line):
            found.append(turn)
    return found


def ranks(state: FloralState) -> tuple[int, ...]:
    outcome = state.outcome()
    assert outcome and state.to_act() == ()
    return outcome.ranks


# Flowers: what seat 1 and seat 2 cast, and what the first pot then holds turn by turn.
# With `UP_DOWN_SAME` pot 1 is watered on any turn, and fertilized on turns 1, 4, 7, …
RAIN_FROM_3 = "111" + "2121" * 9
CHILL_FROM_5 = "12111" + "2121" * 9
ALL_WEATHERS = "1" * 20

GROWTH = {
    "azalea in the sun": ("A", NEUTRAL[:8], NEUTRAL, "1 2 3 4 5 6 7 -"),
    "azalea watered on and on shrinks again and again": ("A", "123456712", NEUTRAL, "1 2 3 3 2 1 0 1 2"),
    "azalea watered every other turn grows": ("A", "1232343", NEUTRAL, "1 2 3 4 5 6 7"),
    "azalea in the rain": ("A", NEUTRAL[:8], RAIN_FROM_3, "1 2 3 3 2 1 0 0"),
    "azalea in the cold stops, then shrinks, never below 0": (
        *("A", NEUTRAL[:11], CHILL_FROM_5),
        "1 2 3 4 4 3 2 1 0 0 0",
    ),
    "azalea that stopped for the cold once": ("A", NEUTRAL[:8], "111111", "1 2 3 4 4 5"),
    "chrysanthemum alone": ("C", NEUTRAL[:4], NEUTRAL, "1 2 3 4"),
    "chrysanthemum watered": ("C", "1234", NEUTRAL, "1 2 5 8"),
    "chrysanthemum fertilized": ("C", "76543", NEUTRAL, "1 2 3 7 8"),
    "hyacinth": ("H", NEUTRAL[:8], NEUTRAL, "2 4 6 8 10 12 14 -"),
    "hyacinth in all weathers": ("H", NEUTRAL[:9], ALL_WEATHERS, "2 4 4 6 5 5 7 6 6"),
    "hyacinth in the cold": ("H", NEUTRAL[:15], CHILL_FROM_5, "2 4 6 8 7 6 5 4 3 2 1 0 0 0 0"),
    "wisteria from 2 needs water": ("W", NEUTRAL[:6], NEUTRAL, "1 2 2 2 2 2"),
    "wisteria from 2 is not helped by fertilizer": ("W", "7654", NEUTRAL, "1 2 2 2"),
    "wisteria from 3 is not helped by water": ("W", "12345", NEUTRAL, "1 2 3 3 3"),
    "wisteria from 2, 3, 4, 5, and 6": (
        # Watered on turns 5 to 7, 12, 13 and 18, fertilized on 10 and 16.
        *("W", "12123" + "47654" + "56765" + "456", NEUTRAL),
        "1 2 2 2 3 3 3 3 3 4 4 5 6 6 6 6 6 6",
    ),
    "xanthium": (
        # Its triples: sunny, again, rainy and watered, sunny, chilly, rainy again.
        *("X", NEUTRAL[:6], ALL_WEATHERS),
        "1 1 2 2 3 3",
    ),
    "xanthium meets what is new": (
        # All in the sun: alone, watered on 3 and again on 4, fertilized on 10.
        *("X", "1234312765", NEUTRAL),
        "1 1 2 2 2 2 2 2 2 3",
    ),
    "xanthium fertilized": ("X", "17654321", NEUTRAL, "1 1 1 2 2 2 2 2"),
}


@pytest.mark.parametrize("case", GROWTH)
def test_flowers_grow(case: str) -> None:
    letter, one, two, expected = GROWTH[case]
    state = play(start(), one, two, plants=(letter, ""))
    stages = [line.removeprefix(letter) for line in pot(state, 1, 1)]
    assert " ".join(stages) == expected
    assert told(state, 1, "bloomed") == ([f"1 1 {letter}"] if "-" in stages else [])
    assert stock(state, 1)[0] == stages.count("-")


def test_wisteria_blooms_from_6_with_both_marks_alone() -> None:
    spells = f"seq 3 < <; seq 3 < <; {NEVER}"
    assert pot(play(start(spells), "1234567", plants=("W", "")), 1, 1)[-2:] == ["W6", "-"]
    # Neither on turn 7, water alone on turn 9, both on turn 10.
    state = play(start(spells), "1234561234", plants=("W", ""))
    assert pot(state, 1, 1)[5:] == ["W6", "W6", "W6", "W6", "-"]


def test_wisteria_and_xanthium_in_the_cold() -> None:
    state = play(start(), NEUTRAL[:5], CHILL_FROM_5)
    state = play(state, "121", "212", plants=("W", "X"))
    assert pot(state, 1, 1)[5:] == ["W0", "W0", "W0"] and pot(state, 2, 1)[5:] == ["X1", "X1", "X1"]


def test_a_new_flower_has_no_past() -> None:
    # It rains from turn 3 on; the azalea of turn 6 was not watered on turn 5, though its pot was.
    state = play(play(start(), NEUTRAL[:5], RAIN_FROM_3), NEUTRAL[:3], plants=("A", ""))
    assert pot(state, 1, 1)[5:] == ["A1", "A1", "A0"]


def test_chrysanthemum_blooms_at_30_or_more() -> None:
    # Watered from turn 3 on, fertilized on turns 4, 7 and 10.
    state = play(start(ALWAYS), CYCLE[:10], plants=("C", ""))
    assert " ".join(pot(state, 1, 1)) == "C1 C2 C5 C11 C14 C17 C23 C26 C29 -"
    # Stalling on the last turn, it is neither: 29 and 1 are just enough.
    assert pot(play(start(ALWAYS), CYCLE[:9] + "0", plants=("C", "")), 1, 1)[-2:] == ["C29", "-"]


def test_xanthium_blooms_of_six_triples() -> None:
    spells = "seq 3 < <; seq 3 < <; seq 3 = ="
    # Sunny: alone on 1, watered on 3, both on 4. Rain: watered on 6, both on 7. Chilly: alone on 11.
    state = play(start(spells), "13453564765", "12122212222", plants=("X", ""))
    assert " ".join(pot(state, 1, 1)) == "X1 X1 X2 X3 X3 X4 X5 X5 X5 X5 -"


# --- The order within a turn ---------------------------------------------------------------------------


def test_weather_counts_on_the_turn_on_which_it_is_cast() -> None:
    # Either seat's; seat 2 casts it here. Rain waters at once, cold stops at once.
    state = play(start(), NEUTRAL[:5], ALL_WEATHERS, plants=("C", "H"))
    assert pot(state, 1, 1) == ["C1", "C2", "C5", "C6", "C7"]
    assert pot(state, 2, 1) == ["H2", "H4", "H4", "H6", "H5"]
    assert told(state, 2, "effect") == ["2 weather 3", "2 weather 1", "2 weather 2"]
    assert not told(state, 1, "effect")


def test_both_cast_weather_on_one_turn() -> None:
    state = play(start(), "111", "222")
    assert state.weather == 3
    assert told(state, 1, "effect") == ["1 weather 3"] and told(state, 2, "effect") == ["2 weather 3"]


@pytest.mark.parametrize(
    ("runes", "number"), [("17", 1), ("62", 1), ("37", 2), ("55", 2), ("57", 3), ("66", 3)]
)
def test_sabotage_takes_the_marks_of_rain_off_one_pot(runes: str, number: int) -> None:
    # Seat 2 plants a chrysanthemum last, in the pot that will be struck.
    state = play(start(), NEUTRAL[: 5 * number], RAIN_FROM_3, plants=("", "HAC"[-number:]))
    stage = int(pot(state, 2, number)[-1][1:])
    state = play(state, runes, "12" if number == 2 else "21")
    after = [int(line[1:]) for line in pot(state, 2, number)[-2:]]
    assert after == [stage + 3, stage + 3 + 1]
    assert told(state, 1, "effect")[-1] == f"1 sabotage {number}"
    assert not [line for line in told(state, 2, "effect") if "sabotage" in line]


def test_sabotage_takes_water_and_fertilizer() -> None:
    # On turn 4 seat 1 would give both to its chrysanthemum, 6 in all.
    state = play(start(ALWAYS), "1212", "1771", plants=("C", ""))
    assert pot(state, 1, 1) == ["C1", "C2", "C5", "C6"]
    # Of two that strike different pots only one has a flower.
    state = play(start(ALWAYS), "1212", "1255", plants=("C", ""))
    assert pot(state, 1, 1) == ["C1", "C2", "C5", "C11"]


def test_sabotage_of_empty_pots_is_told_like_any_other() -> None:
    state = play(start(), "172", "121")
    assert told(state, 1, "effect") == ["1 sabotage 1"] and not told(state, 2, "effect")


def test_sabotage_with_stalls_between() -> None:
    # The chain is 1 7 3: the stall between does not count, and no spell is worked out on it.
    state = play(start(), "10703")
    assert turns_with(state, 1, "effect 1 sabotage") == [3, 5]
    assert told(state, 1, "effect") == ["1 sabotage 1", "1 sabotage 2"]


def test_water_reaches_pots_1_to_x_and_fertilizer_pot_x() -> None:
    state = play(start(ALWAYS), CYCLE[:6])
    told_ = told(state, 1, "effect")
    assert told_ == [
        *("1 water 1 2 3", "1 fertilize 3", "1 water 1", "1 fertilize 1"),
        *("1 water 1 2", "1 fertilize 2", "1 water 1 2 3", "1 fertilize 3"),
    ]
    # A chrysanthemum in pot 2 behind a wisteria in pot 1: fertilized on 8, watered but on 7 and 10.
    state = play(start(ALWAYS), CYCLE[:10], plants=("WC", ""))
    assert pot(state, 1, 2)[5:] == ["C3", "C4", "C10", "C13", "C14"]


def test_a_flower_picked_on_this_turn_counts_for_the_guessing_spell_of_this_turn() -> None:
    state = play(start(ALWAYS), CYCLE[:10], plants=("C", ""))
    assert turns_with(state, 1, "bloomed") == turns_with(state, 1, "effect 1 guessing") == [10]
    assert stock(state, 1) == (1, 1, 6)


# --- Conditions ----------------------------------------------------------------------------------------

CONDITIONS = {
    # condition and casts: the turns on which it holds
    ("set 3 {1,2,5}", "125521612"): [3, 4, 5, 6],
    ("set 4 {1,2,5}", "1255261"): [4, 5],
    ("set 5 {1,2,3,4,5}", "1234567"): [5],
    ("set 3 {1,2,5}", "1025011"): [4, 6, 7],
    ("sum 3 3-3", "1111211"): [3, 4],
    ("sum 3 6-7", "1234223"): [3, 7],
    ("sum 4 9-17", "123456"): [4, 5],
    ("sum 5 35-35", "7777777"): [5, 6, 7],
    ("seq 3 < <", "1233456"): [3, 6, 7],
    ("seq 3 <= <=", "1223321"): [3, 4, 5],
    ("seq 3 = =", "1112333"): [3, 7],
    ("seq 3 >= >=", "5443345"): [3, 4, 5],
    ("seq 3 > >", "7654455"): [3, 4],
    ("seq 4 < >= =", "1322133"): [4],
    ("seq 5 < > < >", "1212121"): [5, 7],
    ("seq 3 < >", "1020301"): [7],
    ("seq 3 < <", "102003"): [],  # the second stall in a row is never cast, see below
}


@pytest.mark.parametrize(("condition", "casts"), CONDITIONS)
def test_conditions(condition: str, casts: str) -> None:
    expected = CONDITIONS[condition, casts]
    state = start(f"{NEVER}; {NEVER}; {condition}")
    if "00" in casts:
        with pytest.raises(Illegal):
            play(state, casts)
        return
    assert turns_with(play(state, casts), 1, "effect 1 weather") == expected


def test_two_spells_may_have_the_same_condition_and_both_are_cast() -> None:
    state = play(start("seq 3 < <; seq 3 < <; seq 3 < <"), "123")
    assert told(state, 1, "effect") == ["1 water 1 2 3", "1 fertilize 3", "1 weather 3"]


# --- Stalling ------------------------------------------------------------------------------------------


def test_stalling_twice_in_a_row_is_illegal() -> None:
    state = play(start(), "0")
    assert reason_of(state, 0, "0") == reason_of(state, 0, "a") == "stall-twice"
    assert "A" not in list(state.legal(0)) and "S" in list(state.legal(1))
    assert reason_of(play(state, "1"), 0, "0") is None


def test_a_planting_phase_does_not_lift_the_bar_and_a_declaration_does() -> None:
    state = play(start(ALWAYS), "1234123450", plants=("C", ""))
    assert stock(state, 1) == (1, 1, 6), "the last six casts were 1 2 3 4 5 0"
    state = submit(state, "-", "-")
    assert reason_of(state, 0, "0") == "stall-twice"
    state = submit(state, "S", "1")
    assert told(state, 1, "guess") == ["1 S right"], "rune 0 can be guessed too"
    assert reason_of(state, 0, "0") is None
    assert told(play(state, "0"), 1, "cast")[-2:] == ["1 A 0", "2 T"]


# --- Guessing ------------------------------------------------------------------------------------------


def garden(flowers: int = 2, goal: int = 4, max_turns: int = 200) -> FloralState:
    """Both seats have picked two or three flowers and hold a charge; the last cast was 3 or 6."""
    if flowers == 2:
        return play(start(ALWAYS, goal, max_turns), CYCLE[:15], CYCLE, plants=("HC", "HC"))
    spells = f"{NEVER}; sum 3 3-21; {NEVER}"
    return play(start(spells, goal, max_turns), CYCLE[:30], CYCLE, plants=("AHC", "AHC"))


def declare(state: FloralState, *declaring: int) -> FloralState:
    """Both seats cast in a cycle until these can make a right declaration on one turn, and they do."""
    while True:
        casts, ready = {}, True
        for seat in (1, 2):
            last = int(own_cast(state, seat).split()[2])
            casts[seat] = str(last % 6 + 1)
            if seat in declaring:
                symbol = "STUVWXYZABCDEFGH"[last + 8 * (seat - 1)]
                ready &= stock(state, seat)[1] == 1 and f"{seat} {symbol} right" not in told(
                    state, seat, "guess"
                )
                casts[seat] += symbol
        state = play(state, casts[1][-1 if ready else 0], casts[2][-1 if ready else 0])
        if ready:
            return state


def own_cast(state: FloralState, seat: int) -> str:
    """The seat's last cast of an own rune."""
    casts = [line for line in told(state, seat, "cast") if line.startswith(f"{seat} ")]
    own = "ABCDEFGH" if seat == 1 else "STUVWXYZ"
    return next(line for line in reversed(casts) if line.split()[1] in own)


def test_k_falls_with_wrong_declarations_and_is_reset_by_a_right_one() -> None:
    state = play(start(ALWAYS), CYCLE[:10], plants=("C", ""))
    for k in (6, 5, 4, 3, 2, 1, 1):
        before = len(told(state, 1, "guess"))
        # Right would be the rune before, so S, which is 0, is wrong.
        state = play(state, "S")
        assert told(state, 1, "guess")[before:] == ["1 S wrong"]
        needed = max(1, k - 1)
        assert stock(state, 1) == (1, 0, needed)
        for cast in range(1, needed + 1):
            assert stock(state, 1)[1] == 0
            state = play(state, CYCLE[cast])
        assert stock(state, 1) == (1, 1, needed)
    state = play(state, "U")
    assert told(state, 1, "guess")[-1] == "1 U right"
    assert told(state, 1, "points")[-1] == "1 0" and stock(state, 1) == (1, 0, 5)
    # One flower picked, one point: no more charges.
    state = play(state, CYCLE[:14])
    assert stock(state, 1) == (1, 0, 5) and len(turns_with(state, 1, "effect 1 guessing")) == 8


def test_k_counts_points_and_the_wrong_ones_since() -> None:
    state = play(declare(garden(), 1), "123456")
    assert stock(state, 1) == (2, 1, 5)
    assert turns_with(state, 1, "effect 1 guessing")[-2:] == [21, 22], "five casts after the declaration"
    state = play(state, "S")
    assert stock(state, 1) == (2, 0, 4)
    state = play(state, "1231")
    assert stock(state, 1) == (2, 0, 4), "1 2 3 1 are not all different"
    state = play(state, "4")
    assert stock(state, 1) == (2, 1, 4)


def test_a_second_charge_is_not_kept_though_the_spell_is_told() -> None:
    state = garden()
    assert turns_with(state, 1, "effect 1 guessing") == list(range(8, 16)) and stock(state, 1)[1] == 1
    state = play(state, "S")
    assert stock(state, 1)[1] == 0 and reason_of(play(state, "1"), 0, "S") == "no-charge"


def test_no_flower_no_charge() -> None:
    state = play(start(ALWAYS), CYCLE[:20])
    assert stock(state, 1) == (0, 0, 6) and not turns_with(state, 1, "effect 1 guessing")
    assert reason_of(play(state, "1"), 0, "S") == "no-charge"


def test_a_declaration_cuts_the_chain() -> None:
    state = play(start(ALWAYS), CYCLE[:10], plants=("C", ""))
    water = turns_with(state, 1, "effect 1 water")
    state = play(state, "S44722")
    assert turns_with(state, 1, "effect 1 water") == [*water, 14, 15, 16]
    # The 4 of turn 10 and that of turn 12 are no pair, those of 12 and 13 are.
    assert turns_with(state, 1, "effect 1 sabotage") == [13]


def test_a_declaration_is_of_the_rune_of_the_turn_before() -> None:
    state = play(garden(), "4")
    assert told(play(state, "V"), 1, "guess") == ["1 V wrong"]
    assert told(play(state, "W"), 1, "guess") == ["1 W right"]
    # Whatever is cast by the other at the same time.
    assert told(play(state, "W", "4"), 1, "guess") == ["1 W right"]


def test_a_symbol_that_was_guessed_right_is_wrong_the_next_time() -> None:
    state = declare(garden(), 1)
    assert told(state, 1, "guess") == ["1 V right"] and told(state, 1, "cast")[-2] == "1 V 3"
    state = play(state, "12453")
    assert stock(state, 1) == (2, 1, 5)
    state = play(state, "V")
    assert told(state, 1, "guess") == ["1 V right", "1 V wrong"] and stock(state, 1) == (2, 0, 4)
    assert told(state, 1, "points")[-1] == "1 0"


def test_what_is_told_of_declarations() -> None:
    state = play(play(garden(), "V", "A"), "1", "3")
    # Seat 1 knows its own symbols and V; seat 2 its own, and nothing of the wrong A.
    assert told(state, 1, "cast")[-4:] == ["1 V 3", "2 A 0", "1 B 1", "2 V 3"]
    assert told(state, 2, "cast")[-4:] == ["1 V 3", "2 A", "1 B", "2 V 3"]
    assert told(state, 1, "guess") == told(state, 2, "guess") == ["1 V right", "2 A wrong"]
    assert told(state, 2, "points")[-1] == "1 0"


# --- Winning -------------------------------------------------------------------------------------------


def test_the_goal_ends_the_game() -> None:
    assert ranks(declare(garden(goal=1), 1)) == (1, 2)
    assert ranks(declare(garden(goal=1), 2)) == (2, 1)
    outcome = declare(garden(goal=1), 2).outcome()
    assert outcome and outcome.scores == (0, 1)
    # With a planting phase due: turn 20 was the last.
    state = declare(play(garden(goal=1), "4561", "4561"), 1)
    assert ranks(state) == (1, 2) and told(state, 1, "turn")[-1] == "20"
    assert told(state, 1, "plant")[-1] == "1 1" and len(told(state, 1, "plant")) == 4


def test_both_reach_the_goal_on_one_turn() -> None:
    assert ranks(declare(garden(goal=1), 1, 2)) == (1, 2), "never apart: seat 1 has the advantage"
    assert ranks(declare(declare(garden(goal=2), 1, 2), 1, 2)) == (1, 2)
    for first, other in ((1, 2), (2, 1)):
        state = declare(declare(garden(goal=2), first), other)
        assert told(state, 1, "points")[-1] == "1 1"
        state = declare(state, 1, 2)
        assert told(state, 1, "points")[-1] == "2 2" and ranks(state)[first - 1] == 1


@pytest.mark.parametrize(("scoring", "winner"), [("1221", 2), ("2112", 1), ("1212", 1), ("2121", 2)])
def test_who_was_ahead_last_wins_and_not_who_was_first(scoring: str, winner: int) -> None:
    state = garden(3, goal=3)
    for seat in scoring:
        state = declare(state, int(seat))
    assert told(state, 1, "points")[-1] == "2 2" and state.outcome() is None
    state = declare(state, 1, 2)
    assert told(state, 1, "points")[-1] == "3 3" and ranks(state)[winner - 1] == 1


def test_after_max_turns_more_points_win() -> None:
    assert ranks(play(garden(max_turns=16), "4", "4")) == (1, 1)
    assert ranks(declare(garden(max_turns=16), 2)) == (2, 1)
    assert ranks(declare(garden(max_turns=16), 1)) == (1, 2)
    both = declare(garden(max_turns=16), 1, 2).outcome()
    assert both and both.ranks == (1, 1) and both.scores == (1, 1)


def test_the_goal_on_the_last_turn_is_the_goal() -> None:
    assert ranks(declare(garden(goal=1, max_turns=16), 2)) == (2, 1)
    assert ranks(declare(garden(goal=1, max_turns=16), 1, 2)) == (1, 2), "no draw: both have reached it"


def test_no_planting_follows_the_last_turn() -> None:
    state = play(start(max_turns=5), NEUTRAL[:5])
    assert ranks(state) == (1, 1) and len(told(state, 1, "plant")) == 1
    assert told(state, 1, "turn")[-1] == "5" and told(state, 1, "stages") == ["2 - - -"]
    state = play(start(max_turns=1), "1")
    assert ranks(state) == (1, 1)
    assert play(start(max_turns=6), NEUTRAL[:5]).planting


def test_whoever_leaves_loses() -> None:
    state = declare(garden(), 1)
    for at in (state, start(), GAME.start(GAME.settle({})), play(garden(), "45612", "45612")):
        assert at.drop([0]).outcome() and ranks(at.drop([0])) == (2, 1)
        assert ranks(at.drop([1])) == (1, 2)
        assert at.drop([0, 1]).seen(0) == at.seen(0)
    assert ranks(state.drop([0, 1])) == (1, 2) and ranks(declare(garden(), 2).drop([0, 1])) == (2, 1)
    assert ranks(start().drop([0, 1])) == (1, 1)
    assert state.drop([0]).outcome() != state.drop([1]).outcome() and state.outcome() is None


# --- Planting ------------------------------------------------------------------------------------------


def test_who_is_asked_to_plant() -> None:
    state = play(start(), NEUTRAL[:10], plants=("WX", "W"))
    assert state.to_act() == (0, 1) and told(state, 1, "plant")[-1] == "1 3"
    assert told(state, 2, "plant")[-1] == "2 2", "the leftmost empty pot, as nothing was planted last"
    state = play(submit(state, "C", "X"), NEUTRAL[:5])
    assert state.to_act() == (1,), "three pots are full"
    seen = state.seen(0)
    assert seen[-1].startswith("stages 2 "), "seat 1 is told nothing of the other's planting"
    state = submit(state, "C")
    assert state.to_act() == (0, 1) and state.seen(0) == (*seen, "turn 16")
    assert state.seen(1)[-3:] == ("plant 2 3", "planted 2 3 C", "turn 16")
    state = play(state, NEUTRAL[:5])
    assert not state.planting and state.seen(0)[-1] == "turn 21", "nobody can: the phase is skipped"


def test_a_flower_goes_to_the_leftmost_empty_pot() -> None:
    state = play(start(), NEUTRAL[:10], plants=("HW", ""))
    assert pot(state, 1, 1)[-1] == "-" and pot(state, 1, 2)[-1] == "W2"
    state = play(submit(state, "x", "-"), "1")
    assert told(state, 1, "planted") == ["1 1 H", "1 2 W", "1 1 X"]
    assert told(state, 1, "pots")[-1] == "1 X1 W2 -"


def test_nothing_may_be_planted_though_there_is_room_and_types_are_of_one_game() -> None:
    state = submit(start(), "-", "W")
    assert told(state, 1, "planted") == ["1 1 -"]
    state = play(state, NEUTRAL[:5])
    assert list(state.legal(0)) == [*"ACHWX-"] and list(state.legal(1)) == [*"ACHX-"]


def test_the_other_s_stages_are_told_after_every_fifth_turn() -> None:
    state = play(start(), NEUTRAL[:11], plants=("HX", "W"))
    assert told(state, 1, "stages") == ["2 2 - -", "2 2 - -"]
    assert told(state, 2, "stages") == ["1 10 - -", "1 - 1 -"]
    assert turns_with(state, 1, "stages") == [5, 10]


# --- Moves and options -------------------------------------------------------------------------------


def test_what_is_no_planting() -> None:
    texts = ("", "AA", "ACHWX", "B", "z", "0", "5", "?", "ß", "Ａ", "ＡＡ", "ｘ", "\0", "A" * 4096)
    for state in (start(), play(start(), NEUTRAL[:5], plants=("A", ""))):
        assert {text: reason_of(state, 0, text) for text in texts} == dict.fromkeys(texts, "not-a-move")


def test_reasons_while_planting() -> None:
    state = play(start(), NEUTRAL[:5], plants=("A", ""))
    assert reason_of(state, 0, "A") == reason_of(state, 0, "a") == "planted-before"
    assert reason_of(state, 1, "A") is None and reason_of(state, 0, "S") == "not-a-move"
    assert [state.read(0, text) for text in "chwx-"] == [*"CHWX-"]
    with pytest.raises(Illegal, match="Azalea"):
        state.read(0, "a")


def test_reasons_while_casting() -> None:
    expected: dict[str, str | None] = {
        **dict.fromkeys(("", "-", "AA", "A1", "10", "--", "ＡＡ", "ss", "0" * 4096), "not-a-move"),
        **dict.fromkeys("89IRirßſＡ８²٣?+_é\0😀\t", "no-such-rune"),
        **dict.fromkeys("Aa0", "stall-twice"),
        **dict.fromkeys("SsTzZ", "no-charge"),
        **dict.fromkeys("BbHh1267"),
    }
    state = play(start(), "0")
    assert {text: reason_of(state, 0, text) for text in expected} == expected


def test_a_digit_is_the_seat_s_own_identity_and_the_symbol_is_recorded() -> None:
    state = submit(start(runes="35710246 45671230"), "-", "-")
    assert [state.read(0, text) for text in "01234567"] == [*"EDFAGBHC"]
    assert [state.read(1, text) for text in "01234567"] == [*"ZWXYSTUV"]
    assert [state.write(state.read(1, text)) for text in "sz"] == ["S", "Z"]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("set 3 {1,2,5}; sum 4 9-17; seq 3 < >=", None),
        ("set 3 {5,1,2};sum 4  9-17 ;  seq 5 <= = >= >", "set 3 {1,2,5}; sum 4 9-17; seq 5 <= = >= >"),
        (
            "set 5 {7,6,5,4,3}; set 4 {1,2,3,4}; set 3 {1,2,3}",
            "set 5 {3,4,5,6,7}; set 4 {1,2,3,4}; set 3 {1,2,3}",
        ),
        ("sum 3 3-21; sum 5 5-35; sum 4 28-28", None),
        ("seq 4 < < <; seq 4 < < <; seq 4 < < <", None),
    ],
)
def test_conditions_are_read_and_spelled(text: str, canonical: str | None) -> None:
    settled = GAME.settle({"spells": text})
    assert settled["spells"] == (canonical or text)
    assert GAME.settle({"spells": str(settled["spells"])}) == settled
    names = ("water", "fertilize", "weather")
    expected = [f"{name} {part}" for name, part in zip(names, (canonical or text).split("; "), strict=True)]
    assert told(start(text), 1, "spell") == told(start(text), 2, "spell") == expected


SUM = "sum 4 9-17"


@pytest.mark.parametrize(
    "text",
    [
        *(SUM, f"{SUM}; {SUM}", f"{SUM}; {SUM}; {SUM}; {SUM}", f"{SUM}; {SUM};", ";;", "x", "ß" * 4096),
        *(f"{SUM}; {SUM}; {bad}" for bad in ("set 2 {1,2,3}", "set 6 {1,2,3}", "set 3 {1,2}", "set 3 {}")),
        *(f"{SUM}; {bad}; {SUM}" for bad in ("set 3 {1,2,3,4,5,6}", "set 3 {0,1,2}", "set 3 {1,2,8}")),
        *(f"{bad}; {SUM}; {SUM}" for bad in ("set 3 {1,2,2}", "set 3 1,2,3", "set 3 {1,2,３}", "sum 4 17-9")),
        *(
            f"{bad}; {SUM}; {SUM}"
            for bad in ("sum 4 3-9", "sum 4 4-29", "sum 4 -4", "sum 4 04-9", "sum 2 3-9")
        ),
        *(
            f"{bad}; {SUM}; {SUM}"
            for bad in ("seq 3 <", "seq 3 < < <", "seq 3 < ==", "seq 6 < < < < <", "seq 3")
        ),
    ],
)
def test_bad_conditions(text: str) -> None:
    with pytest.raises(GameOptionError) as caught:
        GAME.settle({"spells": text})
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text",
    [
        *("", "01234567", "01234567 0123456", "01234567 01234568", "01234567 01234566"),
        *("01234567  01234567", "01234567 01234567 ", "01234567 01234567 01234567", "０1234567 01234567"),
        *("ABCDEFGH STUVWXYZ", "set 3 {1,2,5}; sum 4 9-17; seq 3 < >=", "ß" * 4096),
    ],
)
def test_bad_runes(text: str) -> None:
    state = GAME.start(GAME.settle({"spells": f"{SUM}; {SUM}; {SUM}"}))
    with pytest.raises(BadChance) as caught:
        state.chance(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    "text",
    [
        *("", "01234567 01234567", SUM, f"{SUM};{SUM};{SUM}", f"{SUM}; {SUM}; set 3 {{2,1,3}}"),
        # Two different values are drawn.
        *(f"{SUM}; {SUM}; sum 4 9-9", f"{SUM}; {SUM}; sum 4 3-9"),
    ],
)
def test_bad_drawn_conditions(text: str) -> None:
    with pytest.raises(BadChance):
        GAME.start(GAME.settle({})).chance(text)


def test_conditions_are_drawn_as_the_rules_say() -> None:
    rng = Stream(b"conditions")
    state = GAME.start(GAME.settle({}))
    found: dict[str, int] = {}
    for _ in range(1500):
        for condition in state.draw(rng).split("; "):
            form, length, rest = condition.split(" ", 2)
            size = len(rest.split(",")) if form == "set" else 0
            for key in (
                form,
                f"{form} {length}",
                f"{form} size {size}",
                *(rest.split() if form == "seq" else ()),
            ):
                found[key] = found.get(key, 0) + 1
    for form in ("set", "sum", "seq"):
        assert 1350 < found[form] < 1650
        assert all(420 < found[f"{form} {n}"] < 580 for n in (3, 4, 5))
    assert all(420 < found[f"set size {n}"] < 580 for n in (3, 4, 5))
    # 4,500 conditions, a third of them `seq` with 3 relations in the mean.
    assert all(780 < found[relation] < 1020 for relation in ("<", "<=", "=", ">=", ">"))


# --- Hidden information --------------------------------------------------------------------------------


def random_game(rng: Stream, turns: int, options: Options) -> FloralState:
    state = GAME.start(options)
    while state.to_act() and state.turn < turns:
        if state.to_act()[0] in (CHANCE, SHARED_CHANCE):
            state = state.chance(state.draw(rng))
        else:
            state = state.play({seat: state.sample(seat, rng) for seat in state.to_act()})
    return state


def full(state: FloralState) -> tuple[tuple[str, ...], ...]:
    return state.seen(0), state.seen(1), state.seen(None)


def test_imagined_games_agree_with_declarations() -> None:
    state = play(play(declare(garden(), 1), "1234567", "7654321"), "S", "A")
    options = GAME.settle({"spells": ALWAYS})
    for seat in (0, 1):
        dream = GAME.imagine(options, seat, state.seen(seat), Stream(b"d"))
        assert dream.seen(seat) == state.seen(seat) and dream.to_act() == state.to_act()
        assert told(dream, 1, "guess") == ["1 V right", "1 S wrong", "2 A wrong"]
        assert full(dream) != full(state)


def cast(state: FloralState, seat: int, rng: Stream, knows: bool) -> str:
    """At random, but with a charge a declaration, which a seat that knows gets right now and then."""
    own, other = state.sides[seat], state.sides[1 - seat]
    if own.charge and rng.below(2):
        if knows and rng.below(2):
            return other.symbols[other.runes.index(own.previous)]
        return rng.choice(other.symbols)
    legal = list(state.legal(seat))
    # Different runes in a row, for the guessing spell.
    fresh = [symbol for symbol in own.symbols if own.identity(symbol) not in own.row[-5:]]
    return rng.choice([symbol for symbol in legal if symbol in fresh] if knows and fresh else legal)


@pytest.mark.slow
@pytest.mark.parametrize("spells", ["", UP_DOWN_SAME])
def test_the_truth_is_among_what_may_be_imagined(spells: str) -> None:
    rng = Stream(f"truth {spells}".encode())
    met: set[str] = set()
    for number in range(8):
        options = GAME.settle({"spells": spells, "max_turns": "90"})
        state = GAME.start(options)
        kinds: list[dict[int, str]] = [{}, {}]
        while state.to_act():
            if state.to_act()[0] in (CHANCE, SHARED_CHANCE):
                state = state.chance(state.draw(rng))
                continue
            moves = {}
            for seat in state.to_act():
                moves[seat] = (
                    state.sample(seat, rng) if state.planting else cast(state, seat, rng, number > 3)
                )
                if state.planting and moves[seat] != "-":
                    kinds[seat][state.turn // 5] = moves[seat]
            planting = state.planting
            state = state.play(moves)
            if planting or not rng.below(12):
                seat = rng.below(2)
                news = read(seat, state.seen(seat), state.rules.goal, state.rules.max_turns)
                mappings, ways = consistent(news)
                (way,) = (way for way in ways if way.kinds == kinds[1 - seat])
                assert state.sides[1 - seat].runes in set(mappings.chosen(way.mappings))
                met |= {"one" for way in ways if way.mappings.bit_count() == 1}
                met |= {"few"} if mappings.size < 40320 else {"all"}
                met |= {"declared"} if news.picked else set()
    assert met == {"one", "few", "all", "declared"}


@pytest.mark.slow
def test_everything_that_agrees_is_imagined_as_often() -> None:
    rng = Stream(b"often")
    options = GAME.settle({"max_turns": "30"})
    found = 0
    while found < 2:
        state = random_game(rng, 5 + rng.below(20), options)
        seen = state.seen(0)
        _, ways = consistent(read(0, seen, 4, 30))
        many = sum(way.mappings.bit_count() for way in ways)
        if 2 <= many <= 6:
            found += 1
            dreams = [GAME.imagine(options, 0, seen, rng) for _ in range(20 * many)]
            assert all(dream.seen(0) == seen for dream in dreams)
            often = Counter((dream.sides[1].runes, dream.seen(1)) for dream in dreams)
            assert len(often) == many and 4 <= min(often.values()) <= max(often.values()) <= 50


def test_a_mapping_is_picked_by_its_number() -> None:
    mappings, rng = every_mapping(), Stream(b"pick")
    for _ in range(20):
        those = mappings.equal(mappings.runes[rng.below(8)], rng.below(8))
        those &= mappings.equal(mappings.runes[rng.below(8)], rng.below(8))
        chosen = list(mappings.chosen(those))
        for number in {rng.below(len(chosen) or 1), 0, len(chosen) - 1} if chosen else ():
            assert mappings.pick(those, number) == chosen[number]


def test_no_flower_blooms_within_one_casting_phase() -> None:
    """So what was planted shows in the stages that are told after it."""
    days = [(w, water, food) for w in (1, 2, 3) for water in (False, True) for food in (False, True)]
    for kind in BLOOMS_AT:
        for fed in ((0, 3), (1, 4), (2,)):  # fertilizer comes to a pot on every third turn
            flowers = {Flower(kind)}
            for turn in range(5):
                flowers = {f.grown(*day) for f in flowers for day in days if turn in fed or not day[2]}
            assert not any(flower.blooms for flower in flowers)


def test_the_picture_shows_no_more_than_a_seat_knows() -> None:
    def text(state: FloralState, seat: int | None) -> str:
        return picture_text(state.picture(seat))

    one, other = (play(start(), NEUTRAL[:7], plants=("X", letter)) for letter in "AC")
    assert text(one, 0) == text(other, 0) and text(one, 1) != text(other, 1)
    a, b = (play(start(runes=f"01234567 {m}"), NEUTRAL[:5], "TUTUT") for m in ("01234567", "71234560"))
    assert text(a, 0) == text(b, 0) and text(a, None) != text(b, None)
    # Who made it chilly knows so much, and neither seat knows the weather.
    chilly = play(start(), "12111")
    assert text(chilly, None).startswith("turn 5, chilly\n") and text(chilly, 0).startswith("turn 5\n")
    assert "makes it chilly" in text(chilly, 0) and "chilly" not in text(chilly, 1)


def plants(state: FloralState, seat: int | None) -> list[Mark]:
    """What grows, as a seat sees it."""
    panels = [panel for panel in state.picture(seat) if isinstance(panel, Plane)]
    return [
        mark
        for panel in panels
        for mark in panel.marks
        if isinstance(mark, Mark) and mark.symbol and not mark.text and " in pot " in mark.title
    ]


def test_flowers_are_unlike_in_shape_and_grow() -> None:
    kinds = {}
    for kind in "ACHWX":
        planted = submit(start(), kind, "-")
        (young,), (old,) = plants(planted, None), plants(submit(planted, "1", "1"), None)
        assert (
            young.title == f"{FLOWERS[kind]} in pot 1 of seat 1"
            and old.size > young.size
            and old.symbol == young.symbol
        )
        kinds[kind] = young.symbol
    assert len({symbol.shapes for symbol in kinds.values() if symbol}) == 5


def test_the_other_seat_sees_flowers_but_not_their_kinds() -> None:
    before, after = (play(start(), NEUTRAL[:n], plants=("X", "A")) for n in (4, 5))
    xanthium, azalea = "Xanthium in pot 1 of seat 1", "Azalea in pot 1 of seat 2"
    assert [mark.title for mark in plants(before, 0)] == [xanthium]
    assert [mark.title for mark in plants(after, 0)] == [xanthium, "a flower in pot 1 of seat 2"]
    assert [mark.title for mark in plants(after, 1)] == ["a flower in pot 1 of seat 1", azalea]
    assert [mark.title for mark in plants(after, None)] == [xanthium, azalea]


def test_the_picture_says_what_each_seat_did_last_as_far_as_it_is_known() -> None:
    def last(state: FloralState, seat: int | None) -> list[str]:
        lines = picture_text(state.picture(seat)).split("\n")
        return [line[8:] for line in lines if line.startswith("  last")]

    state = play(start(), "44")
    assert last(state, None) == ["casts E4, sabotages 1", "casts U2"]
    assert last(state, 0) == ["casts E4, sabotages 1", "casts U?"]
    assert last(state, 1) == ["casts E?", "casts U2"]
    rainy = play(start(), "111", "123")
    assert last(rainy, None) == ["casts B1, makes it rainy", "casts V3, waters 1 2 3"]
    declared = play(garden(), "V", "A")
    assert last(declared, None) == ["guesses V3, right", "guesses A0, wrong"]
    # What a seat is told of the other one is what everybody is told: no more than that one knows.
    assert last(declared, 0) == last(declared, 1) == ["guesses V3, right", "guesses A?, wrong"]
    planted = submit(start(), "X", "-")
    assert last(planted, None) == ["plants Xanthium in 1", "plants nothing"]
    assert last(planted, 0) == ["plants Xanthium in 1", ""] and last(planted, 1) == ["", "plants nothing"]
    assert last(start(), None) == ["", ""]


def test_what_a_seat_planted_changes_nothing_of_what_everybody_sees_of_the_other() -> None:
    def of_the_other(letter: str) -> Picture:
        planted = submit(play(start(), NEUTRAL[:5], plants=("X", "A")), "-", letter)
        return panels_of_seat(planted.picture(1), 0)

    assert of_the_other("H") == of_the_other("-")
    assert "casts" in picture_text(of_the_other("H"))


def test_a_picture_shows_how_far_the_spells_of_those_are_whose_runes_are_known() -> None:
    def slots(state: FloralState, seat: int | None) -> list[list[str]]:
        rows = [row for row in state.picture(seat) if isinstance(row, Row)][-3:]
        return [[span.symbol.name for span in row.spans if span.symbol] for row in rows]

    place, counts = "slot", [f"counted {rune}" for rune in range(8)]
    begun = start(spells="set 3 {1,2,5}; sum 4 9-17; seq 3 < >=")
    state = play(begun, "125", "434")
    assert slots(begun, None)[0] == [place] * 6
    own = [
        [counts[1], counts[2], counts[5]],
        [counts[1], counts[2], counts[5], place],
        [counts[2], counts[5], place],
    ]
    other = [[place] * 3, [counts[4], counts[3], counts[4], place], [counts[3], counts[4], place]]
    assert slots(state, 0) == own and slots(state, 1) == other
    assert slots(state, None) == [one + two for one, two in zip(own, other, strict=True)]


@pytest.mark.parametrize("form", ["set 3 {1,2,5}", "sum 3 9-17", "seq 4 < >= ="])
def test_a_condition_that_holds_has_begun_with_all_its_runes_and_one_more_makes_any_beginning_longer(
    form: str,
) -> None:
    condition, rng = Condition.parse(form), Stream(b"begun")
    for _ in range(300):
        chain = tuple(1 + rng.below(7) for _ in range(rng.below(6)))
        begun = condition.begun(chain)
        assert (begun == condition.length) == condition.holds(chain)
        assert begun <= min(len(chain), condition.length)
        assert begun <= condition.begun(chain[:-1]) + 1 if chain else not begun


@pytest.mark.parametrize("seat", [None, 0, 1])
def test_the_picture_says_when_spells_are_cast(seat: int | None) -> None:
    drawn = GAME.start(GAME.settle({}))
    drawn = drawn.chance("set 3 {1,2,5}; sum 4 9-17; seq 4 < >= =").chance("01234567 01234567")
    assert picture_text(drawn.picture(seat)).split("\n")[-3:] == [
        "water: the last 3 runes are all of 1, 2, 5",
        "fertilize: the last 4 runes have a sum from 9 to 17",
        "weather: the last 4 runes, oldest first: a < b >= c = d",
    ]


# --- Through the match -----------------------------------------------------------------------------------


def match(*bots: Bot, **given: str) -> tuple[Verdict, Events]:
    options = GAME.settle({"spells": UP_DOWN_SAME, **given})
    clocks = (TimeControl.parse("1s"),) * 2
    what = Terms("1:a:b", GAME, options, ("a", "b"), clocks, b"seed", margin_us=0)
    events = Events()
    return play_match(what, ScriptedWire(*bots), lambda state: "01234567 01234567", events), events


def test_defaults_are_submitted_and_play_goes_on() -> None:
    heard: list[str] = []
    other: list[str] = []
    silent = listening(heard, puppet(*[None] * 8))
    verdict, events = match(silent, listening(other, puppet("C", *"12121")), max_turns="5")
    assert verdict.ending is Ending.RULES and verdict.outcome.ranks == (1, 1)
    moved = [
        (event.text, event.defaulted) for event in events.all if isinstance(event, Moved) and event.seat == 0
    ]
    # Nothing planted; then rune 0, and rune 1 where 0 is illegal.
    assert moved == [("-", True), ("A", True), ("B", True), ("A", True), ("B", True), ("A", True)]
    assert [line for line in heard if line.startswith("defaulted")] == [
        f"defaulted {number} {move}" for number, move in enumerate("-ABAB", 1)
    ], "that of the last question is not told any more"
    assert [line for line in other if line.startswith("ask")] == [f"ask {n} 1000 0" for n in range(1, 7)]


SCORED = ("H", *"12345", "C", *"61234", "-", *"56123")
"""What brings the charge and two flowers, see `garden`."""


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        (["resign {n}"], ["C"], (2, 1)),
        (["C"], ["resign {n}"], (1, 2)),
        (["resign {n}"], ["resign {n}"], (1, 1)),
        (["resign {n}"], ["list {n} x"], (1, 1)),
        ([*SCORED, "-", "V", "resign {n}"], [*SCORED, "-", "4", "resign {n}"], (1, 2)),
        ([*SCORED, "-", "V", "resign {n}"], [*SCORED, "-", "4", "ready {n}"], (1, 2)),
        ([*SCORED, "-", "4", "resign {n}"], [*SCORED, "-", "D", "resign {n}"], (2, 1)),
        ([*SCORED, "-", "V", "resign {n}"], [*SCORED, "-", "D", "resign {n}"], (1, 1)),
        ([*SCORED, "-", "V", "resign {n}"], [*SCORED, "-", "4", "5"], (2, 1)),
    ],
)
def test_leaving_in_a_match(one: list[str], two: list[str], expected: tuple[int, ...]) -> None:
    verdict, events = match(puppet(*one), puppet(*two), spells=ALWAYS)
    assert verdict.outcome.ranks == expected and verdict.ending is not Ending.RULES
    assert events.states[-1].outcome()
