"""Loci of singular poses over two coordinates (`kinetostat.singularity_loci`).

A function that changes its sign where the arm is singular is evaluated on a grid: for arms with named configurations
the factor of each part, for others the determinant of the frame's Jacobian. Each edge of the grid's triangles on which
it changes its sign is halved until the place is exact, and the places are joined to curves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.analysis.arms.arm_reading import ArmSolver
from core.analysis.singularities.singularities_call import FrameSingularities
from core.analysis.tool_frame import tool_frame
from core.errors import ModelError, suggest_names
from core.mechanism import Mechanism
from core.mechanism.singularity_results import LocusCurve, SingularityLoci

Array = NDArray[np.float64]
Places = NDArray[np.intp]
Values = Callable[[Array], Array]
"""Function of positions (N, nq) that is zero, and changes its sign, at singular poses."""

FEWEST, MOST = 5, 1001
"""Numbers of nodes along a coordinate that are possible."""
HALVINGS = 50
"""Number of halvings of an edge, after which a place is exact to rounding."""
JUMP = 1e-6
"""Value, by the largest on the grid, above which a change of sign is a jump and no zero."""
CONSTANT = 1e-9
"""Share of the frame's motion outside a fixed space of directions, up to which it stays within."""


def singularity_loci(
    mech: Mechanism,
    coordinates: Sequence[str],
    frame: str | None = None,
    *,
    q: Any = None,
    ranges: Sequence[Sequence[float]] | None = None,
    nodes: int = 121,
    p: Any = None,
) -> SingularityLoci:
    """Find the curves of singular poses over two coordinates of a machine without loops.

    coordinates : names of two coordinates; frame : default: the tool
    q : (nq,) position that the other coordinates keep; default: rest
    ranges : ((low, high), (low, high)), rad and m; default: the limits, or one turn
    nodes : of the grid along each coordinate; curves that cross no edge of it are not seen
    """
    at = _read_coordinates(mech, coordinates)
    name = mech.compiled.check_frame_name(tool_frame(mech.model) if frame is None else frame)
    start = np.array(mech.rest(p) if q is None else q, dtype=float)
    if start.shape != (mech.nq,) or not np.isfinite(start).all():
        raise ModelError(
            f"q is not a position of {mech.nq} finite numbers.", where="q", remedy="Give mech.rest(), for example."
        )
    if not FEWEST <= int(nodes) <= MOST:
        raise ModelError(f"A grid has from {FEWEST} to {MOST} nodes along a coordinate.", where="nodes")
    values = mech.parameter_values(p)
    known = FrameSingularities(mech, name, None, (), values)
    if not known.is_open:
        raise ModelError(
            "Loci of singular poses are known for machines without loops only.",
            where="coordinates",
            remedy="Ask for the singularities near single poses: mech.singularities(q).",
        )
    bounds = np.array([_read_range(mech, k, None if ranges is None else ranges[i]) for i, k in enumerate(at)])
    axes = [np.linspace(low, high, int(nodes)) for low, high in bounds]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)

    def placed(places: Array) -> Array:
        Q = np.tile(start, (len(places), 1))
        Q[:, at] = places
        return Q

    curves: list[LocusCurve] = []
    for part, function in _functions(known, start):
        for line, is_closed in _zero_lines(lambda x, f=function: f(placed(x)), grid, int(nodes)):  # type: ignore[misc]
            Q = placed(line)
            points = np.asarray(mech.frame(Q, name, p=p))[:, :3, 3]
            curves.append(LocusCurve(part, line, Q, points, is_closed))
    ends = tuple((float(low), float(high)) for low, high in bounds)
    return SingularityLoci((coordinates[0], coordinates[1]), (ends[0], ends[1]), name, tuple(curves))


def _read_coordinates(mech: Mechanism, names: Sequence[str]) -> list[int]:
    known = list(mech.q_names)
    if isinstance(names, str) or len(names) != 2 or len(set(names)) != 2:
        raise ModelError("Loci are found over two different coordinates.", where="coordinates")
    for name in names:
        if name not in known:
            raise ModelError(
                f"There is no coordinate '{name}'.", where="coordinates", remedy=suggest_names(str(name), known)
            )
    at = [known.index(name) for name in names]
    for k in at:
        if mech.coordinates[k].dimension not in ("angle", "length"):
            raise ModelError(f"'{known[k]}' is neither an angle nor a length.", where="coordinates")
    return at


