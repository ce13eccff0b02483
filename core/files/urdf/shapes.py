"""Poses, materials and geometry of URDF (http://wiki.ros.org/urdf/XML/link)."""

from __future__ import annotations

from typing import Any

from core.files.meshes.lookup import problem_of
from core.files.source import Options
from core.files.xml_source import Names, Reader, Tag, local_name
from core.model import Box, Capsule, Cylinder, Material, Mesh, Pose, Sphere
from core.model.shapes import Shape

GEOMETRIES = ("box", "cylinder", "sphere", "capsule", "mesh")
Place = tuple[str, str]


def pose_of(reader: Reader, tag: Tag, where: str) -> Pose:
    """Return the pose of the `<origin xyz rpy>` (or quat_xyzw) inside an element; the identity if there is none."""
    origin = reader.child(tag, "origin", where)
    if origin is None:
        return Pose()
    position = reader.vector(origin, "xyz", (0.0, 0.0, 0.0), where)
    if origin.get("quat_xyzw") is not None:
        quaternion = reader.numbers(origin, "quat_xyzw", 4, None, where)
        if not any(quaternion):
            raise reader.error(
                origin,
                "A quaternion of length zero is not a rotation.",
                f"{where}, quat_xyzw",
                "Write 0 0 0 1 for no rotation.",
            )
        return Pose(position=position, rotation=quaternion)
    return Pose(position=position, rotation=reader.numbers(origin, "rpy", 3, (0.0, 0.0, 0.0), where))


class Materials:
    """Materials of a URDF: global ones, and those defined within visuals."""

    def __init__(self, reader: Reader, root: Tag) -> None:
        self.reader = reader
        self.names = Names()
        self.found: dict[str, Material] = {}
        visuals = [m for v in root.iter("visual") for m in reader.children(v, "material")]
        for tag in [*reader.children(root, "material"), *visuals]:
            self._define_material(tag)

    def _define_material(self, tag: Tag) -> None:
        """Record a material; only the first definition of a name with a colour or texture counts."""
        name = tag.get("name", "")
        color, texture = self._color_and_texture(tag, name)
        if name and name not in self.found and (color is not None or texture):
            self.found[name] = Material(name=self.names.add(name), color=color, texture=texture)

    def _color_and_texture(self, tag: Tag, name: str) -> tuple[tuple[float, ...] | None, str]:
        where = f"material '{name}'"
        color, texture = self.reader.child(tag, "color", where), self.reader.child(tag, "texture", where)
        rgba = None
        if color is not None:
            count = 3 if len(color.get("rgba", "").split()) == 3 else 4
            rgba = self.reader.numbers(color, "rgba", count, None, where)
        return rgba, texture.get("filename", "") if texture is not None else ""

    def of(self, visual: Tag, where: str, place: Place) -> dict[str, Any]:
        """Return the fields `material` or `color` of a shape."""
        tag = self.reader.child(visual, "material", where)
        if tag is None:
            return {}
        name = tag.get("name", "")
        color, texture = self._color_and_texture(tag, name)
        known = self.found.get(name)
        if known is None:
            if color is None:
                self.reader.note(
                    tag,
                    "warning",
                    f"There is no material '{name}'; the default colour is used.",
                    "Define its colour.",
                    place,
                    "shapes",
                )
            return {"color": color}
        mine = Material(name=known.name, color=color, texture=texture)
        if (color is not None or texture) and mine.color != known.color:
            return {"material": known.name, "color": color}
        return {"material": known.name}


def shape_of(reader: Reader, tag: Tag, role: str, place: Place, materials: Materials, options: Options) -> Shape | None:
    """Return the shape of a `<visual>` or `<collision>`; None with a finding if it has no known geometry."""
    where = f"link '{place[1]}', {role}"
    geometry = reader.child(tag, "geometry", where)
    solids = [] if geometry is None else [child for child in geometry if local_name(child) in GEOMETRIES]
    if not solids:
        reader.note(
            tag,
            "warning",
            f"The {role} has no known geometry; it is left out.",
            f"Known: {', '.join(GEOMETRIES)}.",
            place,
            "shapes",
        )
        return None
    if len(solids) > 1:
        text = f"The {role} has {len(solids)} shapes in one <geometry>; the first counts, as for readers of ROS."
        reader.note(solids[1], "warning", text, f"Give each a <{role}> of its own.", place, "shapes")
    common: dict[str, Any] = {"pose": pose_of(reader, tag, where), "role": role}
    if role == "visual":
        common |= materials.of(tag, where, place)
    return _read_geometry(reader, solids[0], common, where, place, options)


def _read_geometry(
    reader: Reader, tag: Tag, common: dict[str, Any], where: str, place: Place, options: Options
) -> Shape:
    match local_name(tag):
        case "box":
            return Box(size=reader.vector(tag, "size", None, where), **common)
        case "sphere":
            return Sphere(radius=reader.number(tag, "radius", None, where), **common)
        case "cylinder" | "capsule" as kind:
            solid = Cylinder if kind == "cylinder" else Capsule
            radius, length = reader.number(tag, "radius", None, where), reader.number(tag, "length", None, where)
            return solid(radius=radius, length=length, **common)
    file = reader.text(tag, "filename", where).strip()
    scale = tag.get("scale", "").split()
    if len(scale) > 3:
        text = f"The mesh's scale has {len(scale)} numbers; only the first three are used."
        reader.note(tag, "warning", text, "Remove the others.", place, "shapes")
        tag.set("scale", " ".join(scale[:3]))
    if len(scale) == 1:
        factor = reader.number(tag, "scale", 1.0, where)
        sizes = (factor, factor, factor)
    else:
        sizes = reader.vector(tag, "scale", (1.0, 1.0, 1.0), where)
    problem = problem_of(file, reader.file, options.packages)
    if problem is not None:
        reader.note(tag, "warning", *problem, place, "shapes")
    return Mesh(file=file, scale=sizes, **common)
