"""Editors for the file and column of the recorded signal that a driver follows."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app.widgets.fields.choice_editors import NameEditor
from app.widgets.fields.field_editor import Commit, Context, Together
from app.widgets.fields.text_editors import FileEditor
from core.errors import KinetostatError
from core.mechanics.elements.recorded_signals import signals_of
from core.model import Driver, Model
from core.model.dimensions import dimension_of, field_of
from core.model.fields import Element, Field
from core.model.units import SI


def relative_to_document(path: str, origin: str) -> str:
    """Return a path as the model stores it: relative if it is in or below the folder of the model's file."""
    if origin and Path(path).is_relative_to(Path(origin).resolve().parent):
        return Path(path).relative_to(Path(origin).resolve().parent).as_posix()
    return path


def following(driver: Driver, file: str, model: Model) -> Together:
    """Return the fields that make a driver follow a file: its present column if the file has it, otherwise the one
    named after the joint or sensor, otherwise the first."""
    chosen = driver.column
    for column in dict.fromkeys((driver.column, "")):
        tried = dataclasses.replace(driver, function=None, times=(), values=(), file=file, column=column)
        try:
            names, found = signals_of(tried, model.origin)
        except KinetostatError:
            break  # the reason is told when the file is taken
        chosen = column if found is not None else names[0]
        if found is not None:
            break
    return Together(function=None, times=(), values=(), file=file, column=chosen)


class RecordedSignalEditor(FileEditor):
    """Editor for the file of a driver's recorded signal. Another file may have other columns."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self._driver: Driver | None = None
        self._model: Model | None = None

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        self._driver, self._model = owner, context.model
        super().show_value(value, owner, context)

    def attempt(self, value: Any, gesture: object = None) -> str:
        """Commit a file together with one of its columns."""
        if self._driver is not None and self._model is not None and isinstance(value, str):
            value = following(self._driver, value, self._model)
        return super().attempt(value, gesture)


class ColumnEditor(NameEditor):
    """Editor for a column of the recorded signals, chosen from those in the file."""

    def show_value(self, value: str, owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        driver, origin = owner, context.model.origin

        def names() -> list[str]:
            return list(signals_of(driver, origin)[0])

        try:
            taken = signals_of(driver, origin)[1] or ""
            self.combo.names = names
        except KinetostatError:
            taken, self.combo.names = "", list
        self.combo.lineEdit().setPlaceholderText(taken)
        symbol = SI.get(dimension_of(context.model, context.owners, field_of(Driver, "values")), "")
        self.words = f"numbers in {symbol}, over time in s" if symbol else "over time in s"
        self.show_name(value, context)
