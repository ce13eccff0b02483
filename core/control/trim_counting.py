"""Why an operating point is none: which rows nothing moves, which bounds act, and what to free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import listed

if TYPE_CHECKING:
    from core.control.linear_system import LinearSystem

Array = NDArray[np.float64]

LEAST_OFF = 1e-10
"""Of a row in comparable units that does not hold."""
FREE = "Free "
"""How the last sentence begins where there is something to free."""
TOO_FEW = "too few: nothing balances"
"""What is said where no input is left for rows."""
LEAST_PART = 1e-6
"""Of the largest force that is missing, below which others are none: accelerations there come from others."""
MOST_NAMED = 3
"""Inputs, and fixed rows, that are proposed to be freed."""
NOTHING = 1e-9
"""Part of the largest entry below which an unknown does not move a row."""


def missing_rows(
    solver: Any,
    system: LinearSystem,
    hold: Any,
    h: Array,
    H: Array,
    missing: Mapping[str, float],
    acting: set[str],
) -> str:
    """A sentence or more on what does not hold.

    h, H : residuals and derivatives of the rows that must hold, in comparable units
    """
    left = _unmatched(H, hold.names, h)
    units = dict(zip(system.output_names, system.units.outputs, strict=True))
    words = []
    if left and not acting:
        which = listed([_row(name, missing, system) for name in left])
        words.append(f"{_count(len(left))} {TOO_FEW} {which}.")
        words += _advice(_to_free(solver, system, left, max(MOST_NAMED, len(left))), len(left))
        return " ".join(words)
    off = sorted(
        ((abs(each), name, r) for each, name, r in zip(h, hold.names, hold.r, strict=True) if abs(each) >= LEAST_OFF),
        reverse=True,
    )
    least = LEAST_PART * max(map(abs, missing.values()), default=0.0)
    balanced = {f"{coordinate}.a" for coordinate, amount in missing.items() if abs(amount) <= least}
    named = [_off(name, r, missing, system, units) for _, name, r in off if name not in balanced][:4]
    words.append(f"No such point was found; at the nearest {listed(named)}.")
    if acting:
        words.append(f"Bounds act: {listed(sorted(acting))}; widen them.")
    words += _advice(_to_free(solver, system, [name for _, name, _ in off], MOST_NAMED), 1)
    return " ".join(words)


def too_few(message: str) -> bool:
    """True of what is said where no input is left for rows."""
    return TOO_FEW in message


def _advice(freed: list[str], count: int) -> list[str]:
    """The sentence on what to free: so many of these, or all where there are no more."""
    if not freed:
        return []
    some = "" if len(freed) <= count else "one of " if count == 1 else f"{count} of "
    return [f"{FREE}{some}{listed(freed)}."]


def _count(number: int) -> str:
    return "One input" if number == 1 else f"{number} inputs"


def _row(name: str, missing: Mapping[str, float], system: LinearSystem) -> str:
    coordinate = name.removesuffix(".a")
    return f"{coordinate}.q" if name.endswith(".a") and coordinate in system.coordinates else name


def _off(name: str, r: float, missing: Mapping[str, float], system: LinearSystem, units: Mapping[str, str]) -> str:
    """A row that does not hold, with its amount."""
    coordinate = name.removesuffix(".a")
    if coordinate in missing and name.endswith(".a"):
        k = system.coordinates.index(coordinate)
        unit = "N" if system.units.states[k] == "m" else "N·m"
        return f"{missing[coordinate]:.4g} {unit} are left at {coordinate}.q"
    return f"{name} is off by {r:.4g} {units.get(name, '')}".rstrip()


def structural_rank(H: Array) -> int:
    """How many rows the unknowns can fulfil at most, by the pattern of the derivatives alone."""
    return int(np.count_nonzero(_matched(H) >= 0))


def _matched(H: Array) -> NDArray[np.int64]:
    """(rows,) to each row an unknown that moves it, as many as there can be (maximum matching); −1: none is left."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not H.size:
        return np.full(len(H), -1)
    largest = np.max(np.abs(H), axis=0, initial=0.0)
    pattern = np.abs(H) > NOTHING * np.where(largest > 0.0, largest, 1.0)
    return np.asarray(maximum_bipartite_matching(csr_array(pattern.astype(np.int8)), perm_type="column"), dtype=int)


def _unmatched(H: Array, names: list[str], h: Array) -> list[str]:
    """Rows for which no unknown is left: those that are not fulfilled, if there are such."""
    rows = [(name, each) for name, to, each in zip(names, _matched(H), h, strict=True) if to < 0]
    off = [name for name, each in rows if abs(each) >= LEAST_OFF]
    return (off or [name for name, _ in rows])[:4]


def _to_free(solver: Any, system: LinearSystem, left: list[str], most: int) -> list[str]:
    """Inputs and fixed rows whose freedom would move these rows, so many of each at most."""
    fixed = [name for name, row in solver.rows.items() if row.kind == "fixed" and name not in left]
    free = {solver.table[k].name for k in solver.free}
    efforts = [f"{name}.tau" for name in system.coordinates if f"{name}.tau" not in free]
    own = [name for name in efforts if f"{name.removesuffix('.tau')}.a" in left] or efforts
    return list(dict.fromkeys([*own[:most], *fixed[:most]]))
