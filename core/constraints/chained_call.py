"""Single calls from Python that chain compiled functions of a machine with those of `core.constraints.resting_forces`.

Forward dynamics: M(q), h(q, v), friction and stop forces f, then a(q, v, τ + f) without friction. Inverse dynamics:
τ(q, v, a) with the friction that slides, M(q), then τ − f. All memory is on the stack.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.codegen import direct_call
from core.codegen.direct_call import Path
from core.codegen.object_code import LoadedLibrary
from core.codegen.single_state import FREE, Guard

Array = NDArray[np.float64]

_WORDS = ("entry", "rows", "mass", "bias", "dynamics", "nv", "square", "states")
"""Table of a call: addresses of the entry, its rows and the functions; nv, nv nv, and 8-byte words of a `States`."""
_HEAD = """
define i64 @{name}(i64 %n, i64 %stride, i64 %table, i64 %w, i64 %x, i64 %y1, i64 %z, ptr %q, ptr %v, ptr %u, ptr %p,
    ptr %y) nounwind {{
  %words = inttoptr i64 %table to ptr
{words}
  %M = alloca double, i64 %square
  %h = alloca double, i64 %nv
  %f = alloca double, i64 %nv
  %s = alloca i64, i64 %states
  call void @llvm.memset.p0.i64(ptr %s, i8 0, i64 88, i1 false)
{fields}
  %masses = inttoptr i64 %mass to ptr
  %failed1 = call i64 %masses(i64 1, i64 0, ptr %q, ptr %p, ptr %M)
  %motion = inttoptr i64 %dynamics to ptr
  %act = inttoptr i64 %entry to ptr
  %at = ptrtoint ptr %s to i64
"""
_FORWARD = """
  %biases = inttoptr i64 %bias to ptr
  %failed2 = call i64 %biases(i64 1, i64 0, ptr %q, ptr %v, ptr %p, ptr %h)
{combine}
  %failed = call i64 %motion(i64 1, i64 0, ptr %q, ptr %v, ptr %f, ptr %p, ptr %y)
  ret i64 %failed
general:
  ret i64 1
}}
"""
_INVERSE = """
  %failed2 = call i64 %motion(i64 1, i64 0, ptr %q, ptr %v, ptr %u, ptr %p, ptr %y)
{combine}
  ret i64 0
general:
  ret i64 1
}}
"""
_COMBINE = """  %refused = call i64 %act(i64 %rows, i64 %at, i64 1)
  %bad = icmp ne i64 %refused, 0
  br i1 %bad, label %general, label %each
each:
  %i = phi i64 [0, %0], [%next, %each]
  %own_at = getelementptr double, ptr {own}, i64 %i
  %force_at = getelementptr double, ptr %f, i64 %i
  %result_at = getelementptr double, ptr {result}, i64 %i
  %own = load double, ptr %own_at
  %force = load double, ptr %force_at
  %both = {operation} double %own, %force
  store double %both, ptr %result_at
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %nv
  br i1 %more, label %each, label %end
end:"""
"""Calls the entry for the forces f, and combines them with given ones; refused states take the general path."""
_FIELDS = {"q": 0, "v": 1, "u": 2, "M": 3, "h": 4, "f": 10}
"""Words of `core.constraints.resting_forces.States` that are set."""


def build_chained_call(
    forward: bool,
    addresses: dict[str, int],
    sizes: tuple[int, int],
    p: Array,
    fallback: Path,
    kept_objects: Any,
    guard: Guard = FREE,
) -> Path:
    """Return a function of single states (q, v, τ or a) → accelerations, or joint forces.

    addresses : of what `_WORDS` names, from "entry" to "dynamics"; sizes : nq, nv; p : parameters; fallback : the
    path for everything else, and for states that are refused; kept_objects : what must live as long as the addresses
    """
    nq, nv = sizes
    known = {**addresses, "nv": nv, "square": nv * nv, "states": 11}
    table = np.array([known[word] for word in _WORDS], dtype=np.int64)
    address = _library().address("forward" if forward else "inverse")
    further = (table.ctypes.data, 0, 0, 0, 0)
    return direct_call.build_direct_call(
        address, further, (nq, nv, nv), p, (nv,), fallback, (kept_objects, table), guard
    )


@cache
def _library() -> LoadedLibrary:
    words = "\n".join(
        f"  %{word}_at = getelementptr i64, ptr %words, i64 {k}\n  %{word} = load i64, ptr %{word}_at"
        for k, word in enumerate(_WORDS)
    )
    fields = "\n".join(
        f"  %{name}_word = ptrtoint ptr %{name} to i64\n"
        f"  %{name}_place = getelementptr i64, ptr %s, i64 {k}\n"
        f"  store i64 %{name}_word, ptr %{name}_place"
        for name, k in _FIELDS.items()
    )
    forward = _FORWARD.format(combine=_COMBINE.format(own="%u", result="%f", operation="fadd"))
    inverse = _INVERSE.format(combine=_COMBINE.format(own="%y", result="%y", operation="fsub"))
    parts = [
        _HEAD.format(name=name, words=words, fields=fields) + body
        for name, body in (("forward", forward), ("inverse", inverse))
    ]
    return LoadedLibrary("\n".join(["declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)", *parts]))
