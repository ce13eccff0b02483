"""Degrees of freedom taken up by drivers: effective, redundant and contradictory drivers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from core.constraints.consistent_motion import nearest_speeds
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.constraints.redundant_drivers import LEVELS, demanded, disagreement, repeated_drivers
from core.later import dataclass
from core.numerics.matrix_forms import dense

Array = NDArray[np.float64]


@dataclass(frozen=True)
class DriverFault:
    """A driver that takes up no degree of freedom because other drivers (by name) or the joints determine its motion.

    contradicts : it demands something else than they do; text : in words, without a full stop
    """

    driver: str
    others: tuple[str, ...]
    contradicts: bool
    text: str


@dataclass(frozen=True)
class Drive:
    """Effect of the drivers at a pose: names of rows that take up a degree of freedom, and faults of the others."""

    effective: tuple[str, ...]
    faults: tuple[DriverFault, ...]


def drive(constraints: PositionConstraints, q: Array) -> Drive:
    """Effect of a machine's drivers (all rows in `constraints`) at a closed pose q, with the prescribed speeds."""
    rows = constraints.names
    if not any(row.collection == "drivers" for row in rows):
        return Drive((), ())
    compiled, units = constraints.compiled, constraints.row_units
    G = dense(constraints.scaled(q))
    still, alike = np.zeros(compiled.nv), np.ones(compiled.nv)
    v = nearest_speeds(compiled, q, still, alike, constraints.p, constraints.t)
    demands = [each[constraints.kept] / units for each in demanded(compiled, q, v, constraints.p, constraints.t)]
    taken, repeated = repeated_drivers(G, rows)
    faults = []
    for each in repeated:
        found = disagreement(each, rows, demands)
        others = [rows[i] for i in each.drivers]
        text = _fault_text(str(rows[each.row]), [str(row) for row in others], None if found is None else found[0])
        names = tuple(dict.fromkeys(row.element for row in others))
        faults.append(DriverFault(rows[each.row].element, names, found is not None, text))
    return Drive(tuple(str(rows[k]) for k in taken), tuple(faults))


def _fault_text(name: str, others: list[str], level: int | None) -> str:
    """Description of a driver that takes up no degree of freedom; level : level at which it contradicts others, None if
    it agrees"""
    if not others:
        return (
            f"Driver {name} drives a coordinate that cannot move: the joints fix it"
            if level is None
            else (f"Driver {name} prescribes a motion that the joints do not allow")
        )
    already = f"Driver {name} drives the same motion as {' and '.join(others)}"
    return already if level is None else f"{already}, but with a different {LEVELS[level]}"
