"""State of the Draw tool in a viewport: plane, chain, snap under the pointer, typed numbers. Commits edits of
`core.design.linkage`, each as one undo step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QTimer

from app.background.jobs import Worker
from app.background.signals import Lifetime, Signal
from app.document.revision import Ref, State
from app.tools.draw.freedoms import Examiner, Freedoms, compile_in_advance, examined
from app.tools.draw.snapping import Aim, Snap, grid_step, snapped
from app.tools.draw.typed_numbers import NOTHING, NumberField, Typed
from app.viewport.gestures import Pointer
from core.design.linkage import PLANES, XZ, Drawing, Plane, Point, as_drawn, plane_on
from core.design.linkage.closing import coordinates_at
from core.design.linkage.drawing import End, elements_drawn_on
from core.design.linkage.reshaping import dead_pins, folded
from core.errors import KinetostatError
from core.later import dataclass
from core.model import WORLD, Model
from core.model.fields import Value
from viz import camera
from viz.camera import View, metres_per_pixel

if TYPE_CHECKING:
    from app.viewport.stage import Stage

FIRST_HALF_HEIGHT = 0.3
"""Half the height of the view in m for an empty document."""
BAR = 6.0
"""Radius of the first bar in pixels."""
STAYS = 3.0
"""Pixels within which the pointer counts as unmoved."""
ROOM, BESIDE = 2.2, 72.0
"""Largest ratio of the picture to the machine, and margin in pixels."""
DISTANCE_OF_HALF_HEIGHT = 1.0 / math.tan(camera.FIELD_OF_VIEW / 2.0)


class Sub(Protocol):
    """Interface of a sub-tool as used by the hand."""

    goes_on: bool
    """True if an open chain can continue with the sub-tool."""
    measures: bool
    """True if length and angle to the pointer belong to the element that a click makes."""
    in_plane: bool
    """True if clicks are points of the working plane."""

    def expects(self, hand: Hand) -> str:
        """Return the text of the hint line."""
        ...

    def asks_direction(self, hand: Hand) -> bool:
        """Return True if the next click only sets a direction."""
        ...

    def band(self, hand: Hand) -> tuple[tuple[Point, Point], ...]:
        """Return the line segments drawn from clicked points to the pointer."""
        ...

    def closing(self, hand: Hand) -> Callable[[Model], Model] | None:
        """Return the edit that a click would make if it closes a loop; else None."""
        ...

    def ahead(self, hand: Hand) -> Callable[[Model], Model] | None:
        """Return the probable edit of the next click, at whatever position; None if unknown."""
        ...


@dataclass(frozen=True)
class Anchor:
    """The point where the next link of a chain starts. end : as edits take it; body : the link drawn to this point"""

    end: End
    point: Point
    body: str = ""


class Hand:
    """The drawing state of one viewport; emits `changed` for the widgets that show it."""

    changed = Signal()

    def __init__(self, view: Stage, sub: Sub) -> None:
        self.view = view
        self.plane: Plane = XZ
        self._first = self.sub = sub
        self.chain: list[Anchor] = []
        self.picks: list[Snap] = []
        self.aim: Aim | None = None
        self.snap: Snap | None = None
        self.typed: Typed = NOTHING
        self.grid = self.snapping = True
        self.hovered_body = ""
        self.dyad = ""
        """The pin whose other branch is shown."""
        self.locked: set[str] = set()
        """Lengths that are held while points are dragged, by their parameters."""
        self.dragged: tuple[Point, Point] | None = None
        """From where and to where a pin is dragged."""
        self.nudged: Point | None = None
        """Position to which the arrow keys moved the pin under the pointer, until the pointer moves."""
        self.gesture: object = object()
        """That of the last click: what a double click adds belongs to the same undo step."""
        self.on = False
        self._document = view.session.document
        self._before: tuple[View, Model] | None = None
        """View and machine before the view was turned onto the plane."""
        self._coming: Freedoms | None = None
        self._cached: tuple[object, Drawing] | None = None
        self._dead: tuple[Drawing, tuple[str, ...]] | None = None
        self._done_at: Point | None = None
        """Position of the last commit, until the pointer leaves it: the same click again is not announced."""
        self._life = Lifetime()
        self.examiner = Examiner(view.widget)
        self._ahead = Worker("drawing ahead", lambda _error: None)
        self._prepared: object = None
        self.field = NumberField(view)

    # ----------------------------------------------------------------------------- coming and going

    def enter(self) -> None:
        """Start drawing: look along the normal of the plane."""
        session = self.view.session
        self.on, self._document = True, session.document
        self.sub = self._first
        self.plane = self._default_plane()
        goal = self.view.viewpoint.goal
        self._before = None if not session.model.expanded.bodies or self._is_flat(goal) else (goal, session.model)
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._document_changed),
            (session.moved, self.refresh),
            (self.view.viewpoint.looked, self.refresh),
            (self.view.settings.changed, lambda _key: self.refresh()),
            (self.view.theme.changed, lambda _name: self.refresh()),
        )
        self.examiner.ready.connect(self.refresh)
        self.look_along_normal(fit=True)
        self.view.widget.setFocus()
        self.refresh()

    def leave(self) -> None:
        """Stop drawing. The former view of the machine returns, unless the user has turned the view since, started with
        an empty document, or faced the plane already."""
        self.sub = self._first
        self.drop()
        self.on = False
        self.field.close_field()
        self._life.close()
        self.examiner.ready.disconnect(self.refresh)
        self.view.scene.leave_room()
        self._look_as_before()
        self.view.scene.dim_except(None)
        self.view.scene.working_plane.hide()
        self.view.annotations.clear()
        self.changed.emit()
        self.view.update()

    def _is_flat(self, view: View) -> bool:
        """Return True if a view looks along the normal of the plane."""
        return bool(np.allclose(np.abs(view.axes[:, 2] @ self.drawing.X_WD[:3, 2]), 1.0, atol=1e-6))

    def _look_as_before(self) -> None:
        before, viewpoint, self._before = self._before, self.view.viewpoint, None
        if before is None or not self._is_flat(viewpoint.goal):
            return
        view, model = before
        viewpoint.fly_to(view if model is self.view.session.model else viewpoint.fitted(view))

    def _default_plane(self) -> Plane:
        """Return the default working plane: that of the selected frame or body; else the one normal to the view; else
        that of the machine; else the nearest to the view."""
        session = self.view.session
        ref = session.selection
        if ref is not None and ref.collection == "frames":
            return Plane("xy", ref.name)
        if ref is not None and ref.collection == "joints":
            across = [
                plane
                for plane in PLANES.values()
                if any(pin.name == ref.name for pin in Drawing(session.model, plane, self._poses()).pins)
            ]
            if across:
                return across[0]
        used = [plane for plane in PLANES.values() if Drawing(session.model, plane, self._poses()).pins]
        toward = self.view.scene.view.axes[:, 2]
        along = {name: abs(float(plane.basis[:, 2] @ toward)) for name, plane in PLANES.items()}
        flat = next((PLANES[name] for name, share in along.items() if share > 1.0 - 1e-6), None)
        offered = PLANES[max(along, key=lambda name: along[name])] if session.model.bodies else XZ
        return flat or next(iter(used), offered)

    def look_along_normal(self, fit: bool = False) -> None:
        """View the plane from its front, in parallel projection."""
        viewpoint, scene = self.view.viewpoint, self.view.scene
        view = replace(camera.toward(viewpoint.goal, self.drawing.X_WD[:3, 2]), parallel=True)
        self._enlarge_fit()
        if fit and self.view.session.model.expanded.bodies:
            scene_view, scene.view = scene.view, view
            bounds = scene.bounds()
            scene.view = scene_view
            view = camera.fit(view, bounds, scene.size[0] / scene.size[1], scene.margin)
        elif fit:
            origin = tuple(self.drawing.X_WD[:3, 3].tolist())
            distance = FIRST_HALF_HEIGHT * DISTANCE_OF_HALF_HEIGHT
            view = replace(view, target=(origin[0], origin[1], origin[2]), distance=distance)
        viewpoint.fly_to(view)

    def next_plane(self) -> None:
        """Switch to the next world plane, before the first click."""
        names = list(PLANES)
        at = names.index(self.plane.axes) if self.plane.parent == WORLD else -1
        self.take_plane(PLANES[names[(at + 1) % len(names)]])

    def make_plane(self, offset: Value = 0.0, *, turns: int = 0, flipped: bool = False) -> None:
        """Draw in a new plane offset or turned from the present one."""
        parent, axes = self.plane.parent, self.plane.axes
        self.make_plane_with(lambda model: plane_on(model, parent, axes, offset, turns=turns, flipped=flipped))

    def make_plane_with(self, make: Callable[[Model], tuple[Model, Plane]]) -> None:
        """Draw in a new plane that is added to the document as a frame."""
        made: list[Plane] = []

        def edit(model: Model) -> Model:
            new, plane = make(model)
            made.append(plane)
            return new

        self.gesture = object()
        if self.commit("Working plane", edit) and made:
            self.take_plane(made[-1])

    def take_plane(self, plane: Plane) -> None:
        """Draw in another plane."""
        self.plane = plane
        self.drop()
        self.look_along_normal()
        self.refresh()

    # ----------------------------------------------------------------------------- the machine as one draws on it

    def _poses(self) -> dict[str, np.ndarray]:
        session = self.view.session
        arrays = np.asarray(session.mech.poses(session.q, p=session.p), dtype=float)
        return {WORLD: np.eye(4), **dict(zip(session.mech.frame_names, arrays, strict=True))}

    @property
    def drawing(self) -> Drawing:
        """The machine projected to the plane in its present pose."""
        session = self.view.session
        key = (id(session.model), self.plane, np.asarray(session.q).tobytes(), tuple(session.p.items()))
        if self._cached is None or self._cached[0] != key:
            if self.plane.parent not in {WORLD, *session.mech.frame_names}:
                session.message.emit("hint", f"'{self.plane.parent}' is gone: you draw in the plane xz now.")
                self.plane = XZ
                QTimer.singleShot(0, self.view.widget, self._choose_first_view)  # once all know the machine as it is
            drawing = Drawing(session.model, self.plane, self._poses())
            drawing.__dict__["values"] = {**session.model.values(), **session.p}
            self._cached = key, drawing
        return self._cached[1]

    @property
    def pin_under_pointer(self) -> Point | None:
        """The pin or free end under the pointer, or moved away from it by arrow keys; None if there is none."""
        if self.chain or self.picks:
            return None
        if self.nudged is not None:
            return self.nudged
        return self.snap.point if self.snap is not None and self.snap.kind in ("pin", "tip") else None

    @property
    def dead_pins(self) -> tuple[str, ...]:
        """Pins at which two links of a loop are collinear, so that it is at a dead point."""
        drawing = self.drawing
        if self._dead is None or self._dead[0] is not drawing:
            looped = {name for loop in self.view.session.mech.loops for name in loop.joints}
            self._dead = drawing, dead_pins(drawing, looped)
        return self._dead[1]

    @property
    def pixel(self) -> float:
        """Size in metres of a pixel at 100 %."""
        ratio = self.view.widget.devicePixelRatioF()
        return metres_per_pixel(self.view.scene.view, self.view.scene.size, self.drawing.X_WD[:3, 3]) * ratio

    @property
    def thickness(self) -> float | None:
        """Radius of the first bar, m, from a size in pixels; None if there is a bar already."""
        return None if self.drawing.bars else float(f"{BAR * self.pixel:.0e}")

    def point_at(self, x: float, y: float) -> Point | None:
        """Return the point of the plane at a device pixel; None if the plane is seen edge-on."""
        ray, X = self.view.scene.ray(x, y), self.drawing.X_WD
        slope = float(ray.direction @ X[:3, 2])
        if abs(slope) < 1e-3:
            return None
        distance = float((X[:3, 3] - ray.origin) @ X[:3, 2]) / slope
        return self.drawing.plane_point(np.asarray(ray.at(distance)))

    def aim_at(self, pointer: Pointer) -> None:
        """Find the snap for the pointer position."""
        point = self.point_at(pointer.x, pointer.y)
        if point is None:
            self.aim = self.snap = None
            return
        last = self.chain[-1] if self.chain else None
        self.aim = Aim(
            point,
            self.pixel,
            last.point if last is not None else None,
            self.previous_angle,
            grid_step(self.pixel) if self.grid else 0.0,
            loose=pointer.ctrl or not self.snapping,
            fresh=pointer.alt,
        )
        self.snap = snapped(self.drawing, self.aim)
        if self._done_at is not None and math.dist(self._done_at, point) > STAYS * self.pixel:
            self._done_at = self.nudged = None
        if self.snap.body not in ("", WORLD):
            self.hovered_body = self.snap.body
        if self.snap.kind == "pin" and not self.chain and self.other_branch(self.snap.name) is not None:
            self.dyad = self.snap.name

    def other_branch(self, name: str) -> Point | None:
        """Return the position of a pin on the other branch of its two links; None if it does not join exactly two."""
        pin = next((each for each in self.drawing.pins if each.name == name), None)
        return folded(self.drawing, pin) if pin is not None else None

    @property
    def previous_angle(self) -> float | None:
        """Angle of the last link of the chain from the first axis, rad; None without one."""
        body = self.chain[-1].body if self.chain else ""
        bar = self.drawing.bar(body)
        return math.atan2(bar.end[1] - bar.start[1], bar.end[0] - bar.start[0]) if bar is not None else None

    # ----------------------------------------------------------------------------- what is done

    def commit(
        self, label: str, edit: Callable[[Model], Model], *, here: bool = False, select: Ref | None = None
    ) -> bool:
        """Commit an edit as one undo step. here : first make the present pose the reference configuration, as needed if
        loops close"""
        session = self.view.session
        try:
            made = edit(as_drawn(session.model, self._pose_coordinates()) if here else session.model)
        except KinetostatError as error:
            if self.field.isVisible():
                raise  # told beside what was typed
            session.message.emit("error", str(error))
            return False
        done = session.apply(label, lambda _model: made, gesture=self.gesture, select=select)
        self.typed = NOTHING
        self._done_at = self.aim.point if self.aim is not None else None
        self.field.close_field()
        return done

    def _pose_coordinates(self) -> dict[str, float]:
        return coordinates_at(self.view.session.mech, np.asarray(self.view.session.q))

    def choose(self, sub: Sub) -> None:
        """Choose another sub-tool; an open chain ends free if the sub-tool cannot continue it."""
        if not sub.goes_on:
            self.end_chain()
        self.picks = []
        self.field.close_field()
        self._take(sub)
        self.refresh()

    def _take(self, sub: Sub) -> None:
        """Switch the view with the sub-tool: oblique for picking in space, along the plane's normal otherwise."""
        before, self.sub, self._done_at = self.sub, sub, None
        if before.in_plane and not sub.in_plane:
            self.view.viewpoint.fly_to(self.view.viewpoint.fitted(camera.preset(self.view.viewpoint.goal, "iso")))
        elif sub.in_plane and not before.in_plane:
            self.view.annotations.clear()
            self.look_along_normal(fit=True)

    def drop(self) -> bool:
        """Discard the element begun; returns False if there is none."""
        begun = bool(self.chain or self.picks or self.field.isVisible() or not self.sub.in_plane)
        self.chain, self.picks, self.typed = [], [], NOTHING
        self.field.close_field()
        if not self.sub.in_plane:
            self._take(self._first)
        self.refresh()
        return begun

    def end_chain(self) -> bool:
        """End the chain with a free end; returns False if there is none."""
        hung = bool(self.chain)
        self.chain, self.typed = [], NOTHING
        self.field.close_field()
        self.refresh()
        return hung

    def take_back(self) -> bool:
        """Remove the last link of the chain, or its start; returns False if there is none."""
        if not self.chain:
            return False
        if len(self.chain) == 1:
            return self.drop()
        self.view.session.undo()
        return True

    def _document_changed(self, old: State, new: State) -> None:
        """Drop chain links and clicked points that an edit or undo has removed."""
        if self._document != self.view.session.document:
            self._reset_for_document()
        names = {body.name for body in new.model.expanded.bodies}
        while self.chain and self.chain[-1].body and self.chain[-1].body not in names:
            self.chain.pop()
        if self.chain and isinstance(self.chain[0].end, str) and not self._exists(self.chain[0].end):
            self.chain = []
        self.picks = [pick for pick in self.picks if not pick.name or self._exists(pick.name)]
        self.refresh()

    def _reset_for_document(self) -> None:
        """Reset the hand after another document was opened."""
        self._document, self.dyad, self.hovered_body, self.locked = self.view.session.document, "", "", set()
        self._before = None
        self.drop()
        if self.view.session.model.expanded.bodies:
            self.view.gestures.choose("select")
        else:
            self.plane = XZ
            QTimer.singleShot(0, self.view.widget, self._choose_first_view)  # after the view's own fit

    def _choose_first_view(self) -> None:
        if self.on:
            self.look_along_normal(fit=True)

    def _exists(self, name: str) -> bool:
        model = self.view.session.model.expanded
        return name in model.placements or any(joint.name == name for joint in model.joints)

    def close(self) -> None:
        """Stop background work."""
        self.examiner.close()
        self._ahead.close()

    def _enlarge_fit(self) -> None:
        """Enlarge the fitted view so that dimensions and the other branch are visible, too."""
        scene, other = self.view.scene, self.other_branch(self.dyad) if self.dyad else None
        ratio = self.view.widget.devicePixelRatioF()
        least = min(scene.size) / ratio
        beside = () if other is None else (self.drawing.world_point(other),)
        scene.leave_room(min(ROOM, least / max(1.0, least - 2.0 * BESIDE)), beside)

    def _prepare_next(self) -> None:
        """Compile in the background the code of the machine after the next click, which does not depend on its
        position."""
        edit, model = self.sub.ahead(self) if self.on else None, self.view.session.model
        key = model, self.chain[-1] if self.chain else None
        if edit is not None and self._prepared != key:
            self._prepared = key
            self._ahead.do(lambda: compile_in_advance(edit(model)), "next")

    def refresh(self, *_: object) -> None:
        """Redraw everything."""
        if not self.on:
            return
        self._enlarge_fit()
        self.view.scene.dim_except(elements_drawn_on(self.drawing) if self.sub.in_plane else None)
        QTimer.singleShot(0, self.view.widget, self._prepare_next)  # when all has taken note of what was done
        self.show_plane()
        self.view.annotations.update()
        self.changed.emit()
        self.view.say(self.sub.expects(self))

    def show_plane(self) -> None:
        """Show the grid over the visible area."""
        scene, drawing = self.view.scene, self.drawing
        view, size = scene.view, scene.size
        middle = drawing.plane_point(np.array(view.target))
        half = view.half_height * np.array([size[0] / size[1], 1.0]) * 1.05
        if not self._is_flat(view):
            half = np.full(2, 2.0 * float(half.max()))
        step = grid_step(self.pixel)
        low = np.floor((np.array(middle) - half) / step) * step
        high = np.ceil((np.array(middle) + half) / step) * step
        if not self.sub.in_plane:
            return
        if self.grid:
            scene.working_plane.show(drawing.X_WD, low, high, step, scene.palette)
        else:
            scene.working_plane.hide()
        self.view.update()

    # ----------------------------------------------------------------------------- freedoms

    @property
    def freedoms(self) -> Freedoms | None:
        """Degrees of freedom of the machine; None while they are being computed."""
        model, plane = self.view.session.model, self.plane
        return self.examiner.answer(("now", model, plane), lambda: examined(model, plane)) if model.bodies else None

    def report_coming_freedoms(self) -> None:
        """Report how a click would change the degrees of freedom, if that differs from the last report."""
        coming = self.coming
        if coming != self._coming:
            self._coming = coming
            self.changed.emit()

    @property
    def coming(self) -> Freedoms | None:
        """Degrees of freedom after a click that closes a loop; None if it closes none, or while they are being
        computed."""
        edit = self.sub.closing(self) if self._done_at is None else None
        if edit is None:
            return None
        model, plane, standing = self.view.session.model, self.plane, self._pose_coordinates()
        snap, start = self.snap, self.chain[-1] if self.chain else None
        key = ("then", model, plane, snap.end if snap is not None and snap.joins else "", start)

        def question() -> Freedoms:
            try:
                return examined(edit(as_drawn(model, standing)), plane)  # the code that the click will need
            except KinetostatError:
                return Freedoms(None)

        return self.examiner.answer(key, question)
