"""Functions of the language mean the same in machine code as in Python; what is not part of it is refused by line."""

import ctypes
import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.codegen import object_code
from core.codegen.object_code import LoadedLibrary
from core.machine_code.compiler import build_ir, compile_entry
from core.machine_code.entry import Entry
from core.machine_code.language import address_of, loader, merged, native, scratch, view, view_rows
from core.machine_code.records import ComplexRows, Floats, Record
from core.machine_code.translation import LanguageError

LIMIT = 4
"""A number of the module, which functions use."""
SMALL = st.integers(-40, 40)
REAL = st.floats(-1e3, 1e3) | st.sampled_from([0.0, -0.0, 1.0, math.inf, -math.inf, math.nan])
_loaded = []


def machine_code(function):
    """The function as C code sees it."""
    entry = Entry(function)
    library = LoadedLibrary(*compile_entry(entry))
    _loaded.append(library)
    numbers = {"int": ctypes.c_int64, "float": ctypes.c_double}
    return ctypes.CFUNCTYPE(ctypes.c_int64, *(numbers[each] for each in entry.arguments))(library.address("entry"))


def outcome(function, *arguments, room=16):
    """What a function gives, and what it writes into its room."""
    out = np.zeros(room)
    return function(*arguments, out.ctypes.data), out


def check(function, code, *arguments):
    in_python, in_code = outcome(function, *arguments), outcome(code, *arguments)
    assert in_python[0] == in_code[0]
    np.testing.assert_array_equal(in_code[1], in_python[1])


# ------------------------------------------------------------------------------- numbers


def whole(a: int, b: int, place: int) -> int:
    out = view(place, 16)
    out[0], out[1], out[2] = a + b, a - b, a * b
    out[3] = a // b if b != 0 else 0
    out[4] = a % b if b != 0 else 0
    out[5], out[6], out[7] = abs(a), min(a, b, 3), max(a, b, 3)
    out[8], out[9] = -a, a**3
    out[10] = a / b if b != 0 else 0.0
    out[11] = a < b <= LIMIT
    out[12] = a in (1, LIMIT, b)
    out[13] = a not in (0, b)
    return int(a == b) + 2 * int(a != b) + 4 * int(not a) + 8 * bool(b)


def real(a: float, b: float, place: int) -> int:
    out = view(place, 16)
    out[0], out[1], out[2] = a + b, a - b, a * b
    out[3] = a / b if b != 0.0 else 0.0
    out[4], out[5], out[6] = abs(a), min(a, b), max(a, b)
    out[7] = a**2
    out[9] = np.sqrt(abs(a))
    out[10], out[11] = np.copysign(2.5, a), np.isfinite(a)
    out[12] = np.ceil(a) + np.round(b)
    out[13] = -a if a < 0.0 else b
    count = int(a) if np.isfinite(a) else 7
    if a and b == b:
        count += LIMIT
    return count


WHOLE, REAL_CODE = machine_code(whole), machine_code(real)


@given(SMALL, SMALL)
def test_whole_numbers_are_those_of_python(a, b):
    check(whole, WHOLE, a, b)


@given(REAL, REAL)
def test_floats_are_those_of_python(a, b):
    a = np.float64(a)  # overflows to infinity, as machine code does
    with np.errstate(all="ignore"):
        check(real, REAL_CODE, a, np.float64(b))


def power(a: float, b: float, place: int) -> int:
    out = view(place, 4)
    out[0], out[1], out[2], out[3] = a**b, np.exp(-b), np.cbrt(a), a**7
    return 0


def test_powers_and_exponentials_are_those_of_the_c_library():
    code = machine_code(power)
    for a, b in [(2.0, 0.5), (0.3, -1.7), (1e-3, 0.2), (7.0, 3.0)]:
        (_, expected), (_, found) = outcome(power, a, b), outcome(code, a, b)
        np.testing.assert_allclose(found, expected, rtol=1e-15)


def complex_numbers(a: float, b: float, place: int) -> int:
    out = view(place, 16)
    x, y = complex(a, b), complex(b - 2.0, 0.5 * a)
    s, p, q = x + y - 1.0, x * y, x / y
    out[0], out[1] = s.real, s.imag
    out[2], out[3] = p.real, p.imag
    out[4], out[5] = q.real, q.imag
    return 0


@given(st.floats(-9, 9), st.floats(-9, 9))
def test_complex_numbers_are_those_of_python(a, b):
    if abs(complex(b - 2.0, 0.5 * a)) < 1e-6:
        return
    (_, expected), (_, found) = outcome(complex_numbers, a, b), outcome(COMPLEX, a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-14)


COMPLEX = machine_code(complex_numbers)


# ------------------------------------------------------------------------------- statements


def loops(first: int, end: int, place: int) -> int:
    out, turns = view(place, 16), 0
    for k in range(first, end, 3):
        if k == 5:
            continue
        if k > 30:
            break
        out[0] += k
    for k in range(end, first, -1):
        k = k + 1  # the loop goes on where it was
        out[1] += k
    for k in (2, 5, 7):
        out[2] += k
    while True:
        turns += 1
        if turns >= LIMIT or out[turns] < 0.0:
            break
    total = 0
    for x in out[:6]:
        total += x  # begins as a whole number, ends as a float
    out[7] = total
    return turns


