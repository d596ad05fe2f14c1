"""The state of a run is what a fold over its lines gives, whenever and in whatever way they were taken."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.seeds import shared_by
from referee.records.amendments import Amendments, amendments_of
from referee.records.header import apply_change, read_header
from referee.records.heads import Head, Heads
from referee.records.journal import StoredLine, unchained
from referee.records.record import Summary, head_of, parse_json, to_json
from referee.tournament.formats import FORMATS
from referee.tournament.formats.free_play import FreePlay
from referee.tournament.open_run import OpenRun
from referee.tournament.run import read_run
from referee.tournament.run_state import RunState
from referee.tournament.task import Void
from referee.tournament.voids import Suspicion, VoidGame
from tests.unit.growing import Growing
from tests.unit.simulated_runs import ONE_BY_ONE, STOPPED, STRIKES, SimulatedRun, Simulation, tournament

RUNS = {
    **ONE_BY_ONE,
    "free": ("ab", {"format": "free", "rounds": 8}),
    **{name: run for name, run in STRIKES.items() if name.startswith(("round robin", "several", "swiss"))},
    "gauntlet with sprt": STOPPED["gauntlet with sprt"],
}
"""Tournaments of every format, with strikes, and one that stops."""

Lines = Sequence[StoredLine | VoidGame]
"""The lines of a run, with the games that became void where they did."""


class DisturbedRun(SimulatedRun):
    """A run in which games become void, and with changes between its games that decide none of them."""

    def finish(self, game: Pairing) -> None:
        random = Random(f"{self._seed} disturbed {game.id}")
        if random.random() < 0.1:
            suspects = frozenset(random.sample(game.bots, random.randint(0, len(game.bots))))
            self.add_void(game.id, suspects, lost=not suspects and random.random() < 0.5)
        if random.random() < 0.05:
            self.add_change({"files": {random.choice(game.bots): {"program": str(random.random())}}})
        super().finish(game)


def amend(run: SimulatedRun, random: Random) -> None:
    """Amends a run after its games, some of which are played again, and become void again."""
    bots = [*run.state.header["bots"]]
    for number in range(random.randint(0, 6)):
        played = [*run.state.games]
        bot, game = random.choice(bots), random.choice(played) if played else ""
        match random.randrange(4):
            case 0:
                run.add_change({"renamed": {bot: f"renamed{number}"}})
            case 1:
                run.take_out(bot, random.choice(("forfeit", "annul", "keep")), "asked for")
            case 2 if game:
                run.add_change({"annulled": {game: "why not"}})
            case 3 if game:
                attempt = run.state.games[game].attempt
                run.add_change({"replayed": {game: {"attempt": attempt, "reason": "power cut"}}})
                pairing = Pairing.parse(game)
                for _ in range(random.randint(0, 2)):
                    run.add_void(game, frozenset(pairing.bots))
                if random.random() < 0.7:
                    run.store_game(pairing, (1,) * len(pairing.bots), ("",) * len(pairing.bots))


@cache
def lines_of(name: str, seed: int) -> Lines:
    """The lines of a run that was stopped and amended at random."""
    random = Random(f"{name} {seed}")
    made = tournament(*RUNS[name])
    if isinstance(made.format, FreePlay):
        run: SimulatedRun = DisturbedRun(made.header(), seed, False)
        for number in range(1, 9):
            run.finish(Pairing.of(number, ("a", "b") if random.random() < 0.5 else ("b", "a")))
    else:
        run = Simulation(made, seed, 1 + seed % 4, DisturbedRun).play(random).run
    amend(run, random)
    return run.stored


def take(state: RunState, lines: Iterable[StoredLine | VoidGame]) -> RunState:
    """The state after further lines."""
    for line in lines:
        if isinstance(line, VoidGame):
            state.take_void(line)
        else:
            state.take(line.text, line.hash)
    return state


def from_nothing(lines: Lines) -> RunState:
    """The state as a reader has it, who reads the games that became void first."""
    voids = [line for line in lines if isinstance(line, VoidGame)]
    return take(RunState(), [*voids, *(line for line in lines if not isinstance(line, VoidGame))])


def ids_of(lines: Lines) -> set[str]:
    """The ids of all games that the lines name."""
    found = {line.id for line in lines if isinstance(line, VoidGame)}
    heads = [head_of(line.text) for line in lines if isinstance(line, StoredLine)]
    return found | {head["id"] for head in heads if head["kind"] == "game"}


def seen(state: RunState, ids: Iterable[str]) -> dict[str, Any]:
    """All that can be seen of a state, the order of its games included."""
    return {
        "place": (state.lines, state.length, state.last_hash),
        "header": {**state.header},
        "games": [*state.games.items()],
        "annulled": [*state.annulled.items()],
        "amendments": state.amendments,
        "voids": sorted(state.voids),
        "without suspects": +state.without_suspects,
        "seeds": {**state.shared_seeds},
        "in all": state.games_in_all if state.lines else None,
        "names": state.names if state.lines else [],
        "batches": state.batches,
        "attempts": {game: state.next_attempt(game) for game in sorted(ids)},
        "open": [game for game in sorted(ids) if state.is_open(game)],
        "responsible": sorted(state.suspicion.responsible(state.header.get("bots", ()))),
    }


def defined(lines: Lines) -> dict[str, Any]:
    """What is to be seen of a state, by definition: whatever is said of games follows from all amendments."""
    header: dict[str, Any] = {}
    played: dict[str, Summary] = {}
    seeds: dict[str, bytes] = {}
    heads = Heads()
    for line in lines:
        if isinstance(line, VoidGame):
            continue
        said = heads.read(line.text)
        if isinstance(said, Head):
            played[said.game.id] = said.game
            seeds.setdefault(shared_by(said.game.id), said.shared_seed)
        elif not header:
            header = read_header(said)
        else:
            apply_change(header, said)
            for game in said.get("replayed", ()):
                played.pop(game, None)
    made = amendments_of(header)
    voids = [
        line for line in lines if isinstance(line, VoidGame) and line.attempt > made.attempts_before(line.id)
    ]
    return {
        "header": header,
        "games": [(name, game) for name, game in played.items() if not _is_annulled(game, made)],
        "annulled": [(name, game) for name, game in played.items() if _is_annulled(game, made)],
        "amendments": made,
        "voids": sorted(voids),
        "without suspects": Counter(void.id for void in voids if not void.bots and not void.lost),
        "seeds": seeds,
        "responsible": sorted(Suspicion(void for void in voids if void.bots).responsible(header["bots"])),
    }


def _is_annulled(game: Summary, made: Amendments) -> bool:
    annulling = {bot for bot, what in made.out.items() if what["games"] == "annul"}
    return game.id in made.annulled or bool(annulling & {*game.bots})


@pytest.mark.quick_cases(8)
@pytest.mark.parametrize("name", RUNS)
@given(seed=st.integers(0, 9), share=st.floats(0, 1), copied_at=st.floats(0, 1))
def test_the_state_of_a_run_is_that_of_a_fold_from_nothing(
    name: str, seed: int, share: float, copied_at: float
) -> None:
    lines = lines_of(name, seed)
    lines = lines[: 1 + round(share * (len(lines) - 1))]
    ids = ids_of(lines)
    count = round(copied_at * len(lines))
    state = take(RunState(), lines[:count])
    copied, before = state.copy(), seen(state, ids)
    found = seen(take(state, lines[count:]), ids)
    assert seen(copied, ids) == before, "later lines change no copy"
    assert seen(take(copied, lines[count:]), ids) == found, "a copy goes on alike"
    assert seen(from_nothing(lines), ids) == found
    by_definition = defined(lines)
    assert {name: found[name] for name in by_definition} == by_definition


def test_runs_of_every_format_are_folded() -> None:
    assert {tournament(*of).format.name for of in RUNS.values()} == {*FORMATS}


@pytest.mark.parametrize("name", ["round robin", "swiss", "knockout", "league", "several games, annul"])
def test_an_open_run_knows_what_its_files_say(name: str, tmp_path: Path) -> None:
    """Each line is stored by a run that is open, and was closed and continued now and then."""
    first, *others = lines_of(name, 3)
    assert isinstance(first, StoredLine)
    opened = OpenRun.begin(tmp_path, parse_json(unchained(first.text)), b"")
    ids = ids_of([first, *others])
    for number, line in enumerate(others[:60]):
        if number % 7 == 6:
            opened.__exit__()
            opened = OpenRun.resume(read_run(tmp_path), {}, b"")
        store(opened, line)
        assert seen(opened.state, ids) == seen(read_run(tmp_path), ids)
    opened.__exit__()


def store(opened: OpenRun, line: StoredLine | VoidGame) -> None:
    """Stores what a line says."""
    if isinstance(line, VoidGame):
        opened.add_void(Void(line.id, line.attempt, "died", line.bots, lost=line.lost))
        return
    value = parse_json(unchained(line.text))
    if value["kind"] == "game":
        opened.add_games([unchained(line.text)])
    else:
        opened.add_change({name: what for name, what in value.items() if name not in ("kind", "when")})


def test_a_game_that_is_played_again_may_become_void_again(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    voids = [{"id": "1:a:b", "attempt": number, "suspects": ["a"]} for number in (1, 3)]
    text = [json.dumps(void) + "\n" for void in voids]
    (tmp_path / "void.jsonl").write_text(text[0])
    growing.append(growing.line({**to_json(growing.record("1:a:b")), "attempt": 2}))
    growing.append(growing.line({"kind": "change", "replayed": {"1:a:b": {"attempt": 2, "reason": "x"}}}))
    (tmp_path / "void.jsonl").write_text("".join(text))
    run = read_run(tmp_path)
    assert run.is_open("1:a:b") and run.next_attempt("1:a:b") == 4 and len(run.voids) == 1
    growing.append(growing.line({**to_json(growing.record("1:a:b")), "attempt": 4}))
    assert read_run(tmp_path).games["1:a:b"].attempt == 4


def test_a_game_does_not_become_void_after_it_was_played(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    growing.play("1:a:b")
    (tmp_path / "void.jsonl").write_text('{"id":"1:a:b","attempt":2}\n')
    with pytest.raises(RecordError, match="`attempt` of game `1:a:b` is 1, expected 2"):
        read_run(tmp_path)
