"""Draw and Connect by hand, with the mouse and the keys of a person: whatever is pressed, dragged, typed, deleted and
undone on the way, the document is valid, its loops are closed, and undoing it all leads back to where it began."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.document.session import ElementRef
from app.tools.draw.sub_tools import SUB_TOOLS
from app.tools.draw.tool import draw_controller
from tests.campaign.drawing_trials import examined
from tests.campaign.hands import Hands, pause
from tests.campaign.window_trials import WindowTrials

GESTURES = 14
"""of one trial"""
NUMBERS = ("120", "0.1 < 30", "0.05, 0.02", "0", "-3", "=2*l1", "=nothing", "30 m", "< 45", "0.1 << 20", "5 kg", "")
"""What is typed into the field, good and bad."""
NONE, SHIFT, CONTROL = (
    Qt.KeyboardModifier.NoModifier,
    Qt.KeyboardModifier.ShiftModifier,
    Qt.KeyboardModifier.ControlModifier,
)


class SketchTrials(WindowTrials):
    """Random gestures of Draw on one window, in turns that begin anew."""

    def trial(self, luck: random.Random, folder: Path) -> str:
        """One drawing, undone and done again."""
        from tests.app.conftest import fresh

        self.luck, self.folder = luck, folder
        self._close_dialogs()
        fresh(self.bench)
        pen = _Pen(self, luck, folder)
        pen.key("d")
        for _ in range(luck.randint(4, GESTURES)):
            verb = luck.choice(VERBS)
            pen.note(verb.__name__)
            verb(pen)
            pause(luck.choice((0.0, 0.002, 0.03)))
            self._look()
            examined(self.bench.session.model)
        connects = luck.random() < 0.3
        if connects:
            pen.note("connect")
            connect(pen)
        self._close_dialogs()
        self._settle()
        self._look()
        self._there_and_back()
        self._look()
        return "connected" if connects else "drawn"


TRIALS = SketchTrials


class _Pen:
    """A hand in the view, which prefers to point at what is there."""

    def __init__(self, trials: SketchTrials, luck: random.Random, folder: Path) -> None:
        self.bench, self.luck, self.folder = trials.bench, luck, folder
        self.hand = draw_controller(self.bench.view)
        self.done: list[str] = []
        self.answers = Hands(self.bench, luck, folder)

    def note(self, what: str) -> None:
        """Keep what is done, for whoever mends what comes of it."""
        self.done.append(what)
        (self.folder / "gestures.txt").write_text("\n".join(self.done), encoding="utf-8")

    def place(self) -> tuple[int, int]:
        """A pixel: of a pin, a free end, the middle of a link, a dimension, or any."""
        view, luck, drawing = self.bench.view, self.luck, self.hand.drawing
        points = [pin.point for pin in drawing.pins]
        points += [bar.end for bar in drawing.bars]
        points += [(0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])) for _, a, b, _ in drawing.bars]
        if points and luck.random() < 0.5:
            x, y, z = drawing.world_point(luck.choice(points)).tolist()
            pixel = view.annotations.pixel((x, y, z))
            if pixel is not None and view.rect().contains(pixel.toPoint()):
                return round(pixel.x()), round(pixel.y())
        return luck.randrange(5, view.width() - 5), luck.randrange(5, view.height() - 5)

    def key(self, key: object, keys: Qt.KeyboardModifier = NONE) -> None:
        """A key, where the keyboard is."""
        field = self.hand.field
        QTest.keyClick(field.line if field.isVisible() else self.bench.view, key, keys)  # type: ignore[call-overload]
        self.note(f"  key {key}")

    def click(self, button: Qt.MouseButton = Qt.MouseButton.LeftButton, keys: Qt.KeyboardModifier = NONE) -> None:
        """Press and release at one place."""
        x, y = self.place()
        self.note(f"  click {x} {y} {button} {keys}")
        self.bench.move(x, y, keys)
        self.bench.press(x, y, button, keys)
        self.bench.release(x, y, button, keys)


# ------------------------------------------------------------------------------- gestures


def click(pen: _Pen) -> None:
    """Wherever."""
    pen.click(keys=pen.luck.choice((NONE, NONE, NONE, NONE, SHIFT, CONTROL, Qt.KeyboardModifier.AltModifier)))


def double_click(pen: _Pen) -> None:
    """A chain ends on the ground."""
    x, y = pen.place()
    pen.note(f"  double {x} {y}")
    pen.bench.move(x, y)
    pen.bench.press(x, y)
    pen.bench.release(x, y)
    QTest.mouseDClick(pen.bench.view, Qt.MouseButton.LeftButton, NONE, QPoint(x, y))


def drag(pen: _Pen) -> None:
    """A link in one go, a pin elsewhere, a length that slides; now and then let go by Esc, or undone half-way."""
    places = [pen.place() for _ in range(pen.luck.randint(2, 4))]
    pen.note(f"  drag {places}")
    pen.bench.press(*places[0])
    for place in places[1:]:
        pen.bench.move(*place)
    if pen.luck.random() < 0.15:
        pen.key(Qt.Key.Key_Escape)
    elif pen.luck.random() < 0.15:
        pen.bench.session.undo()
    pen.bench.release(*places[-1])


def right_click(pen: _Pen) -> None:
    """A chain ends free, or a menu is opened."""
    if pen.hand.chain:
        pen.click(Qt.MouseButton.RightButton)


def end(pen: _Pen) -> None:
    """A chain ends, or what is begun is dropped; who left comes back."""
    pen.key(pen.luck.choice((Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Backspace, Qt.Key.Key_Tab)))
    if pen.bench.view.gestures.tool.id != "draw":
        pen.key("d")


def choose(pen: _Pen) -> None:
    """Another sub-tool, or the other branch."""
    if not pen.hand.field.isVisible():
        pen.key(pen.luck.choice([*SUB_TOOLS, "l", "l", "l", "v"]))


def number(pen: _Pen) -> None:
    """A number at the pointer or at a dimension."""
    pen.bench.move(*pen.place())
    text = pen.luck.choice(NUMBERS)
    for letter in text:
        if pen.hand.field.isVisible() or pen.hand.chain:
            pen.key(letter)
    pen.key(pen.luck.choice((Qt.Key.Key_Return, Qt.Key.Key_Return, Qt.Key.Key_Escape)))
    if pen.bench.view.gestures.tool.id != "draw":
        pen.key("d")


def take_back(pen: _Pen) -> None:
    """Undo in the middle of a chain, or redo."""
    session = pen.bench.session
    pen.luck.choice((session.undo, session.undo, session.redo))()


def delete(pen: _Pen) -> None:
    """A body that is drawn on goes."""
    bodies = pen.bench.session.model.bodies
    if bodies:
        pen.bench.session.select(ElementRef("bodies", pen.luck.choice(bodies).name))
        pen.bench.window.run_command("element.delete")


def connect(pen: _Pen) -> None:
    """Two points with Connect, and any of what is offered between them."""
    pen.bench.view.gestures.choose_tool("connect")
    for _ in range(2):
        pen.click()
    for _ in range(3):
        pause(0.02)
        dialog = QApplication.activePopupWidget() or QApplication.activeModalWidget()
        if dialog is not None:
            pen.answers.answer(dialog)


VERBS: tuple[Callable[[_Pen], None], ...] = (
    *(click,) * 6,
    *(double_click,) * 2,
    *(drag,) * 3,
    right_click,
    *(end,) * 2,
    *(choose,) * 2,
    *(number,) * 2,
    *(take_back,) * 2,
    delete,
)
