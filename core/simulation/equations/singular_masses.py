"""Check for machines whose mass matrix may become singular."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.graph_symbols import build_column, scalar_symbols
from core.mechanics.crba import add_armature, project_forces, unit_speed_momenta
from core.mechanics.kinematics import joint_coordinates
from core.numerics.spatial.scalar import Scalar
from core.programs.compiled import CompiledModel
from core.programs.machine_symbols import MachineSymbols

Array = NDArray[np.float64]

FEW = 200
"""Number of speeds up to which space for a singular mass matrix is so cheap that it is always provided."""
CERTAIN_PART = 1e-10
"""Fraction of a diagonal entry of M above which a remainder is certainly not rounding error."""


class _LinkInertia(NamedTuple):
    """Inertia Sᵀ I S + armature of each link alone about its joint."""

    function: ca.Function
    """(q, p) → entries of all these matrices, row by row."""
    still: bool
    """True if none of them depends on q."""


_traced: WeakKeyDictionary[MachineSymbols, _LinkInertia] = WeakKeyDictionary()
_found: WeakKeyDictionary[CompiledModel, tuple[bytes, list[float]]] = WeakKeyDictionary()
"""Last inputs and result of `_smallest_inertias`, for each machine."""


def may_be_singular(compiled: CompiledModel, p: Array, q: Array) -> bool:
    """Return False if M is certainly positive definite: because each link has an inertia of its own about its joint
    (then at all poses), or, for machines with many speeds, because M is positive definite at q."""
    context = compiled.program.symbolic
    rows, columns = context.mass_pattern
    entries = compiled.call("mass_entries", q, p=p)
    count = int(np.max(rows, initial=-1)) + 1
    diagonal = np.zeros(count)
    diagonal[rows[rows == columns]] = entries[rows == columns]
    entered = diagonal.tolist()
    moving = (link for link in context.tree.links if link.law.nv)
    pairs = zip(moving, _smallest_inertias(compiled, p, q), strict=True)
    if all(least > CERTAIN_PART * max(entered[link.v]) for link, least in pairs):
        return False
    if compiled.nv <= FEW:
        return True
    M = np.zeros((count, count))
    M[rows, columns] = M[columns, rows] = entries
    scale = np.sqrt(diagonal)
    return not (np.all(diagonal > 0.0) and np.linalg.eigvalsh(M / np.outer(scale, scale))[0] > CERTAIN_PART)


def _smallest_inertias(compiled: CompiledModel, p: Array, q: Array) -> list[float]:
    """Return the smallest eigenvalue of each moving link's own inertia about its joint."""
    context = compiled.program.symbolic
    if context not in _traced:
        _traced[context] = _build_link_inertia(context)
    own = _traced[context]
    asked = p.tobytes() if own.still else p.tobytes() + q.tobytes()
    kept = _found.get(compiled)
    if kept is not None and kept[0] == asked:
        return kept[1]
    values, at, least = np.ravel(own.function(q, p)), 0, []
    for nv in (link.law.nv for link in context.tree.links if link.law.nv):
        least.append(_smallest_eigenvalue(values[at : at + nv * nv].reshape(nv, nv)))
        at += nv * nv
    _found[compiled] = asked, least
    return least


def _smallest_eigenvalue(block: Array) -> float:
    """Return the smallest eigenvalue of a symmetric matrix."""
    return float(block[0, 0] if len(block) == 1 else np.linalg.eigvalsh(block)[0])


def _build_link_inertia(context: MachineSymbols) -> _LinkInertia:
    q = scalar_symbols("q", context.tree.nq)
    own = joint_coordinates(context.tree, q)
    result: list[Scalar] = []
    for link, position in zip(context.tree.links, own, strict=True):
        S = link.law.subspace(position)
        for row in add_armature(project_forces(S, unit_speed_momenta(link.inertia, S)), link.armature):
            result += row
    positions, values = build_column(q), build_column(result)
    function = ca.Function("own", [positions, build_column(list(context.p))], [values])
    return _LinkInertia(function, not ca.depends_on(values, positions))
