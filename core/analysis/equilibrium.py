"""Static equilibrium: poses of open chains and loops at which all forces balance.

With free motions N (G N = 0) the forces balance when g = Nᵀ h(q, 0) = τ-free load vanishes. Newton's method on the
manifold with the stiffness K = Nᵀ ∂(h − Gᵀ λ)/∂q N; where K is not positive its eigenvalues are taken by size, so that
each step goes down in energy and stable equilibria are found (Nocedal and Wright, Numerical Optimization, 3.4). Limits
of joints hold: a step ends at the first one, which holds as long as it need not pull (active set, 16.5). What rests
against elastic stops then pushes them in, as far as their springs let it.

Joint forces are what motors are asked for: one that is asked for more than its limit of effort gives that, and the pose
of rest is where this balances.

Where friction holds, a pose stays if some forces within its bounds balance the load (`core.analysis.friction_balance`).
Otherwise the nearest one is looked for that they balance: with g + K (s − s₀) = C λ of small motions s, the least |s|
within the bounds of λ.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from core.analysis.held_pose import held_pose
from core.analysis.poses_of_rest import LONGEST, MAX_STEPS, SOFT, Balance, Equilibrium, equilibrium_at, force_scale
from core.constraints import motor_limits
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import one_state
from core.errors import SimulationError
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.numerics.tolerances import ACCEPTED_GAP

Array = NDArray[np.float64]

BALANCED = 1e-10
"""Residual force, relative to the largest force (gravity, springs …), at which a pose is balanced and a limit carries
no load."""
OVERSHOOT = 0.5
"""Share of its former size that the reversed force along a step may keep before the step counts as too long."""


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
    start = mech.rest(p) if q is None else one_state(mech.compiled, q)
    asked = np.zeros(mech.nv) if tau is None else np.asarray(tau, dtype=float)
    acting = motor_limits.given(mech.compiled, asked, constraints.p) if motors else asked
    short = motor_limits.beyond(mech.compiled, asked, constraints.p) if motors else {}
    try:
        found = _found_equilibrium(mech, Balance(constraints, acting), start, nearest, friction)
    except SimulationError as error:
        if short:
            error.what = f"{error.what} {motor_limits.effort_limit_text(mech.compiled, asked, constraints.p)}"
        raise error
    return replace(found, saturated=short)


def _found_equilibrium(mech: Mechanism, balance: Balance, start: Array, nearest: bool, friction: bool) -> Equilibrium:
    """Equilibrium under given joint forces."""
    constraints, p, t = balance.constraints, balance.constraints.p, balance.constraints.t
    if friction:
        freely = partial(equilibrium, mech, start, p, t, tau=balance.tau, motors=False)
        return held_pose(mech, balance, start, lambda: freely().q)
    start = start if nearest else mech.clamp(start)
    pose = np.asarray(mech.assemble(start, p=p, t=t)) if constraints.rows else start
    pose, steps = _descended_pose(balance, pose, nearest)
    balance.limits.drop(balance.balancing_forces(pose, balance.load(pose))[1], BALANCED * force_scale(balance, pose))
    pose = _with_deflected_stops(balance, pose)
    return equilibrium_at(mech, balance, pose, steps)


def _with_deflected_stops(balance: Balance, q: Array) -> Array:
    """(nq,) pose with elastic stops deflected by their loads."""
    if not balance.give_way(q):
        return q
    scale = force_scale(balance, q)
    for _ in range(MAX_STEPS):
        N, g = balance.gradient(q)
        if np.max(np.abs(g), initial=0.0) <= BALANCED * scale:
            break
        step = _newton_step(balance.stiffness(q, N), g)
        step *= min(1.0, LONGEST / max(float(np.linalg.norm(step)), 1e-300))
        q = balance.limits.closed(balance.constraints.moved(q, N @ step))[0]
    return q


def _descended_pose(balance: Balance, q: Array, nearest: bool) -> tuple[Array, int]:
    constraints = balance.constraints
    scale = force_scale(balance, q)
    longest = LONGEST
    for step in range(MAX_STEPS):
        balance.passed(q)
        N, g = balance.gradient(q)
        if np.max(np.abs(g), initial=0.0) <= BALANCED * scale and (nearest or not _is_unstable_balance(balance, q, N)):
            if not balance.limits.release(balance.balancing_forces(q, balance.load(q))[1], BALANCED * scale):
                return q, step
            continue
        K = balance.stiffness(q, N)
        displacement = _newton_step(K, g) if nearest else _descent_step(K, g, scale)
        length = float(np.linalg.norm(displacement))
        displacement *= min(1.0, longest / length) if length > 0.0 else 0.0
        trial, accepted = _accepted_step(balance, q, N, g, displacement, scale, nearest)
        if not accepted:
            break
        reached = trial if nearest else balance.limits.reached(q, trial)
        longest = 0.5 * longest if reached is None else longest
        q = q if reached is None else reached
    N, g = balance.gradient(q)
    if np.max(np.abs(g), initial=0.0) > 1e-7 * scale:
        raise _unheld_joint_error(constraints, N, g)
    return q, MAX_STEPS


def _is_unstable_balance(balance: Balance, q: Array, N: Array) -> bool:
    """Return True if an exact balance is unstable, so that a small push leads away from it."""
    K = balance.stiffness(q, N)
    if not len(K):
        return False
    values = np.linalg.eigvalsh(0.5 * (K + K.T))
    return bool(values[0] < -1e-7 * max(np.max(np.abs(values)), 1e-300))


def _newton_step(K: Array, g: Array) -> Array:
    return -np.asarray(np.linalg.lstsq(K, g, rcond=SOFT)[0], dtype=float)


def _descent_step(K: Array, g: Array, scale: float) -> Array:
    """Descent step −|K|⁻¹ g; as long as allowed along directions without stiffness; with a small perturbation off
    unstable balances."""
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


def _accepted_step(
    balance: Balance, q: Array, N: Array, g: Array, displacement: Array, scale: float, nearest: bool
) -> tuple[Array, bool]:
    """Closed pose after a step, halved until the energy falls (or, with `nearest`, until the forces shrink)."""
    before = float(g @ displacement)
    for _ in range(30):
        trial, gap = balance.limits.closed(balance.constraints.moved(q, N @ displacement))
        if gap < ACCEPTED_GAP:
            N_trial, g_trial = balance.gradient(trial)
            if nearest:
                if np.linalg.norm(g_trial) < np.linalg.norm(g) or np.linalg.norm(g) < 1e-8 * scale:
                    return trial, True
            else:
                gone = balance.constraints.compiled.coordinates.difference(q, trial)
                after = float(balance.load(trial) @ _tangent_part(N_trial, gone, balance.constraints.units))
                if after <= OVERSHOOT * abs(before) or abs(before) < 1e-14 * scale:
                    return trial, True
        displacement = 0.5 * displacement
        before = float(g @ displacement)
    return q, False


def _tangent_part(N: Array, displacement: Array, units: Array) -> Array:
    """Component of a displacement along the free motions."""
    return np.asarray(N @ (N / units[:, None]).T @ (displacement / units))


def _unheld_joint_error(constraints: PositionConstraints, N: Array, g: Array) -> SimulationError:
    """Error that names a joint that nothing holds."""
    compiled = constraints.compiled
    drive = np.abs(N @ g) / constraints.units
    joints = (coordinate.joint for coordinate in compiled.coordinates.table)
    joint = max(joints, key=lambda name: float(np.max(drive[compiled.joint_v(name)])))
    return SimulationError(
        "No equilibrium was found: nothing balances the load on this joint.",
        where=f"joint '{joint}'",
        remedy="Fix it, give it a spring, or start from another pose.",
    )
