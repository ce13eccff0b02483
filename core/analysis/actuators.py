"""Actuators: the joint speeds that are prescribed, while all other speeds follow from the constraints.

With the motions N that joints and constraints leave (v = N s) actuators of speeds u = A N s move a frame by J N (A N)⁺.
Where A N loses rank the machine moves though all actuators are held, and they cannot hold it: a singularity of the
second type (C. Gosselin, J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE Trans. Robotics and
Automation 6(3), 1990). Drivers hold nothing here: they are what actuators do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.consistent_motion import choose_independent_speeds
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.named_values import unknown_name_error
from core.constraints.rest_position import reference_position, speed_units
from core.errors import ModelError, suggest_names
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.mechanism.force_rows import check_method, force_rows, force_rows_of_actuators
from core.model.formula.expression import names_in_formula, parse
from core.model.joints import effective_motor_limit
from core.model.signals import TIME
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]

HELD_TOLERANCE = 1e-7
"""Actuator speed in a free motion (relative, in units of the machine) below which the motion counts as possible with
locked actuators; loops are closed only to the tolerance of the assembly."""


class Actuators(NamedTuple):
    """The actuated speeds of a machine.

    indices : of speeds v; names : of them; reason : why these, in words, '' where all joints of a tree are.
    """

    indices: tuple[int, ...]
    names: tuple[str, ...]
    reason: str = ""

    def translating_mask(self, mech: Mechanism) -> NDArray[np.bool_]:
        """(k,) mask of the actuators that translate (m/s)."""
        dimensions = mech.compiled.coordinates.speed_dimensions
        return np.array([dimensions[k] == "velocity" for k in self.indices], dtype=bool)


class ActuatorTransmission(NamedTuple):
    """Map from actuator speeds u to joint speeds at a pose, v = speeds · u; of minimum norm if there are more actuators
    than degrees of freedom.

    speeds : (nv, k); loose : (nv, r) orthonormal speeds (in units of the machine) that held actuators leave.
    """

    speeds: Array
    loose: Array


def choose_actuators(mech: Mechanism, names: Sequence[str] = ()) -> Actuators:
    """Choose the named actuators (speeds, or joints with all their speeds); without names those of `default_actuators`.

    Raises ModelError where they leave the machine free to move at general poses.
    """
    if not names:
        return default_actuators(mech.compiled)
    chosen = named_actuators(mech, names)
    loose = _compute_transmission(mech.compiled, _free_motions_at_generic_pose(mech.compiled), chosen).loose
    if loose.shape[1]:
        count = loose.shape[1]
        raise ModelError(
            f"These actuators leave {count} degree{'s' * (count > 1)} of freedom: with {', '.join(chosen.names)} "
            f"locked the machine can still move at '{fastest_joint(mech, loose[:, 0])}'.",
            where="actuators",
            remedy="Name one for each degree of freedom, or none to have them chosen automatically.",
        )
    return chosen


def named_actuators(mech: Mechanism, names: Sequence[str]) -> Actuators:
    """Actuators by the names of speeds or joints, even if they leave other joints free."""
    indices = tuple(dict.fromkeys(k for name in names for k in _speed_indices(mech, name)))
    return _actuators_from_indices(mech.compiled, indices, "as named")


def actuated_columns(mech: Mechanism, q: Array, J: Array, names: Sequence[str], p: Values = None) -> Array:
    """(…, 6, m) columns of Jacobians J (…, 6, nv) by the speeds of actuators, with loops closed at q (…, nq); in open
    chains all other joints are at rest."""
    if not PositionConstraints(mech.compiled, p, drivers=False).rows:
        return np.asarray(J[..., list(named_actuators(mech, names).indices)])
    chosen = choose_actuators(mech, names)
    flat = np.broadcast_to(q, (*J.shape[:-2], mech.nq)).reshape(-1, mech.nq)
    speeds = [actuator_transmission(mech, each, chosen, p).speeds for each in flat]
    return np.asarray(J @ np.array(speeds).reshape(*J.shape[:-2], mech.nv, -1))


def force_jacobian(
    mech: Mechanism,
    q: Any,
    frame: str,
    reference: str,
    axes: str,
    point: Any,
    relative_to: str | None,
    actuators: Sequence[str] | None,
    by: str,
    p: Values,
) -> Array:
    """Jacobian by rows; see `Mechanism.jacobian`."""
    check_method(by)
    rows = force_rows(
        mech.compiled, q, frame, reference=reference, axes=axes, point=point, relative_to=relative_to, p=p
    )
    if actuators is None:
        return rows
    is_open = not PositionConstraints(mech.compiled, p, drivers=False).rows
    chosen = named_actuators(mech, actuators) if is_open else choose_actuators(mech, actuators)
    return force_rows_of_actuators(mech.compiled, q, rows, chosen.indices, chosen.names, p)


@cache_per_model
def default_actuators(compiled: CompiledModel) -> Actuators:
    """Default actuators, independent of the pose: all joints of an open chain; with constraints as many independent
    speeds as there are degrees of freedom, in order of preference those of driven joints, of joints with a motor, of
    joints with one coordinate, and of joints early in the document."""
    if not compiled.lasting.any():
        return _actuators_from_indices(compiled, tuple(range(compiled.nv)), "")
    motions = _free_motions_at_generic_pose(compiled) / speed_units(compiled, None)[:, None]
    likely = _likely_actuators(compiled)
    chosen = choose_independent_speeds(compiled, motions, [k for ks in likely.values() for k in ks])
    kinds = [words for words, ks in likely.items() if set(ks) & set(chosen)]
    if not set(chosen) <= {k for ks in likely.values() for k in ks}:
        kinds.append("independent joints, preferring those with one coordinate")
    reason = ", ".join(kinds)
    return _actuators_from_indices(compiled, tuple(chosen), reason)


def _likely_actuators(compiled: CompiledModel) -> dict[str, list[int]]:
    """Speeds that the model marks as actuated: description of the reason → indices."""
    model = compiled.model.expanded
    driven = {driver.joint for driver in model.drivers if driver.joint}
    motors = {
        force.joint
        for force in model.forces
        if isinstance(force.law, str) and names_in_formula(parse(force.law)) & set(TIME)
    }
    found: dict[str, list[int]] = {"driven": [], "with a force that depends on time": [], "with an effort limit": []}
    for name, joint in compiled.coordinates.joints.items():
        strong = any(effective_motor_limit(limit.effort) != math.inf for limit in joint.limits)
        for words, meant in zip(found, (name in driven, name in motors, strong), strict=True):
            if meant:
                found[words] += range(compiled.nv)[compiled.joint_v(name)]
                break
    return found


def actuator_transmission(mech: Mechanism, q: Array, actuators: Actuators, p: Values = None) -> ActuatorTransmission:
    """Map from actuator speeds to joint speeds at a pose q (nq,)."""
    constraints = PositionConstraints(mech.compiled, p, drivers=False)
    if not constraints.rows and len(actuators.indices) == mech.nv:
        return ActuatorTransmission(np.eye(mech.nv), np.zeros((mech.nv, 0)))
    return _compute_transmission(mech.compiled, constraints.free_motions(q), actuators)


def _compute_transmission(compiled: CompiledModel, N: Array, actuators: Actuators) -> ActuatorTransmission:
    indices, units = list(actuators.indices), speed_units(compiled, None)
    orthonormal = N / units[:, None]
    _, sigma, right = np.linalg.svd(orthonormal[indices])
    rank = int(np.count_nonzero(sigma > HELD_TOLERANCE))
    kept, loose = right[:rank].T, right[rank:].T
    moves = N @ kept
    return ActuatorTransmission(moves @ np.linalg.pinv(moves[indices]), units[:, None] * (orthonormal @ loose))


def uncontrolled_motion_text(mech: Mechanism, actuators: Actuators, free_speeds: Array) -> str:
    """Sentence on the speeds (nv, r) that remain free with actuators locked; '' if there are none."""
    if not free_speeds.shape[1]:
        return ""
    joints = ", ".join(dict.fromkeys(fastest_joint(mech, v) for v in free_speeds.T))
    return (
        f"Singular for these actuators (second type): with {', '.join(actuators.names)} locked the machine can still "
        f"move "
        f"at {joints}, and they cannot resist forces along that motion."
    )


def fastest_joint(mech: Mechanism, v: Array) -> str:
    """Name of the joint with the largest speed, in units of the machine."""
    return mech.v_names[int(np.argmax(np.abs(v) / speed_units(mech.compiled, None)))]


def _free_motions_at_generic_pose(compiled: CompiledModel) -> Array:
    """(nv, k) free motions at a generic (nonsingular) pose near the reference configuration."""
    constraints, start = PositionConstraints(compiled, drivers=False), reference_position(compiled)
    return constraints.free_motions(next(constraints.sample_poses_near(start), start))


def _actuators_from_indices(compiled: CompiledModel, indices: tuple[int, ...], reason: str) -> Actuators:
    return Actuators(indices, tuple(compiled.v_names[k] for k in indices), reason)


def _speed_indices(mech: Mechanism, name: str) -> range:
    """Indices of the speeds denoted by the name of a speed or joint."""
    if name in mech.v_names:
        k = mech.v_names.index(name)
        return range(k, k + 1)
    if name in mech.compiled.coordinates.joints:
        return range(mech.nv)[mech.joint_v(name)]
    if any(cut.name == name for cut in mech.compiled.cuts):
        raise unknown_name_error(mech.compiled, "v", name, "actuators")
    raise ModelError(f"There is no joint '{name}'.", where="actuators", remedy=suggest_names(name, mech.v_names))
