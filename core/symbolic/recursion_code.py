"""Code generation for the recursive algorithms themselves, for machines whose expanded formulas are long.

The same laws as everywhere, run over CasADi's graph with the robot's symbols: inverse dynamics by Newton and Euler,
the mass matrix by composite bodies. Equal parts are computed once, what is zero is gone; for six joints that is a
few hundred operations where the written equations have thousands.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca

from core.codegen.graph_symbols import build_column
from core.codegen.instructions import list_instructions
from core.errors import ModelError
from core.mechanics.crba import crba
from core.mechanics.multibody.number_reader import Numbers
from core.mechanics.multibody.tree_of_model import build_machine
from core.mechanics.rnea import rnea
from core.model.parameters import parameter_values
from core.symbolic.notation import to_identifier

if TYPE_CHECKING:
    from core.symbolic.robot import Robot

RESULTS = ("tau", "M", "G", "bias")
"""Results that can be generated as recursions: M q̈ + C q̇ + G; M; G; C q̇ + G."""

_PYTHON: dict[int, str] = {
    ca.OP_ADD: "{0} + {1}",
    ca.OP_SUB: "{0} - {1}",
    ca.OP_MUL: "{0}*{1}",
    ca.OP_DIV: "{0}/{1}",
    ca.OP_NEG: "-{0}",
    ca.OP_SQ: "{0}*{0}",
    ca.OP_TWICE: "2.0*{0}",
    ca.OP_INV: "1.0/{0}",
    ca.OP_SQRT: "sqrt({0})",
    ca.OP_SIN: "sin({0})",
    ca.OP_COS: "cos({0})",
    ca.OP_ATAN2: "arctan2({0}, {1})",
    ca.OP_TAN: "tan({0})",
}
_C = _PYTHON | {ca.OP_ATAN2: "atan2({0}, {1})"}
_FREE = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, ca.OP_NEG}


class Recursion(NamedTuple):
    """Recursive algorithm as an expression graph, with the names of its arguments."""

    what: str
    names: tuple[str, ...]
    function: ca.Function
    rows: int
    columns: int

    @property
    def operation_count(self) -> int:
        """Number of operations except negations; a sine counts as one."""
        return sum(i.operation not in _FREE for i in list_instructions(self.function))


def build_recursion(robot: Robot, result_name: str) -> Recursion:
    """Build the expression graph of a result of `RESULTS` over the robot's symbols. Raises ModelError for another
    name."""
    if result_name not in RESULTS:
        raise ModelError(
            f"'{result_name}' is not available as a recursion.", remedy=f"Choose one of {', '.join(RESULTS)}."
        )
    chain = robot.chain
    coordinates = [v.symbol for v in chain.variables]
    groups = [chain.parameters, coordinates, chain.rates, chain.accelerations]
    table = {name: ca.SX.sym(name) for group in groups for name in group}
    known: dict[str, Any] = {name: table[name] for name in chain.parameters}
    values = parameter_values(chain.model.parameters, chain.given | known)
    tree = build_machine(chain.topology, Numbers(values, robot.model.origin)).tree
    q: list[Any] = list(chain.rest)
    v: list[Any] = [0.0] * tree.nv
    a: list[Any] = [0.0] * tree.nv
    for i, variable in enumerate(chain.variables):
        q[variable.q] = table[variable.symbol]
        v[variable.v] = table[chain.rates[i]] if result_name in ("tau", "bias") else 0.0
        a[variable.v] = table[chain.accelerations[i]] if result_name == "tau" else 0.0
    places = [variable.v for variable in chain.variables]
    if result_name == "M":
        M = crba(tree, q)
        entries, columns = [M[i][j] for i in places for j in places], len(places)
    else:
        torques = rnea(tree, q, v, a, resist=False).torques
        entries, columns = [torques[i] for i in places], 1
    result = ca.densify(build_column(entries))
    used = {symbol.name() for symbol in ca.symvar(result)}
    names = tuple(name for name in table if name in used)
    function = ca.Function("f", [table[name] for name in names], [result], {"cse": True})
    return Recursion(result_name, names, function, len(places), columns)


def write_code(recursion: Recursion, language: str = "python", label: str = "") -> str:
    """Write the recursion as a Python function (NumPy) or a C function.

    Raises ModelError for another language.
    """
    if language not in ("python", "c"):
        raise ModelError(
            f"Recursions are written in Python or C, not in '{language}'.", where="language", remedy="Use python or c."
        )
    name = label or recursion.what
    names = [to_identifier(n) for n in recursion.names]
    lines, outputs = _assignments_and_results(recursion, names, _PYTHON if language == "python" else _C)
    if language == "c":
        head = f"void {name}({''.join(f'double {n}, ' for n in names)}double out[{recursion.rows * recursion.columns}])"
        body = [f"    const double {line};" for line in lines]
        body += [f"    out[{i}] = {value};" for i, value in enumerate(outputs)]
        return "\n".join(["#include <math.h>", "", head, "{", *body, "}", ""])
    rows = [outputs[i : i + recursion.columns] for i in range(0, len(outputs), recursion.columns)]
    shown = ",\n        ".join("[" + ", ".join(row) + "]" for row in rows)
    return "\n".join(
        [
            "from numpy import arctan2, array, cos, sin, sqrt, tan",
            "",
            "",
            f"def {name}({', '.join(names)}):",
            *(f"    {line}" for line in lines),
            f"    return array([\n        {shown},\n    ])",
            "",
        ]
    )


def _assignments_and_results(
    recursion: Recursion, names: Sequence[str], table: dict[int, str]
) -> tuple[list[str], list[str]]:
    """Return the assignments in order, and the entries of the result."""
    stem = "w"
    while any(re.fullmatch(rf"{stem}\d+", name) for name in names):
        stem += "_"
    values: dict[int, str] = {}
    lines: list[str] = []
    outputs = ["0.0"] * (recursion.rows * recursion.columns)
    write: Callable[[int], str] = lambda source: values[source]  # noqa: E731
    for step in list_instructions(recursion.function):
        if step.operation == ca.OP_OUTPUT:
            outputs[step.place[1]] = values[step.sources[0]]
        elif step.operation == ca.OP_INPUT:
            values[step.target] = names[step.place[0]]
        elif step.operation == ca.OP_CONST:
            values[step.target] = repr(step.constant) if step.constant >= 0.0 else f"({step.constant!r})"
        else:
            values[step.target] = f"{stem}{len(lines) + 1}"
            lines.append(f"{values[step.target]} = {table[step.operation].format(*map(write, step.sources))}")
    return lines, outputs
