"""Input pages of the Identification panel: for forces of a motion, for a simulation run, for an exciting motion."""

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

from app.plain_text import as_tip
from app.widgets.fields.choice_editors import Combo
from app.widgets.number_table import VaryTable
from app.widgets.options.signal_options import ExampleNames
from app.widgets.quantities.quantity_text import Units
from app.widgets.refused_texts import RefusedTexts
from core.errors import KinetostatError, ModelError
from core.functions import Context
from core.functions.option_texts import quantity
from core.functions.options import Number
from core.functions.subjects.identification import (
    CRITERION_TITLES,
    KIND_NAMES,
    KINDS,
    METHOD_TITLES,
    parts_of,
    torque_of_text,
)
from core.model.formula.expression import parse
from core.model.parameters import value_of

NARROW = 90
"""Width of a field for one number, pixels."""


class Fields:
    """Named text fields in a form."""

    def __init__(self) -> None:
        self.form = QFormLayout()
        self.form.setContentsMargins(0, 0, 0, 0)
        self.form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        self.lines: dict[str, QLineEdit] = {}

    def line(
        self, name: str, title: str, text: str = "", hint: str = "", tip: str = "", *, narrow: bool = False
    ) -> None:
        """Add a text field to the form."""
        field = QLineEdit(text, placeholderText=hint, toolTip=as_tip(tip))
        field.setAccessibleName(title)
        if narrow:
            field.setMaximumWidth(NARROW)
        self.lines[name] = field
        self.form.addRow(title, field)

    def number(self, context: Context, name: str, dimension: str = "none") -> float | None:
        """Return the number in a field, SI; None if the field is empty. Raises ModelError."""
        text = self.lines[name].text().strip()
        if not text:
            return None
        return quantity(text, context, Number(name, self.lines[name].accessibleName(), dimension=dimension))

    def needed(self, context: Context, name: str, dimension: str = "none") -> float:
        """Return the number in a field that must not be empty, SI. Raises ModelError."""
        found = self.number(context, name, dimension)
        if found is None:
            raise ModelError("A number is missing.", where=self.lines[name].accessibleName(), remedy="Type one.")
        return found

    def whole(self, context: Context, name: str) -> int:
        """Return the whole number in a field that must not be empty. Raises ModelError."""
        found = self.needed(context, name)
        if found != int(found) or found < 1:
            raise ModelError(
                f"{found:g} is not a positive whole number.",
                where=self.lines[name].accessibleName(),
                remedy="Type 1, 2, …",
            )
        return int(found)

    def watch(
        self, refused: RefusedTexts, context: Callable[[], Context], readers: Mapping[str, Callable[[Context], object]]
    ) -> None:
        """Mark texts that cannot be read. readers : field → function that raises KinetostatError"""
        for name, read in readers.items():
            refused.watch_line(self.lines[name], lambda read=read: read(context()))


