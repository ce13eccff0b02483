"""Guided tours; each module in this package defines a `TOUR`."""

from app.tours import four_bar, two_link_arm, urdf_to_dh, workspace_tour
from app.tours.tour import Tour

TOURS: dict[str, Tour] = {each.TOUR.id: each.TOUR for each in (four_bar, two_link_arm, workspace_tour, urdf_to_dh)}
"""All tours by id."""

__all__ = ["TOURS", "Tour"]
