"""What a scene shows besides the machine itself."""

from __future__ import annotations

from core.later import dataclass
from viz.drawlist.item import Item, Ref

CHOSEN = ("frame", "force", "sensor", "mark")
"""Roles that are shown while their element is selected, also where a toggle hides them; not the axes of bodies, which
are seen themselves."""
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
"""Role of items → the field of `Display` that shows them."""


@dataclass(frozen=True)
class Display:
    """What is shown besides the machine itself. `joints`: None draws them where bodies have no shapes."""

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
    """Whether links of planar machines are drawn side by side."""

    def shows(self, item: Item, selected: Ref | None = None) -> bool:
        """Whether an item is to be seen while an element is selected."""
        if item.role == "joint":
            return item.shown if self.joints is None else self.joints
        if item.role in CHOSEN and item.ref is not None and item.ref == selected:
            return item.role != "frame" or selected[0] != "bodies" or self.frames
        return getattr(self, TOGGLES[item.role]) if item.role in TOGGLES else item.shown
