"""The undo and redo states of a document, and the state saved in its file. Independent of Qt.

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
    """The present state of a document, with the states before and after it."""

    now: State
    saved: Model | None = None
    """The model as last opened or saved; None if it is in no file."""
    before: tuple[State, ...] = ()
    """States that undo returns to, the nearest last."""
    after: tuple[State, ...] = ()
    """States that redo returns to, the nearest last."""
    gesture: object = None
    """The gesture that made the present state and may continue it (such as wheel steps): compared by identity."""

    @classmethod
    def opened(cls, model: Model, pose: Mapping[str, float] | None = None) -> History:
        """Return the history of a document just opened or started, in the reference configuration or another pose."""
        return cls(State(model, pose) if pose else State(model), saved=model)

    def pushed(self, new: State, left: Ref | None, gesture: object = None) -> History:
        """Return the history after a step to a new state; `left`: the selection before. Steps of one gesture are merged
        into one."""
        goes_on = gesture is not None and gesture is self.gesture
        before = self.before if goes_on else (*self.before, self._state_left(left))
        return History(new, self.saved, before, (), gesture)

    def undone(self, left: Ref | None) -> History:
        """Return the history one step back (unchanged if there is none); `left`: the present selection."""
        if not self.before:
            return self
        *before, now = self.before
        return History(now, self.saved, tuple(before), (*self.after, self._state_left(left)))

    def redone(self, left: Ref | None) -> History:
        """Return the history one step forward (unchanged if there is none); `left`: the present selection."""
        if not self.after:
            return self
        *after, now = self.after
        return History(now, self.saved, (*self.before, self._state_left(left)), tuple(after))

    def _state_left(self, selection: Ref | None) -> State:
        return replace(self.now, selection=selection)

    @property
    def unsaved(self) -> bool:
        """True if the model differs from the one last opened or saved."""
        return self.now.model is not self.saved and self.now.model != self.saved

    @property
    def edits(self) -> int:
        """The number of edits between the saved state and the present one."""
        if not self.unsaved:
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
