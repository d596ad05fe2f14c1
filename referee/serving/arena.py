"""The page of a run in play: boards, standings, and what just ended.

A page gets it as events. The first has everything, and each later one what is different since the one before:

    {"seq", "now", "boards": {SLOT: BOARD}, "standings": [BOT, …], "since", "ended": [GAME, …],
     "name", "count", "planned", "remaining", "running", "state", "trouble", "notice", "note"}

`"seq"` counts the events; one that is missing means that the page has to ask for everything again. `"now"` is
the time of the boards. `viewing/drawn_board.py` describes a BOARD and its patches; null is a board that is
gone.

The first 50 bots are `{"bot", "w", "d", "l", "f", "share", "form", "elo", "moved"}`: games won, drawn and
lost, games with a fault, the share of the points, the last five games, the rating or null, and how many
places the bot has moved up in the last `"since"` games.

The last games to end are `{"n", "id", "bots", "scores", "won", "why", "fault", "show"}`: the number, the
seats that won, counted from 1, the word of a fault, and whether the game may be looked at. `"planned"` is
null and `"remaining"` empty where nobody knows. The last four members are sentences for people, empty where
there is nothing to say.
"""

from __future__ import annotations

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from referee.core.text import by_name, shown
from referee.core.units import about_seconds
from referee.core.work import DutyCycle
from referee.games import game_named
from referee.games.api import Game
from referee.live.boards import BoardsInPlay
from referee.live.slots import FOLDER, now_us, say_watched
from referee.ratings.tally import Tallies, result
from referee.records.amendments import Amendments
from referee.records.record import Summary
from referee.serving.event_streams import EventData
from referee.serving.live import LiveRun, OrderAt, Snapshot, repeat
from referee.tournament.run.run import PlacedGame

TICK_S = 0.25  # the time between two events at the least

SAY_S = 1.0  # how often workers are told that somebody looks

ORDER_S = 1.0  # how often is looked whether the order of the bots is due

BOTS = 50  # maximum number of bots in the standings

ENDED = 12  # how many games that just ended are told

FORM = 5  # how many of its last games are told of a bot

MOVED = 10
"""How many games for each bot lie between the two orders that are compared, if there are so many."""

ELSEWHERE = "Games in play are shown only by a server on the machine of the referee."

UNWRITABLE = (
    f"Games in play cannot be shown, since this server cannot write to the folder `{FOLDER}` of the run."
)


class Arena:
    """What pages are shown, and what of it is new. Any thread may ask."""

    def __init__(self, run: LiveRun, folder: Path, given: Game[Any] | None = None) -> None:
        """`given` is the game that the user named."""
        self._run = run
        self._folder = folder / FOLDER
        self._boards = BoardsInPlay(folder, _GameOf(given))
        self._watched = threading.Event()
        self._lock = threading.Lock()  # protects what follows
        self._results = _Results()
        self._seq = 0
        self._members: dict[str, Any] = {}  # but for the boards, as pages know them
        self._known: tuple[int, OrderAt | None] | None = None  # what these follow from
        self._is_known = False  # whether the members and the boards are those of a moment ago
        self._saying = DutyCycle(time.monotonic, 1.0, SAY_S)
        self._note = ""
        self._whole: EventData | None = None

    def watch(self, is_watched: bool) -> None:
        """Says whether somebody looks."""
        if is_watched:
            self._watched.set()
        else:
            self._watched.clear()
            self._is_known = False

    def follow(self, publish: Callable[[EventData], object]) -> None:
        """Publishes an event whenever something is different, as long as somebody looks."""

        def look() -> None:
            self._watched.wait()
            if event := self.tick():
                publish(event)

        def sleep(rest_s: float) -> None:
            time.sleep(min(rest_s, TICK_S))  # meanwhile the run may have ended, which is told at once
            with self._lock:
                if self._watched.is_set():
                    self._say()

        run = self._run
        repeat(look, lambda used_s: run.showing_pause_s(used_s, TICK_S), run.showing_s, sleep=sleep)

    def keep_order(self) -> None:
        """Has the order of the bots computed whenever that is due, as long as somebody looks."""
        while True:
            self._watched.wait()
            self._run.put_in_order(self._run.snapshot())
            time.sleep(ORDER_S)

    def tick(self) -> EventData | None:
        """An event of what is different since the last; None where nothing is."""
        with self._lock:
            return self._tick()

    def whole(self) -> EventData:
        """The event that has everything."""
        with self._lock:
            if not self._is_known:  # nobody follows yet who would miss the event
                self._tick()
            if self._whole is None or self._whole.seq != self._seq:
                self._whole = self._event("whole", {"boards": self._boards.whole(), **self._members})
            return self._whole

    def _tick(self) -> EventData | None:
        self._is_known = True
        boards = self._boards.look()
        self._say()
        changed = self._changed_members()
        if boards:
            changed["boards"] = boards
        if not changed:
            return None
        self._seq += 1
        return self._event("frame", changed)

    def _event(self, name: str, members: Mapping[str, Any]) -> EventData:
        value = {"seq": self._seq, "now": now_us(), **members}
        data = f"event: {name}\ndata: {json.dumps(value, separators=(',', ':'))}\n\n"
        return EventData(self._seq, data.encode())

    def _say(self) -> None:
        """Tells workers that somebody looks."""
        if not (self._run.is_running and self._saying.is_due):
            return
        self._note = ELSEWHERE if self._boards.is_elsewhere else ""
        try:
            with self._saying.spent():
                say_watched(self._folder)
        except FileNotFoundError:
            pass  # its workers have not begun yet
        except OSError:
            self._note = UNWRITABLE

    def _changed_members(self) -> dict[str, Any]:
        found = {"note": self._note}
        if self._known != (self._run.version, self._run.order):
            snapshot, order = self._run.snapshot(), self._run.order
            self._known = snapshot.version, order
            self._results.take(snapshot)
            found |= _run_members(snapshot) | self._results.members(snapshot, order)
        changed = {name: value for name, value in found.items() if self._members.get(name, ...) != value}
        self._members |= changed
        return changed


