"""What is told while a run is on, from scripted events and with a scripted clock: no process, no sleeping."""

from __future__ import annotations

import io
import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from referee.cli import live_view, playing
from referee.cli.live_view import FittedRatings, LiveView
from referee.cli.output import DRAWN_S, WAIT_S, AdvanceBar
from referee.cli.progress import JsonLines, ProgressLines, end_lines
from referee.core.units import TimeControl
from referee.core.work import DutyCycle
from referee.ratings.columns import brief
from referee.ratings.notes import FEW_ENCOUNTERS
from referee.ratings.pool import FittedPool, Rating, fit
from referee.ratings.standings import RankedBot
from referee.ratings.tally import Tallies
from referee.records.record import Summary
from referee.running import Display, RunInfo
from referee.tournament.formats import Amount
from referee.tournament.run.durations import LongestGame, Pace, forecast
from referee.tournament.workers.task import Finished, Void, Waiting
from referee.wire.process_wire import Waited
from tests.command import ROOT
from tests.page_tables import rows, words
from tests.recorded import HERE
from tests.scenes import require_scene

S = 1_000_000


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def game(game_id: str, ranks: tuple[int, ...] = (1, 2), faults: tuple[str, ...] = ("", "")) -> Summary:
    bots = tuple(game_id.split(":")[1:])
    sentence = "seat 1 has captured 10 of 10" if not any(faults) else "seat 2 crashed"
    ending = next(filter(None, faults), "rules")
    return Summary(game_id, 1, "blooms", bots, ranks, (0,) * len(bots), ending, sentence, True, faults)


def finished(played: Summary, stderr: str = "boom") -> Finished:
    """The report of a game; that of a fault has all that a record has of it."""
    events = [{"seat": seat + 1, "left": word} for seat, word in enumerate(played.faults) if word]
    record = {
        **{name: value for name, value in played._asdict().items() if name != "digest"},
        "isolation": ["none"] * len(played.bots),
        "rules": 1,
        "options": {},
        "clocks": ["5s"] * len(played.bots),
        "margin_us": 0,
        "rejections": 3,
        "seed": "00",
        "shared_seed": "00",
        "events": events,
        "measured": {
            "machine": HERE._asdict(),
            "events": [{"used_us": 1, "detail": "exited with status 3"} for _ in events],
            "seats": [{"stderr": {"playing": {"text": f"{stderr}\n"}}} for _ in played.bots],
        },
    }
    return Finished(played, json.dumps(record).encode(), Counter(), Counter(), "")


class Run:
    """A run of some bots, told to a display."""

    def __init__(self, names: tuple[str, ...] = ("a", "b"), total: int = 10, **info: Any) -> None:
        self.games: dict[str, Summary] = {}
        self.clock = Clock()
        in_all = info.pop("in_all", Amount(total, True))
        self.info = RunInfo(names, 2, in_all, self.games, info.pop("workers", 2), **info)

    def play(self, display: Display, played: Summary, seconds: float = 1) -> None:
        display.began(played.id)
        self.clock.now_s += seconds
        self.games[played.id] = played
        display.finished(finished(played))

    def story(self, display: Display) -> None:
        """All that can happen, in its order."""
        with display:
            self.play(display, game("1:a:b"))
            self.play(display, game("1:b:a", (1, 2), ("", "gone")))
            self.play(display, game("2:a:b", (2, 1), ("gone", "")))
            display.note("bot `a` left processes running, which were ended: sleep")
            display.began("2:b:a")
            display.void(
                Void("2:b:a", 1, "Traceback\nOSError: no space", frozenset("a")), "it is played again"
            )
            display.rule("LLR +1.23 [−2.94, 2.94]")
            self.clock.now_s += 61
            display.tick()
            display.interrupt("SIGINT: stopping after this game")


def pool(ratings: dict[str, Rating]) -> FittedPool:
    return replace(fit([], list(ratings)), ratings=ratings)


