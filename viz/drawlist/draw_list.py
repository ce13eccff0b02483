"""Draw list: all visible parts of a model as plain values. It is built without a GPU; `Scene` creates the actors.

Every item says with which body or frame it moves; poses then move items without a new list. Parameters change the
list (lengths, shapes, joint places): call `items(model, p)` again, unchanged items compare equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from itertools import pairwise

import numpy as np

from core.files.meshes.lookup import resolve_mesh
from core.model import WORLD, Body, Joint, Material, Mesh, Model, Shape
from core.model.bodies import PLAIN_LINE
from viz.drawlist import geometry as g
from viz.drawlist.elements import element_items
from viz.drawlist.item import Item, Ref, Span
from viz.drawlist.joint_look import GlyphParameters
from viz.drawlist.joints import find_look
from viz.drawlist.junction_items import junction_items
from viz.drawlist.layers import LinkLayers
from viz.drawlist.mass_items import mass_items
from viz.drawlist.shape_forms import (
    LINE,
    joint_shape_file,
    joint_shape_items,
    link_shapes,
    shape_geometry,
    slide_shape_items,
)
from viz.drawlist.skeleton import AttachmentPoint, Skeleton, bar_route
from viz.look import BODY_HUES, Colour
from viz.placement import (
    IDENTITY,
    Array,
    Placement,
    evaluate_vector,
    frame_along,
    number,
    pose_matrix,
    to_placement,
    translation,
    unit_vector,
)

SUPPORT = 1.6
"""Radius of a ground support, relative to that of its pin."""

__all__ = ["Item", "Ref", "Span", "bars_along_path", "build_draw_list"]


def build_draw_list(
    model: Model,
    p: Mapping[str, float] | None = None,
    layers: bool = True,
    overlapping: Set[frozenset[str]] = frozenset(),
) -> tuple[Item, ...]:
    """Return the draw list of a model with independent parameters replaced by `p` (see `Model.values`). With `layers`,
    the links of planar machines are offset along the normal if they share a pin, overlap in the reference
    configuration, or are known to overlap during a motion."""
    with np.errstate(over="ignore", invalid="ignore"):  # numbers beyond all measure are findings; the rest is drawn
        return _build_items(model, p, layers, overlapping)


def _build_items(
    model: Model, p: Mapping[str, float] | None, layers: bool, overlapping: Set[frozenset[str]]
) -> tuple[Item, ...]:
    skeleton = Skeleton(model, model.values(p))
    bare = _bodies_as_bars(skeleton)
    found = _body_items(skeleton, bare)
    apart = LinkLayers(skeleton, found, layers, meeting=overlapping)
    for joint in skeleton.model.joints:
        found += _joint_items(skeleton, joint, bare, apart)
    found += _frame_items(skeleton, model, bare)
    for body in skeleton.model.bodies:
        found += [Item(**fields) for fields in mass_items(body, skeleton.values, skeleton.joint_radius, model.origin)]
    for make in (junction_items, element_items):
        found += make(skeleton)
    return tuple(apart.shift_to_layer(item) for item in found) if apart.offsets else tuple(found)


def find_overlapping_links(
    model: Model, p: Mapping[str, float] | None, motion: Sequence[Mapping[str, Array]]
) -> frozenset[frozenset[str]]:
    """Find pairs of bodies of planar machines whose links must be drawn in different layers because they overlap during
    a motion, given as poses (4, 4) world ← body by name."""
    skeleton = Skeleton(model, model.values(p))
    return frozenset(LinkLayers(skeleton, _body_items(skeleton, _bodies_as_bars(skeleton)), motion=motion).parted)


def _body_items(skeleton: Skeleton, bar_bodies: Set[str]) -> list[Item]:
    """Return the shapes of bodies, and bars for bodies without shapes."""
    found: list[Item] = []
    for index, body in enumerate(skeleton.model.bodies):
        colour = f"body{index % BODY_HUES}"
        found += _shape_items(skeleton, body, colour)
        if body.name in bar_bodies:
            found += _link_items(skeleton, body, colour)
    return found


def _has_visible_shape(body: Body, origin: str) -> bool:
    """Return True if a body has a shape that is drawn; a mesh whose file is missing does not count."""
    shown = (shape for shape in body.shapes if shape.role != "collision")
    return any(not isinstance(shape, Mesh) or resolve_mesh(shape.file, origin) is not None for shape in shown)


def _bodies_as_bars(skeleton: Skeleton) -> set[str]:
    """Return the bodies to be drawn as bars: those without drawable shapes. If other bodies have shapes, only bodies
    with a motion of their own are included (the many empty links of a URDF are mere frames)."""
    empty = [body.name for body in skeleton.model.bodies if not _has_visible_shape(body, skeleton.model.origin)]
    if len(empty) == len(skeleton.model.bodies):
        return set(empty)
    drivers = ((name, skeleton.driver.get(name)) for name in empty)
    return {name for name, driver in drivers if driver is None or driver.info.nv}


# ------------------------------------------------------------------------------- shapes


def _shape_items(skeleton: Skeleton, body: Body, hue: str) -> Iterator[Item]:
    materials = {material.name: material for material in skeleton.model.materials}
    for i, shape in enumerate(body.shapes):
        colour = _shape_colour(shape, materials) or hue
        collision = shape.role == "collision"
        yield Item(
            id=f"shape/{body.name}/{i}",
            ref=("bodies", body.name),
            frame=body.name,
            geometry=shape_geometry(shape, skeleton.model.origin, skeleton.values, 4.0 * skeleton.joint_radius),
            role="collision" if collision else "shape",
            colour="limit" if collision else colour,
            placement=to_placement(pose_matrix(shape.pose, skeleton.values)),
            shown=not collision,
            paint_over=collision or shape.color is not None,
            opacity=0.35 if collision else (colour[3] if isinstance(colour, tuple) and len(colour) == 4 else 1.0),
        )


def _shape_colour(shape: Shape, materials: Mapping[str, Material]) -> Colour | None:
    if shape.color is not None:
        return tuple(shape.color)
    material = materials.get(shape.material)
    return None if material is None or material.color is None else tuple(material.color)


# ------------------------------------------------------------------------------- default links


def _link_items(skeleton: Skeleton, body: Body, hue: str) -> Iterator[Item]:
    parts = _link_parts(skeleton, body)
    if parts:
        yield Item(
            id=f"link/{body.name}",
            ref=("bodies", body.name),
            frame=body.name,
            geometry=g.Compound(tuple(parts)),
            role="link",
            colour="ground" if _is_grounded(skeleton, body) else hue,
        )


def _is_grounded(skeleton: Skeleton, body: Body) -> bool:
    driver = skeleton.driver.get(body.name)
    return driver is not None and not driver.info.nv and skeleton.find_anchor(driver.parent)[0] == WORLD


def _link_parts(skeleton: Skeleton, body: Body) -> list[g.PlacedShape]:
    r = skeleton.joint_radius
    ports = skeleton.attachment_points[body.name]
    figure = skeleton.model.world.figures.link
    if figure == PLAIN_LINE and len(ports) > 1:
        return [bar for port in ports[1:] for bar in bars_along_path([ports[0].point, port.point], LINE * r)]
    if figure and figure != PLAIN_LINE:
        return link_shapes(skeleton, body)
    if not ports:
        return [_inertia_block(skeleton, body)]
    parts: list[g.PlacedShape] = []
    for port in ports[1:]:
        path = bar_route(ports[0], port, 0.3 * r)
        rest = float(np.linalg.norm(path[-1] - path[-2]))
        if port.frame in skeleton.tools and rest > 2.0 * r:  # the gripper takes the last piece
            path[-1] = path[-1] - (1.75 * r / rest) * (path[-1] - path[-2])
        parts += bars_along_path(path, 0.52 * r)
    if parts:
        return parts
    mass = skeleton.mass_center(body)
    if float(np.linalg.norm(mass - ports[0].point)) > 1.2 * r and len(ports) == 1:
        bob = g.PlacedShape(g.Sphere(1.25 * r), to_placement(translation(*mass)))
        return [*bars_along_path([ports[0].point, mass], 0.45 * r), bob]
    axis = ports[0].axis if ports[0].axis is not None else np.array([0.0, 0.0, 1.0])
    if len(ports) > 1:  # all joints at one point, as in a wrist: a collar around the first
        return [g.PlacedShape(g.Tube(0.98 * r, 1.18 * r, 0.6 * r), to_placement(frame_along(axis, ports[0].point)))]
    flange = frame_along(axis, ports[0].point) @ translation(0, 0, 1.35 * r)
    return [g.PlacedShape(g.Cylinder(0.75 * r, 0.5 * r, 0.1 * r), to_placement(flange))]


def _inertia_block(skeleton: Skeleton, body: Body) -> g.PlacedShape:
    """Return the shape of a body without attachment points: the box with the same inertia, or a cube."""
    r, values, inertia = skeleton.joint_radius, skeleton.values, body.inertia
    mass = number(body.mass, values)
    size = np.full(3, 3.0 * r)
    if mass > 0.0:
        i = evaluate_vector((inertia.ixx, inertia.iyy, inertia.izz), values)
        square = 6.0 / mass * (i.sum() - 2.0 * i)  # box: I_x = m (b² + c²) / 12
        if (square > 0.0).all():
            size = np.sqrt(square)
    x, y, z = size.tolist()
    return g.PlacedShape(g.Box((x, y, z), 0.06 * min(x, y, z)), to_placement(translation(*skeleton.mass_center(body))))


def bars_along_path(path: list[Array], radius: float) -> list[g.PlacedShape]:
    """Return round bars with rounded ends along a path of corner points."""
    parts = []
    for a, b in pairwise(path):
        length = float(np.linalg.norm(b - a))
        if length > 1e-9:
            pose = frame_along(b - a, (a + b) / 2.0)
            parts.append(g.PlacedShape(g.Capsule(_rounded_length(radius), _rounded_length(length)), to_placement(pose)))
    return parts


def _rounded_length(length: float) -> float:
    return float(f"{length:.9g}")


# ------------------------------------------------------------------------------- joints


def _joint_items(skeleton: Skeleton, joint: Joint, bar_bodies: Set[str], layers: LinkLayers) -> Iterator[Item]:
    """Yield the items of a joint: its glyph or user-defined shape, and the pin through the layers of the links that it
    connects."""
    sides = {which: skeleton.joint_frame(joint, which) for which in "ab"}
    shown = all(body in bar_bodies or body == WORLD for body, _ in sides.values())
    ref = ("joints", joint.name)
    on_ground = sides["a"][0] == WORLD
    pin = None if shown else layers.pin_item(joint)
    if pin is not None:
        yield pin
    yield from slide_shape_items(skeleton, joint)
    if figure := joint_shape_file(skeleton, joint):
        yield from joint_shape_items(skeleton, joint, figure)
        return
    look = find_look(joint.info)
    if joint.info.nv or (shown and not on_ground):
        for piece in look.pieces(replace(_glyph_parameters(skeleton, joint), reach=layers.layer_offset(joint))):
            body, pose = sides[piece.side]
            item = Item(
                f"joint/{joint.name}/{piece.name}",
                ref,
                body,
                piece.geometry,
                "joint",
                piece.colour,
                to_placement(pose @ piece.pose),
                shown,
            )
            if piece.stretched:
                other, end = sides["b" if piece.side == "a" else "a"]
                item = replace(item, until=Span(other, to_placement(end)))
            yield item
    if on_ground and (shown or pin is not None) and look.stands_on_ground:
        r = skeleton.joint_radius if pin is None else SUPPORT * layers.pins[joint.name].radius
        yield _support_item(skeleton, joint, sides["a"][1], r)


def _support_item(skeleton: Skeleton, joint: Joint, pose: Array, r: float) -> Item:
    """Return the plinth under a joint on the ground: down to the floor z = 0, or a short one if the joint is not above
    the floor."""
    facts = replace(_glyph_parameters(skeleton, joint), r=r)
    top = find_look(joint.info).depth_below(facts, float(pose[2, :3] @ facts.axis))
    height = float(pose[2, 3])
    drop = height if height > top + 0.5 * r else top + 2.2 * r
    return Item(
        f"ground/{joint.name}",
        ("joints", joint.name),
        WORLD,
        _plinth_geometry(r, top, drop),
        "ground",
        "ground",
        to_placement(translation(*pose[:3, 3])),
    )


def _plinth_geometry(r: float, top: float, drop: float) -> g.Geometry:
    """Return the geometry of a ground support: from `top` below the joint's origin to a foot plate `drop` below it
    (−z)."""
    foot = 0.3 * r
    column = max(drop - top - foot, 0.1 * r)
    return g.Compound(
        (
            g.PlacedShape(g.Cone(1.35 * r, column, 0.95 * r), to_placement(translation(0, 0, -top - column / 2.0))),
            g.PlacedShape(g.Cylinder(1.9 * r, foot, 0.08 * r), to_placement(translation(0, 0, -drop + foot / 2.0))),
        )
    )


def _glyph_parameters(skeleton: Skeleton, joint: Joint) -> GlyphParameters:
    values = skeleton.values
    axis = unit_vector(evaluate_vector(joint.axis, values))
    lower, upper = _joint_travel(joint, values)
    pitch = number(joint.pitch, values)
    return GlyphParameters(
        skeleton.joint_radius, axis, unit_vector(evaluate_vector(joint.second_axis, values)), pitch, lower, upper
    )


def _joint_travel(joint: Joint, values: Mapping[str, float]) -> tuple[float | None, float | None]:
    if not joint.limits:
        return None, None
    limit = joint.limits[-1]
    return (
        None if limit.lower is None else number(limit.lower, values),
        None if limit.upper is None else number(limit.upper, values),
    )


# ------------------------------------------------------------------------------- frames and labels


def _frame_items(skeleton: Skeleton, model: Model, bar_bodies: Set[str]) -> Iterator[Item]:
    r = skeleton.joint_radius
    dh = {name for chain in model.chains for name in chain.bodies}
    for body in skeleton.model.bodies:
        triad = g.Triad(2.6 * r, 1.6 if body.name in dh else 1.0)
        yield Item(f"frame/{body.name}", ("bodies", body.name), body.name, triad, "frame", "joint", shown=False)
        yield _name_label("bodies", body.name, body.name, IDENTITY)
    for frame in skeleton.model.frames:
        ref = ("frames", frame.name)
        yield Item(f"frame/{frame.name}", ref, frame.name, g.Triad(2.2 * r), "frame", "joint", shown=False)
        yield _name_label("frames", frame.name, frame.name, IDENTITY)
        home, pose = skeleton.find_anchor(frame.name)
        if frame.name in skeleton.tools and (home in bar_bodies or home == WORLD):
            yield _tool_item(skeleton, frame.name, home, pose)
    for joint in skeleton.model.joints:
        if joint.info.nv:
            home, pose = skeleton.joint_frame(joint, "a")
            yield _name_label("joints", joint.name, home, to_placement(pose))


def _tool_item(skeleton: Skeleton, frame: str, body: str, pose: Array) -> Item:
    """Return the gripper at the tool frame of a chain: along the last bar or, without a bar, along the tool's z
    axis."""
    r = skeleton.joint_radius
    direction = pose[:3, 2]
    ports: list[AttachmentPoint] = skeleton.attachment_points.get(body, [])
    if ports and float(np.linalg.norm(pose[:3, 3] - ports[0].point)) > 2.0 * r:
        path = bar_route(ports[0], AttachmentPoint("", pose[:3, 3], None), 0.3 * r)
        direction = path[-1] - path[-2]
        return Item(
            f"tool/{frame}",
            ("frames", frame),
            body,
            _gripper_geometry(r),
            "link",
            "joint",
            to_placement(frame_along(direction, pose[:3, 3])),
        )
    driver = skeleton.driver.get(body)
    ahead = 2.6 * r if driver is not None and driver.info.is_slider() else 4.0 * r  # before what stands there
    tip = frame_along(direction, pose[:3, 3] + ahead * unit_vector(direction))
    return Item(f"tool/{frame}", ("frames", frame), body, _gripper_geometry(r), "link", "joint", to_placement(tip))


def _gripper_geometry(r: float) -> g.Geometry:
    """Return a gripper with two fingers along z that end at the origin (the tool point)."""
    finger = g.Box((0.28 * r, 0.5 * r, 1.5 * r), 0.05 * r)
    return g.Compound(
        (
            g.PlacedShape(g.Box((2.0 * r, 0.6 * r, 0.4 * r), 0.08 * r), to_placement(translation(0, 0, -1.6 * r))),
            g.PlacedShape(finger, to_placement(translation(0.86 * r, 0, -0.75 * r))),
            g.PlacedShape(finger, to_placement(translation(-0.86 * r, 0, -0.75 * r))),
            g.PlacedShape(g.Cylinder(0.4 * r, 0.7 * r, 0.05 * r, 24), to_placement(translation(0, 0, -2.0 * r))),
        )
    )


def _name_label(collection: str, name: str, frame: str, pose: Placement) -> Item:
    return Item(
        f"label/{collection}/{name}",
        (collection, name),
        frame,
        g.Sphere(1e-3),
        "label",
        "text",
        pose,
        shown=False,
        text=name,
    )
