"""Analyses games not yet analysed, and stores what is found beside the run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from referee.analysis.estimates import (
    PLAYED_ON,
    Adviser,
    AdviserFailed,
    StepEstimate,
    adviser_of,
    played_on,
)
from referee.analysis.solver import NODES, Solver, is_solvable
from referee.analysis.store import (
    AnalysedStep,
    AnalysisMethod,
    GameAnalysis,
    RunAnalysis,
    Store,
    analysed,
    key_of,
)
from referee.core.errors import RecordError, UsageError
from referee.core.pairing import section_of
from referee.core.settings import AUTO
from referee.core.text import counted, shown, without_folders
from referee.core.this_machine import usable_memory
from referee.core.work import Advance, untold
from referee.gameplay.events import Ending, Moved
from referee.games.api import Game, Seat, State
from referee.processes.limits import share_of
from referee.processes.program import Program
from referee.records.record import from_json, parse_json
from referee.tournament.run.readiness import isolated
from referee.tournament.run.run import StoredRun, game_lines
from referee.tournament.run.verifying import each_line
from referee.viewing.steps import Step, steps_of

MOST_FAILURES = 3  # an adviser that is at fault in so many games is asked no more


def analyse(
    run: StoredRun,
    games: Collection[str],
    *,
    proof: int = NODES,
    by: str | None = None,
    workers: int = 0,
    tell: Callable[[str], object] = lambda line: None,
    advance: Advance = untold,
) -> RunAnalysis:
    """Analyses those of these games of a run that have no such analysis yet, and stores it; returns all that
    is known of the run by these methods.

    `proof`: how many positions are looked at to prove one; 0 proves nothing. `by`: the command of the adviser
    in place of that of each game. `workers`: how many processes prove; 0 does it in this one. `tell` is
    called with what went wrong, in a line.

    Raises `UsageError` for an adviser that cannot be started or fails too often, or a game that has no
    estimates, `RecordError` where a line is damaged, `StorageError`, and `EnvironmentLacksError`.
    """
    sections = {section_of(id_): run.header.section_of(id_) for id_ in games}
    rules = {one.game: one.available() for one in sections.values()}
    advisers = {slug: _adviser(game, by, run.folder) for slug, game in rules.items()}
    methods = {name: _method(rules[one.game], proof, advisers[one.game]) for name, one in sections.items()}
    todo: dict[tuple[str, AnalysisMethod], str] = {}  # the first one of several games that are the same
    for id_ in games:
        todo.setdefault((key_of(run.games[id_], sections[section_of(id_)]), methods[section_of(id_)]), id_)
    with ExitStack() as stack:
        store = stack.enter_context(closing(Store(run.folder)))
        for one in store.load()[0]:
            todo.pop((one.key, one.method), None)
        for asked in filter(None, advisers.values()):
            stack.callback(asked.end)
        keys = {id_: key for (key, _), id_ in todo.items()}
        lines = game_lines(run, keys)
        found = stack.enter_context(closing(each_line(lines, workers, lambda text: opened(text, proof))))
        failures = Counter[str]()
        for done, (line, steps) in enumerate(found, 1):
            advance(done, len(keys))
            id_ = line.game.id
            section = section_of(id_)
            adviser = advisers[sections[section].game]
            not_analysed = f"game {shown(id_)} is not analysed"
            if isinstance(steps, str):
                tell(f"{not_analysed}: {steps}")
                continue
            if adviser:
                try:
                    steps = _with_estimates(line.text, steps, adviser)
                except AdviserFailed as failure:
                    tell(f"{not_analysed}: the adviser `{adviser.name}` {failure}")
                    failures[adviser.name] += 1
                    if failures[adviser.name] == min(MOST_FAILURES, len(keys)):
                        games_failed = counted(failures[adviser.name], "game")
                        raise UsageError(
                            f"the adviser `{adviser.name}` failed in {games_failed}, expected a move in each "
                            "position"
                        ) from None
                    continue
            store.append(GameAnalysis(keys[id_], methods[section], steps))
    for asked in filter(None, advisers.values()):
        if not failures[asked.name] and (said := asked.useless):
            tell(f"the adviser `{asked.name}` said {said}")
    return analysed(run, methods)


def _adviser(game: Game[Any], by: str | None, run_folder: Path) -> Adviser | None:
    """The bot that estimates in a game, if one does. Raises `UsageError`, `EnvironmentLacksError`."""
    if by is not None and not game.can_be_estimated:
        raise UsageError(
            f"`--by` is given for `{game.slug}`, in which estimates say too little, expected a run of "
            "another game"
        )
    command = adviser_of(game)
    if by is not None:
        bot = Program.parse(by, Path.cwd())
    elif command:
        bot = Program.of("adviser", command, Path.cwd())
    else:
        return None
    bot.check()
    (bot,) = isolated([replace(bot, name="adviser", isolation=AUTO)], [run_folder])
    bot = replace(bot, limits=replace(bot.limits, share=share_of(usable_memory(), bots=1)))
    given = by or " ".join(command)
    return Adviser(bot, shown(without_folders(given.replace("{python} ", "")), 100))


def _method(game: Game[Any], proof: int, adviser: Adviser | None) -> AnalysisMethod:
    if adviser:
        return AnalysisMethod(proof, adviser.digest, adviser.name)
    by = PLAYED_ON if game.policy() else ""
    return AnalysisMethod(proof, by, by)


def opened(line: bytes, nodes: int) -> tuple[AnalysedStep, ...] | str:
    """What is known of the positions of a game without asking a bot; why that cannot be said where its record
    is damaged.
    """
    try:
        record = from_json(parse_json(line))
    except RecordError as error:
        return str(error)
    steps = steps_of(record)
    if steps.damage:
        return str(steps.damage)
    game, options = record.terms.game, record.terms.options
    states = [step.state for step in steps.steps]
    proofs: list[int | None] = [None] * len(states)
    best: list[str | None] = [None] * len(states)
    if nodes and is_solvable(game, options):
        proofs, best = _proofs(states, nodes, record.verdict.ending is Ending.RULES)
    estimates = [StepEstimate()] * len(states)
    if (policy := game.policy()) and game.seats(options) == 2:
        estimates = played_on(states, policy, record.terms.seed)
    seats = [*map(_chooser, steps.steps[1:]), None]
    return tuple(
        AnalysedStep(seat, proof, estimate.score, state.lead(0), move)
        for seat, state, proof, estimate, move in zip(seats, states, proofs, estimates, best, strict=True)
    )


def _chooser(step: Step) -> Seat | None:
    """Whose bot chose the only move of a step, if it is one of the first two seats: nobody chose those of an
    opening, and those that the referee made when the time was up.
    """
    chosen = [event.seat for event in step.events if isinstance(event, Moved) and not event.defaulted]
    return chosen[0] if len(chosen) == 1 and chosen[0] < 2 else None


def _proofs(
    states: Sequence[State[Any]], nodes: int, by_rules: bool
) -> tuple[list[int | None], list[str | None]]:
    """What is proved of each position, from the end backwards, with what was found before in mind; and where
    a move gave something away, one that keeps it.
    """
    solver = Solver(nodes)
    proofs: list[int | None] = [None] * len(states)
    best: list[str | None] = [None] * len(states)
    for number in range(len(states) - 1 if by_rules else len(states) - 2, -1, -1):
        proofs[number] = value = solver.value(states[number])
        if value is None:
            break  # earlier positions are hardly ever proved
        after = proofs[number + 1] if number + 1 < len(states) else None
        if after is not None and after != value:
            move = solver.best(states[number])
            best[number] = None if move is None else states[number].write(move)
    return proofs, best


def _with_estimates(line: bytes, known: Sequence[AnalysedStep], adviser: Adviser) -> tuple[AnalysedStep, ...]:
    """The steps of a game with what an adviser says; its move stands where nothing is proved. Raises
    `AdviserFailed`.
    """
    steps = steps_of(from_json(parse_json(line)))
    said = adviser.estimates(
        steps.terms, [step.state for step in steps.steps], [step.proof is not None for step in known]
    )
    return tuple(
        step._replace(score=one.score, best=step.best if step.proof is not None else one.best, loss=one.loss)
        for step, one in zip(known, said, strict=True)
    )
