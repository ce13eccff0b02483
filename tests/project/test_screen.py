"""The tests run on a screen of their own and leave the person's files alone."""

import os
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a screen")
def test_a_screen_is_there():
    assert os.environ.get("DISPLAY"), "no DISPLAY: install Xvfb (apt install xvfb)"


def test_cache_and_settings_are_not_the_persons():
    home = Path.home().resolve()
    for variable in ("KINETOSTAT_CACHE", "XDG_CONFIG_HOME"):
        assert home not in Path(os.environ[variable]).resolve().parents
