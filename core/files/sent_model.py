"""A model on its way to another process of the program, and the kinds that people have added for it."""

from __future__ import annotations

import os
import pickle
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.files.contents import contents_of
from core.files.formats import dumps, lacking, loaded_again
from core.kinds import KindError, for_other_processes, register
from core.model.unknown_kinds import own_kinds_of

if TYPE_CHECKING:
    from core.model import Model


NO_KINDS = pickle.dumps(((), pickle.dumps(())))


def absolute(origin: str) -> str:
    """The path of a document for a process that has another working folder; '' stays ''."""
    return os.path.abspath(origin) if origin else ""


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
        origin = absolute(str(getattr(model, "origin", "") or ""))
        return cls(dumps(model), origin, NO_KINDS, model.left_out, contents_of(model))

    def read(self) -> Model:
        """The model. Raises KinetostatError."""
        register_packed(self.kinds)
        return lacking(loaded_again(self.text, self.origin), self.left_out)


def packed_kinds(model: Model) -> bytes:
    """The kinds that people have added and a model names, for another process. Raises KindError where it cannot know
    one (made in the console)."""
    return packed(for_other_processes(own_kinds_of(model.expanded)))


def packed(kinds: Iterable[type[Any]]) -> bytes:
    """Kinds, with the folders that their modules are imported from."""
    handed = tuple(kinds)
    folders = dict.fromkeys(filter(None, map(_folder, handed)))
    return pickle.dumps((tuple(folders), pickle.dumps(handed)))


def _folder(kind: type[Any]) -> str:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not file:
        return ""
    path = Path(file).resolve()
    depth = kind.__module__.count(".") + (path.stem == "__init__")
    return str(path.parents[depth])


def register_packed(kinds: bytes) -> None:
    """Register them there. Raises KindError for one whose module is not there."""
    try:
        folders, content = pickle.loads(kinds)
        for folder in folders:  # behind all others: what lies there stands in for no library
            if folder not in sys.path and os.path.isdir(folder):
                sys.path.append(folder)
        found = pickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise KindError(
            f"A kind of the machine cannot be imported by {platform.node() or 'the other computer'}: {error}.",
            remedy="Install its module there, too, or compute on this computer.",
        ) from None
    for kind in found:
        register(kind)
