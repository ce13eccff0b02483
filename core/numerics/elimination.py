"""Symbolic analysis of sparse elimination: elimination order and sparsity pattern, determined before any numbers are
known.

*Masses.* A symmetric matrix over unknowns in an order in which what carries comes first is factored as M = Lᵀ L, from
the last unknown to the first: with that of a tree nothing fills (Featherstone, RBDA 6.5). An unknown's row of L reaches
over its ancestors in the elimination tree (Liu, SIAM J. Matrix Anal. 11, 1990); those of a matrix that fills are taken
as full over all ancestors, so that a row is one run of numbers.

*Rows.* Yᵀ = Q R of rows Y over these unknowns, by Householder's reflections front by front (Davis, Direct Methods for
Sparse Linear Systems, ch. 5; multifrontal: Matstoms, ACM TOMS 20, 1994). A *group* of rows is eliminated in one front:
a dense matrix whose columns are these rows of Y, its pivots, and the rows of other groups that share unknowns with it;
what remains of those goes on to the front of the next of them. Unknowns come in with the first group that has them.
The order is chosen greedily: next the group that shares unknowns with the fewest others. Unknowns that many groups
share would make fronts of all these: such a one is taken as several copies, each with its part of |w|², and rows that
hold them together.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Pattern(NamedTuple):
    """Pattern of a matrix: entries that may differ from zero, row by row."""

    rows: Integers
    columns: Integers


def elimination_tree(count: int, pairs: Iterable[tuple[int, int]]) -> list[int]:
    """Return the elimination tree: the parent of every unknown, −1 for a root. Unknowns are eliminated from the last to
    the first; the unknowns of a pair (i, j) share an equation."""
    later: list[list[int]] = [[] for _ in range(count)]
    for i, j in pairs:
        if i != j:
            later[min(i, j)].append(max(i, j))
    parents, roots = [-1] * count, [-1] * count
    for i in range(count - 1, -1, -1):
        for below in later[i]:
            while below not in (-1, i):
                above, roots[below] = roots[below], i
                if above == -1:
                    parents[below] = i
                below = above
    return parents


def tree_depths(parents: Sequence[int]) -> list[int]:
    """Return the number of ancestors of each unknown."""
    depths: list[int] = []
    for parent in parents:
        depths.append(0 if parent < 0 else depths[parent] + 1)
    return depths


def add_ancestors(parents: Sequence[int], unknowns: Iterable[int]) -> list[int]:
    """Return the unknowns and all their ancestors, sorted."""
    found: set[int] = set()
    for k in unknowns:
        while k >= 0 and k not in found:
            found.add(k)
            k = parents[k]
    return sorted(found)


class Front(NamedTuple):
    """Dense front of a multifrontal elimination."""

    group: int
    unknowns: tuple[int, ...]
    """Unknowns that enter the elimination with this front."""
    others: tuple[int, ...]
    """Groups of rows that share unknowns with the front and are eliminated later, in the order of their elimination."""


def build_fronts(row_groups: Sequence[Sequence[int]], sizes: Sequence[int]) -> list[Front]:
    """Return the fronts in order of elimination (approximate minimum degree); row_groups: unknowns of each group of
    rows, sizes: number of rows of each group."""
    sharing: dict[int, list[int]] = {}
    for group, unknowns in enumerate(row_groups):
        for k in unknowns:
            sharing.setdefault(k, []).append(group)
    alike: dict[tuple[int, ...], list[int]] = {}
    for k, groups in sharing.items():
        alike.setdefault(tuple(groups), []).append(k)
    own = dict(enumerate(alike.values()))
    cliques: dict[int, set[int]] = {k: set(groups) for k, groups in enumerate(alike)}
    weights = {k: sum(sizes[group] for group in clique) for k, clique in cliques.items()}
    member: list[set[int]] = [set() for _ in row_groups]
    for k, clique in cliques.items():
        for group in clique:
            member[group].add(k)
    degrees = [sum(weights[k] for k in each) for each in member]
    queue = [(degree, group) for group, degree in enumerate(degrees) if sizes[group]]
    heapq.heapify(queue)
    order: list[tuple[int, tuple[int, ...], set[int]]] = []
    while queue:
        degree, group = heapq.heappop(queue)
        if degrees[group] != degree:
            continue
        degrees[group] = -1
        joined = member[group]
        others = set().union(*(cliques[k] for k in joined)) - {group}
        order.append((group, tuple(sorted(x for k in joined for x in own.get(k, ()))), others))
        made = len(alike) + group
        for k in tuple(joined):
            for other in cliques.pop(k):
                member[other].discard(k)
        if not others:
            continue
        cliques[made], weights[made] = others, sum(sizes[other] for other in others)
        for other in others:
            member[other].add(made)
            degrees[other] = sum(weights[k] for k in member[other])
            heapq.heappush(queue, (degrees[other], other))
    places = {group: k for k, (group, *_) in enumerate(order)}
    return [Front(group, unknowns, tuple(sorted(others, key=places.__getitem__))) for group, unknowns, others in order]


MANY, FEW = 12, 3
"""Number of groups sharing an unknown above which the unknown is copied; number of groups that use one copy."""


class UnknownCopies(NamedTuple):
    """Copies of unknowns that many groups share, each used by a few groups, and the equations that keep copies equal.
    They keep the fronts small. Copies are numbered after the original unknowns."""

    reached: list[list[int]]
    """Unknowns of each group, replaced by their copies."""
    of: list[int]
    """Original unknown of each unknown and copy."""
    counts: list[int]
    """Number of copies of each unknown."""
    glued: list[list[tuple[int, int]]]
    """Groups of equations between copies, each as a pair of copies that must be equal."""


def copy_shared_unknowns(row_groups: Sequence[Sequence[int]], count: int) -> UnknownCopies:
    """Copy those of `count` unknowns that many groups share; row_groups: unknowns of each group."""
    sharing: dict[int, list[int]] = {}
    for group, unknowns in enumerate(row_groups):
        for k in unknowns:
            sharing.setdefault(k, []).append(group)
    alike: dict[tuple[int, ...], list[int]] = {}
    for k, groups in sharing.items():
        if len(groups) > MANY:
            alike.setdefault(tuple(groups), []).append(k)
    changed = [dict(zip(unknowns, unknowns, strict=True)) for unknowns in row_groups]
    result = UnknownCopies([], [*range(count)], [1] * count, [])
    for every, unknowns in alike.items():
        before: list[int] = []
        for first in range(0, len(every), FEW):
            own = unknowns if first == 0 else [*range(len(result.of), len(result.of) + len(unknowns))]
            result.of.extend(unknowns if first else ())
            for group in every[first : first + FEW]:
                changed[group].update(zip(unknowns, own, strict=True))
            if before:
                result.glued.append([*zip(before, own, strict=True)])
            before = own
        for k in unknowns:
            result.counts[k] = -(-len(every) // FEW)
    result.reached.extend([*each.values()] for each in changed)
    return result


FULL = 24
"""Average number of entries per row of L up to which the order is not improved."""


def reduce_fill_in(order: Sequence[int], equation_unknowns: Iterable[Sequence[int]]) -> Sequence[int]:
    """Return an order of unknowns with less than half the fill-in of the given order, or the given order if none is
    found. equation_unknowns: unknowns that share an equation. The unknown eliminated first comes last."""
    places = {k: place for place, k in enumerate(order)}
    equations = [[places[k] for k in each] for each in equation_unknowns]
    now = _fill_in_count(len(order), equations)
    if now <= FULL * len(order):
        return order
    joined: list[list[int]] = [[] for _ in order]
    for number, each in enumerate(equations):
        for k in set(each):
            joined[k].append(number)
    found = [front.group for front in build_fronts(joined, [1] * len(order))][::-1]
    again = {k: place for place, k in enumerate(found)}
    if 2 * _fill_in_count(len(order), [[again[k] for k in each] for each in equations]) > now:
        return order
    return [order[k] for k in found]


def _fill_in_count(count: int, equations: Sequence[Sequence[int]]) -> int:
    """Return the number of entries of the factor L."""
    pairs = (pair for each in equations for pair in combinations(each, 2))
    return sum(tree_depths(elimination_tree(count, pairs))) + count
