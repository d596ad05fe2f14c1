"""A run's folder: read as a value, locked by one referee at a time, and open for more games.

In it are the file of records (`games.jsonl`), the last copy of the tournament file (`tournament.toml`), the
games the referee itself failed at (`void.jsonl`), kept dialogues (`dialogues.jsonl`), and a lock file, which
the kernel unlocks when its holder dies.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from referee.core.errors import RecordError, StorageError, UsageError
from referee.core.pairing import Pairing
from referee.core.regular import open_without_links
from referee.core.seeds import shared_by
from referee.core.text import shown
from referee.gameplay.events import Ending
from referee.ratings.standings import Facts
from referee.records import journal
from referee.records.amendments import Amendments, amendments_of
from referee.records.append_only import AppendOnlyFile, ChangedByOthers, write_all
from referee.records.header import apply_change, change_line, read_header, seats_of
from referee.records.heads import Head, Heads
from referee.records.record import Summary, head_of, parse_json
from referee.records.run_files import DIALOGUES, LOCK, NEW_TOML, TOML, VOID, make_folder
from referee.tournament.facts import facts_of
from referee.tournament.formats import Amount
from referee.tournament.scheduled import Scheduled
from referee.tournament.voids import VOIDS, Suspicion, VoidGame

DIALOGUES_CAP = 256 << 20
"""The most bytes of dialogues that are kept of a run."""

_ATTEMPTS = 10
"""How often a lock is tried that another referee removes meanwhile."""

LOCK_TRIALS = 5
"""How often a folder is tried to be locked: whoever asks `is_locked` has the lock for less than a moment."""

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
    """The games that became void, in their order."""
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
    def bugs(self) -> Counter[str]:
        """By id, how often a game became void by a bug of the referee."""
        return Counter(void.id for void in self.voids if not void.bots)

    def is_open(self, game: str) -> bool:
        """Whether a game is still to be played."""
        if game in self.games or game in self.annulled or self.bugs[game] >= VOIDS:
            return False
        return not self.amendments.is_dropped(Pairing.parse(game))


def read_run(folder: Path) -> Run:
    """A run from its folder. Reads the heads of the records, not their moves.

    Raises `UsageError` where there is no run, `RecordError` where a line is damaged or is not of this run.
    """
    header: dict[str, Any] = {}
    games: dict[str, Summary] = {}
    voids = _read_voids(folder)
    failed_attempts = Counter(void.id for void in voids)
    seeds: dict[str, bytes] = {}
    seats: dict[str, int] = {}
    last_hash, length, torn = journal.FIRST, 0, 0
    heads = Heads()
    for line in journal.read(folder):
        if line.torn:
            torn = line.size
            break
        try:
            if line.error:
                raise RecordError(line.error)
            if line.number == 1:
                header = read_header(head_of(line.text))
                scheduled = Scheduled(header)
            else:
                match heads.read(line.text):
                    case Head(game, shared_seed):
                        _check_game(game, scheduled, games, failed_attempts, seats)
                        games[game.id] = game
                        seeds[game.id] = shared_seed
                    case {"kind": "change"} as change:
                        apply_change(header, change)
                        scheduled = Scheduled(header)
        except RecordError as error:
            where = f"line {line.number} of `{shown(str(folder / journal.NAME))}`"
            raise RecordError(f"{where}: {error}") from None
        last_hash = line.hash
        length += line.size
    if not header:
        raise RecordError(f"`{shown(str(folder / journal.NAME))}` has no complete first line")
    annulled = {name: games.pop(name) for name in amendments_of(header).not_counted(games)}
    voids = _of_run(voids, header)
    return Run(folder, header, games, voids, last_hash, length, torn, seeds, seats, annulled)


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
        if isinstance(read, Head) and read.game.id in games:
            yield read.game.id, line.text


def _check_game(
    game: Summary,
    scheduled: Scheduled,
    before: dict[str, Summary],
    failed_attempts: Counter[str],
    seats: dict[str, int],
) -> None:
    """Raises `RecordError` where a game is not the next attempt of one that the run still has to play."""
    pairing = Pairing.parse(game.id)
    scheduled.check(pairing)
    if pairing.bots != game.bots:
        raise RecordError(f"the bots of game `{shown(game.id)}` are not those of its id")
    if seats.setdefault(pairing.section, len(game.bots)) != len(game.bots):
        raise RecordError(f"game `{shown(game.id)}` has another number of seats than those before it")
    if game.id in before:  # guard: duplicate-games
        raise RecordError(f"duplicate game `{shown(game.id)}`")
    _check_attempt(game.id, game.attempt, failed_attempts)


def check_attempts(folder: Path, attempts: Mapping[str, int]) -> None:
    """Raises `RecordError` where the attempts of games, by id, do not agree with the file of failed ones."""
    failed_attempts = Counter(void.id for void in _read_voids(folder))
    for game_id, attempt in attempts.items():
        _check_attempt(game_id, attempt, failed_attempts)


def _check_attempt(game_id: str, attempt: int, failed_attempts: Counter[str]) -> None:
    failed = failed_attempts.get(game_id, 0)
    if attempt != failed + 1:  # guard: attempts
        raise RecordError(
            f"`attempt` of game `{shown(game_id)}` is {attempt}, expected {failed + 1}: "
            f"`{VOID}` has {failed} failed attempts"
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
        found.append(VoidGame(str(value.get("id")), bots))
    return tuple(found)


def _of_run(voids: Iterable[VoidGame], header: dict[str, Any]) -> tuple[VoidGame, ...]:
    """Those whose ids are in the run's schedule."""
    found = []
    scheduled = Scheduled(header)
    for void in voids:
        with suppress(RecordError):
            scheduled.check(Pairing.parse(void.id))
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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Makes a folder where it is missing, and locks it until the end, or until this process dies. If no run
    has begun in it by then, what was made is removed.

    Raises `UsageError` where another referee has locked it, or it cannot be written.
    """
    lock, made = _lock(folder)
    try:
        yield
    finally:
        if not os.path.lexists(folder / journal.NAME):
            with suppress(OSError):  # something else is there by now
                for path in made:
                    path.rmdir() if path.is_dir() else path.unlink()
        os.close(lock)


def _lock(folder: Path) -> tuple[int, list[Path]]:
    """A descriptor of the lock file, which is locked, and what was made for it, the innermost first."""
    path = folder / LOCK
    made: list[Path] = []
    for _ in range(_ATTEMPTS):
        made = make_folder(folder) or made
        is_new = not os.path.lexists(path)
        try:
            lock = open_without_links(path, os.O_RDWR | os.O_CREAT)
        except FileNotFoundError:
            continue  # another referee has just removed the folder that it had made
        except OSError as error:
            raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
        if not _is_lockable(lock, fcntl.LOCK_EX, LOCK_TRIALS):
            os.close(lock)
            break
        if os.path.lexists(path) and path.lstat().st_ino == os.fstat(lock).st_ino:  # guard: removed-lock
            return lock, [path, *made] if is_new else made
        os.close(lock)  # another referee has just removed it
    raise UsageError(f"another referee is running in `{shown(str(folder))}`, expected one at a time")


def is_locked(folder: Path) -> bool:
    """Whether a referee is running in a folder. Writes nothing, and does not keep one from starting."""
    try:
        lock = open_without_links(folder / LOCK)
    except OSError:
        return False
    try:
        return not _is_lockable(lock, fcntl.LOCK_SH)
    finally:
        os.close(lock)


def _is_lockable(file: int, kind: int, trials: int = 1) -> bool:
    """Locks a file, and returns whether that was possible; trials are a hundredth of a second apart."""
    for trial in range(trials):
        if trial:
            time.sleep(0.01)
        with suppress(OSError):
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            return True
    return False


class OpenRun:
    """A run that is open for more games. Its folder must be `locked` meanwhile."""

    def __init__(self, run: Run, records: journal.Journal, hidden_seed: str | None) -> None:
        """Takes over the open file of records, positioned after the run's last line.

        `hidden_seed` is the seed of the games to come, where the records have only its hash.
        """
        self._run = run
        self.folder = run.folder
        self.games = run.games
        """The games that count so far, by id."""
        self.annulled = run.annulled
        """The games that were played and do not count, by id."""
        self.amendments = run.amendments
        """What was changed in the run after the fact."""
        self.voids = Counter(void.id for void in run.voids)
        """By id, how often a game became void."""
        self.suspicion = Suspicion(void for void in run.voids if void.bots)
        """Which bots are held responsible for the others."""
        self._records = records
        self._voids = _SideFile(run.folder / VOID)
        self._dialogues = _SideFile(run.folder / DIALOGUES)
        self._hidden_seed = hidden_seed

    @classmethod
    def begin(
        cls, folder: Path, header: dict[str, Any], toml: bytes, hidden_seed: str | None = None
    ) -> OpenRun:
        """A new run. Raises `UsageError` and `StorageError`."""
        path = folder / journal.NAME
        if os.path.lexists(path):  # at most a torn first line
            records = journal.Journal.reopen(folder, journal.FIRST, 0, path.lstat().st_size)
        else:
            records = journal.Journal.create(folder)
        try:
            records.append(header)
            _copy_config(folder, toml)
        except BaseException:
            records.close()
            raise
        return cls(Run.new(folder, header), records, hidden_seed)

    @classmethod
    def resume(cls, run: Run, change: dict[str, Any], toml: bytes, hidden_seed: str | None = None) -> OpenRun:
        """Continues a run, and stores what is new in it, if anything is. Raises `StorageError`."""
        records = journal.Journal.reopen(run.folder, run.last_hash, run.length, run.torn)
        try:
            if change:
                line = change_line(change)
                records.append(line)
                apply_change(run.header, line)
                _copy_config(run.folder, toml)
        except BaseException:
            records.close()
            raise
        return cls(run, records, hidden_seed)

    def __enter__(self) -> OpenRun:
        return self

    def __exit__(self, *_: object) -> None:
        self._dialogues.close()
        self._voids.close()
        self._records.close()

    def reveal_seed(self) -> None:
        """Stores the seed where it was hidden; no more games may be played with it. Raises `StorageError`."""
        seed, self._hidden_seed = self._hidden_seed, None
        if seed is None:
            return
        if self._records.is_whole:  # guard: whole-lines
            self.add_change({"seed": seed})

    @property
    def shared_seeds(self) -> dict[str, bytes]:
        """The shared seeds of earlier games, by `shared_by`."""
        return self._run.shared_seeds

    @property
    def names(self) -> list[str]:
        """The names of the bots, as tables show them."""
        return self._run.names

    @property
    def shown_games(self) -> list[Summary]:
        """The games that count, with the names of the bots as tables show them."""
        return self._run.shown_games

    @property
    def facts(self) -> Facts:
        """What tables say of the run besides its games."""
        return facts_of(self._run.header, self.games, self.annulled, self.is_open)

    @property
    def head(self) -> str:
        """The hash of the last line of the records, which stands for all of them."""
        return self._records.head

    def check(self) -> None:
        """Raises `StorageError` where the file of records is not what was written; see `Journal.check`."""
        self._records.check()

    @property
    def unscored(self) -> list[str]:
        """The games that stay void."""
        return [game for game, count in self._run.bugs.items() if count >= VOIDS and game not in self.games]

    @property
    def forfeited(self) -> Counter[str]:
        """How many games each bot forfeited since games became void."""
        return Counter(
            bot
            for game in self.games.values()
            for bot, fault in zip(game.bots, game.faults, strict=True)
            if fault == Ending.VOID.word
        )

    @property
    def unexplained(self) -> list[str]:
        """The games that several bots forfeited, since any of them may have made the game void."""
        return [game.id for game in self.games.values() if game.faults.count(Ending.VOID.word) > 1]

    @property
    def suspects(self) -> Counter[str]:
        """How often each bot played in a game that became void: a bot may be the cause."""
        seen: Counter[str] = Counter()
        for game, count in self.voids.items():
            for name in set(Pairing.parse(game).bots):
                seen[name] += count
        return seen

    def is_open(self, game: str) -> bool:
        """Whether a game is still to be played."""
        return self._run.is_open(game) and not self.amendments.is_dropped(Pairing.parse(game))

    def add_games(self, games: Sequence[tuple[Summary, bytes]]) -> None:
        """Stores finished games with the bodies of their records. They count once all of them are on disk.

        Raises `StorageError`; then none counts, though some may be found when the run is continued.
        """
        self._records.extend(body for _, body in games)
        self.games.update((game.id, game) for game, _ in games)

    def add_change(self, change: dict[str, Any]) -> None:
        """Stores a change of the header. Raises `StorageError`."""
        line = change_line(change)
        self._records.append(line)
        apply_change(self._run.header, line)

    @property
    def batches(self) -> list[list[str]]:
        """The encounters of a league that were chosen so far."""
        return self._run.batches

    def add_batch(self, batch: list[str]) -> None:
        """Stores encounters that a league has chosen. Raises `StorageError`."""
        self.add_change({"encounters": batch})

    def take_out(self, bot: str, games: str, reason: str) -> None:
        """Stores that a bot is out, and what becomes of its games; see `records.amendments`. From now on this
        holds for the games to come, and for those that were played. Raises `StorageError`.
        """
        change = {"out": {bot: {"games": games, "reason": reason}}}
        self.add_change(change)
        self.amendments = self.amendments.with_out(bot, games, reason)
        for name in self.amendments.not_counted(self.games):
            self.annulled[name] = self.games.pop(name)

    def add_void(self, game: str, attempt: int, error: str, suspects: frozenset[str]) -> frozenset[str]:
        """Stores that the referee itself failed at a game, and which bots may be the cause.

        Returns the bots that are held responsible since. Raises `StorageError`.
        """
        value = {
            "id": game,
            "attempt": attempt,
            "when": _now(),
            "suspects": sorted(suspects),
            "error": error,
        }
        # On disk before the next attempt, whose number has to agree.
        self._voids.append(value, sync=True)
        self.voids[game] += 1
        if suspects:
            return self.suspicion.note(VoidGame(game, suspects))
        self._run.bugs[game] += 1
        return frozenset()

    def keep_dialogue(self, game: Summary, dialogue: str) -> None:
        """Stores a dialogue, up to `DIALOGUES_CAP` in all. Raises `StorageError`."""
        value = {"id": game.id, "attempt": game.attempt, "dialogue": dialogue}
        self._dialogues.append(value, most=DIALOGUES_CAP)


class _SideFile:
    """A file beside the records, which is created with its first line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: AppendOnlyFile | None = None

    def append(self, value: dict[str, Any], sync: bool = False, most: int | None = None) -> None:
        """Adds a line, unless the file would have more than `most` bytes. Raises `StorageError`."""
        data = json.dumps(value, separators=(",", ":")).encode() + b"\n"
        try:
            if self._file is None:
                self._file = AppendOnlyFile(self._path, os.O_CREAT)
                if not self._file.ends_a_line():  # torn by a crash
                    data = b"\n" + data
            if most is None or self._file.length + len(data) <= most:
                self._file.append(data, sync)
            self._file.check()
        except OSError as error:
            raise StorageError(f"cannot write to `{shown(str(self._path))}`: {error.strerror}") from None
        except ChangedByOthers as error:
            raise StorageError(f"`{shown(str(self._path))}` {error}") from None

    def close(self) -> None:
        """Closes the file, if it was opened."""
        if self._file:
            self._file.close()


def _copy_config(folder: Path, toml: bytes) -> None:
    """Keeps a copy of the tournament file beside the results."""
    new = folder / NEW_TOML
    try:
        new.unlink(missing_ok=True)
        file = open_without_links(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
        try:
            write_all(file, toml)
        finally:
            os.close(file)
        new.replace(folder / TOML)
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