class Kinds(QWidget):
    """Check boxes for the kinds of parameters to identify."""

    def __init__(self) -> None:
        super().__init__()
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(4)
        self.boxes = {name: QCheckBox(name.capitalize()) for name in KIND_NAMES}
        for k, (name, box) in enumerate(self.boxes.items()):
            box.setChecked(name in parts_of(KINDS))
            grid.addWidget(box, k // 2, k % 2)

    def chosen(self) -> tuple[str, ...]:
        """Return the names of the chosen kinds. Raises ModelError."""
        found = tuple(name for name, box in self.boxes.items() if box.isChecked())
        if not found:
            raise ModelError("No kind of parameters is chosen.", where="Kinds", remedy="Check inertia, damping …")
        return found


class ForcesPage(QWidget):
    """Input for identifying parameters by inverse dynamics."""

    def __init__(self) -> None:
        super().__init__()
        self.fields, self.kinds, self.method = Fields(), Kinds(), Combo()
        for name, title in METHOD_TITLES.items():
            self.method.addItem(title, name)
        self.method.setAccessibleName("Least squares")
        form = self.fields.form
        form.addRow("Kinds", self.kinds)
        self.fields.line(
            "only", "Only", hint="all bodies and joints", tip=("Names of bodies and joints, separated by commas")
        )
        form.addRow("Least squares", self.method)
        self.fields.line(
            "cutoff",
            "Filter",
            hint="Hz",
            tip="Cut-off frequency of a zero-phase filter; empty: smoothing splines",
            narrow=True,
        )
        self.fields.line(
            "held", "Validation", "25 %", tip=("Fraction of the rows, at the end, kept for validation"), narrow=True
        )
        _set_page_layout(self, form)

    def watch(self, refused: RefusedTexts, context: Callable[[], Context]) -> None:
        """Mark texts that cannot be read."""
        self.fields.watch(refused, context, {"cutoff": self._cutoff, "held": lambda _: _fraction(self.fields)})

    def options(self, context: Context) -> dict[str, Any]:
        """Return the options as `identify` takes them."""
        return {
            "kinds": self.kinds.chosen(),
            "only": parts_of(self.fields.lines["only"].text()),
            "method": self.method.currentData(),
            "cutoff": self._cutoff(context),
            "held_back": _fraction(self.fields),
        }

    def _cutoff(self, context: Context) -> float | None:
        return self.fields.number(context, "cutoff", "frequency")


def _fraction(fields: Fields) -> float:
    """Return a fraction of one, which may be written in percent. Raises ModelError."""
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
        self.fields = Fields()
        self.vary = VaryTable(units, open_ends=True)
        self.start_free = QCheckBox("Fit initial values too")
        self.start_free.setChecked(True)
        lines = self.fields
        lines.form.addRow("", self.start_free)
        lines.line("start", "Known initial values", tip="Initial values that are known and not fitted")
        lines.line(
            "torque",
            "Joint forces",
            hint="those of the trace",
            tip=("Names with formulas in t, separated by semicolons"),
        )
        lines.line(
            "segments",
            "Segments",
            "1",
            tip=("Number of segments of a long trace that start from their own initial values (multiple shooting)"),
            narrow=True,
        )
        lines.line(
            "held", "Validation", "25 %", tip="Fraction of the rows, at the end, kept for validation", narrow=True
        )
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 4, 8, 6)
        column.addWidget(self.vary, 1)
        column.addLayout(lines.form)

    def show_parameters(self, context: Context) -> None:
        """Show rows for the machine's free parameters; checked ones stay checked."""
        self.vary.show_parameters(context.model, context.mech)
        names = ExampleNames.of(context.mech)
        known = "{joint}.q=30 deg" if names.dimension == "angle" else "{joint}.q=10 mm"
        self.fields.lines["start"].setPlaceholderText(names.hint(known, "{joint}.v=0", end=""))
        self.fields.lines["torque"].setToolTip(as_tip(names.hint("{joint}=10*sin(t)", end="; …")))

    def watch(self, refused: RefusedTexts, context: Callable[[], Context]) -> None:
        """Mark texts that cannot be read, in the lines and in the table of parameters."""
        readers: dict[str, Callable[[Context], object]] = {
            "start": self._start,
            "torque": lambda _: self._torque(),
            "segments": self._segments,
            "held": lambda _: _fraction(self.fields),
        }
        self.fields.watch(refused, context, readers)
        refused.watch_table(self.vary, self.vary.check_cell)

    def _torque(self) -> dict[str, str] | None:
        """Return the joint forces, whose formulas can be parsed. Raises KinetostatError."""
        found = torque_of_text(self.fields.lines["torque"].text())
        for name, formula in (found or {}).items():
            try:
                parse(formula)
            except KinetostatError as error:
                raise error.at(where=f"joint force of {name}") from None
        return found

    def _segments(self, context: Context) -> int:
        return self.fields.whole(context, "segments")

    def options(self, context: Context) -> dict[str, Any]:
        """Return the options as `fit_run` takes them. Raises ModelError."""
        start = self._start(context)
        return {
            "vary": self._bounds(context),
            "free": None if self.start_free.isChecked() else (),
            "q0": {name.removesuffix(".q"): value for name, value in start.items() if not name.endswith(".v")},
            "v0": {name.removesuffix(".v"): value for name, value in start.items() if name.endswith(".v")},
            "torque": self._torque(),
            "segments": self._segments(context),
            "held_back": _fraction(self.fields),
        }

    def _bounds(self, context: Context) -> dict[str, Any]:
        values, found = context.model.values(), {}
        for name, ends in self.vary.bounds().items():
            low, high = (
                sign * float("inf") if end is None else float(value_of(end, values))
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

    def _start(self, context: Context) -> Mapping[str, float]:
        from core.functions.options import SignalValues

        option = SignalValues("start", "Known initial values", of="run parameters")
        found: Mapping[str, float] = option.coerce(self.fields.lines["start"].text().strip() or (), context)
        return found


class ExcitationPage(QWidget):
    """Input for a motion that excites the parameters to be identified."""

    def __init__(self) -> None:
        super().__init__()
        self.fields, self.kinds, self.criterion = Fields(), Kinds(), Combo()
        for name, title in CRITERION_TITLES.items():
            self.criterion.addItem(title, name)
        self.criterion.setAccessibleName("Criterion")
        lines = self.fields
        lines.form.addRow("Kinds", self.kinds)
        lines.line(
            "only", "Only", hint="all bodies and joints", tip=("Names of bodies and joints, separated by commas")
        )
        lines.line("period", "Period", "10 s", narrow=True)
        lines.line("harmonics", "Harmonics", "5", narrow=True)
        lines.line("speed", "Speed", hint="of the joints", tip="Largest, rad/s or m/s", narrow=True)
        lines.line("acceleration", "Acceleration", hint="any", tip="Largest, rad/s² or m/s²", narrow=True)
        lines.line("rate", "Rows per second", "100", narrow=True)
        lines.line(
            "starts", "Starts", "1", tip=("Number of random motions from which the optimisation starts"), narrow=True
        )
        lines.form.addRow("Criterion", self.criterion)
        _set_page_layout(self, lines.form)

    def _readers(self) -> dict[str, Callable[[Context], Any]]:
        """Return the functions that read the fields of numbers, in SI. They raise ModelError."""
        fields = self.fields
        return {
            "period": lambda context: fields.needed(context, "period", "time"),
            "harmonics": lambda context: fields.whole(context, "harmonics"),
            "speed": lambda context: fields.number(context, "speed"),
            "acceleration": lambda context: fields.number(context, "acceleration"),
            "rate": lambda context: fields.needed(context, "rate", "frequency"),
            "starts": lambda context: fields.whole(context, "starts"),
        }

    def watch(self, refused: RefusedTexts, context: Callable[[], Context]) -> None:
        """Mark texts that cannot be read."""
        self.fields.watch(refused, context, self._readers())

    def options(self, context: Context) -> dict[str, Any]:
        """Return the options as `excitation` takes them."""
        return {
            "kinds": self.kinds.chosen(),
            "only": parts_of(self.fields.lines["only"].text()),
            "criterion": self.criterion.currentData(),
            **{name: read(context) for name, read in self._readers().items()},
        }


def _set_page_layout(page: QWidget, form: QFormLayout) -> None:
    column = QVBoxLayout(page)
    column.setContentsMargins(8, 4, 8, 6)
    column.addLayout(form)
    column.addStretch(1)
