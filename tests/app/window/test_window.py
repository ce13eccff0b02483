"""The window as a whole: opening, failing, dropping, saving, themes, docks, recovery, a clean end."""

import shutil
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QMimeData, QPointF, QSize, Qt, QTimer, QUrl
from PySide6.QtGui import QDropEvent, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.dialogs.leaving import SaveChoice
from app.panels import BOTTOM, declared_panels
from app.window.docks import Docks
from core.model.edits import edits
from resources import examples
from tests.app.conftest import settle
from tests.walks import walk

EXAMPLES = {example.name: example.path for example in examples()}


def test_no_panel_is_empty_and_all_are_there(bench):
    from PySide6.QtWidgets import QWidget

    bench.example("puma560")
    assert set(bench.window.docks.docks) == {place.id for place in declared_panels()}
    for name, dock in bench.window.docks.docks.items():
        assert dock.widget() is not None, name
        assert len(dock.widget().findChildren(QWidget)) > 2, name


@pytest.mark.parametrize("name", walk(EXAMPLES))
def test_every_example_opens_and_is_drawn(bench, name):
    bench.example(name)
    assert bench.messages("error") == []
    assert bench.session.mech.nq == len(bench.session.mech.q_names)
    assert bench.view.scene.items
    assert name in bench.window.windowTitle()


def test_a_broken_file_gives_a_message_and_what_was_open_stays(bench, tmp_path):
    bench.example("puma560")
    model, pose = bench.session.model, bench.session.q.copy()
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot name='x'><link name='a'/><joint name='j' type='revolute'>", encoding="utf-8")
    bench.open(broken)
    assert bench.session.model is model
    assert np.array_equal(bench.session.q, pose)
    text = bench.messages("error")[-1]
    assert "broken.urdf" in text
    assert "Traceback" not in text
    assert bench.window.messages.text == text
    bench.open(tmp_path / "nothing_there.kst")
    assert bench.session.model is model
    assert "nothing_there.kst" in bench.messages("error")[-1]


def test_an_empty_scene_does_not_say_so_while_a_file_is_read(bench, tmp_path):
    bench.window.run_command("file.new")
    assert bench.window.start_page.isVisible()
    bench.window.files.open(EXAMPLES["scara"])
    assert bench.window.files.opening.is_busy
    assert not bench.window.start_page.isVisible()
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    assert not bench.window.start_page.isVisible()
    bench.window.run_command("file.new")
    bench.open(tmp_path / "nothing_there.kst")
    assert bench.window.start_page.isVisible()


def test_a_dropped_file_opens(bench):
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(EXAMPLES["scara"]))])
    event = QDropEvent(
        QPointF(300, 300), Qt.DropAction.CopyAction, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    )
    bench.window.dropEvent(event)
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    assert "scara" in bench.window.windowTitle().lower()


SAVE, DISCARD, STAY = SaveChoice(document=True), SaveChoice(), None


def answer(monkeypatch, wanted):
    asked = []
    monkeypatch.setattr("app.window.files.ask", lambda parent, loss: asked.append(loss.summary) or wanted)
    return asked


def test_unsaved_changes_are_not_lost(bench, tmp_path, monkeypatch):
    path = tmp_path / "mine.kst"
    shutil.copy(EXAMPLES["pendulum"], path)
    bench.open(path)
    session = bench.session
    asked = answer(monkeypatch, STAY)
    bench.open(EXAMPLES["scara"])
    assert asked == []
    bench.open(path)
    session.apply("Add body", lambda model: edits.free_body(model)[0])
    assert bench.window.isWindowModified()
    bench.open(EXAMPLES["scara"])
    assert len(asked) == 1
    assert session.path == path
    answer(monkeypatch, SAVE)
    changed = session.model
    bench.open(EXAMPLES["scara"])
    assert session.path != path
    bench.open(path)
    assert session.model == changed
    session.apply("Add body", lambda model: edits.free_body(model)[0])
    answer(monkeypatch, DISCARD)
    bench.open(EXAMPLES["scara"])
    bench.open(path)
    assert session.model == changed


