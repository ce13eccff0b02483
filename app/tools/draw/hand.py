"""State of the Draw tool in a viewport: plane, chain of links, snapped point under the pointer, typed numbers. Commits
edits of `core.design.linkage`, each as one undo step."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QTimer

from app.background.jobs import Worker
from app.background.signals import Lifetime, Signal
from app.document.revision import DocumentState, ElementRef
from app.tools.draw.freedoms import LinkageMobility, MobilityExaminer, compute_linkage_mobility, precompile_machine
from app.tools.draw.snapping import SnappedPoint, SnapQuery, find_snap, grid_step
from app.tools.draw.typed_numbers import NOTHING, NumberInputField, TypedNumbers
from app.viewport.gestures import PointerState
from core.design.linkage import PLANES, XZ, Drawing, Plane, Point, as_drawn, plane_on
from core.design.linkage.closing import joint_values_at_pose
from core.design.linkage.drawing import End, elements_visible_in_plane
from core.design.linkage.reshaping import flipped_pin_position, pins_at_dead_centre
from core.errors import KinetostatError
from core.later import dataclass
from core.model import WORLD, Model
from core.model.fields import Value
from viz import camera
from viz.camera import CameraView, metres_per_pixel

if TYPE_CHECKING:
    from app.viewport.stage import Stage

FIRST_HALF_HEIGHT = 0.3
"""Half the height of the view, in m, for an empty document."""
BAR = 6.0
"""Radius of the first bar, in pixels."""
STAYS = 3.0
"""Distance in pixels within which the pointer counts as unmoved."""
ROOM, BESIDE = 2.2, 72.0
"""Largest ratio of the picture to the machine, and margin in pixels."""
DISTANCE_OF_HALF_HEIGHT = 1.0 / math.tan(camera.FIELD_OF_VIEW / 2.0)


class DrawSubTool(Protocol):
    """Interface of a sub-tool as used by the controller."""

    goes_on: bool
    """True if an open chain can continue with the sub-tool."""
    measures: bool
    """True if length and angle to the pointer belong to the element that a click makes."""
    in_plane: bool
    """True if clicks are points of the working plane."""

    def prompt(self, controller: DrawController) -> str:
        """Return the prompt for the hint line."""
        ...

    def asks_direction(self, controller: DrawController) -> bool:
        """Return True if the next click only sets a direction."""
        ...

    def preview_segments(self, controller: DrawController) -> tuple[tuple[Point, Point], ...]:
        """Return the preview line segments from clicked points to the pointer."""
        ...

    def loop_closing_edit(self, controller: DrawController) -> Callable[[Model], Model] | None:
        """Return the edit that a click would make, if it would close a loop; otherwise None."""
        ...

    def probable_next_edit(self, controller: DrawController) -> Callable[[Model], Model] | None:
        """Return the probable edit of the next click, at any position; None if unknown."""
        ...


@dataclass(frozen=True)
class ChainAnchor:
    """Start point of the next link of a chain. end : the point in the form that edits take; body : the link already
    drawn to this point"""

    end: End
    point: Point
    body: str = ""


class DrawController:
    """Controller of drawing in one viewport; emits `changed` for the widgets that show its state."""

    changed = Signal()

    def __init__(self, view: Stage, sub_tool: DrawSubTool) -> None:
        self.view = view
        self.plane: Plane = XZ
        self._first = self.sub = sub_tool
        self.chain: list[ChainAnchor] = []
        self.picks: list[SnappedPoint] = []
        self.aim: SnapQuery | None = None
        self.snap: SnappedPoint | None = None
        self.typed: TypedNumbers = NOTHING
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
        self._before: tuple[CameraView, Model] | None = None
        """View and machine before the view was turned onto the plane."""
        self._coming: LinkageMobility | None = None
        self._cached: tuple[object, Drawing] | None = None
        self._dead: tuple[Drawing, tuple[str, ...]] | None = None
        self._done_at: Point | None = None
        """Position of the last commit, until the pointer leaves it: the same click again is not announced."""
        self._life = Lifetime()
        self.examiner = MobilityExaminer(view.widget)
        self._ahead = Worker("drawing ahead", lambda _error: None)
        self._prepared: object = None
        self.field = NumberInputField(view)

    # ----------------------------------------------------------------------------- coming and going

    def start_drawing(self) -> None:
        """Start drawing: look along the normal of the plane."""
        session = self.view.session
        self.on, self._document = True, session.document
        self.sub = self._first
        self.plane = self._default_plane()
        goal = self.view.viewpoint.target_view
        self._before = (
            None if not session.model.expanded.bodies or self._looks_along_normal(goal) else (goal, session.model)
        )
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._document_changed),
            (session.moved, self.redraw),
            (self.view.viewpoint.looked, self.redraw),
            (self.view.settings.changed, lambda _key: self.redraw()),
            (self.view.theme.changed, lambda _name: self.redraw()),
        )
        self.examiner.ready.connect(self.redraw)
        self.look_along_normal(fit=True)
        self.view.widget.setFocus()
        self.redraw()

    def stop_drawing(self) -> None:
        """Stop drawing. The former view of the machine is restored, unless the user has turned the view since, started
        with an empty document, or was already looking along the normal of the plane."""
        self.sub = self._first
        self.discard_element()
        self.on = False
        self.field.close_field()
        self._life.close()
        self.examiner.ready.disconnect(self.redraw)
        self.view.scene.set_fit_margin()
        self._restore_former_view()
        self.view.scene.dim_except(None)
        self.view.scene.working_plane.hide_grid()
        self.view.annotations.clear()
        self.changed.emit()
        self.view.update()

    def _looks_along_normal(self, view: CameraView) -> bool:
        """Return True if the view looks along the normal of the plane."""
        return bool(np.allclose(np.abs(view.axes[:, 2] @ self.drawing.X_WD[:3, 2]), 1.0, atol=1e-6))

    def _restore_former_view(self) -> None:
        before, viewpoint, self._before = self._before, self.view.viewpoint, None
        if before is None or not self._looks_along_normal(viewpoint.target_view):
            return
        view, model = before
        viewpoint.fly_to(view if model is self.view.session.model else viewpoint.fitted_view(view))

    def _default_plane(self) -> Plane:
        """Return the default working plane: the plane of the selected frame or joint; else the one normal to the view;
        else that of the machine; else the one nearest to the view."""
        session = self.view.session
        ref = session.selection
        if ref is not None and ref.collection == "frames":
            return Plane("xy", ref.name)
        if ref is not None and ref.collection == "joints":
            across = [
                plane
                for plane in PLANES.values()
                if any(pin.name == ref.name for pin in Drawing(session.model, plane, self._body_poses()).pins)
            ]
            if across:
                return across[0]
        used = [plane for plane in PLANES.values() if Drawing(session.model, plane, self._body_poses()).pins]
        toward = self.view.scene.view.axes[:, 2]
        along = {name: abs(float(plane.basis[:, 2] @ toward)) for name, plane in PLANES.items()}
        flat = next((PLANES[name] for name, share in along.items() if share > 1.0 - 1e-6), None)
        offered = PLANES[max(along, key=lambda name: along[name])] if session.model.bodies else XZ
        return flat or next(iter(used), offered)

    def look_along_normal(self, fit: bool = False) -> None:
        """View the plane from its front in parallel projection."""
        viewpoint, scene = self.view.viewpoint, self.view.scene
        view = replace(camera.look_from(viewpoint.target_view, self.drawing.X_WD[:3, 2]), parallel=True)
        self._enlarge_fit_margin()
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

    def switch_to_next_plane(self) -> None:
        """Switch to the next world plane; possible before the first click."""
        names = list(PLANES)
        at = names.index(self.plane.axes) if self.plane.parent == WORLD else -1
        self.set_plane(PLANES[names[(at + 1) % len(names)]])

    def draw_in_derived_plane(self, offset: Value = 0.0, *, turns: int = 0, flipped: bool = False) -> None:
        """Draw in a new plane that is offset or turned from the present one."""
        parent, axes = self.plane.parent, self.plane.axes
        self.draw_in_new_plane(lambda model: plane_on(model, parent, axes, offset, turns=turns, flipped=flipped))

    def draw_in_new_plane(self, add_plane: Callable[[Model], tuple[Model, Plane]]) -> None:
        """Draw in a new plane that is added to the document as a frame."""
        made: list[Plane] = []

        def edit(model: Model) -> Model:
            new, plane = add_plane(model)
            made.append(plane)
            return new

        self.gesture = object()
        if self.commit("Working plane", edit) and made:
            self.set_plane(made[-1])

    def set_plane(self, plane: Plane) -> None:
        """Draw in another plane."""
        self.plane = plane
        self.discard_element()
        self.look_along_normal()
        self.redraw()

    # ----------------------------------------------------------------------------- the machine as one draws on it

    def _body_poses(self) -> dict[str, np.ndarray]:
        session = self.view.session
        arrays = np.asarray(session.mech.poses(session.q, p=session.p), dtype=float)
        return {WORLD: np.eye(4), **dict(zip(session.mech.frame_names, arrays, strict=True))}

    @property
    def drawing(self) -> Drawing:
        """The machine in its present pose, projected to the plane."""
        session = self.view.session
        key = (id(session.model), self.plane, np.asarray(session.q).tobytes(), tuple(session.p.items()))
        if self._cached is None or self._cached[0] != key:
            if self.plane.parent not in {WORLD, *session.mech.frame_names}:
                session.message.emit("hint", f"'{self.plane.parent}' no longer exists: the working plane is xz now.")
                self.plane = XZ
                QTimer.singleShot(0, self.view.widget, self._choose_first_view)  # once all know the machine as it is
            drawing = Drawing(session.model, self.plane, self._body_poses())
            drawing.__dict__["values"] = {**session.model.values(), **session.p}
            self._cached = key, drawing
        return self._cached[1]

    @property
    def pin_under_pointer(self) -> Point | None:
        """Position of the pin or free end under the pointer, or where arrow keys have moved it; None if there is
        none."""
        if self.chain or self.picks:
            return None
        if self.nudged is not None:
            return self.nudged
        return self.snap.point if self.snap is not None and self.snap.kind in ("pin", "tip") else None

    @property
    def pins_at_dead_point(self) -> tuple[str, ...]:
        """Names of pins at which two links of a loop are collinear, so that the loop is at a dead point."""
        drawing = self.drawing
        if self._dead is None or self._dead[0] is not drawing:
            looped = {name for loop in self.view.session.mech.loops for name in loop.joints}
            self._dead = drawing, pins_at_dead_centre(drawing, looped)
        return self._dead[1]

    @property
    def metres_per_pixel(self) -> float:
        """Size of a pixel at 100 %, in m."""
        ratio = self.view.widget.devicePixelRatioF()
        return metres_per_pixel(self.view.scene.view, self.view.scene.size, self.drawing.X_WD[:3, 3]) * ratio

    @property
    def first_bar_radius(self) -> float | None:
        """Radius of the first bar in m, from a size in pixels; None if there is a bar already."""
        return None if self.drawing.bars else float(f"{BAR * self.metres_per_pixel:.0e}")

    def plane_point_at(self, x: float, y: float) -> Point | None:
        """Return the point of the plane at a device pixel; None if the plane is seen edge-on."""
        ray, X = self.view.scene.ray(x, y), self.drawing.X_WD
        slope = float(ray.direction @ X[:3, 2])
        if abs(slope) < 1e-3:
            return None
        distance = float((X[:3, 3] - ray.origin) @ X[:3, 2]) / slope
        return self.drawing.plane_point(np.asarray(ray.at(distance)))

    def update_snap(self, pointer: PointerState) -> None:
        """Find the point to which the pointer position snaps."""
        point = self.plane_point_at(pointer.x, pointer.y)
        if point is None:
            self.aim = self.snap = None
            return
        last = self.chain[-1] if self.chain else None
        self.aim = SnapQuery(
            point,
            self.metres_per_pixel,
            last.point if last is not None else None,
            self.previous_angle,
            grid_step(self.metres_per_pixel) if self.grid else 0.0,
            loose=pointer.ctrl or not self.snapping,
            fresh=pointer.alt,
        )
        self.snap = find_snap(self.drawing, self.aim)
        if self._done_at is not None and math.dist(self._done_at, point) > STAYS * self.metres_per_pixel:
            self._done_at = self.nudged = None
        if self.snap.body not in ("", WORLD):
            self.hovered_body = self.snap.body
        if self.snap.kind == "pin" and not self.chain and self.other_branch_position(self.snap.name) is not None:
            self.dyad = self.snap.name

    def other_branch_position(self, pin_name: str) -> Point | None:
        """Return the position of a pin in the other branch of its two links; None if it does not join exactly two
        links."""
        pin = next((each for each in self.drawing.pins if each.name == pin_name), None)
        return flipped_pin_position(self.drawing, pin) if pin is not None else None

    @property
    def previous_angle(self) -> float | None:
        """Angle of the last link of the chain from the first axis of the plane, rad; None if there is no link."""
        body = self.chain[-1].body if self.chain else ""
        bar = self.drawing.bar(body)
        return math.atan2(bar.end[1] - bar.start[1], bar.end[0] - bar.start[0]) if bar is not None else None

    # ----------------------------------------------------------------------------- what is done

    def commit(
        self,
        label: str,
        edit: Callable[[Model], Model],
        *,
        adopt_present_pose: bool = False,
        select: ElementRef | None = None,
    ) -> bool:
        """Commit an edit as one undo step. adopt_present_pose : first make the present pose the reference
        configuration, as needed if loops close"""
        session = self.view.session
        try:
            made = edit(as_drawn(session.model, self._pose_coordinates()) if adopt_present_pose else session.model)
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
        return joint_values_at_pose(self.view.session.mech, np.asarray(self.view.session.q))

    def choose_sub_tool(self, sub_tool: DrawSubTool) -> None:
        """Choose another sub-tool; an open chain is left with a free end if the sub-tool cannot continue it."""
        if not sub_tool.goes_on:
            self.end_chain()
        self.picks = []
        self.field.close_field()
        self._switch_sub_tool(sub_tool)
        self.redraw()

    def _switch_sub_tool(self, sub_tool: DrawSubTool) -> None:
        """Switch the sub-tool together with the view: oblique for picking in space, otherwise along the normal of the
        plane."""
        before, self.sub, self._done_at = self.sub, sub_tool, None
        if before.in_plane and not sub_tool.in_plane:
            self.view.viewpoint.fly_to(
                self.view.viewpoint.fitted_view(camera.preset_view(self.view.viewpoint.target_view, "iso"))
            )
        elif sub_tool.in_plane and not before.in_plane:
            self.view.annotations.clear()
            self.look_along_normal(fit=True)

    def discard_element(self) -> bool:
        """Discard the element being drawn; returns False if there is none."""
        begun = bool(self.chain or self.picks or self.field.isVisible() or not self.sub.in_plane)
        self.chain, self.picks, self.typed = [], [], NOTHING
        self.field.close_field()
        if not self.sub.in_plane:
            self._switch_sub_tool(self._first)
        self.redraw()
        return begun

    def end_chain(self) -> bool:
        """End the chain with a free end; returns False if there is none."""
        hung = bool(self.chain)
        self.chain, self.typed = [], NOTHING
        self.field.close_field()
        self.redraw()
        return hung

    def remove_last_link(self) -> bool:
        """Remove the last link of the chain, or its start; returns False if there is none."""
        if not self.chain:
            return False
        if len(self.chain) == 1:
            return self.discard_element()
        self.view.session.undo()
        return True

    def _document_changed(self, old: DocumentState, new: DocumentState) -> None:
        """Remove chain links and clicked points that an edit or undo has deleted."""
        if self._document != self.view.session.document:
            self._reset_for_document()
        names = {body.name for body in new.model.expanded.bodies}
        while self.chain and self.chain[-1].body and self.chain[-1].body not in names:
            self.chain.pop()
        if self.chain and isinstance(self.chain[0].end, str) and not self._element_exists(self.chain[0].end):
            self.chain = []
        self.picks = [pick for pick in self.picks if not pick.name or self._element_exists(pick.name)]
        self.redraw()

    def _reset_for_document(self) -> None:
        """Reset the controller after another document was opened."""
        self._document, self.dyad, self.hovered_body, self.locked = self.view.session.document, "", "", set()
        self._before = None
        self.discard_element()
        if self.view.session.model.expanded.bodies:
            self.view.gestures.choose_tool("select")
        else:
            self.plane = XZ
            QTimer.singleShot(0, self.view.widget, self._choose_first_view)  # after the view's own fit

    def _choose_first_view(self) -> None:
        if self.on:
            self.look_along_normal(fit=True)

    def _element_exists(self, name: str) -> bool:
        model = self.view.session.model.expanded
        return name in model.placements or any(joint.name == name for joint in model.joints)

    def close(self) -> None:
        """Stop background work."""
        self.examiner.close()
        self._ahead.close()

    def _enlarge_fit_margin(self) -> None:
        """Enlarge the margin of the fitted view so that dimensions and the other branch are visible too."""
        scene, other = self.view.scene, self.other_branch_position(self.dyad) if self.dyad else None
        ratio = self.view.widget.devicePixelRatioF()
        least = min(scene.size) / ratio
        beside = () if other is None else (self.drawing.world_point(other),)
        scene.set_fit_margin(min(ROOM, least / max(1.0, least - 2.0 * BESIDE)), beside)

    def _precompile_next_machine(self) -> None:
        """Compile in the background the code of the machine after the next click, which does not depend on the position
        of the click."""
        edit, model = self.sub.probable_next_edit(self) if self.on else None, self.view.session.model
        key = model, self.chain[-1] if self.chain else None
        if edit is not None and self._prepared != key:
            self._prepared = key
            self._ahead.submit(lambda: precompile_machine(edit(model)), "next")

    def redraw(self, *_: object) -> None:
        """Redraw everything."""
        if not self.on:
            return
        self._enlarge_fit_margin()
        self.view.scene.dim_except(elements_visible_in_plane(self.drawing) if self.sub.in_plane else None)
        QTimer.singleShot(
            0, self.view.widget, self._precompile_next_machine
        )  # when all has taken note of what was done
        self.show_plane_grid()
        self.view.annotations.update()
        self.changed.emit()
        self.view.show_hint(self.sub.prompt(self))

    def show_plane_grid(self) -> None:
        """Show the grid of the plane over the visible area."""
        scene, drawing = self.view.scene, self.drawing
        view, size = scene.view, scene.size
        middle = drawing.plane_point(np.array(view.target))
        half = view.half_height * np.array([size[0] / size[1], 1.0]) * 1.05
        if not self._looks_along_normal(view):
            half = np.full(2, 2.0 * float(half.max()))
        step = grid_step(self.metres_per_pixel)
        low = np.floor((np.array(middle) - half) / step) * step
        high = np.ceil((np.array(middle) + half) / step) * step
        if not self.sub.in_plane:
            return
        if self.grid:
            scene.working_plane.show_grid(drawing.X_WD, low, high, step, scene.palette)
        else:
            scene.working_plane.hide_grid()
        self.view.update()

    # ----------------------------------------------------------------------------- freedoms

    @property
    def mobility(self) -> LinkageMobility | None:
        """Mobility of the machine; None while it is being computed."""
        model, plane = self.view.session.model, self.plane
        return (
            self.examiner.request_mobility(("now", model, plane), lambda: compute_linkage_mobility(model, plane))
            if model.bodies
            else None
        )

    def report_mobility_change(self) -> None:
        """Emit `changed` if the mobility after a click differs from the last one reported."""
        coming = self.mobility_after_click
        if coming != self._coming:
            self._coming = coming
            self.changed.emit()

    @property
    def mobility_after_click(self) -> LinkageMobility | None:
        """Mobility after a click that closes a loop; None if the click closes none, or while it is being computed."""
        edit = self.sub.loop_closing_edit(self) if self._done_at is None else None
        if edit is None:
            return None
        model, plane, standing = self.view.session.model, self.plane, self._pose_coordinates()
        snap, start = self.snap, self.chain[-1] if self.chain else None
        key = ("then", model, plane, snap.end if snap is not None and snap.is_on_element else "", start)

        def compute() -> LinkageMobility:
            try:
                return compute_linkage_mobility(
                    edit(as_drawn(model, standing)), plane
                )  # the code that the click will need
            except KinetostatError:
                return LinkageMobility(None)

        return self.examiner.request_mobility(key, compute)
