"""Films how a four-bar is drawn, driven and run, with real events in the real window:
`python -m docs.make_drawing_film FILE`, on the present screen (also a virtual one)."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolButton, QWidget

from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.window.screenshots import process_events
from app.window.start import create_application
from app.window.window import Window
from viz.film.encoders import create_encoder

SIZE = (1000, 640)
WIDTH = 760
"""Of the film, pixels."""
RATE = 8
"""Pictures a second."""
GROUND, CRANK, ROCKER, END = (0.3, 0.62), (0.34, 0.5), (0.56, 0.3), (0.66, 0.62)
"""Where is clicked: fractions of the view from the left and the top."""
POINTER = 22
MOTION = 3.5
"""Seconds of the run that are filmed."""


def height_of(widget: QWidget, width: int) -> int:
    """Of a picture of a widget so wide, pixels: an even number."""
    return round(width * widget.height() / widget.width()) // 2 * 2


def picture(widget: QWidget, width: int, pointer: QPointF | None = None) -> np.ndarray:
    """(height, width, 4) what a widget shows, with a pointer."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGBA8888)
    if pointer is not None:
        painter = QPainter(image)
        painter.drawPixmap(pointer.toPoint(), icon("select").pixmap(POINTER, POINTER))
        painter.end()
    smooth, height = Qt.TransformationMode.SmoothTransformation, height_of(widget, width)
    image = image.scaled(width, height, Qt.AspectRatioMode.IgnoreAspectRatio, smooth)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(height, image.bytesPerLine() // 4, 4)
    return rows[:, :width].copy()


class Director:
    """Moves a pointer as a hand does, and films it."""

    def __init__(self, window: Window, path: Path) -> None:
        self.window, self.at = window, QPointF(500.0, 560.0)
        self._film = create_encoder(path, Fraction(RATE), (WIDTH, height_of(window, WIDTH)))

    def shoot(self, seconds: float = 0.0) -> None:
        """So many seconds of what is seen; one picture at least."""
        for _ in range(max(1, round(RATE * seconds))):
            process_events(seconds=1.0 / RATE)
            self._film.add_frame(picture(self.window, WIDTH, self.at))

    def go(self, widget: QWidget, place: QPoint, seconds: float = 0.6) -> None:
        """Move the pointer to a place in a widget."""
        start, goal = QPointF(self.at), QPointF(widget.mapTo(self.window, place))
        steps = max(2, round(RATE * seconds))
        for k in range(1, steps + 1):
            part = 0.5 - 0.5 * np.cos(np.pi * k / steps)
            self.at = start + (goal - start) * part
            there = widget.mapFrom(self.window, self.at.toPoint())
            if widget.rect().contains(there):
                QTest.mouseMove(widget, there)
            self.shoot()

    def click(self, widget: QWidget, place: QPoint, *, double: bool = False) -> None:
        """Go there and click."""
        self.go(widget, place)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=place)
        if double:
            QTest.mouseDClick(widget, Qt.MouseButton.LeftButton, pos=place)
        self.shoot(0.4)

    def finish(self) -> None:
        """Write the film."""
        self._film.finish()


def direct(window: Window, path: Path) -> None:
    """Start page, four points, a motor, and let it run."""
    view, director = window.viewport.widget, Director(window, path)

    def at(point: tuple[float, float]) -> QPoint:
        return QPoint(round(point[0] * view.width()), round(point[1] * view.height()))

    director.shoot(1.0)
    draw = next(button for button in window.start_page.findChildren(QToolButton) if button.text().startswith("Draw"))
    director.click(draw, draw.rect().center())
    director.shoot(0.6)
    for point in (GROUND, CRANK, ROCKER):
        director.click(view, at(point))
    director.click(view, at(END), double=True)
    process_events(lambda: "rocker" in window.status.freedoms.text(), 2.0)
    director.shoot(1.2)
    QTest.keyClick(view, Qt.Key.Key_A)
    director.shoot(0.4)
    director.click(view, at(GROUND))
    director.shoot(0.6)
    QTest.keyClick(QApplication.focusWidget() or view, Qt.Key.Key_F5)
    hide_panels(window)
    director.shoot(MOTION)
    director.finish()


@contextmanager
def stage(size: tuple[int, int]) -> Iterator[Window]:
    """A window to be filmed, with settings of its own."""
    create_application([])
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(Path(place) / "film.ini")
        settings.look, settings.shows_hands = "light", False
        window = Window(settings=settings)
        window.resize(*size)
        window.show()
        window.activateWindow()
        QTest.qWaitForWindowActive(window, 3000)
        yield window
        window.dispose()


def hide_panels(window: Window) -> None:
    """Nothing but the view."""
    for dock in window.docks.docks.values():
        dock.hide()


def main(arguments: list[str]) -> int:
    """The command."""
    if len(arguments) != 1:
        print(f"Usage: python -m {__package__}.make_drawing_film FILE", file=sys.stderr)
        return 2
    with stage(SIZE) as window:
        hide_panels(window)
        begun = time.monotonic()
        process_events(seconds=1.5)
        direct(window, Path(arguments[0]))
        print(f"{arguments[0]}: {time.monotonic() - begun:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
