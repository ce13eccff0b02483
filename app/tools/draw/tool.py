"""The Draw tool: handling of clicks, drags and keys."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QKeyEvent

from app.tools.draw.figure import ClickableTag, DrawPainter
from app.tools.draw.hand import DrawController
from app.tools.draw.snapping import SnappedPoint, find_snap, grid_step
from app.tools.draw.sub_tools import SUB_TOOLS, SubTool, begin_chain, draw_link_to, toggle_motor
from app.tools.draw.typed_numbers import NOTHING, describe_typed_numbers, parse_typed_numbers
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import click_or_orbit
from app.widgets.quantities.quantity_text import Measure, format_quantity, read
from core.design import linkage
from core.design.linkage import Drawing, Point
from core.design.linkage.reshaping import compute_pin_shift, reachable_pin_position
from core.errors import KinetostatError
from core.model import Model, Parameter

if TYPE_CHECKING:
    from app.viewport.stage import Stage

EXPECTS = "Draw: click from pin to pin · Esc ends"
OPENING = "0123456789+-−.(=<"
"""Characters that open the input field at the pointer."""
TAGS = {
    "length": "Length: click to type a value, a formula or name = value; drag to change it",
    "angle": "Angle: click to type it",
    "distance": "Distance between two ground pins: click to type it",
    "lock": "Padlock: when closed, this length is kept while pins are dragged",
    "motor": "Motor: click to turn this pin at one revolution per second",
    "branch": "The other branch of these two links: click it or press V to switch",
}
"""Hint for a clickable label, by its kind."""
QUICK = 0.02
"""Processor time in seconds above which only the links at a dragged pin are shown, not the whole machine."""
SLIDES = "Changing a length: drag right to increase it · Esc cancels"
PLAIN = Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Down: (0.0, -1.0),
    Qt.Key.Key_Up: (0.0, 1.0),
}
"""Direction in which each arrow key moves a pin."""
NOWHERE = SnappedPoint((0.0, 0.0), (0.0, 0.0))
"""Placeholder for the snapped point when the user picks in space."""
SAME_END = 1e-7
"""Distance in m within which the end of a link belongs to a pin."""
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def enter(view: Stage) -> None:
    """Start the Draw tool."""
    hand = draw_controller(view)
    view.annotations.sketch = _controller_and_painter(view)[1].paint
    hand.start_drawing()


def leave(view: Stage) -> None:
    """Leave the Draw tool; the dimensions of the selected element stay visible."""
    hand, figure = _controller_and_painter(view)
    view.annotations.sketch = figure.paint_selected_link
    hand.stop_drawing()


_hands: WeakKeyDictionary[Stage, tuple[DrawController, DrawPainter]] = WeakKeyDictionary()


def draw_controller(view: Stage) -> DrawController:
    """Return the draw controller of a viewport."""
    return _controller_and_painter(view)[0]


def _controller_and_painter(view: Stage) -> tuple[DrawController, DrawPainter]:
    """Return the draw controller of a viewport and its painter."""
    found = _hands.get(view)
    if found is None:
        hand = DrawController(view, SUB_TOOLS["l"])
        found = _hands[view] = hand, DrawPainter(hand)
        view.annotations.sketch = found[1].paint_selected_link
    return found


# ------------------------------------------------------------------------------- the mouse


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Handle a press: a click goes to the sub-tool; a drag draws one link, moves a pin, or changes a dimension."""
    if view.press_orientation_cube(pointer):
        return
    hand = draw_controller(view)
    hand.gesture = object()
    if not _current_sub_tool(hand).in_plane:
        if (yield from click_or_orbit(view, pointer)):
            _current_sub_tool(hand).click(hand, NOWHERE, pointer)
        return
    tag = tag_under_pointer(hand, pointer)
    hand.update_snap(pointer)
    drag = _drag_gesture(hand, tag, pointer)
    next(drag)
    last, moved = pointer, False
    try:
        while (now := (yield)) is not None:
            last = now
            moved = moved or not now.is_click_after(pointer)
            if moved:
                drag.send(now)
                view.annotations.update()
    except GeneratorExit:
        drag.close()
        raise
    if moved:
        with suppress(StopIteration):
            drag.send(None)
        return
    drag.close()
    if tag is not None:
        _on_tag_clicked(hand, tag)
        return
    hand.update_snap(last)
    if hand.snap is not None:
        _run_showing_errors(hand, lambda: _click_at_snap(hand, last))


