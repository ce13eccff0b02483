"""The Operating Point panel: quantities that are fixed, free or targets; Solve finds the point that satisfies them. The
question is chosen among those of the document, and saved there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QComboBox, QCompleter, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.background.jobs import Jobs, process_job
from app.background.signals import Lifetime
from app.document.revision import Ref, State, is_present, successor
from app.document.session import Session
from app.panels.operating_point import point_table
from app.panels.operating_point.point_table import RowTable
from app.plain_text import as_tip
from app.preferences.element_icons import collection_icon
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.fields.choice_editors import Combo
from app.widgets.label import Note
from app.widgets.options.signal_options import ExampleNames
from app.widgets.plain_keys import FieldKeys
from app.widgets.quantities.quantity_text import Measure, SIUnits, Units, measure_of
from app.widgets.refused_texts import RefusedTexts
from core.errors import KinetostatError, ModelError
from core.functions import Context
from core.model import WORDS, Trim, TrimRow
from core.model.edits import edits
from core.model.fields import Element, Value
from core.model.trims import dimension_of_signal

if TYPE_CHECKING:
    from app.workbench import Workbench
    from core.control.operating_point import Found


class QuestionPicker(QWidget):
    """Combo box of names, in which a new one can be typed, and a Save button that makes one undo step."""

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
        self.box = Combo(self)
        self.box.setEditable(True)
        self.box.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.box.setAccessibleName(f"Name of the {self.word}")
        self.box.setToolTip(
            as_tip(f"Choose one of the document, or type a name and save these settings as {self.word}")
        )
        self.box.setMinimumContentsLength(9)
        line = self.box.lineEdit()
        line.setPlaceholderText("Not saved")
        line.returnPressed.connect(self._on_name_entered)
        FieldKeys(line, line.isUndoAvailable)
        self.box.activated.connect(lambda _index: self.choose(self.box.currentText()))
        self.save_button = QPushButton(
            "Save", toolTip=as_tip(f"Save these settings in the document as {self.word} of this name")
        )
        self.save_button.clicked.connect(lambda: self.save())
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
    def chosen(self) -> str:
        """Return the name of the element loaded or saved last; "" for none."""
        return self._chosen

    def choose(self, name: str) -> None:
        """Load the element of this name into the panel."""
        element = self._element_named(name)
        if element is None:
            return
        self._chosen = name
        self.box.setCurrentText(name)
        self._show(element)

    def save(self) -> bool:
        """Save the panel's settings under the name in the box or a new one."""
        name = self.box.currentText().strip() or edits.unused_name(
            self._session.model, self._collection, self.word.replace(" ", "_")
        )
        there = self._element_named(name)
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
        self.choose(name) if self._element_named(name) is not None else self.save()

    def _element_named(self, name: str) -> Element | None:
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

    def _on_document_changed(self, old: State, new: State) -> None:
        if old.model is new.model:
            return
        before = self._chosen
        now = successor(old.model, new.model, Ref(self._collection, before)) if before else None
        self._chosen = "" if now is None else now.name
        self._update_names()
        if self._saving or now is None:
            return
        was = next((each for each in getattr(old.model, self._collection) if each.name == before), None)
        element = self._element_named(self._chosen)
        if element is not None and element != was:
            self._show(element)

    def _on_selected(self, ref: Ref | None) -> None:
        if ref is not None and ref.collection == self._collection and ref.name != self._chosen:
            self.choose(ref.name if is_present(self._session.model, ref) else "")


MOST_FIRST = 12
"""Largest number of speeds of a machine for which all coordinates and joint forces have a row from the start."""


