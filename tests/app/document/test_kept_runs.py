"""Runs are kept beside their machine, asked for once, and deleted only so that undo brings them back."""

import json
import os
import shutil

import numpy as np
import pytest
from PySide6.QtCore import Qt, QTimer

from app.dialogs.leaving import LeavingDialog, SaveChoice, UnsavedWork
from app.document.kept import companion
from app.document.kept.companion import CompanionContent, CompanionRun
from app.panels.simulation.run_list import delete_runs
from app.plotting.curves import Plot
from core.errors import FileError
from core.model.edits import edits
from core.simulation import Run
from resources import examples

EXAMPLES = {example.name: example.path for example in examples()}


@pytest.fixture
def pendulum(bench, tmp_path):
    path = tmp_path / "pendulum.kst"
    shutil.copy(EXAMPLES["pendulum"], path)
    bench.open(path)
    return path


def simulate(bench, duration=0.3, **run_settings):
    bench.window.simulation.change_settings(duration=duration, **run_settings)
    bench.window.simulation.start()
    bench.wait(lambda: not bench.window.simulation.is_running)
    bench.window.simulation.change_settings(start="pose")
    return bench.session.runs.current


def save(bench):
    assert bench.window.files.save()
    bench.wait(bench.window.run_keeper.wait_for_writing)


def reopen(bench, path):
    bench.window.run_command("file.new")
    bench.open(path)
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs)


def answered(monkeypatch, wanted):
    asked = []
    monkeypatch.setattr("app.window.files.ask", lambda parent, loss: asked.append(loss) or wanted(loss))
    return asked


def test_saving_keeps_runs_plots_views_and_pose(bench, pendulum):
    first = simulate(bench)
    bench.session.runs.set_note(first, "without\nfriction")
    bench.session.runs.rename(first, "Swing")
    bench.session.runs.set_color(first, "#123456")
    bench.session.runs.seek(0.1)
    second = simulate(bench, start="moment")
    name = bench.session.mech.q_names[0]
    bench.window.plots.add_plot(Plot((f"{name}.q",)))
    bench.window.views.save_view("Side")
    bench.session.preview_coordinates({name: 0.4})
    bench.session.commit("Move")
    q, view = second.run.q.copy(), bench.window.viewport.viewpoint.target_view
    save(bench)
    assert not bench.window.isWindowModified()
    reopen(bench, pendulum)
    one, two = bench.session.runs.items
    assert (one.name, one.note, one.color) == ("Swing", "without\nfriction", "#123456")
    assert (two.parent, two.from_time) == (one.id, 0.1)
    np.testing.assert_array_equal(two.run.q, q)
    assert two.run.complete
    assert bench.window.plots.sheet.plots == (Plot((f"{name}.q",)),)
    assert dict(bench.window.views.views) == {"Side": view}
    assert bench.session.edited_pose[0] == pytest.approx(0.4)
    assert bench.session.undo_label == ""
    assert not bench.window.isWindowModified()


def test_the_document_does_not_refer_to_its_runs(bench, pendulum):
    simulate(bench)
    before = pendulum.read_text()
    save(bench)
    assert pendulum.read_text() == before
    shutil.rmtree(companion.companion_folder(pendulum))
    reopen(bench, pendulum)
    assert bench.session.runs.items == ()
    assert bench.messages("warning") == []


ELSEWHERE = '{"kinetostat session": 1, "runs": [{"file": "../../x.h5"}]}'


@pytest.mark.parametrize("content", ["", "[1]", "{}", '{"kinetostat session": 99}', ELSEWHERE])
def test_a_broken_list_is_told_and_the_machine_opens(bench, pendulum, content):
    folder = companion.companion_folder(pendulum)
    folder.mkdir()
    (folder / companion.INDEX).write_text(content)
    reopen(bench, pendulum)
    assert bench.session.model.bodies
    (said,) = bench.messages("warning")
    assert "The runs and views saved with the machine cannot be read" in said


def test_a_missing_run_is_told_and_stays_in_the_list_on_disk(bench, pendulum):
    simulate(bench)
    simulate(bench)
    save(bench)
    folder = companion.companion_folder(pendulum)
    listed = json.loads((folder / companion.INDEX).read_text())["runs"]
    lost = folder / listed[0]["file"]
    lost.rename(folder / "elsewhere")
    reopen(bench, pendulum)
    assert [record.name for record in bench.session.runs.items] == [listed[1]["name"]]
    assert any("Not all runs can be read" in text for text in bench.messages("warning"))
    (folder / "elsewhere").rename(lost)
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    save(bench)
    reopen(bench, pendulum)
    assert len(bench.session.runs.items) == 2


