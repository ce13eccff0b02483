"""Force and torque on b at its origin, and the reaction on a at the same point, given in the axes of a frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from core.mechanics.elements.force_state import End, ForceState, Loads, Scalars, Term
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.resolver import Resolver
from core.mechanics.tree import Place
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
    resolve: Place
    force: tuple[Term, ...]
    torque: tuple[Term, ...]

    @classmethod
    def read(cls, force: DocumentForce, machine: Resolver) -> ForceElement:
        """Read a force element of the document. Raises ModelError."""
        vectors: list[Any] = [
            tuple(machine.term(x, f"force '{force.name}', {field}") for x in getattr(force, field))
            for field in ("force", "torque")
        ]
        return cls(force.name, machine.end(force.a), machine.end(force.b), machine.place(force.resolve), *vectors)

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return the output channels: force and torque in world axes, power."""
        return (
            ForceChannel("force", "force", _XYZ),
            ForceChannel("torque", "torque", _XYZ),
            ForceChannel("power", "power"),
        )

    def _wrench(self, s: ForceState) -> Force:
        torque, force = (Vector3(*(s.value(term) for term in terms)) for terms in (self.torque, self.force))
        return s.run(turned, s.kinematics.frame(self.resolve), torque, force)

    def act(self, s: ForceState, loads: Loads) -> None:
        """Add the wrench and its reaction to the loads."""
        loads.between(self.a, self.b, s.point(self.b)[0], self._wrench(s))

    def ends(self) -> tuple[End, ...]:
        """Return frames a and b."""
        return self.a, self.b

    def at_ends(self, s: ForceState) -> tuple[Vector3, Vector3]:
        """Return the force on b, and its reaction on a."""
        force = self._wrench(s).force
        return -force, force

    def observed(self, s: ForceState) -> Scalars:
        """Return the values of the output channels."""
        F = self._wrench(s)
        p, v = zip(s.point(self.a), s.point(self.b), strict=True)
        turns = [s.kinematics.motion(end).angular if isinstance(end, Place) else ZERO for end in (self.a, self.b)]
        return (*F.force, *F.moment, s.run(power_against, F, tuple(turns), p, v))

    def potential(self, s: ForceState) -> Scalar:
        """Return zero."""
        return 0.0


def power_against(F: Force, turns: Sequence[Vector3], p: Sequence[Vector3], v: Sequence[Vector3]) -> Scalar:
    """Return the power of a wrench on b at its origin and of its reaction on a."""
    linear = v[1] - v[0] - turns[0].cross(p[1] - p[0])
    return Motion(turns[1] - turns[0], linear).dot(F)


def turned(X: Pose, torque: Vector3, force: Vector3) -> Force:
    """Transform a wrench from a frame's axes to world axes."""
    return Force(X.rotation.act(torque), X.rotation.act(force))
