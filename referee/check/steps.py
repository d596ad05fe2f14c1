"""The steps: each a function that tries one thing, and says what it found or raises `Failed`.

A step takes for granted what the steps that it needs have shown, so its hint can speak of one thing alone.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

from referee.check.acquaintance import acquaint
from referee.check.bench import Bench, house_moves
from referee.check.subject import Failed
from referee.check.table import FaultyTable, RejectingTable, Table, TakenOverTable
from referee.check.words import counted, listed
from referee.core.text import shown
from referee.core.units import about, about_size
from referee.gameplay.api import Failure
from referee.gameplay.events import Ending, Seat
from referee.games.api import Options
from referee.processes.ending import GRACE_S
from referee.wire.link import Link

ENOUGH_S = 4.0
"""After so long no further game is begun to look for more positions; every seat has one in any case."""

SHORT = 8
"""Answers of the bot's in a game that need not be a whole one."""

TIMED = 30
"""Answers under each clock."""

GAMES = (1, 3, 5)
"""Games of the processes whose memory is compared."""

PACE = 100
"""A bot that would fill its memory within so many games grows."""

UNKNOWN = (b"remark 1 a later referee may say more than protocol 1 knows\n", b"asking 999 2000 0\n")
"""Lines that a bot ignores. The second begins like one that it does not."""


class Observation(NamedTuple):
    """What a step found that was passed: for people, and in figures."""

    text: str
    figures: dict[str, Any]


class Skipped(Exception):
    """The step cannot be tried here; the text says why."""


class Step(NamedTuple):
    """What is tried, and which steps must not have failed before."""

    title: str
    trial: Callable[[Bench], Observation]
    needs: tuple[int, ...]


def starts(bench: Bench) -> Observation:
    """The program can be started, and is there until it is greeted."""
    acquaint(bench).passed(1)
    return Observation("", {})


def gets_ready(bench: Bench) -> Observation:
    """Hello and ready come in time."""
    met = acquaint(bench).passed(2)
    figures = {"hello_us": met.hello_us, "ready_us": met.ready_us}
    return Observation(f"hello after {about(met.hello_us)}, ready after {about(met.ready_us)}", figures)


def flushes(bench: Bench) -> Observation:
    """The first question is answered."""
    met = acquaint(bench).passed(3)
    figures = {"answer_us": met.answer_us, "answer": shown(met.answer)}
    return Observation(f"`{shown(met.answer, 40)}` after {about(met.answer_us)}", figures)


