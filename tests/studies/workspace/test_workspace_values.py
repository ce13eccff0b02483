"""Values of maps against closed forms and against single poses asked one by one."""

import math
from dataclasses import replace

import numpy as np
import pytest

import kinetostat as ks
from core.analysis.manipulability import manipulability
from core.files import load
from core.files.sealed_file import is_intact
from core.studies.workspace.mapping import workspace
from resources import EXAMPLES

L1, L2 = 0.6, 0.4
SOME = 60
"""Poses that are asked one by one."""


def two_links(**fields):
    """Links in the vertical plane x–z with masses at their ends, limits of effort and speed."""
    rows = tuple(
        ks.DHRow(
            a=a,
            mass=mass,
            center_of_mass=(0, 0, 0),
            limit=ks.Limit(lower=lower, upper=upper, effort=effort, velocity=speed),
        )
        for a, mass, (lower, upper), effort, speed in (
            (L1, 2.0, (-1.0, 2.0), 90.0, 2.0),
            (L2, 1.0, (0.2, 2.8), 40.0, 3.0),
        )
    )
    gravity = ks.World(gravity=ks.Gravity(acceleration=(0.0, -9.81, 0.0)))
    return ks.Model(name="two links", chains=(ks.DHChain(name="arm", rows=rows),), world=gravity)


@pytest.fixture(scope="module")
def arm():
    return ks.Mechanism(two_links())


@pytest.fixture(scope="module")
def puma():
    return ks.Mechanism(load(EXAMPLES / "puma560.kst"))


def values(mech, kind, **options):
    found = workspace(mech, kind=kind, samples=200, **options)
    assert found.points == pytest.approx(np.asarray(mech.frame(found.q, found.frame))[:, :3, 3], abs=1e-12)
    return found


def test_manipulability_of_two_links(arm):
    found = values(arm, "manipulability")
    assert found.values == pytest.approx(L1 * L2 * np.abs(np.sin(found.q[:, 1])), abs=1e-12)
    assert found.unit == "m²"


def test_condition_isotropy_and_distance_are_of_the_same_singular_values(arm):
    q = values(arm, "condition").q
    s1, s12, c1, c12 = np.sin(q[:, 0]), np.sin(q.sum(axis=1)), np.cos(q[:, 0]), np.cos(q.sum(axis=1))
    J = np.array([[-L1 * s1 - L2 * s12, -L2 * s12], [L1 * c1 + L2 * c12, L2 * c12]]).transpose(2, 0, 1)
    sigma = np.linalg.svd(J, compute_uv=False)
    assert values(arm, "condition").values == pytest.approx(sigma[:, 0] / sigma[:, 1], rel=1e-7)
    assert values(arm, "isotropy").values == pytest.approx(sigma[:, 1] / sigma[:, 0], rel=1e-7)
    assert values(arm, "singularity").values == pytest.approx(sigma[:, 1], rel=1e-7)


@pytest.mark.parametrize("part", ["translation", "rotation"])
def test_an_arm_in_space_agrees_with_its_ellipsoids(puma, part):
    volume, narrow = values(puma, "manipulability", part=part), values(puma, "isotropy", part=part)
    for k in range(SOME):
        one = manipulability(puma, volume.q[k], "tool", part=part, m=3).measures
        assert volume.values[k] == pytest.approx(one.yoshikawa, rel=1e-6, abs=1e-9)
        assert narrow.values[k] == pytest.approx(one.eccentricity, rel=1e-5, abs=1e-6)


def test_payload_of_two_links(arm):
    """τ1 = g (m1 l1 c1 + (m2 + m)(l1 c1 + l2 c12)), τ2 = g (m2 + m) l2 c12 with masses at the ends, within limits."""
    found = values(arm, "payload")
    c1, c12 = np.cos(found.q[:, 0]), np.cos(found.q.sum(axis=1))
    arms = np.stack([L1 * c1 + L2 * c12, L2 * c12], axis=1) * 9.81
    own = np.stack([9.81 * 2.0 * L1 * c1 + arms[:, 0], arms[:, 1]], axis=1)
    limits = np.array([90.0, 40.0])
    with np.errstate(divide="ignore"):
        most = np.where(arms > 0, (limits - own) / arms, (-limits - own) / arms).min(axis=1)
    assert found.values == pytest.approx(np.maximum(most, 0.0), rel=1e-9)
    assert found.unit == "kg"


def test_the_worst_error_of_two_links(arm):
    found = values(arm, "accuracy", error=1e-3)
    arm_2 = np.sqrt(L1**2 + L2**2 + 2 * L1 * L2 * np.cos(found.q[:, 1]))  # from the shoulder to the tip
    along = (L2 + L1 * np.cos(found.q[:, 1])) * L2  # J1 · J2
    wanted = 1e-3 * np.sqrt(arm_2**2 + L2**2 + 2 * np.abs(along))
    assert found.values == pytest.approx(wanted, abs=1e-15)
    assert found.unit == "m"
    turned = values(arm, "accuracy", part="rotation", error=1e-3)
    assert turned.values == pytest.approx(np.full(len(turned.q), 2e-3), abs=1e-15)
    with pytest.raises(ks.ModelError, match="not a valid joint position error"):
        workspace(arm, kind="accuracy", samples=100, error=0.0)


