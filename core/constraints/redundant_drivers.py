"""Redundant drivers, which prescribe a motion that is already determined by other drivers or by the joints, and checks
that they agree.

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
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]

TAKES = 1e-6
"""Share of a driver's row, independent of other rows, that is required for it to take up a degree of freedom."""
SHARES = 1e-6
"""Weight above which a row counts as one of those that a driver repeats."""
DIFFERS = 1e-8
"""Difference (SI, or in units of the given rows; relative for large values) at which two demands contradict each other.
"""
LEVELS = ("position", "speed", "acceleration")
"""Names of the demanded quantities: position, speed, acceleration."""


class RepeatedDriver(NamedTuple):
    """A driver row that is a linear combination of other rows."""

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


def split_driver_rows(G: Array, rows: Sequence[Row]) -> tuple[list[int], list[RepeatedDriver]]:
    """Split the driver rows into those that each take up a degree of freedom and those that only repeat others; G :
    (rows, nv)."""
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


def find_disagreement(
    driver: RepeatedDriver, rows: Sequence[Row], demands: Sequence[Array]
) -> tuple[int, float] | None:
    """(level, difference) of the lowest level on which a redundant driver disagrees; None if it agrees.

    demands : (rows,) on the levels of position, speed and acceleration, as far as they are known
    """
    lowest = max([rows[driver.row].level, *(rows[i].level for i in driver.drivers)])
    for level in range(lowest, len(demands)):
        if level == ACCELERATION and not driver.drivers:
            continue  # at a dead point the joints alone may have no acceleration that fits, though the motion goes on
        wanted = demands[level]
        by = abs(float(wanted[driver.row] - driver.weights @ wanted))
        if not by <= DIFFERS * max(1.0, float(np.max(np.abs(wanted)))):
            return level, by
    return None


def row_demands(compiled: CompiledModel, q: Array, v: Array | None, p: Values, t: float) -> list[Array]:
    """(rows,) demand of every row on positions, on speeds (ḟ) and, if v is given, on accelerations (f̈ − Ġ v)."""
    result = [-compiled.call("constraint_residual", q, p=p, t=t), -compiled.call("constraint_time", p=p, t=t)]
    if v is not None:
        result.append(-compiled.call("constraint_bias", q, v, p=p, t=t))
    return result


def find_contradiction(compiled: CompiledModel, q: Array, v: Array | None, p: Values, t: float) -> Contradiction | None:
    """The first driver that contradicts others at a state (speeds and accelerations only if v is given)."""
    rows = compiled.rows
    if not any(row.collection == "drivers" for row in rows):
        return None
    repeated = split_driver_rows(compiled.call("constraint_jacobian", q, p=p), rows)[1]
    demands = row_demands(compiled, q, v, p, t) if repeated else []
    for each in repeated:
        found = find_disagreement(each, rows, demands if v is not None else demands[:1])
        if found is not None:
            return Contradiction(rows[each.row], tuple(rows[i] for i in each.drivers), *found)
    return None


def has_redundant_drivers(compiled: CompiledModel, q: Array, p: Values) -> bool:
    """Return True if a driver prescribes, at q, a motion that other drivers already prescribe."""
    rows = compiled.rows
    if sum(row.collection == "drivers" for row in rows) < 2:
        return False
    return any(each.drivers for each in split_driver_rows(compiled.call("constraint_jacobian", q, p=p), rows)[1])


def contradiction_error(compiled: CompiledModel, contradiction: Contradiction) -> AssemblyError:
    """Error message for contradicting drivers."""
    word, where = LEVELS[contradiction.level], f"driver '{contradiction.row.element}'"
    unit, rate = row_unit(compiled, contradiction.row), ("", "/s", "/s²")[contradiction.level]
    by = f"by {format_quantity(contradiction.by, unit, rate)}"
    if not contradiction.others:
        return AssemblyError(
            f"The joints do not allow the {word} that it prescribes here, which differs {by}.",
            where=where,
            remedy="Start from another position, change its function or remove it.",
        )
    names = " and ".join(f"'{row.element}'" for row in contradiction.others)
    return AssemblyError(
        f"It drives the same motion as {names}, but its {word} differs {by}.",
        where=where,
        remedy=f"Remove it or {names}, or give them consistent functions of time.",
    )


def row_unit(compiled: CompiledModel, row: Row) -> str:
    """Unit of the quantity that a row drives or constrains."""
    model = compiled.model.expanded
    holder = model.find(row.collection, row.element)
    if holder.sensor:
        dimension = model.find("sensors", holder.sensor).info.dimension_of(row.component)
    elif not holder.joint:  # a rod
        dimension = "length"
    else:
        info = compiled.program.symbolic.machine.find_joint(holder.joint).info
        kinds = dict(
            zip((*info.coordinates, *info.speeds), (*info.coordinate_dimensions, *info.speed_dimensions), strict=True)
        )
        dimension = kinds.get(row.component, "none")
    return {"angle": "rad", "angular_velocity": "rad", "length": "m", "velocity": "m"}.get(dimension, "SI")


def format_quantity(x: float, unit: str, unit_suffix: str = "") -> str:
    """Format a number with its unit, angles in radians and degrees: "0.5 rad (28.65°)"."""
    both = f" ({math.degrees(x):.4g}°{unit_suffix})" if unit == "rad" else ""
    return f"{x:.4g} {unit}{unit_suffix}{both}"
