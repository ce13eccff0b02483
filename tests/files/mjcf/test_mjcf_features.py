"""Each feature of MJCF gives MuJoCo's numbers; forces of a fluid may be left out where a warning says so."""

from __future__ import annotations

import pytest

from tests.files.mjcf.mujoco_comparison import compared

BALL = '<geom size="0.1" pos="0.5 0.1 0" mass="1"/>'
HINGE = '<joint name="j" axis="0 1 0"/>'
CORNER = (
    [(0, 0), (1, 0), (1, 0.3), (0.3, 0.3), (0.3, 1), (0, 1)],
    [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)],
)
"""Outline and triangles of a plate in the form of an L, which is not convex."""


def plate(height: float = 0.2) -> str:
    """The L as an OBJ file."""
    outline, triangles = CORNER
    count = len(outline)
    faces = []
    for a, b, c in triangles:
        faces += [(a, c, b), (a + count, b + count, c + count)]
    for i in range(count):
        k = (i + 1) % count
        faces += [(i, k, k + count), (i, k + count, i + count)]
    points = [f"v {x} {y} {z}" for z in (0, height) for x, y in outline]
    return "\n".join([*points, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in faces)]) + "\n"


def body(inner: str, *, before: str = "", after: str = "", attributes: str = "") -> str:
    """A machine of one body."""
    world = f'<worldbody><body name="b" {attributes}>{inner}</body></worldbody>'
    return f"<mujoco>{before}{world}{after}</mujoco>"


def mesh(attributes: str = "", geom: str = "mesh") -> str:
    """A body with the mass of a mesh."""
    asset = f'<asset><mesh name="m" file="plate.obj" {attributes}/></asset>'
    return body(f'{HINGE}<geom type="{geom}" mesh="m"/>', before=asset)


def hinge(attributes: str, before: str = "") -> str:
    """A body on a hinge with some attributes."""
    return body(f'<joint axis="0 1 0" {attributes}/>{BALL}', before=before)


CORD = """<mujoco><worldbody><site name="w" pos="0 0 1"/><body name="b" pos="1 0 0"><joint name="j" axis="0 1 0"
 springref="40" stiffness="2"/><geom size="0.1" pos="0.5 0.1 0" mass="1"/><site name="s" pos="0.3 0.2 0.1"/><body><joint
 name="k" type="slide" axis="1 0 1"/><geom size="0.1" mass="2"/><site name="u" pos="0.3 0 0"/></body></body></worldbody>
 <tendon><spatial {attributes}><site site="w"/><site site="u"/></spatial></tendon></mujoco>"""
PULLEY = CORD.replace(
    '<site site="u"/>', '<site site="s"/><pulley divisor="2"/><site site="s"/><site site="u"/><site site="w"/>'
)


