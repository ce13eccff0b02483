"""Several threads trace machines (the window's, jobs): safe only while CasADi keeps the interpreter to itself."""

from __future__ import annotations

import threading
import time
from itertools import pairwise

import casadi as ca


def test_casadi_keeps_the_interpreter_while_it_works():
    """Its table of constants is shared by all threads without a lock (see docs/decisions/casadi.md)."""
    x = ca.SX.sym("x", 160)
    e = ca.sin(ca.mtimes(ca.densify(x @ x.T), x))
    turns: list[float] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            turns.append(time.perf_counter())

    watcher = threading.Thread(target=watch)
    watcher.start()
    began = time.perf_counter()
    ca.Function("f", [x], [e], {"cse": True})
    ended = time.perf_counter()
    done.set()
    watcher.join()
    inside = [began, *(t for t in turns if began < t < ended), ended]
    longest = max(b - a for a, b in pairwise(inside))
    assert longest > 0.5 * (ended - began), f"CasADi {ca.__version__} lets other threads in: symbols may get corrupted"
