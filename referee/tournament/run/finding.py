"""Finds games of runs by what is known of them: who played, how they ended, how they began."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from referee.core.errors import RefereeError, UsageError
from referee.core.pairing import Pairing
from referee.core.text import meant, shown
from referee.gameplay.events import Ending
from referee.games.api import NotAMove, Refusal
from referee.records.header import SectionGame
from referee.records.record import Summary, moves_of_line
from referee.tournament.run.reading import Runs, game_named
from referee.tournament.run.run import StoredRun, game_lines, places_of

_ENDINGS = [ending.word for ending in Ending]
_FAULTS = ["any", *(ending.word for ending in Ending if ending.is_fault)]

FoundGames = list[tuple[StoredRun, list[Summary]]]
"""Games by run; every run is in it, also one without games."""


@dataclass(frozen=True, slots=True)
class GameQuery:
    """Which games are looked for: those that fit all that is given."""

    id: str | None = None  # or the number of a game, as `game_named` finds it
    bots: tuple[str, ...] = ()  # all of them played
    section: str | None = None
    round: int | None = None
    won_by: str | None = None  # the bot that was first, maybe with others
    lost_by: str | None = None  # a bot that was not first
    fault: str | None = None
    """The word of a fault that one of `bots` had, or any bot where there are none; `any` for any fault."""
    ending: str | None = None  # the word of an ending
    moves: tuple[str, ...] = ()  # what the game began with; empty ones are left out
    longer: int | None = None  # it had more moves than these
    shorter: int | None = None  # it had fewer
    machine: str | None = None  # the name of the machine that played it
    seat: int | None = None  # the seat of the first of `bots`
    options: Mapping[str, str] = field(default_factory=dict)  # options of the game, as texts

    def check(self, runs: Runs) -> None:
        """Raises `UsageError` where these runs have no such bot, section, seat or option, or there is no such
        ending.
        """
        for what, word, words in (("fault", self.fault, _FAULTS), ("ending", self.ending, _ENDINGS)):
            if word not in (None, *words):
                raise UsageError(f"`{what}` is `{shown(str(word), 80)}`, expected {meant(str(word), words)}")
        for name in (*self.bots, *filter(None, (self.won_by, self.lost_by))):
            if name not in runs.names:
                expected = meant(name, runs.names)
                raise UsageError(f"there is no bot `{shown(name, 80)}` in this run, expected {expected}")
        if self.section is not None and runs.runs:
            _check_section(runs, self.section)
        if self.seat is not None:
            self._check_seat(runs)
        for name, value in self.options.items():
            _check_option(runs, name, value)

    def _check_seat(self, runs: Runs) -> None:
        if not self.bots:
            raise UsageError("`seat` is given without `bot`, expected the bot that sat there")
        if self.seat not in range(runs.seats):
            raise UsageError(f"there is no such seat in this run, expected one of {runs.seats}")

    @property
    def opening(self) -> list[str]:
        """The moves that the games began with, as records have them."""
        return [" ".join(move.split()) for move in self.moves if move.strip()]

    def check_moves(self, runs: Runs) -> None:
        """Raises `UsageError` where one of the moves is none of any game that was played."""
        sections = [section for run in runs.runs for section in run.header.sections.values()]
        for move in self.opening:
            reasons = [_why_no_move(section, move) for section in sections]
            if reasons and all(reasons):
                raise UsageError(f"move `{shown(move, 80)}`: {reasons[0]}")

    def games(self, runs: Runs) -> FoundGames:
        """The games that fit, by run. Raises `UsageError` where none was played on the machine."""
        found = [
            (run, [game for game in run.shown_games if self._fits(game) and self._fits_options(run, game)])
            for run in runs.runs
        ]
        if self.opening or self.longer is not None or self.shorter is not None:
            found = [(run, self._by_moves(run, games)) for run, games in found]
        return found if self.machine is None else _by_machine(found, runs, self.machine)

    def _fits(self, game: Summary) -> bool:
        """Whether a game fits, as far as its summary tells."""
        return (
            self.id in (None, game.id)
            and set(self.bots).issubset(game.bots)
            and (self.seat is None or game.bots[self.seat : self.seat + 1] == self.bots[:1])
            and self._fits_pairing(game.id)
            and self._fits_ending(game)
        )

    def _fits_pairing(self, game_id: str) -> bool:
        if self.section is None and self.round is None:
            return True
        pairing = Pairing.parse(game_id)
        return self.section in (None, pairing.section) and self.round in (None, pairing.number)

    def _fits_ending(self, game: Summary) -> bool:
        faults = set(_FAULTS) if self.fault == "any" else {self.fault}
        return (
            (self.won_by is None or (self.won_by, 1) in zip(game.bots, game.ranks, strict=True))
            and (self.lost_by is None or _is_lost(game, self.lost_by))
            and (self.fault is None or bool(_faults_among(game, self.bots) & faults))
            and self.ending in (None, game.ending)
        )

    def _fits_options(self, run: StoredRun, game: Summary) -> bool:
        if not self.options:
            return True
        played = _options_of(run.header.sections[Pairing.parse(game.id).section])
        return self.options.items() <= played.items()

    def _by_moves(self, run: StoredRun, games: list[Summary]) -> list[Summary]:
        """The games that begin with the given moves and are longer and shorter than what is given."""
        opening = self.opening
        fitting = set()
        for line in game_lines(run, {game.id for game in games}):
            moves = moves_of_line(line.text)
            if moves[: len(opening)] == opening and self._fits_length(len(moves)):
                fitting.add(line.game.id)
        return [game for game in games if game.id in fitting]

    def _fits_length(self, moves: int) -> bool:
        return (self.longer is None or moves > self.longer) and (self.shorter is None or moves < self.shorter)


def found_games(runs: Runs, query: GameQuery) -> FoundGames:
    """The games that fit a query. Raises `UsageError` where these runs cannot have them: there is no such
    game, bot, section or machine, or no game has such a move. Raises `RecordError`.
    """
    if query.id is not None:
        _, game_id = game_named(runs.runs, query.id)
        query = replace(query, id=game_id)
    query.check(runs)
    found = query.games(runs)
    if not any(games for _, games in found):
        query.check_moves(runs)
    return found


def only_found(runs: Runs, query: GameQuery) -> Runs:
    """The runs with those games alone that fit a query. Raises what `found_games` raises."""
    chosen = {run.folder: {game.id for game in games} for run, games in found_games(runs, query)}
    return replace(runs, chosen=chosen)


def _why_no_move(section: SectionGame, text: str) -> str:
    """Why a text is not a move of a section's game in any position; empty if it may be one."""
    try:
        game = section.available()
        game.start(game.settle({})).read(0, text)
    except NotAMove as refusal:
        return refusal.sentence
    except (Refusal, RefereeError, ValueError):
        pass  # a move elsewhere, or nobody can tell
    return ""


