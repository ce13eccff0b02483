"""Workspace map: points of a frame with the poses that reach them, values, and the size of the reachable set; and its
files: HDF5 with all data and a checksum, CSV of points, values and poses, PLY and VTU of points and values.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from core.errors import FileError, ModelError
from core.files.hdf5_file import import_hdf5
from core.files.sealed_file import with_checksums
from core.files.source import write_atomically
from core.later import dataclass
from core.studies.workspace.planar_area import Plane
from core.studies.workspace.space_cells import GridCells, build_cells

Array = NDArray[np.float64]


def write_map(workspace_map: Any, path: str | os.PathLike[str]) -> None:
    """Write a map (`core.studies.workspace.workspace_map`) atomically, in the format of the path's suffix."""
    make = WRITERS.get(Path(path).suffix.lower())
    if make is None:
        raise FileError(
            "Maps cannot be written in this format.", file=str(path), remedy=f"Choose one of {', '.join(WRITERS)}."
        )
    write_atomically(path, make(workspace_map))


def _to_csv(workspace_map: Any) -> bytes:
    heads = [
        "x (m)",
        "y (m)",
        "z (m)",
        f"{workspace_map.kind}{f' ({workspace_map.unit})' if workspace_map.unit else ''}",
        *workspace_map.names,
    ]
    head = ",".join(f'"{each}"' if "," in each or '"' in each else each for each in heads)
    rows = np.concatenate([workspace_map.points, workspace_map.values[:, None], workspace_map.q], axis=1)
    text = io.StringIO()
    text.write(f"{head}\n")
    np.savetxt(text, rows, fmt="%.10g", delimiter=",")
    return text.getvalue().encode("utf-8")


def _to_ply(workspace_map: Any) -> bytes:
    head = (
        "ply\nformat binary_little_endian 1.0\n"
        f"comment {workspace_map.title} of {_join_lines(workspace_map.frame)}, {workspace_map.unit or 'a number'}\n"
        f"element vertex {len(workspace_map.points)}\n"
        "property double x\nproperty double y\nproperty double z\nproperty double value\nend_header\n"
    )
    rows = np.concatenate([workspace_map.points, workspace_map.values[:, None]], axis=1)
    return head.encode("utf-8") + rows.astype("<f8").tobytes()


def _join_lines(text: str) -> str:
    """Join a text into one line."""
    return " ".join(text.split())


def _to_vtu(workspace_map: Any) -> bytes:
    """Write points as vertices of an unstructured grid, with raw data appended to the XML."""
    n = len(workspace_map.points)
    blocks: list[bytes] = []
    offset = 0

    def append_array(name: str, kind: str, array: NDArray[np.generic], components: int = 1) -> str:
        nonlocal offset
        data = array.tobytes()
        blocks.append(np.uint64(len(data)).tobytes() + data)
        place, offset = offset, offset + 8 + len(data)
        return (
            f'<DataArray type="{kind}" Name="{_escape_xml(name)}" NumberOfComponents="{components}" format="appended" '
            f'offset="{place}"/>\n'
        )

    values = append_array(workspace_map.kind, "Float64", workspace_map.values.astype("<f8"))
    values += "".join(
        append_array(name, "Float64", np.ascontiguousarray(workspace_map.q[:, k]).astype("<f8"))
        for k, name in enumerate(workspace_map.names)
    )
    points = append_array("Points", "Float64", workspace_map.points.astype("<f8"), 3)
    cells = append_array("connectivity", "Int64", np.arange(n, dtype="<i8"))
    cells += append_array("offsets", "Int64", np.arange(1, n + 1, dtype="<i8"))
    cells += append_array("types", "UInt8", np.ones(n, dtype="u1"))
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="UnstructuredGrid" version="1.0" byte_order="LittleEndian" '
        'header_type="UInt64">\n<UnstructuredGrid>\n'
        f'<Piece NumberOfPoints="{n}" NumberOfCells="{n}">\n'
        f'<PointData Scalars="{_escape_xml(workspace_map.kind)}">\n{values}'
        f"</PointData>\n<Points>\n{points}</Points>\n<Cells>\n{cells}</Cells>\n</Piece>\n</UnstructuredGrid>\n"
        '<AppendedData encoding="raw">\n_'
    )
    return text.encode("utf-8") + b"".join(blocks) + b"\n</AppendedData>\n</VTKFile>\n"


