"""Interface of the 3-D view, as seen by tools, handles and additional drawings in the scene."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray
from PySide6.QtWidgets import QWidget

if TYPE_CHECKING:
    from app.document.link_lengths import LinkEnd
    from app.document.session import Session
    from app.preferences.settings import Settings
    from app.preferences.theme import Theme
    from app.viewport.annotations import AnnotationOverlay
    from app.viewport.gestures import GestureController, PointerState
    from app.viewport.viewpoint import CameraController
    from core.simulation.live import Live
    from viz.drawlist.joint_look import HandlePart
    from viz.scene.axis_handle import AxisPart
    from viz.scene.plane_handle import PlanePosition
    from viz.scene.scene import Scene

Glyph = tuple[Any, Any, Any, str]
"""Ellipsoid to draw: centre (3,), axes (3, 3) as columns, radii (3,) in m, and "velocity" or "force"."""


class RealTimePulling(Protocol):
    """Interface of the real-time run in which the pointer can pull bodies."""

    live: Live | None

    @property
    def on(self) -> bool:
        """True if a real-time run exists, running or paused."""
        ...

    @property
    def running(self) -> bool:
        """True if the real-time run is not paused."""
        ...

    def start(self) -> None:
        """Start running the machine in real time."""
        ...

    def resume(self) -> None:
        """Resume the run after a pause."""
        ...

    def let_go(self) -> None:
        """Release the body that is being pulled."""
        ...


class MapSamples(Protocol):
    """Interface of the map in the scene, whose samples can be pointed at."""

    shown: Any
    """The map shown; None if there is none."""

    def sample_under(self, pointer: PointerState) -> int | None:
        """Return the index of the sample under the pointer; None if there is none."""
        ...

    def describe_sample(self, sample: int) -> str:
        """Describe a sample."""
        ...

    def move_to_sample(self, sample: int) -> bool:
        """Move the machine to the pose that reaches a sample."""
        ...

    def handle_under(self, pointer: PointerState) -> AxisPart | None:
        """Return the part of the plane's handle under the pointer."""
        ...

    def highlight_handle(self, part: AxisPart | None) -> bool:
        """Highlight a part of the plane's handle in yellow (None: none); returns True if there is one."""
        ...

    def request_in_plane(self, plane: PlanePosition) -> None:
        """Request the same map in another plane."""
        ...


class ConfigurationGhosts(Protocol):
    """Interface of the arm's other configurations in the scene, which can be pointed at and taken."""

    def ghost_under(self, pointer: PointerState) -> int | None:
        """Return the index of the configuration under the pointer; None if there is none."""
        ...

    def point_at(self, index: int | None) -> bool:
        """Emphasise a configuration (None: none); returns True if there is one."""
        ...

    def choose(self, index: int) -> None:
        """Choose a configuration, which stays emphasised."""
        ...

    def take(self, index: int) -> None:
        """Move the machine to a configuration."""
        ...


class FrameHandleGrips(Protocol):
    """Interface of the handle that moves a frame of the machine."""

    @property
    def is_shown(self) -> bool:
        """True while the handle is in the scene."""
        ...

    def handle_under(self, pointer: PointerState) -> AxisPart | None:
        """Return the part of the handle under the pointer."""
        ...

    def highlight_handle(self, part: AxisPart | None) -> bool:
        """Highlight a part of the handle in yellow (None: none); returns True if there is one."""
        ...


class MotionPoints(Protocol):
    """Interface of the points of the shown motion in the scene, which can be dragged."""

    def point_under(self, pointer: PointerState) -> int | None:
        """Return the point of the motion under the pointer; None if there is none."""
        ...

    def highlight_point(self, point: int | None) -> bool:
        """Highlight a point (None: none); returns True if there is one."""
        ...


class Stage(Protocol):
    """Interface of the 3-D view for tools and other interactive parts."""

    standing: str
    """Hint text that remains after gestures, for a state that outlasts them."""
    interactive: RealTimePulling | None
    pointed: PointerState | None
    """Position of the pointer; while a menu is open, its last position; None outside the view."""

    @property
    def session(self) -> Session:
        """The session with the open document."""
        ...

    @property
    def settings(self) -> Settings:
        """The user's preferences."""
        ...

    @property
    def theme(self) -> Theme:
        """The colours in use."""
        ...

    @property
    def scene(self) -> Scene:
        """The scene with its actors."""
        ...

    @property
    def viewpoint(self) -> CameraController:
        """The camera."""
        ...

    @property
    def annotations(self) -> AnnotationOverlay:
        """Flat drawings over the scene."""
        ...

    @property
    def maps(self) -> MapSamples:
        """The layer of workspace maps in the scene."""
        ...

    @property
    def configurations(self) -> ConfigurationGhosts:
        """The layer of the arm's configurations in the scene."""
        ...

    @property
    def frame_handle(self) -> FrameHandleGrips:
        """The handle of the frame whose configurations are shown."""
        ...

    @property
    def motion_points(self) -> MotionPoints:
        """The points of the shown motion."""
        ...

    @property
    def gestures(self) -> GestureController[Stage]:
        """The chosen tool and the gesture in progress."""
        ...

    @property
    def widget(self) -> QWidget:
        """The widget of the view, parent of menus, dialogs and timers."""
        ...

    def call_when_up_to_date(self, function: Callable[[], object]) -> None:
        """Call a function once the scene shows the present document: immediately, or soon after an edit."""
        ...

    def update(self) -> None:
        """Request a new picture."""
        ...

    def show_hint(self, text: str = "") -> None:
        """Show a hint for the next action; '' shows the `standing` text, or else the tool's default hint."""
        ...

    def point_under(self, pointer: PointerState) -> NDArray[np.float64] | None:
        """Return the point (3,) of the machine under the pointer, or else of the ground (m, world); None if there is
        neither."""
        ...

    def ground_under(self, pointer: PointerState) -> NDArray[np.float64] | None:
        """Return the point (3,) at which the line of sight meets the ground grid; None if it does not, or meets it too
        far away."""
        ...

    def link_end_under(self, pointer: PointerState) -> LinkEnd | None:
        """Return the draggable end of the selected link under the pointer."""
        ...

    def highlight_link_end(self, end: LinkEnd | None) -> bool:
        """Highlight a link end in yellow (None: none); returns True if there is one."""
        ...

    def handle_under(self, pointer: PointerState) -> HandlePart | None:
        """Return the ring or arrow under the pointer."""
        ...

    def highlight_handle(self, part: HandlePart | None) -> bool:
        """Highlight a ring or arrow in yellow (None: none); returns True if there is one."""
        ...

    def press_orientation_cube(self, pointer: PointerState) -> bool:
        """Look at the machine from the face, edge or corner of the orientation cube under the pointer; returns False if
        there is none."""
        ...

    def hover_orientation_cube(self, pointer: PointerState | None) -> bool:
        """Highlight the part of the orientation cube under the pointer."""
        ...

    def open_context_menu(self, pointer: PointerState) -> None:
        """Open the context menu of the element under the pointer."""
        ...

    def show_ellipsoids(self, source: str, glyphs: list[Glyph]) -> None:
        """Show the ellipsoids of one source (the live one, a result) in addition to those of others."""
        ...
