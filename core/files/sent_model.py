"""A model on its way to another process of the program."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, NamedTuple

from core.files.formats import dumps, loads
from core.kinds import for_other_processes, register
from core.model.unknown_kinds import own_kinds_of

if TYPE_CHECKING:
    from core.model import Model


class SentModel(NamedTuple):
    """text, origin : of the document, and its path; kinds : pickled, those that people have added and it names."""

    text: str
    origin: str
    kinds: bytes

    @classmethod
    def of(cls, model: Model) -> SentModel:
        """Of a model. Raises KindError where it has a kind that another process cannot know (made in the console)."""
        return cls.text_of(model)._replace(kinds=pickle.dumps(for_other_processes(own_kinds_of(model.expanded))))

    @classmethod
    def text_of(cls, model: Model) -> SentModel:
        """Of a model that is read here again."""
        return cls(dumps(model), str(getattr(model, "origin", "") or ""), pickle.dumps(()))

    def read(self) -> Model:
        """The model. Raises KinetostatError."""
        for kind in pickle.loads(self.kinds):
            register(kind)
        return loads(self.text, origin=self.origin)
