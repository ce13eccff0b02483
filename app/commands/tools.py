"""Commands that choose what the mouse does in the viewport."""

from __future__ import annotations

from app.commands.command import Command, Run

TOOLS = {
    "select": (
        "Select",
        "Q",
        "Click selects; dragging a handle moves its joint; dragging elsewhere orbits.",
        ("pick",),
    ),
    "move": (
        "Move",
        "W",
        "Drag any body and the machine follows, as far as its joints and loops allow.",
        ("drag", "pose"),
    ),
    "pull": (
        "Pull",
        "G",
        "Drag any body with a spring while the machine runs in real time (Ctrl+drag in any tool).",
        ("push", "grab"),
    ),
    "draw": (
        "Draw",
        "D",
        "Draw a linkage in a plane, from pin to pin: links, sliders, gears, motors, with dimensions.",
        ("linkage", "sketch", "sketcher", "mechanism", "four-bar"),
    ),
    "connect": (
        "Connect",
        "C",
        "Click two points and choose what is between them: a spring, a rod, a sensor …",
        ("mate", "constrain", "join", "attach", "assemble"),
    ),
    "measure": (
        "Measure",
        "M",
        "Click two points: their distance and its parts along x, y and z are shown.",
        ("distance", "dimension", "ruler"),
    ),
}


def _choose(tool: str) -> Run:
    return lambda bench: bench.stage.gestures.choose(tool)


COMMANDS = tuple(
    Command(
        f"tool.{tool}",
        title,
        _choose(tool),
        "Tools",
        shortcut,
        tool,
        section="tools",
        toolbar="tool",
        help=text,
        checked=lambda w, tool=tool: w.stage.gestures.tool.id == tool,
        also=also,
    )
    for tool, (title, shortcut, text, also) in TOOLS.items()
)
