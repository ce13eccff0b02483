"""Inverse dynamics linear in its parameters: parameter names and values, regressor, base parameters.

    τ = Y(q, v, a) π + τ₀(q, v, a)

τ₀ is what other parameters and other elements need: it is zero where all kinds of parameters are taken, force elements
and mass-spring lines are not there. Through loops Y, as inverse dynamics, gives the forces at the actuators.

Base parameters are the smallest set of parameter combinations that determines inverse dynamics. Columns of the
regressor over many random states are taken from the ground to the tips, and kept where they are not combinations of
those before (M. Gautier, "Numerical calculation of the base inertial parameters of robots", J. Robotic Systems 8(4),
1991); the rank is that of QR with pivoting, and of the singular values. With the kept columns W₁ and the others W₂ = W₁
β the base parameters are π₁ + β π₂.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from core.constraints.assembly import random_pose
from core.constraints.multipliers import equivalent_forces_of_columns
from core.constraints.named_values import as_states
from core.errors import ModelError, suggest_names
from core.mechanics.dry_friction import is_controlled
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.parameter_values import Values
from core.model import Joint
from core.numerics.rank import null_space, solve_least_squares
from core.programs import regressor as symbolic_regressor
from core.programs.compiled import CompiledModel
from core.programs.regressor import INERTIAL, OF_JOINTS, LinearParameter

Array = NDArray[np.float64]

KINDS = ("inertia", *OF_JOINTS)
"""Kinds of linear parameters that callers can select."""
INERTIA_ONLY = ("inertia",)
_UNITS = {
    True: {"armature": "kg·m²", "damping": "N·m·s/rad", "friction": "N·m", "stiffness": "N·m/rad"},
    False: {"armature": "kg", "damping": "N·s/m", "friction": "N", "stiffness": "N/m"},
}
_LETTERS = {"armature": "J", "damping": "d", "friction": "f", "stiffness": "k"}


class LinearParameters(NamedTuple):
    """Parameters of a regressor's columns, in order.

    parameters : kind, owner and part of each; names : "link3.mx", "joint2.damping"; symbols : as in formulas, "m3·c3x";
    units : SI; values (m,) : the model's
    """

    parameters: tuple[LinearParameter, ...]
    names: tuple[str, ...]
    symbols: tuple[str, ...]
    units: tuple[str, ...]
    values: Array


def linear_parameters(
    compiled: CompiledModel, kinds: Sequence[str] = INERTIA_ONLY, p: Values = None
) -> LinearParameters:
    """Return the parameters of the selected kinds (`KINDS`) at parameter values (n_p,)."""
    wanted = [
        each
        for each in symbolic_regressor.linear_parameters(compiled.program.symbolic)
        if each.kind in _check_kinds(kinds)
    ]
    names = tuple(f"{each.owner}.{each.part}" for each in wanted)
    return LinearParameters(
        tuple(wanted),
        names,
        _parameter_symbols(wanted),
        _parameter_units(compiled, wanted),
        _parameter_values(compiled, wanted, p),
    )


def regressor(
    compiled: CompiledModel,
    q: Any,
    v: Any,
    a: Any,
    kinds: Sequence[str] = INERTIA_ONLY,
    actuators: Sequence[str] | None = None,
    p: Values = None,
) -> Array:
    """Return the regressor Y (…, nv, m); see `Mechanism.regressor`."""
    if compiled.model.expanded.world.gravity.kind == "point":
        raise ModelError(
            "The regressor is not defined in a point gravity field, where the force on a body is not linear in "
            "its first moment.",
            where="world, gravity",
            remedy="Set gravity to uniform or none.",
        )
    q, v, a = (
        as_states(x, size, word)
        for x, size, word in ((q, compiled.nq, "q"), (v, compiled.nv, "v"), (a, compiled.nv, "a"))
    )
    chosen = _check_kinds(kinds)
    every = symbolic_regressor.linear_parameters(compiled.program.symbolic)
    Y = compiled.call("regressor", q, v, a, p=p)[..., [k for k, each in enumerate(every) if each.kind in chosen]]
    if actuators is None and not compiled.constrained:
        return np.asarray(Y)
    return equivalent_forces_of_columns(compiled, q, Y, actuators, p)


def _check_kinds(kinds: Sequence[str]) -> Collection[str]:
    chosen = (kinds,) if isinstance(kinds, str) else tuple(kinds)
    wrong = next((kind for kind in chosen if kind not in KINDS), None)
    if wrong is not None or not chosen:
        raise ModelError(
            f"There is no parameter kind '{wrong}'." if chosen else "No parameter kind is selected.",
            where="kinds",
            remedy=suggest_names(str(wrong), KINDS),
        )
    return chosen


def _parameter_symbols(parameters: Sequence[LinearParameter]) -> tuple[str, ...]:
    """Return short symbols of the parameters, with the number at the end of the body's or joint's name as index if it
    is unique, otherwise with the name."""
    found = []
    tags = {
        collection: _owner_labels([e.owner for e in parameters if (e.kind == "inertia") is collection])
        for collection in (True, False)
    }
    for each in parameters:
        tag = tags[each.kind == "inertia"][each.owner]
        if each.kind != "inertia":
            found.append(f"{_LETTERS[each.kind]}{tag}")
        elif each.part == "m":
            found.append(f"m{tag}")
        elif each.part.startswith("m"):
            axis = each.part[1]
            found.append(f"m{tag}·c{tag}{axis}" if tag.isdigit() else f"m·c{axis}{tag}")
        else:
            found.append(f"I{tag}{each.part[1:]}" if tag.isdigit() else f"{each.part}{tag}")
    return tuple(found)


def _owner_labels(owners: Sequence[str]) -> dict[str, str]:
    """Return the index of each body or joint in symbols: "3", or "[forearm]"."""
    names = dict.fromkeys(owners)
    numbers = {name: found.group() for name in names if (found := re.search(r"\d+$", name))}
    plain = len(numbers) == len(names) == len(set(numbers.values()))
    return numbers if plain else {name: f"[{name}]" for name in names}


def _parameter_units(compiled: CompiledModel, parameters: Sequence[LinearParameter]) -> tuple[str, ...]:
    inertial = {"m": "kg", **dict.fromkeys(INERTIAL[1:4], "kg·m"), **dict.fromkeys(INERTIAL[4:], "kg·m²")}
    members = {joint.name: joint for joint in compiled.program.symbolic.machine.members}

    def is_rotational(joint: str) -> bool:
        return members[joint].info.speed_dimensions[0] == "angular_velocity"

    return tuple(
        inertial[e.part] if e.kind == "inertia" else _UNITS[is_rotational(e.owner)][e.kind] for e in parameters
    )


def _parameter_values(compiled: CompiledModel, parameters: Sequence[LinearParameter], p: Values) -> Array:
    row = compiled.parameter_values(p)
    values = compiled.model.values(dict(zip(compiled.p_names, row.tolist(), strict=True)))
    numbers = Numbers(values, compiled.model.origin)
    topology = compiled.topology
    inertias = {
        body: numbers.inertia(topology.model.body(body))
        for body in {e.owner for e in parameters if e.kind == "inertia"}
    }
    members = {joint.name: joint for joint in compiled.program.symbolic.machine.members}
    found = []
    for each in parameters:
        if each.kind == "inertia":
            mass, h, I = inertias[each.owner]
            parts = (mass, *h, I.xx, I.xy, I.yy, I.xz, I.yz, I.zz)
            found.append(parts[INERTIAL.index(each.part)])
        else:
            found.append(_joint_parameter(members[each.owner], each.kind, numbers))
    return np.array(found, dtype=float)


def _joint_parameter(joint: Joint, kind: str, numbers: Numbers) -> Any:
    if kind == "friction" and is_controlled(joint, numbers.values):
        return 0.0  # a brake is an element of its own
    return numbers.scalar(getattr(joint, kind), f"joint '{joint.name}', {kind}")


INDEPENDENT_TOLERANCE = 1e-8
"""Component of a regressor column orthogonal to the columns before it, as a fraction of the column, above which it
counts as independent."""
WRITTEN_FRACTION = 1e-6
"""Coefficient below which a column is omitted from a formula, because loops are closed only to a tolerance."""
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
    compiled: CompiledModel,
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
    order = sorted(range(len(places)), key=lambda k: _elimination_priority(known, int(places[k])))
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
    names = tuple(_format_combination(row, known.symbols, column) for row, column in zip(legible, columns, strict=True))
    hidden = tuple(name for name, shows in zip(known.names, seen, strict=True) if not shows)
    every = np.zeros(W.shape[1])
    every[: len(sigma)] = sigma
    return BaseParameters(names, matrix, columns, matrix @ known.values, every, known, hidden)


def _elimination_priority(parameters: LinearParameters, column: int) -> tuple[int, int, int, int]:
    each = parameters.parameters[column]
    late = _LATE.index(each.part) + 1 if each.part in _LATE else 0
    first = next(
        k for k, other in enumerate(parameters.parameters) if (other.kind, other.owner) == (each.kind, each.owner)
    )
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


def _format_combination(row: Array, symbols: Sequence[str], own_column: int) -> str:
    """Format a combination with four digits, its own parameter first."""
    text = symbols[own_column]
    for k in map(int, np.flatnonzero(row)):
        if k == own_column:
            continue
        amount = f"{round(abs(row[k]), 9):.4g}"
        text += f" {'-' if row[k] < 0.0 else '+'} " + (symbols[k] if amount == "1" else f"{amount}·{symbols[k]}")
    return text


def random_motions(
    compiled: CompiledModel, count: int, seed: int | np.random.Generator = 0, p: Values = None
) -> tuple[Array, Array, Array, CompiledModel]:
    """Return random positions inside the limits (count, nq), speeds and accelerations (count, nv) that satisfy loops
    and constraints, and the machine without drivers to which they belong."""
    free = compiled
    if compiled.program.has_timed_constraints or compiled.model.expanded.drivers:
        free = CompiledModel(replace(compiled.model.expanded, drivers=()))
    rng = np.random.default_rng(seed)
    by_name = None if p is None else dict(zip(free.p_names, free.parameter_values(p).tolist(), strict=True))
    q = np.array([random_pose(free, rng, by_name) for _ in range(count)]).reshape(count, free.nq)
    v, a = rng.normal(size=(2, count, free.nv))
    if free.constrained:
        for k in range(count):
            G = free.constraint_matrix(q[k], p)
            N = null_space(G)
            v[k] = N @ (N.T @ v[k])
            a[k] = N @ (N.T @ a[k]) - solve_least_squares(G, free.call("constraint_bias", q[k], v[k], p=p))
    return q, v, a, free
