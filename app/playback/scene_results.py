"""Results in the scene: poses all at once, or one after another as a strip that the timeline plays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psygnal import Signal

from core.functions.results import Arrow, EllipsoidField, PoseSequence, Result, leaves
from viz import camera
from viz.film.sequence_footage import shown_pose

if TYPE_CHECKING:
    from app.viewport.viewport import Viewport
    from core.mechanism import Mechanism

RATE = 25
"""Poses per second when there are many; a sequence lasts `SHORTEST` s at least, a pose `LONGEST_STEP` s at most."""
SHORTEST = 2.5
LONGEST_STEP = 0.5


class Filmed(NamedTuple):
    """A sequence as a film needs it; interval : s a pose is shown."""

    poses: PoseSequence
    field: EllipsoidField | None
    mech: Mechanism
    interval: float


class Playback:
    """The sequence of poses that is open, if one is; a `Strip` of the player while it is shown pose by pose."""

    changed = Signal()

    def __init__(self, view: Viewport) -> None:
        self._view = view
        self._poses: PoseSequence | None = None
        self._field: EllipsoidField | None = None
        self._arrays: list[np.ndarray] = []
        self._names: tuple[str, ...] = ()
        self._foreign = False
        self.index = 0
        view.session.changed.connect(self._session_changed)
        view.session.moved.connect(self._session_moved)
        view.session.runs.changed.connect(self._runs_changed)
        self._run: object = None
        self._document = view.session.document
        self._following = False
        """True for a result that follows the pose: it does not move the view."""
        self._pointed = False
        """True while arrows of a result stand in the scene: they belong to one pose."""
        self._trip: tuple[camera.View, camera.View] | None = None
        """The view before a sequence moved it, and the one it was moved to."""

    def close(self) -> None:
        """Listen no more."""
        self._view.session.changed.disconnect(self._session_changed)
        self._view.session.moved.disconnect(self._session_moved)
        self._view.session.runs.changed.disconnect(self._runs_changed)

    # ----------------------------------------------------------------------------- showing

    @property
    def active(self) -> bool:
        """True while a sequence is open."""
        return self._poses is not None

    @property
    def animated(self) -> bool:
        """True while a sequence is open that is shown pose by pose."""
        return self._poses is not None and self._poses.display == "animate" and len(self._arrays) > 1

    @property
    def steppable(self) -> bool:
        """True while several poses stand in the scene at once that the machine can take: each can be stepped to."""
        several = self._poses is not None and not self.animated and len(self._arrays) > 1
        return several and self._field is None and not self._foreign

    @property
    def pose(self) -> np.ndarray | None:
        """(nq,) the pose that is shown, if the edited machine can take it."""
        if self._poses is None or self._foreign or not self._arrays:
            return None
        now = self._view.session.p
        if any(now.get(name) != value for name, value in self._poses.p[self.index].items()):
            return None  # of other parameter values
        return np.array(self._poses.q[self.index], dtype=float)

    @property
    def filmed(self) -> Filmed | None:
        """What a film of the sequence needs; None unless it is shown pose by pose."""
        if self._poses is None or not self.animated:
            return None
        session = self._view.session
        mech = session.mech.updated(self._poses.model) if self._foreign else session.mech
        return Filmed(self._poses, self._field, mech, self._interval)

    @property
    def playing(self) -> bool:
        """True while poses follow one another."""
        return self.active and self._view.player.playing

    def show_result(self, result: Result) -> None:
        """Show what a result has for the scene, if anything; of several sequences the first."""
        parts = [part.scene_parts() for part in leaves(result)]
        self._following = result.live
        for part in parts:
            if part.arrows is not None:
                self._show_arrows(part.arrows)
            if part.ranges is not None:
                self._show_ranges(part.ranges)
        sequence = next((part for part in parts if part.poses is not None), None)
        if sequence is not None and sequence.poses is not None:
            self._open(sequence.poses, sequence.field)

    def _show_arrows(self, arrows: tuple[Arrow, ...]) -> None:
        """Lines and arrows as long as the machine."""
        view = self._view
        length = camera.extent(view.scene.bounds())
        glyphs = []
        for arrow in arrows:
            direction = np.array(arrow.direction) * length
            origin = np.array(arrow.origin) - (0.5 * direction if arrow.both_directions else 0.0)
            glyphs.append((origin, direction, "accent", arrow.turning))
        view.scene.overlays.vectors(glyphs, source="result")
        self._pointed = True
        view.update()

    def _drop_arrows(self) -> None:
        if self._pointed:
            self._pointed = False
            self._view.scene.overlays.vectors([], source="result")
            self._view.update()

    def _open(self, poses: PoseSequence, field: EllipsoidField | None) -> None:
        self._close()
        if len(poses.q) == 1 and field is not None:
            self._open_single(poses, field)
            return
        view = self._view
        mech = view.session.mech
        self._foreign = poses.model is not None and poses.model != view.session.model
        if self._foreign:
            mech = mech.updated(poses.model)
        self._poses, self._field, self._names = poses, field, mech.frame_names
        self._arrays = [np.asarray(mech.poses(np.array(q), p=dict(p))) for q, p in zip(poses.q, poses.p, strict=True)]
        view.scene.range_box.frame(self._around() if poses.frame else ())
        animated = self.animated
        self.index = 0
        if animated:
            view.player.show_strip(self)
            self._show(0)
            view.player.play()
        else:
            self._show_all()
            if self.steppable:
                view.player.show_strip(self)
        self._bring_in(poses.view)
        self.changed.emit()

    def _open_single(self, poses: PoseSequence, field: EllipsoidField) -> None:
        """An ellipsoid at the pose the machine has: no strip; one that follows the pose is not even a sequence."""
        view = self._view
        self._poses, self._field = None if self._following else poses, field
        view.show_ellipsoids("result", [glyph(field, 0)] if field.graphics else [])
        bounds = view.scene.bounds(overlays=True)
        view.scene.range_box.frame(bounds.tolist() if poses.frame else ())
        self._bring_in(poses.view)
        self.changed.emit()

    def _bring_in(self, side: str) -> None:
        """See all of the sequence: a planar arm flat from a side, anything else by stepping back if need be."""
        view = self._view
        before = view.viewpoint.goal
        if side:
            self._look_flat(side)
        elif not self._following:
            whole = self._round_all(view.scene.view)
            if whole is None:
                view.viewpoint.keep_in_view()
            elif not camera.sees(view.viewpoint.goal, view.scene.size, self._around()):
                view.viewpoint.fly_to(whole)
        self._trip = (before, view.viewpoint.goal) if view.viewpoint.goal != before else None

    def _return(self) -> None:
        """Look again as before the sequence, unless the person has moved the view since."""
        trip, self._trip = self._trip, None
        if trip is not None and self._view.viewpoint.goal == trip[1]:
            self._view.viewpoint.fly_to(trip[0])

    def _turn_back(self) -> None:
        """Another document is seen from where the person looked before a sequence turned the view, if they left it."""
        view, trip = self._view, self._trip
        self._trip = None
        if trip is not None and _direction(view.viewpoint.goal) == _direction(trip[1]):
            before = trip[0]
            back = replace(
                view.viewpoint.goal, azimuth=before.azimuth, elevation=before.elevation, parallel=before.parallel
            )
            view.viewpoint.look(back)  # at once: a flight would lead on to the flat picture
            view.viewpoint.fit_at_once()

    def _look_flat(self, side: str) -> None:
        """Look at a planar arm as a drawing, from this side; "": as the person looks."""
        if side in camera.PRESETS:
            viewpoint = self._view.viewpoint
            flat = replace(camera.preset(self._view.scene.view, side), parallel=True)
            viewpoint.fly_to(self._round_all(flat) or viewpoint.fitted(flat))

    def _round_all(self, view: camera.View) -> camera.View | None:
        """A view moved so that all poses of an animation are seen; None without, or if ranges are fixed."""
        scene = self._view.scene
        if scene.range_box.fixed or not self.animated:
            return None
        return camera.fit(view, self._around(), scene.size[0] / scene.size[1])

    def _around(self) -> list[float]:
        """The box round all poses and ellipsoids, some of which stand in the scene now."""
        return around(self._arrays, self._view.scene.bounds(overlays=True), self._field)

    def _show_ranges(self, ranges: tuple[tuple[float, float], ...]) -> None:
        """Fix what the view shows, or release it."""
        view = self._view
        view.session.ranges = ranges
        view.scene.range_box.fix([end for pair in ranges for end in pair])
        view.viewpoint.fit()
        view.update()

    def _show_all(self) -> None:
        assert self._poses is not None
        view = self._view
        view.scene.overlays.ghosts(self._names, self._arrays, parameters=self._poses.p, model=self._poses.model)
        if self._field is not None and self._field.graphics:
            glyphs = [glyph(self._field, k) for k in range(len(self._field.ellipsoids))]
            view.show_ellipsoids("result", glyphs)
        view.update()

    def _show(self, index: int) -> None:
        assert self._poses is not None
        view = self._view
        self.index = index
        if self._foreign or any(self._poses.p):
            view.scene.show(self._poses.model or view.session.model, dict(self._poses.p[index]))
        view.scene.move(self._names, self._arrays[index])
        if self._field is not None and self._field.graphics:
            view.show_ellipsoids("result", [glyph(self._field, index)])
        self.changed.emit()
        view.update()

    # ----------------------------------------------------------------------------- the strip

    @property
    def _interval(self) -> float:
        """Seconds a pose is shown."""
        return min(LONGEST_STEP, max(1.0 / RATE, SHORTEST / max(1, len(self._arrays))))

    @property
    def ends(self) -> tuple[float, float]:
        """First and last time, s."""
        return 0.0, self._interval * max(len(self._arrays) - 1, 0)

    @property
    def time(self) -> float:
        """The playhead, s."""
        return self._time

    _time = 0.0
    growing = False

    @property
    def times(self) -> int:
        """Number of poses that are played."""
        return len(self._arrays) if self.animated or self.steppable else 0

    def seek(self, time: float) -> None:
        """Show the pose of a time."""
        if self.active:
            self._time = time
            index = shown_pose(time, self._interval, len(self._arrays))
            if index != self.index:
                self._show(index)

    def step(self, count: int) -> None:
        """So many poses on."""
        if self.active:
            index = min(max(self.index + count, 0), len(self._arrays) - 1)
            self._time = index * self._interval
            self._show(index)

    def words(self) -> str:
        """Which pose is shown, of how many."""
        if self._poses is None:
            return ""
        count = len(self._poses.q)
        title = self._field.title if self._field is not None else self._poses.title
        if count == 1:
            return title or "Pose"
        if self.steppable:
            return f"{title or 'Pose'} · {self.index + 1} / {count}"
        if not self.animated:
            return f"{title or 'Sequence'} · {count} poses"
        ranges = self._poses.ranges
        text = f"{self.index + 1} / {count}"
        return f"{text}  {', '.join(str(each[0]) for each in ranges)}" if ranges else text

    # ----------------------------------------------------------------------------- closing

    def close_sequence(self) -> None:
        """Remove everything and show the session's pose again."""
        was = self.active
        self._close()
        if was:
            session, view = self._view.session, self._view
            view.scene.show(session.model, session.p)
            view.scene.move(session.mech.frame_names, session.mech.poses(session.q, p=session.p))
            view.update()
            self.changed.emit()

    def _close(self) -> None:
        if self._view.player.strip is self:
            self._view.player.show_strip(None)
        self._return()
        self._time = 0.0
        self._poses = self._field = None
        self._arrays = []
        self._view.scene.overlays.ghosts((), [])
        self._view.scene.range_box.frame(())
        self._view.show_ellipsoids("result", [])
        self._drop_arrows()

    def _session_changed(self, old: Any, new: Any) -> None:
        if old.model is not new.model:
            self._drop_arrows()
        if self._document != self._view.session.document:
            self._document = self._view.session.document
            self._view.scene.range_box.fix(())
            self._view.session.ranges = ()
            self._turn_back()
        if old.model is not new.model and self.active and self._names != self._view.session.mech.frame_names:
            self.close_sequence()

    def _session_moved(self) -> None:
        self._drop_arrows()
        player, session = self._view.player, self._view.session
        if player.playing and (self.active or (session.previewing and not player.keeps_on)):
            player.hold()

    def _runs_changed(self) -> None:
        """Another run is played: the sequence goes."""
        current = self._view.session.runs.current
        if current is not self._run:
            self._run = current
            if current is not None:
                self.close_sequence()


