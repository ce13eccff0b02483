"""Evaluation of document fields to scalars: floats at the current parameter values, or symbols."""

from __future__ import annotations

from collections.abc import Mapping

from core.errors import ModelError
from core.later import dataclass
from core.model.fields import Value
from core.model.parameters import evaluate_field, evaluate_finite_field
from core.model.shapes import IDENTITY as NO_POSE
from core.model.shapes import Pose as DocumentPose
from core.numerics.spatial.pose import IDENTITY, Pose
from core.numerics.spatial.rotation import from_angles, from_quaternion
from core.numerics.spatial.scalar import Scalar
from core.numerics.spatial.vector import Vector3


@dataclass(frozen=True)
class FieldEvaluator:
    """Evaluator of document fields for given parameter values."""

    values: Mapping[str, Scalar]
    origin: str = ""
    """Path of the model's file; meshes are looked up relative to it."""

    def scalar(self, value: Value, where: str = "") -> Scalar:
        """Return the value of a number field."""
        if type(value) is float:
            return value
        result = evaluate_field(value, self.values, where)
        return float(result) if isinstance(result, (int, float)) else result

    def vector(self, values: tuple[Value, ...], where: str = "") -> Vector3:
        """Return the values of three numbers."""
        return Vector3(*[self.scalar(value, where) for value in values])

    def pose(self, pose: DocumentPose, where: str = "") -> Pose:
        """Return a pose of the document as a spatial transform."""
        if pose is NO_POSE or pose == NO_POSE:
            return IDENTITY
        turn = [self._finite_value(value, where) for value in pose.rotation]
        if len(turn) == 4 and all(isinstance(e, float) and e == 0.0 for e in turn):
            raise ModelError(
                "A quaternion of length zero is not a rotation.", where=where, remedy="Use 0, 0, 0, 1 for no rotation."
            )
        rotation = from_quaternion(turn) if len(turn) == 4 else from_angles(turn)
        return Pose(rotation, Vector3(*(self._finite_value(value, where) for value in pose.position)))

    def _finite_value(self, value: Value, where: str) -> Scalar:
        result = evaluate_finite_field(value, self.values, where)
        return float(result) if isinstance(result, (int, float)) else result
