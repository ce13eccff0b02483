"""Names for the examples in hints: those of the machine that is open, so that what a hint shows can be typed."""

from __future__ import annotations

from typing import NamedTuple

from core.analysis.tool_frame import tool_frame
from core.mechanism import Mechanism


class ExampleNames(NamedTuple):
    """A joint whose coordinate, speed and force are called `joint.q`, `joint.v`, `joint.tau`, what it measures, and a
    frame that moves; "" for what the machine has not."""

    joint: str = ""
    frame: str = ""
    dimension: str = ""

    @classmethod
    def of(cls, mech: Mechanism | None) -> ExampleNames:
        """Of a machine; None: of none."""
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
        """Examples in which {joint} and {frame} stand for names, with commas; those whose names the machine has not
        are left out. `begin` alone where nothing is left."""
        said = [
            each.format(joint=self.joint, frame=self.frame)
            for each in examples
            if (self.joint or "{joint}" not in each) and (self.frame or "{frame}" not in each)
        ]
        return f"{begin}{': ' if begin else ''}{', '.join(said)}{end}" if said else begin


def _in_formulas(name: str) -> bool:
    """Whether a formula may name it: of a joint of several coordinates, as "foot.1", none is named so."""
    return all(part.isidentifier() for part in name.split("."))
