"""Tour: draw, move, drive and plot a four-bar linkage."""

from __future__ import annotations

from app.tours.tour import MOVED, Step, StepProgress, Tour, has_changed_parameter
from core.model import WORLD


def _is_loop_closed(progress: StepProgress) -> bool:
    found = progress.mobility
    return (
        found is not None
        and found.dof == 1
        and len(progress.current_model.joints) > len(progress.current_model.bodies) > 1
    )


def _is_coupler_traced(progress: StepProgress) -> bool:
    """Return True if a traced point belongs to a link without a joint to the ground (paths of grounded links are only
    arcs)."""
    model = progress.bench.session.model
    grounded = {joint.child for joint in model.joints if joint.parent == WORLD}
    grounded |= {joint.parent for joint in model.joints if joint.child == WORLD}
    carriers = {frame.name: frame.parent for frame in model.frames}
    return any(carriers.get(path, path) not in grounded for path in progress.bench.scenery.path_frames)


def _has_motor(progress: StepProgress) -> bool:
    return bool(progress.current_model.drivers) and progress.has_new_run


def _is_saved(progress: StepProgress) -> bool:
    session = progress.bench.session
    return session.path is not None and not session.is_unsaved


TOUR = Tour(
    "four_bar",
    "A four-bar in two minutes",
    "Draw a linkage, drag it, give it lengths, a motor and a plot.",
    (
        Step(
            "Draw four points",
            "Press D to draw. Click where the first pin stands on the ground, click two more points for the joints "
            "between the links, and double-click the fourth: that ends on the ground. Keep the first link the "
            "shortest: it is the crank. Backspace removes the last link.",
            _is_loop_closed,
            "A closed loop with one degree of freedom: M\u00a0=\u00a01, so one motor is enough.",
        ),
        Step(
            "Drag the crank",
            "Press W for the Move tool (Esc leaves Draw first) and drag the first link around. The other links follow "
            "as the loop requires. Where it stops, it is at a dead point.",
            lambda seen: seen.moved > MOVED,
            "That is its only motion. The status line says so: 1 degree of freedom.",
        ),
        Step(
            "Type a length",
            "Press D again and click the dimension next to a link, or select a link and find Length in its properties. "
            "Type a value a little larger and press Enter: the loop closes again on the same side.",
            lambda seen: has_changed_parameter(seen.model, seen.bench.session.model),
            "Each length is a parameter: formulas can use it, and it has a slider.",
        ),
        Step(
            "A point and its path",
            "In Draw press P and click a point on the middle link or next to it. Or right-click a link and choose Path "
            "of this point. Then drag the crank: its path is drawn.",
            _is_coupler_traced,
            "This is the coupler curve.",
        ),
        Step(
            "Add a motor and run it",
            "In Draw press A and click the first pin: a motor turns it once a second. Then press F5 to simulate; Space "
            "plays and pauses. A run that ends early says where the loop no longer closes: shorten the first link.",
            _has_motor,
            "The run plays on the timeline below the scene.",
        ),
        Step(
            "Plot the rocker's angle",
            "In the Plots panel open D, the third link's pin on the ground, and double-click its angle q; or drag it "
            "into the plot.",
            lambda seen: seen.bench.panels.has_plotted_channels,
            "Wheel and drag zoom and move the plot; its ruler measures.",
        ),
        Step(
            "Save it",
            "Press Ctrl+S. The file is plain text that you can read, and its runs are stored next to it.",
            _is_saved,
            "That is all. F1 explains what is under the pointer, Ctrl+Shift+P finds everything else.",
        ),
    ),
)
