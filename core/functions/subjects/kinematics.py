"""Functions about positions and velocities: forward and inverse kinematics, Jacobian, planarity."""

from __future__ import annotations

import math
from typing import Any

from core.functions.context import Context
from core.functions.function import Function, needs_bodies, needs_motion
from core.functions.options import Choice, FrameName, FrameNames, Integer, Values, Vector
from core.functions.results import Matrix, Message, Report, Result, Table, to_row_tuples
from core.functions.subjects.actuation import (
    ACTUATORS,
    LENGTH,
    actuators_text,
    find_actuators,
    prismatic_length_scale,
    speed_weights_text,
    with_coordinates_of,
)
from core.functions.subjects.configurations import configurations_report
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
                entries=to_row_tuples(X_RF),
                note="position in m",
            )
        )
        rows.append(
            (name, *map(float, X_RF[:3, 3]), *rpy_from_rotation(X_RF[:3, :3]), *quaternion_from_rotation(X_RF[:3, :3]))
        )
    note = "roll, pitch, yaw about the fixed axes x, y, z (R = Rz·Ry·Rx); quaternion x, y, z, w"
    table = Table(title=f"Poses in {reference}", columns=_POSE_COLUMNS, rows=tuple(rows), note=note)
    return Report(title="Forward kinematics", parts=(*matrices, table))


def rpy_from_rotation(R: Any) -> tuple[float, float, float]:
    """Return the angles (rad) about the fixed axes x, y, z with R = Rz·Ry·Rx; at pitch ±π/2 roll is zero."""
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    if math.hypot(R[0, 0], R[1, 0]) < 1e-9:
        return 0.0, pitch, math.atan2(-R[0, 1], R[1, 1])
    return math.atan2(R[2, 1], R[2, 2]), pitch, math.atan2(R[1, 0], R[0, 0])


def quaternion_from_rotation(R: Any) -> tuple[float, float, float, float]:
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

    context = with_coordinates_of(context, actuators)
    mech, q, p = context.mech, context.q, context.p
    chosen = find_actuators(mech, actuators)
    if not chosen.names:
        text = f"{frame} has no Jacobian: nothing can move, the constraints lock all joints."
        return Message(title="Jacobian", text=text, severity="warning")
    J = actuated_jacobian(mech, q, frame, chosen, p)
    R_WF = np.array(mech.frame(q, frame, p=p))[:3, :3] if axes == "frame" else np.eye(3)
    note = f"rows [ω; v] of the origin of {frame}, {axes} axes; rad/s and m/s per unit joint speed"
    matrix = Matrix(
        title=f"Jacobian of {frame}",
        symbol="J",
        entries=to_row_tuples(
            without_solver_errors(mech, np.concatenate([R_WF.T @ J.matrix[:3], R_WF.T @ J.matrix[3:]]))
        ),
        columns=chosen.names,
        rows=("ωx", "ωy", "ωz", "vx", "vy", "vz"),
        note="; ".join(filter(None, (note, actuators_text(chosen)))),
    )
    parts: list[Result] = [matrix, _singular_value_table(context, frame, J, chosen, length)]
    if J.loose.shape[1]:
        parts.insert(0, Message(title="", text=uncontrolled_motion_text(mech, chosen, J.loose), severity="warning"))
    return Report(title="Jacobian", parts=tuple(parts))


def jacobian_rate(
    context: Context, frame: str, axes: str, speeds: dict[str, float], accelerations: dict[str, float]
) -> Result:
    """Compute the rate of a frame's Jacobian at given speeds, and the frame's velocity and acceleration.

    In a machine with loops the columns are the joints of the tree with its loops cut.
    """
    from core.functions.text import without_solver_errors

    mech, q, p, place = context.mech, context.q, context.p, frame if axes == "frame" else "world"
    v = mech.speeds(q, speeds, p=p, t=context.t)
    a = mech.accelerations(q, v, accelerations, p=p, t=context.t, steady=tuple(speeds))
    J, rate = mech.jacobian(q, frame, axes=place, p=p), mech.jacobian_rate(q, v, frame, axes=place, p=p)
    note = f"rows: rates of [ω; v] of the origin of {frame}, {axes} axes, per unit joint speed"
    if mech.constrained:
        note += "; columns: joints of the tree with its loops cut"
    if not v.any():
        note += "; zero, since no joint moves: give joint speeds"
    matrix = Matrix(
        title=f"Rate of the Jacobian of {frame}",
        symbol="\\dot{J}",
        entries=to_row_tuples(without_solver_errors(mech, rate)),
        columns=tuple(mech.v_names),
        rows=("ω̇x", "ω̇y", "ω̇z", "v̇x", "v̇y", "v̇z"),
        note=note,
    )
    columns = [without_solver_errors(mech, each) for each in (J @ v, rate @ v, J @ a + rate @ v)]
    dimensions = (("angular_velocity", "angular_acceleration"), ("velocity", "acceleration"))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (f"{word} {axis}", *(Amount(float(x[3 * k + i]), d) for x, d in zip(columns, (own, *[rates] * 2), strict=True)))
        for k, (word, (own, rates)) in enumerate(zip(("Rotation", "Translation"), dimensions, strict=True))
        for i, axis in enumerate("xyz")
    )
    table = Table(
        title=f"Motion of {frame}",
        columns=tuple(map(Column, ("Component", "Velocity", "J̇ q̇", "J q̈ + J̇ q̇"))),
        rows=rows,
        note=f"{axes} axes; "
        + ("rates of these components" if axes == "frame" else "J q̈ + J̇ q̇ is the acceleration, without gravity"),
    )
    return Report(title="Jacobian rate", parts=(matrix, table))


