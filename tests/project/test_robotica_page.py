"""The page on Robotica has a row for every function of its language, and pictures that are there."""

import re

from core.robotica.commands import COMMANDS
from docs import make_robotica


def test_the_page_lists_every_function_as_it_is():
    assert make_robotica.PAGE.read_text(encoding="utf-8") == make_robotica.page()
    assert all(f"| `{command.usage.replace('|', '')}" in make_robotica.table() for command in COMMANDS.values())


def test_its_pictures_are_there():
    named = re.findall(r"pictures/([\w.]+)", make_robotica.PAGE.read_text(encoding="utf-8"))
    assert {f"{name}.webp" for name in make_robotica.PICTURES} <= set(named)
    for name in named:
        assert (make_robotica.FOLDER / "pictures" / name).stat().st_size > 10_000
