"""Tables recorded elsewhere: what other programs write is read, what is wrong is told with its place."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from core.c_code.generate import generate_c
from core.errors import FileError, ModelError
from core.files import load
from core.mechanics.elements.recorded_signals import read_driver_columns, read_table
from core.mechanics.elements.time_argument import Recorded, build_splines, evaluate_time_argument
from core.model import Body, Driver, Joint, Model
from core.model.constraints import INTERPOLATIONS
from core.simulation import simulate

NUMBERS = [[0.0, 1.5], [0.1, 1.6]]


@pytest.mark.parametrize(
    "text",
    [
        "t,pin\n0,1.5\n0.1,1.6\n",
        "t;pin\n0,0;1,5\n0,1;1,6\n",
        "t\tpin\n0,0\t1,5\n0,1\t1,6\n",
        '"t","pin"\n"0,0","1,5"\n"0,1","1,6"\n',
        "sep=;\nt;pin\n0;1.5\n0.1;1.6\n",
        "t,pin\ns,rad\n0,1.5\n0.1,1.6\n",
        "t,pin,\n0,1.5,\n0.1,1.6,\n",
        "\ufefft pin\n\n0 1.5\n\n0.1 1.6\n",
        '" t pin\n0 1.5\n0.1 1.6\n',
        "% made by hand\n% t pin\n0 1.5\n0.1 1.6\n",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_what_other_programs_write_is_read(tmp_path, text, encoding):
    file = tmp_path / "trace.csv"
    file.write_text(text.lstrip("\ufeff") if encoding == "utf-16" else text, encoding=encoding)
    names, numbers = read_table(str(file))
    np.testing.assert_array_equal(numbers, NUMBERS)
    assert names == ("t", "pin")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("t,pin\n0,1\nabc,2\n", r":3, column 1: 'abc' is not a number"),
        ("t,pin\n0,1\nnan,2\n", r":3, column 1: 'nan' is not a number"),
        ("t,pin\n0,1\n1,\n", r":3, column 2: '' is not a number"),
        ("t;pin\n0,0;1.234,5\n", r":2, column 2: '1.234,5' is not a number"),
        ("t,pin\n0,1\n1,2,3\n", r":3: This line has 3 numbers, but the lines before it have 2"),
        ("t,pin\n0,x\n1,2\n", r":2, column 2: 'x' is not a number"),
        ("0,x\n1,2\n2,3\n", r":1, column 2: 'x' is not a number"),
        ("t,pin\n0,1_0\n", r":2, column 2: '1_0' is not a number"),
        ("t,pin\n0,\u0661\n", r":2, column 2: '\u0661' is not a number"),
        ("pin\n1\n2\n", r"has no columns of numbers over time"),
    ],
)
def test_what_is_wrong_is_told_with_line_and_column(tmp_path, text, place):
    file = tmp_path / "trace.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=place):
        read_table(str(file))


@pytest.mark.parametrize(
    "text",
    [
        "t [ms],q [deg]\n0,0\n1000,90\n",
        "time (s);q (rev)\n0;0\n1;0,25\n",
        "t_ms,q_deg\n0,0\n1000,90\n",
        "t,q\nms,deg\n0,0\n1000,90\n",
        "# t [sec], q [°]\n0 0\n1 90\n",
        "t/ms,q / deg\n0,0\n1000,90\n",
        "time in s,angle in degrees\n0,0\n1,90\n",
    ],
)
def test_units_in_the_head_turn_a_drivers_columns_into_si(tmp_path, text):
    file = tmp_path / "trace.csv"
    file.write_text(text, encoding="utf-8")
    times, values = read_driver_columns(Driver(name="d", joint="j", file=str(file)), "")
    np.testing.assert_allclose([times, values], [[0.0, 1.0], [0.0, np.pi / 2]], rtol=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("t [ms],q [blurb]\n0,0\n1,1\n", "'blurb' is not a known unit"),
        ("t [ms],q [deg/s]\n0,0\n1,1\n", "'deg/s' is not a unit of an angle or a length"),
        ("t,angle degrees\n0,0\n1,1\n", "seems to name a unit, 'degrees'"),
        ("t [mm],q\n0,0\n1,1\n", "'mm' is not a unit of a time"),
        ("t,q\n0,0,0,0\n1,0,1,5\n", "decimal commas"),
    ],
)
def test_units_and_commas_that_cannot_be_meant_are_refused(tmp_path, text, words):
    file = tmp_path / "trace.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=words):
        read_driver_columns(Driver(name="d", joint="j", file=str(file)), "")


@pytest.mark.parametrize("times", [(0.0, 1e-320, 1.0), (0.0, 0.1, 0.2, 0.3, 1.9e211)])
def test_a_table_that_no_spline_can_follow_is_refused(times):
    values = np.linspace(1.0, 2.0, len(times))
    with pytest.raises(ModelError, match="too many orders of magnitude"):
        build_splines([Recorded(np.array(times), values)])


@pytest.mark.parametrize(
    ("motion", "heading", "words"),
    [
        ("position", "q [mm]", "'mm' is not a unit of an angle"),
        ("velocity", "q [deg]", "'deg' is not a unit of an angular velocity"),
        ("velocity", "q [deg/s]", ""),
    ],
)
def test_units_belong_to_what_the_driver_gives(tmp_path, motion, heading, words):
    (tmp_path / "u.csv").write_text(f"t,{heading}\n0,0\n1,90\n", encoding="utf-8")
    bodies = "{b: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}}"
    drivers = f"{{d: {{joint: j, file: u.csv, motion: {motion}}}}}"
    text = f"kinetostat: 1\nbodies: {bodies}\njoints: {{j: {{parent: world, child: b}}}}\ndrivers: {drivers}\n"
    (tmp_path / "u.kst").write_text(text)
    if words:
        with pytest.raises(FileError, match=words):
            simulate(load(tmp_path / "u.kst"), 0.1)
    else:
        run = simulate(load(tmp_path / "u.kst"), 1.0)
        assert run["j.v"][-1] == pytest.approx(np.pi / 2, rel=1e-9)


TIMES, VALUES = np.array([0.0, 0.4, 1.0, 1.5, 2.0]), np.array([0.0, 0.5, -0.2, 0.3, 0.8])


def rates(interpolation, t, times=TIMES, values=VALUES):
    """Value, rate and second rate of a table at t."""
    found = evaluate_time_argument(build_splines([Recorded(times, values, interpolation)]), np.asarray(t))
    return np.moveaxis(found, -1, 0)[1:]


@pytest.mark.parametrize("interpolation", INTERPOLATIONS)
def test_every_interpolation_passes_the_points_and_is_held_outside(interpolation):
    assert np.allclose(rates(interpolation, TIMES)[0], VALUES, atol=1e-12)
    assert np.allclose(rates(interpolation, [-1.0, 3.0]), [[VALUES[0], VALUES[-1]], [0, 0], [0, 0]])
    if interpolation != "linear":  # the rate is that of the value, and continuous
        t = np.array([0.2, 0.7, 1.2, 1.9])
        slope = (rates(interpolation, t + 1e-6)[0] - rates(interpolation, t - 1e-6)[0]) / 2e-6
        assert np.allclose(rates(interpolation, t)[1], slope, atol=1e-7)
        left, right = (rates(interpolation, TIMES[1:-1] + shift) for shift in (-1e-9, 1e-9))
        assert np.allclose(left, right, atol=1e-5)


def test_ends_of_interpolations_are_as_they_are_called():
    near = np.array([0.0, 2.0 - 1e-9])
    assert np.allclose(rates("natural", near)[2], 0.0, atol=1e-6)
    assert np.allclose(rates("clamped", near)[1], 0.0, atol=1e-6)
    assert np.allclose(rates("quintic", near)[1:], 0.0, atol=1e-5)
    t = np.linspace(0.0, 2.0, 21)
    assert np.allclose(rates("linear", t)[0], np.interp(t, TIMES, VALUES), atol=1e-12)
    assert np.allclose(rates("not-a-knot", t)[0], CubicSpline(TIMES, VALUES)(t), atol=1e-12)


def test_a_driver_with_a_quintic_between_two_points_is_the_textbook_curve(tmp_path):
    """10 s³ − 15 s⁴ + 6 s⁵ in a run, and in C code after a second of it."""
    driver = Driver(name="d", joint="pin", times=(0.0, 2.0), values=(0.1, 0.9), interpolation="quintic")
    arm = Body(name="arm", mass=1.0, center_of_mass=(0.3, 0.0, 0.0))
    model = Model(bodies=(arm,), joints=(Joint(name="pin", parent="world", child="arm"),), drivers=(driver,))
    run = simulate(model, 2.0, output=0.1)
    s = run.time / 2.0
    assert np.allclose(run["pin.q"], 0.1 + 0.8 * s**3 * (10.0 - 15.0 * s + 6.0 * s * s), atol=1e-9)
    assert np.allclose(run["pin.a"][:-1], (0.2 * (60.0 * s - 180.0 * s**2 + 120.0 * s**3))[:-1], atol=1e-8)
    made = generate_c(model, tmp_path / "code")
    assert made.trial.passed in (True, None)  # None: there is no compiler
    assert made.difference is not None
    assert made.difference < 1e-9
