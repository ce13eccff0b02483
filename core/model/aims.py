"""Design tasks of the document: requirements on parameters of the machine (a formula to be minimised, a function, poses
of a body), or on a linkage whose point follows a curve. `core.design` computes the solution, which is not part of the
document."""

from __future__ import annotations

from collections import Counter
from typing import Any, ClassVar

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Element, Value, choice, flag, name, part, parts, reference, scalar, signal, text
from core.model.shapes import Pose
from core.model.trims import signal_dimension

OVER = ("rest", "sweep", "run")
ASKED = ("parameters", "function", "motion", "curve")
PLANES = {"xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
"""World planes, with the indices of their two axes."""
LINKAGES = ("four_bar", "slider_crank", "swinging_block", "watt", "stephenson", "auto")


def _parameter_dimension(owners: tuple[Any, ...], model: Any, _index: int | None) -> str:
    return signal_dimension(model, owners[-1].parameter)


@dataclass(frozen=True, kw_only=True)
class DesignVariable(Element):
    """A parameter to be varied, within the given bounds or the parameter's own range."""

    parameter: str = signal("A parameter")
    minimum: Value | None = scalar(
        default=None, help="Smallest value; empty: that of the parameter", by=_parameter_dimension
    )
    maximum: Value | None = scalar(
        default=None, help="Largest value; empty: that of the parameter", by=_parameter_dimension
    )

    @property
    def summary(self) -> str:
        return self.parameter

    def validate(self) -> None:
        """Raise ModelError unless the bounds are both given or both empty, and in ascending order."""
        where = f"row '{self.parameter}'"
        if (self.minimum is None) != (self.maximum is None):
            raise ModelError(
                "One bound is missing.",
                where=f"{where}, minimum",
                remedy="Give both bounds, or neither to use the parameter's own.",
            )
        low, high = self.minimum, self.maximum
        if isinstance(low, float) and isinstance(high, float) and not low < high:
            raise ModelError(
                f"The lower bound {low:g} is not below the upper bound {high:g}.",
                where=f"{where}, minimum",
                remedy="Swap the bounds.",
            )


@dataclass(frozen=True, kw_only=True)
class RequiredRow(Element):
    """A constraint that the design must satisfy."""

    formula: str = signal("A comparison of measures: min(frame.position.z) > 5 cm")

    @property
    def summary(self) -> str:
        return self.formula


def _coordinate_dimension(owners: tuple[Any, ...], model: Any, _index: int | None) -> str:
    return signal_dimension(model, owners[-2].coordinate) if len(owners) > 1 else "none"


def _function_output_dimension(owners: tuple[Any, ...], model: Any, _index: int | None) -> str:
    return signal_dimension(model, owners[-2].output) if len(owners) > 1 else "none"


@dataclass(frozen=True, kw_only=True)
class FunctionRow(Element):
    """The value that the output must have at a value of the coordinate."""

    x: Value = scalar(default=0.0, help="Value of the coordinate", by=_coordinate_dimension)
    y: Value = scalar(default=0.0, help="Value of the output", by=_function_output_dimension)
    forms: ClassVar[str] = "its numbers [x, y]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> FunctionRow | None:
        """Return the row for two numbers; None for any other list."""
        return cls(x=items[0], y=items[1]) if len(items) == 2 else None

    @property
    def summary(self) -> str:
        return f"{self.x} {self.y}"


@dataclass(frozen=True, kw_only=True)
class PoseRow(Element):
    """A pose that a body must have in a plane at a value of the coordinate."""

    x: Value = scalar(default=0.0, help="Value of the coordinate", by=_coordinate_dimension)
    u: Value = scalar("length", 0.0, "Position along the plane's first axis")
    v: Value = scalar("length", 0.0, "Position along the plane's second axis")
    angle: Value = scalar("angle", 0.0, "Angle of the body's first axis, from the plane's first axis to its second")
    forms: ClassVar[str] = "its numbers [x, u, v, angle]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> PoseRow | None:
        """Return the row for four numbers; None for any other list."""
        return cls(x=items[0], u=items[1], v=items[2], angle=items[3]) if len(items) == 4 else None

    @property
    def summary(self) -> str:
        return f"{self.x} {self.u} {self.v} {self.angle}"


@dataclass(frozen=True, kw_only=True)
class CurveRow(Element):
    """A point of a target curve."""

    x: Value = scalar("length", 0.0, "Position along the plane's first axis")
    z: Value = scalar("length", 0.0, "Position along the plane's second axis")
    forms: ClassVar[str] = "its numbers [x, z]"

    @classmethod
    def of_list(cls, items: tuple[Any, ...]) -> CurveRow | None:
        """Return the row for two numbers; None for any other list."""
        return cls(x=items[0], z=items[1]) if len(items) == 2 else None

    @property
    def summary(self) -> str:
        return f"{self.x} {self.z}"


@dataclass(frozen=True, kw_only=True)
class Aim(Element):
    """A design task: find parameters that minimise a formula under constraints, over the reference pose, poses along a
    coordinate or a run; that make an output a function of a coordinate (function generation) or take a body through
    poses (motion generation); or find a linkage with a point that follows a curve."""

    meaning: ClassVar[str] = (
        "A design task: the parameters that are varied, the formula to minimise, or the function or poses that the "
        "machine must realise, and conditions; or the curve that a point of a linkage must follow. The panel Design "
        "solves it."
    )

    name: str = name()
    kind: str = choice(
        ASKED, "Parameters for a formula, a function or poses of a body; or a linkage for a curve", "parameters"
    )
    vary: tuple[DesignVariable, ...] = parts(DesignVariable, "Parameters that are varied")
    minimise: str = signal("Formula to minimise: rms(frame.position.z - 0.3), (mode[1].period - 1)^2 …", optional=True)
    require: tuple[RequiredRow, ...] = parts(RequiredRow, "Conditions to satisfy")
    over: str = choice(OVER, "Motion to be evaluated: the reference pose, poses along a coordinate, or a run", "rest")
    coordinate: str = signal("Coordinate that is varied to obtain the poses", optional=True)
    duration: Value = scalar("time", 1.0, "Duration of the run")
    output: str = signal("Output that must be a function of the coordinate: any channel of poses", optional=True)
    function: tuple[FunctionRow, ...] = parts(FunctionRow, "Required values of the output")
    frame: str = reference("frame", "Body or frame that must pass through the poses; empty: none", optional=True)
    plane: str = choice(PLANES, "Plane of the world in which these poses lie", "xz")
    poses: tuple[PoseRow, ...] = parts(PoseRow, "Wanted poses")
    linkage: str = choice(LINKAGES, "Kind of linkage for a curve", "four_bar")
    curve: tuple[CurveRow, ...] = parts(CurveRow, "Points of the target curve, in order")
    closed: bool = flag("Closed curve: the last point is joined to the first", True)
    timed: bool = flag("Whether the points are evenly spaced in crank angle")
    place: Pose | None = part(Pose, "Frame whose x and z axes are those of the curve; empty: the world")
    description: str = text("Notes")

    @property
    def summary(self) -> str:
        if self.kind == "curve":
            return f"{len(self.curve)} points"
        if self.kind == "function":
            return f"{self.output or 'nothing yet'} of {self.coordinate or 'nothing yet'}, {len(self.function)} points"
        if self.kind == "motion":
            return f"{len(self.poses)} poses of {self.frame or 'nothing yet'}"
        return f"{self.minimise or 'nothing yet'} by {', '.join(row.parameter for row in self.vary) or 'nothing'}"

    def validate(self) -> None:
        """Raise ModelError if a parameter is varied twice or the run has no duration."""
        where = f"design '{self.name}'"
        for parameter, count in Counter(row.parameter for row in self.vary).items():
            if count > 1:
                raise ModelError(
                    f"'{parameter}' is varied in {count} rows.",
                    where=f"{where}, vary",
                    remedy="Keep one of these rows.",
                )
        if isinstance(self.duration, float) and not self.duration > 0.0:
            raise ModelError(
                f"A run cannot last {self.duration:g} s.",
                where=f"{where}, duration",
                remedy="Give a duration above 0 s.",
            )
