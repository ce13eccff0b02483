"""Sweeps of a machine over ranges of coordinates, parameters and Denavit–Hartenberg entries.

Several ranges run together (Robotica's ShowRobot, RElp), or one after another (SeqShowRobot). A DH entry is made a
parameter for the purpose, so that any of them can run: `a2`, `alpha2`, `d2`, `theta2`. The entry that the joint itself
moves (θ of a revolute joint, d of a prismatic one) is its coordinate plus the offset that stands in the table.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from core.constraints.other_cuts import closing_coordinates
from core.errors import ModelError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model
from core.model.edits import edits
from core.model.parameters import evaluate_field as parameter_value
from core.model.units import display_unit

Array = NDArray[np.float64]
RangeLike = tuple[str, float, float, int]
"""(name, start, stop, divisions), SI."""

ENTRIES = ("a", "alpha", "d", "theta")
LIMIT_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Sweep:
    """Poses along ranges. model : the machine, with swept DH entries replaced by parameters; q : (n, nq); p : parameter
    values per pose"""

    model: Model
    mech: Mechanism
    q: Array
    p: tuple[Mapping[str, float], ...]

    @property
    def count(self) -> int:
        """Number of poses."""
        return len(self.p)


def sweepable_variables(model: Model, mech: Mechanism) -> dict[str, str]:
    """Variables that can be swept: name → "coordinate", "parameter" or "entry"; if a name has several meanings, the
    first of these applies."""
    found = {c.name: "coordinate" for c in mech.coordinates if c.dimension != "none"}
    found |= dict.fromkeys(closing_coordinates(mech.compiled), "coordinate")
    for alias in (*coordinate_aliases(model), *_joint_variable_entries(model)):
        found.setdefault(alias, "coordinate")
    for name in mech.p_names:
        found.setdefault(name, "parameter")
    for entry in _constant_dh_entries(model):
        found.setdefault(entry, "entry")
    return found


def variable_dimension(model: Model, mech: Mechanism, name: str) -> str:
    """Dimension of a variable that can be swept."""
    name = _resolve_coordinate(model, mech, name)
    for coordinate in mech.coordinates:
        if coordinate.name == name:
            return coordinate.dimension
    if name in (closing := closing_coordinates(mech.compiled)):
        return closing[name].dimension
    for parameter in model.parameters:
        if parameter.name == name:
            return parameter.dimension
    if name in (entries := _constant_dh_entries(model)):
        return "angle" if entries[name][1].endswith(("alpha", "theta")) else "length"
    return "none"


def variable_value(model: Model, mech: Mechanism, q: Array, p: Mapping[str, float], name: str) -> float:
    """Present value of a variable that can be swept (SI)."""
    coordinate = _resolve_coordinate(model, mech, name)
    if coordinate in mech.q_names:
        return float(q[list(mech.q_names).index(coordinate)]) + _table_offset(model, mech, p, name)
    if name in (closing := closing_coordinates(mech.compiled)):
        return closing[name].value(mech.compiled, q, p)
    if name in (entries := _constant_dh_entries(model)):
        return _dh_entry_value(model, p, *entries[name])
    return float(model.values(dict(p))[name])


def sweep(
    model: Model,
    mech: Mechanism,
    q: Array,
    p: Mapping[str, float],
    ranges: Sequence[RangeLike],
    *,
    sequential: bool = False,
    t: float = 0.0,
) -> Sweep:
    """Poses along the ranges; n divisions give n + 1 poses. Without ranges, only the given pose.

    Raises ModelError if ranges that run together have unequal divisions, or a value is outside a joint's limits.
    """
    names = sweepable_variables(model, mech)
    promoted = model
    for name in dict.fromkeys(r[0] for r in ranges):
        if names[name] == "entry":
            chain, path = _constant_dh_entries(model)[name]
            number = _dh_entry_value(promoted, p, chain, path)
            promoted = edits.promote(promoted, "chains", chain, path, name)
            promoted = edits.change(promoted, "parameters", name, value=number)
    moved = mech.updated(promoted) if promoted is not model else mech
    steps = _sequential_values(ranges) if sequential else _simultaneous_values(ranges)
    poses, values = [], []
    current = np.array(q, dtype=float)
    for step in steps:
        parameters = {**p, **{n: x for n, x in step.items() if names[n] != "coordinate"}}
        coordinates = {
            _resolve_coordinate(model, mech, n): x - _table_offset(promoted, moved, parameters, n)
            for n, x in step.items()
            if names[n] == "coordinate"
        }
        current = _move_coordinates(moved, current, coordinates, parameters, t)
        poses.append(current)
        values.append(parameters)
    return Sweep(promoted, moved, np.array(poses), tuple(values))


def _simultaneous_values(ranges: Sequence[RangeLike]) -> list[dict[str, float]]:
    counts = sorted({divisions for *_, divisions in ranges})
    if len(counts) > 1:
        divided = ", ".join(f"{name}: {divisions}" for name, *_, divisions in ranges)
        raise ModelError(
            f"Variables swept together need equal numbers of divisions ({divided}).",
            where="option 'ranges'",
            remedy="Give all of them the same number, or sweep them one after another.",
        )
    n = counts[0] if counts else 0
    return [
        {name: start + (stop - start) * k / n if n else start for name, start, stop, _ in ranges} for k in range(n + 1)
    ]


def _sequential_values(ranges: Sequence[RangeLike]) -> list[dict[str, float]]:
    current: dict[str, float] = {}
    for name, start, _, _ in ranges:
        current.setdefault(name, start)
    steps: list[dict[str, float]] = []
    for name, start, stop, divisions in ranges:
        for k in range(divisions + 1):
            current = {**current, name: start + (stop - start) * k / divisions}
            if not steps or steps[-1] != current:
                steps.append(current)
    return steps or [{}]


def _move_coordinates(
    mech: Mechanism, q: Array, coordinates: Mapping[str, float], p: Mapping[str, float], t: float
) -> Array:
    if not coordinates and not mech.constrained:
        return q
    result = np.array(mech.move(q, coordinates, p=p, t=t))
    index = {name: i for i, name in enumerate(mech.q_names)}
    for coordinate in mech.coordinates:
        wanted = coordinates.get(coordinate.name)
        if wanted is not None and abs(result[index[coordinate.name]] - wanted) > LIMIT_TOLERANCE * (1.0 + abs(wanted)):
            _raise_value_error(coordinate.name, coordinate.dimension, wanted, coordinate.lower, coordinate.upper)
    for name, closing in closing_coordinates(mech.compiled).items():
        wanted = coordinates.get(name)
        apart = 0.0 if wanted is None else closing.value(mech.compiled, result, p) - wanted
        if closing.dimension == "angle":
            apart = math.remainder(apart, 2.0 * math.pi)
        if wanted is not None and abs(apart) > LIMIT_TOLERANCE * (1.0 + abs(wanted)):
            _raise_value_error(name, closing.dimension, wanted, *_limits_of(mech, name))
    return result


def _limits_of(mech: Mechanism, name: str) -> tuple[float | None, float | None]:
    """Lower and upper limit of a coordinate of a joint that closes a loop."""
    limit = next((each for each in mech.cut_limits if each.name == name), None)
    bounds = (None, None) if limit is None else (limit.lower, limit.upper)
    return tuple(None if bound is None or math.isinf(bound) else bound for bound in bounds)  # type: ignore[return-value]


def _raise_value_error(name: str, dimension: str, requested: float, lower: float | None, upper: float | None) -> None:
    unit, factor = display_unit(dimension)

    def format_bound(value: float | None) -> str:
        return "unbounded" if value is None else f"{value / factor:.6g}{unit}"

    raise ModelError(
        f"The coordinate cannot take the value {format_bound(requested)}.",
        where=f"coordinate '{name}'",
        remedy=f"It can run from {format_bound(lower)} to {format_bound(upper)}, as far as loops allow.",
    )


def coordinate_aliases(model: Model) -> dict[str, str]:
    """Symbols of DH joint variables → coordinate names."""
    found: dict[str, str] = {}
    for chain in model.chains:
        for i, variable in enumerate(chain.variables(), 1):
            found.setdefault(variable, f"{chain.prefix}joint{i}")
    return found


def _resolve_coordinate(model: Model, mech: Mechanism, name: str) -> str:
    """Coordinate that a name or symbol denotes; the name itself if there is none."""
    if name in mech.q_names:
        return name
    aliases = coordinate_aliases(model)
    if name in aliases or name in mech.p_names or name not in (own := _joint_variable_entries(model)):
        return aliases.get(name, name)
    return own[name][0]


def _table_offset(model: Model, mech: Mechanism, p: Mapping[str, float], name: str) -> float:
    """Offset that the DH table adds to the coordinate if the name is that of a DH entry; else 0."""
    if name in mech.q_names or name in mech.p_names or name in coordinate_aliases(model):
        return 0.0
    own = _joint_variable_entries(model).get(name)
    return _dh_entry_value(model, p, *own[1:]) if own else 0.0


def _dh_entry_value(model: Model, p: Mapping[str, float], chain: str, path: str) -> float:
    """Numerical value of a DH entry of a chain."""
    _, row, field = path.split(".")
    known = {name: x for name, x in p.items() if any(parameter.name == name for parameter in model.parameters)}
    return float(parameter_value(getattr(model.chain(chain).rows[int(row)], field), model.values(known)))


def _joint_variable_entries(model: Model) -> dict[str, tuple[str, str, str]]:
    """DH entries that vary with a joint: name → (coordinate, chain, path of the field with the offset)."""
    found: dict[str, tuple[str, str, str]] = {}
    for chain in model.chains:
        for i, row in enumerate(chain.rows):
            own = "theta" if row.kind == "revolute" else "d"
            found.setdefault(
                f"{chain.prefix}{own}{i + 1}", (f"{chain.prefix}joint{i + 1}", chain.name, f"rows.{i}.{own}")
            )
    return found


def _constant_dh_entries(model: Model) -> dict[str, tuple[str, str]]:
    """Constant DH entries that are neither parameters nor joint variables: name → (chain, path of the field)."""
    taken = {parameter.name for parameter in model.parameters}
    found: dict[str, tuple[str, str]] = {}
    for chain in model.chains:
        for i, row in enumerate(chain.rows):
            own = "theta" if row.kind == "revolute" else "d"
            for entry in ENTRIES:
                name = f"{chain.prefix}{entry}{i + 1}"
                if entry != own and name not in taken:
                    found.setdefault(name, (chain.name, f"rows.{i}.{entry}"))
    return found
