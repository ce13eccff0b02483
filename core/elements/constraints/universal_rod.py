"""A massless rod that stands on one end with a universal joint: it does not turn about itself."""

from core.elements.constraints.rod import Rod


class UniversalRod(Rod):
    """It has no mass, so how it turns exerts nothing: its equation is that of a rod."""

    name = "universal_rod"


KIND = UniversalRod
