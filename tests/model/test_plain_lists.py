"""NumPy's numbers, and plain lists where their sizes say what is meant."""

import numpy as np
import pytest

import kinetostat as ks
from core.files.native.reader import VERSION
from core.model.formula.expression import evaluate, parse
from core.model.shapes import pose_from_matrix

TURN = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]


def joint(**fields):
    return ks.Joint(name="pin", parent="world", child="arm", **fields)


def in_file(field, text, collection="joints"):
    """The value of a field of the joint or body of a file."""
    fields = {"joints": "parent: world, child: arm", "bodies": "mass: 1"} | {}
    fields[collection] += f", {field}: {text}"
    model = ks.loads(
        f"kinetostat: {VERSION}\nbodies:\n  arm: {{{fields['bodies']}}}\njoints:\n  pin: {{{fields['joints']}}}\n"
    )
    return getattr(getattr(model, collection)[0], field)


# ------------------------------------------------------------------------------- NumPy

NUMBERS = [np.float64(2), np.float32(2), np.int64(2), np.uint8(2), np.array(2.0), np.array(2)]


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_of_numpy_in_fields_are_plain(number):
    body = ks.Body(name="arm", mass=number, center_of_mass=(number, 0, number))
    assert body == ks.Body(name="arm", mass=2, center_of_mass=(2, 0, 2))
    assert type(body.mass) is float
    assert joint(rest=number).rest == (2.0,)
    assert ks.Parameter(name="a", value=1, assumed=np.bool_(True)).assumed is True


@pytest.mark.parametrize("shape", [(3,), (1, 3), (3, 1)])
def test_small_arrays_are_vectors(shape):
    assert ks.Body(name="arm", center_of_mass=np.arange(3).reshape(shape)).center_of_mass == (0.0, 1.0, 2.0)


@pytest.mark.parametrize("number", NUMBERS)
def test_numbers_of_numpy_in_formulas(number):
    model = ks.Model(parameters=(ks.Parameter(name="a", value=1), ks.Parameter(name="b", value="1/a + a^2")))
    values = model.values({"a": number})
    assert values == {"a": 2.0, "b": 4.5}
    assert {type(value) for value in values.values()} == {float}


@pytest.mark.parametrize("number", NUMBERS[:4])
def test_what_numpy_writes_can_be_read(number):
    """As `f"3*{number!r}"` and texts of lists have it: 3*np.float64(2.0)."""
    assert evaluate(parse(f"3*{number!r}"), {}) == 6.0
    assert evaluate(parse(f"3*{-1 * float(number)!r} + {np.float64(-2)!r}"), {}) == -8.0


def test_a_zero_of_numpy_divides_like_any_other():
    """With NumPy's rules 1/0 would be ∞ and a RuntimeWarning."""
    model = ks.Model(parameters=(ks.Parameter(name="a", value=1), ks.Parameter(name="b", value="1/a")))
    for zero in (0, np.float64(0), np.int64(0), np.array(0.0)):
        with pytest.raises(ks.ExpressionError, match="divides by zero"):
            model.values({"a": zero})
        with pytest.raises(ks.ExpressionError, match="divides by zero"):
            evaluate(parse("1/a"), {"a": zero})


@pytest.mark.parametrize("value", ["x", None, np.bool_(True), np.nan])
def test_values_that_are_no_numbers_are_refused(value):
    model = ks.Model(parameters=(ks.Parameter(name="a", value=1),))
    with pytest.raises(ks.ModelError, match="number") as caught:
        model.values({"a": value})
    assert caught.value.where == "parameter 'a'"


# ------------------------------------------------------------------------------- lists


@pytest.mark.parametrize(
    ("word", "axis"), [("x", (1, 0, 0)), ("-y", (0, -1, 0)), ("+z", (0, 0, 1)), ("Z", (0, 0, 1)), ("-z", (0, 0, -1))]
)
def test_axes_by_letter(word, axis):
    assert joint(axis=word).axis == in_file("axis", word) == in_file("axis", list(axis)) == axis


