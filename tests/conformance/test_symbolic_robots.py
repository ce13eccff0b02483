"""Robots in symbols give the published numbers once values are put in: kinematics, Jacobian, M, C, G, torques."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import sympy

from core.model import DHChain, DHRow, Gravity, Inertia, Model, Parameter, Pose, World
from core.symbolic import robot
from core.symbolic.export import export
from core.symbolic.proof import evaluate_forms

REFERENCE = Path(__file__).parents[1] / "reference"
SYMBOLS = {"puma560": "all", "stanford": "all", "twolink": "all", "panda": "none", "ur5": "all", "cobra600": "all"}
"""Which numbers of a reference become symbols."""


def reference(name):
    return json.loads((REFERENCE / f"robot_{name}.json").read_text())


def row(link):
    I = link["I"]
    return DHRow(
        kind="prismatic" if link["sigma"] else "revolute",
        a=link["a"],
        alpha=link["alpha"],
        d=link["offset"] if link["sigma"] else link["d"],
        theta=link["theta"] if link["sigma"] else link["offset"],
        mass=link["m"],
        center_of_mass=tuple(link["r"]),
        armature=link["G"] ** 2 * link["Jm"],
        inertia=Inertia(ixx=I[0][0], iyy=I[1][1], izz=I[2][2], ixy=I[0][1], ixz=I[0][2], iyz=I[1][2]),
    )


def about(X):
    """A pose whose rotation is one about x or about z, as all of these bases and tools are."""
    turn = (math.atan2(X[2][1], X[2][2]), 0.0, math.atan2(X[1][0], X[0][0]))
    return Pose(position=(X[0][3], X[1][3], X[2][3]), rotation=turn)


def model(name):
    data = reference(name)["parameters"]
    chain = DHChain(
        name=name,
        convention=data["convention"],
        rows=tuple(map(row, data["links"])),
        base=about(data["base"]),
        tool=about(data["tool"]),
    )
    return Model(name=name, world=World(gravity=Gravity(acceleration=tuple(data["gravity"]))), chains=(chain,))


@pytest.fixture(scope="module", params=SYMBOLS)
def arm(request):
    made = robot(model(request.param), tip="tool", symbols=SYMBOLS[request.param])
    return request.param, made, reference(request.param)


def state(made, data, pose):
    """Values of all symbols in a pose of a reference, with its speeds and accelerations."""
    known = {str(symbol): value for symbol, value in made.values.items()}
    names = ((v.symbol for v in made.chain.variables), made.chain.rates, made.chain.accelerations)
    rates = data["parameters"]
    for group, numbers_of in zip(names, (pose["q"], rates["qd"], rates["qdd"]), strict=True):
        known |= dict(zip(group, numbers_of, strict=True))
    return known | {"sqrt(2)": math.sqrt(2), "sqrt(3)": math.sqrt(3)}


def close(ours, theirs, relative):
    theirs = np.asarray(theirs, dtype=float)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=relative * max(1.0, np.abs(theirs).max()))


def test_pose_and_jacobian_of_the_tool(arm):
    _, made, data = arm
    base, tool = (np.array(data["parameters"][which]) for which in ("base", "tool"))
    for pose in data["reference"]["configurations"].values():
        values = state(made, data, pose)
        close(base @ evaluate_forms(made.form("T", 0, made.n), values) @ tool, pose["T"], 1e-9)
        turn = np.kron(np.eye(2), base[:3, :3])
        close(turn @ evaluate_forms(made.form("J"), values), pose["J0"], 1e-9)


def test_inertia_coriolis_gravity_and_torques(arm):
    _, made, data = arm
    for pose in data["reference"]["configurations"].values():
        if "M" not in pose:
            continue
        values = state(made, data, pose)
        for what in ("M", "C"):
            close(evaluate_forms(made.form(what), values), pose[what], 1e-9)
        for what in ("G", "tau"):
            close(evaluate_forms(made.form(what), values)[:, 0], pose[what], 1e-9)
        assert evaluate_forms(made.form("K"), values)[0, 0] == pytest.approx(pose["kinetic_energy"], rel=1e-9)


def test_printed_numbers_of_the_puma():
    """Gravity load and torques without speed as the Robotics Toolbox prints them in the pose qn."""
    made, data = robot(model("puma560"), symbols="all"), reference("puma560")
    published = data["reference"]["published"]
    still = state(made, data, {"q": published["qn"]}) | dict.fromkeys(made.chain.rates, 0.0)
    close(evaluate_forms(made.form("G"), still)[:, 0], published["gravload_qn"], 1e-4 / 31.0)
    moving = still | dict.fromkeys(made.chain.accelerations, 1.0)
    close(evaluate_forms(made.form("tau"), moving)[:, 0], published["rne_qn_qd0_qdd1"], 1e-4 / 36.0)


def test_mass_rate_minus_twice_coriolis_is_skew_in_exact_polynomials(arm):
    made = arm[1]
    chain = made.chain
    for i in range(made.n):
        for j in range(i + 1):
            rate = sum(
                (chain.by(chain.mass_matrix[i][j], k) * chain.ring.symbol(chain.rates[k]) for k in range(made.n)), 0.0
            )
            assert rate - chain.coriolis_matrix[i][j] - chain.coriolis_matrix[j][i] == 0.0


def two_link():
    names = ("a1", "a2", "g", "m1", "m2", "I1", "I2")
    rows = tuple(
        DHRow(a=f"a{i}", mass=f"m{i}", center_of_mass=(f"-a{i}/2", 0, 0), inertia=Inertia(izz=f"I{i}")) for i in (1, 2)
    )
    return robot(
        Model(
            parameters=tuple(Parameter(name=n, value=1.0) for n in names),
            name="Two links",
            world=World(gravity=Gravity(acceleration=(0, "-g", 0))),
            chains=(DHChain(name="arm", rows=rows),),
        )
    )


PRINTED = {
    "M": "M[[1,1]] = I1 + I2 + 1/4 a1^2 m1 + a1^2 m2 + 1/4 a2^2 m2 + a1 a2 m2 C2\n"
    "M[[2,1]] = I2 + 1/4 a2^2 m2 + 1/2 a1 a2 m2 C2\n"
    "M[[1,2]] = I2 + 1/4 a2^2 m2 + 1/2 a1 a2 m2 C2\n"
    "M[[2,2]] = I2 + 1/4 a2^2 m2\n",
    "C": "CM[[1,1]] = -1/2 a1 a2 m2 Dq2 S2\n"
    "CM[[2,1]] = 1/2 a1 a2 m2 Dq1 S2\n"
    "CM[[1,2]] = -1/2 a1 a2 m2 Dq1 S2 - 1/2 a1 a2 m2 Dq2 S2\n"
    "CM[[2,2]] = 0\n",
    "G": "G[[1]] = 1/2 a1 g m1 C1 + a1 g m2 C1 + 1/2 a2 g m2 C12\nG[[2]] = 1/2 a2 g m2 C12\n",
}
"""The two-link arm of Robotica's manual, term by term."""


