"""Every function of the catalogue: declaration, results against the kernel and closed forms, messages."""

import dataclasses
import json
import math
import subprocess
import sys

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from core.errors import KinetostatError, ModelError
from core.files import load
from core.functions import FUNCTIONS, Context, call, find
from core.functions.catalogue import GROUPS
from core.functions.context import Cancelled
from core.functions.results import EllipsoidField, Matrix, PoseSequence, Report, Table, leaf_results, to_json
from core.model import Body, Joint, Model
from resources import EXAMPLES, examples
from tests.functions.short_searches import FEW
from tests.walks import walk


@pytest.fixture(scope="module")
def puma():
    return Context.of(load(EXAMPLES / "puma560.kst"))


def at(context, seed):
    return Context(context.model, context.mech, context.mech.random(seed), {})


def table(result):
    return next(part for part in leaf_results(result) if isinstance(part, Table))


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_declaration(function):
    assert function.id.isidentifier()
    assert function.group in GROUPS
    assert len(function.help.split("\n\n")) >= 2, "a sentence for lists, then an explanation"
    assert function.summary.endswith(".")
    ids = [option.id for option in function.options]
    assert len(set(ids)) == len(ids)
    for option in function.options:
        assert option.title
        assert option.id.isidentifier()


REFUSED = {("ramp", "lqr"): "is not controllable", ("ramp", "write_c_code"): "too long for the stiffness"}
"""Messages of functions that cannot answer with their defaults: what sticks keeps the place where it began to, and hard
contacts need shorter steps."""


@pytest.mark.usefixtures("busy_compiler")
@pytest.mark.parametrize("example", walk(e.name for e in examples()))
def test_every_function_runs_with_its_defaults_or_says_why_not(example):
    path = next(e.path for e in examples() if e.name == example)
    context = Context.of(load(path))
    for function in FUNCTIONS.values():
        reason = function.unavailability_reason(context)
        if reason:
            assert reason.endswith(".")
            with pytest.raises(ModelError, match="The model|available only"):
                call(function.id, context)
            continue
        if (example, function.id) in REFUSED:
            with pytest.raises(KinetostatError, match=REFUSED[example, function.id]):
                call(function.id, context)
            continue
        result = call(function.id, context, **FEW.get(function.id, {}))
        assert result.function == function.id
        assert result.title
        json.dumps(to_json(result), allow_nan=False)
        if example == "panda" and function.id in ("symbolic_dynamics", "derivation"):
            continue  # its texts were just written, as JSON; the shorter in all three ways
        for written in (result.to_text, result.to_latex, result.to_python):
            assert written()


def test_energies_of_a_machine_without_mass_have_no_centre():
    arm = Joint(name="turn", parent="world", child="arm")
    bare = call(
        "energy", Context.of(Model(name="bare", bodies=(Body(name="arm"),), joints=(arm,))), speeds={"turn": 2.0}
    )
    assert [row[0] for row in table(bare).rows] == ["Kinetic energy", "Potential energy", "Total energy"]
    assert "no centre of mass" in table(bare).note
    rotor = Model(name="rotor", bodies=(Body(name="arm"),), joints=(dataclasses.replace(arm, armature=0.5),))
    rows = {name: amount.value for name, amount in table(call("energy", Context.of(rotor), speeds={"turn": 2.0})).rows}
    assert rows == {"Kinetic energy": 1.0, "Potential energy": 0.0, "Total energy": 1.0}


def test_an_empty_model_makes_functions_unavailable_not_wrong():
    context = Context.of(Model(name="empty"))
    for function in FUNCTIONS.values():
        assert function.unavailability_reason(context) or not function.needs


def test_unknown_names_have_near_misses(puma):
    with pytest.raises(ModelError, match="Did you mean jacobian"):
        find("jacobain")
    with pytest.raises(ModelError, match="Did you mean frame"):
        call("jacobian", puma, frme="tool")


