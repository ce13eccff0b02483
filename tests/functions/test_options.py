"""Options take what panel, console and command line hand over, or say what is wrong."""

import contextlib
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import KinetostatError, ModelError
from core.files import load
from core.functions import FUNCTIONS, Context
from core.functions.options import (
    Choice,
    Flag,
    FrameName,
    FrameNames,
    InputFile,
    Integer,
    Number,
    OutputFile,
    Range,
    Ranges,
    Text,
    Values,
    Vector,
)
from resources import EXAMPLES


@pytest.fixture(scope="module")
def context():
    return Context.of(load(EXAMPLES / "puma560.kst"))


def test_numbers_take_units_and_parameters(context):
    option = Number("x", "X", default=0.0, dimension="length", minimum=0.0, maximum=2.0)
    assert option.coerce(1, context) == 1.0
    assert option.coerce("50 mm", context) == pytest.approx(0.05)
    assert option.coerce("2*a2", context) == pytest.approx(2 * 0.4318)
    for wrong in ("3", "-1e-9", "nothing", "1/0", "", None, "nan", float("inf"), True, "2*", "1 kg", "-2*30 deg"):
        with pytest.raises(ModelError, match="option 'x'"):
            option.coerce(wrong, context)
    assert Number("x", "X", default=None).coerce("", context) is None


def test_integers_flags_choices_texts(context):
    count = Integer("n", "N", default=1, minimum=1, maximum=9)
    assert count.coerce("4", context) == 4
    for wrong in (0, 10, 2.5, "x"):
        with pytest.raises(ModelError):
            count.coerce(wrong, context)
    flag = Flag("f", "F")
    assert [flag.coerce(word, context) for word in ("yes", True, "off", 0)] == [True, True, False, False]
    with pytest.raises(ModelError, match="is not yes or no"):
        flag.coerce("perhaps", context)
    choice = Choice("c", "C", default="red", choices=("red", "green"))
    assert choice.coerce("green", context) == "green"
    with pytest.raises(ModelError, match="green"):
        choice.coerce("gren", context)
    assert Text("t", "T").coerce("any", context) == "any"
    with pytest.raises(ModelError):
        Text("t", "T").coerce(3, context)


def test_frames(context):
    one, some = FrameName("frame", "Frame"), FrameNames("frames", "Frames")
    assert one.coerce("", context) == "tool"
    assert FrameName("frame", "Frame", fallback="world").coerce("", context) == "world"
    assert one.coerce("link3", context) == "link3"
    with pytest.raises(ModelError, match="Did you mean link"):
        one.coerce("linc3", context)
    assert some.coerce((), context) == ("tool",)
    assert some.coerce("link1, link2", context) == ("link1", "link2")
    assert some.coerce(["link1,link2"], context) == ("link1", "link2")
    assert set(some.coerce("all", context)) == set(context.mech.frame_names)


def test_vectors(context):
    option = Vector("at", "At", default=None, dimension="length")
    assert option.coerce(None, context) is None
    assert option.coerce("1, 20 mm, a2", context) == pytest.approx((1.0, 0.02, 0.4318))
    assert option.coerce((1, 2, 3), context) == (1.0, 2.0, 3.0)
    for wrong in ((1, 2), "1,2,3,4", (None, 1, 2), "1,,2"):
        with pytest.raises(ModelError):
            option.coerce(wrong, context)


def test_values(context):
    option = Values("speeds", "Speeds")
    assert option.coerce((), context) == {}
    assert option.coerce(["joint1=90 deg", "joint3=1"], context) == pytest.approx({"joint1": math.pi / 2, "joint3": 1})
    assert option.coerce({"joint2": 2}, context) == {"joint2": 2.0}
    assert option.coerce(range(6), context) == {f"joint{i + 1}": float(i) for i in range(6)}
    for wrong in ("joint9=1", "joint1", [1.0, 2.0]):
        with pytest.raises(ModelError):
            option.coerce(wrong, context)


