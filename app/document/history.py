"""The states of a document that undo and redo go through, and what its file holds. Knows no Qt.

Immutable: each verb returns another history, so that a step that fails is dropped by keeping the old one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from app.document.revision import Ref, State
from core.later import dataclass
from core.model import Model


@dataclass(frozen=True)
class History:
    """The present state between those before and after it."""

    now: State
    saved: Model | None = None
    """The model as last opened or saved; None: it is in no file."""
    before: tuple[State, ...] = ()
    """What undo goes back to, the nearest last."""
    after: tuple[State, ...] = ()
    """What redo goes forward to, the nearest last."""
    gesture: object = None
    """What made the present state, if it may go on (a run of wheel steps): compared by identity."""

    @classmethod
    def opened(cls, model: Model, pose: Mapping[str, float] | None = None) -> History:
        """Of a document that was just opened or begun, at rest or in a pose."""
        return cls(State(model, pose) if pose else State(model), saved=model)

    def pushed(self, new: State, left: Ref | None, gesture: object = None) -> History:
        """After a step to another state; `left`: what was selected before. Steps of one gesture are one step."""
        goes_on = gesture is not None and gesture is self.gesture
        before = self.before if goes_on else (*self.before, self._left(left))
        return History(new, self.saved, before, (), gesture)

    def undone(self, left: Ref | None) -> History:
        """One step back (itself, if there is none); `left`: what is selected now."""
        if not self.before:
            return self
        *before, now = self.before
        return History(now, self.saved, tuple(before), (*self.after, self._left(left)))

    def redone(self, left: Ref | None) -> History:
        """One step forward (itself, if there is none); `left`: what is selected now."""
        if not self.after:
            return self
        *after, now = self.after
        return History(now, self.saved, (*self.before, self._left(left)), tuple(after))

    def _left(self, selection: Ref | None) -> State:
        return replace(self.now, selection=selection)

    @property
    def unsaved(self) -> bool:
        """True when the model differs from what was last opened or saved."""
        return self.now.model is not self.saved and self.now.model != self.saved

    @property
    def edits(self) -> int:
        """How many steps of the document lie between what is saved and the present."""
        if not self.unsaved:
            return 0
        models = [*(state.model for state in self.before), self.now.model]
        begun = next((k for k in reversed(range(len(models))) if models[k] is self.saved), 0)
        steps = zip(models[begun:], models[begun + 1 :], strict=False)
        return max(1, sum(one is not other for one, other in steps))

    @property
    def undo_label(self) -> str:
        """What undo would take back; '' if nothing."""
        return self.now.label if self.before else ""

    @property
    def redo_label(self) -> str:
        """What redo would do again; '' if nothing."""
        return self.after[-1].label if self.after else ""
