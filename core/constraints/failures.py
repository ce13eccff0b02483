"""Messages about failed assembly: the loop, constraint or driver that does not close, the remaining gap, the smallest
sets of elements that cannot be satisfied together.

At the position that comes nearest, elements without a gap may still be part of the contradiction, and elements with one
need not. So elements are left out one after another: whatever the rest stays open without does not belong to it
(deletion filter; Chinneck and Dravnieks, ORSA J. Computing 3, 1991). Of the set that is left every element is needed:
without any one of them the others close.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.constraints.closed_positions import find_closed_position, find_reversed_joint
from core.constraints.cut_coordinates import BEYOND, CutLimit
from core.constraints.redundant_drivers import contradiction_error, find_contradiction, format_quantity, row_unit
from core.errors import AssemblyError, join_words
from core.mechanics.elements.constraints.kinematic_constraint import Row
from core.mechanics.multibody.parameter_values import Values
from core.model.model import WORDS
from core.numerics.rank import null_space, pseudoinverse
from core.numerics.tolerances import ACCEPTED_GAP
from core.programs.compiled import CompiledModel
from core.programs.not_finite import REMEDY

Array = NDArray[np.float64]


MOST_SETS = 4
THOROUGH = 20
"""Number of elements, over all sets, that are excluded only after closure has also been searched for from distant
positions."""

Key = tuple[str, str]
"""Collection and name of an element."""


class Conflict(NamedTuple):
    """Elements that cannot be satisfied together, in the order of their equations: joints, then constraints, then
    drivers."""

    elements: tuple[Key, ...]
    q: Array
    """(nq,) the position with the smallest residuals."""
    row: int
    """Index of the row with the largest residual at this position."""
    gap: float
    """The residual of that row, with its sign."""


def find_conflicts(
    compiled: CompiledModel, q: Array, p: Values, t: float, drivers: bool = True
) -> tuple[Conflict, ...]:
    """Disjoint sets of elements that cannot be satisfied together near a position that does not close; empty if none is
    found.

    drivers : whether they count
    """
    rows = compiled.rows
    left = list(
        dict.fromkeys(
            (row.collection, row.element) for row in rows if row.level == 0 and (drivers or row.collection != "drivers")
        )
    )
    found: list[Conflict] = []
    thorough = iter(range(THOROUGH))
    while left and len(found) < MOST_SETS:
        nearest, gap = _close_elements(compiled, q, p, t, left, search_far=bool(found))
        if gap < ACCEPTED_GAP:
            break
        one = _find_minimal_conflict(compiled, nearest, p, t, left, thorough)
        if one is None:
            break
        found.append(one)
        left = [key for key in left if key not in one.elements]
    return tuple(found)


def _find_minimal_conflict(
    compiled: CompiledModel, q: Array, p: Values, t: float, candidates: Sequence[Key], thorough: Iterator[int]
) -> Conflict | None:
    """Find one minimal set of conflicting elements; None if an element was wrongly excluded.

    thorough : has an item for each thorough try that is left
    """
    gaps = _largest_gaps(compiled, q, p, t, candidates)
    order = sorted(candidates, key=lambda key: (round(gaps[key] / max(gaps.values()), 6), -candidates.index(key)))
    kept = list(candidates)
    open_ones = [key for key in candidates if gaps[key] >= ACCEPTED_GAP]
    if len(open_ones) < len(candidates):  # often those without a gap are innocent, all at once
        trial, gap = _close_elements(compiled, q, p, t, open_ones, search_far=True)
        if not gap < ACCEPTED_GAP:
            kept, q = open_ones, trial
    for key in order:
        without = [other for other in kept if other != key]
        if len(without) == len(kept) or not without:
            continue
        trial, gap = _close_elements(compiled, q, p, t, without)
        if not gap < ACCEPTED_GAP and next(thorough, None) is not None:
            trial, gap = _close_elements(compiled, trial, p, t, without, search_far=True)
        if not gap < ACCEPTED_GAP:
            kept, q = without, trial
    q, gap = _close_elements(compiled, q, p, t, kept, search_far=True)
    if gap < ACCEPTED_GAP:
        return None
    signed = compiled.call("constraint_residual", q, p=p, t=t)
    row = max(_position_rows(compiled, kept), key=lambda k: abs(float(signed[k])))
    return Conflict(tuple(kept), q, row, float(signed[row]))


def _largest_gaps(compiled: CompiledModel, q: Array, p: Values, t: float, keys: Sequence[Key]) -> dict[Key, float]:
    """Largest residual of each element."""
    gaps = np.abs(compiled.call("constraint_residual", q, p=p, t=t))
    return {key: float(max(gaps[k] for k in _position_rows(compiled, [key]))) for key in keys}


def _position_rows(compiled: CompiledModel, keys: Collection[Key]) -> list[int]:
    """Indices of the elements' position-level rows."""
    rows: Sequence[Row] = compiled.rows
    return [k for k, row in enumerate(rows) if row.level == 0 and (row.collection, row.element) in keys]


