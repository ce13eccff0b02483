"""Number of preimages of a planar map of a rectangle at a point, and the covered area, exact up to chords.

The rectangle is cut along the curves det J = 0 and along the border of where the map exists into parts that the map
keeps, or turns over. The number of points of a part that go to a point P is the winding number of the image of its
border round P (with the sign of det J): their sum counts the preimages. Along a line this number changes only where the
line crosses an image of such a border, so that what is covered of it is known from the crossings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Places = NDArray[np.intp]

BISECTIONS = 16
"""Bisections of a grid edge that locate the end of the map's domain: 2e-5 of the edge."""
FALSE_POSITIONS = 4
"""Regula-falsi steps that find a root of det J on an edge, where it is nearly linear."""


class Image(NamedTuple):
    """Image of points (n, 2) of the rectangle: positions (n, 2) m, det J (n,), mask where the map exists, and initial
    states (n, s) for nearby points."""

    xy: Array
    determinant: Array
    exists: NDArray[np.bool_]
    state: Array


Map = Callable[[Array, Array | None], Image]
"""Planar map: points (n, 2), initial states (n, s) → images."""


class Borders(NamedTuple):
    """Images of borders: ends (n, 2, 2) m; sign (n,), +1 or −1: their contribution to the number of preimages."""

    ends: Array
    sign: Array


class Covered(NamedTuple):
    """Covered intervals of lines y = const: line (n,) line index, start and end (n,) x, m; y (l,) of the lines."""

    line: NDArray[np.intp]
    start: Array
    end: Array
    y: Array

    @property
    def area(self) -> float:
        """Covered area, m²."""
        step = float(self.y[1] - self.y[0]) if len(self.y) > 1 else 0.0
        return float(np.sum(self.end - self.start)) * step

    def inside(self, xy: Array) -> NDArray[np.bool_]:
        """Return a mask (n,) of points that are covered, tested on the nearest line."""
        step = self.y[1] - self.y[0]
        line = np.round((xy[:, 1] - self.y[0]) / step).astype(np.intp)
        width = 1.0 + 2.0 * float(np.max(np.abs(np.concatenate([self.start, self.end, xy[:, 0]])), initial=0.0))
        keys = self.line * width + self.start  # lines one after another on one axis
        at = np.searchsorted(keys, line * width + xy[:, 0], side="right") - 1
        good = (at >= 0) & (line >= 0) & (line < len(self.y))
        at = np.maximum(at, 0)
        if not len(self.line):
            return np.zeros(len(xy), dtype=bool)
        return good & (self.line[at] == line) & (xy[:, 0] <= self.end[at])


def borders(
    found: Image, shape: tuple[int, int], lower: Array, upper: Array, image: Map, periodic: NDArray[np.bool_]
) -> Borders:
    """Compute the images of the borders of all parts.

    found : at the nodes of a grid of this shape (nodes along each side); periodic : (2,) along which coordinates the
    rectangle closes upon itself
    """
    kinds = np.where(found.exists, np.where(found.determinant >= 0.0, 1, -1), 0)
    nodes = np.arange(shape[0] * shape[1]).reshape(shape)
    points = np.stack(
        np.meshgrid(*(np.linspace(a, b, n) for a, b, n in zip(lower, upper, shape, strict=True)), indexing="ij"),
        axis=-1,
    ).reshape(-1, 2)
    edges = _edges(nodes)
    crossed = np.flatnonzero(kinds[edges[:, 0]] != kinds[edges[:, 1]])
    between = _crossings(found, kinds, points, edges[crossed], image)
    place_of = _Places(edges[crossed], len(kinds))
    xy = np.concatenate([found.xy, between])
    pieces, signs = [], []
    for kind in (1, -1):
        inside = kinds == kind
        if not inside.any():
            continue
        ends = np.concatenate([_contours(nodes, inside, place_of), _grid_border(nodes, inside, place_of, periodic)])
        pieces.append(xy[ends])
        signs.append(np.full(len(ends), float(kind)))
    if not pieces:
        return Borders(np.zeros((0, 2, 2)), np.zeros(0))
    return Borders(np.concatenate(pieces), np.concatenate(signs))


