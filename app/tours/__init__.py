"""Tours: each a file with a `TOUR`."""

from app.tours import four_bar, two_link_arm, urdf_to_dh, workspace_map
from app.tours.tour import Tour

TOURS: dict[str, Tour] = {each.TOUR.id: each.TOUR for each in (four_bar, two_link_arm, workspace_map, urdf_to_dh)}
"""Every tour by its id."""

__all__ = ["TOURS", "Tour"]
