"""A Xacro file that asks for Python is refused on the card of messages, where the person may allow it."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QPushButton

from app.commands.elements import insert_assembly

pytest.importorskip("xacrodoc")

HEAD = '<?xml version="1.0"?>\n<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">\n'
TITLE = "Open and run its code"


def write(file, more=""):
    file.write_text(f"{HEAD}<link name=\"l${{'a'.encode().hex()}}\"/>{more}</robot>")


def offered(bench):
    """The buttons that allow it, on the card that is shown."""
    return [
        each for each in bench.window.messages.findChildren(QPushButton) if each.text() == TITLE and each.isVisible()
    ]


def allow(bench):
    (button,) = offered(bench)
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    bench.wait(lambda: not bench.window.files.opening.is_busy)


def bodies(bench):
    return [body.name for body in bench.session.model.expanded.bodies]


def test_a_refused_file_is_opened_when_the_person_allows_it(bench, tmp_path):
    file = tmp_path / "stranger.xacro"
    write(file)
    bench.open(file)
    assert bodies(bench) == []
    words = bench.window.messages.text
    assert "stranger.xacro:3" in words
    assert "'a'.encode().hex()" in words
    assert "read, change and send everything that you can on this computer" in words
    assert "--trust-code" not in words
    allow(bench)
    assert bodies(bench) == ["l61"]


def test_trust_lasts_while_the_file_is_open_and_unchanged(bench, tmp_path):
    file, other = tmp_path / "stranger.xacro", tmp_path / "other.kst"
    write(file)
    other.write_text("kinetostat: 1\nname: other\nbodies:\n  plate: {mass: 1, inertia: {ixx: 1, iyy: 1, izz: 1}}\n")
    bench.open(file)
    allow(bench)
    bench.window.files.reload()
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    assert (offered(bench), bodies(bench)) == ([], ["l61"])
    write(file, '<!-- changed --><link name="more"/>')
    bench.window.files.reload()
    bench.wait(lambda: not bench.window.files.opening.is_busy)
    assert offered(bench)
    assert bodies(bench) == ["l61"]
    bench.open(other)
    assert bodies(bench) == ["plate"]
    write(file)
    bench.open(file)
    assert offered(bench)
    assert bodies(bench) == ["plate"]


def test_a_machine_that_imports_it_asks_for_the_imported_file(bench, tmp_path):
    write(tmp_path / "leg.xacro")
    machine = tmp_path / "machine.kst"
    machine.write_text("kinetostat: 1\nname: E\nassemblies:\n  leg: {file: leg.xacro}\n")
    bench.open(machine)
    assert "If you trust the author of leg.xacro" in bench.window.messages.text
    allow(bench)
    assert "leg.l61" in bodies(bench)


def test_a_part_that_is_added_may_be_allowed_too(bench, tmp_path):
    file = tmp_path / "leg.xacro"
    write(file)
    assert not insert_assembly(bench.session, str(file), bench.window.messages)
    allow(bench)
    assert "leg.l61" in bodies(bench)
