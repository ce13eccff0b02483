"""Outputs of a run at given samples, with derivatives with respect to the state and to parameters.

Accelerations and multipliers follow from the equations of motion, joint forces from their formulas; what an output
takes of them is followed to y and p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.flat_code import FlatCode
from core.control.outputs import OutputDerivatives, OutputFunctions
from core.errors import ModelError
from core.identification.sensitivities.explicit_rates import EvaluationPoints, SymbolicState
from core.identification.sensitivities.held_rates import ConstrainedRates, ForceBalanceSolution
from core.identification.sensitivities.replay import RecordedSteps
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.program import Program, cached_code

Array = NDArray[np.float64]

NOT_UNIQUE = 1e-7
"""Fraction of an output's derivative with respect to constraint forces below which it counts as independent of
redundant constraints."""


class OutputValues(NamedTuple):
    """Outputs at N samples: values (N, c), derivatives with respect to y (N, c, n) and p (N, c, m)."""

    y: Array
    by_y: Array
    by_p: Array


class _CompiledOutputs(NamedTuple):
    """Names and SI units of the components, their code, and the numbers of non-zero derivatives with respect to a, λ
    and τ."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    code: FlatCode
    slopes: dict[str, int]


_known: WeakKeyDictionary[Program, dict[tuple[tuple[str, ...], tuple[int, ...]], _CompiledOutputs]] = (
    WeakKeyDictionary()
)


def _compile_outputs(recorded_steps: RecordedSteps, output_names: Sequence[str]) -> _CompiledOutputs:
    outputs = OutputFunctions(recorded_steps.mech, output_names, recorded_steps.rates.by, recorded_steps.p)
    sizes = [int(outputs.function.numel_in(k)) for k in range(outputs.function.n_in())]
    given = [ca.SX.sym(f"g{k}", size) for k, size in enumerate(sizes)]
    parts: Any = OutputDerivatives(*outputs.function(*given))
    counts = {"a": int(parts.y_a.nnz()), "l": int(parts.y_l.nnz()), "tau": int(parts.y_tau.nnz())}
    return _CompiledOutputs(tuple(outputs.names), tuple(outputs.units), FlatCode(given, list(parts)), counts)


class OutputEvaluator:
    """Evaluator of outputs along one recorded run; names : of their components."""

    def __init__(self, recorded_steps: RecordedSteps, output_names: Sequence[str]) -> None:
        self._replay = recorded_steps
        program, given, by = recorded_steps.mech.compiled.program, recorded_steps.given, recorded_steps.rates.by
        known = _known.setdefault(program, {})
        key = (tuple(output_names), by)
        if key not in known:
            known[key] = _compile_outputs(recorded_steps, output_names)
        self.names, self.units, self._code, slopes = known[key]
        self._by_forces = bool(slopes["l"])
        self._by_motion = self._by_forces or bool(slopes["a"])
        self._by_efforts = bool(slopes["tau"]) and given.of_law
        self._held: ConstrainedRates | None = None

    def _auxiliary_code(self, name: str) -> FlatCode:
        """Return code for joint forces and their derivatives, or for N of q̇ = N v."""
        by, program = self._replay.rates.by, self._replay.mech.compiled.program

        def build_code() -> FlatCode:
            s = SymbolicState(self._replay.given)
            if name == "turn":
                return FlatCode(s.arguments, [ca.jacobian(s.q_rate, ca.vertcat(*s.v))])
            u = s.forces()
            return FlatCode(s.arguments, [u, ca.jacobian(u, s.y), ca.jacobian(u, s.by(by))])

        return cached_code(program, (f"seen {name}", self._replay.given.key, by), build_code)

    def _solve_force_balance(self, points: EvaluationPoints) -> ForceBalanceSolution:
        """Return accelerations and multipliers with derivatives."""
        rates = self._replay.rates
        if isinstance(rates, ConstrainedRates):
            return rates.solve_force_balance(points)
        if self._by_forces:
            if self._held is None:
                self._held = ConstrainedRates(self._replay.given, rates.by)
            return self._held.solve_force_balance(points)
        nq, nv = self._replay.mech.nq, self._replay.mech.nv
        slopes = rates.rates_with_derivatives(points, self._by_motion)
        still = rates.still
        rows, none = slice(nq - still, nq + nv - still), np.zeros((len(points.t), len(self._replay.mech.compiled.rows)))
        by = np.concatenate([slopes.by_y[:, rows], slopes.by_p[:, rows]], axis=2)
        nothing = np.zeros((*none.shape, by.shape[2]))
        return ForceBalanceSolution(slopes.f[:, nq : nq + nv], none, by, nothing, none, none, none, none)

    def __call__(self, points: EvaluationPoints) -> OutputValues:
        """Evaluate the outputs at points of the run."""
        found, mech = self._replay, self._replay.mech
        nq, nv, n = mech.nq, mech.nv, found.rates.n
        balance = self._solve_force_balance(points)
        given = found.given(points)
        tau, tau_y, tau_p = self._joint_force_derivatives(points)
        q, v, x = points.y[:, :nq], points.y[:, nq : nq + nv], points.y[:, nq + nv :]
        parts = self._code([q, v, balance.a, balance.multipliers, x, tau, given[1]], found.p)
        value, y_q, y_v, y_a, y_l, y_x, y_tau, y_p = parts
        if self._by_forces:
            self._check_forces_determined(y_l, points)
        if nq != nv:  # outputs are differentiated along displacements, states by coordinates
            y_q = y_q @ np.linalg.pinv(self._auxiliary_code("turn")(given, found.p)[0])
        by_y, by_p = np.concatenate([y_q, y_v, y_x], axis=2), y_p
        if self._by_motion:
            by = y_a @ balance.a_by + y_l @ balance.multipliers_by
            by_y, by_p = by_y + by[:, :, :n], by_p + by[:, :, n:]
        if self._by_efforts:
            by_y, by_p = by_y + y_tau @ tau_y, by_p + y_tau @ tau_p
        return OutputValues(value[:, :, 0], by_y, by_p)

    def _joint_force_derivatives(self, points: EvaluationPoints) -> tuple[Array, Any, Any]:
        found = self._replay
        given = found.given(points)
        if self._by_efforts:
            u, by_y, by_p = self._auxiliary_code("forces")(given, found.p)
            return u[:, :, 0], by_y, by_p
        return given[3], None, None

    def _check_forces_determined(self, y_l: Array, points: EvaluationPoints) -> None:
        """Raise ModelError if outputs depend on forces that redundant constraints leave undetermined."""
        mech = self._replay.mech
        G = np.atleast_3d(mech.compiled.call("constraint_jacobian", points.y[0, : mech.nq], p=self._replay.p)[None])[0]
        U, sizes, _ = np.linalg.svd(G)
        rank = int((sizes > RANK_TOLERANCE * max(float(sizes.max(initial=0.0)), 1e-300)).sum())
        left = np.abs(y_l[0] @ U[:, rank:])
        for name, row, own in zip(self.names, y_l[0], left, strict=True):
            if own.size and own.max() > NOT_UNIQUE * np.abs(row).max():
                raise ModelError(
                    f"'{name}' has no derivative: redundant constraints leave this force undetermined.",
                    where="output",
                    remedy="`mech.mobility()` names the redundant constraints; choose a motion or another force.",
                )
