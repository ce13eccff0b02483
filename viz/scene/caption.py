"""Caption in the lower left corner of a picture: the time in a film, and the legend of its arrows."""

from __future__ import annotations

from vtkmodules.vtkRenderingCore import vtkTextActor

from viz.scene.labels import escape_label
from viz.scene.scene import Scene

SHARE = 0.026
"""Height of the letters, relative to the picture's height."""


class Caption:
    """Text in front of a scene; "" hides it."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._actor = vtkTextActor()
        self._actor.SetTextScaleModeToNone()
        self._actor.SetVisibility(False)
        scene.front.AddActor(self._actor)

    def show_text(self, text: str) -> None:
        """Show a text in the colours of the scene."""
        size = max(round(SHARE * self._scene.size[1]), 9)
        letters = self._actor.GetTextProperty()
        letters.SetFontFamilyToArial()
        letters.SetFontSize(size)
        letters.SetColor(*self._scene.palette.resolve_colour("text"))
        letters.SetLineSpacing(1.25)
        self._actor.SetInput(escape_label(text))
        self._actor.SetPosition(size, size)
        self._actor.SetVisibility(bool(text))
