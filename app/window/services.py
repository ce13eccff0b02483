"""Services of the window for runs, panels and scene, as declared in `app.workbench`. Motions in the results of
functions are added to the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from PySide6.QtGui import QImage

from app.document.kept.run_keeper import RunSaver
from app.document.revision import ElementRef
from app.plotting.curves import Plot
from app.plotting.headless import write_motion_plots
from app.runs.films import FilmQueue
from app.runs.interactive import InteractiveDynamics
from app.runs.job import Simulation
from app.runs.what_if import WhatIf
from app.viewport.run_scene import RunDisplay
from app.viewport.viewport import Viewport
from app.window.docks import Docks, PanelAttribute
from app.window.view_state import SavedViews
from core.analysis.tool_frame import tool_frame
from core.functions.results import Motion, Result, leaf_results

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
    """Service that computes and stores runs, and recomputes them as sliders move."""

    def __init__(
        self,
        simulation: Simulation,
        what_if: WhatIf,
        interactive: InteractiveDynamics,
        films: FilmQueue,
        keeper: RunSaver,
    ) -> None:
        self.simulation, self.films = simulation, films
        self._what_if, self._interactive, self._keeper = what_if, interactive, keeper

    @property
    def recomputes_on_change(self) -> bool:
        """True if the run is recomputed as the sliders move."""
        return self._what_if.is_on

    def set_recompute_on_change(self, on: bool) -> None:
        """Turn on or off the recomputation of the run as the sliders move."""
        self._what_if.set_enabled(on)

    @property
    def is_live(self) -> bool:
        """True while the machine is simulated in real time, also while paused."""
        return self._interactive.on

    def start_or_end_live(self) -> None:
        """Start the real-time simulation; if it is running, end it."""
        self._interactive.start()

    def pause_or_resume_live(self) -> None:
        """Pause or resume the real-time simulation."""
        self._interactive.toggle_pause()

    def end_live(self) -> None:
        """End the real-time simulation and keep the recorded motion as a run."""
        self._interactive.stop()

    @property
    def damping(self) -> str:
        """Artificial damping of the real-time simulation."""
        return self._interactive.damping

    def set_damping(self, damping: str) -> None:
        """Set the artificial damping of the real-time simulation."""
        self._interactive.set_damping(damping)

    @property
    def save_policy(self) -> str:
        """Setting that determines when runs are saved with the document."""
        return self._keeper.save_policy

    @save_policy.setter
    def save_policy(self, policy: str) -> None:
        self._keeper.save_policy = policy


class Panels:
    """Service for the panels around the view."""

    functions: PanelAttribute[FunctionPanel] = PanelAttribute("functions")
    output: PanelAttribute[OutputPanel] = PanelAttribute("output")
    derivation: PanelAttribute[DerivationPanel] = PanelAttribute("derivation")
    """Panel of the step-by-step derivation."""
    plots: PanelAttribute[PlotsPanel] = PanelAttribute("plots")
    """The sheet of plots."""
    properties: PanelAttribute[PropertyEditor] = PanelAttribute("properties")
    robotica: PanelAttribute[RoboticaPanel] = PanelAttribute("robotica")
    simulation: PanelAttribute[SimulationPanel] = PanelAttribute("simulation")
    tree: PanelAttribute[ModelTree] = PanelAttribute("tree")

    def __init__(self, docks: Docks) -> None:
        self.docks = docks

    def get_panel(self, panel_class: type[P]) -> P:
        """Return the panel of a given class."""
        folder = panel_class.__module__.split(".")[-2]
        return cast(P, self.docks.panels[folder])

    @property
    def panel_titles(self) -> Mapping[str, str]:
        """Current titles of the panels, by id."""
        return {name: dock.windowTitle() for name, dock in self.docks.docks.items()}

    @property
    def is_output_empty(self) -> bool:
        """True if the output panel is visible and empty."""
        output = self.output
        return not (output.cards or output.visibleRegion().isEmpty())

    @property
    def is_derivation_open(self) -> bool:
        """True while a derivation is open."""
        return "derivation" in self.docks.panels and self.derivation.is_open

    @property
    def has_plotted_channels(self) -> bool:
        """True if any channel is plotted."""
        return "plots" in self.docks.panels and self.plots.has_channels

    @property
    def run_list(self) -> RunsList:
        """The list of runs."""
        return self.simulation.runs

    def show_panel(self, panel: str) -> None:
        """Bring a panel to the front."""
        self.docks.show_panel(panel)

    def restore_initial_layout(self) -> None:
        """Restore the initial layout of the panels."""
        self.docks.restore_initial_layout()

    def set_panel_title(self, panel: str, title: str) -> None:
        """Change the title of a panel, e.g. to one with a count."""
        self.docks.set_panel_title(panel, title)

    def focus_property_field(self, field: str) -> None:
        """Move the keyboard focus to a field of the selected element in the properties panel."""
        self.properties.focus_field(field)

    def open_function(self, function: str) -> None:
        """Open the form of a catalogue function or a Robotica command."""
        self.show_panel("functions")
        self.functions.open_function(function)

    def run_function(self, function: str, options: Mapping[str, Any]) -> None:
        """Run a catalogue function in the background and show its result."""
        self.show_panel("output")
        self.functions.run_function(function, options)

    def rename_selected_element(self) -> None:
        """Rename the selected element in the model tree."""
        self.show_panel("tree")
        self.tree.rename_selected()

    def apply_pending_input(self) -> bool:
        """Apply pending input in the properties and the run settings; return False if some input is invalid, which the
        panels then indicate."""
        problem = self.properties.finish_typing()
        if problem:
            self.show_panel("properties")
        self.simulation.show_problem("properties", f"Properties, {problem}" if problem else "")
        return self.simulation.finish_typing()

    def run_robotica_line(self, line: str) -> None:
        """Run a command in the Robotica console and show the console."""
        self.show_panel("robotica")
        self.robotica.run_line(line)


class SceneDisplay:
    """Service for the vectors, paths and saved views in the scene."""

    def __init__(self, view: Viewport, run_scene: RunDisplay, views: SavedViews) -> None:
        self._view, self._run_scene, self._views = view, run_scene, views

    @property
    def has_visible_vectors(self) -> bool:
        """True if any vectors are shown."""
        return bool(self._run_scene.shown_vectors)

    def shows_vectors(self, kind: str, ref: ElementRef | None = None) -> bool:
        """Return True if the vectors of a kind are shown: those of all elements, or that of one element."""
        return self._run_scene.shows_vectors(kind, ref)

    def toggle_vectors(self, kind: str, ref: ElementRef | None = None) -> None:
        """Show or hide the vectors of a kind: those of all elements, or that of one element."""
        self._run_scene.toggle_vectors(kind, ref)

    def hide_vectors(self) -> None:
        """Hide all vectors."""
        self._run_scene.hide_all_vectors()

    @property
    def path_frames(self) -> tuple[str, ...]:
        """Frames whose paths are drawn."""
        return self._view.frames_with_paths

    def draw_paths(self, *frames: str) -> None:
        """Draw the paths of these frames only."""
        self._view.scene.follow_frames(*frames)
        self._view.update()

    def draw_point_path(self, frame: str, point: tuple[float, float, float]) -> None:
        """Also draw the path of a point (m, in a frame)."""
        scene = self._view.scene
        scene.tracks.follow_point(frame, point)
        scene.follow_frames(*scene.tracks.followed_frames)
        self._run_scene.redraw()

    def restart_paths(self) -> None:
        """Clear all paths and start recording them again."""
        self._view.scene.tracks.clear_paths()
        self.draw_paths(*self.path_frames)

    @property
    def context_menu_point(self) -> tuple[float, float, float] | None:
        """The point (m, world) at which the context menu was last opened; None if there is none."""
        place = self._view.menu_point
        if place is None:
            return None
        x, y, z = map(float, place)
        return x, y, z

    def render_picture(self, scale: int = 1) -> QImage:
        """Return a picture of the view at `scale` times its resolution, without handles and buttons."""
        return self._view.grab_image(scale)

    def save_view_with_dialog(self) -> None:
        """Ask for a name and save the current view under it."""
        self._views.save_with_dialog()


class ResultMotions:
    """Adds the motions of a result to the runs and displays them as the motions specify."""

    def __init__(
        self, view: Stage, player: Player, plots: Callable[[], PlotsPanel], show_plots: Callable[[], object]
    ) -> None:
        self._view, self._player, self._plots, self._show_plots = view, player, plots, show_plots

    def add_motions(self, result: Result) -> None:
        """Add every motion of a result to the runs."""
        for part in leaf_results(result):
            if (motion := part.scene_parts().motion) is not None:
                self._add_motion(motion)

    def _add_motion(self, motion: Motion) -> None:
        runs, before = self._view.session.runs, dict(self._view.session.p)
        known = next((record for record in runs.items if record.run is motion.run), None)
        runs.select(known) if known is not None else runs.add(motion.run, motion.title)
        if known is None and dict(motion.run.settings.parameters) != before:
            self._view.viewpoint.move_back_to_fit()  # a robot of other lengths has another size
        if motion.curves:
            self._plot_motion(motion)
        if motion.trace:
            self._draw_tool_path()
        if motion.animate:
            self._player.play()
        elif motion.trace:
            runs.seek(float(motion.run.time[-1]))  # the path is drawn up to the playhead

    def _plot_motion(self, motion: Motion) -> None:
        """Plot the curves of a motion, with one plot for each x axis."""
        for x in dict.fromkeys(x for x, _ in motion.curves):
            channels = tuple(y for along, y in motion.curves if along == x)
            self._plots().add_plot(Plot(channels, x, motion.aspect))
        self._show_plots()
        write_motion_plots(motion)

    def _draw_tool_path(self) -> None:
        """Draw the path of the tool in addition to the paths that are already drawn."""
        scene = self._view.scene
        scene.follow_frames(*dict.fromkeys((*scene.tracks.followed_frames, tool_frame(self._view.session.model))))
        self._view.update()