def test_sections_that_make_no_sense_are_left_out(bench, pendulum):
    simulate(bench)
    save(bench)
    file = companion.companion_folder(pendulum) / companion.INDEX
    kept = json.loads(file.read_text())
    kept |= {"camera": {"target": [1]}, "plots": 3, "views": {"a": []}, "traces": [[]], "vectors": {"kinds": [[]]}}
    kept["pose"] = {"nothing": 1, **dict.fromkeys(bench.session.mech.q_names, "x")}
    file.write_text(json.dumps(kept))
    reopen(bench, pendulum)
    assert len(bench.session.runs.items) == 1


def test_saving_under_another_name_copies_the_runs(bench, pendulum, tmp_path, monkeypatch):
    from PySide6.QtWidgets import QFileDialog

    simulate(bench)
    save(bench)
    other = tmp_path / "other.kst"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(other), ""))
    bench.window.run_command("file.save_as")
    bench.wait(bench.window.run_keeper.wait_for_writing)
    assert (companion.companion_folder(pendulum) / "001.h5").is_file()
    reopen(bench, other)
    assert len(bench.session.runs.items) == 1


def test_leaving_asks_once_for_everything_by_name(bench, pendulum, monkeypatch):
    asked = answered(monkeypatch, lambda loss: None)
    simulate(bench)
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    simulate(bench)
    bench.window.run_command("file.new")
    assert bench.session.path == pendulum
    assert [loss.summary for loss in asked] == ["pendulum: 1 edit, 2 runs"]
    asked = answered(monkeypatch, lambda loss: SaveChoice(True, loss.runs[:1]))
    bench.window.run_command("file.new")
    assert bench.session.path is None
    assert len(asked) == 1
    reopen(bench, pendulum)
    assert len(bench.session.runs.items) == 1


def test_runs_alone_are_kept_without_saving_the_document(bench, pendulum, monkeypatch):
    simulate(bench)
    before = pendulum.read_text()
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    answered(monkeypatch, lambda loss: SaveChoice(False, loss.runs))
    bench.window.run_command("file.new")
    assert pendulum.read_text() == before
    answered(monkeypatch, lambda loss: SaveChoice())
    reopen(bench, pendulum)
    assert len(bench.session.runs.items) == 1


def test_nothing_new_is_not_asked_for(bench, pendulum, monkeypatch):
    simulate(bench)
    save(bench)
    asked = answered(monkeypatch, lambda loss: None)
    bench.window.run_command("file.new")
    assert asked == []
    bench.open(pendulum)
    bench.wait(lambda: not bench.window.jobs.unfinished_jobs)
    bench.window.run_command("file.new")
    assert asked == []


def test_a_run_in_progress_is_stopped_and_what_there_is_is_kept(bench, pendulum, monkeypatch):
    asked = answered(monkeypatch, lambda loss: SaveChoice(bool(loss.document_changes), loss.runs))
    bench.window.simulation.change_settings(duration=1e6)
    bench.window.simulation.start()
    bench.wait(lambda: bench.session.runs.items and len(bench.session.runs.items[0].run) > 10)
    bench.window.run_command("file.new")
    assert len(asked[0].runs) == 1
    bench.window.simulation.change_settings(duration=0.3)
    reopen(bench, pendulum)
    (record,) = bench.session.runs.items
    assert len(record.run) > 10
    assert not record.run.complete


def test_the_question_has_names_ticks_and_a_safe_default(bench, pendulum):
    record = simulate(bench)
    bench.session.runs.set_note(record, "two\nlines")
    dialog = LeavingDialog(bench.window, UnsavedWork("pendulum", 3, 1, (record,)))
    assert [dialog.list.item(k).text() for k in range(2)] == [
        "pendulum: 3 edits, 1 run deleted",
        f"{record.name} (two lines): 0.3 s",
    ]
    assert dialog.save.isDefault()
    assert dialog.save.text() == "Save all"
    dialog.list.item(0).setCheckState(Qt.CheckState.Unchecked)
    assert dialog.save.text() == "Save checked"
    dialog.save.click()
    assert dialog.wanted == SaveChoice(False, (record,))
    dialog.deleteLater()


def test_escape_stays(bench, pendulum, monkeypatch):
    from app.dialogs.leaving import ask

    simulate(bench)
    monkeypatch.setattr("app.window.files.ask", ask)

    def escape():
        from PySide6.QtTest import QTest
        from PySide6.QtWidgets import QApplication

        QTest.keyClick(QApplication.activeModalWidget(), Qt.Key.Key_Escape)

    QTimer.singleShot(300, escape)
    bench.window.run_command("file.new")
    assert bench.session.path == pendulum


