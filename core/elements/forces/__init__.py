"""Force elements: the family of their kinds, the `KIND` of every file here."""

from core.elements.forces.force_element import ForceElement
from core.kinds import Kinds, declared_in
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
    ForceElement,
    *declared_in(__name__, __path__, "KIND"),
    check=lambda kind: kind.check(),
)
