"""State of the machine in a row of a study."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError
from core.mechanism import Mechanism
from core.studies.study_result import StudyResult

Array = NDArray[np.float64]


class RowState(NamedTuple):
    """Start state of a row: parameters, q (nq,) and speeds by name; for targets q is the solution."""

    parameters: dict[str, float]
    q: Array
    speeds: dict[str, float]


def row_state(mech: Mechanism, result: StudyResult, row: int) -> RowState:
    """Return the state of a row. Raises KinetostatError if the machine lacks its parameters or cannot take its
    position."""
    parameters: dict[str, float] = {}
    named: dict[str, float] = {}
    speeds: dict[str, float] = {}
    for name, column in result.varied.items():
        value, stem = float(column[row]), name[:-2]
        if name in mech.p_names:
            parameters[name] = value
        elif name in mech.q_names:
            named[name] = value
        elif name.endswith(".q") and stem in mech.q_names:
            named[stem] = value
        elif name.endswith(".v") and stem in mech.v_names:
            speeds[stem] = value
        elif result.declaration.kind != "targets" and name not in ("duration", "step", "rtol", "atol"):
            raise ModelError(f"The machine no longer has '{name}'.", where=f"row {row}", remedy="Run the study again.")
    p = mech.parameter_values(parameters or None)
    if result.declaration.kind == "targets":
        ends = [result.column(f"{name}.q")[row] for name in mech.q_names]
        return RowState(parameters, np.array(ends), speeds)
    q = mech.rest(p)
    return RowState(parameters, mech.move(q, named, p, exact=True) if named else q, speeds)
