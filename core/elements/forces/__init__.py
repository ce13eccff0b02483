"""Force elements: the family of their kinds."""

from core.elements.forces.along_sensor import MeasureForce
from core.elements.forces.force_element import ForceElement
from core.elements.forces.in_joint import JointForce
from core.elements.forces.in_series import SeriesForce
from core.elements.forces.line import LineForce
from core.elements.forces.wrench import WrenchForce
from core.kinds import Kinds

FORCES = Kinds("force", ForceElement, WrenchForce, LineForce, SeriesForce, MeasureForce, JointForce)
