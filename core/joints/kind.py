"""What a kind of joint says of itself: facts, motion, what it forbids, how it is measured, of what it is made.

Frame b moves relative to frame a. The frames are *canonical*: the joint's axis is z (`read` gives the rotation that
makes it so), and a kind's instance holds only the numbers that remain. Everything is over abstract scalars.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol, Self

from core.kinds import KindError
from core.later import dataclass
from core.spatial.motion import ZERO as ZERO_MOTION
from core.spatial.motion import Motion
from core.spatial.pose import IDENTITY, Pose
from core.spatial.relative_measures import Measured
from core.spatial.rotation import IDENTITY as NO_ROTATION
from core.spatial.rotation import Rotation, from_z, normalised
from core.spatial.scalar import Scalar, minus

if TYPE_CHECKING:  # documents know the kinds, and are read without NumPy
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

Scalars = Sequence[Scalar]
Columns = tuple[Motion, ...]

RATES = {"angle": "angular_velocity", "length": "velocity", "none": "none"}
"""Dimension of a coordinate → that of its rate."""


class JointLaw(Protocol):
    """What a recursion asks of a joint; it never asks for the kind."""

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
    """One of the joints that a joint is made of: a motion about or along z of a frame."""

    motion: str
    """R: revolute, P: prismatic, H: helical, S: spherical, F: free, W: welded."""
    frame: Pose = IDENTITY
    coordinate: int = 0
    """Its first among the joint's coordinates."""
    advance: Scalar = 0.0
    """Of a helical one, m/rad."""


Directions = Literal["all", "along", "across", "normal", "none"]
"""Seen from the joint's axis; normal: of its axis and its second axis."""


Bearing = Literal["none", "pin", "guide", "plane", "point"]
"""Of a joint's reaction: forces across an axis and along it, across it only, along it only, in all directions."""


class Forbidden(NamedTuple):
    """In which directions a joint forbids translations and rotations."""

    translations: Directions
    rotations: Directions


class Exchange(NamedTuple):
    """A kind with fewer constraints that can take a joint's place."""

    kind: str
    frees: tuple[str, ...]
    """What it no longer forbids: "rotation", "translation", also "… along" and "… across" the axis."""
    axis: str = ""
    second_axis: str = ""
    """Which freed motion, "rotation" or "translation", gives the new joint this axis; else it stays as it is."""


