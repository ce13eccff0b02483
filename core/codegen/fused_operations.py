"""Fusion of multiplications with additions, written out as operations of their own.

LLVM fuses them only at higher optimisation levels, so that results would depend on the level. Here every product that
is used once, in a sum or difference, becomes part of a fused multiply–add. Likewise divisions by one value become
products with its reciprocal. On a processor without such an instruction, where it would be emulated, nothing is fused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import casadi as ca

from core.codegen.instructions import Instruction
from core.codegen.processor import has_fused_multiply_add

FUSED = {-1: (1, 1), -2: (1, -1), -3: (-1, 1), -4: (-1, -1)}
"""Operations (a, b, c) → ±a·b ± c with their two signs; the numbers of CasADi's operations are not negative."""
_BY_SIGNS = {signs: operation for operation, signs in FUSED.items()}
_SUMS, _PRODUCTS = {ca.OP_ADD, ca.OP_SUB}, {ca.OP_MUL, ca.OP_SQ, ca.OP_NEG}
_LEAST, _LARGEST = 1e-300, 1e300
"""Range of constant divisors that have a reciprocal without loss of precision."""


class _Product(NamedTuple):
    """A product ±a·b that is used once, and the values that are not needed once it is fused."""

    sign: int
    factors: tuple[int, int]
    values: tuple[int, ...]


def fuse_operations(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Return equivalent instructions with reciprocals of common divisors and, on a processor that has them, with fused
    multiply–add operations."""
    found = _share_reciprocals(instructions)
    return _fuse_products(found) if has_fused_multiply_add() else found


def _share_reciprocals(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Replace divisions by constants, and by values that divide several others, by products with the reciprocal."""
    dividing = Counter(each.sources[1] for each in instructions if each.operation == ca.OP_DIV)
    if not dividing:
        return list(instructions)
    constants = {each.target: each.constant for each in instructions if each.operation == ca.OP_CONST}
    unused = 1 + max(each.target for each in instructions)
    reciprocals: dict[int, int] = {}
    found: list[Instruction] = []
    for each in instructions:
        if each.operation != ca.OP_DIV or not _has_reciprocal(each.sources[1], constants, dividing):
            found.append(each)
            continue
        numerator, divisor = each.sources
        if divisor not in reciprocals:
            reciprocals[divisor], unused = unused, unused + 1
            if divisor in constants:
                found.append(Instruction(ca.OP_CONST, reciprocals[divisor], constant=1.0 / constants[divisor]))
            else:
                found.append(Instruction(ca.OP_INV, reciprocals[divisor], (divisor,)))
        found.append(Instruction(ca.OP_MUL, each.target, (numerator, reciprocals[divisor])))
    return found


def _has_reciprocal(divisor: int, constants: dict[int, float], dividing: Counter[int]) -> bool:
    if divisor in constants:
        return _LEAST < abs(constants[divisor]) < _LARGEST
    return dividing[divisor] > 1


def _fuse_products(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Fuse products that are used once with the sum or difference that uses them."""
    uses = Counter(chain.from_iterable([each.sources for each in instructions]))
    products: dict[int, _Product] = {}
    fused: list[Instruction] = []
    dropped: set[int] = set()
    for each in instructions:
        operation, target, sources = each[:3]
        if operation in _SUMS and (sources[0] in products or sources[1] in products):
            product = products.get(sources[0]) or products[sources[1]]
            fused.append(_fuse_sum(each, 0 if sources[0] in products else 1, product))
            dropped.update(product.values)
            continue
        fused.append(each)
        if operation in _PRODUCTS and uses[target] == 1 and (found := _find_product(each, products)) is not None:
            products[target] = found
    return [each for each in fused if each.target not in dropped]


def _find_product(instruction: Instruction, products: dict[int, _Product]) -> _Product | None:
    """Return the product that an instruction computes; None if it computes something else."""
    sources, own = instruction.sources, (instruction.target,)
    if instruction.operation in (ca.OP_MUL, ca.OP_SQ):
        return _Product(1, (sources[0], sources[-1]), own)
    if instruction.operation == ca.OP_NEG and (inner := products.get(sources[0])) is not None:
        return _Product(-inner.sign, inner.factors, (*inner.values, *own))
    return None


def _fuse_sum(instruction: Instruction, position: int, product: _Product) -> Instruction:
    """Return the fused operation of a sum or difference whose operand at a position is a product."""
    signs = [1, -1 if instruction.operation == ca.OP_SUB else 1]
    operation = _BY_SIGNS[product.sign * signs[position], signs[1 - position]]
    return Instruction(operation, instruction.target, (*product.factors, instruction.sources[1 - position]))
