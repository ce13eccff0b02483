"""The files that are spoiled: one small good file at least for everything the program reads."""

from __future__ import annotations

import sysconfig
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from core.files.meshes.lookup import MESH_SUFFIXES
from resources import EXAMPLES
from tests.files.dh.test_dh_tables import CSV, TOML
from tests.files.dh.test_robotica_files import THREE_LINK, TWO_LINK
from tests.files.meshes.test_mesh_files import DAE
from tests.files.mjcf.test_mjcf_features import CASES, FLUIDS, plate
from tests.files.native.test_native import HAND_WRITTEN
from tests.files.test_files_fuzz import MJCF
from tests.files.urdf.test_urdf import ARM, XACRO

LARGEST = 9_000
"""Bytes; larger files say nothing that smaller ones do not, more slowly."""
ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"


@dataclass(frozen=True)
class Seed:
    """A good file.

    kind   : what reads it: a key of `FORMATS`, or "mesh", "run", "table", "torques", "imports"
    suffix : of its name
    """

    kind: str
    suffix: str
    data: bytes


IMPORTER = """\
kinetostat: 1
name: pair
parameters:
  l: {value: 0.5}
assemblies:
  left: {file: part.kst, pose: {position: [0, 0.2, 0]}, settings: [{parameter: width, value: l}]}
  right: {file: part.kst, pose: {position: [0, -0.2, 0], rotation: [0, 0, "90 deg"]}}
bodies:
  rod: {mass: 1}
joints:
  j: {kind: spherical, parent: left.leaf, child: rod}
  k: {kind: spherical, parent: right.leaf, child: rod, a: {position: [0, 0.1, 0]}}
"""
SIMNON = '" t q1 q2\n" free motion\n' + "".join(f"{0.1 * k:.2f} {0.02 * k:.4f} {0.04 * k:.4f}\n" for k in range(9))
TABLE = "time,j.q,k.q\n" + "".join(f"{0.1 * k:.2f},{0.02 * k:.4f},{0.3 - 0.04 * k:.4f}\n" for k in range(9))
GERMAN = "t [s];Weg\n" + "".join(f"{k};{k // 10},{k % 10}\n" for k in range(12))
ALL_KINDS = """\
kinetostat: 1
name: all
description: "springs & <dampers>"
parameters:
  k: {value: 400, minimum: 50, maximum: 2000}
  l: {value: "k/1000", dimension: length}
bodies:
  a: {mass: 1, inertia: {ixx: 0.1, iyy: 0.1, izz: 0.1}}
  b: {density: 1000, shapes: [sphere: {radius: 0.1}, cylinder: {radius: "l/4", length: l}]}
frames:
  tip: {parent: b, pose: {position: [l, 0, 0]}}
joints:
  j: {kind: prismatic, parent: world, child: a, axis: [1, 0, 0], stiffness: k, damping: 2}
  m: {kind: revolute, parent: a, child: b, axis: [0, 1, 0], rest: 0.2, limits: [{lower: -1, upper: 1}]}
sensors:
  s: {kind: distance, a: world, b: tip}
forces:
  f: {kind: spring, a: world, b: tip, stiffness: k, free_length: l}
constraints:
  r: {kind: rod, a: world, b: tip, length: "2*l"}
drivers:
  d: {joint: m, value: "0.3*sin(2*t)"}
"""


@cache
def seeds() -> dict[str, tuple[Seed, ...]]:
    """Good files by kind."""
    found = [Seed("kst", ".kst", text.encode()) for text in (HAND_WRITTEN, ALL_KINDS)]
    found += [Seed("kst", ".kst", data) for data in _small(EXAMPLES, "*.kst")]
    found += [Seed("urdf", ".urdf", data) for data in (ARM.encode(), *_small(ROBOTS, "*.urdf"))]
    found += [Seed("xacro", ".xacro", XACRO.encode())]
    found += [Seed("mjcf", ".xml", text.encode()) for text in (MJCF, *CASES.values(), *FLUIDS.values())]
    found += [Seed("robotica", ".rob", text.encode()) for text in (TWO_LINK, THREE_LINK)]
    found += [Seed("robotica", ".rob", data) for data in _small(EXAMPLES, "*.rob")]
    found += [Seed("csv", ".csv", CSV.encode()), Seed("toml", ".toml", TOML.encode())]
    found += meshes()
    found += runs()
    found += [
        Seed("table", suffix, text.encode())
        for suffix, text in ((".csv", TABLE), (".sim", SIMNON), (".csv", GERMAN), (".t", SIMNON))
    ]
    found += [Seed("torques", ".tau", path.read_bytes()) for path in sorted((EXAMPLES / "torques").glob("*.tau"))]
    found += [Seed("imports", ".kst", text.encode()) for text in (IMPORTER, HAND_WRITTEN)]
    kinds = dict.fromkeys(seed.kind for seed in found)
    return {kind: tuple(seed for seed in found if seed.kind == kind) for kind in kinds}


def _small(folder: Path, pattern: str) -> list[bytes]:
    files = sorted(folder.rglob(pattern)) if folder.is_dir() else []
    return [file.read_bytes() for file in files if file.stat().st_size <= LARGEST]


def meshes() -> list[Seed]:
    """A small solid in every format of meshes that can be written here, in text and binary."""
    import trimesh

    solid = trimesh.creation.box((0.1, 0.2, 0.3))
    found = [Seed("mesh", ".obj", plate().encode()), Seed("mesh", ".dae", DAE.encode())]
    for suffix in MESH_SUFFIXES:
        try:
            data = solid.export(file_type=suffix[1:])
        except (ImportError, ValueError, ModuleNotFoundError):
            continue
        found += [Seed("mesh", suffix, data if isinstance(data, bytes) else _joined(data))]
    for kind, options in (("stl_ascii", {}), ("ply", {"encoding": "ascii"})):
        data = solid.export(file_type=kind, **options)
        found.append(Seed("mesh", f".{kind[:3]}", data if isinstance(data, bytes) else data.encode()))
    return found


def _joined(data: str | dict[str, bytes]) -> bytes:
    """A file of one piece; a glTF of several has its buffers in itself."""
    if isinstance(data, str):
        return data.encode()
    import base64
    import json

    tree = json.loads(data["model.gltf"])
    for buffer in tree["buffers"]:
        content = base64.b64encode(data[buffer["uri"]]).decode()
        buffer["uri"] = f"data:application/octet-stream;base64,{content}"
    return json.dumps(tree).encode()


def runs() -> list[Seed]:
    """Runs of a few samples, with and without what is computed from them."""
    from core.files import load
    from core.simulation import simulate

    run = simulate(load(EXAMPLES / "pendulum.kst"), duration=0.05, step=0.01, method="rk4")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "run.h5")

        def saved(channels: tuple[str, ...]) -> bytes:
            run.save(path, channels)
            return path.read_bytes()

        return [Seed("run", ".h5", saved(channels)) for channels in ((), ("energy.total", "energy.kinetic"))]
