"""Static equilibrium: poses of open chains and loops at which all forces balance.

With free motions N (G N = 0) the forces balance when g = Nᵀ h(q, 0) = τ-free load vanishes. Newton's method on the
manifold with the stiffness K = Nᵀ ∂(h − Gᵀ λ)/∂q N; where K is not positive its eigenvalues are taken by size, so that
each step goes down in energy and stable equilibria are found (Nocedal and Wright, Numerical Optimization, 3.4). Limits
of joints hold: a step ends at the first one, which holds as long as it need not pull (active set, 16.5). What rests
against elastic stops then pushes them in, as far as their springs let it.

Joint forces are what motors are asked for: one that is asked for more than its limit of effort gives that, and the pose
of rest is where this balances.

Where friction holds, a pose stays if some forces within its bounds balance the load (`core.analysis.forces_at_rest`).
Otherwise the nearest one is looked for that they balance: with g + K (s − s₀) = C λ of small motions s, the least |s|
within the bounds of λ.

Friction that grows with reactions has in loops the bounds that the reactions give it which it makes itself: those of
the smallest forces that hold, and of each bound of a force those which go with just that.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.forces_at_rest import (
    HOLDS_FRACTION,
    FrictionBalance,
    Shares,
    feasible_force_ranges,
    find_smallest_forces,
    safety_factor,
)
from core.analysis.poses_of_rest import (
    LONGEST,
    MAX_STEPS,
    SOFT,
    Equilibrium,
    LoadBalance,
    describe_equilibrium,
    force_scale,
)
from core.constraints import motor_limits
from core.constraints.bearing_friction import consistent_bearing_loads, joint_rows_under_load
from core.constraints.elastic_stops import has_elastic_stop
from core.constraints.joint_modes import NOWHERE
from core.constraints.joint_rows import JointRows
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import single_state
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.numerics.bounded_forces import solve_bounded_least_squares
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]


WEIGHT = 1e6
"""Weight of the force balance relative to the distance from the pose, in units of the machine."""
LIGHT = 1e-6
"""Weight of forces (in units of their bounds) relative to the distance from the pose."""
NOTHING_FRACTION = 1e-12
"""Bound of an unloaded bearing's friction, relative to the largest friction bound."""
LEAST_FORCE = 1e-9
"""Smallest scale of a force, N or N·m."""
SHORTEST = 1e-11
"""Step (rad or machine sizes) below which the search counts as converged."""

BALANCED = 1e-10
"""Residual force, relative to the largest force (gravity, springs …), at which a pose is balanced and a limit carries
no load."""
OVERSHOOT = 0.5
"""Fraction of its former magnitude up to which the force along a step may be reversed after the step; above it the step
counts as too long."""


class _BoundedForces(NamedTuple):
    """Forces that may hold the machine in the pose: C λ = g along the free motions, low ≤ λ ≤ high. The first of them
    belong to the rows `rubbing`."""

    rubbing: JointRows
    C: Array
    g: Array
    low: Array
    high: Array
    shares: Shares


def find_pose_held_by_friction(
    mech: Mechanism, balance: LoadBalance, q: Array, without: Callable[[], Array]
) -> Equilibrium:
    """Find an equilibrium with friction near q (nq,). Raises SimulationError if there is none nearby.

    without : gives (nq,) the pose of rest without friction
    """
    constraints = balance.constraints
    balance.springs = None
    start = _move_inside_rigid_limits(mech, balance, q)
    pose = start
    if constraints.rows:
        pose = np.asarray(mech.assemble(start, p=constraints.p, t=constraints.t, limits=False))
    found = _nearest_pose_held_by_friction(mech, balance, pose, pose)
    if found is None:  # straight on is no way: back from where the machine rests without friction
        found = _nearest_pose_held_by_friction(mech, balance, pose, without())
    if found is None:
        raise SimulationError(
            "Friction cannot hold the machine here, and no nearby pose was found at which it can.",
            remedy="Start from another pose, increase friction, or look for an equilibrium without friction.",
        )
    return found


