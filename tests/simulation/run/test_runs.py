"""Runs: channels, files, forces, endings."""

import dataclasses
import gc
import json
import os
import signal
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from core.errors import ExpressionError, FileError, ModelError, SimulationError
from core.files import dumps, hdf5_file, sealed_file
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Parameter
from core.simulation import METHODS, Run, simulate
from resources import examples
from tests.simulation.published import published_machines as machines
from tests.walks import walk

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def swing():
    p, _, _ = machines.read("msl_DoublePendulum")
    return simulate(
        machines.msl_double_pendulum(p), 1.0, v0={"phi1": 1.0}, output=1e-3, method="rk853", rtol=1e-11, atol=1e-12
    )


def derivative(values, t):
    """Fourth-order differences inside, of samples at equal times."""
    h = t[1] - t[0]
    return (values[:-4] - 8 * values[1:-3] + 8 * values[3:-1] - values[4:]) / (12 * h)


RATES = (
    ("phi1.v", "phi1.q"),
    ("phi2.a", "phi2.v"),
    ("rod2.velocity", "rod2.position"),
    ("rod2.acceleration", "rod2.velocity"),
    ("rod2.alpha", "rod2.omega"),
)


@pytest.mark.parametrize(("rate", "value"), RATES)
def test_channels_are_rates_of_one_another(swing, rate, value):
    expected = derivative(swing[value], swing.time)
    np.testing.assert_allclose(swing[rate][2:-2], expected, atol=1e-6 * max(1.0, np.max(np.abs(expected))))


def test_power_balance(swing):
    """dE/dt = −d v² of the only damper."""
    power = derivative(swing["energy.total"], swing.time)
    np.testing.assert_allclose(power, swing["-0.1*phi1.v^2"][2:-2], atol=1e-6)


def test_unknown_channel_offers_near_ones(swing):
    with pytest.raises(ModelError, match=r"phi1\.q"):
        swing["phi1.qq"]


def test_formulas_take_components(swing):
    speed = swing["sqrt(rod2.velocity.x^2 + rod2.velocity.y^2 + rod2.velocity.z^2)"]
    np.testing.assert_allclose(speed, np.linalg.norm(swing["rod2.velocity"], axis=1), atol=1e-12)
    np.testing.assert_array_equal(swing["phi2.reaction.fz"], swing["phi2.reaction"][:, 5])


def test_vectors_have_magnitudes(swing):
    wrench = swing["phi2.reaction"]
    np.testing.assert_allclose(swing["phi2.reaction.torque"], np.linalg.norm(wrench[:, :3], axis=1), rtol=1e-15)
    np.testing.assert_allclose(swing["2*phi2.reaction.force"], 2 * np.linalg.norm(wrench[:, 3:], axis=1), rtol=1e-15)
    speed = swing["sqrt(rod2.velocity.x^2 + rod2.velocity.y^2 + rod2.velocity.z^2)"]
    np.testing.assert_allclose(swing["rod2.velocity.magnitude"], speed, atol=1e-12)
    with pytest.raises(ModelError):
        swing["rod2.velocity.force"]
    with pytest.raises(ModelError):
        swing["phi1.q.magnitude"]


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("rod2.position.w", r"no component 'w'.*x, y, z"),
        ("2*rod2.position", r"several components.*rod2\.position\.x"),
        ("2*(phi1.q", r"'\)' was expected"),
        ("phi1 q", r"phi1\.q"),
        ("2*T", r"Did you mean t\?"),
        ("Phi1.Q", r"Did you mean phi1\.q\?"),
    ],
)
def test_what_is_wrong_with_a_formula_is_said(swing, wrong, words):
    with pytest.raises((ModelError, ExpressionError), match=words):
        swing[wrong]


KINEMATIC = "three_link"
"""The arm of the manual's figures has no masses."""


def test_an_arm_without_masses_says_so():
    from core.files import load

    with pytest.raises(SimulationError, match=r"joint1.*moves no mass"):
        simulate(load(next(e.path for e in examples() if e.name == KINEMATIC)), 0.2)


