"""Verifies a run: each line of its records by itself, in several processes where there are many, and against
those before it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from referee.core.errors import RecordError, UsageError
from referee.core.fields import Fields
from referee.core.seeds import game_seed, shared_by, shared_seed
from referee.core.text import counted, shown
from referee.core.work import Advance, untold
from referee.games.api import Game
from referee.processes.parallel import in_order
from referee.ratings.notes import format_from_file
from referee.records import journal
from referee.records.header import NO_HEADER, Header
from referee.records.heads import Head
from referee.records.journal import JournalLine
from referee.records.replay import ExaminedLine, examined, openings_of_run
from referee.tournament.formats import Amount
from referee.tournament.run.run_state import RunState

_HASH = re.compile(r"[0-9a-f]{64}")

T = TypeVar("T")


class HasText(Protocol):
    """What has the text of a line."""

    @property
    def text(self) -> bytes:
        """Without its newline."""


L = TypeVar("L", bound=HasText)


class Problem(NamedTuple):
    """What is wrong with a line of records."""

    line: int  # counted from 1
    game: str  # the id of its game, as it stands in the line; empty where it is not the line of a game
    what: str


class Verification(NamedTuple):
    """What the verification of a run found, besides the problems of single lines."""

    file: str  # the path of the records, as it is shown
    games: int
    in_all: Amount | None  # how many games the run has in all; None where that is not known
    head_hash: str  # the hash of the last line
    noted: str | None  # the head hash that a line is to have
    lines_after: int | None  # how many lines follow the one with the noted hash; None where there is none
    failed_lines: int
    unverified_seeds: int
    unknown_format: str  # the name of the format where the schedule cannot be checked

    @property
    def error(self) -> str:
        """What is wrong with the records, as a sentence; empty if nothing is."""
        if failed := self.failed_lines:
            return f"{failed} line{'s' * (failed > 1)} of `{self.file}` failed verification"
        if not self.games:
            return f"no games in `{self.file}`, expected at least one"
        if self.noted is not None and self.lines_after is None:  # guard: head-hash
            return (
                f"no line of `{self.file}` has the head hash `{self.noted}`: records are missing at the end, "
                "or were rewritten"
            )
        return ""

    @property
    def notes(self) -> list[str]:
        """What could not be verified, as sentences."""
        found = []
        if self.unverified_seeds:
            found.append(
                f"the seeds of {self.unverified_seeds} games are not verified, because the seed that they "
                "are derived from is not in the records; a run stores it when it ends or is stopped, but not "
                "when it is killed"
            )
        if self.unknown_format:
            found.append(f"the schedule is not checked: {format_from_file(self.unknown_format)}")
        return found


def verification(
    file: Path,
    tell: Callable[[Problem], object],
    workers: int,
    noted: str | None = None,
    game: Game[Any] | None = None,
    advance: Advance = untold,
) -> Verification:
    """Replays every game of a file of records, or of the one in a folder, by the rules and the clocks, and
    compares the result with the record. `tell` is called with each problem as it is found.

    `workers` processes replay the games, with 0 this one. `noted` is the head hash that a line is to have,
    `game` the game that the user named, as for `RunVerifier`, and `advance` as in `journal.read`. Raises
    `UsageError` where `noted` is no hash or the game is not available, and what `each_line` raises.
    """
    if noted is not None and not _HASH.fullmatch(noted):
        raise UsageError(f"the head hash is `{shown(noted, 80)}`, expected a hash of 64 hexadecimal digits")
    state = RunState()
    verifier = RunVerifier(state, game)
    lines_after: int | None = None
    failed = 0
    with closing(examined_lines(journal.read(file, advance), workers)) as lines:
        for line, of_line in lines:
            if problem := _problem(verifier, line, of_line):
                failed += 1
                tell(problem)
            if line.hash == noted:
                lines_after = 0
            elif lines_after is not None:
                lines_after += 1
    return Verification(
        shown(str(file)),
        state.played_games,
        state.games_in_all if state.played_games else None,
        state.last_hash,
        noted,
        lines_after,
        failed,
        verifier.unverified_seeds,
        state.header.format_name if state.lines and not state.format else "",
    )


def _problem(verifier: RunVerifier, line: JournalLine, examined: ExaminedLine) -> Problem | None:
    is_game = examined.value.get("kind") == "game"
    found = [line.error] if line.error else []
    try:
        verifier.take(line, examined)
    except RecordError as error:
        found += [] if found and not is_game else [str(error)]
    game = shown(str(examined.value.get("id")), 100) if is_game else ""
    return Problem(line.number, game, "; ".join(found)) if found else None


CHUNK_BYTES = 1 << 16
"""How many bytes of lines a process is given at once, at least: enough that a few games take longer than to
send them, and little enough that the processes end at about the same time.
"""


def examined_lines(
    lines: Iterable[JournalLine], workers: int
) -> Generator[tuple[JournalLine, ExaminedLine], None, None]:
    """The lines in their order, each with what the verification of it alone found.

    They are examined as `each_line` does it; raises what it raises.
    """
    lines = iter(lines)
    first = next(lines, None)
    if first is not None:
        openings = openings_of_run(first.text)
        yield from each_line(chain([first], lines), workers, lambda text: examined(text, openings))


def each_line(
    lines: Iterable[L], workers: int, examine: Callable[[bytes], T]
) -> Generator[tuple[L, T], None, None]:
    """The lines in their order, each with what `examine` gives for its text; that is sent as a pickle.

    They are divided among processes as `in_order` does it, some at a time, so that a few lines need no other
    process; raises what it raises.
    """
    taken: deque[list[L]] = deque()

    def texts() -> Iterator[list[bytes]]:
        for chunk in _chunks(lines):
            taken.append(chunk)
            yield [line.text for line in chunk]

    def examine_all(chunk: list[bytes]) -> list[T]:
        return [examine(text) for text in chunk]

    with closing(in_order(examine_all, texts(), workers)) as results:
        for found in results:
            yield from zip(taken.popleft(), found, strict=True)


def _chunks(lines: Iterable[L]) -> Iterator[list[L]]:
    chunk: list[L] = []
    size = 0
    for line in lines:
        chunk.append(line)
        size += len(line.text)
        if size >= CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


class RunVerifier:
    """Verifies the lines of a run in their order."""

    def __init__(self, state: RunState, given: Game[Any] | None = None) -> None:
        """`state` is that before the first line. `given` is the game that the user named, which is needed for
        a game from a file.
        """
        self.state = state  # what the lines so far say
        self._given = given
        self._seeds = SeedVerifier(NO_HEADER)

    @property
    def unverified_seeds(self) -> int:
        """How many games so far have a seed that has not been revealed, so that only its use is verified."""
        return self._seeds.unverified

    def take(self, line: JournalLine, examined: ExaminedLine) -> None:
        """Verifies the next line. Raises `RecordError`, or `UsageError` where the game is not available."""
        if not examined.value:
            raise RecordError(examined.error)
        match self.state.take(line.text, line.hash):
            case Head():
                if examined.error:
                    raise RecordError(examined.error)
                self.state.header.check_game(examined.value)
                self._seeds.take_game(examined.value)
            case {"kind": "tournament"}:
                self._seeds = SeedVerifier(self.state.header)
                self._check_origins()
            case {"kind": "change"} as change:
                self._seeds.take_change(change)

    def _check_origins(self) -> None:
        """Raises `RecordError` where a game from outside is another one than that which was played."""
        sections = self.state.header.sections.values()
        for section in sections:
            is_given = self._given and (len(sections) == 1 or self._given.slug == section.game)
            if is_given or section.origin:
                game = section.available(self._given if is_given else None)
                if difference := section.other_origin(game):
                    raise RecordError(difference)


class _Claim(NamedTuple):
    """What a game's record says of its seeds."""

    id: str
    seed: bytes
    shared: bytes | None  # the shared seed, where this is the first game that has it


