"""Contact of the shapes of two bodies, or of a body with a plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from core.errors import ModelError
from core.mechanics.elements.contact_geometry import ContactPoint, ContactShape, contact_points, point_count
from core.mechanics.elements.contact_law import ContactLaw, Touch, design_law, touch
from core.mechanics.elements.contact_shapes import (
    ContactSides,
    find_contact_points,
    find_effective_mass,
    read_contact_sides,
)
from core.mechanics.elements.force_state import ForceState, Loads, Scalars
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.symbol_trial import read_numbers
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.tree import LinkFrame
from core.model import Force as DocumentForce
from core.model import Model
from core.model.declared_numbers import Quantity, quantity_value
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.relative_measures import relative_motion
from core.numerics.spatial.scalar import Scalar, apply, sqrt
from core.numerics.spatial.vector import ZERO, ZERO_FORCE, Force, Motion, Vector3

_XYZ = ("x", "y", "z")
FAR = 1e-12
"""N: added to the normal force by which the center of pressure is divided."""


class ContactSum(NamedTuple):
    """Forces of all points on b, about b's origin, in world axes, and what is shown of them."""

    wrench: Force
    center: Vector3
    pressure: Scalar
    friction: Scalar
    gap: Scalar
    sliding: Scalar
    power: Scalar
    lost: Scalar


