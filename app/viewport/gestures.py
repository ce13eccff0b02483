"""Runs gestures: a press chooses one, every move is sent to it, release ends it, Esc cancels it.

A gesture is a generator: `while (pointer := (yield)) is not None: preview`, then one commit. Closing it raises
GeneratorExit at the `yield`; there it restores what was.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from inspect import GEN_RUNNING, getgeneratorstate
from typing import TYPE_CHECKING, Generic, TypeVar

from app.background.signals import Signal
from app.viewport.pointer import Pointer
from core.later import dataclass

if TYPE_CHECKING:
    from PySide6.QtGui import QKeyEvent

    from app.document.session import Session, State

Gesture = Generator[None, Pointer | None, None]
V = TypeVar("V")
"""What a tool acts in: the stage."""

PULLING = ("select", "move", "pull")
"""Tools in which a press with Ctrl pulls."""


@dataclass(frozen=True)
class Tool(Generic[V]):
    """What the left button does. `press` gives the gesture of a press, `hover` reacts to movement without a button;
    `handles`: whether a press on a joint's ring or arrow drags it, so that they are shown."""

    id: str
    expects: str
    press: Callable[[V, Pointer], Gesture]
    hover: Callable[[V, Pointer | None], None]
    leave: Callable[[V], None]
    handles: bool = True
    ends: bool = False
    """Whether a press on the end of the selected link drags it, so that it is shown."""
    enter: Callable[[V], None] | None = None
    """What choosing it does."""
    double: Callable[[V, Pointer], None] | None = None
    """What a double click does; without it the view turns about what is under it from then on."""
    menu: Callable[[V, Pointer], bool] | None = None
    """Whether a click of the right button was meant for the tool; else it opens the menu."""
    back: Callable[[V], bool] | None = None
    """One step back by Esc; False if there is none, and the tool is left."""
    wants: Callable[[V, QKeyEvent], bool] | None = None
    """Whether a key is the tool's own, before the window's shortcuts."""
    key: Callable[[V, QKeyEvent], None] | None = None
    """What it does."""
    takes_shift: bool = False
    """Whether a press with Shift is the tool's; else it pans."""
    hand: tuple[tuple[float, float, bool], ...] = ()
    """The way of a hand that shows how it is used: fractions of the view from the left and the top, and whether it
    presses there."""
    keeps_view: bool = False
    """Whether the camera stays where it is when something is added."""


class Gestures(Generic[V]):
    """The chosen tool and the gesture in progress."""

    chosen = Signal(object)
    """Another tool was chosen."""

    def __init__(
        self, view: V, session: Session, tools: Mapping[str, Tool[V]], others: Callable[[V, Pointer], Gesture]
    ) -> None:
        self._view, self._session, self._tools, self._others = view, session, tools, others
        self._running: Gesture | None = None
        self._holds = False
        """Whether the gesture in progress has something of the document in hand, not just the view."""
        self._last: Pointer | None = None
        self.tool = tools["select"]
        session.changed.connect(self._changed)

    def close(self) -> None:
        """Stop, and listen no more."""
        self.cancel()
        self._session.changed.disconnect(self._changed)

    @property
    def running(self) -> bool:
        """True between press and release."""
        return self._running is not None

    def choose(self, tool: str) -> None:
        """Choose a tool by its id."""
        self.cancel()
        if tool != self.tool.id:
            self.tool.leave(self._view)
            self.tool = self._tools[tool]
            if self.tool.enter is not None:
                self.tool.enter(self._view)
            self.chosen.emit(self.tool)

    def press(self, pointer: Pointer) -> None:
        """A button goes down."""
        if self._running is not None:
            return
        plain = pointer.button == "left" and (not pointer.shift or self.tool.takes_shift)
        tool = self._tools["pull"] if plain and pointer.ctrl and self.tool.id in PULLING else self.tool
        self._running = (tool.press if plain else self._others)(self._view, pointer)
        self._holds = plain
        self._last = pointer
        self._step(None, first=True)

    def move(self, pointer: Pointer) -> None:
        """The pointer moves."""
        self._last = pointer
        if self._running is not None:
            self._step(pointer)
        else:
            self.tool.hover(self._view, pointer)

    def release(self, pointer: Pointer) -> None:
        """The button comes up: the gesture commits."""
        if self._running is not None:
            self._step(pointer)
        if self._running is not None:
            self._step(None)
            self._running = None
        self.tool.hover(self._view, pointer)

    @property
    def inside(self) -> bool:
        """Whether the pointer is in the viewport."""
        return self._last is not None

    def leave(self) -> None:
        """The pointer leaves the viewport."""
        self._last = None
        if self._running is None:
            self.tool.hover(self._view, None)

    def again(self) -> None:
        """What lies under the resting pointer may have changed."""
        if self._running is None and self._last is not None:
            self.tool.hover(self._view, self._last)

    def cancel(self) -> bool:
        """Stop the gesture in progress and restore; False if there was none."""
        if self._running is None:
            return False
        running, self._running = self._running, None
        running.close()
        return True

    def step_back(self) -> bool:
        """Let the tool take one step back; False if it has none."""
        return self.tool.back is not None and self.tool.back(self._view)

    def _changed(self, old: State, new: State) -> None:
        """An edit that is not its own ends a gesture: what it has in hand may be gone, or be called otherwise."""
        running = self._running
        if running is None or not self._holds or getgeneratorstate(running) == GEN_RUNNING:
            return
        self.cancel()
        self._session.message.emit("hint", "The document was changed meanwhile: what was dragged is let go.")

    def _step(self, pointer: Pointer | None, first: bool = False) -> None:
        running = self._running
        assert running is not None
        try:
            next(running) if first else running.send(pointer)
        except StopIteration:
            if self._running is running:
                self._running = None
        except Exception:
            self._running = None
            self._session.cancel()
            raise
