"""Constraints: the family of their kinds, the `KIND` of every file here."""

from core.elements.constraints.constraint_kind import ConstraintElement
from core.elements.element_kinds import ElementKinds
from core.kinds import declared_in
from core.model import CONSTRAINT_KINDS

CONSTRAINTS: ElementKinds[ConstraintElement] = ElementKinds(
    "constraint", ConstraintElement, lambda: declared_in(__name__, __path__, "KIND"), CONSTRAINT_KINDS
)
