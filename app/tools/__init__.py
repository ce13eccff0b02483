"""Gestures in the viewport, each a generator: press, a `yield` per move, one commit."""

from app.tools import connect, measure, move, pull, selection
from app.tools.draw import tool as draw
from app.viewport.gestures import Tool
from app.viewport.stage import Stage

TOOLS: dict[str, Tool[Stage]] = {
    "select": Tool("select", selection.EXPECTS, selection.press, selection.hover, selection.leave),
    "move": Tool("move", move.EXPECTS, move.press, move.hover, move.leave),
    "pull": Tool("pull", pull.EXPECTS, pull.press, pull.hover, pull.leave),
    "connect": Tool("connect", connect.EXPECTS, connect.press, connect.hover, connect.leave, handles=False),
    "draw": Tool(
        "draw",
        draw.EXPECTS,
        draw.press,
        draw.hover,
        draw.leave,
        enter=draw.enter,
        double=draw.double,
        menu=draw.menu,
        back=draw.back,
        wants=draw.wants,
        key=draw.key,
        takes_shift=True,
        keeps_view=True,
        handles=False,
    ),
    "measure": Tool("measure", measure.EXPECTS, measure.press, measure.hover, measure.leave, handles=False),
}
"""What the left button can do, by id."""

__all__ = ["TOOLS"]