def _nearest_pose_held_by_friction(
    mech: Mechanism, balance: LoadBalance, start: Array, pose: Array
) -> Equilibrium | None:
    """Find the pose nearest to the start in which friction can hold the machine, searching from another pose; None if
    the search fails."""
    scale, near, friction = force_scale(balance, start), pose is start, np.zeros(0)
    for step in range(MAX_STEPS):
        balance.set_reference_pose(pose)
        problem = _bounded_forces(balance, pose)
        if near and _forces_can_hold(problem, scale):
            return _equilibrium_with_friction(mech, balance, pose, problem, step)
        moved, length, friction = _step_towards_held_pose(balance, start, pose, problem, friction)
        near = length < SHORTEST
        if near and not _forces_can_hold(problem, scale) and not _release_limit(balance, pose):
            return None
        pose = moved
    return None


def _move_inside_rigid_limits(mech: Mechanism, balance: LoadBalance, q: Array) -> Array:
    """(nq,) the pose moved inside rigid limits."""
    clamped = mech.clamp(q)
    for row in balance.modes.rows:
        if row.at_q != NOWHERE and has_elastic_stop(row):
            clamped[row.at_q] = q[row.at_q]
            balance.limits.all = tuple(limit for limit in balance.limits.all if limit.q != row.at_q)
        elif has_elastic_stop(row):
            balance.limits.all = tuple(limit for limit in balance.limits.all if limit.name != row.name)
    return clamped


def _bounded_forces(balance: LoadBalance, q: Array, loads: Array | None = None) -> _BoundedForces:
    """Friction and rigid-limit forces available at a pose. loads : bearing loads of a loop, default those of the
    smallest holding forces"""
    if loads is None and balance.has_self_dependent_friction:
        start = balance.bearing_load_function(q)(np.zeros(len(balance.modes.rows)))
        found = consistent_bearing_loads(
            balance.constraints.compiled, balance.modes, partial(_loads_for_smallest_forces, balance, q), start
        )
        return _bounded_forces(balance, q, found)
    at, N = balance.rows(q), balance.constraints.free_motions(q)
    rubbing = at.select(at.friction_mask)
    rubbing = rubbing if loads is None else joint_rows_under_load(rubbing, loads)
    least, most = rubbing.static_bounds
    pushes = balance.limits.rows(q)
    side = np.array([limit.side for limit in balance.limits.active], dtype=float)
    return _BoundedForces(
        rubbing,
        (np.concatenate([rubbing.W, pushes]) @ N).T,
        N.T @ balance.load(q),
        np.concatenate([least, np.where(side > 0.0, -np.inf, 0.0)]),
        np.concatenate([most, np.where(side > 0.0, 0.0, np.inf)]),
        np.concatenate([rubbing.vector_group_sizes, np.ones(len(side), dtype=np.int64)]),
    )


def _loads_for_smallest_forces(balance: LoadBalance, q: Array, assumed_loads: Array) -> Array:
    """Bearing loads due to the smallest holding forces, with friction at the assumed loads."""
    problem = _bounded_forces(balance, q, assumed_loads)
    return _bearing_loads_for_forces(
        balance, q, problem, find_smallest_forces(*problem[1:5], _force_scales(balance, problem), problem.shares)
    )


def _bearing_loads_for_forces(balance: LoadBalance, q: Array, problem: _BoundedForces, forces: Array) -> Array:
    """(bearings,) loads of a loop that result from the given forces of friction and limits."""
    friction = np.zeros(len(balance.modes.rows))
    friction[balance.rows(q).friction_mask] = forces[: len(problem.rubbing.rows)]
    return balance.bearing_load_function(q)(friction)


def _force_scales(balance: LoadBalance, problem: _BoundedForces) -> Array:
    """(n,) scales of the forces."""
    size = balance.constraints.size
    own = [size if row.dimension == "angle" else 1.0 for row in problem.rubbing.rows]
    return np.array(own + [1.0] * len(balance.limits.active))