def _close_elements(
    compiled: CompiledModel, q: Array, p: Values, t: float, keys: Collection[Key], search_far: bool = False
) -> tuple[Array, float]:
    """Position nearest to q that satisfies the given elements, and the remaining gap."""
    held = np.zeros(len(compiled.rows), dtype=bool)
    held[_position_rows(compiled, keys)] = True
    free = np.zeros(compiled.nv, dtype=bool)
    return find_closed_position(compiled, q, np.ones(compiled.nv), free, p, search_far=search_far, t=t, rows=held)


FAR = 1e-7
"""Gap (m) above which a message states distances instead of directions."""
LONGEST, SHORTEST = 0.2, 1e-6
"""Longest step (rad or m) towards the values prescribed by drivers, and the smallest fraction of a step that is tried.
"""
PRESSES = 1e-9
"""Slope of the squared gap above which a coordinate counts as pressed against its limit, and the clearance that counts
as zero."""


def assembly_error(
    compiled: CompiledModel, q: Array, p: Values, t: float = 0.0, *, drivers: bool = True
) -> AssemblyError:
    """Build the error that names the open elements, their gaps, all conflicting elements (`AssemblyError.together`) and
    the position q with the smallest gap.

    drivers : whether they count
    """
    error = _open_loop_error(compiled, q, p, t, drivers)
    error.what += _blocking_limits_text(compiled, q, p, t)
    error.q = q
    return error


def _blocking_limits_text(compiled: CompiledModel, q: Array, p: Values, t: float) -> str:
    """Sentence naming the joint limits that prevent closure; '' if the loops do not close without limits either."""
    free, gap = find_closed_position(
        compiled, q, np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool), p, t=t, bounded=False
    )
    if not gap < ACCEPTED_GAP or find_reversed_joint(compiled, free, p):
        return ""
    return beyond_limits_text(compiled, free)


def beyond_limits_text(compiled: CompiledModel, q: Array) -> str:
    """Sentence naming the joints that are beyond their limits at a closed position; '' if there are none."""
    lower, upper = compiled.coordinates.lower, compiled.coordinates.upper
    beyond = [
        f"'{each.name}' at {format_coordinate(x, each.dimension)}"
        f" (limit {format_coordinate(low if x < low else high, each.dimension)})"
        for each, x, low, high in zip(compiled.coordinates.table, q, lower, upper, strict=True)
        if not low - BEYOND <= x <= high + BEYOND
    ]
    return f" It would close with {join_words(beyond)}." if beyond else ""


def format_coordinate(x: float, dimension: str) -> str:
    """Format a coordinate, or a difference of two, in degrees or millimetres."""
    if dimension == "none":
        return f"{x:.4g}"
    return f"{np.degrees(x):.4g}°" if dimension == "angle" else f"{1000.0 * x:.4g} mm"


def _open_loop_error(compiled: CompiledModel, q: Array, p: Values, t: float, drivers: bool) -> AssemblyError:
    rows = compiled.rows
    counts = [drivers or row.collection != "drivers" for row in rows]
    gaps = np.where(counts, np.abs(compiled.call("constraint_residual", q, p=p, t=t)), 0.0)
    at = int(np.argmax(gaps))
    row, worst = rows[at], float(gaps[at])
    if worst < ACCEPTED_GAP and (joint := find_reversed_joint(compiled, q, p)):
        return AssemblyError(
            "The loop closes only with the joint's axis reversed.",
            where=f"joint '{joint}'",
            remedy="Reverse the axis in its frame a or b, or start from another position.",
        )
    if row.collection != "joints" and not np.isfinite(worst):
        return AssemblyError(
            f"At t = {t:.6g} s its formula has no finite value.",
            where=f"{WORDS[row.collection]} '{row.element}'",
            remedy=REMEDY,
        )
    found = find_conflicts(compiled, q, p, t, drivers) if np.isfinite(worst) else ()
    if not found:
        return _single_element_error(compiled, q, row, worst, p)
    errors = [_conflict_error(compiled, each, p, t) for each in found]
    error = errors[0]
    error.together = tuple(_element_text(key) for each in found for key in each.elements)
    for other, each in zip(errors[1:], found[1:], strict=True):
        names = join_words([_element_name(compiled, key) for key in each.elements])
        several = len(each.elements) > 1
        error.what += f" In addition, {names} {'were not satisfied together' if several else 'was not satisfied'}."
        error.remedy = error.remedy or other.remedy
    return error


