"""Textures of meshes, replaced by their mean colour; textures too large for memory are ignored."""

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
"""Attributes of materials that hold textures; the first two give their colour."""
MOST_PIXELS = 1 << 25
"""Maximum number of pixels of a texture; larger ones are dropped from their materials."""
FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TGA", "WEBP", "TIFF", None)
"""Supported formats of texture files and of images created by a reader. Others may call further programs."""


@cache
def limit_pictures() -> None:
    """Keep the mesh readers from decoding images that are too large or that need another program."""
    from PIL import EpsImagePlugin, Image

    Image.MAX_IMAGE_PIXELS = MOST_PIXELS // 2
    """Pillow refuses twice as many, and warns before."""
    warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
    EpsImagePlugin.gs_binary = False


def shrink_pictures(materials: Iterable[Any]) -> None:
    """Replace each texture by one pixel of its mean colour, before it is copied."""
    done: dict[int, Any] = {}
    for material in materials:
        for name in TEXTURES:
            image = getattr(material, name, None)
            if image is not None and id(image) not in done:
                done[id(image)] = image, _mean_pixel(image) if name in TEXTURES[:2] else None
            if image is not None:
                setattr(material, name, done[id(image)][1])


def _mean_pixel(image: Any) -> Any:
    """Return one pixel of the mean colour; None for an image that is too large or damaged."""
    width, height = image.size
    if image.format not in FORMATS or width * height > MOST_PIXELS:
        return None
    try:
        return image.convert("RGB").resize((1, 1))
    except Exception:  # readers of pictures raise whatever a broken one provokes
        return None
