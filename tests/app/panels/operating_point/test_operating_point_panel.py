"""The panel Operating point: rows, Solve, what does not balance, use as pose."""

from math import pi, radians

import numpy as np
import pytest

import kinetostat as ks
from app.document.session import ElementRef, Session
from app.panels.operating_point.panel import OperatingPointPanel
from app.preferences.settings import Settings
from core.files import load
from core.model.edits import edits
from core.simulation import simulate
from resources import EXAMPLES
from tests.control.machines import cart_pole


@pytest.fixture
def cart(qtbot, jobs):
    session = Session(cart_pole(1.0, 0.3, 0.4, 0.01, 9.81))
    chosen, starts = [], []
    panel = OperatingPointPanel(session, jobs, chosen.append, lambda *start: starts.append(start))
    qtbot.addWidget(panel)
    panel.chosen, panel.starts = chosen, starts
    yield panel
    panel.close()


def solved(panel, qtbot):
    panel.solve()
    qtbot.waitUntil(lambda: panel.solve_button.isEnabled(), timeout=20000)
    return panel.found


def cell(panel, name, column):
    names = [row.name for row in panel.table.row_texts()]
    return panel.table.item(names.index(name), column).text()


def test_rows_are_the_coordinates_and_joint_forces(cart):
    assert [row.name for row in cart.table.row_texts()] == ["x.q", "th.q", "x.tau", "th.tau"]


def test_the_accelerated_cart_is_found_and_used_as_pose(cart, qtbot):
    cart.name.setText("x.a")
    cart.add_quantity()
    cart.table.set_role("x.a", "fixed", "2.5")
    cart.table.set_role("x.q", "fixed", "0")
    cart.table.set_role("x.tau", "free")
    found = solved(cart, qtbot)
    assert found.solved
    assert cell(cart, "x.tau", 6) == "3.25 N"
    assert cell(cart, "th.q", 6) == f"{np.arctan2(2.5, 9.81):.6g} rad"
    assert "unstable" in cart.note.words
    session = cart._session
    cart.apply_point()
    assert session.undo_label == "Operating point"
    np.testing.assert_allclose(session.edited_pose, found.q)
    session.undo()
    np.testing.assert_allclose(session.edited_pose, 0.0)


def test_what_nothing_balances_is_said_and_nothing_applied(cart, qtbot):
    cart.table.set_role("th.q", "fixed", "20 deg")
    cart.table.set_role("x.tau", "free")
    found = solved(cart, qtbot)
    assert not found.solved
    assert "nothing balances" in cart.note.words
    assert not cart.linear_button.isEnabled()
    np.testing.assert_allclose(cart._session.q, 0.0)


@pytest.mark.parametrize(("name", "words"), [("x.tua", "x.tau"), ("tip.position", "tip.position.x")])
def test_unknown_quantities_are_named_with_near_misses(cart, name, words):
    cart.name.setText(name)
    cart.add_quantity()
    assert words in cart.note.words
    assert len(cart.table.row_texts()) == 4


def test_a_text_that_is_no_number_names_its_row(cart):
    cart.table.set_role("th.q", "fixed", "much")
    cart.solve()
    assert "th.q" in cart.note.words


def test_a_run_begins_with_the_point_and_stays_as_asked(cart, qtbot):
    """The cart accelerates and the pole keeps its angle."""
    cart.name.setText("x.a")
    cart.add_quantity()
    cart.name.setText("x.v")
    cart.add_quantity()
    for name, value in (("x.a", "2.5"), ("x.q", "0"), ("x.v", "0.3")):
        cart.table.set_role(name, "fixed", value)
    cart.table.set_role("x.tau", "free")
    found = solved(cart, qtbot)
    cart.use_as_start()
    ((speeds, forces),) = cart.starts
    assert speeds == {"x": pytest.approx(0.3)}
    assert forces == {"x": pytest.approx(3.25)}
    session = cart._session
    run = simulate(session.mech, duration=0.2, q0=session.edited_pose, v0=speeds, torque=forces)
    assert run["th"] == pytest.approx(found.q[1], abs=1e-6)
    assert run["x"][-1] == pytest.approx(0.3 * 0.2 + 0.5 * 2.5 * 0.2**2, abs=1e-6)
    assert "next run starts here" in cart.note.words


def test_in_the_window_the_settings_of_the_next_run_follow(bench):
    bench.example("pendulum")
    bench.window.docks.show_panel("operating_point")
    panel = bench.window.panels.get_panel(OperatingPointPanel)
    joint = bench.session.mech.v_names[0]
    panel.table.set_role(f"{joint}.q", "fixed", "30 deg")
    panel.table.set_role(f"{joint}.tau", "free")
    panel.solve()
    bench.wait(lambda: panel.found is not None)
    panel.use_as_start()
    wanted = float(panel.found.tau[0]) if panel.found else 0.0
    settings = bench.window.simulation.run_settings
    assert settings.start == "pose"
    assert wanted
    assert settings.forces == {joint: pytest.approx(wanted)}


def test_linearise_here_opens_the_function(cart, qtbot):
    cart.table.set_role("x.q", "fixed")
    assert solved(cart, qtbot).solved
    cart.linearise()
    assert cart.chosen == ["linear_system"]


def test_another_machine_has_other_rows(cart):
    cart._session.start_document(load(EXAMPLES / "four_bar.kst"))
    assert cart.table.row_texts()[0].name == "crank_pin.q"
    assert cart.quantity_names()


