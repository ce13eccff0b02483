"""Result of the search for an operating point: the state, its residuals, and a run that starts from it; if no operating
point exists, the nearest balanced state."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.control.linear_system import LinearSystem
from core.control.lineariser import StatePoint
from core.control.trim_rows import FREE, TrimRequirement
from core.errors import ModelError, join_words
from core.mechanism import Mechanism

if TYPE_CHECKING:
    from core.simulation import Run


Array = NDArray[np.float64]

SOLVED = 1e-10
"""Relative residual up to which a requirement counts as fulfilled."""

MET = 1e-6
"""Relative residual below which Newton's method is tried again with all requirements."""


@dataclass(frozen=True, eq=False)
class OperatingPointResult:
    """Result of the search for an operating point. `solved` : True if all requirements are fulfilled; `message` : the
    requirements that are not fulfilled, and why.

    q (nq,), v, a, tau (nv,), x (nx,), multipliers (rows,); inputs : values of those that were free; parameters : of
    all; values : by row; residuals : by row, value − what was asked; acting : bounds that act; iterations; system : the
    linear system there, with the free inputs and the rows as outputs; saturated : speed → (N·m or N that its motor is
    asked for, what it gives), of motors that can less
    """

    solved: bool
    message: str
    mech: Mechanism
    q: Array
    v: Array
    a: Array
    tau: Array
    x: Array
    multipliers: Array
    t: float
    inputs: Mapping[str, float]
    parameters: Mapping[str, float]
    values: Mapping[str, float]
    residuals: Mapping[str, float]
    missing: Mapping[str, float]
    """Unbalanced force, N or N·m, at each independent coordinate."""
    acting: tuple[str, ...]
    iterations: int
    system: LinearSystem
    saturated: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    targets: tuple[str, ...] = ()
    """Names of the rows that are targets."""

    @property
    def stable(self) -> bool:
        """True if small motions about the point decay or stay bounded (no pole in the right half-plane, within rounding
        error)."""
        poles = self.system.poles
        size = float(np.max(np.abs(poles), initial=0.0))
        return bool(np.max(poles.real, initial=0.0) <= 1e-6 * max(size, 1e-3))

    @property
    def summary_text(self) -> str:
        """Summary: number of steps, stability, active bounds and weighting of targets; or what is wrong."""
        if not self.solved:
            return self.message
        words = "stable" if self.stable else "unstable"
        bounds = f" Active bounds: {', '.join(self.acting)}." if self.acting else ""
        if self.saturated:
            bounds += f" Motors that would need more than their effort limit: {', '.join(self.saturated)}."
        steps = f"{self.iterations} step{'s' * (self.iterations != 1)}"
        return f"Found in {steps}; it is {words}.{bounds} {self.weighting_remark}".rstrip()

    @property
    def weighting_remark(self) -> str:
        """Explanation of the weighting of competing targets of different dimensions; empty if there are none."""
        missed = [name for name in self.targets if abs(self.residuals[name]) > SOLVED]
        known = dict(zip(self.system.output_names, self.system.units.outputs, strict=True))
        units = dict.fromkeys(known.get(name, "") or "pure numbers" for name in missed)
        if len(units) < 2:
            return ""
        return (
            f"Targets in {join_words(list(units))} compete: each counts by its error in SI, relative to its value "
            f"where "
            "that is above 1, times its weight."
        )

    def raise_unless_fulfilled(self) -> OperatingPointResult:
        """Return this result. Raises ModelError if it does not fulfil the requirements."""
        if not self.solved:
            remedy = "" if f". {FREE}" in self.message else "Change the requirements, or start from another pose."
            raise ModelError(self.message, where="operating point", remedy=remedy)
        return self

    def run(self, duration: float, **options: Any) -> Run:
        """Simulate from this point, with its forces, inputs and parameters. options : those of `simulate`"""
        from core.simulation import simulate

        return simulate(self.mech, duration, **(self.start | options))

    @property
    def start(self) -> dict[str, Any]:
        """Keyword arguments with which `simulate(found.mech, …)` starts at this point."""
        begin: dict[str, Any] = {"q0": self.q, "v0": self.v, "torque": self.tau, "start": self.t}
        return begin | {"parameters": self.parameters} | ({"x0": self.x} if len(self.x) else {})


Solve = Callable[[Mapping[str, TrimRequirement], StatePoint], OperatingPointResult]


def find_nearest_point(
    failed_result: OperatingPointResult, rows: Mapping[str, TrimRequirement], point: StatePoint, solve: Solve
) -> OperatingPointResult:
    """Find the nearest point after a failed search: outputs that miss their fixed values become targets, while all
    other requirements stay. Sometimes this leads to a solution after all.

    solve(rows, point) : from a point on
    """
    off = [
        name
        for name, row in rows.items()
        if row.kind == "fixed" and not row.of_input and _relative_error(failed_result, row) > MET
    ]
    if failed_result.solved or not off or not failed_result.iterations:
        return failed_result
    near = solve({**rows, **{name: dataclasses.replace(rows[name], kind="target") for name in off}}, point)
    steps = failed_result.iterations + near.iterations
    if not near.solved:
        return failed_result
    if all(_relative_error(near, rows[name]) <= MET for name in off):
        met = solve(rows, point._replace(q=near.q, v=near.v))
        return dataclasses.replace(met, iterations=steps + met.iterations) if met.solved else failed_result
    units = dict(zip(near.system.output_names, near.system.units.outputs, strict=True))
    missed = [name for name in off if _relative_error(near, rows[name]) > MET]
    misses = [f"{name} is off by {near.residuals[name]:.4g} {units.get(name, '')}".rstrip() for name in missed]
    words = f"No such point was found from this start; at the nearest one reached, {join_words(misses)}."
    words += f" Bounds act: {join_words(list(near.acting))}; widen them." if near.acting else ""
    freed = failed_result.message.partition(f". {FREE}")[2]
    words += f" {FREE}{freed}" if freed else ""
    return dataclasses.replace(near, solved=False, message=words, iterations=steps, targets=())


def _relative_error(result: OperatingPointResult, row: TrimRequirement) -> float:
    """Return the error of a row, relative to its value if that is above 1."""
    return abs(result.residuals.get(row.name, 0.0)) / max(1.0, abs(row.value or 0.0))
