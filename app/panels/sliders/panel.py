"""Sliders of joints and parameters. Like handles in the scene, a slider previews its values in the session and then
commits once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QScrollArea,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.background.signals import Lifetime
from app.background.slices import shared_slices
from app.document.hand_freedom import free_speed_mask
from app.document.revision import DocumentState, ElementRef
from app.document.session import Session
from app.panels.sliders.row import SliderQuantity, SliderRow
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.preferences.settings import Settings
from app.widgets.panel_parts import EmptyPanelPlaceholder
from core.errors import KinetostatError, join_words
from core.joints import quaternions
from core.model import Model, Parameter
from core.model.parameters import evaluate_field

if TYPE_CHECKING:
    from app.workbench import Workbench

FREE_RANGE = {"angle": math.pi, "length": 1.0}
"""Half the range of the slider of a joint without limits, rad or m."""
FOLLOW = 20
"""Interval over which movements are collected before they are shown, ms. With 0 nothing would be shown as long as
drawing takes all the time."""
QUATERNION = (".qx", ".qy", ".qz", ".qw")
ROTATION = ("rotation x", "rotation y", "rotation z")
NO_JOINTS = "No joints yet. Each joint coordinate will have a slider here."
NO_PARAMETERS = "No parameters yet. Each parameter, a named number for formulas, will have a slider here."


class _SliderEntry(NamedTuple):
    """A quantity with the functions that read its value and preview a new one."""

    quantity: SliderQuantity
    read: Callable[[], float]
    preview: Callable[[float], object]


class SlidersPanel(QWidget):
    """Tabs "Joints" and "Parameters", unit switches and reset."""

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self._session, self._settings = session, settings
        self._turns: dict[str, np.ndarray] = {}
        self._p = session.p
        self.joints, self.parameters = (
            _SliderPage(NO_JOINTS, "Add a link"),
            _SliderPage(NO_PARAMETERS, "Add a parameter"),
        )
        self.tabs = QTabWidget(documentMode=True)
        self.tabs.addTab(self.joints, "Joints")
        self.tabs.addTab(self.parameters, "Parameters")
        self.tabs.setCornerWidget(self._build_unit_bar())
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tabs)
        self._shown = 0.0
        self._soon = QTimer(self, singleShot=True, interval=FOLLOW)
        self._soon.timeout.connect(self._show_values)
        self._life = Lifetime()
        self._life.listen(
            (session.changed, self._on_document_changed),
            (session.moved, self._on_pose_changed),
            (settings.changed, self._on_setting_changed),
        )
        self._rebuild()

    def close(self) -> None:
        """Disconnect from all signals."""
        self._life.close()

    @property
    def rows(self) -> dict[str, SliderRow]:
        """Return all rows by the name of the quantity that they show."""
        return {row.quantity.name: row for page in (self.joints, self.parameters) for row in page.create_rows()}

    # ----------------------------------------------------------------------------- building

    def _build_unit_bar(self) -> QWidget:
        corner = QWidget()
        row = QHBoxLayout(corner)
        row.setContentsMargins(0, 2, 6, 2)
        row.setSpacing(4)
        self.angle_unit, self.length_unit = QComboBox(), QComboBox()
        for box, units, tip in (
            (self.angle_unit, ("°", "rad"), "Unit of angles"),
            (self.length_unit, ("m", "mm"), "Unit of lengths"),
        ):
            box.addItems(units)
            box.setToolTip(escape_tip(tip))
            box.setAccessibleName(tip)
            row.addWidget(box)
        self._show_units()
        self.angle_unit.activated.connect(lambda index: setattr(self._settings, "degrees", index == 0))
        self.length_unit.activated.connect(lambda index: setattr(self._settings, "millimetres", index == 1))
        self.reset = QToolButton(icon=icon("reset"), autoRaise=True, toolTip=("Move all joints to their rest position"))
        self.reset.clicked.connect(self._session.reset_pose)
        row.addWidget(self.reset)
        return corner

    def _show_units(self) -> None:
        self.angle_unit.setCurrentIndex(0 if self._settings.degrees else 1)
        self.length_unit.setCurrentIndex(1 if self._settings.millimetres else 0)

    def _rebuild(self) -> None:
        self._turns, self._p = {}, self._session.p
        self._model = self._session.model
        for page, entries in ((self.joints, self._joint_entries()), (self.parameters, self._parameter_entries())):
            page.show_entries(entries, self._session, self._settings)
        self.reset.setEnabled(self._session.mech.nq > 0)
        self._show_values()

    def _joint_entries(self) -> list[_SliderEntry]:
        entries: list[_SliderEntry] = []
        driven = {**held_coordinates(self._session), **driven_coordinates(self._session.model)}
        for c in self._session.mech.coordinates:
            if c.name.endswith(QUATERNION):
                if c.name.endswith(QUATERNION[0]):
                    entries += self._rotation_entries(c.name.removesuffix(QUATERNION[0]), c.index, c.joint)
                continue
            lower, upper = _slider_range(c.dimension, c.lower, c.upper)
            mover = driven.get(c.name, "")
            quantity = SliderQuantity(
                c.name, c.name, c.dimension, lower, upper, self._joint_ref(c.joint), mover, c.lower, c.upper
            )
            entries.append(_SliderEntry(quantity, self._read_function(c.index), self._preview_function(c.name)))
        return entries + self._closing_entries() + self._follower_entries()

    def _closing_entries(self) -> list[_SliderEntry]:
        """Return entries for coordinates of joints that close loops; moving one moves the loop."""
        if not self._session.mech.loops:
            return []
        from core.constraints.other_cuts import closing_coordinates  # not needed at the start of the window

        model, compiled = self._session.model.expanded, self._session.mech.compiled
        driven = driven_coordinates(self._session.model)
        entries = []
        for each in closing_coordinates(compiled).values():
            bounds = compiled.coordinates.limits_of_joint(model.find("joints", each.joint), each.k)
            lower, upper = _slider_range(each.dimension, *bounds)
            ref, mover = ElementRef("joints", each.joint), driven.get(each.name, "")
            quantity = SliderQuantity(each.name, each.name, each.dimension, lower, upper, ref, mover, *bounds)
            read = lambda each=each: each.value(compiled, self._session.q, self._session.p)  # noqa: E731
            entries.append(_SliderEntry(quantity, read, self._preview_function(each.name)))
        return entries

    def _follower_entries(self) -> list[_SliderEntry]:
        """Return entries for joints coupled to another one; they are shown, but move only with the joint they
        follow."""
        session = self._session
        entries = []
        for joint in session.model.expanded.joints:
            if joint.mimic is None or joint.name in session.mech.q_names:
                continue
            dimension = joint.info.coordinate_dimensions[0]
            half = FREE_RANGE.get(dimension, 1.0)
            ref, mover = ElementRef("joints", joint.name), f"follows {joint.mimic.leader}"
            quantity = SliderQuantity(joint.name, joint.name, dimension, -half, half, ref, mover)
            entries.append(_SliderEntry(quantity, self._follower_reader(joint.name), lambda value: None))
        return entries

    def _follower_reader(self, name: str) -> Callable[[], float]:
        return lambda: float(self._session.mech.coordinate(self._session.q, name)[0])

    def _joint_ref(self, joint: str) -> ElementRef:
        """Return the joint of this name, or the body where a body moves freely without a joint."""
        for free in self._session.mech.implicit_joints:
            if free.name == joint:
                return ElementRef("bodies", free.child)
        return ElementRef("joints", joint)

    def _read_function(self, index: int) -> Callable[[], float]:
        return lambda: float(self._session.q[index])

    def _preview_function(self, name: str) -> Callable[[float], object]:
        return lambda value: self._session.preview_coordinates({name: value})

    def _parameter_entries(self) -> list[_SliderEntry]:
        session = self._session
        table = {parameter.name: parameter for parameter in session.model.expanded.parameters}
        values = session.model.values()
        entries = []
        for name in session.mech.p_names:
            lower, upper = parameter_range(table[name], values)
            quantity = SliderQuantity(name, name, table[name].dimension, lower, upper, ElementRef("parameters", name))
            preview = lambda value, name=name: session.preview(parameters={name: value})  # noqa: E731
            entries.append(_SliderEntry(quantity, lambda name=name: float(self._p[name]), preview))
        return entries

    # ----------------------------------------------------------------------------- rotations

    def _rotation_entries(self, stem: str, index: int, joint: str) -> list[_SliderEntry]:
        """Return three sliders for the rotation vector instead of four for a quaternion."""
        ref = self._joint_ref(joint)
        return [
            _SliderEntry(
                SliderQuantity(f"{stem}.{ROTATION[i]}", f"{stem}.r{'xyz'[i]}", "angle", -math.pi, math.pi, ref),
                lambda i=i: float(self._rotation_vector(stem, index)[i]),
                lambda value, i=i: self._preview_rotation(stem, index, i, value),
            )
            for i in range(3)
        ]

    def _rotation_vector(self, stem: str, index: int) -> np.ndarray:
        """Return the rotation vector, or the one last set by a slider as long as it describes the same rotation."""
        now = quaternions.normalise_quaternion(self._session.q[index : index + 4])
        last = self._turns.get(stem)
        if (
            last is None
            or np.linalg.norm(quaternions.multiply_quaternions(quaternions.quaternion_from_vector(-last), now)[:3])
            > 5e-10
        ):
            self._turns[stem] = quaternions.vector_from_quaternion(now)
        return self._turns[stem]

    def _preview_rotation(self, stem: str, index: int, i: int, value: float) -> None:
        vector = self._rotation_vector(stem, index).copy()
        vector[i] = value
        self._turns[stem] = vector
        quaternion = quaternions.quaternion_from_vector(vector)
        names = [stem + suffix for suffix in QUATERNION]
        self._session.preview_coordinates(dict(zip(names, map(float, quaternion), strict=True)))

    # ----------------------------------------------------------------------------- following

    def _on_document_changed(self, old: DocumentState, new: DocumentState) -> None:
        if old.model is new.model:
            return
        wanted = [
            [entry.quantity for entry in entries] for entries in (self._joint_entries(), self._parameter_entries())
        ]
        self._model = new.model
        if wanted != [[entry.quantity for entry in page.entries] for page in (self.joints, self.parameters)]:
            self._rebuild()

    def _on_pose_changed(self) -> None:
        if self._soon.isActive():
            return
        if not self._session.has_preview and monotonic() - self._shown > 1e-3 * FOLLOW:
            self._show_values()  # together with the scene's next picture
        else:
            self._soon.start()

    def _show_values(self) -> None:
        if self._session.model is not self._model:  # the entries of this one come at once
            return
        self._shown = monotonic()
        self._p = self._session.p
        for page in (self.joints, self.parameters):
            page.show_values()

    def _on_setting_changed(self, key: str) -> None:
        if key.startswith("units/"):
            self._show_units()
            for row in (*self.joints.rows, *self.parameters.rows):
                row.refresh(self._settings)


class _SliderPage(QScrollArea):
    """Scrolling list of rows, or a placeholder with a button that emits `wanted` to create the first quantity. Rows are
    created when the page is first visible."""

    wanted = Signal()

    def __init__(self, words: str, title: str) -> None:
        super().__init__()
        self._words, self._title = words, title
        self.rows: list[SliderRow] = []
        self.entries: list[_SliderEntry] = []
        self._make: Callable[[], None] | None = None
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_entries(self, entries: list[_SliderEntry], session: Session, settings: Settings) -> None:
        """Create a row for each entry, in a time slice or when the page becomes visible."""
        self.entries = entries
        self._make = lambda: self._build(entries, session, settings)
        if self.isVisible():
            shared_slices().add(self, self._create_rows_in_slice)

    def _create_rows_in_slice(self, _seconds: float) -> bool:
        self.create_rows()
        return True

    def create_rows(self) -> list[SliderRow]:
        """Return the rows, creating them if necessary."""
        make, self._make = self._make, None
        if make is not None:
            make()
            self.show_values()
        return self.rows

    def showEvent(self, event: QShowEvent) -> None:
        """Create the rows when the page becomes visible."""
        self.create_rows()
        super().showEvent(event)

    def _build(self, entries: list[_SliderEntry], session: Session, settings: Settings) -> None:
        """Create a row for each entry; rows of unchanged entries are kept."""
        kept = {row.quantity: row for row in self.rows}
        if self.rows and [entry.quantity for entry in entries] == list(kept):
            for row, entry in zip(self.rows, entries, strict=True):
                row.preview = entry.preview
            return
        self.rows = []
        for entry in entries:
            row = kept.get(entry.quantity) or SliderRow(entry.quantity, session, settings, entry.preview)
            row.preview = entry.preview
            self.rows.append(row)
        inside = QWidget()
        grid = QGridLayout(inside)
        grid.setContentsMargins(10, 6, 8, 6)
        grid.setVerticalSpacing(3)
        grid.setColumnStretch(1, 1)
        for number, row in enumerate(self.rows):
            row.add_to_grid(grid, number)
        if not self.rows:
            empty = EmptyPanelPlaceholder(self._words, self._title)
            empty.wanted.connect(self.wanted)
            grid.addWidget(empty, 0, 0, 1, 3)
        grid.setRowStretch(len(self.rows) + 1, 1)
        self.setWidget(inside)

    def show_values(self) -> None:
        """Show the current values."""
        if self._make is None:
            for row, entry in zip(self.rows, self.entries, strict=True):
                row.show_value(entry.read())


def _slider_range(dimension: str, lower: float | None, upper: float | None) -> tuple[float, float]:
    """Return the range of a coordinate's slider: its limits, or a range within the free side."""
    half = FREE_RANGE.get(dimension, 1.0)
    return (
        lower if lower is not None else min(-half, (upper or 0.0) - 2 * half),
        upper if upper is not None else max(half, (lower or 0.0) + 2 * half),
    )


