"""Names beside the things they belong to, always upright and of one size."""

from __future__ import annotations

import numpy as np
from vtkmodules.vtkRenderingCore import vtkBillboardTextActor3D, vtkRenderer, vtkTextProperty

from viz.figures import Poses
from viz.items import Item
from viz.look import Look
from viz.placement import matrix

SIZES = {"bodies": 13, "joints": 13, "frames": 12}
OFFSETS = {"bodies": (9, 6), "joints": (9, -22), "frames": (-20, 16)}
"""Pixels right of and above the place named: joints sit where bodies begin."""


class Labels:
    """Text actors of the items whose role is `label`."""

    def __init__(self, renderer: vtkRenderer, look: Look) -> None:
        self.renderer = renderer
        self.look = look
        self.scale = 1.0
        self._actors: dict[str, tuple[Item, vtkBillboardTextActor3D]] = {}

    def show(self, items: tuple[Item, ...]) -> None:
        """Show these labels and no others."""
        wanted = {item.id: item for item in items}
        for name in [name for name in self._actors if name not in wanted]:
            self.renderer.RemoveActor(self._actors.pop(name)[1])
        for name, item in wanted.items():
            actor = self._actors[name][1] if name in self._actors else self._new(item)
            actor.SetInput(item.text)
            self._actors[name] = (item, actor)
        self.paint(self.look)

    def _new(self, item: Item) -> vtkBillboardTextActor3D:
        actor = vtkBillboardTextActor3D()
        actor.SetDisplayOffset(*(round(self.scale * d) for d in OFFSETS.get(item.ref[0] if item.ref else "", (9, 6))))
        actor.PickableOff()
        actor.UseBoundsOff()
        self.renderer.AddActor(actor)
        return actor

    def paint(self, look: Look) -> None:
        """Take the colours of a look."""
        self.look = look
        for item, actor in self._actors.values():
            collection = item.ref[0] if item.ref else "frames"
            colour = look.colour("accent" if collection == "joints" else "text")
            write(actor.GetTextProperty(), look, colour, round(SIZES.get(collection, 12) * self.scale))

    def move(self, poses: Poses) -> None:
        """Follow the frames."""
        for item, actor in self._actors.values():
            pose = np.asarray(poses.get(item.frame, np.eye(4)), dtype=float) @ matrix(item.placement)
            actor.SetPosition(*pose[:3, 3])


def write(text: vtkTextProperty, look: Look, colour: tuple[float, float, float], size: int) -> None:
    """Plain upright letters on a faint background."""
    text.SetFontFamilyToArial()
    text.SetFontSize(size)
    text.SetColor(*colour)
    text.SetBackgroundColor(*look.colour("text_back"))
    text.SetBackgroundOpacity(0.62)
    text.BoldOff()
    text.ShadowOff()
