"""Enumeration of closed chains of joints with unknown values that connect different clusters of bodies.

Clusters and the joints between them are a graph that shrinks while the machine becomes known. All closed chains of it
are sought once, each at that of its clusters with most joints, so that the world is passed by no search but its own
(`ChainGraph.closed_chains_of_length`). When two clusters become one, new chains are those that led from one to the
other (`ChainGraph.chains_between`): what is sought then does not depend on the size of the machine.

A closed chain through different clusters stays inside one block of the graph, and that also when joints of the block
become known, so what closes there depends on nothing beyond it (`group_edges`). Blocks are the biconnected
components (Hopcroft and Tarjan, Comm. ACM 16, 1973). Those that gears or couplings tie are one group.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence

from core.constraints.closed_forms.graph import Chain, Edge

Promising = Callable[[Chain], bool]
"""Predicate that is true if a partial chain can be part of a solvable closed chain."""


def accept_every_chain(_: Chain) -> bool:
    """Return True: every chain is accepted."""
    return True


class ChainGraph:
    """Graph of clusters of bodies (named by their first nodes), connected by edges: joints with unknown values."""

    def __init__(self, edges: list[Edge], links: dict[int, tuple[str, str]]) -> None:
        self.edges = edges
        self.links = links
        """Edge → the clusters of its nodes a and b."""
        self.around: dict[str, dict[int, None]] = {}
        """Cluster → its edges."""
        self._order: dict[str, list[int]] = {}
        for i, link in links.items():
            for cluster in link:
                self.around.setdefault(cluster, {})[i] = None
        for cluster, own in self.around.items():
            self._order[cluster] = sorted(own)

    def copy(self) -> ChainGraph:
        """An independent copy."""
        other = object.__new__(ChainGraph)
        other.edges, other.links = self.edges, dict(self.links)
        other.around = {cluster: dict(own) for cluster, own in self.around.items()}
        other._order = {cluster: list(own) for cluster, own in self._order.items()}
        return other

    def remove(self, i: int) -> None:
        """Remove an edge whose value is known or that lies inside one cluster."""
        for cluster in self.links.pop(i, ()):
            del self.around[cluster][i]

    def merge_clusters(self, first: str, second: str) -> None:
        """Merge the second cluster into the first."""
        own, into = self.around.pop(second, {}), self.around.setdefault(first, {})
        order = self._order.setdefault(first, [])
        self._order.pop(second, None)
        for i in own:
            a, b = self.links[i]
            if first in (a, b):
                del self.links[i], into[i]
            else:
                self.links[i] = (first, b) if a == second else (a, first)
                into[i] = None
                heapq.heappush(order, i)

    def is_valid(self, chain: Chain) -> bool:
        """True if all edges of the chain are unknown and no cluster is visited twice."""
        if any(i not in self.links for i, _ in chain):
            return False
        return len({self.links[i][not forward] for i, forward in chain}) == len(chain)

    def other(self, i: int, cluster: str) -> str:
        """The cluster at the other end of an edge."""
        a, b = self.links[i]
        return b if a == cluster else a

    # ------------------------------------------------------------------------------------------- finding

    def closed_chains_of_length(self, length: int, promising: Promising = accept_every_chain) -> Iterator[Chain]:
        """Yield all closed chains with a given number of edges, each of them once."""
        ranked = sorted(self.around, key=lambda cluster: -len(self.around[cluster]))
        done: set[str] = set()
        for start in ranked:
            near = self._distances(start, length // 2, done)
            for chain in self._paths(start, start, length, done, near, promising):
                if chain[0][0] < chain[-1][0]:
                    yield chain
            done.add(start)

    def chains_between(
        self, first: str, second: str, longest: int, promising: Promising = accept_every_chain
    ) -> Iterator[Chain]:
        """Chains that close when two clusters merge: the paths from one to the other."""
        if len(self.around.get(first, ())) > len(self.around.get(second, ())):
            first, second = second, first
        for length in range(2, longest + 1):
            yield from self._paths(first, second, length, set(), None, promising)

    def _paths(
        self,
        start: str,
        target: str,
        length: int,
        excluded: set[str],
        goal_distances: dict[str, int] | None,
        promising: Promising,
    ) -> Iterator[Chain]:
        """Paths through distinct clusters; goal_distances : distances of clusters from the target, up to half the
        length"""
        stack: list[tuple[str, Chain, frozenset[str]]] = [(start, (), frozenset((start,)))]
        while stack:
            at, chain, passed = stack.pop()
            left = length - len(chain) - 1
            for i in self.around.get(at, ()):
                a, b = self.links[i]
                forward = a == at
                other = b if forward else a
                if other == target:
                    if not left and all(i != k for k, _ in chain):
                        yield (*chain, (i, forward))
                    continue
                if not left or other in passed or other in excluded:
                    continue
                if goal_distances is not None and goal_distances.get(other, length // 2 + 1) > left:
                    continue
                longer = (*chain, (i, forward))
                if promising(longer):
                    stack.append((other, longer, passed | {other}))

    def _distances(self, start: str, farthest: int, excluded: set[str]) -> dict[str, int]:
        """Distances of clusters from a start, up to a largest distance."""
        found, reached = {start: 0}, [start]
        for distance in range(1, farthest + 1):
            around = {self.other(i, at) for at in reached for i in self.around[at]}
            reached = [each for each in around if each not in found and each not in excluded]
            found.update(dict.fromkeys(reached, distance))
        return found

    # ------------------------------------------------------------------------------------------- order

    def canonical_chain(self, chain: Chain) -> tuple[tuple[int, ...], Chain]:
        """Return (key, the chain rotated to start at its earliest cluster); keys sort chains by length, then by the
        first edges of the clusters at which they start, then edge by edge."""
        firsts = [self._first_edge(self.links[i][not forward]) for i, forward in chain]
        k = firsts.index(min(firsts))
        one = chain[k:] + chain[:k]
        other = tuple((i, not forward) for i, forward in reversed(one))
        return min((self._chain_key(firsts[k], each), each) for each in (one, other))

    def _chain_key(self, first_edge: tuple[int, bool], chain: Chain) -> tuple[int, ...]:
        return (len(chain), *first_edge, *(i for i, _ in chain[:-1]), -chain[-1][0])

    def _first_edge(self, cluster: str) -> tuple[int, bool]:
        """Index of the first edge of a cluster, and True if the edge ends at the cluster."""
        order, own = self._order[cluster], self.around[cluster]
        while order[0] not in own:
            heapq.heappop(order)
        return order[0], self.links[order[0]][0] != cluster


Links = dict[int, tuple[str, str]]
"""Edge → the clusters it connects."""


def group_edges(links: Links, coupled: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return the groups of edges, in order; coupled : sets of edges of which one determines the others. Groups of a
    single edge are omitted, since they close no loop."""
    parents: dict[int, int] = {}

    def representative(i: int) -> int:
        while (above := parents.setdefault(i, i)) != i:
            parents[i] = parents[above]
            i = above
        return i

    for together in (*_biconnected_components(links), *coupled):
        for i in together:
            parents[representative(i)] = representative(together[0])
    groups: dict[int, list[int]] = {}
    for i in sorted(parents):
        groups.setdefault(representative(i), []).append(i)
    return [group for group in groups.values() if len(group) > 1]


def _biconnected_components(links: Links) -> Iterator[list[int]]:
    """Biconnected components, as edges."""
    around: dict[str, list[int]] = {}
    for i, link in links.items():
        for cluster in link:
            around.setdefault(cluster, []).append(i)
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    """Order in which each cluster was visited, and the earliest that is reached from beyond it."""
    passed: set[int] = set()
    for start in around:
        if start in numbers:
            continue
        numbers[start] = lowest[start] = len(numbers)
        path: list[int] = []
        stack = [(start, 0, iter(around[start]))]
        while stack:
            at, length, edges = stack[-1]
            onward = next((each for each in edges if each not in passed), None)
            if onward is not None:
                a, b = links[onward]
                other = b if a == at else a
                passed.add(onward)
                path.append(onward)
                if other in numbers:
                    lowest[at] = min(lowest[at], numbers[other])
                else:
                    numbers[other] = lowest[other] = len(numbers)
                    stack.append((other, len(path) - 1, iter(around[other])))
                continue
            stack.pop()
            if stack:
                before = stack[-1][0]
                lowest[before] = min(lowest[before], lowest[at])
                if lowest[at] >= numbers[before]:
                    yield path[length:]
                    del path[length:]