@dataclass(frozen=True)
class JointKind(ABC):
    """A kind of joint. A member without a default must be stated; the default of every other one is right, if slow,
    for any law: nothing is taken for another kind's."""

    name: ClassVar[str]
    title: ClassVar[str]
    help: ClassVar[str]
    """How b can move, in one sentence."""
    coordinates: ClassVar[tuple[str, ...]]
    """Suffixes of the coordinates' names; one coordinate: ('',)."""
    coordinate_dimensions: ClassVar[tuple[str, ...]]
    """Of each coordinate: "angle" (rad), "length" (m) or "none"."""
    uses: ClassVar[tuple[str, ...]]
    """Which of axis, second_axis, pitch matter."""
    counts_turns: ClassVar[bool]
    """True if its angles are measured only up to whole turns."""

    # what follows from the coordinates where a kind does not state it
    speeds: ClassVar[tuple[str, ...]] = ()
    speed_dimensions: ClassVar[tuple[str, ...]] = ()
    neutral: ClassVar[tuple[float, ...]] = ()
    """Coordinates at which frames a and b coincide."""
    nq: ClassVar[int] = 0
    nv: ClassVar[int] = 0
    constraints: ClassVar[int] = 6
    """How many relative motions it takes away: 6 − nv."""

    limited: ClassVar[bool] = True
    """False if limits of its coordinates do not count."""
    turns_about_axis: ClassVar[bool] = False
    slides_along_axis: ClassVar[bool] = False
    """Whether a coordinate is the turn about, or the displacement along, the axis."""
    quaternion: ClassVar[int | None] = None
    """Where among its coordinates a quaternion x, y, z, w begins."""
    position: ClassVar[tuple[str, ...]] = ()
    """Coordinates that are b's origin in a, x, y, z, where the speeds are not their rates."""
    direction_rows: ClassVar[slice | None] = None
    """Which rows of the residual are those of directions: they vanish for opposite ones, too."""
    forbidden: ClassVar[Forbidden | None] = None
    """None: what it forbids has no directions to be named by; its constraints are numbered."""
    balls: ClassVar[tuple[tuple[int, ...], ...]] = ()
    """Speeds, next to each other, that are components of one vector in axes at right angles: dry friction opposes that
    vector, whichever way the axes are turned. Those of all others are rubbed one by one."""
    bearing: ClassVar[Bearing] = "none"
    """What bears its reaction, where friction by it is known."""
    releases: ClassVar[tuple[Exchange, ...]] = ()
    """Kinds it can be exchanged for where it constrains too much; those that workshops prefer first."""
    ready_made: ClassVar[bool] = False
    """True if workshops have it: proposals prefer it to others."""
    closes_loops: ClassVar[bool] = True
    """False if its residual and measure are not for graphs: loops are then cut at other joints."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if {"coordinates", "coordinate_dimensions"} <= vars(cls).keys():
            _complete(cls)

    @classmethod
    def is_hinge(cls) -> bool:
        """True if it turns about its axis and does nothing else."""
        return cls.nv == 1 and cls.turns_about_axis and not cls.slides_along_axis

    @classmethod
    def is_slider(cls) -> bool:
        """True if it slides along its axis and does nothing else."""
        return cls.nv == 1 and cls.slides_along_axis and not cls.turns_about_axis

    @classmethod
    def is_wound(cls, k: int) -> bool:
        """True if coordinate k is an angle that is measured only up to whole turns."""
        return cls.counts_turns and cls.coordinate_dimensions[k] == "angle"

    @classmethod
    def read(cls, axis: Scalars, second_axis: Scalars, pitch: Scalar) -> tuple[Self, Rotation]:
        """The joint that a document describes, and the rotation R_ac of the canonical frame c (axis along z) in frame
        a. Raises ModelError, and ZeroDivisionError for an axis of length zero.

        axis, second_axis : directions in a; pitch : m per revolution
        """
        return cls(), from_z(normalised(axis)) if cls.uses else NO_ROTATION

    @abstractmethod
    def pose(self, q: Scalars) -> Pose:
        """X_ab: frame b in frame a."""

    @abstractmethod
    def subspace(self, q: Scalars) -> Columns:
        """Columns S_k of the motion subspace, in b's axes at b's origin: V_ab = Σ S_k v_k."""

    @abstractmethod
    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Ṡ v: components in b that the changing columns add to the acceleration."""

    @abstractmethod
    def residual(self, X_ab: Pose) -> list[Scalar]:
        """6 − nv numbers (m, rad) that are zero when frame b fits frame a as the joint demands."""

    @abstractmethod
    def measure(self, X_ab: Pose) -> Measured:
        """The coordinates at a pose, and for each speed the wrench W on b about b's origin, in a's axes, that gives it:
        v_k = W · V_ab on motions that the joint allows."""

    def rate(self, q: Scalars, v: Scalars) -> tuple[Scalar, ...]:
        """q̇."""
        return tuple(v)

    def displacement(self, q: Scalars, rest: Scalars) -> tuple[Scalar, ...]:
        """How far q is from the rest position, one number per speed (rad or m)."""
        return tuple(minus(a, b) for a, b in zip(q, rest, strict=True))

    def carried(self, v: Scalars) -> Scalars | None:
        """What the accelerations along its speeds' axes have beside v̇ because these axes turn along, as ω × v of a
        velocity in a body's axes; None: nothing."""
        return None

    @classmethod
    def moved(cls, q: Array, step: Array) -> Array:
        """(…, nq) coordinates after the displacement `step` (…, nv): speeds times time, rad or m."""
        return q + step

    @classmethod
    def between(cls, q0: Array, q1: Array) -> Array:
        """(…, nv) the displacement that takes q0 to q1."""
        return q1 - q0

    def elementary(self) -> tuple[Elementary, ...] | None:
        """Joints that make the same motion one behind the other: pose = Π frame · motion · frame⁻¹. None: there are
        none, and loops with this joint are left to iteration."""
        return None

    def facing(self, X_ab: Pose) -> Scalar | None:
        """A cosine that is positive where the sides are the right way round; None if there is no wrong way."""
        return None


class SteadyKind(JointKind):
    """Columns that do not change in b's axes."""

    def bias(self, q: Scalars, v: Scalars) -> Motion:
        """Nothing."""
        return ZERO_MOTION


def _complete(cls: type[JointKind]) -> None:
    """State the facts that follow from the coordinates. Raises KindError where facts or members do not fit."""
    rates = tuple(RATES[dimension] for dimension in cls.coordinate_dimensions)
    derived = {"speeds": cls.coordinates, "speed_dimensions": rates, "neutral": (0.0,) * len(rates)}
    for fact, value in derived.items():
        if fact not in vars(cls):
            setattr(cls, fact, value)
    cls.nq, cls.nv, cls.constraints = len(cls.coordinates), len(cls.speeds), 6 - len(cls.speeds)
    if not (cls.nq == len(rates) == len(cls.neutral) and cls.nv == len(cls.speed_dimensions) <= 6):
        raise KindError(f"{cls.__name__}: each coordinate needs a suffix, a dimension and a neutral value.")
    for member in ("rate", "displacement", "moved", "between"):
        if cls.nq != cls.nv and _inherited(cls, member):
            raise KindError(f"{cls.__name__}: its speeds are no rates of its coordinates, so state '{member}'.")
        if cls.nq == cls.nv and member != "displacement" and not _inherited(cls, member):
            raise KindError(f"{cls.__name__}: as many speeds as coordinates are their rates; '{member}' says else.")
    if _inherited(cls, "read") and not set(cls.uses) <= {"axis"}:
        raise KindError(f"{cls.__name__}: it uses more than an axis, so state how it is read.")


def _inherited(cls: type[JointKind], member: str) -> bool:
    """True if a kind leaves a member as it is for all."""
    own, base = (getattr(owner, member) for owner in (cls, JointKind))
    return getattr(own, "__func__", own) is getattr(base, "__func__", base)
