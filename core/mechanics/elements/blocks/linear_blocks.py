"""Blocks without memory, and linear blocks with states."""

from __future__ import annotations

from typing import Any

from core.errors import ModelError
from core.mechanics.elements.blocks.signal_block import SignalBlock, input_node, own_state
from core.model.declared_numbers import Quantity
from core.model.formula.differentiation import ZERO, combine
from core.model.formula.nodes import Node, Number
from core.model.signal_elements import SAMPLED, Signal
from core.model.signal_laws import BlockLaw, StateLaw, value_node

LINEAR = ("input", "initial", *SAMPLED)
"""Fields of blocks with states."""


class FormulaBlock(SignalBlock):
    """Value of a formula."""

    name, title, short_title = "formula", "Formula", "formula"
    help = "The value of its input, a formula of time, coordinates, sensors and other signals."
    uses = ("input", *SAMPLED)
    needs = ()
    rank = 10

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the input."""
        return BlockLaw({"": input_node(signal)})


class Gain(SignalBlock):
    """Constant multiple."""

    name, title, short_title = "gain", "Gain", "gain"
    help = "gain · input."
    uses = ("input", "settings", *SAMPLED)
    needs = ()
    numbers = (Quantity("gain", "", 1.0, "Factor of the input"),)
    rank = 11

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the multiple of the input."""
        return BlockLaw({"": combine("k*u", k=cls.number(signal, "gain"), u=input_node(signal))})


class Integrator(SignalBlock):
    """Integral of the input, within limits on request."""

    name, title, short_title = "integrator", "Integrator", "integrator"
    help = "x' = input. Within limits, where upper is more than lower, it stays at the limit that it has reached."
    uses = ("input", "settings", *SAMPLED)
    needs = ()
    numbers = (
        Quantity("start", "", 0.0, "Value at the start"),
        Quantity("lower", "", 0.0, "Lower limit"),
        Quantity("upper", "", 0.0, "Upper limit; not above the lower one: there are no limits"),
    )
    rank = 12

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the integral."""
        return ("integral",)

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the integral. At a limit its rate has only the direction away from the limit."""
        x, u = own_state(signal, "integral"), input_node(signal)
        low, high = cls.number(signal, "lower"), cls.number(signal, "upper")
        start = StateLaw(u, cls.number(signal, "start"))
        if low == ZERO and high == ZERO:
            return BlockLaw({"": x}, {"integral": start})
        rate = combine("if(x >= high, min(u, 0), if(x <= low, max(u, 0), u))", x=x, u=u, high=high, low=low)
        value = combine("if(high > low, min(max(x, low), high), x)", x=x, high=high, low=low)
        rate = combine("if(high > low, rate, u)", rate=rate, u=u, high=high, low=low)
        return BlockLaw({"": value}, {"integral": start._replace(rate=rate)})


class FirstOrderLag(SignalBlock):
    """First-order lag."""

    name, title, short_title = "first_order", "First-order lag", "first-order lag"
    help = "T x' + x = gain · input: the transfer function gain/(T s + 1)."
    uses = (*LINEAR, "settings")
    needs = ()
    numbers = (
        Quantity("gain", "", 1.0, "Gain"),
        Quantity("time_constant", "s", 1.0, "Time constant T"),
    )
    rank = 13

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the state."""
        return ("x",)

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the state and its rate."""
        x = own_state(signal, "x")
        parts = {"x": x, "k": cls.number(signal, "gain"), "u": input_node(signal)}
        rate = combine("(k*u - x)/T", T=cls.number(signal, "time_constant"), **parts)
        start = combine("k*u", **parts) if signal.initial == "steady" else ZERO
        return BlockLaw({"": x}, {"x": StateLaw(rate, start)})


