"""Base class of force elements that act along one scalar: a length, a relative measure or a coordinate.

A line force F pulls its ends together; the same law along a relative measure or in a joint acts against the growth of
the coordinate: Q = −F, F = k (s − rest) + c ṡ + law.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import NamedTuple

from core.mechanics.dry_friction import NO_FRICTION, DryFriction, friction_force
from core.mechanics.elements.force_state import ForceState, Scalars, Term
from core.mechanics.elements.forces.force_element import ForceChannel, ForceElement
from core.mechanics.elements.resolver import Resolver
from core.model import Force as DocumentForce
from core.numerics.spatial.scalar import Scalar, minus, negated, plus, times
from core.numerics.spatial.vector import Force

LAW_FIELDS = ("stiffness", "rest", "damping", "law")
"""Fields of the document's force that give a force law."""


class ForceLaw(NamedTuple):
    """Force law F = stiffness (s − rest) + damping ṡ + friction against ṡ + formula."""

    stiffness: Scalar = 0.0
    rest: Scalar = 0.0
    damping: Scalar = 0.0
    formula: Term = 0.0
    friction: DryFriction = NO_FRICTION


def read_law(force: DocumentForce, machine: Resolver) -> ForceLaw:
    """Return the force law given by the fields of an element."""
    where = f"force '{force.name}'"
    stiffness, rest, damping = (
        machine.numbers.scalar(getattr(force, field), f"{where}, {field}") for field in ("stiffness", "rest", "damping")
    )
    further = 0.0 if force.law is None else machine.read_term(force.law, f"{where}, law", force.name)
    return ForceLaw(stiffness, rest, damping, further)


class ForceOutputs(NamedTuple):
    """Outputs of a force element: coordinate, rate, force F, power delivered to the machine, potential energy."""

    length: Scalar
    rate: Scalar
    force: Scalar
    power: Scalar
    potential: Scalar


SPEED_AND_FORCE = {"length": ("velocity", "force"), "angle": ("angular_velocity", "torque")}


class ScalarForce(ForceElement):
    """Force element with a force law along one quantity."""

    law: ForceLaw

    @classmethod
    def channels(cls, along: str) -> tuple[ForceChannel, ...]:
        """Return the output channels, those of `ForceOutputs`."""
        rate, force = SPEED_AND_FORCE.get(along, ("none", "none"))
        dimensions = (along, rate, force, "power", "energy")
        return tuple(
            ForceChannel(name, dimension, of_runs=name != "potential")
            for name, dimension in zip(ForceOutputs._fields, dimensions, strict=True)
        )

    @abstractmethod
    def value_and_rate(self, state: ForceState) -> tuple[Scalar, Scalar]:
        """Return (value, rate), m or rad, per s."""

    def force_and_potential(self, s: ForceState, value: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
        """Return (F, potential), N or N·m, J."""
        return evaluate_law(self.law, s, value, speed)

    def output_values(self, state: ForceState) -> ForceOutputs:
        """Return the values of the output channels."""
        value, speed = self.value_and_rate(state)
        force, potential = self.force_and_potential(state, value, speed)
        return ForceOutputs(value, speed, force, state.run(force_power, force, speed), potential)

    def potential(self, state: ForceState) -> Scalar:
        """Return the potential energy, J."""
        return self.force_and_potential(state, *self.value_and_rate(state))[1]


def evaluate_law(law: ForceLaw, state: ForceState, length: Scalar, speed: Scalar) -> tuple[Scalar, Scalar]:
    """Return (F, potential) of a force law."""
    friction = NO_FRICTION if state.smooth else friction_at_state(law, state)
    force, potential = state.run(spring_and_damper_force, law[:3], friction, length, speed)
    further = state.value(law.formula, {"length": length, "rate": speed})
    return state.run(plus, force, further), potential


def friction_at_state(law: ForceLaw, state: ForceState) -> DryFriction:
    """Return the law's friction with the levels at a state."""
    known = {id(each): state.value(each) for each in law.friction}  # levels that are one stay one
    return DryFriction(*(known[id(each)] for each in law.friction))


def spring_and_damper_force(law: Scalars, friction: DryFriction, state: Scalar, v: Scalar) -> tuple[Scalar, Scalar]:
    """Return (k (s − rest) + c v + friction, ½ k (s − rest)²)."""
    stiffness, rest, damping = law
    stretch = minus(state, rest)
    force = plus(plus(times(stiffness, stretch), times(damping, v)), friction_force(friction, v))
    return force, times(0.5, times(stiffness, times(stretch, stretch)))


def force_power(force: Scalar, speed: Scalar) -> Scalar:
    """Return the power −F ṡ."""
    return negated(times(force, speed))


def wrench_against_growth(wrench: Force, share: Scalar, force: Scalar) -> Force:
    """Return the wrench of a force −F along a relative measure."""
    return wrench.scaled(negated(times(share, force)))
