"""What is done for a picture: actors, passes, pixels, polygons; less while something moves, which leaves no trace."""

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Joint, Model, Pose
from resources import EXAMPLES
from viz.pictures.offscreen import open_offscreen_scene
from viz.pictures.picture_files import read_pixels
from viz.scene import figures, quality
from viz.scene.figures import quaternions

SIZE = (480, 360)
PUMA = load(EXAMPLES / "puma560.kst")


def row(count):
    """Links in a row."""
    names = [f"link{k}" for k in range(count)]
    joints = tuple(
        Joint(
            name=f"joint{k}",
            parent=names[k - 1] if k else "world",
            child=names[k],
            axis=(0.0, 1.0, 0.0),
            a=Pose(position=(0.2, 0.0, 0.0)),
        )
        for k in range(count)
    )
    return Model(bodies=tuple(Body(name=name, mass=1.0) for name in names), joints=joints)


def shown(scene, model):
    """The machine in the scene of the window where the processor draws; its mechanism."""
    scene._fineness = "plain"
    scene._apply_quality()
    mech = Mechanism(model)
    scene.show_model(model)
    place(scene, mech, 0.0)
    scene.view = scene.fit()
    scene.fit_surroundings()
    return mech


def place(scene, mech, value):
    q = mech.move(mech.rest(), {mech.coordinates[0].name: value, mech.coordinates[1].name: 0.5 * value})
    scene.move(mech.frame_names, mech.poses(q))


def taken(scene, hasty=False):
    scene.render(hasty)
    return read_pixels(scene.window)


def test_more_bodies_are_no_more_actors():
    counts = []
    for links in (20, 60):
        with open_offscreen_scene(SIZE) as scene:
            shown(scene, row(links))
            counts.append(scene.renderer.GetActors().GetNumberOfItems())
    assert counts[0] == counts[1] <= 12


@pytest.mark.parametrize("value", [0.0, 0.9])
def test_a_crowd_is_seen_as_its_figures_would_be_alone(monkeypatch, value):
    pictures = []
    for many in (figures.MANY, 1000):
        monkeypatch.setattr(figures, "MANY", many)
        with open_offscreen_scene(SIZE) as scene:
            mech = shown(scene, row(24))
            place(scene, mech, value)
            pictures.append(taken(scene).astype(int))
    differ = np.abs(pictures[0] - pictures[1]).max(axis=2) > 3
    assert differ.mean() < 1e-3


def test_turns_become_quaternions():
    """q and −q are the same turn; half turns, where w = 0, too."""
    rng = np.random.default_rng(5)
    q = rng.normal(size=(40, 4))
    q[:3] = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    q[3:10, 0] = 0.0
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    w, x, y, z = q.T
    turns = np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    ).transpose(2, 0, 1)
    np.testing.assert_allclose(np.abs(np.einsum("ij,ij->i", quaternions(turns), q)), 1.0, atol=1e-12)


@pytest.mark.parametrize(("polygons", "pixels_"), [(10**9, 10**9), (0, 10**9), (10**9, 20_000), (0, 20_000)])
@pytest.mark.parametrize("model", [PUMA, row(24)], ids=["puma", "row"])
def test_nothing_of_the_haste_stays(monkeypatch, model, polygons, pixels_):
    """The still picture after a movement is the one without it, pixel for pixel."""
    monkeypatch.setattr(quality, "MOST_POLYGONS", polygons)
    monkeypatch.setattr(quality, "MOST_PIXELS", pixels_)
    monkeypatch.setattr(quality, "FEW_PIXELS", pixels_ // 2)
    with open_offscreen_scene(SIZE) as scene:
        mech = shown(scene, model)
        before = taken(scene)
        for value in (0.3, 0.6, 0.0):
            place(scene, mech, value)
            hasty = taken(scene, hasty=True)
            assert scene.hasty
        assert scene.figures.coarse == (polygons == 0)
        most = pixels_ // 2 if polygons == 0 else pixels_
        assert hasty.shape[0] * hasty.shape[1] == pytest.approx(min(most, SIZE[0] * SIZE[1]), rel=0.02)
        assert scene.size == SIZE
        assert (taken(scene) == before).all()
        assert not scene.hasty


def test_what_is_picked_does_not_depend_on_haste(monkeypatch):
    monkeypatch.setattr(quality, "MOST_PIXELS", 20_000)
    with open_offscreen_scene(SIZE) as scene:
        shown(scene, PUMA)
        scene.set_display(cube=True)
        scene.render()
        spots = [(x, y) for x in range(0, SIZE[0], 24) for y in range(0, SIZE[1], 24)]
        still = [(scene.pick(*spot) and scene.pick(*spot).item, scene.cube.pick(*spot)) for spot in spots]
        scene.render(fast=True)
        assert scene.window.GetSize() != SIZE
        assert [(scene.pick(*spot) and scene.pick(*spot).item, scene.cube.pick(*spot)) for spot in spots] == still


def test_glass_is_sorted_only_where_there_is_some():
    with open_offscreen_scene(SIZE) as scene:
        mech = shown(scene, PUMA)
        scene.render()
        assert [renderer.GetUseOIT() for renderer in (scene.renderer, scene.front, scene.corner)] == [0, 0, 0]
        assert not scene.renderer.GetUseSSAO()
        scene.overlays.show_ghosts(mech.frame_names, [mech.poses(mech.rest())])
        scene.render(fast=True)
        assert scene.renderer.GetUseOIT()
        scene.overlays.clear()
        scene.render()
        assert not scene.renderer.GetUseOIT()


def test_haste_smooths_nothing():
    with open_offscreen_scene(SIZE) as scene:
        shown(scene, PUMA)
        scene.render(fast=True)
        assert not scene.front.GetUseFXAA()
        scene.render()
        assert scene.front.GetUseFXAA()


def test_the_inner_side_of_solids_is_not_drawn_and_not_missed():
    """Glass shows its inner side, too; what is solid looks the same with it and without."""
    with open_offscreen_scene(SIZE) as scene:
        shown(scene, PUMA)
        without = taken(scene)
        surfaces = [figure.actor.GetProperty() for figure in scene.figures.table.values()]
        assert all(surface.GetBackfaceCulling() for surface in surfaces)
        for surface in surfaces:
            surface.BackfaceCullingOff()
        differ = np.abs(taken(scene).astype(int) - without).max(axis=2) > 3
        assert differ.mean() < 1e-3