def _read_range(mech: Mechanism, k: int, given: Sequence[float] | None) -> tuple[float, float]:
    """Bounds of a coordinate: those given, its limits, or one turn."""
    coordinate = mech.coordinates[k]
    low, high = (coordinate.lower, coordinate.upper) if given is None else given
    if (low is None or high is None) and coordinate.dimension == "angle":
        low, high = -np.pi, np.pi
    if low is None or high is None or not -np.inf < low < high < np.inf:
        raise ModelError(
            f"The range of '{mech.q_names[k]}' is not between two finite numbers.",
            where="ranges",
            remedy="Give ranges=((low, high), (low, high)), rad and m.",
        )
    return float(low), float(high)


def _functions(known: FrameSingularities, q: Array) -> list[tuple[str, Values]]:
    """Functions whose zeros are singular, by the name of the part."""
    solver = known.named_solver(q)
    if solver is not None:
        names: Any = solver.names
        return [(names.parts[k][0], _factor(known, solver, k)) for k in known.singular_parts(solver)]
    matrix = known.matrices[0]
    rng = np.random.default_rng(2)
    Q = np.array([known.mech.random(rng) for _ in range(8)])
    moved = np.moveaxis(matrix.matrix(Q), 0, 1).reshape(6, -1)
    directions, sizes, _ = np.linalg.svd(moved)
    rank = int(np.count_nonzero(sizes > CONSTANT * sizes[0]))
    if rank != matrix.rank or matrix.matrix(q).shape[1] != rank:
        raise ModelError(
            f"The Jacobian of '{known.rows.frame}' is not square: {matrix.matrix(q).shape[1]} joints move it in {rank} "
            f"directions, so that singular poses are no curves over two coordinates.",
            where="frame",
            remedy="Ask for the singularities near single poses: mech.singularities(q).",
        )
    basis = directions[:, :rank].T
    return [("pose", lambda Q: np.asarray(np.linalg.det(basis @ matrix.matrix(Q))))]


def _factor(known: FrameSingularities, solver: ArmSolver, k: int) -> Values:
    names: Any = solver.names
    return lambda Q: np.asarray(names.factors(known.chain_position(solver, Q))[:, k])


def _zero_lines(function: Values, grid: Array, nodes: int) -> list[tuple[Array, bool]]:
    """Lines (m, 2) on which a function of places is zero, and True for those that are closed."""
    values = function(grid)
    index = np.arange(nodes * nodes).reshape(nodes, nodes)
    a, b, c, d = (each.ravel() for each in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    positive = values > 0.0
    edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    crossing = positive[edges[:, 0]] != positive[edges[:, 1]]
    crossed, number = np.unique(edges[crossing], axis=0, return_inverse=True)
    places = _halved(function, grid[crossed[:, 0]], grid[crossed[:, 1]], positive[crossed[:, 0]])
    is_zero = np.abs(function(places)) <= JUMP * float(np.max(np.abs(values), initial=1e-300))
    # two edges of a triangle are crossed, or none
    of_edge = np.full(len(edges), -1, dtype=np.intp)
    of_edge[crossing] = number.ravel()
    by_triangle = np.sort(of_edge.reshape(3, -1).T, axis=1)[:, 1:]
    segments = by_triangle[(by_triangle >= 0).all(axis=1)]
    segments = segments[is_zero[segments].all(axis=1)]
    return [(places[line], line[0] == line[-1]) for line in _joined(segments)]


def _halved(function: Values, one: Array, other: Array, is_positive: NDArray[np.bool_]) -> Array:
    """Places between two at which the function is zero; is_positive : its sign at the first"""
    for _ in range(HALVINGS if len(one) else 0):
        middle = 0.5 * (one + other)
        same = ((function(middle) > 0.0) == is_positive)[:, None]
        one, other = np.where(same, middle, one), np.where(same, other, middle)
    return 0.5 * (one + other)


def _joined(segments: Places) -> list[list[int]]:
    """Chains of places that segments (n, 2) connect; the last is the first if it is closed."""
    neighbours: dict[int, list[int]] = {}
    for i, k in segments.tolist():
        neighbours.setdefault(i, []).append(k)
        neighbours.setdefault(k, []).append(i)
    lines = []
    for is_open in (True, False):  # open ones begin at an end
        for start in list(neighbours):
            if (len(neighbours[start]) == 1) is not is_open or not neighbours[start]:
                continue
            line = [start]
            while neighbours[line[-1]]:
                following = neighbours[line[-1]].pop()
                neighbours[following].remove(line[-1])
                line.append(following)
            lines.append(line)
    return lines
