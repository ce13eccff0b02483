"""Joint handles: rings and arrows of constant size on the screen, in front of everything else; yellow under the
pointer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import pi
from typing import Literal

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer, vtkTextActor

from core.model import Joint
from viz.camera import CameraView, Ray, metres_per_pixel, project
from viz.drawlist import geometry as g
from viz.drawlist.joint_handles import HandleGrip, JointHandle
from viz.drawlist.joint_look import HandlePart, PartPosition
from viz.drawlist.skeleton import Skeleton
from viz.look import ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import Array, frame_along
from viz.scene.figures import Poses
from viz.scene.labels import escape_label, format_text
from viz.scene.picking import PickTarget, RayHit, nearest_hit

State = Literal["free", "limit", "unreachable", "singular"]

RING = 64.0
"""Radius of a ring, pixels."""
ARROW = 92.0
"""Length of an arrow from the joint to its tip, pixels."""
_DRAWN = {
    "turn": g.Arc(RING, 2.3),
    "slide": g.Arrow(ARROW, 2.2, 7.5, 20.0),
}
BOUNDS: tuple[Literal["lower", "upper"], ...] = ("lower", "upper")
"""Bounds of the coordinate that a ring or arrow moves; its stops are drawn there."""
STOPS = {"elastic": 0.7, "hunt_crossley": 0.7, "rigid": 1.0, "off": 0.15}
"""Opacity of stops by kind: elastic stops are transparent, inactive ones hardly visible."""
WEDGE = 0.2
"""Width of the stop of a ring, rad."""
DISC = 5.0
"""Thickness of the stop of an arrow, pixels."""
_HELD = {
    "turn": g.Arc(RING, 8.0),
    "slide": g.Arrow(ARROW + 6.0, 8.0, 11.0, 28.0),
}
"""Forms used for picking, thicker than those drawn. All sizes are in pixels."""


class JointHandles:
    """Visible handles of the joints."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.renderer = renderer
        self.look = look
        self.skeleton: Skeleton | None = None
        self.extra: tuple[Joint, ...] = ()
        """Joints that are not in the document: the free ones of bodies that nothing holds."""
        self.immovable: frozenset[HandlePart] = frozenset()
        """Parts that are left out: nothing can move them."""
        self.hovered: HandlePart | None = None
        self.dragged: HandlePart | None = None
        self.state: State = "free"
        self._joints: dict[str, JointHandle] = {}
        self._actors: dict[HandlePart, dict[str, vtkActor]] = {}
        self._spots: dict[HandlePart, PartPosition] = {}
        self._scales: dict[HandlePart, float] = {}
        self._text = vtkTextActor()
        self._text.SetVisibility(False)
        self._text.PickableOff()
        renderer.AddViewProp(self._text)

    # ------------------------------------------------------------------------------- which

    def set_skeleton(self, skeleton: Skeleton) -> None:
        """Use the joints of another model (or of the same model with other parameters); visible handles stay
        visible."""
        self.skeleton = skeleton
        self.show_joints(*self._joints)

    def show_joints(self, *joints: str) -> None:
        """Show the handles of these joints only; names that are not joints are ignored."""
        for actors in self._actors.values():
            for actor in actors.values():
                self.renderer.RemoveActor(actor)
        self._actors, self._spots, self._scales = {}, {}, {}
        self._joints = self._find_handles(*joints)
        for handle in self._joints.values():
            for part in handle.parts:
                if part not in self.immovable:
                    self._actors[part] = self._create_actors(handle, part)
        if self.dragged is None or self.dragged.unlimited_part not in self._actors:
            self.dragged = None
            self.show_value("")
        if self.hovered is None or self.hovered.unlimited_part not in self._actors:
            self.hovered = None
        self.paint(self.look)

    def get_parts(self, *joints: str) -> tuple[HandlePart, ...]:
        """Return all rings and arrows of these joints, whether visible or not."""
        return tuple(part for handle in self._find_handles(*joints).values() for part in handle.parts)

    def _find_handles(self, *joints: str) -> dict[str, JointHandle]:
        """Return the handles of joints, by name."""
        if self.skeleton is None:
            return {}
        known = {joint.name: joint for joint in (*self.skeleton.model.joints, *self.extra)}
        return {name: JointHandle(self.skeleton, known[name]) for name in joints if name in known}

    @property
    def shown_joints(self) -> tuple[str, ...]:
        """Names of the joints whose handles are visible."""
        return tuple(self._joints)

    @property
    def visible_parts(self) -> tuple[HandlePart, ...]:
        """Return all visible rings and arrows."""
        return tuple(self._actors)

    def _create_actors(self, handle: JointHandle, part: HandlePart) -> dict[str, vtkActor]:
        actors = {"body": _create_actor(_DRAWN[part.kind])}
        if part.kind == "slide" and handle.joint.info.slides_along_axis:
            actors["back"] = _create_actor(_DRAWN["slide"])
        low, high = handle.limits[part]
        if part.kind == "turn" and part.coordinate is not None:
            start, end = (low, high) if low is not None and high is not None else (-pi, pi)
            if end - start < 2.0 * pi:
                actors["range"] = _create_actor(g.Sector(0.0, 0.9 * RING, float(start), float(end)))
                actors |= {bound: _create_actor(form) for bound, form in _stop_wedges(low, high).items()}
            actors["hand"] = _create_actor(g.Box((0.94 * RING, 1.6, 1.6)))
        elif part.kind == "slide" and low is not None and high is not None:
            actors["range"] = _create_actor(g.Cylinder(1.0, 1.0, sides=12))
            actors["lower"] = _create_actor(g.Cylinder(1.0, 1.0, sides=24))
            actors["upper"] = _create_actor(g.Cylinder(1.0, 1.0, sides=24))
        for actor in actors.values():
            self.renderer.AddActor(actor)
        return actors

    # ------------------------------------------------------------------------------- looks

    def hover(self, part: HandlePart | None) -> None:
        """Highlight the part under the pointer."""
        if part != self.hovered:
            self.hovered = part
            self.paint(self.look)

    def mark_dragged(self, part: HandlePart | None, state: State = "free") -> None:
        """Mark a ring or arrow as dragged (None: released). The state determines its colour: blocked by a limit, a loop
        or a dead centre, or free."""
        if (part, state) != (self.dragged, self.state):
            self.dragged, self.state = part, state
            self.paint(self.look)
        if part is None:
            self.show_value("")

    def show_value(self, text: str) -> None:
        """Show a value next to the dragged or hovered part; "" hides it."""
        self._text.SetInput(escape_label(text.replace("\u202f", " ")))  # the letters of the scene lack the narrow gap
        self._text.SetVisibility(bool(text))

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look and of the states."""
        self.look = look
        for part, actors in self._actors.items():
            for name, actor in actors.items():
                surface = actor.GetProperty()
                surface.SetColor(*look.resolve_colour(self._part_colour(part, name)))
                quiet = self.dragged is not None and self.dragged.unlimited_part != part
                faint = {"range": 0.16 if part.kind == "turn" else 0.7}.get(name, 1.0)
                if name in BOUNDS:
                    faint = STOPS.get(self._joints[part.joint].stop_kind(part), 1.0)
                surface.SetOpacity(faint * (0.35 if quiet else 1.0))

    def _part_colour(self, part: HandlePart, name: str) -> str:
        if name in BOUNDS:
            held = self.dragged or self.hovered
            return "dragged" if held == replace(part, bound=name) else "limit"
        if part == self.dragged:
            return "dragged" if self.state == "free" else self.state
        if part == self.hovered and self.dragged is None:
            return "dragged"
        return self._joints[part.joint].part_colour(part)

    def set_limits(self, part: HandlePart, low: float | None, high: float | None) -> None:
        """Show other limits of the coordinate that a ring or arrow moves, until handles are shown again."""
        part = part.unlimited_part
        handle = self._joints[part.joint]
        handle.limits[part] = low, high
        for actor in self._actors[part].values():
            self.renderer.RemoveActor(actor)
        self._actors[part] = self._create_actors(handle, part)
        self.paint(self.look)

    def get_limits(self, part: HandlePart) -> tuple[float | None, float | None]:
        """Return the displayed bounds of the coordinate that a ring or arrow moves."""
        return self._joints[part.joint].limits[part.unlimited_part]

    # ------------------------------------------------------------------------------- places

    def move(self, poses: Poses) -> None:
        """Move the handles with the bodies."""
        identity = np.eye(4)
        for handle in self._joints.values():
            frames = [np.asarray(poses.get(body, identity), dtype=float) @ pose for body, pose in handle.sides.values()]
            for part in handle.parts:
                if part in self._actors:
                    self._spots[part] = handle.part_position(part, *frames)

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float) -> None:
        """Update the size and position of all rings, arrows and the text for the current view."""
        for part, spot in self._spots.items():
            scale = metres_per_pixel(view, size, spot.centre) * pixel_ratio
            self._scales[part] = scale
            for name, pose in self._component_poses(part, spot, scale):
                self._actors[part][name].SetUserMatrix(vtk_matrix(pose))
        held = self.dragged or self.hovered
        if held is not None and held.unlimited_part in self._spots and self._text.GetVisibility():
            x, y = project(view, size, self._spots[held.unlimited_part].centre)
            if np.isfinite([x, y]).all():
                aside = (RING + 14.0) * pixel_ratio
                room = (30.0 + 8.0 * len(self._text.GetInput())) * pixel_ratio
                x = min(max(x + 0.7 * aside, 4.0), size[0] - room)
                y = min(max(y - 0.8 * aside, 24.0 * pixel_ratio), size[1] - 8.0)
                self._text.SetPosition(x, size[1] - y)
            format_text(
                self._text.GetTextProperty(), self.look, self.look.resolve_colour("text"), round(15 * pixel_ratio)
            )
            self._text.GetTextProperty().SetBackgroundOpacity(0.85)

    def _component_poses(self, part: HandlePart, spot: PartPosition, scale: float) -> Iterable[tuple[str, Array]]:
        """Yield (name of the actor, pose) for all components of a ring or arrow."""
        actors = self._actors[part]
        base = _axis_frame(spot)
        yield "body", _scaled(base, scale)
        if "back" in actors:
            yield "back", _scaled(_axis_frame(spot, -1.0), scale)
        if part.kind == "turn":
            for name in ("range", *BOUNDS):
                if name in actors:
                    yield name, _scaled(base, scale)
            if "hand" in actors and spot.value is not None:
                yield (
                    "hand",
                    _scaled(base @ _rotation_about_z(spot.value) @ _translation_along_x(0.47 * RING * scale), scale),
                )
        elif "range" in actors:
            low, high = self._joints[part.joint].limits[part]
            assert low is not None
            assert high is not None
            width = 1.4 * scale
            middle, length = (low + high) / 2.0, max(high - low, 1e-9)
            yield "range", _bar_pose(base, spot.zero + middle * spot.axis, width, length)
            for bound, sign, edge in (("lower", -1.0, low), ("upper", 1.0, high)):
                middle = edge + sign * 0.5 * DISC * scale  # a stop stands beyond the limit
                yield bound, _bar_pose(base, spot.zero + middle * spot.axis, 7.0 * scale, DISC * scale)

    # ------------------------------------------------------------------------------- holding

    def part_position(self, part: HandlePart) -> PartPosition:
        """Return the current position of a ring or arrow."""
        return self._spots[part.unlimited_part]

    def create_grip(self, part: HandlePart) -> HandleGrip:
        """Return the data for dragging a ring or arrow (see `viz.drawlist.joint_handles.HandleDrag`)."""
        spot = self._spots[part.unlimited_part]
        return HandleGrip(part.kind, spot.centre, spot.axis, RING * self._scales.get(part.unlimited_part, 1.0))

    def _stop_targets(self, part: HandlePart, spot: PartPosition, scale: float) -> Iterable[PickTarget]:
        """Yield the pick targets of the stops of a ring or arrow, slightly larger than the stops drawn."""
        low, high = self._joints[part.joint].limits[part]
        if part.kind == "turn":
            wedges = _stop_wedges(low, high, 0.04)
            for bound in BOUNDS:
                if bound in self._actors[part]:
                    yield PickTarget(wedges[bound], _scaled(_axis_frame(spot), scale), replace(part, bound=bound))
            return
        places = dict(self._component_poses(part, spot, scale))
        for bound in BOUNDS:
            if bound in places:
                pose = places[bound] @ np.diag([1.3, 1.3, 2.0, 1.0])
                yield PickTarget(g.Cylinder(1.0, 1.0, sides=24), pose, replace(part, bound=bound))

    def pick(self, ray: Ray) -> RayHit | None:
        """Return the ring or arrow that a ray meets; stops are picked before their ring. `meaning` is the `HandlePart`.
        After a change, render (or call `fit`) before picking."""
        targets, stops = list[PickTarget](), list[PickTarget]()
        for part, spot in self._spots.items():
            if part in self._scales:
                scale = self._scales[part]
                targets.append(PickTarget(_HELD[part.kind], _scaled(_axis_frame(spot), scale), part))
                stops += self._stop_targets(part, spot, scale)
                if "back" in self._actors[part]:
                    targets.append(PickTarget(_HELD[part.kind], _scaled(_axis_frame(spot, -1.0), scale), part))
        return nearest_hit(ray, stops) or nearest_hit(ray, targets)


def _stop_wedges(low: float | None, high: float | None, margin: float = 0.0) -> dict[str, g.Sector]:
    """Return the stops of a ring, beyond its limits, enlarged by `margin` on all sides (relative to the radius, and in
    rad)."""
    found: dict[str, g.Sector] = {}
    inner, outer = (0.74 - margin) * RING, (1.12 + margin) * RING
    if low is not None:
        found["lower"] = g.Sector(inner, outer, low - WEDGE - margin, low + margin)
    if high is not None:
        found["upper"] = g.Sector(inner, outer, high - margin, high + WEDGE + margin)
    return found


def _create_actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(get_mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.PickableOff()
    surface = actor.GetProperty()
    surface.SetAmbient(0.55)
    surface.SetDiffuse(0.5)
    return actor


def _axis_frame(spot: PartPosition, sign: float = 1.0) -> Array:
    """Return a pose (4, 4) with z along the axis and x along the direction of zero."""
    result = frame_along(sign * spot.axis, spot.centre)
    x = spot.reference - spot.axis * float(spot.axis @ spot.reference)
    if float(np.linalg.norm(x)) > 1e-9:
        result[:3, 0] = x / np.linalg.norm(x)
        result[:3, 1] = np.cross(result[:3, 2], result[:3, 0])
    return result


def _scaled(pose: Array, scale: float) -> Array:
    return pose @ np.diag([scale, scale, scale, 1.0])


def _rotation_about_z(angle: float) -> Array:
    result = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    result[:2, :2] = [[c, -s], [s, c]]
    return result


def _translation_along_x(x: float) -> Array:
    result = np.eye(4)
    result[0, 3] = x
    return result


def _bar_pose(base: Array, centre: Array, radius: float, length: float) -> Array:
    """Return the pose that scales a unit cylinder along the axis of `base` to this radius and length."""
    result = base @ np.diag([radius, radius, length, 1.0])
    result[:3, 3] = centre
    return result
