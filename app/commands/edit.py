"""Commands of the Edit menu for the document, the pose and the selection."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit

from app.commands.command import Command
from app.document.analyses import isostatic_proposal, make_isostatic
from app.document.joining import CLOSE, close_open_loops, open_joints
from app.widgets.plain_keys import return_focus_to_scene
from core.errors import KinetostatError

if TYPE_CHECKING:
    from app.workbench import Workbench


def escape(bench: Workbench) -> None:
    """Close the start page; else cancel the gesture or preview in progress, or go back one step in the tool; else
    return to the Select tool; else clear the selection. A field with the keyboard focus returns it to the scene."""
    field = QApplication.focusWidget()
    if isinstance(field, QLineEdit | QAbstractSpinBox):
        return_focus_to_scene(field)
    gestures = bench.stage.gestures
    if bench.dialogs.close_start_page() or gestures.cancel_gesture() or gestures.step_back():
        return
    if bench.session.has_preview:
        bench.session.cancel_preview()
    elif bench.runs.is_live:
        bench.runs.end_live()
    elif bench.stage.gestures.tool.id != "select":
        bench.stage.gestures.choose_tool("select")
    else:
        bench.session.select(None)


def close_joints(bench: Workbench) -> None:
    """Close open joints; report the reason if that is impossible."""
    session = bench.session
    try:
        session.pose(CLOSE, close_open_loops(session))
    except KinetostatError as error:
        session.message.emit("error", str(error))


def toggle_degrees(bench: Workbench) -> None:
    """Switch between degrees and radians."""
    bench.settings.degrees = not bench.settings.degrees


def toggle_millimetres(bench: Workbench) -> None:
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
        help="Close the open joints by moving the machine as little as possible. Free bodies move to "
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
        toggle_degrees,
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
        toggle_millimetres,
        "Edit/Units",
        "",
        "units",
        checked=lambda w: w.settings.millimetres,
        section="units",
        help="Show and read lengths in millimetres; off: metres.",
        also=("units", "inch", "mm"),
    ),
)
