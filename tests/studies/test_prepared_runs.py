"""Runs that are made ready once are those of `simulate`, bit for bit, whatever the machine and the method."""

import numpy as np
import pytest

import kinetostat as ks
import resources
from core.simulation.measures.run_measures import Measures
from core.studies.prepared_runs import PreparedRuns, RunTimeLimitExceeded

RK4 = {"method": "rk4", "step": 1e-3}
MACHINES = [
    ("ur5", RK4, ({"a2": 0.45}, {"a2": 0.38, "d1": 0.1}), "joint2.tau"),
    ("ur5", {}, ({"a3": 0.3}, {}), "link6.acceleration.x"),
    ("three_springs", RK4, ({"c1": 50.0, "m": 0.9}, {"m": 0.7}), "energy.total"),
    ("four_bar", RK4, ({"a": 0.11}, {"b": 0.31}), "crank_pin.reaction.fx"),
    ("block_on_block", {"method": "rk54"}, ({"ground": 8.0}, {"between": 1.0}), "below.friction.loss"),
    ("block_on_block", RK4, ({"ground": 0.5}, {"between": 1.0}), "above.v"),
    ("double_pendulum", {"method": "radau"}, ({"d": 1.0}, {"d": 0.0}), "energy.kinetic"),
    ("pendulum", {"method": "adams"}, ({"m": 2.0}, {"l": 0.3}), "energy.potential"),
    ("bouncing_pendulum", RK4, ({}, {}), "energy.total"),
]


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def machines():
    """Each made once."""
    made = {}

    def machine(name):
        if name not in made:
            path = next(each.path for each in resources.examples() if each.path.stem == name)
            made[name] = ks.Mechanism(ks.load(path))
        return made[name]

    return machine


@pytest.mark.parametrize(("name", "options", "rows", "channel"), MACHINES)
def test_the_bits_are_those_of_simulate(machines, name, options, rows, channel):
    mech = machines(name)
    chosen = {"duration": 0.3, "closed_forms": True, **options}
    varied = tuple({each for row in rows for each in row})
    ks.simulate(mech, **chosen)[channel]
    mech.compile()  # until then an interpreter serves, which rounds otherwise
    prepared = PreparedRuns(mech, varied, chosen)
    speed = {mech.v_names[0]: 0.25}
    for given in (*rows, rows[0], {}):
        for v0 in ({}, speed):
            alone = ks.simulate(mech, parameters=given or None, v0=v0 or None, **chosen)
            found = prepared.run(given, {}, v0, never)
            assert found is not None, prepared.possible
            for each in ("time", f"{mech.v_names[-1].split('.')[0]}.q", channel):
                assert np.array_equal(found[each], alone[each]), each
            assert np.array_equal(found.part(slice(-1, None))["time"], alone.time[-1:])


@pytest.mark.parametrize(("name", "frame", "varied"), [("ur5", "tool", "a2"), ("four_bar", "coupler_point", "b")])
def test_numbers_of_rows_are_those_of_single_runs(machines, name, frame, varied):
    mech = machines(name)
    first = mech.v_names[0]
    record = {
        "place": f"at({frame}.position, end)",
        "speed": f"at({frame}.velocity, end)",
        "turn": f"at({frame}.omega.y, end)",
        "fast": f"max(abs({first}.v)) - min({first}.v)",
        "way": f"span({first}.q)",
        "before": f"at({frame}.position.x, 0.05 s)",
        "mean": "mean(energy.kinetic)",
        "force": f"rms({first}.a)",
    }
    chosen = {"duration": 0.1, "closed_forms": True, **RK4}
    study = ks.Study(mech, **chosen).grid({varied: [0.31, 0.32, 0.33]}).record(record)
    machine = study.check()
    found = machine.rows(study.declaration.values())
    measures = Measures(machine.mech, record)
    alone = [
        list(measures.values(ks.simulate(machine.mech, parameters={varied: value}, **chosen)).values())
        for value in (0.31, 0.32, 0.33)
    ]
    assert np.array_equal(found.results, np.array(alone))


def test_what_cannot_be_made_ready_is_left_to_simulate(machines):
    given = {"grip": 3.0}
    assert PreparedRuns(machines("braked_arm"), ("grip",), {}).run(given, {}, {}, never) is None  # levels are formulas
    prepared = PreparedRuns(machines("pendulum"), ("m",), RK4)
    assert prepared.run({"m": -1.0}, {}, {}, never) is None
    assert prepared.run({"m": 1.0}, {}, {}, never) is not None


def test_runs_that_take_too_long_say_how_far_they_came(machines):
    slow = {"method": "rk4", "step": 1e-5, "output": 0.01, "duration": 1.0}
    with pytest.raises(RunTimeLimitExceeded) as told:
        PreparedRuns(machines("pendulum"), (), slow).run({}, {}, {}, lambda: True)
    assert told.value.at == pytest.approx(0.2, abs=0.011)
