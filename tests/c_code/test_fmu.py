"""Functional Mock-up Units, read and run by another program (FMPy): valid, and equal to the C code's reference."""

from __future__ import annotations

import dataclasses
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest

import kinetostat as ks
from core.c_code.generate import Generated, generate_c
from resources import EXAMPLES
from tests.simulation.run.test_contact import machine as contact_machine

fmpy = pytest.importorskip("fmpy")
validation = pytest.importorskip("fmpy.validation")

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


def unit(name: str, folder: Path, **options: object) -> tuple[ks.Mechanism, Generated, str]:
    """A shipped machine as a unit."""
    model = ks.load(str(EXAMPLES / f"{name}.kst"))
    found = generate_c(model, folder / "code", fmi="2.0", trial=False, **options)  # type: ignore[arg-type]
    return ks.Mechanism(model), found, str(found.folder / f"{found.name}.fmu")


@pytest.mark.parametrize("name", ["four_bar", "planetary_stage"])
def test_a_unit_is_valid_and_moves_as_the_reference(name: str, tmp_path: Path) -> None:
    mech, found, file = unit(name, tmp_path)
    assert not validation.validate_fmu(file)
    lines = (found.folder / f"{found.name}_reference.csv").read_text().splitlines()[1:]
    reference = np.array([[float.fromhex(x) for x in line.split(",")] for line in lines])
    start = {f"{speed}.tau": u for speed, u in zip(mech.v_names, reference[0, 1:], strict=False)}
    names = [*mech.q_names, *(f"{speed}.v" for speed in mech.v_names)]
    rows = fmpy.simulate_fmu(
        file, stop_time=1.0, step_size=1e-3, output_interval=1e-3, start_values=start, output=names
    )
    got = np.array([list(row)[1:] for row in rows])[reference[:, 0].astype(int)]
    first = 1 + mech.nv
    assert np.array_equal(got, reference[:, first : first + len(names)])


def test_outputs_and_parameters_are_variables(tmp_path: Path) -> None:
    mech, _, file = unit("double_pendulum", tmp_path, outputs=("2*sin(t)",))
    by_name = {each.name: each for each in fmpy.read_model_description(file).modelVariables}
    assert by_name["2*sin(t)"].causality == "output"
    assert {name for name, each in by_name.items() if each.variability == "tunable"} == set(mech.p_names)
    rows = fmpy.simulate_fmu(file, stop_time=0.5, output_interval=0.1, output=["2*sin(t)"])
    assert np.allclose([row[1] for row in rows], [2.0 * np.sin(row[0]) for row in rows], rtol=0, atol=1e-12)


def test_variables_have_units_descriptions_and_names_of_their_own(tmp_path: Path) -> None:
    """FMPy reads the base units: N·m is kg·m²/s², and an angle is in rad."""
    outputs = ("phi1.q", "phi1", "phi2.v", "2*phi1.v", "t")
    _, _, file = unit("double_pendulum", tmp_path, outputs=outputs)
    description = fmpy.read_model_description(file)
    names = [each.name for each in description.modelVariables]
    assert len(set(names)) == len(names)
    by_name = {each.name: each for each in description.modelVariables}
    assert set(outputs[:3]) & set(names) == {"phi1", "phi2.v"}
    assert all(each.description for each in description.modelVariables)
    units = {name: by_name[name].unit for name in ("phi1", "phi1.v", "phi1.tau", "2*phi1.v", "t")}
    assert units == {"phi1": "rad", "phi1.v": "rad/s", "phi1.tau": "N.m", "2*phi1.v": "rad/s", "t": "s"}
    base = {each.name: each.baseUnit for each in description.unitDefinitions}["N.m"]
    assert (base.kg, base.m, base.s, base.rad) == (1, 2, -2, 0)
    assert not validation.validate_fmu(file)


