"""Entry of the draw list as a plain value; and poses of items between two frames: stretched, at a fraction of the line,
or on a perpendicular."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from core.later import dataclass
from viz.drawlist import geometry as g
from viz.look import Colour
from viz.placement import IDENTITY, Array, Placement, to_matrix

Ref = tuple[str, str]
"""Reference (collection, name) to an element of the model; equal to the session's `Ref`."""

SHORT = 1e-9
"""Length below which a line has no direction, m."""
_IDENTITY = np.eye(4)


@dataclass(frozen=True)
class Span:
    """End of the line along which an item is stretched: the origin of a frame that is fixed to another body or frame.

    at     : None: the form, one unit long in z and centred, is stretched over the whole line; (share, distance): it
             keeps its size and stands at this share of the line's length and this distance (m) farther, z along it
    normal : the line is the perpendicular from the far end onto the plane through the item's place, normal its z axis
    """

    frame: str
    placement: Placement
    at: tuple[float, float] | None = None
    normal: bool = False


@dataclass(frozen=True)
class Item:
    """Entry of the draw list. Items with the same id in two lists represent the same object, whether changed or not.

    role  : shape, collision, link, joint, ground, frame, com, inertia, label, force, sensor, dimension (words at a
            sensor), mark (of a constraint or driver): what toggles act on
    shown : seen unless a toggle says otherwise
    paint_over : its colour covers the colours that a mesh file brings
    until : if set, the form lies on the line from its place to there
    axes  : if set, the item stands at its place in `frame`, but turned as its placement says in this frame
    layer : (3,) m, in the axes of `frame`: how far it is drawn, as its placement says, from where it is
    """

    id: str
    ref: Ref | None
    frame: str
    geometry: g.Geometry
    role: str
    colour: Colour
    placement: Placement = IDENTITY
    shown: bool = True
    until: Span | None = None
    axes: str | None = None
    opacity: float = 1.0
    text: str = ""
    paint_over: bool = False
    layer: g.Point = (0.0, 0.0, 0.0)

    @property
    def moves_rigidly(self) -> bool:
        """True if the item moves rigidly with its frame."""
        return self.until is None and self.axes is None


def collect_forms(items: Iterable[Item]) -> set[g.Geometry]:
    """Return all geometric forms of the items, including those inside compounds."""
    found: set[g.Geometry] = set()
    for item in items:
        form = item.geometry
        found.update([part.geometry for part in form.parts] if isinstance(form, g.Compound) else [form])
    return found


class SpanBatch:
    """Items whose poses depend on two frames; the poses are computed in one batch."""

    def __init__(self, items: Sequence[Item]) -> None:
        untils = [item.until for item in items]
        self._frames = [item.frame for item in items]
        self._axes = [item.axes for item in items]
        self._ends = ["" if until is None else until.frame for until in untils]
        self._place = np.array([to_matrix(item.placement) for item in items]).reshape(-1, 4, 4)
        self._end = np.array([_IDENTITY if u is None else to_matrix(u.placement) for u in untils]).reshape(-1, 4, 4)
        self._turned = np.array([item.axes is not None for item in items], dtype=bool)
        self._lies = np.array([until is not None for until in untils], dtype=bool)
        self._normal = np.array([until is not None and until.normal for until in untils], dtype=bool)
        self._stretched = np.array([until is not None and until.at is None for until in untils], dtype=bool)
        self._at = np.array([(0.5, 0.0) if u is None or u.at is None else u.at for u in untils]).reshape(-1, 2)
        self._both_directions = self._stretched & np.array([item.role == "joint" for item in items], dtype=bool)

    def poses(self, poses: Mapping[str, ArrayLike]) -> Array:
        """Return the poses (n, 4, 4) world ← item; frames without a pose are taken to be at the world's origin.

        On a line z points along it (a joint's rod: against it, where that is nearer to the item's own z); x stays as
        near as it can to the item's own, so that square rods do not twist.
        """
        result = self._start_poses(poses)
        begin, end = self._line_ends(result, poses)
        path = end - begin
        length = np.linalg.norm(path, axis=1)
        short = length < SHORT
        scale = np.where(short, 1.0, length)
        z = path / scale[:, None]
        own_x, own_y, own_z = (result[:, :3, k] for k in range(3))
        z[self._both_directions & (_row_dot_products(path, own_z) < 0.0)] *= -1.0
        x = own_x - z * _row_dot_products(own_x, z)[:, None]
        spare = own_y - z * _row_dot_products(own_y, z)[:, None]
        x = np.where((np.linalg.norm(x, axis=1) > 1e-6)[:, None], x, spare)
        x /= np.maximum(np.linalg.norm(x, axis=1), 1e-300)[:, None]
        share = self._at[:, 0] + np.where(short, 0.0, self._at[:, 1] / scale)
        turn = self._lies & ~short
        long = np.where(self._stretched, length, 1.0)[:, None]
        result[turn, :3, :3] = np.stack([x, np.cross(z, x), z * long], axis=2)[turn]
        result[short & self._stretched, :3, 2] *= 1e-6
        result[self._lies, :3, 3] = (begin + path * share[:, None])[self._lies]
        return result

    def _start_poses(self, poses: Mapping[str, ArrayLike]) -> Array:
        result = np.array([poses.get(name, _IDENTITY) for name in self._frames], dtype=float) @ self._place
        for i in np.flatnonzero(self._turned):
            axes = np.asarray(poses.get(self._axes[i] or "", _IDENTITY), dtype=float)
            result[i, :3, :3] = axes[:3, :3] @ self._place[i, :3, :3]
        return result

    def _line_ends(self, starts: Array, poses: Mapping[str, ArrayLike]) -> tuple[Array, Array]:
        """Return the start and end points (n, 3) of the lines, in the world."""
        ends = np.array([poses.get(name, _IDENTITY) for name in self._ends], dtype=float) @ self._end
        begin, end, n = starts[:, :3, 3], ends[:, :3, 3], starts[:, :3, 2]
        foot = end - n * _row_dot_products(n, end - begin)[:, None]
        return np.where(self._normal[:, None], foot, begin), end


def _row_dot_products(a: Array, b: Array) -> Array:
    return np.einsum("ij,ij->i", a, b)
