"""Symbolic functions of CasADi as lists of instructions on numbered values (each value is assigned once).

Expressions that differ only in their constants are recognised by their *form*, so that each form is translated once:
numbers in sums and products count as further operands, and two expressions with the same list of instructions are one
form with different operands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import casadi as ca

from core.codegen.graph_symbols import scalar_symbols


class Instruction(NamedTuple):
    """Instruction: value `target` = operation(sources); for inputs and outputs `place` is (argument, entry)."""

    operation: int
    target: int
    sources: tuple[int, ...] = ()
    place: tuple[int, int] = (0, 0)
    constant: float = 0.0


def list_instructions(function: ca.Function) -> list[Instruction]:
    """Return the instructions of an SX function in order, with work registers renumbered as values."""
    names: dict[int, int] = {}
    result: list[Instruction] = []
    identify, inputs, outputs = function.instruction_id, function.instruction_input, function.instruction_output
    for k in range(function.n_instructions()):
        operation = identify(k)
        if operation == ca.OP_OUTPUT:
            source = names[inputs(k)[0]]
            result.append(Instruction(operation, -1, (source,), _argument_and_entry(outputs(k))))
            continue
        target = len(result)
        if operation == ca.OP_CONST:
            result.append(Instruction(operation, target, constant=function.instruction_constant(k)))
        elif operation == ca.OP_INPUT:
            result.append(Instruction(operation, target, place=_argument_and_entry(inputs(k))))
        else:
            result.append(Instruction(operation, target, tuple(names[i] for i in inputs(k))))
        names[outputs(k)[0]] = target
    return result


def _argument_and_entry(indices: Sequence[int]) -> tuple[int, int]:
    """Split the place of an input or output into (argument, entry)."""
    return indices[0], indices[1]


STRUCTURAL = (0.0, 1.0, -1.0, 2.0, 0.5)
"""Constants that remain part of a form, because they simplify derivatives."""
_LINEAR = (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV)


class ExpressionForm(NamedTuple):
    """Form of an expression: its operations, but not the values of its constants."""

    instructions: tuple[Instruction, ...]
    """Instructions as in `core.codegen.instructions`; a constant operand is an input after the last argument."""
    sizes: tuple[int, ...]
    """Lengths of the arguments, constants last."""
    results: tuple[int, ...]
    """Lengths of the results."""


def extract_form(arguments: Sequence[ca.SX], results: Sequence[ca.SX]) -> tuple[ExpressionForm, list[float]]:
    """Return the form of symbolic column vectors, and the values of their constants."""
    listed = list_instructions(ca.Function("f", list(arguments), list(results), {"cse": True}))
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
    return ExpressionForm(tuple(listed), sizes, tuple(int(each.numel()) for each in results)), constants


def rebuild_form(form: ExpressionForm) -> tuple[list[ca.SX], list[ca.SX]]:
    """Rebuild a form over new symbols: its arguments, constants last, and its results, as columns."""
    arguments = [scalar_symbols(f"x{k}_", size) for k, size in enumerate(form.sizes)]
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
