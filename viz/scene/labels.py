"""Name labels next to their items, always upright and of constant size. Texts are shown literally: VTK would typeset
`$…$` as a formula."""

from __future__ import annotations

from collections.abc import Callable

from vtkmodules.vtkRenderingCore import vtkBillboardTextActor3D, vtkRenderer, vtkTextProperty

from core.errors import escape_control_characters
from viz.camera import CameraView, project
from viz.drawlist.item import Item, SpanBatch
from viz.look import ColourScheme
from viz.scene.figures import Poses

SIZES = {"bodies": 13, "joints": 13, "frames": 12}
OFFSET = (9, 6)
"""Offset of a label to the right of and above its point, pixels."""
LINE, LETTER = 17.0, 7.4
"""Height of a line of text and width of a letter, pixels, for keeping labels apart."""
ROWS = (0, -1, 1, -2, 2, -3, 3, -4, 4, -5)
"""Numbers of lines by which a label may be moved to find a free position; if there is none, the label is hidden."""
Taken = list[tuple[float, float, float]]
"""Lines of text on the screen: left end x, height y, width, in pixels."""
FIRST = ("sensors", "joints", "bodies", "chains", "junctions", "frames")
"""Roles whose labels are placed first."""


def escape_label(text: str) -> str:
    """Escape a text so that a text actor shows it literally."""
    return escape_control_characters(text).replace("$", "\\$")


class Labels:
    """Text actors of the items with the role `label`."""

    def __init__(self, renderer: vtkRenderer, look: ColourScheme) -> None:
        self.renderer = renderer
        self.look = look
        self.scale = 1.0
        self._actors: dict[str, tuple[Item, vtkBillboardTextActor3D]] = {}
        self._spans = SpanBatch(())
        self.measure: Callable[[Item, Poses], str] = lambda item, _poses: item.text
        """Words of an item of the role `dimension` at poses."""

    def show_labels(self, items: tuple[Item, ...]) -> None:
        """Show these labels only."""
        wanted = {item.id: item for item in items}
        for name in [name for name in self._actors if name not in wanted]:
            self.renderer.RemoveActor(self._actors.pop(name)[1])
        for name, item in wanted.items():
            actor = self._actors[name][1] if name in self._actors else self._create_actor()
            actor.SetInput(escape_label(item.text))
            self._actors[name] = (item, actor)
        self._spans = SpanBatch([item for item, _actor in self._actors.values()])
        self.paint(self.look)

    def _create_actor(self) -> vtkBillboardTextActor3D:
        actor = vtkBillboardTextActor3D()
        actor.PickableOff()
        actor.UseBoundsOff()
        self.renderer.AddActor(actor)
        return actor

    def paint(self, look: ColourScheme) -> None:
        """Apply the colours of a look."""
        self.look = look
        for item, actor in self._actors.values():
            collection = item.ref[0] if item.ref else "frames"
            colour = look.resolve_colour({"joints": "accent", "sensors": "sensor"}.get(collection, "text"))
            format_text(actor.GetTextProperty(), look, colour, round(SIZES.get(collection, 12) * self.scale))

    def fit(self, view: CameraView, size: tuple[int, int], pixel_ratio: float, occupied: Taken | None = None) -> None:
        """Move labels up or down by lines so that they overlap neither each other nor other text."""
        if pixel_ratio != self.scale:
            self.scale = pixel_ratio
            self.paint(self.look)
        taken = list(occupied or ())
        right, up = (self.scale * d for d in OFFSET)
        line = LINE * self.scale
        for _item, actor in sorted(self._actors.values(), key=_label_priority):
            x, y = project(view, size, actor.GetPosition())
            width = LETTER * self.scale * len(actor.GetInput() or "")
            row = next((row for row in ROWS if not is_covered(taken, x, y - row * line, width, line)), None)
            actor.SetVisibility(row is not None)
            if row is not None:
                taken.append((x, y - row * line, width))
                actor.SetDisplayOffset(round(right), round(up + row * line))

    def move(self, poses: Poses) -> None:
        """Move the labels with their frames, and update the values at dimension lines."""
        if not self._actors:
            return
        places = self._spans.poses(poses)[:, :3, 3].tolist()
        for (item, actor), place in zip(self._actors.values(), places, strict=True):
            actor.SetPosition(*place)
            if item.role == "dimension":
                words = escape_label(self.measure(item, poses))
                if words != actor.GetInput():
                    actor.SetInput(words)


def _label_priority(entry: tuple[Item, vtkBillboardTextActor3D]) -> int:
    collection = entry[0].ref[0] if entry[0].ref else ""
    return FIRST.index(collection) if collection in FIRST else len(FIRST)


def is_covered(taken: Taken, x: float, y: float, width: float, line: float) -> bool:
    """Return True if a line of text would overlap other lines of text."""
    return any(abs(y - v) < line and x < u + w and u < x + width for u, v, w in taken)


def format_text(text: vtkTextProperty, look: ColourScheme, colour: tuple[float, float, float], size: int) -> None:
    """Format the text of an actor: upright, on a faint background."""
    text.SetFontFamilyToArial()
    text.SetFontSize(size)
    text.SetColor(*colour)
    text.SetBackgroundColor(*look.resolve_colour("text_back"))
    text.SetBackgroundOpacity(0.62)
    text.BoldOff()
    text.ShadowOff()
