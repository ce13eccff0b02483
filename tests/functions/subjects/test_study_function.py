"""The function of studies: rows told as tables, against closed forms."""

import numpy as np
import pytest

import kinetostat as ks
from core.functions.results import Message, Table

G = 9.81
STONE = ks.Model(
    name="stone",
    parameters=(ks.Parameter(name="m", value=2.0, dimension="mass"),),
    bodies=(ks.Body(name="stone", mass="m"),),
    joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="stone", axis=(0.0, 0.0, 1.0)),),
    studies=(
        ks.StudyPlan(
            name="thrown",
            varied=(ks.VariedRow(quantity="z.v", values="1, 2"),),
            record=(ks.RecordRow(column="end", formula="at(z.q, end)"),),
            duration=0.2,
        ),
    ),
)


def parts(**options):
    return ks.call("parameter_study", ks.Context.of(STONE), **options).parts


def test_numbers_are_those_of_closed_forms(tmp_path):
    asked = {"vary": "z.v=0:2:5; m=-1, 2", "record": "end=at(z.q, end)", "duration": 0.4, "step": 1e-3}
    message, recorded, sensitivities, _, failed = parts(**asked, save=str(tmp_path / "rows.csv"))
    assert isinstance(message, Message)
    assert message.text.startswith("10 rows, 5 failed")
    assert recorded.rows[0][:3] == ("end", "m", pytest.approx(0.4 - 0.5 * G * 0.16, abs=1e-6))
    assert sensitivities.rows[0][:4] == (
        "end",
        "z.v",
        pytest.approx(-0.7848, abs=1e-4),
        pytest.approx(0.0152, abs=1e-4),
    )
    assert isinstance(failed, Table)
    assert "negative" in failed.rows[0][2]
    assert len((tmp_path / "rows.csv").read_text().splitlines()) == 11


def test_studies_of_the_document_are_named():
    _, recorded, *_ = parts(study="thrown")
    ends = np.array([1.0, 2.0]) * 0.2 - 0.5 * G * 0.04
    assert recorded.rows[0][5] == pytest.approx(ends.min(), abs=1e-6)
    assert "thrown" in parts()[0].text
    with pytest.raises(ks.ModelError, match="lacks a name"):
        parts(vary="0:1:3", record="max(z.q)")
