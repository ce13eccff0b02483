"""Function and motion generation as the document asks for them: lengths come back from the closed form of the four-bar
by which their points were made."""

import numpy as np
import pytest

import kinetostat as ks
from core.design.asked_designs import find_target_plane, plane_frame_from_pose, plane_pose_from_frame
from core.model.edits import edits
from resources import EXAMPLES

FOUR_BAR = ks.load(EXAMPLES / "four_bar.kst")
B, D, GROUND = 0.3, 0.32, np.array([-0.16, 0.2])
TRUE = {"a": 0.12, "c": 0.28}
VARY = tuple(ks.DesignVariable(parameter=name) for name in TRUE)


def closed_form(theta):
    """(n,) rocker angles and (n,) complex coupler pins of the four-bar by triangles, from crank angles theta (n,)."""
    A = TRUE["a"] * np.exp(1j * theta)
    L = np.abs(A - D)
    inner = np.arccos((L**2 + TRUE["c"] ** 2 - B**2) / (2 * L * TRUE["c"]))
    return np.unwrap(np.angle(A - D) - inner), A


def test_a_function_of_the_crank_gives_the_lengths_back():
    theta = np.linspace(0.0, 5.5, 12)
    psi, _ = closed_form(theta)
    aim = ks.Aim(
        name="f", kind="function", vary=VARY, coordinate="crank_pin", output="rocker_pin.q",
        function=tuple(ks.FunctionRow(x=float(x), y=float(y)) for x, y in zip(theta, psi, strict=True)),
    )  # fmt: skip
    best = ks.asked_design(edits.add(FOUR_BAR, aim), "f").solve(starts=1).best
    assert best.value < 1e-7
    assert dict(best.parameters) == pytest.approx(TRUE, abs=1e-6)


def test_poses_of_the_coupler_give_the_lengths_back():
    theta = np.radians([0.0, 40.0, 80.0, 120.0, 160.0])
    psi, A = closed_form(theta)
    pin = D + TRUE["c"] * np.exp(1j * psi)
    angle = np.angle(pin - A)
    rows = tuple(
        ks.PoseRow(x=float(t), u=float(z.real + GROUND[0]), v=float(z.imag + GROUND[1]), angle=float(e))
        for t, z, e in zip(theta, A, angle, strict=True)
    )
    aim = ks.Aim(name="m", kind="motion", vary=VARY, coordinate="crank_pin", frame="coupler", poses=rows)
    model = edits.add(FOUR_BAR, aim)
    problem = ks.asked_design(model, "m")
    best = problem.solve(starts=1).best
    assert dict(best.parameters) == pytest.approx(TRUE, abs=1e-6)
    np.testing.assert_allclose(problem.generated(TRUE), [[row.x, row.u, row.v, row.angle] for row in rows], atol=1e-9)
    assert ks.loads(ks.dumps(model, "kst"), "kst") == model
    renamed = edits.rename(model, "bodies", "coupler", "floating_link").designs[0]
    assert renamed.frame == "floating_link"


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"kind": "function", "coordinate": "crank_pin", "output": "rocker.q"}, "not a scalar channel"),
        ({"kind": "function", "coordinate": "crank_pin", "output": "rocker_pin.q"}, "Give at least two rows"),
        ({"kind": "motion", "coordinate": "crank_pin", "frame": ""}, "There is no frame ''"),
        ({"kind": "motion", "coordinate": "crank", "frame": "coupler",
          "poses": (ks.PoseRow(), ks.PoseRow(x=1.0))}, "There is no coordinate 'crank'"),
    ],
)  # fmt: skip
def test_what_cannot_be_asked_is_named(fields, words):
    with pytest.raises(ks.ModelError) as told:
        ks.asked_design(edits.add(FOUR_BAR, ks.Aim(name="d", vary=VARY, **fields)), "d")
    assert words in str(told.value)


def test_the_plane_of_a_curve_is_kept():
    from scipy.spatial.transform import Rotation

    X = np.eye(4)
    X[:3, :3] = Rotation.random(random_state=3).as_matrix()
    X[:3, 3] = [0.3, -0.2, 0.7]
    aim = ks.Aim(name="path", kind="curve", curve=([0, 0], [0.1, 0.2], [0, 0.2]), place=plane_frame_from_pose(X))
    model = ks.loads(ks.dumps(edits.add(FOUR_BAR, aim), "kst"), "kst")
    np.testing.assert_allclose(find_target_plane(model, "path"), X, atol=2e-9)  # kept to 1e-9
    assert plane_frame_from_pose(plane_pose_from_frame(None, {}, "")) is None


def test_an_atlas_that_was_stopped_is_made_when_it_is_asked_for_again(monkeypatch):
    from core.codegen import object_cache
    from core.design.atlas import Atlas
    from core.design.topologies import topology_named

    monkeypatch.setattr(object_cache, "load", lambda name: None)
    monkeypatch.setattr(object_cache, "store_object_code", lambda name, content: None)
    atlas = Atlas(topology_named("four_bar"), members=500, seed=11)
    asked = []
    assert not atlas.prepare(lambda: len(asked.append(1) or asked) > 3)
    assert len(asked) == 4
    assert atlas.prepare(lambda: False)
    np.testing.assert_array_equal(atlas.shapes, Atlas(topology_named("four_bar"), members=500, seed=11).shapes)
