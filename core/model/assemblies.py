"""Sub-assemblies: another file used as part of this machine, any number of times, each with its own parameter values.

The elements of sub-assembly `leg1` are called `leg1.knee`, `leg1.thigh` … in the whole machine. Its ground becomes the
frame `leg1.world`, fixed to `parent`. Its parameters are `leg1.length` …: sliders of their own, unless `settings` give
them a value or a formula. Gravity is that of the whole machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cached_property
from typing import Any

from core.errors import ExpressionError, ModelError, suggest_names
from core.later import dataclass
from core.model.bodies import WORLD, Frame
from core.model.declared_numbers import Setting, check_set_once, with_setting
from core.model.edits.prefixing import add_prefix
from core.model.fields import Element, Value, name, part, parts, reference, text
from core.model.formula.expression import CONSTANTS, Name, parse
from core.model.parameters import Parameter
from core.model.shapes import IDENTITY, Pose

BROUGHT = (
    "parameters",
    "materials",
    "bodies",
    "frames",
    "joints",
    "junctions",
    "sensors",
    "forces",
    "constraints",
    "drivers",
)
"""Collections of elements that a sub-assembly adds (its chains and nested sub-assemblies are already expanded)."""

MAX_ELEMENTS = 100_000
"""Maximum number of elements; nested imports could otherwise multiply without bound."""


@dataclass(frozen=True, kw_only=True)
class SubAssembly(Element):
    """The machine of another file. Its elements are called `name.element` in this model, and its ground is fixed to
    `parent`."""

    name: str = name()
    file: str = text("File of the machine: relative to this file, or a full path", role="file")
    parent: str = reference("frame", "Body or frame to which its ground is fixed; empty: world", optional=True)
    pose: Pose = part(Pose, "Pose of its ground in the parent", IDENTITY)
    settings: tuple[Setting, ...] = parts(Setting, "Parameter values")
    description: str = text("Notes")
    content: Any = dataclasses.field(default=None, repr=False)
    """The machine read from the file (a `core.model.model.Model`, set by core.files), or None; not saved."""

    def validate(self) -> None:
        """Raise ModelError unless the name is usable in formulas, and each setting names a different parameter of the
        file."""
        where = f"assembly '{self.name}'"
        try:
            readable = parse(self.name) == Name(self.name) and self.name not in CONSTANTS
        except ExpressionError:
            readable = False
        if not readable:
            raise ModelError(
                "This name cannot be used in a formula.",
                where=f"{where}, name",
                remedy="Use letters, digits and _ only, perhaps in parts joined by dots.",
            )
        check_set_once(self.settings, where)
        if self.content is not None:
            known = [parameter.name for parameter in self.content.expanded.parameters]
            for unknown in (setting.parameter for setting in self.settings if setting.parameter not in known):
                raise ModelError(
                    f"'{self.file}' has no parameter '{unknown}'.",
                    where=f"{where}, settings",
                    remedy=suggest_names(unknown, known),
                )

    def setting_dimension(self, name: str) -> str:
        """Return the dimension of a parameter of the file."""
        parameters = () if self.content is None else self.content.expanded.parameters
        return next((each.dimension for each in parameters if each.name == name), "none")

    @property
    def ground(self) -> str:
        """Return the name of the frame that replaces the file's world."""
        return f"{self.name}.{WORLD}"

    @cached_property
    def added_elements(self) -> dict[str, tuple[Any, ...]]:
        """Return collection → elements with their names in the whole machine; empty before the file is read.

        Raises ModelError where the result would be too large.
        """
        if self.content is None:
            return {}
        plain, prefix = self.content.expanded, f"{self.name}."
        if sum(len(getattr(plain, collection)) for collection in BROUGHT) > MAX_ELEMENTS:
            raise ModelError(
                f"The machine has more than {MAX_ELEMENTS} elements.",
                where=f"assembly '{self.name}'",
                remedy="Look for files that import each other many times.",
            )
        on_ground = self.parent in ("", WORLD) and self.pose == IDENTITY
        ground = WORLD if on_ground else self.ground
        found: dict[str, tuple[Any, ...]] = {
            collection: tuple(add_prefix(element, prefix, ground) for element in getattr(plain, collection))
            for collection in BROUGHT
        }
        found["parameters"] = tuple(self._apply_settings(found["parameters"]))
        mount = Frame(name=self.ground, parent=self.parent or WORLD, pose=self.pose)
        found["frames"] = (mount, *found["frames"])
        return found

    def _apply_settings(self, parameters: tuple[Parameter, ...]) -> Iterator[Parameter]:
        values = {f"{self.name}.{setting.parameter}": setting.value for setting in self.settings}
        for parameter in parameters:
            if parameter.name in values:
                yield dataclasses.replace(parameter, value=values[parameter.name], assumed=False)
            else:
                yield parameter

    def with_setting(self, parameter: str, value: Value) -> SubAssembly:
        """Return the sub-assembly with a parameter of its file set to a value."""
        return dataclasses.replace(self, settings=with_setting(self.settings, parameter, value))
