"""Base parameters: the smallest set of parameter combinations that determines inverse dynamics.

Columns of the regressor over many random states are taken from the ground to the tips, and kept where they are not
combinations of those before (M. Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic
Systems 8(4), 1991); the rank is that of QR with pivoting, and of the singular values. With the kept columns W₁ and the
others W₂ = W₁ β the base parameters are π₁ + β π₂.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from core.constraints.assembly import random_pose
from core.mechanics.multibody.parameter_values import Values
from core.mechanism.regressor.linear_parameters import INERTIA_ONLY, LinearParameters, linear_parameters, regressor
from core.numerics.rank import least, null_space
from core.programs.compiled import Compiled

Array = NDArray[np.float64]

INDEPENDENT_TOLERANCE = 1e-8
"""Fraction of a regressor column orthogonal to the columns before it, above which it counts as independent."""
WRITTEN_FRACTION = 1e-6
"""Coefficient below which a column is left out of a formula, because loops are closed only to a tolerance."""
STATES_PER_COLUMN = 3
"""Minimum number of random states per column, divided by the number of forces."""
LEAST_STATES = 40
_LATE = ("mx", "my", "mz", "Iyy")
"""Body parameters that are eliminated first, expressed by the other parameters of their body; masses are eliminated
before all others."""


@dataclass(frozen=True, eq=False)
class BaseParameters:
    """Smallest set of parameter combinations that determines inverse dynamics.

    names : formulas, "m3·c3x + 0.43·m4"; matrix (r, m) : π_base = matrix @ π; columns : the r columns of the regressor
    that stand for them, so that Y π = Y[..., columns] @ π_base; values (r,) : the model's; singular_values (m,) : of
    the regressor over random states, columns scaled to one
    parameters : those of the columns; without_effect : names of those that no motion shows
    """

    names: tuple[str, ...]
    matrix: Array
    columns: tuple[int, ...]
    values: Array
    singular_values: Array
    parameters: LinearParameters
    without_effect: tuple[str, ...]

    @property
    def rank(self) -> int:
        """Return the number of base parameters."""
        return len(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def units(self) -> tuple[str, ...]:
        """Return the SI unit of each base parameter."""
        return tuple(self.parameters.units[k] for k in self.columns)


def base_parameters(
    compiled: Compiled,
    kinds: Sequence[str] = INERTIA_ONLY,
    p: Values = None,
    actuators: Sequence[str] | None = None,
    seed: int = 0,
) -> BaseParameters:
    """Compute base parameters from random states; see `Mechanism.base_parameters`."""
    known = linear_parameters(compiled, kinds, p)
    count = max(LEAST_STATES, STATES_PER_COLUMN * len(known.names) // max(1, compiled.nv) + 1)
    q, v, a, compiled = random_motions(compiled, count, seed, p)
    Y = regressor(compiled, q, v, a, kinds, actuators, p)
    return base_parameters_from_regressor(Y.reshape(-1, len(known.names)), known)


def base_parameters_from_regressor(
    W: Array, known: LinearParameters, tolerance: float = INDEPENDENT_TOLERANCE
) -> BaseParameters:
    """Return the base parameters that a regressor stacked over states (rows, m) identifies. tolerance : fraction of a
    column that must be orthogonal to the others."""
    scale = np.linalg.norm(W, axis=0) if len(W) else np.zeros(W.shape[1])
    largest = float(np.max(scale, initial=0.0))
    seen = scale > tolerance * largest
    scaled = W[:, seen] / scale[seen]
    if len(scaled) > scaled.shape[1]:
        scaled = np.asarray(np.linalg.qr(scaled, mode="r"))  # columns with the same products
    sigma = np.linalg.svd(scaled, compute_uv=False) if scaled.size else np.zeros(0)
    places = np.flatnonzero(seen)
    order = sorted(range(len(places)), key=lambda k: _elimination_rank(known, int(places[k])))
    kept = _independent_columns(scaled, order, tolerance)
    if scaled.size:
        _, R, pivots = scipy.linalg.qr(scaled, mode="economic", pivoting=True)
        diagonal = np.abs(np.diag(R))
        rank = int(np.count_nonzero(diagonal > tolerance * diagonal[0]))
        if rank != len(kept):  # columns that are nearly combinations: pivots tell best what is independent
            kept = sorted(map(int, pivots[:rank]))
    matrix, legible = np.zeros((2, len(kept), W.shape[1]))
    if kept:
        beta = np.linalg.lstsq(scaled[:, kept], scaled, rcond=None)[0]
        beta[np.abs(beta) < tolerance] = 0.0
        beta[:, kept] = np.eye(len(kept))
        matrix[:, places] = beta * scale[seen] / scale[seen][kept][:, None]
        legible[:, places] = np.where(np.abs(beta) > WRITTEN_FRACTION, matrix[:, places], 0.0)
    columns = tuple(int(places[k]) for k in kept)
    names = tuple(_combination_text(row, known.symbols, column) for row, column in zip(legible, columns, strict=True))
    hidden = tuple(name for name, shows in zip(known.names, seen, strict=True) if not shows)
    every = np.zeros(W.shape[1])
    every[: len(sigma)] = sigma
    return BaseParameters(names, matrix, columns, matrix @ known.values, every, known, hidden)


def _elimination_rank(known: LinearParameters, column: int) -> tuple[int, int, int, int]:
    each = known.parameters[column]
    late = _LATE.index(each.part) + 1 if each.part in _LATE else 0
    first = next(k for k, other in enumerate(known.parameters) if (other.kind, other.owner) == (each.kind, each.owner))
    return int(each.part == "m"), first, late, column


def _independent_columns(W: Array, order: Sequence[int], tolerance: float) -> list[int]:
    """Return the sorted indices of columns (of norm one) that are not combinations of those before them in the
    order."""
    Q = np.zeros((len(W), 0))
    kept = []
    for k in order:
        left = W[:, k] - Q @ (Q.T @ W[:, k])
        left = left - Q @ (Q.T @ left)
        size = float(np.linalg.norm(left))
        if size > tolerance:
            Q = np.column_stack([Q, left / size])
            kept.append(k)
    return sorted(kept)


def _combination_text(row: Array, symbols: Sequence[str], first: int) -> str:
    """Write a combination with four digits, its own parameter first."""
    text = symbols[first]
    for k in map(int, np.flatnonzero(row)):
        if k == first:
            continue
        amount = f"{round(abs(row[k]), 9):.4g}"
        text += f" {'-' if row[k] < 0.0 else '+'} " + (symbols[k] if amount == "1" else f"{amount}·{symbols[k]}")
    return text


def random_motions(
    compiled: Compiled, count: int, seed: int | np.random.Generator = 0, p: Values = None
) -> tuple[Array, Array, Array, Compiled]:
    """Return random positions inside the limits (count, nq), speeds and accelerations (count, nv) each that satisfy
    loops and constraints, and the machine without drivers to which they belong."""
    free = compiled
    if compiled.program.timed_constraints or compiled.model.expanded.drivers:
        free = Compiled(replace(compiled.model.expanded, drivers=()))
    rng = np.random.default_rng(seed)
    by_name = None if p is None else dict(zip(free.p_names, free.parameter_values(p).tolist(), strict=True))
    q = np.array([random_pose(free, rng, by_name) for _ in range(count)]).reshape(count, free.nq)
    v, a = rng.normal(size=(2, count, free.nv))
    if free.constrained:
        for k in range(count):
            G = free.constraint_matrix(q[k], p)
            N = null_space(G)
            v[k] = N @ (N.T @ v[k])
            a[k] = N @ (N.T @ a[k]) - least(G, free.call("constraint_bias", q[k], v[k], p=p))
    return q, v, a, free
