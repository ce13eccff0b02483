"""The document: the machine as the user described it, in immutable elements, with its formulas, units, edits and
validation."""

from core.joints import JOINT_KINDS, JointKind
from core.model.aims import Aim, CurveRow, DesignVariable, FunctionRow, PoseRow, RequiredRow
from core.model.assemblies import SubAssembly
from core.model.bodies import WORLD, Body, Figures, Frame, Gravity, Inertia, World
from core.model.chains import DHChain, DHRow
from core.model.constraints import CONSTRAINT_KINDS, Constraint, ConstraintKind, Driver
from core.model.declared_numbers import Quantity, Setting
from core.model.forces import FORCE_KINDS, Force, ForceKind, Junction, LineMass, Strand
from core.model.joints import Joint, Limit, Mimic
from core.model.model import COLLECTIONS, QUESTIONS, WORDS, Annotation, Model
from core.model.parameters import Parameter
from core.model.sensors import SENSOR_KINDS, Sensor, SensorKind
from core.model.shapes import (
    SHAPE_TYPES,
    Arrow,
    Beam,
    Box,
    Capsule,
    Coil,
    Cone,
    Cylinder,
    Gearwheel,
    Material,
    Mesh,
    Pipe,
    Pose,
    Shape,
    Sphere,
)
from core.model.study_plans import RecordRow, StudyPlan, VariedRow
from core.model.trims import Trim, TrimRow
from core.model.validation.findings import Finding, Severity

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
    "Aim",
    "Annotation",
    "Arrow",
    "Beam",
    "Body",
    "Box",
    "Capsule",
    "Coil",
    "Cone",
    "Constraint",
    "ConstraintKind",
    "CurveRow",
    "Cylinder",
    "DHChain",
    "DHRow",
    "DesignVariable",
    "Driver",
    "Figures",
    "Finding",
    "Force",
    "ForceKind",
    "Frame",
    "FunctionRow",
    "Gearwheel",
    "Gravity",
    "Inertia",
    "Joint",
    "JointKind",
    "Junction",
    "Limit",
    "LineMass",
    "Material",
    "Mesh",
    "Mimic",
    "Model",
    "Parameter",
    "Pipe",
    "Pose",
    "PoseRow",
    "Quantity",
    "RecordRow",
    "RequiredRow",
    "Sensor",
    "SensorKind",
    "Setting",
    "Severity",
    "Shape",
    "Sphere",
    "Strand",
    "StudyPlan",
    "SubAssembly",
    "Trim",
    "TrimRow",
    "VariedRow",
    "World",
]