def test_script_line_is_python(puma):
    puma.mech.compile("poses", "jacobian:tool")  # the interpreter's last digits differ
    result = call("manipulability", puma, frame="tool", ranges=[("joint1", 0.0, 1.0, 2)], scale=True, part="rotation")
    assert result.call == 'manipulability(frame="tool", part="rotation", ranges=(("joint1", 0, 1, 2),), scale=True)'
    again = eval(result.call, {"manipulability": lambda **options: call("manipulability", puma, **options)})
    assert again == result


def test_forward_kinematics(puma):
    context = at(puma, 1)
    result = call("forward_kinematics", context, frames="all")
    rows = {row[0]: row[1:] for row in table(result).rows}
    assert set(rows) == set(context.mech.frame_names)
    for name, row in rows.items():
        X = context.mech.frame(context.q, name)
        np.testing.assert_allclose(row[:3], X[:3, 3], atol=1e-12)
        np.testing.assert_allclose(Rotation.from_euler("xyz", row[3:6]).as_matrix(), X[:3, :3], atol=1e-12)
        np.testing.assert_allclose(Rotation.from_quat(row[6:]).as_matrix(), X[:3, :3], atol=1e-12)
    inverse = call("forward_kinematics", context, frames="base", reference="tool")
    T = np.array(next(part for part in leaf_results(inverse) if isinstance(part, Matrix)).entries)
    np.testing.assert_allclose(T @ context.mech.frame(context.q, "tool"), np.eye(4), atol=1e-12)


def test_angles_at_the_pole(puma):
    from core.functions.subjects.kinematics import rpy_from_rotation

    R = Rotation.from_euler("xyz", [0.3, math.pi / 2, 0.1]).as_matrix()
    np.testing.assert_allclose(Rotation.from_euler("xyz", rpy_from_rotation(R)).as_matrix(), R, atol=1e-8)


def test_jacobian(puma):
    context = at(puma, 2)
    world, frame = (
        np.array(next(leaf_results(call("jacobian", context, axes=axes))).entries) for axes in ("world", "frame")
    )
    expected = context.mech.jacobian(context.q, "tool")
    np.testing.assert_allclose(world, expected, atol=1e-13)
    R = context.mech.frame(context.q, "tool")[:3, :3]
    np.testing.assert_allclose(np.kron(np.eye(2), R) @ frame, world, atol=1e-12)
    measured = table(call("jacobian", context, length=0.5))
    scaled = np.concatenate([expected[:3], expected[3:] / 0.5])
    for column, J in enumerate((expected[3:], expected[:3], scaled), 1):  # translation, rotation, both
        facts = {row[0]: row[column] for row in measured.rows}
        assert facts["Rank here"] == len(J)
        assert facts["Yoshikawa's w"] == pytest.approx(math.sqrt(np.linalg.det(J @ J.T)), rel=1e-9)
        assert facts["Condition number"] == pytest.approx(np.linalg.cond(J), rel=1e-9)
    assert "0.5 m" in measured.columns[3].title


def test_jacobian_of_a_loop_is_the_derivative_along_the_closed_motion():
    context = Context.of(load(EXAMPLES / "four_bar.kst"))
    mech, h = context.mech, 1e-5
    matrix = next(leaf_results(call("jacobian", context, frame="coupler_point")))
    (speed,) = matrix.columns
    index = mech.q_names.index(speed)
    ahead, behind = (
        mech.frame(mech.move(context.q, {speed: context.q[index] + step}), "coupler_point") for step in (h, -h)
    )
    rate = (ahead[:3, 3] - behind[:3, 3]) / (2 * h)
    np.testing.assert_allclose(np.array(matrix.entries)[3:, 0], rate, atol=1e-8)
    assert np.linalg.norm(rate) > 0.01