@pytest.mark.parametrize("example", walk((e for e in examples() if e.name != KINEMATIC), name=lambda e: e.name))
def test_every_example_moves_and_every_channel_is_finite(example):
    from core.files import load

    run = simulate(load(example.path), 0.2, output=0.05)
    assert run.complete
    assert len(np.unique(run.time)) >= 5  # more where modes change
    for channel in run.channels:
        values = run[channel]
        assert values.dtype.kind == "U" or np.isfinite(values).all(), channel
        assert len(values) == len(run)
    assert np.max(run["constraint.residual"]) < 1e-9


def test_pieces_change_nothing(monkeypatch):
    from core.simulation import simulator

    model = machines.point_pendulum()
    whole = simulate(model, 2.0, q0=[1.0])
    monkeypatch.setattr(simulator, "FIRST_PIECE", 3)
    monkeypatch.setattr(simulator, "STEPS", 2)
    np.testing.assert_array_equal(simulate(model, 2.0, q0=[1.0]).q, whole.q)


def test_torque_formula_equals_a_spring_and_damper():
    free = machines.point_pendulum()
    spring = free.joints[0].__class__(name="theta", parent="world", child="bob", stiffness=20.0, damping=0.3)
    sprung = Model(
        name="sprung",
        world=free.world,
        bodies=free.bodies,
        joints=(spring,),
    )
    a = simulate(sprung, 2.0, q0=[1.0], rtol=1e-10, atol=1e-11)
    b = simulate(free, 2.0, q0=[1.0], rtol=1e-10, atol=1e-11, torque={"theta": "-20*theta - 0.3*theta.v"})
    np.testing.assert_allclose(a.q, b.q, atol=1e-8)
    np.testing.assert_allclose(b["theta.tau"], -20 * b["theta.q"] - 0.3 * b["theta.v"], atol=1e-12)


def test_torque_formula_of_time_and_parameters():
    wheel = Body(name="wheel", mass=1.0, inertia=Inertia(ixx=1.0, iyy=1.0, izz=2.0))
    model = Model(
        name="w",
        bodies=(wheel,),
        joints=(Joint(name="axle", parent="world", child="wheel"),),
        parameters=(Parameter(name="k", value=1.0),),
    )
    run = simulate(model, 3.0, torque={"axle": "k*cos(2*t)"}, parameters={"k": 8.0}, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run["axle.v"], 2.0 * np.sin(2 * run.time), atol=1e-8)
    np.testing.assert_allclose(run["axle.q"], 1.0 - np.cos(2 * run.time), atol=1e-8)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "magic"}, ModelError, "magic"),
        ({"duration": -1.0}, ModelError, "duration"),
        ({"rtol": 0.0}, ModelError, "rtol"),
        ({"q0": [1.0, 2.0]}, ModelError, "q0"),
        ({"v0": {"elbow": 1.0}}, ModelError, "elbow"),
        ({"v0": [np.nan]}, SimulationError, "theta"),
        ({"torque": {"theta": "2*nothing"}}, ExpressionError, "nothing"),
        ({"torque": ["much"]}, ModelError, "torque"),
        ({"q0": "left"}, ModelError, "q0"),
        ({"start": "now"}, ModelError, "start"),
        ({"file": "/nowhere/run.h5"}, FileError, "folder"),
        ({"file": "run.txt"}, FileError, "HDF5"),
        ({"torque": {"knee": 1.0}}, ModelError, "knee"),
        ({"torque": lambda t: [0.0]}, ModelError, "function"),
        ({"max_steps": 3}, SimulationError, "limit of 3 steps"),
    ],
)
def test_wrong_wishes_are_named(options, error, words):
    with pytest.raises(error, match=words):
        simulate(machines.point_pendulum(), **{"duration": 1.0, "q0": [1.0], **options})


@pytest.mark.parametrize("method", METHODS)
def test_a_force_without_value_ends_the_run_and_keeps_the_past(method):
    with pytest.raises(SimulationError, match="theta") as caught:
        simulate(machines.point_pendulum(), 2.0, method=method, q0=[1.0], torque={"theta": "sqrt(1 - t)"})
    error = caught.value
    assert error.time == pytest.approx(1.0, abs=0.02)
    assert 0.9 < error.run.time[-1] <= 1.01
    assert np.isfinite(error.run.q).all()
    assert not error.run.complete


