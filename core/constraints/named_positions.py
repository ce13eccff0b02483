"""Positions given by the names of coordinates: what is named is kept, what is not named follows.

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
from core.constraints.axis_orientation import wrong_orientation
from core.constraints.closed_positions import closed_position
from core.constraints.cut_limits import outside, widened
from core.constraints.dragging import FARTHEST, dragged
from core.constraints.named_values import by_name
from core.errors import AssemblyError, ModelError, listed
from core.multibody.coordinates import Coordinate
from core.multibody.parameter_values import Values
from core.numerics.rank import null_space
from core.numerics.tolerances import ACCEPTED_GAP
from core.traces.compiled import Compiled

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

ROUNDED_GAP = 1e-6
"""Residual (m, rad) of a position of which all is given that numbers written with some digits leave."""
ROUNDING_TOLERANCE = 2e-6
"""How far (rad, m) what is named may move to close such a position."""
UNWILLING = 1e3
"""Weight of what is named there."""
INDEPENDENT_MOTION = 1e-6
"""Part of a free motion that a coordinate has beside others when it counts as independent of them."""
LEAST_QUATERNION = 1e-9
"""Length of a quaternion that has a direction."""


class Named(NamedTuple):
    """A coordinate that is given: `where` it stands in q, the speeds that move it (nv,), and its value."""

    name: str
    where: int
    moving: Flags
    value: float


class _Entry(NamedTuple):
    """A named component of a joint with a quaternion whose others are free to follow: kept by a row (as `CutLimit`)."""

    k: int
    lower: float
    upper: float

    def value(self, _compiled: Compiled, q: Array, _p: Values = None, _near: float | None = None) -> float:
        """The coordinate."""
        return float(q[self.k])

    def row(self, compiled: Compiled, q: Array, p: Values = None) -> Array:
        """(nv,) its derivative along the speeds."""
        one = np.eye(compiled.nv)
        return np.asarray(compiled.call("rate", np.tile(q, (compiled.nv, 1)), one, p=p)[:, self.k])

    def beyond(self, value: float) -> float:
        """How far a value lies from the one it has."""
        return abs(value - self.lower)


class _Search(NamedTuple):
    """What is sought: the position nearest to q in which all that is named has its value.

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
        """(nv,) speeds that move what is named."""
        return _together(self.compiled, self.named)

    def placed(self, q: Array) -> Array:
        """(nq,) q with what is named at its values; quaternions at length one, named components kept."""
        return _placed(self.compiled, q, self.named)


def moved(
    compiled: Compiled,
    q: Array,
    values: Mapping[str, Any],
    p: Values = None,
    t: float = 0.0,
    exact: bool = False,
    decided: bool = True,
) -> Array:
    """See `Mechanism.move`. decided : whether branches that nothing decides between are refused; else either will
    do."""
    named = _named(compiled, by_name(compiled, "q", values, p, "q0" if exact else ""), p)
    target = _placed(compiled, q, named)
    inside = compiled.coordinates.clamp(target)
    if not exact:
        target, named = inside, tuple(each._replace(value=float(inside[each.where])) for each in named)
    if not compiled.constrained:
        return target
    beyond = bool(np.max(np.abs(inside - target), initial=0.0) > 0.0)
    search = _Search(compiled, q, named, p, t, not (exact and (beyond or _all(compiled, named))), decided)
    if not exact and len({compiled.coordinates.table[each.where].joint for each in named}) <= 1:
        return _by_hand(search, target)
    found = _found(search)
    if found is not None:
        return found
    if not exact and dragged(compiled, q, q, search.fixed(), p, t) is None:
        return target
    return _one_by_one(search)


def with_values(compiled: Compiled, q: Array, values: Mapping[str, float], p: Values, t: float) -> Array | None:
    """(nq,) the closed position nearest to q, inside the limits, in which coordinates have these values; None if there
    is none."""
    return _found(_Search(compiled, q, _named(compiled, values, p), p, t, True, decided=False))


