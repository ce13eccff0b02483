"""What plots show, as immutable values. Knows no Qt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from core.later import dataclass

TIME = "time"


@dataclass(frozen=True)
class Plot:
    """One plot: channels of one component, or formulas, against another (default: time).

    aspect : height over width of the plotted area; 0: as large as there is room.
    """

    channels: tuple[str, ...] = ()
    x: str = TIME
    aspect: float = 0.0

    @property
    def over_time(self) -> bool:
        """Whether the x axis is time, so that a playhead can stand on it."""
        return self.x in (TIME, "t")

    def with_channels(self, names: Iterable[str]) -> Plot:
        """The plot with more channels; those it has stay where they are."""
        return replace(self, channels=tuple(dict.fromkeys((*self.channels, *names))))

    def without(self, name: str) -> Plot:
        """The plot without a channel."""
        return replace(self, channels=tuple(each for each in self.channels if each != name))


@dataclass(frozen=True)
class Sheet:
    """All plots of a model; `active` is where a channel that is chosen goes."""

    plots: tuple[Plot, ...] = ()
    active: int = 0

    def put(self, index: int, plot: Plot) -> Sheet:
        """Another plot in place of one; an index behind the last appends it."""
        plots = (*self.plots[:index], plot, *self.plots[index + 1 :])
        return Sheet(plots, min(index, len(plots) - 1))

    def added(self, plot: Plot) -> Sheet:
        """With one more plot, which becomes the active one."""
        return Sheet((*self.plots, plot), len(self.plots))

    def removed(self, index: int) -> Sheet:
        """Without a plot."""
        plots = (*self.plots[:index], *self.plots[index + 1 :])
        return Sheet(plots, max(0, min(self.active, len(plots) - 1)))

    def without(self, plot: Plot) -> Sheet:
        """Without the first plot that is this one."""
        return self.removed(self.plots.index(plot)) if plot in self.plots else self

    def inserted(self, index: int, plot: Plot) -> Sheet:
        """With a plot at a place, which becomes the active one."""
        return Sheet((*self.plots[:index], plot, *self.plots[index:]), min(index, len(self.plots)))

    def activated(self, index: int) -> Sheet:
        """With another active plot."""
        return replace(self, active=max(0, min(index, len(self.plots) - 1)))

    @property
    def current(self) -> Plot:
        """The active plot; an empty one if there is none."""
        return self.plots[self.active] if self.plots else Plot()
