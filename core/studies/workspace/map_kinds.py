"""Kinds of maps with one value per pose: title, measured quantity, and computation of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.actuators import Actuators
from core.errors import ExpressionError, ModelError
from core.model.formula.expression import evaluate, names, parse
from core.model.formula.formula_units import dimension_of
from core.model.parameters import environment
from core.simulation.measures.run_measures import Signals
from core.simulation.run.channels import Channels
from core.studies.workspace import jacobian_measures as measures
from core.studies.workspace.pose_solver import Machine

Array = NDArray[np.float64]
Values = Callable[[Array], Array]
Part = Literal["translation", "rotation"]


class Wanted(NamedTuple):
    """Specification of a map. part : of the motion; m : dimension of the motion; normal : of the plane in which the
    frame moves, None in space; chosen : actuators; length : metres of a prismatic joint equivalent to one radian."""

    machine: Machine
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
        found = measures.actuated(self.machine, q, self.chosen)
        slides = self.chosen.slides(self.machine.mech)
        weights = np.where(slides & ~slides.all(), self.length, 1.0)
        return (found.linear if self.part == "translation" else found.angular) * weights

    @property
    def unit(self) -> str:
        """Unit of a radius of the velocity ellipsoid."""
        return "m" if self.part == "translation" and not self.chosen.slides(self.machine.mech).all() else ""


@dataclass(frozen=True)
class Kind:
    """Kind of map. title : of the map; about : meaning of its values; best : rule for choosing among poses at one
    point; make(wanted) returns a function computing values (n,) of poses (n, nq), and their unit."""

    title: str
    about: str
    best: Literal["largest", "least"]
    make: Callable[[Wanted], tuple[Values, str]]
    of_part: bool = False
    """True if translation and rotation are distinguished."""


def _reach(wanted: Wanted) -> tuple[Values, str]:
    return lambda q: np.ones(len(q)), ""


def _manipulability(wanted: Wanted) -> tuple[Values, str]:
    power = {1: "", 2: "²", 3: "³"}[wanted.m]
    return lambda q: measures.volumes(wanted.jacobians(q), wanted.m), wanted.unit and f"{wanted.unit}{power}"


def _condition(wanted: Wanted) -> tuple[Values, str]:
    return lambda q: measures.conditions(wanted.jacobians(q), wanted.m), ""


def _isotropy(wanted: Wanted) -> tuple[Values, str]:
    return lambda q: 1.0 / measures.conditions(wanted.jacobians(q), wanted.m), ""


def _singularity(wanted: Wanted) -> tuple[Values, str]:
    return lambda q: measures.singular_values(wanted.jacobians(q), wanted.m)[:, -1], wanted.unit


def _speed(wanted: Wanted) -> tuple[Values, str]:
    fastest = measures.speed_limits(wanted.machine.mech, wanted.chosen)

    def values(q: Array) -> Array:
        return measures.speeds_in_every_direction(
            measures.actuated(wanted.machine, q, wanted.chosen).linear, fastest, wanted.normal
        )

    return values, "m/s"


def _force(wanted: Wanted) -> tuple[Values, str]:
    strongest = measures.efforts(wanted.machine.mech, wanted.chosen)

    def values(q: Array) -> Array:
        found = measures.actuated(wanted.machine, q, wanted.chosen, weight=True)
        assert found.hold is not None
        return measures.forces_in_every_direction(found.linear, strongest, found.hold)

    return values, "N"


def _payload(wanted: Wanted) -> tuple[Values, str]:
    mech = wanted.machine.mech
    strongest, pull = measures.efforts(mech, wanted.chosen), measures.gravity_vector(mech)

    def values(q: Array) -> Array:
        found = measures.actuated(wanted.machine, q, wanted.chosen, weight=True)
        assert found.hold is not None
        return measures.payloads(found.linear, strongest, found.hold, pull)

    return values, "kg"


def _plain_jacobians(wanted: Wanted, q: Array) -> Array:
    """Compute Jacobians (n, 3, k) of the part, columns per rad or m."""
    found = measures.actuated(wanted.machine, q, wanted.chosen)
    return found.linear if wanted.part == "translation" else found.angular


def _accuracy(wanted: Wanted) -> tuple[Values, str]:
    slides = wanted.chosen.slides(wanted.machine.mech)
    errors = wanted.error * np.where(slides, wanted.length, 1.0)
    return lambda q: measures.worst_errors(
        _plain_jacobians(wanted, q), errors
    ), "m" if wanted.part == "translation" else "rad"


def _stiffness(wanted: Wanted) -> tuple[Values, str]:
    springs = measures.stiffnesses(wanted.machine.mech, wanted.chosen)
    unit = "N/m" if wanted.part == "translation" else "N·m/rad"
    return lambda q: measures.least_stiffness(_plain_jacobians(wanted, q), springs), unit


KINDS: dict[str, Kind] = {
    "reach": Kind("Workspace", "positions that the frame can reach", "largest", _reach),
    "manipulability": Kind("Manipulability", "Yoshikawa's w = √det(J Jᵀ)", "largest", _manipulability, True),
    "condition": Kind("Condition", "largest over smallest radius of the velocity ellipsoid", "least", _condition, True),
    "isotropy": Kind(
        "Isotropy", "smallest over largest radius of the velocity ellipsoid, 1 = sphere", "largest", _isotropy, True
    ),
    "singularity": Kind(
        "Distance from singularities",
        "smallest radius of the velocity ellipsoid: distance of J from a singular matrix",
        "largest",
        _singularity,
        True,
    ),
    "speed": Kind("Speed", "speed attained in every direction within the actuators' speed limits", "largest", _speed),
    "force": Kind("Force", "force borne in every direction within the actuators' effort limits", "largest", _force),
    "accuracy": Kind(
        "Error of the frame", "largest error of the frame caused by errors of the actuators", "least", _accuracy, True
    ),
    "stiffness": Kind(
        "Stiffness", "stiffness in the softest direction, from the stiffness of the joints", "largest", _stiffness, True
    ),
    "payload": Kind("Payload", "largest mass held at rest within the actuators' effort limits", "largest", _payload),
}
"""Map kinds by the names used in scripts and functions."""


class _Samples(NamedTuple):
    """Static poses in the form that channels expect."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array


