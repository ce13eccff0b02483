"""Mobility marks drawn on the machine: rings and arrows of constant size on the screen, in front of everything, with
texts.

A ring is a rotation about its axis, an arrow with two heads a translation, both together a screw, a ball a place. Red:
redundant or contradictory; the accent: free to move; violet: lost, or gained, at or near a singular pose.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

import numpy as np
from vtkmodules.vtkRenderingCore import vtkActor, vtkBillboardTextActor3D, vtkPolyDataMapper, vtkRenderer

from core.analysis.mobility_marks import Form, Kind, Mark, Ref
from core.analysis.singular_directions import NEAR_SINGULAR_FRACTION
from viz.camera import View, metres_per_pixel, project
from viz.drawlist import geometry as g
from viz.drawlist.elements.sensor_looks import Words, in_si
from viz.look import Look
from viz.meshes.meshes import mesh
from viz.meshes.polydata import vtk_matrix
from viz.placement import along, placement
from viz.scene.labels import LETTER, LINE, ROWS, Taken, as_letters, covered, write

COLOURS: Mapping[Kind, str] = MappingProxyType(
    {"redundant": "redundant", "conflict": "redundant", "free": "accent", "idle": "accent", "singular": "singular"}
)
WIDTHS: Mapping[Kind, float] = MappingProxyType(
    {"redundant": 22.0, "conflict": 22.0, "free": 29.0, "idle": 29.0, "singular": 36.0}
)
"""Radius of a ring, pixels: marks of different kinds at one position are concentric."""
LENGTH, AXIS = 2.0, 1.35
"""Half the length of an arrow and of an axis, in ring radii."""
LEAST = 0.45
"""Size of the mark of a direction that is just starting to be lost; it grows to 1."""
OLD = 0.35
"""Opacity of marks that do not yet belong to the displayed pose."""
LETTERS = 12
"""Size of the text, pixels."""
BESIDE = 8
"""Distance between a mark, or the picture's edge, and text, pixels."""


def _forms() -> Mapping[Form, g.Geometry]:
    head = g.Arrow(LENGTH, 0.06, 0.19, 0.5)
    back = g.Placed(head, placement(along((0.0, 0.0, -1.0))))
    arrow = g.Compound((g.Placed(head), back))
    axis = g.Placed(g.Cylinder(0.035, 2.0 * AXIS, sides=12))
    ring = g.Placed(g.Arc(1.0, 0.07))
    return MappingProxyType(
        {
            "translation": arrow,
            "rotation": g.Compound((ring, axis)),
            "screw": g.Compound((ring, g.Placed(head), back)),
            "": g.Sphere(0.45),
        }
    )


FORMS = _forms()


def strength(mark: Mark) -> float:
    """Return the degree to which a direction is lost, 0 … 1."""
    return 1.0 - min(mark.share / NEAR_SINGULAR_FRACTION, 1.0)


def chosen(marks: Sequence[Mark], refs: Collection[Ref]) -> list[Mark]:
    """Return the marks to draw: the main ones, and those of inspected bodies."""
    return [mark for mark in marks if mark.chief or mark.ref in refs]


def sentences(marks: Sequence[Mark], refs: Collection[Ref], words: Words = in_si) -> list[tuple[Mark, str]]:
    """Return the texts of marks: short ones for all marks of a kind at a component, longer ones if it is inspected."""
    together: dict[tuple[str, Ref], list[Mark]] = {}
    for mark in marks:
        together.setdefault((COLOURS[mark.kind], mark.ref), []).append(mark)
    return [(group[0], _words(group, group[0].ref in refs, words)) for group in together.values()]


def _words(group: Sequence[Mark], whole: bool, words: Words) -> str:
    name = group[0].ref[1]
    if group[0].kind == "redundant" and group[0].form:
        if len(group) == 1:
            return f"{name}: redundant {group[0].text}"
        return "\n".join([f"{name}: {len(group)} redundant", *(mark.text for mark in group if whole)])
    return "\n".join(_sentence(mark, words) if whole or not mark.brief else mark.brief for mark in group)


def _sentence(mark: Mark, words: Words) -> str:
    text = mark.text
    if mark.form == "screw":
        text += f", {words(2.0 * np.pi * mark.pitch, 'length')} per turn"
    return f"{text}, {100.0 * mark.share:.2g} % left" if mark.share else text


