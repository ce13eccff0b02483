"""Signals of the document: blocks that compute values from signals, and controllers, which exert forces in joints.

Each kind is one class in `core.mechanics.elements.blocks`. The value of a signal is a name in formulas of forces, other
signals and measures; some kinds have several values, `controller.elbow.error` for example.
"""

from __future__ import annotations

from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.declared_numbers import Setting, check_set_once, dimension_of_quantity
from core.model.dimensions import damping_rule, dimension_along, force_rule, joint_dimension, stiffness_rule
from core.model.element_kinds import ElementKind, ElementKinds
from core.model.fields import (
    Element,
    Rule,
    Value,
    Vector,
    choice,
    flag,
    formula,
    kind_of_family,
    name,
    parts,
    reference,
    scalar,
    text,
    vector,
)
from core.model.plain_lists import are_plain_numbers
from core.model.signals import component_name

SAMPLED = ("period", "delay", "phase")
"""Fields of a law that is evaluated at equal time steps."""


class BlockKind(ElementKind):
    """Kind of signal; its formulas are in the class of `core.mechanics.elements.blocks` that derives from this."""

    acts: ClassVar[bool] = False
    """True for controllers, which exert forces in joints."""
    scaled_by_inertia: ClassVar[bool] = False
    """True if gains give accelerations, which inertia turns into forces."""

    @classmethod
    def element_class(cls) -> type[Element]:
        """Return `Signal`."""
        return Signal

    @classmethod
    def value_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the suffixes of the signal's values; "" for the value called as the signal itself."""
        return ("",)

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the suffixes of the signal's states."""
        return ()

    @classmethod
    def law(cls, signal: Signal, model: Any) -> Any:
        """Return the formulas of a signal of an expanded model (`core.model.signal_laws`). Raises ModelError."""
        raise ModelError(
            f"The kind '{signal.kind}' is not known.",
            where=f"signal '{signal.name}', kind",
            remedy="Choose another kind, or install the package that provides it.",
        )

    @classmethod
    def value_dimension(cls, signal: Signal, model: Any, suffix: str) -> str:
        """Return the dimension of a value."""
        return "none"


class UnknownBlock(BlockKind):
    """Substitute for a kind that is not installed."""

    name, title = "", "Unknown kind"
    uses = (
        *(
            "input",
            "inputs",
            "motion",
            "joints",
            "kp",
            "ki",
            "kd",
            "gravity",
            "anti_windup",
            "nominal",
            "frame",
            "target",
        ),
        *(
            "stiffness",
            "damping",
            "rotational_stiffness",
            "rotational_damping",
            "states",
            "points",
            "numerator",
            "denominator",
        ),
        *SAMPLED,
        *("resolution", "noise", "seed", "initial", "settings"),
    )
    needs = ()


BLOCK_KINDS: ElementKinds[BlockKind] = ElementKinds("signal", BlockKind, "core.mechanics.elements.blocks")
"""All kinds of signals, in the order in which the window offers them."""


def _gain_rule(rule: Rule) -> Rule:
    """Return the rule for the dimension of a gain: none where inertia is not part of it."""

    def dimension(owners: tuple[Any, ...], model: Any, index: int | None) -> str:
        return "none" if owners[0].info.scaled_by_inertia else rule(owners, model, index)

    return dimension


