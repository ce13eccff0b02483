"""Ranges of the joint forces in a motion during which joints with dry friction are at rest: any force between two
bounds is possible.

At rest friction is what balances, up to its static levels: M a + h = τ + Wᵀ λ, −F₊ ≤ λ ≤ F₋ against motion onward and
backward. So the forces that keep a machine at rest are τ₀ − D λ, with τ₀ those without friction and a column of D for
each joint at rest; the support function of what is admissible (a box, of ball joints and planes balls) gives their
bounds, with nothing to search for. Where a joint at rest accelerates, it begins to slide, and friction is what it is
then. Elastic stops that are pushed in press. A rigid one that a joint rests against takes any push into it: forces that
push there have no bound on that side.

Friction that grows with reactions follows in trees from the motion. In loops reactions depend on it and on the forces
that are asked for: at a bound all joints at rest rub as much as the reactions of just these forces let them, each
in the sense that makes the force largest (in planes: lines of action are tangents of friction circles).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import (
    compute_bearing_loads,
    consistent_bearing_loads,
    joint_rows_under_load,
    require_unique_bearing_loads,
)
from core.constraints.joint_modes import JointRowTable, build_joint_row_table
from core.constraints.joint_rows import JointRows, evaluate_joint_rows
from core.constraints.multipliers import equivalent_actuator_forces
from core.constraints.named_values import broadcast_to_states
from core.constraints.row_forces import resisting_forces, resisting_forces_with_loads, touched_stop_sides
from core.mechanics.multibody.parameter_values import Values
from core.numerics.rank import solve_least_squares
from core.numerics.tolerances import AT_REST_SPEED
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

NO_EFFECT_FRACTION = 1e-12
"""Effect of friction on a force, relative to its largest effect on any force, up to which it is attributed to rounding
error."""
TURNED_FRACTION = 1e-10
"""Relative increase of a force above which the reversed friction direction is accepted."""


class ForceRanges(NamedTuple):
    """Joint forces (…, nv) with their lower and upper bounds, N·m or N.

    tau : without friction of joints that stay at rest, and without rigid stops; tau_min, tau_max : least and largest
    ones with which the motion is the same, ∓∞ where a rigid stop takes the rest. All three agree where nothing rubs at
    rest or touches a rigid stop
    """

    tau: Array
    tau_min: Array
    tau_max: Array


def compute_force_ranges(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    t: Any = 0.0,
    x: Any = None,
) -> ForceRanges:
    """Joint forces of a motion with their bounds; see `Mechanism.inverse_dynamics_ranges`."""
    tau = compute_joint_forces(compiled, q, v, a, actuators, p, True, t, x)
    q, v, a = (np.asarray(each, dtype=float) for each in (q, v, a))
    values, leading, times = compiled.parameter_values(p), tau.shape[:-1], np.asarray(t, dtype=float)[..., None]
    given = [q, v, a, values, times] + ([] if x is None else [np.asarray(x, dtype=float)])
    flat = [broadcast_to_states(each, leading) for each in given]
    low, high = broadcast_to_states(tau, leading).copy(), broadcast_to_states(tau, leading).copy()
    for k, (state, speed, acceleration, row, time, *own) in enumerate(zip(*flat, strict=True)):
        modes, states = build_joint_row_table(compiled, row), own[0] if own else None
        at = evaluate_joint_rows(compiled, modes, state, row, float(time[0]), speed, states)
        still = (at.row_magnitudes(at.W @ speed) < AT_REST_SPEED) & (
            at.row_magnitudes(at.W @ acceleration) < AT_REST_SPEED
        )
        rests, sides = at.friction_mask & still, np.where(still, touched_stop_sides(at), 0)
        if not (rests.any() or sides.any()):
            continue
        W = at.W
        if actuators is not None or compiled.constrained:
            W = equivalent_actuator_forces(compiled, state, W, actuators, row)
        D, outward = W[rests], -sides[:, None] * W
        motion = state, speed, acceleration, row, float(time[0]), states
        if modes.rows_with_bearing_friction and compiled.constrained:
            found = _bounds_in_loops(_ForceBalance(compiled, modes, at, motion, actuators), D, rests)
            low[k], high[k] = (np.where(np.isnan(each), low[k], each) for each in found)
        else:
            least, most = _friction_force_range(_joint_rows_under_load(compiled, modes, at, motion).select(rests), D)
            low[k] -= least
            high[k] += most
        less, more = _unbounded_forces(outward)
        low[k][less], high[k][more] = -np.inf, np.inf
    return ForceRanges(tau, low.reshape(tau.shape), high.reshape(tau.shape))


def _unbounded_forces(outward: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(nv,) masks of forces without a lower bound and without an upper bound. outward : (rows, nv) forces that balance
    a unit force of a rigid stop; 0 where no stop is touched"""
    sizes = np.abs(outward)
    counts = sizes > NO_EFFECT_FRACTION * sizes.max(axis=1, initial=0.0, keepdims=True)
    return np.any(counts & (outward > 0.0), axis=0), np.any(counts & (outward < 0.0), axis=0)


