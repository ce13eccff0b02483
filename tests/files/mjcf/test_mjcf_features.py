"""Each feature of MJCF gives MuJoCo's numbers; forces of a fluid may be left out where a warning says so."""

from __future__ import annotations

import pytest

from core.errors import KinetostatError
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


RIGHT = {
    "stiffness, damping, armature of a ball joint": body(
        f'<joint type="ball" stiffness="9" damping="2" armature="0.3"/>{BALL}'
    ),
    "ref and springref": hinge('ref="10" springref="30" stiffness="4"'),
    "mass of a mesh, inertia=exact": mesh('inertia="exact"'),
    "ellipsoid": body(f'{HINGE}<geom type="ellipsoid" size="0.1 0.2 0.3"/>'),
    "weld to a mocap body": '<mujoco><worldbody><body name="b" mocap="true"><geom size="0.1"/></body><body name="c">'
    '<freejoint/><geom size="0.1"/></body></worldbody><equality><weld body1="b" body2="c"/></equality></mujoco>',
}
WRONG = {
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
}
FLUIDS = {
    "fluid": body(HINGE + BALL, before='<option density="1000"/>'),
    "fluid without gravity": body(HINGE + BALL, before='<option density="1000"><flag gravity="disable"/></option>'),
}
SILENT_FLUIDS = {"fluid without gravity"}


def marked(cases, wrong, reason):
    """Cases by name, those that fail today as strict expected failures."""
    mark = pytest.mark.xfail(strict=True, raises=(AssertionError, KinetostatError), reason=reason)
    return [pytest.param(text, marks=mark if name in wrong else (), id=name) for name, text in cases.items()]


def outcome(folder, text):
    (folder / "plate.obj").write_text(plate())
    (folder / "machine.xml").write_text(text)
    return compared(folder / "machine.xml")


@pytest.mark.parametrize("text", marked({**RIGHT, **WRONG}, WRONG, "another machine than MuJoCo's"))
def test_a_feature_gives_the_numbers_of_mujoco(tmp_path, text):
    assert not outcome(tmp_path, text).wrong


@pytest.mark.parametrize("text", marked(FLUIDS, SILENT_FLUIDS, "left out without a warning"))
def test_a_fluid_is_computed_or_its_absence_told(tmp_path, text):
    found = outcome(tmp_path, text)
    assert not found.wrong or found.warned
