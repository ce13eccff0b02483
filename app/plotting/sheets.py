"""Contents of plots as immutable values. Does not use Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.later import dataclass

TIME = "time"


@dataclass(frozen=True)
class Plot:
    """Contents of one plot: scalar channels or formulas, against another channel (default: time).

    aspect : height over width of the plotted area; 0: as large as there is room.
    """

    channels: tuple[str, ...] = ()
    x: str = TIME
    aspect: float = 0.0

    @property
    def over_time(self) -> bool:
        """True if the x axis is time, so that a playhead can be shown."""
        return self.x in (TIME, "t")

    def with_channels(self, names: Iterable[str]) -> Plot:
        """Return the plot with further channels appended."""
        return replace(self, channels=tuple(dict.fromkeys((*self.channels, *names))))

    def without(self, name: str) -> Plot:
        """Return the plot without a channel."""
        return replace(self, channels=tuple(each for each in self.channels if each != name))


@dataclass(frozen=True)
class Sheet:
    """All plots of a model; `active` is the index of the plot that receives chosen channels."""

    plots: tuple[Plot, ...] = ()
    active: int = 0

    def put(self, index: int, plot: Plot) -> Sheet:
        """Return the sheet with a plot replaced; an index after the last one appends it."""
        plots = (*self.plots[:index], plot, *self.plots[index + 1 :])
        return Sheet(plots, min(index, len(plots) - 1))

    def added(self, plot: Plot) -> Sheet:
        """Return the sheet with a plot appended, which becomes the active one."""
        return Sheet((*self.plots, plot), len(self.plots))

    def removed(self, index: int) -> Sheet:
        """Return the sheet without the plot at an index."""
        plots = (*self.plots[:index], *self.plots[index + 1 :])
        return Sheet(plots, max(0, min(self.active, len(plots) - 1)))

    def without(self, plot: Plot) -> Sheet:
        """Return the sheet without the first plot equal to this one."""
        return self.removed(self.plots.index(plot)) if plot in self.plots else self

    def inserted(self, index: int, plot: Plot) -> Sheet:
        """Return the sheet with a plot inserted at an index, which becomes the active one."""
        return Sheet((*self.plots[:index], plot, *self.plots[index:]), min(index, len(self.plots)))

    def activated(self, index: int) -> Sheet:
        """Return the sheet with another active plot."""
        return replace(self, active=max(0, min(index, len(self.plots) - 1)))

    @property
    def current(self) -> Plot:
        """Return the active plot; an empty one if there is none."""
        return self.plots[self.active] if self.plots else Plot()
