"""Designs of the document: kept in files and scripts, followed by renaming, made problems and target curves of."""

import numpy as np
import pytest

import kinetostat as ks
from core.model.edits import edits

ARM = ks.Model(
    name="arm",
    parameters=(ks.Parameter(name="k", value=3.0, minimum=1.0, maximum=9.0), ks.Parameter(name="l", value=0.5)),
    bodies=(ks.Body(name="bob", mass=1.0, center_of_mass=(0, 0, "-l")),),
    joints=(ks.Joint(name="pin", parent="world", child="bob", axis=(0, 1, 0), stiffness="k"),),
)
LIGHT = ks.Aim(
    name="light",
    vary=(ks.DesignVariable(parameter="k"), ks.DesignVariable(parameter="l", minimum=0.2, maximum="2*0.4")),
    minimise="rms(pin.q - 0.3)",
    require=(ks.RequiredRow(formula="k*l < 4"),),
    description="For the small one",
)
PERIOD = ks.Aim(name="period", vary=(ks.DesignVariable(parameter="k"),), minimise="(mode[1].period - 1)^2")
CURVE = ks.Aim(name="path", kind="curve", curve=([0, 0], [0.1, "l/5"], [0, 0.2]), closed=True)
MODEL = edits.add(ARM, LIGHT, PERIOD, CURVE)


def test_files_and_scripts_keep_them():
    assert ks.loads(ks.dumps(MODEL, "kst"), "kst") == MODEL
    made = {"__name__": "made", "__file__": "arm.py"}
    exec(ks.dumps(MODEL, "python"), made)
    assert made["model"] == MODEL
    assert MODEL.machine == ARM
    assert not ks.check(MODEL)


def test_renaming_follows_and_what_is_gone_is_named():
    new = edits.rename(edits.rename(MODEL, "parameters", "k", "rate"), "joints", "pin", "hinge").designs[0]
    assert [row.parameter for row in new.vary] == ["rate", "l"]
    assert new.minimise == "rms(hinge.q - 0.3)"
    assert new.require[0].formula == "rate*l < 4"
    found = ks.check(edits.remove(MODEL, "joints", "pin"))
    (doubt,) = [each for each in found if each.collection == "designs"]
    assert (doubt.collection, doubt.name, doubt.field, doubt.severity) == ("designs", "light", "minimise", "warning")


def test_problems_and_curves_are_made_of_them():
    problem = ks.asked_design(MODEL, "light")
    assert problem.bounds == {"k": (1.0, 9.0), "l": (0.2, 0.8)}
    np.testing.assert_allclose(ks.asked_target(MODEL, "path").points, [[0, 0], [0.1, 0.1], [0, 0.2]])
    with pytest.raises(ks.ModelError, match="Did you mean light"):
        ks.asked_design(MODEL, "ligth")
    with pytest.raises(ks.ModelError, match="has no designs"):
        ks.asked_design(ARM, "light")
    with pytest.raises(ks.ModelError, match="is a path synthesis, not an optimisation"):
        ks.asked_design(MODEL, "path")


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"vary": (ks.DesignVariable(parameter="k"), ks.DesignVariable(parameter="k"))}, "'k' is varied in 2 rows"),
        ({"duration": 0.0}, "A run cannot last 0 s"),
        ({"kind": "wish"}, "not one of"),
    ],
)
def test_what_says_nothing_is_refused(fields, words):
    with pytest.raises(ks.ModelError, match=words):
        ks.Aim(name="p", **fields)
    with pytest.raises(ks.ModelError, match="One bound is missing"):
        edits.add(ARM, ks.Aim(name="p", vary=(ks.DesignVariable(parameter="k", minimum=1.0),)))
