"""Take the screenshots of the window for the README: `python -m app.window.screenshots FOLDER`.

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


def process_events(condition: Callable[[], bool] = lambda: False, seconds: float = 0.4) -> None:
    """Process events until a condition is true, at most for some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not condition():
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.005)


def open_example(window: Window, name: str) -> None:
    """Open an example and wait until it is shown."""
    from core.model import Model

    path = next(example.path for example in examples() if example.name == name)
    window.session.start_document(Model(name="untitled"))  # what the scene before changed is not asked about
    window.files.open_example(path)
    process_events(lambda: not window.files.opening.is_busy, PATIENCE)
    process_events()


def grab_window(window: Window) -> QPixmap:
    """Return a screenshot of the window, including its 3-D view."""
    process_events(seconds=2.0)
    return window.grab()


def set_coordinates(window: Window, *values: float) -> None:
    """Set the coordinates of the machine, in degrees, or in metres for prismatic joints."""
    session = window.session
    given = zip(session.mech.coordinates, values, strict=True)
    session.preview_coordinates({c.name: radians(x) if c.dimension == "angle" else x for c, x in given})
    session.commit("Pose")


def run_function(window: Window, function: str) -> None:
    """Run a catalogue function with its current options."""
    window.panels.open_function(function)
    if window.functions.run() is not None:
        process_events(lambda: not window.jobs.unfinished_jobs, PATIENCE)


