"""Operating points of the document: kept in files, followed by renaming, doubted where they name nothing."""

import dataclasses

import pytest

import kinetostat as ks
from core.model.differences import removal_consequences
from core.model.edits import edits
from core.model.trims import signal_dimension

CART = ks.Model(
    name="cart",
    parameters=(ks.Parameter(name="push", value=3.0, dimension="force"),),
    bodies=(ks.Body(name="cart", mass=2.0), ks.Body(name="bob", mass=1.0, center_of_mass=(0, 0, -0.5))),
    joints=(
        ks.Joint(name="x", kind="prismatic", parent="world", child="cart", axis=(1, 0, 0)),
        ks.Joint(name="th", parent="cart", child="bob", axis=(0, 1, 0)),
    ),
    sensors=(ks.Sensor(name="gap", b="cart"),),
)
ROWS = (
    ks.TrimRow(quantity="x.a", value="2*push"),
    ks.TrimRow(quantity="x.tau", role="free", minimum=-50, maximum="0.1 kN"),
    ks.TrimRow(quantity="bob.position.x", role="target", value="30 mm", weight=2),
    ks.TrimRow(quantity="th.v", role="steady"),
)
MODEL = edits.add(CART, ks.Trim(name="pushed", rows=ROWS, description="As fast as it goes"), ks.Trim(name="still"))


@pytest.mark.parametrize("format", ["kst"])
def test_files_keep_them(format):
    assert ks.loads(ks.dumps(MODEL, format), format) == MODEL
    assert MODEL.machine == CART
    assert CART.machine is CART


def test_python_scripts_keep_them():
    made = {"__name__": "made", "__file__": "cart.py"}
    exec(ks.dumps(MODEL, "python"), made)
    assert made["model"] == MODEL


def test_a_parameter_in_use_keeps_its_value_and_a_part_that_goes_is_named():
    without = edits.remove(MODEL, "parameters", "push")
    assert without.operating_points[0].rows[0].value == "2*3"
    gone = removal_consequences(MODEL, "joints", "th")
    assert gone.gone == ()  # what was asked stays
    (doubt,) = [each for each in ks.check(edits.remove(MODEL, "joints", "th")) if each.collection == "operating_points"]
    assert (doubt.name, doubt.field, doubt.severity) == ("pushed", "quantity", "warning")
    assert "'th' is not defined (in 'th.v')" in doubt.text


def test_those_who_use_an_element_are_told():
    assert ("operating_points", MODEL.operating_points[0]) in edits.users(MODEL, "joints", "x")
    assert edits.users(MODEL, "operating_points", "pushed") == ()


def test_names_are_their_own_and_once():
    assert edits.rename(MODEL, "operating_points", "pushed", "x").operating_points[0].name == "x"
    with pytest.raises(ks.ModelError, match="is taken"):
        edits.rename(MODEL, "operating_points", "pushed", "still")
    assert edits.unused_name(MODEL, "operating_points", "still") == "still2"


@pytest.mark.parametrize(
    ("quantity", "dimension"),
    [
        ("x.q", "length"),
        ("x.v", "velocity"),
        ("th.a", "angular_acceleration"),
        ("th.tau", "torque"),
        ("push", "force"),
        ("bob.position.x", "length"),
        ("gap.rate", "velocity"),
        ("gravity.z", "acceleration"),
        ("nothing.q", "none"),
    ],
)
def test_what_quantities_measure(quantity, dimension):
    assert signal_dimension(CART, quantity) == dimension


def test_a_unit_that_cannot_be_is_doubted():
    wrong = edits.add(CART, ks.Trim(name="p", rows=(ks.TrimRow(quantity="x.q", value="30 deg"),)))
    (doubt,) = [each for each in ks.check(wrong) if each.collection == "operating_points"]
    assert doubt.text == "'30 deg' is an angle; a length is required here."


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"quantity": " "}, "missing"),
        ({"quantity": "x.q", "role": "held"}, "not one of"),
        ({"quantity": "x.q", "role": "target"}, "needs a value"),
        ({"quantity": "x.q", "role": "target", "value": 1, "weight": 0}, "positive"),
        ({"quantity": "x.q", "role": "free", "minimum": 2, "maximum": 1}, "is not below the upper bound"),
        ({"quantity": "x.q", "value": "nothing"}, "The name 'nothing' is not defined"),
    ],
)
def test_rows_that_say_nothing_are_refused(fields, words):
    with pytest.raises(ks.ModelError, match=words):
        edits.add(CART, ks.Trim(name="p", rows=(ks.TrimRow(**fields),)))


def test_a_quantity_has_one_row():
    with pytest.raises(ks.ModelError, match=r"operating point 'p', rows: 'x.q' has 2 rows"):
        ks.Trim(name="p", rows=(ks.TrimRow(quantity="x.q"), ks.TrimRow(quantity="x.q", role="free")))


def test_what_is_left_without_questions_is_not_checked_once_more(monkeypatch):
    named, bare = dataclasses.replace(MODEL, name="other"), dataclasses.replace(CART, name="other")
    monkeypatch.setattr(type(named), "validate", lambda self: pytest.fail("checked"))
    assert named.machine == bare
    assert named.machine is named.machine
    assert named.machine.expanded.index("body") == bare.expanded.index("body")


@pytest.mark.parametrize(
    ("quantity", "dimension"),
    [
        *(("th.q", "angle"), ("th.q*2", "none"), ("bob.position.x", "length"), ("bob.position.x*x.v", "none")),
        *(("gravity.z", "acceleration"), ("gravity.z*2", "none"), ("push", "force"), ("push/2", "none")),
    ],
)
def test_what_a_name_measures_and_no_formula(quantity, dimension):
    assert signal_dimension(MODEL, quantity) == dimension
