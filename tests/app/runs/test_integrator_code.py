"""Machine code of the integrators: made by another process on a new machine, read here, waited for stage by stage."""

import os
import threading
from functools import partial
from pathlib import Path

import pytest

from app.runs import integrator_code
from app.runs.integrator_code import IntegratorCode, integrators, stages_for
from core.files import load
from core.functions.context import Cancelled
from core.mechanism import Mechanism
from core.simulation import precompilation
from resources import examples

PATIENCE = 60.0
"""s"""


def note(folder, name):
    """A stage that writes down who went through it."""
    (Path(folder) / f"{name} {os.getpid()}").touch()


def fail(folder):
    """A stage that breaks in any process but the window's."""
    if os.getpid() != int((Path(folder) / "window").read_text()):
        raise RuntimeError("no compiler")
    note(folder, "second")


def who(folder, name):
    return {int(path.name.split()[1]) for path in Path(folder).glob(f"{name} *")}


def never():
    return False


def stages(folder):
    return {name: partial(note, folder, name) for name in ("first", "second")}


def test_on_a_new_machine_another_process_makes_what_is_then_read_here(tmp_path):
    code = IntegratorCode(stages(tmp_path), lambda: tmp_path / "mark")
    assert not code.busy()
    code.begin()
    code.wait(never, "first")
    assert len(who(tmp_path, "first")) == 2
    assert os.getpid() in who(tmp_path, "first")
    code.wait(never)
    code._thread.join(PATIENCE)
    assert not code.busy()
    assert who(tmp_path, "first") == who(tmp_path, "second")
    assert (tmp_path / "mark").exists()


def test_where_it_was_made_before_no_process_is_started(tmp_path, monkeypatch):
    monkeypatch.setattr(integrator_code, "_process", None)
    (tmp_path / "mark").touch()
    for mark in (tmp_path / "mark", None):
        code = IntegratorCode(stages(tmp_path), lambda mark=mark: mark)
        code.begin()
        code.wait(never)
        assert who(tmp_path, "second") == {os.getpid()}


def test_if_the_process_fails_it_is_made_here(tmp_path):
    (tmp_path / "window").write_text(str(os.getpid()))
    code = IntegratorCode(
        {"first": partial(note, tmp_path, "first"), "second": partial(fail, tmp_path)}, lambda: tmp_path / "mark"
    )
    code.begin()
    code.wait(never)
    assert len(who(tmp_path, "first")) == 2
    assert who(tmp_path, "second") == {os.getpid()}


def test_who_waits_can_be_stopped_and_a_stage_that_breaks_keeps_nobody(tmp_path, monkeypatch):
    monkeypatch.setattr(threading, "excepthook", lambda _: None)
    go = threading.Event()

    def breaks():
        go.wait(PATIENCE)
        raise RuntimeError

    code = IntegratorCode({"first": breaks}, lambda: None)
    code.begin()
    with pytest.raises(Cancelled):
        code.wait(lambda: True, "first")
    assert code.busy("first")
    go.set()
    code.wait(never)
    assert not code.busy()


@pytest.mark.parametrize(
    ("name", "method", "wanted"),
    [
        ("puma560", "rk54", ("usual",)),
        ("four_bar", "rk4", ("usual", "loops")),
        ("pendulum", "radau5", ("usual", "stiff")),
    ],
)
def test_a_run_waits_for_what_it_needs(name, method, wanted):
    path = next(example.path for example in examples() if example.name == name)
    assert stages_for(Mechanism(load(path)), method) == wanted


def test_the_mark_is_of_these_texts_and_this_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path))
    mark = precompilation.mark()
    assert mark.parent == tmp_path
    assert mark == precompilation.mark()
    monkeypatch.setattr(precompilation.llvm, "get_host_cpu_name", lambda: "another processor")
    assert precompilation.mark() != mark
    monkeypatch.setenv("KINETOSTAT_CACHE", "")
    assert precompilation.mark() is None


def test_the_program_has_one():
    assert integrators() is integrators()
    assert tuple(precompilation.STAGES) == ("usual", "loops", "stiff")
