"""Results of fits and exciting motions as table rows and curves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from app.panels.identification.estimate_table import Row
from app.panels.identification.signal_sheet import Sheet
from core.identification.measured_trace import si_unit

if TYPE_CHECKING:
    from core.identification.excitation import Excitation
    from core.identification.identify import Identification
    from core.identification.linear_fit import Validation
    from core.identification.output_error import RunFit
    from core.mechanism import Mechanism

Array = NDArray[np.float64]

IMPOSSIBLE_FRACTION = 1e-6
"""Relative difference, beyond the standard deviation, by which an estimate may differ from physically consistent bodies
without a remark."""


def force_rows(found: Identification) -> list[Row]:
    """Return rows for the base parameters, then for the parameters that the data do not identify."""
    weak, rows = set(found.weak), []
    columns = (found.base.values, found.estimate, found.intervals, found.attained, found.fit.deviations)
    for name, before, value, (low, high), attained, sigma in zip(found.names, *columns, strict=True):
        remark = ""
        if name in weak:
            remark = "weak: interval contains zero"
        if abs(attained - value) > 2.0 * sigma + IMPOSSIBLE_FRACTION * abs(value):
            remark = f"physically consistent: {attained:.5g}"
        rows.append(Row(name, float(before), float(value), float(low), float(high), remark, bool(remark)))
    rows += [Row(name, None, None, None, None, "not identifiable from these data", True) for name in found.unseen]
    return rows


def force_sheets(found: Identification) -> list[Sheet]:
    """Return curves of measured and fitted forces."""
    doubtful = {found.forces[k] for k in found.fit.correlated}
    sheets = []
    for k, name in enumerate(found.forces):
        words = f"noise {found.fit.sigma[k]:.3g} {si_unit(found.mech, f'{name}.tau')}"
        words += _validation_words(found.validation, k)
        words += "; residuals are not white noise" if name in doubtful else ""
        unit = f"{name}.tau, {si_unit(found.mech, f'{name}.tau')}"
        sheets.append(_signal_sheet(f"{name}.tau", unit, found.time, found.measured[:, k], found.predicted[:, k],
                             found.validation, k, words))  # fmt: skip
    return sheets


def run_rows(found: RunFit) -> list[Row]:
    """Return rows for parameters and initial values."""
    values, weak, rows = found.mech.model.values(), set(found.weak), []
    for name, value, (low, high) in zip(found.names, found.estimate, found.intervals, strict=True):
        remark = "at a bound" if name in found.at_bounds else "weak: interval contains zero" if name in weak else ""
        before = values.get(name) if name in found.parameters else None
        rows.append(Row(name, before, float(value), float(low), float(high), remark, name in found.at_bounds))
    return rows


def run_sheets(found: RunFit) -> list[Sheet]:
    """Return curves of measured and fitted channels."""
    doubtful, sheets = set(found.doubtful), []
    for k, name in enumerate(found.outputs):
        unit = si_unit(found.mech, name)
        words = f"residual {' '.join(filter(None, (f'{found.rms[k]:.3g}', unit)))} (rms)"
        words += _validation_words(found.validation, k)
        words += "; residuals are not white noise" if name in doubtful else ""
        sheets.append(_signal_sheet(name, f"{name}, {unit}" if unit else name, found.time, found.measured[:, k],
                             found.predicted[:, k], found.validation, k, words))  # fmt: skip
    return sheets


def _validation_words(validation: Validation | None, k: int) -> str:
    return "" if validation is None else f"; on rows held back {100.0 * validation.relative[k]:.3g} % deviation (rms)"


def _signal_sheet(
    title: str, unit: str, time: Array, measured: Array, predicted: Array, validation: Validation | None, k: int,
    words: str,
) -> Sheet:  # fmt: skip
    held = None
    if validation is not None and len(validation.time):
        held = float(validation.time[0])
        time = np.concatenate([time, validation.time])
        measured = np.concatenate([measured, validation.measured[:, k]])
        predicted = np.concatenate([predicted, validation.predicted[:, k]])
    curves = (("measured", measured), ("computed", predicted))
    return Sheet(title, unit, time, curves, measured - predicted, held, words)


def excitation_rows(found: Excitation) -> list[tuple[str, ...]]:
    """Return a row for each joint with the extreme values of its motion, SI."""
    rows = []
    for k, name in enumerate(found.mech.v_names):
        numbers = [np.min(found.q[:, k]), np.max(found.q[:, k])]
        numbers += [np.max(np.abs(each[:, k])) for each in (found.v, found.a, found.tau)]
        shown = [
            f"{x:.4g} {_unit(found.mech, name, q)}" for x, q in zip(numbers, ("q", "q", "v", "a", "tau"), strict=True)
        ]
        rows.append((name, *shown))
    return rows


def _unit(mech: Mechanism, name: str, quantity: str) -> str:
    return si_unit(mech, f"{name}.{quantity}")


def excitation_sheets(found: Excitation) -> list[Sheet]:
    """Return curves of positions, speeds and forces of all joints."""
    titles = (("Positions", "q, rad or m", found.q), ("Speeds", "v, rad/s or m/s", found.v),
              ("Accelerations", "a, rad/s² or m/s²", found.a), ("Forces", "N·m or N", found.tau))  # fmt: skip
    return [
        Sheet(title, unit, found.time, tuple((name, values[:, k]) for k, name in enumerate(found.mech.v_names)))
        for title, unit, values in titles
    ]
