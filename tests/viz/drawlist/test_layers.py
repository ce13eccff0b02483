"""Planar linkages in layers: which links are parted, how far, and that only the picture changes."""

from __future__ import annotations

from itertools import combinations
from math import pi

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.design import linkage
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Box, Capsule, Constraint, Cylinder, Gearwheel, Joint, Model, Pose
from core.model.edits import edits
from resources import examples
from viz.drawlist.draw_list import build_draw_list, find_overlapping_links
from viz.drawlist.item import Item
from viz.drawlist.layers import choose_motion_samples, colour_graph
from viz.pictures.offscreen import open_offscreen_scene
from viz.placement import to_matrix

PLANAR = ("four_bar", "n_four_bar", "double_pendulum", "triple_pendulum", "squeezer", "two_link", "scara_mobile")
RADIUS = 0.01
EXAMPLES = {example.name: example.path for example in examples()}


def bar(name: str, length: float, radius: float = RADIUS) -> Body:
    pose = Pose(position=(length / 2.0, 0.0, 0.0), rotation=(0.0, pi / 2.0, 0.0))
    return Body(name=name, mass=1.0, shapes=(Capsule(pose=pose, radius=radius, length=length),))


def pin(name: str, parent: str, child: str, at: float = 0.0, behind: float = 0.0, rest: float = 0.0) -> Joint:
    return Joint(
        name=name,
        parent=parent,
        child=child,
        a=Pose(position=(at, 0.0, 0.0)),
        b=Pose(position=(behind, 0.0, 0.0)),
        axis=(0.0, -1.0, 0.0),
        rest=(rest,),
    )


def chain(*angles: float) -> Model:
    """Bars 0.2 m long, one behind the other, the first on the ground."""
    names = [f"link{k}" for k in range(len(angles))]
    joints = [pin("A", "world", names[0], rest=angles[0])]
    joints += [pin(f"B{k}", names[k - 1], names[k], 0.2, rest=angle) for k, angle in enumerate(angles[1:], start=1)]
    return Model(bodies=tuple(bar(name, 0.2) for name in names), joints=tuple(joints))


def layers(model: Model) -> dict[str, np.ndarray]:
    """Offset (3,) of the first shape of each body."""
    return {item.frame: np.array(item.layer) for item in build_draw_list(model) if item.role in ("shape", "link")}


@given(st.sets(st.frozensets(st.sampled_from("abcdefgh"), min_size=2, max_size=2), max_size=28))
def test_neighbours_never_have_one_colour_and_none_has_more_than_it_needs(apart: set[frozenset[str]]) -> None:
    colours = colour_graph("abcdefgh", apart)
    assert all(colours[a] != colours[b] for a, b in map(tuple, apart))
    for node, colour in colours.items():
        assert colour <= sum(node in pair for pair in apart)


def test_links_on_one_pin_lie_side_by_side_and_every_second_one_in_the_plane() -> None:
    found = layers(chain(0.5, 0.5, 0.5))
    assert not found["link0"].any()
    assert not found["link2"].any()
    apart = -found["link1"][1]  # towards who looks along +y
    assert 2.0 * RADIUS <= apart <= 2.5 * RADIUS


def test_links_that_overlap_as_drawn_are_parted_without_a_common_pin() -> None:
    folded = layers(chain(0.0, 2.0 * pi / 3.0, 2.0 * pi / 3.0 + 0.2))  # nearly a closed triangle: the third crosses
    numbers = {round(float(np.linalg.norm(offset)), 6) for offset in folded.values()}
    assert len(numbers) == 3


def test_links_that_were_built_side_by_side_stay_where_they_are() -> None:
    first, second = bar("link0", 0.2), bar("link1", 0.2)
    joints = (
        pin("A", "world", "link0"),
        Joint(
            name="B",
            parent="link0",
            child="link1",
            a=Pose(position=(0.2, -0.021, 0.0)),
            axis=(0.0, -1.0, 0.0),
        ),
    )
    assert not any(offset.any() for offset in layers(Model(bodies=(first, second), joints=joints)).values())


def test_a_rod_in_its_piston_and_a_piston_in_its_cylinder_stay_together() -> None:
    assert not any(item.layer != (0.0, 0.0, 0.0) for item in build_draw_list(load(EXAMPLES["slider_crank"])))
    assert not any(item.layer != (0.0, 0.0, 0.0) for item in build_draw_list(load(EXAMPLES["engine_v6"])))


def test_machines_whose_axes_are_not_parallel_are_left_alone() -> None:
    for name in ("puma560", "bricard", "stewart", "scara"):
        assert not any(item.layer != (0.0, 0.0, 0.0) for item in build_draw_list(load(EXAMPLES[name])))


