"""Denavit–Hartenberg chains: robots described by a DH table, with its symbols.

Standard (distal) convention:  A_i = Rot_z(θ_i) Trans_z(d_i) Trans_x(a_i) Rot_x(α_i), joint i about z_{i−1}.
Modified (Craig) convention:   A_i = Trans_x(a_{i}) Rot_x(α_{i}) Rot_z(θ_i) Trans_z(d_i) with a_{i}, α_{i} the row's
own entries (Craig's a_{i−1}, α_{i−1}), joint i about z_i.
"""

from __future__ import annotations

from typing import Any

from core.joints import Fixed
from core.later import dataclass
from core.model.bodies import NO_INERTIA, Body, Frame, Inertia
from core.model.dimensions import damping_rule, dimension_along, force_rule, inertia_rule
from core.model.fields import Element, Value, Vector, choice, name, part, parts, reference, scalar, text, vector
from core.model.formula.expression import Binary, Name, Negative, Node, Number, format_formula, names_in_formula, parse
from core.model.joints import Joint, Limit
from core.model.shapes import IDENTITY, Pose, Shape


@dataclass(frozen=True, kw_only=True)
class DHRow(Element):
    """One joint of a chain. The entry of the joint variable (theta of a revolute, d of a prismatic joint) is the
    constant added to the joint coordinate; `variable` is the coordinate's symbol."""

    kind: str = choice(("revolute", "prismatic"), "Kind of joint", "revolute")
    a: Value = scalar("length", 0.0, "Link length")
    alpha: Value = scalar("angle", 0.0, "Twist")
    d: Value = scalar("length", 0.0, "Offset")
    theta: Value = scalar("angle", 0.0, "Angle")
    variable: str = text("Symbol of the joint coordinate; empty: q and the row's number")
    mass: Value = scalar("mass", 0.0, "Mass of the link")
    center_of_mass: Vector = vector("length", help="Centre of mass in the link's frame")
    inertia: Inertia = part(Inertia, "Inertia about the centre of mass, link axes", NO_INERTIA)
    armature: Value = scalar(help="Reflected rotor inertia (kg·m² or kg)", by=inertia_rule(dimension_along))
    damping: Value = scalar(help="Viscous damping (N·m·s/rad or N·s/m)", by=damping_rule(dimension_along))
    friction: Value = scalar(help="Coulomb friction (N·m or N)", by=force_rule(dimension_along))
    limit: Limit | None = part(Limit, "Bounds of the joint coordinate")
    rest: Value | None = scalar(default=None, help="Rest position (rad or m)", by=dimension_along)
    shapes: tuple[Shape, ...] = parts(Shape, "Shapes of the link, in its frame")

    def along(self, model: Any, index: int | None) -> str:
        """Return the dimension of the row's coordinate."""
        return "angle" if self.kind == "revolute" else "length"


@dataclass(frozen=True, kw_only=True)
class DHChain(Element):
    """A serial chain of DH rows from the base to the tool."""

    name: str = name()
    convention: str = choice(("standard", "modified"), "DH convention", "standard")
    rows: tuple[DHRow, ...] = parts(DHRow, "One row per joint")
    parent: str = reference("frame", "Body or frame the base is fixed to; empty: world", optional=True)
    base: Pose = part(Pose, "Pose of frame 0 in the parent", IDENTITY)
    tool: Pose = part(Pose, "Pose of frame tool in frame N", IDENTITY)
    base_shapes: tuple[Shape, ...] = parts(Shape, "Shapes of the base")
    prefix: str = text("Prefix of the names base, link1, joint1, tool (for several chains in a model)")
    description: str = text("Notes")

    @property
    def bodies(self) -> tuple[str, ...]:
        """Return the names of the chain's bodies, base first; frame i of the table belongs to body i."""
        return (f"{self.prefix}base", *(f"{self.prefix}link{i}" for i in range(1, len(self.rows) + 1)))

    def variables(self) -> tuple[str, ...]:
        """Return the symbols of the joint coordinates, row by row."""
        return tuple(row.variable or f"q{i}" for i, row in enumerate(self.rows, 1))


