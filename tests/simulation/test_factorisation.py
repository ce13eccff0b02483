"""Two ways to solve the equations of loops: Cholesky's method where no row is redundant, one that reveals the rank."""

import dataclasses
import shutil

import numpy as np
import pytest

import kinetostat as ks
from core.constraints.mobility.isostatic_model import isostatic_model
from core.machine_code.outcome import FINE
from core.machine_code.records import array_address
from core.simulation.equations import entry_points
from core.simulation.equations.compiled_equations import CompiledEquations
from core.simulation.run.settings import CHOLESKY, FACTORISATIONS, RANK_REVEALING
from resources import EXAMPLES
from tests.walks import walk

FULL_RANK = ("spatial_four_bar", "stewart", "macpherson", "shaker_bodies", "shaker_chord", "planetary_stage", "forces")
"""Examples in which no constraint is redundant; of bodies without mass, and one of many fronts, too."""


def example(name):
    return ks.Mechanism(ks.load(EXAMPLES / f"{name}.kst"))


def isostatic(name):
    """An example with the joints that Mobility proposes: nothing is held twice."""
    mech = example(name)
    return ks.Mechanism(isostatic_model(mech.compiled, mech.mobility()))


def rates(equations, y):
    """ẏ of the full equations, and ∂f/∂y from the traced derivatives."""
    n = len(y)
    out, J = np.empty(n), np.empty((n, n))
    for entry, result in ((entry_points.full_derivative, out), (entry_points.exact_jacobian, J)):
        assert entry(equations.system.place, 0.0, array_address(y), array_address(result)) == FINE
    return out, J


def assert_same(found, expected, tolerance=1e-10):
    """Equal as a part of the largest number."""
    assert np.abs(found - expected).max() <= tolerance * max(1.0, np.abs(expected).max())


@pytest.mark.parametrize("name", walk(FULL_RANK, also=["spatial_four_bar", "macpherson"]))
def test_accelerations_and_their_derivatives_are_those_of_the_rank_revealing_way(name):
    mech = example(name)
    random = np.random.default_rng(3)
    q = mech.rest()
    v = mech.assemble(q, random.normal(size=mech.nv))[1]
    y = np.concatenate([q, v, mech.x_rest(q, v=v)])
    u = random.normal(size=mech.nv)
    both = []
    for way in (RANK_REVEALING, CHOLESKY):
        equations = CompiledEquations(mech, u, mech.parameter_values(), y, closed_forms=False, slopes=True)
        if way == CHOLESKY:
            equations.use_cholesky()
            assert equations.system.products
        both.append(rates(equations, y))
    for found, expected in zip(both[1], both[0], strict=True):
        assert_same(found, expected)
    # M a + h = u + Gᵀ λ for some λ, and G a = −(Ġ v − f̈): what defines accelerations
    a = both[1][0][mech.nq : mech.nq + mech.nv]
    G = mech.constraint_jacobian(q)
    drift = mech.compiled.call("constraint_bias", q, v)
    assert np.abs(G @ a + drift).max() < 1e-9 * max(1.0, np.abs(drift).max())


@pytest.mark.parametrize("name", ["spatial_four_bar", "stewart", "shaker_chord"])
@pytest.mark.parametrize("closing", [None, 2])
def test_runs_are_the_same(name, closing):
    mech = example(name)
    options = {"duration": 0.2, "method": "rk4", "step": 1e-3, "closed_forms": False, "closing": closing}
    one, other = (ks.simulate(mech, factorisation=way, **options) for way in (RANK_REVEALING, CHOLESKY))
    assert_same(other.q, one.q)
    assert_same(other.v, one.v, 1e-9)
    assert np.abs(mech.constraint_residual(other.q)).max() < 1e-11


@pytest.mark.parametrize("method", ["rk853", "radau"])
def test_variable_steps_are_the_same_within_their_tolerance(method):
    mech = example("spatial_four_bar")
    options = {"duration": 0.5, "method": method, "rtol": 1e-9, "atol": 1e-10, "closed_forms": False}
    one, other = (ks.simulate(mech, factorisation=way, **options) for way in (RANK_REVEALING, CHOLESKY))
    assert np.abs(other.q[-1] - one.q[-1]).max() < 1e-7


@pytest.mark.parametrize("name", ["four_bar", "engine_v6"])
def test_machines_that_hold_nothing_twice_any_more(name):
    """Planar loops drawn in space are redundant; with the joints that Mobility proposes both ways agree, and move as
    the redundant machine does."""
    mech, redundant = isostatic(name), example(name)
    options = {"duration": 0.05, "method": "rk4", "step": 1e-3, "closed_forms": False}
    one, other = (ks.simulate(mech, factorisation=way, **options) for way in (RANK_REVEALING, CHOLESKY))
    assert_same(other.q, one.q)
    before = ks.simulate(redundant, **options)
    shared = [(mech.q_names.index(n), k) for k, n in enumerate(redundant.q_names) if n in mech.q_names]
    own, theirs = np.array(shared).T
    assert_same(other.q[:, own], before.q[:, theirs], 1e-8)


