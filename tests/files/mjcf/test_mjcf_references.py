"""References of MJCF files: MuJoCo is the judge over a file in which each reference in turn names nothing."""

from __future__ import annotations

import pytest
from lxml import etree

from core.errors import FileError
from core.files import read

mujoco = pytest.importorskip("mujoco")
WORDS = {"texture", "material", "target", "hfield", "mesh", "site", "geom", "sidesite", "joint", "geom1", "geom2"}
WORDS |= {"body1", "body2", "site1", "site2", "joint1", "joint2", "tendon1", "tendon2", "tendon", "refsite", "body"}
WORDS |= {"jointinparent", "cranksite", "slidersite", "actuator", "objname", "refname", "camera"}
SIZES = ("qpos", "qvel", "ctrl", "mpos", "mquat")
MACHINE = """<mujoco>
<asset><texture name="t" type="2d" builtin="checker" width="4" height="4"/><material name="m" texture="t"/>
<mesh name="h" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><hfield name="f" nrow="3" ncol="3" size="1 1 1 1"/></asset>
<worldbody><light target="b" mode="targetbody" pos="0 0 5"/>
<camera name="k" mode="targetbody" target="b" pos="1 0 1"/>
<geom name="floor" type="hfield" hfield="f"/><site name="w"/>
<body name="b"><joint name="j"/><geom name="g" size="0.1" mass="1" material="m"/><site name="s" material="m"/>
<body name="c" pos="1 0 0"><joint name="j2"/><geom name="g2" type="mesh" mesh="h" mass="1"/><site name="s2"/></body>
</body>
<body name="mo" mocap="true"/></worldbody>
<tendon><spatial name="sp" material="m"><site site="w"/><geom geom="g" sidesite="w"/><site site="s2"/></spatial>
<fixed name="fx"><joint joint="j" coef="1"/></fixed><fixed name="fy"><joint joint="j2" coef="1"/></fixed></tendon>
<contact><pair geom1="g" geom2="g2"/><exclude body1="b" body2="c"/></contact>
<equality><connect body1="b" body2="c" anchor="0 0 0"/><weld body1="b" body2="c"/><weld site1="s" site2="s2"/>
<joint joint1="j" joint2="j2"/><tendon tendon1="fx" tendon2="fy"/></equality>
<actuator><motor name="a" joint="j"/><position name="p" tendon="fx"/><motor name="a2" site="s" refsite="w"/>
<motor jointinparent="j2"/><general cranksite="s" slidersite="w" cranklength="1"/>
<adhesion body="b" ctrlrange="0 1"/></actuator>
<sensor><touch site="s"/><jointpos joint="j"/><tendonpos tendon="fx"/><actuatorfrc actuator="a"/>
<framepos objtype="body" objname="b" reftype="site" refname="s"/><framequat objtype="xbody" objname="b"/>
<subtreecom body="b"/><distance geom1="g" geom2="g2"/><distance body1="b" body2="c"/>
<camprojection site="s" camera="k"/><rangefinder site="s"/></sensor>
<keyframe><key qpos="0 0" qvel="0 0" ctrl="0 0 0 0 0 0" mpos="0 0 0" mquat="1 0 0 0"/></keyframe>
<custom><tuple name="u"><element objtype="body" objname="b" prm="0"/></tuple></custom>
</mujoco>"""


def told(path, text):
    """What the reader notes, or the message with which it refuses the file."""
    path.write_text(text)
    try:
        return [each.text for each in read(path).findings if "MuJoCo refuses" in each.text and each.line]
    except FileError as error:
        return [error.what]


def findings(path, text):
    """The warnings that have a line."""
    path.write_text(text)
    return [each for each in read(path).findings if each.severity == "warning" and each.line]


def test_each_reference_to_nothing_and_each_wrong_size_is_noted_once(tmp_path):
    root = etree.fromstring(MACHINE)
    mujoco.MjModel.from_xml_string(MACHINE)
    assert told(tmp_path / "m.xml", MACHINE) == []
    tried = 0
    for tag in root.iter():
        for word, given in tag.attrib.items():
            if word not in WORDS and word not in SIZES:
                continue
            tag.set(word, f"{given} 0" if word in SIZES else "nonsense")
            text = etree.tostring(root).decode()
            tag.set(word, given)
            with pytest.raises(ValueError, match=r"Error|error|size"):
                mujoco.MjModel.from_xml_string(text)
            assert len(told(tmp_path / "m.xml", text)) == 1, (tag.tag, word)
            tried += 1
    assert tried > 50


def test_a_misspelt_reference_has_its_near_miss(tmp_path):
    (tmp_path / "m.xml").write_text(MACHINE.replace('<jointpos joint="j"', '<jointpos joint="jj"'))
    (found,) = [each for each in read(tmp_path / "m.xml").findings if "'jj'" in each.text]
    assert "j" in found.remedy


