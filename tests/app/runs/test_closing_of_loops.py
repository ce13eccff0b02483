"""How iteration closes loops, as a person chooses it: a field of the panel Simulation, remembered, in the run."""

import pytest

from app.runs.run_settings import RunSettings, loop_closure_problem


def test_the_choice_is_remembered_and_what_is_none_is_left_out():
    wanted = RunSettings(closing=2)
    assert RunSettings.from_remembered(wanted.remembered_settings()).closing == 2
    assert RunSettings.from_remembered({"closing": 1e-6}).closing == 1e-6
    for wrong in (0, -2, 2.5, "two", [1]):
        assert RunSettings.from_remembered({"closing": wrong}).closing is None


@pytest.mark.parametrize(("value", "fits"), [(None, True), (2.0, True), (1e-8, True), (2.5, False), (1e9, False)])
def test_what_cannot_close_loops_is_said(value, fits):
    assert (loop_closure_problem(value) == "") == fits


def test_how_equations_are_solved_is_remembered_and_what_is_none_is_left_out():
    assert (
        RunSettings.from_remembered(RunSettings(factorisation="Cholesky").remembered_settings()).factorisation
        == "Cholesky"
    )
    for wrong in ("QR", 3, None, ["Cholesky"]):
        assert RunSettings.from_remembered({"factorisation": wrong}).factorisation == "automatic"
