"""Junctions: massless points at which forces meet, always in equilibrium.

Let r be the positions of all junctions, w = ṙ, and f(r, w, …) the sums of the forces on them. Where dampers act, f = 0
gives w; where springs alone act, f = 0 gives r, and its derivative along the motion, D(w) = 0, gives w. With the
projector P on the directions without damping, both are one set of equations, R(w) = (1 − P) f + P D = 0, solved by
Newton's method (one step where the laws are linear in the rate). P = ε (C + ε)⁻¹ with C = −∂f/∂w.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import casadi as ca

from core.codegen.graph_symbols import along, as_symbol, column, symbols
from core.mechanics.elements.force_state import ForceState
from core.mechanics.elements.signals import Signals
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Runner, inline
from core.numerics.spatial.rotation import unwrapped_near
from core.numerics.spatial.scalar import Scalar
from core.programs.dynamics import force_state
from core.programs.kinematics import rates
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
        for end, force in zip(ends, element.at_ends(s), strict=True):
            if isinstance(end, int):
                for k in range(3):
                    totals[end + k] = totals[end + k] + force[k]
    return column([as_symbol(total) for total in totals])


def _time_rates(t: list[Any], modes: int) -> ca.SX:
    """Return d/dt of the time argument: 1, then for every signal its rate, second rate, and 0; 0 for mode variables."""
    rates_ = [1.0] if t else []
    for k in range(1, len(t) - modes, 3):
        rates_ += [t[k + 1], t[k + 2], 0.0]
    return column([*rates_, *[0.0] * modes])


class Balance:
    """Total forces on junctions as functions of the junctions' velocities w."""

    def __init__(self, context: MachineSymbols, x: Inputs) -> None:
        self.context, self.x = context, x
        self.count = 3 * len(context.elements.junctions)
        self.w = symbols("w", self.count)
        self.r = column(list(x["x"][: self.count]))
        self.states = range(self.count, context.nx - len(context.elements.turn_counters))
        """Indices in x of the internal states of force elements."""
        nothing = [0.0] * (context.nx - self.count)
        self.s = force_state(context, {**x, "x": [*x["x"][: context.nx], *self.w, *nothing]})
        self.f = _junction_forces(context, self.s)
        self.state_rates = column(_state_rates(context, self.s))
        self.of_w = column(self.w)

    def change(self) -> ca.SX:
        """Return D(w): the rate of f, without its dependence on ẇ and on the bodies' accelerations."""
        x, f = self.x, self.f
        states = column([x["x"][k] for k in self.states])
        D = along(f, self.r, self.of_w) + along(f, column(list(x["q"])), rates(self.context, x))
        if self.states:
            D += along(f, states, self.state_rates)
        if x.get("t"):
            D += along(f, column(list(x["t"])), _time_rates(x["t"], self.context.clock.modes))
        return ca.densify(D)

    def equations(self) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return (R, ∂R/∂w, P), all functions of w."""
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
            w = w - ca.solve(_regularised(slope), value)
        return w


def forces(context: MachineSymbols, x: Inputs, w: Any) -> ca.SX:
    """Return the total forces on junctions that move with velocities w."""
    balance = Balance(context, x)
    return ca.substitute(balance.f, balance.of_w, w)


def _regularised(J: ca.SX) -> ca.SX:
    n = J.shape[0]
    size = ca.sum1(ca.sum2(ca.fabs(J))) + 1e-30
    return J - SUPPORT * size * ca.SX.eye(n)


def states(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the rates ẋ of the states of force elements."""
    balance = Balance(context, x) if context.elements.junctions else None
    if balance is None:
        s = force_state(context, x)
        return [*map(as_symbol, _state_rates(context, s)), *_counted_angle_rates(context, x)]
    w, own = balance.speeds(), []
    if balance.states:
        own = ca.vertsplit(ca.densify(ca.substitute(balance.state_rates, balance.of_w, w)))
    return [*ca.vertsplit(ca.densify(w)), *own, *_counted_angle_rates(context, x)]


def _state_rates(context: MachineSymbols, s: ForceState) -> list[Scalar]:
    """Return the rates of the force elements' internal states."""
    return [rate for element in context.elements.named_forces for rate in element.x_rate(s)]


def _counted_angle_rates(context: MachineSymbols, x: Inputs) -> list[Scalar]:
    """Return the rates of the angles that count turns."""
    if not context.elements.turn_counters:
        return []
    signals = Signals(context.elements, context.numbers.values, KinematicState(context.tree, x["q"], x.get("v")))
    return [as_symbol(signals.angle(name)[1]) for name in context.elements.turn_counters]


def settle(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return the Newton step of x toward P f = 0; internal states move with the points they depend on (dampers in
    series do not jump)."""
    balance = Balance(context, x)
    J, P = balance.equations()[1:]
    w = balance.speeds()
    f, J, P = (ca.substitute(each, balance.of_w, w) for each in (balance.f, J, P))
    step = -ca.solve(_regularised(J), P @ f)
    result = ca.vertsplit(ca.densify(step))
    if balance.states:
        along = ca.jacobian(balance.state_rates, balance.of_w)
        result += ca.vertsplit(ca.densify(ca.substitute(along, balance.of_w, w) @ step))
    return [*result, *[ca.SX(0.0)] * len(context.elements.turn_counters)]


def balance_jacobian(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return ∂R/∂w at w = 0, row by row; singular where a junction is not supported."""
    balance = Balance(context, x)
    J = ca.substitute(balance.equations()[1], balance.of_w, ca.SX.zeros(balance.count))
    return ca.vertsplit(ca.vec(ca.densify(J).T))


def stretched(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return x with the internal states of force elements at their initial values, and angles close to their bases."""
    s = force_state(context, x)
    result: list[Scalar] = list(s.x)
    for element in context.elements.named_forces:
        own = element.x_rest(s)
        result[element.state : element.state + len(own)] = own
    signals = Signals(context.elements, context.numbers.values, s.kinematics)
    for name, (state, each) in context.elements.turn_counters.items():
        base = context.numbers.scalar(each.base, each.where)
        result[state] = unwrapped_near(base, signals.angle(name)[0])
    return [as_symbol(entry) for entry in result]


def at_rest(context: MachineSymbols, x: Inputs, _: str, run: Runner = inline) -> list[Scalar]:
    """Return f, then ∂f/∂r row by row, for junctions at rest and force elements at their initial states."""
    count = 3 * len(context.elements.junctions)
    states = stretched(context, x, "")
    f = _junction_forces(context, force_state(context, {**x, "x": [*states, *[0.0] * context.nx]}))
    K = ca.jacobian(f, column(list(x["x"][:count])))
    return [*ca.vertsplit(ca.densify(f)), *ca.vertsplit(ca.vec(ca.densify(K).T))]