def test_meshes_without_a_name_are_called_as_their_files(tmp_path):
    text = MACHINE.replace('mesh="h"', 'mesh="part"').replace('<mesh name="h" vertex', '<mesh file="a/part.stl" vertex')
    assert not any("There is no mesh" in each for each in told(tmp_path / "m.xml", text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<joint joint="j" coef="1"/></fixed>', "</fixed>"),
        ('<joint joint="j" coef="1"/>', '<joint joint="j" coef="1"/>' * 2),
        ('<site site="s2"/></spatial>', '<site site="s2"/><site site="s2"/></spatial>'),
        ('<jointpos joint="j"/>', "<jointpos/>"),
        ('<subtreecom body="b"/>', "<subtreecom/>"),
        ('type="2d"', 'type="3d"'),
        ('qvel="0 0"', 'qvel="0 0m"'),
    ],
)
def test_what_mujoco_refuses_of_paths_sensors_and_textures_is_a_warning(tmp_path, old, new):
    text = MACHINE.replace(old, new)
    with pytest.raises(ValueError, match=r"Error|error"):
        mujoco.MjModel.from_xml_string(text)

    before = len(findings(tmp_path / "m.xml", MACHINE))
    assert len(findings(tmp_path / "m.xml", text)) > before


OTHER = """<mujoco>
{0}
<worldbody><body name="b"><joint name="j"/>
<geom name="g" size=".1"{3}/><site name="s"/>
{1}</body></worldbody>
{2}</mujoco>"""
FLEX = '<deformable><flex name="f" dim="1" body="b {0}"{1} vertex="0 0 0 0 0 0" element="0 1"/></deformable>'
SECOND = '<body name="b2" pos="1 0 0"><joint/><geom size=".1"/></body>'
SKIN = """<deformable><skin name="k" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"{1}><bone body="{0}" bindpos="0 0 0"
bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable>"""
TUPLE = '<custom><tuple name="u"><element objtype="{0}" objname="{1}" prm="0"/></tuple></custom>'
TO_NOTHING = {
    "class of a pair": ("", SECOND, '<contact><pair geom1="g" geom2="g" class="zz"/></contact>', ""),
    "material of a flex": ("", SECOND, FLEX.format("b2", ' material="zz"'), ""),
    "body of a flex": ("", SECOND, FLEX.format("zz", ""), ""),
    "flex of a constraint": ("", "", '<equality><flex flex="zz"/></equality>', ""),
    "bone of a skin": ("", "", SKIN.format("zz", ""), ""),
    "material of a skin": ("", "", SKIN.format("b", ' material="zz"'), ""),
    "material next to a skin": ("", "", SKIN.format("b", ""), ' material="zz"'),
    "material of a default": ('<default><geom material="zz"/></default>', "", "", ""),
    "material of a flexcomp": ("", '<flexcomp name="F" type="grid" count="3 3 1" material="zz"/>', "", ""),
    "key of a tuple": ("", "", TUPLE.format("key", "zz"), ""),
    "material of a mesh that is shown": (
        '<asset><mesh name="h" material="zz" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>',
        '<geom type="mesh" mesh="h"/>',
        "",
        "",
    ),
    "sensor twice": ("", "", '<sensor><clock name="zz"/><clock name="zz"/></sensor>', ""),
    "text twice": ("", "", '<custom><text name="zz" data="1"/><text name="zz" data="1"/></custom>', ""),
    "frame twice": ("", '<frame name="zz"/><frame name="zz"/>', "", ""),
}
TO_SOMETHING = (
    ('<asset><material name="m"/></asset>', "", TUPLE.format("material", "m"), ""),
    ('<asset><mesh name="h" material="zz" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>', "", "", ""),
    ('<default><default class="x"><geom material="zz"/></default></default>', "", "", ""),
    ("", SECOND, FLEX.format("b2", ""), ""),
    ("", "", SKIN.format("b", ""), ""),
    ("", "", '<custom><numeric name="x" data="1"/><text name="x" data="1"/></custom>', ""),
)


@pytest.mark.parametrize("given", TO_NOTHING.values(), ids=TO_NOTHING)
def test_references_of_what_is_not_read_and_names_used_twice_are_noted(tmp_path, given):
    text = OTHER.format(*given)
    with pytest.raises(ValueError, match="Error"):
        mujoco.MjModel.from_xml_string(text)
    said = [each for each in findings(tmp_path / "m.xml", text) if "'zz'" in each.text]
    assert len(said) == 1


@pytest.mark.parametrize("given", TO_SOMETHING)
def test_references_that_mujoco_accepts_are_not_noted(tmp_path, given):
    text = OTHER.format(*given)
    mujoco.MjModel.from_xml_string(text)
    said = [each.text for each in findings(tmp_path / "m.xml", text)]
    assert not [each for each in said if "There is no" in each or "valid" in each or "twice" in each]
