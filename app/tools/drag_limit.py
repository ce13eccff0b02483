"""Drag a stop: the limit of one coordinate moves with the pointer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.tools.drag_joint import SNAP, drag_joint
from app.viewport.gestures import Gesture
from app.viewport.pointer import Pointer
from core.model.edits import edits
from viz.drawlist.joint_handles import Drag
from viz.drawlist.joint_look import Part

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.model import Joint, Model

LEAST = 1e-6
"""Smallest range between the limits of a coordinate, rad or m."""


def drag_handle(view: Stage, part: Part, press: Pointer) -> Gesture:
    """Drag a handle part: the joint, or the stop at one of its limits."""
    return drag_limit(view, part, press) if part.bound else drag_joint(view, part, press)


def drag_limit(view: Stage, part: Part, press: Pointer) -> Gesture:
    """Preview the stop at the pointer; commit one edit on release."""
    session, handles = view.session, view.scene.handles
    joint, refused = _draggable_joint(view, part)
    drag = Drag(handles.grip(part), view.scene.ray(press.x, press.y))
    low, high = handles.limits(part)
    start = low if part.bound == "lower" else high
    assert start is not None
    value = start
    dimension = session.mech.coordinates[session.mech.joint_q(part.joint).start + int(part.coordinate or 0)].dimension
    handles.drag(part)
    view.say(refused or f"Moving the {part.bound} stop of {part.joint} · Ctrl snaps · Esc cancels")
    view.update()
    try:
        while (pointer := (yield)) is not None:
            if refused:
                continue
            value = start + drag.amount(view.scene.ray(pointer.x, pointer.y))
            if pointer.ctrl:
                step = SNAP.get(dimension, 0.01)
                value = round(value / step) * step
            if part.bound == "lower":
                value = value if high is None else min(value, high - LEAST)
                handles.set_limits(part, value, high)
            else:
                value = value if low is None else max(value, low + LEAST)
                handles.set_limits(part, low, value)
            handles.say(f"{part.bound} stop  {view.settings.shown(value, dimension)}")
            view.update()
    except GeneratorExit:
        handles.set_limits(part, low, high)
        raise
    finally:
        handles.drag(None)
        view.say()
        view.update()
    if joint is not None and not refused and value != start:
        words = f"Move the {part.bound} stop of {part.joint}"
        session.apply(words, lambda model: _with_limit(model, part, value))


def _draggable_joint(view: Stage, part: Part) -> tuple[Joint | None, str]:
    """Return the document's joint, and the reason why its limit cannot be dragged ("" if it can)."""
    joint = next((each for each in view.session.model.joints if each.name == part.joint), None)
    if joint is None:
        return None, f"The limits of {part.joint} are defined in its table or file: change them there"
    bound = getattr(joint.limits[int(part.coordinate or 0)], part.bound)
    if isinstance(bound, str):
        return joint, f"This limit is the formula {bound}: change it in the form of {part.joint}"
    return joint, ""


def _with_limit(model: Model, part: Part, value: float) -> Model:
    """Return the model with the limit changed."""
    found = model.find("joints", part.joint)
    limits, k = list(found.limits), int(part.coordinate or 0)
    limits[k] = replace(limits[k], **{part.bound: value})
    return edits.change(model, "joints", part.joint, limits=tuple(limits))
