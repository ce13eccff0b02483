"""Builds a run's contact rows (`core.simulation.equations.contact_rows`) from the friction, stop and limit data of
joints, and derives the stiffness of elastic stops that have none of their own.

Such a stop gives way by a thousandth of the way between its limits where the machine meets it with the speed that
limits are made for: k = m (v/p)², with the inertia m = 1/(W M⁻¹ Wᵀ) that loops leave to the coordinate. Runs take it at
the pose in which the stop is first met, `derived_stiffness` at the pose given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.elastic_stops import has_elastic_stop, inverse_inertias, stop_dissipation
from core.constraints.joint_modes import (
    NOWHERE,
    JointRow,
    JointRowTable,
    build_joint_row_table,
    reference_angle,
    stiffness_per_inertia,
)
from core.constraints.joint_rows import evaluate_joint_rows, tree_inverse_inertias
from core.numerics.rank import null_space
from core.programs.compiled import CompiledModel
from core.simulation.equations.contact_rows import HUNT_CROSSLEY, LINEAR, MARGINS, ContactRows

if TYPE_CHECKING:
    from core.mechanism import Mechanism


Array = NDArray[np.float64]

LITTLE = 1e-30
"""N or N·m: initial bearing loads. They are not zero, since joints would then start without friction."""


def build_contact_rows(
    compiled: CompiledModel,
    modes: JointRowTable,
    u: Array,
    functions: dict[str, int],
    inner: int,
    q: Array,
    p: Array,
    degree: float,
    problem: int,
) -> ContactRows:
    """Build the contact rows for machine code. u (nv,): constant joint forces; functions: addresses by name; inner:
    entry point of the equations without contact rows; q (nq,): initial coordinates; degree: polynomial degree in time
    of the joint forces; problem: address of the memory of the convex problem."""
    rows, nv = modes.rows, compiled.nv
    count = len(rows)

    def numbers(name: str) -> Array:
        return np.array([getattr(row, name) for row in rows], dtype=float)

    effort = np.full(nv, np.inf)
    for row in rows:
        if row.at_v != NOWHERE and row.ratio == 1.0:
            effort[row.at_v] = min(effort[row.at_v], row.effort)
    static, nothing = np.maximum(numbers("static"), numbers("backward_static")), np.zeros(count)
    return ContactRows(
        count=count,
        inner=inner,
        torque=functions.get("torque", 0),
        values=functions.get("cut_values", 0),
        entries=functions.get("cut_entries", 0),
        drift=functions.get("cut_drift", 0),
        levels=functions.get("friction_levels", 0),
        bearing_loads=functions.get("bearing_loads", 0),
        cut_rows=len(compiled.program.symbolic.cut_coordinates),
        problem=problem,
        disks=int(any(row.shares != 1 for row in rows)),
        linear=int(_is_linear_in_time(compiled, modes, degree)),
        shares=np.array([row.shares for row in rows], dtype=np.int64),
        leader=np.array([k for k, row in enumerate(rows) for _ in range(row.shares)], dtype=np.int64),
        aim=nothing.copy(),
        zone=nothing.copy(),
        controlled=np.array([row.controlled for row in rows], dtype=np.int64),
        free=np.zeros(count, dtype=np.int64),
        **_bearing_arrays(compiled, rows),
        own=modes.tree_row_count,
        wanted=u.copy(),
        given=u.copy(),
        effort=effort,
        asked=nothing.copy(),
        wished=nothing.copy(),
        strongest=np.array([row.effort if row.at_v != NOWHERE and row.ratio == 1.0 else np.inf for row in rows]),
        at_q=np.array([row.at_q for row in rows], dtype=np.int64),
        ratio=numbers("ratio"),
        offset=numbers("offset"),
        **dict(zip(("begins", "columns", "W"), _row_entries(compiled, rows), strict=True)),
        value=nothing.copy(),
        rate=nothing.copy(),
        bias=nothing.copy(),
        reference=np.array([reference_angle(row) for row in rows]),
        turns=np.array([row.turns for row in rows], dtype=np.int64),
        measured=np.array([row.measured for row in rows], dtype=np.int64),
        cuts=len(compiled.program.symbolic.cut_coordinates) if modes.tree_row_count < count else 0,
        first=_cut_offsets(compiled) if modes.tree_row_count < count else np.zeros(0, dtype=np.int64),
        cut=np.array([_cut_index(compiled, row) for row in rows], dtype=np.int64),
        static_onward=numbers("static"),
        static_backward=numbers("backward_static"),
        kinetic_onward=numbers("kinetic"),
        kinetic_backward=numbers("backward_kinetic"),
        stribeck=numbers("stribeck"),
        lower=numbers("lower"),
        upper=numbers("upper"),
        rigid=np.array([row.rigid for row in rows], dtype=np.int64),
        law=np.array([HUNT_CROSSLEY if row.hunt_crossley else LINEAR for row in rows], dtype=np.int64),
        stiffness=numbers("stiffness"),
        dissipation=np.array([stop_dissipation(row, modes.size) for row in rows]),
        closing=np.array([stiffness_per_inertia(row, modes.size) for row in rows]),
        damping_ratio=numbers("damping_ratio"),
        inertia=nothing.copy(),
        fine=nothing.copy(),
        restitution=numbers("restitution"),
        fastest=numbers("fastest"),
        mode=np.zeros(count, dtype=np.int64),
        stop=np.zeros(count, dtype=np.int64),
        held_at=nothing.copy(),
        force=nothing.copy(),
        carried=nothing.copy(),
        weight=np.where(static > 0.0, static, 1.0),
        largest=_unconstrained_responses(compiled, modes, q, p),
        **_initial_arrays(count),
    )


def _initial_arrays(count: int) -> dict[str, Any]:
    """Return the initial values of the rows' state arrays."""
    return {
        "bounces": np.zeros(count, dtype=np.int64),
        "clipped": np.zeros(count, dtype=np.int64),
        "struck": np.zeros(count),
        "ends": np.zeros(count, dtype=np.int64),
        "began": np.full(count, np.nan),
        "ended": np.zeros(MARGINS * count),
        "stood": np.zeros(2 * count),
        "quickest": np.zeros(count),
    }


