"""Friction, stops and effort limits of joints as smooth forces, which code with a fixed cost per step uses instead of
contact states.

Runs find at each instant which joints stick and which stops are met (`core.simulation.equations.contact_rows`). A step
of fixed cost cannot: here dry friction grows with tanh(γ/γ₀) of the speed γ, and stops are elastic, also those that
runs take as rigid. γ₀ is as small as a step allows: friction F on an inertia m is damping F/γ₀, which explicit methods
bear while h F/(m γ₀) stays below two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.graph_symbols import to_symbol
from core.constraints.bearing_friction import refuse_bearing_friction
from core.constraints.elastic_stops import inverse_inertias, stop_dissipation
from core.constraints.joint_modes import (
    NOWHERE,
    JointRow,
    JointRowTable,
    build_joint_row_table,
    damping_ratio_from_restitution,
    largest_resolvable_stiffness,
    reference_angle,
    stiffness_per_inertia,
)
from core.constraints.joint_rows import evaluate_joint_rows
from core.mechanics.dry_friction import NOTHING
from core.mechanics.tree import inline
from core.numerics.spatial.rotation import wrap_angle
from core.numerics.spatial.scalar import Scalar, minus, plus, times
from core.programs.compiled import CompiledModel
from core.programs.dynamics import friction_levels

Array = NDArray[np.float64]

LEAST_SPEED = 1e-3
"""Smallest speed (rad/s or m/s) of the smoothed friction's transition, unless the step requires a larger one."""
DAMPING_NUMBER = 1.0
"""Largest value of h F/(m γ₀), which bounds the smoothed friction's damping."""


class SmoothedResistance(NamedTuple):
    """Friction, stops and limits of all joints, with the parameters chosen for their smoothing.

    speeds : γ₀ of each row; stiffness, damping : of stops, N·m/rad or N/m, N·m·s/rad or N·s/m (of Hunt and Crossley's
    law s/rad or s/m)
    """

    modes: JointRowTable
    speeds: tuple[float, ...]
    stiffness: tuple[float, ...]
    damping: tuple[float, ...]

    @property
    def is_smoothed(self) -> bool:
        """Return True if anything differs from ordinary simulations."""
        return any(row.has_dry_friction or _has_stops(row) for row in self.modes.rows)

    def effort_limits(self, nv: int) -> list[float]:
        """Return the largest joint forces (nv,)."""
        most = [np.inf] * nv
        for row in self.modes.rows:
            if row.at_v != NOWHERE and row.ratio == 1.0:
                most[row.at_v] = min(most[row.at_v], row.effort)
        return most

    def notes(self) -> list[str]:
        """Notes for the user on what was smoothed, and how."""
        lines = []
        for row, speed, stiffness in zip(self.modes.rows, self.speeds, self.stiffness, strict=True):
            unit = "rad/s" if row.dimension == "angle" else "m/s"
            if row.has_dry_friction and row.shares:
                lines.append(
                    f"Dry friction of '{row.together or row.name}' is smoothed over {speed:.3g} {unit}: "
                    "it does not stick at rest."
                )
            if _has_stops(row):
                of = "N·m/rad" if row.dimension == "angle" else "N/m"
                lines.append(f"Stops of '{row.name}' are elastic, {stiffness:.3g} {of}.")
        return lines


def _has_stops(row: JointRow) -> bool:
    return bool(np.isfinite([row.lower, row.upper]).any())


def choose_smoothing(compiled: CompiledModel, q: Array, v: Array, p: Array, step: float) -> SmoothedResistance:
    """Choose the smoothing for a machine that starts at q and v and takes steps of this length (s)."""
    modes = build_joint_row_table(compiled, p)
    if not modes.rows:
        return SmoothedResistance(modes, (), (), ())
    refuse_bearing_friction(modes, "C code")
    at = evaluate_joint_rows(compiled, modes, q, p)
    compliance = inverse_inertias(at.W, compiled.mass_matrix(q, p))
    levels = _initial_friction_levels(compiled, q, v, p)
    speeds, stiffness, damping = [], [], []
    for row, c in zip(modes.rows, compliance, strict=True):
        level = max(row.friction_levels) if row.controlled == NOWHERE else levels[row.controlled]
        speeds.append(max(LEAST_SPEED, step * level * c / DAMPING_NUMBER))
        stiff = min(stiffness_per_inertia(row, modes.size), largest_resolvable_stiffness(step))
        own = row.stiffness or (stiff / c if c > 0.0 else 0.0)
        stiffness.append(own if _has_stops(row) else 0.0)
        damping.append(_stop_damping(row, modes.size, own, c) if _has_stops(row) else 0.0)
    first = [k for k, row in enumerate(modes.rows) for _ in range(row.shares)]
    speeds = [max(speeds[i] for i, leader in enumerate(first) if leader == k) for k in first]
    return SmoothedResistance(modes, tuple(speeds), tuple(stiffness), tuple(damping))


def _stop_damping(row: JointRow, size: float, stiffness: float, compliance: float) -> float:
    """Return the damping of a stop with this stiffness and effective inertia, as in simulations; for a rigid stop from
    its restitution."""
    if row.hunt_crossley or row.damping > 0.0 or compliance <= 0.0:
        return stop_dissipation(row, size)
    ratio = damping_ratio_from_restitution(row.restitution) if row.rigid else row.damping_ratio
    return 2.0 * ratio * math.sqrt(stiffness / compliance)