@pytest.fixture(autouse=True)
def quick_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that stands still ratings are fitted again at each game."""

    def fixed(names: Any, games: Any, of: Any) -> FittedPool:
        return pool(
            {name: Rating(100.0 - place, 90.0 - place, 110.0 - place) for place, name in enumerate(names)}
        )

    monkeypatch.setattr(live_view, "fitted", fixed)


def terminal(width: int = 80, height: int = 24) -> Console:
    return Console(file=io.StringIO(), force_terminal=True, width=width, height=height, color_system=None)


def written(console: Console) -> str:
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def picture(view: LiveView) -> list[str]:
    """What stays on the screen."""
    console = view._console
    return ["".join(s.text for s in line).rstrip() for line in console.render_lines(view, pad=False)]


# --- The same is told everywhere --------------------------------------------------------------------------


def test_the_same_is_told_in_plain_lines_as_events_and_on_a_terminal(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A fault is explained once for each bot."""
    run = Run()
    run.story(JsonLines(run.info, ProgressLines(run.info, run.clock)))
    events, lines = capfd.readouterr()
    require_scene("progress", lines, events)
    run, console = Run(), terminal(200)
    run.story(LiveView(run.info, run.clock, console))
    drawn = re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", written(console)))
    places = [drawn.index(line) for line in lines.splitlines() if " of 10 games" not in line]
    assert places == sorted(places)


def test_plain_lines_of_many_games_tell_of_every_tenth_and_of_faults(
    capfd: pytest.CaptureFixture[str],
) -> None:
    """A fault is explained once, and no other game has a line; a long silence is explained."""
    run = Run(total=100)
    lines = ProgressLines(run.info, run.clock)
    run.clock.now_s += 61
    lines.tick()
    for number in range(1, 101):
        faults = ("", "gone") if number in (15, 16) else ("", "")
        run.play(lines, game(f"{number}:a:b", faults=faults), 2)
    run.clock.now_s += 61
    lines.tick()
    require_scene("progress-of-many-games", capfd.readouterr().err)


def test_the_page_has_every_event_with_its_members(capfd: pytest.CaptureFixture[str]) -> None:
    run = Run()
    run.story(JsonLines(run.info, ProgressLines(run.info, run.clock)))
    lines = [*capfd.readouterr().out.splitlines(), *end_lines(1, 2, "head", "{}").splitlines()]
    printed: dict[str, set[str]] = {}
    for line in lines:
        event = json.loads(line)
        printed.setdefault(event.pop("event"), set()).update(event)
    described = {
        words(first)[0]: set(words(what))
        for first, _, what in rows("referee/EVENTS.md", "`event` | when | members")
    }
    assert described == printed
    (example,) = re.findall(r"^```json\n(.*?)^```", (ROOT / "referee/EVENTS.md").read_text(), re.M | re.S)
    for event in map(json.loads, example.splitlines()):
        assert event.keys() - {"event"} <= printed[event["event"]]


