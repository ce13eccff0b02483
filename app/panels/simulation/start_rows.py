"""Initial speeds and joint forces of a simulation: a slider and a field for each speed of the machine."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPalette, QShowEvent
from PySide6.QtWidgets import QGridLayout, QLineEdit, QScrollArea, QSlider, QTabWidget, QWidget

from app.background.signals import Lifetime
from app.document.session import Session
from app.plain_text import escape_tip
from app.preferences.settings import Settings
from app.runs.job import Simulation
from app.runs.run_settings import find_initial_state
from app.widgets.label import Label, severity_color
from app.widgets.plain_keys import TextFieldKeyFilter
from app.widgets.quantities.quantity_text import Measure, Units, format_number, format_quantity, read
from core.constraints.other_cuts import closing_speeds, speeds_of_cut_joints
from core.errors import KinetostatError
from core.model.formula.expression import names_in_formula, parse
from core.model.joints import effective_motor_limit
from core.model.parameters import evaluate_field
from core.simulation.run.initial_state import start_speeds, start_state

STEPS = 200
"""Number of slider positions on each side of zero."""
FASTEST = {"rotation": 4.0 * math.pi, "translation": 2.0}
"""Largest initial speed that the slider reaches, rad/s or m/s."""
MEASURES = {
    "rotation": (Measure("angular_velocity"), Measure("torque")),
    "translation": (Measure("velocity"), Measure("force")),
}
"""Physical dimensions of speeds and forces."""
DIGITS = 6
GRAVITY = 9.81
STILL = 1e-9
"""Speed below which a value is shown as zero, rad/s or m/s; such values are rounding errors of making speeds
consistent."""
LEAST_FORCE = 10.0
"""Smallest force that a slider's end may stand for, N·m or N."""
WORDS = {
    "speeds": ("Speed at the start of the run, if it starts from a pose or from rest; a unit may be added."),
    "forces": "A number or a formula of t, joints and speeds, e.g. 10*sin(2*t) - 3*{name}.v",
}


class SpeedEntry(NamedTuple):
    """One speed of the machine: its name, physical dimensions of speed and force, ends of the sliders, initial speed in
    the model."""

    name: str
    speed: Measure
    force: Measure
    fastest: float
    strongest: float
    own: float = 0.0


class _ValueField(QLineEdit):
    """Text field whose text has the theme's error colour while it is not accepted; Escape discards it."""

    taken_back = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._on_refused = False
        TextFieldKeyFilter(self, self.has_pending_text)

    def has_pending_text(self) -> bool:
        """Return True while the field holds text that was typed and not accepted yet."""
        return self.isModified() or self._on_refused

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.has_pending_text():
            self.taken_back.emit()
        else:
            super().keyPressEvent(event)

    def mark_refused(self, refused: bool) -> None:
        """Mark the text as not accepted, or as accepted."""
        self._on_refused = refused
        self._paint()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._paint()

    def _paint(self) -> None:
        palette = QPalette()  # the parent's
        if self._on_refused:
            palette.setColor(QPalette.ColorRole.Text, severity_color("error", QGuiApplication.palette()))
        self.setPalette(palette)


