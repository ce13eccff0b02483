"""Files do not import each other in circles, neither when loaded nor inside functions, but for a few reasons."""

import ast
from functools import cache
from pathlib import Path

from tests.sources import parsed

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "core", "viz")

CLOSED_BY = {
    (
        "core.simulation.run.run",
        "core.simulation.run.run_file",
    ): "a run saves and loads itself; only then HDF5 is needed",
}
"""Imports that close a circle, and why they may. (Those for types alone do not count.)"""

KNOTS = {
    "core.simulation.run.run": (3, "a run saves and loads itself"),
}
"""A file of each circle that there is with imports for types included: how many files it has, and why it is."""


def modules():
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imports(tree, known):
    """(module, whether for types alone) of all that a file imports anywhere."""
    waiting = [(tree, False)]
    while waiting:
        node, types = waiting.pop()
        names = ()
        if isinstance(node, ast.ImportFrom) and node.module:
            whole = (f"{node.module}.{alias.name}" for alias in node.names)
            names = (name if name in known else node.module for name in whole)
        elif isinstance(node, ast.Import):
            names = (alias.name for alias in node.names)
        yield from ((name, types) for name in names if name in known)
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            waiting += [(each, True) for each in node.body] + [(each, types) for each in node.orelse]
        elif not isinstance(node, ast.expr):
            waiting += [(each, types) for each in ast.iter_child_nodes(node)]


def circle(graph):
    """One circle of a graph, its first member repeated at the end; [] if there is none."""
    done = set()

    def walk(node, way):
        if node in way:
            return [*way[way.index(node) :], node]
        if node in done:
            return []
        for other in sorted(graph[node]):
            if found := walk(other, [*way, node]):
                return found
        done.add(node)
        return []

    return next((found for node in sorted(graph) if (found := walk(node, []))), [])


@cache
def all_imports():
    known = modules()
    return {name: set(imports(parsed(path), known)) for name, path in known.items()}


def whole_graph(types=False):
    """File → files it imports, also for types alone if `types`."""
    return {
        name: {other for other, for_types in found if types or not for_types} - {name}
        for name, found in all_imports().items()
    }


def graph_of(exceptions):
    graph = {name: set(imported) for name, imported in whole_graph().items()}
    for importer, imported in exceptions:
        assert imported in graph[importer], f"{importer} does not import {imported} any more: take it from CLOSED_BY"
        graph[importer].discard(imported)
    return graph


def reached(graph, start):
    """What a file imports, and what that imports, and so on."""
    found, left = set(), [start]
    while left:
        new = graph[left.pop()] - found
        found |= new
        left += new
    return found


def knots(graph):
    """The sets of files each of which leads to all others of its set."""
    reach = {name: reached(graph, name) for name in graph}
    return {frozenset(each for each in reach[name] if name in reach[each]) for name in graph if name in reach[name]}


def test_no_file_leads_back_to_itself():
    assert not circle(graph_of(CLOSED_BY)), "Move what both need below them, or give the reason in CLOSED_BY"


def test_every_exception_is_needed():
    for each in CLOSED_BY:
        assert circle(graph_of([other for other in CLOSED_BY if other != each])), f"{each} closes no circle"


def test_a_knot_is_found_whole():
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert knots(graph) == {frozenset("abc"), frozenset("de")}


def test_circles_with_types_are_those_that_are_known():
    found = knots(whole_graph(types=True))
    new = [sorted(knot) for knot in found if knot.isdisjoint(KNOTS)]
    assert not new, "Move what all need below them, or give the reason in KNOTS"
    sizes = {name: len(knot) for knot in found for name in knot & KNOTS.keys()}
    assert {name: sizes.get(name, 0) for name in KNOTS} == {name: size for name, (size, _) in KNOTS.items()}