def test_an_example_is_never_overwritten(bench, tmp_path, monkeypatch):
    from PySide6.QtWidgets import QFileDialog

    bench.example("pendulum")
    before = EXAMPLES["pendulum"].read_bytes()
    target = tmp_path / "copy"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(target), ""))
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    bench.window.run_command("file.save")
    assert EXAMPLES["pendulum"].read_bytes() == before
    assert target.with_suffix(".kst").is_file()
    assert not bench.session.is_unsaved


def test_recent_files_are_remembered(bench, tmp_path):
    path = tmp_path / "lately.kst"
    shutil.copy(EXAMPLES["pendulum"], path)
    bench.open(path)
    assert bench.window.settings.recent_files[0] == path.resolve()
    menu = bench.window.actions_.find_or_create_menu("File/Open recent")
    menu.aboutToShow.emit()
    assert menu.actions()[0].text() == "lately.kst"
    bench.example("scara")
    menu.aboutToShow.emit()
    next(action for action in menu.actions() if action.text() == "lately.kst").trigger()
    bench.wait(lambda: bench.session.path == path)


def test_light_and_dark_change_window_and_scene(drawn, bench):
    def ground():
        return QApplication.palette().color(QPalette.ColorRole.Window).lightness()

    bench.example("pendulum")
    bench.window.run_command("view.look_light")
    bench.draw()
    light, sky = ground(), bench.view.grab_picture().pixelColor(4, 4).lightness()
    bench.window.run_command("view.look_dark")
    bench.draw()
    dark, night = ground(), bench.view.grab_picture().pixelColor(4, 4).lightness()
    assert light > 200 > 60 > dark
    assert sky > 200 > 80 > night
    assert bench.view.scene.palette.name == "dark"
    bench.window.run_command("view.look_light")


def test_panels_stay_where_they_were_put(bench):
    from app.preferences.settings import Settings
    from app.window.window import Window

    bench.window.docks.docks["console"].hide()
    bench.window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, bench.window.docks.docks["tree"])
    bench.window.docks.save_layout()
    bench.window.settings.flush()
    again = Window(settings=Settings(Path(bench.window.settings._store.fileName())))
    assert again.docks.docks["console"].isHidden()
    assert again.dockWidgetArea(again.docks.docks["tree"]) == Qt.DockWidgetArea.RightDockWidgetArea
    again.docks.restore_initial_layout()
    assert not again.docks.docks["console"].isHidden()
    assert again.dockWidgetArea(again.docks.docks["tree"]) == Qt.DockWidgetArea.LeftDockWidgetArea
    again.dispose()
    again.deleteLater()


def test_an_unforeseen_failure_is_a_message_and_the_window_lives(bench):
    bench.example("pendulum")

    def fail():
        raise ZeroDivisionError("nobody thought of this")

    bench.window.guard.install()  # the test runner has taken the hook meanwhile
    QTimer.singleShot(0, fail)
    bench.wait(lambda: bool(bench.messages("error")))
    text = bench.messages("error")[-1]
    assert "Unexpected error" in text
    assert "kinetostat.log" in text
    from app.background.guard import log_path

    assert "nobody thought of this" in log_path().read_text(encoding="utf-8")
    bench.window.guard.remove()
    bench.window.messages.log.clear()
    bench.session.preview_coordinates({bench.session.mech.q_names[0]: 0.2})
    bench.session.commit("Move")
    assert bench.session.q[0] == pytest.approx(0.2)