def _is_linear_in_time(compiled: CompiledModel, modes: JointRowTable, degree: float) -> bool:
    """Return True if row loads are linear in time while nothing moves; reaction-dependent friction makes them
    nonlinear."""
    return degree <= 1 and not compiled.program.symbolic.clock.timed and not modes.rows_with_bearing_friction


def uses_derived_stiffness(modes: JointRowTable) -> bool:
    """Return True if the stiffness of some stop is derived from the inertia of the machine."""
    sizes = modes.size, 2.0 * modes.size
    return any(
        len({(stop_dissipation(row, size), stiffness_per_inertia(row, size)) for size in sizes}) > 1
        for row in modes.rows
    )


def _bearing_arrays(compiled: CompiledModel, rows: tuple[JointRow, ...]) -> dict[str, Any]:
    """Return the arrays for friction that depends on joint reactions."""
    loads = len(compiled.program.symbolic.bearings) if any(row.bearing != NOWHERE for row in rows) else 0
    return {
        "bearing": np.array([row.bearing for row in rows], dtype=np.int64),
        "coefficient": np.array([row.coefficient for row in rows]),
        "static_coefficient": np.array([row.static_coefficient for row in rows]),
        "loads": np.full(loads, LITTLE),
        "residual": np.zeros(loads),
        "stepped": np.zeros(loads),
        "inverse": np.eye(loads).reshape(-1),
    }


def _unconstrained_responses(compiled: CompiledModel, modes: JointRowTable, q: Array, p: Array) -> Array:
    """Return 1/inertia along each row of the unconstrained machine, used to recognise rows that loops lock."""
    if not compiled.constrained:
        return np.zeros(len(modes.rows))
    W = evaluate_joint_rows(
        compiled, replace(modes, rows=tuple(replace(row, controlled=NOWHERE) for row in modes.rows)), q, p
    ).W
    return tree_inverse_inertias(compiled, W, q, p)


