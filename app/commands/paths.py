"""Commands that draw the paths of points."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command
from core.analysis.tool_frame import tool_frame

if TYPE_CHECKING:
    from app.workbench import Workbench

MENU = "View/Paths"


def _selected_frame(bench: Workbench) -> str:
    """Return the selected body or frame, else the tool; "" if there is neither."""
    ref, names = bench.session.selection, bench.session.mech.frame_names
    if ref is not None and ref.collection in ("bodies", "frames") and ref.name in names:
        return ref.name
    return tool_frame(bench.session.model) or ""


def toggle(bench: Workbench) -> None:
    """Draw the path of the selected frame, or stop drawing it."""
    followed, frame = bench.scenery.paths, _selected_frame(bench)
    others = [name for name in followed if name != frame]
    bench.scenery.follow(*others, *(() if frame in followed else (frame,)))


def forget(bench: Workbench) -> None:
    """Clear all paths and start them again."""
    bench.scenery.forget_paths()


def end(bench: Workbench) -> None:
    """Stop drawing paths."""
    bench.scenery.follow()


COMMANDS = (
    Command(
        "view.trace",
        "Path",
        toggle,
        MENU,
        "T",
        "trace",
        when=lambda w: bool(_selected_frame(w)),
        checked=lambda w: _selected_frame(w) in w.scenery.paths,
        context=("bodies", "frames"),
        help="Draw the path of the origin of the selected body or frame, else of the tool, during every movement.",
        also=("trace", "coupler curve", "locus", "trail", "orbit of a point"),
    ),
    Command(
        "view.trace_forget",
        "Restart paths",
        forget,
        MENU,
        icon="repeat",
        when=lambda w: bool(w.scenery.paths),
        help="Clear the paths drawn so far and continue from here.",
    ),
    Command(
        "view.trace_end",
        "Remove all paths",
        end,
        MENU,
        icon="clear",
        when=lambda w: bool(w.scenery.paths),
        context=("scene",),
        help="Remove all paths and stop drawing them.",
    ),
)
