"""Redundant drivers, which prescribe a motion that other drivers or the joints already determine, and their
consistency.

The row of such a driver is a combination of others, G_k = Σ w_i G_i. What it demands must be the same combination of
what they demand: of positions to first order, of speeds (ḟ) and of accelerations (f̈ − Ġ v) exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import AssemblyError
from core.mechanics.elements.constraints.kinematic_constraint import ACCELERATION, Row
from core.mechanics.multibody.parameter_values import Values
from core.numerics.tolerances import RANK_TOLERANCE
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

TAKES = 1e-6
"""Independent share of a driver's row that is required for it to take up a degree of freedom."""
SHARES = 1e-6
"""Weight above which a row counts among those that a driver repeats."""
DIFFERS = 1e-8
"""Difference (SI, or in units of the given rows; relative for large values) at which two demands contradict each other.
"""
LEVELS = ("position", "speed", "acceleration")
"""Names of the demanded quantities: position, speed, acceleration."""


class RepeatedDriver(NamedTuple):
    """A driver's row that is a linear combination of other rows."""

    row: int
    weights: Array
    """(rows,) coefficients of the other rows."""
    drivers: tuple[int, ...]
    """Driver rows among the others."""


class Contradiction(NamedTuple):
    """A driver whose demand differs from that of other drivers or of the joints."""

    row: Row
    others: tuple[Row, ...]
    """Drivers that prescribe the same motion; empty if the joints alone do."""
    level: int
    by: float
    """Difference (rad or m, per s or s²)."""


def repeated_drivers(G: Array, rows: Sequence[Row]) -> tuple[list[int], list[RepeatedDriver]]:
    """Driver rows that each take up a degree of freedom, and those that only repeat others; G : (rows, nv)."""
    before = [i for i, row in enumerate(rows) if row.collection != "drivers"]
    taken: list[int] = []
    found: list[RepeatedDriver] = []
    for k in (i for i, row in enumerate(rows) if row.collection == "drivers"):
        parts = np.linalg.lstsq(G[before].T, G[k], rcond=RANK_TOLERANCE)[0]
        if np.linalg.norm(G[k] - parts @ G[before]) > TAKES * max(float(np.linalg.norm(G[k])), 1e-12):
            taken.append(k)
            before.append(k)
            continue
        weights = np.zeros(len(rows))
        weights[before] = parts
        found.append(RepeatedDriver(k, weights, tuple(i for i in taken if abs(weights[i]) > SHARES)))
    return taken, found


def disagreement(each: RepeatedDriver, rows: Sequence[Row], demands: Sequence[Array]) -> tuple[int, float] | None:
    """(level, difference) of the lowest level on which a redundant driver disagrees; None if it agrees.

    demands : (rows,) on the levels of position, speed and acceleration, as far as they are known
    """
    lowest = max([rows[each.row].level, *(rows[i].level for i in each.drivers)])
    for level in range(lowest, len(demands)):
        if level == ACCELERATION and not each.drivers:
            continue  # at a dead point the joints alone may have no acceleration that fits, though the motion goes on
        wanted = demands[level]
        by = abs(float(wanted[each.row] - each.weights @ wanted))
        if not by <= DIFFERS * max(1.0, float(np.max(np.abs(wanted)))):
            return level, by
    return None


def demanded(compiled: Compiled, q: Array, v: Array | None, p: Values, t: float) -> list[Array]:
    """(rows,) demand of every row on positions, on speeds (ḟ) and, if v is given, on accelerations (f̈ − Ġ v)."""
    result = [-compiled.call("constraint_residual", q, p=p, t=t), -compiled.call("constraint_time", p=p, t=t)]
    if v is not None:
        result.append(-compiled.call("constraint_bias", q, v, p=p, t=t))
    return result


def contradiction(compiled: Compiled, q: Array, v: Array | None, p: Values, t: float) -> Contradiction | None:
    """The first driver that contradicts others at a state (speeds and accelerations only if v is given)."""
    rows = compiled.rows
    if not any(row.collection == "drivers" for row in rows):
        return None
    repeated = repeated_drivers(compiled.call("constraint_jacobian", q, p=p), rows)[1]
    demands = demanded(compiled, q, v, p, t) if repeated else []
    for each in repeated:
        found = disagreement(each, rows, demands if v is not None else demands[:1])
        if found is not None:
            return Contradiction(rows[each.row], tuple(rows[i] for i in each.drivers), *found)
    return None


def has_redundant_drivers(compiled: Compiled, q: Array, p: Values) -> bool:
    """Return True if a driver prescribes, at q, a motion that other drivers already prescribe."""
    rows = compiled.rows
    if sum(row.collection == "drivers" for row in rows) < 2:
        return False
    return any(each.drivers for each in repeated_drivers(compiled.call("constraint_jacobian", q, p=p), rows)[1])


def contradiction_error(compiled: Compiled, found: Contradiction) -> AssemblyError:
    """Error message for contradicting drivers."""
    word, where = LEVELS[found.level], f"driver '{found.row.element}'"
    by = f"by {quantity_text(found.by, unit(compiled, found.row), ('', '/s', '/s²')[found.level])}"
    if not found.others:
        return AssemblyError(
            f"The joints do not allow the {word} that it prescribes here: it is off {by}.",
            where=where,
            remedy="Start from another position, change its function or remove it.",
        )
    names = " and ".join(f"'{row.element}'" for row in found.others)
    return AssemblyError(
        f"It drives the same motion as {names}, but its {word} differs {by}.",
        where=where,
        remedy=f"Remove it or {names}, or give them consistent functions of time.",
    )


def unit(compiled: Compiled, row: Row) -> str:
    """Unit of the quantity that a row drives or constrains."""
    model = compiled.model.expanded
    holder = model.find(row.collection, row.element)
    if holder.sensor:
        dimension = model.find("sensors", holder.sensor).info.dimension_of(row.component)
    elif not holder.joint:  # a rod
        dimension = "length"
    else:
        info = compiled.program.symbolic.machine.member(holder.joint).info
        kinds = dict(
            zip((*info.coordinates, *info.speeds), (*info.coordinate_dimensions, *info.speed_dimensions), strict=True)
        )
        dimension = kinds.get(row.component, "none")
    return {"angle": "rad", "angular_velocity": "rad", "length": "m", "velocity": "m"}.get(dimension, "SI")


def quantity_text(x: float, unit: str, per: str = "") -> str:
    """A number with its unit, angles in radians and degrees: "0.5 rad (28.65°)"."""
    both = f" ({math.degrees(x):.4g}°{per})" if unit == "rad" else ""
    return f"{x:.4g} {unit}{per}{both}"