@pytest.mark.parametrize("what", PRINTED)
def test_two_link_arm_entry_by_entry_as_the_manual_prints_it(what):
    label = "CM" if what == "C" else what
    assert export(two_link(), what, language="elements", label=label, notes=False) == PRINTED[what]


def test_two_link_torques_are_the_textbooks():
    """Spong and Vidyasagar, Robot Dynamics and Control, section 6.4, with centres at half length."""
    made = two_link()
    q1, q2, v1, v2, w1, w2 = sympy.symbols("q1 q2 Dq1 Dq2 DDq1 DDq2", real=True)
    a1, a2, m1, m2, I1, I2, g = (made.symbol(n) for n in ("a1", "a2", "m1", "m2", "I1", "I2", "g"))
    h = -m2 * a1 * a2 / 2 * sympy.sin(q2)
    d11 = m1 * a1**2 / 4 + m2 * (a1**2 + a2**2 / 4 + a1 * a2 * sympy.cos(q2)) + I1 + I2
    d12 = m2 * (a2**2 / 4 + a1 * a2 / 2 * sympy.cos(q2)) + I2
    d22 = m2 * a2**2 / 4 + I2
    g2 = m2 * a2 / 2 * g * sympy.cos(q1 + q2)
    g1 = (m1 / 2 + m2) * a1 * g * sympy.cos(q1) + g2
    textbook = (d11 * w1 + d12 * w2 + 2 * h * v1 * v2 + h * v2**2 + g1, d12 * w1 + d22 * w2 - h * v1**2 + g2)
    for ours, theirs in zip(made.tau, textbook, strict=True):
        assert sympy.expand(ours - theirs) == 0


def test_acrobot_is_its_closed_form():
    """The published closed form counts its angle from hanging; lengths and centres of mass are apart."""
    data = json.loads((REFERENCE / "acrobot_closed_form.json").read_text())
    p = {name: float(x) for name, x in data["parameters"].items()}
    rows = tuple(
        DHRow(
            a=f"l{i}",
            mass=f"m{i}",
            center_of_mass=(f"lc{i} - l{i}", 0, 0),
            inertia=Inertia(izz=f"Ic{i}"),
            theta="-pi/2" if i == 1 else 0.0,
        )
        for i in (1, 2)
    )
    made = robot(
        Model(
            parameters=tuple(Parameter(name=n, value=x) for n, x in p.items() if n != "b"),
            world=World(gravity=Gravity(acceleration=(0, "-g", 0))),
            chains=(DHChain(name="arm", rows=rows),),
        )
    )
    for sample in data["reference"]["states"]:
        values = {str(s): x for s, x in made.values.items()} | dict(zip(("q1", "q2"), sample["q"], strict=True))
        values |= dict(zip(("Dq1", "Dq2"), sample["qd"], strict=True))
        np.testing.assert_allclose(evaluate_forms(made.form("M"), values), sample["M"], atol=1e-12)
        np.testing.assert_allclose(
            evaluate_forms(made.form("C"), values) @ sample["qd"], sample["C_vector"], atol=1e-12
        )
        np.testing.assert_allclose(evaluate_forms(made.form("G"), values)[:, 0], sample["G"], atol=1e-12)