def formula_kind(text: str, machine: Machine) -> Kind:
    """Build the map kind of a formula of pose channels.

    Raises ExpressionError with what is wrong, ModelError where it names a channel of several components.
    """
    signals, node = Signals(machine.mech), parse(text)
    signals.check(node, text)
    for name in names(node):
        if signals.components(name) not in ((), None):
            raise ModelError(
                f"'{name}' has several components.",
                where="kind",
                remedy=f"Choose one of them, for example {name}{(signals.components(name) or ('',))[0]}.",
            )
    try:
        unit = dimension_of(node, signals.dimension).unit
    except ExpressionError as error:
        raise error.at(where="kind") from None

    def make(wanted: Wanted) -> tuple[Values, str]:
        mech, p = machine.mech, machine.p
        numbers = environment(mech.model.expanded.parameters, dict(zip(mech.p_names, p.tolist(), strict=True)))

        def values(q: Array) -> Array:
            n, still = len(q), np.zeros((len(q), mech.nv))
            x = np.asarray(mech.x_rest(q, p=p)) if mech.nx else np.zeros((n, 0))
            forces = any(each.endswith(".tau") for each in names(node))
            tau = np.asarray(mech.inverse_dynamics(q, still, still, p=p)) if forces else still
            channels = Channels(mech, p, _Samples(np.zeros(n), q, still, still, tau, x, np.zeros((0, 0))))
            known: dict[str, Any] = dict(numbers)
            for name in names(node):
                if name not in known:
                    known[name] = np.asarray(channels[name])
            with np.errstate(all="ignore"):
                return np.array(np.broadcast_to(np.asarray(evaluate(node, known), dtype=float), n))

        return values, unit

    return Kind(f"Map of {text}", text, "largest", make)
