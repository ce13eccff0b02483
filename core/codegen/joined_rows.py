"""Compression of block tables: recurring sequences of rows become one block.

What a long machine consists of, it repeats: a table (`core.codegen.blocks`) calls the same few steps for each of its
loops or links. Rows are put in an order in which each comes soon after what it takes (`_Graph.near`); sequences that
recur become segments (`Grammar`), and those of one kind a block: what passes between its rows does not go through
memory, unused results are not computed, numbers that are the same everywhere are known to it.

The recurring sequences are found by grammar compression: a frequent pair of adjacent symbols is replaced by a new
symbol, repeatedly (Larsson and Moffat, Off-line dictionary-based compression, Proc. IEEE 88, 2000); of all pairs the
one between which most values pass.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from core.codegen.blocks import Block, BlockTable
from core.codegen.graph_symbols import build_column, scalar_symbols, to_symbol


class SequencePiece(NamedTuple):
    """Symbol of the compressed sequence, and the position of its first element in the original one."""

    letter: int
    first: int


class PairGrammar:
    """Grammar of symbols, each of which is an original one or replaces a pair of symbols.

    weights : of the letters that are given; passing : what passes between neighbours in the word, one fewer
    least : times that a pair must recur; largest : of the sum of the weights of what a letter stands for
    """

    def __init__(
        self, sequence: Sequence[int], weights: Sequence[int], passing: NDArray[np.int64], least: int, largest: int
    ) -> None:
        self.least, self.largest = least, largest
        self.weights, self.lengths = list(weights), [1] * len(weights)
        self.parts: dict[int, tuple[int, int]] = {}
        """Symbol → the pair that it replaces."""
        self._word, self._passing = np.array(sequence, dtype=np.int64), passing
        while self._replace_best_pair():
            pass

    def _replace_best_pair(self) -> bool:
        """Replace the best recurring pair by a new symbol; returns False if there is none."""
        word, new = self._word, len(self.weights)
        weights = np.array(self.weights)
        fit = weights[word[:-1]] + weights[word[1:]] <= self.largest
        pairs, which, counts = np.unique((word[:-1] * new + word[1:])[fit], return_inverse=True, return_counts=True)
        if not len(counts) or counts.max() < self.least:
            return False
        gains = np.where(counts < self.least, -1.0, np.bincount(which, self._passing[fit]))
        first, second = divmod(int(pairs[np.argmax(gains)]), new)
        at = np.flatnonzero((word[:-1] == first) & (word[1:] == second))
        if first == second:  # of a run of equal letters every other pair
            begins = np.flatnonzero(np.diff(at, prepend=-2) != 1)
            at = at[(np.arange(len(at)) - np.repeat(begins, np.diff([*begins, len(at)]))) % 2 == 0]
        word[at] = new
        self._word, self._passing = np.delete(word, at + 1), np.delete(self._passing, at)
        self.weights.append(int(weights[first] + weights[second]))
        self.lengths.append(self.lengths[first] + self.lengths[second])
        self.parts[new] = first, second
        return True

    def pieces(self) -> list[SequencePiece]:
        """Return the compressed sequence."""
        letters = self._word.tolist()
        firsts = np.cumsum([0, *(self.lengths[letter] for letter in letters)]).tolist()
        return [SequencePiece(*each) for each in zip(letters, firsts, strict=False)]

    def split_pair(self, piece: SequencePiece) -> tuple[SequencePiece, SequencePiece]:
        """Split a piece into the pair that its symbol replaces."""
        one, other = self.parts[piece.letter]
        return SequencePiece(one, piece.first), SequencePiece(other, piece.first + self.lengths[one])


Integers = NDArray[np.int64]
LEAST = 4
"""Minimum number of repetitions for a sequence to become a block."""
LARGEST = 1200
"""Maximum number of instructions of a block; larger ones compile longer and gain nothing."""


def compress_table(table: BlockTable) -> BlockTable:
    """Return an equivalent table with fewer rows."""
    graph = _Graph(table)
    rows = [graph.rows[k] for k in graph.order_by_dependency()]
    weights = [block.function.n_instructions() for block in table.blocks]
    grammar = PairGrammar([row.block for row in rows], weights, _count_passed_values(rows), LEAST, LARGEST)
    return _CompressedTableBuilder(graph, _group_segments(rows, grammar)).build_table()


class _Row(NamedTuple):
    block: int
    taken: tuple[int, ...]
    """Slots of the operands."""
    given: range


class _Graph:
    """Dependency graph of a table's rows, without copies and duplicates."""

    def __init__(self, table: BlockTable) -> None:
        self.table = table
        self.rows: list[_Row] = []
        self.same: dict[int, int] = {}
        """Slot → slot that holds the same value."""
        copies = [_find_copied_results(block) for block in table.blocks]
        known: dict[tuple[int, tuple[int, ...]], range] = {}
        for number, *starts, first in table.rows:
            block = table.blocks[number]
            slots = chain.from_iterable(map(range, starts, map(int.__add__, starts, block.runs)))
            taken = tuple(map(self.resolve_slot, slots))
            given = range(first, first + block.function.numel_out(0))
            earlier = known.setdefault((number, taken), given)
            if earlier is not given:
                self.same.update((slot, self.resolve_slot(other)) for slot, other in zip(given, earlier, strict=True))
                continue
            self.same.update((given[k], taken[source]) for k, source in copies[number].items())
            if len(copies[number]) < len(given):
                self.rows.append(_Row(number, taken, given))
        self.outputs = list(map(self.resolve_slot, table.outputs))

    def resolve_slot(self, slot: int) -> int:
        """Return the slot in which the value of a slot originates; copies are resolved."""
        return self.same.get(slot, slot)

    def order_by_dependency(self) -> list[int]:
        """Return the row numbers in an order in which dependent rows are close together. Of the rows that are ready,
        the next is one of the step that first occurs latest, so that each chain of rows is followed as far as possible;
        rows whose operands are only arguments and constants come just before they are needed."""
        maker = {slot: k for k, row in enumerate(self.rows) for slot in row.given}
        needs = [{maker[slot] for slot in row.taken if slot in maker} for row in self.rows]
        users: list[list[int]] = [[] for _ in needs]
        for k, makers in enumerate(needs):
            for each in makers:
                users[each].append(k)
        begins: dict[int, int] = {}
        steps = [self.table.blocks[row.block].step for row in self.rows]
        ranks = [(-begins.setdefault(step, k), k) for k, step in enumerate(steps)]
        missing = [sum(bool(needs[each]) for each in makers) for makers in needs]
        waiting = [ranks[k] for k, makers in enumerate(needs) if makers and not missing[k]]
        heapq.heapify(waiting)
        order: dict[int, None] = {}
        while waiting:
            _, k = heapq.heappop(waiting)
            order.update(dict.fromkeys(sorted(each for each in needs[k] if not needs[each])))
            order[k] = None
            for user in users[k]:
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(waiting, ranks[user])
        order.update(dict.fromkeys(range(len(needs))))
        return list(order)


