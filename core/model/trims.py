"""Operating points of the document: conditions on quantities of the machine. `core.control.operating_point` computes
the solution, which is not part of the document."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.dimensions import force_dimension, joint_dimension, rate_dimension, sensor_dimension
from core.model.fields import Element, Value, choice, name, parts, scalar, signal, text
from core.model.signal_texts import NameOwners

ROLES = ("fixed", "free", "target", "steady")
_OF_FRAMES = {
    "position": "length",
    "velocity": "velocity",
    "omega": "angular_velocity",
    "acceleration": "acceleration",
    "alpha": "angular_acceleration",
    "force": "force",
    "torque": "torque",
}


def signal_dimension(model: Any, quantity: str) -> str:
    """Return the dimension of a quantity if it follows from its name; "none" otherwise, and for formulas."""
    owners = NameOwners(model)
    owner = owners(quantity)
    if owner is not None and not owners.is_single_name(quantity):
        return "none"
    if owner is None:
        if not re.fullmatch(r"\w+(\.\w+)*", quantity):
            return "none"
        return {"gravity": "acceleration", "energy": "energy"}.get(quantity.partition(".")[0], "none")
    words = [word for word in quantity[len(owner.name) :].split(".") if word]
    last = words[-1] if words else ""
    match owner.namespace:
        case "parameter":
            return str(model.expanded.find("parameters", owner.name).dimension)
        case "frame":
            return _OF_FRAMES.get(words[0], "none") if words else "none"
        case "joint":
            coordinate = joint_dimension(model, owner.name, words[0] if len(words) > 1 else "")
            known = {
                "": coordinate,
                "q": coordinate,
                "v": rate_dimension(coordinate),
                "tau": force_dimension(coordinate),
            }
            return rate_dimension(rate_dimension(coordinate)) if last == "a" else known.get(last, "none")
        case "sensor":
            measured = sensor_dimension(model, owner.name)
            return rate_dimension(measured) if last == "rate" else measured
    return "none"


def _quantity_dimension(owners: tuple[Any, ...], model: Any, _index: int | None) -> str:
    return signal_dimension(model, owners[-1].quantity)


@dataclass(frozen=True, kw_only=True)
class TrimRow(Element):
    """A condition on one quantity."""

    quantity: str = signal("A quantity: joint.q, .v, .a or .tau, a parameter, any channel, or a formula of channels")
    role: str = choice(
        ROLES,
        "Condition: has a value (fixed), is found (free), comes near a value (target), or does not change (steady)",
        "fixed",
    )
    value: Value | None = scalar(
        default=None, help="Value for fixed and target; fixed and empty: the current one", by=_quantity_dimension
    )
    minimum: Value | None = scalar(default=None, help="Lower bound of a free quantity", by=_quantity_dimension)
    maximum: Value | None = scalar(default=None, help="Upper bound of a free quantity", by=_quantity_dimension)
    weight: Value = scalar(default=1.0, help="Weight of a target relative to other targets")

    @property
    def summary(self) -> str:
        return f"{self.quantity} {self.role}"

    def validate(self) -> None:
        """Raise ModelError unless a target has a value and a positive weight, and bounds leave a range."""
        where = f"row '{self.quantity}'"
        if self.role == "target" and self.value is None:
            raise ModelError("A target needs a value.", where=f"{where}, value", remedy="Give one, or choose 'free'.")
        if isinstance(self.weight, float) and not self.weight > 0.0:
            raise ModelError(
                "The weight is not positive.",
                where=f"{where}, weight",
                remedy="Give a positive weight, or remove the row.",
            )
        low, high = self.minimum, self.maximum
        if isinstance(low, float) and isinstance(high, float) and low > high:
            raise ModelError(
                f"The lower bound {low:g} is not below the upper bound {high:g}.",
                where=f"{where}, minimum",
                remedy="Swap the bounds.",
            )


@dataclass(frozen=True, kw_only=True)
class Trim(Element):
    """An operating point to be found, with quantities that are fixed, free, targets or steady. By default poses are
    free, speeds and accelerations zero, inputs and parameters unchanged."""

    meaning: ClassVar[str] = (
        "An operating point to be found, with quantities that are fixed, free, targets or steady. The panel "
        "Operating point finds the pose, speeds and forces that satisfy it."
    )

    name: str = name()
    rows: tuple[TrimRow, ...] = parts(TrimRow, "Conditions on quantities")
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        counts = Counter(row.role for row in self.rows)
        return ", ".join(f"{counts[role]} {role}" for role in ROLES if counts[role]) or "at rest"

    def validate(self) -> None:
        """Raise ModelError if a quantity is listed twice."""
        for quantity, count in Counter(row.quantity for row in self.rows).items():
            if count > 1:
                raise ModelError(
                    f"'{quantity}' has {count} rows.",
                    where=f"operating point '{self.name}', rows",
                    remedy="Keep one of these rows.",
                )
