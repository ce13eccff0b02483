"""C code of machines: it is built, compares itself with the reference, and equals the program's own runs and functions.

The reference is the step carried out by CasADi's interpreter; that equals `simulate` wherever a run does the same.
"""

from __future__ import annotations

import ctypes
import dataclasses
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from benchmarks import problems
from benchmarks.c_rounding import apart, code_samples, run_samples
from core.c_code.companions import OPTIMISED, STRICT
from core.c_code.generate import Generated, UnstableStep, generate_c
from core.functions.context import Context
from core.functions.subjects.c_code import FUNCTIONS
from core.simulation.run.initial_state import start_state
from resources import EXAMPLES
from tests.walks import slow, walk


def example(name: str) -> ks.Model:
    """A shipped machine."""
    return ks.load(str(EXAMPLES / f"{name}.kst"))


COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler")

MACHINES = (
    *("double_pendulum", "four_bar", "bricard", "body_on_springs"),
    *("planetary_stage", "shaker_chord", "squeezer", "pantograph"),
)
"""Trees, closed forms, iteration with redundant rows, quaternions, drivers and time, junctions."""


@needs_compiler
@pytest.mark.parametrize("name", walk(sorted(path.stem for path in EXAMPLES.glob("*.kst")), quick=MACHINES))
def test_code_passes_its_own_test_and_equals_the_programs_run(name: str, tmp_path: Path) -> None:
    """Runge–Kutta's step and the closing of loops: C text, reference and run are equal, unless code smooths friction or
    stops, and says so."""
    try:
        found = generate_c(example(name), tmp_path / "code")
    except UnstableStep as error:
        found = generate_c(example(name), tmp_path / "code", step=0.5 * error.longest)
    assert found.trial.passed, found.trial.words
    if found.difference is None:
        assert name not in MACHINES
        assert found.notes
    else:
        assert found.difference < (1e-10 if name in MACHINES else 1e-9)  # change points magnify rounding


def test_where_motion_is_chaotic_code_and_run_are_no_farther_apart_than_runs_from_neighbouring_bits() -> None:
    """The published squeezer for a second: a start 1e-15 rad away grows by 10 orders, and so does rounding."""
    mech = ks.Mechanism(problems.andrews_squeezer().model)
    time, code = code_samples(mech)
    start = code[0, : mech.nq]
    own = run_samples(mech, time, start)
    beside = run_samples(mech, time, start + 1e-15 * np.eye(mech.nq)[0])
    difference, grown = apart(own, code), apart(own, beside)
    assert grown[-1] > 1e-7
    assert (difference <= np.maximum(grown, 1e-15)).all()
    assert difference[time <= 0.03].max() < 1e-12
    np.testing.assert_array_equal(code_samples(mech, closing=1)[1], code)


@needs_compiler
def test_the_test_fails_where_the_code_does_something_else(tmp_path: Path) -> None:
    found = generate_c(example("double_pendulum"), tmp_path / "code", trial=False)
    path = found.folder / f"{found.name}.c"
    text = path.read_text()
    spoilt = text.replace("sum[i] += 0x1.5555555555555p-2", "sum[i] += 0x1.5555555555556p-2")
    assert spoilt != text
    path.write_text(spoilt)
    assert _tested(found) == 0  # the last bit alone stays within the tolerance
    path.write_text(text.replace("sum[i] += 0x1.5555555555555p-2", "sum[i] += 0x1.5555655555555p-2"))
    assert _tested(found) == 1


def _tested(found: Generated) -> int:
    files = [f"{found.name}.c", f"{found.name}_test.c"]
    subprocess.run([COMPILER or "", *STRICT, OPTIMISED, *files, "-o", "tried", "-lm"], cwd=found.folder, check=True)
    return subprocess.run(["./tried"], cwd=found.folder, check=False, capture_output=True).returncode


@needs_compiler
def test_code_needs_nothing_but_mathematics(tmp_path: Path) -> None:
    found = generate_c(example("four_bar"), tmp_path / "code", functions=("mass_matrix",), trial=False)
    subprocess.run([COMPILER or "", "-O2", "-c", f"{found.name}.c"], cwd=found.folder, check=True)
    listed = subprocess.run(
        ["nm", "-g", f"{found.name}.o"], cwd=found.folder, check=True, capture_output=True, text=True
    ).stdout
    needed = {line.split()[-1] for line in listed.splitlines() if " U " in line}
    assert needed <= {"sin", "cos", "sincos", "sqrt", "atan2", "tanh", "fmin", "fmax", "floor", "_GLOBAL_OFFSET_TABLE_"}
    own = {line.split()[-1] for line in listed.splitlines() if " T " in line}
    assert own == {f"{found.name}_{word}" for word in ("start", "step", "outputs", "mass_matrix")}
    text = (found.folder / f"{found.name}.c").read_text()
    assert not re.search(r"\b(malloc|goto|while|static [a-z]+ [a-z]+;)", text)


