"""Interface of all force elements; each kind is one class, in a module of its own in this folder."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar, NamedTuple

from core.mechanics.elements.added_inertia import AddedInertia
from core.mechanics.elements.force_state import End, ForceState, Loads, Scalars
from core.mechanics.elements.line_masses import LineMass
from core.mechanics.elements.resolver import Resolver
from core.model import Force, ForceKind, Model
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3


class ForceChannel(NamedTuple):
    """Output quantity of a force element, with the suffixes of its components."""

    name: str
    dimension: str
    components: tuple[str, ...] = ("",)
    of_runs: bool = True
    """False if simulations do not record it."""


class ForceElement(ForceKind):
    """Force element that acts on links and speeds. Its states are entries of x, from index `state` on."""

    state_names: ClassVar[tuple[str, ...]] = ()
    element: str
    """Name of the element, or of the joint whose passive force it is."""
    joint: str = ""
    """Joint in which the element acts; empty if none."""
    turns: bool = False
    """True if the element acts along a measured angle, which is known only up to whole turns."""
    state: int = 0

    @classmethod
    @abstractmethod
    def read(cls, force: Force, machine: Resolver) -> ForceElement:
        """Read an element of the document. Raises ModelError."""

    @classmethod
    @abstractmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return the output channels of `observed`. along : dimension of the quantity along which the element acts"""

    @classmethod
    def masses(cls, force: Force, machine: Resolver) -> tuple[LineMass, ...]:
        """Return the point masses on the element's line. Raises ModelError."""
        return ()

    @classmethod
    def moving_masses(cls, force: Force, machine: Resolver) -> Sequence[AddedInertia]:
        """Return the masses that move with the element's length. Raises ModelError."""
        return ()

    @classmethod
    def states_of(cls, force: Force, model: Model) -> tuple[str, ...]:
        """Return the names of the states of an element of the document."""
        return cls.state_names

    @abstractmethod
    def add_loads(self, state: ForceState, loads: Loads) -> None:
        """Add the element's forces to the loads."""

    @abstractmethod
    def output_values(self, state: ForceState) -> Scalars:
        """Return the values of all output channels, concatenated."""

    @abstractmethod
    def potential(self, state: ForceState) -> Scalar:
        """Return the potential energy of the element's springs, J."""

    @abstractmethod
    def ends(self) -> tuple[End, ...]:
        """Return the points on which the element acts; none if it acts on a speed of the tree."""

    @abstractmethod
    def end_forces(self, state: ForceState) -> Sequence[Vector3]:
        """Return the force on each end point of `ends`, world axes."""

    def x_rate(self, state: ForceState) -> Scalars:
        """Return the rates of the element's states."""
        return ()

    def x_rest(self, state: ForceState) -> Scalars:
        """Return the initial states of the element, which are its equilibrium when nothing moves."""
        return ()

    @property
    def loss_state(self) -> int:
        """Return the index in x of the energy that the element has lost, J; −1 if it has no such state."""
        return -1

    def channel(self, name: str, state: ForceState) -> Scalar:
        """Return the value of a scalar output channel."""
        names = [channel.name for channel in self.channels("") for _ in channel.components]
        return self.output_values(state)[names.index(name)]


def output_count(kind: type[ForceElement]) -> int:
    """Return the number of output values of elements of a kind."""
    return sum(len(channel.components) for channel in kind.channels(""))


def total_loads(elements: Sequence[ForceElement], state: ForceState) -> Loads:
    """Return the total loads of all elements."""
    loads = Loads(state.kinematics)
    for element in elements:
        element.add_loads(state, loads)
    return loads
