"""Constraints other than joints: sensors held constant and coupled joints; and drivers, which prescribe a sensor or a
coordinate as a function of time."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from core.errors import ModelError
from core.later import dataclass
from core.model.declared_numbers import Setting, check_set_once, dimension_of_quantity
from core.model.dimensions import dimension_along, joint_dimension, rate_rule, sensor_dimension
from core.model.element_kinds import ElementKind, ElementKinds
from core.model.fields import (
    Element,
    Value,
    Vector,
    choice,
    formula,
    kind_of_family,
    name,
    parts,
    reference,
    scalar,
    text,
    vector,
)
from core.model.plain_lists import axis_from_name
from core.model.sensors import Sensor


class ConstraintKind(ElementKind):
    """Kind of constraint; its equations are in the class of `core.mechanics.elements.constraints` that derives from
    this."""

    @classmethod
    def element_class(cls) -> type[Element]:
        """Return `Constraint`."""
        return Constraint


class UnknownConstraint(ConstraintKind):
    """Substitute for a kind that is not installed."""

    name, title = "", "Unknown kind"
    uses = ("sensor", "value", "joint", "leader", "ratio", "offset", "a", "b", "length", "axis", "settings")
    needs = ()


CONSTRAINT_KINDS: ElementKinds[ConstraintKind] = ElementKinds(
    "constraint", ConstraintKind, "core.mechanics.elements.constraints"
)
"""All kinds of constraints, in the order in which the window offers them."""

MOTIONS = ("position", "velocity", "acceleration")

MOST_PLACES = 60
"""Largest denominator of a gear ratio for which two measured angles are tracked over several turns."""


def count_meshing_positions(ratio: float) -> int:
    """Return the number of positions in which two wheels can mesh when both angles are known only up to whole turns:
    the denominator of the ratio; 0 if the ratio is no quotient of small integers, so that the turns cannot be inferred.
    """
    fraction = Fraction(ratio).limit_denominator(MOST_PLACES)
    return fraction.denominator if abs(float(fraction) - ratio) <= 1e-9 * max(1.0, abs(ratio)) else 0


@dataclass(frozen=True, kw_only=True)
class Constraint(Element):
    """Constraint that keeps a sensor (all its components) at a value, couples two joints like a gear, or joins two
    points by a rod.

    Its kind says what it constrains, and which of these fields it uses (`core.mechanics.elements.constraints`, a file
    per kind).
    """

    name: str = name()
    kind: str = kind_of_family(CONSTRAINT_KINDS, "Kind of constraint", "hold")
    sensor: str = reference("sensor", "Sensor that is kept constant", optional=True)
    value: Value = scalar(help="Value at which the sensor is kept (SI)", by=dimension_along)
    joint: str = reference("joint", "Joint that is coupled", optional=True)
    leader: str = reference("joint", "Joint it is coupled to", optional=True)
    ratio: Value = scalar("none", 1.0, "Ratio")
    offset: Value = scalar(help="Offset (rad or m)", by=dimension_along)
    a: str = reference("frame", "Body or frame at one end of a rod; empty: world", optional=True)
    b: str = reference("frame", "Body or frame at the other end of a rod", optional=True)
    length: Value = scalar("length", 1.0, "Length of a rod")
    axis: Vector = vector(
        "none", (0.0, 0.0, 1.0), "First axis of a rod's universal joint, in a", spelled=axis_from_name
    )
    settings: tuple[Setting, ...] = parts(Setting, "Numbers that its kind declares")
    description: str = text("Notes")

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the constrained value: a sensor (or a component of it), a coordinate, or a length."""
        if "sensor" in self.info.uses:
            return sensor_dimension(model, self.sensor, index)
        return joint_dimension(model, self.joint) if "joint" in self.info.uses else "length"

    def setting_dimension(self, name: str) -> str:
        """Return the dimension of a number declared by the kind."""
        return dimension_of_quantity(self.info.numbers, name)

    @property
    def info(self) -> type[ConstraintKind]:
        """Return the kind."""
        return CONSTRAINT_KINDS.get(self.kind, UnknownConstraint)

    @property
    def joints(self) -> tuple[str, ...]:
        """Return the names of the coupled joints."""
        named = (getattr(self, field) for field in ("joint", "leader") if field in self.info.uses)
        return tuple(name for name in named if name)

    def connected_frames(self, sensors: Iterable[Sensor]) -> list[tuple[str, str]]:
        """Return the pairs of frames that the constraint connects: its own ends, or those of its sensor."""
        if "b" in self.info.uses:
            return [(self.a, self.b)]
        known, pairs = {sensor.name: sensor for sensor in sensors}, []
        name = self.sensor if "sensor" in self.info.uses else ""
        while name:
            pairs.append((known[name].a, known[name].b))
            name = known[name].minus
        return pairs

    def validate(self) -> None:
        """Raise ModelError if a reference required by the kind is missing."""
        check_set_once(self.settings, f"constraint '{self.name}'")
        if self.info is UnknownConstraint:
            return
        if "length" in self.info.uses and isinstance(self.length, float) and not self.length > 0.0:
            raise ModelError(
                "A rod needs a length.", where=f"constraint '{self.name}', length", remedy="Give a positive length."
            )
        for field in self.info.needs:
            if not getattr(self, field):
                raise ModelError(
                    f"The {field} is missing.", where=f"constraint '{self.name}', {field}", remedy="Name one."
                )


