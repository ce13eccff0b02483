"""Icons, examples, the font of formulas, and the list of system libraries that ship with the program."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent
EXAMPLES = FOLDER / "examples"
ICONS = FOLDER / "icons"
FORMULA_FONT = FOLDER / "fonts" / "STIXTwoMath-Regular.ttf"
"""Font of formulas, under the SIL Open Font License (`fonts/OFL.txt`)."""
SYSTEM_LIBRARIES = FOLDER / "system_libraries.txt"
"""System libraries required on Linux besides the wheels, read by `viz.system_libraries` and `.ci/setup`."""


def has_icon(name: str) -> bool:
    """True if there is a drawing of this name."""
    return bool(name) and (ICONS / f"{name}.svg").is_file()


class Example(NamedTuple):
    """A machine that ships with the program; `subject` is what it is an example of."""

    name: str
    subject: str
    title: str
    about: str
    path: Path

    @property
    def torques(self) -> tuple[Path, ...]:
        """Torque files made for it."""
        return tuple(EXAMPLES / "torques" / f"{name}.tau" for name in _TORQUES.get(self.name, ()))

    @property
    def traces(self) -> tuple[Path, ...]:
        """Motions with forces, of which the panel Identification finds its parameters."""
        return tuple(EXAMPLES / "traces" / f"{name}.csv" for name in _TRACES.get(self.name, ()))

    @property
    def run_settings(self) -> Mapping[str, float | str]:
        """Best run settings where they differ from the defaults: duration (s), method."""
        return _RUN_SETTINGS.get(self.name, {})

    @property
    def asked(self) -> tuple[str, Mapping[str, str]] | None:
        """The function of the catalogue, with its options, whose answer is shown when it is opened; None: none."""
        return _ASKED.get(self.name)

    @property
    def thumbnail(self) -> Path:
        """A picture of 320 × 240, drawn by `python -m viz.pictures.thumbnails`."""
        return EXAMPLES / "thumbnails" / f"{self.name}.png"


class Examples(tuple[Example, ...]):
    """The machines that ship, in the order in which menus show them. Printed as a list by subject."""

    __slots__ = ()

    def __repr__(self) -> str:
        width = max((len(each.name) for each in self), default=0)
        lines: list[str] = []
        for subject in dict.fromkeys(each.subject for each in self):
            lines += ["", subject]
            lines += [f"  {each.name:{width}}  {each.title}: {each.about}" for each in self if each.subject == subject]
        return "\n".join(lines[1:])


_TABLE = {
    "Robots": (
        (
            "puma560.kst",
            "PUMA 560",
            "The classic six-axis arm: standard DH, published inertial data, and a trace to identify it from",
        ),
        ("kestrel/kestrel.urdf", "Kestrel", "A six-axis industrial arm as URDF with meshes"),
        ("ur5.kst", "UR5", "Universal Robots' six-axis arm: standard DH table with its published masses"),
        ("panda.kst", "Panda", "A seven-axis arm: modified DH table with identified inertial data"),
        ("scara.kst", "SCARA", "Adept Cobra 600: two turning axes, a lift and a turning tool"),
        (
            "scara_mobile.kst",
            "SCARA, driven",
            "Inverse dynamics of the MOBILE guide: which torques does the motion need?",
        ),
        ("stewart.kst", "Stewart platform", "One leg in a file of its own, used six times"),
        (
            "sprung_arm.kst",
            "Sprung arm",
            "Springs bear its weight; opens with a map of how stiff it is wherever it reaches",
        ),
        (
            "tracking_arm.kst",
            "Tracking arm",
            "Computed torque along a motion, a discrete PID, and a load that the controller does not know",
        ),
        (
            "dual_arm.kst",
            "Dual arm",
            "A tree with two branches: two arms on a turning torso, the right mirrors the left",
        ),
    ),
    "Linkages": (
        ("four_bar.kst", "Four-bar linkage", "Grashof crank-rocker with a loop; its bar lengths are sliders"),
        (
            "four_bar_for_a_curve.kst",
            "Four-bar for a curve",
            "A wanted curve is kept with it: the panel Design finds linkages that follow it",
        ),
        ("slider_crank.kst", "Slider-crank", "Crank, connecting rod and piston in a loop"),
        ("quick_return.kst", "Quick return", "A pin in a slot: the shaper's ram goes slowly forth and quickly back"),
        ("watt_six_bar.kst", "Watt's six-bar", "The rocker of a four-bar is the crank of another"),
        ("stephenson_six_bar.kst", "Stephenson's six-bar", "A point of a four-bar's coupler drives two more links"),
        ("pantograph.kst", "Pantograph", "A parallelogram that draws twice as large: pull it by hand"),
        ("planetary_stage.kst", "Planetary stage", "Sun, planet, ring and arm: speeds follow Willis"),
        ("jansen_leg.kst", "Jansen's leg", "The leg of a beach animal: eight links, one motor"),
        ("spatial_four_bar.kst", "Spatial four-bar", "Six revolutes and a prismatic joint in one loop, at 300 °/s"),
        ("shaker.kst", "Shaker", "A skew crank shakes a coupler; closed by a ball joint (joint assembly)"),
        (
            "shaker_bodies.kst",
            "Shaker, by bodies",
            "Every body moves freely, each joint is a constraint (body assembly)",
        ),
        ("shaker_chord.kst", "Shaker, by a chord", "A measurement held at zero closes the loop (segment assembly)"),
        ("squeezer.kst", "Andrews' squeezer", "Seven bodies, three loops: the classic test of mechanism programs"),
        ("n_four_bar.kst", "N-four-bar", "Parallelograms that pass through collinear poses"),
        ("bricard.kst", "Bricard", "Six revolutes that move although counting forbids it"),
        ("flyball_governor.kst", "Flyball governor", "Watt's governor with stiff links: for implicit methods"),
    ),
    "Engines": (
        ("engine_v6.kst", "V6 engine", "Six loops on one crankshaft, all solved in closed form"),
        ("macpherson.kst", "MacPherson suspension", "Lower arm, strut, tie rod and a wheel on a wavy road"),
    ),
    "Dynamics": (
        ("pendulum.kst", "Pendulum", "One rod on one pin: the smallest machine"),
        ("damped_pendulum.kst", "Pendulum with damper", "Spring and damper as force elements in a pin"),
        (
            "governor_arm.kst",
            "Governor arm",
            "Which spring lets it swing once a second? The panel Design tunes it",
        ),
        ("braked_arm.kst", "Braked arm", "A brake closes, holds an arm against its weight, and lets it go"),
        ("clutch.kst", "Clutch", "It slips until a flywheel and its load turn alike, then holds"),
        ("block_on_block.kst", "Block on block", "Pulled ever harder: both stick, both slide, one stays behind"),
        ("belt_oscillator.kst", "Belt oscillator", "Stick and slip: a belt takes a block along until its spring wins"),
        (
            "bouncing_pendulum.kst",
            "Pendulum at a stop",
            "A rigid stop throws it back with a part of its speed, ever lower",
        ),
        ("ramp.kst", "Ramp", "A ball rolls down and knocks over a skittle; one block sticks, another slides"),
        ("double_pendulum.kst", "Double pendulum", "Modelica's two steel rods, released from the horizontal"),
        ("triple_pendulum.kst", "Triple pendulum", "Three rods: chaotic, yet its energy stays constant"),
        ("body_on_springs.kst", "Body on springs", "A free body hangs on two springs, without any joint"),
        ("three_springs.kst", "Three springs", "Line forces that meet at a point without mass"),
        ("point_gravity.kst", "Point gravity", "Two bodies around an attracting centre, as Kepler found"),
        (
            "forces.kst",
            "Forces, sensors and drivers",
            "Every kind of force, sensor, constraint and driver on one bench",
        ),
        ("joint_kinds.kst", "All joint kinds", "One joint of every kind side by side, to take by the hand"),
    ),
    "Robotica": (
        ("stanford.rob", "Stanford arm", "Robotica file: spherical arm with a sliding third joint"),
        ("one_link.rob", "One link", "Robotica file with a torque file: the link follows a sine"),
        (
            "two_link.rob",
            "Two-link planar arm",
            "Robotica file in symbols, with a torque file: its tip rounds a circle",
        ),
        ("three_link.rob", "Three-link arm", "Robotica file: two turning axes and a sliding one, for its ellipsoids"),
    ),
}
"""Subject → file, title and what there is to see."""


_RUN_SETTINGS: dict[str, dict[str, float | str]] = {
    "squeezer": {"duration": 0.03},
    "tracking_arm": {"duration": 7.0},
    "belt_oscillator": {"duration": 6.0},
    "flyball_governor": {"method": "radau"},
    "ramp": {"duration": 2.0},
}
_ASKED: dict[str, tuple[str, dict[str, str]]] = {"sprung_arm": ("workspace", {"kind": "stiffness"})}
_TRACES = {"puma560": ("puma560",)}
_TORQUES = {"one_link": ("sine_tracker",), "two_link": ("circle",)}


def is_example(path: Path) -> bool:
    """Return True if a file belongs to the examples, which are never written to."""
    return EXAMPLES.resolve() in path.resolve().parents


@cache
def examples() -> Examples:
    """The examples, subject by subject, in the order in which menus show them."""
    return Examples(
        Example(Path(file).stem, subject, title, about, EXAMPLES / file)
        for subject, rows in _TABLE.items()
        for file, title, about in rows
    )


def example_named(name: str) -> Example | None:
    """The example of this name; None if there is none."""
    return next((each for each in examples() if each.name == name), None)
