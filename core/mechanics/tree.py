"""Kinematic tree of the recursions: links in topological order, parents first; and the runners that execute recursions.

Link i is everything rigidly fixed behind joint i. Its frame is the moving frame of its joint (axis along z), so
poses, inertias and frames of the link are constants. λ(i) is `parent`; −1 is the world.

Every recursion is a sequence of *steps*: calls `run(step, *arguments)` of plain functions of structures of scalars.
The runner `inline` executes them where they stand, so that constants fold and the expressions are specialised for the
machine. `core.codegen.blocks` instead translates each distinct step once and strings the calls into a table, so that
the translation of a thousand links costs no more than that of ten. The text of the mechanics is the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import cached_property
from typing import Any, NamedTuple, Protocol, TypeVar

from core.joints.kind import JointLaw
from core.later import dataclass
from core.mechanics.dry_friction import NO_FRICTION, DryFriction
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.pose import Pose
from core.numerics.spatial.scalar import Scalar, over, plus, times
from core.numerics.spatial.vector import ZERO, Vector3

Scalars = Sequence[Scalar]


class Coupling(NamedTuple):
    """Coupling of a joint to a leader: q = ratio · q_leader + offset, where q_leader is an independent coordinate of
    the tree."""

    ratio: Scalar
    offset: Scalar


class LinkFrame(NamedTuple):
    """Frame fixed to a link (−1: world)."""

    link: int
    pose: Pose


class PointMass(NamedTuple):
    """Mass (kg) and first moment (kg·m) of one body, in the frame of its link."""

    mass: Scalar
    moment: Vector3

    @property
    def center(self) -> Vector3:
        """Return the centre of mass, m."""
        return Vector3(*(over(component, self.mass) for component in self.moment))


@dataclass(frozen=True)
class Link:
    """Joint and the rigid body moved by it."""

    name: str
    """Name of the joint."""
    parent: int
    """λ(i): index of the parent link, −1 for the world."""
    law: JointLaw
    placement: Pose
    """X_λ(i),i at q = 0: the fixed side of the joint in the parent link's frame."""
    inertia: Inertia
    """Inertia of all bodies of the link, in its frame."""
    first_q: int
    """Index of the joint's first coordinate in q (its leader's, if it is coupled)."""
    first_v: int
    coupling: Coupling | None = None
    bodies: tuple[PointMass, ...] = ()
    armature: Scalar = 0.0
    damping: Scalar = 0.0
    friction: DryFriction = NO_FRICTION
    stiffness: Scalar = 0.0
    rest: tuple[Scalar, ...] = ()

    @property
    def q(self) -> slice:
        """Return the slice of the joint's coordinates in q."""
        return slice(self.first_q, self.first_q + self.law.nq)

    @property
    def v(self) -> slice:
        """Return the slice of the joint's speeds in v."""
        return slice(self.first_v, self.first_v + self.law.nv)


@dataclass(frozen=True)
class Gravity:
    """Gravity: a uniform acceleration (world axes), or a point field mu/r² toward `center`."""

    acceleration: Vector3 = ZERO
    mu: Scalar = 0.0
    center: Vector3 = ZERO
    is_point: bool = False


@dataclass(frozen=True)
class Tree:
    """Links in topological order, numbers of coordinates and speeds, gravity."""

    links: tuple[Link, ...]
    nq: int
    nv: int
    gravity: Gravity = field(default_factory=Gravity)

    @cached_property
    def has_coupled_joints(self) -> bool:
        """Return True if any joint is coupled to another."""
        return any(link.coupling is not None for link in self.links)

    def ancestors(self, link: int) -> list[int]:
        """Return κ(i): the link and its ancestors, from the link to the root."""
        path = []
        while link >= 0:
            path.append(link)
            link = self.links[link].parent
        return path


def follower_coordinate(coupling: Coupling, leader: Scalar) -> Scalar:
    """Return the coordinate of a coupled joint from its leader's."""
    return plus(times(coupling.ratio, leader), coupling.offset)


Result = TypeVar("Result")


class Runner(Protocol):
    """Executes one step of a recursion."""

    def __call__(self, step: Callable[..., Any], *arguments: Any) -> Any: ...


def inline(step: Callable[..., Result], *arguments: Any) -> Result:
    """Run a step of a recursion by calling its function directly."""
    return step(*arguments)
