"""Commands of the timeline: play, pause and step runs and sequences of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command, Run

if TYPE_CHECKING:
    from app.playback.clock import Player
    from app.workbench import Workbench

MENU = "Simulation/Playback"


def _player(bench: Workbench) -> Player:
    return bench.player


def _can_play(bench: Workbench) -> bool:
    return _player(bench).ready


def _toggle_playing(bench: Workbench) -> None:
    if bench.runs.live:
        bench.runs.toggle_live()
    else:
        _player(bench).toggle()


def _shows_run_pose(bench: Workbench) -> bool:
    return bench.sequence.active or bench.session.following


def _close_sequence(bench: Workbench) -> None:
    _player(bench).hold()
    if bench.sequence.active:
        bench.sequence.leave()
    else:
        bench.session.follow(None)


def _can_use_pose(bench: Workbench) -> bool:
    return bench.session.following or bench.sequence.pose is not None


def _use_pose(bench: Workbench) -> None:
    pose = bench.sequence.pose
    if pose is None:
        bench.session.keep_pose()
        return
    bench.sequence.leave()
    bench.session.pose("Use the pose shown", pose)


def _play_from_here(bench: Workbench) -> None:
    player = _player(bench)
    player.set_span((player.strip.time, player.ends[1]))


def _play_to_here(bench: Workbench) -> None:
    player = _player(bench)
    player.set_span((player.ends[0], player.strip.time))


def _step_command(id: str, title: str, shortcut: str, icon: str, run: Run, help: str) -> Command:
    return Command(f"play.{id}", title, run, MENU, shortcut, icon, when=_can_play, section="step", help=help)


COMMANDS = (
    Command(
        "play.toggle",
        "Play / pause",
        _toggle_playing,
        MENU,
        "Space",
        "play",
        when=lambda w: w.runs.live or _can_play(w),
        help="Play the run or the sequence of poses, or pause it.",
    ),
    _step_command("back", "Step back", "Left", "step_back", lambda w: _player(w).step(-1), "One sample back."),
    _step_command(
        "forward", "Step forward", "Right", "step_forward", lambda w: _player(w).step(1), "One sample forward."
    ),
    _step_command(
        "back_far", "Ten back", "Shift+Left", "step_back", lambda w: _player(w).step(-10), "Ten samples back."
    ),
    _step_command(
        "forward_far", "Ten forward", "Shift+Right", "step_forward", lambda w: _player(w).step(10), "Ten samples."
    ),
    _step_command("first", "To the start", "Home", "to_start", lambda w: _player(w).to_start(), "To the first moment."),
    _step_command("last", "To the end", "End", "to_end", lambda w: _player(w).to_end(), "To the last moment."),
    Command(
        "play.loop",
        "Loop",
        lambda w: _player(w).set_loops(not _player(w).loops),
        MENU,
        "",
        "repeat",
        checked=lambda w: _player(w).loops,
        section="how",
        help="Start again when the end is reached.",
    ),
    Command(
        "play.paced",
        "Real pace",
        lambda w: _player(w).set_paced(not _player(w).paced),
        MENU,
        "",
        "",
        checked=lambda w: _player(w).paced,
        section="how",
        help="Play in real time at the chosen speed; off: as fast as frames can be drawn.",
    ),
    Command(
        "play.slower",
        "Slower",
        lambda w: _player(w).faster(-1),
        MENU,
        "[",
        "",
        section="how",
        help="The next lower speed.",
    ),
    Command(
        "play.faster",
        "Faster",
        lambda w: _player(w).faster(1),
        MENU,
        "]",
        "",
        section="how",
        help="The next higher speed.",
    ),
    Command(
        "play.from_here",
        "Play from here",
        _play_from_here,
        MENU,
        "",
        "",
        when=_can_play,
        section="part",
        help="Start the played section at the playhead.",
    ),
    Command(
        "play.to_here",
        "Play up to here",
        _play_to_here,
        MENU,
        "",
        "",
        when=_can_play,
        section="part",
        help="End the played section at the playhead.",
    ),
    Command(
        "play.whole",
        "Play the whole run",
        lambda w: _player(w).set_span(None),
        MENU,
        "",
        "",
        when=lambda w: _player(w).span is not None,
        section="part",
        help="Play the whole run or sequence again.",
    ),
    Command(
        "play.use_pose",
        "Use this pose",
        _use_pose,
        MENU,
        "",
        "check",
        when=_can_use_pose,
        section="close",
        help="Make the pose that is shown the edited pose (one undo step).",
    ),
    Command(
        "play.close",
        "Leave playback",
        _close_sequence,
        MENU,
        "",
        "close",
        when=_shows_run_pose,
        section="close",
        help="Show the edited pose again. The run stays in the list; playing or scrubbing shows it again.",
    ),
)