def test_stiffness_of_two_links_is_the_least_force_for_a_way(arm):
    with pytest.raises(ks.ModelError, match="no stiffness"):
        workspace(arm, kind="stiffness", samples=100)
    K1, K2 = 900.0, 400.0
    model = two_links().expanded
    springs = dict(zip([joint.name for joint in model.joints if joint.kind == "revolute"], (K1, K2), strict=True))
    joints = tuple(replace(joint, stiffness=springs.get(joint.name, 0.0)) for joint in model.joints)
    mech = ks.Mechanism(replace(model, joints=joints))
    found = values(mech, "stiffness")
    assert found.unit == "N/m"
    for k in range(0, len(found.q), 20):
        J = np.asarray(mech.jacobian(found.q[k], found.frame))[3:5]
        # least work ½ k x² over unit ways x: joints take δ = J⁻¹ x
        angles = np.linspace(0.0, np.pi, 20_001)
        ways = np.linalg.solve(J, np.stack([np.cos(angles), np.sin(angles)]))
        least = (K1 * ways[0] ** 2 + K2 * ways[1] ** 2).min()
        assert found.values[k] == pytest.approx(least, rel=1e-6)


def around(count=720):
    """Unit vectors in the plane."""
    angles = np.linspace(0.0, 2.0 * math.pi, count, endpoint=False)
    return np.stack([np.cos(angles), np.sin(angles)])


def test_speed_in_every_direction_is_the_width_of_the_zonotope(arm):
    found = values(arm, "speed")
    J = np.asarray(arm.jacobian(found.q, "tool"))[:, 3:5]
    extents = np.abs(np.einsum("id,nik->nkd", around(), J) * np.array([2.0, 3.0])[:, None]).sum(axis=1)
    least = extents.min(axis=1)
    assert (found.values <= least + 1e-12).all()
    assert found.values == pytest.approx(least, rel=0.02, abs=0.02)


def test_force_in_every_direction_is_borne(arm):
    """At the value no joint is beyond its effort in any direction; a little more is too much in some."""
    found = values(arm, "force")
    J, hold = np.asarray(arm.jacobian(found.q, "tool"))[:, 3:5], np.asarray(arm.gravity(found.q))
    load = np.abs(np.einsum("id,nik->nkd", around(), J)).max(axis=2)
    room = np.array([90.0, 40.0]) - np.abs(hold)
    bears = (room > 0).all(axis=1)
    assert (found.values[~bears] == 0.0).all()
    needed = found.values[bears, None] * load[bears]
    assert (needed <= room[bears] + 1e-9).all()
    assert (np.max(needed / room[bears], axis=1) > 0.999).all()


def test_a_formula_is_that_of_the_pose(arm):
    found = values(arm, "energy.potential")
    assert found.values == pytest.approx(np.asarray(arm.energy(found.q, np.zeros_like(found.q)).potential), abs=1e-12)
    assert found.unit == "J"


def test_configurations_of_two_links_without_limits():
    rows = (ks.DHRow(a=L1), ks.DHRow(a=L2))
    found = workspace(
        ks.Model(name="2R", chains=(ks.DHChain(name="2R", rows=rows),)), kind="configurations", samples=400
    )
    radii = np.linalg.norm(found.points, axis=1)
    inside = (radii > L1 - L2 + 1e-3) & (radii < L1 + L2 - 1e-3)
    assert (found.values[inside] == 2.0).all()


def test_an_arm_with_a_spherical_wrist_has_eight_configurations(puma):
    """Over whole turns: 2 shoulders, 2 elbows and 2 wrists, wherever it reaches."""
    turns = dict.fromkeys(puma.q_names, (-math.pi, math.pi))
    found = workspace(puma, kind="configurations", over=turns, samples=200)
    assert (found.values <= 8.0).all()
    assert np.mean(found.values == 8.0) > 0.9


def test_what_does_not_run_stands_still(puma):
    """Also where inverse kinematics is asked: two joints of six, within bounds narrower than their limits."""
    over = {"joint2": (0.2, 1.2), "joint3": (-1.4, -0.4)}
    found = workspace(puma, over=over, samples=400)
    rest = puma.rest()
    others = [0, 3, 4, 5]
    assert found.q[:, others] == pytest.approx(np.tile(rest[others], (len(found.q), 1)), abs=1e-12)
    assert found.q[:, 1].min() >= 0.2 - 1e-9
    assert found.q[:, 2].max() <= -0.4 + 1e-9
    upper_arm, forearm, lean = 0.4318, math.hypot(0.4318, 0.0203), math.atan2(0.4318, 0.0203)
    area = upper_arm * forearm * 1.0 * (math.cos(lean - 1.4) - math.cos(lean - 0.4))
    assert found.area == pytest.approx(area, rel=1e-3)


