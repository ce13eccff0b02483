"""Linear systems with named states, inputs and outputs: ẋ = A x + B w, y = C x + D w, about an operating point.

Poles, transmission zeros (Emami-Naeini and Van Dooren, Automatica 18, 1982), responses, and what of each mode the
inputs reach and the outputs see (Kalman; Hautus).
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from core.control.exchange import ImportedSystem, from_control, from_npz, to_control, to_mat, to_npz
from core.errors import ModelError, join_words, suggest_names
from core.model.formula.numerals import format_readable

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

NEGLIGIBLE = 1e-10
"""Fraction of the largest entry below which a direction of the staircase form counts as zero."""
UNREACHED = 1e-9
"""Fraction of the largest controllability or observability of any mode below which a mode counts as uncontrollable or
unobservable."""


class Units(NamedTuple):
    """SI units of states, inputs and outputs, as text."""

    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


class ModeView(NamedTuple):
    """A mode of the system with its controllability and observability.

    number : from 1; pole : 1/s; controllability, observability : 0 … 1, what the inputs reach and the outputs see of
    it, relative to the best mode; by_input, by_output : (m,), (p,) the same by each
    """

    number: int
    pole: complex
    controllability: float
    observability: float
    by_input: Array
    by_output: Array

    @property
    def frequency(self) -> float:
        """Frequency in Hz; 0 if the mode does not oscillate."""
        return abs(self.pole.imag) / (2.0 * math.pi)


@dataclass(frozen=True, eq=False)
class LinearSystem:
    """Linear system ẋ = A x + B w, y = C x + D w for deviations from x0, w0 = u0, y0.

    A : (n, n), B : (n, m), C : (p, n), D : (p, m), SI. State names are signals: "joint.q", "joint.v", states of force
    elements; of quaternion joints the displacement along a speed. residual : (n,) ẋ at the operating point itself: zero
    where it is one. q, v, a : (nq,), (nv,), (nv,) of all joints there; tau : (nv,) as motors give it; time : s.
    stuck : coordinates that dry friction holds at rest, which are no states; saturated, limited, overrun : speeds whose
    motors give their limit of effort, hold their limit of speed, give nothing as loads are faster than that: asking for
    more changes nothing.
    basis : (nv, n) displacement of all joints by each state, for playing modes.
    """

    A: Array
    B: Array
    C: Array
    D: Array
    state_names: tuple[str, ...]
    input_names: tuple[str, ...]
    output_names: tuple[str, ...]
    units: Units
    x0: Array
    u0: Array
    y0: Array
    residual: Array
    q: Array = field(default_factory=lambda: np.zeros(0))
    v: Array = field(default_factory=lambda: np.zeros(0))
    a: Array = field(default_factory=lambda: np.zeros(0))
    tau: Array = field(default_factory=lambda: np.zeros(0))
    basis: Array = field(default_factory=lambda: np.zeros((0, 0)))
    modes: tuple[Any, ...] = ()
    time: float = 0.0
    coordinates: tuple[str, ...] = ()
    saturated: tuple[str, ...] = ()
    limited: tuple[str, ...] = ()
    overrun: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()

    def __repr__(self) -> str:
        n, m, p = len(self.state_names), len(self.input_names), len(self.output_names)
        return f"LinearSystem({n} states, {m} inputs, {p} outputs)"

    # ------------------------------------------------------------------------------------------ what it does

    @property
    def at_limits(self) -> bool:
        """True if some motors are at their limits."""
        return bool(self.saturated or self.limited or self.overrun)

    @property
    def at_rest(self) -> bool:
        """True if the operating point is an equilibrium; otherwise the system describes motion about a trajectory."""
        scale = max(1.0, float(np.max(np.abs(self.A), initial=0.0)))
        return bool(np.max(np.abs(self.residual), initial=0.0) <= 1e-8 * scale)

    @property
    def poles(self) -> Complex:
        """Eigenvalues (n,) of A, 1/s, by magnitude."""
        found = np.linalg.eigvals(self.A) if len(self.A) else np.zeros(0, dtype=complex)
        return np.asarray(found[np.lexsort((found.imag, np.round(np.abs(found), 9)))], dtype=complex)

    @property
    def zeros(self) -> Complex:
        """Invariant zeros, 1/s: rates of input signals that do not appear at the outputs; uncontrollable and
        unobservable modes are included."""
        return compute_invariant_zeros(self.A, self.B, self.C, self.D)

    def selected(self, inputs: Sequence[str] | str = (), outputs: Sequence[str] | str = ()) -> LinearSystem:
        """Return the system with some of the inputs and outputs, default all. Raises ModelError that names unknown
        ones."""
        m, p = (
            _indices_of_names(inputs, self.input_names, "input"),
            _indices_of_names(outputs, self.output_names, "output"),
        )
        units = Units(
            self.units.states, tuple(self.units.inputs[k] for k in m), tuple(self.units.outputs[k] for k in p)
        )
        return replace(
            self,
            B=self.B[:, m],
            C=self.C[p],
            D=self.D[np.ix_(p, m)],
            input_names=tuple(self.input_names[k] for k in m),
            output_names=tuple(self.output_names[k] for k in p),
            units=units,
            u0=self.u0[m],
            y0=self.y0[p],
        )

    def frequency_response(self, omega: ArrayLike) -> Complex:
        """Return (k, p, m) C (iω − A)⁻¹ B + D at ω, rad/s; infinite at a pole on the imaginary axis."""
        rates = np.atleast_1d(np.asarray(omega, dtype=float))
        n = len(self.A)
        result = np.empty((len(rates), len(self.C), self.B.shape[1]), dtype=complex)
        for k, rate in enumerate(rates):
            try:
                result[k] = self.C @ np.linalg.solve(1j * rate * np.eye(n) - self.A, self.B) + self.D
            except np.linalg.LinAlgError:
                result[k] = np.inf
        return result

    def singular_values(self, omega: ArrayLike) -> Array:
        """Return (k, min(p, m)) singular values of the frequency response, largest first."""
        return np.asarray(np.linalg.svd(self.frequency_response(omega), compute_uv=False))

    def dc_gain(self) -> Array:
        """Steady-state gain (p, m) for constant inputs; infinite if a pole is at zero."""
        return np.asarray(self.frequency_response(0.0)[0].real)

    def step_response(self, time: ArrayLike) -> Array:
        """Return (k, p, m) outputs over times (s, equal steps from 0) for a unit step of each input."""
        t, n, m = _check_equal_steps(time), len(self.A), self.B.shape[1]
        moved = _matrix_exponential(
            np.block([[self.A, self.B], [np.zeros((m, n + m))]]) * (t[1] - t[0] if len(t) > 1 else 0)
        )
        x = np.concatenate([np.zeros((n, m)), np.eye(m)])
        out = np.empty((len(t), len(self.C), m))
        for k in range(len(t)):
            out[k] = self.C @ x[:n] + self.D @ x[n:]
            x = moved @ x
        return out

    def impulse_response(self, time: ArrayLike) -> Array:
        """Return (k, p, m) outputs for a unit impulse of each input, without the direct term D."""
        return self.free_response(time, self.B)

    def free_response(self, time: ArrayLike, start: ArrayLike) -> Array:
        """Return (k, p) or (k, p, r) outputs from initial states (n,) or (n, r) without inputs."""
        t, x = _check_equal_steps(time), np.asarray(start, dtype=float)
        moved = _matrix_exponential(self.A * (t[1] - t[0] if len(t) > 1 else 0))
        out = np.empty((len(t), len(self.C), *x.shape[1:]))
        for k in range(len(t)):
            out[k] = self.C @ x
            x = moved @ x
        return out

    # ----------------------------------------------------------------------------------- modes by their names

    def mode_views(self) -> tuple[ModeView, ...]:
        """Modes with their controllability and observability, slowest first, conjugate pairs once. The modes of a
        multiple pole share one value."""
        import scipy.linalg

        if not len(self.A):
            return ()
        scaled, scale = _balance_matrix(self.A)
        values, left, right = scipy.linalg.eig(scaled, left=True, right=True)
        reach = np.abs(left.conj().T @ (self.B / scale[:, None]))
        seen = np.abs((self.C * scale) @ right).T
        order = [k for k in np.lexsort((values.imag, np.round(np.abs(values), 9))) if values[k].imag >= 0.0]
        best_in, best_out = (np.max(each, axis=0, initial=0.0) for each in (reach, seen))
        reach, seen = (each / np.where(best > 0.0, best, 1.0) for each, best in ((reach, best_in), (seen, best_out)))
        return tuple(
            ModeView(
                number,
                complex(values[k]),
                float(np.max(reach[k], initial=0.0)),
                float(np.max(seen[k], initial=0.0)),
                reach[k],
                seen[k],
            )
            for number, k in enumerate(order, 1)
        )

    def remarks(self) -> tuple[str, ...]:
        """Return sentences on joints stuck by friction, motors at their limits, and uncontrollable and unobservable
        modes."""
        limits = (
            (self.saturated, "is at its effort limit"),
            (self.limited, "is at its speed limit"),
            (self.overrun, "exerts no force, since the load moves at its speed limit"),
        )
        found = [sticking_joints_sentence(self.stuck)] if self.stuck else []
        found += [
            f"The motor of {_format_name_list(names)} {words}: a larger command changes nothing."
            for names, words in limits
            if names
        ]
        for mode in self.mode_views():
            if self.input_names and not self._has_full_hautus_rank(mode.pole, inputs=True):
                found.append(f"{_describe_mode(mode)} is not controllable from {_format_name_list(self.input_names)}.")
            if self.output_names and not self._has_full_hautus_rank(mode.pole, inputs=False):
                found.append(f"{_describe_mode(mode)} is not observable from {_format_name_list(self.output_names)}.")
        return tuple(dict.fromkeys(found))

    def _has_full_hautus_rank(self, pole: complex, inputs: bool) -> bool:
        """Return True if [λ − A, B] has full rank (Hautus test), so that the inputs control all motions of this
        pole."""
        A, W = (self.A, self.B) if inputs else (self.A.T, self.C.T)
        scaled, scale = _balance_matrix(A)
        moved = W / scale[:, None]
        size = np.linalg.norm(moved, axis=0)
        pencil = np.concatenate([pole * np.eye(len(A)) - scaled, moved / np.where(size > 0.0, size, 1.0)], axis=1)
        sigma = np.linalg.svd(pencil, compute_uv=False)
        return bool(sigma[-1] > UNREACHED * max(1.0, float(sigma[0])))

    @property
    def controllable(self) -> bool:
        """True if all modes are controllable."""
        return all(self._has_full_hautus_rank(mode.pole, inputs=True) for mode in self.mode_views())

    @property
    def observable(self) -> bool:
        """True if all modes are observable."""
        return all(self._has_full_hautus_rank(mode.pole, inputs=False) for mode in self.mode_views())

    # ------------------------------------------------------------------------------------------------- ways out

    def to_scipy(self) -> Any:
        """Convert to scipy.signal.StateSpace."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)

    def to_control(self) -> Any:
        """Convert to control.StateSpace with our names. Raises ModelError if python-control is not installed."""
        return to_control(self)

    @staticmethod
    def from_control(system: Any) -> LinearSystem:
        """Convert a continuous control.StateSpace; its operating point is zero."""
        return _system_from_imported(from_control(system))

    def to_npz(self, path: str | os.PathLike[str]) -> None:
        """Write matrices, operating point, names and units to a NumPy archive. Raises FileError."""
        to_npz(self, path)

    @staticmethod
    def from_npz(path: str | os.PathLike[str]) -> LinearSystem:
        """Read a file written by `to_npz`. Raises FileError."""
        return _system_from_imported(from_npz(path))

    def to_mat(self, path: str | os.PathLike[str]) -> None:
        """Write a MATLAB file (version 5) with the content of `to_npz`. Raises FileError."""
        to_mat(self, path)


