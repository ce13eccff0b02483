"""A label that is cut does not keep the window wide, and still knows the whole of its text."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox

from app.widgets.label import ElidedCombo, ElidedLabel

TEXT = "3 / 24   Energies: kinetic energy of the third link, by the sum over its joints"


@pytest.mark.parametrize("mode", [Qt.TextElideMode.ElideRight, Qt.TextElideMode.ElideMiddle])
def test_a_long_text_is_cut_to_the_room(qtbot, mode):
    label = ElidedLabel(TEXT, mode)
    qtbot.addWidget(label)
    label.resize(200, 30)
    label.show()
    assert label.minimumSizeHint().width() < 150
    assert label.text() == TEXT
    assert "…" in label.elided_text
    assert label.fontMetrics().horizontalAdvance(label.elided_text) <= 200
    wide = label.sizeHint().width() + 10
    label.resize(wide, 30)
    assert label.elided_text == TEXT


def test_what_is_drawn_is_what_there_is_room_for(qtbot):
    label, short = ElidedLabel(TEXT), ElidedLabel()
    for each in (label, short):
        qtbot.addWidget(each)
        each.resize(200, 30)
    short.setText(label.elided_text)
    assert label.grab().toImage() == short.grab().toImage()


def test_a_chosen_entry_is_cut_with_dots_where_its_field_is_too_narrow(qtbot):
    combo, short = ElidedCombo(), QComboBox()
    for each in (combo, short):
        qtbot.addWidget(each)
        each.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        each.resize(200, 28)
    combo.addItem(TEXT)
    assert combo.elided_text.endswith("…")
    assert combo.currentText() == TEXT
    short.addItem(combo.elided_text)
    assert combo.grab().toImage() == short.grab().toImage()
    combo.resize(900, 28)
    assert combo.elided_text == TEXT


def test_the_derivation_of_a_robot_leaves_the_window_narrow(bench):
    from app.panels.derivation.panel import DerivationPanel

    bench.example("stanford")
    panel = bench.window.docks.panels["derivation"]
    assert isinstance(panel, DerivationPanel)
    bench.window.docks.show_panel("derivation")
    panel.begin()
    bench.wait(lambda: panel.is_open and panel.list.count() > 5)
    for row in range(panel.list.count()):
        panel.list.setCurrentRow(row)
        assert bench.window.minimumSizeHint().width() <= 1000, panel.page.title.text()
        for label in (panel.page.words, panel.page.legend):
            assert label.maximumWidth() < panel.page.width(), panel.page.title.text()
    panel.end()
