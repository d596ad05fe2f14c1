"""A tournament is a schedule less its records: what is still to play is computed from what is on disk.

So continuing is the ordinary way of running. A run lives in a folder: the file of records
(`games.jsonl`), the last copy of its tournament file, what the referee itself failed at (`void.jsonl`),
kept dialogues (`dialogues.jsonl`), and a lock that the kernel lets go of when its holder dies.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import BrokenBarrierError
from typing import Any, Protocol

from referee.core.errors import EnvironmentLacksError, RecordError, StorageError, UsageError
from referee.core.pairing import Pairing
from referee.core.text import shown
from referee.processes.bot import Bot
from referee.records import journal
from referee.records.header import apply_change, other_origin, read_header
from referee.records.record import Summary, head_of, parse_json, summary, timed_moves
from referee.tournament.config import Config
from referee.tournament.encounter import FailedStarts
from referee.tournament.plan import Plan, checked_seed
from referee.tournament.schedule import Encounter, round_robin
from referee.tournament.workers import Began, Finished, Remains, Report, Task, Void, Workers

VOIDS = 2
"""After so many failures of the referee's own a game is not tried again."""

WORKER_FAILURES = 3
"""So often in a row all workers may die before a game is begun."""

DIALOGUES_CAP = 256 << 20
"""Bytes of kept dialogues of a run."""

_LOCK = "lock"
_VOID = "void.jsonl"
DIALOGUES = "dialogues.jsonl"
_FROZEN = "tournament.toml"
_BEGINNING = b'{"kind":"tournament",'


@dataclass
class Run:
    """A run's folder as it was read: the plan, and every game that counts."""

    folder: Path
    header: dict[str, Any]
    """The first line, with the changes applied that came later."""
    games: dict[str, Summary]
    """By id, in the order in which they were finished."""
    voids: Counter[str]
    last_hash: str
    length: int
    """Bytes of the file of records, without a torn last line."""
    torn: int
    """Bytes of that line."""

    @property
    def unscored(self) -> list[str]:
        """The games that stay void."""
        return [game for game, count in self.voids.items() if count >= VOIDS and game not in self.games]


def read_run(folder: Path) -> Run:
    """A run from its folder. Reads the heads of the records, not their moves.

    Raises `UsageError` where there is no run, `RecordError` where a line is damaged.
    """
    header: dict[str, Any] = {}
    games: dict[str, Summary] = {}
    last_hash, length, torn = journal.FIRST, 0, 0
    for line in journal.read(folder):
        where = f"line {line.number} of `{shown(str(folder / journal.NAME))}`"
        if line.torn:
            torn = len(line.text)
            break
        if line.flaw:
            raise RecordError(f"{where}: {line.flaw}")
        try:
            value = head_of(line.text)
            if line.number == 1:
                header = read_header(value)
            elif value.get("kind") == "game":
                game = summary(value)
                if not set(game.bots) <= set(header["bots"]):
                    raise RecordError("it has a bot that is not in this run")
                games.setdefault(game.id, game)
            elif value.get("kind") == "change":
                apply_change(header, value)
        except RecordError as error:
            raise RecordError(f"{where}: {error}") from None
        last_hash = line.hash
        length += len(line.text) + 1
    if not header:
        raise RecordError(f"`{shown(str(folder / journal.NAME))}` has no whole first line")
    return Run(folder, header, games, _read_voids(folder), last_hash, length, torn)


def _read_voids(folder: Path) -> Counter[str]:
    voids: Counter[str] = Counter()
    path = folder / _VOID
    if path.is_file():
        with path.open("rb") as file:
            for line in file:
                try:
                    voids[str(parse_json(line).get("id"))] += 1
                except RecordError:
                    continue  # torn; nothing depends on it but how often a game is tried
    return voids


class Show(Protocol):
    """Who is told how a tournament goes."""

    def began(self, game: str) -> None:
        """A game is on."""

    def finished(self, game: Summary, record: dict[str, Any]) -> None:
        """A game counts: it is on the disk."""

    def note(self, line: str) -> None:
        """Something a person should know."""

    def tick(self) -> None:
        """Time passed."""


