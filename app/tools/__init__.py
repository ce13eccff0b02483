"""Mouse tools of the viewport. Each gesture is a generator: started by a press, resumed at every move, ended by one
commit."""

from app.tools import connect, measure, move, pull, selection, target_curve
from app.tools.draw import tool as draw
from app.viewport.gestures import Tool
from app.viewport.stage import Stage

DRAG = ((0.35, 0.62, False), (0.42, 0.5, True), (0.52, 0.42, True), (0.62, 0.45, True))
"""Path of the demonstration hand for dragging."""
TWO_POINTS = ((0.3, 0.6, False), (0.4, 0.45, True), (0.6, 0.45, True))
FOUR_POINTS = ((0.28, 0.66, False), (0.36, 0.62, True), (0.42, 0.42, True), (0.6, 0.38, True), (0.66, 0.62, True))
STROKE = ((0.3, 0.5, True), (0.42, 0.36, True), (0.58, 0.4, True), (0.55, 0.58, True), (0.4, 0.62, True))
TOOLS: dict[str, Tool[Stage]] = {
    "select": Tool("select", selection.EXPECTS, selection.press, selection.hover, selection.leave, ends=True),
    "move": Tool("move", move.EXPECTS, move.press, move.hover, move.leave, ends=True, hand=DRAG),
    "pull": Tool("pull", pull.EXPECTS, pull.press, pull.hover, pull.leave, hand=DRAG),
    "connect": Tool(
        "connect",
        connect.EXPECTS,
        connect.press,
        connect.hover,
        connect.leave,
        handles=False,
        hand=TWO_POINTS,
        wants=connect.wants,
        key=connect.key,
    ),
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
        hand=FOUR_POINTS,
        handles=False,
    ),
    "target_curve": Tool(
        "target_curve",
        target_curve.EXPECTS,
        target_curve.press,
        target_curve.hover,
        target_curve.leave,
        enter=target_curve.enter,
        double=target_curve.double,
        back=target_curve.back,
        wants=target_curve.wants,
        key=target_curve.key,
        handles=False,
        keeps_view=True,
        hand=STROKE,
    ),
    "measure": Tool(
        "measure", measure.EXPECTS, measure.press, measure.hover, measure.leave, handles=False, hand=TWO_POINTS
    ),
}
"""The tools of the left mouse button, by id."""

__all__ = ["TOOLS"]