def _singular_value_table(context: Context, frame: str, J: Any, actuators_used: Any, length: float | None) -> Table:
    """Table of the singular values of translation, rotation, and both weighted by the length, with their
    interpretation."""
    import numpy as np

    from core.analysis.manipulability import (
        Space,
        characteristic_length,
        compute_measures,
        singular_values,
        velocity_dimensions,
    )

    mech, slides = context.mech, actuators_used.translating_mask(context.mech)
    L = characteristic_length(mech, context.p) if length is None else length
    weights = np.where(slides & ~slides.all(), prismatic_length_scale(length), 1.0)
    columns: dict[Space, str] = {
        "translation": "Translation [m/s]",
        "rotation": "Rotation [rad/s]",
        "both": f"Both, with L = {L:.4g} m",
    }
    general = velocity_dimensions(mech, frame, context.p)
    rows: list[list[Cell]] = [[title] for title in _PROPERTIES]
    for space in columns:
        matrix, uncontrolled = J.part(space, L)
        sigma = singular_values(matrix * weights, uncontrolled, general[space])[0]
        found = compute_measures(sigma, sigma)
        values: tuple[Cell, ...] = (
            general[space],
            int(np.count_nonzero(sigma)),
            *((float(sigma[0]), float(sigma[-1]), found.condition, found.eccentricity) if len(sigma) else (None,) * 4),
            found.yoshikawa if len(sigma) else None,
        )
        for row, value in zip(rows, values, strict=True):
            row.append(value)
    notes = (
        (
            "singular values in the dimensions in which the frame moves at general poses; w is their product: "
            "√det(J Jᵀ), or √det(Jᵀ J) if there are fewer joints than dimensions"
        ),
        f"both together: [ω; v/L], {'L the size of the machine' if length is None else 'L as given'}",
        speed_weights_text(mech, actuators_used, length),
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

    from core.analysis.arms.inverse_kinematics_call import find_closed_form_solutions
    from core.analysis.inverse_kinematics import count_self_motions, solve_inverse_kinematics
    from core.functions.results import PoseSequence

    target = np.array(context.mech.frame(context.q, frame, p=context.p))
    if position is not None:
        target[:3, 3] = position
    if orientation is not None:
        target[:3, :3] = Rotation.from_euler("xyz", orientation).as_matrix()
    elif position is not None:
        target = np.array(position)
    if target.shape == (4, 4):
        closed = find_closed_form_solutions(context.mech, target, frame, context.q, context.p, context.t)
        if closed is not None:
            return configurations_report(context, frame, target, closed, show)
    found = solve_inverse_kinematics(
        context.mech, context.q, frame, target, context.p, restarts=restarts, step=context.step, t=context.t
    )
    left = [
        count_self_motions(context.mech, b.q, frame, target, context.p, t=context.t) if b.is_reached else 0
        for b in found
    ]
    table = _solution_table(context, frame, target, found, left)
    shown = found if show == "all" else found[:1]
    poses = PoseSequence(
        title="Solutions" if show == "all" else "Nearest solution",
        q=to_row_tuples([branch.q for branch in shown]),
        p=tuple(dict(context.p) for _ in shown),
        display="composite",
    )
    return Report(title="Inverse kinematics", parts=(_solutions_message(frame, found, left), table, poses))


def _solution_table(
    context: Context, frame: str, target: Any, solutions: tuple[Any, ...], remaining_dof: list[int]
) -> Table:
    """Table with one row per solution of the inverse kinematics."""
    from core.analysis.manipulability import characteristic_length
    from core.functions.text import pose_without_solver_errors

    size = characteristic_length(context.mech, context.p)
    rows: list[tuple[Cell, ...]] = []
    for i, branch in enumerate(solutions, 1):
        pose = pose_without_solver_errors(context.mech, branch.q, size)
        errors = [x if x > TOLD_ERROR else 0.0 for x in (branch.position_error, branch.orientation_error)]
        cells = [Amount(float(x), c.dimension) for x, c in zip(pose, context.mech.coordinates, strict=True)]
        rows.append((i, *cells, *errors, remaining_dof[i - 1], ", ".join(branch.at_limits)))
    columns = (
        Column("Solution"),
        *(Column(c.name, c.dimension) for c in context.mech.coordinates),
        Column("Position error", "length"),
        Column("Orientation error", "angle"),
        Column("Remaining degrees of freedom"),
        Column("At limits"),
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
                    _whole_turns_text(context.mech, solutions),
                ),
            )
        ),
    )


