"""Commands of the live manipulability ellipsoid."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command, Run
from app.viewport.ellipsoids import FIRST

if TYPE_CHECKING:
    from app.workbench import Workbench

MENU = "View/Manipulability"


def toggle(bench: Workbench) -> None:
    """Show or hide the ellipsoid."""
    bench.settings.remember("ellipsoid/shown", not bench.settings.value("ellipsoid/shown", False))


def _setter_of(key: str, value: object) -> Run:
    def take(bench: Workbench) -> None:
        bench.settings.remember(f"ellipsoid/{key}", value)
        bench.settings.remember("ellipsoid/shown", True)

    return take


_CHOICES = (
    ("kind", "velocity", "Velocity ellipsoid", "Velocities that joint speeds of unit norm give the frame."),
    ("kind", "force", "Force ellipsoid", "Forces that joint torques of unit norm can hold at the frame."),
    ("part", "translation", "Of translation", "Linear velocity, or force."),
    ("part", "rotation", "Of rotation", "Angular velocity, or torque."),
)

COMMANDS = (
    Command(
        "view.ellipsoid",
        "Manipulability ellipsoid",
        toggle,
        MENU,
        "E",
        "ellipsoid",
        checked=lambda w: bool(w.settings.value("ellipsoid/shown", False)),
        section="show",
        context=("bodies", "frames"),
        help="The ellipsoid of the selected body or frame, else of the tool, updated with every movement.",
    ),
    *(
        Command(
            f"view.ellipsoid_{value}",
            title,
            _setter_of(key, value),
            MENU,
            section=key,
            checked=lambda w, key=key, value=value: w.settings.value(f"ellipsoid/{key}", FIRST[key]) == value,
            help=text,
        )
        for key, value, title, text in _CHOICES
    ),
)
