"""Base class of user-defined constraints between two frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from core.mechanics.elements.constraints.constraint_kind import ConstraintElement, build_side
from core.mechanics.elements.constraints.kinematic_constraint import ConstraintState, Row, Side
from core.mechanics.elements.resolver import Resolver
from core.mechanics.elements.symbol_trial import check_member, named_symbols, read_numbers
from core.model import Constraint
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3


@dataclass(frozen=True)
class FrameConstraint(ConstraintElement):
    """User-defined constraint between frames a and b: derive a class from this one and register it.

    `name` (in files), `title` (in the window) and `value` must be stated; `numbers` are the quantities that each
    constraint sets, with unit, default and help. The derivatives and the wrenches between the frames come from the
    trace of `value`, which is zero where the constraint holds. Choose it smooth, of the size of what it measures
    (m, rad), and so that its derivative does not vanish where it holds: x − y, never (x − y)². It is a static
    function of

    X_ab : the pose of b in a; `X_ab.position.x`, `.y`, `.z` in m are b's origin in the axes of a; `X_ab.rotation.x`,
    `.y`, `.z` are the rows of the rotation matrix, and `X_ab.point(p)` takes a `Vector3` given in b to a
    numbers : by `numbers` (`numbers.height`), SI

    These are floats or symbols of a trace: compute with + - * / ** and `ks.scalar`, without `if`.
    """

    uses = ("a", "b")
    needs = ("b",)
    components: ClassVar[tuple[str, ...]] = ("",)
    """Suffix of each scalar of `value`; ('',) for a single scalar."""
    relative = True
    side: Side
    given: Any
    """Numbers set for this constraint."""
    rows: tuple[Row, ...]

    @staticmethod
    @abstractmethod
    def value(X_ab: Pose, numbers: Any) -> Scalar | Sequence[Scalar]:
        """Return the residual, to be zero: a scalar, or one for each of `components`."""

    @classmethod
    def read(cls, constraint: Constraint, machine: Resolver) -> FrameConstraint:
        """Read a constraint of the document. Raises ModelError."""
        given = read_numbers(constraint, f"constraint '{constraint.name}'", machine.numbers)
        rows = tuple(Row("constraints", constraint.name, word) for word in cls.components)
        return cls(build_side(machine, constraint.a, constraint.b), given, rows)

    @classmethod
    def check(cls) -> None:
        """Check the kind, including an evaluation of its functions with symbols."""
        super().check()
        rows = [Vector3(*named_symbols(*(f"r{row}{column}" for column in "xyz"))) for row in "xyz"]
        X_ab, numbers = (
            Pose(Rotation(*rows), Vector3(*named_symbols(*"xyz"))),
            named_symbols(*(each.name for each in cls.numbers)),
        )
        check_member(cls, "value", len(cls.components), X_ab, numbers)

    @property
    def sides(self) -> tuple[Side, ...]:
        """Return the side between its frames."""
        return (self.side,)

    def values(self, state: ConstraintState) -> list[Scalar]:
        """Return the residuals."""
        X_a, X_b = state.frames(self.side)
        found = type(self).value(X_a.inverse() @ X_b, self.given)
        return list(found) if isinstance(found, tuple | list) else [found]
