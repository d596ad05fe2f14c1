"""Notes under a table, the most important first: what makes its numbers less certain than they look, and what
they mean. Pure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from referee.core.text import counted, listed, shown
from referee.core.units import about
from referee.gameplay.events import Ending
from referee.ratings.columns import range_text, rating_text
from referee.ratings.standings import Facts, Standings
from referee.records.amendments import LeftOut
from referee.records.record import Summary

FEW_ENCOUNTERS = 10
"""With fewer independent encounters an interval is itself uncertain; with fewer in all, a table has no Elo
unless it is asked for.
"""

LATE_PERCENT = 1  # A bot that loses more than this share of its games on time is told

STOPPED_PERCENT = 1
"""From this many moves on, moves during which the referee was not running show an overloaded machine."""

MAX_NAMES = 8  # maximum number of bots that a note names; the others are counted

OUTPUT_LINES = 4  # the number of last lines of the output of a failed build that a note shows

RANKS = "ranks: the possible ones, with 95 %"
AHEAD = "ahead: is it stronger than the next? sure (97.5 %), likely (80 %) or open"
ELO = "Elo: the mean is 0; ± or (from…to): 95 % interval"
NO_ELO = f"no Elo yet: it takes {FEW_ENCOUNTERS} independent encounters"
NO_INTERVALS = (
    "no intervals for bots whose sequential test is decided: tests end when the results are extreme, so "
    "intervals would be too narrow"
)
NEXT = "to next: the difference to the next rank, with its own 95 % interval"
LOS = "LOS: the likelihood that the bot is stronger than the next one in rank"
POINTS = "points: in each game, the share of opponents that finished behind; a tie counts half"
EXPECTED = "expected: the points, by 1, ½ and 0, that these ratings predict for the games played"
PAIRS = (
    "pairs: two games with the seats swapped, lost (L), drawn (D) or won (W) by the bot; DD includes WL; "
    "nElo: normalized Elo, in standard deviations of a game"
)
ROUNDS = "rounds: the number of the opponent and the points against it: `3:2` is 2 points against number 3"
OVER = "over: moves longer than the allowance, charged to the reserve; late: moves after the time was up"

AFTER = (
    "Elo after the test: of the tested pairs alone, corrected for when the test ended; the ratings "
    "are not, and may show a larger difference"
)

_MEANINGS = {
    "ranks": RANKS,
    "ahead": AHEAD,
    "elo": ELO,
    "next": NEXT,
    "los": LOS,
    "expected": EXPECTED,
    "counts": PAIRS,
    "after test": AFTER,
    "over": OVER,
    "rounds": ROUNDS,
}


def meanings(table: Standings, columns: Collection[str]) -> Iterator[str]:
    """Explains the columns that are shown, by their names."""
    yield from (meaning for name, meaning in _MEANINGS.items() if name in columns)
    if "elo" in columns and table.pool.spread:
        yield f"prior: strengths spread by about {table.pool.spread:.0f} Elo, as estimated from these games"
    if table.seats > 2 and not {"points", "score"}.isdisjoint(columns):
        yield POINTS


def is_small(table: Standings) -> bool:
    """Whether the games are too few for ratings to say anything."""
    return table.seats > 1 and len({*table.clusters.of}) < FEW_ENCOUNTERS


def game_line(game: Summary) -> str:
    """Says of a single game who won, how and why."""
    first = [bot for bot, rank in zip(game.bots, game.ranks, strict=True) if rank == 1]
    others = [bot for bot in game.bots if bot not in first]
    where = f" in seat {game.bots.index(first[0]) + 1}" if len(first) == 1 else ""
    against = f" against {names_text(others)}" if others else ""
    result = "won" if len(first) == 1 else "shared the first place" if others else "drew"
    return f"{names_text(first)} {result}{where}{against}: {shown(game.told)}"


def findings(table: Standings, facts: Facts, is_rated: bool = True) -> Iterator[str]:
    """What makes the results less certain than they look. `is_rated` is false where the table has no Elo.

    Notes on the run are not repeated for each section.
    """
    if not table.section:
        if facts.chosen:
            yield _chosen(facts, *facts.chosen)
        if facts.unknown_format:
            yield order_by_rating(facts.unknown_format)
        if facts.closed:
            yield facts.closed
        yield from _changed(table, facts)
        yield from withdrawn_lines(facts.withdrawn)
        yield from left_out_lines(facts.left_out)
        yield from _isolation(table.games, is_mixed=True)
    if is_rated:
        yield from _groups(table)
    yield from _late(table)
    if table.tallies.unrated:
        yield f"{counted(table.tallies.unrated, 'game')} in which no bot started, not counted"
    if forfeited := sum(game.is_forfeited for game in table.games):
        yield (
            f"{counted(forfeited, 'game')} forfeited without being played: counted in points, not in ratings"
        )
    if not table.section:
        yield from _host(facts)
    yield from _repeats(table, facts)
    yield from _uncertain(table) if is_rated else [NO_ELO]


def _chosen(facts: Facts, counted_games: int, in_all: int) -> str:
    tests = "; the sequential test is that of all games" if facts.tests else ""
    return f"only {counted_games:,} of {counted(in_all, 'game')} are counted, those that were chosen{tests}"


def circumstances(table: Standings, is_rated: bool = True) -> Iterator[str]:
    """What the games depended on besides the bots: the seats, and the isolation."""
    if is_rated:
        yield from _advantages(table)
    if not table.section:
        yield from _isolation(table.games, is_mixed=False)


def order_by_rating(name: str) -> str:
    """Says why the order is not that of a format with this name."""
    return f"ordered by rating: {format_from_file(name)}"


def format_from_file(name: str) -> str:
    """Says why nothing is known of a format with this name."""
    return (
        f"the format `{shown(name, 80)}` comes from a file, which is only run if you name it with "
        "`--tournament-format module.py:NAME`"
    )


def names_text(names: Sequence[str]) -> str:
    """Names as a list in words; the last of many are only counted."""
    more = len(names) - MAX_NAMES
    return listed(names if more <= 1 else [*names[:MAX_NAMES], f"{more} more"])


def _advantages(table: Standings) -> Iterator[str]:
    for (section, seats), ratings in sorted(table.pool.advantages.items()):
        where = f" in {section}" if section and not table.section else ""
        worth = [rating_text(rating) for rating in ratings]
        if seats == 2:
            yield f"advantage of seat 1: {worth[0]} Elo{where}"
        else:
            each = ", ".join(f"seat {number} {value}" for number, value in enumerate(worth, 1))
            yield f"Elo of seats{where}, compared with the mean of the others: {each}"


def _uncertain(table: Standings) -> Iterator[str]:
    """Whether there are too few games to compare the bots."""
    rated = [row for row in table.rows if row.is_rated]
    if few := [row.bot for row in rated if row.encounters < FEW_ENCOUNTERS]:
        who = "all bots" if len(few) == len(rated) > 2 else names_text(few)
        yield f"rough intervals: {who} played fewer than {FEW_ENCOUNTERS} independent encounters"
    if any(table.pool.is_stopped(row.bot) for row in rated):
        yield NO_INTERVALS
    compared = [
        (row.bot, after.bot, row.next)
        for row, after in pairwise(table.rows)
        if row.next and not (table.pool.is_stopped(row.bot) or table.pool.is_stopped(after.bot))
    ]
    if len(rated) == 2 and compared:
        ((one, other, found),) = compared
        stronger = one if found.difference.elo > 0 else other
        meaning = f"{stronger} is stronger" if found.is_clear else "0 is possible"
        yield f"{one} compared with {other}: {range_text(found.difference)} (95 %), so {meaning}"


def _groups(table: Standings) -> Iterator[str]:
    groups = [group for group in table.pool.groups if len(group) > 1]
    if len(groups) > 1:
        named = " | ".join(names_text(group) for group in groups)
        yield (
            "some bots are not connected by any games, so compare Elo only within a "
            f"group (each has mean 0): {named}"
        )


def _repeats(table: Standings, facts: Facts) -> Iterator[str]:
    repeats = table.clusters.repeats
    if not repeats:
        return
    count = f"{repeats:,} of {len(table.games):,} games repeat another one"
    if facts.repeats == "count":
        yield f'{count}; they count as independent because of `repeats = "count"`'
    else:
        yield (
            f"{count} move by move and do not narrow any interval; use random openings, or "
            '`repeats = "count"` if the bots play at random'
        )


def _late(table: Standings) -> Iterator[str]:
    late = {}
    for name in table.bots:
        count, games = table.tallies[name].faults[Ending.TIME.word], table.tallies[name].games
        if 100 * count > LATE_PERCENT * games:
            late[name] = f"{name} {count} of {games}"
    if late:
        yield f"games lost on time: {names_text([late[name] for name in table.names if name in late])}"


def _host(facts: Facts) -> Iterator[str]:
    if facts.times and facts.times.stopped:
        yield stopped_text(facts.times.stopped, facts.times.moves)
    starved = [
        f"{name} in {counted(times.waits, 'move')} (at most {about(times.longest_wait_us)})"
        for name, times in sorted(facts.times.by_bot.items() if facts.times else ())
        if times.waits
    ]
    if starved:
        yield (
            "machine busy: bots waited for a processor in moves that took longer than "
            f"the allowance: {names_text(starved)}"
        )


def stopped_text(stopped: int, moves: int) -> str:
    """Says during how many of the moves the referee was not running."""
    what = "machine overloaded" if 100 * stopped > STOPPED_PERCENT * moves else "referee delayed"
    return f"{what} during {stopped:,} of {moves:,} moves; bots were not charged for that time"


def _changed(table: Standings, facts: Facts) -> Iterator[str]:
    if not facts.changed:
        return
    if changed := [f"{name} ({facts.changed[name]})" for name in table.names if name in facts.changed]:
        yield f"programs changed during the run, so the figures mix different versions: {names_text(changed)}"


def left_out_lines(bots: Iterable[LeftOut]) -> Iterator[str]:
    """The bots that the run was last played without, each with the last lines of its build."""
    for one in bots:
        # A backtick would begin code where tables are Markdown.
        output = " / ".join(line.strip() for line in one.output[-OUTPUT_LINES:]).replace("`", "'")
        yield f"{one.text}: {output}" if output else one.text


def withdrawn_lines(withdrawn: Mapping[str, str]) -> Iterator[str]:
    """The bots that are out of the tournament, each with the reason."""
    for name, reason in sorted(withdrawn.items()):
        yield f"`{name}` is out of the tournament and has no rank: {shown(reason)}"


def _isolation(games: Sequence[Summary], is_mixed: bool) -> Iterator[str]:
    """Under which isolation the bots played, where all had the same or, with `is_mixed`, where they had not;
    nothing where the records do not have it.
    """
    levels = {level for levels in {game.isolation for game in games} for level in levels}
    if not is_mixed and len(levels) == 1:
        yield f"isolation: {levels.pop()}"
    if not is_mixed or len(levels) < 2:
        return
    names: dict[str, set[str]] = {}
    for game in games:
        for name, level in zip(game.bots, game.isolation, strict=bool(game.isolation)):
            names.setdefault(level, set()).add(name)
    groups = [f"{level} for {names_text(sorted(found))}" for level, found in names.items()]
    yield f"isolation: {'; '.join(groups)}"
