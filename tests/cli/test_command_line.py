"""The command line: exit codes, messages, JSON, pictures; nothing heavy is imported for help."""

import json
import math
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import COMMANDS, cli, command_names
from core.files import load
from core.functions import FUNCTIONS, Context, call
from core.functions.results import to_json
from core.mechanism import Mechanism
from core.simulation import Run
from core.symbolic.notation import set_short_trig
from resources import EXAMPLES, examples
from tests.functions.short_searches import FEW

PUMA = str(EXAMPLES / "puma560.kst")
TWO_LINK = str(EXAMPLES / "two_link.rob")


@pytest.fixture
def run(capsys):
    """Run a command: (exit code, output, error output)."""

    def command(*arguments):
        capsys.readouterr()
        code = cli([str(a) for a in arguments])
        return code, *capsys.readouterr()

    return command


ROUNDING = r"within (\d\.\d·10⁻[⁰¹²³⁴⁵⁶⁷⁸⁹]+|0)"


def same(a, b):
    """Equal data, numbers up to what two ways of computing them (interpreter, machine code) may differ; by how much a
    proof found them to differ may differ, too."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, str) and isinstance(b, str):
        return re.sub(ROUNDING, "within", a) == re.sub(ROUNDING, "within", b)
    return a == pytest.approx(b, rel=1e-9, abs=1e-8) if isinstance(a, float) else a == b


def modules_after(*arguments):
    """The heavy modules that a command in a fresh process has imported."""
    code = (
        "import sys\nfrom app.cli.main import cli\n"
        f"code = cli({list(map(str, arguments))!r})\n"
        "heavy = {'numpy', 'casadi', 'scipy', 'lxml', 'trimesh', 'PySide6', 'vtkmodules'}\n"
        "print('MODULES', code, *sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1].split()[1:]


def test_help_is_light():
    assert modules_after("--version") == ["0"]
    assert modules_after("--help") == ["0", "numpy"]  # declarations of functions stand beside what they compute
    assert modules_after("jacobian", "--help") == ["0", "numpy"]
    assert modules_after("run", "--help") == ["0", "numpy"]  # its methods are listed by their files


def test_work_without_a_window_or_a_scene():
    for command in (["info", PUMA, "--json"], ["check", PUMA], ["jacobian", PUMA]):
        assert not {"PySide6", "vtkmodules"} & set(modules_after(*command))


def test_help_lists_everything(run):
    code, out, _ = run("--help")
    assert code == 0
    for function in FUNCTIONS.values():
        assert function.command in out
    for command in ("check", "info", "render", "convert", "examples"):
        assert command in out


@pytest.mark.parametrize("command", [c for c in command_names() if "_" not in c])
def test_help_of_each(run, command):
    code, out, _ = run(command, "--help")
    assert code == 0
    assert len(out) > 100


@pytest.mark.parametrize("example", examples(), ids=lambda e: e.name)
def test_check_and_info_on_every_example(run, example):
    code, out, _ = run("check", example.path)
    assert code == 0, out
    code, out, _ = run("info", example.path, "--json")
    facts = json.loads(out)
    mech = Mechanism(load(example.path))
    assert (facts["nq"], facts["nv"], len(facts["loops"])) == (mech.nq, mech.nv, len(mech.loops))
    assert [c["name"] for c in facts["coordinates"]] == list(mech.q_names)
    code, out, _ = run("info", example.path)
    assert code == 0
    assert facts["name"] in out


def test_info_mass_and_pose(run):
    _, out, _ = run("info", PUMA, "--json", "--set", "joint1=30deg", "--pose", "q2=0.2", "--set", "a2=0.5")
    facts = json.loads(out)
    assert facts["mass"] == pytest.approx(17.4 + 4.8 + 0.82 + 0.34 + 0.09)
    assert facts["coordinates"][0]["value"] == pytest.approx(np.pi / 6)
    assert facts["coordinates"][1]["value"] == pytest.approx(0.2)
    assert facts["parameters"]["a2"] == 0.5


def test_wrong_usage_is_2(run):
    for arguments in (
        ["nonsense"],
        ["info"],
        ["info", PUMA, "--wrong"],
        ["jacobian", PUMA, "--frame", "elbow"],
        ["jacobian", PUMA, "--axes", "mars"],
        ["manipulability", PUMA, "--ranges", "joint1=1"],
        ["info", PUMA, "--set", "elbow=1"],
        ["info", PUMA, "--set", "joint1"],
        ["info", PUMA, "--set", "joint1=1/0"],
        ["render", PUMA, "-o", "x.jpg"],
        ["render", PUMA, "-o", "x.png", "--size", "huge"],
        ["examples", "nothing-like-it"],
    ):
        code, out, error = run(*arguments)
        assert code == 2, arguments
        assert "Error" in error
        assert "Traceback" not in error + out


def test_errors_are_1_and_one_message(run, tmp_path):
    broken = tmp_path / "broken.kst"
    broken.write_text("kinetostat: 1\nbodies:\n  - name: 7 8 9\n    mass: [")
    binary = tmp_path / "binary.urdf"
    binary.write_bytes(bytes(range(256)) * 20)
    for arguments in (
        ["check", tmp_path / "missing.kst"],
        ["check", broken],
        ["info", binary],
        ["jacobian", broken],
        ["convert", PUMA, tmp_path / "x.unknown"],
        ["dh-table", EXAMPLES / "four_bar.kst"],
    ):
        code, out, error = run(*arguments)
        assert code == 1, arguments
        assert error.startswith("Error: ")
        assert "Traceback" not in error + out
        assert len(error.strip().splitlines()) == 1


def test_check_reports_errors(run, tmp_path):
    wrong = tmp_path / "wrong.kst"
    wrong.write_text("kinetostat: 1\nname: wrong\nbodies:\n  a: {mass: -1}\n")
    code, out, _ = run("check", wrong, "--json")
    found = json.loads(out)
    assert found["errors"] + found["warnings"] > 0
    assert code == (1 if found["errors"] else 0)
    assert run("check", wrong, "--strict")[0] == 1


@pytest.mark.parametrize("function", [f for f in FUNCTIONS.values() if f.id != "picture"], ids=lambda f: f.id)
def test_json_is_the_result(run, function):
    other = {"loop_symbols": "slider_crank", "write_loop_equations": "slider_crank", "plan_motion": "ur5"}
    other |= {"closed_loop_poles": "tracking_arm"}
    file = str(EXAMPLES / f"{other[function.id]}.kst") if function.id in other else PUMA
    few = {name: str(value) for name, value in FEW.get(function.id, {}).items()}
    options = [text for name, value in few.items() for text in (f"--{name.replace('_', '-')}", value)]
    code, out, error = run(function.command, file, "--json", *options)
    said = '"severity": "error"' in out  # such as an operating point that there is not: told, and an error to scripts
    assert (code, error != "") == (int(said), said), error
    set_short_trig(True)  # trig_notation chose the other notation, and shall do so again
    context = Context.of(load(file))
    assert same(json.loads(out), json.loads(json.dumps(to_json(call(function.id, context, **few)))))


def test_options_reach_the_function(run):
    _, out, _ = run(
        "inverse-dynamics", PUMA, "--speeds", "joint1=90 deg", "--speeds", "joint2=1", "--no-passive", "--json"
    )
    context = Context.of(load(PUMA))
    expected = call("inverse_dynamics", context, speeds={"joint1": np.pi / 2, "joint2": 1.0}, passive=False)
    assert same(json.loads(out)["rows"], json.loads(json.dumps(to_json(expected)))["rows"])


def test_torques_get_their_values_and_initial_conditions(run, tmp_path):
    robot = next(example for example in examples() if example.name == "one_link")
    (torques,) = robot.torques
    code, _, error = run("response", robot.path, "--torques", torques)
    assert code == 1
    assert "without a value: k1, k2" in error
    saved = tmp_path / "sine.sim"
    code, out, error = run(
        "response",
        robot.path,
        "--torques",
        torques,
        "--set",
        "k1=100",
        "--values",
        "k2=20",
        "--initial",
        "q1=30 deg",
        "--speeds",
        "q1=3",
        "--end",
        "1",
        "--file",
        saved,
        "--increment",
        "0.01234",
    )
    assert code == 0, error
    assert "Response from 0 to 1 s" in out
    lines = saved.read_text().splitlines()
    assert lines[0] == '" t q1'
    for line in lines[1:]:
        t, q = map(float, line.split())
        assert q == pytest.approx(3 * math.sin(t) + math.radians(30) * (1 + 10 * t) * math.exp(-10 * t), abs=1e-7)


def test_values_given_are_no_longer_called_assumed(run):
    robot = next(example for example in examples() if example.name == "two_link")
    _, out, _ = run("response", robot.path, "--end", "0.1", "--set", "a1=3", "--values", "m1=2")
    (said,) = [line for line in out.splitlines() if "assumed" in line]
    assert said == "The file gives no values for these parameters; assumed: a2 = 1, g = 9.81, I1 = 1, m2 = 1, I2 = 1."


def test_ellipsoid_is_another_name_of_manipulability(run):
    both = [run(name, PUMA, "--json") for name in ("ellipsoid", "manipulability")]
    assert both[0][0] == 0
    assert same(*(json.loads(out) for _, out, _ in both))


def test_output_files(run, tmp_path):
    for suffix, word in (
        (".json", "Jacobian"),
        (".tex", "bmatrix"),
        (".py", "np.array"),
        (".csv", "Rank"),
        (".txt", "ωx"),
    ):
        path = tmp_path / f"out{suffix}"
        code, _, error = run("jacobian", PUMA, "-o", path)
        assert code == 0, error
        assert word in path.read_text(encoding="utf-8")
    assert run("jacobian", PUMA, "-o", tmp_path / "out.xyz")[0] == 2
    for suffix, word in ((".c", "const double x1 = "), (".wl", "Cos[q2]"), (".py", "array([")):
        path = tmp_path / f"M{suffix}"
        code, _, error = run("derive", TWO_LINK, "-o", path)
        assert code == 0, error
        assert word in path.read_text(encoding="utf-8")
    assert run("jacobian", PUMA, "-o", tmp_path / "J.c")[0] == 2  # numbers


def test_convert(run, tmp_path):
    target = tmp_path / "copy.kst"
    assert run("convert", EXAMPLES / "two_link.rob", target)[0] == 0
    assert load(target).chains == load(EXAMPLES / "two_link.rob").chains
    code, _, error = run("convert", EXAMPLES / "two_link.rob", target)
    assert code == 1
    assert "--force" in error
    assert run("convert", EXAMPLES / "two_link.rob", target, "--force")[0] == 0


def test_examples_are_listed_and_copied(run, tmp_path):
    _, out, _ = run("examples")
    for example in examples():
        assert example.name in out
        assert run("examples", example.name, "-o", tmp_path)[0] == 0
    for example in examples():
        copies = list(tmp_path.rglob(example.path.name))
        assert len(copies) == 1
        assert run("check", copies[0])[0] == 0
    assert (tmp_path / "traces" / "puma560.csv").is_file()
    assert run("examples", "puma560", "-o", tmp_path)[0] == 1  # is there already


def test_pictures(run, tmp_path):
    from PySide6.QtGui import QImage

    plain, posed, swept = (tmp_path / f"{name}.png" for name in ("plain", "posed", "swept"))
    code, _, error = run("render", PUMA, "-o", plain, "--size", "320x240")
    assert code == 0, error
    assert run("picture", PUMA, "--file", posed, "--width", 320, "--height", 240, "--pose", "joint1=90 deg")[0] == 0
    assert run("manipulability", PUMA, "--ranges", "joint1=0:90 deg:3", "-o", swept)[0] == 0
    images = [QImage(str(path)) for path in (plain, posed, swept)]
    assert [(image.width(), image.height()) for image in images] == [(320, 240), (320, 240), (1200, 800)]
    assert images[0] != images[1]
    code, _, error = run("render", PUMA, "-o", tmp_path / "no" / "such" / "folder.png")
    assert code == 1
    assert run("jacobian", PUMA, "-o", tmp_path / "nothing.png")[0] == 1


@pytest.mark.parametrize(("option", "given"), [("--pose", "joint1=30 mm"), ("--set", "a2=30 deg"), ("--set", "q1=1 s")])
def test_a_unit_of_another_dimension_is_wrong_usage(run, option, given):
    code, out, told = run("jacobian", PUMA, option, given)
    assert (code, out) == (2, "")
    assert "is expected here. Use" in told


def test_info_of_a_mass_that_is_not_finite_is_json(run, tmp_path):
    file = tmp_path / "heavy.kst"
    file.write_text('kinetostat: 1\nbodies:\n  a:\n    mass: "floor(1e308)*10"\n')
    code, out, _ = run("info", file, "--json")
    assert code == 0
    facts = json.loads(out, parse_constant=pytest.fail)
    assert (facts["mass"], facts["body_masses"], facts["center_of_mass"]) == (None, {"a": None}, None)
    assert "not finite" in run("info", file)[1]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
@pytest.mark.parametrize("suffix", ["h5", "csv", "sim"])
def test_ctrl_c_keeps_what_a_run_did_until_then(tmp_path, suffix):
    """A terminal's Ctrl+C, in a program of its own: the file holds the motion until then, and that is said."""
    output = tmp_path / f"run.{suffix}"
    import pty  # POSIX only

    ours, terminal = pty.openpty()
    program = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "app",
            "run",
            str(EXAMPLES / "damped_pendulum.kst"),
            "--duration",
            "1e5",
            "--method",
            "rk4",
            "--sample",
            "0.1",
            "-o",
            str(output),
        ],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PYTHONUNBUFFERED": ""},  # as usual: who prints must not be interrupted by who prints
    )
    os.close(terminal)
    seen = b""
    try:
        while b"%" not in seen:
            seen += os.read(ours, 1024)
        program.send_signal(signal.SIGINT)
        while b"Stopping" not in seen:
            seen += os.read(ours, 1024)
        said, _ = program.communicate(timeout=60)
    finally:
        program.kill()
        os.close(ours)
    assert program.returncode == 130
    assert "Stopped at" in said
    assert f"Wrote {output}" in said
    if suffix == "h5":
        run = Run.load(output)
        assert run.statistics.ended == "cancelled"
        assert len(run) > 1
    else:
        assert len(output.read_text().splitlines()) > 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such limits")
