"""Massless rod with a universal joint at one end, so that it does not rotate about its axis."""

from core.mechanics.elements.constraints.rod import Rod


class UniversalRod(Rod):
    """Massless rod with a universal joint at one end. As its rotation transmits no force, its equation is that of a
    rod."""

    name = "universal_rod"


KIND = UniversalRod
