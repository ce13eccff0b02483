"""Motions of the joints that leave the frame at the target: of redundant machines, and at singular poses."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.joint_turns import TURN
from core.analysis.arms.screw_chain import ScrewChain
from core.analysis.inverse_kinematics import count_self_motions, speeds_without_effect
from core.mechanism import Mechanism
from core.mechanism.inverse_kinematics_results import SelfMotion

Array = NDArray[np.float64]

NULL_TOLERANCE = 1e-6
"""Singular value of the Jacobian (rows in rad and machine sizes), by the largest, below which a motion is free."""
STILL_RATE = 1e-6
"""Rate of a joint, by the largest, below which it does not take part in a self-motion."""


def find_self_motion(
    mech: Mechanism, q: Array, frame: str, target: Array, p: Array | None, t: float, chain: ScrewChain | None
) -> SelfMotion | None:
    """Motion with which the frame stays at the target at q (nq,); None if there is none. target : (3,) or (4, 4)"""
    values = None if p is None else dict(zip(mech.p_names, p.tolist(), strict=True))
    if not count_self_motions(mech, q, frame, target, values, t=t):
        return None
    J = np.array(mech.jacobian(q, frame, p=p))
    size = chain.size if chain is not None else 1.0
    J[3:] /= size
    rows = J[3:] if target.shape == (3,) else J
    if mech.constrained:
        rows = np.vstack([rows, np.asarray(mech.constraint_jacobian(q, p=p))])
    idle = speeds_without_effect(mech, frame, values, translation=target.shape == (3,), t=t)
    rows = np.vstack([rows, np.eye(mech.nv)[idle]])
    rates = np.linalg.svd(rows)[2][-1]
    at = {mech.joint_v(joint).start: joint for joint in mech.joint_names if _has_one_speed(mech, joint)}
    moving = [k for k in at if abs(rates[k]) > STILL_RATE * float(np.max(np.abs(rates)))]
    if not moving:
        return None
    ranges: tuple[tuple[float, float], ...] = ()
    if chain is not None and len(moving) == 2:
        ranges = _coaxial_ranges(chain, q[chain.at], [chain.joints.index(at[k]) for k in moving])
    return SelfMotion(
        tuple(at[k] for k in moving), at[moving[0]], tuple(float(rates[k] / rates[moving[0]]) for k in moving), ranges
    )


def _has_one_speed(mech: Mechanism, joint: str) -> bool:
    try:
        at = mech.joint_v(joint)
    except KeyError:
        return False
    return at.stop - at.start == 1


def _coaxial_ranges(chain: ScrewChain, q: Array, pair: list[int]) -> tuple[tuple[float, float], ...]:
    """Values of the first of two revolutes on one line within the limits of both, the second turned the other way."""
    one, other = pair
    d, points, _ = (each[0] for each in chain.axes(q[None]))
    coaxial = (
        chain.kinds[one] == chain.kinds[other] == "R"
        and np.linalg.norm(np.cross(d[one], d[other])) < NULL_TOLERANCE
        and np.linalg.norm(np.cross(d[one], points[other] - points[one])) < NULL_TOLERANCE * chain.size
    )
    if not coaxial:
        return ()
    opposite = -float(np.sign(d[one] @ d[other]))
    low, high = float(chain.lower[one]), float(chain.upper[one])
    if not np.isfinite(high - low):
        low, high = float(q[one]) - np.pi, float(q[one]) + np.pi
    least, most = float(chain.lower[other]), float(chain.upper[other])
    if not most - least < TURN:
        return ((low, high),)
    # q_other = q[other] + opposite (x − q[one]) within its limits, up to whole turns
    ends = sorted(float(q[one]) + opposite * (end - float(q[other])) for end in (least, most))
    found = []
    for k in range(int(np.ceil((low - ends[1]) / TURN)), int(np.floor((high - ends[0]) / TURN)) + 1):
        found.append((max(low, ends[0] + TURN * k), min(high, ends[1] + TURN * k)))
    return tuple(found)
