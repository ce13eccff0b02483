"""State on which force elements depend, and the loads to which they add."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from core.errors import ExpressionError
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Coupling, LinkFrame
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, plus, times
from core.numerics.spatial.vector import ZERO_FORCE, Force, Vector3

Scalars = Sequence[Scalar]


class Formula(Protocol):
    """Formula of signals."""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that the formula uses; `length` and `rate` are the element's own."""
        ...

    def __call__(self, values: tuple[Scalar, ...]) -> Scalar:
        """Evaluate the formula from the values of its names."""
        ...


Term = Any
"""Scalar, or a `Formula`."""


class ForceState:
    """State of a machine with everything that formulas and force elements may use.

    signal : value of a name; x, x_rate : states of force elements and their rates; smooth : without friction that runs
    take by modes
    """

    def __init__(
        self,
        kinematics: KinematicState,
        signal: Callable[[str], Scalar],
        x: Scalars = (),
        x_rate: Scalars = (),
        smooth: bool = False,
    ) -> None:
        self.kinematics, self.signal, self.x, self.x_rate, self.smooth = kinematics, signal, x, x_rate, smooth
        self.run = kinematics.run

    def value(self, term: Term, own_values: dict[str, Scalar] | None = None) -> Scalar:
        """Evaluate a term; `own_values` holds the values of names that the element itself defines."""
        if not hasattr(term, "names"):
            return term
        given = own_values or {}
        try:
            values = tuple(given[n] if n in given else self.signal(n) for n in term.names)
        except ExpressionError as error:
            raise error.at(where=getattr(term, "where", "")) from None
        return self.run(term, values)

    def point(self, end: End) -> tuple[Vector3, Vector3]:
        """Return position and velocity of an end in the world."""
        if isinstance(end, LinkFrame):
            return self.kinematics.frame(end).position, self.kinematics.motion(end).linear
        part = slice(end, end + 3)
        speeds = self.x_rate[part] if len(self.x_rate) else (0.0,) * 3
        return Vector3(*self.x[part]), Vector3(*speeds)


End = LinkFrame | int
"""Frame on a link, or the index of a junction's first coordinate in x."""


class Loads:
    """Wrenches on links (in the links' axes, at their origins) and forces on speeds, summed over force elements."""

    def __init__(self, kinematics: KinematicState) -> None:
        self.kinematics, self.run = kinematics, kinematics.run
        self.external: list[Force | None] = [None] * len(kinematics.tree.links)
        self.speeds: list[Scalar] = [0.0] * kinematics.tree.nv
        self.acts = False

    def add_wrench(self, end: End, p: Vector3, wrench: Force) -> None:
        """Add a wrench about the world point p, in world axes, to the link of an end."""
        if not isinstance(end, LinkFrame) or end.link < 0:
            return
        own = self.run(move_wrench_to_link, self.kinematics.poses[end.link], p, wrench)
        before = self.external[end.link]
        self.external[end.link] = own if before is None else self.run(Force.__add__, before, own)
        self.acts = True

    def add_wrench_pair(self, a: End, b: End, p: Vector3, wrench: Force) -> None:
        """Add a wrench to end b, and its reaction to end a at the same point."""
        self.add_wrench(b, p, wrench)
        if isinstance(a, LinkFrame) and a.link >= 0:
            self.add_wrench(a, p, self.run(Force.__neg__, wrench))

    def add_joint_force(self, index: int, coupling: Coupling | None, force: Scalar) -> None:
        """Add a force to a speed; to its leader if the joint is coupled."""
        ratio = 1.0 if coupling is None else coupling.ratio
        self.speeds[index] = self.run(add_scaled_force, self.speeds[index], ratio, force)
        self.acts = True


class ExchangedWrench(Loads):
    """Loads that sum the wrenches on b and their reactions on a, all about one point."""

    def __init__(self, kinematics: KinematicState) -> None:
        super().__init__(kinematics)
        self.on_b = ZERO_FORCE

    def add_wrench_pair(self, a: End, b: End, p: Vector3, wrench: Force) -> None:
        """Add a wrench on b to the sum."""
        self.on_b = self.run(Force.__add__, self.on_b, wrench)


def add_scaled_force(sum_so_far: Scalar, ratio: Scalar, force: Scalar) -> Scalar:
    """Return sum + ratio · force."""
    return plus(sum_so_far, times(ratio, force))


def move_wrench_to_link(X_WL: Pose, p: Vector3, wrench: Force) -> Force:
    """Move a wrench given about the world point p, in world axes, to the link's origin and axes."""
    moment = wrench.moment + (p - X_WL.position).cross(wrench.force)
    return Force(X_WL.rotation.act_back(moment), X_WL.rotation.act_back(wrench.force))
