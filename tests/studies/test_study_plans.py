"""Studies of the document: kept in files, followed by renaming, doubted where they name nothing, computed by name."""

import numpy as np
import pytest

import kinetostat as ks
from core.errors import ModelError
from core.model.edits import edits
from core.studies.study import Study
from core.studies.study_text import parse_values, study_plan_from_text, study_text_from_document
from core.studies.study_work import StudyExecution

G, T = 9.81, 0.4
STONE = ks.Model(
    name="stone",
    parameters=(ks.Parameter(name="m", value=2.0, dimension="mass"), ks.Parameter(name="n", value=4.0)),
    bodies=(ks.Body(name="stone", mass="m"),),
    joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
)
PLAN = ks.StudyPlan(
    name="thrown",
    varied=(
        ks.VariedRow(quantity="z.v", values="normal(1, 0.3)"),
        ks.VariedRow(quantity="duration", values="0.2, 0.4"),
    ),
    record=(ks.RecordRow(column="end", formula="at(z.q, end)"),),
    count="n",
    seed=7,
    method="rk4",
    step="1 ms",
    description="As far as it comes",
)
MODEL = edits.add(STONE, PLAN)


@pytest.mark.parametrize("format", ["kst"])
def test_files_keep_them(format):
    assert ks.loads(ks.dumps(MODEL, format), format) == MODEL
    assert MODEL.machine == STONE


def test_python_scripts_keep_them():
    made = {"__name__": "made", "__file__": "stone.py"}
    exec(ks.dumps(MODEL, "python"), made)
    assert made["model"] == MODEL


def test_rows_are_those_of_closed_forms():
    study = Study.named(MODEL, "thrown")
    assert study.size == 8
    found = study.run()
    v, t = found.varied["z.v"], found.varied["duration"]
    assert np.allclose(found.table["end"], v * t - 0.5 * G * t**2, atol=1e-12)
    assert "thrown" not in study.declaration.model  # what else is asked does not make it another study


def test_texts_become_plans_and_plans_texts():
    curve = ks.RecordRow(column="path", formula="z.q", every=0.1)
    asked = edits.change(MODEL, "studies", "thrown", record=(*PLAN.record, curve), count=4.0, step=1e-3)
    text = study_text_from_document(asked, "thrown")
    assert text.record["path"] == "z.q every 0.1"
    assert study_plan_from_text("thrown", text, PLAN.description) == asked.studies[0]


def test_renaming_follows_and_what_goes_is_named():
    renamed = edits.rename(MODEL, "joints", "z", "up").studies[0]
    assert [row.quantity for row in renamed.varied] == ["up.v", "duration"]
    assert renamed.record[0].formula == "at(up.q, end)"
    assert ks.check(MODEL) == ()
    doubts = [each for each in ks.check(edits.remove(MODEL, "joints", "z")) if each.collection == "studies"]
    assert {(each.name, each.field) for each in doubts} == {("thrown", "quantity"), ("thrown", "formula")}
    assert edits.remove(MODEL, "parameters", "n").studies[0].count == 4.0


def test_opening_a_document_computes_nothing(monkeypatch):
    monkeypatch.setattr(StudyExecution, "__init__", lambda *_: pytest.fail("it computes"))
    assert ks.check(ks.loads(ks.dumps(MODEL, "kst"), "kst")) == ()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"varied": (*PLAN.varied, PLAN.varied[0])}, "'z.v' has 2 rows"),
        ({"record": PLAN.record * 2}, "'end' has 2 rows"),
        ({"how": "dice"}, "not one of"),
        ({"count": "nothing"}, "The name 'nothing' is not defined"),
    ],
)
def test_what_cannot_be_is_refused(change, words):
    with pytest.raises(ks.ModelError, match=words):
        edits.change(MODEL, "studies", "thrown", **change)


def test_names_of_studies_are_told_with_near_misses():
    with pytest.raises(ks.ModelError, match="thrown"):
        Study.named(MODEL, "throwm")
    with pytest.raises(ks.ModelError, match="has no studies"):
        Study.named(STONE, "thrown")
    wrong = edits.change(MODEL, "studies", "thrown", varied=(ks.VariedRow(quantity="m", values="normal(2)"),))
    with pytest.raises(ks.ModelError, match="study 'thrown', 'm': normal takes 2 numbers"):
        Study.named(wrong, "thrown")
    meant = edits.change(MODEL, "studies", "thrown", varied=(ks.VariedRow(quantity="m", values="nrmal(2, 1)"),))
    with pytest.raises(ks.ModelError, match=r"'m': 'nrmal\(2, 1\)' is not a distribution. Did you mean normal"):
        Study.named(meant, "thrown")
    called = edits.change(MODEL, "studies", "thrown", varied=(ks.VariedRow(quantity="m", values="sqrt(4), 3"),))
    assert Study.named(called, "thrown").declaration.values().ravel().tolist() == [2.0, 3.0]


@pytest.mark.parametrize("count", ["999999999", "9" * 5000, "5000001"])
def test_a_range_of_endless_values_is_refused_before_it_is_made(count):
    """Its numbers would fill the memory, and the time of reading the digits grows with their square."""
    with pytest.raises(ModelError, match="too long"):
        parse_values(f"0:1:{count}", float)
    assert parse_values("0:1:003", float) == [0.0, 0.5, 1.0]
    with pytest.raises(ModelError, match="is not a number of values"):
        parse_values("0:1:²", float)
