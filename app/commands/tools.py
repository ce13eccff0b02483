"""Commands that choose the mouse tool of the viewport."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.commands.command import Command, Run
from app.tools.candidates import flat_face_under_pointer
from app.tools.draw.bar import FacePlaneSubTool, use_face_as_plane
from app.tools.draw.sub_tools import SUB_TOOLS
from app.tools.draw.tool import draw_controller, switch_branch

if TYPE_CHECKING:
    from app.workbench import Workbench

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
        ("drag", "pose", "gizmo", "transform", "translate", "rotate", "place"),
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
        "Click two points and choose what connects them: a spring, a rod, a sensor …",
        ("mate", "constrain", "join", "attach", "assemble"),
    ),
    "measure": (
        "Measure",
        "M",
        "Click two points to show their distance and its components along x, y and z.",
        ("distance", "dimension", "ruler"),
    ),
}


def _tool_chooser(tool: str) -> Run:
    return lambda bench: bench.stage.gestures.choose_tool(tool)


def _draw_target_curve(bench: Workbench) -> None:
    """Start drawing a target curve and bring the Design panel to the front."""
    bench.panels.show_panel("design")
    bench.stage.gestures.choose_tool("target_curve")


def _sub_tool_chooser(key: str) -> Run:
    """Return the action that selects a sub-tool of the Draw tool."""

    def run(bench: Workbench) -> None:
        bench.stage.gestures.choose_tool("draw")
        draw_controller(bench.stage).choose_sub_tool(SUB_TOOLS[key])

    return run


def _draw_on_face(bench: Workbench) -> None:
    bench.stage.gestures.choose_tool("draw")
    draw_controller(bench.stage).choose_sub_tool(FacePlaneSubTool())


def _draw_on_this_face(bench: Workbench) -> None:
    """Draw on the face under the pointer, which is determined before the camera moves."""
    stage = bench.stage
    face = flat_face_under_pointer(stage, stage.pointed) if stage.pointed is not None else None
    _draw_on_face(bench)
    use_face_as_plane(draw_controller(stage), face)


_TOOLS = tuple(
    Command(
        f"tool.{tool}",
        title,
        _tool_chooser(tool),
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

_SUB_TOOLS = tuple(
    Command(
        f"draw.{each.icon}",
        f"Draw: {each.title[0].lower()}{each.title[1:]}",
        _sub_tool_chooser(key),
        "Tools/Draw",
        icon=each.icon,
        section="draw",
        help=f"{each.help} In Draw: {key.upper()}.",
        also=each.also,
    )
    for key, each in SUB_TOOLS.items()
)
_FLIP = Command(
    "draw.flip",
    "Draw: other branch",
    lambda w: switch_branch(draw_controller(w.stage)),
    "Tools/Draw",
    icon="branch",
    section="draw",
    when=lambda w: w.stage.gestures.tool.id == "draw",
    help="Switch the two links at the pin last pointed at to their other branch. In Draw: V.",
    also=("other branch", "flip", "mirror a dyad", "other assembly mode"),
)
_ON_FACE = Command(
    "draw.on_face",
    "Draw: on a face…",
    _draw_on_face,
    "Tools/Draw",
    icon=FacePlaneSubTool.icon,
    section="plane",
    when=lambda w: bool(w.session.model.expanded.bodies),
    context=("bodies",),
    help=FacePlaneSubTool.help,
    also=("working plane on a face", "sketch on a face", "draw on a body"),
)
_ON_THIS_FACE = Command(
    "draw.on_this_face",
    "Draw: on this face",
    _draw_on_this_face,
    "Tools/Draw",
    "Shift+D",
    icon=FacePlaneSubTool.icon,
    section="plane",
    when=lambda w: bool(w.session.model.expanded.bodies),
    context=("bodies",),
    help="Draw on the flat face under the pointer (or where the menu was opened).",
    also=("draw here", "sketch here", "working plane here"),
)
_TARGET_CURVE = Command(
    "tool.target_curve",
    "Draw a target curve",
    _draw_target_curve,
    "Tools",
    icon="trace",
    section="tools",
    checked=lambda w: w.stage.gestures.tool.id == "target_curve",
    help="Draw a curve in the working plane (of Draw; Tab takes the next one) with the button held, or click points; "
    "Enter ends, Esc cancels. The panel Design finds linkages with a point that follows it.",
    also=("coupler curve", "path synthesis", "freehand", "sketch a path"),
)
COMMANDS = (*_TOOLS, *_SUB_TOOLS, _FLIP, _ON_FACE, _ON_THIS_FACE, _TARGET_CURVE)
