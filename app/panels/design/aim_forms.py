"""What stands in the panel Design as a design of the document, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QTableWidget

from core.model import Aim, CurveRow, DesignVariable, RequiredRow

Array = NDArray[np.float64]


def checked_rows(vary: QTableWidget) -> list[tuple[str, str, str]]:
    """(parameter, from, to) of the rows that are checked, as typed."""
    rows = [k for k in range(vary.rowCount()) if vary.item(k, 0).checkState() == Qt.CheckState.Checked]
    return [(vary.item(k, 0).text(), vary.item(k, 2).text().strip(), vary.item(k, 3).text().strip()) for k in rows]


def check_rows(vary: QTableWidget, rows: Sequence[DesignVariable]) -> None:
    """Check the rows of these parameters, with their bounds."""
    asked = {row.parameter: row for row in rows}
    for k in range(vary.rowCount()):
        row = asked.get(vary.item(k, 0).text())
        vary.item(k, 0).setCheckState(Qt.CheckState.Unchecked if row is None else Qt.CheckState.Checked)
        if row is not None and row.minimum is not None and row.maximum is not None:
            vary.item(k, 2).setText(_typed(row.minimum))
            vary.item(k, 3).setText(_typed(row.maximum))


def _typed(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.9g}"


def _value(text: str) -> float | str:
    """A number where it is one, else the formula."""
    try:
        return float(text)
    except ValueError:
        return text


def parameter_aim(
    name: str, rows: Sequence[tuple[str, str, str]], minimise: str, require: str, along: str, duration: str
) -> Aim:
    """A design of parameters. along : "rest", "run" or a coordinate. Raises ModelError."""
    over = along if along in ("rest", "run") else "sweep"
    varied = (DesignVariable(parameter=p, minimum=_value(low), maximum=_value(high)) for p, low, high in rows)
    required = (RequiredRow(formula=each.strip()) for each in require.split(";") if each.strip())
    return Aim(
        name=name,
        vary=tuple(varied),
        minimise=minimise.strip(),
        require=tuple(required),
        over=over,
        coordinate=along if over == "sweep" else "",
        duration=_value(duration) if over == "run" else 1.0,
    )


def curve_aim(name: str, points: Array, linkage: str, closed: bool, timed: bool) -> Aim:
    """A design of a linkage for a curve. Raises ModelError."""
    curve = tuple(CurveRow(x=x, z=z) for x, z in (np.round(points, 6) + 0.0).tolist())  # to a micrometre
    return Aim(name=name, kind="curve", linkage=linkage, curve=curve, closed=closed, timed=timed)
