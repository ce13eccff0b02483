"""Force and torque on b at its origin, and the reaction on a at the same point, given in the axes of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.mechanics.elements.force_state import End, ForceState, Loads, Scalars, Term
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.resolver import Resolver
from core.mechanics.tree import LinkFrame
from core.model import Force as DocumentForce
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Force, Motion, Vector3

_XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class WrenchForce(ForceElement):
    """Wrench with components that are numbers or formulas."""

    name, title, short_title = "wrench", "Force and torque", "force and torque"
    help = (
        "Acts on b at its origin, with the opposite on a (default: world) at the same point, in the axes of "
        "`resolve` (empty: world; may be a or b)."
    )
    uses = ("a", "b", "resolve", "force", "torque")
    needs = ("b",)
    rank = 0
    element: str
    a: End
    b: End
    resolve: LinkFrame
    force: tuple[Term, ...]
    torque: tuple[Term, ...]

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        vectors: list[Any] = [
            tuple(machine.read_term(x, f"force '{force.name}', {field}") for x in getattr(force, field))
            for field in ("force", "torque")
        ]
        return cls(force.name, machine.end(force.a), machine.end(force.b), machine.link_frame(force.resolve), *vectors)

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return the output channels: force and torque in world axes, power."""
        return (
            ForceChannel("force", "force", _XYZ),
            ForceChannel("torque", "torque", _XYZ),
            ForceChannel("power", "power"),
        )

    def _wrench(self, state: ForceState) -> Force:
        torque, force = (Vector3(*(state.value(term) for term in terms)) for terms in (self.torque, self.force))
        return state.run(rotate_wrench_to_world, state.kinematics.frame(self.resolve), torque, force)

    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the wrench and its reaction to the loads."""
        loads.add_wrench_pair(self.a, self.b, state.point(self.b)[0], self._wrench(state))

    def ends(self) -> tuple[End, ...]:
        """Return frames a and b."""
        return self.a, self.b

    def end_forces(self, state: ForceState) -> tuple[Vector3, Vector3]:
        """Return the force on b, and its reaction on a."""
        force = self._wrench(state).force
        return -force, force

    def output_values(self, state: ForceState) -> Scalars:
        """Return the values of the output channels."""
        F = self._wrench(state)
        p, v = zip(state.point(self.a), state.point(self.b), strict=True)
        turns = [
            state.kinematics.motion(end).angular if isinstance(end, LinkFrame) else ZERO for end in (self.a, self.b)
        ]
        return (*F.force, *F.moment, state.run(relative_power, F, tuple(turns), p, v))

    def potential(self, state: ForceState) -> Scalar:
        """Return zero."""
        return 0.0


def relative_power(F: Force, turns: Sequence[Vector3], p: Sequence[Vector3], v: Sequence[Vector3]) -> Scalar:
    """Return the power of a wrench on b at its origin together with its reaction on a. turns: angular velocities of a
    and b."""
    linear = v[1] - v[0] - turns[0].cross(p[1] - p[0])
    return Motion(turns[1] - turns[0], linear).dot(F)


def rotate_wrench_to_world(X: Pose, torque: Vector3, force: Vector3) -> Force:
    """Transform a wrench from the axes of a frame to world axes."""
    return Force(X.rotation.act(torque), X.rotation.act(force))
