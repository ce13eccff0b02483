"""Python implementation of the generated code's step, used as the reference in the code's own test.

The same functions by CasADi's interpreter, the same order of operations; `core.c_code.c_source` writes it in C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.c_code.machine_functions import MachineFunctions, TracedFunction
from core.mechanics.elements.time_argument import evaluate_time_argument
from core.numerics.tolerances import OPEN_GAP, SINGULAR_SINE

Array = NDArray[np.float64]

NOT_FINITE, OUT_OF_REACH, NEAR_SINGULAR, LIMIT = 1, 2, 4, 8
"""Status bits: with the first two the state is left unchanged."""
STATUS = {"NOT_FINITE": NOT_FINITE, "OUT_OF_REACH": OUT_OF_REACH, "NEAR_SINGULAR": NEAR_SINGULAR, "LIMIT": LIMIT}
LEAST_PART = SINGULAR_SINE**2


class StepMethod(NamedTuple):
    """Fixed-cost integration method: an explicit Runge–Kutta tableau (Hairer, Nørsett and Wanner, Solving ODE I, II.1)
    in which each stage depends only on the previous one; `impulse` : semi-implicit, speeds first, then positions with
    the new speeds; `implicit` : γ of the two-stage Rosenbrock method of Verwer, (1 − γ h J) k₁ = f(y), (1 − γ h J) k₂ =
    f(y + h k₁) − 2 k₁, of second order with any J, and L-stable with the exact one (Verwer, Spee, Blom and Hundsdorfer,
    SIAM J. Sci. Comput. 20, 1999).

    like : the method of `core.simulation.METHODS` that does the same; none if there is none
    stable : h |λ| up to which damped motions stay bounded
    """

    title: str
    c: tuple[float, ...]
    b: tuple[float, ...]
    stable: float
    like: str | None = None
    impulse: bool = False
    implicit: float = 0.0


METHODS = {
    "rk4": StepMethod("Runge–Kutta 4", (0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6), 2.78, "rk4"),
    "heun": StepMethod("Heun's method", (0.0, 1.0), (0.5, 0.5), 2.0),
    "euler": StepMethod("Explicit Euler", (0.0,), (1.0,), 2.0, "euler"),
    "semi_implicit": StepMethod("Semi-implicit Euler", (0.0,), (1.0,), 2.0, "semi_implicit_euler", True),
    "ros2": StepMethod("Rosenbrock 2", (0.0, 1.0), (1.5, 0.5), np.inf, implicit=1.0 - 0.5**0.5),
}


class StepFunctions(NamedTuple):
    """Functions that a step calls; None: the machine does not need it."""

    rates: TracedFunction
    reduced: TracedFunction | None
    closed: TracedFunction | None
    masses: TracedFunction | None
    positions: TracedFunction | None
    speeds: TracedFunction | None
    normalised: TracedFunction | None
    settled: TracedFunction | None
    beyond: TracedFunction | None
    q_rate: TracedFunction | None
    """Function q̇ of quaternions, for the semi-implicit method."""
    slopes: TracedFunction | None
    """Jacobian J = ∂ẏ/∂y row by row, for the implicit method; `reduced_slopes` is that of `reduced`."""
    reduced_slopes: TracedFunction | None


def build_step_functions(
    machine: MachineFunctions, method: StepMethod, before_each: Callable[[], None] = lambda: None
) -> StepFunctions:
    """Build the step functions of a machine; before_each : called before each."""
    compiled, forms = machine.compiled, machine.forms
    held, quaternions = compiled.constrained, bool(compiled.coordinates.quaternions)

    def build_if_needed(
        condition: Any, make: Callable[..., TracedFunction], *of: TracedFunction
    ) -> TracedFunction | None:
        before_each()
        return make(*of) if condition else None

    beyond = machine.limit_excess()
    before_each()
    rates = machine.rates()
    reduced = build_if_needed(forms, machine.reduced_rates)
    return StepFunctions(
        rates,
        reduced,
        build_if_needed(forms, machine.closed),
        build_if_needed(held, machine.masses),
        build_if_needed(held, machine.position_step),
        build_if_needed(held, machine.speeds),
        build_if_needed(quaternions, machine.normalised_position),
        build_if_needed(machine.context.elements.junctions, machine.junction_step),
        beyond if beyond.graph.size1_out(0) else None,
        build_if_needed(method.impulse, machine.q_rate),
        build_if_needed(method.implicit, machine.jacobian, rates),
        None if reduced is None else build_if_needed(method.implicit, machine.jacobian, reduced),
    )


class Stepper:
    """Fixed-step integrator of one machine; h : step, s, closing : number of iterations of loop closure."""

    def __init__(
        self, machine: MachineFunctions, functions: StepFunctions, method: StepMethod, h: float, closing: int
    ) -> None:
        self.machine, self.functions, self.method = machine, functions, method
        self.h, self.closing = h, closing
        self.splines = machine.compiled.splines(machine.p)
        self.nq, self.nv = machine.nq, machine.nv

    def arguments_at(self, y: Array, time: float, u: Array) -> dict[str, Array]:
        """Return the arguments at a state."""
        nq, last = self.nq, self.nq + self.nv
        t = evaluate_time_argument(self.splines, time)[: self.machine.time_size]
        return {"q": y[:nq], "v": y[nq:last], "x": y[last:], "t": t, "u": u, "p": self.machine.p}

    def rates(self, y: Array, time: float, u: Array) -> tuple[Array, int]:
        """Return ẏ and a status."""
        given = self.arguments_at(y, time, u)
        if self.functions.reduced is not None:
            found = self.functions.reduced(**given)
            if found[-1] > 0.0:
                return found[:-1], 0
        return self._full_rates(given)

    def _full_rates(self, given: dict[str, Array]) -> tuple[Array, int]:
        found = self.functions.rates(**given)
        return found[:-1], 0 if found[-1] > LEAST_PART else NEAR_SINGULAR

    def step(self, y: Array, time: float, u: Array) -> tuple[Array, int]:
        """Return the state one step after `time`, and its status; after a failure the unchanged state."""
        h, method, status = self.h, self.method, 0
        new = y.copy()
        if method.impulse:
            f, status = self.rates(y, time, u)
            new[self.nq :] += h * f[self.nq :]
            assert self.functions.q_rate is not None
            new[: self.nq] += h * self.functions.q_rate(q=y[: self.nq], v=new[self.nq : self.nq + self.nv])
        elif method.implicit:
            total, status = self._implicit_step(y, time, u)
            new += h * total
        else:
            f = np.zeros(len(y))
            total = np.zeros(len(y))
            for c, b in zip(method.c, method.b, strict=True):
                f, happened = self.rates(y + h * c * f, time + h * c, u)
                total += b * f
                status |= happened
            new += h * total
        status |= self._project(new, time + h, u)
        if not np.isfinite(new).all():
            status |= NOT_FINITE
        return (y if status & (NOT_FINITE | OUT_OF_REACH) else new), status

    def _implicit_step(self, y: Array, time: float, u: Array) -> tuple[Array, int]:
        """Return the result of the two Rosenbrock stages, and a status."""
        f, n, h = self.functions, len(y), self.h
        given = self.arguments_at(y, time, u)
        served = f.reduced is not None and f.reduced(**given)[-1] > 0.0
        slopes = f.reduced_slopes if served else f.slopes
        assert slopes is not None
        W = -(h * self.method.implicit) * slopes(**given).reshape(n, n)
        W[np.diag_indices(n)] += 1.0
        rows = lu_eliminate(W)
        k, status = self.rates(y, time, u)
        lu_substitute(W, rows, k := k.copy())
        next_, happened = self.rates(y + h * k, time + h, u)
        last = next_ - 2.0 * k
        lu_substitute(W, rows, last)
        first, second = self.method.b
        return first * k + second * last, status | happened

    def _project(self, y: Array, time: float, u: Array) -> int:
        """Correct y in place: close the loops, make speeds consistent, and balance the forces at junctions."""
        f, nq, last, status = self.functions, self.nq, self.nq + self.nv, 0
        if f.normalised is not None:
            y[:nq] = f.normalised(q=y[:nq])
        if f.settled is not None:
            for _ in range(self.closing):
                y[last:] = f.settled(**self.arguments_at(y, time, u))
        done = False
        if f.closed is not None:
            found = f.closed(**self.arguments_at(y, time, u))
            done = bool(found[-1] > 0.0)
            if done:
                y[:last] = found[:-1]
        if f.positions is not None and not done:
            status = self._close_iteratively(y, time, u)
        if f.beyond is not None and np.any(f.beyond(**self.arguments_at(y, time, u)) > 0.0):
            status |= LIMIT
        return status

    def _close_iteratively(self, y: Array, time: float, u: Array) -> int:
        f, nq, last = self.functions, self.nq, self.nq + self.nv
        assert f.masses is not None
        assert f.positions is not None
        assert f.speeds is not None
        factors = f.masses(**self.arguments_at(y, time, u))
        gap = 0.0
        for _ in range(self.closing):
            found = f.positions(**self.arguments_at(y, time, u), f=factors)
            y[:nq], gap = found[:nq], found[nq]
        found = f.speeds(**self.arguments_at(y, time, u), f=factors)
        y[nq:last] = found[: self.nv]
        status = 0 if gap < OPEN_GAP else OUT_OF_REACH
        return status | (0 if found[-1] > LEAST_PART else NEAR_SINGULAR)


def lu_eliminate(W: Array) -> list[int]:
    """Replace W (n, n) in place by its factors L and U and return the row interchanges, step by step, with the same
    operations as the generated code."""
    n, rows = len(W), list[int]()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k in range(n):
            at = k
            for i in range(k + 1, n):
                if abs(W[i, k]) > abs(W[at, k]):
                    at = i
            rows.append(at)
            W[[k, at]] = W[[at, k]]
            for i in range(k + 1, n):
                W[i, k] = W[i, k] / W[k, k]
                W[i, k + 1 :] -= W[i, k] * W[k, k + 1 :]
    return rows


def lu_substitute(W: Array, rows: list[int], b: Array) -> None:
    """Replace b in place by the solution of the system whose factors `eliminated` left."""
    n = len(b)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for k, at in enumerate(rows):
            b[k], b[at] = b[at], b[k]
            for i in range(k + 1, n):
                b[i] -= W[i, k] * b[k]
        for i in range(n - 1, -1, -1):
            for k in range(n - 1, i, -1):
                b[i] -= W[i, k] * b[k]
            b[i] = b[i] / W[i, i]
