"""Background compilation waits while these tests run: those that want machine code ask for it."""

import pytest

from core.kernel import compiler


@pytest.fixture(autouse=True)
def quiet_compiler(monkeypatch):
    monkeypatch.setattr(compiler, "PAUSE", 30.0)