def test_deleting_runs_plots_and_views_can_be_undone(bench, pendulum):
    first, second = simulate(bench), simulate(bench)
    third = simulate(bench, start="moment")
    name = bench.session.mech.q_names[0]
    bench.window.plots.add_plot(Plot((f"{name}.q",)))
    bench.window.views.save_view("Side")
    panel = bench.window.simulation_panel.runs
    delete_runs(bench.session, second)
    assert bench.session.runs.items == (first, third)
    assert third.parent is None
    bench.window.plots.remove_plot(0)
    bench.window.views.delete_view("Side")
    panel.clear()
    assert bench.session.runs.items == ()
    assert any("2 runs deleted" in text for text in bench.messages("done"))
    for _ in range(4):
        bench.session.undo()
    assert bench.session.runs.items == (first, second, third)
    assert third.parent == second.id
    assert bench.window.plots.sheet.plots == (Plot((f"{name}.q",)),)
    assert "Side" in bench.window.views.views
    for _ in range(4):
        bench.session.redo()
    assert bench.session.runs.items == ()
    assert bench.window.plots.sheet.plots == ()
    assert bench.window.views.views == {}


def test_an_edit_after_a_deletion_does_not_bring_it_back_when_undone(bench, pendulum):
    first = simulate(bench)
    delete_runs(bench.session, first)
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    bench.session.undo()
    assert bench.session.runs.items == ()
    bench.session.undo()
    assert bench.session.runs.items == (first,)


def test_deleted_runs_go_to_the_trash_until_the_machine_is_left(bench, pendulum):
    simulate(bench)
    second = simulate(bench)
    save(bench)
    folder = companion.companion_folder(pendulum)
    delete_runs(bench.session, second)
    assert bench.window.isWindowModified()
    save(bench)
    assert not bench.window.isWindowModified()
    assert (folder / companion.TRASH / "002.h5").is_file()
    bench.session.undo()
    save(bench)
    assert len(list(folder.glob("*.h5"))) == 2
    bench.window.run_command("file.new")
    assert not (folder / companion.TRASH).exists()
    reopen(bench, pendulum)
    assert len(bench.session.runs.items) == 2


def test_the_person_may_not_want_runs_kept(bench, pendulum, monkeypatch):
    bench.window.run_command("runs.keep_never")
    simulate(bench)
    asked = answered(monkeypatch, lambda loss: None)
    save(bench)
    assert not companion.companion_folder(pendulum).exists()
    bench.window.run_command("file.new")
    assert asked == []


def test_large_runs_are_asked_for(bench, pendulum, monkeypatch):
    monkeypatch.setattr("app.document.kept.run_keeper.LARGE", 1e3)
    simulate(bench)
    save(bench)
    assert not companion.companion_folder(pendulum).exists()
    assert "1 run of" in bench.window.notices.notice_texts["keeping runs"]
    bench.window.notices.press_button("keeping runs", "Save with the machine")
    bench.wait(bench.window.run_keeper.wait_for_writing)
    assert (companion.companion_folder(pendulum) / companion.INDEX).is_file()


def test_what_cannot_be_written_stays_open_and_unsaved(bench, pendulum, monkeypatch):
    simulate(bench)

    def full(*_):
        raise FileError("The file cannot be written: No space left on device.")

    monkeypatch.setattr(companion, "write_atomically", full)
    answered(monkeypatch, lambda loss: SaveChoice(bool(loss.document_changes), loss.runs))
    bench.window.run_command("file.new")
    assert bench.session.path == pendulum
    assert len(bench.window.run_keeper.unsaved_runs) == 1
    assert any("The runs are still open here" in text for text in bench.messages("error"))


def test_a_run_is_on_disk_as_soon_as_it_is_made(bench, pendulum):
    record = simulate(bench)
    store = bench.window.run_keeper.store
    bench.wait(lambda: store.complete_file(record, record.version) is not None)
    again = Run.load(store.run_path(record))
    np.testing.assert_array_equal(again.q, record.run.q)
    assert again.complete