class MarkFigures:
    """Actors of the visible marks."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self._renderer, self._look = renderer, look
        self.marks: tuple[Mark, ...] = ()
        self.refs: frozenset[Ref] = frozenset()
        """Components that are looked at: their marks are all shown, with all their words."""
        self.words: Words = in_si
        self.old = False
        """True if the marks belong to a pose that is no longer shown."""
        self.edge = BESIDE
        """Pixels at the right edge of the picture that words leave free."""
        self._figures: list[tuple[vtkActor, Mark]] = []
        self._labels: list[tuple[vtkBillboardTextActor3D, Mark]] = []
        self._scale = 1.0

    def show(self, marks: Sequence[Mark], refs: Collection[Ref] = (), *, old: bool = False) -> None:
        """Show these marks only, with more detail for the inspected components."""
        self.marks, self.refs, self.old = tuple(marks), frozenset(refs), old
        drawn = chosen(self.marks, self.refs)
        self._draw(drawn)
        self._write(sentences(drawn, self.refs, self.words))
        self.paint(self._look)

    def look_at(self, refs: Collection[Ref]) -> None:
        """Show more of the marks of some components."""
        if frozenset(refs) != self.refs:
            self.show(self.marks, refs, old=self.old)

    def age(self) -> None:
        """Fade the marks, because the pose has changed, until new ones are known."""
        if not self.old:
            self.old = True
            self.paint(self._look)

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the visible texts."""
        return tuple(actor.GetInput() for actor, _ in self._labels if actor.GetVisibility())

    def _draw(self, marks: Sequence[Mark]) -> None:
        while len(self._figures) > len(marks):
            self._renderer.RemoveActor(self._figures.pop()[0])
        pool = [actor for actor, _ in self._figures]
        while len(pool) < len(marks):
            pool.append(_actor())
            self._renderer.AddActor(pool[-1])
        self._figures = list(zip(pool, marks, strict=True))
        for actor, mark in self._figures:
            actor.GetMapper().SetInputData(mesh(FORMS[mark.form]))

    def _write(self, lines: Sequence[tuple[Mark, str]]) -> None:
        while len(self._labels) > len(lines):
            self._renderer.RemoveActor(self._labels.pop()[0])
        pool = [actor for actor, _ in self._labels]
        while len(pool) < len(lines):
            pool.append(_text())
            self._renderer.AddActor(pool[-1])
        self._labels = [(actor, mark) for actor, (mark, _) in zip(pool, lines, strict=True)]
        for actor, (mark, text) in zip(pool, lines, strict=True):
            actor.SetInput(as_letters(text))
            actor.SetPosition(*mark.place)

    def paint(self, look: Look) -> None:
        """Apply the colours of a look."""
        self._look = look
        faded = OLD if self.old else 1.0
        for actor, mark in self._figures:
            surface = actor.GetProperty()
            surface.SetColor(*look.colour(COLOURS[mark.kind]))
            surface.SetOpacity(faded * (0.3 + 0.7 * strength(mark)))
        for text, mark in self._labels:
            write(text.GetTextProperty(), look, look.colour(COLOURS[mark.kind]), round(LETTERS * self._scale))
            text.GetTextProperty().BoldOn()
            text.GetTextProperty().SetBackgroundOpacity(0.85)
            text.GetTextProperty().SetOpacity(max(faded, 0.5))

    def fit(self, view: View, size: tuple[int, int], pixel_ratio: float) -> Taken:
        """Update the marks' size on the screen and place their texts without overlap; return the occupied places."""
        if pixel_ratio != self._scale:
            self._scale = pixel_ratio
            self.paint(self._look)
        for actor, mark in self._figures:
            length = metres_per_pixel(view, size, mark.place) * pixel_ratio * _radius(mark)
            pose = along(mark.direction, mark.place) @ np.diag([length, length, length, 1.0])
            actor.SetUserMatrix(vtk_matrix(pose))
        taken: Taken = []
        for actor, mark in self._labels:
            taken += self._place(actor, mark, project(view, size, mark.place), size, taken)
        return taken

    def _place(
        self, actor: vtkBillboardTextActor3D, mark: Mark, pixel: tuple[float, float], size: tuple[int, int],
        taken: Taken,
    ) -> Taken:  # fmt: skip
        """Place a text next to its mark, moved up or down by lines to avoid others; return the occupied place."""
        rows = (actor.GetInput() or "").split("\n")
        line, width = LINE * self._scale, LETTER * self._scale * max(map(len, rows))
        x, y = pixel
        beside = (_radius(mark) + BESIDE) * self._scale
        right = min(beside, size[0] - self.edge * self._scale - width - x)
        heights = (
            [(row, [y - (row + k) * line for k in range(len(rows))]) for row in ROWS] if np.isfinite(x + y) else []
        )
        found = next(
            (each for each in heights if not any(covered(taken, x + right, h, width, line) for h in each[1])), None
        )
        actor.SetVisibility(found is not None)
        if found is None:
            return []
        actor.SetDisplayOffset(round(right), round(found[0] * line))
        return [(x + right, height, width) for height in found[1]]


def _radius(mark: Mark) -> float:
    """Return the radius of a mark's ring, pixels."""
    return WIDTHS[mark.kind] * (LEAST + (1.0 - LEAST) * strength(mark))


def _actor() -> vtkActor:
    actor = vtkActor()
    actor.SetMapper(vtkPolyDataMapper())
    actor.GetMapper().ScalarVisibilityOff()
    actor.PickableOff()
    actor.UseBoundsOff()
    surface = actor.GetProperty()
    surface.SetAmbient(0.5)
    surface.SetDiffuse(0.55)
    return actor


def _text() -> vtkBillboardTextActor3D:
    actor = vtkBillboardTextActor3D()
    actor.PickableOff()
    actor.UseBoundsOff()
    return actor
