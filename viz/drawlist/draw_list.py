"""Draw list: all visible parts of a model as plain values. Needs no GPU; `Scene` creates the actors.

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
from viz.drawlist.joint_look import Facts
from viz.drawlist.joints import look_of
from viz.drawlist.junction_items import junction_items
from viz.drawlist.layers import Layers
from viz.drawlist.mass_items import mass_items
from viz.drawlist.shape_forms import LINE, figure_of, joint_figure, link_figures, shape_geometry, slide_figure
from viz.drawlist.skeleton import Port, Skeleton, route
from viz.look import BODY_HUES, Colour
from viz.placement import IDENTITY, Array, Placement, along, number, numbers, placement, pose_matrix, shifted, unit

SUPPORT = 1.6
"""Radius of a ground support, relative to that of its pin."""

__all__ = ["Item", "Ref", "Span", "bars", "items"]


def items(
    model: Model,
    p: Mapping[str, float] | None = None,
    layers: bool = True,
    meeting: Set[frozenset[str]] = frozenset(),
) -> tuple[Item, ...]:
    """Return the draw list of a model with independent parameters replaced by `p` (see `Model.values`); `layers`
    offsets the links of planar machines that share a pin, overlap in the reference configuration, or are `meeting` in a
    motion."""
    skeleton = Skeleton(model, model.values(p))
    bare = _bodies_as_bars(skeleton)
    found = _body_items(skeleton, bare)
    apart = Layers(skeleton, found, layers, meeting=meeting)
    for joint in skeleton.model.joints:
        found += _joint_items(skeleton, joint, bare, apart)
    found += _frame_items(skeleton, model, bare)
    for body in skeleton.model.bodies:
        found += [Item(**fields) for fields in mass_items(body, skeleton.values, skeleton.radius, model.origin)]
    for make in (junction_items, element_items):
        found += make(skeleton)
    return tuple(apart.lifted(item) for item in found) if apart.offsets else tuple(found)


def meeting(
    model: Model, p: Mapping[str, float] | None, motion: Sequence[Mapping[str, Array]]
) -> frozenset[frozenset[str]]:
    """Find pairs of bodies of planar machines whose links must be offset to avoid overlap in a motion: poses (4, 4)
    world ← body, by name."""
    skeleton = Skeleton(model, model.values(p))
    return frozenset(Layers(skeleton, _body_items(skeleton, _bodies_as_bars(skeleton)), motion=motion).parted)


def _body_items(skeleton: Skeleton, bare: Set[str]) -> list[Item]:
    """Return shapes of bodies, and bars for bodies without."""
    found: list[Item] = []
    for index, body in enumerate(skeleton.model.bodies):
        colour = f"body{index % BODY_HUES}"
        found += _shape_items(skeleton, body, colour)
        if body.name in bare:
            found += _link_items(skeleton, body, colour)
    return found


def _has_visible_shape(body: Body, origin: str) -> bool:
    """Return True if a body has its own shape; a mesh with missing file does not count."""
    shown = (shape for shape in body.shapes if shape.role != "collision")
    return any(not isinstance(shape, Mesh) or resolve_mesh(shape.file, origin) is not None for shape in shown)


def _bodies_as_bars(skeleton: Skeleton) -> set[str]:
    """Return the bodies drawn as bars: those without drawable shapes, but if others have shapes only those with their
    own motion (the many empty links of a URDF are mere frames)."""
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
            geometry=shape_geometry(shape, skeleton.model.origin, skeleton.values, 4.0 * skeleton.radius),
            role="collision" if collision else "shape",
            colour="limit" if collision else colour,
            placement=placement(pose_matrix(shape.pose, skeleton.values)),
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
    return driver is not None and not driver.info.nv and skeleton.anchor(driver.parent)[0] == WORLD


def _link_parts(skeleton: Skeleton, body: Body) -> list[g.Placed]:
    r = skeleton.radius
    ports = skeleton.ports[body.name]
    figure = skeleton.model.world.figures.link
    if figure == PLAIN_LINE and len(ports) > 1:
        return [bar for port in ports[1:] for bar in bars([ports[0].point, port.point], LINE * r)]
    if figure and figure != PLAIN_LINE:
        return link_figures(skeleton, body)
    if not ports:
        return [_block(skeleton, body)]
    parts: list[g.Placed] = []
    for port in ports[1:]:
        path = route(ports[0], port, 0.3 * r)
        rest = float(np.linalg.norm(path[-1] - path[-2]))
        if port.frame in skeleton.tools and rest > 2.0 * r:  # the gripper takes the last piece
            path[-1] = path[-1] - (1.75 * r / rest) * (path[-1] - path[-2])
        parts += bars(path, 0.52 * r)
    if parts:
        return parts
    mass = skeleton.mass_point(body)
    if float(np.linalg.norm(mass - ports[0].point)) > 1.2 * r and len(ports) == 1:
        bob = g.Placed(g.Sphere(1.25 * r), placement(shifted(*mass)))
        return [*bars([ports[0].point, mass], 0.45 * r), bob]
    axis = ports[0].axis if ports[0].axis is not None else np.array([0.0, 0.0, 1.0])
    if len(ports) > 1:  # all joints at one point, as in a wrist: a collar around the first
        return [g.Placed(g.Tube(0.98 * r, 1.18 * r, 0.6 * r), placement(along(axis, ports[0].point)))]
    flange = along(axis, ports[0].point) @ shifted(0, 0, 1.35 * r)
    return [g.Placed(g.Cylinder(0.75 * r, 0.5 * r, 0.1 * r), placement(flange))]


def _block(skeleton: Skeleton, body: Body) -> g.Placed:
    """Return the shape of a body without attachments: the box with its inertia, or a cube."""
    r, values, inertia = skeleton.radius, skeleton.values, body.inertia
    mass = number(body.mass, values)
    size = np.full(3, 3.0 * r)
    if mass > 0.0:
        i = numbers((inertia.ixx, inertia.iyy, inertia.izz), values)
        square = 6.0 / mass * (i.sum() - 2.0 * i)  # box: I_x = m (b² + c²) / 12
        if (square > 0.0).all():
            size = np.sqrt(square)
    x, y, z = size.tolist()
    return g.Placed(g.Box((x, y, z), 0.06 * min(x, y, z)), placement(shifted(*skeleton.mass_point(body))))


def bars(path: list[Array], radius: float) -> list[g.Placed]:
    """Return round bars with rounded ends along a path of corner points."""
    parts = []
    for a, b in pairwise(path):
        length = float(np.linalg.norm(b - a))
        if length > 1e-9:
            pose = along(b - a, (a + b) / 2.0)
            parts.append(g.Placed(g.Capsule(_rounded_length(radius), _rounded_length(length)), placement(pose)))
    return parts


def _rounded_length(length: float) -> float:
    return float(f"{length:.9g}")


# ------------------------------------------------------------------------------- joints


def _joint_items(skeleton: Skeleton, joint: Joint, bare: Set[str], layers: Layers) -> Iterator[Item]:
    """Yield the glyph of a joint between two bars; otherwise the pin through their layers."""
    sides = {which: skeleton.side(joint, which) for which in "ab"}
    shown = all(body in bare or body == WORLD for body, _ in sides.values())
    ref = ("joints", joint.name)
    on_ground = sides["a"][0] == WORLD
    pin = None if shown else layers.pin_item(joint)
    if pin is not None:
        yield pin
    yield from slide_figure(skeleton, joint)
    if figure := figure_of(skeleton, joint):
        yield from joint_figure(skeleton, joint, figure)
        return
    look = look_of(joint.info)
    if joint.info.nv or (shown and not on_ground):
        for piece in look.pieces(replace(_joint_facts(skeleton, joint), reach=layers.reach(joint))):
            body, pose = sides[piece.side]
            item = Item(
                f"joint/{joint.name}/{piece.name}",
                ref,
                body,
                piece.geometry,
                "joint",
                piece.colour,
                placement(pose @ piece.pose),
                shown,
            )
            if piece.stretched:
                other, end = sides["b" if piece.side == "a" else "a"]
                item = replace(item, until=Span(other, placement(end)))
            yield item
    if on_ground and (shown or pin is not None) and look.stands_on_ground:
        r = skeleton.radius if pin is None else SUPPORT * layers.pins[joint.name].radius
        yield _support(skeleton, joint, sides["a"][1], r)


def _support(skeleton: Skeleton, joint: Joint, pose: Array, r: float) -> Item:
    """Return the plinth under a joint on the ground: down to the floor z = 0, or short if the joint is not above it."""
    facts = replace(_joint_facts(skeleton, joint), r=r)
    top = look_of(joint.info).depth_below(facts, float(pose[2, :3] @ facts.axis))
    height = float(pose[2, 3])
    drop = height if height > top + 0.5 * r else top + 2.2 * r
    return Item(
        f"ground/{joint.name}",
        ("joints", joint.name),
        WORLD,
        _plinth(r, top, drop),
        "ground",
        "ground",
        placement(shifted(*pose[:3, 3])),
    )


def _plinth(r: float, top: float, drop: float) -> g.Geometry:
    """Return the form of a ground support: from `top` below the joint's origin to a foot plate `drop` below it (−z)."""
    foot = 0.3 * r
    column = max(drop - top - foot, 0.1 * r)
    return g.Compound(
        (
            g.Placed(g.Cone(1.35 * r, column, 0.95 * r), placement(shifted(0, 0, -top - column / 2.0))),
            g.Placed(g.Cylinder(1.9 * r, foot, 0.08 * r), placement(shifted(0, 0, -drop + foot / 2.0))),
        )
    )


