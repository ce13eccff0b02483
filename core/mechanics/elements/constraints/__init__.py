"""Constraint kinds, one class per module: its facts for documents, forms, files and help, and its equations."""

from __future__ import annotations

from typing import cast

from core.kinds import Kinds
from core.mechanics.elements.constraints.constraint_kind import ConstraintElement
from core.model import CONSTRAINT_KINDS

BASE = ConstraintElement
"""Class from which the kinds of this folder derive."""
CONSTRAINTS = cast("Kinds[ConstraintElement]", CONSTRAINT_KINDS)
"""All kinds of constraints, with their equations."""
