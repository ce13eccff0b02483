"""Options shared by several functions: the actuators, and the length that weighs translation against rotation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.functions.options import Number, Text

if TYPE_CHECKING:
    from core.analysis.actuators import Actuators

ACTUATORS = Text(
    "actuators",
    "Actuators",
    "Joints that move or carry the machine, names with commas; empty: all joints of an open chain, of a machine with "
    "loops as many as its degrees of freedom: those that are driven, have a motor, have one coordinate",
    joined=", ",
)
LENGTH = Number(
    "length",
    "Characteristic length",
    "What counts like one radian; empty: the machine's size where translation and rotation are measured together, 1 m "
    "between joints that slide and joints that turn",
    None,
    "length",
    minimum=1e-9,
)


def names_of(text: str) -> tuple[str, ...]:
    """Split names separated by commas or spaces."""
    return tuple(text.replace(",", " ").split())


def chosen_actuators(mech: Any, text: str) -> Actuators:
    """Return the actuators named by an option."""
    from core.analysis.actuators import actuators

    return actuators(mech, names_of(text))


def actuators_text(chosen: Actuators) -> str:
    """Describe the actuators and why they were chosen; '' if they are all joints of an open chain."""
    return f"actuators: {', '.join(chosen.names)} ({chosen.reason}); all else follows them" if chosen.reason else ""


def speed_weights_text(mech: Any, chosen: Actuators, length: float | None) -> str:
    """Describe how speeds of prismatic and revolute joints are weighted; '' if there is only one kind."""
    if len(set(chosen.slides(mech))) < 2:
        return ""
    return f"1 rad/s of a joint that turns counts like {joint_length(length):g} m/s of one that slides"


def joint_length(length: float | None) -> float:
    """Length in m by which speeds of prismatic joints are divided; 1 m by default."""
    return 1.0 if length is None else length
