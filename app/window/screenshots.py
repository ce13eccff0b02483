"""Make the pictures of the window for the README: `python -m app.window.screenshots FOLDER`.

Opens the real window on the present screen (also a virtual one), light and dark, and grabs it.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from math import radians
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QPixmap

from resources import examples

if TYPE_CHECKING:
    from app.window.window import Window

SIZE = (1480, 920)
PATIENCE = 40.0
"""Seconds to wait for a file to open."""


def pump(until: Callable[[], bool] = lambda: False, seconds: float = 0.4) -> None:
    """Process events until a condition is true, or for some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.005)


def open_example(window: Window, name: str) -> None:
    """Open an example and wait until it is shown."""
    from core.model import Model

    path = next(example.path for example in examples() if example.name == name)
    window.session.start(Model(name="untitled"))  # what the scene before changed is not asked about
    window.files.start_example(path)
    pump(lambda: not window.files.opening.busy, PATIENCE)
    pump()


def grab(window: Window) -> QPixmap:
    """Return a picture of the window, including its 3-D view."""
    pump(seconds=2.0)
    return window.grab()


def pose(window: Window, *values: float) -> None:
    """Set the machine's coordinates in degrees, or metres for sliding joints."""
    session = window.session
    given = zip(session.mech.coordinates, values, strict=True)
    session.preview_coordinates({c.name: radians(x) if c.dimension == "angle" else x for c, x in given})
    session.commit("Pose")


def run(window: Window, function: str) -> None:
    """Run a function of the catalogue with its present options."""
    window.panels.choose_function(function)
    if window.functions.run() is not None:
        pump(lambda: not window.jobs.running, PATIENCE)


