"""The draw list: what is drawn, where it hangs, and that equal models give equal lists."""

from __future__ import annotations

from dataclasses import replace
from math import pi, sqrt

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import (
    JOINT_KINDS,
    Body,
    Box,
    Cylinder,
    DHChain,
    DHRow,
    Frame,
    Inertia,
    Joint,
    Limit,
    Material,
    Mesh,
    Model,
    Parameter,
    Pose,
    Sphere,
)
from core.model.edits import edits
from viz.drawlist import geometry as g
from viz.drawlist.draw_list import Item, build_draw_list
from viz.drawlist.mass_items import inertia_radii, mass_properties
from viz.drawlist.skeleton import AttachmentPoint, Skeleton, bar_route
from viz.meshes.meshes import get_mesh
from viz.meshes.polydata import point_array
from viz.placement import to_matrix

TILT = np.array([[0.9998, 0, -0.02], [0, 1, 0], [0.02, 0, 0.9998]])
MOVING = [kind for kind in JOINT_KINDS if kind != "fixed"]


def arm(kind: str, **fields: object) -> Model:
    """One body on the ground by a joint of a kind, and a second body 0.5 m further on."""
    joint = Joint(name="j", kind=kind, parent="world", child="first", a=Pose(position=(0.0, 0.0, 0.3)), **fields)
    elbow = Joint(name="elbow", parent="first", child="second", a=Pose(position=(0.5, 0.0, 0.0)), axis=(0, 1, 0))
    return Model(bodies=(Body(name="first"), Body(name="second", center_of_mass=(0.2, 0, 0))), joints=(joint, elbow))


def by_role(model: Model, role: str, **p: float) -> dict[str, Item]:
    return {item.id: item for item in build_draw_list(model, p or None) if item.role == role}


def world_points(item: Item, poses: dict[str, np.ndarray]) -> np.ndarray:
    pose = poses.get(item.frame, np.eye(4)) @ to_matrix(item.placement)
    return point_array(get_mesh(item.geometry)) @ pose[:3, :3].T + pose[:3, 3]


@pytest.mark.parametrize("kind", MOVING)
def test_every_joint_kind_has_a_glyph_of_its_own(kind: str) -> None:
    glyph = [item for item in by_role(arm(kind), "joint").values() if item.ref == ("joints", "j")]
    assert glyph
    assert all(item.shown and item.frame in ("world", "first") for item in glyph)
    for item in glyph:
        assert get_mesh(item.geometry).GetNumberOfPolys() > 0
    others = {
        frozenset((i.geometry, i.until is None) for i in by_role(arm(k), "joint").values() if i.ref == ("joints", "j"))
        for k in MOVING
    }
    assert len(others) == len(MOVING) - 1  # continuous looks like revolute


@pytest.mark.parametrize("kind", MOVING)
def test_glyph_sits_on_the_joint(kind: str) -> None:
    model = arm(kind)
    radius = Skeleton(model, {}).joint_radius
    for item in by_role(model, "joint").values():
        if item.ref == ("joints", "j") and item.until is None:
            centre = world_points(item, {"first": to_matrix(items_place(model))}).mean(axis=0)
            assert np.linalg.norm(centre - (0.0, 0.0, 0.3)) < 2.5 * radius


def items_place(model: Model) -> tuple[float, ...]:
    mech = Mechanism(model)
    return tuple(mech.frame(mech.neutral(), "first").ravel())


def test_a_body_without_shapes_is_a_bar_between_its_joints() -> None:
    (bar,) = (item for item in by_role(arm("revolute"), "link").values() if item.ref == ("bodies", "first"))
    points = point_array(get_mesh(bar.geometry))
    r = Skeleton(arm("revolute"), {}).joint_radius
    assert points[:, 0].min() == pytest.approx(-0.52 * r, rel=0.05)
    assert points[:, 0].max() == pytest.approx(0.5 + 0.52 * r, rel=0.05)
    assert np.abs(points[:, 1]).max() < r


