"""Designs of the document: what a person asks of parameters of the machine, or of a linkage for a curve. What fulfils
it is found, and is no part of the document (`core.design`)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

from core.errors import ModelError
from core.model.fields import Element, Value, choice, flag, name, parts, scalar, signal, text
from core.model.trims import dimension_of_signal

OVER = ("rest", "sweep", "run")
ASKED = ("parameters", "curve")
LINKAGES = ("four_bar", "slider_crank", "swinging_block", "watt", "stephenson", "auto")


def _of_parameter(owners: tuple[Any, ...], model: Any, _index: int | None) -> str:
    return dimension_of_signal(model, owners[-1].parameter)


@dataclass(frozen=True, kw_only=True)
class DesignVariable(Element):
    """A parameter that is varied, within these bounds or its own."""

    parameter: str = signal("A parameter")
    minimum: Value | None = scalar(default=None, help="Smallest value; empty: that of the parameter", by=_of_parameter)
    maximum: Value | None = scalar(default=None, help="Largest value; empty: that of the parameter", by=_of_parameter)

    @property
    def summary(self) -> str:
        return self.parameter

    def validate(self) -> None:
        """Bounds come in pairs and leave something."""
        where = f"row '{self.parameter}'"
        if (self.minimum is None) != (self.maximum is None):
            raise ModelError(
                "One bound is missing.", where=f"{where}, minimum", remedy="Give both, or none for the parameter's own."
            )
        low, high = self.minimum, self.maximum
        if isinstance(low, float) and isinstance(high, float) and not low < high:
            raise ModelError(
                f"Nothing lies between {low:g} and {high:g}.", where=f"{where}, minimum", remedy="Swap the bounds."
            )


@dataclass(frozen=True, kw_only=True)
class RequiredRow(Element):
    """What shall hold."""

    formula: str = signal("A comparison of measures: min(tool.position.z) > 5 cm")

    @property
    def summary(self) -> str:
        return self.formula


@dataclass(frozen=True, kw_only=True)
class CurveRow(Element):
    """A point of a target curve."""

    x: Value = scalar("length", 0.0, "Along the plane's first axis")
    z: Value = scalar("length", 0.0, "Along its second")
    forms: ClassVar[str] = "its numbers [x, z]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> CurveRow | None:
        """Two numbers."""
        return cls(x=items[0], z=items[1]) if len(items) == 2 else None

    @property
    def summary(self) -> str:
        return f"{self.x} {self.z}"


@dataclass(frozen=True, kw_only=True)
class Aim(Element):
    """A design that is asked for: parameters by which a formula is least while others hold, over the rest pose, poses
    along a coordinate or a run; or a linkage of which a point follows a curve."""

    meaning: ClassVar[str] = (
        "A design that is asked for: which parameters are varied, what is to be least and what shall hold; or the "
        "curve that a point of a linkage shall follow. The panel Design searches for it."
    )

    name: str = name()
    kind: str = choice(ASKED, "Parameters of this machine, or a linkage for a curve", "parameters")
    vary: tuple[DesignVariable, ...] = parts(DesignVariable, "Parameters that are varied")
    minimise: str = signal("What is to be least: rms(tool.position.z - 0.3), (mode[1].period - 1)^2 …", optional=True)
    require: tuple[RequiredRow, ...] = parts(RequiredRow, "What shall hold")
    over: str = choice(OVER, "The rest pose, poses along a coordinate, or a run", "rest")
    coordinate: str = signal("Coordinate along which poses are taken", optional=True)
    duration: Value = scalar("time", 1.0, "Of the run")
    linkage: str = choice(LINKAGES, "Kind of linkage for a curve", "four_bar")
    curve: tuple[CurveRow, ...] = parts(CurveRow, "Points of the target curve, in order")
    closed: bool = flag("Whether the last point is followed by the first", True)
    timed: bool = flag("Whether the points are even in the crank's turn")
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        if self.kind == "curve":
            return f"{len(self.curve)} points"
        return f"{self.minimise or 'nothing yet'} by {', '.join(row.parameter for row in self.vary) or 'nothing'}"

    def validate(self) -> None:
        """No parameter is varied twice; a run lasts."""
        where = f"design '{self.name}'"
        for parameter, count in Counter(row.parameter for row in self.vary).items():
            if count > 1:
                raise ModelError(
                    f"'{parameter}' has {count} rows.", where=f"{where}, vary", remedy="Give it one pair of bounds."
                )
        if isinstance(self.duration, float) and not self.duration > 0.0:
            raise ModelError(
                f"A run of {self.duration:g} s is none.", where=f"{where}, duration", remedy="Give more than 0 s."
            )
