"""What others call our things finds ours, in the palette and in the help."""

import pytest
from PySide6.QtTest import QTest

from app.dialogs.help import HelpDialog
from app.dialogs.palette import CommandPalette
from app.document.session import ElementRef
from tests.app.conftest import fresh

NAMES = {
    "Revolute joint": "pin hinge pivot",
    "Prismatic joint": "slider slide guide rail",
    "Spherical joint": "ball, ball-and-socket",
    "Universal joint": "cardan Hooke",
    "Fixed joint": "weld rigid glue",
    "Screw joint": "helical, lead screw",
    "Ground this": "ground fix anchor earth",
    "Link": "link bar member body part",
    "Driver": "motor actuator input drive crank servo trajectory",
    "Connect": "mate constrain join attach assemble",
    "Move": "gizmo transform translate rotate place",
    "Draw": "linkage sketch sketcher mechanism",
    "Mobility": "DOF, freedom, mobility, Grübler, Kutzbach, Chebyshev, overconstrained, redundant, singularity, toggle",
    "Inverse kinematics": "IK reach goal",
    "Forward kinematics": "FK",
    "Inverse dynamics": "ID, required torque",
    "Simulate": "run play solve analyse start",
    "Stop simulating": "pause stop",
    "Mesh shape": "3D print, STL, CAD, mesh shape",
    "Euler–Lagrange dynamics in symbols": "equations of motion, EOM, Lagrange, Coriolis, Christoffel",
    "Mass matrix": "inertia matrix",
    "Path": "coupler curve, locus, path, trail",
    "Manipulability ellipsoid": "manipulability dexterity ellipsoid",
    "Linearise": "eigenfrequency, vibration, modal, modes, state space, ABCD",
    "Static equilibrium": "equilibrium trim",
    "Assembly branches": "branch, circuit, assembly mode, configuration",
    "Measure": "measure distance dimension ruler",
    "Lengths in millimetres": "units inch mm",
    "Angles in degrees": "degrees",
    "Export film": "video, movie, animation, record, record video",
    "Export picture": "screenshot",
    "Show panel Plots": "graph chart scope plot",
    "Parameter": "parameter variable",
    "Undo": "undo history, history",
    "Show panel Console": "macro journal code Python script",
    "Export plots": "CSV Excel",
    "Duplicate": "copy clone",
    "Sub-assembly": "instance import",
    "Dark": "dark mode, dark look",
    "Keyboard and mouse": "shortcut hotkey",
    "Spring": "spring elastic",
    "Damper": "dashpot damper",
    "Rod": "wire cable rope string rod",
    "Gear": "belt chain pulley timing gear",
    "Gravity": "weight gravity",
    "Reset pose": "home position, zero, reset joints",
    "Fit all": "zoom fit, zoom to fit",
    "Oblique": "isometric",
    "Frame": "TCP, coordinate system",
    "Material": "colour color transparent",
    "Quit": "exit close",
    "Open": "load, URDF, import MJCF",
    "Save as": "export URDF, convert",
    "Delete": "remove erase",
    "Mass properties": "center of gravity, weigh",
    "Licences": "license",
    "Store pose": "waypoint keyframe teach",
    "Controller": "computed torque,",
    "Configurations": "jog",
    "Singularities": "dead point,",
}
"""Title of what is meant → what people type for it: words, or with commas phrases."""
KEPT_BY_OTHERS = {"instance"}
"""What is a name of something else as well."""


def typed_names(title):
    texts = NAMES[title]
    return [typed.strip() for typed in (texts.strip(",").split(",") if "," in texts else texts.split())]


@pytest.fixture(scope="module")
def palette(shared_bench):
    """The palette with a machine open and a body of it selected; asking what it finds changes nothing."""
    fresh(shared_bench)
    shared_bench.example("four_bar")
    shared_bench.session.select(ElementRef("bodies", "crank"))
    palette = CommandPalette(shared_bench.window)
    yield palette
    palette.close()


@pytest.mark.parametrize("title", NAMES)
def test_what_others_call_it_finds_it_first(palette, title):
    for typed in typed_names(title):
        name, entry = palette.find_entries(typed)[0]
        assert entry.title == title or typed in KEPT_BY_OTHERS, (typed, entry.title)
        assert name in ("", entry.title, *entry.also)


def test_the_row_says_what_it_is_called_here(bench):
    bench.example("four_bar")
    palette = CommandPalette(bench.window)
    palette.open_palette()
    QTest.keyClicks(palette.line, "hinge")
    assert palette.list.item(0).text().startswith("Hinge — Revolute joint")
    palette.close()


def test_what_cannot_be_done_now_is_shown_so(bench):
    bench.example("four_bar")
    palette = CommandPalette(bench.window)
    palette.open_palette()
    QTest.keyClicks(palette.line, "video")
    item = palette.list.item(0)
    assert item.text().startswith("Video — Export film")
    assert item.text().endswith("not available now")
    QTest.keyClick(palette.line, "\r")
    assert palette.isVisible()
    palette.close()


@pytest.mark.parametrize(
    ("typed", "title"), [("four-bar", "Four-bar linkage"), ("fourbar", "Four-bar linkage"), ("hinge", "Revolute link")]
)
def test_the_help_finds_it(bench, typed, title):
    dialog = HelpDialog.open_topic(bench.window, "")
    dialog.search.setText(typed)
    shown = [dialog.list.item(i) for i in range(dialog.list.count())]
    assert title in [item.text() for item in shown if not item.isHidden()]
    assert not dialog.list.currentItem().isHidden()
    dialog.close()


def test_the_help_opens_an_example(bench):
    from PySide6.QtCore import QUrl

    bench.window.dialogs.open_help("example.four_bar")
    dialog = bench.window.findChildren(HelpDialog)[0]
    assert "Grashof" in dialog.text.toPlainText()
    dialog.text.anchorClicked.emit(QUrl("example:four_bar"))
    bench.wait(lambda: bench.session.model.name == "Four-bar linkage")
    dialog.close()
