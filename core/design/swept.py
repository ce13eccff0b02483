"""Sweep of a machine's point along one coordinate by analytic loop closure: values and exact derivatives.

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
from core.codegen.graph_symbols import as_symbol, column
from core.codegen.machine_code import MachineCode
from core.constraints.closed_forms.closed_forms import ClosedForms, closed_forms_of
from core.errors import ModelError, near_misses
from core.mechanics.kinematic_state import KinematicState
from core.mechanics.tree import Runner
from core.mechanism import Mechanism
from core.model import Driver
from core.model.aims import PLANES
from core.model.edits import edits
from core.numerics.spatial.scalar import Scalar, total

Array = NDArray[np.float64]


class Poses(NamedTuple):
    """Result of a sweep: point (n, 2) m; angle (n, 2) cosine and sine of the frame's rotation in the plane; reach (n,),
    negative if a dyad does not close; q (n, nq) closed."""

    point: Array
    angle: Array
    reach: Array
    q: Array


class Slopes(NamedTuple):
    """Derivatives along a sweep: point (n, 2), reach (n,), and their derivatives by the driven coordinate and the
    variables: (n, 1 + k, 3), the last axis x, y, reach."""

    point: Array
    reach: Array
    slopes: Array


class SweptPoint:
    """Origin of a frame, seen in a plane of the world, as a function of one driven coordinate.

    driven : a joint of one coordinate from which all others follow by closed forms
    variables : parameters by which slopes are given
    Raises ModelError where there are no such forms.
    """

    def __init__(
        self, mech: Mechanism, driven: str, frame: str, variables: Sequence[str] = (), plane: str = "xy"
    ) -> None:
        if plane not in PLANES:
            raise ModelError(f"'{plane}' is not a plane.", where="plane", remedy="Use xy, xz or yz.")
        self.frame, self.axes = mech.compiled.checked_frame_name(frame), PLANES[plane]
        if driven not in mech.q_names:
            raise ModelError(
                f"There is no coordinate '{driven}'.", where="driven", remedy=near_misses(driven, mech.q_names)
            )
        unknown = next((name for name in variables if name not in mech.p_names), None)
        if unknown is not None:
            raise ModelError(
                f"There is no parameter '{unknown}'.", where="vary", remedy=near_misses(unknown, mech.p_names)
            )
        self.driven = mech.q_names.index(driven)
        self.variables = tuple(mech.p_names.index(name) for name in variables)
        found = explicit_forms(mech, driven)
        if found is None:
            raise ModelError(
                f"The loops cannot be closed analytically from '{driven}'.",
                where="driven",
                remedy="Drive the coordinate listed as independent in the solution order.",
            )
        self.mech, self._forms = found

    @cached_property
    def _values(self) -> MachineCode | BlockCode:
        return self._compiled_code(lambda closed: closed)

    @cached_property
    def _points(self) -> MachineCode | BlockCode:
        return self._compiled_code(lambda closed: closed[:5])

    @cached_property
    def _slopes(self) -> MachineCode | BlockCode:
        def traced(inputs: dict[str, list[Any]], run: Runner) -> list[Scalar]:
            found = self._traced_outputs(inputs, run)
            y = column([found[0], found[1], found[4]])
            by = column([inputs["q"][self.driven], *(self._symbolic.p[k] for k in self.variables)])
            flat = ca.densify(ca.vec(ca.jacobian(y, by)))
            return [*found[:2], found[4], *ca.vertsplit(flat)]

        return self._forms.compiled_of_guess(traced)

    @property
    def _symbolic(self) -> Any:
        return self.mech.compiled.program.symbolic

    def _compiled_code(self, chosen: Any) -> MachineCode | BlockCode:
        return self._forms.compiled_of_guess(lambda inputs, run: chosen(self._traced_outputs(inputs, run)))

    def _traced_outputs(self, inputs: dict[str, list[Any]], run: Runner) -> list[Scalar]:
        """Return x, y, cosine, sine, reach, q as symbolic functions of the inputs."""
        closed = self._forms.positions_of(inputs["q"], run)
        pose = KinematicState(self._symbolic.tree, closed.q).frame(self._symbolic.machine.frames[self.frame])
        i, j = self.axes
        matrix = pose.rotation
        reach: Any = 1.0
        for each in closed.reaches:
            reach = ca.fmin(as_symbol(reach), as_symbol(each))
        turn = (matrix[i][i], matrix[j][i])
        return [pose.position[i], pose.position[j], *turn, total((reach,)), *closed.q]

    # ---------------------------------------------------------------------------------------------- evaluation

    def guesses(self, theta: Array, guess: Array) -> Array:
        """Return (n, nq) guesses with the driven coordinate at theta (n,)."""
        q = np.array(np.broadcast_to(guess, (len(theta), self.mech.nq)), dtype=float)
        q[:, self.driven] = theta
        return q

    def points(self, q: Array, p: Array) -> Array:
        """Compute (n, 5) x, y, cosine, sine, reach at guesses q (n, nq), parameters p (n_p,) or (n, n_p), without the
        closed poses."""
        out = np.empty((len(q), 5))
        self._points.batch([np.ascontiguousarray(q)], np.ascontiguousarray(p), out)
        return out

    def poses(self, q: Array, p: Array) -> Poses:
        """Compute closed poses near guesses q (n, nq)."""
        out = np.empty((len(q), 5 + self.mech.nq))
        self._values.batch([np.ascontiguousarray(q)], np.ascontiguousarray(p), out)
        return Poses(out[:, :2], out[:, 2:4], out[:, 4], out[:, 5:])

    def slopes(self, q: Array, p: Array) -> Slopes:
        """Compute points with exact derivatives, at guesses q (n, nq)."""
        width = 3 * (1 + len(self.variables))
        out = np.empty((len(q), 3 + width))
        self._slopes.batch([np.ascontiguousarray(q)], np.ascontiguousarray(p), out)
        return Slopes(out[:, :2], out[:, 2], out[:, 3:].reshape(len(q), -1, 3))

    def carried(self, theta: Array, start: Array, p: Array) -> Poses:
        """Follow m machines along theta (m, k) or (k,), each from its start (m, nq): point (m, k, 2), angle (m, k, 2),
        reach (m, k), q (m, k, nq). p : (n_p,) or (m, n_p)."""
        m, k = len(start), np.shape(theta)[-1]
        angles = np.broadcast_to(theta, (m, k))
        result = Poses(np.empty((m, k, 2)), np.empty((m, k, 2)), np.empty((m, k)), np.empty((m, k, self.mech.nq)))
        q = start
        for i in range(k):
            at = self.poses(self.guesses(angles[:, i], q), p)
            for whole, part in zip(result, at, strict=True):
                whole[:, i] = part
            q = at.q
        return result


def explicit_forms(mech: Mechanism, driven: str) -> tuple[Mechanism, ClosedForms] | None:
    """Find analytic loop closure of the whole machine from one coordinate, and the machine that has it: itself, or with
    a driver of that coordinate, which then is the first independent one; None if there is none."""
    if driven not in mech.v_names:
        return None
    found = _closed_forms_from(mech, driven)
    if found is not None or mech.model.find("joints", driven) is None:
        return None if found is None else (mech, found)
    name = edits.unused_name(mech.model, "drivers", "swept")
    other = Mechanism(edits.add(mech.model, Driver(name=name, joint=driven, function="0")))
    found = _closed_forms_from(other, driven) if other.q_names == mech.q_names else None
    return None if found is None else (other, found)


def _closed_forms_from(mech: Mechanism, driven: str) -> ClosedForms | None:
    forms = closed_forms_of(mech.compiled.program)
    v = mech.v_names.index(driven)
    if not forms.found or [speed.v for speed in forms.independent] != [v]:
        return None
    rows = [mech.compiled.rows[k] for k in forms.rows_left_to_iteration]
    own = {driver.name for driver in mech.model.expanded.drivers if driver.joint == driven}
    return forms if all(row.collection == "drivers" and row.element in own for row in rows) else None
