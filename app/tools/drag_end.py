"""Drag the end of a link to change its length: the other end stays, and loops close again on the same branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from app.document.link_lengths import LinkEnd, LinkLength, Trial, resized
from app.tools.drag_joint import SNAP
from app.viewport.gestures import Gesture
from app.viewport.navigate import orbit
from app.viewport.pointer import Pointer
from core.errors import KinetostatError
from core.model.formula.numerals import without_noise
from viz.drawlist.joint_handles import PointDrag

if TYPE_CHECKING:
    from app.viewport.stage import Stage

GHOST = "length"
SHORTEST = 0.02
"""Share of its length to which a link can be shortened in one drag."""


def drag_end(view: Stage, end: LinkEnd, press: Pointer) -> Gesture:
    """Preview the machine with the length at the pointer; commit once."""
    session, notes = view.session, view.annotations
    try:
        trial = Trial(session, end.body, end.joint)
    except KinetostatError as error:
        session.message.emit("error", str(error))
        yield from orbit(view, press)
        return
    direction = (end.place - end.near) / trial.now
    pull = PointDrag(end.place, view.scene.ray(press.x, press.y), view.scene.view.axes[:, 2])
    view.say(f"Length of {end.body} · Ctrl snaps · Esc cancels")
    try:
        while (pointer := (yield)) is not None:
            target = pull.position(view.scene.ray(pointer.x, pointer.y))
            wanted = max(float((target - end.near) @ direction), SHORTEST * trial.now)
            if pointer.ctrl:
                wanted = max(round(wanted / SNAP["length"]), 1) * SNAP["length"]
            closed = trial.take(without_noise(wanted))
            _show_trial(view, trial)
            farther = "" if closed else "  the loops do not close beyond this"
            notes.show_value(view.settings.shown(trial.length, "length") + farther, pointer.x, pointer.y)
    finally:
        notes.clear()
        view.scene.overlays.ghosts((), [], source=GHOST)
        view.say()
        view.update()
    if trial.length != trial.now:
        wanted_length = LinkLength(trial.length, end.joint)
        session.apply(f"Change length of {end.body}", lambda _m: resized(session, end.body, wanted_length))


def _show_trial(view: Stage, trial: Trial) -> None:
    """Preview the machine with the last trial length next to the present one."""
    mech, p = trial.mech, trial.parameters
    arrays = np.asarray(mech.poses(trial.q, p=p))
    view.scene.overlays.ghosts(mech.frame_names, [arrays], parameters=[p], model=trial.model, source=GHOST)
    view.update()
