"""Background compilation waits while these tests run: those that want machine code ask for it."""

import pytest

from core.codegen import background


@pytest.fixture(autouse=True)
def quiet_compiler():
    background.hold(30.0)
    yield
    background.hold(background.PAUSE)
