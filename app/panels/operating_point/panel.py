"""The Operating Point panel: a table of quantities that are fixed, free or targets; Solve finds the state that
satisfies them. Operating points are saved in the document and loaded from it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QCompleter, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.background.jobs import Jobs, build_process_work
from app.background.signals import Lifetime
from app.document.revision import DocumentState, ElementRef, element_after_edit, is_present
from app.document.session import Session
from app.panels.operating_point import point_table
from app.panels.operating_point.point_table import QuantityTable
from app.plain_text import escape_tip
from app.preferences.element_icons import collection_icon
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.label import Note
from app.widgets.options.signal_options import ExampleNames
from app.widgets.plain_keys import TextFieldKeyFilter
from app.widgets.quantities.quantity_text import Measure, SIUnits, Units, measure_of
from app.widgets.refused_texts import InputChecker
from core.errors import KinetostatError, ModelError
from core.functions import Context
from core.model import WORDS, Trim, TrimRow
from core.model.edits import edits
from core.model.fields import Element, Value
from core.model.trims import signal_dimension

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.control.operating_point import OperatingPointResult


class SavedElementPicker(QWidget):
    """Combo box of the names of saved elements, in which a new name can be typed, with a button that saves as one undo
    step."""

    def __init__(
        self,
        session: Session,
        collection: str,
        make: Callable[[str], Element],
        show: Callable[[Any], None],
        say: Callable[[str, str], None],
    ) -> None:
        """Create the picker. make(name) : returns the panel's settings as an element, or raises a KinetostatError;
        show(element) : loads an element into the panel; say(words, severity) : shows a message."""
        super().__init__()
        self._session, self._collection = session, collection
        self._make, self._show, self._say = make, show, say
        self._chosen, self._saving = "", False
        self.word = WORDS[collection]
        self.box = NarrowCombo(self)
        self.box.setEditable(True)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName(f"Name of the {self.word}")
        self.box.setToolTip(
            escape_tip(f"Choose one saved in the document, or type a name to save these settings as {self.word}")
        )
        self.box.setMinimumContentsLength(9)
        line = self.box.lineEdit()
        line.setPlaceholderText("Not saved")
        line.returnPressed.connect(self._on_name_entered)
        TextFieldKeyFilter(line, line.isUndoAvailable)
        self.box.activated.connect(lambda _index: self.load_element(self.box.currentText()))
        self.save_button = QPushButton(
            "Save", toolTip=escape_tip(f"Save these settings in the document as {self.word} with this name")
        )
        self.save_button.clicked.connect(lambda: self.save_element())
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.box, 1)
        row.addWidget(self.save_button)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_document_changed), (session.selected, self._on_selected))
        self._update_names()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    @property
    def chosen_name(self) -> str:
        """Return the name of the element last loaded or saved; "" if there is none."""
        return self._chosen

    def load_element(self, name: str) -> None:
        """Load the saved element of this name into the panel."""
        element = self._find_element(name)
        if element is None:
            return
        self._chosen = name
        self.box.setCurrentText(name)
        self._show(element)

    def save_element(self) -> bool:
        """Save the panel's settings under the name in the box, or under an unused name."""
        name = self.box.currentText().strip() or edits.unused_name(
            self._session.model, self._collection, self.word.replace(" ", "_")
        )
        there = self._find_element(name)
        try:
            element = self._make(name)
        except KinetostatError as error:
            self._say(str(error), "error")
            return False
        if element == there:
            return True
        put = (lambda m: edits.add(m, element)) if there is None else (lambda m: edits.replace(m, there, element))
        self._saving = True
        done = self._session.apply(f"{'Save' if there is None else 'Change'} {self.word} {name}", put)
        self._saving = False
        if done:
            self._chosen = name
            self._update_names()
            self._say(f"Saved in the document as “{name}”.", "done")
        return done

    # ------------------------------------------------------------------------------------------------ inside

    def _on_name_entered(self) -> None:
        """Handle Return: load the element of the typed name, or save the settings under it."""
        name = self.box.currentText().strip()
        self.load_element(name) if self._find_element(name) is not None else self.save_element()

    def _find_element(self, name: str) -> Element | None:
        elements = getattr(self._session.model, self._collection)
        return next((each for each in elements if each.name == name), None)

    def _update_names(self) -> None:
        """Update the list of names; typed text is kept."""
        names = [element.name for element in getattr(self._session.model, self._collection)]
        shown = self._chosen or self.box.currentText()
        if names != [self.box.itemText(k) for k in range(self.box.count())]:
            self.box.clear()
            for name in names:
                self.box.addItem(icon(collection_icon(self._collection)), name)
        self.box.setCurrentIndex(self.box.findText(shown))
        self.box.setCurrentText(shown)

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is new.model:
            return
        before = self._chosen
        now = element_after_edit(old.model, new.model, ElementRef(self._collection, before)) if before else None
        self._chosen = "" if now is None else now.name
        self._update_names()
        if self._saving or now is None:
            return
        was = next((each for each in getattr(old.model, self._collection) if each.name == before), None)
        element = self._find_element(self._chosen)
        if element is not None and element != was:
            self._show(element)

    def _on_selected(self, ref: ElementRef | None) -> None:
        if ref is not None and ref.collection == self._collection and ref.name != self._chosen:
            self.load_element(ref.name if is_present(self._session.model, ref) else "")


