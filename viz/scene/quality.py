"""How finely the scene is drawn: plain where the processor draws (software OpenGL), fine where a graphics chip does."""

from __future__ import annotations

from math import sqrt
from typing import Literal

from vtkmodules.vtkRenderingCore import vtkRenderer, vtkRenderWindow

Quality = Literal["plain", "fine", "picture"]
"""plain: smoothed edges only; fine: ambient occlusion too; picture: many samples per pixel, for pictures that may
take their time on any machine."""

SOFTWARE = ("llvmpipe", "softpipe", "swr", "swiftshader", "software", "basic render", "gdi generic")
"""Words in the names of software renderers."""
SAMPLES = 8
MOST_POLYGONS, MOST_PIXELS, FEW_PIXELS = 60_000, 1_000_000, 500_000
"""What the processor draws in haste: of more polygons stand-ins, of a larger picture a smaller one, enlarged; of both
fewer pixels still."""


def drawn_by(window: vtkRenderWindow) -> str:
    """The OpenGL renderer's name, after a first render; "" if it does not say."""
    for line in window.ReportCapabilities().splitlines():
        if "renderer string" in line.lower():
            return str(line.partition(":")[2]).strip()
    return ""


def quality_for(renderer_name: str) -> Quality:
    """What a renderer of this name can carry; one without a name is not trusted with much."""
    name = renderer_name.lower()
    return "plain" if not name or any(word in name for word in SOFTWARE) else "fine"


def share(size: tuple[int, int], polygons: int) -> float:
    """The share of width and height that a hasty picture of this size, of a machine with so many polygons, has before
    it is enlarged."""
    most = FEW_PIXELS if polygons > MOST_POLYGONS else MOST_PIXELS
    return min(1.0, sqrt(most / (size[0] * size[1])))


def apply(
    quality: Quality, window: vtkRenderWindow, back: vtkRenderer, front: vtkRenderer, corner: vtkRenderer, size: float
) -> None:
    """Set up window and renderers; `size` (m) is that of the machine, for the reach of the occlusion."""
    window.SetMultiSamples(SAMPLES if quality == "picture" else 0)
    smooth(quality, False, front, corner)
    back.SetUseSSAO(quality == "fine")
    if quality == "fine":
        back.SetSSAORadius(0.08 * size)
        back.SetSSAOBias(0.003 * size)
        back.SetSSAOKernelSize(48)
        back.SetSSAOBlur(True)


def smooth(quality: Quality, hasty: bool, front: vtkRenderer, corner: vtkRenderer) -> None:
    """Smooth the edges of the finished picture, except of a hasty one where smoothing would halve the picture rate."""
    wanted = quality == "fine" or (quality == "plain" and not hasty)
    front.SetUseFXAA(wanted)  # the front layer is drawn over the machine: this smooths what is behind it too
    corner.SetUseFXAA(wanted)
