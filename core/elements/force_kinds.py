"""The kinds of force elements: on a line, along a relative measure, in a joint, and any force and torque."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from core.elements.force_element import (
    End,
    ForceState,
    Law,
    Loads,
    Observed,
    Scalars,
    Term,
    added,
    along,
    next_to,
    power_of,
)
from core.elements.sensors import RelativeMeasure, Share, measurement
from core.mechanics.tree import Place
from core.spatial.force import Force
from core.spatial.motion import Motion
from core.spatial.pose import Pose
from core.spatial.relative_measures import TINY, rate
from core.spatial.scalar import Scalar, minus, negated, over, plus, sqrt, times
from core.spatial.vector import ZERO, Vector3


class Line(NamedTuple):
    """Length, its rate, and the unit vector from a to b."""

    length: Scalar
    rate: Scalar
    direction: Vector3


def line_of(p_a: Vector3, v_a: Vector3, p_b: Vector3, v_b: Vector3) -> Line:
    """The line between two moving points; without direction where its length is zero."""
    p = p_b - p_a
    length = sqrt(plus(p.dot(p), TINY))
    direction = Vector3(*(over(component, length) for component in p))
    return Line(length, direction.dot(v_b - v_a), direction)


def pull_on_b(direction: Vector3, force: Scalar) -> Force:
    """F pulls b toward a."""
    return Force(ZERO, direction.scaled(negated(force)))


class _Along:
    """What all elements have in common that act along one quantity: a length, a relative measure, a coordinate."""

    law: Law

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """(value, rate), m or rad, per s."""
        raise NotImplementedError

    def force(self, s: ForceState, value: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
        """(F, potential), N or N·m, J."""
        return along(self.law, s, value, speed)

    def observed(self, s: ForceState) -> Observed:
        """See `ForceElement`."""
        value, speed = self.quantity(s)
        force, potential = self.force(s, value, speed)
        return Observed(value, speed, force, s.run(power_of, force, speed), potential)

    def potential(self, s: ForceState) -> Scalar:
        """See `ForceElement`."""
        return self.force(s, *self.quantity(s))[1]


@dataclass(frozen=True)
class LineForce(_Along):
    """A law on the line between two points."""

    name: str
    a: End
    b: End
    law: Law

    def line(self, s: ForceState) -> Line:
        """The line now."""
        return s.run(line_of, *s.point(self.a), *s.point(self.b))

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """(length, rate), m, m/s."""
        line = self.line(s)
        return line.length, line.rate

    def on_b(self, s: ForceState) -> Force:
        """The wrench on b, at b."""
        line = self.line(s)
        return s.run(pull_on_b, line.direction, self.force(s, line.length, line.rate)[0])

    def act(self, s: ForceState, loads: Loads) -> None:
        """See `ForceElement`."""
        wrench = self.on_b(s)
        loads.between(self.a, self.b, s.point(self.b)[0], wrench)

    def at_ends(self, s: ForceState) -> list[tuple[End, Vector3]]:
        """The force on each end, world axes."""
        on_b = self.on_b(s).force
        return [(self.a, -on_b), (self.b, on_b)]


@dataclass(frozen=True)
class SeriesForce(LineForce):
    """A spring and a damper one behind the other; its state is the elongation of the spring: F = k x,
    ẋ = L̇ − F/c."""

    state: int = 0

    def force(self, s: ForceState, value: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
        """(k x, ½ k x²)."""
        return s.run(resistance_of, self.law.stiffness, s.x[self.state])

    def state_rate(self, s: ForceState) -> Scalar:
        """ẋ."""
        length, speed = self.quantity(s)
        force, _ = self.force(s, length, speed)
        return s.run(minus, speed, s.run(over, force, self.law.damping))


def resistance_of(stiffness: Scalar, stretch: Scalar) -> tuple[Scalar, Scalar]:
    """(k x, ½ k x²)."""
    return times(stiffness, stretch), times(0.5, times(stiffness, times(stretch, stretch)))


@dataclass(frozen=True)
class MeasureForce(_Along):
    """A law along one component of a sum of relative measures."""

    name: str
    shares: tuple[Share, ...]
    offset: Scalar
    law: Law
    component: int = 0
    state: int | None = None
    """Where the angle as counted over turns is in x."""

    def _sums(self, s: ForceState) -> tuple[list[tuple[Share, Force]], Scalar, Scalar]:
        """Chords with their wrenches, value, rate."""
        pairs: list[tuple[Share, Force]] = []
        value, speed = s.run(negated, self.offset), 0.0
        for share in self.shares:
            measured, motion = measurement(share.measure, s.kinematics)
            wrench = measured.wrenches[self.component]
            pairs.append((share, wrench))
            value = s.run(added, value, share.sign, measured.values[self.component])
            speed = s.run(added, speed, share.sign, s.run(rate, wrench, motion))
        if self.state is not None:
            value = s.run(next_to, s.x[self.state], value)
        return pairs, value, speed

    def act(self, s: ForceState, loads: Loads) -> None:
        """See `ForceElement`."""
        pairs, value, speed = self._sums(s)
        force, _ = self.force(s, value, speed)
        for share, wrench in pairs:
            against = s.run(against_growth, wrench, share.sign, force)
            loads.between(share.measure.a, share.measure.b, s.kinematics.frame(share.measure.b).position, against)

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """(value, rate) of the sum, less its offset."""
        return self._sums(s)[1:]


def against_growth(wrench: Force, share: Scalar, force: Scalar) -> Force:
    """−F along a relative measure."""
    return wrench.scaled(negated(times(share, force)))


@dataclass(frozen=True)
class JointForce(_Along):
    """A law in a coordinate of a joint of the tree: coordinate k of the link's own, or the k-th displacement of a
    joint with a quaternion."""

    name: str
    link: int
    k: int
    law: Law

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """(coordinate or displacement, speed)."""
        link = s.kinematics.tree.links[self.link]
        own, speed = s.kinematics.coordinates[self.link], s.kinematics.speeds[self.link][self.k]
        if link.law.nq == link.law.nv:
            return own[self.k], speed
        return s.run(displacement, link.law, own, link.law.neutral)[self.k], speed

    def act(self, s: ForceState, loads: Loads) -> None:
        """See `ForceElement`."""
        force, _ = self.force(s, *self.quantity(s))
        link = s.kinematics.tree.links[self.link]
        loads.drive(link.first_v + self.k, link.coupling, s.run(negated, force))


@dataclass(frozen=True)
class CutJointForce(_Along):
    """A law in the k-th displacement (from `rest`) of a joint with a quaternion that closes a loop."""

    name: str
    measure: RelativeMeasure
    """The joint's measure; its `axis` is the joint's law."""
    k: int
    law: Law
    rest: tuple[Scalar, ...]

    def _coordinate(self, s: ForceState) -> tuple[Force, Scalar, Scalar]:
        measured, motion = measurement(self.measure, s.kinematics)
        wrench = measured.wrenches[self.k]
        value = s.run(displacement, self.measure.axis, measured.values, self.rest)[self.k]
        return wrench, value, s.run(rate, wrench, motion)

    def act(self, s: ForceState, loads: Loads) -> None:
        """See `ForceElement`."""
        wrench, value, speed = self._coordinate(s)
        force, _ = self.force(s, value, speed)
        a, b = self.measure.a, self.measure.b
        loads.between(a, b, s.kinematics.frame(b).position, s.run(against_growth, wrench, 1.0, force))

    def quantity(self, s: ForceState) -> tuple[Scalar, Scalar]:
        """(displacement, speed)."""
        return self._coordinate(s)[1:]


def displacement(law: Any, q: Scalars, neutral: Scalars) -> tuple[Scalar, ...]:
    """Displacement from a position, one number per speed."""
    return law.displacement(q, neutral)


# --------------------------------------------------------------------------------------------- force and torque


@dataclass(frozen=True)
class WrenchForce:
    """Force and torque on b at its origin, the opposite on a at the same point, in the axes of `resolve`."""

    name: str
    a: End
    b: End
    resolve: Place
    force: tuple[Term, Term, Term]
    torque: tuple[Term, Term, Term]

    def _wrench(self, s: ForceState) -> Force:
        torque, force = (Vector3(*(s.value(term) for term in terms)) for terms in (self.torque, self.force))
        return s.run(turned, s.kinematics.frame(self.resolve), torque, force)

    def act(self, s: ForceState, loads: Loads) -> None:
        """See `ForceElement`."""
        loads.between(self.a, self.b, s.point(self.b)[0], self._wrench(s))

    def at_ends(self, s: ForceState) -> list[tuple[End, Vector3]]:
        """The force on each end, world axes."""
        force = self._wrench(s).force
        return [(self.a, -force), (self.b, force)]

    def observed(self, s: ForceState) -> Sequence[Scalar]:
        """Force and torque in world axes, power."""
        F = self._wrench(s)
        p, v = zip(s.point(self.a), s.point(self.b), strict=True)
        turns = [s.kinematics.motion(end).angular if isinstance(end, Place) else ZERO for end in (self.a, self.b)]
        return (*F.force, *F.moment, s.run(power_against, F, tuple(turns), p, v))

    def potential(self, s: ForceState) -> Scalar:
        """None."""
        return 0.0


def power_against(F: Force, turns: Sequence[Vector3], p: Sequence[Vector3], v: Sequence[Vector3]) -> Scalar:
    """Power of a wrench on b at its origin and of its reaction on a."""
    linear = v[1] - v[0] - turns[0].cross(p[1] - p[0])
    return Motion(turns[1] - turns[0], linear).dot(F)


def turned(X: Pose, torque: Vector3, force: Vector3) -> Force:
    """A wrench given in a frame's axes, in world axes."""
    return Force(X.rotation.act(torque), X.rotation.act(force))
