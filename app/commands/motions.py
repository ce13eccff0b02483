"""Commands of poses and motions: store the present pose, add a motion, play it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command
from app.document.motion_plans import motion_plans_of

if TYPE_CHECKING:
    from app.workbench import Workbench

MENU = "Tools/Motions"


def _can_move(bench: Workbench) -> bool:
    return bench.session.mech.nq > 0


def _has_motion(bench: Workbench) -> bool:
    return bool(bench.session.model.motions)


def store_pose(bench: Workbench) -> None:
    """Store the present pose, also as a point of the motion that is shown."""
    plans = motion_plans_of(bench.session)
    motion = plans.motion if plans.is_wanted else None
    name = plans.store_pose()
    if name:
        where = f"; {motion.name} leads there" if motion is not None else ""
        bench.session.message.emit("done", f"Pose '{name}' is stored{where}.")


def _add_motion(bench: Workbench) -> None:
    bench.panels.show_panel("motions")
    motion_plans_of(bench.session).add_motion()


def play_motion(bench: Workbench) -> None:
    """Play the motion that is shown from its start, once it is planned."""
    bench.panels.show_panel("motions")
    plans = motion_plans_of(bench.session)

    def play() -> None:
        if plans.show_run():
            bench.stage.viewpoint.move_back_to_fit()
            bench.player.go_to_start()
            bench.player.play()

    plans.when_planned(play)


COMMANDS = (
    Command(
        "motion.store_pose",
        "Store pose",
        store_pose,
        MENU,
        "K",
        "pose",
        when=_can_move,
        section="poses",
        context=("scene",),
        help="Store the present pose. While the panel Motions shows a motion, it also leads there: after "
        "the chosen point, or at its end.",
        also=("keyframe", "save pose", "waypoint", "teach", "store point", "record pose"),
    ),
    Command(
        "motion.add",
        "New motion",
        _add_motion,
        MENU,
        icon="motion",
        when=_can_move,
        section="motions",
        help="Add a motion through all stored poses and targets, which the panel Motions shows.",
        also=("trajectory", "path", "program", "pick and place", "through poses"),
    ),
    Command(
        "motion.play",
        "Play motion",
        play_motion,
        MENU,
        icon="play",
        when=_has_motion,
        section="motions",
        help="Plan the motion within the limits of joints and tool, and play it with its joint forces.",
        also=("run trajectory", "animate motion", "simulate motion"),
    ),
    Command(
        "motion.panel",
        "Motions",
        lambda w: w.panels.show_panel("motions"),
        MENU,
        icon="motion",
        section="panel",
        help="The panel Motions: poses, points of a motion over time, and its quantities over their limits.",
        also=("keyframes", "poses", "targets", "trajectory", "waypoints"),
    ),
)