def _edges(nodes: Places) -> Places:
    """Return the edges (n, 2) of the grid's triangles, smaller index first."""
    along = [
        (nodes[:-1, :], nodes[1:, :]),
        (nodes[:, :-1], nodes[:, 1:]),
        (nodes[:-1, :-1], nodes[1:, 1:]),
    ]
    return np.concatenate([np.stack([a.ravel(), b.ravel()], axis=1) for a, b in along])


def _crossings(found: Image, kinds: Places, points: Array, edges: Places, image: Map) -> Array:
    """Compute images (n, 2) of the points on edges at which their ends separate."""
    if not len(edges):
        return np.zeros((0, 2))
    turned = kinds[edges[:, 0]] == 0  # the first end is one where the map exists
    first, last = (np.where(turned, edges[:, 1 - k], edges[:, k]) for k in (0, 1))
    xy = np.empty((len(edges), 2))
    signs = kinds[last] != 0
    for some, search in ((signs, _roots), (~signs, _domain_ends)):
        if some.any():
            xy[some] = search(found, points, first[some], last[some], image)
    return xy


def _roots(found: Image, points: Array, first: Places, last: Places, image: Map) -> Array:
    """Compute images (n, 2) of the roots of det J on edges, by false position (the Illinois algorithm)."""
    low, high = np.zeros(len(first)), np.ones(len(first))
    d_low, d_high = found.determinant[first].copy(), found.determinant[last].copy()
    state, side = found.state[first], np.zeros(len(first))
    at = Image(found.xy[first], d_low, found.exists[first], state)
    for _ in range(FALSE_POSITIONS):
        share = low - d_low * (high - low) / np.where(d_high != d_low, d_high - d_low, 1.0)
        at = image(points[first] + share[:, None] * (points[last] - points[first]), state)
        left = np.sign(at.determinant) == np.sign(d_low)
        d_high = np.where(left, np.where(side == 1.0, 0.5, 1.0) * d_high, at.determinant)
        d_low = np.where(left, at.determinant, np.where(side == -1.0, 0.5, 1.0) * d_low)
        low, high = np.where(left, share, low), np.where(left, high, share)
        side = np.where(left, 1.0, -1.0)
    return at.xy


def _domain_ends(found: Image, points: Array, first: Places, last: Places, image: Map) -> Array:
    """Compute images (n, 2) of the points on edges beyond which the map does not exist, by bisection."""
    low, high = points[first], points[last]
    state, xy = found.state[first], found.xy[first].copy()
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        at = image(middle, state)
        good = at.exists[:, None]
        low, high = np.where(good, middle, low), np.where(good, high, middle)
        state, xy = np.where(good, at.state, state), np.where(good, at.xy, xy)
    return xy


def _contours(nodes: Places, inside: NDArray[np.bool_], place_of: _Places) -> Places:
    """Return segments (n, 2) between crossings, through the triangles that a border crosses, with the part to their
    left."""
    a, b, c, d = (nodes[s, t].ravel() for s, t in _CORNERS)
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    flags = inside[triangles]
    count = flags.sum(axis=1)
    found = []
    for wanted in (1, 2):
        some, own = triangles[count == wanted], flags[count == wanted]
        lone = np.argmax(own if wanted == 1 else ~own, axis=1)
        rows = np.arange(len(some))
        tip, after, before = some[rows, lone], some[rows, (lone + 1) % 3], some[rows, (lone + 2) % 3]
        start, end = (after, before) if wanted == 1 else (before, after)
        found.append(np.stack([place_of.between(tip, start), place_of.between(tip, end)], axis=1))
    return np.concatenate(found)


_CORNERS = (
    (slice(None, -1), slice(None, -1)),
    (slice(1, None), slice(None, -1)),
    (slice(1, None), slice(1, None)),
    (slice(None, -1), slice(1, None)),
)
"""Corner offsets of grid cells, counterclockwise."""


class _Places:
    """Indices of the crossings on edges, following those of the nodes."""

    def __init__(self, edges: Places, nodes: int) -> None:
        keys = edges[:, 0] * nodes + edges[:, 1]
        self._order, self._nodes = np.argsort(keys), nodes
        self._keys = keys[self._order]

    def between(self, a: Places, b: Places) -> Places:
        """Return the indices (n,) of crossings on edges a–b."""
        keys = np.minimum(a, b) * self._nodes + np.maximum(a, b)
        return self._nodes + self._order[np.searchsorted(self._keys, keys)]


