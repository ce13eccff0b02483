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
from app.plain_text import as_tip
from app.preferences.settings import Settings
from app.runs.job import Simulation
from app.runs.run_settings import start_of
from app.widgets.label import Label, severity_color
from app.widgets.plain_keys import FieldKeys
from app.widgets.quantities.quantity_text import Measure, Units, number, quantity, read
from core.errors import KinetostatError
from core.model.formula.expression import names, parse
from core.model.joints import effective_limit
from core.model.parameters import value_of
from core.simulation.run.initial_state import start_speeds, start_state

STEPS = 200
"""Positions of a slider on each side of zero."""
FASTEST = {"rotation": 4.0 * math.pi, "translation": 2.0}
"""End of the slider of an initial speed, rad/s and m/s."""
MEASURES = {
    "rotation": (Measure("angular_velocity"), Measure("torque")),
    "translation": (Measure("velocity"), Measure("force")),
}
"""Physical dimensions of speeds and forces."""
DIGITS = 6
GRAVITY = 9.81
STILL = 1e-9
"""Speed below which a value counts as zero, rad/s or m/s; such values are residues of making speeds consistent."""
LEAST_FORCE = 10.0
"""Least end of the slider of a force, N·m or N."""
WORDS = {
    "speeds": ("Speed at the start of the run, if it starts from a pose or from rest; a unit may follow the number."),
    "forces": "A number or a formula of t, joints and speeds, e.g. 10*sin(2*t) - 3*{name}.v",
}


class Axis(NamedTuple):
    """One speed of the machine: its name, physical dimensions of speed and force, ends of the sliders, initial speed in
    the model."""

    name: str
    speed: Measure
    force: Measure
    fastest: float
    strongest: float
    own: float = 0.0


