"""Rendering quality: plain on software renderers, fine on graphics hardware."""

from __future__ import annotations

from math import sqrt
from typing import Literal

from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

Quality = Literal["plain", "fine", "picture"]
"""Rendering quality. plain: anti-aliased edges only; fine: ambient occlusion too; picture: many samples per pixel, for
still pictures on any computer."""

SOFTWARE = ("llvmpipe", "softpipe", "swr", "swiftshader", "software", "basic render", "gdi generic")
"""Words in the names of software renderers."""
SAMPLES = 8
MOST_POLYGONS, MOST_PIXELS, FEW_PIXELS = 60_000, 1_000_000, 500_000
"""Limits of fast software rendering: above the first, simplified meshes are used; above the second, a smaller picture
is enlarged; above both, the third limits the pixels."""


def renderer_name_of(window: vtkRenderWindow) -> str:
    """Return the OpenGL renderer's name, after a first render; "" if unknown."""
    for line in window.ReportCapabilities().splitlines():
        if "renderer string" in line.lower():
            return str(line.partition(":")[2]).strip()
    return ""


def quality_of_renderer(renderer_name: str) -> Quality:
    """Return the quality for a renderer of this name; plain for an unknown one."""
    name = renderer_name.lower()
    return "plain" if not name or any(word in name for word in SOFTWARE) else "fine"


def share(size: tuple[int, int], polygons: int) -> float:
    """Return the resolution, along each side, at which a fast picture of this size and number of polygons is rendered
    before it is enlarged."""
    most = FEW_PIXELS if polygons > MOST_POLYGONS else MOST_PIXELS
    return min(1.0, sqrt(most / (size[0] * size[1])))


def apply(
    quality: Quality, window: vtkRenderWindow, back: vtkRenderer, front: vtkRenderer, corner: vtkRenderer, size: float
) -> None:
    """Set up window and renderers; `size` (m) is that of the machine, for the range of the occlusion."""
    window.SetMultiSamples(SAMPLES if quality == "picture" else 0)
    smooth(quality, False, front, corner)
    back.SetUseSSAO(quality == "fine")
    if quality == "fine":
        back.SetSSAORadius(0.08 * size)
        back.SetSSAOBias(0.003 * size)
        back.SetSSAOKernelSize(48)
        back.SetSSAOBlur(True)


def smooth(quality: Quality, hasty: bool, front: vtkRenderer, corner: vtkRenderer) -> None:
    """Anti-alias the finished picture, except a fast one for which this would halve the frame rate."""
    wanted = quality == "fine" or (quality == "plain" and not hasty)
    front.SetUseFXAA(wanted)  # the front layer is drawn over the machine: this smooths what is behind it too
    corner.SetUseFXAA(wanted)
