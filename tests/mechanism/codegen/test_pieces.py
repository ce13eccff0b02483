"""Arrays of states on all cores: the same numbers and the same failures as in one thread, whoever else calls."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pytest

from benchmarks.machines import chain
from core.codegen import machine_code
from core.errors import SimulationError
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Parameter

COUNT = 3000
CHAINS = {"straight": 6, "table": 60}


@pytest.fixture(scope="module", params=CHAINS)
def machine(request: pytest.FixtureRequest) -> Mechanism:
    mech = Mechanism(chain(CHAINS[request.param]))
    mech.compile("forward_dynamics")
    return mech


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Four threads and small pieces; the list has how often each thread evaluated one."""
    monkeypatch.setenv("KINETOSTAT_THREADS", "4")
    monkeypatch.setattr(machine_code, "PIECE", 1000)
    monkeypatch.setattr(machine_code, "_pool", None)
    workers: list[int] = []
    original = machine_code.evaluate_in_chunks

    def watched(count, operations, evaluate):
        def one(first, number):
            workers.append(threading.get_ident())
            return evaluate(first, number)

        return original(count, operations, one)

    for module in ("machine_code", "block_code"):
        monkeypatch.setattr(f"core.codegen.{module}.evaluate_in_chunks", watched)
    return workers


def states(mech: Mechanism, count: int = COUNT) -> np.ndarray:
    return np.random.default_rng(1).uniform(-1.0, 1.0, (3, count, mech.nv))


def test_the_numbers_are_those_of_one_thread(machine: Mechanism, small: list[int]) -> None:
    given = states(machine)
    many = machine.forward_dynamics(*given)
    assert len(small) == machine_code.PIECES_A_THREAD * 4
    for k in (0, 1, COUNT // 2, COUNT - 1):
        np.testing.assert_array_equal(machine.forward_dynamics(*given[:, k]), many[k])
    small.clear()
    os.environ["KINETOSTAT_THREADS"] = "1"
    np.testing.assert_array_equal(machine.forward_dynamics(*given), many)
    assert small == [threading.get_ident()]


def test_all_threads_take_part(small: list[int]) -> None:
    """Each waits until all have begun one: with fewer than four this would end at the barrier's time limit."""
    barrier = threading.Barrier(4, timeout=30.0)
    seen: set[int] = set()

    def evaluate(first: int, number: int) -> int:
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            barrier.wait()
        return number

    assert machine_code.evaluate_in_chunks(1001, 1000, evaluate) == 1001
    assert len(seen) == 4


def test_every_state_is_in_one_piece(small: list[int]) -> None:
    for count in (2, 3, 15, 16, 17, 1001):
        found = np.zeros(count, dtype=int)

        def evaluate(first: int, number: int, found: np.ndarray = found) -> int:
            found[first : first + number] += 1
            return 0

        machine_code.evaluate_in_chunks(count, 1000, evaluate)
        assert (found == 1).all()


def test_short_arrays_wake_nobody(machine: Mechanism, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KINETOSTAT_THREADS", "4")
    monkeypatch.setattr(machine_code, "_thread_pool", lambda count: pytest.fail("a thread was asked for"))
    machine.forward_dynamics(*states(machine, 5))


def test_parameters_may_differ_by_state(small: list[int]) -> None:
    joint = Joint(name="hinge", parent="world", child="bob", axis=(0, 1, 0))
    body = Body(name="bob", mass="m", center_of_mass=(0.0, 0.0, -1.0), inertia=Inertia(iyy="m"))
    mech = Mechanism(Model(parameters=(Parameter(name="m", value=1.0),), bodies=(body,), joints=(joint,)))
    mech.compile("mass_matrix")
    mass = np.linspace(1.0, 5.0, COUNT)
    np.testing.assert_allclose(mech.mass_matrix(np.zeros((COUNT, 1)), p={"m": mass})[:, 0, 0], 2.0 * mass, rtol=1e-15)
    assert len(small) > 1


def test_the_first_state_that_fails_is_told_whoever_found_it(small: list[int]) -> None:
    joint = Joint(name="hinge", parent="world", child="wheel", axis=(1, 0, 0))
    body = Body(name="wheel", mass="m", inertia=Inertia(ixx="m"))
    mech = Mechanism(Model(parameters=(Parameter(name="m", value=1.0),), bodies=(body,), joints=(joint,)))
    mech.compile("forward_dynamics")
    mass = np.ones(COUNT)
    zeros = np.zeros((COUNT, 1))
    assert mech.forward_dynamics(zeros, zeros, zeros, p={"m": mass}).shape == (COUNT, 1)
    mass[[5, COUNT // 2, -1]] = 0.0
    code, out = mech.compiled.evaluator("forward_dynamics").code, np.empty((COUNT, 1))
    assert code.evaluate_batch([zeros, zeros, zeros + 1.0], mass[:, None].copy(), out) == 3
    with pytest.raises(SimulationError, match="moves no mass or inertia"):
        mech.forward_dynamics(zeros, zeros, zeros + 1.0, p={"m": mass})


def test_several_threads_at_once(machine: Mechanism, small: list[int]) -> None:
    given = states(machine)
    exact = machine.forward_dynamics(*given)
    found: list[np.ndarray] = []
    callers = [threading.Thread(target=lambda: found.append(machine.forward_dynamics(*given))) for _ in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(found) == 6
    for each in found:
        np.testing.assert_array_equal(each, exact)


def test_others_go_on_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter's lock is released, in one thread, too: Python goes on while the machine code works."""
    monkeypatch.setenv("KINETOSTAT_THREADS", "1")
    mech = Mechanism(chain(60))
    mech.compile("forward_dynamics")
    given = states(mech, 20_000)
    turns: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            turns.append(time.perf_counter())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    mech.forward_dynamics(*given)
    ended = time.perf_counter()
    done.set()
    watcher.join()
    inside = [began, *(t for t in turns if began < t < ended), ended]
    assert max(b - a for a, b in pairwise(inside)) < 0.5 * (ended - began)


CHILD = """
import os
import numpy as np
from benchmarks.machines import chain
from core.codegen import machine_code
from core.mechanism import Mechanism
machine_code.PIECE = 1000
mech = Mechanism(chain(6))
mech.compile("forward_dynamics")
given = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 3000, 6))
exact = mech.forward_dynamics(*given)
assert machine_code._pool is not None
child = os.fork()
if child == 0:
    os._exit(0 if (mech.forward_dynamics(*given) == exact).all() and machine_code._pool is not None else 1)
assert os.waitpid(child, 0)[1] == 0
assert (mech.forward_dynamics(*given) == exact).all()
import atexit
atexit.register(lambda: print((mech.forward_dynamics(*given) == exact).all()))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
def test_a_forked_process_and_the_end_of_a_program() -> None:
    """A child has no thread of its parent, at its end a program gets no new ones: both evaluate all the same."""
    environment = {**os.environ, "KINETOSTAT_THREADS": "3"}
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD], env=environment, capture_output=True, text=True, timeout=120
    )
    assert (told.stdout, told.stderr) == ("True\n", "")


@pytest.mark.parametrize(("given", "meant"), [("3", 3), ("", None), ("0", None), ("-1", None), ("many", None)])
def test_how_many_threads(given: str, meant: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KINETOSTAT_THREADS", raising=False)
    usual = machine_code.thread_count()
    assert 1 <= usual <= (os.cpu_count() or 1)
    monkeypatch.setenv("KINETOSTAT_THREADS", given)
    assert machine_code.thread_count() == (meant or usual)
