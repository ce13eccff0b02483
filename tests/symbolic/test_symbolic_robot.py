"""Robots in symbols: textbook results term by term, published equations, and agreement with the compiled kernel."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy

import resources
from core.errors import ModelError
from core.files import load, loads
from core.model import Body, DHChain, DHRow, Gravity, Inertia, Joint, Model, Parameter, World
from core.symbolic import robot
from core.symbolic.forms import Number, count_operations, make_sum
from core.symbolic.notation import format_form
from core.symbolic.proof import CHECKED, check_result

REFERENCE = Path(__file__).parents[1] / "reference"


def example(name):
    return load(next(path.path for path in resources.examples() if Path(path.path).stem == name))


@pytest.fixture(scope="module")
def two_link():
    return robot(example("two_link"))


def texts(robot, what, *indices):
    return [[format_form(form) for form in row] for row in robot.form(what, *indices)]


def test_two_link_arm_as_the_robotica_manual_prints_it(two_link):
    assert texts(two_link, "M")[0] == [
        "I1 + I2 + 1/4 a1^2 m1 + a1^2 m2 + 1/4 a2^2 m2 + a1 a2 m2 C2",
        "I2 + 1/4 a2^2 m2 + 1/2 a1 a2 m2 C2",
    ]
    assert texts(two_link, "M")[1][1] == "I2 + 1/4 a2^2 m2"
    assert texts(two_link, "C") == [
        ["-1/2 a1 a2 m2 Dq2 S2", "-1/2 a1 a2 m2 Dq1 S2 - 1/2 a1 a2 m2 Dq2 S2"],
        ["1/2 a1 a2 m2 Dq1 S2", "0"],
    ]
    assert texts(two_link, "G") == [["1/2 a1 g m1 C1 + a1 g m2 C1 + 1/2 a2 g m2 C12"], ["1/2 a2 g m2 C12"]]
    assert texts(two_link, "T", 0, 2)[0] == ["C12", "-S12", "0", "a1 C1 + a2 C12"]
    assert texts(two_link, "J")[:2] == [["-a1 S1 - a2 S12", "-a2 S12"], ["a1 C1 + a2 C12", "a2 C12"]]


def test_sympy_gives_the_same(two_link):
    a1, a2, m1, m2, I1, I2, g = (two_link.symbol(n) for n in ("a1", "a2", "m1", "m2", "I1", "I2", "g"))
    q1, q2 = two_link.q
    M11 = I1 + I2 + a1**2 * m1 / 4 + a1**2 * m2 + a1 * a2 * m2 * sympy.cos(q2) + a2**2 * m2 / 4
    assert sympy.expand(two_link.M[0, 0] - M11) == 0
    G2 = a2 * g * m2 * sympy.cos(q1 + q2) / 2
    assert sympy.expand(two_link.G[1] - G2) == 0
    assert two_link.A(1) == two_link.T(0, 1)
    assert set(two_link.values) == {a1, a2, m1, m2, I1, I2, g}


def test_mass_rate_minus_twice_coriolis_is_skew_symmetric():
    r = robot(example("puma560"), symbols="all")
    C = r.chain.coriolis_matrix
    for i in range(6):
        for j in range(6):
            rate = sum(
                (r.chain.by(r.chain.mass_matrix[i][j], k) * r.chain.ring.symbol(r.chain.rates[k]) for k in range(6)),
                0.0,
            )
            assert rate - C[i][j] - C[j][i] == 0.0


def craig_rp():
    """A revolute joint and a sliding one along the arm."""
    return Model(
        parameters=tuple(
            Parameter(name=n, value=v)
            for n, v in (("l1", 0.35), ("m1", 2.1), ("m2", 1.4), ("I1", 0.12), ("I2", 0.05), ("g", 9.81))
        ),
        world=World(gravity=Gravity(acceleration=(0.0, "-g", 0.0))),
        bodies=(
            Body(name="arm", mass="m1", center_of_mass=("l1", 0, 0), inertia=Inertia(izz="I1")),
            Body(name="slide", mass="m2", inertia=Inertia(izz="I2")),
        ),
        joints=(
            Joint(name="turn", parent="world", child="arm"),
            Joint(name="reach", kind="prismatic", parent="arm", child="slide", axis=(1, 0, 0)),
        ),
    )


def craig_2r():
    """Two links with point masses at their far ends."""
    rows = (DHRow(a="l1", mass="m1"), DHRow(a="l2", mass="m2"))
    return Model(
        parameters=tuple(Parameter(name=n, value=1.0) for n in ("l1", "l2", "m1", "m2", "g")),
        world=World(gravity=Gravity(acceleration=(0.0, "-g", 0.0))),
        chains=(DHChain(name="arm", rows=rows),),
    )


@pytest.mark.parametrize(
    ("model", "file"), [(craig_rp(), "symbolic_craig_rp"), (craig_2r(), "symbolic_craig_2r_point_masses")]
)
def test_published_equations_of_motion(model, file):
    published = json.loads((REFERENCE / f"{file}.json").read_text())["reference"]["tau"]
    r = robot(model)
    names = {f"q{i}": s for i, s in enumerate(r.q, 1)} | {f"v{i}": s for i, s in enumerate(r.dq, 1)}
    names |= {f"a{i}": s for i, s in enumerate(r.ddq, 1)} | {str(s): s for s in r.values}
    for ours, theirs in zip(r.tau, published, strict=True):
        difference = ours - sympy.sympify(theirs, locals=names)
        assert sympy.expand(sympy.expand_trig(difference)) == 0


def test_published_kinematics_of_the_puma():
    data = json.loads((REFERENCE / "symbolic_fk_puma560_craig.json").read_text())
    rows = (
        DHRow(),
        DHRow(alpha="-pi/2"),
        DHRow(a="a2", d="d3"),
        DHRow(a="a3", alpha="-pi/2", d="d4"),
        DHRow(alpha="pi/2"),
        DHRow(alpha="-pi/2"),
    )
    parameters = tuple(Parameter(name=n, value=v) for n, v in data["parameters"].items())
    model = Model(parameters=parameters, chains=(DHChain(name="arm", convention="modified", rows=rows),))
    r = robot(model)
    T = r.T(0, 6)
    names = {f"{f[0]}{i}": getattr(sympy, f)(q) for f in ("cos", "sin") for i, q in enumerate(r.q, 1)}
    names |= {f"{f[0]}23": getattr(sympy, f)(r.q[1] + r.q[2]) for f in ("cos", "sin")}
    names |= {str(s): s for s in r.values}
    entries = {f"r{i}{j}": T[i - 1, j - 1] for i in (1, 2, 3) for j in (1, 2, 3)} | dict(
        zip(("px", "py", "pz"), T[:3, 3], strict=True)
    )
    for name, published in data["reference"]["expressions"].items():
        difference = entries[name] - sympy.sympify(published, locals=names)
        assert sympy.expand(sympy.expand_trig(difference)) == 0, name
    for sample in data["reference"]["samples"]:
        values = {**r.values, **dict(zip(r.q, sample["q"], strict=True))}
        numbers = np.array(T.subs(values).evalf(), dtype=float)
        np.testing.assert_allclose(numbers, sample["T"], atol=data["tolerances"]["abs"])


ARMS = ("two_link", "stanford", "puma560", "scara", "panda")


@pytest.fixture(scope="module", params=ARMS)
def arm(request):
    return robot(example(request.param))


INDICES = {"A": (2,), "T": (1, 2), "Jvc": (2,), "Jwc": (2,), "c": (1, 2, 1), "Ki": (2,), "Pi": (2,)}


@pytest.mark.parametrize(
    ("arm", "what"),
    [
        pytest.param(name, what, marks=(pytest.mark.slow,) if name == "panda" and what in ("C", "M", "tau") else ())
        for name in ARMS
        for what in CHECKED
    ],
    indirect=["arm"],
)
def test_agrees_with_the_compiled_kernel(arm, what):
    found = check_result(arm, what, *INDICES.get(what, ()), states=5)
    assert found.passed
    assert found.deviation < 1e-10


@pytest.mark.parametrize("what", CHECKED)
def test_a_wrong_entry_is_found(monkeypatch, what):
    """A proof that could not fail would prove nothing."""
    r, indices = robot(example("stanford")), INDICES.get(what, ())
    right = r.form(what, *(indices or ((0, r.n) if what == "T" else ())))
    wrong = make_sum([right[0][0], Number(Fraction(1, 1000))])
    monkeypatch.setattr(r, "form", lambda *_: ((wrong, *right[0][1:]), *right[1:]))
    found = check_result(r, what, *indices, states=3)
    assert not found.passed
    assert found.deviation > 1e-6
    assert "DIFFERS" in str(found)


def test_all_symbols_agree_and_are_short():
    r = robot(example("puma560"), symbols="all")
    assert len(r.values) > 35
    assert check_result(r, "M", states=3).passed
    assert check_result(r, "C", states=3).passed
    assert sum(count_operations(form) for row in r.form("M") for form in row) < 3000


def test_parallel_axes_collect_their_sums_also_when_they_point_against_each_other():
    rows = (DHRow(a="a1", alpha="pi"), DHRow(a="a2"))
    parameters = tuple(Parameter(name=n, value=1.0) for n in ("a1", "a2"))
    r = robot(Model(parameters=parameters, chains=(DHChain(name="arm", rows=rows),)))
    assert format_form(r.form("T", 0, 2)[0][3]) == "a1 C1 + a2 Cos[q1 - q2]"


def test_values_take_the_place_of_symbols(two_link):
    r = robot(example("two_link"), symbols=["g"], values={"g": 9.81, "m1": 2.0, "a1": 1.5})
    assert not r.values
    kept = robot(example("two_link"), symbols=("a1", "m2"))
    assert {str(s) for s in kept.values} == {"a1", "m2"}
    with pytest.raises(ModelError, match="no parameter 'm9'"):
        robot(example("two_link"), values={"m9": 1.0})


def test_numbers_near_multiples_of_pi_are_recognised_and_listed():
    urdf = """<robot name="r"><link name="base"/><link name="arm"/><link name="tip"/>
    <joint name="j1" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
      <origin xyz="0 0 0.33333" rpy="1.5708 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="j2" type="revolute"><parent link="arm"/><child link="tip"/><axis xyz="0 0 1"/>
      <origin xyz="0.5 0 0" rpy="0 0 0.7854"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    r = robot(loads(urdf, "urdf"))
    assert {entry.meaning for entry in r.recognised} == {"π/2", "π/4", "1/3"}
    assert check_result(r, "T").passed
    refused = robot(loads(urdf, "urdf"), recognise=False)
    assert refused.recognised == ()
    assert check_result(refused, "T").passed


