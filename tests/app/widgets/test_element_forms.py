"""Forms of forces, sensors, constraints, drivers and sub-assemblies: what each kind shows, takes and refuses."""

import dataclasses

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLineEdit

from app.document.opening import DH_TABLES, dh_table_filter
from app.document.session import ElementRef, Session
from app.panels.properties.panel import PropertyEditor
from app.widgets.fields.text_editors import file_filter
from app.widgets.quantities.quantity import MARGIN, QuantityEdit
from core.files import FORMATS, MESH_SUFFIXES
from core.mechanics.elements.recorded_signals import SIGNAL_SUFFIXES
from core.model import (
    Body,
    Constraint,
    Driver,
    Figures,
    Force,
    Frame,
    Gravity,
    Inertia,
    Joint,
    Junction,
    Mesh,
    Model,
    Parameter,
    Sensor,
    Setting,
    Strand,
    SubAssembly,
)
from core.model.edits import edits
from core.model.motions import Motion, Segment

SOLID = {"mass": 1.0, "inertia": Inertia(ixx=0.01, iyy=0.01, izz=0.01)}
PART = Model(
    name="part",
    parameters=(Parameter(name="width", value=0.2, dimension="length"), Parameter(name="count", value=3.0)),
    bodies=(Body(name="plate", **SOLID),),
)


def machine() -> Model:
    """An elbow, a slide and a ball joint; sensors and a junction; nothing that acts yet."""
    return Model(
        name="bench",
        parameters=(Parameter(name="k", value=200.0),),
        bodies=tuple(Body(name=name, **SOLID) for name in ("arm", "sled", "ball")),
        frames=(Frame(name="tip", parent="arm"),),
        joints=(
            Joint(name="elbow", parent="world", child="arm"),
            Joint(name="slide", kind="prismatic", parent="world", child="sled"),
            Joint(name="socket", kind="universal", parent="world", child="ball"),
        ),
        junctions=(Junction(name="meet"),),
        sensors=(
            Sensor(name="reach", a="arm", b="sled"),
            Sensor(name="tilt", kind="angle", b="arm"),
            Sensor(name="track", kind="position", b="sled"),
            Sensor(name="load", kind="cut_force", joint="elbow"),
        ),
    )


def shown(qtbot, settings, *elements, pick=-1):
    """The property editor with one of these elements added and selected."""
    model = machine()
    for element in elements:
        model = edits.add(model, element)
    session = Session(model)
    panel = PropertyEditor(session, settings)
    qtbot.addWidget(panel)
    panel.resize(340, 900)
    panel.show()
    qtbot.waitExposed(panel)
    panel.activateWindow()
    element = elements[pick]
    session.select(ElementRef(edits.collection_of(element), element.name))
    return session, panel


def fields(panel) -> set[str]:
    return {name for name, editor in panel.form.editors.items() if not editor.isHidden()}


def retype(qtbot, line, text) -> None:
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)
    qtbot.keyClick(line, Qt.Key.Key_Return)


def choose(editor, word) -> None:
    combo = editor.combo
    combo.setCurrentIndex(combo.findData(word) if combo.findData(word) >= 0 else combo.findText(word))
    combo.activated.emit(combo.currentIndex())


# --------------------------------------------------------------------------- kinds


