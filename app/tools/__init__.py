"""Mouse tools of the viewport. Each gesture is a generator: started by a press, resumed at every movement, and ended by
one commit."""

from app.tools import connect, drag_frame, measure, move, pull, selection, target_curve
from app.tools.draw import tool as draw
from app.viewport.gestures import MouseTool
from app.viewport.stage import Stage

DRAG = ((0.35, 0.62, False), (0.42, 0.5, True), (0.52, 0.42, True), (0.62, 0.45, True))
"""Path of the demonstration hand for a drag."""
TWO_POINTS = ((0.3, 0.6, False), (0.4, 0.45, True), (0.6, 0.45, True))
FOUR_POINTS = ((0.28, 0.66, False), (0.36, 0.62, True), (0.42, 0.42, True), (0.6, 0.38, True), (0.66, 0.62, True))
STROKE = ((0.3, 0.5, True), (0.42, 0.36, True), (0.58, 0.4, True), (0.55, 0.58, True), (0.4, 0.62, True))
TOOLS: dict[str, MouseTool[Stage]] = {
    "select": MouseTool(
        "select",
        selection.EXPECTS,
        selection.press,
        selection.hover,
        selection.leave,
        ends=True,
        double=selection.double_click,
        wants=drag_frame.wants_key,
        key=drag_frame.handle_key,
    ),
    "move": MouseTool(
        "move",
        move.EXPECTS,
        move.press,
        move.hover,
        move.leave,
        ends=True,
        double=selection.double_click,
        wants=drag_frame.wants_key,
        key=drag_frame.handle_key,
        hand=DRAG,
    ),
    "pull": MouseTool("pull", pull.EXPECTS, pull.press, pull.hover, pull.leave, hand=DRAG),
    "connect": MouseTool(
        "connect",
        connect.EXPECTS,
        connect.press,
        connect.hover,
        connect.leave,
        handles=False,
        hand=TWO_POINTS,
        wants=connect.wants_key,
        key=connect.handle_key,
    ),
    "draw": MouseTool(
        "draw",
        draw.EXPECTS,
        draw.press,
        draw.hover,
        draw.leave,
        enter=draw.enter,
        double=draw.double_click,
        menu=draw.end_chain_on_right_click,
        back=draw.step_back,
        wants=draw.wants_key,
        key=draw.handle_key,
        takes_shift=True,
        keeps_view=True,
        hand=FOUR_POINTS,
        handles=False,
    ),
    "target_curve": MouseTool(
        "target_curve",
        target_curve.EXPECTS,
        target_curve.press,
        target_curve.hover,
        target_curve.leave,
        enter=target_curve.enter,
        double=target_curve.double_click,
        back=target_curve.step_back,
        wants=target_curve.wants_key,
        key=target_curve.handle_key,
        handles=False,
        keeps_view=True,
        hand=STROKE,
    ),
    "measure": MouseTool(
        "measure", measure.EXPECTS, measure.press, measure.hover, measure.leave, handles=False, hand=TWO_POINTS
    ),
}
"""The tools of the left mouse button, by id."""

__all__ = ["TOOLS"]
