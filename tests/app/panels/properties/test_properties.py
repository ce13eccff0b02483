"""The property editor: every field of every element is edited with real keys and clicks, and undone."""

import dataclasses
import math

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMainWindow, QWidget

from app.document.session import ElementRef, Session
from app.panels.properties.panel import PropertyEditor
from app.widgets.fields.choice_editors import ChoiceEditor, FlagEditor, ReferenceEditor
from app.widgets.fields.field_editor import FieldEditor
from app.widgets.fields.number_editors import NumberEditor, VectorEditor
from app.widgets.fields.part_editors import ElementListEditor, NestedElementEditor
from app.widgets.fields.shown_fields import field_applies
from app.widgets.fields.table_editor import TableEditor
from app.widgets.fields.text_editors import ColorEditor, FileEditor, NotesEditor, TextEditor
from core.model import (
    Body,
    Box,
    Capsule,
    Cone,
    Cylinder,
    DHChain,
    DHRow,
    Frame,
    Gravity,
    Inertia,
    Joint,
    Limit,
    Material,
    Mesh,
    Mimic,
    Model,
    Parameter,
    Pose,
    Sphere,
    World,
)
from core.model.edits import edits
from core.model.fields import declared_fields
from resources import EXAMPLES

CASTING = str(EXAMPLES / "kestrel" / "meshes" / "link1_casting.stl")
STIFF = Inertia(ixx=0.01, iyy=0.01, izz=0.01)


def machine() -> Model:
    """A small machine with every type of element."""
    shapes = (Box(), Cylinder(), Sphere(), Capsule(), Cone(), Mesh(file=CASTING))
    return Model(
        name="machine",
        parameters=(Parameter(name="l1", value=0.4, dimension="length"),),
        materials=(Material(name="steel", color=(0.6, 0.6, 0.7, 1.0)), Material(name="brass")),
        bodies=(
            Body(name="arm", mass=1.0, inertia=STIFF, reference=Pose()),
            Body(name="hand", mass=1.0, inertia=STIFF, reference=Pose()),
            Body(name="block", mass=1.0, inertia=STIFF, shapes=shapes, reference=Pose()),
            Body(name="spare", mass=1.0, inertia=STIFF),
        ),
        frames=(Frame(name="tip", parent="hand"),),
        joints=(
            Joint(name="j1", parent="world", child="arm"),
            Joint(name="j2", parent="arm", child="hand", a=Pose(position=("l1", 0, 0)), mimic=Mimic(leader="j1")),
            Joint(name="screw", kind="screw", parent="world", child="block"),
        ),
        chains=(DHChain(name="chain", rows=(DHRow(a=0.3), DHRow(a=0.2)), prefix="c_"),),
    )


@pytest.fixture
def session():
    return Session(machine())


@pytest.fixture
def panel(qtbot, session, settings):
    widget = PropertyEditor(session, settings)
    qtbot.addWidget(widget)
    widget.resize(340, 1100)
    widget.show()
    qtbot.waitExposed(widget)
    widget.activateWindow()
    qtbot.waitUntil(widget.isActiveWindow)
    return widget


def retype(qtbot, widget: QWidget, text: str) -> None:
    widget.setFocus()
    widget.selectAll()
    qtbot.keyClicks(widget, text)
    qtbot.keyClick(widget, Qt.Key.Key_Return)


# --------------------------------------------------------------- driving each editor as a person does


def drive(qtbot, session: Session, editor) -> None:
    """Edit a field through its widget; every change must reach the model as one undo step and come back."""
    match editor:
        case NumberEditor():
            changes(session, editor, lambda: retype(qtbot, editor.edit, "0.125"))
        case VectorEditor():
            for i in range(len(editor.edits)):
                changes(session, editor, lambda i=i: retype(qtbot, editor.edits[i], "0.25"))
        case ColorEditor():
            changes(session, editor, lambda: retype(qtbot, editor.line, "#102030"))
        case FileEditor() | TextEditor():
            changes(session, editor, lambda: retype(qtbot, editor.line, "other"))
        case NotesEditor():
            changes(session, editor, lambda: write_notes(qtbot, editor))
        case ChoiceEditor():
            changes(session, editor, lambda: choose(qtbot, editor.combo))
        case ReferenceEditor():
            changes(session, editor, lambda: retype(qtbot, editor.combo.lineEdit(), another_name(session, editor)))
        case FlagEditor():
            changes(session, editor, lambda: qtbot.keyClick(editor.box, Qt.Key.Key_Space))
        case TableEditor():
            drive_table(qtbot, session, editor)
        case NestedElementEditor():
            drive_part(qtbot, session, editor)
        case ElementListEditor():
            drive_parts(qtbot, session, editor)
        case _:
            pytest.fail(f"nothing drives a {type(editor).__name__}")


