"""Preparation of a trace: positions, speeds, accelerations and forces at evenly spaced times.

Positions are filtered forward and backward, so that nothing is delayed (Butterworth), or smoothed by quintic splines
whose residual is the noise that differences of high order show; their derivatives are speeds and accelerations unless
these were measured. Forces are filtered alike, and as filtering makes neighbours alike, rows are then thinned out
(M. Gautier, "Dynamic identification of robots with power model", ICRA 1997).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline, UnivariateSpline, make_interp_spline
from scipy.signal import butter, sosfiltfilt

from core.errors import ModelError
from core.identification.measured_trace import MeasuredTrace
from core.mechanics.multibody.parameter_values import Values
from core.mechanism import Mechanism
from core.simulation.run.recorded import build_recorded_run

Array = NDArray[np.float64]

ORDER = 4
"""Order of the Butterworth filter, in each direction."""
KEPT_BAND = 0.8
"""Bandwidth that remains after rows are thinned, relative to the cut-off frequency."""
RANDOM_FRACTION = 1e-9
"""Noise, relative to a signal, below which it is ignored: splines then interpolate the points."""
UNEVEN_FRACTION = 1e-3
"""Relative variation of the time step that is accepted without resampling."""


class Preparation(NamedTuple):
    """Settings for the preparation of a trace: filter, thinning, smoothing.

    cutoff : Hz of the zero-phase filter, None: smoothing splines; rate : Hz at which rows are taken, None: as the
    trace has them, thinned out by the filter; trim : seconds left out at both ends, None: one period of the cut-off
    """

    cutoff: float | None = None
    rate: float | None = None
    trim: float | None = None


UNFILTERED = Preparation()
"""Preparation by smoothing splines that keeps all rows."""


@dataclass(frozen=True, eq=False)
class MeasuredMotion:
    """Prepared motion. time (n,), q (n, nq), v, a, tau (n, nv); measured (nv,) True where tau was measured; notes :
    what the preparation did."""

    time: Array
    q: Array
    v: Array
    a: Array
    tau: Array
    measured: NDArray[np.bool_]
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.time)


def prepare_measured_motion(
    mech: Mechanism, trace: MeasuredTrace, preparation: Preparation = UNFILTERED, p: Values = None
) -> MeasuredMotion:
    """Prepare the motion of a trace, with loops closed. Raises ModelError if coordinates or forces are missing."""
    _check_trace(mech, trace, preparation)
    notes: list[str] = []
    time, signals = _resample_evenly(trace, notes)
    step = float(time[1] - time[0])
    if preparation.cutoff is not None:
        if not 0.0 < preparation.cutoff < 0.5 / step:
            raise ModelError(
                f"A filter cut-off of {preparation.cutoff:g} Hz is not possible with a sampling rate of "
                f"{1.0 / step:.4g} Hz.",
                where="cutoff",
                remedy=f"Give a cut-off between 0 and {0.5 / step:.4g} Hz.",
            )
        sections = butter(ORDER, preparation.cutoff, fs=1.0 / step, output="sos")
        signals = {name: _filter_signal(sections, values) for name, values in signals.items()}
        notes.append(f"Butterworth filter of order {ORDER}, forward and backward, {preparation.cutoff:g} Hz")
    q, v, a = _states_from_signals(mech, time, signals, preparation, p, notes)
    tau = np.zeros((len(time), mech.nv))
    measured = np.zeros(mech.nv, dtype=bool)
    for k, name in enumerate(mech.v_names):
        if f"{name}.tau" in signals:
            tau[:, k], measured[k] = signals[f"{name}.tau"], True
    chosen = _choose_rows(time, preparation, notes)
    return MeasuredMotion(time[chosen], q[chosen], v[chosen], a[chosen], tau[chosen], measured, tuple(notes))


def _check_trace(mech: Mechanism, trace: MeasuredTrace, preparation: Preparation) -> None:
    positions = trace.of("q")
    missing = [name for name in mech.q_names if name not in positions]
    if missing and (not mech.constrained or not positions):
        raise ModelError(
            f"The trace has no position of {', '.join(missing[:6])}.",
            where="trace",
            remedy="Assign its column, for example joint1.q=angle.",
        )
    if not trace.of("tau"):
        raise ModelError(
            "The trace has no force or torque.",
            where="trace",
            remedy="Assign a column, for example joint1.tau=torque, or fit a run, which needs only motion.",
        )
    if preparation.rate is not None and not preparation.rate > 0.0:
        raise ModelError("The rate must be positive.", where="rate", remedy="Give Hz.")


def _resample_evenly(trace: MeasuredTrace, notes: list[str]) -> tuple[Array, dict[str, Array]]:
    """Resample the signals to evenly spaced times."""
    steps = np.diff(trace.time)
    step = float(np.median(steps))
    if np.max(np.abs(steps - step)) <= UNEVEN_FRACTION * step:
        return np.linspace(trace.time[0], trace.time[-1], len(trace.time)), dict(trace.signals)
    count = max(len(trace.time), round((trace.time[-1] - trace.time[0]) / step) + 1)
    time = np.linspace(trace.time[0], trace.time[-1], count)
    notes.append(f"resampled to {count} equal steps by cubic splines")
    return time, {name: CubicSpline(trace.time, values)(time) for name, values in trace.signals.items()}


def _filter_signal(sections: Array, values: Array) -> Array:
    return np.asarray(sosfiltfilt(sections, values, padlen=min(len(values) - 1, 300)))


def estimate_noise(values: Array) -> float:
    """Estimate the standard deviation of the noise from tenth-order differences, to which a smooth motion contributes
    nothing."""
    order = 10
    differences = np.diff(values, order)
    if not len(differences):
        return 0.0
    size = float(np.median(np.abs(differences))) / 0.6745
    return size / math.sqrt(math.comb(2 * order, order))


def fit_spline_with_derivatives(
    time: Array, values: Array, smooth: bool, notes: list[str], name: str
) -> tuple[Array, Array, Array]:
    """Return values, first and second derivatives of a quintic spline."""
    sigma = estimate_noise(values) if smooth else 0.0
    if sigma <= RANDOM_FRACTION * max(float(np.ptp(values)), 1e-12):
        spline = make_interp_spline(time, values, k=5)
        return values, spline.derivative()(time), spline.derivative(2)(time)
    fitted = UnivariateSpline(time, values, k=5, s=len(values) * sigma**2)
    notes.append(f"{name}: smoothing spline for noise of {sigma:.2g}")
    return fitted(time), fitted.derivative()(time), fitted.derivative(2)(time)


def _states_from_signals(
    mech: Mechanism, time: Array, signals: dict[str, Array], preparation: Preparation, p: Values, notes: list[str]
) -> tuple[Array, Array, Array]:
    smooth = preparation.cutoff is None
    if mech.constrained:
        return _states_with_closed_loops(mech, time, signals, smooth, p, notes)
    q = np.column_stack([signals[f"{name}.q"] for name in mech.q_names])
    v, a = np.zeros((2, len(time), mech.nv))
    for k, name in enumerate(mech.v_names):
        if f"{name}.v" not in signals and name not in mech.q_names:
            raise ModelError(
                f"'{name}' is the speed of a joint with a quaternion, which cannot be derived from one column.",
                where="trace",
                remedy=f"Give a column for {name}.v, too.",
            )
        if name in mech.q_names:
            at = mech.q_names.index(name)
            q[:, at], v[:, k], a[:, k] = fit_spline_with_derivatives(time, q[:, at], smooth, notes, f"{name}.q")
        if f"{name}.v" in signals:
            v[:, k], a[:, k], _ = fit_spline_with_derivatives(time, signals[f"{name}.v"], smooth, notes, f"{name}.v")
        if f"{name}.a" in signals:
            a[:, k] = signals[f"{name}.a"]
    return q, v, a


def _states_with_closed_loops(
    mech: Mechanism, time: Array, signals: dict[str, Array], smooth: bool, p: Values, notes: list[str]
) -> tuple[Array, Array, Array]:
    """Smooth the measured coordinates of a machine with loops, and compute all others by loop closure."""
    given = {name: signals[f"{name}.q"] for name in mech.q_names if f"{name}.q" in signals}
    columns = {
        name: fit_spline_with_derivatives(time, values, smooth, notes, f"{name}.q")[0] for name, values in given.items()
    }
    names = ("time", *(f"{name}.q" for name in columns))
    numbers = np.column_stack([time, *columns.values()])
    values = dict(zip(mech.p_names, mech.parameter_values(p).tolist(), strict=True))
    run = build_recorded_run(mech, values, names, numbers, {}, "trace")
    return run.q, run.v, run.a


def _choose_rows(time: Array, preparation: Preparation, notes: list[str]) -> NDArray[np.int64]:
    """Choose the rows to be used."""
    rate = 1.0 / float(time[1] - time[0])
    trim = (
        preparation.trim if preparation.trim is not None else (1.0 / preparation.cutoff if preparation.cutoff else 0.0)
    )
    wanted = preparation.rate or (rate if preparation.cutoff is None else 2.0 * preparation.cutoff / KEPT_BAND)
    stride = max(1, round(rate / wanted))
    first, last = np.searchsorted(time, [time[0] + trim, time[-1] - trim + 1e-12])
    rows = np.arange(first, last, stride, dtype=np.int64)
    if len(rows) < 2:
        raise ModelError(
            "No rows of the trace are left.", where="preparation", remedy="Trim less, or thin the rows less."
        )
    if stride > 1:
        notes.append(f"every {stride}th row is used")
    return rows
