"""Names of the open machine for examples in hints, so that what a hint shows can be typed."""

from __future__ import annotations

from typing import NamedTuple

from core.analysis.tool_frame import tool_frame
from core.mechanism import Mechanism


class ExampleNames(NamedTuple):
    """A joint with the names `joint.q`, `joint.v`, `joint.tau`, its physical dimension, and a movable frame; "" for
    what the machine does not have."""

    joint: str = ""
    frame: str = ""
    dimension: str = ""

    @classmethod
    def of(cls, mech: Mechanism | None) -> ExampleNames:
        """Return example names of a machine; empty names for None."""
        if mech is None or not mech.nv:
            return cls()
        found = next((each for each in mech.coordinates if each.name in mech.v_names and _in_formulas(each.name)), None)
        frame = tool_frame(mech.model)
        return cls(
            found.name if found is not None else "",
            frame if frame in mech.frame_names and _in_formulas(frame) else "",
            found.dimension if found is not None else "",
        )

    def hint(self, *examples: str, begin: str = "", end: str = " …") -> str:
        """Return examples joined by commas, with {joint} and {frame} replaced by names; examples without a name are
        left out, and `begin` alone remains if none is left."""
        said = [
            each.format(joint=self.joint, frame=self.frame)
            for each in examples
            if (self.joint or "{joint}" not in each) and (self.frame or "{frame}" not in each)
        ]
        return f"{begin}{': ' if begin else ''}{', '.join(said)}{end}" if said else begin


def _in_formulas(name: str) -> bool:
    """Return True if formulas may use a name; coordinates of joints with several, such as "foot.1", cannot be used."""
    return all(part.isidentifier() for part in name.split("."))
