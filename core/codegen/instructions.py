"""Traced CasADi functions as lists of instructions on numbered values (each value is assigned once)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import casadi as ca


class Instruction(NamedTuple):
    """Instruction: value `target` = operation(sources); for inputs and outputs `place` is (argument, entry)."""

    operation: int
    target: int
    sources: tuple[int, ...] = ()
    place: tuple[int, int] = (0, 0)
    constant: float = 0.0


def instructions_of(function: ca.Function) -> list[Instruction]:
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


def _argument_and_entry(place: Sequence[int]) -> tuple[int, int]:
    """Split the place of an input or output into (argument, entry)."""
    return place[0], place[1]
