"""The match: one loop that plays a game to its end and is the only judge of it.

It turns a state, the seats' clocks and a wire into events and a verdict. It reads no clock, starts no
process and writes no file; replaying a record is this same loop with a wire made from the record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

from referee.core.seeds import bot_seed, chance_stream, list_stream
from referee.core.text import shown
from referee.gameplay.api import (
    Answer,
    Broken,
    LegalMoves,
    Opened,
    Opening,
    Question,
    Request,
    Resigned,
    Silence,
    Wire,
    WireEvent,
)
from referee.gameplay.clock import Charge, Clock
from referee.gameplay.events import (
    NOT_TIMED,
    Drawn,
    Ending,
    Event,
    Left,
    Moved,
    Rejected,
    Seat,
    Timing,
    Unplayed,
)
from referee.gameplay.terms import Terms, Verdict
from referee.games.api import CHANCE, SHARED_CHANCE, Refusal, State

LEGAL_MOST = 2_000
"""Legal moves in one answer; where there are more, a sample. So many fit into a pipe, and making them
takes the referee some milliseconds.
"""


Watch = Callable[[Event, State[Any]], None]
"""Told of every event, with the state after it."""

Dice = Callable[[State[Any]], str]
"""What chance gives in a state."""


_Timed = Answer | Resigned | Request | Silence | Broken


class _Exit(NamedTuple):
    """Why a seat leaves the game."""

    ending: Ending
    detail: str
    used_us: int
    timing: Timing = NOT_TIMED
    hint: str = ""


@dataclass(slots=True)
class _Player:
    """What the match keeps of a seat."""

    clock: Clock
    told: int = 0
    """How many lines of its news it has been told."""
    rejections: int = 0
    charged: Charge | None = None
    defaulted: str | None = None
    lists: int = 0
    """Its requests for legal moves in this game."""


@dataclass(slots=True)
class _Turn:
    """One round of questions: what came of it, held until every seat that acts has answered."""

    events: dict[Seat, list[Event]] = field(default_factory=dict)
    moves: dict[Seat, Any] = field(default_factory=dict)
    exits: dict[Seat, _Exit] = field(default_factory=dict)


def judge(event: WireEvent, clock: Clock, margin_us: int) -> Ending | None:
    """What an event means, but for the rules: None for an answer in time, whatever it says.

    The order of verdicts: what is late is late, whatever it is (a cap is only exceeded before the
    deadline: after it nobody listens); then what broke the conversation; then resigning. What the rules
    say of an answer comes after all of these.
    """
    match event:
        case Silence():
            return Ending.TIME
        case Answer() | Resigned() | Request() | Broken() if clock.late(event.used_us, margin_us):
            return Ending.TIME
        case Broken():
            return event.ending
        case Resigned():
            return Ending.RESIGNED
    return None


def seeded_dice(terms: Terms) -> Dice:
    """Chance as the game's seed has it."""
    streams = {
        CHANCE: chance_stream(terms.seed),
        SHARED_CHANCE: chance_stream(terms.shared_seed),
    }
    return lambda state: state.draw(streams[state.to_act()[0]])


def play(terms: Terms, wire: Wire, dice: Dice, watch: Watch) -> Verdict:
    """Plays one game. Whatever a bot does is a verdict; what this raises is the referee's own failure."""
    return _Match(terms, wire, dice, watch).play()


