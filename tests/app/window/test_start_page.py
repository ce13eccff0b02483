"""The page one begins on."""

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QToolButton

from app.window import files
from app.window.start_page import CHOICES
from core.model import Model
from resources import examples


def choose(page, subject, title):
    tabs = [page.shelf.tabs.tabText(i) for i in range(page.shelf.tabs.count())]
    page.shelf.tabs.setCurrentIndex(tabs.index(subject))
    items = [page.shelf.list.item(i) for i in range(page.shelf.list.count())]
    item = next(item for item in items if item.text() == title)
    place = page.shelf.list.visualItemRect(item).center()
    QTest.mouseClick(page.shelf.list.viewport(), Qt.MouseButton.LeftButton, pos=place)


def test_it_stands_where_there_is_no_machine(bench):
    page = bench.window.start_page
    bench.window.run_command("file.new")
    assert page.isVisible()
    bench.window.run_command("add.link")
    assert not page.isVisible()
    bench.window.run_command("edit.undo")
    assert page.isVisible()


def test_every_example_is_offered_under_its_subject(bench):
    bench.window.run_command("file.new")
    page, offered = bench.window.start_page, {}
    for i in range(page.shelf.tabs.count()):
        page.shelf.tabs.setCurrentIndex(i)
        subject = page.shelf.tabs.tabText(i)
        offered[subject] = [page.shelf.list.item(k).text() for k in range(page.shelf.list.count())]
        assert not any(page.shelf.list.item(k).icon().isNull() for k in range(page.shelf.list.count()))
    for example in examples():
        assert example.title in offered[example.subject]


def test_one_click_opens_an_example(bench):
    bench.window.run_command("file.new")
    choose(bench.window.start_page, "Linkages", "Slider-crank")
    bench.wait(lambda: bench.session.model.name == "Slider-crank")
    assert not bench.window.start_page.isVisible()


def test_its_buttons_run_their_commands(bench, monkeypatch):
    ran = []
    bench.window.run_command("file.new")
    monkeypatch.setattr(bench.window, "run_command", ran.append)
    for button in bench.window.start_page.findChildren(QToolButton):
        if button.text():
            QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert ran == list(CHOICES)


def test_esc_and_a_tool_put_it_away_until_it_is_asked_for(bench):
    page = bench.window.start_page
    bench.window.run_command("file.new")
    bench.window.run_command("edit.cancel")
    assert not page.isVisible()
    bench.window.run_command("file.start")
    assert page.isVisible()
    bench.window.run_command("tool.connect")
    assert not page.isVisible()
    bench.window.run_command("tool.select")
    bench.example("four_bar")
    assert not page.isVisible()
    bench.window.run_command("file.start")  # over a machine, too
    assert page.isVisible()
    bench.window.run_command("add.link")
    assert not page.isVisible()


def test_a_file_that_was_left_is_offered_with_its_picture(bench, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "pictures_folder", lambda: tmp_path / "pictures")
    bench.example("four_bar")
    path = tmp_path / "mine.kst"
    assert bench.session.save(path)
    bench.open(path)
    bench.draw()
    bench.window.run_command("file.new")
    assert files.picture_path(path).is_file()
    page = bench.window.start_page
    bench.window.run_command("file.start")
    assert page.shelf.tabs.tabText(0) == "Recent"
    page.shelf.tabs.setCurrentIndex(0)
    assert page.shelf.list.item(0).text() == "mine"
    assert Path(page.shelf.list.item(0).statusTip()) == path
    choose(page, "Recent", "mine")
    bench.wait(lambda: bench.session.path == path)


def test_only_the_newest_pictures_stay(tmp_path, monkeypatch):
    import os

    from PySide6.QtGui import QImage

    monkeypatch.setattr(files, "pictures_folder", lambda: tmp_path)
    monkeypatch.setattr(files, "MOST_PICTURES", 2)
    image = QImage(800, 500, QImage.Format.Format_RGB32)
    image.fill(Qt.GlobalColor.red)
    for k in range(4):
        path = tmp_path / f"{k}.kst"
        files.save_picture(image, path)
        if files.picture_path(path).exists():
            os.utime(files.picture_path(path), (1000 + k, 1000 + k))
    left = [k for k in range(4) if files.picture_path(tmp_path / f"{k}.kst").exists()]
    assert len(left) == 2
    assert 3 in left
    taken = QImage(str(files.picture_path(tmp_path / "3.kst")))
    assert taken.size() == files.PICTURE_SIZE


def test_a_new_model_while_one_draws_begins_anew(bench):
    page = bench.window.start_page
    bench.example("four_bar")
    bench.window.run_command("tool.draw")
    bench.window.run_command("file.new")
    assert page.isVisible()
    assert bench.window.viewport.gestures.tool.id == "select"
    bench.window.run_command("tool.draw")
    assert not page.isVisible()
    bench.window.run_command("add.link")
    bench.window.run_command("edit.undo")  # empty again, but one is at work
    assert not page.isVisible()


def test_it_fits_into_a_narrow_view(own_bench):
    window = own_bench.window
    window.resize(1000, 700)
    own_bench.draw()
    page = window.start_page
    own_bench.wait(lambda: page.parentWidget().rect().contains(page.geometry()))
    for button in page.findChildren(QToolButton):
        if button.isVisibleTo(page):
            assert page.rect().contains(button.mapTo(page, button.rect().center()))
            assert button.width() >= button.fontMetrics().size(0, button.text()).width()


def test_an_example_that_is_made_for_a_question_opens_with_its_answer(bench):
    """The sprung arm opens with its map of stiffness; what its form asks otherwise is not remembered."""
    window = bench.window
    bench.session.mapped.emit(None)
    path = next(each.path for each in examples() if each.name == "sprung_arm")
    bench.session.start_document(Model(name="untitled"))
    window.files.open_example(path)
    bench.wait(lambda: bench.view.maps.shown is not None and not window.jobs.unfinished_jobs)
    shown = bench.view.maps.shown.result
    assert shown.map.kind == "stiffness"
    assert shown.map.complete
    assert shown.map.machine == "Sprung arm"
    assert window.docks.docks["output"].isVisible()
    window.panels.open_function("workspace")
    assert window.functions.form.options()["kind"] != "stiffness"
    bench.session.mapped.emit(None)
