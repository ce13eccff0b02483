"""A matrix of formulas on screen: scrolls both ways, zooms sharply; entries and symbols can be hovered and selected."""

from __future__ import annotations

import time
from collections.abc import Collection
from typing import NamedTuple

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QSizePolicy, QToolTip, QWidget

from app.background.slices import shared_slices
from app.formulas.cells import SLICE, FormulaCell, FormulaGrid
from app.formulas.layout import Token, Typesetter
from app.plain_text import escape_tip
from app.widgets.plain_keys import PlainKeyFilter
from core.functions.results import Formulas
from core.symbolic.forms import Form, Symbol
from core.symbolic.notation import format_form

WAIT = 20
"""Interval at which background work is checked for completion, ms."""
LAY_OUT_EVERY = 0.1
"""Interval between updates of the layout while many entries are typeset, s."""
SIZE = 17.0
"""Initial font size, pixels."""
SIZES = 9.0, 60.0
TALLEST = 420
"""Height above which a matrix scrolls, pixels."""


class PointerSpot(NamedTuple):
    """Place under the pointer: symbols of the term, row and column of the entry (−1: none)."""

    symbols: tuple[str, ...] = ()
    row: int = -1
    column: int = -1


class FormulasView(QAbstractScrollArea):
    """Widget that shows `Formulas`. A click selects an entry, expands a collapsed one, or replaces a name by its
    definition; Ctrl+wheel zooms."""

    pointed = Signal(object)
    """Emitted with the `PointerSpot` when what is under the pointer changes."""
    settled = Signal()
    """Emitted when all entries are typeset."""

    def __init__(self, formulas: Formulas, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.points = SIZE
        self.chosen: set[tuple[int, int]] = set()
        self.marked: frozenset[str] = frozenset()
        """Symbols whose terms are marked, and rows and columns by label."""
        self.marked_labels: frozenset[str] = frozenset()
        self.tallest = TALLEST
        self._spot = PointerSpot()
        self._hand = Typesetter(self.points)
        PlainKeyFilter(self, typing=False)
        self._timer = QTimer(self, interval=WAIT, singleShot=True)
        self._timer.timeout.connect(self._typeset_more)
        self.show_formulas(formulas)

    def show_formulas(self, formulas: Formulas) -> None:
        """Show another matrix."""
        self.formulas = formulas
        self.grid = FormulaGrid(formulas.entries, equations=bool(formulas.names))
        self.chosen.clear()
        self._begin_typesetting()

    def _begin_typesetting(self) -> None:
        if self._hand.size != self.points:
            self._hand = Typesetter(self.points)
        self.grid.begin_typesetting(self._hand)
        self._laid_out = 0.0
        self._typeset_more()

    def _typeset_more(self) -> None:
        """Typeset some entries at once and the rest in time slices."""
        if not self._typeset_some():
            shared_slices().add(self, self._typeset_some)

    _done = False

    def _typeset_some(self, seconds: float = SLICE) -> bool:
        """Continue typesetting for the given time; return True when nothing is left."""
        self._done = self.grid.typeset_some(seconds)
        if self._done or time.perf_counter() > self._laid_out + LAY_OUT_EVERY:
            self._lay_out()
            self._laid_out = time.perf_counter()
        if self._done:
            self.settled.emit()
        elif self.grid.is_preparing:
            self._timer.start()
        return self._done or self.grid.is_preparing

    _laid_out = 0.0

    @property
    def is_typeset(self) -> bool:
        """True when all entries are typeset."""
        return self._done

    # ------------------------------------------------------------------------------- size

    def _heading_tokens(self) -> list[Token]:
        name, _, indices = self.formulas.label.partition("[")
        if not name or self.formulas.names:
            return []
        known = {"CM": "C", "tau": "τ"}
        token = self._hand.letter_token(known.get(name, name), indices.strip("[]"), 0, ())
        return [token, self._hand.upright_token(" =  ")]

    def _name_tokens(self, name: str) -> list[Token]:
        """Return the tokens of a name in front of its equation."""
        return [self._hand.symbol_token(name), self._hand.upright_token(" = ")]

    def _lay_out(self) -> None:
        left = sum(token.width for token in self._heading_tokens())
        left += max((sum(t.width for t in self._name_tokens(name)) for name in self.formulas.names), default=0.0)
        self.grid.lay_out(self.formulas.columns, left)
        labels = [self._hand.text_width(label, True) for label in self.formulas.rows]
        right = self.grid.right + (max(labels) + 14.0 if labels else 4.0)
        self.content = QSize(int(max(self.grid.width, right)) + 2, int(self.grid.height) + 4)
        bar = self.horizontalScrollBar().sizeHint().height()
        wide = self.content.width() > self.viewport().width()
        height = min(self.content.height() + (bar if wide else 0), self.tallest)
        if height != self.height():
            self.setFixedHeight(height)
        seen = self.viewport().size()
        for scroll, whole, part in (
            (self.horizontalScrollBar(), self.content.width(), seen.width()),
            (self.verticalScrollBar(), self.content.height(), seen.height()),
        ):
            scroll.setRange(0, max(0, whole - part))
            scroll.setPageStep(part)
            scroll.setSingleStep(24)
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Update the scroll bars for the new size."""
        super().resizeEvent(event)
        self._lay_out()

    def zoom(self, factor: float) -> None:
        """Multiply the font size by a factor."""
        self.points = min(max(self.points * factor, SIZES[0]), SIZES[1])
        self._begin_typesetting()

    # ------------------------------------------------------------------------------- verbs

    def show_entry(self, cell: FormulaCell, expanded: bool) -> None:
        """Expand a collapsed entry, or collapse it."""
        cell.shown = expanded
        self._begin_typesetting()

    def refresh(self) -> None:
        """Typeset all cells again in their current display state."""
        self._begin_typesetting()

    def name_subexpressions(self, named: bool) -> None:
        """Show entries with names for common subexpressions, or in full."""
        self.grid.name_subexpressions() if named else self.grid.write_in_full()
        self._begin_typesetting()

    def highlight(self, symbols: Collection[str], labels: Collection[str] = ()) -> None:
        """Highlight the terms that contain these symbols, and the rows and columns with these labels."""
        marked = frozenset(symbols), frozenset(labels)
        if marked != (self.marked, self.marked_labels):
            self.marked, self.marked_labels = marked
            self.viewport().update()

    def selected_entries(self) -> list[list[Form]]:
        """Return the selected entries row by row; all entries if none is selected."""
        if not self.chosen:
            return [list(row) for row in self.formulas.entries]
        rows = sorted({i for i, _ in self.chosen})
        return [[self.formulas.entries[i][j] for k, j in sorted(self.chosen) if k == i] for i in rows]

    def copy(self, language: str = "text") -> None:
        """Copy the selected entries (all if none is selected), written in a language such as LaTeX."""
        rows = [
            " & ".join(format_form(f, language) for f in row)
            if language == "latex"
            else "\t".join(format_form(f, language) for f in row)
            for row in self.selected_entries()
        ]
        if self.formulas.names:
            rows_ = sorted({i for i, _ in self.chosen}) or range(len(self.formulas.names))
            front = [format_form(Symbol(self.formulas.names[i]), language) for i in rows_]
            rows = [f"{name} = {row}" for name, row in zip(front, rows, strict=True)]
        QGuiApplication.clipboard().setText((" \\\\\n" if language == "latex" else "\n").join(rows))

    # ------------------------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint heading, brackets, labels, and visible entries."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
        painter.translate(-self.horizontalScrollBar().value(), -self.verticalScrollBar().value())
        seen = QRectF(event.rect()).translated(self.horizontalScrollBar().value(), self.verticalScrollBar().value())
        letters = self.palette().color(QPalette.ColorRole.Text)
        painter.setPen(letters)
        self._paint_heading(painter)
        self._paint_labels(painter)
        painter.setPen(letters)
        grid = self.grid
        for i, (top, height) in enumerate(zip(grid.tops, grid.heights, strict=True)):
            if top > seen.bottom() or top + height < seen.top():
                continue
            for j, (left, width) in enumerate(zip(grid.lefts, grid.widths, strict=True)):
                if left <= seen.right() and left + width >= seen.left():
                    self._paint_background(painter, i, j)
                    self._paint_cell(painter, grid.cells[i][j], *grid.cell_corner(i, j), seen)
        for cell, (left, top, height) in zip(grid.definitions, grid.below, strict=True):
            if top <= seen.bottom() and top + height >= seen.top():
                self._paint_definition(painter, cell, left, top, seen)

    def _paint_heading(self, painter: QPainter) -> None:
        grid, hand = self.grid, self._hand
        top, bottom = grid.tops[0] if grid.tops else 0.0, grid.bottom
        x, middle = 0.0, (top + bottom) / 2.0 + hand.axis
        for token in self._heading_tokens():
            hand.paint_token(painter, token, x, middle)
            x += token.width
        if self.formulas.names:
            self._paint_names(painter)
            return
        if len(grid.cells) == 1 and len(grid.cells[0]) == 1:
            return
        painter.setPen(QPen(painter.pen().color(), 1.4))
        for side, inward in ((x, 5.0), (grid.right, -5.0)):
            corners = ((side + inward, top), (side, top), (side, bottom - 1.0), (side + inward, bottom - 1.0))
            painter.drawPolyline(QPolygonF([QPointF(*corner) for corner in corners]))

    def _paint_names(self, painter: QPainter) -> None:
        """Paint the name in front of each equation, on its first line."""
        grid = self.grid
        for i, name in enumerate(self.formulas.names):
            cell, (x, top) = grid.cells[i][0], grid.cell_corner(i, 0)
            up = cell.setting.lines[0][0] if cell.shown and cell.setting else self._hand.size
            tokens = self._name_tokens(name)
            x -= sum(token.width for token in tokens)
            if name in (*self.marked, *self._spot.symbols):
                wide = tokens[0].width + 2.0
                painter.fillRect(
                    QRectF(x - 1.0, top + up - tokens[0].ascent, wide, self._hand.size * 1.2), self._highlight_color(70)
                )
            for token in tokens:
                self._hand.paint_token(painter, token, x, top + up)
                x += token.width

    def _paint_labels(self, painter: QPainter) -> None:
        grid = self.grid
        muted = self.palette().color(QPalette.ColorRole.PlaceholderText)
        accent = self.palette().color(QPalette.ColorRole.Link)
        painter.setFont(self._hand.fonts[1])
        for label, left, width in zip(self.formulas.columns, grid.lefts, grid.widths, strict=False):
            painter.setPen(accent if label in self.marked_labels else muted)
            painter.drawText(QRectF(left - 9.0, 0.0, width + 18.0, 20.0), Qt.AlignmentFlag.AlignCenter, label)
        for label, top, height in zip(self.formulas.rows, grid.tops, grid.heights, strict=False):
            painter.setPen(accent if label in self.marked_labels else muted)
            place = QRectF(grid.right + 8.0, top, 400.0, height)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, label)

    def _paint_background(self, painter: QPainter, i: int, j: int) -> None:
        """Paint the background of an entry that is selected, under the pointer, or highlighted by its row or column."""
        grid, rows, columns = self.grid, self.formulas.rows, self.formulas.columns
        place = QRectF(grid.lefts[j] - 8.0, grid.tops[i] + 1.0, grid.widths[j] + 16.0, grid.heights[i] - 2.0)
        labels = {rows[i]} if rows else set()
        labels |= {columns[j]} if columns else set()
        if (i, j) in self.chosen:
            painter.fillRect(place, self._highlight_color(70))
        elif labels & self.marked_labels:
            painter.fillRect(place, self._highlight_color(24))
        elif (i, j) == (self._spot.row, self._spot.column):
            painter.fillRect(place, self._highlight_color(14))

    def _highlight_color(self, strength: int) -> QColor:
        color = self.palette().color(QPalette.ColorRole.Link)
        color.setAlpha(strength)
        return color

    def _paint_cell(self, painter: QPainter, cell: FormulaCell, x: float, y: float, visible: QRectF) -> None:
        letters = self.palette().color(QPalette.ColorRole.Text)
        if cell.shown and cell.setting is not None:
            marked = self.marked | frozenset(self._spot.symbols)
            cell.setting.paint(
                painter, x, y, (visible.top(), visible.bottom()), marked, (letters, self._highlight_color(70))
            )
            return
        width, height = self.grid.cell_size(cell)
        painter.setPen(self.palette().color(QPalette.ColorRole.Link))
        painter.setFont(self._hand.fonts[1])
        words = cell.collapsed_text if cell.shown is False else "…"
        painter.drawText(QRectF(x, y, width, height), Qt.AlignmentFlag.AlignCenter, words)
        painter.setPen(letters)

    def _paint_definition(self, painter: QPainter, cell: FormulaCell, left: float, top: float, visible: QRectF) -> None:
        hand = self._hand
        tokens = [hand.symbol_token(cell.name), hand.upright_token(" = ")]
        up = cell.setting.lines[0][0] if cell.shown and cell.setting else hand.size
        x = left - sum(token.width for token in tokens)
        painter.setPen(self.palette().color(QPalette.ColorRole.Link))
        if cell.name in (*self.marked, *self._spot.symbols):
            painter.fillRect(QRectF(x - 2.0, top, left - x, hand.size * 1.3), self._highlight_color(70))
        for token in tokens:
            hand.paint_token(painter, token, x, top + up)
            x += token.width
        self._paint_cell(painter, cell, left, top, visible)

    # ------------------------------------------------------------------------------- pointer and keys

    def _find_spot(self, position: QPointF) -> tuple[FormulaCell | None, PointerSpot]:
        x, y = position.x() + self.horizontalScrollBar().value(), position.y() + self.verticalScrollBar().value()
        found = self.grid.find_cell(x, y)
        if found is None:
            return None, PointerSpot()
        cell, i, j, left, top = found
        token = cell.setting.find_token(x - left, y - top) if cell.shown and cell.setting else None
        return cell, PointerSpot(token.symbols if token else (), i, j)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Report the symbol or entry under the pointer."""
        cell, spot = self._find_spot(event.position())
        folded = cell is not None and cell.shown is False
        link = folded or any(name in self.grid.meaning for name in spot.symbols)
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if link else Qt.CursorShape.ArrowCursor)
        if spot != self._spot:
            self._spot = spot
            words = self.describe_spot(spot)
            QToolTip.showText(
                event.globalPosition().toPoint(), escape_tip(words), self.viewport()
            ) if words else QToolTip.hideText()
            self.viewport().update()
            self.pointed.emit(spot)

    def describe_spot(self, spot: PointerSpot) -> str:
        """Return a description of the symbol or entry under the pointer."""
        lines = []
        for name in spot.symbols:
            if name in self.grid.meaning:
                definition = format_form(self.grid.meaning[name])
                lines.append(f"{name} = {definition[:200]}{' …' if len(definition) > 200 else ''}  (click: substitute)")
            elif name in self.formulas.symbols:
                lines.append(f"{name}: {self.formulas.symbols[name]}")
        if not lines and spot.row >= 0:
            of = [
                label[k] for label, k in ((self.formulas.rows, spot.row), (self.formulas.columns, spot.column)) if label
            ]
            if of:
                lines.append(" · ".join(of))
        return "\n".join(lines)

    def leaveEvent(self, event: object) -> None:
        """Report that nothing is under the pointer."""
        if self._spot != PointerSpot():
            self._spot = PointerSpot()
            self.viewport().update()
            self.pointed.emit(self._spot)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Expand a collapsed entry, replace a name by its definition, or select an entry."""
        cell, spot = self._find_spot(event.position())
        if cell is not None and cell.shown is False:
            self.show_entry(cell, True)
            return
        name = next((name for name in spot.symbols if name in self.grid.meaning), "")
        if name and event.button() == Qt.MouseButton.LeftButton:
            self.grid.toggle_definition(name)
            self._begin_typesetting()
            return
        adds = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        place = (spot.row, spot.column)
        if event.button() == Qt.MouseButton.LeftButton or place not in self.chosen:
            self.chosen = self.chosen ^ {place} if adds else {place}
            self.chosen.discard((-1, -1))
        self.viewport().update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Select with the arrows, expand or collapse with Return, copy with Ctrl+C, select all with Ctrl+A, zoom with +
        and −."""
        directions = {
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
        }
        rows, columns = len(self.grid.cells), len(self.grid.cells[0])
        key = Qt.Key(event.key())
        ctrl = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if key in directions:
            i, j = min(self.chosen, default=(0, 0))
            i, j = min(max(i + directions[key][0], 0), rows - 1), min(max(j + directions[key][1], 0), columns - 1)
            self.chosen = {(i, j)}
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            for i, j in self.chosen:
                self.show_entry(self.grid.cells[i][j], not self.grid.cells[i][j].shown)
        elif ctrl and key == Qt.Key.Key_C:
            self.copy()
        elif ctrl and key == Qt.Key.Key_A:
            self.chosen = {(i, j) for i in range(rows) for j in range(columns)}
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Minus):
            self.zoom(1.15 if key == Qt.Key.Key_Plus else 1 / 1.15)
        elif key == Qt.Key.Key_Escape:
            self.chosen.clear()
        else:
            super().keyPressEvent(event)
            return
        self.viewport().update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom with Ctrl; if the matrix does not scroll, let the card scroll."""
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1.1 ** (event.angleDelta().y() / 120.0))
            event.accept()
        elif self.verticalScrollBar().maximum() or event.angleDelta().x():
            super().wheelEvent(event)
        else:
            event.ignore()
