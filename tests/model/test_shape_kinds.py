"""Every kind of shape, and one made up here: mass, box, ball, points, drawing, files."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest
from trimesh import Trimesh
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkTriangleFilter

from core.files import dumps, format_model, loads
from core.files.meshes.body_inertia import body_inertia
from core.kinds import Kinds
from core.mechanism import Mechanism
from core.model import (
    SHAPE_TYPES,
    Arrow,
    Beam,
    Body,
    Coil,
    Gearwheel,
    Joint,
    Mesh,
    Model,
    Parameter,
    Pose,
    Shape,
    new_elements,
)
from core.model.fields import ScalarKind, Value, VectorKind, declared_fields, scalar
from core.model.formula.evaluation import FieldEvaluator
from core.model.shapes import Number, Point, SizeEvaluator
from core.numerics.spatial.inertia import Inertia, Symmetric3, inertia_from_center, split_inertia
from core.numerics.spatial.scalar import Scalar, times, total
from core.numerics.spatial.vector import ZERO
from viz.drawlist.draw_list import build_draw_list
from viz.drawlist.shape_forms import shape_geometry, snap_points
from viz.meshes.meshes import get_mesh


@dataclass(frozen=True, kw_only=True)
class Egg(Shape):
    """An ellipsoid about z: m = 4 π a² c ρ / 3, I_zz = 2 m a² / 5, I_xx = m (a² + c²) / 5."""

    word = "egg"
    radius: Value = scalar("length", 0.05, "Radius across")
    half: Value = scalar("length", 0.08, "Half its height")

    def mass_properties(self, density: Scalar, sizes: SizeEvaluator) -> Inertia:
        a, c = sizes.number(self.radius), sizes.number(self.half)
        aa, cc = times(a, a), times(c, c)
        mass = times(times(density, 4.0 * np.pi / 3.0), times(aa, c))
        across = times(mass, times(0.2, total((aa, cc))))
        return inertia_from_center(mass, ZERO, Symmetric3(across, across, times(0.4, times(mass, aa)), 0.0, 0.0, 0.0))

    def bounds(self, number: Number) -> tuple[Point, Point]:
        a, c = number(self.radius), number(self.half)
        return (-a, -a, -c), (a, a, c)


@pytest.fixture(autouse=True)
def egg(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind that comes from outside."""
    monkeypatch.setattr(SHAPE_TYPES, "_kinds", {**SHAPE_TYPES._kinds, "egg": Egg})


KINDS = (*SHAPE_TYPES.values(), Egg)
BY_SIZES = [kind for kind in KINDS if kind is not Mesh]
SOLID = [kind for kind in BY_SIZES if kind not in (Coil, Arrow)]
every_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.word)
by_sizes = pytest.mark.parametrize("kind", BY_SIZES, ids=lambda kind: kind.word)
solid = pytest.mark.parametrize("kind", SOLID, ids=lambda kind: kind.word)
RHO = 800.0


def mass_of(shape: Shape) -> tuple[float, np.ndarray, np.ndarray]:
    """Mass, centre and entries of the tensor about it."""
    mass, center, tensor = split_inertia(
        body_inertia(Body(name="b", density=RHO, shapes=(shape,)), FieldEvaluator({}, ""))
    )
    return float(mass), np.array(center, dtype=float), np.array(tensor, dtype=float)