def test_orientations_of_a_free_planar_arm():
    """With l1 = 0.5, l2 = 0.4, l3 = 0.1 the last link may point anywhere where its joint is within 0.1 … 0.9: the
    frame has every orientation at radii 0.2 … 0.8, and some of them beyond."""
    rows = tuple(ks.DHRow(a=a) for a in (0.5, 0.4, 0.1))
    found = workspace(
        ks.Model(name="3R", chains=(ks.DHChain(name="3R", rows=rows),)), kind="orientations", samples=2000
    )
    radii = np.linalg.norm(found.points, axis=1)
    all_round = (radii > 0.2 + 1e-3) & (radii < 0.8 - 1e-3)
    assert all_round.any()
    assert (found.values[all_round] == 1.0).all()
    beyond = radii > 0.8 + 1e-3
    cosine = (0.9**2 - radii[beyond] ** 2 - 0.1**2) / (-2.0 * 0.1 * radii[beyond])
    share = np.arccos(np.clip(cosine, -1.0, 1.0)) / math.pi
    assert found.values[beyond] == pytest.approx(share, abs=2.5 / 48)


def test_the_same_seed_gives_the_same_map_whatever_the_threads(puma):
    one, other = (workspace(puma, kind="isotropy", samples=9000, workers=n, slice=("z", 0.6)) for n in (1, 2))
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.q, other.q)
    assert one.area == other.area


def test_with_an_orientation_every_pose_has_it(puma):
    wanted = np.diag([1.0, -1.0, -1.0])
    found = workspace(puma, orientation=(math.pi, 0.0, 0.0), samples=300)
    R = np.asarray(puma.frame(found.q, "tool"))[:, :3, :3]
    assert np.abs(R - wanted).max() < 1e-8
    lower, upper = (np.array([getattr(c, each) for c in puma.coordinates]) for each in ("lower", "upper"))
    assert (found.q >= lower - 1e-9).all()
    assert (found.q <= upper + 1e-9).all()


def test_stopped_it_keeps_what_there_is(puma):
    asked = []

    def cancelled():
        asked.append(1)
        return len(asked) > 4

    found = workspace(puma, kind="manipulability", samples=200_000, workers=1, cancelled=cancelled)
    assert not found.complete
    assert 0 < len(found.points) < 200_000
    assert math.isnan(found.volume)
    assert "stopped" in found.notes[0]


def test_files(arm, tmp_path):
    import h5py
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkIOPLY import vtkPLYReader
    from vtkmodules.vtkIOXML import vtkXMLUnstructuredGridReader

    found = values(arm, "manipulability")
    for suffix in ("h5", "csv", "ply", "vtu"):
        found.save(tmp_path / f"map.{suffix}")
    assert is_intact(tmp_path / "map.h5")  # its checksums
    with h5py.File(tmp_path / "map.h5") as file:
        assert np.array_equal(file["q"][()], found.q)
        assert file.attrs["area"] == found.area
        assert list(file.attrs["names"]) == list(found.names)
    table = np.genfromtxt(tmp_path / "map.csv", delimiter=",", skip_header=1)
    assert table[:, :3] == pytest.approx(found.points, rel=1e-9, abs=1e-12)
    reader = vtkXMLUnstructuredGridReader()
    reader.SetFileName(str(tmp_path / "map.vtu"))
    reader.Update()
    data = reader.GetOutput()
    assert vtk_to_numpy(data.GetPoints().GetData()) == pytest.approx(found.points)
    assert vtk_to_numpy(data.GetPointData().GetArray("manipulability")) == pytest.approx(found.values)
    cloud = vtkPLYReader()
    cloud.SetFileName(str(tmp_path / "map.ply"))
    cloud.Update()
    assert cloud.GetOutput().GetNumberOfPoints() == len(found.points)
    with pytest.raises(ks.FileError, match=r"\.h5"):
        found.save(tmp_path / "map.stl")


def test_difference_of_two_maps(arm):
    """A longer second link: what came lies outside, nothing went beyond the new reach."""
    before = workspace(arm, samples=3000)
    model = two_links()
    first, second = model.chains[0].rows
    longer = replace(model, chains=(replace(model.chains[0], rows=(first, replace(second, a=1.2 * L2))),))
    after = workspace(longer, samples=3000)
    change = after.less(before)
    assert change.area == pytest.approx(after.area - before.area)
    came = change.points[change.values == 1.0]
    assert len(came)
    assert (change.values == -1.0).any()
    with pytest.raises(ks.ModelError, match="cannot be compared"):
        after.less(workspace(arm, samples=300, kind="isotropy"))
