"""Unsaved work outlives a crash: under its own name and place, with pose, plots and runs; all is offered."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.document.kept import recovery_copies
from app.document.kept.companion import CompanionContent
from app.document.kept.recovery_copies import RecoveredWork, UnsavedWorkOrigin
from app.plotting.curves import Plot
from core.model.edits import edits
from resources import examples
from tests.walks import slow

EXAMPLES = {example.name: example.path for example in examples()}


def change(model, value=0.11):
    return edits.change(model, "parameters", "a", value=value)


@pytest.fixture
def recovery(bench):
    """Nothing of other programs is in the folder, before and after."""
    found = bench.window.recovery

    def empty():
        for place in (*found.folder.glob("*.kst"), *found.folder.glob("*.json")):
            if place.stem != found.copy.stem:
                recovery_copies.delete_copy(place)

    found._prepare_folder()
    empty()
    yield found
    empty()


def simulate(bench, duration=0.3):
    bench.window.simulation.change_settings(duration=duration)
    bench.window.simulation.start()
    bench.wait(lambda: not bench.window.simulation.is_running)


def written(bench):
    bench.window.run_keeper.store.worker.wait()
    bench.window.recovery.write_now()


def crash(bench, recovery, name="crashed"):
    """What would be there after a crash: the copy of a program that is no more. The window goes on with another one."""
    written(bench)
    copy = recovery.folder / f"{name}.kst"
    shutil.copy(recovery.copy, copy)
    shutil.copy(recovery.copy.with_suffix(".json"), copy.with_suffix(".json"))
    runs = recovery_copies.runs_folder_of(recovery.copy)
    if runs.is_dir():
        shutil.copytree(runs, recovery_copies.runs_folder_of(copy))
    bench.window.run_command("file.new")
    return copy


def restore(bench, copy):
    bench.window.recovery.offer_leftovers()
    bench.window.notices.press_button(str(copy), "Restore")
    bench.wait(lambda: not bench.window.files.opening.is_busy and not bench.window.jobs.unfinished_jobs)
    written(bench)


def test_restored_work_has_its_name_its_place_and_its_pose(bench, four_bar, recovery):
    bench.session.apply("Change a", change)
    bench.session.preview_coordinates({"crank_pin": 1.0})
    bench.session.commit("Move crank_pin")
    pose, model = dict(bench.session.state.pose), bench.session.model
    copy = crash(bench, recovery)
    restore(bench, copy)
    assert bench.session.path == four_bar
    assert bench.window.windowTitle().startswith("four_bar.kst")
    assert bench.window.isWindowModified()
    assert bench.session.model == model
    assert bench.session.state.pose == pytest.approx(pose)
    assert not copy.exists()
    assert recovery.copy.exists()
    bench.window.run_command("file.save")
    from core.files import load

    assert load(four_bar).find("parameters", "a").value == 0.11
    written(bench)
    assert not recovery.copy.exists()


def test_untitled_work_stays_untitled_and_an_example_is_not_saved_over(bench, recovery):
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    restore(bench, crash(bench, recovery))
    assert bench.session.path is None
    assert bench.window.windowTitle().startswith("untitled")
    bench.example("pendulum")
    bench.session.apply("Add body", lambda model: edits.free_body(model)[0])
    restore(bench, crash(bench, recovery, "again"))
    assert bench.session.path == EXAMPLES["pendulum"]


def test_runs_and_plots_come_back_and_are_whole(bench, four_bar, recovery):
    simulate(bench)
    bench.session.runs.set_note(bench.session.runs.items[0], "first")
    bench.window.simulation.change_settings(start="moment")
    bench.session.runs.seek(0.1)
    simulate(bench)
    bench.window.simulation.change_settings(start="pose")
    bench.window.plots.add_plot(Plot(("crank_pin.q",)))
    first, second = bench.session.runs.items
    q, when = second.run.q.copy(), second.from_time
    restore(bench, crash(bench, recovery))
    one, two = bench.session.runs.items
    assert (one.name, one.note, two.name) == (first.name, "first", second.name)
    assert two.parent == one.id
    assert two.from_time == when
    assert (two.run.q == q).all()
    assert two.run.complete
    assert bench.window.plots.sheet.plots == (Plot(("crank_pin.q",)),)
    assert bench.window.run_keeper.unsaved_runs == (one, two)


def test_several_leftovers_are_offered_and_what_is_discarded_can_be_brought_back(bench, four_bar, recovery):
    copies = []
    for name in ("one", "two", "three"):
        bench.open(four_bar)
        bench.session.apply("Change a", change)
        copies.append(crash(bench, recovery, name))
    recovery.offer_leftovers()
    assert set(bench.window.notices.notice_texts) == {str(copy) for copy in copies}
    assert all("four_bar" in text and "1 edit" in text for text in bench.window.notices.notice_texts.values())
    bench.window.notices.press_button(str(copies[0]), "Discard")
    assert not copies[0].exists()
    assert copies[1].exists()
    bench.window.notices.press_button(str(copies[0]), "Restore it")
    assert copies[0].exists()
    assert set(bench.window.notices.notice_texts) == {str(copy) for copy in copies}


def test_a_copy_that_cannot_be_read_is_named_and_stays(bench, recovery):
    copy = recovery.folder / "broken.kst"
    recovery_copies.write_recovery_copy(
        copy,
        "kinetostat: 1\nbodies: {a: {mass: [}",
        UnsavedWorkOrigin(path="/tmp/robot.kst", time=time.time()),
        CompanionContent(),
    )
    restore(bench, copy)
    text = bench.window.notices.notice_texts[str(copy)]
    assert "robot" in text
    assert str(copy) in text
    assert copy.exists()


@pytest.mark.parametrize(
    "told", ["", "{", "[]", '{"session": 3}', '{"time": "x", "session": {"kinetostat session": 1}}']
)
def test_a_copy_of_which_nothing_is_known_is_offered_all_the_same(recovery, told):
    copy = recovery.folder / "unknown.kst"
    copy.write_text("kinetostat: 1\nname: A\n")
    copy.with_suffix(".json").write_text(told)
    assert [left.copy for left in recovery_copies.find_recovered_work(recovery.folder)] == [copy]


def test_the_copy_of_a_program_that_lives_is_not_offered(bench, four_bar, recovery):
    bench.session.apply("Change a", change)
    written(bench)
    assert recovery.copy.exists()
    assert recovery_copies.find_recovered_work(recovery.folder) == ()


def test_a_copy_is_there_two_seconds_after_a_change(bench, four_bar, recovery):
    bench.session.apply("Change a", change)
    assert recovery._timer.isActive()
    assert recovery._timer.interval() <= 2000
    bench.wait(recovery.copy.exists)


def test_the_copy_goes_when_the_work_is_undone_or_saved(bench, four_bar, recovery):
    bench.session.apply("Change a", change)
    written(bench)
    assert recovery.copy.exists()
    bench.session.undo()
    bench.wait(lambda: not recovery.copy.exists())


def test_discarding_and_then_failing_to_open_another_file_loses_nothing(bench, four_bar, recovery, tmp_path):
    bench.session.apply("Change a", change)
    written(bench)
    bench.open(tmp_path / "nothing_there.kst")
    assert bench.session.is_unsaved
    assert recovery.copy.exists()


def test_saving_restored_work_asks_if_its_file_was_changed_meanwhile(bench, four_bar, recovery):
    bench.session.apply("Change a", change)
    copy = crash(bench, recovery)
    four_bar.write_text(four_bar.read_text().replace("value: 0.1,", "value: 0.13,"))
    restore(bench, copy)
    bench.window.run_command("file.save")
    assert "Another program changed four_bar.kst" in bench.window.notices.notice_texts["changed outside"]
    assert "0.13" in four_bar.read_text()


def test_where_nothing_can_be_kept_that_is_said_once_and_work_goes_on(bench, four_bar, recovery, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(recovery_copies, "write_atomically", full)
    for value in (0.11, 0.12, 0.13):
        bench.session.apply("Change a", lambda model, value=value: change(model, value))
        recovery.queue_copy()
        recovery._worker.wait()
        recovery._report_failure()
    assert len([text for text in bench.messages("warning") if "No space left" in text]) == 1
    assert bench.session.model.find("parameters", "a").value == 0.13
    monkeypatch.undo()
    recovery.queue_copy()
    recovery._worker.wait()
    assert recovery.copy.exists()


def test_a_vanished_folder_is_made_again(bench, four_bar, recovery):
    shutil.rmtree(recovery.folder)
    bench.session.apply("Change a", change)
    written(bench)
    assert recovery.copy.exists()


def test_a_clock_that_was_set_back_hides_nothing(recovery):
    copy = recovery.folder / "future.kst"
    recovery_copies.write_recovery_copy(
        copy,
        "kinetostat: 1\nname: A\n",
        UnsavedWorkOrigin(title="A", time=time.time() + 1e7, edits=2),
        CompanionContent(),
    )
    assert [left.origin.edits for left in recovery_copies.find_recovered_work(recovery.folder)] == [2]


def test_what_was_discarded_long_ago_goes(recovery):
    copy = recovery.folder / "old.kst"
    recovery_copies.write_recovery_copy(copy, "kinetostat: 1\nname: A\n", UnsavedWorkOrigin(), CompanionContent())
    gone = recovery_copies.discard_copy(RecoveredWork(copy))
    recovery_copies.purge_discarded(recovery.folder)
    assert gone.copy.exists()
    past = time.time() - 2 * recovery_copies.KEPT_FOR
    os.utime(gone.copy, (past, past))
    recovery_copies.purge_discarded(recovery.folder)
    assert not gone.copy.exists()


def test_a_copy_whose_runs_cannot_all_be_read_stays(bench, four_bar, recovery):
    simulate(bench)
    simulate(bench)
    copy = crash(bench, recovery)
    runs = sorted(recovery_copies.runs_folder_of(copy).glob("*.h5"))
    runs[0].write_bytes(b"damaged")
    restore(bench, copy)
    assert len(bench.session.runs.items) == 1
    written(bench)
    assert copy.exists()
    assert runs[1].exists()


def test_runs_that_were_saved_before_the_crash_are_not_doubled(bench, four_bar, recovery):
    from app.document.kept import companion

    simulate(bench)
    assert bench.window.files.save()
    bench.wait(bench.window.run_keeper.wait_for_writing)
    bench.session.apply("Change a", change)
    simulate(bench)
    restore(bench, crash(bench, recovery))
    assert len(bench.session.runs.items) == 2
    assert [record.name for record in bench.window.run_keeper.unsaved_runs] == ["Run 2"]
    assert bench.window.files.save()
    bench.wait(bench.window.run_keeper.wait_for_writing)
    assert len(companion.read(companion.companion_folder(four_bar)).runs) == 2


def test_a_time_that_no_clock_shows_hinders_nothing(recovery):
    copy = recovery.folder / "odd.kst"
    recovery_copies.write_recovery_copy(
        copy, "kinetostat: 1\nname: A\n", UnsavedWorkOrigin(title="A", time=1e300), CompanionContent()
    )
    assert [left.description for left in recovery_copies.find_recovered_work(recovery.folder)] == ["A"]


PROGRAM = """
import sys
from pathlib import Path
from PySide6.QtCore import QFileSystemWatcher, QTimer
from app.preferences.settings import Settings
from app.window.start import TerminationHandler, create_application
app = create_application(["x"])
from app.window.window import Window
from core.model.edits import edits
window = Window(settings=Settings(Path(sys.argv[2])))
ending = TerminationHandler(window)
window.session.open(sys.argv[1])
window.show()
folder = window.recovery.folder
watcher = QFileSystemWatcher([str(folder)])
watcher.directoryChanged.connect(lambda _: list(folder.glob("*.json")) and print("kept", flush=True))
def edit():
    window.session.apply("x", lambda m: edits.change(m, "parameters", "a", value=0.12))
    print("edited", flush=True)
QTimer.singleShot(0, edit)
QTimer.singleShot(30_000, app.quit)
app.exec()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, *slow(signal.SIGTERM, signal.SIGINT)])
def test_a_program_that_is_ended_from_outside_leaves_its_work_behind(tmp_path, number):
    path = tmp_path / "four_bar.kst"
    shutil.copy(EXAMPLES["four_bar"], path)
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(path), str(tmp_path / "s.ini")],
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
    )
    assert program.stdout.readline() == "edited\n"
    if number == signal.SIGKILL:
        assert program.stdout.readline() == "kept\n"
    folder = tmp_path / "state" / "kinetostat" / "recovery"
    program.send_signal(number)
    program.wait(30)
    (left,) = recovery_copies.find_recovered_work(folder)
    assert Path(left.origin.path) == path
    assert "0.12" in left.copy.read_text()
