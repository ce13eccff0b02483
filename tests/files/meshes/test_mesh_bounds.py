"""Meshes of few bytes that would grow to many are refused in words, before their reader builds them."""

from __future__ import annotations

import base64
import io
import json
import struct
import zipfile
import zlib

import numpy as np
import pytest

from core.errors import FileError
from core.files import load_mesh
from tests.files.meshes.test_mesh_files import DAE, TRIANGLE, model_3mf, packed

TRIANGLE_OBJ = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nusemtl m\nf 1/1 2/2 3/3\n"


def refused(file, why):
    with pytest.raises(FileError, match=why) as caught:
        load_mesh(file)
    assert caught.value.file == str(file)
    assert caught.value.remedy


def png(width, height):
    """A black picture in shades of grey (PNG 1.2: signature, IHDR, IDAT, IEND)."""

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(bytes((width + 1) * height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


@pytest.mark.parametrize(("side", "taken"), [(60, True), (6000, False)])
def test_the_colour_of_a_picture_is_taken_if_it_can_be_held(tmp_path, side, taken):
    (tmp_path / "a.png").write_bytes(png(side, side))
    (tmp_path / "a.mtl").write_text("newmtl m\nKd 1 0 0\nmap_Kd a.png\n")
    (tmp_path / "a.obj").write_text(TRIANGLE_OBJ)
    color = load_mesh(tmp_path / "a.obj").parts[0].color
    assert (color == (0.0, 0.0, 0.0, 1.0)) == taken


def test_files_outside_the_folder_of_a_mesh_are_not_read(tmp_path):
    (tmp_path / "a.mtl").write_text("newmtl m\nKd 1 0 0\n")
    inside = tmp_path / "meshes"
    inside.mkdir()
    for name in ("../a.mtl", str(tmp_path / "a.mtl"), "file://" + str(tmp_path / "a.mtl")):
        (inside / "a.obj").write_text(TRIANGLE_OBJ.replace("a.mtl", name, 1))
        load_mesh.__globals__["_load_mesh_content"].cache_clear()
        assert load_mesh(inside / "a.obj").parts[0].color != pytest.approx((1.0, 0.0, 0.0, 1.0), abs=0.01)
    (inside / "a.mtl").write_text("newmtl m\nKd 1 0 0\n")
    (inside / "a.obj").write_text(TRIANGLE_OBJ)
    assert load_mesh(inside / "a.obj").parts[0].color == pytest.approx((1.0, 0.0, 0.0, 1.0), abs=0.01)


def gltf(**changes):
    """A triangle as glTF, one of its lists replaced."""
    buffer = np.eye(3, dtype="<f4").tobytes()
    uri = "data:application/octet-stream;base64," + base64.b64encode(buffer).decode()
    head = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": uri, "byteLength": 36}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "count": 3, "componentType": 5126, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
    return json.dumps({**head, **changes})


def test_a_triangle_as_gltf_is_read(tmp_path):
    (tmp_path / "a.gltf").write_text(gltf())
    assert len(load_mesh(tmp_path / "a.gltf").faces) == 1


ACCESSOR = {"count": 10**10, "componentType": 5126, "type": "VEC3"}


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"accessors": [ACCESSOR]}, "compressed, or missing"),
        ({"accessors": [{**ACCESSOR, "bufferView": 0}]}, "more numbers than a mesh may have"),
        ({"accessors": [{**ACCESSOR, "bufferView": 0, "count": -1}]}, "lacks a valid count"),
        (
            {"bufferViews": [{"buffer": 0, "byteLength": 36}] * 10 + [{"buffer": 0, "byteLength": 10**9}]},
            "more numbers",
        ),
        ({"nodes": [{"mesh": 0}] * 30_000}, "more than 20000 parts or nodes"),
        ({"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * 30_000}]}, "more than 20000 parts or nodes"),
        ({"meshes": [{"primitives": [{"attributes": {"POSITION": 7}}]}]}, "lacks list index out of range"),
        (
            {"buffers": [{"uri": "http://example.org/a.bin"}]},
            "no file 'http://example.org/a.bin' in the folder of the mesh",
        ),
        ({"buffers": [{"uri": "../../a.bin"}]}, "no file '../../a.bin' in the folder of the mesh"),
    ],
)
def test_gltf_promises_no_more_than_it_holds(tmp_path, changes, why):
    (tmp_path / "a.gltf").write_text(gltf(**changes))
    refused(tmp_path / "a.gltf", why)


def test_nodes_of_dae_that_multiply_are_refused(tmp_path):
    """Nine nodes, each of which places the next one ten times."""
    nodes = [f'<node id="n{k}">' + f'<instance_node url="#n{k + 1}"/>' * 10 + "</node>" for k in range(9)]
    library = "<library_nodes>" + "".join(nodes) + '<node id="n9"><instance_geometry url="#g"/></node></library_nodes>'
    text = DAE.replace("<library_visual_scenes>", library + "<library_visual_scenes>")
    file = tmp_path / "a.dae"
    file.write_text(text.replace("<node><instance_geometry", '<node><instance_node url="#n0"/><instance_geometry'))
    refused(file, "more than 20000 placed parts")
    circle = '<library_nodes><node id="n"><instance_node url="#n"/></node></library_nodes><library_visual_scenes>'
    file.write_text(DAE.replace("<library_visual_scenes>", circle))
    refused(file, "in a cycle")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-7"])
def test_dae_expands_no_entities(tmp_path, encoding):
    file = tmp_path / "a.dae"
    text = DAE.replace('"1.0"?>', f'"1.0" encoding="{encoding}"?><!DOCTYPE a [<!ENTITY m "millimeter">]>', 1)
    file.write_text(text.replace('name="millimeter"', 'name="&m;"'), encoding=encoding)
    refused(file, "entities" if encoding != "utf-7" else "cannot be read")


