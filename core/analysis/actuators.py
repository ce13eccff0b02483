"""Actuators: the joints whose speeds are chosen while all others follow.

With the motions N that joints and constraints leave (v = N s) actuators of speeds u = A N s move a frame by J N (A N)⁺.
Where A N loses rank the machine moves though all actuators are held, and they cannot hold it: a singularity of the
second type (C. Gosselin, J. Angeles, "Singularity analysis of closed-loop kinematic chains", IEEE Trans. Robotics and
Automation 6(3), 1990). Drivers hold nothing here: they are what actuators do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.rest_position import rest
from core.errors import ModelError, near_misses
from core.mechanism import Mechanism
from core.mobility.constraint_rank import PositionConstraints
from core.model import Joint
from core.model.formula.expression import names, parse
from core.model.signals import TIME
from core.multibody.parameter_values import Values
from core.traces.compiled import Compiled, once

Array = NDArray[np.float64]

HELD_TOLERANCE = 1e-7
"""Share of a free motion (in units of the machine) by which actuators move, below which it goes on while they are held:
loops are only closed to the tolerance of the assembly."""
WELL = (0.2, 1e-4)
"""How well a speed must tell the rest of the motion to be chosen, at first and then (part of what the best one tells).
"""


class Actuators(NamedTuple):
    """Chosen speeds.

    indices : of speeds v; names : of them; reason : why these, in words, '' where all joints of a tree are.
    """

    indices: tuple[int, ...]
    names: tuple[str, ...]
    reason: str = ""

    def slides(self, mech: Mechanism) -> NDArray[np.bool_]:
        """(k,) which of them are m/s."""
        return _sliding(mech.compiled)[list(self.indices)]


class Transmission(NamedTuple):
    """How actuators move a machine at a pose: v = speeds · u, of the least norm where there are more than freedoms.

    speeds : (nv, k); loose : (nv, r) orthonormal speeds (in units of the machine) that held actuators leave.
    """

    speeds: Array
    loose: Array


def actuators(mech: Mechanism, named: Sequence[str] = ()) -> Actuators:
    """The named actuators (speeds, or joints with all their speeds), else those of `default_actuators`.

    Raises ModelError where they leave the machine free to move at general poses.
    """
    if not named:
        return default_actuators(mech.compiled)
    indices = tuple(dict.fromkeys(k for name in named for k in _speeds_of(mech, name)))
    chosen = _chosen(mech.compiled, indices, "as named")
    loose = _transmission(mech.compiled, _general(mech.compiled), chosen).loose
    if loose.shape[1]:
        count = loose.shape[1]
        raise ModelError(
            f"These actuators leave {count} freedom{'s' * (count > 1)}: with {', '.join(chosen.names)} held the "
            f"machine still moves at '{fastest(mech, loose[:, 0])}'.",
            where="actuators",
            remedy="Name one for each degree of freedom, or none: then they are chosen for you.",
        )
    return chosen


@once
def default_actuators(compiled: Compiled) -> Actuators:
    """All joints of a tree; of a machine with constraints as many independent speeds as it has freedoms: of joints that
    are driven, have a motor, have one coordinate, in this order, and early ones. They do not depend on the pose."""
    if all(row.collection == "drivers" for row in compiled.rows):
        return _chosen(compiled, tuple(range(compiled.nv)), "")
    N = _general(compiled)
    rows = N / _units(compiled)[:, None]
    ranks = _ranks(compiled)
    chosen: list[int] = []
    for level in sorted(set(ranks)):
        group = [k for k in range(compiled.nv) if ranks[k] == level]
        for share in WELL if level not in (_DRIVEN, _MOTOR) else WELL[1:]:
            rows = _taken(rows, group, share, chosen, N.shape[1])
    return _chosen(compiled, tuple(sorted(chosen)), _reason({ranks[k] for k in chosen}))


def _taken(rows: Array, group: Sequence[int], share: float, chosen: list[int], count: int) -> Array:
    """Add to the chosen what tells more than a share of the best; the rows without what the chosen ones tell."""
    largest = float(np.max(np.linalg.norm(rows, axis=1), initial=0.0))
    for k in group:
        row = rows[k]
        if len(chosen) < count and k not in chosen and np.linalg.norm(row) > share * largest > 0.0:
            chosen.append(k)
            rows = rows - np.outer(rows @ row, row) / float(row @ row)
    return rows


_DRIVEN, _MOTOR, _EFFORT, _SINGLE, _SEVERAL, _QUATERNION = range(6)
_WORDS = {
    _DRIVEN: "driven",
    _MOTOR: "with a force that follows the time",
    _EFFORT: "with a limit of effort",
    _SINGLE: "of one coordinate",
    _SEVERAL: "of several coordinates",
    _QUATERNION: "that turn all ways",
}


def _reason(levels: set[int]) -> str:
    kinds = [_WORDS[level] for level in sorted(levels)]
    return f"independent joints {', '.join(kinds)}"


def _ranks(compiled: Compiled) -> list[int]:
    """Of each speed how likely a person means it to be an actuator, least first."""
    model = compiled.model.expanded
    driven = {driver.joint for driver in model.drivers if driver.joint}
    motors = {
        force.joint for force in model.forces if isinstance(force.law, str) and names(parse(force.law)) & set(TIME)
    }
    found = [_QUATERNION] * compiled.nv
    for name, joint in compiled.coordinates.joints.items():
        at = compiled.joint_v(name)
        found[at] = [_rank(joint, driven, motors)] * (at.stop - at.start)
    return found


def _rank(joint: Joint, driven: set[str], motors: set[str]) -> int:
    if joint.name in driven:
        return _DRIVEN
    if joint.name in motors:
        return _MOTOR
    if any(limit.effort not in (None, 0.0) for limit in joint.limits):
        return _EFFORT
    if joint.info.nv == 1:
        return _SINGLE
    return _SEVERAL if joint.info.nq == joint.info.nv else _QUATERNION


def transmission(mech: Mechanism, q: Array, chosen: Actuators, p: Values = None) -> Transmission:
    """How the actuators move the machine at a pose q (nq,)."""
    constraints = PositionConstraints(mech.compiled, p, drivers=False)
    if not constraints.rows and len(chosen.indices) == mech.nv:
        return Transmission(np.eye(mech.nv), np.zeros((mech.nv, 0)))
    return _transmission(mech.compiled, constraints.motions(q), chosen)


def _transmission(compiled: Compiled, N: Array, chosen: Actuators) -> Transmission:
    indices, units = list(chosen.indices), _units(compiled)
    orthonormal = N / units[:, None]
    _, sigma, right = np.linalg.svd(orthonormal[indices])
    rank = int(np.count_nonzero(sigma > HELD_TOLERANCE))
    kept, loose = right[:rank].T, right[rank:].T
    moves = N @ kept
    return Transmission(moves @ np.linalg.pinv(moves[indices]), units[:, None] * (orthonormal @ loose))


def loose_words(mech: Mechanism, chosen: Actuators, loose: Array) -> str:
    """What it means that held actuators leave these speeds (nv, r); '' if there are none."""
    if not loose.shape[1]:
        return ""
    joints = ", ".join(dict.fromkeys(fastest(mech, v) for v in loose.T))
    return (
        f"Singular for these actuators (second type): with {', '.join(chosen.names)} held the machine still moves at "
        f"{joints}, and they cannot hold it against forces along that motion."
    )


def fastest(mech: Mechanism, v: Array) -> str:
    """The joint that moves most, in units of the machine."""
    return mech.v_names[int(np.argmax(np.abs(v) / _units(mech.compiled)))]


def _general(compiled: Compiled) -> Array:
    """(nv, k) the motions left at a pose near the rest pose that is not special."""
    constraints, start = PositionConstraints(compiled, drivers=False), rest(compiled)
    return constraints.motions(next(constraints.poses_near(start), start))


def _chosen(compiled: Compiled, indices: tuple[int, ...], reason: str) -> Actuators:
    return Actuators(indices, tuple(compiled.v_names[k] for k in indices), reason)


def _speeds_of(mech: Mechanism, name: str) -> range:
    """Indices of the speeds that a name of a speed or joint means."""
    if name in mech.v_names:
        k = mech.v_names.index(name)
        return range(k, k + 1)
    if name in mech.compiled.coordinates.joints:
        return range(mech.nv)[mech.joint_v(name)]
    if any(cut.name == name for cut in mech.compiled.cuts):
        remedy = "Set its field “cut” to no, so that another joint closes the loop."
        raise ModelError(f"'{name}' closes a loop and has no speed of its own.", where="actuators", remedy=remedy)
    raise ModelError(f"There is no joint '{name}'.", where="actuators", remedy=near_misses(name, mech.v_names))


@once
def _units(compiled: Compiled) -> Array:
    """(nv,) the machine's size for speeds of translation, 1 for those of rotation."""
    return PositionConstraints(compiled).units


@once
def _sliding(compiled: Compiled) -> NDArray[np.bool_]:
    """(nv,) which speeds are m/s, not rad/s."""
    lengths = np.zeros(compiled.nv, dtype=bool)
    for name, joint in compiled.coordinates.joints.items():
        lengths[compiled.joint_v(name)] = [dimension == "velocity" for dimension in joint.info.speed_dimensions]
    return lengths
