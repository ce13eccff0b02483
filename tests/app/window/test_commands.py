"""Every command of the table: well declared, and runs on a real machine without an unexpected failure."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QInputDialog

from app.commands import command_table
from app.document.session import ElementRef
from core.functions import FUNCTIONS
from resources import ICONS

COMMANDS = sorted(command_table())


def test_commands_are_well_declared():
    keys: dict[str, str] = {}
    for command in command_table().values():
        assert command.title, command.id
        assert len(command.help) > 10, command.id
        assert not command.icon or (ICONS / f"{command.icon}.svg").is_file(), (command.id, command.icon)
        for text in command.shortcut.split(","):
            if text.strip():
                key = QKeySequence(text.strip()).toString()
                assert key, (command.id, text)
                assert key not in keys, (command.id, keys.get(key))
                keys[key] = command.id


def test_no_command_is_declared_twice():
    import importlib
    import pkgutil

    from app import commands

    names = [each.name for each in pkgutil.iter_modules(commands.__path__, f"{commands.__name__}.")]
    modules = [importlib.import_module(name) for name in names]
    declared = [command.id for module in modules for command in getattr(module, "COMMANDS", ())]
    assert sorted(declared) == COMMANDS


def test_every_catalogue_function_has_its_command():
    assert {f"function.{name}" for name in FUNCTIONS} <= set(COMMANDS)


def test_the_keys_of_the_conventions_are_there():
    wanted = {
        "Ctrl+Z": "edit.undo",
        "Ctrl+Shift+Z": "edit.redo",
        "Ctrl+Shift+P": "help.palette",
        "F1": "help.help",
        "F": "view.frame",
        "1": "view.front",
        "3": "view.right",
        "7": "view.top",
        "Esc": "edit.cancel",
        "Del": "element.delete",
        "Ctrl+D": "element.duplicate",
        "Space": "play.toggle",
        "Left": "play.back",
        "Shift+Right": "play.forward_far",
        "Home": "play.first",
        "End": "play.last",
    }
    given = {
        QKeySequence(text.strip()).toString(): command.id
        for command in command_table().values()
        for text in command.shortcut.split(",")
        if text.strip()
    }
    assert {key: given.get(key) for key in wanted} == wanted


@pytest.fixture
def answers(monkeypatch, tmp_path):
    """File dialogs answer with files, questions with "discard"."""
    from resources import examples

    files = {example.name: str(example.path) for example in examples()}
    load = lambda _w, title, *a, **k: ("" if "run" in title else files["pendulum" if "Add" in title else "puma560"], "")  # noqa: E731
    monkeypatch.setattr(QFileDialog, "getOpenFileName", load)
    saves = {
        "Save the model": "saved.kst",
        "Export the model": "built.py",
        "Export picture": "picture.png",
        "Save the run": "run.h5",
    }
    save = lambda _w, title, *a, **k: (str(tmp_path / saves.get(title, "result.json")), "")  # noqa: E731
    monkeypatch.setattr(QFileDialog, "getSaveFileName", save)
    monkeypatch.setattr(QInputDialog, "getText", lambda *a, **k: ("Side", True))
    monkeypatch.setattr(QInputDialog, "getMultiLineText", lambda *a, **k: ("Said of it", True))
    return tmp_path


GROUPS = sorted({command.split(".")[0] for command in COMMANDS} - {"play"})
"""Commands of playback apply while a sequence is open: see test_playback."""


@pytest.mark.parametrize("group", GROUPS)
def test_every_command_runs(bench, answers, group):
    bench.example("puma560")
    for command in [c for c in COMMANDS if c.split(".")[0] == group and c != "file.quit"]:
        bench.session.select(ElementRef("chains", "arm"))
        errors = len(bench.messages("error"))
        bench.window.run_command(command)
        bench.wait(lambda: not bench.window.files.opening.is_busy)
        for dialog in bench.window.findChildren(QDialog):
            dialog.close()
        popup = QApplication.activePopupWidget()
        if popup is not None:
            popup.close()
        if bench.window.isFullScreen():
            bench.window.showNormal()
        assert bench.messages("error")[errors:] == [], command


def test_saving_and_pictures_write_files(bench, answers):
    bench.example("puma560")
    bench.window.run_command("file.save")
    assert (answers / "saved.kst").is_file()
    assert bench.session.path == answers / "saved.kst"
    bench.window.run_command("file.picture")
    assert (answers / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_a_script_is_exported_that_builds_the_machine(bench, answers):
    """The document stays what it was."""
    import runpy

    bench.example("four_bar")
    before = bench.session.model, bench.session.path
    bench.window.run_command("file.export_python")
    assert (bench.session.model, bench.session.path) == before
    built = runpy.run_path(str(answers / "built.py"))["model"]
    assert built.joints == bench.session.model.joints


def test_quit_closes_the_window(own_bench):
    own_bench.window.run_command("file.quit")
    assert not own_bench.window.isVisible()


def test_the_palette_finds_commands_functions_and_elements(bench):
    from PySide6.QtCore import Qt

    from app.dialogs.palette import CommandPalette

    bench.example("puma560")
    bench.session.preview_coordinates({"joint1": 0.5})
    bench.session.commit("Move")  # so that there is something to undo
    for typed, first in (
        ("mass mat", "Mass matrix"),
        ("undo", "Undo"),
        ("lookdark", "Dark"),
        ("link3", "link3"),
        ("joint spring", "Spring in a joint"),
    ):
        palette = CommandPalette(bench.window)
        palette.open_palette()
        QTest.keyClicks(palette.line, typed)
        titles = [
            palette.list.item(i).data(Qt.ItemDataRole.UserRole).title for i in range(min(3, palette.list.count()))
        ]
        assert first in titles, (typed, titles)
        palette.close()
    palette = CommandPalette(bench.window)
    palette.open_palette()
    QTest.keyClicks(palette.line, "link3")
    QTest.keyClick(palette.line, Qt.Key.Key_Return)
    assert bench.session.selection == ElementRef("bodies", "link3")


def test_the_palette_finds_forces_and_opens_examples(bench):
    from PySide6.QtCore import Qt

    from app.dialogs.palette import CommandPalette

    bench.example("damped_pendulum")
    force = bench.session.model.forces[0].name
    for typed, place, check in (
        (force, "select force", lambda: bench.session.selection == ElementRef("forces", force)),
        ("four", "open example", lambda: bench.session.model.name == "Four-bar linkage"),
    ):
        palette = CommandPalette(bench.window)
        palette.open_palette()
        QTest.keyClicks(palette.line, typed)
        entries = [palette.list.item(i).data(Qt.ItemDataRole.UserRole) for i in range(3)]
        for _ in range([entry.place for entry in entries].index(place)):
            QTest.keyClick(palette.line, Qt.Key.Key_Down)
        QTest.keyClick(palette.line, Qt.Key.Key_Return)
        bench.wait(check)


def test_help_has_a_page_for_everything(bench):
    from app.dialogs.help import help_topics

    pages = help_topics()
    assert {f"function.{name}" for name in FUNCTIONS} <= set(pages)
    assert all(len(text) > 30 for _, text in pages.values())
    for name, function in FUNCTIONS.items():
        for option in function.options:
            assert option.id in pages[f"function.{name}"][1]


def test_licences_are_known_of_every_library():
    from app.dialogs.about import DIRECT_LIBRARIES, find_libraries

    found = {each.name.lower(): each for each in find_libraries()}
    assert {name.lower().replace("-", "_") for name in DIRECT_LIBRARIES} <= {name.replace("-", "_") for name in found}
    assert all(each.licence for each in found.values())


def test_a_trace_follows_the_tool_until_it_is_removed(bench):
    import numpy as np

    bench.example("puma560")
    bench.window.run_command("view.trace")
    session, scene = bench.session, bench.view.scene
    frame = bench.window.ellipsoid.frame_name()
    places = [np.array(session.mech.frame(session.q, frame))[:3, 3]]
    for angle in (0.2, 0.4, 0.6):
        session.preview_coordinates({"joint1": angle})
        places.append(np.array(session.mech.frame(session.q, frame))[:3, 3])
    assert np.allclose(scene.tracks.trajectories[frame], places)
    assert bench.window.actions_.by_id["view.trace"].isChecked()
    bench.window.run_command("view.trace_end")
    assert scene.tracks.followed_frames == ()
    session.cancel_preview()


def test_the_menu_of_examples_has_pictures(bench):
    from resources import examples

    menu = bench.window.actions_.find_or_create_menu("File/Open example")
    assert [action.text() for action in menu.actions()] == [example.title for example in examples()]
    assert not any(action.icon().isNull() for action in menu.actions())
    next(action for action in menu.actions() if action.text() == "SCARA").trigger()
    bench.wait(lambda: "scara" in bench.window.windowTitle())


def test_the_help_shows_what_is_searched_under_headings(bench):
    from app.dialogs.help import HelpDialog, help_topics

    dialog = HelpDialog.open_topic(bench.window, "jacobian")
    try:
        assert dialog.list.currentItem().text() == "Jacobian"
        assert "Jacobian" in dialog.text.toPlainText()
        dialog.search.setText("mass matrix")
        shown = [dialog.list.item(i) for i in range(dialog.list.count()) if not dialog.list.item(i).isHidden()]
        assert not shown[0].flags() & Qt.ItemFlag.ItemIsSelectable
        assert {"Elements of a model", "Functions: Dynamics"} <= {item.text() for item in shown}
        assert "Mass matrix" in [item.text() for item in shown]
        assert not dialog.list.currentItem().isHidden()
        dialog.search.clear()
        found = [dialog.list.item(i) for i in range(dialog.list.count()) if not dialog.list.item(i).isHidden()]
        titles = [item.text() for item in found if item.flags() & Qt.ItemFlag.ItemIsSelectable]
        assert [title for title, _ in help_topics().values()] == titles
    finally:
        dialog.close()