class Tournament:
    """A run that is open for playing; only one referee at a time can hold it."""

    def __init__(self, config: Config, folder: Path) -> None:
        """Takes a folder, which may be another tournament's: only the lock is written before `begin`.

        Raises `UsageError` where the folder is another tournament's or another referee is at work,
        `RecordError` where a record is damaged, `StorageError` where it cannot be written.
        """
        self.config = config
        self.folder = folder
        self._starts = FailedStarts()
        self._begun = 0
        self.timed: Counter[str] = Counter()
        """The moves since this run was opened, as `timed_moves` counts them."""
        self._messy: set[str] = set()
        """The bots of which processes were left behind; told once."""
        self._journal: journal.Journal | None = None
        journal.make_folder(folder)
        self._lock = _lock(folder)
        try:
            self.run = read_run(folder) if _has_begun(folder) else None
            seed = self.run.header.get("seed") if self.run else None
            self.plan = Plan(
                config.game,
                config.options,
                config.entrants,
                config.seed or (str(seed) if seed else checked_seed(None)),
                config.margin_us,
                config.rejections,
                config.start_us,
            )
            if self.run:
                self._check(self.run.header)
            elif (folder / _FROZEN).exists():
                raise UsageError(
                    f"`{shown(str(folder))}` has a `{_FROZEN}` and no results, expected a new folder"
                )
        except BaseException:
            os.close(self._lock)
            raise

    def begin(self, note: Callable[[str], None]) -> None:
        """Makes the folder ready to take games, now that the bots' programs are there."""
        files = {entrant.bot.name: hashes(entrant.bot) for entrant in self.config.entrants}
        if self.run:
            self._continue(self.run, files, note)
        else:
            self._begin(files)

    def _begin(self, files: dict[str, dict[str, str]]) -> None:
        header = {**self.plan.header(), "rounds": self.config.rounds, "files": files}
        (self.folder / journal.NAME).unlink(missing_ok=True)  # at most a torn first line
        self._journal = journal.Journal(self.folder)
        self._journal.append(header)
        self._freeze()
        self.run = Run(self.folder, header, {}, Counter(), "", 0, 0)

    def _continue(self, run: Run, files: dict[str, dict[str, str]], note: Callable[[str], None]) -> None:
        change = self._change(run.header, files)
        if changed := [name for name in change.get("files", ()) if name not in change.get("bots", ())]:
            note(f"changed since these games began: the program of {', '.join(changed)}")
        if run.torn:
            note(f"the last record was torn by a crash, {run.torn} bytes; its game is played again")
            change["torn"] = run.torn
        self._journal = journal.Journal.reopen(self.folder, run.last_hash, run.length)
        if change:
            self._journal.append({"kind": "change", "when": _now(), **change})
            apply_change(run.header, change)
            self._freeze()

    def _check(self, header: dict[str, Any]) -> None:
        """Raises `UsageError` where anything was changed but bots and rounds that were added."""
        wrong = []
        now = self.plan.header()
        for name in ("game", "rules", "options", "margin_us", "rejections", "start_us", "seed"):
            if now[name] != header.get(name):
                wrong.append(f"`{name}` is {now[name]}, and was {header.get(name)}")
        if difference := other_origin(header, self.config.game):
            wrong.append(difference)
        before = header["bots"]
        for name, was in before.items():
            if name not in now["bots"]:
                wrong.append(f"bot `{name}` is missing")
                continue
            is_now = now["bots"][name]
            for key in {**is_now, **was}:
                if is_now.get(key) != was.get(key):
                    wrong.append(f"`{key}` of bot `{name}` is {is_now.get(key)}, and was {was.get(key)}")
        if "rounds" not in header:
            wrong.append("these are the records of a match")
        elif self.config.rounds < header["rounds"]:
            wrong.append(f"`rounds` is {self.config.rounds}, and was {header['rounds']}")
        if wrong:
            raise UsageError(
                f"`{shown(str(self.folder))}` has the results of another tournament: "
                f"{shown('; '.join(wrong), 600)}; expected the same one, or more bots or rounds"
            )

    def _change(self, header: dict[str, Any], files: dict[str, dict[str, str]]) -> dict[str, Any]:
        """What was added to a tournament."""
        now, before = self.plan.header(), header["bots"]
        change: dict[str, Any] = {}
        if added := {name: what for name, what in now["bots"].items() if name not in before}:
            change["bots"] = added
        if self.config.rounds > header["rounds"]:
            change["rounds"] = self.config.rounds
        known = header.get("files", {})
        if changed := {name: what for name, what in files.items() if known.get(name) != what}:
            change["files"] = changed
        return change

    def _freeze(self) -> None:
        """Keeps a copy of the tournament file beside the results."""
        fresh = self.folder / f"{_FROZEN}.new"
        try:
            fresh.unlink(missing_ok=True)
            fresh.write_bytes(self.config.text)
            fresh.replace(self.folder / _FROZEN)
        except OSError as error:
            raise StorageError(f"cannot write to `{shown(str(self.folder))}`: {error.strerror}") from None

    def close(self) -> None:
        """Lets go of the folder."""
        if self._journal:
            self._journal.close()
        os.close(self._lock)

    @property
    def total(self) -> int:
        """How many games there are in all."""
        return sum(len(encounter.games) for encounter in self._schedule())

    @property
    def games(self) -> dict[str, Summary]:
        """Those that count so far."""
        assert self.run
        return self.run.games

    @property
    def _voids(self) -> Counter[str]:
        assert self.run
        return self.run.voids

    @property
    def unscored(self) -> list[str]:
        """Those that stay void."""
        assert self.run
        return self.run.unscored

    @property
    def suspects(self) -> Counter[str]:
        """How often each bot sat in a game that went void. A bot can bring that about."""
        seen: Counter[str] = Counter()
        for game, count in self._voids.items():
            for name in set(Pairing.parse(game).bots):
                seen[name] += count
        return seen

    def _schedule(self) -> Iterator[Encounter]:
        return round_robin(self.plan.names, self.config.game.seats(self.config.options), self.config.rounds)

    def tasks(self) -> Iterator[Task]:
        """What is still to play, in its order."""
        for encounter in self._schedule():
            games = tuple(
                (pairing, self._voids[pairing.id] + 1)
                for pairing in encounter.games
                if pairing.id not in self.games and self._voids[pairing.id] < VOIDS
            )
            if games:
                yield Task(self.plan, games, self.config.keep)

    def play(self, workers: int, pin: bool, show: Show, stopping: Callable[[], bool]) -> None:
        """Plays what is still to play, until it is done or somebody asks to stop.

        Raises `StorageError` where a game cannot be stored, `EnvironmentLacksError` where no worker lives.
        """
        self._show = show
        self._todo = self.tasks()
        self._again: deque[Task] = deque()
        self._in_flight: dict[str, int] = {}
        failures = 0
        while not stopping():
            begun = self._begun
            try:
                staff = Workers(workers, pin, self._take, stopping)
                if self._play_with(staff, stopping) or stopping():
                    return
            except (BrokenProcessPool, BrokenBarrierError):
                pass  # they died before they were all there
            failures = failures + 1 if self._begun == begun else 0
            if failures == WORKER_FAILURES:
                raise EnvironmentLacksError("the workers die before they begin a game")
            show.note("a worker died; what it played is played again")

    def _next(self) -> Task | None:
        """What to play next: what is played again last, so that it holds nothing up."""
        task = next(self._todo, None) or (self._again.popleft() if self._again else None)
        return task and replace(task, given_up=self._starts.given_up)

    def _play_with(self, workers: Workers, stopping: Callable[[], bool]) -> bool:
        """Plays with one set of workers; false where one of them died and they are of no more use."""
        running: dict[Future[None], Task] = {}
        try:
            while True:
                if stopping():
                    workers.stop()
                    running = {future: task for future, task in running.items() if not future.cancel()}
                while not stopping() and len(running) < workers.room and (task := self._next()):
                    try:
                        running[workers.submit(task)] = task
                    except BrokenProcessPool:
                        self._take_back([task, *running.values()], stopping(), workers.casualties())
                        return False
                if not running:
                    return True
                workers.listen(0 if any(future.done() for future in running) else 0.1)
                self._show.tick()
                done = [future for future in running if future.done()]
                if done:
                    workers.listen(0)  # what they reported last
                for future in done:
                    if isinstance(future.exception(), BrokenProcessPool):
                        self._take_back(running.values(), stopping(), workers.casualties())
                        return False
                    future.result()
                    del running[future]
        finally:
            workers.close()

    def _take_back(self, tasks: Iterable[Task], stopping: bool, casualties: Collection[int]) -> None:
        """The workers that had these are no more. Void are the games of those that died by themselves,
        unless somebody stops the run; the others lose nothing but time.
        """
        for task in tasks:
            waiting = []
            for pairing, attempt in task.games:
                worker = self._in_flight.pop(pairing.id, None)
                if worker is not None and not stopping and (worker in casualties or not casualties):
                    self._take(Void(pairing.id, attempt, "the worker that played it died"))
                elif pairing.id not in self.games and self._voids[pairing.id] < attempt:
                    waiting.append((pairing, attempt))
            if waiting:
                self._again.append(Task(task.plan, tuple(waiting), task.keep))

    def _take(self, report: Report) -> None:
        """Takes down what a worker reports. A game counts when it is on the disk."""
        match report:
            case Began(game, worker):
                self._begun += 1
                self._in_flight[game] = worker
                self._show.began(game)
            case Finished(record, dialogue):
                assert self._journal
                self._journal.append(record)
                self.timed.update(timed_moves(record))
                game_summary = summary(record)
                self.games[game_summary.id] = game_summary
                self._in_flight.pop(game_summary.id, None)
                self._starts.note(game_summary)
                if dialogue:
                    self._keep(game_summary, dialogue)
                self._show.finished(game_summary, record)
            case Remains(bot, found):
                if bot not in self._messy:
                    self._messy.add(bot)
                    self._show.note(f"bot `{bot}` left behind what was ended: {found}")
            case Void(game, attempt, error):
                self._in_flight.pop(game, None)
                self._voids[game] += 1
                _append(self.folder / _VOID, {"id": game, "attempt": attempt, "when": _now(), "error": error})
                again = self._voids[game] < VOIDS
                self._show.note(
                    f"{game}: the referee itself failed ({shown(error.strip().splitlines()[-1])}), "
                    + ("it is played again" if again else "it stays without a result")
                )
                if again:
                    pairing = Pairing.parse(game)
                    self._again.append(Task(self.plan, ((pairing, attempt + 1),), self.config.keep))

    def _keep(self, game: Summary, dialogue: str) -> None:
        """Keeps a dialogue, as long as those that are kept do not fill the disk."""
        path = self.folder / DIALOGUES
        size = path.stat().st_size if path.exists() else 0
        if size + len(dialogue) <= DIALOGUES_CAP:
            _append(path, {"id": game.id, "attempt": game.attempt, "dialogue": dialogue})


