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
from core.constraints.closed_positions import closed_position, reversed_joint
from core.constraints.cut_coordinates import exceeded_limit, limits_widened_to_start
from core.constraints.dragging import FARTHEST, dragged_position
from core.constraints.named_values import by_name
from core.errors import AssemblyError, ModelError, listed
from core.mechanics.multibody.coordinates import Coordinate
from core.mechanics.multibody.parameter_values import Values
from core.numerics.rank import null_space
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import Compiled

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ROUNDED_GAP = 1e-6
"""Residual (m, rad) that rounding of printed numbers may leave in a fully specified position."""
ROUNDING_TOLERANCE = 2e-6
"""Largest correction (rad, m) of named coordinates that closes such a position."""
UNWILLING = 1e3
"""Weight of the named coordinates in that correction."""
INDEPENDENT_MOTION = 1e-6
"""Share of a free motion that a coordinate must have, apart from others, to count as independent of them."""
LEAST_QUATERNION = 1e-9
"""Smallest norm of a quaternion that can be normalised."""


class Named(NamedTuple):
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

    def value(self, _compiled: Compiled, q: Array, _p: Values = None, _near: float | None = None) -> float:
        """Present value of the component."""
        return float(q[self.k])

    def row(self, compiled: Compiled, q: Array, p: Values = None) -> Array:
        """(nv,) derivative of the component by the speeds."""
        one = np.eye(compiled.nv)
        return np.asarray(compiled.call("rate", np.tile(q, (compiled.nv, 1)), one, p=p)[:, self.k])

    def beyond(self, value: float) -> float:
        """Distance of a value from the specified one."""
        return abs(value - self.lower)


class _PositionSearch(NamedTuple):
    """Search for the position nearest to q in which all named coordinates have their values.

    bounded : whether limits hold; decided : whether branches that nothing decides between are refused
    """

    compiled: Compiled
    q: Array
    named: tuple[Named, ...]
    p: Values
    t: float
    bounded: bool
    decided: bool = True

    def fixed(self) -> Flags:
        """(nv,) mask of speeds that move named coordinates."""
        return _moved_by_any(self.compiled, self.named)

    def placed(self, q: Array) -> Array:
        """(nq,) q with the named coordinates at their values and quaternions normalised."""
        return _with_named_values(self.compiled, q, self.named)


def moved(
    compiled: Compiled,
    q: Array,
    values: Mapping[str, Any],
    p: Values = None,
    t: float = 0.0,
    exact: bool = False,
    decided: bool = True,
) -> Array:
    """Closed position with the named coordinates at their values; see `Mechanism.move`."""
    named = _named_coordinates(compiled, by_name(compiled, "q", values, p, "q0" if exact else ""), p)
    target = _with_named_values(compiled, q, named)
    inside = compiled.coordinates.clamp(target)
    if not exact:
        target, named = inside, tuple(each._replace(value=float(inside[each.where])) for each in named)
    if not compiled.constrained:
        return target
    beyond = bool(np.max(np.abs(inside - target), initial=0.0) > 0.0)
    search = _PositionSearch(compiled, q, named, p, t, not (exact and (beyond or _all_named(compiled, named))), decided)
    if not exact and len({compiled.coordinates.table[each.where].joint for each in named}) <= 1:
        return _dragged_to(search, target)
    found = _found_position(search)
    if found is not None:
        return found
    if not exact and dragged_position(compiled, q, q, search.fixed(), p, t) is None:
        return target
    return _one_by_one(search)


def position_with_values(
    compiled: Compiled, q: Array, values: Mapping[str, float], p: Values, t: float
) -> Array | None:
    """(nq,) closed position nearest to q, inside the limits, with these coordinate values; None if there is none."""
    return _found_position(
        _PositionSearch(compiled, q, _named_coordinates(compiled, values, p), p, t, True, decided=False)
    )


def _dragged_to(search: _PositionSearch, target: Array) -> Array:
    """Position reached by dragging towards the target; a target too far away for dragging is tried directly."""
    compiled, q, held = search.compiled, search.q, search.fixed()
    far = np.max(np.abs(compiled.coordinates.difference(q, target)) * held, initial=0.0) > FARTHEST
    if far and (found := _found_position(search)) is not None:
        return found
    end = dragged_position(compiled, q, target, held, search.p, search.t, decided=search.decided)
    return target if end is None else end  # loops that do not close at all keep nothing from moving


def _all_named(compiled: Compiled, named: Sequence[Named]) -> bool:
    """Return True if every coordinate is named."""
    return len({each.where for each in named}) == compiled.nq


def _moved_by_any(compiled: Compiled, named: Iterable[Named]) -> Flags:
    """(nv,) mask of speeds that move any of the named coordinates."""
    return np.any([np.zeros(compiled.nv, dtype=bool), *(each.moving for each in named)], axis=0)


