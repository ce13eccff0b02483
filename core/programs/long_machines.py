"""Mass matrix of long chains: O(n) recorded steps followed by one matrix product."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanics.tree import Tree

Array = NDArray[np.float64]


class DofTable(NamedTuple):
    """Degrees of freedom of all links: index in v of each, and which of them carries which."""

    entry: NDArray[np.int64]
    carries: NDArray[np.bool_]
    """[i, j] is True if the link of i is the link of j or an ancestor of it."""


def build_dof_table(tree: Tree) -> DofTable:
    """Return the table of degrees of freedom of a tree."""
    links = [i for i, link in enumerate(tree.links) for _ in range(link.law.nv)]
    entry = [v for link in tree.links for v in range(link.first_v, link.first_v + link.law.nv)]
    ancestor = np.zeros((len(tree.links), len(tree.links)), dtype=bool)
    for j, link in enumerate(tree.links):
        if link.parent >= 0:
            ancestor[:, j] = ancestor[:, link.parent]
        ancestor[j, j] = True
    return DofTable(np.array(entry, dtype=np.int64), ancestor[np.ix_(links, links)])


def mass_matrix(table: DofTable, screws: Array, nv: int) -> Array:
    """Return the mass matrix (…, nv, nv) from the rows of `core.mechanics.crba.screws`."""
    entry, carries = table
    S, F, ratio, armature = screws[..., :6], screws[..., 6:12], screws[..., 12], screws[..., 13]
    upper = np.where(carries, S @ np.swapaxes(F, -1, -2), 0.0)
    within = carries & carries.T
    M = np.where(within, upper, upper + np.swapaxes(upper, -1, -2))
    at = np.arange(len(entry))
    M[..., at, at] += armature
    if len(entry) == nv:
        result = np.empty_like(M)
        result[..., entry[:, None], entry[None, :]] = M
        return result
    M *= ratio[..., :, None] * ratio[..., None, :]
    gather = np.zeros((len(entry), nv))
    gather[at, entry] = 1.0
    return gather.T @ M @ gather
