"""Invariants of every game, whatever its rules are: for the tests of games.

from referee.check.rules import check_game
from connect_four import GAME

def test_connect_four():
    check_game(GAME)
    check_game(GAME, {"columns": "4", "rows": "4"})
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import combinations, islice, zip_longest
from typing import Any, get_args

from referee.check.wires import NO_MOVE, HouseWire
from referee.core.errors import RecordError
from referee.core.named_code import error_text
from referee.core.seeds import Stream, game_seed
from referee.core.text import listed, shown
from referee.gameplay.api import Answer, SeatReply
from referee.gameplay.loop import play, seeded_dice
from referee.gameplay.terms import Terms
from referee.games.api import (
    CHANCE,
    SHARED_CHANCE,
    BadChance,
    Game,
    NotAMove,
    Options,
    Outcome,
    Refusal,
    Seat,
    State,
)
from referee.games.picture import (
    Mark,
    Paint,
    Piece,
    Plane,
    Region,
    Row,
    Span,
    Symbol,
    Trace,
    parts_of_picture,
)
from referee.kit import step
from referee.records.record import GameRecord
from referee.records.replay import replay
from referee.viewing.characters import picture_text
from referee.viewing.knowledge import EVERYBODY, ViewKnowledge

LISTED = 400  # at most this many legal moves of a position are looked at

FORESEEN = 12  # how many turns a position is played on to find what was hidden in it

DEALS = 240  # how many true and imagined positions are compared for each seat

UNLIKELY = 5.5
"""How many standard deviations apart they may be: checks are repeatable, and thousands of words compared."""

SAMPLED = 20
"""How many moves of a position, or positions from the same news, are drawn to see whether they vary."""

DRAWN = 60  # how many outcomes of chance are drawn to learn what they have in common

FARTHEST = 1000  # the largest number that says where a mark of a picture is, or how large

MOST_AHEAD = 1_000_000  # the largest lead that a game can give

NO_OPTIONS: Mapping[str, str] = {}

_HOSTILE = ["", " ", "\t", "x" * 5000, "9" * 5000, "0-0@" + "9" * 5000 + ",0", "L:A" + "9" * 5000]
_HOSTILE += ["A1 " * 1300, "\x1b[2J", "ß", "Ａ１", "-0", "@", "move"]
"""Texts that are not a move in any game."""

_PROBES = ("A", "S", "5-1@0,2", "0", "-", "A1", "L:A1", "O:A1 W:A2")  # texts that may be a move in some game

_ALPHABET = "ABCDEFGHILORSUWXZ0123456789:-@, {}abdul\té"


class InvariantViolation(AssertionError):
    """A game violates an invariant of all games."""


def check_game(game: Game[Any], given: Mapping[str, str] = NO_OPTIONS) -> None:
    """Plays random games with these options, and raises `InvariantViolation` if an invariant does not hold.

    Takes some seconds for a game whose moves are computed quickly. Raises `GameOptionError` too.
    """
    options = game.settle(given)
    for invariant in ALL_INVARIANTS:
        invariant(game, options)


def is_chance(state: State[Any]) -> bool:
    """Whether chance is to act."""
    return state.to_act() in ((CHANCE,), (SHARED_CHANCE,))


def _acting(state: State[Any]) -> tuple[Seat, ...]:
    """The seats that are to act; none where chance is."""
    return () if is_chance(state) else state.to_act()


def random_game(game: Game[Any], options: Options, seed: str) -> Iterator[State[Any]]:
    """All positions of a random game, the first and the last among them."""
    rng = Stream(seed.encode())
    state = game.start(options)
    yield state
    while state.outcome() is None:
        state = step(state, rng)
        yield state


def random_match(game: Game[Any], options: Options, seed: str) -> GameRecord:
    """A random game through the game loop, in which some answers are not moves."""
    names = tuple("abcd"[: game.seats(options)])
    controls = (game.clock,) * len(names)
    seeds = (game_seed(seed, "game"), game_seed(seed, "shared"))
    terms = Terms("1:" + ":".join(names), game, options, names, controls, *seeds)
    wire = _CarelessWire(terms)
    verdict = play(terms, wire, seeded_dice(terms), wire.watch)
    return GameRecord(terms, tuple(wire.events), verdict, {}, game.rules, ("none",) * len(names))


class _CarelessWire(HouseWire):
    """All seats play at random, and sometimes answer with a text that is not a move."""

    def act(self, seat: Seat) -> SeatReply:
        return super().act(seat) if self._rng.below(20) else SeatReply(seat, Answer(NO_MOVE))


def games_end_and_moves_round_trip(game: Game[Any], options: Options) -> None:
    """A random game ends within `longest`; legal moves are read back as written, nothing else is read; and
    `aim` and `seats_text` say what is so.
    """
    seats = game.seats(options)
    said = [int(number) for number in re.findall(r"\d+", game.seats_text)] or [seats]
    _require(
        min(said) <= seats <= max(said), f"`seats_text` is `{shown(game.seats_text)}`, but {seats} seats play"
    )
    aim = game.aim(options)
    _require(isinstance(aim, str) and aim == shown(aim), "`aim` is not a short text that can be shown")
    for number in range(4):
        moves = 0
        rng = Stream(f"texts {number}".encode())
        for state in random_game(game, options, f"{number}"):
            _check_acting(state, seats)
            for seat in _acting(state):
                moves += 1
                _require(moves <= game.longest(options), "a game has more moves than `longest` says")
                _moves_round_trip(state, seat, rng)
        outcome = state.outcome()
        assert outcome
        _check_outcome(state, outcome, seats)


def _check_acting(state: State[Any], seats: int) -> None:
    acting = state.to_act()
    _require(
        is_chance(state)
        or (isinstance(acting, tuple) and acting == tuple(sorted({*acting} & {*range(seats)}))),
        f"`to_act` gives `{shown(str(acting), 80)}`, expected a tuple of seats from 0 to {seats - 1} in "
        "order, or of chance alone",
    )


def _check_outcome(state: State[Any], outcome: Outcome, seats: int) -> None:
    _require(state.to_act() == (), "a seat is still to act after the end of the game")
    _require(bool(outcome.sentence), "an outcome has no sentence")
    _require(len(outcome.ranks) == len(outcome.scores) == seats, "not every seat has a rank and a score")
    _require(all(type(score) is int for score in outcome.scores), "a score is not a whole number")
    _require(min(outcome.ranks) == 1 or (seats == 1 and outcome.ranks == (2,)), "nobody has rank 1")
    if seats > 1:
        # What `placing` makes: tied seats share the best of their places.
        places = tuple(1 + sum(other < rank for other in outcome.ranks) for rank in outcome.ranks)
        _require(outcome.ranks == places, f"the ranks are {outcome.ranks}, expected {places}")


def _moves_round_trip(state: State[Any], seat: Seat, rng: Stream) -> None:
    legal = list(islice(state.legal(seat), LISTED))
    complete = len(legal) < LISTED
    count = state.count(seat)
    _require(bool(legal) and state.any_legal(seat), "a seat that is to act has no legal move")
    _require(len(set(legal)) == len(legal), "`legal` gives a move twice")
    _require(
        count is None or len(legal) == min(count, LISTED),
        f"`count` says {count}, but `legal` gives {len(legal)} moves",
    )
    for move in legal[:: max(1, len(legal) // 20)]:
        text = state.write(move)
        _check_read(state, seat, text, move)
        _check_read(state, seat, f"  {text.lower()} ", move)
    sampled = state.sample(seat, rng)
    text = state.write(sampled)
    _require(not complete or sampled in legal, f"`sample` gives `{text}`, which `legal` does not")
    _check_read(state, seat, text, sampled)
    default = state.default(seat)
    if default is not None:
        _require(
            not complete or default in legal,
            f"`default` gives `{state.write(default)}`, which is not legal here",
        )
        _check_read(state, seat, state.write(default), default)
    for mutant in _mutants(text, rng):
        try:
            read = state.read(seat, mutant)
        except Refusal as refusal:
            _check_refusal(mutant, refusal)
        else:
            _require(not complete or read in legal, f"`{shown(mutant)}` is read as a move, but is not legal")


def _check_read(state: State[Any], seat: Seat, text: str, move: object) -> None:
    try:
        read = state.read(seat, text)
    except Refusal as refusal:
        raise InvariantViolation(
            f"`{shown(text)}` is a legal move, but is refused: {refusal.sentence}"
        ) from None
    _require(read == move, f"`{shown(text)}` was written for one move, but is read as another")


def _mutants(text: str, rng: Stream) -> Iterable[str]:
    """Texts that are almost a move."""
    for _ in range(6):
        at = rng.below(len(text) + 1)
        letter = _ALPHABET[rng.below(len(_ALPHABET))]
        yield text[:at] + letter + text[at + rng.below(2) :]
    yield text + " " + text
    yield text[:-1]
    yield text[::-1]
    yield ""


def _check_refusal(text: str, refusal: Refusal) -> None:
    of = f"refusing `{shown(text, 40)}`"
    _require(bool(refusal.reason) and " " not in refusal.reason, f"{of}: the reason is not one word")
    is_none = isinstance(refusal, NotAMove)
    _require(
        is_none == (refusal.reason == "not-a-move"),
        f"{of}: expected the reason `not-a-move` for `NotAMove` and for nothing else",
    )
    _require(
        shown(refusal.sentence, 400) == refusal.sentence,
        f"{of}: the sentence contains unescaped text from the bot",
    )
    _require(len(refusal.sentence) < 300, f"{of}: the sentence has 300 characters or more")


def clicks_lead_to_legal_moves(game: Game[Any], options: Options) -> None:
    """Whatever is chosen of the parts that `chosen` gives, legal moves follow, and nothing else does; it
    depends on nothing that is hidden.
    """
    rng = Stream(b"clicks")
    for state in islice(random_game(game, options, "clicks"), 1, 40, 6):
        for seat in _acting(state):
            imagined = state if game.is_open else _imagined(game, options, seat, state, rng)
            left, parts = parts_of_picture(state.picture(seat)), list[str]()
            while True:
                chosen = state.chosen(seat, parts)
                _require(
                    game.is_open or imagined.chosen(seat, parts) == chosen,
                    "`chosen` is not the same in a position that `imagine` made: it shows what is hidden",
                )
                for move in chosen.moves[: 20 if parts else 1]:
                    _check_read(state, seat, state.write(move), move)
                after = f"after {listed(parts)} " if parts else ""
                _require(bool(chosen.next or chosen.moves), f"`chosen` gives nothing {after}to go on with")
                _require(left.issuperset(chosen.next), f"`chosen` gives {after}parts that no other mark has")
                if not chosen.next:
                    break
                parts.append(chosen.next[rng.below(len(chosen.next))])
                left.remove(parts[-1])


def sampled_moves_vary(game: Game[Any], options: Options) -> None:
    """Checks that `sample` does not always give the same move: how probable each is, only the game knows."""
    rng = Stream(b"vary")
    were_several = False
    for number in range(2):
        for state in islice(random_game(game, options, f"vary {number}"), 40):
            for seat in _acting(state):
                if len(list(islice(state.legal(seat), 2))) > 1:
                    were_several = True
                    if len({state.write(state.sample(seat, rng)) for _ in range(SAMPLED)}) > 1:
                        return
    _require(not were_several, "`sample` always gives the same move, though several are legal")


def blanks_are_forgiven_and_other_white_space_is_not(game: Game[Any], options: Options) -> None:
    """Spaces around a move are ignored; spaces alone or other white space are not read as a move."""
    rng = Stream(b"blanks")
    for state in islice(random_game(game, options, "blanks"), 20):
        for seat in _acting(state):
            move = state.sample(seat, rng)
            text = state.write(move)
            for spelled in (f" {text}", f"{text}  ", f"   {text} "):
                _require(
                    state.read(seat, spelled) == move, f"spaces around the move `{text}` are not ignored"
                )
            for spelled in ("", " ", "  ", *(text + white for white in "\t\n\r\u00a0\u3000")):
                _require(not _reads(state, seat, spelled), f"{spelled!a} is read as a move")


def _reads(state: State[Any], seat: Seat, text: str) -> bool:
    try:
        state.read(seat, text)
    except NotAMove:
        return False
    return True


def hostile_texts_are_refused(game: Game[Any], options: Options) -> None:
    """Texts that are not a move in any game are refused, with a sentence that is bounded and escaped."""
    for state in islice(random_game(game, options, "hostile"), 30):
        for seat in _acting(state):
            for text in _HOSTILE:
                try:
                    state.read(seat, text)
                except Refusal as refusal:
                    _check_refusal(text, refusal)
                else:
                    raise InvariantViolation(f"`{shown(text, 40)}` is read as a move")


def what_is_seen_only_grows(game: Game[Any], options: Options) -> None:
    """News is only appended and never changed, its lines can be sent, and what `told` makes of them can be
    shown.
    """
    audiences: list[Seat | None] = [None, *range(game.seats(options))]
    before: dict[Seat | None, tuple[str, ...]] = dict.fromkeys(audiences, ())
    for state in random_game(game, options, "seen"):
        for audience in audiences:
            lines = state.seen(audience)
            _require(lines[: len(before[audience])] == before[audience], "earlier news has changed")
            for line in lines[len(before[audience]) :]:
                _require(shown(line, 1000) == line, f"a line of news cannot be sent: `{shown(line)}`")
                words = game.told(line)
                _require(
                    isinstance(words, str) and words == shown(words, 1000),
                    f"`told` gives no text that can be shown for `{shown(line)}`",
                )
            before[audience] = lines
    _require(all(before.values()), "a seat gets no news in a whole game")


def positions_that_differ_in_what_is_hidden_look_alike(game: Game[Any], options: Options) -> None:
    """`imagine` gives a position that looks the same to the seat; in an open game, the true position."""
    rng = Stream(b"imagined")
    differ = False
    for number in range(2):
        states = list(random_game(game, options, f"alike {number}"))
        tried = [*_PROBES, *_moves_of_all(states)]
        # Not every second one: in all of these it may be chance that acts.
        for state in (state for state in states[1:25] if rng.below(2)):
            for seat in range(game.seats(options)):
                imagined = _imagined(game, options, seat, state, rng)
                for what, one, other in zip(
                    ("news", "picture", "turn", "legal moves", "answers to moves", "default move"),
                    _looks(state, seat, tried),
                    _looks(imagined, seat, tried),
                    strict=True,
                ):
                    if one != other:
                        raise InvariantViolation(
                            f"{what} of seat {seat + 1}: not the same in a position that `imagine` made from "
                            f"its news{_difference(one, other)}: it shows what is hidden, or `imagine` is "
                            "wrong"
                        )
                _require(
                    _leads(imagined, game, options) == _leads(state, game, options),
                    f"`lead` says what seat {seat + 1} does not know: a lead has to follow from the news of "
                    "each seat",
                )
                _require(
                    is_chance(state) or imagined.to_act() == state.to_act(),
                    "an imagined position has different seats to act, but who acts is never hidden",
                )
                differ |= _course(imagined, b"same") != _course(state, b"same")
    if game.seats(options) > 1:
        how = "differ" if differ else "do not differ"
        what = f"`is_open` is {game.is_open}, but imagined positions {how} from the true ones"
        _require(differ != game.is_open, f"{what}, in what a spectator sees of them or in how they continue")


def _imagined(game: Game[Any], options: Options, seat: Seat, state: State[Any], rng: Stream) -> State[Any]:
    try:
        return game.imagine(options, seat, state.seen(seat), rng)
    except ValueError as error:
        last = shown(("", *state.seen(seat))[-1], 80)
        raise InvariantViolation(
            f"`imagine` refuses news of seat {seat + 1} that occurred, up to the line `{last}`: "
            f"{error_text(error)}"
        ) from error


def what_everybody_sees_tells_nothing_hidden(game: Game[Any], options: Options) -> None:
    """What everybody is shown of a position is the same in one that `imagine` made from a seat's news: so no
    seat learns from it what another one sees.
    """
    for number in range(2):
        everybody_sees_the_same(game, options, f"everybody {number}", most=16)


def everybody_sees_the_same(game: Game[Any], options: Options, seed: str, most: int | None = None) -> int:
    """Checks the positions of a random game, or so many of them, and what comes of some when a seat leaves;
    returns how many it has checked, each for every seat. Raises `InvariantViolation`.
    """
    if game.is_open:
        return 0
    known, seats = ViewKnowledge.of(EVERYBODY, game, options), range(game.seats(options))
    rng = Stream(seed.encode())
    states = [state for state in random_game(game, options, seed) if state.seen(0)]
    rng.shuffle(states)
    states = states[:most]
    asked = [state for state in states[::8] if state.outcome() is None and not is_chance(state)]
    left = [state.drop((rng.choice(state.to_act()),)) for state in asked]
    states += [state for state in left if state.outcome() is None]
    for state in states:
        for seat in seats:
            imagined = _imagined(game, options, seat, state, rng)
            looks: list[Callable[[State[Any]], object]] = [known.picture, known.news]
            looks += [] if is_chance(state) else [known.to_move]
            for what, look in zip(("picture", "news", "turn"), looks, strict=False):
                _require(
                    look(imagined) == look(state),
                    f"{what} for everybody: not the same in a position that `imagine` made from the news of "
                    f"seat {seat + 1}{_difference(look(state), look(imagined))}: it shows what is hidden",
                )
    return len(states)


def _course(state: State[Any], seed: bytes) -> tuple[str, ...]:
    """Returns what a spectator sees of a position, and of some further moves from it. What nobody sees yet,
    such as the order of a deck, comes to light in this.
    """
    rng = Stream(seed)
    for _ in range(FORESEEN):
        if state.outcome() is None:
            state = step(state, rng)
    return state.seen(None)


def imagined_positions_are_as_random_as_true_ones(game: Game[Any], options: Options) -> None:
    """Checks that what a seat cannot know when it acts first is distributed as in the game itself: each word
    of what a spectator sees, there and for a while after, comes up as often in imagined positions as in true
    ones.
    """
    seats = game.seats(options)
    if game.is_open or seats == 1:
        return
    rng = Stream(b"distributed")
    counts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
    for number in range(DEALS * seats):
        state = game.start(options)
        while is_chance(state):
            state = step(state, rng)
        seat = number % seats
        imagined = _imagined(game, options, seat, state, rng)
        for count, one in zip(counts, (state, imagined), strict=True):
            lines = _course(one, f"course {number}".encode())
            words = (word for at, line in enumerate(lines[:FORESEEN]) for word in _placed(at, line))
            count.update({f"{word}, for seat {seat + 1}," for word in words})
    for word in {*counts[0], *counts[1]}:
        true, imagined_ = counts[0][word], counts[1][word]
        share = (true + imagined_) / (2 * DEALS)
        deviation = (2 * DEALS * share * (1 - share)) ** 0.5
        _require(
            abs(true - imagined_) <= max(UNLIKELY * deviation, 8),
            f"{word} appears in {imagined_} imagined positions, but in {true} of as many true ones",
        )


def imagined_positions_vary(game: Game[Any], options: Options) -> None:
    """Checks that `imagine` does not always give the same position for the same news where another is the
    true one. In a sound game each of them may be the odd one out, so one such game proves nothing.
    """
    if game.is_open:
        return
    rng = Stream(b"imagined to vary")
    same_in = 0
    for number in range(6):
        are_same = []
        for state in list(random_game(game, options, f"imagined to vary {number}"))[1:20:4]:
            for seat in range(game.seats(options)):
                imagined = {_imagined(game, options, seat, state, rng).seen(None) for _ in range(SAMPLED)}
                if len(imagined | {state.seen(None)}) > 1:
                    are_same.append(len(imagined) == 1)
        same_in += sum(are_same) > len(are_same) / 2
    _require(same_in < 4, "`imagine` always gives the same position for the same news, but not the true one")


def only_the_given_random_numbers_decide(game: Game[Any], options: Options) -> None:
    """`draw`, `sample` and `imagine` give the same for the same random numbers."""
    for state in islice(random_game(game, options, "numbers"), 12):
        made: list[tuple[str, Callable[[Stream], object]]] = [
            ("imagine", partial(_seen_of_imagined, game, options, seat, state))
            for seat in range(game.seats(options))
            if state.seen(seat)
        ]
        made += [("sample", partial(state.sample, seat)) for seat in _acting(state)]
        made += [("draw", state.draw)] if is_chance(state) else []
        for name, make in made:
            one, *others = (make(Stream(b"numbers")) for _ in range(3))
            _require(
                others == [one, one],
                f"`{name}` gives different results for the same random numbers, expected one that depends "
                "on nothing but its arguments",
            )


def _seen_of_imagined(
    game: Game[Any], options: Options, seat: Seat, state: State[Any], rng: Stream
) -> tuple[str, ...]:
    return _imagined(game, options, seat, state, rng).seen(None)


def _placed(number: int, line: str) -> Iterator[str]:
    """The words of a line of news, with the place of the line, and of the word where it is one of few."""
    words = line.split()
    for place, word in enumerate(words):
        yield f"`{shown(word, 40)}` as word {place + 1} of line {number + 1}"
        yield f"`{shown(word, 40)}` in line {number + 1}, which begins with `{shown(words[0], 40)}`"


def _moves_of_all(states: Iterable[State[Any]]) -> set[str]:
    """Some of the moves that came up in a game: what a seat is told of those of others may tell too much."""
    return {
        state.write(move)
        for state in islice((state for state in states if not is_chance(state)), 6)
        for seat in state.to_act()
        for move in islice(state.legal(seat), 8)
    }


def _looks(state: State[Any], seat: Seat, tried: Sequence[str] = _PROBES) -> tuple[object, ...]:
    """Everything a seat can learn from a position, including legal moves and the reasons of refusals."""
    acts = seat in state.to_act()
    legal = [state.write(move) for move in islice(state.legal(seat), LISTED)] if acts else []
    answers = []
    for text in tried if acts else ():
        try:
            answers.append(state.write(state.read(seat, text)))
        except Refusal as refusal:
            answers.append(refusal.sentence)
    default = state.default(seat) if acts else None
    return state.seen(seat), state.picture(seat), acts, legal, answers, default


def _difference(true: object, imagined: object) -> str:
    """The first texts in which two looks differ; empty where it is not in a text."""
    for one, other in zip_longest(_texts(true), _texts(imagined), fillvalue="nothing"):
        if one != other:
            return f", but `{shown(other, 80)}` instead of `{shown(one, 80)}`"
    return ""


def _texts(look: object) -> list[str]:
    """The texts in a look; of a picture, its lines and its titles."""
    if not isinstance(look, list | tuple):
        return [str(look)]
    if not any(isinstance(panel, Row | Plane) for panel in look):
        return [str(text) for text in look]
    pieces = [piece for panel in look for piece in (panel.spans if isinstance(panel, Row) else panel.marks)]
    return [*picture_text(tuple(look)).split("\n"), *(piece.title for piece in pieces)]


def leads_fit_together(game: Game[Any], options: Options) -> None:
    """At most one seat is ahead of all others, and of two, one is as far ahead as the other is behind; also
    where a seat has left.
    """
    _require(shown(game.counted, 40) == game.counted, "`counted` is not a short text that can be shown")
    for state in random_game(game, options, "lead"):
        seats = () if state.outcome() else range(game.seats(options))
        for after in (state, *(state.drop([seat]) for seat in seats)):
            leads = _leads(after, game, options)
            given = [lead for lead in leads if lead is not None]
            what = f"`lead` gives {', '.join(map(str, leads))} for the seats"
            _require(bool(game.counted) or not given, f"{what}, but `counted` does not say of what")
            _require(
                all(type(lead) is int and abs(lead) <= MOST_AHEAD for lead in given),
                f"{what}, expected whole numbers from {-MOST_AHEAD:,} to {MOST_AHEAD:,}, or `None`",
            )
            _require(sum(lead > 0 for lead in given) < 2, f"{what}, but only one can be ahead of all others")
            _require(
                not given or (sum(given) == 0 if len(leads) == 2 else max(given) >= 0),
                f"{what}, but one has to be ahead as far as the next one is behind it",
            )


def policies_play_legal_moves(game: Game[Any], options: Options) -> None:
    """A quick way to play is legal, and what is decided anew shows nobody anything else."""
    policy, rng = game.policy(), Stream(b"policy")
    for state in islice(random_game(game, options, "policy"), 0, 60, 2):
        again = state.reshuffled(rng)
        for seat in _acting(state):
            _require(
                again.to_act() == state.to_act() and again.seen(seat) == state.seen(seat),
                "`reshuffled` gives a position in which a seat knows something else",
            )
            if policy:
                move = policy(again, seat, rng)
                _check_read(again, seat, again.write(move), move)


def zones_are_corners_and_edges(game: Game[Any], options: Options) -> None:
    """`zone` says of each word of the news, in capitals, where such a cell lies, or that it is none."""
    *_, last = random_game(game, options, "zones")
    said = {word for line in last.seen(None) for word in re.findall(r"\w+", line.upper())}
    for cell in sorted(said | {"", "A0", "Z99"}):
        zone = game.zone(options, cell)
        _require(
            zone in ("corner", "edge", ""),
            f"`zone` gives `{shown(str(zone), 40)}` for `{shown(cell, 40)}`, expected `corner`, `edge` or an "
            "empty text",
        )


def keys_stand_for_positions(game: Game[Any], options: Options) -> None:
    """Positions with the same key have the same seat to move, legal moves and outcome, also where two moves
    of a seat were made in another order.
    """
    rng, known = Stream(b"keys"), dict[Hashable, tuple[object, ...]]()
    for state in islice(random_game(game, options, "keys"), 0, 60, 3):
        if state.key() is None or not game.is_open:
            return
        for _ in range(4):
            for after in _two_orders(state, rng):
                seats, outcome = after.to_act(), after.outcome()
                moves = sorted(after.write(move) for seat in seats for move in _some(after, seat))
                found = (seats, moves, outcome and outcome.ranks)
                _require(
                    known.setdefault(after.key(), found) == found,
                    "`key` is the same for positions that go on differently",
                )


def _two_orders(state: State[Any], rng: Stream) -> list[State[Any]]:
    """The positions after the same three moves, where the first and the last change places, if they can."""
    played, moves = [state], list[tuple[Seat, Any]]()
    while len(moves) < 3 and len(seats := played[-1].to_act()) == 1:
        moves.append((seats[0], played[-1].sample(seats[0], rng)))
        played.append(played[-1].play(dict(moves[-1:])))
    if len(moves) < 3:
        return [state]
    other = state
    for seat, move in reversed(moves):
        try:
            if other.to_act() != (seat,):
                return played
            other = other.play({seat: other.read(seat, state.write(move))})
        except Refusal:
            return played
    return [*played, other]


def _some(state: State[Any], seat: Seat) -> Iterator[Any]:
    """The legal moves of a seat, of very many the first ones."""
    return islice(state.legal(seat), LISTED)


def _leads(state: State[Any], game: Game[Any], options: Options) -> list[int | None]:
    return [state.lead(seat) for seat in range(game.seats(options))]


def pictures_can_be_drawn(game: Game[Any], options: Options) -> None:
    """Checks that the content of pictures is bounded and escaped, a symbol's name is its own, and the ground
    stays.
    """
    symbols: dict[str, Symbol] = {}
    checked = set[Piece | Span]()
    for number in range(2):
        grounds: dict[tuple[Seat | None, int], tuple[Piece, ...]] = {}
        for state in islice(random_game(game, options, f"picture {number}"), 60):
            for view in (None, *range(game.seats(options))):
                for place, panel in enumerate(state.picture(view)):
                    if isinstance(panel, Plane):
                        ground = grounds.setdefault((view, place), panel.ground)
                        _require(
                            panel.ground is ground, "the ground of a plane is not always the same object"
                        )
                        pieces: tuple[Piece | Span, ...] = panel.ground + panel.marks
                    else:
                        pieces = panel.spans
                    for piece in set(pieces) - checked:
                        _check_piece(piece, symbols)
                    checked.update(pieces)


def _check_piece(piece: Piece | Span, symbols: dict[str, Symbol]) -> None:
    numbers: list[float] = []
    texts = [piece.title, piece.part if isinstance(piece, Mark | Span) else ""]
    if isinstance(piece, Trace):
        numbers += [piece.width, *(number for point in piece.points for number in point)]
    elif isinstance(piece, Region):
        numbers += [piece.width, *(number for line in piece.lines for point in line for number in point)]
        _require(piece.line in get_args(Paint), f"`{shown(piece.line, 80)}` is not a value of `Paint`")
    else:
        texts += piece.text.split("\n") if isinstance(piece, Mark) else [piece.text]
        if piece.symbol:
            known = symbols.setdefault(piece.symbol.name, piece.symbol)
            _require(known == piece.symbol, f"two symbols have the name `{shown(piece.symbol.name, 80)}`")
        texts.append(piece.caption or "")
    if isinstance(piece, Mark):
        numbers += [piece.x, piece.y, piece.size]
    _require(
        all(abs(number) <= FARTHEST for number in numbers),
        f"a mark is too far away or too large, expected numbers up to {FARTHEST}",
    )
    _require(piece.paint in get_args(Paint), f"`{shown(piece.paint, 80)}` is not a value of `Paint`")
    for text in texts:
        _require(shown(text, 300) == text, f"a text in the picture cannot be shown: `{shown(text)}`")


def imagined_games_play_on_to_their_end(game: Game[Any], options: Options) -> None:
    """An imagined position can be played to the end of the game."""
    rng = Stream(b"on")
    for state in list(random_game(game, options, "on"))[1:20:4]:
        seat = max(0, min(state.to_act(), default=0))
        imagined = _imagined(game, options, seat, state, rng)
        while imagined.outcome() is None:
            imagined = step(imagined, rng)


def seats_that_leave_always_lead_to_an_outcome(game: Game[Any], options: Options) -> None:
    """Whichever seats retire and whenever, the others play on, and one of them is first."""
    seats = game.seats(options)
    for number in range(12):
        rng = Stream(f"leave {number}".encode())
        state = game.start(options)
        for _ in range(rng.below(12)):
            if state.outcome() is None:
                state = step(state, rng)
        here = set(range(seats))
        over = state.outcome()
        while state.outcome() is None:
            _require(bool(here), "all seats have retired, but the game continues")
            _leave_in_all_ways(state, here, seats)
            leaving = {seat for seat in here if rng.below(2)} or {min(here)}
            state = state.drop(leaving)
            here -= leaving
            for _ in range(rng.below(6)):
                if state.outcome() is None:
                    state = step(state, rng)
                    _require(
                        set(state.to_act()) <= here | {CHANCE, SHARED_CHANCE},
                        "a retired seat is still to act",
                    )
        outcome = state.outcome()
        assert outcome
        _check_outcome(state, outcome, seats)
        if not over and 0 < len(here) < seats:
            best = min(outcome.ranks[seat] for seat in here)
            _require(best == 1, "seats have retired, but none of the others is first")


def _leave_in_all_ways(state: State[Any], here: Iterable[Seat], seats: int) -> None:
    """Retires each seat, and each set of seats, and checks the outcome wherever that ends the game."""
    for leaving in _subsets(sorted(here)):
        after = state.drop(leaving)
        if outcome := after.outcome():
            _check_outcome(after, outcome, seats)
        acting = set(after.to_act())
        _require(not acting & set(leaving), "a retired seat is still to act")
        others = sorted({*_acting(state)} - {*leaving})
        _require(
            len(_acting(state)) < 2 or is_chance(after) or not acting or acting.issuperset(others),
            f"seat {_numbers(leaving)} retired in a turn of seats {_numbers(_acting(state))}, and then seat "
            f"{_numbers(after.to_act())} acts, expected {_numbers(others)}: that turn was not played",
        )


def _numbers(seats: Iterable[Seat]) -> str:
    return listed([seat + 1 for seat in seats])


def _subsets(seats: Sequence[Seat]) -> Iterator[tuple[Seat, ...]]:
    for size in range(1, len(seats) + 1):
        yield from combinations(seats, size)


def states_are_immutable(game: Game[Any], options: Options) -> None:
    """Playing on from a position, or retiring a seat in it, does not change the position."""
    seats = game.seats(options)
    rng = Stream(b"immutable")
    for state in list(random_game(game, options, "immutable"))[:20]:
        before = _fingerprint(state, seats)
        if state.outcome() is None:
            state.drop([0])
            for _ in range(3):
                after = step(state, rng)
                after.seen(None)
                if after.outcome() is None:
                    step(after, rng)
        _require(_fingerprint(state, seats) == before, "a position changed when play continued from it")


def _fingerprint(state: State[Any], seats: int) -> tuple[object, ...]:
    views: list[object] = [_looks(state, seat) for seat in range(seats)] if not is_chance(state) else []
    return state.seen(None), state.picture(None), state.to_act(), state.outcome(), views


def chance_takes_only_what_it_gives(game: Game[Any], options: Options) -> None:
    """`chance` takes what `draw` gives and nothing similar, and both refuse where chance is not to act."""
    rng = Stream(b"chance")
    positions = [state for number in range(4) for state in random_game(game, options, f"chance {number}")]
    for state in islice(filter(is_chance, positions), 8):
        drawn = [state.draw(rng) for _ in range(DRAWN)]
        text = drawn[0]
        for bad in ("", text[:-1], text + " ", text.upper() + "x", text + ";", "0" * 5000, f" {text}"):
            _refuses_chance(state, bad)
        for bad in _never_drawn(drawn, rng):
            _refuses_chance(state, bad)
        for good in drawn[:20]:
            state.chance(good)
    texts = ["heads", *(state.draw(rng) for state in positions[:8] if is_chance(state))]
    waiting = [state for state in positions if not is_chance(state)]
    for state in (waiting[0], waiting[-1]):  # a seat acts; the game is over
        for bad in texts:
            _refuses_chance(state, bad)
        _raises_bad_chance("`draw`", partial(state.draw, rng), " where chance does not act")


def _never_drawn(drawn: Sequence[str], rng: Stream) -> Iterator[str]:
    """Texts that are almost one of those that were drawn, and that can be told never to be drawn."""
    differs = _differs_from(drawn)
    for text in drawn[:40]:
        yield from filter(differs, _almost(text, rng))


def _almost(text: str, rng: Stream) -> Sequence[str]:
    """Texts that differ a little from this one."""
    parts = text.split(" ")
    at, other = rng.below(len(parts)), rng.below(len(parts))
    return (
        *_mutants(text, rng),
        " ".join(parts[:at] + parts[at + 1 :]),
        " ".join([*parts, parts[at]]),
        " ".join([*parts[:at], parts[other], *parts[at + 1 :]]),
        " ".join([*parts[:at], "99", *parts[at + 1 :]]),
        text.replace("1", "\uff11").replace("2", "\u0662"),
    )


def _differs_from(drawn: Sequence[str]) -> Callable[[str], bool]:
    """Tells of a text whether it can never be drawn, by what all texts that were drawn have in common."""
    known = set(drawn)
    words = [text.split(" ") for text in drawn]
    letters = {"".join(sorted(text)) for text in drawn}
    sorted_words = {tuple(sorted(parts)) for parts in words}
    numbers_of_words = {len(parts) for parts in words}
    first, last = words[: len(words) // 2], words[len(words) // 2 :]
    vocabulary = {word for parts in first for word in parts}
    are_all_known = all(word in vocabulary for parts in last for word in parts)

    def differs(text: str) -> bool:
        parts = text.split(" ")
        return text not in known and (
            len(parts) not in numbers_of_words
            or (len(letters) == 1 and "".join(sorted(text)) not in letters)
            or (len(sorted_words) == 1 and tuple(sorted(parts)) not in sorted_words)
            or (are_all_known and not vocabulary.issuperset(parts))
            or not text.isascii()
        )

    return differs


def _refuses_chance(state: State[Any], text: str) -> None:
    where = "" if is_chance(state) else " where chance does not act"
    _raises_bad_chance("`chance`", partial(state.chance, text), f" for `{shown(text, 40)}`{where}")


def _raises_bad_chance(what: str, call: Callable[[], object], where: str) -> None:
    try:
        call()
    except BadChance:
        return
    except Exception as error:
        raise InvariantViolation(f"{what} raises {error_text(error)}{where}, expected `BadChance`") from error
    raise InvariantViolation(f"{what} returns a result{where}, expected `BadChance`")


def the_same_seed_is_the_same_game_and_its_record_plays_again(game: Game[Any], options: Options) -> None:
    """The same seed gives the same game, with rejections too, and its record can be replayed."""
    made = random_match(game, options, "seed")
    _require(random_match(game, options, "seed") == made, "the same seed gives a different game")
    _require(random_match(game, options, "other") != made, "a different seed gives the same game")
    try:
        replay(made, lambda event, state: None, by_seed=True)
    except RecordError as error:
        raise InvariantViolation(f"a record cannot be replayed: {error}") from None


def hash_seeds_make_no_difference(game: Game[Any], options: Options) -> None:
    """The game is the same in two processes whose hashes of texts differ, and so the order of sets."""
    try:
        given = pickle.dumps((sys.path, game, dict(options)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise InvariantViolation(f"the game cannot be sent to a worker: {shown(str(error), 200)}") from None
    code = "from referee.check.rules import print_course; print_course()"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        for seed in ("1", "2")
    ]
    outputs = []
    for child in children:
        out, err = child.communicate(given)
        _require(child.returncode == 0, f"the game fails in another process: {shown(err.decode()[-300:])}")
        outputs.append(out.decode().split("\n"))
    for one, other in zip_longest(*outputs):
        _require(one == other, f"with another PYTHONHASHSEED, `{shown(one, 100)}` is `{shown(other, 100)}`")


def print_course() -> None:
    """Prints two random games with all that is drawn, legal and imagined in them: in a process that is given
    the path of modules, the game and its options on stdin by the one that checks it.
    """
    sys.path, game, options = pickle.load(sys.stdin.buffer)
    for number in range(2):
        rng = Stream(f"hashes {number}".encode())
        for state in islice(random_game(game, options, f"hashes {number}"), 40):
            print(state.seen(None), state.picture(None), state.outcome())
            for seat in _acting(state):
                print([state.write(move) for move in islice(state.legal(seat), LISTED)])
                print(state.write(state.sample(seat, rng)), state.default(seat))
                print(game.imagine(options, seat, state.seen(seat), rng).seen(None))


INVARIANTS: tuple[Callable[[Game[Any], Options], None], ...] = (
    games_end_and_moves_round_trip,
    only_the_given_random_numbers_decide,
    clicks_lead_to_legal_moves,
    sampled_moves_vary,
    blanks_are_forgiven_and_other_white_space_is_not,
    hostile_texts_are_refused,
    what_is_seen_only_grows,
    positions_that_differ_in_what_is_hidden_look_alike,
    leads_fit_together,
    policies_play_legal_moves,
    zones_are_corners_and_edges,
    keys_stand_for_positions,
    what_everybody_sees_tells_nothing_hidden,
    imagined_positions_are_as_random_as_true_ones,
    imagined_positions_vary,
    pictures_can_be_drawn,
    imagined_games_play_on_to_their_end,
    seats_that_leave_always_lead_to_an_outcome,
    states_are_immutable,
    chance_takes_only_what_it_gives,
    the_same_seed_is_the_same_game_and_its_record_plays_again,
)

ALL_INVARIANTS = (*INVARIANTS, hash_seeds_make_no_difference)
"""The last one starts processes."""


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise InvariantViolation(message)
