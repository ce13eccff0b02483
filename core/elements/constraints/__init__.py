"""Constraints: the family of their kinds."""

from core.elements.constraints.constraint_kind import ConstraintElement
from core.elements.constraints.gear import Gear
from core.elements.constraints.hold import Hold
from core.elements.constraints.rod import Rod
from core.elements.constraints.universal_rod import UniversalRod
from core.kinds import Kinds
from core.model import CONSTRAINT_KINDS


class Constraints(Kinds[ConstraintElement]):
    """A kind enters with what the document says of it."""

    def add(self, kind: type[ConstraintElement]) -> type[ConstraintElement]:
        """See `Kinds`."""
        super().add(kind)
        CONSTRAINT_KINDS[kind.name] = kind.in_document()
        return kind


CONSTRAINTS = Constraints(
    "constraint",
    ConstraintElement,  # type: ignore[type-abstract]
    Hold,
    Gear,
    Rod,
    UniversalRod,
    check=lambda kind: kind.check(),
)
