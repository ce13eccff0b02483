"""Joint kinds, one per module: everything that documents, recursions, loops, proposals and drawings need to know of a
joint."""

from core.joints.continuous import Continuous
from core.joints.cylindrical import Cylindrical
from core.joints.fixed import Fixed
from core.joints.free import Free
from core.joints.kind import JointKind
from core.joints.planar import Planar
from core.joints.prismatic import Prismatic
from core.joints.revolute import Revolute
from core.joints.screw import Screw
from core.joints.spherical import Spherical
from core.joints.universal import Universal
from core.joints.unknown import UnknownJoint
from core.kinds import Kinds

__all__ = [
    "JOINT_KINDS",
    "Continuous",
    "Cylindrical",
    "Fixed",
    "Free",
    "JointKind",
    "Planar",
    "Prismatic",
    "Revolute",
    "Screw",
    "Spherical",
    "Universal",
    "UnknownJoint",
]


def _check_joint_kind(kind: type[JointKind]) -> None:
    from core.joints.trial import check_joint_kind  # only what people add needs NumPy here

    check_joint_kind(kind)


JOINT_KINDS: Kinds[JointKind] = Kinds(
    "joint",
    JointKind,
    Revolute,
    Continuous,
    Prismatic,
    Screw,
    Cylindrical,
    Universal,
    Planar,
    Spherical,
    Free,
    Fixed,
    check=_check_joint_kind,
)
"""All joint kinds, in the order in which the window offers them."""
