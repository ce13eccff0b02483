"""Reachable area of a planar machine's frame with its exact boundary: arcs at joint limits, and curves det J = 0.

Two coordinates at a time are mapped; of more, the others stand at values spread
over their ranges, ends included, and what at least one of these reaches is reached. The error is what a grid of half as
many points makes of it.

The rectangle of two coordinates is cut along the curves det J = 0 and along the border of where the map exists into
parts that the map keeps, or turns over. The number of points of a part that go to a point P is the winding number of
the image of its border round P (with the sign of det J): their sum counts the preimages. Along a line this number
changes only where the line crosses an image of such a border, so that what is covered of it is known from the
crossings.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.studies.workspace.jacobian_measures import speed_transmissions
from core.studies.workspace.joint_ranges import JointRanges, evenly_spread_points
from core.studies.workspace.pose_solver import AssemblyBranch, MappedMachine

Array = NDArray[np.float64]


Places = NDArray[np.intp]

BISECTIONS = 16
"""Number of bisections of a grid edge that locate the end of the map's domain: to 2e-5 of the edge."""
FALSE_POSITIONS = 4
"""Regula-falsi steps that find a root of det J on an edge, where it is nearly linear."""

_CORNERS = (
    (slice(None, -1), slice(None, -1)),
    (slice(1, None), slice(None, -1)),
    (slice(1, None), slice(1, None)),
    (slice(None, -1), slice(1, None)),
)
"""Corner offsets of grid cells, counterclockwise."""
NODES = {2: 220, 3: 64, 4: 36}
"""Grid nodes along each of the two coordinates, by the number of coordinates."""
NODES_CLOSED = 96
SLICES = {2: 1, 3: 65, 4: 17}
"""Number of values of each other coordinate."""
LINES = 1600
"""Number of scan lines that measure the covered area."""
EVEN_FRACTION = 2e-4
"""Relative error of the area measured by scan lines, which end perpendicular to its boundary."""
BESIDE = 1.6
"""Distance from a border, in scan lines, at which both sides are tested for reachability."""


class ImageOfPoints(NamedTuple):
    """Images of points (n, 2) of the rectangle: positions (n, 2) m, det J (n,), mask where the map exists, and initial
    states (n, s) for nearby points."""

    xy: Array
    determinant: Array
    exists: NDArray[np.bool_]
    state: Array


Map = Callable[[Array, Array | None], ImageOfPoints]
"""Planar map: points (n, 2) and initial states (n, s) → images."""


class BorderImages(NamedTuple):
    """Images of borders: ends (n, 2, 2) m; sign (n,), +1 or −1: their contribution to the number of preimages."""

    ends: Array
    sign: Array


class CoveredIntervals(NamedTuple):
    """Covered intervals of lines y = const: line (n,) line index, start and end (n,) x, m; y (l,) of the lines."""

    line: NDArray[np.intp]
    start: Array
    end: Array
    y: Array

    @property
    def area(self) -> float:
        """Covered area, m²."""
        step = float(self.y[1] - self.y[0]) if len(self.y) > 1 else 0.0
        return float(np.sum(self.end - self.start)) * step

    def is_covered(self, xy: Array) -> NDArray[np.bool_]:
        """Return a mask (n,) of points that are covered, tested on the nearest line."""
        step = self.y[1] - self.y[0]
        line = np.round((xy[:, 1] - self.y[0]) / step).astype(np.intp)
        width = 1.0 + 2.0 * float(np.max(np.abs(np.concatenate([self.start, self.end, xy[:, 0]])), initial=0.0))
        keys = self.line * width + self.start  # lines one after another on one axis
        at = np.searchsorted(keys, line * width + xy[:, 0], side="right") - 1
        good = (at >= 0) & (line >= 0) & (line < len(self.y))
        at = np.maximum(at, 0)
        if not len(self.line):
            return np.zeros(len(xy), dtype=bool)
        return good & (self.line[at] == line) & (xy[:, 0] <= self.end[at])