def _named_coordinates(compiled: Compiled, values: Mapping[str, float], p: Values) -> tuple[Named, ...]:
    """Specified values by coordinates of q. Raises ModelError if values for a joint and its mimic joint disagree."""
    own, found = compiled.coordinates, dict[int, Named]()
    for name, value in values.items():
        wanted = value
        if name in own.followers:
            ratio, offset = (float(each[0]) for each in compiled.following(name, p))
            if ratio == 0.0:
                if abs(value - offset) > ACCEPTED_GAP:
                    raise ModelError(
                        f"It cannot move: its coupling ratio is zero, which fixes it at {offset:.6g}.",
                        where=f"coordinate '{name}'",
                        remedy="Leave it out.",
                    )
                continue
            wanted = (value - offset) / ratio
            where = own.slice_q(name).start
        else:
            where = own.index[name]
        other = found.get(where)
        if other is not None and abs(other.value - wanted) > ROUNDING_TOLERANCE:
            apart = failures.coordinate_text(abs(other.value - wanted), own.table[where].dimension)
            raise AssemblyError(
                f"It contradicts '{other.name}': the two are coupled, and '{own.table[where].name}' would have two"
                f" values {apart} apart.",
                where=f"coordinate '{name}'",
                remedy="Give one of them; the other follows.",
            )
        if other is None:
            found[where] = Named(name, where, _moved_by(compiled, own.table[where]), wanted)
    return tuple(found.values())


def _moved_by(compiled: Compiled, coordinate: Coordinate) -> Flags:
    """(nv,) mask of speeds that move a coordinate: its own, or all those of a joint with a quaternion."""
    own, held = compiled.coordinates, np.zeros(compiled.nv, dtype=bool)
    part = own.slice_v(coordinate.joint)
    plain = part.stop - part.start == own.joints[coordinate.joint].info.nq
    held[part.start + coordinate.index - own.slice_q(coordinate.joint).start if plain else part] = True
    return held


def _with_named_values(compiled: Compiled, q: Array, named: Sequence[Named]) -> Array:
    result = q.copy()
    result[[each.where for each in named]] = [each.value for each in named]
    for first in compiled.coordinates.quaternions:
        part = slice(first, first + 4)
        given = np.isin(np.arange(first, first + 4), [each.where for each in named])
        result[part] = _normalised(result[part], given if not given.all() else ~given)
    return result


def _normalised(quaternion: Array, kept: Flags) -> Array:
    """The normalised quaternion; kept components stay fixed if the others can make up the norm."""
    left = 1.0 - float(np.sum(quaternion[kept] ** 2))
    rest = float(np.linalg.norm(quaternion[~kept]))
    if left < 0.0 or not kept.any():
        length = float(np.linalg.norm(quaternion))
        if length < LEAST_QUATERNION:
            raise ModelError(
                "A quaternion of length zero has no direction.", remedy="Give (0, 0, 0, 1) for no rotation."
            )
        return quaternion / length
    others = quaternion[~kept] / rest if rest > LEAST_QUATERNION else np.eye(int(np.sum(~kept)))[-1]
    result = quaternion.copy()
    result[~kept] = np.sqrt(left) * others
    return result


# ------------------------------------------------------------------------------- finding it


def _found_position(search: _PositionSearch) -> Array | None:
    """The requested position: by a path along the loops if possible, else the nearest closed position, else one farther
    away."""
    compiled, q, held = search.compiled, search.q, search.fixed()
    if held.all():
        return _closed_from(search, search.placed(q))
    led = _without_whole_turns(search)
    target = compiled.coordinates.clamp(led.placed(q))
    leading = _independent_named(search)
    decided = search.decided and bool(np.array_equal(leading, held))  # else what is named, too, says which branch it is
    end = dragged_position(compiled, q, target, leading, search.p, search.t, decided=decided)
    if (
        end is not None
        and (found := _closed_from(search, search.placed(end))) is not None
        and _leads_to(led, end, found)
    ):
        return found
    starts = [search.placed(each) for each in (q, end) if each is not None]
    near = [found for start in starts if (found := _closed_from(search, start)) is not None]
    if near:
        return min(near, key=lambda each: float(np.linalg.norm(compiled.coordinates.difference(q, each))))
    return _closed_from(search, search.placed(q), anywhere=True)


def _without_whole_turns(search: _PositionSearch) -> _PositionSearch:
    """The search with targets reduced by whole turns that are too far for a path, after which loops repeat."""
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


def _leads_to(near: _PositionSearch, end: Array, found: Array) -> bool:
    """Return True if a path that ended at `end` leads to the position found, up to whole turns."""
    if float(np.max(np.abs(near.placed(end) - end), initial=0.0)) > ROUNDED_GAP:
        return False
    apart = found - end
    if any(abs(found[each.where] - each.value) > ROUNDED_GAP for each in near.named):
        apart = apart - 2.0 * math.pi * np.round(apart / (2.0 * math.pi))
    return float(np.max(np.abs(apart), initial=0.0)) < ROUNDED_GAP


def _independent_named(search: _PositionSearch) -> Flags:
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


