"""Classes of document elements and their parts, which scripts also find in `kinetostat` (`ks.Body` …)."""

from core.model.aims import Aim, CurveRow, DesignVariable, FunctionRow, PoseRow, RequiredRow
from core.model.assemblies import SubAssembly
from core.model.bodies import Body, Frame, Gravity, Inertia, World
from core.model.chains import DHChain, DHRow
from core.model.constraints import Constraint, Driver
from core.model.declared_numbers import Quantity, Setting
from core.model.forces import Force, Junction, LineMass, Strand
from core.model.joints import Joint, Limit, Mimic
from core.model.model import Annotation, Model
from core.model.motions import CoordinateFunction, JointValue, Motion, Segment, StoredPose, Target, ViaPoint
from core.model.parameters import Parameter
from core.model.sensors import Sensor
from core.model.shapes import (
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
    Sphere,
)
from core.model.signal_elements import (
    BlockInput,
    Coefficient,
    ControlledJoint,
    NominalValue,
    OwnState,
    Signal,
    TablePoint,
)
from core.model.study_plans import RecordRow, StudyPlan, VariedRow
from core.model.trims import Trim, TrimRow
from core.model.validation.findings import Finding

__all__ = [
    "Aim",
    "Annotation",
    "Arrow",
    "Beam",
    "BlockInput",
    "Body",
    "Box",
    "Capsule",
    "Coefficient",
    "Coil",
    "Cone",
    "Constraint",
    "ControlledJoint",
    "CoordinateFunction",
    "CurveRow",
    "Cylinder",
    "DHChain",
    "DHRow",
    "DesignVariable",
    "Driver",
    "Finding",
    "Force",
    "Frame",
    "FunctionRow",
    "Gearwheel",
    "Gravity",
    "Inertia",
    "Joint",
    "JointValue",
    "Junction",
    "Limit",
    "LineMass",
    "Material",
    "Mesh",
    "Mimic",
    "Model",
    "Motion",
    "NominalValue",
    "OwnState",
    "Parameter",
    "Pipe",
    "Pose",
    "PoseRow",
    "Quantity",
    "RecordRow",
    "RequiredRow",
    "Segment",
    "Sensor",
    "Setting",
    "Signal",
    "Sphere",
    "StoredPose",
    "Strand",
    "StudyPlan",
    "SubAssembly",
    "TablePoint",
    "Target",
    "Trim",
    "TrimRow",
    "VariedRow",
    "ViaPoint",
    "World",
]
