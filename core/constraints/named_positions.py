"""Positions specified by coordinate names: the named coordinates are kept, all others follow from the constraints.

The way there is sought as by hand, along the loops, so that the machine stays on its branch. Where no way leads there,
the position itself decides: if it closes, it is taken, the one nearest to where the machine stands.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints import failures
from core.constraints.closed_positions import find_closed_position, find_reversed_joint
from core.constraints.cut_coordinates import limits_widened_to_start, most_exceeded_limit
from core.constraints.dragging import FARTHEST, drag_towards
from core.constraints.named_values import values_by_name
from core.constraints.other_cuts import cut_elsewhere
from core.errors import AssemblyError, ModelError, join_words
from core.mechanics.multibody.coordinates import Coordinate
from core.mechanics.multibody.parameter_values import Values
from core.numerics.rank import null_space
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ROUNDED_GAP = 1e-6
"""Residual (m, rad) that rounding of printed numbers may leave in a fully specified position."""
ROUNDING_TOLERANCE = 2e-6
"""Largest correction (rad, m) of the named coordinates with which such a position is closed."""
UNWILLING = 1e3
"""Weight of the named coordinates in that correction."""
INDEPENDENT_MOTION = 1e-6
"""Share of a free motion, not already determined by other coordinates, that a coordinate must have to count as
independent of them."""
LEAST_QUATERNION = 1e-9
"""Smallest norm of a quaternion that can be normalised."""


class NamedCoordinate(NamedTuple):
    """A specified coordinate: its index in q (`where`), a mask of the speeds (nv,) that move it, and its value."""

    name: str
    where: int
    moving: Flags
    value: float


class _NamedQuaternionEntry(NamedTuple):
    """A named component of a joint's quaternion whose other components are free; a constraint row (like `CutLimit`)
    keeps it."""

    k: int
    lower: float
    upper: float

    def coordinate_value(
        self, _compiled: CompiledModel, q: Array, _p: Values = None, _near: float | None = None
    ) -> float:
        """Present value of the component."""
        return float(q[self.k])

    def derivative_row(self, compiled: CompiledModel, q: Array, p: Values = None) -> Array:
        """(nv,) derivative of the component by the speeds."""
        one = np.eye(compiled.nv)
        return np.asarray(compiled.call("rate", np.tile(q, (compiled.nv, 1)), one, p=p)[:, self.k])

    def excess(self, value: float) -> float:
        """Distance of a value from the specified one."""
        return abs(value - self.lower)


class _PositionSearch(NamedTuple):
    """Search for the position nearest to q in which all named coordinates have their values.

    bounded : whether limits hold; decided : whether branches that nothing decides between are refused
    """

    compiled: CompiledModel
    q: Array
    named: tuple[NamedCoordinate, ...]
    p: Values
    t: float
    bounded: bool
    decided: bool = True

    def fixed(self) -> Flags:
        """(nv,) mask of speeds that move named coordinates."""
        return _speeds_moving_any(self.compiled, self.named)

    def set_named_values(self, q: Array) -> Array:
        """(nq,) q with the named coordinates at their values and quaternions normalised."""
        return _set_values_in_q(self.compiled, q, self.named)


def move_to_values(
    compiled: CompiledModel,
    q: Array,
    values: Mapping[str, Any],
    p: Values = None,
    t: float = 0.0,
    exact: bool = False,
    refuse_undecided: bool = True,
) -> Array:
    """Find the closed position with the named coordinates at their values; see `Mechanism.move`."""
    other = cut_elsewhere(compiled, values)
    if other is not None:
        there = move_to_values(other.compiled, other.position(q, p), values, p, t, exact, refuse_undecided)
        return other.position_back(there, q, p)
    named = _named_coordinates(compiled, values_by_name(compiled, "q", values, p, "q0" if exact else ""), p)
    target = _set_values_in_q(compiled, q, named)
    inside = compiled.coordinates.clamp(target)
    if not exact:
        target, named = inside, tuple(each._replace(value=float(inside[each.where])) for each in named)
    if not compiled.constrained:
        return target
    beyond = bool(np.max(np.abs(inside - target), initial=0.0) > 0.0)
    search = _PositionSearch(
        compiled, q, named, p, t, not (exact and (beyond or _are_all_named(compiled, named))), refuse_undecided
    )
    if not exact and len({compiled.coordinates.table[each.where].joint for each in named}) <= 1:
        return _drag_to_target(search, target)
    found = _find_position(search)
    if found is not None:
        return found
    if not exact and drag_towards(compiled, q, q, search.fixed(), p, t) is None:
        return target
    return _move_one_by_one(search)


def find_position_with_values(
    compiled: CompiledModel, q: Array, values: Mapping[str, float], p: Values, t: float
) -> Array | None:
    """(nq,) closed position nearest to q, inside the limits, with these coordinate values; None if there is none."""
    return _find_position(
        _PositionSearch(compiled, q, _named_coordinates(compiled, values, p), p, t, True, decided=False)
    )


def _drag_to_target(search: _PositionSearch, target: Array) -> Array:
    """Drag towards the target and return the position reached; a target too far away for dragging is tried directly."""
    compiled, q, held = search.compiled, search.q, search.fixed()
    far = np.max(np.abs(compiled.coordinates.speeds_between(q, target)) * held, initial=0.0) > FARTHEST
    if far and (found := _find_position(search)) is not None:
        return found
    end = drag_towards(compiled, q, target, held, search.p, search.t, refuse_undecided=search.decided)
    return target if end is None else end  # loops that do not close at all keep nothing from moving


def _are_all_named(compiled: CompiledModel, named: Sequence[NamedCoordinate]) -> bool:
    """Return True if every coordinate is named."""
    return len({each.where for each in named}) == compiled.nq


def _speeds_moving_any(compiled: CompiledModel, named: Iterable[NamedCoordinate]) -> Flags:
    """(nv,) mask of speeds that move any of the named coordinates."""
    return np.any([np.zeros(compiled.nv, dtype=bool), *(each.moving for each in named)], axis=0)


def _named_coordinates(compiled: CompiledModel, values: Mapping[str, float], p: Values) -> tuple[NamedCoordinate, ...]:
    """Specified values by coordinates of q. Raises ModelError if values for a joint and its mimic joint disagree."""
    own, found = compiled.coordinates, dict[int, NamedCoordinate]()
    for name, value in values.items():
        wanted = value
        if name in own.followers:
            ratio, offset = (float(each[0]) for each in compiled.following(name, p))
            if ratio == 0.0:
                if abs(value - offset) > ACCEPTED_GAP:
                    raise ModelError(
                        f"The coordinate cannot move: its coupling ratio is zero, which fixes it at {offset:.6g}.",
                        where=f"coordinate '{name}'",
                        remedy="Give no value for it.",
                    )
                continue
            wanted = (value - offset) / ratio
            where = own.slice_q(name).start
        else:
            where = own.index[name]
        other = found.get(where)
        if other is not None and abs(other.value - wanted) > ROUNDING_TOLERANCE:
            apart = failures.format_coordinate(abs(other.value - wanted), own.table[where].dimension)
            raise AssemblyError(
                f"The value contradicts '{other.name}': the two are coupled, and '{own.table[where].name}' would have "
                f"two values that differ by {apart}.",
                where=f"coordinate '{name}'",
                remedy="Give one of them; the other follows.",
            )
        if other is None:
            found[where] = NamedCoordinate(name, where, _speeds_moving(compiled, own.table[where]), wanted)
    return tuple(found.values())


def _speeds_moving(compiled: CompiledModel, coordinate: Coordinate) -> Flags:
    """(nv,) mask of speeds that move a coordinate: its own, or all those of a joint with a quaternion."""
    own, held = compiled.coordinates, np.zeros(compiled.nv, dtype=bool)
    part = own.slice_v(coordinate.joint)
    plain = part.stop - part.start == own.joints[coordinate.joint].info.nq
    held[part.start + coordinate.index - own.slice_q(coordinate.joint).start if plain else part] = True
    return held


def _set_values_in_q(compiled: CompiledModel, q: Array, named: Sequence[NamedCoordinate]) -> Array:
    result = q.copy()
    result[[each.where for each in named]] = [each.value for each in named]
    for first in compiled.coordinates.quaternions:
        part = slice(first, first + 4)
        given = np.isin(np.arange(first, first + 4), [each.where for each in named])
        result[part] = _normalise_quaternion(result[part], given if not given.all() else ~given)
    return result


def _normalise_quaternion(quaternion: Array, is_kept: Flags) -> Array:
    """The normalised quaternion; kept components stay fixed if the others can make up the norm."""
    left = 1.0 - float(np.sum(quaternion[is_kept] ** 2))
    rest = float(np.linalg.norm(quaternion[~is_kept]))
    if left < 0.0 or not is_kept.any():
        length = float(np.linalg.norm(quaternion))
        if length < LEAST_QUATERNION:
            raise ModelError(
                "A quaternion of zero norm defines no rotation.", remedy="Give (0, 0, 0, 1) for no rotation."
            )
        return quaternion / length
    others = quaternion[~is_kept] / rest if rest > LEAST_QUATERNION else np.eye(int(np.sum(~is_kept)))[-1]
    result = quaternion.copy()
    result[~is_kept] = np.sqrt(left) * others
    return result


# ------------------------------------------------------------------------------- finding it


def _find_position(search: _PositionSearch) -> Array | None:
    """Find the requested position: by a path along the loops if possible, else the nearest closed position, else one
    farther away."""
    compiled, q, held = search.compiled, search.q, search.fixed()
    if held.all():
        return _close_from(search, search.set_named_values(q))
    led = _remove_whole_turns(search)
    target = compiled.coordinates.clamp(led.set_named_values(q))
    leading = _find_independent_named(search)
    decided = search.decided and bool(np.array_equal(leading, held))  # else what is named, too, says which branch it is
    end = drag_towards(compiled, q, target, leading, search.p, search.t, refuse_undecided=decided)
    if (
        end is not None
        and (found := _close_from(search, search.set_named_values(end))) is not None
        and _path_leads_to(led, end, found)
    ):
        return found
    starts = [search.set_named_values(each) for each in (q, end) if each is not None]
    near = [found for start in starts if (found := _close_from(search, start)) is not None]
    if near:
        return min(near, key=lambda each: float(np.linalg.norm(compiled.coordinates.speeds_between(q, each))))
    return _close_from(search, search.set_named_values(q), search_far=True)


def _remove_whole_turns(search: _PositionSearch) -> _PositionSearch:
    """Return the search with targets reduced by whole turns that are too far for a path; after whole turns loops repeat
    their positions."""
    own = search.compiled.coordinates
    named = []
    for each in search.named:
        coordinate, left = own.table[each.where], each.value - float(search.q[each.where])
        info = own.joints[coordinate.joint].info
        if abs(left) > FARTHEST and info.wraps_around(each.where - own.slice_q(coordinate.joint).start):
            left = math.fmod(left, 2.0 * math.pi)
            each = each._replace(value=float(search.q[each.where]) + left)
        named.append(each)
    return search._replace(named=tuple(named))


def _path_leads_to(search: _PositionSearch, path_end: Array, position: Array) -> bool:
    """Return True if a path that ended at `path_end` leads to the position found, up to whole turns."""
    if float(np.max(np.abs(search.set_named_values(path_end) - path_end), initial=0.0)) > ROUNDED_GAP:
        return False
    apart = position - path_end
    if any(abs(position[each.where] - each.value) > ROUNDED_GAP for each in search.named):
        apart = apart - 2.0 * math.pi * np.round(apart / (2.0 * math.pi))
    return float(np.max(np.abs(apart), initial=0.0)) < ROUNDED_GAP


def _find_independent_named(search: _PositionSearch) -> Flags:
    """(nv,) mask of the named coordinates that are independent of those named earlier."""
    compiled, held = search.compiled, search.fixed()
    N = null_space(compiled.constraint_matrix(search.q, search.p)[compiled.levels == 0])
    leading, basis = np.zeros(compiled.nv, dtype=bool), np.zeros((0, N.shape[1]))
    for k in np.flatnonzero(held):
        row = N[k] - basis.T @ (basis @ N[k])
        if (size := float(np.linalg.norm(row))) > INDEPENDENT_MOTION:
            leading[k] = True
            basis = np.vstack([basis, row / size])
    return leading


def _close_from(search: _PositionSearch, start: Array, *, search_far: bool = False) -> Array | None:
    """Closed position nearest to a start that keeps the named coordinates at their values in the start; None if none is
    found or limits are exceeded."""
    compiled, held, p, t = search.compiled, search.fixed(), search.p, search.t
    ones, nothing = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    closed, gap = find_closed_position(
        compiled, start, ones, held, p, t=t, bounded=search.bounded, search_far=search_far
    )
    if ACCEPTED_GAP <= gap < ROUNDED_GAP:
        weights = np.where(held, UNWILLING, 1.0)
        closed, gap = find_closed_position(compiled, closed, weights, nothing, p, t=t, bounded=search.bounded)
        moved_by = np.abs(compiled.coordinates.speeds_between(start, closed)) * held
        gap = gap if np.max(moved_by, initial=0.0) < ROUNDING_TOLERANCE else ROUNDED_GAP
    entries = _quaternion_entries(search)
    if gap >= ACCEPTED_GAP and entries:
        plain = _speeds_moving_any(compiled, (each for each in search.named if np.sum(each.moving) == 1))
        closed, gap = find_closed_position(compiled, start, ones, plain, p, t=t, bounded=search.bounded, limits=entries)
    if not gap < ACCEPTED_GAP or find_reversed_joint(compiled, closed, p):
        return None
    limits = limits_widened_to_start(compiled, search.q, p) if search.bounded else ()
    return None if most_exceeded_limit(compiled, limits, closed, p) else closed


def _quaternion_entries(search: _PositionSearch) -> tuple[Any, ...]:
    """Named coordinates of joints with quaternions that are only partly specified."""
    own = search.compiled.coordinates
    several = [each for each in search.named if np.sum(each.moving) > 1]
    joints = [own.table[each.where].joint for each in several]
    return tuple(
        _NamedQuaternionEntry(each.where, each.value, each.value)
        for each, joint in zip(several, joints, strict=True)
        if joints.count(joint) < own.joints[joint].info.nq
    )


# ------------------------------------------------------------------------------- what contradicts what


def _move_one_by_one(search: _PositionSearch) -> Array:
    """Position found by moving one named coordinate after another to its value.

    Raises AssemblyError naming the first that cannot be had beside those before it, and how far it is from where it can
    stand.
    """
    at = search._replace(named=(), decided=False)
    for each in search.named:
        trial = at._replace(named=(*at.named, each))
        found = _find_position(trial)
        if found is None:
            raise _contradiction_error(search, at, each)
        at = trial._replace(q=found)
    return at.q


def _contradiction_error(
    search: _PositionSearch, search_before: _PositionSearch, coordinate: NamedCoordinate
) -> AssemblyError:
    """Error for a coordinate that cannot reach its value while those named before it are kept; names only those that
    conflict."""
    compiled = search.compiled
    if _find_position(search._replace(named=())) is None:
        return failures.assembly_error(compiled, search.set_named_values(search.q), search.p, search.t)
    against = search_before.named
    for each in reversed(search_before.named):
        fewer = tuple(other for other in against if other != each)
        if _find_position(search_before._replace(named=(*fewer, coordinate), q=search.q)) is None:
            against = fewer
    end = _move_as_far_as_possible(search_before, coordinate)
    dimension = compiled.coordinates.table[coordinate.where].dimension
    apart, stands, wanted = (
        failures.format_coordinate(x, dimension)
        for x in (abs(end[coordinate.where] - coordinate.value), end[coordinate.where], coordinate.value)
    )
    with_them = (
        f"With {join_words([_value_assignment_text(compiled, each) for each in against])} it" if against else "It"
    )
    trial = search_before._replace(named=(*against, coordinate), q=search.q)
    free = _find_position(trial._replace(bounded=False)) if search.bounded else None
    why = failures.beyond_limits_text(compiled, free) if free is not None else _blocking_drivers_text(trial)
    error = AssemblyError(
        f"{with_them} could only be moved to {stands}, {apart} from {wanted}.{why}",
        where=f"coordinate '{coordinate.name}'",
        remedy="Name fewer coordinates; the others follow." if against else "Give a value that it can reach.",
    )
    error.q = end
    error.together = tuple(f"coordinate '{each.name}'" for each in (*against, coordinate))
    return error


def _blocking_drivers_text(search: _PositionSearch) -> str:
    """Sentence naming the drivers that prevent the position; '' if it cannot be reached without them either."""
    compiled, rows = search.compiled, search.compiled.rows
    others = np.array([row.collection != "drivers" for row in rows])
    start, ones = search.set_named_values(search.q), np.ones(compiled.nv)
    free, gap = find_closed_position(
        compiled, start, ones, search.fixed(), search.p, t=search.t, rows=others, search_far=True
    )
    if others.all() or not gap < ACCEPTED_GAP:
        return ""
    left = np.abs(compiled.call("constraint_residual", free, p=search.p, t=search.t)) * (compiled.levels == 0)
    drivers = dict.fromkeys(row.element for row, x in zip(rows, left, strict=True) if x > ACCEPTED_GAP)
    names = join_words([f"'{name}'" for name in drivers])
    return f" The driver{'s' if len(drivers) > 1 else ''} {names} prevent{'' if len(drivers) > 1 else 's'} it."


def _move_as_far_as_possible(search_before: _PositionSearch, coordinate: NamedCoordinate) -> Array:
    """(nq,) position in which a coordinate is moved towards its value as far as possible while those named before it
    are kept."""
    trial = search_before._replace(named=(*search_before.named, coordinate))
    target = search_before.compiled.coordinates.clamp(trial.set_named_values(search_before.q))
    end = drag_towards(
        search_before.compiled,
        search_before.q,
        target,
        trial.fixed(),
        search_before.p,
        search_before.t,
        may_give_way=not search_before.named,
        refuse_undecided=False,
    )
    return search_before.q if end is None else end


def _value_assignment_text(compiled: CompiledModel, named: NamedCoordinate) -> str:
    return (
        f"'{named.name}' = {failures.format_coordinate(named.value, compiled.coordinates.table[named.where].dimension)}"
    )
