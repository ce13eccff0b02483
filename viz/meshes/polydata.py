"""Triangle meshes: conversion between NumPy arrays and vtkPolyData, normals, surfaces of revolution."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
from vtkmodules.vtkCommonMath import vtkMatrix4x4
from vtkmodules.vtkCommonTransforms import vtkTransform
from vtkmodules.vtkFiltersCore import vtkAppendPolyData, vtkCleanPolyData, vtkPolyDataNormals
from vtkmodules.vtkFiltersGeneral import vtkTransformFilter

from viz.placement import Array

FARTHEST = 1e30
"""Largest coordinate that is drawn, m; it is within single precision, and its square within double."""
FEATURE_ANGLE = 38.0
"""Angle in degrees (the unit of VTK) above which an edge stays sharp; below it, shading is smooth."""


def vtk_points(points: ArrayLike) -> vtkPoints:
    """Convert an (n, 3) array to VTK points; coordinates beyond single precision are clipped."""
    result = vtkPoints()
    single = np.clip(points, -FARTHEST, FARTHEST).astype(np.float32)
    result.SetData(numpy_to_vtk(np.ascontiguousarray(single), deep=True))
    return result


def cell_array(faces: NDArray[np.int64]) -> vtkCellArray:
    """Convert an (n, k) array of point indices to VTK cells."""
    count, size = faces.shape
    starts = np.arange(0, count * size + 1, size, dtype=np.int64)
    result = vtkCellArray()
    result.SetData(
        numpy_to_vtkIdTypeArray(starts, deep=True),
        numpy_to_vtkIdTypeArray(np.ascontiguousarray(faces, dtype=np.int64).ravel(), deep=True),
    )
    return result


def surface_mesh(points: ArrayLike, faces: ArrayLike) -> vtkPolyData:
    """Return a surface with (n, 3) points and (m, 3 or 4) faces, which are counter-clockwise seen from outside."""
    result = vtkPolyData()
    result.SetPoints(vtk_points(points))
    result.SetPolys(cell_array(np.asarray(faces, dtype=np.int64)))
    return result


def line_mesh(points: ArrayLike, segments: ArrayLike) -> vtkPolyData:
    """Return lines through (n, 3) points; the point indices of the lines are `segments` (m, k)."""
    result = vtkPolyData()
    result.SetPoints(vtk_points(points))
    result.SetLines(cell_array(np.asarray(segments, dtype=np.int64)))
    return result


def polyline(points: ArrayLike) -> vtkPolyData:
    """Return one line through (n, 3) points."""
    array = np.asarray(points, dtype=float)
    return line_mesh(array, np.arange(len(array)).reshape(1, -1))


def set_colours(data: vtkPolyData, colours: ArrayLike) -> vtkPolyData:
    """Set the colours (0 … 1, three or four numbers), one per point or one for all points; return the same data."""
    table = np.asarray(colours, dtype=float)
    if table.ndim == 1:
        table = np.tile(table, (data.GetNumberOfPoints(), 1))
    array = numpy_to_vtk(np.ascontiguousarray(np.round(table * 255), dtype=np.uint8), deep=True)
    array.SetName("colour")
    data.GetPointData().SetScalars(array)
    return data


def with_normals(data: vtkPolyData, feature_angle: float = FEATURE_ANGLE, merge: bool = True) -> vtkPolyData:
    """Return the surface with normals, split along edges that are sharper than `feature_angle` degrees."""
    if merge:
        clean = vtkCleanPolyData()
        clean.SetInputData(data)
        clean.Update()
        data = clean.GetOutput()
    normals = vtkPolyDataNormals()
    normals.SetInputData(data)
    normals.SetFeatureAngle(feature_angle)
    normals.SplittingOn()
    normals.ConsistencyOff()
    normals.Update()
    return normals.GetOutput()


def transform_polydata(data: vtkPolyData, matrix: Array) -> vtkPolyData:
    """Return the data transformed by a 4×4 matrix."""
    change = vtkTransformFilter()
    change.SetInputData(data)
    transform = vtkTransform()
    transform.SetMatrix(vtk_matrix(matrix))
    change.SetTransform(transform)
    change.Update()
    return change.GetPolyDataOutput()


def merge_data(parts: Sequence[vtkPolyData]) -> vtkPolyData:
    """Merge several data sets into one."""
    append = vtkAppendPolyData()
    for part in parts:
        append.AddInputData(part)
    append.Update()
    return append.GetOutput()


def vtk_matrix(matrix: ArrayLike) -> vtkMatrix4x4:
    """Convert a 4×4 array to VTK's matrix."""
    result = vtkMatrix4x4()
    result.DeepCopy(np.asarray(matrix, dtype=float).ravel().tolist())
    return result


def point_array(data: vtkPolyData) -> Array:
    """Return the points (n, 3) of a data set."""
    if data.GetNumberOfPoints() == 0:
        return np.zeros((0, 3))
    return vtk_to_numpy(data.GetPoints().GetData()).astype(float)


def revolve_profile(profile: ArrayLike, sides: int = 48, closed: bool = False) -> vtkPolyData:
    """Return the surface of revolution about z of a profile (n, 2) of (radius, height). The outside is to the right of
    the profile's direction."""
    rz = np.asarray(profile, dtype=float)
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    points = np.stack(
        [
            rz[:, :1] * np.cos(angle),
            rz[:, :1] * np.sin(angle),
            np.repeat(rz[:, 1:], sides, axis=1),
        ],
        axis=-1,
    ).reshape(-1, 3)
    rows = len(rz) if closed else len(rz) - 1
    i, j = np.meshgrid(np.arange(rows), np.arange(sides), indexing="ij")
    k, up = (j + 1) % sides, (i + 1) % len(rz)
    faces = np.stack([i * sides + j, i * sides + k, up * sides + k, up * sides + j], axis=-1).reshape(-1, 4)
    return surface_mesh(points, faces)


def tube_along_path(path: ArrayLike, radius: float, sides: int = 12, closed: bool = False) -> vtkPolyData:
    """Return a round tube along a smooth path (n, 3), with flat ends unless closed."""
    line = np.asarray(path, dtype=float)
    tangent = np.gradient(line, axis=0) if not closed else np.roll(line, -1, 0) - np.roll(line, 1, 0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    normal = np.empty_like(line)
    seed = np.eye(3)[int(np.argmin(np.abs(tangent[0])))]
    for k, t in enumerate(tangent):  # parallel transport: keep the last normal, minus its part along the tangent
        seed = seed - t * float(seed @ t)
        seed = seed / np.linalg.norm(seed)
        normal[k] = seed
    binormal = np.cross(tangent, normal)
    angle = np.arange(sides) * (2.0 * np.pi / sides)
    ring = np.cos(angle)[None, :, None] * normal[:, None] + np.sin(angle)[None, :, None] * binormal[:, None]
    points = (line[:, None] + radius * ring).reshape(-1, 3)
    count = len(line)
    rows = count if closed else count - 1
    i, j = np.meshgrid(np.arange(rows), np.arange(sides), indexing="ij")
    beside, up = (j + 1) % sides, (i + 1) % count
    faces = np.stack([i * sides + j, i * sides + beside, up * sides + beside, up * sides + j], axis=-1).reshape(-1, 4)
    body = surface_mesh(points, faces)
    if closed:
        return body
    base = (count - 1) * sides
    ends = vtkPolyData()
    ends.SetPoints(vtk_points(points))
    caps = np.array([np.arange(sides)[::-1], base + np.arange(sides)])
    ends.SetPolys(cell_array(caps))
    return merge_data([body, ends])