def test_an_archive_is_no_dae(tmp_path):
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.dae", DAE)
    (tmp_path / "a.dae").write_bytes(memory.getvalue())
    refused(tmp_path / "a.dae", "cannot be read")


@pytest.mark.parametrize("count", ["1000000000000", "-1", "1e9"])
def test_ply_promises_no_more_than_it_holds(tmp_path, count):
    head = f"ply\nformat ascii 1.0\nelement vertex {count}\nproperty float x\nend_header\n1\n"
    (tmp_path / "a.ply").write_text(head)
    refused(tmp_path / "a.ply", "fewer than")


def test_materials_without_end_are_refused(tmp_path):
    """Each material would get a mask of all vertices."""
    text = "v 0 0 0\n" * 60_000 + "".join(f"usemtl m{k}\nf 1 2 3\n" for k in range(30_000))
    (tmp_path / "a.obj").write_text(text)
    refused(tmp_path / "a.obj", "too many materials")


# ------------------------------------------------------------------------------------- 3MF


def test_3mf_places_objects_within_objects_in_its_unit_and_colours(tmp_path):
    colors = '<basematerials id="7"><base name="r" displaycolor="#FF0000"/><base name="b" displaycolor="#0000FF80"/>'
    inner = f'<object id="1" pid="7" pindex="1">{TRIANGLE}</object>'
    moved = '<component objectid="1" transform="1 0 0 0 1 0 0 0 1 10 0 0"/>'
    outer = f'<object id="2"><components><component objectid="1"/>{moved}</components></object>'
    turned = '<item objectid="2" transform="0 1 0 -1 0 0 0 0 1 0 0 5"/>'  # x to y, y to −x
    file = tmp_path / "a.3mf"
    file.write_bytes(packed(model_3mf(f"{colors}</basematerials>{inner}{outer}", turned, "millimeter")))
    mesh = load_mesh(file)
    assert mesh.bounds[0] == pytest.approx([-0.002, 0.0, 0.005])
    assert mesh.bounds[1] == pytest.approx([0.0, 0.011, 0.005])
    assert [part.color for part in mesh.parts] == [pytest.approx((0.0, 0.0, 1.0, 0.5), abs=0.01)] * 2


def test_triangles_of_3mf_have_colours_of_their_own_and_mirrors_keep_the_outside(tmp_path):
    colors = '<colorgroup id="7"><color color="#FF0000"/><color color="#00FF00"/></colorgroup>'
    second = '<triangle v1="2" v2="1" v3="0" pid="7" p1="1"/></triangles>'
    mesh = TRIANGLE.replace("</triangles>", second)
    item = '<item objectid="1" transform="-1 0 0 0 1 0 0 0 1 0 0 0"/>'
    file = tmp_path / "a.3mf"
    file.write_bytes(packed(model_3mf(f'{colors}<object id="1" pid="7" pindex="0">{mesh}</object>', item)))
    up, down = load_mesh(file).parts
    assert (up.color, down.color) == ((1.0, 0.0, 0.0, 1.0), (0.0, 1.0, 0.0, 1.0))
    for part, sign in ((up, 1.0), (down, -1.0)):
        a, b, c = part.vertices[part.faces[0]]
        assert np.cross(b - a, c - a) == pytest.approx([0.0, 0.0, sign * 2.0])


def test_the_model_of_3mf_is_told_by_a_relation(tmp_path):
    memory = io.BytesIO()
    kind = "http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel"
    with zipfile.ZipFile(memory, "w") as archive:
        archive.writestr(
            "_rels/.rels", f'<Relationships><Relationship Type="{kind}" Target="/x/y.model"/></Relationships>'
        )
        archive.writestr("x/y.model", model_3mf(f'<object id="1">{TRIANGLE}</object>'))
    (tmp_path / "a.3mf").write_bytes(memory.getvalue())
    assert len(load_mesh(tmp_path / "a.3mf").faces) == 1


def nested(count):
    """Objects each of which holds the next one ten times; the last one holds a triangle."""
    within = [
        f'<object id="{k}"><components>' + f'<component objectid="{k + 1}"/>' * 10 + "</components></object>"
        for k in range(1, count)
    ]
    return model_3mf("".join(within) + f'<object id="{count}">{TRIANGLE}</object>')


CIRCLE = model_3mf('<object id="1"><components><component objectid="1"/></components></object>')


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (packed(model_3mf(f'<object id="1">{TRIANGLE}</object>' + " " * 4_000_000)), "unpacked size is too large"),
        (packed(nested(9)), "more than 20000 placed parts"),
        (packed(CIRCLE), "contains itself"),
        (packed(model_3mf("", '<item objectid="5"/>')), "object '5' is missing"),
        (packed("<model/>", "x.model"), "contains no file '3D/3dmodel.model'"),
        (packed("<model>"), "cannot be read"),
        (packed(model_3mf(f'<object id="1">{TRIANGLE}</object>').replace('v3="2"', 'v3="3"')), "refer to missing"),
        (packed(model_3mf(f'<object id="1">{TRIANGLE}</object>').replace('x="1"', 'x="nan"')), "not finite"),
        (packed(model_3mf(f'<object id="1">{TRIANGLE}</object>'))[:-40], "cannot be read"),
    ],
)
def test_3mf_that_is_damaged_or_grows_is_refused(tmp_path, data, why):
    (tmp_path / "a.3mf").write_bytes(data)
    refused(tmp_path / "a.3mf", why)