class OperatingPointPanel(QWidget):
    """Table of quantities, a line that adds a quantity, and buttons for the point that was found."""

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
        self.found: Found | None = None
        self._names: tuple[str, ...] = ()
        self.table = RowTable(settings or SIUnits(), self._measure_of)
        self.note = Note()
        self.name = QLineEdit()
        self.name.setAccessibleName("Quantity to add")
        self.name.returnPressed.connect(self.add)
        self.name.textEdited.connect(self._set_up_completion)
        self.solve_button = self._button("Solve", "Find the point (Ctrl+Enter)", self.solve)
        self.use_button = self._button("Use as pose", "Move the machine to the point (can be undone)", self.use)
        self.start_button = self._button(
            "Use as start",
            ("Start the next run with the point's pose, speeds and joint forces (the pose can be undone)"),
            self.use_as_start,
        )
        self.linear_button = self._button(
            "Linearise here", ("Linearise the equations of motion about this point"), self.linearise
        )
        self.picker = QuestionPicker(session, "operating_points", self.asked, self.show_point, self.note.say)
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
        shortcut = QShortcut(QKeySequence("Ctrl+Return"), self)
        shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        shortcut.activated.connect(self.solve)
        self.table.edited.connect(self._drop_result)
        self._refused = RefusedTexts(self)
        self._refused.watch_table(self.table, lambda at, column: self.table.check(at, column, self._values()))
        self._refused.changed.connect(self.note.hold)
        self.table.edited.connect(self._refused.recheck)
        self._life = Lifetime()
        self._life.listen((session.changed, self._on_machine_changed))
        if isinstance(settings, Settings):
            self._life.listen((settings.changed, lambda _: self.table.refresh_units(self._values())))
        self._fill_rows()

    def close(self) -> None:
        """Disconnect from all signals."""
        self.picker.close()
        self._life.close()

    def _button(self, title: str, tip: str, pressed: Callable[[], object]) -> QPushButton:
        button = QPushButton(title, toolTip=as_tip(tip))
        button.clicked.connect(lambda: pressed())
        return button

    # ------------------------------------------------------------------------------------------------ rows

    def _measure_of(self, name: str) -> Measure:
        return measure_of(dimension_of_signal(self._session.model, name))

    def _values(self) -> dict[str, float]:
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
            self.note.say(f"This machine has {mech.nv} speeds: add the quantities that matter, by their names.", "hint")

    def _reset_result(self) -> None:
        """Discard the result after a change of rows or machine."""
        self._names = ()
        self.name.setCompleter(None)
        self._show_examples()
        self._drop_result()
        if not self._session.mech.nv:
            self.note.say("The machine has no joints yet. Add a joint; its coordinate and force will be listed here.")

    def _show_examples(self) -> None:
        """Show examples of quantities that can be added for this machine."""
        names = ExampleNames.of(self._session.mech)
        self.name.setPlaceholderText(names.hint("{frame}.position.z", "{joint}.tau", begin="Add a quantity"))

    def asked(self, name: str) -> Trim:
        """Return the table's contents as an operating point of the document. Raises ModelError naming the row."""
        return Trim(name=name, rows=tuple(self.table.elements(self._values())), description=self._notes(name))

    def _notes(self, name: str) -> str:
        points = self._session.model.operating_points
        return next((point.description for point in points if point.name == name), "")

    def show_point(self, point: Trim) -> None:
        """Show the settings of an operating point of the document; coordinates and joint forces always have rows."""
        self._fill_rows(point.rows)

    def _on_machine_changed(self, old: State, new: State) -> None:
        if old.model is new.model or old.model.machine == new.model.machine:
            return
        self._refused.recheck()
        known = {f"{name}.q" for name in self._session.mech.q_names} | {f"{v}.tau" for v in self._session.mech.v_names}
        shown = {row.name for row in self.table.rows()}
        if not shown & known or not {name for name in shown if name.endswith((".q", ".tau"))} <= known:
            self._fill_rows()
        else:
            self._reset_result()

    def names(self) -> tuple[str, ...]:
        """Return the names of all quantities of the machine."""
        if not self._names:
            from core.control.operating_point import OperatingPoint

            self._names = OperatingPoint(self._session.mech).names()
        return self._names

    def _set_up_completion(self) -> None:
        """Set up completion of names from their first letter."""
        if self.name.completer() is None:
            completer = QCompleter(list(self.names()), self.name)
            completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
            completer.setFilterMode(Qt.MatchFlag.MatchContains)
            completer.popup().setObjectName("completions")
            self.name.setCompleter(completer)

    def add(self) -> None:
        """Add a row for the typed quantity if the machine has it."""
        from core.control.operating_point import OperatingPoint

        name = self.name.text().strip()
        if not name:
            return
        if name in (row.name for row in self.table.rows()):
            self.note.say(f"'{name}' already has a row.", "hint")
            return
        try:
            OperatingPoint(self._session.mech)[name]
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self.table.add(name)
        self.name.clear()
        self.note.say("")

    def _drop_result(self) -> None:
        """Drop a result that belongs to other settings."""
        self.found = None
        self.use_button.setEnabled(False)
        self.start_button.setEnabled(False)
        self.linear_button.setEnabled(False)
        self.table.show_found(lambda _: point_table.NOTHING)
        self.note.say("")

    # ---------------------------------------------------------------------------------------------- solving

    def solve(self) -> None:
        """Find the point in the background."""
        context = self._session.context()
        try:
            problem = problem_of(context, self.table.elements(self._values()))
        except KinetostatError as error:
            self.note.say(str(error), "error")
            return
        self.solve_button.setEnabled(False)
        job = self._jobs.start("Operating point", process_job(self._jobs, context.mech, lambda: problem.work()))
        job.succeeded.connect(self._on_solved)
        job.failed.connect(lambda error: self.note.say(str(error), "error"))
        job.ended.connect(lambda: self.solve_button.setEnabled(True))

    def _on_solved(self, found: Found) -> None:
        self.found = found
        self.table.show_found(lambda name: _result_of_row(found, name))
        self.note.say(found.verdict, "error" if not found.solved else "done" if found.stable else "hint")
        self.use_button.setEnabled(True)
        for button in (self.start_button, self.linear_button):
            button.setEnabled(found.solved)

    def _parameters(self, found: Found) -> dict[str, float]:
        known = self._session.edited_parameters
        return {
            name: value for name, value in found.parameters.items() if name in known and abs(value - known[name]) > 0.0
        }

    def use(self) -> None:
        """Commit pose and parameters of the point as one undo step."""
        if self.found is None or len(self.found.q) != self._session.mech.nq:
            return
        found = self.found
        self._session.preview(q=found.q, parameters=self._parameters(found) or None)
        self._session.commit("Operating point")

    def use_as_start(self) -> None:
        """Go to the point; the next run starts with its speeds and joint forces."""
        found = self.found
        if found is None or len(found.q) != self._session.mech.nq:
            return
        self.use()
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
            self.note.say(words, "hint")
        else:
            self.note.say("The next run starts here: see Simulation.", "done")

    def linearise(self) -> None:
        """Go to the point and open the linearisation function."""
        self.use()
        self._choose("linear_system")


