"""What is kept of files is kept by their content: other files of the same name are read."""

from __future__ import annotations

import os
import struct
import time

import pytest

from core.files import load
from core.files.followed_files import content_fingerprints
from core.files.meshes.meshes import load_mesh
from core.files.regular_file import fingerprint
from core.mechanism import Mechanism

CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
NATIVE = """kinetostat: 1
name: s
bodies: {b: {density: 6000, shapes: [{mesh: {file: part.stl}}]}}
joints: {j: {parent: world, child: b, axis: [0, 0, 1]}}
"""
MJCF = """<mujoco><asset><mesh name="c" file="part.stl"/></asset><worldbody><body name="b"><joint name="j"/>
<geom type="mesh" mesh="c" density="6000"/></body></worldbody></mujoco>"""
DRIVEN = """kinetostat: 1
name: slide
bodies: {b: {mass: 1}}
joints: {j: {kind: prismatic, parent: world, child: b, axis: [1, 0, 0]}}
drivers: {d: {joint: j, file: motion.csv}}
"""


def write_tetrahedron(file, size: float) -> None:
    """A corner at the origin, edges along the axes: ∫x² = ∫y² = size⁵/60."""
    corners = [[size * x for x in corner] for corner in CORNERS]
    facets = (struct.pack("<12fH", 0, 0, 0, *(x for k in face for x in corners[k]), 0) for face in FACES)
    file.write_bytes(bytes(80) + struct.pack("<I", 4) + b"".join(facets))


@pytest.mark.parametrize(("name", "text"), [("m.kst", NATIVE), ("m.xml", MJCF)])
def test_a_mesh_that_was_written_again_weighs_what_it_is_now(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    for size in (0.1, 0.2):
        write_tetrahedron(tmp_path / "part.stl", size)
        moment = float(Mechanism(load(tmp_path / name)).mass_matrix([0.0])[0, 0])
        assert moment == pytest.approx(2 * 6000 * size**5 / 60, rel=1e-5)


def test_documents_alike_in_two_folders_use_their_own_tables(tmp_path):
    for folder, reach in (("monday", 1.0), ("tuesday", 2.5)):
        here = tmp_path / folder
        here.mkdir()
        (here / "slide.kst").write_text(DRIVEN)
        (here / "motion.csv").write_text(f"t,j\n0,0\n1,{reach}\n2,{2 * reach}\n")
        mech = Mechanism(load(here / "slide.kst"))
        assert float(mech.assemble(mech.rest(), t=1.0)[0]) == pytest.approx(reach, abs=1e-9)


def test_a_file_of_the_same_size_and_time_is_another_one_if_it_is_young(tmp_path):
    file = tmp_path / "part.stl"
    write_tetrahedron(file, 0.1)
    young = time.time_ns() + 3_600_000_000_000
    os.utime(file, ns=(young, young))
    before = fingerprint(file)
    mesh = load_mesh(file)
    assert load_mesh(file) is mesh
    write_tetrahedron(file, 0.2)
    os.utime(file, ns=(young, young))
    assert fingerprint(file) != before
    assert load_mesh(file).vertices.max() == pytest.approx(0.2)


def test_what_the_motion_depends_on_is_in_the_key(tmp_path):
    (tmp_path / "m.kst").write_text(NATIVE)
    model = load(tmp_path / "m.kst")
    assert content_fingerprints(model) == ("",)
    write_tetrahedron(tmp_path / "part.stl", 0.1)
    assert content_fingerprints(model) == (fingerprint(tmp_path / "part.stl"),)
