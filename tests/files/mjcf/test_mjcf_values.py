"""Values that MuJoCo refuses: each is a finding with its line. MuJoCo itself is the second opinion where it is
installed; what it accepts is no finding."""

import numpy as np
import pytest

from core.files import read
from core.mechanism import Mechanism

FRAME = """<mujoco><option{option}><flag contact="disable"/></option>
<asset>{asset}</asset>
<worldbody><site name="w" pos="0 0 1"/>{world}
<body name="b"><joint name="j"/><geom name="g" size=".1"/><site name="s" pos=".1 0 0"/></body>
<body name="c" pos="1 0 0"><joint name="ball" type="ball"/><geom name="x" type="box" size=".1 .1 .1"/></body>
</worldbody>
<tendon>{tendon}</tendon>
<equality>{equality}</equality>
</mujoco>"""
LINES = {"option": 1, "asset": 2, "world": 3, "tendon": 7, "equality": 8}
PARTS = dict.fromkeys(LINES, "")
MOVING = '<body name="m"><joint/>{}</body>'
REFUSED = {
    "moving body of nothing": ("world", MOVING.format(""), "no mass"),
    "moving body without weight": ("world", MOVING.format('<geom size=".1" mass="0"/>'), "no mass"),
    "moving body of no density": ("world", MOVING.format('<geom size=".1" density="0"/>'), "no mass"),
    "moving body without moments": ("world", MOVING.format('<inertial pos="0 0 0" mass="1"/>'), "no moment"),
    "negative mass": ("world", MOVING.format('<geom size=".1" mass="-1"/><geom size=".1"/>'), "'mass'"),
    "negative density": ("world", MOVING.format('<geom size=".1" density="-1"/><geom size=".1"/>'), "'density'"),
    "moments of no body": ("world", MOVING.format('<inertial pos="0 0 0" mass="1" diaginertia="1 1 3"/>'), "moment"),
    "size of zero": ("world", '<geom type="box" size=".1 .1 0"/>', "size"),
    "ends in one point": ("world", '<geom type="capsule" size=".1" fromto="0 0 1 0 0 1"/>', "fromto"),
    "ends of a sphere": ("world", '<geom size=".1" fromto="0 0 1 0 0 2"/>', "fromto"),
    "too many sizes": ("world", '<geom size=".1 .1 .1 .1"/>', "size"),
    "direction of length zero": ("world", '<body zaxis="0 0 0"/>', "zaxis"),
    "parallel axes": ("world", '<body xyaxes="1 0 0 2 0 0"/>', "xyaxes"),
    "mocap with a joint": ("world", '<body mocap="true"><joint/><geom size=".1"/></body>', "mocap"),
    "rotation after a ball": ("world", '<body><joint type="ball"/><joint/><geom size=".1"/></body>', "ball"),
    "half of springdamper": ("world", '<body><joint springdamper="1 0"/><geom size=".1"/></body>', "springdamper"),
    "mesh of three points": ("asset", '<mesh name="t" vertex="0 0 0 1 0 0 0 1 0"/>', "vertex"),
    "face that counts down": ("asset", '<mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 -1"/>', "face"),
    "path of one site": ("tendon", '<spatial stiffness="1"><site site="w"/></spatial>', "path"),
    "path of nothing": ("tendon", "<fixed/>", "path"),
    "pulley at the end": (
        "tendon",
        '<spatial><site site="w"/><site site="s"/><pulley divisor="2"/></spatial>',
        "pulley",
    ),
    "lone site": ("tendon", '<spatial><site site="w"/><pulley divisor="2"/><site site="s"/></spatial>', "site"),
    "divisor of zero": (
        "tendon",
        '<spatial><site site="w"/><site site="s"/><pulley divisor="0"/><site site="w"/><site site="s"/></spatial>',
        "divisor",
    ),
    "around a box": ("tendon", '<spatial><site site="w"/><geom geom="x"/><site site="s"/></spatial>', "wraps"),
    "over a ball joint": ("tendon", '<fixed><joint joint="ball" coef="1"/></fixed>', "joint"),
    "lengths upside down": (
        "tendon",
        '<spatial springlength="2 1"><site site="w"/><site site="s"/></spatial>',
        "springlength",
    ),
    "coupling of a ball": ("equality", '<joint joint1="ball"/>', "joint1"),
    "integrator of no name": ("option", ' integrator="euler"', "integrator"),
    "two steps": ("option", ' timestep="1 2"', "timestep"),
}
ACCEPTED = {
    "mass of a welded body": ("world", MOVING.format('<body><geom size=".1"/></body>')),
    "massless geom next to another": ("world", MOVING.format('<geom size=".1" mass="0"/><geom size=".1"/>')),
    "inertial instead of a negative mass": (
        "world",
        MOVING.format('<geom size=".1" mass="-1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>'),
    ),
    "flat body": ("world", MOVING.format('<inertial pos="0 0 0" mass="1" diaginertia="1 1 2"/>')),
    "path with two parts": (
        "tendon",
        '<spatial><site site="w"/><site site="s"/><pulley divisor="2"/><site site="w"/><site site="s"/></spatial>',
    ),
    "around a sphere": ("tendon", '<spatial><site site="w"/><geom geom="g"/><site site="s"/></spatial>'),
    "ball last": ("world", '<body><joint/><joint type="ball"/><geom size=".1"/></body>'),
    "springdamper of zeros": ("world", '<body><joint springdamper="0 0"/><geom size=".1"/></body>'),
}


def warnings_of(folder, part, text):
    content = FRAME.format(**{**PARTS, part: text})
    (folder / "robot.xml").write_text(content, encoding="utf-8")
    return content, [each for each in read(folder / "robot.xml").findings if each.severity == "warning"]


@pytest.mark.parametrize(("part", "text", "named"), REFUSED.values(), ids=REFUSED)
def test_a_value_that_mujoco_refuses_is_a_finding(tmp_path, part, text, named):
    content, warnings = warnings_of(tmp_path, part, text)
    said = [each for each in warnings if named in each.text]
    assert said
    assert said[0].remedy
    assert said[0].line == LINES[part]
    mujoco = pytest.importorskip("mujoco")
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(content)


@pytest.mark.parametrize(("part", "text"), ACCEPTED.values(), ids=ACCEPTED)
def test_what_mujoco_accepts_is_none(tmp_path, part, text):
    content, warnings = warnings_of(tmp_path, part, text)
    assert not [each.text for each in warnings if "MuJoCo refuses" in each.text]
    pytest.importorskip("mujoco").MjModel.from_xml_string(content)


def test_an_empty_mass_is_that_of_the_density(tmp_path):
    (tmp_path / "robot.xml").write_text(
        '<mujoco><worldbody><body><joint type="slide"/><geom type="box" size=".5 .5 .5" mass=""/></body></worldbody>'
        "</mujoco>",
        encoding="utf-8",
    )
    mech = Mechanism(read(tmp_path / "robot.xml").model)
    assert np.allclose(mech.mass_matrix(mech.rest()), 1000.0, rtol=1e-12)  # 1 m³ of the usual 1000 kg/m³