def compute_border_images(
    node_images: ImageOfPoints,
    shape: tuple[int, int],
    lower: Array,
    upper: Array,
    planar_map: Map,
    periodic: NDArray[np.bool_],
) -> BorderImages:
    """Compute the images of the borders of all parts in which det J has one sign.

    node_images : at a grid of this shape (nodes along each side); periodic : (2,) along which coordinates the
    rectangle closes upon itself
    """
    kinds = np.where(node_images.exists, np.where(node_images.determinant >= 0.0, 1, -1), 0)
    nodes = np.arange(shape[0] * shape[1]).reshape(shape)
    points = np.stack(
        np.meshgrid(*(np.linspace(a, b, n) for a, b, n in zip(lower, upper, shape, strict=True)), indexing="ij"),
        axis=-1,
    ).reshape(-1, 2)
    edges = _triangle_edges(nodes)
    crossed = np.flatnonzero(kinds[edges[:, 0]] != kinds[edges[:, 1]])
    between = _border_points_on_edges(node_images, kinds, points, edges[crossed], planar_map)
    place_of = _CrossingIndices(edges[crossed], len(kinds))
    xy = np.concatenate([node_images.xy, between])
    pieces, signs = [], []
    for kind in (1, -1):
        inside = kinds == kind
        if not inside.any():
            continue
        ends = np.concatenate(
            [_contour_segments(nodes, inside, place_of), _grid_border_segments(nodes, inside, place_of, periodic)]
        )
        pieces.append(xy[ends])
        signs.append(np.full(len(ends), float(kind)))
    if not pieces:
        return BorderImages(np.zeros((0, 2, 2)), np.zeros(0))
    return BorderImages(np.concatenate(pieces), np.concatenate(signs))


def _triangle_edges(nodes: Places) -> Places:
    """Return the edges (n, 2) of the grid's triangles, smaller index first."""
    along = [
        (nodes[:-1, :], nodes[1:, :]),
        (nodes[:, :-1], nodes[:, 1:]),
        (nodes[:-1, :-1], nodes[1:, 1:]),
    ]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in along])


def _border_points_on_edges(
    node_images: ImageOfPoints, kinds: Places, points: Array, edges: Places, planar_map: Map
) -> Array:
    """Compute images (n, 2) of the points on edges that separate the parts of their two ends."""
    if not len(edges):
        return np.zeros((0, 2))
    turned = kinds[edges[:, 0]] == 0  # the first end is one where the map exists
    first, last = (np.where(turned, edges[:, 1 - k], edges[:, k]) for k in (0, 1))
    xy = np.empty((len(edges), 2))
    signs = kinds[last] != 0
    for some, search in ((signs, _determinant_roots_on_edges), (~signs, _domain_ends_on_edges)):
        if some.any():
            xy[some] = search(node_images, points, first[some], last[some], planar_map)
    return xy


def _determinant_roots_on_edges(
    node_images: ImageOfPoints, points: Array, first: Places, last: Places, planar_map: Map
) -> Array:
    """Compute images (n, 2) of the roots of det J on edges, by false position (the Illinois algorithm)."""
    low, high = np.zeros(len(first)), np.ones(len(first))
    d_low, d_high = node_images.determinant[first].copy(), node_images.determinant[last].copy()
    state, side = node_images.state[first], np.zeros(len(first))
    at = ImageOfPoints(node_images.xy[first], d_low, node_images.exists[first], state)
    for _ in range(FALSE_POSITIONS):
        share = low - d_low * (high - low) / np.where(d_high != d_low, d_high - d_low, 1.0)
        at = planar_map(points[first] + share[:, None] * (points[last] - points[first]), state)
        left = np.sign(at.determinant) == np.sign(d_low)
        d_high = np.where(left, np.where(side == 1.0, 0.5, 1.0) * d_high, at.determinant)
        d_low = np.where(left, at.determinant, np.where(side == -1.0, 0.5, 1.0) * d_low)
        low, high = np.where(left, share, low), np.where(left, high, share)
        side = np.where(left, 1.0, -1.0)
    return at.xy


def _domain_ends_on_edges(
    node_images: ImageOfPoints, points: Array, first: Places, last: Places, planar_map: Map
) -> Array:
    """Compute images (n, 2) of the points on edges beyond which the map does not exist, by bisection."""
    low, high = points[first], points[last]
    state, xy = node_images.state[first], node_images.xy[first].copy()
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        at = planar_map(middle, state)
        good = at.exists[:, None]
        low, high = np.where(good, middle, low), np.where(good, high, middle)
        state, xy = np.where(good, at.state, state), np.where(good, at.xy, xy)
    return xy


