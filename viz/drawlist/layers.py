"""Planar linkages are drawn in parallel layers, as they would be built in a workshop, so that coplanar links do not
intersect.

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
from viz.placement import Array, Placement, evaluate_vector, frame_along, to_matrix, to_placement, unit_vector

COMPARABLE = 0.6
"""Ratio of widths below which one form is considered to lie inside the other, such as a rod in its piston."""
SHARED = 0.5
"""Overlap of two forms along the normal, relative to the thinner one, above which they count as being in the same
plane."""
REACHING = 0.3
"""Distance of a pin from the centre of a form, relative to the size of the form, above which the form counts as a link.
"""
CLEARANCE = 1.05
"""Distance between layers, in widths of the links."""
PIN = 0.55
"""Width of a pin, in widths of its thinnest link."""
BEYOND = 0.12
"""Protrusion of a pin at each end, in widths of its thinnest link."""
WITHIN = 0.6
"""Largest radius of a pin, relative to a boss or shaft that the bodies have at its position."""
PARALLEL = 1e-6
"""Sine of the largest angle between axes that count as parallel."""
TOUCHING = 1e-6
"""Tolerance of touching outlines, relative to their size."""
SHORT = 1e-15
"""Edge product, m², below which an edge cannot separate two outlines."""
MOST = 1200
"""Number of forms above which a machine is drawn without layers, because comparing all forms would take too long."""
MOTION_POSES = 90
"""Largest number of poses of a motion at which links are checked for overlap."""
LAYERED = ("shape", "collision", "link", "joint")
"""Roles of items that are drawn in the layer of their body."""


class BodyForm(NamedTuple):
    """Part of a body: a box, or the bounding box of another form.

    middle : (3,) m, world; edges : (3, 3) half edges as rows, m, world; meshes : whether teeth are on it
    """

    body: str
    middle: Array
    edges: Array
    meshes: bool


class PinnedLink(NamedTuple):
    """Form that extends from a pin to another point, and the pins on it."""

    form: BodyForm
    pins: frozenset[str]


class LayeredPin(NamedTuple):
    """Pin through links along the normal; its ends are measured in m from the joint's origin in the layer of side a."""

    low: float
    high: float
    radius: float


