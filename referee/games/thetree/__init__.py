"""The Tree, by Néstor Romeral Andrés: lay tiles so that each symbol has a ring more than the one below. Pure.

One to four seats, hidden hands. The notation, the options and the order of reasons are those of
`protocol/games/thetree.md`.
"""

from referee.games.thetree.game import TheTree
from referee.games.thetree.state import TreeState

__all__ = ["TheTree", "TreeState"]
