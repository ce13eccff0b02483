"""The connect tool: point at two things (or one) and they are connected by what was chosen: a spring, a rod, a sensor …

Chosen from the toolbar it asks after two points what is to be made; chosen through the menu Add it knows already.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING
from weakref import ReferenceType, WeakKeyDictionary

import numpy as np
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QCursor, QKeyEvent
from PySide6.QtWidgets import QMenu

from app.background.lifetime import Lifetime
from app.document.connection_draft import (
    Pick,
    direction_at,
    followed,
    pick_of,
    present,
)
from app.document.connection_kinds import CONNECTIONS, Connection
from app.document.joining import Gap, Outcome, gap_of
from app.document.session import Ref, State
from app.preferences.icons import icon
from app.tools.candidates import Under, body_of
from app.tools.joining_bar import JoiningBar, joining_bar
from app.tools.joint_sketch import joint_lines
from app.viewport.annotations import Line, line
from app.viewport.gestures import Gesture
from app.viewport.navigate import clicked
from app.viewport.pointer import Pointer
from core.later import dataclass
from core.model import WORLD
from viz.camera import metres_per_pixel

if TYPE_CHECKING:
    from app.viewport.stage import Stage

JOINTS = "joint: R revolute, P prismatic, S spherical, U universal, L cylindrical, W fixed"
EXPECTS = f"Click two points · {JOINTS} · Tab: next place · Esc ends"
STEADY = 4.0
"""Pixels (at 100 %) within which the pointer may tremble while Tab goes through what is under it."""
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
"""What two points can be connected by, as the tool asks."""
AXIS = 40.0
"""Half the length of a joint's axis at the pointer, pixels (at 100 %)."""
LETTERS = {"r": "revolute", "p": "prismatic", "s": "spherical", "u": "universal", "l": "cylindrical", "w": "fixed"}
"""Letter → kind of joint (w as in weld)."""
DIRECTIONS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
NO_KEY = Qt.KeyboardModifier.NoModifier
KEYS = {"x": "x", "y": "y", "z": "z", "n": "normal", "v": "flip"}
"""Letter → direction of the axis of a joint at the next point, or that it is turned round."""


@dataclass
class Asking:
    """What is to be made, and what was pointed at until now."""

    connection: Connection | None = None
    picks: tuple[Pick, ...] = field(default=())
    at: QPoint = field(default_factory=QPoint)
    menu: QMenu | None = None
    life: Lifetime = field(default_factory=Lifetime)
    """What it listens to: the selection and the row of the ground, in the model tree, and edits."""
    document: int = 0
    """The document in which it was asked."""
    bar: JoiningBar | None = None
    flipped: bool = False
    """Whether the axes of the two points meet the other way round."""
    meant: str = ""
    """The word of the direction that was chosen for the next point; "" for what is there."""
    choice: int = 0
    """Which of the places under the pointer is meant; counted on by Tab."""
    several: int = 0
    """How many there are."""
    tabbed: tuple[float, float] = (0.0, 0.0)
    """The pixel at which the pointer is while they are gone through."""

    @property
    def wants(self) -> tuple[str, ...]:
        """What is still to be pointed at."""
        every = self.connection.wants if self.connection is not None else ("point", "point")
        return every[len(self.picks) :]


_asking: WeakKeyDictionary[Stage, Asking] = WeakKeyDictionary()


def asking(view: Stage) -> Asking:
    """The question in progress in a viewport."""
    return _asking.setdefault(view, Asking())


def arm(view: Stage, connection: Connection | None) -> None:
    """Begin to ask for what a connection needs; the selection counts as the first answer where it fits."""
    view.gestures.choose("connect")
    _listen_no_more(view)
    session, known = view.session, ReferenceType(view)
    state = _asking[view] = Asking(connection, document=session.document)
    state.life.listen(
        (session.selected, _listener(known, state)),
        (session.grounded, _ground_listener(known, state)),
        (session.changed, _edit_listener(known, state)),
    )
    first = _selected(view, state.wants[0])
    if first is not None:
        _take(view, first)
    else:
        _say(view)


def _listener(known: ReferenceType[Stage], state: Asking) -> Callable[[object], None]:
    """Answers what is selected, once the selection is over."""

    def heard(_selection: object) -> None:
        view = known()
        if view is not None:
            QTimer.singleShot(0, view.widget, lambda: _chosen_elsewhere(view, state))

    return heard


