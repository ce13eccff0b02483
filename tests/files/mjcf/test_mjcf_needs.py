"""What MuJoCo refuses in elements that are not read here: incomplete, repeated, or numbers that are none. Each is a
finding with its line; MuJoCo itself is the second opinion where it is installed."""

import pytest

from core.files import read

FRAME = """<mujoco>{0}<worldbody><body name="b"><joint name="j"/><geom size=".1"/><site name="s"{2}/></body></worldbody>
{1}</mujoco>"""
REFUSED = {
    "hfield without size": ('<asset><hfield name="h" nrow="2" ncol="2"/></asset>', "", "size"),
    "hfield without rows": ('<asset><hfield name="h" size="1 1 1 1"/></asset>', "", "file"),
    "texture of nothing": ('<asset><texture name="t" type="2d"/></asset>', "", "file"),
    "texture without height": ('<asset><texture name="t" type="2d" builtin="flat" width="8"/></asset>', "", "height"),
    "mesh of nothing": ('<asset><mesh name="m"/></asset>', "", "file"),
    "material without name": ("<asset><material/></asset>", "", "name"),
    "adhesion without body": ("", '<actuator><adhesion ctrlrange="0 1"/></actuator>', "body"),
    "adhesion without range": ("", '<actuator><adhesion body="b"/></actuator>', "ctrlrange"),
    "motor of nothing": ("", "<actuator><motor/></actuator>", "joint"),
    "numeric of nothing": ("", '<custom><numeric name="n"/></custom>', "data"),
    "text of nothing": ("", '<custom><text name="n"/></custom>', "data"),
    "sensor of no kind": ("", '<sensor><framepos objname="s"/></sensor>', "objtype"),
    "sensor of an unknown kind": ("", '<sensor><framepos objtype="qq" objname="s"/></sensor>', "objtype"),
    "gain that is a word": ("", '<actuator><position joint="j" kp="qqq"/></actuator>', "kp"),
    "unused default that is a word": ('<default><default class="x"><site size="a"/></default></default>', "", "size"),
    "count of a setting": ('<option ls_iterations="2.5"/>', "", "ls_iterations"),
    "colour of a picture": ('<visual><rgba haze="1 1 1"/></visual>', "", "haze"),
    "misspelt part of a picture": ('<visual><quality shadowsise="1"/></visual>', "", "shadowsise"),
    "truth of a setting": ('<compiler fusestatic="yes"/>', "", "fusestatic"),
    "setting of a camera": ('<default><camera mode="qqq"/></default>', "", "mode"),
    "direction of two numbers": ('<option wind="1 2"/>', "", "wind"),
    "range of one number": ("", '<actuator><motor joint="j" forcerange="1"/></actuator>', "forcerange"),
    "gear of seven numbers": ("", '<actuator><motor joint="j" gear="1 1 1 1 1 1 1"/></actuator>', "gear"),
    "option twice": ("<option><flag/><flag/></option>", "", "twice"),
    "default twice": ("<default><motor/><motor/></default>", "", "twice"),
    "class twice": ('<default><default class="x"/><default class="x"/></default>', "", "twice"),
}
COMPLETE = (
    ('<asset><hfield name="h" nrow="2" ncol="2" size="1 1 1 .1"/></asset>', ""),
    ('<asset><texture name="t" type="2d" builtin="flat" width="8" height="8"/></asset>', ""),
    ('<asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/></asset>', ""),
    ('<default><adhesion ctrlrange="0 1"/></default>', '<actuator><adhesion body="b"/></actuator>'),
    ("", '<actuator><motor site="s" gear="1 0 0 0 0 0"/></actuator>'),
    (
        '<option ls_iterations="7" wind="1 2 3"><flag energy="enable"/></option><visual><global fovy="3"/>'
        '<headlight active="1"/><scale com="1"/><rgba com="1 1 1 1"/></visual>'
        '<default><geom friction="1 1" solref=".1 1"/><site size="1 1 1"/><tendon stiffness="1"/></default>',
        '<sensor><jointpos joint="j" noise="1"/></sensor><keyframe><key qpos="1" time="2"/></keyframe>',
    ),
    ("", '<custom><numeric name="n" size="2"/><text name="t" data="x"/></custom><sensor><user dim="1"/></sensor>'),
    ("", '<sensor><framepos objtype="site" objname="s"/></sensor>'),
)


def warnings_of(folder, text):
    (folder / "robot.xml").write_text(text, encoding="utf-8")
    return [each for each in read(folder / "robot.xml").findings if each.severity == "warning"]


def compiled(text):
    mujoco = pytest.importorskip("mujoco")
    return mujoco.MjModel.from_xml_string(text)


def usual(folder):
    return {each.text for each in warnings_of(folder, FRAME.format("", "", ""))}


@pytest.mark.parametrize(("before", "behind", "named"), REFUSED.values(), ids=REFUSED)
def test_what_mujoco_refuses_is_a_finding(tmp_path, before, behind, named):
    text = FRAME.format(before, behind, "")
    said = [each for each in warnings_of(tmp_path, text) if each.text not in usual(tmp_path) and named in each.text]
    assert said
    assert said[0].line == (1 if before else 2)
    with pytest.raises(ValueError, match="Error"):
        compiled(text)


@pytest.mark.parametrize("site", [' type="qqq"', ' size="1 qqq"'])
def test_values_that_nothing_reads_are_checked(tmp_path, site):
    text = FRAME.format("", "", site)
    assert [each for each in warnings_of(tmp_path, text) if "qqq" in each.text]
    with pytest.raises(ValueError, match="Error"):
        compiled(text)


@pytest.mark.parametrize(("before", "behind"), COMPLETE)
def test_what_is_complete_is_none(tmp_path, before, behind):
    text = FRAME.format(before, behind, "")
    refused = ("not complete", "twice", "not a number", "numbers", "whole", "true nor", "not a valid value", "has no '")
    assert not [each.text for each in warnings_of(tmp_path, text) if any(word in each.text for word in refused)]
    compiled(text)
