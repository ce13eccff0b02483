"""Spring and damper in series on the line between two points."""

from __future__ import annotations

from dataclasses import dataclass

from core.errors import ModelError
from core.mechanics.elements.force_state import End, ForceState, Scalars
from core.mechanics.elements.forces.along_one import ForceLaw, read_law
from core.mechanics.elements.forces.force_element import ForceElement
from core.mechanics.elements.forces.line import OnLine
from core.mechanics.elements.resolver import Resolver
from core.model import Force
from core.numerics.spatial.scalar import Scalar, is_zero, minus, over, times


@dataclass(frozen=True)
class SeriesForce(OnLine):
    """Spring and damper in series. Its state is the elongation x of the spring: F = k x, ẋ = L̇ − F/c."""

    name, title, short_title = "series", "Spring and damper in series on a line", "in series"
    help = "Acts along the line from a to b, without a mass between spring and damper."
    uses = ("a", "b", "stiffness", "rest", "damping")
    nonzero = ("stiffness", "damping")
    rank = 2
    state_names = ("stretch",)
    element: str
    a: End
    b: End
    law: ForceLaw
    state: int

    @classmethod
    def read(cls, force: Force, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        law = read_law(force, machine)
        for field in force.info.nonzero:
            if is_zero(getattr(law, field)):
                raise ModelError(
                    "A spring and damper in series need a positive stiffness and a positive damping.",
                    where=f"force '{force.name}', {field}",
                    remedy="Enter a positive value, or use a line force.",
                )
        return cls(force.name, machine.end(force.a), machine.end(force.b), law, machine.states[force.name])

    def force_and_potential(self, s: ForceState, value: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
        """Return (k x, ½ k x²)."""
        return s.run(spring_force_and_energy, self.law.stiffness, s.x[self.state])

    def x_rate(self, state: ForceState) -> Scalars:
        """Return ẋ."""
        length, speed = self.value_and_rate(state)
        force, _ = self.force_and_potential(state, length, speed)
        return (state.run(minus, speed, state.run(over, force, self.law.damping)),)

    def x_rest(self, state: ForceState) -> Scalars:
        """Return the initial state, in which the spring takes the whole elongation."""
        return (minus(self.line(state).length, self.law.rest),)


def spring_force_and_energy(stiffness: Scalar, stretch: Scalar) -> tuple[Scalar, Scalar]:
    """Return (k x, ½ k x²)."""
    return times(stiffness, stretch), times(0.5, times(stiffness, times(stretch, stretch)))
