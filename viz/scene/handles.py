"""Joint handles: rings and arrows of constant size on the screen, in front of everything, yellow under the pointer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import pi
from typing import Literal

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper, vtkRenderer, vtkTextActor

from core.model import Joint
from viz.camera import Ray, View, metres_per_pixel, project
from viz.drawlist import geometry as g
from viz.drawlist.joint_handles import Grip, JointHandle
from viz.drawlist.joint_look import Part, Spot
from viz.drawlist.skeleton import Skeleton
from viz.look import Look
from viz.meshes.meshes import mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import Array, along
from viz.scene.figures import Poses
from viz.scene.labels import as_letters, write
from viz.scene.picking import Met, Target, nearest

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
"""Bounds of a part's coordinate, at which its stops are drawn."""
STOPS = {"elastic": 0.7, "hunt_crossley": 0.7, "rigid": 1.0, "off": 0.15}
"""Opacity of stops by kind: elastic ones are transparent, inactive ones hardly visible."""
WEDGE = 0.2
"""Width of a ring's stop, rad."""
DISC = 5.0
"""Thickness of an arrow's stop, pixels."""
_HELD = {
    "turn": g.Arc(RING, 8.0),
    "slide": g.Arrow(ARROW + 6.0, 8.0, 11.0, 28.0),
}
"""Forms for picking, thicker than the drawn ones. All sizes in pixels."""


