"""The function Loops: loops, cuts and the order of solution as tables."""

from core.files import load
from core.functions import call
from core.functions.context import Context
from resources import examples
from tests.mechanism.closed_forms import random_loops


def parts(model):
    return call("loops", Context.of(model)).parts


def test_a_slider_crank_is_closed_by_a_dyad():
    path = next(e.path for e in examples() if e.name == "slider_crank")
    text, closed, order = parts(load(path))
    assert text.text == "One loop, solved in closed form; no iteration is needed."
    ((number, joints, cut, how),) = closed.rows
    assert number == "1"
    assert cut in joints.split()
    assert how == "RRP dyad"
    assert [row[2] for row in order.rows] == ["independent", "RRP dyad"]
    assert order.rows[1][3] == order.rows[0][1]


def test_what_is_left_to_iteration_is_named():
    builder = random_loops.Builder(5)
    builder.loop("RRRRRRR")
    text, closed, order = parts(builder.model())
    assert text.text == "One loop, closed by iteration, since no closed form was found."
    assert closed.rows[0][3] == "iteration"
    assert order.rows[-1][1:3] == (closed.rows[0][2], "iteration")


def test_a_tree_has_none():
    path = next(e.path for e in examples() if e.name == "pendulum")
    assert "no closed loop" in call("loops", Context.of(load(path))).text