def _by_hand(search: _Search, target: Array) -> Array:
    """Towards the target as far as the loops let it; where that is farther than a hand goes, at once if it closes."""
    compiled, q, held = search.compiled, search.q, search.fixed()
    far = np.max(np.abs(compiled.coordinates.difference(q, target)) * held, initial=0.0) > FARTHEST
    if far and (found := _found(search)) is not None:
        return found
    end = dragged(compiled, q, target, held, search.p, search.t, decided=search.decided)
    return target if end is None else end  # loops that do not close at all keep nothing from moving


def _all(compiled: Compiled, named: Sequence[Named]) -> bool:
    """Whether every coordinate has a name."""
    return len({each.where for each in named}) == compiled.nq


def _together(compiled: Compiled, named: Iterable[Named]) -> Flags:
    """(nv,) speeds that move any of them."""
    return np.any([np.zeros(compiled.nv, dtype=bool), *(each.moving for each in named)], axis=0)


def _named(compiled: Compiled, values: Mapping[str, float], p: Values) -> tuple[Named, ...]:
    """What is given, by the coordinates in q; ModelError where two joints that follow one another do not agree."""
    own, found = compiled.coordinates, dict[int, Named]()
    for name, value in values.items():
        wanted = value
        if name in own.followers:
            ratio, offset = (float(each[0]) for each in compiled.following(name, p))
            if ratio == 0.0:
                if abs(value - offset) > ACCEPTED_GAP:
                    raise ModelError(
                        f"It does not move: it stands at {offset:.6g} whatever it follows.",
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
            apart = failures.value_text(abs(other.value - wanted), own.table[where].dimension)
            raise AssemblyError(
                f"It contradicts '{other.name}': one follows the other, and '{own.table[where].name}' would have two"
                f" values {apart} apart.",
                where=f"coordinate '{name}'",
                remedy="Give one of them; the other follows.",
            )
        if other is None:
            found[where] = Named(name, where, _moved_by(compiled, own.table[where]), wanted)
    return tuple(found.values())


def _moved_by(compiled: Compiled, coordinate: Coordinate) -> Flags:
    """(nv,) the speeds that move a coordinate: its own, or all of a joint that has a quaternion."""
    own, held = compiled.coordinates, np.zeros(compiled.nv, dtype=bool)
    part = own.slice_v(coordinate.joint)
    plain = part.stop - part.start == own.joints[coordinate.joint].info.nq
    held[part.start + coordinate.index - own.slice_q(coordinate.joint).start if plain else part] = True
    return held


def _placed(compiled: Compiled, q: Array, named: Sequence[Named]) -> Array:
    result = q.copy()
    result[[each.where for each in named]] = [each.value for each in named]
    for first in compiled.coordinates.quaternions:
        part = slice(first, first + 4)
        given = np.isin(np.arange(first, first + 4), [each.where for each in named])
        result[part] = _unit(result[part], given if not given.all() else ~given)
    return result


def _unit(quaternion: Array, kept: Flags) -> Array:
    """A quaternion at length one; the components that are kept are so while those left can make up for them."""
    left = 1.0 - float(np.sum(quaternion[kept] ** 2))
    rest = float(np.linalg.norm(quaternion[~kept]))
    if left < 0.0 or not kept.any():
        length = float(np.linalg.norm(quaternion))
        if length < LEAST_QUATERNION:
            raise ModelError("A quaternion of length zero has no direction.", remedy="Give (0, 0, 0, 1) for none.")
        return quaternion / length
    others = quaternion[~kept] / rest if rest > LEAST_QUATERNION else np.eye(int(np.sum(~kept)))[-1]
    result = quaternion.copy()
    result[~kept] = np.sqrt(left) * others
    return result


# ------------------------------------------------------------------------------- finding it


def _found(search: _Search) -> Array | None:
    """The position that is sought: at the end of a way along the loops, else nearest to q, else farther away."""
    compiled, q, held = search.compiled, search.q, search.fixed()
    if held.all():
        return _closed(search, search.placed(q))
    led = _without_turns(search)
    target = compiled.coordinates.clamp(led.placed(q))
    leading = _leading(search)
    decided = search.decided and bool(np.array_equal(leading, held))  # else what is named, too, says which branch it is
    end = dragged(compiled, q, target, leading, search.p, search.t, decided=decided)
    if end is not None and (found := _closed(search, search.placed(end))) is not None and _leads(led, end, found):
        return found
    starts = [search.placed(each) for each in (q, end) if each is not None]
    near = [found for start in starts if (found := _closed(search, start)) is not None]
    if near:
        return min(near, key=lambda each: float(np.linalg.norm(compiled.coordinates.difference(q, each))))
    return _closed(search, search.placed(q), anywhere=True)


def _without_turns(search: _Search) -> _Search:
    """The same less the whole turns of what is farther than a way leads: the loops repeat themselves after them."""
    own = search.compiled.coordinates
    named = []
    for each in search.named:
        coordinate, left = own.table[each.where], each.value - float(search.q[each.where])
        info = own.joints[coordinate.joint].info
        if abs(left) > FARTHEST and info.is_wound(each.where - own.slice_q(coordinate.joint).start):
            left = math.fmod(left, 2.0 * math.pi)
            each = each._replace(value=float(search.q[each.where]) + left)
        named.append(each)
    return search._replace(named=tuple(named))


def _leads(near: _Search, end: Array, found: Array) -> bool:
    """Whether a way that ended at `end` leads to what was found, or to it but for whole turns."""
    if float(np.max(np.abs(near.placed(end) - end), initial=0.0)) > ROUNDED_GAP:
        return False
    apart = found - end
    if any(abs(found[each.where] - each.value) > ROUNDED_GAP for each in near.named):
        apart = apart - 2.0 * math.pi * np.round(apart / (2.0 * math.pi))
    return float(np.max(np.abs(apart), initial=0.0)) < ROUNDED_GAP


def _leading(search: _Search) -> Flags:
    """(nv,) what is named as far as it is independent, first come first: the others it takes along."""
    compiled, held = search.compiled, search.fixed()
    N = null_space(compiled.constraint_matrix(search.q, search.p)[compiled.levels == 0])
    leading, basis = np.zeros(compiled.nv, dtype=bool), np.zeros((0, N.shape[1]))
    for k in np.flatnonzero(held):
        row = N[k] - basis.T @ (basis @ N[k])
        if (size := float(np.linalg.norm(row))) > INDEPENDENT_MOTION:
            leading[k] = True
            basis = np.vstack([basis, row / size])
    return leading


def _closed(search: _Search, start: Array, *, anywhere: bool = False) -> Array | None:
    """The closed position nearest to a start in which what is named stands as it does there; None if it is not found,
    or breaks limits that hold."""
    compiled, held, p, t = search.compiled, search.fixed(), search.p, search.t
    ones, nothing = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    closed, gap = closed_position(compiled, start, ones, held, p, t=t, bounded=search.bounded, anywhere=anywhere)
    if ACCEPTED_GAP <= gap < ROUNDED_GAP:
        weights = np.where(held, UNWILLING, 1.0)
        closed, gap = closed_position(compiled, closed, weights, nothing, p, t=t, bounded=search.bounded)
        moved_by = np.abs(compiled.coordinates.difference(start, closed)) * held
        gap = gap if np.max(moved_by, initial=0.0) < ROUNDING_TOLERANCE else ROUNDED_GAP
    entries = _entries(search)
    if gap >= ACCEPTED_GAP and entries:
        plain = _together(compiled, (each for each in search.named if np.sum(each.moving) == 1))
        closed, gap = closed_position(compiled, start, ones, plain, p, t=t, bounded=search.bounded, limits=entries)
    if not gap < ACCEPTED_GAP or wrong_orientation(compiled, closed, p):
        return None
    limits = widened(compiled, search.q, p) if search.bounded else ()
    return None if outside(compiled, limits, closed, p) else closed


def _entries(search: _Search) -> tuple[Any, ...]:
    """The named coordinates of joints with quaternions of which not all is named."""
    own = search.compiled.coordinates
    several = [each for each in search.named if np.sum(each.moving) > 1]
    joints = [own.table[each.where].joint for each in several]
    return tuple(
        _Entry(each.where, each.value, each.value)
        for each, joint in zip(several, joints, strict=True)
        if joints.count(joint) < own.joints[joint].info.nq
    )


# ------------------------------------------------------------------------------- what contradicts what


def _one_by_one(search: _Search) -> Array:
    """The position, each coordinate brought to its value after the other.

    Raises AssemblyError naming the first that cannot be had beside those before it, and how far it is from where it can
    stand.
    """
    at = search._replace(named=(), decided=False)
    for each in search.named:
        trial = at._replace(named=(*at.named, each))
        found = _found(trial)
        if found is None:
            raise _contradiction(search, at, each)
        at = trial._replace(q=found)
    return at.q


def _contradiction(search: _Search, before: _Search, last: Named) -> AssemblyError:
    """What is said of a coordinate that cannot have its value beside those before it, of which only those that keep it
    from it are named."""
    compiled = search.compiled
    if _found(search._replace(named=())) is None:
        return failures.assembly_error(compiled, search.placed(search.q), search.p, search.t)
    against = before.named
    for each in reversed(before.named):
        fewer = tuple(other for other in against if other != each)
        if _found(before._replace(named=(*fewer, last), q=search.q)) is None:
            against = fewer
    end = _as_far_as_it_goes(before, last)
    dimension = compiled.coordinates.table[last.where].dimension
    apart, stands, wanted = (
        failures.value_text(x, dimension) for x in (abs(end[last.where] - last.value), end[last.where], last.value)
    )
    with_them = f"With {listed([_text(compiled, each) for each in against])} it" if against else "It"
    trial = before._replace(named=(*against, last), q=search.q)
    free = _found(trial._replace(bounded=False)) if search.bounded else None
    why = failures.beyond_limits(compiled, free) if free is not None else _driven(trial)
    error = AssemblyError(
        f"{with_them} stands at {stands}, {apart} from {wanted}.{why}",
        where=f"coordinate '{last.name}'",
        remedy="Name fewer coordinates: those that are not named follow." if against else "Give a value it can have.",
    )
    error.q = end
    error.together = tuple(f"coordinate '{each.name}'" for each in (*against, last))
    return error


def _driven(search: _Search) -> str:
    """The drivers without which the position could be had, as a sentence; '' if it could not."""
    compiled, rows = search.compiled, search.compiled.rows
    others = np.array([row.collection != "drivers" for row in rows])
    start, ones = search.placed(search.q), np.ones(compiled.nv)
    free, gap = closed_position(compiled, start, ones, search.fixed(), search.p, t=search.t, rows=others, anywhere=True)
    if others.all() or not gap < ACCEPTED_GAP:
        return ""
    left = np.abs(compiled.call("constraint_residual", free, p=search.p, t=search.t)) * (compiled.levels == 0)
    drivers = dict.fromkeys(row.element for row, x in zip(rows, left, strict=True) if x > ACCEPTED_GAP)
    names = listed([f"'{name}'" for name in drivers])
    return f" The driver{'s' if len(drivers) > 1 else ''} {names} hold{'' if len(drivers) > 1 else 's'} it."


def _as_far_as_it_goes(before: _Search, last: Named) -> Array:
    """(nq,) where a coordinate stands when it is moved towards its value, those before it held."""
    trial = before._replace(named=(*before.named, last))
    target = before.compiled.coordinates.clamp(trial.placed(before.q))
    end = dragged(
        before.compiled, before.q, target, trial.fixed(), before.p, before.t, yields=not before.named, decided=False
    )
    return before.q if end is None else end


def _text(compiled: Compiled, named: Named) -> str:
    return f"'{named.name}' = {failures.value_text(named.value, compiled.coordinates.table[named.where].dimension)}"
