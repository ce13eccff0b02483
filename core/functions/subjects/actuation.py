"""Options shared by several functions: the actuators, and the length that relates translation to rotation."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from core.functions.options import Number, Text

if TYPE_CHECKING:
    from core.analysis.actuators import Actuators
    from core.functions.context import Context

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


def split_names(text: str) -> tuple[str, ...]:
    """Split names separated by commas or spaces."""
    return tuple(text.replace(",", " ").split())


def with_coordinates_of(context: Context, names: str) -> Context:
    """Return the context of a machine in which the named joints have coordinates: the same one, or one with its loops
    cut elsewhere, in the same pose. Raises ModelError if every loop must be cut at one of them."""
    from core.constraints.other_cuts import cut_elsewhere
    from core.mechanism import Mechanism

    other = cut_elsewhere(context.mech.compiled, split_names(names))
    if other is None:
        return context
    model = other.compiled.model
    return replace(context, model=model, mech=Mechanism(model), q=other.position(context.q, context.p))


def find_actuators(mech: Any, text: str) -> Actuators:
    """Return the actuators named by an option."""
    from core.analysis.actuators import choose_actuators

    return choose_actuators(mech, split_names(text))


def actuators_text(chosen: Actuators) -> str:
    """Describe the actuators and why they were chosen; '' if they are all joints of an open chain."""
    return (
        f"actuators: {', '.join(chosen.names)} ({chosen.reason}); except at singular poses they determine all other "
        "motion"
        if chosen.reason
        else ""
    )


def speed_weights_text(mech: Any, chosen: Actuators, length: float | None) -> str:
    """Describe how the speeds of prismatic and revolute joints are weighted against each other; '' if there is only one
    kind."""
    if len(set(chosen.translating_mask(mech))) < 2:
        return ""
    return f"1 rad/s of a revolute joint is weighted as {prismatic_length_scale(length):g} m/s of a prismatic joint"


def prismatic_length_scale(length: float | None) -> float:
    """Return the length in m by which speeds of prismatic joints are divided, by default 1 m."""
    return 1.0 if length is None else length
