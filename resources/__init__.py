"""Icons, examples and themes that ship with the program."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER / "examples"
ICONS = FOLDER / "icons"


class Example(NamedTuple):
    """A machine that ships with the program."""

    name: str
    title: str
    about: str
    path: Path

    @property
    def thumbnail(self) -> Path:
        """A picture of 320 × 240, drawn by `python -m viz.thumbnails`."""
        return EXAMPLES / "thumbnails" / f"{self.name}.png"


_TABLE = (
    ("puma560.kst", "PUMA 560", "The classic six-axis arm: standard DH table with its published inertial data"),
    ("kestrel/kestrel.urdf", "Kestrel", "A six-axis industrial arm as URDF with meshes"),
    ("panda.kst", "Panda", "A seven-axis arm: modified DH table with identified inertial data"),
    ("scara.kst", "SCARA", "Adept Cobra 600: two turning axes, a lift and a turning tool"),
    ("stanford.rob", "Stanford arm", "Robotica file: spherical arm with a sliding third joint"),
    ("two_link.rob", "Two-link planar arm", "Robotica file with symbols for lengths, masses and inertias"),
    ("pendulum.kst", "Pendulum", "One rod on one pin: the smallest machine"),
    ("four_bar.kst", "Four-bar linkage", "Grashof crank-rocker with a loop; its bar lengths are sliders"),
    ("slider_crank.kst", "Slider-crank", "Crank, connecting rod and piston in a loop"),
    ("dual_arm.kst", "Dual arm", "A tree with two branches: two arms on a turning torso, the right mirrors the left"),
    ("joint_kinds.kst", "All joint kinds", "One joint of every kind side by side, to take by the hand"),
)


def examples() -> tuple[Example, ...]:
    """The examples, in the order in which menus show them; the first opens when no file is given."""
    return tuple(Example(Path(file).stem, title, about, EXAMPLES / file) for file, title, about in _TABLE)