MOST_FIRST = 12
"""Largest number of speeds of a machine for which all coordinates and joint forces are listed initially."""


class OperatingPointPanel(QWidget):
    """Table of quantities, a field that adds a quantity, and buttons that use the operating point found."""

    def __init__(
        self,
        session: Session,
        jobs: Jobs,
        choose_function: Callable[[str], None],
        begin_with: Callable[[Mapping[str, float], Mapping[str, float]], None],
        settings: Units | None = None,
    ) -> None:
        """Create the panel. begin_with(speeds, joint forces) : sets the initial values of the next run; settings :
        display units, default SI."""
        super().__init__()
        self._session, self._jobs, self._choose, self._begin_with = session, jobs, choose_function, begin_with
        self.found: OperatingPointResult | None = None
        self._names: tuple[str, ...] = ()
        self.table = QuantityTable(settings or SIUnits(), self._quantity_dimension)
        self.note = Note()
        self.name = QLineEdit()
        self.name.setAccessibleName("Quantity to add")
        self.name.returnPressed.connect(self.add_quantity)
        self.name.textEdited.connect(self._set_up_completion)
        self.solve_button = self._create_button("Solve", "Find the point (Ctrl+Enter)", self.solve)
        self.use_button = self._create_button(
            "Use as pose", "Move the machine to the point (can be undone)", self.apply_point
        )
        self.start_button = self._create_button(
            "Use as start",
            ("Start the next run with the point's pose, speeds and joint forces (the pose can be undone)"),
            self.use_as_start,
        )
        self.linear_button = self._create_button(
            "Linearise here", ("Linearise the equations of motion about this point"), self.linearise
        )
        self.picker = SavedElementPicker(
            session, "operating_points", self.build_trim, self.show_point, self.note.show_text
        )
        self._lay_out()
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.solve)
        self.table.edited.connect(self._drop_result)
        self._refused = InputChecker(self)
        self._refused.watch_table(
            self.table, lambda at, column: self.table.check_cell(at, column, self._parameter_values())
        )
        self._refused.changed.connect(self.note.hold_error)
        self.table.edited.connect(self._refused.recheck_refused_texts)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_machine_changed))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, lambda _: self.table.refresh_units(self._parameter_values())))
        self._fill_rows()

    def _lay_out(self) -> None:
        """Arrange the fields and buttons above the table."""
        which, bar = QHBoxLayout(), QHBoxLayout()
        which.setContentsMargins(8, 6, 8, 0)
        which.addWidget(self.picker, 1)
        which.addWidget(self.solve_button)
        bar.setContentsMargins(8, 6, 8, 6)
        bar.addWidget(self.name, 1)
        for button in (self.use_button, self.start_button, self.linear_button):
            bar.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(which)
        column.addLayout(bar)
        column.addWidget(self.note)
        self.note.setContentsMargins(8, 0, 8, 4)
        column.addWidget(self.table, 1)

    def close(self) -> None:
        """Disconnect from all signals."""
        self.picker.close()
        self._life.close()

    def _create_button(self, title: str, tip: str, on_press: Callable[[], object]) -> QPushButton:
        button = QPushButton(title, toolTip=escape_tip(tip))
        button.clicked.connect(lambda: on_press())
        return button

    # ------------------------------------------------------------------------------------------------ rows

    def _quantity_dimension(self, name: str) -> Measure:
        return measure_of(signal_dimension(self._session.model, name))

    def _parameter_values(self) -> dict[str, float]:
        """Return the current values of all parameters."""
        return dict(self._session.model.values(dict(self._session.p) or None))

    def _fill_rows(self, rows: tuple[TrimRow, ...] = ()) -> None:
        """Fill the table with coordinates, joint forces, and the given rows."""
        mech = self._session.mech
        names = mech.v_names if mech.nv <= MOST_FIRST else ()
        first = [f"{name}.q" for name in names if name in mech.q_names] + [f"{name}.tau" for name in names]
        self.table.show_rows(first, rows)
        self._reset_result()
        if mech.nv > MOST_FIRST:
            self.note.show_text(f"This machine has {mech.nv} speeds: add the relevant quantities by name.", "hint")

    def _reset_result(self) -> None:
        """Discard the result after a change of rows or machine."""
        self._names = ()
        self.name.setCompleter(None)
        self._show_examples()
        self._drop_result()
        if not self._session.mech.nv:
            self.note.show_text(
                "The machine has no joints yet. Add a joint; its coordinate and force will be listed here."
            )

    def _show_examples(self) -> None:
        """Show examples of quantities that can be added for this machine."""
        names = ExampleNames.from_machine(self._session.mech)
        self.name.setPlaceholderText(names.format_hint("{frame}.position.z", "{joint}.tau", prefix="Add a quantity"))

    def build_trim(self, name: str) -> Trim:
        """Return the table's contents as an operating point to be stored in the document. Raises ModelError naming the
        row."""
        return Trim(
            name=name,
            rows=tuple(self.table.build_trim_rows(self._parameter_values())),
            description=self._saved_description(name),
        )

    def _saved_description(self, name: str) -> str:
        points = self._session.model.operating_points
        return next((point.description for point in points if point.name == name), "")

    def show_point(self, point: Trim) -> None:
        """Show an operating point stored in the document; coordinates and joint forces are always listed."""
        self._fill_rows(point.rows)

    def _on_machine_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is new.model or old.model.machine == new.model.machine:
            return
        self._refused.recheck_refused_texts()
        known = {f"{name}.q" for name in self._session.mech.q_names} | {f"{v}.tau" for v in self._session.mech.v_names}
        shown = {row.name for row in self.table.row_texts()}
        if not shown & known or not {name for name in shown if name.endswith((".q", ".tau"))} <= known:
            self._fill_rows()
        else:
            self._reset_result()

    def quantity_names(self) -> tuple[str, ...]:
        """Return the names of all quantities of the machine."""
        if not self._names:
            from core.control.operating_point import OperatingPoint

            self._names = OperatingPoint(self._session.mech).names()
        return self._names

    def _set_up_completion(self) -> None:
        """Set up completion of names from their first letter."""
        if self.name.completer() is None:
            completer = QCompleter(list(self.quantity_names()), self.name)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.popup().setObjectName("completions")
            self.name.setCompleter(completer)

    def add_quantity(self) -> None:
        """Add a row for the typed quantity if the machine has such a quantity."""
        from core.control.operating_point import OperatingPoint

        name = self.name.text().strip()
        if not name:
            return
        if name in (row.name for row in self.table.row_texts()):
            self.note.show_text(f"'{name}' already has a row.", "hint")
            return
        try:
            OperatingPoint(self._session.mech)[name]
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self.table.add_quantity(name)
        self.name.clear()
        self.note.show_text("")

    def _drop_result(self) -> None:
        """Discard a result that belongs to other settings."""
        self.found = None
        self.use_button.setEnabled(False)
        self.start_button.setEnabled(False)
        self.linear_button.setEnabled(False)
        self.table.show_solution(lambda _: point_table.NOTHING)
        self.note.show_text("")

    # ---------------------------------------------------------------------------------------------- solving

    def solve(self) -> None:
        """Find the operating point in the background."""
        context = self._session.context()
        try:
            problem = build_trim_problem(context, self.table.build_trim_rows(self._parameter_values()))
        except KinetostatError as error:
            self.note.show_text(str(error), "error")
            return
        self.solve_button.setEnabled(False)
        job = self._jobs.start("Operating point", build_process_work(self._jobs, context.mech, lambda: problem.work()))
        job.succeeded.connect(self._on_solved)
        job.failed.connect(lambda error: self.note.show_text(str(error), "error"))
        job.ended.connect(lambda: self.solve_button.setEnabled(True))

    def _on_solved(self, solution: OperatingPointResult) -> None:
        self.found = solution
        self.table.show_solution(lambda name: _result_of_row(solution, name))
        self.note.show_text(
            solution.summary_text, "error" if not solution.solved else "done" if solution.stable else "hint"
        )
        self.use_button.setEnabled(True)
        for button in (self.start_button, self.linear_button):
            button.setEnabled(solution.solved)

    def _solved_parameters(self, solution: OperatingPointResult) -> dict[str, float]:
        known = self._session.edited_parameters
        return {
            name: value
            for name, value in solution.parameters.items()
            if name in known and abs(value - known[name]) > 0.0
        }

    def apply_point(self) -> None:
        """Apply pose and parameters of the operating point as one undo step."""
        if self.found is None or len(self.found.q) != self._session.mech.nq:
            return
        found = self.found
        self._session.preview(q=found.q, parameters=self._solved_parameters(found) or None)
        self._session.commit("Operating point")

    def use_as_start(self) -> None:
        """Move to the operating point; the next run starts with its speeds and joint forces."""
        found = self.found
        if found is None or len(found.q) != self._session.mech.nq:
            return
        self.apply_point()
        names = found.mech.v_names
        speeds = {name: float(value) for name, value in zip(names, found.v, strict=True) if value}
        forces = {name: float(value) for name, value in zip(names, found.tau, strict=True) if value}
        self._begin_with(speeds, forces)
        others = [name for name in found.inputs if not name.endswith(".tau") and name not in found.parameters]
        if others:
            words = (
                f"The next run starts with this pose, these speeds and joint forces; {', '.join(others)} "
                "cannot be set for runs."
            )
            self.note.show_text(words, "hint")
        else:
            self.note.show_text("The next run starts here: see Simulation.", "done")

    def linearise(self) -> None:
        """Move to the operating point and open the linearisation function."""
        self.apply_point()
        self._choose("linear_system")


