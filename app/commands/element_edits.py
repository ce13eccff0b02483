"""What commands, model tree and menus do with elements: add, ask for, copy. Each is one undo step."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from PySide6.QtWidgets import QWidget

from app.document.connection_draft import at_rest_here, posed, poses
from app.document.session import Ref, Session
from app.widgets.fields.field_dialogs import DraftDialog
from app.widgets.quantities.quantity_text import Units
from core.joints import Revolute
from core.model import WORDS, WORLD, Joint, Model
from core.model.connections import joined
from core.model.edits import edits, starters

ASIDE = 0.1
"""How far a copied or new body stands beside what is there, in m, so that it is seen."""


def is_own(session: Session, ref: Ref | None) -> bool:
    """True for an element of the document itself (not one that a DH chain brings)."""
    return ref is not None and any(e.name == ref.name for e in getattr(session.model, ref.collection, ()))


def holder(session: Session) -> str:
    """The body or frame on which something new is hung: the selected one, a joint's child, a chain's tool,
    else the ground."""
    ref = session.selection
    if ref is None:
        return WORLD
    if ref.collection in ("bodies", "frames"):
        return ref.name
    if ref.collection == "joints":
        return session.model.joint(ref.name).child
    if ref.collection == "chains":
        return f"{session.model.chain(ref.name).prefix}tool"
    return WORLD


def add(session: Session, collection: str, make: Callable[[Model], tuple[Model, str]]) -> bool:
    """Add what `make` makes, as one undo step, and select it."""
    new, name = make(session.model)
    return session.apply(f"Add {WORDS[collection]} {name}", lambda _model: new, select=Ref(collection, name))


def add_link(session: Session, kind: str = Revolute.name) -> bool:
    """Hang a new body on the selection by a joint of a kind."""
    return add(session, "bodies", lambda model: starters.attached_body(model, holder(session), kind))


def ask_joint(session: Session, settings: Units, parent_widget: QWidget, kind: str = Revolute.name) -> DraftDialog:
    """Ask for the two sides of a new joint; it is placed so that nothing moves."""
    model = session.model
    bodies = [body.name for body in model.expanded.bodies]
    parent = holder(session)
    child = next((name for name in reversed(bodies) if name != parent), parent)
    if parent == child:
        parent = WORLD
    draft = starters.connection(model, kind, parent, child)
    fields = ("name", "kind", "parent", "child")
    dialog = DraftDialog(session, settings, "New joint", draft, fields, _placed(session), parent_widget)
    dialog.open()
    return dialog


def _placed(session: Session) -> Callable[[Model, Joint], Model]:
    """Adds a joint with the frame a that coincides with the child's frame as the machine now stands, which becomes
    the rest position of a loop that it closes."""

    def added(model: Model, joint: Joint) -> Model:
        known = poses(session)
        X_WP = known.get(joint.parent, np.eye(4))
        X_WC = known.get(joint.child, np.eye(4))
        X_PC = np.linalg.inv(X_WP) @ X_WC
        new = joined(model, dataclasses.replace(joint, a=posed(X_PC)))
        return at_rest_here(session, new, joint.name)

    return added


def ground(session: Session) -> bool:
    """Fix the selected body to the ground where it now stands."""
    ref = session.selection
    if ref is None or ref.collection != "bodies":
        return False
    joint = starters.connection(session.model, "fixed", WORLD, ref.name)
    placed = _placed(session)
    return session.apply(f"Ground {ref.name}", lambda model: placed(model, joint), select=Ref("joints", joint.name))


def is_locked(session: Session) -> bool:
    """Whether the selected body is locked."""
    ref = session.selection
    return ref is not None and ref.collection == "bodies" and ref.name in session.locked


def toggle_lock(session: Session) -> None:
    """Lock the selected body where it stands, or let it go."""
    ref = session.selection
    if ref is not None and ref.collection == "bodies":
        session.lock(ref.name, not is_locked(session))


def ask_chain(session: Session, settings: Units, parent_widget: QWidget) -> DraftDialog:
    """Ask for the rows of a new DH chain."""
    parent = holder(session)
    draft = starters.chain(session.model, parent="" if parent == WORLD else parent)
    fields = ("name", "convention", "rows", "parent", "prefix")
    dialog = DraftDialog(session, settings, "New DH chain", draft, fields, parent=parent_widget)
    dialog.open()
    return dialog


def duplicate(session: Session) -> bool:
    """Copy the selected element under a free name. A copied joint would close a loop between the same two bodies:
    a body is copied with the joint that carries it."""
    ref = session.selection
    if ref is None or not is_own(session, ref):
        return False

    return add(session, ref.collection, lambda model: copied(model, ref))


def copied(model: Model, ref: Ref) -> tuple[Model, str]:
    """The model with a copy of an element; a body comes with the joint that carries it, set a little aside."""
    new, name = edits.duplicate(model, *ref)
    if ref.collection != "bodies":
        return new, name
    carrier = next((joint for joint in model.joints if joint.child == ref.name), None)
    if carrier is not None:
        joint = edits.unused_name(new, "joints", carrier.name)
        x, y, z = carrier.a.position
        y = f"{y} + {ASIDE}" if isinstance(y, str) else y + ASIDE
        pose = dataclasses.replace(carrier.a, position=(x, y, z))
        new = edits.add(new, dataclasses.replace(carrier, name=joint, child=name, mimic=None, a=pose))
    return new, name
