"""Forms and modules prepared in idle time after the start, so that the first edit is as quick as later ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module

from app.background.slices import slices
from app.panels.properties.panel import PropertyEditor
from app.widgets.fields.field_editor import Context
from core.model import WORLD, Model, new_elements
from core.model.fields import Element

FIRST_EDIT = ("core.constraints.rest_position", "core.constraints.closed_positions")
"""Modules that are imported with the first edit."""


def prepare_forms(editor: PropertyEditor) -> None:
    """Create the forms of joints and of bodies with a shape, and import the modules for edits, in time slices."""
    model, body = new_elements.attached_body(Model(name="sample"), WORLD)
    joint, link = model.joints[0], model.body(body)
    steps: list[Callable[[], object]] = [partial(import_module, name) for name in FIRST_EDIT]
    for element in (joint, replace(link, shapes=()), link):
        steps += [partial(editor.form_of, type(element)), partial(_fill, editor, model, element)]

    def work(_seconds: float) -> bool:
        steps.pop(0)()
        return not steps

    slices().add(editor, work)


def _fill(editor: PropertyEditor, model: Model, element: Element) -> None:
    """Show a sample in its form, unless the form already shows an element to the user."""
    form, _ = editor.form_of(type(element))
    if form.element is None or form.model is model:
        form.show_element(element, Context(model, editor.settings, model.values()))