def changes(session: Session, editor, act) -> None:
    before = session.model
    act()
    after = session.model
    assert after != before, f"{editor.path} of {session.selection} did not change: {editor.note.words}"
    assert editor.note.severity != "error"
    session.undo()
    assert session.model == before, f"{editor.path} took more than one undo step"
    session.redo()
    assert session.model == after
    session.undo()


def write_notes(qtbot, editor: NotesEditor) -> None:
    editor.box.setFocus()
    qtbot.keyClicks(editor.box, "two words")
    qtbot.keyClick(editor.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)


def test_another_form_is_laid_out_at_once(session, panel):
    session.select(ElementRef("bodies", "block"))
    fields = [field for field in panel.form.findChildren(QLineEdit) if field.isVisible()]
    assert fields
    assert all(field.height() >= field.minimumSizeHint().height() for field in fields)


def test_notes_show_all_their_lines(qtbot, session, panel):
    (editor,) = panel.findChildren(NotesEditor)
    least = editor.box.height()
    session.apply("notes", lambda model: dataclasses.replace(model, description="one line\n" * 6 + "the last"))
    bar = editor.box.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.maximum() == 0 and editor.box.height() > least)
    session.apply("notes", lambda model: dataclasses.replace(model, description="some words that wrap " * 12))
    qtbot.waitUntil(lambda: bar.maximum() == 0)
    before = editor.box.height()
    panel.resize(270, 1100)
    qtbot.waitUntil(lambda: bar.maximum() == 0 and editor.box.height() > before)
    session.apply("notes", lambda model: dataclasses.replace(model, description="many lines\n" * 60))
    qtbot.waitUntil(lambda: bar.isVisible() and editor.box.height() < 300)
    words = "some words that wrap " * 9
    session.apply("notes", lambda model: dataclasses.replace(model, description=words))
    qtbot.waitUntil(lambda: not bar.isVisible())
    after = editor.box.height()
    session.apply("notes", lambda model: dataclasses.replace(model, description="few"))
    qtbot.waitUntil(lambda: editor.box.height() == least)
    session.apply("notes", lambda model: dataclasses.replace(model, description=words))
    qtbot.waitUntil(lambda: editor.box.height() > least)
    assert editor.box.height() == after  # whatever stood there before
    session.apply("notes", lambda model: dataclasses.replace(model, description="few"))
    qtbot.waitUntil(lambda: editor.box.height() == least)


def choose(qtbot, combo: QComboBox) -> None:
    combo.setFocus()
    key = Qt.Key.Key_Down if combo.currentIndex() < combo.count() - 1 else Qt.Key.Key_Up
    qtbot.keyClick(combo, key)


def another_name(session: Session, editor: ReferenceEditor) -> str:
    editor.combo.fill_names()
    names = editor.combo.names()
    return next(
        n for n in reversed(names) if n and n != editor.value and (editor.kind.target != "frame" or n == "spare")
    )


def click(qtbot, button) -> None:
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def drive_part(qtbot, session: Session, editor: NestedElementEditor) -> None:
    if editor.toggle is not None:
        changes(session, editor, lambda: click(qtbot, editor.toggle))
    if editor.value is not None:
        editor.section.set_open(True)
        for inner in shown_editors(editor.form):
            drive(qtbot, session, inner)


def drive_parts(qtbot, session: Session, editor: ElementListEditor) -> None:
    editor.section.set_open(True)
    for kind in editor.types.values():
        changes(session, editor, lambda kind=kind: editor.add_element(kind))
    for i in range(len(editor.value)):
        section = editor.items[i][1]
        section.set_open(True)
        for inner in shown_editors(section.content):
            drive(qtbot, session, inner)


