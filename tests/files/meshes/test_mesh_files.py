"""Meshes: where they are looked for, and what is read from every format (written by trimesh or by hand)."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import FileError
from core.files import load_mesh, resolve_mesh

STL = (
    b"solid a\nfacet normal 0 0 1\nouter loop\n"
    b"vertex 0 0 0\nvertex 1 0 0\nvertex 0 2 0\nendloop\nendfacet\nendsolid a\n"
)
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
<asset><unit name="millimeter" meter="0.001"/><up_axis>Y_UP</up_axis></asset>
<library_effects><effect id="e"><profile_COMMON><technique sid="c"><phong><diffuse><color>1 0.5 0 1</color></diffuse>
</phong></technique></profile_COMMON></effect></library_effects>
<library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
<library_geometries><geometry id="g"><mesh>
<source id="p"><float_array id="pa" count="9">0 0 0 1000 0 0 0 2000 0</float_array><technique_common>
<accessor source="#pa" count="3" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="1" material="s"><input semantic="VERTEX" source="#v" offset="0"/><p>0 1 2</p></triangles>
</mesh></geometry></library_geometries>
<library_visual_scenes><visual_scene id="vs"><node><instance_geometry url="#g"><bind_material><technique_common>
<instance_material symbol="s" target="#m"/></technique_common></bind_material></instance_geometry></node></visual_scene>
</library_visual_scenes><scene><instance_visual_scene url="#vs"/></scene></COLLADA>
"""


@pytest.mark.parametrize(
    ("said", "high"),
    [
        ("<up_axis>Z_UP</up_axis>", (1.0, 2.0, 0.0)),
        ("", (1.0, 2.0, 0.0)),
        ("<up_axis>Y_UP</up_axis>", (1.0, 0.0, 2.0)),
        ("<up_axis> X_UP </up_axis>", (0.0, 0.0, 1.0)),  # its y points to the left: −x
        # MeshLab writes Y_UP whatever is up
        (
            "<contributor><authoring_tool>VCGLib | MeshLab</authoring_tool></contributor><up_axis>Y_UP</up_axis>",
            (1, 2, 0),
        ),
    ],
)
def test_dae_has_its_unit_its_colour_and_its_upward_axis(tmp_path, said, high):
    file = tmp_path / "a.dae"
    file.write_text(DAE.replace("<up_axis>Y_UP</up_axis>", said))
    mesh = load_mesh(file)
    assert mesh.bounds[1] == pytest.approx(high)
    assert mesh.parts[0].color == pytest.approx((1.0, 0.5, 0.0, 1.0), abs=0.003)


