"""Small things everyone meets in the window: menus, the palette, keys after a number, dialogs of files."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.commands import command_table
from app.dialogs.matching import best_similarity, match_score
from app.document.session import ElementRef
from tests.app.conftest import settle


def test_quit_is_last_in_its_menu(bench):
    assert bench.window.actions_.find_or_create_menu("File").actions()[-1].objectName() == "file.quit"


def test_switches_in_menus_show_their_check_marks(bench):
    """A picture would be drawn in their place."""
    for command in command_table().values():
        action = bench.window.actions_.by_id[command.id]
        assert action.isCheckable() == (command.checked is not None), command.id
        assert action.isIconVisibleInMenu() != action.isCheckable(), command.id
    grid = bench.window.actions_.by_id["view.show_grid"]
    before = grid.isChecked()
    bench.window.run_command("view.show_grid")
    assert grid.isChecked() is not before
    assert bench.window.settings.view_flag("grid") is grid.isChecked()
    bench.window.run_command("view.show_grid")


@pytest.mark.parametrize(
    ("typed", "exact", "others"),
    [
        ("link", "link", ["Link transforms", "link1", "Add link"]),
        ("Move", "Move", ["Remove", "Move to front", "Moved view"]),
        ("open", "Open", ["Open recent", "Open example", "Reopen"]),
        ("t", "t", ["Torque", "tool", "t1"]),
    ],
)
def test_the_very_name_comes_first(typed, exact, others):
    assert all((match_score(typed, exact) or 0.0) > (match_score(typed, other) or 0.0) for other in others)


def test_an_element_is_found_first_by_its_own_name(bench):
    from app.dialogs.palette import CommandPalette
    from core.files import loads
    from core.files.native.reader import VERSION

    names = ("Frame", "frames_of_view", "Fit", "energy")
    bodies = "".join(f"  {name}: {{mass: 1, inertia: [1, 1, 1]}}\n" for name in names)
    bench.session.start_document(loads(f"kinetostat: {VERSION}\nbodies:\n{bodies}"))
    for name in names:
        palette = CommandPalette(bench.window)
        palette._filter_entries(name)
        found = palette.list.item(0).data(Qt.ItemDataRole.UserRole)
        assert found.title.casefold() == name.casefold()
        palette.close()


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Escape])
def test_keys_are_the_scenes_again_after_a_number(bench, key):
    bench.example("puma560")
    box = next(iter(bench.window.sliders.rows.values())).box
    bench.window.docks.show_panel("sliders")
    box.setFocus()
    box.selectAll()
    if key != Qt.Key.Key_Escape:
        QTest.keyClicks(box, "12")
    QTest.keyClick(box, key)
    bench.wait(lambda: bench.window.focusWidget() is bench.window.viewport)
    if key != Qt.Key.Key_Escape:
        assert box.text() == "12°"


def test_keys_are_the_scenes_again_after_a_property(bench):
    """Else "D" to draw lands in the field, as "0.32 md"."""
    bench.example("pendulum")
    window = bench.window
    window.docks.show_panel("properties")
    bench.session.select(ElementRef("bodies", bench.session.model.bodies[0].name))
    line = window.properties.form.editors["mass"].edit
    for text, left in (("2 kgg", False), ("2 kg", True)):
        line.setFocus()
        line.selectAll()
        QTest.keyClicks(line, text)
        QTest.keyClick(line, Qt.Key.Key_Return)
        if left:
            bench.wait(lambda: window.focusWidget() is window.viewport)
        assert bool(line.problem) is not left
    assert bench.session.model.bodies[0].mass == 2.0


def test_a_slider_says_what_it_cannot_take(bench):
    bench.example("puma560")
    name, row = next(iter(bench.window.sliders.rows.items()))
    bench.window.docks.show_panel("sliders")
    before = row.box.text()
    row.box.setFocus()
    row.box.selectAll()
    QTest.keyClicks(row.box, "12 kg")
    QTest.keyClick(row.box, Qt.Key.Key_Return)
    assert row.box.text() == before
    assert [text for text in bench.messages("warning") if text.startswith(f"{name} stays at {before}") and "kg" in text]


def test_escape_takes_back_what_is_typed_and_leaves_the_field(bench):
    bench.example("puma560")
    box = next(iter(bench.window.sliders.rows.values())).box
    bench.window.docks.show_panel("sliders")
    before = box.text()
    box.setFocus()
    box.selectAll()
    QTest.keyClicks(box, "77")
    QTest.keyClick(box, Qt.Key.Key_Escape)
    bench.wait(lambda: bench.window.focusWidget() is bench.window.viewport)
    assert box.text() == before


def test_after_escape_a_letter_is_a_shortcut_in_every_kind_of_number_field(bench):
    """Numbers of properties, refused or not typed at all, joint forces of a run, lines of other panels."""
    bench.example("pendulum")
    window = bench.window
    body = bench.session.model.bodies[0].name
    window.docks.show_panel("simulation")
    window.docks.show_panel("properties")
    for typed in ("", "7", "7 s"):
        bench.session.select(ElementRef("bodies", body))
        line = window.properties.form.editors["mass"].edit
        leave_by_escape(bench, line, typed)
        assert window.properties.form.editors["mass"].problem == "" if bench.session.selection else True
    rows = window.docks.panels["simulation"].rows
    rows.setCurrentIndex(1)
    settle()
    line = next(iter(rows.rows["forces"].values())).line
    for typed in ("", "7", "7*("):
        leave_by_escape(bench, line, typed)
        assert (line.text(), window.simulation.run_settings.forces) == ("", {})
    window.docks.show_panel("identification")
    leave_by_escape(bench, window.docks.panels["identification"].motion_page.fields.lines["period"], "")


def leave_by_escape(bench, line, typed):
    line.setFocus()
    line.selectAll()
    QTest.keyClicks(line, typed)
    if typed.endswith(("s", "(")):  # asked for, and refused
        QTest.keyClick(line, Qt.Key.Key_Return)
        line.setFocus()
    before = line.text()
    QTest.keyClick(line, Qt.Key.Key_Escape)
    bench.wait(lambda: bench.window.focusWidget() is bench.window.viewport)
    QTest.keyClick(bench.window.focusWidget(), Qt.Key.Key_D)
    assert bench.view.gestures.tool.id == "draw"
    assert "d" not in line.text() or before == line.text()
    bench.view.gestures.choose_tool("select")


def test_dialogs_of_files_begin_in_the_folder_of_the_document(bench, monkeypatch, tmp_path):
    from core.simulation import simulate
    from resources import EXAMPLES

    folder = tmp_path / "machines"
    folder.mkdir()
    path = folder / "arm.kst"
    path.write_text((EXAMPLES / "pendulum.kst").read_text(encoding="utf-8"), encoding="utf-8")
    asked = []
    answer = lambda _parent, title, start="", *a, **k: asked.append((title, str(start))) or ("", "")  # noqa: E731
    monkeypatch.setattr(QFileDialog, "getOpenFileName", answer)
    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    window = bench.window
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    bench.example("pendulum")
    window.simulation_panel.runs.take(simulate(bench.session.model, 0.1), elsewhere / "run.h5")
    window.files.open(path)
    bench.wait(lambda: bench.session.path == path)
    for command in ("file.open", "file.save_as", "file.picture", "element.add_assembly"):
        if command in command_table():
            window.run_command(command)
    window.plots.ask_export()
    window.simulation_panel.runs.load()
    window.dialogs.open_film_dialog()
    assert len(asked) >= 5
    assert [each for each in asked if not each[1].startswith(str(folder))] == []


@pytest.mark.parametrize(
    ("typed", "text", "meant"),
    [
        ("mass mat", "Mass matrix", True),
        ("expic", "Export picture", True),
        ("fk", "Forward kinematics", True),
        ("simulte", "Simulate", True),
        ("matrix", "Mass matrix", True),
        ("mirror", "Fit a run (output error)", False),
        ("contact", "Exciting motion", False),
        ("report", "Export picture", False),
        ("gltf", "Angle of b about an axis of a", False),
        ("simplot", "SimPlot[]", True),
        ("centre mass", "Center of mass", True),
        ("pid", "Parameter identification", False),
        ("pid", "PrintInputData[]", False),
        ("heat", "A four-bar in two minutes", False),
        ("close", "Loop closure equations", False),
        ("share", "LinkShape[]", False),
        ("modal", "Model", False),
        ("section", "Frame selection", False),
        ("lock", "Block on block", False),
    ],
)
def test_scattered_letters_mean_nothing(typed, text, meant):
    assert (match_score(typed, text) is not None) is meant


def test_the_nearest_is_what_is_written_alike():
    assert best_similarity("drawing", ["Draw: link"]) > best_similarity("drawing", ["Driver"]) == 0.0
    assert best_similarity("centric path", ["Path of a run"]) < best_similarity("centric path", ["Centre", "path"])
    assert best_similarity("gltf", ["Angle of b about an axis of a"]) == best_similarity("", ["Path"]) == 0.0


@pytest.mark.parametrize("typed", ["mirror", "gltf", "contact", "report", "payload", "pattern", "section", "qqqq zz"])
def test_enter_runs_nothing_where_nothing_is_called_so(bench, typed):
    from app.dialogs.palette import CommandPalette

    bench.example("four_bar")
    palette = CommandPalette(bench.window)
    palette.open_palette()
    QTest.keyClicks(palette.line, typed)
    first = palette.list.item(0).text()
    assert first.startswith(f"Kinetostat has no “{typed}” here") or (typed == "mirror" and "not available now" in first)
    assert typed != "mirror" or palette.list.count() == 1, "what only has the letters is not listed behind a hit"
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert palette.isVisible()
    palette.close()
