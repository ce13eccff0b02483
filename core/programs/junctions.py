"""Junctions: massless points at which forces meet and are always in equilibrium.

Let r be the positions of all junctions, w = ṙ, and f(r, w, …) the sums of the forces on them. Where dampers act, f = 0
gives w; where springs alone act, f = 0 gives r, and its derivative along the motion, D(w) = 0, gives w. With the
projector P on the directions without damping, both are one set of equations, R(w) = (1 − P) f + P D = 0, solved by
Newton's method (one step where the laws are linear in the rate). P = ε (C + ε)⁻¹ with C = −∂f/∂w.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import build_column, directional_derivative, scalar_symbols, to_symbol
from core.mechanics.elements.force_state import ForceState
from core.mechanics.elements.signals import SignalValues
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.rotation import unwrap_near
from core.numerics.spatial.scalar import Scalar
from core.programs.dynamics import force_state
from core.programs.kinematics import coordinate_rates
from core.programs.machine_symbols import MachineSymbols

Inputs = Mapping[str, list[Any]]

NEGLIGIBLE_DAMPING = 1e-9
"""Fraction of the total damping below which damping counts as zero."""
SUPPORT = 1e-12
"""Fraction of the total stiffness added to the diagonal, so that a direction without any stiffness or damping gives
zero and not 0/0."""
ROUNDS = 4
"""Newton iterations where a force law is nonlinear in the rate."""


def _junction_forces(context: MachineSymbols, s: ForceState) -> ca.SX:
    """Return f: the total force on every junction, world axes."""
    totals: list[Scalar] = [0.0] * (3 * len(context.elements.junctions))
    for element in context.elements.named_forces:
        ends = element.ends()
        if not any(isinstance(end, int) for end in ends):
            continue
        for end, force in zip(ends, element.end_forces(s), strict=True):
            if isinstance(end, int):
                for k in range(3):
                    totals[end + k] = totals[end + k] + force[k]
    return build_column([to_symbol(total) for total in totals])


def _time_rates(t: list[Any], modes: int) -> ca.SX:
    """Return d/dt of the time argument: 1, then for every signal its rate, second rate, and 0; 0 for mode variables."""
    rates_ = [1.0] if t else []
    for k in range(1, len(t) - modes, 3):
        rates_ += [t[k + 1], t[k + 2], 0.0]
    return build_column([*rates_, *[0.0] * modes])


class JunctionBalance:
    """Total forces f on junctions as functions of the junctions' velocities w."""

    def __init__(self, context: MachineSymbols, inputs: Inputs) -> None:
        self.context, self.x = context, inputs
        self.count = 3 * len(context.elements.junctions)
        self.w = scalar_symbols("w", self.count)
        self.r = build_column(list(inputs["x"][: self.count]))
        self.states = range(self.count, context.nx - len(context.elements.turn_counters))
        """Indices in x of the internal states of force elements."""
        nothing = [0.0] * (context.nx - self.count)
        self.s = force_state(context, {**inputs, "x": [*inputs["x"][: context.nx], *self.w, *nothing]})
        self.f = _junction_forces(context, self.s)
        self.state_rates = build_column(_state_rates(context, self.s))
        self.of_w = build_column(self.w)

    def change(self) -> ca.SX:
        """Return D(w), the rate of change of f without its dependence on ẇ and on the accelerations of bodies."""
        x, f = self.x, self.f
        states = build_column([x["x"][k] for k in self.states])
        D = directional_derivative(f, self.r, self.of_w) + directional_derivative(
            f, build_column(list(x["q"])), coordinate_rates(self.context, x)
        )
        if self.states:
            D += directional_derivative(f, states, self.state_rates)
        if x.get("t"):
            D += directional_derivative(f, build_column(list(x["t"])), _time_rates(x["t"], self.context.clock.modes))
        return ca.densify(D)

    def equations(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return (R, ∂R/∂w, P), all functions of w: R = 0 determines w; the weighting P tends to 1 in undamped
        directions and to 0 in damped ones."""
        C = -ca.jacobian(self.f, self.of_w)
        unit = ca.SX.eye(self.count)
        D = self.change()
        if C.nnz() == 0:
            return D, ca.densify(ca.jacobian(D, self.of_w)), unit
        C = ca.densify(C)
        small = NEGLIGIBLE_DAMPING * ca.trace(C) + 1e-30
        P = small * ca.solve(C + small * unit, unit)
        J = -(unit - P) @ C + P @ ca.jacobian(D, self.of_w)
        return (unit - P) @ self.f + P @ D, ca.densify(J), P

    def speeds(self) -> ca.SX:
        """Solve for the junctions' velocities w."""
        R, J, _ = self.equations()
        nonlinear = bool(ca.depends_on(J, self.of_w))
        w = ca.SX.zeros(self.count)
        for _ in range(ROUNDS if nonlinear else 1):
            value, slope = (ca.substitute(each, self.of_w, w) for each in (R, J))
            w = w - ca.solve(_regularise(slope), value)
        return w


def junction_forces(context: MachineSymbols, inputs: Inputs, w: Any) -> ca.SX:
    """Return the total forces on junctions that move with velocities w."""
    balance = JunctionBalance(context, inputs)
    return ca.substitute(balance.f, balance.of_w, w)


def _regularise(J: ca.SX) -> ca.SX:
    n = J.shape[0]
    size = ca.sum1(ca.sum2(ca.fabs(J))) + 1e-30
    return J - SUPPORT * size * ca.SX.eye(n)


def states(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the rates ẋ of the states of force elements."""
    balance = JunctionBalance(context, inputs) if context.elements.junctions else None
    if balance is None:
        s = force_state(context, inputs)
        return [*map(to_symbol, _state_rates(context, s)), *_counted_angle_rates(context, inputs)]
    w, own = balance.speeds(), []
    if balance.states:
        own = ca.vertsplit(ca.densify(ca.substitute(balance.state_rates, balance.of_w, w)))
    return [*ca.vertsplit(ca.densify(w)), *own, *_counted_angle_rates(context, inputs)]


def _state_rates(context: MachineSymbols, s: ForceState) -> list[Scalar]:
    """Return the rates of the force elements' internal states."""
    own = [rate for element in context.elements.named_forces for rate in element.x_rate(s)]
    return [*own, *(s.value(rate) for rate in context.elements.signal_rates.values())]


def _counted_angle_rates(context: MachineSymbols, inputs: Inputs) -> list[Scalar]:
    """Return the rates of the angles that count turns."""
    if not context.elements.turn_counters:
        return []
    signals = SignalValues(
        context.elements, context.numbers.values, KinematicState(context.tree, inputs["q"], inputs.get("v"))
    )
    return [to_symbol(signals.counted_angle(name)[1]) for name in context.elements.turn_counters]


def settle(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return one Newton step of the states x toward P f = 0, the balance of forces on junctions in undamped directions;
    internal states move with the points on which they depend, so that dampers in series do not jump."""
    balance = JunctionBalance(context, inputs)
    J, P = balance.equations()[1:]
    w = balance.speeds()
    f, J, P = (ca.substitute(each, balance.of_w, w) for each in (balance.f, J, P))
    step = -ca.solve(_regularise(J), P @ f)
    result = ca.vertsplit(ca.densify(step))
    if balance.states:
        along = ca.jacobian(balance.state_rates, balance.of_w)
        result += ca.vertsplit(ca.densify(ca.substitute(along, balance.of_w, w) @ step))
    return [*result, *[ca.SX(0.0)] * len(context.elements.turn_counters)]


def balance_jacobian(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂R/∂w at w = 0, row by row; singular where a junction is not supported."""
    balance = JunctionBalance(context, inputs)
    J = ca.substitute(balance.equations()[1], balance.of_w, ca.SX.zeros(balance.count))
    return ca.vertsplit(ca.vec(ca.densify(J).T))


def stretched(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return x with the internal states of force elements at their initial values and with counted angles near their
    base values."""
    s = force_state(context, inputs)
    result: list[Scalar] = list(s.x)
    for element in context.elements.named_forces:
        own = element.x_rest(s)
        result[element.state : element.state + len(own)] = own
    for name, start in context.elements.signal_starts.items():
        result[context.elements.signal_states[name]] = s.value(start)
    signals = SignalValues(context.elements, context.numbers.values, s.kinematics)
    for name, (state, each) in context.elements.turn_counters.items():
        base = context.numbers.scalar(each.base, each.where)
        result[state] = unwrap_near(base, signals.counted_angle(name)[0])
    return [to_symbol(entry) for entry in result]


def at_rest(context: MachineSymbols, inputs: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return f, then ∂f/∂r row by row, for junctions at rest and force elements at their initial states."""
    count = 3 * len(context.elements.junctions)
    states = stretched(context, inputs, "")
    f = _junction_forces(context, force_state(context, {**inputs, "x": [*states, *[0.0] * context.nx]}))
    K = ca.jacobian(f, build_column(list(inputs["x"][:count])))
    return [*ca.vertsplit(ca.densify(f)), *ca.vertsplit(ca.vec(ca.densify(K).T))]