def drive_table(qtbot, session: Session, editor: TableEditor) -> None:
    for column in range(len(editor.columns)):
        text = None if editor.column_choices(column) else "0.125"
        changes(session, editor, lambda column=column, text=text: type_in_cell(qtbot, editor, 0, column, text))
    if not editor.fixed_rows:
        for name in ("add", "duplicate", "remove"):
            editor.table.setCurrentCell(0, 1)
            changes(session, editor, lambda name=name: click(qtbot, editor.buttons[name]))
        editor.table.setCurrentCell(0, 1)
        editor.detail.set_open(True)
        for inner in shown_editors(editor.detail.content):
            drive(qtbot, session, inner)


def type_in_cell(qtbot, editor: TableEditor, row: int, column: int, text: str | None) -> None:
    table = editor.table
    table.setFocus()
    table.setCurrentCell(row, column)
    qtbot.keyClick(table, Qt.Key.Key_F2)
    kind = QLineEdit if text is not None else QComboBox
    cell = next(w for w in table.viewport().findChildren(kind) if w.isVisible())
    if text is None:
        choose(qtbot, cell)
    else:
        cell.selectAll()
        qtbot.keyClicks(cell, text)
        qtbot.keyClick(cell, Qt.Key.Key_Return)
    QApplication.processEvents()


def shown_editors(form):
    return [e for e in form.editors.values() if field_applies(form.element, e.field)]


# --------------------------------------------------------------- every element, every field

REFS = (
    None,
    ElementRef("parameters", "l1"),
    ElementRef("materials", "steel"),
    ElementRef("bodies", "arm"),
    ElementRef("bodies", "block"),
    ElementRef("frames", "tip"),
    ElementRef("joints", "j2"),
    ElementRef("joints", "screw"),
    ElementRef("chains", "chain"),
)


@pytest.mark.parametrize("ref", REFS, ids=str)
def test_every_field_is_edited_and_undone(qtbot, session, panel, ref):
    session.select(ref)
    element = panel.form.element
    meant = {f.name for f in declared_fields(type(element)) if field_applies(element, f)}
    driven = set()
    for editor in shown_editors(panel.form):
        drive(qtbot, session, editor)
        driven.add(editor.field.name)
    assert driven == meant


@pytest.mark.parametrize("kind", ["uniform", "point"])
def test_gravity_shows_what_its_kind_needs(qtbot, settings, kind):
    session = Session(Model(name="m", world=World(gravity=Gravity(kind=kind))))
    panel = PropertyEditor(session, settings)
    qtbot.addWidget(panel)
    panel.show()
    form = panel.form.editors["world"].form.editors["gravity"].form
    shown = {name for name, editor in form.editors.items() if not editor.isHidden()}
    assert shown == {"uniform": {"kind", "acceleration"}, "point": {"kind", "mu", "center"}}[kind]


def test_a_new_value_is_in_si_and_shown_in_the_preferred_unit(qtbot, session, panel, settings):
    session.select(ElementRef("joints", "j1"))
    panel.form.editors["a"].section.set_open(True)
    rotation = panel.form.editors["a"].form.editors["rotation"]
    retype(qtbot, rotation.edits[2], "30")
    assert session.model.joint("j1").a.rotation[2] == pytest.approx(math.pi / 6)
    settings.degrees = False
    rotation.edits[2].clearFocus()
    assert float(rotation.edits[2].text()) == pytest.approx(math.pi / 6, rel=1e-4)
    assert "rad" in panel.form.editors["a"].form.labels["rotation"].text()
    retype(qtbot, rotation.edits[2], "0.5")
    assert session.model.joint("j1").a.rotation[2] == 0.5


def test_limits_take_the_unit_of_the_joint(qtbot, session, panel, settings):
    session.select(ElementRef("joints", "j1"))
    limits = panel.form.editors["limits"]
    type_in_cell(qtbot, limits, 0, 0, "-90")
    assert session.model.joint("j1").limits == (Limit(lower=-math.pi / 2),)
    retype_kind(panel, session, "prismatic")
    settings.millimetres = True
    type_in_cell(qtbot, limits, 0, 0, "-90")
    assert session.model.joint("j1").limits[0].lower == pytest.approx(-0.09)
    assert "mm" in limits.table.horizontalHeaderItem(0).text()
    type_in_cell(qtbot, limits, 0, 0, " ")
    assert session.model.joint("j1").limits == ()


