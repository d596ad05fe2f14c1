"""The state of a run is what a fold over its lines gives, whenever and in whatever way they were taken."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.seeds import shared_by
from referee.records.amendments import Amendments
from referee.records.header import NO_HEADER, Header
from referee.records.heads import Head, Heads
from referee.records.journal import StoredLine, unchained
from referee.records.record import Summary, from_json, head_of, json_of, parse_json, to_json
from referee.tournament.formats import FORMATS
from referee.tournament.formats.fixed import FreePlay
from referee.tournament.run.open_run import OpenRun
from referee.tournament.run.remaining import Remaining, nothing_remains
from referee.tournament.run.run import game_lines, read_run
from referee.tournament.run.run_state import RunState
from referee.tournament.run.voids import Suspicion, VoidGame, void_of
from referee.tournament.tournament import Matchmaking
from referee.tournament.workers.task import Void
from tests.command import referee
from tests.unit.growing import Growing
from tests.unit.simulated_runs import (
    ONE_BY_ONE,
    STOPPED,
    STRIKES,
    SimulatedRun,
    Simulation,
    some_quick,
    tournament,
)

RUNS = {
    **ONE_BY_ONE,
    "free": ("ab", {"format": "free", "rounds": 8}),
    **{name: run for name, run in STRIKES.items() if name.startswith(("round robin", "several", "swiss"))},
    "gauntlet with sprt": STOPPED["gauntlet with sprt"],
    "tuning": STOPPED["tuning"],
}
"""Tournaments of every format, with strikes, and one that stops."""

Lines = Sequence[StoredLine]


def void_line(**other: Any) -> dict[str, Any]:
    """A line of an attempt that became void, with other members."""
    return {"kind": "void", "id": "1:a:b", "attempt": 1, "suspects": ["a"], "error": "died", **other}


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
    bots = [*run.state.header.bots]
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
        run: SimulatedRun = DisturbedRun(made.header.members, seed, False)
        for number in range(1, 9):
            run.finish(Pairing.of(number, ("a", "b") if random.random() < 0.5 else ("b", "a")))
    else:
        run = Simulation(made, seed, 1 + seed % 4, DisturbedRun).play(random).run
    amend(run, random)
    return run.stored


@pytest.mark.parametrize("name", some_quick(RUNS))
@pytest.mark.quick_cases(2)
def test_nothing_remains_where_the_schedule_has_nothing_more(name: str) -> None:
    for seed in range(2):
        state = RunState()
        lines = lines_of(name, seed)
        for number, line in enumerate(lines, 1):
            state.take(line.text, line.hash)
            if number > len(lines) - 8 and state.format:
                matchmaking = Matchmaking.of_header(state.header, state.format, state.seats)
                assert nothing_remains(state) == (Remaining(matchmaking, state).next() is None)


@pytest.mark.parametrize("form", ["round-robin", "gauntlet"])
def test_a_run_that_has_all_its_games_needs_no_schedule(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    against = {"against": ["a"]} if form == "gauntlet" else {}
    made = tournament("abc", {"format": form, "rounds": 2, **against})
    run = Simulation(made, 1, 1, SimulatedRun).play(Random(1)).run
    state = take(RunState(), run.stored)
    monkeypatch.setattr(FORMATS[form], "schedule", None)
    assert nothing_remains(state)
    with pytest.raises(TypeError):
        nothing_remains(take(RunState(), run.stored[:-1]))


def take(state: RunState, lines: Iterable[StoredLine]) -> RunState:
    """The state after further lines."""
    for line in lines:
        state.take(line.text, line.hash)
    return state


def voids_in(lines: Lines) -> list[VoidGame]:
    heads = [head_of(line.text) for line in lines]
    return [void_of(head) for head in heads if head["kind"] == "void"]


def ids_of(lines: Lines) -> set[str]:
    """The ids of all games that the lines name."""
    return {head["id"] for line in lines if "id" in (head := head_of(line.text))}


def seen(state: RunState, ids: Iterable[str]) -> dict[str, Any]:
    """All that can be seen of a state, the order of its games included."""
    return {
        "place": (state.lines, state.length, state.last_hash),
        "header": ({**state.header.members}, state.header.changed_programs),
        "games": [*state.games.items()],
        "annulled": [*state.annulled.items()],
        "amendments": state.amendments,
        "voids": [*state.voids],
        "without suspects": +state.without_suspects,
        "seeds": {**state.shared_seeds},
        "in all": state.games_in_all if state.lines else None,
        "names": state.names if state.lines else [],
        "batches": state.batches,
        "attempts": {game: state.next_attempt(game) for game in sorted(ids)},
        "open": [game for game in sorted(ids) if state.is_open(game)],
        "responsible": sorted(state.suspicion.responsible(state.header.bots)),
    }


def defined(lines: Lines) -> dict[str, Any]:
    """What is to be seen of a state, by definition: whatever is said of games follows from all amendments."""
    header = NO_HEADER
    played: dict[str, Summary] = {}
    seeds: dict[str, bytes] = {}
    heads = Heads()
    for line in lines:
        said = heads.read(line.text)
        if isinstance(said, Head):
            played[said.game.id] = said.game
            seeds.setdefault(shared_by(said.game.id), said.shared_seed)
        elif header is NO_HEADER:
            header = Header.read(said)
        elif said["kind"] == "change":
            header = header.after(said)
            for game in said.get("replayed", ()):
                played.pop(game, None)
    made = header.amendments
    voids = [void for void in voids_in(lines) if void.attempt > made.attempts_before(void.id)]
    return {
        "header": (header.members, header.changed_programs),
        "games": [(name, game) for name, game in played.items() if not _is_annulled(game, made)],
        "annulled": [(name, game) for name, game in played.items() if _is_annulled(game, made)],
        "amendments": made,
        "voids": voids,
        "without suspects": Counter(void.id for void in voids if not void.bots and not void.lost),
        "seeds": seeds,
        "responsible": sorted(Suspicion(void for void in voids if void.bots).responsible(header.bots)),
    }


def _is_annulled(game: Summary, made: Amendments) -> bool:
    annulling = {bot for bot, what in made.out.items() if what["games"] == "annul"}
    return game.id in made.annulled or bool(annulling & {*game.bots})


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", RUNS)
@settings(max_examples=settings().max_examples // 3)  # each of them plays a tournament
@given(seed=st.integers(0, 2), share=st.floats(0, 1), copied_at=st.floats(0, 1))
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
    assert seen(take(RunState(), lines), ids) == found
    by_definition = defined(lines)
    assert {name: found[name] for name in by_definition} == by_definition


def test_a_change_that_is_refused_changes_nothing() -> None:
    state = take(RunState(), lines_of("round robin", 0)[:1])
    before = seen(state, ())
    change = {"kind": "change", "rounds": 9, "renamed": {"a": "b"}}
    with pytest.raises(RecordError, match="`renamed`"):
        state.take(json_of(change), "0" * 64)
    assert seen(state, ()) == before


def test_runs_of_every_format_are_folded() -> None:
    assert {tournament(*of).format.name for of in RUNS.values()} == {*FORMATS}


@pytest.mark.quick_cases(2)
@pytest.mark.parametrize("name", ["swiss", "several games, annul", "round robin", "knockout", "league"])
def test_an_open_run_knows_what_its_files_say(name: str, tmp_path: Path) -> None:
    """Each line is stored by a run that is open, and was closed and continued now and then."""
    first, *others = lines_of(name, 3)
    opened = OpenRun.begin(tmp_path, parse_json(unchained(first.text)), b"")
    ids = ids_of([first, *others])
    for number, line in enumerate(others[:60]):
        if number % 7 == 6:
            opened.__exit__()
            opened = OpenRun.resume(read_run(tmp_path), {}, b"")
        store(opened, line)
        assert seen(opened.state, ids) == seen(read_run(tmp_path), ids)
    opened.__exit__()


def store(opened: OpenRun, line: StoredLine) -> None:
    """Stores what a line says."""
    value = parse_json(unchained(line.text))
    match value["kind"]:
        case "game":
            opened.add_games([unchained(line.text)])
        case "void":
            before = opened.state.suspicion.responsible(opened.state.header.bots)
            void = void_of(value)
            since = opened.add_void(Void(void.id, void.attempt, "died", void.bots, lost=void.lost))
            now = opened.state.suspicion.responsible(opened.state.header.bots)
            assert since == now - before
        case _:
            opened.add_change({name: what for name, what in value.items() if name not in ("kind", "when")})


def test_a_game_that_is_played_again_may_become_void_again(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    growing.void("1:a:b", 1)
    growing.append(growing.line({**to_json(growing.record("1:a:b")), "attempt": 2}))
    growing.append(growing.line(REPLAYED))
    growing.void("1:a:b", 3)
    run = read_run(tmp_path)
    assert run.is_open("1:a:b") and run.next_attempt("1:a:b") == 4 and len(run.voids) == 1
    growing.append(growing.line({**to_json(growing.record("1:a:b")), "attempt": 4}))
    assert read_run(tmp_path).games["1:a:b"].attempt == 4


REPLAYED = {"kind": "change", "replayed": {"1:a:b": {"attempt": 2, "reason": "x"}}}


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([void_line(attempt=2)], "`attempt` of game `1:a:b` is 2, expected 1: 0 attempts became void"),
        ([void_line(), void_line()], "`attempt` of game `1:a:b` is 1, expected 2: 1 attempt became void"),
        ([void_line(), "1:a:b"], "`attempt` of game `1:a:b` is 1, expected 2: 1 attempt became void"),
        (["1:a:b", void_line()], "game `1:a:b` became void after it was played"),
        ([void_line(id="9:a:b")], "the round of game `9:a:b` is not in this run"),
        ([void_line(suspects=["a", "c"])], "a suspect of the void game `1:a:b` is not one of its bots"),
        ([void_line(suspects="a")], '`suspects` is `"a"`, expected a list of strings'),
        ([{"kind": "other"}], "`kind` is `other`, expected `change`, `game` or `void`"),
    ],
)
def test_lines_that_cannot_be_in_a_run(lines: list[Any], told: str, tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    for line in lines:
        growing.append(growing.line(line if isinstance(line, dict) else to_json(growing.record(line))))
    with pytest.raises(RecordError, match=re.escape(f"line {1 + len(lines)} of ")) as raised:
        read_run(tmp_path)
    assert str(raised.value).endswith(told)
    done = referee("verify", str(tmp_path))
    assert done.code == 6 and told in done.err


def test_the_lines_of_games_are_those_of_the_games_that_count(tmp_path: Path) -> None:
    growing = Growing(tmp_path)
    growing.begin()
    growing.play("1:a:b", "1:b:a")
    growing.append(growing.line({"kind": "change", "replayed": {"1:a:b": {"attempt": 1, "reason": "x"}}}))
    growing.append(growing.line({"kind": "change", "annulled": {"1:b:a": "x"}}))
    growing.append(growing.line({**to_json(growing.record("1:a:b")), "attempt": 2}))
    run = read_run(tmp_path)
    growing.play("2:a:b")
    growing.append(b"damage after what was read\n")
    (found,) = game_lines(run, {"1:a:b", "1:b:a", "2:a:b"})
    assert found.game == run.games["1:a:b"] and (found.game.attempt, found.number) == (2, 6)
    assert to_json(from_json(parse_json(found.text)))["attempt"] == 2
    assert not [*game_lines(run, ())]
