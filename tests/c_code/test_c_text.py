"""C text of traces: long functions in pieces give what short ones give; every operation has the meaning of CasADi."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from core.codegen import c_text
from core.codegen.c_text import PRECISIONS, write_c_function

COMPILER = shutil.which("cc")
pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler")


def _value(function: ca.Function, folder: Path, x: np.ndarray, flags: tuple[str, ...] = ()) -> np.ndarray:
    written = write_c_function("own", function, PRECISIONS["double"], ["x"])
    text = (
        f"#include <math.h>\n{written.text}\nvoid call(const double x[], double y[]) {{ {written.call(['x'], 'y')} }}\n"
    )
    (folder / "own.c").write_text(text)
    command = [COMPILER or "", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function", *flags]
    subprocess.run([*command, "-shared", "-fPIC", "own.c", "-o", "own.so", "-lm"], cwd=folder, check=True)
    out = np.empty(written.size)
    library = ctypes.CDLL(str(folder / "own.so"))
    library.call(ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(out.ctypes.data))
    return out


def _operations() -> ca.Function:
    x = ca.SX.sym("x", 3)
    a, b, c = x[0], x[1], x[2]
    one = [a + b, a - b, a * b, a / b, -a, a**2, 2 * a, 1 / a, ca.sqrt(b), ca.sin(a), ca.cos(a), ca.tan(a)]
    two = [ca.fabs(c), ca.floor(c), ca.ceil(c), ca.fmin(a, c), ca.fmax(a, c), ca.exp(c), ca.log(b), ca.atan2(a, c)]
    three = [ca.sign(c), ca.sign(a), a < b, a <= a, ca.logic_and(a < b, c < a), ca.logic_or(a < c, b < c)]
    four = [ca.if_else(a < b, c, b), ca.logic_not(a < b), a == b, a != b, ca.tanh(c), b**c, ca.copysign(a, c)]
    return ca.Function("f", [x], [ca.vertcat(*one, *two, *three, *four, 0.1, 1e300, ca.sin(ca.sin(a)))])


def test_every_operation_means_what_it_does_in_casadi(tmp_path: Path) -> None:
    function, x = _operations(), np.array([0.7, 1.9, -2.3])
    assert np.array_equal(_value(function, tmp_path, x), np.ravel(function(x)))


def test_pieces_give_what_the_whole_gives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = ca.SX.sym("x", 6)
    values = [x[i] for i in range(6)]
    rng = np.random.default_rng(1)
    for _ in range(400):  # values that are read long after they were made
        i, j = rng.integers(0, len(values), 2)
        values.append(ca.sin(values[int(i)]) + 0.5 * values[int(j)])
    function = ca.Function("f", [x], [ca.vertcat(*values[-40:], *values[6:30])])
    at = rng.uniform(-1.0, 1.0, 6)
    (tmp_path / "whole").mkdir()
    whole = _value(function, tmp_path / "whole", at)
    monkeypatch.setattr(c_text, "LONGEST", 100)
    monkeypatch.setattr(c_text, "PIECE", 37)
    assert np.array_equal(_value(function, tmp_path, at), whole)
    assert np.array_equal(whole, np.ravel(function(at)))
