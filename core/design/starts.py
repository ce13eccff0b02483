"""Multi-start search of a design, from the present values and then from points of a Sobol sequence within the bounds;
the best result and its assessment are kept."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.stats import qmc

from core.design.designed import OptimisationResult, Row, SearchStopped, StartResult, rank_rows, variables_at_bounds
from core.design.solvers import (
    FULFILLED,
    DesignProblem,
    EvaluatedPoint,
    central_differences,
    choose_solver,
    nearest_feasible_point,
    relative_slope_error,
    solve,
)
from core.errors import KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.simulation.measures.run_measures import Requirement

Array = NDArray[np.float64]

FAILURES = (KinetostatError, ArithmeticError, ValueError, np.linalg.LinAlgError)
"""Errors that end one start but not the search."""
WRONG_SLOPES = 1e-4
"""Largest relative error of exact derivatives, compared with differences; above it differences are used."""
ALIKE = 1e-8
"""Fraction of the largest change of the residuals below which variables count as indistinguishable."""


class SearchableDesign(Protocol):
    """Interface of a design that can be searched (`core.design.design.Design`)."""

    mech: Mechanism
    bounds: dict[str, tuple[float, float]]
    requirements: Sequence[Requirement]

    @property
    def objective(self) -> str:
        """Formula to minimise."""
        ...

    def problem(self, record_point: Callable[[Array, float], None]) -> DesignProblem:
        """Build the problem for the solvers."""
        ...

    def values(self, x: Array) -> dict[str, float]:
        """Return the parameter values at x (n,), where x is scaled to 0 … 1 within the bounds."""
        ...

    def settle(self, first: Callable[[], object]) -> None:
        """Compute and discard a first value, and compile all machine code that is needed for it."""
        ...

    def apply(self, best: StartResult) -> Model:
        """Return the model with the values of a row."""
        ...


class SearchListener:
    """Receiver of the steps of a search as they happen; the methods of this base class do nothing."""

    def on_search_prepared(self, search: MultiStartSearch) -> None:
        """Called when the search is prepared."""

    def start(self, number: int, x: Array) -> None:
        """Called when a start begins at x (n,), 0 … 1."""

    def on_better_point(self, number: int, x: Array, value: float) -> None:
        """Called when a start reaches a better point."""

    def on_start_ended(self, row: Row) -> None:
        """Called when a start has ended."""


class MultiStartSearch:
    """Search of a design from several starts. listener : is notified of each step."""

    def __init__(
        self,
        design: SearchableDesign,
        solver: str,
        seed: int,
        iterations: int,
        listener: SearchListener,
    ) -> None:
        self.design, self.seed, self.iterations, self._listener = design, seed, iterations, listener
        self.rows: list[Row] = []
        self._number = 0
        self._best: dict[int, tuple[float, Array]] = {}
        """By start the best value so far, and where it is."""
        self._nearest: dict[int, Row] = {}
        """By start the point at which requirements were missed least so far."""
        self._whole = False
        self.problem = self._recording_problem(design.problem(self._record_point))
        asked = solver, "as requested"
        self.solver, self.reason = choose_solver(self.problem, len(design.requirements)) if solver == "auto" else asked

    def _record_point(self, x: Array, value: float) -> None:
        known = self._best.get(self._number)
        if np.isfinite(value) and (known is None or value < known[0]):
            self._best[self._number] = value, x.copy()
            self._listener.on_better_point(self._number, x, value)

    def _recording_problem(self, problem: DesignProblem) -> DesignProblem:
        """Wrap the problem so that the least violating point of each start is recorded, too."""

        def evaluate(x: Array) -> EvaluatedPoint:
            found = problem.evaluate(x)
            if len(found.required) and np.isfinite(found.required).all() and np.isfinite(found.residuals).all():
                row = self._build_evaluated_row(self._number, x, found, problem.squares, "stopped", "stopped")
                known = self._nearest.get(self._number)
                if row.missed and (known is None or row.lacking < known[1].lacking):
                    self._nearest[self._number] = x.copy(), row
            return found

        return problem._replace(evaluate=evaluate)

    def run(self, starts: int, finished_rows: Sequence[Row] = ()) -> None:
        """Run all starts unless the search is stopped; finished_rows : finished rows of the first starts. Raises
        ModelError for an objective that no variable changes."""
        self.rows += finished_rows
        try:
            points = self._start_points(starts)
            self._compile_before_search(points[0])
            self._check_problem(points)
            self._listener.on_search_prepared(self)
            for self._number, point in list(enumerate(points))[len(finished_rows) :]:
                self._listener.start(self._number, point)
                self.rows.append(self._run_start(self._number, point))
                self._listener.on_start_ended(self.rows[-1])
            self._whole = True
        except SearchStopped:
            self.rows += self._interrupted_rows("stopped")

    def _interrupted_rows(self, message: str) -> list[Row]:
        """Return the result of an interrupted start: its best point, otherwise its point of least violation."""
        k = self._number
        if k in self._best:
            value, x = self._best[k]
            return [(x, StartResult(k, self.design.values(x), value, "stopped", message, self._variables_at_bound(x)))]
        return [(x, row._replace(message=message)) for x, row in (self._nearest[k],)] if k in self._nearest else []

    def _start_points(self, count: int) -> list[Array]:
        mech, bounds = self.design.mech, self.design.bounds
        values = dict(zip(mech.p_names, mech.parameter_values().tolist(), strict=True))
        first = [np.clip((values[n] - low) / (high - low), 0.0, 1.0) for n, (low, high) in bounds.items()]
        sobol = qmc.Sobol(len(bounds), seed=self.seed)
        others = sobol.random_base2(max(1, int(np.ceil(np.log2(max(count, 2)))))) if count > 1 else np.zeros((0, 1))
        return [np.array(first, dtype=float), *others[: count - 1]]

    # ----------------------------------------------------------------------------------------------- before it

    def _compile_before_search(self, point: Array) -> None:
        """Compile all machine code first, so that all values come from the same code."""
        quiet = self.design.problem(lambda *_: None)

        def compute_first_value() -> None:
            with contextlib.suppress(*FAILURES):
                quiet.evaluate(point)
                if quiet.slopes is not None:
                    quiet.slopes(point)

        self.design.settle(compute_first_value)

    def _check_problem(self, points: list[Array]) -> None:
        """Reject impossible problems: compute the first value and check that a variable changes the objective. Exact
        derivatives that do not match the values are replaced by differences."""
        quiet = self.design.problem(lambda *_: None)
        if quiet.slopes is not None:
            if not _are_slopes_exact(quiet, points[0], self.seed):
                self.problem = self.problem._replace(slopes=None)
                self.reason += "; its exact derivatives differ from finite differences, which are used instead"
            return
        try:
            first = quiet.evaluate(points[0]).residuals
        except FAILURES:
            return  # other starts may do
        if quiet.rough or not np.isfinite(first).all():
            return
        for point in (points[0], np.full(quiet.size, 0.37)):
            try:
                if (
                    np.abs(central_differences(lambda x: quiet.evaluate(x).residuals, np.clip(point, 0.05, 0.95))).max()
                    > 0.0
                ):
                    return
            except FAILURES:
                return
        raise ModelError(
            "None of the varied parameters changes the objective.",
            where=f"objective '{self.design.objective}'",
            remedy="Vary a parameter on which the objective depends.",
        )

    # -------------------------------------------------------------------------------------------------- starts

    def _run_start(self, number: int, point: Array) -> Row:
        """Run one start and return its row. Raises Stopped."""
        try:
            row = self._solve_start(number, point)
            return self._retry_violating_row(row) if row[1].missed else row
        except FAILURES as error:
            for row in self._interrupted_rows(str(error)):  # it came to a value before
                return row
            return point, StartResult(number, self.design.values(point), np.inf, "failed", str(error))

    def _solve_start(self, number: int, point: Array) -> Row:
        ended = solve(self.problem, self.solver, point, self.iterations, self.seed + number)
        return ended.x, self._build_row(number, ended.x, ended.message)

    def _retry_violating_row(self, row: Row) -> Row:
        """Restart a row that ended with violated requirements at the point of least violation; if they are still
        violated, return that point."""
        if self.problem.rough:
            return row
        k, x = row[1].number, nearest_feasible_point(self.problem, row[0], self.iterations)
        least = x, self._build_row(k, x, "least violation of the requirements")
        if least[1].missed:
            return least if least[1].lacking < row[1].lacking else row
        again = self._solve_start(k, x)
        return least if again[1].missed else again

    def _build_row(self, number: int, x: Array, message: str) -> StartResult:
        return self._build_evaluated_row(number, x, self.problem.evaluate(x), self.problem.squares, "found", message)

    def _build_evaluated_row(
        self, number: int, x: Array, evaluated: EvaluatedPoint, is_least_squares: bool, state: str, message: str
    ) -> StartResult:
        """Build the row of a point. is_least_squares : True if a sum of squares is minimised"""
        values = self.design.values(x)
        value = (
            float(np.sqrt(evaluated.residuals @ evaluated.residuals))
            if is_least_squares
            else float(evaluated.residuals[0])
        )
        if not np.isfinite(value):
            return StartResult(number, values, np.inf, "failed", "The value is not a number.")
        required = zip(self.design.requirements, evaluated.required, strict=True)
        missed = tuple(each.text for each, by in required if by < -FULFILLED)
        lacking = float(np.linalg.norm(np.minimum(evaluated.required, 0.0))) if missed else 0.0
        state = "requirements missed" if missed else state
        return StartResult(number, values, value, state, message, self._variables_at_bound(x), missed, lacking)

    def _variables_at_bound(self, x: Array) -> tuple[str, ...]:
        return variables_at_bounds(tuple(self.design.bounds), x)

    # ------------------------------------------------------------------------------------------------- results

    def build_result(self) -> OptimisationResult:
        """Return the table, the best first. Raises ModelError if no starting point gave a result."""
        rows = rank_rows(self.rows)
        x, best = rows[0]
        sensitivities: dict[str, float] = {}
        alike: tuple[str, ...] = ()
        if self._whole:  # else nothing more is computed
            plain = self.design.problem(lambda *_: None)._replace(slopes=self.problem.slopes)
            try:
                J = plain.slopes(x) if plain.slopes else central_differences(lambda y: plain.evaluate(y).residuals, x)
                sensitivities = dict(zip(self.design.bounds, np.linalg.norm(J, axis=0).tolist(), strict=True))
                alike = self._indistinguishable_variables(J) if plain.squares else ()
            except FAILURES:
                pass
        table, model = tuple(row for _, row in rows), self.design.apply(best)
        return OptimisationResult(table, model, self.solver, self.reason, self.slope_source, sensitivities, alike)

    @property
    def slope_source(self) -> str:
        """Source of the derivatives, "exact" or "by differences"."""
        differs = "by differences" if self.solver != "differential_evolution" else "none"
        return "exact" if self.problem.slopes else differs

    def _indistinguishable_variables(self, J: Array) -> tuple[str, ...]:
        """Name the variables in the direction along which the residuals do not change."""
        _, sizes, right = np.linalg.svd(J)
        if len(sizes) and sizes[-1] > ALIKE * sizes[0]:
            return ()
        return tuple(name for name, part in zip(self.design.bounds, right[-1], strict=True) if abs(part) > 0.1)


def _are_slopes_exact(problem: DesignProblem, point: Array, seed: int) -> bool:
    """Return True if exact derivatives match the values (one check along a random direction)."""
    try:
        return relative_slope_error(problem, point, seed) <= WRONG_SLOPES
    except FAILURES:
        return True
