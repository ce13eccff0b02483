"""What tools, handles and what is drawn beside the machine need of the 3-D view."""

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
    from app.viewport.gestures import Gestures
    from app.viewport.pointer import Pointer
    from app.viewport.viewpoint import Viewpoint
    from core.simulation.live import Live
    from viz.drawlist.joint_handles import Part
    from viz.scene.plane_handle import PlanePart, PlanePlace
    from viz.scene.scene import Scene

Glyph = tuple[Any, Any, Any, str]
"""Centre (3,), axes (3, 3) as columns, radii (3,) in m, and "velocity" or "force"."""


class Pulling(Protocol):
    """The machine that runs in real time and is pulled by hand."""

    live: Live | None

    @property
    def on(self) -> bool:
        """Whether there is one, running or held."""
        ...

    @property
    def running(self) -> bool:
        """Whether it moves."""
        ...

    def start(self) -> None:
        """Let the machine run."""
        ...

    def resume(self) -> None:
        """Go on."""
        ...

    def let_go(self) -> None:
        """The hand opens."""
        ...


class MapPlaces(Protocol):
    """The map in the scene, whose places can be pointed at."""

    shown: Any
    """None: there is no map."""

    def under(self, pointer: Pointer) -> int | None:
        """The sample whose place is under the pointer."""
        ...

    def words(self, sample: int) -> str:
        """What is there."""
        ...

    def take(self, sample: int) -> bool:
        """Put the machine into the pose that reaches it."""
        ...

    def handle_under(self, pointer: Pointer) -> PlanePart | None:
        """The part of the handle of its plane that is under the pointer."""
        ...

    def light(self, part: PlanePart | None) -> bool:
        """Make a part of that handle yellow (None: none); True if there is one."""
        ...

    def ask_in(self, place: PlanePlace) -> None:
        """Ask for the same map in another plane."""
        ...


class Stage(Protocol):
    """The 3-D view as far as one acts in it."""

    standing: str
    """Words of a state that outlasts gestures."""
    interactive: Pulling | None
    pointed: Pointer | None
    """Where the pointer is; while a menu is open where it was; None outside of the view."""

    @property
    def session(self) -> Session:
        """What is open."""
        ...

    @property
    def settings(self) -> Settings:
        """The person's preferences."""
        ...

    @property
    def theme(self) -> Theme:
        """Colours."""
        ...

    @property
    def scene(self) -> Scene:
        """The actors."""
        ...

    @property
    def viewpoint(self) -> Viewpoint:
        """The camera."""
        ...

    @property
    def annotations(self) -> Annotations:
        """Flat drawing over the picture."""
        ...

    @property
    def maps(self) -> MapPlaces:
        """The map in the scene, if there is one."""
        ...

    @property
    def gestures(self) -> Gestures[Stage]:
        """The chosen tool and the gesture in progress."""
        ...

    @property
    def widget(self) -> QWidget:
        """Where it is seen; menus, dialogs and timers belong to it."""
        ...

    def afterwards(self, work: Callable[[], object]) -> None:
        """Do something with the scene once it shows the document as it is now: at once, or soon after an edit."""
        ...

    def update(self) -> None:
        """Draw a new picture soon."""
        ...

    def say(self, text: str = "") -> None:
        """What the tool expects now; '' for what it expects at first, or for the `standing` words."""
        ...

    def point_under(self, pointer: Pointer) -> NDArray[np.float64] | None:
        """(3,) the point of the machine, or else of the ground, under a pixel; None if neither is there (m, world)."""
        ...

    def ground_under(self, pointer: Pointer) -> NDArray[np.float64] | None:
        """(3,) where the line of sight meets the ground grid; None if it does not, or far away."""
        ...

    def link_end_under(self, pointer: Pointer) -> LinkEnd | None:
        """The end of the selected link under the pointer, which can be dragged."""
        ...

    def light_link_end(self, end: LinkEnd | None) -> bool:
        """Make an end of a link yellow (None: none); True if there is one."""
        ...

    def handle_under(self, pointer: Pointer) -> Part | None:
        """The ring or arrow under the pointer."""
        ...

    def light_handle(self, part: Part | None) -> bool:
        """Make a ring or arrow yellow (None: none); True if there is one."""
        ...

    def press_cube(self, pointer: Pointer) -> bool:
        """Look from the face, edge or corner of the orientation cube under the pointer, if there is one."""
        ...

    def hover_cube(self, pointer: Pointer | None) -> bool:
        """Light up the part of the cube under the pointer."""
        ...

    def open_menu(self, pointer: Pointer) -> None:
        """The menu of what is under the pointer."""
        ...

    def show_ellipsoids(self, source: str, glyphs: list[Glyph]) -> None:
        """Show the ellipsoids of one source (the live one, a result) beside those of the others."""
        ...
