"""Planar linkages in layers, as a workshop builds them, so that links of one plane do not flicker through one another.

A machine is planar where all pins of its moving bodies are parallel, and nothing slides along them. Bodies whose links
share a plane perpendicular to the pins get different layers if they share a pin or overlap as drawn, at rest or in a
motion that is known (a greedy colouring); what slides in something, or meshes with it, keeps its layer. Links are forms
that reach from a pin to somewhere else: bosses and shafts around a pin, and what carries the machine, are none. The
offsets are for the eye alone: bodies, frames, forces and centres of mass stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.model import WORLD, Joint
from viz.drawlist import geometry as g
from viz.drawlist.item import Item, Span
from viz.drawlist.skeleton import Skeleton
from viz.placement import Array, Placement, along, matrix, numbers, placement, unit

COMPARABLE = 0.6
"""Forms less alike in width than this lie within one another, such as a rod in its piston."""
SHARED = 0.5
"""Share of the thinner form's width in common from which two forms share a plane."""
REACHING = 0.3
"""Distance of a pin from a form's middle, in its size, from which it is a link."""
CLEARANCE = 1.05
"""Distance of layers in widths of the links."""
PIN = 0.55
"""Width of a pin in widths of the thinnest link on it."""
BEYOND = 0.12
"""How far it stands out at each end, in the same."""
WITHIN = 0.6
"""Its radius at most, in radii of a boss or shaft that bodies have there themselves."""
PARALLEL = 1e-6
"""Sine of the angle (rad) up to which axes count as parallel."""
TOUCHING = 1e-6
"""Share of their size by which outlines may miss a point that they meet."""
SHORT = 1e-15
"""m²: edges with no area between them part nothing."""
MOST = 1200
"""Forms from which on a machine is left as it is: comparing all of them would take too long."""
MOTION_POSES = 90
"""Poses of a motion at which links are compared, at most."""
LAYERED = ("shape", "collision", "link", "joint")
"""Roles of items that are drawn in the layer of their body."""


class Form(NamedTuple):
    """A part of a body: a box, or what fills one.

    middle : (3,) m, world; edges : (3, 3) half edges as rows, m, world; meshes : whether teeth are on it
    """

    body: str
    middle: Array
    edges: Array
    meshes: bool


class Link(NamedTuple):
    """A form that reaches from a pin to somewhere else, and the pins on it."""

    form: Form
    pins: frozenset[str]


class Pin(NamedTuple):
    """A pin through the links on it, along the normal from the joint's origin in the layer of side a: m."""

    low: float
    high: float
    radius: float


