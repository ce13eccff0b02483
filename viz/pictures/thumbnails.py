"""Render the thumbnails of the examples for menus: python -m viz.pictures.thumbnails."""

from __future__ import annotations

import numpy as np

from core.files import load
from core.mechanism import Mechanism
from resources import Example, examples
from viz.pictures.offscreen import render
from viz.pictures.picture_files import Pixels, write_png

SIZE = (320, 240)
FINER = 3
"""Supersampling factor: each pixel is the mean of FINER × FINER rendered pixels."""

POSES = {
    "stanford": {"joint1": 0.5, "joint2": -0.9, "joint3": 0.7, "joint5": 0.5},
    "one_link": {"joint1": 0.5},
    "two_link": {"joint1": 0.4, "joint2": 0.8},
    "three_link": {"joint1": 0.6, "joint2": 0.9, "joint3": 6.0},
}
"""Poses of examples whose reference configuration does not show them well (Robotica files contain no pose): coordinates
in rad or m."""


def render_thumbnail(example: Example) -> Pixels:
    """Render a picture (240, 320, 4) of an example."""
    mech = Mechanism(load(example.path))
    q = mech.move(mech.rest(), POSES.get(example.name, {}))
    fine = render(mech.model, q, mech=mech, size=(SIZE[0] * FINER, SIZE[1] * FINER), scale=FINER / 2)
    blocks = fine.reshape(SIZE[1], FINER, SIZE[0], FINER, 4).astype(np.float64)
    return np.rint(blocks.mean(axis=(1, 3))).astype(np.uint8)


def main() -> None:
    """Render the thumbnails of all examples."""
    for example in examples():
        example.thumbnail.parent.mkdir(exist_ok=True)
        write_png(render_thumbnail(example), example.thumbnail)
        print(example.thumbnail.name)


if __name__ == "__main__":
    main()
