"""Commands of the Edit menu for the document, the pose and the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit

from app.commands.command import Command
from app.document.analyses import isostatic_proposal, make_isostatic
from app.document.joining import CLOSE, closed, open_joints
from app.widgets.plain_keys import return_focus_to_scene
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.workbench import Workbench


def escape(bench: Workbench) -> None:
    """Close the start page, or cancel the gesture or preview in progress, or go back one step in the tool; else return
    to the select tool; else clear the selection. A field that has the keyboard gives it back to the scene."""
    field = QApplication.focusWidget()
    if isinstance(field, QLineEdit | QAbstractSpinBox):
        return_focus_to_scene(field)
    gestures = bench.stage.gestures
    if bench.dialogs.leave_start_page() or gestures.cancel() or gestures.step_back():
        return
    if bench.session.previewing:
        bench.session.cancel()
    elif bench.runs.live:
        bench.runs.stop_live()
    elif bench.stage.gestures.tool.id != "select":
        bench.stage.gestures.choose("select")
    else:
        bench.session.select(None)


def close_joints(bench: Workbench) -> None:
    """Close open joints; if they cannot be closed, report the reason."""
    session = bench.session
    try:
        session.pose(CLOSE, closed(session))
    except KinetostatError as error:
        session.message.emit("error", str(error))


def degrees(bench: Workbench) -> None:
    """Switch between degrees and radians."""
    bench.settings.degrees = not bench.settings.degrees


def millimetres(bench: Workbench) -> None:
    """Switch between millimetres and metres."""
    bench.settings.millimetres = not bench.settings.millimetres


COMMANDS = (
    Command(
        "edit.undo",
        "Undo",
        lambda w: w.session.undo(),
        "Edit",
        "Ctrl+Z",
        "undo",
        section="undo",
        toolbar="edit",
        when=lambda w: bool(w.session.undo_label),
        help="Undo the last change of the model or the pose.",
        also=("undo history", "history", "take back"),
    ),
    Command(
        "edit.redo",
        "Redo",
        lambda w: w.session.redo(),
        "Edit",
        "Ctrl+Shift+Z, Ctrl+Y",
        "redo",
        section="undo",
        toolbar="edit",
        when=lambda w: bool(w.session.redo_label),
        help="Redo the change that was undone last.",
        also=("repeat",),
    ),
    Command(
        "edit.rest",
        "Reset pose",
        lambda w: w.session.reset_pose(),
        "Edit",
        "Ctrl+0",
        "reset",
        section="pose",
        context=("scene",),
        when=lambda w: w.session.mech.nq > 0,
        help="Move all joints back to the home position of the model.",
        also=("home position", "zero position", "reset joints", "rest position"),
    ),
    Command(
        "edit.close_joints",
        CLOSE,
        close_joints,
        "Edit",
        "",
        "loop",
        section="pose",
        context=("joints",),
        when=lambda w: bool(open_joints(w.session)),
        help="Move the machine as little as possible until its open joints are closed. Free bodies move to "
        "the grounded ones.",
        also=("assemble", "left apart", "close the loop"),
    ),
    Command(
        "edit.isostatic",
        "Make isostatic",
        lambda w: make_isostatic(w.session, w.jobs),
        "Edit",
        "",
        "loop",
        section="pose",
        when=lambda w: isostatic_proposal(w.session) is not None,
        help="Replace joints as the findings propose, so that no constraint is redundant and the motion "
        "stays the same.",
    ),
    Command(
        "edit.cancel",
        "Cancel",
        escape,
        "Edit",
        "Esc",
        "cancel",
        section="pose",
        help="Cancel the gesture in progress; otherwise return to the select tool; otherwise clear the selection.",
    ),
    Command(
        "edit.degrees",
        "Angles in degrees",
        degrees,
        "Edit/Units",
        "",
        "degrees",
        checked=lambda w: w.settings.degrees,
        section="units",
        help="Show and read angles in degrees; off: radians.",
        also=("degrees", "radians"),
    ),
    Command(
        "edit.millimetres",
        "Lengths in millimetres",
        millimetres,
        "Edit/Units",
        "",
        "units",
        checked=lambda w: w.settings.millimetres,
        section="units",
        help="Show and read lengths in millimetres; off: metres.",
        also=("units", "inch", "mm"),
    ),
)
