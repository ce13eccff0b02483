"""Drag-and-drop data for channels of a run, which can be dragged from the model tree or the channel list onto plots."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QByteArray, QMimeData

CHANNELS = "application/x-kinetostat-channel"
"""MIME type of channel names, one per line."""


def channel_mime_data(names: Iterable[str]) -> QMimeData:
    """Return the drag-and-drop data for some channels; without channels, data that no widget accepts."""
    data, text = QMimeData(), "\n".join(names)
    if text:
        data.setData(CHANNELS, QByteArray(text.encode()))
        data.setText(text)
    return data


def channels_from_mime_data(data: QMimeData) -> list[str]:
    """Return the channels contained in dropped data; [] if there are none."""
    text = data.data(CHANNELS).data().decode("utf-8", "replace")
    return [line.strip() for line in text.splitlines() if line.strip()]
