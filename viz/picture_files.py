"""Pictures as files of other kinds than PNG: the pixels on a page (PDF), or in a scalable drawing's frame (SVG)."""

from __future__ import annotations

import base64
import os
import zlib
from pathlib import Path

import numpy as np

from core.errors import FileError
from core.files.source import write_whole
from viz.pixels import Pixels, png, write_png

SUFFIXES = (".png", ".svg", ".pdf")
POINTS = 72.0 / 150.0
"""Points of a page per pixel: 150 pixels an inch."""


def write_picture_file(picture: Pixels, path: str | Path) -> None:
    """Write a picture in the format its suffix says. Raises FileError."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise FileError(f"'{suffix or Path(path).name}' is no format of pictures.", file=os.fspath(path),
                        remedy=f"Use {', '.join(SUFFIXES)}.")  # fmt: skip
    if suffix == ".png":
        write_png(picture, path)
    else:
        write_whole(os.fspath(path), svg(picture) if suffix == ".svg" else pdf(picture))


def svg(picture: Pixels) -> bytes:
    """An SVG drawing that holds the picture."""
    height, width = picture.shape[:2]
    data = base64.b64encode(png(picture)).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        f'<image width="{width}" height="{height}" href="data:image/png;base64,{data}"/>\n</svg>\n'
    ).encode()


def pdf(picture: Pixels) -> bytes:
    """A PDF page with the picture on it (ISO 32000-1, 7.5 and 8.9): five objects, a table of where they begin."""
    height, width = picture.shape[:2]
    wide, high = POINTS * width, POINTS * height
    image = zlib.compress(np.ascontiguousarray(picture[:, :, :3]).tobytes())
    content = f"q {wide:.2f} 0 0 {high:.2f} 0 0 cm /Im0 Do Q".encode()
    head = (f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceRGB"
            f" /BitsPerComponent 8 /Filter /FlateDecode /Length {len(image)} >>")  # fmt: skip
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
        table, len(text),
    )  # fmt: skip
