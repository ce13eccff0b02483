"""Tables of block calls, which represent long recursions.

`Recorder` is a runner (core.mechanics.tree) that does not execute a step but notes it: scalars become slots of a
workspace, and each distinct step — the same function on the same structure, with the same literal zeros and ones — is
traced once as a *block*. A row of the table names a block and where its operands begin. So a chain of a thousand links
is a dozen blocks and a table, translated in a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, fields
from functools import cache, cached_property
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.graph_symbols import build_column, scalar_symbols
from core.later import dataclass
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3

Array = NDArray[np.float64]
MOST_VARIANTS = 24
"""Maximum number of specialised blocks per step; a general block serves further operand patterns."""


class Slot:
    """Scalar in the workspace of a table, by its index."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index


class Block(NamedTuple):
    """Step of a recursion traced for one pattern of operands."""

    function: ca.Function
    """CasADi function (operands) → (results), both flat."""
    runs: tuple[int, ...]
    """Lengths of the contiguous pieces of the workspace that hold the operands."""
    step: int
    """Number of the traced step; all variants of a step share it."""


@dataclass
class BlockTable:
    """Recorded recursion: blocks, and the rows (block, starts of its operand pieces, start of its results) that call
    them in order."""

    inputs: tuple[int, ...]
    """Lengths of the arguments, parameters last, which are at the beginning of the workspace."""
    blocks: list[Block] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)
    constants: dict[int, float] = field(default_factory=dict)
    size: int = 0
    outputs: list[int] = field(default_factory=list)
    """Slot of every entry of the result."""

    def workspace(self) -> Array:
        """Return a new workspace with the constants filled in."""
        return self._template.copy()

    @cached_property
    def _template(self) -> Array:
        memory = np.zeros(self.size)
        memory[list(self.constants)] = list(self.constants.values())
        return memory

    def packed_rows(self) -> NDArray[np.int32]:
        """Return all rows as one flat integer array, as the compiled loop reads them."""
        return np.array([word for row in self.rows for word in row], dtype=np.int32)

    def operation_count(self) -> int:
        """Return the total number of operations of all rows."""
        each = [block.function.n_instructions() for block in self.blocks]
        return sum(each[number] for number, *_ in self.rows)

    def allocate(self, count: int) -> range:
        """Allocate new slots."""
        first, self.size = self.size, self.size + count
        return range(first, self.size)


_LEAF = object()


def flatten_structure(x: Any, leaves: list[Scalar]) -> Any:
    """Append the scalars inside nested tuples and dataclasses to `leaves`; returns the structure without them."""
    kind = type(x)
    if kind is Slot or kind is float:
        leaves.append(x)
        return _LEAF
    if kind is Vector3:
        leaves.extend(x)
        return Vector3
    if isinstance(x, tuple):
        return (kind, *[flatten_structure(item, leaves) for item in x])
    if hasattr(kind, "__dataclass_fields__"):
        return (kind, *[flatten_structure(getattr(x, name), leaves) for name in _field_names(kind)])  # type: ignore[arg-type]
    if x is None:
        return None
    leaves.append(x)
    return _LEAF


