"""Checks of the numbers in a run file: stored in the file itself, no larger than the file can hold, and consistent with
the machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.files.hdf5_file import stored
from core.files.regular_file import MODEL
from core.simulation.methods import METHODS
from core.simulation.methods.method import RECORDED
from core.simulation.run.growing_rows import BLOCK, IN_MEMORY, gathered, mapped_from

if TYPE_CHECKING:
    from core.mechanism import Mechanism
    from core.simulation.setup import Settings


def numbers(file: Any, path: str, name: str, size: int, count: int) -> NDArray[np.float64]:
    """Return the first rows of a dataset; large ones are memory-mapped instead of read. Raises ValueError if it holds
    no numbers."""
    data = stored(file, name, size)
    if data.dtype.kind not in "fi":
        raise ValueError(f"'{name}' contains no numbers")
    shape = (count, *data.shape[1:])
    if 8 * math.prod(shape) <= IN_MEMORY:
        return np.array(data[:count], dtype=float)
    offset = data.id.get_offset()  # of what lies there in one piece
    if offset is not None and data.dtype == np.dtype("<f8"):
        return mapped_from(path, offset, shape)
    return gathered(np.array(data[first : min(first + BLOCK, count)], dtype=float) for first in range(0, count, BLOCK))


def model_text(file: Any, size: int) -> str:
    """Return the stored model. Raises ValueError if it is not a text of reasonable size."""
    data = stored(file, "model", size)
    found = data[()] if data.shape == () else None
    if not isinstance(found, bytes) or len(found) > MODEL.most:
        raise ValueError("'model' is not a valid text")
    return found.decode()


def check(mech: Mechanism, settings: Settings, arrays: Mapping[str, NDArray[np.float64]]) -> None:
    """Raise ValueError if samples or settings do not match the machine."""
    widths = {"q": mech.nq, "v": mech.nv, "a": mech.nv, "tau": mech.nv}
    for name, width in widths.items():
        if arrays[name].shape[1:] != (width,):
            raise ValueError(f"'{name}' has rows of {arrays[name].shape[1:]} numbers, but the machine needs {width}")
    time = arrays["time"]
    if time.ndim != 1 or not len(time) or not _are_increasing(time):
        raise ValueError("its times are not increasing")
    if settings.method not in METHODS and settings.method != RECORDED.id:
        raise ValueError(f"its method '{str(settings.method)[:40]}' is unknown")
    given = settings.parameters
    if not isinstance(given, dict) or not all(_is_number(given.get(name)) for name in mech.p_names):
        raise ValueError("its parameters do not match the machine")
    if not all(map(_is_number, (settings.duration, settings.rtol, settings.atol, settings.output, settings.start))):
        raise ValueError("its settings are not numbers")


def _are_increasing(times: NDArray[np.float64]) -> bool:
    """Return True if times are finite and do not decrease."""
    parts = (times[max(first - 1, 0) : first + BLOCK] for first in range(0, len(times), BLOCK))
    return all(np.isfinite(part).all() and bool(np.all(np.diff(part) >= 0.0)) for part in parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