def expand_chain(chain: DHChain) -> tuple[tuple[Body, ...], tuple[Joint, ...], tuple[Frame, ...]]:
    """Return the elements of a chain: bodies `base`, `link1` …, joints `base_joint` (fixed), `joint1` … and frame
    `tool`.

    Link i's frame is frame i of the convention.
    """
    p = chain.prefix
    bodies = [Body(name=f"{p}base", shapes=chain.base_shapes)]
    joints = [
        Joint(name=f"{p}base_joint", kind=Fixed.name, parent=chain.parent or "world", child=f"{p}base", a=chain.base)
    ]
    for i, row in enumerate(chain.rows, 1):
        link = f"{p}link{i}"
        bodies.append(
            Body(name=link, mass=row.mass, center_of_mass=row.center_of_mass, inertia=row.inertia, shapes=row.shapes)
        )
        a, b = _joint_frames_of_row(chain.convention, row)
        joints.append(
            Joint(
                name=f"{p}joint{i}",
                kind=row.kind,
                parent=bodies[i - 1].name,
                child=link,
                a=a,
                b=b,
                limits=() if row.limit is None else (row.limit,),
                rest=() if row.rest is None else (row.rest,),
                armature=row.armature,
                damping=row.damping,
                friction=row.friction,
            )
        )
    tool = Frame(name=f"{p}tool", parent=bodies[-1].name, pose=chain.tool)
    return tuple(bodies), tuple(joints), (tool,)


def _joint_frames_of_row(convention: str, row: DHRow) -> tuple[Pose, Pose]:
    """Return frame a in link i−1 and frame b in link i, so that X_a · joint(q) · X_b⁻¹ = A_i(q)."""
    if convention == "standard":
        # A = [Rot_z(θ₀) Trans_z(d₀)] · joint(q) · [Trans_x(a) Rot_x(α)], and X_b = (Trans_x(a) Rot_x(α))⁻¹
        a = Pose(position=(0.0, 0.0, row.d), rotation=(0.0, 0.0, row.theta))
        b = Pose(position=(negate(row.a), 0.0, 0.0), rotation=(negate(row.alpha), 0.0, 0.0))
        return a, b
    # A = [Trans_x(a) Rot_x(α)] · joint(q) · [Rot_z(θ₀) Trans_z(d₀)]
    a = Pose(position=(row.a, 0.0, 0.0), rotation=(row.alpha, 0.0, 0.0))
    b = Pose(position=(0.0, 0.0, negate(row.d)), rotation=(0.0, 0.0, negate(row.theta)))
    return a, b


def negate(value: Value) -> Value:
    """Return −value, for a number or an expression."""
    if isinstance(value, str):
        node = parse(value)
        return format_formula(node.operand if isinstance(node, Negative) else Negative(node))
    return -value if value else 0.0


def split_offset(text: str, variable: str) -> Value | None:
    """Return the constant in the text "variable + constant"; None if the text is not of that form.

    Used by readers whose files write the joint variable into the table (`theta1 = q1 + Pi/2`).
    """
    offset = _without_variable(parse(text), variable)
    if offset is None:
        return None
    return offset.value if isinstance(offset, Number) and not offset.unit else format_formula(offset)


def _without_variable(node: Node, variable: str) -> Node | None:
    """Return node − variable if the variable occurs in the sum exactly once, with coefficient one; None otherwise."""
    if node == Name(variable):
        return Number(0.0)
    if not isinstance(node, Binary) or node.operator not in "+-":
        return None
    holder, other = (node.left, node.right) if variable in names_in_formula(node.left) else (node.right, node.left)
    if variable in names_in_formula(other) or (holder is node.right and node.operator == "-"):
        return None
    rest = _without_variable(holder, variable)
    if rest is None:
        return None
    if rest == Number(0.0):
        return Negative(other) if node.operator == "-" else other
    return Binary(node.operator, rest, other)
