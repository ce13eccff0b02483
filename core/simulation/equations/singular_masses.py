"""Whether the mass matrix of a machine may be singular somewhere."""

from __future__ import annotations

from weakref import WeakKeyDictionary

import casadi as ca
import numpy as np

from core.codegen.graph_symbols import column, symbols
from core.mechanics.crba import momenta, products, stiffened
from core.mechanics.kinematics import coordinates
from core.simulation.setup import Array
from core.spatial.scalar import Scalar
from core.traces.compiled import Compiled
from core.traces.trace_context import TraceContext

FEW = 200
"""Speeds up to which room for what bodies without mass need costs little."""
CERTAIN_PART = 1e-10
"""Part of an entry on the diagonal of M that surely is no rounding."""

_traced: WeakKeyDictionary[TraceContext, ca.Function] = WeakKeyDictionary()


def may_be_singular(compiled: Compiled, p: Array, q: Array) -> bool:
    """False if M is positive definite wherever joints stand, because each link has an inertia of its own about its
    joint; of machines of many speeds also if it is where they begin."""
    context = compiled.program.tracer
    if context not in _traced:
        _traced[context] = _own(context)
    own = np.ravel(_traced[context](q, p))
    rows, columns = context.mass_pattern
    entries = compiled.call("mass_entries", q, p=p)
    count = int(np.max(rows, initial=-1)) + 1
    diagonal = np.zeros(count)
    diagonal[rows[rows == columns]] = entries[rows == columns]
    at = 0
    for link in context.tree.links:
        nv = link.law.nv
        block = own[at : at + nv * nv].reshape(nv, nv)
        at += nv * nv
        if nv and not np.linalg.eigvalsh(block)[0] > CERTAIN_PART * np.max(diagonal[link.v]):
            break
    else:
        return False
    if compiled.nv <= FEW:
        return True
    M = np.zeros((count, count))
    M[rows, columns] = M[columns, rows] = entries
    scale = np.sqrt(diagonal)
    return not (np.all(diagonal > 0.0) and np.linalg.eigvalsh(M / np.outer(scale, scale))[0] > CERTAIN_PART)


def _own(context: TraceContext) -> ca.Function:
    """(q, p) → Sᵀ I S + armature of every link by itself, row by row."""
    q = symbols("q", context.tree.nq)
    own = coordinates(context.tree, q)
    result: list[Scalar] = []
    for link, position in zip(context.tree.links, own, strict=True):
        S = link.law.subspace(position)
        for row in stiffened(products(S, momenta(link.inertia, S)), link.armature):
            result += row
    return ca.Function("own", [column(q), column(list(context.p))], [column(result)])
