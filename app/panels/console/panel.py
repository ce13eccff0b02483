"""The Python console panel: machine, session and all functions are available by name; commands run in the
background."""

from __future__ import annotations

import code
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QFontDatabase, QKeyEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import (
    QHBoxLayout,
    QListWidget,
    QPlainTextEdit,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.document.picture_settings import PictureSettings
from app.document.session import Session
from app.panels.console.interpreter import Interpreter, find_completions
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.label import Label, severity_color
from core.errors import escape_control_characters

if TYPE_CHECKING:
    from app.workbench import Workbench

BANNER = (
    "Python console. Available: ks, model, mech, q, p, session, np, and every function, for example\n"
    '    jacobian(frame="tool")      mech.mass_matrix(q)      session.pose("Home", mech.rest())\n'
    "Enter runs, Shift+Enter begins a new line, Tab completes, Up and Down recall, Ctrl+L clears.\n"
)
MOST_REMEMBERED = 300
MOST_LINES = 5000
MOST_INPUT_LINES = 8
_KEY = "console/history"


class ConsolePanel(QWidget):
    """Python console with the transcript above and the input below."""

    def __init__(
        self, session: Session, settings: Settings | None = None, pictures: PictureSettings | None = None
    ) -> None:
        super().__init__()
        self._settings = settings or Settings()
        self.interpreter = Interpreter(session, pictures or PictureSettings(session, self._settings), self)
        self.history: list[str] = [str(item) for item in self._settings.value(_KEY, [])]
        self._place = len(self.history)
        self._draft = ""
        self._build()
        self.interpreter.wrote.connect(self._append_text)
        self.interpreter.ended.connect(self._on_ended)
        self._append_text(BANNER, "muted")

    def _build(self) -> None:
        fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        self.transcript = QPlainTextEdit()
        self.transcript.setReadOnly(True)
        self.transcript.setFont(fixed)
        self.transcript.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.transcript.setMaximumBlockCount(MOST_LINES)
        self.transcript.setUndoRedoEnabled(False)
        self.input = ConsoleInput(self)
        self.input.setFont(fixed)
        self.input.textChanged.connect(self._fit_input)
        prompt = Label(">>>")
        prompt.setFont(fixed)
        prompt.setProperty("muted", True)
        prompt.setAlignment(Qt.AlignmentFlag.AlignTop)
        prompt.setContentsMargins(6, 5, 0, 0)
        self.stop_button = QToolButton()
        self.stop_button.setIcon(icon("stop"))
        self.stop_button.setToolTip("Stop the running command (Ctrl+C)")
        self.stop_button.clicked.connect(self.interpreter.stop)
        self.stop_button.setEnabled(False)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 4, 4)
        row.setSpacing(4)
        row.addWidget(prompt)
        row.addWidget(self.input, 1)
        row.addWidget(self.stop_button, 0, Qt.AlignmentFlag.AlignTop)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.transcript, 1)
        layout.addLayout(row)
        self.setFocusProxy(self.input)
        self._fit_input()

    def _fit_input(self) -> None:
        lines = min(MOST_INPUT_LINES, max(1, self.input.blockCount()))
        self.input.setFixedHeight(lines * self.input.fontMetrics().lineSpacing() + 12)

    # ----------------------------------------------------------------------------- running

    def submit(self, text: str | None = None) -> bool:
        """Run the text of the input field (or the given text); return False if it is not complete yet."""
        source = (self.input.toPlainText() if text is None else text).rstrip()
        if not source or self.interpreter.is_running:
            return False
        if text is None and not _is_complete(source):
            return False
        self._add_to_history(source)
        self.input.clear()
        first, *rest = source.splitlines()
        self._append_text("\n".join([f">>> {first}", *(f"... {line}" for line in rest)]) + "\n", "muted")
        self.stop_button.setEnabled(True)
        self.interpreter.run(source)
        return True

    def close(self) -> None:
        """Stop the running command and wait for its thread when the program closes."""
        self.interpreter.stop()
        self.interpreter.wait()

    def clear(self) -> None:
        """Empty the transcript."""
        self.transcript.clear()

    def _on_ended(self) -> None:
        self.stop_button.setEnabled(False)

    def _append_text(self, text: str, kind: str) -> None:
        bar = self.transcript.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        cursor = QTextCursor(self.transcript.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        look = QTextCharFormat()
        look.setForeground(self._text_color(kind))
        cursor.insertText(escape_control_characters(text), look)
        if at_end:
            bar.setValue(bar.maximum())

    def _text_color(self, kind: str) -> QColor:
        if kind == "error":
            return severity_color("error", self.palette())
        return self.palette().placeholderText().color() if kind == "muted" else self.palette().text().color()

    # ----------------------------------------------------------------------------- history

    def _add_to_history(self, source: str) -> None:
        if not self.history or self.history[-1] != source:
            self.history.append(source)
            del self.history[:-MOST_REMEMBERED]
            self._settings.remember(_KEY, self.history)
        self._place = len(self.history)

    def recall(self, step: int) -> None:
        """Show an earlier (−1) or later (+1) input from the history."""
        if self._place == len(self.history):
            self._draft = self.input.toPlainText()
        self._place = max(0, min(len(self.history), self._place + step))
        text = self._draft if self._place == len(self.history) else self.history[self._place]
        self.input.setPlainText(text)
        self.input.moveCursor(QTextCursor.MoveOperation.End)


def _is_complete(source: str) -> bool:
    """Return True if a text is a complete command, or one with a syntax error that should be reported."""
    if "\n" in source:
        return not source.splitlines()[-1].startswith((" ", "\t")) or source.endswith("\n")
    try:
        return code.compile_command(source, "<console>", "single") is not None
    except (SyntaxError, ValueError, OverflowError):
        return True


class ConsoleInput(QPlainTextEdit):
    """Input field of the console with Enter, history and completion."""

    def __init__(self, console: ConsolePanel) -> None:
        super().__init__()
        self._console = console
        self.setTabChangesFocus(False)
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._popup = CompletionPopup(self._insert_completion)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Run a whole command with Enter, recall inputs with Up and Down, complete with Tab."""
        key, control = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and not shift:
            if not self._at_empty_last_line() and not self._console.submit():
                self._insert_new_line()
            elif self._at_empty_last_line():
                self._console.submit(self.toPlainText())
        elif key == Qt.Key.Key_Up and self.textCursor().blockNumber() == 0:
            self._console.recall(-1)
        elif key == Qt.Key.Key_Down and self.textCursor().blockNumber() == self.blockCount() - 1:
            self._console.recall(1)
        elif key == Qt.Key.Key_Tab:
            self._complete()
        elif key == Qt.Key.Key_L and control:
            self._console.clear()
        elif key == Qt.Key.Key_C and control and not self.textCursor().hasSelection():
            self._console.interpreter.stop()
        else:
            super().keyPressEvent(event)

    def _at_empty_last_line(self) -> bool:
        """Return True if the cursor is on an empty last line, which ends a block of several lines."""
        cursor = self.textCursor()
        return self.blockCount() > 1 and cursor.atEnd() and not cursor.block().text().strip()

    def _insert_new_line(self) -> None:
        line = self.textCursor().block().text()
        indent = line[: len(line) - len(line.lstrip())] + ("    " if line.rstrip().endswith(":") else "")
        self.insertPlainText("\n" + indent)

    def _complete(self) -> None:
        cursor = self.textCursor()
        before = cursor.block().text()[: cursor.positionInBlock()]
        if not before.strip():
            self.insertPlainText("    ")
            return
        stem, found = find_completions(before, self._console.interpreter.namespace())
        if len(found) == 1:
            self._insert_completion(stem, found[0])
        elif found:
            common = _common_prefix(found)
            if len(common) > len(stem):
                self._insert_completion(stem, common)
            else:
                corner = self.mapToGlobal(self.cursorRect().bottomLeft())
                self._popup.show_completions(stem, found, corner)

    def _insert_completion(self, stem: str, text: str) -> None:
        cursor = self.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(stem))
        cursor.insertText(text)
        self.setTextCursor(cursor)
        self.setFocus()


def _common_prefix(words: list[str]) -> str:
    first, last = min(words), max(words)
    for i, character in enumerate(first):
        if i >= len(last) or last[i] != character:
            return first[:i]
    return first


class CompletionPopup(QListWidget):
    """List of completions to choose from."""

    def __init__(self, take: Callable[[str, str], None]) -> None:
        super().__init__()
        self.setWindowFlag(Qt.WindowType.Popup)
        self._take, self._stem = take, ""
        self.itemActivated.connect(lambda item: self._on_chosen(item.text()))
        self.itemClicked.connect(lambda item: self._on_chosen(item.text()))

    def show_completions(self, stem: str, words: list[str], corner: object) -> None:
        """Show completions below the cursor."""
        self._stem = stem
        self.clear()
        self.addItems(words)
        self.setCurrentRow(0)
        rows = min(10, len(words))
        self.resize(min(520, self.sizeHintForColumn(0) + 40), rows * self.sizeHintForRow(0) + 6)
        self.move(corner)
        self.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Move on with Tab, accept with Enter, close with any other key."""
        if event.key() == Qt.Key.Key_Tab:
            self.setCurrentRow((self.currentRow() + 1) % self.count())
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._on_chosen(self.currentItem().text())
        elif event.key() in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            super().keyPressEvent(event)
        else:
            self.hide()

    def _on_chosen(self, text: str) -> None:
        if self.isVisible():
            self.hide()
            self._take(self._stem, text)


def create_panel(bench: Workbench) -> ConsolePanel:
    """Create the console panel of a window."""
    return ConsolePanel(bench.session, bench.settings, bench.pictures)
