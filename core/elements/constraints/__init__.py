"""Constraints: the family of their kinds."""

from core.elements.constraints.constraint_kind import ConstraintElement
from core.elements.constraints.gear import Gear
from core.elements.constraints.hold import Hold
from core.elements.constraints.rod import Rod
from core.elements.constraints.universal_rod import UniversalRod
from core.kinds import Kinds

CONSTRAINTS = Kinds("constraint", ConstraintElement, Hold, Gear, Rod, UniversalRod)
