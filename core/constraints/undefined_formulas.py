"""Which element's formula gives no number."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from core.elements.forces import FORCES
from core.elements.forces.force_element import numbers_shown
from core.model.model import WORDS
from core.multibody.parameter_values import Values

if TYPE_CHECKING:
    from core.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]

REMEDY = "Look for roots and logarithms of negative numbers and divisions by zero."
AHEAD = (0.0, 1e-12, 1e-9, 1e-6, 1e-4, 1e-3, 1e-2)
"""Times (s) after a state at which formulas are tried: a run ends just before the place where one breaks."""


def undefined_formula(mech: Mechanism, q: Array, v: Array, p: Values, t: float, x: Array | None = None) -> str:
    """ "force 'name'", "driver 'name'" … of the first element that gives no finite number at (q, v) or just after it;
    empty if all do."""
    for step in AHEAD:
        ahead = mech.integrate(q, v, step)
        found = _force(mech, ahead, v, p, t + step, x) or _row(mech, ahead, v, p, t + step)
        if found:
            return found
    return ""


def _force(mech: Mechanism, q: Array, v: Array, p: Values, t: float, x: Array | None) -> str:
    if not mech.model.expanded.forces:
        return ""
    shown, at = mech._call("forces", p, q, v, t=t, x=x), 0
    for force in mech.model.expanded.forces:
        count = numbers_shown(FORCES[force.kind])
        if not np.isfinite(shown[at : at + count]).all():
            return f"force '{force.name}'"
        at += count
    return ""


def _row(mech: Mechanism, q: Array, v: Array, p: Values, t: float) -> str:
    if not mech.constrained:
        return ""
    rows = mech._program.constraint_rows
    for values in (mech.constraint_residual(q, p=p, t=t), mech._call("constraint_bias", p, q, v, t=t)):
        bad = ~np.isfinite(values)
        if bad.any():
            row = rows[int(np.argmax(bad))]
            return f"{WORDS[row.collection]} '{row.element}'"
    return ""
