"""Commands of the timeline: play, pause and step through runs and sequences of poses."""

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
    return _player(bench).has_content


def _toggle_playing(bench: Workbench) -> None:
    if bench.runs.is_live:
        bench.runs.pause_or_resume_live()
    else:
        _player(bench).toggle_playback()


def _shows_run_pose(bench: Workbench) -> bool:
    return bench.sequence.is_open or bench.session.shows_run_pose


def _close_sequence(bench: Workbench) -> None:
    _player(bench).pause()
    if bench.sequence.is_open:
        bench.sequence.close_sequence()
    else:
        bench.session.show_run_pose(None)


def _can_use_pose(bench: Workbench) -> bool:
    return bench.session.shows_run_pose or bench.sequence.shown_pose is not None


def _use_pose(bench: Workbench) -> None:
    pose = bench.sequence.shown_pose
    if pose is None:
        bench.session.adopt_run_pose()
        return
    bench.sequence.close_sequence()
    bench.session.pose("Use the pose shown", pose)


def _play_from_here(bench: Workbench) -> None:
    player = _player(bench)
    player.set_interval((player.playable.time, player.time_range[1]))


def _play_to_here(bench: Workbench) -> None:
    player = _player(bench)
    player.set_interval((player.time_range[0], player.playable.time))


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
        when=lambda w: w.runs.is_live or _can_play(w),
        help="Play the run or the sequence of poses, or pause it.",
    ),
    _step_command("back", "Step back", "Left", "step_back", lambda w: _player(w).step_by(-1), "One sample back."),
    _step_command(
        "forward", "Step forward", "Right", "step_forward", lambda w: _player(w).step_by(1), "One sample forward."
    ),
    _step_command(
        "back_far", "Step 10 back", "Shift+Left", "step_back", lambda w: _player(w).step_by(-10), "Ten samples back."
    ),
    _step_command(
        "forward_far",
        "Step 10 forward",
        "Shift+Right",
        "step_forward",
        lambda w: _player(w).step_by(10),
        "Ten samples forward.",
    ),
    _step_command(
        "first", "To the start", "Home", "to_start", lambda w: _player(w).go_to_start(), "Go to the first sample."
    ),
    _step_command("last", "To the end", "End", "to_end", lambda w: _player(w).go_to_end(), "Go to the last sample."),
    Command(
        "play.loop",
        "Loop",
        lambda w: _player(w).set_looping(not _player(w).loops),
        MENU,
        "",
        "repeat",
        checked=lambda w: _player(w).loops,
        section="how",
        help="Start again when the end is reached.",
    ),
    Command(
        "play.paced",
        "Real time",
        lambda w: _player(w).set_real_time(not _player(w).paced),
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
        lambda w: _player(w).change_speed(-1),
        MENU,
        "[",
        "",
        section="how",
        help="Play at the next lower speed.",
    ),
    Command(
        "play.faster",
        "Faster",
        lambda w: _player(w).change_speed(1),
        MENU,
        "]",
        "",
        section="how",
        help="Play at the next higher speed.",
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
        lambda w: _player(w).set_interval(None),
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
        help="Use the displayed pose as the edited pose (one undo step).",
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
