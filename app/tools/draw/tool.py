"""The Draw tool: handles clicks, drags and keys."""

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

from app.tools.draw.figure import Figure, Tag
from app.tools.draw.hand import Hand
from app.tools.draw.snapping import Snap, grid_step, snapped
from app.tools.draw.sub_tools import SUB_TOOLS, SubTool, begin_chain, drive, link_to
from app.tools.draw.typed_numbers import NOTHING, typed_numbers, worth
from app.viewport.gestures import Gesture, Pointer
from app.viewport.navigate import clicked
from app.widgets.quantities.quantity_text import Measure, quantity, read
from core.design import linkage
from core.design.linkage import Drawing, Point
from core.design.linkage.reshaping import reachable_pin_position, shift
from core.errors import KinetostatError
from core.model import Model, Parameter

if TYPE_CHECKING:
    from app.viewport.stage import Stage

EXPECTS = "Draw: click from pin to pin · Esc ends"
OPENING = "0123456789+-−.(=<"
"""Characters that open the input field at the pointer."""
TAGS = {
    "length": "Length: click to type a value, a formula or name = value; drag to slide",
    "angle": "Angle: click to type it",
    "distance": "Distance of two pins on the ground: click to type it",
    "lock": "Padlock: closed, it keeps this length while pins are dragged",
    "motor": "Motor: click to turn this pin once a second",
    "branch": "The other branch of these two links: click it, or press V",
}
"""Actions of a click on a dimension or button, by kind of label."""
QUICK = 0.02
"""Processor seconds above which a dragged pin shows only its links, not the whole machine."""
SLIDES = "Sliding a length: to the right it grows · Esc cancels"
PLAIN = Qt.KeyboardModifier.KeypadModifier | Qt.KeyboardModifier.ShiftModifier
ARROWS = {
    Qt.Key.Key_Left: (-1.0, 0.0),
    Qt.Key.Key_Right: (1.0, 0.0),
    Qt.Key.Key_Down: (0.0, -1.0),
    Qt.Key.Key_Up: (0.0, 1.0),
}
"""Direction in which an arrow key moves a pin."""
NOWHERE = Snap((0.0, 0.0), (0.0, 0.0))
"""Placeholder for the snap in the plane when the user picks in space."""
SAME_END = 1e-7
"""m: ends of links nearer than this to a pin belong to it."""
ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


def enter(view: Stage) -> None:
    """Start the Draw tool."""
    hand = hand_of(view)
    view.annotations.sketch = _known(view)[1].paint
    hand.enter()


def leave(view: Stage) -> None:
    """Leave the Draw tool; dimensions of the selected element stay visible."""
    hand, figure = _known(view)
    view.annotations.sketch = figure.paint_selected
    hand.leave()


_hands: WeakKeyDictionary[Stage, tuple[Hand, Figure]] = WeakKeyDictionary()


def hand_of(view: Stage) -> Hand:
    """Return the drawing hand of a viewport."""
    return _known(view)[0]


def _known(view: Stage) -> tuple[Hand, Figure]:
    """Return the hand of a viewport and the figure that paints it."""
    found = _hands.get(view)
    if found is None:
        hand = Hand(view, SUB_TOOLS["l"])
        found = _hands[view] = hand, Figure(hand)
        view.annotations.sketch = found[1].paint_selected
    return found


# ------------------------------------------------------------------------------- the mouse


def press(view: Stage, pointer: Pointer) -> Gesture:
    """Handle a press: a click goes to the sub-tool; a drag draws one link, moves a pin, or changes a dimension."""
    if view.press_cube(pointer):
        return
    hand = hand_of(view)
    hand.gesture = object()
    if not _sub_tool(hand).in_plane:
        if (yield from clicked(view, pointer)):
            _sub_tool(hand).click(hand, NOWHERE, pointer)
        return
    tag = tag_under(hand, pointer)
    hand.aim_at(pointer)
    drag = _drag_of(hand, tag, pointer)
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
        _click_tag(hand, tag)
        return
    hand.aim_at(last)
    if hand.snap is not None:
        _with_errors_shown(hand, lambda: _handle_click(hand, last))


def _drag_of(hand: Hand, tag: Tag | None, press: Pointer) -> Gesture:
    """Return the gesture that a drag starts here: change a length, move a pin, or draw a link."""
    snap = hand.snap
    if tag is not None:
        return _drag_dimension(hand, tag, press)
    if hand.chain or _sub_tool(hand).key != "l" or snap is None or snap.kind not in ("pin", "tip"):
        return _draw_by_drag(hand)
    if locked := _locked_link_at(hand, snap.point):
        return _refuse_drag(hand, locked)
    return _drag_pin(hand, snap.point)


