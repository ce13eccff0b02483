"""What was just added is seen: joints of bare bodies, layers, and the camera that takes it in."""

from app.document.session import ElementRef
from core.model import Body, Box, Capsule, Joint, Model, Pose
from core.model.edits import edits
from viz.camera import contains_box


def seen(bench, *refs):
    scene = bench.view.scene
    return all(contains_box(bench.view.viewpoint.target_view, scene.size, scene.bounds(ref)) for ref in refs)


def part(name, place=(0.0, 0.0, 0.0), size=0.1):
    shape = Box(size=(size, size, size), pose=Pose(position=place))
    return Body(name=name, mass=1.0, shapes=(shape,))


def test_the_camera_takes_in_what_is_added_outside_of_the_view(bench):
    session = bench.session
    session.apply("Add", lambda m: edits.add(m, part("near")))
    bench.wait(lambda: seen(bench, ElementRef("bodies", "near")))
    bench.draw()
    session.apply("Add", lambda m: edits.add(m, part("far", (0.0, 0.0, 5.0))))
    bench.wait(lambda: seen(bench, ElementRef("bodies", "far"), ElementRef("bodies", "near")))


def test_the_camera_rests_while_what_is_added_is_seen(bench):
    session = bench.session
    session.apply("Add", lambda m: edits.add(m, part("first", size=0.5)))
    bench.draw()
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    before = bench.view.scene.view
    session.apply("Add", lambda m: edits.add(m, part("second", (0.1, 0.0, 0.0), 0.05)))
    bench.draw()
    assert bench.view.viewpoint.target_view == before


def test_the_first_part_is_not_lost_in_an_empty_view(bench):
    bench.session.apply("Add", lambda m: edits.add(m, part("small", size=0.02)))
    scene = bench.view.scene
    bench.wait(lambda: scene.view.half_height < 0.1)


def test_joints_of_bodies_without_shapes_are_seen_without_asking(bench):
    model = Model(
        bodies=(Body(name="link", mass=1.0, center_of_mass=(0.2, 0, 0)),),
        joints=(Joint(name="A", parent="world", child="link"),),
    )
    bench.session.start_document(model)
    bench.draw()
    assert "joint/A/drum" in bench.view.scene.figures.table


def test_pins_of_drawn_links_are_seen_and_picked_and_layers_are_switched(bench):
    def link(name):
        shape = Capsule(pose=Pose(position=(0.05, 0, 0), rotation=(0, "90 deg", 0)), radius=0.006, length=0.1)
        return Body(name=name, density=7850.0, shapes=(shape,))

    pins = (
        Joint(name="A", parent="world", child="link1", axis=(0, -1, 0), rest=("60 deg",)),
        Joint(name="B", parent="link1", child="link2", a=Pose(position=(0.1, 0, 0)), axis=(0, -1, 0), rest=("30 deg",)),
    )
    bench.session.start_document(Model(bodies=(link("link1"), link("link2")), joints=pins))
    bench.view.viewpoint.look_from("front")
    bench.view.viewpoint.fit_next_picture()
    bench.draw()
    scene = bench.view.scene
    assert {"pin/A", "pin/B", "ground/A"} <= set(scene.figures.table)
    x, y = scene.project(bench.session.mech.joint_poses(bench.session.q)["B"][0][:3, 3])
    hit = scene.pick(x, y)
    assert hit is not None
    assert hit.ref == ("joints", "B")
    layer = scene.figures.table["shape/link2/0"].item.layer
    assert layer[1] < -0.01
    bench.window.settings.set_view_flag("layers", False)
    try:
        assert scene.figures.table["shape/link2/0"].item.layer == (0.0, 0.0, 0.0)
    finally:
        bench.window.settings.set_view_flag("layers", True)
