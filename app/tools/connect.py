"""The connect tool: pick one or two points and add the chosen element there: a spring, a rod, a sensor …

Chosen from the toolbar it asks after two points what is to be made; chosen through the menu Add it knows already.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING
from weakref import ReferenceType, WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QCursor, QKeyEvent
from PySide6.QtWidgets import QMenu

from app.background.signals import Lifetime
from app.document.connection_draft import (
    PickedItem,
    joint_direction_at,
    pick_origin,
    update_pick_after_edit,
    update_pick_positions,
)
from app.document.connection_kinds import CONNECTIONS, ConnectionKind
from app.document.joining import JoiningOutcome, JointGap, joint_gap_at_picks
from app.document.revision import DocumentState, ElementRef
from app.preferences.icons import icon
from app.tools.candidates import PointerCandidates, body_of_element
from app.tools.joining_bar import JoiningMenu, create_joining_menu, joint_sketch_lines
from app.viewport.annotations import AnnotationLine, annotation_line
from app.viewport.gestures import Gesture, PointerState
from app.viewport.navigate import click_or_orbit
from core.later import dataclass
from core.model import WORLD
from viz.camera import metres_per_pixel

if TYPE_CHECKING:
    from app.viewport.stage import Stage

JOINTS = "joint: R revolute, P prismatic, S spherical, U universal, L cylindrical, W fixed"
EXPECTS = f"Click two points · {JOINTS} · Tab: next candidate · Esc ends"
STEADY = 4.0
"""Distance in pixels (at 100 %) that the pointer may move while Tab cycles through the candidates under it."""
ORDER = ("first", "second", "third")
MENU = (
    "spring_damper",
    "spring",
    "damper",
    "series",
    "line_force",
    "junction",
    "-",
    "rod",
    "universal_rod",
    "-",
    "sensor_distance",
    "sensor_angle",
    "sensor_position",
    "sensor_pose",
    "-",
    "joint_revolute",
    "joint_prismatic",
    "joint_spherical",
    "joint_universal",
    "joint_cylindrical",
    "joint_fixed",
)
"""Elements that can connect two points, as offered in the menu."""
AXIS = 40.0
"""Half the length of the joint axis drawn at the pointer, in pixels (at 100 %)."""
LETTERS = {"r": "revolute", "p": "prismatic", "s": "spherical", "u": "universal", "l": "cylindrical", "w": "fixed"}
"""Letter → kind of joint (W as in weld)."""
DIRECTIONS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
NO_KEY = Qt.KeyboardModifier.NoModifier
KEYS = {"x": "x", "y": "y", "z": "z", "n": "normal", "v": "flip"}
"""Letter → direction of the joint axis at the next point, or reversal of the axis."""


@dataclass
class ConnectionInProgress:
    """The connection in progress and the points picked so far."""

    connection: ConnectionKind | None = None
    picks: tuple[PickedItem, ...] = field(default=())
    at: QPoint = field(default_factory=QPoint)
    menu: QMenu | None = None
    life: Lifetime = field(default_factory=Lifetime)
    """Connections to the selection and the ground row in the model tree, and to edits."""
    document: int = 0
    """The document in which the connection was started."""
    bar: JoiningMenu | None = None
    flipped: bool = False
    """True if the axes of the two points meet in opposite directions."""
    meant: str = ""
    """Name of the axis direction chosen for the next point; "" for that of the feature there."""
    choice: int = 0
    """Number of the candidate under the pointer; Tab increments it."""
    several: int = 0
    """Number of candidates."""
    tabbed: tuple[float, float] = (0.0, 0.0)
    """Pixel of the pointer while Tab cycles through candidates."""

    @property
    def missing_picks(self) -> tuple[str, ...]:
        """Kinds of picks that are still missing."""
        every = self.connection.wants if self.connection is not None else ("point", "point")
        return every[len(self.picks) :]


_asking: WeakKeyDictionary[Stage, ConnectionInProgress] = WeakKeyDictionary()


def connection_in_progress(view: Stage) -> ConnectionInProgress:
    """Return the connection in progress in a viewport."""
    return _asking.setdefault(view, ConnectionInProgress())


def start_connection(view: Stage, connection: ConnectionKind | None) -> None:
    """Start picking the points of a connection; a suitable selection counts as the first pick."""
    view.gestures.choose_tool("connect")
    _stop_listening(view)
    session, known = view.session, ReferenceType(view)
    state = _asking[view] = ConnectionInProgress(connection, document=session.document)
    state.life.listen(
        (session.selected, _selection_listener(known, state)),
        (session.grounded, _ground_listener(known, state)),
        (session.changed, _edit_listener(known, state)),
    )
    first = _selected_pick(view, state.missing_picks[0])
    if first is not None:
        _add_pick(view, first)
    else:
        _show_prompt(view)


def _selection_listener(view_reference: ReferenceType[Stage], state: ConnectionInProgress) -> Callable[[object], None]:
    """Return a listener that takes the selection as a pick, once the selection has changed."""

    def on_selected(_selection: object) -> None:
        view = view_reference()
        if view is not None:
            QTimer.singleShot(0, view.widget, lambda: _take_tree_selection(view, state))

    return on_selected


def _ground_listener(view_reference: ReferenceType[Stage], state: ConnectionInProgress) -> Callable[[], None]:
    """Return a listener that picks the ground at the world's origin when its row in the tree is clicked, if a ground
    point is permitted."""

    def on_ground_clicked() -> None:
        view = view_reference()
        if view is None or _asking.get(view) is not state or not state.missing_picks:
            return
        several = len(state.missing_picks) + len(state.picks) > 1
        fits = state.missing_picks[0] == "point" or (state.missing_picks[0] == "frame" and several)
        if fits and WORLD not in [pick.name for pick in state.picks]:
            _add_pick(view, pick_origin(view.session, WORLD))

    return on_ground_clicked


def _edit_listener(
    view_reference: ReferenceType[Stage], state: ConnectionInProgress
) -> Callable[[DocumentState, DocumentState], None]:
    """Return a listener that updates the picks after an edit: renamed elements stay picked, deleted ones must be picked
    again."""

    def on_edited(old: DocumentState, new: DocumentState) -> None:
        view = view_reference()
        if view is None or _asking.get(view) is not state:
            return
        same = state.document == view.session.document
        state.document = view.session.document
        if state.bar is not None and old.model is not new.model:
            state.bar.menu.close()  # what it offers is of the machine before
        if not state.picks:
            return
        found = [update_pick_after_edit(old.model, new.model, pick) if same else None for pick in state.picks]
        gone = [pick.as_body_pick.name for pick, now in zip(state.picks, found, strict=True) if now is None]
        state.picks = update_pick_positions(view.session, tuple(pick for pick in found if pick is not None))
        _show_picks(view, state)
        if not gone:
            return
        if state.menu is not None:
            state.menu.close()
        view.session.message.emit(
            "hint", f"{_quoted_names(gone)} {'is' if len(gone) == 1 else 'are'} gone: pick again."
        )
        _show_prompt(view)

    return on_edited


def _quoted_names(names: list[str]) -> str:
    return " and ".join(f"“{name}”" for name in names)


def _show_picks(view: Stage, state: ConnectionInProgress) -> None:
    view.annotations.points = tuple(each.place for each in state.picks if each.what == "point")
    view.annotations.lines = ()
    view.annotations.update()


def _take_tree_selection(view: Stage, state: ConnectionInProgress) -> None:
    """Count an element selected in the model tree as a pick, if one is needed and it is not picked already."""
    pick = _selected_pick(view, state.missing_picks[0]) if _asking.get(view) is state and state.missing_picks else None
    if pick is not None and pick.name not in [each.name for each in state.picks]:
        _add_pick(view, pick)


def _stop_listening(view: Stage) -> None:
    state = _asking.get(view)
    if state is not None:
        state.life.close()


def _selected_pick(view: Stage, pick_kind: str) -> PickedItem | None:
    ref = view.session.selection
    if ref is None:
        return None
    if {"joint": "joints", "sensor": "sensors"}.get(pick_kind) == ref.collection:
        return PickedItem(ref.name, what=pick_kind)
    places = ("bodies", "frames") if pick_kind == "frame" else ("bodies", "frames", "junctions")
    return pick_origin(view.session, ref.name) if pick_kind in ("point", "frame") and ref.collection in places else None


def _show_prompt(view: Stage) -> None:
    state = connection_in_progress(view)
    title = state.connection.title if state.connection is not None else "Connect"
    want = state.missing_picks[0]
    order = ORDER[len(state.picks)] + " " if len(state.missing_picks) + len(state.picks) > 1 else ""
    either = ", in the scene or in the tree"
    words = {
        "point": f"{order}point: a body, frame, junction, or the ground",
        "joint": f"{order}joint{either}",
        "frame": f"{order}{_frame_prompt(state)}",
        "sensor": f"sensor{either}",
    }[want]
    keys = ""
    if state.connection is None:
        keys = f" · {JOINTS}"
    elif state.connection.joint:
        keys = " · X Y Z N: joint axis, V reverses it, Tab: next candidate"
    view.show_hint(f"{title}: click the {words}{keys} · Esc ends")


def _frame_prompt(state: ConnectionInProgress) -> str:
    several = len(state.missing_picks) + len(state.picks) > 1
    return "point: a body, a frame, or the ground" if several else "body or frame"


def press(view: Stage, pointer: PointerState) -> Gesture:
    """Pick on a click; orbit on a drag."""
    if view.press_orientation_cube(pointer):
        return
    _restart_if_unanswered(view, connection_in_progress(view))
    if (yield from click_or_orbit(view, pointer)) and connection_in_progress(
        view
    ).missing_picks:  # else the last answer is being made
        at = QPoint(round(pointer.x / pointer.scale), round(pointer.y / pointer.scale))
        connection_in_progress(view).at = view.widget.mapToGlobal(at)
        pick = candidate_with_axis(view, pointer)
        if pick is None:
            view.session.message.emit("hint", f"There is no {connection_in_progress(view).missing_picks[0]} here.")
        else:
            _add_pick(view, pick)


def candidate_under_pointer(view: Stage, pointer: PointerState) -> PickedItem | None:
    """Return the candidate of the required kind under the pointer; if there are several, the one chosen with Tab."""
    state, want = connection_in_progress(view), connection_in_progress(view).missing_picks[0]
    if want in ("joint", "sensor"):
        hit = view.scene.pick(pointer.x, pointer.y)
        ref = ElementRef(*hit.ref) if hit is not None and hit.ref is not None else None
        if want == "joint":
            return _joint_pick(view, ref)
        return PickedItem(ref.name, what="sensor") if ref is not None and ref.collection == "sensors" else None
    if np.hypot(pointer.x - state.tabbed[0], pointer.y - state.tabbed[1]) > STEADY * pointer.scale:
        state.choice, state.tabbed = 0, (pointer.x, pointer.y)
    found = PointerCandidates(view, pointer, include_junctions=want == "point", for_joint=_makes_joint(state))
    state.several = len(found.spots)
    return found.pick_candidate(state.choice, [pick.name for pick in state.picks])


def candidate_with_axis(view: Stage, pointer: PointerState) -> PickedItem | None:
    """Return the candidate under the pointer together with the axis that a joint would have there."""
    pick, state = candidate_under_pointer(view, pointer), connection_in_progress(view)
    if pick is None or not state.meant:
        return pick
    meant = DIRECTIONS.get(state.meant, pick.normal if state.meant == "normal" else None)
    return dataclasses.replace(pick, direction=meant, word="") if meant is not None else pick


def _makes_joint(state: ConnectionInProgress) -> bool:
    """Return True if two points are being picked between which a joint may be made."""
    return state.connection is None or bool(state.connection.joint)


def joint_axis_at(view: Stage, pick: PickedItem) -> tuple[np.ndarray, str]:
    """Return the world axis (3,) that a joint at a picked point would have, with a description."""
    state = connection_in_progress(view)
    if pick.direction is not None:
        return np.array(pick.direction), pick.word or state.meant
    found = joint_direction_at(view.session, pick.as_body_pick)
    if found is not None:
        return found, "parallel to the joint there"
    if state.picks and (first := joint_direction_at(view.session, state.picks[0].as_body_pick)) is not None:
        return first, "parallel to the first point's axis"
    return (np.array(pick.normal), "normal") if pick.normal is not None else (np.array((0.0, 0.0, 1.0)), "z")


def _joint_pick(view: Stage, ref: ElementRef | None) -> PickedItem | None:
    """Return the joint under the pointer, or the joint that carries the body under it."""
    if ref is None:
        return None
    if ref.collection == "joints":
        return PickedItem(ref.name, what="joint")
    body = body_of_element(view, ref)
    carrier = next((j for j in view.session.model.expanded.joints if j.child == body and j.info.nv), None)
    return PickedItem(carrier.name, what="joint") if carrier is not None else None


def _add_pick(view: Stage, pick: PickedItem) -> None:
    """Add a pick; the last one creates the connection."""
    state = connection_in_progress(view)
    state.picks = (*state.picks, pick)
    _show_picks(view, state)
    if state.missing_picks:
        _show_prompt(view)
        return
    last = partial(_ask_connection if state.connection is None else _make_connection, view)
    if view.gestures.is_running:
        QTimer.singleShot(0, view.widget, last)  # once the click is over: another tool is chosen then
    else:
        last()


def _make_connection(view: Stage) -> None:
    state = connection_in_progress(view)
    connection = state.connection
    if connection is None or state.missing_picks:
        return
    picks = update_pick_positions(view.session, state.picks)
    if connection.joint and not _are_on_same_body(picks):
        on_bodies = tuple(pick.as_body_pick for pick in picks)
        gap = joint_gap_at_picks(view.session, connection.joint, on_bodies, state.flipped)
        if not gap.is_closed:
            _ask_joining(view, on_bodies, gap)
            return
    view.gestures.choose_tool("select")  # also forgets the question
    connection.build_element(view.session, picks)
    view.update()


def _are_on_same_body(picks: tuple[PickedItem, ...]) -> bool:
    """Return True if both points are on one body, which a joint cannot connect to itself."""
    return len({pick.as_body_pick.name for pick in picks}) == 1


def _ask_joining(view: Stage, picks: tuple[PickedItem, ...], gap: JointGap) -> None:
    """Ask how to join two points at a distance: assemble, join in the present pose, or leave the joint open."""
    state = connection_in_progress(view)
    assert state.connection is not None
    view.annotations.value = ""
    bar = state.bar = create_joining_menu(view, state.connection.joint, picks, gap, state.flipped)
    if bar is None:
        _ask_second_point_again(view, state)
        return

    def on_outcome_chosen(outcome: JoiningOutcome | None) -> None:
        if _asking.get(view) is not state:
            return
        state.bar = None
        if outcome is None:
            _ask_second_point_again(view, state)
            return
        view.gestures.choose_tool("select")
        outcome.apply_outcome(view.session)
        view.update()

    bar.open_menu(state.at if not state.at.isNull() else QCursor.pos(), on_outcome_chosen)


def _ask_second_point_again(view: Stage, state: ConnectionInProgress) -> None:
    """Ask for the second point again after the menu was closed without a choice."""
    state.picks = state.picks[:-1]
    _show_picks(view, state)
    _show_prompt(view)


def _ask_connection(view: Stage) -> None:
    """Ask which element is to connect the two picked points."""
    state = connection_in_progress(view)
    menu = state.menu = QMenu(view.widget)
    for name in MENU:
        if name == "-":
            menu.addSeparator()
            continue
        each = CONNECTIONS[name]
        menu.addAction(icon(each.icon), each.title, lambda each=each: _choose_connection(view, each))
    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, view.widget, lambda: _restart_if_unanswered(view, state)))
    menu.popup(state.at)


def _restart_if_unanswered(view: Stage, state: ConnectionInProgress) -> None:
    """Start again with the first point if the menu was closed without a choice."""
    if _asking.get(view) is state and state.connection is None and not state.missing_picks:
        state.picks = ()
        view.annotations.clear()
        _show_prompt(view)


def _choose_connection(view: Stage, connection: ConnectionKind) -> None:
    connection_in_progress(view).connection = connection
    _make_connection(view)


def hover(view: Stage, pointer: PointerState | None) -> None:
    """Highlight the candidate that a click would pick, and draw the line to it."""
    state, notes = connection_in_progress(view), view.annotations
    notes.value = ""
    if pointer is None or not state.missing_picks:
        view.session.set_hovered_element(None)
        notes.update()
        return
    hit = view.scene.pick(pointer.x, pointer.y)
    view.session.set_hovered_element(ElementRef(*hit.ref) if hit is not None and hit.ref is not None else None)
    points = tuple(each.place for each in state.picks if each.what == "point")
    pick = candidate_with_axis(view, pointer) if state.missing_picks[0] in ("point", "frame") else None
    notes.points = (*points, pick.place) if pick is not None else points
    notes.lines = _preview_lines(view, pick)
    if pick is not None and state.several > 1:
        words = "" if any(each.text == pick.word for each in notes.lines) else f"{_pick_text(pick)} · "
        notes.show_value_at_pointer(
            f"{words}Tab: {state.choice % state.several + 1} of {state.several}", pointer.x, pointer.y
        )
    notes.update()


def _pick_text(pick: PickedItem) -> str:
    """Return a description of a pick."""
    return pick.word or (f"“{pick.name}”" if pick.frame is None else "point of the surface")


def _preview_lines(view: Stage, pick: PickedItem | None) -> tuple[AnnotationLine, ...]:
    """Return the line from the first point to the present candidate, and a sketch of the joint at both."""
    state = connection_in_progress(view)
    every = [each for each in (*state.picks, pick) if each is not None and each.what == "point"]
    found: list[AnnotationLine] = []
    if pick is not None and len(every) > 1:
        distance = float(np.linalg.norm(np.subtract(pick.place, every[0].place)))
        pixel = metres_per_pixel(view.scene.view, view.scene.size, pick.place) * view.scene.pixel_ratio
        shown = view.settings.format_value(distance, "length")
        if distance > STEADY * pixel:  # else the pointer is still on the first point
            found.append(
                annotation_line(every[0].place, pick.place, f"{pick.name}\n{shown}" if pick.frame is None else shown)
            )
    if _makes_joint(state):
        kind = "" if state.connection is None else state.connection.joint
        for each in every:
            axis, word = joint_axis_at(view, each)
            half = AXIS * metres_per_pixel(view.scene.view, view.scene.size, each.place) * view.scene.pixel_ratio
            found += joint_sketch_lines(kind, np.array(each.place), axis, half, word if each is pick else "")
    return tuple(found)


def wants_key(view: Stage, event: QKeyEvent) -> bool:
    """Return True for keys that choose the kind of joint, its axis direction, or another candidate under the
    pointer."""
    state = connection_in_progress(view)
    if not state.missing_picks or event.modifiers() not in (NO_KEY, Qt.KeyboardModifier.ShiftModifier):
        return False
    if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        return state.missing_picks[0] in ("point", "frame") and view.gestures.is_pointer_inside
    letter = event.text().lower()
    return _makes_joint(state) and (letter in LETTERS or (letter in KEYS and state.connection is not None))


def handle_key(view: Stage, event: QKeyEvent) -> None:
    """Handle a key: choose the kind of joint, cycle through candidates, set the axis of the next point to x, y, z or
    the normal (pressed again: to the axis of the feature), or reverse it."""
    state, letter = connection_in_progress(view), event.text().lower()
    if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        state.choice += 1 if event.key() == Qt.Key.Key_Tab else -1
    elif letter in LETTERS:
        state.connection = CONNECTIONS[f"joint_{LETTERS[letter]}"]
        _show_prompt(view)
    elif KEYS[letter] == "flip":
        state.flipped = not state.flipped
        view.show_hint("The axes now meet in the opposite direction." if state.flipped else "")
    else:
        state.meant = "" if state.meant == KEYS[letter] else KEYS[letter]
    view.gestures.repeat_hover()


def leave(view: Stage) -> None:
    """Discard the connection in progress when another tool is chosen."""
    _stop_listening(view)
    state = _asking.pop(view, None)
    if state is not None and state.bar is not None:
        state.bar.menu.close()
    view.annotations.clear()
    view.session.set_hovered_element(None)
