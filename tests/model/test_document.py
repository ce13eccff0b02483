"""The document: validation messages, look-ups, parameters and units."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import ExpressionError, KinetostatError, ModelError
from core.model import Body, Box, DHChain, DHRow, Frame, Joint, Limit, Material, Mimic, Model, Parameter, Pose
from core.model.formula.expression import evaluate, parse
from core.model.parameters import parameter_values, sort_parameters
from core.model.units import SI, UNITS, display_unit

A, B = Body(name="a"), Body(name="b")
HINGE = Joint(name="hinge", parent="a", child="b")

REFUSED = [
    (lambda: Model(bodies=(A, A)), "body 'a'", "used twice"),
    (lambda: Model(bodies=(A,), frames=(Frame(name="a", parent="world"),)), "frame 'a'", "used twice"),
    (lambda: Model(bodies=(Body(name="world"),)), "body 'world'", "ground"),
    (lambda: Model(bodies=(Body(name="base"),), chains=(DHChain(name="c"),)), "body 'base'", "twice"),
    (lambda: Model(bodies=(A,), joints=(HINGE,)), "joint 'hinge', child", "no body or frame 'b'"),
    (lambda: Model(bodies=(A, B), joints=(HINGE, HINGE)), "joint 'hinge'", "used twice"),
    (lambda: Model(bodies=(Body(name="a", mass="m"),)), "body 'a', mass", "The name 'm' is not defined"),
    (lambda: Model(bodies=(Body(name="a", shapes=(Box(material="red"),)),)), "body 'a', material", "no material 'red'"),
    (lambda: Model(bodies=(Body(name="a", shapes=(Box(size=(1.0, "w", 1.0)),)),)), "body 'a', size", "'w'"),
    (lambda: Model(joints=(Joint(name="j", parent="world", child="world"),)), "joint 'j', child", "the same"),
    (lambda: Joint(name="j", parent="a", child="b", axis=(0.0, 0.0, 0.0)), "joint 'j', axis", "length zero"),
    (lambda: Joint(name="j", parent="a", child="b", limits=(Limit(), Limit())), "joint 'j', limits", "1 coordinates"),
    (lambda: Joint(name="j", parent="a", child="b", kind="spherical", rest=(0.0,)), "joint 'j', rest", "4 coordinates"),
    (lambda: Joint(name="j", parent="a", child="b", kind="planar", mimic=Mimic(leader="k")), "joint 'j', mimic", "one"),
    (lambda: Joint(name="j", parent="a", child="b", kind="hinge"), "joint 'j', kind", "revolute"),
    (lambda: Body(name="12"), "body '12', name", "is not a valid name"),
    (lambda: Body(name="a", mass=math.nan), "body 'a', mass", "finite"),
    (lambda: Body(name="a", mass=True), "body 'a', mass", "number"),
    (lambda: Body(name="a", mass="2 *"), "body 'a', mass", "ends"),
    (lambda: Body(name="a", center_of_mass=(1.0, 2.0)), "body 'a', center_of_mass", "3 numbers"),
    (lambda: Body(name="a", center_of_mass="123"), "body 'a', center_of_mass", "list"),
    (lambda: Material(name="m", color=(1.0,)), "material 'm', color", "3 or 4"),
    (lambda: Pose(rotation=(1.0, 2.0)), "pose, rotation", "3 or 4 numbers"),
    (
        lambda: Model(frames=(Frame(name="f", parent="g"), Frame(name="g", parent="f"))),
        "frame 'f', parent",
        "f → g → f",
    ),
    (
        lambda: Model(parameters=(Parameter(name="x", value="y"),)),
        "parameter 'x', value",
        "The name 'y' is not defined",
    ),
    (lambda: Model(parameters=(Parameter(name="x", value="y"), Parameter(name="y", value="x"))), "parameter", "cycle"),
    (lambda: Model(parameters=(Parameter(name="x", value="x"),)), "parameter 'x', value", "x → x"),
]


@pytest.mark.parametrize(("make", "where", "hint"), REFUSED, ids=[f"{r[1]} {r[2]}" for r in REFUSED])
def test_contradictions_are_refused_by_name(make, where, hint):
    with pytest.raises(ModelError) as caught:
        make()
    assert caught.value.where.startswith(where)
    assert hint in str(caught.value)
    assert caught.value.remedy


def test_a_value_without_a_meaning_is_refused():
    with pytest.raises(KinetostatError, match="zero"):
        Model(parameters=(Parameter(name="x", value="1/(2 - 2)"),))


def test_near_misses_are_suggested():
    model = Model(bodies=(Body(name="forearm"),))
    with pytest.raises(ModelError, match="Did you mean forearm"):
        model.body("forarm")


def test_values_are_stored_as_numbers_where_they_are():
    body = Body(name="a", mass="2.50", center_of_mass=(1, "3", " l + 1 "))
    assert (body.mass, body.center_of_mass) == (2.5, (1.0, 3.0, "l + 1"))
    assert type(body.center_of_mass[0]) is float


def test_models_are_values():
    model = Model(bodies=(A, B), joints=(HINGE,))
    again = Model(bodies=(Body(name="a"), Body(name="b")), joints=(Joint(name="hinge", parent="a", child="b"),))
    assert model == again
    assert hash(model) == hash(again)
    assert pickle.loads(pickle.dumps(model)) == model
    with pytest.raises(AttributeError):
        model.name = "other"


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(ModelError("what", where="w", remedy="r", file="f", line=3)))
    assert (type(error), str(error)) == (ModelError, "f:3, w: what r")


# ------------------------------------------------------------------------------------- parameters


def test_parameters_follow_one_another_in_any_order():
    model = Model(
        parameters=(
            Parameter(name="c", value="a + b"),
            Parameter(name="b", value="2*a"),
            Parameter(name="a", value=3.0),
        )
    )
    assert model.values() == {"a": 3.0, "b": 6.0, "c": 9.0}
    assert model.values({"b": 10.0}) == {"a": 3.0, "b": 10.0, "c": 13.0}
    with pytest.raises(ModelError, match="no parameter 'z'"):
        model.values({"z": 1.0})


@given(st.permutations(range(8)))
def test_order_puts_each_after_what_it_uses(order):
    chain = [Parameter(name="p0", value=1.0)] + [Parameter(name=f"p{i}", value=f"p{i - 1} + p0") for i in range(1, 8)]
    shuffled = [chain[i] for i in order]
    found = [parameter.name for parameter in sort_parameters(shuffled)]
    assert found == [f"p{i}" for i in range(8)]
    assert parameter_values(shuffled)["p7"] == 8.0


def test_long_chains_of_parameters_are_no_recursion():
    many = [Parameter(name="p0", value=1.0)] + [Parameter(name=f"p{i}", value=f"p{i - 1}") for i in range(1, 3000)]
    assert parameter_values(reversed(many))["p2999"] == 1.0


# ------------------------------------------------------------------------------------- units


@pytest.mark.parametrize(
    ("text", "si"),
    [
        ("180 deg", math.pi),
        ("1 rev", 2 * math.pi),
        ("25.4 mm", 0.0254),
        ("1 inch", 0.0254),
        ("1 ft", 0.3048),
        ("1 lb", 0.45359237),
        ("60 rpm", 2 * math.pi),
        ("1 kN", 1000.0),
        ("1 t", 1000.0),
        ("2 min", 120.0),
        ("5 g", 0.005),
        ("1 um", 1e-6),
    ],
)
def test_units_are_those_of_the_si_brochure(text, si):
    assert evaluate(parse(text), {}) == pytest.approx(si, rel=1e-15)


def test_every_unit_measures_a_known_dimension():
    assert {unit.dimension for unit in UNITS.values()} <= SI.keys()


@pytest.mark.parametrize("dimension", SI)
@pytest.mark.parametrize("degrees", [True, False])
@pytest.mark.parametrize("millimetres", [True, False])
def test_shown_units(dimension, degrees, millimetres):
    shown = display_unit(dimension, degrees=degrees, millimetres=millimetres)
    wanted = 1.0
    if degrees and dimension.startswith("ang"):
        wanted = math.pi / 180
    if millimetres and dimension in ("length", "velocity"):
        wanted = 1e-3
    assert shown.factor == pytest.approx(wanted, rel=1e-15)
    assert bool(shown.symbol) == (dimension != "none")


def test_unknown_units_are_messages():
    with pytest.raises(ExpressionError):
        parse("3 parsec")
    assert DHRow(alpha="90°").alpha == "90°"


@pytest.mark.parametrize("name", ["e", "pi", "tau", "a-b", "a/b", "a:b"])
def test_a_parameter_is_not_called_what_a_formula_reads_otherwise(name):
    with pytest.raises(ModelError, match=f"parameter '{name}', name"):
        Parameter(name=name, value=1.0)


@pytest.mark.parametrize("given", [None, 5, "body", Body(name="b")])
def test_a_collection_is_a_list(given):
    with pytest.raises(ModelError, match="bodies: A list is needed"):
        Model(bodies=given)
