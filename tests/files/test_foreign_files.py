"""What a model names is opened only if it is a regular file of bearable size; nothing else is waited for."""

from __future__ import annotations

import os
import socket
import threading
from functools import partial

import numpy as np
import pytest

from core.errors import FileError, KinetostatError
from core.files import FORMATS, ReadOptions, dumps, load, load_mesh, loads, resolve_mesh
from core.files.foreign import recognise_unsupported_format
from core.files.formats import read_with_format
from core.files.regular_file import ANIMATION, read_text
from core.files.source import Source, append_atomically, source_from_file, source_from_text, write_atomically
from core.functions.subjects.torque_file import read_torque_file
from core.mechanics.elements.recorded_signals import read_driver_columns, read_table
from core.mechanism import Mechanism
from core.model import Driver
from core.robotica.shape_file import read_shape
from core.simulation.run.run_file import load as load_run

PATIENCE = 10.0
"""s until a reader counts as one that waits for ever."""

only_posix = pytest.mark.skipif(os.name != "posix", reason="pipes and devices have no names here")


def outcome(function, *arguments):
    """What a function returns or raises; TimeoutError if it does neither."""
    found = []

    def work():
        try:
            found.append(function(*arguments))
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(PATIENCE)
    return found[0] if found else TimeoutError(f"nothing after {PATIENCE} s")