def test_ranges(context):
    option = Ranges("ranges", "Ranges")
    expected = (Range("joint1", 0.0, pytest.approx(math.pi / 2), 5),)
    for text in (
        "joint1=0:90 deg",
        ["joint1=0:90 deg:5"],
        [("joint1", 0, "90 deg")],
        ("joint1", 0.0, math.pi / 2, 5),
        [{"name": "joint1", "start": 0, "stop": "pi/2"}],
    ):
        assert option.coerce(text, context) == expected
    assert option.coerce([], context) == ()
    for wrong in ("joint1=0", "joint1=0:1:0", "joint1=0:1:2.5", "elbow=0:1", "joint1=0:1:1e9", [("joint1", 0)]):
        with pytest.raises(ModelError):
            option.coerce(wrong, context)
    with pytest.raises(ModelError, match="has two ranges"):
        option.coerce(["joint1=0:1", "joint1=0:2"], context)


def test_output_files(context):
    option = OutputFile("file", "File", suffixes=(".png",))
    assert option.coerce("a/b.PNG", context) == "a/b.PNG"
    assert option.coerce("", context) == ""
    with pytest.raises(ModelError, match=r"\.png"):
        option.coerce("a.jpg", context)


ALL = [option for function in FUNCTIONS.values() for option in function.options]
PIECES = st.sampled_from(
    [
        "joint1",
        "=",
        ":",
        "0",
        "1e9",
        "-",
        ",",
        "deg",
        " ",
        "pi",
        "a2",
        "(",
        ")",
        "[",
        "**",
        "^",
        "9" * 40,
        "∞",
        "\x00",
        "tool",
        "all",
        "yes",
        ".png",
        "nan",
        "inf",
        "__import__",
        ";",
        "\n",
    ]
)
WORDS = st.lists(PIECES, max_size=8).map("".join) | st.text(max_size=30)


CONTEXT: list[Context] = []


@given(st.sampled_from(ALL), WORDS | st.lists(WORDS, max_size=3) | st.lists(st.floats(), max_size=7) | st.none())
def test_any_text_is_a_value_or_a_message(option, value):
    if not CONTEXT:
        CONTEXT.append(Context.of(load(EXAMPLES / "puma560.kst")))
    with contextlib.suppress(KinetostatError):  # any other exception fails
        option.coerce(value, CONTEXT[0])


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=lambda function: function.id)
def test_what_a_person_chooses_from_is_told_apart(function):
    """Also by those who do not see the difference of “c” and “C”."""
    for option in function.options:
        if isinstance(option, Choice):
            shown = [option.choice_label(choice).casefold() for choice in option.choices]
            assert len(set(shown)) == len(shown), option.id


def test_a_number_of_several_that_is_missing_or_wrong_is_named(context):
    option = Vector("position", "Position", dimension="length")
    assert option.coerce("0.4, 20 cm, 0", context) == pytest.approx((0.4, 0.2, 0.0))
    for wrong, said in (
        ((None, None, 0.5), "x, y are missing"),
        ((0.4, "", 0.5), "y is missing"),
        ((0.4, "height", 0.5), "y: The name 'height' is not defined"),
        ("0.4, 0.2, 5 kg", "z: "),
    ):
        with pytest.raises(ModelError, match=said):
            option.coerce(wrong, context)


def test_texts_that_are_lists_add_up(context):
    option = Text("columns", "Columns", joined=", ")
    assert option.is_repeatable
    assert option.coerce(["a=1", "b=2, c=3"], context) == "a=1, b=2, c=3" == option.coerce("a=1, b=2, c=3", context)
    with pytest.raises(ModelError, match="A string is needed"):
        Text("label", "Label").coerce(["a", "b"], context)


def test_a_name_with_two_values_is_refused(context):
    option = Values("v", "Speeds")
    with pytest.raises(ModelError, match="'joint1' is given twice: 1 and 2"):
        option.coerce(["joint1=1", "joint1=2"], context)


def test_a_file_is_found_beside_the_machine(context, tmp_path, monkeypatch):
    option = InputFile("trace", "Trace")
    monkeypatch.chdir(tmp_path)
    assert option.coerce("traces/puma560.csv", context) == str(EXAMPLES / "traces" / "puma560.csv")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "puma560.csv").write_text("t\n")
    assert option.coerce("traces/puma560.csv", context) == "traces/puma560.csv"
    assert option.coerce("none.csv", context) == "none.csv"
