"""Expressions that differ only in their constants, recognised by their form, so that each form is translated once.

An expression is listed as instructions; numbers in sums and products count as further operands. Two expressions with
the same list are one *form* with different operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca

from core.codegen.graph_symbols import symbols
from core.codegen.instructions import Instruction, instructions_of

STRUCTURAL = (0.0, 1.0, -1.0, 2.0, 0.5)
"""Constants that are kept in the form because they simplify derivatives."""
_LINEAR = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV)


class Form(NamedTuple):
    """Form of an expression: its operations without the values of constants."""

    instructions: tuple[Instruction, ...]
    """Instructions as in `core.codegen.instructions`; a constant operand is an input after the last argument."""
    sizes: tuple[int, ...]
    """Lengths of the arguments, constants last."""
    results: tuple[int, ...]
    """Lengths of the results."""


def form_of(arguments: Sequence[ca.SX], results: Sequence[ca.SX]) -> tuple[Form, list[float]]:
    """Return the form of symbolic column vectors, and the values of their constants."""
    listed = instructions_of(ca.Function("f", list(arguments), list(results), {"cse": True}))
    fixed = {
        source
        for each in listed
        if each.operation not in (*_LINEAR, ca.OP_NEG, ca.OP_SQ, ca.OP_OUTPUT)
        for source in each.sources
    }
    constants: list[float] = []
    for k, each in enumerate(listed):
        if each.operation == ca.OP_CONST and each.target not in fixed and each.constant not in STRUCTURAL:
            listed[k] = Instruction(ca.OP_INPUT, each.target, place=(len(arguments), len(constants)))
            constants.append(each.constant)
    sizes = (*(int(each.numel()) for each in arguments), len(constants))
    return Form(tuple(listed), sizes, tuple(int(each.numel()) for each in results)), constants


def columns_of_form(form: Form) -> tuple[list[ca.SX], list[ca.SX]]:
    """Rebuild a form over new symbols: its arguments, constants last, and its results, as columns."""
    arguments = [symbols(f"x{k}_", size) for k, size in enumerate(form.sizes)]
    results: list[list[Any]] = [[ca.SX(0)] * size for size in form.results]
    values: dict[int, ca.SX] = {}
    for each in form.instructions:
        operands = [values[source] for source in each.sources]
        if each.operation == ca.OP_OUTPUT:
            results[each.place[0]][each.place[1]] = operands[0]
        elif each.operation == ca.OP_INPUT:
            values[each.target] = arguments[each.place[0]][each.place[1]]
        elif each.operation == ca.OP_CONST:
            values[each.target] = ca.SX(each.constant)
        elif len(operands) == 2:
            values[each.target] = ca.SX.binary(each.operation, *operands)
        else:
            values[each.target] = (
                operands[0] if each.operation == ca.OP_ASSIGN else ca.SX.unary(each.operation, *operands)
            )
    return [ca.vertcat(*each) if each else ca.SX(0, 1) for each in arguments], [
        ca.vertcat(*each) if each else ca.SX(0, 1) for each in results
    ]