def _friction_ranges(balance: LoadBalance, q: Array, problem: _BoundedForces, forces: Array) -> Array:
    """(rubbing rows, 2) smallest and largest friction forces with which the machine stays in the pose, found from given
    admissible forces."""
    count = len(problem.rubbing.rows)
    if not balance.has_self_dependent_friction:
        return feasible_force_ranges(*problem[1:])[:count]
    return np.array(
        [[_extreme_force(balance, q, problem, forces, i, sign) for sign in (1.0, -1.0)] for i in range(count)]
    )


def _extreme_force(
    balance: LoadBalance, q: Array, problem: _BoundedForces, forces: Array, i: int, sign: float
) -> float:
    """Smallest (sign 1) or largest (−1) value of force i, with bounds that depend on the reactions to all forces
    (sequential quadratic programming; Nocedal and Wright, Numerical Optimization, 18); NaN if it does not converge."""
    from scipy.optimize import minimize

    units = np.maximum(np.maximum(np.abs(forces), np.where(np.isfinite(problem.high), problem.high, 0.0)), LEAST_FORCE)
    C, size = problem.C * units, max(float(np.max(np.abs(problem.C * units), initial=0.0)), 1e-300)

    loads, friction, at = balance.bearing_load_function(q), np.zeros(len(balance.modes.rows)), balance.rows(q)
    rubs, bare, count = at.friction_mask, at.select(at.friction_mask), len(problem.rubbing.rows)
    alone, balls = problem.shares == 1, np.flatnonzero(problem.shares > 1).tolist()
    lower, upper = alone & np.isfinite(problem.low), alone & np.isfinite(problem.high)

    def constraint_margins(x: Array) -> Array:
        friction[rubs] = (x * units)[:count]
        low, high = problem.low.copy(), problem.high.copy()
        low[:count], high[:count] = joint_rows_under_load(bare, loads(friction)).static_bounds
        inside = [
            (high[k] / units[k]) ** 2 - _squared_norm(x * units / units[k], k, int(problem.shares[k])) for k in balls
        ]
        return np.concatenate([(high / units - x)[upper], (x - low / units)[lower], inside])

    balanced = {"type": "eq", "fun": lambda x: (C @ x - problem.g) / size, "jac": lambda _: C / size}
    found = minimize(
        lambda x: sign * x[i],
        forces / units,
        method="SLSQP",
        constraints=(balanced, {"type": "ineq", "fun": constraint_margins}),
        options={"ftol": 1e-13, "maxiter": 60},
    )
    away = max(
        float(np.max(np.abs(C @ found.x - problem.g), initial=0.0)) / size, float(np.max(-constraint_margins(found.x)))
    )
    return float(found.x[i] * units[i]) if away <= HOLDS_FRACTION else math.nan


def _squared_norm(x: Array, first: int, count: int) -> float:
    return float(x[first : first + count] @ x[first : first + count])


def _forces_can_hold(problem: _BoundedForces, scale: float) -> bool:
    """Return True if some admissible forces balance the load."""
    if np.max(np.abs(problem.g), initial=0.0) <= HOLDS_FRACTION * scale:
        return True
    return safety_factor(*problem[1:]) >= 1.0 - HOLDS_FRACTION


