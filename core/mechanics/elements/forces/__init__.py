"""Force element kinds: the `KIND` of every module of this folder."""

from core.kinds import declared_objects
from core.mechanics.elements.element_kinds import ElementKinds
from core.mechanics.elements.forces.force_element import ForceElement
from core.model import FORCE_KINDS

FORCES: ElementKinds[ForceElement] = ElementKinds(
    "force", ForceElement, lambda: declared_objects(__name__, __path__, "KIND"), FORCE_KINDS
)
