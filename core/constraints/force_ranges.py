"""Joint forces of a motion in which joints stand still that friction may hold: anything between two bounds.

At rest friction is what balances, up to its static levels: M a + h = τ + Wᵀ λ, −F₊ ≤ λ ≤ F₋ against motion onward and
backward. So the forces that keep a machine at rest are τ₀ − D λ, with τ₀ those without friction and a column of D for
each joint at rest; the support function of what is admissible (a box, of ball joints and planes balls) gives their
bounds, with nothing to search for. Where a joint at
rest accelerates, it begins to slide, and friction is what it is then. Stops that are pushed in press.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.bearing_friction import loaded, loads_at, named, require_unique, settled
from core.constraints.joint_modes import NOWHERE, JointModes, joint_modes
from core.constraints.joint_rows import AT_REST_SPEED, JointRows, rows_at
from core.constraints.multipliers import at_actuators
from core.constraints.row_forces import resisting, resisting_with
from core.constraints.states import per_state
from core.errors import SimulationError
from core.multibody.parameter_values import Values
from core.numerics.rank import least
from core.traces.compiled import Compiled

Array = NDArray[np.float64]


class ForceRanges(NamedTuple):
    """(…, nv) joint forces, N·m or N.

    tau : without friction of joints that stay at rest; tau_min, tau_max : least and largest ones with which the motion
    is the same. All three agree where nothing rubs at rest
    """

    tau: Array
    tau_min: Array
    tau_max: Array


def force_ranges(
    compiled: Compiled,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    t: Any = 0.0,
    x: Any = None,
) -> ForceRanges:
    """See `Mechanism.inverse_dynamics_ranges`."""
    tau = joint_forces(compiled, q, v, a, actuators, p, True, t, x)
    q, v, a = (np.asarray(each, dtype=float) for each in (q, v, a))
    values, leading, times = compiled.parameter_values(p), tau.shape[:-1], np.asarray(t, dtype=float)[..., None]
    given = [q, v, a, values, times] + ([] if x is None else [np.asarray(x, dtype=float)])
    flat = [per_state(each, leading) for each in given]
    low, high = per_state(tau, leading).copy(), per_state(tau, leading).copy()
    for k, (state, speed, acceleration, row, time, *own) in enumerate(zip(*flat, strict=True)):
        modes, states = joint_modes(compiled, row), own[0] if own else None
        at = rows_at(compiled, modes, state, row, float(time[0]), speed, states)
        still = (at.sizes(at.W @ speed) < AT_REST_SPEED) & (at.sizes(at.W @ acceleration) < AT_REST_SPEED)
        resting = at.chosen(at.rubs & still)
        if any(each.bearing != NOWHERE for each in resting.rows):
            motion = state, speed, acceleration, row, float(time[0]), states
            resting = _under_load(compiled, modes, resting, motion)
        if resting.rows:
            D = resting.W
            if actuators is not None or compiled.constrained:
                D = at_actuators(compiled, state, resting.W, actuators, row)
            ends = [-D.T * bound for bound in resting.static_bounds]
            least, most = np.minimum(*ends), np.maximum(*ends)
            first = resting.shares > 0  # the support function of a ball is the length
            low[k] -= np.array([resting.sizes(each) for each in least])[:, first].sum(axis=1)
            high[k] += np.array([resting.sizes(each) for each in most])[:, first].sum(axis=1)
    return ForceRanges(tau, low.reshape(tau.shape), high.reshape(tau.shape))


def joint_forces(
    compiled: Compiled,
    q: Any,
    v: Any,
    a: Any,
    actuators: Sequence[str] | None,
    p: Values,
    passive: bool,
    t: Any = 0.0,
    x: Any = None,
) -> Array:
    """See `Mechanism.inverse_dynamics`."""
    tau = compiled.call("inverse_dynamics" if passive else "inverse_dynamics_ideal", q, v, a, p=p, t=t, x=x)
    if passive and compiled.constrained and compiled.program.tracer.bearings:
        return _with_bearings(compiled, tau, (q, v, a), actuators, p, t, x)
    if passive and (resists := resisting(compiled, q, v, a, p, t, x)) is not None:
        tau = tau - resists
    if actuators is None and not compiled.constrained:
        return tau
    return at_actuators(compiled, q, tau, actuators, p)


def _under_load(compiled: Compiled, modes: JointModes, at: JointRows, state: tuple[Any, ...]) -> JointRows:
    """Rows with the friction that a motion gives them. Raises SimulationError for loops, where it depends on the forces
    themselves."""
    if compiled.constrained:
        raise SimulationError(
            "Friction grows with reactions, and those of a loop with the forces that are asked for: they have no "
            "ranges of their own.",
            where=named(modes),
            remedy="Ask for inverse_dynamics, or give the friction as a number.",
        )
    q, v, a, p, t, x = state
    return loaded(at, loads_at(compiled, q, v, a, np.zeros(0), None, p, t, x))


def _with_bearings(
    compiled: Compiled, tau: Array, motion: tuple[Any, ...], actuators: Sequence[str] | None, p: Values, t: Any, x: Any
) -> Array:
    """Joint forces of a machine with loops in which friction grows with reactions, one state after the other."""
    times, values = np.asarray(t, dtype=float)[..., None], compiled.parameter_values(p)
    given = [*(np.asarray(each, dtype=float) for each in motion), tau, values, times]
    given += [] if x is None else [np.asarray(x, dtype=float)]
    leading = np.broadcast_shapes(*(each.shape[:-1] for each in given))
    flat = [per_state(each, leading) for each in given]
    result = np.array([_balanced(compiled, actuators, *each) for each in zip(*flat, strict=True)])
    return result.reshape(*leading, compiled.nv)


def _balanced(
    compiled: Compiled,
    actuators: Sequence[str] | None,
    q: Array,
    v: Array,
    a: Array,
    tau: Array,
    p: Array,
    time: Array,
    x: Array | None = None,
) -> Array:
    """Joint forces at one state: Gᵀ λ is what of the forces of the tree they do not give."""
    modes, t = joint_modes(compiled, p), float(time[0])
    require_unique(compiled, modes, q, v, p, t, x)
    at = rows_at(compiled, modes, q, p, t, v, x)
    state, G = (q, v, a, p, t, x), np.asarray(compiled.call("constraint_jacobian", q, p=p))

    def forces(loads: Array) -> tuple[Array, Array, Array]:
        resists, closing = resisting_with(compiled, modes, at, state, loads)
        needed = tau - resists
        return needed, at_actuators(compiled, q, needed, actuators, p), closing

    def loads(before: Array) -> Array:
        needed, given, closing = forces(before)
        multipliers = least(G[compiled.lasting].T, needed - given)
        every = np.zeros(len(compiled.rows))
        every[compiled.lasting] = multipliers
        return loads_at(compiled, q, v, a, every, closing, p, t, x)

    return forces(settled(compiled, modes, loads))[1]