def _joint_facts(skeleton: Skeleton, joint: Joint) -> Facts:
    values = skeleton.values
    axis = unit(numbers(joint.axis, values))
    lower, upper = _travel(joint, values)
    pitch = number(joint.pitch, values)
    return Facts(skeleton.radius, axis, unit(numbers(joint.second_axis, values)), pitch, lower, upper)


def _travel(joint: Joint, values: Mapping[str, float]) -> tuple[float | None, float | None]:
    if not joint.limits:
        return None, None
    limit = joint.limits[-1]
    return (
        None if limit.lower is None else number(limit.lower, values),
        None if limit.upper is None else number(limit.upper, values),
    )


# ------------------------------------------------------------------------------- frames and labels


def _frame_items(skeleton: Skeleton, model: Model, bare: Set[str]) -> Iterator[Item]:
    r = skeleton.radius
    dh = {name for chain in model.chains for name in chain.bodies}
    for body in skeleton.model.bodies:
        triad = g.Triad(2.6 * r, 1.6 if body.name in dh else 1.0)
        yield Item(f"frame/{body.name}", ("bodies", body.name), body.name, triad, "frame", "joint", shown=False)
        yield _label("bodies", body.name, body.name, IDENTITY)
    for frame in skeleton.model.frames:
        ref = ("frames", frame.name)
        yield Item(f"frame/{frame.name}", ref, frame.name, g.Triad(2.2 * r), "frame", "joint", shown=False)
        yield _label("frames", frame.name, frame.name, IDENTITY)
        home, pose = skeleton.anchor(frame.name)
        if frame.name in skeleton.tools and (home in bare or home == WORLD):
            yield _tool_item(skeleton, frame.name, home, pose)
    for joint in skeleton.model.joints:
        if joint.info.nv:
            home, pose = skeleton.side(joint, "a")
            yield _label("joints", joint.name, home, placement(pose))


