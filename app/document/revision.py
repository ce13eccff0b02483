"""States of the open document: a state (model, pose, selection), the undo history with the state saved in the file, and
the pose shown (the edited pose, replaced by that of a run, replaced by a preview). Independent of Qt.

A history is immutable: each verb returns another one, so that a step that fails is dropped by keeping the old one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.errors import KinetostatError
from core.later import dataclass
from core.mechanism import Mechanism
from core.model import Model

Array = NDArray[np.float64]


class ElementRef(NamedTuple):
    """Reference to an element of the model, used by selection and scene."""

    collection: str
    name: str


class UndoableAction(NamedTuple):
    """A user action outside the model (deleting a run, a plot or a view) and how to undo it."""

    do: Callable[[], object]
    undo: Callable[[], object]


@dataclass(frozen=True)
class DocumentState:
    """One state of the document that undo can restore."""

    model: Model
    pose: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Coordinates that differ from the reference configuration, by name (`mech.q_names`)."""
    label: str = ""
    """Name of the step that made this state, for the undo menu."""
    selection: ElementRef | None = None
    """The selection when this state was left; undo and redo restore it if the selected element disappears."""
    locked: frozenset[str] = frozenset()
    """Bodies that stay in place while the user drags and edits."""
    step: UndoableAction | None = field(default=None, compare=False)
    """Another action that was done when this state was entered."""


def is_present(model: Model, ref: ElementRef | None) -> bool:
    """Return True if a model contains an element, in its own lists or in those of its chains and sub-assemblies."""
    if ref is None or ref.collection == "world":
        return ref is not None
    return any(item.name == ref.name for each in (model, model.expanded) for item in getattr(each, ref.collection, ()))


def element_after_edit(old: Model, new: Model, ref: ElementRef) -> ElementRef | None:
    """Return the reference to an element after an edit or undo, with its new name if it was renamed; None if it is
    gone."""
    if is_present(new, ref):
        return ref
    for before, after in ((old, new), (old.expanded, new.expanded)):
        was, now = getattr(before, ref.collection, ()), getattr(after, ref.collection, ())
        names = {element.name for element in was}
        for a, b in zip(was, now, strict=False):
            if len(was) == len(now) and a.name == ref.name and b.name not in names:
                return ElementRef(ref.collection, b.name)
    return None


def renamed_joints(old: Model, new: Model) -> dict[str, str]:
    """Return old name → new name if an edit has only renamed joints; otherwise an empty dict."""
    before, after = old.expanded.joints, new.expanded.joints
    if old is new or len(before) != len(after):
        return {}
    return {a.name: b.name for a, b in zip(before, after, strict=True) if a.name != b.name and a.kind == b.kind}


def coordinates_of_pose(mech: Mechanism, pose: Mapping[str, float]) -> Array:
    """Return the coordinates (nq,) of the reference configuration with some of them, by name, replaced."""
    q = np.array(mech.rest(), dtype=float)
    for i, name in enumerate(mech.q_names):
        q[i] = pose.get(name, q[i])
    return q


def closed_coordinates_of_pose(mech: Mechanism, pose: Mapping[str, float]) -> Array:
    """Return the coordinates (nq,) nearest to a pose that satisfy all constraints."""
    q = coordinates_of_pose(mech, pose)
    return np.asarray(mech.move(q, {})) if pose and mech.constrained else q


def adapt_pose_to_machine(mech: Mechanism, pose: Mapping[str, float]) -> Mapping[str, float]:
    """Return a saved pose adapted to this machine, which may have changed since, with its loops closed; the reference
    configuration if that fails."""
    try:
        q = closed_coordinates_of_pose(mech, pose)
        return pose_from_coordinates(
            mech, np.asarray(mech.move(q, {})) if mech.nq != mech.nv else q
        )  # quaternions of unit length
    except KinetostatError:
        return MappingProxyType({})


def pose_from_coordinates(mech: Mechanism, q: Array) -> Mapping[str, float]:
    """Return the coordinates that differ from the reference configuration, by name."""
    pairs = zip(mech.q_names, q, mech.rest(), strict=True)
    return MappingProxyType({name: float(x) for name, x, x0 in pairs if x != x0})


def carry_pose_to_state(
    old: DocumentState, old_mech: Mechanism, q: Array, new: DocumentState, mech: Mechanism
) -> DocumentState:
    """Return the new state, for mechanism `mech`, with a pose that leaves the bodies where coordinates `q` of the old
    state have them."""
    if new.model is old.model:
        return new
    from core.constraints.rest_position import has_same_tree, transfer_pose

    if has_same_tree(old_mech.compiled, mech.compiled):
        return replace(new, pose=pose_from_coordinates(mech, closed_coordinates_of_pose(mech, new.pose)))
    q = transfer_pose(old_mech.compiled, q, mech.compiled, renamed_joints(old.model, new.model))
    return replace(new, pose=pose_from_coordinates(mech, q))


