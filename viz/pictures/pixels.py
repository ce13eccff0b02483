"""Pixels of a render window, and PNG files written atomically."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkRenderingCore import vtkRenderWindow

from core.errors import FileError

Pixels = NDArray[np.uint8]
"""Picture (height, width, 4) of red, green, blue, opacity; the first row is the top one."""


def pixels(window: vtkRenderWindow) -> Pixels:
    """Return the pixels of a window."""
    width, height = window.GetSize()
    data = vtkUnsignedCharArray()
    window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, data)
    return vtk_to_numpy(data).reshape(height, width, 4)[::-1].copy()


def png(picture: Pixels) -> bytes:
    """Encode the picture as PNG."""
    from vtkmodules.vtkIOImage import vtkPNGWriter

    height, width, parts = picture.shape
    image = vtkImageData()
    image.SetDimensions(width, height, 1)
    flat = np.ascontiguousarray(picture[::-1].reshape(-1, parts))
    image.GetPointData().SetScalars(numpy_to_vtk(flat, deep=True))
    writer = vtkPNGWriter()
    writer.WriteToMemoryOn()
    writer.SetInputData(image)
    writer.Write()
    return vtk_to_numpy(writer.GetResult()).tobytes()


def write_png(picture: Pixels, path: str | Path) -> None:
    """Write a PNG file: temporary file, flush, rename. Raises FileError."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(png(picture))
                file.flush()
                os.fsync(file.fileno())
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, target)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise FileError(
            f"The picture cannot be written: {error.strerror or error}.",
            file=str(target),
            remedy="Choose an existing folder with write permission.",
        ) from None