def _ground_listener(known: ReferenceType[Stage], state: Asking) -> Callable[[], None]:
    """Answers with the ground, at the world's origin, where a point of it may be meant."""

    def heard() -> None:
        view = known()
        if view is None or _asking.get(view) is not state or not state.wants:
            return
        several = len(state.wants) + len(state.picks) > 1
        fits = state.wants[0] == "point" or (state.wants[0] == "frame" and several)
        if fits and WORLD not in [pick.name for pick in state.picks]:
            _take(view, pick_of(view.session, WORLD))

    return heard


def _edit_listener(known: ReferenceType[Stage], state: Asking) -> Callable[[State, State], None]:
    """Follows what was pointed at: renamed it is still meant, deleted it is asked for again."""

    def heard(old: State, new: State) -> None:
        view = known()
        if view is None or _asking.get(view) is not state:
            return
        same = state.document == view.session.document
        state.document = view.session.document
        if state.bar is not None and old.model is not new.model:
            state.bar.menu.close()  # what it offers is of the machine before
        if not state.picks:
            return
        found = [followed(old.model, new.model, pick) if same else None for pick in state.picks]
        gone = [pick.on_body.name for pick, now in zip(state.picks, found, strict=True) if now is None]
        state.picks = present(view.session, tuple(pick for pick in found if pick is not None))
        _show_picks(view, state)
        if not gone:
            return
        if state.menu is not None:
            state.menu.close()
        view.session.message.emit("hint", f"{_listed(gone)} {'is' if len(gone) == 1 else 'are'} gone: point again.")
        _say(view)

    return heard


def _listed(names: list[str]) -> str:
    return " and ".join(f"“{name}”" for name in names)


def _show_picks(view: Stage, state: Asking) -> None:
    view.annotations.points = tuple(each.place for each in state.picks if each.what == "point")
    view.annotations.lines = ()
    view.annotations.update()


def _chosen_elsewhere(view: Stage, state: Asking) -> None:
    """What is selected in the model tree counts as pointed at, if it is asked for and not what was meant before."""
    pick = _selected(view, state.wants[0]) if _asking.get(view) is state and state.wants else None
    if pick is not None and pick.name not in [each.name for each in state.picks]:
        _take(view, pick)


def _listen_no_more(view: Stage) -> None:
    state = _asking.get(view)
    if state is not None:
        state.life.close()


def _selected(view: Stage, want: str) -> Pick | None:
    ref = view.session.selection
    if ref is None:
        return None
    if {"joint": "joints", "sensor": "sensors"}.get(want) == ref.collection:
        return Pick(ref.name, what=want)
    places = ("bodies", "frames") if want == "frame" else ("bodies", "frames", "junctions")
    return pick_of(view.session, ref.name) if want in ("point", "frame") and ref.collection in places else None


def _say(view: Stage) -> None:
    state = asking(view)
    title = state.connection.title if state.connection is not None else "Connect"
    want = state.wants[0]
    order = ORDER[len(state.picks)] + " " if len(state.wants) + len(state.picks) > 1 else ""
    either = ", in the scene or in the tree"
    words = {
        "point": f"{order}point: a body, frame, junction, or the ground",
        "joint": f"{order}joint{either}",
        "frame": f"{order}{_frames(state)}",
        "sensor": f"sensor{either}",
    }[want]
    keys = ""
    if state.connection is None:
        keys = f" · {JOINTS}"
    elif state.connection.joint:
        keys = " · X Y Z N: its axis, V turns it, Tab: other places"
    view.say(f"{title}: click the {words}{keys} · Esc ends")


def _frames(state: Asking) -> str:
    several = len(state.wants) + len(state.picks) > 1
    return "point: a body, a frame, or the ground" if several else "body or frame"


def press(view: Stage, pointer: Pointer) -> Gesture:
    """A click points at something; a drag orbits."""
    if view.press_cube(pointer):
        return
    _asked_in_vain(view, asking(view))
    if (yield from clicked(view, pointer)) and asking(view).wants:  # else the last answer is being made
        at = QPoint(round(pointer.x / pointer.scale), round(pointer.y / pointer.scale))
        asking(view).at = view.widget.mapToGlobal(at)
        pick = pointed(view, pointer)
        if pick is None:
            view.session.message.emit("hint", f"There is no {asking(view).wants[0]} here.")
        else:
            _take(view, pick)


