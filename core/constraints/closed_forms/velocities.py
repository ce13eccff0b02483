"""Explicit speeds and accelerations: dependent ones as linear functions of the independent ones.

Around every closed chain the joints' motions add up to nothing: Σ S_k v_k = 0, in world axes at the world's origin, and
its rate Σ (S_k a_k + V_k × S_k v_k) = 0. With the sum U of known motions (`known_chain_motion`) both have the same form
Σ S_k x_k = −U over the unknown joints, and one `Solver` of the chain's family serves them: the velocity of a point, or
the angular velocity, that the other joints do not change gives one or three equations, solved by cross products and
Cramer's rule; the last joint takes what is left.

How far a position is from singular is the squared sine det² / Π |column|² of those equations (`grade`: 1 where arms are
perpendicular, 0 where branches meet).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from core.constraints.closed_forms.dyads import LEAST_DIVISOR
from core.constraints.closed_forms.families import MASSLESS, PLANAR, ROD, SPHERICAL, ChainSolution
from core.constraints.closed_forms.graph import GEAR, LINK, OWN, Clusters, Edge, edge_ends
from core.constraints.closed_forms.graph import edge_value as coordinates_at
from core.constraints.closed_forms.positions import EdgeNumbers, edge_coordinates, edge_numbers
from core.mechanics.tree import Runner, inline
from core.model import WORLD
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, all_zero, apply, is_zero, negated, over, plus, sqrt, times, total
from core.numerics.spatial.vector import ZERO as ZERO3
from core.numerics.spatial.vector import ZERO_MOTION, Motion, Vector3, X, Y, Z

SHORT_ARM_FRACTION = 1e-2
"""Lever arm, relative to the loop's size, below which a shorter arm no longer reduces the conditioning measure."""


class Speed(NamedTuple):
    """An independent speed: an entry of v, or the spin of a rod between two ball joints (edge : the ball in the
    tree)"""

    v: int
    edge: int
    column: int
    spin: bool


class WorldAxis(NamedTuple):
    """World pose and motion columns of an elementary joint."""

    pose: Pose
    columns: tuple[Motion, ...]

    @property
    def z(self) -> Vector3:
        """Direction of the joint's axis."""
        return self.columns[0].linear if all_zero(self.columns[0].angular) else self.columns[0].angular

    @property
    def p(self) -> Vector3:
        """A point of the joint's axis, m."""
        return self.pose.position


_COLUMNS: dict[str, tuple[Motion, ...]] = {
    "R": (Motion(Z, ZERO3),),
    "P": (Motion(ZERO3, Z),),
    "S": tuple(Motion(e, ZERO3) for e in (X, Y, Z)),
    "F": (*(Motion(e, ZERO3) for e in (X, Y, Z)), *(Motion(ZERO3, e) for e in (X, Y, Z))),
    "W": (),
    GEAR: (),
}


@cache
def _axis_function(kind: str, is_cut: bool) -> Callable[..., WorldAxis]:
    """Return the function (numbers of an edge, its coordinates, poses of its nodes) → its axis in the world."""

    def world_axis(numbers: EdgeNumbers, q: Sequence[Scalar], X_Wa: Pose, X_Wb: Pose) -> WorldAxis:
        X_WB = X_Wb @ numbers.B
        if kind == LINK:
            return WorldAxis(X_WB, (Motion(ZERO3, X_WB.position - (X_Wa @ numbers.A).position),))
        if kind == OWN:
            own = () if is_cut else numbers.law.subspace(coordinates_at(numbers.to_edge(kind), q))
            return WorldAxis(X_WB, tuple(map(X_WB.motion, own)))
        columns = []
        for column in (Motion(Z, Vector3(0.0, 0.0, numbers.advance)),) if kind == "H" else _COLUMNS[kind]:
            moved = X_WB.motion(column)
            columns.append(Motion(ZERO3, moved.linear) if kind == "P" else moved)
        return WorldAxis(X_WB, tuple(columns))

    return world_axis


def world_axis_of_edge(edge: Edge, clusters: Clusters, q: Sequence[Scalar], runner: Runner = inline) -> WorldAxis:
    """Axis of an edge at position q, for a machine in which the poses of all nodes in the world are known."""
    own = () if edge.cut else edge_coordinates(edge, q)
    poses = clusters.pose[edge.a], clusters.pose[edge.b]
    return runner(_axis_function(edge.kind, edge.cut), edge_numbers(edge), own, *poses)


