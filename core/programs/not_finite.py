"""Diagnosis of a result that is not finite: the element whose formula fails, or the joint that moves no mass."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError, SimulationError
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.mechanics.elements.forces import FORCES
from core.mechanics.elements.forces.force_element import output_count
from core.mechanics.multibody.coordinates import Coordinates
from core.mechanics.multibody.parameter_values import Values
from core.model import Joint, Model
from core.model.model import WORDS
from core.programs.function_builder import massless_joint_error

Array = NDArray[np.float64]

REMEDY = "Look for roots and logarithms of negative numbers and divisions by zero."
AHEAD = (0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2)
"""Times (s) after a state at which formulas are also tried, because a simulation stops just before the point of
failure."""


class DiagnosedMachine(Protocol):
    """Part of a compiled model's interface that the diagnosis needs (`core.programs.compiled`)."""

    model: Model
    coordinates: Coordinates
    rows: tuple[Row, ...]

    @property
    def implicit_joints(self) -> tuple[Joint, ...]: ...

    def call(self, function: str, *states: Any, p: Values = None, t: Any = 0.0, x: Any = None) -> Array: ...

    def mass_matrix(self, q: Any, p: Values = None) -> Array: ...


def find_undefined_element(
    machine: DiagnosedMachine, q: Array, v: Array, p: Values, t: float, x: Array | None = None
) -> str:
    """Return "force 'name'", "driver 'name'" … of the first element whose value is not finite at (q, v) or just after
    it; empty if all are finite."""
    for step in AHEAD:
        ahead = machine.coordinates.integrate(q, v, step)
        found = _find_undefined_force(machine, ahead, v, p, t + step, x) or _find_undefined_constraint(
            machine, ahead, v, p, t + step
        )
        if found:
            return found
    return ""


def _find_undefined_force(machine: DiagnosedMachine, q: Array, v: Array, p: Values, t: float, x: Array | None) -> str:
    if not machine.model.expanded.forces:
        return ""
    shown, at = machine.call("forces", q, v, p=p, t=t, x=x), 0
    for force in machine.model.expanded.forces:
        count = output_count(FORCES[force.kind])
        if not np.isfinite(shown[at : at + count]).all():
            return f"force '{force.name}'"
        at += count
    return ""


def _find_undefined_constraint(machine: DiagnosedMachine, q: Array, v: Array, p: Values, t: float) -> str:
    if not machine.rows:
        return ""
    residual, bias = machine.call("constraint_residual", q, p=p, t=t), machine.call("constraint_bias", q, v, p=p, t=t)
    for values in (residual, bias):
        bad = ~np.isfinite(values)
        if bad.any():
            row = machine.rows[int(np.argmax(bad))]
            return f"{WORDS[row.collection]} '{row.element}'"
    return ""


def singularity_error(
    machine: DiagnosedMachine, q: Array, p: Values, v: Array | None = None, t: float = 0.0, x: Array | None = None
) -> KinetostatError:
    """Return the error for forward dynamics without a finite result, which names the joint or the number at fault."""
    states = q.reshape(-1, q.shape[-1])
    bad = ~np.isfinite(states).all(axis=1)
    if bad.any():
        name = machine.coordinates.table[int(np.argmax(~np.isfinite(states[bad][0])))].name
        return SimulationError(
            "The coordinate is not a finite number.",
            where=f"coordinate '{name}'",
            remedy="Start from finite coordinates.",
        )
    if v is not None and np.ndim(v) == 1 and (culprit := find_undefined_element(machine, states[0], v, p, t, x)):
        return SimulationError("The element's formula does not give a finite number.", where=culprit, remedy=REMEDY)
    size = len(machine.coordinates.v_names)
    for M in machine.mass_matrix(q, p).reshape(-1, size, size):
        if not np.isfinite(M).all():
            break
        values, vectors = np.linalg.eigh(M)
        if values[0] <= 1e-12 * max(values[-1], 1e-300):
            moved = machine.coordinates.v_names[int(np.argmax(np.abs(vectors[:, 0])))]
            return massless_joint_error(moved, [joint.name for joint in machine.implicit_joints])
    return SimulationError(
        "The accelerations are not finite numbers.", remedy="Check speeds, forces and parameters for extreme values."
    )
