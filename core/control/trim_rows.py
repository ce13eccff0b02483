"""Requirements on the quantities of an operating point, and reasons why they cannot be met: requirements that no
unknown affects, active bounds, and quantities to free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, join_words

if TYPE_CHECKING:
    from core.control.linear_system import LinearSystem

Array = NDArray[np.float64]
LEAST_OFF = 1e-10
"""Relative residual above which a row counts as not fulfilled."""
FREE = "Free "
"""First word of the sentence that suggests quantities to free."""
TOO_FEW = "too few: nothing balances"
"""Phrase for requirements that no remaining input can balance."""
LEAST_PART = 1e-6
"""Fraction of the largest unbalanced force below which other unbalanced forces are not mentioned, since they result
from it."""
MOST_NAMED = 3
"""Largest number of inputs, and of fixed quantities, that are suggested to be freed."""
NOTHING = 1e-9
"""Fraction of the largest entry below which an unknown has no effect on a requirement."""


@dataclass
class TrimRequirement:
    """Requirement on a quantity, set by its methods `fixed`, `free`, `target`, `steady`, which return the requirement.

    kind : "fixed", "free", "target" or "" (nothing said)
    """

    name: str
    of_input: bool
    kind: str = ""
    value: float | None = None
    low: float = -np.inf
    high: float = np.inf
    weight: float = 1.0

    def fixed(self, value: float | None = None) -> TrimRequirement:
        """Fix the quantity at this value (SI), default its initial value."""
        self.kind, self.value = "fixed", None if value is None else check_number(value, self.name)
        return self

    def free(self, min: float = -np.inf, max: float = np.inf) -> TrimRequirement:
        """Leave the quantity free, within bounds. Raises ModelError for empty bounds."""
        low, high = (check_number(each, self.name, allow_infinite=True) for each in (min, max))
        if not low <= high:
            raise ModelError(
                f"The lower bound {low:g} is above the upper bound {high:g}.",
                where=f"'{self.name}'",
                remedy="Swap the bounds.",
            )
        self.kind, self.low, self.high = "free", low, high
        return self

    def target(self, value: float, weight: float = 1.0) -> TrimRequirement:
        """Bring the quantity as near to this value (SI) as the requirements allow; targets compete by their weights."""
        weight = check_number(weight, self.name)
        if not weight > 0.0:
            raise ModelError(
                "The weight is not positive.",
                where=f"'{self.name}'",
                remedy="Give a positive weight, or remove the requirement.",
            )
        self.kind, self.value, self.weight = "target", check_number(value, self.name), weight
        return self

    def steady(self) -> TrimRequirement:
        """Require that the quantity has zero rate; for a speed, zero acceleration."""
        self.kind = "steady"
        return self


def check_number(value: Any, name: str, allow_infinite: bool = False) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = np.nan
    if not (np.isfinite(number) or (allow_infinite and np.isinf(number))):
        raise ModelError(f"{value!r} is not a number.", where=f"'{name}'", remedy="Give a number in SI units.")
    return number


def describe_unfulfilled_rows(
    solver: Any,
    system: LinearSystem,
    requirements: Any,
    h: Array,
    H: Array,
    unbalanced_forces: Mapping[str, float],
    active_bounds: set[str],
) -> str:
    """Describe the unfulfilled requirements in one or more sentences.

    h, H : residuals and derivatives of the rows that must hold, in comparable units
    """
    left = _unmatched_rows(H, requirements.names, h)
    units = dict(zip(system.output_names, system.units.outputs, strict=True))
    words = []
    if left and not active_bounds:
        which = join_words([_describe_row(name, unbalanced_forces, system) for name in left])
        words.append(f"{_count_of_inputs_text(len(left))} {TOO_FEW} {which}.")
        words += _freeing_advice(_candidates_to_free(solver, system, left, max(MOST_NAMED, len(left))), len(left))
        return " ".join(words)
    off = sorted(
        (
            (abs(each), name, r)
            for each, name, r in zip(h, requirements.names, requirements.r, strict=True)
            if abs(each) >= LEAST_OFF
        ),
        reverse=True,
    )
    least = LEAST_PART * max(map(abs, unbalanced_forces.values()), default=0.0)
    balanced = {f"{coordinate}.a" for coordinate, amount in unbalanced_forces.items() if abs(amount) <= least}
    named = [
        _describe_row_error(name, r, unbalanced_forces, system, units) for _, name, r in off if name not in balanced
    ][:4]
    words.append(f"No such point was found from this start; at the nearest one reached, {join_words(named)}.")
    if active_bounds:
        words.append(f"Active bounds: {join_words(sorted(active_bounds))}; widen them.")
    words += _freeing_advice(_candidates_to_free(solver, system, [name for _, name, _ in off], MOST_NAMED), 1)
    return " ".join(words)


def says_inputs_are_lacking(message: str) -> bool:
    """Return True if the message says that no input is left to balance some requirements."""
    return TOO_FEW in message


def _freeing_advice(quantities: list[str], count: int) -> list[str]:
    """Return the sentence that suggests to free some of these quantities, or all if there are no more."""
    if not quantities:
        return []
    some = "" if len(quantities) <= count else "one of " if count == 1 else f"{count} of "
    return [f"{FREE}{some}{join_words(quantities)}."]


def _count_of_inputs_text(count: int) -> str:
    return "One input" if count == 1 else f"{count} inputs"


def _describe_row(name: str, unbalanced_forces: Mapping[str, float], system: LinearSystem) -> str:
    coordinate = name.removesuffix(".a")
    return f"{coordinate}.q" if name.endswith(".a") and coordinate in system.coordinates else name


def _describe_row_error(
    name: str, residual: float, unbalanced_forces: Mapping[str, float], system: LinearSystem, units: Mapping[str, str]
) -> str:
    """Describe an unfulfilled requirement with its error."""
    coordinate = name.removesuffix(".a")
    if coordinate in unbalanced_forces and name.endswith(".a"):
        k = system.coordinates.index(coordinate)
        unit = "N" if system.units.states[k] == "m" else "N·m"
        return f"{unbalanced_forces[coordinate]:.4g} {unit} remain unbalanced at {coordinate}.q"
    return f"{name} is off by {residual:.4g} {units.get(name, '')}".rstrip()


def structural_rank(H: Array) -> int:
    """Return the largest number of rows the unknowns can fulfil, by the sparsity pattern of the derivatives alone."""
    return int(np.count_nonzero(_match_unknowns_to_rows(H) >= 0))


def _match_unknowns_to_rows(H: Array) -> NDArray[np.int64]:
    """Assign to each requirement (rows,) an unknown that affects it, by maximum matching; −1 if none is left."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    if not H.size:
        return np.full(len(H), -1)
    largest = np.max(np.abs(H), axis=0, initial=0.0)
    pattern = np.abs(H) > NOTHING * np.where(largest > 0.0, largest, 1.0)
    return np.asarray(maximum_bipartite_matching(csr_array(pattern.astype(np.int8)), perm_type="column"), dtype=int)


def _unmatched_rows(H: Array, names: list[str], residuals: Array) -> list[str]:
    """Return the requirements without assigned unknown; only the unfulfilled ones, if there are any."""
    rows = [(name, each) for name, to, each in zip(names, _match_unknowns_to_rows(H), residuals, strict=True) if to < 0]
    off = [name for name, each in rows if abs(each) >= LEAST_OFF]
    return (off or [name for name, _ in rows])[:4]


def _candidates_to_free(solver: Any, system: LinearSystem, unfulfilled_rows: list[str], limit: int) -> list[str]:
    """Return inputs and fixed quantities that would affect these requirements if freed, a limited number of each."""
    fixed = [name for name, row in solver.rows.items() if row.kind == "fixed" and name not in unfulfilled_rows]
    free = {solver.table[k].name for k in solver.free}
    efforts = [f"{name}.tau" for name in system.coordinates if f"{name}.tau" not in free]
    own = [name for name in efforts if f"{name.removesuffix('.tau')}.a" in unfulfilled_rows] or efforts
    return list(dict.fromkeys([*own[:limit], *fixed[:limit]]))
