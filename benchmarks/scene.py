"""Pictures of the scene a second while something moves.

    python -m benchmarks.scene [--write]

The real window, 1920 × 1080 pixels, on the screen there is (a virtual one: `Xvfb -screen 0 1920x1200x24`): a joint is
moved by small steps, then the camera is turned, each picture waited for. Processor milliseconds of a picture: those of
our Python (the machine's movement and what the scene makes of it), those of VTK and of the threads that draw for it,
and the rest, which is fetching the picture and putting the window together. With one core for all of it there would be
so many pictures a second as the table says.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.document import tell
from benchmarks.machines import robots
from benchmarks.watch import PATIENCE, turn

if TYPE_CHECKING:
    from app.window.window import Window
    from core.model import Model

SIZE = (1920, 1080)
EXAMPLES = {"PUMA 560": "puma560", "UR5": "ur5", "Stewart platform": "stewart"}
TALOS = "talos_data/robots/talos_reduced.urdf"
ROWS, LONG = 20, 25
"""Chains, and links of each, of the machine of 500 bodies."""
CALM = 3.0
"""Seconds in which a window comes to rest."""
FIRST, PICTURES = 5, 40
"""Pictures before those that count, and these."""
DOCUMENT = Path(__file__).parents[1] / "docs" / "responsiveness.md"


class Picture(NamedTuple):
    """Cost of a picture: processor seconds in total, in our Python and in VTK."""

    work: float
    ours: float
    drawing: float


def rows(count: int = ROWS, links: int = LONG) -> Model:
    """Chains of links without forms of their own, side by side: bodies drawn as bars, joints as joints."""
    from core.model import Body, Joint, Model, Pose

    bodies, joints = [], []
    for row in range(count):
        for link in range(links):
            name, before = f"link{row}_{link}", f"link{row}_{link - 1}"
            place = Pose(position=(0.2, 0.0, 0.0)) if link else Pose(position=(0.0, 0.2 * row, 0.5))
            bodies.append(Body(name=name, mass=1.0))
            joints.append(
                Joint(
                    name=f"joint{row}_{link}",
                    kind="revolute",
                    parent=before if link else "world",
                    child=name,
                    axis=(0.0, float(link % 2), float(1 - link % 2)),
                    a=place,
                )
            )
    return Model(name=f"{count * links} bodies", bodies=tuple(bodies), joints=tuple(joints))


def machines(folder: Path) -> dict[str, Path]:
    """The files that are opened."""
    from core.files import save
    from resources import examples

    known = {example.name: example.path for example in examples()}
    found = {title: known[name] for title, name in EXAMPLES.items()}
    data = robots()
    if data is not None:
        found["Talos (160,000 polygons)"] = data / TALOS
    save(rows(), folder / "rows.kst")
    return {**found, f"{ROWS * LONG} bodies": folder / "rows.kst"}


def work() -> float:
    """Processor seconds of this thread and of those that draw for it (Mesa's), without others at work beside them;
    of all threads where the system does not tell."""
    tasks = Path("/proc/self/task")
    if not tasks.is_dir():
        return time.process_time()
    drawing = [task for task in tasks.iterdir() if (task / "comm").read_text().startswith("llvmpipe")]
    return time.thread_time() + 1e-9 * sum(int((task / "schedstat").read_text().split()[0]) for task in drawing)


class Pictures:
    """The pictures of a window, one at a time."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self._drawn = 0
        self._drawing = self._preparing = 0.0
        self._began = 0.0
        view = window.viewport
        view.drawn.connect(self._count)
        view.vtk.AddObserver("StartEvent", self._begin)
        view.vtk.AddObserver("EndEvent", self._end)
        prepare = view.scene.prepare_render

        def timed() -> None:
            began = time.thread_time()
            prepare()
            self._preparing += time.thread_time() - began

        view.scene.prepare_render = timed  # type: ignore[method-assign]

    def _count(self) -> None:
        self._drawn += 1

    def _begin(self, *_: object) -> None:
        self._began = work()

    def _end(self, *_: object) -> None:
        self._drawing += work() - self._began

    def take(self, move: Callable[[], object]) -> Picture:
        """The picture that a movement leads to."""
        from PySide6.QtCore import QCoreApplication

        drawn, drawing, preparing = self._drawn, self._drawing, self._preparing
        end, began, ours = time.perf_counter() + PATIENCE, work(), time.thread_time()
        move()
        ours = time.thread_time() - ours
        while self._drawn == drawn:
            QCoreApplication.processEvents()
            if time.perf_counter() > end:
                raise TimeoutError("There is no picture; is there a screen?")
        return Picture(
            work() - began,
            ours + self._preparing - preparing,
            self._drawing - drawing,
        )

    def median(self, move: Callable[[int], object]) -> Picture:
        """The picture in the middle of many, number by number."""
        taken = [self.take(lambda k=k: move(k)) for k in range(FIRST + PICTURES)][FIRST:]  # type: ignore[misc]
        return Picture(*(statistics.median(numbers) for numbers in zip(*taken, strict=True)))


def opened(path: Path) -> Window:
    """The window with a file, at rest."""
    from app.preferences.settings import Settings
    from app.window.start import create_application
    from app.window.window import Window

    app = create_application(sys.argv)
    window = Window(settings=Settings(Path(tempfile.mkdtemp(prefix="kinetostat-")) / "settings.ini"))
    window.resize(*SIZE)
    window.show()
    window.files.open(path)
    while window.files.opening.is_busy:
        turn(0.1)
    turn(CALM)
    seen = app.primaryScreen().size()
    if (window.width(), window.height()) != SIZE or seen.width() < SIZE[0]:
        raise SystemExit(f"The screen has {seen.width()} × {seen.height()} pixels; these pictures need 1920 × 1080.")
    return window


def measured(path: Path) -> tuple[Picture, Picture]:
    """A picture while a joint is dragged, and while the camera turns."""
    from viz import camera

    window = opened(path)
    view, session, pictures = window.viewport, window.session, Pictures(window)
    coordinate = session.mech.coordinates[min(1, len(session.mech.coordinates) - 1)]
    first = float(session.q[coordinate.index])
    dragged = pictures.median(lambda k: session.preview_coordinates({coordinate.name: first + 0.005 * k}))
    session.cancel_preview()
    turn(CALM)
    turned = pictures.median(lambda _k: view.viewpoint.set_view(camera.orbit(view.scene.view, 0.02, 0.0)))
    window.dispose()
    return dragged, turned


def lines(folder: Path) -> list[str]:
    """The table."""
    table = [
        "| machine | | pictures a second | processor ms | our Python | VTK | window |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for title, path in machines(folder).items():
        for moving, picture in zip(("a joint dragged", "the camera turned"), measured(path), strict=True):
            rest = picture.work - picture.ours - picture.drawing
            parts = (picture.work, picture.ours, picture.drawing, rest)
            numbers = " | ".join(f"{1e3 * part:.0f}" for part in parts)
            table.append(f"| {title} | {moving} | {1.0 / picture.work:.0f} | {numbers} |")
    return table


def main() -> None:
    """Print the table; write when asked."""
    os.environ.setdefault("QT_QPA_PLATFORM", "xcb")
    with tempfile.TemporaryDirectory() as folder:
        tell("Pictures of the scene", "scene", lines(Path(folder)), DOCUMENT)


if __name__ == "__main__":
    main()