def _locked_link_at(hand: Hand, point: Point) -> str:
    """Return the locked link that ends at a point; "" if there is none."""
    ends = ((bar.body, min(math.dist(bar.start, point), math.dist(bar.end, point))) for bar in hand.drawing.bars)
    return next((body for body, away in ends if away < SAME_END and body in hand.view.session.locked), "")


def _refuse_drag(hand: Hand, locked: str) -> Gesture:
    """Refuse to drag a pin of a locked link, with a message."""
    yield
    hand.view.session.message.emit("hint", f"“{locked}” is locked: its pins stay where they are. K unlocks it.")
    while (yield) is not None:
        pass


def _draw_by_drag(hand: Hand) -> Gesture:
    """Draw a link from the point of the press to that of the release, and end the chain."""
    begun, moved = hand.snap, False
    while (pointer := (yield)) is not None:
        if not moved and not hand.chain and begun is not None and _sub_tool(hand).key == "l":
            begin_chain(hand, begun)
        moved = True
        hand.aim_at(pointer)
    if _sub_tool(hand).key != "l" or not hand.chain or (snap := hand.snap) is None:
        return
    if math.dist(snap.point, hand.chain[-1].point) > 1e-9:
        _with_errors_shown(hand, lambda: link_to(hand, snap))
    hand.end_chain()


def _drag_pin(hand: Hand, point: Point) -> Gesture:
    """Drag a pin: the adjacent lengths are committed on release; the machine follows meanwhile if that is
    fast enough."""
    goal, drawing, slow = point, hand.drawing, 0  # the first time something may have to be made ready
    session = hand.view.session
    try:
        while (pointer := (yield)) is not None:
            hand.aim_at(pointer)
            if hand.aim is None:
                continue
            hand.snap = snapped(drawing, hand.aim)
            near = hand.aim.point if hand.snap.joins else hand.snap.point
            goal = reachable_pin_position(drawing, point, near, hand.locked)
            began = time.thread_time()
            follows = slow < 2 and _preview_pin(hand, drawing, point, goal)
            slow += slow >= 2 or time.thread_time() - began > QUICK
            hand.dragged = (goal if follows else point), goal
            hand.view.say(
                "Changing the geometry: link lengths at this pin follow, a closed padlock keeps one · Esc cancels"
            )
    finally:
        hand.dragged = None
        session.cancel()
        hand.view.say(hand.sub.expects(hand))
    plane, poses, locked = hand.plane, hand.drawing.poses, tuple(hand.locked)

    def edit(model: Model) -> Model:
        return linkage.moved_pin(model, point, goal, plane=plane, locked=locked, poses=poses)

    _with_errors_shown(hand, lambda: hand.commit("Move pin", edit, here=True))


def _preview_pin(hand: Hand, drawing: Drawing, point: Point, goal: Point) -> bool:
    """Preview the machine with a pin moved; returns False if that needs more than changed lengths."""
    session, found = hand.view.session, shift(drawing, point, goal)
    if found is None:
        session.cancel()
        return False
    q = np.array(session.edited_pose)
    for name, turn in found.turns.items():
        if name in session.mech.q_names:
            q[session.mech.joint_q(name)] += turn
    session.preview(q=q, parameters=found.lengths)
    return True


def _drag_dimension(hand: Hand, tag: Tag, press: Pointer) -> Gesture:
    """Change a length by dragging its dimension, increasing to the right; the machine follows."""
    session, value = hand.view.session, tag.value
    stated = session.model.index("parameter").get(tag.name)
    slides = tag.kind == "length" and isinstance(stated, Parameter) and stated.independent
    pixel = hand.pixel
    step = grid_step(pixel, 2.0)
    try:
        while (pointer := (yield)) is not None:
            wanted = tag.value + (pointer.x - press.x) / press.scale * pixel
            if slides:
                asked = max(step, round(wanted / step) * step)
                try:
                    session.preview(parameters={tag.name: asked})
                    value = asked
                    hand.view.say(SLIDES)
                except KinetostatError:  # the machine stays as it was
                    hand.view.say(f"The loops do not close beyond this: {tag.name} stays as it is · Esc cancels")
    finally:
        session.cancel()
    if slides:
        edit = partial(linkage.dimension, parameter=tag.name, value=value)
        _with_errors_shown(hand, lambda: hand.commit(f"Dimension {tag.name}", session.with_locks_kept(edit), here=True))