@cache
def _field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the field names of a dataclass."""
    return tuple(each.name for each in fields(kind))


def rebuild_structure(structure: Any, leaves: Iterator[Scalar]) -> Any:
    """Rebuild nested tuples and dataclasses from their structure and scalars."""
    if structure is _LEAF:
        return next(leaves)
    if structure is Vector3:
        return Vector3(next(leaves), next(leaves), next(leaves))
    if structure is None:
        return None
    kind, *parts = structure
    items = [rebuild_structure(part, leaves) for part in parts]
    return tuple(items) if kind is tuple else kind(*items)


class _BlockVariant(NamedTuple):
    """Block, and the form of its results: structure and literals (None where a slot goes)."""

    number: int
    structure: Any
    literals: tuple[float | None, ...]


class RecursionRecorder:
    """Runner that records the steps of a recursion in a table."""

    def __init__(self, lengths: Sequence[int], p: Sequence[ca.SX]) -> None:
        self.table = BlockTable(tuple(lengths))
        self.inputs = [[Slot(k) for k in self.table.allocate(length)] for length in lengths]
        """Slots of the function's arguments, parameters last."""
        self.p = list(p)
        self._derived: list[tuple[ca.SX, int]] = []
        self._own = {x.element_hash(): slot.index for x, slot in zip(self.p, self.inputs[-1], strict=True)}
        """Slots of parameters."""
        self._variants: dict[Any, _BlockVariant] = {}
        self._counts: dict[Any, int] = {}
        self._steps: dict[Any, int] = {}

    def __call__(self, step: Callable[..., Any], *arguments: Any) -> Any:
        leaves: list[Scalar] = []
        structure = flatten_structure(arguments, leaves)
        family = (step, structure)
        pattern = tuple(x if type(x) is float and x in (0.0, 1.0) else None for x in leaves)
        operands = self._operand_slots(leaves, pattern)
        runs, starts = _contiguous_runs(operands)
        variant = self._variants.get((family, pattern, runs))
        if variant is None:
            if self._counts.get(family, 0) >= MOST_VARIANTS:
                pattern = (None,) * len(leaves)
                starts = tuple(self._operand_slots(leaves, pattern))
                runs = (1,) * len(leaves)
                variant = self._variants.get((family, pattern, runs))
            if variant is None:
                variant = self._variants[family, pattern, runs] = self._trace_step(step, structure, pattern, runs)
                self._counts[family] = self._counts.get(family, 0) + 1
        return self._call_variant(variant, starts)

    def _operand_slots(self, leaves: list[Scalar], pattern: Sequence[float | None]) -> list[int]:
        """Return the slot of every operand that is not a literal of the pattern; constants and expressions get new
        slots."""
        result = []
        for leaf, literal in zip(leaves, pattern, strict=True):
            if literal is None:
                result.append(leaf.index if isinstance(leaf, Slot) else self._new_slot(leaf))
        return result

    def _new_slot(self, leaf: Scalar) -> int:
        if isinstance(leaf, ca.SX) and (own := self._own.get(leaf.element_hash())) is not None:
            return own
        slot = self.table.allocate(1)[0]
        if isinstance(leaf, float | int):
            self.table.constants[slot] = float(leaf)
        else:
            self._derived.append((leaf, slot))
        return slot

    def _trace_step(
        self, step: Any, structure: Any, pattern: Sequence[float | None], runs: tuple[int, ...]
    ) -> _BlockVariant:
        operands = scalar_symbols("x", sum(runs))
        given = iter(operands)
        arguments = rebuild_structure(structure, iter([next(given) if x is None else x for x in pattern]))
        leaves: list[Scalar] = []
        shape = flatten_structure(step(*arguments), leaves)
        literals = tuple(x if type(x) is float else None for x in leaves)
        results = [x for x in leaves if type(x) is not float]
        self._add_block([build_column(operands)], results, runs, step)
        return _BlockVariant(len(self.table.blocks) - 1, shape, literals)

    def _add_block(self, operands: list[ca.SX], results: list[Any], runs: tuple[int, ...], step: Any) -> None:
        function = ca.Function("b", operands, [build_column(results)], {"cse": True})
        code = self._steps.setdefault(getattr(step, "__code__", step), len(self._steps))
        self.table.blocks.append(Block(function, runs, code))

    def _call_variant(self, variant: _BlockVariant, starts: tuple[int, ...]) -> Any:
        count = sum(literal is None for literal in variant.literals)
        slots = iter(self.table.allocate(count))
        first = self.table.size - count
        if count:
            self.table.rows.append((variant.number, *starts, first))
        leaves = [Slot(next(slots)) if literal is None else literal for literal in variant.literals]
        return rebuild_structure(variant.structure, iter(leaves))

    def build_table(self, result: Sequence[Scalar]) -> BlockTable:
        """Return the table for a given result; expressions of the parameters are evaluated first."""
        table = self.table
        constants: dict[float, int] = {}
        for entry in result:
            if isinstance(entry, Slot):
                table.outputs.append(entry.index)
            elif isinstance(entry, float):
                if entry not in constants:
                    constants[entry] = self._new_slot(entry)
                table.outputs.append(constants[entry])
            else:
                table.outputs.append(self._new_slot(entry))
        if self._derived:
            # one block computes all expressions, gathered behind one another, and then each goes to its slot
            values = [value for value, _ in self._derived]
            self._add_block([build_column(self.p)], values, (len(self.p),), "expressions")
            self._add_block([build_column(x := scalar_symbols("x", 1))], list(x), (1,), "copy")
            place = table.allocate(len(values))
            copies = [(len(table.blocks) - 1, place[k], slot) for k, (_, slot) in enumerate(self._derived)]
            table.rows[:0] = [(len(table.blocks) - 2, self.inputs[-1][0].index, place[0]), *copies]
        return table


def _contiguous_runs(slots: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return lengths and starts of the pieces of consecutive slots."""
    lengths: list[int] = []
    starts: list[int] = []
    for slot in slots:
        if starts and slot == starts[-1] + lengths[-1]:
            lengths[-1] += 1
        else:
            starts.append(slot)
            lengths.append(1)
    return tuple(lengths), tuple(starts)
