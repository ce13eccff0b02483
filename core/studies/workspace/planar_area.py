"""Reachable area of a planar machine's frame with its exact boundary: arcs at limits and curves det J = 0.

Two coordinates at a time are mapped by `core.studies.workspace.preimages`; of more, the others stand at values spread
over their ranges, ends included, and what at least one of these reaches is reached. The error is what a grid of half as
many points makes of it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.studies.workspace import preimages
from core.studies.workspace.branch import Branch
from core.studies.workspace.jacobian_measures import transmissions
from core.studies.workspace.joint_ranges import JointRanges, spread
from core.studies.workspace.pose_solver import Machine
from core.studies.workspace.preimages import Borders, Covered, Image

Array = NDArray[np.float64]
NODES = {2: 220, 3: 64, 4: 36}
"""Grid nodes along each of the two coordinates, by the number of coordinates."""
NODES_CLOSED = 96
SLICES = {2: 1, 3: 65, 4: 17}
"""Number of values of each other coordinate."""
LINES = 1600
"""Number of scan lines that measure the covered area."""
EVEN_FRACTION = 2e-4
"""Relative error of the area measured by scan lines, which are perpendicular to its ends."""
BESIDE = 1.6
"""Distance from a border, in scan lines, at which both sides are tested for reachability."""


class Plane(NamedTuple):
    """Plane in the world: origin (3,) m; axes (2, 3) unit vectors."""

    origin: Array
    axes: Array

    @property
    def normal(self) -> Array:
        """Unit normal (3,)."""
        return np.cross(self.axes[0], self.axes[1])

    def down(self, points: Array) -> Array:
        """Project points (n, 3) to plane coordinates (n, 2)."""
        return np.asarray((points - self.origin) @ self.axes.T)

    def up(self, xy: Array) -> Array:
        """Convert plane coordinates (…, 2) to points (…, 3)."""
        return np.asarray(self.origin + xy @ self.axes)


class PlanarArea(NamedTuple):
    """Reachable area and its error, m²; boundary : (n, 2, 3) m, segments of the curves that bound it."""

    area: float
    error: float
    boundary: Array


def plane_of(points: Array, normal: Array | None = None) -> Plane | None:
    """Return the plane of points (n, 3), its axes along the world's if possible; None if they are not coplanar."""
    middle = points.mean(axis=0)
    _, sigma, rows = np.linalg.svd(points - middle, full_matrices=False)
    if sigma[2] > 1e-9 * sigma[0]:
        return None
    n = rows[2] if normal is None else normal
    n = n * (np.sign(n[np.argmax(np.abs(n))]) or 1.0)
    return plane_across(n, float(n @ middle))


def plane_across(normal: Array, offset: float) -> Plane:
    """Return the plane n · x = offset, with axes near x and y, or x and z, or y and z."""
    n = normal / np.linalg.norm(normal)
    across = np.eye(3)[{2: 0, 1: 0, 0: 1}[int(np.argmax(np.abs(n)))]]
    first = across - (across @ n) * n
    first = first / np.linalg.norm(first)
    second = np.cross(n, first)
    second = second * (np.sign(second[np.argmax(np.abs(second))]) or 1.0)
    return Plane(offset * n, np.array([first, second]))