def _library(found: Generated) -> ctypes.CDLL:
    command = [COMPILER or "", "-O2", "-shared", "-fPIC", f"{found.name}.c", "-o", "code.so", "-lm"]
    subprocess.run(command, cwd=found.folder, check=True)
    return ctypes.CDLL(str(found.folder / "code.so"))


def _called(function: ctypes._NamedFuncPointer, size: int, *arguments: np.ndarray) -> np.ndarray:
    out = np.empty(size)
    pointers = [np.ascontiguousarray(x, dtype=float) for x in (*arguments, out)]
    function(*(ctypes.c_void_p(x.ctypes.data) for x in pointers))
    return pointers[-1]


@needs_compiler
def test_functions_of_an_arm_equal_the_kernels(tmp_path: Path) -> None:
    model = example("ur5")
    tool = ks.Context.of(model).tool
    wanted = ("inverse_dynamics", "forward_dynamics", "mass_matrix", f"frame:{tool}", f"jacobian:{tool}")
    found = generate_c(model, tmp_path / "code", functions=wanted, parameters="constants", name="arm", trial=False)
    code, mech, rng = _library(found), ks.Mechanism(model), np.random.default_rng(3)
    q, v, a = rng.uniform(-1.0, 1.0, (3, mech.nq))
    assert np.allclose(_called(code.arm_mass_matrix, 36, q).reshape(6, 6), mech.mass_matrix(q), rtol=0, atol=1e-13)
    own = _called(code.arm_inverse_dynamics, 6, q, v, a)
    assert np.allclose(own, mech.compiled.call("inverse_dynamics", q, v, a), rtol=1e-13, atol=1e-12)
    forces = _called(code.arm_forward_dynamics, 6, q, v, own)
    assert np.allclose(forces, a, rtol=0, atol=1e-9)  # the inverse of the function before
    frame = _called(getattr(code, f"arm_frame_{tool}"), 16, q).reshape(4, 4)
    assert np.allclose(frame, mech.frame(q, tool), rtol=0, atol=1e-14)
    jacobian = _called(getattr(code, f"arm_jacobian_{tool}"), 36, q).reshape(6, 6)
    assert np.allclose(jacobian, mech.jacobian(q, tool), rtol=0, atol=1e-14)


@needs_compiler
def test_derivatives_of_an_arm_equal_its_linear_system(tmp_path: Path) -> None:
    model = example("ur5")
    found = generate_c(
        model, tmp_path / "code", functions=("linearise",), parameters="constants", name="arm", trial=False
    )
    code, mech, rng = _library(found), ks.Mechanism(model), np.random.default_rng(4)
    q, v, u = rng.uniform(-1.0, 1.0, (3, mech.nq))
    by_place, by_speed, by_force = _called(code.arm_linearise, 108, q, v, u).reshape(3, 6, 6)
    system = ks.linearise(mech, q, v=v, tau=u, inputs=[f"{n}.tau" for n in mech.v_names], coordinates=mech.v_names)
    assert np.allclose(system.A[6:], np.hstack([by_place, by_speed]), rtol=1e-10, atol=1e-9)
    assert np.allclose(system.B[6:], by_force, rtol=1e-10, atol=1e-10)


def test_a_linkage_has_no_derivatives_of_its_tree_alone(tmp_path: Path) -> None:
    with pytest.raises(ks.ModelError, match="linearise"):
        generate_c(example("four_bar"), tmp_path / "code", functions=("linearise",))


def _ends(made: Generated, mech: ks.Mechanism) -> tuple[np.ndarray, np.ndarray]:
    """Joint forces of the reference, and q and v at its end."""
    last = (made.folder / f"{made.name}_reference.csv").read_text().splitlines()[-1]
    numbers = np.array([float.fromhex(x) for x in last.split(",")])
    return numbers[1 : 1 + mech.nv], numbers[1 + mech.nv :][: mech.nq + mech.nv]


@needs_compiler
@pytest.mark.parametrize("name", ["four_bar", *slow("bricard", "body_on_springs")])
def test_the_implicit_method_is_of_second_order(name: str, tmp_path: Path) -> None:
    """Code and reference agree to rounding; half the step leaves a quarter of the difference to a precise run, or less:
    closed forms, iteration with redundant rows, quaternions."""
    mech, errors = ks.Mechanism(example(name)), []
    for step in (2e-3, 1e-3):
        made = generate_c(example(name), tmp_path / f"{step}", method="ros2", step=step)
        assert made.trial.passed, made.trial.words
        forces, end = _ends(made, mech)
        run = ks.simulate(mech, 1.0, rtol=1e-11, atol=1e-12, output=1.0, torque=forces)
        errors.append(float(np.max(np.abs(end - np.concatenate([run.q[-1], run.v[-1]])))))
    assert errors[0] / errors[1] > 3.6


