"""Kinematic and static performance measures computed from Jacobians, for many poses at once.

All go by the columns of the actuated Jacobian, unit speeds of the actuators (`core.analysis.manipulability`), in the m
dimensions in which the frame moves. With |u_i| ≤ s_i the velocities are the zonotope Σ u_i J_i: its least extent is
along a normal of two of its generators (of one in the plane). With |τ_i| ≤ e_i the forces are those with
|F · J_i| ≤ e_i: the largest ball in them has the radius min e_i / |J_i|, and gravity takes its share of e_i before.
"""

from __future__ import annotations

from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model.joints import effective_motor_limit
from core.studies.workspace.pose_solver import MappedMachine

Array = NDArray[np.float64]

SMALL = 1e-12
"""Fraction of the largest below which a singular value, or a cross product, counts as zero."""
MOST_ACTUATORS = 12
"""Largest number of actuators for which all sign combinations of errors are enumerated."""
REGULAR = 1e-14
"""Regularisation of the normal equations of actuator speeds, relative to their trace."""


class ActuatorJacobians(NamedTuple):
    """Jacobians with respect to the actuators. linear, angular : (n, 3, k) m/s and rad/s of the frame for unit speeds
    of k actuators; hold : (n, k) actuator forces that carry the machine's own weight, N·m, N; None: not computed."""

    linear: Array
    angular: Array
    hold: Array | None = None


def actuator_jacobians(
    machine: MappedMachine, q: Array, actuators: Actuators, weight: bool = False
) -> ActuatorJacobians:
    """Compute the Jacobians with respect to the actuators at poses q (n, nq)."""
    J = machine.frame_jacobians(q)
    G = np.asarray(machine.mech.gravity(q, p=machine.p)) if weight else None
    if machine.closing is None and len(actuators.indices) == machine.mech.nv:
        return ActuatorJacobians(J[:, 3:], J[:, :3], G)
    speeds = speed_transmissions(machine, q, actuators)
    moved = J @ speeds
    return ActuatorJacobians(moved[:, 3:], moved[:, :3], None if G is None else np.einsum("nik,ni->nk", speeds, G))


def speed_transmissions(machine: MappedMachine, q: Array, actuators: Actuators) -> Array:
    """Compute the speeds (n, nv, k) of all joints for unit speeds of the actuators, from the active constraints."""
    units, indices = machine.speed_units, list(actuators.indices)
    picked = np.zeros((len(indices), machine.mech.nv))
    picked[np.arange(len(indices)), indices] = 1.0
    if machine.closing is None:
        return np.broadcast_to(picked.T, (len(q), *picked.T.shape))
    rows = machine.constraint_residual_slopes(q) * units
    own = picked * units
    gram = np.swapaxes(rows, 1, 2) @ rows + own.T @ own
    gram = gram + (REGULAR * np.trace(gram, axis1=1, axis2=2))[:, None, None] * np.eye(gram.shape[1])
    return np.asarray(units[:, None] * np.linalg.solve(gram, np.broadcast_to(own.T, (len(q), *own.T.shape))))


def gram_matrices(J: Array) -> Array:
    """Compute (n, 3, 3) J Jᵀ."""
    return np.asarray(J @ np.swapaxes(J, 1, 2))


