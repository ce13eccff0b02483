"""Options shared by several functions: the actuators, and the length that weighs translation against rotation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from core.functions.options import Number, Text

if TYPE_CHECKING:
    from core.analysis.actuators import Actuators

ACTUATORS = Text(
    "actuators",
    "Actuators",
    "Names of the joints that drive or hold the machine, separated by commas; empty: all joints of an "
    "open chain; in a machine with loops, one joint per degree of freedom, preferably driven joints, "
    "joints with a motor or joints with a single coordinate",
    joined=", ",
)
LENGTH = Number(
    "length",
    "Characteristic length",
    "Length that corresponds to one radian when translation and rotation are combined; empty: the size "
    "of the machine for combined measures, 1 m for the ratio of prismatic to revolute joint speeds",
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
    return (
        f"actuators: {', '.join(chosen.names)} ({chosen.reason}); they determine all other motion"
        if chosen.reason
        else ""
    )


def speed_weights_text(mech: Any, chosen: Actuators, length: float | None) -> str:
    """Describe how speeds of prismatic and revolute joints are weighted; '' if there is only one kind."""
    if len(set(chosen.slides(mech))) < 2:
        return ""
    return f"1 rad/s of a revolute joint is weighted as {joint_length(length):g} m/s of a prismatic joint"


def joint_length(length: float | None) -> float:
    """Length in m by which speeds of prismatic joints are divided; 1 m by default."""
    return 1.0 if length is None else length