def _direction(view: camera.View) -> tuple[float, float, bool]:
    return view.azimuth, view.elevation, view.parallel


def around(arrays: list[np.ndarray], now: np.ndarray, field: EllipsoidField | None = None) -> list[float]:
    """The box round all poses, (6,) m, with room for what is drawn around the frames, and round the ellipsoids.

    now : (6,) the box round the machine as it stands
    """
    places = np.concatenate([array[:, :3, 3] for array in arrays])
    room = 0.08 * float(np.max(np.ptp(places, axis=0), initial=0.1))
    low, high = np.minimum(places.min(axis=0) - room, now[0::2]), np.maximum(places.max(axis=0) + room, now[1::2])
    for index in range(len(field.ellipsoids) if field is not None and field.graphics else 0):
        assert field is not None
        center, axes, radii, _ = glyph(field, index)
        half = np.sqrt(np.sum((axes * np.where(np.isfinite(radii), radii, 0.0)) ** 2, axis=1))
        low, high = np.minimum(low, center - half), np.maximum(high, center + half)
    return [float(x) for pair in zip(low, high, strict=True) for x in pair]


def glyph(field: EllipsoidField, index: int) -> tuple[Any, Any, Any, str]:
    """Centre, axes, radii and kind of one ellipsoid as it is drawn."""
    drawn = field.drawn(index)
    return drawn.center, np.array(drawn.axes), np.array(drawn.radii), field.kind
