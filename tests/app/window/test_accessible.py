"""Whoever cannot see the window hears what an input is for: each has a name, whatever is selected."""

from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from app.document.session import ElementRef
from app.panels import declared_panels
from app.widgets.fields.text_editors import FileEditor
from app.widgets.label import set_accessible_input_names, set_accessible_panel_names

INPUTS = (QLineEdit, QComboBox, QAbstractSpinBox, QAbstractButton)


def nameless(place):
    found = [each for kind in INPUTS for each in place.findChildren(kind) if each.isVisible()]
    own = [each for each in found if not isinstance(each.parentWidget(), (QComboBox, QAbstractSpinBox, QLineEdit))]
    return [
        (type(each).__name__, each.toolTip())
        for each in own
        if not each.accessibleName() and not (isinstance(each, QAbstractButton) and each.text())
    ]


def test_inputs_get_the_title_of_their_row_and_buttons_what_they_do(qapp):
    place = QWidget()
    column = QVBoxLayout(place)
    line, button, worded = QLineEdit(), QPushButton(toolTip="Choose a file: STL or DAE"), QPushButton("Add")
    named = QComboBox()
    named.setAccessibleName("Kind")
    for each in (QLabel("Mesh"), line, button, worded, named):
        column.addWidget(each)
    set_accessible_input_names(place, "Mesh")
    assert [each.accessibleName() for each in (line, button, worded, named)] == [
        "Mesh",
        "Mesh: Choose a file",
        "",
        "Kind",
    ]
    searching = QLineEdit(placeholderText="Search", parent=place)
    set_accessible_panel_names(place, "Model")
    assert searching.accessibleName() == "Search"


def test_every_input_of_the_window_has_a_name(bench):
    bench.example("forces")
    window, model = bench.window, bench.session.model
    for place in declared_panels():
        window.docks.show_panel(place.id)
        bench.draw()
        assert nameless(window.docks.docks[place.id]) == [], place.id
    chosen = [None] + [
        ElementRef(name, getattr(model, name)[0].name) for name in ("bodies", "joints", "sensors", "forces")
    ]
    for ref in chosen:
        bench.session.select(ref)
        bench.draw()
        assert nameless(window.properties) == [], ref


def test_numbers_of_a_vector_are_told_apart(bench):
    bench.example("four_bar")
    bench.session.select(ElementRef("joints", "crank_pin"))
    bench.draw()
    names = [each.accessibleName() for each in bench.window.properties.findChildren(QLineEdit) if each.isVisible()]
    assert {"Axis x", "Axis y", "Axis z", "Name"} <= set(names)


def test_an_empty_file_line_says_what_it_means_and_shapes_are_looked_for_as_shapes(bench, monkeypatch):
    bench.example("four_bar")
    bench.session.select(None)
    bench.draw()
    editors = bench.window.properties.findChildren(FileEditor)
    revolute = next(each for each in editors if each.path == "world.figures.revolute")
    assert revolute.line.placeholderText() == "the built-in shapes"
    assert "z along the axis" in revolute.line.toolTip()
    asked = []
    monkeypatch.setattr(QFileDialog, "open", lambda dialog: asked.append(dialog.nameFilters()[0]))
    revolute.button.click()
    assert "*.stl" in asked[0]
    assert "*.png" not in asked[0]
