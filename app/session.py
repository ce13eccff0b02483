"""The session: the open document, its pose, the selection, undo. Knows no Qt.

One-way flow: an input calls a verb here; the verb makes a new immutable `State`; one signal tells the
views, which re-read what they show. Previews (a drag, a slider) move the pose or parameters without
making a state; `commit` makes one state of them, `cancel` drops them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from psygnal import Signal

from core.errors import KinetostatError
from core.files import load, save
from core.kernel import Mechanism
from core.model import Model, edits

Array = NDArray[np.float64]


class Ref(NamedTuple):
    """An element of the model, as the selection and the scene name it."""

    collection: str
    name: str


@dataclass(frozen=True)
class State:
    """One moment of the document: what undo goes back to."""

    model: Model
    pose: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """Coordinates that differ from the rest pose, by name (`mech.q_names`)."""
    label: str = ""
    """What made this state, for the undo menu."""


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

    def __init__(self, model: Model | None = None) -> None:
        self.state = State(model or Model(name="untitled"))
        self.mech = Mechanism(self.state.model)
        self.path: Path | None = None
        self.selection: Ref | None = None
        self.hover: Ref | None = None
        self._undo: list[State] = []
        self._redo: list[State] = []
        self._saved: State = self.state
        self._preview_parameters: dict[str, float] = {}
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
        values = self.model.values()
        return {name: self._preview_parameters.get(name, values[name]) for name in self.mech.p_names}

    @property
    def previewing(self) -> bool:
        """True between the first preview and its commit or cancel."""
        return self._previewing

    _previewing = False

    # ------------------------------------------------------------------------------- previews

    def preview(self, q: Array | None = None, parameters: Mapping[str, float] | None = None) -> None:
        """Show a pose or parameter values without committing them."""
        if q is not None:
            self._q = np.array(q, dtype=float)
        if parameters is not None:
            self._preview_parameters.update(parameters)
        self._previewing = True
        self.moved.emit()

    def preview_coordinates(self, values: Mapping[str, float]) -> None:
        """Show the pose in which these coordinates (by name) have these values, as near as the limits,
        couplings and loops allow."""
        self.preview(q=self.mech.move(self._q, values, p=self.p))

    def commit(self, label: str) -> None:
        """Make one undoable state of what is previewed."""
        if not self._previewing:
            return
        model = self.model
        for name, value in self._preview_parameters.items():
            model = edits.change(model, "parameters", name, value=value)
        self._push(dataclasses.replace(self.state, model=model, pose=self._pose_of(self._q), label=label))

    def cancel(self) -> None:
        """Drop what is previewed."""
        if self._previewing:
            self._end_preview()
            self._q = self._pose_array()
            self.moved.emit()

    # ------------------------------------------------------------------------------- editing

    def apply(self, label: str, edit: Callable[[Model], Model]) -> bool:
        """Commit an edit. A KinetostatError becomes a message; the result says whether it worked."""
        self.cancel()
        try:
            model = edit(self.model)
            if model is not self.model:
                self._push(dataclasses.replace(self.state, model=model, label=label))
        except KinetostatError as error:
            self.told.emit("error", str(error))
            return False
        return True

    def pose(self, label: str, q: Array) -> None:
        """Commit a pose."""
        self.preview(q=q)
        self.commit(label)

    def undo(self) -> None:
        """Back to the state before."""
        self.cancel()
        if self._undo:
            self._redo.append(self.state)
            self._show(self._undo.pop())

    def redo(self) -> None:
        """Forward again."""
        self.cancel()
        if self._redo:
            self._undo.append(self.state)
            self._show(self._redo.pop())

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
            model = load(path)
        except KinetostatError as error:
            self.told.emit("error", str(error))
            return False
        is_native = Path(path).suffix == ".kst"
        return self.start(model, Path(path) if is_native else None)

    def start(self, model: Model, path: Path | None = None) -> bool:
        """Begin anew with a model; undo is emptied."""
        old, fresh = self.state, State(model)
        if not self._show(fresh):
            return False
        self._undo.clear()
        self._redo.clear()
        self._saved = self.state
        self.path = path
        self.select(None)
        self.saved_changed.emit()
        self.changed.emit(old, self.state)
        return True

    def save(self, path: str | Path) -> bool:
        """Write the document (atomically); the suffix says the format."""
        try:
            save(self.model, path)
        except KinetostatError as error:
            self.told.emit("error", str(error))
            return False
        self.path = Path(path)
        self._saved = self.state
        self.saved_changed.emit()
        self.told.emit("done", f"Saved {path}")
        return True

    @property
    def unsaved(self) -> bool:
        """True when the model differs from what was last opened or saved."""
        return self.state.model is not self._saved.model and self.state.model != self._saved.model

    # ------------------------------------------------------------------------------- selection

    def select(self, ref: Ref | None) -> None:
        """Select an element (or nothing)."""
        if ref != self.selection:
            self.selection = ref
            self.selected.emit(ref)

    def point_at(self, ref: Ref | None) -> None:
        """The pointer is on an element (or on nothing)."""
        if ref != self.hover:
            self.hover = ref
            self.hovered.emit(ref)

    # ------------------------------------------------------------------------------- inside

    def _push(self, new: State) -> None:
        old = self.state
        if self._show(new):
            self._undo.append(old)
            self._redo.clear()

    def _show(self, new: State) -> bool:
        """Make `new` the state: mechanism, pose, signals."""
        old = self.state
        if new.model is not old.model:
            try:
                mech = self.mech.updated(new.model)
            except KinetostatError as error:
                self._end_preview()
                self._q = self._pose_array()
                self.moved.emit()
                self.told.emit("error", str(error))
                return False
            self.mech = mech
        self.state = new
        self._end_preview()
        self._q = self._pose_array()
        if self.selection is not None and not self._exists(self.selection):
            self.select(None)
        self.changed.emit(old, new)
        self.saved_changed.emit()
        self.moved.emit()
        return True

    def _exists(self, ref: Ref) -> bool:
        return any(item.name == ref.name for item in getattr(self.model.expanded, ref.collection, ())) or any(
            item.name == ref.name for item in getattr(self.model, ref.collection, ())
        )

    def _end_preview(self) -> None:
        self._previewing = False
        self._preview_parameters.clear()

    def _pose_array(self) -> Array:
        q = np.array(self.mech.rest(), dtype=float)
        for i, name in enumerate(self.mech.q_names):
            q[i] = self.state.pose.get(name, q[i])
        return q

    def _pose_of(self, q: Array) -> Mapping[str, float]:
        rest = self.mech.rest()
        names = self.mech.q_names
        return MappingProxyType({n: float(x) for n, x, x0 in zip(names, q, rest, strict=True) if x != x0})