def test_a_pendulum_ends_in_a_bob_at_its_centre_of_mass() -> None:
    (bar,) = (item for item in by_role(arm("revolute"), "link").values() if item.ref == ("bodies", "second"))
    r = Skeleton(arm("revolute"), {}).joint_radius
    assert point_array(get_mesh(bar.geometry))[:, 0].max() == pytest.approx(0.2 + 1.25 * r, rel=1e-3)


def test_shapes_replace_bars_and_glyphs() -> None:
    model = arm("revolute")
    shaped = tuple(replace(body, shapes=(Box(size=(0.1, 0.2, 0.3)),)) for body in model.bodies)
    model = replace(model, bodies=shaped)
    assert not by_role(model, "link")
    assert not by_role(model, "ground")
    assert not any(item.shown for item in by_role(model, "joint").values())
    assert by_role(model, "shape")["shape/first/0"].geometry == g.Box((0.1, 0.2, 0.3))


def test_empty_links_among_shaped_ones_are_mere_frames() -> None:
    model = arm("revolute")
    model = edits.change(model, "bodies", "second", shapes=(Sphere(radius=0.1),))
    more = Body(name="camera"), Joint(name="mount", kind="fixed", parent="second", child="camera")
    more = *more, Body(name="root"), Joint(name="base", kind="fixed", parent="world", child="root")
    for element in more:
        model = edits.add(model, element)
    shown = {item.id for item in build_draw_list(model) if item.shown}
    assert not shown & {"link/camera", "link/root", "joint/mount/block", "ground/base"}
    assert {"link/first", "joint/j/drum", "ground/j"} <= shown


def test_collision_shapes_are_hidden_and_do_not_count_as_seen() -> None:
    model = arm("revolute")
    model = edits.change(model, "bodies", "first", shapes=(Sphere(radius=0.1, role="collision"),))
    assert not by_role(model, "collision")["shape/first/0"].shown
    assert "link/first" in by_role(model, "link")


def test_colour_comes_from_the_shape_then_the_material_then_the_palette() -> None:
    shapes = (Sphere(color=(1, 0, 0, 1)), Sphere(material="steel"), Sphere())
    model = Model(
        bodies=(Body(name="b", shapes=shapes),), materials=(Material(name="steel", color=(0.5, 0.6, 0.7, 0.5)),)
    )
    found = by_role(model, "shape")
    assert found["shape/b/0"].colour == (1, 0, 0, 1)
    assert found["shape/b/1"].colour == (0.5, 0.6, 0.7, 0.5)
    assert found["shape/b/1"].opacity == 0.5
    assert found["shape/b/2"].colour == "body0"


def test_a_parameter_changes_only_what_depends_on_it() -> None:
    model = replace(
        arm("revolute"),
        parameters=(Parameter(name="l", value=0.5),),
        bodies=(Body(name="first"), Body(name="second", shapes=(Cylinder(radius=0.02, length="l/2"),))),
    )
    before, after = (by_role(model, "shape", l=value)["shape/second/0"] for value in (0.5, 0.8))
    assert before.geometry == g.Cylinder(0.02, 0.25)
    assert after.geometry == g.Cylinder(0.02, 0.4)
    assert build_draw_list(model, {"l": 0.5}) == build_draw_list(model)
    same = {item.id: item for item in build_draw_list(model)}
    changed = [item.id for item in build_draw_list(model, {"l": 0.8}) if item != same[item.id]]
    assert changed == ["shape/second/0"]


def test_dh_chain_reads_like_any_machine_and_ends_in_a_gripper() -> None:
    rows = (DHRow(a=0.4), DHRow(a=0.3))
    model = Model(chains=(DHChain(name="planar", rows=rows),))
    ids = {item.id for item in build_draw_list(model)}
    assert {"link/link1", "link/link2", "joint/joint1/drum", "joint/joint2/drum", "tool/tool"} <= ids
    tool = next(item for item in build_draw_list(model) if item.id == "tool/tool")
    assert to_matrix(tool.placement)[:3, 2] == pytest.approx([1, 0, 0])  # along the last link


