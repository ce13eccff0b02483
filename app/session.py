"""The session: the open document, its pose, the selection, undo. Knows no Qt.

One-way flow: an input calls a verb here; the verb makes a new immutable `State`; one signal tells the
views, which re-read what they show. Previews (a drag, a slider) move the pose or parameters without
making a state; `commit` makes one state of them, `cancel` drops them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal

from app.runs import Runs
from app.state import Ref, State, pose_of, posed, renamed_joints
from core.errors import KinetostatError
from core.files import read, save
from core.functions.function import Context
from core.kernel import Mechanism
from core.kernel.carried_pose import carried_pose, same_tree
from core.model import Finding, Model, edits

Array = NDArray[np.float64]


class Session:
    """What the window shows and edits."""

    changed = Signal(State, State)
    """(old, new) after a commit, undo, redo or a newly opened document."""
    moved = Signal()
    """The pose `q` or the parameter values `p` moved: during previews and after every change."""
    selected = Signal(object)
    """The selection: a `Ref` or None."""
    hovered = Signal(object)
    """What the pointer is on: a `Ref` or None."""
    saved_changed = Signal()
    """The file path or the unsaved mark changed."""
    told = Signal(str, str)
    """(severity, text): a message to the person; severity is error, warning, hint or done."""
    produced = Signal(object)
    """A result value of a function (core.functions.results), to be shown by every surface that can."""
    framed = Signal(object)
    """Frames of a table to be shown in the scene: an `app.frame_sets.FrameSet` or None."""

    def __init__(self, model: Model | None = None) -> None:
        self.state = State(model or Model(name="untitled"))
        self.mech = Mechanism(self.state.model)
        self.path: Path | None = None
        self.findings: tuple[Finding, ...] = ()
        """What the reader of the open file found questionable."""
        self.document = 0
        """Counts the documents that were opened: another number, another machine."""
        self.runs = Runs()
        """What the machine did, and the playhead."""
        self.ranges: tuple[tuple[float, float], ...] = ()
        """What part of space pictures show, as in `ViewRanges`."""
        self.millimetres = False  # in pictures
        self.selection: Ref | None = None
        self.hover: Ref | None = None
        self._undo: list[State] = []
        self._redo: list[State] = []
        self._saved: State = self.state
        self._preview_parameters: dict[str, float] = {}
        self._followed: tuple[Array, Mapping[str, float], Mapping[str, float]] | None = None
        self._gesture: object = None
        self._rest = np.array(self.mech.rest(), dtype=float)
        self._q = self._pose_array()

    # ------------------------------------------------------------------------------- reading

    @property
    def model(self) -> Model:
        """The document as committed."""
        return self.state.model

    @property
    def q(self) -> Array:
        """(nq,) joint coordinates now shown, previews included. Treat as read-only."""
        return self._q

    @property
    def p(self) -> Mapping[str, float]:
        """Values of the independent parameters now shown, previews included (pass it as `p=`)."""
        shown = self._followed[1] if self._followed is not None and not self._preview_parameters else {}
        return {**self.edited_parameters, **shown, **self._preview_parameters}

    def context(self) -> Context:
        """The machine as it is shown now, for functions."""
        return Context(self.model, self.mech, self.q.copy(), dict(self.p), ranges=self.ranges,
                       millimetres=self.millimetres)  # fmt: skip

    @property
    def edited_parameters(self) -> Mapping[str, float]:
        """Values of the independent parameters of the document, previews included, whatever run is shown."""
        values = self.model.values()
        return {name: self._preview_parameters.get(name, values[name]) for name in self.mech.p_names}

    @property
    def previewing(self) -> bool:
        """True between the first preview and its commit or cancel."""
        return self._previewing

    _previewing = False

    # ------------------------------------------------------------------------------- previews

    def preview(self, q: Array | None = None, parameters: Mapping[str, float] | None = None) -> None:
        """Show a pose or parameter values without committing them. Loops stay closed when parameters move."""
        if q is not None:
            self._q = np.array(q, dtype=float)
        if parameters is not None:
            if q is None and not self._previewing:  # of the edited pose, whatever run is shown
                self._q = self.edited_pose
            self._preview_parameters.update(parameters)
            if q is None and self.mech.loops:
                self._q = np.array(self.mech.move(self._q, {}, p=self.p), dtype=float)
        self._previewing = True
        self.moved.emit()

    def preview_coordinates(self, values: Mapping[str, float]) -> None:
        """Show the pose in which these coordinates (by name) have these values, as near as the limits,
        couplings and loops allow."""
        self.preview(q=self.mech.move(self._q, values, p=self.p))

    def follow(
        self, q: Array | None, parameters: Mapping[str, float] | None = None, x: Mapping[str, float] | None = None
    ) -> None:
        """Show a run's pose (with parameters, states of force elements) behind what is previewed, editing nothing;
        None: the edited pose. A commit keeps what is shown."""
        if q is None and self._followed is None:
            return
        before = self.following, self.p if self._previewing else {}
        self._followed = None if q is None else (np.array(q, dtype=float), dict(parameters or {}), dict(x or {}))
        if not self._previewing:
            self._q = self._pose_array()
        elif before == (self.following, self.p):  # what is previewed hides it
            return
        self.moved.emit()

    @property
    def following(self) -> bool:
        """True while the pose of a run is shown instead of the edited one."""
        return self._followed is not None

    @property
    def x(self) -> Mapping[str, float]:
        """States of force elements by name, of the run that is shown; empty for a pose at rest."""
        return self._followed[2] if self._followed is not None and not self._previewing else {}

    @property
    def edited_pose(self) -> Array:
        """(nq,) the pose as committed, whatever is shown."""
        return posed(self.mech, self.state.pose)

    def keep_pose(self) -> None:
        """Make the pose of the run that is shown the edited one."""
        if self._followed is not None:
            self.pose("Use the pose of the run", self._followed[0])

    def commit(self, label: str) -> None:
        """Make one undoable state of what is previewed."""
        if not self._previewing:
            return
        model = self.model
        try:
            for name, value in self._preview_parameters.items():
                if value != model.expanded.find("parameters", name).value:
                    model = edits.change(model, "parameters", name, value=value)
        except KinetostatError as error:
            self.cancel()
            self.told.emit("error", str(error))
            return
        if model is self.model and pose_of(self.mech, self._q) == self.state.pose:
            self._followed = None  # that of a run gives way to it
            self.cancel()
            return
        self._push(dataclasses.replace(self.state, model=model, pose=pose_of(self.mech, self._q), label=label))

    def cancel(self) -> None:
        """Drop what is previewed."""
        if self._previewing:
            self._end_preview()
            self._q = self._pose_array()
            self.moved.emit()

    # ------------------------------------------------------------------------------- editing

    def apply(
        self, label: str, edit: Callable[[Model], Model], *, gesture: object = None, select: Ref | None = None
    ) -> bool:
        """Commit an edit. A KinetostatError becomes a message; the result says whether it worked.

        Edits of one `gesture` (the same object, e.g. a run of wheel steps) become one undo step.
        `select` moves the selection along, e.g. to an element that is added or renamed by the edit.
        """
        self.cancel()
        try:
            model = edit(self.model)
            if model is not self.model:
                self._push(dataclasses.replace(self.state, model=model, label=label), gesture, select)
                return self.model is model
        except KinetostatError as error:
            self.told.emit("error", str(error))
            return False
        return True

    def pose(self, label: str, q: Array) -> None:
        """Commit a pose."""
        self.preview(q=q)
        self.commit(label)

    def reset_pose(self) -> None:
        """Back to the rest pose."""
        self.pose("Reset to rest", self._rest)

    def undo(self) -> None:
        """Back to the state before."""
        self.cancel()
        if self._undo:
            before = self._undo.pop()
            self._redo.append(self._left())
            if not self._show(before):
                self._undo.append(before)
                self._redo.pop()

    def redo(self) -> None:
        """Forward again."""
        self.cancel()
        if self._redo:
            after = self._redo.pop()
            self._undo.append(self._left())
            if not self._show(after):
                self._redo.append(after)
                self._undo.pop()

    @property
    def rest(self) -> Array:
        """(nq,) the rest pose of the model. Treat as read-only."""
        return self._rest

    @property
    def undo_label(self) -> str:
        """What undo would take back; '' if nothing."""
        return self.state.label if self._undo else ""

    @property
    def redo_label(self) -> str:
        """What redo would do again; '' if nothing."""
        return self._redo[-1].label if self._redo else ""

    # ------------------------------------------------------------------------------- files

    def open(self, path: str | Path) -> bool:
        """Open any supported file. On failure a message is told and what was open stays open."""
        try:
            reading = read(path)
        except KinetostatError as error:
            self.told.emit("error", str(error))
            return False
        is_native = Path(path).suffix == ".kst"
        return self.start(reading.model, Path(path) if is_native else None, findings=reading.findings)

    def start(
        self, model: Model, path: Path | None = None, *, findings: tuple[Finding, ...] = (),
        mech: Mechanism | None = None,
    ) -> bool:  # fmt: skip
        """Begin anew with a model (and its mechanism, if already made); undo is emptied."""
        before = self.path, self.findings
        self.path, self.findings = path, tuple(findings)
        if not self._show(State(model), mech=mech, anew=True):
            self.path, self.findings = before
            return False
        return True

    def restore(self, model: Model) -> bool:
        """Begin anew with recovered work; it counts as unsaved."""
        if not self.start(model):
            return False
        self._saved = State(Model(name=""))
        self.saved_changed.emit()
        return True

    def save(self, path: str | Path) -> bool:
        """Write the document (atomically); the suffix says the format."""
        try:
            left_out = save(self.model, path)
        except KinetostatError as error:
            self.told.emit("error", str(error))
            return False
        self.path = Path(path)
        self._saved = self.state
        self.saved_changed.emit()
        if left_out:
            more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
            self.told.emit("warning", f"Saved {path}, but the format cannot hold all: {left_out[0].text}{more}")
        else:
            self.told.emit("done", f"Saved {path}")
        return True

    @property
    def unsaved(self) -> bool:
        """True when the model differs from what was last opened or saved."""
        return self.state.model is not self._saved.model and self.state.model != self._saved.model

    # ------------------------------------------------------------------------------- selection

    def select(self, ref: Ref | None) -> None:
        """Select an element (or nothing). What does not exist cannot be selected."""
        if not self._exists(ref):
            ref = None
        if ref != self.selection:
            self.selection = ref
            self.selected.emit(ref)

    def point_at(self, ref: Ref | None) -> None:
        """The pointer is on an element (or on nothing)."""
        if ref != self.hover:
            self.hover = ref
            self.hovered.emit(ref)

    # ------------------------------------------------------------------------------- inside

    def _push(self, new: State, gesture: object = None, select: Ref | None = None) -> None:
        before = list(self._undo), list(self._redo)
        if gesture is None or gesture is not self._gesture:
            self._undo.append(self._left())
        self._redo.clear()
        new = dataclasses.replace(new, selection=select)
        if not self._show(new, select=select, carry=True):
            self._undo, self._redo = before
            return
        self._gesture = gesture

    def _carried(self, new: State, mech: Mechanism) -> State:
        """The state with a pose in which the bodies stand where they now stand (self.mech still is the old machine)."""
        if new.model is self.model:
            return new
        if same_tree(self.mech, mech):
            q = posed(mech, new.pose)
            q = np.asarray(mech.move(q, {})) if new.pose and mech.loops else q
        else:
            q = carried_pose(self.mech, self.edited_pose, mech, renamed_joints(self.model, new.model))
        return dataclasses.replace(new, pose=pose_of(mech, q))

    def _left(self) -> State:
        """The present state as it is left for another one."""
        return dataclasses.replace(self.state, selection=self.selection)

    def _show(
        self, new: State, *, mech: Mechanism | None = None, anew: bool = False, select: Ref | None = None,
        carry: bool = False,
    ) -> bool:  # fmt: skip
        """Make `new` the state: mechanism, pose, selection, signals."""
        old = self.state
        try:
            if mech is None:
                mech = self.mech if new.model is old.model else self.mech.updated(new.model)
            rest = np.array(mech.rest(), dtype=float)
            new = self._carried(new, mech) if carry else new
        except KinetostatError as error:
            self.cancel()
            self.told.emit("error", str(error))
            return False
        self.mech, self.state, self._rest = mech, new, rest
        self._gesture = self._followed = None
        self._end_preview()
        self._q = self._pose_array()
        if anew:
            self._undo.clear()
            self._redo.clear()
            self._saved = new
            self.document += 1
            self.runs.clear()
        kept = select or self.selection
        kept = kept if self._exists(kept) else new.selection
        self.selection, gone = (None, self.selection) if anew or not self._exists(kept) else (kept, self.selection)
        self.changed.emit(old, new)
        if self.selection != gone:
            self.selected.emit(self.selection)
        self.saved_changed.emit()
        self.moved.emit()
        return True

    def _exists(self, ref: Ref | None) -> bool:
        if ref is None or ref.collection == "world":
            return ref is not None
        models = (self.model, self.model.expanded)
        return any(item.name == ref.name for model in models for item in getattr(model, ref.collection, ()))

    def _end_preview(self) -> None:
        self._previewing = False
        self._preview_parameters.clear()

    def _pose_array(self) -> Array:
        return self.edited_pose if self._followed is None else self._followed[0].copy()