TOLD_ERROR = 1e-9
"""Residual of a solution, m or rad, above which it is reported."""
_ORDER = "nearest to the present pose first; every solution is inside the joint limits"


def _whole_turns_text(mech: Any, solutions: tuple[Any, ...]) -> str:
    """Name the angles that may differ from the solutions by whole turns."""
    from core.analysis.equal_poses import count_other_turns

    most: dict[str, int] = {}
    for branch in solutions:
        for name, count in count_other_turns(mech, branch.q).items():
            most[name] = max(most.get(name, 0), count)
    if not most or not solutions[0].is_reached:
        return ""
    names = ", ".join(f"{name} {count}" for name, count in most.items())
    return (
        "angles that differ by whole turns are the same pose and are listed once; number of other values within the "
        f"limits: {names}"
    )


def _solutions_message(frame: str, solutions: tuple[Any, ...], remaining_dof: list[int]) -> Message:
    """Summarise the solutions. remaining_dof : degrees of freedom that remain at each solution while the target is
    met"""
    best = solutions[0]
    if not best.is_reached:
        return _target_missed_message(frame, best)
    count = f"{len(solutions)} different solutions" if len(solutions) > 1 else "1 solution"
    if all(remaining_dof):
        freedoms = f"{min(remaining_dof)} degree{'s' * (min(remaining_dof) > 1)} of freedom"
        is_sample = "this is one" if len(solutions) == 1 else f"these {len(solutions)} are samples"
        text = f"and the machine keeps {freedoms} there: {is_sample} of infinitely many solutions."
        return Message(title="Result", text=f"{frame} reaches the target, {text}")
    text = f"{frame} reaches the target: at least {count}. {_SEARCH}"
    if any(remaining_dof):
        text += (
            f" {sum(map(bool, remaining_dof))} of them are samples of infinitely many, since degrees of freedom "
            f"remain there."
        )
    return Message(title="Result", text=text)


_SEARCH = (
    "The search starts at random poses, so it may have missed solutions; increase the number of restarts to find more."
)


def _target_missed_message(frame: str, best: Any) -> Message:
    text = (
        f"No pose was found in which {frame} reaches the target. The nearest one misses it by "
        f"{best.position_error * 1e3:.4g} mm and {math.degrees(best.orientation_error):.4g}°."
    )
    if best.at_limits:
        text += f" At their limits: {', '.join(best.at_limits)}."
    return Message(title="Result", text=text + " Move the target closer or widen the limits.", severity="warning")


def _idle_joints_text(mech: Any, frame: str, target: Any, p: Any, t: float) -> str:
    """Name the joints that do not affect the target and therefore keep their values."""
    from core.analysis.inverse_kinematics import coordinates_without_effect
    from core.errors import join_words

    names = coordinates_without_effect(mech, frame, p, translation=target.shape == (3,), t=t)
    if not names:
        return ""
    moved = "do not affect the target and stay" if len(names) > 1 else "does not affect the target and stays"
    return f"{join_words(names)} {moved} where {'they are' if len(names) > 1 else 'it is'}"


def _equal_poses_note(mech: Any) -> str:
    if not mech.loops:
        return ""
    return (
        "poses of loops that differ only by flips of universal joints, or by rotation of bodies about the "
        "common axis of their joints, are listed once"
    )


def planarity(context: Context, frame: str, reference: str) -> Result:
    """Determine the space in which a frame can move, and Robotica's code for it."""
    from core.analysis.manipulability import WORDS
    from core.analysis.manipulability import translation_axes_code as code_of

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
_REFERENCE = FrameName(
    "reference", "Reference frame", "Frame in which results are expressed; empty: world", fallback="world"
)

