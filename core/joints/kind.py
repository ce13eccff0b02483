"""Interface of a joint kind: description, motion, constraints, measured coordinates and elementary joints; and building
blocks of kinds.

Frame b moves relative to frame a. The frames are *canonical*: the joint's axis is z (`read` gives the rotation that
makes it so), and a kind's instance holds only the numbers that remain. Everything is over abstract scalars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

from core.errors import ModelError
from core.kinds import KindError
from core.later import dataclass
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.relative_measures import Measured
from core.numerics.spatial.rotation import IDENTITY as NO_ROTATION
from core.numerics.spatial.rotation import ROUNDING_TOLERANCE, Rotation, from_axes, from_z, twist_angle, unit_vector
from core.numerics.spatial.scalar import Scalar, minus, plus, times
from core.numerics.spatial.vector import ZERO, ZERO_MOTION, Force, Motion, Vector3, Z

if TYPE_CHECKING:  # documents know the kinds, and are read without NumPy
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Scalars = Sequence[Scalar]
Columns = tuple[Motion, ...]

RATES = {"angle": "angular_velocity", "length": "velocity", "none": "none"}
"""Dimension of a coordinate → dimension of its rate."""


class JointLaw(Protocol):
    """Interface of a joint for the recursions, independent of its kind."""

    @property
    def nq(self) -> int: ...
    @property
    def nv(self) -> int: ...
    @property
    def neutral(self) -> tuple[float, ...]: ...
    @property
    def balls(self) -> tuple[tuple[int, ...], ...]: ...
    def pose(self, q: Scalars) -> Pose: ...
    def subspace(self, q: Scalars) -> Columns: ...
    def bias(self, q: Scalars, v: Scalars) -> Motion: ...
    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]: ...
    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]: ...
    def carried(self, v: Scalars) -> Scalars | None: ...


class Elementary(NamedTuple):
    """Elementary joint, one of those in series that replace a joint: a motion about or along z of a frame."""

    motion: str
    """Type of motion: R revolute, P prismatic, H helical, S spherical, F free, W welded."""
    frame: Pose = IDENTITY
    coordinate: int = 0
    """Index of its first coordinate among the joint's coordinates."""
    advance: Scalar = 0.0
    """Advance of a helical joint, m/rad."""


Directions = Literal["all", "along", "across", "normal", "none"]
"""Directions relative to the joint's axis; "normal": normal to the axis and the second axis."""


Bearing = Literal["none", "pin", "guide", "plane", "point"]
"""Directions in which a joint's bearing carries force: across an axis and along it, across only, along only, or all."""


class Forbidden(NamedTuple):
    """Directions in which a joint constrains translations and rotations."""

    translations: Directions
    rotations: Directions


class JointReplacement(NamedTuple):
    """A joint kind with fewer constraints that can replace an overconstrained joint."""

    kind: str
    frees: tuple[str, ...]
    """Freed motion: "rotation" or "translation", also with "… along" or "… across" the axis."""
    axis: str = ""
    second_axis: str = ""
    """Freed motion, "rotation" or "translation", whose direction becomes the new joint's axis; otherwise the axis
    stays."""


