"""Coordinates of loop-closing joints, which have no entries in q and are measured between their frames."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.mechanics.multibody.parameter_values import Values
from core.programs.compiled import Compiled

Array = NDArray[np.float64]


class CutMotion(NamedTuple):
    """(…, nq) coordinates, (…, nv) speeds and accelerations of a cut joint; angles within half a turn."""

    q: Array
    v: Array
    a: Array


def closes_loop(compiled: Compiled, joint: str) -> bool:
    """Return True if the joint is cut and is not fixed."""
    return any(cut.name == joint and cut.info.nv > 0 for cut in compiled.cuts)


def motion(compiled: Compiled, joint: str, q: Any, v: Any, a: Any, p: Values = None) -> CutMotion:
    """Coordinates, speeds and accelerations of a cut joint at (closed) states of the tree; whole turns are known only
    for a screw."""
    info = next(cut.info for cut in compiled.cuts if cut.name == joint)
    row = compiled.call(f"joint_measure:{joint}", q, v, a, p=p)
    return CutMotion(*np.split(row, [info.nq, info.nq + info.nv], axis=-1))


def coordinate(compiled: Compiled, q: Any, joint: str, p: Values = None) -> Array:
    """(…, n) the n coordinates of a joint: computed from the leader's for a mimic joint, measured for a cut one."""
    if closes_loop(compiled, joint):
        at = next(k for k, cut in enumerate(compiled.cuts) if cut.name == joint)
        first = sum(cut.info.nq for cut in compiled.cuts[:at])
        return np.asarray(compiled.call("cut_coordinates", q, p=p))[..., first : first + compiled.cuts[at].info.nq]
    ratio, offset = compiled.following(joint, p)
    return ratio * np.asarray(q, dtype=float)[..., compiled.joint_q(joint)] + offset


def steady(compiled: Compiled, joint: str, time: Array, moving: CutMotion) -> Array:
    """(n, nq) coordinates of samples without jumps: angles unwrapped from the value nearest to the reference position,
    quaternions without sign changes. Speeds predict the next angle."""
    cut = compiled.model.expanded.find("joints", joint)
    q = moving.q.copy()
    if cut.info.nq > cut.info.nv:
        signs = np.sign(np.sum(q[1:] * q[:-1], axis=1))
        q[1:] *= np.cumprod(np.where(signs < 0.0, -1.0, 1.0))[:, None]
        return q
    where = f"joint '{joint}', rest"
    rest = [compiled.coordinates.numbers.scalar(value, where) for value in cut.rest] or [0.0] * cut.info.nq
    for k in range(cut.info.nq):
        if cut.info.wraps_around(k) and len(q):
            first = 2.0 * np.pi * np.round((rest[k] - q[0, k]) / (2.0 * np.pi))
            q[:, k] = first + unwound(time, q[:, k], moving.v[:, k])
    return q


def unwound(time: Array, angle: Array, rate: Array) -> Array:
    """(n,) angles unwrapped from the first sample on; the rates predict the next angle, so samples may be several turns
    apart."""
    expected = np.diff(time) * 0.5 * (rate[1:] + rate[:-1])
    turns = np.round((expected - np.diff(angle)) / (2.0 * np.pi))
    return np.asarray(angle + 2.0 * np.pi * np.concatenate([[0.0], np.cumsum(turns)])[: len(angle)])
