"""Mobility marks on the machine: rings and arrows of constant size on the screen, in front of everything else, with
texts.

A ring is a rotation about its axis, an arrow with two heads a translation, both together a screw, a ball a place. Red:
redundant or contradictory; the accent: free to move; violet: lost, or gained, at or near a singular pose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkBillboardTextActor3D, vtkPolyDataMapper, vtkRenderer

from core.analysis.mobility_marks import Form, Kind, MobilityMark, Ref
from core.analysis.singular_directions import NEAR_SINGULAR_FRACTION
from viz.camera import CameraView, metres_per_pixel, project
from viz.drawlist import geometry as g
from viz.drawlist.elements.sensor_looks import Words, format_si
from viz.look import ColourScheme
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import frame_along, to_placement
from viz.scene.labels import LETTER, LINE, ROWS, Taken, escape_label, format_text, is_covered

COLOURS: Mapping[Kind, str] = MappingProxyType(
    {"redundant": "redundant", "conflict": "redundant", "free": "accent", "idle": "accent", "singular": "singular"}
)
WIDTHS: Mapping[Kind, float] = MappingProxyType(
    {"redundant": 22.0, "conflict": 22.0, "free": 29.0, "idle": 29.0, "singular": 36.0}
)
"""Radius of a ring, pixels; marks of different kinds at the same position are concentric."""
LENGTH, AXIS = 2.0, 1.35
"""Half the length of an arrow and of an axis, in ring radii."""
LEAST = 0.45
"""Relative size of the mark of a direction that is just beginning to be lost; it grows to 1."""
OLD = 0.35
"""Opacity of marks that were computed for an earlier pose."""
LETTERS = 12
"""Size of the text, pixels."""
BESIDE = 8
"""Distance from a text to its mark, or to the edge of the picture, pixels."""


def _mark_forms() -> Mapping[Form, g.Geometry]:
    head = g.Arrow(LENGTH, 0.06, 0.19, 0.5)
    back = g.PlacedShape(head, to_placement(frame_along((0.0, 0.0, -1.0))))
    arrow = g.Compound((g.PlacedShape(head), back))
    axis = g.PlacedShape(g.Cylinder(0.035, 2.0 * AXIS, sides=12))
    ring = g.PlacedShape(g.Arc(1.0, 0.07))
    return MappingProxyType(
        {
            "translation": arrow,
            "rotation": g.Compound((ring, axis)),
            "screw": g.Compound((ring, g.PlacedShape(head), back)),
            "": g.Sphere(0.45),
        }
    )


FORMS = _mark_forms()


def lost_share(mark: MobilityMark) -> float:
    """Return the degree to which a direction is lost, 0 … 1."""
    return 1.0 - min(mark.share / NEAR_SINGULAR_FRACTION, 1.0)


def select_marks(marks: Sequence[MobilityMark], refs: Collection[Ref]) -> list[MobilityMark]:
    """Return the marks to be drawn: the main marks, and all marks of the elements being inspected."""
    return [mark for mark in marks if mark.chief or mark.ref in refs]


def mark_texts(
    marks: Sequence[MobilityMark], refs: Collection[Ref], words: Words = format_si
) -> list[tuple[MobilityMark, str]]:
    """Return the texts of marks: a short text for all marks of a kind at a component; a longer one if the component is
    being inspected."""
    together: dict[tuple[str, Ref], list[MobilityMark]] = {}
    for mark in marks:
        together.setdefault((COLOURS[mark.kind], mark.ref), []).append(mark)
    return [(group[0], _group_text(group, group[0].ref in refs, words)) for group in together.values()]


def _group_text(group: Sequence[MobilityMark], in_full: bool, words: Words) -> str:
    name = group[0].ref[1]
    if group[0].kind == "redundant" and group[0].form:
        if len(group) == 1:
            return f"{name}: redundant {group[0].text}"
        return "\n".join([f"{name}: {len(group)} redundant", *(mark.text for mark in group if in_full)])
    return "\n".join(_mark_text(mark, words) if in_full or not mark.brief else mark.brief for mark in group)


def _mark_text(mark: MobilityMark, words: Words) -> str:
    text = mark.text
    if mark.form == "screw":
        text += f", {words(2.0 * np.pi * mark.pitch, 'length')} per turn"
    return f"{text}, {100.0 * mark.share:.2g} % left" if mark.share else text


class MobilityMarkFigures:
    """Actors of the visible marks."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self._renderer, self._look = renderer, look
        self.marks: tuple[MobilityMark, ...] = ()
        self.refs: frozenset[Ref] = frozenset()
        """Components that are looked at: their marks are all shown, with all their words."""
        self.words: Words = format_si
        self.old = False
        """True if the marks belong to a pose that is no longer shown."""
        self.edge = BESIDE
        """Pixels at the right edge of the picture that words leave free."""
        self._figures: list[tuple[vtkActor, MobilityMark]] = []
        self._labels: list[tuple[vtkBillboardTextActor3D, MobilityMark]] = []
        self._scale = 1.0

    def show_marks(self, marks: Sequence[MobilityMark], refs: Collection[Ref] = (), *, old: bool = False) -> None:
        """Show only these marks, with more detail for the elements being inspected."""
        self.marks, self.refs, self.old = tuple(marks), frozenset(refs), old
        drawn = select_marks(self.marks, self.refs)
        self._draw_marks(drawn)
        self._show_texts(mark_texts(drawn, self.refs, self.words))
        self.paint(self._look)

    def show_details(self, refs: Collection[Ref]) -> None:
        """Show the marks of some elements in more detail."""
        if frozenset(refs) != self.refs:
            self.show_marks(self.marks, refs, old=self.old)

    def fade(self) -> None:
        """Fade the marks, because the pose has changed, until new marks have been computed."""
        if not self.old:
            self.old = True
            self.paint(self._look)

    @property
    def visible_texts(self) -> tuple[str, ...]:
        """Texts that are visible."""
        return tuple(actor.GetInput() for actor, _ in self._labels if actor.GetVisibility())

    def _draw_marks(self, marks: Sequence[MobilityMark]) -> None:
        while len(self._figures) > len(marks):
            self._renderer.RemoveActor(self._figures.pop()[0])
        pool = [actor for actor, _ in self._figures]
        while len(pool) < len(marks):
            pool.append(_create_actor())
            self._renderer.AddActor(pool[-1])
        self._figures = list(zip(pool, marks, strict=True))
        for actor, mark in self._figures:
            actor.GetMapper().SetInputData(get_mesh(FORMS[mark.form]))

    def _show_texts(self, lines: Sequence[tuple[MobilityMark, str]]) -> None:
        while len(self._labels) > len(lines):
            self._renderer.RemoveActor(self._labels.pop()[0])
        pool = [actor for actor, _ in self._labels]
        while len(pool) < len(lines):
            pool.append(_create_text_actor())
            self._renderer.AddActor(pool[-1])
        self._labels = [(actor, mark) for actor, (mark, _) in zip(pool, lines, strict=True)]
        for actor, (mark, text) in zip(pool, lines, strict=True):
            actor.SetInput(escape_label(text))
            actor.SetPosition(*mark.place)

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self._look = look
        faded = OLD if self.old else 1.0
        for actor, mark in self._figures:
            surface = actor.GetProperty()
            surface.SetColor(*look.resolve_colour(COLOURS[mark.kind]))
            surface.SetOpacity(faded * (0.3 + 0.7 * lost_share(mark)))
        for text, mark in self._labels:
            format_text(
                text.GetTextProperty(), look, look.resolve_colour(COLOURS[mark.kind]), round(LETTERS * self._scale)
            )
            text.GetTextProperty().BoldOn()
            text.GetTextProperty().SetBackgroundOpacity(0.85)
            text.GetTextProperty().SetOpacity(max(faded, 0.5))

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float) -> Taken:
        """Update the size of the marks on the screen and place their texts without overlap; return the positions of the
        texts."""
        if pixel_ratio != self._scale:
            self._scale = pixel_ratio
            self.paint(self._look)
        for actor, mark in self._figures:
            length = metres_per_pixel(view, size, mark.place) * pixel_ratio * _ring_radius(mark)
            pose = frame_along(mark.direction, mark.place) @ np.diag([length, length, length, 1.0])
            actor.SetUserMatrix(vtk_matrix(pose))
        taken: Taken = []
        for actor, mark in self._labels:
            taken += self._place_text(actor, mark, project(view, size, mark.place), size, taken)
        return taken

    def _place_text(
        self, actor: vtkBillboardTextActor3D, mark: MobilityMark, pixel: tuple[float, float], size: tuple[int, int],
        taken: Taken,
    ) -> Taken:  # fmt: skip
        """Place a text next to its mark, moved up or down by lines so that it does not overlap others; return its
        position."""
        rows = (actor.GetInput() or "").split("\n")
        line, width = LINE * self._scale, LETTER * self._scale * max(map(len, rows))
        x, y = pixel
        beside = (_ring_radius(mark) + BESIDE) * self._scale
        right = min(beside, size[0] - self.edge * self._scale - width - x)
        heights = (
            [(row, [y - (row + k) * line for k in range(len(rows))]) for row in ROWS] if np.isfinite(x + y) else []
        )
        found = next(
            (each for each in heights if not any(is_covered(taken, x + right, h, width, line) for h in each[1])), None
        )
        actor.SetVisibility(found is not None)
        if found is None:
            return []
        actor.SetDisplayOffset(round(right), round(found[0] * line))
        return [(x + right, height, width) for height in found[1]]


def _ring_radius(mark: MobilityMark) -> float:
    """Return the radius of the ring of a mark, pixels."""
    return WIDTHS[mark.kind] * (LEAST + (1.0 - LEAST) * lost_share(mark))


def _create_actor() -> vtkActor:
    actor = vtkActor()
    actor.SetMapper(vtkPolyDataMapper())
    actor.GetMapper().ScalarVisibilityOff()
    actor.PickableOff()
    actor.UseBoundsOff()
    surface = actor.GetProperty()
    surface.SetAmbient(0.5)
    surface.SetDiffuse(0.55)
    return actor


def _create_text_actor() -> vtkBillboardTextActor3D:
    actor = vtkBillboardTextActor3D()
    actor.PickableOff()
    actor.UseBoundsOff()
    return actor