def _drag_gesture(controller: DrawController, tag: ClickableTag | None, press: PointerState) -> Gesture:
    """Return the gesture for a drag that starts here: change a length, move a pin, or draw a link."""
    snap = controller.snap
    if tag is not None:
        return _drag_dimension(controller, tag, press)
    if controller.chain or _current_sub_tool(controller).key != "l" or snap is None or snap.kind not in ("pin", "tip"):
        return _drag_new_link(controller)
    if locked := _locked_link_at(controller, snap.point):
        return _refuse_drag(controller, locked)
    return _drag_pin(controller, snap.point)


def _locked_link_at(controller: DrawController, point: Point) -> str:
    """Return the locked link that ends at a point; "" if there is none."""
    ends = ((bar.body, min(math.dist(bar.start, point), math.dist(bar.end, point))) for bar in controller.drawing.bars)
    return next((body for body, away in ends if away < SAME_END and body in controller.view.session.locked_bodies), "")


def _refuse_drag(controller: DrawController, locked_link: str) -> Gesture:
    """Refuse to drag a pin of a locked link, and report it."""
    yield
    controller.view.session.message.emit(
        "hint", f"“{locked_link}” is locked, so its pins cannot be moved. Press K to unlock it."
    )
    while (yield) is not None:
        pass


def _drag_new_link(controller: DrawController) -> Gesture:
    """Draw a link from the point of the press to that of the release, and end the chain."""
    begun, moved = controller.snap, False
    while (pointer := (yield)) is not None:
        if not moved and not controller.chain and begun is not None and _current_sub_tool(controller).key == "l":
            begin_chain(controller, begun)
        moved = True
        controller.update_snap(pointer)
    if _current_sub_tool(controller).key != "l" or not controller.chain or (snap := controller.snap) is None:
        return
    if math.dist(snap.point, controller.chain[-1].point) > 1e-9:
        _run_showing_errors(controller, lambda: draw_link_to(controller, snap))
    controller.end_chain()


def _drag_pin(controller: DrawController, point: Point) -> Gesture:
    """Drag a pin: the adjacent lengths are committed on release; the machine follows during the drag if that is fast
    enough."""
    goal, drawing, slow = point, controller.drawing, 0  # the first time something may have to be made ready
    session = controller.view.session
    try:
        while (pointer := (yield)) is not None:
            controller.update_snap(pointer)
            if controller.aim is None:
                continue
            controller.snap = find_snap(drawing, controller.aim)
            near = controller.aim.point if controller.snap.is_on_element else controller.snap.point
            goal = reachable_pin_position(drawing, point, near, controller.locked)
            began = time.thread_time()
            follows = slow < 2 and _preview_moved_pin(controller, drawing, point, goal)
            slow += slow >= 2 or time.thread_time() - began > QUICK
            controller.dragged = (goal if follows else point), goal
            controller.view.show_hint(
                "Changing the geometry: links at this pin change length unless their padlock is closed · Esc cancels"
            )
    finally:
        controller.dragged = None
        session.cancel_preview()
        controller.view.show_hint(controller.sub.prompt(controller))
    plane, poses, locked = controller.plane, controller.drawing.poses, tuple(controller.locked)

    def edit(model: Model) -> Model:
        return linkage.moved_pin(model, point, goal, plane=plane, locked=locked, poses=poses)

    _run_showing_errors(controller, lambda: controller.commit("Move pin", edit, adopt_present_pose=True))