@dataclass(frozen=True)
class Contact(ForceElement):
    """Contact with friction at the points of the pairs of shapes of a and b."""

    name, title, short_title = "contact", "Contact of shapes", "contact"
    help = (
        "Keeps the shapes of body b out of those of body a, or above the xy plane of a frame (a empty: the world, the "
        "ground). Where they touch, they press by a stiff spring with damping, never pull, and stick or slide by dry "
        "friction. Spheres, capsules, boxes and cylinders touch planes; spheres touch each other and all of these; "
        "capsules touch capsules. Shapes of the role 'collision' are taken, if a body has any. Numbers that are 0 "
        "follow from masses and sizes: after a fall of its own size, a body yields by 1/500 of it."
    )
    uses = ("a", "b", "settings")
    needs = ("b",)
    numbers = (
        Quantity("friction", "", 0.5, "Coefficient of friction while sliding"),
        Quantity(
            "static_friction",
            "",
            0.0,
            "Coefficient of friction at rest; 0, or less than that: as while sliding",
            "as while sliding",
        ),
        Quantity("restitution", "", 0.3, "Coefficient of restitution, from 0.14 (critical damping) to 1"),
        Quantity(
            "stiffness",
            "N/m",
            0.0,
            "Stiffness of each point, normal and tangential; 0: from masses and sizes",
            "from masses, sizes",
        ),
        Quantity(
            "stribeck_speed",
            "m/s",
            0.0,
            "Speed over which friction falls from static to sliding; 0: from sizes",
            "from sizes",
        ),
    )
    rank = 4
    touches = True
    element: str
    a: LinkFrame
    b: LinkFrame
    sides: ContactSides
    law: ContactLaw
    axes: int
    """Number of components of each point's displacement of friction: 2 on a plane, 3 otherwise, 0 without friction."""
    state: int

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a contact of the document. Raises ModelError."""
        for field in ("a", "b"):
            if getattr(force, field) in machine.junctions:
                raise ModelError(
                    "A junction has no shape and no axes, so nothing can touch it.",
                    where=f"force '{force.name}', {field}",
                    remedy="Name a body or a frame.",
                )
        numbers = machine.numbers
        law, sides = (
            read_contact_law(force, machine.model, numbers),
            read_contact_sides(force, machine.model, numbers),
        )
        ends = machine.link_frame(force.a), machine.link_frame(force.b)
        return cls(force.name, *ends, sides, law, _axes(force, machine.model), machine.states.get(force.name, 0))

    @classmethod
    def states_of(cls, force: DocumentForce, model: Model) -> tuple[str, ...]:
        """Return the names of the displacements of friction of all points, and of the energy that became heat."""
        axes, (count, _) = _axes(force, model), find_contact_points(force, model)
        return (*(f"stick{point + 1}.{axis}" for point in range(count) for axis in _XYZ[:axes]), "heat")

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return the output channels: normal force (sum of all points), friction, smallest gap, largest sliding speed,
        force on b and center of pressure in world axes, power, power that becomes heat, heat since the start."""
        return (
            ForceChannel("normal", "force"),
            ForceChannel("friction", "force"),
            ForceChannel("gap", "length"),
            ForceChannel("sliding", "velocity"),
            ForceChannel("force", "force", _XYZ),
            ForceChannel("center", "length", _XYZ),
            ForceChannel("power", "power"),
            ForceChannel("dissipation", "power"),
            ForceChannel("heat", "energy"),
        )

    def _touches(self, state: ForceState) -> list[tuple[Scalar, Touch]]:
        """Return gap and forces of all points."""
        X_a, X_b, V = self._frames(state)
        found, at = [], self.state
        for a, b in self.sides.pairs:
            points = state.run(_Pair(a.kind, b.kind), a.pose, a.radius, a.half, b.pose, b.radius, b.half, X_a, X_b)
            for gap, place, normal in points:
                stretch = None
                if self.axes:
                    stretch = Vector3(*[*state.x[at : at + self.axes], 0.0][:3])
                    at += self.axes
                found.append((gap, state.run(_touch_at, self.law, gap, place, normal, X_a, X_b, V, stretch)))
        return found

    def _frames(self, state: ForceState) -> tuple[Pose, Pose, Motion]:
        """Return the frames of a and b, and the motion of b relative to a at b's origin, world axes."""
        kinematics = state.kinematics
        X_a, X_b = kinematics.frame(self.a), kinematics.frame(self.b)
        return X_a, X_b, state.run(relative_motion, X_a, X_b, kinematics.motion(self.a), kinematics.motion(self.b))

    def _wrench(self, state: ForceState) -> Force:
        """Return the wrench on b about its origin, world axes."""
        X_a, X_b, _ = self._frames(state)
        total = ZERO_FORCE
        for _, point in self._touches(state):
            total = state.run(Force.__add__, total, state.run(_wrench_on_b, X_a, X_b, point))
        return total

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the forces of all points and their reactions to the loads."""
        loads.add_wrench_pair(self.a, self.b, state.kinematics.frame(self.b).position, self._wrench(state))

    def x_rate(self, state: ForceState) -> Scalars:
        """Return the rates of the displacements of friction, and the power that becomes heat."""
        touches, lost = self._touches(state), 0.0
        for _, point in touches:
            lost = state.run(_add, lost, point.lost)
        return [*(rate for _, point in touches for rate in point.stretch_rate[: self.axes]), lost]

    def x_rest(self, state: ForceState) -> Scalars:
        """Return zeros: no contact carries friction before something has moved."""
        return (0.0,) * (self.loss_state - self.state + 1)

    @property
    def loss_state(self) -> int:
        """Return the index in x of the heat since the start."""
        return self.state + self.axes * sum(point_count(a.kind, b.kind) for a, b in self.sides.pairs)

    def output_values(self, state: ForceState) -> Scalars:
        """Return the values of the output channels."""
        X_a, X_b, V = self._frames(state)
        touches = self._touches(state)
        total: ContactSum = state.run(_sum_up, X_a, X_b, V, tuple(touches))
        values = (total.pressure, total.friction, total.gap, total.sliding, *total.wrench.force, *total.center)
        return (*values, total.power, total.lost, state.x[self.loss_state] if len(state.x) else 0.0)

    def potential(self, state: ForceState) -> Scalar:
        """Return the energy of the springs of all points."""
        stored: Scalar = 0.0
        for _, point in self._touches(state):
            stored = state.run(_add, stored, point.stored)
        return stored

    def ends(self) -> tuple[LinkFrame, LinkFrame]:
        """Return both frames."""
        return self.a, self.b

    def end_forces(self, state: ForceState) -> Sequence[Vector3]:
        """Return the reaction on a, and the force on b."""
        force = self._wrench(state).force
        return state.run(Vector3.__neg__, force), force


def read_contact_law(force: DocumentForce, model: Model, numbers: Numbers) -> ContactLaw:
    """Return the law of a contact of the document. Raises ModelError."""
    given = read_numbers(force, f"force '{force.name}'", numbers)
    uniform, sides = numbers.gravity(model.world.gravity)[0], read_contact_sides(force, model, numbers)
    return design_law(
        ContactLaw(given.stiffness, 0.0, 0.0, 0.0, given.friction, given.static_friction, given.stribeck_speed),
        given.restitution,
        find_effective_mass(force, model, numbers),
        sides.size,
        sqrt(uniform.dot(uniform)),
        sides.together,
    )


def _axes(force: DocumentForce, model: Model) -> int:
    """Return the number of states of each point."""
    given = [quantity_value(each, force.settings) for each in force.info.numbers[:2]]
    if all(isinstance(value, int | float) and value == 0.0 for value in given):
        return 0
    return 2 if find_contact_points(force, model)[1] else 3


@dataclass(frozen=True)
class _Pair:
    """Function of the points of two shapes of given kinds."""

    first: str
    second: str

    def __call__(self, *arguments: Any) -> tuple[ContactPoint, ...]:
        pose_a, radius_a, half_a, pose_b, radius_b, half_b, X_a, X_b = arguments
        a = ContactShape(self.first, pose_a, radius_a, half_a)
        b = ContactShape(self.second, pose_b, radius_b, half_b)
        return tuple(contact_points(a, b, X_a.inverse() @ X_b))


def _add(a: Scalar, b: Scalar) -> Scalar:
    return a + b


def _touch_at(
    law: ContactLaw,
    gap: Scalar,
    place: Vector3,
    normal: Vector3,
    X_a: Pose,
    X_b: Pose,
    V: Motion,
    stretch: Vector3 | None,
) -> Touch:
    """Return the forces at a point. V : motion of b relative to a at b's origin, world axes"""
    arm = X_a.point(place) - X_b.position
    velocity = X_a.rotation.act_back(V.linear + V.angular.cross(arm))
    return touch(law, gap, place, normal, velocity, stretch)