def build_trim_problem(context: Context, rows: list[TrimRow]) -> Any:
    """Return the trim problem described by the rows. Raises ModelError naming the row."""
    from core.control.operating_point import OperatingPoint
    from core.functions.options import SignalValues

    option = SignalValues("rows", "Rows")
    op = OperatingPoint(context.mech, context.q, p=dict(context.p) or None, t=context.t)

    def read_number(row: TrimRow, value: Value | None, default: float) -> float:
        try:
            return default if value is None else option.parse_signal_value(row.quantity, value, context)
        except ModelError as error:
            remedy = error.remedy or "Enter a number, optionally with a unit."
            raise ModelError(error.what, where=f"row '{row.quantity}'", remedy=remedy) from None

    for row in rows:
        if row.role == "fixed":
            op[row.quantity].fixed(None if row.value is None else read_number(row, row.value, math.nan))
        elif row.role == "target":
            op[row.quantity].target(read_number(row, row.value, math.nan), read_number(row, row.weight, 1.0))
        elif row.role == "free":
            op[row.quantity].free(read_number(row, row.minimum, -math.inf), read_number(row, row.maximum, math.inf))
        elif row.role == "steady":
            op[row.quantity].steady()
    return op


def _result_of_row(solution: OperatingPointResult, name: str) -> point_table.QuantitySolution:
    """Return the solution for the quantity of a row."""
    system = solution.system
    values = dict(zip(system.state_names, map(float, system.x0), strict=True)) | dict(solution.values)
    mech = solution.mech
    if name.endswith(".q") and name[:-2] in mech.q_names:
        values[name] = float(solution.q[mech.q_names.index(name[:-2])])
    if name.endswith(".tau") and name[:-4] in mech.v_names:
        values.setdefault(name, float(solution.tau[mech.v_names.index(name[:-4])]))
    off = solution.residuals.get(name)
    holds = off is None or abs(off) <= 1e-8 * max(1.0, abs(values.get(name, 0.0)))
    return point_table.QuantitySolution(values.get(name), off, holds)


def create_panel(bench: Workbench) -> OperatingPointPanel:
    """Create the Operating Point panel of a window."""

    def start_run_with(speeds: Mapping[str, float], forces: Mapping[str, float]) -> None:
        bench.runs.simulation.change_settings(start="pose", speeds=dict(speeds), forces=dict(forces))

    return OperatingPointPanel(
        bench.session, bench.jobs, lambda function: bench.panels.open_function(function), start_run_with, bench.settings
    )
