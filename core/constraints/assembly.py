"""Positions and speeds that loops, constraints and drivers allow: the nearest to those given.

A position is sought by `core.numerics.position_solver` on the residuals of what holds; speeds are the nearest that
fulfil G v = ḟ.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.constraints import failures
from core.constraints.axis_orientation import oriented, wrong_orientation
from core.constraints.cut_limits import CutLimit, limited, outside, widened
from core.constraints.redundant_drivers import contradiction, contradiction_error
from core.errors import ModelError
from core.multibody.parameter_values import Values
from core.numerics import position_solver
from core.numerics.position_solver import Flags
from core.numerics.tolerances import RANK_TOLERANCE

if TYPE_CHECKING:
    from core.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]


def one_state(mech: Mechanism, q: Any) -> Array:
    """q as one state (nq,), or a ModelError."""
    array = states_of(q, mech.nq, "q")
    if array.ndim > 1:
        raise ModelError(f"q has shape {array.shape}; one state is needed.", remedy="Give the states one by one.")
    return array


def states_of(given: Any, size: int, word: str) -> Array:
    """One state or an array of states, as a copy."""
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(f"{word} is not an array of numbers.") from None
    if array.shape[-1:] != (size,):
        raise ModelError(
            f"{word} has shape {array.shape}; {size} numbers are needed.",
            remedy=f"mech.{word}_names lists them in order.",
        )
    return array


def per_state(array: Array, leading: tuple[int, ...]) -> Array:
    """The array once for every state, (n, size)."""
    size = array.shape[-1]
    return np.broadcast_to(array, (*leading, size)).reshape(math.prod(leading), size)


def assembled(
    mech: Mechanism,
    q: Any,
    v: Any,
    p: Values,
    fixed: Sequence[str],
    weights: Mapping[str, float],
    t: float = 0.0,
    limits: bool = True,
) -> Any:
    """See `Mechanism.assemble`."""
    held, cost = np.zeros(mech.nv, dtype=bool), np.ones(mech.nv)
    for name in (fixed,) if isinstance(fixed, str) else fixed:
        held[mech.joint_v(name)] = True
    for name, weight in weights.items():
        if not 0.0 < weight < math.inf:
            raise ModelError(
                f"{weight} is not a positive number.",
                where=f"weight of joint '{name}'",
                remedy="Give 1 for the usual unwillingness to move, more for more.",
            )
        cost[mech.joint_v(name)] = weight
    q = states_of(q, mech.nq, "q")
    q = mech.clamp(q) if limits else mech.integrate(q, np.zeros(mech.nv))
    if not np.isfinite(q).all():
        raise ModelError("q holds something that is not a finite number.", where="q", remedy="Begin from numbers.")
    speeds = None if v is None else states_of(v, mech.nv, "v")
    values = mech.parameter_values(p)
    leading = np.broadcast_shapes(q.shape[:-1], () if speeds is None else speeds.shape[:-1], values.shape[:-1])
    states, rows = per_state(q, leading), per_state(values, leading)
    pairs = zip(states, rows, strict=True)
    closed = np.array([_assembled_state(mech, *pair, held, cost, t, limits) for pair in pairs])
    q = closed.reshape(*leading, mech.nq)
    if speeds is None:
        return q
    moving = zip(closed, per_state(speeds, leading), rows, strict=True)
    consistent = np.array([_moving_state(mech, state, speed, cost, row, t) for state, speed, row in moving])
    return q, consistent.reshape(*leading, mech.nv)


def _assembled_state(
    mech: Mechanism, q: Array, p: Array, held: NDArray[np.bool_], cost: Array, t: float, limits: bool
) -> Array:
    closed, gap = mech._closed(q, cost, held, p, anywhere=True, t=t, bounded=limits)
    if not gap < position_solver.ACCEPTED_GAP:
        raise failures.assembly_error(mech, closed, p, t)
    if limits and (found := outside(mech, mech.cut_limits, closed, p)) is not None:
        raise failures.beyond_limit(closed, *found)
    return closed


def _moving_state(mech: Mechanism, q: Array, v: Array, cost: Array, p: Array, t: float) -> Array:
    """Consistent speeds; AssemblyError where drivers contradict each other."""
    speeds = consistent_speeds(mech, q, v, cost, p, t)
    if (found := contradiction(mech, q, speeds, p, t)) is not None:
        raise contradiction_error(mech, found)
    return speeds


def consistent_speeds(mech: Mechanism, q: Array, v: Array, weights: Array, p: Values, t: float = 0.0) -> Array:
    """(nv,) the speeds nearest to v that keep loops closed and follow drivers: G v = ḟ."""
    rows = mech._program.levels <= 1
    if not rows.any():
        return v
    columns = mech.constraint_jacobian(q, p=p)[rows] / weights
    open_rate = columns @ (weights * v) + speed_gap(mech, t, p)[rows]
    return v - np.linalg.pinv(columns, rcond=RANK_TOLERANCE) @ open_rate / weights


def speed_gap(mech: Mechanism, t: Any, p: Values) -> Array:
    """(…, rows) what is to be added to G v: −ḟ of drivers."""
    if not mech._program.timed_constraints:
        return np.zeros(len(mech._program.constraint_rows))
    return mech._call("constraint_time", p, t=t)


def closed_near(mech: Mechanism, q: Array, p: Values, t: float = 0.0, *, start: Array) -> Array | None:
    """(nq,) the position nearest to q that closes all loops; None if that is not found at once (`assembled` searches
    farther).

    start : (nq,) where the way began: limits of joints that close loops are kept, or passed no farther than there
    """
    weights, free = np.ones(mech.nv), np.zeros(mech.nv, dtype=bool)
    closed, gap = mech._closed(q, weights, free, p, t=t)
    limits = widened(mech, start, p) if gap < position_solver.ACCEPTED_GAP else ()
    if outside(mech, limits, closed, p):
        closed, gap = mech._closed(q, weights, free, p, t=t, limits=limits)
    return closed if gap < position_solver.ACCEPTED_GAP and not wrong_orientation(mech, closed, p) else None


def closed_position(
    mech: Mechanism,
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
    """(q, largest gap left) of the closed position nearest to q.

    anywhere : search farther where it is not found at once, and keep the limits of joints that close loops if that
    can be; limits : those to keep instead; bounded : whether those of the tree's joints hold
    """
    positions = mech._program.levels == 0
    if rows is not None:
        positions = positions & rows
    if not positions.any():
        return q, 0.0
    values = None if p is None else mech.parameter_values(p)
    residual, jacobian = mech._evaluator("constraint_residual"), mech._evaluator("constraint_jacobian")
    time = (mech.clock(t, p),) if "t" in residual.signature.arguments else ()
    chosen = slice(None) if positions.all() else positions
    problem = position_solver.Problem(
        lambda q: residual(q, *time, p=values)[chosen],
        lambda q: jacobian(q, p=values)[chosen],
        mech._coordinates.integrate_step if bounded else mech._coordinates.integrate_whole,
        mech._coordinates.room if bounded else mech._coordinates.all_room,
        lambda q: not wrong_orientation(mech, q, values, positions),
    )
    if limits is not None:
        return position_solver.close(limited(mech, limits, problem, values), q, weights, fixed)
    found = position_solver.close(problem, q, weights, fixed)
    if not anywhere:
        return found
    if not (found[1] < position_solver.ACCEPTED_GAP and problem.fits(found[0])):
        found = position_solver.close_from(oriented(mech, problem, values, positions), q, weights, fixed)
    own = mech.cut_limits if rows is None and bounded else ()
    if found[1] < position_solver.ACCEPTED_GAP and outside(mech, own, found[0], values):
        inside = limited(mech, own, oriented(mech, problem, values, positions), values)
        closed = position_solver.close_from(inside, q, weights, fixed)
        return closed if closed[1] < position_solver.ACCEPTED_GAP else found
    return found
