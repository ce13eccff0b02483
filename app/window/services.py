"""Services of the window for runs, panels and scene, as declared in `app.workbench`. Motions in results of functions
become runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from PySide6.QtGui import QImage

from app.document.kept.run_keeper import RunKeeper
from app.document.revision import Ref
from app.plotting.curves import Plot
from app.plotting.headless import write_motion
from app.runs.films import Films
from app.runs.interactive import Interactive
from app.runs.job import Simulation
from app.runs.what_if import WhatIf
from app.viewport.run_scene import RunScene
from app.viewport.viewport import Viewport
from app.window.docks import Docks, PanelOf
from app.window.view_state import SavedViews
from core.analysis.tool_frame import tool_frame
from core.functions.results import Motion, Result, leaves

if TYPE_CHECKING:
    from app.panels.derivation.panel import DerivationPanel
    from app.panels.functions.panel import FunctionPanel
    from app.panels.output.panel import OutputPanel
    from app.panels.plots.panel import PlotsPanel
    from app.panels.properties.panel import PropertyEditor
    from app.panels.robotica.panel import RoboticaPanel
    from app.panels.simulation.panel import SimulationPanel
    from app.panels.simulation.run_list import RunsList
    from app.panels.tree.panel import ModelTree
    from app.playback.clock import Player
    from app.viewport.stage import Stage


P = TypeVar("P")


class Runs:
    """Service that computes runs, updates them as sliders move, and keeps them."""

    def __init__(
        self, simulation: Simulation, what_if: WhatIf, interactive: Interactive, films: Films, keeper: RunKeeper
    ) -> None:
        self.simulation, self.films = simulation, films
        self._what_if, self._interactive, self._keeper = what_if, interactive, keeper

    @property
    def follows(self) -> bool:
        """True if the whole run is recomputed as the sliders move."""
        return self._what_if.on

    def follow(self, on: bool) -> None:
        """Turn recomputing of the whole run as the sliders move on or off."""
        self._what_if.switch(on)

    @property
    def live(self) -> bool:
        """True if the machine runs in real time, or that run is paused."""
        return self._interactive.on

    def start_live(self) -> None:
        """Start running the machine in real time, or end it."""
        self._interactive.start()

    def toggle_live(self) -> None:
        """Pause or resume the machine that runs in real time."""
        self._interactive.toggle()

    def stop_live(self) -> None:
        """End the real-time run and keep the recorded motion as a run."""
        self._interactive.stop()

    @property
    def damping(self) -> str:
        """The damping of the machine that runs in real time."""
        return self._interactive.damping

    def damp(self, damping: str) -> None:
        """Set the damping of the machine that runs in real time."""
        self._interactive.set_damping(damping)

    @property
    def keeps(self) -> str:
        """Setting for when runs are saved with the document."""
        return self._keeper.keeps

    @keeps.setter
    def keeps(self, keeps: str) -> None:
        self._keeper.keeps = keeps


class Panels:
    """Service for the panels around the view."""

    functions: PanelOf[FunctionPanel] = PanelOf("functions")
    output: PanelOf[OutputPanel] = PanelOf("output")
    derivation: PanelOf[DerivationPanel] = PanelOf("derivation")
    """The derivation that the user steps through."""
    plots: PanelOf[PlotsPanel] = PanelOf("plots")
    """The sheet of plots."""
    properties: PanelOf[PropertyEditor] = PanelOf("properties")
    robotica: PanelOf[RoboticaPanel] = PanelOf("robotica")
    simulation: PanelOf[SimulationPanel] = PanelOf("simulation")
    tree: PanelOf[ModelTree] = PanelOf("tree")

    def __init__(self, docks: Docks) -> None:
        self.docks = docks

    def of(self, kind: type[P]) -> P:
        """Return the panel of a class."""
        folder = kind.__module__.split(".")[-2]
        return cast(P, self.docks.panels[folder])

    @property
    def titles(self) -> Mapping[str, str]:
        """The current titles of the panels, by id."""
        return {name: dock.windowTitle() for name, dock in self.docks.docks.items()}

    @property
    def output_idle(self) -> bool:
        """True if the output panel is visible and empty."""
        output = self.output
        return not (output.cards or output.visibleRegion().isEmpty())

    @property
    def deriving(self) -> bool:
        """True while a derivation is open."""
        return "derivation" in self.docks.panels and self.derivation.on

    @property
    def plotting(self) -> bool:
        """True if any channel is plotted."""
        return "plots" in self.docks.panels and self.plots.any

    @property
    def runs(self) -> RunsList:
        """The list of runs."""
        return self.simulation.runs

    def show(self, panel: str) -> None:
        """Bring a panel to the front."""
        self.docks.show(panel)

    def reset(self) -> None:
        """Restore the initial layout of all panels."""
        self.docks.reset()

    def retitle(self, panel: str, title: str) -> None:
        """Change the title of a panel, e.g. to one with a count."""
        self.docks.retitle(panel, title)

    def focus_field(self, field: str) -> None:
        """Move the focus to a field in the properties of the selected element."""
        self.properties.focus_field(field)

    def choose_function(self, function: str) -> None:
        """Open a catalogue function or a Robotica call with its options."""
        self.show("functions")
        self.functions.choose(function)

    def ask_function(self, function: str, options: Mapping[str, Any]) -> None:
        """Run a catalogue function in the background and show its result."""
        self.show("output")
        self.functions.ask(function, options)

    def rename_selected(self) -> None:
        """Rename the selected element in the model tree."""
        self.show("tree")
        self.tree.rename_selected()

    def finish_typing(self) -> bool:
        """Apply unfinished input in the properties and the run settings; returns False if some input is invalid, which
        the panels show."""
        problem = self.properties.finish_typing()
        if problem:
            self.show("properties")
        self.simulation.refuse("properties", f"Properties, {problem}" if problem else "")
        return self.simulation.finish_typing()

    def enter_line(self, line: str) -> None:
        """Run a line in the Robotica console and show it."""
        self.show("robotica")
        self.robotica.enter(line)


class Scenery:
    """Service for vectors, paths and saved views in the scene."""

    def __init__(self, view: Viewport, run_scene: RunScene, views: SavedViews) -> None:
        self._view, self._run_scene, self._views = view, run_scene, views

    @property
    def vectors_shown(self) -> bool:
        """True if any vectors are shown."""
        return bool(self._run_scene.wanted)

    def shows_vectors(self, kind: str, ref: Ref | None = None) -> bool:
        """Return True if all vectors of a kind, or the one of an element, are shown."""
        return self._run_scene.shows(kind, ref)

    def toggle_vectors(self, kind: str, ref: Ref | None = None) -> None:
        """Show or hide all vectors of a kind, or the one of an element."""
        self._run_scene.toggle(kind, ref)

    def hide_vectors(self) -> None:
        """Hide all vectors."""
        self._run_scene.hide_all()

    @property
    def paths(self) -> tuple[str, ...]:
        """Frames whose paths are drawn."""
        return self._view.paths

    def follow(self, *frames: str) -> None:
        """Draw the paths of these frames only."""
        self._view.scene.follow(*frames)
        self._view.update()

    def follow_point(self, frame: str, point: tuple[float, float, float]) -> None:
        """Also draw the path of a point (m, in a frame)."""
        scene = self._view.scene
        scene.tracks.follow_point(frame, point)
        scene.follow(*scene.tracks.frames)
        self._run_scene.refresh()

    def forget_paths(self) -> None:
        """Clear all paths and start them again."""
        self._view.scene.tracks.forget()
        self.follow(*self.paths)

    @property
    def pointed(self) -> tuple[float, float, float] | None:
        """The point (m, world) at which the context menu was last opened; None if there is none."""
        place = self._view.menu_point
        if place is None:
            return None
        x, y, z = map(float, place)
        return x, y, z

    def picture(self, scale: int = 1) -> QImage:
        """Return an image of the view at `scale` times its resolution, without handles and buttons."""
        return self._view.picture(scale)

    def keep_view(self) -> None:
        """Ask for a name and save the current view under it."""
        self._views.ask_name()


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
