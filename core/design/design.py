"""`Design`: parameters of a machine chosen so that a formula is least, or a point follows a curve.

d = Design(model)
d.vary("a", "b", px=(-0.2, 0.2))
d.sweep("crank_pin")                                   # or d.run(duration=2.0), or neither: the rest pose
d.minimise("span(coupler_point.position.z)") ; d.require("max(abs(rocker_pin.q)) < 60 deg")
best = d.solve(starts=20, seed=1) ; best.table ; model = d.apply(best)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import qmc

from core.design.generation import Generation, function_generation, motion_generation
from core.design.objective import Formula, Motion, margin, poses_of, refuse_moving
from core.design.solvers import SOLVERS, Evaluated, Problem, chosen, differences, nearest, slopes_off, solve
from core.design.swept import SweptPoint, explicit_forms
from core.design.target_curves import Target
from core.errors import KinetostatError, ModelError, near_misses
from core.measures.run_measures import Requirement, Signals
from core.mechanism import Mechanism
from core.model import Model
from core.model.aims import PLANES
from core.model.edits import edits
from core.simulation import simulate

Array = NDArray[np.float64]
POSES = 64
ITERATIONS = 200
LOST = 1e3
"""Residual, in sizes, of each point that a machine does not reach at all."""
SAME = 1e-4
"""Share of the bounds by which two results differ at least."""
WRONG_SLOPES = 1e-4
"""Part by which exact slopes may differ from differences; beyond it differences are used."""
FULFILLED = 1e-7
"""How far a requirement may be missed, in its unit."""


class Stopped(Exception):
    """The person stopped the search."""


class Start(NamedTuple):
    """A row of the table. number : from 0, the present values; parameters; value : what is to be least (of a fit the
    root of the mean squared distance); state : "found", "requirements missed", "failed" or "stopped"; message : why"""

    number: int
    parameters: Mapping[str, float]
    value: float
    state: str
    message: str
    at_bounds: tuple[str, ...] = ()
    missed: tuple[str, ...] = ()
    lacking: float = 0.0
    """By how much requirements are missed: root of the sum of squares of what each lacks, in its unit."""

    @property
    def conflict(self) -> str:
        """Which requirements are missed, in a sentence; empty where none is."""
        if len(self.missed) < 2:
            return "".join(f"Missed: {each}." for each in self.missed)
        return f"No point was found that fulfils all; these conflict: {'; '.join(self.missed)}."


@dataclass(frozen=True, eq=False)
class Designed:
    """What a search came to. table : a row each start, the best first; model : the machine with the best values;
    solver, reason : what was used and why; slopes : "exact" or "by differences"; alike : variables that cannot be told
    apart at the best point, by name; sensitivities : change of the value by a step of each variable over its bounds"""

    table: tuple[Start, ...]
    model: Model
    solver: str
    reason: str
    slopes: str
    sensitivities: Mapping[str, float]
    alike: tuple[str, ...] = ()

    @property
    def best(self) -> Start:
        """The first row."""
        return self.table[0]


class Design:
    """A search for parameters. Raises ModelError where it is asked for what there is not."""

    def __init__(self, model: Model | Mechanism) -> None:
        self.mech = model if isinstance(model, Mechanism) else Mechanism(model)
        self.model = self.mech.model
        self.bounds: dict[str, tuple[float, float]] = {}
        self.signals = Signals(self.mech)
        self.requirements: list[Requirement] = []
        self._objective: Formula | None = None
        self._fit: tuple[str, Target, str, str] | None = None
        self._generation: Generation | None = None
        self._sweep: tuple[str, Array] | None = None
        self._run: dict[str, Any] | None = None
        self._point: SweptPoint | None = None

    # -------------------------------------------------------------------------------------------- the question

    def vary(self, *parameters: str, **bounds: tuple[float, float]) -> Design:
        """Parameters that are free: within their minimum and maximum, or within (low, high), SI."""
        for name in (*parameters, *bounds):
            if name not in self.mech.p_names:
                raise ModelError(
                    f"There is no free parameter '{name}'.", where="vary", remedy=near_misses(name, self.mech.p_names)
                )
            own = self.model.expanded.find("parameters", name)
            values = self.model.values()
            stated = tuple(None if each is None else _number(each, values) for each in (own.minimum, own.maximum))
            low, high = bounds.get(name, stated)
            if low is None or high is None:
                raise ModelError(
                    f"Parameter '{name}' has no bounds.", where="vary", remedy=f"Give them: {name}=(low, high)."
                )
            if not (np.isfinite(low) and np.isfinite(high) and low < high):
                raise ModelError(
                    f"Nothing lies between {low:g} and {high:g}.", where=f"vary, '{name}'", remedy="Swap the bounds."
                )
            self.bounds[name] = (float(low), float(high))
        return self

    def sweep(self, coordinate: str, start: float = 0.0, stop: float = 2.0 * np.pi, count: int = POSES) -> Design:
        """Poses along a coordinate, rad or m, take the place of a run: kinematics alone."""
        if coordinate not in self.mech.q_names:
            raise ModelError(
                f"There is no coordinate '{coordinate}'.",
                where="sweep",
                remedy=near_misses(coordinate, self.mech.q_names),
            )
        if count < 2 or not start != stop:
            raise ModelError("A sweep has two poses at least.", where="sweep", remedy="Give a range and a count.")
        self._sweep, self._run = (coordinate, np.linspace(start, stop, int(count))), None
        return self

    def run(self, duration: float, **settings: Any) -> Design:
        """A run of the machine, s; settings as of `simulate`."""
        self._run, self._sweep = {"duration": float(duration), **settings}, None
        return self

    def minimise(self, formula: str) -> Design:
        """What is to be least, as `core.design.objective` says."""
        self._objective, self._fit, self._generation = Formula(self.signals, formula), None, None
        return self

    def fit(self, frame: str, target: Target, driven: str, plane: str = "xz") -> Design:
        """The frame's origin follows a target in a plane of the world while `driven` runs: times of a closed target are
        shares of its turn, those of an arc its values, rad or m. Slopes are exact."""
        if target.times is None:
            raise ModelError(
                "The target has no times.", where="fit", remedy="Give times, or let path synthesis find a linkage."
            )
        if plane not in PLANES:
            raise ModelError(f"'{plane}' is no plane.", where="fit", remedy="Take xy, xz or yz.")
        SweptPoint(self.mech, driven, frame, (), plane)
        self._fit, self._objective, self._generation = (frame, target, driven, plane), None, None
        return self

    def generate(self, output: str, points: ArrayLike, driven: str) -> Design:
        """An output (any channel of poses, "rocker_pin.q") is a function of a coordinate: points (n, 2) are its values
        there, rad or m (function generation)."""
        refuse_moving((output,), f"generate '{output}'")
        if not self.signals.is_channel(output) or self.signals.components(output):
            raise ModelError(
                f"'{output}' is no channel of one number.",
                where="generate",
                remedy=near_misses(output, self.signals.all),
            )
        return self._generated(function_generation(driven, output, points))

    def guide(
        self, frame: str, poses: ArrayLike, driven: str, plane: str = "xz", length: float | None = None
    ) -> Design:
        """A body or frame goes through poses of a plane while `driven` runs: rows (n, 4) of its value, place along both
        axes, m, and angle of the frame's first axis, rad (motion generation); length : m that a rad counts, default:
        the size of the path."""
        if frame not in self.mech.frame_names:
            raise ModelError(
                f"There is no frame '{frame}'.", where="guide", remedy=near_misses(frame, self.mech.frame_names)
            )
        return self._generated(motion_generation(driven, frame, poses, plane, length))

    def _generated(self, generation: Generation) -> Design:
        self.sweep(generation.driven)
        self._sweep = generation.driven, generation.along
        self._generation, self._fit, self._objective = generation, None, None
        return self

    def require(self, *comparisons: str) -> Design:
        """Comparisons of formulas that shall hold, "min(gap.x) > 2 cm"."""
        self.requirements += [Requirement(self.signals, each) for each in comparisons]
        return self

    # ------------------------------------------------------------------------------------------------- values

    def values(self, x: Array) -> dict[str, float]:
        """Parameters at x (n,), 0 … 1 within the bounds."""
        return {n: low + float(t) * (high - low) for (n, (low, high)), t in zip(self.bounds.items(), x, strict=True)}

    def motion(self, x: Array) -> Motion:
        """The poses or the run at x. Raises KinetostatError where the machine does not get through."""
        p = {**dict(zip(self.mech.p_names, self.mech.parameter_values().tolist(), strict=True)), **self.values(x)}
        if self._run is not None:
            run = simulate(self.mech, parameters=p, **self._run)
            return Motion(run, p, False)
        if self._sweep is None:
            return poses_of(self.mech, self.mech.rest(p)[None], p, np.zeros(1))
        coordinate, along = self._sweep
        return poses_of(self.mech, self._swept(coordinate, along, p), p, along)

    def generated(self, parameters: Mapping[str, float]) -> Array:
        """What a machine with these parameters does in place of the rows of `generate` (n, 2) or `guide` (n, 4).
        Raises KinetostatError where it does not get through."""
        assert self._generation is not None
        x = [(parameters[name] - low) / (high - low) for name, (low, high) in self.bounds.items()]
        return self._generation.generated(self.motion(np.array(x, dtype=float)))

    @cached_property
    def _rest(self) -> Array:
        """The rest pose of the present machine: it says on which branch closed forms begin."""
        return self.mech.rest()

    def _required(self, motion: Motion) -> Array:
        return np.array([margin(each, motion) for each in self.requirements], dtype=float)

    def _swept(self, coordinate: str, along: Array, p: Mapping[str, float]) -> Array:
        """(n, nq) closed poses, each next to the one before."""
        if explicit_forms(self.mech, coordinate) is not None:
            if self._point is None:
                self._point = SweptPoint(self.mech, coordinate, self.mech.frame_names[0])
            lead = np.linspace(self._rest[self._point.driven], along[0], 16)
            row = self.mech.parameter_values(p)
            start = self._point.carried(lead, self._rest[None], row).q[:, -1]
            found = self._point.carried(along, start, row)
            lost = np.flatnonzero(found.reach[0] < 0.0)
            if not len(lost):
                return found.q[0]
            raise NotReached(f"The loop does not close at {coordinate} = {along[lost[0]]:.4g}.", found.reach[0])
        poses, q = [], self.mech.rest(p)
        for value in along:
            q = np.asarray(self.mech.move(q, {coordinate: float(value)}, p=p, exact=True))
            poses.append(q)
        return np.array(poses)

    def _problem(self, hear: Callable[[Array, float], None]) -> Problem:
        if not self.bounds:
            raise ModelError("No parameter is varied.", where="design", remedy="Name one: d.vary('a').")
        if self._fit is None and self._objective is None and self._generation is None:
            raise ModelError("Nothing is asked for.", where="design", remedy="Say d.minimise(…) or d.fit(…).")
        if self._run is None:
            for each in self.requirements:
                refuse_moving(each.measure.channels, f"requirement '{each.text}'")
        if self._fit is not None:
            return self._fitting(hear)
        if self._generation is not None:
            return self._generating(self._generation, hear)
        objective = self._objective
        assert objective is not None
        if self._run is None:
            refuse_moving(objective.channels, f"objective '{objective.text}'")

        def evaluate(x: Array) -> Evaluated:
            try:
                motion = self.motion(x)
            except NotReached as error:
                lost = LOST * (1.0 - float(np.minimum(error.reach, 0.0).mean()))
                return Evaluated(np.array([lost]), np.full(len(self.requirements), -lost))
            value = objective(motion)
            required = self._required(motion)
            if (required > -FULFILLED).all():
                hear(x, value)
            return Evaluated(np.array([value]), required)

        return Problem(len(self.bounds), evaluate, None, False, objective.rough)

    def _generating(self, generation: Generation, hear: Callable[[Array, float], None]) -> Problem:
        """A sum of squares over poses, slopes by differences."""
        size = [0]

        def evaluate(x: Array) -> Evaluated:
            try:
                motion = self.motion(x)
            except NotReached as error:
                lost = LOST * (1.0 - float(np.minimum(error.reach, 0.0).mean()))
                count = size[0] or len(generation.along)
                return Evaluated(np.full(count, lost / np.sqrt(count)), np.full(len(self.requirements), -lost))
            r = generation.residuals(motion)
            size[0] = len(r)
            required = self._required(motion)
            if (required > -FULFILLED).all():
                hear(x, float(np.sqrt(r @ r)))
            return Evaluated(r, required)

        return Problem(len(self.bounds), evaluate, None, True)

    def _fitting(self, hear: Callable[[Array, float], None]) -> Problem:
        frame, target, driven, plane = self._fit  # type: ignore[misc]
        swept = SweptPoint(self.mech, driven, frame, tuple(self.bounds), plane)
        assert target.times is not None
        times: Array = target.shares * 2.0 * np.pi if target.closed else target.times
        scale = 1.0 / np.sqrt(len(times))
        spans = np.array([high - low for low, high in self.bounds.values()])
        rests: dict[bytes, Array] = {}

        def guesses(x: Array) -> tuple[Array, Array]:
            values = self.values(x)
            p = self.mech.parameter_values(values)
            lead = np.linspace(self._rest[swept.driven], times[0], 16)
            start = swept.carried(lead, self._rest[None], p).q[:, -1]
            return swept.carried(times, start, p).q[0], p

        def evaluate(x: Array) -> Evaluated:
            q, p = guesses(x)
            rests.clear()
            rests[x.tobytes()] = q
            found = swept.points(swept.guesses(times, q), p)
            off = scale * (found[:, :2] - target.points)
            low = scale * target.size * np.minimum(found[:, 4], 0.0)
            r = np.concatenate([off.ravel(), low])
            required = self._required(self.motion(x)) if self.requirements else np.zeros(0)
            if (required > -FULFILLED).all():
                hear(x, float(np.sqrt(r @ r)))
            return Evaluated(r, required)

        def slopes(x: Array) -> Array:
            if x.tobytes() in rests:
                q, p = rests[x.tobytes()], self.mech.parameter_values(self.values(x))
            else:
                q, p = guesses(x)
            found = swept.slopes(swept.guesses(times, q), p)
            by = found.slopes[:, 1:] * spans[:, None]
            lost = np.where(found.reach < 0.0, scale * target.size, 0.0)[:, None] * by[..., 2]
            return np.concatenate([scale * by[..., :2].transpose(0, 2, 1).reshape(-1, len(spans)), lost])

        return Problem(len(self.bounds), evaluate, slopes, True)

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
    ) -> Designed:
        """The best of so many starts: the present values, then points of a Sobol sequence within the bounds.

        solver : "auto" or a name of `core.design.solvers`; cancelled : asked again and again, what was best is kept;
        watch : called with (start, parameters, value) of each better point
        Raises ModelError before anything is tried: for unknown signals, and for an objective that nothing changes.
        """
        if solver != "auto" and solver not in SOLVERS:
            raise ModelError(f"There is no solver '{solver}'.", where="solver", remedy=near_misses(solver, SOLVERS))
        if starts < 1:
            raise ModelError("At least one start is needed.", where="starts", remedy="Take 10, say.")
        number, best = [0], dict[int, tuple[float, Array]]()

        def hear(x: Array, value: float) -> None:
            if np.isfinite(value) and (number[0] not in best or value < best[number[0]][0]):
                best[number[0]] = (value, x.copy())
                watch(number[0], self.values(x), value)
            if cancelled():
                raise Stopped

        problem = self._problem(lambda *_: None)
        points = self._starts(starts, seed)
        self._check(problem, points)
        exact = self._exact(problem, points[0], seed)
        problem = self._problem(hear)
        problem = problem if exact else problem._replace(slopes=None)
        name, reason = chosen(problem, len(self.requirements)) if solver == "auto" else (solver, "as asked")
        reason += "" if exact else "; its exact slopes differ from differences, which are used"
        rows: list[tuple[Array, Start]] = []
        for k, point in enumerate(points):
            number[0] = k
            try:
                ended = solve(problem, name, point, iterations, seed + k)
                row = ended.x, self._row(k, ended.x, problem, "found", ended.message)
                rows.append(self._fulfilling(problem, name, row, iterations, seed) if row[1].missed else row)
            except Stopped:
                if k in best:
                    rows.append((best[k][1], self._row(k, best[k][1], None, "stopped", "stopped", best[k][0])))
                break
            except (KinetostatError, ArithmeticError, ValueError, np.linalg.LinAlgError) as error:
                if k in best:  # it came to a value before
                    rows.append((best[k][1], self._row(k, best[k][1], None, "stopped", str(error), best[k][0])))
                    continue
                rows.append((point, Start(k, self.values(point), np.inf, "failed", str(error))))
        return self._designed(rows, name, reason, problem)

    def _exact(self, problem: Problem, point: Array, seed: int) -> bool:
        """Whether slopes, where there are exact ones, are those of the values (one look, along a random direction)."""
        try:
            return problem.slopes is None or slopes_off(problem, point, seed) <= WRONG_SLOPES
        except (KinetostatError, ArithmeticError, ValueError):
            return True

    def _fulfilling(
        self, problem: Problem, solver: str, row: tuple[Array, Start], iterations: int, seed: int
    ) -> tuple[Array, Start]:
        """A row whose solver ended with requirements missed, begun again where they are missed least; that point where
        they are missed there, too."""
        if problem.rough:
            return row
        x = nearest(problem, row[0], iterations)
        least = x, self._row(row[1].number, x, problem, "found", "requirements are missed least here")
        if least[1].missed:
            return least if least[1].lacking < row[1].lacking else row
        ended = solve(problem, solver, x, iterations, seed + row[1].number)
        again = ended.x, self._row(row[1].number, ended.x, problem, "found", ended.message)
        return least if again[1].missed else again

    def _starts(self, count: int, seed: int) -> list[Array]:
        values = dict(zip(self.mech.p_names, self.mech.parameter_values().tolist(), strict=True))
        first = [np.clip((values[n] - low) / (high - low), 0.0, 1.0) for n, (low, high) in self.bounds.items()]
        sobol = qmc.Sobol(len(self.bounds), seed=seed)
        others = sobol.random_base2(max(1, int(np.ceil(np.log2(max(count, 2)))))) if count > 1 else np.zeros((0, 1))
        return [np.array(first, dtype=float), *others[: count - 1]]

    def _check(self, problem: Problem, points: list[Array]) -> None:
        """Refuse what cannot be: the first value is computed, and something must change it."""
        try:
            first = problem.evaluate(points[0]).residuals
        except (KinetostatError, ArithmeticError, ValueError):
            return  # other starts may do
        if problem.slopes is not None or problem.rough or not np.isfinite(first).all():
            return
        inside = [np.clip(point, 0.05, 0.95) for point in (points[0], np.full(problem.size, 0.37))]
        for point in inside:
            try:
                if np.abs(differences(lambda x: problem.evaluate(x).residuals, point)).max() > 0.0:
                    return
            except KinetostatError:
                return
        raise ModelError(
            "None of the varied parameters changes it.",
            where=f"objective '{self._objective.text if self._objective else ''}'",
            remedy="Vary a parameter on which it depends.",
        )

    def _row(
        self, k: int, x: Array, problem: Problem | None, state: str, message: str, value: float | None = None
    ) -> Start:
        missed: tuple[str, ...] = ()
        lacking = 0.0
        if problem is not None:
            found = problem.evaluate(x)
            value = float(np.sqrt(found.residuals @ found.residuals)) if problem.squares else float(found.residuals[0])
            missed = tuple(
                each.text for each, by in zip(self.requirements, found.required, strict=True) if by < -FULFILLED
            )
            lacking = float(np.linalg.norm(np.minimum(found.required, 0.0)))
        if not np.isfinite(value if value is not None else np.nan):
            return Start(k, self.values(x), np.inf, "failed", "The value is no number.")
        edge = tuple(name for name, t in zip(self.bounds, x, strict=True) if t < 1e-6 or t > 1.0 - 1e-6)
        state = "requirements missed" if missed else state
        return Start(k, self.values(x), float(value or 0.0), state, message, edge, missed, lacking)

    def _designed(self, rows: list[tuple[Array, Start]], name: str, reason: str, problem: Problem) -> Designed:
        order = {"found": 0, "stopped": 0, "requirements missed": 1, "failed": 2}
        rows.sort(key=lambda row: (order[row[1].state], row[1].lacking if row[1].missed else 0.0, row[1].value))
        if not rows or rows[0][1].state == "failed":
            why = f" The first: {rows[0][1].message}" if rows else ""
            raise ModelError(f"No start came to a value.{why}", where="design", remedy="Change bounds or start values.")
        x, best = rows[0]
        plain = self._problem(lambda *_: None)._replace(slopes=problem.slopes)
        sensitivities: dict[str, float] = {}
        alike: tuple[str, ...] = ()
        try:
            J = plain.slopes(x) if plain.slopes else differences(lambda y: plain.evaluate(y).residuals, x)
            sensitivities = dict(zip(self.bounds, np.linalg.norm(J, axis=0).tolist(), strict=True))
            alike = self._alike(J) if plain.squares else ()
        except KinetostatError:
            pass
        slopes = "exact" if plain.slopes else "by differences" if name != "differential_evolution" else "none"
        model = self.model
        for parameter, value in best.parameters.items():
            model = edits.change(model, "parameters", parameter, value=value)
        return Designed(tuple(row for _, row in rows), model, name, reason, slopes, sensitivities, alike)

    def _alike(self, J: Array) -> tuple[str, ...]:
        """Variables of the direction in which the residuals do not change."""
        _, sizes, right = np.linalg.svd(J)
        if len(sizes) and sizes[-1] > 1e-8 * sizes[0]:
            return ()
        return tuple(name for name, part in zip(self.bounds, right[-1], strict=True) if abs(part) > 0.1)

    def apply(self, best: Designed | Start) -> Model:
        """The model with the values of a result or of one of its rows: one edit."""
        row = best.best if isinstance(best, Designed) else best
        model = self.model
        for parameter, value in row.parameters.items():
            model = edits.change(model, "parameters", parameter, value=value)
        return model


class NotReached(ModelError):
    """A loop does not close along a sweep; reach (n,) says how far."""

    def __init__(self, what: str, reach: Array) -> None:
        super().__init__(what, where="sweep", remedy="Narrow the bounds or the sweep.")
        self.reach = reach


def _number(value: Any, values: Mapping[str, float]) -> float:
    from core.model.parameters import value_of

    return float(value_of(value, values))