def test_a_force_shows_what_its_kind_uses_and_keeps_the_rest(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", a="arm", b="sled", stiffness=50.0, rest=0.3))
    assert fields(panel) == {"name", "kind", "a", "b", "stiffness", "rest", "damping", "law", "masses", "description"}
    choose(panel.form.editors["kind"], "joint")
    assert session.model.forces[0].joint == "elbow"  # what the kind needs is filled in
    assert fields(panel) == {"name", "kind", "joint", "stiffness", "rest", "damping", "law", "description"}
    assert panel.form.editors["stiffness"].edit.text() == "50 N·m/rad"
    choose(panel.form.editors["kind"], "line")
    assert (session.model.forces[0].a, session.model.forces[0].stiffness) == ("arm", 50.0)
    assert panel.form.editors["stiffness"].edit.text() == "50 N/m"
    session.undo()
    session.undo()
    assert session.model.forces[0].joint == ""


def test_a_tendon_is_made_of_joints_and_sensors(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", a="arm", b="sled", stiffness=50.0))
    choose(panel.form.editors["kind"], "tendon")
    assert fields(panel) == {
        *("name", "kind", "stiffness", "rest", "damping", "law", "strands", "inertia", "description")
    }
    assert session.model.forces[0].strands == (Strand(joint="elbow"),)
    editor = panel.form.editors["strands"]
    editor.section.set_open()
    assert editor.add_element(Strand) == ""
    form = editor.items[1][1].content
    retype(qtbot, form.editors["sensor"].combo.lineEdit(), "reach")
    assert session.model.forces[0].strands == (Strand(joint="elbow"), Strand(sensor="reach"))
    session.undo()
    assert session.model.forces[0].strands == (Strand(joint="elbow"), Strand(joint="elbow"))


def test_where_a_spring_is_relaxed_is_asked_for_where_there_is_one(qtbot, settings):
    _, panel = shown(qtbot, settings, Joint(name="swing", parent="world", child="sled", cut="yes"))
    assert "spring_rest" not in fields(panel)
    retype(qtbot, panel.form.editors["stiffness"].edit, "3")
    assert "spring_rest" in fields(panel)


def test_units_follow_the_sensor_along_which_a_force_acts(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", kind="sensor", sensor="tilt", damping=2.0, rest=0.5))
    assert panel.form.editors["damping"].edit.text() == "2 N·m·s/rad"
    assert panel.form.editors["rest"].edit.text().endswith("°")
    retype(qtbot, panel.form.editors["sensor"].combo.lineEdit(), "reach")
    assert session.model.forces[0].sensor == "reach"
    assert panel.form.editors["damping"].edit.text() == "2 N·s/m"


def test_a_coordinate_is_asked_for_where_a_joint_has_several(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", kind="joint", joint="elbow", stiffness=1.0))
    assert "coordinate" not in fields(panel)
    retype(qtbot, panel.form.editors["joint"].combo.lineEdit(), "socket")
    assert session.model.forces[0].coordinate == "1"
    choose(panel.form.editors["coordinate"], "2")
    assert session.model.forces[0].coordinate == "2"


def test_components_of_vectors_are_shown_whole_or_marked(qtbot, settings):
    """Standard gravity has six digits; a field that is too narrow for them says so."""
    session, editor = shown(qtbot, settings, Frame(name="end", parent="arm"))
    gravity = Gravity(acceleration=(0.0, 0.0, -9.80665))
    session.apply("Change", lambda m: dataclasses.replace(m, world=dataclasses.replace(m.world, gravity=gravity)))
    session.select(None)
    (z,) = [each for each in editor.findChildren(QuantityEdit) if each.value == -9.80665]
    z.resize(z.fontMetrics().horizontalAdvance("-9.80665") + 2 * MARGIN, z.height())
    assert z.text() == "-9.80665"
    z.resize(z.fontMetrics().horizontalAdvance("-9.806…") + 2 * MARGIN, z.height())
    assert z.text() == "-9.806…"


def test_references_offer_what_fits(qtbot, settings):
    _, panel = shown(qtbot, settings, Force(name="f", a="arm", b="sled"))
    assert {"world", "tip", "meet"} <= set(panel.form.editors["b"].combo.names())
    _, panel = shown(qtbot, settings, Force(name="f", kind="sensor", sensor="tilt"))
    assert panel.form.editors["sensor"].combo.names() == ["", "reach", "tilt"]  # one length or angle
    _, panel = shown(qtbot, settings, Constraint(name="c", sensor="reach", value=0.1))
    assert panel.form.editors["sensor"].combo.names() == ["", "reach", "tilt", "track"]  # functions of the pose


def test_a_sensor_changes_its_kind_and_folds_what_few_need(qtbot, settings):
    session, panel = shown(qtbot, settings, Sensor(name="s", a="arm", b="sled"))
    assert not panel.form.rare_section.is_open
    assert {"a", "b"} <= fields(panel)
    choose(panel.form.editors["kind"], "cut_torque")
    assert session.model.sensors[-1].joint == "elbow"
    assert panel.form.rare_section.isHidden()
    choose(panel.form.editors["kind"], "angle")
    assert not panel.form.rare_section.isHidden()
    assert "axis" in fields(panel)


def test_a_kind_that_lacks_its_partner_says_so(qtbot, settings):
    model = Model(
        bodies=(Body(name="a", **SOLID), Body(name="b", **SOLID)),
        forces=(Force(name="f", a="a", b="b", stiffness=1.0),),
    )
    session = Session(model)
    panel = PropertyEditor(session, settings)
    qtbot.addWidget(panel)
    panel.show()
    session.select(ElementRef("forces", "f"))
    choose(panel.form.editors["kind"], "sensor")
    assert session.model is model
    assert panel.form.editors["kind"].note.words == (
        "There is no sensor that measures one length or angle yet. Add one first."
    )


def test_a_joint_folds_cut_and_frames(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", a="arm", b="sled"))
    session.select(ElementRef("joints", "elbow"))
    assert panel.focus_field("cut")
    assert panel.form.rare_section.is_open
    choose(panel.form.editors["cut"], "yes")
    assert session.model.joint("elbow").cut == "yes"


# --------------------------------------------------------------------------- formulas


def test_a_formula_of_time_and_state_is_taken_and_a_wrong_name_told_beside_it(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", a="arm", b="sled"))
    editor = panel.form.editors["law"]
    retype(qtbot, editor.edit, "k*(length - 0.2) + elbow.v*sin(t)")
    assert session.model.forces[0].law == "k*(length - 0.2) + elbow.v*sin(t)"
    assert editor.note.severity == ""
    before = session.model
    retype(qtbot, editor.edit, "k*elbo")
    assert session.model is before
    assert editor.note.severity == "error"
    assert "The name 'elbo' is not defined. Did you mean elbow" in editor.note.words


def test_names_are_completed_as_they_are_typed(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", a="arm", b="sled"))
    edit = panel.form.editors["law"].edit
    edit.setFocus()
    qtbot.keyClicks(edit, "k*rea")
    popup = edit.completer_list.popup()
    assert popup.isVisible()
    offered = {popup.model().index(i, 0).data() for i in range(popup.model().rowCount())}
    assert {"reach", "reach.rate"} <= offered
    qtbot.keyClick(edit, Qt.Key.Key_Tab)
    assert edit.text() == "k*reach"
    qtbot.keyClick(edit, Qt.Key.Key_Return)
    assert session.model.forces[0].law == "k*reach"


def test_components_of_a_wrench_are_formulas(qtbot, settings):
    session, panel = shown(qtbot, settings, Force(name="f", kind="wrench", b="arm"))
    retype(qtbot, panel.form.editors["torque"].edits[2], "-0.5*elbow.v")
    assert session.model.forces[0].torque == (0.0, 0.0, "-0.5*elbow.v")


# --------------------------------------------------------------------------- drivers


def test_a_driver_goes_from_formula_to_table_and_back(qtbot, settings):
    session, panel = shown(qtbot, settings, Driver(name="d", joint="slide", function="0.5*t"))
    choose(panel.form.editors["function"], "Table")
    driver = session.model.drivers[0]
    assert driver.function is None
    assert driver.values == pytest.approx([0.05 * i for i in range(11)])  # what the formula gave
    assert {"times"} <= fields(panel)
    choose(panel.form.editors["function"], "Formula")
    assert session.model.drivers[0].times == ()
    session.undo()
    session.undo()
    assert session.model.drivers[0].function == "0.5*t"


def test_a_formula_that_breaks_becomes_a_table_all_the_same(qtbot, settings):
    """log(t) has no value at the first moment."""
    session, panel = shown(qtbot, settings, Driver(name="d", joint="slide", function="log(t)"))
    choose(panel.form.editors["function"], "Table")
    driver = session.model.drivers[0]
    assert driver.values[0] == 0.0
    assert driver.values[-1] == pytest.approx(0.0)
    assert driver.values[5] == pytest.approx(-0.693147, rel=1e-5)


def test_a_trace_with_other_names_is_taken_and_its_column_chosen(qtbot, settings, tmp_path):
    path = tmp_path / "measured.csv"
    path.write_text("time,angle,other\n0,0,1\n1,0.5,2\n2,0.7,1\n", encoding="utf-8")
    session, panel = shown(qtbot, settings, Driver(name="d", joint="slide", function="t"))
    panel.form.editors["function"].use_recorded_signal(str(path))
    assert (session.model.drivers[0].file, session.model.drivers[0].column) == (str(path), "angle")
    column = panel.form.editors["column"]
    assert "numbers in m" in column.note.text()
    column.combo.fill_names()
    assert [column.combo.itemText(i) for i in range(column.combo.count())] == ["angle", "other"]
    column.combo.setCurrentIndex(1)
    column.combo.activated.emit(1)
    assert session.model.drivers[0].column == "other"
    again = tmp_path / "again.csv"
    again.write_text("t;other;slide\n0;0;1\n1;0,5;2\n2;0.7;1\n".replace(",", "."), encoding="utf-8")
    panel.form.editors["file"].commit_file(str(again))
    assert (session.model.drivers[0].file, session.model.drivers[0].column) == (str(again), "other")
    one = tmp_path / "slide.csv"
    one.write_text("t;slide\n0;0\n1;0.5\n2;0.7\n", encoding="utf-8")
    panel.form.editors["file"].commit_file(str(one))
    assert (session.model.drivers[0].file, session.model.drivers[0].column) == (str(one), "")


def test_a_driver_depends_on_time_and_parameters_alone(qtbot, settings):
    _, panel = shown(qtbot, settings, Driver(name="d", joint="slide", function="t"))
    editor = panel.form.editors["function"]
    retype(qtbot, editor.edit, "elbow")
    assert "'elbow' is neither t nor a parameter. Use t and parameters." in editor.edit.problem


def test_a_table_is_pasted_from_a_spreadsheet(qtbot, settings):
    session, panel = shown(qtbot, settings, Driver(name="d", joint="elbow", times=(0.0, 1.0), values=(0.0, 1.0)))
    table = panel.form.editors["times"]
    QApplication.clipboard().setText("t\tangle\n0\t0\n0,5\t45\n2\t90\n")
    table.table.setFocus()
    qtbot.keyClick(table.table, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    driver = session.model.drivers[0]
    assert driver.times == (0.0, 0.5, 2.0)
    assert driver.values == pytest.approx((0.0, 0.785398163, 1.570796327))  # shown in degrees
    assert table.table_as_text() == "0\t0\n0.5\t45\n2\t90"
    before = session.model
    assert "3 columns" in table.paste_rows("0\t0\n1\t1\t1")
    assert session.model is before


def test_a_cell_of_the_table_is_edited_and_time_must_grow(qtbot, settings):
    session, panel = shown(
        qtbot, settings, Driver(name="d", joint="slide", times=(0.0, 1.0, 2.0), values=(0.0, 0.1, 0.0))
    )
    editor = panel.form.editors["times"]

    def type_in(row, column, text):
        editor.table.setCurrentCell(row, column)
        editor.table.editItem(editor.table.item(row, column))
        cell = next(w for w in editor.table.viewport().findChildren(QLineEdit) if w.isVisible())
        cell.selectAll()
        qtbot.keyClicks(cell, text)
        qtbot.keyClick(cell, Qt.Key.Key_Return)
        QApplication.processEvents()

    type_in(1, 1, "k/1000")
    assert session.model.drivers[0].values == (0.0, "k/1000", 0.0)
    before = session.model
    type_in(1, 0, "3")
    assert session.model is before
    assert "not increasing" in editor.note.words
    type_in(2, 1, "4 +")
    session.apply("Change something else", lambda model: edits.change(model, "bodies", model.bodies[0].name, mass=3.0))
    assert [editor.table.item(1, 0).text(), editor.table.item(2, 1).text()] == ["3", "4 +"]
    assert "not increasing" in editor.note.words
    assert editor.refusal_reason()
    type_in(1, 0, "1.5")
    assert session.model.drivers[0].times == (0.0, 1.5, 2.0)
    assert editor.table.item(2, 1).text() == "4 +"
    type_in(2, 1, "0")
    assert not editor.refusal_reason()
    assert not editor.note.words
    line = editor.curve.spline_points()
    assert line[0] == pytest.approx([0.0, 0.0])
    assert line[-1] == pytest.approx([2.0, 0.0])


def test_a_driver_moves_a_joint_or_a_sensor(qtbot, settings):
    session, panel = shown(qtbot, settings, Driver(name="d", joint="slide", function="0.1*t + 0.1"))
    retype(qtbot, panel.form.editors["sensor"].combo.lineEdit(), "tilt")
    assert (session.model.drivers[0].joint, session.model.drivers[0].sensor) == ("", "tilt")
    retype(qtbot, panel.form.editors["joint"].combo.lineEdit(), "socket")
    driver = session.model.drivers[0]
    assert (driver.joint, driver.coordinate, driver.sensor) == ("socket", "1", "")


# --------------------------------------------------------------------------- sub-assemblies


def test_a_sub_assembly_offers_the_parameters_of_its_file(qtbot, settings):
    session, panel = shown(qtbot, settings, SubAssembly(name="part", file="part.kst", content=PART))
    editor = panel.form.editors["settings"]
    editor.section.set_open(True)
    assert {name: edit.placeholderText() for name, edit in editor.edits.items()} == {"width": "0.2 m", "count": "3"}
    retype(qtbot, editor.edits["width"], "k/1000 + 50 mm")
    assert session.model.assemblies[0].settings == (Setting(parameter="width", value="k/1000 + 50 mm"),)
    assert session.model.values()["part.width"] == pytest.approx(0.25)
    retype(qtbot, editor.edits["width"], " ")
    assert session.model.assemblies[0].settings == ()


def test_what_a_sub_assembly_brings_is_read_only_and_leads_to_it(qtbot, settings):
    session, panel = shown(qtbot, settings, SubAssembly(name="part", file="part.kst", content=PART))
    session.select(ElementRef("bodies", "part.plate"))
    assert panel.form.editors["mass"].edit.isReadOnly()
    assert panel.link.isVisible()
    qtbot.mouseClick(panel.link, Qt.MouseButton.LeftButton)
    assert session.selection == ElementRef("assemblies", "part")


def patterns(text: str) -> list[str]:
    """The patterns of a file dialog's filter."""
    return text.rpartition("(")[2].rstrip(")").split()


def test_choosers_show_what_the_readers_know():
    meshes = [f"*{suffix}" for suffix in MESH_SUFFIXES]
    assert patterns(file_filter(Mesh)) == meshes
    assert patterns(file_filter(Figures)) == [*meshes, "*.txt", "*.m"]
    assert patterns(file_filter(Driver)) == [f"*{suffix}" for suffix in SIGNAL_SUFFIXES]
    kinds = dict(zip(DH_TABLES, dh_table_filter().split(";;"), strict=True))
    for name, kind in kinds.items():
        assert patterns(kind) == [f"*{suffix}" for suffix in FORMATS[name].suffixes]
        assert FORMATS[name].write is not None


def test_the_chooser_of_a_sub_assembly_shows_all_that_can_be_read():
    shown = patterns(file_filter(SubAssembly))
    assert {"*.mjcf", "*.robotica", "*.kst"} <= set(shown)
    assert {f"*{suffix}" for each in FORMATS.values() if each.read for suffix in each.suffixes} == set(shown)


def test_an_empty_reference_shows_what_it_stands_for(qtbot, settings):
    """In the words after "empty:" of the field's help."""
    wanted = {"frame": "tool of the arm", "start": "reference position"}
    _, panel = shown(qtbot, settings, Motion(name="pick", segments=(Segment(kind="wait", duration=1.0),)))
    found = {name: panel.form.editors[name].combo.lineEdit().placeholderText() for name in wanted}
    assert found == wanted
