"""What other programs do to the open file: a clean document follows, an edited one asks, nothing is overwritten."""

import os
import shutil

import pytest

from app.document.session import ElementRef, Session
from core.files import load, save
from core.model import Driver
from core.model.edits import edits
from resources import examples
from tests.files.test_file_contents import write_tetrahedron

EXAMPLES = {example.name: example.path for example in examples()}
CHANGED, GONE, SHARED = "changed outside", "deleted outside", "shared file"
RELOAD, COMPARE, MINE = "Reload (undo restores my version)", "Compare", "Keep my version"


def change(model, value):
    return edits.change(model, "parameters", "a", value=value)


def value_of(session):
    return session.model.find("parameters", "a").value


def elsewhere(path, value):
    """Another program writes the file."""
    save(change(load(path), value), path)


def test_a_clean_document_follows_as_one_step_of_undo(bench, four_bar):
    elsewhere(four_bar, 0.13)
    bench.wait(lambda: value_of(bench.session) == 0.13)
    assert not bench.session.is_unsaved
    assert bench.session.undo_label == "Changed outside"
    bench.session.undo()
    assert value_of(bench.session) == 0.1
    assert bench.session.is_unsaved
    bench.session.redo()
    assert not bench.session.is_unsaved


def test_a_file_that_is_replaced_as_editors_do_is_followed_and_watched_on(bench, four_bar):
    for value in (0.11, 0.12, 0.13):
        other = four_bar.with_suffix(".new")
        save(change(load(four_bar), value), four_bar.with_name("other.kst"))
        os.replace(four_bar.with_name("other.kst"), other)
        os.replace(other, four_bar)
        bench.wait(lambda value=value: value_of(bench.session) == value)


def test_a_file_that_says_the_same_is_no_step(bench, four_bar):
    four_bar.write_text(four_bar.read_text() + "\n# nothing new\n")
    bench.wait(lambda: not bench.session.sources.changed_files())
    assert bench.session.undo_label == ""


def test_an_edited_document_asks(bench, four_bar):
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    elsewhere(four_bar, 0.13)
    bench.wait(lambda: CHANGED in bench.window.notices.notice_texts)
    assert value_of(bench.session) == 0.12
    bench.window.notices.press_button(CHANGED, COMPARE)
    bench.wait(lambda: bench.window.output.cards)
    table = bench.window.output.cards[-1].result
    assert table.rows == (("parameter 'a'", "value", "0.12", "0.13"),)
    assert CHANGED in bench.window.notices.notice_texts  # still to be answered
    bench.window.notices.press_button(CHANGED, RELOAD)
    bench.wait(lambda: value_of(bench.session) == 0.13)
    assert not bench.session.is_unsaved
    bench.session.undo()
    assert value_of(bench.session) == 0.12


def test_what_is_kept_overwrites_only_when_it_is_saved(bench, four_bar):
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    elsewhere(four_bar, 0.13)
    bench.wait(lambda: CHANGED in bench.window.notices.notice_texts)
    bench.window.notices.press_button(CHANGED, MINE)
    assert load(four_bar).find("parameters", "a").value == 0.13
    bench.window.run_command("file.save")
    assert load(four_bar).find("parameters", "a").value == 0.12


def test_saving_asks_before_it_overwrites(bench, four_bar):
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    elsewhere(four_bar, 0.13)
    assert not bench.window.files.save()
    assert "The file was not overwritten" in bench.window.notices.notice_texts[CHANGED]
    assert load(four_bar).find("parameters", "a").value == 0.13
    bench.window.notices.press_button(CHANGED, "Overwrite")
    assert load(four_bar).find("parameters", "a").value == 0.12
    assert not bench.session.is_unsaved


def test_a_deleted_file_is_told_and_the_document_is_unsaved(bench, four_bar):
    four_bar.unlink()
    bench.wait(lambda: GONE in bench.window.notices.notice_texts)
    assert "deleted or moved" in bench.window.notices.notice_texts[GONE]
    assert bench.session.is_unsaved
    bench.window.notices.press_button(GONE, "Save")
    assert four_bar.is_file()
    assert not bench.session.is_unsaved


def test_a_file_that_cannot_be_read_any_more_is_told_and_nothing_is_lost(bench, four_bar):
    four_bar.write_text("kinetostat: 1\nbodies: [")
    bench.wait(lambda: CHANGED in bench.window.notices.notice_texts)
    assert "changed file cannot be read" in bench.window.notices.notice_texts[CHANGED]
    assert value_of(bench.session) == 0.1