class Handles:
    """Handles of the joints that are shown."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self.renderer = renderer
        self.look = look
        self.skeleton: Skeleton | None = None
        self.extra: tuple[Joint, ...] = ()
        """Joints that are not in the document: the free ones of bodies that nothing holds."""
        self.immovable: frozenset[Part] = frozenset()
        """Parts that are left out: nothing can move them."""
        self.hovered: Part | None = None
        self.dragged: Part | None = None
        self.state: State = "free"
        self._joints: dict[str, JointHandle] = {}
        self._actors: dict[Part, dict[str, vtkActor]] = {}
        self._spots: dict[Part, Spot] = {}
        self._scales: dict[Part, float] = {}
        self._text = vtkTextActor()
        self._text.SetVisibility(False)
        self._text.PickableOff()
        renderer.AddViewProp(self._text)

    # ------------------------------------------------------------------------------- which

    def use(self, skeleton: Skeleton) -> None:
        """Use the joints of another model (or of the same with other parameters); visible handles remain."""
        self.skeleton = skeleton
        self.show(*self._joints)

    def show(self, *joints: str) -> None:
        """Show the handles of these joints only; names that are not joints are ignored."""
        for actors in self._actors.values():
            for actor in actors.values():
                self.renderer.RemoveActor(actor)
        self._actors, self._spots, self._scales = {}, {}, {}
        self._joints = self._handles_of(*joints)
        for handle in self._joints.values():
            for part in handle.parts:
                if part not in self.immovable:
                    self._actors[part] = self._make(handle, part)
        if self.dragged is None or self.dragged.whole not in self._actors:
            self.dragged = None
            self.say("")
        if self.hovered is None or self.hovered.whole not in self._actors:
            self.hovered = None
        self.paint(self.look)

    def parts_of(self, *joints: str) -> tuple[Part, ...]:
        """Return all rings and arrows of joints, visible or not."""
        return tuple(part for handle in self._handles_of(*joints).values() for part in handle.parts)

    def _handles_of(self, *joints: str) -> dict[str, JointHandle]:
        """Return the handles of joints, by name."""
        if self.skeleton is None:
            return {}
        known = {joint.name: joint for joint in (*self.skeleton.model.joints, *self.extra)}
        return {name: JointHandle(self.skeleton, known[name]) for name in joints if name in known}

    @property
    def shown(self) -> tuple[str, ...]:
        """Return names of the joints with visible handles."""
        return tuple(self._joints)

    @property
    def parts(self) -> tuple[Part, ...]:
        """Return all visible rings and arrows."""
        return tuple(self._actors)

    def _make(self, handle: JointHandle, part: Part) -> dict[str, vtkActor]:
        actors = {"body": _actor(_DRAWN[part.kind])}
        if part.kind == "slide" and handle.joint.info.slides_along_axis:
            actors["back"] = _actor(_DRAWN["slide"])
        low, high = handle.limits[part]
        if part.kind == "turn" and part.coordinate is not None:
            start, end = (low, high) if low is not None and high is not None else (-pi, pi)
            if end - start < 2.0 * pi:
                actors["range"] = _actor(g.Sector(0.0, 0.9 * RING, float(start), float(end)))
                actors |= {bound: _actor(form) for bound, form in _wedges(low, high).items()}
            actors["hand"] = _actor(g.Box((0.94 * RING, 1.6, 1.6)))
        elif part.kind == "slide" and low is not None and high is not None:
            actors["range"] = _actor(g.Cylinder(1.0, 1.0, sides=12))
            actors["lower"] = _actor(g.Cylinder(1.0, 1.0, sides=24))
            actors["upper"] = _actor(g.Cylinder(1.0, 1.0, sides=24))
        for actor in actors.values():
            self.renderer.AddActor(actor)
        return actors

    # ------------------------------------------------------------------------------- looks

    def hover(self, part: Part | None) -> None:
        """Highlight the part under the pointer."""
        if part != self.hovered:
            self.hovered = part
            self.paint(self.look)

    def drag(self, part: Part | None, state: State = "free") -> None:
        """Mark a part as dragged (None: released); the state colours it when a limit, a loop or a dead centre blocks
        it."""
        if (part, state) != (self.dragged, self.state):
            self.dragged, self.state = part, state
            self.paint(self.look)
        if part is None:
            self.say("")

    def say(self, text: str) -> None:
        """Show a value next to the dragged or hovered part; "" hides it."""
        self._text.SetInput(as_letters(text.replace("\u202f", " ")))  # the letters of the scene lack the narrow gap
        self._text.SetVisibility(bool(text))

    def paint(self, look: Look) -> None:
        """Apply the colours of a look and of the states."""
        self.look = look
        for part, actors in self._actors.items():
            for name, actor in actors.items():
                surface = actor.GetProperty()
                surface.SetColor(*look.colour(self._colour(part, name)))
                quiet = self.dragged is not None and self.dragged.whole != part
                faint = {"range": 0.16 if part.kind == "turn" else 0.7}.get(name, 1.0)
                if name in BOUNDS:
                    faint = STOPS.get(self._joints[part.joint].stop(part), 1.0)
                surface.SetOpacity(faint * (0.35 if quiet else 1.0))

    def _colour(self, part: Part, name: str) -> str:
        if name in BOUNDS:
            held = self.dragged or self.hovered
            return "dragged" if held == replace(part, bound=name) else "limit"
        if part == self.dragged:
            return "dragged" if self.state == "free" else self.state
        if part == self.hovered and self.dragged is None:
            return "dragged"
        return self._joints[part.joint].colour(part)

    def set_limits(self, part: Part, low: float | None, high: float | None) -> None:
        """Show other limits of a part's coordinate, until handles are shown again."""
        part = part.whole
        handle = self._joints[part.joint]
        handle.limits[part] = low, high
        for actor in self._actors[part].values():
            self.renderer.RemoveActor(actor)
        self._actors[part] = self._make(handle, part)
        self.paint(self.look)

    def limits(self, part: Part) -> tuple[float | None, float | None]:
        """Return the displayed bounds of a part's coordinate."""
        return self._joints[part.joint].limits[part.whole]

    # ------------------------------------------------------------------------------- places

    def move(self, poses: Poses) -> None:
        """Move the handles with the bodies."""
        identity = np.eye(4)
        for handle in self._joints.values():
            frames = [np.asarray(poses.get(body, identity), dtype=float) @ pose for body, pose in handle.sides.values()]
            for part in handle.parts:
                if part in self._actors:
                    self._spots[part] = handle.spot(part, *frames)

    def fit(self, view: View, size: tuple[int, int], pixel_ratio: float) -> None:
        """Update size and position of every part and of the text on the screen."""
        for part, spot in self._spots.items():
            scale = metres_per_pixel(view, size, spot.centre) * pixel_ratio
            self._scales[part] = scale
            for name, pose in self._places(part, spot, scale):
                self._actors[part][name].SetUserMatrix(vtk_matrix(pose))
        held = self.dragged or self.hovered
        if held is not None and held.whole in self._spots and self._text.GetVisibility():
            x, y = project(view, size, self._spots[held.whole].centre)
            if np.isfinite([x, y]).all():
                aside = (RING + 14.0) * pixel_ratio
                room = (30.0 + 8.0 * len(self._text.GetInput())) * pixel_ratio
                x = min(max(x + 0.7 * aside, 4.0), size[0] - room)
                y = min(max(y - 0.8 * aside, 24.0 * pixel_ratio), size[1] - 8.0)
                self._text.SetPosition(x, size[1] - y)
            write(self._text.GetTextProperty(), self.look, self.look.colour("text"), round(15 * pixel_ratio))
            self._text.GetTextProperty().SetBackgroundOpacity(0.85)

    def _places(self, part: Part, spot: Spot, scale: float) -> Iterable[tuple[str, Array]]:
        """Yield (actor, pose) of all components of a part."""
        actors = self._actors[part]
        base = _frame(spot)
        yield "body", _scaled(base, scale)
        if "back" in actors:
            yield "back", _scaled(_frame(spot, -1.0), scale)
        if part.kind == "turn":
            for name in ("range", *BOUNDS):
                if name in actors:
                    yield name, _scaled(base, scale)
            if "hand" in actors and spot.value is not None:
                yield "hand", _scaled(base @ _turned(spot.value) @ _shift(0.47 * RING * scale), scale)
        elif "range" in actors:
            low, high = self._joints[part.joint].limits[part]
            assert low is not None
            assert high is not None
            width = 1.4 * scale
            middle, length = (low + high) / 2.0, max(high - low, 1e-9)
            yield "range", _bar(base, spot.zero + middle * spot.axis, width, length)
            for bound, sign, edge in (("lower", -1.0, low), ("upper", 1.0, high)):
                middle = edge + sign * 0.5 * DISC * scale  # a stop stands beyond the limit
                yield bound, _bar(base, spot.zero + middle * spot.axis, 7.0 * scale, DISC * scale)

    # ------------------------------------------------------------------------------- holding

    def spot(self, part: Part) -> Spot:
        """Return the present position of a part."""
        return self._spots[part.whole]

    def grip(self, part: Part) -> Grip:
        """Return the data for dragging a part (see `viz.drawlist.joint_handles.Drag`)."""
        spot = self._spots[part.whole]
        return Grip(part.kind, spot.centre, spot.axis, RING * self._scales.get(part.whole, 1.0))

    def _stops(self, part: Part, spot: Spot, scale: float) -> Iterable[Target]:
        """Yield the pick targets of the stops at a part's limits, slightly larger than drawn."""
        low, high = self._joints[part.joint].limits[part]
        if part.kind == "turn":
            wedges = _wedges(low, high, 0.04)
            for bound in BOUNDS:
                if bound in self._actors[part]:
                    yield Target(wedges[bound], _scaled(_frame(spot), scale), replace(part, bound=bound))
            return
        places = dict(self._places(part, spot, scale))
        for bound in BOUNDS:
            if bound in places:
                pose = places[bound] @ np.diag([1.3, 1.3, 2.0, 1.0])
                yield Target(g.Cylinder(1.0, 1.0, sides=24), pose, replace(part, bound=bound))

    def pick(self, ray: Ray) -> Met | None:
        """Return the part that a ray meets, a stop before its ring; its `meaning` is the `Part`. Needs a render (or
        `fit`) after the last change."""
        targets, stops = list[Target](), list[Target]()
        for part, spot in self._spots.items():
            if part in self._scales:
                scale = self._scales[part]
                targets.append(Target(_HELD[part.kind], _scaled(_frame(spot), scale), part))
                stops += self._stops(part, spot, scale)
                if "back" in self._actors[part]:
                    targets.append(Target(_HELD[part.kind], _scaled(_frame(spot, -1.0), scale), part))
        return nearest(ray, stops) or nearest(ray, targets)


