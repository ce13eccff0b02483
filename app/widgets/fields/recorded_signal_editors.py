"""Which file and which of its columns a driver follows."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QWidget

from app.widgets.fields.choice_editors import NameEditor
from app.widgets.fields.field_editor import Commit, Context, Together
from app.widgets.fields.text_editors import FileEditor
from core.elements.recorded_signals import signals_of
from core.errors import KinetostatError
from core.model import Driver, Model
from core.model.dimensions import dimension_of, field_of
from core.model.fields import Element, Field
from core.model.units.units import SI


def beside(path: str, origin: str) -> str:
    """A path as it is written in the model: relative where it lies beneath the folder of the model's file."""
    if origin and Path(path).is_relative_to(Path(origin).resolve().parent):
        return Path(path).relative_to(Path(origin).resolve().parent).as_posix()
    return path


def following(driver: Driver, file: str, model: Model) -> Together:
    """What makes a driver follow a file: by its column where the file has it, else by the one of the joint's or
    sensor's name, else by the first."""
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
    """The file of a driver's recorded signal. Another file may have other columns."""

    def __init__(self, owner: type, field: Field, path: str, commit: Commit, parent: QWidget | None = None) -> None:
        super().__init__(owner, field, path, commit, parent)
        self._driver: Driver | None = None
        self._model: Model | None = None

    def show_value(self, value: Any, owner: Element, context: Context) -> None:
        assert isinstance(owner, Driver)
        self._driver, self._model = owner, context.model
        super().show_value(value, owner, context)

    def attempt(self, value: Any, gesture: object = None) -> str:
        """Take a file together with a column that it has."""
        if self._driver is not None and self._model is not None and isinstance(value, str):
            value = following(self._driver, value, self._model)
        return super().attempt(value, gesture)


class ColumnEditor(NameEditor):
    """A column of the recorded signals, chosen from those the file has."""

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
