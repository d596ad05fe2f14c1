"""The Tree, by Néstor Romeral Andrés: lay tiles so that each symbol has a ring more than the one below. Pure.

One to four seats, hidden hands. The notation, the options and the order of reasons are those of
`protocol/games/thetree.md`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from referee.core.errors import GameOptionError
from referee.core.seeds import Random
from referee.core.text import counted, listed
from referee.core.units import TimeControl
from referee.games.api import ChoiceOption, Game, NumberOption, Options, Policy, Seat, State
from referee.games.thetree.imagining import imagined
from referee.games.thetree.state import TreeState, quick_move
from referee.games.thetree.table import TreeRules
from referee.games.thetree.tree import TILES, Laying


class TheTree(Game[Laying]):
    """The rules of The Tree."""

    slug = "thetree"
    name = "The Tree"
    rules = 1
    is_open = False
    common_panels = "others"
    seats_text = "1 to 4"
    options = (
        NumberOption("players", 1, 4, 2, "seats"),
        NumberOption(
            *("deals", 1, 100, None),
            "maximum number of deals; a new one follows only if a deal is blocked; "
            "by default 10, or 1 with one player",
        ),
        ChoiceOption("places", ("all", "first"), "play on for the remaining places, or stop after the first"),
    )
    clock = TimeControl.parse("60s+300s")
    summary = (
        "Each of one to four seats holds nine tiles of a double-seven set, hidden from the others. A\n"
        "symbol is a set of rings: the pip is worth 1, the small circle 2, the big circle 4. A tile is\n"
        "laid above others like a brick in a wall, so that every symbol has the rings of the symbol\n"
        "below and one more. A tile that rests on two, or fills a hole under one, gives another turn. A\n"
        "seat without a move draws a tile. The first seat to lay its whole hand takes the best place. A\n"
        "seat that plays alone wins if it lays all tiles."
    )
    notation = (
        "`5-1@3,3`: the symbols from left to right, and x and y of the left half. The first tile has its\n"
        "left half at 0,0; x and y are both even or both odd."
    )
    counted = "tiles"

    def policy(self) -> Policy[Laying]:
        """Lays what gives another turn and what rarely fits, with some luck."""

        def chosen(state: State[Laying], seat: Seat, rng: Random) -> Laying:
            assert isinstance(state, TreeState)
            return quick_move(state, seat, rng)

        return chosen

    def settle(self, given: Mapping[str, str]) -> Options:
        """The values of all options; with one player there is one deal."""
        options = super().settle(given)
        if options["players"] == 1 and options["deals"] != 1:
            raise GameOptionError(f"option `deals` is `{options['deals']}`, expected 1 with one player")
        return options

    def default_of(self, name: str, settled: Options) -> int:
        """Ten deals, or one with one player."""
        return 1 if settled["players"] == 1 else 10

    def aim(self, options: Options) -> str:
        """Who has laid a whole hand."""
        return "laying all tiles wins" if options["players"] == 1 else "the first to lay all tiles wins"

    def told(self, line: str) -> str:
        """A line of news as a sentence."""
        match line.split(" "):
            case ["deal", number, supply]:
                return f"deal {number}: {counted(int(supply), 'tile')} in the supply"
            case ["hand", seat, *tiles]:
                return f"seat {seat} holds {listed(tiles)}"
            case ["opened", seat, move]:
                return f"seat {seat} opened with {move}"
            case ["move", seat, move]:
                return f"seat {seat} laid {move}"
            case ["drew", seat, *tile]:
                return f"seat {seat} drew {tile[0] if tile else 'a tile'}"
            case ["passed" | "finished" as what, seat]:
                return f"seat {seat} {what}"
            case ["out", seat]:
                return f"seat {seat} is out"
            case ["out", *seats]:
                return f"seats {', '.join(seats)} are out"
            case ["blocked"]:
                return "the deal is blocked"
            case _:
                return line

    def seats(self, options: Options) -> int:
        """The number of players."""
        return int(options["players"])

    def longest(self, options: Options) -> int:
        """Maximum number of moves: every tile but the first, in every deal."""
        return int(options["deals"]) * (len(TILES) - 1)

    def start(self, options: Options) -> TreeState:
        """The position before the first deal."""
        rules = TreeRules(int(options["players"]), int(options["deals"]), options["places"] == "first")
        return TreeState.begun(rules)

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> TreeState:
        """Deals hidden tiles at random so that all moves, draws and passes in the news are possible."""
        return imagined(self.start(options), seat, seen, rng)