def _sub_tool(hand: Hand) -> SubTool:
    assert isinstance(hand.sub, SubTool)
    return hand.sub


def _handle_click(hand: Hand, pointer: Pointer) -> None:
    assert hand.snap is not None
    _sub_tool(hand).click(hand, hand.snap, pointer)


def _with_errors_shown(hand: Hand, act: Callable[[], object]) -> None:
    """Perform an action, showing input errors in the field and other errors as messages."""
    try:
        act()
    except KinetostatError as error:
        hand.field.tell(error)


def double(view: Stage, pointer: Pointer) -> None:
    """End the chain at a ground pin on a double click; pin and link are one undo step."""
    hand = hand_of(view)
    if _sub_tool(hand).key != "l" or len(hand.chain) < 2:
        return
    body, plane, poses = hand.chain[-1].body, hand.plane, hand.drawing.poses
    if hand.commit("Draw link", lambda m: linkage.ground_pin(m, body, plane=plane, poses=poses), here=True):
        hand.end_chain()
        hand.snap = snapped(hand.drawing, hand.aim) if hand.aim is not None else None  # the pin that is there now


def menu(view: Stage, pointer: Pointer) -> bool:
    """End an open chain on a right click; returns False, so that the menu opens, without one."""
    hand = hand_of(view)
    return hand.end_chain() or hand.drop()


def hover(view: Stage, pointer: Pointer | None) -> None:
    """Show what a click would do."""
    hand = hand_of(view)
    if not _sub_tool(hand).in_plane:
        hand.aim = hand.snap = None
        view.widget.setCursor(Qt.CursorShape.CrossCursor)
        _sub_tool(hand).point(hand, None if view.hover_cube(pointer) else pointer)
        return
    if pointer is None:
        hand.aim = hand.snap = None
        view.hover_cube(None)
    elif not view.hover_cube(pointer):
        hand.aim_at(pointer)
        tag = tag_under(hand, pointer)
        view.widget.setCursor(Qt.CursorShape.PointingHandCursor if tag is not None else Qt.CursorShape.CrossCursor)
        if tag is not None:
            hand.snap = None
        view.say(TAGS[tag.kind] if tag is not None else hand.sub.expects(hand))
    view.annotations.update()
    hand.report_coming_freedoms()


def back(view: Stage) -> bool:
    """Discard the element begun, on Esc; returns False if there is none."""
    return hand_of(view).drop()


# ------------------------------------------------------------------------------- dimensions


def tag_under(hand: Hand, pointer: Pointer) -> Tag | None:
    """Return the dimension or button under the pointer; None while a chain is open, whose clicks are points. With
    sub-tools other than Link, only dimensions and the motor button count."""
    figure = _known(hand.view)[1]
    if hand.chain or hand.picks or pointer.shift or figure.of is not hand.drawing:
        return None
    place = QPointF(pointer.x / pointer.scale, pointer.y / pointer.scale)
    tags = [
        tag for tag in figure.tags if tag.kind in ("motor", "length", "distance", "angle") or _sub_tool(hand).key == "l"
    ]
    return next((tag for tag in reversed(tags) if tag.box.contains(place)), None)


def flip(hand: Hand) -> None:
    """Switch the pin that the pointer is on, or was on last, to its other branch."""
    plane, poses, pin = hand.plane, hand.drawing.poses, hand.dyad
    if not pin or hand.other_branch(pin) is None:
        hand.view.session.message.emit("hint", "Point at the pin between two links first: V takes their other branch.")
        return
    hand.gesture = object()
    hand.commit("Other branch", lambda m: linkage.flipped(m, pin, plane=plane, poses=poses), here=True)


def _click_tag(hand: Hand, tag: Tag) -> None:
    if tag.kind == "motor":
        drive(hand, tag.name)
        return
    if tag.kind == "branch":
        flip(hand)
        return
    if tag.kind == "lock":
        hand.locked ^= {tag.name}
        hand.refresh()
        return
    measure = Measure("angle" if tag.kind == "angle" else "length")
    text = quantity(tag.value, measure, hand.view.settings, 8)
    if tag.kind == "length":
        stated = hand.view.session.model.find("parameters", tag.name).value
        text = stated if isinstance(stated, str) else text
    place = tag.box.center().x(), tag.box.center().y()
    hand.field.ask(tag.name, text, place, lambda typed: _set_dimension(hand, tag, measure, typed))


