"""Newton's method for operating points: steps on the manifold of closed poses within bounds, and the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints import motor_limits
from core.control.found_point import SOLVED, OperatingPointResult
from core.control.linear_system import LinearSystem
from core.control.trim_equations import DEPENDENT, TrimEquations, TrimResiduals
from core.control.trim_rows import describe_unfulfilled_rows, structural_rank
from core.errors import KinetostatError
from core.numerics.rank import null_space

Array = NDArray[np.float64]

MOST_STEPS = 60
LAST_STEPS = 10
"""Number of final steps in which only requirements are solved if targets have not converged."""
LONGEST = 0.5
"""Longest displacement of a step, rad or fractions of the machine's size."""
STANDING = 1e-14
"""Speed in rad/s or m/s below which it counts as the rounding error of a step and is set to zero."""
ENOUGH = 1e-4
"""Fraction of the linearly predicted decrease that a step must achieve."""
SHORTEST = 0.05
"""Smallest factor by which a rejected step is shortened."""
SETTLED = 1e-9
"""Relative decrease of the merit function below which a step counts as idle."""
MOST_IDLE = 2
"""Number of consecutive idle steps after which targets count as converged."""
MOST_BACK = 4
"""Largest number of corrections that return to the requirements after a step towards targets."""
HOLDS = 10.0
"""Weight of the requirements relative to the targets in the merit function."""
CLOSE = 0.1
"""Fraction of the merit that requirements may contribute for a parabola along the step to be used."""
LEFT = 0.1
"""Fraction of the residual of overdetermined requirements that a worthwhile step may leave."""


