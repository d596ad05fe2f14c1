"""Beautiful Vine Tree, by RedsToad: grow flowers, and leave the last growth to the other side. Pure.

Two seats, open information, on a square board. A move grows two vines out of a flower, each as long as
the longest straight segment of vine that comes out of it, with a new flower at each end. The seat that
makes the last move loses. The notation, the options and the order of reasons are those of
`protocol/games/vinetree.md`.
"""

from referee.games.vinetree.game import VineTree

__all__ = ["VineTree"]
