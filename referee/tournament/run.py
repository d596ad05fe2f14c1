"""A run as it is read from its folder: the header with all changes, and every game that counts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, UsageError
from referee.core.pairing import Pairing
from referee.core.regular import open_without_links
from referee.core.seeds import shared_by
from referee.core.text import shown
from referee.records import journal
from referee.records.amendments import Amendments, amendments_of
from referee.records.header import apply_change, read_header, seats_of
from referee.records.heads import Head, Heads
from referee.records.played_on import PlayedOn, played_on_of_line
from referee.records.record import Summary, head_of, parse_json
from referee.records.run_files import DIALOGUES, TOML, VOID
from referee.tournament.formats import Amount, known_format
from referee.tournament.scheduled import Scheduled
from referee.tournament.voids import VoidGame

_BEGINNING = b'{"kind":"tournament",'


@dataclass(frozen=True)
class Run:
    """A run's folder as it was read: the plan, and every game that counts."""

    folder: Path
    header: dict[str, Any]
    """The first line, with later changes applied."""
    games: dict[str, Summary]
    """Those that count, by id, in the order in which they were finished."""
    voids: tuple[VoidGame, ...]
    """The games that became void, in their order, without attempts that count no more."""
    last_hash: str
    length: int
    """Bytes of the file of records, without a torn last line."""
    torn: int
    """Bytes of the torn last line; 0 if there is none."""
    seeds: dict[str, bytes]
    """The shared seeds of the games, by id."""
    seats_played: dict[str, int]
    """How many seats the games have, by section, where there are any yet."""
    annulled: dict[str, Summary]
    """The games that do not count, by id, in the order in which they were finished."""

    @classmethod
    def new(cls, folder: Path, header: dict[str, Any]) -> Run:
        """A run of which nothing has been played."""
        return cls(folder, header, {}, (), "", 0, 0, {}, {}, {})

    @cached_property
    def seats(self) -> dict[str, int]:
        """How many seats the games of each section have. Raises `RecordError`."""
        return seats_of(self.header, self.seats_played)

    @cached_property
    def shared_seeds(self) -> dict[str, bytes]:
        """The shared seeds of the games, by `shared_by`: those of the first games that have them."""
        found: dict[str, bytes] = {}
        for game, seed in self.seeds.items():
            found.setdefault(shared_by(game), seed)
        return found

    @property
    def batches(self) -> list[list[str]]:
        """The encounters of a league that were chosen so far: see `tournament.league_schedule`."""
        batches: list[list[str]] = self.header.get("encounters", [])
        return batches

    @property
    def games_in_all(self) -> Amount | None:
        """How many games the run has, played or not; None for a match of an earlier version, whose header
        does not tell.
        """
        return Scheduled(self.header).games_in_all(self.seats)

    @cached_property
    def amendments(self) -> Amendments:
        """What was changed in the run after the fact."""
        return amendments_of(self.header)

    @property
    def names(self) -> list[str]:
        """The names of the bots, as tables show them."""
        return [self.amendments.shown(name) for name in self.header["bots"]]

    @property
    def shown_games(self) -> list[Summary]:
        """The games that count, with the names of the bots as tables show them."""
        if not self.amendments.renamed:
            return [*self.games.values()]
        return [
            game._replace(bots=tuple(map(self.amendments.shown, game.bots))) for game in self.games.values()
        ]

    @cached_property
    def without_suspects(self) -> Counter[str]:
        """By id, how often a game became void without a bot that may be the cause."""
        return Counter(void.id for void in self.voids if not void.bots and not void.lost)

    @cached_property
    def _last_played(self) -> dict[str, tuple[int, int]]:
        """By section, the last round of which there are games, where rounds follow from earlier results: no
        game of an earlier round can be played any more.
        """
        form = known_format(self.header)
        if not form or not form.pairs_by_round:
            return {}
        last: dict[str, tuple[int, int]] = {}
        for pairing in map(Pairing.parse, self.games):
            last[pairing.section] = max(last.get(pairing.section, (0, 0)), (pairing.number, pairing.part))
        return last

    def is_open(self, game: str) -> bool:
        """Whether a game is still to be played."""
        if game in self.games or game in self.annulled:
            return False
        pairing = Pairing.parse(game)
        if self.without_suspects[game] and self.is_passed(pairing):
            return False
        return not self.amendments.is_dropped(pairing)

    def is_passed(self, pairing: Pairing) -> bool:
        """Whether later rounds were played that follow from the result of a game, or that it has none."""
        return (pairing.number, pairing.part) < self._last_played.get(pairing.section, (0, 0))