def planar_area(
    machine: Machine, ranges: JointRanges, q: Array, plane: Plane, step: Callable[[float], object] = lambda _: None
) -> PlanarArea | None:
    """Compute the frame's reachable area with its coordinates in these ranges and the others as in q (nq,); None for
    spherical joints or more coordinates than can be resolved finely enough."""
    d = len(ranges.names)
    if d not in SLICES or ranges.balls or (machine.closing is not None and d != 2):
        return None
    nodes = NODES[d] if machine.closing is None else NODES_CLOSED
    fine, parts = _covered_lines(machine, ranges, q, plane, nodes, SLICES[d], step)
    coarse, _ = _covered_lines(machine, ranges, q, plane, nodes // 2, SLICES[d] // 2 + 1, lambda _: machine.look())
    if fine is None or coarse is None:
        return None
    area, away = fine.area, abs(fine.area - coarse.area)
    if machine.closing is None:  # chords err by the square of the grid's step
        area = area + (fine.area - coarse.area) / 3.0
        away = away / 3.0 if d == 2 else away
    return PlanarArea(area, away + EVEN_FRACTION * area, plane.up(_outer_segments(fine, parts)))


def _covered_lines(
    machine: Machine,
    ranges: JointRanges,
    q: Array,
    plane: Plane,
    nodes: int,
    slices: int,
    step: Callable[[float], object],
) -> tuple[Covered | None, list[Borders]]:
    """Compute the covered intervals of scan lines, and the borders of the slices."""
    pair, others = _coordinate_pair(machine, ranges, q, plane)
    lower, upper = ranges.lower[pair], ranges.upper[pair]
    points = np.stack(
        np.meshgrid(*(np.linspace(a, b, nodes) for a, b in zip(lower, upper, strict=True)), indexing="ij"), axis=-1
    ).reshape(-1, 2)
    values = list(product(*(np.linspace(ranges.lower[k], ranges.upper[k], slices) for k in others)))
    parts = []
    for number, value in enumerate(values):
        step(number / len(values))
        pose = q.copy()
        pose[ranges.index[others]] = value
        image = _tree_map(machine, ranges, pose, plane, pair) if machine.closing is None else None
        if image is None:
            image = _branch_map(machine, ranges, pose, plane)
        parts.append(preimages.borders(image(points, None), (nodes, nodes), lower, upper, image, ranges.periodic[pair]))
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
        covered.append(preimages.covered(part, lines))
    return preimages.joined(covered), parts


def _coordinate_pair(machine: Machine, ranges: JointRanges, q: Array, plane: Plane) -> tuple[list[int], list[int]]:
    """Return the two coordinates that move the frame most independently, and the others."""
    d = len(ranges.names)
    if d == 2:
        return [0, 1], []
    poses = ranges.put(np.tile(q, (64, 1)), spread(0, 64, ranges.count))
    J = plane.axes @ machine.jacobians(poses)[:, 3:, ranges.speed]
    sizes = {
        (i, j): float(np.mean(np.abs(J[:, 0, i] * J[:, 1, j] - J[:, 0, j] * J[:, 1, i])))
        for i, j in combinations(range(d), 2)
    }
    best = [*max(sizes, key=lambda each: sizes[each])]
    return best, [k for k in range(d) if k not in best]


def _tree_map(machine: Machine, ranges: JointRanges, pose: Array, plane: Plane, pair: list[int]) -> preimages.Map:
    index, speed = ranges.index[pair], ranges.speed[pair]

    def image(points: Array, _: Array | None) -> Image:
        machine.look()
        q = np.tile(pose, (len(points), 1))
        q[:, index] = points
        J = plane.axes @ machine.jacobians(q)[:, 3:, speed]
        xy = plane.down(machine.places(q))
        return Image(xy, _determinants(J), np.ones(len(q), dtype=bool), np.zeros((len(q), 0)))

    return image


def _branch_map(machine: Machine, ranges: JointRanges, pose: Array, plane: Plane) -> preimages.Map:
    branch = Branch(machine, ranges, pose)
    chosen = Actuators(tuple(map(int, ranges.speed)), ranges.names)

    def image(points: Array, state: Array | None) -> Image:
        machine.look()
        q, good = branch.spread_from(points) if state is None else branch.at(points, state)
        J = machine.jacobians(q)[:, 3:] @ transmissions(machine, q, chosen)
        return Image(plane.down(machine.places(q)), _determinants(plane.axes @ J), good, q)

    return image


def _determinants(J: Array) -> Array:
    return np.asarray(J[:, 0, 0] * J[:, 1, 1] - J[:, 0, 1] * J[:, 1, 0])


def _outer_segments(found: Covered, parts: list[Borders]) -> Array:
    """Return border segments (n, 2, 2) with reachable points on one side only."""
    ends = np.concatenate([part.ends for part in parts])
    along = ends[:, 1] - ends[:, 0]
    length = np.linalg.norm(along, axis=1)
    ends, along, length = ends[length > 0.0], along[length > 0.0], length[length > 0.0]
    beside = np.stack([-along[:, 1], along[:, 0]], axis=1) / length[:, None]
    width = BESIDE * float(found.y[1] - found.y[0])
    middle = ends.mean(axis=1)
    one, other = (found.inside(middle + sign * width * beside) for sign in (1.0, -1.0))
    return np.asarray(ends[one != other])
