"""Drags of handles: a joint (a ring or arrow moves one coordinate, or turns a spherical joint about one of its axes), a
joint limit, the end of a link (its loops close again on the same branch), and the plane of a map."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import radians
from typing import TYPE_CHECKING

import numpy as np

from app.document.link_lengths import LinkEnd, LinkLength, LinkLengthTrial, resize_link
from app.document.revision import ElementRef
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import orbit
from core.analysis.inverse_kinematics import coordinates_at_limits
from core.errors import KinetostatError
from core.model.edits import edits
from core.model.formula.numerals import round_measured_number
from viz.drawlist.joint_handles import HandleDrag, PointDrag
from viz.drawlist.joint_look import HandlePart
from viz.scene.axis_handle import AxisPart
from viz.scene.handles import State

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.mechanism import Mechanism
    from core.model import Joint, Model


SNAP = {"angle": radians(5.0), "length": 0.01}
"""Steps of a coordinate while Ctrl is held, in rad and m."""
WORDS = {
    "free": "reached",
    "limit": "at a limit",
    "unreachable": "out of reach: the loop does not allow it",
    "singular": "dead point: this joint does not determine the others here; drag another joint of the loop",
}
"""Text in the hint line for each state of a handle."""
SHORT = {"free": "", "limit": "  limit", "unreachable": "  out of reach", "singular": "  dead point"}
INDEPENDENT_DIRECTION = 1e-7
"""Relative singular value below which a direction belongs to redundant constraints."""
DEAD = 0.03
"""Ratio of the smallest singular values without and with the dragged joint below which the pose counts as a dead point.
"""
REACHED_ERROR = 1e-6
"""Error (rad or m) above which a requested value counts as not reached."""


def drag_joint(view: Stage, part: HandlePart, press: PointerState) -> Gesture:
    """Preview the joint value at the pointer during a drag; commit it on release."""
    session, handles = view.session, view.scene.handles
    session.select(_element_moved_by_handle(view, part))
    drag = HandleDrag(handles.create_grip(part), view.scene.ray(press.x, press.y))
    turns = part.coordinate is None
    move = _quaternion_turner(view, part) if turns else _coordinate_mover(view, part)
    view.show_hint(f"Moving {part.joint} · Ctrl snaps · Esc cancels")
    handles.mark_dragged(part)
    view.update()
    try:
        while (pointer := (yield)) is not None:
            amount = drag.motion_so_far(view.scene.ray(pointer.x, pointer.y))
            state, text = move(amount, pointer.ctrl)
            handles.mark_dragged(part, state)
            handles.show_value(text)
            view.update()
    except GeneratorExit:
        session.cancel_preview()
        raise
    finally:
        handles.mark_dragged(None)
        view.show_hint()
        view.update()
    session.commit(f"Move {part.joint}")


def _element_moved_by_handle(view: Stage, part: HandlePart) -> ElementRef:
    """Return the joint, or the free body, that a handle moves."""
    for joint in view.session.mech.implicit_joints:
        if joint.name == part.joint:
            return ElementRef("bodies", joint.child)
    return ElementRef("joints", part.joint)


def _coordinate_mover(view: Stage, part: HandlePart) -> Callable[[float, bool], tuple[State, str]]:
    """Return a function that moves one coordinate by a given amount from its start value and returns the state of the
    handle and the value as text."""
    session = view.session
    mech = session.mech
    index = mech.joint_q(part.joint).start + int(part.coordinate or 0)
    coordinate = mech.coordinates[index]
    start = float(session.q[index])
    own = _coordinate_reader(view, part)
    before, after = own(session.q), own(session.q + np.eye(mech.nq)[index])
    ratio = after - before  # of a joint that follows another; 1 otherwise

    def move_coordinate(amount: float, snaps: bool) -> tuple[State, str]:
        wanted = before + amount
        if snaps:
            step = SNAP.get(coordinate.dimension, 0.01)
            wanted = round(wanted / step) * step
        session.preview_coordinates({coordinate.name: start + (wanted - before) / (ratio or 1.0)})
        value = own(session.q)
        state: State = "free"
        if abs(value - wanted) > REACHED_ERROR:
            stopped = set(coordinates_at_limits(mech, session.q, REACHED_ERROR)) & {
                coordinate.name,
                *(each.name for each in mech.cut_limits),
            }
            state = "limit" if stopped else "unreachable"
        if state != "limit" and is_dead_point(mech, session.q, view.session.p, part.joint):
            state = "singular"
        view.show_hint(f"Moving {part.joint} · {WORDS[state]} · Ctrl snaps · Esc cancels")
        return state, view.settings.format_value(value, coordinate.dimension) + SHORT[state]

    return move_coordinate


def is_dead_point(mech: Mechanism, q: np.ndarray, p: Mapping[str, float], joint: str) -> bool:
    """Return True if the pose is a dead point for this joint: without its columns the constraint Jacobian G loses rank.

    The smallest singular value of G that is not zero is compared with the one of G without the joint.
    """
    if not mech.compiled.lasting.any():
        return False
    G = np.asarray(mech.constraint_jacobian(q, p=p))[mech.compiled.lasting]
    others = np.delete(G, mech.joint_v(joint), axis=1)
    whole, rest = (np.linalg.svd(each, compute_uv=False) for each in (G, others))
    rank = int(np.sum(whole > INDEPENDENT_DIRECTION * whole[0])) if len(whole) else 0
    if rank == 0:
        return False
    return len(rest) < rank or bool(rest[rank - 1] < DEAD * whole[rank - 1])


def _coordinate_reader(view: Stage, part: HandlePart) -> Callable[[np.ndarray], float]:
    """Return a function that gives the coordinate of the dragged joint at a pose, also for a mimic joint."""
    mech, index = view.session.mech, int(part.coordinate or 0)
    return lambda q: float(mech.coordinate(q, part.joint)[index])


def _quaternion_turner(view: Stage, part: HandlePart) -> Callable[[float, bool], tuple[State, str]]:
    """Return a function that turns a quaternion joint about one axis of frame b, starting from its present
    orientation."""
    session = view.session
    mech = session.mech
    start = np.array(session.q)
    direction = np.zeros(mech.nv)
    direction[mech.joint_v(part.joint).start + part.speed] = 1.0
    names = mech.q_names[mech.joint_q(part.joint)]

    def turn_joint(amount: float, snaps: bool) -> tuple[State, str]:
        if snaps:
            amount = round(amount / SNAP["angle"]) * SNAP["angle"]
        q = np.asarray(mech.integrate(start, direction * amount, 1.0))
        if mech.constrained:
            session.preview_coordinates(dict(zip(names, q[mech.joint_q(part.joint)].tolist(), strict=True)))
        else:
            session.preview(q=q)
        return "free", view.settings.format_value(amount, "angle")

    return turn_joint


LENGTH_GHOST = "length"
SHORTEST_LINK = 0.02
"""Fraction of its length to which a link can be shortened in one drag."""


def drag_link_end(view: Stage, end: LinkEnd, press: PointerState) -> Gesture:
    """Preview the machine with the link length at the pointer; commit it on release."""
    session, notes = view.session, view.annotations
    try:
        trial = LinkLengthTrial(session, end.body, end.joint)
    except KinetostatError as error:
        session.message.emit("error", str(error))
        yield from orbit(view, press)
        return
    direction = (end.place - end.near) / trial.now
    pull = PointDrag(end.place, view.scene.ray(press.x, press.y), view.scene.view.axes[:, 2])
    view.show_hint(f"Length of {end.body} · Ctrl snaps · Esc cancels")
    try:
        while (pointer := (yield)) is not None:
            target = pull.target_position(view.scene.ray(pointer.x, pointer.y))
            wanted = max(float((target - end.near) @ direction), SHORTEST_LINK * trial.now)
            if pointer.ctrl:
                wanted = max(round(wanted / SNAP["length"]), 1) * SNAP["length"]
            closed = trial.try_length(round_measured_number(wanted))
            _preview_trial_length(view, trial)
            farther = "" if closed else "  the loops do not close beyond this length"
            notes.show_value_at_pointer(
                view.settings.format_value(trial.length, "length") + farther, pointer.x, pointer.y
            )
    finally:
        notes.clear()
        view.scene.overlays.show_ghosts((), [], source=LENGTH_GHOST)
        view.show_hint()
        view.update()
    if trial.length != trial.now:
        wanted_length = LinkLength(trial.length, end.joint)
        session.apply(f"Change length of {end.body}", lambda _m: resize_link(session, end.body, wanted_length))


def _preview_trial_length(view: Stage, trial: LinkLengthTrial) -> None:
    """Show the machine with the trial length as a ghost next to the present one."""
    mech, p = trial.mech, trial.parameters
    arrays = np.asarray(mech.poses(trial.q, p=p))
    view.scene.overlays.show_ghosts(mech.frame_names, [arrays], parameters=[p], model=trial.model, source=LENGTH_GHOST)
    view.update()


LEAST_LIMIT_RANGE = 1e-6
"""Smallest range between the limits of a coordinate, rad or m."""


def drag_handle(view: Stage, part: HandlePart, press: PointerState) -> Gesture:
    """Drag a part of a handle: the joint itself, or one of its limits."""
    return drag_joint_limit(view, part, press) if part.bound else drag_joint(view, part, press)


def drag_joint_limit(view: Stage, part: HandlePart, press: PointerState) -> Gesture:
    """Preview the joint limit at the pointer; commit one edit on release."""
    session, handles = view.session, view.scene.handles
    joint, refused = _draggable_joint(view, part)
    drag = HandleDrag(handles.create_grip(part), view.scene.ray(press.x, press.y))
    low, high = handles.get_limits(part)
    start = low if part.bound == "lower" else high
    assert start is not None
    value = start
    dimension = session.mech.coordinates[session.mech.joint_q(part.joint).start + int(part.coordinate or 0)].dimension
    handles.mark_dragged(part)
    view.show_hint(refused or f"Moving the {part.bound} limit of {part.joint} · Ctrl snaps · Esc cancels")
    view.update()
    try:
        while (pointer := (yield)) is not None:
            if refused:
                continue
            value = start + drag.motion_so_far(view.scene.ray(pointer.x, pointer.y))
            if pointer.ctrl:
                step = SNAP.get(dimension, 0.01)
                value = round(value / step) * step
            if part.bound == "lower":
                value = value if high is None else min(value, high - LEAST_LIMIT_RANGE)
                handles.set_limits(part, value, high)
            else:
                value = value if low is None else max(value, low + LEAST_LIMIT_RANGE)
                handles.set_limits(part, low, value)
            handles.show_value(f"{part.bound} limit  {view.settings.format_value(value, dimension)}")
            view.update()
    except GeneratorExit:
        handles.set_limits(part, low, high)
        raise
    finally:
        handles.mark_dragged(None)
        view.show_hint()
        view.update()
    if joint is not None and not refused and value != start:
        words = f"Move the {part.bound} limit of {part.joint}"
        session.apply(words, lambda model: _model_with_limit(model, part, value))


def _draggable_joint(view: Stage, part: HandlePart) -> tuple[Joint | None, str]:
    """Return the joint of the document, and the reason why its limit cannot be dragged ("" if it can)."""
    joint = next((each for each in view.session.model.joints if each.name == part.joint), None)
    if joint is None:
        return None, f"The limits of {part.joint} are defined in its DH table or sub-assembly file: change them there"
    bound = getattr(joint.limits[int(part.coordinate or 0)], part.bound)
    if isinstance(bound, str):
        return joint, f"This limit is given by the formula {bound}: change it in the properties of {part.joint}"
    return joint, ""


def _model_with_limit(model: Model, part: HandlePart, value: float) -> Model:
    """Return the model with the joint limit changed to a value."""
    found = model.find("joints", part.joint)
    limits, k = list(found.limits), int(part.coordinate or 0)
    limits[k] = replace(limits[k], **{part.bound: value})
    return edits.change(model, "joints", part.joint, limits=tuple(limits))


PLANE_DIMENSIONS = {"slide": "length", "turn": "angle"}


def drag_map_plane(view: Stage, part: AxisPart, press: PointerState) -> Gesture:
    """Preview the new plane; request the map once, on release."""
    handle, notes = view.scene.plane_handle, view.annotations
    start = handle.place
    assert start is not None
    drag = HandleDrag(handle.create_grip(part), view.scene.ray(press.x, press.y))
    dimension, verb = PLANE_DIMENSIONS[part.kind], {"slide": "Moving", "turn": "Turning"}[part.kind]
    place = start
    view.show_hint(f"{verb} the plane of the map · Ctrl snaps · Esc cancels")
    handle.highlight(part)
    try:
        while (pointer := (yield)) is not None:
            amount = drag.motion_so_far(view.scene.ray(pointer.x, pointer.y))
            if pointer.ctrl:
                amount = round(amount / SNAP[dimension]) * SNAP[dimension]
            place = start.moved_by(part, amount)
            handle.show_handle(place, framed=True)
            notes.show_value_at_pointer(view.settings.format_value(amount, dimension), pointer.x, pointer.y)
            view.update()
    except GeneratorExit:
        place = start
        raise
    finally:
        notes.clear()
        handle.show_handle(place)
        handle.highlight(None)
        view.show_hint()
        view.update()
    if place is not start:
        view.maps.request_in_plane(place)