STACKED = ("A", "B", "C", "D", "x0", "u0", "y0", "residual", "q", "v", "a", "tau", "basis")
"""Fields of linear systems along a run that are stacked into arrays with time as the first axis."""


class SystemsFromArrays(Sequence[LinearSystem]):
    """Sequence of systems with equal names; each is built from arrays (n, …) when it is accessed."""

    def __init__(self, template: LinearSystem, time: Array, arrays: Mapping[str, Array]) -> None:
        self._like, self._time, self.arrays = template, time, arrays

    def __len__(self) -> int:
        return len(self._time)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        if not -len(self) <= k < len(self):
            raise IndexError(k)
        own = {name: array[k] for name, array in self.arrays.items()}
        return replace(self._like, time=float(self._time[k]), modes=(), **own)


class ConcatenatedSystems(Sequence[LinearSystem]):
    """Sequence of systems composed of several sequences; an array (n, 2) gives, for each system, the index of its
    sequence and its index in it."""

    def __init__(self, parts: Sequence[Sequence[LinearSystem]], positions: NDArray[np.int64]) -> None:
        self._parts, self._place = parts, positions

    def __len__(self) -> int:
        return len(self._place)

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        part, at = self._place[k]
        return self._parts[part][at]


@dataclass(frozen=True, eq=False)
class LinearSystems:
    """Linear systems at times of a run; between the times in `changes` they have the same coordinates.

    A, B, C, D, x0, u0, y0, residual have the time first, where the states are the same all along.
    """

    time: Array
    systems: Sequence[LinearSystem]
    changes: tuple[tuple[float, tuple[str, ...]], ...] = ()
    """(time, independent coordinates from then on), starting with the initial time."""

    def __len__(self) -> int:
        return len(self.systems)

    def __iter__(self) -> Iterator[LinearSystem]:
        return iter(self.systems)

    def __getitem__(self, k: int) -> LinearSystem:
        return self.systems[k]

    def __getattr__(self, name: str) -> Array:
        if name in STACKED:
            arrays = getattr(self.systems, "arrays", None)
            return arrays[name] if arrays else np.array([getattr(system, name) for system in self.systems])
        raise AttributeError(name)

    @property
    def poles(self) -> Complex:
        """Poles (k, n) at each time, tracked from one time to the next."""
        return match_rows([system.poles for system in self.systems])


