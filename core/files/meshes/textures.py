"""Pictures on meshes: only their mean colour is taken, and only of pictures that can be held."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any

TEXTURES = (
    "baseColorTexture",
    "image",
    "emissiveTexture",
    "normalTexture",
    "occlusionTexture",
    "metallicRoughnessTexture",
)
"""Where materials keep pictures; the first two are their colour."""
MOST_PIXELS = 1 << 25
"""Of a picture whose mean is taken; materials with larger ones have no picture."""
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TGA", "WEBP", "TIFF", None)
"""Of pictures in files, and of those that a reader made itself. Others may call further programs."""


@cache
def bound_pictures() -> None:
    """No reader of meshes decodes a picture that is too large, or calls another program for one."""
    from PIL import EpsImagePlugin, Image

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2
    """Pillow refuses twice as many, and warns before."""
    warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
    EpsImagePlugin.gs_binary = False


def shrink_pictures(materials: Iterable[Any]) -> None:
    """Put one pixel of the mean colour for each picture, before copies of it are made."""
    done: dict[int, Any] = {}
    for material in materials:
        for name in TEXTURES:
            image = getattr(material, name, None)
            if image is not None and id(image) not in done:
                done[id(image)] = image, _mean(image) if name in TEXTURES[:2] else None
            if image is not None:
                setattr(material, name, done[id(image)][1])


def _mean(image: Any) -> Any:
    """One pixel of the mean colour; None for a picture that is too large or damaged."""
    width, height = image.size
    if image.format not in FORMATS or width * height > MOST_PIXELS:
        return None
    try:
        return image.convert("RGB").resize((1, 1))
    except Exception:  # readers of pictures raise whatever a broken one provokes
        return None
