"""Outcome codes of machine code calls."""

from enum import IntEnum


class Outcome(IntEnum):
    """Outcome of a machine code call."""

    UNSUITABLE = -1
    """The equations do not apply at this state."""
    FINE = 0
    NOT_FINITE = 2
    """A result is not a finite number."""
    STEP_UNDERFLOW = 3
    """The step size became too small."""
    DRIFTED = 4
    """Loops have drifted open."""
    TOO_MANY = 5
    """The step limit is reached."""
    PAUSED = 6
    """The step budget of this piece is used up."""
    SWITCHED = 7
    """A step was rejected because of an event (`core.simulation.events.event_location`)."""
    STIFF = 8
    """The machine proved stiff for an explicit method, which could still continue."""
    WRONG_FRICTION = 9
    """Friction formulas give negative values, or less static than kinetic friction."""
    STOPPED = 10
    """Python is needed at a sample of signals."""


UNSUITABLE, FINE, NOT_FINITE, STEP_UNDERFLOW, DRIFTED, TOO_MANY, PAUSED, SWITCHED, STIFF, WRONG_FRICTION, STOPPED = (
    x.value for x in Outcome
)
"""Outcome codes as plain integers for machine code."""
