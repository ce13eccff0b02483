"""Gestures in the viewport, each a generator: press, a `yield` per move, one commit."""

from app.tools import connect, measure, move, pull, selection
from app.viewport.gestures import Tool
from app.viewport.stage import Stage

TOOLS: dict[str, Tool[Stage]] = {
    "select": Tool("select", selection.EXPECTS, selection.press, selection.hover, selection.leave),
    "move": Tool("move", move.EXPECTS, move.press, move.hover, move.leave),
    "pull": Tool("pull", pull.EXPECTS, pull.press, pull.hover, pull.leave),
    "connect": Tool("connect", connect.EXPECTS, connect.press, connect.hover, connect.leave, handles=False),
    "measure": Tool("measure", measure.EXPECTS, measure.press, measure.hover, measure.leave, handles=False),
}
"""What the left button can do, by id."""

__all__ = ["TOOLS"]
