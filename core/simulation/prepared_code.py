"""Compiles the machine code that a run of a machine needs ahead of time in a worker process, which stores it in the
cache of object code.

A machine whose code was made once is not prepared again: an entry of the cache says so.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from core.apart.talk import TaskConnection
from core.apart.work_process import WorkProcess
from core.codegen import background, object_cache
from core.codegen.processor import processor_identification
from core.codegen.tiered_code import OPTIMISER
from core.files.sent_model import PackedModel
from core.mechanism.work_apart import run_in_worker

if TYPE_CHECKING:
    from core.mechanism import Mechanism

LOOK = 0.05
"""Seconds between two checks for the end of compilation."""
MARK = b"a run was prepared"
INTEGRATORS = "simulation.events.contact_steps"
"""Module that calls all integrators' equations: a change of any of its sources makes other code."""


def prepare_run(process: WorkProcess, mech: Mechanism, options: Mapping[str, Any]) -> bool:
    """Compile the code that `simulate(mech, **options)` needs in a worker process, and wait for it; returns False if
    nothing had to be done, no run is possible, or the process was ended.

    Errors are not reported: they are those of the run.
    """
    if object_cache.cache_folder() is None:
        return False
    try:
        key = _run_key(PackedModel.of(mech.model), options)
        if object_cache.load(key) == MARK:
            return False
        run_in_worker(process, mech, partial(_compute_first_piece, dict(options)))
    except Exception:  # whatever it is, the run will report it
        return False
    object_cache.store_object_code(key, MARK)
    return True


def _run_key(model: PackedModel, options: Mapping[str, Any]) -> str:
    from core.machine_code.intermediate import hash_sources

    content = f"{model}\n{sorted(options.items())}\n{hash_sources(INTEGRATORS)}"
    return object_cache.cache_key(f"{processor_identification()} run", hashlib.sha256(content.encode()).hexdigest())


def _compute_first_piece(options: Mapping[str, Any], mech: Mechanism, line: TaskConnection) -> None:
    """Compute the first samples of a run, and wait for what is compiled in the background for the next one."""
    from core.machine_code.supply import AHEAD
    from core.simulation.simulator import simulate

    AHEAD.leave_to_others()
    simulate(mech, **options, cancelled=lambda: True)
    while (background.is_busy() or OPTIMISER.is_busy) and not line.should_stop():
        time.sleep(LOOK)
