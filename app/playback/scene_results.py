"""Results shown in the scene: arrows, ranges, ellipsoids, and poses, either all at once or one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from app.background.signals import Lifetime
from core.functions.results import Arrow, EllipsoidField, PoseSequence, Result, leaf_results
from viz import camera
from viz.placement import longest_edge

if TYPE_CHECKING:
    from app.document.picture_settings import PictureSettings
    from app.playback.clock import Player
    from app.playback.sequence import PosePlayback
    from app.viewport.stage import Stage
    from core.model import Model


class SceneResults:
    """Shows results in the scene and opens their sequences of poses in the player."""

    def __init__(self, view: Stage, player: Player, sequence: PosePlayback, pictures: PictureSettings) -> None:
        self._view, self._player, self._sequence, self._pictures = view, player, sequence, pictures
        session = view.session
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_session_changed),
            (session.moved, self._on_pose_changed),
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
        self._trip: tuple[camera.CameraView, camera.CameraView] | None = None
        """The view before a sequence moved it, and the one it was moved to."""

    def close(self) -> None:
        """Close the sequence and disconnect from all signals."""
        self._sequence.close_sequence()
        self._life.close()

    def show_result(self, result: Result, chosen: PoseSequence | None = None) -> None:
        """Show a result in the scene, if it has anything to show; if it has several sequences of poses, show the chosen
        one, by default the first."""
        parts = [part.scene_parts() for part in leaf_results(result)]
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
            self._open_sequence(sequence.poses, sequence.field, card)

    def remove_if_not_live(self, is_updated: Callable[[int], bool]) -> None:
        """Once the card of an ellipsoid is no longer updated live, remove the ellipsoid with the next movement."""
        if self._card and not is_updated(self._card):
            self._card = 0
            self._remove_stale_ellipsoid()

    # ----------------------------------------------------------------------------- arrows, ranges

    def _show_arrows(self, arrows: tuple[Arrow, ...]) -> None:
        """Show lines and arrows, scaled to the size of the machine."""
        view = self._view
        length = longest_edge(view.scene.bounds())
        glyphs = []
        for arrow in arrows:
            direction = np.array(arrow.direction) * length
            origin = np.array(arrow.origin) - (0.5 * direction if arrow.both_directions else 0.0)
            glyphs.append((origin, direction, "accent", arrow.turning))
        view.scene.overlays.show_vectors(glyphs, source="result")
        self._pointed = True
        view.update()

    def _remove_arrows(self) -> None:
        if self._pointed:
            self._pointed = False
            self._view.scene.overlays.show_vectors([], source="result")
            self._view.update()

    def _show_ranges(self, ranges: tuple[tuple[float, float], ...]) -> None:
        """Fix the ranges of space that the view shows, or release them."""
        view = self._view
        self._pictures.ranges = ranges
        view.scene.range_box.show_range([end for pair in ranges for end in pair])
        view.viewpoint.fit_view()
        view.update()

    # ----------------------------------------------------------------------------- sequences

    def _open_sequence(self, poses: PoseSequence, field: EllipsoidField | None, card: int) -> None:
        self._close_and_clear()
        if len(poses.q) == 1 and field is not None:
            self._alone, self._card = (self._view.session.model, poses), card
            self._show_single_ellipsoid(poses, field)
            return
        sequence, player = self._sequence, self._player
        sequence.open_sequence(poses, field)
        self._view.scene.range_box.show_frame(self._bounds_of_all_poses() if poses.frame else ())
        if sequence.is_animated:
            player.set_playable(sequence)
            sequence.show_pose(0)
            player.play()
        else:
            self._show_all_poses()
            if sequence.can_step:
                player.set_playable(sequence)
        self._bring_into_view(poses.view)
        sequence.changed.emit()

    def _show_single_ellipsoid(self, poses: PoseSequence, field: EllipsoidField) -> None:
        """Show an ellipsoid at the current pose of the machine, without a timeline."""
        view = self._view
        if not self._following:
            self._sequence.open_ellipsoid(poses, field)
        view.show_ellipsoids("result", [ellipsoid_glyph(field, 0)] if field.graphics else [])
        bounds = view.scene.bounds(overlays=True)
        view.scene.range_box.show_frame(bounds.tolist() if poses.frame else ())
        self._bring_into_view(poses.view)
        self._sequence.changed.emit()

    def _show_all_poses(self) -> None:
        poses, field = self._sequence.poses, self._sequence.field
        assert poses is not None
        overlays = self._view.scene.overlays
        overlays.show_ghosts(self._sequence.names, self._sequence.arrays, parameters=poses.p, model=poses.model)
        if field is not None and field.graphics:
            self._view.show_ellipsoids("result", [ellipsoid_glyph(field, k) for k in range(len(field.ellipsoids))])
        self._view.update()

    def _show_current_pose(self) -> None:
        """Show the current pose of the sequence."""
        view, sequence = self._view, self._sequence
        poses, field, index = sequence.poses, sequence.field, sequence.index
        assert poses is not None
        model, p = poses.model or view.session.model, dict(poses.p[index]) if poses.p else {}
        if (sequence.foreign or any(poses.p)) and not view.scene.is_drawing(model, p):
            view.scene.show_model(model, p)
        view.scene.move(sequence.names, sequence.arrays[index])
        if field is not None and field.graphics:
            view.show_ellipsoids("result", [ellipsoid_glyph(field, index)])
        view.update()

    def _close_sequence(self) -> None:
        """Remove the sequence from the scene and show the pose of the session again."""
        was = self._sequence.is_open
        self._close_and_clear()
        if was:
            session, view = self._view.session, self._view
            view.scene.show_model(session.model, session.p)
            view.scene.move(session.mech.frame_names, session.mech.poses(session.q, p=session.p))
            view.update()

    def _close_and_clear(self) -> None:
        if self._player.playable is self._sequence:
            self._player.set_playable(None)
        self._restore_view()
        self._alone, self._card = None, 0
        self._sequence.clear()
        self._view.call_when_up_to_date(self._clear_scene)

    def _clear_scene(self) -> None:
        self._view.scene.overlays.show_ghosts((), [])
        self._view.scene.range_box.show_frame(())
        self._view.show_ellipsoids("result", [])
        self._remove_arrows()

    # ----------------------------------------------------------------------------- the view of them

    def _bring_into_view(self, side: str) -> None:
        """Bring the whole sequence into view: a planar arm is viewed from the given side; otherwise the camera moves
        back if necessary."""
        view = self._view
        before = view.viewpoint.target_view
        if side:
            self._view_planar_arm(side)
        elif not self._following:
            whole = self._view_of_all_poses(view.scene.view)
            if whole is None:
                view.viewpoint.move_back_to_fit()
            elif not camera.contains_box(view.viewpoint.target_view, view.scene.size, self._bounds_of_all_poses()):
                view.viewpoint.fly_to(whole)
        self._trip = (before, view.viewpoint.target_view) if view.viewpoint.target_view != before else None

    def _restore_view(self) -> None:
        """Restore the view from before the sequence, unless the user has moved the camera since."""
        trip, self._trip = self._trip, None
        if trip is not None and self._view.viewpoint.target_view == trip[1]:
            self._view.viewpoint.fly_to(trip[0])

    def _restore_user_view(self) -> None:
        """Restore the user's view from before the sequence when another document is opened."""
        view, trip = self._view, self._trip
        self._trip = None
        if trip is not None and _viewing_direction(view.viewpoint.target_view) == _viewing_direction(trip[1]):
            before = trip[0]
            back = replace(
                view.viewpoint.target_view, azimuth=before.azimuth, elevation=before.elevation, parallel=before.parallel
            )
            view.viewpoint.set_view(back)  # at once: a flight would lead on to the flat picture
            view.viewpoint.fit_next_picture()

    def _view_planar_arm(self, side: str) -> None:
        """View a planar arm from this side, as in a drawing; "": keep the user's view."""
        if side in camera.PRESETS:
            viewpoint = self._view.viewpoint
            flat = replace(camera.preset_view(self._view.scene.view, side), parallel=True)
            viewpoint.fly_to(self._view_of_all_poses(flat) or viewpoint.fitted_view(flat))

    def _view_of_all_poses(self, view: camera.CameraView) -> camera.CameraView | None:
        """Return the view moved so that all poses of an animation are visible; None if there is no animation, or if the
        ranges are fixed."""
        scene = self._view.scene
        if scene.range_box.fixed or not self._sequence.is_animated:
            return None
        return camera.fit(view, self._bounds_of_all_poses(), scene.size[0] / scene.size[1])

    def _bounds_of_all_poses(self) -> list[float]:
        """Return the bounding box of all poses and ellipsoids."""
        return bounds_of_poses(self._sequence.arrays, self._view.scene.bounds(overlays=True), self._sequence.field)

    # ----------------------------------------------------------------------------- hearing

    def _on_session_changed(self, old: Any, new: Any) -> None:
        session = self._view.session
        if old.model is not new.model:
            self._remove_arrows()
        if self._document != session.document:
            self._document = session.document
            self._sequence.close_sequence()
            self._view.call_when_up_to_date(lambda: self._view.scene.range_box.show_range(()))
            self._pictures.ranges = ()
            self._restore_user_view()
        sequence = self._sequence
        if old.model is not new.model and self._alone is None and sequence.is_open and not sequence.is_still_valid():
            sequence.close_sequence()

    def _on_pose_changed(self) -> None:
        self._remove_arrows()
        self._remove_stale_ellipsoid()
        player, previewing = self._player, self._view.session.has_preview
        if player.is_playing and (self._sequence.is_open or (previewing and not player.keeps_on)):
            player.pause()

    def _remove_stale_ellipsoid(self) -> None:
        """Remove an ellipsoid that is not updated live, because the machine has left its pose."""
        if self._alone is None or self._card:
            return
        session, (model, poses) = self._view.session, self._alone
        same = model is session.model and np.array_equal(np.array(poses.q[0]), session.q)
        if not same or any(session.p.get(name) != value for name, value in poses.p[0].items()):
            self._sequence.close_sequence()

    def _on_runs_changed(self) -> None:
        """Close the sequence when another run is played."""
        current = self._view.session.runs.current
        if current is not self._run:
            self._run = current
            if current is not None:
                self._sequence.close_sequence()