@pytest.fixture
def odd_places(tmp_path):
    """Names of everything that is no regular file."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "circle").symlink_to(tmp_path / "circle")
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(tmp_path)  # names of sockets are short
    try:
        listener.bind("socket")
    finally:
        os.chdir(here)
    yield [*(tmp_path / name for name in ("pipe", "folder", "dangling", "circle", "socket")), "/dev/zero"]
    listener.close()


def followed(place):
    return read_driver_columns(Driver(name="d", joint="j", file=str(place)), "")


def drawn(place):
    mesh = place.parent / "a.obj"
    mesh.write_text(f"mtllib {place.name}\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m\nf 1 2 3\n")
    return load_mesh(mesh)


@only_posix
@pytest.mark.parametrize(
    "reader",
    [
        source_from_file,
        read_table,
        followed,
        load_run,
        read_shape,
        read_torque_file,
        partial(read_text, kind=ANIMATION),
    ],
)
def test_only_regular_files_are_read(odd_places, reader):
    for place in odd_places:
        error = outcome(reader, place)
        assert isinstance(error, FileError), place
        assert error.file == str(place)
        assert error.remedy


@only_posix
def test_models_do_not_wait_for_what_they_name(odd_places):
    """Packages are told by files of a name, meshes name materials: what is odd there is passed over."""
    pipe = odd_places[0]
    for place in odd_places[:-1]:
        assert len(outcome(drawn, place).faces) == 1
        link = pipe.parent / "a.stl"
        link.symlink_to(place)
        assert isinstance(outcome(load_mesh, link), FileError)
        link.unlink()
    pipe.rename(pipe.parent / "package.xml")
    assert outcome(resolve_mesh, "package://nothing/a.stl", str(pipe.parent / "a.urdf")) is None


@only_posix
def test_only_regular_files_are_replaced(odd_places):
    pipe = odd_places[0]
    for place in (pipe, "/dev/null"):
        assert isinstance(outcome(write_atomically, place, b"x"), FileError)
        assert isinstance(outcome(append_atomically, place, "x"), FileError)
    assert not os.path.isfile("/dev/null")


def test_a_file_is_refused_by_its_size_before_it_is_read(tmp_path):
    file = tmp_path / "a.kst"
    with open(file, "wb") as stream:
        stream.truncate(10**12)  # holds nothing
    for reader in (source_from_file, read_table, read_shape):
        with pytest.raises(FileError, match=r"1000000 MB; \d+ MB is the limit"):
            reader(file)


def test_a_table_of_one_line_without_end_is_refused(tmp_path):
    file = tmp_path / "a.csv"
    file.write_text("t,x\n0,1\n" + "1," * 10**6)
    with pytest.raises(FileError, match=r":3: This line has more than 100000 characters"):
        read_table(str(file))


TENSOR = "inertia: {ixx: 1, iyy: 1, izz: 1}"
HALF_ROUND = (
    "kinetostat: 1\nname: A\nbodies:\n  a: {mass: 1, %s, %s}\n"
    "joints:\n  j: {kind: revolute, parent: world, child: a%s}\n"
)
FLAT_BOX = """<mujoco><worldbody><body name="b"><freejoint/><geom type="box" size=".1 .2 0" mass="1"/></body>
</worldbody></mujoco>"""


def used(text, format):
    model = loads(text, format)
    mech = Mechanism(model)
    mech.poses(mech.rest())
    dumps(model, "urdf")


@pytest.mark.parametrize(
    ("text", "format"),
    [
        pytest.param(
            HALF_ROUND % (TENSOR, 'shapes: [box: {pose: {rotation: ["-pi/1e-320", 0, 0]}, size: [1, 1, 1]}]', ""),
            "kst",
            id="shape turned without end",
        ),
        pytest.param(
            HALF_ROUND % (TENSOR, "description: x", ', a: {rotation: ["-pi/1e-320", 0, 0]}'),
            "kst",
            id="joint turned without end",
        ),
    ],
)
def test_numbers_without_sense_are_messages(text, format):
    with pytest.raises(KinetostatError) as caught:
        used(text, format)
    assert caught.value.remedy


def test_a_box_without_volume_has_no_mass_and_it_is_said():
    reading = read_with_format(FORMATS["mjcf"], source_from_text(FLAT_BOX), ReadOptions())
    assert reading.model.bodies[0].mass == 0.0
    size, finding = reading.findings
    assert "A size of <geom>" in size.text
    assert finding.text == "Its mass is left out: A box of this size has no volume, and so no mass."


def test_a_loop_too_large_for_numbers_is_not_closed():
    bodies = "".join(f"  {name}: {{mass: 1, {TENSOR}}}\n" for name in "ab")
    model = loads(
        f"kinetostat: 1\nname: L\nbodies:\n{bodies}joints:\n"
        "  j: {kind: revolute, parent: world, child: a}\n"
        "  k: {kind: revolute, parent: a, child: b, a: {position: [1, 0, 0]}}\n"
        "  l: {kind: revolute, parent: world, child: b, a: {position: [1e200, 0, 0]}, b: {position: [1, 0, 0]}}\n"
    )
    mech = Mechanism(model)
    with np.errstate(over="ignore"), pytest.raises(KinetostatError):
        mech.assemble(mech.neutral())


@pytest.mark.parametrize("suffix", ["kst", "xml"])
def test_files_that_import_files_many_times_end_in_a_message(tmp_path, suffix):
    """Ten files, each of which brings the next one ten times: 10⁹ machines."""
    for k in range(10):
        following = f"a{k + 1}.{suffix}"
        if suffix == "kst":
            names = "".join(f"  s{i}: {{file: {following}}}\n" for i in range(10))
            text = "kinetostat: 1\nbodies:\n  b: {mass: 1}\n" + (f"assemblies:\n{names}" if k < 9 else "")
        else:
            text = "<mujoco><worldbody/>" + f'<include file="{following}"/>' * 10 * (k < 9) + "</mujoco>"
        (tmp_path / f"a{k}.{suffix}").write_text(text)
    with pytest.raises(FileError, match="more than 20000 bodies together|included twice") as caught:
        load(tmp_path / f"a0.{suffix}")
    assert caught.value.line
    assert caught.value.remedy


def test_many_comments_before_a_root_are_no_obstacle():
    """Backtracking over them would not end."""
    text = b'<?xml version="1.0"?>' + b"<!--a-->" * 2000
    assert recognise_unsupported_format(Source(text + b"<robot name='a'/>", "m.xml")) is None
    found = recognise_unsupported_format(Source(text + b'<sdf version="1.6"/>', "m.xml"))
    assert found is not None
    assert "SDF" in found.name