class StartRow(QObject):
    """Label, slider and text field of one value in display units; emits `edited(value)` with a number (SI) or the text
    of a formula (SI). An empty field stands for the default value."""

    edited = Signal(object)
    refused = Signal()
    """Emitted with the reason (`problem`) when typed text is not accepted, and with "" when it is accepted again."""

    def __init__(self, name: str, measure: Measure, units: Units, end: float, formulas: bool, own: float = 0.0) -> None:
        super().__init__()
        self.measure, self.units = measure, units
        self.end, self.formulas, self.own = end, formulas, own
        self.label = Label(name)
        self.label.setToolTip(escape_tip(f"{name}, {measure.display_unit(units).symbol}"))
        self.slider = QSlider(Qt.Orientation.Horizontal, minimum=-STEPS, maximum=STEPS, pageStep=STEPS // 10)
        self.slider.setAccessibleName(name)
        self.line = _ValueField()
        self.line.setAccessibleName(name)
        self.line.setFixedWidth(96)
        self.line.setPlaceholderText(format_quantity(own, measure, units, DIGITS))
        self.line.setToolTip(escape_tip(WORDS["forces" if formulas else "speeds"].format(name=name)))
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.line.editingFinished.connect(self._on_typed)
        self.line.taken_back.connect(self.discard_typed_text)
        self._shown: float | str = 0.0
        self._written = ""
        self._position = 0
        self._problem = ""
        self.check: Callable[[str], object] = lambda formula: None
        """Raises KinetostatError for a formula that the machine cannot evaluate."""

    def show_value(self, value: float | str) -> None:
        """Show a value; text that was not accepted stays until the value changes."""
        if self._problem and value == self._shown:
            return
        self._shown = value
        size = value if isinstance(value, float | int) else 0.0
        self._position = round(STEPS * min(max(size / self.end, -1.0), 1.0))
        self.slider.setValue(self._position)
        self.slider.setEnabled(not isinstance(value, str))
        self._update_text(value)
        self._show_problem("")

    def show_default(self, value: float) -> None:
        """Show the default value, used if none is set, in the empty field and on the slider."""
        self.line.setPlaceholderText(format_quantity(value, self.measure, self.units, DIGITS))
        if not self._written and not self.slider.isSliderDown():
            self._position = round(STEPS * min(max(value / self.end, -1.0), 1.0))
            self.slider.setValue(self._position)

    def _update_text(self, value: float | str) -> None:
        text = value if isinstance(value, str) else format_number(value, self.measure, self.units, DIGITS)
        self._written = "" if value == self.own else text
        self.line.setText(self._written)

    def discard_typed_text(self) -> None:
        """Discard text that was typed or not accepted."""
        self._show_problem("")
        self.show_value(self._shown)

    @property
    def problem(self) -> str:
        """Return why the typed text is not accepted; empty if it is."""
        return self._problem

    def accept_typed_text(self) -> None:
        """Accept the typed text."""
        self._on_typed()

    def restore_typed_text(self, text: str) -> None:
        """Restore the text that the previous row of this name had; text that was not accepted keeps its message."""
        self.line.setText(text)
        self._on_typed()

    def _show_problem(self, problem: str) -> None:
        if problem == self._problem:
            return
        self._problem = problem
        self.line.mark_refused(bool(problem))
        self.refused.emit()

    def _on_slider_moved(self, position: int) -> None:
        if position != self._position:
            self._position = position
            self._shown = value = self.end * position / STEPS
            self._update_text(value)
            self._show_problem("")
            self.edited.emit(value)

    def _on_typed(self) -> None:
        text = self.line.text().strip()
        if text == self._written:  # the number it stands for has more digits
            self._show_problem("")
            return
        try:
            value = self._read_value(text) if text else self.own
        except KinetostatError as error:
            self._show_problem(str(error))
            return
        self._show_problem("")
        if value != self._shown:
            self.show_value(value)
            self.edited.emit(value)

    def _read_value(self, text: str) -> float | str:
        """Return a number, or the text of a formula where formulas are allowed. Raises KinetostatError."""
        if self.formulas and names_in_formula(parse(text)):
            self.check(text)
            return text
        value = read(text, self.measure, self.units, {}, fold=True)
        return value if isinstance(value, str) else float(value)


class StartRows(QTabWidget):
    """Tabs "Start speeds" and "Joint forces"."""

    refused = Signal(str)
    """Emitted with the reason why a row's text is not accepted; empty when it is accepted again."""

    def __init__(self, session: Session, simulation: Simulation, settings: Settings) -> None:
        super().__init__(documentMode=True)
        self._session, self._simulation, self._settings = session, simulation, settings
        self.rows: dict[str, dict[str, StartRow]] = {"speeds": {}, "forces": {}}
        self._made: tuple[Any, ...] = ()
        self._untaken: dict[tuple[str, str], str] = {}
        """Texts that could not be taken, by kind and name, while their rows are made again."""
        self._pending: set[int] = set()
        for title in ("Start speeds", "Joint forces"):
            page = QScrollArea(widgetResizable=True)
            page.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
            self.addTab(page, title)
        self.setMinimumHeight(110)
        self.currentChanged.connect(self._fill_page)
        self._life = Lifetime()
        self._life.listen((settings.changed, self._on_setting_changed))

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.rebuild_rows()

    def showEvent(self, event: QShowEvent) -> None:
        """Create the rows when they are first visible."""
        self.rebuild_rows()
        super().showEvent(event)

    def rebuild_rows(self) -> None:
        """Create rows for the current machine; while the widget is hidden, only remove the rows of another document or
        machine."""
        if not (self._made or self.isVisible()):
            return
        axes = speed_entries(self._session)
        made = axes, self._session.document, self._settings.degrees, self._settings.millimetres
        if made == self._made:
            self.refresh()
            return
        same = bool(self._made) and self._made[1] == self._session.document
        typed = {(kind, name): row for kind, rows in self.rows.items() for name, row in rows.items() if row.problem}
        self._untaken = self._untaken | {key: row.line.text() for key, row in typed.items()} if same else {}
        self._made = made if self.isVisible() else ()
        for index, kind in enumerate(self.rows):
            page = self.widget(index)
            assert isinstance(page, QScrollArea)
            self.rows[kind] = {}
            page.setWidget(QWidget())
        self._pending = set(range(self.count()))
        self._fill_page(self.currentIndex())
        self._on_refused()  # of rows that are gone nothing is refused

    def _fill_page(self, index: int) -> None:
        """Create the rows of a page when it is first visible."""
        if index in self._pending and self._made:
            self._pending.remove(index)
            page = self.widget(index)
            assert isinstance(page, QScrollArea)
            page.setWidget(self._create_page(list(self.rows)[index], self._made[0]))
        self.refresh()

    def _create_page(self, kind: str, entries: tuple[SpeedEntry, ...]) -> QWidget:
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(10, 6, 8, 6)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        rows = self.rows[kind] = {}
        for place, axis in enumerate(entries):
            speeds = kind == "speeds"
            if speeds:
                row = StartRow(axis.name, axis.speed, self._settings, axis.fastest, False, axis.own)
            else:
                row = StartRow(axis.name, axis.force, self._settings, axis.strongest, True)
                row.check = self._formula_checker(axis.name)
            row.edited.connect(self._value_setter(kind, axis.name, row.own))
            row.refused.connect(self._on_refused)
            for column, widget in enumerate((row.label, row.slider, row.line)):
                grid.addWidget(widget, place, column)
            rows[axis.name] = row
            if (text := self._untaken.pop((kind, axis.name), None)) is not None:
                row.restore_typed_text(text)
        if not entries:
            grid.addWidget(Label("The machine has no movable joint."), 0, 0, 1, 3)
        grid.setRowStretch(len(entries) + 1, 1)
        return inside

    def _formula_checker(self, name: str) -> Callable[[str], object]:
        def check(formula: str) -> None:
            from core.simulation.equations.joint_forces import check_formula

            check_formula(self._session.mech, name, formula)

        return check

    def _value_setter(self, kind: str, name: str, default: float) -> Callable[[float | str], None]:
        def change(value: float | str) -> None:
            run_settings = dict(getattr(self._simulation.run_settings, kind))
            if value == default:
                run_settings.pop(name, None)
            else:
                run_settings[name] = value
            self._simulation.change_settings(**{kind: run_settings})

        return change

    def _on_refused(self) -> None:
        every = [row for rows in self.rows.values() for row in rows.values()]
        self.refused.emit("\n".join(f"{row.label.text()}: {row.problem}" for row in every if row.problem))

    def finish_typing(self) -> bool:
        """Accept text typed in the fields, as Enter would; return False if some of it cannot be accepted."""
        every = [row for rows in self.rows.values() for row in rows.values()]
        for row in every:
            row.accept_typed_text()
        return not any(row.problem for row in every)

    def refresh(self) -> None:
        """Show the run settings."""
        for kind, rows in self.rows.items():
            run_settings = getattr(self._simulation.run_settings, kind)
            for name, row in rows.items():
                if not (row.slider.isSliderDown() or row.line.hasFocus()):
                    row.show_value(run_settings.get(name, row.own))
        self._show_expected_speeds()
        self.setTabText(0, _title_with_count("Start speeds", len(self._simulation.run_settings.speeds)))
        self.setTabText(1, _title_with_count("Joint forces", len(self._simulation.run_settings.forces)))

    def _show_expected_speeds(self) -> None:
        """Show, where no speed is set, the initial speed that follows from loops, constraints and drivers."""
        mech, rows = self._session.mech, self.rows["speeds"]
        closing = closing_speeds(mech.compiled)
        if not (rows and mech.constrained and self.isVisible() and list(rows) == [*mech.v_names, *closing]):
            return
        try:
            start = find_initial_state(self._simulation.run_settings, self._session)
            p = mech.parameter_values(dict(self._session.edited_parameters) or None)
            state = start_state(mech, start.q, start.speeds, p, start.time)
        except KinetostatError:  # told when the run is started
            return
        q, v = state[: mech.nq], state[mech.nq : mech.nq + mech.nv]
        expected = dict(zip(mech.v_names, v, strict=True)) | speeds_of_cut_joints(mech.compiled, q, v, p)
        for name, row in rows.items():
            row.show_default(float(expected[name]) if abs(expected[name]) > STILL else 0.0)


def _title_with_count(title: str, count: int) -> str:
    return f"{title} ({count})" if count else title


def speed_entries(session: Session) -> tuple[SpeedEntry, ...]:
    """Return an entry for each speed of the machine, last those of joints that close loops. The sliders of forces reach
    the joint's effort limit, or the force that lifts the machine's weight with a lever of one metre."""
    mech, model = session.mech, session.model.expanded
    values = session.model.values()
    mass = sum(_numeric_value(body.mass, values) for body in model.bodies)
    usual = 10.0 ** math.ceil(math.log10(max(mass * GRAVITY, LEAST_FORCE)))
    efforts = {joint.name: _numeric_value(joint.limits[0].effort, values) for joint in model.joints if joint.limits}
    own = dict(zip(mech.v_names, start_speeds(mech).tolist(), strict=True))
    closing = closing_speeds(mech.compiled)
    axes = []
    for name in (*mech.v_names, *closing):
        turns = closing[name] == "angular_velocity" if name in closing else is_angular_speed(session, name)
        kind = "rotation" if turns else "translation"
        measures = MEASURES[kind]
        fastest = max(FASTEST[kind], 2.0 * abs(own.get(name, 0.0)))
        most = effective_motor_limit(efforts.get(name))
        axes.append(SpeedEntry(name, *measures, fastest, usual if math.isinf(most) else abs(most), own.get(name, 0.0)))
    return tuple(axes)


def _numeric_value(value: Any, values: Mapping[str, float]) -> float:
    """Return the number in a field of the settings; 0 if there is none or it is not finite."""
    try:
        number = float(evaluate_field(value, values)) if value is not None else 0.0
    except KinetostatError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def is_angular_speed(session: Session, speed: str) -> bool:
    """Return True if the speed is an angular speed."""
    mech = session.mech
    for joint in (*mech.implicit_joints, *session.model.expanded.joints):
        if speed == joint.name or speed.startswith(f"{joint.name}."):
            part = mech.joint_v(joint.name)
            place = mech.v_names.index(speed) - part.start
            dimensions = joint.info.speed_dimensions
            return dimensions[place] == "angular_velocity"
    return True