def test_wheels_that_mesh_keep_one_layer() -> None:
    def wheel(name: str) -> Body:
        teeth = Gearwheel(pose=Pose(rotation=(pi / 2.0, 0.0, 0.0)), radius=0.05, width=0.02)
        return Body(name=name, mass=1.0, shapes=(teeth, *bar("spoke", 0.045).shapes))

    model = Model(
        bodies=(wheel("sun"), wheel("planet"), bar("carrier", 0.1)),
        joints=(pin("A", "world", "sun"), pin("C", "world", "carrier"), pin("B", "carrier", "planet", 0.1)),
        constraints=(Constraint(name="gear", kind="gear", joint="B", leader="A", ratio=-1.0),),
    )
    found = layers(model)
    assert np.allclose(found["sun"], found["planet"])
    assert not np.allclose(found["carrier"], found["sun"])


@pytest.mark.parametrize("name", PLANAR)
def test_no_two_links_on_a_pin_share_a_layer_in_the_examples(name: str) -> None:
    """Links are of like thickness here; where they share a plane they must end up apart along its normal."""
    model = load(EXAMPLES[name])
    mech = Mechanism(model)
    poses = dict(zip(mech.frame_names, mech.poses(mech.rest()), strict=True))
    drawn = [item for item in build_draw_list(model) if item.id.startswith(("shape", "link"))]
    assert any(item.layer != (0.0, 0.0, 0.0) for item in drawn)
    places = mech.joint_poses(mech.rest())
    for joint in model.expanded.joints:
        if not joint.info.is_hinge():
            continue
        X_Wa, X_Wb = (np.asarray(pose) for pose in places[joint.name])
        axis = X_Wa[:3, :3] @ (np.array(joint.axis, dtype=float) / np.linalg.norm(joint.axis))
        ends = [
            [span(item, poses, axis, pose[:3, 3]) for item in drawn if item.frame == body]
            for body, pose in ((joint.parent, X_Wa), (joint.child, X_Wb))
        ]
        for first in filter(None, ends[0]):
            for second in filter(None, ends[1]):
                common = min(first[1], second[1]) - max(first[0], second[0])
                assert common < 0.2 * min(first[1] - first[0], second[1] - second[0]), joint.name


def span(item: Item, poses: dict[str, np.ndarray], axis: np.ndarray, place: np.ndarray) -> tuple[float, float] | None:
    """Where a bar that ends on an axis through a place (3,) lies along it; None of what is no such bar."""
    from viz.drawlist import geometry as g

    pose = np.asarray(poses[item.frame]) @ to_matrix(item.placement)
    form = item.geometry
    if isinstance(form, g.Compound) and isinstance(form.parts[0].geometry, g.Capsule):
        pose, form = pose @ to_matrix(form.parts[0].placement), form.parts[0].geometry
    if not isinstance(form, g.Capsule):
        return None
    along = place - pose[:3, 3]
    along -= axis * float(axis @ along)
    away = along - pose[:3, 2] * float(pose[:3, 2] @ along)
    if abs(np.linalg.norm(along) - form.length / 2.0) > 1e-6 or np.linalg.norm(away) > 1e-6:
        return None
    height = float(axis @ pose[:3, 3])
    return height - form.radius, height + form.radius


def test_pins_reach_through_all_layers() -> None:
    model = chain(0.3, 0.9)
    drawn = {item.id: item for item in build_draw_list(model)}
    pin_B, links = drawn["pin/B1"], [drawn[f"shape/link{k}/0"] for k in range(2)]
    assert pin_B.ref == ("joints", "B1")
    middle = to_matrix(pin_B.placement)[1, 3]
    low, high = middle - pin_B.geometry.length / 2.0, middle + pin_B.geometry.length / 2.0
    for link in links:
        assert low < to_matrix(link.placement)[1, 3] - RADIUS
        assert high > to_matrix(link.placement)[1, 3] + RADIUS
    assert 0.0 < pin_B.geometry.radius < RADIUS


def test_marks_and_frames_stay_in_the_plane() -> None:
    model = chain(0.3, 0.9)
    for item in build_draw_list(model):
        if item.role in ("com", "frame", "label", "inertia"):
            assert item.layer == (0.0, 0.0, 0.0)
            assert to_matrix(item.placement)[1, 3] == 0.0


def test_without_layers_everything_is_in_its_plane() -> None:
    flat = build_draw_list(chain(0.3, 0.9), layers=False)
    assert all(item.layer == (0.0, 0.0, 0.0) for item in flat)
    assert {to_matrix(item.placement)[1, 3] for item in flat if item.role == "shape"} == {0.0}


