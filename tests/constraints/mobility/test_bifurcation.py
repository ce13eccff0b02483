"""Ways of motion that part, against what is known in closed form.

A plate on n equal parallel rods between the same points a_i of ground and plate, turned by R and shifted by p, is held
by |(R − 1) a_i + p| = L for all i. R = 1, |p| = L: it shifts along a sphere, 2 freedoms, whatever n. With the a_i on a
circle about z, R about z by θ and p = (0, 0, h), h² = L² − 4 r² sin²(θ/2): it screws, 1 freedom (Wren 1668; Wohlhart
1996: kinematotropic). Other poses put the a_i on a conic that is no circle: none for n ≥ 5; for n = 4 each piece of
the manifold has at least 6 − 4 freedoms; for n = 3 all is one manifold of 3.
"""

import math

import numpy as np
import pytest

from core.constraints.mobility.bifurcation import classify_branch, find_branches
from core.constraints.mobility.constraint_rank import PositionConstraints
from core.mechanism import Mechanism
from core.model import Constraint, Frame, Model, Pose
from tests.constraints.mobility import overconstrained as machines
from tests.walks import walk

LENGTH, RADIUS = 1.0, 0.6


def points(count, radii=None):
    angles = 2.0 * np.pi * np.arange(count) / count + 0.3 * np.sin(np.arange(count))
    radii = [RADIUS] * count if radii is None else radii
    return [(r * math.cos(a), r * math.sin(a), 0.0) for a, r in zip(angles, radii, strict=True)]


def platform(places):
    """A free plate on rods, each without a body of its own."""
    poses = [Pose(position=tuple(map(float, place))) for place in places]
    frames = [
        Frame(name=f"{side[0]}{i}", parent=side, pose=X) for side in ("world", "plate") for i, X in enumerate(poses)
    ]
    rods = [Constraint(name=f"rod{i}", kind="rod", a=f"w{i}", b=f"p{i}", length=LENGTH) for i in range(len(places))]
    bodies = (machines.body("plate"),)
    return Mechanism(Model(name="platform", bodies=bodies, frames=tuple(frames), constraints=tuple(rods)))


def drawn(places, lower):
    """The same with rods that are bodies."""
    joints = []
    for i, place in enumerate(places):
        second = {"second_axis": (0.0, 1.0, 0.0)} if lower == "universal" else {}
        joints += [
            machines.joint(f"foot{i}", lower, "world", f"rod{i}", place, (1, 0, 0), **second),
            machines.joint(f"head{i}", "spherical", f"rod{i}", "plate", np.add(place, (0.0, 0.0, LENGTH))),
        ]
    return Mechanism(machines.machine("platform", *joints))


def at(mech, p=(0.0, 0.0, LENGTH), turn=0.0):
    q = mech.neutral()
    q[:3], q[5:7] = p, (math.sin(0.5 * turn), math.cos(0.5 * turn))
    assert np.max(np.abs(mech.constraint_residual(q))) < 1e-12
    return q


LEANING = (0.3, 0.1, math.sqrt(LENGTH**2 - 0.1))


@pytest.mark.parametrize(("count", "branch_freedoms"), [(3, ()), (4, (2, 2)), (5, (2, 1)), (6, (2, 1)), (7, (2, 1))])
def test_wrens_platform_upright(count, branch_freedoms):
    mech = platform(points(count))
    mobility = mech.mobility(at(mech))
    assert mobility.dof == max(3 if count == 3 else 2, 6 - count)
    assert mobility.at_pose == 3
    assert mobility.branch_freedoms == branch_freedoms
    assert mobility.singular == bool(branch_freedoms)
    assert mobility.rank == 6 - mobility.dof
    assert [item.joint for item in mobility.redundant] == [f"rod{i}" for i in range(4, count)]
    assert ("kinematotropic" in str(mobility)) == (count >= 5)
    assert ("Branches of motion meet here, with 2 degrees of freedom each." in str(mobility)) == (count == 4)


