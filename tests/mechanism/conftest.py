"""Background compilation waits while these tests run: those that want machine code ask for it."""

import pytest

from core.codegen import background


@pytest.fixture(autouse=True)
def quiet_compiler(monkeypatch):
    monkeypatch.setattr(background, "PAUSE", 30.0)