def retype_kind(panel, session, kind):
    combo = panel.form.editors["kind"].combo
    combo.setCurrentIndex(combo.findData(kind))
    combo.activated.emit(combo.currentIndex())
    assert session.model.joint(session.selection.name).kind == kind


def test_only_what_matters_to_a_joint_kind_is_shown(qtbot, session, panel):
    session.select(ElementRef("joints", "screw"))
    editors = panel.form.editors

    def shown(*names):
        return [not editors[name].isHidden() for name in names]

    assert shown("axis", "second_axis", "pitch", "mimic", "limits") == [True, False, True, True, True]
    retype_kind(panel, session, "universal")
    assert shown("axis", "second_axis", "pitch", "mimic") == [True, True, False, False]
    retype_kind(panel, session, "fixed")
    assert shown("axis", "damping", "limits", "rest") == [False, False, False, False]


def test_bad_input_stays_with_its_reason_and_the_model_is_unchanged(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    before, editor = session.model, panel.form.editors["mass"]
    for text, words in (("2 m", "a mass is expected"), ("nothing", "is not defined"), ("3*(", "expected")):
        retype(qtbot, editor.edit, text)
        assert editor.edit.text() == text
        assert editor.note.isVisible()
        assert words in editor.note.words
        assert editor.note.severity == "error"
        assert session.model is before
    qtbot.keyClick(editor.edit, Qt.Key.Key_Escape)
    assert editor.edit.text() == "1 kg"
    assert editor.note.severity != "error"


def test_a_zero_axis_is_refused_beside_the_field(qtbot, session, panel):
    session.select(ElementRef("joints", "j1"))
    editor = panel.form.editors["axis"]
    told = []
    session.message.connect(lambda *message: told.append(message))
    retype(qtbot, editor.edits[2], "0")
    assert session.model.joint("j1").axis == (0.0, 0.0, 1.0)
    assert "length zero" in editor.note.words
    assert editor.edits[2].text() == "0"
    assert told == []


def test_a_refused_cell_keeps_its_text_and_says_why(qtbot, session, panel):
    session.select(ElementRef("chains", "chain"))
    rows = panel.form.editors["rows"]
    before = session.model
    type_in_cell(qtbot, rows, 1, rows.columns.index("alpha"), "3 kg")
    assert session.model is before
    assert rows.table.item(1, rows.columns.index("alpha")).text() == "3 kg"
    assert "an angle is expected" in rows.note.words


def test_the_joint_column_of_a_dh_row_takes_the_textbook_entry(qtbot, session, panel):
    session.select(ElementRef("chains", "chain"))
    rows = panel.form.editors["rows"]
    type_in_cell(qtbot, rows, 0, rows.columns.index("theta"), "q1 + pi/2")
    assert session.model.chain("chain").rows[0].theta == "pi/2"


def test_rows_move(qtbot, session, panel):
    session.select(ElementRef("chains", "chain"))
    rows = panel.form.editors["rows"]
    rows.table.setCurrentCell(0, 1)
    click(qtbot, rows.buttons["down"])
    assert [row.a for row in session.model.chain("chain").rows] == [0.2, 0.3]


def test_renaming_carries_references_and_keeps_the_selection(qtbot, session, panel):
    session.select(ElementRef("bodies", "hand"))
    form = panel.form
    retype(qtbot, form.editors["name"].line, "gripper")
    assert session.selection == ElementRef("bodies", "gripper")
    assert session.model.joint("j2").child == "gripper"
    assert session.model.find("frames", "tip").parent == "gripper"
    assert panel.form is form
    session.select(ElementRef("parameters", "l1"))
    retype(qtbot, panel.form.editors["name"].line, "length")
    assert session.model.joint("j2").a.position[0] == "length"


def test_a_taken_name_is_refused_in_place(qtbot, session, panel):
    session.select(ElementRef("bodies", "hand"))
    editor = panel.form.editors["name"]
    retype(qtbot, editor.line, "arm")
    assert "taken" in editor.note.words
    assert editor.line.text() == "arm"
    assert session.model.body("hand").name == "hand"


def test_the_widgets_stay_while_the_element_changes(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    edit = panel.form.editors["mass"].edit
    edit.setFocus()
    session.apply(
        "heavier",
        lambda model: dataclasses.replace(
            model, bodies=(dataclasses.replace(model.bodies[0], mass=7.0), *model.bodies[1:])
        ),
    )
    assert panel.form.editors["mass"].edit is edit
    assert edit.hasFocus()
    assert edit.text() == "7 kg"


def test_what_is_being_typed_survives_a_change_elsewhere(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    edit = panel.form.editors["mass"].edit
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, "2.5")
    session.apply("notes", lambda model: dataclasses.replace(model, description="other"))
    assert edit.text() == "2.5"
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert session.model.body("arm").mass == 2.5


def test_typing_goes_to_the_element_it_was_typed_for(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    edit = panel.form.editors["mass"].edit
    edit.setFocus()
    edit.selectAll()
    qtbot.keyClicks(edit, "2.5")
    session.select(ElementRef("bodies", "hand"))
    assert session.model.body("arm").mass == 2.5
    assert session.model.body("hand").mass == 1.0
    assert panel.form.editors["name"].line.text() == "hand"


def test_steps_of_a_key_run_are_one_undo_step(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    before = session.model
    edit = panel.form.editors["mass"].edit
    edit.setFocus()
    for _ in range(4):
        qtbot.keyClick(edit, Qt.Key.Key_Up)
    assert session.model.body("arm").mass == pytest.approx(1.4)
    session.undo()
    assert session.model == before


def test_dragging_a_label_scrubs_the_number(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    before = session.model
    label = panel.form.labels["mass"]
    qtbot.mousePress(label, Qt.MouseButton.LeftButton, pos=QPoint(5, 8))
    for x in (9, 13, 17):
        qtbot.mouseMove(label, QPoint(x, 8))
        QApplication.processEvents()
    qtbot.mouseRelease(label, Qt.MouseButton.LeftButton, pos=QPoint(17, 8))
    assert session.model.body("arm").mass == pytest.approx(1.3)
    session.undo()
    assert session.model == before


def test_a_number_becomes_a_parameter(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    menu = panel.form.editors["mass"].edit.build_context_menu()
    action = next(a for a in menu.actions() if "parameter" in a.text())
    assert "arm_mass" in action.text()
    action.trigger()
    assert session.model.body("arm").mass == "arm_mass"
    assert session.model.find("parameters", "arm_mass").value == 1.0
    assert session.model.find("parameters", "arm_mass").dimension == "mass"
    session.undo()
    assert session.model.body("arm").mass == 1.0


def test_a_nested_number_becomes_a_parameter(qtbot, session, panel):
    session.select(ElementRef("frames", "tip"))
    position = panel.form.editors["pose"].form.editors["position"]
    next(a for a in position.edits[1].build_context_menu().actions() if "parameter" in a.text()).trigger()
    assert session.model.find("frames", "tip").pose.position[1] == "tip_y"


def test_a_formula_is_replaced_by_its_value(qtbot, session, panel):
    session.select(ElementRef("joints", "j2"))
    panel.form.editors["a"].section.set_open(True)
    edit = panel.form.editors["a"].form.editors["position"].edits[0]
    next(a for a in edit.build_context_menu().actions() if "Replace" in a.text()).trigger()
    assert session.model.joint("j2").a.position[0] == pytest.approx(0.4)


def test_a_rotation_turns_into_a_quaternion_and_back(qtbot, session, panel):
    pin = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this system")
    session.select(ElementRef("frames", "tip"))
    rotation = panel.form.editors["pose"].form.editors["rotation"]
    angles = (0.3, -0.5, 1.1)
    for edit, angle in zip(rotation.edits, angles, strict=True):
        retype(qtbot, edit, f"{angle} rad")
    choose(qtbot, rotation.form)
    stored = session.model.find("frames", "tip").pose.rotation
    R = pin.rpy.rpyToMatrix(*angles)
    assert stored == pytest.approx(tuple(pin.Quaternion(R).coeffs()), abs=1e-12)
    choose(qtbot, rotation.form)
    assert session.model.find("frames", "tip").pose.rotation == pytest.approx(angles, abs=1e-12)


def test_elements_of_a_chain_are_read_only_and_lead_to_the_chain(qtbot, session, panel):
    session.select(ElementRef("joints", "c_joint1"))
    assert panel.form.editors["name"].line.isReadOnly()
    assert panel.form.editors["damping"].edit.isReadOnly()
    assert panel.link.isVisible()
    click(qtbot, panel.link)
    assert session.selection == ElementRef("chains", "chain")
    assert not panel.link.isVisible()


def test_findings_stand_beside_their_field(qtbot, settings):
    bad = Model(name="m", bodies=(Body(name="b", mass=-1.0, inertia=STIFF),))
    session = Session(bad)
    panel = PropertyEditor(session, settings)
    qtbot.addWidget(panel)
    panel.show()
    session.select(ElementRef("bodies", "b"))
    note = panel.form.editors["mass"].note
    assert note.isVisible()
    assert note.severity in ("error", "warning")
    retype(qtbot, panel.form.editors["mass"].edit, "1")
    assert not note.isVisible()


def test_focus_goes_to_a_field(qtbot, session, panel):
    session.select(ElementRef("bodies", "arm"))
    assert panel.focus_field("mass")
    assert panel.form.editors["mass"].edit.hasFocus()
    assert not panel.focus_field("nothing")


def test_nothing_is_clipped_at_320_pixels(qtbot, session, panel):
    panel.resize(320, 900)
    for ref in REFS:
        session.select(ref)
        QApplication.processEvents()
        assert panel.form.minimumSizeHint().width() <= 320, ref


def test_a_density_says_the_mass_it_gives(qtbot, session, panel):
    session.apply(
        "density",
        lambda m: edits.change(
            m, "bodies", "spare", density=1000.0, shapes=(Box(size=(0.2, 0.1, 0.1), pose=Pose(position=(0.1, 0, 0))),)
        ),
    )
    session.select(ElementRef("bodies", "spare"))
    words = panel.form.editors["density"].note.words
    assert words.startswith("2 kg from the shapes")
    assert "(0.1, 0, 0) m" in words
    assert panel.form.editors["mass"].isHidden()


def test_delete_empties_a_cell_and_nothing_else(qtbot, session, panel):
    session.select(ElementRef("chains", "chain"))
    rows = panel.form.editors["rows"]
    rows.table.setFocus()
    rows.table.setCurrentCell(0, rows.columns.index("a"))
    qtbot.keyClick(rows.table, Qt.Key.Key_Delete)
    assert session.model.chain("chain").rows[0].a == 0.0
    assert len(session.model.chain("chain").rows) == 2


def test_undo_in_a_field_is_the_documents_unless_something_is_typed(qtbot, session, settings):
    window = QMainWindow()
    qtbot.addWidget(window)
    panel = PropertyEditor(session, settings)
    window.setCentralWidget(panel)
    for keys, run in (("Ctrl+Z", session.undo), ("Esc", lambda: session.select(None))):
        action = QAction(keys, window)
        action.setShortcut(keys)
        action.triggered.connect(run)
        window.addAction(action)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    session.select(ElementRef("bodies", "arm"))
    edit = panel.form.editors["mass"].edit
    retype(qtbot, edit, "5")
    edit.selectAll()
    qtbot.keyClicks(edit, "77")
    qtbot.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.model.body("arm").mass == 5.0
    qtbot.keyClicks(edit, "8")
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert session.selection == ElementRef("bodies", "arm")
    assert edit.text() == "5 kg"
    qtbot.keyClick(edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert session.model.body("arm").mass == 1.0
    assert edit.text() == "1 kg"
    qtbot.keyClick(edit, Qt.Key.Key_Escape)
    assert session.selection is None


def test_an_entry_of_a_dh_table_becomes_a_parameter_and_back(qtbot, session, panel):
    session.select(ElementRef("chains", "chain"))
    rows = panel.form.editors["rows"]
    column = rows.columns.index("a")
    next(a for a in rows.cell_menu(1, column).actions() if "parameter" in a.text()).trigger()
    assert session.model.chain("chain").rows[1].a == "a2"
    assert session.model.find("parameters", "a2").value == 0.2
    next(a for a in rows.cell_menu(1, column).actions() if "Replace" in a.text()).trigger()
    assert session.model.chain("chain").rows[1].a == 0.2


@pytest.mark.parametrize(("kind", "labels"), [("revolute", ("",)), ("spherical", ("wx", "wy", "wz"))])
def test_start_speeds_are_written_per_speed_in_its_unit(qtbot, session, panel, kind, labels):
    """One number per speed (a ball has three, though four coordinates), angles per second."""
    session.apply("Kind", lambda model: edits.change(model, "joints", "screw", kind=kind, rest=(), limits=()))
    session.select(ElementRef("joints", "screw"))
    editor = panel.form.editors["start_speed"]
    assert tuple(label.text() for label in editor.labels) == labels
    assert "°/s" in panel.form.labels["start_speed"].text().replace("\u2060", "")
    retype(qtbot, editor.edits[0], "90")
    given = session.model.joint("screw").start_speed
    assert given == pytest.approx((math.pi / 2, *(0.0,) * (len(labels) - 1)))


def test_escape_takes_a_refused_text_back_and_keeps_the_selection(bench):
    session = bench.session
    for _ in range(2):
        bench.window.run_command("add.link")
    session.select(ElementRef("bodies", "link2"))
    editor = bench.window.properties.form.editors["name"]
    editor.line.setFocus()
    editor.line.selectAll()
    QTest.keyClicks(editor.line, "link1")
    QTest.keyClick(editor.line, Qt.Key.Key_Return)
    assert "taken" in editor.problem
    QTest.keyClick(editor.line, Qt.Key.Key_Escape)
    assert (editor.line.text(), editor.problem) == ("link2", "")
    assert session.selection == ElementRef("bodies", "link2")
    session.select(ElementRef("joints", "joint2"))
    combo = bench.window.properties.form.editors["child"].combo
    combo.setFocus()
    combo.lineEdit().selectAll()
    QTest.keyClicks(combo, "link1")
    QTest.keyClick(combo, Qt.Key.Key_Return)
    assert combo.refused
    QTest.keyClick(combo, Qt.Key.Key_Escape)
    assert (combo.currentText(), combo.refused) == ("link2", False)
    assert session.selection == ElementRef("joints", "joint2")
    QTest.keyClick(combo, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)  # the document's
    assert [body.name for body in session.model.bodies] == ["link1"]


def test_tab_goes_through_a_form_as_one_reads_it(qtbot, session, panel):
    session.select(ElementRef("joints", "screw"))
    panel.form.editors["limits"].section.set_open(True)  # made later than what stands below
    names = [name for name, editor in panel.form.editors.items() if editor.isVisible()]
    panel.form.editors["name"].setFocus()
    visited, heights = [], []
    for _ in range(60):
        focus = QApplication.focusWidget()
        editor = focus
        while editor is not None and not isinstance(editor, FieldEditor):
            editor = editor.parentWidget()
        if editor is not None and (not visited or visited[-1] != editor.path):
            visited.append(editor.path)
        heights.append(focus.mapTo(panel.form, QPoint(0, 0)).y())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
        if not panel.form.isAncestorOf(QApplication.focusWidget()):
            break
    assert [path for path in visited if path in names] == [name for name in names if name in visited]
    assert {"limits", "damping", "description"} <= set(visited)
    assert heights == sorted(heights)


def test_tab_leaves_a_table_at_its_last_cell(qtbot, session, panel):
    session.select(ElementRef("joints", "j1"))
    limits = panel.form.editors["limits"]
    limits.section.set_open(True)
    limits.table.setFocus(Qt.FocusReason.TabFocusReason)
    cells = []
    for _ in range(limits.table.columnCount()):
        cells.append((limits.table.currentRow(), limits.table.currentColumn()))
        qtbot.keyClick(limits.table, Qt.Key.Key_Tab)
    assert cells == [(0, column) for column in range(limits.table.columnCount())]
    assert not limits.table.hasFocus()
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Backtab)
    assert limits.table.hasFocus()
    assert limits.table.currentColumn() == limits.table.columnCount() - 1
