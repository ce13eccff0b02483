"""Films of a moving machine: frames at exact times, rendered off-screen and encoded.

A `Footage` is plain data, made where the motion is known and drawn wherever there is time, also in another process,
so that neither the window nor its graphics wait for the rendering of frames.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.analysis.mobility_marks import MobilityMark
from core.apart.talk import Progress, TaskConnection, WorkerTask
from core.apart.work_process import AbandonedTask, LostTask, WorkProcess
from core.errors import KinetostatError
from core.files.sent_model import pack_kinds, register_packed_kinds
from core.later import dataclass
from core.model import Model
from viz import camera, placement
from viz.drawlist.layers import choose_motion_samples
from viz.look import Colour, LookName
from viz.scene.overlays import EllipsoidGlyph
from viz.scene.vectors import VectorGlyph

if TYPE_CHECKING:
    from viz.film.encoders import Encoder
    from viz.scene.scene import Scene


Array = NDArray[np.float64]
MOST_FRAMES = 100_000
LOOKS_AROUND = 24
"""Number of poses of the motion into which the camera view is fitted."""
FINEST_FPS = 1001
"""Largest denominator of a frame rate; 29.97 frames per second (television) are 30000/1001."""

ENDING = 5.0
"""Time, in s, that a cancelled film has to finish its frame and delete its file."""


class PointPath(NamedTuple):
    """Path of a point: positions (n, 3) in m at times (n,) in s; with `whole` all of it is shown from the start."""

    times: Array
    places: Array
    colour: Colour = "trace"
    whole: bool = False


class Ghost(NamedTuple):
    """Another motion of the machine, shown transparently: poses (frames, n, 4, 4), and the parameter values."""

    poses: Array
    parameters: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Footage:
    """Content of a film: what each frame shows.

    times : (frames,) s of the motion; names, poses : (frames, n, 4, 4) of these bodies and frames
    view : a key of `camera.PRESETS`, fitted to the whole motion, or a `camera.View`; turn: rad from frame to frame
    vectors : arrows of each frame, or none at all; captions: a text for each frame, or none at all
    changing : parameter values of each frame where they differ from frame to frame; ellipsoids: those of each frame
    marks : of mobility, those of each frame, or none at all
    """

    model: Model
    parameters: Mapping[str, float]
    times: Array
    names: tuple[str, ...]
    poses: Array
    view: str | camera.CameraView = "iso"
    turn: float = 0.0
    display: Mapping[str, Any] = field(default_factory=dict)
    paths: Mapping[str, PointPath] = field(default_factory=dict)
    vectors: Sequence[Sequence[VectorGlyph]] = ()
    ghosts: tuple[Ghost, ...] = ()
    captions: Sequence[str] = ()
    changing: Sequence[Mapping[str, float]] = ()
    ellipsoids: Sequence[Sequence[EllipsoidGlyph]] = ()
    marks: Sequence[Sequence[MobilityMark]] = ()


def exact_frame_rate(fps: float | Fraction) -> Fraction:
    """Convert a frame rate to an exact fraction; 29.97 becomes 30000/1001. Raises KinetostatError."""
    if not 0.1 <= fps <= 240:
        raise KinetostatError(f"A film cannot have {float(fps):g} frames per second.", remedy="Choose 0.1 to 240.")
    if isinstance(fps, Fraction):
        return fps
    television = Fraction(round(fps) * 1000, FINEST_FPS)
    near = abs(float(television) - fps) < 0.005 and abs(fps - round(fps)) > 1e-6
    return television if near else Fraction(fps).limit_denominator(1000)


def frame_times(start: float, end: float, fps: float | Fraction, speed: float = 1.0) -> Array:
    """Return the times (frames,) of the motion, in s, that the frames show: frame k shows start + k · speed / fps, up
    to the end.

    speed : seconds of motion per second of film. Raises KinetostatError when nothing, or too much, would be filmed.
    """
    if not speed > 0.0:
        raise KinetostatError("The speed of a film must be positive.", remedy="1 is real time, 0.1 ten times slower.")
    if not end >= start:
        raise KinetostatError(f"The film ends at {end:g} s, before its start.", remedy="Choose an end after the start.")
    step = speed / float(exact_frame_rate(fps))
    count = int(np.floor((end - start) / step * (1.0 + 1e-12) + 1e-9)) + 1
    if count > MOST_FRAMES:
        raise KinetostatError(
            f"The film would have {count} frames; the limit is {MOST_FRAMES}.",
            remedy="Choose a shorter interval, fewer frames per second, or a higher speed.",
        )
    return np.minimum(start + step * np.arange(count), max(end, start))


def render_film(
    footage: Footage,
    path: str | os.PathLike[str],
    *,
    fps: float | Fraction = 30,
    size: tuple[int, int] = (1280, 720),
    look: LookName = "light",
    progress: Callable[[float], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Render all frames and write the film (.mp4, .gif, or .png for numbered pictures) atomically.

    size : width and height, pixels; progress: called with the part done, 0 … 1; cancelled: asked before each frame
    Returns the number of frames; 0 if it was cancelled. Raises KinetostatError, FileError.
    """
    exact = exact_frame_rate(fps)
    from viz.film.encoders import EncoderInBackground, create_encoder
    from viz.pictures.offscreen import open_offscreen_scene

    with open_offscreen_scene(size, look, max(size[1] / 720.0, 0.5)) as scene:
        reel = EncoderInBackground(create_encoder(path, exact, size))
        try:
            done = _render_frames(scene, footage, reel, progress, cancelled)
            if done:
                reel.finish()
                return len(footage.times)
        except BaseException:
            reel.discard()
            raise
        reel.discard()
        return 0