def _tool_item(skeleton: Skeleton, frame: str, body: str, pose: Array) -> Item:
    """Return the gripper at a chain's tool: along the last bar, or along the tool's z without one."""
    r = skeleton.radius
    direction = pose[:3, 2]
    ports: list[Port] = skeleton.ports.get(body, [])
    if ports and float(np.linalg.norm(pose[:3, 3] - ports[0].point)) > 2.0 * r:
        path = route(ports[0], Port("", pose[:3, 3], None), 0.3 * r)
        direction = path[-1] - path[-2]
        return Item(
            f"tool/{frame}",
            ("frames", frame),
            body,
            _gripper(r),
            "link",
            "joint",
            placement(along(direction, pose[:3, 3])),
        )
    driver = skeleton.driver.get(body)
    ahead = 2.6 * r if driver is not None and driver.info.is_slider() else 4.0 * r  # before what stands there
    tip = along(direction, pose[:3, 3] + ahead * unit(direction))
    return Item(f"tool/{frame}", ("frames", frame), body, _gripper(r), "link", "joint", placement(tip))


def _gripper(r: float) -> g.Geometry:
    """Return a gripper with two fingers along z that end at the origin (the tool point)."""
    finger = g.Box((0.28 * r, 0.5 * r, 1.5 * r), 0.05 * r)
    return g.Compound(
        (
            g.Placed(g.Box((2.0 * r, 0.6 * r, 0.4 * r), 0.08 * r), placement(shifted(0, 0, -1.6 * r))),
            g.Placed(finger, placement(shifted(0.86 * r, 0, -0.75 * r))),
            g.Placed(finger, placement(shifted(-0.86 * r, 0, -0.75 * r))),
            g.Placed(g.Cylinder(0.4 * r, 0.7 * r, 0.05 * r, 24), placement(shifted(0, 0, -2.0 * r))),
        )
    )


def _label(collection: str, name: str, frame: str, place: Placement) -> Item:
    return Item(
        f"label/{collection}/{name}",
        (collection, name),
        frame,
        g.Sphere(1e-3),
        "label",
        "text",
        place,
        shown=False,
        text=name,
    )
