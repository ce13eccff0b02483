"""Closed position nearest to a given one, inside joint limits, with chosen coordinates fixed.

Assemblies with the axis of a loop-closing joint reversed, for which the residuals vanish, too, are ruled out: a
residual s of directions (sine of the angle φ) is replaced, where φ is more than a right angle, by (2 − |s|) s/|s|,
which goes on growing up to half a turn; its derivative along s is that of s with the other sign.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.constraints.cut_coordinates import (
    CutLimit,
    add_limit_rows,
    cut_limits,
    limits_widened_to_start,
    most_exceeded_limit,
)
from core.constraints.newton.availability import is_newton_ready
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.matrix_forms import Matrix, scale_matrix
from core.numerics.position_solver import Flags, PositionProblem
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel, cache_per_model

if TYPE_CHECKING:
    from core.constraints.newton.position_newton import NewtonSearch

Array = NDArray[np.float64]


@cache_per_model
def _reversible_joints(compiled: CompiledModel) -> list[tuple[str, slice]]:
    """Return each cut joint that can be assembled with its axis reversed, and the rows of its direction residuals."""
    first = {row.element: k for k, row in reversed([*enumerate(compiled.rows)]) if row.collection == "joints"}
    kinds = {joint.name: joint.info for joint in compiled.cuts}
    result = []
    for name in compiled.program.symbolic.reversible_cuts:
        rows = kinds[name].direction_rows
        assert rows is not None
        result.append((name, slice(first[name] + rows.start, first[name] + rows.stop)))
    return result


def find_reversed_cut_joints(compiled: CompiledModel, q: Array, p: Values) -> Iterator[tuple[str, slice]]:
    """Yield (cut joint, rows of its direction residuals) of joints whose sides are more than a right angle apart."""
    closing = _reversible_joints(compiled)
    if closing:
        yield from (closing[k] for k in np.flatnonzero(compiled.call("cut_facing", q, p=p) < 0.0))


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

    return problem._replace(
        residual=residual,
        jacobian=jacobian,
        search=None if problem.search is None else problem.search.with_axis_orientation(),
    )


def newton_search(
    compiled: CompiledModel, kept: NDArray[np.intp], p: Values, t: float, *, bounded: bool
) -> NewtonSearch | None:
    """Return the search of chosen constraint rows in machine code, where that is ready; bounded : whether limits of
    the tree's joints hold"""
    if not is_newton_ready(compiled):
        return None
    from core.constraints.newton.position_newton import NewtonSearch

    return NewtonSearch(compiled, kept, p, t, bounded)


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
        newton_search(compiled, np.flatnonzero(positions), values, t, bounded=bounded),
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