@dataclass(frozen=True)
class UndoHistory:
    """Present state of a document, with the states before and after it."""

    now: DocumentState
    saved: Model | None = None
    """The model as last opened or saved; None if it is in no file."""
    before: tuple[DocumentState, ...] = ()
    """States that undo returns to, the nearest last."""
    after: tuple[DocumentState, ...] = ()
    """States that redo returns to, the nearest last."""
    gesture: object = None
    """The gesture that made the present state and may continue it (such as wheel steps): compared by identity."""

    @classmethod
    def for_new_document(cls, model: Model, pose: Mapping[str, float] | None = None) -> UndoHistory:
        """Return the history of a document just opened or started, in the reference configuration or the given pose."""
        return cls(DocumentState(model, pose) if pose else DocumentState(model), saved=model)

    def with_new_state(self, new: DocumentState, selection: ElementRef | None, gesture: object = None) -> UndoHistory:
        """Return the history after a step to a new state; `selection`: the selection before the step. Steps of one
        gesture are merged."""
        goes_on = gesture is not None and gesture is self.gesture
        before = self.before if goes_on else (*self.before, self._state_with_selection(selection))
        return UndoHistory(new, self.saved, before, (), gesture)

    def after_undo(self, selection: ElementRef | None) -> UndoHistory:
        """Return the history one step back (unchanged if there is none); `selection`: the present selection."""
        if not self.before:
            return self
        *before, now = self.before
        return UndoHistory(now, self.saved, tuple(before), (*self.after, self._state_with_selection(selection)))

    def after_redo(self, selection: ElementRef | None) -> UndoHistory:
        """Return the history one step forward (unchanged if there is none); `selection`: the present selection."""
        if not self.after:
            return self
        *after, now = self.after
        return UndoHistory(now, self.saved, (*self.before, self._state_with_selection(selection)), tuple(after))

    def _state_with_selection(self, selection: ElementRef | None) -> DocumentState:
        return replace(self.now, selection=selection)

    @property
    def is_unsaved(self) -> bool:
        """True if the model differs from the one last opened or saved."""
        return self.now.model is not self.saved and self.now.model != self.saved

    @property
    def edit_count(self) -> int:
        """Number of edits between the saved state and the present one."""
        if not self.is_unsaved:
            return 0
        models = [*(state.model for state in self.before), self.now.model]
        begun = next((k for k in reversed(range(len(models))) if models[k] is self.saved), 0)
        steps = zip(models[begun:], models[begun + 1 :], strict=False)
        return max(1, sum(one is not other for one, other in steps))

    @property
    def undo_label(self) -> str:
        """Name of the step that undo would revert; '' if none."""
        return self.now.label if self.before else ""

    @property
    def redo_label(self) -> str:
        """Name of the step that redo would repeat; '' if none."""
        return self.after[-1].label if self.after else ""


_NOTHING: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class RunPoseMoment:
    """A pose shown instead of the edited one, with the parameter values and force states that belong to it."""

    q: Array
    """(nq,) joint coordinates, rad or m."""
    p: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Values of independent parameters that differ from the document's."""
    x: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """States of force elements, by name."""
    words: str = ""
    """Description of the moment and run."""


@dataclass(frozen=True, eq=False)
class ShownPose:
    """The pose and values currently shown. Immutable: each method returns a new object."""

    edited: Array
    """The committed pose (nq,)."""
    values: Mapping[str, float] = field(default_factory=lambda: _NOTHING)
    """Values of the independent parameters as committed."""
    run: RunPoseMoment | None = None
    """Moment of the run that is shown."""
    preview: RunPoseMoment | None = None
    """Preview of a drag or a slider before it is committed."""

    @property
    def q(self) -> Array:
        """Joint coordinates (nq,) as shown."""
        above = self.preview or self.run
        return self.edited if above is None else above.q

    @property
    def p(self) -> Mapping[str, float]:
        """Values of the independent parameters as shown; a preview of parameters hides those of the run."""
        if self.run is None or (self.preview is not None and self.preview.p):
            return self.edited_values
        return {**self.edited_values, **self.run.p}

    @property
    def edited_values(self) -> Mapping[str, float]:
        """Values of the independent parameters of the document, including previews but not those of a run."""
        return {**self.values, **self.preview.p} if self.preview is not None else self.values

    @property
    def x(self) -> Mapping[str, float]:
        """States of force elements by name, of the run that is shown; empty if no run is shown."""
        return _NOTHING if self.run is None or self.preview is not None else self.run.x

    @property
    def moment_description(self) -> str:
        """Description of the moment of the run that is shown; "" if no run is shown."""
        return "" if self.run is None or self.preview is not None else self.run.words

    def with_preview(self, q: Array | None = None, p: Mapping[str, float] = _NOTHING) -> ShownPose:
        """Return a copy with a previewed pose (None: unchanged) and previewed parameters; the first preview starts from
        the edited pose."""
        if q is None:
            q = self.edited if self.preview is None else self.preview.q
        tried = self.preview.p if self.preview is not None else _NOTHING
        return replace(self, preview=RunPoseMoment(np.array(q, dtype=float), {**tried, **p}))

    def with_run_moment(self, run: RunPoseMoment | None) -> ShownPose:
        """Return a copy that shows a moment of a run, unless there is a preview; None: the edited pose."""
        return replace(self, run=run)

    def without_preview(self) -> ShownPose:
        """Return a copy without the preview."""
        return self if self.preview is None else replace(self, preview=None)