NOT_A_KNOT = "not-a-knot"
INTERPOLATIONS = (NOT_A_KNOT, "natural", "clamped", "linear", "quintic")
"""Ways to find values between the points of a driver's table."""

_GIVEN = {
    "position": dimension_along,
    "velocity": rate_rule(dimension_along),
    "acceleration": rate_rule(rate_rule(dimension_along)),
}


def _value_dimension(owners: tuple[Any, ...], model: Any, index: int | None) -> str:
    return _GIVEN[owners[-1].motion](owners, model, index)


@dataclass(frozen=True, kw_only=True)
class Driver(Element):
    """Prescribes a joint coordinate or a sensor as a function of time.

    The function is a formula in `t`, a table (times, values; splines between, held outside), or a column of a recorded
    signal (CSV or SIMNON). `motion` says whether it gives position, velocity or acceleration, `interpolation` what lies
    between the points.
    """

    name: str = name()
    joint: str = reference("joint", "Joint that is moved", optional=True)
    coordinate: str = text("Coordinate of a joint that has several: x, angle, 1 …")
    sensor: str = reference("sensor", "Sensor that is moved", optional=True)
    motion: str = choice(MOTIONS, "Quantity given by the function", "position")
    function: Value | None = formula(help="Formula in t and the parameters", states=False, by=_value_dimension)
    times: tuple[Value, ...] = vector("time", (), "Times of a table", sizes=(), labels=())
    values: tuple[Value, ...] = vector(
        default=(), help="Values of the table (SI)", sizes=(), labels=(), by=_value_dimension
    )
    file: str = text("File of a recorded signal (CSV or SIMNON)", role="file")
    column: str = text("Column of the file; empty: the one with the name of the joint or sensor")
    interpolation: str = choice(
        INTERPOLATIONS,
        "Values between the points of a table or file: lines; cubic splines without curvature (natural) or at rest "
        "(clamped) at both ends, or with the same cubic in the first and last two intervals (not-a-knot); splines of "
        "fifth degree, at rest and without acceleration at both ends",
        NOT_A_KNOT,
    )
    description: str = text("Notes")

    def given_dimension(self, model: Any) -> str:
        """Return the dimension of the function: of the driven value or its rate."""
        return _value_dimension((self,), model, None)

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the driven value: a sensor (or a component of it), or a coordinate."""
        return (
            sensor_dimension(model, self.sensor, index)
            if self.sensor
            else joint_dimension(model, self.joint, self.coordinate)
        )

    def validate(self) -> None:
        """Raise ModelError unless exactly one target is driven by exactly one function."""
        where = f"driver '{self.name}'"
        if bool(self.joint) == bool(self.sensor):
            raise ModelError(
                "A driver drives either a joint or a sensor, not both.",
                where=f"{where}, joint",
                remedy="Name one of them.",
            )
        given = [self.function is not None, bool(self.times or self.values), bool(self.file)]
        if sum(given) != 1:
            raise ModelError(
                "A driver needs one function of time: a formula, a table or a file.",
                where=f"{where}, function",
                remedy="Give exactly one of them.",
            )
        if len(self.times) != len(self.values):
            raise ModelError(
                f"The table has {len(self.times)} times and {len(self.values)} values.",
                where=f"{where}, values",
                remedy="Give one value per time.",
            )
        numbers = [time for time in self.times if isinstance(time, float)]
        if any(b <= a for a, b in itertools.pairwise(numbers)):
            raise ModelError(
                "The times of the table are not increasing.",
                where=f"{where}, times",
                remedy="Sort them and remove duplicates.",
            )