FUNCTIONS = (
    Function(
        "forward_kinematics",
        "Forward kinematics",
        "Kinematics",
        "Poses of frames in the present configuration.\n\n"
        "Gives the 4×4 matrix T of each frame, and a table of positions, roll–pitch–yaw angles (about the "
        "fixed axes x, y, z) and quaternions (x, y, z, w). For several frames give names separated by "
        "commas, or all.",
        forward_kinematics,
        (
            FrameNames(
                "frames", "Frames", "Names of bodies or frames, separated by commas; empty: the tool; all: all of them"
            ),
            _REFERENCE,
        ),
        needs=(needs_bodies,),
        live=True,
        robotica="FKin",
        also=("FK", "direct kinematics"),
    ),
    Function(
        "jacobian",
        "Jacobian",
        "Kinematics",
        "The 6×n matrix that maps joint speeds to the velocity of a frame.\n\n"
        "Rows are the angular velocity ω (rad/s) and the velocity v (m/s) of the frame's origin. Columns are "
        "the joint speeds; in a machine with loops they are the speeds of its actuators, which determine all "
        "others. Rank, singular values, condition number and Yoshikawa's w show how close the pose is to a "
        "singularity: for translation and rotation separately, since their units differ, and for both "
        "combined with a characteristic length. Poses at which the machine can move with locked actuators "
        "are reported.",
        jacobian,
        (
            _FRAME,
            Choice("axes", "Axes", "Axes in which ω and v are expressed", "world", ("world", "frame")),
            ACTUATORS,
            LENGTH,
        ),
        needs=(needs_motion,),
        live=True,
        robotica="FKin",
    ),
    Function(
        "jacobian_rate",
        "Jacobian rate",
        "Kinematics",
        "The rate J̇ of a frame's Jacobian while the joints move, and the frame's acceleration.\n\n"
        "The velocity of the frame's origin is [ω; v] = J q̇, its acceleration [ω̇; v̇] = J q̈ + J̇ q̇: J̇ q̇ is what "
        "remains when no joint accelerates. J̇ is exact. In a machine with loops or constraints the columns are "
        "the joints of the tree with its loops cut, while speeds and accelerations satisfy what holds: those that "
        "are given are kept and those that depend on them follow. If accelerations are not given, joints with a "
        "given speed keep it.",
        jacobian_rate,
        (
            _FRAME,
            Choice("axes", "Axes", "Axes in which ω and v are expressed", "world", ("world", "frame")),
            Values(
                "speeds",
                "Joint speeds",
                "Joint speeds by name; the others follow from the constraints or are zero",
                rate=1,
            ),
            Values(
                "accelerations",
                "Joint accelerations",
                "Joint accelerations by name; the others follow from the constraints or are zero",
                rate=2,
            ),
        ),
        needs=(needs_motion,),
        live=True,
        also=("Jdot", "acceleration of a frame", "time derivative of the Jacobian"),
    ),
    Function(
        "inverse_kinematics",
        "Inverse kinematics",
        "Kinematics",
        "Joint coordinates that bring a frame to a target.\n\n"
        "The target is a position, or a position and an orientation (roll, pitch, yaw about fixed axes); with neither "
        "it is the pose that the frame has now. For six-axis arms with a spherical wrist or three parallel axes, and "
        "for SCARA arms, the solutions for a pose are computed in closed form: all configurations by name, those "
        "beyond joint limits last. Otherwise a "
        "search starts at the present pose and at random poses, stays within the joint limits, and lists all "
        "distinct solutions that it finds, each with its remaining error; there may be more. If the target "
        "is out of reach, the nearest pose is given. Angles that differ by whole turns count as the same "
        "solution; joints that do not move the frame keep their values; a solution with remaining degrees of "
        "freedom is one of infinitely many.",
        inverse_kinematics,
        (
            _FRAME,
            Vector(
                "position",
                "Position",
                "Target position of the frame's origin, world axes; empty: its present position",
                None,
                "length",
            ),
            Vector(
                "orientation",
                "Orientation",
                "Roll, pitch and yaw of the target; empty: any orientation, or with no position the present one",
                None,
                "angle",
                ("roll", "pitch", "yaw"),
            ),
            Integer(
                "restarts",
                "Restarts",
                "Number of random poses from which a search starts, in addition to the present one",
                20,
                0,
                1000,
            ),
            Choice(
                "show",
                "Show",
                "Show all solutions, or only the one nearest to the present pose",
                "nearest",
                ("nearest", "all"),
            ),
        ),
        needs=(needs_motion,),
        also=("IK", "reach", "goal"),
    ),
    Function(
        "planarity",
        "Planarity",
        "Kinematics",
        "Directions in which a frame can move.\n\n"
        "The code is the sum of 1 for x, 2 for y and 4 for z: 0 none, 1 x, 2 y, 3 xy, 4 z, 5 xz, 6 yz, 7 "
        "xyz. It is determined from the Jacobian at several random poses within the limits.",
        planarity,
        (_FRAME, _REFERENCE),
        needs=(needs_motion,),
        robotica="Planar",
        reads="machine",
    ),
)
