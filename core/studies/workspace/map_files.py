"""Map files: HDF5 with all data and a checksum, CSV of points, values and poses, PLY and VTU of points and values."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.errors import FileError
from core.files.sealed_file import sealed
from core.files.source import write_whole

Array = NDArray[np.float64]


def write(found: Any, path: str | os.PathLike[str]) -> None:
    """Write a map (`core.studies.workspace.workspace_map`) atomically, in the format of the path's suffix."""
    make = WRITERS.get(Path(path).suffix.lower())
    if make is None:
        raise FileError(
            "Maps cannot be written in this format.", file=str(path), remedy=f"Choose one of {', '.join(WRITERS)}."
        )
    write_whole(path, make(found))


def _csv(found: Any) -> bytes:
    heads = ["x (m)", "y (m)", "z (m)", f"{found.kind}{f' ({found.unit})' if found.unit else ''}", *found.names]
    head = ",".join(f'"{each}"' if "," in each or '"' in each else each for each in heads)
    rows = np.concatenate([found.points, found.values[:, None], found.q], axis=1)
    text = io.StringIO()
    text.write(f"{head}\n")
    np.savetxt(text, rows, fmt="%.10g", delimiter=",")
    return text.getvalue().encode("utf-8")


def _ply(found: Any) -> bytes:
    head = (
        "ply\nformat binary_little_endian 1.0\n"
        f"comment {found.title} of {_one_line(found.frame)}, {found.unit or 'a number'}\n"
        f"element vertex {len(found.points)}\n"
        "property double x\nproperty double y\nproperty double z\nproperty double value\nend_header\n"
    )
    rows = np.concatenate([found.points, found.values[:, None]], axis=1)
    return head.encode("utf-8") + rows.astype("<f8").tobytes()


def _one_line(text: str) -> str:
    """Join a text into one line."""
    return " ".join(text.split())


def _vtu(found: Any) -> bytes:
    """Write points as vertices of an unstructured grid, with raw data appended to the XML."""
    n = len(found.points)
    blocks: list[bytes] = []
    offset = 0

    def appended(name: str, kind: str, array: NDArray[np.generic], components: int = 1) -> str:
        nonlocal offset
        data = array.tobytes()
        blocks.append(np.uint64(len(data)).tobytes() + data)
        place, offset = offset, offset + 8 + len(data)
        return (
            f'<DataArray type="{kind}" Name="{_escaped(name)}" NumberOfComponents="{components}" format="appended" '
            f'offset="{place}"/>\n'
        )

    values = appended(found.kind, "Float64", found.values.astype("<f8"))
    values += "".join(
        appended(name, "Float64", np.ascontiguousarray(found.q[:, k]).astype("<f8"))
        for k, name in enumerate(found.names)
    )
    points = appended("Points", "Float64", found.points.astype("<f8"), 3)
    cells = appended("connectivity", "Int64", np.arange(n, dtype="<i8"))
    cells += appended("offsets", "Int64", np.arange(1, n + 1, dtype="<i8"))
    cells += appended("types", "UInt8", np.ones(n, dtype="u1"))
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
        'header_type="UInt64">\n<UnstructuredGrid>\n'
        f'<Piece NumberOfPoints="{n}" NumberOfCells="{n}">\n<PointData Scalars="{_escaped(found.kind)}">\n{values}'
        f"</PointData>\n<Points>\n{points}</Points>\n<Cells>\n{cells}</Cells>\n</Piece>\n</UnstructuredGrid>\n"
        '<AppendedData encoding="raw">\n_'
    )
    return text.encode("utf-8") + b"".join(blocks) + b"\n</AppendedData>\n</VTKFile>\n"


def _escaped(text: str) -> str:
    from xml.sax.saxutils import escape

    return escape(text, {'"': "&quot;"})


def _hdf5(found: Any) -> bytes:
    import h5py

    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        arrays: Mapping[str, NDArray[np.generic]] = {
            "points": found.points,
            "q": found.q,
            "values": found.values,
            "boundary": found.boundary,
            "bounds": found.bounds,
            "inside": found.inside,
            "cells/origin": found.cells.origin,
            "cells/best": found.cells.best,
        }
        for name, array in arrays.items():
            file.create_dataset(name, data=array)
        file["cells"].attrs["size"] = found.cells.size
        if found.plane is not None:
            file.create_dataset("plane/origin", data=found.plane.origin)
            file.create_dataset("plane/axes", data=found.plane.axes)
        words = ("machine", "frame", "kind", "title", "about", "unit", "best")
        for each in (*words, "area", "volume", "error", "complete"):
            file.attrs[each] = getattr(found, each)
        for each in ("names", "over", "notes"):
            file.attrs.create(each, list(getattr(found, each)), dtype=h5py.string_dtype())
    return sealed(memory.getvalue())


WRITERS: dict[str, Callable[[Any], bytes]] = {".h5": _hdf5, ".csv": _csv, ".ply": _ply, ".vtu": _vtu}
"""Writers by file suffix."""