def _contour_segments(nodes: Places, inside: NDArray[np.bool_], crossing_indices: _CrossingIndices) -> Places:
    """Return segments (n, 2) between crossings, through the triangles that a border crosses, with the part on their
    left."""
    a, b, c, d = (nodes[s, t].ravel() for s, t in _CORNERS)
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    flags = inside[triangles]
    count = flags.sum(axis=1)
    found = []
    for wanted in (1, 2):
        some, own = triangles[count == wanted], flags[count == wanted]
        lone = np.argmax(own if wanted == 1 else ~own, axis=1)
        rows = np.arange(len(some))
        tip, after, before = some[rows, lone], some[rows, (lone + 1) % 3], some[rows, (lone + 2) % 3]
        start, end = (after, before) if wanted == 1 else (before, after)
        found.append(
            np.stack(
                [crossing_indices.indices_on_edges(tip, start), crossing_indices.indices_on_edges(tip, end)], axis=1
            )
        )
    return np.concatenate(found)


class _CrossingIndices:
    """Indices of the crossings on edges, counted after those of the nodes."""

    def __init__(self, edges: Places, nodes: int) -> None:
        keys = edges[:, 0] * nodes + edges[:, 1]
        self._order, self._nodes = np.argsort(keys), nodes
        self._keys = keys[self._order]

    def indices_on_edges(self, a: Places, b: Places) -> Places:
        """Return the indices (n,) of crossings on edges a–b."""
        keys = np.minimum(a, b) * self._nodes + np.maximum(a, b)
        return self._nodes + self._order[np.searchsorted(self._keys, keys)]


def _grid_border_segments(
    nodes: Places, inside: NDArray[np.bool_], crossing_indices: _CrossingIndices, periodic: NDArray[np.bool_]
) -> Places:
    """Return segments (n, 2) of the grid's own border that bound the part, counterclockwise, without those across which
    it continues periodically."""
    sides = (nodes[:, 0], nodes[-1, :], nodes[::-1, -1], nodes[0, ::-1])
    a, b = (np.concatenate([side[s] for side in sides]) for s in (slice(None, -1), slice(1, None)))
    beyond = np.concatenate(
        [_edges_inside(inside, sides[(k + 2) % 4][::-1], bool(periodic[1 - k % 2])) for k in range(len(sides))]
    )
    whole = inside[a] & inside[b] & ~beyond
    found = [np.stack([a[whole], b[whole]], axis=1)]
    for start, end, forward in ((a, b, True), (b, a, False)):
        part = inside[start] & ~inside[end]
        at = crossing_indices.indices_on_edges(start[part], end[part])
        found.append(np.stack([start[part], at] if forward else [at, start[part]], axis=1))
    return np.concatenate(found)


def _edges_inside(inside: NDArray[np.bool_], side: Places, periodic_there: bool) -> NDArray[np.bool_]:
    """Return a mask (edges,) of the edges of one side with both ends in the part; none if the rectangle continues
    periodically there."""
    return inside[side[:-1]] & inside[side[1:]] & periodic_there


def compute_covered_intervals(
    border_images: BorderImages, lines: Array, min_preimages: float = 0.5
) -> CoveredIntervals:
    """Compute the intervals, on evenly spaced lines y, of the points with at least one preimage."""
    line, x, change = line_crossings(border_images, lines)
    order = np.lexsort((x, line))
    line, x, change = line[order], x[order], change[order]
    number = np.cumsum(change)
    good = (number[:-1] > min_preimages) & (line[:-1] == line[1:]) if len(line) else np.zeros(0, dtype=bool)
    return _merge_intervals(line[:-1][good], x[:-1][good], x[1:][good], lines)


def line_crossings(border_images: BorderImages, lines: Array) -> tuple[Places, Array, Array]:
    """Return (line, x, change of the number of preimages along x) of all crossings."""
    step = lines[1] - lines[0]
    y0, y1 = border_images.ends[:, 0, 1], border_images.ends[:, 1, 1]
    first = np.ceil((np.minimum(y0, y1) - lines[0]) / step).astype(np.intp)
    last = np.ceil((np.maximum(y0, y1) - lines[0]) / step).astype(np.intp)  # half-open: an end counts once
    first, last = np.clip(first, 0, len(lines)), np.clip(last, 0, len(lines))
    count = last - first
    segment = np.repeat(np.arange(len(count)), count)
    line = np.arange(len(segment)) - np.repeat(np.cumsum(count) - count, count) + first[segment]
    a, b = border_images.ends[segment, 0], border_images.ends[segment, 1]
    share = (lines[line] - a[:, 1]) / (b[:, 1] - a[:, 1])
    x = a[:, 0] + share * (b[:, 0] - a[:, 0])
    return line, x, np.where(b[:, 1] < a[:, 1], 1.0, -1.0) * border_images.sign[segment]


