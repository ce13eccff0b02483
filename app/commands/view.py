"""Commands of the View menu: camera directions, visible items, light and dark theme."""

from __future__ import annotations

from app.commands.command import Command, Run

PRESETS = {
    "iso": ("Oblique", "0", "Look from the front right, above."),
    "front": ("Front", "1", "Look along +y, x to the right."),
    "right": ("Right", "3", "Look along −x, y to the right."),
    "top": ("Top", "7", "Look down, y up."),
    "back": ("Back", "Ctrl+1", "Look along −y, x to the left."),
    "left": ("Left", "Ctrl+3", "Look along +x, y to the left."),
    "bottom": ("Bottom", "Ctrl+7", "Look up, y down."),
}

FLAGS = {
    "grid": ("Ground grid", "grid", "The grid at z = 0."),
    "axes": ("World axes", "world", "The axes of the world: x red, y green, z blue."),
    "gravity": ("Gravity", "gravity", "An arrow along gravity."),
    "joints": ("All joints", "joints", "The drawn shape of every joint; off: only where bodies have no shapes."),
    "frames": ("Frames", "frames", "The axes of every body and frame."),
    "labels": ("Names", "labels", "The names of bodies and joints."),
    "com": ("Centres of mass", "com", "The centre of mass of every body and of the machine."),
    "inertia": ("Inertia ellipsoids", "inertia", "The homogeneous ellipsoid that has each body's inertia."),
    "handles": ("All handles", "joints", "The handles of all joints; off: of the selected one and under the pointer."),
    "forces": ("Forces", "force", "Springs, dampers, arrows of forces and torques, junctions."),
    "sensors": ("Sensors", "sensor", "Dimension lines and gauges of sensors, with what they measure."),
    "marks": ("Constraints and drivers", "lock", "Gears, sensors held at a value, and motors."),
    "mobility": (
        "Degrees of freedom and redundancies",
        "mobility",
        "On the joints and bodies concerned, at every pose: redundant or contradictory constraints, degrees "
        "of freedom, directions lost at or near a singular pose.",
    ),
    "layers": (
        "Layers",
        "layers",
        "Links of planar machines side by side, with pins through them, as they would be built; off: all in the "
        "plane in which they move. Only the picture changes.",
    ),
    "dimensions": ("Dimensions", "measure", "The length of the selected link; in Draw those of all links."),
    "collision": ("Collision shapes", "shape", "The shapes used for collision."),
}


def _preset_chooser(name: str) -> Run:
    return lambda bench: bench.stage.viewpoint.look_from(name)


def _flag_toggler(name: str) -> Run:
    return lambda bench: bench.settings.set_view_flag(name, not bench.settings.view_flag(name))


def _theme_chooser(name: str) -> Run:
    return lambda bench: setattr(bench.settings, "look", name)


COMMANDS = (
    Command(
        "view.keep",
        "Save this view…",
        lambda w: w.scenery.save_view_with_dialog(),
        "View/Saved views",
        "",
        "view_iso",
        section="presets",
        help="Save the present view under a name, to return to it later.",
    ),
    Command(
        "view.fit",
        "Fit all",
        lambda w: w.stage.viewpoint.fit_view(),
        "View",
        "Shift+F",
        "fit",
        section="fit",
        context=("scene",),
        help="Move the camera so that the whole machine is seen.",
        also=("zoom to fit", "zoom all", "zoom extents"),
    ),
    Command(
        "view.frame",
        "Frame selection",
        lambda w: w.stage.viewpoint.fit_view(w.session.selection),
        "View",
        "F",
        "fit_selection",
        section="fit",
        context=("bodies", "joints", "frames", "junctions", "forces", "sensors", "constraints", "drivers"),
        help="Move the camera to the selected element; to everything if nothing is selected.",
    ),
    Command(
        "view.ortho",
        "Orthographic",
        lambda w: w.stage.viewpoint.set_parallel(not w.stage.viewpoint.is_parallel),
        "View",
        "5",
        "ortho",
        checked=lambda w: w.stage.viewpoint.is_parallel,
        section="fit",
        help="Parallel projection, without perspective.",
        also=("perspective", "parallel projection"),
    ),
    *(
        Command(
            f"view.{name}",
            title,
            _preset_chooser(name),
            "View/Look from",
            shortcut,
            f"view_{name}",
            section="presets",
            help=text,
            also=("isometric", "3D view") if name == "iso" else (),
        )
        for name, (title, shortcut, text) in PRESETS.items()
    ),
    *(
        Command(
            f"view.show_{name}",
            title,
            _flag_toggler(name),
            "View/Show",
            "",
            icon,
            section="show",
            checked=lambda w, name=name: w.settings.view_flag(name),
            help=text,
        )
        for name, (title, icon, text) in FLAGS.items()
    ),
    *(
        Command(
            f"view.look_{name}",
            title,
            _theme_chooser(name),
            "View/Look",
            "",
            icon,
            section="look",
            checked=lambda w, name=name: w.settings.look == name,
            help=text,
            also=(f"{name} mode", f"{name} look", "theme"),
        )
        for name, title, icon, text in (
            ("system", "Same as system", "system", "Light or dark, as set in the system."),
            ("light", "Light", "light", "Dark text on light ground."),
            ("dark", "Dark", "dark", "Light text on dark ground."),
        )
    ),
)
