"""The game loop: it plays one game to its end and is the only judge of it, including default moves. Pure.

It turns a state, the seats' clocks and a wire into events and a verdict. It reads no clock, starts no
process and writes no file; replaying a record is this same loop with a wire made from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from referee.core.seeds import Stream, bot_seed, chance_stream, list_stream
from referee.core.text import shown
from referee.core.value import made
from referee.gameplay import hints
from referee.gameplay.api import (
    Answer,
    Failure,
    GameDescription,
    LegalMoves,
    ListRequest,
    Question,
    Ready,
    ReplyContent,
    Resigned,
    SeatReply,
    Silence,
    Wire,
)
from referee.gameplay.clock import Charge, SeatClock
from referee.gameplay.events import (
    NOT_TIMED,
    Drawn,
    Ending,
    Event,
    Moved,
    Preset,
    Rejected,
    Retired,
    Timing,
    Unplayed,
)
from referee.gameplay.openings import opening_move, set_up
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import CHANCE, SHARED_CHANCE, Outcome, Refusal, Seat, State
from referee.games.sampling import legal_moves

WatchEvent = Callable[[Event, State[Any]], None]
"""Called with every event and the state after it."""

Dice = Callable[[State[Any]], str]
"""Gives the outcome of chance in a state, as text."""


class Exit(NamedTuple):
    """Why a seat retires."""

    ending: Ending
    detail: str
    used_us: int
    timing: Timing = NOT_TIMED
    hint: str = ""


class _Player:
    """The state that the loop keeps for each seat."""

    __slots__ = ("charged", "clock", "defaulted", "lists", "rejections", "told", "wait_us")

    def __init__(self, clock: SeatClock, margin_us: int) -> None:
        self.clock = clock
        self.wait_us = clock.wait_us(margin_us)
        """How long its next move may take."""
        self.told = 0
        """The number of lines of news that the seat has been sent."""
        self.rejections = 0
        self.charged: Charge | None = None
        """What its last move cost; sent with the next question."""
        self.defaulted: str | None = None
        """The move that was submitted for it; sent with the next question."""
        self.lists = 0
        """The number of its requests for legal moves in this game."""


class Turn:
    """The results of one turn, collected until every seat that acts has replied."""

    __slots__ = ("events", "exits", "moves")

    def __init__(self) -> None:
        self.events: list[Rejected | Moved] = []
        self.moves: dict[Seat, Any] = {}
        self.exits: dict[Seat, Exit] = {}


def ending_of(reply: SeatReply, wait_us: int) -> Ending | None:
    """Decides how a reply ends a seat's part in the game, apart from the rules: None for an answer or a
    request in time, whatever it says. `wait_us`: how long the move may take.

    The order: lateness first, whatever the reply says (output after the deadline is not read, so no cap can
    be exceeded then); then faults in the session; then resigning. The rules are applied to an answer
    after all of these.
    """
    if reply.used_us > wait_us:
        return Ending.TIME
    if isinstance(reply.content, Answer):  # at nearly every move: a pattern takes five times as long
        return None
    match reply.content:
        case ListRequest() | Ready():
            return None
        case Silence():
            return Ending.TIME
        case Failure(ending):
            return ending
        case Resigned():
            return Ending.RESIGNED


def seeded_dice(terms: Terms) -> Dice:
    """Dice whose outcomes follow from the seeds of the game."""
    seeds = {CHANCE: terms.seed, SHARED_CHANCE: terms.shared_seed}
    streams: dict[Seat, Stream] = {}  # made where they are needed: most games have no chance

    def drawn(state: State[Any]) -> str:
        whose = state.to_act()[0]
        if whose not in streams:
            streams[whose] = chance_stream(seeds[whose])
        return state.draw(streams[whose])

    return drawn


def play(terms: Terms, wire: Wire, dice: Dice, watch: WatchEvent) -> Verdict:
    """Plays one game. Whatever a bot does leads to a verdict; an exception is a failure of the referee."""
    return GameLoop(terms, wire, dice, watch).play()


class GameLoop:
    """One game while it is played."""

    def __init__(self, terms: Terms, wire: Wire, dice: Dice, watch: WatchEvent) -> None:
        self.terms = terms
        self.wire = wire
        self.dice = dice
        self.watch = watch
        self.state = terms.game.start(terms.options)
        self.players = [_Player(SeatClock.start(control), terms.margin_us) for control in terms.controls]
        self.reserves_us = self.all_reserves_us()
        self.ending = Ending.RULES
        self.retired = 0
        """The number of seats that have retired."""
        self.sentence = ""
        """Who ended the game by retiring, and how; empty where the rules ended it."""

    def play(self) -> Verdict:
        """Plays from the first move to the end."""
        self.play_opening()
        rated = self.start()
        while (outcome := self.state.outcome()) is None:
            acting = self.state.to_act()
            if acting[0] < 0:  # CHANCE or SHARED_CHANCE
                self.roll()
            else:
                self.take_turn(acting)
        _check_ranks(outcome, len(self.players))
        if self.sentence:
            outcome = outcome._replace(sentence=self.sentence)
        self.wire.close(outcome, self.ending)
        return Verdict(outcome, self.ending, rated)

    def play_opening(self) -> None:
        """Sets up the start and makes the opening moves, before the bots are told of the game: they learn of
        them with the news of their first question. Raises `BadOpening` and `BadChance` where they are not
        possible.
        """
        for event, state in set_up(self.state, self.terms.start):
            self.state = state
            self.watch(event, state)
        for text in self.terms.opening:
            while self.state.to_act() == (SHARED_CHANCE,):
                self.roll()
            seat, move = opening_move(self.state, text)
            written = self.state.write(move)
            self.state = self.state.play({seat: move})
            self.watch(Preset(seat, written), self.state)

    def start(self) -> bool:
        """Opens every seat; those that do not get ready retire together. Returns whether any got ready."""
        seats = range(len(self.players))
        exits = self.open(seats)
        self.retire(exits)
        return len(exits) < len(seats)

    def open(self, seats: Sequence[Seat]) -> dict[Seat, Exit]:
        """Describes the game to some seats. Returns why those of them retire that do not get ready."""
        exits: dict[Seat, Exit] = {}
        for seat in seats:
            self.wire.open(seat, self.description(seat))
        for _ in seats:
            reply = self.wire.next_reply()
            if not isinstance(reply.content, Ready):
                exits[reply.seat] = _exit(_at_the_start(reply.content), reply)
        return exits

    def description(self, seat: Seat) -> GameDescription:
        """The description of the game that a seat is sent before it begins."""
        terms = self.terms
        game = terms.game
        seed = bot_seed(terms.seed, seat)
        return GameDescription(
            game.slug, game.rules, len(self.players), terms.options, terms.controls[seat], seed
        )

    def roll(self) -> None:
        """Applies the outcome of chance."""
        text = self.dice(self.state)
        self.state = self.state.chance(text)
        self.watch(Drawn(text), self.state)

    def take_turn(self, acting: tuple[Seat, ...]) -> None:
        """Asks every seat that acts, and applies their moves when all have replied."""
        turn = Turn()
        self.wire.catch_up(acting)
        for seat in acting:
            self.ask(seat)
        left = len(acting)
        while left:
            reply = self.wire.next_reply()
            seat = reply.seat
            ending = ending_of(reply, self.players[seat].wait_us)
            if ending is None:
                if isinstance(reply.content, Answer):
                    left -= self.take_answer(turn, reply, reply.content)
                elif isinstance(reply.content, ListRequest):
                    self.show_legal(seat, reply.content)
                continue
            left -= 1
            if ending is Ending.TIME and (move := self.state.default(seat)) is not None:
                self.submit_default(turn, move, reply)
            else:
                turn.exits[seat] = _exit(ending, reply)
        self.apply(turn, acting)

    def ask(self, seat: Seat) -> None:
        """Sends a seat a new question, with the news since its last one."""
        player = self.players[seat]
        news = self.state.seen(seat)
        clock = player.clock
        self.wire.post(
            seat,
            Question(
                news[player.told :],
                clock.control.move_us,
                clock.reserve_us,
                player.wait_us,
                self.reserves_us,
                player.charged,
                player.defaulted,
            ),
        )
        player.told = len(news)
        player.charged = player.defaulted = None

    def take_answer(self, turn: Turn, reply: SeatReply, answer: Answer) -> bool:
        """Accepts a legal move; otherwise tells the seat why and asks again while its time runs on. Returns
        whether this was its last reply of the turn.
        """
        seat, used_us = reply.seat, reply.used_us
        player = self.players[seat]
        try:
            move = self.state.read(seat, answer.text)
        except Refusal as refusal:
            player.rejections += 1
            turn.events.append(
                Rejected(seat, answer.text, refusal.reason, refusal.sentence, used_us, reply.timing)
            )
            if player.rejections >= self.terms.rejections:
                detail = f"{player.rejections} answers rejected, the last one: {refusal.sentence}"
                turn.exits[seat] = Exit(Ending.ILLEGAL, detail, used_us, reply.timing)
                return True
            self.ask_again(seat, refusal, used_us)
            return False
        turn.moves[seat] = move
        charge = player.clock.charge(used_us)
        text = self.state.write(move)
        turn.events.append(made(Moved, (seat, text, charge, False, answer.info, reply.timing)))
        return True

    def ask_again(self, seat: Seat, refusal: Refusal, used_us: int) -> None:
        """Asks again for the same move, with the time that remains."""
        player = self.players[seat]
        rejected = (refusal.reason, refusal.sentence)
        remaining_us = player.clock.remaining_us(used_us)
        self.wire.post(seat, Question((), *remaining_us, player.wait_us, rejected=rejected))

    def submit_default(self, turn: Turn, move: Any, reply: SeatReply) -> None:
        """Submits the default move: in games that have one, being out of time costs only the choice."""
        seat = reply.seat
        charge = self.players[seat].clock.charge(reply.used_us, in_time=False)
        turn.moves[seat] = move
        turn.events.append(Moved(seat, self.state.write(move), charge, defaulted=True, timing=reply.timing))

    def show_legal(self, seat: Seat, request: ListRequest) -> None:
        """Sends a seat its legal moves, or a random sample where there are more than may be sent."""
        player = self.players[seat]
        player.lists += 1
        rng = list_stream(self.terms.seed, seat, player.lists)
        moves, total, sampled = legal_moves(self.state, seat, request.most, rng)
        self.wire.show_legal(seat, LegalMoves(tuple(map(self.state.write, moves)), total, sampled))

    def apply(self, turn: Turn, acting: tuple[Seat, ...]) -> None:
        """Applies the moves of a turn together. Where a seat retires, the turn does not count for the others
        either: with two seats the game is over, with more they are asked again.
        """
        before = self.state
        if not turn.exits:
            self.state = before.play(turn.moves)
        if len(acting) > 1:  # which of them answered first changes no record
            turn.events.sort(key=lambda event: acting.index(event.seat))
        for event in turn.events:
            if not isinstance(event, Moved):
                self.watch(event, before)
            elif turn.exits:
                self.watch(Unplayed(event.seat, event.text, event.charge.used_us, event.timing), before)
            else:
                self.settle(event)
                self.watch(event, self.state)
        if turn.exits:
            self.retire(turn.exits)

    def settle(self, moved: Moved) -> None:
        """Charges a seat for its move."""
        player, charge = self.players[moved.seat], moved.charge
        if charge.reserve_us != player.clock.reserve_us:
            player.clock = player.clock.after(charge)
            player.wait_us = player.clock.wait_us(self.terms.margin_us)
            self.reserves_us = self.all_reserves_us()
        if moved.defaulted:
            player.defaulted = moved.text
        else:
            player.charged = charge

    def all_reserves_us(self) -> tuple[int, ...]:
        """The reserves of all seats, where a seat may know those of others."""
        if not self.terms.game.is_open:
            return ()
        return tuple(player.clock.reserve_us for player in self.players)

    def retire(self, exits: Mapping[Seat, Exit]) -> None:
        """Takes seats out of the game; those that retire in the same turn do so together."""
        if not exits:
            return
        self.state = self.state.drop(exits)
        self.retired += len(exits)
        for seat in sorted(exits):
            self.watch(Retired(seat, *exits[seat]), self.state)
        # Where more than one seat stays, the rules end the game, and their sentence says more.
        if self.state.outcome() is not None and len(self.players) - self.retired < 2:
            self.ending = exits[max(exits)].ending
            self.sentence = ", ".join(
                f"seat {seat + 1} {exits[seat].ending.sentence}" for seat in sorted(exits)
            )


def _check_ranks(outcome: Outcome, seats: int) -> None:
    """Raises `ValueError` for ranks that no table could count: a game from outside may be wrong."""
    best = min(outcome.ranks, default=0)
    if len(outcome.ranks) != seats or best < 1 or (best > 1 and seats > 1):
        raise ValueError(
            f"the ranks of {seats} seats are {outcome.ranks}, expected one for each seat, with 1 as the best"
        )


_TELLING = (Ending.LIMIT, Ending.FLOOD, Ending.GONE)
"""Faults whose own hints say more of a bot that did not start than that of `START`."""


def _at_the_start(content: ReplyContent) -> Ending:
    """The ending of a seat that did not get ready, whatever went wrong, unless it was not to play at all."""
    return content.ending if isinstance(content, Failure) and content.ending.is_forfeit else Ending.START


def _exit(ending: Ending, reply: SeatReply) -> Exit:
    """Why a seat retires, with what its author would want to know beside the verdict."""
    detail = hint = ""
    content = reply.content
    if isinstance(content, Silence | Failure):
        detail, hint = content.detail, content.hint
        if isinstance(content, Failure) and content.ending is not ending and content.ending in _TELLING:
            hint = hint or content.ending.hint
    elif isinstance(content, Answer):
        detail = f"its answer came too late: {shown(content.text, 80)}"
        hint = hints.LATE
    return Exit(ending, detail, reply.used_us, reply.timing, hint)