def singular_values(J: Array, m: int) -> Array:
    """Compute singular values (n, m) of matrices (n, 3, k), largest first: roots of the eigenvalues of J Jᵀ by the
    cosine formula of symmetric 3 × 3 matrices (O. K. Smith, Comm. ACM 4(4), 1961). Below 1e-7 of the largest they are
    rounding errors."""
    A = gram_matrices(J)
    mean = np.trace(A, axis1=1, axis2=2) / 3.0
    B = A - mean[:, None, None] * np.eye(3)
    p = np.sqrt(np.sum(B * B, axis=(1, 2)) / 6.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        half = np.where(p > 0.0, 0.5 * _determinants(B) / np.where(p > 0.0, p, 1.0) ** 3, 1.0)
    angle = np.arccos(np.clip(half, -1.0, 1.0)) / 3.0
    first = mean + 2.0 * p * np.cos(angle)
    last = mean + 2.0 * p * np.cos(angle + 2.0 * np.pi / 3.0)
    both = np.stack([first, 3.0 * mean - first - last, last], axis=1)
    return np.sqrt(np.maximum(both, 0.0))[:, :m]


def _determinants(A: Array) -> Array:
    return np.asarray(np.einsum("ni,ni->n", A[:, 0], np.cross(A[:, 1], A[:, 2])))


def manipulabilities(J: Array, m: int) -> Array:
    """Compute Yoshikawa's manipulability w (n,): the product of the m largest singular values. In three dimensions it
    is √det(J Jᵀ), with three columns |det J|; in two it follows from the sums of principal minors."""
    if J.shape[2] == 3 and m == 3:
        return np.abs(_determinants(J))
    products = {(i, j): np.einsum("nk,nk->n", J[:, i], J[:, j]) for i in range(3) for j in range(i, 3)}
    xx, yy, zz, xy, xz, yz = (products[each] for each in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    if m == 1:
        return np.sqrt(xx + yy + zz)
    minors = xx * yy - xy**2, xx * zz - xz**2, yy * zz - yz**2
    if m == 2:
        return np.sqrt(np.maximum(sum(minors), 0.0))
    determinant = zz * minors[0] - yz * (xx * yz - xy * xz) + xz * (xy * yz - yy * xz)
    return np.sqrt(np.maximum(determinant, 0.0))


def condition_numbers(J: Array, m: int) -> Array:
    """Compute condition numbers (n,), largest over smallest singular value; infinite at singular poses."""
    sigma = singular_values(J, m)
    lost = sigma[:, -1] <= 1e-7 * sigma[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lost, np.inf, sigma[:, 0] / sigma[:, -1])


def speeds_in_every_direction(J: Array, speed_limits: Array, normal: Array | None) -> Array:
    """Compute the speed (n,) that the frame attains in every direction, limited by the largest actuator speeds (k,).

    normal : (3,) of the plane in which it moves; None: in space
    """
    generators = J * speed_limits
    k = J.shape[2]
    if normal is not None:
        directions = [np.cross(normal, generators[:, :, i]) for i in range(k)]
    else:
        directions = [np.cross(generators[:, :, i], generators[:, :, j]) for i, j in combinations(range(k), 2)]
    least = np.full(len(J), np.inf)
    largest = np.linalg.norm(generators, axis=1).max(axis=1, initial=0.0)
    power = 1 if normal is not None else 2
    for direction in directions:
        length = np.linalg.norm(direction, axis=1)
        real = length > SMALL * np.maximum(largest, 1e-300) ** power
        extent = np.sum(np.abs(np.einsum("ni,nik->nk", direction, generators)), axis=1)
        least = np.where(real, np.minimum(least, extent / np.where(real, length, 1.0)), least)
    return np.where(np.isfinite(least), least, 0.0)


def forces_in_every_direction(J: Array, force_limits: Array, weight_forces: Array) -> Array:
    """Compute the force (n,) at the frame that the actuators can bear in every direction, in addition to the machine's
    weight; 0 if they cannot bear the weight. Force limits (k,) may be infinite."""
    left = np.maximum(force_limits - np.abs(weight_forces), 0.0)
    arms = np.linalg.norm(J, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(arms > SMALL, left / np.where(arms > SMALL, arms, 1.0), np.inf)
    least = each.min(axis=1)
    return np.where((np.abs(weight_forces) > force_limits).any(axis=1), 0.0, least)


def payloads(J: Array, force_limits: Array, weight_forces: Array, gravity: Array) -> Array:
    """Compute the largest mass (n,) at the frame's origin that the actuators can hold; 0 if they cannot hold the
    machine itself.

    gravity : (3,) m/s². τ_i = weight_forces_i − m J_i · gravity is linear in m, so the bounds of m are exact.
    """
    arm = -np.einsum("nik,i->nk", J, gravity)
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(arm > 0.0, (force_limits - weight_forces) / arm, np.inf)
        down = np.where(arm < 0.0, (-force_limits - weight_forces) / arm, np.inf)
    most = np.minimum(up, down).min(axis=1)
    return np.where((np.abs(weight_forces) > force_limits).any(axis=1), 0.0, np.maximum(most, 0.0))


def worst_errors(J: Array, actuator_errors: Array) -> Array:
    """Compute the largest |J δ| (n,) for actuator errors |δ_i| ≤ errors (k,): |J δ| is convex, so the maximum is at
    extreme errors; δ and −δ are equivalent. Raises ModelError for too many actuators to enumerate."""
    generators = J * actuator_errors
    if len(actuator_errors) > MOST_ACTUATORS:
        raise ModelError(
            f"The errors of {len(actuator_errors)} actuators have too many combinations.",
            where="over",
            remedy=f"Vary at most {MOST_ACTUATORS} coordinates.",
        )
    worst = np.zeros(len(J))
    for signs in product((1.0, -1.0), repeat=max(len(actuator_errors) - 1, 0)):
        moved = generators @ np.array([1.0, *signs])
        worst = np.maximum(worst, np.einsum("ni,ni->n", moved, moved))
    return np.sqrt(worst)


def least_stiffness(J: Array, stiffness: Array) -> Array:
    """Compute the frame's stiffness (n,) in its softest direction, with compliance only in the actuators, stiffness
    (k,): 1 / λ largest of the compliance J diag(1/k) Jᵀ (Salisbury 1980); infinite if no actuator moves the frame."""
    with np.errstate(divide="ignore"):
        return np.asarray(1.0 / singular_values(J / np.sqrt(stiffness), 3)[:, 0] ** 2)


def actuator_stiffnesses(mech: Mechanism, actuators: Actuators) -> Array:
    """Return the stiffness (k,) of the actuators' joints, N·m/rad or N/m. Raises ModelError naming one without
    stiffness."""
    numbers, joints, found = mech.compiled.coordinates.numbers, mech.compiled.coordinates.joints, []
    for name in actuators.names:
        joint = joints.get(name) or joints[name.rpartition(".")[0]]
        found.append(float(numbers.scalar(joint.stiffness, f"joint '{joint.name}', stiffness")))
        if not found[-1] > 0.0:
            raise ModelError(
                "The joint has no stiffness.",
                where=f"joint '{joint.name}'",
                remedy="Set the stiffness of the drive (field “stiffness”) of every joint that moves the frame.",
            )
    return np.array(found)


def actuator_force_limits(mech: Mechanism, actuators: Actuators) -> Array:
    """Return the largest forces (k,) of the actuators, infinite for joints without limit.

    Raises ModelError where none does.
    """
    return _actuator_limits(mech, actuators, "effort", "largest force or torque")


def actuator_speed_limits(mech: Mechanism, actuators: Actuators) -> Array:
    """Return the largest speeds (k,) of the actuators. Raises ModelError naming one without limit."""
    found = _actuator_limits(mech, actuators, "velocity", "largest speed")
    for name, speed in zip(actuators.names, found, strict=True):
        if not np.isfinite(speed):
            raise ModelError(
                "The joint has no speed limit.",
                where=f"joint '{name}'",
                remedy="Set a speed (velocity) in the limits of all joints that move the frame.",
            )
    return found


def _actuator_limits(mech: Mechanism, actuators: Actuators, field: str, noun: str) -> Array:
    numbers, found = mech.compiled.coordinates.numbers, []
    joints = mech.compiled.coordinates.joints
    for name, index in zip(actuators.names, actuators.indices, strict=True):
        joint = joints.get(name) or joints[name.rpartition(".")[0]]
        k = index - mech.joint_v(joint.name).start
        value = getattr(joint.limits[k], field) if k < len(joint.limits) else None
        found.append(
            effective_motor_limit(None if value is None else numbers.scalar(value, f"joint '{joint.name}', limits"))
        )
    result = np.array(found, dtype=float)
    if not np.isfinite(result).any():
        raise ModelError(
            f"No joint that moves the frame has a {noun}.",
            where="workspace",
            remedy=f"Set it in the limits of the joints (field “{field}”).",
        )
    return result


def gravity_vector(mech: Mechanism) -> Array:
    """Return the gravity vector (3,) m/s². Raises ModelError if gravity is not a uniform field."""
    gravity = mech.model.world.gravity
    if gravity.kind == "point":
        raise ModelError(
            "In the gravity field of a point mass, weight depends on position.",
            where="world, gravity",
            remedy="Use uniform gravity, or another kind of map.",
        )
    return np.array(mech.compiled.coordinates.numbers.gravity(gravity)[0], dtype=float)
