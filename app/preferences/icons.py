"""Icons: the SVG files of `resources/icons` in the text colour of the current theme, sharp at every scaling."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer

from resources import ICONS, has_icon

_kept: list[QIconEngine] = []


class _SvgIconEngine(QIconEngine):
    """Paints an SVG file with `currentColor` replaced by the palette's text colour."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text
        self._renderers: dict[str, QSvgRenderer] = {}
        self._pictures: dict[tuple[int, int, str], QPixmap] = {}

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Draw in the rectangle."""
        color = _icon_color(mode)
        if color not in self._renderers:
            data = QByteArray(self._text.replace("currentColor", color).encode())
            self._renderers[color] = QSvgRenderer(data)
        side = min(rect.width(), rect.height())
        place = QRectF(rect.x() + (rect.width() - side) / 2, rect.y() + (rect.height() - side) / 2, side, side)
        self._renderers[color].render(painter, place)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the icon as a pixmap with transparent background."""
        key = size.width(), size.height(), _icon_color(mode)
        if key in self._pictures:
            return self._pictures[key]
        picture = QPixmap(size)
        if size.isEmpty():
            return picture
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        self._pictures[key] = picture
        return picture

    def clone(self) -> QIconEngine:
        """Return a copy that lives as long as the program (Qt does not own engines written in Python)."""
        copy = _SvgIconEngine(self._text)
        _kept.append(copy)
        return copy


def _icon_color(mode: QIcon.Mode) -> str:
    palette = QGuiApplication.palette()
    group = QPalette.ColorGroup.Disabled if mode == QIcon.Mode.Disabled else QPalette.ColorGroup.Active
    role = QPalette.ColorRole.HighlightedText if mode == QIcon.Mode.Selected else QPalette.ColorRole.WindowText
    return palette.color(group, role).name()


@cache
def icon(name: str) -> QIcon:
    """Return the icon of a name, e.g. "undo" or "revolute", which follows the theme; an empty icon if there is no such
    file."""
    if not has_icon(name):
        return QIcon()
    engine = _SvgIconEngine((ICONS / f"{name}.svg").read_text(encoding="utf-8"))
    _kept.append(engine)
    return QIcon(engine)
