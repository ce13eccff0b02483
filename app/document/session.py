"""The session: the open document, its pose, the selection, undo. Independent of Qt.

One-way flow: an input calls a verb here; the verb makes a new immutable `State`; one signal tells the
views, which re-read what they show. Previews (a drag, a slider) move the pose or parameters without
making a state; `commit` makes one state of them, `cancel` drops them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from app.background.signals import Signal
from app.document.kept.seen_files import Sources, save_document
from app.document.locks import first_moved_part, held, names_after_edit, places, released, stays
from app.document.revision import (
    History,
    PoseMoment,
    Ref,
    ShownPose,
    State,
    Step,
    carried_state,
    closed_pose,
    is_present,
    pose_of,
    posed_coordinates,
)
from app.document.run_tree import Runs
from core.errors import KinetostatError
from core.files import Trusted, read
from core.functions.context import Context
from core.mechanism import Mechanism
from core.model import Finding, Model
from core.model.edits import edits
from resources import is_example

Array = NDArray[np.float64]
NOWHERE = Sources()
TAKEN_OVER = "Changed outside"
"""Undo label of a reload after another program changed the file."""


class Session:
    """The open document with pose, selection, undo and previews, as the window shows and edits it."""

    changed = Signal(State, State)
    """(old, new) after a commit, undo, redo or a newly opened document."""
    moved = Signal()
    """The pose `q` or the parameter values `p` changed: during previews and after every change."""
    selected = Signal(object)
    """The selection: a `Ref` or None."""
    hovered = Signal(object)
    """The element under the pointer: a `Ref` or None."""
    pointed_out = Signal(object)
    """Elements to highlight because text under the pointer, such as a finding, refers to them: a tuple of `Ref`."""
    grounded = Signal()
    """The row of the ground was clicked, where elements are chosen by name; nothing is selected then."""
    saved_changed = Signal()
    """The file path or the unsaved mark changed."""
    message = Signal(str, str)
    """(severity, text): a message to the user; severity is error, warning, hint or done."""
    produced = Signal(object)
    """A result of a function (core.functions.results), for all panels that can show it."""
    shown_again = Signal(object, object)
    """A result, and its sequence of poses (core.functions.results) that the scene is to show."""
    mapped = Signal(object)
    """A map to be shown in the scene: an `app.viewport.map_layer.ShownMap` or None."""
    framed = Signal(object)
    """Frames of a table to be shown in the scene: an `app.viewport.frame_sets.FrameSet` or None."""

    def __init__(self, model: Model | None = None) -> None:
        self._history = History.opened(model or Model(name="untitled"))
        self.mech = Mechanism.to_show(self.model)
        self.path: Path | None = None
        self.findings: tuple[Finding, ...] = ()
        """Findings of the reader of the open file."""
        self.sources: Sources = NOWHERE
        """The open file, and those it takes in, as they were when last read or written."""
        self.trusted: frozenset[Trusted] = frozenset()
        """The files of the open document whose code the person allowed to run."""
        self.document = 0
        """Counts the documents that were opened: another number, another machine."""
        self.runs = Runs()
        """Runs of the machine, and the playhead."""
        self.selection: Ref | None = None
        self.hover: Ref | None = None
        self.pointed_out_refs: tuple[Ref, ...] = ()
        self._rest = np.array(self.mech.rest(), dtype=float)
        self._shown = self._committed_pose()
        self._hands: tuple[State, Mechanism] | None = None

    # ------------------------------------------------------------------------------- reading

    @property
    def state(self) -> State:
        """The committed state of the document."""
        return self._history.now

    @property
    def model(self) -> Model:
        """The committed model."""
        return self._history.now.model

    @property
    def q(self) -> Array:
        """Joint coordinates (nq,) as shown, previews included. Treat as read-only."""
        return self._shown.q

    @property
    def p(self) -> Mapping[str, float]:
        """Values of the independent parameters as shown, previews included (pass them as `p=`)."""
        return self._shown.p

    @property
    def x(self) -> Mapping[str, float]:
        """States of force elements by name, of the run that is shown; empty if no run is shown."""
        return self._shown.x

    @property
    def t(self) -> float:
        """Time of the pose that is shown, s: the playhead's for a run; else 0."""
        return self.runs.time if self.following and not self.previewing else 0.0

    @property
    def rest(self) -> Array:
        """The reference configuration (nq,) of the model. Treat as read-only."""
        return self._rest

    @property
    def edited_pose(self) -> Array:
        """The committed pose (nq,), regardless of the pose shown. Treat as read-only."""
        return self._shown.edited

    @property
    def edited_parameters(self) -> Mapping[str, float]:
        """Values of the independent parameters of the document, previews included, regardless of the run shown."""
        return self._shown.edited_values

    @property
    def previewing(self) -> bool:
        """True between the first preview and its commit or cancel."""
        return self._shown.preview is not None

    @property
    def following(self) -> bool:
        """True while the pose of a run is shown instead of the edited one."""
        return self._shown.run is not None

    def context(self) -> Context:
        """The machine as shown now, for functions."""
        return Context(
            self.model,
            self.mech,
            self.q.copy(),
            dict(self.p),
            t=self.t,
            document=self.document,
            moment=self._shown.words,
        )

    # ------------------------------------------------------------------------------- previews

    def preview(self, q: Array | None = None, parameters: Mapping[str, float] | None = None) -> None:
        """Show a pose or parameter values without committing them. Loops and constraints are closed when parameters
        change; a preview that would move a locked part is not shown."""
        shown = self._shown.previewed(q, parameters or {})
        if q is None and self.hands.constrained:
            shown = shown.previewed(self.hands.move(shown.q, {}, p=shown.p))
        if not self._locked_part_moved(shown.q, shown.edited_values):
            self._shown = shown
        self.moved.emit()

    def preview_coordinates(self, values: Mapping[str, float]) -> None:
        """Show the pose in which the named coordinates have these values, as far as limits, couplings and loops allow;
        locked parts stay if possible, else nothing moves. Where two branches meet, either may be followed, since the
        user sees which one."""
        from core.constraints.named_positions import moved

        self.preview(q=moved(self.hands.compiled, self.q, values, self.p, decided=False))

    # ------------------------------------------------------------------------------- locks

    @property
    def locked(self) -> frozenset[str]:
        """Bodies that stay in place while the user drags, draws, connects and edits."""
        return self.state.locked

    @property
    def hands(self) -> Mechanism:
        """The machine as the user can move it: with locked bodies fixed in place."""
        if not self.locked:
            return self.mech
        if self._hands is None or self._hands[0] is not self.state:
            self._hands = self.state, Mechanism(self._held(self.model))
        return self._hands[1]

    def _held(self, model: Model) -> Model:
        return held(model, self.mech, self.poses_of_locked_bodies)

    @property
    def poses_of_locked_bodies(self) -> dict[str, Array]:
        """Return the poses (4, 4) of locked bodies, by name."""
        X = self.mech.frame
        return {name: np.asarray(X(self.edited_pose, name, p=self._shown.values)) for name in sorted(self.locked)}

    def with_locks_kept(self, edit: Callable[[Model], Model]) -> Callable[[Model], Model]:
        """Wrap an edit so that loops close again with locked bodies in place."""

        def kept(model: Model) -> Model:
            as_held = self._held(model)
            return released(edit(as_held), model, as_held)

        return kept if self.locked else edit

    def lock(self, body: str, on: bool) -> None:
        """Lock a body in its present pose, or unlock it."""
        self.cancel()
        locked = self.locked | {body} if on else self.locked - {body}
        if locked != self.locked:
            self._push(dataclasses.replace(self.state, locked=locked, label=f"{'Lock' if on else 'Unlock'} {body}"))

    def restore_locks(self, bodies: Iterable[str]) -> None:
        """Restore the locks saved with the document when it is opened."""
        locked = frozenset(name for name in bodies if is_present(self.model, Ref("bodies", name)))
        old, new = self.state, dataclasses.replace(self.state, locked=locked)
        if new.locked != old.locked:
            self._history = dataclasses.replace(self._history, now=new)
            self.changed.emit(old, new)

    def _locked_part_moved(self, q: Array, p: Mapping[str, float]) -> str:
        """Return the locked part that a pose of this machine would move; "" if none."""
        if not self.locked:
            return ""
        standing = places(self.mech, self._shown.edited, self._shown.values, self.locked)
        return first_moved_part(standing, places(self.mech, q, p, self.locked), {name: name for name in self.locked})

    def _state_keeping_locks(self, old: State, new: State, mech: Mechanism) -> State:
        """Return the new state with the locks under their present names; raises ModelError if it would move a locked
        part."""
        if not old.locked or new.locked != old.locked:
            return new
        names = names_after_edit(old.model, new.model, old.locked)
        before = places(self.mech, self.edited_pose, self._shown.values, old.locked)
        values = new.model.values()
        after = places(
            mech, posed_coordinates(mech, new.pose), {name: values[name] for name in mech.p_names}, names.values()
        )
        if moved := first_moved_part(before, after, names):
            raise stays(moved)
        return dataclasses.replace(new, locked=frozenset(names.values()))

    def follow(
        self,
        q: Array | None,
        parameters: Mapping[str, float] | None = None,
        x: Mapping[str, float] | None = None,
        words: str = "",
    ) -> None:
        """Show the pose of a run (with parameters and states of force elements) beneath any preview, editing nothing;
        None: the edited pose. A commit keeps the pose shown. `words` describe the moment."""
        if q is None and not self.following:
            return
        before = self.following, self.p
        run = None if q is None else PoseMoment(np.array(q, dtype=float), dict(parameters or {}), dict(x or {}), words)
        self._shown = self._shown.following(run)
        if self.previewing and before == (self.following, self.p):  # what is previewed hides it
            return
        self.moved.emit()

    def keep_pose(self) -> None:
        """Make the pose of the run shown the edited one."""
        if self._shown.run is not None:
            self.pose("Use the pose of the run", self._shown.run.q)

    def commit(self, label: str) -> None:
        """Turn the preview into one undoable state."""
        preview, model = self._shown.preview, self.model
        if preview is None:
            return
        try:
            for name, value in preview.p.items():
                if value != model.expanded.find("parameters", name).value:
                    model = edits.change(model, "parameters", name, value=value)
        except KinetostatError as error:
            self.cancel()
            self.message.emit("error", str(error))
            return
        pose = pose_of(self.mech, preview.q)
        if model is not self.model:  # the rest pose may be another one now: what is seen stays
            pose = dict(zip(self.mech.q_names, preview.q.tolist(), strict=True))
        elif pose == self.state.pose:
            self._shown = self._shown.following(None)  # that of a run gives way to it
            self.cancel()
            return
        self._push(dataclasses.replace(self.state, model=model, pose=pose, label=label))

    def cancel(self) -> None:
        """Drop the preview."""
        if self.previewing:
            self._shown = self._shown.settled()
            self.moved.emit()

    # ------------------------------------------------------------------------------- editing

    def apply(
        self,
        label: str,
        edit: Callable[[Model], Model],
        *,
        gesture: object = None,
        select: Ref | None = None,
        pose: Mapping[str, float] | None = None,
    ) -> bool:
        """Commit an edit; returns True on success. A KinetostatError becomes a message.

        Edits of one `gesture` (the same object, e.g. a run of wheel steps) become one undo step.
        `select` moves the selection along, e.g. to an element that is added or renamed by the edit. `pose`: coordinates
        by name that are not at rest afterwards, also such that leave loops open; else bodies stay where they are.
        """
        self.cancel()
        try:
            model = edit(self.model)
            if model is not self.model:
                new = dataclasses.replace(self.state, model=model, label=label)
                new = new if pose is None else dataclasses.replace(new, pose=pose)
                self._push(new, gesture, select, carry=pose is None)
                return self.model is model
        except KinetostatError as error:
            self.message.emit("error", str(error))
            return False
        return True

    def pose(self, label: str, q: Array) -> None:
        """Commit a pose."""
        self.preview(q=q)
        self.commit(label)

    def reset_pose(self) -> None:
        """Return to the reference configuration."""
        self.pose("Reset to rest", self._rest)

    def perform(self, label: str, step: Step) -> None:
        """Perform an undoable action outside the model, such as deleting a run."""
        self.cancel()
        step.do()
        self._show(self._history.pushed(dataclasses.replace(self.state, label=label, step=step), self.selection))

    def undo(self) -> None:
        """Return to the previous state."""
        self.cancel()
        left = self.state
        if self._history.before and self._show(self._history.undone(self.selection)) and left.step is not None:
            left.step.undo()

    def redo(self) -> None:
        """Repeat the step undone last."""
        self.cancel()
        if self._history.after and self._show(self._history.redone(self.selection)) and self.state.step is not None:
            self.state.step.do()

    @property
    def undo_label(self) -> str:
        """Name of the step that undo would revert; '' if none."""
        return self._history.undo_label

    @property
    def redo_label(self) -> str:
        """Name of the step that redo would repeat; '' if none."""
        return self._history.redo_label

    # ------------------------------------------------------------------------------- files

    def open(self, path: str | Path) -> bool:
        """Open a file of any supported format. On failure a message is shown and the present document stays open."""
        path = Path(path)
        try:
            reading = read(path)
        except KinetostatError as error:
            self.message.emit("error", str(error))
            return False
        native = path if path.suffix == ".kst" else None
        return self.start(reading.model, native, findings=reading.findings, sources=Sources.now(path, reading.model))

    def start(
        self,
        model: Model,
        path: Path | None = None,
        *,
        findings: tuple[Finding, ...] = (),
        mech: Mechanism | None = None,
        sources: Sources = NOWHERE,
        pose: Mapping[str, float] | None = None,
        filed: bool = True,
    ) -> bool:
        """Start with a new model (and its mechanism, if already made) and an empty undo history. `sources`:
        fingerprints of the files it was read from; `pose`: coordinates that differ from the reference configuration, by
        name; not `filed`: recovered work, which no file holds."""
        before = self.path, self.findings, self.sources
        self.path, self.findings, self.sources = path, tuple(findings), sources
        history = History.opened(model, closed_pose(mech, pose) if pose and mech is not None else None)
        if not self._show(history, mech=mech, anew=True):
            self.path, self.findings, self.sources = before
            return False
        if not filed:
            self.unfile()
        return True

    def unfile(self) -> None:
        """Mark the document as unsaved, since no file holds it any longer."""
        self._history = dataclasses.replace(self._history, saved=None)
        self.saved_changed.emit()

    def take_over(
        self,
        model: Model,
        *,
        label: str = TAKEN_OVER,
        findings: tuple[Finding, ...] = (),
        mech: Mechanism | None = None,
        sources: Sources = NOWHERE,
    ) -> bool:
        """Replace the model by the file's new content as one undo step."""
        self.cancel()
        locked = frozenset(names_after_edit(self.model, model, self.locked).values())
        new = dataclasses.replace(self.state, model=model, label=label, selection=None, locked=locked, step=None)
        other = sources is not NOWHERE and sources.files[1:] != self.sources.files[1:]  # meshes, tables: same model
        if (other or model != self.model) and not self._show(
            self._history.pushed(new, self.selection), mech=mech, carry=True
        ):
            return False
        self.findings, self.sources = tuple(findings), sources
        self._history = dataclasses.replace(self._history, saved=self.model)
        self.saved_changed.emit()
        return True

    def save(self, path: str | Path, *, over: bool = False, backup: bool = False) -> bool:
        """Write the document (atomically) in the format given by the suffix; `backup` keeps the version before as
        name.kst~.

        A file that another program has changed meanwhile is left as it is, and that is told, unless `over`.
        """
        path = Path(path)
        try:
            done = save_document(self.model, path, self.sources, over=over, backup=backup)
        except KinetostatError as error:
            self.message.emit("error", str(error))
            return False
        if done.whole:
            self.path = path
            self._history = dataclasses.replace(self._history, saved=self.model)
            self.sources = Sources.now(path, self.model)
        self.saved_changed.emit()
        self.message.emit(done.severity, done.words)
        return True

    @property
    def folder(self) -> Path | None:
        """The folder of the document's file, or of the file it was read from; None if there is none, or for
        an example."""
        source = self.path or Path(self.model.origin)
        return None if source == Path() or is_example(source) else source.parent

    @property
    def unsaved(self) -> bool:
        """True if the model differs from the one last opened or saved."""
        return self._history.unsaved

    @property
    def edits(self) -> int:
        """The number of edits since the document was last opened or saved."""
        return self._history.edits

    # ------------------------------------------------------------------------------- selection

    def select(self, ref: Ref | None) -> None:
        """Select an element (None: nothing). A missing element cannot be selected."""
        if not is_present(self.model, ref):
            ref = None
        if ref != self.selection:
            self.selection = ref
            self.selected.emit(ref)
            if ref not in self.pointed_out_refs:
                self.point_out(())

    def point_at(self, ref: Ref | None) -> None:
        """Set the element under the pointer (None: nothing)."""
        if ref != self.hover:
            self.hover = ref
            self.hovered.emit(ref)

    def point_out(self, refs: Iterable[Ref]) -> None:
        """Highlight elements that a text refers to (none: nothing); missing elements are left out."""
        known = tuple(ref for ref in refs if is_present(self.model, ref))
        if known != self.pointed_out_refs:
            self.pointed_out_refs = known
            self.pointed_out.emit(known)

    # ------------------------------------------------------------------------------- inside

    def _push(self, new: State, gesture: object = None, select: Ref | None = None, *, carry: bool = True) -> None:
        new = dataclasses.replace(new, selection=select, step=None)
        self._show(self._history.pushed(new, self.selection, gesture), select=select, carry=carry, guarded=True)

    def _show(
        self,
        history: History,
        *,
        mech: Mechanism | None = None,
        anew: bool = False,
        select: Ref | None = None,
        carry: bool = False,
        guarded: bool = False,
    ) -> bool:
        """Make the present state of a history the open one: mechanism, pose, selection, signals. guarded : return False
        and change nothing if a locked part would move"""
        old, new = self.state, history.now
        try:
            if mech is None:
                mech = self.mech if new.model is old.model else Mechanism.to_show(new.model)
            rest = np.array(mech.rest(), dtype=float)
            new = carried_state(old, self.mech, self.edited_pose, new, mech) if carry else new
            new = self._state_keeping_locks(old, new, mech) if guarded else new
        except KinetostatError as error:
            self.cancel()
            self.message.emit("error", str(error))
            return False
        self._history = dataclasses.replace(history, now=new)
        self.mech, self._rest = mech, rest
        self._shown = self._committed_pose()
        if anew:
            self.document += 1
            self.runs.clear()
        kept = select or self.selection
        kept = kept if is_present(new.model, kept) else new.selection
        gone, self.selection = self.selection, None if anew or not is_present(new.model, kept) else kept
        self.changed.emit(old, new)
        if self.selection != gone:
            self.selected.emit(self.selection)
        self.point_out(self.pointed_out_refs)
        self.saved_changed.emit()
        self.moved.emit()
        return True

    def _committed_pose(self) -> ShownPose:
        """Return the pose and parameters as committed, without run or preview."""
        values = self.model.values()
        return ShownPose(
            posed_coordinates(self.mech, self.state.pose), {name: values[name] for name in self.mech.p_names}
        )