@pytest.mark.parametrize("count", [4, 5, 6, 7])
def test_wrens_platform_leaning_only_shifts(count):
    """Rods are parallel, so turning about them is a third velocity, but |(R − 1) a| > 0 ends it at once."""
    mech = platform(points(count))
    mobility = mech.mobility(at(mech, LEANING))
    assert (mobility.dof, mobility.infinitesimal, mobility.at_pose) == (2, 1, 3)
    assert (mobility.branch_freedoms, mobility.singular) == ((), False)


@pytest.mark.parametrize("count", [5, 6, 7])
def test_wrens_platform_turned_only_screws(count):
    turn = 0.7
    height = math.sqrt(LENGTH**2 - 4.0 * RADIUS**2 * math.sin(0.5 * turn) ** 2)
    mech = platform(points(count))
    mobility = mech.mobility(at(mech, (0.0, 0.0, height), turn))
    assert (mobility.dof, mobility.branch_freedoms, mobility.at_pose) == (
        1,
        (),
        3,
    )  # the rods lie on a hyperboloid: rank 3


@pytest.mark.parametrize("count", [4, 5, 6])
def test_points_on_no_circle_only_shift(count):
    mech = platform(points(count, 0.5 + 0.12 * np.cos(2.1 * np.arange(count))))
    mobility = mech.mobility(at(mech))
    assert (mobility.dof, mobility.infinitesimal, mobility.branch_freedoms, mobility.singular) == (2, 1, (), False)


@pytest.mark.parametrize("count", walk([3, 4, 5, 6, 7], quick=["3", "4"]))
@pytest.mark.parametrize("lower", ["universal", "spherical"])
def test_rods_that_are_bodies_say_the_same(count, lower):
    found = drawn(points(count), lower)
    mobility = found.mobility(found.neutral())
    idle = count if lower == "spherical" else 0
    bare = platform(points(count))
    expected = bare.mobility(at(bare))
    assert mobility.dof == expected.dof + idle
    assert mobility.branch_freedoms == tuple(way + idle for way in expected.branch_freedoms)
    assert len(mobility.redundant) == len(expected.redundant)
    assert len(mobility.idle) == idle


def test_each_way_leads_back_along_its_tangent():
    mech = platform(points(6))
    constraints = PositionConstraints(mech.compiled)
    start = at(mech)
    shifting, screwing = find_branches(constraints, start)
    assert (shifting.kind, screwing.kind) == ((2, 1), (1, 2))
    np.testing.assert_allclose(shifting.direction[:3], 0.0, atol=1e-6)
    np.testing.assert_allclose(np.abs(screwing.direction), [0, 0, 1, 0, 0, 0], atol=0.02)
    for branch in (shifting, screwing):
        assert np.max(np.abs(mech.constraint_residual(branch.q))) < 1e-11
        assert classify_branch(constraints, branch.q).kind == branch.kind


@pytest.mark.parametrize("pairs", [1, 2])
def test_flat_parallelograms_part_into_two_ways_each(pairs):
    """A parallelogram in a line goes on as one or as an antiparallelogram; two of them one beside the other in 4."""
    joints = []
    for k in range(pairs):
        spots = [(0.0, k, 0.0), (1.0, k, 0.0), (4.0, k, 0.0), (3.0, k, 0.0)]
        bodies = ["world", *(f"link{k}{i}" for i in (1, 2, 3)), "world"]
        joints += [machines.joint(f"J{k}{i}", "revolute", bodies[i], bodies[i + 1], spots[i]) for i in range(4)]
    mech = Mechanism(machines.machine("flat", *joints))
    mobility = mech.mobility(mech.neutral())
    assert (mobility.dof, mobility.at_pose, mobility.singular) == (pairs, 2 * pairs, True)
    if pairs == 1:
        assert mobility.branch_freedoms == (1, 1)
        assert "Branches of motion meet here, with 1 degree of freedom each." in str(mobility)


def test_a_free_body_is_told_to_turn_or_shift():
    mech = platform(points(6))
    assert [motion.text for motion in mech.mobility(at(mech)).motions] == [
        "plate rotates about z",
        "plate translates along x",
        "plate translates along y",
    ]
