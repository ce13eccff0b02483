"""Mass properties of shapes against fine meshes of them (trimesh), and against Steiner's theorem."""

import numpy as np
import pytest
import trimesh

from core.numerics.spatial import inertia
from core.numerics.spatial.inertia import center

DENSITY = 780.0


def tensor(I):
    return np.array([[I.xx, I.xy, I.xz], [I.xy, I.yy, I.yz], [I.xz, I.yz, I.zz]], dtype=float)


def check(own, mesh, tolerance):
    mesh.density = DENSITY
    assert own.mass == pytest.approx(mesh.mass, rel=tolerance)
    c = np.array(center(own), dtype=float)
    np.testing.assert_allclose(c, mesh.center_mass, atol=tolerance)
    about = tensor(own.tensor) - own.mass * (c @ c * np.eye(3) - np.outer(c, c))
    np.testing.assert_allclose(about, mesh.moment_inertia, atol=tolerance * np.max(np.abs(mesh.moment_inertia)))


def test_box():
    check(inertia.box(DENSITY, 0.2, 0.3, 0.5), trimesh.creation.box((0.2, 0.3, 0.5)), 1e-12)


def test_cylinder():
    check(inertia.cylinder(DENSITY, 0.1, 0.4), trimesh.creation.cylinder(0.1, 0.4, sections=1500), 1e-4)


def test_sphere():
    check(inertia.sphere(DENSITY, 0.2), trimesh.creation.icosphere(5, 0.2), 3e-3)


def test_capsule():
    check(inertia.capsule(DENSITY, 0.1, 0.3), trimesh.creation.capsule(0.3, 0.1, count=(200, 200)), 1e-3)


def test_cone():
    mesh = trimesh.creation.cone(0.1, 0.4, sections=1500)
    mesh.apply_translation((0.0, 0.0, -0.2))  # theirs stands on its base
    check(inertia.cone(DENSITY, 0.1, 0.4), mesh, 1e-4)