class LinkLayers:
    """Layers of the bodies, and the pins that go through them.

    drawn : items of the bodies; apart : False to leave every link in its own plane
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
        self.pins: dict[str, LayeredPin] = {}
        self._heights: dict[str, float] = {}
        self._normals: dict[str, Array] = {}
        """(3,) in the world, of each hinge in a planar machine."""
        self.parted: set[frozenset[str]] = set()
        """Pairs of bodies (each for those of its layer) that lie side by side."""
        self._skeleton, self._apart, self._motion, self._meeting = skeleton, apart, motion, meeting
        self._rigid = _DisjointSets((WORLD, *(body.name for body in skeleton.model.bodies)))
        for joint in skeleton.model.joints:
            if not joint.info.nv:
                self._rigid.merge(*self._joint_bodies(joint))
        forms: list[BodyForm] | None = None
        for joints in self._group_by_machine():
            normal = _common_normal(skeleton, joints)
            if normal is not None:
                forms = list(_body_forms(skeleton, drawn)) if forms is None else forms
                self._assign_layers(normal, joints, forms)

    def _joint_bodies(self, joint: Joint) -> tuple[str, str]:
        """Return the parent and child bodies (or the world) of a joint."""
        return self._skeleton.joint_frame(joint, "a")[0], self._skeleton.joint_frame(joint, "b")[0]

    def _group_by_machine(self) -> list[list[Joint]]:
        """Return the joints of each machine, i.e. of each group of moving bodies that are connected other than through
        the ground."""
        moving = [joint for joint in self._skeleton.model.joints if joint.info.nv]
        sides = [tuple(map(self._rigid.representative, self._joint_bodies(joint))) for joint in moving]
        together, ground = self._rigid.copy(), self._rigid.representative(WORLD)
        for first, second in sides:
            if ground not in (first, second):
                together.merge(first, second)
        found: dict[str, list[Joint]] = {}
        for joint, (first, second) in zip(moving, sides, strict=True):
            found.setdefault(together.representative(second if first == ground else first), []).append(joint)
        return list(found.values())

    def _assign_layers(self, normal: Array, joints: Sequence[Joint], forms: Sequence[BodyForm]) -> None:
        """Assign layers to the bodies of one planar machine."""
        skeleton, levels = self._skeleton, self._group_by_layer(joints, forms)
        moving = {self._rigid.representative(body) for joint in joints for body in self._joint_bodies(joint)}
        bodies = [body.name for body in skeleton.model.bodies if self._rigid.representative(body.name) in moving]
        forms = [form for form in forms if self._rigid.representative(form.body) in moving]
        if not 1 < len(forms) <= MOST:
            return
        links = list(_find_links(normal, forms, _find_pins(skeleton, joints)))
        groups = [levels.representative(link.form.body) for link in links]
        flat = ProjectedLinks(normal, links, groups)
        base = self._joint_bodies(joints[0])[0]
        motion = [ProjectedLinks(normal, self._links_at_pose(links, base, pose), groups) for pose in self._motion]
        apart = flat.find_conflicting_groups(motion, self._meeting)
        if not apart:
            return
        self.parted |= apart
        colours = colour_graph(dict.fromkeys(map(levels.representative, (WORLD, *bodies))), apart)
        for body in bodies:
            self.numbers[body] = number = colours[levels.representative(body)]
            if number and self._apart:
                self._heights[body] = height = number * CLEARANCE * flat.thickness
                self.offsets[body] = height * (skeleton.reference_poses[body][:3, :3].T @ normal)
        parts: dict[str, list[BodyForm]] = {}
        for form in forms:
            parts.setdefault(form.body, []).append(form)
        for joint in joints:
            if joint.info.is_hinge():
                self._normals[joint.name] = normal
                if (pin := self._find_pin(joint, normal, flat, parts)) is not None:
                    self.pins[joint.name] = pin

    def _links_at_pose(self, links: Iterable[PinnedLink], base: str, pose: Mapping[str, Array]) -> list[PinnedLink]:
        """Return links at a pose of a motion, relative to the body that carries the machine."""
        known = {WORLD: np.eye(4), **pose}
        rest = self._skeleton.reference_poses
        back = rest[base] @ np.linalg.inv(known.get(base, rest[base]))
        found = []
        for link in links:
            form = link.form
            T = back @ known.get(form.body, rest[form.body]) @ np.linalg.inv(rest[form.body])
            moved = form._replace(middle=T[:3, :3] @ form.middle + T[:3, 3], edges=form.edges @ T[:3, :3].T)
            found.append(link._replace(form=moved))
        return found

    def _group_by_layer(self, joints: Iterable[Joint], forms: Iterable[BodyForm]) -> _DisjointSets:
        """Group the bodies that share a layer: rigidly connected, sliding in one another, or with meshing
        gearwheels."""
        levels = self._rigid.copy()
        for joint in joints:
            if joint.info.is_slider():
                levels.merge(*self._joint_bodies(joint))
        wheels = {form.body for form in forms if form.meshes}
        for constraint in self._skeleton.model.constraints:
            coupled = [self._skeleton.find_joint(name) for name in constraint.joints]
            bodies = [self._joint_bodies(joint)[1] for joint in coupled if joint is not None]
            if len(bodies) == 2 and wheels.issuperset(bodies):
                levels.merge(*bodies)
        return levels

    def _find_pin(
        self, joint: Joint, normal: Array, flat: ProjectedLinks, forms: Mapping[str, Sequence[BodyForm]]
    ) -> LayeredPin | None:
        """Return the pin of a joint, which goes through the thinnest forms of both bodies."""
        first, _ = self._joint_bodies(joint)
        origin = self._joint_pose(joint)[:3, 3]
        met = [
            (flat.height_range_at(place, body), self._heights.get(body, 0.0)) for body, place in self._joint_ends(joint)
        ]
        spans = [(low + height, high + height) for span, height in met if span is not None for low, high in [span]]
        if not spans:
            return None
        thin = min(high - low for low, high in spans)
        here = float(normal @ origin) + self._heights.get(first, 0.0)
        low, high = min(low for low, _ in spans) - here, max(high for _, high in spans) - here
        radius = min([PIN * thin / 2.0, *(WITHIN * radius for radius in self._boss_radii(joint, flat, forms))])
        return LayeredPin(low - BEYOND * thin, high + BEYOND * thin, radius)

    def _boss_radii(
        self, joint: Joint, flat: ProjectedLinks, forms: Mapping[str, Sequence[BodyForm]]
    ) -> Iterator[float]:
        """Yield the radii (m) of shapes of the bodies around the pin of a joint."""
        for body, place in self._joint_ends(joint):
            for form in forms.get(body, ()):
                if flat.is_centred_on(form, place):
                    yield flat.half_width(form)

    def _joint_ends(self, joint: Joint) -> list[tuple[str, Array]]:
        """Return the two bodies of a joint, each with the position (3,), in m, of the joint as seen from that body, in
        the reference configuration, where loops need not close."""
        sides = (self._skeleton.joint_frame(joint, which) for which in "ab")
        return [(body, (self._skeleton.reference_poses[body] @ pose)[:3, 3]) for body, pose in sides]

    def _joint_pose(self, joint: Joint) -> Array:
        """Return the pose (4, 4) of the joint's frame on its parent body, in the world, in the reference
        configuration."""
        body, pose = self._skeleton.joint_frame(joint, "a")
        return self._skeleton.reference_poses[body] @ pose

    def layer_offset(self, joint: Joint) -> float:
        """Return the offset along the axis of a revolute joint from the layer of the parent body to that of the child
        body, m."""
        if joint.name not in self._normals:
            return 0.0
        axis = self._joint_pose(joint)[:3, :3] @ unit_vector(evaluate_vector(joint.axis, self._skeleton.values))
        before, behind = (self._heights.get(body, 0.0) for body in self._joint_bodies(joint))
        return float(np.sign(axis @ self._normals[joint.name])) * (behind - before)

    def pin_item(self, joint: Joint) -> Item | None:
        """Return the item that draws the pin of a joint, in the parent body; None if no links meet there."""
        pin = self.pins.get(joint.name)
        if pin is None:
            return None
        body, pose = self._skeleton.joint_frame(joint, "a")
        normal = self._skeleton.reference_poses[body][:3, :3].T @ self._normals[joint.name]
        place = frame_along(normal, pose[:3, 3] + (pin.low + pin.high) / 2.0 * normal)
        form = g.Cylinder(
            _round_length(pin.radius), _round_length(pin.high - pin.low), _round_length(0.15 * pin.radius)
        )
        return Item(f"pin/{joint.name}", ("joints", joint.name), body, form, "joint", "joint", to_placement(place))

    def shift_to_layer(self, item: Item) -> Item:
        """Return the item shifted to the layer of its body."""
        if item.role not in LAYERED:
            return item
        offset = self.offsets.get(item.frame)
        far = None if item.until is None else self.offsets.get(item.until.frame)
        if offset is not None:
            moved = _translated(item.placement, offset)
            x, y, z = offset.tolist()
            item = replace(item, placement=moved, layer=(x, y, z) if item.moves_rigidly else (0.0, 0.0, 0.0))
        if far is not None and isinstance(item.until, Span):
            item = replace(item, until=replace(item.until, placement=_translated(item.until.placement, far)))
        return item


class ProjectedLinks:
    """Links projected along the normal of their plane: their height ranges along the normal, and their outlines in the
    plane."""

    def __init__(self, normal: Array, links: Sequence[PinnedLink], groups: Sequence[str]) -> None:
        self.links, self.groups = links, np.array(groups)
        self._basis = frame_along(normal)[:3, :3]
        self._of: dict[str, list[int]] = {}
        for k, link in enumerate(links):
            self._of.setdefault(link.form.body, []).append(k)
        middles = np.array([link.form.middle for link in links]).reshape(-1, 3) @ self._basis
        edges = np.array([link.form.edges for link in links]).reshape(-1, 3, 3) @ self._basis
        self.centres, self.heights = middles[:, :2], middles[:, 2]
        self.sides, self.halves = edges[:, :, :2], np.abs(edges[:, :, 2]).sum(axis=1)
        self.thickness = 0.0
        """Of the thickest pair of links that are to be parted, m."""

    def find_conflicting_groups(
        self, motion: Iterable[ProjectedLinks] = (), overlapping: Set[frozenset[str]] = frozenset()
    ) -> set[frozenset[str]]:
        """Return pairs of groups that must be in different layers because their links, in the same plane, share a pin
        or overlap, here or at a pose of a motion, or are known to overlap."""
        first, second = np.nonzero(np.triu(self._share_plane(), 1))
        found = set()
        overlap = self._outlines_overlap(first, second)
        for pose in motion:
            overlap |= pose._outlines_overlap(first, second)
        for i, j, meet in zip(first.tolist(), second.tolist(), overlap.tolist(), strict=True):
            pair = frozenset((str(self.groups[i]), str(self.groups[j])))
            if meet or pair in overlapping or self.links[i].pins & self.links[j].pins:
                found.add(pair)
                self.thickness = max(self.thickness, float(self.halves[i] + self.halves[j]))
        return found

    def _share_plane(self) -> Array:
        """Return a mask (n, n) of pairs of links that belong to different groups, are comparable in width, and overlap
        along the normal."""
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

    def _outlines_overlap(self, first: NDArray[np.intp], second: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return a mask (n,) of the pairs of links whose outlines overlap."""
        edges = (1.0 - TOUCHING) * np.concatenate((self.sides[first], self.sides[second]), axis=1)
        return ~_are_separated(self.centres[second] - self.centres[first], edges)

    def height_range_at(self, point: Array, body: str) -> tuple[float, float] | None:
        """Return the lowest and highest position along the normal of a body's thinnest link at a point (3,), in m; None
        if there is no link."""
        met = [k for k in self._of.get(body, ()) if _covers(self.links[k].form, self._basis, point)]
        if not met:
            return None
        k = min(met, key=lambda k: float(self.halves[k]))
        return float(self.heights[k] - self.halves[k]), float(self.heights[k] + self.halves[k])

    def is_centred_on(self, form: BodyForm, point: Array) -> bool:
        """Return True if a form's centre coincides with a point (3,), seen along the normal."""
        away = float(np.linalg.norm(((point - form.middle) @ self._basis)[:2]))
        return away < TOUCHING * self.half_width(form)

    def half_width(self, form: BodyForm) -> float:
        """Return half of the larger width of a form, seen along the normal, m."""
        return float(np.linalg.norm((form.edges @ self._basis)[:, :2], axis=1).max())


