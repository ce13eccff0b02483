"""Exchange of linear systems with other programs: python-control, NumPy archives, MATLAB files."""

from __future__ import annotations

import io
import os
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError, ModelError

Array = NDArray[np.float64]

MATRICES = ("A", "B", "C", "D", "x0", "u0", "y0", "residual")
NAMES = ("state_names", "input_names", "output_names")


class ImportedSystem(NamedTuple):
    """Linear system read from another program: matrices, names, units of states, inputs and outputs, operating
    point."""

    A: Array
    B: Array
    C: Array
    D: Array
    names: tuple[tuple[str, ...], ...]
    units: tuple[tuple[str, ...], ...]
    point: tuple[Array, ...]
    """Operating point: x0, u0, y0, residual."""


def to_control(system: Any) -> Any:
    """Convert to control.StateSpace with our signal names; dots, which python-control does not accept, become '_'."""
    try:
        import control
    except ImportError:
        raise ModelError(
            "python-control is not installed.",
            remedy="Install it (pip install control, or kinetostat[control]), or use to_scipy().",
        ) from None
    names = {
        word: [each.replace(".", "_") for each in getattr(system, f"{word[:-1]}_names")]
        for word in ("states", "inputs", "outputs")
    }
    return control.ss(system.A, system.B, system.C, system.D, **names)


def from_control(system: Any) -> ImportedSystem:
    """Convert a continuous state space of python-control. Raises ModelError for one in discrete time."""
    if getattr(system, "dt", 0) not in (0, None):
        raise ModelError(
            f"The system is in discrete time, with steps of {system.dt} s.",
            where="system",
            remedy="Give a system in continuous time.",
        )
    A, B, C, D = (np.asarray(each, dtype=float) for each in (system.A, system.B, system.C, system.D))
    names = tuple(tuple(getattr(system, f"{word}_labels")) for word in ("state", "input", "output"))
    units = tuple(("",) * len(each) for each in names)
    sizes = (A.shape[0], B.shape[1], C.shape[0], A.shape[0])
    return ImportedSystem(A, B, C, D, names, units, tuple(np.zeros(size) for size in sizes))


def to_npz(system: Any, path: str | os.PathLike[str]) -> None:
    """Write matrices, operating point, names and units to a NumPy archive."""
    out = io.BytesIO()
    np.savez(out, **_system_arrays(system))
    _write_atomically(path, out.getvalue())


def from_npz(path: str | os.PathLike[str]) -> ImportedSystem:
    """Read a file written by `to_npz`, without executing anything that it contains. Raises FileError."""
    try:
        with np.load(path, allow_pickle=False) as found:
            data = {name: found[name] for name in found.files}
        names = tuple(tuple(str(each) for each in data[name]) for name in NAMES)
        units = tuple(tuple(str(each) for each in data[f"{word}_units"]) for word in ("state", "input", "output"))
        A, B, C, D, *point = (np.asarray(data[name], dtype=float) for name in MATRICES)
        return ImportedSystem(A, B, C, D, names, units, tuple(point))
    except (OSError, KeyError, ValueError, TypeError) as error:
        raise FileError(
            f"The file does not contain a linear system: {error}.",
            file=str(path),
            remedy="Choose a file written by `to_npz`.",
        ) from None


def to_mat(system: Any, path: str | os.PathLike[str]) -> None:
    """Write a MATLAB file with the same content, for ss(A, B, C, D, 'StateName', cellstr(state_names), …)."""
    from scipy.io import savemat

    arrays = _system_arrays(system)
    cells = {
        name: np.array(list(map(str, value)), dtype=object) if value.dtype.kind == "U" else value
        for name, value in arrays.items()
    }
    out = io.BytesIO()
    savemat(out, cells, oned_as="column")
    _write_atomically(path, out.getvalue())


def _system_arrays(system: Any) -> dict[str, Any]:
    units = zip(("state", "input", "output"), system.units, strict=True)
    return {
        **{name: getattr(system, name) for name in MATRICES},
        **{name: np.array(getattr(system, name), dtype=np.str_) for name in NAMES},
        **{f"{word}_units": np.array(each, dtype=np.str_) for word, each in units},
    }


def _write_atomically(path: str | os.PathLike[str], data: bytes) -> None:
    from core.files.source import write_atomically

    write_atomically(os.fspath(path), data)