def match_rows(rows: Sequence[Complex]) -> Complex:
    """Reorder the entries of rows of equal length, (k, n), so that each row is as near as possible to the one
    before."""
    import scipy.optimize

    ordered: list[Complex] = []
    for row in rows:
        if ordered:
            distance = np.abs(ordered[-1][:, None] - row[None, :])
            row = row[scipy.optimize.linear_sum_assignment(distance)[1]]
        ordered.append(row)
    return np.array(ordered)


def _system_from_imported(imported: ImportedSystem) -> LinearSystem:
    """Build a linear system from one imported from another program."""
    states, inputs, outputs = imported.names
    x, w, y, residual = imported.point
    A, B, C, D = imported[:4]
    return LinearSystem(A, B, C, D, states, inputs, outputs, Units(*imported.units), x, w, y, residual)


def compute_invariant_zeros(A: Array, B: Array, C: Array, D: Array) -> Complex:
    """Return the invariant zeros of any system, square or not: it is reduced until D is square and invertible; the
    zeros are then the eigenvalues of A − B D⁻¹ C."""
    scaled, scale = _balance_matrix(A)
    B, C = B / scale[:, None], C * scale
    rows, columns = (
        np.max(np.abs(each), axis=k, initial=0.0) for each, k in ((np.hstack([C, D]), 1), (np.vstack([B, D]), 0))
    )
    rows, columns = (np.where(each > 0.0, each, 1.0) for each in (rows, columns))
    A, B, C, D = _reduce_system(scaled, B / columns, C / rows[:, None], D / rows[:, None] / columns)
    A, C, B, D = (each.T for each in _reduce_system(A.T, C.T, B.T, D.T))
    if not len(A) or not D.size:
        return np.linalg.eigvals(A).astype(complex) if len(A) and not D.size else np.zeros(0, dtype=complex)
    found = np.linalg.eigvals(A - B @ np.linalg.solve(D, C))
    return np.asarray(found[np.lexsort((found.imag, np.round(np.abs(found), 9)))], dtype=complex)