def _preview_moved_pin(controller: DrawController, drawing: Drawing, point: Point, target: Point) -> bool:
    """Preview the machine with a pin moved; returns False if changing lengths alone cannot move it there."""
    session, found = controller.view.session, compute_pin_shift(drawing, point, target)
    if found is None:
        session.cancel_preview()
        return False
    q = np.array(session.edited_pose)
    for name, turn in found.turns.items():
        if name in session.mech.q_names:
            q[session.mech.joint_q(name)] += turn
    session.preview(q=q, parameters=found.lengths)
    return True


def _drag_dimension(controller: DrawController, tag: ClickableTag, press: PointerState) -> Gesture:
    """Change a length by dragging its dimension (to the right: longer); the machine follows."""
    session, value = controller.view.session, tag.value
    stated = session.model.index("parameter").get(tag.name)
    slides = tag.kind == "length" and isinstance(stated, Parameter) and stated.independent
    pixel = controller.metres_per_pixel
    step = grid_step(pixel, 2.0)
    try:
        while (pointer := (yield)) is not None:
            wanted = tag.value + (pointer.x - press.x) / press.scale * pixel
            if slides:
                asked = max(step, round(wanted / step) * step)
                try:
                    session.preview(parameters={tag.name: asked})
                    value = asked
                    controller.view.show_hint(SLIDES)
                except KinetostatError:  # the machine stays as it was
                    controller.view.show_hint(
                        f"The loops do not close beyond this length: {tag.name} stays as it is · Esc cancels"
                    )
    finally:
        session.cancel_preview()
    if slides:
        edit = partial(linkage.dimension, parameter=tag.name, value=value)
        _run_showing_errors(
            controller,
            lambda: controller.commit(
                f"Dimension {tag.name}", session.edit_keeping_locks(edit), adopt_present_pose=True
            ),
        )


def _current_sub_tool(controller: DrawController) -> SubTool:
    assert isinstance(controller.sub, SubTool)
    return controller.sub


def _click_at_snap(controller: DrawController, pointer: PointerState) -> None:
    assert controller.snap is not None
    _current_sub_tool(controller).click(controller, controller.snap, pointer)


def _run_showing_errors(controller: DrawController, action: Callable[[], object]) -> None:
    """Run an action; input errors are shown in the field, other errors as messages."""
    try:
        action()
    except KinetostatError as error:
        controller.field.report_error(error)


def double_click(view: Stage, pointer: PointerState) -> None:
    """End the chain at a ground pin on a double click; pin and link are one undo step."""
    hand = draw_controller(view)
    if _current_sub_tool(hand).key != "l" or len(hand.chain) < 2:
        return
    body, plane, poses = hand.chain[-1].body, hand.plane, hand.drawing.poses
    if hand.commit(
        "Draw link", lambda m: linkage.ground_pin(m, body, plane=plane, poses=poses), adopt_present_pose=True
    ):
        hand.end_chain()
        hand.snap = find_snap(hand.drawing, hand.aim) if hand.aim is not None else None  # the pin that is there now