def test_numbers_of_files_are_written_as_decimals_and_exact_roots():
    """Lengths as the file says them; the sine of 45° is a root, so that nothing stands with sixteen digits."""
    urdf = """<robot name="r"><link name="base"/>
    <link name="arm"><inertial><origin xyz="0.0171 0 0.00012" rpy="0 0 0"/><mass value="3.761"/>
      <inertia ixx="0.0089" iyy="0.0089" izz="0.0171364731454" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <link name="tip"/>
    <joint name="j1" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
      <origin xyz="0 0 0.089159" rpy="0 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    <joint name="j2" type="revolute"><parent link="arm"/><child link="tip"/><axis xyz="0 0 1"/>
      <origin xyz="0.425 0 0" rpy="0.785398163397 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
    </robot>"""
    r = robot(loads(urdf, "urdf"))
    assert texts(r, "A", 1)[2][3] == "0.089159"
    assert texts(r, "A", 2)[1][0] == "1/2 sqrt(2) S2"
    mass, x, izz = Fraction("3.761"), Fraction("0.0171"), Fraction("0.0171364731454")
    assert r.form("M")[0][0] == Number(izz + mass * x * x)
    for what in ("T", "J", "M", "C", "G"):
        assert check_result(r, what).passed


@pytest.mark.parametrize(
    ("number", "plain", "latex"),
    [
        (Fraction(1, 4), "1/4", r"\frac{1}{4}"),
        (Fraction(-89159, 10**6), "-0.089159", "-0.089159"),
        (Fraction(1, 3000), "0.0003333333333333333", "0.0003333333333333333"),
        (Fraction(25, 10**12), "2.5e-11", r"2.5 \cdot 10^{-11}"),
        (Fraction(123456), "123456", "123456"),
        (Fraction(17), "17", "17"),
    ],
)
def test_numbers_are_written_so_that_one_can_read_them(number, plain, latex):
    assert format_form(Number(number)) == plain
    assert format_form(Number(number), "latex") == latex
    assert float(plain.replace("1/4", "0.25")) == float(number)
    assert float(eval(format_form(Number(number), "python"))) == float(number)