def _wrench_on_b(X_a: Pose, X_b: Pose, point: Touch) -> Force:
    """Return the wrench of a point on b about b's origin, world axes."""
    force = X_a.rotation.act(point.normal.scaled(point.pressure) + point.friction)
    return Force((X_a.point(point.place) - X_b.position).cross(force), force)


def _sum_up(X_a: Pose, X_b: Pose, V: Motion, touches: tuple[tuple[Scalar, Touch], ...]) -> ContactSum:
    """Return the sums over all points; gap: the smallest, sliding: the largest of points that press."""
    wrench, center, rubbing, pressure, lost = ZERO_FORCE, ZERO, ZERO, 0.0, 0.0
    speeds = []
    for _, point in touches:
        wrench = wrench + _wrench_on_b(X_a, X_b, point)
        center = center + X_a.point(point.place).scaled(point.pressure)
        rubbing = rubbing + point.friction
        pressure, lost = pressure + point.pressure, lost + point.lost
        speed = sqrt(point.sliding.dot(point.sliding) + FAR * FAR)
        speeds.append(apply("if_else", apply("gt", point.pressure, 0.0), speed, 0.0))
    return ContactSum(
        wrench,
        center.over(pressure + FAR),
        pressure,
        sqrt(rubbing.dot(rubbing)),
        reduce(lambda a, b: apply("fmin", a, b), [gap for gap, _ in touches]),
        reduce(lambda a, b: apply("fmax", a, b), speeds),
        V.dot(wrench),
        lost,
    )
