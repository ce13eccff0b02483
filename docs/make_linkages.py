"""Draws the linkages among the examples by the verbs that the tool Draw calls: python -m docs.make_linkages."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from core.design import linkage
from core.design.linkage import XZ, Drawing, On, Point, ground
from core.files import save
from core.model import Model
from core.model.edits.edits import change
from resources import EXAMPLES

JANSEN = dict(
    zip("abcdefghijklm", (38.0, 41.5, 39.3, 40.1, 55.8, 39.4, 36.7, 65.7, 49.0, 50.0, 61.9, 7.8, 15.0), strict=True)
)
"""Theo Jansen's numbers of his leg."""
SLIDE = 0.05
"""Share of a length by which its slider goes either way."""
JANSEN_UNIT = 0.004
"""m"""


def quick_return() -> Model:
    """Crank, slotted lever, connecting rod and ram."""
    model = Model(
        name="Quick return",
        description="The shaper's drive: a pin on the crank slides in a lever, which pushes the ram slowly one way and "
        "quickly back. The ratio of times follows from the angle that the crank turns in between.",
    )
    model = linkage.link(model, [(0.0, 0.15), (0.06, 0.15)], radius=0.006)
    model = linkage.link(model, [(0.0, 0.0), (0.12, 0.3)])
    model = linkage.slot(model, "link1", "link2")
    model = linkage.link(model, ["link2", (0.3, 0.32)])
    model = linkage.slider(model, "link3")
    return linkage.motor(model, "A")


def watt_six_bar() -> Model:
    """A four-bar whose rocker drives two more links to the ground."""
    model = Model(
        name="Watt's six-bar",
        description="Watt's chain, second kind: the rocker of a four-bar is the crank of another. The ternary links, "
        "rocker and ground, are neighbours.",
    )
    model = linkage.link(model, [(0.0, 0.0), (0.04, 0.05), (0.2, 0.16), ground(0.22, 0.0)], radius=0.006)
    model = linkage.link(model, [On("link3", (0.26, 0.1)), (0.42, 0.2), ground(0.44, 0.0)])
    return linkage.motor(model, "A")


def stephenson_six_bar() -> Model:
    """A four-bar whose coupler drives two more links to the ground."""
    model = Model(
        name="Stephenson's six-bar",
        description="Stephenson's chain, third kind: a point of a four-bar's coupler drives two more links. The "
        "ternary links, coupler and ground, are no neighbours; where the point moves on an arc, the last link rests.",
    )
    model = linkage.link(model, [(0.0, 0.0), (0.04, 0.04), (0.2, 0.12), ground(0.2, 0.0)], radius=0.006)
    model = linkage.link(model, [On("link2", (0.1, 0.18)), (0.34, 0.2), ground(0.4, 0.02)])
    return linkage.motor(model, "A")


def pantograph() -> Model:
    """A parallelogram that draws twice as large."""
    model = Model(
        name="Pantograph",
        description="A parallelogram on two arms: P2 draws twice as large what P1 is led along; pull it by hand. "
        "Two degrees of freedom.",
    )
    model = linkage.link(model, [(0.0, 0.0), (0.1, 0.2), (0.2, 0.0)], radius=0.005)
    model = linkage.link(model, [On("link1", (0.05, 0.1)), (0.1, 0.0), On("link2", (0.15, 0.1))])
    model = linkage.tracer(model, "link3", (0.1, 0.0))
    return linkage.tracer(model, "link2", (0.2, 0.0))


def planetary_stage() -> Model:
    """Sun, planet on an arm, and a ring that is held."""
    model = Model(
        name="Planetary stage",
        description="Sun (20 teeth), planet (40) on an arm, ring (100, inner). The ring stands on the ground, the arm "
        "is driven: by Willis the sun turns 1 + 100/20 = 6 times as fast.",
    )
    model = linkage.link(model, [(0.0, 0.0), (0.12, 0.0), (0.16, 0.0)], radius=0.006)
    model = linkage.link(model, ["A", (0.0, 0.035)])
    model = linkage.gears(model, "A", "B", (20, 40))
    model = linkage.gears(model, "A", "B", (-100, 40))
    return linkage.motor(model, "A")


def jansen_leg() -> Model:
    """One leg of a beach animal."""
    model = Model(
        name="Jansen's leg",
        description="One leg of Theo Jansen's beach animals, eight links with his numbers. The foot P1 moves nearly "
        "straight while it stands.",
    )
    place = jansen_points()
    model = linkage.link(model, [place["O"], place["M"], place["Y"], ground(*place["B"])], radius=0.006)
    model = linkage.link(model, ["B", place["W"], "D"])
    knee = pin_at(model, place["W"])
    model = linkage.link(model, [On("link3", place["X"]), place["V"], knee])
    model = linkage.corner(model, "link7", place["F"])
    return linkage.motor(model, "A")


def jansen_points() -> dict[str, Point]:
    """The pins of the leg, crank to the right, m."""
    s = {name: JANSEN_UNIT * length for name, length in JANSEN.items()}
    crank, base = (s["m"], 0.0), (-s["a"], -s["l"])
    upper = _meeting(crank, s["j"], base, s["b"], above=True)
    lower = _meeting(crank, s["k"], base, s["c"], above=False)
    outer = _meeting(base, s["d"], upper, s["e"], left=True)
    knee = _meeting(outer, s["f"], lower, s["g"], left=True)
    foot = _meeting(knee, s["h"], lower, s["i"], above=False)
    return {"O": (0.0, 0.0), "M": crank, "B": base, "Y": upper, "W": lower, "X": outer, "V": knee, "F": foot}


def _meeting(p: Point, r: float, q: Point, s: float, *, above: bool | None = None, left: bool | None = None) -> Point:
    """Where the circle of radius r about p meets that of radius s about q: the point above or below, left or right."""
    d = math.dist(p, q)
    u, v = (q[0] - p[0]) / d, (q[1] - p[1]) / d
    along = (r * r - s * s + d * d) / (2.0 * d)
    aside = math.sqrt(r * r - along * along)
    points = [(p[0] + along * u - k * aside * v, p[1] + along * v + k * aside * u) for k in (1.0, -1.0)]
    if left is not None:
        return min(points) if left else max(points)
    return max(points, key=lambda point: point[1] if above else -point[1])


def pin_at(model: Model, point: Point) -> str:
    """The name of the pin at a point."""
    return next(Drawing(model, XZ).pins_at(point, 1e-6)).name


DRAWN: Mapping[str, Callable[[], Model]] = {
    each.__name__: each
    for each in (quick_return, watt_six_bar, stephenson_six_bar, pantograph, planetary_stage, jansen_leg)
}
"""Name of the file → what draws it."""


def with_sliders(model: Model) -> Model:
    """The model with bounds of the sliders of its lengths, within which its loops close."""
    for parameter in model.parameters:
        if isinstance(parameter.value, float):
            low, high = sorted(round(share * parameter.value, 6) for share in (1.0 - SLIDE, 1.0 + SLIDE))
            model = change(model, "parameters", parameter.name, minimum=low, maximum=high)
    return model


def main() -> None:
    """Write all of them."""
    for name, draw in DRAWN.items():
        path = Path(EXAMPLES, f"{name}.kst")
        save(with_sliders(draw()), path)
        print(path.name)


if __name__ == "__main__":
    main()