def _step_towards_held_pose(
    balance: LoadBalance, start: Array, q: Array, problem: _BoundedForces, friction: Array
) -> tuple[Array, float, Array]:
    """Take a step towards the nearest pose in which friction can hold the machine; return the new pose, the length of
    the step, and the friction there."""
    from scipy.optimize import lsq_linear

    constraints, limits = balance.constraints, balance.limits
    N = limits.free_motions(q)
    g, C = N.T @ balance.load(q), (problem.rubbing.W @ N).T
    rubs = np.flatnonzero(balance.rows(q).friction_mask)
    all_rows = np.zeros(len(balance.modes.rows))
    least, most = problem.rubbing.static_bounds
    if len(friction) != len(rubs):
        friction = find_smallest_forces(C, g, least, most, np.ones(len(rubs)), problem.rubbing.vector_group_sizes)
    all_rows[rubs] = friction
    K = balance.stiffness(q, N, all_rows)
    gone = np.linalg.pinv(N / constraints.speed_units[:, None]) @ (
        constraints.compiled.coordinates.speeds_between(start, q) / constraints.speed_units
    )
    units, k = np.maximum(-least, most), len(g)
    units = np.maximum(units, NOTHING_FRACTION * max(float(np.max(units, initial=0.0)), 1e-300))
    size = max(float(np.max(np.abs(K), initial=0.0)), float(np.max(np.abs(g), initial=0.0)), 1e-300)
    rows = np.block([[WEIGHT / size * K, -WEIGHT / size * C * units], [np.eye(k), np.zeros((k, len(units)))]])
    target = np.concatenate([WEIGHT / size * (K @ gone - g), np.zeros(k)])
    free = np.full(k, np.inf)
    smaller, larger = np.minimum(least / units, -NOTHING_FRACTION), np.maximum(most / units, NOTHING_FRACTION)
    bounds = np.concatenate([-free, smaller]), np.concatenate([free, larger])
    if (problem.shares != 1).any():
        h = np.concatenate([np.ones(k), np.full(len(units), LIGHT)])
        shares = np.concatenate([np.ones(k, dtype=np.int64), problem.rubbing.vector_group_sizes])
        x = solve_bounded_least_squares(h, rows[:k] / WEIGHT, target[:k] / WEIGHT, *bounds, shares)
    else:
        x = lsq_linear(rows, target, bounds, tol=1e-15).x
    displacement, rubbing = x[:k] - gone, C @ (x[k:] * units)
    displacement += np.linalg.lstsq(K, rubbing - g - K @ displacement, rcond=SOFT)[0]  # what the weight has left
    length = float(np.linalg.norm(displacement))
    displacement *= min(1.0, LONGEST / max(length, 1e-300))
    trial = limits.closed(constraints.displace(q, N @ displacement))[0]
    reached = limits.step_to_first_limit(q, trial)
    return (trial if reached is None else reached), length, x[k:] * units


def _release_limit(balance: LoadBalance, q: Array) -> bool:
    """Release the limit that would need the largest tensile force; return True if there is one."""
    return balance.limits.release_pulling_limit(balance.solve_balancing_forces(q, balance.load(q))[1], 0.0)


def _equilibrium_with_friction(
    mech: Mechanism, balance: LoadBalance, pose: Array, problem: _BoundedForces, steps: int
) -> Equilibrium:
    at_rest = describe_equilibrium(mech, balance, pose, steps)
    rubbing = problem.rubbing
    rubs = len(rubbing.rows)
    forces = find_smallest_forces(*problem[1:5], _force_scales(balance, problem), problem.shares)
    bounds = _friction_ranges(balance, pose, problem, forces)
    names = [row.name for row in rubbing.rows]
    left = problem.g - problem.C @ forces
    pushes = {limit.name: float(f) for limit, f in zip(balance.limits.active, forces[rubs:], strict=True)}
    stops = balance.pressed_stops(pose)
    held = FrictionBalance(
        dict(zip(names, map(float, forces[:rubs]), strict=True)),
        {name: (float(low), float(high)) for name, (low, high) in zip(names, bounds, strict=True)},
        {row.name: max(map(abs, row.static_bounds)) for row in rubbing.rows},
        safety_factor(*problem[1:]) if rubs else math.inf,
    )
    return replace(
        at_rest,
        residual=float(np.max(np.abs(left), initial=0.0)) / force_scale(balance, pose),
        stability="held" if rubs else at_rest.stability,
        linear=None if rubs else at_rest.linear,
        limits=pushes | dict(zip(stops.names, map(float, stops.forces), strict=True)),
        friction=held,
    )