def _set_dimension(hand: Hand, tag: Tag, measure: Measure, text: str) -> None:
    """Set a dimension to typed text: a number, a formula, or `name = value`."""
    name, mark, tail = text.partition("=")
    renamed = name.strip() if mark and name.strip() else ""
    value = read(tail if mark else text, measure, hand.view.settings, hand.drawing.values)
    plane = hand.plane

    def edit(model: Model) -> Model:
        if tag.kind == "length" and renamed and renamed != tag.name:
            return linkage.named_dimension(model, tag.name, renamed, value)
        if tag.kind == "length":
            return linkage.dimension(model, tag.name, value)
        if tag.kind == "angle":
            return linkage.link_angle(model, tag.name, value, plane=plane)
        return linkage.ground_distance(model, tag.name, tag.other, float(value), plane=plane)

    hand.gesture = object()
    hand.commit(f"Dimension {renamed or tag.name}", hand.view.session.with_locks_kept(edit), here=True)


# ------------------------------------------------------------------------------- the keyboard


def wants(view: Stage, event: QKeyEvent) -> bool:
    """Return True for keys of the tool: letters of sub-tools, Tab, Enter, Backspace, and what begins a number: of a
    link, whose first pin may be typed, too, and of what was picked."""
    if event.modifiers() & ~PLAIN:
        return False
    hand, key = hand_of(view), event.key()
    if key in (Qt.Key.Key_Tab, Qt.Key.Key_Backspace, *ENTER):
        return True
    if key in ARROWS:
        return hand.pin_under_pointer is not None
    text = event.text().lower()
    if not text or (event.modifiers() & Qt.KeyboardModifier.ShiftModifier and text.isalpha()):
        return False
    measured = bool(hand.chain or hand.picks) or _sub_tool(hand).key == "l"
    return text in SUB_TOOLS or text == "v" or (text in OPENING and measured)


def key(view: Stage, event: QKeyEvent) -> None:
    """Handle a key of the tool."""
    hand, pressed = hand_of(view), event.key()
    text = event.text().lower()
    if pressed == Qt.Key.Key_Tab:
        if not hand.chain:
            hand.next_plane()
    elif pressed == Qt.Key.Key_Backspace:
        hand.take_back()
    elif pressed in ENTER:
        hand.end_chain()
    elif pressed in ARROWS:
        _nudge_pin(hand, ARROWS[Qt.Key(pressed)])
    elif text in SUB_TOOLS:
        hand.choose(SUB_TOOLS[text])
    elif text == "v":
        flip(hand)
    elif text in OPENING:
        _open_field(hand, text)


def _nudge_pin(hand: Hand, toward: Point) -> None:
    """Move the pin under the pointer by a grid step; successive steps are one undo step."""
    point = hand.pin_under_pointer
    assert point is not None
    step = grid_step(hand.pixel)
    plane, poses, locked = hand.plane, hand.drawing.poses, tuple(hand.locked)
    wanted = point[0] + step * toward[0], point[1] + step * toward[1]
    goal = reachable_pin_position(hand.drawing, point, wanted, hand.locked)

    def edit(model: Model) -> Model:
        return linkage.moved_pin(model, point, goal, plane=plane, locked=locked, poses=poses)

    if hand.nudged is None:
        hand.gesture = object()
    if hand.commit("Move pin", edit, here=True):
        hand.nudged = goal


def _open_field(hand: Hand, text: str) -> None:
    """Open the field to type a length, an angle or coordinates at the pointer."""
    point = hand.snap.point if hand.snap is not None else (hand.chain[-1].point if hand.chain else (0.0, 0.0))
    x, y, z = hand.drawing.world_point(point).tolist()
    place = hand.view.annotations.pixel((x, y, z)) or QPointF(0.0, 0.0)

    def reading(typed: str) -> str:
        settings, values = hand.view.settings, hand.drawing.values
        hand.typed = typed_numbers(typed, settings, values, first=not (hand.chain or hand.picks))
        hand.view.annotations.update()
        return worth(hand.typed, settings, values)

    def accept(typed: str) -> None:
        reading(typed)
        click_with_numbers(hand)

    hand.field.ask("", text, (place.x(), place.y()), accept, reading, left=lambda: _forget(hand))


def click_with_numbers(hand: Hand) -> None:
    """Click at the typed numbers; missing ones come from the pointer."""
    if hand.snap is None and hand.aim is not None:
        hand.snap = snapped(hand.drawing, hand.aim)
    if hand.snap is None:
        point = hand.chain[-1].point if hand.chain else (0.0, 0.0)
        hand.snap = Snap(point, point)
    hand.gesture = object()
    _handle_click(hand, Pointer(0.0, 0.0))


def _forget(hand: Hand) -> None:
    hand.typed = NOTHING
    hand.refresh()
