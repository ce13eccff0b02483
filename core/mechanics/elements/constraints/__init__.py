"""Constraint kinds: the `KIND` of every module of this folder."""

from core.kinds import declared_objects
from core.mechanics.elements.constraints.constraint_kind import ConstraintElement
from core.mechanics.elements.element_kinds import ElementKinds
from core.model import CONSTRAINT_KINDS

CONSTRAINTS: ElementKinds[ConstraintElement] = ElementKinds(
    "constraint", ConstraintElement, lambda: declared_objects(__name__, __path__, "KIND"), CONSTRAINT_KINDS
)
