"""Functions about positions and velocities: forward and inverse kinematics, Jacobian, planarity."""

from __future__ import annotations

import math
from typing import Any

from core.functions.context import Context
from core.functions.function import Function, needs_bodies, needs_motion
from core.functions.options import Choice, FrameName, FrameNames, Integer, Vector
from core.functions.results import Matrix, Message, Report, Result, Table, rows_of
from core.functions.subjects.actuation import (
    ACTUATORS,
    LENGTH,
    actuators_text,
    chosen_actuators,
    joint_length,
    speed_weights_text,
)
from core.functions.text import Amount, Cell, Column

_POSE_COLUMNS = (
    Column("Frame"),
    *(Column(axis, "length") for axis in "xyz"),
    *(Column(name, "angle") for name in ("roll", "pitch", "yaw")),
    *(Column(f"q{axis}") for axis in "xyzw"),
)


def forward_kinematics(context: Context, frames: tuple[str, ...], reference: str) -> Result:
    """Compute the poses of frames at the present configuration."""
    import numpy as np

    from core.analysis.manipulability import characteristic_length
    from core.functions.text import without_solver_errors

    mech, q, p = context.mech, context.q, context.p
    X_WR = np.eye(4) if reference == "world" else np.array(mech.frame(q, reference, p=p))
    size = characteristic_length(mech, p)
    matrices: list[Result] = []
    rows: list[tuple[Cell, ...]] = []
    for name in frames:
        X_RF = np.linalg.solve(X_WR, np.array(mech.frame(q, name, p=p)))
        X_RF[:3, :3], X_RF[:3, 3] = (
            without_solver_errors(mech, X_RF[:3, :3], 1.0),
            without_solver_errors(mech, X_RF[:3, 3], size),
        )
        matrices.append(
            Matrix(
                title=f"Pose of {name} in {reference}",
                symbol=f"T_{{{reference},\\,{name}}}",
                entries=rows_of(X_RF),
                note="position in m",
            )
        )
        rows.append((name, *map(float, X_RF[:3, 3]), *rpy(X_RF[:3, :3]), *quaternion(X_RF[:3, :3])))
    note = "roll, pitch, yaw about the fixed axes x, y, z (R = Rz·Ry·Rx); quaternion x, y, z, w"
    table = Table(title=f"Poses in {reference}", columns=_POSE_COLUMNS, rows=tuple(rows), note=note)
    return Report(title="Forward kinematics", parts=(*matrices, table))


