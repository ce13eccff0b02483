"""A constraint of one's own between two frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from core.elements.constraints.constraint_kind import ConstraintElement, side_of
from core.elements.constraints.kinematic_constraint import ConstraintState, Row, Side
from core.elements.own_numbers import numbers_of
from core.elements.resolver import Resolver
from core.elements.symbol_trial import symbols, tried, usable_names, usable_units
from core.model import Constraint, ConstraintKind, Quantity
from core.spatial.pose import Pose
from core.spatial.rotation import Rotation
from core.spatial.scalar import Scalar
from core.spatial.vector import Vector3


@dataclass(frozen=True)
class FrameConstraint(ConstraintElement):
    """A constraint of your own between the frames a and b: derive from this, and register it.

    `name`, `title` and `value` must be stated; the derivatives and the wrenches between the frames come from the trace
    of `value`, which is zero where the constraint holds. Choose it smooth, of the size of what it measures (m, rad),
    and so that its derivative does not vanish where it holds: x − y, never (x − y)². It is a static function of

    X_ab : the pose of b in a; `X_ab.position.x`, `.y`, `.z` in m are b's origin in the axes of a; `X_ab.rotation.x`,
    `.y`, `.z` are the rows of the rotation matrix, and `X_ab.point(p)` takes a `Vector3` given in b to a
    numbers : by `numbers` (`numbers.height`), SI

    These are floats or symbols of a trace: compute with + - * / ** and `ks.scalar`, without `if`.
    """

    title: ClassVar[str]
    """What the window calls the kind; `name` is what files call it."""
    numbers: ClassVar[tuple[Quantity, ...]] = ()
    """What its elements set, each with unit, default and help."""
    components: ClassVar[tuple[str, ...]] = ("",)
    """A word for each scalar of `value`, or an empty one for a single scalar."""
    relative = True
    side: Side
    given: Any
    """Its numbers."""
    rows: tuple[Row, ...]

    @staticmethod
    @abstractmethod
    def value(X_ab: Pose, numbers: Any) -> Scalar | Sequence[Scalar]:
        """What is to be zero: a scalar, or one for each of `components`."""

    @classmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> FrameConstraint:
        """See `ConstraintElement`."""
        given = numbers_of(constraint, f"constraint '{constraint.name}'", machine.numbers)
        rows = tuple(Row("constraints", constraint.name, word) for word in cls.components)
        return cls(side_of(machine, constraint.a, constraint.b), given, rows)

    @classmethod
    def in_document(cls) -> ConstraintKind:
        """See `ConstraintElement`."""
        return ConstraintKind(cls.name, cls.title, ("a", "b", "settings"), ("b",), cls.numbers)

    @classmethod
    def check(cls) -> None:
        """Its functions are tried over symbols, too."""
        super().check()
        usable_names(cls, "numbers", [number.name for number in cls.numbers])
        usable_units(cls, cls.numbers)
        rows = [Vector3(*symbols(*(f"r{row}{column}" for column in "xyz"))) for row in "xyz"]
        X_ab, numbers = Pose(Rotation(*rows), Vector3(*symbols(*"xyz"))), symbols(*(each.name for each in cls.numbers))
        tried(cls, "value", len(cls.components), X_ab, numbers)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Its frames."""
        return (self.side,)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """What is to be zero."""
        X_a, X_b = state.frames(self.side)
        found = type(self).value(X_a.inverse() @ X_b, self.given)
        return list(found) if isinstance(found, tuple | list) else [found]