def _viewing_direction(view: camera.CameraView) -> tuple[float, float, bool]:
    return view.azimuth, view.elevation, view.parallel


def bounds_of_poses(
    poses: list[np.ndarray], machine_box: np.ndarray, field: EllipsoidField | None = None
) -> list[float]:
    """Return the bounding box (6,), in m, of all poses and ellipsoids, with a margin for what is drawn around frames.

    machine_box : (6,) bounding box of the machine at its current pose
    """
    places = np.concatenate([array[:, :3, 3] for array in poses])
    room = 0.08 * float(np.max(np.ptp(places, axis=0), initial=0.1))
    low, high = (
        np.minimum(places.min(axis=0) - room, machine_box[0::2]),
        np.maximum(places.max(axis=0) + room, machine_box[1::2]),
    )
    for index in range(len(field.ellipsoids) if field is not None and field.graphics else 0):
        assert field is not None
        center, axes, radii, _ = ellipsoid_glyph(field, index)
        half = np.sqrt(np.sum((axes * np.where(np.isfinite(radii), radii, 0.0)) ** 2, axis=1))
        low, high = np.minimum(low, center - half), np.maximum(high, center + half)
    return [float(x) for pair in zip(low, high, strict=True) for x in pair]


def ellipsoid_glyph(field: EllipsoidField, index: int) -> tuple[Any, Any, Any, str]:
    """Return the centre, axes, radii and kind of an ellipsoid for drawing."""
    drawn = field.drawable_ellipsoid(index)
    return drawn.center, np.array(drawn.axes), np.array(drawn.radii), field.kind
