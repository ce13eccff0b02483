"""Springs and dampers in joints: a coil along a slide, which stretches with it, a spiral about an axis."""

import numpy as np
import pytest

from core.mechanism import Mechanism
from core.model import Body, Force, Inertia, Joint, Limit, Model
from viz.drawlist import geometry as g
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.item import SpanBatch


def sliding(kind="prismatic", coordinate="", axis=(1.0, 0.0, 0.0), **law):
    block = Body(name="block", mass=1.0, inertia=Inertia(ixx=0.1, iyy=0.1, izz=0.1))
    limits = (Limit(lower=-0.3, upper=0.5),) if kind == "prismatic" else ()
    slide = Joint(name="slide", kind=kind, parent="world", child="block", axis=axis, limits=limits)
    force = Force(name="spring", kind="joint", joint="slide", coordinate=coordinate, **law)
    return Model(name="sliding", bodies=(block,), joints=(slide,), forces=(force,))


def drawn(model):
    return {item.id.rpartition("/")[2]: item for item in build_draw_list(model) if item.id.startswith("force/spring/")}


@pytest.mark.parametrize("displacement", [0.0, 0.35, -0.25])
def test_a_coil_on_a_slide_stretches_with_it(displacement):
    model = sliding(stiffness=100.0)
    coil = drawn(model)["spring"]
    assert isinstance(coil.geometry, g.Coil)
    mech = Mechanism(model)
    poses = dict(zip(mech.frame_names, mech.poses(np.array([displacement])), strict=True))
    (X,) = SpanBatch([coil]).poses({**poses, "world": np.eye(4)})
    np.testing.assert_allclose(X[:3, 2], [coil.geometry.length + displacement, 0.0, 0.0], atol=1e-9)
    assert coil.geometry.length > 0.3  # it does not turn round at the lower limit


def test_a_spring_and_a_damper_stand_side_by_side_on_a_slide():
    assert {"spring", "cylinder", "rod"} <= set(drawn(sliding(stiffness=100.0, damping=3.0)))
    assert set(drawn(sliding(damping=3.0))) == {"cylinder", "rod"}


@pytest.mark.parametrize(
    ("kind", "coordinate", "along"),
    [
        ("planar", "y", None),
        ("cylindrical", "displacement", (0.0, 0.0, 1.0)),
        ("free", "x", (1.0, 0.0, 0.0)),
    ],
)
def test_so_it_is_along_the_slides_of_other_joints(kind, coordinate, along):
    model = sliding(kind, coordinate, (0.0, 0.0, 1.0), stiffness=100.0)
    coil = drawn(model)["spring"]
    assert isinstance(coil.geometry, g.Coil)
    if along is not None:
        mech = Mechanism(model)
        poses = dict(zip(mech.frame_names, mech.poses(mech.neutral()), strict=True))
        (X,) = SpanBatch([coil]).poses({**poses, "world": np.eye(4)})
        np.testing.assert_allclose(X[:3, 2] / np.linalg.norm(X[:3, 2]), along, atol=1e-9)


@pytest.mark.parametrize(("kind", "coordinate"), [("revolute", ""), ("cylindrical", "angle"), ("planar", "angle")])
def test_about_an_axis_it_is_a_spiral(kind, coordinate):
    (item,) = drawn(sliding(kind, coordinate, stiffness=2.0)).values()
    assert isinstance(item.geometry, g.Spiral)
