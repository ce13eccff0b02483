"""Equations of a trim problem at an iterate: residuals and their derivatives with respect to the unknowns, from the
linear system there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.constraints import motor_limits
from core.control.linear_system import LinearSystem
from core.control.lineariser import Lineariser, StatePoint
from core.control.trim_rows import TrimRequirement
from core.mechanism import Mechanism

Array = NDArray[np.float64]

DEPENDENT = 1e-10
"""Fraction of the largest singular value of the rows below which a singular value counts as zero."""


@dataclass
class TrimResiduals:
    """Residuals r and their derivatives J with respect to the unknowns, for requirements or weighted targets; scale :
    (r,) sizes of the compared quantities."""

    names: list[str] = field(default_factory=list)
    r: list[float] = field(default_factory=list)
    J: list[Array] = field(default_factory=list)
    scale: list[float] = field(default_factory=list)

    def add(self, name: str, r: float, J: Array, scale: float) -> None:
        """Add a row."""
        self.names.append(name)
        self.r.append(float(r))
        self.J.append(J)
        self.scale.append(max(scale, 1e-300))

    def scaled_arrays(self, unknowns: Array) -> tuple[Array, Array]:
        """Return (r, J), scaled to comparable units."""
        r = np.array(self.r) / np.array(self.scale)
        J = np.array(self.J).reshape(len(r), len(unknowns)) * unknowns / np.array(self.scale)[:, None]
        return r, J


class TrimEquations:
    """Trim problem from one initial point, with its equations at any iterate."""

    def __init__(
        self,
        rows: Mapping[str, TrimRequirement],
        mech: Mechanism,
        lineariser: Callable[[Sequence[str], Sequence[str]], Lineariser],
        point: StatePoint,
        motors: bool,
    ) -> None:
        """Prepare unknowns and outputs. lineariser(inputs, outputs) : cached linear systems with these"""
        self.rows, self.given, self.motors = rows, mech, motors
        inputs = [name for name, row in self.rows.items() if row.of_input]
        outputs = [name for name, row in self.rows.items() if not row.of_input]
        rates = [f"{name[:-2]}.v" for name in outputs if name[-2:] in (".v", ".a")]
        faster = [f"{name[:-2]}.a" for name in outputs if name[-2:] == ".v"]
        self._outputs = list(dict.fromkeys([*outputs, *rates, *faster]))
        self.lineariser = lineariser(inputs, self._outputs)
        self.mech = self.lineariser.mech
        self.point = point._replace(mech=self.mech, p=self.lineariser.values(point.p))
        self.table = self.lineariser.inputs.table
        most = motor_limits.effort_limits(self.mech.compiled, self.point.p) if motors else np.full(self.mech.nv, np.inf)
        self.most = np.array([most[each.speed] if each.speed >= 0 else np.inf for each in self.table])
        """Largest values of the inputs that motors can supply."""
        start = self.lineariser.input_values(point)
        self.values = np.array([self._initial_unknown(k, each.name, start) for k, each in enumerate(self.table)])
        asked = self.lineariser.with_input_values(self.point, self.values).tau
        self.saturated = motor_limits.exceeded_effort_limits(self.mech.compiled, asked, self.point.p) if motors else {}
        self.point = self.point._replace(tau=np.clip(self.point.tau, -most, most))
        self.values = np.clip(self.values, -self.most, self.most)
        self.free = [k for k, each in enumerate(self.table) if self.rows[each.name].kind in ("free", "")]
        self.kept: tuple[str, ...] = ()
        self.wanted: dict[str, float] = {}

    def _initial_unknown(self, k: int, name: str, start: Array) -> float:
        row = self.rows[name]
        value = float(start[k]) if row.value is None else row.value
        return float(np.clip(value, row.low, row.high)) if row.kind == "free" else value

    # ------------------------------------------------------------------------------------------ one iterate

    def linear(self, q: Array, u: Mapping[str, float], values: Array) -> LinearSystem:
        """Return the linear system at a pose, with speeds by name and input values."""
        point = self.lineariser.with_input_values(self.point, values)._replace(q=q, v=dict(u), x=None)
        return self.lineariser.at(point, previous_speeds=self.kept)

    def equations(self, system: LinearSystem) -> tuple[TrimResiduals, TrimResiduals]:
        """Return (requirements, targets) at an iterate."""
        k, n = len(system.coordinates), len(system.A)
        AB, CD = (
            np.concatenate(both, axis=1)[:, self.columns(system)]
            for both in ((system.A, system.B), (system.C, system.D))
        )
        hold, targets = TrimResiduals(), TrimResiduals()
        quick = max(1.0, float(np.max(np.abs(system.a), initial=0.0)), self.acceleration_scale(system))
        places = {name: i for i, name in enumerate(system.output_names)}
        speeds: list[Array] = []
        accelerations: list[Array] = []
        free_v: list[str] = []
        free_a: list[str] = []
        for name, row in self.rows.items():
            if row.of_input:
                continue
            i = places[name]
            if name.endswith(".v") and row.kind == "free":
                free_v.append(name)
            if name.endswith(".a") and row.kind == "free":
                free_a.append(name)
            if row.kind == "steady":
                j, end = (places[f"{name[:-2]}.a"], ".a") if name.endswith(".v") else (i, "")
                hold.add(f"{name[:-2]}{end}" if end else name, system.y0[j], CD[j], quick)
                accelerations.append(system.C[places[f"{name[:-2]}.v"], k : 2 * k])
                free_v.append(name)
            elif row.kind in ("fixed", "target"):
                wanted = self.wanted.setdefault(name, float(system.y0[i])) if row.value is None else row.value
                size = quick if name.endswith(".a") else max(1.0, abs(wanted))
                into = hold if row.kind == "fixed" else targets
                into.add(name, system.y0[i] - wanted, CD[i], size / (row.weight if row.kind == "target" else 1.0))
                if name[-2:] in (".v", ".a"):
                    place = places[f"{name[:-2]}.v"]
                    (speeds if name[-2:] == ".v" else accelerations).append(system.C[place, k : 2 * k])
            beyond = self._exceeded_bound(row, float(system.y0[i]))
            if beyond is not None:
                hold.add(name, system.y0[i] - beyond, CD[i], max(1.0, abs(beyond)))
        self._require_equilibrium(system, hold, AB, (speeds, accelerations), (free_v, free_a), places, quick)
        for i in range(2 * k, n):
            if not system.state_names[i].endswith(tuple(each.name for each in self.table)):
                hold.add(f"rate of {system.state_names[i]}", system.residual[i], AB[i], 1.0)
        return hold, targets

    def _require_equilibrium(
        self,
        system: LinearSystem,
        requirements: TrimResiduals,
        AB: Array,
        given_rows: tuple[list[Array], list[Array]],
        free: tuple[list[str], list[str]],
        row_indices: Mapping[str, int],
        acceleration_scale: float,
    ) -> None:
        """Require zero speed and zero acceleration of the independent coordinates for which no requirement gives
        another value."""
        k = len(system.coordinates)
        unit = np.eye(AB.shape[1])
        for level, end in ((0, ".v"), (1, ".a")):
            open_ones = [system.C[row_indices[f"{name[:-2]}.v"], k : 2 * k] for name in free[level]]
            for i in complementary_coordinates(given_rows[level] + open_ones, k):
                name = f"{system.coordinates[i]}{end}"
                if level == 0:
                    requirements.add(name, system.residual[i], unit[k + i], 1.0)
                else:
                    requirements.add(name, system.residual[k + i], AB[k + i], acceleration_scale)

    def _exceeded_bound(self, row: TrimRequirement, value: float) -> float | None:
        """Return the bound that a row exceeds; None if it is within bounds."""
        if row.kind != "free":
            return None
        return row.low if value < row.low else row.high if value > row.high else None

    def columns(self, system: LinearSystem) -> list[int]:
        return [*range(len(system.A)), *(len(system.A) + k for k in self.free)]

    def acceleration_scale(self, system: LinearSystem) -> float:
        """Return the size of accelerations caused by gravity and by free inputs of size 1."""
        k = len(system.coordinates)
        return float(np.max(np.abs(system.A[k : 2 * k, :k]), initial=0.0))

    def unknown_scales(self, system: LinearSystem) -> Array:
        """Return the scales (unknowns,) of the unknowns."""
        size = self.lineariser.size
        states = np.array([size if unit in ("m", "m/s") else 1.0 for unit in system.units.states])
        quick = max(1.0, self.acceleration_scale(system))
        k = len(system.coordinates)
        efforts = []
        for each in self.free:
            gain = float(np.max(np.abs(system.B[k : 2 * k, each]), initial=0.0))
            efforts.append(quick / gain if gain > 0.0 else max(1.0, abs(self.values[each])))
        return np.concatenate([states, efforts])


def complementary_coordinates(rows: Sequence[Array], count: int) -> list[int]:
    """Return the coordinates whose unit rows complete the given rows (count,) to a basis and are as independent of them
    as possible."""
    if not rows:
        return list(range(count))
    span = np.array(rows).reshape(len(rows), count)
    left = np.eye(count) - np.linalg.pinv(span, rcond=DEPENDENT) @ span
    import scipy.linalg

    rank = count - int(np.linalg.matrix_rank(span, tol=1e-9 * max(1.0, float(np.max(np.abs(span), initial=0.0)))))
    pivots = scipy.linalg.qr(left, mode="r", pivoting=True)[1]
    return sorted(int(i) for i in pivots[:rank])
