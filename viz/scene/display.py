"""Display options of a scene."""

from __future__ import annotations

from core.later import dataclass
from viz.drawlist.item import Item, Ref

CHOSEN = ("frame", "force", "sensor", "mark")
"""Roles shown while their element is selected, even if a toggle hides them; not the axes of bodies, which are visible
themselves."""
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
"""Fields of `Display` that control the visibility of roles."""


@dataclass(frozen=True)
class Display:
    """Display options of a scene. `joints` : None draws them if bodies have no shapes."""

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
        """Return True if an item is visible while an element is selected."""
        if item.role == "joint":
            return item.shown if self.joints is None else self.joints
        if item.role in CHOSEN and item.ref is not None and item.ref == selected:
            return item.role != "frame" or selected[0] != "bodies" or self.frames
        return getattr(self, TOGGLES[item.role]) if item.role in TOGGLES else item.shown
