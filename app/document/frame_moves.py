"""Motion of a frame by numbers and by steps (jogging): target poses, and the machine's position for them."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from app.document.session import Session
from core.analysis.inverse_kinematics import move_frame_to_target
from core.errors import KinetostatError
from core.later import dataclass
from core.mechanism.inverse_kinematics_results import InverseKinematics
from core.numerics.spatial.rotation import fixed_axis_angles, from_angles

Array = NDArray[np.float64]
JogAxes = Literal["base", "tool"]

DIRECTIONS = ("x", "y", "z", "roll", "pitch", "yaw")
"""Numbers of a pose: position (m), angles about the fixed axes x, y, z (rad)."""


@dataclass(frozen=True)
class FrameMove:
    """Position q (nq,) of the machine with a frame at its target, or the `problem` that prevents it."""

    q: Array | None
    problem: str = ""


def pose_numbers(X: Array) -> tuple[float, ...]:
    """Return the six numbers of a pose (4, 4), see `DIRECTIONS`."""
    x, y, z = map(float, X[:3, 3])
    return (x, y, z, *fixed_axis_angles(X[:3, :3]))


def pose_from_numbers(numbers: tuple[float, ...]) -> Array:
    """Return the pose (4, 4) of six numbers, see `DIRECTIONS`."""
    X = np.eye(4)
    X[:3, :3] = np.array(from_angles(numbers[3:]), dtype=float)
    X[:3, 3] = numbers[:3]
    return X


def jogged_pose(X: Array, direction: int, amount: float, axes: JogAxes) -> Array:
    """Return a pose (4, 4) moved (m) along, or turned (rad) about, an axis of the world or of the frame itself; the
    frame's origin stays where the frame turns."""
    from scipy.spatial.transform import Rotation

    basis = X[:3, :3] if axes == "tool" else np.eye(3)
    e = basis[:, direction % 3]
    moved = X.copy()
    if direction < 3:
        moved[:3, 3] += amount * e
    else:
        moved[:3, :3] = Rotation.from_rotvec(amount * e).as_matrix() @ X[:3, :3]
    return moved


def find_frame_move(session: Session, frame: str, target: Array) -> FrameMove:
    """Find the position with the frame at a pose (4, 4): the one that the present position leads to, which keeps the
    configuration, else the nearest one within the limits."""
    mech, q, p, t = session.mech_with_locks, session.q, session.p, session.t
    try:
        near = move_frame_to_target(mech, q, frame, target, p, t=t)
        if near.is_reached:
            return FrameMove(near.q)
        if session.locked_bodies:
            locked = ", ".join(sorted(session.locked_bodies))
            return FrameMove(None, f"{frame} cannot be there while {locked} is locked.")
        from core.analysis.arms.inverse_kinematics_call import find_solutions  # brings LLVM

        found = find_solutions(mech, target, frame, q=q, p=p, t=t, all=False)
    except KinetostatError as error:
        return FrameMove(None, str(error))
    assert isinstance(found, InverseKinematics)
    if found.solutions and not found.solutions[0].violations:
        return FrameMove(found.solutions[0].q)
    missing = f"it would miss by {near.position_error * 1e3:.3g} mm and {math.degrees(near.orientation_error):.3g}°"
    if found.solutions:
        missing = f"{found.solutions[0].violations[0].joint} would be beyond its limit"
    elif near.at_limits:
        missing += f", with {', '.join(near.at_limits)} at a limit"
    return FrameMove(None, f"{frame} cannot be there: {missing}.")
