"""What a run file may hold: numbers of its own, no more than it has bytes for, that fit the machine."""

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
    """The first rows of stored numbers: many are not read, but mapped as they lie in the file. Raises ValueError if
    they are none."""
    data = stored(file, name, size)
    if data.dtype.kind not in "fi":
        raise ValueError(f"'{name}' holds no numbers")
    shape = (count, *data.shape[1:])
    if 8 * math.prod(shape) <= IN_MEMORY:
        return np.array(data[:count], dtype=float)
    offset = data.id.get_offset()  # of what lies there in one piece
    if offset is not None and data.dtype == np.dtype("<f8"):
        return mapped_from(path, offset, shape)
    return gathered(np.array(data[first : min(first + BLOCK, count)], dtype=float) for first in range(0, count, BLOCK))


def model_text(file: Any, size: int) -> str:
    """The stored model. Raises ValueError if it is no text of bearable size."""
    data = stored(file, "model", size)
    found = data[()] if data.shape == () else None
    if not isinstance(found, bytes) or len(found) > MODEL.most:
        raise ValueError("'model' is no text")
    return found.decode()


def check(mech: Mechanism, settings: Settings, arrays: Mapping[str, NDArray[np.float64]]) -> None:
    """Raises ValueError where samples or settings are not those of the machine."""
    widths = {"q": mech.nq, "v": mech.nv, "a": mech.nv, "tau": mech.nv}
    for name, width in widths.items():
        if arrays[name].shape[1:] != (width,):
            raise ValueError(f"'{name}' has rows of {arrays[name].shape[1:]} numbers, the machine has {width}")
    time = arrays["time"]
    if time.ndim != 1 or not len(time) or not _grow(time):
        raise ValueError("its times do not grow")
    if settings.method not in METHODS and settings.method != RECORDED.id:
        raise ValueError(f"its method '{str(settings.method)[:40]}' is not known")
    given = settings.parameters
    if not isinstance(given, dict) or not all(_is_number(given.get(name)) for name in mech.p_names):
        raise ValueError("its parameters are not those of the machine")
    if not all(map(_is_number, (settings.duration, settings.rtol, settings.atol, settings.output, settings.start))):
        raise ValueError("its settings are no numbers")


def _grow(times: NDArray[np.float64]) -> bool:
    """Whether times are finite, and none lies before the one before it."""
    parts = (times[max(first - 1, 0) : first + BLOCK] for first in range(0, len(times), BLOCK))
    return all(np.isfinite(part).all() and bool(np.all(np.diff(part) >= 0.0)) for part in parts)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