CASES = {
    "stiffness, damping, armature of a ball joint": body(
        f'<joint type="ball" stiffness="9" damping="2" armature="0.3"/>{BALL}'
    ),
    "ref and springref": hinge('ref="10" springref="30" stiffness="4"'),
    "mass of a mesh, inertia=exact": mesh('inertia="exact"'),
    "ellipsoid": body(f'{HINGE}<geom type="ellipsoid" size="0.1 0.2 0.3"/>'),
    "weld to a mocap body": '<mujoco><worldbody><body name="b" mocap="true"><geom size="0.1"/></body><body name="c">'
    '<freejoint/><geom size="0.1"/></body></worldbody><equality><weld body1="b" body2="c"/></equality></mujoco>',
    "armature of a free joint, from the default class": body(
        f'<joint type="free"/>{BALL}', before='<default><joint armature="0.1"/></default>'
    ),
    "damping of a free joint": body(f'<joint type="free" damping="2"/>{BALL}'),
    "stiffness of a free joint": body(f'<joint type="free" stiffness="9"/>{BALL}'),
    "compensated gravity": body(HINGE + BALL, attributes='gravcomp="1"'),
    "springdamper": hinge('springdamper="0.2 1"'),
    "polynomial stiffness": hinge('stiffness="3 4"'),
    "springs and dampers switched off": hinge(
        'stiffness="3" damping="2"', before='<option><flag spring="disable" damper="disable"/></option>'
    ),
    "armature of a fixed tendon": body(
        HINGE + BALL, after='<tendon><fixed armature="0.2"><joint joint="j" coef="1"/></fixed></tendon>'
    ),
    "spring of a fixed tendon": body(
        HINGE + BALL, after='<tendon><fixed stiffness="30"><joint joint="j" coef="1"/></fixed></tendon>'
    ),
    "armature of an actuator": body(
        HINGE + BALL, after='<actuator><position joint="j" kp="50" armature="0.3"/></actuator>'
    ),
    "site by fromto": body(f'{HINGE}{BALL}<site name="s" type="capsule" size="0.01" fromto="0 0 0 1 0 0"/>'),
    "mass of a mesh that is not convex": mesh(),
    "mass of a mesh, inertia=convex": mesh('inertia="convex"'),
    "box fitted to a mesh": mesh('inertia="exact"', geom="box"),
    "mesh of vertices in the file": body(
        f'{HINGE}<geom type="mesh" mesh="m"/>',
        before='<asset><mesh name="m" vertex="0 0 0 0.1 0 0 0 0.2 0 0 0 0.3"/></asset>',
    ),
    "shell inertia": body(f'{HINGE}<geom type="box" size="0.1 0.2 0.3" shellinertia="true" mass="1"/>'),
    "freejoint takes no defaults": body(
        f"<freejoint/>{BALL}", before='<default><joint armature="0.1" damping="3"/></default>'
    ),
    "polynomial spring and damper of a hinge": hinge('stiffness="3 4 5" damping="0.3 0.2 0.1" springref="20"'),
    "polynomial spring and damper of a slide": body(
        f'<joint type="slide" axis="1 2 0" stiffness="0 4 5" damping="0 0.2 0.1" springref="0.3"/>{BALL}'
    ),
    "polynomial spring and damper of a ball": body(
        f'<joint type="ball" stiffness="3 4 5" damping="0.3 0.2 0.1" pos="0.1 0 0"/>{BALL}',
        attributes='euler="30 40 50"',
    ),
    "polynomial spring and damper of a free joint": body(
        f'<joint type="free" stiffness="3 4 5" damping="0.3 0.2 0.1" armature="0.4"/>{BALL}',
        attributes='euler="30 40 50" pos="1 2 3"',
    ),
    "only dampers off": hinge('stiffness="3" damping="2"', before='<option><flag damper="disable"/></option>'),
    "only springs off": hinge(
        'stiffness="3" damping="2" springdamper="0.3 1"', before='<option><flag spring="disable"/></option>'
    ),
    "springs and dampers off, compensated gravity too": body(
        HINGE + BALL,
        before='<option><flag spring="disable" damper="disable"/></option>',
        attributes='gravcomp="0.5"',
    ),
    "springdamper of a free body, of two joints of one body, of a carried one": body(
        f"""<joint springdamper="0.2 0.8" axis="0 1 0" armature="0.1"/>
        <joint springdamper="0.3 1.1" type="slide"/>{BALL}
        <body pos="1 0 0" euler="10 20 0"><joint type="ball" springdamper="0.4 0.6"/>{BALL}</body></body>
        <body name="c"><joint type="free" springdamper="0.5 0.5"/>{BALL}"""
    ),
    "springdamper of joints away from the origins of their bodies": body(
        f"""<joint springdamper="0.2 0.8" axis="0 1 0" pos="0.3 0.1 -0.2"/>{BALL}
        <body pos="1 0 0" euler="10 20 0"><joint type="ball" springdamper="0.4 0.6" pos="0.1 0.2 0.3"/>{BALL}</body>
        </body><body name="c" pos="0 1 0"><joint type="free" springdamper="0.5 0.5" pos="0.3 0.2 0.1"/>{BALL}"""
    ),
    "gravity compensated as an actuator": body(f'<joint actuatorgravcomp="true"/>{BALL}', attributes='gravcomp="1.5"'),
    "a disabled loop": "<mujoco><option><flag equality='disable'/></option><worldbody><body name='b'><joint/>"
    "<geom size='0.1'/></body></worldbody><equality><weld body1='b'/></equality></mujoco>",
    "no constraints": hinge('range="10 20" frictionloss="1"', before='<option><flag constraint="disable"/></option>'),
    "tendon over three sites and a pulley": PULLEY.format(attributes='stiffness="30" damping="2" springlength="0.5"'),
    "mass of a tendon over three sites and a pulley": PULLEY.format(attributes='armature="0.3" stiffness="3"'),
    "mass of a tendon between two sites": CORD.format(attributes='armature="0.3"'),
    "polynomial tendon with slack": CORD.format(attributes='stiffness="3 2 1" damping="1 2 3" springlength="0.1 0.4"'),
    "tendon relaxed where springs are": CORD.format(attributes='stiffness="30"'),
    "rotor and damper of an actuator on a tendon": CORD.format(attributes='name="t"').replace(
        "</mujoco>", '<actuator><motor tendon="t" armature="0.2" damping="1 2" gear="3"/></actuator></mujoco>'
    ),
    "actuators by default classes": body(
        HINGE + BALL,
        before='<default><general armature="0.1" gear="4"/><default class="x"><motor damping="2"/></default></default>',
        after='<actuator><motor joint="j" class="x"/><position joint="j"/></actuator>',
    ),
    "site by fromto in a frame": body(
        f'{HINGE}{BALL}<frame pos="1 2 3" euler="10 20 30"><geom type="box" size="0.1"'
        ' fromto="0 0 0 1 2 0"/><site name="s" type="box" size="0.1" fromto="0 0 0 1 2 0"/></frame>'
    ),
    "site called as its body": body(f'{HINGE}{BALL}<site name="b" pos="1 2 3"/>'),
    "body and site of one name with a weld": f"<mujoco><worldbody>"
    f"<body name='b'><freejoint/>{BALL}<site name='b'/></body>"
    f"<body name='c'><freejoint/>{BALL}</body></worldbody><equality><weld body1='b' body2='c'/></equality></mujoco>",
    "mesh written and stretched in a frame of its own": mesh('refpos="0.1 0.2 0.3" refquat="1 1 0 0" scale="1 -2 3"'),
    "mesh of points alone": mesh().replace("plate.obj", "points.obj"),
    "mesh as a shell": mesh('inertia="shell"'),
    "way of a mesh by default class": body(
        f'{HINGE}<geom type="mesh" mesh="m"/>',
        before='<default><mesh inertia="exact" scale="2 2 2"/></default>'
        '<asset><mesh name="m" file="plate.obj"/></asset>',
    ),
    "mesh without a name, path stripped": body(
        f'{HINGE}<geom type="mesh" mesh="plate"/>',
        before='<compiler strippath="true"/><asset><mesh file="some/where/plate.obj"/></asset>',
    ),
    "two mesh folders": body(
        f'{HINGE}<geom type="mesh" mesh="plate"/>',
        before='<compiler assetdir="nowhere" meshdir="."/><asset><mesh file="plate.obj"/></asset>',
    ),
    **{
        f"{kind} fitted to a mesh {how}": body(
            f'{HINGE}<geom type="{kind}" mesh="m" fitscale="0.9" size="7 7 7" pos="1 0 0" euler="10 20 30"/>',
            before=f'<compiler fitaabb="{bounds}"/><asset><mesh name="m" file="plate.obj"/></asset>',
        )
        for kind in ("sphere", "capsule", "cylinder", "box", "ellipsoid")
        for how, bounds in (("by its inertia", "false"), ("by its bounds", "true"))
    },
    **{
        f"shell of a {kind}": body(
            f'{HINGE}<geom type="{kind}" size="0.1 0.25 0.3" shellinertia="true" density="50"'
            ' pos="1 0 0" euler="10 20 30"/>'
        )
        for kind in ("sphere", "capsule", "cylinder", "box", "ellipsoid")
    },
}
"""Each feature by itself."""
FLUIDS = {
    "fluid": body(HINGE + BALL, before='<option density="1000"/>'),
    "fluid without gravity": body(HINGE + BALL, before='<option density="1000"><flag gravity="disable"/></option>'),
}


def outcome(folder, text):
    (folder / "plate.obj").write_text(plate())
    (folder / "points.obj").write_text("".join(line for line in plate().splitlines(True) if line.startswith("v")))
    (folder / "machine.xml").write_text(text)
    return compared(folder / "machine.xml")


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in CASES.items()])
def test_a_feature_gives_the_numbers_of_mujoco(tmp_path, text):
    found = outcome(tmp_path, text)
    assert not found.wrong
    assert not found.warned


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in FLUIDS.items()])
def test_a_fluid_is_computed_or_its_absence_told(tmp_path, text):
    found = outcome(tmp_path, text)
    assert not found.wrong or found.warned
