"""Input page for the dimensional synthesis of the open machine: a formula to minimise, an output as a function of a
coordinate, or poses of a body."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCompleter, QFormLayout, QHBoxLayout, QLineEdit, QTabWidget, QVBoxLayout, QWidget

from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.number_table import NumberColumn, NumberTable, VariedParametersTable
from app.widgets.options.signal_options import ExampleNames, LastNameCompleter
from app.widgets.panel_parts import add_button_row, create_push_button, wrap_in_scroll_area
from app.widgets.quantities.quantity_text import SIUnits, Units, measure_of, read
from app.widgets.refused_texts import InputChecker
from core.errors import FileError, KinetostatError, ModelError
from core.mechanism import Mechanism
from core.model import Aim, DesignVariable, FunctionRow, Model, PoseRow, RequiredRow
from core.model.fields import Value
from core.model.trims import signal_dimension


def read_text_file(path: Path, report_error: Callable[[str], object]) -> str | None:
    """Return the text of a file; None if it cannot be read, after passing the reason to the callback."""
    from core.files.regular_file import SIGNAL, read_text

    try:
        return read_text(path, SIGNAL)
    except KinetostatError as error:
        report_error(str(error))
        return None


PARAMETERS, FUNCTION, MOTION, CURVE = range(4)
QUESTION_TITLES = (
    "Parameters that minimise a formula",
    "Function generation with this machine",
    "Guide a body of this machine through poses",
    "Find a linkage for a curve",
)
QUESTION_OF_AIM = {"parameters": PARAMETERS, "function": FUNCTION, "motion": MOTION, "curve": CURVE}
"""Index of the design problem for each kind of design in `core.model.aims`."""


REST, RUN = "rest", "run"
PLANE_TITLES = {"xz": "x–z", "xy": "x–y", "yz": "y–z"}
VARY, WANTED, ROWS = range(3)
"""Indices of the tabs."""
NARROW = 70


class MachinePage(QTabWidget):
    """Tabs for the design variables, the goal, and rows of numbers if the problem has any. Emits `edited` after every
    edit, and `refused(words)` when pasted or read text is not accepted."""

    edited = Signal()
    refused = Signal(str)

    def __init__(self, units: Units, names: Callable[[], tuple[str, ...]], choose_file: Callable[[], str]) -> None:
        """Create the page; names returns the channel names, choose_file asks for a CSV file ("" for none)."""
        super().__init__()
        self._choose_file, self._names = choose_file, names
        self._model = Model(name="")
        self._mech: Mechanism | None = None
        self._kind = PARAMETERS
        self.vary = VariedParametersTable(units)
        self.minimise = QLineEdit()
        self.require = QLineEdit()
        self.output = QLineEdit()
        self.along, self.driven, self.frame, self.plane = (NarrowCombo() for _ in range(4))
        self.duration, self.starts = QLineEdit("1"), QLineEdit("5")
        self.points, self.poses = NumberTable("Points", units), NumberTable("Poses", units)
        self._lay_out()
        self._name_inputs()
        self._connect()
        self.show_kind(PARAMETERS)

    def mark_unreadable_texts(self, refused: InputChecker) -> None:
        """Mark texts in fields and tables that cannot be read."""
        refused.watch_table(self.vary, self.vary.check_cell)
        for table in (self.points, self.poses):
            refused.watch_table(
                table,
                lambda at, column, table=table: table.check_cell(at, column, self._model.values()),
            )
        for line in (self.minimise, self.require, self.output):
            refused.watch_line(line, lambda line=line: self._check_formulas(line))
        refused.watch_line(self.starts, self.start_count)
        refused.watch_line(self.duration, self._read_duration)

    # --------------------------------------------------------------------------------------------- making

    def _lay_out(self) -> None:
        page = QWidget()
        column, self._form = QVBoxLayout(page), QFormLayout()
        column.setContentsMargins(8, 6, 8, 6)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setVerticalSpacing(4)
        for line in (self.duration, self.starts):
            line.setMaximumWidth(NARROW)
        for name, title in PLANE_TITLES.items():
            self.plane.addItem(title, name)
        over = QHBoxLayout()
        over.addWidget(self.along, 1)
        over.addWidget(self.duration)
        self._rows = {
            "minimise": self._add_row("Minimise", self.minimise),
            "over": self._add_row("Evaluated over", over),
            "driven": self._add_row("Input coordinate", self.driven),
            "output": self._add_row("Output", self.output),
            "frame": self._add_row("Body", self.frame),
            "plane": self._add_row("Plane", self.plane),
            "require": self._add_row("Require", self.require),
            "starts": self._add_row("Starts", self.starts),
        }
        column.addLayout(self._form)
        column.addStretch(1)
        tables, rows = QWidget(), QVBoxLayout()
        rows.setContentsMargins(0, 0, 0, 0)
        for table in (self.points, self.poses):
            rows.addWidget(table)
        tables.setLayout(rows)
        buttons = (
            create_push_button("Paste", "Replace the rows by those in the clipboard", self._paste_rows),
            create_push_button(
                "Read…", "Read rows from a CSV file; column titles may give units: angle [deg]", self._ask_rows_file
            ),
        )
        self.addTab(self.vary, "Vary")
        self.addTab(wrap_in_scroll_area(page), "Wanted")
        self.addTab(add_button_row(tables, buttons), "Points")

    def _add_row(self, title: str, field: Any) -> int:
        self._form.addRow(title, field)
        return self._form.rowCount() - 1

    def _name_inputs(self) -> None:
        for field, words in (
            (self.minimise, "Formula to be minimised"),
            (self.require, "Conditions to be met, separated by semicolons"),
            (self.along, "Pose, coordinate or run over which formulas are evaluated"),
            (self.duration, "Duration of the run, s"),
            (self.driven, "Coordinate that is driven (input)"),
            (self.output, "Channel that should be the given function of the input coordinate"),
            (self.frame, "Body or frame to be guided through the poses"),
            (self.plane, "Plane of the world in which the poses lie"),
            (
                self.starts,
                (
                    "Number of starts: the first from the present values, the others from random values within the "
                    "bounds"
                ),
            ),
        ):
            field.setAccessibleName(words)
            field.setToolTip(escape_tip(words))

    def _connect(self) -> None:
        self.along.currentIndexChanged.connect(lambda _: self.duration.setEnabled(self.along.currentData() == RUN))
        self.driven.currentIndexChanged.connect(lambda _: self._set_column_titles())
        self.output.textChanged.connect(lambda _: self._set_column_titles())
        self.output.textEdited.connect(lambda _: self._set_up_completion())
        for table in (self.points, self.poses):
            table.edited.connect(self._on_edited)
            table.refused.connect(self.refused)
        self.vary.edited.connect(self._on_edited)
        for line in (self.minimise, self.require, self.output, self.duration):
            line.textEdited.connect(lambda _: self.edited.emit())
        for combo in (self.along, self.driven, self.frame, self.plane):
            combo.activated.connect(lambda _: self.edited.emit())

    def _set_up_completion(self) -> None:
        """Set up completion of channel names from their first letter."""
        if self.output.completer() is None:
            completer = LastNameCompleter(list(self._names()), self.output)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
            completer.popup().setObjectName("completions")
            self.output.setCompleter(completer)

    def _show_counts(self) -> None:
        """Show the number of variables, goals and rows in the tab titles."""
        rows = "Poses" if self._kind == MOTION else "Points"
        for tab, title, count in (
            (VARY, "Vary", self.vary.checked_count()),
            (ROWS, rows, self.current_table.filled_row_count()),
        ):
            self.setTabText(tab, f"{title} ({count})" if count else title)

    def _on_edited(self) -> None:
        self._show_counts()
        self.edited.emit()

    # -------------------------------------------------------------------------------------------- showing

    def show_kind(self, kind: int) -> None:
        """Show the fields of a kind of design problem."""
        self._kind = kind
        shown = {
            PARAMETERS: {"minimise", "over"},
            FUNCTION: {"driven", "output"},
            MOTION: {"driven", "frame", "plane"},
        }.get(kind, set())
        for name, row in self._rows.items():
            self._form.setRowVisible(row, name in shown | {"require", "starts"})
        self.points.setVisible(kind == FUNCTION)
        self.poses.setVisible(kind == MOTION)
        self.setTabVisible(ROWS, kind in (FUNCTION, MOTION))
        self._set_column_titles()
        self._show_counts()

    def show_machine(self, model: Model, mech: Mechanism) -> None:
        """Show the parameters, coordinates and bodies of a machine."""
        self._model, self._mech = model, mech
        self.vary.show_parameters(model, mech)
        self.output.setCompleter(None)
        along, driven, frame = self.along.currentData(), self.driven.currentData(), self.frame.currentText()
        for combo in (self.along, self.driven, self.frame):
            combo.blockSignals(True)
            combo.clear()
        self.along.addItem("The rest pose", REST)
        self.along.addItem("A run of (s)", RUN)
        for coordinate in mech.coordinates:
            if coordinate.dimension == "angle":
                self.along.addItem(f"A turn of {coordinate.name}", coordinate.name)
            if coordinate.dimension in ("angle", "length"):
                self.driven.addItem(coordinate.name, coordinate.name)
        self.frame.addItems(list(mech.frame_names))
        for combo, chosen in ((self.along, along), (self.driven, driven)):
            combo.setCurrentIndex(max(0, combo.findData(chosen)))
            combo.blockSignals(False)
        self.frame.setCurrentIndex(self.frame.findText(frame) if frame in mech.frame_names else self.frame.count() - 1)
        self.frame.blockSignals(False)
        self.duration.setEnabled(self.along.currentData() == RUN)
        self._show_examples(ExampleNames.from_machine(mech))
        self._set_column_titles()

    def _show_examples(self, names: ExampleNames) -> None:
        """Show examples of valid input for this machine."""
        self.minimise.setPlaceholderText(names.format_hint("span({frame}.position.z)", "(mode[1].period - 1)^2"))
        self.require.setPlaceholderText(names.format_hint("min({frame}.position.z) > 5 cm", suffix="; …"))
        self.output.setPlaceholderText(names.format_hint("{joint}.q", "{frame}.position.z"))

    def _set_column_titles(self) -> None:
        """Set the tables' column titles with units."""
        driven = str(self.driven.currentData() or "x")
        output = self.output.text().strip()
        x = measure_of(signal_dimension(self._model, driven))
        y = measure_of(signal_dimension(self._model, output))
        self.points.set_columns((NumberColumn(driven, x), NumberColumn(output or "output", y)))
        plane = str(self.plane.currentData())
        u, v = (NumberColumn(axis, measure_of("length")) for axis in plane)
        self.poses.set_columns((NumberColumn(driven, x), u, v, NumberColumn("angle", measure_of("angle"))))

    @property
    def current_table(self) -> NumberTable:
        """Return the table of rows for the selected kind of problem."""
        return self.poses if self._kind == MOTION else self.points

    def refresh_units(self) -> None:
        """Update all fields after a change of display units."""
        self.vary.refresh_units()
        for table in (self.points, self.poses):
            table.refresh_units(self._model.values())

    # ------------------------------------------------------------------------------------------- the rows

    def _paste_rows(self) -> None:
        from PySide6.QtGui import QGuiApplication

        self.take_rows(QGuiApplication.clipboard().text(), "clipboard")

    def take_rows(self, text: str, name: str) -> None:
        """Replace the rows by those in a text; report errors in the text."""
        try:
            self.current_table.read_rows_from_text(text, name)
        except FileError as error:
            self.refused.emit(str(error))

    def _ask_rows_file(self) -> None:
        path = self._choose_file()
        if path:
            self.read_rows(Path(path))

    def read_rows(self, path: Path) -> None:
        """Read rows from a CSV file."""
        text = read_text_file(path, self.refused.emit)
        if text is not None:
            self.take_rows(text, path.name)

    # ------------------------------------------------------------------------------------- what is asked

    def start_count(self) -> int:
        """Return the number of starts of the optimisation. Raises ModelError."""
        text = self.starts.text().strip()
        if not text.isdigit() or int(text) < 1:
            raise ModelError(
                f"'{text}' is not a valid number of starting points.", where="Starts", remedy="Type 1, 2, …"
            )
        return int(text)

    def build_aim(self, name: str) -> Aim:
        """Return the page's contents as a design to be stored in the document. Raises ModelError naming the field."""
        varied = tuple(
            DesignVariable(parameter=parameter, minimum=low, maximum=high)
            for parameter, (low, high) in self.vary.bounds().items()
        )
        required = tuple(RequiredRow(formula=each.strip()) for each in self.require.text().split(";") if each.strip())
        values, driven = self._model.values(), str(self.driven.currentData() or "")
        asked = Aim(name=name, vary=varied, require=required)
        if self._kind == FUNCTION:
            rows = tuple(FunctionRow(x=x, y=y) for x, y in self.points.read_rows(values))
            output = self.output.text().strip()
            return dataclasses.replace(asked, kind="function", coordinate=driven, output=output, function=rows)
        if self._kind == MOTION:
            poses = tuple(PoseRow(x=x, u=u, v=v, angle=angle) for x, u, v, angle in self.poses.read_rows(values))
            frame, plane = self.frame.currentText(), str(self.plane.currentData())
            return dataclasses.replace(asked, kind="motion", coordinate=driven, frame=frame, plane=plane, poses=poses)
        along, minimise = str(self.along.currentData()), self.minimise.text().strip()
        if along == RUN:
            return dataclasses.replace(asked, minimise=minimise, over="run", duration=self._read_duration())
        if along == REST:
            return dataclasses.replace(asked, minimise=minimise)
        return dataclasses.replace(asked, minimise=minimise, over="sweep", coordinate=along)

    def _check_formulas(self, line: QLineEdit) -> None:
        """Raise ModelError naming the field if one of its formulas cannot be parsed."""
        from core.design.objective import DesignFormula
        from core.simulation.measures.run_measures import Requirement, Signals

        if self._mech is None:
            return
        signals, several = Signals(self._mech), line is self.require
        for formula in line.text().split(";") if several else [line.text()]:
            try:
                if formula.strip():
                    Requirement(signals, formula.strip()) if several else DesignFormula(signals, formula)
            except KinetostatError as error:
                raise ModelError(error.what, where=line.accessibleName(), remedy=error.remedy) from None

    def _read_duration(self) -> Value:
        try:
            return read(self.duration.text().strip(), measure_of("time"), SIUnits(), self._model.values())
        except KinetostatError as error:
            raise ModelError(error.what, where="duration of the run", remedy=error.remedy) from None

    def show_aim(self, aim: Aim) -> list[str]:
        """Show a design stored in the document; return the names of its variables that have no row here."""
        missing = self.vary.show_bounds({row.parameter: (row.minimum, row.maximum) for row in aim.vary})
        self.require.setText("; ".join(row.formula for row in aim.require))
        self.driven.setCurrentIndex(max(0, self.driven.findData(aim.coordinate)))
        if aim.kind == "function":
            self.output.setText(aim.output)
            self._set_column_titles()
            self.points.show_rows([(row.x, row.y) for row in aim.function])
        elif aim.kind == "motion":
            self.frame.setCurrentIndex(max(0, self.frame.findText(aim.frame)))
            self.plane.setCurrentIndex(self.plane.findData(aim.plane))
            self._set_column_titles()
            self.poses.show_rows([(row.x, row.u, row.v, row.angle) for row in aim.poses])
        else:
            self.minimise.setText(aim.minimise)
            along = aim.coordinate if aim.over == "sweep" else aim.over
            self.along.setCurrentIndex(max(0, self.along.findData(along)))
            self.duration.setText(f"{aim.duration}")
        self._show_counts()
        return missing
