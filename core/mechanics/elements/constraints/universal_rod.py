"""Massless rod with a universal joint at one end, so that it does not rotate about its axis."""

from core.mechanics.elements.constraints.rod import Rod


class UniversalRod(Rod):
    """Massless rod with a universal joint at one end. As its rotation transmits no force, its equation is that of a
    rod."""

    name, title = "universal_rod", "Rod, universal–spherical"
    help = (
        "A massless rod on a universal joint at a with the first axis `axis`, "
        "so that it cannot spin about its own axis."
    )
    uses = ("a", "b", "length", "axis")
    rank = 3
