"""Symbolic function in machine code, called with one state or, in chunks on all cores, with arrays of states.

Every state is evaluated by the same code as by itself, so the numbers do not depend on the chunks. `KINETOSTAT_THREADS`
sets how many threads take part ("1": none but the calling one).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from core.codegen import direct_call
from core.codegen.direct_call import Path
from core.codegen.single_state import FREE, Guard
from core.codegen.tiered_code import TieredLibrary
from core.codegen.wide_code import WideCode

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor


PIECE = 1_000_000
"""Minimum number of operations per chunk: several times the cost of waking a thread."""
PIECES_A_THREAD = 4
"""Number of chunks per thread, so that a slower thread can take fewer."""
_pool: ThreadPoolExecutor | None = None
_lock = threading.Lock()


def thread_count() -> int:
    """Return the number of threads that evaluate an array: KINETOSTAT_THREADS if set, otherwise the cores available to
    this process."""
    given = os.environ.get("KINETOSTAT_THREADS", "")
    if given.isdecimal() and int(given):
        return int(given)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return cores or 1


def evaluate_in_chunks(count: int, operations: int, evaluate: Callable[[int, int], int]) -> int:
    """Evaluate `count` states in chunks, in parallel, and return the sum of the results of `evaluate(first, number)`.
    operations : number of operations per state.

    The calling thread does all that no other one comes to: it never waits for threads that others keep busy.
    """
    most = count * operations // PIECE
    if most < 2 or (together := thread_count()) < 2:
        return evaluate(0, count)
    number = min(most, PIECES_A_THREAD * together)
    borders = [count * k // number for k in range(number + 1)]
    pieces = deque(pairwise(borders))

    def evaluate_share() -> int:
        found = 0
        while True:
            try:
                first, end = pieces.popleft()
            except IndexError:
                return found
            found += evaluate(first, end - first)

    helpers: list[Future[int]] = []
    with contextlib.suppress(RuntimeError):  # when the program ends there are no new threads
        for _ in range(min(together, number) - 1):
            helpers.append(_thread_pool(together - 1).submit(evaluate_share))
    found = evaluate_share()
    return found + sum(helper.result() for helper in helpers if not helper.cancel())


def _thread_pool(count: int) -> ThreadPoolExecutor:
    """Return the shared thread pool."""
    from concurrent.futures import ThreadPoolExecutor  # arrays of this size are rare: it is not loaded at the start

    global _pool
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(count, "kinetostat-arrays")
        return _pool


def _discard_pool() -> None:
    """Drop the thread pool in a forked process, which has no such threads."""
    global _pool, _lock
    _pool, _lock = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_discard_pool)


Array = NDArray[np.float64]


class MachineCode:
    """Evaluates a function in machine code; see `evaluator.Code`.

    sizes : lengths of the arguments, the parameters last; size : length of the result
    operations : how many one evaluation takes, roughly; wide : code for long arrays, which follows
    """

    interpreted: ClassVar[bool] = False

    def __init__(
        self,
        library: TieredLibrary,
        sizes: Sequence[int],
        size: int,
        operations: int,
        wide: WideCode | None = None,
    ) -> None:
        self.library, self.wide = library, wide
        self.sizes, self.size, self.operations = tuple(sizes), size, operations
        self.single_address = library.address("single")
        self.batch_address = library.address("batch")
        kinds = [ctypes.c_int64, ctypes.c_int64, *[ctypes.c_void_p] * (len(sizes) + 1)]
        # CFUNCTYPE releases the interpreter's lock: long arrays of states run beside the window, and on all cores
        self._batch = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(self.batch_address)

    def path(self, p: Array, shape: Sequence[int], fallback: Path, guard: Guard = FREE) -> Path:
        """Return a function for single states; see `Code.path`."""
        return direct_call.build_direct_call(self.batch_address, (), self.sizes[:-1], p, shape, fallback, self, guard)

    def evaluate_batch(self, inputs: Sequence[Array], p: Array, out: Array) -> int:
        """Evaluate all states; returns the number of results that are not finite (if the function is checked)."""
        stride = p.shape[-1] if p.ndim > 1 else 0
        arrays, strides = (*inputs, p, out), (*self.sizes[:-1], stride, self.size)

        batch: Callable[..., int] = self._batch
        if self.wide is not None and not stride:
            batch = self.wide.find_batch(len(out)) or batch

        def evaluate_chunk(first: int, count: int) -> int:
            addresses = [array.ctypes.data + 8 * first * each for array, each in zip(arrays, strides, strict=True)]
            return int(batch(count, stride, *addresses))

        return evaluate_in_chunks(len(out), self.operations, evaluate_chunk)

    def optimise(self) -> None:
        """Optimise the code now; see `Code.optimise`."""
        self.library.optimise()
        if self.wide is not None and self.wide.is_wanted:
            self.wide.optimise()