def _cut_index(compiled: CompiledModel, row: JointRow) -> int:
    """Return the index of a row's coordinate among those of loop-closing joints; −1 for a joint of the tree."""
    if row.at_v != NOWHERE:
        return NOWHERE
    table = compiled.program.symbolic.cut_coordinates
    same = [i for i, each in enumerate(table) if (each.owner, each.k) == (row.owner, row.k)]
    return same[0]


def _cut_offsets(compiled: CompiledModel) -> Any:
    """Return the offsets of the Jacobian entries of each coordinate of loop-closing joints."""
    expressions = compiled.program.symbolic.cut_expressions
    return np.searchsorted(expressions.pattern.rows, np.arange(expressions.count)).astype(np.int64)


def _row_entries(compiled: CompiledModel, rows: tuple[JointRow, ...]) -> tuple[Any, Any, Array]:
    """Return the offsets of each row's entries of W, their columns, and the values of constant entries."""
    begins, columns, entries = [0], list[int](), list[float]()
    pattern = compiled.program.symbolic.cut_expressions.pattern if any(row.at_v == NOWHERE for row in rows) else None
    for row in rows:
        if pattern is None or row.at_v != NOWHERE:
            columns.append(row.at_v)
            entries.append(row.ratio)
        else:
            own = pattern.columns[pattern.rows == _cut_index(compiled, row)].tolist()
            columns += own
            entries += [0.0] * len(own)
        begins.append(len(columns))
    return np.array(begins, dtype=np.int64), np.array(columns, dtype=np.int64), np.array(entries)


CAUSES = (
    "friction alternates between sticking and slipping (static above kinetic friction, or joints that share forces)",
    "a stop is hit and left repeatedly",
    "a speed limit is reached and left repeatedly",
    "an effort limit is reached and left repeatedly",
)
"""Explanations of a contact state that changes again and again, in the order of event margins."""


def find_contact_notes(modes: JointRowTable, rows: ContactRows) -> tuple[str, ...]:
    """Return notes for the user: stops whose stiffness was derived, contact states that kept changing at one instant,
    and forces found only approximately."""
    notes = []
    for k, row in enumerate(modes.rows):
        if row.rigid or row.stiffness > 0.0 or rows.stiffness[k] <= 0.0:
            continue
        inertia = rows.stiffness[k] / rows.closing[k]
        unit, of = ("N·m/rad", "kg·m²") if row.dimension == "angle" else ("N/m", "kg")
        notes.append(
            f"Stop of '{row.name}': stiffness {rows.stiffness[k]:.2g} {unit}, derived from the effective inertia "
            f"of {inertia:.2g} {of}."
        )
    if rows.cramped:
        k, cause = divmod(rows.cramped - 1, len(CAUSES))
        notes.append(
            f"'{modes.rows[k].name}': at t = {rows.cramped_at:.6g} s its contact state changed again and again: "
            f"{CAUSES[cause]}. From then on, the run skips such endless changes at one instant."
        )
    if rows.approximate:
        notes.append("Forces in sticking joints, which were not unique, were found only approximately at least once.")
    return tuple(notes)


def derived_stiffness(mech: Mechanism, q: Any, p: Mapping[str, float] | None = None) -> dict[tuple[str, int], float]:
    """Return (joint, coordinate) → stiffness, N·m/rad or N/m, for joints of the tree with elastic stops that have no
    given stiffness."""
    modes = build_joint_row_table(mech.compiled, mech.parameter_values(p))
    at = evaluate_joint_rows(mech.compiled, modes, np.asarray(q, dtype=float), mech.parameter_values(p))
    derived = [row.at_v != NOWHERE and has_elastic_stop(row) and row.stiffness == 0.0 for row in modes.rows]
    if not any(derived):
        return {}
    rows, W, _ = at.select(np.array(derived))
    M = np.asarray(mech.mass_matrix(q, p=p))
    N = null_space(np.asarray(mech.constraint_jacobian(q, p=p))) if mech.constrained else np.eye(mech.nv)
    return {
        (row.owner, row.k): stiffness_per_inertia(row, modes.size) / float(each)
        for row, each in zip(rows, inverse_inertias(W @ N, N.T @ M @ N), strict=True)
        if each > 0.0
    }
