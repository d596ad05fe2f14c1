"""Floral Extract, by e_is_cool and elara: grow flowers by casting runes, and guess the other's runes. Pure.

Two seats, hidden information, both submit at once. Each seat has a secret mapping of its eight symbols to
the identities 0 to 7. The notation, the options, the order of a turn and of the reasons are those of
`protocol/games/floral.md`.
"""

from referee.games.floral.game import FloralExtract
from referee.games.floral.sides import SYMBOLS
from referee.games.floral.state import FloralState

__all__ = ["SYMBOLS", "FloralExtract", "FloralState"]
