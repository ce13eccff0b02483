"""Operating points (trim): states, inputs and parameters of a machine that fulfil requirements, given in a script or in
the document.

A row is a quantity by name: fixed, free or a target. Unknown are the independent displacements s and speeds u, states
of force elements, free inputs and parameters; equations are

    u̇ = wanted (default 0),  u = wanted (default 0),  ẋ = 0,  fixed rows        hold,
    targets                                                                      weighted least squares.

Newton's method (`core.control.trim_solver`) on the manifold of closed poses: the blocks are A, B, C, D of the linear
system there (`core.control.lineariser`), loops are closed again after each step. Where less is asked than there are
unknowns the step is the least in units of the machine; where targets compete, they share by their weights; bounds that
would be passed (also motors' limits of effort) act as fixed values of that step (active set; Nocedal and Wright,
Numerical Optimization, 16.5).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from core.apart.talk import TaskConnection
from core.constraints import motor_limits
from core.constraints.closed_positions import find_nearest_closed_position
from core.control.found_point import OperatingPointResult, find_nearest_point
from core.control.inputs import input_names
from core.control.lineariser import Lineariser, StatePoint, point_from_arguments
from core.control.outputs import FORMULA_SIGNS, list_outputs
from core.control.trim_rows import TrimRequirement, says_inputs_are_lacking
from core.control.trim_solver import TrimSolver
from core.errors import KinetostatError, ModelError, suggest_names
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.model import Model, Trim, TrimRow
from core.model.parameters import evaluate_finite_field

BESIDE = (0.03, 0.1, 0.3)
"""Joint displacements (rad or m) of the nearby poses from which a failed search is repeated."""


def find_operating_point(model: Model, name: str) -> Trim:
    """Return the document's operating point with this name. Raises ModelError that suggests similar names, or says that
    there are none."""
    if not model.operating_points:
        raise ModelError(
            f"There is no operating point '{name}': the document has none.",
            remedy="Save one in the panel Operating point, or add a ks.Trim.",
        )
    found: Trim = model.find("operating_points", name)
    return found


def apply_requirement(row: Any, requirement: TrimRow, values: Any, where: str) -> None:
    """Apply a requirement of the document's operating point to a quantity of an `OperatingPoint`. values : of all
    parameters, by name"""

    def field_value(field: str) -> float | None:
        value = getattr(requirement, field)
        place = f"{where}, row '{requirement.quantity}', {field}"
        return None if value is None else float(evaluate_finite_field(value, values, place))

    match requirement.role:
        case "fixed":
            row.fixed(field_value("value"))
        case "target":
            row.target(float(field_value("value") or 0.0), float(field_value("weight") or 0.0))
        case "steady":
            row.steady()
        case _:
            low, high = field_value("minimum"), field_value("maximum")
            row.free(float("-inf") if low is None else low, float("inf") if high is None else high)


__all__ = ["OperatingPoint", "OperatingPointResult", "TrimRequirement"]


class OperatingPoint:
    """Trim problem: requirements by name, `op["crank.q"].fixed(0.5)`, and `solve()`.

    Names are signals: joint.q, joint.v, joint.a; inputs (joint.tau, force.input, parameters, gravity.x, frame.force.x
    …); any other channel, or a formula of channels. What is not named: positions are free, speeds and accelerations of
    independent coordinates zero, inputs and parameters as they are.
    """

    def __repr__(self) -> str:
        return f"OperatingPoint({self.mech.model.name!r})"

    def __init__(
        self,
        model: Model | Mechanism,
        at: ArrayLike | str | None = None,
        *,
        name: str = "",
        v: Any = None,
        tau: Any = None,
        p: Values = None,
        t: float = 0.0,
        motors: bool = True,
    ) -> None:
        """Start the problem. at : (nq,) initial pose, default the home configuration, or the name of an operating point
        of the document

        name : the same; its rows are asked; v, tau : (nv,) or by name; p : parameters; t : s; motors : they give no
        more than their limits of effort, and do not drive beyond those of speed; False: joints get any force. Raises
        ModelError.
        """
        at, name = (None, at) if isinstance(at, str) else (at, name)
        self.mech = model if isinstance(model, Mechanism) else Mechanism(model)
        self._start = point_from_arguments(self.mech, at, v, tau, p, t)
        self.mech = self._start.mech
        self.motors = motors
        self.rows: dict[str, TrimRequirement] = {}
        self._traced: dict[tuple[tuple[str, ...], ...], Lineariser] = {}
        if name:
            self.ask(find_operating_point(self.mech.model, name))

    def ask(self, point: Trim) -> None:
        """Apply the requirements of an operating point of the document. Raises ModelError naming its row."""
        where = f"operating point '{point.name}'"
        values = self.mech.model.values(dict(zip(self.mech.p_names, map(float, self._start.p), strict=True)))
        for row in point.rows:
            try:
                apply_requirement(self[row.quantity], row, values, where)
            except KinetostatError as error:
                if not error.where.startswith(where):
                    error.where = f"{where}, row '{row.quantity}'"
                raise error

    def __getstate__(self) -> dict[str, Any]:
        """Drop the cached linearisers, which copies build again."""
        return {**self.__dict__, "_traced": {}}

    def lineariser(self, inputs: Sequence[str], outputs: Sequence[str]) -> Lineariser:
        """Return the lineariser with these inputs and outputs; cached."""
        key = tuple(inputs), tuple(outputs)
        if key not in self._traced:
            self._traced[key] = Lineariser(self.mech, *key, self._start.p, friction=False, motors=False)
        return self._traced[key]

    def __getitem__(self, name: str) -> TrimRequirement:
        """Return the requirement on a quantity. Raises ModelError that suggests similar names for an unknown one."""
        if name not in self.rows:
            inputs = input_names(self.mech)
            if name not in inputs:
                self._check_output(name, inputs)
            self.rows[name] = TrimRequirement(name, name in inputs)
        return self.rows[name]

    def _check_output(self, name: str, inputs: Sequence[str]) -> None:
        """Check that an output exists and has one component. Raises ModelError."""
        try:
            lineariser = Lineariser(self.mech, (), (name,), self._start.p)
        except KinetostatError as error:
            if "There is no" not in str(error):
                raise
            if set(name) & FORMULA_SIGNS:  # a formula: which of its names it is has been said
                raise ModelError(error.what, where="operating point", remedy=error.remedy) from None
            known = (*inputs, *list_outputs(self.mech, self._start.p))
            raise ModelError(
                f"There is no quantity '{name}'.", where="operating point", remedy=suggest_names(name, known)
            ) from None
        if len(lineariser.outputs.names) > 1:
            raise ModelError(
                f"'{name}' has several components.",
                where="operating point",
                remedy=f"Name one of them, such as '{lineariser.outputs.names[0]}'.",
            )

    def names(self) -> tuple[str, ...]:
        """Return all quantities that can have requirements, except formulas."""
        return (*input_names(self.mech), *list_outputs(self.mech, self._start.p))

    def solve(self, starts: Sequence[ArrayLike] = ()) -> OperatingPointResult:
        """Find the point that fulfils the requirements, or the nearest one if there is none (`solved` False).

        starts : further positions (nq,) to begin from: of several solutions the one with the least inputs is given,
        `solutions` has all
        """
        return self.solutions(starts)[0]

    def work(self) -> Callable[[Mechanism, TaskConnection], OperatingPointResult]:
        """Return `solve()` as a job for a worker process (`core.mechanism.work_apart`)."""
        return partial(_solve_in_worker, problem=self)

    def solutions(self, starts: Sequence[ArrayLike] = ()) -> tuple[OperatingPointResult, ...]:
        """Find distinct points from all starts: solved ones first, then those with the smallest inputs."""
        points = [self._start, *(self._start._replace(q=np.asarray(q, dtype=float)) for q in starts)]
        found: list[OperatingPointResult] = []
        for point in points:
            own = self._solve_or_nearest(point)
            own = own if own.solved else self._retry_from_nearby_poses(own, point)
            if not own.solved and self.motors:
                own = self._name_weak_motors(own, point)
            same = (np.max(np.abs(self.mech.difference(own.q, other.q)), initial=0.0) < 1e-6 for other in found)
            if not any(same):
                found.append(own)
        effort = [float(np.linalg.norm(list(each.inputs.values()))) for each in found]
        order = sorted(range(len(found)), key=lambda k: (not found[k].solved, effort[k]))
        return tuple(found[k] for k in order)

    def _solve_from_point(self, rows: Mapping[str, TrimRequirement], point: StatePoint) -> OperatingPointResult:
        return TrimSolver(rows, self.mech, self.lineariser, point, self.motors).solve()

    def _solve_or_nearest(
        self, point: StatePoint, rows: Mapping[str, TrimRequirement] | None = None
    ) -> OperatingPointResult:
        rows = self.rows if rows is None else rows
        return find_nearest_point(self._solve_from_point(rows, point), rows, point, self._solve_from_point)

    def _rows_with_values(self, point: StatePoint) -> dict[str, TrimRequirement] | None:
        """Return the requirements with initial values filled in where none is given; None if one is not on a
        coordinate."""
        rows = dict(self.rows)
        for name, row in self.rows.items():
            if row.of_input or row.value is not None or row.kind not in ("fixed", "target"):
                continue
            if not name.endswith(".q") or name[:-2] not in self.mech.q_names:
                return None
            rows[name] = dataclasses.replace(row, value=float(point.q[self.mech.q_names.index(name[:-2])]))
        return rows

    def _retry_from_nearby_poses(self, failed_result: OperatingPointResult, point: StatePoint) -> OperatingPointResult:
        """Repeat a failed search from slightly displaced poses. At a pose where the equations lose rank (a level
        pendulum, a stretched arm) some unknowns have no effect to first order, although they have one at nearby poses,
        so that a force reported as missing may be missing only there."""
        rows = self._rows_with_values(point)
        for q in () if rows is None else self._nearby_poses(point):
            trial = self._solve_or_nearest(point._replace(q=q), rows)
            if trial.solved:
                return trial
            if says_inputs_are_lacking(failed_result.message) and not says_inputs_are_lacking(trial.message):
                failed_result = trial
        return failed_result

    def _nearby_poses(self, point: StatePoint) -> Iterator[np.ndarray]:
        """Yield an equilibrium found by descent, and closed poses near the initial one."""
        from core.analysis.equilibrium import equilibrium

        with suppress(KinetostatError):  # what falls freely has none
            yield equilibrium(self.mech, point.q, point.p, point.t, tau=point.tau).q
        rng = np.random.default_rng(7)
        for size in BESIDE:
            step = size * rng.uniform(0.5, 1.0, self.mech.nv) * rng.choice([-1.0, 1.0], self.mech.nv)
            q = self.mech.clamp(self.mech.integrate(point.q, step))
            closed = find_nearest_closed_position(self.mech.compiled, q, point.p, point.t, start=point.q)
            if closed is not None:
                yield closed

    def _name_weak_motors(self, failed_result: OperatingPointResult, point: StatePoint) -> OperatingPointResult:
        """Name the motors that are too weak in the message of a failed search, if it would succeed with unlimited
        motors."""
        strong = TrimSolver(self.rows, self.mech, self.lineariser, point, motors=False).solve()
        words = (
            motor_limits.effort_limit_text(strong.mech.compiled, strong.tau, strong.parameters) if strong.solved else ""
        )
        return (
            dataclasses.replace(failed_result, message=f"{words} {failed_result.message}") if words else failed_result
        )


def _solve_in_worker(mech: Mechanism, line: TaskConnection, problem: OperatingPoint) -> OperatingPointResult:
    return problem.solve()
