"""Exact derivatives of inverse and forward dynamics with respect to state, forces and parameters.

With f = M a + h − Gᵀ λ − τ = 0 and g = G a + Ġ v − f̈ = 0, a change of state or parameters changes the motion by

    M δa − Gᵀ δλ = δτ − ∂f,   G δa = −∂g

Rows that others make redundant leave δa unique, δλ not: it is then the least. Derivatives by positions are along
displacements ξ (nv directions, δq = N ξ), and on the manifold for those ξ that loops allow, G ξ = 0. Parameters such as
lengths move the manifold itself: positions and speeds follow them with the independent ones held, ξ = P δp, δv = V δp.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.consistent_motion import choose_independent_speeds
from core.constraints.multipliers import solve_constrained_motion
from core.constraints.named_values import as_states, broadcast_to_states
from core.errors import ModelError, suggest_names
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import to_dense
from core.numerics.rank import null_space
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.compiled import CompiledModel
from core.programs.derivatives import EquationDerivatives, program_derivatives
from core.programs.not_finite import singularity_error

Array = NDArray[np.float64]


class _MotionChange(NamedTuple):
    """Derivatives δa and δλ for several right-hand sides."""

    a: Array
    multipliers: Array


class MotionDerivatives:
    """Exact derivatives at one state or an array of states (leading axes …), each computed on first use.

    by : names of the m parameters that `…_p` has columns for

    Friction of joints counts as a function of their speed. What friction holds at rest, and stops, are not followed
    (`linearise` counts them as held).
    """

    def __init__(
        self,
        compiled: CompiledModel,
        q: Any,
        v: Any,
        tau: Any,
        p: Values = None,
        t: float = 0.0,
        x: Any = None,
        by: Sequence[str] | None = None,
    ) -> None:
        self._compiled, self._given, self._t, self._x = compiled, p, t, x
        for name in by or ():
            if name not in compiled.p_names:
                raise ModelError(
                    f"There is no independent parameter '{name}'.",
                    where="by",
                    remedy=suggest_names(name, compiled.p_names),
                )
        self.by = compiled.p_names if by is None else tuple(by)
        """Names of the parameters."""
        given = (as_states(q, compiled.nq, "q"), as_states(v, compiled.nv, "v"), as_states(tau, compiled.nv, "tau"))
        self._one = all(each.ndim == 1 for each in given)
        self._leading = () if self._one else np.broadcast_shapes(*(each.shape[:-1] for each in given))
        self._q, self._v, self._tau = (
            each[None] if self._one else broadcast_to_states(each, self._leading) for each in given
        )
        self._direct = not (compiled.nx or compiled.by_mass_matrix or compiled.program.symbolic.is_long)

    # ----------------------------------------------------------------------------------------- inverse dynamics

    @property
    def tau_q(self) -> Array:
        """(…, nv, nv) ∂τ/∂ξ at fixed accelerations; for machines with loops also at fixed multipliers."""
        return self._with_leading_axes(self._force_derivatives[0])

    @property
    def tau_v(self) -> Array:
        """(…, nv, nv) ∂τ/∂v."""
        return self._with_leading_axes(self._force_derivatives[1])

    @property
    def tau_a(self) -> Array:
        """(…, nv, nv) ∂τ/∂a = M."""
        return self._with_leading_axes(self._mass_matrices)

    @property
    def tau_p(self) -> Array:
        """(…, nv, m) ∂τ/∂p."""
        if not self._direct:
            return self._with_leading_axes(self._equations_by_parameters.f_p)
        whole = self._evaluate("force_slopes_by_parameters", self._accelerations)
        return self._with_leading_axes(whole[..., list(self._parameter_indices)])

    # ----------------------------------------------------------------------------------------- forward dynamics

    @property
    def a(self) -> Array:
        """(…, nv) accelerations."""
        return self._accelerations.reshape(*self._leading, -1)

    @property
    def a_q(self) -> Array:
        """(…, nv, nv) ∂a/∂ξ."""
        return self._with_leading_axes(self._acceleration_derivatives[0])

    @property
    def a_v(self) -> Array:
        """(…, nv, nv) ∂a/∂v."""
        return self._with_leading_axes(self._acceleration_derivatives[1])

    @property
    def a_tau(self) -> Array:
        """(…, nv, nv) ∂a/∂τ; M⁻¹ of open chains."""
        return self._with_leading_axes(self._acceleration_derivatives[2])

    @property
    def a_p(self) -> Array:
        """(…, nv, m) ∂a/∂p at the same independent positions and speeds."""
        if self._direct:
            whole = self._evaluate("motion_slopes_by_parameters", self._tau)
            return self._with_leading_axes(whole[..., list(self._parameter_indices)])
        return self._with_leading_axes(self._change_by_parameters.a)

    @property
    def q_p(self) -> Array:
        """(…, nv, m) ∂ξ/∂p, the displacements by which positions follow the parameters while independent coordinates
        are constant."""
        return self._with_leading_axes(self._dependent_changes[0])

    @property
    def v_p(self) -> Array:
        """(…, nv, m) ∂v/∂p, the corresponding change of speeds."""
        return self._with_leading_axes(self._dependent_changes[1])

    # ----------------------------------------------------------------------------------------- multipliers

    @property
    def has_unique_multipliers(self) -> bool:
        """True if the multipliers are unique, that is, no constraint row is redundant."""
        G = self._constraint_jacobian
        return not G.shape[-2] or bool((np.linalg.matrix_rank(G, tol=RANK_TOLERANCE) == G.shape[-2]).all())

    @property
    def lambda_q(self) -> Array:
        """(…, rows, nv) ∂λ/∂ξ. Raises ModelError if the multipliers are not unique."""
        return self._with_leading_axes(self._multiplier_derivatives(self._changes_by_state[0]))

    @property
    def lambda_v(self) -> Array:
        """(…, rows, nv) ∂λ/∂v."""
        return self._with_leading_axes(self._multiplier_derivatives(self._changes_by_state[1]))

    @property
    def lambda_tau(self) -> Array:
        """(…, rows, nv) ∂λ/∂τ."""
        return self._with_leading_axes(self._multiplier_derivatives(self._changes_by_state[2]))

    @property
    def lambda_p(self) -> Array:
        """(…, rows, m) ∂λ/∂p."""
        return self._with_leading_axes(self._multiplier_derivatives(self._change_by_parameters))

    def _multiplier_derivatives(self, change: _MotionChange) -> Array:
        if not self.has_unique_multipliers:
            raise ModelError(
                "Multipliers are not unique here: some constraints are redundant.",
                where="derivatives",
                remedy="Derivatives of accelerations are unique; `mech.mobility()` names the redundant constraints.",
            )
        return change.multipliers

    # ----------------------------------------------------------------------------------------- how

    def _with_leading_axes(self, array: Array) -> Array:
        return array.reshape(*self._leading, *array.shape[1:])

    def _evaluate(self, function: str, u: Array) -> Array:
        """Value of a compiled function for machines whose only states are q and v (`_direct`)."""
        states = (self._q, self._v, u)
        if self._one:  # the quick path of single states
            return self._compiled.call(function, *(each[0] for each in states), p=self._given, t=self._t)[None]
        return np.asarray(self._compiled.call(function, *states, p=self._given, t=self._t))

    @cached_property
    def _parameter_indices(self) -> tuple[int, ...]:
        """Indices of the parameters."""
        return tuple(self._compiled.p_names.index(name) for name in self.by)

    @cached_property
    def _accelerations_and_multipliers(self) -> tuple[Array, Array]:
        given = (self._compiled, self._q, self._v, self._tau, self._given, True, self._t, self._x)
        return solve_constrained_motion(*given)

    @property
    def _accelerations(self) -> Array:
        return self._accelerations_and_multipliers[0]

    @cached_property
    def _mass_matrices(self) -> Array:
        return np.atleast_3d(self._compiled.mass_matrix(self._q, self._given))

    @cached_property
    def _force_derivatives(self) -> tuple[Array, Array]:
        if self._direct:
            found = self._evaluate("force_slopes", self._accelerations)
            return found[:, 0], found[:, 1]
        return self._equations.f_q, self._equations.f_v

    @cached_property
    def _acceleration_derivatives(self) -> tuple[Array, Array, Array]:
        if self._direct:
            found = self._evaluate("motion_slopes", self._tau)
            return found[:, 0], found[:, 1], found[:, 2]
        by_q, by_v, by_tau = self._changes_by_state
        return by_q.a, by_v.a, by_tau.a

    @cached_property
    def _parameter_array(self) -> Array:
        return self._compiled.parameter_values(self._given)

    def _equation_derivatives(self, parameters: tuple[int, ...]) -> EquationDerivatives:
        compiled, count = self._compiled, len(self._q)
        x = (
            np.zeros((count, 0))
            if self._x is None
            else broadcast_to_states(np.asarray(self._x, dtype=float), self._leading)
        )
        clock = np.broadcast_to(
            compiled.time_argument(self._t, self._given), (count, compiled.program.symbolic.clock.size)
        )
        state = {"q": self._q, "v": self._v, "u": self._accelerations, "x": x, "t": clock}
        return program_derivatives(compiled.program, parameters).evaluate_many(
            state, self._accelerations_and_multipliers[1], self._parameter_array
        )

    @cached_property
    def _equations(self) -> EquationDerivatives:
        return self._equation_derivatives(())

    @cached_property
    def _equations_by_parameters(self) -> EquationDerivatives:
        return self._equation_derivatives(self._parameter_indices)

    @cached_property
    def _constraint_jacobian(self) -> Array:
        compiled = self._compiled
        if not compiled.rows:
            return np.zeros((len(self._q), 0, compiled.nv))
        return np.stack([to_dense(compiled.constraint_matrix(q, self._given)) for q in self._q])

    def _solve_change(self, force: Array, constraint: Array) -> _MotionChange:
        """Solve M δa − Gᵀ δλ = force, G δa = constraint for δa and δλ."""
        M, G = self._mass_matrices, self._constraint_jacobian
        G_T = np.swapaxes(G, -1, -2)
        try:
            np.linalg.cholesky(M)
        except np.linalg.LinAlgError:  # bodies without mass: M + ρ GᵀG with G δa given has the same solution
            weight = np.trace(M, axis1=-2, axis2=-1) / np.maximum(np.trace(G_T @ G, axis1=-2, axis2=-1), 1e-300)
            weight = np.where(weight > 0.0, weight, 1.0)[:, None, None]
            M, force = M + weight * (G_T @ G), force + weight * (G_T @ constraint)
        try:
            solved = np.linalg.solve(M, np.concatenate([force, G_T], axis=-1))
        except np.linalg.LinAlgError:
            raise singularity_error(self._compiled, self._q[0], self._given) from None
        free, M_GT = solved[..., : force.shape[-1]], solved[..., force.shape[-1] :]
        multipliers = np.linalg.pinv(G @ M_GT, rcond=RANK_TOLERANCE, hermitian=True) @ (constraint - G @ free)
        return _MotionChange(free + M_GT @ multipliers, multipliers)

    @cached_property
    def _changes_by_state(self) -> tuple[_MotionChange, _MotionChange, _MotionChange]:
        """Derivatives of a and λ with respect to displacements, speeds and joint forces."""
        s, nv = self._equations, self._compiled.nv
        count, rows = len(self._q), self._constraint_jacobian.shape[-2]
        unit = np.broadcast_to(np.eye(nv), (count, nv, nv))
        return (
            self._solve_change(-s.f_q, -s.g_q),
            self._solve_change(-s.f_v, -s.g_v),
            self._solve_change(unit, np.zeros((count, rows, nv))),
        )

    @cached_property
    def _dependent_changes(self) -> tuple[Array, Array]:
        """P and V: the displacements ξ and speed changes δv by which positions and speeds follow the parameters."""
        s, nv = self._equations_by_parameters, self._compiled.nv
        P, V = np.zeros((2, len(self._q), nv, len(self._parameter_indices)))
        for k, G in enumerate(self._constraint_jacobian):
            if not len(G) or not self._parameter_indices:
                continue
            independent = choose_independent_speeds(self._compiled, null_space(G))
            free = np.setdiff1d(np.arange(nv), independent)
            inverse = np.linalg.pinv(G[:, free], rcond=RANK_TOLERANCE)
            P[k, free] = -inverse @ s.s_p[k]
            V[k, free] = -inverse @ (s.Gv_p[k] + s.Gv_q[k] @ P[k])
        return P, V

    @cached_property
    def _change_by_parameters(self) -> _MotionChange:
        s = self._equations_by_parameters
        P, V = self._dependent_changes
        return self._solve_change(-(s.f_p + s.f_q @ P + s.f_v @ V), -(s.g_p + s.g_q @ P + s.g_v @ V))
