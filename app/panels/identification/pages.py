"""Input pages of the Identification panel: identification by inverse dynamics, fit of a simulation run, excitation
trajectory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from PySide6.QtWidgets import (
    QCheckBox,
    QFormLayout,
    QGridLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from app.plain_text import escape_tip
from app.widgets.fields.choice_editors import NarrowCombo
from app.widgets.number_table import VariedParametersTable
from app.widgets.options.signal_options import ExampleNames
from app.widgets.quantities.quantity_text import Units
from app.widgets.refused_texts import InputChecker
from core.errors import KinetostatError, ModelError
from core.functions import Context
from core.functions.option_texts import parse_quantity
from core.functions.options import Number
from core.functions.subjects.identification import (
    CRITERION_TITLES,
    KIND_NAMES,
    KINDS,
    METHOD_TITLES,
    parse_torques,
    split_names,
)
from core.model.formula.expression import parse
from core.model.parameters import evaluate_field

NARROW = 90
"""Width of a field for one number, pixels."""


class FormFields:
    """Form of named text fields with functions that read them as numbers."""

    def __init__(self) -> None:
        self.form = QFormLayout()
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.lines: dict[str, QLineEdit] = {}

    def add_line(
        self, name: str, title: str, text: str = "", hint: str = "", tip: str = "", *, narrow: bool = False
    ) -> None:
        """Add a text field to the form."""
        field = QLineEdit(text, placeholderText=hint, toolTip=escape_tip(tip))
        field.setAccessibleName(title)
        if narrow:
            field.setMaximumWidth(NARROW)
        self.lines[name] = field
        self.form.addRow(title, field)

    def read_number(self, context: Context, name: str, dimension: str = "none") -> float | None:
        """Return the number in a field, SI; None if the field is empty. Raises ModelError."""
        text = self.lines[name].text().strip()
        if not text:
            return None
        return parse_quantity(text, context, Number(name, self.lines[name].accessibleName(), dimension=dimension))

    def read_required_number(self, context: Context, name: str, dimension: str = "none") -> float:
        """Return the number in a required field, SI. Raises ModelError."""
        found = self.read_number(context, name, dimension)
        if found is None:
            raise ModelError(
                "This field needs a number.", where=self.lines[name].accessibleName(), remedy="Type a number."
            )
        return found

    def read_whole_number(self, context: Context, name: str) -> int:
        """Return the positive whole number in a required field. Raises ModelError."""
        found = self.read_required_number(context, name)
        if found != int(found) or found < 1:
            raise ModelError(
                f"{found:g} is not a positive whole number.",
                where=self.lines[name].accessibleName(),
                remedy="Type 1, 2, …",
            )
        return int(found)

    def mark_unreadable_texts(
        self, refused: InputChecker, context: Callable[[], Context], readers: Mapping[str, Callable[[Context], object]]
    ) -> None:
        """Mark texts that cannot be read. readers : field → function that raises KinetostatError"""
        for name, read in readers.items():
            refused.watch_line(self.lines[name], lambda read=read: read(context()))


class ParameterKindBoxes(QWidget):
    """Check boxes for the kinds of parameters to identify (inertia, friction …)."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        self.boxes = {name: QCheckBox(name.capitalize()) for name in KIND_NAMES}
        for k, (name, box) in enumerate(self.boxes.items()):
            box.setChecked(name in split_names(KINDS))
            grid.addWidget(box, k // 2, k % 2)

    def chosen_kinds(self) -> tuple[str, ...]:
        """Return the names of the chosen kinds. Raises ModelError."""
        found = tuple(name for name, box in self.boxes.items() if box.isChecked())
        if not found:
            raise ModelError(
                "No kind of parameters is chosen.",
                where="Parameters",
                remedy="Check at least one kind, such as inertia.",
            )
        return found


class ForcesPage(QWidget):
    """Input for identifying parameters by inverse dynamics."""

    def __init__(self) -> None:
        super().__init__()
        self.fields, self.kinds, self.method = FormFields(), ParameterKindBoxes(), NarrowCombo()
        for name, title in METHOD_TITLES.items():
            self.method.addItem(title, name)
        self.method.setAccessibleName("Least squares")
        form = self.fields.form
        form.addRow("Parameters", self.kinds)
        self.fields.add_line(
            "only", "Only", hint="all bodies and joints", tip=("Names of bodies and joints, separated by commas")
        )
        form.addRow("Least squares", self.method)
        self.fields.add_line(
            "cutoff",
            "Filter",
            hint="Hz",
            tip="Cut-off frequency of a zero-phase filter; empty: smoothing splines",
            narrow=True,
        )
        self.fields.add_line(
            "held", "Validation", "25 %", tip=("Fraction of the rows, at the end, kept for validation"), narrow=True
        )
        _set_page_layout(self, form)

    def mark_unreadable_texts(self, refused: InputChecker, context: Callable[[], Context]) -> None:
        """Mark texts that cannot be read."""
        self.fields.mark_unreadable_texts(
            refused, context, {"cutoff": self._read_cutoff, "held": lambda _: _read_validation_fraction(self.fields)}
        )

    def options(self, context: Context) -> dict[str, Any]:
        """Return the options as `identify` takes them."""
        return {
            "kinds": self.kinds.chosen_kinds(),
            "only": split_names(self.fields.lines["only"].text()),
            "method": self.method.currentData(),
            "cutoff": self._read_cutoff(context),
            "held_back": _read_validation_fraction(self.fields),
        }

    def _read_cutoff(self, context: Context) -> float | None:
        return self.fields.read_number(context, "cutoff", "frequency")


def _read_validation_fraction(fields: FormFields) -> float:
    """Return the fraction of rows kept for validation, typed as a fraction or in percent. Raises ModelError."""
    text = fields.lines["held"].text().strip().replace(",", ".")
    percent = text.endswith("%")
    try:
        value = float(text.rstrip("% ") or 0.0) * (0.01 if percent else 1.0)
    except ValueError:
        value = -1.0
    if not 0.0 <= value <= 0.8:
        raise ModelError(
            f"'{text}' is not a valid fraction of rows for validation.", where="Validation", remedy="Type 0 … 80 %."
        )
    return value


class RunPage(QWidget):
    """Input for fitting parameters and initial values of a simulation run."""

    def __init__(self, units: Units | None = None) -> None:
        super().__init__()
        self.fields = FormFields()
        self.vary = VariedParametersTable(units, allow_unbounded=True)
        self.start_free = QCheckBox("Fit initial values as well")
        self.start_free.setChecked(True)
        lines = self.fields
        lines.form.addRow("", self.start_free)
        lines.add_line("start", "Known initial values", tip="Initial values that are known and not fitted")
        lines.add_line(
            "torque",
            "Joint forces",
            hint="as recorded in the trace",
            tip=("Joint names with formulas in t, separated by semicolons"),
        )
        lines.add_line(
            "segments",
            "Segments",
            "1",
            tip=("Number of segments of a long trace that start from their own initial values (multiple shooting)"),
            narrow=True,
        )
        lines.add_line(
            "held", "Validation", "25 %", tip="Fraction of the rows, at the end, kept for validation", narrow=True
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 6)
        column.addWidget(self.vary, 1)
        column.addLayout(lines.form)

    def show_parameters(self, context: Context) -> None:
        """Show rows for the machine's free parameters; checked ones stay checked."""
        self.vary.show_parameters(context.model, context.mech)
        names = ExampleNames.from_machine(context.mech)
        known = "{joint}.q=30 deg" if names.dimension == "angle" else "{joint}.q=10 mm"
        self.fields.lines["start"].setPlaceholderText(names.format_hint(known, "{joint}.v=0", suffix=""))
        self.fields.lines["torque"].setToolTip(escape_tip(names.format_hint("{joint}=10*sin(t)", suffix="; …")))

    def mark_unreadable_texts(self, refused: InputChecker, context: Callable[[], Context]) -> None:
        """Mark texts that cannot be read, in the lines and in the table of parameters."""
        readers: dict[str, Callable[[Context], object]] = {
            "start": self._read_initial_values,
            "torque": lambda _: self._read_joint_forces(),
            "segments": self._read_segment_count,
            "held": lambda _: _read_validation_fraction(self.fields),
        }
        self.fields.mark_unreadable_texts(refused, context, readers)
        refused.watch_table(self.vary, self.vary.check_cell)

    def _read_joint_forces(self) -> dict[str, str] | None:
        """Return the formulas of the joint forces by joint; raises KinetostatError if one cannot be parsed."""
        found = parse_torques(self.fields.lines["torque"].text())
        for name, formula in (found or {}).items():
            try:
                parse(formula)
            except KinetostatError as error:
                raise error.at(where=f"joint force of {name}") from None
        return found

    def _read_segment_count(self, context: Context) -> int:
        return self.fields.read_whole_number(context, "segments")

    def options(self, context: Context) -> dict[str, Any]:
        """Return the options as `fit_run` takes them. Raises ModelError."""
        start = self._read_initial_values(context)
        return {
            "vary": self._read_bounds(context),
            "free": None if self.start_free.isChecked() else (),
            "q0": {name.removesuffix(".q"): value for name, value in start.items() if not name.endswith(".v")},
            "v0": {name.removesuffix(".v"): value for name, value in start.items() if name.endswith(".v")},
            "torque": self._read_joint_forces(),
            "segments": self._read_segment_count(context),
            "held_back": _read_validation_fraction(self.fields),
        }

    def _read_bounds(self, context: Context) -> dict[str, Any]:
        values, found = context.model.values(), {}
        for name, ends in self.vary.bounds().items():
            low, high = (
                sign * float("inf") if end is None else float(evaluate_field(end, values))
                for end, sign in zip(ends, (-1, 1), strict=True)
            )
            found[name] = (low, high)
        if not found:
            raise ModelError(
                "No parameter is checked." if context.mech.p_names else ("The machine has no free parameters."),
                where="Vary",
                remedy="Check one."
                if context.mech.p_names
                else ("Define masses or spring constants as parameters first."),
            )
        return found

    def _read_initial_values(self, context: Context) -> Mapping[str, float]:
        from core.functions.options import SignalValues

        option = SignalValues("start", "Known initial values", of="run parameters")
        found: Mapping[str, float] = option.coerce(self.fields.lines["start"].text().strip() or (), context)
        return found


class ExcitationPage(QWidget):
    """Input for an excitation trajectory, a motion that makes parameters identifiable."""

    def __init__(self) -> None:
        super().__init__()
        self.fields, self.kinds, self.criterion = FormFields(), ParameterKindBoxes(), NarrowCombo()
        for name, title in CRITERION_TITLES.items():
            self.criterion.addItem(title, name)
        self.criterion.setAccessibleName("Criterion")
        lines = self.fields
        lines.form.addRow("Parameters", self.kinds)
        lines.add_line(
            "only", "Only", hint="all bodies and joints", tip=("Names of bodies and joints, separated by commas")
        )
        lines.add_line("period", "Period", "10 s", narrow=True)
        lines.add_line("harmonics", "Harmonics", "5", narrow=True)
        lines.add_line(
            "speed", "Speed limit", hint="of the joints", tip="Largest joint speed, rad/s or m/s", narrow=True
        )
        lines.add_line(
            "acceleration",
            "Acceleration limit",
            hint="none",
            tip="Largest joint acceleration, rad/s² or m/s²",
            narrow=True,
        )
        lines.add_line("rate", "Rows per second", "100", narrow=True)
        lines.add_line(
            "starts", "Starts", "1", tip=("Number of random motions from which the optimisation starts"), narrow=True
        )
        lines.form.addRow("Criterion", self.criterion)
        _set_page_layout(self, lines.form)

    def _field_readers(self) -> dict[str, Callable[[Context], Any]]:
        """Return, for each numerical field, the function that reads it in SI; they raise ModelError."""
        fields = self.fields
        return {
            "period": lambda context: fields.read_required_number(context, "period", "time"),
            "harmonics": lambda context: fields.read_whole_number(context, "harmonics"),
            "speed": lambda context: fields.read_number(context, "speed"),
            "acceleration": lambda context: fields.read_number(context, "acceleration"),
            "rate": lambda context: fields.read_required_number(context, "rate", "frequency"),
            "starts": lambda context: fields.read_whole_number(context, "starts"),
        }

    def mark_unreadable_texts(self, refused: InputChecker, context: Callable[[], Context]) -> None:
        """Mark texts that cannot be read."""
        self.fields.mark_unreadable_texts(refused, context, self._field_readers())

    def options(self, context: Context) -> dict[str, Any]:
        """Return the options as `excitation` takes them."""
        return {
            "kinds": self.kinds.chosen_kinds(),
            "only": split_names(self.fields.lines["only"].text()),
            "criterion": self.criterion.currentData(),
            **{name: read(context) for name, read in self._field_readers().items()},
        }


def _set_page_layout(page: QWidget, form: QFormLayout) -> None:
    column = QVBoxLayout(page)
    column.setContentsMargins(8, 4, 8, 6)
    column.addLayout(form)
    column.addStretch(1)
