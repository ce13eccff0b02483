"""Force elements, and the massless junctions at which line forces may meet."""

from __future__ import annotations

from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.declared_numbers import Setting, check_set_once, dimension_of_quantity
from core.model.dimensions import (
    common_dimension,
    damping_rule,
    dimension_along,
    force_rule,
    inertia_rule,
    joint_dimension,
    rate_rule,
    sensor_dimension,
    stiffness_rule,
)
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
from core.model.joints import LEVELS

LINE, SENSOR, JOINT, STRANDS = "line", "sensor", "joint", "strands"
"""Line of action of a force: the line from a's to b's origin, a sensor, a joint coordinate, or a sum of these."""


class ForceKind(ElementKind):
    """Kind of force element; its mechanics are in the class of `core.mechanics.elements.forces` that derives from
    this."""

    along: ClassVar[str] = ""
    """LINE, SENSOR, JOINT or STRANDS; empty for a force at b with its own direction."""
    touches: ClassVar[bool] = False
    """True if the force is contact of shapes."""
    nonzero: ClassVar[tuple[str, ...]] = ()
    """Numbers of which one must be nonzero for the element to exert a force."""

    @classmethod
    def element_class(cls) -> type[Element]:
        """Return `Force`."""
        return Force


class UnknownForce(ForceKind):
    """Substitute for a kind that is not installed."""

    name, title = "", "Unknown kind"
    uses = (
        *("a", "b", "resolve", "force", "torque", "sensor", "joint", "coordinate"),
        *("leader", "ratio", *LEVELS, "stribeck_speed", "stiffness", "rest", "damping", "law", "settings"),
    )
    needs = ()


FORCE_KINDS: ElementKinds[ForceKind] = ElementKinds("force", ForceKind, "core.mechanics.elements.forces")
"""All kinds of force elements, in the order in which the window offers them."""


_ASKED = {"b": "body or frame", STRANDS: "joints or sensors", "leader": "other joint"}
"""Noun for what a required field names, where it is not the field's own name."""


def _position_dimension(owners: tuple[Any, ...], _model: Any, _index: int | None) -> str:
    return "none" if owners[-1].at == "fraction" else "length"


@dataclass(frozen=True, kw_only=True)
class LineMass(Element):
    """A point mass on the line of a force: at a fraction of the length from a, or at a fixed distance from an end."""

    mass: Value = scalar("mass", 0.0, "Mass")
    at: str = choice(("fraction", "from_a", "from_b"), "How its position is given", "fraction")
    place: Value = scalar(default=0.5, help="Fraction of the length, or distance in m", by=_position_dimension)


@dataclass(frozen=True, kw_only=True)
class Strand(Element):
    """Contribution of a joint or a sensor to the length of a tendon: factor · value."""

    joint: str = reference("joint", "Joint with one coordinate", optional=True)
    sensor: str = reference("sensor", "Sensor of one length or angle, instead of a joint", optional=True)
    factor: Value = scalar("none", 1.0, "Factor that multiplies its value")

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the strand's value."""
        return joint_dimension(model, self.joint) if self.joint else sensor_dimension(model, self.sensor)

    def validate(self) -> None:
        """Raise ModelError unless either a joint or a sensor is given."""
        if bool(self.joint) == bool(self.sensor):
            raise ModelError(
                "A strand of a tendon is either a joint or a sensor.", where="strands", remedy="Name one of them."
            )


