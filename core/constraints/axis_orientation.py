"""Orientation of loop-closing joints: rules out assemblies with a joint axis reversed, for which the residuals vanish,
too.

A residual s of directions (sine of the angle φ) is replaced, where φ is more than a right angle, by (2 − |s|) s/|s|,
which goes on growing up to half a turn; its derivative along s is that of s with the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.joints import JointKind
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix, scaled
from core.numerics.position_solver import Flags, Problem
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3
from core.programs.compiled import Compiled, once

Array = NDArray[np.float64]


class _ReversibleJoint(NamedTuple):
    """A cut joint that can be assembled with its axis reversed."""

    name: str
    law: JointKind
    canonical: Array
    """(4, 4) the joint's canonical frame in frames a and b."""
    rows: slice
    """Rows of its direction residuals in the constraint equations."""


@once
def _reversible_joints(compiled: Compiled) -> list[_ReversibleJoint]:
    result = []
    first = {row.element: k for k, row in reversed([*enumerate(compiled.rows)]) if row.collection == "joints"}
    for joint in compiled.cuts:
        if (rows := joint.info.direction_rows) is not None:
            law, R_ac = compiled.coordinates.numbers.law(joint)
            canonical = np.eye(4)
            canonical[:3, :3] = np.array(R_ac, dtype=float)
            start = first[joint.name]
            result.append(_ReversibleJoint(joint.name, law, canonical, slice(start + rows.start, start + rows.stop)))
    return result


def reversed_cut_joints(compiled: Compiled, q: Array, p: Values) -> Iterator[tuple[str, slice]]:
    """Yield (cut joint, rows of its direction residuals) of joints whose sides are more than a right angle apart."""
    closing = _reversible_joints(compiled)
    if not closing:
        return
    poses = compiled.joint_poses(q, p)
    for each in closing:
        X_Wa, X_Wb = (np.asarray(side) @ each.canonical for side in poses[each.name])
        X_aW = X_Wa[:3, :3].T
        R_ab, p_ab = (X_aW @ X_Wb[:3, :3]).tolist(), (X_aW @ (X_Wb[:3, 3] - X_Wa[:3, 3])).tolist()
        cosine = each.law.facing(Pose(Rotation(*(Vector3(*row) for row in R_ab)), Vector3(*p_ab)))
        if cosine is not None and cosine < 0.0:
            yield each.name, each.rows


def reversed_joint(compiled: Compiled, q: Array, p: Values, chosen: Flags | None = None) -> str:
    """Name of the cut joint that is assembled half a turn off at a closed position; '' if there is none.

    chosen : (rows,) those of the constraint equations that count, default all
    """
    return next(
        (name for name, rows in reversed_cut_joints(compiled, q, p) if chosen is None or chosen[rows.start]), ""
    )


def oriented(compiled: Compiled, problem: Problem, p: Values, chosen: Flags | None = None) -> Problem:
    """The position problem with residuals that do not vanish for reversed joint axes.

    chosen : (rows,) the problem's among those of the constraint equations, default: it begins with those of cut joints
    """
    before = None if chosen is None else np.cumsum(~chosen)
    last: tuple[bytes, list[slice]] = (b"", [])

    def turned(q: Array) -> list[slice]:
        """Rows of reversed joints at q, cached because residual and Jacobian are evaluated at the same q."""
        nonlocal last
        asked = q.tobytes()
        if last[0] != asked:
            last = (asked, list(counted(q)))
        return last[1]

    def counted(q: Array) -> Iterator[slice]:
        for _, rows in reversed_cut_joints(compiled, q, p):
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

    def jacobian(q: Array) -> Matrix:
        G = problem.jacobian(q)
        signs = np.ones(G.shape[0])
        for rows in turned(q):
            signs[rows] = -1.0
        return scaled(G, rows=signs) if (signs < 0.0).any() else G

    return problem._replace(residual=residual, jacobian=jacobian)
