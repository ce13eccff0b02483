"""What lies between two frames: stretched, at a share of the line, on a perpendicular; how new elements are drawn."""

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Constraint, Driver, Force, Frame, Joint, Junction, LineMass, Model, Pose, Sensor
from core.model.shapes import Gearwheel
from core.simulation import simulate
from resources import EXAMPLES
from viz.drawlist import geometry as g
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.elements.sensor_looks import SensorLabels, format_si
from viz.drawlist.item import Item, Span, SpanBatch
from viz.drawlist.junction_items import balanced_poses, junction_poses
from viz.film.footage import object_names, object_poses
from viz.meshes.meshes import get_mesh
from viz.pictures.offscreen import open_offscreen_scene
from viz.placement import to_placement, translation

MASS = {"mass": 1.0}


def between(at=None, normal=False, place=None) -> Item:
    place = np.eye(4) if place is None else place
    return Item(
        "i",
        None,
        "a",
        g.Cylinder(0.1, 1.0),
        "force",
        "spring",
        to_placement(place),
        until=Span("b", to_placement(translation(0.0, 0.0, 0.5)), at, normal),
    )


POSES = {"a": translation(1.0, 0.0, 0.0), "b": translation(1.0, 3.0, 3.5)}
"""From (1, 0, 0) to (1, 3, 4): 5 m along (0, 0.6, 0.8)."""


def pose_of(item, poses):
    """(4, 4) world ← item."""
    return SpanBatch([item]).poses(poses)[0]


def test_a_form_one_unit_long_is_stretched_from_end_to_end():
    pose = pose_of(between(), POSES)
    assert pose @ (0, 0, -0.5, 1) == pytest.approx([1, 0, 0, 1])
    assert pose @ (0, 0, 0.5, 1) == pytest.approx([1, 3, 4, 1])
    assert np.linalg.norm(pose[:3, 0]) == pytest.approx(1.0)  # no thicker
    assert pose[:3, 0] @ pose[:3, 2] == pytest.approx(0.0)


@pytest.mark.parametrize(("at", "distance"), [((0.0, 0.7), 0.7), ((1.0, -0.7), 4.3), ((0.5, 0.25), 2.75)])
def test_a_form_of_its_own_size_stands_on_the_line(at, distance):
    pose = pose_of(between(at), POSES)
    assert pose[:3, 3] == pytest.approx(np.array([1.0, 0.0, 0.0]) + distance * np.array([0.0, 0.6, 0.8]))
    assert pose[:3, :3].T @ pose[:3, :3] == pytest.approx(np.eye(3), abs=1e-12)
    assert pose[:3, 2] == pytest.approx([0.0, 0.6, 0.8])


def test_the_perpendicular_ends_on_the_plane():
    pose = pose_of(between(normal=True), POSES)
    foot, tip = (pose[:3, 3] + k * pose[:3, 2] for k in (-0.5, 0.5))
    assert foot == pytest.approx([1.0, 3.0, 0.0])
    assert tip == pytest.approx([1.0, 3.0, 4.0])


def test_a_line_without_length_stays_finite():
    assert np.isfinite(pose_of(between(), {"a": np.eye(4), "b": translation(0, 0, -0.5)})).all()


def test_axes_of_another_frame():
    turned = np.array([[0.0, -1.0, 0, 5], [1, 0, 0, 5], [0, 0, 1, 5], [0, 0, 0, 1]])
    item = Item("i", None, "a", g.Sphere(1.0), "force", "wrench", to_placement(translation(0, 1, 0)), axes="b")
    pose = pose_of(item, {"a": translation(1, 0, 0), "b": turned})
    assert pose[:3, 3] == pytest.approx([1, 1, 0])
    assert pose[:3, :3] == pytest.approx(turned[:3, :3])


# --------------------------------------------------------------------------- forms


def test_a_coil_is_one_unit_long_and_as_wide_as_said():
    low_high = np.array(get_mesh(g.Coil(0.1, 0.01, 8, 2.0)).GetBounds()).reshape(3, 2)
    assert low_high[2] == pytest.approx([-0.5, 0.5], abs=0.01)
    assert low_high[0] == pytest.approx([-0.11, 0.11], abs=2e-3)
    part = np.array(get_mesh(g.Coil(0.1, 0.01, 8, 2.0, 0.5, 1.0, aside=0.3)).GetBounds()).reshape(3, 2)
    assert part[2] == pytest.approx([0.0, 0.5], abs=0.01)
    assert part[0] == pytest.approx([0.19, 0.41], abs=4e-3)


def test_a_gearwheel_has_its_tip_circle():
    points = np.array(get_mesh(g.Gearwheel(0.5, 0.1, 20, 0.1)).GetBounds())
    assert points[1] == pytest.approx(0.5 + 2 * 0.5 / 20, rel=0.02)  # one module more than the pitch circle
    assert points[4:] == pytest.approx([-0.05, 0.05])


# --------------------------------------------------------------------------- elements


