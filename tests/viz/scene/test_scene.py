"""The scene in an off-screen window: actors kept, picks, handles, highlights, looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import pi

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import Body, Box, DHChain, DHRow, Joint, Limit, Mesh, Model, Parameter, Pose
from core.model.edits import edits
from viz import camera
from viz.drawlist.joint_handles import HandleDrag
from viz.drawlist.mass_items import MassDistribution
from viz.pictures.offscreen import open_offscreen_scene
from viz.pictures.picture_files import Pixels, read_pixels
from viz.scene.handles import RING
from viz.scene.overlays import EllipsoidGlyph, PointTracks
from viz.scene.quality import quality_of_renderer
from viz.scene.scene import Scene

SIZE = (480, 360)
ROWS = (DHRow(alpha=pi / 2, d=0.4), DHRow(a="reach", limit=Limit(lower=-1.0, upper=1.5)), DHRow(a=0.3))
ARM = Model(parameters=(Parameter(name="reach", value=0.4),), chains=(DHChain(name="arm", rows=ROWS),))
MECH = Mechanism(ARM)


def pose(scene: Scene, mech: Mechanism = MECH, **coordinates: float) -> None:
    q = mech.move(mech.neutral(), coordinates)
    scene.move(mech.frame_names, mech.poses(q))


@pytest.fixture
def scene() -> Iterator[Scene]:
    with open_offscreen_scene(SIZE) as made:
        made.set_display(cube=False)
        made.show_model(ARM)
        pose(made, joint2=0.5, joint3=-0.8)
        made.view = made.fit()
        made.fit_surroundings()
        made.render()
        yield made


def picture(scene: Scene) -> Pixels:
    scene.render()
    return read_pixels(scene.window)


def changed(a: Pixels, b: Pixels, by: int = 24) -> np.ndarray:
    """(rows, 2) places (x, y) of pixels that differ."""
    rows, columns = np.nonzero(np.abs(a.astype(int) - b.astype(int)).max(axis=2) > by)
    return np.column_stack([columns, rows])


def middle(scene: Scene, item: str) -> np.ndarray:
    figure = scene.figures.table[item]
    return np.array(figure.actor.GetCenter())


# ------------------------------------------------------------------------------- reconciling


def test_showing_the_same_model_keeps_every_actor(scene: Scene) -> None:
    before = {name: figure.actor for name, figure in scene.figures.table.items()}
    scene.show_model(replace(ARM))
    assert {name: figure.actor for name, figure in scene.figures.table.items()} == before


def test_a_parameter_replaces_only_what_depends_on_it(scene: Scene) -> None:
    before = {name: figure.actor for name, figure in scene.figures.table.items()}
    count = scene.renderer.GetActors().GetNumberOfItems()
    scene.show_model(ARM, {"reach": 0.42})
    replaced = {name for name, figure in scene.figures.table.items() if figure.actor is not before.get(name)}
    assert "link/link2" in replaced
    assert len(before) == len(scene.figures.table)
    assert scene.renderer.GetActors().GetNumberOfItems() == count


def test_removing_a_body_removes_its_actors(scene: Scene) -> None:
    count = scene.renderer.GetActors().GetNumberOfItems()
    shorter = edits.change(ARM, "chains", "arm", rows=ROWS[:2])
    dropped = set(scene.figures.table)
    scene.show_model(shorter)
    dropped -= set(scene.figures.table)
    assert "link/link3" in dropped
    assert scene.renderer.GetActors().GetNumberOfItems() == count - len(dropped)


def test_moving_changes_matrices_only(scene: Scene) -> None:
    before = {name: (f.actor, f.mapper, f.data) for name, f in scene.figures.table.items()}
    place = middle(scene, "link/link3")
    pose(scene, joint1=1.0)
    assert {name: (f.actor, f.mapper, f.data) for name, f in scene.figures.table.items()} == before
    c, s = np.cos(1.0), np.sin(1.0)
    turned = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    frame = MECH.frame(MECH.move(MECH.neutral(), {"joint1": 1.0}), "link3")
    assert scene.figures.table["link/link3"].pose == pytest.approx(frame, abs=1e-9)
    assert np.linalg.norm(middle(scene, "link/link3") - turned @ place) < 0.5


def test_a_rod_reaches_from_frame_to_frame() -> None:
    joint = Joint(
        name="slide", kind="prismatic", parent="world", child="b", a=Pose(position=(0, 0, 0.2)), axis=(1, 0, 0)
    )
    model = Model(bodies=(Body(name="b"),), joints=(joint,))
    mech = Mechanism(model)
    with open_offscreen_scene(SIZE) as scene:
        scene.show_model(model)
        for value in (0.7, -0.4):
            pose(scene, mech, slide=value)
            bounds = np.array(scene.figures.table["joint/slide/rod"].actor.GetBounds())
            assert bounds[:2] == pytest.approx(sorted((0.0, value)), abs=1e-6)


# ------------------------------------------------------------------------------- picking


@pytest.mark.parametrize(
    ("item", "ref"),
    [
        ("link/link2", ("bodies", "link2")),
        ("link/link3", ("bodies", "link3")),
        ("ground/base_joint", ("joints", "base_joint")),
    ],
)
def test_picking_meets_what_is_seen(scene: Scene, item: str, ref: tuple[str, str]) -> None:
    hit = scene.pick(*scene.project(middle(scene, item)))
    assert hit is not None
    assert hit.ref == ref
    assert scene.project(hit.position) == pytest.approx(scene.project(middle(scene, item)), abs=1e-3)
    assert float(hit.normal @ scene.view.axes[:, 2]) > 0


def test_what_is_seen_through_glass_is_picked(scene: Scene) -> None:
    glass = Body(name="case", shapes=(Box(size=(0.4, 0.4, 0.4), color=(0.8, 0.9, 1.0, 0.2)),))
    inside = Body(name="piston", shapes=(Box(size=(0.1, 0.1, 0.1), color=(0.2, 0.3, 0.8, 1.0)),))
    model = Model(bodies=(glass, inside))
    scene.show_model(model)
    scene.move({"case": np.eye(4), "piston": np.eye(4)})
    scene.view = scene.fit()
    scene.render()
    hit = scene.pick(*scene.project((0.0, 0.0, 0.0)))
    assert hit is not None
    assert hit.ref == ("bodies", "piston")
    beside = scene.pick(*scene.project((0.0, 0.0, 0.19)))
    assert beside is not None
    assert beside.ref == ("bodies", "case")


def test_picking_a_joint(scene: Scene) -> None:
    a, _ = MECH.joint_poses(MECH.move(MECH.neutral(), {"joint2": 0.5, "joint3": -0.8}))["joint3"]
    hit = scene.pick(*scene.project(a[:3, 3]))
    assert hit is not None
    assert hit.ref == ("joints", "joint3")


def test_picking_beside_everything(scene: Scene) -> None:
    assert scene.pick(2, 2) is None


def test_what_is_picked_is_what_is_drawn(scene: Scene) -> None:
    """The silhouette in the picture and the silhouette of the picks agree."""
    scene.set_display(ground=False)
    machine = picture(scene)
    for figure in scene.figures.table.values():
        figure.actor.SetVisibility(False)
    empty = picture(scene)
    drawn = {tuple(place) for place in changed(machine, empty, by=8)}
    rng = np.random.default_rng(1)
    wrong = 0
    for x, y in rng.integers((0, 0), SIZE, (400, 2)):
        near = {(x + i, y + j) in drawn for i in (-1, 0, 1) for j in (-1, 0, 1)}
        if len(near) == 1:  # not at an edge
            wrong += (scene.pick(x + 0.5, y + 0.5) is not None) != near.pop()
    assert wrong == 0


# ------------------------------------------------------------------------------- handles


def test_a_ring_has_one_size_on_the_screen_at_any_distance(scene: Scene) -> None:
    without_limits = tuple(replace(row, limit=None) for row in ROWS)
    scene.show_model(replace(ARM, chains=(DHChain(name="arm", rows=without_limits),)))  # stops stand out of the ring
    pose(scene, joint2=0.5, joint3=-0.8)
    scene.show_handles("joint2")
    x, y, z = scene.handles.part_position(scene.handles.visible_parts[0]).centre.tolist()
    for distance in (0.8, 2.0, 9.0):
        scene.show_handles()
        scene.view = camera.CameraView((x, y, z), distance, *camera.PRESETS["front"])
        without = picture(scene)
        scene.show_handles("joint2")
        ring = changed(without, picture(scene))
        width, height = np.ptp(ring, axis=0)
        assert height == pytest.approx(2 * (RING + 2.3), abs=2)  # with half the tube's thickness
        assert width == pytest.approx(2 * (RING + 2.3), abs=2)


def test_a_handle_lies_in_front_and_is_picked_first(scene: Scene) -> None:
    scene.show_handles("joint2")
    scene.render()
    spot = scene.handles.part_position(scene.handles.visible_parts[0])
    rim = spot.centre + scene.handles.create_grip(scene.handles.visible_parts[0]).radius * spot.reference
    hit = scene.pick(*scene.project(rim))
    assert hit is not None
    assert hit.handle == scene.handles.visible_parts[0]
    assert hit.ref == ("joints", "joint2")


def test_dragging_a_handle_by_pixels_turns_by_the_angle_seen(scene: Scene) -> None:
    scene.show_handles("joint2")
    scene.render()
    part = scene.handles.visible_parts[0]
    grip, spot = scene.handles.create_grip(part), scene.handles.part_position(part)

    def pixel(angle: float) -> tuple[float, float]:
        arm = np.cos(angle) * spot.reference + np.sin(angle) * np.cross(spot.axis, spot.reference)
        return scene.project(spot.centre + grip.radius * arm)

    drag = HandleDrag(grip, scene.ray(*pixel(0.2)))
    for angle in np.linspace(0.2, 1.4, 7):
        amount = drag.motion_so_far(scene.ray(*pixel(angle)))
    assert amount == pytest.approx(1.2, abs=1e-6)


def test_a_handle_turns_yellow_under_the_pointer_and_red_where_it_cannot_go(scene: Scene) -> None:
    scene.show_handles("joint2")
    part = scene.handles.visible_parts[0]
    plain = picture(scene)
    scene.handles.hover(part)
    hovered = picture(scene)
    x, y = changed(plain, hovered, by=60).T
    red, green, blue = hovered[y, x, :3].astype(int).mean(axis=0)
    assert red > 150
    assert green > 110
    assert blue < 90
    scene.handles.mark_dragged(part, "unreachable")
    stuck = picture(scene)
    x, y = changed(hovered, stuck, by=60).T
    red, green, blue = stuck[y, x, :3].astype(int).mean(axis=0)
    assert red > 150
    assert green < 110


def test_handles_follow_and_stay_when_the_model_is_shown_again(scene: Scene) -> None:
    scene.show_handles("joint3", "nothing of this name")
    assert scene.handles.shown_joints == ("joint3",)
    before = scene.handles.part_position(scene.handles.visible_parts[0]).centre
    pose(scene, joint2=-0.5)
    after = scene.handles.part_position(scene.handles.visible_parts[0]).centre
    assert np.linalg.norm(after - before) > 0.1
    scene.show_model(ARM, {"reach": 0.3})
    assert scene.handles.shown_joints == ("joint3",)
    scene.show_model(edits.change(ARM, "chains", "arm", rows=ROWS[:1]))
    assert scene.handles.shown_joints == ()


def test_the_value_is_written_beside_the_handle(scene: Scene) -> None:
    scene.show_handles("joint2")
    scene.handles.mark_dragged(scene.handles.visible_parts[0])
    without = picture(scene)
    scene.handles.show_value("42.0°")
    assert len(changed(without, picture(scene))) > 50
    scene.handles.mark_dragged(None)
    scene.handles.mark_dragged(scene.handles.visible_parts[0])
    assert len(changed(without, picture(scene))) == 0


# ------------------------------------------------------------------------------- looks


def test_selection_draws_an_outline_around_the_body_only(scene: Scene) -> None:
    scene.set_display(frames=True, ground=False)
    plain = picture(scene)
    scene.select(("bodies", "link2"))
    places = changed(plain, picture(scene))
    assert len(places) > 100
    around = [(0, 0), (2, 0), (-2, 0), (0, 2), (0, -2)]
    for x, y in places[::7]:
        hits = [scene.pick(x + 0.5 + i, y + 0.5 + j) for i, j in around]
        assert not all(hit is not None and hit.item == "link/link2" for hit in hits)  # around it, not on it
    scene.select(None)
    assert len(changed(plain, picture(scene))) == 0


def test_hover_and_selection_differ(scene: Scene) -> None:
    scene.hover(("bodies", "link3"))
    hovered = picture(scene)
    scene.hover(None)
    scene.select(("bodies", "link3"))
    assert len(changed(hovered, picture(scene))) > 50


def test_light_and_dark(scene: Scene) -> None:
    light = picture(scene)
    scene.set_colour_scheme("dark")
    dark = picture(scene)
    assert light[..., :3].mean() > 180
    assert dark[..., :3].mean() < 80
    assert dark[..., :3].std() > 5
    scene.set_colour_scheme("light")
    assert len(changed(light, picture(scene))) == 0


@pytest.mark.parametrize("flag", ["ground", "axes", "gravity", "frames", "labels", "cube"])
def test_every_toggle_shows_something_and_hides_it_again(scene: Scene, flag: str) -> None:
    scene.set_display(**{flag: False})
    without = picture(scene)
    scene.set_display(**{flag: True})
    assert len(changed(without, picture(scene), by=4)) > 60
    scene.set_display(**{flag: False})
    assert len(changed(without, picture(scene))) == 0


def test_marks_of_mass_are_shown_on_demand() -> None:
    body = Body(name="b", density=1000.0, shapes=(Box(size=(0.1, 0.2, 0.3)),))
    with open_offscreen_scene(SIZE) as scene:
        scene.show_model(Model(bodies=(body,)))
        assert set(scene.figures.table) == {"shape/b/0"}
        scene.set_display(centers_of_mass=True, inertia=True)
        assert set(scene.figures.table) == {"shape/b/0", "com/b", "inertia/b"}


def test_a_missing_mesh_is_seen_picked_and_told() -> None:
    model = Model(bodies=(Body(name="b", shapes=(Mesh(file="gone.stl"),)),))
    with open_offscreen_scene(SIZE) as scene:
        scene.show_model(model)
        scene.view = scene.fit()
        (problem,) = scene.problems
        assert "gone.stl" in problem
        hit = scene.pick(*scene.project((0, 0, 0)))
        assert hit is not None
        assert hit.ref == ("bodies", "b")


# ------------------------------------------------------------------------------- overlays


def test_overlays_come_and_go(scene: Scene) -> None:
    plain = picture(scene)
    poses = [MECH.poses(MECH.move(MECH.neutral(), {"joint1": x})) for x in (0.8, 1.6)]
    scene.overlays.show_ghosts(MECH.frame_names, poses)
    scene.overlays.show_paths({"tool": np.array([[0, 0, 0.1], [0.5, 0, 0.6], [0, 0.5, 0.6]])})
    scene.overlays.show_ellipsoids([EllipsoidGlyph((0.3, 0, 0.5), np.eye(3), (0.2, 0.1, 0.05))])
    scene.overlays.show_vectors([((0, 0, 0.5), (0, 0.4, 0)), ((0, 0, 0), (0, 0, 0))])
    assert len(changed(plain, picture(scene))) > 1000
    scene.overlays.clear()
    assert len(changed(plain, picture(scene))) == 0


@pytest.mark.parametrize("radii", [(0.2, 0.1, 0.05), (0.05, 0.2, 0.1), (0.2, 0.0, 0.1), (0.0, 0.3, 0.0)])
def test_an_ellipsoid_is_as_large_as_its_radii_however_flat(scene: Scene, radii: tuple[float, ...]) -> None:
    scene.overlays.show_ellipsoids([((1.0, 2.0, 3.0), np.eye(3), radii)])
    bounds = np.array([actor.GetBounds() for actor in scene.overlays.visible_actors])
    low, high = bounds[:, ::2].min(axis=0), bounds[:, 1::2].max(axis=0)
    assert low == pytest.approx(np.array([1, 2, 3]) - radii, abs=1e-3)
    assert high == pytest.approx(np.array([1, 2, 3]) + radii, abs=1e-3)


def test_an_ellipsoid_turns_with_its_axes(scene: Scene) -> None:
    axes = np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # first axis along y, second along z, third along x
    scene.overlays.show_ellipsoids([((0, 0, 0), axes, (0.3, 0.2, 0.1))])
    bounds = np.array(scene.overlays.visible_actors[0].GetBounds())
    assert bounds[1::2] == pytest.approx([0.1, 0.3, 0.2], abs=2e-3)


def test_an_ellipsoid_without_size_is_not_drawn(scene: Scene) -> None:
    scene.overlays.show_ellipsoids([((0, 0, 0), np.eye(3), (0, 0, 0)), ((0, 0, 0), np.eye(3), (np.inf, 1, 1))])
    assert scene.overlays.visible_actors == []


def test_ghosts_with_other_parameters_have_other_lengths(scene: Scene) -> None:
    poses = MECH.poses(MECH.neutral(), p={"reach": 0.8})
    scene.overlays.show_ghosts(MECH.frame_names, [poses], parameters=[{"reach": 0.8}])
    reach = max(actor.GetBounds()[1] for actor in scene.overlays.visible_actors)
    assert reach == pytest.approx(0.8 + 0.3, abs=0.1)


def test_ways_of_points_follow_every_movement(scene: Scene) -> None:
    plain = picture(scene)
    scene.follow_frames("tool")
    for angle in np.linspace(0.0, 1.5, 20):
        pose(scene, joint1=angle, joint2=0.5, joint3=-0.8)
    way = scene.tracks.trajectories["tool"]
    pose(scene, joint2=0.5, joint3=-0.8)
    scene.follow_frames("tool")
    assert len(way) == 20
    assert np.hypot(*way[:, :2].T) == pytest.approx(np.hypot(*way[0, :2]))  # a circle about z
    assert np.ptp(way[:, 2]) < 1e-9
    assert len(changed(plain, picture(scene))) > 50
    scene.show_model(replace(ARM, name="another"))
    assert scene.tracks.followed_frames == ()
    assert len(changed(plain, picture(scene))) == 0


def test_a_long_way_is_thinned_but_keeps_its_ends() -> None:
    tracks = PointTracks()
    tracks.follow_frames("tool")
    for x in range(10_000):
        frame = np.eye(4)
        frame[0, 3] = x
        tracks.record_positions({"tool": frame}, 0.5)
    way = tracks.trajectories["tool"][:, 0]
    assert len(way) <= 4001
    assert (way[0], way[-1]) == (0, 9999)
    assert (np.diff(way) > 0).all()


def test_the_machine_balances_where_the_kernel_says() -> None:
    bodies = (
        Body(name="a", mass=2.0, center_of_mass=(0.1, 0.2, 0.0)),
        Body(name="b", density=500.0, shapes=(Box(size=(0.2, 0.1, 0.4), pose=Pose(position=(0.3, 0, 0))),)),
    )
    elbow = Joint(name="elbow", parent="a", child="b", a=Pose(position=(0.5, 0, 0)), axis=(0, 1, 0))
    shoulder = Joint(name="shoulder", parent="world", child="a", axis=(0, 1, 1))
    model = Model(bodies=bodies, joints=(shoulder, elbow))
    mech = Mechanism(model)
    q = mech.move(mech.neutral(), {"elbow": 0.7, "shoulder": -0.4})
    poses = dict(zip(mech.frame_names, mech.poses(q), strict=True))
    assert MassDistribution(model, {}).mass_center(poses) == pytest.approx(mech.center_of_mass(q))
    assert MassDistribution(Model(), {}).mass_center({}) is None


# ------------------------------------------------------------------------------- camera and cube


def test_the_cube_is_picked_for_views(scene: Scene) -> None:
    scene.set_display(cube=True)
    scene.view = camera.preset_view(scene.view, "front")
    scene.render()
    left, top, side = SIZE[0] - 6 - 108, 6, 108
    assert scene.cube.pick(left + side / 2, top + side / 2) == (0, -1, 0)
    assert scene.cube.pick(left + side / 2, top + side / 2 - 24) == (0, -1, 1)
    assert scene.cube.pick(left + side / 2 + 24, top + side / 2 - 24) == (1, -1, 1)
    assert scene.cube.pick(10, 10) is None
    plain = picture(scene)
    scene.cube.hover((0, -1, 0))
    assert len(changed(plain, picture(scene), by=8)) > 200


def test_fit_of_one_element(scene: Scene) -> None:
    whole, one = scene.fit(), scene.fit(("bodies", "link3"))
    assert one.distance < whole.distance
    assert np.linalg.norm(np.array(one.target) - middle(scene, "link/link3")) < 0.02


def test_fit_counts_overlays_but_bounds_do_not(scene: Scene) -> None:
    before = scene.bounds()
    scene.overlays.show_ellipsoids([((5, 0, 0), np.eye(3), (1, 1, 1))])
    assert scene.bounds() == pytest.approx(before)
    assert scene.fit().target[0] > 1.0


def test_parallel_projection_draws_parallel_lines(scene: Scene) -> None:
    perspective = picture(scene)
    scene.view = replace(scene.view, parallel=True)
    assert len(changed(perspective, picture(scene))) > 100
    hit = scene.pick(*scene.project(middle(scene, "link/link2")))
    assert hit is not None
    assert hit.ref == ("bodies", "link2")


@pytest.mark.parametrize(
    ("name", "quality"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "plain"),
        ("Google SwiftShader", "plain"),
        ("", "plain"),
        ("NVIDIA GeForce RTX 3060/PCIe/SSE2", "fine"),
        ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", "fine"),
    ],
)
def test_software_renderers_are_told_by_name(name: str, quality: str) -> None:
    assert quality_of_renderer(name) == quality