def driven_coordinates(model: Model) -> dict[str, str]:
    """Return coordinates prescribed by drivers, with a note on the driver; they cannot be moved by hand."""
    return {
        f"{each.joint}.{each.coordinate}" if each.coordinate else each.joint: f"is driven by {each.name}"
        for each in model.expanded.drivers
        if each.joint and each.motion == "position"
    }


def held_coordinates(session: Session) -> dict[str, str]:
    """Return coordinates that drivers determine through constraints, with a note on the driver."""
    drivers = [each.name for each in session.model.expanded.drivers if each.motion == "position"]
    if not drivers:
        return {}
    mech, here, without = session.mech, free_speed_mask(session), free_speed_mask(session, without_drivers=True)
    found = {}
    for each in mech.coordinates:
        q, v = mech.joint_q(each.joint), mech.joint_v(each.joint)
        if q.stop - q.start == v.stop - v.start:
            k = v.start + each.index - q.start
            if without[k] and not here[k]:
                found[each.name] = f"is determined by {join_words(drivers)}"
    return found


def parameter_range(parameter: Parameter, values: Mapping[str, float]) -> tuple[float, float]:
    """Return the range of a parameter's slider, SI: the user's bounds, or a range around its value."""
    value = values[parameter.name]
    if parameter.dimension == "angle":
        lower, upper = -math.pi, math.pi
    elif value == 0.0:
        lower, upper = -1.0, 1.0
    else:
        lower, upper = sorted((0.0, 2.0 * value))
    for bound, said in (("minimum", parameter.minimum), ("maximum", parameter.maximum)):
        if said is None:
            continue
        try:
            number = float(evaluate_field(said, values))
        except KinetostatError:
            continue
        lower, upper = (number, upper) if bound == "minimum" else (lower, number)
    return (lower, upper) if lower < upper else (min(lower, value), max(lower, value) + 1.0)


def create_panel(bench: Workbench) -> SlidersPanel:
    """Create the Sliders panel of a window."""
    panel = SlidersPanel(bench.session, bench.settings)
    panel.joints.wanted.connect(lambda: bench.run_command("add.link"))
    panel.parameters.wanted.connect(lambda: bench.run_command("add.parameter"))
    return panel
