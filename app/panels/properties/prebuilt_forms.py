"""Forms that are wanted most, made after the start while there is nothing else to do: the first link that a person
adds then comes as quickly as the next."""

from __future__ import annotations

from app.background.slices import slices
from app.panels.properties.panel import PropertyEditor
from app.widgets.fields.field_editor import Context
from core.model import WORLD, Model
from core.model.edits import starters


def prepare_forms(editor: PropertyEditor) -> None:
    """Make those of bodies with a shape and of joints, one for each slice."""
    model, body = starters.attached_body(Model(name="sample"), WORLD)
    samples = [model.body(body), model.joints[0]]

    def work(_seconds: float) -> bool:
        element = samples.pop()
        form, _ = editor.form_of(type(element))
        if form.element is None:
            form.show_element(element, Context(model, editor.settings, model.values()))
        return not samples

    slices().add(editor, work)