def test_a_pole_collapses_the_step():
    with pytest.raises(SimulationError, match=r"(too small|no finite|limit)") as caught:
        simulate(machines.point_pendulum(), 2.0, q0=[1.0], torque={"theta": "1/(1 - t)^2"}, max_steps=100_000)
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)


def test_massless_joint_is_named():
    ghost = Body(name="ghost")
    model = Model(name="m", bodies=(ghost,), joints=(Joint(name="slack", parent="world", child="ghost"),))
    with pytest.raises(SimulationError, match="slack"):
        simulate(model, 1.0)


def test_cancel_keeps_what_there_is():
    done = []
    run = simulate(machines.point_pendulum(), 100.0, q0=[1.0], progress=done.append, cancelled=lambda: len(done) >= 2)
    assert not run.complete
    assert done == sorted(done)
    assert 0 < len(run) < 1001


def test_ctrl_c_keeps_what_there_is(swing, tmp_path):
    def stop(_part):
        raise KeyboardInterrupt

    file = str(tmp_path / "run.h5")
    with pytest.raises(KeyboardInterrupt) as stopped:
        simulate(swing.model, duration=1e6, progress=stop, file=file)
    kept = stopped.value.run
    assert 1 <= len(kept) < 1e6
    assert not kept.complete
    np.testing.assert_array_equal(Run.load(file).q, kept.q)


def test_hdf5_gives_everything_back(swing, tmp_path):
    swing.save(tmp_path / "run.h5", channels=["rod2.position"])
    again = Run.load(tmp_path / "run.h5")
    for name in ("time", "q", "v", "a", "tau"):
        np.testing.assert_array_equal(getattr(again, name), getattr(swing, name))
    assert again.statistics == swing.statistics
    assert again.settings == swing.settings
    np.testing.assert_allclose(again["rod2.position"], swing["rod2.position"], atol=1e-12)


def test_csv_and_simnon(swing, tmp_path):
    swing.save(tmp_path / "run.csv", ["phi1.q", "rod2.position"])
    head, *rows = (tmp_path / "run.csv").read_text().splitlines()
    assert head == "time,phi1.q,rod2.position.x,rod2.position.y,rod2.position.z"
    table = np.array([row.split(",") for row in rows], dtype=float)
    np.testing.assert_array_equal(table[:, 1], swing["phi1.q"])
    np.testing.assert_array_equal(table[:, 2:], swing["rod2.position"])
    swing.save(tmp_path / "run.sim")
    head, *rows = (tmp_path / "run.sim").read_text().splitlines()
    assert head == '" t phi1 phi2'
    np.testing.assert_array_equal(np.loadtxt(rows), np.column_stack([swing.time, swing.q]))


@pytest.mark.parametrize(
    ("name", "content"), [("none.h5", None), ("torn.h5", b"\x89HDF\r\n\x1a\nrubbish"), ("x.txt", b"")]
)
def test_bad_run_files_are_messages(tmp_path, name, content):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(FileError, match=name):
        Run.load(tmp_path / name)


def test_a_killed_program_leaves_a_readable_run(tmp_path):
    file = tmp_path / "run.h5"
    text = (
        "from pathlib import Path; from tests.simulation.published import published_machines as m;"
        f"from core.simulation import simulate; file = {str(file)!r};"
        "simulate(m.point_pendulum(), 1e5, method='rk4', step=1e-3, output=1e-2, q0=[1.0], file=file,"
        " watch=lambda piece: Path(file).stat().st_size > 300_000 and print('grown', flush=True))"
    )
    program = subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
    )
    try:
        assert program.stdout.readline() == "grown\n"
    finally:
        program.send_signal(signal.SIGKILL)
        program.wait(30)
    run = Run.load(file)
    assert not run.complete
    assert len(run) > 100
    np.testing.assert_allclose(np.diff(run.time), 1e-2, atol=1e-9)
    whole = simulate(machines.point_pendulum(), float(run.time[100]), method="rk4", step=1e-3, output=1e-2, q0=[1.0])
    np.testing.assert_allclose(run.q[:101], whole.q, atol=1e-9)
    assert run.model == Mechanism(run.model).model


