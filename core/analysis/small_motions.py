"""Small motions about a state as linear functions of independent displacements s, speeds u, force-element states y and
inputs w.

    ξ = B s + P w,   δv = B u + D (s, w),   M δa − Gᵀ δλ = −δf,   G δa = −δg

with P and D by what holds (G P = −∂s/∂w, G δv = −∂(G v)/∂q ξ − …) and zero in the independent coordinates, δf and δg
the changes of f and g at the same a and λ. Inputs are whatever has columns f_p, g_p … in the `Equations`: parameters,
joint forces, drivers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.held_state import HeldState
from core.analysis.state_reduction import Reduction
from core.programs.derivatives import Equations

Array = NDArray[np.float64]


class SmallMotions(NamedTuple):
    """Coefficients of small motions by the columns z = (s, u, y, w); k independent coordinates, ny states, m inputs.

    displacement, speed, acceleration : (nv, n) ξ, δv, δa; states : (nx, n) δx; rates : (2k + ny, n) of (s, u, y)
    load : (nv, n) what δλ must carry, Gᵀ δλ; mass : (k, k) reduced mass matrix
    """

    displacement: Array
    speed: Array
    acceleration: Array
    states: Array
    rates: Array
    load: Array
    mass: Array

    @property
    def A(self) -> Array:
        """(n, n) state matrix."""
        return self.rates[:, : len(self.rates)]

    @property
    def B(self) -> Array:
        """(n, m) input matrix."""
        return self.rates[:, len(self.rates) :]


def small_motions(held: HeldState, slopes: Equations, found: Reduction, B: Array, chosen: list[int]) -> SmallMotions:
    """Small motions about a held state. slopes : including the joint rows (`HeldState.slopes`), by all states; B : (nv,
    k) motions of the independent speeds"""
    e = found.of(slopes)
    k, ny, m = len(chosen), len(found.kept), slopes.f_p.shape[1]
    of_s, of_u, of_y, of_w = np.split(np.eye(2 * k + ny + m), [k, 2 * k, 2 * k + ny])
    mass = held.constraints.compiled.mass_matrix(held.q, held.constraints.p)
    M, follow = B.T @ mass @ B, held.particular(B, chosen)
    displacement = B @ of_s + follow(-e.s_p) @ of_w
    speed = B @ of_u + follow(-(e.Gv_q @ displacement + e.Gv_p @ of_w))
    f = e.f_q @ displacement + e.f_v @ speed + e.f_x @ of_y + e.f_p @ of_w
    c = follow(-(e.g_q @ displacement + e.g_v @ speed + e.g_p @ of_w))
    faster = np.linalg.solve(M, -B.T @ (f + mass @ c)) if k else np.zeros((0, f.shape[1]))
    acceleration = B @ faster + c
    own = e.x_q @ displacement + e.x_v @ speed + e.x_x @ of_y + e.x_p @ of_w
    states = found.T @ displacement + found.Y @ of_y + found.T_p @ of_w
    moving = of_u + (e.turn @ displacement)[chosen]
    rates = np.concatenate([moving, faster, own])
    return SmallMotions(displacement, speed, acceleration, states, rates, mass @ acceleration + f, M)
