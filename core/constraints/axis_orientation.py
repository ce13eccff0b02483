"""Joints that close loops, the right way round: residuals of directions vanish for opposite ones, too.

A residual s of directions (sine of the angle φ) is replaced, where φ is more than a right angle, by (2 − |s|) s/|s|,
which goes on growing up to half a turn; its derivative along s is that of s with the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from core.multibody.parameter_values import Values
from core.numerics.position_solver import Flags, Problem
from core.traces.compiled import Compiled

Array = NDArray[np.float64]

_DIRECTIONS = {
    "revolute": (3, 5),
    "continuous": (3, 5),
    "cylindrical": (2, 4),
    "screw": (2, 4),
    "planar": (1, 3),
    "prismatic": (2, 5),
    "fixed": (3, 6),
}
"""Kind → which rows of its residual are those of directions (`core.joints.residuals`)."""
_ALIGNED = ("prismatic", "fixed")


def turned_round(compiled: Compiled, q: Array, p: Values) -> Iterator[tuple[str, slice]]:
    """(cut joint, its rows of directions) where the sides are turned by more than a right angle against each other."""
    cuts = [joint for joint in compiled.cuts if joint.kind in _DIRECTIONS]
    if not cuts:
        return
    poses = compiled.joint_poses(q, p)
    first = {row.element: k for k, row in reversed([*enumerate(compiled.rows)]) if row.collection == "joints"}
    for joint in cuts:
        R_Wa, R_Wb = (side[:3, :3] for side in poses[joint.name])
        if joint.kind in _ALIGNED:
            cosine = 0.5 * (float(np.trace(R_Wa.T @ R_Wb)) - 1.0)
        else:
            axis = np.array(compiled.coordinates.numbers.vector(joint.axis, f"joint '{joint.name}', axis"), dtype=float)
            axis /= max(float(np.abs(axis).max()), 1e-300)  # its sign counts: axes of any length have one
            cosine = float((R_Wa @ axis) @ (R_Wb @ axis))
        if cosine < 0.0:
            start, stop = _DIRECTIONS[joint.kind]
            yield joint.name, slice(first[joint.name] + start, first[joint.name] + stop)


def wrong_orientation(compiled: Compiled, q: Array, p: Values, chosen: Flags | None = None) -> str:
    """The cut joint whose sides are turned by half a turn against what it allows at a closed position; '' if none.

    chosen : (rows,) those of the constraint equations that count, default all
    """
    return next((name for name, rows in turned_round(compiled, q, p) if chosen is None or chosen[rows.start]), "")


def oriented(compiled: Compiled, problem: Problem, p: Values, chosen: Flags | None = None) -> Problem:
    """The problem with residuals that have no roots the wrong way round.

    chosen : (rows,) the problem's among those of the constraint equations, default: it begins with those of cut joints
    """
    before = None if chosen is None else np.cumsum(~chosen)

    def turned(q: Array) -> Iterator[slice]:
        for _, rows in turned_round(compiled, q, p):
            if chosen is None or before is None:
                yield rows
            elif chosen[rows.start]:
                yield slice(rows.start - int(before[rows.start]), rows.stop - int(before[rows.start]))

    def residual(q: Array) -> Array:
        r = np.array(problem.residual(q))
        for rows in turned(q):
            s = r[rows]
            length = float(np.linalg.norm(s))
            direction = s / length if length > 1e-9 else np.eye(len(s))[0]
            r[rows] = (2.0 - length) * direction
        return r

    def jacobian(q: Array) -> Array:
        G = np.array(problem.jacobian(q))
        for rows in turned(q):
            G[rows] *= -1.0
        return G

    return problem._replace(residual=residual, jacobian=jacobian)