def test_the_end_leaves_no_thread_and_no_timer(qapp, tmp_path):
    from app.preferences.settings import Settings
    from app.window.window import Window

    before = set(threading.enumerate())
    window = Window(settings=Settings(tmp_path / "own.ini"))
    window.show()
    window.files.open(EXAMPLES["pendulum"])
    window.close()
    assert not window.isVisible()
    timers = [timer for timer in window.findChildren(QTimer) if timer.isActive()]
    assert timers == []
    left = [thread for thread in set(threading.enumerate()) - before if not thread.daemon]
    assert left == []
    window.deleteLater()


def test_reading_happens_beside_the_window(bench, monkeypatch):
    from app.document import opening

    gate = threading.Event()

    def slow(path, read=opening.read, **options):
        assert gate.wait(10.0)
        return read(path, **options)

    monkeypatch.setattr(opening, "read", slow)
    ticks = []
    timer = QTimer()
    timer.timeout.connect(lambda: ticks.append(1))
    timer.start(5)
    bench.window.files.open(EXAMPLES["pendulum"])
    assert bench.window.files.opening.is_busy
    assert "pendulum" in bench.window.status.work.text()
    bench.wait(lambda: len(ticks) >= 20)
    assert bench.window.files.opening.is_busy  # the window ticks while the file is still being read
    gate.set()
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    timer.stop()


def test_the_panels_stay_readable_when_the_theme_changes(bench):
    """Colours that items were given in the light must not stay on the dark ground."""
    bench.example("puma560")
    docks = bench.window.docks
    docks.show_panel("tree")
    docks.show_panel("findings")
    tree, findings = docks.panels["tree"], docks.panels["findings"]

    def contrasts():
        items = [*tree.items.values(), findings.list.topLevelItem(0)]
        brushes = [item.foreground(column) for item in items for column in (0, 1)]
        inks = [brush.color() for brush in brushes if brush.style() != Qt.BrushStyle.NoBrush]
        ground = tree.view.palette().color(QPalette.ColorRole.Base).lightness()
        return [abs(ink.lightness() - ground) for ink in inks]

    for look in ("dark", "light"):
        bench.window.run_command(f"view.look_{look}")
        bench.wait(lambda: min(contrasts()) > 70, 2.0)


def _bars_with(window, title):
    """Tab bars that hold a panel; Qt leaves old ones behind for a while."""
    return [bar for bar in window.docks.tab_bars() if title in [bar.tabText(i) for i in range(bar.count())]]


def test_no_tab_bar_is_seen_that_qt_has_left_behind(own_bench):
    """Where panels were put together, or an arrangement was restored, an old bar stayed in the middle of another."""
    window = own_bench.window

    def each_panel_once():
        seen = [bar.tabText(i) for bar in window.docks.tab_bars() if bar.isVisible() for i in range(bar.count())]
        return len(seen) == len(set(seen)) > 0

    own_bench.wait(each_panel_once)
    window.docks.restore_initial_layout()
    own_bench.wait(each_panel_once)
    window.docks.save_layout()
    window.docks.restore_saved_layout()
    own_bench.wait(each_panel_once)
    window.tabifyDockWidget(window.docks.docks["functions"], window.docks.docks["plots"])
    own_bench.wait(each_panel_once)
    below = sum(panel.area == BOTTOM for panel in declared_panels())
    assert {bar.count() for bar in window.docks.tab_bars() if bar.isVisible()} == {4, below - 1}


def test_docks_that_move_together_are_looked_at_once(bench, monkeypatch):
    looked, look = [], Docks.tab_bars
    monkeypatch.setattr(Docks, "tab_bars", lambda docks: looked.append(docks) or look(docks))
    bench.window.docks.restore_initial_layout()
    settle()
    assert 1 <= len(looked) <= 3


def test_what_stands_for_the_title_of_a_tab_has_a_size(bench):
    bars = [bar for dock in bench.window.docks.docks.values() if (bar := dock.titleBarWidget()) is not None]
    assert bars
    assert all(bar.sizeHint() == QSize(0, 0) for bar in bars)


