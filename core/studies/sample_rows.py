"""Computation of the rows of a study on one prepared machine, one after another; a row that fails keeps the reason."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.other_cuts import closing_joint
from core.errors import AssemblyError, KinetostatError, ModelError, SimulationError, suggest_names
from core.files.formats import reload_model
from core.mechanism import Mechanism
from core.model.formula.expression import evaluate, names_in_formula, parse
from core.model.parameters import parameter_values
from core.simulation import simulate
from core.simulation.measures.run_measures import Measures, RunSamples, Signals
from core.simulation.run.channels import Channels
from core.studies.declaration import OPTIONS, Declaration
from core.studies.prepared_runs import PreparedRuns, RunTimeLimitExceeded
from core.studies.row_run import FinalStateMeasures, RowRun

Array = NDArray[np.float64]

DONE, NOT_ASSEMBLED, DIVERGED, LIMIT, NOT_FINITE, REFUSED, LOST = range(7)
WORDS = ("done", "not assembled", "diverged", "limit", "not finite", "refused", "worker lost")
"""Status of a row as text, by number."""
MEASURES = ("manipulability", "smallest_radius", "isotropy")
"""Dexterity measures of a frame's translation: √det(J Jᵀ), smallest singular value σ, ratio of smallest to largest σ.
"""


@dataclass(frozen=True)
class Rows:
    """Computed rows: results (n, columns), NaN for failed rows; status (n,) of `WORDS`; messages by row from 0."""

    results: Array
    status: NDArray[np.int8]
    messages: dict[int, tuple[str, str]]
    """Reason of each failed row: message, component."""


class Column(NamedTuple):
    """Column of recorded numbers; for a curve its values at `time`, s."""

    name: str
    unit: str
    curve: str = ""
    time: float = 0.0


class StudyMachine:
    """Machine of a study, prepared for its rows."""

    def __init__(self, declaration: Declaration) -> None:
        """Prepare the machine. Raises KinetostatError for an invalid declaration."""
        self.declaration = declaration
        self.model = reload_model(declaration.model, declaration.origin)
        self.mech = Mechanism(self.model)
        self.signals = Signals(self.mech)
        self._places = [self._category_of_name(name) for name in declaration.names]
        work: dict[str, Callable[[], Callable[[Array], Rows]]] = {
            "runs": self._prepare_runs,
            "poses": self._prepare_poses,
            "targets": self._prepare_targets,
            "linear systems": self._prepare_linear_systems,
        }
        self.columns: tuple[Column, ...] = ()
        self._rows = work[declaration.kind]()
        self._settled = False

    def rows(self, values: Array) -> Rows:
        """Compute results from values (n, names). One row is computed and discarded first, so that all rows come from
        the same compiled code, none from the interpreter."""
        if not self._settled and len(values):
            self._rows(values[:1])
            self.mech.compiled.compile()
            self._settled = True
        return self._rows(values)

    def _category_of_name(self, name: str) -> tuple[str, str]:
        """Return (category of a varied name: "p", "q0", "v0", "option", "target"; its name)."""
        mech, kind = self.mech, self.declaration.kind
        stem, _, what = name.rpartition(".")
        if kind == "targets" and name in ("x", "y", "z"):
            return "target", name
        if name in mech.p_names:
            return "p", name
        if what in ("q", "v") and stem in (mech.q_names if what == "q" else mech.v_names):
            return f"{what}0", stem
        if name in mech.q_names:
            return "q0", name
        if kind == "runs" and closing_joint(mech.compiled, name):
            return ("v0" if what == "v" else "q0"), name
        if kind == "runs" and name in OPTIONS:
            return "option", name
        known = [*mech.p_names, *(f"{q}.q" for q in mech.q_names), *(f"{v}.v" for v in mech.v_names), *OPTIONS]
        raise ModelError(
            f"There is no quantity '{name}' that can be varied.", where="study", remedy=suggest_names(name, known)
        )

    def _values_by_category(self, values: Array) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {"p": {}, "q0": {}, "v0": {}, "option": {}, "target": {}}
        for (what, name), value in zip(self._places, values, strict=True):
            found[what][name] = float(value)
        return found

    # ------------------------------------------------------------------------------------------ runs

    def _prepare_runs(self) -> Callable[[Array], Rows]:
        declaration = self.declaration
        self._measures = Measures(self.signals, declaration.record)
        columns = [Column(name, each.unit) for name, each in self._measures.table.items()]
        varied = [name for what, name in self._places if what == "p"]
        alone = len(varied) == len(self._places)
        self.prepared = PreparedRuns(self.mech, tuple(varied), declaration.options)
        for name, each in self._measures.table.items():
            if alone and (reason := each.constant_reason(varied)):
                raise ModelError(f"{reason}.", where=f"record '{name}'", remedy="Record or vary something else.")
        if declaration.curves and {name for what, name in self._places if what == "option"} & {"duration"}:
            raise ModelError(
                "Curves need the same duration in all rows.", where="study", remedy="Do not vary the duration."
            )
        self._curves = []
        duration = float(declaration.options.get("duration", 10.0))
        for name, (channel, every) in declaration.curves.items():
            if self.signals.components(channel) != ():
                raise ModelError(
                    f"'{channel}' is not a scalar channel.",
                    where=f"curve '{name}'",
                    remedy=suggest_names(channel, self.signals.all),
                )
            times = np.arange(0.0, duration * (1.0 + 1e-12), every)
            self._curves.append((channel, times))
            unit = self.signals.dimension(channel).unit
            columns += [Column(f"{name}[{k}]", unit, name, float(t)) for k, t in enumerate(times)]
        self.columns = tuple(columns)
        self._ends = FinalStateMeasures(self.mech, self._measures.table)

        def compute_run_rows(values: Array) -> Rows:
            self._ends.begin()
            return self._compute_rows_in_turn(values, self._simulate_row, self._ends.fill_deferred)

        return compute_run_rows

    def _simulate_row(self, values: Array, row: int) -> list[float]:
        given = self._values_by_category(values)
        options = {**self.declaration.options, **given["option"]}
        end = time.perf_counter() + self.declaration.limit
        late = [False]

        def is_time_up() -> bool:
            late[0] = time.perf_counter() > end
            return late[0]

        run: RunSamples | None = None
        if not given["option"]:
            run = self.prepared.run(given["p"], given["q0"], given["v0"], is_time_up)
        if run is None:
            run = simulate(
                self.mech,
                options.pop("duration", 10.0),
                parameters=given["p"] or None,
                q0=given["q0"] or None,
                v0=given["v0"] or None,
                cancelled=is_time_up,
                **options,
            )
            if late[0]:
                raise RunTimeLimitExceeded(float(run.time[-1]))
        if isinstance(run, RowRun):
            found = self._ends.evaluate_row(row, *run.end, self._measures.chosen_values(run, self._ends.others))
        else:
            found = list(self._measures.values(run).values())
        for channel, times in self._curves:
            found += np.interp(times, run.time, run[channel]).tolist()
        return found

    def _rows_by_single_function(self, compute_row: Callable[[Array], list[float]]) -> Callable[[Array], Rows]:
        return lambda values: self._compute_rows_in_turn(values, lambda row, _: compute_row(row))

    def _compute_rows_in_turn(
        self,
        values: Array,
        compute_row: Callable[[Array, int], list[float]],
        fill_deferred: Callable[[Array], None] = lambda _: None,
    ) -> Rows:
        """Compute rows one after another; `fill_deferred` then writes the deferred results."""
        results = np.full((len(values), len(self.columns)), np.nan)
        status = np.zeros(len(values), dtype=np.int8)
        messages: dict[int, tuple[str, str]] = {}
        for k, row in enumerate(values):
            try:
                results[k] = compute_row(row, k)
            except KinetostatError as error:
                status[k], messages[k] = _failure_status(error)
            except RunTimeLimitExceeded as late:
                said = (
                    f"The row was aborted after {self.declaration.limit:g} s of computing time, at t = {late.at:.4g} s."
                )
                status[k], messages[k] = LIMIT, (said, "")
        fill_deferred(results)
        self._reject_nonfinite(results, status, messages)
        return Rows(results, status, messages)

    def _reject_nonfinite(self, results: Array, status: NDArray[np.int8], messages: dict[int, tuple[str, str]]) -> None:
        """Mark rows with non-finite numbers as failed."""
        for k in np.flatnonzero((status == DONE) & ~np.isfinite(results).all(axis=1)).tolist():
            first = self.columns[int(np.argmin(np.isfinite(results[k])))].name
            status[k], messages[k] = NOT_FINITE, (f"'{first}' is not finite.", first)

    # ------------------------------------------------------------------------------------------ poses

    def _prepare_poses(self) -> Callable[[Array], Rows]:
        self._formulas = {name: parse(text) for name, text in self.declaration.record.items()}
        self._of_frames: dict[str, tuple[str, str]] = {}
        for name, node in self._formulas.items():
            for used in names_in_formula(node):
                owner, _, what = used.rpartition(".")
                if owner in self.mech.frame_names and what in MEASURES:
                    self._of_frames[used] = (owner, what)
                elif self.signals.components(used) != () and used not in self.signals.parameters:
                    special = [f"{frame}.{what}" for frame in self.mech.frame_names for what in MEASURES]
                    raise ModelError(
                        f"There is no scalar quantity '{used}' of a pose.",
                        where=f"record '{name}'",
                        remedy=suggest_names(used, [*self.signals.all, *special]),
                    )
        self.columns = tuple(Column(name, self._formula_unit(name)) for name in self._formulas)
        return self._compute_pose_rows

    def _formula_unit(self, formula_name: str) -> str:
        from core.errors import ExpressionError
        from core.model.formula.formula_units import UNKNOWN, formula_dimension

        of_frames = self._of_frames

        def channel_dimension(channel: str) -> Any:
            return UNKNOWN if channel in of_frames else self.signals.dimension(channel)

        try:
            return formula_dimension(self._formulas[formula_name], channel_dimension).unit
        except ExpressionError as error:
            raise error.at(where=f"record '{formula_name}'") from None

    def _compute_pose_rows(self, values: Array) -> Rows:
        """Compute rows of poses: in a batch for open chains, one by one for machines with loops."""
        n, mech = len(values), self.mech
        status, messages = np.zeros(n, dtype=np.int8), dict[int, tuple[str, str]]()
        p = np.tile(mech.parameter_values(), (n, 1))
        q = np.tile(np.asarray(mech.rest()), (n, 1))
        for k, (what, name) in enumerate(self._places):
            if what == "p":
                p[:, mech.p_names.index(name)] = values[:, k]
            elif what == "q0":
                q[:, mech.q_names.index(name)] = values[:, k]
        varied = any(what == "p" for what, _ in self._places)
        if mech.constrained or mech.nq != mech.nv:
            for k in range(n):
                given = self._values_by_category(values[k])
                try:
                    q[k] = mech.move(mech.rest(p[k]), given["q0"], p[k], exact=True)
                except KinetostatError as error:
                    status[k], messages[k] = _failure_status(error)
        good = status == DONE
        results = np.full((n, len(self.columns)), np.nan)
        groups = [np.flatnonzero(good)] if not varied else [np.array([k]) for k in np.flatnonzero(good)]
        for rows in groups:
            if len(rows):
                results[rows] = self._evaluate_formulas(q[rows], p[rows[0]])
        self._reject_nonfinite(results, status, messages)
        return Rows(results, status, messages)

    def _evaluate_formulas(self, q: Array, p: Array) -> Array:
        n, mech = len(q), self.mech
        still = np.zeros((n, mech.nv))
        samples = _PoseSamples(np.zeros(n), q, still, still, still, np.zeros((0, 0)), np.zeros((0, 0)))
        channels = Channels(mech, p, samples)
        known: dict[str, Any] = dict(
            parameter_values(mech.model.expanded.parameters, dict(zip(mech.p_names, p, strict=True)))
        )
        jacobians: dict[str, Array] = {}
        for used, (frame, what) in self._of_frames.items():
            if frame not in jacobians:
                jacobians[frame] = self._singular_values(frame, q, p)
            known[used] = _dexterity_measure(jacobians[frame], what)
        for node in self._formulas.values():
            for used in names_in_formula(node):
                if used not in known:
                    known[used] = np.asarray(channels[used])
        with np.errstate(all="ignore"):
            found = [
                np.broadcast_to(np.asarray(evaluate(node, known), dtype=float), n) for node in self._formulas.values()
            ]
        return np.stack(found, axis=1)

    def _singular_values(self, frame: str, q: Array, p: Array) -> Array:
        """Compute singular values (n, m) of the frame's translational Jacobian, largest first, in the dimensions in
        which the frame moves."""
        from core.analysis.manipulability import manipulability, velocity_dimension

        given = dict(zip(self.mech.p_names, map(float, p), strict=True))
        m = velocity_dimension(self.mech, frame, p=given)
        if not self.mech.constrained:
            J = np.asarray(self.mech.jacobian(q, frame, p=p))[:, 3:]
            return np.asarray(np.linalg.svd(J, compute_uv=False)[:, :m], dtype=float)
        return np.array([manipulability(self.mech, each, frame, p=given, m=m).singular[:m] for each in q])

    # ------------------------------------------------------------------------------------------ targets

    def _prepare_targets(self) -> Callable[[Array], Rows]:
        frame = self.declaration.frame
        if frame not in self.mech.frame_names:
            raise ModelError(
                f"There is no frame '{frame}'.", where="study", remedy=suggest_names(frame, self.mech.frame_names)
            )
        coordinates = [Column(f"{name}.q", self.signals.dimension(name).unit) for name in self.mech.q_names]
        self.columns = (Column("reached", ""), Column("distance", "m"), *coordinates)
        return self._rows_by_single_function(self._solve_target)

    def _solve_target(self, values: Array) -> list[float]:
        from core.analysis.inverse_kinematics import solve_inverse_kinematics

        given = self._values_by_category(values)
        p = self.mech.parameter_values(given["p"] or None)
        rest = self.mech.rest(p)
        now = np.asarray(self.mech.frame(rest, self.declaration.frame, p=p))[:3, 3]
        place = np.array([given["target"].get(axis, now[k]) for k, axis in enumerate("xyz")])
        found = solve_inverse_kinematics(
            self.mech, rest, self.declaration.frame, place, p=dict(zip(self.mech.p_names, map(float, p), strict=True))
        )
        best = min(found, key=lambda reach: reach.position_error)
        return [float(best.is_reached), best.position_error, *map(float, best.q)]

    # ------------------------------------------------------------------------------------------ linear systems

    def _prepare_linear_systems(self) -> Callable[[Array], Rows]:
        poles = len(self._compute_poles(np.array([self._nominal_value(k) for k in range(len(self._places))])))
        parts = [Column(f"pole{k + 1}.{part}", "1/s") for k in range(poles) for part in ("real", "imaginary")]
        self.columns = (Column("stability", "1/s"), *parts)
        return self._rows_by_single_function(self._compute_linear_system_row)

    def _nominal_value(self, column: int) -> float:
        what, name = self._places[column]
        if what == "p":
            return float(self.mech.parameter_values()[self.mech.p_names.index(name)])
        return 0.0 if what == "v0" else float(self.mech.rest()[self.mech.q_names.index(name)])

    def _compute_poles(self, values: Array) -> Array:
        from core.control.linearise import linearise

        given = self._values_by_category(values)
        p = self.mech.parameter_values(given["p"] or None)
        q = self.mech.move(self.mech.rest(p), given["q0"], p, exact=True) if given["q0"] else None
        system: Any = linearise(self.mech, q, p=p)
        poles = np.asarray(np.linalg.eigvals(system.A))
        return np.asarray(poles[np.lexsort((poles.imag, poles.real))])

    def _compute_linear_system_row(self, values: Array) -> list[float]:
        poles = self._compute_poles(values)
        flat = np.stack([poles.real, poles.imag], axis=1).reshape(-1)
        return [float(np.max(poles.real, initial=-math.inf)), *flat.tolist()]


class _PoseSamples(NamedTuple):
    """States of static poses in the form of run samples."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    modes: Array


def _failure_status(error: Exception) -> tuple[int, tuple[str, str]]:
    where = getattr(error, "where", "")
    if isinstance(error, AssemblyError):
        return NOT_ASSEMBLED, (str(error), where)
    status = DIVERGED if isinstance(error, SimulationError) and getattr(error, "run", None) is not None else REFUSED
    return status, (str(error), where)


def _dexterity_measure(singular_values: Array, measure: str) -> Array:
    if measure == "manipulability":
        return np.asarray(np.prod(singular_values, axis=1))
    if measure == "smallest_radius":
        return singular_values[:, -1]
    largest = singular_values[:, 0]
    return np.asarray(np.divide(singular_values[:, -1], largest, out=np.zeros_like(largest), where=largest > 0.0))
