"""Transfer of a model, with its user-defined kinds, to another process of the program."""

from __future__ import annotations

import os
import pickle
import platform
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from core.files.followed_files import content_fingerprints
from core.files.formats import dumps, reload_model, with_left_out_content
from core.kinds import KindError, check_importable_kinds, register
from core.model.model import used_user_kinds

if TYPE_CHECKING:
    from core.model import Model


NO_KINDS = pickle.dumps(((), pickle.dumps(())))


def absolute_path(document: str) -> str:
    """Return the absolute path of a document, for a process with another working folder; "" for an unsaved one."""
    return os.path.abspath(document) if document else ""


class PackedModel(NamedTuple):
    """Model as text, with the data that another process needs to read it.

    origin, left_out : see Model; kinds : pickled, those that users have added and it names; contents : of the files
    that it names, so that a machine of older ones is not taken for it
    """

    text: str
    origin: str
    kinds: bytes
    left_out: tuple[str, ...] = ()
    contents: tuple[str, ...] = ()

    @classmethod
    def of(cls, model: Model) -> PackedModel:
        """Pack a model with its user-defined kinds. Raises KindError for a kind that another process cannot import
        (defined in the console)."""
        return cls.pack_without_kinds(model)._replace(kinds=pack_kinds(model))

    @classmethod
    def pack_without_kinds(cls, model: Model) -> PackedModel:
        """Pack a model without its user-defined kinds, for reading again in the same process."""
        origin = absolute_path(str(getattr(model, "origin", "") or ""))
        return cls(dumps(model), origin, NO_KINDS, model.left_out, content_fingerprints(model))

    def read(self) -> Model:
        """Return the model. Raises KinetostatError."""
        register_packed_kinds(self.kinds)
        return with_left_out_content(reload_model(self.text, self.origin), self.left_out)


def pack_kinds(model: Model) -> bytes:
    """Pack the user-defined kinds that a model uses, for another process. Raises KindError for a kind it cannot import
    (defined in the console)."""
    return pickle_kinds(check_importable_kinds(used_user_kinds(model.expanded)))


def pickle_kinds(kinds: Iterable[type[Any]]) -> bytes:
    """Pickle user-defined kinds together with the folders from which their modules are imported."""
    handed = tuple(kinds)
    folders = dict.fromkeys(filter(None, map(_import_folder, handed)))
    return pickle.dumps((tuple(folders), pickle.dumps(handed)))


def _import_folder(kind: type[Any]) -> str:
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    if not file:
        return ""
    path = Path(file).resolve()
    depth = kind.__module__.count(".") + (path.stem == "__init__")
    return str(path.parents[depth])


def register_packed_kinds(kinds: bytes) -> None:
    """Register packed kinds in this process. Raises KindError if a module is missing here."""
    try:
        folders, content = pickle.loads(kinds)
        for folder in folders:  # behind all others: what lies there stands in for no library
            if folder not in sys.path and os.path.isdir(folder):
                sys.path.append(folder)
        found = pickle.loads(content)
    except (ImportError, AttributeError) as error:
        raise KindError(
            f"A user-defined kind of the machine cannot be imported on {platform.node() or 'the other computer'}: "
            f"{error}.",
            remedy="Install its module there, too, or compute on this computer.",
        ) from None
    for kind in found:
        register(kind)
