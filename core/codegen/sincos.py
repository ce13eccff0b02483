"""Sine and cosine in LLVM IR: both of one angle in a few nanoseconds, as accurate as the C library.

Reduction to |r| ≤ π/4 by multiples of π/2 in three parts (Cody and Waite 1980), then Taylor polynomials.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence


def number(x: float) -> str:
    """Return the exact IR text of a double."""
    return "0x" + struct.pack(">d", x).hex().upper()


_HALF_PI = (float.fromhex("0x1.921fb54442d18p+0"), float.fromhex("0x1.1a62633145c07p-54"), -1.4973849048591833e-33)
"""π/2 as a sum of three doubles."""
_SIN = (-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000,
        1.0 / 355687428096000)  # fmt: skip
_COS = (-0.5, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600, -1.0 / 87178291200,
        1.0 / 20922789888000)  # fmt: skip
"""Taylor coefficients of (sin r − r)/r³ and (cos r − 1)/r²; the first omitted terms are below 1e-17."""
_FAR = 2.0**20
"""Argument (rad) above which the C library is called, which reduces it exactly."""

_TEXT = """
define internal {double, double} @sincos(double %x) noinline nounwind {
  %size = call double @llvm.fabs.f64(double %x)
  %near = fcmp olt double %size, @FAR
  br i1 %near, label %inside, label %outside
inside:
  %turns = fmul double %x, @TWO_OVER_PI
  %k = call double @llvm.rint.f64(double %turns)
  %minus = fneg double %k
  %r1 = call double @llvm.fma.f64(double %minus, double @PART0, double %x)
  %r2 = call double @llvm.fma.f64(double %minus, double @PART1, double %r1)
  %r = call double @llvm.fma.f64(double %minus, double @PART2, double %r2)
  %rr = fmul double %r, %r
  %rrr = fmul double %rr, %r
@SINE
@COSINE
  %sine = call double @llvm.fma.f64(double %rrr, double %s, double %r)
  %cosine = call double @llvm.fma.f64(double %rr, double %c, double 1.0)
  %whole = fptosi double %k to i64
  %odd = trunc i64 %whole to i1
  %p = select i1 %odd, double %cosine, double %sine
  %q = select i1 %odd, double %sine, double %cosine
  %np = fneg double %p
  %nq = fneg double %q
  %two = and i64 %whole, 2
  %sneg = icmp ne i64 %two, 0
  %next = add i64 %whole, 1
  %two2 = and i64 %next, 2
  %cneg = icmp ne i64 %two2, 0
  %sin = select i1 %sneg, double %np, double %p
  %cos = select i1 %cneg, double %nq, double %q
  br label %done
outside:
  %fs = call double @sin(double %x)
  %fc = call double @cos(double %x)
  br label %done
done:
  %as = phi double [%sin, %inside], [%fs, %outside]
  %ac = phi double [%cos, %inside], [%fc, %outside]
  %pair = insertvalue {double, double} undef, double %as, 0
  %both = insertvalue {double, double} %pair, double %ac, 1
  ret {double, double} %both
}
"""


def _horner_lines(name: str, coefficients: Sequence[float]) -> str:
    """Return lines that evaluate a polynomial in %rr as %name."""
    lines, value, last = [], number(coefficients[-1]), len(coefficients) - 2
    for k, coefficient in enumerate(reversed(coefficients[:-1])):
        target = f"%{name}" if k == last else f"%{name}{k}"
        lines.append(
            f"  {target} = call double @llvm.fma.f64(double {value}, double %rr, double {number(coefficient)})"
        )
        value = target
    return "\n".join(lines)


def _sincos_ir() -> str:
    text = _TEXT.replace("@SINE", _horner_lines("s", _SIN)).replace("@COSINE", _horner_lines("c", _COS))
    text = text.replace("@FAR", number(_FAR)).replace("@TWO_OVER_PI", number(0.6366197723675814))
    for k, part in enumerate(_HALF_PI):
        text = text.replace(f"@PART{k}", number(part))
    return text


SINCOS = _sincos_ir()
"""LLVM IR of {sin x, cos x} @sincos(double)."""
