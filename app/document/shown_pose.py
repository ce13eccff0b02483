"""What is seen of the machine: the edited pose, a run's pose over it, a preview over both. Knows no Qt."""

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
    """A pose that is shown instead of the edited one, and the values that go with it."""

    q: Array
    """(nq,) joint coordinates, rad or m."""
    p: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Values of independent parameters that differ from the document's."""
    x: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """States of force elements, by name."""
    words: str = ""
    """Which moment of which run it is."""


@dataclass(frozen=True, eq=False)
class Shown:
    """The pose and values that are seen now. Immutable: each verb returns another one."""

    edited: Array
    """(nq,) the pose as committed."""
    values: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Values of the independent parameters as committed."""
    run: Moment | None = None
    """The moment of a run that is looked at."""
    preview: Moment | None = None
    """What a drag or a slider shows before it is committed."""

    @property
    def q(self) -> Array:
        """(nq,) joint coordinates that are seen."""
        above = self.preview or self.run
        return self.edited if above is None else above.q

    @property
    def p(self) -> Mapping[str, float]:
        """Values of the independent parameters that are seen; a preview of some hides those of the run."""
        if self.run is None or (self.preview is not None and self.preview.p):
            return self.edited_values
        return {**self.edited_values, **self.run.p}

    @property
    def edited_values(self) -> Mapping[str, float]:
        """Values of the independent parameters of the document, previews included, whatever run is looked at."""
        return {**self.values, **self.preview.p} if self.preview is not None else self.values

    @property
    def x(self) -> Mapping[str, float]:
        """States of force elements by name, of the run that is seen; empty for a pose at rest."""
        return _NOTHING if self.run is None or self.preview is not None else self.run.x

    @property
    def words(self) -> str:
        """Which moment of a run is seen; "" for a pose at rest."""
        return "" if self.run is None or self.preview is not None else self.run.words

    def previewed(self, q: Array | None = None, p: Mapping[str, float] = _NOTHING) -> Shown:
        """With a pose (None: as it is) and some parameter values tried. Parameters begin from the edited pose."""
        if q is None:
            q = self.edited if self.preview is None else self.preview.q
        tried = self.preview.p if self.preview is not None else _NOTHING
        return replace(self, preview=Moment(np.array(q, dtype=float), {**tried, **p}))

    def following(self, run: Moment | None) -> Shown:
        """With another moment of a run behind what is previewed; None: the edited pose."""
        return replace(self, run=run)

    def settled(self) -> Shown:
        """Without a preview."""
        return self if self.preview is None else replace(self, preview=None)