def test_states_are_kept_restored_and_serialised_and_odd_steps_refused(tmp_path: Path) -> None:
    _, _, file = unit("double_pendulum", tmp_path)
    description = fmpy.read_model_description(file)
    folder = fmpy.extract(file, unzipdir=str(tmp_path / "unit"))
    one = fmpy.fmi2.FMU2Slave(
        guid=description.guid,
        unzipDirectory=folder,
        modelIdentifier=description.coSimulation.modelIdentifier,
        instanceName="one",
    )
    one.instantiate()
    one.setupExperiment(startTime=0.0)
    one.enterInitializationMode()
    one.exitInitializationMode()
    outputs = [each.valueReference for each in description.modelVariables if each.causality == "output"]
    one.doStep(0.0, 0.1)
    state = one.getFMUstate()
    kept = one.getReal(outputs)
    one.doStep(0.1, 0.1)
    later = one.getReal(outputs)
    assert later != kept
    again = one.deSerializeFMUstate(one.serializeFMUstate(state))
    one.setFMUstate(again)
    assert one.getReal(outputs) == kept
    one.doStep(0.1, 0.1)
    assert one.getReal(outputs) == later
    with pytest.raises(Exception, match="fmi2DoStep"):
        one.doStep(0.2, 0.00037)
    one.terminate()
    one.freeInstance()


def test_a_unit_without_a_compiler_has_its_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.c_code.fmu.find_compiler", lambda: None)
    _, found, file = unit("double_pendulum", tmp_path)
    with zipfile.ZipFile(file) as archive:
        names = archive.namelist()
    assert not [name for name in names if name.startswith("binaries")]
    assert {f"sources/{found.name}.c", f"sources/{found.name}.h", f"sources/{found.name}_fmu.c"} <= set(names)
    assert "no C compiler" in (found.folder / "README.md").read_text()


def test_a_unit_with_a_controller_moves_as_the_run(tmp_path: Path) -> None:
    """Computed torque on an arm with two joints: the unit, run by the other program, tracks as the run does."""
    model = ks.load(str(EXAMPLES / "double_pendulum.kst"))
    joints = [joint.name for joint in model.expanded.joints if joint.info.nv]
    rows = tuple(ks.ControlledJoint(joint=joint, reference="0.4*sin(3*t)") for joint in joints)
    law = ks.Signal(name="hold", kind="computed_torque", joints=rows, kp=64.0, kd=12.0)
    model = dataclasses.replace(model, signals=(law,), origin=model.origin)
    errors = tuple(f"hold.{joint}.error" for joint in joints)
    made = generate_c(model, tmp_path / "code", fmi="2.0", trial=False, outputs=errors)
    file = str(made.folder / f"{made.name}.fmu")
    assert not validation.validate_fmu(file)
    rows = fmpy.simulate_fmu(file, stop_time=1.0, step_size=1e-3, output_interval=0.1, output=[*joints, *errors])
    run = ks.simulate(model, 1.0, output=0.1, rtol=1e-11, atol=1e-13)
    got = np.array([list(row) for row in rows])
    expected = np.column_stack([run.time, run.q, *(run[name] for name in errors)])
    assert np.abs(expected[:, 3:]).max() > 0.05
    assert np.allclose(got, expected, rtol=0.0, atol=1e-8)


def test_a_unit_with_contact_rolls_as_a_ball(tmp_path: Path) -> None:
    """A homogeneous ball that sticks to a slope of 0.1 rad rolls with 5/7 g sin(0.1), the other program says."""
    model = contact_machine("ball", 0.0999, 0.1, stiffness=1e4).model
    found = generate_c(model, tmp_path / "code", fmi="2.0", trial=False)
    file = str(found.folder / f"{found.name}.fmu")
    assert not validation.validate_fmu(file)
    rows = fmpy.simulate_fmu(
        file, stop_time=1.0, step_size=1e-3, output_interval=0.1, output=["free.vx.v", "free.vz.v"]
    )
    time, *velocity = np.array([list(row) for row in rows]).T  # in axes of the ball
    speed = np.hypot(*velocity)
    gained = (speed[-1] - speed[5]) / (time[-1] - time[5])
    assert gained == pytest.approx(5.0 / 7.0 * 9.81 * np.sin(0.1), rel=1e-3)
