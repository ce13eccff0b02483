"""Colours of the scene: a light and a dark palette, which have a colour for each key, and colour scales for values.

Scales are perceptually uniform: lightness grows with the value, readable with colour vision deficiency, too. `EVEN` are
colours of Viridis (S. van der Walt, N. Smith, 2015; CC0), of which light pictures leave out the lightest and dark ones
the darkest; `PARTED` goes from blue over grey to orange, for differences.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from core.later import dataclass
from viz.placement import Array

RGB = tuple[float, float, float]
LookName = Literal["light", "dark"]
Colour = str | tuple[float, ...]
"""Key of a palette ("joint", "body3" …), or red, green, blue and optionally opacity, each 0 … 1."""

BODY_HUES = 8
"""Number of muted hues that are used in turn for bodies without a material."""

_SHARED = {
    "accent": "1f7ae0",
    "hover": "5aa7f2",
    "dragged": "f5b400",
    "wrong": "d93a2b",
    "x": "d6453d",
    "y": "3f9e4d",
    "z": "3b6fd4",
}
_EVEN = ("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725")
_PARTED = ("1f5fa8", "5b93c7", "9dbad6", "b9bcc0", "d9b48f", "d1883f", "b35806")
SPAN: dict[LookName, tuple[float, float]] = {"light": (0.0, 0.9), "dark": (0.15, 1.0)}
"""Part of the colour scale `EVEN` that contrasts with the background."""


def parse_rgb(text: str) -> RGB:
    """Convert six hexadecimal digits to red, green, blue (0 … 1)."""
    return tuple(int(text[i : i + 2], 16) / 255.0 for i in (0, 2, 4))  # type: ignore[return-value]


def _build_palette(bodies: str, **named: str) -> Mapping[str, RGB]:
    table = {f"body{i}": parse_rgb(text) for i, text in enumerate(bodies.split())}
    table.update({name: parse_rgb(text) for name, text in named.items()})
    return MappingProxyType(table)


@dataclass(frozen=True)
class ColourScheme:
    """Colour scheme: a palette, and the strength of the lights."""

    name: LookName
    palette: Mapping[str, RGB]
    light: float
    """Factor on all lights."""
    grid_opacity: float

    def resolve_colour(self, colour: Colour) -> RGB:
        """Return red, green, blue of a palette key or a literal colour."""
        if isinstance(colour, str):
            return self.palette[colour]
        return colour[0], colour[1], colour[2]


LIGHT = ColourScheme(
    "light",
    _build_palette(
        "7f9db9 93ad8c b9a17f a58fb4 7fb0ae b48d8a 9a9fb5 a9ad86",
        **_SHARED,
        sky="f7f9fb",
        horizon="dfe5ec",
        haze="e9eef3",
        joint="566271",
        rod="c3cad2",
        ground="7d8794",
        grid="8b98a8",
        text="28323e",
        text_back="ffffff",
        com_light="ffffff",
        com_dark="1d232b",
        inertia="c98a3c",
        ghost="9fb0c3",
        trace="c2497e",
        handle="1f7ae0",
        handle_second="2f9d8f",
        handle_third="9a5fd0",
        limit="e07b1f",
        unreachable="d93a2b",
        singular="a03ad0",
        redundant="d93a2b",
        ellipsoid="3a8fb7",
        ellipsoid_force="c8553d",
        gravity="6a5acd",
        vector_force="d1372c",
        vector_torque="b0489f",
        vector_velocity="2a8f5b",
        vector_acceleration="c98a10",
        vector_omega="2b7fc4",
        spring="b8742a",
        damper="5f6c7b",
        wrench="c8553d",
        sensor="138496",
        constraint="7a52b3",
        driver="2e8b57",
        missing="d93a2b",
        cube="eef2f6",
        cube_hover="b9d7f7",
    ),
    light=1.0,
    grid_opacity=0.55,
)

DARK = ColourScheme(
    "dark",
    _build_palette(
        "7391b0 86a47f b2976f 9c86ae 74a8a6 ad8380 8e94ad 9fa37a",
        **(_SHARED | {"accent": "4aa3ff", "hover": "8cc4ff", "x": "e5665e", "y": "5dbb6a", "z": "6d97ee"}),
        sky="2c333c",
        horizon="171b20",
        haze="20252b",
        joint="aab4c0",
        rod="d5dbe2",
        ground="6f7986",
        grid="7b8794",
        text="e7ecf2",
        text_back="1c2127",
        com_light="ffffff",
        com_dark="0d1014",
        inertia="d99a4c",
        ghost="66788c",
        trace="f07bb0",
        handle="4aa3ff",
        handle_second="45c4b2",
        handle_third="b98af0",
        limit="f09a4a",
        unreachable="ff6a5c",
        singular="c98bff",
        redundant="ff6a5c",
        ellipsoid="58b4dd",
        ellipsoid_force="e8765c",
        gravity="9d90f5",
        vector_force="ff6f61",
        vector_torque="df86d2",
        vector_velocity="5fcf95",
        vector_acceleration="f0b94a",
        vector_omega="66b2f2",
        spring="e0a35a",
        damper="9aa7b5",
        wrench="e8765c",
        sensor="4fc3d6",
        constraint="b794f0",
        driver="5fcf8f",
        missing="ff6a5c",
        cube="3a434e",
        cube_hover="44658a",
    ),
    light=0.95,
    grid_opacity=0.4,
)

LOOKS: Mapping[str, ColourScheme] = MappingProxyType({"light": LIGHT, "dark": DARK})


EVEN = np.array([parse_rgb(each) for each in _EVEN])
PARTED = np.array([parse_rgb(each) for each in _PARTED])


def map_colours(values: ArrayLike, low: float, high: float, look: LookName, diverging: bool = False) -> Array:
    """Map values (n,) between low and high to red, green, blue (n, 3) in 0 … 1; infinite values get the colours of the
    ends.

    diverging : colours for differences, grey at zero
    """
    x = np.asarray(values, dtype=float)
    if diverging:
        reach = max(abs(low), abs(high), 1e-300)
        return _interpolate_colours(PARTED, 0.5 + 0.5 * np.clip(x / reach, -1.0, 1.0))
    width = high - low
    share = np.clip((x - low) / width, 0.0, 1.0) if width > 0.0 else np.full(x.shape, 0.5)
    first, last = SPAN[look]
    return _interpolate_colours(EVEN, first + (last - first) * np.nan_to_num(share))


def _interpolate_colours(table: Array, share: Array) -> Array:
    places = np.linspace(0.0, 1.0, len(table))
    return np.stack([np.interp(share, places, table[:, k]) for k in range(3)], axis=-1)
