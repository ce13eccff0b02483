"""Pictures of the window for the README, made by a command of the project: `python -m app.screenshots FOLDER`.

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
    from app.window import Window

SIZE = (1480, 920)
PATIENCE = 40.0
"""Seconds to wait for a file to open."""


def pump(until: Callable[[], bool] = lambda: False, seconds: float = 0.4) -> None:
    """Let the window work until something is true, at most so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not until():
        QCoreApplication.processEvents()
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        time.sleep(0.005)


def open_example(window: Window, name: str) -> None:
    """Open one of the examples and wait until it is there."""
    from core.model import Model

    path = next(example.path for example in examples() if example.name == name)
    window.session.start(Model(name="untitled"))  # what the scene before changed is not asked about
    window.documents.start_example(path)
    pump(lambda: not window.documents.opening.busy, PATIENCE)
    pump()


def grab(window: Window) -> QPixmap:
    """What the window shows, its 3-D view included."""
    pump(seconds=0.5)
    picture = window.grab()
    return picture


def puma(window: Window) -> None:
    """The PUMA with a joint's handle, the ellipsoid, and the mass matrix in the output."""
    from app.session import Ref

    open_example(window, "puma560")
    session = window.session
    values = dict(zip(session.mech.q_names, map(radians, (20.0, 50.0, -165.0, 0.0, 40.0, 0.0)), strict=False))
    session.preview_coordinates(values)
    session.commit("Pose")
    window.settings.remember("ellipsoid/shown", True)
    session.select(Ref("joints", session.mech.coordinates[1].joint))
    window.choose_function("mass_matrix")
    job = window.functions.run()
    if job is not None:
        pump(lambda: not window.jobs.running, PATIENCE)
    window.docks.show("output")
    window.viewport.viewpoint.fit_at_once()
    window.messages.dismiss()


def meshes(window: Window) -> None:
    """The arm with meshes, a link selected, the model tree in front."""
    from app.session import Ref

    window.settings.remember("ellipsoid/shown", False)
    open_example(window, "kestrel")
    session = window.session
    names = [coordinate.name for coordinate in session.mech.coordinates]
    session.preview_coordinates(dict(zip(names, map(radians, (30.0, 25.0, 40.0, 0.0, 45.0, 0.0)), strict=False)))
    session.commit("Pose")
    session.select(Ref("bodies", session.model.expanded.bodies[3].name))
    window.docks.show("tree")
    window.docks.show("findings")
    window.viewport.viewpoint.fit_at_once()
    window.messages.dismiss()


def plots(window: Window) -> None:
    """The four-bar in the middle of a run: forces in its joints, the way of a point, and plots."""
    from app.plotting.sheets import Plot
    from app.session import Ref
    from core.simulation import simulate

    open_example(window, "four_bar")
    session = window.session
    run = simulate(session.mech, 3.0, output=0.005, v0={session.mech.v_names[0]: 4.0})
    session.runs.add(run)
    session.select(Ref("frames", "coupler_point"))
    window.run("view.trace")
    window.run("vectors.force")
    session.runs.seek(1.2)
    session.select(None)
    window.docks.show("plots")
    window.plots.picker.hide()
    window.plots.add_plot(Plot(("crank_pin.v", "energy.kinetic")))
    window.plots.add_plot(Plot(("coupler_point.position.z",), "coupler_point.position.x"))
    window.viewport.viewpoint.fit_at_once()
    window.messages.dismiss()


def derivation(window: Window) -> None:
    """The derivation replay at a column of the Stanford arm's Jacobian."""
    from PySide6.QtCore import Qt

    open_example(window, "stanford")
    session = window.session
    values = dict(zip(session.mech.q_names, (0.5, 1.1, 0.4, 0.3, 0.8, 0.0), strict=False))
    session.preview_coordinates(values)
    session.commit("Pose")
    window.run("derivation.replay")
    panel = window.derivation
    panel.list.setCurrentRow(next(k for k, step in enumerate(panel.steps) if step.label == "J[:,2]"))
    pump(lambda: panel.page.part is not None and panel.page.numbers is not None, PATIENCE)
    window.resizeDocks([window.docks.docks["derivation"]], [330], Qt.Orientation.Vertical)
    window.viewport.viewpoint.fit_at_once()
    window.messages.dismiss()


def equations(window: Window) -> None:
    """The mass matrix of the two-link arm in symbols, the second link chosen."""
    from app.session import Ref

    window.run("derivation.close")
    open_example(window, "two_link")
    window.choose_function("derive")
    job = window.functions.run()
    if job is not None:
        pump(lambda: not window.jobs.running, PATIENCE)
    window.docks.show("output")
    window.session.select(Ref("bodies", "link2"))
    window.viewport.viewpoint.fit_at_once()
    window.messages.dismiss()


def robotica(window: Window) -> None:
    """The manual's circle: the arm every 0.4 s, the way of its tip, its joint variables over time."""
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
"""Lines of the manual."""


def enter(window: Window, *lines: str) -> None:
    """Run lines of Robotica, one after another."""
    from app.panels.robotica import RoboticaPanel

    window.docks.show("robotica")
    panel = window.docks.panels["robotica"]
    assert isinstance(panel, RoboticaPanel)
    for line in lines:
        panel.enter(line)
        pump(lambda: panel.job is None, PATIENCE)
        pump()


def sheet(window: Window) -> None:
    """Ellipsoids of the three-link arm by the sheet of RElp, which typed its line."""
    from app.panels.robotica_sheet import RoboticaSheet

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
    window.viewport.viewpoint.fit_at_once()
    window.messages.dismiss()
    pump(seconds=2.0)


SCENES = {"puma": puma, "meshes": meshes, "plots": plots, "derivation": derivation, "equations": equations,
          "robotica": robotica, "sheet": sheet}  # fmt: skip


def take(folder: Path) -> list[Path]:
    """Write all pictures; returns their paths."""
    from app.settings import Settings
    from app.window import Window

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
    """The command."""
    from app.start import application

    if len(arguments) != 1:
        print("Usage: python -m app.screenshots FOLDER", file=sys.stderr)
        return 2
    application([])
    for path in take(Path(arguments[0])):
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