def puma(window: Window) -> None:
    """Show the PUMA with a joint's handle, the ellipsoid, and the mass matrix in the output."""
    from app.document.revision import Ref

    open_example(window, "puma560")
    session = window.session
    pose(window, 20.0, 50.0, -165.0, 0.0, 40.0, 0.0)
    window.settings.remember("ellipsoid/shown", True)
    session.select(Ref("joints", session.mech.coordinates[1].joint))
    run(window, "mass_matrix")
    window.docks.show("output")
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def engine(window: Window) -> None:
    """Show the V6 engine in the middle of a run, with joint forces and plots."""
    from app.plotting.curves import Plot
    from core.simulation import simulate

    window.settings.remember("ellipsoid/shown", False)
    open_example(window, "engine_v6")
    session = window.session
    session.runs.add(simulate(session.mech, 0.3, output=0.0005))
    window.run("vectors.force")
    session.runs.seek(0.21)
    session.select(None)
    window.docks.show("tree")
    window.docks.show("plots")
    window.plots.picker.hide()
    window.plots.add_plot(Plot(("shaft.v",)))
    window.plots.add_plot(Plot(("cylinder1.q", "cylinder2.q", "cylinder3.q")))
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def meshes(window: Window) -> None:
    """Show the URDF arm with meshes, a selected link, and the DH table found for it."""
    from PySide6.QtCore import Qt

    from app.document.revision import Ref

    window.settings.remember("ellipsoid/shown", False)
    open_example(window, "kestrel")
    pose(window, 30.0, 25.0, 40.0, 0.0, 45.0, 0.0)
    session = window.session
    session.select(Ref("bodies", "base_link"))
    run(window, "fit_dh_table")
    window.docks.show("tree")
    window.docks.show("output")
    window.resizeDocks([window.docks.docks["output"]], [310], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def mobility(window: Window) -> None:
    """Show the degrees of freedom and redundant constraints of a four-bar, by its joint names and in the scene."""
    open_example(window, "four_bar")
    window.docks.show("functions")
    run(window, "mobility")
    window.docks.show("output")
    pump(lambda: window.player.playing, PATIENCE)
    window.run("play.toggle")
    window.run("play.last")
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def derivation(window: Window) -> None:
    """Show the derivation replay at a column of the Stanford arm's Jacobian."""
    from PySide6.QtCore import Qt

    open_example(window, "stanford")
    pose(window, 30.0, 60.0, 0.4, 15.0, 45.0, 0.0)
    window.run("derivation.replay")
    panel = window.derivation
    panel.list.setCurrentRow(next(k for k, step in enumerate(panel.steps) if step.label == "J[:,2]"))
    pump(lambda: panel.page.part is not None and panel.page.numbers is not None, PATIENCE)
    window.resizeDocks([window.docks.docks["derivation"]], [356], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def equations(window: Window) -> None:
    """Show the mass matrix of the two-link arm in symbols, with the second link selected."""
    from app.document.revision import Ref

    window.run("derivation.close")
    open_example(window, "two_link")
    pose(window, 20.0, 50.0)
    run(window, "derive")
    window.docks.show("output")
    window.session.select(Ref("bodies", "link2"))
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def robotica(window: Window) -> None:
    """Show the manual's circle: the arm every 0.4 s, the path of its tip, its joint variables over time."""
    window.run("derivation.close")
    open_example(window, "two_link")
    enter(window, *ROBOTICA)
    window.plots.picker.hide()
    window.messages.dismiss()
    pump(seconds=2.0)


ROBOTICA = (
    "a1=3; a2=3; m1=10; m2=5; I1=0.833; I2=0.417; g=9.8; om=1; kp=400; kd=40",
    'GetInputTau["torques/circle.tau"]',
    "Response[{0, 10, 100000}, {q1[0]==0, q2[0]==0, q1'[0]==0, q2'[0]==0}]",
    'SimDrive["*", {trace, arm, frame, 0.4}]',
    "SimPlot[t, {q1, q2}, {0.6}]",
)
"""Example lines from the manual of Robotica."""


def enter(window: Window, *lines: str) -> None:
    """Run lines of Robotica, one after another."""
    from app.panels.robotica.panel import RoboticaPanel

    window.docks.show("robotica")
    panel = window.docks.panels["robotica"]
    assert isinstance(panel, RoboticaPanel)
    for line in lines:
        panel.enter(line)
        pump(lambda: panel.job is None, PATIENCE)
        pump()


def sheet(window: Window) -> None:
    """Show ellipsoids of the three-link arm, from the form of RElp and the line it generated."""
    from app.panels.robotica.sheet import RoboticaSheet

    open_example(window, "three_link")
    enter(window, "q2 = 50 Degree")
    window.run("robotica.RElp")
    form = window.functions.form
    assert isinstance(form, RoboticaSheet)
    form.reset()
    form.fields["ranges"].setText("{q1, 0, 90 Degree, 4}, {d3, 3, 8, 4}")
    form.boxes["scale"].click()
    form.run_button.click()
    pump(lambda: not window.jobs.running, PATIENCE)
    window.docks.show("robotica")
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()
    pump(seconds=2.0)


def loops(window: Window) -> None:
    """Show a slider-crank in symbols."""
    from PySide6.QtCore import Qt

    open_example(window, "slider_crank")
    run(window, "loop_symbols")
    window.docks.show("output")
    window.resizeDocks([window.docks.docks["output"]], [640], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


SCENES = {
    "engine": engine,
    "puma": puma,
    "meshes": meshes,
    "mobility": mobility,
    "derivation": derivation,
    "equations": equations,
    "loops": loops,
    "robotica": robotica,
    "sheet": sheet,
}


def take(folder: Path) -> list[Path]:
    """Write all pictures; returns their paths."""
    from app.preferences.settings import Settings
    from app.window.window import Window

    folder.mkdir(parents=True, exist_ok=True)
    made = []
    with tempfile.TemporaryDirectory() as place:
        for look in ("light", "dark"):
            settings = Settings(Path(place) / f"{look}.ini")
            settings.look = look
            window = Window(settings=settings)
            window.resize(*SIZE)
            window.show()
            pump(seconds=1.0)
            for name, prepare in SCENES.items():
                prepare(window)
                path = folder / f"{name}_{look}.png"
                grab(window).save(str(path))
                made.append(path)
            window.dispose()
            window.deleteLater()
            pump(seconds=0.2)
    return made


def main(arguments: list[str]) -> int:
    """Run the command."""
    from app.window.start import application

    if len(arguments) != 1:
        print(f"Usage: python -m {__package__}.screenshots FOLDER", file=sys.stderr)
        return 2
    application([])
    for path in take(Path(arguments[0])):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