def test_loops_and_quaternions_are_refused_by_name():
    with pytest.raises(ModelError, match="closed loops"):
        robot(example("four_bar"))
    ball = Model(
        bodies=(Body(name="b", mass=1.0),), joints=(Joint(name="ball", kind="spherical", parent="world", child="b"),)
    )
    with pytest.raises(ModelError, match="quaternion") as error:
        robot(ball)
    assert error.value.where == "joint 'ball'"
    with pytest.raises(ModelError, match="index 1.5 of .* is not an integer"):
        robot(example("two_link")).A(1.5)
    with pytest.raises(ModelError, match="outside 1"):
        robot(example("two_link")).A(3)


def test_formulas_that_are_no_polynomials_become_symbols_of_their_own():
    model = Model(
        parameters=(
            Parameter(name="m", value=2.0),
            Parameter(name="r", value="(m/1000)^(1/3)"),
            Parameter(name="l", value="1/m"),
        ),
        bodies=(Body(name="bob", mass="m", center_of_mass=("l", 0, 0), inertia=Inertia(izz="sqrt(m)*r")),),
        joints=(Joint(name="pin", parent="world", child="bob", axis=(0, 1, 0)),),
    )
    r = robot(model)
    assert {str(s) for s in r.values} == {"m", "l", "r", "g", "k_izz"}
    for what in ("M", "G"):
        assert check_result(r, what).passed
