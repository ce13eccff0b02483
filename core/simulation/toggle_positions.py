"""Explains why a machine with loops cannot move on: the loop in a toggle position, and the pose."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.redundant_drivers import demanded, quantity_text, unit
from core.errors import KinetostatError
from core.mechanism import Mechanism
from core.numerics.tolerances import OPEN_GAP, RANK_TOLERANCE

Array = NDArray[np.float64]
LOST_FRACTION = 2e-3
"""Share of the largest singular value of the constraint Jacobian below which a direction is being lost; below
RANK_TOLERANCE constraints are redundant everywhere."""
RACING_SPEED = 1e4
"""Speed (rad/s, m/s) that no machine reaches: a driver's function has a pole."""
SHOWN = 3
"""Number of coordinates that describe a pose."""
TAKING_FRACTION = 0.1
"""Share in the lost direction, relative to the largest, above which a driver counts as the cause."""


class TogglePosition(NamedTuple):
    """Toggle position of a loop: the element that cannot close, the pose, and the drivers that move on."""

    where: str
    """Loop, constraint or driver."""
    pose: str
    """First independent coordinates, as text."""
    drivers: tuple[str, ...]
    """Names of the drivers that move on regardless."""


def toggle_position(mech: Mechanism, q: Array, p: Array, t: float) -> TogglePosition | None:
    """Return the toggle position at or near q; None if all loops close."""
    rows = mech.compiled.rows
    if not rows or not np.isfinite(q).all():
        return None
    try:
        gaps, G = mech.constraint_residual(q, p=p, t=t), mech.constraint_jacobian(q, p=p)
    except KinetostatError:
        return None
    if not (np.isfinite(gaps).all() and np.isfinite(G).all()):
        return None
    left, sizes, _ = np.linalg.svd(G, full_matrices=False)
    lost = np.flatnonzero((sizes > RANK_TOLERANCE * sizes[0]) & (sizes < LOST_FRACTION * sizes[0]))
    if np.max(np.abs(gaps)) > OPEN_GAP:
        worst = int(np.argmax(np.abs(gaps)))
    elif len(lost):
        worst = int(np.argmax(np.abs(left[:, lost[0]])))
    else:
        return None
    driven = [i for i, row in enumerate(rows) if row.collection == "drivers"]
    share = np.abs(left[driven, lost[0]]) if len(lost) else np.ones(len(driven))
    taking = [rows[i].element for i, x in zip(driven, share, strict=True) if x > TAKING_FRACTION * np.max(share)]
    where = element_name(mech, rows[worst].collection, rows[worst].element)
    return TogglePosition(where, _pose_text(mech, q), tuple(dict.fromkeys(taking)))


def diverging_driver(mech: Mechanism, p: Array, t: float) -> tuple[str, str] | None:
    """Return (driver, speed) of the fastest driver if its function diverges at t; None otherwise."""
    speeds = np.abs(demanded(mech.compiled, mech.neutral(), None, p, t)[1]) if mech.compiled.rows else np.zeros(0)
    driven = [(speeds[i], row) for i, row in enumerate(mech.compiled.rows) if row.collection == "drivers"]
    fastest, row = max(driven, key=lambda pair: pair[0], default=(0.0, None))
    if row is None or not fastest > RACING_SPEED:
        return None
    return f"driver '{row.element}'", quantity_text(fastest, unit(mech.compiled, row), "/s")


def element_name(mech: Mechanism, collection: str, element: str) -> str:
    """Return the name of a cut joint's loop, or of a constraint or driver."""
    for loop in mech.loops:
        if loop.cut == element and collection == "joints":
            return str(loop)
    return f"{collection.rstrip('s')} '{element}'"


def _pose_text(mech: Mechanism, q: Array) -> str:
    """Return the values of the first independent coordinates as text."""
    independent = [name for step in mech.solution_order if step.kind == "independent" for name in step.joints]
    chosen = [c for name in independent for c in mech.coordinates if c.joint == name] or list(mech.coordinates)
    return ", ".join(f"{c.name} = {_amount_text(c.dimension, float(q[c.index]))}" for c in chosen[:SHOWN])


def _amount_text(dimension: str, x: float) -> str:
    """Return a coordinate as text, angles in both degrees and radians."""
    if dimension == "angle":
        return f"{x:.5g} rad ({math.degrees(x):.4g}°)"
    return f"{x:.5g}" + (" m" if dimension == "length" else "")
