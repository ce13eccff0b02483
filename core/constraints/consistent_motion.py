"""Speeds and accelerations of which some are given by name; all others follow from the constraints.

    G v = ḟ,   G a = f̈ − Ġ v

Where joints, constraints and drivers leave freedom beside what is given, independent ones of the others are zero: of
joints with one coordinate first, of early joints first. Contradicting values raise an error that says which would be
consistent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.named_values import motion_values_by_name
from core.constraints.other_cuts import cut_elsewhere
from core.constraints.redundant_drivers import contradiction_error, find_contradiction, format_quantity
from core.constraints.rest_position import speed_units
from core.errors import AssemblyError
from core.mechanics.multibody.parameter_values import Values
from core.numerics.matrix_forms import Matrix, scale_matrix, to_dense
from core.numerics.rank import factorise_sparse, nonzero_row_mask, solve_least_squares
from core.programs.compiled import CompiledModel, cache_per_model

Array = NDArray[np.float64]

VANISHES_TOLERANCE = 1e-7
"""Singular value of G, relative to the largest one, below which it counts as zero, since positions are closed only to a
tolerance."""
AGREES_TOLERANCE = 1e-6
"""Largest mismatch of given values (rad or m, per s or s²; relative for large values) that is attributed to rounding of
printed numbers."""
SURELY, BARELY = 0.2, 1e-6
"""Share of the largest motion that a speed must retain to count as independent: the threshold tried first, then the
lower one."""
ORDERS = {1: ("speed", "/s"), 2: ("acceleration", "/s²")}


def named_speeds(
    compiled: CompiledModel, q: Array, named_values: Mapping[str, Any], p: Values = None, t: float = 0.0
) -> Array:
    """(nv,) consistent speeds that keep those given by name. Raises AssemblyError if the given ones contradict each
    other."""
    other = cut_elsewhere(compiled, named_values)
    if other is not None:
        there = other.position(q, p)
        return other.speeds_back(there, named_speeds(other.compiled, there, named_values, p, t), p)
    values = motion_values_by_name(compiled, "v", named_values, p)
    demanded = _constraint_speed_targets(compiled, p, t)
    v = np.zeros(compiled.nv)
    if demanded.any() or any(values.values()):
        v = _complete_motion(compiled, q, values, (), demanded, compiled.levels <= 1, p, 1)
    if (found := find_contradiction(compiled, q, v, p, t)) is not None:
        raise contradiction_error(compiled, found)
    return v


def named_accelerations(
    compiled: CompiledModel,
    q: Array,
    v: Array,
    named_values: Mapping[str, Any],
    p: Values = None,
    t: float = 0.0,
    *,
    steady: Sequence[str] = (),
) -> Array:
    """(nv,) consistent accelerations, at speeds v, that keep those given by name; steady : names of speeds that stay
    constant if possible."""
    other = cut_elsewhere(compiled, [*named_values, *steady])
    if other is not None:
        there, moving = other.position(q, p), other.motion(q, v, p)
        a = named_accelerations(other.compiled, there, moving, named_values, p, t, steady=steady)
        return other.accelerations_back(there, moving, a, p)
    values = motion_values_by_name(compiled, "a", named_values, p)
    first = [k for k in motion_values_by_name(compiled, "v", dict.fromkeys(steady, 0.0), p) if k not in values]
    demanded = -compiled.call("constraint_bias", q, v, p=p, t=t) if compiled.constrained else np.zeros(0)
    every = np.ones(len(compiled.rows), dtype=bool)
    return _complete_motion(compiled, q, values, first, demanded, every, p, 2)


def complete_speeds(
    compiled: CompiledModel, q: Array, v: Array, fixed: NDArray[np.bool_], p: Values = None, t: float = 0.0
) -> Array | None:
    """(nv,) consistent speeds that keep all entries of v that are fixed or nonzero; None if these contradict each other
    or no zero entry remains to be adjusted."""
    kept = {int(k): float(v[k]) for k in np.flatnonzero(fixed | (v != 0.0))}
    if len(kept) == len(v):
        return None
    try:
        return _complete_motion(
            compiled, q, kept, (), _constraint_speed_targets(compiled, p, t), compiled.levels <= 1, p, 1
        )
    except AssemblyError:
        return None


def nearest_speeds(
    compiled: CompiledModel, q: Array, v: Array, weights: Array, p: Values = None, t: float = 0.0
) -> Array:
    """(nv,) the speeds nearest to v that keep loops closed and follow drivers: G v = ḟ. Speeds of infinite weight are
    kept."""
    rows = compiled.levels <= 1
    if not rows.any():
        return v
    G = compiled.constraint_matrix(q, p)[rows]
    missing = _constraint_speed_targets(compiled, p, t)[rows] - G @ v
    return np.asarray(v + solve_least_squares(scale_matrix(G, columns=1.0 / weights), missing) / weights)


def nearest_accelerations(
    compiled: CompiledModel, q: Array, v: Array, a: Array, p: Values = None, t: float = 0.0
) -> Array:
    """(nv,) the accelerations nearest to a that keep loops closed and follow drivers, at consistent speeds v."""
    if not compiled.constrained:
        return a
    G, bias = compiled.constraint_matrix(q, p), compiled.call("constraint_bias", q, v, p=p, t=t)
    return np.asarray(a - solve_least_squares(G, G @ a + bias))


def speed_reduction(compiled: CompiledModel, q: Array, p: Values = None) -> tuple[tuple[int, ...], Array]:
    """(indices of independent speeds, (nv, k) B with v = B v[indices]) under joints and constraints. Drivers are
    ignored, since they take the role of actuators."""
    if not compiled.lasting.any():
        return tuple(range(compiled.nv)), np.eye(compiled.nv)
    N = _null_space(compiled.constraint_matrix(q, p)[compiled.lasting])
    chosen = choose_independent_speeds(compiled, N, shares=(BARELY,))
    return tuple(chosen), np.asarray(N @ np.linalg.inv(N[chosen]))


def choose_independent_speeds(
    compiled: CompiledModel, motions: Array, preferred: Sequence[int] = (), shares: Sequence[float] = (SURELY, BARELY)
) -> list[int]:
    """Indices of speeds that determine motions (nv, k), sorted: those in `preferred` if possible, then those of joints
    with one coordinate, then the lowest indices.

    shares : parts of the largest motion that must be left in a speed beside those chosen before, tried in this order
    """
    order, rows = _preferred_order(compiled), motions.copy()
    chosen: list[int] = []
    largest = float(np.max(np.linalg.norm(rows, axis=1), initial=0.0))
    for share, among in ((BARELY, preferred), *((share, order) for share in shares)):
        for k in among:
            row = rows[k]
            if len(chosen) == rows.shape[1]:
                break
            if k not in chosen and np.linalg.norm(row) > share * largest > 0.0:
                chosen.append(k)
                rows = rows - np.outer(rows @ row, row) / float(row @ row)
    return sorted(chosen)


@cache_per_model
def _preferred_order(compiled: CompiledModel) -> list[int]:
    """Indices of speeds, those of joints with one coordinate first."""
    joints = [range(compiled.nv)[compiled.joint_v(name)] for name in compiled.coordinates.joints]
    alone = [joint[0] for joint in joints if len(joint) == 1]
    single = set(alone)
    return [*alone, *(k for k in range(compiled.nv) if k not in single)]


def _constraint_speed_targets(compiled: CompiledModel, p: Values, t: float) -> Array:
    """(rows,) right-hand side ḟ of the speed-level constraints."""
    if not compiled.program.has_timed_constraints:
        return np.zeros(len(compiled.rows))
    return -np.asarray(compiled.call("constraint_time", p=p, t=t))


def _null_space(G: Matrix) -> Array:
    """(nv, k) orthonormal columns N with G N = 0."""
    if (known := factorise_sparse(G)) is not None:
        return known.null_space
    G = to_dense(G)
    _, sigma, right = np.linalg.svd(G[nonzero_row_mask(G)])
    vanishing = VANISHES_TOLERANCE * max(float(np.max(sigma, initial=0.0)), 1e-12)
    return np.asarray(right[int(np.count_nonzero(sigma > vanishing)) :].T)


def _complete_motion(
    compiled: CompiledModel,
    q: Array,
    given_values: Mapping[int, float],
    adjusted_first: Sequence[int],
    targets: Array,
    rows: NDArray[np.bool_],
    p: Values,
    order: int,
) -> Array:
    """(nv,) solution x of G x = demanded values that keeps the `given_values` and as many zeros as possible; entries in
    `adjusted_first` are adjusted before others."""
    x = np.zeros(compiled.nv)
    if not rows.any():
        x[list(given_values)] = list(given_values.values())
        return x
    units = speed_units(compiled, p)
    G = scale_matrix(compiled.constraint_matrix(q, p)[rows], columns=units)
    if (targets[rows] != 0.0).any():
        x = solve_least_squares(G, targets[rows], VANISHES_TOLERANCE)
    N = _null_space(G)
    allowed = AGREES_TOLERANCE * max([1.0, *map(abs, given_values.values())])
    for k, value in given_values.items():
        x, N, missed = _set_entry(x, N, k, value / units[k])
        if missed * units[k] > allowed:
            raise _contradiction_error(
                compiled, k, value, float(x[k] * units[k]), [i for i in given_values if i != k], order
            )
    for k in choose_independent_speeds(compiled, N, adjusted_first):
        x, N, _ = _set_entry(x, N, k, 0.0)
    return np.asarray(x * units)


def _set_entry(x: Array, N: Array, k: int, value: float) -> tuple[Array, Array, float]:
    """Return x + N c with the given value in entry k, the remaining motions N, and the mismatch of that entry."""
    row = N[k]
    size = float(np.linalg.norm(row))
    missing = value - float(x[k])
    if size <= BARELY:
        return x, N, abs(missing)
    x = x + N @ (row / size**2 * missing)
    x[k] = value
    reflected = row / size  # N without its direction along the row, by a Householder reflection
    axis = reflected.copy()
    axis[0] += np.copysign(1.0, reflected[0])
    N = N - np.outer(N @ axis, axis) * (2.0 / float(axis @ axis))
    return x, N[:, 1:], 0.0


def _contradiction_error(
    compiled: CompiledModel,
    k: int,
    value: float,
    consistent_value: float,
    given_before: Sequence[int],
    derivative_order: int,
) -> AssemblyError:
    """Error for a given value that contradicts the constraints or the values given before it."""
    word, per = ORDERS[derivative_order]
    unit = "rad" if compiled.coordinates.speed_dimensions[k] == "angular_velocity" else "m"
    consistent_value = consistent_value if abs(consistent_value) > AGREES_TOLERANCE else 0.0
    beside = " and ".join(compiled.v_names[i] for i in given_before)
    cause = f"With {beside} as given, the constraints" if given_before else "The constraints"
    return AssemblyError(
        f"{cause} do not allow this {word}: {format_quantity(value, unit, per)} is given, "
        f"{format_quantity(consistent_value, unit, per)} would be consistent.",
        where=f"{word} of '{compiled.v_names[k]}'",
        remedy="Leave it out: it follows from the others." if given_before else "Leave it out.",
    )
