"""A document with kinds that nobody here knows, in the window: seen, edited, saved; what needs mechanics refuses."""

import pytest

import kinetostat as ks
from app.document.revision import ElementRef
from core import kinds
from core.joints import JOINT_KINDS
from tests.joints.made_up_kinds import PinInSlot
from tests.project.test_own_kinds import UNKNOWN

REFS = [
    ElementRef("joints", "slot"),
    ElementRef("sensors", "smell"),
    ElementRef("forces", "glue"),
    ElementRef("constraints", "curve"),
]


@pytest.fixture
def opened(bench, tmp_path):
    path = tmp_path / "unknown.kst"
    path.write_text(UNKNOWN.format(version=ks.dumps(ks.Model()).split("\n")[0].split()[-1]), encoding="utf-8")
    bench.open(path)
    bench.draw()
    assert bench.messages("error") == []
    return path


def test_the_machine_is_seen_and_the_findings_name_what_is_not_known(bench, opened):
    session = bench.session
    assert session.mech.q_names == ("hinge",)
    assert {item.ref for item in bench.view.scene.items} >= {tuple(ref) for ref in REFS if ref != REFS[1]}
    assert {f.name for f in ks.check(session.model) if f.severity == "error"} == {ref.name for ref in REFS}
    session.preview_coordinates({"hinge": 0.4})
    session.commit("Move")
    assert session.q[0] == pytest.approx(0.4)


@pytest.mark.parametrize("ref", REFS, ids=lambda ref: ref.name)
def test_an_element_of_an_unknown_kind_is_shown_edited_and_deleted(bench, opened, ref):
    session = bench.session
    session.select(ref)
    bench.draw()
    form = bench.window.docks.docks["properties"].widget().form
    kind = session.model.find(*ref).kind
    assert form.editors["kind"].combo.currentData() == kind
    assert session.apply("Note", lambda m: ks.edits.change(m, *ref, description="mine"))
    assert session.model.find(*ref).kind == kind
    assert session.apply("Delete", lambda m: ks.edits.remove(m, *ref))
    assert ref.name not in {f.name for f in ks.check(session.model)}
    session.undo()
    session.undo()
    assert session.model.find(*ref).kind == kind


def test_a_kind_that_is_registered_meanwhile_is_offered(bench, opened, monkeypatch):
    monkeypatch.setattr(JOINT_KINDS, "_kinds", dict(JOINT_KINDS))
    monkeypatch.setattr(kinds, "_own", {})
    bench.session.select(REFS[0])
    combo = bench.window.docks.docks["properties"].widget().form.editors["kind"].combo
    assert [combo.itemData(i) for i in range(combo.count())] == [*JOINT_KINDS, "pin_in_slat"]
    ks.register(PinInSlot)
    bench.session.select(ElementRef("joints", "hinge"))
    assert [combo.itemData(i) for i in range(combo.count())] == [*JOINT_KINDS]
    assert combo.currentData() == "revolute"
    assert bench.session.apply("Kind", lambda m: ks.edits.change(m, "joints", "slot", kind="pin_in_slot"))
    assert bench.session.model.joint("slot").info is PinInSlot
    bench.session.undo()


def test_runs_and_functions_refuse_by_name_and_saving_keeps_everything(bench, opened):
    session = bench.session
    before = opened.read_text(encoding="utf-8")
    with pytest.raises(ks.ModelError, match="slot"):
        ks.call("mobility", session.context())
    with pytest.raises(ks.ModelError, match="slot"):
        ks.simulate(session.mech, 0.1)
    bench.window.run_command("simulation.run")
    bench.wait(lambda: bench.messages("error"))
    assert "'pin_in_slat'" in bench.messages("error")[-1]
    assert session.apply("Note", lambda m: ks.edits.change(m, "bodies", "arm", mass=2.0))
    bench.window.run_command("file.save")
    assert opened.read_text(encoding="utf-8") == before.replace("mass: 1", "mass: 2", 1)