def _friction_force_range(resting: JointRows, D: Array) -> tuple[Array, Array]:
    """(nv,) largest decrease and increase of the forces by friction at rest. D : (rows, nv) effect of unit friction in
    each row"""
    ends = [-D.T * bound for bound in resting.static_bounds]
    first = resting.vector_group_sizes > 0  # the support function of a ball is the length
    least, most = np.minimum(*ends), np.maximum(*ends)
    less, more = (
        np.array([resting.row_magnitudes(each) for each in side])[:, first].sum(axis=1) for side in (least, most)
    )
    return less, more


def _bounds_in_loops(balance: _ForceBalance, D: Array, rests: NDArray[np.bool_]) -> tuple[Array, Array]:
    """(nv,) smallest and largest forces of a machine with loops whose friction depends on the resulting reactions; NaN
    where friction has no effect."""
    found = np.full((2, D.shape[1]), np.nan)
    at = balance.at.select(rests)
    blocks = [np.arange(i, i + count) for i, count in enumerate(at.vector_group_sizes) if count > 0]
    places = np.flatnonzero(rests)
    for k in np.flatnonzero(np.any(np.abs(D) > NO_EFFECT_FRACTION * np.max(np.abs(D), initial=1e-300), axis=0)):
        for side, sense in enumerate((-1.0, 1.0)):
            share = np.zeros(len(rests))
            for block in blocks:
                length = float(np.linalg.norm(D[block, k]))
                share[places[block]] = -sense * D[block, k] / length if length > 0.0 else 0.0
            found[side, k] = _extreme_force(balance, share, [places[block] for block in blocks], int(k), sense)
    return found[0], found[1]


def _extreme_force(balance: _ForceBalance, share: Array, blocks: list[NDArray[np.int64]], k: int, sign: float) -> float:
    """Largest (sense 1) or smallest (sense −1) value of force k; friction that acts only through reactions may be
    reversed to attain it."""
    best, turned = sign * balance.actuator_forces(share)[k], True
    while turned:
        turned = False
        for block in blocks:
            other = share.copy()
            other[block] = -other[block] if other[block].any() else 1.0 / np.sqrt(len(other[block]))
            value = sign * balance.actuator_forces(other)[k]
            if value > best + TURNED_FRACTION * abs(best):
                best, share, turned = value, other, True
    return sign * best