@dataclass(frozen=True, kw_only=True)
class Force(Element):
    """A force element.

    Its kind says what it exerts, and which of these fields it uses (`core.mechanics.elements.forces`, a file per kind).
    Formulas may use `t`, parameters, joints (`elbow`, `elbow.v`), sensors (`reach`, `reach.rate`) and, in `law`, the
    element's own `length` and `rate`.
    """

    name: str = name()
    kind: str = kind_of_family(FORCE_KINDS, "Kind of force", "line")
    a: str = reference("point", "Body, frame or junction on one side; empty: world", optional=True)
    b: str = reference("point", "Body, frame or junction on the other side", optional=True)
    resolve: str = reference("frame", "Frame in whose axes force and torque are given; empty: world", optional=True)
    force: Vector = formula("force", (0.0, 0.0, 0.0), "Force on b")
    torque: Vector = formula("torque", (0.0, 0.0, 0.0), "Torque on b")
    sensor: str = reference("sensor", "Sensor along which it acts", optional=True)
    joint: str = reference("joint", "Joint in which it acts", optional=True)
    coordinate: str = text("Coordinate of a joint that has several: x, angle, 1 …")
    leader: str = reference("joint", "Joint on the other side of a clutch", optional=True)
    ratio: Value = scalar("none", 1.0, "Ratio at which a clutch turns without slip: v_joint = ratio · v_leader")
    friction: Value = formula(
        default=0.0,
        help="Friction of a slipping clutch (N·m or N): a number, or a formula, e.g. min(60*t, 90)",
        own=(),
        by=force_rule(dimension_along),
    )
    static_friction: Value | None = formula(
        help="Largest friction of a sticking clutch (N·m or N), or a formula; empty: as while slipping",
        own=(),
        by=force_rule(dimension_along),
    )
    backward_friction: Value | None = formula(
        help="Friction of a clutch that slips backward (N·m or N), or a formula; empty: as forward",
        own=(),
        by=force_rule(dimension_along),
    )
    backward_static_friction: Value | None = formula(
        help=(
            "Largest friction of a sticking clutch against slipping backward (N·m or N), or a formula; empty: as "
            "forward, or as while slipping backward if that is given"
        ),
        own=(),
        by=force_rule(dimension_along),
    )
    stribeck_speed: Value = scalar(
        help="Stribeck speed (rad/s or m/s) over which friction falls from static to sliding; 0: at once",
        by=rate_rule(dimension_along),
    )
    stiffness: Value = scalar(help="Spring rate (N/m, N·m/rad)", by=stiffness_rule(dimension_along))
    rest: Value = scalar(help="Length or value without spring force (SI)", by=dimension_along)
    damping: Value = scalar(help="Damper rate (N·s/m, N·m·s/rad)", by=damping_rule(dimension_along))
    law: Value | None = formula(
        help="Further force as a formula, e.g. 1e5*max(0.1 - length, 0)", by=force_rule(dimension_along)
    )
    masses: tuple[LineMass, ...] = parts(LineMass, "Point masses on the line")
    strands: tuple[Strand, ...] = parts(Strand, "Joints and sensors whose values sum up to its length")
    inertia: Value = scalar(
        help="Mass that moves with the length of a tendon (kg, kg·m²)", by=inertia_rule(dimension_along)
    )
    settings: tuple[Setting, ...] = parts(Setting, "Numbers that its kind declares")
    description: str = text("Notes")

    @property
    def is_clutch(self) -> bool:
        """Return True if the force is friction between two joints."""
        return "leader" in self.info.uses and self.info is not UnknownForce

    @property
    def is_contact(self) -> bool:
        """Return True if the force is contact of shapes."""
        return self.info.touches

    @property
    def friction_levels(self) -> tuple[Value | None, ...]:
        """Return the friction levels as given: sliding and at rest, forward, then the same backward."""
        return self.friction, self.static_friction, self.backward_friction, self.backward_static_friction

    @property
    def info(self) -> type[ForceKind]:
        """Return the kind."""
        return FORCE_KINDS.get(self.kind, UnknownForce)

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the length, value or coordinate along which the force acts."""
        if self.info.along == SENSOR:
            return sensor_dimension(model, self.sensor)
        if self.info.along == STRANDS:
            return common_dimension(strand.along(model, None) for strand in self.strands)
        return joint_dimension(model, self.joint, self.coordinate) if self.info.along == JOINT else "length"

    def setting_dimension(self, name: str) -> str:
        """Return the dimension of a number declared by the kind."""
        return dimension_of_quantity(self.info.numbers, name)

    def validate(self) -> None:
        """Raise ModelError if a field required by the kind is missing."""
        check_set_once(self.settings, f"force '{self.name}'")
        for needed in self.info.needs:
            if not getattr(self, needed):
                raise ModelError(
                    f"The {_ASKED.get(needed, needed)} on which the force acts is missing.",
                    where=f"force '{self.name}', {needed}",
                    remedy=f"Name the {_ASKED.get(needed, needed)}.",
                )
        if self.is_clutch and self.leader == self.joint:
            raise ModelError(
                "Both sides are the same joint.",
                where=f"force '{self.name}', leader",
                remedy="Name another joint.",
            )
        if self.info.along == LINE and (self.a or "world") == self.b:
            raise ModelError(
                "Both ends are the same.", where=f"force '{self.name}', b", remedy="Connect two different points."
            )


@dataclass(frozen=True, kw_only=True)
class Junction(Element):
    """A massless point at which line forces meet; its position is where they are in equilibrium."""

    name: str = name()
    guess: Vector = vector("length", help="Initial guess of its position, world axes")
    description: str = text("Notes")
