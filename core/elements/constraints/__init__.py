"""Constraints: the family of their kinds, the `KIND` of every file here."""

from core.elements.constraints.constraint_kind import ConstraintElement
from core.kinds import Kinds, declared_in
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
    ConstraintElement,
    *declared_in(__name__, __path__, "KIND"),
    check=lambda kind: kind.check(),
)