def test_a_run_that_grows_is_on_disk_while_it_does(bench, pendulum):
    bench.window.simulation.change_settings(duration=1e6)
    bench.window.simulation.start()
    file = bench.window.run_keeper.store.folder
    bench.wait(lambda: list(file.glob("*.h5")))
    bench.wait(lambda: not bench.window.run_keeper.store.worker.is_busy)
    part = Run.load(next(iter(file.glob("*.h5"))))
    assert len(part) > 1
    assert not part.complete
    bench.window.simulation.stop_and_wait()
    (record,) = bench.session.runs.items
    store = bench.window.run_keeper.store
    bench.wait(lambda: store.complete_file(record, record.version) is not None)
    np.testing.assert_array_equal(Run.load(store.run_path(record)).q, record.run.q)
    bench.window.simulation.change_settings(duration=0.3)


def test_files_of_others_in_the_folder_are_left_alone(bench, pendulum):
    folder = companion.companion_folder(pendulum)
    folder.mkdir()
    for name in ("mine.h5", "notes.txt", "01.h5"):
        (folder / name).write_text("mine")
    simulate(bench)
    save(bench)
    assert {"mine.h5", "notes.txt", "01.h5"} <= set(os.listdir(folder))


def test_what_is_not_ticked_stays_until_the_rest_is_saved(bench, pendulum, monkeypatch):
    first, second = simulate(bench), simulate(bench)

    def full(*_):
        raise FileError("The file cannot be written: No space left on device.")

    monkeypatch.setattr(companion, "write_atomically", full)
    answered(monkeypatch, lambda loss: SaveChoice(False, loss.runs[:1]))
    bench.window.run_command("file.new")
    assert bench.session.runs.items == (first, second)


def test_runs_of_a_machine_of_another_format_ask_for_a_native_file(bench, tmp_path, monkeypatch):
    from PySide6.QtWidgets import QFileDialog

    from core.files import load, save

    urdf, native = tmp_path / "arm.urdf", tmp_path / "arm.kst"
    save(load(EXAMPLES["kestrel"]), urdf)
    bench.open(urdf)
    simulate(bench)
    answered(monkeypatch, lambda loss: SaveChoice(bool(loss.document_changes), loss.runs))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(urdf), ""))
    bench.window.run_command("file.new")
    assert bench.session.runs.items
    assert any("with .kst files only" in text for text in bench.messages("error"))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(native), ""))
    bench.window.run_command("file.new")
    assert bench.session.runs.items == ()
    assert (companion.companion_folder(native) / companion.INDEX).is_file()


def test_links_of_a_strangers_folder_lead_to_no_deletion(tmp_path):
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "a.runs"
    (elsewhere / "deep").mkdir(parents=True)
    for name in ("001.h5", "mine.txt", "deep/002.h5"):
        (elsewhere / name).write_text("mine")
    folder.mkdir()
    (folder / companion.TRASH).symlink_to(elsewhere)
    (folder / "003.h5").write_text("a run")
    companion.write_companion(folder, CompanionContent(), ["003.h5"])
    companion.empty_trash(folder)
    (folder / companion.TRASH).unlink()
    (folder / companion.TRASH).mkdir()
    (folder / companion.TRASH / "deep").symlink_to(elsewhere / "deep")
    (folder / companion.TRASH / "004.h5").symlink_to(elsewhere / "001.h5")
    companion.empty_trash(folder)
    assert sorted(each.name for each in elsewhere.rglob("*")) == ["001.h5", "002.h5", "deep", "mine.txt"]
    assert (folder / "003.h5").is_file()


# ------------------------------------------------------------------------------- what a folder of others may hold


def test_a_list_that_is_not_understood_is_set_aside_and_its_runs_stay(bench, pendulum):
    simulate(bench)
    save(bench)
    folder = companion.companion_folder(pendulum)
    (folder / companion.INDEX).write_text("<<<<<<< conflict")
    reopen(bench, pendulum)
    simulate(bench)
    save(bench)
    bench.window.run_command("file.new")
    bench.window.run_keeper.store.worker.wait()
    assert (folder / f"{companion.INDEX}~").read_text() == "<<<<<<< conflict"
    assert {"001.h5", "002.h5"} <= set(os.listdir(folder))


def test_what_another_window_saved_meanwhile_stays(bench, pendulum):
    simulate(bench)
    save(bench)
    folder = companion.companion_folder(pendulum)
    kept = companion.read(folder)
    shutil.copy(folder / "001.h5", folder / "007.h5")
    other = CompanionRun("007.h5", "Of another", parent="001.h5")
    companion.write_companion(folder, CompanionContent((*kept.runs, other)), [])
    simulate(bench)
    save(bench)
    reopen(bench, pendulum)
    assert [record.name for record in bench.session.runs.items] == ["Run 1", "Run 2", "Of another"]
    assert bench.session.runs.items[2].parent == bench.session.runs.items[0].id