def show_puma(window: Window) -> None:
    """Show the PUMA with the handle of a joint, the ellipsoid, and the mass matrix in the output."""
    from app.document.revision import ElementRef

    open_example(window, "puma560")
    session = window.session
    set_coordinates(window, 20.0, 50.0, -165.0, 0.0, 40.0, 0.0)
    window.settings.remember("ellipsoid/shown", True)
    session.select(ElementRef("joints", session.mech.coordinates[1].joint))
    run_function(window, "mass_matrix")
    window.docks.show_panel("output")
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def show_engine(window: Window) -> None:
    """Show the V6 engine in the middle of a run, with joint forces and plots."""
    from app.plotting.curves import Plot
    from core.simulation import simulate

    window.settings.remember("ellipsoid/shown", False)
    open_example(window, "engine_v6")
    session = window.session
    session.runs.add(simulate(session.mech, 0.3, output=0.0005))
    window.run_command("vectors.force")
    session.runs.seek(0.21)
    session.select(None)
    window.docks.show_panel("tree")
    window.docks.show_panel("plots")
    window.plots.picker.hide()
    window.plots.add_plot(Plot(("shaft.v",)))
    window.plots.add_plot(Plot(("cylinder1.q", "cylinder2.q", "cylinder3.q")))
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def show_meshes(window: Window) -> None:
    """Show the URDF arm with meshes, a selected link, and the DH table fitted to it."""
    from PySide6.QtCore import Qt

    from app.document.revision import ElementRef

    window.settings.remember("ellipsoid/shown", False)
    open_example(window, "kestrel")
    set_coordinates(window, 30.0, 25.0, 40.0, 0.0, 45.0, 0.0)
    session = window.session
    session.select(ElementRef("bodies", "base_link"))
    run_function(window, "fit_dh_table")
    window.docks.show_panel("tree")
    window.docks.show_panel("output")
    window.resizeDocks([window.docks.docks["output"]], [310], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def show_mobility(window: Window) -> None:
    """Show the degrees of freedom and the redundant constraints of a four-bar, by joint name and in the scene."""
    open_example(window, "four_bar")
    window.docks.show_panel("functions")
    run_function(window, "mobility")
    window.docks.show_panel("output")
    process_events(lambda: window.player.is_playing, PATIENCE)
    window.run_command("play.toggle")
    window.run_command("play.last")
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def show_derivation(window: Window) -> None:
    """Show the step-by-step derivation at a column of the Stanford arm's Jacobian."""
    from PySide6.QtCore import Qt

    open_example(window, "stanford")
    set_coordinates(window, 30.0, 60.0, 0.4, 15.0, 45.0, 0.0)
    window.run_command("derivation.replay")
    panel = window.derivation
    panel.list.setCurrentRow(next(k for k, step in enumerate(panel.steps) if step.label == "J[:,2]"))
    process_events(lambda: panel.page.part is not None and panel.page.numbers is not None, PATIENCE)
    window.resizeDocks([window.docks.docks["derivation"]], [356], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def show_equations(window: Window) -> None:
    """Show the symbolic mass matrix of the two-link arm, with the second link selected."""
    from app.document.revision import ElementRef

    window.run_command("derivation.close")
    open_example(window, "two_link")
    set_coordinates(window, 20.0, 50.0)
    run_function(window, "derive")
    window.docks.show_panel("output")
    window.session.select(ElementRef("bodies", "link2"))
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


def show_robotica(window: Window) -> None:
    """Show the circle from the Robotica manual: the arm every 0.4 s, the path of its tip, and its joint variables over
    time."""
    window.run_command("derivation.close")
    open_example(window, "two_link")
    enter_robotica_lines(window, *ROBOTICA)
    window.plots.picker.hide()
    window.messages.dismiss()
    process_events(seconds=2.0)


ROBOTICA = (
    "a1=3; a2=3; m1=10; m2=5; I1=0.833; I2=0.417; g=9.8; om=1; kp=400; kd=40",
    'GetInputTau["torques/circle.tau"]',
    "Response[{0, 10, 100000}, {q1[0]==0, q2[0]==0, q1'[0]==0, q2'[0]==0}]",
    'SimDrive["*", {trace, arm, frame, 0.4}]',
    "SimPlot[t, {q1, q2}, {0.6}]",
)
"""Example lines from the manual of Robotica."""


def enter_robotica_lines(window: Window, *lines: str) -> None:
    """Run Robotica commands, one after another."""
    from app.panels.robotica.panel import RoboticaPanel

    window.docks.show_panel("robotica")
    panel = window.docks.panels["robotica"]
    assert isinstance(panel, RoboticaPanel)
    for line in lines:
        panel.run_line(line)
        process_events(lambda: panel.job is None, PATIENCE)
        process_events()


def show_ellipsoid_sheet(window: Window) -> None:
    """Show the ellipsoids of the three-link arm, from the form of RElp, and the command that the form generated."""
    from app.panels.robotica.sheet import RoboticaSheet

    open_example(window, "three_link")
    enter_robotica_lines(window, "q2 = 50 Degree")
    window.run_command("robotica.RElp")
    form = window.functions.form
    assert isinstance(form, RoboticaSheet)
    form.reset()
    form.fields["ranges"].setText("{q1, 0, 90 Degree, 4}, {d3, 3, 8, 4}")
    form.boxes["scale"].click()
    form.run_button.click()
    process_events(lambda: not window.jobs.unfinished_jobs, PATIENCE)
    window.docks.show_panel("robotica")
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()
    process_events(seconds=2.0)


def show_loop_equations(window: Window) -> None:
    """Show the symbolic equations of a slider-crank."""
    from PySide6.QtCore import Qt

    open_example(window, "slider_crank")
    run_function(window, "loop_symbols")
    window.docks.show_panel("output")
    window.resizeDocks([window.docks.docks["output"]], [640], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_next_picture()
    window.messages.dismiss()


SCENES = {
    "engine": show_engine,
    "puma": show_puma,
    "meshes": show_meshes,
    "mobility": show_mobility,
    "derivation": show_derivation,
    "equations": show_equations,
    "loops": show_loop_equations,
    "robotica": show_robotica,
    "sheet": show_ellipsoid_sheet,
}


def take_screenshots(folder: Path) -> list[Path]:
    """Write all screenshots to a folder; return their paths."""
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
            process_events(seconds=1.0)
            for name, prepare in SCENES.items():
                prepare(window)
                path = folder / f"{name}_{look}.png"
                grab_window(window).save(str(path))
                made.append(path)
            window.dispose()
            window.deleteLater()
            process_events(seconds=0.2)
    return made


def main(arguments: list[str]) -> int:
    """Run the program from the command line."""
    from app.window.start import create_application

    if len(arguments) != 1:
        print(f"Usage: python -m {__package__}.screenshots FOLDER", file=sys.stderr)
        return 2
    create_application([])
    for path in take_screenshots(Path(arguments[0])):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
