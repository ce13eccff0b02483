"""Closed position nearest to a given one, inside joint limits, with chosen coordinates fixed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from core.constraints.axis_orientation import oriented, reversed_joint
from core.constraints.cut_limits import CutLimit, cut_limits, exceeded_limit, limits_widened_to_start, with_limit_rows
from core.mechanics.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.position_solver import Flags
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


def nearest_closed_position(compiled: Compiled, q: Array, p: Values, t: float = 0.0, *, start: Array) -> Array | None:
    """(nq,) the position nearest to q that closes all loops; None if a local search finds none (`assembled` searches
    farther).

    start : (nq,) where the way began: limits of joints that close loops are kept, or passed no farther than there
    """
    weights, free = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    closed, gap = closed_position(compiled, q, weights, free, p, t=t)
    limits = limits_widened_to_start(compiled, start, p) if gap < ACCEPTED_GAP else ()
    if exceeded_limit(compiled, limits, closed, p):
        closed, gap = closed_position(compiled, q, weights, free, p, t=t, limits=limits)
    return closed if gap < ACCEPTED_GAP and not reversed_joint(compiled, closed, p) else None


def closed_position(
    compiled: Compiled,
    q: Array,
    weights: Array,
    fixed: Flags,
    p: Values,
    *,
    anywhere: bool = False,
    t: float = 0.0,
    rows: Flags | None = None,
    limits: Sequence[CutLimit] | None = None,
    bounded: bool = True,
) -> tuple[Array, float]:
    """(q, largest remaining gap) of the closed position nearest to q.

    anywhere : search farther where it is not found at once, and keep the limits of joints that close loops if that
    can be; limits : those to keep instead; bounded : whether those of the tree's joints hold
    """
    positions = compiled.levels == 0
    if rows is not None:
        positions = positions & rows
    if not positions.any():
        return q, 0.0
    values = None if p is None else compiled.parameter_values(p)
    residual = compiled.evaluator("constraint_residual")
    jacobian = compiled.constraint_matrix if compiled.sparse else compiled.evaluator("constraint_jacobian")
    time = (compiled.time_argument(t, p),) if "t" in residual.signature.arguments else ()
    chosen = slice(None) if positions.all() else positions
    problem = position_solver.Problem(
        lambda q: residual(q, *time, p=values)[chosen],
        lambda q: jacobian(q, p=values)[chosen],
        compiled.coordinates.integrate_within_limits if bounded else compiled.coordinates.integrate_unlimited,
        compiled.coordinates.room if bounded else compiled.coordinates.unlimited_room,
        lambda q: not reversed_joint(compiled, q, values, positions),
    )
    if limits is not None:
        return position_solver.close(with_limit_rows(compiled, limits, problem, values), q, weights, fixed)
    found = position_solver.close(problem, q, weights, fixed)
    if not anywhere:
        return found
    if not (found[1] < ACCEPTED_GAP and problem.fits(found[0])):
        found = position_solver.solve_from(oriented(compiled, problem, values, positions), q, weights, fixed)
    own = cut_limits(compiled) if rows is None and bounded else ()
    if found[1] < ACCEPTED_GAP and exceeded_limit(compiled, own, found[0], values):
        inside = with_limit_rows(compiled, own, oriented(compiled, problem, values, positions), values)
        closed = position_solver.solve_from(inside, q, weights, fixed)
        return closed if closed[1] < ACCEPTED_GAP else found
    return found
