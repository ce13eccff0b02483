"""Gestures of the pointer: a press starts one, every movement is sent to it, the release ends it, and Esc cancels it.

A gesture is a generator: `while (pointer := (yield)) is not None: preview`, then one commit. Closing it raises
GeneratorExit at the `yield`; there it restores what was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from inspect import GEN_RUNNING, getgeneratorstate
from math import hypot
from typing import TYPE_CHECKING, Generic, TypeVar

from app.background.signals import Signal
from core.later import dataclass

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.document.revision import DocumentState
    from app.document.session import Session


CLICK_REACH = 4.0
"""Distance in pixels (at 100 %) within which a press and a release count as a click."""


@dataclass(frozen=True)
class PointerState:
    """State of the pointer. x, y: device pixels from the upper left corner of the viewport; scale: device pixels per
    pixel at 100 %."""

    x: float
    y: float
    scale: float = 1.0
    button: str = "left"
    shift: bool = False
    ctrl: bool = False
    alt: bool = False
    double: bool = False

    def is_click_after(self, press: PointerState) -> bool:
        """Return True if the pointer has stayed where the button was pressed."""
        return hypot(self.x - press.x, self.y - press.y) <= CLICK_REACH * self.scale


Gesture = Generator[None, PointerState | None, None]
V = TypeVar("V")
"""Type of the view on which a tool acts."""

PULLING = ("select", "move", "pull")
"""Tools with which a press with Ctrl pulls a body."""


@dataclass(frozen=True)
class MouseTool(Generic[V]):
    """A tool of the left mouse button. `press` returns the gesture of a press, `hover` reacts to movement without a
    button; `handles`: True if joint handles are shown and can be dragged."""

    id: str
    expects: str
    press: Callable[[V, PointerState], Gesture]
    hover: Callable[[V, PointerState | None], None]
    leave: Callable[[V], None]
    handles: bool = True
    ends: bool = False
    """True if the ends of the selected link are shown and a press drags them."""
    enter: Callable[[V], None] | None = None
    """Called when the tool is chosen."""
    double: Callable[[V, PointerState], None] | None = None
    """Called for a double click; without it, a double click sets the centre of rotation of the view."""
    menu: Callable[[V, PointerState], bool] | None = None
    """Returns True if the tool used a right click; else the context menu opens."""
    back: Callable[[V], bool] | None = None
    """Goes back one step on Esc; returns False if there is none, and the tool is left."""
    wants: Callable[[V, QKeyEvent], bool] | None = None
    """Returns True for keys of the tool, which take precedence over shortcuts of the window."""
    key: Callable[[V, QKeyEvent], None] | None = None
    """Handles a key of the tool."""
    takes_shift: bool = False
    """True if the tool handles a press with Shift; else it pans."""
    hand: tuple[tuple[float, float, bool], ...] = ()
    """Path of the demonstration hand: fractions of the view from left and top, and True where it presses."""
    keeps_view: bool = False
    """True if the camera does not move when an element is added."""


class GestureController(Generic[V]):
    """The chosen tool and the gesture in progress."""

    chosen = Signal(object)
    """Emitted when another tool is chosen."""

    def __init__(
        self,
        view: V,
        session: Session,
        tools: Mapping[str, MouseTool[V]],
        other_buttons: Callable[[V, PointerState], Gesture],
    ) -> None:
        self._view, self._session, self._tools, self._others = view, session, tools, other_buttons
        self._running: Gesture | None = None
        self._holds = False
        """True if the gesture in progress changes the document, not only the view."""
        self._last: PointerState | None = None
        self.tool = tools["select"]
        session.changed.connect(self._on_document_changed)

    def close(self) -> None:
        """Cancel the gesture and disconnect."""
        self.cancel_gesture()
        self._session.changed.disconnect(self._on_document_changed)

    @property
    def is_running(self) -> bool:
        """True between press and release."""
        return self._running is not None

    def choose_tool(self, tool: str) -> None:
        """Choose a tool by its id."""
        self.cancel_gesture()
        if tool != self.tool.id:
            self.tool.leave(self._view)
            self.tool = self._tools[tool]
            if self.tool.enter is not None:
                self.tool.enter(self._view)
            self.chosen.emit(self.tool)

    def press(self, pointer: PointerState) -> None:
        """Start a gesture at a mouse press."""
        if self._running is not None:
            return
        plain = pointer.button == "left" and (not pointer.shift or self.tool.takes_shift)
        tool = self._tools["pull"] if plain and pointer.ctrl and self.tool.id in PULLING else self.tool
        self._running = (tool.press if plain else self._others)(self._view, pointer)
        self._holds = plain
        self._last = pointer
        self._advance_gesture(None, is_first=True)

    def move(self, pointer: PointerState) -> None:
        """Pass a mouse movement to the gesture, or to the tool's hover."""
        self._last = pointer
        if self._running is not None:
            self._advance_gesture(pointer)
        else:
            self.tool.hover(self._view, pointer)

    def release(self, pointer: PointerState) -> None:
        """End the gesture at the release of the button, so that it commits."""
        if self._running is not None:
            self._advance_gesture(pointer)
        if self._running is not None:
            self._advance_gesture(None)
            self._running = None
        self.tool.hover(self._view, pointer)

    @property
    def is_pointer_inside(self) -> bool:
        """True if the pointer is inside the viewport."""
        return self._last is not None

    def on_pointer_left(self) -> None:
        """Notify the tool that the pointer has left the viewport."""
        self._last = None
        if self._running is None:
            self.tool.hover(self._view, None)

    def repeat_hover(self) -> None:
        """Repeat the hover at the last pointer position, because the scene may have changed under the pointer."""
        if self._running is None and self._last is not None:
            self.tool.hover(self._view, self._last)

    def cancel_gesture(self) -> bool:
        """Cancel the gesture in progress and restore the state before it; returns False if there was none."""
        if self._running is None:
            return False
        running, self._running = self._running, None
        running.close()
        return True

    def step_back(self) -> bool:
        """Let the tool go back one step; returns False if there is none."""
        return self.tool.back is not None and self.tool.back(self._view)

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        """Cancel the gesture after an edit that it did not make itself, because its elements may be gone or renamed."""
        running = self._running
        if running is None or not self._holds or getgeneratorstate(running) == GEN_RUNNING:
            return
        self.cancel_gesture()
        self._session.message.emit("hint", "The document was changed meanwhile, so the drag was cancelled.")

    def _advance_gesture(self, pointer: PointerState | None, is_first: bool = False) -> None:
        running = self._running
        assert running is not None
        try:
            next(running) if is_first else running.send(pointer)
        except StopIteration:
            if self._running is running:
                self._running = None
        except Exception:
            self._running = None
            self._session.cancel_preview()
            raise
