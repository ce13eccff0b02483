"""Blocks with limits, jumps and tables."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from core.errors import ModelError
from core.mechanics.elements.blocks.signal_block import SignalBlock, input_node, own_state
from core.model.declared_numbers import Quantity
from core.model.formula.differentiation import ZERO, combine
from core.model.formula.nodes import Node
from core.model.signal_elements import SAMPLED, Signal
from core.model.signal_laws import BlockLaw, StateLaw, value_node

LOWER = Quantity("lower", "", -1.0, "Lower limit")
UPPER = Quantity("upper", "", 1.0, "Upper limit")


class Sum(SignalBlock):
    """Weighted sum."""

    name, title, short_title = "sum", "Sum", "sum"
    help = "The sum of its inputs, each times its factor."
    uses = ("inputs", *SAMPLED)
    needs = ("inputs",)
    rank = 11

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the sum."""
        total: Node = ZERO
        for each in signal.inputs:
            total = combine("s + k*u", s=total, k=value_node(each.factor), u=value_node(each.value))
        return BlockLaw({"": total})


class Limiter(SignalBlock):
    """Saturation."""

    name, title, short_title = "limiter", "Limiter", "limiter"
    help = "The input within a lower and an upper limit."
    uses = ("input", "settings", *SAMPLED)
    needs = ()
    numbers = (LOWER, UPPER)
    rank = 20

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the limited input."""
        low, high = cls.number(signal, "lower"), cls.number(signal, "upper")
        return BlockLaw({"": combine("max(min(u, high), low)", u=input_node(signal), low=low, high=high)})


class DeadZone(SignalBlock):
    """Dead zone."""

    name, title, short_title = "dead_zone", "Dead zone", "dead zone"
    help = "Zero while the input lies between the limits, beyond them its distance from the nearer one."
    uses = ("input", "settings", *SAMPLED)
    needs = ()
    numbers = (LOWER, UPPER)
    rank = 21

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the distance."""
        low, high = cls.number(signal, "lower"), cls.number(signal, "upper")
        return BlockLaw({"": combine("max(u - high, 0) + min(u - low, 0)", u=input_node(signal), low=low, high=high)})


class RateLimiter(SignalBlock):
    """Rate limiter: a first-order lag whose rate is limited."""

    name, title, short_title = "rate_limiter", "Rate limiter", "rate limiter"
    help = "Follows the input with at most the given rate, and within the time constant where the rate permits it."
    uses = ("input", "settings", "initial", *SAMPLED)
    needs = ()
    numbers = (
        Quantity("rate", "1/s", 1.0, "Largest rate"),
        Quantity("time_constant", "s", 0.001, "Time constant"),
    )
    rank = 22

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the state."""
        return ("x",)

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the state and its limited rate."""
        x, u, most = own_state(signal, "x"), input_node(signal), cls.number(signal, "rate")
        rate = combine("max(min((u - x)/T, most), -most)", u=u, x=x, T=cls.number(signal, "time_constant"), most=most)
        return BlockLaw({"": x}, {"x": StateLaw(rate, u if signal.initial == "steady" else ZERO)})


class Switch(SignalBlock):
    """Switch between two inputs."""

    name, title, short_title = "switch", "Switch", "switch"
    help = "The first of its inputs where the input is at least the threshold, elsewhere the second."
    uses = ("input", "inputs", "settings", *SAMPLED)
    needs = ("inputs",)
    numbers = (Quantity("threshold", "", 0.0, "Threshold of the input"),)
    rank = 23

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the chosen input. Raises ModelError unless there are two."""
        if len(signal.inputs) != 2:
            raise ModelError(
                f"A switch has two inputs, not {len(signal.inputs)}.",
                where=f"signal '{signal.name}', inputs",
                remedy="Give the value for an input from the threshold on, then the other one.",
            )
        one, other = (value_node(each.value) for each in signal.inputs)
        parts = {"u": input_node(signal), "level": cls.number(signal, "threshold"), "a": one, "b": other}
        return BlockLaw({"": combine("if(u >= level, a, b)", **parts)})


class LookupTable(SignalBlock):
    """Table with straight lines between its points."""

    name, title, short_title = "lookup", "Lookup table", "lookup table"
    help = "Straight lines between the points of a table; before the first and after the last point it is constant."
    uses = ("input", "points", *SAMPLED)
    needs = ("points",)
    rank = 24

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the sum of the changes of slope. Raises ModelError unless inputs increase."""
        points = signal.points
        for before, after in pairwise(points):
            a, b = before.input, after.input
            if isinstance(a, float) and isinstance(b, float) and not b > a:
                raise ModelError(
                    f"The inputs of the table do not increase after {a:g}.",
                    where=f"signal '{signal.name}', points",
                    remedy="Sort the points and remove duplicates.",
                )
        x = [value_node(each.input) for each in points]
        y = [value_node(each.output) for each in points]
        slopes = [combine("(b - a)/(d - c)", a=y[k], b=y[k + 1], c=x[k], d=x[k + 1]) for k in range(len(points) - 1)]
        total: Node = y[0]
        before_slope: Node = ZERO
        for at, slope in zip(x, [*slopes, ZERO], strict=True):
            total = combine("y + (s - r)*max(u - c, 0)", y=total, s=slope, r=before_slope, u=input_node(signal), c=at)
            before_slope = slope
        return BlockLaw({"": total})


class Quantiser(SignalBlock):
    """Rounding to multiples of a resolution."""

    name, title, short_title = "quantiser", "Quantiser", "quantiser"
    help = "The input rounded to multiples of the resolution."
    uses = ("input", "resolution", *SAMPLED)
    needs = ("resolution",)
    rank = 25

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the rounded input."""
        return BlockLaw({"": combine("d*floor(u/d + 0.5)", u=input_node(signal), d=value_node(signal.resolution))})


class SampleHold(SignalBlock):
    """Sample and hold."""

    name, title, short_title = "sample_hold", "Sample and hold", "sample and hold"
    help = "The input at the last sample, delayed on request."
    uses = ("input", *SAMPLED, "initial")
    needs = ("period",)
    rank = 26

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the input, which sampling holds."""
        return BlockLaw({"": input_node(signal)})


class Hysteresis(SignalBlock):
    """Relay with hysteresis, evaluated at samples."""

    name, title, short_title = "hysteresis", "Relay with hysteresis", "hysteresis"
    help = "Changes to high when the input is above upper at a sample, to low when it is below lower; else it stays."
    uses = ("input", "settings", *SAMPLED)
    needs = ("period",)
    numbers = (LOWER, UPPER, Quantity("low", "", 0.0, "Value when low"), Quantity("high", "", 1.0, "Value when high"))
    rank = 27

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the value for the input, or the one that is held."""
        parts = {each.name: cls.number(signal, each.name) for each in cls.numbers}
        held = own_state(signal, "held")
        return BlockLaw(
            {"": combine("if(u > upper, high, if(u < lower, low, y))", u=input_node(signal), y=held, **parts)}
        )


class Noise(SignalBlock):
    """Normally distributed noise, new at every sample."""

    name, title, short_title = "noise", "Noise", "noise"
    help = "input + a normally distributed number with the standard deviation noise, new at every sample; seeded."
    uses = ("input", "noise", "seed", *SAMPLED)
    needs = ("period", "noise")
    rank = 28

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the sum of input and noise."""
        return BlockLaw({"": combine("u + n", u=input_node(signal), n=own_state(signal, "noise"))})