def test_gltf_is_turned_z_up(tmp_path):
    file = tmp_path / "a.glb"
    box = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    box.apply_translation((0.0, 10.0, 0.0))  # y is up in the file
    file.write_bytes(trimesh.Scene([box]).export(file_type="glb"))
    low, high = load_mesh(file).bounds
    assert low == pytest.approx([-0.5, -1.5, 9.0])
    assert high == pytest.approx([0.5, 1.5, 11.0])


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "off"])
def test_other_formats_are_as_they_are(tmp_path, suffix):
    file = tmp_path / f"a.{suffix}"
    box = trimesh.creation.box(extents=(1.0, 2.0, 3.0))
    box.export(file)
    mesh = load_mesh(file)
    assert mesh.bounds[1] == pytest.approx([0.5, 1.0, 1.5])
    assert len(mesh.vertices) == 8
    corners = mesh.vertices[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    volume = np.einsum("ij,ij->", corners.mean(axis=1), normals) / 6.0
    assert volume == pytest.approx(6.0)  # divergence theorem: closed, and oriented outwards


def test_parts_keep_their_colours(tmp_path):
    file = tmp_path / "two.glb"
    parts = []
    for x, color in ((0.0, [255, 0, 0, 255]), (3.0, [0, 0, 255, 128])):
        box = trimesh.creation.box()
        box.apply_translation((x, 0, 0))
        box.visual = trimesh.visual.TextureVisuals(material=trimesh.visual.material.PBRMaterial(baseColorFactor=color))
        parts.append(box)
    file.write_bytes(trimesh.Scene(parts).export(file_type="glb"))
    colors = sorted(part.color for part in load_mesh(file).parts)
    assert colors[0] == pytest.approx((0.0, 0.0, 1.0, 0.5), abs=0.01)
    assert colors[1] == pytest.approx((1.0, 0.0, 0.0, 1.0), abs=0.01)


def test_read_once_until_the_file_changes(tmp_path):
    file = tmp_path / "a.stl"
    file.write_bytes(STL)
    first = load_mesh(file)
    assert load_mesh(file) is first
    with pytest.raises(ValueError, match="read-only"):
        first.parts[0].vertices[0, 0] = 1.0
    file.write_bytes(STL.replace(b"0 2 0", b"0 5 0 "))
    assert load_mesh(file).bounds[1][1] == 5.0


def test_broken_meshes_are_messages(tmp_path):
    for name, data in (
        ("a.stl", b""),
        ("a.stl", b"solid x\n"),
        ("b.obj", b"v 1"),
        ("c.dae", b"<COLLADA/>"),
        ("d.glb", b"glTF" + b"\0" * 30),
        ("e.ply", b"ply\nformat x"),
        ("f.off", b"OFF\n1e9 1 1"),
        ("g.stl", STL.replace(b"0 2 0", b"0 nan 0")),
    ):
        file = tmp_path / name
        file.write_bytes(data)
        with pytest.raises(FileError) as caught:
            load_mesh(file)
        assert caught.value.file == str(file)
        assert caught.value.remedy
    for name in ("none.stl", "a.txt"):
        with pytest.raises(FileError):
            load_mesh(tmp_path / name)


@given(st.sampled_from(("stl", "obj", "ply", "off", "glb", "dae")), st.binary(max_size=300), st.integers(0, 2000))
@settings(max_examples=60)
def test_any_bytes_are_a_mesh_or_a_message(tmp_path_factory, suffix, data, cut):
    file = tmp_path_factory.mktemp("mesh") / f"a.{suffix}"
    whole = DAE.encode() if suffix == "dae" else STL
    file.write_bytes(whole[:cut] + data + whole[cut + len(data) :])
    try:
        mesh = load_mesh(file)
    except FileError:
        return
    assert np.isfinite(mesh.vertices).all()
    assert mesh.faces.max() < len(mesh.vertices)


LATIN = {
    "stl": STL.replace(b"solid a", "solid Gehäuse".encode("latin-1"), 1),
    "obj": "# Gehäuse\nv 0 0 0\nv 1 0 0\nv 0 2 0\nf 1 2 3\n".encode("latin-1"),
    "off": "OFF\n# Gehäuse\n3 1 0\n0 0 0\n1 0 0\n0 2 0\n3 0 1 2\n".encode("latin-1"),
}


@pytest.mark.parametrize("suffix", LATIN)
def test_text_of_another_code_page_is_read(tmp_path, suffix):
    file = tmp_path / f"a.{suffix}"
    file.write_bytes(LATIN[suffix])
    assert load_mesh(file).bounds[1] == pytest.approx([1.0, 2.0, 0.0])


CORE_3MF = "http://schemas.microsoft.com/3dmanufacturing/core/2015/02"
TRIANGLE = (
    '<mesh><vertices><vertex x="0" y="0" z="0"/><vertex x="1" y="0" z="0"/><vertex x="0" y="2" z="0"/></vertices>'
    '<triangles><triangle v1="0" v2="1" v3="2"/></triangles></mesh>'
)


def packed(model: str, name: str = "3D/3dmodel.model") -> bytes:
    """A 3MF file of this model."""
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, model)
    return memory.getvalue()


def model_3mf(resources: str, items: str = '<item objectid="1"/>', unit: str = "meter") -> str:
    return f'<model unit="{unit}" xmlns="{CORE_3MF}"><resources>{resources}</resources><build>{items}</build></model>'


def test_3mf_is_read(tmp_path):
    file = tmp_path / "a.3mf"
    file.write_bytes(packed(model_3mf(f'<object id="1" type="model">{TRIANGLE}</object>')))
    assert load_mesh(file).bounds[1] == pytest.approx([1.0, 2.0, 0.0])


# ------------------------------------------------------------------------------------- look-up


@pytest.fixture
def tree(tmp_path, monkeypatch):
    """robot/urdf/arm.urdf in a package `arm_pkg` (folder `robot`), and meshes in several places."""
    for variable in ("ROS_PACKAGE_PATH", "AMENT_PREFIX_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH"):
        monkeypatch.delenv(variable, raising=False)
    for name in (
        "robot/urdf",
        "robot/meshes",
        "other/meshes",
        "mapped/meshes",
        "ros/other2/meshes",
        "ament/share/other3",
    ):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "robot/package.xml").write_text("<package><name> arm_pkg </name></package>")
    places = ("robot/meshes", "other/meshes", "mapped/meshes", "ros/other2/meshes", "ament/share/other3", "robot/urdf")
    for place in places:
        (tmp_path / place / "a b.stl").write_bytes(STL)
    return tmp_path