def test_picking_returns_what_is_seen_and_points_where_they_are() -> None:
    model = chain(0.0, pi / 2.0)
    mech = Mechanism(model)
    with open_offscreen_scene((600, 400)) as scene:
        scene.set_display(cube=False)
        scene.show_model(model)
        scene.move(dict(zip(mech.frame_names, mech.poses(mech.rest()), strict=True)))
        from viz import camera

        scene.view = camera.preset_view(camera.CameraView(parallel=True), "front")
        scene.view = scene.fit()
        x, y = scene.project((0.2, 0.0, 0.1))  # the middle of the second link, in front of the plane
        hit = scene.pick(x, y)
        assert hit is not None
        assert hit.ref == ("bodies", "link1")
        assert hit.position == pytest.approx((0.2, -RADIUS, 0.1), abs=1e-3)  # on its skin, where it is
        scene.set_display(layers=False)
        flat = scene.pick(x, y)
        assert flat is not None
        assert flat.position == pytest.approx(hit.position, abs=1e-6)


def test_collisions_of_heights_are_none_of_kinds() -> None:
    """A base beside the link, as thick as the link but only around its pin, is no link."""
    post = Body(name="post", shapes=(Cylinder(pose=Pose(rotation=(pi / 2.0, 0.0, 0.0)), radius=0.02, length=0.02),))
    plate = Body(name="plate", shapes=(Box(size=(0.02, 0.3, 0.02)),))
    for base in (post, plate):
        fixed = Joint(name="base", kind="fixed", parent="world", child=base.name)
        model = Model(bodies=(base, bar("link0", 0.2)), joints=(fixed, pin("A", base.name, "link0")))
        assert not any(offset.any() for offset in layers(model).values())


def test_links_of_one_plane_are_pairwise_apart_in_a_four_bar() -> None:
    found = layers(load(EXAMPLES["four_bar"]))
    heights = {name: float(-offset[1]) for name, offset in found.items()}
    for first, second in combinations(("crank", "coupler", "rocker"), 2):
        if "coupler" in (first, second):
            assert abs(heights[first] - heights[second]) > 0.02


def turned(angle: float) -> np.ndarray:
    """(4, 4) a turn about −y."""
    X = np.eye(4)
    X[:3, :3] = [[np.cos(angle), 0, -np.sin(angle)], [0, 1, 0], [np.sin(angle), 0, np.cos(angle)]]
    return X


def two_cranks() -> Model:
    """Two bars 0.2 m long on the ground, 0.3 m apart: both point away from one another at rest, and meet half a turn
    later. A short third one on the second makes them one machine with a link beside it."""
    far = Joint(name="B", parent="world", child="right", a=Pose(position=(0.3, 0, 0)), axis=(0, -1, 0))
    left = pin("A", "world", "left", rest=pi)
    rod = (pin("C", "left", "rod", 0.2), bar("rod", 0.02))
    return Model(bodies=(bar("left", 0.2), bar("right", 0.2), rod[1]), joints=(left, far, rod[0], tie()))


def tie() -> Joint:
    """What hangs the second crank on the rod, so that there is one machine."""
    return Joint(name="D", parent="rod", child="right", a=Pose(position=(0.02, 0, 0)), axis=(0, -1, 0), cut="yes")


def numbers_of(model: Model, motion: list[dict[str, np.ndarray]]) -> dict[str, float]:
    """How far each body is drawn from its plane, m."""
    found = build_draw_list(model, overlapping=find_overlapping_links(model, None, motion))
    return {item.frame: float(np.linalg.norm(item.layer)) for item in found if item.role in ("shape", "link")}


def test_links_that_meet_only_in_a_motion_are_parted_for_it() -> None:
    model = two_cranks()
    at_rest = numbers_of(model, [])
    assert at_rest["left"] == at_rest["right"]
    shift = np.eye(4)
    shift[0, 3] = 0.3

    def pose(angle: float) -> dict[str, np.ndarray]:
        return {"left": turned(pi + angle), "right": shift @ turned(angle)}

    assert numbers_of(model, [pose(0.0), pose(0.3)]) == at_rest
    met = numbers_of(model, [pose(0.0), pose(pi)])
    assert met["left"] != met["right"]


def test_the_sampled_poses_of_a_motion_are_few_and_have_its_ends() -> None:
    assert choose_motion_samples(5).tolist() == [0, 1, 2, 3, 4]
    many = choose_motion_samples(10_001)
    assert len(many) <= 90
    assert (many[0], many[-1]) == (0, 10_000)


def test_a_pin_of_a_loop_that_is_open_at_rest_is_drawn() -> None:
    """A four-bar whose crank was made longer, as a slider does: the machine is closed when it is shown."""
    drawn = linkage.link(Model(name="four-bar"), [(0, 0), (0.03, 0.1), (0.3, 0.2), linkage.ground(0.32, 0)])
    changed = edits.change(drawn, "parameters", "l1", value=0.12)
    of = [[item.id for item in build_draw_list(each)] for each in (drawn, changed)]
    names = [{name for name in each if name.startswith(("pin/", "ground/"))} for each in of]
    assert names[0] == names[1]
    assert len(names[0]) == 6
