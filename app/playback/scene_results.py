"""Results in the scene: arrows, ranges, ellipsoids, poses all at once or one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from app.background.signals import Lifetime
from core.functions.results import Arrow, EllipsoidField, PoseSequence, Result, leaves
from viz import camera

if TYPE_CHECKING:
    from app.document.picture_settings import PictureSettings
    from app.playback.clock import Player
    from app.playback.sequence import Sequence
    from app.viewport.stage import Stage
    from core.model import Model


class SceneResults:
    """Shows results in the scene and opens their sequences of poses in the player."""

    def __init__(self, view: Stage, player: Player, sequence: Sequence, pictures: PictureSettings) -> None:
        self._view, self._player, self._sequence, self._pictures = view, player, sequence, pictures
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_session_changed),
            (session.moved, self._on_session_moved),
            (session.shown_again, self.show_result),
            (session.runs.changed, self._on_runs_changed),
            (sequence.stepped, self._show_current_pose),
            (sequence.left, self._close_sequence),
        )
        self._run: object = None
        self._document = session.document
        self._following = False
        """True for a result that follows the pose: it does not move the view."""
        self._alone: tuple[Model, PoseSequence] | None = None
        """Machine and pose of the one ellipsoid that stands in the scene, if there is one."""
        self._card = 0
        """The card with which that ellipsoid follows; 0: it does not."""
        self._pointed = False
        """True while arrows of a result stand in the scene: they belong to one pose."""
        self._trip: tuple[camera.View, camera.View] | None = None
        """The view before a sequence moved it, and the one it was moved to."""

    def close(self) -> None:
        """Close the sequence and disconnect from all signals."""
        self._sequence.leave()
        self._life.close()

    def show_result(self, result: Result, chosen: PoseSequence | None = None) -> None:
        """Show a result in the scene, if it has anything to show; of several sequences the chosen one, otherwise the
        first."""
        parts = [part.scene_parts() for part in leaves(result)]
        self._following = result.live
        card = result.card if result.live else 0
        for part in parts:
            if part.arrows is not None:
                self._show_arrows(part.arrows)
            if part.ranges is not None:
                self._show_ranges(part.ranges)
        sequences = [part for part in parts if part.poses is not None]
        sequence = next((part for part in sequences if part.poses is chosen), sequences[0] if sequences else None)
        if sequence is not None and sequence.poses is not None:
            self._open(sequence.poses, sequence.field, card)

    def keep_if_live(self, follows: Callable[[int], bool]) -> None:
        """Make an ellipsoid disappear with the next movement once its card is no longer updated live."""
        if self._card and not follows(self._card):
            self._card = 0
            self._drop_ellipsoid()

    # ----------------------------------------------------------------------------- arrows, ranges

    def _show_arrows(self, arrows: tuple[Arrow, ...]) -> None:
        """Show lines and arrows, scaled to the size of the machine."""
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

    def _show_ranges(self, ranges: tuple[tuple[float, float], ...]) -> None:
        """Fix the visible ranges of the view, or release them."""
        view = self._view
        self._pictures.ranges = ranges
        view.scene.range_box.fix([end for pair in ranges for end in pair])
        view.viewpoint.fit()
        view.update()

    # ----------------------------------------------------------------------------- sequences

    def _open(self, poses: PoseSequence, field: EllipsoidField | None, card: int) -> None:
        self._clear()
        if len(poses.q) == 1 and field is not None:
            self._alone, self._card = (self._view.session.model, poses), card
            self._open_single(poses, field)
            return
        sequence, player = self._sequence, self._player
        sequence.open(poses, field)
        self._view.scene.range_box.frame(self._bounds_of_all() if poses.frame else ())
        if sequence.animated:
            player.show_strip(sequence)
            sequence.show(0)
            player.play()
        else:
            self._show_all()
            if sequence.steppable:
                player.show_strip(sequence)
        self._bring_into_view(poses.view)
        sequence.changed.emit()

    def _open_single(self, poses: PoseSequence, field: EllipsoidField) -> None:
        """Show an ellipsoid at the machine's own pose, without a timeline."""
        view = self._view
        if not self._following:
            self._sequence.open_single(poses, field)
        view.show_ellipsoids("result", [glyph(field, 0)] if field.graphics else [])
        bounds = view.scene.bounds(overlays=True)
        view.scene.range_box.frame(bounds.tolist() if poses.frame else ())
        self._bring_into_view(poses.view)
        self._sequence.changed.emit()

    def _show_all(self) -> None:
        poses, field = self._sequence.poses, self._sequence.field
        assert poses is not None
        overlays = self._view.scene.overlays
        overlays.ghosts(self._sequence.names, self._sequence.arrays, parameters=poses.p, model=poses.model)
        if field is not None and field.graphics:
            self._view.show_ellipsoids("result", [glyph(field, k) for k in range(len(field.ellipsoids))])
        self._view.update()

    def _show_current_pose(self) -> None:
        """Show the current pose of the sequence."""
        view, sequence = self._view, self._sequence
        poses, field, index = sequence.poses, sequence.field, sequence.index
        assert poses is not None
        model, p = poses.model or view.session.model, dict(poses.p[index]) if poses.p else {}
        if (sequence.foreign or any(poses.p)) and not view.scene.draws(model, p):
            view.scene.show(model, p)
        view.scene.move(sequence.names, sequence.arrays[index])
        if field is not None and field.graphics:
            view.show_ellipsoids("result", [glyph(field, index)])
        view.update()

    def _close_sequence(self) -> None:
        """Remove everything and show the session's pose again."""
        was = self._sequence.active
        self._clear()
        if was:
            session, view = self._view.session, self._view
            view.scene.show(session.model, session.p)
            view.scene.move(session.mech.frame_names, session.mech.poses(session.q, p=session.p))
            view.update()

    def _clear(self) -> None:
        if self._player.strip is self._sequence:
            self._player.show_strip(None)
        self._restore_view()
        self._alone, self._card = None, 0
        self._sequence.clear()
        self._view.afterwards(self._clear_scene)

    def _clear_scene(self) -> None:
        self._view.scene.overlays.ghosts((), [])
        self._view.scene.range_box.frame(())
        self._view.show_ellipsoids("result", [])
        self._drop_arrows()

    # ----------------------------------------------------------------------------- the view of them

    def _bring_into_view(self, side: str) -> None:
        """Bring the whole sequence into view: a planar arm from the given side, anything else by moving the camera back
        if necessary."""
        view = self._view
        before = view.viewpoint.goal
        if side:
            self._look_flat(side)
        elif not self._following:
            whole = self._view_of_all(view.scene.view)
            if whole is None:
                view.viewpoint.move_back_to_fit()
            elif not camera.sees(view.viewpoint.goal, view.scene.size, self._bounds_of_all()):
                view.viewpoint.fly_to(whole)
        self._trip = (before, view.viewpoint.goal) if view.viewpoint.goal != before else None

    def _restore_view(self) -> None:
        """Restore the view from before the sequence, unless the user has moved it since."""
        trip, self._trip = self._trip, None
        if trip is not None and self._view.viewpoint.goal == trip[1]:
            self._view.viewpoint.fly_to(trip[0])

    def _restore_user_view(self) -> None:
        """Restore the user's view from before the sequence when another document is opened."""
        view, trip = self._view, self._trip
        self._trip = None
        if trip is not None and _direction(view.viewpoint.goal) == _direction(trip[1]):
            before = trip[0]
            back = replace(
                view.viewpoint.goal, azimuth=before.azimuth, elevation=before.elevation, parallel=before.parallel
            )
            view.viewpoint.look(back)  # at once: a flight would lead on to the flat picture
            view.viewpoint.fit_next_picture()

    def _look_flat(self, side: str) -> None:
        """View a planar arm as a drawing from this side; "": keep the user's view."""
        if side in camera.PRESETS:
            viewpoint = self._view.viewpoint
            flat = replace(camera.preset(self._view.scene.view, side), parallel=True)
            viewpoint.fly_to(self._view_of_all(flat) or viewpoint.fitted(flat))

    def _view_of_all(self, view: camera.View) -> camera.View | None:
        """Return the view moved so that all poses of an animation are visible; None without an animation, or if ranges
        are fixed."""
        scene = self._view.scene
        if scene.range_box.fixed or not self._sequence.animated:
            return None
        return camera.fit(view, self._bounds_of_all(), scene.size[0] / scene.size[1])

    def _bounds_of_all(self) -> list[float]:
        """Return the bounding box of all poses and ellipsoids."""
        return around(self._sequence.arrays, self._view.scene.bounds(overlays=True), self._sequence.field)

    # ----------------------------------------------------------------------------- hearing

    def _on_session_changed(self, old: Any, new: Any) -> None:
        session = self._view.session
        if old.model is not new.model:
            self._drop_arrows()
        if self._document != session.document:
            self._document = session.document
            self._sequence.leave()
            self._view.afterwards(lambda: self._view.scene.range_box.fix(()))
            self._pictures.ranges = ()
            self._restore_user_view()
        sequence = self._sequence
        if old.model is not new.model and self._alone is None and sequence.active and not sequence.holds():
            sequence.leave()

    def _on_session_moved(self) -> None:
        self._drop_arrows()
        self._drop_ellipsoid()
        player, previewing = self._player, self._view.session.previewing
        if player.playing and (self._sequence.active or (previewing and not player.keeps_on)):
            player.hold()

    def _drop_ellipsoid(self) -> None:
        """Remove an ellipsoid that is not updated live once the machine leaves its pose."""
        if self._alone is None or self._card:
            return
        session, (model, poses) = self._view.session, self._alone
        same = model is session.model and np.array_equal(np.array(poses.q[0]), session.q)
        if not same or any(session.p.get(name) != value for name, value in poses.p[0].items()):
            self._sequence.leave()

    def _on_runs_changed(self) -> None:
        """Close the sequence when another run is played."""
        current = self._view.session.runs.current
        if current is not self._run:
            self._run = current
            if current is not None:
                self._sequence.leave()


def _direction(view: camera.View) -> tuple[float, float, bool]:
    return view.azimuth, view.elevation, view.parallel


def around(arrays: list[np.ndarray], now: np.ndarray, field: EllipsoidField | None = None) -> list[float]:
    """Return the bounding box of all poses, (6,) m, with room for what is drawn around frames, and of the ellipsoids.

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
    """Return centre, axes, radii and kind of an ellipsoid as it is drawn."""
    drawn = field.drawn(index)
    return drawn.center, np.array(drawn.axes), np.array(drawn.radii), field.kind