@pytest.mark.parametrize("limit", [2_000, 120_000])
def test_a_full_disk_is_one_message_and_what_was_written_can_be_read(tmp_path, limit):
    """Files may not become longer than the limit, as on a full disk; HDF5 by itself would crash the program."""
    import resource  # POSIX only

    output = tmp_path / "run.h5"
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "app",
            "run",
            str(EXAMPLES / "damped_pendulum.kst"),
            "--duration",
            "1000",
            "-o",
            str(output),
        ],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=120,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )
    assert done.returncode == 1, done.stderr
    assert "report" not in done.stderr
    if limit < 10_000:
        assert "cannot be written: File too large" in done.stderr
        assert not output.exists()
    else:
        assert "cannot be written any further: File too large" in done.stderr
        assert len(Run.load(output)) > 10


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--channels", "pin.q,nonsense"], "nonsense"),
        (["--channels", "tip.position.w"], "no component 'w'"),
        (["-o", "run.xyz"], "does not name a file format of runs"),
        (["-o", "/no/such/folder/run.csv"], "folder does not exist"),
    ],
)
def test_what_cannot_be_written_is_told_before_a_long_run(run, more, words):
    code, _, complained = run("run", EXAMPLES / "damped_pendulum.kst", "--duration", "1e9", *more)
    assert code == 1
    assert words in complained


