"""Small pictures of recently open files as they looked when closed, kept in the cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import platformdirs
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage

SIZE = QSize(320, 240)
MOST = 40
"""Largest number of pictures kept."""


def folder() -> Path:
    """Return the folder of the pictures."""
    return Path(platformdirs.user_cache_dir("kinetostat", appauthor=False)) / "pictures"


def picture_of(path: Path) -> Path:
    """Return the path of a file's picture, which may not exist."""
    return folder() / f"{hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:32]}.png"


def keep(image: QImage, path: Path) -> None:
    """Save a picture of a file; if it cannot be written, nothing else is affected."""
    target = picture_of(path)
    whole = image.scaled(
        SIZE, Qt.AspectRatioMode.KeepAspectRatioByExpanding, Qt.TransformationMode.SmoothTransformation
    )
    x, y = (whole.width() - SIZE.width()) // 2, (whole.height() - SIZE.height()) // 2
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        whole.copy(x, y, SIZE.width(), SIZE.height()).save(str(target))
        forget_oldest()
    except OSError:
        return


def forget_oldest() -> None:
    """Delete all but the newest pictures."""
    found = sorted(folder().glob("*.png"), key=lambda each: each.stat().st_mtime, reverse=True)
    for each in found[MOST:]:
        each.unlink(missing_ok=True)