def _grid_border(nodes: Places, inside: NDArray[np.bool_], place_of: _Places, periodic: NDArray[np.bool_]) -> Places:
    """Return segments (n, 2) of the grid's own border that bound the part, counterclockwise, without those across which
    it continues periodically."""
    sides = (nodes[:, 0], nodes[-1, :], nodes[::-1, -1], nodes[0, ::-1])
    a, b = (np.concatenate([side[s] for side in sides]) for s in (slice(None, -1), slice(1, None)))
    beyond = np.concatenate(
        [_edges_inside(inside, sides[(k + 2) % 4][::-1], bool(periodic[1 - k % 2])) for k in range(len(sides))]
    )
    whole = inside[a] & inside[b] & ~beyond
    found = [np.stack([a[whole], b[whole]], axis=1)]
    for start, end, forward in ((a, b, True), (b, a, False)):
        part = inside[start] & ~inside[end]
        at = place_of.between(start[part], end[part])
        found.append(np.stack([start[part], at] if forward else [at, start[part]], axis=1))
    return np.concatenate(found)


def _edges_inside(inside: NDArray[np.bool_], side: Places, joined_there: bool) -> NDArray[np.bool_]:
    """Return a mask (edges,) of a side's edges with both ends in the part; none if the rectangle ends there."""
    return inside[side[:-1]] & inside[side[1:]] & joined_there


def covered(found: Borders, lines: Array, least: float = 0.5) -> Covered:
    """Compute the intervals of the evenly spaced lines y with at least one preimage."""
    line, x, change = crossings(found, lines)
    order = np.lexsort((x, line))
    line, x, change = line[order], x[order], change[order]
    number = np.cumsum(change)
    good = (number[:-1] > least) & (line[:-1] == line[1:]) if len(line) else np.zeros(0, dtype=bool)
    return _joined(line[:-1][good], x[:-1][good], x[1:][good], lines)


def crossings(found: Borders, lines: Array) -> tuple[Places, Array, Array]:
    """Return (line, x, change of the number of preimages along x) of all crossings."""
    step = lines[1] - lines[0]
    y0, y1 = found.ends[:, 0, 1], found.ends[:, 1, 1]
    first = np.ceil((np.minimum(y0, y1) - lines[0]) / step).astype(np.intp)
    last = np.ceil((np.maximum(y0, y1) - lines[0]) / step).astype(np.intp)  # half-open: an end counts once
    first, last = np.clip(first, 0, len(lines)), np.clip(last, 0, len(lines))
    count = last - first
    segment = np.repeat(np.arange(len(count)), count)
    line = np.arange(len(segment)) - np.repeat(np.cumsum(count) - count, count) + first[segment]
    a, b = found.ends[segment, 0], found.ends[segment, 1]
    share = (lines[line] - a[:, 1]) / (b[:, 1] - a[:, 1])
    x = a[:, 0] + share * (b[:, 0] - a[:, 0])
    return line, x, np.where(b[:, 1] < a[:, 1], 1.0, -1.0) * found.sign[segment]


def joined(parts: list[Covered]) -> Covered:
    """Unite several covered sets over the same lines."""
    line = np.concatenate([part.line for part in parts])
    start, end = (np.concatenate([getattr(part, each) for part in parts]) for each in ("start", "end"))
    return _joined(line, start, end, parts[0].y)


def _joined(line: Places, start: Array, end: Array, lines: Array) -> Covered:
    """Merge overlapping or touching intervals."""
    rows = np.concatenate([line, line])
    x = np.concatenate([start, end])
    change = np.concatenate([np.ones(len(start)), -np.ones(len(end))])
    order = np.lexsort((-change, x, rows))
    rows, x, number = rows[order], x[order], np.cumsum(change[order])
    if not len(rows):
        return Covered(rows, x, x, lines)
    before = np.concatenate([[0.0], number[:-1]])
    begins, ends = (before < 0.5) & (number > 0.5), (before > 0.5) & (number < 0.5)
    return Covered(rows[begins], x[begins], x[ends], lines)
