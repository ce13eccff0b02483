"""Pixels of a render window, and picture files: PNG, PDF page, or SVG drawing with an embedded picture, written
atomically. There are no vector graphics, because VTK's vector exporter (GL2PS) also draws solids as pixels."""

from __future__ import annotations

import base64
import os
import tempfile
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from vtkmodules.util.numpy_support import numpy_to_vtk, vtk_to_numpy
from vtkmodules.vtkCommonCore import vtkUnsignedCharArray
from vtkmodules.vtkCommonDataModel import vtkImageData
from vtkmodules.vtkRenderingCore import vtkRenderWindow

from core.errors import FileError
from core.files.source import write_atomically

Pixels = NDArray[np.uint8]
"""Picture (height, width, 4) of red, green, blue, opacity; the first row is the top one."""

SUFFIXES = (".png", ".svg", ".pdf")
FINE = 2
"""Resolution of a PDF or SVG file relative to a PNG file, along each side."""
PER_INCH = 300
"""Pixels per inch of a PDF page."""


def read_pixels(window: vtkRenderWindow, copy: bool = True) -> Pixels:
    """Return the pixels of a window; without a copy, the rows lie in memory from the last to the first."""
    width, height = window.GetSize()
    data = vtkUnsignedCharArray()
    window.GetRGBACharPixelData(0, 0, width - 1, height - 1, 0, data)
    picture = vtk_to_numpy(data).reshape(height, width, 4)[::-1]
    return picture.copy() if copy else picture


def png_data(picture: Pixels) -> bytes:
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
    """Write a PNG file atomically (temporary file, flush, rename). Raises FileError."""
    target = Path(path)
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(png_data(picture))
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


def write_picture_file(picture: Pixels, path: str | Path) -> None:
    """Write a picture in the format of the path's suffix. Raises FileError."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(
            f"'{suffix or Path(path).name}' is not a picture format.",
            file=os.fspath(path),
            remedy=f"Use {', '.join(SUFFIXES)}.",
        )
    if suffix == ".png":
        write_png(picture, path)
    else:
        write_atomically(os.fspath(path), svg_data(picture) if suffix == ".svg" else pdf_data(picture))


def relative_resolution(path: str | Path) -> int:
    """Return the resolution of a picture in the format of a path, relative to a PNG file, along each side."""
    return 1 if Path(path).suffix.lower() == ".png" else FINE


def svg_data(picture: Pixels) -> bytes:
    """Return an SVG drawing that embeds the picture, with the size of a PNG file."""
    height, width = picture.shape[0] / FINE, picture.shape[1] / FINE
    data = base64.b64encode(png_data(picture)).decode()
    sides = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {sides} viewBox="0 0 {width:g} {height:g}">\n'
        f'<image {sides} href="data:image/png;base64,{data}"/>\n</svg>\n'
    ).encode()


def pdf_data(picture: Pixels) -> bytes:
    """Return a PDF page with the picture (ISO 32000-1, 7.5 and 8.9): five objects and a cross-reference table."""
    height, width = picture.shape[:2]
    wide, high = 72.0 / PER_INCH * width, 72.0 / PER_INCH * height
    image = zlib.compress(np.ascontiguousarray(picture[:, :, :3]).tobytes())
    content = f"q {wide:.2f} 0 0 {high:.2f} 0 0 cm /Im0 Do Q".encode()
    head = (
        f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB"
        f" /BitsPerComponent 8 /Filter /FlateDecode /Length {len(image)} >>"
    )
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {wide:.2f} {high:.2f}] /Contents 4 0 R"
        " /Resources << /XObject << /Im0 5 0 R >> >> >>".encode(),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        head.encode() + b"\nstream\n" + image + b"\nendstream",
    ]
    text, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(text))
        text += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return text + b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        table,
        len(text),
    )
