"""Kinds of maps with one value per pose: the title, the measured quantity and the computation of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.errors import ExpressionError, ModelError
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.model.formula.formula_units import formula_dimension
from core.model.parameters import parameter_values
from core.simulation.measures.run_measures import Signals
from core.simulation.run.channels import Channels
from core.studies.workspace import jacobian_measures as measures
from core.studies.workspace.pose_solver import MappedMachine

Array = NDArray[np.float64]
Values = Callable[[Array], Array]
Part = Literal["translation", "rotation"]


class MapSpecification(NamedTuple):
    """Specification of a map. part : of the motion; m : dimension of the motion; normal : of the plane in which the
    frame moves, None in space; chosen : actuators; length : metres of a prismatic joint equivalent to one radian."""

    machine: MappedMachine
    part: Part
    m: int
    normal: Array | None
    chosen: Actuators
    length: float
    moves: int = 3
    """Dimension of the frame's translational velocities."""
    error: float = 1e-3
    """Error of each actuator: rad; for prismatic joints times `length`, m."""

    def jacobians(self, q: Array) -> Array:
        """Compute Jacobians (n, 3, k) of the part, all columns per radian."""
        found = measures.actuator_jacobians(self.machine, q, self.chosen)
        slides = self.chosen.translating_mask(self.machine.mech)
        weights = np.where(slides & ~slides.all(), self.length, 1.0)
        return (found.linear if self.part == "translation" else found.angular) * weights

    @property
    def unit(self) -> str:
        """Unit of a radius of the velocity ellipsoid."""
        return "m" if self.part == "translation" and not self.chosen.translating_mask(self.machine.mech).all() else ""


@dataclass(frozen=True)
class MapKind:
    """Kind of map. title : of the map; about : meaning of its values; best : rule for choosing among several poses at
    one point; make(specification) returns a function that computes values (n,) of poses (n, nq), and their unit."""

    title: str
    about: str
    best: Literal["largest", "least"]
    make: Callable[[MapSpecification], tuple[Values, str]]
    of_part: bool = False
    """True if translation and rotation are distinguished."""


def _make_reach_values(specification: MapSpecification) -> tuple[Values, str]:
    return lambda q: np.ones(len(q)), ""


def _make_manipulability(specification: MapSpecification) -> tuple[Values, str]:
    power = {1: "", 2: "²", 3: "³"}[specification.m]
    return lambda q: measures.manipulabilities(
        specification.jacobians(q), specification.m
    ), specification.unit and f"{specification.unit}{power}"


def _make_condition_number(specification: MapSpecification) -> tuple[Values, str]:
    return lambda q: measures.condition_numbers(specification.jacobians(q), specification.m), ""


def _make_isotropy(specification: MapSpecification) -> tuple[Values, str]:
    return lambda q: 1.0 / measures.condition_numbers(specification.jacobians(q), specification.m), ""


def _make_singularity(specification: MapSpecification) -> tuple[Values, str]:
    return lambda q: measures.singular_values(specification.jacobians(q), specification.m)[:, -1], specification.unit


def _make_speed(specification: MapSpecification) -> tuple[Values, str]:
    fastest = measures.actuator_speed_limits(specification.machine.mech, specification.chosen)

    def compute_values(q: Array) -> Array:
        return measures.speeds_in_every_direction(
            measures.actuator_jacobians(specification.machine, q, specification.chosen).linear,
            fastest,
            specification.normal,
        )

    return compute_values, "m/s"


def _make_force(specification: MapSpecification) -> tuple[Values, str]:
    strongest = measures.actuator_force_limits(specification.machine.mech, specification.chosen)

    def compute_values(q: Array) -> Array:
        found = measures.actuator_jacobians(specification.machine, q, specification.chosen, weight=True)
        assert found.hold is not None
        return measures.forces_in_every_direction(found.linear, strongest, found.hold)

    return compute_values, "N"


def _make_payload(specification: MapSpecification) -> tuple[Values, str]:
    mech = specification.machine.mech
    strongest, pull = measures.actuator_force_limits(mech, specification.chosen), measures.gravity_vector(mech)

    def compute_values(q: Array) -> Array:
        found = measures.actuator_jacobians(specification.machine, q, specification.chosen, weight=True)
        assert found.hold is not None
        return measures.payloads(found.linear, strongest, found.hold, pull)

    return compute_values, "kg"