def test_a_list_that_is_a_link_is_replaced_and_not_followed(bench, pendulum, tmp_path):
    mine, folder = tmp_path / "mine.txt", companion.companion_folder(pendulum)
    mine.write_text("mine")
    folder.mkdir()
    (folder / companion.INDEX).symlink_to(mine)
    simulate(bench)
    save(bench)
    assert mine.read_text() == "mine"
    assert companion.read(folder).runs


@pytest.mark.parametrize("time", ["1" + "0" * 400, "1e999", "true", '"soon"'])
def test_numbers_beyond_all_sense_are_told(bench, pendulum, time):
    folder = companion.companion_folder(pendulum)
    folder.mkdir()
    (folder / companion.INDEX).write_text(f'{{"kinetostat session": 1, "time": {time}}}')
    reopen(bench, pendulum)
    assert bench.session.model.bodies
    assert len(bench.messages("warning")) == 1


def test_the_same_file_twice_is_one_run():
    row = {"file": "001.h5", "name": "a"}
    assert len(companion.parse_session_json({"kinetostat session": 1, "runs": [row, row, row]}).runs) == 1


# ------------------------------------------------------------------------------- runs that are computed anew


def test_a_saved_run_stays_as_it_is_on_disk_while_it_is_computed_anew(bench, pendulum):
    record = simulate(bench)
    save(bench)
    other = simulate(bench, duration=0.6)
    file = companion.companion_folder(pendulum) / "001.h5"
    before = file.read_bytes()
    bench.session.runs.replace(record, other.run)
    store = bench.window.run_keeper.store
    bench.wait(lambda: store.complete_file(record, record.version) is not None)
    assert file.read_bytes() == before
    assert record in bench.window.run_keeper.unsaved_runs
    save(bench)
    np.testing.assert_array_equal(Run.load(file).q, other.run.q)


def test_what_is_left_as_it_is_stays_on_disk(bench, pendulum, monkeypatch):
    first, second = simulate(bench), simulate(bench)
    save(bench)
    bench.session.runs.set_note(first, "not to be kept")
    delete_runs(bench.session, second)
    third = simulate(bench)
    bench.session.runs.rename(third, "Third")
    answered(monkeypatch, lambda loss: SaveChoice(False, (third,)))
    bench.window.run_command("file.new")
    reopen(bench, pendulum)
    assert [(record.name, record.note) for record in bench.session.runs.items] == [
        ("Third", ""),
        ("Run 1", ""),
        ("Run 2", ""),
    ]


def test_runs_are_saved_where_the_programs_own_folder_cannot_be_written(bench, pendulum, monkeypatch):
    def refuse(record):
        raise FileError("The run cannot be written: permission denied.")

    monkeypatch.setattr(bench.window.run_keeper.store, "_write_run", refuse)
    simulate(bench)
    save(bench)
    reopen(bench, pendulum)
    assert len(bench.session.runs.items) == 1


def test_undo_of_a_removed_plot_keeps_those_added_since(bench, pendulum):
    simulate(bench)
    plots = bench.window.plots
    plots.add_plot(Plot(("energy.kinetic",)))
    plots.remove_plot(0)
    plots.add_plot(Plot(("energy.potential",)))
    bench.session.undo()
    assert [plot.channels[0] for plot in plots.sheet.plots] == ["energy.kinetic", "energy.potential"]


def test_what_is_done_while_a_file_is_read_is_asked_for(bench, pendulum, monkeypatch):
    bench.window.files.open(EXAMPLES["scara"])
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    asked = answered(monkeypatch, lambda loss: None)
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    bench.wait(lambda: asked)
    assert bench.session.path == pendulum
    assert bench.session.is_unsaved


def test_what_is_read_does_not_arrive_in_another_document(bench, pendulum):
    bench.window.run_command("file.reload")
    bench.window.run_command("file.new")
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    bench.window.files.opening.errands.wait()
    for _ in range(3):
        bench.draw()
    assert bench.session.path is None
    assert bench.session.model.bodies == ()


def test_saving_and_leaving_at_once_waits_for_the_runs(bench, pendulum, monkeypatch):
    def full(*_):
        raise FileError("The file cannot be written: No space left on device.")

    asked = answered(monkeypatch, lambda loss: None)
    simulate(bench)
    monkeypatch.setattr(companion, "write_atomically", full)
    bench.window.run_command("file.save")
    bench.window.run_command("file.new")
    assert [loss.summary for loss in asked] == ["pendulum: 1 run"]