def _render_frames(
    scene: Scene,
    footage: Footage,
    reel: Encoder,
    progress: Callable[[float], object] | None,
    cancelled: Callable[[], bool] | None,
) -> bool:
    """Render all frames and pass them to the encoder; return False if cancelled."""
    from viz.pictures.picture_files import read_pixels

    stage = FilmStage(scene, footage)
    scene.use_quality_of_films()
    count = len(footage.times)
    for k in range(count):
        if cancelled is not None and cancelled():
            return False
        stage.show_frame(k)
        scene.render()
        reel.add_frame(read_pixels(scene.window, copy=False))
        if progress is not None:
            progress((k + 1) / count)
    return True


class FilmStage:
    """Scene that can show any frame of a film."""

    def __init__(self, scene: Scene, footage: Footage) -> None:
        self.scene, self.footage = scene, footage
        self._changed: Mapping[str, float] = {}
        scene.set_display(**{"cube": False, **footage.display})
        scene.separate_moving_links(
            footage.model, footage.names, footage.poses[choose_motion_samples(len(footage.times))]
        )
        scene.show_model(footage.model, dict(footage.parameters))
        scene.move(footage.names, footage.poses[0])
        scene.fit_surroundings()
        from viz.scene.caption import Caption

        self._caption = Caption(scene)
        self._size = placement.longest_edge(scene.bounds())
        self._first = self._fitted_view() if isinstance(footage.view, str) else footage.view

    def _fitted_view(self) -> camera.CameraView:
        """Return the preset view in which the whole motion is visible, for any rotation of the camera during the
        film."""
        assert isinstance(self.footage.view, str)
        view = camera.preset_view(self.scene.view, self.footage.view)
        found = []
        for k in np.unique(np.linspace(0, len(self.footage.times) - 1, LOOKS_AROUND).astype(int)):
            self._set_pose(int(k))
            found.append(self.scene.bounds())
        found += [placement.box_of_points(each.places) for each in self.footage.paths.values() if len(each.places)]
        box = placement.enclosing_box(found)
        width, height = self.scene.size
        turned = np.arange(12) * np.pi / 6.0 if self.footage.turn else [0.0]
        views = [camera.fit(camera.orbit(view, float(yaw), 0.0), box, width / height) for yaw in turned]
        farthest = max(each.distance for each in views)
        return camera.zoom(views[0], views[0].distance / farthest)

    def _set_pose(self, k: int) -> None:
        """Set the machine to its pose in frame k, with the parameter values of that frame."""
        footage = self.footage
        if footage.changing and footage.changing[k] != self._changed:
            self._changed = footage.changing[k]
            self.scene.show_model(footage.model, {**footage.parameters, **self._changed})
        self.scene.move(footage.names, footage.poses[k])

    def show_frame(self, k: int) -> None:
        """Set the scene to frame k, without rendering it."""
        footage, scene = self.footage, self.scene
        self._set_pose(k)
        scene.view = camera.orbit(self._first, k * footage.turn, 0.0) if footage.turn else self._first
        t = footage.times[k]
        if footage.paths:
            trajectories = {name: visible_path(drawn_path, t) for name, drawn_path in footage.paths.items()}
            scene.overlays.show_paths(
                trajectories, {name: drawn_path.colour for name, drawn_path in footage.paths.items()}
            )
        if footage.vectors:
            scene.overlays.show_vectors(footage.vectors[k], size=self._size)
        if footage.ellipsoids:
            scene.overlays.show_ellipsoids(footage.ellipsoids[k])
        if footage.marks:
            scene.mobility_marks.show_marks(footage.marks[k])
        if footage.ghosts:
            scene.overlays.show_ghosts(
                footage.names,
                [ghost.poses[k] for ghost in footage.ghosts],
                parameters=[ghost.parameters for ghost in footage.ghosts],
            )
        self._caption.show_text(footage.captions[k] if footage.captions else "")


