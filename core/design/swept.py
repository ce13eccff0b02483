"""Sweep of a machine's point along one coordinate with analytic loop closure: values and exact derivatives.

The closed pose is an explicit formula of the driven coordinate and the parameters, so that its derivatives hold the
part by which parameters move the manifold (P δp). A guess chooses the branch; it is carried from pose to pose.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.block_code import BlockCode
from core.codegen.graph_symbols import build_column, to_symbol
from core.codegen.machine_code import MachineCode
from core.constraints.closed_forms.closed_forms import AnalyticClosure, get_analytic_closure
from core.errors import ModelError, suggest_names
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Runner
from core.mechanism import Mechanism
from core.model import Driver
from core.model.aims import PLANES
from core.model.edits import edits
from core.numerics.spatial.scalar import Scalar, total

Array = NDArray[np.float64]


class SweptPoses(NamedTuple):
    """Result of a sweep: point (n, 2) m; angle (n, 2) cosine and sine of the frame's rotation in the plane; reach (n,),
    negative if a dyad does not close; q (n, nq) closed."""

    point: Array
    angle: Array
    reach: Array
    q: Array


class SweptSlopes(NamedTuple):
    """Derivatives along a sweep: point (n, 2), reach (n,), and their derivatives with respect to the driven coordinate
    and the variables: (n, 1 + k, 3), the last axis x, y, reach."""

    point: Array
    reach: Array
    slopes: Array


class SweptPoint:
    """Origin of a frame, projected on a plane of the world, as a function of one driven coordinate.

    driven : a joint of one coordinate from which all others follow by closed forms
    variables : parameters by which slopes are given
    Raises ModelError where there are no such forms.
    """

    def __init__(
        self, mech: Mechanism, driven: str, frame: str, variables: Sequence[str] = (), plane: str = "xy"
    ) -> None:
        if plane not in PLANES:
            raise ModelError(f"'{plane}' is not a plane.", where="plane", remedy="Use xy, xz or yz.")
        self.frame, self.axes = mech.compiled.check_frame_name(frame), PLANES[plane]
        if driven not in mech.q_names:
            raise ModelError(
                f"There is no coordinate '{driven}'.", where="driven", remedy=suggest_names(driven, mech.q_names)
            )
        unknown = next((name for name in variables if name not in mech.p_names), None)
        if unknown is not None:
            raise ModelError(
                f"There is no parameter '{unknown}'.", where="vary", remedy=suggest_names(unknown, mech.p_names)
            )
        self.driven = mech.q_names.index(driven)
        self.variables = tuple(mech.p_names.index(name) for name in variables)
        found = find_closure_from_coordinate(mech, driven)
        if found is None:
            raise ModelError(
                f"The loops cannot be closed analytically from '{driven}'.",
                where="driven",
                remedy="Drive the coordinate listed as independent in the solution order.",
            )
        self.mech, self._forms = found

    @cached_property
    def _pose_code(self) -> MachineCode | BlockCode:
        return self._compile_code(lambda closed: closed)

    @cached_property
    def _point_code(self) -> MachineCode | BlockCode:
        return self._compile_code(lambda closed: closed[:5])

    @cached_property
    def _slope_code(self) -> MachineCode | BlockCode:
        def symbolic_outputs(inputs: dict[str, list[Any]], run: Runner) -> list[Scalar]:
            found = self._symbolic_outputs(inputs, run)
            y = build_column([found[0], found[1], found[4]])
            by = build_column([inputs["q"][self.driven], *(self._symbolic.p[k] for k in self.variables)])
            flat = ca.densify(ca.vec(ca.jacobian(y, by)))
            return [*found[:2], found[4], *ca.vertsplit(flat)]

        return self._forms.compile_guess_function(symbolic_outputs)

    @property
    def _symbolic(self) -> Any:
        return self.mech.compiled.program.symbolic

    def _compile_code(self, select_outputs: Any) -> MachineCode | BlockCode:
        return self._forms.compile_guess_function(
            lambda inputs, run: select_outputs(self._symbolic_outputs(inputs, run))
        )

    def _symbolic_outputs(self, inputs: dict[str, list[Any]], run: Runner) -> list[Scalar]:
        """Return x, y, cosine, sine, reach, q as symbolic functions of the inputs."""
        closed = self._forms.closed_position_expressions(inputs["q"], run)
        pose = KinematicState(self._symbolic.tree, closed.q).frame(self._symbolic.machine.frames[self.frame])
        i, j = self.axes
        matrix = pose.rotation
        reach: Any = 1.0
        for each in closed.reaches:
            reach = ca.fmin(to_symbol(reach), to_symbol(each))
        turn = (matrix[i][i], matrix[j][i])
        return [pose.position[i], pose.position[j], *turn, total((reach,)), *closed.q]

    # ---------------------------------------------------------------------------------------------- evaluation

    def guesses_at_angles(self, theta: Array, guess: Array) -> Array:
        """Return (n, nq) guesses with the driven coordinate at theta (n,)."""
        q = np.array(np.broadcast_to(guess, (len(theta), self.mech.nq)), dtype=float)
        q[:, self.driven] = theta
        return q

    def points(self, q: Array, p: Array) -> Array:
        """Compute (n, 5) x, y, cosine, sine, reach from guesses q (n, nq), with parameters p (n_p,) or (n, n_p); the
        closed poses are not returned."""
        out = np.empty((len(q), 5))
        self._point_code.evaluate_batch([np.ascontiguousarray(q)], np.ascontiguousarray(p), out)
        return out

    def poses(self, q: Array, p: Array) -> SweptPoses:
        """Compute closed poses near guesses q (n, nq)."""
        out = np.empty((len(q), 5 + self.mech.nq))
        self._pose_code.evaluate_batch([np.ascontiguousarray(q)], np.ascontiguousarray(p), out)
        return SweptPoses(out[:, :2], out[:, 2:4], out[:, 4], out[:, 5:])

    def compute_slopes(self, q: Array, p: Array) -> SweptSlopes:
        """Compute points with exact derivatives, from guesses q (n, nq)."""
        width = 3 * (1 + len(self.variables))
        out = np.empty((len(q), 3 + width))
        self._slope_code.evaluate_batch([np.ascontiguousarray(q)], np.ascontiguousarray(p), out)
        return SweptSlopes(out[:, :2], out[:, 2], out[:, 3:].reshape(len(q), -1, 3))

    def follow_along(self, theta: Array, start: Array, p: Array) -> SweptPoses:
        """Follow m machines along theta (m, k) or (k,), each from its start (m, nq): point (m, k, 2), angle (m, k, 2),
        reach (m, k), q (m, k, nq). p : (n_p,) or (m, n_p)."""
        m, k = len(start), np.shape(theta)[-1]
        angles = np.broadcast_to(theta, (m, k))
        result = SweptPoses(np.empty((m, k, 2)), np.empty((m, k, 2)), np.empty((m, k)), np.empty((m, k, self.mech.nq)))
        q = start
        for i in range(k):
            at = self.poses(self.guesses_at_angles(angles[:, i], q), p)
            for whole, part in zip(result, at, strict=True):
                whole[:, i] = part
            q = at.q
        return result


def find_closure_from_coordinate(mech: Mechanism, driven: str) -> tuple[Mechanism, AnalyticClosure] | None:
    """Find an analytic loop closure of the whole machine from one coordinate. Returns it with the machine that has it
    (the given one, or one with a driver of that coordinate, which then is the first independent one); None if there is
    none."""
    if driven not in mech.v_names:
        return None
    found = _analytic_closure_from(mech, driven)
    if found is not None or mech.model.find("joints", driven) is None:
        return None if found is None else (mech, found)
    name = edits.unused_name(mech.model, "drivers", "swept")
    other = Mechanism(edits.add(mech.model, Driver(name=name, joint=driven, function="0")))
    found = _analytic_closure_from(other, driven) if other.q_names == mech.q_names else None
    return None if found is None else (other, found)


def _analytic_closure_from(mech: Mechanism, driven: str) -> AnalyticClosure | None:
    forms = get_analytic_closure(mech.compiled.program)
    v = mech.v_names.index(driven)
    if not forms.has_solutions or [speed.v for speed in forms.independent_speeds] != [v]:
        return None
    rows = [mech.compiled.rows[k] for k in forms.rows_left_to_iteration]
    own = {driver.name for driver in mech.model.expanded.drivers if driver.joint == driven}
    return forms if all(row.collection == "drivers" and row.element in own for row in rows) else None
