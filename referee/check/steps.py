"""The steps of a check: functions that each test one thing, and return an observation or raise `StepFailed`,
and what runs them.

A step relies on what the steps that it needs have already shown, so its hint can name a single cause.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from referee.check import advice
from referee.check.advice import SEED_HINT, STATUS_HINT, Remark
from referee.check.first_contact import make_first_contact
from referee.check.tested_bot import CheckSettings, StepFailed, TestedBot, house_moves
from referee.check.wires import BotWire, FaultyOpponentWire, RejectingWire, TakeoverWire
from referee.core.text import counted, listed, shown
from referee.core.units import TimeControl, about, about_size
from referee.gameplay.api import Failure
from referee.gameplay.events import Ending
from referee.gameplay.hints import NOT_EXITED
from referee.games.api import Options, Seat
from referee.processes.process import GRACE_S
from referee.wire.connection import BotConnection

MAX_SEARCH_S = 4.0
"""After this time no further games are started to find more positions; every seat plays at least one."""

SHORT_GAME = 8  # how many answers the bot gives in a game that need not be complete

TIMED_ANSWERS = 30  # how many answers the bot gives under each clock

LONG_GAME_S = 15.0  # the house player resigns a game that is to be complete if it takes longer

COLD_FACTOR = 4
"""If first answers take more than this many times as long as all others, the bot is slow only at first."""

CLEAN_EXIT = "exited with status 0"

RESIGNED_HINT = (
    "answer `ask N ...` with `move N TEXT`; `resign N` resigns the game. A bot "
    "that never moves cannot be checked"
)

MEMORY_GAME_S = 2.0  # the house player resigns a game in which only memory is looked at if it takes longer

MEMORY_GAMES = (1, 3, 5)  # how many games each of the processes plays whose memory is compared

GROWTH_GAMES = 100  # A bot whose growth would exceed its memory limit within this many more games fails

UNKNOWN_MESSAGES = (b"remark 1 a later referee may say more than protocol 1 knows\n", b"asking 999 2000 0\n")
"""Lines that a bot has to ignore. The second begins like a message of protocol 1."""


class StepFinding(NamedTuple):
    """The result of a step that passed, as text and as figures."""

    text: str
    figures: dict[str, Any]


class StepSkipped(Exception):
    """The step does not apply here; the text says why."""


class CheckStep(NamedTuple):
    """A title, the function that runs the step, and the steps that must not have failed before."""

    title: str
    trial: Callable[[CheckSettings], StepFinding]
    needs: tuple[int, ...]


def starts(settings: CheckSettings) -> StepFinding:
    """The program can be started, and runs until the referee sends `hello`."""
    make_first_contact(settings).require(1)
    return StepFinding("", {})


def gets_ready(settings: CheckSettings) -> StepFinding:
    """Checks that the bot sends `hello` and `ready` in time."""
    contact = make_first_contact(settings).require(2)
    figures = {"hello_us": contact.hello_us, "ready_us": contact.ready_us}
    return StepFinding(
        f"`hello` after {about(contact.hello_us)}, `ready` after {about(contact.ready_us)}", figures
    )


def answers_when_asked(settings: CheckSettings) -> StepFinding:
    """Checks that the bot answers the first question."""
    contact = make_first_contact(settings).require(3)
    figures = {"answer_us": contact.answer_us, "answer": shown(contact.answer)}
    return StepFinding(f"`{shown(contact.answer, 40)}` after {about(contact.answer_us)}", figures)


def _short_game(
    settings: CheckSettings,
    bot: TestedBot,
    name: str,
    seat: Seat = 0,
    max_answers: int = SHORT_GAME,
    control: TimeControl | None = None,
) -> BotWire:
    """A wire for a game that need not be complete."""
    terms = settings.terms_with_questions(name, seat, SHORT_GAME, control)
    return BotWire(bot.seated(terms, seat), max_answers)


def answers_legally(settings: CheckSettings) -> StepFinding:
    """Complete games in each seat, under several sets of options, against the house player."""
    option_sets = list(settings.option_sets())
    games: list[tuple[Options, Seat]] = [
        (options, seat)
        for options in (*option_sets, settings.options)
        for seat in range(settings.game.seats(options))
    ]
    started_s = time.monotonic()
    thirds = [0, 0, 0]
    moves = 0
    played: list[Options] = []
    for number, (options, seat) in enumerate(games):
        if number >= settings.seats and time.monotonic() - started_s > MAX_SEARCH_S:
            break
        with settings.start() as bot:
            wire = BotWire(bot.seated(settings.terms(f"legal {number}", options), seat), max_s=LONG_GAME_S)
            others = [f"{name}={value}" for name, value in options.items() if settings.options[name] != value]
            where = " ".join([f"in seat {seat + 1}", *others])
            bot.play(wire)
            only_this_seat = 0 < number < settings.seats and wire.rejections
            bot.require_no_fault(wire, where, advice.OTHER_SEAT if only_this_seat else "")
            moves = len(wire.moves)
            if not moves and wire.resigned:
                raise bot.failed(f"{where}: the bot resigned before its first move", RESIGNED_HINT)
        for place in range(moves):
            thirds[3 * place // moves] += 1
        played.append(options)
    distinct = sum(options in played for options in option_sets)
    figures = {"games": len(played), "settings": distinct, "answers_by_third": thirds, "rejections": 0}
    early, middle, late = thirds
    return StepFinding(
        f"{sum(thirds)} answers in {counted(len(played), 'game')} with {counted(distinct, 'set')} of "
        f"options: {early} early, {middle} in the middle, {late} late; no rejections",
        figures,
    )


def handles_a_rejection(settings: CheckSettings) -> StepFinding:
    """One of the bot's legal answers is rejected; it has to answer the next question and play on."""
    where = "after a rejection"
    hint = (
        "after `rejected` comes an `ask` with the next number: choose again and answer with that "
        "number; the clock keeps running"
    )
    clock = settings.clocks[0]
    twice = replace(clock, move_us=2 * clock.move_us)  # the time of two answers, as it runs on
    terms = settings.terms_with_questions("rejection", 0, SHORT_GAME // 2, twice)
    with settings.start() as bot:
        wire = RejectingWire(bot.seated(terms, 0), max_answers=SHORT_GAME)
        bot.play(wire)
        if wire.rejected and wire.fault and bot.connection.session.extra_output.stale_count:
            hint = f"the bot answered the old question again: {hint}"
        bot.require_no_fault(wire, where if wire.rejected else "", hint if wire.rejected else "")
        if not wire.rejected:
            raise StepSkipped("no position gave the bot a choice of moves")
        if not wire.again:
            raise bot.failed(f"{where}: the bot resigned", hint)
    same = wire.again == wire.rejected
    answered = "the same move, which would lose the game at the 10th rejection" if same else "another move"
    return StepFinding(
        f"`{shown(wire.rejected, 40)}` was rejected, and the bot answered with {answered}",
        {"rejected": shown(wire.rejected), "answered": shown(wire.again)},
    )


def keeps_time(settings: CheckSettings) -> StepFinding:
    """No answer is late, under each of the clocks."""
    failures: list[StepFailed] = []
    found: list[dict[str, Any]] = []
    slowest_us = [0, 0]  # of the first answers of all games, and of all others
    for number, control in enumerate(settings.clocks):
        seat = number % settings.seats
        with settings.start() as bot:
            wire = _short_game(settings, bot, f"time {number}", seat, TIMED_ANSWERS, control)
            bot.play(wire)
            for place, move in enumerate(wire.moves):
                kind = min(place, 1)
                slowest_us[kind] = max(slowest_us[kind], move.charge.used_us)
            is_cold = wire.answers == 0 and slowest_us[0] > COLD_FACTOR * slowest_us[1] > 0
            try:
                where = f"under {control}, question {wire.answers + 1}"
                bot.require_no_fault(wire, where, _time_hint(wire, is_cold))
            except StepFailed as error:
                failures.append(error)
        used = [move.charge.used_us for move in wire.moves if not move.defaulted]
        failed = wire.fault is not None
        found.append({"clock": str(control), "failed": failed, "answers": len(used)})
        found[-1]["slowest_us"] = max(used, default=None)
    slowest = ["failed" if one["failed"] else about(one["slowest_us"] or 0) for one in found]
    text = ", ".join(f"{what} under {one['clock']}" for what, one in zip(slowest, found, strict=True))
    if failures:
        first = failures[0]
        what = f"{first.what} (slowest answers: {text})"
        raise StepFailed(what, first.hint, first.diagnostics, first.cause)
    return StepFinding(f"slowest answers: {text}", {"clocks": found})


def _time_hint(wire: BotWire, is_cold: bool) -> str:
    """The hint where time ran out; `is_cold`: so far only first answers were slow."""
    if wire.fault is None or wire.fault.ending is not Ending.TIME:
        return ""
    busy, cores = os.getloadavg()[0], os.cpu_count() or 1
    return (f"only the first answer of a game is slow: {advice.WARM_UP}" if is_cold else advice.LATE) + (
        f" (this machine was busy: load {busy:.0f} on {cores} cores)" if busy > cores + 1 else ""
    )


def plays_a_second_game(settings: CheckSettings) -> StepFinding:
    """Two games in one process, in the first and in the last seat."""
    hint = (
        "after `end` comes `game` or `quit`: discard the finished game, answer `prepare` with `ready` "
        "again, and take each question's number from its `ask`: the numbers restart with each game"
    )
    with settings.start() as bot:
        first = _short_game(settings, bot, "first", 0, TIMED_ANSWERS)
        bot.expect(first)
        second = _short_game(settings, bot, "second", settings.seats - 1, TIMED_ANSWERS)
        bot.expect(second, "in the second game", hint)
    return StepFinding(
        f"{first.answers} and {second.answers} answers", {"answers": [first.answers, second.answers]}
    )


def handles_opponents_faults(settings: CheckSettings) -> StepFinding:
    """Opponents that do not start or that fail in mid-game; the bot has to play the next game."""
    if settings.seats == 1:
        raise StepSkipped("the game has a single seat")
    hint = (
        "`end` may come at any time after `game`, even before the first question and while a question is "
        "open; then comes `game` or `quit`"
    )
    ends: list[str] = []
    with settings.start() as bot:
        terms = settings.terms_with_questions("fault", 0, SHORT_GAME)
        for text, max_answers, while_asked in (
            ("before the bot's first question", 0, False),
            ("in the middle", 2, False),
            ("while the bot had an open question", 2, True),
        ):
            wire = FaultyOpponentWire(bot.seated(terms, 0), max_answers, while_asked)
            bot.expect(wire, f"after a game that ended {ends[-1]}" if ends else "", hint if ends else "")
            if while_asked and not wire.ended_while_asked:
                continue  # the seats take turns: no opponent can fail while the bot is asked
            ends.append(text)
        bot.expect(
            BotWire(bot.seated(terms, 0), max_answers=SHORT_GAME), f"after a game that ended {ends[-1]}", hint
        )
    return StepFinding(f"games ended {listed(ends)}, and the bot played the next one", {"ends": ends})


class UnknownMessagesConnection(BotConnection):
    """A connection that also sends messages that are not part of protocol 1."""

    def send(self, data: bytes) -> Failure | None:
        """Sends the data with unknown messages wherever a new message may come."""
        return super().send(re.sub(rb"(?m)^(?=(?:game|prepare|ask|end)\b)", b"".join(UNKNOWN_MESSAGES), data))


def ignores_unknown_messages(settings: CheckSettings) -> StepFinding:
    """The bot ignores messages that are not part of protocol 1."""
    hint = (
        "ignore every line whose first word is unknown, because later versions may send more; compare the "
        "whole word, up to the space or the end of the line"
    )
    with settings.start(UnknownMessagesConnection) as bot:
        terms = settings.terms_with_questions("unknown", 0, SHORT_GAME)
        for _ in range(2):
            wire = BotWire(bot.seated(terms, 0), max_answers=SHORT_GAME)
            bot.expect(wire, "with unknown messages", hint)
    return StepFinding("sent before `game`, `prepare`, `ask` and `end`", {})


def joins_a_game_in_progress(settings: CheckSettings) -> StepFinding:
    """The bot's first question comes in the middle of a game, with all the news so far."""
    hint = (
        "the `news` lines of a game, in order, have everything that the bot needs, including its own "
        "moves: build the position from them alone, however many come at once"
    )
    games: list[dict[str, int]] = []
    for quarter in (1, 2, 3):
        seat = (quarter - 1) % settings.seats
        terms = settings.terms_with_questions(f"middle {quarter}", seat, SHORT_GAME // 2)
        after = max(1, len(house_moves(terms, seat)) * quarter // 4)
        with settings.start() as bot:
            where = f"in seat {seat + 1}, after {counted(after, 'move')} that the bot did not make"
            wire = TakeoverWire(bot.seated(terms, seat), after, max_answers=SHORT_GAME // 2)
            bot.expect(wire, where, hint)
        if not wire.answers:
            raise StepSkipped("the bot did not have enough moves in any game")
        games.append({"after": after, "news": wire.news_count, "answers": wire.answers})
    afters = listed(game["after"] for game in games)
    news = listed(game["news"] for game in games)
    return StepFinding(
        f"after {afters} moves of the house player in the bot's seat, with {news} lines of news at once",
        {"games": games},
    )


def repeats_a_game_from_its_seed(settings: CheckSettings) -> StepFinding:
    """Plays the same game twice, in new processes. A bot that plays another game passes too."""
    games: list[list[str]] = []
    for _ in range(2):
        with settings.start() as bot:
            wire = _short_game(settings, bot, "again")
            bot.expect(wire)
            games.append([move.text for move in wire.moves])
    first, second = games
    if first == second:
        return StepFinding(f"yes: {counted(len(first), 'identical move')}", {"same": True})
    pairs = zip(first, second, strict=False)
    place = next((place for place, pair in enumerate(pairs) if pair[0] != pair[1]), None)
    where = (
        "the lengths differ"
        if place is None
        else (f"move {place + 1} was `{shown(first[place], 40)}` and then `{shown(second[place], 40)}`")
    )
    settings.remarks.add(
        Remark("seed", f"the bot played a different game the second time: {where}", SEED_HINT)
    )
    return StepFinding("no", {"same": False})


def quits(settings: CheckSettings) -> StepFinding:
    """Checks that the bot exits by itself after `quit`."""
    with settings.start() as bot:
        wire = BotWire(bot.seated(settings.terms_with_questions("quit", 0, 1), 0), max_answers=1)
        bot.play(wire)
        if wire.fault:  # a rejection does not matter here
            bot.require_no_fault(wire)
        started_ns = time.monotonic_ns()
        bot.end()
        used_us = (time.monotonic_ns() - started_ns) // 1000
        assert bot.exit_report
        status = bot.exit_report.status
        if bot.connection.process and bot.connection.process.terminated:
            raise bot.failed(
                f"the bot was still running {GRACE_S} s after `quit` and the end of its input; it {status}",
                NOT_EXITED,
            )
        if status != CLEAN_EXIT:
            stderr = bot.stderr_lines()
            cause = " ".join([status, *stderr[-1:]])
            what = f"after `quit` the bot {status}, expected status 0"
            settings.remarks.add(Remark(cause, what, STATUS_HINT, stderr))
    text, data = f"{status} after {about(used_us)}", {"status": status, "used_us": used_us}
    if refused := bot.exit_report.refused:
        calls = listed([f"{name} ({count})" for name, count in refused])
        text, data = f"{text}; refused system calls: {calls}", {**data, "refused_calls": dict(refused)}
    return StepFinding(text, data)


def leaves_no_processes(settings: CheckSettings) -> StepFinding:
    """Checks that no process of the bot is still running when the bot has exited."""
    with settings.start() as bot:
        bot.expect(_short_game(settings, bot, "leave"))
        bot.end()
        assert bot.exit_report
        if orphans := bot.exit_report.orphans:
            away = dict.fromkeys(bot.exit_report.escaped, " outside its process group")
            were = "was" if len(orphans) == 1 else "were"
            names = listed([shown(name) + away.get(name, "") for name in orphans])
            raise bot.failed(
                f"after the bot exited, {names} {were} still running",
                "end every process that the bot started, and wait for it, before the bot exits",
            )
    return StepFinding("", {})


def keeps_memory_bounded(settings: CheckSettings) -> StepFinding:
    """Memory of processes that play the same game once, three and five times."""
    terms = settings.terms_with_questions("memory", 0, SHORT_GAME)
    most = settings.memory_bytes
    peaks: list[int] = []
    for games in MEMORY_GAMES:
        with settings.start() as bot:
            for _ in range(games):
                bot.expect(BotWire(bot.seated(terms, 0), max_answers=SHORT_GAME, max_s=MEMORY_GAME_S))
            bot.end()
            assert bot.exit_report
            peaks.append(bot.exit_report.memory_bytes)
        if most and peaks[-1] > most:
            break
    growth = min(
        ((later - earlier) // (MEMORY_GAMES[1] - MEMORY_GAMES[0]) for earlier, later in pairwise(peaks)),
        default=0,
    )
    sizes = [about_size(peak) for peak in peaks]
    if most and peaks[-1] > most:
        after = counted(games, "game")
        grows = peaks[0] + GROWTH_GAMES * growth > most >= peaks[0]
        raise bot.failed(
            f"the bot used {sizes[-1]} after {after}, expected at most {about_size(most)}",
            f"it grew from {sizes[0]} to {sizes[-1]} in {after}: {advice.FREE_MEMORY}"
            if grows
            else "use less memory, or allow more with `--memory`",
        )
    if most and peaks[-1] + GROWTH_GAMES * growth > most:
        raise bot.failed(
            f"memory grows by {about_size(growth)} with each game: {listed(sizes)} after "
            f"{listed(MEMORY_GAMES)} games",
            advice.FREE_MEMORY,
        )
    return StepFinding(
        f"at most {about_size(max(peaks))}",
        {"peak_bytes": max(peaks), "games": MEMORY_GAMES, "peaks_bytes": peaks},
    )


STEPS: tuple[CheckStep, ...] = (
    CheckStep("starts", starts, ()),
    CheckStep("gets ready in time", gets_ready, (1,)),
    CheckStep("answers when asked", answers_when_asked, (2,)),
    CheckStep("answers legally", answers_legally, (3,)),
    CheckStep("handles a rejection", handles_a_rejection, (4,)),
    CheckStep("keeps time", keeps_time, (4,)),
    CheckStep("plays a second game", plays_a_second_game, (4,)),
    CheckStep("handles opponents' faults", handles_opponents_faults, (7,)),
    CheckStep("ignores unknown messages", ignores_unknown_messages, (7,)),
    CheckStep("joins a game in progress", joins_a_game_in_progress, (4,)),
    CheckStep("repeats a seeded game", repeats_a_game_from_its_seed, (4,)),
    CheckStep("quits", quits, (3,)),
    CheckStep("leaves no processes", leaves_no_processes, (4, 12)),
    CheckStep("keeps memory bounded", keeps_memory_bounded, (7,)),
)
"""All steps in their order, counted from 1."""

ALWAYS = 3  # how many of the first steps always run: they are one session, which all other steps need


class StepResult(NamedTuple):
    """The result of one step."""

    number: int
    title: str
    result: str  # `passed`, `warning`, `failed` or `skipped`; a warning is a step that passed with remarks
    text: str  # what was found, or why the step was skipped
    figures: dict[str, Any]
    failure: StepFailed | None  # why the step failed
    remarks: tuple[Remark, ...]
    used_us: int
    needed: int = 0  # the failed step that this one needs, and was skipped for; 0 where there is none


def run_steps(
    settings: CheckSettings,
    chosen: Collection[int] = (),
    on_start: Callable[[str], object] = lambda title: None,
) -> Iterator[StepResult]:
    """The results of all steps, or of the chosen ones and the first ones, which all others need.

    `on_start` is called with the title of each step before it runs.
    """
    known = _Failures({}, {})
    for number, step in enumerate(STEPS, 1):
        if chosen and number not in chosen and number > min(ALWAYS, max(chosen)):
            continue
        if first := [known.failed[other] for other in step.needs if other in known.failed]:
            known.failed[number] = first[0]
            why = f"needs step {first[0]}"
            yield StepResult(number, step.title, "skipped", why, {}, None, (), 0, needed=first[0])
            continue
        on_start(step.title)
        yield _result(number, step, settings, known)


class _Failures(NamedTuple):
    """The steps that have failed so far."""

    failed: dict[int, int]
    """Steps that failed or were skipped because of a failure, with the step that did fail."""
    causes: dict[str, int]  # the causes of failures that are known, with the step that failed first

    def add(self, number: int, cause: str) -> int:
        """Notes that a step failed, and returns the step that failed first of the same cause."""
        first = self.causes.get(cause, number)
        self.failed[number] = first
        if cause:
            self.causes[cause] = first
        return first


def _result(number: int, step: CheckStep, settings: CheckSettings, known: _Failures) -> StepResult:
    started_ns = time.monotonic_ns()
    result, text, failure = "passed", "", None
    figures: dict[str, Any] = {}
    try:
        text, figures = step.trial(settings)
    except StepFailed as error:
        first = known.add(number, error.cause)
        if first != number:
            result, text = "skipped", f"step {first} failed the same way"
        else:
            result, text, failure = "failed", error.what, error
    except StepSkipped as reason:
        result, text = "skipped", str(reason)
    used_us = (time.monotonic_ns() - started_ns) // 1000
    remarks: tuple[Remark, ...] = ()
    if number >= ALWAYS and result in ("passed", "failed"):
        remarks = tuple(remark for remark in settings.remarks.take() if remark.cause not in known.causes)
    if remarks and result == "passed":
        result = "warning"
    return StepResult(number, step.title, result, text, figures, failure, remarks, used_us)