def test_order_of_the_look_up(tree, monkeypatch):
    origin = str(tree / "robot/urdf/arm.urdf")

    def found(file, **more):
        place = resolve_mesh(file, origin, **more)
        return None if place is None else place.resolve().relative_to(tree.resolve()).as_posix()

    assert found("package://arm_pkg/meshes/a b.stl") == "robot/meshes/a b.stl"  # by package.xml
    assert found("package://arm_pkg/meshes/a%20b.stl") == "robot/meshes/a b.stl"
    assert found("package:///arm_pkg/meshes/a b.stl") == "robot/meshes/a b.stl"
    assert found("package://robot/meshes/a b.stl") == "robot/meshes/a b.stl"  # by the folder's own name
    assert found("package://other/meshes/a b.stl") == "other/meshes/a b.stl"  # beside a parent folder
    assert (
        found("package://arm_pkg/meshes/a b.stl", packages={"arm_pkg": str(tree / "mapped")}) == "mapped/meshes/a b.stl"
    )
    assert found("a b.stl") == "robot/urdf/a b.stl"
    assert found("../meshes/a b.stl") == "robot/meshes/a b.stl"
    assert found("meshes/a b.stl") == "robot/meshes/a b.stl"
    assert found("..\\meshes\\a b.stl") == "robot/meshes/a b.stl"
    assert found(str(tree / "other/meshes/a b.stl")) == "other/meshes/a b.stl"
    assert found((tree / "other/meshes/a b.stl").as_uri()) == "other/meshes/a b.stl"
    assert found("package://other2/meshes/a b.stl") is None
    monkeypatch.setenv("ROS_PACKAGE_PATH", str(tree / "ros"))
    assert found("package://other2/meshes/a b.stl") == "ros/other2/meshes/a b.stl"
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(tree / "ament"))
    assert found("package://other3/a b.stl") == "ament/share/other3/a b.stl"
    monkeypatch.setenv("GAZEBO_MODEL_PATH", str(tree))
    assert found("model://mapped/meshes/a b.stl") == "mapped/meshes/a b.stl"


def test_only_meshes_are_ever_found(tree):
    origin = str(tree / "robot/urdf/arm.urdf")
    (tree / "secret.txt").write_text("secret")
    (tree / "dir.stl").mkdir()
    hostile = (
        "/etc/passwd",
        "file:///etc/passwd",
        "../../secret.txt",
        "../../dir.stl",
        "package://robot/../secret.txt",
        "package://robot/../other/meshes/a b.stl",
        "",
        "\0.stl",
        "a\0b.stl",
        "x" * 10_000 + ".stl",
        "http://[bad/a.stl",
        "https://example.org/a.stl",
        "package://",
        "package:///",
        "/dev/zero",
        "//server/share/a.stl",
    )
    for file in hostile:
        assert resolve_mesh(file, origin) is None, file
        assert resolve_mesh(file) is None, file


@given(st.text(max_size=60))
@settings(max_examples=60)
def test_any_name_is_found_or_not(name):
    for file in (name, f"package://{name}", f"file://{name}.stl"):
        place = resolve_mesh(file, "/nowhere/model.kst")
        assert place is None or place.is_file()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.stl", STL.replace(b"vertex 0 2 0", b"vertex 0 1e400 0")),
        ("a.obj", b"v 0 0 0\nv 1e308 0 0\nv 0 nan 0\nf 1 2 3\n"),
        ("a.stl", bytes(80) + (1).to_bytes(4, "little") + b"\xff" * 30),
        ("a.dae", DAE.replace("1000 0 0", "1e308 1e308 nan").replace('meter="0.001"', 'meter="1e300"').encode()),
    ],
)
def test_broken_numbers_are_told_once_and_not_on_the_terminal(tmp_path, capfd, recwarn, name, data):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(FileError, match=name):
        load_mesh(tmp_path / name)
    assert capfd.readouterr() == ("", "")
    assert not [warning for warning in recwarn.list if issubclass(warning.category, RuntimeWarning)]
