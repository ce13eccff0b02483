"""Areas and volumes of workspaces against closed forms, and their boundaries."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core.studies.workspace.mapping import workspace

REFERENCE = json.loads(
    (Path(__file__).parents[2] / "reference" / "workspace_planar_and_yaw_arm.json").read_text(encoding="utf-8")
)
GIVEN, AREAS = REFERENCE["parameters"], REFERENCE["reference"]
PLANAR_FRACTION = 1e-3
"""Part of an area by which it may be wrong, as promised."""


def arm(lengths, limits, **fields):
    """Links in the plane z = 0, one behind the other."""
    rows = [
        ks.DHRow(a=a, limit=ks.Limit(lower=limit[0], upper=limit[1]) if limit else ks.Limit(), **fields)
        for a, limit in zip(lengths, limits, strict=True)
    ]
    return ks.Mechanism(ks.Model(name="arm", chains=(ks.DHChain(name="arm", rows=tuple(rows)),)))


@pytest.fixture(scope="module")
def limited():
    return arm([GIVEN["a"]["l1"], GIVEN["a"]["l2"]], [GIVEN["a"]["q1"], GIVEN["a"]["q2"]])


@pytest.fixture(scope="module")
def free():
    return arm([GIVEN["a"]["l1"], GIVEN["a"]["l2"]], [None, None])


def right(found, wanted, fraction=PLANAR_FRACTION):
    """Within the promise, and within what the map itself says."""
    return abs(found.area / wanted - 1.0) < fraction and abs(found.area - wanted) <= found.error


def test_two_links_with_limits_have_their_area(limited):
    assert right(workspace(limited, samples=500), AREAS["a"]["area"])


def test_two_links_without_limits_reach_an_annulus(free):
    found = workspace(free, samples=500)
    assert right(found, AREAS["a"]["full_annulus"])
    radii = np.linalg.norm(found.boundary.reshape(-1, 3), axis=1)
    near = np.minimum(np.abs(radii - 0.15), np.abs(radii - 0.85))
    assert near.max() < 1e-3
    assert (np.abs(radii - 0.15) < 1e-3).any()
    assert (np.abs(radii - 0.85) < 1e-3).any()


def test_boundary_of_a_limited_arm_is_made_of_arcs(limited):
    """About the ground pivot at both limits of the elbow, about the elbow at both limits of the shoulder."""
    found = workspace(limited, samples=500)
    (l1, l2), q1, q2 = (0.5, 0.35), GIVEN["a"]["q1"], GIVEN["a"]["q2"]
    points = found.boundary.reshape(-1, 3)[:, :2]
    away = []
    for elbow in q2:
        away.append(np.abs(np.linalg.norm(points, axis=1) - math.sqrt(l1**2 + l2**2 + 2 * l1 * l2 * math.cos(elbow))))
    for shoulder in q1:
        center = l1 * np.array([math.cos(shoulder), math.sin(shoulder)])
        away.append(np.abs(np.linalg.norm(points - center, axis=1) - l2))
    assert np.min(away, axis=0).max() < 1e-3


def test_three_links_without_limits_reach_an_annulus():
    found = workspace(arm(GIVEN["b"]["l3R"], [None] * 3), samples=500)
    assert right(found, AREAS["b"]["area_3R"])


def test_a_turning_slide_reaches_a_sector():
    rows = (
        ks.DHRow(alpha="pi/2", limit=ks.Limit(lower=-0.4, upper=1.1)),
        ks.DHRow(kind="prismatic", limit=ks.Limit(lower=0.3, upper=0.8)),
    )
    found = workspace(ks.Model(name="RP", chains=(ks.DHChain(name="RP", rows=rows),)), samples=500)
    assert right(found, 0.5 * 1.5 * (0.8**2 - 0.3**2))


def test_volume_of_an_arm_on_a_vertical_axis():
    c = GIVEN["c"]
    rows = (
        ks.DHRow(alpha="pi/2"),
        ks.DHRow(a=c["u2"], limit=ks.Limit(lower=c["q2"][0], upper=c["q2"][1])),
        ks.DHRow(a=c["u3"], limit=ks.Limit(lower=c["q3"][0], upper=c["q3"][1])),
    )
    found = workspace(ks.Model(name="yaw", chains=(ks.DHChain(name="yaw", rows=rows),)), samples=12_000)
    volume = AREAS["c"]["volume"]
    assert abs(found.volume - volume) < 2.0 * found.error
    assert found.error < 0.04 * volume
    assert np.isnan(found.area)


def test_section_of_a_spherical_arm_is_a_ring():
    """Two axes that meet and a slide reach a hollow ball; cut at a height it is a ring."""
    rows = (
        ks.DHRow(alpha="pi/2"),
        ks.DHRow(alpha="pi/2"),
        ks.DHRow(kind="prismatic", limit=ks.Limit(lower=0.5, upper=1.0)),
    )
    mech = ks.Mechanism(ks.Model(name="RRP", chains=(ks.DHChain(name="RRP", rows=rows),)))
    found = workspace(mech, slice=("z", 0.3), samples=12_000)
    assert np.abs(found.points[:, 2] - 0.3).max() < 1e-8
    wanted = math.pi * (1.0**2 - 0.5**2)
    assert abs(found.area - wanted) < 4.0 * found.error + 1e-3
    assert found.error < 0.02 * wanted


def five_bar(a, b, c, limits):
    """Two cranks of length a at (±c, 0), rods of length b that meet at the tool."""
    right, left = (math.radians(x) for x in (70.0, 110.0))
    y = a * math.sin(left)
    x = c - a * math.cos(right)  # of the crank pins, mirrored
    rise = math.asin(math.sqrt(b**2 - x**2) / b)
    revolute = {"kind": "revolute", "axis": (0, 0, 1)}
    mirrored = (ks.Limit(lower=math.pi - limits[1], upper=math.pi - limits[0]),)
    first = rise if x > 0 else math.pi - rise
    joints = (
        ks.Joint(name="m1", parent="world", child="crank1", a=ks.Pose(position=(-c, 0, 0)), rest=(left,),
                 limits=(ks.Limit(lower=limits[0], upper=limits[1]),), **revolute),
        ks.Joint(name="m2", parent="world", child="crank2", a=ks.Pose(position=(c, 0, 0)), rest=(right,),
                 limits=mirrored, **revolute),
        ks.Joint(name="e1", parent="crank1", child="rod1", a=ks.Pose(position=(a, 0, 0)),
                 rest=(first - left,), **revolute),
        ks.Joint(name="e2", parent="crank2", child="rod2", a=ks.Pose(position=(a, 0, 0)),
                 rest=(math.pi - first - right,), **revolute),
        ks.Joint(name="tip", parent="rod1", child="rod2", a=ks.Pose(position=(b, 0, 0)), b=ks.Pose(position=(b, 0, 0)),
                 **revolute),
    )  # fmt: skip
    bodies = tuple(ks.Body(name=name) for name in ("crank1", "crank2", "rod1", "rod2"))
    frames = (ks.Frame(name="tool", parent="rod1", pose=ks.Pose(position=(b, 0, 0))),)
    assert y > 0.0
    return ks.Model(name="five-bar", bodies=bodies, joints=joints, frames=frames)


def test_a_closed_machine_on_its_branch():
    """A five-bar whose place follows from its cranks by two circles: the area is that of a fine quadrilateral net."""
    a, b, c, limits = 0.3, 0.5, 0.15, (1.6, 2.4)
    found = workspace(five_bar(a, b, c, limits), samples=200)
    one, other = np.meshgrid(np.linspace(*limits, 500), math.pi - np.linspace(*limits, 500), indexing="ij")
    first = np.stack([-c + a * np.cos(one), a * np.sin(one)])
    second = np.stack([c + a * np.cos(other), a * np.sin(other)])
    along = second - first
    length = np.linalg.norm(along, axis=0)
    place = (first + second) / 2 + np.sqrt(b**2 - length**2 / 4) * np.stack([-along[1], along[0]]) / length
    diagonal, across = place[:, 1:, 1:] - place[:, :-1, :-1], place[:, 1:, :-1] - place[:, :-1, 1:]
    wanted = 0.5 * np.abs(diagonal[0] * across[1] - diagonal[1] * across[0]).sum()
    assert abs(found.area / wanted - 1.0) < PLANAR_FRACTION
    assert len(found.points) >= 200


def test_a_slide_without_limits_is_refused_by_name():
    rows = (ks.DHRow(alpha="pi/2"), ks.DHRow(kind="prismatic"))
    with pytest.raises(ks.ModelError, match="joint2.*no limits"):
        workspace(ks.Model(name="RP", chains=(ks.DHChain(name="RP", rows=rows),)), samples=100)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"over": ["elbow"]}, "elbow"),
        ({"over": {"joint1": (1.0, 0.0)}}, "joint1"),
        ({"kind": "reech"}, "reech"),
        ({"kind": "tool.position"}, "components"),
        ({"samples": 3}, "samples"),
        ({"orientation": np.ones((3, 3))}, "rotation"),
        ({"slice": "z"}, "plane"),
        ({"frame": "tol"}, "tol"),
        ({"kind": "payload"}, "effort"),
        ({"kind": "speed"}, "speed"),
        ({"slice": ("z", 3.0)}, "No sample"),
    ],
)
def test_what_cannot_be_meant_is_said(limited, options, said):
    with pytest.raises(ks.KinetostatError, match=said):
        workspace(limited, **{"samples": 200, **options})
