"""Coordinates of loop-closing joints, not entries of q but measured between their frames, and their limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanics.multibody.parameter_values import Values
from core.model.signals import component_name
from core.numerics.matrix_forms import Matrix, stack_rows
from core.numerics.position_solver import PositionProblem
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]


class CutMotion(NamedTuple):
    """(…, nq) coordinates, (…, nv) speeds and accelerations of a cut joint; angles within half a turn."""

    q: Array
    v: Array
    a: Array


def closes_loop(compiled: CompiledModel, joint: str) -> bool:
    """Return True if the joint is cut and is not fixed."""
    return any(cut.name == joint and cut.info.nv > 0 for cut in compiled.cuts)


def cut_joint_motion(compiled: CompiledModel, joint: str, q: Any, v: Any, a: Any, p: Values = None) -> CutMotion:
    """Coordinates, speeds and accelerations of a cut joint at (closed) states of the tree; the number of whole turns is
    known only for a screw."""
    info = next(cut.info for cut in compiled.cuts if cut.name == joint)
    row = compiled.call(f"joint_measure:{joint}", q, v, a, p=p)
    return CutMotion(*np.split(row, [info.nq, info.nq + info.nv], axis=-1))


def joint_coordinates(compiled: CompiledModel, q: Any, joint: str, p: Values = None) -> Array:
    """(…, n) the n coordinates of a joint: computed from the leader's for a mimic joint, measured for a cut one."""
    if closes_loop(compiled, joint):
        at = next(k for k, cut in enumerate(compiled.cuts) if cut.name == joint)
        first = sum(cut.info.nq for cut in compiled.cuts[:at])
        return np.asarray(compiled.call("cut_coordinates", q, p=p))[..., first : first + compiled.cuts[at].info.nq]
    ratio, offset = compiled.following(joint, p)
    return ratio * np.asarray(q, dtype=float)[..., compiled.joint_q(joint)] + offset


def continuous_coordinates(compiled: CompiledModel, joint: str, time: Array, motion: CutMotion) -> Array:
    """(n, nq) coordinates of samples without jumps: angles unwrapped from the value nearest to the reference position,
    quaternions without sign changes. Speeds predict the next angle."""
    cut = compiled.model.expanded.find("joints", joint)
    q = motion.q.copy()
    if cut.info.nq > cut.info.nv:
        signs = np.sign(np.sum(q[1:] * q[:-1], axis=1))
        q[1:] *= np.cumprod(np.where(signs < 0.0, -1.0, 1.0))[:, None]
        return q
    where = f"joint '{joint}', rest"
    rest = [compiled.coordinates.numbers.scalar(value, where) for value in cut.rest] or [0.0] * cut.info.nq
    for k in range(cut.info.nq):
        if cut.info.wraps_around(k) and len(q):
            first = 2.0 * np.pi * np.round((rest[k] - q[0, k]) / (2.0 * np.pi))
            q[:, k] = first + unwrap_angles(time, q[:, k], motion.v[:, k])
    return q


def unwrap_angles(time: Array, angle: Array, rate: Array) -> Array:
    """(n,) angles unwrapped from the first sample on; the rates predict the next angle, so samples may be several turns
    apart."""
    expected = np.diff(time) * 0.5 * (rate[1:] + rate[:-1])
    turns = np.round((expected - np.diff(angle)) / (2.0 * np.pi))
    return np.asarray(angle + 2.0 * np.pi * np.concatenate([[0.0], np.cumsum(turns)])[: len(angle)])


BEYOND = 1e-9
"""Distance (rad or m) beyond a limit up to which a coordinate counts as inside."""

NEXT = 1e-5
"""Distance (rad or m) to a limit within which a coordinate that is pressed against the limit is moved exactly onto it.
"""


class CutLimit(NamedTuple):
    """Coordinate k of a cut joint with at least one limit."""

    name: str
    joint: str
    k: int
    dimension: str
    lower: float
    upper: float
    base: float
    """Reference angle, rad, relative to which whole turns are resolved if no other angle is known."""
    turns: bool = False
    """True for an angle known only up to whole turns (the angle of a screw is known completely)."""

    def value(self, compiled: CompiledModel, q: Array, p: Values = None, near_value: float | None = None) -> float:
        """The coordinate at a pose of the tree; an angle within half a turn of `near_value`."""
        still = np.zeros(compiled.nv)
        measured = float(cut_joint_motion(compiled, self.joint, q, still, still, p).q[self.k])
        if not self.turns:
            return measured
        near_value = self.base if near_value is None else near_value
        return measured + 2.0 * math.pi * round((near_value - measured) / (2.0 * math.pi))

    def derivative_row(self, compiled: CompiledModel, q: Array, p: Values = None) -> Array:
        """(nv,) derivative of the coordinate by the speeds of the tree."""
        speeds = np.eye(compiled.nv)
        poses = np.tile(q, (compiled.nv, 1))
        return np.asarray(cut_joint_motion(compiled, self.joint, poses, speeds, 0.0 * speeds, p).v[:, self.k])

    def excess(self, value: float) -> float:
        """Distance of a value outside the limits; 0 inside."""
        return max(self.lower - value, value - self.upper, 0.0)


