"""What a command loads before it answers, and the window before its first picture: no more than they use."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.panels import declared_panels
from core.mechanics.elements.constraints import CONSTRAINTS
from core.mechanics.elements.forces import FORCES
from core.programs.function_builder import FUNCTIONS
from resources import EXAMPLES

LIBRARIES = {
    "av",
    "flint",
    "h5py",
    "llvmlite",
    "lxml",
    "matplotlib",
    "multiprocessing.pool",
    "numba",
    "PIL",
    "platformdirs",
    "PySide6",
    "pyqtgraph",
    "scipy",
    "sympy",
    "tomllib",
    "trimesh",
    "vtkmodules",
}
"""What takes long to load."""
OTHERS = {
    "core.constraints.closed_forms",
    "core.robotica",
    "core.simulation",
    "core.symbolic",
    "viz",
    "app.panels",
    "app.window",
}
"""Rooms that answer other questions."""
IN_FRONT = {place.id for place in declared_panels() if not place.tab_with}
"""Panels that are seen at the start."""
WATCHED = """
import sys
from app.__main__ import main
sys.argv = ["kinetostat", *{arguments!r}]
code = main()
print("LOADED", *sys.modules)
sys.exit(code)
"""
PICTURE = """
import dataclasses, linecache, os, sys
defined, define = [], dataclasses.dataclass
dataclasses.dataclass = lambda *cls, **options: (
    defined.append(sys._getframe(1).f_globals["__name__"]), define(*cls, **options)
)[1]
from app.window import start
frame = start.SplashFrame.show_at_once
start.SplashFrame.show_at_once = lambda self: (
    frame(self), print("FRAME", *sys.modules), print("WORDS", self.words.text()),
)
from PySide6.QtWidgets import QApplication, QDockWidget
style = QApplication.setStyleSheet
QApplication.setStyleSheet = lambda self, sheet: (
    print("STYLED", len(self.allWidgets()), sum(isinstance(each, QDockWidget) for each in self.allWidgets())),
    style(self, sheet),
)
read = lambda: sum("kinetostat" in file or "/core/" in file for file in linecache.cache)
start.start_deferred_services = lambda window: (
    print("LOADED", *sys.modules), print("DATACLASSES", *defined), print("SOURCES READ", read()),
    print("HASTY", window.viewport.scene.hasty, window.viewport.scene.quality), sys.stdout.flush(), os._exit(0),
)
start.run_program({file!r}, ["kinetostat"])
"""

LATE = """
from PySide6.QtCore import QTimer
from app.window.start import FirstPictureWait
draw, delay = FirstPictureWait.draw_first_picture, 1500
FirstPictureWait.draw_first_picture = lambda self: QTimer.singleShot(delay, lambda: draw(self))
"""
"""On a busy machine the first picture comes late; what is started by time must wait for it all the same."""


def answer(code, environment=os.environ):
    """What a new process prints, line by line."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=environment, timeout=180
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def loaded(lines, word="LOADED"):
    """The modules that were there."""
    return set(next(line for line in lines if line.startswith(word)).split()[1:])


def among(modules, names):
    """Which of these are loaded, or something in them."""
    return {name for name in names if any(each == name or each.startswith(f"{name}.") for each in modules)}


@pytest.mark.parametrize("command", ["info", "check"])
def test_telling_of_an_arm_loads_no_library_but_of_numbers_graphs_and_text(command):
    modules = loaded(answer(WATCHED.format(arguments=[command, str(EXAMPLES / "puma560.kst")])))
    assert among(modules, LIBRARIES | OTHERS) == set()


@pytest.mark.parametrize("name", ["four_bar", "stewart"])
def test_checking_a_machine_with_loops_loads_no_scipy_and_compiles_nothing(name):
    modules = loaded(answer(WATCHED.format(arguments=["check", str(EXAMPLES / f"{name}.kst")])))
    assert (
        among(modules, {"scipy", "llvmlite", "core.constraints.closed_forms", "core.simulation", "core.functions"})
        == set()
    )