def beyond_limit_error(q: Array, limit: CutLimit, step: float) -> AssemblyError:
    """Error for loops that close only if a joint exceeds its limit."""
    amount = format_quantity(step, "rad") if limit.dimension == "angle" else f"{1000.0 * step:.4g} mm"
    error = AssemblyError(
        f"The loop closes only with '{limit.name}' {amount} beyond its limit.",
        where=f"joint '{limit.joint}'",
        remedy="Change the limit or lengths in its loop, or start from another position.",
    )
    error.q = q
    return error


def _conflict_error(compiled: CompiledModel, conflict: Conflict, p: Values, t: float) -> AssemblyError:
    """Error message for one set of conflicting elements."""
    kinds = {collection for collection, _ in conflict.elements}
    if "drivers" in kinds and (error := _driver_conflict_error(compiled, conflict, p, t)) is not None:
        return error
    row = compiled.rows[conflict.row]
    if len(conflict.elements) == 1:
        error = _single_element_error(compiled, conflict.q, row, conflict.gap, p)
        error.what += _joints_at_limits_text(compiled, conflict, p, t)
        return error
    main = next(key for kind in ("drivers", "constraints", "joints") for key in conflict.elements if key[0] == kind)
    others = join_words([_element_name(compiled, key) for key in conflict.elements if key != main])
    missing = _gap_text(compiled, conflict.q, row, conflict.gap, p)
    what = "The loop was not closed" if main[0] == "joints" else "It was not satisfied"
    stopped = _joints_at_limits_text(compiled, conflict, p, t)
    return AssemblyError(
        f"{what} together with {others}: at the nearest position found, {missing}.{stopped}",
        where=_element_text(main),
        remedy="Change lengths or values so that they are compatible, or remove one of them.",
    )


def _driver_conflict_error(compiled: CompiledModel, conflict: Conflict, p: Values, t: float) -> AssemblyError | None:
    """Error for drivers that contradict each other or the loops; None if constraints take part in the conflict."""
    rows = compiled.rows
    free = _close_without_drivers(compiled, conflict.q, p, t)
    q = conflict.q if free is None else _nearest_position_to_drivers(compiled, free, conflict, p, t)
    apart = find_contradiction(compiled, q, None, p, t)
    if apart is not None and apart.others:
        return contradiction_error(compiled, apart)
    if any(collection == "constraints" for collection, _ in conflict.elements):
        return None
    if apart is not None and ("drivers", apart.row.element) in conflict.elements:
        return contradiction_error(compiled, apart)
    gaps = np.abs(compiled.call("constraint_residual", q, p=p, t=t))
    at = max(
        (k for k, row in enumerate(rows) if ("drivers", row.element) in conflict.elements and row.level == 0),
        key=lambda k: float(gaps[k]),
    )
    return _single_element_error(compiled, q, rows[at], float(gaps[at]), p)


def _single_element_error(compiled: CompiledModel, q: Array, row: Row, gap: float, p: Values) -> AssemblyError:
    """Error for one element that cannot be satisfied by itself."""
    where = _element_text((row.collection, row.element))
    if row.collection != "joints":
        what = f"{row.component} is" if row.component else "it is"
        return AssemblyError(
            f"The prescribed value was not reached: at the nearest position found, {what} "
            f"{_format_residual(compiled, q, row, gap, p)} away.",
            where=where,
            remedy="Change the prescribed value, lengths or limits, or start nearer to it.",
        )
    return AssemblyError(
        f"The loop was not closed: at the nearest position found, {_gap_text(compiled, q, row, gap, p)}.",
        where=where,
        remedy="Change lengths or limits in its loop, or start nearer to a closed position.",
    )


def _gap_text(compiled: CompiledModel, q: Array, row: Row, gap: float, p: Values) -> str:
    """Description of the residual in the row with the largest gap."""
    if row.collection != "joints":
        return f"the gap is {_format_residual(compiled, q, row, gap, p)}"
    distance = _origin_distance(*compiled.joint_poses(q, p)[row.element])
    if distance > FAR:
        return f"the gap is {1000.0 * distance:.4g} mm"
    return f"its directions differ by {np.degrees(abs(gap)):.4g}°"


def _format_residual(compiled: CompiledModel, q: Array, row: Row, gap: float, p: Values) -> str:
    """A gap as text: distances in millimetres, angles in degrees."""
    measure = row_unit(compiled, row)
    gap = abs(_residual_as_length(compiled, q, row, gap, p))
    return f"{1000.0 * gap:.4g} mm" if measure == "m" else format_quantity(gap, measure)