def _largest_entry_of_rows(A: Array) -> Array:
    """Return the largest absolute entry of each row of a matrix (r, c) as (r,); 1 for zero rows."""
    found = np.max(np.abs(A), axis=1, initial=0.0)
    return np.where(found > 0.0, found, 1.0)


def _reduce_system(A: Array, B: Array, C: Array, D: Array) -> tuple[Array, Array, Array, Array]:
    """Reduce a system to one with the same zeros and D of full row rank: outputs without direct term determine states,
    which are removed."""
    size = max(float(np.max(np.abs(each), initial=0.0)) for each in (A, B, C, D)) or 1.0
    while True:
        U, sigma, _ = np.linalg.svd(D) if D.size else (np.eye(len(D)), np.zeros(0), None)
        rank = int(np.count_nonzero(sigma > NEGLIGIBLE * size))
        D, C = (U.T @ D)[:rank], U.T @ C
        C, fixed = C[:rank], C[rank:]
        _, sigma, Vt = np.linalg.svd(fixed) if fixed.size else (None, np.zeros(0), np.eye(len(A)))
        count = int(np.count_nonzero(sigma > NEGLIGIBLE * size))
        if not count:
            return A, B, C, D
        V = np.concatenate([Vt[count:], Vt[:count]]).T  # states that stay, then those that are fixed
        stay = len(A) - count
        A, B, C = V.T @ A @ V, V.T @ B, C @ V
        C, D = np.concatenate([C[:, :stay], A[stay:, :stay]]), np.concatenate([D, B[stay:]])
        A, B = A[:stay, :stay], B[:stay]


