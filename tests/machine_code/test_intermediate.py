"""The integrators' code: made from the texts that are there, repaired where it is damaged, kept where it can be."""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.codegen import object_cache, object_code
from core.errors import SimulationError
from core.machine_code import intermediate, making, supply
from core.machine_code.intermediate import (
    UnusableCode,
    entry_point_names,
    find_unusable_code,
    read,
    write_code,
)
from core.machine_code.supply import BackgroundCompilation, load_code, report_waiting

ROOT = Path(intermediate.__file__).parents[2]
SMALL = "simulation.methods.semi_implicit_euler.impulse_step"
OTHER = "simulation.methods.runge_kutta.within_entry"
C_LIBRARY = {
    "sqrt",
    "sin",
    "cos",
    "atan2",
    "exp",
    "pow",
    "cbrt",
    "ceil",
    "rint",
    "floor",
    "memset",
    "memcpy",
    "memmove",
}
OWN_TREE = pytest.mark.skipif(ROOT.name == "site-packages", reason="texts are changed in a copy of the checkout")


def test_the_code_is_that_of_the_texts_and_of_this_compiler():
    assert not making.find_outdated_entries(), f"Make it with: python -m {intermediate.__package__}.making"


def test_an_entry_calls_nothing_but_the_c_library():
    assert {name for each in entry_point_names() for name in read(each).needed} <= C_LIBRARY


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of the code, with two entries; nothing is made ahead."""
    folder = tmp_path / "code"
    folder.mkdir()
    for name in (SMALL, OTHER):
        shutil.copy(intermediate.FOLDER / f"{name}.bc", folder)
    monkeypatch.setattr(intermediate, "FOLDER", folder)
    monkeypatch.setattr(supply.AHEAD, "start", lambda: None)
    monkeypatch.setenv("KINETOSTAT_CACHE", "")
    return folder


def corrupt(path, share):
    """Remove a file, cut it off, or change its first byte."""
    data = path.read_bytes()
    path.unlink()
    if share is not None:
        path.write_bytes(data[: int(len(data) * share)] if share < 1.0 else bytes([data[0] ^ 255]) + data[1:])


@pytest.mark.parametrize(("share", "why"), [(None, "missing"), (0.0, "damaged"), (0.5, "damaged"), (1.0, "damaged")])
def test_code_that_is_missing_or_damaged_is_made_again(kept, share, why):
    before = read(SMALL)
    corrupt(kept / f"{SMALL}.bc", share)
    assert find_unusable_code([SMALL, OTHER]) == {SMALL: f"is {why}"}
    said = []
    with report_waiting(said.append):
        assert load_code(SMALL).library.address("entry")
    assert said[0] == f"Compiling the integrators, whose stored code is {why}: takes a few seconds …"
    making.make_bitcode(SMALL)
    assert read(SMALL) == before


def test_code_compiled_quickly_is_kept_and_serves_until_optimised_code_is_made(kept, monkeypatch):
    (kept / f"{SMALL}.bc").unlink()
    assert not load_code(SMALL).is_final
    assert (kept / f"{SMALL}.quick").is_file()
    monkeypatch.setattr("core.machine_code.compiler.compile_entry", None)
    assert not load_code(SMALL).is_final
    monkeypatch.undo()
    monkeypatch.setattr(intermediate, "FOLDER", kept)
    making.make_bitcode(SMALL)
    assert [path.name for path in kept.glob(f"{SMALL}.*")] == [f"{SMALL}.bc"]
    assert load_code(SMALL).is_final


def test_where_texts_changed_since_they_were_imported_another_process_compiles_them(kept, monkeypatch):
    (kept / f"{SMALL}.bc").unlink()
    called = []
    monkeypatch.setattr(supply, "BEGAN", 0.0)
    monkeypatch.setattr(
        supply, "compile_in_subprocess", lambda *names: called.extend(names) or making.make_bitcode(*names)
    )
    assert load_code(SMALL).is_final
    assert called == [SMALL]
    assert not find_unusable_code([SMALL])


def test_code_that_llvm_cannot_read_is_made_again_for_this_run(kept):
    write_code(SMALL, read(SMALL)._replace(bitcode=b"BC\xc0\xdeof another age"))
    assert load_code(SMALL).library.address("entry")


def test_code_of_a_later_llvm_is_made_again(kept):
    write_code(SMALL, read(SMALL)._replace(llvm=[99, 1, 0]))
    with pytest.raises(UnusableCode, match=r"written by LLVM 99\.1\.0, but LLVM "):
        read(SMALL)
    making.make_bitcode(SMALL)
    assert not find_unusable_code([SMALL])


def test_facts_of_another_version_are_no_code(kept):
    body = b'{"who": "another version"}\nBC'
    (kept / f"{SMALL}.bc").write_bytes(hashlib.sha256(body).digest() + body)
    assert find_unusable_code([SMALL]) == {SMALL: "was written by another version of Kinetostat"}


def test_a_changed_text_that_means_the_same_is_not_compiled_again(kept, monkeypatch):
    before = read(SMALL)
    write_code(SMALL, before._replace(sources="of another text"))
    assert find_unusable_code([SMALL]) == {SMALL: "was compiled from other sources"}
    monkeypatch.setattr("core.machine_code.compiler.compile_entry", None)
    making.make_bitcode(SMALL)
    assert read(SMALL) == before


def test_a_text_that_means_something_else_is_compiled_again(kept):
    before = read(SMALL)
    write_code(SMALL, before._replace(sources="of another text", text="of another function", bitcode=b"of that"))
    making.make_bitcode(SMALL)
    assert read(SMALL) == before


def test_where_the_package_cannot_be_written_the_cache_of_the_user_serves(kept, tmp_path, monkeypatch):
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "cache"))
    (kept / f"{SMALL}.bc").unlink()
    monkeypatch.setattr(intermediate.os, "access", lambda path, mode: Path(path) != kept)
    making.make_bitcode(SMALL)
    assert list((tmp_path / "cache").rglob("*.bc")) == [tmp_path / "cache" / "integrators" / f"{SMALL}.bc"]
    assert not find_unusable_code([SMALL, OTHER])


def test_where_nothing_can_be_written_code_is_made_for_this_process(kept, monkeypatch):
    (kept / f"{SMALL}.bc").unlink()
    monkeypatch.setattr(intermediate.os, "access", lambda path, mode: False)
    assert load_code(SMALL).library.address("entry")
    assert find_unusable_code([SMALL])


def test_a_process_that_fails_is_an_error_with_its_last_words(monkeypatch):
    monkeypatch.setattr(supply, "making", supply.report_waiting)  # a module that does not exist
    with pytest.raises(
        SimulationError, match=f"The machine code of '{SMALL}' could not be compiled: .*No module named"
    ):
        supply.compile_in_subprocess(SMALL)


# ------------------------------------------------------------------------------- object code


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder for object code."""
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def object_file(cache, name):
    """Where an entry's object code is kept; threads of tests before may keep other code in the same folder."""
    return cache / f"{object_code._key(read(name).bitcode, object_code.QUICK)}.o"


