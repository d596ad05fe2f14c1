"""Floral Extract, by e_is_cool and elara: grow flowers by casting runes, and guess the other's runes. Pure.

Two seats, hidden information, both submit at once. Each seat has a secret mapping of its eight symbols to
the identities 0 to 7. The notation, the options, the order of a turn and of the reasons are those of
`protocol/games/floral.md`.
"""

from __future__ import annotations

from collections.abc import Sequence

from referee.core.seeds import Random
from referee.core.units import TimeControl
from referee.games.api import Game, NumberOption, Options, Seat
from referee.games.floral.gardens import FloralRules
from referee.games.floral.imagining import imagined
from referee.games.floral.news import TURNS
from referee.games.floral.spells import Spells, SpellsOption
from referee.games.floral.state import FloralState


class FloralExtract(Game[str]):
    """The rules of Floral Extract."""

    slug = "floral"
    name = "Floral Extract"
    rules = 1
    can_be_estimated = False
    is_open = False
    common_panels = "others"
    options = (
        SpellsOption(
            "spells",
            "conditions of Water, Fertilize and Weather, such as `set 3 {1,2,5}; sum 4 9-17; seq 3 < >=`",
        ),
        NumberOption("goal", 1, 5, 4, "correct guesses needed to win"),
        NumberOption("max_turns", 1, 1000, 200, "turns after which the seat with more points wins"),
    )
    clock = TimeControl.parse("60s")
    summary = (
        "Each of two seats has eight symbols, which secretly stand for the runes 0 to 7. Before turns 1,\n"
        "6, 11 and so on each plants a flower; in each turn both cast a rune at once. Runes in the right\n"
        "order are spells that water, fertilize, change the weather or sabotage. A flower that blooms\n"
        "gives access to the guessing spell: cast several different runes in a row, then name a symbol of\n"
        "the other seat. The guess is correct if that symbol stands for the rune cast in the turn before.\n"
        "The first seat with `goal` correct guesses wins. When the time is up, a default is submitted and\n"
        "play continues."
    )
    notation = (
        "one character. Planting: the letter of a flower (A C H W X), or - for none. Casting: a symbol,\n"
        "A to H for seat 1 and S to Z for seat 2, or the digit of one of the seat's own runes."
    )
    counted = "guesses"

    def aim(self, options: Options) -> str:
        """How many correct guesses win."""
        return f"the first with {options['goal']} correct guesses wins"

    def seats(self, options: Options) -> int:
        """Two seats."""
        return 2

    def longest(self, options: Options) -> int:
        """Maximum number of submissions: a cast of each seat per turn, and a planting of each per casting
        phase.
        """
        turns = int(options["max_turns"])
        return 2 * (turns + (turns + TURNS - 1) // TURNS)

    def start(self, options: Options) -> FloralState:
        """The position with nothing planted and nothing drawn."""
        spells = Spells.parse(str(options["spells"])) if options["spells"] else None
        return FloralState.begun(FloralRules.of(spells, int(options["goal"]), int(options["max_turns"])))

    def imagine(self, options: Options, seat: Seat, seen: Sequence[str], rng: Random) -> FloralState:
        """A random consistent position; all are equally likely."""
        return imagined(self.start(options), seat, seen, rng)