@needs_compiler
def test_the_implicit_method_bears_stiff_machines(tmp_path: Path) -> None:
    """m ẍ + d ẋ + k x = 0 with d/m = 8000/s at steps of 1 ms: explicit methods leave it, this one does not."""
    m, d, k = 0.5, 4000.0, 200.0
    model = ks.Model(
        name="damped",
        bodies=(ks.Body(name="mass", mass=m),),
        joints=(
            ks.Joint(name="x", kind="prismatic", parent="world", child="mass", axis=(1, 0, 0), stiffness=k, damping=d),
        ),
    )
    with pytest.raises(ks.SimulationError):
        generate_c(model, tmp_path / "rk4", q0=[0.1])
    made = generate_c(model, tmp_path / "ros2", method="ros2", q0=[0.1])
    assert made.trial.passed, made.trial.words
    slow, fast = np.sort(np.roots([m, d, k]))[::-1]
    exact = 0.1 * (fast * np.exp(slow) - slow * np.exp(fast)) / (fast - slow)
    assert _ends(made, ks.Mechanism(model))[1][0] == pytest.approx(exact, rel=1e-8)


@needs_compiler
@pytest.mark.parametrize("method", ["euler", "semi_implicit", "heun"])
def test_other_methods(method: str, tmp_path: Path) -> None:
    found = generate_c(example("four_bar"), tmp_path / "code", method=method)
    assert found.trial.passed, found.trial.words
    assert method == "heun" or (found.difference is not None and found.difference < 1e-12)


@needs_compiler
def test_single_precision(tmp_path: Path) -> None:
    found = generate_c(example("double_pendulum"), tmp_path / "code", precision="float", parameters="constants")
    assert found.trial.passed, found.trial.words
    assert not re.search(r"\bdouble\b", (found.folder / f"{found.name}.c").read_text().split("*/", 1)[1])


def test_outputs_are_formulas_of_signals_and_accelerations(tmp_path: Path) -> None:
    model = example("double_pendulum")
    mech = ks.Mechanism(model)
    joint = mech.v_names[0]
    frame = mech.frame_names[-1]
    wanted = [f"2*{joint}.q", f"{joint}.a", f"{frame}.position.x"]
    found = generate_c(model, tmp_path / "code", outputs=wanted, trial=False)
    text = (found.folder / f"{found.name}.c").read_text()
    assert f"{found.name}_derivative(s, input->u" in text.split(f"void {found.name}_outputs(")[1]
    if COMPILER:
        code = _library(found)

        class Output(ctypes.Structure):
            _fields_ = (("y", ctypes.c_double * 3),)

        state, u, output = (ctypes.c_char * 4096)(), (ctypes.c_double * mech.nv)(), Output()
        getattr(code, f"{found.name}_start")(ctypes.byref(state))
        getattr(code, f"{found.name}_outputs")(ctypes.byref(state), ctypes.byref(u), ctypes.byref(output))
        y = start_state(mech, None, None, mech.parameter_values(None), 0.0, None)
        q, v = y[: mech.nq], y[mech.nq : mech.nq + mech.nv]
        assert output.y[0] == pytest.approx(2.0 * q[0], abs=1e-15)
        assert output.y[2] == pytest.approx(mech.frame(q, frame)[0, 3], abs=1e-14)
        assert output.y[1] == pytest.approx(mech.forward_dynamics(q, v, np.zeros(mech.nv))[0], rel=1e-13)


@pytest.mark.parametrize("name", ["braked_arm", "clutch", "belt_oscillator", "bouncing_pendulum"])
def test_brakes_clutches_and_stops_have_code(name: str, tmp_path: Path) -> None:
    found = generate_c(example(name), tmp_path / "code", trial=COMPILER is not None)
    assert found.notes
    assert found.trial.passed is not False, found.trial.words


def test_friction_and_stops_are_smoothed_and_said(tmp_path: Path) -> None:
    found = generate_c(example("puma560"), tmp_path / "code", trial=False)
    assert found.difference is None
    assert any("does not stick at rest" in note for note in found.notes)
    assert any("Stops of" in note for note in found.notes)
    readme = (found.folder / "README.md").read_text()
    assert all(note in readme for note in found.notes)


REFUSED = {
    "method": ({"method": "rk5"}, "rk4"),
    "function": ({"functions": ("mass_matrx",)}, "mass_matrix"),
    "frame": ({"functions": ("frame:tol",)}, "There is"),
    "output": ({"outputs": ("elbw.q",)}, "The name 'elbw.q' is not defined"),
    "formula": ({"outputs": ("2*(",)}, "outputs, '2*('"),
    "step": ({"step": 0.0}, "positive"),
    "closing": ({"closing": 0}, "at least one"),
    "parameter": ({"values": {"nothing": 1.0}}, "nothing"),
}