def test_loop_joints_are_drawn_like_others() -> None:
    pins = ((0.0, "world", "crank"), (0.1, "crank", "rod"), (0.3, "rod", "rocker"), (0.4, "world", "rocker"))
    bodies = tuple(Body(name=name) for name in ("crank", "rod", "rocker"))
    joints = tuple(
        Joint(name=f"pin{i}", parent=a, child=b, a=Pose(position=(x, 0, 0))) for i, (x, a, b) in enumerate(pins)
    )
    drawn = {item.ref for item in build_draw_list(Model(bodies=bodies, joints=joints)) if item.role == "joint"}
    assert drawn == {("joints", f"pin{i}") for i in range(4)}


def test_a_free_body_alone_is_the_box_with_its_inertia() -> None:
    a, b, c, m = 0.2, 0.3, 0.4, 2.0
    inertia = Inertia(ixx=m / 12 * (b * b + c * c), iyy=m / 12 * (a * a + c * c), izz=m / 12 * (a * a + b * b))
    (link,) = by_role(Model(bodies=(Body(name="box", mass=m, inertia=inertia),)), "link").values()
    bounds = np.array(get_mesh(link.geometry).GetBounds())
    assert bounds[1::2] - bounds[::2] == pytest.approx([a, b, c], rel=1e-5)


def test_inertia_ellipsoid_of_a_solid_ellipsoid_is_itself() -> None:
    radii, m = np.array([0.1, 0.2, 0.35]), 3.0
    square = radii**2
    tensor = m / 5 * np.diag(square.sum() - square)
    turn = np.array([[0.6, -0.8, 0], [0.8, 0.6, 0], [0, 0, 1.0]])
    axes, found = inertia_radii(m, turn @ tensor @ turn.T)
    rebuilt = axes @ np.diag(found**2) @ axes.T
    assert rebuilt == pytest.approx(turn @ np.diag(square) @ turn.T, abs=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1.0)


def test_unphysical_inertia_gives_a_flat_ellipsoid() -> None:
    _, radii = inertia_radii(1.0, np.diag([1.0, 1.0, 5.0]))
    assert sorted(radii)[0] == 0.0
    assert sorted(radii)[2] == pytest.approx(sqrt(2.5 * 5.0))


def test_mass_marks_follow_a_density() -> None:
    shape = Sphere(radius=0.1, pose=Pose(position=(0.3, 0.0, 0.0)))
    body = Body(name="ball", density=1000.0, shapes=(shape,))
    mass, centre, tensor = mass_properties(body, {})
    assert mass == pytest.approx(4 / 3 * pi * 1e-3 * 1000)
    assert centre == pytest.approx([0.3, 0, 0])
    assert tensor == pytest.approx(0.4 * mass * 0.01 * np.eye(3), abs=1e-12)
    mark = by_role(Model(bodies=(body,)), "com")["com/ball"]
    assert to_matrix(mark.placement)[:3, 3] == pytest.approx([0.3, 0, 0])
    assert not mark.shown


def test_a_massless_body_has_no_marks() -> None:
    assert not by_role(arm("revolute"), "com")
    assert not by_role(arm("revolute"), "inertia")


def test_frames_and_labels_for_everything_named() -> None:
    model = edits.add(arm("revolute"), Frame(name="camera", parent="second", pose=Pose(position=(0.1, 0, 0))))
    assert set(by_role(model, "frame")) == {"frame/first", "frame/second", "frame/camera"}
    texts = {item.text for item in by_role(model, "label").values()}
    assert texts == {"first", "second", "camera", "j", "elbow"}


def test_ground_support_reaches_the_floor() -> None:
    (support,) = by_role(arm("revolute"), "ground").values()
    points = world_points(support, {})
    assert points[:, 2].min() == pytest.approx(0.0, abs=1e-6)
    assert 0.3 - 1.2 * Skeleton(arm("revolute"), {}).joint_radius < points[:, 2].max() < 0.3  # carries the upright drum


def test_rod_of_a_prismatic_joint_is_stretched_between_its_frames() -> None:
    rods = [item for item in by_role(arm("prismatic"), "joint").values() if item.until is not None]
    assert [(rod.frame, rod.until.frame) for rod in rods if rod.until] == [("world", "first")]