def rpy(R: Any) -> tuple[float, float, float]:
    """Return the angles (rad) about the fixed axes x, y, z with R = Rz·Ry·Rx; at pitch ±π/2 roll is zero."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return 0.0, pitch, math.atan2(-R[0, 1], R[1, 1])
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def quaternion(R: Any) -> tuple[float, float, float, float]:
    """Return the unit quaternion (x, y, z, w), w ≥ 0, of a rotation matrix."""
    from scipy.spatial.transform import Rotation

    x, y, z, w = (float(c) for c in Rotation.from_matrix(R).as_quat())
    return (x, y, z, w) if w >= 0.0 else (-x, -y, -z, -w)


def jacobian(context: Context, frame: str, axes: str, actuators: str, length: float | None) -> Result:
    """Compute the 6×k velocity Jacobian of a frame, with its rank and singular values.

    In a machine with loops k counts the actuators, and all other speeds follow them.
    """
    import numpy as np

    from core.analysis.actuators import uncontrolled_motion_text
    from core.analysis.manipulability import actuated_jacobian
    from core.functions.text import without_solver_errors

    mech, q, p = context.mech, context.q, context.p
    chosen = chosen_actuators(mech, actuators)
    if not chosen.names:
        text = f"{frame} has no Jacobian: nothing can move, all joints are held by what constrains the machine."
        return Message(title="Jacobian", text=text, severity="warning")
    J = actuated_jacobian(mech, q, frame, chosen, p)
    R_WF = np.array(mech.frame(q, frame, p=p))[:3, :3] if axes == "frame" else np.eye(3)
    note = f"rows [ω; v] of the origin of {frame}, {axes} axes; rad/s and m/s per unit joint speed"
    matrix = Matrix(
        title=f"Jacobian of {frame}",
        symbol="J",
        entries=rows_of(without_solver_errors(mech, np.concatenate([R_WF.T @ J.matrix[:3], R_WF.T @ J.matrix[3:]]))),
        columns=chosen.names,
        rows=("ωx", "ωy", "ωz", "vx", "vy", "vz"),
        note="; ".join(filter(None, (note, actuators_text(chosen)))),
    )
    parts: list[Result] = [matrix, _singular_values(context, frame, J, chosen, length)]
    if J.loose.shape[1]:
        parts.insert(0, Message(title="", text=uncontrolled_motion_text(mech, chosen, J.loose), severity="warning"))
    return Report(title="Jacobian", parts=tuple(parts))


def _singular_values(context: Context, frame: str, J: Any, chosen: Any, length: float | None) -> Table:
    """List singular values and what follows from them: of translation, rotation, and both weighted by the length."""
    import numpy as np

    from core.analysis.manipulability import Space, characteristic_length, dimensions, measures, singular_values

    mech, slides = context.mech, chosen.slides(context.mech)
    L = characteristic_length(mech, context.p) if length is None else length
    weights = np.where(slides & ~slides.all(), joint_length(length), 1.0)
    columns: dict[Space, str] = {
        "translation": "Translation [m/s]",
        "rotation": "Rotation [rad/s]",
        "both": f"Both, with L = {L:.4g} m",
    }
    general = dimensions(mech, frame, context.p)
    rows: list[list[Cell]] = [[title] for title in _PROPERTIES]
    for space in columns:
        matrix, uncontrolled = J.part(space, L)
        sigma = singular_values(matrix * weights, uncontrolled, general[space])[0]
        found = measures(sigma, sigma)
        values: tuple[Cell, ...] = (
            general[space],
            int(np.count_nonzero(sigma)),
            *((float(sigma[0]), float(sigma[-1]), found.condition, found.eccentricity) if len(sigma) else (None,) * 4),
            found.yoshikawa if len(sigma) else None,
        )
        for row, value in zip(rows, values, strict=True):
            row.append(value)
    notes = (
        "singular values in the dimensions in which the frame moves at general poses; w is their product: √det(J Jᵀ), "
        "or √det(Jᵀ J) where fewer joints move",
        f"both together: [ω; v/L], {'L the size of the machine' if length is None else 'L as given'}",
        speed_weights_text(mech, chosen, length),
    )
    return Table(
        title="Singular values of J",
        columns=(Column("Property"), *map(Column, columns.values())),
        rows=tuple(map(tuple, rows)),
        note="; ".join(filter(None, notes)),
    )


_PROPERTIES = (
    "Dimensions at general poses",
    "Rank here",
    "Largest singular value",
    "Smallest singular value",
    "Condition number",
    "Isotropy (smallest/largest)",
    "Yoshikawa's w",
)


def inverse_kinematics(
    context: Context,
    frame: str,
    position: tuple[float, ...] | None,
    orientation: tuple[float, ...] | None,
    restarts: int,
    show: str,
) -> Result:
    """Find joint coordinates that bring a frame to a position (and orientation)."""
    import numpy as np
    from scipy.spatial.transform import Rotation

    from core.analysis.inverse_kinematics import self_motions, solve
    from core.functions.results import PoseSequence

    if position is None:
        position = tuple(np.array(context.mech.frame(context.q, frame, p=context.p))[:3, 3])
    if orientation is None:
        target = np.array(position)
    else:
        target = np.eye(4)
        target[:3, 3] = position
        target[:3, :3] = Rotation.from_euler("xyz", orientation).as_matrix()
    found = solve(context.mech, context.q, frame, target, context.p, restarts=restarts, step=context.step, t=context.t)
    left = [self_motions(context.mech, b.q, frame, target, context.p, t=context.t) if b.reached else 0 for b in found]
    table = _solution_table(context, frame, target, found, left)
    shown = found if show == "all" else found[:1]
    poses = PoseSequence(
        title="Solutions" if show == "all" else "Nearest solution",
        q=rows_of([branch.q for branch in shown]),
        p=tuple(dict(context.p) for _ in shown),
        display="composite",
    )
    return Report(title="Inverse kinematics", parts=(_solutions_message(frame, found, left), table, poses))


def _solution_table(context: Context, frame: str, target: Any, found: tuple[Any, ...], left: list[int]) -> Table:
    """Table with one row per solution."""
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    size = characteristic_length(context.mech, context.p)
    rows: list[tuple[Cell, ...]] = []
    for i, branch in enumerate(found, 1):
        pose = pose_without_solver_errors(context.mech, branch.q, size)
        errors = [x if x > TOLD_ERROR else 0.0 for x in (branch.position_error, branch.orientation_error)]
        cells = [Amount(float(x), c.dimension) for x, c in zip(pose, context.mech.coordinates, strict=True)]
        rows.append((i, *cells, *errors, left[i - 1], ", ".join(branch.at_limits)))
    columns = (
        Column("Solution"),
        *(Column(c.name, c.dimension) for c in context.mech.coordinates),
        Column("Position error", "length"),
        Column("Orientation error", "angle"),
        Column("Freedoms left"),
        Column("At limit"),
    )
    return Table(
        title="Solutions",
        columns=columns,
        rows=tuple(rows),
        note="; ".join(
            filter(
                None,
                (
                    _ORDER,
                    _idle_joints_text(context.mech, frame, target, context.p, context.t),
                    _equal_poses_note(context.mech),
                    _whole_turns_text(context.mech, found),
                ),
            )
        ),
    )


TOLD_ERROR = 1e-9
"""Largest residual (m, rad) of a solution that is not reported."""
_ORDER = "nearest to the present pose first; every solution is inside the joint limits"


def _whole_turns_text(mech: Any, found: tuple[Any, ...]) -> str:
    """Name the angles that may differ by whole turns from the solutions."""
    from core.analysis.equal_poses import other_turn_counts

    most: dict[str, int] = {}
    for branch in found:
        for name, count in other_turn_counts(mech, branch.q).items():
            most[name] = max(most.get(name, 0), count)
    if not most or not found[0].reached:
        return ""
    names = ", ".join(f"{name} {count}" for name, count in most.items())
    return f"angles a whole turn further mean the same pose and are listed once; limits admit so many others: {names}"


def _solutions_message(frame: str, found: tuple[Any, ...], left: list[int]) -> Message:
    """Summarise the solutions. left : degrees of freedom that remain at each solution while the target is met"""
    best = found[0]
    if not best.reached:
        return _miss_message(frame, best)
    count = f"{len(found)} different solutions" if len(found) > 1 else "1 solution"
    if all(left):
        freedoms = f"{min(left)} freedom{'s' * (min(left) > 1)}"
        is_sample = "this is one" if len(found) == 1 else f"these {len(found)} are samples"
        text = f"and the machine keeps {freedoms} there: {is_sample} of infinitely many solutions."
        return Message(title="Result", text=f"{frame} reaches the target, {text}")
    text = f"{frame} reaches the target: at least {count}. {_SEARCH}"
    if any(left):
        text += f" {sum(map(bool, left))} of them are samples of infinitely many, for the machine keeps freedoms there."
    return Message(title="Result", text=text)


_SEARCH = "The search starts at random poses, so that there may be more: more restarts may find them."


def _miss_message(frame: str, best: Any) -> Message:
    text = (
        f"{frame} does not reach the target. The nearest pose found misses it by {best.position_error * 1e3:.4g} mm"
        f" and {math.degrees(best.orientation_error):.4g}°."
    )
    if best.at_limits:
        text += f" At their limits: {', '.join(best.at_limits)}."
    return Message(title="Result", text=text + " Move the target closer or widen the limits.", severity="warning")


def _idle_joints_text(mech: Any, frame: str, target: Any, p: Any, t: float) -> str:
    """Name the joints that do not affect the target and keep their values."""
    from core.analysis.inverse_kinematics import coordinates_without_effect
    from core.errors import listed

    names = coordinates_without_effect(mech, frame, p, translation=target.shape == (3,), t=t)
    if not names:
        return ""
    moved = "do not move it and stay" if len(names) > 1 else "does not move it and stays"
    return f"{listed(names)} {moved} where {'they are' if len(names) > 1 else 'it is'}"


def _equal_poses_note(mech: Any) -> str:
    if not mech.loops:
        return ""
    return (
        "poses of loops that differ only by flips of universal joints, or by turns of bodies about the line of their "
        "own joints, are listed once"
    )


def planarity(context: Context, frame: str, reference: str) -> Result:
    """Determine the space in which a frame can move, with Robotica's code for it."""
    from core.analysis.manipulability import WORDS
    from core.analysis.manipulability import planarity as code_of

    code = code_of(context.mech, frame, reference, context.p)
    directions = {0: "It does not move.", 7: "It moves along x, y and z."}
    text = directions.get(code, f"It moves along {' and '.join(WORDS[code])} only.")
    rows = ((code, WORDS[code], text),)
    return Table(
        title=f"Motion of {frame}",
        columns=(Column("Code"), Column("Directions"), Column("Meaning")),
        rows=rows,
        note=f"axes of {reference}; 1 = x, 2 = y, 4 = z, added up",
    )


