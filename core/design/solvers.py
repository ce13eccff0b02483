"""Solvers of design problems with a common interface: from a start to the best point, with exact derivatives if
available.

Variables are counted in their bounds, 0 to 1. Values of what cannot be computed are infinite or not a number: a solver
then steps back, or ends there and says so.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError

Array = NDArray[np.float64]
STEP = 1e-6
"""Step of central differences, relative to the bounds."""
CHECKED = 1e-5
"""Step, relative to the bounds, of the single check of the derivatives."""
SMOOTH = 1e-5
"""Relative difference between difference quotients of two steps up to which the values count as smooth."""
SOLVERS = {
    "least_squares": "a sum of squares: trust region with bounds",
    "SLSQP": "a smooth objective with few requirements: sequential quadratic programming",
    "trust-constr": "a smooth objective with requirements: trust region",
    "IPOPT": "many requirements or variables: interior point",
    "differential_evolution": "discontinuous objective: without gradients",
}
_ENDED = {
    0: "the largest number of evaluations was reached",
    1: "the gradient is zero",
    2: "the value no longer changes",
    3: "the parameters no longer change",
    4: "value and parameters no longer change",
}
"""Messages for the termination states of `scipy.optimize.least_squares`."""
FULFILLED = 1e-7
"""Tolerance of a requirement, in its unit."""
KEPT = 4
"""Size of the cache of evaluated points, in multiples of the number of variables plus one."""
SMALL_PROBLEM = 50
FEW = 10


class EvaluatedPoint(NamedTuple):
    """Values at a point: residuals (r,) of a sum of squares, or only the objective (1,); required (c,), positive if
    fulfilled."""

    residuals: Array
    required: Array


class DesignProblem(NamedTuple):
    """Optimisation problem. evaluate : x (n,) in 0 … 1 → values at the point; slopes : x → Jacobian of the residuals
    (r, n), None: by differences; squares : True to minimise the sum of squares of the residuals, otherwise the single
    objective"""

    size: int
    evaluate: Callable[[Array], EvaluatedPoint]
    slopes: Callable[[Array], Array] | None
    squares: bool
    rough: bool = False

    def value(self, x: Array) -> float:
        """Return the value to minimise at x."""
        r = self.evaluate(x).residuals
        return float(r @ r) if self.squares else float(r[0])


class SolverResult(NamedTuple):
    """Result of a solver: x (n,), value, reason for termination, number of evaluations."""

    x: Array
    value: float
    message: str
    evaluations: int


def choose_solver(problem: DesignProblem, requirement_count: int) -> tuple[str, str]:
    """Choose a suitable solver; return its name and the reason for the choice."""
    if problem.rough:
        return "differential_evolution", "the objective is discontinuous; without gradients"
    if problem.squares and not requirement_count:
        return "least_squares", "a sum of squares with bounds only"
    if problem.size > SMALL_PROBLEM or requirement_count > FEW:
        return "IPOPT", "many requirements or variables"
    return "SLSQP", "a smooth objective" + (" with few requirements" if requirement_count else "")


def central_differences(evaluate: Callable[[Array], Array], x: Array) -> Array:
    """Return the Jacobian (r, n) by central differences, one-sided at bounds. Raises FloatingPointError if the function
    cannot be evaluated at x."""
    if not np.isfinite(x).all():
        raise FloatingPointError("The solver reached a point that is not a number.")
    columns = []
    for k in range(len(x)):
        ends = []
        for sign in (1.0, -1.0):
            moved = x.copy()
            moved[k] = min(max(moved[k] + sign * STEP, 0.0), 1.0)
            ends.append((moved[k], evaluate(moved)))
        columns.append((ends[0][1] - ends[1][1]) / (ends[0][0] - ends[1][0]))
    return np.stack(columns, axis=-1)


def solve(problem: DesignProblem, solver: str, start: Array, iterations: int, seed: int) -> SolverResult:
    """Solve the problem from one start. Raises FloatingPointError if nothing can be evaluated there."""
    count = [0]
    last: dict[bytes, EvaluatedPoint] = {}

    def evaluate_cached(x: Array) -> EvaluatedPoint:
        """Evaluate each point only once, since objective and requirements are requested separately at the same
        points."""
        key = np.asarray(x, dtype=float).tobytes()
        if key not in last:
            count[0] += 1
            found = problem.evaluate(np.clip(x, 0.0, 1.0))
            if len(last) > KEPT * (problem.size + 1):
                last.clear()
            last[key] = found
        return last[key]

    first = evaluate_cached(start)
    if not (np.isfinite(first.residuals).all() and np.isfinite(first.required).all()):
        raise FloatingPointError("The objective or a requirement is not a number at the starting point.")
    counted = problem._replace(evaluate=evaluate_cached)
    x, message = _RUN[solver](counted, start, iterations, seed, len(first.required))
    x = np.clip(x, 0.0, 1.0)
    return SolverResult(x, problem.value(x), message, count[0])


def nearest_feasible_point(problem: DesignProblem, start: Array, iterations: int) -> Array:
    """Find the point with the least violation of the requirements (sum of squares), starting where a solver ended with
    violations. Raises FloatingPointError if nothing can be evaluated."""
    from scipy.optimize import least_squares

    def violations(x: Array) -> Array:
        found = np.minimum(problem.evaluate(np.clip(x, 0.0, 1.0)).required, 0.0)
        if not np.isfinite(found).all():
            raise FloatingPointError("A requirement is not a number.")
        return found

    inside = np.clip(start, 1e-9, 1.0 - 1e-9)
    found = least_squares(
        violations, inside, lambda x: central_differences(violations, x), bounds=(0.0, 1.0), max_nfev=iterations
    )
    return np.clip(found.x, 0.0, 1.0)


def relative_slope_error(problem: DesignProblem, x: Array, seed: int) -> float:
    """Return the relative error of the residuals' derivatives along a random direction, compared with a finite
    difference; 0 if the values are not smooth enough for the comparison."""
    assert problem.slopes is not None
    direction = np.random.default_rng(seed).normal(size=problem.size)
    direction /= np.linalg.norm(direction)
    inside = np.clip(x, 2.0 * CHECKED, 1.0 - 2.0 * CHECKED)

    def residuals_along_direction(step: float) -> Array:
        ends = [problem.evaluate(inside + sign * step * direction).residuals for sign in (1.0, -1.0)]
        return np.asarray((ends[0] - ends[1]) / (2.0 * step))

    wide, fine = residuals_along_direction(2.0 * CHECKED), residuals_along_direction(CHECKED)
    exact = problem.slopes(inside) @ direction
    size = max(float(np.linalg.norm(fine)), float(np.linalg.norm(exact)), 1e-300)
    smooth = float(np.linalg.norm(wide - fine)) < SMOOTH * size
    off = float(np.linalg.norm(exact - fine)) / size
    return off if smooth and np.isfinite(off) else 0.0


def _jacobian_function(problem: DesignProblem) -> Callable[[Array], Array]:
    return problem.slopes or (lambda x: central_differences(lambda y: problem.evaluate(y).residuals, x))


def _gradient_function(problem: DesignProblem) -> Callable[[Array], Array]:
    if not problem.squares:
        return lambda x: _jacobian_function(problem)(x)[0]
    return lambda x: 2.0 * _jacobian_function(problem)(x).T @ problem.evaluate(x).residuals


def _solve_least_squares(
    problem: DesignProblem, start: Array, iterations: int, seed: int, count: int
) -> tuple[Array, str]:
    from scipy.optimize import least_squares

    inside = np.clip(start, 1e-9, 1.0 - 1e-9)
    found = least_squares(
        lambda x: problem.evaluate(x).residuals, inside, _jacobian_function(problem), bounds=(0.0, 1.0), x_scale="jac",
        max_nfev=iterations, xtol=1e-14, ftol=1e-14, gtol=1e-14,
    )  # fmt: skip
    return found.x, _ENDED.get(found.status, str(found.message))


def _scipy_minimiser(method: str) -> Callable[..., tuple[Array, str]]:
    def minimise(problem: DesignProblem, start: Array, iterations: int, seed: int, count: int) -> tuple[Array, str]:
        from scipy.optimize import Bounds, NonlinearConstraint, minimize

        def requirement_values(x: Array) -> Array:
            return problem.evaluate(x).required

        def requirement_slopes(x: Array) -> Array:
            return central_differences(requirement_values, x)

        constraints: list[Any] = []
        if count:
            own = NonlinearConstraint(requirement_values, 0.0, np.inf, jac=requirement_slopes)
            constraints = (
                [own] if method != "SLSQP" else [{"type": "ineq", "fun": requirement_values, "jac": requirement_slopes}]
            )
        tight = {"ftol": 1e-14} if method == "SLSQP" else {"gtol": 1e-10, "xtol": 1e-12}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of curvature that is not known yet
            found = minimize(
                problem.value, start, jac=_gradient_function(problem), method=method, bounds=Bounds(0.0, 1.0),
                constraints=constraints, options={"maxiter": iterations, **tight},
            )  # fmt: skip
        return np.asarray(found.x), str(found.message).replace("`", "")

    return minimise


def _casadi_callback(
    variable_count: int, value_count: int, values: Callable[[Array], Array], slopes: Callable[[Array], Array]
) -> Any:
    """Wrap our values (count,) of x (size,), and their Jacobian, as a CasADi function."""
    import casadi as ca

    class Slopes(ca.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.construct("slopes", {})

        def get_n_in(self) -> int:
            return 2

        def get_sparsity_in(self, i: int) -> Any:
            return ca.Sparsity.dense(variable_count if i == 0 else value_count)

        def get_sparsity_out(self, _: int) -> Any:
            return ca.Sparsity.dense(value_count, variable_count)

        def eval(self, arguments: Any) -> Any:
            return [slopes(arguments[0].full().ravel())]

    class Values(ca.Callback):  # type: ignore[misc]
        def __init__(self) -> None:
            ca.Callback.__init__(self)
            self.own = Slopes()  # must live as long as this
            self.construct("values", {})

        def get_sparsity_in(self, _: int) -> Any:
            return ca.Sparsity.dense(variable_count)

        def get_sparsity_out(self, _: int) -> Any:
            return ca.Sparsity.dense(value_count)

        def eval(self, arguments: Any) -> Any:
            return [values(arguments[0].full().ravel())]

        def has_jacobian(self, *_: Any) -> bool:
            return True

        def get_jacobian(self, *_: Any) -> Any:
            return self.own

    return Values()


def _solve_with_ipopt(
    problem: DesignProblem, start: Array, iterations: int, seed: int, count: int
) -> tuple[Array, str]:
    """Solve with IPOPT through `casadi.nlpsol`, with our values as callbacks and limited-memory second derivatives."""
    import casadi as ca

    gradient = _gradient_function(problem)

    def values(x: Array) -> Array:
        return np.append(problem.value(x), problem.evaluate(x).required)

    def slopes(x: Array) -> Array:
        return np.vstack(
            [gradient(x), central_differences(lambda y: problem.evaluate(y).required, x).reshape(count, -1)]
        )

    stopped: list[BaseException] = []
    """Exception that ended the search: CasADi lets none through."""

    def with_error_guard(function: Callable[[Array], Array], *shape: int) -> Callable[[Array], Array]:
        def call_guarded(x: Array) -> Array:
            try:
                if not stopped:
                    return function(x)
            except (KinetostatError, ArithmeticError, ValueError, np.linalg.LinAlgError):
                pass  # no number: it steps back
            except BaseException as error:
                stopped.append(error)
            return np.full(shape, np.nan)

        return call_guarded

    called = _casadi_callback(
        problem.size, 1 + count, with_error_guard(values, 1 + count), with_error_guard(slopes, 1 + count, problem.size)
    )
    x = ca.MX.sym("x", problem.size)
    y = called(x)
    options = {
        "ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.max_iter": iterations, "ipopt.tol": 1e-10,
        "ipopt.hessian_approximation": "limited-memory", "show_eval_warnings": False,
    }  # fmt: skip
    nlp = {"x": x, "f": y[0], **({"g": y[1:]} if count else {})}
    run = ca.nlpsol("design", "ipopt", nlp, options)
    given = {"lbg": 0.0, "ubg": ca.inf} if count else {}
    found = run(x0=start, lbx=0.0, ubx=1.0, **given)
    if stopped:
        raise stopped[0]
    return found["x"].full().ravel(), str(run.stats()["return_status"])


def _differential_evolution(
    problem: DesignProblem, start: Array, iterations: int, seed: int, count: int
) -> tuple[Array, str]:
    from scipy.optimize import differential_evolution

    def value(x: Array) -> float:
        found = problem.evaluate(x)
        lost = float(np.minimum(found.required, 0.0).sum())
        own = float(found.residuals @ found.residuals) if problem.squares else float(found.residuals[0])
        return (1e6 * (1.0 - lost) if lost < 0.0 else own) if np.isfinite(own) else 1e12

    found = differential_evolution(
        value, [(0.0, 1.0)] * problem.size, maxiter=iterations, seed=seed, x0=start, polish=False, tol=1e-10
    )
    return np.asarray(found.x), str(found.message)


_RUN: dict[str, Callable[..., tuple[Array, str]]] = {
    "least_squares": _solve_least_squares,
    "SLSQP": _scipy_minimiser("SLSQP"),
    "trust-constr": _scipy_minimiser("trust-constr"),
    "IPOPT": _solve_with_ipopt,
    "differential_evolution": _differential_evolution,
}