def under(view: Stage, pointer: Pointer) -> Pick | None:
    """What is meant under the pointer, of the kind that is asked for; of several the one that Tab chose."""
    state, want = asking(view), asking(view).wants[0]
    if want in ("joint", "sensor"):
        hit = view.scene.pick(pointer.x, pointer.y)
        ref = Ref(*hit.ref) if hit is not None and hit.ref is not None else None
        if want == "joint":
            return _joint(view, ref)
        return Pick(ref.name, what="sensor") if ref is not None and ref.collection == "sensors" else None
    if np.hypot(pointer.x - state.tabbed[0], pointer.y - state.tabbed[1]) > STEADY * pointer.scale:
        state.choice, state.tabbed = 0, (pointer.x, pointer.y)
    found = Under(view, pointer, junctions=want == "point", turned=_makes_joint(state))
    state.several = len(found.spots)
    return found.pick(state.choice, [pick.name for pick in state.picks])


def pointed(view: Stage, pointer: Pointer) -> Pick | None:
    """What is meant under the pointer, with the direction that a joint would have there."""
    pick, state = under(view, pointer), asking(view)
    if pick is None or not state.meant:
        return pick
    meant = DIRECTIONS.get(state.meant, pick.normal if state.meant == "normal" else None)
    return dataclasses.replace(pick, direction=meant, word="") if meant is not None else pick


def _makes_joint(state: Asking) -> bool:
    """Whether two points are asked for between which a joint may be made."""
    return state.connection is None or bool(state.connection.joint)


def axis_at(view: Stage, pick: Pick) -> tuple[np.ndarray, str]:
    """(3,) the axis in the world that a joint at a point would have, and what it is."""
    state = asking(view)
    if pick.direction is not None:
        return np.array(pick.direction), pick.word or state.meant
    found = direction_at(view.session, pick.on_body)
    if found is not None:
        return found, "as the joint there"
    if state.picks and (first := direction_at(view.session, state.picks[0].on_body)) is not None:
        return first, "as at the first point"
    return (np.array(pick.normal), "normal") if pick.normal is not None else (np.array((0.0, 0.0, 1.0)), "z")


def _joint(view: Stage, ref: Ref | None) -> Pick | None:
    """The joint under the pointer, or the one that carries the body under it."""
    if ref is None:
        return None
    if ref.collection == "joints":
        return Pick(ref.name, what="joint")
    body = body_of(view, ref)
    carrier = next((j for j in view.session.model.expanded.joints if j.child == body and j.info.nv), None)
    return Pick(carrier.name, what="joint") if carrier is not None else None


def _take(view: Stage, pick: Pick) -> None:
    """One more thing was pointed at; with the last one the connection is made."""
    state = asking(view)
    state.picks = (*state.picks, pick)
    _show_picks(view, state)
    if state.wants:
        _say(view)
        return
    last = (lambda: _ask(view)) if state.connection is None else (lambda: _finish(view))
    if view.gestures.running:
        QTimer.singleShot(0, view.widget, last)  # once the click is over: another tool is chosen then
    else:
        last()


def _finish(view: Stage) -> None:
    state = asking(view)
    connection = state.connection
    if connection is None or state.wants:
        return
    picks = present(view.session, state.picks)
    if connection.joint and not _same(picks):
        on_bodies = tuple(pick.on_body for pick in picks)
        gap = gap_of(view.session, connection.joint, on_bodies, state.flipped)
        if not gap.closed:
            _ask_how(view, on_bodies, gap)
            return
    view.gestures.choose("select")  # also forgets the question
    connection.build(view.session, picks)
    view.update()


def _same(picks: tuple[Pick, ...]) -> bool:
    """Whether both points are on one body: a joint cannot connect it with itself, which is told."""
    return len({pick.on_body.name for pick in picks}) == 1


def _ask_how(view: Stage, picks: tuple[Pick, ...], gap: Gap) -> None:
    """The two points of a joint are apart: assemble, join here, or leave apart."""
    state = asking(view)
    assert state.connection is not None
    view.annotations.value = ""
    bar = state.bar = joining_bar(view, state.connection.joint, picks, gap, state.flipped)
    if bar is None:
        _back(view, state)
        return

    def done(outcome: Outcome | None) -> None:
        if _asking.get(view) is not state:
            return
        state.bar = None
        if outcome is None:
            _back(view, state)
            return
        view.gestures.choose("select")
        outcome.take(view.session)
        view.update()

    bar.ask(state.at if not state.at.isNull() else QCursor.pos(), done)


def _back(view: Stage, state: Asking) -> None:
    """Nothing was chosen: the second point is asked for again."""
    state.picks = state.picks[:-1]
    _show_picks(view, state)
    _say(view)