def _wedges(low: float | None, high: float | None, more: float = 0.0) -> dict[str, g.Sector]:
    """Return the stops of a ring, beyond its limits; enlarged by `more`, of the radius and in rad, on all sides."""
    found: dict[str, g.Sector] = {}
    inner, outer = (0.74 - more) * RING, (1.12 + more) * RING
    if low is not None:
        found["lower"] = g.Sector(inner, outer, low - WEDGE - more, low + more)
    if high is not None:
        found["upper"] = g.Sector(inner, outer, high - more, high + WEDGE + more)
    return found


def _actor(form: g.Geometry) -> vtkActor:
    mapper = vtkPolyDataMapper()
    mapper.SetInputData(mesh(form))
    actor = vtkActor()
    actor.SetMapper(mapper)
    actor.PickableOff()
    surface = actor.GetProperty()
    surface.SetAmbient(0.55)
    surface.SetDiffuse(0.5)
    return actor


def _frame(spot: Spot, sign: float = 1.0) -> Array:
    """Return a pose (4, 4) with z along the axis and x along the zero direction."""
    result = along(sign * spot.axis, spot.centre)
    x = spot.reference - spot.axis * float(spot.axis @ spot.reference)
    if float(np.linalg.norm(x)) > 1e-9:
        result[:3, 0] = x / np.linalg.norm(x)
        result[:3, 1] = np.cross(result[:3, 2], result[:3, 0])
    return result


def _scaled(pose: Array, scale: float) -> Array:
    return pose @ np.diag([scale, scale, scale, 1.0])


def _turned(angle: float) -> Array:
    result = np.eye(4)
    c, s = np.cos(angle), np.sin(angle)
    result[:2, :2] = [[c, -s], [s, c]]
    return result


def _shift(x: float) -> Array:
    result = np.eye(4)
    result[0, 3] = x
    return result


def _bar(base: Array, centre: Array, radius: float, length: float) -> Array:
    """Return the pose that scales a unit cylinder along the axis of `base` to this radius and length."""
    result = base @ np.diag([radius, radius, length, 1.0])
    result[:3, 3] = centre
    return result