def _append(path: Path, value: dict[str, Any]) -> None:
    """Adds a line to a file that nothing depends on."""
    try:
        with path.open("a", encoding="ascii") as file:
            file.write(json.dumps(value, separators=(",", ":")) + "\n")
    except OSError as error:
        raise StorageError(f"cannot write to `{shown(str(path))}`: {error.strerror}") from None


def dialogues(folder: Path, games: Collection[str]) -> dict[str, str]:
    """The kept dialogues of these games, each the last attempt's."""
    found = {}
    path = folder / DIALOGUES
    if path.is_file():
        with path.open("rb") as file:
            for line in file:
                try:
                    value = parse_json(line)
                except RecordError:
                    continue
                if value.get("id") in games:
                    found[str(value["id"])] = str(value.get("dialogue"))
    return found


def hashes(bot: Bot) -> dict[str, str]:
    """The SHA-256 of every file that a bot's command names, its program first."""
    found = {}
    program, *rest = bot.argv
    path = shutil.which(program, path=bot.environment().get("PATH", os.defpath))
    candidates = [(bot.command[0], bot.cwd / (path or program))] if bot.command[0] != "{python}" else []
    for word in rest:
        candidates.append((word, bot.cwd / word))
    for word, file in candidates:
        try:
            if file.is_file():
                with file.open("rb") as opened:
                    found[word] = hashlib.file_digest(opened, "sha256").hexdigest()
        except OSError:
            continue  # it cannot be read; whether it can be started is not judged here
    return found


def _has_begun(folder: Path) -> bool:
    """Whether there is a file of records with a whole first line; before that nothing was played.

    Raises `RecordError` for a first line without an end that is not the beginning of ours.
    """
    path = folder / journal.NAME
    if not path.exists():
        return False
    first = next(journal.read(folder), None)
    if first is None or not first.torn:
        return first is not None
    if not (first.text.startswith(_BEGINNING) or _BEGINNING.startswith(first.text)):
        raise RecordError(f"line 1 of `{shown(str(path))}`: {first.flaw}")
    return False


def _lock(folder: Path) -> int:
    """The folder's lock, held until its descriptor is closed or its holder dies."""
    try:
        lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise UsageError(
                f"another referee is at work in `{shown(str(folder))}`, expected one at a time"
            ) from None
    except OSError as error:
        raise UsageError(f"cannot write to `{shown(str(folder))}`: {error.strerror}") from None
    return lock


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
