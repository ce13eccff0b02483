"""Commands of the playback bar, which appears when a result is a sequence of poses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command

if TYPE_CHECKING:
    from app.window import Window

MENU = "Tools/Playback"


def _open(window: Window) -> bool:
    return window.viewport.playback.active


def _animated(window: Window) -> bool:
    return window.viewport.playback.animated


COMMANDS = (
    Command(
        "play.toggle",
        "Play / pause",
        lambda w: w.viewport.playback.toggle(),
        MENU,
        "Space",
        "play",
        when=_animated,
        help="Play the sequence of poses, or hold it.",
    ),
    Command(
        "play.back",
        "Step back",
        lambda w: w.viewport.playback.step(-1),
        MENU,
        "Left",
        "step_back",
        when=_animated,
        help="One pose back.",
    ),
    Command(
        "play.forward",
        "Step forward",
        lambda w: w.viewport.playback.step(1),
        MENU,
        "Right",
        "step_forward",
        when=_animated,
        help="One pose forward.",
    ),
    Command(
        "play.back_far",
        "Ten back",
        lambda w: w.viewport.playback.step(-10),
        MENU,
        "Shift+Left",
        "step_back",
        when=_animated,
        help="Ten poses back.",
    ),
    Command(
        "play.forward_far",
        "Ten forward",
        lambda w: w.viewport.playback.step(10),
        MENU,
        "Shift+Right",
        "step_forward",
        when=_animated,
        help="Ten poses forward.",
    ),
    Command(
        "play.first",
        "To the start",
        lambda w: w.viewport.playback.to(0),
        MENU,
        "Home",
        "left",
        when=_animated,
        help="The first pose.",
    ),
    Command(
        "play.last",
        "To the end",
        lambda w: w.viewport.playback.to(-1),
        MENU,
        "End",
        "right",
        when=_animated,
        help="The last pose.",
    ),
    Command(
        "play.close",
        "Close the sequence",
        lambda w: w.viewport.playback.close_sequence(),
        MENU,
        "",
        "close",
        when=_open,
        section="close",
        help="Remove the sequence of poses from the viewport.",
    ),
)