class SeedVerifier:
    """Takes the lines of a run that the header and the changes in them have already been checked of.

    A seed that bots must not know is stored as a hash before its games, and revealed after them. The games
    between the two are remembered, and verified when it is revealed.
    """

    def __init__(self, header: Header) -> None:
        self._seed = header.seed
        """The seed of the games that follow; None as long as it is not revealed."""
        self._waiting: list[_Claim] = []
        self._lost = 0  # how many games have a seed that was replaced before it was revealed
        self._shared: dict[str, bytes] = {}  # the shared seeds so far, by the games that share them

    @property
    def unverified(self) -> int:
        """How many games so far have a seed that has not been revealed."""
        return self._lost + len(self._waiting)

    def take_change(self, change: dict[str, Any]) -> None:
        """Verifies the games whose seed a `change` reveals. Raises `RecordError`."""
        if "seed_sha256" in change:
            self._lost += len(self._waiting)
            self._waiting.clear()
            self._seed = None
        if "seed" in change:
            seed = self._seed = str(change["seed"])
            waiting, self._waiting = self._waiting, []
            wrong = [claim.id for claim in waiting if not _follows(claim, seed)]
            if wrong:  # guard: revealed-seeds
                some = shown(", ".join(wrong[:3]), 300)
                of = f"the seeds of {counted(len(wrong), 'game')}"
                raise RecordError(f"{of} are not derived from this seed: {some}")

    def take_game(self, game: dict[str, Any]) -> None:
        """Verifies the seeds of a game, as far as its seed is revealed. Raises `RecordError`."""
        fields = Fields(game, "", RecordError)
        game_id, seed, shared = fields.text("id"), fields.hex("seed"), fields.hex("shared_seed")
        first = self._shared.get(shared_by(game_id))
        if first not in (None, shared):  # guard: one-shared-seed
            raise RecordError("its shared seed differs from that of the earlier games that share it")
        claim = _Claim(game_id, seed, shared if first is None else None)
        if self._seed is None:
            self._waiting.append(claim)
        elif not _follows(claim, self._seed):
            raise RecordError("its id and its seeds do not match")
        self._shared[shared_by(game_id)] = shared


def _follows(claim: _Claim, seed: str) -> bool:
    """Whether the seeds of a game are those that a run with this seed derives."""
    if claim.seed != game_seed(seed, claim.id):
        return False
    return claim.shared is None or claim.shared == shared_seed(seed, claim.id)