def test_redundant_rows_are_named_with_the_remedy():
    with pytest.raises(ks.SimulationError) as caught:
        ks.simulate(example("bricard"), 1.0, factorisation=CHOLESKY, closed_forms=False)
    error = caught.value
    assert "one redundant row of 5" in error.what
    assert "loop 1" in str(error)
    assert "rank-revealing" in error.remedy
    assert "Mobility" in error.remedy
    assert error.time == 0.0


def cranks(*drivers):
    """Two cranks of 1 m whose pins are 2 m apart and whose ends a rod of 2 m joins: G = (sin q1, −sin q2) of the rod's
    row at q1 = q2, nothing where cranks and rod lie in line, q = 0."""
    names, places = ("one", "two"), (0.0, 2.0)
    return ks.Mechanism(
        ks.Model(
            name="cranks",
            bodies=tuple(
                ks.Body(name=n, mass=1.0, center_of_mass=(0.5, 0, 0), inertia=ks.Inertia(iyy=0.1)) for n in names
            ),
            frames=(
                *(ks.Frame(name=f"end_{n}", parent=n, pose=ks.Pose(position=(1, 0, 0))) for n in names),
                *(
                    ks.Frame(name=f"pin_{n}", parent="world", pose=ks.Pose(position=(x, 0, 0)))
                    for n, x in zip(names, places, strict=True)
                ),
            ),
            joints=tuple(ks.Joint(name=f"j_{n}", parent=f"pin_{n}", child=n, axis=(0, -1, 0)) for n in names),
            constraints=(ks.Constraint(name="rod", kind="rod", a="end_one", b="end_two", length=2.0),),
            drivers=drivers,
        )
    )


def test_a_run_that_stands_on_a_dead_point_is_ended_by_name():
    mech = cranks()
    options = {"duration": 0.1, "method": "rk4", "step": 1e-3, "closed_forms": False, "q0": [0.0, 0.0]}
    run = ks.simulate(mech, factorisation=RANK_REVEALING, **options)
    # each crank falls by itself, and the rod goes along
    alone = ks.simulate(dataclasses.replace(mech.model, constraints=()), 0.1, method="rk4", step=1e-3, q0=[0.0, 0.0])
    assert_same(run.q, alone.q)
    with pytest.raises(ks.SimulationError, match="the constraints are redundant") as caught:
        ks.simulate(mech, factorisation=CHOLESKY, **options)
    assert caught.value.where == "constraint 'rod'"
    assert caught.value.time == 0.0


def test_a_run_that_comes_to_a_dead_point_is_ended_there():
    """A driver turns one crank from −0.5 rad by 1 rad/s: at 0.5 s all lie in line, on the end of a step."""
    mech = cranks(ks.Driver(name="motor", joint="j_one", function="t - 0.5"))
    options = {"duration": 1.0, "method": "rk4", "step": 0.01, "closed_forms": False, "q0": [-0.5, -0.5]}
    through = ks.simulate(mech, factorisation=RANK_REVEALING, **options)
    assert_same(through.q[:, 1], through.time - 0.5, 1e-6)  # on as a parallelogram
    with pytest.raises(ks.SimulationError, match="the constraints are redundant") as caught:
        ks.simulate(mech, factorisation=CHOLESKY, **options)
    assert "rod" in caught.value.where
    assert 0.48 < caught.value.time < 0.51
    assert_same(caught.value.run.q[:, 1], caught.value.run.time - 0.5, 1e-8)


@pytest.mark.parametrize("wrong", ["cholesky", "QR", None, 1])
def test_what_is_no_factorisation_is_refused_by_name(wrong):
    with pytest.raises(ks.ModelError, match="factorisation") as caught:
        ks.simulate(example("stewart"), 0.1, factorisation=wrong)
    assert all(name in str(caught.value) for name in FACTORISATIONS)


def test_the_choice_is_kept_with_the_run(tmp_path):
    run = ks.simulate(example("spatial_four_bar"), 0.01, factorisation=CHOLESKY)
    run.save(tmp_path / "run.h5")
    assert ks.Run.load(tmp_path / "run.h5").settings.factorisation == CHOLESKY


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
@pytest.mark.parametrize("way", walk(FACTORISATIONS, quick=[CHOLESKY]))
def test_c_code_solves_as_runs_do(way, tmp_path):
    found = ks.generate_c(example("shaker_chord").model, tmp_path / "code", factorisation=way)
    assert found.trial.passed, found.trial.words
    assert found.difference < 1e-9
    assert ("Cholesky" in (tmp_path / "code" / f"{found.name}.h").read_text()) == (way == CHOLESKY)


def test_c_code_that_would_need_the_rank_is_refused():
    with pytest.raises(ks.SimulationError, match="the constraints are redundant"):
        ks.generate_c(example("bricard").model, "nowhere", factorisation=CHOLESKY, trial=False)