def test_games_of_a_closing_test_are_counted_apart(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(total=0, in_all=Amount(24, False, test=4), workers=1)
    display = ProgressLines(run.info, run.clock)
    display.rule("LLR +1.23 [−2.94, 2.94]")
    for number in range(1, 12):
        run.play(display, game(f"{number}:a:b"))
    assert display.headline() == "11 of 20 games, about 9 s remaining, then at most 4 of the closing test"
    for number in range(12, 23):
        run.play(display, game(f"{number}:a:b"))
    left = "at most about 2 s remaining"
    assert display.headline() == f"20 games, 2 of at most 4 of the closing test, {left}"
    before, begun = [line for line in capsys.readouterr().err.splitlines() if "remaining" in line]
    assert before.startswith("10 of 20 games, ") and before.endswith("then at most 4 of the closing test")
    assert begun.startswith("20 games, 0 of at most 4 ") and begun.endswith("; LLR +1.23 [−2.94, 2.94]")


# --- The live view ----------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (40, 8), (20, 2)])
def test_the_view_fits(width: int, height: int) -> None:
    names = tuple(f"bot-{number:03d}-with-a-long-name" for number in range(64))
    run = Run(names, 1000)
    view = LiveView(run.info, run.clock, terminal(width, height))
    with view:
        for number, (one, other) in enumerate(pairwise(names)):
            run.play(view, game(f"1:{one}:{other}", (1, 2) if number % 2 else (2, 1)))
        for number in range(40):
            view.began(f"2:{names[number]}:{names[number + 1]}")
        view.rule("LLR +1.23 [−2.94, 2.94]")
        lines = picture(view)
    assert len(lines) <= max(7, height * 2 // 3) and max(map(len, lines)) <= width
    assert lines[2].startswith("LLR +1.23 [−2.94, 2")
    shown = sum(bool(re.match(r" *[0-9]+ +bot-", line)) for line in lines)
    assert f"… and {64 - shown} more" in lines
    if width >= 80:
        assert shown == {24: 10, 40: 20}[height]
        assert re.match(r"63 of 1,000 games, at most about [0-9]+ min remaining", lines[0])
        assert re.search(r"bot +Elo ± 95 % +games +w–d–l +score +faults", lines[3])
        assert re.match(r" +1 +bot-000-with-a-long-name +\+100 ± 10 +1 +0–0–1 +0.0 %  –$", lines[4])
        assert lines[-1].startswith("playing: 2:bot-000-with-a-long-name:bot-001") and lines[-1].endswith("…")


@pytest.mark.slow
def test_the_view_is_drawn_now_and_then() -> None:
    """Whatever comes in, what is written is bounded by the time that passes."""
    run, console = Run(total=2000), terminal()
    with LiveView(run.info, run.clock, console) as view:
        for number in range(1, 1001):
            run.play(view, game(f"{number}:a:b"), seconds=0.001)
    drawn = written(console).count("of 2,000 games")
    assert 4 <= drawn <= 8, "four a second, and those at the beginning and the end"
    assert "1,000 of 2,000: 1000:a:b: a won" in written(console), "every line is printed all the same"


def test_the_view_says_which_bot_is_waited_for_and_for_how_long_at_most() -> None:
    run, console = Run(total=2), terminal()
    with LiveView(run.info, run.clock, console) as view:
        view.began("1:a:b")
        run.clock.now_s += 60
        assert picture(view)[-1] == "playing: 1:a:b (1 min)"
        view.waiting(Waiting("1:a:b", Waited("a", 52 * S, 690 * S)))
        run.clock.now_s += 1
        assert picture(view)[-1] == "playing: 1:a:b (a to move for 53 s of 11 min 30 s)"
        run.clock.now_s += 9
        assert picture(view)[-1] == "playing: 1:a:b (1 min 10 s)", "it has moved"


def test_a_signal_is_answered_at_once() -> None:
    run, console = Run(), terminal()
    with LiveView(run.info, run.clock, console) as view:
        view.began("1:a:b")
        view.interrupt("SIGINT: stopping after this game")
        assert "SIGINT: stopping after this game" in written(console)
        assert "SIGINT: stopping after this game" in picture(view), "and stays until the run ends"


def test_a_signal_that_comes_while_the_view_is_drawn_is_shown_after_it() -> None:
    run, console = Run(), terminal()
    view = LiveView(run.info, run.clock, console)
    draw: Callable[..., None] = console.print

    def interrupted(*what: Any, **how: Any) -> None:
        if "SIGINT" not in written(console) and not view._stopping:
            view.interrupt("SIGINT: stopping")
        draw(*what, **how)

    console.print = interrupted  # type: ignore[method-assign]
    with view:
        view.note("a note")
        run.clock.now_s += 1
        view.tick()
    assert written(console).count("SIGINT: stopping") >= 2, "above the view, and in it"


def test_a_terminal_that_is_gone_stops_nothing() -> None:
    class Gone(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError(5, "Input/output error")

    run = Run()
    console = Console(file=Gone(), force_terminal=True, width=80, height=24)
    run.story(LiveView(run.info, run.clock, console))


@pytest.mark.parametrize("term", ["dumb", "xterm"])
def test_a_terminal_that_cannot_draw_gets_plain_lines(term: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr("sys.stderr", Terminal())
    expected = ProgressLines if term == "dumb" else LiveView
    assert isinstance(playing.display(Run().info), expected)


def test_no_colour_where_none_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    for wanted in (False, True):
        if not wanted:
            monkeypatch.setenv("NO_COLOR", "1")
        else:
            monkeypatch.delenv("NO_COLOR")
        monkeypatch.setenv("TERM", "xterm-256color")
        run = Run()
        console = Console(file=io.StringIO(), force_terminal=True, width=80, height=24)
        run.story(LiveView(run.info, run.clock, console))
        coloured = re.search(r"\x1b\[[0-9;]*[34][0-9](;[0-9]+)*m", written(console))
        assert bool(coloured) == wanted


# --- Ratings now and then ---------------------------------------------------------------------------------


def test_ratings_are_fitted_in_a_bounded_share_of_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run()
    fits = []

    def slow_fit(names: Any, games: Any, of: Any) -> FittedPool:
        fits.append(len(games))
        run.clock.now_s += 3
        return pool({"a": Rating(len(games), -1.0, 1.0), "b": Rating(0, -1.0, 1.0)})

    monkeypatch.setattr(live_view, "fitted", slow_fit)
    ratings = FittedRatings(run.info, run.clock)
    fits.clear()
    began_s = run.clock.now_s
    for number in range(10_000):
        run.games[str(number)] = game(f"{number + 1}:a:b")
        run.clock.now_s += 0.1
        ratings.refresh()
    share = 3 * len(fits) / (run.clock.now_s - began_s)
    assert fits[0] == FEW_ENCOUNTERS and 0.02 < share <= live_view.FIT_SHARE * 1.2
    assert ratings.games == fits[-1] and ratings.pool and ratings.pool.ratings["a"].elo == fits[-1]
    for _ in range(10_000):
        run.clock.now_s += 1
        ratings.refresh()
    assert fits[-1] == 10_000 and fits.count(10_000) == 1, "once where no game is new"


def test_a_ration() -> None:
    clock = Clock()
    duty_cycle = DutyCycle(clock, share=0.1, least_s=2)
    assert duty_cycle.is_due
    with duty_cycle.spent():
        clock.now_s += 0.1
    due = []
    for took_s in (0.1, 1.0):
        while not duty_cycle.is_due:
            clock.now_s += 0.01
        due.append(clock.now_s)
        with duty_cycle.spent():
            clock.now_s += took_s
    assert due[0] == pytest.approx(102, abs=0.02)
    while not duty_cycle.is_due:
        clock.now_s += 0.01
    assert clock.now_s - due[1] == pytest.approx(10, abs=0.02), "1 s of 10"


# --- How long it will take --------------------------------------------------------------------------------


def test_the_remaining_time_counts_what_is_in_progress() -> None:
    pace = Pace(workers=2)
    assert pace.remaining_us(10, 0) is None
    pace.began("1:a:b", 0)
    pace.began("1:a:c", 0)
    assert pace.remaining_us(10, 5 * S) is None, "nothing is over yet"
    pace.finished("1:a:b", 10 * S)
    pace.finished("1:a:c", 30 * S)
    pace.began("1:b:a", 30 * S)
    pace.began("1:c:a", 30 * S)
    # 20 - 5 seconds of each of those in progress, 20 for each of the others, for two workers, which played
    # for 50 of 70 seconds.
    assert pace.remaining_us(8, 35 * S) == (15 + 15 + 6 * 20) * S // 2 * 70 // 50
    pace.void("1:b:a")
    assert pace.remaining_us(1, 35 * S) == 15 * S, "the last game has one worker"
    pace.began("1:b:a", 30 * S)
    assert pace.remaining_us(2, 100 * S) == 0, "late"
    pace.void("1:c:a")
    assert list(pace.playing) == ["1:b:a"]
    assert Pace(1, [4 * S]).remaining_us(3, 0) == 12 * S, "from games of an earlier day"


def test_a_forecast() -> None:
    quick, slow = TimeControl.parse("1s"), TimeControl.parse("2s+10s^1s")
    left = [LongestGame(11, (quick, slow)), LongestGame(11, (slow, quick))] * 3
    found = forecast(left, 6, 5 * S, 1, [])
    # 6 moves each: 6 · 1 and 10 + 6 · 3 seconds, and 5 twice for the start.
    assert found.longest_us == 6 * 44 * S and found.expected_us is None and found.expected_bytes is None
    assert found.moves == 11 and found.most_bytes == 6 * 11 * 200
    assert forecast(left, 600, 5 * S, 1, []).longest_us == 600 * 44 * S, "the others are like these"
    two = forecast(left, 6, 5 * S, 2, [(3 * S, 100), (5 * S, 200)])
    assert two.longest_us == (3 + 1) * 44 * S, "the other worker may have nothing to do at the end"
    assert two.expected_us == 12 * S and two.expected_bytes == 900
    nothing = forecast([], 0, 5 * S, 2, [])
    assert nothing.games == nothing.longest_us == nothing.most_bytes == 0


# --- The standings in short -------------------------------------------------------------------------------


def test_the_standings_in_short() -> None:
    names = ["a", "b", "c"]
    tallies = Tallies(names, [game("1:a:b"), game("1:b:a", (2, 1)), game("1:c:b", (2, 1), ("gone", ""))])
    ratings = pool({"a": Rating(-5.0, -25.0, 15.0), "b": Rating(430.4, 200.0, 900.0), "c": Rating(0.0)})
    tied: list[RankedBot] = [(1, "b", {}), (1, "a", {}), (None, "c", {})]
    by_points: list[RankedBot] = [
        (1, "b", {"points": 2.5, "direct": 1.0}),
        (2, "a", {"points": 2.0}),
        (3, "c", {"points": 0.0}),
    ]
    pictures = [
        brief(tallies, None, 2, 10, 80),
        brief(tallies, ratings, 2, 10, 80),
        brief(tallies, None, 2, 10, 80, tied),
        brief(tallies, None, 2, 10, 80, by_points),
        brief(tallies, None, 2, 3, 80),
        brief(tallies, ratings, 2, 10, 30),
        brief(Tallies(names), None, 4, 10, 80),
    ]
    require_scene("standings-in-short", *map("\n".join, pictures))


# --- Commands that take long ---------------------------------------------------------------------------


def test_a_bar_is_drawn_now_and_then_if_a_command_takes_long_and_is_gone_at_its_end(
    capsys: pytest.CaptureFixture[str],
) -> None:
    clock, out = Clock(), io.StringIO()
    console = Console(file=out, force_terminal=True, width=80, legacy_windows=False, no_color=True)
    with AdvanceBar(clock, console) as bar:
        advance = bar.stage("reading")
        advance(1, 10)
        assert not out.getvalue(), "it may end soon"
        clock.now_s += WAIT_S
        advance(2, 10)
        assert "reading" in out.getvalue() and " 20%" in out.getvalue()
        advance(3, 10)
        assert " 30%" not in out.getvalue(), "it was drawn just before"
        clock.now_s += DRAWN_S
        bar.stage("fitting")(4, 5)
        assert "fitting" in out.getvalue() and " 80%" in out.getvalue()
        bar.say("line 3: damaged")
        assert out.getvalue().endswith("\x1b[2K"), "the line stands where the bar was"
        assert capsys.readouterr().err == "line 3: damaged\n"
        before = len(out.getvalue())
        clock.now_s += DRAWN_S
        bar.stage("fitting")(5, 5)
        assert "100%" in out.getvalue()[before:], "it is drawn again below the line"
    assert out.getvalue().endswith("\x1b[2K")
