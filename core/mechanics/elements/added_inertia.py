"""Inertia in addition to that of the links: masses on the lines of force elements, rotors of cut joints, masses of
tendons.

A mass that moves with the length L of a tendon, a weighted sum of coordinates and distances, has the energy ½ m L̇². To
the mass matrix it adds m Jᵀ J with L̇ = J v, to the forces m Jᵀ L̈. Of a distance L̈ = e · p̈ + (ṗ · ṗ − L̇²)/L.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from core.later import dataclass
from core.mechanics.elements.force_state import Loads, add_scaled_force
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.kinematics import jacobian, joint_speeds
from core.mechanics.tree import LinkFrame, Scalars
from core.numerics.spatial.relative_measures import TINY
from core.numerics.spatial.scalar import Scalar, all_zero, minus, negated, over, plus, sqrt, times, total
from core.numerics.spatial.vector import ZERO, Force, Vector3


class AddedInertia(Protocol):
    """Interface of a mass m that moves with the velocity J v."""

    @property
    def mass(self) -> Scalar:
        """Return m."""
        ...

    def inertia(self, kinematics: KinematicState, loads: Loads) -> None:
        """Add the inertia forces (and the weight) to the loads."""
        ...

    def columns(self, kinematics: KinematicState) -> Sequence[Scalars]:
        """Return J, one column per speed; literal zeros where a speed does not move the mass."""
        ...

    def energy(self, kinematics: KinematicState) -> tuple[Scalar, Scalar]:
        """Return (kinetic, potential) energy, J."""
        ...


def add_product(entry: Scalar, mass: Scalar, first_column: Scalars, second_column: Scalars) -> Scalar:
    """Return M_ij + m J_i · J_j."""
    return plus(entry, times(mass, total(times(x, y) for x, y in zip(first_column, second_column, strict=True))))


def add_inertia(M: list[list[Scalar]], masses: Sequence[AddedInertia], kinematics: KinematicState) -> None:
    """Add the masses to the mass matrix: M += Σ m Jᵀ J."""
    for mass in masses:
        columns = [tuple(column) for column in mass.columns(kinematics)]
        for i, one in enumerate(columns):
            for j in range(i + 1):
                if not (all_zero(one) or all_zero(columns[j])):
                    M[i][j] = kinematics.run(add_product, M[i][j], mass.mass, one, columns[j])
                    M[j][i] = M[i][j]


def add_reduced(
    M: dict[tuple[int, int], Scalar],
    masses: Sequence[AddedInertia],
    kinematics: KinematicState,
    spans: Sequence[Mapping[int, Scalar]],
) -> None:
    """Add the masses to a reduced mass matrix: M += Σ m (J Φ)ᵀ (J Φ). M is given by the entries (row, column) of its
    lower triangle, Φ by the entries of its columns."""
    for mass in masses:
        columns = [tuple(column) for column in mass.columns(kinematics)]
        moving = {k for k, column in enumerate(columns) if not all_zero(column)}
        moved: dict[int, Scalars] = {}
        for i, span in enumerate(spans):
            if own := sorted(moving & span.keys()):
                given = tuple(span[k] for k in own), tuple(columns[k] for k in own)
                moved[i] = kinematics.run(_weighted_sum, *given)
        for i, one in moved.items():
            for j, other in moved.items():
                if j <= i:
                    M[i, j] = kinematics.run(add_product, M.get((i, j), 0.0), mass.mass, one, other)


def _weighted_sum(weights: Scalars, columns: Sequence[Scalars]) -> tuple[Scalar, ...]:
    return tuple(total(map(times, weights, row)) for row in zip(*columns, strict=True))


class JointCoordinate(NamedTuple):
    """Single coordinate of a link's joint."""

    link: int


class Distance(NamedTuple):
    """Distance between two frames' origins."""

    a: LinkFrame
    b: LinkFrame


PathPart = JointCoordinate | Distance