@cache_per_model
def cut_limits(compiled: CompiledModel) -> tuple[CutLimit, ...]:
    """All limits of loop-closing joints."""
    plain = [joint for joint in compiled.cuts if joint.info.nq == joint.info.nv]
    found = (_find_cut_limit(compiled, joint.name, k) for joint in plain for k in range(joint.info.nq))
    return tuple(limit for limit in found if limit is not None)


def _find_cut_limit(compiled: CompiledModel, name: str, k: int) -> CutLimit | None:
    joint = compiled.model.expanded.find("joints", name)  # the model's own limits, not the program's
    lower, upper = compiled.coordinates.limits_of_joint(joint, k)
    if lower is None and upper is None:
        return None
    low, high = -math.inf if lower is None else lower, math.inf if upper is None else upper
    rest = compiled.coordinates.numbers.scalar(joint.rest[k], f"joint '{name}', rest") if joint.rest else 0.0
    base = 0.5 * (low + high) if math.isfinite(high - low) else min(max(rest, low), high)
    dimension = joint.info.coordinate_dimensions[k]
    wound = joint.info.wraps_around(k)
    return CutLimit(component_name(joint.name, joint.info.coordinates[k]), name, k, dimension, low, high, base, wound)


def limits_widened_to_start(compiled: CompiledModel, start: Array, p: Values = None) -> tuple[CutLimit, ...]:
    """Limits for a motion from a start pose: a coordinate already beyond a limit may not go any farther, and angles are
    counted from the start."""
    found = ((limit, limit.value(compiled, start, p)) for limit in cut_limits(compiled))
    return tuple(
        limit._replace(lower=min(limit.lower, value), upper=max(limit.upper, value), base=value)
        for limit, value in found
    )


def most_exceeded_limit(
    compiled: CompiledModel, limits: Sequence[CutLimit], q: Array, p: Values = None
) -> tuple[CutLimit, float] | None:
    """The limit that a pose exceeds most, and by how much (rad or m); None if no limit is exceeded."""
    found = [(limit, limit.excess(limit.value(compiled, q, p))) for limit in limits]
    worst = max(found, key=lambda each: each[1], default=None)
    return worst if worst is not None and worst[1] > BEYOND else None


def reached_limits(
    compiled: CompiledModel, limits: Sequence[CutLimit], q: Array, p: Values = None
) -> tuple[CutLimit, ...]:
    """Limits that a pose has reached; their rows keep the joints there."""
    found = []
    for limit in limits:
        value = limit.value(compiled, q, p)
        edge = limit.lower if abs(value - limit.lower) < abs(value - limit.upper) else limit.upper
        if abs(value - edge) < NEXT:
            found.append(limit._replace(lower=edge, upper=edge, base=edge))
    return tuple(found)


def add_limit_rows(
    compiled: CompiledModel, limits: Sequence[CutLimit], problem: PositionProblem, p: Values = None
) -> PositionProblem:
    """Return the position problem with an added row for each limit: the distance beyond it, zero inside."""

    def residual(q: Array) -> Array:
        values = [(limit, limit.value(compiled, q, p)) for limit in limits]
        return np.concatenate([problem.residual(q), [x - min(max(x, each.lower), each.upper) for each, x in values]])

    def jacobian(q: Array) -> Matrix:
        nothing = np.zeros(compiled.nv)
        rows = [
            each.derivative_row(compiled, q, p)
            if each.lower == each.upper or each.excess(each.value(compiled, q, p))
            else nothing
            for each in limits
        ]
        return stack_rows(problem.jacobian(q), np.reshape(rows, (-1, compiled.nv)))

    return problem._replace(
        residual=residual,
        jacobian=jacobian,
        search=None if problem.search is None else problem.search.with_limits(limits),
    )