class Layers:
    """The layer of each body and the pins through them.

    drawn : the items of bodies; apart : False leaves everything in its plane
    motion : (4, 4) world ← body, by name, for each pose of a motion in which no links shall meet; meeting : pairs of
    `parted` that were found for one
    """

    def __init__(
        self,
        skeleton: Skeleton,
        drawn: Sequence[Item],
        apart: bool = True,
        motion: Sequence[Mapping[str, Array]] = (),
        meeting: Set[frozenset[str]] = frozenset(),
    ) -> None:
        self.numbers: dict[str, int] = {}
        """Layers of the bodies of planar machines of which some share a plane; 0 is the plane itself."""
        self.offsets: dict[str, Array] = {}
        """(3,) m, in the axes of the body; only those that are not zero."""
        self.pins: dict[str, Pin] = {}
        self._heights: dict[str, float] = {}
        self._normals: dict[str, Array] = {}
        """(3,) in the world, of each hinge in a planar machine."""
        self.parted: set[frozenset[str]] = set()
        """Pairs of bodies (each for those of its layer) that lie side by side."""
        self._skeleton, self._apart, self._motion, self._meeting = skeleton, apart, motion, meeting
        self._rigid = _Groups((WORLD, *(body.name for body in skeleton.model.bodies)))
        for joint in skeleton.model.joints:
            if not joint.info.nv:
                self._rigid.join(*self._bodies(joint))
        forms: list[Form] | None = None
        for joints in self._machines():
            normal = _normal(skeleton, joints)
            if normal is not None:
                forms = list(_forms(skeleton, drawn)) if forms is None else forms
                self._arrange(normal, joints, forms)

    def _bodies(self, joint: Joint) -> tuple[str, str]:
        """The bodies (or the world) before and behind a joint."""
        return self._skeleton.side(joint, "a")[0], self._skeleton.side(joint, "b")[0]

    def _machines(self) -> list[list[Joint]]:
        """The joints of each machine: of moving bodies that hang together, not only by the ground."""
        moving = [joint for joint in self._skeleton.model.joints if joint.info.nv]
        sides = [tuple(map(self._rigid.of, self._bodies(joint))) for joint in moving]
        together, ground = self._rigid.copy(), self._rigid.of(WORLD)
        for first, second in sides:
            if ground not in (first, second):
                together.join(first, second)
        found: dict[str, list[Joint]] = {}
        for joint, (first, second) in zip(moving, sides, strict=True):
            found.setdefault(together.of(second if first == ground else first), []).append(joint)
        return list(found.values())

    def _arrange(self, normal: Array, joints: Sequence[Joint], forms: Sequence[Form]) -> None:
        """Give the bodies of one planar machine their layers."""
        skeleton, levels = self._skeleton, self._levels(joints, forms)
        moving = {self._rigid.of(body) for joint in joints for body in self._bodies(joint)}
        bodies = [body.name for body in skeleton.model.bodies if self._rigid.of(body.name) in moving]
        forms = [form for form in forms if self._rigid.of(form.body) in moving]
        if not 1 < len(forms) <= MOST:
            return
        links = list(_links(normal, forms, _pins(skeleton, joints)))
        groups = [levels.of(link.form.body) for link in links]
        flat = Flat(normal, links, groups)
        base = self._bodies(joints[0])[0]
        motion = [Flat(normal, self._moved(links, base, pose), groups) for pose in self._motion]
        apart = flat.to_part(motion, self._meeting)
        if not apart:
            return
        self.parted |= apart
        colours = coloured(dict.fromkeys(map(levels.of, (WORLD, *bodies))), apart)
        for body in bodies:
            self.numbers[body] = number = colours[levels.of(body)]
            if number and self._apart:
                self._heights[body] = height = number * CLEARANCE * flat.thickness
                self.offsets[body] = height * (skeleton.at_rest[body][:3, :3].T @ normal)
        parts: dict[str, list[Form]] = {}
        for form in forms:
            parts.setdefault(form.body, []).append(form)
        for joint in joints:
            if joint.info.is_hinge():
                self._normals[joint.name] = normal
                if (pin := self._pin(joint, normal, flat, parts)) is not None:
                    self.pins[joint.name] = pin

    def _moved(self, links: Iterable[Link], base: str, pose: Mapping[str, Array]) -> list[Link]:
        """Links as they are in a pose, seen from the body that carries the machine."""
        known = {WORLD: np.eye(4), **pose}
        rest = self._skeleton.at_rest
        back = rest[base] @ np.linalg.inv(known.get(base, rest[base]))
        found = []
        for link in links:
            form = link.form
            T = back @ known.get(form.body, rest[form.body]) @ np.linalg.inv(rest[form.body])
            moved = form._replace(middle=T[:3, :3] @ form.middle + T[:3, 3], edges=form.edges @ T[:3, :3].T)
            found.append(link._replace(form=moved))
        return found

    def _levels(self, joints: Iterable[Joint], forms: Iterable[Form]) -> _Groups:
        """Bodies that keep one layer: rigid together, sliding in one another, or meshing."""
        levels = self._rigid.copy()
        for joint in joints:
            if joint.info.is_slider():
                levels.join(*self._bodies(joint))
        wheels = {form.body for form in forms if form.meshes}
        for constraint in self._skeleton.model.constraints:
            coupled = [self._skeleton.joint(name) for name in constraint.joints]
            bodies = [self._bodies(joint)[1] for joint in coupled if joint is not None]
            if len(bodies) == 2 and wheels.issuperset(bodies):
                levels.join(*bodies)
        return levels

    def _pin(self, joint: Joint, normal: Array, flat: Flat, forms: Mapping[str, Sequence[Form]]) -> Pin | None:
        """The pin of a joint through the thinnest forms of both bodies that it meets."""
        first, _ = self._bodies(joint)
        origin = self._place(joint)[:3, 3]
        met = [(flat.at(place, body), self._heights.get(body, 0.0)) for body, place in self._ends(joint)]
        spans = [(low + height, high + height) for span, height in met if span is not None for low, high in [span]]
        if not spans:
            return None
        thin = min(high - low for low, high in spans)
        here = float(normal @ origin) + self._heights.get(first, 0.0)
        low, high = min(low for low, _ in spans) - here, max(high for _, high in spans) - here
        radius = min([PIN * thin / 2.0, *(WITHIN * radius for radius in self._bosses(joint, flat, forms))])
        return Pin(low - BEYOND * thin, high + BEYOND * thin, radius)

    def _bosses(self, joint: Joint, flat: Flat, forms: Mapping[str, Sequence[Form]]) -> Iterator[float]:
        """Radii of what the bodies of a joint have around its pin, m."""
        for body, place in self._ends(joint):
            for form in forms.get(body, ()):
                if flat.is_around(form, place):
                    yield flat.radius(form)

    def _ends(self, joint: Joint) -> list[tuple[str, Array]]:
        """The bodies of a joint, each with where its own side has the joint, (3,) m, as the machine rests: loops need
        not close there."""
        sides = (self._skeleton.side(joint, which) for which in "ab")
        return [(body, (self._skeleton.at_rest[body] @ pose)[:3, 3]) for body, pose in sides]

    def _place(self, joint: Joint) -> Array:
        """(4, 4) world ← the joint's frame in the body before it, as the machine rests."""
        body, pose = self._skeleton.side(joint, "a")
        return self._skeleton.at_rest[body] @ pose

    def reach(self, joint: Joint) -> float:
        """How far along a hinge's axis the layer of the body behind it lies from that of the body before it, m."""
        if joint.name not in self._normals:
            return 0.0
        axis = self._place(joint)[:3, :3] @ unit(numbers(joint.axis, self._skeleton.values))
        before, behind = (self._heights.get(body, 0.0) for body in self._bodies(joint))
        return float(np.sign(axis @ self._normals[joint.name])) * (behind - before)

    def pin_item(self, joint: Joint) -> Item | None:
        """The pin of a joint as it is drawn, in the body before it; None if links have none there."""
        pin = self.pins.get(joint.name)
        if pin is None:
            return None
        body, pose = self._skeleton.side(joint, "a")
        normal = self._skeleton.at_rest[body][:3, :3].T @ self._normals[joint.name]
        place = along(normal, pose[:3, 3] + (pin.low + pin.high) / 2.0 * normal)
        form = g.Cylinder(_round(pin.radius), _round(pin.high - pin.low), _round(0.15 * pin.radius))
        return Item(f"pin/{joint.name}", ("joints", joint.name), body, form, "joint", "joint", placement(place))

    def lifted(self, item: Item) -> Item:
        """The item as it is drawn in the layer of its body."""
        if item.role not in LAYERED:
            return item
        offset = self.offsets.get(item.frame)
        far = None if item.until is None else self.offsets.get(item.until.frame)
        if offset is not None:
            moved = _moved(item.placement, offset)
            x, y, z = offset.tolist()
            item = replace(item, placement=moved, layer=(x, y, z) if item.is_stiff else (0.0, 0.0, 0.0))
        if far is not None and isinstance(item.until, Span):
            item = replace(item, until=replace(item.until, placement=_moved(item.until.placement, far)))
        return item