@dataclass(frozen=True)
class JointKind(ABC):
    """Joint kind. Members without a default must be defined; the defaults of the others are correct for any joint, but
    may be slow."""

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    """Description of the possible motion of frame b, in one sentence."""
    coordinates: ClassVar[tuple[str, ...]]
    """Suffixes of the coordinates' names; ('',) for a single coordinate."""
    coordinate_dimensions: ClassVar[tuple[str, ...]]
    """Dimension of each coordinate: "angle" (rad), "length" (m) or "none"."""
    uses: ClassVar[tuple[str, ...]]
    """Document fields that the kind uses, out of axis, second_axis, pitch."""
    counts_turns: ClassVar[bool]
    """True if its angles can be measured only up to whole turns, so that turns must be counted."""

    # what follows from the coordinates where a kind does not state it
    speeds: ClassVar[tuple[str, ...]] = ()
    speed_dimensions: ClassVar[tuple[str, ...]] = ()
    neutral: ClassVar[tuple[float, ...]] = ()
    """Coordinates at which frames a and b coincide."""
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    constraints: ClassVar[int] = 6
    """Number of constrained relative motions: 6 − nv."""

    limited: ClassVar[bool] = True
    """False if its coordinates have no limits."""
    turns_about_axis: ClassVar[bool] = False
    slides_along_axis: ClassVar[bool] = False
    """True if a coordinate is the rotation about, or the translation along, the axis."""
    quaternion: ClassVar[int | None] = None
    """Index of the first of four coordinates that are a quaternion x, y, z, w."""
    position: ClassVar[tuple[str, ...]] = ()
    """Coordinates that are the position x, y, z of b's origin in a and whose rates are not the speeds."""
    direction_rows: ClassVar[slice | None] = None
    """Rows of the residual that compare directions; they also vanish for opposite directions."""
    forbidden: ClassVar[Forbidden | None] = None
    """Constrained directions; None if they have no names, in which case the joint's constraints are numbered."""
    balls: ClassVar[tuple[tuple[int, ...], ...]] = ()
    """Groups of adjacent speeds that are components of one vector in orthogonal axes; dry friction opposes the vector
    as a whole. Each other speed has friction of its own."""
    bearing: ClassVar[Bearing] = "none"
    """Directions in which its bearing carries force; they determine the friction due to reaction forces."""
    releases: ClassVar[tuple[JointReplacement, ...]] = ()
    """Joint kinds with fewer constraints that may replace the joint in an overconstrained mechanism; standard parts
    first."""
    ready_made: ClassVar[bool] = False
    """True if the joint is a standard part; proposals prefer those."""
    closes_loops: ClassVar[bool] = True
    """False if its residual and measure do not work in expression graphs; loops are then cut at other joints."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if {"coordinates", "coordinate_dimensions"} <= vars(cls).keys():
            _set_derived_members(cls)

    @classmethod
    def is_hinge(cls) -> bool:
        """Return True if its only motion is a rotation about its axis."""
        return cls.nv == 1 and cls.turns_about_axis and not cls.slides_along_axis

    @classmethod
    def is_slider(cls) -> bool:
        """Return True if its only motion is a translation along its axis."""
        return cls.nv == 1 and cls.slides_along_axis and not cls.turns_about_axis

    @classmethod
    def wraps_around(cls, k: int) -> bool:
        """Return True if coordinate k is an angle that is measured only up to whole turns."""
        return cls.counts_turns and cls.coordinate_dimensions[k] == "angle"

    @classmethod
    def read(cls, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Self, Rotation]:
        """Return the joint that a document describes, and the rotation R_ac of the canonical frame c (axis along z) in
        frame a. Raises ModelError, and ZeroDivisionError for an axis of length zero.

        axis, second_axis : directions in a; pitch : m per revolution
        """
        return cls(), from_z(unit_vector(axis)) if cls.uses else NO_ROTATION

    @abstractmethod
    def pose(self, q: Scalars) -> Pose:
        """Return X_ab: the pose of frame b in frame a."""

    @abstractmethod
    def subspace(self, q: Scalars) -> Columns:
        """Return the columns S_k of the motion subspace, in b's axes at b's origin: V_ab = Σ S_k v_k."""

    @abstractmethod
    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return Ṡ v: the part of the acceleration, in b's axes, that comes from the changing columns."""

    @abstractmethod
    def residual(self, X_ab: Pose) -> list[Scalar]:
        """Return 6 − nv constraint residuals (m, rad), which are zero if the joint admits the pose of frame b in frame
        a."""

    @abstractmethod
    def measure(self, X_ab: Pose) -> Measured:
        """Return the coordinates at a pose, and for each speed the wrench W on b about b's origin, in a's axes, that
        gives the speed: v_k = W · V_ab for motions that the joint allows."""

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """Return q̇ from the speeds v."""
        return tuple(v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        """Return the displacement of q from the springs' unloaded position, one number per speed (rad or m)."""
        return tuple(minus(a, b) for a, b in zip(q, rest, strict=True))

    def carried(self, v: Scalars) -> Scalars | None:
        """Return the part of the acceleration along the speeds' axes, in addition to v̇, that is due to the rotation of
        these axes, such as ω × v for a velocity in body axes; None if there is none."""
        return None

    @classmethod
    def moved(cls, q: Array, step: Array) -> Array:
        """Return the coordinates (…, nq) after a displacement `step` (…, nv): speeds times time, rad or m."""
        return q + step

    @classmethod
    def between(cls, q0: Array, q1: Array) -> Array:
        """Return the displacement (…, nv) that takes q0 to q1."""
        return q1 - q0

    def elementary(self) -> tuple[Elementary, ...] | None:
        """Return elementary joints in series that produce the same motion: pose = Π frame · motion · frame⁻¹. None if
        there are none; loops with this joint are then closed by iteration."""
        return None

    def facing(self, X_ab: Pose) -> Scalar | None:
        """Return a cosine that is positive where the joint's axes have the correct orientation; None if both
        orientations are correct."""
        return None


class ConstantSubspaceKind(JointKind):
    """Joint kind whose motion subspace is constant in b's axes."""

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Return zero."""
        return ZERO_MOTION


def _set_derived_members(cls: type[JointKind]) -> None:
    """Set the class members that follow from the coordinates. Raises KindError where members are inconsistent."""
    rates = tuple(RATES[dimension] for dimension in cls.coordinate_dimensions)
    derived = {"speeds": cls.coordinates, "speed_dimensions": rates, "neutral": (0.0,) * len(rates)}
    for fact, value in derived.items():
        if fact not in vars(cls):
            setattr(cls, fact, value)
    cls.nq, cls.nv, cls.constraints = len(cls.coordinates), len(cls.speeds), 6 - len(cls.speeds)
    if not (cls.nq == len(rates) == len(cls.neutral) and cls.nv == len(cls.speed_dimensions) <= 6):
        raise KindError(f"{cls.__name__}: give each coordinate a suffix, a dimension and a neutral value.")
    for member in ("rate", "displacement", "moved", "between"):
        if cls.nq != cls.nv and _has_default_member(cls, member):
            raise KindError(f"{cls.__name__}: its speeds are not the rates of its coordinates, so define '{member}'.")
        if cls.nq == cls.nv and member != "displacement" and not _has_default_member(cls, member):
            raise KindError(
                f"{cls.__name__}: with as many speeds as coordinates, speeds must be the coordinates' rates; "
                f"remove '{member}'."
            )
    if _has_default_member(cls, "read") and not set(cls.uses) <= {"axis"}:
        raise KindError(f"{cls.__name__}: it uses more fields than 'axis', so it must define 'read'.")


def _has_default_member(cls: type[JointKind], member: str) -> bool:
    """Return True if a kind does not override the default of a member."""
    own, base = (getattr(owner, member) for owner in (cls, JointKind))
    return getattr(own, "__func__", own) is getattr(base, "__func__", base)


def measure_joint_coordinates(X_a: Pose, X_b: Pose, law: JointKind, _: Any) -> Measured:
    """Measure a joint's coordinates between its frames, and per speed the wrench on b about b's origin, world axes."""
    values, wrenches = law.measure(X_a.inverse() @ X_b)
    turn = X_a.rotation
    return Measured(values, tuple(Force(turn.act(W.moment), turn.act(W.force)) for W in wrenches))


@dataclass(frozen=True)
class ReversedJoint:
    """Joint with its frames exchanged: the motion of a relative to b, with the coordinates of b relative to a.

    X_ba = X_ab⁻¹; V of a in b, in a's axes = −X_ab V_ab, whose rate is −X_ab (Ṡ v) since V_ab × V_ab = 0.
    """

    law: JointLaw

    @property
    def nq(self) -> int:
        return self.law.nq

    @property
    def nv(self) -> int:
        return self.law.nv

    @property
    def neutral(self) -> tuple[float, ...]:
        return self.law.neutral

    @property
    def balls(self) -> tuple[tuple[int, ...], ...]:
        return self.law.balls

    def pose(self, q: Scalars) -> Pose:
        return self.law.pose(q).inverse()

    def subspace(self, q: Scalars) -> Columns:
        X_ab = self.law.pose(q)
        return tuple(-X_ab.motion(column) for column in self.law.subspace(q))

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        return -self.law.pose(q).motion(self.law.bias(q, v))

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        return self.law.rate(q, v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        return self.law.displacement(q, rest)

    def carried(self, v: Scalars) -> Scalars | None:
        return self.law.carried(v)


def rotation_column(axis: Vector3) -> Motion:
    """Return the column of a rotation about an axis."""
    return Motion(axis, ZERO)


def translation_column(axis: Vector3) -> Motion:
    """Return the column of a translation along an axis."""
    return Motion(ZERO, axis)


def canonical_frame(axis: Sequence[Scalar], second_axis: Sequence[Scalar]) -> tuple[Vector3, Rotation]:
    """Return the second axis of a joint in its canonical frame c (a unit vector), and R_ac; z of c is the joint's axis,
    and y lies in the half plane of the second axis. Raises ModelError if the two axes are parallel."""
    first, second = unit_vector(axis), unit_vector(second_axis)
    along = first.dot(second)
    if isinstance(along, float) and abs(along) > 1.0 - ROUNDING_TOLERANCE:
        raise ModelError(
            "The joint's axis and second axis are parallel.",
            where="second_axis",
            remedy="Give a second axis that is not parallel to the first.",
        )
    R_ac = from_axes(first, second)
    return R_ac.act_back(second), R_ac


def measure_angle_about_z(X_ab: Pose) -> tuple[Scalar, Force]:
    """Return the angle about z, −π … π, and the wrench that gives its rate."""
    value, g = twist_angle(X_ab.rotation, Z)
    return value, Force(g, ZERO)


def coincident_origin_residuals(X: Pose) -> list[Scalar]:
    """Residuals of coincident origins."""
    return list(X.position)


def point_on_axis_residuals(X: Pose) -> list[Scalar]:
    """Residuals of b's origin on a's axis."""
    return [X.position.x, X.position.y]


def parallel_axes_residuals(R: Rotation) -> list[Scalar]:
    """Residuals of parallel z axes: x and y components in a of b's z axis."""
    return [R.x.z, R.y.z]


def aligned_frames_residuals(R: Rotation) -> list[Scalar]:
    """Residuals of aligned frames: the axial vector of R (sin φ n)."""
    return [
        times(0.5, minus(R.z.y, R.y.z)),
        times(0.5, minus(R.x.z, R.z.x)),
        times(0.5, minus(R.y.x, R.x.y)),
    ]


def cosine_of_angle(R: Rotation) -> Scalar:
    """Return the cosine of the angle of a rotation."""
    return times(0.5, minus(plus(plus(R.x.x, R.y.y), R.z.z), 1.0))