def answers_legally(bench: Bench) -> Observation:
    """Whole games in each seat, under several settings, against a house that plays at random."""
    settings = list(bench.settings())
    games: list[tuple[Options, Seat]] = [
        (options, seat) for options in (*settings, bench.options) for seat in range(bench.game.seats(options))
    ]
    began_s = time.monotonic()
    thirds = [0, 0, 0]
    played: list[Options] = []
    for number, (options, seat) in enumerate(games):
        if number >= bench.seats and time.monotonic() - began_s > ENOUGH_S:
            break
        with bench.start() as bot:
            table = Table(bot.sits(bench.terms(f"legal {number}", options), seat))
            others = [f"{name}={value}" for name, value in options.items() if bench.options[name] != value]
            bot.expect(table, " ".join([f"in seat {seat + 1}", *others]))
        moves = len(table.moves)
        for place in range(moves):
            thirds[3 * place // moves] += 1
        played.append(options)
    distinct = sum(options in played for options in settings)
    figures = {"games": len(played), "settings": distinct, "answers_by_third": thirds, "rejections": 0}
    early, middle, late = thirds
    return Observation(
        f"{sum(thirds)} answers in {counted(len(played), 'game')} under {counted(distinct, 'setting')}: "
        f"{early} early, {middle} in the middle, {late} late; no rejection",
        figures,
    )


def obeys_a_rejection(bench: Bench) -> Observation:
    """One of its legal answers is rejected all the same; it answers the next question and goes on."""
    where = "after a rejection"
    hint = (
        "behind `rejected` comes an `ask` with the next number: choose again, and answer with that number; "
        "the clock runs on"
    )
    with bench.start() as bot:
        table = RejectingTable(bot.sits(bench.lively("rejection", 0, SHORT // 2), 0), most=SHORT)
        bot.play(table)
        if table.rejected and table.fault and bot.link.channel.aside.stale_count:
            hint = f"it answered the old question once more: {hint}"
        bot.require_no_fault(table, where if table.rejected else "", hint if table.rejected else "")
        if not table.rejected:
            raise Skipped("there was no position in which it had a choice")
        if not table.again:
            raise bot.failed(f"{where}: it resigned", hint)
    same = "the same move" if table.again == table.rejected else "another one"
    return Observation(
        f"`{shown(table.rejected, 40)}` was rejected, and it answered with {same}",
        {"rejected": shown(table.rejected), "answered": shown(table.again)},
    )


def keeps_time(bench: Bench) -> Observation:
    """Under each clock no answer is late."""
    failures: list[Failed] = []
    found: list[dict[str, Any]] = []
    for number, control in enumerate(bench.clocks):
        seat = number % bench.seats
        with bench.start() as bot:
            table = Table(bot.sits(bench.lively(f"time {number}", seat, SHORT, control), seat), most=TIMED)
            bot.play(table)
            try:
                bot.require_no_fault(
                    table, f"under {control}, question {table.answers + 1}", _time_hint(table)
                )
            except Failed as error:
                failures.append(error)
        used = [move.charge.used_us for move in table.moves if not move.defaulted]
        failed = table.fault is not None
        found.append({"clock": str(control), "failed": failed, "answers": len(used)})
        found[-1]["slowest_us"] = max(used, default=None)
    slowest = ["failed" if one["failed"] else about(one["slowest_us"] or 0) for one in found]
    text = ", ".join(f"{what} under {one['clock']}" for what, one in zip(slowest, found, strict=True))
    if failures:
        first = failures[0]
        raise Failed(f"{first.what} (slowest answers: {text})", first.hint, first.evidence)
    return Observation(f"slowest answers: {text}", {"clocks": found})


def _time_hint(table: Table) -> str:
    if table.fault is None or table.fault.ending is not Ending.TIME:
        return ""
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    return (
        "each `ask` says what is left, in milliseconds: of the move's allowance, and of the reserve. Think "
        "less where that is little, or name the clocks that it is made for with `--time`"
        + (f" (this machine was busy: {busy:.0f} programs wanted {cores} cores)" if busy > cores + 1 else "")
    )


def plays_a_second_game(bench: Bench) -> Observation:
    """Two games in one process, from other seats."""
    hint = (
        "behind `end` comes `game` or `quit`: forget the game that is over, answer `prepare` with `ready` "
        "once more, and take each question's number from its `ask`: they begin anew"
    )
    with bench.start() as bot:
        first = Table(bot.sits(bench.lively("first", 0, SHORT), 0), most=TIMED)
        bot.expect(first, "in the first game")
        seat = bench.seats - 1
        second = Table(bot.sits(bench.lively("second", seat, SHORT), seat), most=TIMED)
        bot.expect(second, "in the second game", hint)
    return Observation(
        f"{first.answers} and {second.answers} answers", {"answers": [first.answers, second.answers]}
    )


def takes_a_fault(bench: Bench) -> Observation:
    """Opponents that do not start, and that leave in the middle; the next game goes on."""
    if bench.seats == 1:
        raise Skipped("it plays alone")
    hint = (
        "`end` may come at any time once the game was described, also before the first question and while "
        "one is open; then comes `game` or `quit`"
    )
    ends: list[str] = []
    with bench.start() as bot:
        terms = bench.lively("fault", 0, SHORT)
        for text, most, crossing in (
            ("before its first question", 0, False),
            ("in the middle", 2, False),
            ("while its own question was open", 2, True),
        ):
            table = FaultyTable(bot.sits(terms, 0), most, crossing)
            bot.expect(table, f"after a game that ended {ends[-1]}" if ends else "", hint if ends else "")
            if crossing and not table.crossed:
                continue  # the seats take turns: nobody leaves while the bot is asked
            ends.append(text)
        bot.expect(Table(bot.sits(terms, 0), most=SHORT), f"after a game that ended {ends[-1]}", hint)
    return Observation(f"games ended {listed(ends)}, and it played the next", {"ends": ends})


class Talkative(Link):
    """Says more than protocol 1 has."""

    def send(self, data: bytes) -> Failure | None:
        """Sends the unknown lines too, wherever a new message may come."""
        return super().send(re.sub(rb"(?m)^(?=(?:game|prepare|ask|end)\b)", b"".join(UNKNOWN), data))


def ignores_the_unknown(bench: Bench) -> Observation:
    """Messages that protocol 1 does not have."""
    hint = (
        "a line whose first word is not known is ignored, so that later referees may say more; compare the "
        "whole word, up to the blank or the end of the line"
    )
    with bench.start(Talkative) as bot:
        terms = bench.lively("unknown", 0, SHORT)
        for _ in range(2):
            table = Table(bot.sits(terms, 0), most=SHORT)
            bot.expect(table, "among messages that it does not know", hint)
    return Observation("before `game`, `prepare`, `ask` and `end`", {})


def takes_over(bench: Bench) -> Observation:
    """Its first question comes in the middle of a game, with all the news so far."""
    hint = (
        "all `news` lines of a game in their order are all there is to know, its own moves among them: build "
        "the position from them alone, however many come at once"
    )
    games: list[dict[str, int]] = []
    for quarter in (1, 2, 3):
        seat = (quarter - 1) % bench.seats
        terms = bench.lively(f"middle {quarter}", seat, SHORT // 2)
        after = max(1, len(house_moves(terms, seat)) * quarter // 4)
        with bench.start() as bot:
            table = TakenOverTable(bot.sits(terms, seat), after, most=SHORT // 2)
            bot.expect(
                table, f"in seat {seat + 1}, behind {counted(after, 'move')} that it did not make", hint
            )
        if not table.answers:
            raise Skipped("there was no game in which it was asked often enough")
        games.append({"after": after, "news": table.told, "answers": table.answers})
    afters = listed(game["after"] for game in games)
    news = listed(game["news"] for game in games)
    return Observation(
        f"after {afters} moves that it did not make, with {news} lines of news at once",
        {"games": games},
    )


def plays_a_seed_again(bench: Bench) -> Observation:
    """Twice the same game in fresh processes. Not to play it again is no fault."""
    games: list[list[str]] = []
    for _ in range(2):
        with bench.start() as bot:
            table = Table(bot.sits(bench.lively("again", 0, SHORT), 0), most=SHORT)
            bot.expect(table)
            games.append([move.text for move in table.moves])
    first, second = games
    if first == second:
        return Observation(f"yes: {counted(len(first), 'move')} alike", {"same": True})
    pairs = zip(first, second, strict=False)
    place = next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), None)
    where = (
        "the lengths differ"
        if place is None
        else (f"move {place + 1} was `{shown(first[place], 40)}` and then `{shown(second[place], 40)}`")
    )
    return Observation(
        f"no: {where}. It need not; if it is to, it takes all its randomness from `seed` and does not "
        f"look at the time",
        {"same": False},
    )


def quits(bench: Bench) -> Observation:
    """It exits by itself when it is told to."""
    with bench.start() as bot:
        table = Table(bot.sits(bench.lively("quit", 0, 1), 0), most=1)
        bot.play(table)
        if table.fault:  # a rejection is no matter here
            bot.require_no_fault(table)
        began_ns = time.monotonic_ns()
        bot.end()
        used_us = (time.monotonic_ns() - began_ns) // 1000
        assert bot.exit_report
        status = bot.exit_report.status
        if bot.link.process and bot.link.process.terminated:
            raise bot.failed(
                f"it was still there {GRACE_S} s after `quit` and the end of its input, and {status}",
                "exit on `quit` and at the end of the input; a thread that is still on keeps it alive",
            )
    return Observation(f"it {status} after {about(used_us)}", {"status": status, "used_us": used_us})


def leaves_no_process(bench: Bench) -> Observation:
    """When it has exited, so has all that it started."""
    with bench.start() as bot:
        bot.expect(Table(bot.sits(bench.lively("leave", 0, SHORT), 0), most=SHORT))
        bot.end()
        assert bot.exit_report
        left, escaped = ([*map(shown, names)] for names in (bot.exit_report.orphans, bot.exit_report.escaped))
        if left:
            away = f"; {listed(escaped)} had left its process group" if escaped else ""
            raise bot.failed(
                f"when it had exited, {listed(left)} {'was' if len(left) == 1 else 'were'} still there{away}",
                "end what it started, and wait for that, before it exits",
            )
    return Observation("", {})


def keeps_its_memory(bench: Bench) -> Observation:
    """Processes that play the same game more and more often."""
    terms = bench.lively("memory", 0, SHORT)
    peaks: list[int] = []
    for games in GAMES:
        with bench.start() as bot:
            for _ in range(games):
                bot.expect(Table(bot.sits(terms, 0), most=SHORT))
            bot.end()
            assert bot.exit_report
            peaks.append(bot.exit_report.memory_bytes)
            if bench.memory_bytes and peaks[-1] > bench.memory_bytes:
                raise bot.failed(
                    f"{about_size(peaks[-1])} after {counted(games, 'game')}, expected at most "
                    f"{about_size(bench.memory_bytes)}",
                    "take less, or allow more with `--memory`",
                )
    pace = min((later - earlier) // (GAMES[1] - GAMES[0]) for earlier, later in pairwise(peaks))
    if bench.memory_bytes and peaks[-1] + PACE * pace > bench.memory_bytes:
        raise bot.failed(
            f"it grows by {about_size(pace)} with each game: {listed(map(about_size, peaks))} after "
            f"{listed(GAMES)} games",
            "let go of a game when it has ended; a collector that was given no bound (`java -Xmx`) looks the "
            "same",
        )
    return Observation(
        f"at most {about_size(max(peaks))}", {"peak_bytes": max(peaks), "games": GAMES, "peaks_bytes": peaks}
    )


STEPS: tuple[Step, ...] = (
    Step("starts", starts, ()),
    Step("gets ready in time", gets_ready, (1,)),
    Step("flushes its answers", flushes, (2,)),
    Step("answers legally", answers_legally, (3,)),
    Step("obeys a rejection", obeys_a_rejection, (4,)),
    Step("keeps time", keeps_time, (4,)),
    Step("plays a second game", plays_a_second_game, (4,)),
    Step("takes an opponent's fault", takes_a_fault, (7,)),
    Step("ignores unknown messages", ignores_the_unknown, (7,)),
    Step("takes over a game", takes_over, (4,)),
    Step("plays a seed again", plays_a_seed_again, (4,)),
    Step("quits", quits, (3,)),
    Step("leaves no process", leaves_no_process, (4, 12)),
    Step("keeps its memory", keeps_its_memory, (7,)),
)
"""In the order in which they are tried, counted from 1."""

ALWAYS = 3
"""The first steps are one conversation, without which there is nothing to look at: they are always tried."""
