"""Robotica's command line: a list of its functions with the input line below; results go to the Output panel."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.jobs import Job, Jobs
from app.document.opening import open_filter
from app.document.picture_settings import PictureSettings
from app.document.session import Session
from app.panels.console.panel import CompletionPopup
from app.panels.robotica.host import LineOutcome, RoboticaLineRunner, robotica_functions
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.widgets.label import Label
from app.widgets.panel_parts import create_icon_button
from core.files.mathematica.syntax import FUNCTIONS
from core.functions.results import Message
from core.robotica.command import add_quotes
from resources import EXAMPLES

if TYPE_CHECKING:
    from app.workbench import Workbench

BANNER = (
    "Robotica calls in the notation of its manual, applied to the open robot, for example\n"
    '    FKin[]      MPrint[T[0,1], "T01"]      RElp[{{q1, 0, 90 Degree}}, {scale}]      a1 = 3\n'
    "Enter runs, Tab completes names and files, Up and Down recall, F1 helps, Ctrl+C stops, Ctrl+L clears.\n"
)
PROMPT = "In:="
INDENT = " " * (len(PROMPT) + 1)
MOST_REMEMBERED = 300
MOST_LINES = 5000
_HISTORY, _CALLS, _LETTERS = "robotica/history", "robotica/calls", "robotica/letters"
SIZES = (6, 32)
"""Smallest and largest font sizes, points."""
_ASKS = re.compile(r"^\s*DataFile\s*\[\s*\]\s*;?\s*$")
_ABORT = re.compile(r"^\s*Abort\s*(\[\s*\])?\s*;?\s*$")
_HEAD = re.compile(r"^\s*(\w+)\s*\[")
_WORD = re.compile(r"\w*$")
_FILE = re.compile(r'"([^"]*)$')


class RoboticaPanel(QWidget):
    """Robotica panel; emits `opened(OpenedFile)` when a file was read and should be shown."""

    opened = Signal(object)
    running = Signal(bool)
    """Emitted when a line starts running or has finished."""
    resized = Signal()
    """Emitted when a line has changed parameter values, so that the machine's size in the view may have changed."""

    def __init__(
        self, session: Session, settings: Settings, jobs: Jobs, pictures: PictureSettings | None = None
    ) -> None:
        super().__init__()
        self._session, self._settings, self._jobs = session, settings, jobs
        self.line = RoboticaLineRunner(session, pictures or PictureSettings(session, settings))
        self.job: Job | None = None
        self.waiting: list[str] = []
        """Lines that were entered while another one ran."""
        self.history: list[str] = [str(item) for item in settings.value(_HISTORY, [])]
        self._place = len(self.history)
        stored = settings.value(_CALLS, {})
        self.calls: dict[str, str] = dict(stored) if isinstance(stored, dict) else {}
        """The last call of each function."""
        self.answering = False
        """True if output produced now is shown here."""
        self._build()
        self.append_text(BANNER)

    def _build(self) -> None:
        self.list = self._build_function_list()
        self.transcript = QPlainTextEdit()
        self.transcript.setReadOnly(True)
        self.transcript.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)  # tables and matrices stay what they are
        self.transcript.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.transcript.setMaximumBlockCount(MOST_LINES)
        self.input = RoboticaInput(self)
        self.input.setPlaceholderText('Robotica call, e.g. FKin[] or MPrint[M, "M"]')
        self.prompt = Label(PROMPT)
        self.prompt.setProperty("muted", True)
        self.change_font_size(0)  # before they have a parent, whose font would take its place
        self.abort_button = create_icon_button("stop", "Abort the running line (Ctrl+C)", self.abort)
        self.abort_button.setEnabled(False)
        row = QHBoxLayout()
        row.setContentsMargins(6, 0, 4, 4)
        row.addWidget(self.prompt)
        row.addWidget(self.input, 1)
        row.addWidget(self._create_font_button("A−", "Smaller font (Ctrl+−)", -1))
        row.addWidget(self._create_font_button("A+", "Larger font (Ctrl++)", 1))
        row.addWidget(create_icon_button("clear", "Clear the text (Ctrl+L)", self.clear))
        row.addWidget(create_icon_button("help", "Help on the function in the line (F1)", self.show_help))
        row.addWidget(self.abort_button)
        right = QWidget()
        column = QVBoxLayout(right)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        column.addWidget(self.transcript, 1)
        column.addLayout(row)
        parts = QSplitter(Qt.Orientation.Horizontal)
        parts.addWidget(right)
        parts.addWidget(self.list)
        parts.setStretchFactor(0, 1)
        parts.setSizes([700, 190])
        parts.setCollapsible(0, False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(parts)
        self.setFocusProxy(self.input)

    def _create_font_button(self, text: str, tip: str, step: int) -> QToolButton:
        button = QToolButton(text=text, toolTip=escape_tip(tip), autoRaise=True)
        button.clicked.connect(lambda: self.change_font_size(step))
        return button

    def change_font_size(self, step: int) -> None:
        """Change the font size of input line and transcript by a number of points."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        size = int(self._settings.value(_LETTERS, font.pointSize())) + step
        size = min(max(size, SIZES[0]), SIZES[1])
        if step:
            self._settings.remember(_LETTERS, size)
        font.setPointSize(size)
        for part in (self.transcript, self.input, self.prompt):
            part.setFont(font)

    def _build_function_list(self) -> QListWidget:
        """Create the list of Robotica's functions."""
        shown = QListWidget()
        for command in robotica_functions().values():
            item = QListWidgetItem(command.name)
            item.setToolTip(escape_tip(f"{command.help}\n{command.usage}"))
            shown.addItem(item)
        shown.itemClicked.connect(lambda item: self.insert_call(item.text()))
        shown.itemActivated.connect(lambda item: self.insert_call(item.text()))
        return shown

    def close(self) -> None:
        """Stop the running line because the program closes; the job queue waits for its thread."""
        self.abort()

    # ----------------------------------------------------------------------------- verbs

    def append_text(self, text: str) -> None:
        """Append text to the transcript and scroll to the first line of that text."""
        if text:
            self.transcript.appendPlainText(text.rstrip("\n"))
        down, across = self.transcript.verticalScrollBar(), self.transcript.horizontalScrollBar()
        down.setValue(down.maximum())
        across.setValue(across.minimum())

    def clear(self) -> None:
        """Empty the transcript."""
        self.transcript.clear()

    def insert_call(self, name: str) -> None:
        """Insert the last call of a function, or the manual's example, into the input line with the arguments
        selected."""
        text = self.calls.get(name, robotica_functions()[name].usage)
        self.input.setText(text)
        self.input.setFocus()
        begin = text.index("[") + 1
        self.input.setSelection(begin, max(0, len(text) - begin - 1))

    def show_help(self) -> None:
        """Show the help on the function in the input line; list all functions if there is none."""
        before = self.input.text()[: self.input.cursorPosition()]
        names = [name for name in re.findall(r"\w+", before or self.input.text()) if name in robotica_functions()]
        names = names or [name for name in re.findall(r"\w+", self.input.text()) if name in robotica_functions()]
        self._start(f"Help[{names[-1]}]" if names else "Help[]")

    def run_typed_line(self) -> None:
        """Run the text of the line."""
        if self.run_line(self.input.text().strip()):
            self.input.clear()

    def run_line(self, text: str) -> bool:
        """Run a line as if it had been typed, with an entry in the history; it is queued while another line runs.
        Returns False for an empty line."""
        if not text:
            return False
        if _ABORT.match(text):
            self.append_text("" if self.job is not None else "Nothing is running.")
            self.abort()
            return True
        if self.job is not None:
            self._queue_lines(text)
            return True
        if _ASKS.match(text):
            path = self._ask_data_file()
            if not path:
                return False
            text = f"DataFile[{add_quotes(path)}]"
        if not self.history or self.history[-1] != text:
            self.history.append(text)
            del self.history[:-MOST_REMEMBERED]
            self._settings.remember(_HISTORY, self.history)
        self._place = len(self.history)
        head = _HEAD.match(text)
        if head is not None and head.group(1) in robotica_functions() and text.endswith("]") and "\n" not in text:
            self.calls[head.group(1)] = text
            self._settings.remember(_CALLS, self.calls)
        self._start(text)
        return True

    def _ask_data_file(self) -> str:
        """Ask for the file that DataFile[] needs; return "" if the user chose none."""
        path, _ = QFileDialog.getOpenFileName(self, "Data file", self.folder(), open_filter())
        return path

    def _queue_lines(self, *lines: str) -> None:
        """Queue lines to run when the current one has finished."""
        self.waiting += lines
        count = len(self.waiting)
        self.prompt.setText(f"{count} waiting" if count else PROMPT)

    def abort(self) -> None:
        """Stop the running line and discard the queued ones."""
        if self.job is not None:
            self.job.cancel()
            self.waiting.clear()
            self._queue_lines()

    def stop_or_clear(self) -> None:
        """Stop the running line; if none is running, clear the input line."""
        if self.job is not None:
            self.abort()
        else:
            self.input.clear()

    def recall(self, step: int) -> None:
        """Show an earlier (−1) or later (+1) line of the history; after the last one, the text being typed."""
        if self._place == len(self.history):
            self._draft = self.input.text()
        self._place = max(0, min(len(self.history), self._place + step))
        self.input.setText(self.history[self._place] if self._place < len(self.history) else self._draft)

    _draft = ""
    """Text not yet entered, kept while the history is browsed."""

    # ----------------------------------------------------------------------------- running

    def folder(self) -> str:
        """Return the folder for relative file names: that of the open file, or the last one used."""
        recent = self._settings.recent_files
        return str(self._session.folder or (recent[0].parent if recent else Path.cwd()))

    def _start(self, text: str) -> None:
        if self.job is not None:
            return
        self.append_text(f"{PROMPT} {text.replace(chr(10), chr(10) + INDENT)}")
        folder = self.folder()
        own = Path(folder).resolve().is_relative_to(EXAMPLES)  # of the program itself: nothing is written there
        context = self.line.begin_line(folder, str(Path.home()) if own else folder)
        job = self._jobs.start(f"Robotica: {text[:60]}", self.line.build_work(text, context))
        self.job = job
        self.abort_button.setEnabled(True)
        self.running.emit(True)
        job.succeeded.connect(self._on_done)
        job.failed.connect(lambda error: self.append_text(f"Error: {error}"))
        job.stopped.connect(lambda: self.append_text("Aborted."))
        job.ended.connect(self._on_ended)

    def _on_ended(self) -> None:
        self.job = None
        self.abort_button.setEnabled(False)
        self.running.emit(False)
        if self.waiting:
            first = self.waiting.pop(0)
            self._queue_lines()
            self.run_line(first)

    def _on_done(self, outcome: LineOutcome) -> None:
        if outcome.opened is not None:
            self.opened.emit(outcome.opened)
            self.line.note_document_opened()
        for label, edit in outcome.edits:
            self._session.apply(label, edit)
        self.line.apply_values(outcome)
        if outcome.given or outcome.cleared:
            self.resized.emit()
        self.answering = True
        try:
            for result, text in zip(outcome.results, outcome.texts, strict=True):
                self.append_text(text)
                if not isinstance(result, Message):
                    self._session.produced.emit(result)
        finally:
            self.answering = False
        if outcome.error is not None:
            self.append_text(f"Error: {outcome.error}")

    # ----------------------------------------------------------------------------- completion

    def find_completions(self, before: str) -> tuple[str, list[str]]:
        """Return (the text before the cursor to complete, its completions): files in quotation marks, otherwise
        names."""
        quoted = _FILE.search(before) if before.count('"') % 2 else None
        if quoted is not None:
            return quoted.group(1), _find_files(self.folder(), quoted.group(1))
        match = _WORD.search(before)
        stem = match.group(0) if match else ""
        names = [f"{name}[" for name in robotica_functions()]
        names += [*self._session.mech.p_names, *self.line.robotica.coordinates(self._session.context()), "Degree", "Pi"]
        names += sorted(FUNCTIONS)
        names += [word.name for command in robotica_functions().values() for word in command.option_words]
        return stem, sorted({name for name in names if name.startswith(stem)}) if stem else []


def _find_files(folder: str, stem: str) -> list[str]:
    """Return the files and folders that complete a name."""
    start, _, last = stem.rpartition("/")
    place = Path(folder, f"{start}/" if start or stem.startswith("/") else "")
    try:
        found = sorted(path for path in place.iterdir() if path.name.startswith(last) and path.name[0] != ".")
    except OSError:
        return []
    head = stem[: len(stem) - len(last)]
    return [f"{head}{path.name}{'/' if path.is_dir() else ''}" for path in found[:200]]


LETTER_KEYS = {Qt.Key.Key_Plus: 1, Qt.Key.Key_Equal: 1, Qt.Key.Key_Minus: -1}


class RoboticaInput(QLineEdit):
    """Input line with Enter, history, completion and help."""

    def __init__(self, panel: RoboticaPanel) -> None:
        super().__init__()
        self._panel = panel
        self._popup = CompletionPopup(self._insert_completion)

    def event(self, event: object) -> bool:
        """Complete the text with Tab instead of moving the keyboard focus."""
        if isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.KeyPress and event.key() == Qt.Key.Key_Tab:
            self._complete()
            return True
        if isinstance(event, QKeyEvent) and event.type() == QKeyEvent.Type.ShortcutOverride:
            control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
            own, with_control = (Qt.Key.Key_F1, Qt.Key.Key_Escape), (Qt.Key.Key_L, Qt.Key.Key_C, *LETTER_KEYS)
            if event.key() in (with_control if control else own):
                event.accept()
                return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Run with Enter, recall with Up and Down, show help with F1."""
        key, control = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        pasted = QGuiApplication.clipboard().text() if event.matches(QKeySequence.StandardKey.Paste) else ""
        if "\n" in pasted.strip():
            self._run_lines(pasted)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._panel.run_typed_line()
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._panel.recall(-1 if key == Qt.Key.Key_Up else 1)
        elif key == Qt.Key.Key_F1:
            self._panel.show_help()
        elif key == Qt.Key.Key_L and control:
            self._panel.clear()
        elif key == Qt.Key.Key_C and control and not self.hasSelectedText():
            self._panel.abort()
        elif key == Qt.Key.Key_Escape:
            self._panel.stop_or_clear()
        elif key in LETTER_KEYS and control:
            self._panel.change_font_size(LETTER_KEYS[key])
        else:
            super().keyPressEvent(event)

    def _run_lines(self, pasted: str) -> None:
        """Run several pasted lines one after another; a pasted script is run as a whole."""
        at = self.cursorPosition()
        if self._panel.run_line((self.text()[:at] + pasted + self.text()[at:]).strip()):
            self.clear()

    def _complete(self) -> None:
        stem, found = self._panel.find_completions(self.text()[: self.cursorPosition()])
        if len(found) == 1:
            self._insert_completion(stem, found[0])
        elif found:
            self._popup.show_completions(stem, found, self.mapToGlobal(self.rect().bottomLeft()))

    def _insert_completion(self, stem: str, text: str) -> None:
        self.setSelection(self.cursorPosition() - len(stem), len(stem)) if stem else None
        self.insert(text)
        self.setFocus()


def create_panel(bench: Workbench) -> RoboticaPanel:
    """Create the Robotica panel of a window."""
    panel = RoboticaPanel(bench.session, bench.settings, bench.jobs, bench.pictures)
    panel.opened.connect(lambda opened: bench.files.replace_document(opened))
    panel.resized.connect(bench.stage.viewpoint.move_back_to_fit)
    return panel
