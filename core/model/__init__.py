"""The document: the machine as the user described it, in immutable elements, with its formulas, units, edits and
validation."""

from core.joints import JOINT_KINDS, JointKind
from core.model import element_classes
from core.model.bodies import WORLD, Figures
from core.model.constraints import CONSTRAINT_KINDS, ConstraintKind
from core.model.element_classes import *  # noqa: F403
from core.model.forces import FORCE_KINDS, ForceKind
from core.model.model import COLLECTIONS, QUESTIONS, WORDS
from core.model.sensors import SENSOR_KINDS, SensorKind
from core.model.shapes import SHAPE_TYPES, Shape
from core.model.validation.findings import Severity

__all__ = [
    "COLLECTIONS",
    "CONSTRAINT_KINDS",
    "FORCE_KINDS",
    "JOINT_KINDS",
    "QUESTIONS",
    "SENSOR_KINDS",
    "SHAPE_TYPES",
    "WORDS",
    "WORLD",
    "ConstraintKind",
    "Figures",
    "ForceKind",
    "JointKind",
    "SensorKind",
    "Severity",
    "Shape",
]
__all__ += element_classes.__all__
