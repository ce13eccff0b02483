"""Channels of a run as they are dragged, from the model tree or the list of channels onto plots."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QByteArray, QMimeData

CHANNELS = "application/x-kinetostat-channel"
"""Names of channels, one per line."""


def dragged(names: Iterable[str]) -> QMimeData:
    """What is dragged for some channels; without any it can be dropped nowhere."""
    data, text = QMimeData(), "\n".join(names)
    if text:
        data.setData(CHANNELS, QByteArray(text.encode()))
        data.setText(text)
    return data


def names_in(data: QMimeData) -> list[str]:
    """The channels in what is dropped; [] if it holds none."""
    text = data.data(CHANNELS).data().decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
