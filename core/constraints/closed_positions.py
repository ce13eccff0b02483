"""Closed position nearest to a given one, inside joint limits, with chosen coordinates fixed.

Assemblies with the axis of a loop-closing joint reversed, for which the residuals vanish, too, are ruled out: a
residual s of directions (sine of the angle φ) is replaced, where φ is more than a right angle, by (2 − |s|) s/|s|,
which goes on growing up to half a turn; its derivative along s is that of s with the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import (
    CutLimit,
    add_limit_rows,
    cut_limits,
    limits_widened_to_start,
    most_exceeded_limit,
)
from core.joints import JointKind
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, scale_matrix
from core.numerics.position_solver import Flags, PositionProblem
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.vector import Vector3
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]


class _ReversibleJoint(NamedTuple):
    """A cut joint that can be assembled with its axis reversed."""

    name: str
    law: JointKind
    canonical: Array
    """(4, 4) the joint's canonical frame in frames a and b."""
    rows: slice
    """Rows of its direction residuals in the constraint equations."""


@cache_per_model
def _reversible_joints(compiled: CompiledModel) -> list[_ReversibleJoint]:
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


def find_reversed_cut_joints(compiled: CompiledModel, q: Array, p: Values) -> Iterator[tuple[str, slice]]:
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


def find_reversed_joint(compiled: CompiledModel, q: Array, p: Values, selected_rows: Flags | None = None) -> str:
    """Name of a cut joint that is assembled with its axis reversed at a closed position; '' if there is none.

    selected_rows : (rows,) mask of the constraint equations to consider, default all
    """
    return next(
        (
            name
            for name, rows in find_reversed_cut_joints(compiled, q, p)
            if selected_rows is None or selected_rows[rows.start]
        ),
        "",
    )


def with_axis_orientation(
    compiled: CompiledModel, problem: PositionProblem, p: Values, selected_rows: Flags | None = None
) -> PositionProblem:
    """Return the position problem with residuals that do not vanish for reversed joint axes.

    selected_rows : (rows,) mask of the problem's rows in the constraint equations; default: the first ones
    """
    before = None if selected_rows is None else np.cumsum(~selected_rows)
    last: tuple[bytes, list[slice]] = (b"", [])

    def reversed_rows(q: Array) -> list[slice]:
        """Rows of reversed joints at q, cached because residual and Jacobian are evaluated at the same q."""
        nonlocal last
        asked = q.tobytes()
        if last[0] != asked:
            last = (asked, list(find_reversed_rows(q)))
        return last[1]

    def find_reversed_rows(q: Array) -> Iterator[slice]:
        for _, rows in find_reversed_cut_joints(compiled, q, p):
            if selected_rows is None or before is None:
                yield rows
            elif selected_rows[rows.start]:
                yield slice(rows.start - int(before[rows.start]), rows.stop - int(before[rows.start]))

    def residual(q: Array) -> Array:
        r = np.array(problem.residual(q))
        for rows in reversed_rows(q):
            s = r[rows]
            length = float(np.linalg.norm(s))
            direction = s / length if length > 1e-9 else np.eye(len(s))[0]
            r[rows] = (2.0 - length) * direction
        return r

    def jacobian(q: Array) -> Matrix:
        G = problem.jacobian(q)
        signs = np.ones(G.shape[0])
        for rows in reversed_rows(q):
            signs[rows] = -1.0
        return scale_matrix(G, rows=signs) if (signs < 0.0).any() else G

    return problem._replace(residual=residual, jacobian=jacobian)


def find_nearest_closed_position(
    compiled: CompiledModel, q: Array, p: Values, t: float = 0.0, *, start: Array
) -> Array | None:
    """Find the (nq,) position nearest to q that closes all loops; None if a local search finds none (`assembled` also
    searches farther away).

    start : (nq,) where the way began: limits of joints that close loops are kept, or passed no farther than there
    """
    weights, free = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    closed, gap = find_closed_position(compiled, q, weights, free, p, t=t)
    limits = limits_widened_to_start(compiled, start, p) if gap < ACCEPTED_GAP else ()
    if most_exceeded_limit(compiled, limits, closed, p):
        closed, gap = find_closed_position(compiled, q, weights, free, p, t=t, limits=limits)
    return closed if gap < ACCEPTED_GAP and not find_reversed_joint(compiled, closed, p) else None


def find_closed_position(
    compiled: CompiledModel,
    q: Array,
    weights: Array,
    fixed: Flags,
    p: Values,
    *,
    search_far: bool = False,
    t: float = 0.0,
    rows: Flags | None = None,
    limits: Sequence[CutLimit] | None = None,
    bounded: bool = True,
) -> tuple[Array, float]:
    """Find the closed position nearest to q; return it and the largest remaining residual.

    search_far : search farther if it is not found at once, and keep the limits of joints that close loops if that
    can be; limits : those to keep instead; bounded : whether those of the tree's joints hold
    """
    positions = compiled.levels == 0
    if rows is not None:
        positions = positions & rows
    if not positions.any():
        return q, 0.0
    values = None if p is None else compiled.parameter_values(p)
    residual = compiled.evaluator("constraint_residual")
    jacobian = compiled.constraint_matrix if compiled.is_sparse else compiled.evaluator("constraint_jacobian")
    time = (compiled.time_argument(t, p),) if "t" in residual.signature.arguments else ()
    chosen = slice(None) if positions.all() else positions
    problem = position_solver.PositionProblem(
        lambda q: residual(q, *time, p=values)[chosen],
        lambda q: jacobian(q, p=values)[chosen],
        compiled.coordinates.integrate_within_limits if bounded else compiled.coordinates.integrate_unlimited,
        compiled.coordinates.displacement_bounds if bounded else compiled.coordinates.unlimited_bounds,
        lambda q: not find_reversed_joint(compiled, q, values, positions),
    )
    if limits is not None:
        return position_solver.solve_position(add_limit_rows(compiled, limits, problem, values), q, weights, fixed)
    found = position_solver.solve_position(problem, q, weights, fixed)
    if not search_far:
        return found
    if not (found[1] < ACCEPTED_GAP and problem.fits(found[0])):
        found = position_solver.solve_with_restarts(
            with_axis_orientation(compiled, problem, values, positions), q, weights, fixed
        )
    own = cut_limits(compiled) if rows is None and bounded else ()
    if found[1] < ACCEPTED_GAP and most_exceeded_limit(compiled, own, found[0], values):
        inside = add_limit_rows(compiled, own, with_axis_orientation(compiled, problem, values, positions), values)
        closed = position_solver.solve_with_restarts(inside, q, weights, fixed)
        return closed if closed[1] < ACCEPTED_GAP else found
    return found
