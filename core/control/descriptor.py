"""Linear systems in descriptor form, with all coordinates, accelerations and constraint multipliers as states.

    E ż = A z + B w,   y = C z + D w,   z = (ξ, v, a, λ, x)

    ξ̇ = v + turn ξ,   v̇ = a,   0 = ∂f/∂q ξ + ∂f/∂v v + M a − Gᵀ λ + ∂f/∂x x + ∂f/∂w w,   0 = G ξ + ∂s/∂w w,   ẋ = …

A row that a driver holds on the level of speeds or accelerations stands on that level. Where constraints are redundant
the pencil is singular, as the multipliers are. About a state that is not at rest the matrices are those of an instant:
what G ξ = 0 says of ξ̈ holds with Ġ, which only the minimal form has (`core.analysis.small_motions`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.analysis.held_state import HeldState
from core.control.outputs import OutputSlopes
from core.later import dataclass
from core.numerics.matrix_forms import dense
from core.programs.derivatives import Equations

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class DescriptorSystem:
    """Descriptor system E ẋ = A x + B w, y = C x + D w. E, A : (n, n), B : (n, m), C : (p, n), D : (p, m), SI, for
    deviations from the state q (nq,), v, a (nv,), y0 (p,).

    State names: of a speed "joint.q" the displacement along it, "joint.v", "joint.a"; "loop.row.force" the multipliers;
    states of force elements
    """

    E: Array
    A: Array
    B: Array
    C: Array
    D: Array
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    q: Array
    v: Array
    a: Array
    y0: Array

    @property
    def poles(self) -> Complex:
        """Finite generalised eigenvalues of (A, E), 1/s; valid if no constraint is redundant."""
        import scipy.linalg

        alpha, beta = scipy.linalg.eigvals(self.A, self.E, homogeneous_eigvals=True)
        size = np.abs(alpha) + np.abs(beta)
        finite = np.abs(beta) > 1e-9 * np.where(size > 0.0, size, 1.0)
        return np.asarray(alpha[finite] / beta[finite], dtype=complex)

    def frequency_response(self, omega: ArrayLike) -> Complex:
        """Return (k, p, m) C (iω E − A)⁻¹ B + D at ω, rad/s; redundant multipliers are those of minimum norm."""
        rates = np.atleast_1d(np.asarray(omega, dtype=float))
        found = [
            self.C @ (np.linalg.pinv(1j * rate * self.E - self.A, rcond=1e-13) @ self.B) + self.D for rate in rates
        ]
        return np.array(found, dtype=complex)


def descriptor(
    held: HeldState, e: Equations, y: OutputSlopes, a: Array, seen: Array, names: tuple[tuple[str, ...], ...]
) -> DescriptorSystem:
    """Build the descriptor system about a closed state. e : derivatives by all states, columns of inputs; seen : (p, m)
    direct effect of the inputs on y; names : of speeds, states of force elements, inputs, outputs"""
    speeds, states, inputs, outputs = names
    G, mass = dense(held.rows), held.constraints.compiled.mass_matrix(held.q, held.constraints.p)
    nv, nx, m, rows = len(speeds), len(states), len(inputs), len(G)
    one, none = np.eye(nv), np.zeros
    levels = np.array([row.level for row in held.constraints.names] + [1] * (rows - held.constraints.rows), dtype=int)
    on = [np.where((levels == level)[:, None], 1.0, 0.0) for level in range(3)]
    holds = [on[0] * G + on[1] * e.Gv_q + on[2] * e.g_q, on[1] * G + on[2] * e.g_v, on[2] * G]
    A = np.block(
        [
            [e.turn, one, none((nv, nv)), none((nv, rows)), none((nv, nx))],
            [none((nv, nv)), none((nv, nv)), one, none((nv, rows)), none((nv, nx))],
            [e.f_q, e.f_v, mass, -G.T, e.f_x],
            [*holds, none((rows, rows)), none((rows, nx))],
            [e.x_q, e.x_v, none((nx, nv)), none((nx, rows)), e.x_x],
        ]
    )
    E = np.diag(np.concatenate([np.ones(2 * nv), none(nv + rows), np.ones(nx)]))
    held_by = on[0] * e.s_p + on[1] * e.Gv_p + on[2] * e.g_p
    B = np.concatenate([none((2 * nv, m)), e.f_p, held_by, e.x_p])
    y_l = np.concatenate([y.y_l, none((len(y.y_l), rows - held.constraints.rows))], axis=1)
    C = np.concatenate([y.y_q, y.y_v, y.y_a, y_l, y.y_x], axis=1)
    loops = [f"{row}.force" for row in held.constraints.names] + ["friction"] * (rows - held.constraints.rows)
    named = [f"{name}.{word}" for word in "qva" for name in speeds] + loops + list(states)
    return DescriptorSystem(E, A, B, C, seen, tuple(named), inputs, outputs, held.q, held.v, a, y.y[:, 0])
