"""The integrators' code: made of the texts that are there, read without its compiler, mended or refused in words."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.codegen import object_cache, object_code
from core.errors import SimulationError
from core.simulation.machine_code import intermediate
from core.simulation.machine_code.intermediate import Unfit, entries, library_of, read, telling, unfit, write
from core.simulation.machine_code.making import made_by, outdated

ROOT = Path(intermediate.__file__).parents[3]
SMALL = "methods.semi_implicit_euler.impulse_step"
C_LIBRARY = {"sqrt", "pow", "cbrt", "ceil", "floor", "memset", "memcpy", "memmove"}
OWN_TREE = pytest.mark.skipif(ROOT.name == "site-packages", reason="texts are changed in a copy of the checkout")


def test_the_code_is_that_of_the_texts_and_of_this_compiler():
    assert not outdated(), f"Make it with: python -m {intermediate.__package__}.making"
    assert read(SMALL).made_by == made_by()


def test_an_entry_calls_nothing_but_the_c_library():
    assert {name for each in entries() for name in read(each).needed} <= C_LIBRARY


@pytest.fixture
def kept(tmp_path, monkeypatch):
    """The folder of the code, a copy of it; without the compiler."""
    shutil.copytree(intermediate.FOLDER, tmp_path / "code")
    monkeypatch.setattr(intermediate, "FOLDER", tmp_path / "code")
    monkeypatch.setattr(intermediate, "compiler_is_there", lambda: False)
    monkeypatch.setenv("KINETOSTAT_CACHE", "")
    return tmp_path / "code"


def spoil(path, share):
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)] if share < 1.0 else bytes([data[0] ^ 255]) + data[1:])


@pytest.mark.parametrize(("share", "why"), [(None, "missing"), (0.0, "damaged"), (0.5, "damaged"), (1.0, "damaged")])
def test_without_compiler_who_lacks_code_is_told_what_to_do(kept, share, why):
    path = kept / f"{SMALL}.bc"
    path.unlink() if share is None else spoil(path, share)
    with pytest.raises(SimulationError, match=f"'{re.escape(SMALL)}' is {why}.*pip install"):
        library_of(SMALL)
    assert library_of("methods.runge_kutta.within_entry").address("entry")


def test_code_of_a_later_llvm_is_refused_with_both_versions(kept):
    write(SMALL, read(SMALL)._replace(llvm=[99, 1, 0]))
    with pytest.raises(SimulationError, match=r"written by LLVM 99\.1\.0, and here is .*--upgrade llvmlite"):
        library_of(SMALL)


def test_code_that_llvm_cannot_read_any_more_is_refused_with_the_version_that_can(kept):
    write(SMALL, read(SMALL)._replace(bitcode=b"BC\xc0\xdeof another age"))
    made = made_by()["llvmlite"]
    with pytest.raises(SimulationError, match=rf"cannot read the code.*pip install llvmlite=={re.escape(made)}"):
        library_of(SMALL)


def test_code_of_another_text_is_told_apart(kept):
    write(SMALL, read(SMALL)._replace(sources="of another text"))
    with pytest.raises(Unfit, match="another text"):
        read(SMALL)
    assert unfit(entries()) == {SMALL: "was made of another text"}


# ------------------------------------------------------------------------------- object code


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder for object code."""
    monkeypatch.setenv("KINETOSTAT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def object_file(cache, name):
    """Where an entry's object code is kept; threads of tests before may keep other code in the same folder."""
    return cache / f"{object_code._key(read(name).bitcode)}.o"


def made(name):
    """What is said when an entry is loaded."""
    said = []
    with telling(said.append):
        assert library_of(name).address("entry")
    return said


def test_object_code_is_made_once_and_whoever_waits_for_it_is_told(cache):
    assert made(SMALL) == ["Making machine code of the integrators: once on this computer …"]
    assert made(SMALL) == []
    assert object_file(cache, SMALL).is_file()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_damaged_object_code_is_made_anew(cache, share):
    made(SMALL)
    spoil(object_file(cache, SMALL), share)
    assert made(SMALL)
    assert not made(SMALL)


def test_object_code_of_something_else_is_made_anew(cache):
    other = "methods.runge_kutta.within_entry"
    made(SMALL)
    made(other)
    shutil.copy(object_file(cache, other), object_file(cache, SMALL))
    assert made(SMALL)


def test_another_processor_gets_code_of_its_own(cache, monkeypatch):
    made(SMALL)
    here, own = object_code.processor(), object_file(cache, SMALL)
    monkeypatch.setattr(object_code, "processor", lambda: f"{here} of another make")
    assert made(SMALL)
    assert object_file(cache, SMALL) != own
    assert object_file(cache, SMALL).is_file()
    assert own.is_file()


def test_where_nothing_can_be_kept_code_is_made_each_time(tmp_path, monkeypatch):
    monkeypatch.setattr(object_cache, "folder", lambda: None)
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


UNFIT = "from core.simulation.machine_code.intermediate import *; print(*unfit(entries()))"
EULER = f"""
import sys
from core.simulation.machine_code.intermediate import library_of, telling
with telling(print):
    library_of({SMALL!r}).address("entry")
print("numba" in sys.modules)
"""


@OWN_TREE
def test_code_is_outdated_by_what_its_text_imports_and_by_nothing_else(checkout):
    tolerances = checkout / "core" / "numerics" / "tolerances.py"
    before = tolerances.read_text()
    assert ended(child(checkout, UNFIT)) == ""
    tolerances.write_text(before + "\n# more\n")
    found = ended(child(checkout, UNFIT)).split()
    tolerances.write_text(before)
    assert "equations.entry_points.full_derivative" in found
    assert not [name for name in found if name.startswith("methods")]


@OWN_TREE
def test_where_a_text_has_changed_two_processes_at_once_make_the_code_anew(checkout):
    text = checkout / "core" / "simulation" / "methods" / "semi_implicit_euler.py"
    text.write_text(text.read_text() + "\n# changed\n")
    both = [child(checkout, EULER) for _ in range(2)]
    for process in both:
        words = ended(process)
        assert "Compiling 'methods.semi_implicit_euler', whose code was made of another text" in words
        assert words.endswith("False")
    assert "Compiling" not in ended(child(checkout, EULER))
    assert ended(child(checkout, UNFIT)) == ""


@OWN_TREE
def test_two_first_starts_at_once_share_a_cache(checkout, tmp_path):
    both = [child(checkout, EULER, KINETOSTAT_CACHE=str(tmp_path / "cache")) for _ in range(2)]
    assert [ended(process).splitlines()[-1] for process in both] == ["False", "False"]
    assert not list((tmp_path / "cache").glob("*.part"))


BUILDING = """
import sys


class NothingElse:
    def find_spec(self, name, path=None, target=None):
        known = sys.stdlib_module_names | {"core", "numpy", "numba", "llvmlite"}
        if name.partition(".")[0] not in known:
            raise ImportError(f"{name} is not there where the program is built")


sys.meta_path.insert(0, NothingElse())
from importlib import import_module
from core.simulation.machine_code import compiler, making
for name in making.entries():
    module, _, function = name.rpartition(".")
    print(getattr(import_module(f"core.simulation.{module}"), function).name)
"""


@OWN_TREE
def test_who_builds_the_program_needs_the_compiler_and_nothing_else(checkout):
    assert ended(child(checkout, BUILDING)).split() == entries()
