"""Newton's method for operating points: steps on the manifold of closed poses within bounds, and the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints import motor_limits
from core.control.found_point import SOLVED, Found
from core.control.linear_system import LinearSystem
from core.control.trim_equations import DEPENDENT, Equations, TrimEquations
from core.control.trim_rows import structural_rank, unfulfilled_rows_text
from core.errors import KinetostatError
from core.numerics.rank import null_space

Array = NDArray[np.float64]

MOST_STEPS = 60
LAST_STEPS = 10
"""Number of the last steps in which only requirements are solved if targets have not converged."""
LONGEST = 0.5
"""Longest displacement of a step, rad or fractions of the machine's size."""
STANDING = 1e-14
"""Speed in rad/s or m/s below which it is rounding error of a step and set to zero."""
ENOUGH = 1e-4
"""Fraction of the linearly predicted decrease that a step must achieve."""
SHORTEST = 0.05
"""Smallest factor by which a rejected step is shortened."""
SETTLED = 1e-9
"""Relative decrease of the merit function below which a step counts as idle."""
MOST_IDLE = 2
"""Number of consecutive idle steps after which targets count as converged."""
MOST_BACK = 4
"""Largest number of corrections back to the requirements after a step towards targets."""
HOLDS = 10.0
"""Weight of the requirements relative to targets in the merit function."""
CLOSE = 0.1
"""Fraction of the merit that requirements may have for a parabola along the step to be used."""
LEFT = 0.1
"""Fraction of the residual of overdetermined rows that a worthwhile step may leave."""