def _initial_friction_levels(compiled: CompiledModel, q: Array, v: Array, p: Array) -> Array:
    """Return the largest friction of each brake and clutch at the start."""
    if not compiled.elements.controlled_friction:
        return np.zeros(0)
    x = np.zeros(compiled.nx)
    return np.abs(np.asarray(compiled.call("friction_levels", q, v, x=x, t=0.0, p=p), dtype=float).reshape(-1, 4)).max(
        axis=1
    )


def resisting_forces(
    compiled: CompiledModel, smoothing: SmoothedResistance, inputs: dict[str, list[Any]]
) -> tuple[list[Scalar], list[Scalar]]:
    """Compute generalized forces (nv,) of friction and stops, and each row's excess beyond its limits (rad, m).

    inputs : symbols of q, v, and x, t where there are any
    """
    rows, context = smoothing.modes.rows, compiled.program.symbolic
    forces: list[Scalar] = [0.0] * compiled.nv
    beyond: list[Scalar] = []
    controlled = friction_levels(context, inputs, "", inline) if compiled.elements.controlled_friction else []
    measured = _row_speeds(compiled, smoothing, inputs)
    along = [
        to_symbol(sum((times(e, inputs["v"][k]) for k, e in zip(columns, entries, strict=True)), 0.0))
        for columns, entries, _ in measured
    ]
    together = along
    for i, (row, slow, stop, (columns, entries, value)) in enumerate(
        zip(rows, smoothing.speeds, zip(smoothing.stiffness, smoothing.damping, strict=True), measured, strict=True)
    ):
        speed = along[i]
        force: Scalar = 0.0
        if row.has_dry_friction:
            own = (
                row.friction_levels
                if row.controlled == NOWHERE
                else controlled[4 * row.controlled : 4 * row.controlled + 4]
            )
            if row.shares == 1:
                force = times(-1.0, times(_smoothed_friction(own, row.stribeck, speed), ca.tanh(speed / slow)))
            else:
                together = along[i : i + row.shares] if row.shares else together
                size = ca.sqrt(sum(each * each for each in together) + NOTHING)
                size_of_force = times(
                    _smoothed_friction([*own[:2], *own[:2]], row.stribeck, size), ca.tanh(size / slow) / size
                )
                force = times(-1.0, times(size_of_force, speed))
        if value is not None and _has_stops(row):
            pushed, depth = _stop_force(row, *stop, to_symbol(value), speed)
            force, beyond = plus(force, pushed), [*beyond, depth]
        for k, entry in zip(columns, entries, strict=True):
            forces[k] = plus(forces[k], times(entry, force))
    return forces, beyond


def _smoothed_friction(levels: Sequence[Scalar], stribeck: float, speed: Any) -> Any:
    """Evaluate friction with four levels (kinetic and static, forward, then backward) at a speed, with Stribeck's curve
    between them."""
    fall = ca.exp(-((speed / stribeck) ** 2)) if stribeck else 0.0
    onward, backward = (
        plus(kinetic, times(minus(static, kinetic), fall)) for kinetic, static in (levels[:2], levels[2:])
    )
    same = type(onward) is type(backward) is float and onward == backward
    return onward if same else ca.if_else(speed > 0.0, onward, backward)


def _row_speeds(
    compiled: CompiledModel, smoothing: SmoothedResistance, inputs: dict[str, list[Any]]
) -> list[tuple[list[int], list[Scalar], Scalar | None]]:
    """Return each row's speed indices and factors, and its coordinate."""
    context = compiled.program.symbolic
    found: list[tuple[list[int], list[Scalar], Scalar | None]] = []
    cut = smoothing.modes.tree_row_count < len(smoothing.modes.rows)
    values = context.cut_expressions.residual(inputs, inline) if cut else []
    entries = context.cut_expressions.entries(inputs, inline) if cut else []
    table = [(each.owner, each.k) for each in context.cut_coordinates] if cut else []
    for row in smoothing.modes.rows:
        if row.at_v != NOWHERE:
            value = None if row.at_q == NOWHERE else plus(times(row.ratio, inputs["q"][row.at_q]), row.offset)
            found.append(([row.at_v], [row.ratio], value))
            continue
        k = table.index((row.owner, row.k))
        own = np.flatnonzero(context.cut_expressions.pattern.rows == k).tolist()
        columns = context.cut_expressions.pattern.columns[own].tolist()
        value = values[k]
        if row.turns:
            center = reference_angle(row)
            value = center + wrap_angle(to_symbol(value) - center)
        found.append((columns, [entries[i] for i in own], value))
    return found


def _stop_force(row: JointRow, stiffness: float, damping: float, value: Any, speed: Any) -> tuple[Any, Any]:
    """Return the force of a row's stops, and its excess beyond them."""
    force, beyond = ca.SX(0.0), ca.SX(0.0)
    for side, bound in ((1.0, row.upper), (-1.0, row.lower)):
        if not np.isfinite(bound):
            continue
        depth = side * (value - bound)
        pressing = stiffness * depth + damping * side * speed * (stiffness * depth if row.hunt_crossley else 1.0)
        force -= side * ca.if_else(depth > 0.0, ca.fmax(pressing, 0.0), 0.0)
        beyond = ca.fmax(beyond, depth)
    return force, beyond
