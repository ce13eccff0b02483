"""Elimination of force-element states that follow from the pose in small motions.

Where springs alone act on a junction it follows in balance, W · f = 0 along the directions W without damping; ẇ of the
others is theirs. With the linear form L_q ξ + L_x x + L_p w = 0 of that balance x = T ξ + Y y + T_p w, y some of the
entries of x. Angles that count turns do nothing to small motions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanism import Mechanism
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.derivatives import Equations
from core.programs.junctions import NEGLIGIBLE_DAMPING

Array = NDArray[np.float64]


class Reduction(NamedTuple):
    """Eliminated states x = T ξ + Y y + T_p w as functions of displacements (nx, nv), kept states (nx, ny) and inputs
    (nx, m); kept : indices of the kept states"""

    T: Array
    Y: Array
    T_p: Array
    kept: list[int]

    def of(self, slopes: Equations) -> Equations:
        """Derivatives by displacements, kept states and inputs."""
        kept = self.kept
        return slopes._replace(
            f_q=slopes.f_q + slopes.f_x @ self.T,
            f_x=slopes.f_x @ self.Y,
            f_p=slopes.f_p + slopes.f_x @ self.T_p,
            x_q=(slopes.x_q + slopes.x_x @ self.T)[kept],
            x_v=slopes.x_v[kept],
            x_x=(slopes.x_x @ self.Y)[kept],
            x_p=(slopes.x_p + slopes.x_x @ self.T_p)[kept],
        )


def reduction(mech: Mechanism, slopes: Equations) -> Reduction:
    """Kept states of a machine in small motions, and how the others follow."""
    followed = _without_damper_states(slopes) if len(slopes.sum_w) else _all_states_kept(slopes)
    counters = {state for state, _ in mech.compiled.elements.turn_counters.values()}
    lasting = [k for k, state in enumerate(followed.kept) if state not in counters]
    return followed._replace(Y=followed.Y[:, lasting], kept=[followed.kept[k] for k in lasting])


def names_of(mech: Mechanism, found: Reduction) -> tuple[str, ...]:
    """Names of the kept states."""
    return tuple(mech.x_names[k] for k in found.kept)


def _all_states_kept(slopes: Equations) -> Reduction:
    nx, nv = slopes.x_q.shape
    return Reduction(np.zeros((nx, nv)), np.eye(nx), np.zeros((nx, slopes.f_p.shape[1])), list(range(nx)))


def _without_damper_states(slopes: Equations) -> Reduction:
    import scipy.linalg

    C = -0.5 * (slopes.sum_w + slopes.sum_w.T)
    sizes, axes = np.linalg.eigh(C)
    W = axes[:, sizes <= NEGLIGIBLE_DAMPING * max(float(np.max(np.abs(sizes))), 1e-300)]
    L_q, L_x, L_p = (W.T @ each for each in (slopes.sum_q, slopes.sum_x, slopes.sum_p))
    inverse = -np.linalg.pinv(L_x, rcond=RANK_TOLERANCE)
    free = scipy.linalg.null_space(L_x, rcond=RANK_TOLERANCE)
    kept = _pivot_states(free)
    Y = free @ np.linalg.inv(free[kept])
    T, T_p = (particular - Y @ particular[kept] for particular in (inverse @ L_q, inverse @ L_p))
    return Reduction(T, Y, T_p, kept)


def _pivot_states(free: Array) -> list[int]:
    """Indices of the states that best determine the columns of free (nx, ny)."""
    import scipy.linalg

    if not free.size:
        return []
    pivots = scipy.linalg.qr(free.T, mode="economic", pivoting=True)[2]
    return sorted(int(i) for i in pivots[: free.shape[1]])
