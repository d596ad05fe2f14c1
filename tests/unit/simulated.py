"""Tournaments without games: schedules are read as the referee reads them, and results are drawn by id."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random

from referee.core.pairing import Pairing
from referee.records.record import Summary
from referee.tournament.formats import Format, SectionState
from referee.tournament.schedule import Encounter, Schedule, Wait

Result = Callable[[Pairing], tuple[int, ...] | None]
"""The ranks of a game by seat, or None for a game that has no result for good."""


def summary(pairing: Pairing, ranks: tuple[int, ...]) -> Summary:
    nothing = ("",) * len(ranks)
    return Summary(pairing.id, 1, "toy", pairing.bots, ranks, ranks, "rules", "", True, nothing)


def schedule_of(
    one: Format, names: Sequence[str], seats: int = 2, section: str = ""
) -> Callable[[Mapping[str, Summary]], Schedule]:
    """The schedule of a format, as a function of the results."""
    return lambda games: one.schedule(SectionState(games, names, seats, section))


def drawn(seed: object, draws: float = 0.3, without_result: float = 0.0) -> Result:
    """Results that follow from a seed and the id of the game alone."""

    def result(pairing: Pairing) -> tuple[int, ...] | None:
        random = Random(f"{seed} {pairing.id}")
        if random.random() < without_result:
            return None
        if random.random() < draws:
            return (1,) * len(pairing.bots)
        return tuple(random.sample(range(1, len(pairing.bots) + 1), len(pairing.bots)))

    return result


def favourites(order: str) -> Result:
    """Results by strength: the bots that come earlier in the order are better."""

    def result(pairing: Pairing) -> tuple[int, ...]:
        return tuple(
            1 + sum(order.index(other) < order.index(bot) for other in pairing.bots) for bot in pairing.bots
        )

    return result


class OnlyWaitedFor(Mapping[str, Summary]):
    """The results of a run; a schedule may look at those only that it waited for."""

    def __init__(self) -> None:
        self.games: dict[str, Summary] = {}
        self.over: set[str] = set()
        self.waited_for: set[str] = set()

    def __getitem__(self, game: str) -> Summary:
        assert game in self.waited_for, game
        return self.games[game]

    def __contains__(self, game: object) -> bool:
        assert game in self.waited_for, game
        return game in self.games

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("a schedule may not depend on what else was played")

    def __len__(self) -> int:
        raise AssertionError("a schedule may not depend on what else was played")


def play(schedule: Callable[[Mapping[str, Summary]], Schedule], result: Result) -> dict[str, Summary | None]:
    """Plays all games one after the other: by id in the order of play, what came of them."""
    run = OnlyWaitedFor()
    order = []
    for step in schedule(run):
        if isinstance(step, Wait):
            assert run.over.issuperset(step.games)
            run.waited_for.update(step.games)
            continue
        for pairing in step.games:
            assert pairing.id not in run.over, "a game is played twice"
            order.append(pairing.id)
            _finish(run, pairing, result)
    return {game: run.games.get(game) for game in order}


def play_disturbed(
    schedule: Callable[[Mapping[str, Summary]], Schedule], result: Result, random: Random
) -> dict[str, Summary | None]:
    """Plays with several workers whose games end in any order, stopped and continued at random moments."""
    run = OnlyWaitedFor()
    workers = random.randint(1, 8)
    while True:
        run.waited_for.clear()
        steps = schedule(run)
        busy: list[list[Pairing]] = []
        waiting: Wait | None = None
        is_at_end = False
        patience = random.choice((random.randint(1, 30), 10_000))
        while patience:
            patience -= 1
            while len(busy) < workers and not is_at_end:
                if waiting and not run.over.issuperset(waiting.games):
                    break
                if waiting:
                    run.waited_for.update(waiting.games)
                waiting = None
                step = next(steps, None)
                if isinstance(step, Encounter):
                    games = [pairing for pairing in step.games if pairing.id not in run.over]
                    busy += [games] if games else []
                elif isinstance(step, Wait):
                    waiting = step
                else:
                    is_at_end = True
            if not busy:
                assert is_at_end, "a schedule waits for a game that is not in it"
                return {game: run.games.get(game) for game in run.over}
            games = random.choice(busy)
            _finish(run, games.pop(0), result)
            busy = [games for games in busy if games]


def _finish(run: OnlyWaitedFor, pairing: Pairing, result: Result) -> None:
    run.over.add(pairing.id)
    if ranks := result(pairing):
        run.games[pairing.id] = summary(pairing, ranks)
