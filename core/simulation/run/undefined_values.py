"""Explains formulas over a run that have no finite value at any time."""

from __future__ import annotations

import numpy as np

from core.errors import KinetostatError
from core.model.formula.expression import Node, names_in_formula, parse
from core.model.formula.nodes import Binary, Call, Negative
from core.model.formula.text import format_formula
from core.simulation.run.run import Run


def explain_undefined(run: Run, name: str) -> str:
    """Explain why a channel or formula of a run has no finite value: the first time, the innermost undefined part, and
    the values of its operands."""
    time = f"t = {float(run.time[0]):.4g} s"
    said = f"'{name}' has no finite value at any time of the run"
    try:
        broken = _find_innermost_undefined(run, parse(name))
    except KinetostatError:
        broken = None
    if broken is None:
        return f"{said}, from {time} on."
    inside = [
        f"{each} = {_first_value(run, each):.4g}"
        for each in sorted(names_in_formula(broken))
        if each != format_formula(broken)
    ]
    given = f", with {', '.join(inside)}" if inside else ""
    return f"{said}: at {time} {format_formula(broken)} is undefined{given}."


def _find_innermost_undefined(run: Run, node: Node) -> Node | None:
    """Return the innermost part without a finite value, all of whose operands have one; None if there is none."""
    for part in _operands(node):
        found = _find_innermost_undefined(run, part)
        if found is not None:
            return found
    return None if np.isfinite(_first_value(run, format_formula(node))) else node


def _operands(node: Node) -> tuple[Node, ...]:
    match node:
        case Negative(operand):
            return (operand,)
        case Binary(_, left, right):
            return (left, right)
        case Call(_, arguments):
            return tuple(arguments)
        case _:
            return ()


def _first_value(run: Run, formula: str) -> float:
    return float(np.ravel(run[formula])[0])
