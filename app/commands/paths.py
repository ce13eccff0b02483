"""Commands that draw the paths of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command
from core.analysis.tool_frame import tool_frame

if TYPE_CHECKING:
    from app.window.window import Window

MENU = "View/Paths"


def _frame(window: Window) -> str:
    """The selected body or frame, else the tool; "" if there is neither."""
    ref, names = window.session.selection, window.session.mech.frame_names
    if ref is not None and ref.collection in ("bodies", "frames") and ref.name in names:
        return ref.name
    return tool_frame(window.session.model) or ""


def toggle(window: Window) -> None:
    """Follow the frame, or no longer."""
    scene, frame = window.viewport.scene, _frame(window)
    others = [name for name in scene.tracks.frames if name != frame]
    scene.follow(*others, *(() if frame in scene.tracks.frames else (frame,)))
    window.viewport.update()


def forget(window: Window) -> None:
    """Begin all paths anew."""
    scene = window.viewport.scene
    scene.tracks.forget()
    scene.follow(*scene.tracks.frames)
    window.viewport.update()


def end(window: Window) -> None:
    """Draw no paths any more."""
    window.viewport.scene.follow()
    window.viewport.update()


COMMANDS = (
    Command(
        "view.trace",
        "Path",
        toggle,
        MENU,
        "T",
        "trace",
        when=lambda w: bool(_frame(w)),
        checked=lambda w: _frame(w) in w.viewport.scene.tracks.frames,
        context=("bodies", "frames"),
        help="Draw the path of the selected body's or frame's origin, else of the tool's, through every movement.",
    ),
    Command(
        "view.trace_forget",
        "Begin paths anew",
        forget,
        MENU,
        icon="repeat",
        when=lambda w: bool(w.viewport.scene.tracks.frames),
        help="Forget the paths drawn so far and go on from here.",
    ),
    Command(
        "view.trace_end",
        "Remove all paths",
        end,
        MENU,
        icon="clear",
        when=lambda w: bool(w.viewport.scene.tracks.frames),
        context=("scene",),
        help="Draw no paths any more.",
    ),
)
