"""A mesh file becomes a further shape of the selected body."""

import shutil
from pathlib import Path

from PySide6.QtWidgets import QFileDialog

from app.document.session import ElementRef
from core.model import Mesh
from resources import EXAMPLES

MESH = next(Path(EXAMPLES).rglob("*.stl"))


def test_it_is_named_relative_to_the_file_of_the_machine(bench, four_bar, monkeypatch):
    session = bench.session
    mesh = four_bar.parent / "meshes" / MESH.name
    mesh.parent.mkdir()
    shutil.copy(MESH, mesh)
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(mesh), ""))
    assert not bench.window.actions_.by_id["add.mesh"].isEnabled()
    session.select(ElementRef("bodies", "crank"))
    before = session.model
    bench.window.run_command("add.mesh")
    shapes = session.model.body("crank").shapes
    assert shapes == (*before.body("crank").shapes, Mesh(file=f"meshes/{MESH.name}"))
    session.undo()
    assert session.model == before


def test_nothing_is_added_where_no_file_is_chosen(bench, four_bar, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: ("", ""))
    bench.session.select(ElementRef("bodies", "crank"))
    before = bench.session.model
    bench.window.run_command("add.mesh")
    assert bench.session.model is before
