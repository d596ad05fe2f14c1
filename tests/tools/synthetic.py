"""Writes a large run that verifies.

    python -m tests.tools.synthetic [DIR] [--bots 64] [--games 100000] [--against N]

In DIR, a new folder for temporary files if none is named, are then `pool.toml` and its results, `pool-
results`: whole rounds of a quick game, at most as many games as were asked for, but at least one round. In
each, all bots meet, or all others meet the first N of them, as in a gauntlet. A
few hundred games are played by the real game loop, by seats that move at random; each game of the run is one
of them under the names of its own bots, won by the one that the strengths of the bots and the dice say. The
game has no chance: its seeds change nothing in it.
"""

from __future__ import annotations

import json
import math
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from referee.core.pairing import Pairing
from referee.gameplay.api import READY, Answer, GameDescription, LegalMoves, Question, SeatReply
from referee.gameplay.events import Ending, Event, Timing
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import Outcome, Seat, State
from referee.kit import Quick
from referee.records.journal import body_of
from referee.records.record import GameRecord, to_json
from referee.tournament.file.config import load
from referee.tournament.formats import SectionState
from referee.tournament.formats.fixed import Gauntlet, RoundRobin
from referee.tournament.run.lock import locked
from referee.tournament.run.opening import open_run
from referee.tournament.run.readiness import programs_here
from referee.tournament.run.run import find_run
from referee.tournament.schedule import Encounter
from referee.tournament.tournament import Tournament
from tests.recorded import record_of

PLAYED = 400
"""How many different games there are."""

AT_ONCE = 1000
"""How many games are written at once."""

SPREAD = 0.5
"""The standard deviation of the bots' strengths, in the logarithm of the odds of winning."""

SEATS = 2

HEAD = """\
[tournament]
game = "blooms"
rounds = {rounds}
{format}clock = "1s+10s"
seed = "synthetic"
isolation = "none"

[options]
size = 3
target = 2
"""

AGAINST = """\
format = "gauntlet"
against = {}
"""

BOT = """
[[bot]]
name = "{name}"
cmd = "true"
"""


class RandomSeats:
    """A wire whose seats move at random, in times that are drawn."""

    def __init__(self, state: State[Any], dice: random.Random) -> None:
        self.state = state
        self._dice = dice
        self._opening: list[Seat] = []
        self._asked: list[Seat] = []
        self._now_us = 0

    def watch(self, event: Event, state: State[Any]) -> None:
        self.state = state

    def open(self, seat: Seat, description: GameDescription) -> None:
        self._opening.append(seat)

    def catch_up(self, seats: tuple[Seat, ...]) -> None:
        pass

    def post(self, seat: Seat, question: Question) -> None:
        self._asked.append(seat)

    def show_legal(self, seat: Seat, legal: LegalMoves) -> None:
        pass

    def close(self, outcome: Outcome, ending: Ending) -> None:
        pass

    def next_reply(self) -> SeatReply:
        if self._opening:
            return SeatReply(self._opening.pop(0), READY)
        seat = self._asked.pop(0)
        used_us = self._dice.randrange(100, 20_000)
        timing = Timing(asked_us=self._now_us, wall_us=used_us + 5, cpu_us=used_us // 2)
        self._now_us += used_us + 50
        move = self.state.sample(seat, Quick(self._dice))
        return SeatReply(seat, Answer(self.state.write(move)), used_us, timing)


def played(terms: Terms, dice: random.Random) -> GameRecord:
    """The record of a game between seats that move at random."""
    wire = RandomSeats(terms.game.start(terms.options), dice)
    events: list[Event] = []

    def watch(event: Event, state: State[Any]) -> None:
        events.append(event)
        wire.watch(event, state)

    verdict = play(terms, wire, seeded_dice(terms), watch)
    seat = {"cpu_us": 41_234, "off_turn_us": 123_456, "off_turn_cpu_us": 1_234}
    measured: dict[str, Any] = {
        "began": "2026-01-01T00:00:00.000+00:00",
        "mono_us": 1_000_000,
        "seats": [seat] * SEATS,
        "referee": "1.0",
        "python": "3.11.2",
        "host": "Linux-6.1.0-x86_64-with-glibc2.36",
    }
    return record_of(terms, events, verdict, **measured)


def games(tournament: Tournament) -> Iterator[bytes]:
    """All games of the run, as `OpenRun.add_games` takes them."""
    (plan,) = tournament.plans
    dice = random.Random("synthetic")
    strengths = {name: dice.gauss(0, SPREAD) for name in plan.names}
    won_by: list[list[GameRecord]] = [[] for _ in range(SEATS)]
    terms = plan.terms(Pairing.of(1, plan.names[:SEATS]))
    for _ in range(PLAYED):
        record = played(terms, dice)
        won_by[record.verdict.outcome.ranks.index(1)].append(record)
    for step in tournament.format.schedule(SectionState({}, plan.names, SEATS)):
        assert isinstance(step, Encounter)  # neither format waits for results
        for pairing in step.games:
            one, other = (strengths[name] for name in pairing.bots)
            winner = int(dice.random() > 1 / (1 + math.exp(other - one)))
            record = replace(dice.choice(won_by[winner]), terms=plan.terms(pairing))
            yield body_of(to_json(record))


def write(folder: Path, bots: int, most: int, against: int | None = None) -> int:
    """Writes the tournament file and the run; how many games it has."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"bot{number:0{len(str(bots))}}" for number in range(1, bots + 1)]
    gauntlet = Gauntlet(against=tuple(names[:against])) if against else None
    rounds = max(1, most // (gauntlet or RoundRobin()).games_in_all(bots, SEATS).games)
    setting = AGAINST.format(json.dumps(gauntlet.against)) if gauntlet else ""
    file = folder / "pool.toml"
    file.write_text(
        HEAD.format(rounds=rounds, format=setting) + "".join(BOT.format(name=name) for name in names)
    )
    tournament = load(file)
    place = tournament.file.folder
    with locked(place):
        run = find_run(place)
        with open_run(tournament, run, programs_here(tournament, place), True, click.echo) as opened:
            some: list[bytes] = []
            for game in games(tournament):
                some.append(game)
                if len(some) == AT_ONCE:
                    opened.add_games(some)
                    some.clear()
            opened.add_games(some)
            return len(opened.state.games)


def new_folder() -> str:
    """A new folder for temporary files, which stays: it is to be looked at."""
    return tempfile.mkdtemp(prefix="synthetic-")


@click.command()
@click.argument("folder", metavar="[DIR]", default=new_folder, type=click.Path(path_type=Path))
@click.option("--bots", type=click.IntRange(SEATS), default=64, show_default=True)
@click.option("--games", "most", type=click.IntRange(1), default=100_000, show_default=True)
@click.option("--against", type=click.IntRange(1), help="How many bots meet all others; all if not given.")
def main(folder: Path, bots: int, most: int, against: int | None) -> None:
    """Writes a large run into DIR, or a temporary folder, and prints how many games it has."""
    began = time.monotonic()
    count = write(folder, bots, most, against)
    click.echo(f"{count} games of {bots} bots in {folder}, written in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
