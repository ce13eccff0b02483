"""Interface of the 3-D view for tools, handles and additional drawings in the scene."""

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
    from app.viewport.annotations import Annotations
    from app.viewport.gestures import Gestures, Pointer
    from app.viewport.viewpoint import Viewpoint
    from core.simulation.live import Live
    from viz.drawlist.joint_look import Part
    from viz.scene.plane_handle import PlanePart, PlanePlace
    from viz.scene.scene import Scene

Glyph = tuple[Any, Any, Any, str]
"""Centre (3,), axes (3, 3) as columns, radii (3,) in m, and "velocity" or "force"."""


class Pulling(Protocol):
    """The real-time run in which bodies can be pulled by the pointer."""

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
        """Release the pulled body."""
        ...


class MapPlaces(Protocol):
    """The map in the scene, whose samples can be pointed at."""

    shown: Any
    """The map shown; None if there is none."""

    def under(self, pointer: Pointer) -> int | None:
        """Return the sample under the pointer."""
        ...

    def words(self, sample: int) -> str:
        """Describe a sample."""
        ...

    def take(self, sample: int) -> bool:
        """Move the machine into the pose that reaches a sample."""
        ...

    def handle_under(self, pointer: Pointer) -> PlanePart | None:
        """Return the part of the plane's handle under the pointer."""
        ...

    def light(self, part: PlanePart | None) -> bool:
        """Highlight a part of the plane's handle in yellow (None: none); returns True if there is one."""
        ...

    def ask_in(self, place: PlanePlace) -> None:
        """Request the same map in another plane."""
        ...


class Stage(Protocol):
    """The 3-D view, as used by tools and other interactive parts."""

    standing: str
    """Hint text of a state that outlasts gestures."""
    interactive: Pulling | None
    pointed: Pointer | None
    """Position of the pointer; while a menu is open its last one; None outside of the view."""

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
    def viewpoint(self) -> Viewpoint:
        """The camera."""
        ...

    @property
    def annotations(self) -> Annotations:
        """The flat drawing over the scene."""
        ...

    @property
    def maps(self) -> MapPlaces:
        """The layer of workspace maps in the scene."""
        ...

    @property
    def gestures(self) -> Gestures[Stage]:
        """The chosen tool and the gesture in progress."""
        ...

    @property
    def widget(self) -> QWidget:
        """The widget of the view, parent of menus, dialogs and timers."""
        ...

    def afterwards(self, work: Callable[[], object]) -> None:
        """Call a function once the scene shows the present document: at once, or soon after an edit."""
        ...

    def update(self) -> None:
        """Request a new picture."""
        ...

    def say(self, text: str = "") -> None:
        """Show a hint for the next action; '' for the tool's default hint, or for the `standing` text."""
        ...

    def point_under(self, pointer: Pointer) -> NDArray[np.float64] | None:
        """Return the point (3,) of the machine, or else of the ground, under a pixel (m, world); None if there is
        neither."""
        ...

    def ground_under(self, pointer: Pointer) -> NDArray[np.float64] | None:
        """Return the point (3,) where the line of sight meets the ground grid; None if it does not, or too far away."""
        ...

    def link_end_under(self, pointer: Pointer) -> LinkEnd | None:
        """Return the draggable end of the selected link under the pointer."""
        ...

    def light_link_end(self, end: LinkEnd | None) -> bool:
        """Highlight a link end in yellow (None: none); returns True if there is one."""
        ...

    def handle_under(self, pointer: Pointer) -> Part | None:
        """Return the ring or arrow under the pointer."""
        ...

    def light_handle(self, part: Part | None) -> bool:
        """Highlight a ring or arrow in yellow (None: none); returns True if there is one."""
        ...

    def press_cube(self, pointer: Pointer) -> bool:
        """Look from the face, edge or corner of the orientation cube under the pointer; returns False if
        there is none."""
        ...

    def hover_cube(self, pointer: Pointer | None) -> bool:
        """Highlight the part of the orientation cube under the pointer."""
        ...

    def open_menu(self, pointer: Pointer) -> None:
        """Open the context menu of the element under the pointer."""
        ...

    def show_ellipsoids(self, source: str, glyphs: list[Glyph]) -> None:
        """Show the ellipsoids of one source (the live one, a result) in addition to those of others."""
        ...
