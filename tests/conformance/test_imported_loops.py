"""URDF trees closed by loops in a .kst file that imports them (example-parallel-robots; numbers of Pinocchio)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from core.files import load
from core.mechanism import Mechanism

REFERENCE = Path(__file__).parents[1] / "reference"
CASES = ("5bar_linkage", "talos_like")


def case(name):
    return json.loads((REFERENCE / f"import_loop_{name}.json").read_text(encoding="utf-8"))


def host(name, pairs, folder):
    """A file that imports the URDF and welds the frame pairs. A frame of a URDF *joint* is its child link's."""
    urdf = REFERENCE / "parallel_robots" / f"{name}.urdf"
    robot = load(urdf)
    children = {joint.name: joint.child for joint in robot.joints}
    lines = ["kinetostat: 1", "assemblies:", f"  r: {{file: '{urdf}'}}", "joints:"]
    for number, pair in enumerate(pairs, 1):
        parent, child = (f"r.{children.get(frame, frame)}" for frame in pair)
        lines.append(f"  loop{number}: {{kind: fixed, parent: {parent}, child: {child}, cut: 'yes'}}")
    path = folder / f"{name}.kst"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Mechanism(load(path))


@pytest.mark.parametrize("name", CASES)
def test_loops_of_an_imported_urdf(name, tmp_path):
    data = case(name)
    parameters, reference, tolerances = data["parameters"], data["reference"], data["tolerances"]
    text = (REFERENCE / "parallel_robots" / f"{name}.urdf").read_bytes()
    assert hashlib.sha256(text).hexdigest() == parameters["sha256"]
    mech = host(name, parameters["loop_frame_pairs"], tmp_path)
    order = [mech.q_names.index(f"r.{joint}") for joint in parameters["joint_names"]]
    assert mech.nv == reference["nv"]
    q = np.zeros(mech.nq)
    q[order] = reference["q_joint_angles"]
    assert len(mech.constraint_residual(q)) == reference["equations"]
    np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-11)
    G = mech.constraint_jacobian(q)
    _, sizes, rows = np.linalg.svd(G)
    rank = int((sizes > 1e-8 * sizes[0]).sum())
    assert rank == reference["rank"]
    assert mech.nv - rank == reference["mobility"]
    free = rows[rank:].T
    eigenvalues = np.linalg.eigvalsh(free.T @ mech.mass_matrix(q) @ free)
    np.testing.assert_allclose(
        eigenvalues, reference["reduced_mass_matrix_eigenvalues"], rtol=tolerances["eigenvalues_rel"]
    )
    gravity = np.linalg.norm(free.T @ mech.gravity(q))
    np.testing.assert_allclose(gravity, reference["projected_gravity_norm"], rtol=1e-7)


@pytest.mark.parametrize("name", CASES)
def test_closes_from_near_and_far(name, tmp_path):
    data = case(name)
    mech = host(name, data["parameters"]["loop_frame_pairs"], tmp_path)
    order = [mech.q_names.index(f"r.{joint}") for joint in data["parameters"]["joint_names"]]
    closed = np.zeros(mech.nq)
    closed[order] = data["reference"]["q_joint_angles"]
    rng = np.random.default_rng(1)
    q = mech.assemble(mech.clamp(closed + 0.05 * rng.normal(size=mech.nq)))
    np.testing.assert_allclose(mech.constraint_residual(q), 0.0, atol=1e-9)
    sizes = np.linalg.svd(mech.constraint_jacobian(q))[1]
    assert int((sizes > 1e-7 * sizes[0]).sum()) == data["reference"]["rank"]


def test_mobility_of_the_five_bar(tmp_path):
    data = case("5bar_linkage")
    mech = host("5bar_linkage", data["parameters"]["loop_frame_pairs"], tmp_path)
    q = np.zeros(mech.nq)
    q[[mech.q_names.index(f"r.{j}") for j in data["parameters"]["joint_names"]]] = data["reference"]["q_joint_angles"]
    found = mech.mobility(q)
    assert found.degrees_of_freedom == data["reference"]["mobility"]
