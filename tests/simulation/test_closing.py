"""How iteration closes loops after each step: exactly, to a tolerance, by a number of steps; the same in runs and C."""

import shutil

import numpy as np
import pytest

import kinetostat as ks
from core.numerics.tolerances import CLOSED_GAP
from core.simulation.run.settings import check_settings
from resources import EXAMPLES
from tests.walks import slow


def example(name):
    return ks.Mechanism(ks.load(EXAMPLES / f"{name}.kst"))


def gaps(run):
    """Largest residual of positions at each sample, m or rad."""
    return np.abs(run.mech.constraint_residual(run.q)).max(axis=-1)


def moved(closing, step=3e-3, **options):
    return ks.simulate(
        example("four_bar"),
        0.5,
        method="rk4",
        step=step,
        q0={"crank_pin": 0.5},
        closed_forms=False,
        closing=closing,
        **options,
    )


def test_a_tolerance_leaves_gaps_below_it_and_one_step_closes_them():
    exact, loose, once = moved(None), moved(1e-6), moved(1)
    assert gaps(exact).max() < CLOSED_GAP
    assert 1e-9 < gaps(loose).max() < 1e-6
    assert 1e-9 < np.abs(loose.q - exact.q).max() < 1e-5
    # Newton's method squares a gap of a step, 1e-8, in one step: what is left is rounding
    assert gaps(once).max() < 1e-15
    assert np.abs(once.q - exact.q).max() < 1e-10
    np.testing.assert_allclose(moved(3).q, once.q, atol=1e-12)
    # speeds are consistent whatever closes positions
    G = exact.mech.constraint_jacobian(loose.q)
    assert np.abs(np.einsum("krv,kv->kr", G, loose.v)).max() < 1e-13


def test_drift_without_end_is_held_by_one_step():
    """10⁴ steps with one closing step each: gaps stay what one step leaves, they do not grow."""
    run = ks.simulate(example("bricard"), 2.0, method="rk4", step=2e-4, output=0.02, closed_forms=False, closing=1)
    assert gaps(run).max() < 1e-14


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["squeezer", "shaker_chord", *slow(("bricard",))])
@pytest.mark.parametrize("closing", [3, *slow((1,))])
def test_c_code_closes_as_runs_do(name, closing, tmp_path):
    """With the same `closing` both agree to rounding, where one step alone does not close."""
    options = {"closing": closing, "step": 1e-3 if name != "squeezer" else 1e-4}
    found = ks.generate_c(example(name).model, tmp_path / "code", **options)
    assert found.trial.passed, found.trial.words
    assert found.difference is not None
    assert found.difference < 1e-10


@pytest.mark.parametrize("closing", [0, -1, 1.5, 101, float("nan"), "2", True])
def test_what_closes_nothing_is_refused(closing):
    with pytest.raises(ks.ModelError, match="closing"):
        moved(closing)


def test_the_choice_is_kept_with_the_run(tmp_path):
    run = moved(2)
    assert run.settings.closing == 2
    run.save(tmp_path / "run.h5")
    assert ks.Run.load(tmp_path / "run.h5").settings.closing == 2
    mech = run.mech
    assert check_settings(mech, 1.0, "rk4", None, 1e-8, 1e-9, None, 0.0, None, None, 10).closing is None