@dataclass(frozen=True, kw_only=True)
class ControlledJoint(Element):
    """A joint coordinate in which a controller acts, with gains and limits of its own."""

    joint: str = reference("joint", "Joint in which the controller acts")
    coordinate: str = text("Coordinate of a joint that has several: x, angle, 1 …")
    reference: Value | None = formula(
        help="Reference (rad or m) as a formula, e.g. 0.5*sin(t); empty: that of the motion, or 0",
        own=(),
        by=dimension_along,
    )
    force: Value | None = formula(
        help="Force (N·m or N) as a formula of coordinates, references (ref.elbow.q), states and signals",
        own=(),
        by=force_rule(dimension_along),
    )
    kp: Value | None = scalar(
        default=None,
        help="Gain of the position error (N·m/rad or N/m); empty: the controller's",
        by=_gain_rule(stiffness_rule(dimension_along)),
    )
    ki: Value | None = scalar(default=None, help="Gain of the integral of the error; empty: the controller's")
    kd: Value | None = scalar(
        default=None,
        help="Gain of the speed error (N·m·s/rad or N·s/m); empty: the controller's",
        by=_gain_rule(damping_rule(dimension_along)),
    )
    limit: Value | None = scalar(
        default=None,
        help="Largest force (N·m or N); empty: the effort limit of the joint",
        by=force_rule(dimension_along),
    )

    @property
    def component(self) -> str:
        """Return the name of the coordinate, without the joint's suffix where it has only one."""
        return component_name(self.joint, self.coordinate)

    @property
    def summary(self) -> str:
        return self.component

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the coordinate."""
        return joint_dimension(model, self.joint, self.coordinate)


@dataclass(frozen=True, kw_only=True)
class OwnState(Element):
    """A state of a law, by the formula of its rate."""

    name: str = name("Name, as formulas of the law use it")
    rate: Value = formula(default=0.0, help="Rate of change as a formula, e.g. ref.elbow.q - elbow", own=())
    start: Value = scalar(help="Value at the start")

    @property
    def summary(self) -> str:
        return f"{self.name}' = {self.rate}"


@dataclass(frozen=True, kw_only=True)
class BlockInput(Element):
    """One of several inputs of a block."""

    value: Value = formula(default=0.0, help="Value as a formula", own=())
    factor: Value = scalar("none", 1.0, "Factor in a sum")

    @property
    def summary(self) -> str:
        return str(self.value)


@dataclass(frozen=True, kw_only=True)
class Coefficient(Element):
    """A coefficient of a polynomial."""

    value: Value = scalar(default=1.0, help="Coefficient")
    forms: ClassVar[str] = "a number"

    @classmethod
    def of_number(cls, value: Any) -> Coefficient:
        """Return the coefficient with a value."""
        return cls(value=value)

    @property
    def summary(self) -> str:
        return str(self.value)


@dataclass(frozen=True, kw_only=True)
class NominalValue(Element):
    """A parameter for which a controller assumes another value than the machine has."""

    parameter: str = reference("parameter", "Parameter")
    value: Value = scalar(required=True, help="Value that the controller assumes (SI)")

    @property
    def summary(self) -> str:
        return f"{self.parameter} = {self.value}"


@dataclass(frozen=True, kw_only=True)
class TablePoint(Element):
    """A point of a table: input and output."""

    input: Value = scalar(required=True, help="Input")
    output: Value = scalar(required=True, help="Output")
    forms: ClassVar[str] = "a pair [input, output]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> TablePoint | None:
        """Return the point for an input and an output; None for any other list."""
        return cls(input=items[0], output=items[1]) if len(items) == 2 and are_plain_numbers(items) else None

    @property
    def summary(self) -> str:
        return f"{self.input} → {self.output}"


@dataclass(frozen=True, kw_only=True)
class Signal(Element):
    """A signal: a block with one value, or a controller of joints.

    Its kind says what it computes, and which of these fields it uses (`core.mechanics.elements.blocks`). Formulas may
    use `t`, parameters, joints (`elbow`, `elbow.v`), sensors, other signals by name, `gravity.elbow` (force that holds
    the machine against gravity), entries of the mass matrix (`M[1,2]`), and motions (`pick.elbow.q`, `.v`, `.a`).
    """

    meaning: ClassVar[str] = (
        "A value computed while the machine moves, or a controller of its joints. Formulas use it by its name."
    )

    name: str = name()
    kind: str = kind_of_family(BLOCK_KINDS, "Kind of signal", "formula")
    input: Value = formula(default=0.0, help="Input as a formula", own=())
    inputs: tuple[BlockInput, ...] = parts(BlockInput, "Inputs of a sum or a switch")
    motion: str = reference("motion", "Motion whose coordinates are the references", optional=True)
    joints: tuple[ControlledJoint, ...] = parts(ControlledJoint, "Joints in which the controller acts")
    kp: Value = scalar(help="Gain of the error")
    ki: Value = scalar(help="Gain of the integral of the error")
    kd: Value = scalar(help="Gain of the rate of the error")
    gravity: bool = flag("Add the forces that hold the machine against gravity")
    anti_windup: Value | None = scalar(
        "time", None, "Time (s) in which the integral follows a limited output; empty: kp/ki"
    )
    nominal: tuple[NominalValue, ...] = parts(NominalValue, "Parameters for which the controller assumes other values")
    frame: str = reference("frame", "Frame that is moved, such as the tool; empty: none", optional=True)
    target: str = reference("frame", "Frame to which it is drawn; empty: world", optional=True)
    stiffness: Vector = vector("stiffness", (0.0, 0.0, 0.0), "Stiffness along the axes of the target frame")
    damping: Vector = vector("damping", (0.0, 0.0, 0.0), "Damping along these axes")
    rotational_stiffness: Vector = vector("rotational_stiffness", (0.0, 0.0, 0.0), "Stiffness about these axes")
    rotational_damping: Vector = vector("rotational_damping", (0.0, 0.0, 0.0), "Damping about these axes")
    states: tuple[OwnState, ...] = parts(OwnState, "States of the law")
    points: tuple[TablePoint, ...] = parts(TablePoint, "Points of the table, by increasing input")
    numerator: tuple[Coefficient, ...] = parts(Coefficient, "Coefficients of the numerator, highest power first")
    denominator: tuple[Coefficient, ...] = parts(Coefficient, "Coefficients of the denominator, highest power first")
    period: Value | None = scalar("time", None, "Period (s) at which it is evaluated; empty: continuously")
    delay: Value = scalar("time", 0.0, "Delay (s)")
    phase: Value = scalar("time", 0.0, "Time (s) of the first evaluation after the start")
    resolution: Value = scalar(help="Resolution of the measured coordinates (rad or m); 0: exact")
    noise: Value = scalar(help="Standard deviation of the noise")
    seed: Value = scalar(help="Seed of the noise, a whole number")
    initial: str = choice(
        ("rest", "steady"), "States at the start: zero, or constant for the input at the start", "rest"
    )
    settings: tuple[Setting, ...] = parts(Setting, "Numbers that its kind declares")
    description: str = text("Notes")

    @property
    def info(self) -> type[BlockKind]:
        """Return the kind."""
        return BLOCK_KINDS.get(self.kind, UnknownBlock)

    @property
    def summary(self) -> str:
        return self.info.short_title or self.kind

    @property
    def value_names(self) -> tuple[str, ...]:
        """Return the names of all its values in formulas."""
        return tuple(component_name(self.name, suffix) for suffix in self.info.value_names(self))

    @property
    def local_names(self) -> frozenset[str]:
        """Return the names that only formulas of this signal know: its own states, and its references."""
        references = {f"ref.{row.component}.{what}" for row in self.joints for what in ("q", "v", "a")}
        return frozenset({state.name for state in self.states} | references)

    def setting_dimension(self, name: str) -> str:
        """Return the dimension of a number declared by the kind."""
        return dimension_of_quantity(self.info.numbers, name)

    def validate(self) -> None:
        """Raise ModelError if a field required by the kind is missing, or a coordinate is controlled twice."""
        where = f"signal '{self.name}'"
        check_set_once(self.settings, where)
        for needed in self.info.needs:
            if not getattr(self, needed):
                raise ModelError(
                    f"The {needed} of the signal is missing.", where=f"{where}, {needed}", remedy="Give it."
                )
        seen: set[tuple[str, str]] = set()
        for row in self.joints:
            if (row.joint, row.coordinate) in seen:
                raise ModelError(
                    f"'{row.component}' is controlled twice.",
                    where=f"{where}, joints",
                    remedy="Remove one of the rows.",
                )
            seen.add((row.joint, row.coordinate))
