"""Closed forms of machines of many loops: what is done grows with the loops, and says the same as in one piece."""

import dataclasses
import sys

import numpy as np
import pytest

from benchmarks.loop_machines import crank_angle, falling, four_bars, separate_four_bars, stewart_chain
from core.codegen.block_code import BlockCode
from core.constraints.closed_forms import closed_forms as room
from core.constraints.closed_forms.closed_chains import group_edges
from core.constraints.closed_forms.closed_forms import AnalyticClosure, get_analytic_closure
from core.constraints.closed_forms.order import solve_order
from core.constraints.closed_forms.wording import solution_steps
from core.mechanics.multibody.topology import build_topology
from core.mechanism import Mechanism
from core.simulation import simulate
from tests.mechanism.closed_forms import random_loops as loops
from tests.walks import slow


def in_both_ways(model, monkeypatch):
    """The numbers of the reduced equations at a random state: traced in one piece, and as a table of blocks."""
    mech, found = Mechanism(model), []
    rng = np.random.default_rng(3)
    q, v = mech.assemble(mech.integrate(mech.rest(), rng.uniform(-0.05, 0.05, mech.nv)), rng.normal(size=mech.nv))
    for long in (10**6, 0):
        monkeypatch.setattr(room, "LONG", long)
        forms = AnalyticClosure(mech.compiled.program.symbolic)
        out = np.empty((1, forms.output_layout.size))
        given = [np.zeros((1, size)) for size in forms.reduction_code.sizes[:-1]]
        given[0][0], given[1][0] = q, v
        forms.reduction_code.evaluate_batch(given, mech.parameter_values(), out)
        assert isinstance(forms.reduction_code, BlockCode) == (not long)
        assert out[0, -3] > 0.0  # it closes
        found.append(out[0])
    return found


@pytest.mark.parametrize(
    "kinds", [("RRR", "PRR", "RRR", "RPP"), ("USR", "SSR"), ("RRR", "UPS"), ("DDD", "SSR"), ("SCR", "USR")]
)
def test_blocks_say_what_one_piece_says(kinds, monkeypatch):
    whole, blocks = in_both_ways(loops.coupled(kinds, 1)[0], monkeypatch)
    np.testing.assert_allclose(blocks, whole, rtol=1e-9, atol=1e-9 * np.max(np.abs(whole[np.isfinite(whole)])))


def test_blocks_of_a_machine_with_springs_and_balls(monkeypatch):
    whole, blocks = in_both_ways(stewart_chain(1), monkeypatch)
    np.testing.assert_allclose(blocks, whole, rtol=1e-8, atol=1e-9 * np.max(np.abs(whole)))


def test_loops_alike_share_their_code():
    tables = []
    for count in (60, 90):
        forms = AnalyticClosure(Mechanism(four_bars(count)).compiled.program.symbolic)
        assert len(forms.chain_solutions) == count
        assert len(forms.independent_speeds) == 1
        tables.append(forms.reduction_code.table)
    assert len(tables[1].blocks) < len(tables[0].blocks) + 10
    assert len(tables[1].rows) - len(tables[0].rows) <= 2 * 30


def test_a_loop_in_blocks_takes_what_it_takes_in_one_piece(monkeypatch):
    symbolic, operations = Mechanism(four_bars(60)).compiled.program.symbolic, []
    for long in (10**6, 0):
        monkeypatch.setattr(room, "LONG", long)
        operations.append(AnalyticClosure(symbolic).reduction_code.operations)
    assert operations[1] < 1.5 * operations[0]


def calls(work):
    """How many Python functions are called."""
    count = 0

    def counted(frame, event, argument):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize(
    ("machine", "loops"),
    [(four_bars, 100), *slow((separate_four_bars, 100), (stewart_chain, 8))],
    ids=lambda of: getattr(of, "__name__", str(of)),
)
def test_the_search_grows_with_the_loops(machine, loops):
    work = []
    for count in (loops, 2 * loops):
        topology = build_topology(machine(count))
        work.append(calls(lambda topology=topology: solution_steps(topology, solve_order(topology))))
    assert work[1] < 2.3 * work[0]


def test_groups_are_separate_unless_something_ties_them():
    ring = {0: ("world", "a"), 1: ("a", "b"), 2: ("b", "world")}
    beyond = {3: ("b", "c"), 4: ("c", "d"), 5: ("d", "b"), 6: ("d", "e")}
    twice = {7: ("e", "f"), 8: ("f", "e")}
    links = ring | beyond | twice
    assert group_edges(links, []) == [[0, 1, 2], [3, 4, 5], [7, 8]]  # 6 alone closes nothing
    assert group_edges(links, [(9, 6, 1)]) == [[0, 1, 2, 6, 9], [3, 4, 5], [7, 8]]
    assert group_edges(links, [(8, 3)]) == [[0, 1, 2], [3, 4, 5, 7, 8]]


def with_rotors(model):
    """Rotors in all joints, those that close loops, too."""
    return dataclasses.replace(
        model,
        joints=tuple(dataclasses.replace(joint, armature=0.2 + 0.1 * (joint.name[0] == "C")) for joint in model.joints),
    )


@pytest.mark.parametrize("change", [lambda model: model, with_rotors], ids=["links", "rotors"])
def test_separate_loops_move_as_each_alone(change):
    count, options = 33, {"method": "rk853", "rtol": 1e-9, "output": 0.5}
    mech = Mechanism(change(separate_four_bars(count)))
    forms = get_analytic_closure(mech.compiled.program)
    assert forms.long
    assert len(forms.chain_solutions) == len(forms.independent_speeds) == count
    assert forms.sparsity.pairs == [(k, k) for k in range(count)]
    alone = simulate(change(four_bars(1)), 0.5, v0=falling(1), closed_forms=False, **options)
    speeds = {f"{name}_{k}": v if k % 3 == 0 else 0.0 for k in range(count) for name, v in falling(1).items()}
    together = simulate(mech, 0.5, v0=speeds, closed_forms=True, **options)
    for k in (0, 30):
        assert together[f"A0_{k}.q"][-1] == pytest.approx(alone["A0.q"][-1], abs=1e-7)
    assert together["A0_1.q"][-1] == pytest.approx(0.0, abs=1e-9)  # it stands upright


def test_what_a_part_carries_along_is_moved_by_no_speed_of_it():
    """Platform on platform: in joint speeds, what is independent in one moves nothing of the other."""
    mech = Mechanism(stewart_chain(2))
    forms = AnalyticClosure(mech.compiled.program.symbolic)
    for column in forms.sparsity.columns:
        assert len({mech.v_names[k][1] for k in column}) == 1  # the number of the platform


def test_long_machines_of_which_much_hangs_together_are_left_to_iteration():
    forms = AnalyticClosure(Mechanism(stewart_chain(6)).compiled.program.symbolic)
    assert forms.long
    assert not forms.has_solutions


def test_forty_five_four_bars_fall_through_their_flat_pose():
    run = simulate(four_bars(45), 1.0, method="rk853", rtol=1e-8, v0=falling(45), output=1.0)
    for k in (0, 20, 45):
        assert run[f"A{k}.q"][-1] == pytest.approx(crank_angle(45, 1.0), abs=1e-6)