def choose_motion_samples(count: int) -> NDArray[np.intp]:
    """Return the indices of the poses of a motion at which links are checked for overlap."""
    return np.unique(np.linspace(0, count - 1, min(count, MOTION_POSES)).round().astype(np.intp))


def _covers(form: BodyForm, basis: Array, point: Array) -> bool:
    """Return True if a form covers a point (3,), seen along the third axis of a basis."""
    path, edges = ((point - form.middle) @ basis)[:2], (form.edges @ basis)[:, :2]
    return not _are_separated(path[None], (1.0 + TOUCHING) * edges[None])[0]


def _are_separated(offsets: Array, half_edges: Array) -> NDArray[np.bool_]:
    """Return a mask (n,) of pairs of point-symmetric outlines that are separated by a line along an edge; the centres
    are `offsets` (n, 2) apart, and the half edges of both outlines are `half_edges` (n, m, 2)."""
    across = np.stack((-half_edges[:, :, 1], half_edges[:, :, 0]), axis=2)
    widths = np.abs(across @ half_edges.transpose(0, 2, 1)).sum(axis=2)
    gaps = np.abs((across @ offsets[:, :, None])[:, :, 0])
    return np.asarray(((gaps > widths) & (widths > SHORT)).any(axis=1))


def colour_graph(nodes: Iterable[str], edges: set[frozenset[str]]) -> dict[str, int]:
    """Colour a graph greedily: number the nodes in the given order, each with the smallest number that no neighbour
    has."""
    neighbours: dict[str, set[str]] = {}
    for pair in edges:
        for node in pair:
            neighbours.setdefault(node, set()).update(pair - {node})
    colours: dict[str, int] = {}
    for node in nodes:
        taken = {colours[other] for other in neighbours.get(node, ()) if other in colours}
        colours[node] = next(number for number in range(len(taken) + 1) if number not in taken)
    return colours


