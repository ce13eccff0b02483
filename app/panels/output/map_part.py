"""Workspace map on a card: its statistics, and buttons to show it in the scene, save it, and compare it with another
map."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from PySide6.QtWidgets import QComboBox, QFileDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from app.background.signals import Lifetime
from app.panels.output.parts import CardContext, register_part_creator
from app.plain_text import escape_tip
from app.preferences.icons import icon
from app.viewport.map_layer import ShownMap, available_map_forms
from app.widgets.label import Label
from core.errors import KinetostatError
from core.functions.diagrams import SpaceMap

FORMATS = "HDF5, everything (*.h5);;CSV (*.csv);;PLY, points (*.ply);;VTU, points (*.vtu)"
FORM_TITLES = {"points": "Points", "squares": "Squares", "surface": "Surface"}
NONE_BEFORE = "There is no map of the same kind to compare with. Compute a map before and after a change."


@register_part_creator(SpaceMap)
class MapPart(QWidget):
    """Statistics of the map, a switch that shows it in the scene, a Save button and a Compare button."""

    _latest: SpaceMap | None = None
    """Map of the most recent card created before this one."""

    def __init__(self, part: SpaceMap, place: CardContext) -> None:
        super().__init__()
        self._session, self._settings, self._renew = place.session, place.settings, place.renew
        self.part = part
        self._before: SpaceMap | None = None
        self.numbers = Label()
        self.numbers.setWordWrap(True)
        self.shown = QPushButton(icon("visible"), "Show in scene")
        self.shown.setCheckable(True)
        self.shown.setToolTip("Show this map in the scene, where a click on a point sets the pose that reaches it")
        self.shown.toggled.connect(self._on_switched)
        self.form = QComboBox()
        self.form.setToolTip("Choose how the map is drawn")
        self.form.activated.connect(lambda _: self._show_in_scene())
        self.compare = QPushButton("Compare with previous map")
        self.compare.setToolTip("Show the difference of values or reachable points from the map computed before")
        self.compare.clicked.connect(self._compare)
        self.save = QPushButton(icon("save"), "Save…")
        self.save.clicked.connect(self._ask_save)
        row = QHBoxLayout()
        for widget in (self.shown, self.form, self.compare, self.save):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        column.addWidget(self.numbers)
        column.addLayout(row)
        self._life = Lifetime()
        self._life.listen((place.session.mapped, self._on_other_shown))
        self.show_part(part)
        self.shown.setChecked(True)

    def close(self) -> None:
        """Disconnect from all signals and remove the map from the scene."""
        self._life.close()
        if self.shown.isChecked():
            self._session.mapped.emit(None)

    def show_part(self, part: SpaceMap) -> None:
        """Show another map."""
        self.part = part
        latest = MapPart._latest
        if not part.map.growing and (latest is None or latest.map is not part.map):
            self._before, MapPart._latest = latest, part
        self.refresh()
        self.compare.setVisible(self._is_comparable)
        self.save.setEnabled(not part.map.growing)
        chosen, forms = self.form.currentData(), available_map_forms(part.map)
        self.form.clear()
        for form in forms:
            self.form.addItem(FORM_TITLES[form], form)
        self.form.setCurrentIndex(max(self.form.findData(chosen), 0))
        if self.shown.isChecked():
            self._show_in_scene()

    def refresh(self) -> None:
        """Show the numbers in display units."""
        text = self.part.to_text(degrees=self._settings.degrees, millimetres=self._settings.millimetres)
        self.numbers.setText("\n".join(line.strip() for line in text.splitlines()[1:]))
        self.numbers.setToolTip(escape_tip(self.part.about))

    # ------------------------------------------------------------------------------ scene

    def _on_switched(self, on: bool) -> None:
        self.form.setEnabled(on)
        if on:
            self._show_in_scene()
        else:
            self._session.mapped.emit(None)

    def _show_in_scene(self) -> None:
        self._session.mapped.emit(ShownMap(self.part, self.form.currentData(), self._renew))

    def _on_other_shown(self, shown: ShownMap | None) -> None:
        """Update the switch when another map, or none, is shown."""
        mine = shown is not None and shown.result.map is self.part.map
        if not mine and self.shown.isChecked():
            self.shown.blockSignals(True)
            self.shown.setChecked(False)
            self.shown.blockSignals(False)
            self.form.setEnabled(False)

    # ------------------------------------------------------------------------------ comparison, file

    @property
    def _is_comparable(self) -> bool:
        before = self._before
        return (
            before is not None and not self.part.map.growing and _comparison_key(before) == _comparison_key(self.part)
        )

    def _compare(self) -> None:
        """Create another card with the difference between this map and the previous one."""
        if self._before is None or not self._is_comparable:
            self._session.message.emit("hint", NONE_BEFORE)
            return
        try:
            found = SpaceMap.of(self.part.map.less(self._before.map))
        except KinetostatError as error:
            self._session.message.emit("error", str(error))
            return
        found = dataclasses.replace(found, asked=self.part.asked, function="", call="")
        self._session.produced.emit(found)

    def _ask_save(self) -> None:
        folder = self._session.folder or Path.home()
        path, _ = QFileDialog.getSaveFileName(self, "Save the map as", str(folder / "map.h5"), FORMATS)
        if path:
            self.write_map(path)

    def write_map(self, path: str) -> None:
        """Write the map to a file; errors are reported."""
        try:
            self.part.map.save(path)
        except KinetostatError as error:
            self._session.message.emit("error", str(error))
            return
        self._session.message.emit("done", f"Wrote {path}.")


def _comparison_key(part: SpaceMap) -> tuple[str, ...]:
    """Return the properties that two maps must share to be comparable."""
    found = part.map
    return found.machine, found.kind, found.unit, found.frame, part.title
