"""Every function of the catalogue on every machine that something holds: see `consistent_states`."""

import functools
import json
from pathlib import Path

import pytest

from app.cli.main import cli
from app.document.session import Session
from core.functions import FUNCTIONS, Context, call
from tests.functions.consistent_states import CHECKS, COMPARED_ELSEWHERE, SMALL, State, held_machines, model_of, outcome
from tests.functions.test_surfaces import data, from_panel, same, settings  # noqa: F401
from tests.walks import walk

state = functools.cache(State)


@pytest.mark.parametrize("machine", walk(held_machines(), also=SMALL))
@pytest.mark.parametrize("function", CHECKS)
def test_what_a_function_says_is_what_the_kernel_knows(function, machine):
    outcome(state(machine), function)


def test_every_function_is_compared_with_something():
    """A new function needs a comparison in `consistent_states`, or tests elsewhere that are named there."""
    assert sorted([*CHECKS, *COMPARED_ELSEWHERE]) == sorted(FUNCTIONS)
    tests = Path(__file__).parents[1]
    assert not [file for file in COMPARED_ELSEWHERE.values() if not (tests / file).is_file()]


ASKED = ("energy", "inverse_dynamics", "instantaneous_screw", "gravity", "mass_matrix", "jacobian")
SIMPLE = ("rods", "gears", "drivers", "four_bar")
"""Machines whose eigenvalues lie apart: of others rounding decides which vectors modes are."""


@pytest.mark.parametrize(
    "case",
    walk(
        [(m, f) for m in held_machines() for f in ASKED] + [(m, "linearise") for m in SIMPLE],
        name=lambda case: "-".join(case),
        quick=[f"{m}-{f}" for m in SIMPLE for f in (*ASKED, "linearise")],
    ),
)
def test_panel_command_line_and_script_say_the_same(qtbot, tmp_path, settings, capsys, case):  # noqa: F811
    machine, function = case
    model, file = model_of(machine), tmp_path / "machine.kst"
    session = Session(model)
    assert session.save(file)
    takes_speeds = function not in ("gravity", "mass_matrix", "jacobian")
    options = {"speeds": dict.fromkeys(state(machine).free()[:1], 0.7)} if takes_speeds else {}
    panel = settled(from_panel(qtbot, session, settings, function, options))
    arguments = [f"--speeds={name}={value}" for name, value in options.get("speeds", {}).items()]
    assert cli([function.replace("_", "-"), str(file), *arguments, "--json"]) == 0
    assert same(panel, settled(json.loads(capsys.readouterr().out)))
    assert same(panel, settled(call(function, model, **options)))


def settled(result):
    """Data of a result but for modes without frequency: of several with λ = 0 any mixture is one, too."""
    found = data(result)
    if "parts" in found:
        found["parts"] = [part for part in found["parts"] if not part["title"].endswith("λ = 0 1/s")]
        for part in found["parts"]:
            if part["title"] == "Eigenvalues and modes":
                part["rows"] = [row for row in part["rows"] if row[1] or row[2]]
    return found


def test_a_speed_that_contradicts_is_an_error_that_says_what_fits(tmp_path, capsys):
    file = tmp_path / "machine.kst"
    assert Session(model_of("gears")).save(file)
    assert cli(["energy", str(file), "--speeds", "sun=2", "--speeds", "planet_pin=3"]) != 0
    told = capsys.readouterr().err
    assert "planet_pin" in told
    assert "-3 rad/s" in told
    assert cli(["energy", str(file), "--speeds", "sun=2", "--speeds", "planet_pin=-3"]) == 0


def test_functions_follow_drivers_at_the_time_of_the_pose_that_is_shown():
    model = model_of("drivers")
    s = state("drivers")
    q = s.posed({}, 2.0)
    found = call("energy", Context(model, s.mech, q, dict(s.context.p), t=2.0))
    rate = 0.5 + 0.4 * 2.0
    v = s.mech.speeds(q, {}, t=2.0)
    assert v[s.mech.v_names.index("turn")] == pytest.approx(rate, abs=1e-12)
    assert found.rows[3][1].value == pytest.approx(0.5 * v @ s.mech.mass_matrix(q) @ v, rel=1e-12)


def test_command_line_tells_what_holds_a_machine_without_loops(tmp_path, capsys):
    holding = {"rods": ("link (rod)", "pusher (rod)"), "gears": ("mesh (gear)",), "drivers": ("pull",)}
    for machine, words in holding.items():
        file = tmp_path / f"{machine}.kst"
        assert Session(model_of(machine)).save(file)
        assert cli(["info", str(file)]) == 0
        told = capsys.readouterr().out
        assert all(word in told for word in words)
