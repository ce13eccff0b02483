"""A state of a machine with everything that holds it: constraints, sticking joints, and motors at their speed limit.

Its motions in independent coordinates: v = B u, B the motions that are left, each 1 in one of the chosen speeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from core.analysis.pose_modes import contact_states_at, row_slopes
from core.constraints.joint_modes import JointRow
from core.constraints.joint_rows import row_biases_at
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.motor_limits import given, has_motor, saturated
from core.constraints.named_values import unknown_name_error
from core.errors import ModelError
from core.mechanism import Mechanism
from core.numerics.matrix_forms import stacked
from core.numerics.rank import least, solver
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.derivatives import Equations
from core.programs.not_finite import singular

Array = NDArray[np.float64]


def well_conditioned_speeds(constraints: PositionConstraints, N: Array) -> list[int]:
    """Indices of speeds that determine the others well, earlier joints preferred."""
    import scipy.linalg

    preference = (1.0 + 1.0 / (1.0 + np.arange(len(N)))) / constraints.units
    _, _, pivots = scipy.linalg.qr(N.T * preference, mode="economic", pivoting=True)
    return sorted(int(i) for i in pivots[: N.shape[1]])


def speeds_named(mech: Mechanism, names: Sequence[str], N: Array) -> list[int]:
    """Indices of the named speeds. Raises ModelError if they do not determine the others."""
    for name in names:
        if name not in mech.v_names:
            raise unknown_name_error(mech.compiled, "v", name)
    chosen = [mech.v_names.index(name) for name in names]
    if len(chosen) != N.shape[1] or np.linalg.matrix_rank(N[chosen], tol=1e-7) < len(chosen):
        raise ModelError(
            f"{', '.join(names)} do not determine the motion: {N.shape[1]} independent ones are needed.",
            remedy="Name other coordinates, or none to have them chosen automatically.",
        )
    return chosen


class HeldState:
    """A state of a machine with its constraints and the joint rows that are held there.

    tau : (nv,) joint forces, with `motors` what these give of what they are asked for; silent : (nv,) which of them do
    not change with what is asked: motors at their limit of effort, or overrun at that of speed
    """

    def __init__(
        self,
        constraints: PositionConstraints,
        q: Array,
        v: Array,
        tau: Array,
        x: Array,
        friction: bool,
        motors: bool = True,
    ) -> None:
        self.constraints, self.q, self.v = constraints, q, v
        compiled, p, t = constraints.compiled, constraints.p, constraints.t
        self.tau = given(compiled, tau, p) if motors else tau
        self.silent = saturated(compiled, tau, p) if motors else np.zeros(compiled.nv, dtype=bool)
        self._saturated = self.silent.copy()
        self.G = constraints.jacobian(q) if constraints.rows else np.zeros((0, compiled.nv))
        bias = compiled.call("constraint_bias", q, v, p=p, t=t)[constraints.kept] if constraints.rows else np.zeros(0)
        self.load = self.tau - compiled.call("bias", q, v, p=p, t=t, x=x)
        asked = self.tau if motors else None
        self.modes = contact_states_at(constraints, (q, v, x), self.load, solver(self.G)(-bias), friction, asked)
        self.silent[[row.at_v for row in self._joint_rows(self.modes.idle) if has_motor(row)]] = True
        self.rows = stacked(self.G, self.modes.W) if self.modes.kept else self.G
        self.bias = np.concatenate([bias, row_biases_at(compiled, self.modes.at, q, v, p)[self.modes.kept]])
        self.load = self.load + self.modes.at.W.T @ self.modes.given

    def _joint_rows(self, which: list[int]) -> list[JointRow]:
        return [self.modes.at.rows[i] for i in which]

    @property
    def saturated(self) -> tuple[str, ...]:
        """Speeds whose motors are at their effort limit."""
        names = self.constraints.compiled.v_names
        return tuple(name for name, full in zip(names, self._saturated, strict=True) if full)

    @property
    def stuck(self) -> tuple[str, ...]:
        """Coordinates that dry friction holds at rest."""
        return tuple(dict.fromkeys(self.modes.names(self.modes.stuck)))

    @property
    def limited(self) -> tuple[str, ...]:
        """Coordinates whose motors hold them at their speed limit."""
        return self.modes.names(self.modes.limited)

    @property
    def overrun(self) -> tuple[str, ...]:
        """Coordinates that loads drive at or above their motor's speed limit, so that the motor gives nothing."""
        return self.modes.names(self.modes.idle)

    @property
    def motions(self) -> Array:
        """(nv, k) speeds that remain free."""
        import scipy.linalg

        N = self.constraints.motions(self.q)
        if not self.modes.kept or not N.shape[1]:
            return N
        return np.asarray(N @ scipy.linalg.null_space(self.modes.W @ N, rcond=RANK_TOLERANCE))

    def particular(self, B: Array, chosen: list[int]) -> Callable[[Array], Array]:
        """Function target → x (nv,) that moves the held rows by the target, with x = 0 in the independent
        coordinates."""
        solve = solver(self.rows)

        def solved(target: Array) -> Array:
            x = solve(target)
            return np.asarray(x - B @ x[chosen])

        return solved

    def motion(self, B: Array, chosen: list[int]) -> tuple[Array, Array, Array]:
        """Accelerations a = B ü + c, multipliers, and (rows,) forces along the joint rows; tree bodies may lack mass as
        long as Bᵀ M B is nonsingular."""
        compiled, p = self.constraints.compiled, self.constraints.p
        mass = compiled.mass_matrix(self.q, p)
        c = self.particular(B, chosen)(-self.bias)
        M = B.T @ mass @ B
        if len(M) and np.linalg.eigvalsh(M)[0] <= 1e-12 * np.max(np.diag(M)):
            raise singular(compiled, self.q, p)
        a = np.asarray(B @ np.linalg.solve(M, B.T @ (self.load - mass @ c)) + c)
        found = least(self.rows.T, mass @ a - self.load)
        carried = self.modes.given.copy()
        carried[self.modes.kept] += found[self.constraints.rows :]
        return a, found[: self.constraints.rows], carried

    def slopes(self, slopes: Equations, a: Array, carried: Array) -> Equations:
        """Derivatives extended by those of the joint rows, which carry these forces (rows,)."""
        stops, turning = self.modes.stops, row_slopes(self.constraints, self.modes, self.q, self.v, a, carried)
        still = np.zeros((len(self.modes.kept), slopes.f_p.shape[1]))
        springs, dampers = (stops.rows.T @ (each[:, None] * stops.rows) for each in (stops.stiffness, stops.damping))
        return slopes._replace(
            f_q=slopes.f_q + springs - turning.force,
            f_v=slopes.f_v + dampers,
            g_q=np.concatenate([slopes.g_q, turning.acceleration]),
            g_v=np.concatenate([slopes.g_v, turning.by_speed]),
            Gv_q=np.concatenate([slopes.Gv_q, turning.speed]),
            **{name: np.concatenate([getattr(slopes, name), still]) for name in ("g_p", "Gv_p", "s_p")},
        )
