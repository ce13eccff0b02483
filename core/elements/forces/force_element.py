"""What the program asks of every force element; a kind is one class, in a file of its own beside this one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from core.elements.added_inertia import AddedInertia
from core.elements.force_state import End, ForceState, Loads, Scalars
from core.elements.line_masses import LineMass
from core.elements.resolver import Resolver
from core.elements.symbol_trial import told_to_document
from core.model import FORCE_KINDS, Force, ForceKind
from core.spatial.scalar import Scalar
from core.spatial.vector import Vector3


class ForceChannel(NamedTuple):
    """A quantity that a force element shows, with the suffixes of its components."""

    name: str
    dimension: str
    components: tuple[str, ...] = ("",)
    of_runs: bool = True
    """False for what is no channel of a run."""


class ForceElement(ABC):
    """What acts on links and speeds. The states of an element are entries of x, from `state` on."""

    name: ClassVar[str]
    """What the document calls the kind."""
    state_names: ClassVar[tuple[str, ...]] = ()
    element: str
    """The name of the element, or of the joint whose passive force it is."""
    joint: str = ""
    """The joint in which it acts, if it acts in one."""
    turns: bool = False
    """True if it acts along an angle that is measured, and so known up to whole turns."""
    state: int = 0

    @classmethod
    def in_document(cls) -> ForceKind:
        """What the document says of the kind: a row of `core.model.forces`, or what a kind from outside gives here."""
        return FORCE_KINDS[cls.name]

    @classmethod
    def check(cls) -> None:
        """Raises KindError, which names the member that cannot be used."""
        told_to_document(cls)

    @classmethod
    @abstractmethod
    def read(cls, force: Force, machine: Resolver) -> ForceElement:
        """An element of the document on a machine. Raises ModelError."""

    @classmethod
    @abstractmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """What `observed` gives. along : the dimension of what it acts along"""

    @classmethod
    def masses(cls, force: Force, machine: Resolver) -> tuple[LineMass, ...]:
        """Point masses on its line. Raises ModelError."""
        return ()

    @classmethod
    def inertias(cls, force: Force, machine: Resolver) -> Sequence[AddedInertia]:
        """Masses that move with its length. Raises ModelError."""
        return ()

    @abstractmethod
    def act(self, s: ForceState, loads: Loads) -> None:
        """Add what it exerts."""

    @abstractmethod
    def observed(self, s: ForceState) -> Scalars:
        """The numbers of its channels, one behind the other."""

    @abstractmethod
    def potential(self, s: ForceState) -> Scalar:
        """Of its springs, J."""

    @abstractmethod
    def ends(self) -> tuple[End, ...]:
        """The points on which it acts; none where it acts on a speed of the tree."""

    @abstractmethod
    def at_ends(self, s: ForceState) -> Sequence[Vector3]:
        """The force on each of these points, world axes."""

    def x_rate(self, s: ForceState) -> Scalars:
        """Rates of its states."""
        return ()

    def x_rest(self, s: ForceState) -> Scalars:
        """Its states where they start: what it comes to when nothing moves."""
        return ()

    def channel(self, name: str, s: ForceState) -> Scalar:
        """One of its channels that are single numbers."""
        names = [channel.name for channel in self.channels("") for _ in channel.components]
        return self.observed(s)[names.index(name)]


def numbers_shown(kind: type[ForceElement]) -> int:
    """How many numbers the elements of a kind show."""
    return sum(len(channel.components) for channel in kind.channels(""))


def loads_of(elements: Sequence[ForceElement], s: ForceState) -> Loads:
    """What all elements exert."""
    loads = Loads(s.kinematics)
    for element in elements:
        element.act(s, loads)
    return loads