@pytest.mark.parametrize("share", [0.004, 0.02, 0.3, 0.7, 0.99])
def test_a_file_that_is_cut_off_is_told_at_once(tmp_path, swing, share):
    """HDF5's own mode for unfinished files would try to read it for years, with the window standing still."""
    swing.save(tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(FileError, match=r"cut\.h5.*copy it again"):
        Run.load(tmp_path / "cut.h5")


def test_a_table_is_no_run_and_it_is_said_what_it_is_for(tmp_path, swing):
    swing.save(tmp_path / "run.csv")
    with pytest.raises(FileError, match="recorded signals"):
        Run.load(tmp_path / "run.csv")


def test_the_checksum_of_hdf5s_metadata(tmp_path, swing):
    """The author's published value of lookup3, and what HDF5 itself writes."""
    assert hdf5_file.checksum(b"Four score and seven years ago") == 0x17770551
    swing.save(tmp_path / "run.h5")
    head = (tmp_path / "run.h5").read_bytes()[: hdf5_file.LENGTH]
    if head[8] == hdf5_file.VERSION:
        content, _ = sealed_file.LENGTH.unpack_from((tmp_path / "run.h5").read_bytes()[-sealed_file.TAIL :])
        assert hdf5_file.closed_superblock(head, content) == head


def test_command_line(tmp_path):
    from click.testing import CliRunner

    from app.cli.run import command
    from core.files import save

    save(machines.point_pendulum(), tmp_path / "pendulum.kst")
    output = tmp_path / "run.h5"
    arguments = [
        str(tmp_path / "pendulum.kst"),
        "--duration",
        "2",
        "-o",
        str(output),
        "--set",
        "theta=1",
        "--method",
        "rk853",
        "--rtol",
        "1e-10",
        "--channels",
        "bob.position",
    ]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    assert result.exception is None, result.output
    run = Run.load(output)
    assert run.settings.method == "rk853"
    assert run.q[0, 0] == 1.0
    assert run.time[-1] == 2.0
    import h5py

    with h5py.File(output) as file:
        assert file["channels/bob.position"].shape == (len(run), 3)


@pytest.mark.parametrize("method", ["rk54", "rk4"])
def test_a_model_without_freedom_stands_still(method):
    run = simulate(Model(name="empty"), 1.0, method=method)
    assert run.complete
    assert run.q.shape == (1001, 0)


@pytest.mark.parametrize("share", [0.3, 0.99])
def test_a_damaged_file_is_closed_when_it_was_refused(tmp_path, swing, share):
    swing.save(tmp_path / "run.h5")
    whole = (tmp_path / "run.h5").read_bytes()
    (tmp_path / "cut.h5").write_bytes(whole[: int(share * len(whole))])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ResourceWarning)
        with pytest.raises(FileError):
            Run.load(tmp_path / "cut.h5")
        gc.collect()
    assert not [warning for warning in caught if "cut.h5" in str(warning.message)]


@pytest.mark.parametrize("damage", ["parameters", "q", "time", "words"])
def test_a_run_that_does_not_fit_its_machine_is_damaged(tmp_path, damage):
    import h5py

    run = simulate(machines.point_pendulum(), 0.02, method="rk4", step=0.01, q0=[1.0])
    path = tmp_path / "run.h5"
    run.save(path)
    with h5py.File(path, "r+") as file:
        if damage == "parameters":
            settings = json.loads(file.attrs["settings"])
            file.attrs["settings"] = json.dumps({**settings, "parameters": {}})
            model = dataclasses.replace(run.model, parameters=(Parameter(name="r", value=1.0),))
            del file["model"]
            file["model"] = dumps(model)
        elif damage == "words":
            del file["v"]
            file["v"] = ["one", "two", "three"]
        else:
            del file[damage]
            file[damage] = np.zeros((3, 5))
    with pytest.raises(FileError, match=r"run\.h5.*The file is damaged"):
        Run.load(path)