def test_a_native_file_is_read_without_readers_of_other_formats():
    modules = loaded(answer(WATCHED.format(arguments=["info", str(EXAMPLES / "puma560.kst")])))
    others = {"urdf", "xacro", "mjcf", "dh.csv_table", "dh.robotica_reader", "dh.toml_table", "meshes.meshes"}
    assert among(modules, {f"core.files.{each}" for each in others}) == set()
    kinds = {each.__module__ for each in (*FORCES.values(), *CONSTRAINTS.values())}
    assert among(modules, kinds) <= {"core.mechanics.elements.constraints.cut_joint"}


def test_a_run_loads_neither_window_nor_symbols():
    arguments = ["run", str(EXAMPLES / "pendulum.kst"), "--duration", "0.1"]
    modules = loaded(answer(WATCHED.format(arguments=arguments)))
    others = {"numba", "scipy", "PySide6", "vtkmodules", "sympy", "flint", "pyqtgraph", "h5py", "lxml", "trimesh"}
    assert among(modules, others) == set()
    assert among(modules, {"core.symbolic", "core.robotica", "core.functions.catalogue", "viz"}) == set()


def test_the_first_frame_says_what_is_coming_before_anything_else_is_loaded():
    lines = answer(PICTURE.format(file=str(EXAMPLES / "four_bar.kst")))
    assert "WORDS Opening four_bar.kst …" in lines
    assert among(loaded(lines, "FRAME"), (LIBRARIES | {"numpy", "casadi"}) - {"PySide6", "platformdirs"}) == set()
    assert among(loaded(lines, "FRAME"), {"core.model", "core.functions", "viz"}) == set()


def test_the_first_picture_waits_for_nothing_that_it_does_not_show():
    lines = answer(LATE + PICTURE.format(file=str(EXAMPLES / "puma560.kst")))
    later = LIBRARIES - {"PySide6", "platformdirs", "vtkmodules"}
    assert among(loaded(lines), later) == set()
    assert (
        among(
            loaded(lines),
            {"email", "importlib.metadata", "numpy.ma", "vtkmodules.numpy_interface"},
        )
        == set()
    )
    parts = {
        "core.symbolic",
        "core.constraints.closed_forms",
        "app.formulas",
        "app.plotting.chart",
        "app.panels.output.card",
    }
    assert among(loaded(lines), parts) == set()
    made = {place.id for place in declared_panels() if f"app.panels.{place.id}.panel" in loaded(lines)}
    assert made == IN_FRONT
    styled, docks = next(line.split()[1:] for line in lines if line.startswith("STYLED"))
    assert int(docks) == len(declared_panels()) < int(styled)  # the style sheet comes when everything is put together
    assert loaded(lines, "DATACLASSES") == {"core.later"}  # whose methods are compiled when somebody calls them
    assert "HASTY True plain" in lines  # what smooths edges is made for the picture after it
    (read,) = (int(line.split()[-1]) for line in lines if line.startswith("SOURCES READ"))
    assert read < 20  # what was loaded before the application was made


def test_threads_for_large_matrices_sleep_when_there_is_nothing_to_do():
    """By themselves they take 20 ms and more for each product."""
    spent = (
        "import app, numpy, time; a = numpy.ones((300, 300)); a @ a; began = time.process_time(); time.sleep(0.2);"
        "print(time.process_time() - began)"
    )
    several = {key: value for key, value in os.environ.items() if not key.endswith("_NUM_THREADS")}
    assert min(float(answer(spent, several)[0]) for _ in range(3)) < 0.003


def test_what_tables_name_is_there():
    for function in FUNCTIONS.values():
        build = getattr(function.build, "func", function.build)
        assert callable(build.found())


def test_packages_that_look_when_asked_offer_what_they_say():
    for package in ("core.files", "core.functions", "core.simulation"):
        module = __import__(package, fromlist=["__all__"])
        for name in module.__all__:
            assert getattr(module, name) is not None
        with pytest.raises(AttributeError, match="no attribute 'nothing'"):
            _ = module.nothing
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        types = next(each for each in tree.body if isinstance(each, ast.If))
        shown = {alias.asname or alias.name for each in types.body for alias in each.names}  # for type checkers
        assert shown <= set(module.__all__)
