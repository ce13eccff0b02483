"""Application of an isostatic proposal to a model: joints replaced, constraints removed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.constraints.mobility.isostatic import Release
from core.constraints.mobility.mobility import Mobility, mobility
from core.constraints.rest_position import reference_position, transfer_pose
from core.errors import ModelError
from core.model import Model
from core.model.edits import edits
from core.model.formula.numerals import round_measured_vector
from core.programs.compiled import CompiledModel

Array = NDArray[np.float64]
WHERE = "mobility, proposal"


def isostatic_model(compiled: CompiledModel, mobility: Mobility) -> Model:
    """The machine's model after all changes of `found.proposal`, verified to have the same degrees of freedom and no
    redundant constraint.

    Raises ModelError when nothing is proposed, a change is one that no kind of joint makes, an element belongs to a
    sub-assembly, or the changed machine is not what the proposal promises.
    """
    if not mobility.proposal:
        raise ModelError(
            "There is no proposal: no constraint is redundant, or none can be released by itself.", where=WHERE
        )
    model = compiled.model
    for change in mobility.proposal:
        model = (
            _remove_element(model, change) if not change.kind else _replace_joint(compiled, mobility.q, model, change)
        )
    model = _restore_reference_positions(compiled, model)
    _verify_change(compiled, model, mobility)
    return model


def _restore_reference_positions(compiled: CompiledModel, model: Model) -> Model:
    """The model with replaced joints in their former reference positions."""
    changed = CompiledModel(model)
    q = transfer_pose(compiled, reference_position(compiled), changed, {})
    for joint in compiled.model.joints:
        after = next((each for each in model.joints if each.name == joint.name), joint)
        if joint.rest and after.kind != joint.kind and joint.name in {c.joint for c in changed.coordinates.table}:
            resting = tuple(round(float(x), 12) + 0.0 for x in q[changed.joint_q(joint.name)])
            model = edits.change(model, "joints", joint.name, rest=resting)
    return model


def _replace_joint(compiled: CompiledModel, q: Array, model: Model, change: Release) -> Model:
    joint = _find_element(model, "joints", change.joint)
    X_a, X_b = (np.asarray(X) for X in compiled.joint_poses(q)[joint.name])
    fields: dict[str, Any] = {"kind": change.kind, "limits": (), "rest": (), "spring_rest": (), "start_speed": ()}
    exchange = next(each for each in joint.info.releases if each.kind == change.kind)
    freed = dict(zip(reversed(change.motions), reversed(change.directions), strict=True))
    if exchange.axis:
        fields["axis"] = _axis_in_frame(X_a, np.array(freed[exchange.axis]))
    if exchange.second_axis:  # it is fixed in b
        fields["second_axis"] = _axis_in_frame(X_b, np.array(freed[exchange.second_axis]))
    return edits.change(model, "joints", joint.name, **fields)


def _axis_in_frame(X: Array, direction: Array) -> tuple[float, float, float]:
    """A world direction in the axes of a frame."""
    return round_measured_vector(X[:3, :3].T @ direction)


def _remove_element(model: Model, change: Release) -> Model:
    if not change.element[1]:
        remedy = "Insert a body with two simpler joints, or leave it: the motion is correct."
        raise ModelError(f"No kind of joint makes this change: {change.text}.", where=WHERE, remedy=remedy)
    collection, name = change.element
    _find_element(model, collection, name)
    return edits.remove(model, collection, name)


def _find_element(model: Model, collection: str, name: str) -> Any:
    for element in getattr(model, collection):
        if element.name == name:
            return element
    raise ModelError(
        f"'{name}' belongs to a sub-assembly or a chain.", where=WHERE, remedy="Open that file and change it there."
    )


def _verify_change(compiled: CompiledModel, model: Model, before: Mobility) -> None:
    changed = CompiledModel(model)
    after = mobility(changed, transfer_pose(compiled, before.q, changed, {}))
    if after.redundant or after.degrees_of_freedom != before.degrees_of_freedom:
        raise ModelError(
            f"The changed machine would have {after.degrees_of_freedom} degrees of freedom and "
            f"{len(after.redundant)} redundant constraints, not {before.degrees_of_freedom} and none.",
            where=WHERE,
            remedy="Change one joint at a time and look at the findings again.",
        )
