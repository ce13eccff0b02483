"""Interface of all drivers: constraints whose value is a function of time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from core.errors import ModelError
from core.mechanics.elements.constraints.kinematic_constraint import KinematicConstraint, Target
from core.mechanics.elements.drivers.driver_functions import Motion, target_on_level
from core.mechanics.elements.resolver import Resolver
from core.model import Driver
from core.numerics.spatial.scalar import Scalar


class DriverElement(KinematicConstraint):
    """Driver of the document. Each kind is one class, selected by the document's field that names the driven
    quantity."""

    name: ClassVar[str]
    motion: Motion

    @classmethod
    @abstractmethod
    def read(cls, driver: Driver, motion: Motion, machine: Resolver) -> DriverElement:
        """Read a driver of the document. Raises ModelError."""

    def targets(self, t: Sequence[Scalar]) -> list[Target]:
        """Return the value of the driver's function."""
        return [target_on_level(self.motion(t), self.rows[0].level)]


def component_of(words: Sequence[str], wanted: str, owner: str, where: str) -> int:
    """Return the index of the component that a `coordinate` field names. Raises ModelError."""
    if len(words) == 1 and wanted in ("", words[0]):
        return 0
    if wanted in words:
        return list(words).index(wanted)
    raise ModelError(
        f"The driven coordinate of '{owner}' is not specified.",
        where=f"{where}, coordinate",
        remedy=f"Choose one of {', '.join(words)}.",
    )