@pytest.mark.parametrize("word", ["w", "xy", "--x", ""])
def test_what_is_no_axis_is_told(word):
    with pytest.raises(ks.ModelError, match=r"is not an axis\. Write x, y, z"):
        joint(axis=word)


def test_inertia():
    plain = ks.Inertia(ixx=1, iyy=2, izz=3)
    full = ks.Inertia(ixx=1, iyy=2, izz=3, ixy=0.1, ixz=0.2, iyz=0.3)
    tensor = [[1, 0.1, 0.2], [0.1, 2, 0.3], [0.2, 0.3, 3]]
    for given, wanted in (([1, 2, 3], plain), (np.diag([1, 2, 3]), plain), (tensor, full), (np.array(tensor), full)):
        assert ks.Body(name="arm", inertia=given).inertia == wanted
        assert in_file("inertia", np.asarray(given).tolist(), "bodies") == wanted
    assert ks.Body(name="arm", inertia=["m*r^2", 1, "2 kg*m^2"]).inertia.ixx == "m*r^2"


def test_poses():
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = TURN, (1, 2, 3)
    place, turned = ks.Pose(position=(1, 2, 3)), ks.Pose(rotation=(0, 0, np.pi / 2))
    for given, wanted in (
        ([1, 2, 3], place),
        ([1, 2, 3, 0, 0, np.pi / 2], pose_from_matrix(X)),
        (TURN, turned),
        (X, pose_from_matrix(X)),
    ):
        assert joint(a=given).a == wanted
        assert in_file("a", np.asarray(given).tolist()) == wanted
    assert ks.Pose(rotation=np.array(TURN)) == turned
    assert in_file("a", f"{{rotation: {TURN}}}") == turned


def test_a_rotation_matrix_is_kept_by_the_kernel():
    """A matrix given, and the frame that the kernel computes, are the same."""
    q = np.random.default_rng(3).normal(size=(20, 4))
    for x, y, z, w in q / np.linalg.norm(q, axis=1)[:, None]:
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
        model = ks.Model(
            bodies=(ks.Body(name="arm", mass=1, inertia=[1, 1, 1]),),
            joints=(joint(),),
            frames=(ks.Frame(name="tool", parent="arm", pose=R),),
        )
        mech = ks.Mechanism(model)
        assert mech.frame(mech.rest(), "tool")[:3, :3] == pytest.approx(R, abs=1e-12)


def test_limits_and_gravity():
    wanted = (ks.Limit(lower=-1, upper="90 deg"),)
    assert joint(limits=[-1, "90 deg"]).limits == joint(limits=[[-1, "90 deg"]]).limits == wanted
    assert in_file("limits", "[-1, 90 deg]") == in_file("limits", "[{lower: -1, upper: 90 deg}]") == wanted
    assert ks.World(gravity=[0, 0, -1.62]).gravity == ks.Gravity(acceleration=(0, 0, -1.62))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ks.Body(name="arm", inertia=[1, 2, 3, 4, 5, 6]), "the order of six numbers is ambiguous"),
        (lambda: ks.Body(name="arm", inertia=[[1, 0, 0], [1, 2, 0], [0, 0, 3]]), "symmetric"),
        (lambda: joint(a=[1, 2]), "position \\[x, y, z\\]"),
        (lambda: joint(a=[1, 2, 3, 0, 0, 0, 1]), "position and angles"),
        (lambda: joint(a=2 * np.eye(4)), "4×4"),
        (lambda: ks.Pose(rotation=2 * np.eye(3)), "not a rotation"),
        (lambda: ks.Pose(rotation=np.diag([1, 1, -1])), "not a rotation"),
        (lambda: joint(limits=[1, 2, 3]), "\\[lower, upper\\]"),
        (lambda: in_file("inertia", "[1, 2, 3, 4, 5, 6]", "bodies"), "line 3, .*the order of six numbers is ambiguous"),
    ],
)
def test_sizes_that_do_not_say_what_is_meant_are_told_with_the_forms(make, said):
    with pytest.raises(ks.KinetostatError) as caught:
        make()
    import re

    assert re.search(said, str(caught.value))
