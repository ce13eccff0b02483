"""Planar linkages with one degree of freedom that path synthesis tries: ordinary models with lengths as parameters.

Linkages lie in the plane x–z, as people draw them. The crank has length `a` and turns about the ground's origin; what
follows has lengths, and points given along and across its link. A ground body carries place and turn (`x0`, `z0`,
`turn`), so that a result stands where the curve is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import ModelError, suggest_names
from core.model import Body, Capsule, Frame, Joint, Material, Model, Parameter, Pose

Array = NDArray[np.float64]
AXIS = (0.0, -1.0, 0.0)
DRIVEN, POINT, GROUND = "crank_pin", "curve_point", "ground"
PLACE = ("x0", "z0", "turn")
LONGEST = 8.0
"""Longest link of an atlas, in crank lengths."""
DENSITY = 7850.0
At = tuple[str, str]
"""Point of a link (coordinates along and across it), as formulas of parameters."""
O: At = ("0", "0")


class TopologyJoint(NamedTuple):
    """Joint between points of two links; `kind` is continuous, revolute or prismatic (along the parent's x)."""

    name: str
    parent: str
    child: str
    at: At = O
    on: At = O
    kind: str = "revolute"


class Topology(NamedTuple):
    """Topology of a planar linkage.

    lengths : positive shape parameters beside the crank's `a`; places : those of either sign
    links : the corners of each link, drawn as bars; carrier : the link whose point (px, py) draws
    """

    name: str
    title: str
    lengths: tuple[str, ...]
    places: tuple[str, ...]
    links: Mapping[str, tuple[At, ...]]
    pins: tuple[TopologyJoint, ...]
    carrier: str
    grashof: bool = False

    @property
    def shape(self) -> tuple[str, ...]:
        """Names of the shape parameters: those that similarity and phase do not determine."""
        return (*self.lengths, *self.places)

    def model(self, values: Mapping[str, float], *, drawn: bool = True) -> Model:
        """Build the machine with these parameters (SI); drawn : with steel bars, otherwise without masses, geometry and
        placement parameters."""
        places = dict.fromkeys(PLACE, 0.0) if drawn else {}
        numbers = {"a": 1.0, **dict.fromkeys(self.shape, 1.0), **places, **values}
        sizes = {name: "angle" if name == "turn" else "length" for name in numbers}
        parameters = tuple(Parameter(name=n, value=float(x), dimension=sizes[n]) for n, x in numbers.items())
        longest = max(abs(numbers[name]) for name in ("a", *self.lengths))
        bodies = tuple(_build_body(name, corners, 0.012 * longest, drawn) for name, corners in self.links.items())
        colours = ((0.93, 0.5, 0.16, 1.0), (0.66, 0.69, 0.72, 1.0), (0.25, 0.46, 0.7, 1.0))
        base = Pose(position=("x0", 0.0, "z0"), rotation=(0.0, "-turn", 0.0)) if drawn else Pose()
        point = Pose(position=("px", 0.0, "py"))
        return Model(
            name=self.title,
            parameters=parameters,
            materials=tuple(map(_build_material, ("signal", "steel", "blue"), colours)) if drawn else (),
            bodies=(Body(name=GROUND), *bodies),
            frames=(Frame(name=POINT, parent=self.carrier, pose=point),),
            joints=(
                Joint(name="base", kind="fixed", parent="world", child=GROUND, a=base),
                *map(_build_joint, self.pins),
            ),
        )

    def draw_random_shapes(self, rng: np.random.Generator, count: int) -> Array:
        """Draw (count, shape) random shapes in crank lengths; for four-bars only those whose crank rotates fully
        (Grashof)."""
        lengths = np.exp(rng.uniform(0.0, np.log(LONGEST), (count, len(self.lengths))))
        reach = np.exp(rng.uniform(0.0, np.log(4.0), (count, 1)))
        places = rng.uniform(-1.5, 1.5, (count, len(self.places))) * reach
        if "b" in self.lengths:
            places[:, -2:] = rng.uniform(-1.5, 1.5, (count, 2)) * lengths[:, :1]
        shapes = np.concatenate([lengths, places], axis=1)
        if self.grashof:
            bars = np.sort(np.concatenate([np.ones((count, 1)), lengths[:, :3]], axis=1), axis=1)
            shapes = shapes[bars[:, 0] + bars[:, 3] < 0.995 * (bars[:, 1] + bars[:, 2])]
        return np.asarray(shapes)


def _build_material(name: str, color: tuple[float, ...]) -> Material:
    return Material(name=name, color=color)


def _build_body(name: str, corners: tuple[At, ...], radius: float, with_geometry: bool) -> Body:
    if not with_geometry:
        return Body(name=name)
    material = {"crank": "signal", "coupler": "steel"}.get(name, "blue")
    pairs = [(corners[k], corners[(k + 1) % len(corners)]) for k in range(len(corners) if len(corners) > 2 else 1)]
    bars = tuple(_build_bar(start, end, radius, material) for start, end in pairs)
    return Body(name=name, density=DENSITY, shapes=bars)


def _build_bar(start: At, end: At, radius: float, material: str) -> Capsule:
    (x, z), (u, w) = start, end
    across, up = f"({u} - ({x}))", f"({w} - ({z}))"
    pose = Pose(
        position=(f"({u} + {x})/2", 0.0, f"({w} + {z})/2"), rotation=(0.0, f"pi/2 - atan2({up}, {across})", 0.0)
    )
    return Capsule(pose=pose, radius=radius, length=f"sqrt({across}^2 + {up}^2) + 1e-9", material=material)


def _build_joint(pin: TopologyJoint) -> Joint:
    a, b = (Pose(position=(each[0], 0.0, each[1])) for each in (pin.at, pin.on))
    axis = (1.0, 0.0, 0.0) if pin.kind == "prismatic" else AXIS
    return Joint(name=pin.name, kind=pin.kind, parent=pin.parent, child=pin.child, a=a, b=b, axis=axis)


_FOUR = (
    TopologyJoint(DRIVEN, GROUND, "crank", kind="continuous"),
    TopologyJoint("A", "crank", "coupler", ("a", "0")),
    TopologyJoint("rocker_pin", GROUND, "rocker", ("d", "0")),
    TopologyJoint("B", "coupler", "rocker", ("b", "0"), ("c", "0")),
)
_P: At = ("px", "py")
_E: At = ("ex", "ey")
_CRANK: tuple[At, ...] = (O, ("a", "0"))
_FOUR_LINKS: dict[str, tuple[At, ...]] = {"crank": _CRANK, "coupler": (O, ("b", "0")), "rocker": (O, ("c", "0"))}

TOPOLOGIES: dict[str, Topology] = {
    each.name: each
    for each in (
        Topology(
            "four_bar",
            "Four-bar linkage",
            ("b", "c", "d"),
            ("px", "py"),
            {**_FOUR_LINKS, "coupler": (O, ("b", "0"), _P)},
            _FOUR,
            "coupler",
            True,
        ),
        Topology(
            "slider_crank",
            "Slider-crank",
            ("b",),
            ("h", "px", "py"),
            {"crank": _CRANK, "coupler": (O, ("b", "0"), _P), "slider": (("-a/4", "0"), ("a/4", "0"))},
            (
                _FOUR[0],
                _FOUR[1],
                TopologyJoint("guide", GROUND, "slider", ("0", "h"), kind="prismatic"),
                TopologyJoint("B", "coupler", "slider", ("b", "0")),
            ),
            "coupler",
        ),
        Topology(
            "swinging_block",
            "Swinging block (inverted slider-crank)",
            ("d",),
            ("h", "px", "py"),
            {"crank": _CRANK, "coupler": (O, ("2*d", "0"), _P), "block": (("-a/4", "0"), ("a/4", "0"))},
            (
                _FOUR[0],
                _FOUR[1],
                TopologyJoint("block_pin", GROUND, "block", ("d", "0")),
                TopologyJoint("guide", "block", "coupler", ("0", "h"), kind="prismatic"),
            ),
            "coupler",
        ),
        Topology(
            "watt",
            "Watt's six-bar",
            ("b", "c", "d", "f", "g"),
            ("ex", "ey", "gx", "gy", "px", "py"),
            {
                **_FOUR_LINKS,
                "rocker": (O, ("c", "0"), _E),
                "link": (O, ("f", "0"), _P),
                "second_rocker": (O, ("g", "0")),
            },
            (
                *_FOUR,
                TopologyJoint("E", "rocker", "link", _E),
                TopologyJoint("second_pin", GROUND, "second_rocker", ("gx", "gy")),
                TopologyJoint("F", "link", "second_rocker", ("f", "0"), ("g", "0")),
            ),
            "link",
            True,
        ),
        Topology(
            "stephenson",
            "Stephenson's six-bar",
            ("b", "c", "d", "f", "g"),
            ("ex", "ey", "gx", "gy", "px", "py"),
            {
                **_FOUR_LINKS,
                "coupler": (O, ("b", "0"), _E),
                "link": (O, ("f", "0"), _P),
                "second_rocker": (O, ("g", "0")),
            },
            (
                *_FOUR,
                TopologyJoint("E", "coupler", "link", _E),
                TopologyJoint("second_pin", GROUND, "second_rocker", ("gx", "gy")),
                TopologyJoint("F", "link", "second_rocker", ("f", "0"), ("g", "0")),
            ),
            "link",
            True,
        ),
    )
}
"""Topologies by name."""


def topology_named(name: str) -> Topology:
    """Return a topology by name. Raises ModelError."""
    if name not in TOPOLOGIES:
        raise ModelError(f"There is no topology '{name}'.", where="topology", remedy=suggest_names(name, TOPOLOGIES))
    return TOPOLOGIES[name]
