"""Rows that follow one another again and again become one block, and give the same numbers."""

import casadi as ca
import numpy as np
import pytest

from core.codegen.block_code import BlockCode, BlockInterpreter
from core.codegen.blocks import RecursionRecorder
from core.codegen.joined_rows import LEAST, compress_table
from core.numerics.spatial.scalar import cos, minus, plus, sin, times


def turned(x, y, angle):
    c, s = cos(angle), sin(angle)
    return minus(times(c, x), times(s, y)), plus(times(s, x), times(c, y))


def lengthened(x, y, length, unused):
    return plus(x, length), y, times(unused, unused)


def folded(total, x, y):
    return plus(total, plus(times(x, x), times(y, y)))


def recorded(count, lengths):
    """The end of a chain of turning links, and the sum of the squared distances of its joints, as a table."""
    p = [ca.SX.sym("p")]
    recorder = RecursionRecorder([count, 1], p)
    angles, (load,) = recorder.inputs
    x, y, total, ends = 0.5, 0.0, 0.0, []
    for angle, length in zip(angles, lengths, strict=True):
        x, y = recorder(turned, x, y, angle)
        x, y, _ = recorder(lengthened, x, y, length, load)
        ends.append((x, y))
    for end in ends:
        total = recorder(folded, total, *end)
    return recorder.build_table([x, y, total, times(2.0, p[0]), angles[0]])


def expected(q, lengths, load):
    x, y, total = 0.5, 0.0, 0.0
    for angle, length in zip(q, lengths, strict=True):
        x, y = np.cos(angle) * x - np.sin(angle) * y + length, np.sin(angle) * x + np.cos(angle) * y
        total += x * x + y * y
    return [x, y, total, 2.0 * load, q[0]]


@pytest.mark.parametrize("kind", [BlockInterpreter, BlockCode])
@pytest.mark.parametrize("lengths", [[0.7] * 40, list(np.linspace(0.3, 2.0, 40))], ids=["alike", "unlike"])
def test_a_joined_table_gives_the_same(kind, lengths):
    table = compress_table(recorded(40, lengths))
    q = np.random.default_rng(1).uniform(-3.0, 3.0, (3, 40))
    out = np.empty((3, 5))
    kind(table, checked=False).evaluate_batch([q], np.array([1.25]), out)
    for state, given in zip(q, out, strict=True):
        np.testing.assert_allclose(given, expected(state, lengths, 1.25), rtol=1e-12)


def test_what_recurs_is_one_row_and_what_nobody_takes_is_left_out():
    table = recorded(200, [0.7] * 200)
    shorter = compress_table(table)
    assert len(shorter.rows) < len(table.rows) / 10
    assert shorter.operation_count() < 0.7 * table.operation_count()
    assert shorter.size < 0.5 * table.size


def test_what_recurs_too_seldom_stays_as_it_is():
    count = LEAST - 1
    table = recorded(count, [0.7] * count)
    assert len(compress_table(table).rows) <= len(table.rows)
    assert len(compress_table(table).rows) >= 3 * count - 1


def test_repetitions_are_made_once():
    recorder = RecursionRecorder([2, 0], [])
    (x, y), _ = recorder.inputs
    once, again = recorder(turned, x, y, x), recorder(turned, x, y, x)
    table = compress_table(recorder.build_table([*once, *again]))
    assert len(table.rows) == 1
    assert table.outputs[:2] == table.outputs[2:]