def made(name):
    """What is said when an entry is loaded."""
    said = []
    with report_waiting(said.append):
        assert load_code(name).library.address("entry")
    return said


def test_object_code_is_made_once_and_whoever_waits_for_it_is_told(cache):
    assert made(SMALL) == ["Compiling the integrators for this computer (once) …"]
    assert made(SMALL) == []
    assert object_file(cache, SMALL).is_file()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_damaged_object_code_is_made_again(cache, share):
    made(SMALL)
    corrupt(object_file(cache, SMALL), share)
    assert made(SMALL)
    assert not made(SMALL)


def test_object_code_of_something_else_is_made_again(cache):
    made(SMALL)
    made(OTHER)
    shutil.copy(object_file(cache, OTHER), object_file(cache, SMALL))
    assert made(SMALL)


def test_another_processor_gets_code_of_its_own(cache, monkeypatch):
    made(SMALL)
    here, own = object_code.processor_identification(), object_file(cache, SMALL)
    monkeypatch.setattr(object_code, "processor_identification", lambda: f"{here} of another make")
    assert made(SMALL)
    assert object_file(cache, SMALL) != own
    assert object_file(cache, SMALL).is_file()
    assert own.is_file()


def test_where_nothing_can_be_kept_code_is_made_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(object_cache, "cache_folder", lambda: None)
    assert made(SMALL)
    assert made(SMALL)


# ------------------------------------------------------------------------------- a checkout of its own


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """A copy of `core` with its code."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(ROOT / "core", folder / "core", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").touch()
    return folder


def child(folder, text, **environment):
    """A program that begins in a folder."""
    return subprocess.Popen(
        [sys.executable, "-c", text],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process):
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return out.strip()


UNFIT = "from core.machine_code.intermediate import *; print(*find_unusable_code(entry_point_names()))"
EULER = f"""
from core.machine_code.supply import AHEAD, load_code, report_waiting
AHEAD.start = lambda: None
with report_waiting(print):
    load_code({SMALL!r}).library.address("entry")
