"""What cannot be assembled, in words: which loop, constraint or driver stays open, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.errors import AssemblyError
from core.kernel import assembly
from core.kernel.broken_formulas import REMEDY
from core.kernel.contradictions import contradiction, told, unit
from core.kernel.fitting import wrong_way_round
from core.kernel.parameter_values import Values
from core.model.model import WORDS

if TYPE_CHECKING:
    from core.kernel.closures import Row
    from core.kernel.mechanism import Mechanism

Array = NDArray[np.float64]

FAR = 1e-7
"""Gap (m) from which a message speaks of distances rather than of directions."""


def assembly_error(mech: Mechanism, q: Array, p: Values, t: float = 0.0) -> AssemblyError:
    """What stays open, and by how much, with the position q that came nearest."""
    error = _open(mech, q, p, t)
    error.q = q
    return error


def _open(mech: Mechanism, q: Array, p: Values, t: float) -> AssemblyError:
    gaps = np.abs(mech.gaps(q, p=p, t=t))
    at = int(np.argmax(gaps))
    row, worst = mech._program.closure_rows[at], float(gaps[at])
    if worst < assembly.ACCEPTABLE and (joint := wrong_way_round(mech, q, p)):
        return AssemblyError("The loop closes only with the joint's sides the wrong way round.",
                             where=f"joint '{joint}'",
                             remedy="Turn its frame a or b round, or begin from another position.")  # fmt: skip
    if (
        row.collection != "drivers"
        and worst >= assembly.ACCEPTABLE
        and (undriven := _closed_without_drivers(mech, q, p, t)) is not None
    ):  # the drivers tore it open
        return _open(mech, undriven, p, t)
    if row.collection != "joints" and not np.isfinite(worst):
        return AssemblyError(f"At t = {t:.6g} s its formula gives no finite number.",
                             where=f"{WORDS[row.collection]} '{row.element}'", remedy=REMEDY)  # fmt: skip
    if row.collection == "drivers" and (found := contradiction(mech, q, None, p, t)) is not None:
        return told(mech, found)
    if row.collection != "joints":
        what = f"{row.component} is" if row.component else "it is"
        return AssemblyError(f"What is prescribed cannot be fulfilled: {what} {_amount(mech, row, worst)} away.",
                             where=f"{WORDS[row.collection]} '{row.element}'",
                             remedy="Change what it prescribes, lengths or limits, or begin nearer to it.")  # fmt: skip
    poses = mech.joint_poses(q, p)[row.element]
    distance = float(np.linalg.norm(poses[0][:3, 3] - poses[1][:3, 3]))
    if distance > FAR:
        text = f"The loop cannot be closed: {1000.0 * distance:.4g} mm are missing."
    else:
        text = f"The loop cannot be closed: its directions differ by {np.degrees(worst):.4g}°."
    return AssemblyError(text, where=f"joint '{row.element}'",
                         remedy="Change lengths or limits in its loop, or begin nearer to closing.")  # fmt: skip


def _amount(mech: Mechanism, row: Row, gap: float) -> str:
    """A gap in words: distances in millimetres, as of joints."""
    measure = unit(mech, row)
    return f"{1000.0 * gap:.4g} mm" if measure == "m" else f"{gap:.4g} {measure}"


def _closed_without_drivers(mech: Mechanism, q: Array, p: Values, t: float) -> Array | None:
    """The position near q that fits where drivers need not be followed; None if there is none, or no driver."""
    rows = mech._program.closure_rows
    if not any(row.collection == "drivers" and row.level == 0 for row in rows):
        return None
    free = np.zeros(mech.nv, dtype=bool)
    closed, gap = mech._closed(q, np.ones(mech.nv), free, p, anywhere=True, t=t, drivers=False)
    return closed if gap < assembly.ACCEPTABLE else None