def compute_joint_forces(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """Joint forces of inverse dynamics; see `Mechanism.inverse_dynamics`."""
    tau = compiled.call("inverse_dynamics" if passive else "inverse_dynamics_ideal", q, v, a, p=p, t=t, x=x)
    if passive and compiled.constrained and compiled.program.symbolic.bearings:
        return _forces_with_bearing_friction(compiled, tau, (q, v, a), actuators, p, t, x)
    if passive and (resists := resisting_forces(compiled, q, v, a, p, t, x)) is not None:
        tau = tau - resists
    if actuators is None and not compiled.constrained:
        return tau
    return equivalent_actuator_forces(compiled, q, tau, actuators, p)


def _joint_rows_under_load(
    compiled: CompiledModel, modes: JointRowTable, rows: JointRows, state: tuple[Any, ...]
) -> JointRows:
    """Joint rows of an open chain with the bearing friction caused by a motion."""
    if not modes.rows_with_bearing_friction:
        return rows
    q, v, a, p, t, x = state
    return joint_rows_under_load(rows, compute_bearing_loads(compiled, q, v, a, np.zeros(0), None, p, t, x))


def _forces_with_bearing_friction(
    compiled: CompiledModel,
    tau: Array,
    motion: tuple[Any, ...],
    actuators: Sequence[str] | None,
    p: Values,
    t: Any,
    x: Any,
) -> Array:
    """Joint forces, state by state, of a machine with loops and reaction-dependent friction."""
    times, values = np.asarray(t, dtype=float)[..., None], compiled.parameter_values(p)
    given = [*(np.asarray(each, dtype=float) for each in motion), tau, values, times]
    given += [] if x is None else [np.asarray(x, dtype=float)]
    leading = np.broadcast_shapes(*(each.shape[:-1] for each in given))
    flat = [broadcast_to_states(each, leading) for each in given]
    result = np.array([_forces_at_actuators(compiled, actuators, *each) for each in zip(*flat, strict=True)])
    return result.reshape(*leading, compiled.nv)


def _forces_at_actuators(
    compiled: CompiledModel,
    actuators: Sequence[str] | None,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    p: Array,
    time: Array,
    x: Array | None = None,
) -> Array:
    """Joint forces at the actuators at one state; constraint forces Gᵀ λ supply the rest of the tree's forces."""
    modes, t = build_joint_row_table(compiled, p), float(time[0])
    at = evaluate_joint_rows(compiled, modes, q, p, t, v, x)
    return _ForceBalance(compiled, modes, at, (q, v, a, p, t, x), actuators, tau).actuator_forces()


class _ForceBalance:
    """Joint forces of a machine with loops in a motion q, v, a, p, t, x, with friction from the resulting reactions.

    tau : (nv,) what the joints of the tree would need without it. Raises SimulationError naming joints whose reactions
    are not unique
    """

    def __init__(
        self,
        compiled: CompiledModel,
        modes: JointRowTable,
        rows: JointRows,
        motion: tuple[Any, ...],
        actuators: Sequence[str] | None,
        tau: Array | None = None,
    ) -> None:
        self._compiled, self._modes, self.at, self._motion, self._actuators = compiled, modes, rows, motion, actuators
        q, v, a, p, t, x = motion
        require_unique_bearing_loads(compiled, modes, q, v, p, t, x)
        self._tau = compiled.call("inverse_dynamics", q, v, a, p=p, t=t, x=x) if tau is None else tau
        self._G = np.asarray(compiled.call("constraint_jacobian", q, p=p))[compiled.lasting]
        self._start: Array | None = None

    def actuator_forces(self, share: Array | None = None) -> Array:
        """(nv,) forces at the actuators. share : (rows,) friction at rest as a share of its limit, positive along
        increasing coordinates"""
        found = consistent_bearing_loads(self._compiled, self._modes, partial(self._bearing_loads, share), self._start)
        self._start = found
        return self._forces_at_friction_share(share, found)[1]

    def _forces_at_friction_share(self, share: Array | None, loads: Array) -> tuple[Array, Array, Array]:
        """Forces that the tree needs, the actuator forces that supply them, and forces in loop-closing joints."""
        resists, closing = resisting_forces_with_loads(self._compiled, self._modes, self.at, self._motion, loads, share)
        needed, (q, _, _, p, _, _) = self._tau - resists, self._motion
        return needed, equivalent_actuator_forces(self._compiled, q, needed, self._actuators, p), closing

    def _bearing_loads(self, share: Array | None, assumed_loads: Array) -> Array:
        """Bearing loads that result from the friction at assumed loads."""
        q, v, a, p, t, x = self._motion
        needed, given, closing = self._forces_at_friction_share(share, assumed_loads)
        every = np.zeros(len(self._compiled.rows))
        every[self._compiled.lasting] = solve_least_squares(self._G.T, needed - given)
        return compute_bearing_loads(self._compiled, q, v, a, every, closing, p, t, x)
