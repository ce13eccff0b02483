"""What begins with an underscore is used in its own file only."""

import ast
from pathlib import Path

from tests.sources import parsed

ROOT = Path(__file__).parents[2]
FILES = sorted(path for room in ("core", "viz", "app") for path in (ROOT / room).rglob("*.py"))
OF_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
"""Public members of named tuples, in spite of their underscore."""
BY_STRING = {"getattr", "setattr", "hasattr", "delattr"}
FOREIGN = {
    "core/apart/serving.py": {"_exit"},
    "core/files/xacro/library.py": {"_global_symbols"},
    "core/files/xacro/process.py": {"_eval_find", "_exit"},
    "core/machine_code/making.py": {"_exit"},
}
"""Private members of other libraries (xacro, `os._exit`) for which they offer no public one."""


def private(name):
    return name.startswith("_") and not name.startswith("__") and name not in OF_TUPLES


def reaches(tree):
    """Private attributes of other objects that a file uses and does not define itself."""
    nodes = list(ast.walk(tree))
    own = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    own |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and of_self(node)}
    own |= {node.target.id for node in nodes if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)}
    used = (node for node in nodes if isinstance(node, ast.Attribute) and private(node.attr) and not of_self(node))
    return {node.attr for node in used} - own


def named(tree):
    """Private names that a file imports, and private attributes of other objects that it names in a string."""
    nodes, found = list(ast.walk(tree)), set()
    for node in nodes:
        if isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "level", 0) == 0:
            paths = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            found |= {part for path in paths for part in path.split(".") if private(part)}
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in BY_STRING:
            subject, name = [*node.args, None, None][:2]
            own = isinstance(subject, ast.Name) and subject.id in ("self", "cls")
            if isinstance(name, ast.Constant) and isinstance(name.value, str) and private(name.value) and not own:
                found.add(name.value)
    return found


def of_self(node):
    """Whether an attribute is one of the object, its class or its base."""
    value = node.value
    if isinstance(value, ast.Call):
        return isinstance(value.func, ast.Name) and value.func.id == "super"
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def test_nobody_reaches_into_others():
    found = {path.relative_to(ROOT).as_posix(): reaches(parsed(path)) | named(parsed(path)) for path in FILES}
    reaching = {name: names for name, names in found.items() if names}
    assert reaching == FOREIGN, "Make it public, or ask its owner for it"


def test_a_reach_is_seen_and_an_own_name_is_none():
    assert reaches(ast.parse("def f(mech):\n    return mech._program.symbolic")) == {"_program"}
    own = "class A:\n    def __init__(self):\n        self._x = 1\n    def same(self, other):\n        return other._x"
    assert reaches(ast.parse(own)) == set()
    assert reaches(ast.parse("value._replace(x=super()._y)")) == set()


def test_private_names_in_imports_and_strings_are_seen():
    for text, name in (
        ("from numpy._core import multiarray", "_core"),
        ("import casadi._casadi", "_casadi"),
        ("from typing import _GenericAlias", "_GenericAlias"),
        ("def f(x):\n    return getattr(x, '_value', 0)", "_value"),
    ):
        assert named(ast.parse(text)) == {name}
    assert named(ast.parse("from __future__ import annotations\ngetattr(self, '_own')\nhasattr(x, '_fields')")) == set()
