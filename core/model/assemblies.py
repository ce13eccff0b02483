"""Sub-assemblies: another file as part of this machine, with its own parameter values, as often as wanted."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.model.fields import Element, Value, name, part, parts, reference, scalar, text
from core.model.shapes import IDENTITY, Pose

if TYPE_CHECKING:
    from core.model.model import Model


@dataclass(frozen=True, kw_only=True)
class Setting(Element):
    """A parameter of the sub-assembly and the value it takes here (a formula in this model's parameters)."""

    parameter: str = text("Name of the parameter in the file")
    value: Value = scalar("none", 0.0, "Value here (SI)")


@dataclass(frozen=True, kw_only=True)
class SubAssembly(Element):
    """The machine of another file; its elements are called `name.element` here, its ground is fixed to `parent`."""

    name: str = name()
    file: str = text("File of the machine, beside this one or by a full path", role="file")
    parent: str = reference("frame", "Body or frame on which its ground is fixed; empty: world", optional=True)
    pose: Pose = part(Pose, "Pose of its ground in the parent", IDENTITY)
    settings: tuple[Setting, ...] = parts(Setting, "Parameter values")
    description: str = text("Notes")
    content: Model | None = dataclasses.field(default=None, repr=False)
    """The machine of the file, as it was read (core.files puts it there); not saved."""
