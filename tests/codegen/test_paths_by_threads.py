"""Calls from Python straight into machine code: what they share is made once."""

import threading
import time
from functools import cache

import numpy as np

from core.codegen import direct_call
from core.machine_code import supply
from core.machine_code.entry import Entry


def at_once(job):
    """The results of a job that several threads begin together."""
    together, found = threading.Barrier(4), []

    def work():
        together.wait()
        found.append(job())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def test_threads_share_the_functions_that_paths_call(monkeypatch):
    """Else one of them calls what was thrown away with the library of the other."""
    library, made = direct_call.TieredLibrary, []
    for name in ("_build_library", "_method_definition", "_new_function_type"):
        monkeypatch.setattr(direct_call, name, cache(getattr(direct_call, name).__wrapped__))

    def slowly(text):
        time.sleep(0.05)
        made.append(library(text))
        return made[-1]

    monkeypatch.setattr(direct_call, "TieredLibrary", slowly)
    p = np.zeros(1)
    paths = at_once(lambda: direct_call.build_direct_call(0, (), [2], p, (2,), lambda *given: "general", None))
    assert len(made) == 1
    assert [path(1.0) for path in paths] == ["general"] * len(paths)


def test_threads_share_the_machine_code_of_an_entry(monkeypatch):
    made = []

    class Loaded:
        """A library whose functions lie at its own place."""

        def address(self, _name):
            return id(self)

    def slowly(_name):
        time.sleep(0.05)
        made.append(Loaded())
        return supply.LoadedCode(made[-1], is_final=True)

    def nothing(handle: int) -> int:
        return handle

    monkeypatch.setattr(supply, "load_code", slowly)
    entry = Entry(nothing)
    assert set(at_once(lambda: entry.address)) == {id(made[0])}
    assert len(made) == 1