def machine(**more) -> Model:
    """Two bodies on slides 2 m apart, with a frame each."""
    return Model(
        bodies=(Body(name="left", **MASS), Body(name="right", **MASS)),
        frames=(Frame(name="tip", parent="right", pose=Pose(position=(0, 0, 1))),),
        joints=(
            Joint(name="l", kind="prismatic", parent="world", child="left"),
            Joint(name="r", kind="prismatic", parent="world", child="right", a=Pose(position=(2, 0, 0))),
        ),
        **more,
    )


FORCES = {
    "spring": ({"stiffness": 10.0}, {"spring"}),
    "damper": ({"damping": 1.0}, {"cylinder", "rod"}),
    "both": ({"stiffness": 1.0, "damping": 1.0}, {"spring", "cylinder", "rod", "near", "far", "stubs"}),
    "series": ({"kind": "series", "stiffness": 1.0, "damping": 1.0}, {"spring", "cylinder", "rod"}),
    "law": ({"law": "10*length"}, {"line", "head_a", "head_b"}),
}


@pytest.mark.parametrize("case", FORCES)
def test_line_forces_show_what_their_law_says(case):
    fields, parts = FORCES[case]
    drawn = [
        i for i in build_draw_list(machine(forces=(Force(name="f", a="left", b="tip", **fields),))) if i.role == "force"
    ]
    assert {item.id.split("/")[-1] for item in drawn} == parts
    assert all(item.ref == ("forces", "f") and item.frame == "left" for item in drawn)
    assert {item.until.frame for item in drawn} == {"right"}


def test_point_masses_stand_where_the_element_says():
    masses = (LineMass(mass=1.0, place=0.25), LineMass(mass=1.0, at="from_b", place=0.2))
    force = Force(name="f", a="left", b="right", stiffness=1.0, masses=masses)
    found = {i.id: i for i in build_draw_list(machine(forces=(force,))) if "/mass" in i.id}
    poses = {"left": np.eye(4), "right": translation(2, 0, 0)}
    places = [pose_of(found[f"force/f/mass{i}"], poses)[0, 3] for i in (0, 1)]
    assert places == pytest.approx([0.5, 1.8])


def test_a_torque_is_drawn_in_the_axes_it_is_given_in():
    force = Force(name="f", kind="wrench", b="left", resolve="right", torque=(0.0, "t", 0.0))
    (item,) = (i for i in build_draw_list(machine(forces=(force,))) if i.role == "force")
    assert (item.frame, item.axes) == ("left", "right")
    assert pose_of(item, {})[:3, 2] == pytest.approx([0, 1, 0])  # a formula that is zero at the start has a direction


def test_every_kind_is_drawn_and_can_be_picked():
    model = machine(
        junctions=(Junction(name="meet", guess=(1, 0, 1)),),
        sensors=(
            Sensor(name="d", a="left", b="right"),
            Sensor(name="w", kind="angle", a="left", b="right"),
            Sensor(name="h", kind="point_plane", b="right"),
            Sensor(name="v", kind="velocity", b="left"),
            Sensor(name="c", kind="cut_force", joint="l"),
            Sensor(name="pp", kind="plane_plane", b="left"),
            Sensor(name="pose", kind="pose", b="left"),
        ),
        forces=(
            Force(name="f", a="left", b="meet", stiffness=1.0),
            Force(name="j", kind="joint", joint="r", stiffness=1.0),
            Force(name="s", kind="sensor", sensor="w", stiffness=1.0),
        ),
        constraints=(
            Constraint(name="g", kind="gear", joint="l", leader="r"),
            Constraint(name="hold", sensor="h"),
            Constraint(name="bar", kind="rod", a="left", b="right"),
            Constraint(name="u", kind="universal_rod", a="left", b="tip"),
        ),
        drivers=(Driver(name="m", joint="l", function="t"), Driver(name="n", sensor="d", function="t")),
    )
    refs = {item.ref for item in build_draw_list(model) if item.role != "label"}
    wanted = {(c, e.name) for c, e in model.elements() if c not in ("frames", "joints", "bodies")}
    assert wanted <= refs


