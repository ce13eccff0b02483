"""Makes the machine code that a run of a machine needs ahead, in a worker process; the cache of object code keeps it.

A machine whose code was made once is not prepared again: an entry of the cache says so.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from core.apart.talk import Line
from core.apart.work_process import WorkProcess
from core.codegen import background, object_cache, object_code
from core.files.sent_model import SentModel
from core.mechanism.work_apart import work_apart

if TYPE_CHECKING:
    from core.mechanism import Mechanism

LOOK = 0.05
"""Seconds between two checks for the end of compilation."""
MARK = b"a run was prepared"
INTEGRATORS = "events.contact_steps"
"""Module that calls all integrators' equations: a change of any of its sources makes other code."""


def prepare_run(process: WorkProcess, mech: Mechanism, options: Mapping[str, Any]) -> bool:
    """Make the code that `simulate(mech, **options)` needs in a worker process, and wait for it; False: there was
    nothing to be done, no run is possible, or the process was ended.

    Errors are not reported: they are those of the run.
    """
    if object_cache.folder() is None:
        return False
    try:
        key = _key(SentModel.of(mech.model), options)
        if object_cache.load(key) == MARK:
            return False
        work_apart(process, mech, partial(_first_piece, dict(options)))
    except Exception:  # whatever it is, the run will report it
        return False
    object_cache.store(key, MARK)
    return True


def _key(model: SentModel, options: Mapping[str, Any]) -> str:
    from core.simulation.machine_code.intermediate import sources_of

    content = f"{model}\n{sorted(options.items())}\n{sources_of(INTEGRATORS)}"
    return object_cache.key(f"{object_code.processor()} run", hashlib.sha256(content.encode()).hexdigest())


def _first_piece(options: Mapping[str, Any], mech: Mechanism, line: Line) -> None:
    """Compute the first samples of a run, and wait for what is compiled in the background for the next one."""
    from core.simulation.machine_code.supply import AHEAD
    from core.simulation.simulator import simulate

    AHEAD.leave_to_others()
    simulate(mech, **options, cancelled=lambda: True)
    while background.busy() and not line.asked():
        time.sleep(LOOK)
