"""Which model a file holds, in a few letters."""

from __future__ import annotations

import hashlib

from core.files import dumps
from core.model import Model


def fingerprint(model: Model) -> str:
    """The same for equal models, wherever they were read."""
    return hashlib.sha256(dumps(model).encode()).hexdigest()[:16]
