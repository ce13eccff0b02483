"""Images of memory: numbers as they were at one instant, copied back by machine code."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.machine_code.entry import entry
from core.machine_code.language import loader, native, view
from core.machine_code.records import Floats, Ints, Record, array_address

LARGEST_IMAGE = 1 << 18
"""Largest amount of numbers in the memory of a run that is kept."""


class MemoryImage(Record):
    """Numbers as they were at one instant, and the places in memory to which they belong."""

    places: Ints
    """Address of each piece of memory."""
    sizes: Ints
    """Amount of numbers in each piece."""
    numbers: Floats
    """The numbers of all pieces, one piece behind the other; integers by their bits."""


load_image = loader(MemoryImage)


@native
def restore(image: int) -> None:
    """Copy all numbers back to their places."""
    kept, at = load_image(image), 0
    for k in range(len(kept.places)):
        own, size = view(kept.places[k], kept.sizes[k]), kept.sizes[k]
        for i in range(size):
            own[i] = kept.numbers[at + i]
        at += size


@entry
def restore_entry(image: int) -> int:
    """Entry point of `restore`."""
    restore(image)
    return 0


def take_image(arrays: Iterator[NDArray[Any]]) -> MemoryImage | None:
    """Return the image of arrays of 8-byte numbers; None if they are too large to be kept twice."""
    pieces = list({array_address(array): array for array in arrays if array.size}.items())
    flat = [array.reshape(-1).view(np.float64) for _, array in pieces]
    if sum(map(len, flat)) > LARGEST_IMAGE:
        return None
    return MemoryImage(
        places=np.array([place for place, _ in pieces], dtype=np.int64),
        sizes=np.array([len(numbers) for numbers in flat], dtype=np.int64),
        numbers=np.concatenate([*flat, np.zeros(0)]),
    )
