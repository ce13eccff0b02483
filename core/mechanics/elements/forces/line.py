"""Force law on the line between two points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from core.errors import ModelError
from core.mechanics.elements.force_state import End, ForceState, Loads
from core.mechanics.elements.forces.along_one import LAW_FIELDS, ForceLaw, ScalarForce, read_law
from core.mechanics.elements.forces.force_element import ForceElement
from core.mechanics.elements.line_masses import LineMass
from core.mechanics.elements.resolver import Resolver
from core.model import Force as DocumentForce
from core.model.forces import LINE
from core.numerics.spatial.relative_measures import TINY
from core.numerics.spatial.scalar import Scalar, negated, over, plus, sqrt
from core.numerics.spatial.vector import ZERO, Force, Vector3


class Line(NamedTuple):
    """Length of a line, its rate, and the unit vector from a to b."""

    length: Scalar
    rate: Scalar
    direction: Vector3


def line_between(p_a: Vector3, v_a: Vector3, p_b: Vector3, v_b: Vector3) -> Line:
    """Return the line between two moving points; its direction is zero where its length is zero."""
    p = p_b - p_a
    length = sqrt(plus(p.dot(p), TINY))
    direction = Vector3(*(over(component, length) for component in p))
    return Line(length, direction.dot(v_b - v_a), direction)


def pull_on_b(direction: Vector3, force: Scalar) -> Force:
    """Return the force on b that pulls it toward a."""
    return Force(ZERO, direction.scaled(negated(force)))


class OnLine(ScalarForce):
    """Base class of force elements on the line between two points."""

    needs = ("b",)
    along = LINE
    a: End
    b: End

    def line(self, state: ForceState) -> Line:
        """Return the line at a state."""
        return state.run(line_between, *state.point(self.a), *state.point(self.b))

    def value_and_rate(self, state: ForceState) -> tuple[Scalar, Scalar]:
        """Return (length, rate), m, m/s."""
        line = self.line(state)
        return line.length, line.rate

    def wrench_on_b(self, state: ForceState) -> Force:
        """Return the wrench that the line exerts on b, about b's origin."""
        line = self.line(state)
        return state.run(pull_on_b, line.direction, self.force_and_potential(state, line.length, line.rate)[0])

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the element's force to the loads."""
        wrench = self.wrench_on_b(state)
        loads.add_wrench_pair(self.a, self.b, state.point(self.b)[0], wrench)

    def ends(self) -> tuple[End, ...]:
        """Return both ends of the line."""
        return self.a, self.b

    def end_forces(self, state: ForceState) -> tuple[Vector3, Vector3]:
        """Return the opposite forces along the line."""
        on_b = self.wrench_on_b(state).force
        return -on_b, on_b


@dataclass(frozen=True)
class LineForce(OnLine):
    """Spring, damper or other force law on a line, with optional point masses on the line."""

    name, title, short_title = "line", "Spring, damper or any law on a line", "on a line"
    help = (
        "Acts along the line from a's to b's origin; positive pulls the ends together: stiffness · (length − rest) "
        "+ damping · rate + law. It may carry point masses."
    )
    uses = ("a", "b", *LAW_FIELDS, "masses")
    rank = 1
    element: str
    a: End
    b: End
    law: ForceLaw

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        law = read_law(force, machine)
        return cls(force.name, machine.end(force.a), machine.end(force.b), law)

    @classmethod
    def masses(cls, force: DocumentForce, machine: Resolver) -> tuple[LineMass, ...]:
        """Return the point masses of the document's element, in its order."""
        return tuple(_read_line_mass(force, k, machine) for k in range(len(force.masses)))


def _read_line_mass(force: DocumentForce, k: int, machine: Resolver) -> LineMass:
    part, where = force.masses[k], f"force '{force.name}', masses[{k}]"
    a, b = machine.end(force.a), machine.end(force.b)
    if isinstance(a, int) or isinstance(b, int):
        raise ModelError(
            "A line with point masses cannot end at a junction, which is massless.",
            where=where,
            remedy="Replace the junction by a body with a mass.",
        )
    mass, place = (machine.numbers.scalar(value, where) for value in (part.mass, part.place))
    return LineMass(force.name, a, b, mass, part.at, place)
