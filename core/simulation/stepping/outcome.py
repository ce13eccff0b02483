"""What calls of machine code say."""

from enum import IntEnum


class Outcome(IntEnum):
    """How a call ended."""

    UNSUITABLE = -1
    """The equations do not apply here."""
    FINE = 0
    NOT_FINITE = 2
    """A result is not a finite number."""
    STEP_UNDERFLOW = 3
    """The step became too small."""
    DRIFTED = 4
    """Loops have drifted open."""
    TOO_MANY = 5
    """The limit of steps is reached."""
    PAUSED = 6
    """The steps of this piece are used up."""
    SWITCHED = 7
    """A step was refused because of an event (`core.simulation.stepping.event_location`)."""
    STIFF = 8
    """The machine proved stiff for an explicit method, which could go on."""
    WRONG_FRICTION = 9
    """Formulas of friction give less than nothing, or less at rest than while it slides."""


UNSUITABLE, FINE, NOT_FINITE, STEP_UNDERFLOW, DRIFTED, TOO_MANY, PAUSED, SWITCHED, STIFF, WRONG_FRICTION = (
    x.value for x in Outcome
)
"""As plain numbers, which machine code knows."""
