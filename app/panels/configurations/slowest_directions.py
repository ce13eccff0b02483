"""Nearness of a frame to a singular pose: its speed in the slowest direction as a share of its greatest speed."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from core.analysis.manipulability import Part, manipulability, velocity_dimension
from core.errors import KinetostatError
from core.mechanism import Mechanism

NEARLY_LOST = 0.05
"""Share of the greatest speed below which a pose counts as nearly singular."""
PARTS: tuple[Part, ...] = ("translation", "rotation")


class SlowestDirections:
    """Slowest direction of translation and of rotation of a frame, for unit joint speeds, at the poses of a machine."""

    def __init__(self, mech: Mechanism, frame: str, p: Mapping[str, float]) -> None:
        self.mech, self.frame = mech, frame
        self._dimensions = {part: velocity_dimension(mech, frame, part, p) for part in PARTS}

    def shares(self, q: NDArray[np.float64], p: Mapping[str, float]) -> dict[Part, tuple[float, NDArray[np.float64]]]:
        """Return, for each part in which the frame moves in several directions, the least speed as a share of the
        greatest, and its direction (3,), world axes."""
        found = {}
        for part, m in self._dimensions.items():
            if m < 2:
                continue
            each = manipulability(self.mech, q, self.frame, part=part, p=p, m=m)
            greatest = float(each.singular[0])
            if greatest > 0.0 and np.isfinite(greatest):
                found[part] = float(each.singular[m - 1]) / greatest, each.axes[:, m - 1]
        return found

    def describe(self, q: NDArray[np.float64], p: Mapping[str, float]) -> tuple[str, str]:
        """Return the shares as a sentence, and its severity; "" where they cannot be computed."""
        try:
            shares = self.shares(q, p)
        except KinetostatError:
            return "", ""
        words = []
        for part, (share, e) in shares.items():
            along = "along" if part == "translation" else "about"
            direction = ", ".join(f"{x + 0.0:.2f}" for x in np.round(e, 2))
            words.append(f"{part} {100.0 * share:.2g} % {along} ({direction})")
        if not words:
            return "", ""
        near = any(share < NEARLY_LOST for share, _ in shares.values())
        return f"{'Near a singular pose. ' if near else ''}Slowest: {'; '.join(words)}", "warning" if near else ""
