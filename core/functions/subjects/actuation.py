"""Options that several functions share: which joints are actuators, and how lengths and angles compare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.functions.options import Number, Text

if TYPE_CHECKING:
    from core.analysis.actuators import Actuators

ACTUATORS = Text(
    "actuators",
    "Actuators",
    "Joints that move or carry the machine, names with commas; empty: all joints of an open chain, of a machine with "
    "loops as many as it has freedoms: those that are driven, have a motor, have one coordinate",
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
    """Names in a text with commas or spaces."""
    return tuple(text.replace(",", " ").split())


def chosen_actuators(mech: Any, text: str) -> Actuators:
    """The actuators that an option names."""
    from core.analysis.actuators import actuators

    return actuators(mech, names_of(text))


def actuator_words(chosen: Actuators) -> str:
    """Which joints are actuators and why; '' for all joints of a tree."""
    return f"actuators: {', '.join(chosen.names)} ({chosen.reason}); all else follows them" if chosen.reason else ""


def weight_words(mech: Any, chosen: Actuators, length: float | None) -> str:
    """How joints that slide and joints that turn compare; '' where there is only one kind."""
    if len(set(chosen.slides(mech))) < 2:
        return ""
    return f"1 rad/s of a joint that turns counts like {joint_length(length):g} m/s of one that slides"


def joint_length(length: float | None) -> float:
    """m: by which speeds of joints compare."""
    return 1.0 if length is None else length