def end_chain_on_right_click(view: Stage, pointer: PointerState) -> bool:
    """End an open chain on a right click; returns False if there is none, so that the context menu opens."""
    hand = draw_controller(view)
    return hand.end_chain() or hand.discard_element()


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Show what a click would do at the pointer position."""
    hand = draw_controller(view)
    if not _current_sub_tool(hand).in_plane:
        hand.aim = hand.snap = None
        view.widget.setCursor(Qt.CursorShape.CrossCursor)
        _current_sub_tool(hand).preview_pick(hand, None if view.hover_orientation_cube(pointer) else pointer)
        return
    if pointer is None:
        hand.aim = hand.snap = None
        view.hover_orientation_cube(None)
    elif not view.hover_orientation_cube(pointer):
        hand.update_snap(pointer)
        tag = tag_under_pointer(hand, pointer)
        view.widget.setCursor(Qt.CursorShape.PointingHandCursor if tag is not None else Qt.CursorShape.CrossCursor)
        if tag is not None:
            hand.snap = None
        view.show_hint(TAGS[tag.kind] if tag is not None else hand.sub.prompt(hand))
    view.annotations.update()
    hand.report_mobility_change()


def step_back(view: Stage) -> bool:
    """Discard the element being drawn, on Esc; returns False if there is none."""
    return draw_controller(view).discard_element()


# ------------------------------------------------------------------------------- dimensions


def tag_under_pointer(controller: DrawController, pointer: PointerState) -> ClickableTag | None:
    """Return the dimension or button under the pointer; None while a chain is open, because clicks are then points.
    With sub-tools other than Link, only dimensions and the motor button count."""
    figure = _controller_and_painter(controller.view)[1]
    if controller.chain or controller.picks or pointer.shift or figure.of is not controller.drawing:
        return None
    place = QPointF(pointer.x / pointer.scale, pointer.y / pointer.scale)
    tags = [
        tag
        for tag in figure.tags
        if tag.kind in ("motor", "length", "distance", "angle") or _current_sub_tool(controller).key == "l"
    ]
    return next((tag for tag in reversed(tags) if tag.box.contains(place)), None)


def switch_branch(controller: DrawController) -> None:
    """Switch the pin under the pointer, or the last one that was, to its other branch."""
    plane, poses, pin = controller.plane, controller.drawing.poses, controller.dyad
    if not pin or controller.other_branch_position(pin) is None:
        controller.view.session.message.emit(
            "hint", "Point at the pin between two links first: V then switches them to their other branch."
        )
        return
    controller.gesture = object()
    controller.commit(
        "Other branch", lambda m: linkage.flipped(m, pin, plane=plane, poses=poses), adopt_present_pose=True
    )


def _on_tag_clicked(controller: DrawController, tag: ClickableTag) -> None:
    if tag.kind == "motor":
        toggle_motor(controller, tag.name)
        return
    if tag.kind == "branch":
        switch_branch(controller)
        return
    if tag.kind == "lock":
        controller.locked ^= {tag.name}
        controller.redraw()
        return
    measure = Measure("angle" if tag.kind == "angle" else "length")
    text = format_quantity(tag.value, measure, controller.view.settings, 8)
    if tag.kind == "length":
        stated = controller.view.session.model.find("parameters", tag.name).value
        text = stated if isinstance(stated, str) else text
    place = tag.box.center().x(), tag.box.center().y()
    controller.field.open_field(tag.name, text, place, lambda typed: _set_dimension(controller, tag, measure, typed))


def _set_dimension(controller: DrawController, tag: ClickableTag, measure: Measure, text: str) -> None:
    """Set a dimension from typed text: a number, a formula, or `name = value`."""
    name, mark, tail = text.partition("=")
    renamed = name.strip() if mark and name.strip() else ""
    value = read(tail if mark else text, measure, controller.view.settings, controller.drawing.values)
    plane = controller.plane

    def edit(model: Model) -> Model:
        if tag.kind == "length" and renamed and renamed != tag.name:
            return linkage.named_dimension(model, tag.name, renamed, value)
        if tag.kind == "length":
            return linkage.dimension(model, tag.name, value)
        if tag.kind == "angle":
            return linkage.link_angle(model, tag.name, value, plane=plane)
        return linkage.ground_distance(model, tag.name, tag.other, float(value), plane=plane)

    controller.gesture = object()
    controller.commit(
        f"Dimension {renamed or tag.name}", controller.view.session.edit_keeping_locks(edit), adopt_present_pose=True
    )


# ------------------------------------------------------------------------------- the keyboard


def wants_key(view: Stage, event: QKeyEvent) -> bool:
    """Return True for keys of the tool: letters of sub-tools, Tab, Enter, Backspace, arrow keys at a pin, and
    characters that begin a number."""
    if event.modifiers() & ~PLAIN:
        return False
    hand, key = draw_controller(view), event.key()
    if key in (Qt.Key.Key_Tab, Qt.Key.Key_Backspace, *ENTER):
        return True
    if key in ARROWS:
        return hand.pin_under_pointer is not None
    text = event.text().lower()
    if not text or (event.modifiers() & Qt.KeyboardModifier.ShiftModifier and text.isalpha()):
        return False
    measured = bool(hand.chain or hand.picks) or _current_sub_tool(hand).key == "l"
    return text in SUB_TOOLS or text == "v" or (text in OPENING and measured)


def handle_key(view: Stage, event: QKeyEvent) -> None:
    """Handle a key of the tool."""
    hand, pressed = draw_controller(view), event.key()
    text = event.text().lower()
    if pressed == Qt.Key.Key_Tab:
        if not hand.chain:
            hand.switch_to_next_plane()
    elif pressed == Qt.Key.Key_Backspace:
        hand.remove_last_link()
    elif pressed in ENTER:
        hand.end_chain()
    elif pressed in ARROWS:
        _nudge_pin(hand, ARROWS[Qt.Key(pressed)])
    elif text in SUB_TOOLS:
        hand.choose_sub_tool(SUB_TOOLS[text])
    elif text == "v":
        switch_branch(hand)
    elif text in OPENING:
        _open_number_field(hand, text)


def _nudge_pin(controller: DrawController, direction: Point) -> None:
    """Move the pin under the pointer by one grid step; successive steps are one undo step."""
    point = controller.pin_under_pointer
    assert point is not None
    step = grid_step(controller.metres_per_pixel)
    plane, poses, locked = controller.plane, controller.drawing.poses, tuple(controller.locked)
    wanted = point[0] + step * direction[0], point[1] + step * direction[1]
    goal = reachable_pin_position(controller.drawing, point, wanted, controller.locked)

    def edit(model: Model) -> Model:
        return linkage.moved_pin(model, point, goal, plane=plane, locked=locked, poses=poses)

    if controller.nudged is None:
        controller.gesture = object()
    if controller.commit("Move pin", edit, adopt_present_pose=True):
        controller.nudged = goal


def _open_number_field(controller: DrawController, text: str) -> None:
    """Open the input field at the pointer for a length, an angle or coordinates."""
    point = (
        controller.snap.point
        if controller.snap is not None
        else (controller.chain[-1].point if controller.chain else (0.0, 0.0))
    )
    x, y, z = controller.drawing.world_point(point).tolist()
    place = controller.view.annotations.to_screen((x, y, z)) or QPointF(0.0, 0.0)

    def describe_numbers(typed: str) -> str:
        settings, values = controller.view.settings, controller.drawing.values
        controller.typed = parse_typed_numbers(
            typed, settings, values, is_first_pin=not (controller.chain or controller.picks)
        )
        controller.view.annotations.update()
        return describe_typed_numbers(controller.typed, settings, values)

    def accept(typed: str) -> None:
        describe_numbers(typed)
        click_with_numbers(controller)

    controller.field.open_field(
        "", text, (place.x(), place.y()), accept, describe_numbers, on_cancel=lambda: _discard_typed_numbers(controller)
    )


def click_with_numbers(controller: DrawController) -> None:
    """Click at the typed length, angle or coordinates; missing ones are taken from the pointer."""
    if controller.snap is None and controller.aim is not None:
        controller.snap = find_snap(controller.drawing, controller.aim)
    if controller.snap is None:
        point = controller.chain[-1].point if controller.chain else (0.0, 0.0)
        controller.snap = SnappedPoint(point, point)
    controller.gesture = object()
    _click_at_snap(controller, PointerState(0.0, 0.0))


def _discard_typed_numbers(controller: DrawController) -> None:
    controller.typed = NOTHING
    controller.redraw()
