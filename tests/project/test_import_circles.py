"""Files do not import each other in circles, neither when loaded nor inside functions, but for a few reasons."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("app", "core", "viz")

CLOSED_BY = {
    ("core.files.assemblies", "core.files.formats"): "a file may hold the machines of other files, of any format",
    (
        "core.simulation.run.run",
        "core.simulation.run.run_file",
    ): "a run saves and loads itself; only then HDF5 is needed",
    ("app.widgets.fields.element_form", "app.widgets.fields.part_editors"): "an element's form has forms of its parts",
    ("app.widgets.fields.element_form", "app.widgets.fields.rows_editor"): "an element's form has forms of its parts",
    ("app.widgets.fields.element_form", "app.widgets.fields.table_editor"): "an element's form has forms of its parts",
}
"""Imports that close a circle, and why they may. (Those for types alone never count.)"""


def modules():
    found = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.py"):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            found[name.removesuffix(".__init__")] = path
    return found


def imports(tree, known):
    """Modules that a file imports anywhere but for types alone."""
    if isinstance(tree, ast.If) and "TYPE_CHECKING" in ast.unparse(tree.test):
        return set().union(*(imports(node, known) for node in tree.orelse), set())
    found = set()
    if isinstance(tree, ast.ImportFrom) and tree.module:
        names = (f"{tree.module}.{alias.name}" for alias in tree.names)
        found = {name if name in known else tree.module for name in names} & known.keys()
    elif isinstance(tree, ast.Import):
        found = {alias.name for alias in tree.names} & known.keys()
    return found.union(*(imports(node, known) for node in ast.iter_child_nodes(tree)), set())


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
def whole_graph():
    known = modules()
    return {name: imports(ast.parse(path.read_text(encoding="utf-8")), known) - {name} for name, path in known.items()}


def graph_of(exceptions):
    graph = {name: set(imported) for name, imported in whole_graph().items()}
    for importer, imported in exceptions:
        assert imported in graph[importer], f"{importer} does not import {imported} any more: take it from CLOSED_BY"
        graph[importer].discard(imported)
    return graph


def test_no_file_leads_back_to_itself():
    assert not circle(graph_of(CLOSED_BY)), "Move what both need below them, or give the reason in CLOSED_BY"


def test_every_exception_is_needed():
    for each in CLOSED_BY:
        assert circle(graph_of([other for other in CLOSED_BY if other != each])), f"{each} closes no circle"
