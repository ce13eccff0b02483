"""Drag a joint handle: a ring or arrow moves one coordinate, or turns a spherical joint about one of its axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import radians
from typing import TYPE_CHECKING

import numpy as np

from app.document.revision import Ref
from app.viewport.gestures import Gesture
from app.viewport.pointer import Pointer
from core.analysis.inverse_kinematics import at_limits
from viz.drawlist.drag_geometry import Drag
from viz.drawlist.joint_look import Part
from viz.scene.handles import State

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.mechanism import Mechanism

SNAP = {"angle": radians(5.0), "length": 0.01}
"""Steps of a coordinate while Ctrl is held, rad and m."""
WORDS = {
    "free": "reached",
    "limit": "at a limit",
    "unreachable": "out of reach: the loop does not allow it",
    "singular": "dead point: here it does not determine the others; drag another joint of the loop",
}
"""Text of the hint line for each state of a handle."""
SHORT = {"free": "", "limit": "  limit", "unreachable": "  no farther", "singular": "  dead point"}
INDEPENDENT_DIRECTION = 1e-7
"""Relative singular value below which a direction belongs to redundant constraints."""
DEAD = 0.03
"""Ratio of smallest singular values, without and with the dragged joint, below which the pose counts as a dead point.
"""
REACHED_ERROR = 1e-6
"""Error (rad, m) above which a value counts as not reached."""


def drag_joint(view: Stage, part: Part, press: Pointer) -> Gesture:
    """Preview the joint value at the pointer; commit once."""
    session, handles = view.session, view.scene.handles
    session.select(_element_of_handle(view, part))
    drag = Drag(handles.grip(part), view.scene.ray(press.x, press.y))
    turns = part.coordinate is None
    move = _quaternion_turner(view, part) if turns else _coordinate_mover(view, part)
    view.say(f"Moving {part.joint} · Ctrl snaps · Esc cancels")
    handles.drag(part)
    view.update()
    try:
        while (pointer := (yield)) is not None:
            amount = drag.amount(view.scene.ray(pointer.x, pointer.y))
            state, text = move(amount, pointer.ctrl)
            handles.drag(part, state)
            handles.say(text)
            view.update()
    except GeneratorExit:
        session.cancel()
        raise
    finally:
        handles.drag(None)
        view.say()
        view.update()
    session.commit(f"Move {part.joint}")


def _element_of_handle(view: Stage, part: Part) -> Ref:
    """Return the joint, or the free body, that a handle moves."""
    for joint in view.session.mech.implicit_joints:
        if joint.name == part.joint:
            return Ref("bodies", joint.child)
    return Ref("joints", part.joint)


def _coordinate_mover(view: Stage, part: Part) -> Callable[[float, bool], tuple[State, str]]:
    """Return a function that moves one coordinate by an amount from its start value and returns state and
    value text."""
    session = view.session
    mech = session.mech
    index = mech.joint_q(part.joint).start + int(part.coordinate or 0)
    coordinate = mech.coordinates[index]
    start = float(session.q[index])
    own = _coordinate_reader(view, part)
    before, after = own(session.q), own(session.q + np.eye(mech.nq)[index])
    ratio = after - before  # of a joint that follows another; 1 otherwise

    def move(amount: float, snaps: bool) -> tuple[State, str]:
        wanted = before + amount
        if snaps:
            step = SNAP.get(coordinate.dimension, 0.01)
            wanted = round(wanted / step) * step
        session.preview_coordinates({coordinate.name: start + (wanted - before) / (ratio or 1.0)})
        value = own(session.q)
        state: State = "free"
        if abs(value - wanted) > REACHED_ERROR:
            stopped = set(at_limits(mech, session.q, REACHED_ERROR)) & {
                coordinate.name,
                *(each.name for each in mech.cut_limits),
            }
            state = "limit" if stopped else "unreachable"
        if state != "limit" and is_dead_point(mech, session.q, view.session.p, part.joint):
            state = "singular"
        view.say(f"Moving {part.joint} · {WORDS[state]} · Ctrl snaps · Esc cancels")
        return state, view.settings.shown(value, coordinate.dimension) + SHORT[state]

    return move


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


def _coordinate_reader(view: Stage, part: Part) -> Callable[[np.ndarray], float]:
    """Return a function that gives the joint's own coordinate at a pose, also for a mimic joint."""
    mech, index = view.session.mech, int(part.coordinate or 0)
    return lambda q: float(mech.coordinate(q, part.joint)[index])


def _quaternion_turner(view: Stage, part: Part) -> Callable[[float, bool], tuple[State, str]]:
    """Return a function that turns a quaternion joint about one axis of frame b from its start orientation."""
    session = view.session
    mech = session.mech
    start = np.array(session.q)
    direction = np.zeros(mech.nv)
    direction[mech.joint_v(part.joint).start + part.speed] = 1.0
    names = mech.q_names[mech.joint_q(part.joint)]

    def move(amount: float, snaps: bool) -> tuple[State, str]:
        if snaps:
            amount = round(amount / SNAP["angle"]) * SNAP["angle"]
        q = np.asarray(mech.integrate(start, direction * amount, 1.0))
        if mech.constrained:
            session.preview_coordinates(dict(zip(names, q[mech.joint_q(part.joint)].tolist(), strict=True)))
        else:
            session.preview(q=q)
        return "free", view.settings.shown(amount, "angle")

    return move
