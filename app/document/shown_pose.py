"""The pose shown of the machine: the edited pose, covered by a run's pose, covered by a preview. Independent of Qt."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from core.later import dataclass

Array = NDArray[np.float64]
_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Moment:
    """A pose shown instead of the edited one, with the values that belong to it."""

    q: Array
    """(nq,) joint coordinates, rad or m."""
    p: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Values of independent parameters that differ from the document's."""
    x: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """States of force elements, by name."""
    words: str = ""
    """Description of the moment and run."""


@dataclass(frozen=True, eq=False)
class Shown:
    """The pose and values shown now. Immutable: each method returns a new object."""

    edited: Array
    """The committed pose (nq,)."""
    values: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Values of the independent parameters as committed."""
    run: Moment | None = None
    """The moment of the run that is shown."""
    preview: Moment | None = None
    """The preview of a drag or a slider before it is committed."""

    @property
    def q(self) -> Array:
        """Joint coordinates (nq,) as shown."""
        above = self.preview or self.run
        return self.edited if above is None else above.q

    @property
    def p(self) -> Mapping[str, float]:
        """Values of the independent parameters as shown; a preview of parameters hides those of the run."""
        if self.run is None or (self.preview is not None and self.preview.p):
            return self.edited_values
        return {**self.edited_values, **self.run.p}

    @property
    def edited_values(self) -> Mapping[str, float]:
        """Values of the independent parameters of the document, previews included, regardless of the run shown."""
        return {**self.values, **self.preview.p} if self.preview is not None else self.values

    @property
    def x(self) -> Mapping[str, float]:
        """States of force elements by name, of the run that is shown; empty if no run is shown."""
        return _NOTHING if self.run is None or self.preview is not None else self.run.x

    @property
    def words(self) -> str:
        """Description of the moment of the run that is shown; "" if no run is shown."""
        return "" if self.run is None or self.preview is not None else self.run.words

    def previewed(self, q: Array | None = None, p: Mapping[str, float] = _NOTHING) -> Shown:
        """Return a copy with a previewed pose (None: unchanged) and previewed parameters, which start from the edited
        pose."""
        if q is None:
            q = self.edited if self.preview is None else self.preview.q
        tried = self.preview.p if self.preview is not None else _NOTHING
        return replace(self, preview=Moment(np.array(q, dtype=float), {**tried, **p}))

    def following(self, run: Moment | None) -> Shown:
        """Return a copy with another moment of a run beneath the preview; None: the edited pose."""
        return replace(self, run=run)

    def settled(self) -> Shown:
        """Return a copy without a preview."""
        return self if self.preview is None else replace(self, preview=None)
