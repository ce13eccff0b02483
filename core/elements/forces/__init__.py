"""Force elements: the family of their kinds."""

from core.elements.forces.along_sensor import MeasureForce
from core.elements.forces.force_element import ForceElement
from core.elements.forces.in_joint import JointForce
from core.elements.forces.in_series import SeriesForce
from core.elements.forces.line import LineForce
from core.elements.forces.wrench import WrenchForce
from core.kinds import Kinds
from core.model import FORCE_KINDS


class Forces(Kinds[ForceElement]):
    """A kind enters with what the document says of it."""

    def add(self, kind: type[ForceElement]) -> type[ForceElement]:
        """See `Kinds`."""
        super().add(kind)
        FORCE_KINDS[kind.name] = kind.in_document()
        return kind


FORCES = Forces(
    "force",
    ForceElement,  # type: ignore[type-abstract]
    WrenchForce,
    LineForce,
    SeriesForce,
    MeasureForce,
    JointForce,
    check=lambda kind: kind.check(),
)
