"""The session: the open document, its pose, the selection, and undo. Independent of Qt.

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
from app.document.kept.seen_files import SourceFingerprints, save_document
from app.document.locks import (
    first_moved_part,
    fix_bodies_to_ground,
    locked_part_error,
    locked_part_poses,
    names_after_edit,
    remove_fixing_joints,
)
from app.document.revision import (
    DocumentState,
    ElementRef,
    RunPoseMoment,
    ShownPose,
    UndoableAction,
    UndoHistory,
    adapt_pose_to_machine,
    carry_pose_to_state,
    coordinates_of_pose,
    is_present,
    pose_from_coordinates,
)
from app.document.run_tree import RunTree
from core.errors import KinetostatError
from core.files import TrustedFile, read
from core.functions.context import Context
from core.mechanism import Mechanism
from core.model import Finding, Model
from core.model.edits import edits
from resources import is_example

Array = NDArray[np.float64]
NOWHERE = SourceFingerprints()
TAKEN_OVER = "Changed outside"
"""Undo label for a reload after another program has changed the file."""


class Session:
    """The open document with pose, selection, undo and previews, as shown and edited in the window."""

    changed = Signal(DocumentState, DocumentState)
    """Emitted with (old state, new state) after a commit, undo, redo or a newly opened document."""
    moved = Signal()
    """Emitted when the pose `q` or the parameter values `p` change, during previews and after every change."""
    selected = Signal(object)
    """Emitted with the new selection: a reference or None."""
    hovered = Signal(object)
    """Emitted with the element under the pointer: a reference or None."""
    pointed_out = Signal(object)
    """Emitted with the elements to highlight because text under the pointer, such as a finding, refers to them: a tuple
    of references."""
    grounded = Signal()
    """Emitted when the ground's row is clicked while elements are being chosen by name; nothing is selected then."""
    saved_changed = Signal()
    """Emitted when the file path or the unsaved mark changes."""
    message = Signal(str, str)
    """Emitted with (severity, text), a message to the user; severity is error, warning, hint or done."""
    produced = Signal(object)
    """Emitted with a result of a function (core.functions.results), for all panels that can show it."""
    shown_again = Signal(object, object)
    """Emitted with a result and its sequence of poses (core.functions.results) that the scene is to show."""
    mapped = Signal(object)
    """Emitted with a map to be shown in the scene: an `app.viewport.map_layer.ShownMap` or None."""
    framed = Signal(object)
    """Emitted with a table whose frames the scene is to show, or None."""

    def __init__(self, model: Model | None = None) -> None:
        self._history = UndoHistory.for_new_document(model or Model(name="untitled"))
        self.mech = Mechanism.to_show(self.model)
        self.path: Path | None = None
        self.findings: tuple[Finding, ...] = ()
        """Findings of the reader of the open file."""
        self.sources: SourceFingerprints = NOWHERE
        """Fingerprints of the open file and the files it includes, when last read or written."""
        self.trusted: frozenset[TrustedFile] = frozenset()
        """Files of the open document whose code the user allowed to run."""
        self.document = 0
        """Number of documents opened so far; a different number means another document."""
        self.runs = RunTree()
        """Runs of the machine, and the playhead."""
        self.selection: ElementRef | None = None
        self.hover: ElementRef | None = None
        self.pointed_out_refs: tuple[ElementRef, ...] = ()
        self._rest = np.array(self.mech.rest(), dtype=float)
        self._shown = self._committed_pose()
        self._hands: tuple[DocumentState, Mechanism] | None = None

    # ------------------------------------------------------------------------------- reading

    @property
    def state(self) -> DocumentState:
        """The committed state of the document."""
        return self._history.now

    @property
    def model(self) -> Model:
        """The committed model."""
        return self._history.now.model

    @property
    def q(self) -> Array:
        """Joint coordinates (nq,) as shown, including previews. Treat as read-only."""
        return self._shown.q

    @property
    def p(self) -> Mapping[str, float]:
        """Values of the independent parameters as shown, including previews (pass them as `p=`)."""
        return self._shown.p

    @property
    def x(self) -> Mapping[str, float]:
        """States of force elements by name, of the run that is shown; empty if no run is shown."""
        return self._shown.x

    @property
    def t(self) -> float:
        """Time of the pose shown, s: that of the playhead for a run, otherwise 0."""
        return self.runs.time if self.shows_run_pose and not self.has_preview else 0.0

    @property
    def reference_configuration(self) -> Array:
        """The reference configuration (nq,) of the model. Treat as read-only."""
        return self._rest

    @property
    def edited_pose(self) -> Array:
        """The committed pose (nq,), regardless of the pose shown. Treat as read-only."""
        return self._shown.edited

    @property
    def edited_parameters(self) -> Mapping[str, float]:
        """Values of the independent parameters of the document, including previews but not those of a run."""
        return self._shown.edited_values

    @property
    def has_preview(self) -> bool:
        """True from the first preview until it is committed or cancelled."""
        return self._shown.preview is not None

    @property
    def shows_run_pose(self) -> bool:
        """True while the pose of a run is shown instead of the edited one."""
        return self._shown.run is not None

    def context(self) -> Context:
        """Return the machine as currently shown, for functions."""
        return Context(
            self.model,
            self.mech,
            self.q.copy(),
            dict(self.p),
            t=self.t,
            document=self.document,
            moment=self._shown.moment_description,
        )

    # ------------------------------------------------------------------------------- previews

    def preview(self, q: Array | None = None, parameters: Mapping[str, float] | None = None) -> None:
        """Show a pose or parameter values without committing them. Loops and constraints are closed when parameters
        change; a preview that would move a locked body is not shown."""
        shown = self._shown.with_preview(q, parameters or {})
        if q is None and self.mech_with_locks.constrained:
            shown = shown.with_preview(self.mech_with_locks.move(shown.q, {}, p=shown.p))
        if not self._find_moved_locked_part(shown.q, shown.edited_values):
            self._shown = shown
        self.moved.emit()

    def preview_coordinates(self, values: Mapping[str, float]) -> None:
        """Show the pose in which the named coordinates have these values, as far as limits, couplings and loops allow;
        locked bodies stay if possible, otherwise nothing moves. Where two branches meet, either may be followed, since
        the user sees which one."""
        from core.constraints.named_positions import move_to_values

        self.preview(q=move_to_values(self.mech_with_locks.compiled, self.q, values, self.p, refuse_undecided=False))

    # ------------------------------------------------------------------------------- locks

    @property
    def locked_bodies(self) -> frozenset[str]:
        """Bodies that stay in place while the user drags, draws, connects and edits."""
        return self.state.locked

    @property
    def mech_with_locks(self) -> Mechanism:
        """Mechanism that the user can move: with locked bodies fixed in place."""
        if not self.locked_bodies:
            return self.mech
        if self._hands is None or self._hands[0] is not self.state:
            self._hands = self.state, Mechanism(self._with_locked_bodies_fixed(self.model))
        return self._hands[1]

    def _with_locked_bodies_fixed(self, model: Model) -> Model:
        return fix_bodies_to_ground(model, self.mech, self.poses_of_locked_bodies)

    @property
    def poses_of_locked_bodies(self) -> dict[str, Array]:
        """Poses (4, 4) of locked bodies, by name."""
        X = self.mech.frame
        return {
            name: np.asarray(X(self.edited_pose, name, p=self._shown.values)) for name in sorted(self.locked_bodies)
        }

    def edit_keeping_locks(self, edit: Callable[[Model], Model]) -> Callable[[Model], Model]:
        """Wrap an edit so that loops close again while locked bodies stay in place."""

        def edit_with_locks(model: Model) -> Model:
            as_held = self._with_locked_bodies_fixed(model)
            return remove_fixing_joints(edit(as_held), model, as_held)

        return edit_with_locks if self.locked_bodies else edit

    def set_locked(self, body: str, lock: bool) -> None:
        """Lock a body in its present pose, or unlock it."""
        self.cancel_preview()
        locked = self.locked_bodies | {body} if lock else self.locked_bodies - {body}
        if locked != self.locked_bodies:
            self._push_state(
                dataclasses.replace(self.state, locked=locked, label=f"{'Lock' if lock else 'Unlock'} {body}")
            )

    def restore_locks(self, bodies: Iterable[str]) -> None:
        """Restore the locks saved with the document when it is opened."""
        locked = frozenset(name for name in bodies if is_present(self.model, ElementRef("bodies", name)))
        old, new = self.state, dataclasses.replace(self.state, locked=locked)
        if new.locked != old.locked:
            self._history = dataclasses.replace(self._history, now=new)
            self.changed.emit(old, new)

    def _find_moved_locked_part(self, q: Array, p: Mapping[str, float]) -> str:
        """Return the locked body that a pose of this machine would move; "" if none."""
        if not self.locked_bodies:
            return ""
        standing = locked_part_poses(self.mech, self._shown.edited, self._shown.values, self.locked_bodies)
        return first_moved_part(
            standing,
            locked_part_poses(self.mech, q, p, self.locked_bodies),
            {name: name for name in self.locked_bodies},
        )

    def _state_keeping_locks(self, old: DocumentState, new: DocumentState, mech: Mechanism) -> DocumentState:
        """Return the new state with the locks under their present names; raises ModelError if it would move a locked
        body."""
        if not old.locked or new.locked != old.locked:
            return new
        names = names_after_edit(old.model, new.model, old.locked)
        before = locked_part_poses(self.mech, self.edited_pose, self._shown.values, old.locked)
        values = new.model.values()
        after = locked_part_poses(
            mech, coordinates_of_pose(mech, new.pose), {name: values[name] for name in mech.p_names}, names.values()
        )
        if moved := first_moved_part(before, after, names):
            raise locked_part_error(moved)
        return dataclasses.replace(new, locked=frozenset(names.values()))

    def show_run_pose(
        self,
        q: Array | None,
        parameters: Mapping[str, float] | None = None,
        x: Mapping[str, float] | None = None,
        description: str = "",
    ) -> None:
        """Show the pose of a run (with parameters and states of force elements) below any preview, without editing the
        document; None: show the edited pose. A commit keeps the pose shown. `description` describes the moment."""
        if q is None and not self.shows_run_pose:
            return
        before = self.shows_run_pose, self.p
        run = (
            None
            if q is None
            else RunPoseMoment(np.array(q, dtype=float), dict(parameters or {}), dict(x or {}), description)
        )
        self._shown = self._shown.with_run_moment(run)
        if self.has_preview and before == (self.shows_run_pose, self.p):  # what is previewed hides it
            return
        self.moved.emit()

    def adopt_run_pose(self) -> None:
        """Commit the pose of the run that is shown as the edited pose."""
        if self._shown.run is not None:
            self.pose("Use the pose of the run", self._shown.run.q)

    def commit(self, label: str) -> None:
        """Commit the preview as one undo step."""
        preview, model = self._shown.preview, self.model
        if preview is None:
            return
        try:
            for name, value in preview.p.items():
                if value != model.expanded.find("parameters", name).value:
                    model = edits.change(model, "parameters", name, value=value)
        except KinetostatError as error:
            self.cancel_preview()
            self.message.emit("error", str(error))
            return
        pose = pose_from_coordinates(self.mech, preview.q)
        if model is not self.model:  # the rest pose may be another one now: what is seen stays
            pose = dict(zip(self.mech.q_names, preview.q.tolist(), strict=True))
        elif pose == self.state.pose:
            self._shown = self._shown.with_run_moment(None)  # that of a run gives way to it
            self.cancel_preview()
            return
        self._push_state(dataclasses.replace(self.state, model=model, pose=pose, label=label))

    def cancel_preview(self) -> None:
        """Discard the preview."""
        if self.has_preview:
            self._shown = self._shown.without_preview()
            self.moved.emit()

    # ------------------------------------------------------------------------------- editing

    def apply(
        self,
        label: str,
        edit: Callable[[Model], Model],
        *,
        gesture: object = None,
        select: ElementRef | None = None,
        pose: Mapping[str, float] | None = None,
    ) -> bool:
        """Commit an edit; returns True on success. A KinetostatError is shown as a message.

        Edits of one `gesture` (the same object, e.g. a run of wheel steps) become one undo step.
        `select` moves the selection along, e.g. to an element that is added or renamed by the edit. `pose`: coordinates
        by name that are not at rest afterwards, also such that leave loops open; else bodies stay where they are.
        """
        self.cancel_preview()
        try:
            model = edit(self.model)
            if model is not self.model:
                new = dataclasses.replace(self.state, model=model, label=label)
                new = new if pose is None else dataclasses.replace(new, pose=pose)
                self._push_state(new, gesture, select, carry_pose=pose is None)
                return self.model is model
        except KinetostatError as error:
            self.message.emit("error", str(error))
            return False
        return True

    def pose(self, label: str, q: Array) -> None:
        """Commit a pose as one undo step."""
        self.preview(q=q)
        self.commit(label)

    def reset_pose(self) -> None:
        """Return to the reference configuration."""
        self.pose("Reset to the reference configuration", self._rest)

    def perform(self, label: str, action: UndoableAction) -> None:
        """Perform an undoable action outside the model, such as deleting a run."""
        self.cancel_preview()
        action.do()
        self._show_history(
            self._history.with_new_state(dataclasses.replace(self.state, label=label, step=action), self.selection)
        )

    def undo(self) -> None:
        """Return to the previous state."""
        self.cancel_preview()
        left = self.state
        if (
            self._history.before
            and self._show_history(self._history.after_undo(self.selection))
            and left.step is not None
        ):
            left.step.undo()

    def redo(self) -> None:
        """Repeat the step undone last."""
        self.cancel_preview()
        if (
            self._history.after
            and self._show_history(self._history.after_redo(self.selection))
            and self.state.step is not None
        ):
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
        return self.start_document(
            reading.model, native, findings=reading.findings, sources=SourceFingerprints.take_now(path, reading.model)
        )

    def start_document(
        self,
        model: Model,
        path: Path | None = None,
        *,
        findings: tuple[Finding, ...] = (),
        mech: Mechanism | None = None,
        sources: SourceFingerprints = NOWHERE,
        pose: Mapping[str, float] | None = None,
        has_file: bool = True,
    ) -> bool:
        """Start with a new model (and its mechanism, if already built) and an empty undo history. `sources`:
        fingerprints of the files from which it was read; `pose`: coordinates that differ from the reference
        configuration, by name; `has_file` is False for recovered work that no file holds."""
        before = self.path, self.findings, self.sources
        self.path, self.findings, self.sources = path, tuple(findings), sources
        history = UndoHistory.for_new_document(
            model, adapt_pose_to_machine(mech, pose) if pose and mech is not None else None
        )
        if not self._show_history(history, mech=mech, is_new_document=True):
            self.path, self.findings, self.sources = before
            return False
        if not has_file:
            self.mark_unsaved()
        return True

    def mark_unsaved(self) -> None:
        """Mark the document as unsaved, since no file holds it any longer."""
        self._history = dataclasses.replace(self._history, saved=None)
        self.saved_changed.emit()

    def reload_from_file(
        self,
        model: Model,
        *,
        label: str = TAKEN_OVER,
        findings: tuple[Finding, ...] = (),
        mech: Mechanism | None = None,
        sources: SourceFingerprints = NOWHERE,
    ) -> bool:
        """Replace the model with the new content of its file, as one undo step."""
        self.cancel_preview()
        locked = frozenset(names_after_edit(self.model, model, self.locked_bodies).values())
        new = dataclasses.replace(self.state, model=model, label=label, selection=None, locked=locked, step=None)
        other = sources is not NOWHERE and sources.files[1:] != self.sources.files[1:]  # meshes, tables: same model
        if (other or model != self.model) and not self._show_history(
            self._history.with_new_state(new, self.selection), mech=mech, carry_pose=True
        ):
            return False
        self.findings, self.sources = tuple(findings), sources
        self._history = dataclasses.replace(self._history, saved=self.model)
        self.saved_changed.emit()
        return True

    def save(self, path: str | Path, *, overwrite: bool = False, backup: bool = False) -> bool:
        """Write the document (atomically) in the format given by the suffix; `backup` keeps the previous version as
        name.kst~.

        A file that another program has changed meanwhile is left as it is and reported, unless `overwrite`.
        """
        path = Path(path)
        try:
            done = save_document(self.model, path, self.sources, overwrite=overwrite, backup=backup)
        except KinetostatError as error:
            self.message.emit("error", str(error))
            return False
        if done.whole:
            self.path = path
            self._history = dataclasses.replace(self._history, saved=self.model)
            self.sources = SourceFingerprints.take_now(path, self.model)
        self.saved_changed.emit()
        self.message.emit(done.severity, done.words)
        return True

    @property
    def folder(self) -> Path | None:
        """Folder of the document's file, or of the file from which it was read; None if there is none, or for an
        example."""
        source = self.path or Path(self.model.origin)
        return None if source == Path() or is_example(source) else source.parent

    @property
    def is_unsaved(self) -> bool:
        """True if the model differs from the one last opened or saved."""
        return self._history.is_unsaved

    @property
    def edit_count(self) -> int:
        """The number of edits since the document was last opened or saved."""
        return self._history.edit_count

    # ------------------------------------------------------------------------------- selection

    def select(self, ref: ElementRef | None) -> None:
        """Select an element (None: nothing). A missing element cannot be selected."""
        if not is_present(self.model, ref):
            ref = None
        if ref != self.selection:
            self.selection = ref
            self.selected.emit(ref)
            if ref not in self.pointed_out_refs:
                self.highlight_elements(())

    def set_hovered_element(self, ref: ElementRef | None) -> None:
        """Set the element under the pointer (None: none)."""
        if ref != self.hover:
            self.hover = ref
            self.hovered.emit(ref)

    def highlight_elements(self, refs: Iterable[ElementRef]) -> None:
        """Highlight the elements to which a text refers (empty: none); missing elements are left out."""
        known = tuple(ref for ref in refs if is_present(self.model, ref))
        if known != self.pointed_out_refs:
            self.pointed_out_refs = known
            self.pointed_out.emit(known)

    # ------------------------------------------------------------------------------- inside

    def _push_state(
        self,
        new: DocumentState,
        gesture: object = None,
        selection: ElementRef | None = None,
        *,
        carry_pose: bool = True,
    ) -> None:
        new = dataclasses.replace(new, selection=selection, step=None)
        self._show_history(
            self._history.with_new_state(new, self.selection, gesture),
            select=selection,
            carry_pose=carry_pose,
            check_locks=True,
        )

    def _show_history(
        self,
        history: UndoHistory,
        *,
        mech: Mechanism | None = None,
        is_new_document: bool = False,
        select: ElementRef | None = None,
        carry_pose: bool = False,
        check_locks: bool = False,
    ) -> bool:
        """Make the present state of a history the open one: mechanism, pose, selection, signals. check_locks : return
        False and change nothing if a locked body would move"""
        old, new = self.state, history.now
        try:
            if mech is None:
                mech = self.mech if new.model is old.model else Mechanism.to_show(new.model)
            rest = np.array(mech.rest(), dtype=float)
            new = carry_pose_to_state(old, self.mech, self.edited_pose, new, mech) if carry_pose else new
            new = self._state_keeping_locks(old, new, mech) if check_locks else new
        except KinetostatError as error:
            self.cancel_preview()
            self.message.emit("error", str(error))
            return False
        self._history = dataclasses.replace(history, now=new)
        self.mech, self._rest = mech, rest
        self._shown = self._committed_pose()
        if is_new_document:
            self.document += 1
            self.runs.clear()
        kept = select or self.selection
        kept = kept if is_present(new.model, kept) else new.selection
        gone, self.selection = self.selection, None if is_new_document or not is_present(new.model, kept) else kept
        self.changed.emit(old, new)
        if self.selection != gone:
            self.selected.emit(self.selection)
        self.highlight_elements(self.pointed_out_refs)
        self.saved_changed.emit()
        self.moved.emit()
        return True

    def _committed_pose(self) -> ShownPose:
        """Return the pose and parameters as committed, without run or preview."""
        values = self.model.values()
        return ShownPose(
            coordinates_of_pose(self.mech, self.state.pose), {name: values[name] for name in self.mech.p_names}
        )
