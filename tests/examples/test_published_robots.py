"""The example machines reproduce published numbers (tests/reference, sources named there)."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Inertia
from resources import EXAMPLES

REFERENCE = Path(__file__).parents[1] / "reference"
ROBOTS = {
    "robot_puma560": ("puma560.kst", True),
    "robot_panda": ("panda.kst", True),
    "robot_ur5": ("ur5.kst", False),
    "robot_cobra600": ("scara.kst", False),
    "robot_stanford": ("stanford.rob", False),
}
"""Reference → (example, whether its inertial data are those of the reference too)."""

_mechanisms: dict[str, Mechanism] = {}


def mechanism(file: str) -> Mechanism:
    if file not in _mechanisms:
        _mechanisms[file] = Mechanism(load(EXAMPLES / file))
    return _mechanisms[file]


def configurations(dynamics: bool):
    for reference, (file, has_dynamics) in ROBOTS.items():
        if has_dynamics or not dynamics:
            data = json.loads((REFERENCE / f"{reference}.json").read_text())
            rates = data["parameters"]
            for name, expected in data["reference"]["configurations"].items():
                yield pytest.param(file, expected, rates["qd"], rates["qdd"], id=f"{reference}-{name}")


def close(actual, expected, rtol):
    """Equal to `rtol` relative to the largest entry."""
    expected = np.asarray(expected, dtype=float)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=rtol * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize(("file", "expected", "v", "a"), list(configurations(dynamics=False)))
def test_tool_pose_and_jacobian(file, expected, v, a):
    mech = mechanism(file)
    q = np.array(expected["q"])
    close(mech.frame(q, "tool"), expected["T"], 1e-9)
    jacobian = mech.jacobian(q, "tool")  # rows [ω; v]; the reference has [v; ω]
    close(np.vstack([jacobian[3:], jacobian[:3]]), expected["J0"], 1e-9)


@pytest.mark.parametrize(("file", "expected", "v", "a"), list(configurations(dynamics=True)))
def test_dynamics(file, expected, v, a):
    mech = mechanism(file)
    q, v, a = np.array(expected["q"]), np.array(v), np.array(a)
    close(mech.mass_matrix(q), expected["M"], 1e-9)
    close(mech.gravity(q), expected["G"], 1e-9)
    close(mech.inverse_dynamics(q, v, a, passive=False), expected["tau"], 1e-9)


def test_the_ur5_moves_its_published_masses():
    """Gravity as published; mass matrix and torques, too, without the moments of inertia, which the reference lacks."""
    model = load(EXAMPLES / "ur5.kst")
    (chain,) = model.chains
    rows = tuple(dataclasses.replace(row, inertia=Inertia()) for row in chain.rows)
    points = Mechanism(dataclasses.replace(model, chains=(dataclasses.replace(chain, rows=rows),)))
    data = json.loads((REFERENCE / "robot_ur5.json").read_text())
    v, a = np.array(data["parameters"]["qd"]), np.array(data["parameters"]["qdd"])
    for expected in data["reference"]["configurations"].values():
        q = np.array(expected["q"])
        close(mechanism("ur5.kst").gravity(q), expected["G"], 1e-9)
        close(points.mass_matrix(q), expected["M"], 1e-9)
        close(points.inverse_dynamics(q, v, a, passive=False), expected["tau"], 1e-9)
    for row in chain.rows:  # and what was added is what a solid body can have
        x, y, z = sorted((row.inertia.ixx, row.inertia.iyy, row.inertia.izz))
        assert 0.0 < z <= x + y


def test_stanford_links_hold_their_published_masses():
    data = json.loads((REFERENCE / "robot_stanford.json").read_text())["parameters"]["links"]
    rows = load(EXAMPLES / "stanford.rob").chains[0].rows
    assert [row.mass for row in rows] == [link["m"] for link in data]
    assert [row.inertia.ixx for row in rows] == [link["I"][0][0] for link in data]


def test_four_bar_follows_the_closed_form():
    data = json.loads((REFERENCE / "kin_fourbar_crank_rocker.json").read_text())
    column = data["reference"]["columns"].index
    mech = mechanism("four_bar.kst")
    scale = 0.1  # the example is a tenth of the reference's size
    origin = mech.frame(mech.rest(), "ground")
    q = mech.rest()
    start = min(range(len(rows := data["reference"]["rows"])), key=lambda i: abs(rows[i][column("theta2")] - np.pi / 3))
    for row in rows[start:] + rows[:start]:
        q = mech.move(q, {"crank_pin": row[column("theta2")]})
        end = np.linalg.inv(origin) @ mech.frame(q, "coupler") @ [scale * data["parameters"]["b"], 0, 0, 1]
        close(end[[0, 2]], [scale * row[column("Bx")], scale * row[column("By")]], 1e-9)


def test_slider_crank_follows_the_closed_form():
    data = json.loads((REFERENCE / "kin_slider_crank_inline.json").read_text())
    column = data["reference"]["columns"].index
    mech = mechanism("slider_crank.kst")
    origin = np.linalg.inv(mech.frame(mech.rest(), "block"))
    q = mech.rest()
    rows = data["reference"]["rows"]
    for row in rows[12:] + rows[:12]:  # from the rest pose, 60°, once round
        q = mech.move(q, {"shaft": row[column("theta")]})
        piston = origin @ mech.frame(q, "piston")
        close(piston[:3, 3], [row[column("x")], 0.0, 0.0], 1e-9)
