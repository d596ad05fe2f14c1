"""The state of a run: what the lines of its journal say, taken one by one in their order. Pure.

Whoever plays, continues or shows a run has its state from here, so all of them agree: a line is taken
when it was read from the file, or when it was written to it.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Collection
from typing import Any, Self

from referee.core.errors import RecordError
from referee.core.pairing import Pairing
from referee.core.seeds import shared_by_pairing
from referee.core.settings import TIME_KEYS
from referee.core.text import counted, shown
from referee.records.amendments import MEMBERS, Amendments
from referee.records.header import NO_HEADER, Header
from referee.records.heads import Head, Heads
from referee.records.journal import FIRST
from referee.records.record import Summary, head_of
from referee.tournament.formats import Amount, Format, check_bots, known_format, total
from referee.tournament.run.voids import Suspicion, VoidGame, void_of
from referee.tournament.schedule import rotations
from referee.tournament.stopping import KEYS as STOPPING_KEYS


class RunState:
    """What is known about a run after some of its lines."""

    def __init__(self) -> None:
        self.lines = 0
        """How many lines were taken."""
        self.length = 0
        """The bytes of these lines, each with its newline."""
        self.last_hash = FIRST
        """The hash of the last of them, which stands for all of them."""
        self.header = NO_HEADER
        """The first line, with later changes applied."""
        self.games: dict[str, Summary] = {}
        """The games that count, by id, in the order in which they were finished."""
        self.annulled: dict[str, Summary] = {}
        """The games that were played and do not count, by id, in the same order."""
        self.amendments = Amendments()
        """What was changed in the run after the fact; the same object until that changes."""
        self.voids: list[VoidGame] = []
        """The games that became void, in their order, without attempts that count no more."""
        self.without_suspects: Counter[str] = Counter()
        """How often each game became void without a bot that may be the cause, by id."""
        self.suspicion = Suspicion()
        """Which bots are held responsible for games that became void."""
        self.shared_seeds: dict[str, bytes] = {}
        """The shared seeds of the games, by `shared_by`: those of the first games that have them."""
        self._order: list[str] = []
        """The ids of all games, those included that do not count, in their order."""
        self._out_after: dict[str, int] = {}
        """By bot that is out, how many of these were stored before it was."""
        self._seats: dict[str, int] = {}
        """How many seats the games have, by section, where there are any yet."""
        self._places: dict[str, Pairing] = {}
        """By place in the schedule, the last game there that counts."""
        self._failed: dict[str, int] = {}
        """The number of the last attempt that became void, by id of the game."""
        self._scheduled: Scheduled | None = None
        self._heads = Heads()

    def copy(self) -> Self:
        """The state as it is now, which later lines do not change."""
        found = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, dict | list):
                setattr(found, name, value.copy())
        found.suspicion = copy.deepcopy(self.suspicion)
        return found

    def only(self, games: Collection[str]) -> Self:
        """The state as it is now, as if of the games that count only these had been played."""
        found, left_out = self.copy(), self.games.keys() - set(games)
        found._leave_out(left_out)
        return found

    def take(self, line: bytes, digest: str) -> Head | dict[str, Any]:
        """Takes the next line, without its newline, whose hash this is; what the line says, of a game its
        head. Raises `RecordError` where the line is not one of this run; then it is not taken.
        """
        said = self._heads.read(line) if self._scheduled else head_of(line)
        if isinstance(said, Head):
            self._take_game(said.game, said.shared_seed)
        elif not self._scheduled:
            self._take_header(said)
        elif (kind := said.get("kind")) == "change":
            self._take_change(said)
        elif kind == "void":
            self._take_void(void_of(said))
        else:
            raise RecordError(f"`kind` is `{shown(str(kind), 40)}`, expected `change`, `game` or `void`")
        self.lines += 1
        self.length += len(line) + 1
        self.last_hash = digest
        return said

    def _take_header(self, header: dict[str, Any]) -> None:
        self.header = Header.read(header)
        self._scheduled = Scheduled(self.header)
        self._amend()

    def _amend(self) -> None:
        """Takes the amendments as the header has them now."""
        self.amendments = self.header.amendments
        for bot in self.amendments.out:
            self._out_after.setdefault(bot, len(self._order))

    def _take_change(self, change: dict[str, Any]) -> None:
        header = self.header.after(change)
        self._scheduled = Scheduled(header)
        self.header = header
        if not change.keys().isdisjoint(MEMBERS):
            self._amend()
            replayed = change.get("replayed", ())
            if replayed or self.annulled or self.amendments.annuls_any:
                self._leave_out(replayed)
            if replayed:
                self._forget_voids()

    def _take_game(self, game: Summary, shared_seed: bytes) -> None:
        pairing = Pairing.parse(game.id)
        self._check_game(game, pairing)
        self.shared_seeds.setdefault(shared_by_pairing(pairing), shared_seed)
        self._order.append(game.id)
        self._sort_game(game, pairing)

    def _check_game(self, game: Summary, pairing: Pairing) -> None:
        """Raises `RecordError` where a game is not one that the run still has to play."""
        assert self._scheduled is not None
        section = self._scheduled.check(pairing)
        if pairing.bots != game.bots:
            raise RecordError(f"the bots of game `{shown(game.id)}` do not match its id")
        if self._seats.setdefault(section, len(game.bots)) != len(game.bots):
            raise RecordError(f"game `{shown(game.id)}` has a different number of seats than earlier games")
        if self.is_played(game.id):  # guard: duplicate-games
            raise RecordError(f"duplicate game `{shown(game.id)}`")
        self._check_attempt(game.id, game.attempt)

    def _check_attempt(self, game: str, attempt: int) -> None:
        """Raises `RecordError` where an attempt is not the next one after those that became void."""
        expected = self.next_attempt(game)
        if attempt != expected:  # guard: attempts
            before = self.amendments.attempts_before(game)
            again = f", and it was to be played again after attempt {before}" if before else ""
            voids = counted(expected - before - 1, "attempt")
            raise RecordError(
                f"`attempt` of game `{shown(game)}` is {attempt}, expected "
                f"{expected}: {voids} became void{again}"
            )

    def _sort_game(self, game: Summary, pairing: Pairing) -> None:
        """Adds a game to those that count, or to those that do not."""
        if self.amendments.annuls(game):
            self.annulled[game.id] = game
        else:
            self.games[game.id] = game
            self._places[pairing.place] = pairing

    def _leave_out(self, games: Collection[str]) -> None:
        """Sorts all games but these anew into those that count and those that do not."""
        played = self.games | self.annulled
        self._order = [game for game in self._order if game not in games]
        self.games.clear()
        self.annulled.clear()
        self._places.clear()
        for game in self._order:
            self._sort_game(played[game], Pairing.parse(game))

    def _take_void(self, void: VoidGame) -> None:
        assert self._scheduled is not None
        pairing = Pairing.parse(void.id)
        self._scheduled.check(pairing)
        if not void.bots.issubset(pairing.bots):
            raise RecordError(f"a suspect of the void game `{shown(void.id)}` is not one of its bots")
        if self.is_played(void.id):  # guard: void-after-game
            raise RecordError(f"game `{shown(void.id)}` became void after it was played")
        self._check_attempt(void.id, void.attempt)
        self._failed[void.id] = void.attempt
        self._count_void(void)

    def _count_void(self, void: VoidGame) -> None:
        self.voids.append(void)
        if void.bots:
            self.suspicion.note(void)
        elif not void.lost:
            self.without_suspects[void.id] += 1

    def _forget_voids(self) -> None:
        """Leaves out the attempts at games that are played again."""
        before = self.amendments.attempts_before
        voids = [void for void in self.voids if void.attempt > before(void.id)]  # guard: forgiven-voids
        self.voids, self.without_suspects, self.suspicion = [], Counter(), Suspicion()
        for void in voids:
            self._count_void(void)

    @property
    def played_games(self) -> int:
        """How many games were played, those included that do not count."""
        return len(self._order)

    @property
    def seats(self) -> dict[str, int]:
        """How many seats the games of each section have. Raises `RecordError`."""
        # Known from its games, the rules need not be available.
        return {
            name: self._seats.get(name) or section.seats() for name, section in self.header.sections.items()
        }

    @property
    def batches(self) -> list[list[str]]:
        """The encounters of a league that were chosen so far: see `tournament.formats.league`."""
        return self.header.batches

    @property
    def games_in_all(self) -> Amount | None:
        """How many games the run has, played or not, those included of bots that are left out for now; None
        where the format is not known.
        """
        assert self._scheduled is not None
        return self._scheduled.games_in_all(self.seats)

    @property
    def format(self) -> Format | None:
        """Who meets whom; None for a format from a file that was not named."""
        assert self._scheduled is not None
        return self._scheduled.format

    def out_after(self, games: Collection[str]) -> set[str]:
        """The bots that were out when the last of these games was over, or before another one was: so what
        follows from it stays the same when more is played.
        """
        among = {*games}
        last = max((place for place, game in enumerate(self._order, 1) if game in among), default=0)
        return {bot for bot, place in self._out_after.items() if place <= last}

    @property
    def names(self) -> list[str]:
        """The names of the bots, as tables show them."""
        return [self.amendments.shown(name) for name in self.header.bots]

    @property
    def shown_games(self) -> list[Summary]:
        """The games that count, with the names of the bots as tables show them."""
        if not self.amendments.renamed:
            return [*self.games.values()]
        return [game.with_names(self.amendments.shown) for game in self.games.values()]

    def shown_bots(self, game: Summary) -> tuple[str, ...]:
        """The names of the bots of a game, as tables show them."""
        return tuple(map(self.amendments.shown, game.bots))

    def next_attempt(self, game: str) -> int:
        """The number of the next attempt at a game."""
        return max(self._failed.get(game, 0), self.amendments.attempts_before(game)) + 1

    def is_played(self, game: str) -> bool:
        """Whether a game was played, whether it counts or not."""
        return game in self.games or game in self.annulled

    def never_counts(self, game: str) -> bool:
        """Whether a game does not count and never will: it was annulled, or is not played any more."""
        if not self.amendments.drops_any:
            return False
        return game not in self.games and self.amendments.is_dropped(Pairing.parse(game))

    def is_open(self, game: str) -> bool:
        """Whether a game is still to be played."""
        if self.is_played(game):
            return False
        pairing = Pairing.parse(game)
        if self.without_suspects[game] and self.is_passed(pairing):
            return False
        return not self.amendments.is_dropped(pairing)

    def is_passed(self, pairing: Pairing) -> bool:
        """Whether later rounds were played that follow from the result of a game, or that it has none."""
        if not self.format or not self.format.pairs_by_round:
            return False
        last = self.format.played_with(pairing.number)[-1]
        return any(
            other.number > last or (other.number == pairing.number and other.part > pairing.part)
            for other in self._places.values()
            if other.section == pairing.section
        )


_MOST = 10_000  # how many groups of bots are remembered; then it starts anew


class Scheduled:
    """The schedule of a run as far as its header tells. A changed header needs a new one."""

    def __init__(self, header: Header) -> None:
        """Raises `RecordError` where the header has no format that this referee knows."""
        self._names: frozenset[str] = frozenset(header.bots)
        self._sections = header.sections
        self.format = known_format(header.members)  # none for a format from a file that was not named
        # Most games share their round with games before them, and many have the bots of games before them.
        self._section_of: dict[str, str] = {}  # by place, of those that were checked
        self._groups: set[tuple[str, ...]] = set()
        self._may_stop = any(key in header.members for key in (*STOPPING_KEYS, *TIME_KEYS))

    def check(self, pairing: Pairing) -> str:
        """The section of a game. Raises `RecordError` where the game cannot be in the schedule."""
        section = self._section_of.get(place := pairing.place)
        if section is None:
            self._check_place(pairing)
            section = self._section_of[place] = pairing.section
        if pairing.bots not in self._groups:
            check_bots(pairing, self._names)
            if self.format:
                self.format.check_group(pairing)
            if len(self._groups) >= _MOST:
                self._groups.clear()
            self._groups.add(pairing.bots)
        return section

    def _check_place(self, pairing: Pairing) -> None:
        if pairing.section not in self._sections:
            raise RecordError(f"the section of game `{shown(pairing.id)}` is not in this run")
        if not pairing.number:
            raise RecordError(f"the round of game `{shown(pairing.id)}` is not in this run")
        if self.format:
            self.format.check_place(pairing)

    def sharing(self, pairing: Pairing) -> list[str]:
        """The ids of the games in the schedule that share chance with a game, see `core.seeds.shared_by`: all
        seatings of its encounter, or all bots that play alone in its round.
        """
        seatings = rotations(pairing.bots) if len(pairing.bots) > 1 else [(name,) for name in self._names]
        found = [Pairing.of(pairing.number, bots, pairing.part, pairing.section) for bots in seatings]
        return [other.id for other in found if self._has(other)]

    def _has(self, pairing: Pairing) -> bool:
        try:
            self.check(pairing)
        except RecordError:
            return False
        return True

    def games_in_all(self, seats: dict[str, int]) -> Amount | None:
        """Counts the games of the run, for sections with these numbers of seats; None where the format is
        not known.
        """
        if self.format is None:
            return None
        amounts = [self.format.games_in_all(len(self._names), seats[name]) for name in self._sections]
        return total(amounts, may_stop=self._may_stop)