def test_a_file_that_is_taken_in_is_watched_too(bench, tmp_path):
    inner, outer = tmp_path / "inner.kst", tmp_path / "outer.kst"
    shutil.copy(EXAMPLES["four_bar"], inner)
    outer.write_text("kinetostat: 1\nname: Outer\nassemblies:\n  bar: {file: inner.kst}\n")
    bench.open(outer)
    elsewhere(inner, 0.13)
    bench.wait(lambda: bench.session.model.values().get("bar.a") == 0.13)
    assert bench.session.undo_label == "Changed outside"


def test_reload_is_a_step_of_undo_and_asks_nothing(bench, four_bar):
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    bench.window.run_command("file.reload")
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    assert value_of(bench.session) == 0.1
    bench.session.undo()
    assert value_of(bench.session) == 0.12


def test_of_two_writers_the_second_is_told(tmp_path):
    path = tmp_path / "two.kst"
    path.write_text("kinetostat: 1\nname: P\nparameters:\n  l: {value: 1}\n  m: {value: 1}\nbodies:\n  a: {mass: m}\n")
    one, two, said = Session(), Session(), []
    one.open(path), two.open(path)
    two.message.connect(lambda severity, text: said.append((severity, text)))
    one.apply("x", lambda m: edits.change(m, "parameters", "l", value=0.25))
    assert one.save(path)
    two.apply("x", lambda m: edits.change(m, "parameters", "m", value=2.0))
    assert not two.save(path)
    assert load(path).find("parameters", "l").value == 0.25
    ((severity, text),) = said
    assert severity == "error"
    assert "was not overwritten" in text
    assert two.is_unsaved
    assert two.save(path, overwrite=True)
    assert load(path).find("parameters", "m").value == 2.0


def test_a_name_by_another_way_is_the_same_file(tmp_path):
    path = tmp_path / "a.kst"
    shutil.copy(EXAMPLES["four_bar"], path)
    (tmp_path / "link.kst").symlink_to(path)
    session = Session()
    session.open(path)
    elsewhere(path, 0.13)
    assert not session.save(tmp_path / "link.kst")
    assert not session.save(tmp_path / "." / "a.kst")


def test_two_windows_on_one_file(bench, four_bar, own_bench, monkeypatch):
    lock = four_bar.with_name("four_bar.kst.lock")
    assert lock.is_file()
    own_bench.open(four_bar)
    assert "is also open at" in own_bench.window.notices.notice_texts[SHARED]
    own_bench.session.apply("Change a", lambda model: change(model, 0.12))
    assert not own_bench.window.files.save()
    own_bench.window.notices.press_button(CHANGED, "Overwrite")
    assert value_of(own_bench.session) == 0.12
    own_bench.session.apply("Change a", lambda model: change(model, 0.13))
    assert own_bench.window.files.save()  # asked once
    bench.wait(lambda: value_of(bench.session) == 0.13)
    bench.window.run_command("file.new")
    assert not lock.exists()


@pytest.mark.parametrize("content", [b"", b"garbage", b"999999999\nother\nhost\n"])
def test_a_stale_or_foreign_lock_keeps_nobody_out(bench, tmp_path, content):
    path = tmp_path / "four_bar.kst"
    shutil.copy(EXAMPLES["four_bar"], path)
    path.with_name("four_bar.kst.lock").write_bytes(content)
    bench.open(path)
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    if content.startswith(b"9"):  # of another computer: it cannot be asked
        assert "is also open at host" in bench.window.notices.notice_texts[SHARED]
    else:
        assert bench.window.files.save()
        assert path.with_name("four_bar.kst.lock").read_bytes() == content  # not ours to take


def test_a_pipe_in_the_place_of_the_lock_is_not_waited_for(bench, tmp_path):
    path = tmp_path / "four_bar.kst"
    shutil.copy(EXAMPLES["four_bar"], path)
    os.mkfifo(path.with_name("four_bar.kst.lock"))
    bench.open(path)
    assert SHARED not in bench.window.notices.notice_texts


