"""Films of runs and of sequences of poses, made in the background: the data are collected in a thread, the pictures
drawn in a subprocess."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QObject

from app.background.jobs import Job, Jobs
from app.document.run_tree import RunRecord
from core.analysis.mobility_marks import MobilityMark, MobilityMarker, default_marked_frame
from core.functions.results import EllipsoidField, PoseSequence
from core.later import dataclass
from viz.camera import CameraView
from viz.film import footage
from viz.film.film import Footage
from viz.film.footage import footage_of_run
from viz.look import LookName

if TYPE_CHECKING:
    from app.document.run_tree import RunRecord, RunTree
    from app.playback.sequence import PosePlayback
    from app.viewport.run_scene import RunDisplay
    from app.viewport.stage import Stage
    from core.mechanism import Mechanism


class FilmedSequence(NamedTuple):
    """Sequence of poses with the data that a film needs; interval : time for which each pose is shown, s."""

    poses: PoseSequence
    field: EllipsoidField | None
    mech: Mechanism
    interval: float


def film_subject(sequence: PosePlayback, runs: RunTree) -> RunRecord | FilmedSequence | None:
    """Return the run or sequence to be filmed; None if there is none. A sequence is filmed only while it is shown pose
    by pose."""
    if sequence.poses is not None and sequence.is_animated:
        return FilmedSequence(sequence.poses, sequence.field, sequence.mechanism, sequence.pose_duration)
    record = runs.current
    return record if record is not None and len(record.run.time) else None


ADDED = ("ground", "axes", "gravity", "frames", "labels", "centers_of_mass", "inertia", "joints", "collision", "layers")
"""Display options of the 3-D view, apart from those of the machine, that films use."""


class _MobilityMarks:
    """Computes the mobility marks at the poses of a film."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech, self._frame = mech, default_marked_frame(mech)
        self._made: tuple[Mapping[str, float], MobilityMarker] | None = None

    def __call__(self, q: NDArray[np.float64], p: Mapping[str, float]) -> tuple[MobilityMark, ...]:
        """Return the marks at a pose (nq,) with parameter values."""
        if self._made is None or self._made[0] != p:
            self._made = p, MobilityMarker(self._mech, self._frame, p or None)
        return self._made[1].at(q).marks


@dataclass(frozen=True)
class FilmSettings:
    """Settings of a film: file, size, times, camera and colours.

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


class FilmQueue(QObject):
    """Queue of films; simulations and functions do not wait for it."""

    def __init__(self, view: Stage, run_scene: RunDisplay, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._view, self._run_scene = view, run_scene
        self.jobs = Jobs(self)

    @property
    def running_job(self) -> Job | None:
        """Return the job of the film being made."""
        return self.jobs.unfinished_jobs[0] if self.jobs.unfinished_jobs else None

    def start(self, film_settings: FilmSettings, source: RunRecord | FilmedSequence) -> Job:
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

    def _footage_collector(
        self, film_settings: FilmSettings, source: RunRecord | FilmedSequence
    ) -> Callable[[], Footage]:
        """Return a function that collects the film's data; it uses a copy of the current display settings and does not
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
        if film_settings.overlays and self._view.settings.view_flag("mobility"):
            mech = source.mech if isinstance(source, FilmedSequence) else source.run.mech
            options["marks"] = _MobilityMarks(mech)
        if isinstance(source, FilmedSequence):
            return lambda: footage.footage_of_sequence(
                source.poses,
                source.mech,
                interval=source.interval,
                field=source.field if film_settings.overlays else None,
                **options,
                **display,
            )
        if film_settings.overlays:
            shown = run_scene.shown_kinds and dict(run_scene.scale)
            options |= {
                "paths": run_scene.followed_points,
                "arrows": run_scene.shown_vectors,
                "scales": shown or None,
                "others": [other.run for other in run_scene.other_visible_runs(source) if not other.faint],
            }
        run = source.run
        return lambda: footage_of_run(run, **options, **display)

    def _camera(self, film_settings: FilmSettings) -> CameraView:
        """Return the camera of the 3-D view; a film with another aspect ratio shows at least what is visible there."""
        from viz import camera

        width, height = self._view.scene.size
        narrower = (width / height) / (film_settings.size[0] / film_settings.size[1])
        return camera.zoom(self._view.scene.view, min(1.0, 1.0 / narrower))

    def close(self) -> None:
        """Stop the films and delete incomplete files."""
        self.jobs.close()