class _ValueField(QLineEdit):
    """Text field that shows its text in the error colour of the theme while it is refused; Escape takes it back."""

    taken_back = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._on_refused = False
        FieldKeys(self, self.edited)

    def edited(self) -> bool:
        """Return True while text is typed or refused."""
        return self.isModified() or self._on_refused

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.edited():
            self.taken_back.emit()
        else:
            super().keyPressEvent(event)

    def refuse(self, refused: bool) -> None:
        """Mark the text as refused or accepted."""
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
    of a formula (SI). An empty field means the model's own value."""

    edited = Signal(object)
    refused = Signal()
    """Emitted with the reason (`problem`) when typed text is refused, and with "" when it is accepted again."""

    def __init__(self, name: str, measure: Measure, units: Units, end: float, formulas: bool, own: float = 0.0) -> None:
        super().__init__()
        self.measure, self.units = measure, units
        self.end, self.formulas, self.own = end, formulas, own
        self.label = Label(name)
        self.label.setToolTip(as_tip(f"{name}, {measure.display(units).symbol}"))
        self.slider = QSlider(Qt.Orientation.Horizontal, minimum=-STEPS, maximum=STEPS, pageStep=STEPS // 10)
        self.slider.setAccessibleName(name)
        self.line = _ValueField()
        self.line.setAccessibleName(name)
        self.line.setFixedWidth(96)
        self.line.setPlaceholderText(quantity(own, measure, units, DIGITS))
        self.line.setToolTip(as_tip(WORDS["forces" if formulas else "speeds"].format(name=name)))
        self.slider.valueChanged.connect(self._on_slider_moved)
        self.line.editingFinished.connect(self._on_typed)
        self.line.taken_back.connect(self.take_back)
        self._shown: float | str = 0.0
        self._written = ""
        self._position = 0
        self._problem = ""
        self.check: Callable[[str], object] = lambda formula: None
        """Raises KinetostatError for a formula that the machine cannot evaluate."""

    def show_value(self, value: float | str) -> None:
        """Show a value; a refused text stays until the value itself changes."""
        if self._problem and value == self._shown:
            return
        self._shown = value
        size = value if isinstance(value, float | int) else 0.0
        self._position = round(STEPS * min(max(size / self.end, -1.0), 1.0))
        self.slider.setValue(self._position)
        self.slider.setEnabled(not isinstance(value, str))
        self._write(value)
        self._say("")

    def expect(self, value: float) -> None:
        """Show the value that applies if none is set, in the empty field and on the slider."""
        self.line.setPlaceholderText(quantity(value, self.measure, self.units, DIGITS))
        if not self._written and not self.slider.isSliderDown():
            self._position = round(STEPS * min(max(value / self.end, -1.0), 1.0))
            self.slider.setValue(self._position)

    def _write(self, value: float | str) -> None:
        text = value if isinstance(value, str) else number(value, self.measure, self.units, DIGITS)
        self._written = "" if value == self.own else text
        self.line.setText(self._written)

    def take_back(self) -> None:
        """Discard typed or refused text."""
        self._say("")
        self.show_value(self._shown)

    @property
    def problem(self) -> str:
        """Return why the typed text is refused; empty if it is not."""
        return self._problem

    def finish(self) -> None:
        """Accept the typed text."""
        self._on_typed()

    def restore_typed_text(self, text: str) -> None:
        """Restore text that the row of this name had before; refused text keeps its message."""
        self.line.setText(text)
        self._on_typed()

    def _say(self, problem: str) -> None:
        if problem == self._problem:
            return
        self._problem = problem
        self.line.refuse(bool(problem))
        self.refused.emit()

    def _on_slider_moved(self, position: int) -> None:
        if position != self._position:
            self._position = position
            self._shown = value = self.end * position / STEPS
            self._write(value)
            self._say("")
            self.edited.emit(value)

    def _on_typed(self) -> None:
        text = self.line.text().strip()
        if text == self._written:  # the number it stands for has more digits
            self._say("")
            return
        try:
            value = self._read(text) if text else self.own
        except KinetostatError as error:
            self._say(str(error))
            return
        self._say("")
        if value != self._shown:
            self.show_value(value)
            self.edited.emit(value)

    def _read(self, text: str) -> float | str:
        """Return a number, or the text of a formula where formulas are allowed. Raises KinetostatError."""
        if self.formulas and names(parse(text)):
            self.check(text)
            return text
        value = read(text, self.measure, self.units, {}, fold=True)
        return value if isinstance(value, str) else float(value)


class StartRows(QTabWidget):
    """Tabs "Start speeds" and "Joint forces"."""

    refused = Signal(str)
    """Emitted with the reason why a row's text is refused; empty when it is accepted."""

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
        self.currentChanged.connect(self._fill)
        self._life = Lifetime()
        self._life.listen((settings.changed, self._on_setting_changed))

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self.rebuild()

    def showEvent(self, event: QShowEvent) -> None:
        """Create the rows when they are first visible."""
        self.rebuild()
        super().showEvent(event)

    def rebuild(self) -> None:
        """Create rows for the current machine; while hidden, remove the rows of another document or machine."""
        if not (self._made or self.isVisible()):
            return
        axes = axes_of(self._session)
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
        self._fill(self.currentIndex())
        self._on_refused()  # of rows that are gone nothing is refused

    def _fill(self, index: int) -> None:
        """Create the rows of a page when it is first visible."""
        if index in self._pending and self._made:
            self._pending.remove(index)
            page = self.widget(index)
            assert isinstance(page, QScrollArea)
            page.setWidget(self._page(list(self.rows)[index], self._made[0]))
        self.refresh()

    def _page(self, kind: str, axes: tuple[Axis, ...]) -> QWidget:
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(10, 6, 8, 6)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        rows = self.rows[kind] = {}
        for place, axis in enumerate(axes):
            speeds = kind == "speeds"
            if speeds:
                row = StartRow(axis.name, axis.speed, self._settings, axis.fastest, False, axis.own)
            else:
                row = StartRow(axis.name, axis.force, self._settings, axis.strongest, True)
                row.check = self._checker(axis.name)
            row.edited.connect(self._setter(kind, axis.name, row.own))
            row.refused.connect(self._on_refused)
            for column, widget in enumerate((row.label, row.slider, row.line)):
                grid.addWidget(widget, place, column)
            rows[axis.name] = row
            if (text := self._untaken.pop((kind, axis.name), None)) is not None:
                row.restore_typed_text(text)
        if not axes:
            grid.addWidget(Label("The machine has no movable joint."), 0, 0, 1, 3)
        grid.setRowStretch(len(axes) + 1, 1)
        return inside

    def _checker(self, name: str) -> Callable[[str], object]:
        def check(formula: str) -> None:
            from core.simulation.equations.joint_forces import check_formula

            check_formula(self._session.mech, name, formula)

        return check

    def _setter(self, kind: str, name: str, own: float) -> Callable[[float | str], None]:
        def change(value: float | str) -> None:
            run_settings = dict(getattr(self._simulation.run_settings, kind))
            if value == own:
                run_settings.pop(name, None)
            else:
                run_settings[name] = value
            self._simulation.choose(**{kind: run_settings})

        return change

    def _on_refused(self) -> None:
        every = [row for rows in self.rows.values() for row in rows.values()]
        self.refused.emit("\n".join(f"{row.label.text()}: {row.problem}" for row in every if row.problem))

    def finish_typing(self) -> bool:
        """Accept text typed in the fields, as Enter would; return False if some of it cannot be accepted."""
        every = [row for rows in self.rows.values() for row in rows.values()]
        for row in every:
            row.finish()
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
        """Show the speeds with which the run will start where none is set, as they follow from loops, constraints and
        drivers."""
        mech, rows = self._session.mech, self.rows["speeds"]
        if not (rows and mech.constrained and self.isVisible() and list(rows) == list(mech.v_names)):
            return
        try:
            start = start_of(self._simulation.run_settings, self._session)
            p = mech.parameter_values(dict(self._session.edited_parameters) or None)
            state = start_state(mech, start.q, start.speeds, p, start.time)
        except KinetostatError:  # told when the run is started
            return
        for row, speed in zip(rows.values(), state[mech.nq : mech.nq + mech.nv], strict=True):
            row.expect(float(speed) if abs(speed) > STILL else 0.0)


def _title_with_count(title: str, count: int) -> str:
    return f"{title} ({count})" if count else title


def axes_of(session: Session) -> tuple[Axis, ...]:
    """Return the speeds of the machine. The sliders of forces reach the joint's largest effort, or what a lever of one
    metre needs to lift the machine."""
    mech, model = session.mech, session.model.expanded
    values = session.model.values()
    mass = sum(_number(body.mass, values) for body in model.bodies)
    usual = 10.0 ** math.ceil(math.log10(max(mass * GRAVITY, LEAST_FORCE)))
    efforts = {joint.name: _number(joint.limits[0].effort, values) for joint in model.joints if joint.limits}
    own = dict(zip(mech.v_names, start_speeds(mech).tolist(), strict=True))
    axes = []
    for name in mech.v_names:
        turns = turning(session, name)
        kind = "rotation" if turns else "translation"
        measures = MEASURES[kind]
        fastest = max(FASTEST[kind], 2.0 * abs(own[name]))
        most = effective_limit(efforts.get(name))
        axes.append(Axis(name, *measures, fastest, usual if math.isinf(most) else abs(most), own[name]))
    return tuple(axes)


def _number(value: Any, values: Mapping[str, float]) -> float:
    """Return a field's value; 0 if there is none or it is not finite."""
    try:
        number = float(value_of(value, values)) if value is not None else 0.0
    except KinetostatError:
        return 0.0
    return number if math.isfinite(number) else 0.0


def turning(session: Session, speed: str) -> bool:
    """Return True if a speed is an angular speed."""
    mech = session.mech
    for joint in (*mech.implicit_joints, *session.model.expanded.joints):
        if speed == joint.name or speed.startswith(f"{joint.name}."):
            part = mech.joint_v(joint.name)
            place = mech.v_names.index(speed) - part.start
            dimensions = joint.info.speed_dimensions
            return dimensions[place] == "angular_velocity"
    return True