def drawn(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """Points and triangles of the surface that is seen."""
    faces = vtkTriangleFilter()
    faces.SetInputData(get_mesh(shape_geometry(shape, "", {})))
    faces.Update()
    data = faces.GetOutput()
    points = vtk_to_numpy(data.GetPoints().GetData()).astype(float)
    return points, vtk_to_numpy(data.GetPolys().GetConnectivityArray()).reshape(-1, 3)


def enlarged(shape: Shape, factor: float) -> Shape:
    """With all lengths multiplied."""
    changes = {}
    for field in declared_fields(type(shape)):
        value = getattr(shape, field.name)
        if isinstance(field.kind, ScalarKind) and field.kind.dimension == "length":
            changes[field.name] = factor * value
        elif isinstance(field.kind, VectorKind) and field.kind.dimension == "length":
            changes[field.name] = tuple(factor * x for x in value)
    return dataclasses.replace(shape, **changes)


@pytest.mark.parametrize("kind", [k for k in SOLID if k not in (Beam, Gearwheel, Egg)], ids=lambda kind: kind.word)
def test_what_is_drawn_encloses_what_weighs(kind: type[Shape]) -> None:
    """But where parts overlap in the drawing, teeth are seen, or the box stands for the shape."""
    points, triangles = drawn(kind())
    solid = Trimesh(points, triangles)
    mass, center, tensor = mass_of(kind())
    assert mass == pytest.approx(RHO * solid.volume, rel=0.02)  # drawn with plane faces
    assert center == pytest.approx(solid.center_mass, abs=1e-4)
    moments = RHO * np.diag(np.asarray(solid.moment_inertia))
    assert tensor[:3] == pytest.approx(moments, rel=0.03)


@solid
def test_of_twice_the_size_it_weighs_eight_times_as_much(kind: type[Shape]) -> None:
    mass, center, tensor = mass_of(kind())
    more, farther, larger = mass_of(enlarged(kind(), 2.0))
    assert mass > 0.0
    assert more == pytest.approx(8.0 * mass)
    assert farther == pytest.approx(2.0 * center)
    assert larger == pytest.approx(32.0 * tensor)


@pytest.mark.parametrize("kind", [Coil, Arrow], ids=lambda kind: kind.word)
def test_pictures_weigh_nothing(kind: type[Shape]) -> None:
    mass, _, tensor = mass_of(kind(pose=Pose(position=(1.0, 2.0, 3.0))))
    assert mass == 0.0
    assert not tensor.any()


@by_sizes
def test_box_and_ball_hold_what_is_drawn(kind: type[Shape]) -> None:
    """Teeth stand out by a module, a coil's end by its wire, heads of arrows by 1.6 radii of the shaft."""
    shape = kind()
    out = {Gearwheel: 0.1, Coil: 0.1, Arrow: 1.6}.get(kind, 0.01) * float(getattr(shape, "radius", 0.0))
    low, high = (np.array(corner) for corner in shape.bounds(float))
    points, _ = drawn(shape)
    assert (points >= low - out - 1e-7).all()
    assert (points <= high + out + 1e-7).all()
    assert points.max(axis=0) == pytest.approx(high, abs=2.0 * out + 0.05 * float(high.max()))
    if kind not in (Arrow, Gearwheel, Egg):  # an egg is drawn as its box
        assert np.linalg.norm(points, axis=1).max() <= shape.bounding_radius(float) * 1.005 + (
            out if kind is Coil else 0.0
        )


@by_sizes
def test_points_to_click_lie_in_the_box(kind: type[Shape]) -> None:
    shape = kind()
    low, high = shape.bounds(float)
    marks = np.array(shape.snap_points(float))
    assert [0.0, 0.0, 0.0] in marks.tolist()
    assert len(np.unique(marks, axis=0)) == len(marks)
    assert (marks >= np.array(low) - 1e-12).all()
    assert (marks <= np.array(high) + 1e-12).all()


def test_ends_are_told_in_the_body() -> None:
    body = Body(name="b", shapes=(Egg(half="h", pose=Pose(position=(1.0, 0.0, 0.0), rotation=(0.0, np.pi / 2, 0.0))),))
    assert snap_points(body, {"h": 0.3}) == pytest.approx(np.array([[1.0, 0, 0], [1.3, 0, 0], [0.7, 0, 0]]))


@every_kind
def test_files_keep_it(kind: type[Shape]) -> None:
    shape = kind(pose=Pose(position=(0.1, 0.2, 0.3)), color=(1.0, 0.0, 0.0, 1.0))
    model = Model(bodies=(Body(name="b", mass=1.0, shapes=(shape,)),))
    assert loads(dumps(model, "kst"), "kst") == model


def test_a_new_kind_goes_through_a_machine() -> None:
    """A pendulum of an egg: T = 2π √((I + m d²) / (m g d)) about its hinge."""
    egg = Egg(radius="r", half=0.08, pose=Pose(position=(0.0, 0.0, -0.5)))
    model = Model(
        parameters=(Parameter(name="r", value=0.05, dimension="length"),),
        bodies=(Body(name="b", density=RHO, shapes=(egg,)),),
        joints=(Joint(name="j", kind="revolute", parent="world", child="b", axis=(0.0, 1.0, 0.0)),),
    )
    mech = Mechanism(model)
    m = RHO * 4.0 / 3.0 * np.pi * 0.05**2 * 0.08
    inertia = m * (0.05**2 + 0.08**2) / 5.0 + m * 0.5**2
    assert mech.mass_matrix([0.0])[0, 0] == pytest.approx(inertia)
    assert mech.gravity([0.2])[0] == pytest.approx(m * 9.81 * 0.5 * np.sin(0.2))
    found = next(item for item in build_draw_list(model) if item.id == "shape/b/0")
    box = np.array(get_mesh(found.geometry).GetBounds()).reshape(3, 2)
    assert box == pytest.approx(np.array([[-0.05, 0.05], [-0.05, 0.05], [-0.08, 0.08]]), abs=1e-6)
    assert loads(dumps(model, "kst"), "kst") == model
    assert [f.text for f in format_model(model, "urdf").findings if "egg" in f.text] == [
        "URDF has no egg; shape 1 is left out."
    ]


def test_a_body_ends_where_its_new_shape_does() -> None:
    model = Model(bodies=(Body(name="b", mass=1.0, shapes=(Egg(pose=Pose(position=(0.2, 0.0, 0.0))),)),))
    made, name = new_elements.add_frame(model, "b")
    assert made.find("frames", name).pose.position == pytest.approx((0.25, 0.0, 0.0))


def test_a_kind_that_lacks_a_member_is_refused() -> None:
    class Blob(Shape):
        word = "blob"

    with pytest.raises(TypeError, match="The shape kind Blob lacks bounds, mass_properties"):
        Kinds("shape", Shape, Blob, named_by="word")
