"""Maximum matchings: the most pairs that can be formed where not everybody can meet everybody. Pure."""

from __future__ import annotations

from collections.abc import Sequence

_NONE = -1


def maximum_matching(neighbours: Sequence[Sequence[int]]) -> list[int]:
    """Returns the partner of each vertex in a largest matching of a graph, or -1; `neighbours` has those of
    each vertex.

    Edmonds' algorithm: augmenting paths, in which blossoms (cycles of odd length) are contracted. It takes at
    most time in the cube of the number of vertices.
    """
    mate = [_NONE] * len(neighbours)
    for vertex, others in enumerate(neighbours):
        if mate[vertex] == _NONE:
            for other in others:
                if mate[other] == _NONE:
                    mate[vertex], mate[other] = other, vertex
                    break
    for root in range(len(neighbours)):
        if mate[root] == _NONE:
            _PathSearch(neighbours, mate, root).augment()
    return mate


class _PathSearch:
    """The search for an augmenting path from a vertex without a partner."""

    def __init__(self, neighbours: Sequence[Sequence[int]], mate: list[int], root: int) -> None:
        self._neighbours = neighbours
        self._mate = mate
        self._root = root
        self._parent = [_NONE] * len(mate)
        """By vertex at an odd distance from the root, the vertex that it was reached from."""
        self._base = list(range(len(mate)))
        """The base of the contracted blossom that each vertex is in; the vertex itself where it is in none.
        """
        self._queue = [root]
        self._queued = {root}

    def augment(self) -> None:
        """Adds a pair to the matching if there is a path for it."""
        vertex = self._end_of_path()
        while vertex != _NONE:
            before = self._parent[vertex]
            following = self._mate[before]
            self._mate[vertex], self._mate[before] = before, vertex
            vertex = following

    def _end_of_path(self) -> int:
        """The last vertex of an augmenting path, or -1."""
        for vertex in self._queue:
            for other in self._neighbours[vertex]:
                if self._base[vertex] == self._base[other] or self._mate[vertex] == other:
                    continue
                if other == self._root or self._is_odd(self._mate[other]):
                    self._contract(vertex, other)
                elif self._parent[other] == _NONE:
                    self._parent[other] = vertex
                    if self._mate[other] == _NONE:
                        return other
                    self._enqueue(self._mate[other])
        return _NONE

    def _is_odd(self, mate: int) -> bool:
        return mate != _NONE and self._parent[mate] != _NONE

    def _enqueue(self, vertex: int) -> None:
        if vertex not in self._queued:
            self._queued.add(vertex)
            self._queue.append(vertex)

    def _contract(self, one: int, other: int) -> None:
        """Contracts the blossom that an edge between two vertices at even distances closes."""
        base = self._common_base(one, other)
        inside = self._reparent(one, base, other) | self._reparent(other, base, one)
        for vertex in range(len(self._base)):
            if self._base[vertex] in inside:
                self._base[vertex] = base
                self._enqueue(vertex)

    def _common_base(self, one: int, other: int) -> int:
        """The nearest base that the paths from both vertices to the root share."""
        seen = set()
        vertex = self._base[one]
        seen.add(vertex)
        while vertex != self._base[self._root]:
            vertex = self._base[self._parent[self._mate[vertex]]]
            seen.add(vertex)
        vertex = self._base[other]
        while vertex not in seen:
            vertex = self._base[self._parent[self._mate[vertex]]]
        return vertex

    def _reparent(self, vertex: int, base: int, child: int) -> set[int]:
        """Lets the path from a vertex to the base be walked from the other side; gives the bases on it."""
        inside = set()
        while self._base[vertex] != base:
            inside |= {self._base[vertex], self._base[self._mate[vertex]]}
            self._parent[vertex] = child
            child = self._mate[vertex]
            vertex = self._parent[child]
        return inside
