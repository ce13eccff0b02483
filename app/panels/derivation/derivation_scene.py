"""Scene of a derivation step: frames, axes, velocities and weights, scaled to the machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from app.viewport.annotations import PointLabel
from viz.placement import longest_edge
from viz.scene.vectors import VectorGlyph

if TYPE_CHECKING:
    from app.viewport.stage import Stage
    from core.symbolic.derivation import Arrow, Picture

SOURCE = "derivation"


class ArrowStyle(NamedTuple):
    """Drawing style of a kind of arrow: colour, legend text, length as a fraction of the machine's size (None: actual
    length, m), True if all arrows in a picture share one scale, True for two arrowheads."""

    color: str
    words: str
    share: float | None = None
    scaled: bool = False
    double: bool = False


LOOKS: dict[str, ArrowStyle] = {
    "x": ArrowStyle("#d64545", "x", 0.13),
    "y": ArrowStyle("#3f9e4d", "y", 0.13),
    "z": ArrowStyle("#3b73d1", "z", 0.13),
    "axis": ArrowStyle("#1f9fb5", "joint axis", 0.34),
    "offset": ArrowStyle("#8a929c", "vector between origins"),
    "linear": ArrowStyle("#e8891c", "linear velocity", 0.30, True),
    "turning": ArrowStyle("#9b59c6", "angular velocity", 0.24, True, True),
    "weight": ArrowStyle("#b5762c", "weight", 0.26, True),
    "torque": ArrowStyle("#c7357e", "joint torque or force", 0.26, True, True),
}
FAINT = 0.55
"""Fraction of grey mixed into the colours of frames introduced by earlier steps; their axes are also drawn shorter."""
POINT = 0.018
"""Radius of the sphere at a centre of mass, as a fraction of the machine's size."""
SHORTEST = 1e-9


def arrow_glyphs(picture: Picture, size: float) -> list[VectorGlyph]:
    """Return the arrows of a picture, scaled for a machine of the given size (m)."""
    largest: dict[str, float] = {}
    for arrow in picture.arrows:
        largest[arrow.kind] = max(largest.get(arrow.kind, 0.0), float(np.linalg.norm(arrow.vector)))
    made = []
    for arrow in picture.arrows:
        look = LOOKS[arrow.kind]
        length = float(np.linalg.norm(arrow.vector))
        if length < SHORTEST:
            continue
        factor = 1.0
        if look.share is not None:
            factor = look.share * size / (largest[arrow.kind] if look.scaled else length)
        if arrow.faint:
            factor *= 0.75
        made.append(VectorGlyph(arrow.origin, factor * arrow.vector, _arrow_color(arrow), look.double))
    return made


def _arrow_color(arrow: Arrow) -> tuple[float, ...]:
    color = LOOKS[arrow.kind].color
    parts = [int(color[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]
    return tuple(FAINT * 0.6 + (1.0 - FAINT) * part for part in parts) if arrow.faint else tuple(parts)


def legend_text(picture: Picture) -> str:
    """Return a legend of the arrow colours as rich text."""
    kinds = dict.fromkeys(arrow.kind for arrow in picture.arrows if np.linalg.norm(arrow.vector) > SHORTEST)
    parts = [f'<span style="color:{LOOKS[kind].color}">⬤</span> {LOOKS[kind].words}' for kind in kinds]
    if picture.centers is not None:
        parts.append("⚫ centre of mass")
    return "&nbsp;&nbsp; ".join(parts)


class DerivationScene:
    """Shows the picture of one derivation step in the 3-D view."""

    def __init__(self, view: Stage) -> None:
        self._view = view
        self.size = 0.0
        self._named = False

    def measure_machine(self) -> None:
        """Measure the machine's size, from which the arrow lengths are derived."""
        self.size = longest_edge(self._view.scene.bounds())

    def show_picture(self, picture: Picture | None) -> None:
        """Show the picture of a step; None removes it."""
        if picture is not None and not self.size:
            self.measure_machine()
        arrows = arrow_glyphs(picture, self.size) if picture is not None else []
        self._view.scene.overlays.show_vectors(arrows, SOURCE, self.size or None)
        centers = picture.centers if picture is not None and picture.centers is not None else ()
        radii = np.full(3, POINT * self.size)
        self._view.show_ellipsoids(SOURCE, [(center, np.eye(3), radii, "velocity") for center in centers])
        self._show_names(picture.names if picture is not None else ())
        self._view.update()

    def _show_names(self, names: Sequence[tuple[Any, str, bool]]) -> None:
        """Write names next to points; without names, labels written by other parts of the program are left alone."""
        if names or self._named:
            written = tuple(PointLabel(tuple(map(float, place)), name, quiet) for place, name, quiet in names)  # type: ignore[arg-type]
            self._view.annotations.names = written
            self._view.annotations.update()
        self._named = bool(names)
