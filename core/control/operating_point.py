"""Operating points (trim): states, inputs and parameters of a machine that fulfil given requirements, or those of
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

from core.apart.talk import Line
from core.constraints import motor_limits
from core.constraints.closed_positions import nearest_closed_position
from core.control.found_point import Found, nearest_point
from core.control.inputs import input_names
from core.control.lineariser import Lineariser, Point, input_points
from core.control.outputs import FORMULA_SIGNS, all_outputs
from core.control.trim_rows import Row, lacks_inputs
from core.control.trim_solver import TrimSolver
from core.errors import KinetostatError, ModelError, near_misses
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.model import Model, Trim, TrimRow
from core.model.parameters import finite_value_of

BESIDE = (0.03, 0.1, 0.3)
"""Joint displacements (rad or m) by which a failed search is restarted from other poses."""


def operating_point_named(model: Model, name: str) -> Trim:
    """Return the document's operating point with this name. Raises ModelError with similar names, or saying that there
    are none."""
    if not model.operating_points:
        raise ModelError(
            f"There is no operating point '{name}': the document has none.",
            remedy="Save one in the panel Operating point, or add a ks.Trim.",
        )
    found: Trim = model.find("operating_points", name)
    return found


def ask(row: Any, asked: TrimRow, values: Any, where: str) -> None:
    """Apply a row of the document's operating point to a row of an `OperatingPoint`. values : of all parameters, by
    name"""

    def number(field: str) -> float | None:
        value = getattr(asked, field)
        place = f"{where}, row '{asked.quantity}', {field}"
        return None if value is None else float(finite_value_of(value, values, place))

    match asked.role:
        case "fixed":
            row.fixed(number("value"))
        case "target":
            row.target(float(number("value") or 0.0), float(number("weight") or 0.0))
        case "steady":
            row.steady()
        case _:
            low, high = number("minimum"), number("maximum")
            row.free(float("-inf") if low is None else low, float("inf") if high is None else high)


__all__ = ["Found", "OperatingPoint", "Row"]


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
        self._start = input_points(self.mech, at, v, tau, p, t)
        self.motors = motors
        self.rows: dict[str, Row] = {}
        self._traced: dict[tuple[tuple[str, ...], ...], Lineariser] = {}
        if name:
            self.ask(operating_point_named(self.mech.model, name))

    def ask(self, point: Trim) -> None:
        """Apply the requirements of an operating point of the document. Raises ModelError naming its row."""
        where = f"operating point '{point.name}'"
        values = self.mech.model.values(dict(zip(self.mech.p_names, map(float, self._start.p), strict=True)))
        for row in point.rows:
            try:
                ask(self[row.quantity], row, values, where)
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

    def __getitem__(self, name: str) -> Row:
        """Return the row of a quantity. Raises ModelError with similar names for an unknown one."""
        if name not in self.rows:
            inputs = input_names(self.mech)
            if name not in inputs:
                self._check_output(name, inputs)
            self.rows[name] = Row(name, name in inputs)
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
            known = (*inputs, *all_outputs(self.mech, self._start.p))
            raise ModelError(
                f"There is no quantity '{name}'.", where="operating point", remedy=near_misses(name, known)
            ) from None
        if len(lineariser.outputs.names) > 1:
            raise ModelError(
                f"'{name}' has several components.",
                where="operating point",
                remedy=f"Name one of them, such as '{lineariser.outputs.names[0]}'.",
            )

    def names(self) -> tuple[str, ...]:
        """Return all quantities that can be rows, except formulas."""
        return (*input_names(self.mech), *all_outputs(self.mech, self._start.p))

    def solve(self, starts: Sequence[ArrayLike] = ()) -> Found:
        """Find the point that fulfils the rows, or the nearest one if there is none (`solved` False).

        starts : further positions (nq,) to begin from: of several solutions the one with the least inputs is given,
        `solutions` has all
        """
        return self.solutions(starts)[0]

    def work(self) -> Callable[[Mechanism, Line], Found]:
        """Return `solve()` as a job for a worker process (`core.mechanism.work_apart`)."""
        return partial(_solve_problem, problem=self)

    def solutions(self, starts: Sequence[ArrayLike] = ()) -> tuple[Found, ...]:
        """Find distinct points from all starts, solved ones first, then by least inputs."""
        points = [self._start, *(self._start._replace(q=np.asarray(q, dtype=float)) for q in starts)]
        found: list[Found] = []
        for point in points:
            own = self._solve_or_nearest(point)
            own = own if own.solved else self._from_nearby_poses(own, point)
            if not own.solved and self.motors:
                own = self._with_weak_motors(own, point)
            same = (np.max(np.abs(self.mech.difference(own.q, other.q)), initial=0.0) < 1e-6 for other in found)
            if not any(same):
                found.append(own)
        effort = [float(np.linalg.norm(list(each.inputs.values()))) for each in found]
        order = sorted(range(len(found)), key=lambda k: (not found[k].solved, effort[k]))
        return tuple(found[k] for k in order)

    def _solve_problem(self, rows: Mapping[str, Row], point: Point) -> Found:
        return TrimSolver(rows, self.mech, self.lineariser, point, self.motors).solve()

    def _solve_or_nearest(self, point: Point, rows: Mapping[str, Row] | None = None) -> Found:
        rows = self.rows if rows is None else rows
        return nearest_point(self._solve_problem(rows, point), rows, point, self._solve_problem)

    def _rows_with_values(self, point: Point) -> dict[str, Row] | None:
        """Return the rows with initial values filled in where none is given; None if one is not a coordinate."""
        rows = dict(self.rows)
        for name, row in self.rows.items():
            if row.of_input or row.value is not None or row.kind not in ("fixed", "target"):
                continue
            if not name.endswith(".q") or name[:-2] not in self.mech.q_names:
                return None
            rows[name] = dataclasses.replace(row, value=float(point.q[self.mech.q_names.index(name[:-2])]))
        return rows

    def _from_nearby_poses(self, found: Found, point: Point) -> Found:
        """Repeat a failed search from slightly displaced poses. At a pose of lost rank (a level pendulum, a stretched
        arm) unknowns have no effect to first order that they have next to it, so that what is reported missing may be
        missing only there."""
        rows = self._rows_with_values(point)
        for q in () if rows is None else self._nearby_poses(point):
            trial = self._solve_or_nearest(point._replace(q=q), rows)
            if trial.solved:
                return trial
            if lacks_inputs(found.message) and not lacks_inputs(trial.message):
                found = trial
        return found

    def _nearby_poses(self, point: Point) -> Iterator[np.ndarray]:
        """Yield an equilibrium found downhill, and closed poses near the initial one."""
        from core.analysis.equilibrium import equilibrium

        with suppress(KinetostatError):  # what falls freely has none
            yield equilibrium(self.mech, point.q, point.p, point.t, tau=point.tau).q
        rng = np.random.default_rng(7)
        for size in BESIDE:
            step = size * rng.uniform(0.5, 1.0, self.mech.nv) * rng.choice([-1.0, 1.0], self.mech.nv)
            q = self.mech.clamp(self.mech.integrate(point.q, step))
            closed = nearest_closed_position(self.mech.compiled, q, point.p, point.t, start=point.q)
            if closed is not None:
                yield closed

    def _with_weak_motors(self, found: Found, point: Point) -> Found:
        """Add to the message of a failed search the motors that are too weak, if unlimited ones would solve it."""
        strong = TrimSolver(self.rows, self.mech, self.lineariser, point, motors=False).solve()
        words = (
            motor_limits.effort_limit_text(strong.mech.compiled, strong.tau, strong.parameters) if strong.solved else ""
        )
        return dataclasses.replace(found, message=f"{words} {found.message}") if words else found


def _solve_problem(mech: Mechanism, line: Line, problem: OperatingPoint) -> Found:
    return problem.solve()