def _common_normal(skeleton: Skeleton, joints: Sequence[Joint]) -> Array | None:
    """Return the common direction (3,), in the world, of all pins of a machine; None if there is none, or if bodies
    slide along it."""
    axes = {joint.name: _joint_axes(skeleton, joint) for joint in joints}
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


def _joint_axes(skeleton: Skeleton, joint: Joint) -> tuple[Array, Array]:
    """Return the axis (3,) of a joint in the world, once as fixed to the parent and once as fixed to the child."""
    axis = unit_vector(evaluate_vector(joint.axis, skeleton.values))
    sides = (skeleton.joint_frame(joint, which) for which in "ab")
    first, second = (skeleton.reference_poses[body][:3, :3] @ pose[:3, :3] @ axis for body, pose in sides)
    return first, second


def _find_pins(skeleton: Skeleton, joints: Sequence[Joint]) -> dict[str, list[tuple[str, Array]]]:
    """Return the pins on each body with their positions (3,), in m, in the world in the reference configuration.
    Coincident joints of a body share a pin."""
    hinges = [joint for joint in joints if joint.info.is_hinge()]
    sides = {joint.name: [skeleton.joint_frame(joint, which) for which in "ab"] for joint in hinges}
    shared = _DisjointSets(sides)
    first: dict[tuple[object, ...], str] = {}
    for name, ends in sides.items():
        for body, pose in ends:
            shared.merge(first.setdefault((body, *np.round(pose[:3, 3], 9).tolist()), name), name)
    found: dict[str, list[tuple[str, Array]]] = {}
    for name, ends in sides.items():
        for body, pose in ends:
            found.setdefault(body, []).append(
                (shared.representative(name), (skeleton.reference_poses[body] @ pose)[:3, 3])
            )
    return found