def test_rows_are_saved_in_the_document_and_shown_from_it(cart):
    session = cart._session
    cart.table.set_role("x.tau", "free")
    cart.table.set_role("th.q", "fixed", "20 deg")
    cart.picker.box.setCurrentText("leaning")
    assert cart.picker.save_element()
    assert session.undo_label == "Save operating point leaning"
    (point,) = session.model.operating_points
    assert [(row.quantity, row.role, row.value) for row in point.rows] == [
        ("th.q", "fixed", pytest.approx(radians(20.0))),
        ("x.tau", "free", None),
    ]
    cart.table.set_role("th.q", "target", "0.1")
    assert cart.picker.save_element()
    assert session.model.operating_points[0].rows[0].value == 0.1
    session.undo()  # the panel shows what the document holds
    assert next(row for row in cart.table.row_texts() if row.name == "th.q") == (
        "th.q",
        "fixed",
        "0.34906585 rad",
        "",
        "",
        "",
    )
    session.undo()
    assert session.model.operating_points == ()
    assert cart.picker.chosen_name == ""


def test_a_point_of_the_document_follows_what_it_names(cart):
    session = cart._session
    rows = (ks.TrimRow(quantity="th.q", value=0.5), ks.TrimRow(quantity="x.v", value=2))
    session.apply("Add", lambda m: edits.add(m, ks.Trim(name="fast", rows=rows), ks.Trim(name="still")))
    session.select(ElementRef("operating_points", "fast"))
    assert [row.name for row in cart.table.row_texts() if row.role] == ["th.q", "x.v"]
    session.apply("Rename", lambda m: edits.rename(m, "joints", "th", "angle"))
    assert [row.name for row in cart.table.row_texts() if row.role] == ["angle.q", "x.v"]
    session.apply("Rename", lambda m: edits.rename(m, "operating_points", "fast", "quick"))
    assert cart.picker.box.currentText() == "quick"
    cart.picker.load_element("still")
    assert [row for row in cart.table.row_texts() if row.role] == []


def test_what_cannot_be_saved_is_said_and_nothing_changes(cart):
    cart.table.set_role("th.q", "fixed", "20 apples")
    assert not cart.picker.save_element()
    assert "th.q" in cart.note.words
    assert cart._session.model.operating_points == ()


def test_numbers_are_shown_and_typed_in_the_units_chosen(qtbot, jobs, tmp_path):
    """Degrees and millimetres, then radians and metres: the same point; formulas stay SI."""
    session = Session(cart_pole(1.0, 0.3, 0.4, 0.01, 9.81))
    settings = Settings(tmp_path / "settings.ini")
    settings.millimetres = True
    panel = OperatingPointPanel(session, jobs, lambda _: None, lambda *_: None, settings)
    qtbot.addWidget(panel)
    panel.table.set_role("th.q", "target", "30")
    panel.table.set_role("x.q", "fixed", "250")
    panel.table.set_role("x.tau", "free")
    assert [cell(panel, name, 2) for name in ("th.q", "x.q")] == ["30°", "250 mm"]
    (x, th, tau) = panel.build_trim("point").rows
    assert (x.value, th.value, tau.value) == (pytest.approx(0.25), pytest.approx(pi / 6.0), None)
    solved(panel, qtbot)
    assert cell(panel, "x.q", 6) == "250 mm"
    assert cell(panel, "th.q", 6) == "0°"  # nothing balances a pole that leans
    assert cell(panel, "th.q", 7) == "-30°"
    settings.degrees = settings.millimetres = False
    assert [cell(panel, "x.q", column) for column in (2, 6, 7)] == ["0.25 m", "0.25 m", "0 m"]
    assert cell(panel, "th.q", 7) == "-0.5236 rad"
    assert panel.build_trim("point").rows == (x, th, tau)
    panel.close()


def test_units_leave_what_cannot_be_read_and_forms_of_the_document(qtbot, jobs, tmp_path):
    """A formula is the document's own; what is no number waits to be told."""
    session = Session(cart_pole(1.0, 0.3, 0.4, 0.01, 9.81))
    settings = Settings(tmp_path / "settings.ini")
    panel = OperatingPointPanel(session, jobs, lambda _: None, lambda *_: None, settings)
    qtbot.addWidget(panel)
    rows = (ks.TrimRow(quantity="th.q", value="pi/7"), ks.TrimRow(quantity="x.q", value=1.0 / 3.0))
    session.apply("Add", lambda m: edits.add(m, ks.Trim(name="odd", rows=rows)))
    panel.picker.load_element("odd")
    panel.table.set_role("x.tau", "free")
    panel.table.item(2, 3).setText("few")
    settings.degrees, settings.millimetres = False, True
    assert (cell(panel, "th.q", 2), cell(panel, "x.q", 2), cell(panel, "x.tau", 3)) == ("pi/7", "333.33333 mm", "few")
    panel.table.item(2, 3).setText("")
    assert {row.quantity: row.value for row in panel.build_trim("odd").rows} == {
        "x.q": 1.0 / 3.0,
        "th.q": "pi/7",
        "x.tau": None,
    }
    panel.table.set_role("x.q", "fixed", "30 deg")
    assert not panel.picker.save_element()
    assert "x.q" in panel.note.words
    panel.close()