def test_in_a_folder_that_cannot_be_written_the_hint_is_left_out(bench, tmp_path, monkeypatch):
    from app.document.kept import recovery_copies

    class Refused(recovery_copies.QLockFile):
        def tryLock(self, _wait=0):
            return False

        def error(self):
            return recovery_copies.QLockFile.LockError.PermissionError

    monkeypatch.setattr(recovery_copies, "QLockFile", Refused)
    path = tmp_path / "four_bar.kst"
    shutil.copy(EXAMPLES["four_bar"], path)
    bench.open(path)
    assert bench.window.notices.notice_texts == {}
    assert bench.messages("error") == []


def test_what_cannot_be_written_stays_open_and_another_place_is_offered(bench, four_bar, monkeypatch, tmp_path):
    from PySide6.QtWidgets import QFileDialog

    bench.session.apply("Change a", lambda model: change(model, 0.12))
    shutil.rmtree(four_bar.parent / "gone", ignore_errors=True)
    gone = four_bar.parent / "gone" / "four_bar.kst"
    assert not bench.window.files._write_document(gone)
    assert "could not be written" in bench.window.notices.notice_texts[CHANGED]
    assert bench.session.is_unsaved
    assert bench.session.path == four_bar
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *a, **k: (str(tmp_path / "other.kst"), ""))
    bench.window.notices.press_button(CHANGED, "Save as…")
    assert not bench.session.is_unsaved
    assert bench.session.path == tmp_path / "other.kst"
    assert bench.window.notices.notice_texts == {}


def test_one_older_version_is_kept_if_the_person_wants_it(bench, four_bar):
    older = four_bar.with_name("four_bar.kst~")
    first = four_bar.read_text()
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    bench.window.run_command("file.save")
    assert older.read_text() == first
    older.unlink()
    bench.window.run_command("file.older")
    bench.session.apply("Change a", lambda model: change(model, 0.13))
    bench.window.run_command("file.save")
    assert not older.exists()


def test_a_file_that_could_not_hold_all_is_not_the_documents_own(bench, four_bar, tmp_path):
    other = tmp_path / "four_bar.urdf"
    bench.session.apply("Add", lambda model: edits.add(model, Driver(name="motor", joint="crank_pin", function="t")))
    bench.session.save(other)
    assert bench.session.path == four_bar
    assert bench.session.is_unsaved
    elsewhere(four_bar, 0.13)
    assert not bench.window.files.save()


def test_a_change_beside_a_deletion_is_told_too(bench, tmp_path):
    inner, outer = tmp_path / "inner.kst", tmp_path / "outer.kst"
    shutil.copy(EXAMPLES["four_bar"], inner)
    outer.write_text("kinetostat: 1\nname: Outer\nparameters: {a: 1}\nassemblies:\n  bar: {file: inner.kst}\n")
    bench.open(outer)
    inner.unlink()
    outer.write_text(outer.read_text().replace("a: 1", "a: 2"))
    bench.wait(lambda: {CHANGED, GONE} <= set(bench.window.notices.notice_texts))
    assert not bench.window.files.save()


def test_bars_of_a_document_go_with_it(bench, four_bar):
    bench.session.apply("Change a", lambda model: change(model, 0.12))
    elsewhere(four_bar, 0.13)
    assert not bench.window.files.save()
    bench.example("pendulum")
    assert bench.window.notices.notice_texts == {}


def test_a_mesh_that_is_written_again_is_weighed_and_drawn_again(bench, tmp_path):
    part, document = tmp_path / "part.stl", tmp_path / "m.kst"
    write_tetrahedron(part, 0.1)
    document.write_text(
        "kinetostat: 1\nname: m\nbodies: {b: {density: 6000, shapes: [{mesh: {file: part.stl}}]}}\n"
        "joints: {j: {parent: world, child: b, axis: [0, 0, 1]}}\n"
    )
    bench.open(document)
    bench.window.docks.show_panel("properties")
    bench.session.select(ElementRef("bodies", "b"))
    before = float(bench.session.mech.mass_matrix([0.0])[0, 0])
    write_tetrahedron(part, 0.2)
    bench.wait(lambda: float(bench.session.mech.mass_matrix([0.0])[0, 0]) == pytest.approx(32 * before, rel=1e-5))
    assert bench.messages("done")[-1].startswith("part.stl was changed by another program")  # not m.kst
    mass = 6000.0 * 0.2**3 / 6.0
    card = bench.window.properties.form.editors["density"].note.words
    assert card.startswith(f"{mass:.6g} kg from the shapes")
    assert not bench.session.is_unsaved