LOOPS = machine_code(loops)


@given(SMALL, SMALL)
def test_loops_turn_as_often_as_in_python(first, end):
    check(loops, LOOPS, first, end)


@native
def noted(out: "object", k: int) -> bool:
    """Notes that it was asked."""
    out[k] += 1.0
    return k % 2 == 0


def short(a: int, b: int, place: int) -> int:
    out = view(place, 16)
    both = noted(out, a % 8) and noted(out, b % 8)
    either = noted(out, a % 4) or noted(out, b % 4)
    return 2 * both + either


def test_conditions_are_asked_no_further_than_needed():
    code = machine_code(short)
    for a in range(8):
        for b in range(8):
            check(short, code, a, b)


@merged
def both(a: float, b: float) -> "object":
    return min(a, b), max(a, b)


def arrays(first: int, end: int, place: int) -> int:
    out, room, rows = view(place, 16), scratch(4), view_rows(place, 4, 4)
    room[:] = 1.5
    low, high = both(room[0], LIMIT)
    part = out[first:end]
    part[:] = low
    rows[3][1:3] = high
    rows[2, 3], rows[3, 3] = rows[3, 3], 9.0
    last = rows[3] if end > 3 else out
    last[0] = address_of(part) - address_of(out) if len(part) > 0 else -1
    return len(part) + 100 * rows.shape[1] + len(rows)


@pytest.mark.parametrize("ends", [(0, 0), (1, 3), (2, 99), (5, 2), (20, 30)])
def test_slices_end_with_their_array(ends):
    code = machine_code(arrays)
    (count, expected), (found_count, found) = outcome(arrays, *ends), outcome(code, *ends)
    assert (count, found[1:12].tolist()) == (found_count, expected[1:12].tolist())
    np.testing.assert_array_equal(found[12:], expected[12:])


class Wave(Record):
    turns: int
    size: float
    x: Floats
    waves: ComplexRows


load_wave = loader(Wave)


def wave_entry(place: int) -> int:
    w = load_wave(place)
    w.turns += 2
    w.size = w.turns  # a whole number becomes a float
    w.waves[0, 1] = w.waves[0, 0] * complex(0.0, w.x[1])
    return w.waves.shape[1]


def test_records_hold_complex_numbers_too():
    for call in (wave_entry, machine_code(wave_entry)):
        wave = Wave(turns=1, size=0.0, x=np.array([1.0, 2.0]), waves=np.array([[3.0 + 1.0j, 0.0]]))
        assert call(wave.place) == 2
        assert (wave.turns, wave.size, wave.waves[0, 1]) == (3, 3.0, -2.0 + 6.0j)


# ------------------------------------------------------------------------------- what is refused


def keyword(a: int) -> int:
    return max(a, default=3)


def unknown(a: int) -> int:
    return math.floor(a)


def fraction_as_index(a: int) -> int:
    return int(view(a, 3)[a / 2])


def no_result(a: int) -> int:
    if a > 2:
        return 1


def listed(a: int) -> int:
    return [a][0]


def mixed(a: int) -> int:
    b = view(a, 1)
    b = 3
    return b


def too_early(a: int) -> int:
    if a:
        b = a
    return c + b  # noqa: F821


@native
def recursive(a: int) -> int:
    return recursive(a - 1) if a > 0 else 0


def calls_itself(a: int) -> int:
    return recursive(a)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (keyword, "only positional arguments"),
        (unknown, r"math\.floor is not supported in compiled functions"),
        (fraction_as_index, "float is given where int is required"),
        (no_result, "not every path through the function returns a value"),
        (listed, "List is not supported in compiled functions"),
        (mixed, "cannot be assigned to the same variable"),
        (too_early, "'c' is unknown"),
        (calls_itself, "calls itself, but recursion is not supported"),
    ],
)
def test_what_is_not_part_of_the_language_is_refused_with_its_line(function, reason):
    with pytest.raises(LanguageError, match=reason) as refused:
        compile_entry(Entry(function))
    if function is not calls_itself:
        line = int(re.search(r"test_translation\.py:(\d+): in", str(refused.value)).group(1))
        assert function.__code__.co_firstlineno <= line <= function.__code__.co_firstlineno + 4


def test_a_function_is_translated_once_whatever_number_of_entries_call_it():
    def other(a: int, b: int, place: int) -> int:
        return 3 * noted(view(place, 16), a)

    assert build_ir(Entry(other)).count("define internal i1") == build_ir(Entry(short)).count("define internal i1") == 1


@pytest.mark.parametrize("quickly", [False, True])
def test_code_made_in_a_hurry_gives_the_same_bits(quickly):
    libraries = [LoadedLibrary(*compile_entry(Entry(loops), quickly), level=object_code.QUICK)]
    libraries.append(LoadedLibrary(*compile_entry(Entry(loops)), level=object_code.FULL))
    for first, end in [(0, 12), (-7, 40), (5, 3)]:
        values = []
        for library in libraries:
            call = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 3)(library.address("entry"))
            turns, out = outcome(call, first, end)
            values.append((turns, out.tobytes()))
        assert values[0] == values[1]