print("ready")
"""


@OWN_TREE
def test_code_is_outdated_by_what_its_text_imports_and_by_nothing_else(checkout):
    tolerances = checkout / "core" / "numerics" / "tolerances.py"
    before = tolerances.read_text()
    assert ended(child(checkout, UNFIT)) == ""
    tolerances.write_text(before + "\n# more\n")
    found = ended(child(checkout, UNFIT)).split()
    tolerances.write_text(before)
    assert "simulation.equations.entry_points.full_derivative" in found
    assert not [name for name in found if name.startswith("simulation.methods")]


@OWN_TREE
def test_where_a_text_has_changed_two_processes_at_once_make_the_code_again(checkout):
    text = checkout / "core" / "simulation" / "methods" / "semi_implicit_euler.py"
    text.write_text(text.read_text() + "\n# changed\n")
    both = [child(checkout, EULER) for _ in range(2)]
    for process in both:
        words = ended(process)
        assert "Compiling the integrators, whose stored code was compiled from other sources" in words
        assert words.endswith("ready")
    assert ended(child(checkout, UNFIT)).split() == [SMALL]
    ended(child(checkout, f"from core.machine_code import making; making.make({SMALL!r})"))
    assert "Compiling" not in ended(child(checkout, EULER))
    assert ended(child(checkout, UNFIT)) == ""


@OWN_TREE
def test_two_first_starts_at_once_share_a_cache(checkout, tmp_path):
    both = [child(checkout, EULER, KINETOSTAT_CACHE=str(tmp_path / "cache")) for _ in range(2)]
    assert [ended(process).splitlines()[-1] for process in both] == ["ready", "ready"]
    assert not list((tmp_path / "cache").glob("*.part"))


AHEAD = """
import threading
from core.machine_code.supply import BackgroundCompilation
ahead, done = BackgroundCompilation(), threading.Event()
ahead.start(lambda: done.set() if ahead.compiled_count == ahead.total and not ahead.is_busy else None)
done.wait(120)
print(ahead.compiled_count, ahead.total)
"""


@OWN_TREE
def test_what_is_missing_is_made_ahead_in_another_process(checkout):
    for name in (SMALL, OTHER):
        (checkout / "core/machine_code/intermediate_code" / f"{name}.bc").unlink()
    assert ended(child(checkout, AHEAD)) == "2 2"
    assert ended(child(checkout, UNFIT)) == ""


PREFERRED = f"""
import threading
from core.machine_code.supply import BackgroundCompilation
ahead, done = BackgroundCompilation(), threading.Event()
ahead.prioritise({SMALL!r})
ahead.start(lambda: None if ahead.is_busy else done.set())
done.wait(120)
print(*ahead._lines)
"""


@OWN_TREE
def test_what_a_run_asks_for_is_made_before_what_nobody_asked_for(checkout):
    missing = [
        "simulation.methods.adams.forget",
        "simulation.methods.adams.take_back",
        "simulation.methods.adams.within_entry",
        SMALL,
    ]
    for name in missing:
        (checkout / "core/machine_code/intermediate_code" / f"{name}.bc").unlink()
    made = ended(child(checkout, PREFERRED)).split()
    assert sorted(made) == sorted(missing)
    assert made.index(SMALL) <= 1  # after the one that it was at when it was asked


OBJECTS = f"""
import threading
from core.codegen import object_code
from core.machine_code import making, supply
making.entry_point_names = lambda: [{SMALL!r}]
making.find_outdated_entries = lambda: []
quick = supply.load_code({SMALL!r})
done = threading.Event()
supply.AHEAD = ahead = supply.BackgroundCompilation()
ahead.start(lambda: done.set() if ahead.has_compiled({SMALL!r}) else None)
assert done.wait(120)
ahead._process.end()
full = supply.load_code({SMALL!r})
print(quick.is_final, full.is_final, ahead.total)
"""


def test_code_made_in_a_hurry_gives_way_to_better_code(tmp_path):
    environment = {"KINETOSTAT_CACHE": str(tmp_path / "cache"), "KINETOSTAT_PLAIN_CODE": ""}
    assert ended(child(ROOT, OBJECTS, **environment)) == "False True 1"


def test_where_all_is_there_nothing_is_made_ahead():
    ahead = BackgroundCompilation()
    ahead.start()
    assert (ahead.total, ahead.is_busy) == (0, False)


BUILDING = """
import sys


class NothingElse:
    def find_spec(self, name, path=None, target=None):
        known = sys.stdlib_module_names | {"core", "numpy", "llvmlite"}
        if name.partition(".")[0] not in known:
            raise ImportError(f"{name} is not there where the program is built")


sys.meta_path.insert(0, NothingElse())
from importlib import import_module
from core.machine_code import compiler, making
for name in making.entry_point_names():
    module, _, function = name.rpartition(".")
    print(getattr(import_module(f"core.{module}"), function).name)
"""


@OWN_TREE
def test_building_the_program_needs_numpy_and_llvmlite_and_nothing_else(checkout):
    assert ended(child(checkout, BUILDING)).split() == entry_point_names()