def _find_copied_results(block: Block) -> dict[int, int]:
    """Return {result: operand} for results that are copies of operands."""
    operands = scalar_symbols("x", block.function.numel_in(0))
    places = {x.element_hash(): k for k, x in enumerate(operands)}
    results = ca.vertsplit(block.function(build_column(operands))) if block.function.numel_out(0) else []
    found = {k: places.get(x.element_hash()) for k, x in enumerate(results)}
    return {k: place for k, place in found.items() if place is not None}


def _count_passed_values(rows: Sequence[_Row]) -> Integers:
    """Return the number of values that pass between each pair of neighbouring rows, (rows − 1,): results of earlier
    rows used by later ones."""
    made = {slot: k for k, row in enumerate(rows) for slot in row.given}
    last = {slot: k for k, row in enumerate(rows) for slot in row.taken if slot in made}
    change = np.zeros(len(rows) + 1, dtype=np.int64)
    np.add.at(change, [made[slot] for slot in last], 1)
    np.add.at(change, list(last.values()), -1)
    return np.cumsum(change)[: len(rows) - 1]


class _SegmentGroup(NamedTuple):
    """Segments of rows that do the same computation."""

    steps: tuple[tuple[int, tuple[int, ...]], ...]
    """Steps (block, operands): operand numbers from 0 for values from outside the segment, ~k for the k-th value
    computed within."""
    firsts: list[int]
    """Index of each segment's first row."""
    taken: list[tuple[int, ...]]
    """Input slots of each segment."""
    given: list[tuple[int, ...]]
    """Output slots of each segment."""


def _group_segments(rows: list[_Row], grammar: PairGrammar) -> list[_SegmentGroup]:
    """Group all rows into segments; sequences that recur too rarely are split again."""
    done: list[_SegmentGroup] = []
    pieces: list[SequencePiece] = grammar.pieces()
    while pieces:
        found: dict[Any, _SegmentGroup] = {}
        letters: dict[Any, int] = {}
        for piece in pieces:
            segment = rows[piece.first : piece.first + grammar.lengths[piece.letter]]
            steps, taken, given = _normalise_segment(segment)
            group = found.setdefault(steps, _SegmentGroup(steps, [], [], []))
            letters[steps] = piece.letter
            group.firsts.append(piece.first)
            group.taken.append(taken)
            group.given.append(given)
        pieces = []
        for steps, group in found.items():
            if len(steps) > 1 and len(group.firsts) < LEAST:
                for first in group.firsts:
                    pieces += grammar.split_pair(SequencePiece(letters[steps], first))
            else:
                done.append(group)
    return done


