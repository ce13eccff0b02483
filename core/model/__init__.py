"""The document: what the person said, as immutable values."""

from core.model.bodies import WORLD, Body, Frame, Gravity, Inertia, World
from core.model.chains import DHChain, DHRow
from core.model.findings import Finding, Severity
from core.model.joints import JOINT_KINDS, Joint, JointKind, Limit, Mimic
from core.model.model import COLLECTIONS, WORDS, Annotation, Model
from core.model.parameters import Parameter
from core.model.shapes import SHAPE_TYPES, Box, Capsule, Cone, Cylinder, Material, Mesh, Pose, Shape, Sphere

__all__ = [
    "COLLECTIONS",
    "JOINT_KINDS",
    "SHAPE_TYPES",
    "WORDS",
    "WORLD",
    "Annotation",
    "Body",
    "Box",
    "Capsule",
    "Cone",
    "Cylinder",
    "DHChain",
    "DHRow",
    "Finding",
    "Frame",
    "Gravity",
    "Inertia",
    "Joint",
    "JointKind",
    "Limit",
    "Material",
    "Mesh",
    "Mimic",
    "Model",
    "Parameter",
    "Pose",
    "Severity",
    "Shape",
    "Sphere",
    "World",
]
