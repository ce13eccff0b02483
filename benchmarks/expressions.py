"""SUNDIALS through CasADi, and SciPy's implicit methods: each works on the traces of this program as expressions,
interpreted by CasADi, with exact Jacobians."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from benchmarks.measure import Result, processor_time
from benchmarks.problems import Problem
from core.codegen.graph_symbols import build_column, scalar_symbols
from core.mechanics.tree import inline
from core.mechanism import Mechanism
from core.numerics.rank import rank

MOST_STEPS = 100_000


def _traced(mech: Mechanism, function: str, x: dict[str, Any]) -> Any:
    return build_column(mech.compiled.program.symbolic.build_body(function, x, "", inline))


def _symbols(mech: Mechanism) -> dict[str, Any]:
    return {word: scalar_symbols(word, size) for word, size in (("q", mech.nq), ("v", mech.nv), ("u", mech.nv))}


class Idas:
    """IDAS: M a + h − Gᵀλ = τ, G a + Ġ v = 0; rows of G that are redundant are left out."""

    name = "IDAS (CasADi)"
    settings: Iterable[float] = (1e-4, 1e-6, 1e-8, 1e-10)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import casadi as ca

        self.ca, self.problem, self.start = ca, problem, start
        nq, nv, x = mech.nq, mech.nv, _symbols(mech)
        q, v, a = (build_column(list(x[word])) for word in "qvu")
        balance = _traced(mech, "inverse_dynamics", x)
        for name, value in (problem.torque or {}).items():
            balance[mech.v_names.index(name)] -= value
        algebraic, unknown, self.guess = [balance], [a], [np.zeros(nv)]
        if mech.loops:
            rows = mech.compiled.program.symbolic.signature("constraint_residual").shape[0]
            kept = _rows(mech.constraint_jacobian(start[:nq]))
            multipliers = ca.SX.sym("lambda", len(kept))
            G = _traced(mech, "constraint_jacobian", x).reshape((nv, rows)).T[kept, :]
            drift = _traced(mech, "constraint_bias", x)[kept]
            algebraic = [balance - G.T @ multipliers, G @ a + drift]
            unknown.append(multipliers)
            self.guess.append(np.zeros(len(kept)))
        self.dae = {
            "x": ca.vertcat(q, v),
            "z": ca.vertcat(*unknown),
            "ode": ca.vertcat(v, a),
            "alg": ca.vertcat(*algebraic),
        }
        self.nq = nq

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        options = {"reltol": tolerance, "abstol": 1e-2 * tolerance, "max_num_steps": MOST_STEPS}
        solver = self.ca.integrator("run", "idas", self.dae, 0.0, self.problem.duration, options)
        guess = np.concatenate(self.guess)
        return processor_time(lambda: np.array(solver(x0=self.start, z0=guess)["xf"]).ravel()[: self.nq])


def _rows(G: Any) -> list[int]:
    """Rows of G that determine all others, early ones first."""
    kept: list[int] = []
    for i in range(len(G)):
        if rank(G[[*kept, i]]) > len(kept):
            kept.append(i)
    return kept


class _Explicit:
    """Trees by ẏ = f(y), accelerations by the articulated-body recursion."""

    settings: Iterable[float] = (1e-4, 1e-6, 1e-8, 1e-10)

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        import casadi as ca

        if mech.loops or problem.torque:
            raise ValueError("a tree without joint forces is needed")
        self.ca, self.problem, self.start, self.nq = ca, problem, start, mech.nq
        x = _symbols(mech)
        x["u"] = [0.0] * mech.nv
        self.y = ca.vertcat(*(build_column(list(x[word])) for word in "qv"))
        self.f = ca.vertcat(build_column(list(x["v"])), _traced(mech, "forward_dynamics", x))


class Cvodes(_Explicit):
    """CVODES, backward differentiation formulas and Newton's method: for stiff machines."""

    name = "CVODES BDF (CasADi)"
    multistep, iteration = "bdf", "newton"

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        options = {
            "reltol": tolerance,
            "abstol": 1e-2 * tolerance,
            "max_num_steps": MOST_STEPS,
            "linear_multistep_method": self.multistep,
            "nonlinear_solver_iteration": self.iteration,
        }
        dae = {"x": self.y, "ode": self.f}
        solver = self.ca.integrator("run", "cvodes", dae, 0.0, self.problem.duration, options)
        return processor_time(lambda: np.array(solver(x0=self.start)["xf"]).ravel()[: self.nq])


class CvodesAdams(Cvodes):
    """CVODES, Adams's formulas."""

    name = "CVODES Adams (CasADi)"
    multistep, iteration = "adams", "functional"

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        if problem.stiff:
            raise ValueError("not for stiff machines")
        super().__init__(mech, problem, start)


class ScipyRadau(_Explicit):
    """SciPy's Radau, for stiff machines."""

    name = "SciPy Radau (CasADi's f and Jacobian)"
    method = "Radau"

    def __init__(self, mech: Mechanism, problem: Problem, start: Any) -> None:
        if not problem.stiff:
            raise ValueError("for stiff machines")
        super().__init__(mech, problem, start)
        self.function = self.ca.Function("f", [self.y], [self.f])
        self.jacobian = self.ca.Function("J", [self.y], [self.ca.densify(self.ca.jacobian(self.f, self.y))])

    def __call__(self, tolerance: float) -> Result:
        """The end of the motion with these tolerances."""
        from scipy.integrate import solve_ivp

        span = (0.0, self.problem.duration)

        def f(_: float, y: Any) -> Any:
            return self.function(y).full()[:, 0]

        def jacobian(_: float, y: Any) -> Any:
            return self.jacobian(y).full()

        return processor_time(
            lambda: solve_ivp(
                f, span, self.start, self.method, [span[1]], rtol=tolerance, atol=1e-2 * tolerance, jac=jacobian
            ).y[: self.nq, -1]
        )


class ScipyLsoda(ScipyRadau):
    """SciPy's LSODA (ODEPACK), for stiff machines."""

    name = "SciPy LSODA (CasADi's f and Jacobian)"
    method = "LSODA"