class Flat:
    """Links seen along the normal of their plane: heights along it, and outlines in it."""

    def __init__(self, normal: Array, links: Sequence[Link], groups: Sequence[str]) -> None:
        self.links, self.groups = links, np.array(groups)
        self._basis = along(normal)[:3, :3]
        self._of: dict[str, list[int]] = {}
        for k, link in enumerate(links):
            self._of.setdefault(link.form.body, []).append(k)
        middles = np.array([link.form.middle for link in links]).reshape(-1, 3) @ self._basis
        edges = np.array([link.form.edges for link in links]).reshape(-1, 3, 3) @ self._basis
        self.centres, self.heights = middles[:, :2], middles[:, 2]
        self.sides, self.halves = edges[:, :, :2], np.abs(edges[:, :, 2]).sum(axis=1)
        self.thickness = 0.0
        """Of the thickest pair of links that are to be parted, m."""

    def to_part(self, motion: Iterable[Flat] = (), meeting: Set[frozenset[str]] = frozenset()) -> set[frozenset[str]]:
        """Pairs of groups that need different layers: links of theirs share a plane, and a pin or a place in it, here
        or in a pose of a motion, or are known to meet."""
        first, second = np.nonzero(np.triu(self._share_plane(), 1))
        found = set()
        overlap = self._overlap(first, second)
        for pose in motion:
            overlap |= pose._overlap(first, second)
        for i, j, meet in zip(first.tolist(), second.tolist(), overlap.tolist(), strict=True):
            pair = frozenset((str(self.groups[i]), str(self.groups[j])))
            if meet or pair in meeting or self.links[i].pins & self.links[j].pins:
                found.add(pair)
                self.thickness = max(self.thickness, float(self.halves[i] + self.halves[j]))
        return found

    def _share_plane(self) -> Array:
        """(n, n) whether two links of different groups, alike in width, have much of their widths in common."""
        w, z = self.halves, self.heights
        common = np.minimum.outer(z + w, z + w) - np.maximum.outer(z - w, z - w)
        thin, thick = np.minimum.outer(w, w), np.maximum.outer(w, w)
        meshes = np.array([link.form.meshes for link in self.links], dtype=bool)
        return np.asarray(
            (common > 2.0 * SHARED * thin)
            & (thin >= COMPARABLE * thick)
            & (self.groups[:, None] != self.groups[None, :])
            & ~np.logical_and.outer(meshes, meshes)
        )

    def _overlap(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        """(n,) whether the outlines of pairs of links (n,), (n,) overlap."""
        edges = (1.0 - TOUCHING) * np.concatenate((self.sides[first], self.sides[second]), axis=1)
        return ~_parted(self.centres[second] - self.centres[first], edges)

    def at(self, point: Array, body: str) -> tuple[float, float] | None:
        """Lowest and highest place along the normal of the thinnest link of a body at a point (3,), m."""
        met = [k for k in self._of.get(body, ()) if _covers(self.links[k].form, self._basis, point)]
        if not met:
            return None
        k = min(met, key=lambda k: float(self.halves[k]))
        return float(self.heights[k] - self.halves[k]), float(self.heights[k] + self.halves[k])

    def is_around(self, form: Form, point: Array) -> bool:
        """Whether the middle of a form is at a point (3,), seen along the normal."""
        away = float(np.linalg.norm(((point - form.middle) @ self._basis)[:2]))
        return away < TOUCHING * self.radius(form)

    def radius(self, form: Form) -> float:
        """Half the larger width of a form, seen along the normal, m."""
        return float(np.linalg.norm((form.edges @ self._basis)[:, :2], axis=1).max())


def motion_samples(count: int) -> NDArray[np.intp]:
    """Numbers of the poses, of so many of a motion, at which links are compared."""
    return np.unique(np.linspace(0, count - 1, min(count, MOTION_POSES)).round().astype(np.intp))


def _covers(form: Form, basis: Array, point: Array) -> bool:
    """Whether a point (3,) is on a form, seen along the third axis of a basis."""
    path, edges = ((point - form.middle) @ basis)[:2], (form.edges @ basis)[:, :2]
    return not _parted(path[None], (1.0 + TOUCHING) * edges[None])[0]


def _parted(paths: Array, edges: Array) -> NDArray[np.bool_]:
    """(n,) whether a line along an edge parts two point-symmetric figures whose middles are `paths` (n, 2) apart
    and whose half edges together are `edges` (n, m, 2)."""
    across = np.stack((-edges[:, :, 1], edges[:, :, 0]), axis=2)
    widths = np.abs(across @ edges.transpose(0, 2, 1)).sum(axis=2)
    gaps = np.abs((across @ paths[:, :, None])[:, :, 0])
    return np.asarray(((gaps > widths) & (widths > SHORT)).any(axis=1))


def coloured(nodes: Iterable[str], apart: set[frozenset[str]]) -> dict[str, int]:
    """Numbers of nodes in this order, each the smallest that none of those it is to be kept apart from has."""
    neighbours: dict[str, set[str]] = {}
    for pair in apart:
        for node in pair:
            neighbours.setdefault(node, set()).update(pair - {node})
    colours: dict[str, int] = {}
    for node in nodes:
        taken = {colours[other] for other in neighbours.get(node, ()) if other in colours}
        colours[node] = next(number for number in range(len(taken) + 1) if number not in taken)
    return colours


def _normal(skeleton: Skeleton, joints: Sequence[Joint]) -> Array | None:
    """(3,) the direction in the world of all pins of a machine, along which nothing slides; None if there is none."""
    axes = {joint.name: _axes(skeleton, joint) for joint in joints}
    hinge = next((joint for joint in joints if joint.info.is_hinge()), None)
    if hinge is None:
        return None
    normal = axes[hinge.name][0]
    for joint in joints:
        for axis in axes[joint.name]:
            if joint.info.is_hinge():
                fits = float(np.linalg.norm(axis - float(axis @ normal) * normal)) < PARALLEL
            else:
                fits = joint.info.is_slider() and abs(float(axis @ normal)) < PARALLEL
            if not fits:
                return None
    k = int(np.argmax(np.abs(normal)))
    return normal * np.sign(normal[k]) * (1.0, -1.0, 1.0)[k]  # towards who looks at it: from x, −y or z


def _axes(skeleton: Skeleton, joint: Joint) -> tuple[Array, Array]:
    """(3,), (3,) the joint's axis in the world as either side has it."""
    axis = unit(numbers(joint.axis, skeleton.values))
    sides = (skeleton.side(joint, which) for which in "ab")
    first, second = (skeleton.at_rest[body][:3, :3] @ pose[:3, :3] @ axis for body, pose in sides)
    return first, second


def _pins(skeleton: Skeleton, joints: Sequence[Joint]) -> dict[str, list[tuple[str, Array]]]:
    """The pins on each body and where they are, (3,) m, in the world as the machine rests; joints at one place of a
    body share their pin."""
    hinges = [joint for joint in joints if joint.info.is_hinge()]
    sides = {joint.name: [skeleton.side(joint, which) for which in "ab"] for joint in hinges}
    shared = _Groups(sides)
    first: dict[tuple[object, ...], str] = {}
    for name, ends in sides.items():
        for body, pose in ends:
            shared.join(first.setdefault((body, *np.round(pose[:3, 3], 9).tolist()), name), name)
    found: dict[str, list[tuple[str, Array]]] = {}
    for name, ends in sides.items():
        for body, pose in ends:
            found.setdefault(body, []).append((shared.of(name), (skeleton.at_rest[body] @ pose)[:3, 3]))
    return found


def _links(normal: Array, forms: Iterable[Form], pins: Mapping[str, Sequence[tuple[str, Array]]]) -> Iterator[Link]:
    """The forms that reach from a pin of their body to somewhere else."""
    basis = along(normal)[:3, :3]
    for form in forms:
        met = [(pin, place) for pin, place in pins.get(form.body, ()) if _covers(form, basis, place)]
        size = float(np.linalg.norm((form.edges @ basis)[:, :2]))
        away = (float(np.linalg.norm(((place - form.middle) @ basis)[:2])) for _, place in met)
        if any(distance > REACHING * size for distance in away):
            yield Link(form, frozenset(pin for pin, _ in met))


def _forms(skeleton: Skeleton, drawn: Iterable[Item]) -> Iterator[Form]:
    """The parts of bodies whose extent is known, in the world as the machine rests."""
    for item in drawn:
        if item.role not in ("shape", "link") or item.frame not in skeleton.at_rest:
            continue
        X_WB = skeleton.at_rest[item.frame]
        for form, place in _parts(item.geometry, X_WB @ matrix(item.placement)):
            half = _half_edges(form)
            if half is not None:
                edges = (place[:3, :3] * half).T
                yield Form(item.frame, place[:3, 3], edges, isinstance(form, g.Gearwheel))


def _parts(form: g.Geometry, place: Array) -> Iterator[tuple[g.Geometry, Array]]:
    if isinstance(form, g.Compound):
        for part in form.parts:
            yield from _parts(part.geometry, place @ matrix(part.placement))
    else:
        yield form, place


def _half_edges(form: g.Geometry) -> tuple[float, float, float] | None:
    """Half edges (m) of the box about a form that is centred; None of files and what reaches to one side."""
    match form:
        case g.Box(size=(x, y, z)):
            return x / 2.0, y / 2.0, z / 2.0
        case g.Sphere(radius=r):
            return r, r, r
        case g.Capsule(radius=r, length=length):
            return r, r, length / 2.0 + r
        case g.Cylinder(radius=r, length=length) | g.Cone(radius=r, length=length) | g.Tube(outer=r, length=length):
            return r, r, length / 2.0
        case g.Gearwheel(radius=r, width=width):
            return r, r, width / 2.0
    return None


def _moved(place: Placement, offset: Array) -> Placement:
    moved = list(place)
    for row, step in zip((3, 7, 11), offset.tolist(), strict=True):
        moved[row] = round(moved[row] + step, 12) + 0.0
    return tuple(moved)


def _round(length: float) -> float:
    return float(f"{length:.9g}")


class _Groups:
    """Names that belong together (union–find)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._up = {name: name for name in names}

    def of(self, name: str) -> str:
        """The name that stands for the group."""
        while self._up[name] != name:
            self._up[name] = name = self._up[self._up[name]]
        return name

    def join(self, first: str, second: str) -> None:
        """Make one group of two."""
        self._up[self.of(second)] = self.of(first)

    def copy(self) -> _Groups:
        """Groups that can be joined further."""
        made = _Groups(())
        made._up = dict(self._up)
        return made
