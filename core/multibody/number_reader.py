"""From the document to the laws of mechanics: inertias, joint laws, gravity, over the scalars of `Numbers`."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from core.errors import ModelError
from core.files.meshes.body_inertia import inertia_of
from core.later import dataclass
from core.model import Body, Gravity, Joint
from core.model.formula import evaluation
from core.spatial.inertia import Inertia
from core.spatial.inertia import center as center_of
from core.spatial.rotation import Rotation
from core.spatial.scalar import Scalar
from core.spatial.vector import ZERO, Vector3


@dataclass(frozen=True)
class Numbers(evaluation.Numbers):
    """Values of the parameters, floats or symbols, and what the kernel makes of fields with them."""

    def inertia(self, body: Body) -> Inertia:
        """Mass properties of a body in its own frame: given, or from its shapes when it has a density."""
        return inertia_of(body, self)

    def center(self, body: Body) -> Vector3:
        """Centre of mass in the body's frame, m; of a body without mass as it is given."""
        if body.density is not None:
            with suppress(ZeroDivisionError):  # shapes of no volume have no centre
                return center_of(self.inertia(body))
        return self.vector(body.center_of_mass, f"body '{body.name}', center_of_mass")

    def law(self, joint: Joint) -> tuple[Any, Rotation]:
        """Joint law and rotation of its canonical frame in frame a."""
        where = f"joint '{joint.name}'"
        axis = self.vector(joint.axis, f"{where}, axis")
        second = self.vector(joint.second_axis, f"{where}, second_axis")
        try:
            return joint.info.read(axis, second, self.scalar(joint.pitch, f"{where}, pitch"))
        except ZeroDivisionError:
            raise ModelError(
                "An axis of length zero has no direction.",
                where=f"{where}, axis",
                remedy="Give a direction such as (0, 0, 1).",
            ) from None
        except ModelError as error:
            error.where = f"{where}, {error.where}" if error.where else where
            raise

    def gravity(self, gravity: Gravity) -> tuple[Vector3, Scalar, Vector3]:
        """Uniform acceleration, gravitational parameter, centre."""
        uniform = self.vector(gravity.acceleration, "world, gravity") if gravity.kind == "uniform" else ZERO
        return uniform, self.scalar(gravity.mu, "world, gravity"), self.vector(gravity.center, "world, gravity")
