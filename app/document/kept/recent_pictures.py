"""How the files that were open lately looked when they were left: a small picture of each, in the cache."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import platformdirs
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QImage

SIZE = QSize(320, 240)
MOST = 40
"""Pictures kept."""


def folder() -> Path:
    """Where they are."""
    return Path(platformdirs.user_cache_dir("kinetostat", appauthor=False)) / "pictures"


def picture_of(path: Path) -> Path:
    """The picture of a file; there may be none."""
    return folder() / f"{hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:32]}.png"


def keep(image: QImage, path: Path) -> None:
    """Keep how a file looks; where nothing can be written there is no picture, and nothing else is lost."""
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
    """Leave the newest pictures."""
    found = sorted(folder().glob("*.png"), key=lambda each: each.stat().st_mtime, reverse=True)
    for each in found[MOST:]:
        each.unlink(missing_ok=True)