def test_thread_of_a_screw_covers_its_travel() -> None:
    model = arm("screw", pitch=0.02, limits=(Limit(lower=0.0, upper=10 * pi),))
    (thread,) = (item for item in build_draw_list(model) if item.id == "joint/j/thread")
    radius = Skeleton(model, {}).joint_radius
    span = world_points(thread, {})[:, 2]
    assert span.max() - span.min() == pytest.approx(0.1 + 2.0 * radius, rel=0.02)  # 5 turns of 20 mm


def test_meshes_keep_where_they_come_from() -> None:
    body = Body(name="b", shapes=(Mesh(file="part.stl", scale=(0.001, 0.001, 0.001)),))
    model = replace(Model(bodies=(body,)), origin="/robots/arm.urdf")
    form = by_role(model, "shape")["shape/b/0"].geometry
    assert form == g.MeshFile("part.stl", "/robots/arm.urdf", (0.001, 0.001, 0.001), form.size)


def test_route_follows_the_common_normal() -> None:
    start = AttachmentPoint("a", np.zeros(3), np.array([0.0, 0.0, 1.0]))
    end = AttachmentPoint("b", np.array([0.4, 0.3, 0.2]), np.array([0.0, 1.0, 0.0]))
    way = np.array(bar_route(start, end, 0.01))
    assert way == pytest.approx(np.array([[0, 0, 0], [0, 0, 0.2], [0.4, 0, 0.2], [0.4, 0.3, 0.2]]))


def test_route_goes_straight_where_the_axes_meet_far_away() -> None:
    start = AttachmentPoint("a", np.zeros(3), np.array([0.0, 0.0, 1.0]))
    end = AttachmentPoint("b", np.array([0.4, 0.0, 0.0]), np.array([0.0, 0.0, 1.0]) @ TILT)
    assert len(bar_route(start, end, 0.01)) == 2


def test_long_chains_stay_slim() -> None:
    bodies = tuple(Body(name=f"b{i}") for i in range(100))
    joints = tuple(
        Joint(
            name=f"j{i}", parent=f"b{i - 1}" if i else "world", child=f"b{i}", a=Pose(position=(1.0 if i else 0, 0, 0))
        )
        for i in range(100)
    )
    assert Skeleton(Model(bodies=bodies, joints=joints), {}).joint_radius == pytest.approx(0.17)


def test_bodies_whose_meshes_are_missing_are_drawn_as_bars_beside_the_placeholder() -> None:
    model = arm("revolute")
    model = edits.change(model, "bodies", "first", shapes=(Mesh(file="nowhere.stl"),))
    assert set(by_role(model, "link")) == set(by_role(arm("revolute"), "link"))
    assert set(by_role(model, "shape")) == {"shape/first/0"}


def test_an_empty_model_draws_nothing() -> None:
    assert build_draw_list(Model()) == ()


def test_poses_of_the_document_are_those_of_scipy():
    """Angles about the fixed axes x, y, z; quaternions x, y, z, w of any length."""
    from scipy.spatial.transform import Rotation

    from core.model.shapes import Pose
    from viz.placement import pose_matrix

    for angles in ((0.3, -1.2, 2.5), (0.0, np.pi / 2, 0.1), (0.0, 0.0, 0.0)):
        X = pose_matrix(Pose(position=(1.0, 2.0, 3.0), rotation=angles), {})
        assert np.allclose(X[:3, :3], Rotation.from_euler("xyz", angles).as_matrix(), atol=1e-15)
        assert tuple(X[:3, 3]) == (1.0, 2.0, 3.0)
    q = (0.2, -0.4, 1.0, 2.0)
    assert np.allclose(pose_matrix(Pose(rotation=q), {})[:3, :3], Rotation.from_quat(q).as_matrix(), atol=1e-15)
    assert np.array_equal(pose_matrix(Pose(rotation=(0.0, 0.0, 0.0, 0.0)), {}), np.eye(4))