def point_velocity(motion: Motion, p: Vector3) -> Vector3:
    """Velocity of point p of a body with this motion (referred to the world's origin)."""
    return motion.linear + motion.angular.cross(p)


class ChainVelocitySolver:
    """Velocity solver of one closed chain at one position, with its conditioning."""

    def __init__(self, form: ChainSolution, kinds: str, axes: list[WorldAxis]) -> None:
        self.form, self.kinds, self.axes = form, kinds, axes
        self.z = [axis.z for axis in axes]
        self.p = [axis.p for axis in axes]
        self.grade: Scalar = 1.0
        """Square of the sine of how far from singular, about."""
        self.det: Scalar = 1.0
        self._prepare()

    @property
    def divisor(self) -> Scalar:
        """Common divisor of the solution."""
        return _nonzero_determinant(self.det)

    def _prepare(self) -> None:
        family = self.form.family
        if family == PLANAR:
            self._prepare_planar()
        elif family == SPHERICAL:
            self.turns = LinearSystem3(self.z)
            self.grade = self.turns.grade
        elif family == ROD:
            self._prepare_rod(self.p[2] - self.p[1], self.p[2])
        elif family == MASSLESS:
            self._prepare_rod(self.z[1], self.p[1])
        else:
            centre = self.p[3] if self.kinds[3] == "S" else _axis_intersection(self.axes[3], self.axes[4])
            self.centre = centre
            self.arms = [self._point_velocity(k, centre) for k in range(3)]
            self.points = LinearSystem3(self.arms)
            self.grade = self.points.grade
            if self.kinds[3] != "S":
                self.turns = LinearSystem3(self.z[3:])
                self.grade = times(self.grade, self.turns.grade)

    def _point_velocity(self, k: int, p: Vector3) -> Vector3:
        """Velocity of p per unit speed of a joint."""
        return self.z[k] if self.kinds[k] == "P" else self.z[k].cross(p - self.p[k])

    def _prepare_planar(self) -> None:
        z, p = self.z, self.p
        if self.kinds == "RPP":
            self.n = z[0]
            self.det = self.n.dot(z[1].cross(z[2]))
            self.grade = times(self.det, self.det)
        elif self.kinds == "PRR":
            self.n, self.r = z[1], _component_normal_to(p[1] - p[2], z[1])
            self.det = z[0].dot(self.r)
            self.grade = over(times(self.det, self.det), plus(self.r.dot(self.r), LEAST_DIVISOR))
        else:
            self.n = z[0]
            self.r, self.s = _component_normal_to(p[0] - p[1], self.n), _component_normal_to(p[0] - p[2], self.n)
            self.det = self.n.dot(self.r.cross(self.s))
            self.grade = _conditioning(times(self.det, self.det), (self.r.dot(self.r), self.s.dot(self.s)))

    def _prepare_rod(self, rod_vector: Vector3, rod_end: Vector3) -> None:
        self.d, self.arm = rod_vector, self._point_velocity(0, rod_end)
        self.det = self.arm.dot(self.d)
        squares = times(self.d.dot(self.d), self.arm.dot(self.arm))
        self.grade = over(times(self.det, self.det), plus(squares, LEAST_DIVISOR))

    def solve(self, known_motion: Motion) -> tuple[list[Any], Scalar, Scalar]:
        """Joint speeds, in the chain's direction, that compensate a known motion; the squares of the driving and of the
        driven speeds in m/s or rad/s."""
        if self.form.family == PLANAR:
            return self._solve_planar(known_motion)
        if self.form.family == SPHERICAL:
            x = self.turns.solve(-known_motion.angular)
            return list(x), total(times(e, e) for e in x), known_motion.angular.dot(known_motion.angular)
        if self.form.family == MASSLESS:
            u = point_velocity(known_motion, self.p[1])
            x = negated(over(u.dot(self.d), self.divisor))
            return [x, None], times(times(x, x), self.arm.dot(self.arm)), u.dot(u)
        return self._solve_rod(known_motion) if self.form.family == ROD else self._solve_wrist(known_motion)

    def _solve_planar(self, known_motion: Motion) -> tuple[list[Any], Scalar, Scalar]:
        w, n = known_motion.angular.dot(self.n), self.n
        if self.kinds == "RPP":
            u = point_velocity(known_motion, self.p[0])
            x1 = negated(over(n.dot(u.cross(self.z[2])), self.divisor))
            x2 = negated(over(n.dot(self.z[1].cross(u)), self.divisor))
            return [negated(w), x1, x2], plus(times(x1, x1), times(x2, x2)), u.dot(u)
        if self.kinds == "PRR":
            u = point_velocity(known_motion, self.p[1])
            slide = negated(over(u.dot(self.r), self.divisor))
            turn = negated(over(u.dot(n.cross(self.z[0])), self.divisor))  # of joint 2, about n
            moved = plus(times(slide, slide), times(times(turn, turn), self.r.dot(self.r)))
            return [slide, negated(plus(w, turn)), times(turn, self.z[2].dot(n))], moved, u.dot(u)
        u = point_velocity(known_motion, self.p[0])
        one = negated(over(u.dot(self.s), self.divisor))
        two = over(u.dot(self.r), self.divisor)
        moved = plus(times(times(one, one), self.r.dot(self.r)), times(times(two, two), self.s.dot(self.s)))
        first = negated(total((w, one, two)))
        return [first, times(one, self.z[1].dot(n)), times(two, self.z[2].dot(n))], moved, u.dot(u)

    def _solve_rod(self, known_motion: Motion) -> tuple[list[Any], Scalar, Scalar]:
        u = point_velocity(known_motion, self.p[2])
        x = negated(over(u.dot(self.d), self.divisor))
        moving = -(u + self.arm.scaled(x))
        swing = self.d.cross(moving).scaled(over(1.0, self.d.dot(self.d)))
        turned = known_motion.angular + swing
        if self.kinds[0] == "R":
            turned = turned + self.z[0].scaled(x)
        return [x, swing, -turned], times(times(x, x), self.arm.dot(self.arm)), u.dot(u)

    def _solve_wrist(self, known_motion: Motion) -> tuple[list[Any], Scalar, Scalar]:
        u = point_velocity(known_motion, self.centre)
        x = self.points.solve(-u)
        turned = known_motion.angular
        moved: Scalar = 0.0
        for k, speed in enumerate(x):
            moved = plus(moved, times(times(speed, speed), self.arms[k].dot(self.arms[k])))
            if self.kinds[k] == "R":
                turned = turned + self.z[k].scaled(speed)
        rest = [-turned] if self.kinds[3] == "S" else list(self.turns.solve(-turned))
        return [*x, *rest], moved, u.dot(u)