def _find_links(
    normal: Array, forms: Iterable[BodyForm], pins: Mapping[str, Sequence[tuple[str, Array]]]
) -> Iterator[PinnedLink]:
    """Yield the forms that extend from a pin of their body to another point."""
    basis = frame_along(normal)[:3, :3]
    for form in forms:
        met = [(pin, place) for pin, place in pins.get(form.body, ()) if _covers(form, basis, place)]
        size = float(np.linalg.norm((form.edges @ basis)[:, :2]))
        away = (float(np.linalg.norm(((place - form.middle) @ basis)[:2])) for _, place in met)
        if any(distance > REACHING * size for distance in away):
            yield PinnedLink(form, frozenset(pin for pin, _ in met))


def _body_forms(skeleton: Skeleton, drawn: Iterable[Item]) -> Iterator[BodyForm]:
    """Yield the parts of bodies whose extent is known, in the world in the reference configuration."""
    for item in drawn:
        if item.role not in ("shape", "link") or item.frame not in skeleton.reference_poses:
            continue
        X_WB = skeleton.reference_poses[item.frame]
        for form, place in _placed_parts(item.geometry, X_WB @ to_matrix(item.placement)):
            half = _half_edges(form)
            if half is not None:
                edges = (place[:3, :3] * half).T
                yield BodyForm(item.frame, place[:3, 3], edges, isinstance(form, g.Gearwheel))


def _placed_parts(form: g.Geometry, pose: Array) -> Iterator[tuple[g.Geometry, Array]]:
    if isinstance(form, g.Compound):
        for part in form.parts:
            yield from _placed_parts(part.geometry, pose @ to_matrix(part.placement))
    else:
        yield form, pose


def _half_edges(form: g.Geometry) -> tuple[float, float, float] | None:
    """Return half of the edge lengths (m) of the bounding box of a centred form; None for files and other forms."""
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


def _translated(placement: Placement, offset: Array) -> Placement:
    moved = list(placement)
    for row, step in zip((3, 7, 11), offset.tolist(), strict=True):
        moved[row] = round(moved[row] + step, 12) + 0.0
    return tuple(moved)


def _round_length(length: float) -> float:
    return float(f"{length:.9g}")


class _DisjointSets:
    """Disjoint sets of names (union–find)."""

    def __init__(self, names: Iterable[str]) -> None:
        self._up = {name: name for name in names}

    def representative(self, name: str) -> str:
        """Return the name that represents the group."""
        while self._up[name] != name:
            self._up[name] = name = self._up[self._up[name]]
        return name

    def merge(self, first: str, second: str) -> None:
        """Merge two groups."""
        self._up[self.representative(second)] = self.representative(first)

    def copy(self) -> _DisjointSets:
        """Return an independent copy."""
        made = _DisjointSets(())
        made._up = dict(self._up)
        return made
