"""The film dialog: file, size, times and camera; it stays open beside the window while the film is made in the
background."""

from __future__ import annotations

import re
from math import radians
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDoubleSpinBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.signals import Lifetime
from app.plain_text import escape_title
from app.preferences.icons import icon
from app.runs.films import FilmedSequence, FilmSettings, film_subject
from app.widgets.label import Label, Note
from app.widgets.panel_parts import ProgressBar
from core.errors import KinetostatError
from viz.film.encoders import FORMATS
from viz.film.film import frame_times
from viz.look import LookName

if TYPE_CHECKING:
    from app.background.jobs import Job
    from app.document.run_tree import RunRecord
    from app.workbench import Workbench

SIZES = ((1280, 720), (1920, 1080), (3840, 2160), (1080, 1080), (640, 360))
VIEWS = {
    "": "Same as viewport",
    "iso": "Isometric",
    "front": "Front",
    "back": "Back",
    "left": "Left",
    "right": "Right",
    "top": "Top",
    "bottom": "Bottom",
}
RATES = ("24", "25", "29.97", "30", "50", "60")
KEY = "film"
NOTHING = "There is nothing to film yet. Simulate first (F5), or animate poses, e.g. with Show robot."


class FilmDialog(QDialog):
    """Dialog for the settings of a film; shows its progress and can stop it. It listens to signals until its owner's
    lifetime ends."""

    def __init__(self, bench: Workbench, life: Lifetime) -> None:
        super().__init__(bench.widget)
        self.setWindowTitle("Export film")
        self.setWindowModality(Qt.WindowModality.NonModal)
        self._bench = bench
        self._job: Job | None = None
        self._build()
        self._restore_choices()
        life.listen((bench.session.runs.changed, self._refresh), (bench.player.changed, self._refresh))
        self._refresh()

    # ----------------------------------------------------------------------------- building

    def _build(self) -> None:
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for title, widget in self._build_fields().items():
            form.addRow(title, widget)
        self.caption = QCheckBox("Show the time in the corner")
        self.overlays = QCheckBox("Include vectors, point paths and other runs, as in the viewport")
        for box in (self.caption, self.overlays):
            box.setChecked(True)
            form.addRow("", box)
        self.summary = Label()
        self.summary.setProperty("muted", True)
        self.note = Note(self)
        self.bar = ProgressBar()
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.start = QPushButton(icon("film"), "Make film")
        self.start.setDefault(True)
        self.start.clicked.connect(self._start_or_stop)
        close = QPushButton("Close")
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        buttons = QHBoxLayout()
        buttons.addWidget(self.summary, 1)
        buttons.addWidget(self.start)
        buttons.addWidget(close)
        column = QVBoxLayout(self)
        column.addLayout(form)
        column.addWidget(self.note)
        column.addWidget(self.bar)
        column.addLayout(buttons)
        self.setMinimumWidth(480)

    def _build_fields(self) -> dict[str, QWidget]:
        self.file = QLineEdit()
        self.file.setToolTip("MP4 (H.264), GIF, or PNG: one numbered picture per frame")
        self.size = QComboBox()
        for width, height in SIZES:
            self.size.addItem(f"{width} × {height}", (width, height))
        self.size.addItem("Other …", None)
        self.width_, self.height_ = (QSpinBox(minimum=16, maximum=8192, singleStep=2, value=v) for v in (1280, 720))
        self.fps = QComboBox(editable=True)
        self.fps.addItems(RATES)
        self.fps.setCurrentText("30")
        self.speed = QDoubleSpinBox(minimum=0.001, maximum=1000.0, decimals=3, value=1.0, suffix=" × real time")
        self.from_, self.to = (QDoubleSpinBox(decimals=3, maximum=1e6, suffix=" s") for _ in range(2))
        self.view = QComboBox()
        for name, title in VIEWS.items():
            self.view.addItem(title, name)
        self.turn = QDoubleSpinBox(minimum=-720.0, maximum=720.0, decimals=1, suffix=" °/s")
        self.look = QComboBox()
        for name, title in (("", "Same as window"), ("light", "Light"), ("dark", "Dark")):
            self.look.addItem(title, name)
        for spin in (self.width_, self.height_, self.speed, self.from_, self.to):
            spin.valueChanged.connect(self._on_changed)
        self.size.currentIndexChanged.connect(self._on_changed)
        self.fps.currentTextChanged.connect(self._on_changed)
        self.file.textChanged.connect(self._on_changed)
        browse = QToolButton(icon=icon("folder"), toolTip="Choose a file")
        browse.clicked.connect(self._browse)
        return {
            "File": widgets_in_row(self.file, browse),
            "Size": widgets_in_row(self.size, self.width_, self.height_),
            "Frames per second": self.fps,
            "Speed": self.speed,
            "From, to": widgets_in_row(self.from_, self.to),
            "Camera": self.view,
            "Camera rotation": self.turn,
            "Colours": self.look,
        }

    def _restore_choices(self) -> None:
        kept = self._bench.settings.value(KEY, {})
        self.file.setText(str(kept.get("file", Path.home() / "film.mp4")))
        self.fps.setCurrentText(str(kept.get("fps", "30")))
        self.width_.setValue(int(kept.get("width", 1280)))
        self.height_.setValue(int(kept.get("height", 720)))
        index = next((k for k, size in enumerate(SIZES) if size == (self.width_.value(), self.height_.value())), -1)
        self.size.setCurrentIndex(index if index >= 0 else len(SIZES))

    def _browse(self) -> None:
        filters = "Film (*.mp4);;Animated picture (*.gif);;Pictures (*.png)"
        path, chosen = QFileDialog.getSaveFileName(self, "Export film", self.file.text(), filters)
        if path:
            if Path(path).suffix.lower() not in FORMATS:
                path += chosen[chosen.index("*") + 1 : chosen.index(")")]
            self.file.setText(path)

    # ----------------------------------------------------------------------------- state

    @property
    def _film_source(self) -> RunRecord | FilmedSequence | None:
        """Return what to film: the displayed sequence of poses, or else the current run."""
        return film_subject(self._bench.sequence, self._bench.session.runs)

    @property
    def chosen_settings(self) -> FilmSettings:
        """Return the settings made in the dialog. Raises KinetostatError."""
        size = self.size.currentData() or (self.width_.value(), self.height_.value())
        try:
            fps = float(self.fps.currentText().replace(",", "."))
        except ValueError:
            raise KinetostatError(
                f"“{self.fps.currentText()}” is not a valid number of frames per second.",
                remedy="Give a number such as 30.",
            ) from None
        look: LookName = "dark" if (self.look.currentData() or self._bench.theme.name) == "dark" else "light"
        return FilmSettings(
            Path(self.file.text()).expanduser(),
            tuple(size),
            fps,
            self.speed.value(),
            self.from_.value(),
            self.to.value(),
            self.view.currentData() or None,
            radians(self.turn.value()),
            look,
            self.caption.isChecked(),
            self.overlays.isChecked(),
        )

    def open_film(self) -> None:
        """Open the dialog for the run or sequence on the timeline, or for the part of it selected there."""
        if self._film_source is not None:
            player = self._bench.player
            first, last = player.time_range
            if isinstance(self._film_source, FilmedSequence) and player.span is None:
                last += self._film_source.interval  # the last pose is shown as long as the others
            self.from_.setValue(first)
            self.to.setValue(last)
            self.speed.setValue(player.speed)
        self._propose_path()
        self.show()
        self.raise_()
        self.activateWindow()

    def _propose_path(self) -> None:
        """Propose a file named after the document and next to it when the document changes; the file format is kept."""
        document = self._bench.session.document
        if document != self._named_for:
            self._named_for = document
            source, before = self._bench.files.source, Path(self.file.text())
            name = source.stem if source is not None else re.sub(r"[^\w. -]+", "_", self._bench.session.model.name)
            folder = self._bench.session.folder or before.parent
            self.file.setText(str(folder / f"{name or 'film'}{before.suffix or '.mp4'}"))

    _named_for = -1

    def _on_changed(self) -> None:
        other = self.size.currentData() is None
        self.width_.setVisible(other)
        self.height_.setVisible(other)
        self._refresh()

    def _refresh(self) -> None:
        """Show the length of the film, or what is wrong with the settings."""
        making = self._job is not None
        source = self._film_source
        self.setWindowTitle(escape_title("Export film" + (f" of {_source_text(source)}" if source is not None else "")))
        self.start.setText("Stop" if making else "Make film")
        self.start.setIcon(icon("stop" if making else "film"))
        self.bar.setVisible(making)
        self.start.setEnabled(making or source is not None)
        if making:
            return
        try:
            chosen = self.chosen_settings
            count = len(frame_times(chosen.start or 0.0, chosen.end or 0.0, chosen.fps, chosen.speed))
            self.summary.setText(f"{count} frames, {count / chosen.fps:.4g} s")
            self.note.show_text(_replacement_note(chosen.path) if source is not None else NOTHING, "hint")
        except KinetostatError as error:
            self.summary.setText("")
            self.start.setEnabled(False)
            self.note.show_text(f"{error.what} {error.remedy}".strip(), "error")

    # ----------------------------------------------------------------------------- making

    def _start_or_stop(self) -> None:
        if self._job is not None:
            self._job.cancel()
            self.start.setEnabled(False)
            return
        source = self._film_source
        if source is None:
            return
        chosen = self.chosen_settings
        width, height = chosen.size
        self._bench.settings.remember(
            KEY, {"file": str(chosen.path), "fps": self.fps.currentText(), "width": width, "height": height}
        )
        self._job = job = self._bench.runs.films.start(chosen, source)
        job.progressed.connect(lambda part, _: self._show_progress(part))
        job.succeeded.connect(lambda count: self._finish(f"Wrote {chosen.path}: {count} frames", "done"))
        job.failed.connect(self._on_failed)
        job.stopped.connect(lambda: self._finish("Stopped; no film was written", "hint"))
        self.bar.setValue(0)
        self._refresh()

    def _show_progress(self, fraction: float) -> None:
        self.bar.setValue(round(1000 * fraction))
        left = self._job.time_left if self._job is not None else None
        if left is not None:
            self.summary.setText(f"{100 * fraction:.0f} %, about {left:.0f} s left")

    def _on_failed(self, error: BaseException) -> None:
        known = isinstance(error, KinetostatError)
        self._finish(str(error) if known else f"The film failed unexpectedly: {error}", "error")

    def _finish(self, message: str, severity: str) -> None:
        self._job = None
        self._refresh()
        self.note.show_text(message, severity)
        self._bench.session.message.emit(severity, message)


def _source_text(source: RunRecord | FilmedSequence) -> str:
    """Return a description of what is filmed."""
    return source.poses.title or "a sequence" if isinstance(source, FilmedSequence) else source.name


def _replacement_note(path: Path) -> str:
    """Return a note that a film of this name already exists; "" if there is none."""
    there = path if path.suffix.lower() != ".png" else path.with_name(f"{path.stem}_0001.png")
    return f"{there.name} exists already and will be replaced." if there.is_file() else ""


def widgets_in_row(*widgets: QWidget) -> QWidget:
    """Return a widget with the given widgets in a row."""
    holder = QWidget()
    line = QHBoxLayout(holder)
    line.setContentsMargins(0, 0, 0, 0)
    for k, widget in enumerate(widgets):
        line.addWidget(widget, 1 if k == 0 else 0)
    return holder