class TrimSolver(TrimEquations):
    """Newton solver for a trim problem from one initial point."""

    _seeks_targets = True
    """True while steps also go towards targets, not only to the requirements."""

    def solve(self) -> OperatingPointResult:
        """Solve by Newton's method with line search. Once the targets do not improve further, the requirements are
        solved without them."""
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
            before = self._merit_of_iterate(s, hold, targets)
            still = np.max(np.abs(step / self.unknown_scales(s)), initial=0.0) < 1e-13
            tried = self._line_search(s, step, before, self._merit_slope(s, hold, targets, step))
            ended = tried is None
            if tried is not None:
                s, hold, targets = tried
                ended = still or self._has_converged(s, hold, targets, before)
                idle = idle + 1 if self._merit_of_iterate(s, hold, targets) > before * (1.0 - SETTLED) else 0
                ended = ended or (self._seeks_targets and idle >= MOST_IDLE)
            if ended and not (self._seeks_targets and targets.r and self._has_unfulfilled_requirement(s, hold)):
                break
            self._seeks_targets = self._seeks_targets and not ended and count < MOST_STEPS - LAST_STEPS
        return self._result_at(s, hold, targets, acting, count)

    def _has_unfulfilled_requirement(self, system: LinearSystem, requirements: TrimResiduals) -> bool:
        """Return True if some requirement is not fulfilled."""
        return bool(np.max(np.abs(requirements.scaled_arrays(self.unknown_scales(system))[0]), initial=0.0) >= SOLVED)

    def _speeds_by_name(self, v: Any) -> dict[str, float]:
        return dict(v) if isinstance(v, Mapping) else dict(zip(self.mech.v_names, map(float, v), strict=True))

    def _merit_slope(
        self, system: LinearSystem, requirements: TrimResiduals, targets: TrimResiduals, step: Array
    ) -> float:
        """Return the derivative of half the squared merit along a step."""
        units = self.unknown_scales(system)
        (h, H), (t, T) = requirements.scaled_arrays(units), targets.scaled_arrays(units)
        parts = [(HOLDS, h, H), (1.0 if self._seeks_targets else 0.0, t, T)]
        rates = (weight * (r @ (J @ (step / units))) / max(float(np.linalg.norm(r)), 1e-300) for weight, r, J in parts)
        return float(self._merit_of_iterate(system, requirements, targets) * sum(rates))

    def _line_search(
        self, system: LinearSystem, step: Array, merit_before: float, slope: float
    ) -> tuple[LinearSystem, TrimResiduals, TrimResiduals] | None:
        """Return the iterate after a step, or after a shorter one that is good enough; None if there is no such length.
        Shorter lengths minimise a parabola (Nocedal and Wright, 3.5)."""
        values, part = self.values, 1.0
        best: tuple[float, Any, Array] = (np.inf, None, values)
        for _ in range(12):
            self.values = values
            found, merit = self._iterate_and_merit(system, part * step)
            if merit < best[0]:
                best = merit, found, self.values
            elif best[0] <= merit_before:
                break
            if merit < SOLVED or merit**2 <= merit_before**2 + 2.0 * ENOUGH * part * min(slope, 0.0):
                break
            least = 0.5 * part
            if np.isfinite(merit) and self._requirements_merit(*found[:2]) < CLOSE * merit:
                bend = 0.5 * (merit**2 - merit_before**2) - slope * part
                least = -0.5 * slope * part**2 / bend if bend > 0.0 > slope else least
            part = min(max(least, SHORTEST * part), 0.5 * part)
        merit, found, self.values = best
        if merit <= merit_before * (1.0 + 1e-6) or merit < SOLVED:
            self.kept = found[0].coordinates
            return found
        self.values = values
        return None

    def _iterate_and_merit(self, system: LinearSystem, step: Array) -> tuple[Any, float]:
        """Return the iterate after a step and its merit, infinite if it cannot be reached."""
        try:
            found = self._iterate_after(system, step)
            for _ in range(MOST_BACK if self._seeks_targets and found[2].r else 0):
                if not self._has_unfulfilled_requirement(*found[:2]):
                    break
                back, along, _ = self._newton_step(*found)
                found = self._iterate_after(found[0], back - along)
            return found, self._merit_of_iterate(*found)
        except KinetostatError:
            return None, np.inf

    def _iterate_after(self, system: LinearSystem, step: Array) -> tuple[LinearSystem, TrimResiduals, TrimResiduals]:
        """Return the iterate after a step."""
        k, n = len(system.coordinates), len(system.A)
        q = self.mech.integrate(system.q, system.basis[:, :n] @ step[:n])
        u = {
            name: float(system.v[self.mech.v_names.index(name)] + step[k + i])
            for i, name in enumerate(system.coordinates)
        }
        u = {name: each if abs(each) > STANDING else 0.0 for name, each in u.items()}
        self.values = self.values.copy()
        self.values[self.free] += step[n:]
        trial = self.linear(np.asarray(q), u, self.values)
        return trial, *self.equations(trial)

    def _is_overdetermined(self, system: LinearSystem, requirements: TrimResiduals) -> bool:
        """Return True if there are more requirements than unknowns to fulfil them, and no step reduces their
        residual."""
        h, H = requirements.scaled_arrays(self.unknown_scales(system))
        if structural_rank(H) == len(h):
            return False
        left = float(np.linalg.norm(h + H @ np.linalg.lstsq(H, -h, rcond=DEPENDENT)[0] if H.size else h))
        return bool(left > max(LEFT * float(np.linalg.norm(h)), SOLVED))

    def _merit_of_iterate(self, system: LinearSystem, requirements: TrimResiduals, targets: TrimResiduals) -> float:
        units = self.unknown_scales(system)
        t = targets.scaled_arrays(units)[0] if self._seeks_targets else np.zeros(0)
        return self._requirements_merit(system, requirements) + float(np.linalg.norm(t))

    def _requirements_merit(self, system: LinearSystem, requirements: TrimResiduals) -> float:
        """Return the share of the requirements in the merit."""
        return HOLDS * float(np.linalg.norm(requirements.scaled_arrays(self.unknown_scales(system))[0]))

    def _has_converged(
        self, system: LinearSystem, requirements: TrimResiduals, targets: TrimResiduals, merit_before: float
    ) -> bool:
        h = requirements.scaled_arrays(self.unknown_scales(system))[0]
        done = np.max(np.abs(h), initial=0.0) < 1e-2 * SOLVED
        after = self._merit_of_iterate(system, requirements, targets)
        settled = after > merit_before * (1.0 - SETTLED)
        return bool((done and (not targets.r or settled or after < 1e-2 * SOLVED)) or (settled and after < 1e-13))

    def _newton_step(
        self, system: LinearSystem, requirements: TrimResiduals, targets: TrimResiduals
    ) -> tuple[Array, Array, set[str]]:
        """Return the step of the unknowns within bounds, the part of it that is due to targets, each limited in length,
        and the active bounds."""
        units = self.unknown_scales(system)
        n = len(system.A)
        (h, H), (t, T) = requirements.scaled_arrays(units), targets.scaled_arrays(units)
        fixed: dict[int, float] = {}
        acting: set[str] = set()
        for _ in range(len(self.free) + 1):
            step, along = _prioritised_least_step(h, H, t, T, fixed)
            over = self._most_exceeded_bound(step * units, n, fixed)
            if over is None:
                break
            k, bound = over
            fixed[n + k] = (bound - self.values[self.free[k]]) / units[n + k]
            acting.add(self.table[self.free[k]].name)
        k = len(system.coordinates)
        kept, along = (
            part * units * min(1.0, LONGEST / max(float(np.max(np.abs(part[:k]), initial=0.0)), 1e-300))
            for part in (step - along, along)
        )
        return kept + along, along, acting

    def _most_exceeded_bound(
        self, step: Array, first_input: int, fixed: Mapping[int, float]
    ) -> tuple[int, float] | None:
        """Return (free input that exceeds its bound most, the bound); None if none does."""
        worst: tuple[float, int, float] | None = None
        for k, place in enumerate(self.free):
            row, value = self.rows[self.table[place].name], self.values[place] + step[first_input + k]
            most = float(self.most[place])
            bound = min(max(value, row.low, -most), row.high, most)
            past = abs(value - bound) / max(1.0, abs(bound))
            if first_input + k not in fixed and past > 1e-12 and (worst is None or past > worst[0]):
                worst = past, k, bound
        return None if worst is None else worst[1:]

    # ----------------------------------------------------------------------------------------- what came out

    def _missing_forces(
        self, system: LinearSystem, p: Array, names: Sequence[str], residuals: Array
    ) -> dict[str, float]:
        """Return the force that each coordinate lacks whose acceleration is not the required one."""
        k = len(system.coordinates)
        basis = system.basis[:, :k]
        forces = basis.T @ self.mech.mass_matrix(system.q, p=p) @ basis @ system.residual[k : 2 * k]
        unmet = {name for name, each in zip(names, residuals, strict=True) if abs(each) >= SOLVED}
        return {c: float(f) for c, f in zip(system.coordinates, forces, strict=True) if f"{c}.a" in unmet}

    def _result_at(
        self,
        system: LinearSystem,
        requirements: TrimResiduals,
        targets: TrimResiduals,
        active_bounds: set[str],
        count: int,
    ) -> OperatingPointResult:
        from core.constraints.multipliers import solve_constrained_motion

        units = self.unknown_scales(system)
        h, H = requirements.scaled_arrays(units)
        solved = bool(np.max(np.abs(h), initial=0.0) < SOLVED)
        point = self.lineariser.with_input_values(self.point, self.values)
        compiled, p = self.mech.compiled, point.p
        x = np.asarray(self.mech.x_rest(system.q, p=p, t=point.t)) if self.mech.nx else np.zeros(0)
        a, multipliers = solve_constrained_motion(
            compiled, system.q, system.v, point.tau, p, True, point.t, x if len(x) else None
        )
        missing = self._missing_forces(system, p, requirements.names, h)
        names = (*requirements.names, *targets.names)
        residuals = dict(zip(names, (*requirements.r, *targets.r), strict=True))
        values = dict(zip(system.output_names, map(float, system.y0), strict=True))
        inputs = {each.name: float(self.values[i]) for i, each in enumerate(self.table) if i in self.free}
        values |= {each.name: float(self.values[i]) for i, each in enumerate(self.table)}
        active_bounds |= {name for name in requirements.names if name in self.rows and self.rows[name].kind == "free"}
        message = "" if solved else self._failure_text(system, requirements, h, H, missing, active_bounds)
        if (
            self.motors
            and motor_limits.supplied_forces(compiled, system.v[None], point.tau[None], p).limited_states_mask.any()
        ):
            message = message or motor_limits.speed_limit_text(compiled, system.v, point.tau, p)
            solved = not message
            system = self.lineariser.at(
                point._replace(q=system.q, v=system.v, x=None), previous_speeds=self.kept, motors=True
            )
        return OperatingPointResult(
            solved,
            message,
            self.mech,
            system.q,
            system.v,
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
            tuple(sorted(active_bounds)),
            count,
            system,
            self.saturated,
            tuple(targets.names),
        )

    def _failure_text(
        self,
        system: LinearSystem,
        requirements: TrimResiduals,
        h: Array,
        H: Array,
        unbalanced_forces: Mapping[str, float],
        active_bounds: set[str],
    ) -> str:
        """Describe the requirements that are not fulfilled."""
        return describe_unfulfilled_rows(self, system, requirements, h, H, unbalanced_forces, active_bounds)


def _prioritised_least_step(h: Array, H: Array, t: Array, T: Array, fixed: Mapping[int, float]) -> tuple[Array, Array]:
    """Return the least x with H x = −h that minimises |T x + t| as second priority, and the part of x that is due to
    the latter; fixed : given entries"""
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
