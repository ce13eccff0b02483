"""Operating points of the document by name: scripts, functions of the catalogue, the command line."""

import numpy as np
import pytest

import kinetostat as ks
from app.cli.main import cli
from core.model.edits import edits
from tests.control.machines import cart_pole

G, PUSHED = 9.81, 2.5
TILT = np.arctan2(PUSHED, G)
"""The pole of a cart that accelerates leans so: tan(th) = a/g."""
ROWS = (
    ks.TrimRow(quantity="x.a", value="push"),
    ks.TrimRow(quantity="x.q", value=0),
    ks.TrimRow(quantity="x.tau", role="free"),
)
MODEL = edits.add(
    cart_pole(1.0, 0.3, 0.4, 0.01, G),
    ks.Parameter(name="push", value=PUSHED, dimension="acceleration"),
    ks.Trim(name="pushed", rows=ROWS),
)


@pytest.fixture(scope="module")
def mech():
    return ks.Mechanism(MODEL)


def test_the_rows_of_the_document_are_asked(mech):
    found = ks.OperatingPoint(mech, "pushed").solve()
    assert found.q == pytest.approx([0.0, TILT], abs=1e-10)
    assert found.inputs == {"x.tau": pytest.approx(1.3 * PUSHED)}
    other = ks.OperatingPoint(mech, [0.0, 0.1], name="pushed", p={"push": 1.0}).solve()
    assert other.q[1] == pytest.approx(np.arctan2(1.0, G), abs=1e-10)


def test_linear_systems_and_runs_begin_there(mech):
    system = ks.linearise(mech, "pushed", inputs=["x.tau"], outputs=["x.q"])
    assert system.x0[:2] == pytest.approx([0.0, TILT], abs=1e-9)
    run = ks.OperatingPoint(mech, "pushed").solve().run(0.2)
    assert run["th"] == pytest.approx(TILT, abs=1e-6)
    assert run["x"][-1] == pytest.approx(0.5 * PUSHED * 0.2**2, abs=1e-7)


def test_inputs_beside_joint_forces_act_in_the_linear_system_and_the_run():
    """A weight on a spring with an actuator that lifts it: without its force nothing would rest there."""
    model = ks.Model(
        bodies=(ks.Body(name="weight", mass=2.0),),
        joints=(ks.Joint(name="z", kind="prismatic", parent="world", child="weight", axis=(0, 0, 1)),),
        forces=(ks.Force(name="lift", kind="joint", joint="z", stiffness=100.0),),
    )
    rows = (ks.TrimRow(quantity="z.q", value=0.3), ks.TrimRow(quantity="lift.input", role="free"))
    model = edits.add(model, ks.Trim(name="up", rows=rows))
    found = ks.OperatingPoint(model, "up").solve()
    assert found.inputs["lift.input"] == pytest.approx(-(2.0 * G + 30.0), rel=1e-6)
    for at in ("up", found):
        system = ks.linearise(model, at, inputs=["lift.input"])
        assert system.at_rest
        assert system.poles.imag.max() == pytest.approx(np.sqrt(100.0 / 2.0))
    assert found.run(0.2)["z.q"] == pytest.approx(0.3, abs=1e-9)


def test_names_that_there_are_not_are_told(mech):
    with pytest.raises(ks.ModelError, match="Did you mean pushed"):
        ks.OperatingPoint(mech, "pusht")
    with pytest.raises(ks.ModelError, match="has none"):
        ks.OperatingPoint(MODEL.machine, "pushed")
    gone = edits.rename(edits.remove(MODEL, "joints", "x"), "joints", "th", "theta")
    with pytest.raises(ks.ModelError, match=r"operating point 'pushed', row 'x.a': There is no quantity 'x.a'"):
        ks.OperatingPoint(gone, "pushed")


def test_a_point_that_cannot_be_is_no_place_to_linearise(mech):
    tilted = ks.Trim(name="tilted", rows=(ks.TrimRow(quantity="th.q", value="20 deg"),))
    with pytest.raises(ks.ModelError, match="nothing balances x.q and th.q"):
        ks.linearise(edits.add(MODEL, tilted), "tilted")


def test_functions_and_commands_take_names(tmp_path, capsys):
    context = ks.Context.of(MODEL)
    words = ks.call("trim", context, point="pushed").to_text()
    assert f"{TILT:.4f}"[:5] in words
    with pytest.raises(ks.ModelError, match="no operating point"):
        ks.call("trim", context, point="nothing")
    file = tmp_path / "cart.kst"
    ks.save(MODEL, file)
    assert cli(["trim", str(file), "--point", "pushed", "--json"]) == 0
    assert "pushed" not in capsys.readouterr().err
    assert cli(["linear-system", str(file), "--point", "pushed", "--inputs", "x.tau"]) == 0
    assert "0.249" in capsys.readouterr().out
    assert cli(["run", str(file), "--point", "pushed", "--duration", "0.1"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert float(next(line for line in told if line.split()[0] == "th.q").split()[1]) == pytest.approx(TILT, abs=1e-6)
    assert cli(["run", str(file), "--point", "pushed", "--v0", "x=1"]) == 2