def test_dynamics_fit_together(puma):
    context = at(puma, 3)
    mech, q = context.mech, context.q
    names = mech.v_names
    v, a = np.linspace(-1, 1, 6), np.linspace(2, -1, 6)
    given = {"speeds": dict(zip(names, v, strict=True)), "accelerations": dict(zip(names, a, strict=True))}
    tau = np.array(
        [c.value for c in call("inverse_dynamics", context, passive=False, **given).column("Torque or force")]
    )
    M = np.array(next(leaf_results(call("mass_matrix", context))).entries)
    np.testing.assert_allclose(tau, M @ a + mech.bias(q, v, passive=False), rtol=1e-9, atol=1e-11)
    gravity = [c.value for c in call("gravity", context).column("Torque or force")]
    still = [c.value for c in call("inverse_dynamics", context).column("Torque or force")]
    np.testing.assert_allclose(gravity, still, atol=1e-11)
    facts = {row[0]: row[1].value for row in call("energy", context, speeds=given["speeds"]).rows}
    assert facts["Kinetic energy"] == pytest.approx(0.5 * v @ M @ v, rel=1e-9)
    # potential energy is −m g·c
    mass = sum(call("mass_properties", context).column("Mass"))
    assert facts["Potential energy"] == pytest.approx(mass * 9.81 * facts["Centre of mass z"], rel=1e-9)


