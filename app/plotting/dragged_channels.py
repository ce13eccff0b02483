"""Channels of a run as drag-and-drop data, from the model tree or the list of channels to plots."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QByteArray, QMimeData

CHANNELS = "application/x-kinetostat-channel"
"""MIME type of channel names, one per line."""


def dragged(names: Iterable[str]) -> QMimeData:
    """Return the drag-and-drop data of some channels; without channels the data can be dropped nowhere."""
    data, text = QMimeData(), "\n".join(names)
    if text:
        data.setData(CHANNELS, QByteArray(text.encode()))
        data.setText(text)
    return data


def names_in(data: QMimeData) -> list[str]:
    """Return the channels in dropped data; [] if there are none."""
    text = data.data(CHANNELS).data().decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