def _balance_matrix(A: Array) -> tuple[Array, Array]:
    """Balance a matrix: return (S⁻¹ A S, diagonal of S) with rows and columns of similar size."""
    import scipy.linalg.lapack

    if not len(A):
        return A, np.ones(0)
    balanced, _, _, scale, _ = scipy.linalg.lapack.dgebal(A, scale=1, permute=0)
    return np.asarray(balanced), np.asarray(scale)


def _matrix_exponential(A: Array) -> Array:
    import scipy.linalg

    return np.asarray(scipy.linalg.expm(A)) if len(A) else A


def _check_equal_steps(time: ArrayLike) -> Array:
    t = np.atleast_1d(np.asarray(time, dtype=float))
    steps = np.diff(t)
    if abs(t[0]) > 0.0 or (len(steps) and not (steps > 0.0).all()) or np.ptp(steps) > 1e-9 * max(t[-1], 1e-300):
        raise ModelError(
            "The times do not start at 0 with equal steps.",
            where="time",
            remedy="Use numpy.linspace(0, duration, count).",
        )
    return t


def _indices_of_names(requested: Sequence[str] | str, names: Sequence[str], noun: str) -> list[int]:
    wanted = (requested,) if isinstance(requested, str) else tuple(requested)
    for name in wanted:
        if name not in names:
            raise ModelError(f"The system has no {noun} '{name}'.", where=f"{noun}s", remedy=suggest_names(name, names))
    return [names.index(name) for name in wanted] if wanted else list(range(len(names)))


def sticking_joints_sentence(names: Sequence[str]) -> str:
    """Return a sentence that names the coordinates stuck by dry friction."""
    one = len(names) == 1
    held = "is held by dry friction and is not a state" if one else "are held by dry friction and are not states"
    return f"{join_words(names)} {held}: linearise without friction for {'its' if one else 'their'} motion."


def _describe_mode(mode: ModeView) -> str:
    kind = f"{mode.frequency:.3g} Hz" if mode.frequency else f"λ = {format_readable(f'{mode.pole.real:.3g}')} 1/s"
    return f"Mode {mode.number}, {kind},"


def _format_name_list(names: Sequence[str]) -> str:
    shown = list(names[:4]) + (["…"] if len(names) > 4 else [])
    return ", ".join(shown)