def test_mass_properties_are_those_of_the_document(puma):
    found = {row[0]: row[1:] for row in call("mass_properties", puma).rows}
    for body in puma.model.expanded.bodies:
        expected = (
            body.mass,
            *body.center_of_mass,
            *(getattr(body.inertia, k) for k in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")),
        )
        np.testing.assert_allclose(found[body.name], expected, atol=1e-14)


def test_mass_from_density():
    from core.model import Box

    body = Body(name="brick", density=1000.0, shapes=(Box(size=(0.1, 0.2, 0.3)),))
    model = Model(name="m", bodies=(body,), joints=(Joint(name="j", parent="world", child="brick"),))
    (row,) = call("mass_properties", Context.of(model)).rows
    assert row[1] == pytest.approx(6.0)
    assert row[5] == pytest.approx(6.0 / 12 * (0.2**2 + 0.3**2))  # cuboid


def test_dh_table_and_transforms(puma):
    written = call("dh_table", puma)
    assert written.column("θ") == tuple(f"q{i}" for i in range(1, 7))
    values = call("dh_table", puma, numbers="values")
    q = [cell.value for cell in values.column("θ")]
    np.testing.assert_allclose(q, puma.q)
    product = np.eye(4)
    for (_, _, a, alpha, d, theta), part in zip(values.rows, call("link_transforms", puma).parts, strict=True):
        A = np.array(part.entries)  # A = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α)
        (st, ct), (sa, ca) = ((math.sin(x.value), math.cos(x.value)) for x in (theta, alpha))
        expected = [
            [ct, -st * ca, st * sa, a.value * ct],
            [st, ct * ca, -ct * sa, a.value * st],
            [0, sa, ca, d.value],
            [0, 0, 0, 1],
        ]
        np.testing.assert_allclose(A, expected, atol=1e-12)
        product = product @ A
    np.testing.assert_allclose(product, puma.mech.frame(puma.q, "tool"), atol=1e-12)


def test_inverse_kinematics_tells_residual_and_limits(puma):
    X = puma.mech.frame(puma.mech.random(4), "tool")
    roll_pitch_yaw = Rotation.from_matrix(X[:3, :3]).as_euler("xyz")
    result = call("inverse_kinematics", puma, position=X[:3, 3], orientation=roll_pitch_yaw, restarts=40)
    assert isinstance(result, Report)
    message, solutions, poses = result.parts
    assert "reaches the target" in message.text
    assert len(poses.q) == 1
    for row in solutions.rows:
        q = np.array([cell.value for cell in row[1:7]])
        np.testing.assert_allclose(puma.mech.frame(q, "tool"), X, atol=2e-6)
    far = call("inverse_kinematics", puma, position=(5.0, 0.0, 0.0), restarts=1)
    assert far.parts[0].severity == "warning"
    assert "misses it by" in far.parts[0].text


def test_ellipsoids_over_ranges(puma):
    result = call("manipulability", puma, ranges=["joint3=-90 deg:0", "a2=0.3:0.6"], display="animate", scale=True)
    assert isinstance(result, EllipsoidField)
    assert len(result.ellipsoids) == len(result.poses.q) == len(result.measures.rows) == 6
    assert [cell.value for cell in result.measures.column("a2")] == pytest.approx(np.linspace(0.3, 0.6, 6))
    for k in range(6):
        assert 2.0 * max(result.drawable_ellipsoid(k).radii) == pytest.approx(2.0)  # largest axis two units
        J = puma.mech.jacobian(np.array(result.poses.q[k]), "tool", p=result.poses.p[k])[3:]
        assert result.measures.column("Yoshikawa w")[k] == pytest.approx(math.sqrt(np.linalg.det(J @ J.T)), rel=1e-8)
    single = call("manipulability", puma, ranges=["joint3=-90 deg:0"], display="single")
    assert len(single.ellipsoids) == 1
    assert single.poses.q[0][2] == pytest.approx(-math.pi / 2)


def test_planar_arms_get_ellipses():
    context = Context.of(load(EXAMPLES / "two_link.rob"))
    context = Context(context.model, context.mech, np.array([0.3, 1.0]), {})
    result = call("manipulability", context)
    assert result.dimension == 2
    assert result.ellipsoids[0].radii[2] == 0.0
    row = dict(zip([column.title for column in result.measures.columns], result.measures.rows[0], strict=True))
    a1, a2 = (context.values[name] for name in ("a1", "a2"))
    assert row["Area"] == pytest.approx(math.pi * a1 * a2 * math.sin(1.0), rel=1e-10)  # π w, w = l1 l2 |sin q2|
    force = call("manipulability", context, kind="force")
    assert math.isfinite(max(force.drawable_ellipsoid(0).radii))


def test_measures_to_a_file(puma, tmp_path):
    text, sheet = tmp_path / "measures.txt", tmp_path / "measures.csv"
    for _ in range(2):
        call("manipulability", puma, file=str(text))
        call("manipulability", puma, file=str(sheet))
    assert text.read_text(encoding="utf-8").count("Eccentricity") == 2  # appended
    heads, row = sheet.read_text(encoding="utf-8").splitlines()
    assert heads.startswith("Radius 1,Radius 2,Radius 3,Volume")
    assert len(row.split(",")) == len(heads.split(","))


def test_sequences(puma):
    together = call("show_robot", puma, ranges=["joint1=0:1:3", "joint2=0:1:3"])
    assert isinstance(together, PoseSequence)
    assert len(together.q) == 4
    one_by_one = call("show_in_sequence", puma, sequence=["joint1=0:1:3", "joint2=0:1:2"])
    assert len(one_by_one.q) == 6
    with pytest.raises(ModelError, match="equal numbers of divisions"):
        call("show_robot", puma, ranges=["joint1=0:1:3", "joint2=0:1:2"])
    assert len(call("show_robot", puma, ranges=["joint1=0:1:3"], display="single").q) == 1


def test_cancel_stops_between_steps(puma):
    seen = []

    def cancelled():
        return len(seen) >= 3

    context = Context(puma.model, puma.mech, puma.q, {}, progress=lambda *a: seen.append(a), cancelled=cancelled)
    with pytest.raises(Cancelled):
        call("manipulability", context, ranges=["joint1=0:1:100"])
    assert len(seen) == 3


def test_csv_has_full_precision_and_units(puma):
    lines = table(call("forward_kinematics", puma)).to_csv().splitlines()
    assert lines[0].split(",")[:5] == ["Frame", "x [m]", "y [m]", "z [m]", "roll [rad]"]
    x = float(lines[1].split(",")[1])
    assert x == pytest.approx(float(puma.mech.frame(puma.q, "tool")[0, 3]), abs=1e-14)


def test_declarations_are_light():
    heavy = {"numpy", "casadi", "scipy", "PySide6"}
    check = f"import sys; from core import functions; print(sorted({heavy!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_model_alone_is_taken_at_rest_and_the_order_is_told(puma):
    assert call("mass_matrix", puma.model).call == call("mass_matrix", puma).call
    with pytest.raises(ModelError, match="first argument must be the name of a function"):
        call(puma.model, "mass_matrix")
    with pytest.raises(ModelError, match="Its options: frame, position"):
        call("inverse_kinematics", puma, target=(0.5, 0.0, 0.3))