_FRAME = FrameName("frame", "Frame", "Body or frame that moves; empty: the tool")
_REFERENCE = FrameName("reference", "In the frame", "Frame in which results are given; empty: world", fallback="world")

FUNCTIONS = (
    Function(
        "forward_kinematics",
        "Forward kinematics",
        "Kinematics",
        "Where frames are at the present pose.\n\nGives the 4×4 matrix T of each frame, and in a table its position, "
        "roll–pitch–yaw angles (about the fixed axes x, y, z) and quaternion (x, y, z, w). Several frames: names with "
        "commas, or all.",
        forward_kinematics,
        (FrameNames("frames", "Frames", "Bodies or frames; empty: the tool; all: every one"), _REFERENCE),
        needs=(needs_bodies,),
        live=True,
        robotica="FKin",
        also=("FK", "direct kinematics"),
    ),
    Function(
        "jacobian",
        "Jacobian",
        "Kinematics",
        "The 6×n matrix that takes joint speeds to the velocity of a frame.\n\nRows are the angular velocity ω (rad/s) "
        "and the velocity v (m/s) of the frame's origin; columns are the joint speeds, of a machine with loops those "
        "of its actuators, which all else follows. Rank, singular values, condition number and Yoshikawa's w tell how "
        "near the pose is to a singularity: of translation and rotation apart, since their units differ, and of both "
        "with a characteristic length. Poses at which the machine moves with locked actuators are reported.",
        jacobian,
        (
            _FRAME,
            Choice("axes", "Axes", "Axes in which ω and v are given", "world", ("world", "frame")),
            ACTUATORS,
            LENGTH,
        ),
        needs=(needs_motion,),
        live=True,
        robotica="FKin",
    ),
    Function(
        "inverse_kinematics",
        "Inverse kinematics",
        "Kinematics",
        "Joint coordinates that bring a frame to a target.\n\nThe target is a position, or a position and an "
        "orientation (roll, pitch, yaw about fixed axes). The search starts at the present pose and again at random "
        "ones, stays inside the joint limits, and lists every different solution that it comes upon, which need not be "
        "all, with what is left of the error. If the target is out of reach the nearest pose is given. Angles a whole "
        "turn further are no other solution; joints that do not move the frame stay where they are; degrees of freedom "
        "left at a solution mean that it is one of infinitely many.",
        inverse_kinematics,
        (
            _FRAME,
            Vector("position", "Position", "Target of the origin, world axes; empty: where it is", None, "length"),
            Vector(
                "orientation",
                "Orientation",
                "Roll, pitch, yaw of the target; empty: any",
                None,
                "angle",
                ("roll", "pitch", "yaw"),
            ),
            Integer("restarts", "Restarts", "Random poses to search from besides the present one", 20, 0, 1000),
            Choice("show", "Show", "Draw all solutions, or only the nearest", "nearest", ("nearest", "all")),
        ),
        needs=(needs_motion,),
        also=("IK", "reach", "goal"),
    ),
    Function(
        "planarity",
        "Planarity",
        "Kinematics",
        "In which directions a frame can move at all.\n\nThe code adds up 1 for x, 2 for y and 4 for z: 0 none, 1 x, "
        "2 y, 3 xy, 4 z, 5 xz, 6 yz, 7 xyz. It is found from the Jacobian at several random poses inside the limits.",
        planarity,
        (_FRAME, _REFERENCE),
        needs=(needs_motion,),
        robotica="Planar",
        reads="machine",
    ),
)
