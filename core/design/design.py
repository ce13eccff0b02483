"""`Design`: optimise a machine's parameters so that a formula is minimal or a point follows a curve.

d = Design(model)
d.vary("a", "b", px=(-0.2, 0.2))
d.sweep("crank_pin")                                   # or d.run(duration=2.0), or neither: the rest pose
d.minimise("span(coupler_point.position.z)") ; d.require("max(abs(rocker_pin.q)) < 60 deg")
best = d.solve(starts=20, seed=1) ; best.table ; model = d.apply(best)
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.design.designed import Array, OptimisationResult, Row, SearchStopped, StartResult, model_with_row_values
from core.design.objective import (
    DesignFormula,
    Motion,
    PrescribedMotion,
    build_function_generation,
    build_motion_generation,
    check_no_speed_channels,
    motion_from_poses,
    requirement_margin,
)
from core.design.solvers import FULFILLED, SOLVERS, DesignProblem, EvaluatedPoint
from core.design.starts import MultiStartSearch, SearchListener
from core.design.swept import SweptPoint, find_closure_from_coordinate
from core.design.target_curves import Target
from core.errors import ModelError, SimulationError, suggest_names
from core.mechanism import Mechanism
from core.model import Model
from core.model.aims import PLANES
from core.simulation import Run, simulate
from core.simulation.measures.run_measures import Requirement, Signals

POSES = 64
ITERATIONS = 200
LONGEST_RUN = 60.0
"""Computing time after which the run of one candidate is aborted, s."""
SETTLES, STARVED = 3.0, 10.0
"""CPU time, s, and the factor for elapsed time on a busy machine, for which the first start waits for compiled code;
after that the interpreter is used until the code is ready, and the last bits of values depend on that moment."""
LOOK = 0.02
"""Interval at which a stop request is checked while code is compiled, s."""
LOST = 1e3
"""Residual, in sizes of the curve, assigned to each target point that a machine cannot reach."""


class Design:
    """Optimisation problem for a machine's parameters. Raises ModelError for names or settings that do not exist."""

    def __init__(self, model: Model | Mechanism) -> None:
        self.mech = model if isinstance(model, Mechanism) else Mechanism(model)
        self.model = self.mech.model
        self.bounds: dict[str, tuple[float, float]] = {}
        self.signals = Signals(self.mech)
        self.requirements: Sequence[Requirement] = []
        self._objective: DesignFormula | None = None
        self._fit: tuple[str, Target, str, str] | None = None
        self._generation: PrescribedMotion | None = None
        self._sweep: tuple[str, Array] | None = None
        self._run: dict[str, Any] | None = None
        self._point: SweptPoint | None = None
        self._asked: Callable[[], bool] = lambda: False
        """True once a search in progress is asked to stop."""

    def __repr__(self) -> str:
        return f"Design({self.model.name!r}, varies {', '.join(self.bounds) or 'nothing'})"

    # -------------------------------------------------------------------------------------------- the question

    def vary(self, *parameters: str, **bounds: tuple[float, float]) -> Design:
        """Declare free parameters: within their own minimum and maximum, or within (low, high), SI."""
        for name in (*parameters, *bounds):
            if name not in self.mech.p_names:
                raise ModelError(
                    f"There is no free parameter '{name}'.", where="vary", remedy=suggest_names(name, self.mech.p_names)
                )
            own = self.model.expanded.find("parameters", name)
            values = self.model.values()
            stated = tuple(
                None if each is None else _number_from_value(each, values) for each in (own.minimum, own.maximum)
            )
            low, high = bounds.get(name, stated)
            if low is None or high is None:
                raise ModelError(
                    f"Parameter '{name}' has no bounds.", where="vary", remedy=f"Give them: {name}=(low, high)."
                )
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise ModelError(
                    f"The lower bound {low:g} is not below the upper bound {high:g}.",
                    where=f"vary, '{name}'",
                    remedy="Swap the bounds.",
                )
            self.bounds[name] = (float(low), float(high))
        return self

    def sweep(self, coordinate: str, start: float = 0.0, stop: float = 2.0 * np.pi, count: int = POSES) -> Design:
        """Evaluate a kinematic sweep along a coordinate, rad or m, instead of a simulation."""
        if coordinate not in self.mech.q_names:
            raise ModelError(
                f"There is no coordinate '{coordinate}'.",
                where="sweep",
                remedy=suggest_names(coordinate, self.mech.q_names),
            )
        if count < 2 or not start != stop:
            raise ModelError("A sweep needs at least two poses.", where="sweep", remedy="Give a range and a count.")
        self._sweep, self._run = (coordinate, np.linspace(start, stop, int(count))), None
        return self

    def run(self, duration: float, **settings: Any) -> Design:
        """Evaluate a simulation of the machine over `duration`, s; settings as in `simulate`."""
        ready = {"closed_forms": True}  # what is ready first must not decide about numbers
        self._run, self._sweep = {**ready, "duration": float(duration), **settings}, None
        return self

    def minimise(self, formula: str) -> Design:
        """Set the formula to minimise, in the syntax of `core.design.objective`."""
        self._objective, self._fit, self._generation = DesignFormula(self.signals, formula), None, None
        return self

    def fit(self, frame: str, target: Target, driven: str, plane: str = "xz") -> Design:
        """Require that the frame's origin follows a target curve in a plane of the world while `driven` moves: times of
        a closed target are shares of its full turn from zero, those of an arc are values of the coordinate, rad or m.
        Derivatives are exact."""
        if target.times is None:
            raise ModelError(
                "The target has no times.", where="fit", remedy="Give times, or use path synthesis, which needs none."
            )
        if plane not in PLANES:
            raise ModelError(f"'{plane}' is not a plane.", where="fit", remedy="Use xy, xz or yz.")
        SweptPoint(self.mech, driven, frame, (), plane)
        self._fit, self._objective, self._generation = (frame, target, driven, plane), None, None
        return self

    def generate(self, output: str, points: ArrayLike, driven: str) -> Design:
        """Prescribe an output (any channel of poses, "rocker_pin.q") as a function of a coordinate (function
        generation): points (n, 2) are values of the coordinate and of the output, rad or m."""
        check_no_speed_channels((output,), f"generate '{output}'")
        if not self.signals.is_channel(output) or self.signals.components(output):
            raise ModelError(
                f"'{output}' is not a scalar channel.",
                where="generate",
                remedy=suggest_names(output, self.signals.all),
            )
        return self._with_generation(build_function_generation(driven, output, points))

    def guide(
        self, frame: str, poses: ArrayLike, driven: str, plane: str = "xz", length: float | None = None
    ) -> Design:
        """Guide a body or frame through poses in a plane while `driven` moves (motion generation): rows (n, 4) of the
        value of `driven`, position along both axes, m, and angle of the frame's first axis, rad; length : metres
        equivalent to one radian, default: the size of the path."""
        if frame not in self.mech.frame_names:
            raise ModelError(
                f"There is no frame '{frame}'.", where="guide", remedy=suggest_names(frame, self.mech.frame_names)
            )
        return self._with_generation(build_motion_generation(driven, frame, poses, plane, length))

    def _with_generation(self, generation: PrescribedMotion) -> Design:
        self.sweep(generation.driven)
        self._sweep = generation.driven, generation.along
        self._generation, self._fit, self._objective = generation, None, None
        return self

    def require(self, *comparisons: str) -> Design:
        """Add constraints as comparisons of formulas, "min(gap.x) > 2 cm"."""
        self.requirements = [*self.requirements, *(Requirement(self.signals, each) for each in comparisons)]
        return self

    @property
    def objective(self) -> str:
        """Formula to minimise; empty for other kinds of design."""
        return self._objective.text if self._objective is not None else ""

    # ------------------------------------------------------------------------------------------------- values

    def values(self, x: Array) -> dict[str, float]:
        """Return the parameter values at x (n,), where x is scaled to 0 … 1 within the bounds."""
        return {n: low + float(t) * (high - low) for (n, (low, high)), t in zip(self.bounds.items(), x, strict=True)}

    def motion(self, x: Array) -> Motion:
        """Compute the sweep or simulation at x. Raises KinetostatError if the machine cannot complete the motion."""
        p = {**dict(zip(self.mech.p_names, self.mech.parameter_values().tolist(), strict=True)), **self.values(x)}
        if self._run is not None:
            return Motion(self._simulate_run(p), p, False)
        if self._sweep is None:
            return motion_from_poses(self.mech, self.mech.rest(p)[None], p, np.zeros(1))
        coordinate, along = self._sweep
        return motion_from_poses(self.mech, self._compute_sweep_poses(coordinate, along, p), p, along)

    def _simulate_run(self, p: Mapping[str, float]) -> Run:
        """Simulate the machine with these parameters. Raises SimulationError also if the run takes too long."""
        assert self._run is not None
        began, late = time.monotonic(), [False]

        def is_time_up() -> bool:
            late[0] = time.monotonic() - began > LONGEST_RUN
            return late[0] or self._asked()

        run = simulate(self.mech, parameters=p, cancelled=is_time_up, **self._run)
        if late[0]:
            raise SimulationError(
                f"The run was aborted after {LONGEST_RUN:g} s of computing time, at t = {run.time[-1]:.4g} s.",
                where="design",
                remedy="Shorten the run, or narrow the bounds.",
            )
        self._raise_if_stopped()
        return run

    def _raise_if_stopped(self) -> None:
        """Raise Stopped if the search is to stop."""
        if self._asked():
            raise SearchStopped

    def generated(self, parameters: Mapping[str, float]) -> Array:
        """Compute the values that a machine attains for the rows of `generate` (n, 2) or `guide` (n, 4). Raises
        KinetostatError if the machine cannot complete the motion."""
        assert self._generation is not None
        x = [(parameters[name] - low) / (high - low) for name, (low, high) in self.bounds.items()]
        return self._generation.attained_values(self.motion(np.array(x, dtype=float)))

    @cached_property
    def _reference_configuration(self) -> Array:
        """Reference configuration of the machine before the search, which selects the branch of the analytic loop
        closure."""
        return self.mech.rest()

    def settle(self, first: Callable[[], object]) -> None:
        """Compute and discard a first value, and compile all machine code that is needed for it."""
        first()
        making = threading.Thread(target=self.mech.compile, daemon=True)
        making.start()
        work_ends, ends = time.process_time() + SETTLES, time.monotonic() + STARVED * SETTLES
        while making.is_alive() and time.process_time() < work_ends and time.monotonic() < ends:
            self._raise_if_stopped()
            making.join(LOOK)
        self.__dict__.pop("_rest", None)  # it may come from the interpreter that serves until the code is there
        self._point = None

    def _compute_requirement_margins(self, motion: Motion) -> Array:
        return np.array([requirement_margin(each, motion) for each in self.requirements], dtype=float)

    def _compute_sweep_poses(self, coordinate: str, coordinate_values: Array, p: Mapping[str, float]) -> Array:
        """Compute (n, nq) loop-closed configurations, each started from the previous one."""
        if find_closure_from_coordinate(self.mech, coordinate) is not None:
            if self._point is None:
                self._point = SweptPoint(self.mech, coordinate, self.mech.frame_names[0])
            lead = np.linspace(self._reference_configuration[self._point.driven], coordinate_values[0], 16)
            row = self.mech.parameter_values(p)
            start = self._point.follow_along(lead, self._reference_configuration[None], row).q[:, -1]
            found = self._point.follow_along(coordinate_values, start, row)
            lost = np.flatnonzero(found.reach[0] < 0.0)
            if not len(lost):
                return found.q[0]
            raise LoopNotClosed(
                f"The loop does not close at {coordinate} = {coordinate_values[lost[0]]:.4g}.", found.reach[0]
            )
        poses, q = [], self.mech.rest(p)
        for value in coordinate_values:
            q = np.asarray(self.mech.move(q, {coordinate: float(value)}, p=p, exact=True))
            poses.append(q)
        return np.array(poses)

    def problem(self, hear: Callable[[Array, float], None]) -> DesignProblem:
        """Build the problem for the solvers. The callback gets (x, value) for each point that fulfils the requirements.
        Raises ModelError."""
        if not self.bounds:
            raise ModelError("No parameter is varied.", where="design", remedy="Choose at least one: d.vary('a').")
        if self._fit is None and self._objective is None and self._generation is None:
            raise ModelError("The design has no objective.", where="design", remedy="Call d.minimise(…) or d.fit(…).")
        if self._run is None:
            for each in self.requirements:
                check_no_speed_channels(each.measure.channels, f"requirement '{each.text}'")
        if self._fit is not None:
            return self._fit_problem(hear)
        if self._generation is not None:
            return self._generation_problem(self._generation, hear)
        objective = self._objective
        assert objective is not None
        if self._run is None:
            check_no_speed_channels(objective.channels, f"objective '{objective.text}'")

        def evaluate(x: Array) -> EvaluatedPoint:
            self._raise_if_stopped()
            try:
                motion = self.motion(x)
            except LoopNotClosed as error:
                lost = LOST * (1.0 - float(np.minimum(error.reach, 0.0).mean()))
                return EvaluatedPoint(np.array([lost]), np.full(len(self.requirements), -lost))
            value = objective(motion)
            required = self._compute_requirement_margins(motion)
            if (required > -FULFILLED).all():
                hear(x, value)
            return EvaluatedPoint(np.array([value]), required)

        return DesignProblem(len(self.bounds), evaluate, None, False, objective.rough)

    def _generation_problem(
        self, generation: PrescribedMotion, record_point: Callable[[Array, float], None]
    ) -> DesignProblem:
        """Build a least-squares problem over poses, with derivatives by finite differences."""
        size = [0]

        def evaluate(x: Array) -> EvaluatedPoint:
            self._raise_if_stopped()
            try:
                motion = self.motion(x)
            except LoopNotClosed as error:
                lost = LOST * (1.0 - float(np.minimum(error.reach, 0.0).mean()))
                count = size[0] or len(generation.along)
                return EvaluatedPoint(np.full(count, lost / np.sqrt(count)), np.full(len(self.requirements), -lost))
            r = generation.residuals(motion)
            size[0] = len(r)
            required = self._compute_requirement_margins(motion)
            if (required > -FULFILLED).all():
                record_point(x, float(np.sqrt(r @ r)))
            return EvaluatedPoint(r, required)

        return DesignProblem(len(self.bounds), evaluate, None, True)

    def _fit_problem(self, record_point: Callable[[Array, float], None]) -> DesignProblem:
        frame, target, driven, plane = self._fit  # type: ignore[misc]
        swept = SweptPoint(self.mech, driven, frame, tuple(self.bounds), plane)
        assert target.times is not None
        times: Array = target.times * 2.0 * np.pi if target.closed else target.times
        scale = 1.0 / np.sqrt(len(times))
        spans = np.array([high - low for low, high in self.bounds.values()])
        rests: dict[bytes, Array] = {}

        def guess_poses(x: Array) -> tuple[Array, Array]:
            values = self.values(x)
            p = self.mech.parameter_values(values)
            lead = np.linspace(self._reference_configuration[swept.driven], times[0], 16)
            start = swept.follow_along(lead, self._reference_configuration[None], p).q[:, -1]
            return swept.follow_along(times, start, p).q[0], p

        def evaluate(x: Array) -> EvaluatedPoint:
            self._raise_if_stopped()
            q, p = guess_poses(x)
            rests.clear()
            rests[x.tobytes()] = q
            found = swept.points(swept.guesses_at_angles(times, q), p)
            off = scale * (found[:, :2] - target.points)
            low = scale * target.size * np.minimum(found[:, 4], 0.0)
            r = np.concatenate([off.ravel(), low])
            required = self._compute_requirement_margins(self.motion(x)) if self.requirements else np.zeros(0)
            if (required > -FULFILLED).all():
                record_point(x, float(np.sqrt(r @ r)))
            return EvaluatedPoint(r, required)

        def compute_slopes(x: Array) -> Array:
            if x.tobytes() in rests:
                q, p = rests[x.tobytes()], self.mech.parameter_values(self.values(x))
            else:
                q, p = guess_poses(x)
            found = swept.compute_slopes(swept.guesses_at_angles(times, q), p)
            by = found.slopes[:, 1:] * spans[:, None]
            lost = np.where(found.reach < 0.0, scale * target.size, 0.0)[:, None] * by[..., 2]
            return np.concatenate([scale * by[..., :2].transpose(0, 2, 1).reshape(-1, len(spans)), lost])

        return DesignProblem(len(self.bounds), evaluate, compute_slopes, True)

    # -------------------------------------------------------------------------------------------------- solving

    def solve(
        self,
        starts: int = 10,
        solver: str = "auto",
        seed: int = 0,
        *,
        iterations: int = ITERATIONS,
        cancelled: Callable[[], bool] = lambda: False,
        watch: Callable[[int, Mapping[str, float], float], None] = lambda *_: None,
    ) -> OptimisationResult:
        """Optimise from several starts and return the best result. The starts are the present values and points of a
        Sobol sequence within the bounds.

        solver : "auto" or a name of `core.design.solvers`; cancelled : asked again and again, what was best is kept;
        watch : called with (start, parameters, value) of each better point
        Raises ModelError before anything is tried: for unknown signals, and for an objective that nothing changes.
        """
        return self.search(starts, solver, seed, iterations, cancelled, _WatchListener(self, watch))

    def search(
        self,
        starts: int,
        solver: str,
        seed: int,
        iterations: int,
        cancelled: Callable[[], bool],
        listener: SearchListener,
        before: Sequence[Row] = (),
    ) -> OptimisationResult:
        """Optimise as `solve` does and report all steps to `listener`; before : finished rows of the first starts."""
        if solver != "auto" and solver not in SOLVERS:
            raise ModelError(f"There is no solver '{solver}'.", where="solver", remedy=suggest_names(solver, SOLVERS))
        if starts < 1:
            raise ModelError("At least one starting point is needed.", where="starts", remedy="Use 10, for example.")
        search = MultiStartSearch(self, solver, seed, iterations, listener)
        self._asked = cancelled
        try:
            search.run(starts, before)
        finally:
            self._asked = lambda: False
        return search.build_result()

    def apply(self, best: OptimisationResult | StartResult) -> Model:
        """Return the model with the values of a result or of one of its rows, as one edit."""
        row = best.best if isinstance(best, OptimisationResult) else best
        return model_with_row_values(self.model, row)


class _WatchListener(SearchListener):
    """Listener that passes each better point to a function."""

    def __init__(self, design: Design, watch: Callable[[int, Mapping[str, float], float], None]) -> None:
        self._design, self._watch = design, watch

    def on_better_point(self, number: int, x: Array, value: float) -> None:
        self._watch(number, self._design.values(x), value)


class LoopNotClosed(ModelError):
    """Raised if a loop does not close along a sweep; reach (n,) measures the gap, pose by pose."""

    def __init__(self, what: str, reach: Array) -> None:
        super().__init__(what, where="sweep", remedy="Narrow the bounds or the sweep.")
        self.reach = reach


def _number_from_value(value: Any, values: Mapping[str, float]) -> float:
    from core.model.parameters import evaluate_field

    return float(evaluate_field(value, values))
