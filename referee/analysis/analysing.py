"""Analyses games not yet analysed, and stores what is found beside the run."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from referee.analysis.estimates import (
    PLAYED_ON,
    Adviser,
    AdviserFailed,
    StepEstimate,
    adviser_of,
    digest_of_bot,
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
)
from referee.core.errors import RecordError, UsageError
from referee.core.pairing import section_of
from referee.core.settings import AUTO, START_US
from referee.core.text import counted, shown, without_folders
from referee.core.this_machine import usable_memory
from referee.core.work import Advance, untold
from referee.gameplay.events import Ending, Moved
from referee.games.api import Seat, State
from referee.processes.limits import share_of
from referee.processes.program import Program
from referee.records.record import from_json, parse_json
from referee.tournament.run.readiness import isolated
from referee.tournament.run.run import StoredRun, game_lines
from referee.tournament.run.verifying import each_line
from referee.viewing.steps import Step, steps_of

MOST_FAILURES = 3  # after faults in so many games an adviser is asked no more

Tell = Callable[[str], object]  # what a problem, one line, is passed to


@dataclass(frozen=True, slots=True)
class AnalysisSettings:
    """How games are analysed."""

    proof: int = NODES  # how many positions are looked at to prove one; 0 proves nothing
    by: str | None = None  # the command of the adviser; None for that of each game
    workers: int = 0  # how many processes prove; 0 does it in this one
    fresh: bool = False  # whether what is stored already is computed again
    cwd: Path = Path()  # the folder in which the adviser runs


def analyse(
    run: StoredRun,
    games: Collection[str],
    settings: AnalysisSettings = AnalysisSettings(),
    tell: Tell = lambda line: None,
    advance: Advance = untold,
) -> RunAnalysis:
    """Analyses those of these games of a run that have no such analysis yet, and stores it; returns all that
    is known of the run by these methods. `tell` is called with what went wrong, in a line.

    Raises `UsageError` for an adviser that cannot be started or a game that has no estimates, `RecordError`
    where a line is damaged, `StorageError`, and `EnvironmentLacksError`.
    """
    advisers = {slug: _adviser(run, slug, settings, tell) for slug in _slugs(run, games)}
    methods = {
        name: AnalysisMethod(settings.proof, advisers[section.game].digest)
        for name, section in run.header.sections.items()
        if section.game in advisers
    }
    store = Store(run.folder)
    stored, _ = store.load()
    known = set() if settings.fresh else {(one.events, one.method) for one in stored}
    todo: dict[str, str] = {}
    for id_ in games:
        key = (run.games[id_].digest, methods[section_of(id_)])
        if key not in known:
            known.add(key)
            todo[id_] = key[0]
    lines = game_lines(run, todo)
    done = 0
    try:
        with closing(each_line(lines, settings.workers, lambda text: opened(text, settings.proof))) as found:
            for line, steps in found:
                section, method = run.header.section_of(line.game.id), methods[section_of(line.game.id)]
                if isinstance(steps, str):
                    tell(f"game {shown(line.game.id)} is not analysed: {steps}")
                else:
                    adviser = advisers[section.game]
                    if estimates := adviser.estimates(line.text, steps):
                        steps = _with_estimates(steps, estimates)
                    elif adviser.is_bot:
                        steps = tuple(step._replace(score=None) for step in steps)
                        method = method._replace(adviser="")
                    terms = section.game, section.rules, section.options
                    name = adviser.name if method.adviser else ""
                    store.append(
                        GameAnalysis(line.game.digest, line.game.id, *terms, method, steps, adviser=name)
                    )
                done += 1
                advance(done, len(todo))
    finally:
        store.close()
        for one in advisers.values():
            one.end()
    return analysed(run, methods)


def _slugs(run: StoredRun, games: Collection[str]) -> list[str]:
    return list(dict.fromkeys(run.header.section_of(id_).game for id_ in games))


def _adviser(run: StoredRun, slug: str, settings: AnalysisSettings, tell: Tell) -> _AskedAdviser:
    """Who estimates in a game. Raises `UsageError`, `EnvironmentLacksError`."""
    game = next(one for one in run.header.sections.values() if one.game == slug).available()
    if settings.by is not None and not game.can_be_estimated:
        raise UsageError(
            f"`--by` is given for `{slug}`, in which estimates say too little, expected a run of another game"
        )
    command = adviser_of(game)
    if settings.by is not None:
        bot = Program.parse(settings.by, settings.cwd.resolve())
    elif command:
        bot = Program.of("adviser", command, settings.cwd.resolve())
    else:
        adviser = PLAYED_ON if game.policy() else ""
        return _AskedAdviser(None, tell, adviser, adviser)
    bot.check()
    (bot,) = isolated([replace(bot, name="adviser", isolation=AUTO)], [run.folder])
    bot = replace(bot, limits=replace(bot.limits, share=share_of(usable_memory(), bots=1)))
    given = settings.by or " ".join(command)
    name = shown(without_folders(given.replace("{python} ", "")), 100)
    return _AskedAdviser(bot, tell, name, digest_of_bot(bot))


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


def _with_estimates(
    steps: Sequence[AnalysedStep], estimates: Sequence[StepEstimate]
) -> tuple[AnalysedStep, ...]:
    """The steps with what an adviser said; its move stands where nothing is proved."""
    return tuple(
        step._replace(
            score=said.score, best=step.best if step.proof is not None else said.best, loss=said.loss
        )
        for step, said in zip(steps, estimates, strict=True)
    )


class _AskedAdviser:
    """The adviser of a game, if a bot is one: it is asked until it has failed too often."""

    def __init__(self, bot: Program | None, tell: Tell, name: str, digest: str) -> None:
        self._bot = Adviser(bot, START_US) if bot else None
        self._tell = tell
        self._failures = 0
        self._games = 0
        self.name = name  # for people
        self.digest = digest  # stands for it in stored analyses

    @property
    def is_bot(self) -> bool:
        """Whether a bot is to be asked."""
        return self._bot is not None

    def estimates(self, line: bytes, known: Sequence[AnalysedStep]) -> list[StepEstimate]:
        """What the bot says of the positions of a game; nothing without one, or where it fails."""
        if self._bot is None or self._failures >= MOST_FAILURES:
            return []
        steps = steps_of(from_json(parse_json(line)))
        try:
            found = self._bot.estimates(
                steps.terms,
                [step.state for step in steps.steps],
                [step.proof is not None for step in known],
            )
        except AdviserFailed as failure:
            self._failures += 1
            more = ", and is asked no more" if self._failures == MOST_FAILURES else ""
            self._tell(f"the adviser `{self.name}` {failure}, in game {shown(steps.terms.id)}{more}")
            return []
        self._games += 1
        return found

    def end(self) -> None:
        """Ends the bot, and tells if it said nothing that could be used."""
        if self._bot is None:
            return
        self._bot.end()
        what = ""
        if unread := self._bot.unread:
            what = (
                f"what cannot be used {counted(unread, 'time')}: a `value` that is not from 0 to 1, or a "
                "`score` that is no number"
            )
        elif self._games and not self._bot.said and not self._failures:
            what = "no `value` and no `score` of any position"
        if what:
            self._tell(f"the adviser `{self.name}` said {what}")
