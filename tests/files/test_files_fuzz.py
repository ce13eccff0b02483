"""Any bytes give a model or a message: random ones, and real files cut, mixed and with flipped bits."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.errors import FileError
from core.files import FORMATS, ReadOptions, Source, dumps, loads
from core.files.formats import detect_format
from core.model import Model
from tests.files.dh.test_dh_tables import CSV, TOML
from tests.files.dh.test_robotica_files import TWO_LINK
from tests.files.native.test_native import HAND_WRITTEN
from tests.files.urdf.test_urdf import ARM

MJCF = """<mujoco model="arm"><compiler angle="degree" eulerseq="xyz"/><default><joint damping="0.1"/></default>
<worldbody><body name="base" pos="0 0 0.1"><geom type="box" size="0.1 0.1 0.1" mass="1"/>
<body name="link" pos="0 0 0.2" euler="0 90 0"><joint name="j" type="hinge" axis="0 1 0" range="-90 90"/>
<inertial pos="0 0 0.1" mass="2" diaginertia="0.1 0.1 0.05"/></body></body></worldbody>
<equality><weld body1="base"/></equality></mujoco>"""
SEEDS = {"mjcf": MJCF, "kst": HAND_WRITTEN, "urdf": ARM, "robotica": TWO_LINK, "csv": CSV, "toml": TOML}
ROBOTS = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
READERS = [name for name in FORMATS if name in SEEDS]
"""Xacro is a program of its own and is run apart; see test_urdf."""


def outcome(name: str, data: bytes) -> Model | FileError:
    """What a reader makes of bytes; anything but a model or a message fails the test."""
    try:
        model = FORMATS[name].read(Source(data, "file." + name), ReadOptions()).model
    except FileError as error:
        message = error
    else:
        assert loads(dumps(model)) == model
        return model
    assert message.what
    assert message.remedy
    return message


def test_every_reader_is_fuzzed():
    assert {name for name in FORMATS if FORMATS[name].read is not None} == {*SEEDS, "xacro"}


@pytest.mark.parametrize("name", READERS)
@given(data=st.binary(max_size=300))
@settings(max_examples=40)
def test_random_bytes(name, data):
    outcome(name, data)


@pytest.mark.parametrize("name", READERS)
@given(text=st.text(max_size=200))
@settings(max_examples=40)
def test_random_text_after_a_good_beginning(name, text):
    seed = SEEDS[name]
    outcome(name, (seed[: len(seed) // 2] + text).encode("utf-8", "surrogatepass"))


MUTATION = st.one_of(
    st.tuples(st.just("flip"), st.integers(0, 10**6), st.integers(0, 255)),
    st.tuples(st.just("cut"), st.integers(0, 10**6), st.integers(1, 60)),
    st.tuples(st.just("copy"), st.integers(0, 10**6), st.integers(1, 200)),
    st.tuples(st.just("end"), st.integers(0, 10**6), st.just(0)),
    st.tuples(st.just("word"), st.integers(0, 10**6), st.integers(0, 11)),
)
WORDS = (
    b"1e400",
    b"nan",
    b"-inf",
    b"9**9**9",
    b"[[[[",
    b"{}",
    b"\0",
    b"&a",
    b"!!python/object:os.system",
    b"\xff",
    b"0x1F",
    b"(" * 100,
)


def mutated(data: bytes, changes: list[tuple[str, int, int]]) -> bytes:
    out = bytearray(data)
    for kind, place, amount in changes:
        at = place % (len(out) + 1)
        if kind == "flip" and at < len(out):
            out[at] ^= amount
        elif kind == "cut":
            del out[at : at + amount]
        elif kind == "copy":
            out[at:at] = out[:amount]
        elif kind == "end":
            del out[max(at, 1) :]
        elif kind == "word":
            out[at : at + 3] = WORDS[amount]
    return bytes(out)


@pytest.mark.parametrize("name", READERS)
@given(changes=st.lists(MUTATION, min_size=1, max_size=4))
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_files(name, changes):
    outcome(name, mutated(SEEDS[name].encode(), changes))


@pytest.mark.skipif(not ROBOTS.is_dir(), reason="the package example-robot-data is not installed")
@given(which=st.integers(0, 100), changes=st.lists(MUTATION, min_size=1, max_size=4))
@settings(max_examples=25)
def test_mutated_real_robots(which, changes):
    files = sorted(file for file in ROBOTS.rglob("*.urdf") if file.stat().st_size < 40_000)
    data = files[which % len(files)].read_bytes()
    outcome("urdf", mutated(data, changes))


HOSTILE = {
    "nothing": b"",
    "nul": b"\0" * 1000,
    "utf16": "kinetostat: 1\n".encode("utf-16"),
    "one long line": b"a" * 1_000_000,
    "brackets": b"[" * 100_000,
    "braces": b"{" * 100_000,
    "tags": b"<a>" * 100_000,
    "newlines": b"\n" * 100_000,
    "commas": b"# convention: standard\ntype,a,alpha,d,theta\n" + b"," * 100_000,
    "dof": b"DOF=9999999999999999999999\n",
    "sum": b"# convention: standard\ntype,a,alpha,d,theta\nR," + b"+".join([b"1"] * 100_000) + b",0,0,0\n",
    "power": b"# convention: standard\ntype,a,alpha,d,theta\nR,9^9^9^9^9,0,0,0\n",
    "toml": b"a" + b".a" * 20_000 + b" = 1\n",
    "quotes": b'"' * 100_001,
}


@pytest.mark.parametrize("case", HOSTILE)
@pytest.mark.parametrize("name", READERS)
def test_hostile_files_end_in_a_message(name, case):
    result = outcome(name, HOSTILE[case])
    assert isinstance(result, FileError) or case == "power"


@given(st.binary(max_size=100))
@settings(max_examples=40)
def test_any_content_has_a_format_or_a_message(data):
    try:
        found = detect_format(Source(data, "no suffix")).id
    except FileError as error:
        found = error.remedy
    assert found in FORMATS or ".urdf" in found
