"""Games of persons on pages, without a network: who is told what, whose line is read, and what is refused."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

from referee.check.wires import HouseWire
from referee.core.seeds import Stream
from referee.core.units import TimeControl
from referee.gameplay.api import Answer, Question, Silence
from referee.gameplay.events import Event, Moved
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games import GAMES
from referee.games.api import State
from referee.person import browser_server
from referee.person.browser_console import NOT_ASKED, BrowserConsole, LineInFlightError
from referee.person.browser_server import LONGEST_ACT, GamePages, serving_game
from referee.person.browser_views import BrowserInterface
from referee.person.console import OTHERS_FIRST, TIME_UP, LineRequest
from referee.serving.app import METHODS, Hosts, safe
from referee.serving.server import listening
from referee.viewing.knowledge import EVERYBODY, View

LOCAL = Hosts({"localhost"}, any_address=False)
QUESTION = Question((), 60_000_000, 0, 60_000_000)


def terms_of(slug: str, control: str = "none", **options: str) -> Terms:
    game = GAMES[slug]
    settled, clock = game.settle(options), TimeControl.parse(control)
    names = ("anna", "bob", "carl", "dora")[: game.seats(settled)]
    return Terms("1:x", game, settled, names, (clock,) * len(names), b"s")


class Table:
    """A game of persons alone, and its pages without a network."""

    def __init__(self, terms: Terms) -> None:
        self.persons = range(len(terms.bots))
        self.console = BrowserConsole(self.persons)
        self.at = BrowserInterface(terms, self.persons, self.console, None, Stream(b"t"))
        self.pages = GamePages(terms.game, self.persons, self.console, self.at)
        self.errors: list[str] = []
        self.app = safe(self.pages.routes(), LOCAL, None, self.errors.append, (*METHODS, "POST"))
        self.at.wait_for("")

    def path(self, view: View) -> str:
        return f"/{self.pages.tokens[view]}"

    def ask(
        self,
        path: str,
        method: str = "GET",
        body: bytes | None = b"",
        **headers: str,
    ) -> tuple[int, str]:
        """The status and the body of an answer. A body of None never comes."""
        return asyncio.run(self._ask(path, method, body, headers))

    async def _ask(
        self, path: str, method: str, body: bytes | None, headers: dict[str, str]
    ) -> tuple[int, str]:
        sent: list[dict[str, Any]] = []
        chunks = (
            [body[at : at + 1000] for at in range(0, len(body), 1000)] or [b""] if body is not None else []
        )

        async def receive() -> dict[str, Any]:
            if not chunks:
                await asyncio.Event().wait()
            return {"type": "http.request", "body": chunks.pop(0), "more_body": bool(chunks)}

        async def send(message: Any) -> None:
            sent.append(message)

        named = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": b"",
            "headers": [(name.encode(), value.encode()) for name, value in named.items()],
            "client": ("127.0.0.1", 5),
        }
        await self.app(scope, receive, send)
        start, *bodies = sent
        return start["status"], b"".join(one["body"] for one in bodies).decode()

    def act(self, view: View, order: object) -> tuple[int, str]:
        """What is answered to a page."""
        return self.ask(f"{self.path(view)}/act", "POST", json.dumps(order).encode(), **OWN)


OWN = {"origin": "http://localhost", "content_type": "application/json"}


@pytest.fixture
def table() -> Table:
    return Table(terms_of("blooms", size="3"))


# --- What is refused --------------------------------------------------------------------------------------


def test_only_the_links_lead_to_a_page(table: Table) -> None:
    tokens = [*table.pages.tokens.values()]
    assert len({*tokens}) == 3 and min(map(len, tokens)) == 32
    for token in tokens:
        assert table.ask(f"/{token}")[0] == 200
        for wrong in (token[:-1], token + "A", token.swapcase(), "é"):
            for path in (f"/{wrong}", f"/{wrong}/events", f"/{wrong}/replay"):
                assert table.ask(path) == (404, NO_PAGE), path
            assert table.ask(f"/{wrong}/act", "POST", b"{}", **OWN)[0] == 404
    assert table.ask("/") == (404, NO_PAGE)
    assert table.ask(table.path(0), host="stranger.example")[0] == 400
    assert table.ask(f"{table.path(0)}/act")[0] == 405 and table.ask(table.path(0), "POST")[0] == 405


NO_PAGE = "there is no such page, expected a link that was printed or is on a page\n"
LINE = b'{"line": "resign"}'


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (LINE, {**OWN, "origin": "http://stranger.example"}, 403),
        (LINE, {**OWN, "origin": "null"}, 403),
        (LINE, {**OWN, "origin": "http://localhost:81"}, 403),
        (LINE, {"content_type": "application/json"}, 403),
        (LINE, {**OWN, "content_type": "application/x-www-form-urlencoded"}, 415),
        (LINE, {**OWN, "content_type": "text/plain"}, 415),
        (LINE, {"origin": "http://localhost"}, 415),
        (LINE + b" " * LONGEST_ACT, OWN, 413),
        (b"x" * (1 << 20), OWN, 413),
        (b"", OWN, 400),
        (b"{", OWN, 400),
        (b"\xff", OWN, 400),
        (b"[" * LONGEST_ACT, OWN, 400),
        (b"[]", OWN, 400),
        (b'{"line": 1}', OWN, 400),
        (b'{"line": "resign", "click": []}', OWN, 400),
        (b'{"click": "A1"}', OWN, 400),
        (b'{"click": [1]}', OWN, 400),
        (json.dumps({"click": ["A1"] * 51}).encode(), OWN, 400),
        (json.dumps({"click": ["A" * 51]}).encode(), OWN, 400),
        (b'{"click": ["\\ud800"]}', OWN, 400),
        (LINE, {**OWN, "content_type": "application/json; charset=utf-8"}, 200),
    ],
)
def test_only_the_page_itself_can_act(
    table: Table, body: bytes, headers: dict[str, str], status: int
) -> None:
    found, text = table.ask(f"{table.path(0)}/act", "POST", body, **headers)
    assert found == status and text.count("\n") <= 1
    assert table.errors == []


def test_who_watches_cannot_act_and_nobody_sees_a_replay_before_the_end(table: Table) -> None:
    assert table.act(EVERYBODY, {"line": "resign"})[0] == 403
    for view in (0, 1, EVERYBODY):
        assert table.ask(f"{table.path(view)}/replay") == (404, "the game is not over\n")


def test_a_body_that_never_ends_is_not_waited_for(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_server, "REQUEST_S", 0.0)
    assert table.ask(f"{table.path(0)}/act", "POST", None, **OWN)[0] == 408


def test_one_line_and_one_click_of_a_person_are_taken_at_a_time(table: Table) -> None:
    assert table.act(0, {"line": "L:A1"}) == (200, '{"why":"it is not your turn"}')
    assert json.loads(table.act(0, {"click": []})[1])["next"] == []
    table.at.begin_turn((0,))
    table.console.ask(0)
    first = table.console.send(0, "L:A1")
    assert table.act(0, {"line": "L:A2"})[0] == 409
    table.console.end_turn([0])
    assert first.result() == NOT_ASKED
    table.pages._clicking.add(0)
    assert table.act(0, {"click": []})[0] == 409


def test_only_so_many_pages_are_open_under_a_link(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_server, "MOST_PAGES", {True: 0, False: 0})
    for view in (0, EVERYBODY):
        assert table.ask(f"{table.path(view)}/events")[0] == 503


def test_whoever_waits_for_persons_is_told_that_the_server_failed(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop = asyncio.new_event_loop()
    table.pages.begin(loop)
    loop.close()
    table.at.wait_for("")

    def fail(loop: asyncio.AbstractEventLoop) -> None:
        raise RuntimeError("the server failed")

    monkeypatch.setattr(table.pages, "begin", fail)
    with (
        listening("127.0.0.1", 0) as listener,
        serving_game(table.pages, listener, "127.0.0.1", table.errors.append),
    ):
        table.at.begin_turn((0,))
        with pytest.raises(RuntimeError, match="the server failed"):
            table.at.next_seat({0: QUESTION}, never)
        with pytest.raises(RuntimeError, match="the server failed"):
            table.pages.wait_for_persons(("anna", "bob"))


# --- Whose line is read -----------------------------------------------------------------------------------


def never() -> bool:
    return False


def test_a_line_counts_from_when_it_came_however_late_it_is_read() -> None:
    console = BrowserConsole([0, 1])
    for seat in (0, 1):
        console.ask(seat)
    console.send(1, "in time")
    now_ns = console._inboxes[1].sent.came_ns  # type: ignore[union-attr]
    assert console.read(LineRequest(1, "", now_ns - 1), never) is TIME_UP
    console.send(1, "in time")
    sent = console._inboxes[1].sent
    assert sent
    assert console.next_seat([LineRequest(0, ""), LineRequest(1, "", sent.came_ns)], never) == 1
    assert console.read(LineRequest(0, ""), never) is OTHERS_FIRST
    assert console.read(LineRequest(1, "", sent.came_ns), never) == "in time"
    assert console.came_ns == sent.came_ns
    with pytest.raises(LineInFlightError):
        console.send(1, "another one")
    console.respond(1, "why")
    assert sent.response.result() == "why"


def test_persons_who_move_at_once_are_timed_at_once() -> None:
    table = Table(terms_of("floral", "60s"))
    table.at._state = after_chance(table.at._state)
    table.at.begin_turn((0, 1))
    asked = {0: QUESTION, 1: QUESTION}
    assert table.at.next_seat(asked, lambda: True) == 0, "a bot comes first"
    assert all(table.at.views[seat]["asked"] for seat in (0, 1))
    assert [table.at.views[view]["turn"] for view in (0, 1)] == [[1, 2], [1, 2]]
    table.console.send(1, "-")
    assert table.at.next_seat(asked, never) == 1
    reply = table.at.ask(1, QUESTION, never)
    assert reply and reply.content == Answer("-")
    assert table.at.views[1]["turn"] == [1] and table.at.views[0]["turn"] == [1, 2], "who is asked or may be"
    first = table.at._asked[0]
    table.at._asked[0] = first._replace(began_ns=first.began_ns - 61_000_000_000)
    assert table.at.next_seat({0: QUESTION}, never) == 0
    late = table.at.ask(0, QUESTION, never)
    assert late and isinstance(late.content, Silence) and late.used_us > 60_000_000


def after_chance(state: State[Any]) -> State[Any]:
    rng = Stream(b"c")
    while state.to_act()[0] < 0:
        state = state.chance(state.draw(rng))
    return state


# --- Who is told what -------------------------------------------------------------------------------------


def test_a_text_is_on_the_page_of_the_person_that_it_is_for_alone(table: Table) -> None:
    table.console.show("yours", 1)
    table.console.show("both\nof you", None)
    table.at.wait_for("")
    news = {view: shown["news"] for view, shown in table.at.views.items()}
    assert news == {0: ["both", "of you"], 1: ["yours", "both", "of you"], EVERYBODY: []}


def events_of(terms: Terms) -> Iterator[tuple[Event, State[Any]]]:
    """The events of a game of random moves, with the positions after them."""
    found = []
    wire = HouseWire(terms)

    def watch(event: Event, state: State[Any]) -> None:
        wire.watch(event, state)
        found.append((event, state))

    play(terms, wire, seeded_dice(terms), watch)
    return iter(found)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("slug", "options"),
    [
        ("floral", {"max_turns": "12"}),
        ("thetree", {"deals": "2"}),
        ("thetree", {"deals": "1", "players": "4"}),
    ],
)
def test_what_a_seat_cannot_know_changes_no_byte_of_its_page(slug: str, options: dict[str, str]) -> None:
    terms = terms_of(slug, "60s+60s", **options)
    real, *twins = tables = [Table(terms) for _ in (None, *terms.bots)]
    for one in tables:
        one.at._turn_began_ns = 1
    rng, differ = Stream(b"i"), 0
    imagined: list[State[Any]] = []
    last: State[Any] | None = None
    for event, state in events_of(terms):
        real.at.watch(event, state)
        if state is not last:
            last = state
            imagined = [
                terms.game.imagine(terms.options, seat, state.seen(seat), rng)
                for seat in range(len(terms.bots))
            ]
        for seat, (twin, position) in enumerate(zip(twins, imagined, strict=True)):
            if isinstance(event, Moved) and event.seat != seat:
                twin.at.watch(event._replace(text="hidden"), position)
            else:
                twin.at.watch(event, position)
            for view in (seat, EVERYBODY):
                assert json.dumps(real.at.views[view]) == json.dumps(twin.at.views[view])
            other = (seat + 1) % len(terms.bots)
            differ += json.dumps(real.at.views[other]) != json.dumps(twin.at.views[other])
    assert differ > 10, "the positions are different ones"