class SecondOrderLag(SignalBlock):
    """Second-order lag."""

    name, title, short_title = "second_order", "Second-order lag", "second-order lag"
    help = "x'' + 2 D w x' + w² x = gain · w² · input, with the natural frequency w and the damping ratio D."
    uses = (*LINEAR, "settings")
    needs = ()
    numbers = (
        Quantity("gain", "", 1.0, "Gain"),
        Quantity("frequency", "rad/s", 1.0, "Natural angular frequency"),
        Quantity("damping_ratio", "", 1.0, "Damping ratio"),
    )
    rank = 14

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return value and rate."""
        return ("x", "rate")

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the states and their rates."""
        x, v = own_state(signal, "x"), own_state(signal, "rate")
        parts = {"k": cls.number(signal, "gain"), "u": input_node(signal), "x": x, "v": v}
        w, D = cls.number(signal, "frequency"), cls.number(signal, "damping_ratio")
        rate = combine("w*w*(k*u - x) - 2*D*w*v", w=w, D=D, **parts)
        start = combine("k*u", **parts) if signal.initial == "steady" else ZERO
        return BlockLaw({"": x}, {"x": StateLaw(v, start), "rate": StateLaw(rate)})


class PIDBlock(SignalBlock):
    """PID of a signal with a filtered derivative and limits; see `pd.PIDControl` for the integral at a limit."""

    name, title, short_title = "pid_block", "PID of a signal", "PID of a signal"
    help = (
        "kp · input + the integral of ki · input + kd · rate of the input, the rate filtered with the time constant "
        "filter. Within limits, where upper is more than lower, the integral follows the limited output."
    )
    uses = ("input", "kp", "ki", "kd", "settings", "anti_windup", *SAMPLED)
    needs = ()
    numbers = (
        Quantity("filter", "s", 0.01, "Time constant of the filter of the rate"),
        Quantity("lower", "", 0.0, "Lower limit"),
        Quantity("upper", "", 0.0, "Upper limit; not above the lower one: there are no limits"),
    )
    rank = 15

    @classmethod
    def value_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the output and the output before it is limited."""
        return ("", "command")

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the integral, and the filtered input if there is a derivative."""
        return ("integral", "filtered") if signal.kd != 0.0 else ("integral",)

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return output, command and states."""
        parts: dict[str, Node] = {name: value_node(getattr(signal, name)) for name in ("kp", "ki", "kd")}
        parts |= {"u": input_node(signal), "I": own_state(signal, "integral"), "T": cls.number(signal, "filter")}
        states = {}
        command = combine("kp*u + I", **parts)
        if signal.kd != 0.0:
            parts["z"] = own_state(signal, "filtered")
            command = combine("c + kd*(u - z)/T", c=command, **parts)
            states["filtered"] = StateLaw(combine("(u - z)/T", **parts), parts["u"])
        low, high = cls.number(signal, "lower"), cls.number(signal, "upper")
        out: Node = own_state(signal, "command")
        rate = combine("ki*u", **parts)
        if (low, high) != (ZERO, ZERO):
            out = combine("if(high > low, min(max(c, low), high), c)", c=out, low=low, high=high)
            follow = combine("kp/ki", **parts) if signal.anti_windup is None else value_node(signal.anti_windup)
            if signal.anti_windup is not None or signal.kp != 0.0:
                rate = combine("r + (y - c)/F", r=rate, y=out, c=own_state(signal, "command"), F=follow)
        return BlockLaw({"": out, "command": command}, {"integral": StateLaw(rate), **states})


class TransferFunction(SignalBlock):
    """Transfer function in controllable canonical form (Kailath, Linear Systems, section 2.1)."""

    name, title, short_title = "transfer_function", "Transfer function", "transfer function"
    help = "numerator(s)/denominator(s), by coefficients with the highest power first; proper."
    uses = (*LINEAR, "numerator", "denominator")
    needs = ("numerator", "denominator")
    rank = 16

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return x1 … xn."""
        return tuple(f"x{k}" for k in range(1, len(signal.denominator)))

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the states and the output."""
        numerator = [value_node(each.value) for each in signal.numerator]
        return canonical_form(signal, numerator, [value_node(each.value) for each in signal.denominator])


class PadeDelay(SignalBlock):
    """Delay by a Padé approximation (Golub and Van Loan, Matrix Computations, section 9.3.1)."""

    name, title, short_title = "delay", "Delay", "delay"
    help = (
        "The input, later by the delay: exactly at multiples of the period of a sampled signal, else by a Padé "
        "approximation with the given order."
    )
    uses = (*LINEAR, "settings")
    needs = ()
    numbers = (Quantity("order", "", 4.0, "Order of the approximation, 1 to 10"),)
    rank = 17

    @classmethod
    def order(cls, signal: Signal) -> int:
        """Return the order of the approximation. Raises ModelError unless it is a whole number from 1 to 10."""
        node = cls.number(signal, "order")
        if isinstance(node, Number) and node.value in range(1, 11):
            return int(node.value)
        raise ModelError(
            "The order of a delay is a whole number from 1 to 10.",
            where=f"signal '{signal.name}', order",
            remedy="Give a number.",
        )

    @classmethod
    def state_names(cls, signal: Signal) -> tuple[str, ...]:
        """Return the states of the approximation; none where the delay is exact, or zero."""
        if signal.period is not None or signal.delay == 0.0:
            return ()
        return tuple(f"x{k}" for k in range(1, cls.order(signal) + 1))

    @classmethod
    def law(cls, signal: Signal, model: Any) -> BlockLaw:
        """Return the approximation; of a sampled signal the input, which sampling delays."""
        if signal.period is not None or signal.delay == 0.0:
            return BlockLaw({"": input_node(signal)})
        n = cls.order(signal)
        c = [1.0]
        for k in range(1, n + 1):
            c.append(c[-1] * (n - k + 1) / (k * (2 * n - k + 1)))
        T = value_node(signal.delay)
        powers = [combine("c*T^k", c=Number(c[k]), T=T, k=Number(float(k))) for k in range(n + 1)]
        alternating = [combine("s*p", s=Number((-1.0) ** k), p=power) for k, power in enumerate(powers)]
        return canonical_form(signal, alternating[::-1], powers[::-1])


def canonical_form(signal: Signal, b: list[Node], a: list[Node]) -> BlockLaw:
    """Return the controllable canonical form of a proper transfer function. Raises ModelError."""
    n = len(a) - 1
    where = f"signal '{signal.name}'"
    if len(b) > len(a):
        raise ModelError(
            "The degree of the numerator is higher than that of the denominator.",
            where=f"{where}, numerator",
            remedy="Raise the degree of the denominator, by a pole that is fast enough.",
        )
    if a[0] == ZERO:
        raise ModelError(
            "The first coefficient of the denominator is zero.", where=f"{where}, denominator", remedy="Leave it out."
        )
    u, b = input_node(signal), [*[ZERO] * (len(a) - len(b)), *b]
    x = [own_state(signal, f"x{k}") for k in range(1, n + 1)]  # x1 … xn: x_k' = x_{k+1}
    last, output = combine("u/a", u=u, a=a[0]), combine("b*u/a", b=b[0], u=u, a=a[0])
    for k in range(n):
        ak, bk = a[n - k], b[n - k]
        last = combine("f - c*x/a", f=last, c=ak, x=x[k], a=a[0])
        output = combine("y + (b - c*d/a)*x", y=output, b=bk, c=ak, d=b[0], x=x[k], a=a[0])
    states = {f"x{k + 1}": StateLaw(x[k + 1] if k + 1 < n else last) for k in range(n)}
    if signal.initial == "steady" and n and a[n] != ZERO:
        states["x1"] = states["x1"]._replace(start=combine("u/an", u=u, an=a[n]))
    return BlockLaw({"": output}, states)
