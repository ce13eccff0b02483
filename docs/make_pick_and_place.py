"""The picture of docs/pick_and_place.md: `python -m docs.make_pick_and_place FOLDER` runs the page's script and draws
the arm at four of its places, with the path of its tool."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import kinetostat as ks
from docs.make_small import small
from viz.pictures.offscreen import render

PAGE = Path(__file__).parent / "pick_and_place.md"
SEGMENTS = (0, 1, 3, 6)
"""Segments at whose beginning the arm is drawn."""
CARRIED = (3, 4, 5, 6)
"""Segments during which the part is carried."""
SIZE, FINER = 400, 2
"""Pixels of one picture, and of those rendered for each."""
MARKS = 90
"""Number of points on the path."""


def run_script(text: str) -> dict[str, Any]:
    """Run the blocks of Python on the page, one after another; returns their names."""
    names: dict[str, Any] = {}
    exec(compile("\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL)), PAGE.name, "exec"), names)
    return names


def draw(cell: ks.Model, path: Any, segment: int) -> Image.Image:
    """Draw the arm at the beginning of a segment, with the path of the tool and the part."""
    points = path.tool(np.linspace(0.0, path.duration, MARKS))[0][:, :3, 3]
    dots = tuple(
        ks.Sphere(radius=0.006, pose=ks.Pose(position=tuple(map(float, point))), color=(0.93, 0.5, 0.16, 1.0))
        for point in points
    )
    cube = (ks.Box(size=(0.09, 0.09, 0.09), color=(0.93, 0.5, 0.16, 1.0)),)
    place = next(target for target in cell.targets if target.name == "at_box").pose
    carried = segment in CARRIED
    bodies = (ks.Body(name="marks", shapes=dots), ks.Body(name="part", shapes=cube))
    joints = (
        ks.Joint(name="drawn", kind="fixed", parent="world", child="marks"),
        ks.Joint(
            name="held",
            kind="fixed",
            parent="tool" if carried else "world",
            child="part",
            a=ks.Pose(position=(0.0, 0.0, 0.05)) if carried else replace(place, position=(*place.position[:2], 0.07)),
        ),
    )
    drawn = ks.Mechanism(replace(cell, bodies=(*cell.bodies, *bodies), joints=(*cell.joints, *joints), motions=()))
    q = path.at(path.pieces[segment].start)[0]
    pixels = render(drawn.model, q, mech=drawn, size=(SIZE * FINER,) * 2, scale=FINER)
    return Image.fromarray(pixels[:, :, :3]).resize((SIZE, SIZE), Image.Resampling.LANCZOS)


def main(folder: Path) -> None:
    """The command."""
    names = run_script(PAGE.read_text(encoding="utf-8"))
    whole = Image.new("RGB", (2 * SIZE, 2 * SIZE))
    for k, segment in enumerate(SEGMENTS):
        whole.paste(draw(names["cell"], names["path"], segment), (SIZE * (k % 2), SIZE * (k // 2)))
    (folder / "pick_and_place.webp").write_bytes(small(whole))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
