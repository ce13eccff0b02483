"""Division of deep trees into segments, so that the size of the mass matrix and its constraint rows grows in proportion
to the number of links, not to its square.

The mass matrix of a deep tree is nearly full, since each joint carries all that comes behind it. So some links, the
*stations*, are taken as two bodies of half the inertia each, one of which ends a segment while the other begins the
next. What accelerations of that other body are beside those that q, v give when no joint accelerates are six unknowns
more, in world axes at its origin; six rows hold both bodies together (Featherstone, RBDA 8.2, of loop joints). Segments
have mass matrices of their own then, and neighbours alone share rows.

With S and F = I^c S of each joint in world axes at its segment's origin (`core.mechanics.crba`), M_ij = S_i · F_j;
of an unknown of a segment and joint j, M_kj is the entry k of F_j.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.mechanics.crba import add_to_parent_inertia, joint_motion, screw_product
from core.mechanics.kinematics import joint_coordinates
from core.mechanics.tree import Runner, Scalars, Tree, inline
from core.numerics.spatial.inertia import Inertia, Symmetric3
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.scalar import Scalar, minus, plus, times
from core.numerics.spatial.vector import ZERO, Motion, Vector3

DEEP, DEEP_BRANCHED = 48, 24
"""Depth of a tree, in speeds from the world, from which segments pay off: for a chain, and for a tree that branches at
stations."""
SEGMENT, SEGMENT_BRANCHED = 16, 6
"""Number of speeds along a segment, and the smaller number used where the tree branches."""
BASE = 6
"""Number of unknowns of a station."""
Numbers = tuple[Scalar, ...]


def find_stations(tree: Tree) -> tuple[int, ...]:
    """Return the links at which segments end; none if the tree is not deep or has coupled joints."""
    if tree.has_coupled_joints:
        return ()
    depths, since, found = [0], [0], []
    carried = Counter(link.parent for link in tree.links)
    for i, link in enumerate(tree.links):
        depths.append(depths[link.parent + 1] + link.law.nv)
        since.append(since[link.parent + 1] + link.law.nv)
        long = since[-1] >= (SEGMENT if carried[i] == 1 else SEGMENT_BRANCHED)
        if long and carried[i] and _resists_every_motion(link.inertia):
            since[-1] = 0
            found.append(i)
    branched = any(carried[i] > 1 for i in found)
    return tuple(found) if max(depths) >= (DEEP_BRANCHED if branched else DEEP) else ()


def _resists_every_motion(inertia: Inertia) -> bool:
    """Return True if a body resists every motion, whatever the parameter values."""
    mass, moment, tensor = inertia
    numbers = (mass, *moment, *tensor)
    if not all(isinstance(x, float | int) for x in numbers) or not mass > 0.0:
        return False
    (x, y, z), I = (moment.scaled(1.0 / mass)), tensor
    xx, yy, zz = I.xx - mass * (y * y + z * z), I.yy - mass * (x * x + z * z), I.zz - mass * (x * x + y * y)
    xy, xz, yz = I.xy + mass * x * y, I.xz + mass * x * z, I.yz + mass * y * z
    volume = xx * (yy * zz - yz * yz) - xy * (xy * zz - yz * xz) + xz * (xy * yz - yy * xz)
    return bool(volume > SOLID_FRACTION * max(xx, yy, zz) ** 3 > 0.0)


SOLID_FRACTION = 1e-6
"""Fraction of the cube of the largest moment of inertia that the determinant must exceed for a body to resist every
rotation."""


class Segments:
    """Kinematic tree cut into segments at stations, with the numbering of the unknowns: first the speeds, then six
    motion components for each station."""

    def __init__(self, tree: Tree, stations: Sequence[int]) -> None:
        self.tree, self.stations = tree, tuple(stations)
        self._number = {station: k for k, station in enumerate(self.stations)}
        self.segment = [-1] * len(tree.links)
        """Station at which each link's segment begins; −1: the world."""
        for i, link in enumerate(tree.links):
            if link.parent >= 0:
                self.segment[i] = link.parent if link.parent in self._number else self.segment[link.parent]
        self._firsts: list[int] = []
        first = 0
        for link in tree.links:
            self._firsts.append(first)
            first += link.law.nv
        self.masses = [(max(i, j), min(i, j)) for i, j in self._coupled_pairs()]
        """Rows and columns of the nonzero entries of M, lower half."""
        places = [(BASE * k + row, at) for k in range(len(self.stations)) for row, at in self._row_indices(k)]
        self._by_rows = sorted(range(len(places)), key=lambda k: places[k][0])
        self.rows = [places[k] for k in self._by_rows]
        """Rows and unknowns of the entries of the constraint rows that connect segments."""

    @property
    def count(self) -> int:
        """Return the number of unknowns."""
        return self.tree.nv + BASE * len(self.stations)

    @property
    def ordered_unknowns(self) -> list[int]:
        """Return the unknowns in an order in which each comes after those that carry it."""
        found: list[int] = []
        for i, link in enumerate(self.tree.links):
            found += range(link.first_v, link.first_v + link.law.nv)
            if i in self._number:
                found += self.base(i)
        return found

    def base(self, station: int) -> range:
        """Return the indices of a station's six unknowns; empty for the world."""
        if station < 0:
            return range(0)
        first = self.tree.nv + BASE * self._number[station]
        return range(first, first + BASE)

    def _path_in_segment(self, link: int) -> list[int]:
        """Return a link and its predecessors in its segment, from the link on."""
        found, end = [], self.segment[link]
        while link != end:
            found.append(link)
            link = self.tree.links[link].parent
        return found

    def _coupled_pairs(self) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        for j, link in enumerate(self.tree.links):
            for c in range(link.law.nv):
                at = link.first_v + c
                found += [(at, k) for k in self.base(self.segment[j])]
                for i in self._path_in_segment(j):
                    carrier = self.tree.links[i]
                    found += [(at, carrier.first_v + r) for r in range(carrier.law.nv if i != j else c + 1)]
        for station in self.stations:
            base = self.base(station)
            found += [(base[a], base[b]) for a in range(BASE) for b in range(a + 1)]
        return found

    def mass_entries(self, q: Scalars, run: Runner = inline) -> list[Scalar]:
        """Return the nonzero entries of M, at the rows and columns in `masses`."""
        _, screws, bases = self._screws(q, run)
        found: list[Scalar] = []
        for j, link in enumerate(self.tree.links):
            for c in range(link.law.nv):
                S_j = screws[self._firsts[j] + c]
                found += S_j[6:] if self.segment[j] >= 0 else ()
                for i in self._path_in_segment(j):
                    carrier = self.tree.links[i]
                    for r in range(carrier.law.nv if i != j else c + 1):
                        entry = run(screw_product, screws[self._firsts[i] + r][:6], S_j[6:])
                        found.append(run(plus, entry, link.armature) if i == j and r == c else entry)
        for base in bases:
            found += base
        return found

    def _row_indices(self, number: int) -> list[tuple[int, int]]:
        """Return row within the six of a station, and unknown, for each entry of `row_entries`."""
        station = self.stations[number]
        own, before = self.base(station), self.base(self.segment[station])
        found = [(row, k) for row in range(6) for k in self._involved_unknowns(row, own)]
        found += [(row, before[row]) for row in range(6) if before]
        for i in self._path_in_segment(station):
            link = self.tree.links[i]
            found += [(row, link.first_v + c) for c in range(link.law.nv) for row in range(6)]
        return found

    @staticmethod
    def _involved_unknowns(row: int, unknowns: range) -> list[int]:
        """Return the unknowns of a station that a row involves."""
        return [unknowns[row]] if row < 3 else [unknowns[row], unknowns[(row - 2) % 3], unknowns[(row - 1) % 3]]

    def row_entries(self, q: Scalars, run: Runner = inline) -> list[Scalar]:
        """Return the entries of the constraint rows that connect segments, in the pattern of `rows`: with r from the
        segment's origin to the station, ω' − ω − Σ ω_j and v' + r × ω' − v − Σ v_j are zero; ' marks the station's own
        motion."""
        places, screws, _ = self._screws(q, run)
        found: list[Scalar] = []
        for station in self.stations:
            r = places[station]
            found += [1.0, 1.0, 1.0]
            for k in range(3):  # r × ω along axis k: r_(k+1) ω_(k+2) − r_(k+2) ω_(k+1)
                found += [1.0, run(minus, 0.0, r[(k + 2) % 3]), r[(k + 1) % 3]]
            found += [-1.0] * (6 if self.segment[station] >= 0 else 0)
            for i in self._path_in_segment(station):
                for c in range(self.tree.links[i].law.nv):
                    found += [run(minus, 0.0, x) for x in screws[self._firsts[i] + c][:6]]
        return [found[k] for k in self._by_rows]

    def _screws(self, q: Scalars, run: Runner) -> tuple[list[Vector3], list[Numbers], list[Numbers]]:
        """Return for each link its position from its segment's origin, for each degree of freedom S and F, for each
        station half of the matrix of its unknowns; all in world axes."""
        links = self.tree.links
        own = joint_coordinates(self.tree, q, run)
        joints = [run(joint_motion, link.law, link.placement, own[i]) for i, link in enumerate(links)]
        composite = [
            run(_halve_inertia, link.inertia) if i in self._number else link.inertia for i, link in enumerate(links)
        ]
        bases = {i: composite[i] for i in self.stations}
        for i in range(len(links) - 1, -1, -1):
            parent = links[i].parent
            if parent in self._number:
                bases[parent] = run(add_to_parent_inertia, joints[i][0], composite[i], bases[parent])
            elif parent >= 0:
                composite[parent] = run(add_to_parent_inertia, joints[i][0], composite[i], composite[parent])
        poses: list[Pose] = []
        rows: list[Numbers] = []
        for i, link in enumerate(links):
            X, S = joints[i]
            before = IDENTITY if link.parent < 0 else poses[link.parent]
            if link.parent in self._number:
                before = Pose(before.rotation, ZERO)
            poses.append(run(Pose.__matmul__, before, X) if link.parent >= 0 else X)
            rows += run(_world_screws, poses[i], S, composite[i])
        return (
            [pose.position for pose in poses],
            rows,
            [run(_inertia_matrix, poses[i], bases[i]) for i in self.stations],
        )


def _halve_inertia(inertia: Inertia) -> Inertia:
    mass, moment, tensor = inertia
    return Inertia(times(0.5, mass), moment.scaled(0.5), Symmetric3(*(times(0.5, x) for x in tensor)))


def _world_screws(X: Pose, S: tuple[Motion, ...], inertia: Inertia) -> tuple[Numbers, ...]:
    """Return S and I S of each degree of freedom in world axes."""
    rows = []
    for column in S:
        m, f = X.motion(column), X.force(inertia.act(column))
        rows.append((*m.angular, *m.linear, *f.moment, *f.force))
    return tuple(rows)


def _inertia_matrix(X: Pose, inertia: Inertia) -> Numbers:
    """Return the lower half of an inertia's matrix in world axes at its own origin, row by row, angular first."""
    turned = inertia.transformed_to_parent(Pose(X.rotation, ZERO))
    m, (x, y, z), I = turned
    none: Scalar = 0.0
    return (
        I.xx, I.xy, I.yy, I.xz, I.yz, I.zz,
        none, z, minus(0.0, y), m,
        minus(0.0, z), none, x, none, m,
        y, minus(0.0, x), none, none, none, m,
    )  # fmt: skip