def unite_covered_intervals(parts: list[CoveredIntervals]) -> CoveredIntervals:
    """Unite several covered sets over the same lines."""
    line = np.concatenate([part.line for part in parts])
    start, end = (np.concatenate([getattr(part, each) for part in parts]) for each in ("start", "end"))
    return _merge_intervals(line, start, end, parts[0].y)


def _merge_intervals(line: Places, start: Array, end: Array, lines: Array) -> CoveredIntervals:
    """Merge overlapping or touching intervals."""
    rows = np.concatenate([line, line])
    x = np.concatenate([start, end])
    change = np.concatenate([np.ones(len(start)), -np.ones(len(end))])
    order = np.lexsort((-change, x, rows))
    rows, x, number = rows[order], x[order], np.cumsum(change[order])
    if not len(rows):
        return CoveredIntervals(rows, x, x, lines)
    before = np.concatenate([[0.0], number[:-1]])
    begins, ends = (before < 0.5) & (number > 0.5), (before > 0.5) & (number < 0.5)
    return CoveredIntervals(rows[begins], x[begins], x[ends], lines)


class Plane(NamedTuple):
    """Plane in the world: origin (3,) m; axes (2, 3) unit vectors."""

    origin: Array
    axes: Array

    @property
    def normal(self) -> Array:
        """Unit normal (3,)."""
        return np.cross(self.axes[0], self.axes[1])

    def to_plane_coordinates(self, points: Array) -> Array:
        """Project points (n, 3) to plane coordinates (n, 2)."""
        return np.asarray((points - self.origin) @ self.axes.T)

    def to_world_points(self, xy: Array) -> Array:
        """Convert plane coordinates (…, 2) to points (…, 3)."""
        return np.asarray(self.origin + xy @ self.axes)


class PlanarArea(NamedTuple):
    """Reachable area and its error, m²; boundary : (n, 2, 3) m, segments of the curves that bound it."""

    area: float
    error: float
    boundary: Array


def fit_plane(points: Array, normal: Array | None = None) -> Plane | None:
    """Return the plane of points (n, 3), its axes along the world's if possible; None if they are not coplanar."""
    middle = points.mean(axis=0)
    _, sigma, rows = np.linalg.svd(points - middle, full_matrices=False)
    if sigma[2] > 1e-9 * sigma[0]:
        return None
    n = rows[2] if normal is None else normal
    n = n * (np.sign(n[np.argmax(np.abs(n))]) or 1.0)
    return plane_with_normal(n, float(n @ middle))


def plane_with_normal(normal: Array, offset: float) -> Plane:
    """Return the plane n · x = offset, with axes near x and y, or x and z, or y and z."""
    n = normal / np.linalg.norm(normal)
    across = np.eye(3)[{2: 0, 1: 0, 0: 1}[int(np.argmax(np.abs(n)))]]
    first = across - (across @ n) * n
    first = first / np.linalg.norm(first)
    second = np.cross(n, first)
    second = second * (np.sign(second[np.argmax(np.abs(second))]) or 1.0)
    return Plane(offset * n, np.array([first, second]))