def _unscaled_jacobians(specification: MapSpecification, q: Array) -> Array:
    """Compute Jacobians (n, 3, k) of the part, columns per rad or m."""
    found = measures.actuator_jacobians(specification.machine, q, specification.chosen)
    return found.linear if specification.part == "translation" else found.angular


def _make_accuracy(specification: MapSpecification) -> tuple[Values, str]:
    slides = specification.chosen.translating_mask(specification.machine.mech)
    errors = specification.error * np.where(slides, specification.length, 1.0)
    return lambda q: measures.worst_errors(
        _unscaled_jacobians(specification, q), errors
    ), "m" if specification.part == "translation" else "rad"


def _make_stiffness(specification: MapSpecification) -> tuple[Values, str]:
    springs = measures.actuator_stiffnesses(specification.machine.mech, specification.chosen)
    unit = "N/m" if specification.part == "translation" else "N·m/rad"
    return lambda q: measures.least_stiffness(_unscaled_jacobians(specification, q), springs), unit


KINDS: dict[str, MapKind] = {
    "reach": MapKind("Workspace", "positions that the frame can reach", "largest", _make_reach_values),
    "manipulability": MapKind("Manipulability", "Yoshikawa's w = √det(J Jᵀ)", "largest", _make_manipulability, True),
    "condition": MapKind(
        "Condition", "largest over smallest radius of the velocity ellipsoid", "least", _make_condition_number, True
    ),
    "isotropy": MapKind(
        "Isotropy",
        "smallest over largest radius of the velocity ellipsoid, 1 = sphere",
        "largest",
        _make_isotropy,
        True,
    ),
    "singularity": MapKind(
        "Distance from singularities",
        "smallest radius of the velocity ellipsoid: distance of J from a singular matrix",
        "largest",
        _make_singularity,
        True,
    ),
    "speed": MapKind(
        "Speed", "speed attained in every direction within the actuators' speed limits", "largest", _make_speed
    ),
    "force": MapKind(
        "Force", "force borne in every direction within the actuators' effort limits", "largest", _make_force
    ),
    "accuracy": MapKind(
        "Error of the frame",
        "largest error of the frame caused by errors of the actuators",
        "least",
        _make_accuracy,
        True,
    ),
    "stiffness": MapKind(
        "Stiffness",
        "stiffness in the softest direction, from the stiffness of the joints",
        "largest",
        _make_stiffness,
        True,
    ),
    "payload": MapKind(
        "Payload", "largest mass held at rest within the actuators' effort limits", "largest", _make_payload
    ),
}
"""Map kinds by the names used in scripts and functions."""


class _PoseSamples(NamedTuple):
    """Static poses in the form that channels expect."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array


def map_kind_of_formula(text: str, machine: MappedMachine) -> MapKind:
    """Build the map kind of a formula of pose channels.

    Raises ExpressionError with what is wrong, ModelError where it names a channel of several components.
    """
    signals, node = Signals(machine.mech), parse(text)
    signals.check(node, text)
    for name in names_in_formula(node):
        if signals.components(name) not in ((), None):
            raise ModelError(
                f"'{name}' has several components.",
                where="kind",
                remedy=f"Choose one of them, for example {name}{(signals.components(name) or ('',))[0]}.",
            )
    try:
        unit = formula_dimension(node, signals.dimension).unit
    except ExpressionError as error:
        raise error.at(where="kind") from None

    def make(specification: MapSpecification) -> tuple[Values, str]:
        mech, p = machine.mech, machine.p
        numbers = parameter_values(mech.model.expanded.parameters, dict(zip(mech.p_names, p.tolist(), strict=True)))

        def values(q: Array) -> Array:
            n, still = len(q), np.zeros((len(q), mech.nv))
            x = np.asarray(mech.x_rest(q, p=p)) if mech.nx else np.zeros((n, 0))
            forces = any(each.endswith(".tau") for each in names_in_formula(node))
            tau = np.asarray(mech.inverse_dynamics(q, still, still, p=p)) if forces else still
            channels = Channels(mech, p, _PoseSamples(np.zeros(n), q, still, still, tau, x, np.zeros((0, 0))))
            known: dict[str, Any] = dict(numbers)
            for name in names_in_formula(node):
                if name not in known:
                    known[name] = np.asarray(channels[name])
            with np.errstate(all="ignore"):
                return np.array(np.broadcast_to(np.asarray(evaluate(node, known), dtype=float), n))

        return values, unit

    return MapKind(f"Map of {text}", text, "largest", make)