def test_who_opens_the_console_types_there(bench):
    """Letters must not work as shortcuts of commands just after the tab was clicked."""
    window = bench.window
    window.docks.show_panel("output")

    def clicked():
        """Qt makes its tab bars anew while the panels find their places: point at the one that is there now."""
        bar = _bars_with(window, "Console")[-1]
        index = next(i for i in range(bar.count()) if bar.tabText(i) == "Console")
        QTest.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())
        return window.docks.panels["console"].input.hasFocus()

    bench.wait(clicked)


def _seen(panel):
    """Whether a panel is the one in front of those that share its place."""
    return not panel.visibleRegion().isEmpty()


def test_keys_never_go_to_a_panel_that_is_behind_another(bench):
    bench.window.docks.show_panel("console")
    bench.wait(lambda: isinstance(QApplication.focusWidget(), type(bench.window.console.input)))
    bench.window.docks.show_panel("findings")
    bench.wait(bench.view.hasFocus)
    bench.window.console.input.setFocus()  # as Qt does with what comes next when a button disappears
    bench.wait(bench.view.hasFocus)


def test_undo_in_an_empty_search_is_the_documents(bench):
    bench.window.actions_.run("add.link")
    bench.window.docks.show_panel("tree")
    search = bench.window.tree.search
    search.setFocus()
    QTest.keyClicks(search, "ab")
    QTest.keyClick(search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert search.text() != "ab"
    assert bench.session.model.bodies
    search.setText("")
    QTest.keyClick(search, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not bench.session.model.bodies


def test_a_result_comes_to_the_front_and_leaves_the_command_line_there(bench):
    """Who presses Run sees what it found; who types at the console reads it there."""
    window = bench.window
    bench.example("four_bar")
    window.output.clear()
    window.panels.open_function("mobility")
    window.docks.show_panel("findings")
    bench.wait(lambda: _seen(window.findings) and not _seen(window.output))
    QTest.mouseClick(window.functions.form.run_button, Qt.MouseButton.LeftButton)
    bench.wait(lambda: len(window.output.cards) == 1 and _seen(window.output))
    window.docks.show_panel("console")
    line = window.docks.panels["console"].input
    bench.wait(line.hasFocus)
    QTest.keyClicks(line, "mobility()")
    QTest.keyClick(line, Qt.Key.Key_Return)
    bench.wait(lambda: len(window.output.cards) == 2)
    assert _seen(line)
    assert line.hasFocus()
    assert not _seen(window.output)


def test_an_old_error_goes_when_a_file_opens(bench, tmp_path):
    broken = tmp_path / "broken.kst"
    broken.write_text("kinetostat: [")
    bench.open(broken)
    assert "broken.kst" in bench.window.messages.text
    bench.example("pendulum")
    assert bench.window.messages.text == ""


def test_no_panel_keeps_the_window_wide(own_bench):
    wide = {name: dock.minimumSizeHint().width() for name, dock in own_bench.window.docks.docks.items()}
    assert not {name: width for name, width in wide.items() if width > 400}


def test_in_a_narrow_window_the_panels_leave_room_for_the_picture(own_bench):
    window = own_bench.window
    window.resize(1480, 900)
    own_bench.wait(lambda: window.width() == 1480)
    window.resize(1000, 700)
    own_bench.wait(lambda: window.viewport.width() >= 440)
    assert window.properties.width() >= 280
    assert window.functions.width() >= 200


def test_tab_reaches_every_panel_that_is_seen(bench):
    bench.example("slider_crank")
    window = bench.window
    window.docks.show_panel("functions")
    bench.draw()
    window.viewport.setFocus()
    reached = set()
    for _ in range(200):
        focus = window.focusWidget()
        reached |= {name for name, dock in window.docks.docks.items() if dock.isAncestorOf(focus)}
        assert not window.docks.focus.is_in_hidden_panel(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
        if {"functions", "properties", "sliders"} <= reached and window.focusWidget() is window.viewport:
            break
    assert {"functions", "properties", "sliders"} <= reached
