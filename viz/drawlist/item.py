"""Entry of the draw list, as a plain value."""

from __future__ import annotations

from collections.abc import Iterable

from core.later import dataclass
from viz.drawlist import geometry as g
from viz.look import Colour
from viz.placement import IDENTITY, Placement

Ref = tuple[str, str]
"""Reference (collection, name) to an element of the model; equal to the session's `Ref`."""


@dataclass(frozen=True)
class Span:
    """End of the line along which an item is stretched: the origin of a frame fixed to another body or frame.

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
    """Object to draw. Items with the same id in two lists represent the same object, changed or not.

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


def forms_in(items: Iterable[Item]) -> set[g.Geometry]:
    """Return all forms of the items, those inside compounds included."""
    found: set[g.Geometry] = set()
    for item in items:
        form = item.geometry
        found.update([part.geometry for part in form.parts] if isinstance(form, g.Compound) else [form])
    return found
