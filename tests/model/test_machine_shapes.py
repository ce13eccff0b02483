"""Pipes, beams, gearwheels, coils and arrows: mass, files, drawing."""

import numpy as np
import pytest

from core.files import dumps, format_model, loads
from core.files.meshes.body_inertia import body_inertia
from core.model import Arrow, Beam, Body, Coil, Gearwheel, Model, Parameter, Pipe
from core.model.formula.evaluation import FieldEvaluator
from viz.drawlist.shape_forms import shape_geometry
from viz.meshes.meshes import get_mesh

RHO = 1000.0


def mass_of(shape):
    found = body_inertia(Body(name="b", density=RHO, shapes=(shape,)), FieldEvaluator({}, ""))
    return float(found.mass), found.tensor


def test_a_pipe_weighs_what_its_ring_holds():
    mass, tensor = mass_of(Pipe(radius=0.05, inner_radius=0.04, length=0.2))
    expected = RHO * np.pi * (0.05**2 - 0.04**2) * 0.2
    assert mass == pytest.approx(expected)
    assert float(tensor.zz) == pytest.approx(expected * (0.05**2 + 0.04**2) / 2.0)  # m (R² + r²) / 2
    assert float(tensor.xx) == pytest.approx(expected * (3.0 * (0.05**2 + 0.04**2) + 0.2**2) / 12.0)


def test_a_beam_weighs_web_and_flanges():
    mass, tensor = mass_of(Beam(length=0.5, width=0.04, height=0.06, web=0.006, flange=0.008))
    area = 2 * 0.04 * 0.008 + 0.006 * (0.06 - 0.016)
    assert mass == pytest.approx(RHO * area * 0.5)
    second_x = (0.04 * 0.06**3 - 0.034 * 0.044**3) / 12.0  # second moment of the area about x
    assert float(tensor.xx) == pytest.approx(RHO * (second_x * 0.5 + area * 0.5**3 / 12.0))


def test_a_gearwheel_weighs_as_a_disc_and_pictures_weigh_nothing():
    mass, _ = mass_of(Gearwheel(radius=0.1, width=0.02, bore=0.02))
    assert mass == pytest.approx(RHO * np.pi * (0.1**2 - 0.02**2) * 0.02)
    assert mass_of(Coil())[0] == mass_of(Arrow())[0] == 0.0


SHAPES = (Pipe(radius="w"), Beam(), Gearwheel(teeth=31.0), Coil(turns=5.0), Arrow(length="2*w"))


def test_files_keep_them_and_urdf_says_what_it_leaves_out():
    model = Model(
        parameters=(Parameter(name="w", value=0.06, dimension="length"),),
        bodies=(Body(name="b", mass=1.0, shapes=SHAPES),),
    )
    assert loads(dumps(model, "kst"), "kst") == model
    words = [finding.text for finding in format_model(model, "urdf").findings]
    kinds = enumerate(("pipe", "beam", "gearwheel", "coil", "arrow"), 1)
    left_out = [text for text in words if text.startswith("URDF has no")]
    assert left_out == [f"URDF has no {kind}; shape {i} is left out." for i, kind in kinds]


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        (Pipe(radius=0.05, length=0.2), (0.1, 0.1, 0.2)),
        (Beam(length=0.5, width=0.04, height=0.06), (0.04, 0.06, 0.5)),
        (Coil(radius=0.02, wire=0.001, length=0.1), (0.042, 0.042, 0.1)),
        (Arrow(length=0.3), (0.026, 0.026, 0.3)),
    ],
)
def test_they_are_drawn_in_their_size(shape, size):
    low_high = np.array(get_mesh(shape_geometry(shape, "", {})).GetBounds()).reshape(3, 2)
    assert low_high[:, 1] - low_high[:, 0] == pytest.approx(size, rel=0.03)
