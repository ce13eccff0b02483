"""Groups of joints that share loops: all closed chains through a joint stay within its group.

Clusters and the unknown joints between them are a graph. A closed chain through different clusters stays inside one
block of it, and that also when joints of the block become known, so what closes there depends on nothing beyond it.
Blocks are the biconnected components (Hopcroft and Tarjan, Comm. ACM 16, 1973). Those that gears or couplings tie are
one group.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

Links = dict[int, tuple[str, str]]
"""Edge → the clusters it connects."""


def separate_groups(links: Links, tied: Iterable[Sequence[int]]) -> list[list[int]]:
    """Edges by group, in order; tied : sets of edges of which one determines the others. A single edge is omitted, as
    it closes nothing."""
    parents: dict[int, int] = {}

    def leader(i: int) -> int:
        while (above := parents.setdefault(i, i)) != i:
            parents[i] = parents[above]
            i = above
        return i

    for together in (*_biconnected_components(links), *tied):
        for i in together:
            parents[leader(i)] = leader(together[0])
    groups: dict[int, list[int]] = {}
    for i in sorted(parents):
        groups.setdefault(leader(i), []).append(i)
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