def _normalise_segment(rows: Sequence[_Row]) -> tuple[Any, tuple[int, ...], tuple[int, ...]]:
    """Return (steps, taken, given) of a segment as in `_SegmentGroup`."""
    numbers: dict[int, int] = {}
    within: dict[int, int] = {}
    steps = []
    for row in rows:
        operands = []
        for slot in row.taken:
            inner = within.get(slot)
            operands.append(numbers.setdefault(slot, len(numbers)) if inner is None else inner)
        steps.append((row.block, tuple(operands)))
        for slot in row.given:
            within[slot] = ~len(within)
    return tuple(steps), tuple(numbers), tuple(within)


class _GroupCode:
    """Expressions that the segments of a group compute."""

    def __init__(self, graph: _Graph, group: _SegmentGroup) -> None:
        self.group = group
        self.taken, self.given = (
            np.array(each, dtype=np.int64).reshape(len(group.firsts), -1) for each in (group.taken, group.given)
        )
        self.operands = scalar_symbols("x", self.taken.shape[1])
        self.results = self._group_results(graph)
        depends = ca.jacobian_sparsity(build_column(self.results), build_column(self.operands))
        rows, columns = depends.get_triplet()
        self.depends = np.zeros((len(self.results), len(self.operands)), dtype=bool)
        self.depends[rows, columns] = True

    def _group_results(self, graph: _Graph) -> list[ca.SX]:
        constants = graph.table.constants
        operands: list[Any] = list(self.operands)
        for k, slots in enumerate(self.taken.T.tolist()):
            values = {constants.get(slot) for slot in slots}
            if len(values) == 1 and None not in values:
                operands[k] = to_symbol(values.pop())
        results: list[ca.SX] = []
        for number, places in self.group.steps:
            given = [operands[k] if k >= 0 else results[~k] for k in places]
            results += ca.vertsplit(graph.table.blocks[number].function(build_column(given)))
        return results


class _CompressedTableBuilder:
    """Builder of the compressed table."""

    def __init__(self, graph: _Graph, groups: Sequence[_SegmentGroup]) -> None:
        self.old = graph.table
        self.codes = [_GroupCode(graph, group) for group in groups]
        self.outputs = graph.outputs
        self.needed = self._needed_slots()
        self.new = BlockTable(self.old.inputs)
        count = sum(self.old.inputs)
        self.new.allocate(count)
        self.places = np.full(self.old.size, -1, dtype=np.int64)
        """Old slot → new slot."""
        self.places[:count] = range(count)

    def _needed_slots(self) -> NDArray[np.bool_]:
        """Return a mask of the slots that contribute to an output."""
        needed = np.zeros(self.old.size, dtype=bool)
        needed[self.outputs] = True
        before = -1
        while before != (before := int(np.count_nonzero(needed))):
            for code in self.codes:
                results = needed[code.given].any(axis=0)
                needed[code.taken[:, code.depends[results].any(axis=0)]] = True
        return needed

    def build_table(self) -> BlockTable:
        """Return the table with its blocks and rows."""
        chosen = []
        for code in self.codes:
            results = np.flatnonzero(self.needed[code.given].any(axis=0))
            operands = np.flatnonzero(code.depends[results].any(axis=0))
            if len(results):
                chosen.append((code, operands, results))
        self._place_constants(
            chain.from_iterable(code.taken[:, operands].ravel().tolist() for code, operands, _ in chosen)
        )
        calls = sorted(
            (first, n, i) for n, (code, *_) in enumerate(chosen) for i, first in enumerate(code.group.firsts)
        )
        firsts = {}
        for _, n, i in calls:
            code, _, results = chosen[n]
            slots = self.new.allocate(len(results))
            self.places[code.given[i, results]] = slots
            firsts[n, i] = slots[0]
        starts = [self._add_block(code, operands, results) for code, operands, results in chosen]
        self.new.rows = [(n, *starts[n][i], firsts[n, i]) for _, n, i in calls]
        self._place_constants(self.outputs)
        self.new.outputs = self.places[self.outputs].tolist()
        return self.new

    def _place_constants(self, slots: Iterable[int]) -> None:
        """Assign slots of their own to constants among the given slots."""
        for slot in slots:
            if slot in self.old.constants and self.places[slot] < 0:
                self.places[slot] = self.new.allocate(1)[0]
                self.new.constants[int(self.places[slot])] = self.old.constants[slot]

    def _add_block(self, code: _GroupCode, operands: Integers, results: Integers) -> list[list[int]]:
        """Add the block of a group; returns the operand starts of each of its segments."""
        slots = self.places[code.taken[:, operands]]
        order = np.argsort(slots[0], kind="stable") if len(slots) else slots
        slots, operands = slots[:, order], operands[order]
        begins = np.flatnonzero(np.any(np.diff(slots, axis=1, prepend=-2) != 1, axis=0))
        runs = tuple(np.diff([*begins, len(operands)]).tolist())
        taken, given = [code.operands[k] for k in operands], [code.results[k] for k in results]
        function = ca.Function("b", [build_column(taken)], [build_column(given)], {"cse": True})
        self.new.blocks.append(Block(function, runs, len(self.new.blocks)))
        return slots[:, begins].tolist()