class LinearSystem3:
    """Linear system Σ c_k x_k = b of three unknowns, solved by Cramer's rule."""

    def __init__(self, c: Sequence[Vector3]) -> None:
        self.rows = (c[1].cross(c[2]), c[2].cross(c[0]), c[0].cross(c[1]))
        self.det = c[0].dot(self.rows[0])
        self.grade = _conditioning(times(self.det, self.det), [e.dot(e) for e in c])

    def solve(self, b: Vector3) -> tuple[Scalar, ...]:
        """Solution for one right-hand side."""
        divisor = _nonzero_determinant(self.det)
        return tuple(over(b.dot(row), divisor) for row in self.rows)


def _nonzero_determinant(det: Scalar) -> Scalar:
    """The determinant, or 1 if it is a literal zero as in singular loops of constant numbers, to keep (unused)
    quotients finite."""
    return 1.0 if is_zero(det) else det


def _conditioning(square: Scalar, squares: Sequence[Scalar]) -> Scalar:
    """det² relative to the squared column norms; the norm of a short column counts as at least a fraction of the
    sum."""
    floor = times(SHORT_ARM_FRACTION, total(squares))
    for each in squares:
        square = over(square, plus(plus(each, floor), LEAST_DIVISOR))
    return square


def _component_normal_to(v: Vector3, n: Vector3) -> Vector3:
    return v - n.scaled(n.dot(v))


def _axis_intersection(a: WorldAxis, b: WorldAxis) -> Vector3:
    """Intersection of two axes."""
    # a.p + s a.z nearest to b: s = ((b.p − a.p) × b.z) · (a.z × b.z) / |a.z × b.z|²
    n = a.z.cross(b.z)
    s = over((b.p - a.p).cross(b.z).dot(n), n.dot(n))
    return a.p + a.z.scaled(s)


