"""A model on its way to another process of the program, and the kinds that people have added for it."""

from __future__ import annotations

import pickle
import platform
from typing import TYPE_CHECKING, NamedTuple

from core.files.contents import contents_of
from core.files.formats import dumps, lacking, loaded_again
from core.kinds import KindError, for_other_processes, register
from core.model.unknown_kinds import own_kinds_of

if TYPE_CHECKING:
    from core.model import Model


class SentModel(NamedTuple):
    """A document as text.

    origin, left_out : see Model; kinds : pickled, those that users have added and it names; contents : of the files
    that it names, so that a machine of older ones is not taken for it
    """

    text: str
    origin: str
    kinds: bytes
    left_out: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Model) -> SentModel:
        """Of a model. Raises KindError where it has a kind that another process cannot know (made in the console)."""
        return cls.text_of(model)._replace(kinds=packed_kinds(model))

    @classmethod
    def text_of(cls, model: Model) -> SentModel:
        """Of a model that is read here again."""
        return cls(
            dumps(model), str(getattr(model, "origin", "") or ""), pickle.dumps(()), model.left_out, contents_of(model)
        )

    def read(self) -> Model:
        """The model. Raises KinetostatError."""
        register_packed(self.kinds)
        return lacking(loaded_again(self.text, self.origin), self.left_out)


def packed_kinds(model: Model) -> bytes:
    """The kinds that people have added and a model names, for another process. Raises KindError where it cannot know
    one (made in the console)."""
    return pickle.dumps(for_other_processes(own_kinds_of(model.expanded)))


def register_packed(kinds: bytes) -> None:
    """Register them there. Raises KindError for one whose module is not there."""
    try:
        found = pickle.loads(kinds)
    except (ImportError, AttributeError) as error:
        raise KindError(
            f"A kind of the machine cannot be imported by {platform.node() or 'the other computer'}: {error}.",
            remedy="Install its module there, too, or compute on this computer.",
        ) from None
    for kind in found:
        register(kind)