def _ask(view: Stage) -> None:
    """Two points are known: ask what is to be between them."""
    state = asking(view)
    menu = state.menu = QMenu(view.widget)
    for name in MENU:
        if name == "-":
            menu.addSeparator()
            continue
        each = CONNECTIONS[name]
        menu.addAction(icon(each.icon), each.title, lambda each=each: _choose(view, each))
    menu.aboutToHide.connect(lambda: QTimer.singleShot(0, view.widget, lambda: _asked_in_vain(view, state)))
    menu.popup(state.at)


def _asked_in_vain(view: Stage, state: Asking) -> None:
    """The menu was closed: if nothing was chosen from it, the next click is a first point again."""
    if _asking.get(view) is state and state.connection is None and not state.wants:
        state.picks = ()
        view.annotations.clear()
        _say(view)


def _choose(view: Stage, connection: Connection) -> None:
    asking(view).connection = connection
    _finish(view)


def hover(view: Stage, pointer: Pointer | None) -> None:
    """Light up what a click would mean, and draw the line to it."""
    state, notes = asking(view), view.annotations
    notes.value = ""
    if pointer is None or not state.wants:
        view.session.point_at(None)
        notes.update()
        return
    hit = view.scene.pick(pointer.x, pointer.y)
    view.session.point_at(Ref(*hit.ref) if hit is not None and hit.ref is not None else None)
    points = tuple(each.place for each in state.picks if each.what == "point")
    pick = pointed(view, pointer) if state.wants[0] in ("point", "frame") else None
    notes.points = (*points, pick.place) if pick is not None else points
    notes.lines = _lines(view, pick)
    if pick is not None and state.several > 1:
        words = "" if any(each.text == pick.word for each in notes.lines) else f"{_word(pick)} · "
        notes.show_value(f"{words}Tab: {state.choice % state.several + 1} of {state.several}", pointer.x, pointer.y)
    notes.update()


def _word(pick: Pick) -> str:
    """What is meant, in words."""
    return pick.word or (f"“{pick.name}”" if pick.frame is None else "point of the surface")


def _lines(view: Stage, pick: Pick | None) -> tuple[Line, ...]:
    """The distance from the first point to what is meant now; the joint at each of them."""
    state = asking(view)
    every = [each for each in (*state.picks, pick) if each is not None and each.what == "point"]
    found: list[Line] = []
    if pick is not None and len(every) > 1:
        distance = float(np.linalg.norm(np.subtract(pick.place, every[0].place)))
        pixel = metres_per_pixel(view.scene.view, view.scene.size, pick.place) * view.scene.pixel_ratio
        shown = view.settings.shown(distance, "length")
        if distance > STEADY * pixel:  # else the pointer is still on the first point
            found.append(line(every[0].place, pick.place, f"{pick.name}\n{shown}" if pick.frame is None else shown))
    if _makes_joint(state):
        kind = "" if state.connection is None else state.connection.joint
        for each in every:
            axis, word = axis_at(view, each)
            half = AXIS * metres_per_pixel(view.scene.view, view.scene.size, each.place) * view.scene.pixel_ratio
            found += joint_lines(kind, np.array(each.place), axis, half, word if each is pick else "")
    return tuple(found)


def wants(view: Stage, event: QKeyEvent) -> bool:
    """Whether a key chooses the kind of a joint, how its axis lies, or what is meant under the pointer."""
    state = asking(view)
    if not state.wants or event.modifiers() not in (NO_KEY, Qt.KeyboardModifier.ShiftModifier):
        return False
    if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        return state.wants[0] in ("point", "frame") and view.gestures.inside
    letter = event.text().lower()
    return _makes_joint(state) and (letter in LETTERS or (letter in KEYS and state.connection is not None))


def key(view: Stage, event: QKeyEvent) -> None:
    """Choose the kind of joint, or the next of the places under the pointer; let the axis of the next point lie along
    x, y, z or the normal (once more: as what is there says); or turn it."""
    state, letter = asking(view), event.text().lower()
    if event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab):
        state.choice += 1 if event.key() == Qt.Key.Key_Tab else -1
    elif letter in LETTERS:
        state.connection = CONNECTIONS[f"joint_{LETTERS[letter]}"]
        _say(view)
    elif KEYS[letter] == "flip":
        state.flipped = not state.flipped
        view.say("The axes meet the other way round." if state.flipped else "")
    else:
        state.meant = "" if state.meant == KEYS[letter] else KEYS[letter]
    view.gestures.again()


def leave(view: Stage) -> None:
    """Another tool is chosen: the question is forgotten."""
    _listen_no_more(view)
    state = _asking.pop(view, None)
    if state is not None and state.bar is not None:
        state.bar.menu.close()
    view.annotations.clear()
    view.session.point_at(None)