def _escape_xml(text: str) -> str:
    from xml.sax.saxutils import escape

    return escape(text, {'"': "&quot;"})


def _to_hdf5(workspace_map: Any) -> bytes:
    h5py = import_hdf5()

    memory = io.BytesIO()
    with h5py.File(memory, "w") as file:
        arrays: Mapping[str, NDArray[np.generic]] = {
            "points": workspace_map.points,
            "q": workspace_map.q,
            "values": workspace_map.values,
            "boundary": workspace_map.boundary,
            "bounds": workspace_map.bounds,
            "inside": workspace_map.inside,
            "cells/origin": workspace_map.cells.origin,
            "cells/best": workspace_map.cells.best,
        }
        for name, array in arrays.items():
            file.create_dataset(name, data=array)
        file["cells"].attrs["size"] = workspace_map.cells.size
        if workspace_map.plane is not None:
            file.create_dataset("plane/origin", data=workspace_map.plane.origin)
            file.create_dataset("plane/axes", data=workspace_map.plane.axes)
        words = ("machine", "frame", "kind", "title", "about", "unit", "best")
        for each in (*words, "area", "volume", "error", "complete"):
            file.attrs[each] = getattr(workspace_map, each)
        for each in ("names", "over", "notes"):
            file.attrs.create(each, list(getattr(workspace_map, each)), dtype=h5py.string_dtype())
    return with_checksums(memory.getvalue())


WRITERS: dict[str, Callable[[Any], bytes]] = {".h5": _to_hdf5, ".csv": _to_csv, ".ply": _to_ply, ".vtu": _to_vtu}
"""Writers by file suffix."""


@dataclass(frozen=True, eq=False)
class WorkspaceMap:
    """Map of a frame's reachable points with a value at each.

    machine, frame, kind : of what; title, about, unit : what the values are
    points : (n, 3) m, world; q : (n, nq) the poses that reach them; values : (n,), infinite or NaN where there is none
    names : of coordinates in q; over : of those that ran; best : whether of several poses at a place the largest value
    counts, or the least
    cells : of equal size, with the sample of each that counts (`inside` says which hold one)
    area, volume, error : m² or m³; NaN where there is none (a curve, a surface in space, or stopped before)
    boundary : (n, 2, 3) m, ends of pieces of the curves that bound a planar area
    plane : in which the points lie, None in space
    complete : False where it was stopped; growing : whether a finer one is on its way; notes : what a reader must know
    """

    machine: str
    frame: str
    kind: str
    title: str
    about: str
    unit: str
    points: Array
    q: Array
    values: Array
    names: tuple[str, ...]
    over: tuple[str, ...]
    cells: GridCells
    best: str = "largest"
    area: float = math.nan
    volume: float = math.nan
    error: float = math.nan
    boundary: Array = field(default_factory=lambda: np.zeros((0, 2, 3)))
    plane: Plane | None = None
    complete: bool = True
    growing: bool = False
    notes: tuple[str, ...] = ()

    @property
    def inside(self) -> NDArray[np.bool_]:
        """Mask of cells that hold a sample, along the axes of `cells`."""
        return self.cells.filled

    @cached_property
    def bounds(self) -> Array:
        """Bounding box (2, 3) of the reachable points, m."""
        all_points = np.concatenate([self.points, self.boundary.reshape(-1, 3)])
        return np.array([all_points.min(axis=0), all_points.max(axis=0)])

    @property
    def shown(self) -> NDArray[np.intp]:
        """Index of each cell's representative sample."""
        return self.cells.best

    @property
    def size_text(self) -> str:
        """Area or volume with its error as text, "" if there is none."""
        if math.isfinite(self.volume):
            return format_value_with_error(self.volume, self.error, "m³")
        return format_value_with_error(self.area, self.error, "m²") if math.isfinite(self.area) else ""

    @cached_property
    def range(self) -> tuple[float, float]:
        """Smallest and largest finite value; (nan, nan) if there is none."""
        finite = self.values[self.shown][np.isfinite(self.values[self.shown])]
        return (float(finite.min()), float(finite.max())) if len(finite) else (math.nan, math.nan)

    def nearest(self, point: Array) -> int:
        """Return the representative sample nearest to a point (3,)."""
        away = np.sum((self.points[self.shown] - np.asarray(point, dtype=float)) ** 2, axis=1)
        return int(self.shown[int(np.argmin(away))])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write points, values and poses to a file: .h5 (all), .csv, .ply or .vtu (points and values).

        Raises FileError where it cannot be written.
        """
        write_map(self, path)

    def less(self, other: WorkspaceMap) -> WorkspaceMap:
        """Subtract another map of the same kind, cell by cell, where both exist.

        Raises ModelError where they are not of the same kind and unit.
        """
        if (self.kind, self.unit, self.frame) != (other.kind, other.unit, other.frame):
            raise ModelError(
                f"A map of {self.kind} ({self.unit or 'a number'}) of '{self.frame}' cannot be compared with one of "
                f"{other.kind} ({other.unit or 'a number'}) of '{other.frame}'.",
                where="workspace",
                remedy="Compare maps of one kind, frame and part.",
            )
        return _subtract_maps(self, other)


def format_value_with_error(value: float, error: float, unit: str) -> str:
    """Format a number with its error, both rounded to the error's first significant digit: 0.412 ± 0.003 m³."""
    if not (math.isfinite(value) and math.isfinite(error)):
        return f"{value:.4g} {unit}"
    if error <= 0.0:
        return f"{value:.6g} {unit}"
    exponent = math.floor(math.log10(error))
    digits = -exponent + (1 if error / 10.0**exponent < 2.0 else 0)
    rounded = max(error, 10.0**-digits)
    if not -3 <= digits <= 9:
        return f"{value:.6g} ± {error:.2g} {unit}"
    digits = max(digits, 0)
    return f"{value:.{digits}f} ± {rounded:.{digits}f} {unit}"