def _motion_across_joint(a: Motion, across: Motion, b: Motion) -> Motion:
    return a + across - b


def _motion_back_across_joint(a: Motion, across: Motion, b: Motion) -> Motion:
    return -(a + across - b)


def _motion_sum(*pairs: tuple[Motion, Motion]) -> Motion:
    result = ZERO_MOTION
    for into, out in pairs:
        result = result + into - out
    return result


Columns = dict[int, Motion]
"""Index of an independent speed → resulting motion; zero motions are omitted."""


class ClusterMotions:
    """Motions of the nodes relative to the first node of their cluster, while clusters merge.

    What is carried along by another node has that node's own motion, the same object: around a chain that moves as a
    whole nothing is left.
    """

    def __init__(self, nodes: Sequence[str], runner: Runner) -> None:
        self.run = runner
        self.root = {node: node for node in nodes}
        self.members: dict[str, list[str]] = {node: [node] for node in nodes}
        self.motion: dict[str, Columns] = {node: {} for node in nodes}

    def join(self, edge: Edge, across: Columns) -> None:
        """Merge two clusters; across : motions of b relative to a"""
        first, second = self.root[edge.a], self.root[edge.b]
        if first == second:
            return
        turned = second == WORLD
        if turned:
            first, second = second, first
        moved = self._relative_cluster_motions(self.motion[edge.a], across, self.motion[edge.b], turned)
        for node in self.members.pop(second):
            before = self.motion[node]
            self.motion[node] = {**before, **moved}
            for k in before.keys() & moved.keys():
                self.motion[node][k] = self.run(Motion.__add__, moved[k], before[k])
            self.root[node] = first
            self.members[first].append(node)

    def _relative_cluster_motions(self, a: Columns, across: Columns, b: Columns, turned: bool) -> Columns:
        """Motions of the merged cluster relative to the other one."""
        carrying, step = (b, _motion_back_across_joint) if turned else (a, _motion_across_joint)
        alone = carrying.keys() - across.keys() - (a if turned else b).keys()
        result = {}
        for k in sorted(a.keys() | across.keys() | b.keys()):
            parts = (a.get(k, ZERO_MOTION), across.get(k, ZERO_MOTION), b.get(k, ZERO_MOTION))
            result[k] = carrying[k] if k in alone else self.run(step, *parts)
        return result

    def known_chain_motion(self, form: ChainSolution, edges: list[Edge]) -> Columns:
        """Sum of the known motions around a chain."""
        met = []
        chain = form.chain
        for (i, forward), (k, onward) in zip(chain, chain[1:] + chain[:1], strict=True):
            leave, enter = edge_ends(edges[i], forward)[2], edge_ends(edges[k], onward)[0]
            if leave != enter:
                met.append((self.motion[enter], self.motion[leave]))
        result = {}
        for k in sorted(set().union(*(each for pair in met for each in pair))):
            pairs = [
                (into.get(k, ZERO_MOTION), out.get(k, ZERO_MOTION))
                for into, out in met
                if into.get(k) is not out.get(k)
            ]
            if pairs:
                result[k] = self.run(_motion_sum, *pairs)
        return result


def linear_combination(columns: Sequence[Motion], values: Sequence[Scalar]) -> Motion:
    """Linear combination Σ S_k v_k."""
    result = ZERO_MOTION
    for column, value in zip(columns, values, strict=True):
        result = result + column.scaled(value)
    return result


def solution_quality(sines: Sequence[Scalar], gains: Sequence[Scalar], runner: Runner) -> list[Scalar]:
    """(smallest sine, largest gain of speeds) of all chain solutions."""
    most: Scalar = 0.0
    for gain in gains:
        most = runner(_larger, most, gain)
    return [runner(_sine_from_square, smallest_value(sines, runner)), runner(sqrt, most)]


def smallest_value(values: Sequence[Scalar], runner: Runner) -> Scalar:
    """The smallest value; 1 for an empty sequence."""
    result: Scalar = 1.0
    for value in values:
        result = runner(_smaller, result, value)
    return result


def _smaller(a: Scalar, b: Scalar) -> Scalar:
    return apply("fmin", a, b)


def _larger(a: Scalar, b: Scalar) -> Scalar:
    return apply("fmax", a, b)


def _sine_from_square(square: Scalar) -> Scalar:
    return sqrt(apply("fmax", square, 0.0))
