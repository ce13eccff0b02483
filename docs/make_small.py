"""Pictures as they are kept: python -m docs.make_small FOLDER turns each PNG of a folder into a WebP of at most 100 kB.

What draws them writes PNG. Every version of a picture stays in the repository for good, so it should be small.
"""

import io
import sys
from pathlib import Path

from PIL import Image

LARGEST = 100_000
"""Bytes."""
QUALITIES = range(80, 20, -4)
"""What is tried, best first. At 80 letters and lines look as before."""


def small(picture: Image.Image) -> bytes:
    """A picture as a WebP, of the best quality that is small enough."""
    for quality in QUALITIES:
        kept = io.BytesIO()
        picture.save(kept, "WEBP", quality=quality, method=6)
        if kept.tell() <= LARGEST:
            break
    return kept.getvalue()


def main(folder: Path) -> None:
    """The command."""
    for path in sorted(folder.glob("*.png")):
        with Image.open(path) as picture:
            path.with_suffix(".webp").write_bytes(small(picture.convert("RGB")))
        path.unlink()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