def read_run(folder: Path) -> Run:
    """A run from its folder. Reads the heads of the records, not their moves.

    Raises `UsageError` where there is no run, `RecordError` where a line is damaged or is not of this run.
    """
    reader = RunReader(folder)
    reader.read_voids()
    for line in journal.read(folder):
        reader.take(line)
    return reader.run()


class RunReader:
    """Reads a run line by line: all of it at once, or as it grows."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lines = 0
        """How many lines it has taken, without a torn one."""
        self.length = 0
        """The bytes of these lines."""
        self.last_hash = journal.FIRST
        self._torn = 0
        self._header: dict[str, Any] = {}
        self._scheduled: Scheduled | None = None
        self._games: dict[str, Summary] = {}
        self._seeds: dict[str, bytes] = {}
        self._seats: dict[str, int] = {}
        self._heads = Heads()
        self._voids: tuple[VoidGame, ...] = ()
        self._failed_attempts: dict[str, list[int]] = {}

    @property
    def has_begun(self) -> bool:
        """Whether there is a first line."""
        return bool(self._header)

    def read_voids(self) -> None:
        """Reads which games became void. This is stored before a later attempt at such a game is recorded, so
        it is to be read before the line of that attempt is taken. Raises `UsageError`.
        """
        self._voids = _read_voids(self.folder)
        self._failed_attempts = _failed_attempts(self._voids)

    def take(self, line: journal.JournalLine) -> Summary | None:
        """Takes the next line of the records; returns its game if it has one. A torn line is only noted.

        Raises `RecordError` where the line is damaged or is not of this run.
        """
        self._torn = line.size if line.torn else 0
        if line.torn:
            return None
        try:
            game = self._take(line)
        except RecordError as error:
            where = f"line {line.number} of `{shown(str(self.folder / journal.NAME))}`"
            raise RecordError(f"{where}: {error}") from None
        self.lines += 1
        self.length += line.size
        self.last_hash = line.hash
        return game

    def _take(self, line: journal.JournalLine) -> Summary | None:
        if line.error:
            raise RecordError(line.error)
        if self._scheduled is None:
            self._header = read_header(head_of(line.text))
            self._scheduled = Scheduled(self._header)
            return None
        match self._heads.read(line.text):
            case Head(game, shared_seed):
                _check_game(game, self._scheduled, self._games, self._seats)
                failed = self._failed_attempts.get(game.id, ())
                _check_attempt(game.id, game.attempt, failed, amendments_of(self._header))
                self._games[game.id] = game
                self._seeds[game.id] = shared_seed
                return game
            case {"kind": "change"} as change:
                apply_change(self._header, change)
                for game_id in change.get("replayed", ()):
                    self._games.pop(game_id, None)
                self._scheduled = Scheduled(self._header)
        return None

    def run(self) -> Run:
        """The run as far as it was read; later lines do not change it. Raises `RecordError` where there is no
        complete first line.
        """
        if not self._header:
            raise RecordError(f"`{shown(str(self.folder / journal.NAME))}` has no complete first line")
        games = dict(self._games)
        annulled = {name: games.pop(name) for name in amendments_of(self._header).not_counted(games)}
        return Run(
            self.folder,
            dict(self._header),
            games,
            _of_run(self._voids, self._header),
            self.last_hash,
            self.length,
            self._torn,
            dict(self._seeds),
            dict(self._seats),
            annulled,
        )


def lines_of(run: Run, games: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """These games of a run, each id with its line. Raises `RecordError`."""
    heads = Heads()
    for line in journal.read(run.folder):
        if line.torn:
            return
        if line.error:
            raise RecordError(
                f"line {line.number} of `{shown(str(run.folder / journal.NAME))}`: {line.error}"
            )
        read = heads.read(line.text)
        if not isinstance(read, Head) or read.game.id not in games:
            continue
        if read.game.attempt > run.amendments.attempts_before(read.game.id):
            yield read.game.id, line.text


def places_of(run: Run, games: Collection[str]) -> dict[str, PlayedOn]:
    """Where these games of a run were played, by id; those of earlier versions are missing.

    Raises `RecordError`.
    """
    found = {}
    for game_id, line in lines_of(run, games) if games else ():
        try:
            place = played_on_of_line(line)
        except RecordError as error:
            raise RecordError(f"game `{shown(game_id)}` of `{shown(str(run.folder))}`: {error}") from None
        if place:
            found[game_id] = place
    return found


def _check_game(
    game: Summary,
    scheduled: Scheduled,
    before: dict[str, Summary],
    seats: dict[str, int],
) -> None:
    """Raises `RecordError` where a game is not one that the run still has to play."""
    pairing = Pairing.parse(game.id)
    scheduled.check(pairing)
    if pairing.bots != game.bots:
        raise RecordError(f"the bots of game `{shown(game.id)}` are not those of its id")
    if seats.setdefault(pairing.section, len(game.bots)) != len(game.bots):
        raise RecordError(f"game `{shown(game.id)}` has another number of seats than those before it")
    if game.id in before:  # guard: duplicate-games
        raise RecordError(f"duplicate game `{shown(game.id)}`")


def check_attempts(folder: Path, header: Mapping[str, Any], attempts: Mapping[str, int]) -> None:
    """Raises `RecordError` where the last attempts at games, by id, do not agree with the file of failed ones
    and the changes in the header.
    """
    failed_attempts = _failed_attempts(_read_voids(folder))
    for game_id, attempt in attempts.items():
        _check_attempt(game_id, attempt, failed_attempts.get(game_id, ()), amendments_of(header))


def _failed_attempts(voids: Iterable[VoidGame]) -> dict[str, list[int]]:
    """The numbers of the attempts that failed, by game."""
    found: dict[str, list[int]] = {}
    for void in voids:
        found.setdefault(void.id, []).append(void.attempt)
    return found


def _check_attempt(game_id: str, attempt: int, failed_attempts: Sequence[int], made: Amendments) -> None:
    """Raises `RecordError` where an attempt at a game does not follow those that failed."""
    before = made.attempts_before(game_id)
    failed = sum(number > before for number in failed_attempts)
    if attempt != before + failed + 1:  # guard: attempts
        again = f", and it was to be played again after attempt {before}" if before else ""
        raise RecordError(
            f"`attempt` of game `{shown(game_id)}` is {attempt}, expected {before + failed + 1}: "
            f"`{VOID}` has {failed} failed attempts{again}"
        )


def find_run(folder: Path) -> Run | None:
    """The run in a folder, or None: there is one if its file of records has a complete first line.

    Raises `UsageError` where the folder has other files of that name, `RecordError` where a line is damaged,
    or the only line is incomplete and not the beginning of a header.
    """
    path = folder / journal.NAME
    first = next(journal.read(folder), None) if os.path.lexists(path) else None
    if first and not first.torn:
        return read_run(folder)
    if first and not (first.text.startswith(_BEGINNING) or _BEGINNING.startswith(first.text)):
        raise RecordError(f"line 1 of `{shown(str(path))}`: {first.error}")
    if (folder / TOML).exists():
        raise UsageError(f"`{shown(str(folder))}` has a `{TOML}` but no results, expected a new folder")
    return None


def dialogues(folder: Path, games: Collection[str]) -> dict[str, str]:
    """The kept dialogues of these games, each of the last attempt. Raises `UsageError`."""
    return {
        str(value["id"]): str(value.get("dialogue"))
        for value in objects_in(folder / DIALOGUES)
        if value.get("id") in games
    }


def _read_voids(folder: Path) -> tuple[VoidGame, ...]:
    """The games that became void, in their order. Raises `UsageError`."""
    found = []
    for value in objects_in(folder / VOID):
        suspects = value.get("suspects")  # none in older runs
        bots = frozenset(map(str, suspects)) if isinstance(suspects, list) else frozenset[str]()
        attempt = value.get("attempt")
        number = attempt if isinstance(attempt, int) else 1
        found.append(VoidGame(str(value.get("id")), bots, value.get("lost") is True, number))
    return tuple(found)


def _of_run(voids: Iterable[VoidGame], header: dict[str, Any]) -> tuple[VoidGame, ...]:
    """Those whose ids are in the run's schedule, without attempts that count no more."""
    found = []
    made = amendments_of(header)
    scheduled = Scheduled(header)
    for void in voids:
        with suppress(RecordError):
            scheduled.check(Pairing.parse(void.id))
            if void.attempt > made.attempts_before(void.id):  # guard: forgiven-voids
                found.append(void)
    return tuple(found)


def objects_in(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file beside the records, if there is one; damaged lines are left out.

    Raises `UsageError`.
    """
    try:
        with os.fdopen(open_without_links(path), "rb") as file:
            for text, _, _ in journal.bounded_lines(file):
                with suppress(RecordError):
                    yield parse_json(text)
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"cannot read `{shown(str(path))}`: {error.strerror}") from None
