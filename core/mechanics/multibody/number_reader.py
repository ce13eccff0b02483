"""Reader of the numbers of a document: inertias, joint laws and gravity over floats or symbols."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from core.errors import ModelError
from core.files.meshes.body_inertia import body_inertia
from core.later import dataclass
from core.model import Body, Gravity, Joint
from core.model.formula import evaluation
from core.numerics.spatial.inertia import Inertia
from core.numerics.spatial.inertia import center as center_of
from core.numerics.spatial.rotation import Rotation
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import ZERO, Vector3


@dataclass(frozen=True)
class Numbers(evaluation.FieldEvaluator):
    """Reader of fields for given parameter values, floats or symbols, that returns the kernel's objects."""

    def inertia(self, body: Body) -> Inertia:
        """Return the mass properties of a body in its own frame: as given, or from its shapes if it has a density."""
        return body_inertia(body, self)

    def center(self, body: Body) -> Vector3:
        """Return the centre of mass in the body's frame, m; for a body without mass the given one."""
        if body.density is not None:
            with suppress(ZeroDivisionError):  # shapes of no volume have no centre
                return center_of(self.inertia(body))
        return self.vector(body.center_of_mass, f"body '{body.name}', center_of_mass")

    def law(self, joint: Joint) -> tuple[Any, Rotation]:
        """Return the joint law and the rotation of its canonical frame in frame a."""
        where = f"joint '{joint.name}'"
        axis = self.vector(joint.axis, f"{where}, axis")
        second = self.vector(joint.second_axis, f"{where}, second_axis")
        try:
            return joint.info.read(axis, second, self.scalar(joint.pitch, f"{where}, pitch"))
        except ZeroDivisionError:
            raise ModelError(
                "The axis has length zero, so it has no direction.",
                where=f"{where}, axis",
                remedy="Give a direction such as (0, 0, 1).",
            ) from None
        except ModelError as error:
            error.where = f"{where}, {error.where}" if error.where else where
            raise

    def gravity(self, gravity: Gravity) -> tuple[Vector3, Scalar, Vector3]:
        """Return uniform acceleration, gravitational parameter and centre of gravity."""
        uniform = self.vector(gravity.acceleration, "world, gravity") if gravity.kind == "uniform" else ZERO
        return uniform, self.scalar(gravity.mu, "world, gravity"), self.vector(gravity.center, "world, gravity")
