"""Outputs of a run at some samples, with derivatives by the state and by parameters.

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
from core.control.outputs import Outputs, OutputSlopes
from core.errors import ModelError
from core.identification.sensitivities.explicit_rates import EvaluationPoints, SymbolicState
from core.identification.sensitivities.held_rates import Balance, ConstrainedRates
from core.identification.sensitivities.replay import Replay
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.program import Program, known_code

Array = NDArray[np.float64]

NOT_UNIQUE = 1e-7
"""Fraction of an output's derivative by constraint forces below which it counts as independent of redundant
constraints."""


class OutputValues(NamedTuple):
    """Outputs at N samples: values (N, c), derivatives by y (N, c, n) and p (N, c, m)."""

    y: Array
    by_y: Array
    by_p: Array


class _CompiledOutputs(NamedTuple):
    """Names and SI units of components, their code, and the numbers of non-zero derivatives by a, λ and τ."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    code: FlatCode
    slopes: dict[str, int]


_known: WeakKeyDictionary[Program, dict[tuple[tuple[str, ...], tuple[int, ...]], _CompiledOutputs]] = (
    WeakKeyDictionary()
)


def _compiled_outputs(found: Replay, asked: Sequence[str]) -> _CompiledOutputs:
    outputs = Outputs(found.mech, asked, found.rates.by, found.p)
    sizes = [int(outputs.function.numel_in(k)) for k in range(outputs.function.n_in())]
    given = [ca.SX.sym(f"g{k}", size) for k, size in enumerate(sizes)]
    parts: Any = OutputSlopes(*outputs.function(*given))
    counts = {"a": int(parts.y_a.nnz()), "l": int(parts.y_l.nnz()), "tau": int(parts.y_tau.nnz())}
    return _CompiledOutputs(tuple(outputs.names), tuple(outputs.units), FlatCode(given, list(parts)), counts)


class OutputEvaluator:
    """Evaluates outputs of one replay; names : of their components."""

    def __init__(self, found: Replay, asked: Sequence[str]) -> None:
        self._replay = found
        program, given, by = found.mech.compiled.program, found.given, found.rates.by
        known = _known.setdefault(program, {})
        key = (tuple(asked), by)
        if key not in known:
            known[key] = _compiled_outputs(found, asked)
        self.names, self.units, self._code, slopes = known[key]
        self._by_forces = bool(slopes["l"])
        self._by_motion = self._by_forces or bool(slopes["a"])
        self._by_efforts = bool(slopes["tau"]) and given.of_law
        self._held: ConstrainedRates | None = None

    def _code_for(self, name: str) -> FlatCode:
        """Return code for joint forces and their derivatives, or for N of q̇ = N v."""
        by, program = self._replay.rates.by, self._replay.mech.compiled.program

        def made() -> FlatCode:
            s = SymbolicState(self._replay.given)
            if name == "turn":
                return FlatCode(s.arguments, [ca.jacobian(s.q_rate, ca.vertcat(*s.v))])
            u = s.forces()
            return FlatCode(s.arguments, [u, ca.jacobian(u, s.y), ca.jacobian(u, s.by(by))])

        return known_code(program, (f"seen {name}", self._replay.given.key, by), made)

    def _solved_balance(self, at: EvaluationPoints) -> Balance:
        """Return accelerations and multipliers with derivatives."""
        rates = self._replay.rates
        if isinstance(rates, ConstrainedRates):
            return rates.balance(at)
        if self._by_forces:
            if self._held is None:
                self._held = ConstrainedRates(self._replay.given, rates.by)
            return self._held.balance(at)
        nq, nv = self._replay.mech.nq, self._replay.mech.nv
        slopes = rates.slopes(at, self._by_motion)
        still = rates.still
        rows, none = slice(nq - still, nq + nv - still), np.zeros((len(at.t), len(self._replay.mech.compiled.rows)))
        by = np.concatenate([slopes.by_y[:, rows], slopes.by_p[:, rows]], axis=2)
        nothing = np.zeros((*none.shape, by.shape[2]))
        return Balance(slopes.f[:, nq : nq + nv], none, by, nothing, none, none, none, none)

    def __call__(self, at: EvaluationPoints) -> OutputValues:
        """Evaluate the outputs at points of the run."""
        found, mech = self._replay, self._replay.mech
        nq, nv, n = mech.nq, mech.nv, found.rates.n
        balance = self._solved_balance(at)
        given = found.given(at)
        tau, tau_y, tau_p = self._joint_efforts(at)
        q, v, x = at.y[:, :nq], at.y[:, nq : nq + nv], at.y[:, nq + nv :]
        parts = self._code([q, v, balance.a, balance.multipliers, x, tau, given[1]], found.p)
        value, y_q, y_v, y_a, y_l, y_x, y_tau, y_p = parts
        if self._by_forces:
            self._refuse_undetermined(y_l, at)
        if nq != nv:  # outputs are differentiated along displacements, states by coordinates
            y_q = y_q @ np.linalg.pinv(self._code_for("turn")(given, found.p)[0])
        by_y, by_p = np.concatenate([y_q, y_v, y_x], axis=2), y_p
        if self._by_motion:
            by = y_a @ balance.a_by + y_l @ balance.multipliers_by
            by_y, by_p = by_y + by[:, :, :n], by_p + by[:, :, n:]
        if self._by_efforts:
            by_y, by_p = by_y + y_tau @ tau_y, by_p + y_tau @ tau_p
        return OutputValues(value[:, :, 0], by_y, by_p)

    def _joint_efforts(self, at: EvaluationPoints) -> tuple[Array, Any, Any]:
        found = self._replay
        given = found.given(at)
        if self._by_efforts:
            u, by_y, by_p = self._code_for("forces")(given, found.p)
            return u[:, :, 0], by_y, by_p
        return given[3], None, None

    def _refuse_undetermined(self, y_l: Array, at: EvaluationPoints) -> None:
        """Raise ModelError for forces left undetermined by redundant constraints."""
        mech = self._replay.mech
        G = np.atleast_3d(mech.compiled.call("constraint_jacobian", at.y[0, : mech.nq], p=self._replay.p)[None])[0]
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