def compute_planar_area(
    machine: MappedMachine,
    ranges: JointRanges,
    q: Array,
    plane: Plane,
    report_progress: Callable[[float], object] = lambda _: None,
) -> PlanarArea | None:
    """Compute the frame's reachable area with its coordinates in these ranges and the others as in q (nq,); None for
    spherical joints or more coordinates than can be resolved finely enough."""
    d = len(ranges.names)
    if d not in SLICES or ranges.balls or (machine.closing is not None and d != 2):
        return None
    nodes = NODES[d] if machine.closing is None else NODES_CLOSED
    fine, parts = _covered_scan_lines(machine, ranges, q, plane, nodes, SLICES[d], report_progress)
    coarse, _ = _covered_scan_lines(machine, ranges, q, plane, nodes // 2, SLICES[d] // 2 + 1, lambda _: machine.look())
    if fine is None or coarse is None:
        return None
    area, away = fine.area, abs(fine.area - coarse.area)
    if machine.closing is None:  # chords err by the square of the grid's step
        area = area + (fine.area - coarse.area) / 3.0
        away = away / 3.0 if d == 2 else away
    return PlanarArea(area, away + EVEN_FRACTION * area, plane.to_world_points(_outer_border_segments(fine, parts)))


def _covered_scan_lines(
    machine: MappedMachine,
    ranges: JointRanges,
    q: Array,
    plane: Plane,
    nodes: int,
    slices: int,
    report_progress: Callable[[float], object],
) -> tuple[CoveredIntervals | None, list[BorderImages]]:
    """Compute the covered intervals of scan lines, and the borders of the slices."""
    pair, others = _split_coordinates(machine, ranges, q, plane)
    lower, upper = ranges.lower[pair], ranges.upper[pair]
    points = np.stack(
        np.meshgrid(*(np.linspace(a, b, nodes) for a, b in zip(lower, upper, strict=True)), indexing="ij"), axis=-1
    ).reshape(-1, 2)
    values = list(product(*(np.linspace(ranges.lower[k], ranges.upper[k], slices) for k in others)))
    parts = []
    for number, value in enumerate(values):
        report_progress(number / len(values))
        pose = q.copy()
        pose[ranges.index[others]] = value
        image = _open_chain_map(machine, ranges, pose, plane, pair) if machine.closing is None else None
        if image is None:
            image = _closed_loop_map(machine, ranges, pose, plane)
        parts.append(
            compute_border_images(image(points, None), (nodes, nodes), lower, upper, image, ranges.periodic[pair])
        )
    ends = [part.ends for part in parts if len(part.ends)]
    if not ends:
        return None, parts
    y = np.concatenate(ends)[..., 1]
    low, high = float(y.min()), float(y.max())
    half = 0.5 * (high - low) / LINES
    lines = np.linspace(low + half, high - half, LINES)
    covered = []
    for part in parts:
        machine.look()
        covered.append(compute_covered_intervals(part, lines))
    return unite_covered_intervals(covered), parts


def _split_coordinates(
    machine: MappedMachine, ranges: JointRanges, q: Array, plane: Plane
) -> tuple[list[int], list[int]]:
    """Return the two coordinates that move the frame most independently, and all others."""
    d = len(ranges.names)
    if d == 2:
        return [0, 1], []
    poses = ranges.set_coordinates(np.tile(q, (64, 1)), evenly_spread_points(0, 64, ranges.count))
    J = plane.axes @ machine.frame_jacobians(poses)[:, 3:, ranges.speed]
    sizes = {
        (i, j): float(np.mean(np.abs(J[:, 0, i] * J[:, 1, j] - J[:, 0, j] * J[:, 1, i])))
        for i, j in combinations(range(d), 2)
    }
    best = [*max(sizes, key=lambda each: sizes[each])]
    return best, [k for k in range(d) if k not in best]


def _open_chain_map(machine: MappedMachine, ranges: JointRanges, pose: Array, plane: Plane, pair: list[int]) -> Map:
    index, speed = ranges.index[pair], ranges.speed[pair]

    def compute_image(points: Array, _: Array | None) -> ImageOfPoints:
        machine.look()
        q = np.tile(pose, (len(points), 1))
        q[:, index] = points
        J = plane.axes @ machine.frame_jacobians(q)[:, 3:, speed]
        xy = plane.to_plane_coordinates(machine.frame_positions(q))
        return ImageOfPoints(xy, _determinants_2x2(J), np.ones(len(q), dtype=bool), np.zeros((len(q), 0)))

    return compute_image


def _closed_loop_map(machine: MappedMachine, ranges: JointRanges, pose: Array, plane: Plane) -> Map:
    branch = AssemblyBranch(machine, ranges, pose)
    chosen = Actuators(tuple(map(int, ranges.speed)), ranges.names)

    def compute_image(points: Array, state: Array | None) -> ImageOfPoints:
        machine.look()
        q, good = branch.solve_outward(points) if state is None else branch.at(points, state)
        J = machine.frame_jacobians(q)[:, 3:] @ speed_transmissions(machine, q, chosen)
        return ImageOfPoints(
            plane.to_plane_coordinates(machine.frame_positions(q)), _determinants_2x2(plane.axes @ J), good, q
        )

    return compute_image


def _determinants_2x2(J: Array) -> Array:
    return np.asarray(J[:, 0, 0] * J[:, 1, 1] - J[:, 0, 1] * J[:, 1, 0])


def _outer_border_segments(covered: CoveredIntervals, border_images: list[BorderImages]) -> Array:
    """Return the border segments (n, 2, 2) with reachable points on one side only."""
    ends = np.concatenate([part.ends for part in border_images])
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    ends, along, length = ends[length > 0.0], along[length > 0.0], length[length > 0.0]
    beside = np.stack([-along[:, 1], along[:, 0]], axis=1) / length[:, None]
    width = BESIDE * float(covered.y[1] - covered.y[0])
    middle = ends.mean(axis=1)
    one, other = (covered.is_covered(middle + sign * width * beside) for sign in (1.0, -1.0))
    return np.asarray(ends[one != other])
