"""Words of a million characters are read or refused: what reads them takes as long as they are, not their square.

A reader that took the square would need days here, and the test would not end.
"""

import pytest

from core.errors import KinetostatError
from core.files import loads
from core.files.dh.csv_table import _HEADER_UNIT
from core.files.mjcf.meshes import _FACE, _POINT
from core.files.xml_source import _LATE
from core.model.formula.numerals import _POWER
from core.model.units import convert_compound_unit, parse_compound_unit, split_column_heading

LONG = 1_000_000
TEXTS = {
    "kst": "kinetostat: 1\nname: m\nparameters: {{p: {{value: {0}}}}}\nbodies: {{b: {{mass: 1}}}}\n",
    "urdf": '<robot name="r"><link name="a"><inertial><mass value="{0}"/></inertial></link></robot>',
    "mjcf": '<mujoco><worldbody><body pos="{0} 0 0"><geom size="0.1"/></body></worldbody></mujoco>',
    "csv": "a,alpha,d,theta\n{0},0,0,0\n",
    "toml": "[[joint]]\na = {0}\n",
    "robotica": "DOF=1\n\njoint1 = revolute\na1 = {0}\nalpha1 = 0\nd1 = 0\ntheta1 = q1\n",
}


@pytest.mark.parametrize("format", TEXTS)
@pytest.mark.parametrize("piece", ["9", "1.", "a1", " ", "1e"])
def test_a_long_word_is_read_or_refused(format, piece):
    said = ""
    try:
        loads(TEXTS[format].format(piece * (LONG // len(piece))), format)
    except KinetostatError as error:
        said = str(error)
    assert len(said) < 2000


def test_comments_before_an_xml_file_are_read_however_many():
    text = "<!-- made by hand -->\n" * 2000 + '<robot name="r"><link name="a"/></robot>'
    assert loads(text, "urdf").name == "r"
    late = b"<!-- late -->\n" * 2000
    assert _LATE.match(late + b"<?xml version='1.0'?>").end() == len(late)
    assert _LATE.match(late + b"<robot/>") is None


DIGITS, SPACES, LINES = "9" * LONG, " " * LONG, b"\n" * LONG


def test_heads_of_columns_and_numbers_with_units_are_linear():
    assert split_column_heading(f"angle{SPACES}[deg]") == ("angle", "deg")
    assert split_column_heading("[" * LONG) == ("[" * LONG, "")
    assert split_column_heading(f"{'(' * LONG} x)")[1] == "(" * (LONG - 1) + " x"
    assert _HEADER_UNIT.match(f"a{SPACES}[{SPACES}") is None
    assert convert_compound_unit(DIGITS, "mass", ()) == DIGITS
    assert parse_compound_unit(SPACES) == parse_compound_unit("")
    assert _POWER.sub("", DIGITS) == DIGITS
    assert _FACE.search(LINES) is None
    assert _POINT.findall(LINES) == []


@pytest.mark.parametrize(
    ("head", "found"),
    [
        ("angle [deg]", ("angle", "deg")),
        (" q1 ( rad ) ", ("q1", "rad")),
        ("torque (filtered) [N·m]", ("torque (filtered)", "N·m")),
        ("a [x", ("a [x", "")),
        ("a ] b", ("a ] b", "")),
        ("a]", ("a]", "")),
        ("", ("", "")),
    ],
)
def test_the_unit_of_a_head(head, found):
    assert split_column_heading(head) == found


@pytest.mark.parametrize(
    ("text", "powers"),
    [("10²", ["1e2"]), ("3.5·10² + 10³", ["3.5e2", "1e3"]), ("210²", []), ("2.10²", []), ("x·10²", ["1e2"])],
)
def test_powers_of_ten_are_found_as_before(text, powers):
    assert [f"{each[1] or '1'}e{'⁰¹²³'.index(each[2])}" for each in _POWER.finditer(text)] == powers
