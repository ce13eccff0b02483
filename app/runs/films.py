"""Films of runs and of sequences of poses, made in the background: data is collected in a thread, pictures are drawn in
a subprocess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from app.background.jobs import Job, Jobs
from app.document.run_tree import Record
from core.analysis.mobility_marks import Mark, MobilityMarks, tool_of_arm
from core.functions.results import EllipsoidField, PoseSequence
from core.later import dataclass
from viz.camera import View
from viz.film import footage
from viz.film.film import Footage
from viz.film.footage import footage_of_run
from viz.look import LookName

if TYPE_CHECKING:
    from app.document.run_tree import Record, Runs
    from app.playback.sequence import Sequence
    from app.viewport.run_scene import RunScene
    from app.viewport.stage import Stage
    from core.mechanism import Mechanism


class Filmed(NamedTuple):
    """A sequence of poses with the data a film needs; interval : time for which a pose is shown, s."""

    poses: PoseSequence
    field: EllipsoidField | None
    mech: Mechanism
    interval: float


def film_subject(sequence: Sequence, runs: Runs) -> Record | Filmed | None:
    """Return the run or sequence to be filmed; None if there is none. A sequence is filmed only while it is shown pose
    by pose."""
    if sequence.poses is not None and sequence.animated:
        return Filmed(sequence.poses, sequence.field, sequence.mech, sequence.interval)
    record = runs.current
    return record if record is not None and len(record.run.time) else None


ADDED = ("ground", "axes", "gravity", "frames", "labels", "centers_of_mass", "inertia", "joints", "collision", "layers")
"""Display options of the 3-D view, besides the machine, that films take over."""


class _MobilityMarks:
    """Computes the marks of mobility at the poses of a film."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech, self._frame = mech, tool_of_arm(mech)
        self._made: tuple[Mapping[str, float], MobilityMarks] | None = None

    def __call__(self, q: NDArray[np.float64], p: Mapping[str, float]) -> tuple[Mark, ...]:
        """Return the marks at a pose (nq,) with parameter values."""
        if self._made is None or self._made[0] != p:
            self._made = p, MobilityMarks(self._mech, self._frame, p or None)
        return self._made[1].at(q).marks


@dataclass(frozen=True)
class FilmSettings:
    """Settings of a film.

    view : None is the camera as it now stands; turn: rad per second of film; start, end: s of the run or the sequence
    overlays : vectors, paths of points and other runs, as the viewport shows them
    """

    path: Path
    size: tuple[int, int] = (1280, 720)
    fps: float = 30.0
    speed: float = 1.0
    start: float | None = None
    end: float | None = None
    view: str | None = None
    turn: float = 0.0
    look: LookName = "light"
    caption: bool = True
    overlays: bool = True


class Films(QObject):
    """Queue of films; simulations and functions do not wait for them."""

    def __init__(self, view: Stage, run_scene: RunScene, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view, self._run_scene = view, run_scene
        self.jobs = Jobs(self)

    @property
    def running(self) -> Job | None:
        """Return the job of the film being made."""
        return self.jobs.running[0] if self.jobs.running else None

    def start(self, film_settings: FilmSettings, source: Record | Filmed) -> Job:
        """Start making a film of a run or of a sequence of poses."""
        gather = self._footage_collector(film_settings, source)

        def work(progress: Callable[..., None], cancelled: Callable[[], bool]) -> int:
            from core.functions.context import Cancelled
            from viz.film.film import film_in_subprocess

            frames = film_in_subprocess(
                gather(),
                film_settings.path,
                fps=film_settings.fps,
                size=film_settings.size,
                look=film_settings.look,
                progress=progress,
                cancelled=cancelled,
            )
            if not frames:
                raise Cancelled
            return frames

        return self.jobs.start(f"Film {film_settings.path.name}", work)

    def _footage_collector(self, film_settings: FilmSettings, source: Record | Filmed) -> Callable[[], Footage]:
        """Return a function that collects the film's data; the current display settings are copied, so that it does not
        access the window."""
        scene, run_scene = self._view.scene, self._run_scene
        display = {name: getattr(scene.display, name) for name in ADDED}
        options: dict[str, Any] = {
            "fps": film_settings.fps,
            "speed": film_settings.speed,
            "start": film_settings.start,
            "end": film_settings.end,
            "view": film_settings.view or self._camera(film_settings),
            "turn": film_settings.turn,
            "caption": film_settings.caption,
        }
        if film_settings.overlays and self._view.settings.flag("mobility"):
            mech = source.mech if isinstance(source, Filmed) else source.run.mech
            options["marks"] = _MobilityMarks(mech)
        if isinstance(source, Filmed):
            return lambda: footage.footage_of_sequence(
                source.poses,
                source.mech,
                interval=source.interval,
                field=source.field if film_settings.overlays else None,
                **options,
                **display,
            )
        if film_settings.overlays:
            shown = run_scene.kinds and dict(run_scene.scale)
            options |= {
                "paths": run_scene.followed_points,
                "arrows": run_scene.wanted,
                "scales": shown or None,
                "others": [other.run for other in run_scene.others(source) if not other.faint],
            }
        run = source.run
        return lambda: footage_of_run(run, **options, **display)

    def _camera(self, film_settings: FilmSettings) -> View:
        """Return the camera of the 3-D view; a film with another aspect ratio shows at least what the view shows."""
        from viz import camera

        width, height = self._view.scene.size
        narrower = (width / height) / (film_settings.size[0] / film_settings.size[1])
        return camera.zoom(self._view.scene.view, min(1.0, 1.0 / narrower))

    def close(self) -> None:
        """Stop and leave no incomplete files."""
        self.jobs.close()