def _is_lost(game: Summary, name: str) -> bool:
    return name in game.bots and game.ranks[game.bots.index(name)] > 1


def _faults_among(game: Summary, bots: tuple[str, ...]) -> set[str]:
    """The faults in a game of these bots, or of all if none are named; maybe with the empty word of none."""
    return {word for name, word in zip(game.bots, game.faults, strict=True) if not bots or name in bots}


def _check_section(runs: Runs, section: str) -> None:
    known = list(dict.fromkeys(Pairing.parse(game).section for run in runs.runs for game in run.games))
    if section not in known:
        names = [name for name in known if name]
        expected = meant(section, names) if names else "a run with sections"
        raise UsageError(
            f"there is no section `{shown(section, 80)}` in this run, expected {shown(expected)}"
        )


def _options_of(section: SectionGame) -> dict[str, str]:
    return {name: str(value) for name, value in section.options.items()}


def _check_option(runs: Runs, name: str, value: str) -> None:
    """Raises `UsageError` where no game of the runs was played with this option."""
    known: dict[str, dict[str, None]] = {}  # the values of each option
    for section in (section for run in runs.runs for section in run.header.sections.values()):
        for option, played in _options_of(section).items():
            known.setdefault(option, {})[played] = None
    if name not in known:
        expected = meant(name, [*known]) if known else "a game with options"
        raise UsageError(f"there is no option `{shown(name, 80)}` in this run, expected {shown(expected)}")
    if value not in known[name]:
        expected = shown(meant(value, [*known[name]]))
        raise UsageError(
            f"no game was played with `{shown(name)}={shown(value, 80)}`, expected the value {expected}"
        )


def _by_machine(found: FoundGames, runs: Runs, machine: str) -> FoundGames:
    names = {
        run.folder: {game: place.name for game, place in places_of(run, run.games).items()}
        for run in runs.runs
    }
    known = sorted({name for of_run in names.values() for name in of_run.values()})
    if machine not in known:
        expected = meant(machine, known) if known else "a run with games"
        raise UsageError(f"no game was played on `{shown(machine, 80)}`, expected {shown(expected)}")
    return [
        (run, [game for game in games if names[run.folder].get(game.id) == machine]) for run, games in found
    ]