def problem_of(context: Context, rows: list[TrimRow]) -> Any:
    """Return the trim problem that the rows describe. Raises ModelError naming the row."""
    from core.control.operating_point import OperatingPoint
    from core.functions.options import SignalValues

    option = SignalValues("rows", "Rows")
    op = OperatingPoint(context.mech, context.q, p=dict(context.p) or None, t=context.t)

    def number(row: TrimRow, value: Value | None, missing: float) -> float:
        try:
            return missing if value is None else option.number(row.quantity, value, context)
        except ModelError as error:
            remedy = error.remedy or "Enter a number, optionally with a unit."
            raise ModelError(error.what, where=f"row '{row.quantity}'", remedy=remedy) from None

    for row in rows:
        if row.role == "fixed":
            op[row.quantity].fixed(None if row.value is None else number(row, row.value, math.nan))
        elif row.role == "target":
            op[row.quantity].target(number(row, row.value, math.nan), number(row, row.weight, 1.0))
        elif row.role == "free":
            op[row.quantity].free(number(row, row.minimum, -math.inf), number(row, row.maximum, math.inf))
        elif row.role == "steady":
            op[row.quantity].steady()
    return op


def _result_of_row(found: Found, name: str) -> point_table.Found:
    """Return the result for a row."""
    system = found.system
    values = dict(zip(system.state_names, map(float, system.x0), strict=True)) | dict(found.values)
    mech = found.mech
    if name.endswith(".q") and name[:-2] in mech.q_names:
        values[name] = float(found.q[mech.q_names.index(name[:-2])])
    if name.endswith(".tau") and name[:-4] in mech.v_names:
        values.setdefault(name, float(found.tau[mech.v_names.index(name[:-4])]))
    off = found.residuals.get(name)
    holds = off is None or abs(off) <= 1e-8 * max(1.0, abs(values.get(name, 0.0)))
    return point_table.Found(values.get(name), off, holds)


def make(bench: Workbench) -> OperatingPointPanel:
    """Create the Operating Point panel of a window."""

    def begin_with(speeds: Mapping[str, float], forces: Mapping[str, float]) -> None:
        bench.runs.simulation.choose(start="pose", speeds=dict(speeds), forces=dict(forces))

    return OperatingPointPanel(
        bench.session, bench.jobs, lambda function: bench.panels.choose_function(function), begin_with, bench.settings
    )
