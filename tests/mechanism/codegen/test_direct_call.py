"""Single calls: which arrays machine code reads itself, what goes the general way; nothing is kept or shared."""

from __future__ import annotations

import array
import gc
import sys
import threading
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

from core.errors import ModelError, SimulationError
from core.files import load
from core.mechanism import Mechanism
from core.model import Body, Inertia, Joint, Model, Parameter
from resources import EXAMPLES
from tests.mechanism.random_machines import tree

_MODEL = load(EXAMPLES / "puma560.kst")
ARM = Mechanism(replace(_MODEL, world=replace(_MODEL.world, limits="ideal")))
"""Without stops: away from rest its accelerations are one call."""
Q = np.linspace(-1.0, 1.0, ARM.nq)


@pytest.fixture(scope="module", autouse=True)
def _compiled() -> None:
    ARM.compile("mass_matrix", "forward_dynamics", "energy", "rate")


def spied(mech: Mechanism, function: str, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows by one whenever a function takes the general path."""
    evaluator = mech.compiled.evaluator(function)
    general, asked = evaluator.evaluate_general, []
    monkeypatch.setattr(evaluator, "evaluate_general", lambda *given: asked.append(1) or general(*given))
    return asked


QUICK = {
    "array": Q,
    "copy that may not be written": np.frombuffer(Q.tobytes()),
    "part of an array": np.concatenate([[7.0], Q, [7.0]])[1:-1],
    "array.array": array.array("d", Q.tolist()),
    "memoryview": memoryview(Q),
}
GENERAL = {
    "list": Q.tolist(),
    "tuple": tuple(Q),
    "every second": np.repeat(Q, 2)[::2],
    "backwards": Q[::-1].copy()[::-1],
    "foreign byte order": Q.astype(Q.dtype.newbyteorder()),
    "column of a matrix": np.column_stack([Q, Q])[:, 0],
    "matrix of one": Q[None],
}


@pytest.mark.parametrize("kind", QUICK)
def test_floats_side_by_side_are_read_where_they_lie(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = ARM.mass_matrix(Q[None])[0]
    asked = spied(ARM, "mass_matrix", monkeypatch)
    np.testing.assert_array_equal(ARM.mass_matrix(QUICK[kind]), exact)
    assert not asked


@pytest.mark.parametrize("kind", GENERAL)
def test_all_else_goes_the_general_way(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    exact = ARM.mass_matrix(Q)
    asked = spied(ARM, "mass_matrix", monkeypatch)
    np.testing.assert_array_equal(np.squeeze(ARM.mass_matrix(GENERAL[kind])), exact)
    assert asked


@pytest.mark.parametrize("number", [np.int64, np.float32, np.bool_, np.uint8])
def test_other_numbers_mean_what_they_say(number: type) -> None:
    """Also those that are as long as a double."""
    q = np.arange(ARM.nq).astype(number)
    np.testing.assert_array_equal(ARM.mass_matrix(q), ARM.mass_matrix(q.astype(float)))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Q[:-1], "has shape"),
        (np.append(Q, 0.0), "has shape"),
        (np.zeros(0), "has shape"),
        (b"x" * 8 * len(Q), "is not an array"),
        (bytearray(8 * len(Q)), "has shape"),
        ("abc", "is not an array"),
        (object(), "is not an array"),
        (3.0, "has a single number"),
    ],
)
def test_bad_input_is_told_as_before_the_code_was_there(wrong: object, words: str) -> None:
    with pytest.raises(ModelError, match=f"q {words}"):
        ARM.mass_matrix(wrong)
    with pytest.raises(ModelError, match=f"tau {words}"):
        ARM.forward_dynamics(Q, Q, wrong)


def test_what_is_not_finite_is_told() -> None:
    joint = Joint(name="hinge", parent="world", child="wheel", axis=(1, 0, 0))
    body = Body(name="wheel", mass="m", inertia=Inertia(ixx="m"))
    mech = Mechanism(Model(parameters=(Parameter(name="m", value=0.0),), bodies=(body,), joints=(joint,)))
    mech.compile("forward_dynamics")
    for _ in range(3):
        with pytest.raises(SimulationError, match="moves no mass or inertia"):
            mech.forward_dynamics(np.zeros(1), np.zeros(1), np.ones(1))


def test_results_belong_to_whoever_asked() -> None:
    first = ARM.mass_matrix(Q)
    kept = first.copy()
    ARM.mass_matrix(Q + 0.5)
    np.testing.assert_array_equal(first, kept)
    assert first.flags.owndata
    assert first.flags.writeable


def test_nothing_is_kept_of_a_call() -> None:
    """Arguments and results are counted as before, whichever way the call went; memory does not grow."""
    odd = [Q.copy(), Q.tolist(), np.zeros(3), b"x", np.sign(Q).astype(int)]

    def round_() -> None:
        for given in odd:
            try:
                ARM.forward_dynamics(Q, given, Q)
            except ModelError:
                continue

    round_()
    ARM.compile()  # what else was asked for is not made meanwhile
    gc.collect()
    before = [sys.getrefcount(x) for x in (*odd, Q)]
    tracemalloc.start()
    for _ in range(20):
        round_()
    size = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        round_()
    grown = tracemalloc.get_traced_memory()[0] - size
    tracemalloc.stop()
    assert [sys.getrefcount(x) for x in (*odd, Q)] == before
    assert grown < 50_000  # a float kept of each round would be more
    odd[0].resize(3, refcheck=False)  # no buffer is held any more


def test_a_call_outlives_its_mechanism() -> None:
    mech = Mechanism(tree(3, count=4))
    q = mech.rest()
    mech.compile("mass_matrix")
    call, exact = mech.compiled.evaluator("mass_matrix").call, mech.mass_matrix(q)
    del mech
    gc.collect()
    np.testing.assert_array_equal(call(q), exact)


def test_threads_share_one_function() -> None:
    """All threads call at once; each gets what belongs to its state."""
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (4, 200, 3, ARM.nq))
    found: dict[int, list[np.ndarray]] = {}

    def work(k: int) -> None:
        found[k] = [ARM.forward_dynamics(*state) for state in states[k]]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for k in range(4):
        np.testing.assert_array_equal(found[k], ARM.forward_dynamics(*np.moveaxis(states[k], 1, 0)))


def test_tables_are_called_alike() -> None:
    """A chain whose recursion is a table of blocks: single calls against those on arrays, from any thread."""
    from benchmarks.machines import chain

    mech = Mechanism(chain(60))
    mech.compile("forward_dynamics")
    states = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 8, 60))
    many = mech.forward_dynamics(*states)
    for k in range(8):
        np.testing.assert_array_equal(mech.forward_dynamics(*(s[k] for s in states)), many[k])
    elsewhere: list[np.ndarray] = []
    thread = threading.Thread(target=lambda: elsewhere.append(mech.forward_dynamics(*(s[0] for s in states))))
    thread.start()
    thread.join()
    np.testing.assert_array_equal(elsewhere[0], many[0])
