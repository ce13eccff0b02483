"""The 3-D view: VTK's scene on a surface, conversion of Qt events to pointer states, and overlays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt, QTimer
from PySide6.QtGui import (
    QContextMenuEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QNativeGestureEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from app.background.signals import Lifetime, Signal
from app.document.revision import ElementRef
from app.document.session import Session
from app.preferences.settings import Settings
from app.preferences.theme import Theme
from app.viewport.annotations import AnnotationOverlay
from app.viewport.configuration_ghosts import ConfigurationLayer
from app.viewport.frame_handle import FrameHandleLayer
from app.viewport.frame_sets import FrameTableLayer
from app.viewport.gestures import GestureController, MouseTool, PointerState
from app.viewport.handle_choice import JointHandleSelector, LinkEndGrips
from app.viewport.map_layer import MapLayer, MapLegend
from app.viewport.motion_layer import MotionLayer
from app.viewport.navigate import WHEEL_STEP, navigate_with_other_buttons, set_centre, zoom_to
from app.viewport.overlay import ViewportToolbar
from app.viewport.part_marks import LockedBodyMarks, OpenJointMarks
from app.viewport.scene_follower import SceneFollower
from app.viewport.stage import Glyph, RealTimePulling, Stage
from app.viewport.surface import OpenGLSurface, supported_quality
from app.viewport.viewpoint import CameraController
from viz import camera
from viz.look import LookName
from viz.scene.scene import Scene

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.document.link_lengths import LinkEnd
    from viz.drawlist.joint_look import HandlePart

CALM = 150
"""Time in ms without a new picture after which the scene is drawn in its highest quality."""
BUTTONS = {
    Qt.MouseButton.LeftButton: "left",
    Qt.MouseButton.MiddleButton: "middle",
    Qt.MouseButton.RightButton: "right",
}


class Viewport(OpenGLSurface):
    """Widget that displays the scene; emits `expects` with the tool's hint, and `place` with the point under the
    pointer (or None)."""

    expects = Signal(str)
    place = Signal(object)
    viewpoint: CameraController
    follower: SceneFollower | None = None
    awaiting = False
    """True while the program starts and its first machine is about to be shown, so that drawing a picture would be
    wasted."""

    def __init__(
        self,
        session: Session,
        settings: Settings,
        theme: Theme,
        tools: Mapping[str, MouseTool[Stage]],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.session, self.settings, self.theme = session, settings, theme
        self.menu_point: NDArray[np.float64] | None = None  # (3,) m, where the context menu was last opened
        self.pointed: PointerState | None = None  # where the pointer is, or was when the menu opened
        self.interactive: RealTimePulling | None = None
        self.open_menu_at: Callable[[ElementRef | None, QPoint], object] | None = None
        look: LookName = "dark" if theme.name == "dark" else "light"
        self._scene = Scene(self.vtk, look, self.devicePixelRatioF(), supported_quality())
        self.viewpoint = CameraController(self._scene, self, lambda: self.scene)
        self._ellipsoids: dict[str, list[Glyph]] = {}
        self._again = QTimer(self, singleShot=True, interval=60)
        self.viewpoint.looked.connect(lambda: self._again.start())
        self._calm = QTimer(self, singleShot=True, interval=CALM)
        self._calm.timeout.connect(self._redraw_in_high_quality)
        self._resting = True
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumSize(240, 180)
        self.annotations = AnnotationOverlay(self.scene, theme, self)
        self._life = Lifetime()
        own = self._life.own
        self._life.callback(self.free_resources)
        self.gestures: GestureController[Stage] = GestureController(self, session, tools, navigate_with_other_buttons)
        self._again.timeout.connect(self.gestures.repeat_hover)
        self.standing = ""  # words of a state that outlasts gestures
        self.gestures.chosen.connect(lambda _tool: self.show_hint())
        self.follower = own(SceneFollower(self, self._scene))
        self.handles = own(JointHandleSelector(self))
        self.link_ends = own(LinkEndGrips(self))
        own(OpenJointMarks(self))
        own(LockedBodyMarks(self))
        self.overlay = own(ViewportToolbar(self))
        self.frame_sets = own(FrameTableLayer(self))
        self.configurations = own(ConfigurationLayer(self))
        self.frame_handle = own(FrameHandleLayer(self))
        self.motion_points = own(MotionLayer(self))
        self.maps = own(MapLayer(self))
        self.map_legend = own(MapLegend(self, self.maps))
        for timer in (self._again, self._calm, self.viewpoint):
            self._life.callback(timer.stop)
        own(self.gestures)

    @property
    def scene(self) -> Scene:
        """The scene, updated to the present document on access."""
        if self.follower is not None:
            self.follower.update_scene_now()
        return self._scene

    @property
    def frames_with_paths(self) -> tuple[str, ...]:
        """Frames whose paths are drawn."""
        return tuple(self._scene.tracks.followed_frames)

    def call_when_up_to_date(self, function: Callable[[], object]) -> None:
        """Call a function once the scene shows the present document, see `SceneFollower.call_when_up_to_date`."""
        if self.follower is not None:
            self.follower.call_when_up_to_date(function)

    @property
    def widget(self) -> QWidget:
        """The widget of the view, parent of menus, dialogs and timers."""
        return self

    # ----------------------------------------------------------------------------- drawing

    def draw(self) -> None:
        """Draw the scene."""
        if self.awaiting:
            self.fill_with_color(self.scene.renderer.GetBackground())
            return
        self.scene.pixel_ratio = self.devicePixelRatioF()
        self.scene.resize(*self.size_in_pixels)
        self.viewpoint.apply_pending_fit()
        self.scene.render(fast=not self._resting)
        if self.is_hardware_composed:
            self.annotations.update()
        self._resting = False
        self._calm.start()

    def use_movement_quality(self) -> None:
        """Draw the next picture in the lower quality used during movements; a smooth one follows."""
        self._resting = False

    def _redraw_in_high_quality(self) -> None:
        """Redraw the picture in high quality after a pause in movement."""
        self._resting = True
        if self._scene.hasty:
            self.update()

    def close(self) -> None:
        """Disconnect and free the scene's memory."""
        self._life.close()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep overlays in place."""
        super().resizeEvent(event)
        self.annotations.resize(self.size())
        self.overlay.move_to_edge()

    def grab_image(self, scale: int = 1) -> QImage:
        """Return an image of the view at `scale` times its resolution, without handles and buttons."""
        from viz.pictures.picture_files import read_pixels

        scene = self.scene
        shown, size, ratio = scene.handles.shown_joints, scene.size, scene.pixel_ratio
        self.make_current()
        try:
            scene.show_handles()
            scene.pixel_ratio = ratio * scale
            scene.resize(size[0] * scale, size[1] * scale)
            scene.window.OpenGLInitState()
            scene.render()
            taken = np.ascontiguousarray(read_pixels(scene.window))
        finally:
            scene.pixel_ratio = ratio
            scene.resize(*size)
            scene.show_handles(*shown)
            self.done_current()
            self.update()
        height, width = taken.shape[:2]
        return QImage(taken.data, width, height, 4 * width, QImage.Format.Format_RGBA8888).copy()

    # ----------------------------------------------------------------------------- places

    def point_under(self, pointer: PointerState) -> NDArray[np.float64] | None:
        """Return the point (3,) of the machine under the pointer, or else of the ground (m, world); None if there is
        neither."""
        hit = self.scene.pick(pointer.x, pointer.y)
        return hit.position if hit is not None else self.ground_under(pointer)

    def ground_under(self, pointer: PointerState) -> NDArray[np.float64] | None:
        """Return the point (3,) at which the line of sight meets the ground grid; None if it does not, or meets it too
        far away."""
        ray = self.scene.ray(pointer.x, pointer.y)
        if abs(ray.direction[2]) < 1e-9:
            return None
        distance = (self.scene.floor - ray.origin[2]) / ray.direction[2]
        near = 0.0 < distance < 30.0 * self.scene.view.distance
        return np.asarray(ray.at(distance)) if near else None

    # --------------------------------------------------------------------- handles, orientation cube, ellipsoids

    def handle_under(self, pointer: PointerState) -> HandlePart | None:
        """Return the ring or arrow under the pointer."""
        return self.handles.handle_under(pointer)

    def highlight_handle(self, part: HandlePart | None) -> bool:
        """Highlight a ring or arrow in yellow (None: none); returns True if there is one."""
        return self.handles.highlight_handle(part)

    def link_end_under(self, pointer: PointerState) -> LinkEnd | None:
        """Return the end of the selected link under the pointer."""
        return self.link_ends.link_end_under(pointer)

    def highlight_link_end(self, end: LinkEnd | None) -> bool:
        """Highlight a link end in yellow (None: none); returns True if there is one."""
        return self.link_ends.highlight_link_end(end)

    def press_orientation_cube(self, pointer: PointerState) -> bool:
        """Look at the machine from the face, edge or corner of the orientation cube under the pointer; returns False if
        there is none."""
        direction = self.scene.cube.pick(pointer.x, pointer.y)
        if direction is not None:
            self.viewpoint.fly_to(camera.look_from(self.viewpoint.target_view, direction))
        return direction is not None

    def hover_orientation_cube(self, pointer: PointerState | None) -> bool:
        """Highlight the part of the orientation cube under the pointer."""
        direction = self.scene.cube.pick(pointer.x, pointer.y) if pointer is not None else None
        if direction != self.scene.cube.hovered:
            self.scene.cube.hover(direction)
            self.update()
        return direction is not None

    def show_ellipsoids(self, source: str, glyphs: list[Glyph]) -> None:
        """Show the ellipsoids of one source (the live one, a result) in addition to those of others."""
        if not glyphs and source not in self._ellipsoids:
            return
        self._ellipsoids[source] = glyphs
        colours = {"velocity": "ellipsoid", "force": "ellipsoid_force"}
        every = [each for source in self._ellipsoids.values() for each in source]
        self.scene.overlays.show_ellipsoids([(c, axes, radii, colours[kind]) for c, axes, radii, kind in every])
        self.update()

    # ----------------------------------------------------------------------------- events

    def to_pointer(
        self,
        position: QPointF,
        button: Qt.MouseButton = Qt.MouseButton.LeftButton,
        keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
        double: bool = False,
    ) -> PointerState:
        """Convert a Qt position to the pointer state used by tools."""
        ratio, modifier = self.devicePixelRatioF(), Qt.KeyboardModifier
        return PointerState(
            position.x() * ratio,
            position.y() * ratio,
            ratio,
            BUTTONS.get(button, "left"),
            bool(keys & modifier.ShiftModifier),
            bool(keys & modifier.ControlModifier),
            bool(keys & modifier.AltModifier),
            double,
        )

    def _pointer_from_event(self, event: QMouseEvent, double: bool = False) -> PointerState:
        return self.to_pointer(event.position(), event.button(), event.modifiers(), double)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Start a gesture."""
        self.viewpoint.stop()
        if event.button() in BUTTONS:
            self.gestures.press(self._pointer_from_event(event))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Continue a gesture, or hover."""
        pointer = self.pointed = self._pointer_from_event(event)
        self.gestures.move(pointer)
        if not self.gestures.is_running:
            self.place.emit(self.point_under(pointer))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """End a gesture."""
        self.gestures.release(self._pointer_from_event(event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Pass a double click to the tool, or make the point under the pointer the centre of orbiting."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        pointer, double = self._pointer_from_event(event, double=True), self.gestures.tool.double
        double(self, pointer) if double is not None else set_centre(self, pointer)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the selection for the menu key (the right button is a gesture)."""
        if event.reason() == QContextMenuEvent.Reason.Keyboard and self.open_menu_at is not None:
            self.open_menu_at(self.session.selection, event.globalPos())

    def open_context_menu(self, pointer: PointerState) -> None:
        """Open the context menu of the element under the pointer."""
        self.pointed = pointer
        if self.gestures.tool.menu is not None and self.gestures.tool.menu(self, pointer):
            return
        hit = self.scene.pick(pointer.x, pointer.y)
        ref = ElementRef(*hit.ref) if hit is not None and hit.ref is not None else None
        self.menu_point = hit.position if hit is not None else None
        if ref is not None:
            self.session.select(ref)
        if self.open_menu_at is not None:
            position = QPointF(pointer.x / pointer.scale, pointer.y / pointer.scale)
            self.open_menu_at(ref, self.mapToGlobal(position.toPoint()))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom to the pointer with the wheel; on a trackpad two fingers pan, with Ctrl zoom, with Shift orbit."""
        pointer = self.to_pointer(event.position(), keys=event.modifiers())
        pixels = event.pixelDelta()
        height = max(self.height(), 1)
        if pixels.isNull():
            steps = (event.angleDelta().y() or event.angleDelta().x()) / 120.0
            zoom_to(self, pointer, WHEEL_STEP**steps)
        elif pointer.ctrl:
            zoom_to(self, pointer, WHEEL_STEP ** (pixels.y() / 40.0))
        elif pointer.shift:
            turn = 3.0 / height
            self.viewpoint.set_view(camera.orbit(self.scene.view, -pixels.x() * turn, pixels.y() * turn))
        else:
            self.viewpoint.set_view(camera.pan(self.scene.view, pixels.x() / height, -pixels.y() / height))
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Give the tool's keys precedence over shortcuts, and zoom with a pinch on a trackpad."""
        if isinstance(event, QKeyEvent) and event.type() in (QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress):
            tool = self.gestures.tool
            if tool.wants is not None and tool.key is not None and tool.wants(self, event):
                event.accept()
                if event.type() == QEvent.Type.KeyPress:
                    tool.key(self, event)
                return True
        if isinstance(event, QNativeGestureEvent) and event.gestureType() == Qt.NativeGestureType.ZoomNativeGesture:
            zoom_to(self, self.to_pointer(event.position()), 1.0 + event.value())
            return True
        return super().event(event)

    def leaveEvent(self, event: QEvent) -> None:
        """End the hover when the pointer leaves the view."""
        if QApplication.activePopupWidget() is None:
            self.pointed = None
        self.gestures.on_pointer_left()
        self.place.emit(None)

    def show_hint(self, text: str = "") -> None:
        """Show a hint for the next action; '' shows the `standing` text, or else the tool's default hint."""
        self.expects.emit(text or self.standing or self.gestures.tool.expects)