@dataclass(frozen=True)
class TendonInertia:
    """Mass of a tendon; parts : the weighted terms of its length."""

    name: str
    mass: Scalar
    parts: tuple[tuple[Scalar, PathPart], ...]

    def inertia(self, kinematics: KinematicState, loads: Loads) -> None:
        """Add the inertia force −m L̈ along the length to the loads."""
        run, second = kinematics.run, 0.0
        for factor, part in self.parts:
            second = run(add_scaled_force, second, factor, _length_acceleration(part, kinematics))
        force = run(inertia_force, self.mass, second)
        for factor, part in self.parts:
            own = run(times, factor, force)
            if isinstance(part, JointCoordinate):
                link = kinematics.tree.links[part.link]
                loads.add_joint_force(link.first_v, link.coupling, own)
            else:
                p_b = kinematics.frame(part.b).position
                loads.add_wrench_pair(part.a, part.b, p_b, run(force_on_b, *_line_state(part, kinematics)[:2], own))

    def columns(self, kinematics: KinematicState) -> list[tuple[Scalar]]:
        """Return J, one column of one entry per speed."""
        run, tree = kinematics.run, kinematics.tree
        row: list[Scalar] = [0.0] * tree.nv
        for factor, part in self.parts:
            if isinstance(part, JointCoordinate):
                link = tree.links[part.link]
                ratio = 1.0 if link.coupling is None else link.coupling.ratio
                row[link.first_v] = run(add_scaled_force, row[link.first_v], ratio, factor)
                continue
            p, length = _line_state(part, kinematics)[:2]
            for end, sign in ((part.b, 1.0), (part.a, -1.0)):
                if end.link < 0:
                    continue
                turns = jacobian(tree, kinematics.q, end.link, end.pose, run)[3:]
                for k in range(tree.nv):
                    column = Vector3(turns[0][k], turns[1][k], turns[2][k])
                    if not all_zero(column):
                        share = run(component_along, p, length, column)
                        row[k] = run(add_scaled_force, row[k], sign, run(times, factor, share))
        return [(entry,) for entry in row]

    def energy(self, kinematics: KinematicState) -> tuple[Scalar, Scalar]:
        """Return (kinetic ½ m L̇², potential 0), J."""
        run, rate = kinematics.run, 0.0
        for factor, part in self.parts:
            rate = run(add_scaled_force, rate, factor, _length_rate(part, kinematics))
        return run(kinetic_energy, self.mass, rate), 0.0


def _line_state(part: Distance, kinematics: KinematicState) -> tuple[Vector3, Scalar, Vector3]:
    """Return (p_ab, its length, its rate), world axes."""
    run = kinematics.run
    p = run(Vector3.__sub__, kinematics.frame(part.b).position, kinematics.frame(part.a).position)
    v = run(Vector3.__sub__, kinematics.motion(part.b).linear, kinematics.motion(part.a).linear)
    return p, run(vector_length, p), v


def _length_rate(part: PathPart, kinematics: KinematicState) -> Scalar:
    """Return the rate of a part's length."""
    if isinstance(part, JointCoordinate):
        return kinematics.speeds[part.link][0]
    return kinematics.run(component_along, *_line_state(part, kinematics))


def _length_acceleration(part: PathPart, kinematics: KinematicState) -> Scalar:
    """Return the second time derivative of a part's length."""
    run, tree = kinematics.run, kinematics.tree
    if isinstance(part, JointCoordinate):
        a = [0.0] * tree.nv if kinematics.a is None else kinematics.a
        return joint_speeds(tree, a, run)[part.link][0]
    change = run(Vector3.__sub__, kinematics.acceleration(part.b), kinematics.acceleration(part.a))
    return run(length_acceleration, *_line_state(part, kinematics), change)


def vector_length(p: Vector3) -> Scalar:
    """Return |p|."""
    return sqrt(plus(p.dot(p), TINY))


def component_along(p: Vector3, length: Scalar, v: Vector3) -> Scalar:
    """Return e · v, the component of v along the direction e of p."""
    return over(p.dot(v), length)


def length_acceleration(p: Vector3, length: Scalar, v: Vector3, acceleration: Vector3) -> Scalar:
    """Return the second derivative of a length: e · p̈ + (ṗ · ṗ − L̇²)/L."""
    rate = component_along(p, length, v)
    return plus(component_along(p, length, acceleration), over(minus(v.dot(v), times(rate, rate)), length))


def inertia_force(mass: Scalar, second: Scalar) -> Scalar:
    """Return −m L̈."""
    return negated(times(mass, second))


def force_on_b(p: Vector3, length: Scalar, force: Scalar) -> Force:
    """Return the wrench of a force along the line on its end b."""
    return Force(ZERO, p.scaled(over(force, length)))


def kinetic_energy(mass: Scalar, rate: Scalar) -> Scalar:
    """Return ½ m L̇²."""
    return times(0.5, times(mass, times(rate, rate)))
