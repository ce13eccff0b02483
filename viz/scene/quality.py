"""Rendering quality (plain on software renderers, fine on graphics hardware) and display options of a scene."""

from __future__ import annotations

from math import sqrt
from typing import Literal

from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

from core.later import dataclass
from viz.drawlist.item import Item, Ref

Quality = Literal["plain", "fine", "picture"]
"""Rendering quality. plain: anti-aliased edges only; fine: ambient occlusion too; picture: many samples per pixel, for
still pictures on any computer."""

SOFTWARE = ("llvmpipe", "softpipe", "swr", "swiftshader", "software", "basic render", "gdi generic")
"""Words in the names of software renderers."""
SAMPLES = 8
MOST_POLYGONS, MOST_PIXELS, FEW_PIXELS = 60_000, 1_000_000, 500_000
"""Limits of fast software rendering: above the first, simplified meshes are used; above the second, a smaller picture
is enlarged; above both, the third limits the pixels."""

CHOSEN = ("frame", "force", "sensor", "mark")
"""Roles that are shown while their element is selected, even if a display option hides them. The axes of bodies are not
among them, because the bodies themselves are visible."""
TOGGLES = {
    "frame": "frames",
    "com": "centers_of_mass",
    "inertia": "inertia",
    "collision": "collision",
    "force": "forces",
    "sensor": "sensors",
    "mark": "marks",
    "label": "labels",
    "dimension": "sensors",
}
"""Fields of `DisplayOptions` that control the visibility of roles."""


def get_renderer_name(window: vtkRenderWindow) -> str:
    """Return the name of the OpenGL renderer, after a first render; "" if unknown."""
    for line in window.ReportCapabilities().splitlines():
        if "renderer string" in line.lower():
            return str(line.partition(":")[2]).strip()
    return ""


def quality_of_renderer(renderer_name: str) -> Quality:
    """Return the quality for a renderer of this name; plain for an unknown one."""
    name = renderer_name.lower()
    return "plain" if not name or any(word in name for word in SOFTWARE) else "fine"


def fast_resolution_share(size: tuple[int, int], polygons: int) -> float:
    """Return the resolution, as a share along each side, at which a fast picture of this size with this number of
    polygons is rendered before it is enlarged."""
    most = FEW_PIXELS if polygons > MOST_POLYGONS else MOST_PIXELS
    return min(1.0, sqrt(most / (size[0] * size[1])))


def apply_quality(
    quality: Quality, window: vtkRenderWindow, back: vtkRenderer, front: vtkRenderer, corner: vtkRenderer, size: float
) -> None:
    """Set up the window and its renderers; `size` (m) is that of the machine and determines the range of ambient
    occlusion."""
    window.SetMultiSamples(SAMPLES if quality == "picture" else 0)
    set_antialiasing(quality, False, front, corner)
    back.SetUseSSAO(quality == "fine")
    if quality == "fine":
        back.SetSSAORadius(0.08 * size)
        back.SetSSAOBias(0.003 * size)
        back.SetSSAOKernelSize(48)
        back.SetSSAOBlur(True)


def set_antialiasing(quality: Quality, hasty: bool, front: vtkRenderer, corner: vtkRenderer) -> None:
    """Set anti-aliasing of the finished picture; it is off for a fast picture if it would halve the frame rate."""
    wanted = quality == "fine" or (quality == "plain" and not hasty)
    front.SetUseFXAA(wanted)  # the front layer is drawn over the machine: this smooths what is behind it too
    corner.SetUseFXAA(wanted)


@dataclass(frozen=True)
class DisplayOptions:
    """Display options of a scene. With `joints` None, joints are drawn if bodies have no shapes."""

    ground: bool = True
    axes: bool = False
    gravity: bool = False
    frames: bool = False
    labels: bool = False
    centers_of_mass: bool = False
    inertia: bool = False
    joints: bool | None = None
    collision: bool = False
    cube: bool = True
    forces: bool = True
    sensors: bool = True
    marks: bool = True
    layers: bool = True
    """True to draw links of planar machines in separate layers."""

    def shows(self, item: Item, selected: Ref | None = None) -> bool:
        """Return True if an item is visible; `selected` is the selected element."""
        if item.role == "joint":
            return item.shown if self.joints is None else self.joints
        if item.role in CHOSEN and item.ref is not None and item.ref == selected:
            return item.role != "frame" or selected[0] != "bodies" or self.frames
        return getattr(self, TOGGLES[item.role]) if item.role in TOGGLES else item.shown