def equilibrium(
    mech: Mechanism,
    q: Array | None = None,
    p: Values = None,
    t: float = 0.0,
    *,
    tau: Array | None = None,
    nearest: bool = False,
    friction: bool = False,
    motors: bool = True,
) -> Equilibrium:
    """Static equilibrium reached from q (nq,), default the reference configuration.

    tau : (nv,) constant joint forces; nearest : go to the nearest balance, unstable ones and such beyond limits, too,
    instead of downhill within the limits; friction : it holds, so that the pose stays if it can be held, else the
    nearest one is reached that can; motors : `tau` is what motors are asked for, which give no more than their limits
    of effort, as in runs (`saturated` of what is found); False: joints get it
    Raises SimulationError when nothing holds the machine, AssemblyError when it cannot be closed.
    """
    constraints = PositionConstraints(mech.compiled, p, t)
    start = mech.rest(p) if q is None else single_state(mech.compiled, q)
    asked = np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    acting = motor_limits.clip_to_effort_limits(mech.compiled, asked, constraints.p) if motors else asked
    short = motor_limits.exceeded_effort_limits(mech.compiled, asked, constraints.p) if motors else {}
    try:
        found = _find_equilibrium(mech, LoadBalance(constraints, acting), start, nearest, friction)
    except SimulationError as error:
        if short:
            error.what = f"{error.what} {motor_limits.effort_limit_text(mech.compiled, asked, constraints.p)}"
        raise error
    return replace(found, saturated=short)


def _find_equilibrium(
    mech: Mechanism, balance: LoadBalance, start: Array, nearest: bool, friction: bool
) -> Equilibrium:
    """Equilibrium under given joint forces."""
    constraints, p, t = balance.constraints, balance.constraints.p, balance.constraints.t
    if friction:
        freely = partial(equilibrium, mech, start, p, t, tau=balance.tau, motors=False)
        return find_pose_held_by_friction(mech, balance, start, lambda: freely().q)
    start = start if nearest else mech.clamp(start)
    pose = np.asarray(mech.assemble(start, p=p, t=t)) if constraints.rows else start
    pose, steps = _descend_to_equilibrium(balance, pose, nearest)
    balance.limits.drop_unloaded(
        balance.solve_balancing_forces(pose, balance.load(pose))[1], BALANCED * force_scale(balance, pose)
    )
    pose = _deflect_stops(balance, pose)
    return describe_equilibrium(mech, balance, pose, steps)


def _deflect_stops(balance: LoadBalance, q: Array) -> Array:
    """(nq,) pose with the elastic stops deflected by their loads."""
    if not balance.replace_limits_by_stops(q):
        return q
    scale = force_scale(balance, q)
    for _ in range(MAX_STEPS):
        N, g = balance.load_along_motions(q)
        if np.max(np.abs(g), initial=0.0) <= BALANCED * scale:
            break
        step = _newton_step(balance.stiffness(q, N), g)
        step *= min(1.0, LONGEST / max(float(np.linalg.norm(step)), 1e-300))
        q = balance.limits.closed(balance.constraints.displace(q, N @ step))[0]
    return q


def _descend_to_equilibrium(balance: LoadBalance, q: Array, nearest: bool) -> tuple[Array, int]:
    constraints = balance.constraints
    scale = force_scale(balance, q)
    longest = LONGEST
    for step in range(MAX_STEPS):
        balance.set_reference_pose(q)
        N, g = balance.load_along_motions(q)
        if np.max(np.abs(g), initial=0.0) <= BALANCED * scale and (nearest or not _is_unstable_balance(balance, q, N)):
            if not balance.limits.release_pulling_limit(
                balance.solve_balancing_forces(q, balance.load(q))[1], BALANCED * scale
            ):
                return q, step
            continue
        K = balance.stiffness(q, N)
        displacement = _newton_step(K, g) if nearest else _descent_step(K, g, scale)
        length = float(np.linalg.norm(displacement))
        displacement *= min(1.0, longest / length) if length > 0.0 else 0.0
        trial, accepted = _line_search(balance, q, N, g, displacement, scale, nearest)
        if not accepted:
            break
        reached = trial if nearest else balance.limits.step_to_first_limit(q, trial)
        longest = 0.5 * longest if reached is None else longest
        q = q if reached is None else reached
    N, g = balance.load_along_motions(q)
    if np.max(np.abs(g), initial=0.0) > 1e-7 * scale:
        raise _unsupported_joint_error(constraints, N, g)
    return q, MAX_STEPS


