"""Branches of a closed form for many targets, as rows: which are the same, and which have one name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_reading import ArmSolver
from core.analysis.arms.screw_chain import ScrewChain
from core.mechanism.inverse_kinematics_results import Configuration

Array = NDArray[np.float64]

SAME_ROTATION = 1e-6
"""Difference (rad, m) of all joints, up to whole turns, below which two solutions are the same."""


class Branches(NamedTuple):
    """Positions (N, K, nq) of all branches, their errors (N, K, 6), (N, K) True where they meet the targets, and the
    values (N, K, n) of the solver's chain; is_doubtful : (N,) True where rounding may hide branches."""

    q: Array
    errors: Array
    is_valid: NDArray[np.bool_]
    own: Array
    is_doubtful: NDArray[np.bool_] = np.zeros(0, dtype=bool)


def columns_by_name(solver: ArmSolver, wanted: Mapping[str, str] | None) -> dict[Configuration, list[int]]:
    """Branches with each configuration: several that differ in virtual joints only."""
    columns: dict[Configuration, list[int]] = {}
    for k, each in enumerate(solver.names.configurations):
        if wanted is None or wanted.items() <= dict(each.parts).items():
            columns.setdefault(each, []).append(k)
    return columns


def inverse_poses(X: Array) -> Array:
    """(…, 4, 4) inverse poses."""
    result = np.zeros_like(X)
    result[..., :3, :3] = np.swapaxes(X[..., :3, :3], -1, -2)
    result[..., :3, 3] = -(result[..., :3, :3] @ X[..., :3, 3, None])[..., 0]
    result[..., 3, 3] = 1.0
    return result


def distinct_rows(rows: NDArray[np.intp], q: Array, chain: ScrewChain) -> list[int]:
    """Rows of q (K, n) without those that equal an earlier one up to whole turns."""
    rotates = np.array([kind == "R" for kind in chain.kinds])
    kept: list[int] = []
    for k in rows.tolist():
        difference = q[kept] - q[k]
        difference = np.where(rotates, np.remainder(difference + np.pi, 2.0 * np.pi) - np.pi, difference)
        if not (np.max(np.abs(difference), axis=1, initial=0.0) < SAME_ROTATION).any():
            kept.append(k)
    return kept


def choose_columns(
    columns: Mapping[Configuration, list[int]], found: Branches, q: Array, is_valid: NDArray[np.bool_]
) -> None:
    """Write positions (N, columns, nq), and True where they are valid, of the first valid branch of each column."""
    groups = list(columns.values())
    if all(len(group) == 1 for group in groups):
        kept = [group[0] for group in groups]
        whole = kept == list(range(found.q.shape[1]))
        q[:], is_valid[:] = (found.q, found.is_valid) if whole else (found.q[:, kept], found.is_valid[:, kept])
        return
    row = np.arange(len(q))
    for column, group in enumerate(groups):
        best = np.array(group)[np.argmax(found.is_valid[:, group], axis=1)]
        q[:, column], is_valid[:, column] = found.q[row, best], found.is_valid[row, best]
