"""The table of limits in docs/trust.md has the numbers of the code."""

from __future__ import annotations

import re
from pathlib import Path

from core.files import assemblies, hdf5_file, regular_file
from core.files.meshes import archive_3mf, meshes, sources
from core.files.mjcf import frames, includes
from core.files.xacro import process
from core.files.xacro import reader as xacro
from core.functions.subjects import torque_file
from core.mechanics.elements import recorded_signals

PAGE = Path(__file__).parents[2] / "docs" / "trust.md"
MB = 1_000_000


def kind(each: regular_file.FilePurpose) -> str:
    return f"{each.most // MB} MB"


def test_the_limits_of_the_page_are_those_of_the_code():
    letters, elements = frames.MOST_LETTERS // MB, frames.MOST_ELEMENTS
    text, times, room = archive_3mf.MOST_TEXT // MB, archive_3mf.MOST_UNPACKED, archive_3mf.ROOM // MB
    numbers, places = sources.MOST_NUMBERS // MB, sources.MOST_PLACES
    extra = includes.INCLUDE
    pixels, pace = meshes.MOST_PIXELS // MB, hdf5_file.PACE / MB
    formats = [each or "" for each in meshes.FORMATS if each]
    wanted = {
        "model, each included file": kind(regular_file.MODEL),
        "MJCF includes together": f"{includes.MOST_INCLUDED // MB} MB, each counted with {extra:,} bytes extra",
        "MJCF replicates": (
            f"{frames.MOST_COPIES:,} copies each, {elements:,} elements and {letters} million characters"
        ),
        "Xacro": f"{xacro.TIME_LIMIT:.0f} s, {process.MEMORY_LIMIT >> 30} GB of memory, {kind(regular_file.MODEL)}",
        "imported machines": f"{assemblies.MOST_BODIES:,} bodies",
        "mesh": f"{kind(regular_file.MESH)}, {numbers} million numbers, {places:,} places",
        "3MF, unpacked": f"{text} MB, and {room} MB + {times} times the archive",
        "texture": f"{kind(regular_file.PICTURE)}, {pixels} million pixels",
        "trace": f"{kind(regular_file.SIGNAL)}, lines of {recorded_signals.LONGEST_LINE:,} characters",
        "shape, script": kind(regular_file.SHAPE),
        "torque file": f"{torque_file.LONGEST:,} characters",
        "animation": kind(regular_file.ANIMATION),
        "run, study, measured trace": f"{hdf5_file.UNPACKED // MB} MB",
        "HDF5 file without checksums": f"{hdf5_file.PATIENCE:.0f} s plus 1 s per {pace:.0f} MB",
    }
    rows = dict(re.findall(r"^\| ([^|]+?) \| ([^|]+?) \|$", PAGE.read_text(encoding="utf-8"), re.M))
    assert set(wanted) == set(rows) - {"what", "---"}
    for name, limit in wanted.items():
        assert limit in rows[name], name
    assert all(each in rows["texture"].upper() for each in formats)
    assert regular_file.SHAPE.most == regular_file.SCRIPT.most