def test_where_a_run_that_fails_is_kept_is_said(run, tmp_path):
    for name in ("run.h5", "run.csv"):
        code, _, complained = run(
            "run", EXAMPLES / "damped_pendulum.kst", "--torque", "pin=sqrt(0.2-t)", "-o", tmp_path / name
        )
        assert code == 1
        assert f"The motion up to then is in {tmp_path / name}" in complained
        assert (tmp_path / name).stat().st_size > 500


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["jacobian", PUMA, "--axes", "world", "--axes", "frame"], "--axes is given twice"),
        (["jacobian", PUMA, "--set", "a2=1", "--set", "a2=2"], "--set: 'a2' is given twice: 1 and 2"),
        (["run", PUMA, "--duration", "1", "--duration", "2"], "--duration is given twice"),
        (["jacobian", PUMA, "--pose", "joint1=1", "--pose", "joint1=2"], "--pose: 'joint1' is given twice"),
    ],
)
def test_an_option_given_twice_adds_up_or_is_refused(run, words, said):
    code, _, error = run(*words)
    assert code == 2
    assert said in error


def test_a_shipped_trace_needs_no_names_of_columns(run):
    code, out, _ = run("identify", PUMA, "traces/puma560.csv")
    assert code == 0
    assert "joint3.q = angle_3" in out
    assert out.startswith("52 base parameters")


@pytest.mark.parametrize("name", [*COMMANDS, "mass-properties"])
def test_arguments_of_a_xacro_are_refused_by_every_command(run, name):
    arguments = {"examples": ("length:=2",)}.get(name, ("four_bar", "length:=2"))
    code, _, error = run(name, *arguments)
    assert code == 2
    assert "arguments of a Xacro (length:=2)" in error
    assert "save the model as .kst" in " ".join(error.split())