@pytest.mark.parametrize(("options", "told"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_made_is_named_and_nothing_is_written(options: dict, told: str, tmp_path: Path) -> None:
    with pytest.raises(ks.KinetostatError, match=re.escape(told)):
        generate_c(example("double_pendulum"), tmp_path / "code", **options)
    assert not list(tmp_path.iterdir())


def test_accelerations_of_a_tree_with_loops_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ks.ModelError, match="loops"):
        generate_c(example("four_bar"), tmp_path / "code", functions=("forward_dynamics",))


def test_files_of_others_are_not_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "Makefile").write_text("all:\n")
    with pytest.raises(ks.errors.FileError, match="did not generate"):
        generate_c(example("double_pendulum"), folder, trial=False)
    assert [path.name for path in folder.iterdir()] == ["Makefile"]
    (folder / "Makefile").unlink()
    generate_c(example("double_pendulum"), folder, trial=False)
    generate_c(example("double_pendulum"), folder, trial=False)  # one's own are


@pytest.mark.parametrize("name", ["double_pendulum_test.c", "README.md"])
def test_a_folder_in_the_place_of_a_file_is_told_and_nothing_is_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "code" / name).mkdir(parents=True)
    with pytest.raises(ks.errors.FileError, match=re.escape(name)):
        generate_c(example("double_pendulum"), tmp_path / "code", name="double_pendulum", trial=False)
    assert [path.name for path in (tmp_path / "code").iterdir()] == [name]
    assert not list((tmp_path / "code" / name).iterdir())
    assert [path.name for path in tmp_path.iterdir()] == ["code"]


def test_whoever_stops_it_is_heard_often_and_nothing_is_written(tmp_path: Path) -> None:
    class Stopped(Exception):
        pass

    for heard in (1, 4, 10, 40):
        left = iter(range(heard))

        def progress(stage: str, left=left) -> None:
            if next(left, None) is None:
                raise Stopped

        with pytest.raises(Stopped):
            generate_c(example("double_pendulum"), tmp_path / "code", trial=False, progress=progress)
        assert not list(tmp_path.iterdir())


def test_a_step_that_is_too_long_is_told_with_one_that_is_not(tmp_path: Path) -> None:
    model = example("flyball_governor")
    with pytest.raises(ks.SimulationError, match="Use steps below") as caught:
        generate_c(model, tmp_path / "code", trial=False)
    longest = float(re.search(r"below (\S+) s", str(caught.value))[1])  # type: ignore[index]
    assert generate_c(model, tmp_path / "code", step=longest, trial=False).difference is not None


def test_names_that_are_none_in_c(tmp_path: Path) -> None:
    model = example("double_pendulum")
    model = dataclasses.replace(model, name="Über-Pendel for C++ */ 1")
    found = generate_c(model, tmp_path / "code", trial=False)
    assert found.name == "uber_pendel_for_c_1"
    assert "*/ 1" not in (found.folder / f"{found.name}.h").read_text()


def test_without_a_compiler_the_code_is_written_and_said_to_be_untried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.c_code.companions.find_compiler", lambda: None)
    found = generate_c(example("double_pendulum"), tmp_path / "code")
    assert found.trial.passed is None
    assert "no C compiler" in (found.folder / "README.md").read_text()


@needs_compiler
def test_a_folder_is_named_from_where_one_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    found = generate_c(example("double_pendulum"), "code", fmi="2.0")
    assert found.trial.passed, found.trial.words
    assert (tmp_path / "code" / "double_pendulum.c").is_file()
    assert [path.name for path in tmp_path.iterdir()] == ["code"]


def test_outputs_that_add_what_measures_different_things_are_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(
        ks.KinetostatError, match=r"outputs, 'tip.position.z \+ phi1.q'.*length .* is combined with angle"
    ):
        generate_c(example("double_pendulum"), tmp_path / "code", outputs=["tip.position.z + phi1.q"], trial=False)
    assert not (tmp_path / "code").exists()
    whole = generate_c(
        example("double_pendulum"), tmp_path / "code", outputs=["2*tip.position.z + 0.1*tip.position.x"], trial=False
    )
    assert (whole.folder / f"{whole.name}.c").exists()


def test_code_that_was_not_tried_tells_of_no_time_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.c_code.companions.find_compiler", lambda: None)
    write = next(each for each in FUNCTIONS if each.id == "write_c_code")
    context = Context.of(example("double_pendulum"))
    options = {each.id: each.coerce(each.default, context) for each in write.options}
    result = write.run(context, **(options | {"folder": str(tmp_path / "code")}))
    said = next(part.text for part in result.parts if hasattr(part, "text"))
    assert "how long a step takes" not in said
