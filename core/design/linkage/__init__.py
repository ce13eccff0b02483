"""Planar linkages drawn from pivot to pivot. The functions take a Model and plain values and return the edited Model.

The tool Draw calls only these; what they make is the ordinary document. Lengths in m, angles in rad; a length may be a
formula. Points are (u, v) of a plane, names of pins, links and frames, or `On(body, point)`.

    from kinetostat import linkage
    model = linkage.link(ks.Model(name="four-bar"), [(0, 0), (0.03, 0.1), (0.3, 0.2), linkage.ground(0.32, 0)])
    model = linkage.motor(model, "A")
"""

from core.design.linkage.additions import gears, mass_point, motor, spring, tracer
from core.design.linkage.closing import as_drawn
from core.design.linkage.drawing import Drawing, On, ground
from core.design.linkage.drawn_links import corner, ground_pin, link, slider, slot, with_link
from core.design.linkage.plane import PLANES, XY, XZ, YZ, Plane, Point, plane_at, plane_on, plane_through
from core.design.linkage.reshaping import dimension, flipped, ground_distance, link_angle, moved_pin, named_dimension

__all__ = [
    "PLANES",
    "XY",
    "XZ",
    "YZ",
    "Drawing",
    "On",
    "Plane",
    "Point",
    "as_drawn",
    "corner",
    "dimension",
    "flipped",
    "gears",
    "ground",
    "ground_distance",
    "ground_pin",
    "link",
    "link_angle",
    "mass_point",
    "motor",
    "moved_pin",
    "named_dimension",
    "plane_at",
    "plane_on",
    "plane_through",
    "slider",
    "slot",
    "spring",
    "tracer",
    "with_link",
]
