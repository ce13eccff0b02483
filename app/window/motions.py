"""Motions in results of functions, kept as runs: listed, plotted, traced, played."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from app.plotting.headless import write_motion
from app.plotting.sheets import Plot
from core.analysis.tool_frame import tool_frame
from core.functions.results import Motion, Result, leaves

if TYPE_CHECKING:
    from app.panels.plots.panel import PlotsPanel
    from app.playback.clock import Player
    from app.viewport.stage import Stage


class MotionKeeper:
    """Adds the motions of a result to the runs and displays them as they request."""

    def __init__(
        self, view: Stage, player: Player, plots: Callable[[], PlotsPanel], show_plots: Callable[[], object]
    ) -> None:
        self._view, self._player, self._plots, self._show_plots = view, player, plots, show_plots

    def keep(self, result: Result) -> None:
        """Add every motion of a result to the runs."""
        for part in leaves(result):
            if (motion := part.scene_parts().motion) is not None:
                self._take_motion(motion)

    def _take_motion(self, motion: Motion) -> None:
        runs, before = self._view.session.runs, dict(self._view.session.p)
        known = next((record for record in runs.items if record.run is motion.run), None)
        runs.select(known) if known is not None else runs.add(motion.run, motion.title)
        if known is None and dict(motion.run.settings.parameters) != before:
            self._view.viewpoint.move_back_to_fit()  # a robot of other lengths has another size
        if motion.curves:
            self._plot_motion(motion)
        if motion.trace:
            self._trace_tool()
        if motion.animate:
            self._player.play()
        elif motion.trace:
            runs.seek(float(motion.run.time[-1]))  # the path is drawn up to the playhead

    def _plot_motion(self, motion: Motion) -> None:
        """Plot the curves, one plot for each x axis."""
        for x in dict.fromkeys(x for x, _ in motion.curves):
            channels = tuple(y for along, y in motion.curves if along == x)
            self._plots().add_plot(Plot(channels, x, motion.aspect))
        self._show_plots()
        write_motion(motion)

    def _trace_tool(self) -> None:
        """Draw the path of the tool, in addition to the paths drawn already."""
        scene = self._view.scene
        scene.follow(*dict.fromkeys((*scene.tracks.frames, tool_frame(self._view.session.model))))
        self._view.update()
