"""Sources: signals of time."""

from __future__ import annotations

from typing import Any

from core.mechanics.elements.blocks.signal_block import SignalBlock
from core.model.declared_numbers import Quantity
from core.model.formula.differentiation import combine
from core.model.signal_elements import SAMPLED, Signal
from core.model.signal_laws import BlockLaw

BEGIN = Quantity("begin", "s", 0.0, "Time at which it begins")
OFFSET = Quantity("offset", "", 0.0, "Value before, or added")


class Source(SignalBlock):
    """Signal of time by a formula of its numbers."""

    uses = ("settings", *SAMPLED)
    needs = ()
    template = ""
    """Formula of t and the numbers."""

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the formula."""
        return BlockLaw(
            {"": combine(cls.template, **{each.name: cls.number(signal, each.name) for each in cls.numbers})}
        )


class Step(Source):
    """Step."""

    name, title, short_title = "step", "Step", "step"
    help = "offset, and from begin on offset + height."
    numbers = (Quantity("height", "", 1.0, "Height of the step"), BEGIN, OFFSET)
    template = "offset + height*step(t - begin)"
    rank = 30


class Ramp(Source):
    """Ramp."""

    name, title, short_title = "ramp", "Ramp", "ramp"
    help = "offset, from begin on growing with the slope for the duration, then constant."
    numbers = (
        Quantity("slope", "1/s", 1.0, "Rate of growth"),
        Quantity("duration", "s", 1.0, "Duration of the growth"),
        BEGIN,
        OFFSET,
    )
    template = "offset + slope*min(max(t - begin, 0), duration)"
    rank = 31


class Sine(Source):
    """Sine."""

    name, title, short_title = "sine", "Sine", "sine"
    help = "offset + amplitude · sin(2π frequency (t − begin))."
    numbers = (
        Quantity("amplitude", "", 1.0, "Amplitude"),
        Quantity("frequency", "1/s", 1.0, "Frequency (Hz)"),
        BEGIN,
        OFFSET,
    )
    template = "offset + amplitude*sin(2*pi*frequency*(t - begin))"
    rank = 32


class Pulse(Source):
    """Pulses, by a cosine that is above a level while the pulse lasts."""

    name, title, short_title = "pulse", "Pulses", "pulses"
    help = "offset + height for the share of every cycle, else offset; the first pulse begins at begin."
    numbers = (
        Quantity("height", "", 1.0, "Height of the pulses"),
        Quantity("cycle", "s", 1.0, "Time from one pulse to the next"),
        Quantity("share", "", 0.5, "Duration of a pulse as a share of the cycle"),
        BEGIN,
        OFFSET,
    )
    template = "offset + height*step(t - begin)*step(cos(2*pi*(t - begin)/cycle - pi*share) - cos(pi*share))"
    rank = 33