def _is_unstable_balance(balance: LoadBalance, q: Array, N: Array) -> bool:
    """Return True if an exact equilibrium is unstable, so that a small disturbance leads away from it."""
    K = balance.stiffness(q, N)
    if not len(K):
        return False
    values = np.linalg.eigvalsh(0.5 * (K + K.T))
    return bool(values[0] < -1e-7 * max(np.max(np.abs(values)), 1e-300))


def _newton_step(K: Array, g: Array) -> Array:
    return -np.asarray(np.linalg.lstsq(K, g, rcond=SOFT)[0], dtype=float)


def _descent_step(K: Array, g: Array, scale: float) -> Array:
    """Descent step −|K|⁻¹ g; of the largest allowed length along directions without stiffness; with a small
    perturbation away from unstable equilibria."""
    values, vectors = np.linalg.eigh(0.5 * (K + K.T))
    along = vectors.T @ g
    size = np.abs(values)
    stiffest = max(float(np.max(size, initial=0.0)), SOFT * scale)
    soft = size <= SOFT * stiffest
    step = -along / np.where(soft, 1.0, size)
    loaded = np.abs(along) > BALANCED * scale
    pull = float(np.linalg.norm(along[soft]))  # one direction: which eigenvectors span what is soft says rounding alone
    step[soft] = -along[soft] / pull * LONGEST if pull > BALANCED * scale else 0.0
    ridge = ~loaded & (values < -1e-7 * stiffest)
    step[ridge] += 0.01
    return np.asarray(vectors @ step)


def _line_search(
    balance: LoadBalance, q: Array, N: Array, g: Array, displacement: Array, scale: float, nearest: bool
) -> tuple[Array, bool]:
    """Closed pose after a step that is halved until the energy decreases (or, with `nearest`, until the forces
    decrease)."""
    before = float(g @ displacement)
    for _ in range(30):
        trial, gap = balance.limits.closed(balance.constraints.displace(q, N @ displacement))
        if gap < ACCEPTED_GAP:
            N_trial, g_trial = balance.load_along_motions(trial)
            if nearest:
                if np.linalg.norm(g_trial) < np.linalg.norm(g) or np.linalg.norm(g) < 1e-8 * scale:
                    return trial, True
            else:
                gone = balance.constraints.compiled.coordinates.speeds_between(q, trial)
                after = float(balance.load(trial) @ _project_on_motions(N_trial, gone, balance.constraints.speed_units))
                if after <= OVERSHOOT * abs(before) or abs(before) < 1e-14 * scale:
                    return trial, True
        displacement = 0.5 * displacement
        before = float(g @ displacement)
    return q, False


def _project_on_motions(N: Array, displacement: Array, units: Array) -> Array:
    """Component of a displacement along the free motions."""
    return np.asarray(N @ (N / units[:, None]).T @ (displacement / units))


def _unsupported_joint_error(constraints: PositionConstraints, N: Array, g: Array) -> SimulationError:
    """Error that names a joint whose load nothing balances."""
    compiled = constraints.compiled
    drive = np.abs(N @ g) / constraints.speed_units
    joints = (coordinate.joint for coordinate in compiled.coordinates.table)
    joint = max(joints, key=lambda name: float(np.max(drive[compiled.joint_v(name)])))
    return SimulationError(
        "No equilibrium was found from this pose: where the search ended, nothing balances the load on this joint.",
        where=f"joint '{joint}'",
        remedy="Lock the joint, add a spring, or start from another pose.",
    )
