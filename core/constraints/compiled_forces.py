"""Friction and stop forces in machine code (`core.constraints.resting_forces`) for arrays of states, and for single
calls of machines without loops, forces of their own kind, or dependence on time.

The model's own parameter values apply. Friction by formulas or by reactions, and machines so long that their mass
matrix is not at hand, are left to `core.constraints.row_forces`, and so are states that machine code refuses.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.codegen.machine_code import MachineCode
from core.codegen.single_state import FREE, Guard, Path
from core.constraints.acting_states import default_joint_row_table
from core.constraints.chained_call import build_chained_call
from core.constraints.elastic_stops import stop_dissipation
from core.constraints.joint_modes import NOWHERE, JointRowTable, reference_angle, stiffness_per_inertia
from core.constraints.joint_rows import cut_row_index
from core.constraints.resting_forces import RestingRows, States, acting_forces_entry, resisting_forces_entry
from core.machine_code.entry import Entry
from core.machine_code.records import array_address
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]

LONGEST = 60
"""Number of speeds above which states are solved without the mass matrix."""
CHUNK = 1_000_000
"""Numbers of matrices that are in memory at a time."""
CALLS = 1000
"""Number of single calls after which better machine code is looked for."""
_SAME_NAMES = (
    *("at_q", "ratio", "offset", "shares", "turns", "stribeck", "lower", "upper", "rigid", "hunt_crossley"),
    *("kinetic", "static", "backward_kinetic", "backward_static", "stiffness", "damping_ratio"),
)
"""Fields that `JointRow` and `RestingRows` have in common."""
_STATE_ARRAYS = (
    *("q", "v", "given", "mass", "bias", "jacobian", "drift"),
    *("cut_values", "cut_entries", "cut_drift"),
)
"""Fields of `States` in the order of the arrays that are passed."""


def _build_rows(compiled: CompiledModel, modes: JointRowTable) -> RestingRows:
    """Return the rows of a machine as numbers."""
    rows, symbolic = modes.rows, compiled.program.symbolic
    pattern = symbolic.cut_expressions.pattern if symbolic.cut_coordinates else None
    cuts = [NOWHERE if row.at_v != NOWHERE else cut_row_index(compiled, row) for row in rows]
    places = [
        np.array([row.at_v]) if cut == NOWHERE or pattern is None else pattern.columns[pattern.rows == cut]
        for row, cut in zip(rows, cuts, strict=True)
    ]
    entries = [np.full(len(each), row.ratio) for row, each in zip(rows, places, strict=True)]
    first = [0 if cut == NOWHERE or pattern is None else int(np.argmax(pattern.rows == cut)) for cut in cuts]
    numbers: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in _SAME_NAMES}
    return RestingRows(
        count=len(rows),
        nq=compiled.nq,
        nv=compiled.nv,
        constraints=len(compiled.rows),
        cuts=len(symbolic.cut_coordinates),
        cut_entries=0 if pattern is None else len(pattern.rows),
        own=modes.tree_row_count,
        begins=np.cumsum([0, *map(len, places)]),
        columns=np.concatenate(places),
        W=np.concatenate(entries),
        first=np.array(first),
        cut=np.array(cuts),
        reference=np.array([reference_angle(row) for row in rows]),
        rubs=np.array([row.has_friction_now for row in rows]),
        per_inertia=np.array([stiffness_per_inertia(row, modes.size) for row in rows]),
        damping=np.array([stop_dissipation(row, modes.size) for row in rows]),
        **numbers,
    )


class CompiledRowForces:
    """Friction and stop forces of a machine in machine code."""

    def __init__(self, compiled: CompiledModel, modes: JointRowTable) -> None:
        self.rows = _build_rows(compiled, modes)
        self._size = compiled.nv * (compiled.nv + len(compiled.rows)) + 1

    def acting(
        self, compiled: CompiledModel, q: Array, v: Array, tau: Array, t: Array, x: Array | None
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return the forces (n, nv + cuts) of `row_forces.acting_forces` at states (n, …), and a mask (n,) of the
        states that are refused."""
        return self._evaluate(acting_forces_entry, compiled, q, v, tau, t, x)

    def resisting(
        self, compiled: CompiledModel, q: Array, v: Array, a: Array, t: Array, x: Array | None
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return those of `row_forces.resisting_forces` in motions (n, …)."""
        return self._evaluate(resisting_forces_entry, compiled, q, v, a, t, x)

    def _evaluate(
        self, entry: Entry, compiled: CompiledModel, q: Array, v: Array, third: Array, t: Array, x: Array | None
    ) -> tuple[Array, NDArray[np.bool_]]:
        out = np.empty((len(q), self.rows.nv + self.rows.cuts))
        refused, step = 0, max(1, CHUNK // self._size)
        for k in range(0, len(q), step):
            part = slice(k, k + step)
            own = None if x is None else x[part]
            arrays = [np.ascontiguousarray(each[part]) for each in (q, v, third)]
            arrays += self._matrices(entry, compiled, arrays[0], arrays[1], t[part], own)
            states = States(
                **{
                    name: array_address(each)
                    for name, each in zip(
                        (
                            "q",
                            "v",
                            "given",
                            "mass",
                            "bias",
                            "jacobian",
                            "drift",
                            "cut_values",
                            "cut_entries",
                            "cut_drift",
                        ),
                        arrays,
                        strict=True,
                    )
                },
                out=array_address(out[part]),
            )
            refused += entry(self.rows.place, states.place, len(arrays[0]))
        return out, np.asarray(np.isnan(out).any(axis=1) if refused else np.zeros(len(q), dtype=np.bool_))

    def _matrices(
        self, entry: Entry, compiled: CompiledModel, q: Array, v: Array, t: Array, x: Array | None
    ) -> list[Array]:
        """Return M, h, G, Ġ v − f̈ and what belongs to loop-closing joints, at states (n, …)."""
        none = np.zeros(0)
        moves = entry is acting_forces_entry
        held = self.rows.constraints > 0
        cut = self.rows.own < self.rows.count
        found = [
            compiled.mass_matrix(q),
            compiled.call("bias_smooth", q, v, t=t, x=x) if moves else none,
            compiled.call("constraint_jacobian", q) if held else none,
            compiled.call("constraint_bias", q, v, t=t) if held else none,
            compiled.call("cut_values", q) if cut else none,
            compiled.call("cut_entries", q) if cut else none,
            compiled.call("cut_drift", q, v) if cut and moves else none,
        ]
        return [np.ascontiguousarray(each) for each in found]


@cache_per_model
def compiled_row_forces(compiled: CompiledModel) -> CompiledRowForces | None:
    """Return friction and stop forces at the model's own parameter values in machine code; None where it has none."""
    modes, symbolic = default_joint_row_table(compiled), compiled.program.symbolic
    if not modes.rows or modes.has_friction_formulas or modes.rows_with_bearing_friction:
        return None
    if compiled.is_sparse or symbolic.segments is not None or compiled.nv > LONGEST or symbolic.is_long:
        return None
    return CompiledRowForces(compiled, modes)


class SingleCall:
    """Forward or inverse dynamics at single states at which friction at rest or stops may act, for a machine without
    constraints, states of force elements, or dependence on time.

    until compiled functions are ready, and for whatever they do not take, `fallback` is called. guard : states that
    machine code takes
    """

    def __init__(
        self, compiled: CompiledModel, forces: CompiledRowForces, forward: bool, fallback: Path, guard: Guard = FREE
    ) -> None:
        self._forces, self._forward, self._fallback, self._guard = forces, forward, fallback, guard
        names = ("mass_matrix", "bias_smooth", "forward_dynamics_smooth" if forward else "inverse_dynamics")
        self._evaluators = [compiled.evaluator(name) for name in names]
        self._sizes = compiled.nq, compiled.nv
        self._entry = acting_forces_entry if forward else resisting_forces_entry
        self._path: Path | None = None
        self._address = 0
        self._calls_left = 0
        """Number of calls until better machine code is looked for."""

    def __call__(self, *arrays: Any) -> Any:
        """Evaluate at one state, or at arrays of states."""
        if self._calls_left:
            self._calls_left -= 1
        else:
            self._find_path()
        return (self._path or self._fallback)(*arrays)

    def _find_path(self) -> None:
        """Find the path with the best machine code that is there."""
        codes = [evaluator.code for evaluator in self._evaluators]
        found = [code.batch_address for code in codes if isinstance(code, MachineCode)]
        if len(found) < len(codes):
            return
        is_final, address = self._entry.is_final, self._entry.address
        if address != self._address:
            addresses = {
                "entry": address,
                "rows": self._forces.rows.place,
                **dict(zip(("mass", "bias", "dynamics"), found, strict=True)),
            }
            p = self._evaluators[0].p
            self._path = build_chained_call(
                self._forward, addresses, self._sizes, p, self._fallback, (self._forces, codes), self._guard
            )
            self._address = address
        self._calls_left = sys.maxsize if is_final else CALLS