def _closed_from(search: _PositionSearch, start: Array, *, anywhere: bool = False) -> Array | None:
    """Closed position nearest to a start that keeps the named coordinates there; None if none is found or limits are
    exceeded."""
    compiled, held, p, t = search.compiled, search.fixed(), search.p, search.t
    ones, nothing = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    closed, gap = closed_position(compiled, start, ones, held, p, t=t, bounded=search.bounded, anywhere=anywhere)
    if ACCEPTED_GAP <= gap < ROUNDED_GAP:
        weights = np.where(held, UNWILLING, 1.0)
        closed, gap = closed_position(compiled, closed, weights, nothing, p, t=t, bounded=search.bounded)
        moved_by = np.abs(compiled.coordinates.difference(start, closed)) * held
        gap = gap if np.max(moved_by, initial=0.0) < ROUNDING_TOLERANCE else ROUNDED_GAP
    entries = _quaternion_entries(search)
    if gap >= ACCEPTED_GAP and entries:
        plain = _moved_by_any(compiled, (each for each in search.named if np.sum(each.moving) == 1))
        closed, gap = closed_position(compiled, start, ones, plain, p, t=t, bounded=search.bounded, limits=entries)
    if not gap < ACCEPTED_GAP or reversed_joint(compiled, closed, p):
        return None
    limits = limits_widened_to_start(compiled, search.q, p) if search.bounded else ()
    return None if exceeded_limit(compiled, limits, closed, p) else closed


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


def _one_by_one(search: _PositionSearch) -> Array:
    """Position found by moving one named coordinate after another to its value.

    Raises AssemblyError naming the first that cannot be had beside those before it, and how far it is from where it can
    stand.
    """
    at = search._replace(named=(), decided=False)
    for each in search.named:
        trial = at._replace(named=(*at.named, each))
        found = _found_position(trial)
        if found is None:
            raise _contradiction_error(search, at, each)
        at = trial._replace(q=found)
    return at.q


def _contradiction_error(search: _PositionSearch, before: _PositionSearch, last: Named) -> AssemblyError:
    """Error for a coordinate that cannot reach its value while those named before it are kept; names only those that
    conflict."""
    compiled = search.compiled
    if _found_position(search._replace(named=())) is None:
        return failures.assembly_error(compiled, search.placed(search.q), search.p, search.t)
    against = before.named
    for each in reversed(before.named):
        fewer = tuple(other for other in against if other != each)
        if _found_position(before._replace(named=(*fewer, last), q=search.q)) is None:
            against = fewer
    end = _moved_as_far_as_possible(before, last)
    dimension = compiled.coordinates.table[last.where].dimension
    apart, stands, wanted = (
        failures.coordinate_text(x, dimension) for x in (abs(end[last.where] - last.value), end[last.where], last.value)
    )
    with_them = f"With {listed([_value_assignment_text(compiled, each) for each in against])} it" if against else "It"
    trial = before._replace(named=(*against, last), q=search.q)
    free = _found_position(trial._replace(bounded=False)) if search.bounded else None
    why = failures.beyond_limits_text(compiled, free) if free is not None else _drivers_in_the_way(trial)
    error = AssemblyError(
        f"{with_them} can only reach {stands}, {apart} from {wanted}.{why}",
        where=f"coordinate '{last.name}'",
        remedy="Name fewer coordinates: those that are not named follow."
        if against
        else "Give a value that it can reach.",
    )
    error.q = end
    error.together = tuple(f"coordinate '{each.name}'" for each in (*against, last))
    return error


def _drivers_in_the_way(search: _PositionSearch) -> str:
    """Sentence naming the drivers that prevent the position; '' if it fails without them, too."""
    compiled, rows = search.compiled, search.compiled.rows
    others = np.array([row.collection != "drivers" for row in rows])
    start, ones = search.placed(search.q), np.ones(compiled.nv)
    free, gap = closed_position(compiled, start, ones, search.fixed(), search.p, t=search.t, rows=others, anywhere=True)
    if others.all() or not gap < ACCEPTED_GAP:
        return ""
    left = np.abs(compiled.call("constraint_residual", free, p=search.p, t=search.t)) * (compiled.levels == 0)
    drivers = dict.fromkeys(row.element for row, x in zip(rows, left, strict=True) if x > ACCEPTED_GAP)
    names = listed([f"'{name}'" for name in drivers])
    return f" The driver{'s' if len(drivers) > 1 else ''} {names} prevent{'' if len(drivers) > 1 else 's'} it."


def _moved_as_far_as_possible(before: _PositionSearch, last: Named) -> Array:
    """(nq,) position in which a coordinate is moved towards its value as far as possible while those before it are
    held."""
    trial = before._replace(named=(*before.named, last))
    target = before.compiled.coordinates.clamp(trial.placed(before.q))
    end = dragged_position(
        before.compiled, before.q, target, trial.fixed(), before.p, before.t, yields=not before.named, decided=False
    )
    return before.q if end is None else end


def _value_assignment_text(compiled: Compiled, named: Named) -> str:
    return (
        f"'{named.name}' = {failures.coordinate_text(named.value, compiled.coordinates.table[named.where].dimension)}"
    )