class _Match:
    def __init__(self, terms: Terms, wire: Wire, dice: Dice, watch: Watch) -> None:
        self.terms = terms
        self.wire = wire
        self.dice = dice
        self.watch = watch
        self.state = terms.game.start(terms.options)
        self.players = [_Player(Clock.start(control)) for control in terms.controls]
        self.ending = Ending.RULES
        self.gone = 0
        """How many seats have left."""
        self.parting = ""
        """Who ended the game by leaving it, and how, if somebody did."""

    def play(self) -> Verdict:
        """From the opening to the end."""
        rated = self.start()
        while (outcome := self.state.outcome()) is None:
            acting = self.state.to_act()
            if acting[0] in (CHANCE, SHARED_CHANCE):
                self.roll()
            else:
                self.take_turn(acting)
        if self.parting:
            outcome = outcome._replace(sentence=self.parting)
        self.wire.close(outcome, self.ending)
        return Verdict(outcome, self.ending, rated)

    def start(self) -> bool:
        """Opens every seat; those that do not get ready leave together. Whether any did."""
        turn = _Turn()
        seats = range(len(self.players))
        for seat in seats:
            self.wire.open(seat, self.opening(seat))
        for _ in seats:
            event = self.wire.next_event()
            if isinstance(event, Silence | Broken):
                turn.exits[event.seat] = _exit(Ending.START, event)
            else:
                assert isinstance(event, Opened)
        self.send_off(turn.exits)
        return len(turn.exits) < len(seats)

    def opening(self, seat: Seat) -> Opening:
        """What a seat is told of the game before it begins."""
        terms = self.terms
        seed = bot_seed(terms.seed, seat)
        game = terms.game
        return Opening(game.slug, game.rules, len(self.players), terms.options, terms.controls[seat], seed)

    def roll(self) -> None:
        """Chance decides."""
        text = self.dice(self.state)
        self.state = self.state.chance(text)
        self.watch(Drawn(text), self.state)

    def take_turn(self, acting: tuple[Seat, ...]) -> None:
        """Asks every seat that acts, and applies what they did when all are in."""
        turn = _Turn({seat: [] for seat in acting})
        self.wire.catch_up(acting)
        for seat in acting:
            self.ask(seat)
        while len(turn.moves) + len(turn.exits) < len(acting):
            event = self.wire.next_event()
            seat, clock = event.seat, self.players[event.seat].clock
            assert not isinstance(event, Opened)
            match judge(event, clock, self.terms.margin_us):
                case None if isinstance(event, Request):
                    self.show_legal(event)
                case None:
                    assert isinstance(event, Answer)
                    self.take_answer(turn, event)
                case Ending.TIME if (move := self.state.default(seat)) is not None:
                    self.submit_default(turn, seat, move, event)
                case ending:
                    turn.exits[seat] = _exit(ending, event)
        self.apply(turn)

    def ask(self, seat: Seat) -> None:
        """A new question, with the news since the last one."""
        player = self.players[seat]
        news = self.state.seen(seat)
        clock = player.clock
        self.wire.post(
            seat,
            Question(
                news[player.told :],
                (clock.control.move_us, clock.reserve_us),
                self.patience_us(clock),
                self.other_reserves(seat) if self.terms.game.is_open else (),
                player.charged,
                player.defaulted,
            ),
        )
        player.told = len(news)
        player.charged = player.defaulted = None

    def patience_us(self, clock: Clock) -> int:
        """How long an answer is waited for."""
        return clock.budget_us + self.terms.margin_us

    def other_reserves(self, seat: Seat) -> tuple[tuple[Seat, int], ...]:
        """What the other seats have in reserve."""
        return tuple(
            (other, player.clock.reserve_us) for other, player in enumerate(self.players) if other != seat
        )

    def take_answer(self, turn: _Turn, answer: Answer) -> None:
        """A move if the rules allow it; else the seat is told why and asked again, its time running."""
        seat = answer.seat
        player = self.players[seat]
        try:
            move = self.state.read(seat, answer.text)
        except Refusal as refusal:
            player.rejections += 1
            turn.events[seat].append(
                Rejected(seat, answer.text, refusal.reason, refusal.sentence, answer.used_us, answer.timing)
            )
            if player.rejections >= self.terms.rejections:
                detail = f"{player.rejections} answers rejected, the last one: {refusal.sentence}"
                turn.exits[seat] = _Exit(Ending.ILLEGAL, detail, answer.used_us, answer.timing)
            else:
                self.ask_again(seat, refusal, answer.used_us)
            return
        turn.moves[seat] = move
        charge = player.clock.charge(answer.used_us)
        turn.events[seat].append(
            Moved(seat, self.state.write(move), charge, False, answer.info, answer.timing)
        )

    def ask_again(self, seat: Seat, refusal: Refusal, used_us: int) -> None:
        """The same move, a new question, with what is left of the time."""
        clock = self.players[seat].clock
        rejected = (refusal.reason, refusal.sentence)
        self.wire.post(seat, Question((), clock.left(used_us), self.patience_us(clock), rejected=rejected))

    def submit_default(self, turn: _Turn, seat: Seat, move: Any, event: _Timed) -> None:
        """In games that have a default, time that is up costs the choice and not the game."""
        charge = self.players[seat].clock.charge(event.used_us, in_time=False)
        turn.moves[seat] = move
        turn.events[seat].append(
            Moved(seat, self.state.write(move), charge, defaulted=True, timing=_timing(event))
        )

    def show_legal(self, request: Request) -> None:
        """All legal moves of a seat, or a random sample where there are more than may be sent."""
        seat = request.seat
        player = self.players[seat]
        player.lists += 1
        most = LEGAL_MOST if request.most is None else min(request.most, LEGAL_MOST)
        state = self.state
        total = state.count(seat)
        rng = list_stream(self.terms.seed, seat, player.lists)
        moves = list(islice(state.legal(seat), LEGAL_MOST + 1)) if (total or 0) <= LEGAL_MOST else []
        if sampled := len(moves) > LEGAL_MOST or not moves:
            # Too many to be gone through.
            moves = list(dict.fromkeys(state.sample(seat, rng) for _ in range(most)))
        else:
            total = len(moves)
            if sampled := total > most:
                rng.shuffle(moves)
                del moves[most:]
        self.wire.show_legal(seat, LegalMoves(tuple(map(state.write, moves)), total, sampled))

    def apply(self, turn: _Turn) -> None:
        """The moves of a turn together. Where a seat leaves, the turn does not count for the others either:
        with two seats the game is over, with more they are asked anew.
        """
        before = self.state
        if not turn.exits:
            self.state = before.play(turn.moves)
        for events in turn.events.values():
            for event in events:
                if not isinstance(event, Moved):
                    self.watch(event, before)
                elif turn.exits:
                    self.watch(Unplayed(event.seat, event.text, event.charge.used_us, event.timing), before)
                else:
                    self.settle(event)
                    self.watch(event, self.state)
        self.send_off(turn.exits)

    def settle(self, moved: Moved) -> None:
        """Charges a seat for its move."""
        player = self.players[moved.seat]
        player.clock = player.clock.after(moved.charge)
        if moved.defaulted:
            player.defaulted = moved.text
        else:
            player.charged = moved.charge

    def send_off(self, exits: Mapping[Seat, _Exit]) -> None:
        """Takes seats out of the game, all that leave at once together."""
        if not exits:
            return
        self.state = self.state.drop(exits)
        self.gone += len(exits)
        for seat in sorted(exits):
            self.watch(Left(seat, *exits[seat]), self.state)
        # Where more than one seat stays, the rules end the game, and their sentence says more.
        if self.state.outcome() is not None and len(self.players) - self.gone < 2:
            self.ending = exits[max(exits)].ending
            self.parting = ", ".join(
                f"seat {seat + 1} {exits[seat].ending.sentence}" for seat in sorted(exits)
            )


def _timing(event: _Timed) -> Timing:
    return NOT_TIMED if isinstance(event, Request) else event.timing


def _exit(ending: Ending, event: _Timed) -> _Exit:
    """An exit with what a person would want to know beside the verdict."""
    detail = hint = ""
    match event:
        case Silence() | Broken():
            detail, hint = event.detail, event.hint
        case Answer():
            detail = f"its answer came too late: {shown(event.text, 80)}"
            hint = "it answers, but takes longer than it has: `ask` says how long that is"
    return _Exit(ending, detail, event.used_us, _timing(event), hint)
