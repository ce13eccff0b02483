"""Records are the same memory for Python and machine code, and functions mean the same in both."""

import ctypes

import numpy as np
import pytest

from core.codegen.object_code import LoadedLibrary
from core.files import load
from core.machine_code.entry import Entry
from core.machine_code.language import loader, native, scratch, view, view_rows
from core.machine_code.records import Fixed, FloatRows, Floats, Ints, Record
from core.machine_code.translation import LanguageError
from core.mechanism import Mechanism
from core.simulation.methods import adams, radau, runge_kutta
from core.simulation.run.initial_state import start_state
from core.simulation.run.settings import check_settings
from core.simulation.simulator import SimulationJob
from resources import EXAMPLES


class Notes(Record):
    size: Fixed
    count: int
    share: float = 0.25
    x: Floats
    rows: FloatRows
    numbers: Ints


load_notes = loader(Notes)


def notes():
    return Notes(size=2, count=3, x=np.array([1.0, 2.0]), rows=np.arange(6.0).reshape(2, 3), numbers=np.array([5, 7]))


@native
def doubled(place: int) -> None:
    s = load_notes(place)
    for i in range(s.size):
        s.x[i] *= 2.0
    s.count += len(s.rows) + s.rows.shape[1] + s.numbers[1]
    s.share = s.share + s.rows[1, 2]


def double_entry(place: int, factor: float, room: int) -> int:
    s, own = load_notes(place), scratch(3)
    own[2] = factor
    view(room, 6)[0] = own[2]
    view_rows(room, 2, 3)[1, 2] = 8.0
    doubled(place)
    return s.count


def misspelt_entry(place: int) -> int:
    return load_notes(place).cuont


def test_python_finds_a_record_by_its_address():
    whole = notes()
    found = Notes.at(whole.place)
    found.count, found.share, found.x[1] = 9, 0.5, -1.0
    assert (whole.size, whole.count, whole.share) == (2, 9, 0.5)
    np.testing.assert_array_equal(whole.x, [1.0, -1.0])
    np.testing.assert_array_equal(found.rows, whole.rows)
    assert found.numbers.tolist() == [5, 7]


def test_every_name_must_be_given_and_no_other():
    with pytest.raises(TypeError, match=r"Notes does not match its declaration: cuont, numbers, rows, size, x\."):
        Notes(count=1, cuont=2)


def test_a_record_with_arrays_of_its_own_shares_the_others():
    whole = notes()
    other = whole.copy_with_own_arrays("x", "numbers")
    assert Notes.at(other.place).x.tolist() == whole.x.tolist()
    other.x[:] = 8.0
    other.numbers[:] = 3
    other.count, other.rows[0, 0] = 17, -5.0
    assert whole.x.tolist() == notes().x.tolist()
    assert whole.numbers.tolist() == notes().numbers.tolist()
    assert whole.count == notes().count
    assert whole.rows[0, 0] == -5.0
    assert Notes.at(other.place).x.tolist() == [8.0, 8.0]
    assert Notes.at(whole.place).x.tolist() == notes().x.tolist()
    assert other.rows is whole.rows


def compiled(function):
    from core.machine_code.compiler import compile_entry

    bitcode, needed = compile_entry(Entry(function))
    return LoadedLibrary(bitcode, needed)


def test_machine_code_does_what_the_text_does_in_python():
    library = compiled(double_entry)
    code = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_double, ctypes.c_int64)(library.address("entry"))
    for call in (double_entry, code):
        whole, room = notes(), np.zeros(6)
        assert call(whole.place, 0.5, room.ctypes.data) == 3 + 2 + 3 + 7
        assert (whole.count, whole.share) == (15, 5.25)
        np.testing.assert_array_equal(whole.x, [2.0, 4.0])
        np.testing.assert_array_equal(room, [0.5, 0.0, 0.0, 0.0, 0.0, 8.0])


def test_a_name_that_is_not_declared_is_no_machine_code():
    with pytest.raises(LanguageError, match=r"test_records\.py:\d+: in misspelt_entry: Notes declares no 'cuont'"):
        compiled(misspelt_entry)


@pytest.mark.parametrize("machine", ["double_pendulum", "four_bar"])
@pytest.mark.parametrize(
    ("method", "code"), [("rk54", runge_kutta), ("rk853", runge_kutta), ("adams", adams), ("radau", radau)]
)
def test_a_step_of_a_method_is_the_same_in_machine_code_and_in_python(machine, method, code):
    """Text and machine code begin at the same state; what they leave behind is equal to rounding."""
    mech = Mechanism(load(EXAMPLES / f"{machine}.kst"))
    chosen = check_settings(mech, 1.0, method, None, 1e-6, 1e-8, None, 0.0, None, None, 1000)
    y = start_state(mech, None, None, mech.parameter_values())
    left = []
    for step in (code.step_entry, code.step_entry.function):
        job = SimulationJob(mech, chosen, y, None)
        for _ in range(3):
            assert step(job.state.place, 0.0, 0, 0) == 0
        left.append(job.state)
    np.testing.assert_allclose(left[0].new, left[1].new, rtol=1e-11, atol=1e-14)
    for field in left[0].fields:
        if not field.dimensions and not field.fixed:  # errors are small differences
            np.testing.assert_allclose(*(getattr(each, field.name) for each in left), rtol=1e-3, atol=1e-12)