def visible_path(path: PointPath, t: float) -> Array:
    """Return the part (m, 3) of a path that is visible at a time; its end is interpolated."""
    if path.whole or not len(path.times):
        return path.places
    k = int(np.searchsorted(path.times, t, side="right"))
    if k == 0 or k == len(path.times):
        return path.places[:k]
    part = (t - path.times[k - 1]) / (path.times[k] - path.times[k - 1])
    if part == 0.0:
        return path.places[:k]
    end = path.places[k - 1] + part * (path.places[k] - path.places[k - 1])
    return np.vstack([path.places[:k], end])


@dataclass(frozen=True, eq=False)
class FilmTask(WorkerTask):
    """Task that renders a film in a subprocess. kinds : pickled user-defined kinds; path : absolute; footage :
    unpickled after the kinds have been registered"""

    kinds: bytes
    footage: bytes
    path: str
    fps: float | Fraction
    size: tuple[int, int]
    look: LookName
    patience: float = ENDING

    def execute(self, line: TaskConnection) -> int:
        register_packed_kinds(self.kinds)
        footage: Footage = pickle.loads(self.footage)
        try:
            return render_film(
                footage,
                self.path,
                fps=self.fps,
                size=self.size,
                look=self.look,
                progress=lambda part: line.report(Progress(part)),
                cancelled=line.should_stop,
            )
        except KinetostatError:
            raise
        except Exception as error:
            raise KinetostatError(f"The film cannot be drawn: {type(error).__name__}: {error}.") from None


def film_in_subprocess(
    footage: Footage,
    path: str | os.PathLike[str],
    *,
    fps: float | Fraction = 30,
    size: tuple[int, int] = (1280, 720),
    look: LookName = "light",
    progress: Callable[[float], object] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> int:
    """Render a film in a subprocess. The calling thread waits without holding the interpreter lock.

    Raises KindError if the machine has user-defined kinds that another process cannot import.
    """
    place = os.path.abspath(path)
    task = FilmTask(pack_kinds(footage.model), pickle.dumps(footage), place, fps, size, look)
    process = WorkProcess()
    try:
        found = process.run_task(
            task, cancelled or (lambda: False), lambda line: progress(line.fraction) if progress is not None else None
        )
    except OSError as error:
        raise KinetostatError(f"The film process cannot be started: {error.strerror or error}.") from None
    finally:
        process.close()
    if isinstance(found, AbandonedTask):
        return 0
    if isinstance(found, LostTask):
        raise KinetostatError(
            f"The film cannot be finished: its process {found.how}.", remedy="Try a smaller size, or fewer frames."
        )
    return int(found)
