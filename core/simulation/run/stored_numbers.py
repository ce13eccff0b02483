"""What a run file may hold: numbers of its own, no more than it has bytes for, that fit the machine."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from core.files.regular_file import MODEL
from core.simulation.methods.method_table import METHODS, RECORDED

if TYPE_CHECKING:
    from core.mechanism import Mechanism
    from core.simulation.setup import Settings

UNPACKED = 256_000_000
"""Bytes that compressed numbers may unpack to beyond those of the file."""


def stored(file: Any, name: str, size: int) -> Any:
    """The data of a name in an open HDF5 file of so many bytes. Raises ValueError where they are elsewhere (links and
    views into other files are not followed), or more than the file can hold."""
    import h5py

    if not isinstance(file.get(name, getlink=True), h5py.HardLink):
        raise ValueError(f"'{name}' is a link")
    data = file[name]
    if not isinstance(data, h5py.Dataset) or data.is_virtual or data.external:
        raise ValueError(f"'{name}' holds no data of its own")
    if data.nbytes > max(size, UNPACKED):
        raise ValueError(f"'{name}' is said to hold {data.nbytes / 1e6:.0f} MB, the file has {size / 1e6:.0f}")
    return data


def numbers(file: Any, name: str, size: int, count: int) -> NDArray[np.float64]:
    """The first rows of stored numbers. Raises ValueError if they are none."""
    data = stored(file, name, size)
    if data.dtype.kind not in "fi":
        raise ValueError(f"'{name}' holds no numbers")
    return np.array(data[:count], dtype=float)


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
    if time.ndim != 1 or not len(time) or not np.isfinite(time).all() or np.any(np.diff(time) < 0.0):
        raise ValueError("its times do not grow")
    if settings.method not in METHODS and settings.method != RECORDED.id:
        raise ValueError(f"its method '{str(settings.method)[:40]}' is not known")
    given = settings.parameters
    if not isinstance(given, dict) or not all(_is_number(given.get(name)) for name in mech.p_names):
        raise ValueError("its parameters are not those of the machine")
    if not all(map(_is_number, (settings.duration, settings.rtol, settings.atol, settings.output, settings.start))):
        raise ValueError("its settings are no numbers")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
