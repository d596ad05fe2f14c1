"""What is shown to a seat: the same in two games that it could not tell apart, whatever the other seat hides,
says and takes time for.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click
import pytest

from referee.cli import cli
from referee.core.text import by_name
from referee.gameplay.events import Moved
from referee.games import GAMES, origin_of
from referee.records.journal import FIRST, body_of, chained
from referee.records.record import FORMAT, GameRecord, to_json
from tests.command import Done, referee
from tests.rules.twins import HIGH_CARD, SECRET, TWINS, hidden_news


def stored(record: GameRecord, folder: Path) -> Path:
    """The folder, with this game in it and no other."""
    folder.mkdir(exist_ok=True)
    lines, last = b"", FIRST
    if origin := origin_of(record.terms.game):
        terms = {"seed": "1", "rounds": 1, "bots": {}, "rules": 1, "options": {}, "origin": origin}
        header = {"kind": "tournament", "record": FORMAT, **terms, "game": record.terms.game.slug}
        lines, last = chained(body_of(header), FIRST)
    (folder / "games.jsonl").write_bytes(lines + chained(body_of(to_json(record)), last)[0])
    return folder


def from_outside(record: GameRecord) -> tuple[str, ...]:
    """What `replay` is told of a game that is not built in."""
    return () if record.terms.game.slug in GAMES else ("--game", HIGH_CARD)


def as_page(record: GameRecord, folder: Path, *seat: str) -> str:
    """The page, with its data inflated."""
    words = ("--html", "-", *seat, *from_outside(record))
    html = referee("replay", str(stored(record, folder)), "1", *words).out
    data = re.search(r'<script type="application/json" id="game">"([A-Za-z0-9+/=]+)"</script>', html)
    assert data
    return html + zlib.decompress(base64.b64decode(data[1])).decode()


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("slug", TWINS)
def test_a_page_for_a_seat_has_no_secret_of_another(slug: str, tmp_path: Path) -> None:
    """Not even in data that is not shown: its texts are searched for what seat 1 was not told."""
    for game in TWINS[slug]():
        page = as_page(game, tmp_path / "run", "--seat", "1")
        assert game.terms.seed.hex() not in page and game.terms.shared_seed.hex() not in page
        secrets = {word for line in hidden_news(game) for word in secret_words(game, line)}
        assert secrets and not {word for word in (*secrets, SECRET) if word in page}
        to_all = as_page(game, tmp_path / "run")
        assert any(word in to_all for word in secrets) and SECRET in to_all


def secret_words(record: GameRecord, line: str) -> Iterator[str]:
    """A line of news that seat 1 did not get, the sentence and the runes in it as a page would show them."""
    yield line
    yield by_name(record.terms.game.told(line), record.terms.bots)
    word, seat, *rest = line.split()
    if word == "runes" and seat == "2":
        yield from (f">{rune}<" for rune in rest)


COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "replay": (
        ("RUN", "1"),
        ("RUN", "1", "--all"),
        ("RUN", "1", "--all", "--step", "3"),
        ("RUN", "1", "--json"),
        ("RUN", "1", "--html", "-"),
        ("RUN", "1", "--image", "-"),
        ("RUN", "1", "--step", "2", "--image", "-"),
    ),
    "moves": tuple(
        ("GAME", "--from", "RUN", f"1@{step}", *way)
        for step in (1, 3, 8)
        for way in ((), ("--news",), ("--picture",), ("--count",), ("--json",), ("--json", "--most", "1"))
    ),
}
"""Every command that shows what a seat knew of a game, and the ways in which it shows it."""


def test_all_commands_that_take_a_seat_are_compared() -> None:
    """`play` seats a person in a game that is being played; its tests are in `test_persons.py`. `find` and
    `table` choose games by the seat of a bot.
    """
    taking = {
        name
        for name in cli.list_commands(click.Context(cli))
        for command in cli.resolve_command(click.Context(cli), [name])[1:2]
        if isinstance(command, click.Command)
        and any("--seat" in parameter.opts for parameter in command.params)
    }
    assert taking == {*COMMANDS, "play", "find", "table"}


@pytest.mark.quick_cases(1)
@pytest.mark.parametrize("slug", TWINS)
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("damaged", [False, True], ids=["whole", "damaged"])
def test_every_byte_for_a_seat_is_the_same_in_worlds_that_it_cannot_tell_apart(
    damaged: bool, name: str, slug: str, tmp_path: Path
) -> None:
    """stdout, stderr and the exit code; and a spectator is shown the difference, else this proves nothing."""
    folder = tmp_path / "run"
    shown: dict[str, list[tuple[Done, ...]]] = {"1": [], "": []}
    for world in TWINS[slug]():
        stored(broken(world) if damaged else world, folder)
        for seat, outputs in shown.items():
            ends = (*(("--seat", seat) if seat else ()), *(from_outside(world) if name != "moves" else ()))
            outputs.append(tuple(run(name, words, folder, slug, ends) for words in COMMANDS[name]))
    for words, one, other in zip(COMMANDS[name], *shown["1"], strict=True):
        assert one == other, words
        assert SECRET not in one.out + one.err
    assert shown[""][0] != shown[""][1]


def run(name: str, words: tuple[str, ...], folder: Path, slug: str, ends: tuple[str, ...]) -> Done:
    places = {"RUN": str(folder), "GAME": slug}
    return referee(name, *(places.get(word, word) for word in words), *ends)


def broken(world: GameRecord) -> GameRecord:
    """The game with a move of seat 2 that the rules do not allow: late in the record, and hidden."""
    last = [event for event in world.events if isinstance(event, Moved) and event.seat == 1][-1]
    wrong = last._replace(text=f"{SECRET} {last.charge.used_us}")
    return replace(world, events=tuple(wrong if event is last else event for event in world.events))


@pytest.mark.parametrize("slug", TWINS)
def test_moves_of_a_deal_tell_a_seat_nothing_of_chance(slug: str) -> None:
    """Neither as JSON nor on stderr; a spectator is told."""
    for way in ((), ("--news",), ("--json",), ("--picture",), ("--count",)):
        to_seat = referee("moves", slug, "--seed", "7", "--seat", "1", *way)
        to_all = referee("moves", slug, "--seed", "7", *way)
        assert to_seat.code == to_all.code == 0
        assert "chance:" not in to_seat.err
        decided = (
            json.loads(to_all.out)["chance"]
            if way == ("--json",)
            else [line.partition(": ")[2] for line in to_all.err.split("\n") if line.startswith("chance:")]
        )
        hidden = decided[-1]  # in Floral Extract, the conditions are open and come first
        assert hidden and hidden not in to_seat.out + to_seat.err
        if way == ("--json",):
            assert json.loads(to_seat.out)["chance"] is None


@pytest.mark.slow
def test_a_seat_cannot_try_moves_of_others_in_a_recorded_game(tmp_path: Path) -> None:
    """Whether they are legal would tell what is hidden."""
    for world in TWINS["thetree"]():
        folder = stored(world, tmp_path / "run")
        tried = referee("moves", "thetree", "0-0@0,2", "--from", str(folder), "1@1", "--seat", "1")
        assert tried.code == 2 and "hidden from that seat" in tried.err