def test_dimension_lines_say_what_is_measured():
    sensors = (
        Sensor(name="d", a="a", b="b", offset=1.0),
        Sensor(name="h", kind="point_plane", a="a", b="b"),
        Sensor(name="w", kind="angle", a="a", b="b"),
        Sensor(name="less", a="a", b="b", minus="d"),
    )
    bodies = (Body(name="a", **MASS), Body(name="b", **MASS))
    model = Model(bodies=bodies, sensors=sensors)
    angle = 0.7
    X_WB = np.eye(4)
    X_WB[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    X_WB[:3, 3] = (3.0, 0.0, 4.0)
    poses = {"a": np.eye(4), "b": X_WB}
    readings = SensorLabels(model, {}, format_si)
    assert [readings.sensor_value(sensor, poses) for sensor in sensors] == pytest.approx([4.0, 4.0, angle, 1.0])
    words = {item.ref[1]: readings(item, poses) for item in build_draw_list(model) if item.role == "dimension"}
    assert words["d"] == "d 4 m"
    assert words["w"] == "w 0.7 rad"


def test_a_spring_follows_its_ends_and_the_toggle_hides_it():
    model = load(EXAMPLES / "forces.kst")
    mech = Mechanism(model)
    q = mech.rest()
    with open_offscreen_scene((300, 200)) as scene:
        scene.show_model(model)
        scene.move(mech.frame_names, mech.poses(q))
        figure = scene.figures.table["force/strut/spring"]
        data, before = figure.data, figure.pose.copy()
        q[mech.q_names.index("slide")] += 0.1
        scene.move(mech.frame_names, mech.poses(q))
        again = scene.figures.table["force/strut/spring"]
        assert again is figure  # the same actor, moved
        assert again.data is data
        ends = [mech.frame(q, name)[:3, 3] for name in ("hook1", "eye1")]
        assert np.linalg.norm(again.pose[:3, 2]) == pytest.approx(np.linalg.norm(ends[1] - ends[0]))
        assert np.linalg.norm(before[:3, 2]) - np.linalg.norm(again.pose[:3, 2]) == pytest.approx(0.1)
        scene.select(("forces", "coil"))
        scene.set_display(forces=False)
        assert "force/strut/spring" not in scene.figures.table
        assert "force/coil/about" in scene.figures.table  # selected: still seen


def test_the_ground_lies_under_a_machine_that_reaches_below_it():
    model = Model(
        bodies=(Body(name="foot", **MASS),),
        joints=(Joint(name="j", parent="world", child="foot", a=Pose(position=(0, 0, -3))),),
    )
    with open_offscreen_scene((200, 150)) as scene:
        scene.show_model(model)
        mech = Mechanism(model)
        scene.move(mech.frame_names, mech.poses(mech.rest()))
        scene.fit_surroundings()
        assert scene.floor < -3.0


def test_a_junction_stands_where_its_springs_are_in_balance():
    corners = {"p": (0.0, 0.0, 0.0), "q": (3.0, 0.0, 0.0), "r": (0.0, 3.0, 3.0)}
    frames = tuple(Frame(name=name, parent="world", pose=Pose(position=place)) for name, place in corners.items())
    springs = tuple(Force(name=f"f{name}", a=name, b="meet", stiffness=100.0) for name in corners)
    model = Model(
        bodies=(Body(name="load", **MASS),),
        frames=frames,
        forces=springs,
        joints=(Joint(name="j", parent="world", child="load"),),
        junctions=(Junction(name="meet", guess=(0.2, 0.1, 0.3)),),
    )
    mech = Mechanism(model)
    place = balanced_poses(mech, mech.rest())["meet"]
    assert place[:3, 3] == pytest.approx([1.0, 1.0, 1.0], abs=1e-7)  # equal springs of no length: the centroid
    with open_offscreen_scene((200, 150)) as scene:
        scene.show_model(model)
        assert scene.figures.table["junction/meet"].pose[:3, 3] == pytest.approx([0.2, 0.1, 0.3])
        scene.move({"meet": place})
        scene.move({"load": np.eye(4)})
        assert scene.figures.table["junction/meet"].pose[:3, 3] == pytest.approx([1.0, 1.0, 1.0])
        spring = scene.figures.table["force/fq/spring"].pose
        assert spring @ (0, 0, 0.5, 1) == pytest.approx([1.0, 1.0, 1.0, 1.0], abs=1e-7)


def test_while_a_run_is_shown_junctions_stand_where_its_states_say():
    mech = Mechanism(load(EXAMPLES / "three_springs.kst"))
    told = {name: float(k) for k, name in enumerate(mech.x_names)}
    placed = junction_poses(mech, mech.rest(), None, told)
    assert placed["knot"][:3, 3] == pytest.approx([told[f"knot.{axis}"] for axis in "xyz"])
    resting = junction_poses(mech, mech.rest())
    np.testing.assert_allclose(resting["knot"], balanced_poses(mech, mech.rest())["knot"], atol=1e-12)
    run = simulate(mech, 0.3)
    at = object_names(run).index("knot")
    assert object_poses(run)[:, at, :3, 3] == pytest.approx(run["knot.position"], abs=1e-9)


def test_the_mark_of_a_gear_hides_behind_wheels_that_the_bodies_have():
    def radii(*shapes):
        places = {"one": 0.0, "two": 1.0}
        joints = tuple(Joint(name=n, parent="world", child=n, a=Pose(position=(x, 0, 0))) for n, x in places.items())
        bodies = tuple(Body(name=name, shapes=shapes, **MASS) for name in places)
        gear = Constraint(name="g", kind="gear", joint="one", leader="two", ratio=-1.0)
        found = build_draw_list(Model(bodies=bodies, joints=joints, constraints=(gear,)))
        return [item.geometry.radius for item in found if item.role == "mark"]

    assert radii() == pytest.approx([0.5, 0.5])
    assert max(radii(Gearwheel(radius=0.5))) < 0.4
