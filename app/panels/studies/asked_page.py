"""Left part of the Studies panel: quantities to vary, quantities to record, and method."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QScrollArea,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.panels.studies.asked_tables import FORMULAS, RecordTable, VariedTable
from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Note
from app.widgets.refused_texts import InputChecker
from core.errors import ModelError
from core.mechanism import Mechanism
from core.model import Model
from core.model.parameters import evaluate_field
from core.simulation.methods import METHODS
from core.studies.declaration import HOW, KINDS
from core.studies.study_text import StudyText

MOST_SPEEDS = 12
"""Largest number of speeds of a machine for which initial values are listed."""
KIND_TITLES = dict(zip(KINDS, ("Runs", "Poses", "Targets (inverse kinematics)", "Linear systems"), strict=True))
HOW_TITLES = {"random": "random", "latin": "Latin hypercube", "sobol": "Sobol"}
RELATIVE, ABSOLUTE = 0.05, 0.1
"""Default deviation of varied quantities: relative to the value, or, for a value of 0, absolute in SI."""


class StudySettingsPage(QTabWidget):
    """Tabs with the study's settings; emits `edited` after every edit of the user."""

    edited = Signal()

    def __init__(self, names: Callable[[], tuple[str, ...]], choose_file: Callable[[], str]) -> None:
        """Create the page. names : returns the names that formulas may use."""
        super().__init__()
        self.varied, self.record = VariedTable(), RecordTable(names)
        self.kind, self.method, self.how, self.cores, self.frame = (NarrowCombo() for _ in range(5))
        self.duration, self.step, self.count, self.seed, self.cluster, self.file = (
            QLineEdit(text) for text in ("1", "", "200", "1", "", "")
        )
        self._fill()
        self._browse = QToolButton(text="…", toolTip=escape_tip("Choose a file"))
        self._browse.clicked.connect(lambda: self.file.setText(choose_file() or self.file.text()))
        self._recorded = QWidget()
        self._lay_out()
        self.kind.currentIndexChanged.connect(self._on_kind_changed)
        for table in (self.varied, self.record):
            table.edited.connect(self.edited)
        for line in (self.duration, self.step, self.count, self.seed):
            line.textEdited.connect(lambda _: self.edited.emit())
        for combo in (self.kind, self.method, self.how, self.frame):
            combo.activated.connect(lambda _: self.edited.emit())
        self._on_kind_changed()

    def _lay_out(self) -> None:
        """Create the tabs for varied quantities, recorded quantities and method."""
        record, how, scroll = QVBoxLayout(self._recorded), QWidget(), QScrollArea()
        record.setContentsMargins(0, 0, 0, 0)
        record.setSpacing(0)
        words = Note()
        words.setContentsMargins(6, 4, 6, 4)
        words.show_text(FORMULAS)
        record.addWidget(self.record, 1)
        record.addWidget(words)
        how.setLayout(self._build_form())
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidget(how)
        for page, title in ((self.varied, "Vary"), (self._recorded, "Record"), (scroll, "Method")):
            self.addTab(page, title)
        for table in (self.varied, self.record):
            table.edited.connect(self._show_counts)

    def _show_counts(self) -> None:
        """Show the number of varied and recorded quantities in the tabs' titles."""
        for k, title, count in (
            (0, "Vary", len(self.varied.varied_distributions())),
            (1, "Record", len(self.record.recorded_formulas())),
        ):
            self.setTabText(k, f"{title} ({count})" if count else title)

    def _fill(self) -> None:
        for kind, title in KIND_TITLES.items():
            self.kind.addItem(title, kind)
        for name, method in METHODS.items():
            self.method.addItem(method.title, name)
        for how in HOW:
            self.how.addItem(HOW_TITLES[how], how)
        count = os.cpu_count() or 1
        for cores in range(1, count + 1):
            self.cores.addItem(f"{cores} of {count} cores", cores)
        self.cores.setCurrentIndex(max(count - 2, 0))
        self.step.setPlaceholderText("chosen")
        self.cluster.setPlaceholderText("tcp://host:8786; empty: this computer")
        self.file.setPlaceholderText("study.h5; empty: in memory only")

    def _build_form(self) -> QFormLayout:
        form = QFormLayout()
        form.setVerticalSpacing(4)
        form.setContentsMargins(8, 6, 8, 6)
        drawn, motion = QHBoxLayout(), QHBoxLayout()
        drawn.addWidget(self.count, 2)
        drawn.addWidget(self.how, 3)
        drawn.addWidget(self.seed, 1)
        motion.addWidget(self.duration, 1)
        motion.addWidget(self.method, 3)
        motion.addWidget(self.step, 1)
        place = QHBoxLayout()
        place.addWidget(self.file, 1)
        place.addWidget(self._browse)
        form.addRow("Kind of rows", self.kind)
        form.addRow("Frame", self.frame)
        form.addRow("Run duration (s)", motion)
        form.addRow("Samples", drawn)
        form.addRow("Cores", self.cores)
        form.addRow("Cluster", self.cluster)
        form.addRow("File", place)
        for field, words in (
            (self.kind, "Kind of row: a run, a pose …"),
            (self.frame, "Frame that is moved to x, y, z by inverse kinematics"),
            (self.duration, "Duration of a run, s"),
            (self.method, "Integrator"),
            (self.step, "Step, s"),
            (self.count, "Number of samples drawn from the distributions"),
            (self.how, "Sampling method"),
            (self.seed, "Random seed: the same seed gives the same samples"),
            (self.cores, "Number of processor cores of this computer to use"),
            (self.cluster, "Address of a Dask scheduler"),
            (self.file, "File in which finished rows are stored"),
        ):
            field.setAccessibleName(words)
            field.setToolTip(escape_tip(words))
        self._form_layout = form
        return form

    def _on_kind_changed(self) -> None:
        kind = self.kind.currentData()
        for k in range(self._form_layout.rowCount()):
            label: Any = self._form_layout.itemAt(k, QFormLayout.ItemRole.LabelRole).widget()
            if label.text() in ("Frame", "Run duration (s)"):
                shown = kind == ("targets" if label.text() == "Frame" else "runs")
                self._form_layout.setRowVisible(k, shown)
        self.setTabVisible(1, kind in ("runs", "poses"))

    def mark_unreadable_texts(self, refused: InputChecker) -> None:
        """Mark texts that cannot be read."""
        refused.watch_table(self.varied, self.varied.check_cell)
        refused.watch_table(self.record, self.record.check_cell)
        for line in (self.duration, self.count, self.seed):
            refused.watch_line(line, lambda line=line: _read_number(line))
        refused.watch_line(self.step, lambda: _read_number(self.step) if self.step.text().strip() else None)

    # ------------------------------------------------------------------------------------------- the machine

    def show_machine(self, model: Model, mech: Mechanism) -> None:
        """List the quantities of the machine that can be varied."""
        values = model.values()
        rows = [(name, values[name], _default_distribution(model, name, values[name])) for name in mech.p_names]
        if mech.nv <= MOST_SPEEDS:
            rest = mech.rest()
            rows += [
                (f"{name}.q", float(x), _default_range(float(x))) for name, x in zip(mech.q_names, rest, strict=True)
            ]
            rows += [(f"{name}.v", 0.0, _default_range(0.0)) for name in mech.v_names]
        kind = self.kind.currentData()
        if kind == "targets":
            rows += [(axis, 0.0, "0:0.5:11") for axis in "xyz"]
        elif kind == "runs":
            rows += [("duration", 1.0, "1, 2, 5"), ("step", 1e-3, "1e-3, 1e-4")]
        self.varied.show_rows(rows)
        chosen = self.frame.currentText()
        self.frame.clear()
        for name in mech.frame_names:
            self.frame.addItem(name)
        self._show_counts()
        self.frame.setCurrentText(chosen or (mech.frame_names[-1] if mech.frame_names else ""))

    # ------------------------------------------------------------------------------------------- what is asked

    def typed_settings(self) -> StudyText:
        """Return the study's settings as typed. Raises ModelError for a field that is not a number."""
        kind = str(self.kind.currentData())
        options: dict[str, Any] = {"duration": _read_number(self.duration), "method": self.method.currentData()}
        if self.step.text().strip():
            options["step"] = _read_number(self.step)
        record = self.record.recorded_formulas() if kind in ("runs", "poses") else {}
        count, seed = (int(_read_number(line)) for line in (self.count, self.seed))
        return StudyText(
            self.varied.varied_distributions(),
            record,
            kind,
            count,
            seed,
            str(self.how.currentData()),
            self.frame.currentText() if kind == "targets" else "",
            options=options if kind == "runs" else {},
        )

    def show_settings(self, study_text: StudyText) -> list[str]:
        """Show the settings of a study; return the names of varied quantities that are not listed here."""
        self.kind.setCurrentIndex(self.kind.findData(study_text.kind))
        missing = self.varied.show_varied(study_text.varied)
        self.record.show_formulas(study_text.record)
        self._show_counts()
        self.count.setText(str(study_text.count))
        self.seed.setText(str(study_text.seed))
        self.how.setCurrentIndex(self.how.findData(study_text.how))
        self.frame.setCurrentText(study_text.frame or self.frame.currentText())
        if study_text.kind == "runs":
            self.duration.setText(f"{study_text.options.get('duration', 10.0):g}")
            self.method.setCurrentIndex(max(self.method.findData(study_text.options.get("method", "auto")), 0))
            self.step.setText(f"{study_text.options['step']:g}" if study_text.options.get("step") else "")
        return missing


def _default_distribution(model: Model, name: str, value: float) -> str:
    """Return a default distribution: between the parameter's bounds, or around its value."""
    parameter, values = model.expanded.find("parameters", name), model.values()
    if parameter.minimum is None or parameter.maximum is None:
        return _default_range(value)
    low, high = (float(evaluate_field(end, values)) for end in (parameter.minimum, parameter.maximum))
    return f"uniform({low:.6g}, {high:.6g})" if low < high else _default_range(value)


def _default_range(value: float) -> str:
    return f"normal({value:.6g}, {abs(value) * RELATIVE or ABSOLUTE:.3g})"


def _read_number(line: QLineEdit) -> float:
    try:
        found = float(line.text().replace(",", "."))
    except ValueError:
        raise ModelError(f"'{line.text()}' is not a number.", where=line.accessibleName()) from None
    return found