def _residual_as_length(compiled: CompiledModel, q: Array, row: Row, gap: float, p: Values) -> float:
    """Gap of a rod converted from its squared residual to m; any other gap unchanged."""
    element = compiled.model.expanded.find(row.collection, row.element)
    if row.collection != "constraints" or "length" not in element.info.uses:
        return gap
    poses = dict(zip(compiled.frame_names, compiled.call("poses", q, p=p), strict=True)) | {"world": np.eye(4)}
    signed = next(
        float(compiled.call("constraint_residual", q, p=p)[k]) for k, each in enumerate(compiled.rows) if each == row
    )
    distance = _origin_distance(poses[element.a or "world"], poses[element.b])
    return distance - (float(np.hypot(signed, distance)) - signed)


def _origin_distance(X_a: Array, X_b: Array) -> float:
    return float(np.linalg.norm(X_a[:3, 3] - X_b[:3, 3]))


def _joints_at_limits_text(compiled: CompiledModel, conflict: Conflict, p: Values, t: float) -> str:
    """Sentence naming the joints that are pressed against their limits; '' if there are none."""
    held = [
        k
        for k, row in enumerate(compiled.rows)
        if row.level == 0 and (row.collection, row.element) in conflict.elements
    ]
    gaps = compiled.call("constraint_residual", conflict.q, p=p, t=t)[held]
    downhill = -compiled.constraint_matrix(conflict.q, p)[held].T @ gaps
    low, high = compiled.coordinates.displacement_bounds(conflict.q)
    pressed = ((downhill < -PRESSES) & (low > -PRESSES)) | ((downhill > PRESSES) & (high < PRESSES))
    joints = dict.fromkeys(coordinate.joint for coordinate in compiled.coordinates.table)
    names = [name for name in joints if pressed[compiled.joint_v(name)].any()]
    stand = "are at their limits" if len(names) > 1 else "is at its limit"
    quoted = join_words([f"'{name}'" for name in names])
    return f" {quoted} {stand}." if names else ""


def _element_text(key: Key) -> str:
    return f"{WORDS[key[0]]} '{key[1]}'"


def _element_name(compiled: CompiledModel, key: Key) -> str:
    """Name of an element in a list; a loop is given by its joints."""
    loop = next((loop for loop in compiled.loops if key == ("joints", loop.cut)), None)
    return f"'{key[1]}'" if loop is None else f"loop {loop.number} ({', '.join(loop.joints)})"


def _nearest_position_to_drivers(compiled: CompiledModel, q: Array, conflict: Conflict, p: Values, t: float) -> Array:
    """Position that comes closest to the drivers' values when moving along the loops from a closed position."""
    rows = compiled.rows
    position = np.array([row.level == 0 for row in rows])
    theirs = position & [("drivers", row.element) in conflict.elements for row in rows]
    others = np.array([row.collection != "drivers" for row in rows])
    weights, free = np.ones(compiled.nv), np.zeros(compiled.nv, dtype=bool)
    share = 1.0
    while share > SHORTEST:
        G = compiled.constraint_matrix(q, p)
        gaps = compiled.call("constraint_residual", q, p=p, t=t)[theirs]
        N = null_space(G[others & position])
        step = -N @ (pseudoinverse(G[theirs] @ N) @ gaps)
        step *= min(1.0, LONGEST / max(float(np.max(np.abs(step), initial=0.0)), 1e-300))
        stepped = compiled.coordinates.clamp(compiled.coordinates.integrate(q, share * step))
        trial, gap = find_closed_position(compiled, stepped, weights, free, p, t=t, rows=others)
        left = compiled.call("constraint_residual", trial, p=p, t=t)[theirs]
        if gap < ACCEPTED_GAP and float(left @ left) < float(gaps @ gaps) * (1.0 - 1e-9):
            q, share = trial, min(1.0, 2.0 * share)
        else:
            share *= 0.25
    return q


def _close_without_drivers(compiled: CompiledModel, q: Array, p: Values, t: float) -> Array | None:
    """Close the position near q without drivers; None if it cannot be closed, or if there is no driver."""
    rows = compiled.rows
    if not any(row.collection == "drivers" and row.level == 0 for row in rows):
        return None
    free = np.zeros(compiled.nv, dtype=bool)
    others = np.array([row.collection != "drivers" for row in rows], dtype=bool)
    closed, gap = find_closed_position(compiled, q, np.ones(compiled.nv), free, p, search_far=True, t=t, rows=others)
    return closed if gap < ACCEPTED_GAP else None