def _subtract_maps(minuend: WorkspaceMap, subtrahend: WorkspaceMap) -> WorkspaceMap:
    """Subtract one map from another: from each value of `minuend` that of the nearest point of `subtrahend` within one
    cell; for workspaces, points gained are 1, points lost −1, all others 0."""
    size = max(minuend.cells.size, subtrahend.cells.size)
    new, old = minuend.points[minuend.shown], subtrahend.points[subtrahend.shown]
    away, nearest = cKDTree(old).query(new)
    both = away < 1.5 * size
    values = minuend.values[minuend.shown] - subtrahend.values[subtrahend.shown][nearest]
    points, q = new, minuend.q[minuend.shown]
    notes = []
    if minuend.kind == "reach":
        gone = cKDTree(new).query(old)[0] >= 1.5 * size
        points = np.concatenate([new, old[gone]])
        q = np.concatenate([q, subtrahend.q[subtrahend.shown][gone]])
        values = np.concatenate([np.where(both, 0.0, 1.0), -np.ones(int(gone.sum()))])
        notes.append("1: gained, −1: lost")
    else:
        points, q, values = new[both], q[both], values[both]
        notes.append(f"{int(both.sum())} of {len(new)} points of the map belong to both maps.")
    flat = points if minuend.plane is None else minuend.plane.to_plane_coordinates(points)
    changed = tuple(
        getattr(minuend, each) - getattr(subtrahend, each) if math.isfinite(getattr(subtrahend, each)) else math.nan
        for each in ("area", "volume")
    )
    cells = build_cells(flat, np.abs(values), "largest", size) if len(points) else minuend.cells
    return replace(
        minuend,
        title=f"Change of {minuend.title[:1].lower()}{minuend.title[1:]}",
        points=points,
        q=q,
        values=values,
        cells=cells,
        area=changed[0],
        volume=changed[1],
        error=math.hypot(minuend.error, subtrahend.error),
        notes=tuple(notes),
    )