class TrimSolver(TrimEquations):
    """Newton solver for a trim problem from one initial point."""

    _seeks_targets = True
    """True while steps also go towards targets, not only to the requirements."""

    def solve(self) -> Found:
        """Solve by Newton's method with line search. Once targets no longer improve, the requirements are solved
        without them."""
        q, u = self.point.q, self.point.v
        s = self.linear(q, {} if u is None else self._speeds_by_name(u), self.values)
        self.kept = s.coordinates
        acting: set[str] = set()
        hold, targets = self.equations(s)
        count = idle = 0
        while count < MOST_STEPS:
            step, along, acting = self._newton_step(s, hold, targets)
            step = step if self._seeks_targets else step - along
            if self._is_overdetermined(s, hold):
                break
            count += 1
            before = self._merit(s, hold, targets)
            still = np.max(np.abs(step / self.units(s)), initial=0.0) < 1e-13
            tried = self._line_search(s, step, before, self._merit_slope(s, hold, targets, step))
            ended = tried is None
            if tried is not None:
                s, hold, targets = tried
                ended = still or self._has_converged(s, hold, targets, before)
                idle = idle + 1 if self._merit(s, hold, targets) > before * (1.0 - SETTLED) else 0
                ended = ended or (self._seeks_targets and idle >= MOST_IDLE)
            if ended and not (self._seeks_targets and targets.r and self._is_unfulfilled(s, hold)):
                break
            self._seeks_targets = self._seeks_targets and not ended and count < MOST_STEPS - LAST_STEPS
        return self._result_at(s, hold, targets, acting, count)

    def _is_unfulfilled(self, s: LinearSystem, hold: Equations) -> bool:
        """Return True if some requirement is not fulfilled."""
        return bool(np.max(np.abs(hold.arrays(self.units(s))[0]), initial=0.0) >= SOLVED)

    def _speeds_by_name(self, v: Any) -> dict[str, float]:
        return dict(v) if isinstance(v, Mapping) else dict(zip(self.mech.v_names, map(float, v), strict=True))

    def _merit_slope(self, s: LinearSystem, hold: Equations, targets: Equations, step: Array) -> float:
        """Return the derivative of half the squared merit along a step."""
        units = self.units(s)
        (h, H), (t, T) = hold.arrays(units), targets.arrays(units)
        parts = [(HOLDS, h, H), (1.0 if self._seeks_targets else 0.0, t, T)]
        rates = (weight * (r @ (J @ (step / units))) / max(float(np.linalg.norm(r)), 1e-300) for weight, r, J in parts)
        return float(self._merit(s, hold, targets) * sum(rates))

    def _line_search(
        self, s: LinearSystem, step: Array, before: float, slope: float
    ) -> tuple[LinearSystem, Equations, Equations] | None:
        """Return the iterate after a step or after a shorter one that is good enough; None if no length is. Shorter
        lengths minimise a parabola (Nocedal and Wright, 3.5)."""
        values, part = self.values, 1.0
        best: tuple[float, Any, Array] = (np.inf, None, values)
        for _ in range(12):
            self.values = values
            found, merit = self._iterate_and_merit(s, part * step)
            if merit < best[0]:
                best = merit, found, self.values
            elif best[0] <= before:
                break
            if merit < SOLVED or merit**2 <= before**2 + 2.0 * ENOUGH * part * min(slope, 0.0):
                break
            least = 0.5 * part
            if np.isfinite(merit) and self._requirements_merit(*found[:2]) < CLOSE * merit:
                bend = 0.5 * (merit**2 - before**2) - slope * part
                least = -0.5 * slope * part**2 / bend if bend > 0.0 > slope else least
            part = min(max(least, SHORTEST * part), 0.5 * part)
        merit, found, self.values = best
        if merit <= before * (1.0 + 1e-6) or merit < SOLVED:
            self.kept = found[0].coordinates
            return found
        self.values = values
        return None

    def _iterate_and_merit(self, s: LinearSystem, step: Array) -> tuple[Any, float]:
        """Return the iterate after a step and its merit, infinite if it cannot be reached."""
        try:
            found = self._iterate_after(s, step)
            for _ in range(MOST_BACK if self._seeks_targets and found[2].r else 0):
                if not self._is_unfulfilled(*found[:2]):
                    break
                back, along, _ = self._newton_step(*found)
                found = self._iterate_after(found[0], back - along)
            return found, self._merit(*found)
        except KinetostatError:
            return None, np.inf

    def _iterate_after(self, s: LinearSystem, step: Array) -> tuple[LinearSystem, Equations, Equations]:
        """Return the iterate after a step."""
        k, n = len(s.coordinates), len(s.A)
        q = self.mech.integrate(s.q, s.basis[:, :n] @ step[:n])
        u = {name: float(s.v[self.mech.v_names.index(name)] + step[k + i]) for i, name in enumerate(s.coordinates)}
        u = {name: each if abs(each) > STANDING else 0.0 for name, each in u.items()}
        self.values = self.values.copy()
        self.values[self.free] += step[n:]
        trial = self.linear(np.asarray(q), u, self.values)
        return trial, *self.equations(trial)

    def _is_overdetermined(self, s: LinearSystem, hold: Equations) -> bool:
        """Return True if there are more requirements than unknowns for them, and no step reduces their residual."""
        h, H = hold.arrays(self.units(s))
        if structural_rank(H) == len(h):
            return False
        left = float(np.linalg.norm(h + H @ np.linalg.lstsq(H, -h, rcond=DEPENDENT)[0] if H.size else h))
        return bool(left > max(LEFT * float(np.linalg.norm(h)), SOLVED))

    def _merit(self, s: LinearSystem, hold: Equations, targets: Equations) -> float:
        units = self.units(s)
        t = targets.arrays(units)[0] if self._seeks_targets else np.zeros(0)
        return self._requirements_merit(s, hold) + float(np.linalg.norm(t))

    def _requirements_merit(self, s: LinearSystem, hold: Equations) -> float:
        """Return the share of the requirements in the merit."""
        return HOLDS * float(np.linalg.norm(hold.arrays(self.units(s))[0]))

    def _has_converged(self, s: LinearSystem, hold: Equations, targets: Equations, before: float) -> bool:
        h = hold.arrays(self.units(s))[0]
        done = np.max(np.abs(h), initial=0.0) < 1e-2 * SOLVED
        after = self._merit(s, hold, targets)
        settled = after > before * (1.0 - SETTLED)
        return bool((done and (not targets.r or settled or after < 1e-2 * SOLVED)) or (settled and after < 1e-13))

    def _newton_step(self, s: LinearSystem, hold: Equations, targets: Equations) -> tuple[Array, Array, set[str]]:
        """Return the step of the unknowns within bounds, the part of it due to targets, each limited in length, and the
        active bounds."""
        units = self.units(s)
        n = len(s.A)
        (h, H), (t, T) = hold.arrays(units), targets.arrays(units)
        fixed: dict[int, float] = {}
        acting: set[str] = set()
        for _ in range(len(self.free) + 1):
            step, along = _least_step(h, H, t, T, fixed)
            over = self._worst_bound(step * units, n, fixed)
            if over is None:
                break
            k, bound = over
            fixed[n + k] = (bound - self.values[self.free[k]]) / units[n + k]
            acting.add(self.table[self.free[k]].name)
        k = len(s.coordinates)
        kept, along = (
            part * units * min(1.0, LONGEST / max(float(np.max(np.abs(part[:k]), initial=0.0)), 1e-300))
            for part in (step - along, along)
        )
        return kept + along, along, acting

    def _worst_bound(self, step: Array, n: int, fixed: Mapping[int, float]) -> tuple[int, float] | None:
        """Return (free input that exceeds a bound most, the bound); None if none does."""
        worst: tuple[float, int, float] | None = None
        for k, place in enumerate(self.free):
            row, value = self.rows[self.table[place].name], self.values[place] + step[n + k]
            most = float(self.most[place])
            bound = min(max(value, row.low, -most), row.high, most)
            past = abs(value - bound) / max(1.0, abs(bound))
            if n + k not in fixed and past > 1e-12 and (worst is None or past > worst[0]):
                worst = past, k, bound
        return None if worst is None else worst[1:]

    # ----------------------------------------------------------------------------------------- what came out

    def _result_at(self, s: LinearSystem, hold: Equations, targets: Equations, acting: set[str], count: int) -> Found:
        from core.constraints.multipliers import constrained_motion

        units = self.units(s)
        h, H = hold.arrays(units)
        solved = bool(np.max(np.abs(h), initial=0.0) < SOLVED)
        point = self.lineariser.with_input_values(self.point, self.values)
        compiled, p = self.mech.compiled, point.p
        x = np.asarray(self.mech.x_rest(s.q, p=p, t=point.t)) if self.mech.nx else np.zeros(0)
        a, multipliers = constrained_motion(compiled, s.q, s.v, point.tau, p, True, point.t, x if len(x) else None)
        M = self.mech.mass_matrix(s.q, p=p)
        k = len(s.coordinates)
        forces = s.basis[:, :k].T @ M @ s.basis[:, :k] @ s.residual[k : 2 * k]
        off = {name for name, each in zip(hold.names, h, strict=True) if abs(each) >= SOLVED}
        missing = {c: float(f) for c, f in zip(s.coordinates, forces, strict=True) if f"{c}.a" in off}
        names = (*hold.names, *targets.names)
        residuals = dict(zip(names, (*hold.r, *targets.r), strict=True))
        values = dict(zip(s.output_names, map(float, s.y0), strict=True))
        inputs = {each.name: float(self.values[i]) for i, each in enumerate(self.table) if i in self.free}
        values |= {each.name: float(self.values[i]) for i, each in enumerate(self.table)}
        acting |= {name for name in hold.names if name in self.rows and self.rows[name].kind == "free"}
        message = "" if solved else self._failure_text(s, hold, h, H, missing, acting)
        if self.motors and motor_limits.supplied_forces(compiled, s.v[None], point.tau[None], p).reached.any():
            message = message or motor_limits.speed_limit_text(compiled, s.v, point.tau, p)
            solved = not message
            s = self.lineariser.at(point._replace(q=s.q, v=s.v, x=None), kept=self.kept, motors=True)
        return Found(
            solved,
            message,
            self.mech,
            s.q,
            s.v,
            np.asarray(a),
            point.tau,
            x,
            np.asarray(multipliers),
            point.t,
            inputs,
            dict(zip(self.mech.p_names, map(float, p), strict=True)),
            {name: values[name] for name in (*self.rows,)},
            residuals,
            missing,
            tuple(sorted(acting)),
            count,
            s,
            self.saturated,
            tuple(targets.names),
        )

    def _failure_text(
        self,
        s: LinearSystem,
        hold: Equations,
        h: Array,
        H: Array,
        missing: Mapping[str, float],
        acting: set[str],
    ) -> str:
        """Describe the requirements that are not fulfilled."""
        return unfulfilled_rows_text(self, s, hold, h, H, missing, acting)


def _least_step(h: Array, H: Array, t: Array, T: Array, fixed: Mapping[int, float]) -> tuple[Array, Array]:
    """Return the least x with H x = −h that minimises |T x + t| as second priority, and the part of x due to the
    latter; fixed : given entries"""
    count = H.shape[1] if H.size else T.shape[1]
    x, onward = np.zeros((2, count))
    for k, value in fixed.items():
        x[k] = value
    left = [k for k in range(count) if k not in fixed]
    A, b = H[:, left], -(h + H @ x)
    first = np.linalg.lstsq(A, b, rcond=DEPENDENT)[0] if len(b) else np.zeros(len(left))
    if len(t):
        N = null_space(A, DEPENDENT) if len(b) else np.eye(len(left))
        B = T[:, left]
        along = np.linalg.lstsq(B @ N, -(t + T @ x) - B @ first, rcond=DEPENDENT)[0] if N.size else np.zeros(0)
        first, onward[left] = first + N @ along, N @ along
    x[left] = first
    return x, onward
