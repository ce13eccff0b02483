"""Force element kinds, one class per module: its facts for documents, forms, files and help, and its mechanics."""

from __future__ import annotations

from typing import cast

from core.kinds import Kinds
from core.mechanics.elements.forces.force_element import ForceElement
from core.model import FORCE_KINDS

BASE = ForceElement
"""Class from which the kinds of this folder derive."""
FORCES = cast("Kinds[ForceElement]", FORCE_KINDS)
"""All kinds of force elements, with their mechanics."""
