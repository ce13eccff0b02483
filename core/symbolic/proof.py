"""Proof of symbols by numbers: the largest deviation of written forms from the compiled kernel over random states."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.kernel import Mechanism
from core.symbolic.forms import evaluate
from core.symbolic.robot import Forms, Robot

Array = NDArray[np.float64]
STATES = 20
ACCEPTED = 1e-9
"""Relative deviation up to which a result counts as proved (rounding of long sums)."""
TAKEN = 1e-4
"""The same where numbers of the file were taken for multiples of π or fractions."""


class Proof(NamedTuple):
    """What a comparison with the compiled kernel gave."""

    what: str
    deviation: float
    """Largest difference, relative to the largest entry (at least 1)."""
    states: int
    passed: bool

    def __str__(self) -> str:
        verdict = "agrees with" if self.passed else "DIFFERS from"
        return f"{self.what} {verdict} the compiled kernel within {self.deviation:.1e} ({self.states} random states)"


CHECKED = ("T", "J", "M", "C", "G", "tau", "K")
"""Results that have a counterpart in the compiled kernel."""


def proof(robot: Robot, what: str, states: int = STATES, seed: int = 0) -> Proof:
    """Compare a result of `Robot.form` ("T" stands for T(0, n)) with the compiled kernel.

    C is compared by C q̇ and by the skew symmetry of Ṁ − 2C.
    """
    rng = np.random.default_rng(seed)
    judge = _Judge(robot)
    worst = 0.0
    for _ in range(states):
        ours, theirs = judge.pair(what, judge.state(rng))
        scale = max(1.0, float(np.max(np.abs(theirs), initial=0.0)))
        deviation = float(np.max(np.abs(ours - theirs), initial=0.0)) / scale
        worst = deviation if math.isnan(deviation) else max(worst, deviation)
    limit = TAKEN if robot.recognised else ACCEPTED
    return Proof(what, worst, states, worst <= limit)


class _Judge:
    """Both sides of the comparison."""

    def __init__(self, robot: Robot) -> None:
        self.robot, self.chain = robot, robot.chain
        self.mech = Mechanism(robot.chain.model)
        self.at_q = [v.q for v in self.chain.variables]
        self.at_v = [v.v for v in self.chain.variables]

    def state(self, rng: np.random.Generator) -> dict[str, float]:
        """Random values of all symbols."""
        chain = self.chain
        drawn = {name: x * rng.uniform(0.7, 1.3) if x else rng.uniform(0.5, 1.5)
                 for name, x in chain.values.items() if name in self.mech.p_names}  # fmt: skip
        follows = chain.model.values({**_known(self.robot), **chain.given, **drawn})
        values = {name: follows[name] for name in chain.values}
        for v, rate, acceleration in zip(chain.variables, chain.rates, chain.accelerations, strict=True):
            values[v.symbol] = rng.uniform(-np.pi, np.pi) if v.turns else rng.uniform(-1.0, 1.0)
            values[rate], values[acceleration] = rng.normal(size=2)
        return values | {"sqrt(2)": math.sqrt(2.0), "sqrt(3)": math.sqrt(3.0)}

    def pair(self, what: str, values: dict[str, float]) -> tuple[Array, Array]:
        """(symbolic, compiled) numbers of a result."""
        given = {name: values[name] for name in self.chain.values}
        given = {name: x for name, x in given.items() if name in self.mech.p_names}
        p = self.mech.parameter_values({**_known(self.robot), **self.chain.given, **given})
        q, v, a = self.mech.rest(), np.zeros(self.mech.nv), np.zeros(self.mech.nv)
        for i, variable in enumerate(self.chain.variables):
            q[variable.q] = values[variable.symbol]
            v[variable.v] = values[self.chain.rates[i]]
            a[variable.v] = values[self.chain.accelerations[i]]
        compiled = getattr(self, f"_{what}")(q, v, a, p)
        indices = (0, self.robot.n) if what == "T" else ()
        ours = numbers(self.robot.form(what, *indices), values)
        return (ours @ v[self.at_v] if what == "C" else ours.reshape(np.shape(compiled))), compiled

    def _T(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        frames = self.chain.frames
        first, last = (self.mech.frame(q, name, p=p) for name in (frames[0], frames[self.robot.n]))
        return np.asarray(np.linalg.inv(first) @ last)

    def _J(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        J = self.mech.jacobian(q, self.chain.tip, p=p)[:, self.at_v]
        R = self.mech.frame(q, self.chain.frames[0], p=p)[:3, :3]
        return np.vstack([R.T @ J[3:], R.T @ J[:3]])

    def _M(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.asarray(self.mech.mass_matrix(q, p=p)[np.ix_(self.at_v, self.at_v)])

    def _C(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        bias = self.mech.bias(q, v, p=p, passive=False)
        return np.asarray((bias - self.mech.bias(q, 0.0 * v, p=p, passive=False))[self.at_v])

    def _G(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.asarray(self.mech.gravity(q, p=p)[self.at_v])

    def _tau(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.asarray(self.mech.inverse_dynamics(q, v, a, p=p, passive=False)[self.at_v])

    def _K(self, q: Array, v: Array, a: Array, p: Array) -> Array:
        return np.array([self.mech.energy(q, v, p=p).kinetic])


def _known(robot: Robot) -> dict[str, float]:
    values = robot.chain.model.values()
    return {p.name: values[p.name] for p in robot.chain.model.parameters if not isinstance(p.value, str)}


def numbers(forms: Forms, values: dict[str, Any]) -> Array:
    """The forms at numbers of their symbols."""
    kept: dict[Any, Any] = {}
    return np.array([[float(evaluate(form, values, kept)) for form in row] for row in forms])
