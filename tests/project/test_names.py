"""Modules are called after what they hold."""

import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[2]
EMPTY_WORDS = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "tools_misc"}


def modules() -> list[Path]:
    return [path for room in ("app", "core", "viz", "benchmarks", "resources") for path in (ROOT / room).rglob("*.py")]


def test_no_module_is_called_like_one_of_the_standard_library():
    taken = {path for path in modules() if path.stem in sys.stdlib_module_names and not path.stem.startswith("__")}
    assert not taken


def test_no_empty_words():
    assert not [path for path in modules() if path.stem in EMPTY_WORDS]


def test_test_files_have_names_of_their_own():
    count = Counter(path.name for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [name for name, number in count.items() if number > 1]


def test_no_packages_under_tests():
    assert not list((ROOT / "tests").rglob("__init__.py"))


ONE_MEANING = {
    "along_sensor": "a force along a sensor",
    "assemblies": "sub-assemblies: other files as parts of a machine",
    "channels": "the quantities of a run by name",
    "contact": "contact of shapes: its force, its look",
    "clutch": "dry friction between two joints",
    "motions": "planned motions, and the function that plans one",
    "plan": "what is laid out before it is done: steps of generated C code, segments of a motion",
    "command": "what a person can ask for, declared once",
    "derivation": "the equations of a robot, step by step",
    "design": "parameters of a machine found by optimisation",
    "dynamics": "forces and accelerations",
    "elastic_stops": "joint limits that give way",
    "ellipsoids": "manipulability ellipsoids",
    "export": "writing what is shown into files or as text for other programs",
    "expressions": "what a person writes between braces or on a line",
    "files": "opening and saving documents",
    "film": "films of a run",
    "findings": "what is wrong or doubtful, said to a person",
    "forces": "force elements of the document",
    "formats": "the formats of files that there are, a row each",
    "gear": "two joints coupled by a ratio",
    "hold": "a sensor held at a value",
    "in_joint": "a force in a coordinate of a joint",
    "in_series": "a spring and a damper one behind the other",
    "kinematics": "positions and velocities",
    "line": "a force on the line between two points",
    "meshes": "triangles of bodies",
    "mobility": "freedoms and redundant constraints",
    "model": "the whole document",
    "over_strands": "a force over joints and sensors: a tendon",
    "panel": "the panel of its room",
    "reader": "a format is read",
    "regressor": "inverse dynamics, linear in its parameters",
    "response": "a robot under torques given as formulas",
    "rod": "a massless rod",
    "run": "a simulation",
    "sensors": "measurements between frames",
    "settings": "what the user has chosen",
    "study": "many rows of a machine whose numbers vary",
    "signals": "what formulas of time and state may call by name",
    "sources": "the files that a foreign reader gets to see, within bounds",
    "text": "values as text",
    "universal_rod": "a massless rod that cannot spin about its own axis",
    "wrench": "a force and a torque",
    "writer": "a format is written",
}
"""Names that files in several rooms bear, and the one thing they mean there."""


def test_a_name_of_several_files_has_one_meaning():
    files = [path for room in ("app", "core", "viz") for path in (ROOT / room).rglob("*.py") if path.stem[:2] != "__"]
    looks = {path.stem for path in files if path.parent == ROOT / "viz" / "drawlist" / "joints"}
    assert looks <= {path.stem for path in (ROOT / "core" / "joints").glob("*.py")}, "a look bears its kind's name"
    count = Counter(path.stem for path in files if path.parent != ROOT / "viz" / "drawlist" / "joints")
    assert {name for name, number in count.items() if number > 1} == ONE_MEANING.keys()