class _GameOf:
    def __init__(self, given: Game[Any] | None) -> None:
        self._given = given

    def __call__(self, slug: str) -> Game[Any]:
        return self._given if self._given and self._given.slug == slug else game_named(slug)


def _run_members(snapshot: Snapshot) -> dict[str, Any]:
    """What is said of the run itself."""
    progress = snapshot.progress
    remaining_us = progress.remaining_us if progress else None
    planned, later = None, 0
    if progress and (in_all := progress.in_all):
        done, part = in_all.part(progress.played)
        planned = progress.played - done + part.games
        later = in_all.games - planned
    return {
        "name": shown(snapshot.name),
        "count": progress.played if progress else 0,
        "planned": planned,  # before a closing test, without its games
        "later": later,  # the games of that test, at most
        "remaining": "" if remaining_us is None else f"about {about_seconds(remaining_us)}",
        "running": snapshot.is_running,
        "state": snapshot.state,
        "trouble": snapshot.trouble,
        "notice": snapshot.notice,
    }


class _Results:
    """The results of all games, each counted once."""

    def __init__(self) -> None:
        self._played: Sequence[PlacedGame] = ()
        self._amendments: Amendments | None = None
        self._count = 0  # how many games were looked at
        self._tallies = Tallies(())
        self._form: dict[str, deque[str]] = {}
        self._orders: deque[tuple[int, dict[str, int]]] = deque()
        """Earlier orders of the bots: after how many games, and the places."""

    def take(self, snapshot: Snapshot) -> None:
        """Counts the games that are new."""
        run = snapshot.run
        if run is None:
            return
        if self._played is not snapshot.played or self._amendments is not run.amendments:
            self._played, self._amendments, self._count = snapshot.played, run.amendments, 0
            self._tallies = Tallies(run.names, scale=run.header.points)
            self._form = {name: deque(maxlen=FORM) for name in run.names}
            self._orders.clear()
        renamed = run.amendments.renamed
        for one in snapshot.played[self._count : snapshot.count]:
            if run.games.get(one.game.id) is one.game:
                self._add(one.game.with_names(run.amendments.shown) if renamed else one.game)
        self._count = snapshot.count

    def _add(self, game: Summary) -> None:
        self._tallies.add(game)
        for seat, bot in enumerate(game.bots):
            self._form[bot].append("f" if game.faults[seat] else "ldw"[result(seat, game.ranks)])

    def members(self, snapshot: Snapshot, order: OrderAt | None) -> dict[str, Any]:
        """The standings, and the games that just ended."""
        if snapshot.run is None:
            return {"standings": [], "since": 0, "ended": []}
        by_bot = self._tallies.by_bot
        bots = sorted(by_bot, key=lambda bot: -(by_bot[bot].score or 0))
        pool, since, before = None, 0, dict[str, int]()
        is_fresh = order and 2 * order.games >= self._count  # else it does not fit the results beside it
        if order and is_fresh and {*order.order.bots} == {*bots}:
            bots, pool = order.order.bots, order.order.shown_pool
            since, before = self._before(order.games, bots)
        places = {bot: place for place, bot in enumerate(bots)}
        standings = []
        for bot in bots[:BOTS]:
            tally = by_bot[bot]
            losses, draws, wins = tally.counts
            standings.append(
                {
                    "bot": bot,
                    "w": wins,
                    "d": draws,
                    "l": losses,
                    "f": tally.faults.total(),
                    "share": tally.score,
                    "form": [*self._form[bot]],
                    "elo": round(pool.ratings[bot].elo) if pool and bot in pool.ratings else None,
                    "moved": before.get(bot, places[bot]) - places[bot],
                }
            )
        numbers = range(snapshot.count, max(0, snapshot.count - ENDED), -1)
        return {"standings": standings, "since": since, "ended": [_ended(snapshot, n) for n in numbers]}

    def _before(self, count: int, bots: Sequence[str]) -> tuple[int, dict[str, int]]:
        """Some number of games, and the places of so many games ago; the present ones are kept for later."""
        orders, places = self._orders, {bot: place for place, bot in enumerate(bots)}
        if not count:
            return 0, {}  # places before the first game mean nothing
        if not orders or orders[-1][1] != places:
            orders.append((count, places))
        most = MOVED * len(places)
        while len(orders) > 1 and orders[1][0] <= count - most:
            orders.popleft()
        return min(count - orders[0][0], most), orders[0][1]


def _ended(snapshot: Snapshot, number: int) -> dict[str, Any]:
    """What is told of a game that ended."""
    assert snapshot.run
    game = snapshot.played[number - 1].game
    bots = snapshot.run.shown_bots(game)
    return {
        "n": number,
        "id": game.id,
        "bots": bots,
        "scores": game.scores,
        "won": [seat for seat, rank in enumerate(game.ranks, 1) if rank == 1],
        "why": shown(by_name(game.sentence, bots), 300),
        "fault": next(filter(None, game.faults), ""),
        "show": snapshot.may_show(number),
    }
